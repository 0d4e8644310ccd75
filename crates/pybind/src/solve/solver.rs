//! `Solver`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use netnum_core::{Ask, OverAllPaths, Solver as Core};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};

use super::observer::PythonObserver;
use super::{Keywords, Solution, found_over_all_paths, last_state, run_over_all_paths, solve_bar};
use crate::all_paths::Begun;
use crate::certificate::Certificate;
use crate::detach::{self, EnterRust};
use crate::error::{raise, wrong_type};
use crate::hints;
use crate::numbers::{self, counted};
use crate::problem::{Problem, no_paths};

/// A method on a problem: one iteration at a time, or until the certificate passes, and then for a changed problem.
///
/// Of a problem of pairs it keeps the paths that were found: after `update` the next `solve` begins with them. `step`,
/// `certificate`, `rates` and `prices` are of paths that are given, and an error then.
///
/// Parameters
/// ----------
/// problem : Problem
/// method : str
///     ``"auto"``, or one that `methods` lists.
/// warm_start : Solution, or array of float of shape (links,), optional
///     Prices to start from, as in `solve`.
/// threads : int
///     How many threads may be used, as in `solve`.
/// **options : float
///     Options of the method, such as ``gamma``.
///
/// Raises
/// ------
/// MethodError
///     For a method or an option that does not exist, or a problem that the method cannot take.
/// NumError
///     For an option or a number of threads out of its range.
/// UtilityError
///     When a utility's values cannot be used.
///
/// See Also
/// --------
/// solve : once, with a time limit for everything.
/// solve_many : many demands or capacities at once.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
/// >>> solver = netnum.Solver(problem, "ned", gamma=0.4)
/// >>> solver.step(100)
/// >>> solver.rates.round(3)
/// array([0.333, 0.667, 0.667])
#[pyclass(frozen, module = "netnum")]
pub(crate) struct Solver {
    engine: Mutex<Engine>,
    described: Mutex<Described>,
}

/// What solves.
enum Engine {
    OverPaths(Core),
    /// Over all paths: how, and what was found last.
    OverAllPaths {
        ask: Ask,
        begun: Option<Begun>,
        iterations: usize,
    },
}

/// The problem and the method, which can be read while the solver is in use.
struct Described {
    problem: Py<Problem>,
    method: &'static str,
}

impl Solver {
    /// What solves, unless it is in use: in another thread, or around a utility that refers to it.
    fn engine(&self) -> PyResult<MutexGuard<'_, Engine>> {
        detach::lock(&self.engine, "solver")
    }

    /// Does something with the solver over paths that are given.
    ///
    /// # Errors
    /// `ProblemError` where none are.
    fn with_core<T>(&self, work: impl FnOnce(&mut Core) -> PyResult<T>) -> PyResult<T> {
        match &mut *self.engine()? {
            Engine::OverPaths(core) => work(core),
            Engine::OverAllPaths { .. } => Err(no_paths(
                "a Solver goes over all of them by `solve` and `update`, and Solver(Problem(net, \
                 net.k_shortest_paths(demands, k))) steps over some",
            )),
        }
    }

    fn described(&self) -> MutexGuard<'_, Described> {
        self.described.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (problem=None, method="auto", **keywords))]
    #[pyo3(text_signature = "(problem, method=\"auto\", *, warm_start=None, threads=1, **options)")]
    fn new<'py>(
        py: Python<'py>,
        problem: Option<&Bound<'py, PyAny>>,
        method: &str,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        let problem = hints::needed(py, "Solver", "problem", problem)?;
        let problem = problem.cast::<Problem>().map_err(|_| wrong_type("problem", "a Problem", problem))?;
        let of_runs = ["tol", "stop", "max_iterations", "time_limit", "callback", "progress", "trace"];
        for name in of_runs {
            if keywords.is_some_and(|given| given.contains(name).unwrap_or(false)) {
                return Err(hints::unexpected(py, "Solver", name)?);
            }
        }
        let ask = Keywords::of("Solver", keywords, &["warm_start"])?.ask(method, netnum_core::Ranks::alone())?;
        let (engine, method) = match &problem.get().all_paths {
            Some(all) => {
                all.check_ask(problem.get().at_first(), &ask).map_err(raise)?;
                let start = keywords.map(|given| given.get_item("warm_start")).transpose()?.flatten();
                let begun = Begun::at(py, problem.get(), all, start.as_ref())?;
                (Engine::OverAllPaths { ask, begun, iterations: 0 }, problem.get().method_over_all_paths())
            }
            None => {
                let core_problem = problem.get().at_first();
                let core = py.enter_rust(|| Core::new(core_problem, &ask))?;
                let method = core.method();
                (Engine::OverPaths(core), method)
            }
        };
        let described = Described { problem: problem.clone().unbind(), method };
        Ok(Self { engine: Mutex::new(engine), described: Mutex::new(described) })
    }

    /// Continue from the present state until the certificate meets the tolerance.
    ///
    /// Parameters
    /// ----------
    /// tol, stop, max_iterations, time_limit, callback, progress, trace
    ///     As in `netnum.solve`.
    ///
    /// Returns
    /// -------
    /// Solution
    ///     Its `iterations` and `seconds` are those of this call, and of `update` before it.
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For a setting out of its range.
    /// UtilityError
    ///     When a utility's values cannot be used.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([10.0], [[0], [0]], netnum.AlphaFair(1.0, weight=[1.0, 3.0]))
    /// >>> netnum.Solver(problem).solve(tol=1e-9).rates.round(6)
    /// array([2.5, 7.5])
    #[pyo3(signature = (**keywords))]
    #[pyo3(
        text_signature = "($self, *, tol=1e-06, stop=\"rates\", max_iterations=20000, time_limit=None, callback=None, \
                             progress=False, trace=False)"
    )]
    fn solve<'py>(&self, py: Python<'py>, keywords: Option<&Bound<'py, PyDict>>) -> PyResult<Solution> {
        let keywords = Keywords::of_run(keywords)?;
        let settings = &keywords.settings;
        let bar = solve_bar(py, keywords.progress, settings)?;
        let mut observer = PythonObserver::new(keywords.callback.as_ref(), &bar)?;
        let mut guard = self.engine()?;
        let problem = self.problem(py);
        match (&mut *guard, &problem.get().all_paths) {
            (Engine::OverAllPaths { ask, begun, iterations }, Some(all)) => {
                let ask = ask.clone().with_settings(settings.clone());
                let found = run_over_all_paths(problem.get(), all, begun.as_ref(), ask);
                let found = py.enter_rust(|| found(&mut observer));
                let found = bar.close(py, found, |found: &OverAllPaths| last_state(&found.solution))?;
                *iterations += found.solution.iterations;
                let solution = found_over_all_paths(problem.bind(py), found, settings, false)?;
                *begun = all.going_on(py, problem.get(), &solution)?.or(begun.take());
                Ok(solution)
            }
            (Engine::OverPaths(core), _) => {
                let solution = py.enter_rust(|| core.run(settings, &mut observer));
                self.described().method = core.method();
                Solution::new(problem.bind(py), bar.close(py, solution, last_state)?, settings)
            }
            (Engine::OverAllPaths { .. }, None) => unreachable!("it was made for pairs"),
        }
    }

    /// Change demands, floors, costs, capacities or utilities, and continue from the present state.
    ///
    /// What is not given, or None, stays as it is. Prices are kept, and rates by the interior point: the next `solve`
    /// takes fewer iterations where little has changed, and starts from prices alone where demands have grown far
    /// beyond what links carry. Max-min goes on from its cuts.
    ///
    /// Parameters
    /// ----------
    /// flow_caps : array of float, shape (flows,), or float, optional
    ///     The demand of every flow, or the same for all: >= 0, inf for none.
    /// flow_floors : array of float, shape (flows,), or float, optional
    ///     The least rate of every flow, or the same for all: finite, >= 0 and at most its cap; 0 for none.
    /// path_costs : array of float, shape (paths,), or float, optional
    ///     Utility lost per unit of rate on every path, or the same for all: finite and >= 0.
    /// capacities : array of float, shape (links,), or float, optional
    ///     One per link, or the same for all: >= 0; 0 for a link that has failed, inf for no limit.
    /// utility : utility, or sequence of utilities, optional
    ///     As in `Problem`.
    ///
    /// Raises
    /// ------
    /// ProblemError, UtilityError
    ///     As `Problem.with_flow_caps`, `with_flow_floors`, `with_path_costs`, `with_capacities` and `with_utility` do.
    /// MethodError
    ///     For utilities that the method cannot take.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([10.0], [[0], [0]], netnum.AlphaFair(1.0), flow_cap=[2.0, np.inf])
    /// >>> solver = netnum.Solver(problem)
    /// >>> solver.solve().rates.round(3)
    /// array([2., 8.])
    /// >>> solver.update(flow_caps=[4.0, np.inf])
    /// >>> solver.solve().rates.round(3)
    /// array([4., 6.])
    #[pyo3(signature = (*, flow_caps=None, flow_floors=None, path_costs=None, capacities=None, utility=None))]
    fn update(
        &self,
        py: Python<'_>,
        flow_caps: Option<&Bound<'_, PyAny>>,
        flow_floors: Option<&Bound<'_, PyAny>>,
        path_costs: Option<&Bound<'_, PyAny>>,
        capacities: Option<&Bound<'_, PyAny>>,
        utility: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut guard = self.engine()?;
        let mut problem = self.described().problem.clone_ref(py);
        if let Some(capacities) = capacities {
            problem = Py::new(py, problem.get().with_capacities(py, capacities)?)?;
        }
        if flow_floors.is_some() && flow_caps.is_some() {
            // New caps need not be above old floors.
            problem = Py::new(py, problem.get().with_flow_floors(py, None)?)?;
        }
        if let Some(flow_caps) = flow_caps {
            problem = Py::new(py, problem.get().with_flow_caps(py, Some(flow_caps))?)?;
        }
        if flow_floors.is_some() {
            problem = Py::new(py, problem.get().with_flow_floors(py, flow_floors)?)?;
        }
        if path_costs.is_some() {
            problem = Py::new(py, problem.get().with_path_costs(py, path_costs)?)?;
        }
        if let Some(utility) = utility {
            problem = Py::new(py, problem.get().with_utility(py, utility)?)?;
        }
        let method = match (&mut *guard, &problem.get().all_paths) {
            (Engine::OverAllPaths { ask, begun, .. }, Some(all)) => {
                all.check_ask(problem.get().at_first(), ask).map_err(raise)?;
                let next = begun.as_ref().map(|begun| all.next(py, problem.get(), begun)).transpose()?;
                *begun = next;
                problem.get().method_over_all_paths()
            }
            (Engine::OverPaths(core), _) => {
                let changed = problem.get().at_first();
                py.enter_rust(|| core.update(changed))?;
                core.method()
            }
            (Engine::OverAllPaths { .. }, None) => unreachable!("it was made for pairs"),
        };
        let described = Described { problem, method };
        drop(guard);
        // A user-defined utility may use either lock when it is freed.
        let old = std::mem::replace(&mut *self.described(), described);
        drop(old);
        Ok(())
    }

    /// Do n iterations, without certifying. Ctrl-C stops between two of them, or within a long one, with which the next
    /// call then continues.
    ///
    /// Parameters
    /// ----------
    /// n : int
    #[pyo3(signature = (n=None))]
    #[pyo3(text_signature = "($self, n=1)")]
    fn step(&self, py: Python<'_>, n: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let iterations = n.map_or(Ok(1), |n| numbers::count("n", n, 0))?;
        self.with_core(|core| detach::repeat(py, iterations, || core.step(1)))
    }

    /// The certificate of the present rates and prices: `Certificate`. Costs about one step.
    ///
    /// Raises
    /// ------
    /// MethodError
    ///     For a max-min problem that cannot be certified.
    fn certificate(&self, py: Python<'_>) -> PyResult<Certificate> {
        self.with_core(|core| py.enter_rust(move || core.certificate()).map(Into::into))
    }

    /// The demand of every path at these prices, not normalized: links may be overloaded. Array of float, shape
    /// (paths,).
    #[getter]
    fn raw_rates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.with_core(|core| Ok(PyArray1::from_vec(py, core.raw_rates())))
    }

    /// The demands, made feasible by F-NORM: array of float, shape (paths,).
    #[getter]
    fn rates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.with_core(|core| Ok(PyArray1::from_vec(py, core.rates())))
    }

    /// Price of every link: array of float, shape (links,).
    #[getter]
    fn prices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.with_core(|core| Ok(PyArray1::from_vec(py, core.prices())))
    }

    /// Iterations done.
    #[getter]
    fn iteration(&self) -> PyResult<usize> {
        Ok(match &*self.engine()? {
            Engine::OverPaths(core) => core.iteration(),
            Engine::OverAllPaths { iterations, .. } => *iterations,
        })
    }

    /// Name of the method.
    #[getter]
    fn method(&self) -> &'static str {
        self.described().method
    }

    /// The problem it works on.
    #[getter]
    fn problem(&self, py: Python<'_>) -> Py<Problem> {
        self.described().problem.clone_ref(py)
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(match &*self.engine()? {
            Engine::OverPaths(core) => format!("{core:?}"),
            Engine::OverAllPaths { iterations, .. } => {
                let Described { problem, method } = &*self.described();
                let core = problem.get().at_first();
                let (flows, links) = (counted(core.flows(), "flow"), counted(core.links(), "link"));
                format!("Solver({method}, {flows} over all paths, {links}, iteration {iterations})")
            }
        })
    }

    /// As of `Problem`.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Taken only for moments in which no Python code runs.
        self.described.try_lock().map_or(Ok(()), |described| visit.call(&described.problem))
    }
}
