//! `netnum.sim`: flow-level time.

mod by_name;
mod flows;
mod network;
mod observer;
mod pairs;
mod report;
mod sizes;
mod split;
mod traffic;
mod user_policy;
mod user_routing;
mod workload;

use netnum_sim::{CapacityChange, RunSettings};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

pub(crate) use by_name::{Policy, Routing, policies, routings};
pub(crate) use flows::Flows;
pub(crate) use network::Network;
pub(crate) use pairs::{all_to_all, incast, permutation};
pub(crate) use report::Report;
pub(crate) use sizes::Sizes;
pub(crate) use split::Split;
pub(crate) use traffic::UpdateTraffic;
pub(crate) use workload::{Workload, log_normal};

use crate::detach::{self, Pacer};
use crate::numbers::{self, count, float};
use crate::progress_bar::ProgressBar;
use crate::solve::seconds;
use crate::topology::{Topology, seed_of};
use observer::BarObserver;

/// Changes of links, from rows of time, link and capacity. A link may be the pair of nodes that it joins.
fn changes_of(net: &Topology, changes: &Bound<'_, PyAny>) -> PyResult<Vec<CapacityChange>> {
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
        if link.extract::<f64>().is_err() {
            let link = net.link_between(&name("link"), &link)?;
            return Ok(CapacityChange { time, link, capacity });
        }
        // A row of an array of floats has the link as one, too.
        let link = match link.extract::<f64>() {
            Ok(whole) if whole.fract() == 0.0 => link.call_method0("__int__")?,
            _ => link,
        };
        Ok(CapacityChange { time, link: count(&name("link"), &link, 0)?, capacity })
    };
    let mut pacer = Pacer::new(changes.py());
    rows.enumerate().map(|row| pacer.did(1).and_then(|()| change(row))).collect()
}

/// Let the flows of a workload pass through a network.
///
/// The model is fluid: a flow is a number of bytes on a route, rates change when flows arrive or end and are constant in
/// between. Completion times are exact for that model; it has no packets, no queues and no delays.
///
/// Parameters
/// ----------
/// net : Topology
///     Capacities in bit/s, since sizes are in bytes and times in seconds. Backbones are in Mbit/s, as their tables are:
///     ``net.with_capacities(1e6 * net.capacities)`` is in bit/s.
/// workload : Workload
/// policy : str, Policy, or an object of your own
///     Who gets which rate: ``"max-min"``, ``"srpt"``, ``"proportional"``, ``"min-fct"``, ``"alpha-fair"``, ``"flowtune"``,
///     ``"xwi"``, ``"gradient"``, ``"rcp"``, ``"edf"``, ``"pias"``, ``"rax"``, ``"rax+"``, or a `Policy` of one of these names
///     with options. One of your own has a method ``allocate(now, flows)``; see Notes.
/// routing : str, Routing, Split, or an object of your own
///     Who goes where: ``"ecmp"``, ``"flow-bender"``, ``"spray"``, ``"k-shortest"``, ``"adaptive"``, or a `Routing` of one of
///     these names with options; a `Split` is over paths that you give. One of your own has a method
///     ``route(flow, source, destination, paths, network)``; see Notes.
/// until : float
///     Seconds of simulated time after which it is over, >= 0. By default all flows end first.
/// seed : int
///     Of the routing, from 0 to 2**64 - 1. The same arguments give the same completion times, bit for bit.
/// changes : sequence of (float, int or (node, node), float)
///     Links whose capacities change, in order of time: seconds, link, and its capacity from then on in bit/s, 0 if it fails. A
///     link is given by its number, or by the two nodes that it joins.
/// time_limit : float, optional
///     Seconds of real time after which it is over, >= 0: the report, with status ``"time_limit"``, is of what has happened
///     by then.
/// progress : bool
///     Show a bar over the flows.
///
/// Returns
/// -------
/// Report
///
/// Raises
/// ------
/// ProblemError
///     Naming the first flow that no route joins, or whose end does not exist.
/// MethodError
///     For a policy or a routing that does not exist, and for one of your own with an answer that cannot be used; for a
///     simulation whose clock stands still, since a policy, a routing or sources answer each other for ever.
/// NumError
///     For a time that is negative or NaN, and a change that cannot be.
///
/// Notes
/// -----
/// Ctrl-C stops it at any time. Fair sharing follows every change from link to link and computes all rates anew only where that is
/// faster.
///
/// A policy of your own is any object with a method ``allocate(now, flows)``. It is called at every instant at which flows
/// arrive or end, when all changes of that instant are known, and whenever it asked for: `now` is in seconds, `flows` are
/// the `Flows` of the moment. It returns
///
/// - rates in bit/s, one for each of `flows`, or None to leave all as they are (new flows at 0);
/// - or a tuple ``(rates, next_time)``, where `rates` may be None as well, and `next_time`, in seconds and after `now`, is
///   when to call it again if nothing happens before. The last answer counts: None, or rates alone, is for never.
///
/// ``flows.max_min()`` are the rates of fair sharing, to begin with. One that computes its own must heed that a flow may wait
/// for its application (`flows.caps`), and that one that spreads puts only a share of its rate on a link (`flows.shares`).
///
/// If it has a method ``start(net, workload)``, that is called before the first flow arrives; if it has a `name`, reports
/// use it in place of the class's. What it raises comes through. Rates may overload links; `Report.over_allocation` tells.
/// A call takes 1 to 2 microseconds and 10 to 20 nanoseconds per flow, besides what it does itself.
///
/// A routing of your own is any object with a method ``route(flow, source, destination, paths, network)``. It is called
/// when a flow arrives; `flow` is its place in the workload, `paths` are the `netnum.Paths` from the one end to the other
/// with the fewest links, `network` is the `Network` of the moment, with the load of every link. It returns the index of a
/// path, or weights over all of them that add up to 1. With a `period` in seconds,
/// ``review(flow, marked, sent, paths, choice, network)`` is called whenever another one has passed since the flow arrived,
/// with the bytes that it sent in it, those of them that were marked, and its last answer; it returns another one, or None
/// to leave it at that. `marking` says how links mark, as in `Routing`. If it has a method
/// ``reroute(flow, works, paths, choice, network)``, that is called for every flow when a link changes, and from then on for
/// every one that arrives, after `route`: `works` is an array of bool, which of the paths have no failed link; it returns
/// another answer, or None. Without it, flows of failed links wait. ``start(net, workload)`` and a `name` are optional.
/// This one takes the path whose fullest link is the least full::
///
///     class LeastLoaded:
///         def route(self, flow, source, destination, paths, network):
///             used = network.loads / network.capacities
///             return min(range(len(paths)), key=lambda path: used[paths[path]].max())
///
/// Each call of a Python method takes some microseconds.
///
/// Examples
/// --------
/// >>> net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
/// >>> workload = netnum.sim.Workload.poisson(net, sizes=netnum.sim.sizes.web_search, load=0.6, flows=2000)
/// >>> report = netnum.sim.simulate(net, workload)
/// >>> report.status
/// 'finished'
#[pyfunction]
#[pyo3(signature = (net, workload, policy=None, routing=None, *, until=f64::INFINITY, seed=None, changes=None, time_limit=None, progress=false))]
#[pyo3(
    text_signature = "(net, workload, policy=\"max-min\", routing=\"ecmp\", *, until=1e999, seed=0, changes=(), time_limit=None, progress=False)"
)]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python sets settings")]
pub(crate) fn simulate(
    py: Python<'_>,
    net: &Bound<'_, Topology>,
    workload: &Bound<'_, Workload>,
    policy: Option<&Bound<'_, PyAny>>,
    routing: Option<&Bound<'_, PyAny>>,
    until: f64,
    seed: Option<&Bound<'_, PyAny>>,
    changes: Option<&Bound<'_, PyAny>>,
    time_limit: Option<f64>,
    progress: bool,
) -> PyResult<Report> {
    let by_name = |name: &str| PyString::new(py, name).into_any();
    let policy = policy.cloned().unwrap_or_else(|| by_name("max-min"));
    let routing = routing.cloned().unwrap_or_else(|| by_name("ecmp"));
    let mut routing = by_name::routing_of(&routing, seed_of(seed)?, net, workload)?;
    let mut policy = by_name::policy_of(&policy, net, workload)?;
    let time_limit = time_limit.map(seconds).transpose()?.flatten();
    let changes = changes.map_or(Ok(Vec::new()), |changes| changes_of(net.get(), changes))?;
    let run = RunSettings { until, changes, time_limit };
    let (net, flows) = (&net.get().core, &workload.get().core);
    let bar = ProgressBar::new(py, progress, "simulate", (flows.len(), until))?;
    let mut observer = BarObserver(&bar);
    let report =
        detach::run(py, || netnum_sim::simulate(net, flows, routing.as_mut(), policy.as_mut(), &run, &mut observer));
    bar.close(py, report, |report| (report.ended(), report.time)).map(Into::into)
}
