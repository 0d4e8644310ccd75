//! Rates at which the bytes of flows are produced.

use netnum_sim::Production;
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::detach::EnterRust;
use crate::numbers::{self, count};
use crate::topology::seed_of;

/// Random rates of production, whose logarithms are normal.
///
/// Parameters
/// ----------
/// flows : int
/// median : float
///     In bit/s, > 0.
/// sigma : float
///     The standard deviation of the logarithm, >= 0.
/// bounds : (float, float)
///     The lowest and the highest; others are drawn again.
/// seed : int
///
/// Returns
/// -------
/// array of float, shape (flows,)
///
/// Examples
/// --------
/// >>> rates = netnum.sim.log_normal(1000, median=1e9, sigma=0.5, bounds=(1e8, 1e10), seed=1)
/// >>> rates.shape, bool(rates.min() >= 1e8 and rates.max() <= 1e10)
/// ((1000,), True)
#[pyfunction]
#[pyo3(signature = (flows, median, sigma, *, bounds=None, seed=None))]
#[pyo3(text_signature = "(flows, median, sigma, *, bounds=(0, 1e999), seed=0)")]
pub(crate) fn log_normal<'py>(
    py: Python<'py>,
    flows: &Bound<'py, PyAny>,
    median: f64,
    sigma: f64,
    bounds: Option<&Bound<'py, PyAny>>,
    seed: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let flows = count("flows", flows, 0)?;
    let bounds = bounds.map_or(Ok((0.0, f64::INFINITY)), |bounds| match bounds.extract::<(f64, f64)>() {
        Ok(bounds) => Ok(bounds),
        Err(_) => {
            Err(PyTypeError::new_err(format!("bounds must be two numbers (lowest, highest), not {}", bounds.repr()?)))
        }
    })?;
    let seed = seed_of(seed)?;
    let draw = || Production::log_normal(flows, median, sigma, bounds, f64::INFINITY, seed);
    Ok(numbers::read_only(py, py.enter_rust(draw)?.rates().to_vec()))
}
