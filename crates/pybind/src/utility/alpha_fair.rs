//! `AlphaFair`.

use std::sync::Arc;

use netnum_core::AlphaFair as Core;
use pyo3::prelude::*;

use super::{Utility, with_base};
use crate::error::raise;
use crate::numbers;

/// Alpha-fair utilities: w^α x^(1-α)/(1-α), and w log x for α = 1.
///
/// α → 0 maximizes throughput (that limit is `Linear`), α = 1 is proportional fairness, α = 2 minimizes potential delay,
/// α = inf is weighted max-min fairness. On one link rates are proportional to the weights for every α that all share.
///
/// Where flows have different α, weights say at which rate they are worth the same: x = w, in the unit of the capacities.
/// With weights of 1 and capacities in bit/s that is 1 bit/s, and flows of small α take nearly everything; then give
/// weights near the rates that you expect, or capacities in Gbit/s.
///
/// Parameters
/// ----------
/// alpha : float or array of float, shape (flows,)
///     The exponent, > 0. Finite and infinite ones are not mixed in one object.
/// weight : float or array of float, shape (flows,)
///     > 0 and finite.
///
/// Raises
/// ------
/// UtilityError
///     Naming the flow whose alpha or weight is out of range.
/// ProblemError
///     When the two arrays differ in length.
///
/// Notes
/// -----
/// Source: Mo, Walrand, *Fair end-to-end window-based congestion control*, ToN 2000; in this form Nagaraj et al.,
/// *NUMFabric*, SIGCOMM 2016, §2.
#[pyclass(frozen, eq, extends = Utility, module = "netnum")]
#[derive(PartialEq)]
pub(crate) struct AlphaFair {
    core: Arc<Core>,
}

impl AlphaFair {
    pub(super) fn wrap(core: Core) -> PyClassInitializer<Self> {
        let core = Arc::new(core);
        with_base(core.clone(), Self { core })
    }
}

#[pymethods]
impl AlphaFair {
    #[new]
    #[pyo3(signature = (alpha, weight=None))]
    #[pyo3(text_signature = "(alpha, weight=1)")]
    fn new(alpha: &Bound<'_, PyAny>, weight: Option<&Bound<'_, PyAny>>) -> PyResult<PyClassInitializer<Self>> {
        let alpha = numbers::parameter("alpha", alpha)?;
        let weight = weight.map_or(Ok(1.0.into()), |weight| numbers::parameter("weight", weight))?;
        Ok(Self::wrap(Core::new(alpha, weight).map_err(raise)?))
    }

    /// The exponent α: a float, or an array of float of shape (flows,).
    #[getter]
    fn alpha<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        numbers::parameter_out(py, self.core.alpha())
    }

    /// The weight w: a float, or an array of float of shape (flows,).
    #[getter]
    fn weight<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        numbers::parameter_out(py, self.core.weight())
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
        (self.alpha(py), self.weight(py))
    }

    fn __repr__(&self) -> String {
        let [alpha, weight] = [self.core.alpha(), self.core.weight()].map(numbers::parameter_repr);
        format!("AlphaFair(alpha={alpha}, weight={weight})")
    }
}
