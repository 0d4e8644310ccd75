//! `netnum.sim`: flow-level time.

mod report;
mod sizes;
mod watch;
mod workload;

use netnum_sim::{Error, POLICIES, ROUTINGS, Run};
use pyo3::prelude::*;

pub(crate) use report::Report;
pub(crate) use sizes::Sizes;
pub(crate) use workload::{Workload, all_to_all, incast, permutation};

use crate::door;
use crate::error::{self, MethodError, ProblemError};
use crate::topology::{Topology, seed_of};
use watch::Watch;

/// The exception for an error of the simulator.
fn raise(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Core(error) => error::raise(error),
        Error::UnknownName { .. } | Error::Policy { .. } => MethodError::new_err(message),
        _ => ProblemError::new_err(message),
    }
}

/// Let the flows of a workload pass through a network.
///
/// The model is fluid: a flow is a number of bytes on a route, rates change when flows arrive or end and are constant in
/// between. Completion times are exact for that model; it has no packets, no queues and no delays.
///
/// Parameters
/// ----------
/// net : Topology
///     Capacities in bit/s.
/// workload : Workload
/// policy : str
///     Who gets which rate:
///
///     - ``"max-min"``: fair sharing;
///     - ``"srpt"``: strict priority by what is left of a flow, pFabric's ideal;
///     - ``"proportional"``, ``"min-fct"``: the exact optimum of these utilities at every change, by `solve`;
///     - ``"flowtune"``: an `Allocator` that ticks every 10 microseconds, NED and F-NORM.
/// routing : str
///     Who goes where: ``"ecmp"``, a random shortest path for each flow, drawn once.
/// until : float
///     Seconds of simulated time after which it is over. By default all flows end first.
/// seed : int
///     Of the routing, from 0 to 2**64 - 1. The same arguments give the same completion times, bit for bit.
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
///     For a policy or a routing that does not exist.
///
/// Notes
/// -----
/// Ctrl-C stops it. Fair sharing follows every change from link to link and computes all rates anew only where that is
/// faster.
///
/// Examples
/// --------
/// >>> net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
/// >>> workload = netnum.sim.Workload.poisson(net, sizes=netnum.sim.sizes.web_search, load=0.6, flows=2000)
/// >>> report = netnum.sim.simulate(net, workload)
/// >>> report.status
/// 'finished'
#[pyfunction]
#[pyo3(signature = (net, workload, policy="max-min", routing="ecmp", *, until=f64::INFINITY, seed=None, progress=false))]
#[pyo3(
    text_signature = "(net, workload, policy=\"max-min\", routing=\"ecmp\", *, until=float(\"inf\"), seed=0, progress=False)"
)]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python sets settings")]
pub(crate) fn simulate(
    py: Python<'_>,
    net: &Bound<'_, Topology>,
    workload: &Bound<'_, Workload>,
    policy: &str,
    routing: &str,
    until: f64,
    seed: Option<&Bound<'_, PyAny>>,
    progress: bool,
) -> PyResult<Report> {
    let mut policy = netnum_sim::policy(policy).map_err(raise)?;
    let mut routing = netnum_sim::routing(routing, seed_of(seed)?).map_err(raise)?;
    let mut watch = Watch::new(progress, workload.get().core.len());
    let (net, flows, run) = (&net.get().core, &workload.get().core, Run { until, ..Run::default() });
    let report = door::detached(py, || {
        Ok(netnum_sim::simulate(net, flows, routing.as_mut(), policy.as_mut(), &run, &mut watch))
    });
    let ended =
        report.as_ref().ok().and_then(|report| report.as_ref().ok()).map(|report| (report.ended(), report.time));
    let closed = watch.close(py, ended);
    let report = report?.map_err(raise)?;
    closed?;
    Ok(report.into())
}

/// The policies that `simulate` knows: list of str.
#[pyfunction]
pub(crate) fn policies() -> Vec<&'static str> {
    POLICIES.iter().map(|policy| policy.0).collect()
}

/// The routings that `simulate` knows: list of str.
#[pyfunction]
pub(crate) fn routings() -> Vec<&'static str> {
    ROUTINGS.iter().map(|routing| routing.0).collect()
}
