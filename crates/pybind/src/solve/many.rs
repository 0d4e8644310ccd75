//! `solve_many`: a pool of threads beside the calling one, which is the only one that Python tells of signals.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;

use netnum_core::interrupt::{StopToken, Tokens};
use netnum_core::{Error, Problem as Core, Result};
use netnum_parallel::{Batch, Overseer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Solution, options_of, prices_of, settings_of};
use crate::door::{self, PAUSE};
use crate::error::about_problem;
use crate::numbers;
use crate::problem::Problem;

/// Solve many problems at once, each on one thread of several.
///
/// The answers are those of `solve`, to the last bit, whatever the number of threads. Runs without the interpreter;
/// Ctrl-C raises KeyboardInterrupt at once. Utilities written in Python work, but take turns: only one thread at a time
/// can be in the interpreter.
///
/// Parameters
/// ----------
/// problems : sequence of Problem
/// method, tol, stop, max_iterations
///     As in `solve`, for all of them.
/// time_limit : float, optional
///     Seconds for each of them, >= 0.
/// warm_start : Solution, array of float of shape (links,), or sequence of these and None, optional
///     What to start from, as in `solve`: one for all problems, or a sequence with one per problem (None for a cold
///     start).
/// progress : bool
///     Whether to show one bar over all the problems on stderr.
/// threads : int, optional
///     By default as many as the machine has cores.
/// **options : float
///     The method's own options, ``gamma`` say.
///
/// Returns
/// -------
/// list of Solution
///     In the order of the problems.
///
/// Raises
/// ------
/// MethodError, NumError, ProblemError, UtilityError
///     As `solve` does, with the number of the problem in front: ``problem 3: …``. The first failing problem counts,
///     and those after it are left out. What a utility of your own raises comes through, with that number as a note
///     (from Python 3.11 on).
///
/// Examples
/// --------
/// >>> problems = [netnum.Problem([12.0], [[0]] * flows, netnum.AlphaFair(1.0)) for flows in (1, 2, 3)]
/// >>> [float(solution.rates[0].round(3)) for solution in netnum.solve_many(problems)]
/// [12.0, 6.0, 4.0]
#[pyfunction]
#[pyo3(signature = (
    problems, method="auto", *, tol=1e-6, stop="rates", max_iterations=None, time_limit=None, warm_start=None,
    progress=false, threads=None, **options
))]
#[pyo3(
    text_signature = "(problems, method=\"auto\", *, tol=1e-06, stop=\"rates\", max_iterations=20000, time_limit=None, \
                         warm_start=None, progress=False, threads=None, **options)"
)]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python sets settings")]
pub(crate) fn solve_many(
    py: Python<'_>,
    problems: &Bound<'_, PyAny>,
    method: &str,
    tol: f64,
    stop: &str,
    max_iterations: Option<&Bound<'_, PyAny>>,
    time_limit: Option<f64>,
    warm_start: Option<&Bound<'_, PyAny>>,
    progress: bool,
    threads: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Solution>> {
    let settings = settings_of(tol, stop, max_iterations, time_limit)?;
    let threads = match threads {
        Some(threads) => NonZeroUsize::new(numbers::count("threads", threads, 1)?),
        None => thread::available_parallelism().ok(),
    };
    let threads = threads.unwrap_or(NonZeroUsize::MIN);
    let options = options_of(options)?;
    let held = problems.try_iter()?.enumerate().map(problem).collect::<PyResult<Vec<_>>>()?;
    let problems: Vec<&Core> = held.iter().map(|problem| &problem.get().core).collect();
    let starts = warm_start.map(Starts::of).transpose()?;
    let starts = starts.as_ref().map(|starts| starts.per_problem(problems.len()));

    let batch =
        Batch { problems: &problems, warm_starts: starts.as_deref(), method, options: &options, settings: &settings };
    let office = Office::new(problems.len());
    let mut bar = progress.then_some(Bar { total: problems.len(), shown: None });
    let ended = door::detached(py, || beside(&batch, threads, &office, &mut bar));
    let closed = bar.map_or(Ok(()), |bar| bar.close(py, office.done()));
    ended?;
    let solutions = office.answers().into_iter().map(|answer| Solution::new(py, answer?, false)).collect();
    closed?;
    solutions
}

/// Runs a batch on threads of its own. The calling one waits, looks for signals and moves the bar, by the clock.
fn beside(batch: &Batch<'_, &Core>, threads: NonZeroUsize, office: &Office, bar: &mut Option<Bar>) -> Result<()> {
    let (tell, told) = mpsc::channel();
    let (tokens, stop) = (Tokens::in_force(), StopToken::new());
    thread::scope(|scope| {
        let solve = || tokens.scope(|| stop.scope(|| batch.solve(threads, office)));
        let work = || {
            // Nobody listens any more only if the caller has panicked.
            let _ = tell.send(solve());
        };
        thread::Builder::new().spawn_scoped(scope, work).map_err(|refusal| Error::Setting {
            name: "threads".into(),
            value: threads.to_string(),
            expected: format!("as many as the system can start ({refusal})"),
        })?;
        loop {
            match told.recv_timeout(PAUSE) {
                Ok(ended) => return ended,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let look = |py: Python<'_>| {
                py.check_signals()?;
                bar.as_mut().map_or(Ok(()), |bar| bar.show(py, office.done()))
            };
            if let Err(error) = Python::attach(look) {
                door::keep(error);
                office.close();
                stop.stop();
            }
        }
    })
}

/// Collects the answers, and stops the problems that nobody waits for any more.
struct Office {
    answers: Mutex<Vec<Option<PyResult<netnum_core::Solution>>>>,
    done: AtomicUsize,
    /// The first problem that has failed so far. Those before it go on, so that the same one counts every time.
    failed: AtomicUsize,
    closed: AtomicBool,
}

impl Office {
    fn new(problems: usize) -> Self {
        let answers = Mutex::new((0..problems).map(|_| None).collect());
        let (done, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        Self { answers, done, failed, closed: AtomicBool::new(false) }
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// All answers up to the first that is an error.
    fn answers(self) -> Vec<PyResult<netnum_core::Solution>> {
        self.answers
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .into_iter()
            .map_while(|answer| answer)
            .collect()
    }
}

impl Overseer for Office {
    fn wants(&self, problem: usize) -> bool {
        let failed = self.failed.load(Ordering::Relaxed);
        !(self.closed.load(Ordering::Relaxed) || problem > failed || door::has_raised())
    }

    fn take(&self, problem: usize, answer: Result<netnum_core::Solution>) {
        use Error::{Setting, UnknownMethod, UnknownOption};
        let of_all = matches!(answer, Err(UnknownMethod { .. } | UnknownOption { .. } | Setting { .. }));
        let answer = door::came_out(answer).map_err(|error| match of_all {
            true => error,
            false => Python::attach(|py| about_problem(py, problem, error)),
        });
        if answer.is_err() {
            self.failed.fetch_min(problem, Ordering::Relaxed);
        }
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)[problem] = Some(answer);
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a batch starts from.
enum Starts {
    Same(Vec<f64>),
    Each(Vec<Option<Vec<f64>>>),
}

impl Starts {
    fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if value.cast::<Solution>().is_ok() || is_prices(value)? {
            return prices_of(value).map(Self::Same);
        }
        let start = |(problem, start): (usize, PyResult<Bound<'_, PyAny>>)| {
            let start = start?;
            let prices = (!start.is_none()).then(|| prices_of(&start)).transpose();
            prices.map_err(|error| about_problem(value.py(), problem, error))
        };
        value.try_iter()?.enumerate().map(start).collect::<PyResult<_>>().map(Self::Each)
    }

    fn per_problem(&self, problems: usize) -> Vec<Option<&[f64]>> {
        match self {
            Self::Same(prices) => vec![Some(prices); problems],
            Self::Each(starts) => starts.iter().map(Option::as_deref).collect(),
        }
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
    value?.cast_into::<Problem>().map_err(|error| {
        let value = error.into_inner();
        let kind = value.get_type().name().map_or_else(|_| "that".into(), |name| name.to_string());
        PyTypeError::new_err(format!("problems[{number}] must be a Problem, not {kind}"))
    })
}

/// The bar over the problems, on the screen from its first `show` on.
struct Bar {
    total: usize,
    shown: Option<Py<PyAny>>,
}

impl Bar {
    fn show(&mut self, py: Python<'_>, done: usize) -> PyResult<()> {
        let bar = match self.shown.take() {
            Some(bar) => bar,
            None => py.import("netnum.progress")?.call_method1("count", (self.total,))?.unbind(),
        };
        self.shown.insert(bar).call_method1(py, "show", (done,)).map(drop)
    }

    /// Shows how it ended, and leaves it at that whatever happened.
    fn close(mut self, py: Python<'_>, done: usize) -> PyResult<()> {
        if self.shown.is_none() && done < self.total {
            return Ok(());
        }
        let shown = self.show(py, done);
        shown.and(self.shown.map_or(Ok(()), |bar| bar.call_method0(py, "close").map(drop)))
    }
}
