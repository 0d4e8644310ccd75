//! Prices and rates, improved until proven.

mod auto;
mod bottlenecks;
mod incidence;
mod interior_point;
mod method;
mod newton;
mod price;
mod progress;
mod settings;
mod solution;
mod solver;
mod start;
mod system;
mod water_filling;
mod xwi;

use std::collections::BTreeMap;

pub use method::{METHODS, MethodInfo, OptionInfo, OptionRange, nearest};
pub(crate) use method::{Method, State};
pub use price::{
    CEILING, Delayed, FastNed, Fgm, Gradient, LARGEST_PRICE, LARGEST_SUM, Late, LinkRecord, LinkState, MOST_REFUSALS,
    Ned, NewtonLike, PowerFlows, PowerLaw, PriceEngine, PriceRule, Rcp, Responder, Sums,
};
pub use progress::{Cadence, Observer, Progress};
pub use settings::{Settings, Stop};
pub use solution::{Solution, Status};
pub use solver::Solver;

use crate::error::Result;
use crate::problem::Problem;

/// Solves a problem with the best method for it.
///
/// # Errors
/// See [`Solver::new`] and [`Solver::run`]. Not reaching the tolerance is no error but a [`Status`].
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution> {
    Solver::new(problem, auto::AUTO, &BTreeMap::new())?.run(settings, &mut ())
}
