//! `Solver`.

use std::sync::{Mutex, MutexGuard};

use netnum_core::Solver as Core;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};

use super::{options_of, prices_of, threads_of};
use crate::certificate::Certificate;
use crate::door;
use crate::numbers;
use crate::problem::Problem;

/// The iteration itself: a method at work on a problem, one step at a time.
///
/// Parameters
/// ----------
/// problem : Problem
/// method : str
///     ``"auto"``, or one that `methods` lists.
/// warm_start : Solution, or array of float of shape (links,), optional
///     Prices to start from, as in `solve`.
/// threads : int
///     How many threads price methods may use, as in `solve`.
/// **options : float
///     The method's own options, ``gamma`` say.
///
/// Raises
/// ------
/// MethodError
///     For a method or an option that does not exist, or a problem that the method cannot take.
/// NumError
///     For an option or a number of threads out of its range.
/// UtilityError
///     When a utility's answers cannot be used.
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
    core: Mutex<Core>,
    problem: Py<Problem>,
    method: &'static str,
}

impl Solver {
    /// The solver, unless it is at work: in another thread, or around a utility that looks at it.
    fn core(&self) -> PyResult<MutexGuard<'_, Core>> {
        door::at_rest(&self.core, "solver")
    }
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (problem, method="auto", *, warm_start=None, threads=None, **options))]
    #[pyo3(text_signature = "(problem, method=\"auto\", *, warm_start=None, threads=1, **options)")]
    fn new(
        problem: &Bound<'_, Problem>,
        method: &str,
        warm_start: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = options_of(options)?;
        let threads = threads_of(threads)?;
        let prices = warm_start.map(prices_of).transpose()?;
        let core_problem = &problem.get().core;
        let core = door::detached(problem.py(), || {
            let mut solver = netnum_parallel::solver(core_problem, method, &options, threads)?;
            if let Some(prices) = &prices {
                solver.warm_start(prices)?;
            }
            Ok(solver)
        })?;
        Ok(Self { method: core.method(), core: Mutex::new(core), problem: problem.clone().unbind() })
    }

    /// Do n iterations, without certifying. Ctrl-C stops between two of them.
    ///
    /// Parameters
    /// ----------
    /// n : int
    #[pyo3(signature = (n=None))]
    #[pyo3(text_signature = "($self, n=1)")]
    fn step(&self, py: Python<'_>, n: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let iterations = n.map_or(Ok(1), |n| numbers::count("n", n, 0))?;
        let mut guard = self.core()?;
        let core = &mut *guard;
        door::repeated(py, iterations, || core.step(1))
    }

    /// How good the rates and prices are where it stands: `Certificate`. Costs about one step.
    ///
    /// Raises
    /// ------
    /// MethodError
    ///     For a max-min problem that cannot be certified.
    fn certificate(&self, py: Python<'_>) -> PyResult<Certificate> {
        let mut guard = self.core()?;
        let core = &mut *guard;
        door::detached(py, move || core.certificate()).map(Into::into)
    }

    /// What every path asks for at these prices, not normalized: links may be overloaded. Array of float, shape (paths,).
    #[getter]
    fn raw_rates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.core()?.raw_rates()))
    }

    /// The same made feasible by F-NORM: array of float, shape (paths,).
    #[getter]
    fn rates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.core()?.rates()))
    }

    /// Price of every link: array of float, shape (links,).
    #[getter]
    fn prices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.core()?.prices()))
    }

    /// Iterations done.
    #[getter]
    fn iteration(&self) -> PyResult<usize> {
        Ok(self.core()?.iteration())
    }

    /// Name of the method.
    #[getter]
    fn method(&self) -> &'static str {
        self.method
    }

    /// The problem it works on.
    #[getter]
    fn problem(&self, py: Python<'_>) -> Py<Problem> {
        self.problem.clone_ref(py)
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("{:?}", self.core()?))
    }

    /// As of `Problem`.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.problem)
    }
}
