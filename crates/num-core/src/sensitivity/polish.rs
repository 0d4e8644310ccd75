//! The point of linearization, found: a certified solution, refined to rounding.

use std::sync::Arc;

use super::equations::Equations;
use super::point::Point;
use super::tolerances::{AGAIN, CENTRAL, CERTIFIED};
use crate::certificate::FeasiblePoint;
use crate::error::{Error, Result};
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::solve::{Ask, Settings, Solution, Solver, Stop};

impl Point {
    pub(super) fn refined(
        problem: &Problem,
        presolved: &Arc<Presolved>,
        solution: &Solution,
        equations: &mut Equations,
    ) -> Result<Self> {
        let from = |solution: &Solution| {
            let rates = presolved.natural_rates(&solution.rates);
            Self::guess(presolved, rates, presolved.natural_prices(&solution.prices))
        };
        let mut found: Option<(usize, Self)> = None;
        let mut point = from(solution)?;
        if point.refine(presolved, equations)? && point.kkt_residual(presolved)? <= CERTIFIED {
            let weak = point.clone().weak(presolved)?.len();
            if weak == 0 || presolved.is_single_path() {
                return Ok(point);
            }
            found = Some((weak, point));
        }
        // Where the split of flows is not unique, Newton's method may end where constraints just hold. The interior
        // point ends far from all that can be slack.
        let tol = if found.is_some() { CENTRAL } else { AGAIN };
        let settings = Settings { tol, stop: Stop::Kkt, ..Settings::default() };
        let mut solver = Solver::of(problem, Arc::clone(presolved), &Ask::far_from_bounds())?;
        let again = solver.run(&settings, &mut ())?;
        let mut point = from(&again)?;
        let is_refined = point.refine(presolved, equations)? && point.kkt_residual(presolved)? <= CERTIFIED;
        let Some((weak, first)) = found else {
            return match is_refined {
                true => Ok(point),
                false => Err(Error::NoSensitivity {
                    what: "a solution that Newton's method does not refine".into(),
                    instead: "bring capacities and weights nearer to each other, or alpha nearer to 1",
                }),
            };
        };
        if is_refined && point.clone().weak(presolved)?.len() < weak {
            return Ok(point);
        }
        equations.set(presolved, &first.active, &first.curvatures);
        Ok(first)
    }

    fn kkt_residual(&self, problem: &Presolved) -> Result<f64> {
        let feasible = FeasiblePoint::new(problem, &self.rates, &self.prices)?;
        Ok(feasible.kkt_residual()?.max(feasible.overload))
    }
}
