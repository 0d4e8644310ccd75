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
use crate::utility::Curvature;
use crate::work::Workers;

/// Steps of averaging, and the power of congestion costs.
const STEPS: usize = 3;
const POWER: i32 = 8;
/// Less than this part of what rates are worth is next to nothing.
const LITTLE: f64 = 0.1;
/// What a link without congestion costs, as a part of what the dearest does: detours are not free.
pub(super) const LEAST: f64 = 1e-3;

/// The problem with a few paths per flow: of the way down the dual function where demands follow prices, or spread;
/// those found so far where the time is up. Where all demands fit on the paths that there are, no flow wants another.
/// An answer to start from, its prices and rates of paths, has nearly all paths that are wanted, unless next to nothing
/// was paid: all demands fitted then, on short paths (`shorter.rs`), and have grown.
///
/// # Errors
/// Those of [`Missing::at`] but [`Error::Stopped`].
pub(super) fn first_paths(
    problem: Problem,
    start: Option<(&[f64], &[f64])>,
    all: &dyn CheapestPaths,
    reaches: &[f64],
    link_costs: &[f64],
    workers: &dyn Workers,
) -> Result<Problem> {
    let rates = start.map(|(_, rates)| rates);
    match start {
        _ if fit(&problem, rates)? => Ok(problem),
        Some(_) if caps_of_all(&problem).is_none() || problem.curvature() == Curvature::MaxMin => Ok(problem),
        Some((prices, rates)) if pay(&problem, prices, rates)? => Ok(problem),
        None if dual_descent::serves(&problem) => dual_descent::descend(problem, all, reaches, link_costs, workers),
        _ => spread(problem, rates, all, link_costs, workers),
    }
}

/// Whether all demands fit, split as rates are if they are given.
fn fit(problem: &Problem, rates: Option<&[f64]>) -> Result<bool> {
    let Some(caps) = caps_of_all(problem) else { return Ok(false) };
    let loads = problem.loads(&split(problem, rates, &caps)?)?;
    Ok(loads.iter().zip(problem.capacities()).all(|(load, capacity)| load <= capacity))
}

/// Whether flows paid for links what is not little beside what their rates are worth.
fn pay(problem: &Problem, prices: &[f64], rates: &[f64]) -> Result<bool> {
    let finite = |(&price, &capacity): (&f64, &f64)| if capacity < f64::INFINITY { price * capacity } else { 0.0 };
    let paid: f64 = prices.iter().zip(problem.capacities()).map(finite).sum();
    let flow_rates = problem.flow_rates(rates)?;
    let worth = |(&rate, marginal): (&f64, f64)| if rate > 0.0 { rate * marginal } else { 0.0 };
    Ok(paid > LITTLE * flow_rates.iter().zip(problem.marginals(&flow_rates)).map(worth).sum::<f64>())
}

/// The problem with the cheapest paths of every flow under congestion that its flows would cause, from the split that
/// rates say if they are given; those found so far where the time is up.
///
/// # Errors
/// Those of [`Missing::at`] but [`Error::Stopped`].
pub(super) fn spread(
    mut problem: Problem,
    rates: Option<&[f64]>,
    all: &dyn CheapestPaths,
    link_costs: &[f64],
    workers: &dyn Workers,
) -> Result<Problem> {
    let volumes = volumes(&problem);
    let mut rates = split(&problem, rates, &volumes)?;
    let mut loads = vec![0.0; problem.links()];
    for step in 0..STEPS {
        let (now, part) = (problem.loads(&rates)?, 1.0 / (step + 1) as f64);
        loads.iter_mut().zip(now).for_each(|(load, now)| *load += part * (now - *load));
        let full = |(load, &capacity): (&f64, &f64)| if capacity > 0.0 { load / capacity } else { 0.0 };
        let mut prices: Vec<f64> = loads.iter().zip(problem.capacities()).map(full).collect();
        let fullest = prices.iter().copied().fold(0.0, f64::max);
        if !(fullest > 0.0 && fullest.is_finite()) {
            break;
        }
        prices.iter_mut().for_each(|price| *price = (*price / fullest).powi(POWER) + LEAST);
        let Some(missing) = unless_stopped(Missing::at(&problem, all, &prices, &[], &volumes, workers))? else { break };
        // A flow without a cheaper path keeps to the cheapest that it has.
        let mut cheapest = vec![None; problem.flows()];
        for (path, &flow) in problem.group().iter().enumerate() {
            if missing.path_costs[path] <= missing.least[flow as usize] && !problem.is_closed(path) {
                cheapest[flow as usize] = Some(path);
            }
        }
        for (path, &flow) in (problem.paths().len()..).zip(&missing.found.flows) {
            cheapest[flow as usize] = Some(path);
        }
        let Some(more) = unless_stopped(missing.added_to(&problem, link_costs, 0.0))? else { break };
        problem = more;
        rates = vec![0.0; problem.paths().len()];
        for (path, &volume) in cheapest.into_iter().zip(&volumes) {
            path.into_iter().for_each(|path| rates[path] = volume);
        }
    }
    Ok(problem)
}

/// Rates of paths by which flows have their volumes, in the proportions of rates if these are given: a flow without
/// has it on its first path that is open.
fn split(problem: &Problem, rates: Option<&[f64]>, volumes: &[f64]) -> Result<Vec<f64>> {
    let mut rates = rates.map_or_else(|| vec![0.0; problem.paths().len()], <[f64]>::to_vec);
    let mut flow_rates = problem.flow_rates(&rates)?;
    for (path, (rate, &flow)) in rates.iter_mut().zip(problem.group()).enumerate() {
        let (whole, volume) = (&mut flow_rates[flow as usize], volumes[flow as usize]);
        if *whole > 0.0 {
            *rate *= volume / *whole;
        } else if *whole == 0.0 && !problem.is_closed(path) {
            // Other paths of the flow have none.
            (*rate, *whole) = (volume, f64::INFINITY);
        }
    }
    Ok(rates)
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
    // Where every flow is capped, the caps say more than shares of links do.
    if let Some(caps) = caps_of_all(problem) {
        return caps;
    }
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
    volumes
}

/// The caps of flows, if all have one.
fn caps_of_all(problem: &Problem) -> Option<Vec<f64>> {
    let cap = |flow| Some(problem.flow_cap(flow)).filter(|cap| cap.is_finite());
    (0..problem.flows()).map(cap).collect()
}
