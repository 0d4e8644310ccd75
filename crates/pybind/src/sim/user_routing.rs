//! A routing written in Python.

use std::collections::HashMap;

use netnum_sim::{Error, Marking, Marks, NetworkState, Result, Route, Routing};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat};

use super::user_policy::name_of;
use super::{BITS, Network, Workload};
use crate::error::raise;
use crate::paths::Paths;
use crate::plain::plain;
use crate::topology::Topology;
use crate::{detach, numbers};

/// A Python object as a routing: a call at every arrival and at every review, and for every flow when a link changes.
///
/// An exception that it raises is kept (see `detach.rs`) and ends the simulation.
pub(super) struct UserRouting {
    object: Py<PyAny>,
    name: String,
    period: f64,
    marking: Marking,
    /// Whether it has a method for links that change.
    reroutes: bool,
    net: Py<Topology>,
    workload: Py<Workload>,
    /// The paths of pairs of ends.
    paths: HashMap<(usize, usize), Py<Paths>>,
    /// By flow, its last choice.
    choices: Vec<Option<Py<PyAny>>>,
}

impl UserRouting {
    pub(super) fn new(
        object: &Bound<'_, PyAny>,
        net: &Bound<'_, Topology>,
        workload: &Bound<'_, Workload>,
    ) -> PyResult<Self> {
        let known = "a name, a netnum.sim.Routing, a netnum.sim.Split(net, paths, shares), a netnum.Paths or an object \
                     with a method route(flow, source, destination, paths, network)";
        let name = name_of(object, "routing", "route", known)?;
        let period = object.getattr_opt("period")?.filter(|period| !period.is_none());
        if period.is_some() && !object.hasattr("review")? {
            let method = "review(flow, marked, sent, paths, choice, network)";
            return Err(PyTypeError::new_err(format!("routing {name:?} has a period, and no method {method}")));
        }
        let period = period
            .map_or(Ok(f64::INFINITY), |period| numbers::float(&format!("period of routing {name:?}"), &period))?;
        let marking = match object.getattr_opt("marking")? {
            Some(marking) => Marking::from_option(&name, &plain("marking", &marking)?).map_err(raise)?,
            None => Marking::Saturated,
        };
        let reroutes = object.hasattr("reroute")?;
        let (object, net, workload) = (object.clone().unbind(), net.clone().unbind(), workload.clone().unbind());
        Ok(Self { object, name, period, marking, reroutes, net, workload, paths: HashMap::new(), choices: Vec::new() })
    }

    /// The shortest paths of a flow.
    fn paths(&mut self, py: Python<'_>, flow: usize) -> Result<Py<Paths>> {
        let workload = &self.workload.get().core;
        let pair = (workload.sources()[flow], workload.destinations()[flow]);
        if let Some(paths) = self.paths.get(&pair) {
            return Ok(paths.clone_ref(py));
        }
        let found = self.net.get().core.paths(pair.0, pair.1)?;
        let paths = Py::new(py, Paths::from(found)).map_err(|error| self.raised(error))?;
        self.paths.insert(pair, paths.clone_ref(py));
        Ok(paths)
    }

    /// Sets the route that was returned: the index of a path, or weights over them.
    fn set_route(&mut self, flow: usize, mut answer: Bound<'_, PyAny>, paths: &Paths, route: &mut Route) -> Result<()> {
        let count = paths.core.len();
        let index = match answer.is_instance_of::<PyFloat>() || answer.is_instance_of::<PyBool>() {
            true => None,
            false => answer.extract::<i64>().ok(),
        };
        if let Some(index) = index {
            let Some(path) = usize::try_from(index).ok().filter(|&path| path < count) else {
                return Err(self.wrong(flow, format!("got path {index}, expected one below {count}")));
            };
            route.take(paths.core.links(path));
        } else {
            // A copy, since the routing may change its array afterwards.
            let copied = answer.py().import("copy").and_then(|copy| copy.call_method1("copy", (&answer,)));
            answer = copied.map_err(|error| self.raised(error))?;
            let what = format!("weights of routing {:?} for flow {flow}", self.name);
            let weights = numbers::floats(&what, &answer).map_err(|error| self.raised(error))?;
            if weights.len() != count {
                return Err(
                    self.wrong(flow, format!("got {} weights, expected one for each of {count} paths", weights.len()))
                );
            }
            if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
                return Err(self.wrong(flow, format!("got weight {weight}, expected finite numbers >= 0")));
            }
            if weights.iter().all(|&weight| weight == 0.0) {
                return Err(self.wrong(flow, "got weights over paths that add up to 0, expected 1".into()));
            }
            route.spread(paths.core.iter().zip(weights).filter(|path| path.1 > 0.0));
        }
        self.choices[flow] = Some(answer.unbind());
        Ok(())
    }

    /// Sets the route that was returned, unless that is None: whether there is one.
    fn set_route_if_any(
        &mut self,
        flow: usize,
        answer: Bound<'_, PyAny>,
        paths: &Paths,
        route: &mut Route,
    ) -> Result<bool> {
        if answer.is_none() {
            return Ok(false);
        }
        self.set_route(flow, answer, paths, route).map(|()| true)
    }

    fn wrong(&self, flow: usize, what: String) -> Error {
        Error::Routing { routing: self.name.clone(), what: format!("flow {flow} {what}") }
    }

    /// Keeps its exception. The error only ends the simulation: the exception is raised.
    fn raised(&self, error: PyErr) -> Error {
        detach::keep(error);
        Error::Routing { routing: self.name.clone(), what: "has raised".into() }
    }
}

impl Routing for UserRouting {
    fn name(&self) -> &str {
        &self.name
    }

    fn begin_run(&mut self, net: &netnum_core::Topology, workload: &netnum_sim::Workload) -> Result<()> {
        // Names the first pair without a route before anything is simulated.
        net.ecmp(workload.sources(), workload.destinations(), 0)?;
        self.choices = std::iter::repeat_with(|| None).take(workload.len()).collect();
        Python::attach(|py| match self.object.bind(py).getattr_opt("start")? {
            Some(start) => start.call1((&self.net, &self.workload)).map(drop),
            None => Ok(()),
        })
        .map_err(|error| self.raised(error))
    }

    fn route(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        Python::attach(|py| {
            let paths = self.paths(py, flow)?;
            let workload = &self.workload.get().core;
            let (source, destination) = (workload.sources()[flow], workload.destinations()[flow]);
            let arguments = (flow, source, destination, &paths, Network::new(now));
            let answer = self.object.bind(py).call_method1("route", arguments);
            self.set_route(flow, answer.map_err(|error| self.raised(error))?, paths.get(), route)
        })
    }

    fn period(&self) -> f64 {
        self.period
    }

    fn marking(&self) -> Marking {
        self.marking
    }

    fn review(&mut self, flow: usize, marks: Marks, now: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        Python::attach(|py| {
            let paths = self.paths(py, flow)?;
            let (marked, sent) = (marks.marked / BITS, marks.sent / BITS);
            let arguments = (flow, marked, sent, &paths, &self.choices[flow], Network::new(now));
            let answer = self.object.bind(py).call_method1("review", arguments).map_err(|error| self.raised(error))?;
            self.set_route_if_any(flow, answer, paths.get(), route)
        })
    }

    fn reroute(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        if !self.reroutes {
            return Ok(false);
        }
        Python::attach(|py| {
            let paths = self.paths(py, flow)?;
            let works: Vec<bool> = paths.get().core.iter().map(|path| now.works(path)).collect();
            let arguments = (flow, numbers::read_only(py, works), &paths, &self.choices[flow], Network::new(now));
            let answer = self.object.bind(py).call_method1("reroute", arguments).map_err(|error| self.raised(error))?;
            self.set_route_if_any(flow, answer, paths.get(), route)
        })
    }
}
