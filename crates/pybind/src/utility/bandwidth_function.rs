//! `BandwidthFunction`.

use std::sync::Arc;

use netnum_core::internal::Spec;
use netnum_core::{BandwidthFunction as Core, Utility as _};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Utility;
use super::class::{Class, with_base};
use crate::error::raise;
use crate::{hints, numbers};

/// A piecewise linear curve B(f): the rate of a flow at the fair share f.
///
/// U(x) = ∫ F^(-α) with F the inverse of B, so that all flows of one bottleneck see the same fair share. A large α
/// makes the sum over several links approach the max-min over fair shares that operators draw the curves for. One
/// object is one curve for all flows; for different ones pass a sequence of utilities.
///
/// Parameters
/// ----------
/// fair_share : array of float, shape (points,)
///     Increasing, >= 0; at least two points.
/// bandwidth : array of float, shape (points,)
///     The rate at every fair share: from 0, never decreasing, in the units of the capacities.
/// alpha : float
///     > 0; inf is max-min fairness over fair shares.
/// tail_slope : float
///     The slope of the curve after its last point, >= 0; with 0 the flow is saturated there.
///
/// Raises
/// ------
/// UtilityError
///     Naming the point that is wrong.
/// ProblemError
///     When the two arrays differ in length.
///
/// Notes
/// -----
/// Sources: Kumar et al., *BwE*, SIGCOMM 2015, for the curves; Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2, for the
/// utility, with α ≈ 5.
///
/// Examples
/// --------
/// The first flow takes up to 10 alone, and above that the second gets twice of what the first gets:
///
/// >>> first = netnum.BandwidthFunction([0.0, 2.0, 2.5], [0.0, 10.0, 15.0], alpha=np.inf)
/// >>> second = netnum.BandwidthFunction([0.0, 2.0, 2.5], [0.0, 0.0, 10.0], alpha=np.inf)
/// >>> netnum.solve(netnum.Problem([16.0], [[0], [0]], [first, second])).rates.round(6)
/// array([12.,  4.])
#[pyclass(frozen, eq, extends = Utility, module = "netnum")]
#[derive(PartialEq)]
pub(crate) struct BandwidthFunction(Arc<Core>);

pub(super) const CLASS: Class = Class {
    kinds: &["bandwidth_function", "max_min_bandwidth_function"],
    add: |module| module.add_class::<BandwidthFunction>(),
    of_specs: |py, specs| {
        let (spec, points) = (&specs[0], specs[0].breakpoints().into_iter().flatten());
        let (fair_shares, bandwidths): (Vec<f64>, Vec<f64>) = points.map(|point| (point[0], point[1])).unzip();
        let (alpha, tail_slope) = (spec.exponent().unwrap_or_default(), spec.get("tail_slope").unwrap_or_default());
        let core = Core::new(&fair_shares, &bandwidths, alpha, tail_slope).map_err(raise)?;
        Ok(Py::new(py, with_base(core, BandwidthFunction))?.into_any())
    },
};

impl BandwidthFunction {
    fn spec(&self) -> Spec {
        self.0.spec(0).expect("it can be written to a file")
    }

    fn column(&self, column: usize) -> Vec<f64> {
        self.spec().breakpoints().into_iter().flatten().map(|point| point[column]).collect()
    }
}

/// The arguments, for pickle.
type Arguments<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64, f64);

#[pymethods]
impl BandwidthFunction {
    #[new]
    #[pyo3(signature = (fair_share=None, bandwidth=None, alpha=None, tail_slope=None, **unknown))]
    #[pyo3(text_signature = "(fair_share, bandwidth, alpha=5, tail_slope=0)")]
    fn new(
        py: Python<'_>,
        fair_share: Option<&Bound<'_, PyAny>>,
        bandwidth: Option<&Bound<'_, PyAny>>,
        alpha: Option<&Bound<'_, PyAny>>,
        tail_slope: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        hints::refuse("BandwidthFunction", unknown)?;
        let needed = |name, given| hints::needed(py, "BandwidthFunction", name, given);
        let (fair_share, bandwidth) = (needed("fair_share", fair_share)?, needed("bandwidth", bandwidth)?);
        let fair_share = numbers::floats("fair_share", fair_share)?;
        let bandwidth = numbers::floats("bandwidth", bandwidth)?;
        let alpha = alpha.map_or(Ok(Core::ALPHA), |alpha| numbers::float("alpha", alpha))?;
        let tail_slope = tail_slope.map_or(Ok(0.0), |slope| numbers::float("tail_slope", slope))?;
        Ok(with_base(Core::new(&fair_share, &bandwidth, alpha, tail_slope).map_err(raise)?, Self))
    }

    /// The fair share of every point: array of float, shape (points,).
    #[getter]
    fn fair_share<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.column(0))
    }

    /// The rate at every point: array of float, shape (points,).
    #[getter]
    fn bandwidth<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.column(1))
    }

    /// The exponent α; inf is max-min fairness.
    #[getter]
    fn alpha(&self) -> f64 {
        self.0.exponent(0)
    }

    /// The slope of the curve after its last point.
    #[getter]
    fn tail_slope(&self) -> f64 {
        self.spec().get("tail_slope").unwrap_or(0.0)
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> Arguments<'py> {
        (self.fair_share(py), self.bandwidth(py), self.alpha(), self.tail_slope())
    }

    fn __repr__(&self) -> String {
        let (points, alpha, tail_slope) = (self.column(0).len(), self.alpha(), self.tail_slope());
        format!("BandwidthFunction({points} points, alpha={alpha:?}, tail_slope={tail_slope:?})")
    }
}
