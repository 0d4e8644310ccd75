//! `solve` and `methods`.

mod many;
mod observer;
mod progress;
mod solution;
mod solutions;
mod solver;
mod trace;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use netnum_core::solve::{METHODS, solve_by};
use netnum_core::{Settings, Stop};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::detach;
use crate::error::{MethodError, setting};
use crate::numbers::{self, count};
use crate::problem::Problem;
use crate::progress_bar::ProgressBar;

pub(crate) use many::{solve_chunk, solve_many};
pub(crate) use observer::PythonObserver;
pub(crate) use progress::Progress;
pub(crate) use solution::Solution;
pub(crate) use solutions::Solutions;
pub(crate) use solver::Solver;
pub(crate) use trace::Trace;

/// Find the rates that maximize the sum of all utilities, and prove it.
///
/// Runs without the GIL, so that other Python threads run meanwhile; Ctrl-C raises KeyboardInterrupt at once. Not
/// reaching the tolerance is no error: `Solution.status` is why the solve ended, and the rates are the best that were
/// certified.
///
/// Parameters
/// ----------
/// problem : Problem
/// method : str
///     ``"auto"`` for the best method for the problem (see Notes), or one that `methods` lists.
/// tol : float
///     The relative tolerance that the certificate must meet for the status ``"optimal"``; > 0.
/// stop : {"rates", "gap", "kkt"}
///     What the tolerance applies to. ``"rates"``: the relative duality gap is at most `tol`, and the KKT residual at
///     most 1e-3 (or `tol`, where that is larger): the sum of utilities is right to `tol`, every rate to a thousandth,
///     or its price to a tenth of that where the utility is nearly linear.
///     ``"gap"``: the gap alone, which may leave flows that matter little to the total far from their rates. ``"kkt"``:
///     the KKT residual is at most `tol`, so that every single rate is right to `tol`.
/// max_iterations : int
/// time_limit : float, optional
///     Seconds, >= 0, for everything: making the solver, the iterations, the last certificate and the solution. At 0
///     the starting point is certified and returned where that takes no more than some milliseconds. Where the time is
///     up before there are any, rates are 0, the gap is inf and the objective nan.
/// warm_start : Solution, or array of float of shape (links,), optional
///     Prices to start from: those of any problem on the same links, with other flows, weights or capacities. The fewer
///     of these differ, the fewer iterations a price method takes. The interior point gains little.
/// callback : callable, optional
///     Called after every iteration (which is then certified, at several times its cost) with a `Progress`. Returning
///     False stops; its exceptions are raised unchanged.
/// progress : bool
///     Whether to show a progress bar on stderr: tqdm's when that is installed.
/// trace : bool
///     Whether to keep a row per iteration in `Solution.trace`. Certifies every iteration too.
/// threads : int
///     How many threads may be used, >= 1. Price methods use more than one from 40 000 flows on; problems with one path
///     per flow and no user-defined utility are also prepared and certified on them. The solution has the same bits for
///     any number.
/// **options : float
///     Options of the method, such as ``gamma``.
///
/// Returns
/// -------
/// Solution
///
/// Raises
/// ------
/// MethodError
///     For a method or an option that does not exist (with those that do), or a problem that the method cannot take
///     (with the method that can).
/// NumError
///     For a setting or an option out of its range.
/// UtilityError
///     When the values of a utility cannot be used. Exceptions of a user-defined utility are raised unchanged.
///
/// Notes
/// -----
/// The methods of ``"auto"``, by the problem. `Solution.method` is the method that ran last.
///
/// - max-min: ``"max-min"``, exact
/// - one path per flow, strictly concave: ``"fast-ned"``; ``"interior-point"`` when the gap stops falling, and at once
///   with ``stop="kkt"``
/// - the same, up to 16 000 links crossed by power laws of different alpha <= 8: ``"interior-point"``, and
///   ``"fast-ned"`` when that stalls or is not done after 120 steps; with ``warm_start`` ``"fast-ned"``
/// - several paths per flow: ``"interior-point"``, then ``"fast-ned"``; if large, the other way round
/// - linear: ``"interior-point"``
///
/// Beyond 20 million links crossed by all paths together, ``"fast-ned"`` takes every problem that it can.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([10.0], [[0], [0]], netnum.AlphaFair(1.0, weight=[1.0, 3.0]))
/// >>> netnum.solve(problem, tol=1e-9).rates.round(6)
/// array([2.5, 7.5])
#[pyfunction]
#[pyo3(signature = (
    problem, method="auto", *, tol=1e-6, stop="rates", max_iterations=None, time_limit=None, warm_start=None,
    callback=None, progress=false, trace=false, threads=None, **options
))]
#[pyo3(
    text_signature = "(problem, method=\"auto\", *, tol=1e-06, stop=\"rates\", max_iterations=20000, time_limit=None, \
                         warm_start=None, callback=None, progress=False, trace=False, threads=1, **options)"
)]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python sets settings")]
pub(crate) fn solve(
    problem: &Bound<'_, Problem>,
    method: &str,
    tol: f64,
    stop: &str,
    max_iterations: Option<&Bound<'_, PyAny>>,
    time_limit: Option<f64>,
    warm_start: Option<&Bound<'_, PyAny>>,
    callback: Option<&Bound<'_, PyAny>>,
    progress: bool,
    trace: bool,
    threads: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Solution> {
    let (py, core) = (problem.py(), &problem.get().core);
    let settings = settings_of(tol, stop, max_iterations, time_limit)?.with_trace(trace);
    let threads = threads_of(threads)?;
    let bar = solve_bar(py, progress, &settings)?;
    let mut observer = PythonObserver::new(callback, &bar)?;
    let options = options_of(options)?;
    let prices = warm_start.map(prices_of).transpose()?;
    let solution = detach::run(py, || {
        let make = || netnum_parallel::solver(core, method, &options, threads, prices.as_deref());
        solve_by(core, &settings, &mut observer, make)
    });
    Solution::new(problem, bar.close(py, solution, last_state)?, trace)
}

/// List the methods.
///
/// Returns
/// -------
/// dict
///     Name of every method → ``{"summary": str, "options": {name: option}}``, the one to use first first, and every
///     option as ``{"default": float, "range": str, "summary": str}``. The range is in words, such as ``"a finite
///     number > 0"``.
///
/// Examples
/// --------
/// >>> list(netnum.methods())[:3]
/// ['fast-ned', 'ned', 'gradient']
/// >>> netnum.methods()["ned"]["options"]["gamma"]["default"]
/// 0.4
#[pyfunction]
pub(crate) fn methods(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let methods = PyDict::new(py);
    for method in METHODS {
        let options = PyDict::new(py);
        for option in method.options {
            let entry = PyDict::new(py);
            entry.set_item("default", option.default)?;
            entry.set_item("range", option.range.to_string())?;
            entry.set_item("summary", option.summary)?;
            options.set_item(option.name, entry)?;
        }
        let entry = PyDict::new(py);
        entry.set_item("summary", method.summary)?;
        entry.set_item("options", options)?;
        methods.set_item(method.name, entry)?;
    }
    Ok(methods)
}

/// The bar of one solve.
pub(crate) fn solve_bar(py: Python<'_>, wanted: bool, settings: &Settings) -> PyResult<ProgressBar> {
    ProgressBar::new(py, wanted, "solve", (settings.tol, settings.stop.name()))
}

/// The last state that it shows.
pub(crate) fn last_state(solution: &netnum_core::Solution) -> (usize, f64, f64) {
    let netnum_core::Certificate { relative_gap, kkt_residual, .. } = solution.certificate;
    (solution.iterations, relative_gap, kkt_residual)
}

/// The settings that solves share.
pub(crate) fn settings_of(
    tol: f64,
    stop: &str,
    max_iterations: Option<&Bound<'_, PyAny>>,
    time_limit: Option<f64>,
) -> PyResult<Settings> {
    let mut settings = Settings::default().with_tol(tol).with_stop(stop_of(stop)?);
    if let Some(max_iterations) = max_iterations {
        settings.max_iterations = count("max_iterations", max_iterations, 0)?;
    }
    settings.time_limit = time_limit.map(seconds).transpose()?.flatten();
    Ok(settings)
}

fn stop_of(name: &str) -> PyResult<Stop> {
    match name {
        "rates" => Ok(Stop::Rates),
        "gap" => Ok(Stop::Gap),
        "kkt" => Ok(Stop::Kkt),
        _ => Err(setting("stop", format!("{name:?}"), "\"rates\", \"gap\" or \"kkt\"")),
    }
}

/// A time limit; none when it is longer than can be counted.
pub(crate) fn seconds(limit: f64) -> PyResult<Option<Duration>> {
    if limit >= 0.0 {
        return Ok(Duration::try_from_secs_f64(limit).ok());
    }
    Err(setting("time_limit", limit, "a number of seconds >= 0"))
}

pub(crate) fn options_of(options: Option<&Bound<'_, PyDict>>) -> PyResult<BTreeMap<String, f64>> {
    let number = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = name.cast::<PyString>()?.to_string();
        if name == "comm" {
            let message = "comm is no option of a method: over the ranks of a communicator, each with its part of the \
                           flows, it is netnum.distributed.solve(part, comm=comm)";
            return Err(MethodError::new_err(message));
        }
        // The core raises for a name that no method has, with the names that exist, whatever the value is.
        let known = METHODS.iter().flat_map(|method| method.options).any(|option| option.name == name);
        let value = if known { numbers::float(&format!("option {name:?}"), &value)? } else { f64::NAN };
        Ok((name, value))
    };
    options.into_iter().flat_map(|options| options.iter()).map(number).collect()
}

/// How many threads; one unless given.
pub(crate) fn threads_of(threads: Option<&Bound<'_, PyAny>>) -> PyResult<NonZeroUsize> {
    let threads = threads.map_or(Ok(1), |threads| count("threads", threads, 1))?;
    Ok(NonZeroUsize::new(threads).expect("at least 1"))
}

/// The prices to start from.
pub(crate) fn prices_of(warm_start: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    match warm_start.cast::<Solution>() {
        Ok(solution) => solution.get().price_list(warm_start.py()),
        Err(_) => numbers::floats("prices", warm_start),
    }
}
