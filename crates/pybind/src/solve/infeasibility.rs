//! `Infeasibility`.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::solution::{of_text, text};
use crate::numbers::{self, counted};

/// Why the floors of a problem do not fit: an inequality that no rates satisfy.
///
/// Over the flows that are named, their floors m, open paths p and the caps r of these,
///
/// .. code-block:: text
///
///     Σ_f v_f m_f > Σ_l c_l p_l + Σ_p r_p (v_f − q_p)₊        q_p = Σ_l a_lp p_l
///
/// Rates that keep the floors would pay the left side at least, and the links and caps are worth no more than the right
/// side. Without any one of the flows it no longer holds at these prices.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([10.0, 5.0], [[0], [0, 1], [1]], flow_floor=[8.0, 4.0, 0.0])
/// >>> solution = netnum.solve(problem)
/// >>> solution.infeasibility
/// Infeasibility(0.8333 of the floors fit: 2 flows, 1 link)
/// >>> solution.infeasibility.links, solution.infeasibility.flows
/// (array([0]), array([0, 1]))
#[pyclass(frozen, eq, module = "netnum")]
#[derive(PartialEq)]
pub(crate) struct Infeasibility {
    pub(super) core: netnum_core::Infeasibility,
}

#[pymethods]
impl Infeasibility {
    /// The links with a price in it: array of int.
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        numbers::indices(py, &self.core.links)
    }

    /// The flows in it, none of which can be left out at these prices: array of int.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        numbers::indices(py, &self.core.flows)
    }

    /// The price p of every link: array of float, shape (links,).
    #[getter]
    fn prices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.prices.clone())
    }

    /// The price v of every flow, 0 of those that are not in it: array of float, shape (flows,).
    #[getter]
    fn flow_prices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.flow_prices.clone())
    }

    /// The largest part of all floors that fits at once: float below 1.
    #[getter]
    fn fraction(&self) -> f64 {
        self.core.fraction
    }

    /// The rate of every path; they carry that part of every floor: array of float, shape (paths,).
    #[getter]
    fn rates<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.rates.clone())
    }

    fn __repr__(&self) -> String {
        let (flows, links) = (counted(self.core.flows.len(), "flow"), counted(self.core.links.len(), "link"));
        format!("Infeasibility({:.4} of the floors fit: {flows}, {links})", self.core.fraction)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("_restore")?, (text(&slf.get().core)?,)))
    }

    /// What `__reduce__` has written.
    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        Ok(Self { core: of_text(text)? })
    }
}
