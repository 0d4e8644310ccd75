//! `Solutions`: the answers to many scenarios of one problem, as arrays.

use std::fmt::Write;

use netnum_core::{Problem, Status, memory};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::error::raise;
use crate::numbers::{counted, read_only};

/// Rates, prices and their proofs, one row for each scenario of `solve_many`, in the units of the problem.
///
/// The arrays cannot be written to. ``len()`` is the number of scenarios.
#[pyclass(frozen, module = "netnum")]
pub(crate) struct Solutions {
    /// How each ended, as in `Solution.status`: array of str, shape (scenarios,).
    #[pyo3(get)]
    status: Py<PyAny>,
    /// Whether the certificate passed: array of bool, shape (scenarios,).
    #[pyo3(get)]
    is_optimal: Py<PyArray1<bool>>,
    /// Rate of every path; feasible. Array of float, shape (scenarios, paths).
    #[pyo3(get)]
    rates: Py<PyArray2<f64>>,
    /// Rate of every flow, the sum over its paths: array of float, shape (scenarios, flows).
    #[pyo3(get)]
    flow_rates: Py<PyArray2<f64>>,
    /// Price of every link, as in `Solution.prices`: array of float, shape (scenarios, links).
    #[pyo3(get)]
    prices: Py<PyArray2<f64>>,
    /// Load of every link: array of float, shape (scenarios, links).
    #[pyo3(get)]
    loads: Py<PyArray2<f64>>,
    /// Σ U_f(y_f) over the flows that are served, as in `Solution.objective`: array of float, shape (scenarios,).
    #[pyo3(get)]
    objective: Py<PyArray1<f64>>,
    /// Proven bound on the relative gap, as in `Solution.gap`: array of float, shape (scenarios,).
    #[pyo3(get)]
    gap: Py<PyArray1<f64>>,
    /// Largest violation of the optimality conditions, as in `Solution.kkt_residual`: array of float, shape (scenarios,).
    #[pyo3(get)]
    kkt_residual: Py<PyArray1<f64>>,
    /// How many flows nothing can pass, those of `Solution.failed_flows`: array of int, shape (scenarios,).
    #[pyo3(get)]
    failed_flows: Py<PyArray1<i64>>,
    /// Iterations done: array of int, shape (scenarios,).
    #[pyo3(get)]
    iterations: Py<PyArray1<i64>>,
    /// Seconds that each took on its thread: array of float, shape (scenarios,).
    #[pyo3(get)]
    seconds: Py<PyArray1<f64>>,
    /// Flows, paths and links of the problem.
    size: [usize; 3],
    summary: Summary,
}

/// What is shown of all.
#[derive(Clone, Copy)]
struct Summary {
    scenarios: usize,
    optimal: usize,
    /// The largest of all.
    gap: f64,
    kkt_residual: f64,
    /// Per scenario.
    iterations: f64,
    seconds: f64,
}

/// What is kept of one answer.
pub(super) struct Row {
    status: Status,
    /// Of paths, flows and links.
    rates: Vec<f64>,
    flow_rates: Vec<f64>,
    prices: Vec<f64>,
    loads: Vec<f64>,
    /// Objective, gap, residual and time.
    numbers: [f64; 4],
    failed: usize,
    iterations: usize,
}

impl From<netnum_core::Solution> for Row {
    fn from(solution: netnum_core::Solution) -> Self {
        let certificate = solution.certificate;
        Self {
            status: solution.status,
            numbers: [solution.objective, certificate.relative_gap, certificate.kkt_residual, solution.seconds],
            failed: solution.failed_flows.len(),
            iterations: solution.iterations,
            rates: solution.rates,
            flow_rates: solution.flow_rates,
            prices: solution.prices,
            loads: solution.loads,
        }
    }
}

/// That there is room for the answers to so many scenarios.
pub(super) fn check_memory(problem: &Problem, scenarios: usize) -> PyResult<()> {
    let columns = problem.flows() + problem.paths().len() + 2 * problem.links();
    memory::check(&format!("answers to {}", counted(scenarios, "scenario")), scenarios as u128 * columns as u128 * 8)
        .map_err(raise)
}

impl Solutions {
    /// All answers, or the first error among them.
    pub(super) fn new(py: Python<'_>, problem: &Problem, rows: Vec<PyResult<Row>>) -> PyResult<Self> {
        let (count, size) = (rows.len(), [problem.flows(), problem.paths().len(), problem.links()]);
        let [flows, paths, links] = size;
        let matrix = |columns: usize| Vec::with_capacity(count * columns);
        let (mut rates, mut flow_rates, mut prices, mut loads) =
            (matrix(paths), matrix(flows), matrix(links), matrix(links));
        let (mut status, mut numbers, mut failed, mut iterations) = (vec![], [const { Vec::new() }; 4], vec![], vec![]);
        for row in rows {
            let row = row?;
            status.push(row.status);
            rates.extend(row.rates);
            flow_rates.extend(row.flow_rates);
            prices.extend(row.prices);
            loads.extend(row.loads);
            numbers.iter_mut().zip(row.numbers).for_each(|(column, number): (&mut Vec<f64>, _)| column.push(number));
            failed.push(row.failed as i64);
            iterations.push(row.iterations as i64);
        }
        let optimal: Vec<bool> = status.iter().map(|&status| status == Status::Optimal).collect();
        let [objective, gap, kkt_residual, seconds] = numbers;
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let each = |total: f64| if count == 0 { 0.0 } else { total / count as f64 };
        let summary = Summary {
            scenarios: count,
            optimal: optimal.iter().filter(|&&optimal| optimal).count(),
            gap: largest(&gap),
            kkt_residual: largest(&kkt_residual),
            iterations: each(iterations.iter().sum::<i64>() as f64),
            seconds: each(seconds.iter().sum()),
        };
        let names: Vec<&str> = status.iter().map(|status| status.name()).collect();
        let status = py.import("numpy")?.call_method1("array", (names, "U14"))?;
        status.call_method1("setflags", (false,))?;
        let table = |values, columns| PyResult::Ok(read_only(py, values).reshape([count, columns])?.unbind());
        let column = |values| read_only(py, values).unbind();
        Ok(Self {
            status: status.unbind(),
            is_optimal: read_only(py, optimal).unbind(),
            rates: table(rates, paths)?,
            flow_rates: table(flow_rates, flows)?,
            prices: table(prices, links)?,
            loads: table(loads, links)?,
            objective: column(objective),
            gap: column(gap),
            kkt_residual: column(kkt_residual),
            failed_flows: read_only(py, failed).unbind(),
            iterations: read_only(py, iterations).unbind(),
            seconds: column(seconds),
            size,
            summary,
        })
    }
}

impl Summary {
    /// `4.2 ms`, `1.3 s`.
    fn time(&self) -> String {
        match self.seconds {
            seconds if seconds < 0.1 => format!("{:.1} ms", 1e3 * seconds),
            seconds => format!("{seconds:.1} s"),
        }
    }
}

#[pymethods]
impl Solutions {
    /// One row per scenario: status, objective, gap, KKT residual, failed flows, iterations and seconds.
    ///
    /// Returns
    /// -------
    /// pandas.DataFrame
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     Without pandas: ``pip install "netnum[frames]"``.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum.frames")?.call_method1("solutions", (slf,))
    }

    fn __len__(&self) -> usize {
        self.summary.scenarios
    }

    fn __repr__(&self) -> String {
        let Summary { scenarios, optimal, gap, kkt_residual, iterations, .. } = self.summary;
        let [flows, _, links] = self.size;
        if scenarios == 0 {
            return format!("Solutions(0 scenarios, {}, {})", counted(flows, "flow"), counted(links, "link"));
        }
        let optimal = if optimal == scenarios { "all optimal".into() } else { format!("{optimal} optimal") };
        format!(
            "Solutions({}, {optimal}, {}, {}, gap {gap:.1e}, rates to {kkt_residual:.1e}, {iterations:.1} iterations and \
             {} each)",
            counted(scenarios, "scenario"),
            counted(flows, "flow"),
            counted(links, "link"),
            self.summary.time(),
        )
    }

    /// A small table, for notebooks.
    fn _repr_html_(&self) -> String {
        let Summary { scenarios, optimal, gap, kkt_residual, iterations, .. } = self.summary;
        let [flows, paths, links] = self.size;
        let rows = [
            ("scenarios", format!("{scenarios}, {optimal} optimal")),
            ("largest gap", format!("{gap:.1e}")),
            ("rates to", format!("{kkt_residual:.1e}")),
            ("size", format!("{flows} flows, {paths} paths, {links} links")),
            ("iterations each", format!("{iterations:.1}")),
            ("time each", self.summary.time()),
        ];
        let mut html = String::from("<table><thead><tr><th colspan=\"2\">Solutions</th></tr></thead><tbody>");
        for (name, value) in rows {
            let _ = write!(html, "<tr><th>{name}</th><td>{value}</td></tr>");
        }
        html + "</tbody></table>"
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let (state, this) = (PyDict::new(slf.py()), slf.get());
        for name in FIELDS {
            state.set_item(name, slf.getattr(name)?)?;
        }
        let Summary { scenarios, optimal, gap, kkt_residual, iterations, seconds } = this.summary;
        state.set_item("size", this.size)?;
        state.set_item("summary", (scenarios, optimal, gap, kkt_residual, iterations, seconds))?;
        Ok((slf.get_type().getattr("_restore")?, (state,)))
    }

    /// The solutions that `__reduce__` has taken apart.
    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &Bound<'_, PyDict>) -> PyResult<Self> {
        let field = |name: &str| {
            state.get_item(name)?.ok_or_else(|| PyTypeError::new_err(format!("pickled Solutions without {name:?}")))
        };
        for name in FIELDS {
            field(name)?.call_method1("setflags", (false,))?;
        }
        let (scenarios, optimal, gap, kkt_residual, iterations, seconds) = field("summary")?.extract()?;
        let column = |name: &str| PyResult::Ok(field(name)?.cast::<PyArray1<f64>>()?.clone().unbind());
        let counts = |name: &str| PyResult::Ok(field(name)?.cast::<PyArray1<i64>>()?.clone().unbind());
        let table = |name: &str| PyResult::Ok(field(name)?.cast::<PyArray2<f64>>()?.clone().unbind());
        Ok(Self {
            status: field("status")?.unbind(),
            is_optimal: field("is_optimal")?.cast::<PyArray1<bool>>()?.clone().unbind(),
            rates: table("rates")?,
            flow_rates: table("flow_rates")?,
            prices: table("prices")?,
            loads: table("loads")?,
            objective: column("objective")?,
            gap: column("gap")?,
            kkt_residual: column("kkt_residual")?,
            failed_flows: counts("failed_flows")?,
            iterations: counts("iterations")?,
            seconds: column("seconds")?,
            size: field("size")?.extract()?,
            summary: Summary { scenarios, optimal, gap, kkt_residual, iterations, seconds },
        })
    }
}

/// The arrays, by name.
const FIELDS: [&str; 12] = [
    "status",
    "is_optimal",
    "rates",
    "flow_rates",
    "prices",
    "loads",
    "objective",
    "gap",
    "kkt_residual",
    "failed_flows",
    "iterations",
    "seconds",
];
