//! Chooses the certificate of given rates: by prices, or by bottlenecks for max-min problems.

use crate::certificate::{Certificate, certify_by_prices};
use crate::error::Result;
use crate::max_min;
use crate::normalize;
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::utility::Curvature;

/// Certifies rates and prices, in the caller's units.
///
/// Rates above 10²⁰⁰, in units of the mean capacity, are cut to that, so that sums over flows are finite.
///
/// Flows that nothing can pass (every path over a failed link or capped at 0) leave the objective, and prices of links
/// that no other flow uses are ignored. O(crossings).
///
/// A max-min problem (any α is ∞) is certified by the bottleneck property: once the rates are feasible, every flow must
/// be at its cap or saturation, or cross a link that is full and on which no flow has a larger fair share. The prices
/// are then ignored. Where flows have several paths a bottleneck is a sum over several links: the max-min rates are
/// found first, at the cost of [`max_min`](crate::max_min()). The given rates are certified against the bottleneck
/// links of those rates. A wrong set of links can only make the residual larger.
///
/// # Errors
/// Those of bad input: `Length`, `Rate` and `Price` of [`Error`](crate::Error). `Unsupported` for max-min problems with
/// utilities that have no [fair share](crate::Utility::fair_share); `Utility` when a user's utility answers with a
/// demand that is no best response; and `Stopped`.
pub fn certify(problem: &Problem, rates: &[f64], prices: &[f64]) -> Result<Certificate> {
    normalize::check(problem, rates)?;
    problem.check_prices(prices)?;
    match problem.curvature() {
        Curvature::MaxMin => max_min::certify(problem, rates, &max_min::find_witness(problem)?),
        _ => certify_by_prices(problem, &Presolved::new(problem)?, rates, prices),
    }
}
