//! `solve` and `methods`.

mod infeasibility;
mod keywords;
mod many;
mod observer;
mod priority_class;
mod progress;
mod solution;
mod solutions;
mod solver;
mod trace;

use netnum_core::internal::{solve_on, solve_with_link_costs};
use netnum_core::{Ask, METHODS, Observer, OverAllPaths, Settings};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::all_paths::{AllPaths, Begun};
use crate::detach::EnterRust;
use crate::error::MethodError;
use crate::plain::object;
use crate::problem::Problem;
use crate::progress_bar::ProgressBar;
use crate::topology::with_link_name;

pub(crate) use infeasibility::Infeasibility;
pub(crate) use keywords::{Keywords, options_of, prices_of, seconds};
pub(crate) use many::{solve_chunk, solve_many};
pub(crate) use observer::PythonObserver;
pub(crate) use priority_class::PriorityClass;
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
///     The number that the tolerance applies to. ``"rates"``: the relative duality gap is at most `tol`, and the KKT
///     residual at most 1e-3 (or `tol`, where that is larger): the sum of utilities is right to `tol`, every rate to a
///     thousandth, or its price to a tenth of that where the utility is nearly linear.
///     ``"gap"``: the gap alone, which may leave flows that matter little to the total far from their rates. ``"kkt"``:
///     the KKT residual is at most `tol`, so that every single rate is right to `tol`.
/// max_iterations : int
/// time_limit : float, optional
///     Seconds, >= 0, for everything: making the solver, the iterations, the last certificate and the solution. At 0
///     the starting point is certified and returned where that takes no more than some milliseconds. Where the time is
///     up before there are any, rates are 0, the gap is inf and the objective nan.
/// warm_start : Solution, or array of float of shape (links,), optional
///     Prices to start from: those of any problem on the same links, with other flows, weights or capacities. The fewer
///     of these differ, the fewer iterations a price method takes. The interior point gains little. A problem of pairs
///     begins with the paths of the solution, as far as it may use them, and saves rounds.
/// callback : callable, optional
///     Called after every iteration (which is then certified, at several times its cost) with a `Progress`. Returning
///     False stops; its exceptions are raised unchanged.
/// progress : bool
///     Whether to show a progress bar on stderr: tqdm's when that is installed.
/// trace : bool
///     Whether to keep a row per iteration in `Solution.trace`. Certifies every iteration too.
/// threads : int
///     How many threads may be used, >= 1. More than one are used from some 30 000 paths on, by price methods from
///     40 000 flows on, and not with user-defined utilities. The solution has the same bits for any number.
/// tie_cost : str, or array of float, shape (links,), or float, or dict, optional
///     A cost of every link, in the forms of `Problem`'s `link_cost`: of all splits over several paths that give flows
///     these rates the cheapest is taken, by a second stage. 1.0 for the fewest links.
/// few_paths : bool
///     Of a problem of pairs, whose flows are otherwise split over paths that are equally good, short ones where these
///     have room: whether to give them the same rates over few paths, at most one for every flow and one for every full
///     link, and short ones. It has no `sensitivity`. A solve that a limit ends keeps its split.
/// max_paths : int, optional
///     Of a problem of pairs: the most paths of a flow, >= 1. Those that carry most of it are kept, and the problem is
///     solved again over these. `gap` is then the distance to the optimum over all paths, and where the certificate
///     is not what `stop` asks for the status is ``"fewer_paths"``: more may be better. Of max-min nothing is proven (a
///     gap of 1). Floors that do not fit over so few paths are an error.
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
/// A problem of pairs is solved in rounds over paths that are added at each, by ``"interior-point"``, or ``"max-min"``.
/// The certificate is over all paths of the network, and so is the gap that a callback sees, that after the round
/// before: inf in the first, and 1 while paths are missing to max-min rates. In the trace the gap is over the paths of
/// the round, and in the last row, which is that of the answer, over all.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([10.0], [[0], [0]], netnum.AlphaFair(1.0, weight=[1.0, 3.0]))
/// >>> netnum.solve(problem, tol=1e-9).rates.round(6)
/// array([2.5, 7.5])
#[pyfunction]
#[pyo3(signature = (problem, method="auto", **keywords))]
#[pyo3(
    text_signature = "(problem, method=\"auto\", *, tol=1e-06, stop=\"rates\", max_iterations=20000, time_limit=None, \
                         warm_start=None, callback=None, progress=False, trace=False, threads=1, tie_cost=None, \
                         few_paths=False, max_paths=None, **options)"
)]
pub(crate) fn solve<'py>(
    problem: &Bound<'py, Problem>,
    method: &str,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Solution> {
    let takes = ["warm_start", "callback", "progress", "trace", "tie_cost", "few_paths", "max_paths"];
    let keywords = Keywords::of("solve", keywords, &takes)?;
    solve_over(problem, method, &keywords, netnum_core::Ranks::alone())
}

/// Solves over the ranks of a communicator, each with its part of the problem.
pub(crate) fn solve_over<'py>(
    problem: &Bound<'py, Problem>,
    method: &str,
    keywords: &Keywords<'py>,
    ranks: netnum_core::Ranks,
) -> PyResult<Solution> {
    let (py, settings) = (problem.py(), &keywords.settings);
    if let Some(all) = &problem.get().all_paths {
        return solve_over_all_paths(problem, all, method, keywords, ranks);
    }
    if keywords.few_paths || keywords.max_paths.is_some() {
        let name = if keywords.few_paths { "few_paths" } else { "max_paths" };
        let instead = "over paths that are given, tie_cost=1.0 takes the shortest of the best splits";
        return Err(MethodError::new_err(format!("{name} is of problems of pairs: {instead}")));
    }
    let core = problem.get().at_first();
    let bar = solve_bar(py, keywords.progress && ranks.rank() == 0, settings)?;
    let mut observer = PythonObserver::new(keywords.callback.as_ref(), &bar)?;
    let mut ask = keywords.ask(method, ranks)?;
    if let Some(tie_cost) = &keywords.tie_cost {
        ask = ask.with_tie_costs(problem.get().costs_of_links(py, "tie_cost", tie_cost)?);
    }
    let net = problem.get().topology.as_ref().map(Py::get);
    let solution = py.enter_rust(|| {
        solve_on(core, &ask, &mut observer, None)
            .map(|(solution, _)| solution)
            .map_err(|error| with_link_name(error, net))
    });
    Solution::new(problem, bar.close(py, solution, last_state)?, settings)
}

/// Solves over all paths that flows may use; the solution's problem is over those that they do.
fn solve_over_all_paths<'py>(
    problem: &Bound<'py, Problem>,
    all: &AllPaths,
    method: &str,
    keywords: &Keywords<'py>,
    ranks: netnum_core::Ranks,
) -> PyResult<Solution> {
    let (py, settings) = (problem.py(), &keywords.settings);
    if keywords.tie_cost.is_some() {
        let message = "tie_cost is of paths that are given: give links a cost, link_cost= of the problem";
        return Err(MethodError::new_err(message));
    }
    let bar = solve_bar(py, keywords.progress, settings)?;
    let mut observer = PythonObserver::new(keywords.callback.as_ref(), &bar)?;
    let ask = keywords.ask(method, ranks)?;
    let begun = Begun::at(py, problem.get(), all, keywords.warm_start.as_ref())?;
    let found = run_over_all_paths(problem.get(), all, begun.as_ref(), ask.clone());
    let (most, few) = (keywords.max_paths, keywords.few_paths || keywords.max_paths.is_some());
    let found = py.enter_rust(|| {
        let found = found(&mut observer)?;
        if few { found.over_few_paths(all.oracle(), &all.link_costs, most, &ask, &mut observer) } else { Ok(found) }
    });
    let last = |found: &OverAllPaths| last_state(&found.solution);
    found_over_all_paths(problem, bar.close(py, found, last)?, settings, few)
}

/// The solve of a problem of pairs, from where there is something to go on from.
pub(super) fn run_over_all_paths<'a>(
    problem: &'a Problem,
    all: &'a AllPaths,
    begun: Option<&'a Begun>,
    ask: Ask,
) -> impl FnOnce(&mut dyn Observer) -> netnum_core::Result<OverAllPaths> + Send + 'a {
    let net = problem.topology.as_ref().map(Py::get);
    let (core, ask) = match begun {
        Some(Begun { problem, prices, rates }) => (problem, ask.with_point(prices.clone(), rates.clone())),
        None => (problem.at_first(), ask),
    };
    move |observer| {
        solve_with_link_costs(core, all.oracle(), &all.link_costs, &ask, observer)
            .map_err(|error| with_link_name(error, net))
    }
}

/// The solution of a problem of pairs, with the problem over the paths that are used.
pub(super) fn found_over_all_paths(
    problem: &Bound<'_, Problem>,
    found: OverAllPaths,
    settings: &Settings,
    is_over_few: bool,
) -> PyResult<Solution> {
    let (summary, rounds) = (found.to_string(), found.rounds);
    let used = Bound::new(problem.py(), problem.get().with_found(problem.py(), found.problem)?)?;
    Ok(Solution::new(&used, found.solution, settings)?.over_all_paths(summary, rounds, is_over_few))
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
        for option in (method.options)() {
            let entry = PyDict::new(py);
            entry.set_item("default", object(py, &option.default)?)?;
            entry.set_item("range", option.range.map(|range| range.to_string()))?;
            entry.set_item("summary", option.summary)?;
            options.set_item(&*option.name, entry)?;
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
