//! `Linear`.

use std::sync::Arc;

use netnum_core::Linear as Core;
use pyo3::prelude::*;

use super::Utility;
use super::class::{Class, column, raise_weight, with_base};
use crate::error::raise;
use crate::numbers;

/// Throughput: w x, the limit α → 0 of alpha-fairness and a linear program.
///
/// Parameters
/// ----------
/// weight : float or array of float, shape (flows,)
///     > 0 and finite.
///
/// Raises
/// ------
/// UtilityError
///     Naming the flow whose weight is out of range.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], netnum.Linear([1.0, 1.0, 1.0]))
/// >>> netnum.solve(problem).rates.round(4)
/// array([0., 1., 1.])
#[pyclass(frozen, eq, extends = Utility, module = "netnum")]
#[derive(PartialEq)]
pub(crate) struct Linear(Arc<Core>);

pub(super) const CLASS: Class = Class {
    kinds: &["linear"],
    add: |module| module.add_class::<Linear>(),
    of_specs: |py, specs| {
        let core = Core::new(column(specs, |spec| spec.get("weight"))).map_err(raise)?;
        Ok(Py::new(py, with_base(core, Linear))?.into_any())
    },
};

#[pymethods]
impl Linear {
    #[new]
    fn new(weight: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        Ok(with_base(Core::new(numbers::parameter("weight", weight)?).map_err(raise_weight)?, Self))
    }

    /// The weight w: a float, or an array of float of shape (flows,).
    #[getter]
    fn weight<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        numbers::parameter_out(py, self.0.weight())
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>,) {
        (self.weight(py),)
    }

    fn __repr__(&self) -> String {
        format!("Linear(weight={})", numbers::parameter_repr(self.0.weight()))
    }
}
