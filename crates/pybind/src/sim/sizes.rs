//! `Sizes`.

use netnum_sim::Sizes as Core;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::error::{ProblemError, raise};
use crate::{hints, numbers};

/// A distribution of flow sizes.
///
/// The cumulative distribution is a straight line in bytes between two points, and the first point's fraction of the
/// flows has exactly that many bytes. The mean is that of this distribution. Ready-made ones are in `netnum.sim.sizes`.
///
/// Parameters
/// ----------
/// points : array of float, shape (points, 2)
///     Bytes, and the fraction of flows that are no larger. Neither may decrease; the last fraction is 1.
/// name : str
///     Its name in reprs.
///
/// Raises
/// ------
/// ProblemError
///     Naming the point that is wrong.
///
/// Examples
/// --------
/// >>> sizes = netnum.sim.Sizes([(1000, 0.5), (3000, 1.0)])
/// >>> sizes.mean, sizes.quantile(0.75)
/// (1500.0, 2000.0)
#[pyclass(frozen, eq, module = "netnum.sim")]
#[derive(PartialEq)]
pub(crate) struct Sizes {
    pub(super) core: Core,
}

#[pymethods]
impl Sizes {
    #[new]
    #[pyo3(signature = (points=None, name="points", **unknown))]
    #[pyo3(text_signature = "(points, name=\"points\")")]
    fn new(
        py: Python<'_>,
        points: Option<&Bound<'_, PyAny>>,
        name: &str,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        hints::refuse("Sizes", unknown)?;
        let points = hints::needed(py, "Sizes", "points", points)?;
        let (values, shape) = numbers::floats_of_any_shape("points", points)?;
        if shape.len() != 2 || shape[1] != 2 {
            let message = format!("points has shape {shape:?}, expected two columns: bytes and fraction");
            return Err(ProblemError::new_err(message));
        }
        let points = values.as_chunks::<2>().0.iter().map(|&[bytes, fraction]| (bytes, fraction)).collect();
        Ok(Self { core: Core::new(name, points).map_err(raise)? })
    }

    /// A measured distribution by its name: an attribute of `netnum.sim.sizes`.
    #[staticmethod]
    fn named(name: &str) -> PyResult<Self> {
        Ok(Self { core: Core::named(name).map_err(raise)? })
    }

    /// All flows of one size, in bytes.
    #[staticmethod]
    #[pyo3(name = "fixed")]
    fn all_of(bytes: f64) -> PyResult<Self> {
        Ok(Self { core: Core::fixed(bytes).map_err(raise)? })
    }

    /// Exponential sizes of a mean, in bytes.
    #[staticmethod]
    fn exponential(mean: f64) -> PyResult<Self> {
        Ok(Self { core: Core::exponential(mean).map_err(raise)? })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.core.name()
    }

    /// Bytes, and the fraction of flows that are no larger: array of float, shape (points, 2). Empty for exponential
    /// sizes, which have none.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let points = self.core.points();
        let values = points.iter().flat_map(|&(bytes, fraction)| [bytes, fraction]).collect();
        PyArray1::from_vec(py, values).reshape([points.len(), 2])
    }

    /// The mean, in bytes.
    #[getter]
    fn mean(&self) -> f64 {
        self.core.mean()
    }

    /// The size that this fraction of the flows does not exceed, in bytes.
    fn quantile(&self, fraction: f64) -> f64 {
        self.core.quantile(fraction)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, core) = (slf.py(), &slf.get().core);
        if core.points().is_empty() {
            let arguments = (core.mean(),).into_pyobject(py)?.into_any();
            return Ok((slf.get_type().getattr("exponential")?, arguments));
        }
        let arguments = (slf.get().points(py)?, core.name()).into_pyobject(py)?.into_any();
        Ok((slf.get_type().into_any(), arguments))
    }

    fn __repr__(&self) -> String {
        format!("Sizes({})", self.core)
    }
}

/// Sizes as workloads take them: a `Sizes`, the name of a measured distribution, or one number of bytes for all flows.
pub(super) fn sizes_of(sizes: &Bound<'_, PyAny>) -> PyResult<Core> {
    if let Ok(sizes) = sizes.cast::<Sizes>() {
        return Ok(sizes.get().core.clone());
    }
    if let Ok(name) = sizes.cast::<PyString>() {
        return Core::named(name.to_str()?).map_err(raise);
    }
    match sizes.is_instance_of::<PyBool>() {
        false => sizes.extract().ok(),
        true => None,
    }
    .map_or_else(|| Err(no_sizes(sizes)), |bytes| Core::fixed(bytes).map_err(raise))
}

fn no_sizes(given: &Bound<'_, PyAny>) -> PyErr {
    let expected = "a Sizes, as netnum.sim.sizes has, a name such as 'web_search', or a number of bytes";
    match given.get_type().name() {
        Ok(kind) => PyTypeError::new_err(format!("sizes must be {expected}, not {kind}")),
        Err(error) => error,
    }
}
