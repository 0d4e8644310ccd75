//! Demands carried over all paths of a network: the largest fraction of all that fits, and the least utilization.
//!
//! The prices that prove the value over the paths so far say which are missing: those cheaper than what their flow
//! pays. When there are none, Σ c_l p_l / Σ d_f v_f, with v_f the price of the cheapest path of the network, bounds the
//! fraction over all paths.

use std::time::{Duration, Instant};

use super::cheapest_paths::{Cheaper, CheapestPaths, cheaper};
use super::first_paths;
use super::missing::used;
use super::rounds::in_time;
use crate::concurrent_flow::{
    MulticommodityFlow, OPTIMAL, PROVEN, concurrent_flow_from, cut_of, min_utilization_from, worth,
};
use crate::error::Result;
use crate::interrupt;
use crate::max_min::LevelBasis;
use crate::problem::Problem;
use crate::solve::Status;
use crate::tolerances::{GRACE, NONE, ROUNDING};
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
/// whose own paths are those to begin with. A time limit ends it with the best that was found, of the status
/// [`Status::TimeLimit`] where this is not proven, and the best bound over all paths, without a cut; one that is over
/// before anything was, with what fits over one path per flow and the bound of these prices, which takes one search, or
/// of prices of 1/c where these bound nothing.
///
/// # Errors
/// Those of [`concurrent_flow`](crate::concurrent_flow()), [`Error::CheapestPath`](crate::Error::CheapestPath), and
/// those of the oracle.
pub fn concurrent_flow_over_all_paths(
    problem: &Problem,
    all: &dyn CheapestPaths,
    time_limit: Option<Duration>,
) -> Result<CarriedOverAllPaths> {
    carried(problem, all, time_limit, Most::Fraction)
}

/// The least utilization of links at which all demands fit, over all paths that `all` has for the flows of a problem.
///
/// # Errors
/// As [`concurrent_flow_over_all_paths`], but those of [`min_utilization`](crate::min_utilization()).
pub fn min_utilization_over_all_paths(
    problem: &Problem,
    all: &dyn CheapestPaths,
    time_limit: Option<Duration>,
) -> Result<CarriedOverAllPaths> {
    carried(problem, all, time_limit, Most::Utilization)
}

/// What is wanted of demands.
#[derive(Clone, Copy)]
enum Most {
    /// The largest.
    Fraction,
    /// The least.
    Utilization,
}

impl Most {
    /// Over the paths so far, from the level of the round before.
    fn solve(self, problem: &Problem, last: &mut Option<LevelBasis>) -> Result<MulticommodityFlow> {
        match self {
            Self::Fraction => concurrent_flow_from(problem, last),
            Self::Utilization => min_utilization_from(problem, last),
        }
    }

    /// Turns a bound over some paths into one over all, where flows pay less over those that are missing.
    fn prove(self, flow: &mut MulticommodityFlow, problem: &Problem, missing: &Cheaper) {
        let demands = (0..problem.flows()).map(|flow| problem.flow_cap(flow));
        let paid = demands.zip(&flow.flow_prices).filter(|(_, price)| **price > 0.0);
        let before: f64 = paid.map(|(demand, price)| demand * price).sum();
        let mut saved = 0.0;
        for (path, &number) in missing.flows.iter().enumerate() {
            let (price, pays) = (missing.paths.row(path).sum(&flow.prices), &mut flow.flow_prices[number as usize]);
            saved += problem.flow_cap(number as usize) * (*pays - price).max(0.0);
            *pays = price;
        }
        // Of what flows pay over the paths so far.
        let part = if before > 0.0 { (before - saved) / before } else { 1.0 };
        match self {
            // Σ d v is 1 with the prices of flows.
            Self::Fraction => {
                flow.bound /= part;
                if part > 0.0 {
                    flow.prices.iter_mut().chain(&mut flow.flow_prices).for_each(|price| *price /= part);
                }
            }
            Self::Utilization => flow.bound *= part,
        }
        flow.gap = self.gap(flow);
    }

    fn gap(self, flow: &MulticommodityFlow) -> f64 {
        match self {
            Self::Fraction if flow.fraction < f64::INFINITY => (flow.bound / flow.fraction - 1.0).max(0.0),
            // Any part of no demand fits.
            Self::Fraction => 0.0,
            // Over links without a limit nothing is loaded.
            Self::Utilization if flow.utilization > 0.0 => (flow.utilization / flow.bound - 1.0).max(0.0),
            Self::Utilization => 0.0,
        }
    }

    /// Whether one proves more than another.
    fn is_tighter(self, one: &MulticommodityFlow, other: &MulticommodityFlow) -> bool {
        match self {
            Self::Fraction => one.bound < other.bound,
            Self::Utilization => one.bound > other.bound,
        }
    }
}

/// The paths that are missing at the prices of flows.
pub(super) fn priced(
    problem: &Problem,
    all: &dyn CheapestPaths,
    flow: &MulticommodityFlow,
    workers: &dyn Workers,
) -> Result<Cheaper> {
    let than: Vec<f64> = flow.flow_prices.iter().map(|price| price * (1.0 - ROUNDING)).collect();
    cheaper(all, problem.capacities(), &flow.prices, &than, workers)
}

fn carried(
    problem: &Problem,
    all: &dyn CheapestPaths,
    time_limit: Option<Duration>,
    most: Most,
) -> Result<CarriedOverAllPaths> {
    let began = Instant::now();
    problem.check_all_paths(true)?;
    let workers = Ranks::alone();
    // Costs do not matter.
    let mut problem = problem.clone().with_path_costs(vec![0.0; problem.paths().len()])?;
    // The last flow, which is the best, with its problem, and the one that proves most.
    let (mut best, mut proof) = (None, None::<MulticommodityFlow>);
    // Proves what a flow is over all paths, and says whether it is the last.
    let prove = |flow: &mut MulticommodityFlow, problem: &Problem, missing: &Cheaper| {
        let is_over = missing.flows.is_empty() || !flow.gap.is_finite();
        if flow.gap.is_finite() {
            most.prove(flow, problem, missing);
        }
        is_over || flow.gap <= PROVEN
    };
    let until = time_limit.and_then(|limit| (began + GRACE).checked_add(limit));
    let (mut rounds, mut is_late, mut is_over) = (0, false, false);
    if time_limit.is_some() {
        // Over one path each this takes no more than a search.
        let first = over_one_path_each(&problem, &workers)?;
        let mut flow = most.solve(&first, &mut None)?;
        let missing = priced(&first, all, &flow, &workers)?;
        is_over = prove(&mut flow, &first, &missing);
        if !is_over && !flow.gap.is_finite() {
            // Around the full links of these paths all others are free.
            prove_by_even_prices(&first, all, &mut flow, most, &workers)?;
            is_over = flow.gap <= PROVEN;
        }
        rounds = usize::from(is_over);
        (best, proof) = (Some((flow.clone(), first)), Some(flow));
    }
    if !is_over {
        match in_time(until, || first_paths::spread(problem.clone(), None, all, &[], &workers))? {
            Some(spread) => problem = spread,
            None => is_late = true,
        }
    }
    let mut level = None;
    while !is_over && !is_late {
        interrupt::check()?;
        let Some(mut flow) = in_time(until, || most.solve(&problem, &mut level))? else {
            is_late = true;
            break;
        };
        let Some(missing) = in_time(until, || priced(&problem, all, &flow, &workers))? else {
            // It carries more than the one before, whose bound holds.
            (best, is_late) = (Some((flow, problem)), true);
            break;
        };
        rounds += 1;
        is_over = prove(&mut flow, &problem, &missing);
        if proof.as_ref().is_none_or(|proof| most.is_tighter(&flow, proof)) {
            proof = Some(flow.clone());
        }
        best = Some((flow, problem.clone()));
        if is_over {
            break;
        }
        problem = problem.with_more_paths(&missing.flows, &missing.paths, &[])?;
    }
    let (mut flow, problem) = best.expect("there is a round");
    if let Some(proof) = proof.filter(|_| is_late) {
        (flow.bound, flow.prices, flow.flow_prices, flow.cut) =
            (proof.bound, proof.prices, proof.flow_prices, proof.cut);
        flow.cut.fair_share = flow.fraction.min(f64::MAX);
        flow.gap = most.gap(&flow);
        flow.status = if flow.gap <= OPTIMAL { Status::Optimal } else { Status::TimeLimit };
        if flow.status == Status::TimeLimit {
            // These links may be less full than they can be.
            (flow.cut.links, flow.cut.flows) = (Vec::new(), Vec::new());
        }
    } else if flow.gap.is_finite() && flow.gap > OPTIMAL {
        flow.status = Status::Stalled;
    }
    flow.seconds = began.elapsed().as_secs_f64();
    let kept = used(&problem, &flow.rates);
    flow.rates = kept.iter().map(|&path| flow.rates[path as usize]).collect();
    Ok(CarriedOverAllPaths { problem: problem.with_paths_of(&kept, &workers)?, flow, rounds })
}

/// Proves what prices of 1/c do over all paths: a finite bound, whatever the flows pay at others.
fn prove_by_even_prices(
    problem: &Problem,
    all: &dyn CheapestPaths,
    flow: &mut MulticommodityFlow,
    most: Most,
    workers: &dyn Workers,
) -> Result<()> {
    let is_limited = |capacity: &&f64| **capacity > 0.0 && **capacity < f64::INFINITY;
    let least = problem.capacities().iter().filter(is_limited).copied().fold(f64::INFINITY, f64::min);
    let even = |capacity: &f64| if is_limited(&capacity) { least / capacity } else { 0.0 };
    let mut prices: Vec<f64> = problem.capacities().iter().map(even).collect();
    let than = vec![f64::INFINITY; problem.flows()];
    let found = cheaper(all, problem.capacities(), &prices, &than, workers)?;
    let (mut pays, mut paid) = (vec![0.0; problem.flows()], 0.0);
    for (path, &flow) in found.flows.iter().enumerate() {
        let price = found.paths.row(path).sum(&prices);
        pays[flow as usize] = price;
        paid += problem.flow_cap(flow as usize) * price;
    }
    let worth = worth(problem, &prices);
    if paid > 0.0 {
        let unit;
        (flow.bound, unit) = match most {
            Most::Fraction => (worth / paid, paid),
            Most::Utilization => (paid / worth, worth),
        };
        prices.iter_mut().chain(&mut pays).for_each(|price| *price /= unit);
        flow.cut = cut_of(flow.fraction, &prices, &pays);
        (flow.prices, flow.flow_prices) = (prices, pays);
        flow.gap = most.gap(flow);
    }
    Ok(())
}

/// The problem over one path of every flow, an open one where it has one.
fn over_one_path_each(problem: &Problem, workers: &dyn Workers) -> Result<Problem> {
    let mut first = vec![NONE; problem.flows()];
    for (path, &flow) in (0u32..).zip(problem.group()) {
        let first = &mut first[flow as usize];
        if *first == NONE || problem.is_closed(*first as usize) && !problem.is_closed(path as usize) {
            *first = path;
        }
    }
    problem.with_paths_of(&first, workers)
}
