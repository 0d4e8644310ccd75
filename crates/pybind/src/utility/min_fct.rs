//! `MinFct`.

use std::sync::Arc;

use netnum_core::MinFct as Core;
use pyo3::prelude::*;

use super::Utility;
use super::class::{Class, column, with_base};
use crate::error::raise;
use crate::numbers;

/// Short completion times: x^(1-ε)/s, so that the flow with the smallest s is served almost exclusively.
///
/// With s the flow's size this approximates shortest job first, with its remaining size SRPT, with its deadline
/// earliest deadline first. On one link rates are proportional to s^(-1/ε): a factor of 2 in size is a factor of 256 in
/// rate.
///
/// Parameters
/// ----------
/// size : float or array of float, shape (flows,)
///     > 0 and finite, in any unit.
/// epsilon : float or array of float, shape (flows,)
///     Between 0 and 1, both excluded.
///
/// Raises
/// ------
/// UtilityError
///     Naming the flow whose size or epsilon is out of range.
/// ProblemError
///     When the two arrays differ in length.
///
/// Notes
/// -----
/// Source: Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2, with ε = 0.125.
///
/// Examples
/// --------
/// The smaller of two flows gets 256 times the rate of the other, of twice its size:
///
/// >>> problem = netnum.Problem([257.0], [[0], [0]], netnum.MinFct([1.0, 2.0]))
/// >>> netnum.solve(problem, stop="kkt").rates.round(2)
/// array([256.,   1.])
#[pyclass(frozen, eq, extends = Utility, module = "netnum")]
#[derive(PartialEq)]
pub(crate) struct MinFct(Arc<Core>);

pub(super) const CLASS: Class = Class {
    kinds: &["fct"],
    add: |module| module.add_class::<MinFct>(),
    of_specs: |py, specs| {
        let core =
            Core::new(column(specs, |spec| spec.get("size")), column(specs, |spec| spec.get("eps"))).map_err(raise)?;
        Ok(Py::new(py, with_base(core, MinFct))?.into_any())
    },
};

#[pymethods]
impl MinFct {
    #[new]
    #[pyo3(signature = (size, epsilon=None))]
    #[pyo3(text_signature = "(size, epsilon=0.125)")]
    fn new(size: &Bound<'_, PyAny>, epsilon: Option<&Bound<'_, PyAny>>) -> PyResult<PyClassInitializer<Self>> {
        let size = numbers::parameter("size", size)?;
        let epsilon = epsilon.map_or(Ok(Core::EPSILON.into()), |epsilon| numbers::parameter("epsilon", epsilon))?;
        Ok(with_base(Core::new(size, epsilon).map_err(raise)?, Self))
    }

    /// The size s: a float, or an array of float of shape (flows,).
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        numbers::parameter_out(py, self.0.size())
    }

    /// The exponent ε: a float, or an array of float of shape (flows,).
    #[getter]
    fn epsilon<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        numbers::parameter_out(py, self.0.epsilon())
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
        (self.size(py), self.epsilon(py))
    }

    fn __repr__(&self) -> String {
        let [size, epsilon] = [self.0.size(), self.0.epsilon()].map(numbers::parameter_repr);
        format!("MinFct(size={size}, epsilon={epsilon})")
    }
}
