//! `Solution`.

use std::fmt::Write;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyType};

use super::Trace;
use crate::certificate::Certificate;
use crate::error::NumError;
use crate::numbers;

/// Rates, prices and their proof, in the units of the problem.
///
/// The arrays are the memory of the solver, moved and not copied; they are read-only.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
/// >>> solution = netnum.solve(problem)
/// >>> solution.status, solution.gap <= 1e-6
/// ('optimal', True)
/// >>> solution.rates.round(3), solution.prices.round(2)
/// (array([0.333, 0.667, 0.667]), array([1.5, 1.5]))
#[pyclass(frozen, module = "netnum")]
pub(crate) struct Solution {
    /// Why the solve ended. The rates are feasible in any case, and the best that were certified.
    ///
    /// - ``"optimal"``: the certificate passed, as `tol` and `stop` require;
    /// - ``"stalled"``: more iterations would change nothing, because of rounding or because the method is done. The
    ///   gap bounds the error of the rates;
    /// - ``"max_iterations"``, ``"time_limit"``: this limit came first;
    /// - ``"stopped"``: the callback returned False.
    #[pyo3(get)]
    status: String,
    /// The method that ran.
    #[pyo3(get)]
    method: String,
    /// Rate of every path; feasible. Array of float, shape (paths,).
    #[pyo3(get)]
    rates: Py<PyArray1<f64>>,
    /// Rate of every flow, the sum over its paths: array of float, shape (flows,).
    #[pyo3(get)]
    flow_rates: Py<PyArray1<f64>>,
    /// Price of every link, utility gained per unit of capacity: array of float, shape (links,).
    ///
    /// The slope of the best objective in the link's capacity (where that has a kink, between the slopes on its two
    /// sides), good for a small change of it. A link of price 0 is large enough. All 0 for max-min problems, which have
    /// no prices.
    #[pyo3(get)]
    prices: Py<PyArray1<f64>>,
    /// Load of every link: array of float, shape (links,).
    #[pyo3(get)]
    loads: Py<PyArray1<f64>>,
    /// The link that limits every path, or -1 for none: array of int, shape (paths,).
    ///
    /// The full link (idle by 1 % at most) with the largest part of the path's price. None where its cap, or its flow's
    /// cap or saturation, holds it, and where it carries nothing or is free (a price below 1e-9 of U'). For max-min
    /// problems the full link on which no flow has a larger fair share; none anywhere when flows have several paths.
    #[pyo3(get)]
    bottlenecks: Py<PyArray1<i64>>,
    /// Σ U_f(y_f) over the flows that are served, those not in `failed_flows`; for max-min problems their smallest fair
    /// share. A failure that cuts flows off takes their utilities out: compare networks with `failure_study`, or on the
    /// flows that both serve by `Problem.values`. nan where the time limit came before there were any rates.
    #[pyo3(get)]
    objective: f64,
    /// The proof for these rates and prices, as `certify` gives it: `Certificate`.
    #[pyo3(get)]
    certificate: Certificate,
    /// Proven bound on the utility that is still missing, relative to the first-order gain of raising every rate by
    /// 100 % where caps and saturations let it.
    #[pyo3(get)]
    gap: f64,
    /// How far the fullest link is over its capacity, relative to it: 0 to rounding.
    #[pyo3(get)]
    overload: f64,
    /// Largest violation of the optimality conditions, relative to each flow's rate: to this every single rate is
    /// right, or its price to a tenth of this where the utility is nearly linear. At 1 it proves nothing.
    #[pyo3(get)]
    kkt_residual: f64,
    /// Iterations done.
    #[pyo3(get)]
    iterations: usize,
    /// Seconds from the problem to the solution.
    #[pyo3(get)]
    seconds: f64,
    /// Flows that nothing can pass, because they are capped at 0 or every path is or crosses a link of capacity 0.
    /// Their rates are 0 and they are left out of the objective: those that the network does not serve. Array of int.
    #[pyo3(get)]
    failed_flows: Py<PyArray1<i64>>,
    /// One row per iteration, with ``solve(..., trace=True)``: `Trace` or None.
    #[pyo3(get)]
    trace: Option<Py<Trace>>,
    /// Its `repr`, made by the core.
    summary: String,
}

impl Solution {
    pub(super) fn new(py: Python<'_>, core: netnum_core::Solution, traced: bool) -> PyResult<Self> {
        let summary = core.to_string();
        let trace = traced.then(|| Py::new(py, Trace::of(py, &core.trace))).transpose()?;
        let array = |values| numbers::read_only(py, values).unbind();
        Ok(Self {
            status: core.status.name().into(),
            method: core.method.into(),
            rates: array(core.rates),
            flow_rates: array(core.flow_rates),
            prices: array(core.prices),
            loads: array(core.loads),
            bottlenecks: numbers::read_only(
                py,
                core.bottlenecks.iter().map(|link| link.map_or(-1, i64::from)).collect(),
            )
            .unbind(),
            objective: core.objective,
            certificate: core.certificate.into(),
            gap: core.certificate.relative_gap,
            overload: core.certificate.overload,
            kkt_residual: core.certificate.kkt_residual,
            iterations: core.iterations,
            seconds: core.seconds,
            failed_flows: numbers::indices(py, &core.failed_flows).unbind(),
            trace,
            summary,
        })
    }

    pub(super) fn price_list(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        Ok(self.prices.bind(py).readonly().to_vec()?)
    }

    fn shape(&self, py: Python<'_>) -> PyResult<[usize; 4]> {
        let length = |array: &Py<PyArray1<f64>>| array.bind(py).as_any().len();
        let failed = self.failed_flows.bind(py).as_any().len()?;
        Ok([length(&self.flow_rates)?, length(&self.rates)?, length(&self.prices)?, failed])
    }
}

#[pymethods]
impl Solution {
    /// Whether the status is ``"optimal"``: the certificate passed.
    #[getter]
    fn is_optimal(&self) -> bool {
        self.status == netnum_core::Status::Optimal.name()
    }

    /// Draw the gap over the iterations.
    ///
    /// Parameters
    /// ----------
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; by default a new figure. Several solutions on the same axes make a comparison: every line is
    ///     labelled with its method.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// NumError
    ///     Without a trace: it needs ``solve(..., trace=True)``.
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    #[pyo3(signature = (ax=None))]
    fn plot_convergence<'py>(slf: &Bound<'py, Self>, ax: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().trace.is_none() {
            return Err(NumError::new_err("this solution has no trace to plot: solve with trace=True"));
        }
        slf.py().import("netnum.plot")?.call_method1("convergence", (slf, ax))
    }

    fn __repr__(&self) -> &str {
        &self.summary
    }

    /// A small table, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let [flows, paths, links, failed] = self.shape(py)?;
        let paths = if paths == flows { String::new() } else { format!("{paths} paths, ") };
        let time =
            if self.seconds < 0.1 { format!("{:.1} ms", 1e3 * self.seconds) } else { format!("{:.1} s", self.seconds) };
        let mut rows = vec![
            ("status", self.status.clone()),
            ("gap", format!("{:.1e}", self.gap)),
            ("rates to", format!("{:.1e}", self.kkt_residual)),
            ("objective", PyFloat::new(py, self.objective).call_method1("__format__", (".6g",))?.extract()?),
            ("size", format!("{flows} flows, {paths}{links} links")),
            ("iterations", format!("{} ({})", self.iterations, self.method)),
            ("time", time),
        ];
        if failed > 0 {
            rows.push(("failed flows", failed.to_string()));
        }
        let mut html = String::from("<table><thead><tr><th colspan=\"2\">Solution</th></tr></thead><tbody>");
        for (name, value) in rows {
            let _ = write!(html, "<tr><th>{name}</th><td>{value}</td></tr>");
        }
        Ok(html + "</tbody></table>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let (py, this) = (slf.py(), slf.get());
        let state = PyDict::new(py);
        for name in ["status", "method", "objective", "certificate", "iterations", "seconds", "failed_flows", "trace"] {
            state.set_item(name, slf.getattr(name)?)?;
        }
        for name in ["rates", "flow_rates", "prices", "loads", "bottlenecks"] {
            state.set_item(name, slf.getattr(name)?)?;
        }
        state.set_item("summary", &this.summary)?;
        Ok((slf.get_type().getattr("_restore")?, (state,)))
    }

    /// The solution that `__reduce__` has taken apart.
    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &Bound<'_, PyDict>) -> PyResult<Self> {
        let field = |name: &str| {
            state.get_item(name)?.ok_or_else(|| PyTypeError::new_err(format!("a pickled Solution without {name:?}")))
        };
        let py = state.py();
        let array = |name: &str| PyResult::Ok(numbers::read_only(py, numbers::floats(name, &field(name)?)?).unbind());
        let certificate = *field("certificate")?.cast::<Certificate>()?.get();
        let core: netnum_core::Certificate = certificate.into();
        let integers =
            |name: &str| PyResult::Ok(numbers::read_only(py, numbers::integers(name, &field(name)?)?).unbind());
        let trace = field("trace")?;
        let trace = if trace.is_none() { None } else { Some(trace.cast::<Trace>()?.clone().unbind()) };
        Ok(Self {
            status: field("status")?.extract()?,
            method: field("method")?.extract()?,
            rates: array("rates")?,
            flow_rates: array("flow_rates")?,
            prices: array("prices")?,
            loads: array("loads")?,
            bottlenecks: integers("bottlenecks")?,
            objective: field("objective")?.extract()?,
            certificate,
            gap: core.relative_gap,
            overload: core.overload,
            kkt_residual: core.kkt_residual,
            iterations: field("iterations")?.extract()?,
            seconds: field("seconds")?.extract()?,
            failed_flows: integers("failed_flows")?,
            trace,
            summary: field("summary")?.extract()?,
        })
    }
}
