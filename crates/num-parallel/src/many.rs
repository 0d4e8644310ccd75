//! Many problems at once: independent solves, each by one thread.
//!
//! A solve is never split, so its answer does not depend on the others or on the number of threads. Free threads take
//! the remaining problems, so that a few long ones do not delay the rest; n equal solves on k cores take n/k
//! times as long as one. It gains nothing where the problems are fewer than the cores, or where one takes longer than
//! all the others.
//!
//! Scenarios are one problem under other demands, floors, costs or capacities. Those next to each other are solved one
//! after the other by one solver, which goes on from the answer before ([`Solver::update`]): after a small change of
//! demands, or a few failed links, a warm start takes a fraction of the iterations. The number of scenarios alone
//! decides which are solved by one solver.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use netnum_core::internal::check_length;
use netnum_core::internal::solve_on;
use netnum_core::sensitivity::{AtKink, OutcomeChange, ParameterChange, Sensitivity};
use netnum_core::{Ask, Cadence, Error, Observer, Problem, Progress, Result, Solution, Solver, Workers};

use crate::threads::Threads;

/// The most scenarios that one solver goes through.
const MOST_TOGETHER: usize = 32;
/// The least number of solvers for scenarios, for as many threads: each begins anew.
const LEAST_GROUPS: usize = 16;

/// Solves problems on `threads` threads. Answers come in the order of the problems, a problem that has none with its
/// error, and do not depend on `threads`.
///
/// `ask` is for all of them, but for its workers, and a time limit for each of them by itself. What is wrong with a
/// problem, or with the method or an option for it, is in the problem's own result: see
/// [`solve`](netnum_core::solve()).
pub fn solve_many(problems: &[Problem], ask: &Ask, threads: NonZeroUsize) -> Vec<Result<Solution>> {
    let problems: Vec<&Problem> = problems.iter().collect();
    collect(problems.len(), |answers| Batch::new(&problems).solve(ask, threads, answers))
}

/// The derivative in every parameter of one function of each optimum, which is given by its own derivatives in rates,
/// prices and objective: [`Sensitivity::reverse`] of every problem, on `threads` threads. Answers come in the order of
/// the problems, one that has none with its error, and do not depend on `threads`. What is wrong with a problem, a
/// solution or a function is in its own result: see [`Sensitivity::new`] and [`Sensitivity::reverse`].
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use netnum_core::sensitivity::{AtKink, OutcomeChange};
/// use netnum_core::{AlphaFair, Ask, Paths, Problem, solve};
///
/// // The rate of the first of two flows on links of capacity 1, 2 and 3: half of the capacity.
/// let (two, first) = (NonZeroUsize::new(2).unwrap(), OutcomeChange { rates: vec![1.0, 0.0], ..Default::default() });
/// let problem = |capacity| Problem::new(vec![capacity], Paths::from_lists([[0], [0]]), AlphaFair::proportional());
/// let problems = [problem(1.0)?, problem(2.0)?, problem(3.0)?];
/// let solutions = problems.iter().map(|problem| solve(problem, &Ask::default())).collect::<Result<Vec<_>, _>>()?;
/// let of: Vec<_> = problems.iter().zip(&solutions).map(|(problem, solution)| (problem, solution, &first)).collect();
/// for gradient in netnum_parallel::reverse_many(&of, AtKink::Refuse, two) {
///     assert!((gradient?.capacities[0] - 0.5).abs() < 1e-12);
/// }
/// # Ok::<(), netnum_core::Error>(())
/// ```
pub fn reverse_many(
    of: &[(&Problem, &Solution, &OutcomeChange)],
    at_kink: AtKink,
    threads: NonZeroUsize,
) -> Vec<Result<ParameterChange>> {
    let reverse = |&(problem, solution, outcome): &(&Problem, &Solution, &OutcomeChange)| {
        let mut found = Sensitivity::new(problem, solution)?.reverse(std::slice::from_ref(outcome), at_kink)?;
        Ok(found.swap_remove(0))
    };
    collect(of.len(), |answers| each(threads, of.len(), &|number| put(answers, number, reverse(&of[number]))))
}

/// Calls `work` with every number below `count`, each on one of some threads.
fn each(threads: NonZeroUsize, count: usize, work: &(dyn Fn(usize) + Sync)) {
    let threads = NonZeroUsize::new(count).map_or(threads, |count| count.min(threads));
    Threads::new(threads).each(count, work);
}

/// Answers by their numbers, as far as they are there.
type Answers<T> = Mutex<Vec<Option<Result<T>>>>;

fn put<T>(answers: &Answers<T>, number: usize, answer: Result<T>) {
    answers.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(answer);
}

/// The answers that some work finds, of which none is left out.
fn collect<T>(count: usize, work: impl FnOnce(&Answers<T>)) -> Vec<Result<T>> {
    let answers = Mutex::new((0..count).map(|_| None).collect::<Vec<_>>());
    work(&answers);
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.into_iter().map(|answer| answer.expect("every problem has a result")).collect()
}

/// Problems to be solved in the same way: different ones, or scenarios of one.
///
/// ```
/// use std::num::NonZeroUsize;
/// use std::sync::Mutex;
///
/// use netnum_core::{AlphaFair, Ask, Paths, Problem};
/// use netnum_parallel::{Batch, Scenarios};
///
/// // Two flows on one link. The first wants at most 1, 2, or any rate.
/// let problem = Problem::new(vec![12.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional())?;
/// let flow_caps = [1.0, f64::INFINITY, 2.0, f64::INFINITY, f64::INFINITY, f64::INFINITY];
/// let batch = Batch::scenarios(&problem, Scenarios { flow_caps: Some(&flow_caps), ..Scenarios::default() })?;
/// let answers = Mutex::new(vec![None; batch.count()]);
/// batch.solve(&Ask::default(), NonZeroUsize::new(2).unwrap(), &answers);
/// for (answer, rate) in answers.into_inner().unwrap().into_iter().zip([1.0, 2.0, 6.0]) {
///     assert!((answer.unwrap()?.rates[0] - rate).abs() < 1e-4);
/// }
/// # Ok::<(), netnum_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    problems: Problems<'a>,
    count: usize,
    together: usize,
}

#[derive(Debug, Clone, Copy)]
enum Problems<'a> {
    /// With prices to start from.
    Different(&'a [&'a Problem], Option<&'a [Option<&'a [f64]>]>),
    /// Of one problem.
    Scenarios(&'a Problem, Scenarios<'a>),
}

/// What scenarios have in place of what is of their problem: matrices with one row for each scenario, the same number
/// in all of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scenarios<'a> {
    /// Caps of all flows; ∞ for a flow without one.
    pub flow_caps: Option<&'a [f64]>,
    /// Floors of all flows.
    pub flow_floors: Option<&'a [f64]>,
    /// Costs of all paths.
    pub path_costs: Option<&'a [f64]>,
    /// Capacities of all links; 0 for one that has failed.
    pub capacities: Option<&'a [f64]>,
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
        put(self, problem, answer);
    }
}

impl<'a> Batch<'a> {
    /// Different problems.
    pub fn new(problems: &'a [&'a Problem]) -> Self {
        Self { problems: Problems::Different(problems, None), count: problems.len(), together: 1 }
    }

    /// Different problems with prices to start from, one entry per problem; one without starts as asked for.
    ///
    /// # Errors
    /// [`Error::Length`] unless every problem has an entry.
    pub fn with_starts(problems: &'a [&'a Problem], starts: &'a [Option<&'a [f64]>]) -> Result<Self> {
        check_length("warm_start", starts.len(), problems.len(), "problem")?;
        Ok(Self { problems: Problems::Different(problems, Some(starts)), ..Self::new(problems) })
    }

    /// A problem with other caps and floors of its flows, costs of its paths and capacities of its links, row by row.
    ///
    /// # Errors
    /// [`Error::Length`] for a matrix without whole rows, or with another number of rows than the first one;
    /// [`Error::Setting`] where there is none.
    pub fn scenarios(of: &'a Problem, given: Scenarios<'a>) -> Result<Self> {
        let rows = |what: &str, matrix: &[f64], columns: usize, per: &'static str| {
            let wrong = |found| Error::Length { what: what.into(), found, expected: columns, per };
            match (matrix.len().checked_div(columns), matrix.len().checked_rem(columns)) {
                (Some(rows), Some(0)) => Ok(Some(rows)),
                (_, Some(rest)) => Err(wrong(rest)),
                // Rows of nothing: as many as there are of the other matrix.
                _ if matrix.is_empty() => Ok(None),
                _ => Err(wrong(matrix.len())),
            }
        };
        let Scenarios { flow_caps, flow_floors, path_costs, capacities } = given;
        let matrices = [
            ("flow_caps", flow_caps, of.flows(), "flow", "row of flow_caps"),
            ("flow_floors", flow_floors, of.flows(), "flow", "row of flow_floors"),
            ("path_costs", path_costs, of.paths().len(), "path", "row of path_costs"),
            ("capacities", capacities, of.links(), "link", "row of capacities"),
        ];
        if matrices.iter().all(|(_, matrix, ..)| matrix.is_none()) {
            return Err(Error::setting("scenarios", "none", "a matrix of flow caps, floors, costs or capacities"));
        }
        let mut first = None;
        for (name, matrix, columns, per, per_row) in matrices {
            let Some(found) = matrix.map_or(Ok(None), |matrix| rows(name, matrix, columns, per))? else { continue };
            let (count, of_first) = *first.get_or_insert((found, per_row));
            check_length(name, found, count, of_first)?;
        }
        let count = first.map_or(0, |(count, _)| count);
        let together = count.div_ceil(LEAST_GROUPS).clamp(1, MOST_TOGETHER);
        Ok(Self { problems: Problems::Scenarios(of, given), count, together })
    }

    /// All scenarios by one solver, as those of a larger batch that are next to each other there.
    #[must_use]
    pub fn by_one_solver(self) -> Self {
        match self.problems {
            Problems::Different(..) => self,
            Problems::Scenarios(..) => Self { together: self.count.max(1), ..self },
        }
    }

    /// Number of problems.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many problems one solver goes through, one after the other: the first of them, the next, and so on.
    pub fn together(&self) -> usize {
        self.together
    }

    /// One of the problems.
    ///
    /// # Errors
    /// [`Error::FlowCap`], [`Error::FlowFloor`], [`Error::Cost`], [`Error::Capacity`].
    ///
    /// # Panics
    /// If there is no such problem.
    pub fn problem(&self, number: usize) -> Result<Cow<'a, Problem>> {
        let row = |matrix: &[f64], columns: usize| matrix[number * columns..][..columns].to_vec();
        match self.problems {
            Problems::Different(problems, _) => Ok(Cow::Borrowed(problems[number])),
            Problems::Scenarios(of, Scenarios { flow_caps, flow_floors, path_costs, capacities }) => {
                let mut problem = of.clone();
                if flow_caps.is_some() && flow_floors.is_some() {
                    // New caps need not be above old floors.
                    problem = problem.with_flow_floors(vec![0.0; of.flows()])?;
                }
                if let Some(caps) = flow_caps {
                    problem = problem.with_flow_caps(row(caps, of.flows()))?;
                }
                if let Some(floors) = flow_floors {
                    problem = problem.with_flow_floors(row(floors, of.flows()))?;
                }
                if let Some(costs) = path_costs {
                    problem = problem.with_path_costs(row(costs, of.paths().len()))?;
                }
                if let Some(capacities) = capacities {
                    problem = problem.with_capacities(row(capacities, of.links()))?;
                }
                Ok(Cow::Owned(problem))
            }
        }
    }

    /// Solves them on up to `threads` threads, and hands each answer to the observer. Returns when all are done or left
    /// out. `ask` is for all of them, but for its workers.
    pub fn solve(&self, ask: &Ask, threads: NonZeroUsize, observer: &impl BatchObserver) {
        let ask = ask.clone().with_workers(Arc::new(Threads::new(NonZeroUsize::MIN)));
        each(threads, self.count.div_ceil(self.together), &|group| {
            let (first, mut last) = (group * self.together, None);
            for number in first..self.count.min(first + self.together) {
                if !observer.is_wanted(number) {
                    return;
                }
                let (answer, solver) = match self.solve_one(number, &ask, last, observer) {
                    Ok((answer, solver)) => (Ok(answer), solver),
                    Err(error) => (Err(error), None),
                };
                observer.on_solution(number, answer);
                last = solver;
            }
        });
    }

    fn solve_one(
        &self,
        number: usize,
        ask: &Ask,
        last: Option<Solver>,
        observer: &impl BatchObserver,
    ) -> Result<(Solution, Option<Solver>)> {
        let start = match self.problems {
            Problems::Different(_, starts) => starts.and_then(|starts| starts[number]),
            Problems::Scenarios(..) => None,
        };
        let ask = start.map_or_else(|| ask.clone(), |prices| ask.clone().with_prices(prices.to_vec()));
        solve_on(&*self.problem(number)?, &ask, &mut StopObserver { problem: number, observer }, last)
    }
}

/// Stops the solve of one problem that is not wanted any more.
struct StopObserver<'a, O> {
    problem: usize,
    observer: &'a O,
}

impl<O: BatchObserver> Observer for StopObserver<'_, O> {
    fn cadence(&self) -> Cadence {
        Cadence::Every(Duration::from_millis(20))
    }
    fn observe(&mut self, _progress: &Progress) -> ControlFlow<()> {
        if self.observer.is_wanted(self.problem) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
