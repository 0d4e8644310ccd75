//! `Topology`.

use std::collections::HashMap;

use netnum_core::{Error, Link, Topology as Core, expected_below};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::door::{self, Pacer};
use crate::error::{ProblemError, raise, setting};
use crate::numbers::{self, count};
use crate::paths::Paths;

/// A network: named nodes, joined by directed links with capacities.
///
/// The first `ends` nodes are the ends, where flows may start and stop: the servers of a fabric, numbered rack by rack from
/// 0, or every node of a generic graph. Ready-made ones are in `netnum.topology`.
///
/// Parameters
/// ----------
/// node_names : sequence of str
///     One per node, no two the same.
/// links : array of int, shape (links, 2)
///     The nodes that every link runs from and to.
/// capacities : array of float, shape (links,)
///     Finite and >= 0; 0 is a link that has failed.
/// ends : int, optional
///     How many nodes are ends, at least 2. By default all.
/// tiers : array of int, shape (nodes,), optional
///     0 for ends, 1 for rack or edge switches, 2 for aggregation or spine, 3 for core. Only for drawing. By default 0.
/// name : str
///     What to call it when it is shown.
/// positions : array of float, shape (nodes, 2), optional
///     Where to draw every node.
/// integer_names : bool
///     Whether an integer that is given for an end is its name, as in a graph whose nodes are the numbers 1 to n, and not its
///     index; `random_pairs` gives such names then. Where only some names are integers, one that is a name is refused:
///     give it as text.
///
/// Raises
/// ------
/// ProblemError
///     Naming the node or link that is wrong.
#[pyclass(frozen, eq, module = "netnum")]
pub(crate) struct Topology {
    pub(crate) core: Core,
    positions: Option<Vec<[f64; 2]>>,
    /// The nodes by their names, where names are integers.
    labels: Option<Labels>,
    capacities: PyOnceLock<Py<PyArray1<f64>>>,
    link_names: PyOnceLock<Py<PyAny>>,
}

/// The nodes that are named by an integer, by that integer.
struct Labels {
    nodes: HashMap<i64, usize>,
    /// Whether all ends are.
    are_all: bool,
}

impl Labels {
    fn of(core: &Core) -> Self {
        let label = |(node, name): (usize, &String)| {
            let label: i64 = name.parse().ok()?;
            (label.to_string() == *name).then_some((label, node))
        };
        let nodes: HashMap<i64, usize> =
            core.node_names()[..core.ends()].iter().enumerate().filter_map(label).collect();
        Self { are_all: nodes.len() == core.ends(), nodes }
    }
}

impl PartialEq for Topology {
    fn eq(&self, other: &Self) -> bool {
        self.core == other.core && self.positions == other.positions && self.labels.is_some() == other.labels.is_some()
    }
}

impl From<Core> for Topology {
    fn from(core: Core) -> Self {
        Self { core, positions: None, labels: None, capacities: PyOnceLock::new(), link_names: PyOnceLock::new() }
    }
}

fn made(py: Python<'_>, make: impl FnOnce() -> netnum_core::Result<Core> + Send) -> PyResult<Topology> {
    door::detached(py, make).map(Into::into)
}

/// Names of nodes.
fn names(names: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if names.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("node_names must be a sequence of str, not a str"));
    }
    let (mut all, mut pacer) = (Vec::new(), Pacer::new(names.py()));
    for (node, name) in names.try_iter()?.enumerate() {
        let name = name?;
        all.push(name.extract().map_err(|_| {
            let kind = name.get_type().name().map_or_else(|_| "that".into(), |kind| kind.to_string());
            PyTypeError::new_err(format!("the name of node {node} must be a str, not {kind}"))
        })?);
        pacer.did(1)?;
    }
    Ok(all)
}

#[pymethods]
impl Topology {
    #[new]
    #[pyo3(signature = (
        node_names, links, capacities, *, ends=None, tiers=None, name="graph", positions=None, integer_names=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords are how Python sets settings")]
    fn new(
        node_names: &Bound<'_, PyAny>,
        links: &Bound<'_, PyAny>,
        capacities: &Bound<'_, PyAny>,
        ends: Option<&Bound<'_, PyAny>>,
        tiers: Option<&Bound<'_, PyAny>>,
        name: &str,
        positions: Option<&Bound<'_, PyAny>>,
        integer_names: bool,
    ) -> PyResult<Self> {
        let py = links.py();
        let node_names = names(node_names)?;
        let nodes = node_names.len();
        let (joined, capacities) = (numbers::pairs("links", links)?, numbers::floats("capacities", capacities)?);
        if capacities.len() != joined.len() {
            let (what, found, expected) = ("capacities".into(), capacities.len(), joined.len());
            return Err(raise(Error::Length { what, found, expected, per: "link" }));
        }
        let node = |link: usize, node: i64| {
            let message = format!("link {link} names node {node}, {}", expected_below("node", nodes));
            u32::try_from(node).map_err(|_| raise(Error::Topology(message)))
        };
        let link = |(link, (&[from, to], &capacity)): (usize, (&[i64; 2], &f64))| {
            Ok(Link { from: node(link, from)?, to: node(link, to)?, capacity })
        };
        let links = joined.iter().zip(&capacities).enumerate().map(link).collect::<PyResult<_>>()?;
        let ends = ends.map_or(Ok(nodes), |ends| count("ends", ends, 0))?;
        let tier = |(node, tier): (usize, i64)| {
            u8::try_from(tier).map_err(|_| setting(&format!("the tier of node {node}"), tier, "a number from 0 to 255"))
        };
        let tiers = match tiers {
            Some(tiers) => {
                numbers::integers("tiers", tiers)?.into_iter().enumerate().map(tier).collect::<PyResult<_>>()?
            }
            None => vec![0; nodes],
        };
        let positions = match positions {
            None => None,
            Some(positions) => {
                let (values, shape) = numbers::floats_of_any_shape("positions", positions)?;
                if shape != [nodes, 2] {
                    return Err(ProblemError::new_err(format!("positions has shape {shape:?}, expected [{nodes}, 2]")));
                }
                Some(values.as_chunks().0.to_vec())
            }
        };
        let (core, labels) = door::detached(py, || {
            let core = Core::new(name, node_names, ends, tiers, links)?;
            let labels = integer_names.then(|| Labels::of(&core));
            Ok((core, labels))
        })?;
        Ok(Self { positions, labels, ..Self::from(core) })
    }

    /// Racks of servers, every rack joined to every spine.
    ///
    /// Servers are numbered rack by rack. Links, for H servers and F = racks * spines: server h -> its rack at h, its rack
    /// -> server h at H + h, rack r -> spine s at 2H + r * spines + s, and back at 2H + F + r * spines + s.
    ///
    /// Parameters
    /// ----------
    /// racks, servers_per_rack, spines : int
    /// server_capacity : float
    ///     Of the links between a server and its rack. By default 10 Gbit/s in bit/s.
    /// fabric_capacity : float
    ///     Of the links between racks and spines. By default 40 Gbit/s in bit/s.
    ///
    /// Returns
    /// -------
    /// Topology
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For no racks, servers or spines, a single server in all, or a capacity that is negative or not finite.
    ///
    /// Notes
    /// -----
    /// 9 racks of 16 servers under 4 spines is the network of Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017.
    #[staticmethod]
    #[pyo3(signature = (racks, servers_per_rack, spines, server_capacity=10e9, fabric_capacity=40e9))]
    fn leaf_spine(
        racks: &Bound<'_, PyAny>,
        servers_per_rack: &Bound<'_, PyAny>,
        spines: &Bound<'_, PyAny>,
        server_capacity: f64,
        fabric_capacity: f64,
    ) -> PyResult<Self> {
        let py = racks.py();
        let racks = count("racks", racks, 1)?;
        let servers_per_rack = count("servers_per_rack", servers_per_rack, 1)?;
        let spines = count("spines", spines, 1)?;
        made(py, || Core::leaf_spine(racks, servers_per_rack, spines, server_capacity, fabric_capacity))
    }

    /// The fat tree of k-port switches: k pods, k³/4 servers, (k/2)² shortest paths between pods.
    ///
    /// Parameters
    /// ----------
    /// k : int
    ///     Ports per switch, even and at least 2.
    /// capacity : float
    ///     Of every link.
    ///
    /// Returns
    /// -------
    /// Topology
    ///
    /// Raises
    /// ------
    /// NumError
    ///     For a `k` that is odd or below 2, or a capacity that is negative or not finite.
    ///
    /// Notes
    /// -----
    /// Source: Al-Fares, Loukissas, Vahdat, *A Scalable, Commodity Data Center Network Architecture*, SIGCOMM 2008, §3.
    #[staticmethod]
    #[pyo3(signature = (k, capacity=1.0))]
    fn fat_tree(k: &Bound<'_, PyAny>, capacity: f64) -> PyResult<Self> {
        let even = "an even number >= 2";
        let ports = count("k", k, 2)
            .map_err(|error| if k.lt(2).is_ok_and(|small| small) { setting("k", k, even) } else { error })?;
        made(k.py(), || Core::fat_tree(ports, capacity))
    }

    /// Two nodes and one link, from node 0 to node 1.
    ///
    /// Parameters
    /// ----------
    /// capacity : float
    ///
    /// Returns
    /// -------
    /// Topology
    #[staticmethod]
    #[pyo3(signature = (capacity=1.0))]
    fn single_link(py: Python<'_>, capacity: f64) -> PyResult<Self> {
        made(py, || Core::single_link(capacity))
    }

    /// n links in a chain: link i runs from node i to node i + 1.
    ///
    /// Parameters
    /// ----------
    /// n : int
    ///     Number of links, at least 1.
    /// capacity : float
    ///     Of every link.
    ///
    /// Returns
    /// -------
    /// Topology
    #[staticmethod]
    #[pyo3(signature = (n, capacity=1.0))]
    fn parking_lot(n: &Bound<'_, PyAny>, capacity: f64) -> PyResult<Self> {
        let links = count("n", n, 1)?;
        made(n.py(), || Core::parking_lot(links, capacity))
    }

    /// Servers around one hub, each with a link up and a link down.
    ///
    /// Links, for H servers: server h -> hub at h, hub -> server h at H + h.
    ///
    /// Parameters
    /// ----------
    /// servers : int
    ///     At least 2.
    /// capacity : float
    ///     Of every link.
    ///
    /// Returns
    /// -------
    /// Topology
    #[staticmethod]
    #[pyo3(signature = (servers, capacity=1.0))]
    fn star(servers: &Bound<'_, PyAny>, capacity: f64) -> PyResult<Self> {
        let ends = count("servers", servers, 2)?;
        made(servers.py(), || Core::star(ends, capacity))
    }

    /// A network from text with one edge per line, ``node node capacity``.
    ///
    /// Blank lines and lines that start with ``#`` are skipped. Edge i, "a b c", is link 2i from a to b and link 2i + 1
    /// from b to a, each of capacity c. All nodes are ends, numbered by first appearance.
    ///
    /// Parameters
    /// ----------
    /// text : str
    /// name : str
    ///
    /// Returns
    /// -------
    /// Topology
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     With the number of the line that is wrong.
    #[staticmethod]
    #[pyo3(signature = (text, name="graph"))]
    fn from_edges(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        made(py, || Core::from_edges(text).map(|core| core.named(name)))
    }

    /// What the network is called.
    #[getter]
    fn name(&self) -> &str {
        self.core.name()
    }

    /// Capacity of every link: array of float, shape (links,).
    #[getter]
    fn capacities(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        let make = || numbers::read_only(py, self.core.capacities().to_vec()).unbind();
        self.capacities.get_or_init(py, make).clone_ref(py)
    }

    /// The nodes that every link runs from and to: array of int, shape (links, 2).
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let ends: Vec<i64> = self.core.links().iter().flat_map(|link| [link.from.into(), link.to.into()]).collect();
        let array = PyArray1::from_vec(py, ends).reshape([self.core.links().len(), 2])?;
        array.readwrite().make_nonwriteable();
        Ok(array)
    }

    /// A name for every link, such as "server 3 -> rack 0": list of str.
    #[getter]
    fn link_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let make = || Ok::<_, PyErr>(self.core.link_names().into_pyobject(py)?.unbind());
        self.link_names.get_or_try_init(py, make)?.bind(py).call_method0("copy")
    }

    /// The name of every node, the ends first: list of str.
    #[getter]
    fn node_names(&self) -> &[String] {
        self.core.node_names()
    }

    /// How many ends there are. They are the nodes 0 … ends - 1.
    #[getter]
    fn ends(&self) -> usize {
        self.core.ends()
    }

    /// The tier of every node: 0 for ends, 1 for rack or edge switches, 2 for aggregation or spine, 3 for core. Array of
    /// int, shape (nodes,).
    #[getter]
    fn tiers<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        numbers::indices(py, self.core.tiers())
    }

    /// Where to draw every node: array of float, shape (nodes, 2), or None.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(positions) = &self.positions else { return Ok(None) };
        PyArray1::from_vec(py, positions.as_flattened().to_vec()).reshape([positions.len(), 2]).map(Some)
    }

    /// One shortest path for every pair, chosen as routers do under equal-cost multipath.
    ///
    /// Hop by hop, uniformly among the links that lie on a shortest path (fewest links) from there. The choices of pair i
    /// depend on `seed` and i only. A link of capacity 0 still counts as a link.
    ///
    /// Parameters
    /// ----------
    /// sources, destinations : array of int or sequence of str, shape (pairs,)
    ///     Ends by index or by name.
    /// seed : int
    ///     From 0 to 2**64 - 1.
    ///
    /// Returns
    /// -------
    /// Paths
    ///     One path per pair.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first pair with an end that does not exist, with two equal ends, or without a route.
    #[pyo3(signature = (sources, destinations, seed=None))]
    #[pyo3(text_signature = "($self, sources, destinations, seed=0)")]
    fn ecmp(
        &self,
        py: Python<'_>,
        sources: &Bound<'_, PyAny>,
        destinations: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Paths> {
        let (sources, destinations) = (self.ends_of("sources", sources)?, self.ends_of("destinations", destinations)?);
        let seed = seed_of(seed)?;
        door::detached(py, || self.core.ecmp(&sources, &destinations, seed)).map(Into::into)
    }

    /// All shortest paths (fewest links) from one end to another.
    ///
    /// Parameters
    /// ----------
    /// source, destination : int or str
    ///     Ends by index or by name.
    ///
    /// Returns
    /// -------
    /// Paths
    ///     In lexicographic order of their link indices.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming both ends, when one does not exist, both are the same, no path joins them, or there are more than
    ///     1 000 000 paths.
    fn paths(&self, py: Python<'_>, source: &Bound<'_, PyAny>, destination: &Bound<'_, PyAny>) -> PyResult<Paths> {
        let (source, destination) = (self.end_of("source", source)?, self.end_of("destination", destination)?);
        door::detached(py, || self.core.paths(source, destination)).map(Into::into)
    }

    /// Pairs of two different ends, uniform among all such pairs.
    ///
    /// Parameters
    /// ----------
    /// count : int
    /// seed : int
    ///     From 0 to 2**64 - 1.
    ///
    /// Returns
    /// -------
    /// sources, destinations : array of int, shape (count,)
    ///     Indices of ends; their names, where those are integers.
    ///
    /// Raises
    /// ------
    /// MemoryError
    ///     When the pairs do not fit in memory.
    #[pyo3(signature = (count, seed=None))]
    #[pyo3(text_signature = "($self, count, seed=0)")]
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn random_pairs<'py>(
        &self,
        py: Python<'py>,
        count: &Bound<'py, PyAny>,
        seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
        let (pairs, seed) = (numbers::count("count", count, 0)?, seed_of(seed)?);
        let (sources, destinations) = door::detached(py, || self.core.random_pairs(pairs, seed))?;
        let column = |ends: Vec<usize>| {
            if self.labels.as_ref().is_some_and(|labels| labels.are_all) {
                return numbers::long_indices(py, &ends.iter().map(|&end| self.shown(end)).collect::<Vec<_>>());
            }
            numbers::long_indices(py, &ends)
        };
        Ok((column(sources)?, column(destinations)?))
    }

    /// Draw the network, fabrics tier by tier, other graphs by their positions or networkx's layout.
    ///
    /// Parameters
    /// ----------
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; by default a new figure.
    /// values : array of float, shape (links,), optional
    ///     What colours the links: loads / capacities, prices, … Of the two links between two nodes the larger value
    ///     shows.
    /// label : str, optional
    ///     What the values are, for the colour bar.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    #[pyo3(signature = (ax=None, *, values=None, label=None))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        ax: Option<&Bound<'py, PyAny>>,
        values: Option<&Bound<'py, PyAny>>,
        label: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum.plot")?.call_method1("topology", (slf, ax, values, label))
    }

    #[expect(clippy::type_complexity, reason = "what pickle asks for: the positional arguments, and the others")]
    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((&[String], Bound<'py, PyArray2<i64>>, Py<PyArray1<f64>>), Bound<'py, PyDict>)> {
        let others = PyDict::new(py);
        others.set_item("ends", self.ends())?;
        others.set_item("tiers", self.tiers(py))?;
        others.set_item("name", self.name())?;
        others.set_item("positions", self.positions(py)?)?;
        others.set_item("integer_names", self.labels.is_some())?;
        Ok(((self.node_names(), self.links(py)?, self.capacities(py)), others))
    }

    fn __repr__(&self) -> String {
        format!("Topology({})", self.core)
    }
}

impl Topology {
    /// An end by index or by name. Whether there are so many ends is for the core to say.
    pub(crate) fn end_of(&self, what: &str, end: &Bound<'_, PyAny>) -> PyResult<usize> {
        if let Ok(name) = end.cast::<PyString>() {
            let name = name.to_cow()?;
            let message = || format!("{what} is {name:?}, expected the name of one of the {} ends", self.core.ends());
            return self.core.end(&name).ok_or_else(|| ProblemError::new_err(message()));
        }
        let number: i64 = end.extract().map_err(|error: PyErr| {
            if !error.is_instance_of::<PyTypeError>(end.py()) {
                return self.no_end(what, end);
            }
            let kind = end.get_type().name().map_or_else(|_| "that".into(), |name| name.to_string());
            PyTypeError::new_err(format!("{what} must be an end's index or name, not {kind}"))
        })?;
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
                    let (name, what) = (self.core.name(), what());
                    return Err(ProblemError::new_err(format!(
                        "{what} is {number}, and no node of {name} is called that"
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

    fn no_end(&self, what: &str, end: impl std::fmt::Display) -> PyErr {
        ProblemError::new_err(format!("{what} is {end}, {}", expected_below("end", self.core.ends())))
    }

    /// Ends by index or by name, one after the other.
    fn ends_of(&self, what: &str, ends: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        let place = |index: usize| format!("{what}[{index}]");
        if ends.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!("{what} must be a sequence of ends, not a str")));
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

/// Whether NumPy's letter for a kind of numbers stands for integers.
fn is_integer(kind: char) -> bool {
    matches!(kind, 'i' | 'u')
}

/// A seed, 0 by default.
pub(crate) fn seed_of(seed: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    let Some(seed) = seed else { return Ok(0) };
    seed.extract().map_err(|error: PyErr| match error.is_instance_of::<PyTypeError>(seed.py()) {
        true => PyTypeError::new_err("seed must be an integer"),
        false => setting("seed", seed, "an integer from 0 to 2**64 - 1"),
    })
}
