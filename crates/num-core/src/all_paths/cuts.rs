//! Max-min over all paths: the prices are the cuts that hold flows back.
//!
//! A cut says Σ λ_f y_f ≤ π·c, with λ_f the price of the cheapest path of flow f. Over all paths it says so where no
//! path of the network is cheaper than λ_f: for the flows that still rise, and for those that were fixed before. These
//! keep their rates, but not their splits: with c = 3 on a link of flows A (cap 1) and B, and a way around it that A
//! may take, B stops at 2 over the paths so far, and has 3 once A is on that way. So a path is missing for every flow
//! with a factor λ_f > 0 in a cut that has a cheaper one. When none is missing, the same cuts prove the rates over all
//! paths (`max_min/witness.rs`).
//!
//! A round adds no more than a few paths per flow, those of the first cuts: the cuts after these change once the paths
//! are there, and paths that are of no use cost time in every round. Prices that were asked about in the round before
//! are not asked about again: the cheapest paths at these prices are there since. Most cuts of the last rounds are
//! known that way.

use std::collections::{HashMap, HashSet};

use super::cheapest_paths::{CheapestPaths, cheaper};
use crate::error::Result;
use crate::interrupt;
use crate::max_min::{Inequality, residual};
use crate::paths::Paths;
use crate::problem::Problem;
use crate::tolerances::ROUNDING;
use crate::work::Workers;

/// Paths of one flow that a round adds at most.
const MOST: usize = 4;

/// By the prices of a cut of the last round, as bits: flows in order, each with the factor that no path is cheaper than
/// but those that the problem has. Holds while the problem only gains paths.
pub(super) type Asked = HashMap<Vec<(u32, u64)>, Vec<(u32, f64)>>;

/// The paths that are missing under cuts, with their flows: each once, and not all of a flow for which many are. None
/// are missing if none are returned.
///
/// # Errors
/// Those of the oracle, and [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn missing(
    problem: &Problem,
    all: &dyn CheapestPaths,
    witness: &[Inequality],
    asked: &mut Asked,
    workers: &dyn Workers,
) -> Result<(Vec<u32>, Paths)> {
    let (mut flows, mut paths) = (Vec::new(), Paths::with_capacity(0, 0));
    let mut known: HashSet<(u32, Vec<u32>)> = HashSet::new();
    let (mut prices, mut than) = (vec![0.0; problem.links()], vec![0.0; problem.flows()]);
    let mut added = vec![0; problem.flows()];
    let mut now = Asked::new();
    for cut in witness {
        interrupt::check()?;
        let bits: Vec<(u32, u64)> = cut.prices().iter().map(|&(link, price)| (link, price.to_bits())).collect();
        if let Some(before) = asked.remove(&bits) {
            let place = |flow| before.binary_search_by_key(&flow, |&(flow, _)| flow).ok();
            let is_known = |&(flow, factor)| place(flow).is_some_and(|place| factor <= before[place].1);
            if cut.factors().iter().all(is_known) {
                now.insert(bits, before);
                continue;
            }
        }
        let is_link = |link: u32| (link as usize) < problem.links();
        cut.prices().iter().filter(|(link, _)| is_link(*link)).for_each(|&(link, price)| prices[link as usize] = price);
        let mut is_of_all = true;
        for &(flow, factor) in cut.factors() {
            let may_add = added[flow as usize] < MOST;
            than[flow as usize] = if may_add { factor * (1.0 - ROUNDING) } else { 0.0 };
            is_of_all &= may_add;
        }
        let found = cheaper(all, problem.capacities(), &prices, &than, workers)?;
        for (path, &flow) in found.flows.iter().enumerate() {
            let links = found.paths.links(path);
            if known.insert((flow, links.to_vec())) {
                flows.push(flow);
                added[flow as usize] += 1;
                paths.push(links);
            }
        }
        if is_of_all {
            let mut factors = cut.factors().to_vec();
            factors.sort_unstable_by_key(|&(flow, _)| flow);
            now.insert(bits, factors);
        }
        cut.prices().iter().filter(|(link, _)| is_link(*link)).for_each(|&(link, _)| prices[link as usize] = 0.0);
        cut.factors().iter().for_each(|&(flow, _)| than[flow as usize] = 0.0);
    }
    *asked = now;
    Ok((flows, paths))
}

/// The cuts of flows with one path each: the bottleneck links.
pub(super) fn of_bottlenecks(problem: &Problem, bottlenecks: &[Option<u32>], rates: &[f64]) -> Vec<Inequality> {
    let mut links: Vec<u32> = bottlenecks.iter().copied().flatten().collect();
    links.sort_unstable();
    links.dedup();
    let mut through = vec![Vec::new(); links.len()];
    for (path, &rate) in rates.iter().enumerate() {
        for link in problem.paths().links(path) {
            if let Ok(place) = links.binary_search(link)
                && rate > 0.0
            {
                through[place].push((problem.group()[path], 1.0));
            }
        }
    }
    links.into_iter().zip(through).map(|(link, factors)| Inequality::new(0.0, vec![(link, 1.0)], factors)).collect()
}

/// How far rates are from max-min fair over all paths, where none is cheaper than the factors of the witness by more
/// than rounding.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn residual_over_all(
    problem: &Problem,
    rates: &[f64],
    witness: &[Inequality],
    workers: &dyn Workers,
) -> Result<f64> {
    let lowered: Vec<Inequality> = witness.iter().map(|cut| cut.lowered(1.0 - ROUNDING)).collect();
    residual(problem, rates, &lowered, workers)
}
