//! Cheapest paths that Python code finds: `Problem(…, cheapest_paths=…)`.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use netnum_core::internal::cheapest_paths::DEARER;
use netnum_core::{Cheaper, CheapestPaths, Error, NetworkPaths, Paths, Result, Workers};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use pyo3::{PyTraverseError, PyVisit};

use crate::error::ProblemError;
use crate::topology::Topology;
use crate::{detach, path_forms};

/// A function of the prices of links that returns the cheapest path of every pair.
///
/// Once Python code has raised, it is not called again: the work ends, and the call raises the first exception (see
/// `detach.rs`).
pub(crate) struct OwnPaths {
    pub(crate) function: Py<PyAny>,
    name: String,
    net: Py<Topology>,
    /// The ends of every pair, and what may go out of the one and into the other.
    pairs: Arc<NetworkPaths>,
    /// The last paths: none that comes later may be dearer at its own prices.
    last: Mutex<Option<Arc<Paths>>>,
}

impl OwnPaths {
    /// For the pairs of a network.
    pub(crate) fn new(
        net: &Bound<'_, Topology>,
        pairs: Arc<NetworkPaths>,
        function: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        if let Ok(class) = function.cast::<PyType>() {
            let name = class.name()?;
            let message = format!("cheapest_paths is the class {name}, expected an instance: {name}(…)");
            return Err(PyTypeError::new_err(message));
        }
        if !function.is_callable() {
            let what = "a function of the prices of links that returns a path per pair";
            return Err(crate::error::wrong_type("cheapest_paths", what, function));
        }
        let own = function.getattr_opt("__name__")?.and_then(|name| name.cast_into::<PyString>().ok());
        let name = match own {
            Some(name) => name.to_string(),
            None => function.get_type().name()?.to_string(),
        };
        Ok(Self { function: function.clone().unbind(), name, net: net.clone().unbind(), pairs, last: Mutex::new(None) })
    }

    /// This function for these pairs in the network with other capacities.
    pub(crate) fn of_network(&self, net: &Bound<'_, Topology>, pairs: Arc<NetworkPaths>) -> Self {
        let (function, name) = (self.function.clone_ref(net.py()), self.name.clone());
        Self { function, name, net: net.clone().unbind(), pairs, last: Mutex::new(None) }
    }

    /// The paths to begin with: the cheapest where every link costs 1.
    ///
    /// # Errors
    /// [`Error::CheapestPath`] for one that does not join its pair, and [`Error::Stopped`] where Python code raises.
    pub(crate) fn first(&self) -> Result<Arc<Paths>> {
        self.all(&vec![1.0; self.net.get().core.links().len()])
    }

    /// The object, for Python's garbage collector.
    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        visit.call(&self.function)?;
        visit.call(&self.net)
    }

    /// The cheapest path of every pair; failed links cost infinitely much.
    fn all(&self, prices: &[f64]) -> Result<Arc<Paths>> {
        if detach::has_raised() {
            return Err(Error::Stopped);
        }
        let net = &self.net.get().core;
        let failed = |(&price, &capacity): (&f64, &f64)| if capacity > 0.0 { price } else { f64::INFINITY };
        let prices: Vec<f64> = prices.iter().zip(net.capacities()).map(failed).collect();
        let answer = Python::attach(|py| self.answer(py, &prices));
        let paths = answer.map_err(|error| {
            detach::keep(error);
            Error::Stopped
        })?;
        let wrong = |flow: usize, what: String| Err(Error::CheapestPath { flow, what });
        let little = DEARER * prices.iter().copied().filter(|price| price.is_finite()).fold(0.0, f64::max);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        for (flow, &[from, to]) in self.pairs.pairs().iter().enumerate() {
            let name = |end: usize| &net.node_names()[end];
            let (from, to) = (from as usize, to as usize);
            if paths.links(flow).is_empty() {
                return wrong(flow, "its path has no links".into());
            }
            match net.walk_ends(paths.links(flow)) {
                Some(ends) if ends == (from, to) => (),
                Some((start, end)) => {
                    let what = format!("it leads from {} to {}", name(start), name(end));
                    return wrong(flow, format!("{what}, expected from {} to {}", name(from), name(to)));
                }
                None => return wrong(flow, "its links do not follow on each other".into()),
            }
            let mut links = paths.links(flow).to_vec();
            links.sort_unstable();
            if let Some(twice) = links.windows(2).find(|two| two[0] == two[1]) {
                return wrong(flow, format!("its path crosses link {} twice", twice[0]));
            }
            let cost = sum(&paths, flow, &prices);
            let before = last.as_ref().map_or(f64::INFINITY, |last| sum(last, flow, &prices));
            if cost > before + little {
                return wrong(flow, format!("its path costs {cost}, more than the {before} of the one before"));
            }
        }
        *last = Some(Arc::clone(&paths));
        Ok(paths)
    }

    fn answer(&self, py: Python<'_>, prices: &[f64]) -> PyResult<Arc<Paths>> {
        let prices = PyArray1::from_slice(py, prices);
        let answer = self.function.bind(py).call1((prices,))?;
        let wrong = |what: String| ProblemError::new_err(format!("cheapest_paths, {}, {what}", self.name));
        if answer.is_none() {
            return Err(wrong("returned None, expected a path per pair".into()));
        }
        let (net, expected) = (self.net.get(), self.pairs.pairs().len());
        let paths = path_forms::of_call(&answer).and_then(|given| {
            let is_grouped = given.cast::<crate::paths::Paths>().is_ok_and(|paths| paths.get().is_grouped());
            Ok((path_forms::paths(&given, net.core.links().len(), Some(net))?, is_grouped))
        });
        let (paths, is_grouped) = paths.map_err(|error| {
            let ours = wrong(format!("returned paths that are none: {}", error.value(py)));
            ours.set_cause(py, Some(error));
            ours
        })?;
        if paths.len() != expected {
            return Err(wrong(format!("returned {} paths, expected {expected}, one per pair", paths.len())));
        }
        if is_grouped {
            return Err(wrong("returned paths with a group, expected path n to be that of pair n".into()));
        }
        if paths.coefficients().is_some() {
            return Err(wrong("returned paths with coefficients, expected plain links".into()));
        }
        Ok(paths)
    }
}

/// What a path costs.
fn sum(paths: &Paths, path: usize, prices: &[f64]) -> f64 {
    paths.links(path).iter().map(|&link| prices[link as usize]).sum()
}

impl fmt::Debug for OwnPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl CheapestPaths for OwnPaths {
    fn flows(&self) -> usize {
        self.pairs.pairs().len()
    }

    fn cheaper(&self, prices: &[f64], than: &[f64], _workers: &dyn Workers) -> Result<Cheaper> {
        let all = self.all(prices)?;
        let works = |link: &u32| self.net.get().core.capacities()[*link as usize] > 0.0;
        let is_cheaper = |&flow: &u32| {
            let links = all.links(flow as usize);
            links.iter().all(works) && sum(&all, flow as usize, prices) < than[flow as usize]
        };
        let flows: Vec<u32> = (0..than.len() as u32).filter(is_cheaper).collect();
        let paths = Paths::from_lists(flows.iter().map(|&flow| all.links(flow as usize).to_vec()));
        Cheaper::new(flows, paths)
    }

    fn most(&self, capacities: &[f64]) -> Vec<f64> {
        self.pairs.most(capacities)
    }

    fn name(&self) -> String {
        format!("the paths of {}", self.name)
    }
}
