//! Paths to begin with, before anything is solved: a few per flow, spread over the network.
//!
//! ```text
//! x ← loads, each flow on its first path with what it would use
//! p_l = (x_l / c_l)⁸ + a little,  cheapest paths at p,  x ← x + (loads on these − x) / (k + 1)        k = 1, 2, …
//! ```
//!
//! The method of successive averages for congestion costs that rise steeply, as for road traffic (Sheffi, *Urban
//! Transportation Networks*, 1985). A search takes a hundredth of a solve, and each step saves about a round.

use super::cheapest_paths::CheapestPaths;
use super::dual_descent;
use super::missing::Missing;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::work::Workers;

/// Steps of averaging, and the power of congestion costs.
const STEPS: usize = 3;
const POWER: i32 = 8;
/// What a link without congestion costs, as a part of what the dearest does: detours are not free.
pub(super) const LEAST: f64 = 1e-3;

/// The problem with a few paths per flow: of the way down the dual function where demands follow prices, or spread;
/// those found so far where the time is up.
///
/// # Errors
/// Those of [`Missing::at`] but [`Error::Stopped`].
pub(super) fn first_paths(
    problem: Problem,
    all: &dyn CheapestPaths,
    reaches: &[f64],
    link_costs: &[f64],
    workers: &dyn Workers,
) -> Result<Problem> {
    match dual_descent::serves(&problem) {
        true => dual_descent::descend(problem, all, reaches, link_costs, workers),
        false => spread(problem, all, link_costs, workers),
    }
}

/// The problem with the cheapest paths of every flow under congestion that its flows would cause; those found so far
/// where the time is up.
///
/// # Errors
/// Those of [`Missing::at`] but [`Error::Stopped`].
pub(super) fn spread(
    mut problem: Problem,
    all: &dyn CheapestPaths,
    link_costs: &[f64],
    workers: &dyn Workers,
) -> Result<Problem> {
    let volumes = volumes(&problem);
    let mut first = vec![u32::MAX; problem.flows()];
    for (path, &flow) in (0u32..).zip(problem.group()) {
        if first[flow as usize] == u32::MAX && !problem.is_closed(path as usize) {
            first[flow as usize] = path;
        }
    }
    let mut loads = vec![0.0; problem.links()];
    for step in 0..STEPS {
        let mut now = vec![0.0; problem.links()];
        for (&path, &volume) in first.iter().zip(&volumes).filter(|(path, _)| **path != u32::MAX) {
            problem.paths().row(path as usize).add(volume, &mut now);
        }
        let part = 1.0 / (step + 1) as f64;
        loads.iter_mut().zip(now).for_each(|(load, now)| *load += part * (now - *load));
        let full = |(load, &capacity): (&f64, &f64)| if capacity > 0.0 { load / capacity } else { 0.0 };
        let mut prices: Vec<f64> = loads.iter().zip(problem.capacities()).map(full).collect();
        let fullest = prices.iter().copied().fold(0.0, f64::max);
        if !(fullest > 0.0 && fullest.is_finite()) {
            break;
        }
        prices.iter_mut().for_each(|price| *price = (*price / fullest).powi(POWER) + LEAST);
        let Some(missing) = unless_stopped(Missing::at(&problem, all, &prices, &[], &volumes, workers))? else { break };
        let paths = problem.paths().len() as u32;
        // A flow without a cheaper path keeps to the cheapest that it has.
        for (path, &flow) in (0u32..).zip(problem.group()) {
            if missing.path_costs[path as usize] <= missing.least[flow as usize] && !problem.is_closed(path as usize) {
                first[flow as usize] = path;
            }
        }
        for (path, &flow) in (paths..).zip(&missing.found.flows) {
            first[flow as usize] = path;
        }
        let Some(more) = unless_stopped(missing.added_to(&problem, link_costs, 0.0))? else { break };
        problem = more;
    }
    Ok(problem)
}

/// What was done, or none where it was stopped. What has stopped it shows at the next check outside of its scope.
pub(super) fn unless_stopped<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(Error::Stopped) => Ok(None),
        result => result.map(Some),
    }
}

/// What every flow would use: its cap, or where it has none its part of the capacity along its path.
pub(super) fn volumes(problem: &Problem) -> Vec<f64> {
    let mut crossing = vec![0.0; problem.links()];
    for path in 0..problem.paths().len() {
        problem.paths().row(path).add(1.0, &mut crossing);
    }
    let shares: Vec<f64> =
        problem.capacities().iter().zip(&crossing).map(|(capacity, paths)| capacity / paths).collect();
    let mut volumes = vec![0.0f64; problem.flows()];
    for (path, &flow) in problem.group().iter().enumerate() {
        let share = problem.paths().row(path).narrowest(&shares);
        // Where no link limits it, a flow is looked up all the same.
        let share = if share.is_finite() { share } else { f64::MIN_POSITIVE };
        volumes[flow as usize] = volumes[flow as usize].max(problem.flow_cap(flow as usize).min(share));
    }
    // Where every flow is capped, the caps say more than shares of links do.
    let all_capped = (0..problem.flows()).all(|flow| problem.flow_cap(flow).is_finite());
    if all_capped { (0..problem.flows()).map(|flow| problem.flow_cap(flow)).collect() } else { volumes }
}
