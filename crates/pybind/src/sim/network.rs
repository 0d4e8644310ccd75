//! `Network`: the state of the network, for a routing written in Python.

use netnum_sim::NetworkState;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::numbers;

/// The state of the network at one time, as read-only columns.
///
/// `simulate` gives it to a user-defined routing. It does not change while the simulation continues.
///
/// Examples
/// --------
/// >>> class LeastLoaded:
/// ...     def route(self, flow, source, destination, paths, network):
/// ...         used = network.loads / network.capacities
/// ...         return min(range(len(paths)), key=lambda path: used[paths[path]].max())
/// >>> net = netnum.topology.leaf_spine(racks=2, servers_per_rack=2, spines=2, fabric_capacity=10e9)
/// >>> workload = netnum.sim.Workload([0.0, 1e-6], [0, 1], [2, 3], [1e6, 1e6])
/// >>> netnum.sim.simulate(net, workload, routing=LeastLoaded()).slowdowns.round(6)
/// array([1., 1.])
#[pyclass(frozen, module = "netnum.sim")]
pub(crate) struct Network {
    /// The time, in seconds.
    #[pyo3(get)]
    time: f64,
    columns: [Vec<f64>; 2],
    /// The arrays that have been used: each is made once.
    arrays: [PyOnceLock<Py<PyArray1<f64>>>; 2],
}

impl Network {
    pub(super) fn new(now: &NetworkState<'_>) -> Self {
        let given = |&capacity: &f64| if capacity == now.no_limit { f64::INFINITY } else { capacity };
        let columns = [now.capacities.iter().map(given).collect(), now.loads.to_vec()];
        Self { time: now.time, columns, arrays: [const { PyOnceLock::new() }; 2] }
    }

    fn column(&self, py: Python<'_>, place: usize) -> Py<PyArray1<f64>> {
        let make = || numbers::read_only(py, self.columns[place].clone()).unbind();
        self.arrays[place].get_or_init(py, make).clone_ref(py)
    }
}

#[pymethods]
impl Network {
    /// Capacity of every link at this time, in bit/s, 0 if it has failed, inf if it has no limit: array of float, shape
    /// (links,).
    #[getter]
    fn capacities(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 0)
    }

    /// Load of every link, in bit/s: array of float, shape (links,). Flows that end at this time no longer count; the
    /// others have their rates from before.
    #[getter]
    fn loads(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 1)
    }

    fn __repr__(&self) -> String {
        let busy = self.columns[1].iter().zip(&self.columns[0]).filter(|link| link.0 >= link.1).count();
        format!("Network(at {} s, {} links, {busy} of them full)", self.time, self.columns[0].len())
    }
}
