//! Floors over all paths of a network: the paths that are missing to carry them, before rates are made the best.

use super::cheapest_paths::CheapestPaths;
use super::demands::priced;
use super::missing::with_paths;
use crate::concurrent_flow::concurrent_flow_from;
use crate::error::Result;
use crate::max_min::LevelBasis;
use crate::problem::Problem;
use crate::work::Workers;

/// What is found of floors over the paths of a problem.
pub(super) enum Floors {
    /// They fit, and it is known how; or no path of the network is missing for them, and they do not.
    Settled(Problem),
    /// The problem with paths that are missing for them.
    Wanting(Problem),
}

/// Whether floors fit over the paths of a problem, or want others: those that are cheaper than what flows pay under the
/// prices that prove the largest part of all floors that fits. The level of the paths before them is replaced by
/// theirs.
///
/// # Errors
/// Those of the oracle, and [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn floors(
    problem: &Problem,
    all: &dyn CheapestPaths,
    link_costs: &[f64],
    workers: &dyn Workers,
    last: &mut Option<LevelBasis>,
) -> Result<Floors> {
    let flow = concurrent_flow_from(&problem.with_floors_as_demands(), last)?;
    if flow.fraction >= 1.0 {
        let rates = flow.rates.into_iter().map(|rate| rate / flow.fraction).collect();
        return Ok(Floors::Settled(problem.with_carrying(rates)));
    }
    let found = priced(problem, all, &flow, workers)?;
    if found.flows.is_empty() {
        return Ok(Floors::Settled(problem.clone()));
    }
    with_paths(problem, &found.flows, &found.paths, link_costs).map(Floors::Wanting)
}
