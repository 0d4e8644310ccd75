//! Certificates of rates and prices: the only place that says what proves what.
//!
//! | problem | gap | residual |
//! |---|---|---|
//! | max-min: some α is ∞ | distance of a flow from its bottleneck (`max_min/bottleneck.rs`) | the same number |
//! | any other | dual bound of the prices (`certificate/gap.rs`) | optimality conditions (`certificate/kkt.rs`) |
//!
//! Both are of the feasible point: the rates made feasible by F-NORM, once.

use crate::certificate::{Certificate, FeasiblePoint, overload};
use crate::error::Result;
use crate::max_min::{self, Inequality};
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
    let witness = match problem.curvature() {
        Curvature::MaxMin => max_min::find_witness(problem)?,
        _ => Vec::new(),
    };
    certify_presolved(problem, &Presolved::with_rates(problem, rates)?, rates, prices, &witness)
}

/// Certifies rates and prices in the caller's units, which are checked. No flow that is left out has a rate. The
/// witness bounds max-min rates of flows with several paths; a wrong one can only make the residual larger.
///
/// # Errors
/// Those of [`certify`], but for bad input.
pub(crate) fn certify_presolved(
    problem: &Problem,
    presolved: &Presolved,
    rates: &[f64],
    prices: &[f64],
    witness: &[Inequality],
) -> Result<Certificate> {
    if presolved.infeasibility.is_some() {
        return Ok(Certificate {
            relative_gap: f64::INFINITY,
            overload: overload(problem, rates),
            kkt_residual: f64::INFINITY,
        });
    }
    let overload = overload(problem, rates);
    let (natural, prices) = (presolved.natural_rates(rates), presolved.natural_prices(prices));
    let point = FeasiblePoint::new(presolved, &natural, &prices)?;
    certify_point(problem, &point, witness, overload.max(point.overload))
}

/// Certifies a feasible point, with the overload that its rates had before.
///
/// # Errors
/// Those of [`certify`], but for bad input.
pub(crate) fn certify_point(
    problem: &Problem,
    point: &FeasiblePoint,
    witness: &[Inequality],
    overload: f64,
) -> Result<Certificate> {
    // Max-min rates are no demands at prices.
    if problem.curvature() != Curvature::MaxMin {
        point.check_demands()?;
    }
    let (relative_gap, residual) = gap_and_residual(problem, point, witness, |_| true)?;
    Ok(Certificate { relative_gap, overload, kkt_residual: residual.max(overload) })
}

/// The gap of a feasible point, and its residual: NaN where one of the optimality conditions is not needed at this gap.
///
/// # Errors
/// Those of [`certify`], but for bad input.
pub(crate) fn gap_and_residual(
    problem: &Problem,
    point: &FeasiblePoint,
    witness: &[Inequality],
    is_needed: impl FnOnce(f64) -> bool,
) -> Result<(f64, f64)> {
    if point.is_infeasible() {
        return Ok((f64::INFINITY, f64::INFINITY));
    }
    if problem.curvature() == Curvature::MaxMin {
        let residual = max_min::residual(problem, &point.caller_rates(), witness, point.workers())?;
        return Ok((residual, residual.max(point.overload)));
    }
    let gap = point.relative_gap()?;
    Ok((gap, if is_needed(gap) { point.kkt_residual()? } else { f64::NAN }))
}
