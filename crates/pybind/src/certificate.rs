//! `Certificate` and `certify`.

use pyo3::prelude::*;

use crate::detach::EnterRust;
use crate::numbers;
use crate::problem::{OF_A_SOLUTION, Problem};

/// The proof that comes with rates and prices.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([1.0], [[0], [0]], netnum.AlphaFair(1.0))
/// >>> proof = netnum.certify(problem, rates=[0.75, 0.75], prices=[2.0])
/// >>> round(proof.overload, 6), proof.relative_gap < 1e-9
/// (0.5, True)
#[pyclass(frozen, eq, get_all, module = "netnum")]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Certificate {
    /// Bound on the utility that is still missing after the rates were made feasible by F-NORM, relative to the
    /// first-order gain of raising every rate by 100 %, where caps and saturations let it; a flow that these hold is
    /// judged by itself where its utility is larger than all that. By weak duality never below the true loss (to
    /// rounding). For max-min problems the largest distance of a flow from having a bottleneck, relative to its
    /// rate.
    relative_gap: f64,
    /// How far the rates were over a capacity or a cap, or below a floor, at most, before they were made feasible,
    /// relative to it; 0 if nowhere.
    overload: f64,
    /// Largest violation of the optimality conditions, relative to each flow's rate: at a residual r the rates are
    /// the optimum of a problem in which every flow's best response is changed by at most r, and every priced link's
    /// capacity by at most r times the smallest rate beside it. Rates below 1e-9 of what their path could carry count
    /// as that, and where U' is nearly flat (alpha < 0.1) it is r/10 of the price. A small gap makes only the sum of
    /// utilities right.
    kkt_residual: f64,
}

impl From<netnum_core::Certificate> for Certificate {
    fn from(core: netnum_core::Certificate) -> Self {
        let netnum_core::Certificate { relative_gap, overload, kkt_residual, .. } = core;
        Self { relative_gap, overload, kkt_residual }
    }
}

impl From<Certificate> for netnum_core::Certificate {
    fn from(certificate: Certificate) -> Self {
        let Certificate { relative_gap, overload, kkt_residual } = certificate;
        Self::new(relative_gap, overload, kkt_residual)
    }
}

#[pymethods]
impl Certificate {
    #[new]
    fn new(relative_gap: f64, overload: f64, kkt_residual: f64) -> Self {
        Self { relative_gap, overload, kkt_residual }
    }

    fn __getnewargs__(&self) -> (f64, f64, f64) {
        (self.relative_gap, self.overload, self.kkt_residual)
    }

    fn __repr__(&self) -> String {
        let Self { relative_gap, overload, kkt_residual } = self;
        format!(
            "Certificate(relative_gap={relative_gap:.1e}, overload={overload:.1e}, kkt_residual={kkt_residual:.1e})"
        )
    }
}

/// Certify rates and prices, wherever they come from.
///
/// The rates are first cut to the caps of paths and flows and made feasible by F-NORM; `Certificate.overload` is
/// their excess before that. Flows that nothing can pass (capped at 0, or every path is or crosses a failed link) do
/// not count.
///
/// A max-min problem (any alpha is inf) is held to the bottleneck property instead of a bound: every flow must be at
/// its cap or saturation, or cross a full link on which no flow has a larger fair share. The prices are then ignored.
///
/// Parameters
/// ----------
/// problem : Problem
/// rates : array of float, shape (paths,)
///     Rate of every path, in the units of the capacities.
/// prices : array of float, shape (links,)
///     Price of every link, in units of utility per unit of rate. Any prices >= 0 give a valid bound; those of the
///     optimum give a tight one.
///
/// Returns
/// -------
/// Certificate
///
/// Raises
/// ------
/// ProblemError
///     For wrong lengths, or a rate or price that is negative or not finite.
/// MethodError
///     For max-min problems with utilities that have no fair share.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([1.0], [[0], [0]], netnum.AlphaFair(1.0))
/// >>> netnum.certify(problem, rates=[0.5, 0.5], prices=[2.0]).relative_gap < 1e-12
/// True
/// >>> netnum.certify(problem, rates=[0.9, 0.1], prices=[2.0]).relative_gap > 0.1
/// True
#[pyfunction]
pub(crate) fn certify(
    py: Python<'_>,
    problem: &Problem,
    rates: &Bound<'_, PyAny>,
    prices: &Bound<'_, PyAny>,
) -> PyResult<Certificate> {
    let (rates, prices) = (numbers::floats("rates", rates)?, numbers::floats("prices", prices)?);
    let core = problem.over_paths(OF_A_SOLUTION)?;
    py.enter_rust(|| netnum_core::certify(core, &rates, &prices)).map(Into::into)
}
