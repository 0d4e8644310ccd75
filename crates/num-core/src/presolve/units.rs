//! Natural units, and the conversion from and to the caller's.
//!
//! Rates are counted in C₀, the geometric mean over paths of the smallest capacity (as a power of two, so that going
//! there and back is exact), prices in U₀, the revenue-weighted mean of U' at an equal share.

use std::f64::consts::LN_2;
use std::ops::Range;

use super::{CHUNK, Presolved};
use crate::error::{Error, Result};
use crate::interrupt::check;
use crate::numerics::{exp, ln, vectorized};
use crate::paths::Row;
use crate::paths::parts::{self, pieces};
use crate::problem::{Block, Problem};
use crate::work::{Ranks, for_each};

/// The part of a path's price that may be lost where floats do not hold it.
const LOST: f64 = 1e-9;

/// The smallest number that floats hold to that part of it.
const SMALLEST_PRICE: f64 = 5e-315;

impl Presolved {
    /// Prices of all links in the caller's units; links without open paths are free. A price that no float can hold
    /// (α = 200 and weights of 1e5, say) becomes the largest one, or 0.
    pub(crate) fn caller_prices(&self, prices: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.total_links];
        let unit = self.units.price();
        for (&link, &price) in self.links.iter().zip(prices) {
            all[link as usize] = if price == 0.0 { 0.0 } else { (price * unit).min(f64::MAX) };
        }
        all
    }

    /// Loads of all links in the caller's units; links without open paths carry nothing.
    pub(crate) fn caller_loads(&self, loads: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.total_links];
        for (&link, load) in self.links.iter().zip(loads) {
            all[link as usize] = load * self.units.rate;
        }
        all
    }

    /// Whether floats hold, in the caller's units, every price that is more than the part 1e−9 of what a path pays.
    pub(crate) fn holds_prices(&self, prices: &[f64]) -> bool {
        let unit = self.units.price();
        let is_lost = |price: f64| price > 0.0 && !(SMALLEST_PRICE..=f64::MAX).contains(&(price * unit));
        if !prices.iter().any(|&price| is_lost(price)) {
            return true;
        }
        let lost: Vec<f64> = prices.iter().map(|&price| if is_lost(price) { price } else { 0.0 }).collect();
        (0..self.paths.len()).map(|path| self.paths.row(path)).all(|row| row.sum(&lost) <= LOST * row.sum(prices))
    }

    /// Rates of all paths in the caller's units; closed paths carry nothing.
    pub(crate) fn caller_rates(&self, rates: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.total_paths];
        for (&path, &rate) in self.original_paths.iter().zip(rates) {
            all[path as usize] = rate * self.units.rate;
        }
        all
    }

    /// None for all of the caller's paths, and those of a function, which is given the number of a path, its flow and
    /// its links: a link by its number here.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    #[inline(always)]
    pub(crate) fn caller_links(
        &self,
        of: impl Fn(usize, usize, Row<'_>) -> Option<u32> + Sync,
    ) -> Result<Vec<Option<u32>>> {
        let of_ranges = for_each(&*self.workers, self.flow_ranges(), |flows| {
            let (paths, mut flow) = (self.paths_of_all(&flows), flows.start);
            let mut found = Vec::with_capacity(paths.len());
            self.paths.each_of(
                paths,
                #[inline(always)]
                |path, row| {
                    while self.paths_of(flow).end <= path {
                        flow += 1;
                    }
                    found.push(of(path, flow, row));
                },
            )?;
            Ok(found)
        })?;
        let mut all = vec![None; self.total_paths];
        for (&path, found) in self.original_paths.iter().zip(of_ranges.into_iter().flatten()) {
            all[path as usize] = found.map(|link| self.links[link as usize]);
        }
        Ok(all)
    }

    /// The caller's prices in natural units.
    pub(crate) fn natural_prices(&self, prices: &[f64]) -> Vec<f64> {
        let natural = |&link: &u32| match prices[link as usize] {
            0.0 => 0.0,
            price => (price.ln() - self.units.log_price).min(600.0).exp(),
        };
        self.links.iter().map(natural).collect()
    }

    /// The caller's rates in natural units, cut to what sums over all paths can hold.
    pub(crate) fn natural_rates(&self, rates: &[f64]) -> Vec<f64> {
        self.original_paths.iter().map(|&path| (rates[path as usize] / self.units.rate).min(1e200)).collect()
    }

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
            if let Some(wrong) = logs.iter().position(|log| log.is_nan() || *log == f64::INFINITY) {
                let (place, rate) = (places[wrong] as usize, shares[wrong] * self.units.rate);
                // A negative one has no logarithm.
                let marginal = utility.marginal(place, rate);
                let what = format!("its marginal at rate {rate} is {marginal}, expected a finite number >= 0");
                return Err(Error::Utility { flow: flows[place] as usize, what });
            }
        }
        Ok(all)
    }

    /// log of Σ x U'² / Σ x U' at the equal share, the mean price of a unit of revenue, over all ranks.
    pub(super) fn log_price(&self, shares: &[f64], log_marginals: &[f64]) -> Result<f64> {
        let (workers, ranges) = (&*self.workers, parts::ranges(shares.len(), parts::PATHS));
        let largest_of =
            |range: Range<usize>| Ok(log_marginals[range].iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let of_ranges = for_each(workers, ranges.clone(), largest_of)?;
        let mut largest = [of_ranges.into_iter().fold(f64::NEG_INFINITY, f64::max)];
        self.ranks().max(&mut largest)?;
        let [largest] = largest;
        if !largest.is_finite() {
            return Ok(0.0);
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
        Ok(largest + (sums[0] / sums[1]).ln())
    }
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
