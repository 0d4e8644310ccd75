//! Prices and rates, improved until proven.

mod auto;
mod bottlenecks;
mod deadline;
mod goal;

mod interior_point;
mod max_min;
mod method;
mod newton;
mod part;
pub mod price;
mod progress;
mod proof;
mod settings;
mod solution;
mod solver;
pub(crate) mod system;
mod xwi;

use std::collections::BTreeMap;
use std::time::Instant;

use deadline::Deadline;
use goal::Goal;
pub use method::{METHODS, MethodInfo, OptionInfo, OptionRange};
pub(crate) use method::{Method, State};
pub use part::{PartSetup, solve_part};
pub use progress::{Cadence, Observer, Progress};
pub use settings::{Settings, Stop};
pub use solution::{Solution, Status};
pub use solver::Solver;

use crate::error::{Error, Result};
use crate::interrupt::{self, StopToken};
use crate::problem::Problem;

/// Solves a problem with the best method for it.
///
/// # Errors
/// See [`Solver::new`] and [`Solver::run`]. Not reaching the tolerance is no error but a [`Status`].
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution> {
    solve_by(problem, settings, &mut (), || Solver::new(problem, auto::AUTO, &BTreeMap::new()))
}

/// Makes a solver for a problem and runs it, both within the time limit. Where the time is up before there is any
/// answer, the rates are 0, the gap and the KKT residual ∞ and the objective NaN.
///
/// # Errors
/// Those of `make` and of [`Solver::run`].
pub fn solve_by(
    problem: &Problem,
    settings: &Settings,
    observer: &mut dyn Observer,
    make: impl FnOnce() -> Result<Solver>,
) -> Result<Solution> {
    solve_and_keep(problem, settings, observer, make).map(|(solution, _)| solution)
}

/// The same, and the solver with it, to go on from; none where the time was up before there was one.
///
/// # Errors
/// Those of [`solve_by`].
pub fn solve_and_keep(
    problem: &Problem,
    settings: &Settings,
    observer: &mut dyn Observer,
    make: impl FnOnce() -> Result<Solver>,
) -> Result<(Solution, Option<Solver>)> {
    settings.check()?;
    let began = Instant::now();
    let made = match settings.time_limit.and_then(|limit| limit.checked_add(Deadline::GRACE)) {
        Some(limit) => StopToken::with_timeout(limit).scope(make),
        None => make(),
    };
    match made {
        Ok(mut solver) => solver.run_since(began, settings, observer).map(|solution| (solution, Some(solver))),
        // Either the time is up, or a token of the caller has stopped it.
        Err(Error::Stopped) => interrupt::check().map(|()| (Solution::unsolved(problem, began.elapsed()), None)),
        Err(error) => Err(error),
    }
}
