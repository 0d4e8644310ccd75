//! `Linear`.

use std::sync::Arc;

use netnum_core::Linear as Core;
use pyo3::prelude::*;

use super::{Utility, raise_weight, with_base};
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
#[pyclass(frozen, eq, extends = Utility, module = "netnum")]
#[derive(PartialEq)]
pub(crate) struct Linear {
    core: Arc<Core>,
}

impl Linear {
    pub(super) fn wrap(core: Core) -> PyClassInitializer<Self> {
        let core = Arc::new(core);
        with_base(core.clone(), Self { core })
    }
}

#[pymethods]
impl Linear {
    #[new]
    fn new(weight: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        Ok(Self::wrap(Core::new(numbers::parameter("weight", weight)?).map_err(raise_weight)?))
    }

    /// The weight w: a float, or an array of float of shape (flows,).
    #[getter]
    fn weight<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        numbers::parameter_out(py, self.core.weight())
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>,) {
        (self.weight(py),)
    }

    fn __repr__(&self) -> String {
        format!("Linear(weight={})", numbers::parameter_repr(self.core.weight()))
    }
}
