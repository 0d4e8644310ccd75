//! Closed loops written in Python, and what they are told.

use netnum_sim::{ClosedLoop, EndedFlow, Error, NextFlows, Result};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::Workload;
use crate::topology::Topology;
use crate::{detach, numbers};

/// The flows that have ended since the last call of a `closed_loop` of `simulate`, in order of their numbers.
///
/// Examples
/// --------
/// >>> net = netnum.topology.single_link(8.0)  # 1 byte per second
/// >>> def again(now, ended):
/// ...     if now < 3.0:
/// ...         return netnum.sim.Workload([now], [0], [1], [2.0])
/// >>> none = netnum.sim.Workload([], [], [], [])
/// >>> netnum.sim.simulate(net, none, closed_loop=again).starts
/// array([0., 2.])
#[pyclass(frozen, module = "netnum.sim")]
pub(crate) struct EndedFlows {
    ended: Vec<EndedFlow>,
    net: Py<Topology>,
}

#[pymethods]
impl EndedFlows {
    /// Their numbers in the workload of the report: array of int, shape (ended,).
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<isize>> {
        numbers::read_only(py, self.ended.iter().map(|ended| ended.flow as isize).collect())
    }

    /// The ends that have sent them, as the network takes them: their indices, or their names where names are integers.
    /// Array of int, shape (ended,).
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.shown(py, |ended| ended.source)
    }

    /// The ends that have received them, likewise: array of int, shape (ended,).
    #[getter]
    fn destinations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.shown(py, |ended| ended.destination)
    }

    /// Their sizes in bytes: array of float, shape (ended,).
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.floats(py, |ended| ended.size)
    }

    /// When they started, in seconds: array of float, shape (ended,).
    #[getter]
    fn starts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.floats(py, |ended| ended.start)
    }

    /// Seconds from their starts to their ends: array of float, shape (ended,).
    #[getter]
    fn completion_times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.floats(py, |ended| ended.completion_time)
    }

    fn __len__(&self) -> usize {
        self.ended.len()
    }

    fn __repr__(&self) -> String {
        format!("EndedFlows({})", numbers::counted(self.ended.len(), "flow"))
    }
}

impl EndedFlows {
    fn shown<'py>(&self, py: Python<'py>, end: impl Fn(&EndedFlow) -> usize) -> Bound<'py, PyArray1<i64>> {
        numbers::read_only(py, self.ended.iter().map(|ended| self.net.get().shown(end(ended))).collect())
    }

    fn floats<'py>(&self, py: Python<'py>, of: impl Fn(&EndedFlow) -> f64) -> Bound<'py, PyArray1<f64>> {
        numbers::read_only(py, self.ended.iter().map(of).collect())
    }
}

/// A Python function as a closed loop.
///
/// An exception that it raises is kept (see `detach.rs`) and ends the simulation.
pub(super) struct UserLoop {
    function: Py<PyAny>,
    net: Py<Topology>,
}

impl UserLoop {
    /// # Errors
    /// TypeError for what cannot be called.
    pub(super) fn new(function: &Bound<'_, PyAny>, net: &Bound<'_, Topology>) -> PyResult<Self> {
        if !function.is_callable() {
            let kind = function.get_type().name()?;
            return Err(PyTypeError::new_err(format!("closed_loop must be a function of (now, ended), not {kind}")));
        }
        Ok(Self { function: function.clone().unbind(), net: net.clone().unbind() })
    }

    fn call(&self, py: Python<'_>, now: f64, ended: &[EndedFlow]) -> PyResult<NextFlows> {
        let ended = EndedFlows { ended: ended.to_vec(), net: self.net.clone_ref(py) };
        let answer = self.function.bind(py).call1((now, ended))?;
        let (flows, next_call) = match answer.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => (pair.get_item(0)?, Some(pair.get_item(1)?)),
            _ => (answer, None),
        };
        let next_call = next_call.filter(|next| !next.is_none());
        let next_call =
            next_call.map_or(Ok(f64::INFINITY), |next| numbers::float("the next time of closed_loop", &next))?;
        if flows.is_none() {
            return Ok(NextFlows { next_call, ..NextFlows::default() });
        }
        let workload = flows.cast::<Workload>().map_err(|_| {
            let shown = flows.repr().map_or_else(|_| "an object".into(), |shown| shown.to_string());
            PyTypeError::new_err(format!(
                "closed_loop returned {shown}, expected None, a Workload, or a tuple of one of them and the time of \
                 the next call"
            ))
        })?;
        let flows = Workload::on(workload, self.net.bind(py))?.get().core.clone();
        Ok(NextFlows { flows, next_call })
    }
}

impl ClosedLoop for UserLoop {
    fn next_flows(&mut self, now: f64, ended: &[EndedFlow]) -> Result<NextFlows> {
        Python::attach(|py| self.call(py, now, ended)).map_err(|error| {
            detach::keep(error);
            Error::ClosedLoop { what: "has raised".into() }
        })
    }
}
