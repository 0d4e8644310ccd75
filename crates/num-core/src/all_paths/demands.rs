//! Demands carried over all paths of a network: the largest fraction of all that fits, and the least utilization.
//!
//! The prices that prove the value over the paths so far say which are missing: those cheaper than what their flow
//! pays. When there are none, Σ c_l p_l / Σ d_f v_f, with v_f the price of the cheapest path of the network, bounds the
//! fraction over all paths.

use super::cheapest_paths::{CheapestPaths, check};
use super::first_paths;
use super::missing::{used, with_paths};
use crate::concurrent_flow::{MulticommodityFlow, OPTIMAL, PROVEN, concurrent_flow, min_utilization};
use crate::error::Result;
use crate::interrupt;
use crate::problem::Problem;
use crate::solve::Status;
use crate::tolerances::ROUNDING;
use crate::work::{Ranks, Workers};

/// Demands carried over all paths that flows may use.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct CarriedOverAllPaths {
    /// The problem over the paths that are used, at least one of every flow, in the order of the flows.
    pub problem: Problem,
    /// What it carries; the bound and the gap are over all paths.
    pub flow: MulticommodityFlow,
    /// How often paths were added.
    pub rounds: usize,
}

/// The largest fraction of all demands that fits at once, over all paths that `all` has for the flows of a problem,
/// whose own paths are those to begin with.
///
/// # Errors
/// Those of [`concurrent_flow`], [`Error::CheapestPath`](crate::Error::CheapestPath), and those of the oracle.
pub fn concurrent_flow_over_all_paths(problem: &Problem, all: &dyn CheapestPaths) -> Result<CarriedOverAllPaths> {
    carried(problem, all, concurrent_flow, |flow, paid| {
        // Σ d v is 1 with the prices of flows over the paths so far.
        flow.bound /= paid;
        flow.gap = flow.bound / flow.fraction - 1.0;
    })
}

/// The least utilization of links at which all demands fit, over all paths that `all` has for the flows of a problem.
///
/// # Errors
/// As [`concurrent_flow_over_all_paths`], but those of [`min_utilization`].
pub fn min_utilization_over_all_paths(problem: &Problem, all: &dyn CheapestPaths) -> Result<CarriedOverAllPaths> {
    carried(problem, all, min_utilization, |flow, paid| {
        flow.bound *= paid;
        // Over links without a limit nothing is loaded.
        flow.gap = if flow.utilization > 0.0 { flow.utilization / flow.bound - 1.0 } else { 0.0 };
    })
}

fn carried(
    problem: &Problem,
    all: &dyn CheapestPaths,
    solve: impl Fn(&Problem) -> Result<MulticommodityFlow>,
    prove: impl Fn(&mut MulticommodityFlow, f64),
) -> Result<CarriedOverAllPaths> {
    problem.check_all_paths(true)?;
    let workers = Ranks::alone();
    // Costs do not matter.
    let problem = problem.clone().with_path_costs(vec![0.0; problem.paths().len()])?;
    let mut problem = first_paths::spread(problem, all, &[], &workers)?;
    let mut rounds = 0;
    loop {
        interrupt::check()?;
        rounds += 1;
        let mut flow = solve(&problem)?;
        let (prices, pays) = (&flow.prices, &flow.flow_prices);
        let than: Vec<f64> = pays.iter().map(|price| price * (1.0 - ROUNDING)).collect();
        let found = all.cheaper(prices, &than, &workers)?;
        check(&found, problem.capacities(), prices, &than)?;
        let (mut before, mut saved) = (0.0, 0.0);
        for (demand, price) in (0..problem.flows()).map(|flow| problem.flow_cap(flow)).zip(pays) {
            before += if *price > 0.0 { demand * price } else { 0.0 };
        }
        for (path, &flow) in found.flows.iter().enumerate() {
            let price = found.paths.row(path).sum(prices);
            saved += problem.flow_cap(flow as usize) * (pays[flow as usize] - price).max(0.0);
        }
        // The part of what flows pay that they would pay over all paths.
        let paid = if before > 0.0 { (before - saved) / before } else { 1.0 };
        let is_last = found.flows.is_empty() || !flow.gap.is_finite();
        if flow.gap.is_finite() {
            prove(&mut flow, paid);
        }
        if is_last || flow.gap <= PROVEN {
            flow.status = if flow.gap <= OPTIMAL || !flow.gap.is_finite() { flow.status } else { Status::Stalled };
            let kept = used(&problem, &flow.rates);
            flow.rates = kept.iter().map(|&path| flow.rates[path as usize]).collect();
            return Ok(CarriedOverAllPaths { problem: problem.with_paths_of(&kept, &workers)?, flow, rounds });
        }
        problem = problem.with_more_paths(&found.flows, &found.paths, &[])?;
    }
}

/// What is found of floors over the paths of a problem.
pub(super) enum Floors {
    /// They fit, and it is known how; or no path of the network is missing for them, and they do not.
    Settled(Problem),
    /// The problem with paths that are missing for them.
    Wanting(Problem),
}

/// Whether floors fit over the paths of a problem, or want others: those that are cheaper than what flows pay under the
/// prices that prove the largest part of all floors that fits.
///
/// # Errors
/// Those of the oracle, and [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn floors(
    problem: &Problem,
    all: &dyn CheapestPaths,
    link_costs: &[f64],
    workers: &dyn Workers,
) -> Result<Floors> {
    let flow = concurrent_flow(&problem.with_floors_as_demands())?;
    if flow.fraction >= 1.0 {
        let rates = flow.rates.into_iter().map(|rate| rate / flow.fraction).collect();
        return Ok(Floors::Settled(problem.with_carrying(rates)));
    }
    let than: Vec<f64> = flow.flow_prices.iter().map(|price| price * (1.0 - ROUNDING)).collect();
    let found = all.cheaper(&flow.prices, &than, workers)?;
    check(&found, problem.capacities(), &flow.prices, &than)?;
    if found.flows.is_empty() {
        return Ok(Floors::Settled(problem.clone()));
    }
    with_paths(problem, &found.flows, &found.paths, link_costs).map(Floors::Wanting)
}
