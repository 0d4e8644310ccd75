//! `concurrent_flow` and `min_utilization`.

use std::time::Duration;

use netnum_core::{
    CarriedOverAllPaths, CheapestPaths, MulticommodityFlow, Problem as Core, concurrent_flow_over_all_paths,
    min_utilization_over_all_paths,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::detach::EnterRust;
use crate::error::ProblemError;
use crate::numbers;
use crate::problem::Problem;
use crate::solve::seconds;

/// The largest fraction of all demands that fits at once.
///
/// Every flow gets the same part of its demand, over all its paths, and that part is as large as the links let it be:
/// the maximum concurrent flow. The demand of a flow is its `flow_cap`; utilities, floors, costs and priorities do not
/// matter. The fraction may be above 1: the demands then fit, and would if all were so many times as large. Caps of
/// paths (`rate_cap`) stay as they are.
///
/// Exact to rounding, by the simplex method of `max_min` up to its first level, with a proof: prices of links whose
/// weak duality no rates can beat.
///
/// Parameters
/// ----------
/// problem : Problem
///     Flows with a finite `flow_cap` each. Those of demand 0, and those without a path that is open, are left out.
/// time_limit : float, optional
///     Of pairs: the seconds after which the rounds end with the best that was found, of the status ``"time_limit"``,
///     and the best bound over all paths. Over paths that are given there is nothing before the end, and no limit.
///
/// Returns
/// -------
/// MulticommodityFlow
///     With the `fraction`, the rates that carry it, and the `cut` of links that does not let more through.
///
/// Raises
/// ------
/// ProblemError
///     When a flow has no demand, naming it; when no flow is limited by any link or cap of a path, so that there is no
///     largest fraction.
///
/// Notes
/// -----
/// Source: Shahrokhi and Matula, *Journal of the ACM* 1990. `max_min` with the demands as weights has the same least
/// ratio, and raises further who can have more.
///
/// Examples
/// --------
/// Two flows share a link, and the second has another path.
///
/// >>> problem = netnum.Problem([4.0, 1.0], [[0], [0], [1]], group=[0, 1, 1], flow_cap=[6.0, 4.0])
/// >>> flow = netnum.concurrent_flow(problem)
/// >>> round(flow.fraction, 9), flow.flow_rates.round(9), flow.cut
/// (0.5, array([3., 2.]), ('link 0', 'link 1'))
#[pyfunction]
#[pyo3(signature = (problem, *, time_limit=None))]
pub(crate) fn concurrent_flow<'py>(
    problem: &Bound<'py, Problem>,
    time_limit: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    made(problem, time_limit, netnum_core::concurrent_flow, concurrent_flow_over_all_paths)
}

/// The least utilization of links at which all demands are carried.
///
/// Every flow gets its demand, its `flow_cap`, and is split over its paths so that the largest load over capacity is as
/// small as it can be. Above 1 the demands do not fit. Without caps of paths (`rate_cap`) it is 1 over the fraction of
/// `concurrent_flow`, and the split is the same; with them the split keeps the caps.
///
/// Exact to rounding, with a proof: prices of links, by which every flow pays for its cheapest paths.
///
/// Parameters
/// ----------
/// problem : Problem
///     Flows with a finite `flow_cap` each. Those of demand 0, and those without a path that is open, are left out.
/// time_limit : float, optional
///     Of pairs: the seconds after which the rounds end with the best that was found, of the status ``"time_limit"``,
///     and the best bound over all paths. Over paths that are given there is nothing before the end, and no limit.
///
/// Returns
/// -------
/// MulticommodityFlow
///     With the `utilization`, the rates, and the `cut` of links that cannot all be less full.
///
/// Raises
/// ------
/// ProblemError
///     When a flow has no demand, and when the caps of its open paths are below it in sum, naming the flow.
///
/// Notes
/// -----
/// The prices are link weights for which every path that carries something is a shortest one, where there are no caps
/// of paths: Wang, Wang and Zhang, *INFOCOM* 2001.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([4.0, 1.0], [[0], [0], [1]], group=[0, 1, 1], flow_cap=[1.5, 1.0])
/// >>> flow = netnum.min_utilization(problem)
/// >>> round(flow.utilization, 9), flow.rates.round(9), flow.link_utilization.round(9)
/// (0.5, array([1.5, 0.5, 0.5]), array([0.5, 0.5]))
///
/// A backbone, and the links that are in the way:
///
/// >>> net = netnum.topology.backbone("abilene")
/// >>> problem = netnum.Problem(net, net.k_shortest_paths(netnum.demands.gravity(net, total=80_000), 4))
/// >>> flow = netnum.min_utilization(problem)
/// >>> round(flow.utilization, 3), flow.cut
/// (1.065, ('Kansas City -> Indianapolis', 'Houston -> Atlanta'))
#[pyfunction]
#[pyo3(signature = (problem, *, time_limit=None))]
pub(crate) fn min_utilization<'py>(
    problem: &Bound<'py, Problem>,
    time_limit: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    made(problem, time_limit, netnum_core::min_utilization, min_utilization_over_all_paths)
}

fn made<'py>(
    problem: &Bound<'py, Problem>,
    time_limit: Option<&Bound<'py, PyAny>>,
    by: impl FnOnce(&Core) -> netnum_core::Result<MulticommodityFlow> + Send,
    over_all_paths: impl FnOnce(&Core, &dyn CheapestPaths, Option<Duration>) -> netnum_core::Result<CarriedOverAllPaths>
    + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, core) = (problem.py(), problem.get().at_first());
    let limit = time_limit.filter(|limit| !limit.is_none()).map(|limit| numbers::float("time_limit", limit));
    let limit = limit.transpose()?.map(seconds).transpose()?.flatten();
    let naming = |error| problem.get().naming(py, error);
    let (problem, found) = match &problem.get().all_paths {
        None if limit.is_some() => {
            let what = "time_limit is of problems of pairs: over paths that are given there is nothing before the end";
            return Err(ProblemError::new_err(what));
        }
        None => (problem.clone(), py.enter_rust(|| by(core)).map_err(naming)?),
        Some(all) => {
            let found = py.enter_rust(|| over_all_paths(core, all.oracle(), limit)).map_err(naming)?;
            (Bound::new(py, problem.get().with_found(py, found.problem)?)?, found.flow)
        }
    };
    let fields = PyDict::new(py);
    fields.set_item("_summary", found.to_string())?;
    fields.set_item("status", found.status.name())?;
    fields.set_item("fraction", found.fraction)?;
    fields.set_item("utilization", found.utilization)?;
    fields.set_item("bound", found.bound)?;
    fields.set_item("gap", found.gap)?;
    fields.set_item("rates", numbers::read_only(py, found.rates))?;
    fields.set_item("flow_rates", numbers::read_only(py, found.flow_rates))?;
    fields.set_item("loads", numbers::read_only(py, found.loads))?;
    fields.set_item("prices", numbers::read_only(py, found.prices))?;
    fields.set_item("flow_prices", numbers::read_only(py, found.flow_prices))?;
    fields.set_item("cut_links", numbers::indices(py, &found.cut.links))?;
    fields.set_item("cut_flows", numbers::indices(py, &found.cut.flows))?;
    fields.set_item("failed_flows", numbers::indices(py, &found.failed_flows))?;
    fields.set_item("seconds", found.seconds)?;
    fields.set_item("problem", problem)?;
    py.import("netnum._multicommodity_flow")?.getattr("MulticommodityFlow")?.call((), Some(&fields))
}
