//! What problems a method can take.

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::utility::Curvature;

/// What utilities a method can take, and whether flows may have several paths.
#[derive(Debug, Clone, Copy)]
pub(super) struct Takes {
    pub(super) curvatures: &'static [Curvature],
    pub(super) several_paths: bool,
}

/// Flows with one path or several.
pub(super) const STRICT: Takes = Takes { curvatures: &[Curvature::Strict], several_paths: true };

/// Flows with one path: the dual is smooth in the prices.
pub(super) const SMOOTH: Takes = Takes { curvatures: &[Curvature::Strict], several_paths: false };

impl Takes {
    /// # Errors
    /// [`Error::Unsupported`] naming what the problem has that the method cannot take, and what to use instead.
    pub(super) fn check(&self, method: &str, problem: &Problem) -> Result<()> {
        if problem.has_only(Curvature::MaxMin) {
            problem.check_no_costs()?;
        }
        match self.refusal(problem) {
            Some((what, instead)) => Err(Error::Unsupported { method: method.into(), what: what.into(), instead }),
            None => Ok(()),
        }
    }

    fn refusal(&self, problem: &Problem) -> Option<(&'static str, &'static str)> {
        let curvature = problem.curvature();
        if curvature == Curvature::MaxMin && !problem.has_only(curvature) {
            return Some((
                "max-min utilities beside others",
                "give every flow of a class (priority) alpha = inf, or none",
            ));
        }
        if !self.curvatures.contains(&curvature) {
            return Some(match curvature {
                Curvature::MaxMin => ("max-min utilities", "use \"max-min\""),
                Curvature::Linear => ("linear utilities", "use \"interior-point\""),
                Curvature::Strict => {
                    ("utilities with a finite alpha", "use max_min(problem) for their limit, or \"interior-point\"")
                }
            });
        }
        let several = !self.several_paths && !problem.is_single_path();
        several.then_some(("flows with several paths", "use \"interior-point\" or \"fast-ned\""))
    }
}
