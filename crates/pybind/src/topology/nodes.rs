//! Nodes and links as Python names them: by name, by number, a link by the two nodes that it joins.

use std::collections::HashMap;

use netnum_core::internal::expected_below;
use netnum_core::{Error, Topology as Core};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyString, PyTuple};

use super::Topology;
use crate::detach::Pacer;
use crate::error::{ProblemError, raise, wrong_type};
use crate::numbers;

/// How a link is given.
const ONE_LINK: &str = "a link's number, its name or a pair of nodes";

/// How many names a message lists.
const LISTED: usize = 8;

/// The ends that have an integer for a name, by that integer.
pub(crate) struct Labels {
    nodes: HashMap<i64, usize>,
    /// Whether all ends have one.
    pub(crate) are_all: bool,
}

impl Labels {
    /// None where no end has one, and where all names are indices.
    pub(crate) fn of(core: &Core) -> Option<Self> {
        let labels = || (0..core.ends()).map(|end| core.integer_name(end));
        if labels().enumerate().all(|(end, label)| label.is_some_and(|label| usize::try_from(label) == Ok(end))) {
            return None;
        }
        let nodes: HashMap<i64, usize> = labels().zip(0..).filter_map(|(label, end)| Some((label?, end))).collect();
        (!nodes.is_empty()).then(|| Self { are_all: nodes.len() == core.ends(), nodes })
    }
}

/// The topology that is given as a network, itself or as a graph of networkx; None for capacities.
pub(crate) fn of_network<'py>(network: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, Topology>>> {
    if let Ok(topology) = network.cast::<Topology>() {
        return Ok(Some(topology.clone()));
    }
    if !(network.hasattr("nodes")? && network.hasattr("edges")?) {
        return Ok(None);
    }
    let made = network.py().import("netnum.topology")?.call_method1("from_networkx", (network,))?;
    Ok(Some(made.cast_into()?))
}

impl Topology {
    /// An end by index or by name. The core checks that an index is below the number of ends.
    pub(crate) fn end_of(&self, what: &str, end: &Bound<'_, PyAny>) -> PyResult<usize> {
        if let Ok(name) = end.cast::<PyString>() {
            let name = name.to_cow()?;
            return self.core.end(&name).ok_or_else(|| no_name(what, &name, self.core.expected_end(&name)));
        }
        self.refuse_tuple(what, end)?;
        let number = whole(end, || wrong_type(what, "an end's index or name", end), || self.no_end(what, end))?;
        self.index_of(|| what.into(), number)
    }

    /// The end that an integer stands for: the one of that name where names are integers, else the one of that index.
    pub(crate) fn index_of(&self, what: impl Fn() -> String, number: i64) -> PyResult<usize> {
        if let Some(labels) = &self.labels {
            match labels.nodes.get(&number) {
                Some(&end) if labels.are_all => return Ok(end),
                Some(&end) if usize::try_from(number) != Ok(end) => {
                    let what = what();
                    let message =
                        format!("{what} is {number}, the name of node {end}: write it as a name, \"{number}\"");
                    return Err(ProblemError::new_err(message));
                }
                None if labels.are_all => {
                    let (name, what, names) = (self.core.name(), what(), self.listed_names());
                    return Err(ProblemError::new_err(format!(
                        "{what} is {number}, and no node of {name} is called that: names of ends are integers, {names}"
                    )));
                }
                _ => {}
            }
        }
        usize::try_from(number).map_err(|_| self.no_end(&what(), number))
    }

    /// The integer that stands for an end.
    pub(crate) fn shown(&self, end: usize) -> i64 {
        match &self.labels {
            Some(Labels { are_all: true, .. }) => self.core.node_names()[end].parse().unwrap_or(end as i64),
            _ => end as i64,
        }
    }

    /// Ends as they are taken again: by the integers that stand for them or, where some have an integer for a name and
    /// some have not, by their names.
    pub(crate) fn shown_as_taken<'py>(&self, py: Python<'py>, ends: &[usize]) -> PyResult<Bound<'py, PyAny>> {
        if self.labels.is_some() && !self.labels_ends() {
            let names: Vec<&str> = ends.iter().map(|&end| &*self.core.node_names()[end]).collect();
            return py.import("numpy")?.call_method1("array", (names,));
        }
        Ok(numbers::read_only(py, ends.iter().map(|&end| self.shown(end)).collect()).into_any())
    }

    /// Whether integers are names of ends, and not their indices.
    pub(crate) fn labels_ends(&self) -> bool {
        self.labels.as_ref().is_some_and(|labels| labels.are_all)
    }

    /// A node by number or by name.
    pub(crate) fn node_of(&self, what: &str, node: &Bound<'_, PyAny>) -> PyResult<usize> {
        let nodes = self.core.node_names().len();
        if let Ok(name) = node.cast::<PyString>() {
            let name = name.to_cow()?;
            return self.core.node(&name).ok_or_else(|| no_name(what, &name, self.core.expected_node(&name)));
        }
        let missing = || ProblemError::new_err(format!("{what} is {node}, {}", expected_below("node", nodes)));
        self.refuse_tuple(what, node)?;
        let number = whole(node, || wrong_type(what, "a node's name or number", node), missing)?;
        let named = if self.labels_ends() { self.core.node(&number.to_string()) } else { None };
        if let Some(node) = named {
            return Ok(node);
        }
        let number = if self.labels.is_some() { self.index_of(|| what.into(), number)? as i64 } else { number };
        usize::try_from(number).ok().filter(|&node| node < nodes).ok_or_else(missing)
    }

    /// Refuses a node that is a tuple in another library, by its name: networks name nodes by texts.
    pub(crate) fn refuse_tuple(&self, what: &str, node: &Bound<'_, PyAny>) -> PyResult<()> {
        let name = if node.is_instance_of::<PyTuple>() { node.str()?.to_string() } else { return Ok(()) };
        match self.core.node(&name) {
            Some(_) => Err(PyTypeError::new_err(format!("{what} is {node}, whose name is the text {name:?}"))),
            None => Ok(()),
        }
    }

    /// The links of the walk through nodes.
    pub(crate) fn route_of(&self, what: &str, nodes: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let nodes = self.nodes_of(what, nodes)?;
        self.core.route(&nodes).map_err(|error| match error {
            Error::Topology(message) if what != "nodes" => ProblemError::new_err(format!("{what}: {message}")),
            error => raise(error),
        })
    }

    /// Nodes one after the other, by name or by number.
    fn nodes_of(&self, what: &str, nodes: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        let node =
            |(place, node): (usize, PyResult<Bound<'_, PyAny>>)| self.node_of(&format!("{what}[{place}]"), &node?);
        listed(what, "a sequence of nodes", nodes)?.enumerate().map(node).collect()
    }

    /// The nodes of every pair.
    pub(crate) fn visits_of(&self, what: &str, lists: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<usize>>> {
        let mut pacer = Pacer::new(lists.py());
        let visits = |(pair, list): (usize, PyResult<Bound<'_, PyAny>>)| {
            pacer.did(1)?;
            let (what, list) = (format!("{what}[{pair}]"), list?);
            if list.is_instance_of::<PyString>() {
                self.node_of(&what, &list)?;
                let name = list.repr()?;
                return Err(PyTypeError::new_err(format!("{what} is a node, expected a list of them, [{name}]")));
            }
            self.nodes_of(&what, &list)
        };
        listed(what, "a sequence of nodes per pair", lists)?.enumerate().map(visits).collect()
    }

    /// Links by number, by name, or by the two nodes that they join.
    pub(crate) fn links_of(net: &Bound<'_, Self>, what: &str, links: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        if let Ok(name) = links.cast::<PyString>() {
            return Self::links_named(net, what, name);
        }
        let expected = "a sequence of link numbers, names of links or pairs of nodes";
        let listed = links.try_iter().map_err(|_| wrong_type(what, expected, links))?;
        let count = net.get().core.links().len();
        let link = |(place, link): (usize, PyResult<Bound<'_, PyAny>>)| {
            let (place, link) = (format!("{what}[{place}]"), link?);
            if let Ok(name) = link.cast::<PyString>() {
                return Self::links_named(net, &place, name);
            }
            if numbers::is_truth(&link)? {
                let instead = "np.flatnonzero(mask) has the places where a mask is True";
                return Err(PyTypeError::new_err(format!("{place} must be {ONE_LINK}, not bool: {instead}")));
            }
            if let Ok(number) = link.extract::<i64>() {
                let known = usize::try_from(number).ok().filter(|&number| number < count);
                let message = || format!("{place} is {number}, {}", expected_below("link", count));
                return known.map(|link| vec![link]).ok_or_else(|| ProblemError::new_err(message()));
            }
            Self::link_between(net, &place, &link).map(|link| vec![link])
        };
        let sets = listed.enumerate().map(link).collect::<PyResult<Vec<_>>>()?;
        Ok(sets.into_iter().flatten().collect())
    }

    /// The link of that name, or the links of the fiber.
    pub(crate) fn links_named(net: &Bound<'_, Self>, what: &str, name: &Bound<'_, PyString>) -> PyResult<Vec<usize>> {
        match Self::_links_by_name(net)?.bind(net.py()).get_item(name)? {
            Some(links) => links.extract(),
            None => net.py().import("netnum._link_sets")?.call_method1("named", (net, what, name))?.extract(),
        }
    }

    /// The only link of that name.
    pub(crate) fn link_named(net: &Bound<'_, Self>, what: &str, name: &Bound<'_, PyString>) -> PyResult<usize> {
        let links = Self::links_named(net, what, name)?;
        if let [link] = links[..] {
            return Ok(link);
        }
        let names = net.get().core.link_names();
        let all: Vec<String> = links.iter().map(|&link| format!("{:?}", names[link])).collect();
        let message = format!("{what} names {} links, expected one of {}", links.len(), all.join(", "));
        Err(ProblemError::new_err(message))
    }

    /// The link of a name, or that joins a pair of nodes.
    pub(crate) fn link_between(net: &Bound<'_, Self>, place: &str, pair: &Bound<'_, PyAny>) -> PyResult<usize> {
        if let Ok(name) = pair.cast::<PyString>() {
            return Self::link_named(net, place, name);
        }
        let (this, nodes) = (net.get(), pair.extract::<Vec<Bound<'_, PyAny>>>().unwrap_or_default());
        let [from, to] = &nodes[..] else { return Err(wrong_type(place, ONE_LINK, pair)) };
        let (from, to) = (this.node_of(&format!("{place}[0]"), from)?, this.node_of(&format!("{place}[1]"), to)?);
        let name = |node: usize| &this.core.node_names()[node];
        let message = || format!("{place}: there is no link from {} to {}", name(from), name(to));
        this.core.link(from, to).map(|link| link as usize).map_err(|_| ProblemError::new_err(message()))
    }

    /// Names of ends, or the first few of many.
    fn listed_names(&self) -> String {
        let names = self.core.end_names();
        let shown = names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
        if names.len() > LISTED { format!("{shown}, ... ({} in all)", names.len()) } else { shown }
    }

    fn no_end(&self, what: &str, end: impl std::fmt::Display) -> PyErr {
        ProblemError::new_err(format!("{what} is {end}, {}", expected_below("end", self.core.ends())))
    }

    /// Ends by index or by name, one after the other.
    pub(crate) fn ends_of(&self, what: &str, ends: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        let place = |index: usize| format!("{what}[{index}]");
        if ends.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!("{what} must be a sequence of ends, not a str")));
        }
        if ends.try_iter().is_err() {
            return Err(wrong_type(what, "a sequence of ends", ends));
        }
        let mut pacer = Pacer::new(ends.py());
        if ends.hasattr("dtype")? && ends.getattr("dtype")?.getattr("kind")?.extract::<char>().is_ok_and(is_integer) {
            let checked = |(index, end): (usize, i64)| {
                pacer.did(1)?;
                self.index_of(|| place(index), end)
            };
            return numbers::integers(what, ends)?.into_iter().enumerate().map(checked).collect();
        }
        if ends.hasattr("mask")? && ends.hasattr("filled")? {
            return Err(PyTypeError::new_err(format!("{what} is a masked array, expected plain ends")));
        }
        let checked = |(index, end): (usize, PyResult<Bound<'_, PyAny>>)| {
            pacer.did(1)?;
            let end = end?;
            match end.extract::<i64>() {
                Ok(number) if !end.is_instance_of::<PyString>() => self.index_of(|| place(index), number),
                _ => self.end_of(&place(index), &end),
            }
        };
        ends.try_iter()?.enumerate().map(checked).collect()
    }
}

/// What is in a sequence, which a text and a dict are not.
fn listed<'py>(what: &str, expected: &str, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    let is_sequence = !given.is_instance_of::<PyString>() && !given.is_instance_of::<PyDict>();
    let listed = given.try_iter().ok().filter(|_| is_sequence);
    listed.ok_or_else(|| wrong_type(what, expected, given))
}

/// A whole number; the error for another type, and for one that is too large.
fn whole(value: &Bound<'_, PyAny>, wrong: impl Fn() -> PyErr, missing: impl Fn() -> PyErr) -> PyResult<i64> {
    value.extract().map_err(|error: PyErr| match error.is_instance_of::<PyTypeError>(value.py()) {
        true => wrong(),
        false => missing(),
    })
}

/// Whether NumPy's letter for a kind of numbers stands for integers.
fn is_integer(kind: char) -> bool {
    matches!(kind, 'i' | 'u')
}

fn no_name(what: &str, name: &str, expected: String) -> PyErr {
    ProblemError::new_err(format!("{what} is {name:?}, {expected}"))
}
