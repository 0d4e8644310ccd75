//! `max_min`.

use numpy::PyArray1;
use pyo3::prelude::*;

use crate::door;
use crate::problem::Problem;

/// The max-min fair rates: nobody's fair share can be raised without lowering one that is not larger.
///
/// The fair share of a flow is its rate per weight for `AlphaFair`, and the f of B(f) for `BandwidthFunction`, whatever
/// their alpha; this is where the optimum goes as alpha grows. Exact to rounding, by water-filling; with several paths per
/// flow by a dual simplex method that follows the fair share as it rises, and a check of every flow's bottleneck.
///
/// Parameters
/// ----------
/// problem : Problem
///
/// Returns
/// -------
/// array of float, shape (paths,)
///     Rate of every path, in the units of the capacities. Paths over a failed link get 0, as do those that are capped
///     at 0 or whose flow is.
///
/// Raises
/// ------
/// MethodError
///     When a utility has no fair share (`Linear`, `MinFct`, one of your own), or when rounding has kept rates
///     over several paths from being proven to 1e-5 (`solve` then returns the best there is, with its gap).
///
/// Notes
/// -----
/// Sources: Bertsekas, Gallager, *Data Networks*, 1992, §6.5.2; for bandwidth functions Kumar et al., *BwE*, SIGCOMM
/// 2015.
#[pyfunction]
pub(crate) fn max_min<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let rates = door::detached(py, || netnum_core::max_min(&problem.core))?;
    Ok(PyArray1::from_vec(py, rates))
}
