//! `Solutions`: the solutions of many scenarios of one problem, as arrays.

use netnum_core::internal::memory;
use netnum_core::{Problem, Status};
use numpy::{PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyType};

use super::Solution;
use super::solution::text;
use crate::certificate::Certificate;
use crate::error::raise;
use crate::numbers::{self, counted};

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
    is_optimal: Py<PyAny>,
    /// Rate of every path; feasible. Array of float, shape (scenarios, paths).
    #[pyo3(get)]
    rates: Py<PyAny>,
    /// Rate of every flow, the sum over its paths: array of float, shape (scenarios, flows).
    #[pyo3(get)]
    flow_rates: Py<PyAny>,
    /// Price of every link, as in `Solution.prices`: array of float, shape (scenarios, links).
    #[pyo3(get)]
    prices: Py<PyAny>,
    /// Load of every link: array of float, shape (scenarios, links).
    #[pyo3(get)]
    loads: Py<PyAny>,
    /// The link that holds every path back or -1, as in `Solution.bottlenecks`: array of int, shape (scenarios, paths).
    #[pyo3(get)]
    bottlenecks: Py<PyAny>,
    /// Σ U_f(y_f) over the flows that are served, as in `Solution.objective`: array of float, shape (scenarios,).
    #[pyo3(get)]
    objective: Py<PyAny>,
    /// Proven bound on the relative gap, as in `Solution.gap`: array of float, shape (scenarios,).
    #[pyo3(get)]
    gap: Py<PyAny>,
    /// Largest violation of the optimality conditions, as in `Solution.kkt_residual`: array of float, shape
    /// (scenarios,).
    #[pyo3(get)]
    kkt_residual: Py<PyAny>,
    /// How many flows nothing can pass, those of `Solution.failed_flows`: array of int, shape (scenarios,).
    #[pyo3(get)]
    failed_flows: Py<PyAny>,
    /// Iterations done: array of int, shape (scenarios,).
    #[pyo3(get)]
    iterations: Py<PyAny>,
    /// Seconds that each took on its thread: array of float, shape (scenarios,).
    #[pyo3(get)]
    seconds: Py<PyAny>,
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
    cuts: Vec<(f64, Vec<u32>, Vec<u32>)>,
    /// As texts of JSON.
    classes: Vec<String>,
    infeasibility: Option<String>,
    summary: String,
}

/// The numbers that are shown of all.
#[derive(Clone, Copy)]
struct Summary {
    scenarios: usize,
    optimal: usize,
    infeasible: usize,
    /// The largest of all that are not infeasible.
    gap: f64,
    kkt_residual: f64,
    /// Per scenario.
    iterations: f64,
    seconds: f64,
}

/// Checks that the solutions of so many scenarios fit in memory.
pub(super) fn check_memory(problem: &Problem, scenarios: usize) -> PyResult<()> {
    let columns = problem.flows() + 2 * problem.paths().len() + 2 * problem.links();
    memory::check(&format!("answers to {}", counted(scenarios, "scenario")), scenarios as u128 * columns as u128 * 8)
        .map_err(raise)
}

impl Solutions {
    pub(super) fn new(py: Python<'_>, problem: &Problem, found: Vec<netnum_core::Solution>) -> PyResult<Self> {
        let (count, size) = (found.len(), [problem.flows(), problem.paths().len(), problem.links()]);
        let [flows, paths, links] = size;
        let matrix = |columns: usize| Vec::with_capacity(count * columns);
        let (mut rates, mut flow_rates, mut prices, mut loads) =
            (matrix(paths), matrix(flows), matrix(links), matrix(links));
        let (mut status, mut numbers, mut failed, mut iterations) = (vec![], [const { Vec::new() }; 4], vec![], vec![]);
        let (mut bottlenecks, mut others) = (Vec::with_capacity(count * paths), Vec::with_capacity(count));
        for solution in found {
            let (certificate, summary) = (solution.certificate, solution.to_string());
            let of_one = [solution.objective, certificate.relative_gap, certificate.kkt_residual, solution.seconds];
            numbers.iter_mut().zip(of_one).for_each(|(column, number): (&mut Vec<f64>, _)| column.push(number));
            status.push(solution.status);
            rates.extend(solution.rates);
            flow_rates.extend(solution.flow_rates);
            prices.extend(solution.prices);
            loads.extend(solution.loads);
            bottlenecks.extend(solution.bottlenecks.into_iter().map(|link| link.map_or(-1, i64::from)));
            failed.push(solution.failed_flows.len() as i64);
            iterations.push(solution.iterations as i64);
            let (method, failed_flows) = (solution.method.into(), solution.failed_flows);
            let cuts = solution.cuts.into_iter().map(|cut| (cut.fair_share, cut.links, cut.flows)).collect();
            let classes = solution.classes.iter().map(text).collect::<PyResult<_>>()?;
            let infeasibility = solution.infeasibility.as_ref().map(text).transpose()?;
            let overload = certificate.overload;
            others.push(Others { method, overload, failed_flows, cuts, classes, infeasibility, summary });
        }
        let names: Vec<&str> = status.iter().map(|status| status.name()).collect();
        let arrays = PyDict::new(py);
        arrays.set_item("status", py.import("numpy")?.call_method1("array", (names, "U14"))?)?;
        let optimal = status.iter().map(|&status| status == Status::Optimal).collect();
        arrays.set_item("is_optimal", PyArray1::from_vec(py, optimal))?;
        for (name, values, columns) in [
            ("rates", rates, paths),
            ("flow_rates", flow_rates, flows),
            ("prices", prices, links),
            ("loads", loads, links),
        ] {
            arrays.set_item(name, numbers::read_only(py, values).reshape([count, columns])?)?;
        }
        arrays.set_item("bottlenecks", numbers::read_only(py, bottlenecks).reshape([count, paths])?)?;
        for (name, values) in ["objective", "gap", "kkt_residual", "seconds"].into_iter().zip(numbers) {
            arrays.set_item(name, PyArray1::from_vec(py, values))?;
        }
        arrays.set_item("failed_flows", PyArray1::from_vec(py, failed))?;
        arrays.set_item("iterations", PyArray1::from_vec(py, iterations))?;
        Self::of_arrays(&arrays, size, others)
    }

    /// From the arrays by name, which become read-only.
    fn of_arrays(arrays: &Bound<'_, PyDict>, size: [usize; 3], others: Vec<Others>) -> PyResult<Self> {
        for (name, kind, dimensions) in FIELDS {
            let array = field(arrays, name)?;
            let is_such =
                |array: &Bound<'_, PyUntypedArray>| (array.dtype().kind(), array.ndim()) == (kind, dimensions);
            if !array.cast::<PyUntypedArray>().is_ok_and(is_such) {
                return Err(PyTypeError::new_err(format!("pickled Solutions whose {name:?} is another kind of array")));
            }
            array.call_method1("setflags", (false,))?;
        }
        let array = |name: &str| field(arrays, name).map(Bound::unbind);
        Ok(Self {
            status: array("status")?,
            is_optimal: array("is_optimal")?,
            rates: array("rates")?,
            flow_rates: array("flow_rates")?,
            prices: array("prices")?,
            loads: array("loads")?,
            bottlenecks: array("bottlenecks")?,
            objective: array("objective")?,
            gap: array("gap")?,
            kkt_residual: array("kkt_residual")?,
            failed_flows: array("failed_flows")?,
            iterations: array("iterations")?,
            seconds: array("seconds")?,
            size,
            summary: Summary::of(arrays)?,
            others,
        })
    }

    /// One scenario.
    fn solution<'py>(slf: &Bound<'py, Self>, scenario: usize) -> PyResult<Bound<'py, PyAny>> {
        let (py, this, state) = (slf.py(), slf.get(), PyDict::new(slf.py()));
        let others = &this.others[scenario];
        for (name, ..) in FIELDS {
            state.set_item(name, slf.getattr(name)?.get_item(scenario)?)?;
        }
        let number = |name: &str| -> PyResult<f64> { field(&state, name)?.extract() };
        let (relative_gap, kkt_residual) = (number("gap")?, number("kkt_residual")?);
        let certificate = netnum_core::Certificate::new(relative_gap, others.overload, kkt_residual);
        let certificate = Certificate::from(certificate);
        state.set_item("certificate", Py::new(py, certificate)?)?;
        state.set_item("method", &others.method)?;
        state.set_item("failed_flows", numbers::indices(py, &others.failed_flows))?;
        state.set_item("cuts", &others.cuts)?;
        state.set_item("classes", &others.classes)?;
        state.set_item("infeasibility", &others.infeasibility)?;
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
    fn of(arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
        let optimal: Vec<bool> = field(arrays, "is_optimal")?.extract()?;
        let numbers = |name: &str| field(arrays, name)?.extract::<Vec<f64>>();
        let status: Vec<String> = field(arrays, "status")?.call_method0("tolist")?.extract()?;
        let is_infeasible: Vec<bool> = status.iter().map(|name| name == Status::Infeasible.name()).collect();
        let largest = |name: &str| -> PyResult<f64> {
            let solved = numbers(name)?.into_iter().zip(&is_infeasible).filter(|(_, infeasible)| !**infeasible);
            Ok(solved.fold(0.0, |largest, (value, _)| largest.max(value)))
        };
        let each = |name: &str| PyResult::Ok(numbers(name)?.iter().sum::<f64>() / optimal.len().max(1) as f64);
        Ok(Self {
            scenarios: optimal.len(),
            optimal: optimal.iter().filter(|&&optimal| optimal).count(),
            infeasible: is_infeasible.iter().filter(|&&infeasible| infeasible).count(),
            gap: largest("gap")?,
            kkt_residual: largest("kkt_residual")?,
            iterations: each("iterations")?,
            seconds: each("seconds")?,
        })
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
            return Self::solution(slf, numbers::place("scenario", place, count)?);
        }
        // NumPy decides which keys are valid, and raises for others.
        let places = py.import("numpy")?.call_method1("arange", (count,))?.get_item(key)?;
        let Ok(picked) = places.extract::<Vec<usize>>() else {
            let message = "scenarios are picked by a place, a slice, a list of places or an array of bool";
            return Err(PyIndexError::new_err(message));
        };
        let arrays = PyDict::new(py);
        for (name, ..) in FIELDS {
            arrays.set_item(name, slf.getattr(name)?.call_method1("take", (&places, 0))?)?;
        }
        let others = picked.iter().map(|&scenario| this.others[scenario].clone()).collect();
        Ok(Bound::new(py, Self::of_arrays(&arrays, this.size, others)?)?.into_any())
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        numbers::entries(slf)
    }

    fn __repr__(&self) -> String {
        let Summary { scenarios, optimal, infeasible, gap, kkt_residual, iterations, .. } = self.summary;
        let [flows, _, links] = self.size;
        if scenarios == 0 {
            return format!("Solutions(0 scenarios, {}, {})", counted(flows, "flow"), counted(links, "link"));
        }
        let mut optimal: String =
            if optimal == scenarios { "all optimal".into() } else { format!("{optimal} optimal") };
        if infeasible > 0 {
            optimal += &format!(", {infeasible} infeasible");
        }
        let worst = netnum_core::Certificate::new(gap, 0.0, kkt_residual);
        format!(
            "Solutions({}, {optimal}, {}, {}, {worst}, {iterations:.1} iterations and {} each)",
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
        for (name, ..) in FIELDS {
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

/// The arrays: name, NumPy's letter for the kind of the entries, dimensions.
const FIELDS: [(&str, u8, usize); 13] = [
    ("status", b'U', 1),
    ("is_optimal", b'b', 1),
    ("rates", b'f', 2),
    ("flow_rates", b'f', 2),
    ("prices", b'f', 2),
    ("loads", b'f', 2),
    ("bottlenecks", b'i', 2),
    ("objective", b'f', 1),
    ("gap", b'f', 1),
    ("kkt_residual", b'f', 1),
    ("failed_flows", b'i', 1),
    ("iterations", b'i', 1),
    ("seconds", b'f', 1),
];
