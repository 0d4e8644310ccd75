//! `netnum.sim`: flow-level simulation.

mod by_name;
mod closed_loop;
mod dependencies;
mod flows;
mod network;
mod observer;
mod packets;
mod pairs;
mod production;
mod report;
mod sizes;
mod split;
mod timeline;
mod traffic;
mod user_policy;
mod user_routing;
mod workload;

use std::ffi::CString;

use netnum_sim::{CapacityChange, RunSettings};
use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyString;

pub(crate) use by_name::{Policy, Routing, policies, routings};
pub(crate) use closed_loop::EndedFlows;
pub(crate) use flows::Flows;
pub(crate) use network::Network;
pub(crate) use packets::Packets;
pub(crate) use pairs::{all_to_all, incast, permutation};
pub(crate) use production::log_normal;
pub(crate) use report::Report;
pub(crate) use sizes::Sizes;
pub(crate) use split::Split;
pub(crate) use timeline::Timeline;
pub(crate) use traffic::UpdateTraffic;
pub(crate) use workload::Workload;

use crate::detach::{EnterRust, Pacer};
use crate::error::setting;
use crate::numbers::{self, count, float};
use crate::progress_bar::ProgressBar;
use crate::solve::seconds;
use crate::topology::{Topology, seed_of};
use closed_loop::UserLoop;
use observer::BarObserver;

/// Bits per byte: sizes are in the one, rates in the other.
const BITS: f64 = 8.0;

/// Changes of links, from rows of time, link and capacity. A link may be its name, or the pair of nodes that it joins;
/// the name of a fiber is both of its links.
fn changes_of(net: &Bound<'_, Topology>, changes: &Bound<'_, PyAny>) -> PyResult<Vec<CapacityChange>> {
    let mistyped = |what: &str, value: &Bound<'_, PyAny>| match value.repr() {
        Ok(shown) => PyTypeError::new_err(format!("{what} (time, link, capacity), not {shown}")),
        Err(error) => error,
    };
    let rows = numbers::rows_of(changes)?;
    let rows = rows.try_iter().map_err(|_| mistyped("changes must be a sequence of", changes))?;
    let change = |(place, row): (usize, PyResult<Bound<'_, PyAny>>)| {
        let row = row?;
        let [time, link, capacity]: [Bound<'_, PyAny>; 3] =
            row.extract().map_err(|_| mistyped(&format!("change {place} must be a"), &row))?;
        let name = |what: &str| format!("{what} of change {place}");
        let (time, capacity) = (float(&name("time"), &time)?, float(&name("capacity"), &capacity)?);
        if let Ok(named) = link.cast::<PyString>() {
            let links = Topology::links_named(net, &name("link"), named)?.into_iter();
            return Ok(links.map(|link| CapacityChange { time, link: link as u32, capacity }).collect());
        }
        if link.extract::<f64>().is_err() {
            let link = Topology::link_between(net, &name("link"), &link)? as u32;
            return Ok(vec![CapacityChange { time, link, capacity }]);
        }
        // A row of an array of floats has the link as one, too.
        let link = match link.extract::<f64>() {
            Ok(whole) if whole.fract() == 0.0 => link.call_method0("__int__")?,
            _ => link,
        };
        let (link, links) = (count(&name("link"), &link, 0)?, net.get().core.links().len());
        let no_link = |_| setting(&name("link"), link, &format!("a link below {links}"));
        Ok(vec![CapacityChange { time, link: u32::try_from(link).map_err(no_link)?, capacity }])
    };
    let mut pacer = Pacer::new(changes.py());
    let each = rows.enumerate().map(|row| pacer.did(1).and_then(|()| change(row))).collect::<PyResult<Vec<_>>>()?;
    Ok(each.into_iter().flatten().collect())
}

/// Simulate the flows of a workload on a network.
///
/// The model is fluid: a flow is a number of bytes on a route, rates change when flows arrive or end and are constant
/// in between. Completion times are exact for that model; it has no queues, and no packets and delays but those that
/// `packets` adds.
///
/// Parameters
/// ----------
/// net : Topology
///     Capacities in bit/s, since sizes are in bytes and times in seconds. Backbones are in Mbit/s, as in their
///     sources: ``net.with_capacities(1e6 * net.capacities)`` is in bit/s.
/// workload : Workload
/// policy : str, Policy, or user-defined object
///     Gives flows their rates: a name that `policies` lists, a `Policy` of such a name with options, or an object with
///     a method ``allocate(now, flows)``; see Notes.
/// routing : str, Routing, Split, Paths, or user-defined object
///     Gives flows their routes: a name that `routings` lists, a `Routing` of such a name with options, a `Split` over
///     given paths, or an object with a method ``route(flow, source, destination, paths, network)``; see Notes. `Paths`
///     have the path of every flow of the workload, in its order, which the flow keeps: a walk, or with coefficients
///     any links that lead to its destination.
/// until : float
///     Seconds of simulated time at which the simulation ends, >= 0. By default it ends with the last flow. Flows of
///     size inf need it.
/// warmup : float
///     Seconds of simulated time that do not count, from 0 to `until`: means, quantiles, tables and plots are of the
///     flows that arrive from then on, and loads and bytes of links are from then on. An empty network has to fill
///     first.
/// seed : int
///     Of the routing, from 0 to 2**64 - 1. The same arguments give the same completion times, bit for bit.
/// changes : sequence of (float, int, str or (node, node), float)
///     Changes of capacities, in order of time: seconds, link, and its capacity from then on in bit/s, 0 for a failure.
///     A link is given by its number, its name, or the two nodes that it joins; the name of a fiber, ``"A - B"``, is
///     both of its links.
/// closed_loop : function, optional
///     Asked for more flows while the simulation runs; see Notes.
/// timeline : bool
///     Whether `Report.timeline` keeps the rates of flows and the loads of links over time, for `Report.plot_rates`,
///     `Report.plot_links` and `Report.animate`: 20 bytes for each change of a rate, and of the load of a link.
/// packets : Packets, optional
///     Adds to the time of every flow what packets on their way and the start of TCP take.
/// time_limit : float, optional
///     Seconds of real time at which the simulation ends, >= 0: the report, with status ``"time_limit"``, covers the
///     simulated time until then.
/// progress : bool
///     Whether to show a bar over the flows; with a closed loop, over the time until `until`.
///
/// Returns
/// -------
/// Report
///
/// Raises
/// ------
/// ProblemError
///     Naming the first flow without a route, or with an end that does not exist.
/// MethodError
///     For a policy or a routing that does not exist; for a user-defined one, or a closed loop, with a result that
///     cannot be used; for pooled routes and a policy that does not split flows; and for a simulation whose time does
///     not advance, since a policy, a routing or sources react to each other without end.
/// NumError
///     For a time that is negative or NaN, a flow of size inf without `until`, and an invalid change.
///
/// Warns
/// -----
/// UserWarning
///     Where flows have ended and none that counts has, as for a `warmup` after the last arrival: means over flows are
///     nan.
///
/// Notes
/// -----
/// Ctrl-C stops it at any time. Max-min rates are updated from link to link after a change, and computed from the
/// beginning only where that is faster.
///
/// A user-defined policy is any object with a method ``allocate(now, flows)``. It is called at every time at which
/// flows arrive or end, once after all changes of that time, and at the times that it has returned: `now` is in
/// seconds, `flows` are the present `Flows`. It returns
///
/// - rates in bit/s, one for each of `flows`, or None to leave all unchanged (new flows at 0);
/// - or a tuple ``(rates, next_time)``, where `rates` may be None as well, and `next_time`, in seconds and after `now`,
///   is the time of the next call if there is no other event before. Each result replaces the one before: None, or
///   rates alone, means no such call.
///
/// It is also called when the last present flow has ended, with 0 flows: an array without entries is right then, and
/// a policy that takes a minimum or a mean over flows returns None first.
///
/// ``flows.max_min()`` are the max-min rates, as a start. A policy that computes rates otherwise must take into account
/// that the application of a flow may be slow (`flows.caps`), and that a flow over several paths puts only a share of
/// its rate on a link (`flows.shares`; ``netnum.Problem(flows.capacities, flows.paths)`` does).
///
/// A method ``start(net, workload)`` is called before the first flow arrives; a `name` replaces the name of the class
/// in reports. Both are optional. Exceptions are raised unchanged. Rates may overload links; `Report.over_allocation`
/// has by how much. A call takes 1 to 2 microseconds and 10 to 20 nanoseconds per flow, besides the time of the method
/// itself.
///
/// A user-defined routing is any object with a method ``route(flow, source, destination, paths, network)``. It is
/// called when a flow arrives; `flow` is its place in the workload, `paths` are the `netnum.Paths` from its source to
/// its destination with the fewest links, `network` is the present `Network`, with the load of every link. It returns
/// the index of a path, or weights over all of them that add up to 1. With a `period` in seconds,
/// ``review(flow, marked, sent, paths, choice, network)`` is called once per period from the arrival of the flow on,
/// with the bytes that it has sent in the period, how many of them were marked, and its present choice; it returns
/// another choice, or None for no change. `marking` is how links mark, as in `Routing`. A method
/// ``reroute(flow, works, paths, choice, network)`` is called for every flow when a link changes, and from then on for
/// every flow that arrives, after `route`: `works` is an array of bool, whether each path is without a failed link; it
/// returns another choice, or None. Without it, flows of failed links wait. ``start(net, workload)`` and a `name` are
/// optional. This one takes the path whose fullest link is the least full::
///
///     class LeastLoaded:
///         def route(self, flow, source, destination, paths, network):
///             used = network.loads / network.capacities
///             return min(range(len(paths)), key=lambda path: used[paths[path]].max())
///
/// A closed loop is a function of ``(now, ended)``, which gives the flows that depend on how earlier ones went, such as
/// those of clients that think and ask again. It is called at time 0, at every time at which flows have ended, once for
/// all of them (`EndedFlows`), and at the times that it has returned. It returns
///
/// - a `Workload` of new flows, whose arrivals are times of the simulation, from `now` on, or None;
/// - or a tuple of that and the time of the next call if no flow ends before, after `now`.
///
/// The simulation ends when no flow is left and no call is to come, or at `until`. One without `until` and
/// `time_limit` in which there are more than a million calls and new flows ends with an error. The
/// workload of the report has all flows, also those of `workload`, in the order of their starts, which are its
/// arrivals: it has no `after`. Where the simulation is over before some have started, these come last. Of one that
/// has finished or reached `until`, a simulation of that workload with the same arguments has the same completion times
/// and link bytes, bit for bit. Calls of the
/// function are events of its own simulation only, also those after the last flow: the number of events, the time at
/// the end, utilizations until then and the status may differ.
///
/// New flows may wait for each other (`after`), and be in coflows, which get their numbers in the order in which they
/// start. Flows have weights if those of `workload` have, which may be empty:
/// ``Workload([], [], [], [], weights=[])``. Rates of production do not go with a closed loop, nor do policies,
/// routings and `Paths` of users. With `packets` flows have ended when their last ones have arrived. This function
/// keeps one request from every server on its way, with a pause between two of them::
///
///     def clients(now, ended):
///         servers = ended.destinations if len(ended) else np.arange(16)
///         answers = (servers + rng.integers(1, 16, len(servers))) % 16
///         return netnum.sim.Workload(np.full(len(servers), now + 1e-4), servers, answers, np.full(len(servers), 2e4))
///
/// Each call of a Python method takes some microseconds.
///
/// Examples
/// --------
/// >>> net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
/// >>> workload = netnum.sim.Workload.poisson(net, sizes="web_search", load=0.6, duration=0.1)
/// >>> report = netnum.sim.simulate(net, workload, warmup=0.02)
/// >>> report.status
/// 'finished'
#[pyfunction]
#[pyo3(signature = (
    net, workload, policy=None, routing=None, *, until=f64::INFINITY, warmup=0.0, seed=None, changes=None,
    closed_loop=None, timeline=false, packets=None, time_limit=None, progress=false
))]
#[pyo3(text_signature = "(net, workload, policy=\"max-min\", routing=\"ecmp\", *, until=1e999, warmup=0.0, seed=0, \
                         changes=(), closed_loop=None, timeline=False, packets=None, time_limit=None, \
                         progress=False)")]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python sets settings")]
pub(crate) fn simulate(
    py: Python<'_>,
    net: &Bound<'_, Topology>,
    workload: &Bound<'_, Workload>,
    policy: Option<&Bound<'_, PyAny>>,
    routing: Option<&Bound<'_, PyAny>>,
    until: f64,
    warmup: f64,
    seed: Option<&Bound<'_, PyAny>>,
    changes: Option<&Bound<'_, PyAny>>,
    closed_loop: Option<&Bound<'_, PyAny>>,
    timeline: bool,
    packets: Option<&Bound<'_, Packets>>,
    time_limit: Option<f64>,
    progress: bool,
) -> PyResult<Report> {
    let workload = &Workload::on(workload, net)?;
    let by_name = |name: &str| PyString::new(py, name).into_any();
    let policy = policy.cloned().unwrap_or_else(|| by_name("max-min"));
    let routing = routing.cloned().unwrap_or_else(|| by_name("ecmp"));
    let mut routing = by_name::routing_of(&routing, seed_of(seed)?, net, workload)?;
    let mut policy = by_name::policy_of(&policy, net, workload)?;
    let mut closed_loop = closed_loop.map(|function| UserLoop::new(function, net)).transpose()?;
    let time_limit = time_limit.map(seconds).transpose()?.flatten();
    let changes = changes.map_or(Ok(Vec::new()), |changes| changes_of(net, changes))?;
    let run = RunSettings::default().with_until(until).with_warmup(warmup);
    let links = net.get().core.links().len();
    let packets = packets.map(|packets| packets.get().over(links)).transpose()?;
    let run = run.with_changes(changes).with_time_limit(time_limit).with_timeline(timeline).with_packets(packets);
    let (topology, flows) = (&net.get().core, &workload.get().core);
    let total = closed_loop.is_none().then_some(flows.len());
    let bar = ProgressBar::new(py, progress, "simulate", (total, until))?;
    let mut observer = BarObserver(&bar);
    let (routing, policy, observer) = (routing.as_mut(), policy.as_mut(), &mut observer);
    let report = py.enter_rust(|| match &mut closed_loop {
        None => netnum_sim::simulate(topology, flows, routing, policy, &run, observer),
        Some(it) => netnum_sim::simulate_closed_loop(topology, flows, it, routing, policy, &run, observer),
    });
    let mut report = bar.close(py, report, |report| (report.ended(), report.time))?;
    if warmup > 0.0 && report.ended() > 0 && report.mean_slowdown().is_nan() {
        let message = format!(
            "warmup is {warmup}, and no flow that starts from then on has ended in this simulation of {:.4} s: means \
             and quantiles over flows are nan",
            report.time
        );
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(message)?, 1)?;
    }
    let timeline = report.timeline.take().map(|timeline| Py::new(py, Timeline::new(timeline, net))).transpose()?;
    Ok(Report::new(py, report, workload.get(), timeline))
}
