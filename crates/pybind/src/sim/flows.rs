//! `Flows`: the flows at one time, for a policy written in Python.

use netnum_core::Paths as Core;
use netnum_sim::{Flows as Live, MaxMinFair, Route};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::{BITS, Workload};
use crate::detach::EnterRust;
use crate::error::raise;
use crate::numbers;
use crate::paths::Paths;

/// The flows at one time, in order of arrival, as read-only columns.
///
/// `simulate` gives it to a user-defined policy. It does not change while the simulation continues.
///
/// Examples
/// --------
/// >>> class Fair:
/// ...     def allocate(self, now, flows):
/// ...         assert len(flows.left) == len(flows.paths) == len(flows)
/// ...         return flows.max_min()
/// >>> net = netnum.topology.single_link(8.0)  # 1 byte per second
/// >>> workload = netnum.sim.Workload([0.0, 0.0], [0, 0], [1, 1], [1.0, 2.0])
/// >>> netnum.sim.simulate(net, workload, policy=Fair()).completion_times.round(6)
/// array([2., 3.])
#[pyclass(frozen, module = "netnum.sim")]
pub(crate) struct Flows {
    workload: Py<Workload>,
    capacities: Py<PyArray1<f64>>,
    numbers: Vec<u32>,
    left: Vec<f64>,
    rates: Vec<f64>,
    caps: Vec<f64>,
    arrivals: Vec<f64>,
    indptr: Vec<usize>,
    links: Vec<u32>,
    shares: Vec<f64>,
    /// The arrays that have been used: each is made once.
    columns: [PyOnceLock<Py<PyArray1<f64>>>; 7],
    places: PyOnceLock<Py<PyArray1<i64>>>,
    paths: PyOnceLock<Py<Paths>>,
}

impl Flows {
    /// The flows in these slots.
    pub(super) fn new(
        workload: Py<Workload>,
        capacities: Py<PyArray1<f64>>,
        slots: &[u32],
        live: &Live,
        now: f64,
    ) -> Self {
        let column = |value: &dyn Fn(u32) -> f64| slots.iter().map(|&slot| value(slot)).collect::<Vec<f64>>();
        let mut flows = Self {
            workload,
            capacities,
            numbers: slots.iter().map(|&slot| live.flow(slot).number).collect(),
            left: column(&|slot| live.flow(slot).left(now) / BITS),
            rates: column(&|slot| live.flow(slot).rate),
            caps: column(&|slot| live.flow(slot).cap),
            arrivals: column(&|slot| live.flow(slot).arrival),
            indptr: vec![0],
            links: Vec::new(),
            shares: Vec::new(),
            columns: [const { PyOnceLock::new() }; 7],
            places: PyOnceLock::new(),
            paths: PyOnceLock::new(),
        };
        for &slot in slots {
            flows.links.extend_from_slice(live.route(slot).links());
            flows.shares.extend(live.route(slot).coefficients());
            flows.indptr.push(flows.links.len());
        }
        flows
    }

    /// A column as an array, made at its first use.
    fn column(&self, py: Python<'_>, place: usize, values: impl FnOnce() -> Vec<f64>) -> Py<PyArray1<f64>> {
        self.columns[place].get_or_init(py, || numbers::read_only(py, values()).unbind()).clone_ref(py)
    }

    /// A column of the workload.
    fn given(&self, values: &[f64]) -> Vec<f64> {
        self.numbers.iter().map(|&number| values[number as usize]).collect()
    }
}

#[pymethods]
impl Flows {
    /// Their places in the workload: array of int, shape (flows,).
    #[getter]
    fn numbers(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        self.places.get_or_init(py, || numbers::indices(py, &self.numbers).unbind()).clone_ref(py)
    }

    /// Their sizes, in bytes: array of float, shape (flows,).
    #[getter]
    fn sizes(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 0, || self.given(self.workload.get().core.sizes()))
    }

    /// The bytes that are not sent yet, inf of flows of size inf: array of float, shape (flows,).
    #[getter]
    fn left(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 1, || self.left.clone())
    }

    /// Their rates so far, in bit/s, 0 for those that have just arrived: array of float, shape (flows,).
    #[getter]
    fn rates(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 2, || self.rates.clone())
    }

    /// The most that their sources can send, in bit/s, inf for no bound: array of float, shape (flows,).
    #[getter]
    fn caps(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 3, || self.caps.clone())
    }

    /// Their weights, 1 unless the workload has some: array of float, shape (flows,).
    #[getter]
    fn weights(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 6, || match self.workload.get().core.weights() {
            Some(weights) => self.given(weights),
            None => vec![1.0; self.numbers.len()],
        })
    }

    /// When they arrived, in seconds, after those that they wait for: array of float, shape (flows,).
    #[getter]
    fn arrivals(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 4, || self.arrivals.clone())
    }

    /// The links of their routes: `netnum.Paths`, one path per flow, with their shares as coefficients.
    #[getter]
    fn paths(&self, py: Python<'_>) -> PyResult<Py<Paths>> {
        let make = || {
            let (indptr, links) = (self.indptr.clone(), self.links.clone());
            let paths = match self.shares.iter().all(|&share| share == 1.0) {
                true => Core::new(indptr, links),
                false => Core::with_coefficients(indptr, links, self.shares.clone()),
            };
            Py::new(py, Paths::from(paths.map_err(raise)?))
        };
        Ok(self.paths.get_or_try_init(py, make)?.clone_ref(py))
    }

    /// What each link of a flow's route carries per unit of its rate, 1 unless it spreads over several paths or its
    /// path has coefficients: array of float, aligned with ``paths.indices``.
    #[getter]
    fn shares(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 5, || self.shares.clone())
    }

    /// Capacity of every link at this time, in bit/s: array of float, shape (links,).
    #[getter]
    fn capacities(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.capacities.clone_ref(py)
    }

    /// The rates of fair sharing on their routes, within their caps: array of float in bit/s, shape (flows,).
    ///
    /// Those of the policy ``"max-min"``. O(hops · log(links)).
    fn max_min<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let capacities = self.capacities.bind(py).to_vec()?;
        let flow = |(hops, &cap): (&[usize], &f64)| {
            let on = hops[0]..hops[1];
            let mut route = Route::default();
            let links = self.links[on.clone()].iter().copied();
            route.take_with_coefficients(links.zip(self.shares[on].iter().copied()));
            (route, cap)
        };
        let flows = self.indptr.windows(2).zip(&self.caps).map(flow);
        let rates = py.enter_rust(|| MaxMinFair::rates(&capacities, flows))?;
        Ok(PyArray1::from_vec(py, rates))
    }

    fn __len__(&self) -> usize {
        self.numbers.len()
    }

    fn __repr__(&self) -> String {
        // An empty sum is -0.
        let bytes = 0.0 + self.left.iter().sum::<f64>();
        format!("Flows({} flows, {:.4} kB left)", self.numbers.len(), bytes / 1e3)
    }
}
