//! Solving: a method improves prices and rates until the certificate proves them near enough.
//!
//! | file | contents |
//! |---|---|
//! | `ask.rs`, `settings.rs` | what is asked for: method, options, start, workers, and when to stop |
//! | `methods.rs`, `takes.rs`, `auto.rs` | methods by name, what problems they take, and the choice among them |
//! | `method.rs` | the trait [`Method`]: one step |
//! | `price/`, `interior_point/`, `newton.rs`, `xwi.rs`, `max_min.rs` | the methods |
//! | `system/` | the linear systems of the interior point and of Newton's method |
//! | `solver.rs`, `run.rs` | a method on a problem, and the loop of its steps |
//! | `schedule.rs`, `goal.rs`, `deadline.rs`, `progress.rs` | when the loop certifies, ends, and tells an observer |
//! | `stages.rs`, `cuts.rs`, `class_cuts.rs` | several solves: priorities, tie costs, classes beside others' rates |
//! | `starved.rs` | flows for which the rates of others leave nothing |
//! | `fill.rs`, `idle_links.rs`, `splits.rs`, `bottlenecks.rs`, `solution.rs`, `status.rs` | what is returned |

mod ask;
mod auto;
mod bottlenecks;
mod class_cuts;
mod cuts;
mod deadline;
mod fill;
mod goal;
mod idle_links;
mod interior_point;
mod max_min;
mod method;
mod methods;
mod newton;
pub(crate) mod price;
mod progress;
mod run;
mod schedule;
mod settings;
mod solution;
mod solver;
mod splits;
mod stages;
mod starved;
mod status;
pub(crate) mod system;
mod takes;
mod xwi;

use std::time::{Duration, Instant};

pub use ask::Ask;
pub(crate) use bottlenecks::limits;
use deadline::Deadline;
pub(crate) use goal::Goal;
pub use method::{Method, State};
pub use methods::METHODS;
pub(crate) use methods::MethodInfo;
pub use progress::{Cadence, Observer, Progress};
pub use settings::{Settings, Stop};
pub use solution::{PriorityClass, Solution};
pub use solver::Solver;
pub(crate) use starved::paths_beside_floors;
pub use status::Status;

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::problem::Problem;
use crate::work::Call;

/// Solves a problem.
///
/// # Errors
/// See [`Solver::new`] and [`Solver::run`]. Not reaching the tolerance is no error but a [`Status`].
pub fn solve(problem: &Problem, ask: &Ask) -> Result<Solution> {
    solve_on(problem, ask, &mut (), None).map(|(solution, _)| solution)
}

/// Solves a problem, and shows an observer how it goes. Where a solver is given, that of a problem on the same paths,
/// it goes on from its state. Returns the solver too, to go on from; none where the time was up before there was one.
/// What is known of the problem by then is filled; where nothing is, rates are 0, the gap and the KKT residual ∞ and
/// the objective NaN.
///
/// With workers that have [ranks](crate::Ranks) every rank calls this with its part: a problem that has all links, and
/// the flows of this rank, which may be none. All paths of a flow are on one rank. All go on alike: iterations, prices,
/// loads, objective, certificate and status of the solution are those of the whole problem; rates, bottlenecks and
/// failed flows those of the part. The method moves prices by a rule; `auto` is fast NED. With the same number of ranks
/// an answer has the same bits every time, if the sums of the communicator have. A time limit ends it after the first
/// step at whose end a rank's time is up; no step is broken off.
///
/// # Errors
/// Those of [`Solver::new`], [`Solver::update`] and [`Solver::run`]. Over ranks [`Error::RanksDiffer`] for capacities,
/// settings, options or prices that are not the same on all ranks, and [`Error::RankFailed`] on all ranks but those
/// that failed, which have their own errors.
pub fn solve_on(
    problem: &Problem,
    ask: &Ask,
    observer: &mut dyn Observer,
    last: Option<Solver>,
) -> Result<(Solution, Option<Solver>)> {
    if stages::are_needed(problem, ask) {
        return stages::solve(problem, ask, observer).map(|solution| (solution, None));
    }
    stages::beside_floors(problem, ask, observer, last)
}

/// Solves a problem by the method alone, without stages.
fn solve_at_once(
    problem: &Problem,
    ask: &Ask,
    observer: &mut dyn Observer,
    last: Option<Solver>,
) -> Result<(Solution, Option<Solver>)> {
    let ranks = ask.workers.ranks();
    ranks.call(Call::Solve, || {
        let (began, settings) = (Instant::now(), &ask.settings);
        settings.check()?;
        ask.check_same()?;
        let limit = settings.time_limit.and_then(|limit| began.checked_add(limit));
        // Several ranks break nothing off.
        let deadline = Deadline::new(limit, began, Duration::ZERO, ranks);
        let mut presolved = None;
        let made = deadline.within(|| match last {
            Some(mut solver) => solver.update_by(problem, &deadline, &mut presolved).map(|()| solver),
            None => Solver::by_deadline(problem, ask, None, &deadline, &mut presolved),
        })?;
        let (mut solver, is_made) = match (made, presolved) {
            (Some(solver), _) => (solver, true),
            (None, Some(presolved)) => (Solver::unmade(problem, presolved, ask, began)?, false),
            (None, None) => return Ok((Solution::unsolved(problem, began.elapsed()), None)),
        };
        let solution = solver.run_until(began, limit, settings, observer)?;
        Ok((solution, Some(solver).filter(|_| is_made)))
    })
}
