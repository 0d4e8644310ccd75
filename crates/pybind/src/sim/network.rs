//! `Network`: what a routing written in Python sees besides its flow.

use netnum_sim::NetworkState;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::numbers;

/// The network of a moment, as columns that cannot be written to.
///
/// What a routing of one's own is given by `simulate`. It stays as it is when the simulation goes on.
#[pyclass(frozen, module = "netnum.sim")]
pub(crate) struct Network {
    /// The moment, in seconds.
    #[pyo3(get)]
    time: f64,
    columns: [Vec<f64>; 2],
    /// What has been asked for: arrays are made once.
    arrays: [PyOnceLock<Py<PyArray1<f64>>>; 2],
}

impl Network {
    pub(super) fn new(now: &NetworkState<'_>) -> Self {
        let columns = [now.capacities.to_vec(), now.loads.to_vec()];
        Self { time: now.time, columns, arrays: [const { PyOnceLock::new() }; 2] }
    }

    fn column(&self, py: Python<'_>, place: usize) -> Py<PyArray1<f64>> {
        let make = || numbers::read_only(py, self.columns[place].clone()).unbind();
        self.arrays[place].get_or_init(py, make).clone_ref(py)
    }
}

#[pymethods]
impl Network {
    /// Of every link at this moment, in bit/s, 0 if it has failed: array of float, shape (links,).
    #[getter]
    fn capacities(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 0)
    }

    /// What every link carries, in bit/s: array of float, shape (links,). Flows that have ended at this instant are gone, the
    /// others have the rates from before it.
    #[getter]
    fn loads(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.column(py, 1)
    }

    fn __repr__(&self) -> String {
        let busy = self.columns[1].iter().zip(&self.columns[0]).filter(|link| link.0 >= link.1).count();
        format!("Network(at {} s, {} links, {busy} of them full)", self.time, self.columns[0].len())
    }
}
