//! `solve_many`: a pool of threads, of which only the calling thread can check for signals, or an executor, whose
//! processes call `solve_chunk`.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use netnum_core::internal::{check_length, interrupt, solve_on};
use netnum_core::{
    Ask, Cadence, Error, Observer, OverAllPaths, Problem as Core, Progress, Ranks, Result, Solution as Found,
    StopToken, Workers,
};
use netnum_parallel::{Batch, BatchObserver, Scenarios, Threads};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::solutions::{self, Solutions};
use super::{Keywords, Solution, found_over_all_paths, prices_of, run_over_all_paths};
use crate::all_paths::Begun;
use crate::by_name::Each;
use crate::detach::{self, EnterRust, PAUSE};
use crate::error::{about, raise, setting, wrong_type};
use crate::hints;
use crate::numbers;
use crate::problem::Problem;
use crate::progress_bar::ProgressBar;

/// Solve many problems at once, each on one thread of several: any problems, or one under many demands and capacities.
///
/// The solutions have the same bits for any number of threads and on any executor; those of a sequence of problems are
/// those of `solve`. Runs without the GIL; Ctrl-C raises KeyboardInterrupt at once. Utilities written in Python run one
/// at a time in threads, since only one thread can hold the GIL.
///
/// Parameters
/// ----------
/// problems : sequence of Problem, or Problem
///     A single one with one or more of `flow_caps`, `flow_floors`, `path_costs` and `capacities`; it has paths.
/// method, tol, stop, max_iterations
///     As in `solve`, for all of them.
/// flow_caps : array of float, shape (scenarios, flows), optional
///     Demands in place of those of a single problem, one row for each scenario: >= 0, inf for none.
/// flow_floors : array of float, shape (scenarios, flows), optional
///     Its floors likewise: finite, >= 0 and at most the caps.
/// path_costs : array of float, shape (scenarios, paths), optional
///     Its costs of paths likewise: finite and >= 0.
/// capacities : array of float, shape (scenarios, links), optional
///     Its capacities likewise: finite and >= 0, 0 for a link that has failed.
/// time_limit : float, optional
///     Seconds for each of them, >= 0.
/// warm_start : Solution, array of float of shape (links,), or sequence of these and None, optional
///     What to start from, as in `solve`: one for all problems, or a sequence with one per problem (None for a cold
///     start). None with scenarios: they start from each other's solutions, those next to each other in groups of up to
///     32, so that rows are best in an order in which little changes.
/// progress : bool
///     Whether to show one bar over all the problems on stderr.
/// threads : int, optional
///     By default as many as the machine has cores, with an executor 1 in each of its workers.
/// executor : concurrent.futures.Executor, optional
///     Where to solve, as in `sim.sweep`: a pool of processes, ``dask.distributed.Client.get_executor()``,
///     ``mpi4py.futures.MPIPoolExecutor``, or any other. It stays open. Scenarios go out in the groups that start from
///     each other, and their problem once to every process; other problems in chunks of up to 32. Ctrl-C takes back
///     what no worker has begun.
/// **options : float
///     Options of the method, such as ``gamma``.
///
/// Returns
/// -------
/// list of Solution
///     In the order of the problems.
/// Solutions
///     For the scenarios of a single problem: arrays with one row each.
///
/// Raises
/// ------
/// MethodError, NumError, ProblemError, UtilityError
///     As `solve` does, with the number of the problem or the scenario in front: ``problem 3: …``. The first failing
///     one counts, and those after it are left out. Exceptions of a user-defined utility are raised unchanged, with
///     that number as a note (from Python 3.11 on).
/// NumError
///     With an executor: for a problem that does not pickle and for problems whose worker has died, with their numbers,
///     and for an executor that was shut down.
/// TypeError
///     For an `executor` that is none.
///
/// Examples
/// --------
/// >>> problems = [netnum.Problem([12.0], [[0]] * flows, netnum.AlphaFair(1.0)) for flows in (1, 2, 3)]
/// >>> [float(solution.rates[0].round(3)) for solution in netnum.solve_many(problems)]
/// [12.0, 6.0, 4.0]
/// >>> problem = netnum.Problem([12.0], [[0], [0]], netnum.AlphaFair(1.0))
/// >>> netnum.solve_many(problem, flow_caps=[[1.0, 20.0], [2.0, 20.0], [20.0, 20.0]]).rates.round(3)
/// array([[ 1., 11.],
///        [ 2., 10.],
///        [ 6.,  6.]])
///
/// On any executor:
///
/// >>> from concurrent.futures import ThreadPoolExecutor
/// >>> with ThreadPoolExecutor(2) as pool:
/// ...     [float(solution.rates[0].round(3)) for solution in netnum.solve_many(problems, executor=pool)]
/// [12.0, 6.0, 4.0]
#[pyfunction]
#[pyo3(signature = (
    problems, method="auto", *, flow_caps=None, flow_floors=None, path_costs=None, capacities=None, executor=None,
    **keywords
))]
#[pyo3(text_signature = "(problems, method=\"auto\", *, flow_caps=None, flow_floors=None, path_costs=None, \
                         capacities=None, tol=1e-06, stop=\"rates\", max_iterations=20000, time_limit=None, \
                         warm_start=None, progress=False, threads=None, executor=None, **options)")]
#[expect(clippy::too_many_arguments, reason = "the keywords")]
pub(crate) fn solve_many<'py>(
    py: Python<'py>,
    problems: &Bound<'py, PyAny>,
    method: &str,
    flow_caps: Option<&Bound<'_, PyAny>>,
    flow_floors: Option<&Bound<'_, PyAny>>,
    path_costs: Option<&Bound<'_, PyAny>>,
    capacities: Option<&Bound<'_, PyAny>>,
    executor: Option<&Bound<'_, PyAny>>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Py<PyAny>> {
    if let Some(keywords) = keywords {
        hints::refuse_options(py, "solve_many", keywords)?;
    }
    let mut how = How::of(method, keywords)?;
    let work = Work::of(problems, [flow_caps, flow_floors, path_costs, capacities], how.keywords.warm_start.as_ref())?;
    let progress = how.keywords.progress;
    let Some(executor) = executor else {
        let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        how.keywords.threads = how.keywords.threads.or_else(|| Some(cores()));
        return how.solve(py, &work, progress, None);
    };
    // Those that every chunk is given.
    let shared = keywords.map_or_else(|| Ok(PyDict::new(py)), PyDictMethods::copy)?;
    for own in ["warm_start", "progress"] {
        if shared.contains(own)? {
            shared.del_item(own)?;
        }
    }
    how.solve_on(executor, &work, &shared, progress)
}

/// Some of the problems of `solve_many`, from number `first` on, which messages count from; or, of a single problem,
/// scenarios that one solver goes through.
#[pyfunction]
#[pyo3(signature = (
    problems, method, first, *, flow_caps=None, flow_floors=None, path_costs=None, capacities=None, **keywords
))]
#[expect(clippy::too_many_arguments, reason = "the keywords")]
pub(crate) fn solve_chunk<'py>(
    py: Python<'py>,
    problems: &Bound<'py, PyAny>,
    method: &str,
    first: usize,
    flow_caps: Option<&Bound<'_, PyAny>>,
    flow_floors: Option<&Bound<'_, PyAny>>,
    path_costs: Option<&Bound<'_, PyAny>>,
    capacities: Option<&Bound<'_, PyAny>>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let how = How::of(method, keywords)?;
    let work = Work::of(problems, [flow_caps, flow_floors, path_costs, capacities], how.keywords.warm_start.as_ref())?;
    how.solve(py, &work, false, Some(first))
}

/// What scenarios may have of their own, and what there is one of for each value.
const OF_SCENARIOS: [(&str, Each); 4] =
    [("flow_caps", Each::Flow), ("flow_floors", Each::Flow), ("path_costs", Each::Path), ("capacities", Each::Link)];

/// The problems of one call.
enum Work<'py> {
    Problems(Vec<Bound<'py, Problem>>, Option<Starts<'py>>),
    /// Of one problem, with their `OF_SCENARIOS`.
    Scenarios(Bound<'py, Problem>, [Option<Vec<f64>>; 4]),
}

impl<'py> Work<'py> {
    fn of(
        problems: &Bound<'py, PyAny>,
        given: [Option<&Bound<'_, PyAny>>; 4],
        warm_start: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let names = "flow_caps, flow_floors, path_costs and capacities";
        if let Ok(problem) = problems.cast::<Problem>() {
            if given.iter().all(Option::is_none) {
                return Err(PyTypeError::new_err(format!(
                    "problems is a Problem, which is not iterable: give several, or some of {names} beside it"
                )));
            }
            if warm_start.is_some() {
                let expected = "none beside scenarios, which start from each other's answers";
                return Err(setting("warm_start", "given", expected));
            }
            let changes =
                ["with_flow_caps(volumes)", "with_flow_floors(floors)", "with_link_costs(costs)", "with_capacities(c)"];
            let changed = given.iter().zip(changes).filter(|(given, _)| given.is_some());
            let changed: Vec<&str> = changed.map(|(_, change)| change).collect();
            let instead = format!("solve_many([problem.{}, ...]) takes several of pairs", changed.join("."));
            let core = problem.get().over_paths(&instead)?;
            let mut matrices = [const { None }; 4];
            for ((matrix, given), (name, each)) in matrices.iter_mut().zip(given).zip(OF_SCENARIOS) {
                let columns = [core.links(), core.flows(), core.paths().len()][each as usize];
                *matrix = given.map(|given| numbers::rows(name, given, columns, each.word())).transpose()?;
            }
            return Ok(Self::Scenarios(problem.clone(), matrices));
        }
        if given.iter().any(Option::is_some) {
            return Err(PyTypeError::new_err(format!("{names} are for a single Problem, not for a sequence of them")));
        }
        let held = problems.try_iter()?.enumerate().map(problem).collect::<PyResult<_>>()?;
        Ok(Self::Problems(held, warm_start.map(Starts::of).transpose()?))
    }
}

/// How all of them are solved.
struct How<'a, 'py> {
    method: &'a str,
    keywords: Keywords<'py>,
    ask: Ask,
}

impl<'a, 'py> How<'a, 'py> {
    fn of(method: &'a str, keywords: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let mut keywords = Keywords::of("solve_many", keywords, &["warm_start", "progress"])?;
        // What to start from is a list of its own.
        let start = keywords.warm_start.take();
        let ask = keywords.ask(method, Ranks::alone())?;
        keywords.warm_start = start;
        Ok(Self { method, keywords, ask })
    }

    /// All, or the chunk that begins with a problem.
    fn solve(&self, py: Python<'_>, work: &Work<'_>, progress: bool, chunk: Option<usize>) -> PyResult<Py<PyAny>> {
        let (threads, first) = (self.keywords.threads.unwrap_or(NonZeroUsize::MIN), chunk.unwrap_or(0));
        let (ask, settings) = (&self.ask, &self.keywords.settings);
        match work {
            Work::Problems(held, starts) if held.iter().any(|problem| problem.get().all_paths.is_some()) => {
                let solutions = self.solve_over_all_paths(py, held, starts.as_ref(), (threads, first), progress)?;
                Ok(solutions.into_pyobject(py)?.unbind())
            }
            Work::Problems(held, starts) => {
                let problems: Vec<&Core> = held.iter().map(|problem| problem.get().at_first()).collect();
                let starts = starts.as_ref().map(|starts| starts.per_problem(problems.len())).transpose()?;
                let prices: Option<Vec<Option<&[f64]>>> =
                    starts.map(|starts| starts.into_iter().map(|start| start.map(|start| &*start.prices)).collect());
                let batch = match &prices {
                    Some(prices) => Batch::with_starts(&problems, prices).map_err(raise)?,
                    None => Batch::new(&problems),
                };
                let answers = Answers::new(problems.len(), "problem", first);
                let solutions = answers.collect(py, threads, progress, |answers| batch.solve(ask, threads, answers))?;
                let of = |(problem, solution)| Solution::new(problem, solution, settings);
                let solutions: Vec<Solution> = held.iter().zip(solutions).map(of).collect::<PyResult<_>>()?;
                Ok(solutions.into_pyobject(py)?.unbind())
            }
            Work::Scenarios(problem, matrices) => {
                let of = problem.get().at_first();
                let scenarios = scenarios(py, problem.get(), matrices, first)?;
                let scenarios = if chunk.is_some() { scenarios.by_one_solver() } else { scenarios };
                let answers = Answers::new(scenarios.count(), "scenario", first);
                let solutions =
                    answers.collect(py, threads, progress, |answers| scenarios.solve(ask, threads, answers))?;
                Ok(Py::new(py, Solutions::new(py, of, solutions)?)?.into_any())
            }
        }
    }

    /// Problems of which some have pairs, each of them as `solve` does.
    fn solve_over_all_paths(
        &self,
        py: Python<'_>,
        held: &[Bound<'_, Problem>],
        starts: Option<&Starts<'_>>,
        (threads, first): (NonZeroUsize, usize),
        progress: bool,
    ) -> PyResult<Vec<Solution>> {
        let none = || Ok(vec![None; held.len()]);
        let starts = starts.map_or_else(none, |starts| starts.per_problem(held.len()))?;
        let mut works = Vec::with_capacity(held.len());
        for (problem, start) in held.iter().zip(starts) {
            let problem = problem.get();
            let ask =
                start.map_or_else(|| self.ask.clone(), |start| self.ask.clone().with_prices(start.prices.clone()));
            let begun = match &problem.all_paths {
                Some(all) => Begun::at(py, problem, all, start.map(|start| &start.given))?,
                None => None,
            };
            works.push((problem, begun, ask));
        }
        let solve = |answers: &Answers<Answer>, number: usize| {
            let (problem, begun, ask) = &works[number];
            let mut observer = OfOne(number, answers);
            match &problem.all_paths {
                Some(all) => run_over_all_paths(problem, all, begun.as_ref(), ask.clone())(&mut observer)
                    .map(Answer::OverAllPaths),
                None => solve_on(problem.at_first(), ask, &mut observer, None)
                    .map(|(solution, _)| Answer::OverPaths(solution)),
            }
        };
        let all = |answers: &Answers<Answer>| {
            let each = |number: usize| {
                if answers.want(number) {
                    answers.put(number, solve(answers, number));
                }
            };
            let threads = NonZeroUsize::new(works.len()).map_or(threads, |count| count.min(threads));
            Threads::new(threads).each(works.len(), &each);
        };
        let found = Answers::new(held.len(), "problem", first).collect(py, threads, progress, all)?;
        let settings = &self.keywords.settings;
        let of = |(problem, answer): (&Bound<'_, Problem>, Answer)| match answer {
            Answer::OverPaths(solution) => Solution::new(problem, solution, settings),
            Answer::OverAllPaths(found) => found_over_all_paths(problem, found, settings, false),
        };
        held.iter().zip(found).map(of).collect()
    }

    /// On an executor, in chunks, by `netnum._calls.batches`.
    fn solve_on(
        &self,
        executor: &Bound<'_, PyAny>,
        work: &Work<'_>,
        settings: &Bound<'_, PyDict>,
        progress: bool,
    ) -> PyResult<Py<PyAny>> {
        let py = executor.py();
        let batch = (executor, self.method, settings, progress);
        let batch = py.import("netnum._calls.batches")?.getattr("Batch")?.call1(batch)?;
        let solutions = match work {
            Work::Problems(problems, starts) => {
                let starts = starts.as_ref().map(|starts| starts.per_problem(problems.len())).transpose()?;
                let array = |start: &Start<'_>| PyArray1::from_slice(py, &start.prices);
                let starts: Option<Vec<_>> =
                    starts.map(|starts| starts.into_iter().map(|start| start.map(array)).collect());
                batch.call_method1("problems", (problems, starts))
            }
            Work::Scenarios(problem, matrices) => {
                let scenarios = scenarios(py, problem.get(), matrices, 0)?;
                let count = scenarios.count();
                if count == 0 {
                    return self.solve(py, work, progress, None);
                }
                let rows = |matrix: &Option<Vec<f64>>| {
                    let rows =
                        |matrix: &Vec<f64>| PyArray1::from_slice(py, matrix).reshape([count, matrix.len() / count]);
                    matrix.as_ref().map(rows).transpose()
                };
                let given = PyDict::new(py);
                for (matrix, (name, _)) in matrices.iter().zip(OF_SCENARIOS) {
                    if let Some(rows) = rows(matrix)? {
                        given.set_item(name, rows)?;
                    }
                }
                batch.call_method1("scenarios", (problem, given, scenarios.together()))
            }
        };
        Ok(solutions?.unbind())
    }
}

/// Scenarios of a problem, all of which are checked before the first begins.
fn scenarios<'a>(
    py: Python<'_>,
    problem: &'a Problem,
    matrices: &'a [Option<Vec<f64>>; 4],
    first: usize,
) -> PyResult<Batch<'a>> {
    let [flow_caps, flow_floors, path_costs, capacities] = matrices.each_ref().map(Option::as_deref);
    let given = Scenarios { flow_caps, flow_floors, path_costs, capacities };
    let core = problem.at_first();
    let scenarios = Batch::scenarios(core, given).map_err(raise)?;
    solutions::check_memory(core, scenarios.count())?;
    let wrong = py.enter_rust(|| -> Result<_> {
        for scenario in 0..scenarios.count() {
            interrupt::check()?;
            if let Err(error) = scenarios.problem(scenario) {
                return Ok(Some((scenario, error)));
            }
        }
        Ok(None)
    })?;
    match wrong {
        Some((scenario, error)) => Err(about(py, "scenario", first + scenario, problem.naming(py, raise(error)))),
        None => Ok(scenarios),
    }
}

/// The solutions of many problems. Those after the first that fails are left out.
struct Answers<T> {
    all: Mutex<Vec<Option<PyResult<T>>>>,
    /// The word for a problem in messages, and the number of the first.
    noun: &'static str,
    first: usize,
    done: AtomicUsize,
    /// The first problem that has failed so far. Those before it go on, so that the same one counts every time.
    failed: AtomicUsize,
    is_stopped: AtomicBool,
}

impl<T: Send> Answers<T> {
    fn new(problems: usize, noun: &'static str, first: usize) -> Self {
        let all = Mutex::new((0..problems).map(|_| None).collect());
        let (done, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        Self { all, noun, first, done, failed, is_stopped: AtomicBool::new(false) }
    }

    /// Does the work without the GIL, with a bar over the problems. Returns all of them, or the first error among them.
    fn collect(
        self,
        py: Python<'_>,
        threads: NonZeroUsize,
        progress: bool,
        work: impl FnOnce(&Self) + Send,
    ) -> PyResult<Vec<T>> {
        let total = self.lock().len();
        let bar = ProgressBar::new(py, progress, "solve_many", (total,))?;
        let ended = py.enter_rust(|| self.watch(threads, &bar, work));
        let found = || self.lock().drain(..).map_while(|answer| answer).collect::<PyResult<Vec<T>>>();
        bar.close(py, ended.and_then(|()| found()), |_| (total,))
    }

    /// Does work on other threads. This one waits, checks for signals and moves the bar, by the clock.
    fn watch(&self, threads: NonZeroUsize, bar: &ProgressBar, work: impl FnOnce(&Self) + Send) -> Result<()> {
        let (sender, receiver) = mpsc::channel();
        let (tokens, stop) = (interrupt::Tokens::in_force(), StopToken::new());
        thread::scope(|scope| {
            let solve = || tokens.scope(|| stop.scope(|| work(self)));
            let all = || {
                solve();
                // There is no receiver any more only if this thread has panicked.
                let _ = sender.send(());
            };
            thread::Builder::new().spawn_scoped(scope, all).map_err(|refusal| Error::threads(threads, refusal))?;
            loop {
                match receiver.recv_timeout(PAUSE) {
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let done = self.done.load(Ordering::Relaxed);
                if let Err(error) = Python::attach(|py| py.check_signals().and_then(|()| bar.show(py, (done,)))) {
                    detach::keep(error);
                    self.is_stopped.store(true, Ordering::Relaxed);
                    stop.stop();
                }
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<PyResult<T>>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a problem is still to be solved.
    fn want(&self, problem: usize) -> bool {
        let failed = self.failed.load(Ordering::Relaxed);
        !(self.is_stopped.load(Ordering::Relaxed) || problem > failed || detach::has_raised())
    }

    fn put(&self, problem: usize, answer: Result<T>) {
        use Error::{OptionOfAuto, Setting, UnknownName, UnknownOption};
        let concerns_all =
            matches!(answer, Err(UnknownName { .. } | UnknownOption { .. } | OptionOfAuto { .. } | Setting { .. }));
        let answer = detach::outcome(answer).map_err(|error| match concerns_all {
            true => error,
            false => Python::attach(|py| about(py, self.noun, self.first + problem, error)),
        });
        if answer.is_err() {
            self.failed.fetch_min(problem, Ordering::Relaxed);
        }
        self.lock()[problem] = Some(answer);
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl BatchObserver for Answers<Found> {
    fn is_wanted(&self, problem: usize) -> bool {
        self.want(problem)
    }

    fn on_solution(&self, problem: usize, answer: Result<Found>) {
        self.put(problem, answer);
    }
}

/// The answer to a problem of paths, or to one of pairs.
enum Answer {
    OverPaths(Found),
    OverAllPaths(OverAllPaths),
}

/// Stops the solve of one problem that is not wanted any more.
struct OfOne<'a>(usize, &'a Answers<Answer>);

impl Observer for OfOne<'_> {
    fn cadence(&self) -> Cadence {
        Cadence::Every(PAUSE)
    }

    fn observe(&mut self, _progress: &Progress) -> ControlFlow<()> {
        if self.1.want(self.0) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// The warm starts of a batch.
enum Starts<'py> {
    Same(Start<'py>),
    Each(Vec<Option<Start<'py>>>),
}

/// Prices to start from, and the solution that they are of, whose paths a problem of pairs begins with.
#[derive(Clone)]
struct Start<'py> {
    prices: Vec<f64>,
    given: Bound<'py, PyAny>,
}

impl<'py> Start<'py> {
    fn of(given: Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self { prices: prices_of(&given)?, given })
    }
}

impl<'py> Starts<'py> {
    fn of(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        if value.cast::<Solution>().is_ok() || is_prices(value)? {
            return Start::of(value.clone()).map(Self::Same);
        }
        let start = |(problem, start): (usize, PyResult<Bound<'py, PyAny>>)| {
            let start = start?;
            let start = (!start.is_none()).then(|| Start::of(start)).transpose();
            start.map_err(|error| about(value.py(), "problem", problem, error))
        };
        value.try_iter()?.enumerate().map(start).collect::<PyResult<_>>().map(Self::Each)
    }

    /// One for every problem.
    ///
    /// # Errors
    /// `ProblemError` for another number of them.
    fn per_problem(&self, problems: usize) -> PyResult<Vec<Option<&Start<'py>>>> {
        let starts: Vec<_> = match self {
            Self::Same(start) => vec![Some(start); problems],
            Self::Each(starts) => starts.iter().map(Option::as_ref).collect(),
        };
        check_length("warm_start", starts.len(), problems, "problem").map_err(raise)?;
        Ok(starts)
    }
}

/// Whether these are prices of links, and not a sequence of such: its entries are numbers.
fn is_prices(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match value.try_iter()?.next().transpose()? {
        // An array of one entry passes for a number too.
        Some(first) => Ok(!first.hasattr("__len__")? && first.extract::<f64>().is_ok()),
        None => Ok(false),
    }
}

fn problem<'py>((number, value): (usize, PyResult<Bound<'py, PyAny>>)) -> PyResult<Bound<'py, Problem>> {
    let wrong = |value: &_| wrong_type(&format!("problems[{number}]"), "a Problem", value);
    value?.cast_into::<Problem>().map_err(|error| wrong(&error.into_inner()))
}
