//! `Solutions`: the solutions of many scenarios of one problem, as arrays.

use netnum_core::internal::{expected_below, memory};
use netnum_core::{Problem, Status};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyRange, PyType};

use super::Solution;
use crate::certificate::Certificate;
use crate::error::raise;
use crate::numbers::{self, counted, read_only};

/// Rates, prices and their proofs, one row for each scenario of `solve_many`, in the units of the problem.
///
/// The arrays are read-only. ``len()`` is the number of scenarios, ``solutions[3]`` is one of them as a `Solution`, and
/// a loop goes through them; a slice, a list of places or an array of bool, such as
/// ``solutions[~solutions.is_optimal]``, has some of them as `Solutions`.
///
/// Examples
/// --------
/// >>> problem = netnum.Problem([2.0, 8.0], [[0], [0], [1]], netnum.AlphaFair(1.0))
/// >>> solutions = netnum.solve_many(problem, flow_caps=[[3.0, 3.0, 3.0], [0.5, 3.0, 3.0]])
/// >>> len(solutions), solutions.flow_rates.round(3)
/// (2, array([[1. , 1. , 3. ],
///        [0.5, 1.5, 3. ]]))
/// >>> solutions[1].rates.round(3)
/// array([0.5, 1.5, 3. ])
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
    /// The link that holds every path back or -1, as in `Solution.bottlenecks`: array of int, shape (scenarios, paths).
    #[pyo3(get)]
    bottlenecks: Py<PyArray2<i64>>,
    /// Σ U_f(y_f) over the flows that are served, as in `Solution.objective`: array of float, shape (scenarios,).
    #[pyo3(get)]
    objective: Py<PyArray1<f64>>,
    /// Proven bound on the relative gap, as in `Solution.gap`: array of float, shape (scenarios,).
    #[pyo3(get)]
    gap: Py<PyArray1<f64>>,
    /// Largest violation of the optimality conditions, as in `Solution.kkt_residual`: array of float, shape
    /// (scenarios,).
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
    /// The other parts of a `Solution`, one per scenario.
    others: Vec<Others>,
}

/// The parts of a solution that are in no column.
#[derive(Clone, IntoPyObject, FromPyObject)]
#[pyo3(from_item_all)]
struct Others {
    method: String,
    overload: f64,
    failed_flows: Vec<u32>,
    summary: String,
}

/// The numbers that are shown of all.
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

/// The parts of one solution that are kept.
pub(super) struct Row {
    status: Status,
    /// Of paths, flows and links.
    rates: Vec<f64>,
    flow_rates: Vec<f64>,
    prices: Vec<f64>,
    loads: Vec<f64>,
    bottlenecks: Vec<Option<u32>>,
    /// Objective, gap, residual and time.
    numbers: [f64; 4],
    iterations: usize,
    others: Others,
}

impl From<netnum_core::Solution> for Row {
    fn from(solution: netnum_core::Solution) -> Self {
        let (certificate, summary) = (solution.certificate, solution.to_string());
        let (method, failed_flows) = (solution.method.into(), solution.failed_flows);
        Self {
            others: Others { method, overload: certificate.overload, failed_flows, summary },
            status: solution.status,
            numbers: [solution.objective, certificate.relative_gap, certificate.kkt_residual, solution.seconds],
            iterations: solution.iterations,
            rates: solution.rates,
            flow_rates: solution.flow_rates,
            prices: solution.prices,
            loads: solution.loads,
            bottlenecks: solution.bottlenecks,
        }
    }
}

/// Checks that the solutions of so many scenarios fit in memory.
pub(super) fn check_memory(problem: &Problem, scenarios: usize) -> PyResult<()> {
    let columns = problem.flows() + 2 * problem.paths().len() + 2 * problem.links();
    memory::check(&format!("answers to {}", counted(scenarios, "scenario")), scenarios as u128 * columns as u128 * 8)
        .map_err(raise)
}

impl Solutions {
    pub(super) fn new(py: Python<'_>, problem: &Problem, rows: Vec<Row>) -> PyResult<Self> {
        let (count, size) = (rows.len(), [problem.flows(), problem.paths().len(), problem.links()]);
        let [flows, paths, links] = size;
        let matrix = |columns: usize| Vec::with_capacity(count * columns);
        let (mut rates, mut flow_rates, mut prices, mut loads) =
            (matrix(paths), matrix(flows), matrix(links), matrix(links));
        let (mut status, mut numbers, mut failed, mut iterations) = (vec![], [const { Vec::new() }; 4], vec![], vec![]);
        let (mut bottlenecks, mut others) = (Vec::with_capacity(count * paths), Vec::with_capacity(count));
        for row in rows {
            status.push(row.status);
            rates.extend(row.rates);
            flow_rates.extend(row.flow_rates);
            prices.extend(row.prices);
            loads.extend(row.loads);
            bottlenecks.extend(row.bottlenecks.into_iter().map(|link| link.map_or(-1, i64::from)));
            numbers.iter_mut().zip(row.numbers).for_each(|(column, number): (&mut Vec<f64>, _)| column.push(number));
            failed.push(row.others.failed_flows.len() as i64);
            iterations.push(row.iterations as i64);
            others.push(row.others);
        }
        let optimal: Vec<bool> = status.iter().map(|&status| status == Status::Optimal).collect();
        let [objective, gap, kkt_residual, seconds] = numbers;
        let summary = Summary::of(&optimal, &gap, &kkt_residual, &iterations, &seconds);
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
            bottlenecks: read_only(py, bottlenecks).reshape([count, paths])?.unbind(),
            objective: column(objective),
            gap: column(gap),
            kkt_residual: column(kkt_residual),
            failed_flows: read_only(py, failed).unbind(),
            iterations: read_only(py, iterations).unbind(),
            seconds: column(seconds),
            size,
            summary,
            others,
        })
    }

    /// From the arrays by name, which become read-only.
    fn of_arrays(arrays: &Bound<'_, PyDict>, size: [usize; 3], others: Vec<Others>) -> PyResult<Self> {
        let field = |name: &str| field(arrays, name);
        for name in FIELDS {
            field(name)?.call_method1("setflags", (false,))?;
        }
        let column = |name: &str| PyResult::Ok(field(name)?.cast::<PyArray1<f64>>()?.clone());
        let counts = |name: &str| PyResult::Ok(field(name)?.cast::<PyArray1<i64>>()?.clone());
        let table = |name: &str| PyResult::Ok(field(name)?.cast::<PyArray2<f64>>()?.clone().unbind());
        let is_optimal = field("is_optimal")?.cast::<PyArray1<bool>>()?.clone();
        let (gap, kkt_residual, seconds) = (column("gap")?, column("kkt_residual")?, column("seconds")?);
        let iterations = counts("iterations")?;
        let summary = Summary::of(
            &is_optimal.to_vec()?,
            &gap.to_vec()?,
            &kkt_residual.to_vec()?,
            &iterations.to_vec()?,
            &seconds.to_vec()?,
        );
        Ok(Self {
            status: field("status")?.unbind(),
            is_optimal: is_optimal.unbind(),
            rates: table("rates")?,
            flow_rates: table("flow_rates")?,
            prices: table("prices")?,
            loads: table("loads")?,
            bottlenecks: field("bottlenecks")?.cast::<PyArray2<i64>>()?.clone().unbind(),
            objective: column("objective")?.unbind(),
            gap: gap.unbind(),
            kkt_residual: kkt_residual.unbind(),
            failed_flows: counts("failed_flows")?.unbind(),
            iterations: iterations.unbind(),
            seconds: seconds.unbind(),
            size,
            summary,
            others,
        })
    }

    /// One scenario.
    fn solution<'py>(slf: &Bound<'py, Self>, scenario: usize) -> PyResult<Bound<'py, PyAny>> {
        let (py, this, state) = (slf.py(), slf.get(), PyDict::new(slf.py()));
        let others = &this.others[scenario];
        for name in FIELDS {
            state.set_item(name, slf.getattr(name)?.get_item(scenario)?)?;
        }
        let number = |name: &str| -> PyResult<f64> { field(&state, name)?.extract() };
        let (relative_gap, kkt_residual) = (number("gap")?, number("kkt_residual")?);
        let certificate = netnum_core::Certificate::new(relative_gap, others.overload, kkt_residual);
        let certificate = Certificate::from(certificate);
        state.set_item("certificate", Py::new(py, certificate)?)?;
        state.set_item("method", &others.method)?;
        state.set_item("failed_flows", numbers::indices(py, &others.failed_flows))?;
        state.set_item("trace", py.None())?;
        state.set_item("summary", &others.summary)?;
        py.get_type::<Solution>().call_method1("_restore", (state,))
    }
}

/// A field of what pickle has kept.
fn field<'py>(state: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    state.get_item(name)?.ok_or_else(|| PyTypeError::new_err(format!("pickled Solutions without {name:?}")))
}

impl Summary {
    fn of(optimal: &[bool], gap: &[f64], kkt_residual: &[f64], iterations: &[i64], seconds: &[f64]) -> Self {
        let scenarios = optimal.len();
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let each = |total: f64| if scenarios == 0 { 0.0 } else { total / scenarios as f64 };
        Self {
            scenarios,
            optimal: optimal.iter().filter(|&&optimal| optimal).count(),
            gap: largest(gap),
            kkt_residual: largest(kkt_residual),
            iterations: each(iterations.iter().sum::<i64>() as f64),
            seconds: each(seconds.iter().sum()),
        }
    }

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
        slf.py().import("netnum._show.frames")?.call_method1("solutions", (slf,))
    }

    fn __len__(&self) -> usize {
        self.summary.scenarios
    }

    /// One scenario as a `Solution`, or some as `Solutions`.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let count = this.summary.scenarios;
        if !key.is_instance_of::<PyBool>()
            && let Ok(place) = key.extract::<isize>()
        {
            let from_start = if place < 0 { place.saturating_add_unsigned(count) } else { place };
            return match usize::try_from(from_start) {
                Ok(scenario) if scenario < count => Self::solution(slf, scenario),
                _ => {
                    let expected = expected_below("scenario", count);
                    Err(PyIndexError::new_err(format!("scenario {place} does not exist, {expected}")))
                }
            };
        }
        // NumPy decides which keys are valid, and raises for others.
        let places = py.import("numpy")?.call_method1("arange", (count,))?.get_item(key)?;
        let Ok(picked) = places.extract::<Vec<usize>>() else {
            let message = "scenarios are picked by a place, a slice, a list of places or an array of bool";
            return Err(PyIndexError::new_err(message));
        };
        let arrays = PyDict::new(py);
        for name in FIELDS {
            arrays.set_item(name, slf.getattr(name)?.call_method1("take", (&places, 0))?)?;
        }
        let others = picked.iter().map(|&scenario| this.others[scenario].clone()).collect();
        Ok(Bound::new(py, Self::of_arrays(&arrays, this.size, others)?)?.into_any())
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let range = PyRange::new(slf.py(), 0, slf.get().summary.scenarios as isize)?;
        slf.py()
            .import("builtins")?
            .call_method1("map", (slf.getattr("__getitem__")?, range))?
            .try_iter()
            .map(Bound::into_any)
    }

    fn __repr__(&self) -> String {
        let Summary { scenarios, optimal, gap, kkt_residual, iterations, .. } = self.summary;
        let [flows, _, links] = self.size;
        if scenarios == 0 {
            return format!("Solutions(0 scenarios, {}, {})", counted(flows, "flow"), counted(links, "link"));
        }
        let optimal = if optimal == scenarios { "all optimal".into() } else { format!("{optimal} optimal") };
        format!(
            "Solutions({}, {optimal}, {}, {}, gap {gap:.1e}, rates to {kkt_residual:.1e}, {iterations:.1} iterations \
             and {} each)",
            counted(scenarios, "scenario"),
            counted(flows, "flow"),
            counted(links, "link"),
            self.summary.time(),
        )
    }

    /// A small table, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.html")?.call_method1("solutions", (slf,))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let (state, this) = (PyDict::new(slf.py()), slf.get());
        for name in FIELDS {
            state.set_item(name, slf.getattr(name)?)?;
        }
        state.set_item("size", this.size)?;
        state.set_item("others", this.others.clone())?;
        Ok((slf.get_type().getattr("_restore")?, (state,)))
    }

    /// The solutions that `__reduce__` has taken apart.
    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &Bound<'_, PyDict>) -> PyResult<Self> {
        Self::of_arrays(state, field(state, "size")?.extract()?, field(state, "others")?.extract()?)
    }
}

/// The arrays, by name.
const FIELDS: [&str; 13] = [
    "status",
    "is_optimal",
    "rates",
    "flow_rates",
    "prices",
    "loads",
    "bottlenecks",
    "objective",
    "gap",
    "kkt_residual",
    "failed_flows",
    "iterations",
    "seconds",
];
