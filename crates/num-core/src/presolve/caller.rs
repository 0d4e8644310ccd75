//! The caller's numbers and units, and the conversion from and to them.

use std::sync::Arc;

use super::Presolved;
use crate::error::Result;
use crate::paths::Row;
use crate::work::for_each;

/// The part of a path's price that may be lost where floats do not hold it.
const LOST: f64 = 1e-9;
/// The largest price in natural units, so that sums over paths are finite.
const MOST: f64 = 1e260;

/// The numbers that links, paths and flows have in the problem.
pub(crate) struct Caller {
    /// Of every link, path and flow that is kept.
    pub(crate) links: Vec<u32>,
    /// How much of each of these links is 1 here; empty where all are the caller's own.
    pub(crate) link_units: Vec<f64>,
    pub(crate) paths: Arc<Vec<u32>>,
    pub(crate) flows: Arc<Vec<u32>>,
    /// Flows without an open path, in increasing order.
    pub(crate) failed_flows: Vec<u32>,
    /// Links without a limit, which have no price.
    pub(super) unlimited: Vec<u32>,
    /// How many links, paths and flows the problem has.
    pub(crate) total_links: usize,
    pub(super) total_paths: usize,
    pub(super) total_flows: usize,
}

impl Presolved {
    /// Prices of all links in the caller's units; links without open paths or without a limit are free. A price that no
    /// float can hold (α = 200 and weights of 1e5, say) becomes the largest one, or 0.
    pub(crate) fn caller_prices(&self, prices: &[f64]) -> Vec<f64> {
        let unit = self.units.price();
        let convert = |link: usize, price: f64| match price {
            0.0 => 0.0,
            _ => (price * unit / self.caller.link_unit(link)).min(f64::MAX),
        };
        let mut prices = spread(&self.caller.links, self.caller.total_links, prices, convert);
        self.caller.unlimited.iter().for_each(|&link| prices[link as usize] = 0.0);
        prices
    }

    /// Loads of all links in the caller's units; links without open paths carry nothing.
    pub(crate) fn caller_loads(&self, loads: &[f64]) -> Vec<f64> {
        let convert = |link: usize, load: f64| load * self.units.rate * self.caller.link_unit(link);
        spread(&self.caller.links, self.caller.total_links, loads, convert)
    }

    /// Rates of all paths in the caller's units; closed paths carry nothing.
    pub(crate) fn caller_rates(&self, rates: &[f64]) -> Vec<f64> {
        spread(&self.caller.paths, self.caller.total_paths, rates, |_, rate| rate * self.units.rate)
    }

    /// Rates of all flows in the caller's units; those that are left out have none.
    pub(crate) fn caller_flow_rates(&self, flow_rates: &[f64]) -> Vec<f64> {
        spread(&self.caller.flows, self.caller.total_flows, flow_rates, |_, rate| rate * self.units.rate)
    }

    /// Whether floats hold, in the caller's units, every price that is more than the part 1e−9 of what a path pays.
    pub(crate) fn holds_prices(&self, prices: &[f64]) -> bool {
        // The smallest number that floats hold to that part of it.
        let smallest = f64::from_bits(1) / LOST;
        let unit = self.units.price();
        let is_lost = |(link, &price): (usize, &f64)| {
            price > 0.0 && !(smallest..=f64::MAX).contains(&(price * unit / self.caller.link_unit(link)))
        };
        if !prices.iter().enumerate().any(is_lost) {
            return true;
        }
        let lost: Vec<f64> =
            prices.iter().enumerate().map(|(link, price)| if is_lost((link, price)) { *price } else { 0.0 }).collect();
        (0..self.paths.len()).map(|path| self.paths.row(path)).all(|row| row.sum(&lost) <= LOST * row.sum(prices))
    }

    /// None for all of the caller's paths, and those of a function, which is given the number of a path, its flow and
    /// its links: a link by its number here.
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
        let mut all = vec![None; self.caller.total_paths];
        for (&path, found) in self.caller.paths.iter().zip(of_ranges.into_iter().flatten()) {
            all[path as usize] = found.map(|link| self.caller.links[link as usize]);
        }
        Ok(all)
    }

    /// The caller's prices in natural units.
    pub(crate) fn natural_prices(&self, prices: &[f64]) -> Vec<f64> {
        let unit = self.units.price();
        let natural = |(link, &original): (usize, &u32)| {
            let price = prices[original as usize];
            // Floats may not hold the unit, and a logarithm has not all digits. That of 0 is −∞.
            let quotient = price / unit;
            let natural = if quotient.is_normal() { quotient } else { (price.ln() - self.units.log_price).exp() };
            natural.min(MOST) * self.caller.link_unit(link)
        };
        self.caller.links.iter().enumerate().map(natural).collect()
    }

    /// The caller's rates in natural units, cut to what sums over all paths can hold.
    pub(crate) fn natural_rates(&self, rates: &[f64]) -> Vec<f64> {
        self.caller.paths.iter().map(|&path| (rates[path as usize] / self.units.rate).min(1e200)).collect()
    }
}

impl Caller {
    /// How much of a link is 1 here.
    pub(crate) fn link_unit(&self, link: usize) -> f64 {
        self.link_units.get(link).copied().unwrap_or(1.0)
    }
}

/// Converted values in a list of `total`, each at its number there; 0 elsewhere.
fn spread(numbers: &[u32], total: usize, values: &[f64], convert: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let mut all = vec![0.0; total];
    for (place, (&number, &value)) in numbers.iter().zip(values).enumerate() {
        all[number as usize] = convert(place, value);
    }
    all
}
