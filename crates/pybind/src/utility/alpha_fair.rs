//! `AlphaFair`.

use std::sync::Arc;

use netnum_core::AlphaFair as Core;
use netnum_core::internal::Spec;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Utility;
use super::class::{Class, column, raise_weight, with_base};
use crate::error::raise;
use crate::{hints, numbers};

/// Alpha-fair utilities: w^α x^(1-α)/(1-α) by ``weight=w``, or the textbook's s x^(1-α)/(1-α) by ``scale=s``; s = w^α.
///
/// For α = 1 both are w log x. To take a formula from Mo and Walrand's paper or a textbook, where the factor stands
/// alone, give it as `scale`; the same as ``weight=scale**(1/alpha)``.
///
/// α → 0 maximizes throughput (that limit is `Linear`), α = 1 is proportional fairness, α = 2 minimizes potential
/// delay, α = inf is weighted max-min fairness. On one link rates are proportional to the weights for every α that all
/// share.
///
/// Flows with different α have the same marginal utility, 1, at the rate x = w, in the unit of the capacities. With
/// weights of 1 and capacities in bit/s that is 1 bit/s, and flows of small α get nearly everything; then give weights
/// near the expected rates, or capacities in Gbit/s.
///
/// Parameters
/// ----------
/// alpha : float or array of float, shape (flows,)
///     The exponent, > 0. Finite and infinite ones are not mixed in one object. 1 unless given.
/// weight : float or array of float, shape (flows,)
///     > 0 and finite. On one link rates are proportional to it. 1 unless given.
/// scale : float or array of float, shape (flows,), optional
///     > 0 and finite, in place of `weight`. For finite alpha; max-min has weights only, and alpha = 0 is `Linear`,
///     whose weight is a scale.
///
/// Raises
/// ------
/// UtilityError
///     Naming the flow whose alpha, weight or scale is out of range, or whose ``scale**(1/alpha)`` no float holds.
/// TypeError
///     When both a weight and a scale are given.
/// ProblemError
///     When the two arrays differ in length.
///
/// Notes
/// -----
/// Source: Mo, Walrand, *Fair end-to-end window-based congestion control*, ToN 2000; in this form Nagaraj et al.,
/// *NUMFabric*, SIGCOMM 2016, §2.
///
/// Examples
/// --------
/// >>> fair = netnum.AlphaFair(2.0, weight=[1.0, 2.0])
/// >>> fair.demand([0.25, 0.25])
/// array([2., 4.])
/// >>> netnum.solve(netnum.Problem([9.0], [[0], [0]], fair)).rates.round(3)
/// array([3., 6.])
#[pyclass(frozen, eq, extends = Utility, module = "netnum")]
#[derive(PartialEq)]
pub(crate) struct AlphaFair(pub(super) Arc<Core>);

pub(super) const CLASS: Class = Class {
    kinds: &["alpha_fair", "max_min"],
    add: |module| module.add_class::<AlphaFair>(),
    of_specs: |py, specs| {
        let alpha = column(specs, Spec::exponent);
        let core = match specs[0].get("scale") {
            Some(_) => Core::with_scale(alpha, column(specs, |spec| spec.get("scale"))),
            None => Core::new(alpha, column(specs, |spec| spec.get("weight"))),
        };
        Ok(Py::new(py, with_base(core.map_err(raise)?, AlphaFair))?.into_any())
    },
};

#[pymethods]
impl AlphaFair {
    #[new]
    #[pyo3(signature = (alpha=None, weight=None, *, scale=None, **unknown))]
    #[pyo3(text_signature = "(alpha=1.0, weight=None, *, scale=None)")]
    fn new(
        alpha: Option<&Bound<'_, PyAny>>,
        weight: Option<&Bound<'_, PyAny>>,
        scale: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        hints::refuse("AlphaFair", unknown)?;
        let alpha = alpha.map_or(Ok(1.0.into()), |alpha| numbers::parameter("alpha", alpha))?;
        if let Some(scale) = scale {
            if weight.is_some() {
                return Err(PyTypeError::new_err(
                    "weight and scale were both given, expected one: scale = weight**alpha",
                ));
            }
            let scale = numbers::parameter("scale", scale)?;
            return Ok(with_base(Core::with_scale(alpha, scale).map_err(raise)?, Self));
        }
        let weight = weight.map_or(Ok(1.0.into()), |weight| numbers::parameter("weight", weight))?;
        Ok(with_base(Core::new(alpha, weight).map_err(raise_weight)?, Self))
    }

    /// The exponent α: a float, or an array of float of shape (flows,).
    #[getter]
    fn alpha<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        numbers::parameter_out(py, self.0.alpha())
    }

    /// The weight w: a float, or an array of float of shape (flows,). ``scale**(1/alpha)`` where that was given.
    #[getter]
    fn weight<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        numbers::parameter_out(py, self.0.weight())
    }

    /// The scale s, where that was given: a float, or an array of float of shape (flows,). Else None.
    #[getter]
    fn scale<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.0.scale().map(|scale| numbers::parameter_out(py, scale))
    }

    #[expect(clippy::type_complexity, reason = "positional and keyword arguments, for pickle")]
    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((Bound<'py, PyAny>, Option<Bound<'py, PyAny>>), Bound<'py, PyDict>)> {
        let others = PyDict::new(py);
        let Some(scale) = self.scale(py) else { return Ok(((self.alpha(py), Some(self.weight(py))), others)) };
        others.set_item("scale", scale)?;
        Ok(((self.alpha(py), None), others))
    }

    fn __repr__(&self) -> String {
        let (name, factor) = self.0.scale().map_or(("weight", self.0.weight()), |scale| ("scale", scale));
        let [alpha, factor] = [self.0.alpha(), factor].map(numbers::parameter_repr);
        format!("AlphaFair(alpha={alpha}, {name}={factor})")
    }
}
