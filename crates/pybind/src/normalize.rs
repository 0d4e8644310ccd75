//! `u_norm`, `f_norm` and `fill`.

use netnum_core::{FNorm, Fill, Normalizer, UNorm};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::detach::EnterRust;
use crate::numbers;
use crate::problem::{OF_A_SOLUTION, Problem};

fn normalized<'py>(
    problem: &Problem,
    rates: &Bound<'py, PyAny>,
    normalizer: impl Normalizer + Sync,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let py = rates.py();
    let rates = numbers::floats("rates", rates)?;
    let core = problem.over_paths(OF_A_SOLUTION)?;
    let feasible = py.enter_rust(|| netnum_core::normalize(core, &rates, &normalizer))?;
    Ok(PyArray1::from_vec(py, feasible))
}

/// Make rates feasible by one factor for all of them: U-NORM.
///
/// Every rate is divided by the largest load per capacity of the network. Rates are cut to the caps of
/// paths and flows first, those of a flow in proportion.
///
/// Parameters
/// ----------
/// problem : Problem
/// rates : array of float, shape (paths,)
/// raise_rates : bool
///     Whether rates may also be raised, until the fullest link is full (the paper's formula). By default a network
///     without an overloaded link is left as it is.
///
/// Returns
/// -------
/// array of float, shape (paths,)
///
/// Raises
/// ------
/// ProblemError
///     For a wrong length, or a rate that is negative or not finite.
///
/// Notes
/// -----
/// Source: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017, §3.
///
/// Examples
/// --------
/// Link 0 is twice over its capacity, and all rates are halved:
///
/// >>> problem = netnum.Problem([1.0, 2.0], [[0], [0, 1], [1]], netnum.AlphaFair(1.0))
/// >>> netnum.u_norm(problem, [1.0, 1.0, 0.8])
/// array([0.5, 0.5, 0.4])
#[pyfunction]
#[pyo3(signature = (problem, rates, raise_rates=false))]
pub(crate) fn u_norm<'py>(
    problem: &Problem,
    rates: &Bound<'py, PyAny>,
    raise_rates: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    normalized(problem, rates, UNorm { raise_rates })
}

/// Make rates feasible by a factor for every path: F-NORM.
///
/// Every rate is divided by the largest load per capacity on its path. Rates are cut to the caps of
/// paths and flows first, those of a flow in proportion.
///
/// Parameters
/// ----------
/// problem : Problem
/// rates : array of float, shape (paths,)
/// raise_rates : bool
///     Whether rates may also be raised, until the fullest link of their path is full (the paper's formula). By default
///     a path without an overloaded link is left as it is.
///
/// Returns
/// -------
/// array of float, shape (paths,)
///
/// Raises
/// ------
/// ProblemError
///     For a wrong length, or a rate that is negative or not finite.
///
/// Notes
/// -----
/// Source: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017, §3.
///
/// Examples
/// --------
/// Link 0 is twice over its capacity, and the third flow does not cross it:
///
/// >>> problem = netnum.Problem([1.0, 2.0], [[0], [0, 1], [1]], netnum.AlphaFair(1.0))
/// >>> netnum.f_norm(problem, [1.0, 1.0, 0.8])
/// array([0.5, 0.5, 0.8])
#[pyfunction]
#[pyo3(signature = (problem, rates, raise_rates=false))]
pub(crate) fn f_norm<'py>(
    problem: &Problem,
    rates: &Bound<'py, PyAny>,
    raise_rates: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    normalized(problem, rates, FNorm { raise_rates })
}

/// Make rates feasible without wasting any capacity: FILL.
///
/// The result is the weighted max-min of the network with the given rates as weights: where flows compete they keep
/// their proportions, and every path with a rate above 0 ends at its cap, at its flow's, or at a full link. Rates are
/// raised as well as lowered; those that are 0 stay 0.
///
/// Parameters
/// ----------
/// problem : Problem
/// rates : array of float, shape (paths,)
///
/// Returns
/// -------
/// array of float, shape (paths,)
///
/// Raises
/// ------
/// ProblemError
///     For a wrong length, or a rate that is negative or not finite.
///
/// Examples
/// --------
/// Link 0 is shared in proportion to the rates, and the third flow gets what is left of link 1:
///
/// >>> problem = netnum.Problem([1.0, 2.0], [[0], [0, 1], [1]], netnum.AlphaFair(1.0))
/// >>> netnum.fill(problem, [1.0, 1.0, 0.8]).round(6)
/// array([0.5, 0.5, 1.5])
#[pyfunction]
pub(crate) fn fill<'py>(problem: &Problem, rates: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
    normalized(problem, rates, Fill)
}
