//! Many problems at once: independent solves, each by one thread.
//!
//! A solve is never split, so its answer does not depend on the others or on the number of threads. Free threads take
//! the remaining problems, so that a few long ones do not delay the rest; n equal solves on k cores take n/k
//! times as long as one. It gains nothing where the problems are fewer than the cores, or where one takes longer than
//! all the others.

use std::borrow::Borrow;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use netnum_core::internal::interrupt::Tokens;
use netnum_core::internal::solve_on;
use netnum_core::{Ask, Cadence, Error, Observer, Problem, Progress, Result, Solution};
use rayon::prelude::*;

use crate::threads::{Threads, pool};

/// Solves problems on `threads` threads. Answers come in the order of the problems, a problem that has none with its
/// error, and do not depend on `threads`.
///
/// `ask` is for all of them, but for its workers, and a time limit for each of them by itself.
///
/// # Errors
/// [`Error::Threads`]. What is wrong with a problem, or with the method or an option for it, is in the problem's own
/// result: see [`solve`](netnum_core::solve()).
pub fn solve_many<P: Borrow<Problem> + Sync>(
    problems: &[P],
    ask: &Ask,
    threads: NonZeroUsize,
) -> Result<Vec<Result<Solution>>> {
    let batch = Batch { problems, warm_starts: None, ask };
    let answers = Mutex::new(problems.iter().map(|_| None).collect::<Vec<_>>());
    batch.solve(threads, &answers)?;
    let answers = answers.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    Ok(answers.into_iter().map(|answer| answer.expect("every problem has a result")).collect())
}

/// Problems to be solved in the same way.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a, P> {
    /// The problems.
    pub problems: &'a [P],
    /// Prices to start from, one entry per problem, where there are any; a problem without starts as asked for.
    pub warm_starts: Option<&'a [Option<&'a [f64]>]>,
    /// How each of them is to be solved, on one thread.
    pub ask: &'a Ask,
}

/// Receives the answers of a batch as they come, on the thread that found them, and may stop the remaining problems.
pub trait BatchObserver: Sync {
    /// Whether a problem is still to be solved. Called before each problem, which is left out if not, and some fifty
    /// times a second while it is solved, which then ends with [`Status::Stopped`](netnum_core::Status::Stopped).
    fn is_wanted(&self, problem: usize) -> bool;

    /// Receives the answer to a problem that was begun.
    fn on_solution(&self, problem: usize, answer: Result<Solution>);
}

/// Keeps all of them.
impl BatchObserver for Mutex<Vec<Option<Result<Solution>>>> {
    fn is_wanted(&self, _problem: usize) -> bool {
        true
    }
    fn on_solution(&self, problem: usize, answer: Result<Solution>) {
        self.lock().unwrap_or_else(|poisoned| poisoned.into_inner())[problem] = Some(answer);
    }
}

impl<P: Borrow<Problem> + Sync> Batch<'_, P> {
    /// Solves them on `threads` threads, but no more than there are problems, and hands each answer to the observer.
    /// Returns when all are done or left out.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a warm start per problem or none, [`Error::Threads`]; nothing has
    /// begun then.
    pub fn solve(&self, threads: NonZeroUsize, observer: &impl BatchObserver) -> Result<()> {
        let problems = self.problems.len();
        if let Some(found) = self.warm_starts.map(<[_]>::len).filter(|&found| found != problems) {
            return Err(Error::Length { what: "warm_start".into(), found, expected: problems, per: "problem" });
        }
        let (pool, ask) = (pool(threads, problems)?, on_one_thread(self.ask));
        // One at a time: the times of problems are independent.
        let (numbers, tokens) = ((0..problems).into_par_iter().with_max_len(1), Tokens::in_force());
        pool.install(|| {
            numbers.filter(|&problem| observer.is_wanted(problem)).for_each(|problem| {
                observer.on_solution(problem, tokens.clone().scope(|| self.solve_one(problem, &ask, observer)));
            });
        });
        Ok(())
    }

    fn solve_one(&self, problem: usize, ask: &Ask, observer: &impl BatchObserver) -> Result<Solution> {
        let mut ask = ask.clone();
        if let Some(prices) = self.warm_starts.and_then(|starts| starts[problem]) {
            ask = ask.with_prices(prices.to_vec());
        }
        let mut observer = StopObserver { problem, observer };
        solve_on(self.problems[problem].borrow(), &ask, &mut observer, None).map(|(solution, _)| solution)
    }
}

/// The same on one thread.
pub(crate) fn on_one_thread(ask: &Ask) -> Ask {
    ask.clone().with_workers(Arc::new(Threads::new(NonZeroUsize::MIN)))
}

/// Stops the solve of one problem that is not wanted any more.
pub(crate) struct StopObserver<'a, O> {
    pub(crate) problem: usize,
    pub(crate) observer: &'a O,
}

impl<O: BatchObserver> Observer for StopObserver<'_, O> {
    fn cadence(&self) -> Cadence {
        Cadence::Every(Duration::from_millis(20))
    }
    fn observe(&mut self, _progress: &Progress) -> ControlFlow<()> {
        if self.observer.is_wanted(self.problem) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
