//! Problems without paths: pairs of a network, over all of its paths.

use std::sync::Arc;

use netnum_core::internal::{check_length, check_over_all_paths, over_first_paths};
use netnum_core::{Ask, CheapestPaths, NetworkPaths, Paths, Problem as Core, Ranks};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyString, PyTuple};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::by_name::is_a;
use crate::detach::EnterRust;
use crate::error::{NumError, ProblemError, raise, wrong_type};
use crate::numbers;
use crate::own_paths::OwnPaths;
use crate::path_forms;
use crate::problem::Problem;
use crate::solve::Solution;
use crate::topology::Topology;
use crate::topology::pairs::{Pairs, is_column, is_end, of_one};

/// The paths that the flows of a problem may use, where none are given: all of a network, under limits.
#[derive(Clone)]
pub(crate) struct AllPaths {
    pub(crate) paths: Arc<NetworkPaths>,
    /// Those that Python code knows, in place of all.
    pub(crate) own: Option<Arc<OwnPaths>>,
    /// Utility lost per unit of load on every link; empty where there are no costs.
    pub(crate) link_costs: Arc<Vec<f64>>,
}

/// What a solve goes on from: a problem over the paths of an answer, its prices, and what these paths carried.
pub(crate) struct Begun {
    pub(crate) problem: Core,
    pub(crate) prices: Vec<f64>,
    pub(crate) rates: Vec<f64>,
}

impl Begun {
    /// From what a solve is given to start from: nothing where that is prices alone.
    pub(crate) fn at(
        py: Python<'_>,
        problem: &Problem,
        all: &AllPaths,
        start: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Self>> {
        match start.and_then(|start| start.cast::<Solution>().ok()) {
            Some(solution) => all.going_on(py, problem, solution.get()),
            None => Ok(None),
        }
    }
}

/// What says which paths there are, as it is given.
#[derive(Default)]
pub(crate) struct Limits<'a, 'py> {
    pub(crate) cheapest_paths: Option<&'a Bound<'py, PyAny>>,
    pub(crate) max_hops: Option<&'a Bound<'py, PyAny>>,
    pub(crate) avoid_links: Option<&'a Bound<'py, PyAny>>,
    pub(crate) avoid_nodes: Option<&'a Bound<'py, PyAny>>,
}

impl Limits<'_, '_> {
    /// Refuses limits beside paths that are given.
    pub(crate) fn refuse(&self) -> PyResult<()> {
        if is_given(self.cheapest_paths) {
            let message = "cheapest_paths finds the paths of pairs, and paths are given here";
            return Err(ProblemError::new_err(message));
        }
        match self.first() {
            Some(name) => {
                let message =
                    format!("{name} is a limit of paths that solve finds for pairs, and paths are given here");
                Err(ProblemError::new_err(message))
            }
            None => Ok(()),
        }
    }

    /// The first limit that is given.
    fn first(&self) -> Option<&'static str> {
        let given = [("max_hops", self.max_hops), ("avoid_links", self.avoid_links), ("avoid_nodes", self.avoid_nodes)];
        given.into_iter().find(|(_, value)| is_given(*value)).map(|(name, _)| name)
    }
}

fn is_given(value: Option<&Bound<'_, PyAny>>) -> bool {
    value.is_some_and(|value| !value.is_none())
}

impl AllPaths {
    /// All paths for pairs of a network.
    pub(crate) fn new(net: &Bound<'_, Topology>, pairs: &Pairs, limits: &Limits<'_, '_>) -> PyResult<Self> {
        let (py, this) = (net.py(), net.get());
        let max_hops = match limits.max_hops.filter(|given| !given.is_none()) {
            Some(hops) => Some(u32::try_from(numbers::count("max_hops", hops, 1)?).unwrap_or(u32::MAX)),
            None => None,
        };
        let links = match limits.avoid_links.filter(|given| !given.is_none()) {
            Some(links) => Topology::links_of(net, "avoid_links", links)?,
            None => Vec::new(),
        };
        let nodes = match limits.avoid_nodes.filter(|given| !given.is_none()) {
            Some(nodes) => {
                if nodes.is_instance_of::<PyString>() || nodes.try_iter().is_err() {
                    return Err(wrong_type("avoid_nodes", "a sequence of nodes", nodes));
                }
                let node = |node: PyResult<Bound<'_, PyAny>>| this.node_of("a node of avoid_nodes", &node?);
                nodes.try_iter()?.map(node).collect::<PyResult<Vec<_>>>()?
            }
            None => Vec::new(),
        };
        let number = |all: Vec<usize>| all.into_iter().map(|one| one as u32).collect::<Vec<u32>>();
        let (links, nodes) = (number(links), number(nodes));
        let Pairs { sources, destinations, .. } = pairs;
        let core = &this.core;
        let paths = py.enter_rust(|| NetworkPaths::within(core, sources, destinations, max_hops, &links, &nodes))?;
        let paths = Arc::new(paths);
        let own = limits.cheapest_paths.filter(|given| !given.is_none());
        if let (Some(_), Some(name)) = (own, limits.first()) {
            let what = format!("{name} is a limit of the paths that solve finds");
            return Err(ProblemError::new_err(format!("{what}, and cheapest_paths finds them here")));
        }
        let own = own.map(|given| OwnPaths::new(net, Arc::clone(&paths), given).map(Arc::new)).transpose()?;
        Ok(Self { paths, own, link_costs: Arc::default() })
    }

    /// What says which path is the cheapest.
    pub(crate) fn oracle(&self) -> &dyn CheapestPaths {
        match &self.own {
            Some(own) => &**own,
            None => &*self.paths,
        }
    }

    /// The paths to begin with, one per pair.
    pub(crate) fn first(&self, links: usize) -> netnum_core::Result<Paths> {
        match &self.own {
            Some(own) => own.first().map(|paths| Paths::clone(&paths)),
            None => self.paths.fewest_hops(links, &Ranks::alone()),
        }
    }

    /// These pairs and limits in the network with other capacities.
    pub(crate) fn of_network(&self, net: &Bound<'_, Topology>) -> PyResult<Self> {
        let (core, paths) = (&net.get().core, &self.paths);
        let paths = Arc::new(net.py().enter_rust(|| paths.of_network(core))?);
        let own = self.own.as_ref().map(|own| Arc::new(own.of_network(net, Arc::clone(&paths))));
        Ok(Self { paths, own, link_costs: Arc::clone(&self.link_costs) })
    }

    /// A problem of these flows over the paths to begin with.
    pub(crate) fn begin(&self, problem: Core) -> netnum_core::Result<Core> {
        over_first_paths(&problem, self.first(problem.links())?, &self.link_costs)
    }

    /// A problem of these pairs over the paths of a solution, and the point to go on from: its prices, and what the
    /// paths carried. None for a solution of another network, and one without its problem; and where Python code knows
    /// the paths, which is not asked whether a path is one of them.
    pub(crate) fn going_on(&self, py: Python<'_>, problem: &Problem, solution: &Solution) -> PyResult<Option<Begun>> {
        let Some(found) = solution.found().filter(|_| self.own.is_none()) else { return Ok(None) };
        let [prices, rates] = solution.point(py)?;
        let (Some(ours), Some(theirs)) = (&problem.topology, &found.get().topology) else { return Ok(None) };
        let (ours, theirs) = (&ours.get().core, &theirs.get().core);
        let ends =
            |net: &netnum_core::Topology| net.links().iter().map(|link| (link.from, link.to)).collect::<Vec<_>>();
        if ours.node_names().len() != theirs.node_names().len() || ends(ours) != ends(theirs) {
            return Ok(None);
        }
        let carried = (found.get().at_first().paths(), &*rates);
        let begun = || self.paths.go_on(problem.at_first(), &self.link_costs, carried, &Ranks::alone());
        py.enter_rust(begun).map(|(problem, rates)| Some(Begun { problem, prices, rates }))
    }

    /// Goes on with another problem of these pairs, over the paths that there are.
    pub(crate) fn next(&self, py: Python<'_>, problem: &Problem, begun: &Begun) -> PyResult<Begun> {
        let carried = (begun.problem.paths(), &*begun.rates);
        let next = || self.paths.go_on(problem.at_first(), &self.link_costs, carried, &Ranks::alone());
        let (problem, rates) = py.enter_rust(next)?;
        Ok(Begun { problem, prices: begun.prices.clone(), rates })
    }

    /// Refuses what a problem over all paths cannot have.
    pub(crate) fn check(&self, problem: &Core) -> netnum_core::Result<()> {
        self.check_ask(problem, &Ask::default())
    }

    /// And what cannot be asked of it.
    pub(crate) fn check_ask(&self, problem: &Core, ask: &Ask) -> netnum_core::Result<()> {
        check_over_all_paths(problem, !self.link_costs.is_empty(), ask)
    }

    /// What they are limited by, as keywords that their network takes.
    pub(crate) fn keywords(&self, py: Python<'_>, net: &Topology, keywords: &Bound<'_, PyDict>) -> PyResult<()> {
        keywords.set_item("max_hops", self.paths.max_hops())?;
        let (links, nodes) = (self.paths.avoided_links(), self.paths.avoided_nodes());
        keywords.set_item("avoid_links", (!links.is_empty()).then(|| numbers::indices(py, &links)))?;
        let names = nodes.iter().map(|&node| net.core.node_names()[node as usize].as_str()).collect::<Vec<_>>();
        keywords.set_item("avoid_nodes", (!names.is_empty()).then_some(names))?;
        let own = self.own.as_ref().map(|own| own.function.clone_ref(py));
        keywords.set_item("cheapest_paths", own)?;
        let costs = (!self.link_costs.is_empty()).then(|| numbers::read_only(py, self.link_costs.to_vec()));
        keywords.set_item("link_cost", costs)
    }
}

/// Sources and destinations, as their network takes them.
pub(crate) fn ends_as_taken(py: Python<'_>, pairs: &[[u32; 2]], net: &Topology) -> PyResult<Py<PyTuple>> {
    let ends = |which: usize| {
        let ends = pairs.iter().map(|pair| pair[which] as usize).collect::<Vec<_>>();
        net.shown_as_taken(py, &ends)
    };
    Ok(PyTuple::new(py, [ends(0)?, ends(1)?])?.unbind())
}

/// What JSON has of pairs in place of paths.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    sources: Vec<u32>,
    destinations: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_hops: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    avoid_links: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    avoid_nodes: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    link_cost: Vec<f64>,
}

impl AllPaths {
    /// The text of a problem over the paths to begin with as one with pairs in their place.
    pub(crate) fn in_json(&self, text: &str) -> serde_json::Result<String> {
        let mut fields: Map<String, Value> = serde_json::from_str(text)?;
        fields.remove("paths");
        fields.remove("path_cost");
        let (sources, destinations) = self.paths.pairs().iter().map(|&[from, to]| (from, to)).unzip();
        let kept = Kept {
            sources,
            destinations,
            max_hops: self.paths.max_hops(),
            avoid_links: self.paths.avoided_links(),
            avoid_nodes: self.paths.avoided_nodes().to_vec(),
            link_cost: self.link_costs.to_vec(),
        };
        fields.insert("pairs".into(), serde_json::to_value(kept)?);
        serde_json::to_string(&fields)
    }

    /// The network, its paths and the problem over those to begin with, of a text with pairs.
    pub(crate) fn from_json(py: Python<'_>, text: &str) -> PyResult<(Py<Topology>, Self, Core)> {
        let wrong = |error: serde_json::Error| NumError::new_err(error.to_string());
        let mut fields: Map<String, Value> = py.detach(|| serde_json::from_str(text)).map_err(wrong)?;
        let mut taken = |name: &str| {
            fields
                .remove(name)
                .ok_or_else(|| NumError::new_err(format!("a problem of pairs without the field {name:?}")))
        };
        let (kept, network): (Kept, Value) =
            (serde_json::from_value(taken("pairs")?).map_err(wrong)?, taken("network")?);
        let capacities = fields.get("capacity").cloned().unwrap_or_default();
        let capacities: Vec<Option<f64>> = serde_json::from_value(capacities).map_err(wrong)?;
        let capacities: Vec<f64> = capacities.into_iter().map(|capacity| capacity.unwrap_or(f64::INFINITY)).collect();
        let arguments = (network.to_string(), numbers::read_only(py, capacities));
        let net = py.import("netnum._saved")?.call_method1("network_of", arguments)?.cast_into::<Topology>()?;
        let ends = |ends: &[u32]| ends.iter().map(|&end| end as usize).collect::<Vec<_>>();
        let (sources, destinations, this) = (ends(&kept.sources), ends(&kept.destinations), net.get());
        let (core, all) = py.enter_rust(|| -> netnum_core::Result<(Core, Self)> {
            let Kept { max_hops, avoid_links, avoid_nodes, .. } = &kept;
            let paths = NetworkPaths::within(&this.core, &sources, &destinations, *max_hops, avoid_links, avoid_nodes)?;
            let first = paths.fewest_hops(this.core.links().len(), &Ranks::alone())?;
            let lists: Vec<Value> = first.iter().map(|links| links.to_vec().into()).collect();
            fields.insert("paths".into(), lists.into());
            let core = Core::from_json(&Value::Object(fields).to_string())?;
            let all = Self { paths: Arc::new(paths), own: None, link_costs: Arc::new(kept.link_cost.clone()) };
            let core = all.begin(core)?;
            core.check_limits()?;
            Ok((core, all))
        })?;
        Ok((net.unbind(), all, core))
    }
}

/// What JSON has of pairs beside paths.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptEnds {
    sources: Vec<u32>,
    destinations: Vec<u32>,
}

/// Pairs beside paths, for JSON.
pub(crate) fn ends_as_json(pairs: &[[u32; 2]]) -> String {
    let (sources, destinations) = pairs.iter().map(|&[from, to]| (from, to)).unzip();
    serde_json::to_string(&KeptEnds { sources, destinations }).expect("lists of integers")
}

/// The pairs beside paths in the text of a problem.
pub(crate) fn ends_in_json(text: &str) -> PyResult<Option<Vec<[u32; 2]>>> {
    #[derive(Deserialize)]
    struct WithPairs {
        #[serde(default)]
        pairs: Option<KeptEnds>,
    }
    let wrong = |error: serde_json::Error| NumError::new_err(format!("pairs beside paths: {error}"));
    let WithPairs { pairs } = serde_json::from_str(text).map_err(wrong)?;
    let Some(KeptEnds { sources, destinations }) = pairs else { return Ok(None) };
    check_length("pairs.destinations", destinations.len(), sources.len(), "source").map_err(raise)?;
    Ok(Some(sources.into_iter().zip(destinations).map(Into::into).collect()))
}

impl PartialEq for AllPaths {
    fn eq(&self, other: &Self) -> bool {
        let function = |all: &Self| all.own.as_ref().map(|own| own.function.as_ptr());
        self.paths.is_of_same(&other.paths) && self.link_costs == other.link_costs && function(self) == function(other)
    }
}

/// What an iterator gives, in a list, so that it can be looked at and read; others as they are.
pub(crate) fn in_a_list<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let Ok(given) = given.cast::<PyIterator>() else { return Ok(given.clone()) };
    let entries = given.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    PyList::new(given.py(), entries).map(Bound::into_any)
}

/// The pairs in place of paths, if these are any: demands, a pair, pairs in a list or in two arrays.
///
/// # Errors
/// `ProblemError` for pairs in a set.
pub(crate) fn pairs_of(net: &Bound<'_, Topology>, given: &Bound<'_, PyAny>) -> PyResult<Option<Pairs>> {
    path_forms::refuse_by_name(given)?;
    let are_pairs = is_demands(net.get(), given)? || is_pair(given)? || are_columns(given)? || is_list_of_pairs(given)?;
    are_pairs.then(|| of_one(net, given)).transpose()
}

/// Whether something states demands: what has volumes, a dict, a table with sources, a square matrix over the ends.
pub(crate) fn is_demands(net: &Topology, given: &Bound<'_, PyAny>) -> PyResult<bool> {
    if given.hasattr("dtype")? && given.hasattr("shape")? && !given.hasattr("tocsc")? {
        let shape: Vec<usize> = given.getattr("shape")?.extract()?;
        let kind = given.getattr("dtype")?.getattr("kind")?.extract::<char>();
        return Ok(shape == [net.core.ends(); 2] && kind.is_ok_and(|kind| kind == 'f'));
    }
    if given.hasattr("iloc")? && given.hasattr("columns")? {
        return Ok(true);
    }
    Ok(given.is_instance_of::<PyDict>() || given.hasattr("volumes")?)
}

fn is_pair(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(pair) = given.cast::<PyTuple>() else { return Ok(false) };
    Ok(pair.len() == 2 && is_end(&pair.get_item(0)?)? && is_end(&pair.get_item(1)?)?)
}

/// As `Topology.all_pairs` and `random_pairs` give them.
fn are_columns(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(two) = given.cast::<PyTuple>() else { return Ok(false) };
    if two.len() != 2 {
        return Ok(false);
    }
    let (first, second) = (two.get_item(0)?, two.get_item(1)?);
    Ok(is_column(&first)? && is_column(&second)? && first.len()? == second.len()?)
}

fn is_list_of_pairs(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_set = is_a(given, "Set")?;
    if !(is_set || given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>()) {
        return Ok(false);
    }
    let mut is_empty = true;
    for pair in given.try_iter()? {
        if !is_pair(&pair?)? {
            return Ok(false);
        }
        is_empty = false;
    }
    if is_set && !is_empty {
        let what = format!("pairs are in a {}, and flows have an order", given.get_type().name()?);
        return Err(ProblemError::new_err(format!("{what}: give a list of them, list(pairs)")));
    }
    Ok(!is_empty)
}

/// Refuses what is about single paths.
pub(crate) fn refuse_paths(name: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let instead = match name {
        "group" => "every pair is a flow",
        "rate_cap" => "flow_cap= is per flow",
        "pairs" => "they are its second argument",
        _ => "link_cost= is per link",
    };
    match given.filter(|given| !given.is_none()) {
        Some(_) => Err(ProblemError::new_err(format!("{name} is about paths, and pairs have none: {instead}"))),
        None => Ok(()),
    }
}
