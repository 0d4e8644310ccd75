//! `Trace`.

use netnum_core::{Progress, Settings, Stop};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use crate::numbers;

/// One row per iteration of a solve, as columns.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([1.0, 2.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
/// >>> trace = netnum.solve(problem, "ned", trace=True).trace
/// >>> trace.iteration[:3], bool(trace.gap[-1] <= 1e-6)
/// (array([0, 1, 2]), True)
#[pyclass(frozen, get_all, module = "netnum")]
pub(crate) struct Trace {
    /// Iterations done, from 0: array of int, shape (rows,).
    iteration: Py<PyArray1<i64>>,
    /// Relative duality gap, of pairs over the paths of each round and in the last row over all: array of float, shape
    /// (rows,).
    gap: Py<PyArray1<f64>>,
    /// How far the fullest link was over its capacity before normalization, relative to it: array of float, shape
    /// (rows,).
    overload: Py<PyArray1<f64>>,
    /// KKT residual, nan where the gap was far from the tolerance: array of float, shape (rows,).
    kkt_residual: Py<PyArray1<f64>>,
    /// Seconds since the solve began: array of float, shape (rows,).
    seconds: Py<PyArray1<f64>>,
    /// The largest gap that is optimal, `tol` of the solve; None where that is the tolerance of the KKT residual.
    tol: Option<f64>,
}

impl Trace {
    pub(super) fn of(py: Python<'_>, rows: &[Progress], settings: &Settings) -> Self {
        let column = |of: fn(&Progress) -> f64| numbers::read_only(py, rows.iter().map(of).collect()).unbind();
        let iterations: Vec<usize> = rows.iter().map(|row| row.iteration).collect();
        Self {
            iteration: numbers::indices(py, &iterations).unbind(),
            gap: column(|row| row.gap),
            overload: column(|row| row.overload),
            kkt_residual: column(|row| row.kkt_residual),
            seconds: column(|row| row.seconds),
            tol: (settings.stop != Stop::Kkt).then_some(settings.tol),
        }
    }
}

#[pymethods]
impl Trace {
    #[new]
    #[pyo3(signature = (iteration, gap, overload, kkt_residual, seconds, tol=None))]
    fn new(
        iteration: &Bound<'_, PyAny>,
        gap: &Bound<'_, PyAny>,
        overload: &Bound<'_, PyAny>,
        kkt_residual: &Bound<'_, PyAny>,
        seconds: &Bound<'_, PyAny>,
        tol: Option<f64>,
    ) -> PyResult<Self> {
        let py = gap.py();
        let column =
            |name: &str, value| numbers::floats(name, value).map(|values| numbers::read_only(py, values).unbind());
        Ok(Self {
            iteration: numbers::read_only(py, numbers::integers("iteration", iteration)?).unbind(),
            gap: column("gap", gap)?,
            overload: column("overload", overload)?,
            kkt_residual: column("kkt_residual", kkt_residual)?,
            seconds: column("seconds", seconds)?,
            tol,
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.gap.bind(py).as_any().len()
    }

    #[expect(clippy::type_complexity, reason = "the arguments, for pickle")]
    fn __getnewargs__(
        &self,
        py: Python<'_>,
    ) -> (Py<PyArray1<i64>>, Py<PyArray1<f64>>, Py<PyArray1<f64>>, Py<PyArray1<f64>>, Py<PyArray1<f64>>, Option<f64>)
    {
        let Self { iteration, gap, overload, kkt_residual, seconds, tol } = self;
        let column = |column: &Py<PyArray1<f64>>| column.clone_ref(py);
        (iteration.clone_ref(py), column(gap), column(overload), column(kkt_residual), column(seconds), *tol)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let gap = self.gap.bind(py).readonly();
        let rows = gap.as_slice()?.len();
        Ok(match gap.as_slice()? {
            [] => "Trace(0 rows)".into(),
            [first, ..] => format!("Trace({rows} rows, gap {first:.1e} to {:.1e})", gap.as_slice()?[rows - 1]),
        })
    }
}
