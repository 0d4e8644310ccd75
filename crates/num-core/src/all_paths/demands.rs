//! Demands carried over all paths of a network: the largest fraction of all that fits, and the least utilization.
//!
//! The prices that prove the value over the paths so far say which are missing: those cheaper than what their flow
//! pays. When there are none, Σ c_l p_l / Σ d_f v_f, with v_f the price of the cheapest path of the network, bounds the
//! fraction over all paths.

use super::cheapest_paths::{CheapestPaths, check};
use super::first_paths;
use super::rounds::used;
use crate::concurrent_flow::{MulticommodityFlow, concurrent_flow, min_utilization};
use crate::error::Result;
use crate::interrupt;
use crate::problem::Problem;
use crate::solve::Status;
use crate::work::{Ranks, Workers};

/// A path is missing that is cheaper than what its flow pays by this part of it: less is rounding.
const CHEAPER: f64 = 1e-12;
/// A gap that ends the search, and one up to which rates are optimal: as over given paths.
const PROVEN: f64 = 1e-8;
const OPTIMAL: f64 = 1e-6;

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
        flow.gap = flow.utilization / flow.bound - 1.0;
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
        let than: Vec<f64> = pays.iter().map(|price| price * (1.0 - CHEAPER)).collect();
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

/// The paths that are missing under the prices of a proof that floors do not fit.
///
/// # Errors
/// Those of the oracle.
pub(super) fn missing_for_floors(
    problem: &Problem,
    all: &dyn CheapestPaths,
    [prices, flow_prices]: [&[f64]; 2],
    workers: &dyn Workers,
) -> Result<super::Cheaper> {
    let than: Vec<f64> = flow_prices.iter().map(|price| price * (1.0 - CHEAPER)).collect();
    let found = all.cheaper(prices, &than, workers)?;
    check(&found, problem.capacities(), prices, &than)?;
    Ok(found)
}
