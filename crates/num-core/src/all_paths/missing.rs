//! The paths that are missing at some prices, and how far from the optimum they say the rates are.

use std::sync::Arc;

use super::cheapest_paths::{Cheaper, CheapestPaths, cheaper, cheaper_exactly};
use super::search::sum;
use crate::certificate::{Certificate, FeasiblePoint};
use crate::certify::certify_presolved;
use crate::double_double::DoubleDouble;
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, check_length};
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::solve::Ask;
use crate::tolerances::ROUNDING;
use crate::work::Workers;

/// One part in so many of what a flow pays is little to its rate.
const PARTS: u128 = 1000;
/// A path is cheaper in whole units where that is by more than this part of its price, as a power of ½: the rest is
/// rounding of completed prices.
const EXACT: u32 = 92;

/// The cheapest paths of the flows for which they are cheaper than all that they have.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) found: Cheaper,
    /// What these cost.
    costs: Vec<f64>,
    /// What every path of the problem costs, and of every flow the least of these.
    pub(super) path_costs: Vec<f64>,
    pub(super) least: Vec<f64>,
    /// At least so much is the gap over all paths, beyond that over the paths of the problem:
    /// Σ y_f (least_f − d_f) / Σ y_f least_f.
    pub(super) gap: f64,
    /// The same by what rates are worth, Σ y_f max(least_f, U'_f): flows at their caps may pay next to nothing.
    pub(super) of_worth: f64,
}

impl Missing {
    /// At prices of links, and costs of links beside them if there are any.
    ///
    /// # Errors
    /// [`Error::CheapestPath`], those of the oracle, and [`Error::Stopped`].
    pub(super) fn at(
        problem: &Problem,
        all: &dyn CheapestPaths,
        prices: &[f64],
        link_costs: &[f64],
        flow_rates: &[f64],
        workers: &dyn Workers,
    ) -> Result<Self> {
        let prices = with_costs(prices, link_costs);
        let (paths, mut path_costs) = (problem.paths(), vec![0.0; problem.paths().len()]);
        let mut pacer = Pacer::new();
        let mut least = vec![f64::INFINITY; problem.flows()];
        for (path, cost) in path_costs.iter_mut().enumerate() {
            let row = paths.row(path);
            *cost = row.sum(&prices);
            pacer.did(1 + row.links().len())?;
            if !problem.is_closed(path) {
                let least = &mut least[problem.group()[path] as usize];
                *least = if *cost < *least { *cost } else { *least };
            }
        }
        let than = |(flow, &least): (usize, &f64)| match least {
            // Nothing can pass: no path is missing.
            f64::INFINITY => 0.0,
            // A flow that has no rate would use a path only if that is worth it.
            _ if flow_rates[flow] == 0.0 => {
                let (utility, place) = problem.utility(flow);
                (least * (1.0 - ROUNDING)).min(utility.marginal(place, 0.0))
            }
            _ => least * (1.0 - ROUNDING),
        };
        let than: Vec<f64> = least.iter().enumerate().map(than).collect();
        let found = cheaper(all, problem.capacities(), &prices, &than, workers)?;
        let (mut saved, mut paid, mut worth) = (0.0, 0.0, 0.0);
        let costs: Vec<f64> = (0..found.flows.len()).map(|path| found.paths.row(path).sum(&prices)).collect();
        for (&flow, cost) in found.flows.iter().zip(&costs) {
            saved += flow_rates[flow as usize] * (least[flow as usize] - cost).max(0.0);
        }
        for ((&rate, &least), marginal) in flow_rates.iter().zip(&least).zip(problem.marginals(flow_rates)) {
            if rate > 0.0 && least.is_finite() {
                paid += rate * least;
                worth += rate * f64::max(least, marginal);
            }
        }
        let part = |whole: f64| if saved > 0.0 { saved / whole } else { 0.0 };
        Ok(Self { found, costs, path_costs, least, gap: part(paid), of_worth: part(worth) })
    }

    /// Whether no flow has a cheaper path.
    pub(super) fn is_empty(&self) -> bool {
        self.found.flows.is_empty()
    }

    /// The problem with these paths as well, those that are cheaper by more than a part of what their flow pays.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn added_to(&self, problem: &Problem, link_costs: &[f64], by: f64) -> Result<Problem> {
        let (mut flows, mut paths) = (Vec::new(), Paths::with_capacity(0, 0));
        for (path, &flow) in self.found.flows.iter().enumerate() {
            if self.costs[path] < self.least[flow as usize] * (1.0 - by) {
                flows.push(flow);
                paths.push(self.found.paths.links(path));
            }
        }
        with_paths(problem, &flows, &paths, link_costs)
    }
}

/// What links cost: their prices, and costs beside them if there are any.
pub(super) fn with_costs(prices: &[f64], link_costs: &[f64]) -> Vec<f64> {
    match link_costs.is_empty() {
        true => prices.to_vec(),
        false => prices.iter().zip(link_costs).map(|(price, cost)| price + cost).collect(),
    }
}

/// The capacity of all links together that have a limit.
pub(super) fn finite_capacity(capacities: &[f64]) -> f64 {
    capacities.iter().filter(|capacity| capacity.is_finite()).sum()
}

/// The problem with these paths of flows as well, at the costs of their links.
pub(super) fn with_paths(problem: &Problem, flows: &[u32], paths: &Paths, link_costs: &[f64]) -> Result<Problem> {
    let costs: Vec<f64> = match link_costs.is_empty() {
        true => vec![0.0; flows.len()],
        false => (0..flows.len()).map(|path| paths.row(path).sum(link_costs)).collect(),
    };
    problem.with_more_paths(flows, paths, &costs)
}

/// The most that each flow can carry over all of its paths: each unit takes a link, or is held by a cap.
///
/// # Errors
/// [`Error::Length`] for an oracle that does not say it of every flow, and its own.
pub(super) fn reaches(problem: &Problem, all: &dyn CheapestPaths, workers: &dyn Workers) -> Result<Vec<f64>> {
    let capacities = problem.capacities();
    let finite = finite_capacity(capacities);
    let mut reaches: Vec<f64> = all.most(capacities).into_iter().map(|most| most.min(finite)).collect();
    check_length("what flows can carry at most", reaches.len(), problem.flows(), "flow")?;
    if capacities.contains(&f64::INFINITY) {
        let prices: Vec<f64> = capacities.iter().map(|capacity| f64::from(u8::from(capacity.is_finite()))).collect();
        // A path without a limit.
        for flow in cheaper(all, capacities, &prices, &vec![0.5; reaches.len()], workers)?.flows {
            let cap = problem.flow_cap(flow as usize);
            if cap < f64::INFINITY {
                reaches[flow as usize] = cap;
            }
        }
    }
    Ok(reaches)
}

/// The certificate over all paths: that of the problem with all paths that are missing, of which each flow could carry
/// as much over others of their price. A path of the problem crosses every link with a price.
pub(super) fn certificate(
    problem: &Problem,
    missing: &Missing,
    (rates, prices): (&[f64], &[f64]),
    link_costs: &[f64],
    reaches: &[f64],
    ask: &Ask,
) -> Result<Certificate> {
    let whole = missing.added_to(problem, link_costs, 0.0)?.with_reaches(reaches.to_vec());
    let rates = at_paths(rates, &whole);
    let presolved = Presolved::by(&whole, Arc::clone(&ask.workers))?;
    certify_presolved(&whole, &presolved, &rates, prices, &[])
}

/// The paths that are cheaper than all that their flows have by more than a little of what any flow pays, in digits
/// that floats do not hold: of flows of whose price rounding is as much. Prices are completed by the ties of the paths
/// that flows use (`certificate/ties.rs`), and sums are exact.
///
/// # Errors
/// Those of [`Missing::at`].
pub(super) fn hidden(
    problem: &Problem,
    missing: &Missing,
    (rates, prices): (&[f64], &[f64]),
    all: &dyn CheapestPaths,
    ask: &Ask,
) -> Result<Option<Cheaper>> {
    let flow_rates = problem.flow_rates(rates)?;
    // Flows without rates, and those that nothing can pass, pay nothing.
    let pays = |(&rate, &least): (&f64, &f64)| if rate > 0.0 && least < f64::INFINITY { least } else { 0.0 };
    let paid: Vec<f64> = flow_rates.iter().zip(&missing.least).map(pays).collect();
    let least_paid = paid.iter().copied().filter(|&paid| paid > 0.0).fold(f64::INFINITY, f64::min);
    let counts: Vec<bool> = paid.iter().map(|paid| *paid >= least_paid / (PARTS as f64 * ROUNDING)).collect();
    if !counts.contains(&true) {
        return Ok(None);
    }
    let presolved = Presolved::by(problem, Arc::clone(&ask.workers))?;
    let point = FeasiblePoint::new(&presolved, &presolved.natural_rates(rates), &presolved.natural_prices(prices))?;
    let prices = in_whole_units(&point.completed_prices()?);
    let (paths, mut pacer) = (problem.paths(), Pacer::new());
    let mut least = vec![u128::MAX; problem.flows()];
    for (path, &flow) in problem.group().iter().enumerate() {
        let (links, flow) = (paths.links(path), flow as usize);
        if flow_rates[flow] > 0.0 && !problem.is_closed(path) {
            pacer.did(1 + links.len())?;
            least[flow] = least[flow].min(sum(links.iter().copied(), &prices));
        }
    }
    let little = least.iter().copied().filter(|&paid| paid > 0).min().unwrap_or(0) / PARTS;
    let than = |(&least, counts): (&u128, &bool)| if *counts { least - (least >> EXACT).max(little) } else { 0 };
    let than: Vec<u128> = least.iter().zip(&counts).map(than).collect();
    let found = cheaper_exactly(all, problem.capacities(), &prices, &than, &*ask.workers)?;
    Ok(found.filter(|found| !found.flows.is_empty()))
}

/// Prices as whole numbers of a unit, the largest one some 2¹²⁰.
fn in_whole_units(prices: &[DoubleDouble]) -> Vec<u128> {
    let largest = prices.iter().map(|price| price.value()).fold(f64::MIN_POSITIVE, f64::max);
    // Powers of two, which cost no digits; one alone may be more than floats hold.
    let (one, other) = (2.0f64.powi(60), 2.0f64.powi((60 - largest.log2().ceil() as i32).min(900)));
    let whole = |price: &DoubleDouble| {
        let (high, low) = price.parts();
        ((high * one * other) as i128 + (low * one * other) as i128).max(0) as u128
    };
    prices.iter().map(whole).collect()
}

/// The paths that carry something, and one of every flow that has none, in the order of the flows.
pub(super) fn used(problem: &Problem, rates: &[f64]) -> Vec<u32> {
    let flow_of = |path: u32| problem.group()[path as usize] as usize;
    let mut kept: Vec<u32> = (0..problem.paths().len() as u32).collect();
    let mut has_one = vec![false; problem.flows()];
    kept.iter().filter(|&&path| rates[path as usize] > 0.0).for_each(|&path| has_one[flow_of(path)] = true);
    kept.retain(|&path| rates[path as usize] > 0.0 || !std::mem::replace(&mut has_one[flow_of(path)], true));
    kept.sort_by_key(|&path| flow_of(path));
    kept
}

/// Rates of the first paths of a problem, and 0 for those that were added.
pub(super) fn at_paths(rates: &[f64], problem: &Problem) -> Vec<f64> {
    let added = problem.paths().len() - rates.len();
    rates.iter().copied().chain(std::iter::repeat_n(0.0, added)).collect()
}
