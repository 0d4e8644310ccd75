//! The cold start: every flow's revenue at an equal share, split over the links of its path.
//!
//! ```text
//! p_l = (1/c_l) Σ_{s ∋ l} x⁰_s U'(x⁰_s) / |L(s)|,     x⁰_s = min_{l ∈ s} c_l / n_l
//! ```
//!
//! Independent of units, and exact where every flow has one bottleneck that it shares with the flows sharing its links.

use super::Presolved;
use crate::error::Result;
use crate::interrupt::check;
use crate::numerics::{exp, vectorized};
use crate::paths::parts::split_mut;
use crate::work::for_each;

impl Presolved {
    /// Prices in natural units from equal shares and log U' there in the caller's, O(crossings).
    pub(super) fn revenue_split(&self, shares: &[f64], log_marginals: Vec<f64>) -> Result<Vec<f64>> {
        let (mut revenues, log_price) = (log_marginals, self.units.log_price);
        for_each(&*self.workers, split_mut(&mut revenues, &self.flow_ranges()), |logs| {
            check()?;
            vectorized(
                #[inline(always)]
                || logs.iter_mut().for_each(|log| *log = exp((*log - log_price).min(600.0))),
            );
            Ok(())
        })?;
        let revenues = self.per_path(&revenues);
        self.pass().sums(
            #[inline(always)]
            |path, row, prices| {
                // Each link has the same part of a path's revenue.
                let part = revenues[path] * shares[path] / row.links().len() as f64;
                row.links().iter().for_each(|&link| prices[link as usize] += part / self.capacities[link as usize]);
            },
        )
    }
}
