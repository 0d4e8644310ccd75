//! The cold start: every flow's revenue at an equal share, split over the links of its path.
//!
//! ```text
//! p_l = (1/c_l) Σ_{s ∋ l} x⁰_s U'(x⁰_s) / |L(s)|,     x⁰_s = min_{l ∈ s} c_l / n_l
//! ```
//!
//! Independent of units, and exact where every flow has one bottleneck that it shares with the flows sharing its links.

use crate::error::Result;
use crate::interrupt::Pacer;
use crate::numerics::exp;
use crate::presolve::Presolved;

/// Prices in natural units, O(crossings).
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn revenue_split(problem: &Presolved) -> Result<Vec<f64>> {
    let (mut prices, mut pacer) = (vec![0.0; problem.capacities.len()], Pacer::new());
    for (range, log) in problem.flow_paths.windows(2).zip(&problem.log_marginals) {
        let marginal = exp(log.min(600.0));
        for (path, share) in (range[0]..range[1]).zip(&problem.equal_shares[range[0]..]) {
            let links = problem.paths.links(path);
            pacer.did(links.len())?;
            let part = marginal * share / links.len() as f64;
            for &link in links {
                prices[link as usize] += part / problem.capacities[link as usize];
            }
        }
    }
    Ok(prices)
}
