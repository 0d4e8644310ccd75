//! Natural units.
//!
//! Rates are counted in C₀, the geometric mean over paths of the smallest capacity (as a power of two, so that going
//! there and back is exact), prices in U₀, the revenue-weighted mean of U' at an equal share.

use std::f64::consts::LN_2;
use std::ops::Range;

use super::{Column, Presolved};
use crate::error::{Error, Result};
use crate::interrupt::check;
use crate::numerics::{exp, ln, vectorized};
use crate::paths::Paths;
use crate::paths::parts::{self, pieces};
use crate::paths::passes::{Pass, smaller};
use crate::problem::{Block, Problem};
use crate::utility::CHUNK;
use crate::work::{Ranks, Workers, for_each};

impl Presolved {
    /// log U' of every flow at its equal share, in the caller's units of price.
    pub(super) fn caller_log_marginals(
        &self,
        problem: &Problem,
        blocks: &[(usize, Vec<u32>)],
        shares: &[f64],
    ) -> Result<Vec<f64>> {
        let (mut all, mut start) = (vec![0.0; shares.len()], 0);
        for (number, places) in blocks {
            let block @ Block { utility, flows } = &problem.blocks()[*number];
            let own = start..start + places.len();
            start = own.end;
            let (shares, logs) = (&shares[own.clone()], &mut all[own]);
            if !block.is_user_defined() {
                let ranges = parts::ranges(places.len(), parts::PATHS);
                for_each(&*self.workers, pieces(logs, &ranges), |(logs, range)| {
                    check()?;
                    let (mut rates, given) = ([0.0; CHUNK], places[range.clone()].chunks(CHUNK));
                    for ((places, shares), logs) in given.zip(shares[range].chunks(CHUNK)).zip(logs.chunks_mut(CHUNK)) {
                        rates.iter_mut().zip(shares).for_each(|(rate, share)| *rate = share * self.units.rate);
                        utility.log_marginal_at(places, &rates[..places.len()], logs);
                    }
                    Ok(())
                })?;
            } else {
                // A user-defined utility is called with all its flows, in its order.
                let mut rates = vec![self.units.rate; flows.len()];
                places.iter().zip(shares).for_each(|(&place, share)| rates[place as usize] *= share);
                let mut in_order = vec![0.0; flows.len()];
                check()?;
                utility.log_marginal_into(0..flows.len(), &rates, &mut in_order);
                check()?;
                logs.iter_mut().zip(places).for_each(|(log, &place)| *log = in_order[place as usize]);
            }
            // The logarithm is −∞ where the marginal is 0, as beyond a saturation.
            for (wrong, log) in logs.iter_mut().enumerate() {
                if !log.is_nan() && *log != f64::INFINITY {
                    continue;
                }
                let (place, rate) = (places[wrong] as usize, shares[wrong] * self.units.rate);
                // A negative one has no logarithm, and counts as 0 beyond a saturation.
                let marginal = utility.marginal(place, rate);
                if marginal <= 0.0 && rate > utility.saturation(place) {
                    *log = f64::NEG_INFINITY;
                    continue;
                }
                let what = format!("its marginal at rate {rate} is {marginal}, expected a finite number >= 0");
                return Err(Error::Utility { flow: flows[place] as usize, what });
            }
        }
        Ok(all)
    }

    /// log of Σ x U'² / Σ x U' at the equal share, the mean price of a unit of revenue, over all ranks.
    pub(super) fn log_price(&self, shares: &[f64], log_marginals: &[f64]) -> Result<Option<f64>> {
        let (workers, ranges) = (&*self.workers, parts::ranges(shares.len(), parts::PATHS));
        let largest_of =
            |range: Range<usize>| Ok(log_marginals[range].iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let of_ranges = for_each(workers, ranges.clone(), largest_of)?;
        let mut largest = [of_ranges.into_iter().fold(f64::NEG_INFINITY, f64::max)];
        self.ranks().max(&mut largest)?;
        let [largest] = largest;
        if !largest.is_finite() {
            return Ok(None);
        }
        let of_ranges = for_each(workers, ranges, |range| {
            check()?;
            let (mut squares, mut revenue, mut relatives) = (0.0, 0.0, [0.0; CHUNK]);
            for (shares, logs) in shares[range.clone()].chunks(CHUNK).zip(log_marginals[range].chunks(CHUNK)) {
                vectorized(
                    #[inline(always)]
                    || {
                        for (relative, &log) in relatives.iter_mut().zip(logs) {
                            *relative = exp(log - largest);
                        }
                    },
                );
                for (share, relative) in shares.iter().zip(&relatives) {
                    squares += share * relative * relative;
                    revenue += share * relative;
                }
            }
            Ok([squares, revenue])
        })?;
        let mut sums = [0, 1].map(|which| of_ranges.iter().map(|sums| sums[which]).sum::<f64>());
        self.ranks().sum(&mut sums)?;
        Ok(Some(largest + (sums[0] / sums[1]).ln()))
    }

    /// log of the mean cost of a path, the unit of price where no marginal is positive; 0 without costs.
    pub(super) fn log_cost(&self, problem: &Problem) -> Result<f64> {
        let cost = |&path: &u32| problem.path_cost(path as usize);
        let mut sums = [self.caller.paths.iter().map(cost).sum::<f64>(), self.paths.len() as f64];
        self.ranks().sum(&mut sums)?;
        Ok(if sums[0] > 0.0 { (sums[0] / sums[1]).ln() } else { 0.0 })
    }

    /// The costs of paths.
    pub(super) fn natural_costs(&self, problem: &Problem) -> Column {
        let natural = |&path: &u32| match problem.path_cost(path as usize) {
            0.0 => 0.0,
            cost => (cost.ln() - self.units.log_price).min(600.0).exp(),
        };
        let costs = if problem.has_path_costs() { self.caller.paths.iter().map(natural).collect() } else { Vec::new() };
        Column::new(costs, 0.0)
    }
}

/// The unit of every link: the largest coefficient there, over all ranks; empty where all coefficients are 1.
pub(crate) fn link_units(paths: &Paths, links: usize, workers: &dyn Workers) -> Result<Vec<f64>> {
    if !workers.ranks().any(paths.coefficients().is_some())? {
        return Ok(Vec::new());
    }
    let ranges = parts::ranges(paths.len(), parts::PATHS.max(parts::PER_LINK * links));
    let pass = Pass { paths, links, ranges, workers };
    let least = pass.least(vec![[0.0]; links], |_, row, least| {
        row.entries().for_each(|(link, a)| least[link as usize][0] = smaller(-a, least[link as usize][0]));
    })?;
    Ok(least.into_iter().map(|[least]| -least).collect())
}

/// Σ log of some values.
pub(super) fn log_sum(values: &[f64]) -> f64 {
    let (mut sum, mut logs) = (0.0, [0.0; CHUNK]);
    for some in values.chunks(CHUNK) {
        vectorized(
            #[inline(always)]
            || {
                for (log, &value) in logs.iter_mut().zip(some) {
                    *log = ln(value);
                }
            },
        );
        logs[..some.len()].iter().for_each(|log| sum += log);
    }
    sum
}

/// The power of two nearest to the geometric mean of the smallest capacities of all paths on all ranks, given Σ log of
/// this one's.
pub(super) fn rate_unit(sum: f64, paths: usize, ranks: &Ranks) -> Result<f64> {
    let mut sums = [sum, paths as f64];
    ranks.sum(&mut sums)?;
    let [sum, paths] = sums;
    let mean = sum / (paths * LN_2);
    Ok(if paths == 0.0 { 1.0 } else { mean.round().clamp(-1000.0, 1000.0).exp2() })
}
