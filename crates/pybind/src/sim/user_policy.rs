//! A policy written in Python.

use netnum_sim::{Error, Event, Flows as Live, Policy, Rates, Result};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

use super::{Flows, Workload};
use crate::topology::Topology;
use crate::{detach, numbers};

/// A Python object as a policy: a call at every event.
///
/// An exception that it raises is kept (see `detach.rs`) and ends the simulation.
pub(super) struct UserPolicy {
    object: Py<PyAny>,
    name: String,
    net: Py<Topology>,
    workload: Py<Workload>,
    /// Of every link at present.
    capacities: Vec<f64>,
    /// Those as an array, while they have not changed.
    array: Option<Py<PyArray1<f64>>>,
    /// The slots in use, in order of arrival.
    slots: Vec<u32>,
}

/// The name of an object that is given as a policy or a routing: its attribute `name`, else the name of its class.
///
/// # Errors
/// TypeError for a class, an object without the one method that it must have, and a name that is no str.
pub(super) fn name_of(object: &Bound<'_, PyAny>, role: &str, method: &str, known: &str) -> PyResult<String> {
    if let Ok(class) = object.cast::<PyType>() {
        let name = class.name()?;
        return Err(PyTypeError::new_err(format!("{role} is the class {name}, expected an instance: {name}(…)")));
    }
    let class = object.get_type().name()?.to_string();
    if !object.hasattr(method)? {
        return Err(PyTypeError::new_err(format!("{role} must be {known}, not {class}")));
    }
    let Some(name) = object.getattr_opt("name")? else { return Ok(class) };
    let name = name.cast_into::<PyString>();
    Ok(name.map_err(|_| PyTypeError::new_err(format!("{class}.name must be a str")))?.to_str()?.to_owned())
}

impl UserPolicy {
    pub(super) fn new(
        object: &Bound<'_, PyAny>,
        net: &Bound<'_, Topology>,
        workload: &Bound<'_, Workload>,
    ) -> PyResult<Self> {
        let known = "a name, a netnum.sim.Policy or an object with a method allocate(now, flows)";
        let name = name_of(object, "policy", "allocate", known)?;
        let (net, workload) = (net.clone().unbind(), workload.clone().unbind());
        let object = object.clone().unbind();
        Ok(Self { object, name, net, workload, capacities: Vec::new(), array: None, slots: Vec::new() })
    }

    /// Where the flow in a slot is in order of arrival, or would be.
    fn place(&self, slot: u32, flows: &Live) -> usize {
        let number = flows.flow(slot).number;
        self.slots.partition_point(|&other| flows.flow(other).number < number)
    }

    /// Calls it: the rates, if any change, and the time of the next call.
    fn call(&mut self, py: Python<'_>, now: f64, live: &Live) -> PyResult<(Option<Vec<f64>>, f64)> {
        let make = || numbers::read_only(py, self.capacities.clone()).unbind();
        let capacities = self.array.get_or_insert_with(make).clone_ref(py);
        let flows = Flows::new(self.workload.clone_ref(py), capacities, &self.slots, live, now);
        let answer = self.object.bind(py).call_method1("allocate", (now, flows))?;
        let (rates, next) = match answer.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => (pair.get_item(0)?, Some(pair.get_item(1)?)),
            _ => (answer, None),
        };
        let next = next.filter(|next| !next.is_none());
        let next = next.map_or(Ok(f64::INFINITY), |next| numbers::float(&self.result("next_time"), &next))?;
        if rates.is_none() {
            return Ok((None, next));
        }
        Ok((Some(numbers::floats(&self.result("rates"), &rates)?), next))
    }

    fn result(&self, what: &str) -> String {
        format!("{what} of policy {:?}", self.name)
    }

    /// Keeps its exception. The error only ends the simulation: the exception is raised.
    fn raised(&self, error: PyErr) -> Error {
        detach::keep(error);
        self.error("has raised".into())
    }

    fn error(&self, what: String) -> Error {
        Error::Policy { policy: self.name.clone(), what }
    }
}

impl Policy for UserPolicy {
    fn name(&self) -> &str {
        &self.name
    }

    fn begin_run(&mut self, net: &netnum_core::Topology, _workload: &netnum_sim::Workload) -> Result<()> {
        self.capacities = net.capacities().to_vec();
        Python::attach(|py| match self.object.bind(py).getattr_opt("start")? {
            Some(start) => start.call1((&self.net, &self.workload)).map(drop),
            None => Ok(()),
        })
        .map_err(|error| self.raised(error))
    }

    fn changed(&mut self, event: Event, flows: &Live) -> Result<()> {
        match event {
            Event::Arrived(slot) => self.slots.insert(self.place(slot, flows), slot),
            Event::Ended(slot) => _ = self.slots.remove(self.place(slot, flows)),
            Event::CapacityChanged { link, capacity } => {
                self.capacities[link as usize] = capacity;
                self.array = None;
            }
            _ => {}
        }
        Ok(())
    }

    fn is_exact(&self) -> bool {
        false
    }

    /// It is given them.
    fn takes_weights(&self) -> bool {
        true
    }

    fn allocate(&mut self, now: f64, flows: &Live, rates: &mut Rates) -> Result<f64> {
        let (answer, next) = Python::attach(|py| self.call(py, now, flows)).map_err(|error| self.raised(error))?;
        let Some(answer) = answer else { return Ok(next) };
        if answer.len() != self.slots.len() {
            let (found, expected) = (answer.len(), self.slots.len());
            return Err(self.error(format!("gave {found} rates at {now} s, expected {expected}, one per flow")));
        }
        for (&slot, rate) in self.slots.iter().zip(answer) {
            rates.set(slot, rate);
        }
        Ok(next)
    }
}
