//! `PriorityClass`.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::solution::{of_text, text};
use crate::certificate::Certificate;
use crate::numbers::{self, counted};

/// The flows of one priority, and the proof of their rates: nothing better could be had for them while those of smaller
/// priorities keep theirs.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([10.0], [[0], [0], [0]], flow_cap=[3.0, 9.0, 9.0], priority=[0, 1, 1])
/// >>> solution = netnum.solve(problem)
/// >>> solution.classes[1].flows, solution.rates.round(3)
/// (array([1, 2]), array([3. , 3.5, 3.5]))
#[pyclass(frozen, eq, module = "netnum")]
#[derive(PartialEq)]
pub(crate) struct PriorityClass {
    pub(super) core: netnum_core::PriorityClass,
}

#[pymethods]
impl PriorityClass {
    /// The priority of its flows: float.
    #[getter]
    fn priority(&self) -> f64 {
        self.core.priority
    }

    /// Its flows: array of int. Their rates are ``solution.flow_rates[flows]``.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        numbers::indices(py, &self.core.flows)
    }

    /// How its solve ended, as `Solution.status`: str.
    #[getter]
    fn status(&self) -> &'static str {
        self.core.status.name()
    }

    /// The sum of the utilities of its flows; the smallest fair share for max-min: float. Costs count in the objective
    /// of the solution alone, as splits move for later classes.
    #[getter]
    fn objective(&self) -> f64 {
        self.core.objective
    }

    /// The relative duality gap, as `Solution.gap`: float.
    #[getter]
    fn gap(&self) -> f64 {
        self.core.certificate.relative_gap
    }

    /// As `Solution.kkt_residual`: float.
    #[getter]
    fn kkt_residual(&self) -> f64 {
        self.core.certificate.kkt_residual
    }

    /// The proof: `Certificate`.
    #[getter]
    fn certificate(&self) -> Certificate {
        self.core.certificate.into()
    }

    /// The prices that prove it: array of float, shape (links,).
    #[getter]
    fn prices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.core.prices.clone())
    }

    fn __repr__(&self) -> String {
        let (priority, flows) = (self.core.priority, counted(self.core.flows.len(), "flow"));
        let (status, gap) = (self.core.status, self.core.certificate.relative_gap);
        format!(
            "PriorityClass({status}, priority {priority}, {flows}, objective {:.6}, gap {gap:.1e})",
            self.core.objective
        )
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
