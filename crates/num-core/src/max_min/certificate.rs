//! The certificate of max-min rates: the largest residual of a flow.
//!
//! Max-min fairness has no objective, and so no dual bound. The largest residual of a flow (`bottleneck.rs`) stands for
//! both the gap and the KKT residual.

use super::bottleneck::bottleneck_residual;
use super::witness::Inequality;
use crate::certificate::{Certificate, overload};
use crate::error::Result;
use crate::normalize::{self, FNorm};
use crate::problem::Problem;

/// Certifies rates in the caller's units, which F-NORM makes feasible first. The witness bounds the rates of
/// flows with several paths; a wrong one can only make the residual larger.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) and [`Error::Rate`](crate::Error::Rate) for bad input, those of
/// [`bottleneck_residual`], and [`Error::Stopped`](crate::Error::Stopped).
pub(crate) fn certify(problem: &Problem, rates: &[f64], witness: &[Inequality]) -> Result<Certificate> {
    let feasible = normalize::normalize(problem, rates, &FNorm::default())?;
    let (residual, overload) = (bottleneck_residual(problem, &feasible, witness)?, overload(problem, rates));
    Ok(Certificate { relative_gap: residual, overload, kkt_residual: residual.max(overload) })
}
