//! Certificates: proven bounds on the error of rates and prices, independent of the method that found them.
//!
//! A [`Certificate`] has a bound on the total missing utility (`gap.rs`), and a residual of the optimality conditions
//! of every single rate (`kkt.rs`). Both are of a [`FeasiblePoint`]: the rates made feasible, with their prices.
//!
//! Max-min fairness has no objective and so no dual bound. Its proof is the bottleneck property, which
//! [`max_min`](crate::max_min()) states: the largest distance of a flow from having a bottleneck is both gap
//! and residual.

mod best_response;
mod feasible_point;
mod floors;
mod gap;
mod kkt;
mod misplaced;
mod numerical_saturation;
mod path_splits;
mod slackness;
mod ties;
mod tolerances;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::non_finite;
use crate::normalize::relative_loads;
use crate::problem::Problem;
pub(crate) use feasible_point::FeasiblePoint;
pub(crate) use floors::Split;
pub(crate) use tolerances::BESIDE;

/// The proof that comes with rates and prices.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct Certificate {
    /// Bound on the utility that is still missing after the rates were made feasible by F-NORM, relative to the
    /// first-order gain of raising every rate by 100 %. Never below the true loss (to rounding). For max-min problems,
    /// which have no utility to lose, the largest distance of a flow from having a bottleneck, relative to its rate.
    #[serde(with = "non_finite::infinity")]
    pub relative_gap: f64,
    /// By how much the rates exceeded a capacity or a cap, or missed a floor, at most, before they were made feasible;
    /// relative to it, 0 if they did not, ∞ if something went over a failed link.
    #[serde(with = "non_finite::infinity")]
    pub overload: f64,
    /// Largest violation of the optimality conditions, relative; at least the overload.
    #[serde(with = "non_finite::infinity")]
    pub kkt_residual: f64,
}

impl Certificate {
    /// A certificate of these three numbers, as they were stored.
    pub fn new(relative_gap: f64, overload: f64, kkt_residual: f64) -> Self {
        Self { relative_gap, overload, kkt_residual }
    }
}

impl fmt::Display for Certificate {
    /// `gap 4.1e-7, rates to 2.0e-4`: the relative gap, and the KKT residual, to about which every single rate is
    /// right. `gap 3.1 (above 1: far from proven), rates unproven` where these are no small numbers,
    /// and `nothing proven` where they are none at all.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { relative_gap, kkt_residual, .. } = self;
        match *relative_gap {
            gap if gap.is_infinite() && *kkt_residual >= 1.0 => return write!(f, "nothing proven"),
            gap if gap > 1.0 => write!(f, "gap {} (above 1: far from proven), ", rounded(gap))?,
            gap => write!(f, "gap {gap:.1e}, ")?,
        }
        match *kkt_residual {
            residual if residual >= 0.995 => write!(f, "rates unproven"),
            residual => write!(f, "rates to {residual:.1e}"),
        }
    }
}

/// A number above 1 in two digits.
fn rounded(number: f64) -> String {
    if number < 1000.0 { format!("{number:.1}") } else { format!("{number:.1e}") }
}

/// By how much rates exceed a capacity or a cap, of a path or a flow, at most.
pub(crate) fn overload(problem: &Problem, rates: &[f64]) -> f64 {
    let links = relative_loads(problem.capacities(), problem.paths(), rates).into_iter();
    let used = rates.iter().enumerate().filter(|(_, rate)| **rate > 0.0);
    let caps = used.map(|(path, rate)| rate / problem.rate_cap(path));
    let totals =
        if problem.has_flow_caps() { problem.flow_rates(rates).expect("one rate per path") } else { Vec::new() };
    let used = totals.into_iter().enumerate().filter(|(_, total)| *total > 0.0);
    let flow_caps = used.map(|(flow, total)| total / problem.flow_cap(flow));
    (links.chain(caps).chain(flow_caps).fold(0.0, f64::max) - 1.0).max(0.0)
}

/// The larger of two numbers, NaN if one of them is: max would drop a NaN.
#[inline(always)]
pub(super) fn larger(one: f64, other: f64) -> f64 {
    if one.is_nan() || one >= other { one } else { other }
}
