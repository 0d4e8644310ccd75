//! The certificate of an iterate: by its prices, or for max-min problems, which have none, by the bottlenecks of flows.

use super::goal::Goal;
use crate::certificate::{Certificate, FeasiblePoint};
use crate::error::Result;
use crate::max_min::{self, Inequality};
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::solve::State;
use crate::utility::Curvature;

/// Rates and prices in natural units, with the witness of max-min rates.
pub(super) struct Proof<'a, 'p> {
    pub(super) problem: &'a Problem,
    pub(super) presolved: &'p Presolved,
    pub(super) state: &'a State,
    pub(super) witness: &'a [Inequality],
}

impl<'p> Proof<'_, 'p> {
    /// The certificate of the rates and prices.
    ///
    /// # Errors
    /// Those of [`certify`](crate::certify()), but for rates and prices that are not numbers.
    pub(super) fn certificate(&self) -> Result<Certificate> {
        match self.problem.curvature() {
            Curvature::MaxMin => self.by_bottlenecks(),
            _ => {
                let point = self.point()?;
                point.check_demands()?;
                point.certificate(point.overload)
            }
        }
    }

    /// The same as far as a goal depends on it: the KKT residual is NaN where the gap alone decides. With the point
    /// that it is about.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn towards(&self, goal: &Goal) -> Result<(Certificate, FeasiblePoint<'p>)> {
        let point = self.point()?;
        if self.problem.curvature() == Curvature::MaxMin {
            return Ok((self.by_bottlenecks()?, point));
        }
        let (relative_gap, overload) = (point.relative_gap()?, point.overload);
        let kkt_residual = if goal.needs_rates(relative_gap) { point.kkt_residual()? } else { f64::NAN };
        Ok((Certificate { relative_gap, overload, kkt_residual }, point))
    }

    fn by_bottlenecks(&self) -> Result<Certificate> {
        max_min::certify(self.problem, &self.presolved.caller_rates(&self.state.rates), self.witness)
    }

    fn point(&self) -> Result<FeasiblePoint<'p>> {
        FeasiblePoint::new(self.presolved, &self.state.rates, &self.state.prices)
    }
}
