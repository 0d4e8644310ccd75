//! `Topology`.

mod attributes;
mod fabrics;
mod nodes;
pub(crate) mod pairs;

use std::thread;

use netnum_core::internal::{check_length, expected_below, memory};
use netnum_core::{EcmpSplit, Error, KShortest, Link, Paths as CorePaths, Topology as Core};
use netnum_parallel::Threads;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::by_name::{Each, Names};
use crate::detach::{EnterRust, Pacer};
use crate::error::{ProblemError, raise, setting, wrong_type};
use crate::hints;
use crate::numbers::{self, count, kept, threads_of};
use crate::paths::Paths;
pub(crate) use fabrics::{fat_tree, from_edges, leaf_spine, parking_lot, single_link, star};
use nodes::Labels;
pub(crate) use nodes::of_network;
use pairs::Pairs;

/// The names of the two arguments that are pairs together.
const COLUMNS: [&str; 2] = ["sources", "destinations"];

/// A network: named nodes, joined by directed links with capacities.
///
/// The first `ends` nodes are the ends, where flows may start and stop: the servers of a fabric, numbered rack by rack
/// from 0, or every node of a generic graph. Ready-made ones are in `netnum.topology`.
///
/// Parameters
/// ----------
/// node_names : sequence of str
///     One per node, no two the same.
/// links : array of int, shape (links, 2)
///     The nodes that every link runs from and to.
/// capacities : array of float, shape (links,), or float
///     One per link, or the same for all, >= 0: 0 is a link that has failed, inf one without a limit.
/// ends : int, optional
///     How many nodes are ends, at least 2. By default all.
/// tiers : array of int, shape (nodes,), optional
///     0 for ends, 1 for rack or edge switches, 2 for aggregation or spine, 3 for core. Only for drawing. By default 0.
/// name : str
///     Its name in reprs.
/// positions : array of float, shape (nodes, 2), optional
///     Where to draw every node.
/// shared : bool, or array of bool, shape (links,)
///     Which links, or whether all, are shared: one capacity for the sum of both directions. Such a link is walked
///     either way, and has one price.
/// link_attributes : dict of array of float, shape (links,), or list of str, optional
///     What links have besides, by name: delays, costs, lengths. NaN, or an empty str, is none, and an attribute that
///     no link has is left out.
/// directed : bool
///     Whether every link is an edge of its own. False says that edges work both ways, as those that readers make two
///     links of: a pair of nodes that fails (`without`, `netnum.failure_study`) is then the links in both directions.
///
/// Raises
/// ------
/// ProblemError
///     Naming the node or link that is wrong.
///
/// Notes
/// -----
/// An integer that is given for a node is its name where all ends have integers for names, and its index otherwise.
/// With the names 10, 20 and 30, ``ecmp([10], [30])`` goes from node 10 to node 30, ``ecmp([0], [1])`` is refused, and
/// `random_pairs` gives names. Where only some names are integers, an integer that is one of them is refused unless it
/// is the index too: write ``"10"``.
///
/// Examples
/// --------
/// >>> net = netnum.Topology(["Oslo", "Bergen", "Voss"], [[0, 2], [2, 1]], capacities=[10.0, 4.0])
/// >>> net.link_names
/// ['Oslo -> Voss', 'Voss -> Bergen']
/// >>> net.paths("Oslo", "Bergen")[0]
/// array([0, 1])
#[pyclass(frozen, eq, module = "netnum")]
pub(crate) struct Topology {
    pub(crate) core: Core,
    positions: Option<Vec<[f64; 2]>>,
    /// Whether every link is an edge of its own, not one direction of an edge.
    directed: bool,
    /// The ends that have integers for names, unless all names are indices.
    pub(crate) labels: Option<Labels>,
    capacities: PyOnceLock<Py<PyArray1<f64>>>,
    link_names: PyOnceLock<Py<PyAny>>,
    links_by_name: PyOnceLock<Py<PyDict>>,
}

impl PartialEq for Topology {
    fn eq(&self, other: &Self) -> bool {
        self.core == other.core && self.positions == other.positions && self.directed == other.directed
    }
}

impl From<Core> for Topology {
    fn from(core: Core) -> Self {
        let labels = Labels::of(&core);
        Self {
            core,
            positions: None,
            directed: true,
            labels,
            capacities: PyOnceLock::new(),
            link_names: PyOnceLock::new(),
            links_by_name: PyOnceLock::new(),
        }
    }
}

/// Names of nodes.
fn names(names: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if names.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("node_names must be a sequence of str, not a str"));
    }
    let (mut all, mut pacer) = (Vec::new(), Pacer::new(names.py()));
    for (node, name) in names.try_iter()?.enumerate() {
        let name = name?;
        let wrong = |_| wrong_type(&format!("the name of node {node}"), "a str", &name);
        all.push(name.extract().map_err(wrong)?);
        pacer.did(1)?;
    }
    Ok(all)
}

#[pymethods]
impl Topology {
    #[new]
    #[pyo3(signature = (
        node_names=None, links=None, capacities=None, *, ends=None, tiers=None, name="graph", positions=None,
        shared=None, link_attributes=None, directed=true, **unknown
    ))]
    #[pyo3(
        text_signature = "(node_names, links, capacities, *, ends=None, tiers=None, name=\"graph\", positions=None, \
                             shared=False, link_attributes=None, directed=True)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keywords are how Python sets settings")]
    fn new(
        py: Python<'_>,
        node_names: Option<&Bound<'_, PyAny>>,
        links: Option<&Bound<'_, PyAny>>,
        capacities: Option<&Bound<'_, PyAny>>,
        ends: Option<&Bound<'_, PyAny>>,
        tiers: Option<&Bound<'_, PyAny>>,
        name: &str,
        positions: Option<&Bound<'_, PyAny>>,
        shared: Option<&Bound<'_, PyAny>>,
        link_attributes: Option<&Bound<'_, PyAny>>,
        directed: bool,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        hints::refuse("Topology", unknown)?;
        let node_names = hints::needed(py, "Topology", "node_names", node_names)?;
        let links = hints::needed(py, "Topology", "links", links)?;
        let capacities = hints::needed(py, "Topology", "capacities", capacities)?;
        let node_names = names(node_names)?;
        let nodes = node_names.len();
        let joined = numbers::pairs("links", links)?;
        let capacities = numbers::for_each("capacities", capacities, joined.len())?;
        check_length("capacities", capacities.len(), joined.len(), "link").map_err(raise)?;
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
        let core = py.enter_rust(|| Core::new(name, node_names, ends, tiers, links))?;
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
        let core = match shared {
            Some(shared) => {
                let shared = attributes::shared_links(shared, core.links().len())?;
                py.enter_rust(|| core.with_shared(&shared))?
            }
            None => core,
        };
        let core = match link_attributes {
            Some(attributes) => attributes::with_attributes(core, attributes)?,
            None => core,
        };
        Ok(Self { positions, directed, ..Self::from(core) })
    }

    /// The name of the network.
    #[getter]
    fn name(&self) -> &str {
        self.core.name()
    }

    /// Capacity of every link: array of float, shape (links,).
    #[getter]
    fn capacities(&self, py: Python<'_>) -> PyResult<Py<PyArray1<f64>>> {
        kept(&self.capacities, py, || Ok(numbers::read_only(py, self.core.capacities().to_vec())))
    }

    /// The nodes that every link runs from and to: array of int, shape (links, 2).
    #[getter]
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let ends: Vec<i64> = self.core.links().iter().flat_map(|link| [link.from.into(), link.to.into()]).collect();
        let array = PyArray1::from_vec(py, ends).reshape([self.core.links().len(), 2])?;
        array.readwrite().make_nonwriteable();
        Ok(array)
    }

    /// A name for every link, such as "server 3 -> rack 0", of a shared one "server 3 - rack 0": list of str.
    #[getter]
    fn link_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        kept(&self.link_names, py, || self.core.link_names().into_pyobject(py))?.bind(py).call_method0("copy")
    }

    /// The links of every name that there is, of links and of fibers: dict of tuples of int.
    #[getter]
    fn _links_by_name(slf: &Bound<'_, Self>) -> PyResult<Py<PyDict>> {
        let py = slf.py();
        let made = || Ok(py.import("netnum._link_sets")?.call_method1("links_by_name", (slf,))?.cast_into()?);
        kept(&slf.get().links_by_name, py, made)
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

    /// The tier of every node: 0 for ends, 1 for rack or edge switches, 2 for aggregation or spine, 3 for core. Array
    /// of int, shape (nodes,).
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

    /// Which links are shared by both directions: array of bool, shape (links,).
    #[getter]
    fn shared<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let links = 0..self.core.links().len() as u32;
        numbers::read_only(py, links.map(|link| self.core.is_shared(link)).collect())
    }

    /// What links have besides capacities, by name: dict of array of float, shape (links,), nan where a link has none,
    /// or of list of str, "" where it has none.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges([("a", "b", {"capacity": 10.0, "delay": 3.0})])
    /// >>> net.link_attributes["delay"]
    /// array([3., 3.])
    #[getter]
    fn link_attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.attributes(py)
    }

    /// Whether every link is an edge of its own. False where edges work both ways, each as two links or a shared one.
    #[getter]
    fn directed(&self) -> bool {
        self.directed
    }

    /// Whether all ends have integers for names: an integer that is given for an end is its name then.
    #[getter]
    pub(crate) fn integer_names(&self) -> bool {
        self.core.has_integer_names()
    }

    /// One shortest path for every pair, chosen as routers do under equal-cost multipath.
    ///
    /// Hop by hop, uniformly among the links that lie on a shortest path from there. The choices of pair i depend on
    /// `seed` and i only. Links that have failed (capacity 0) are not used.
    ///
    /// Parameters
    /// ----------
    /// sources, destinations : array of int or sequence of str, shape (pairs,)
    ///     Pairs of ends, in any of the forms that `k_shortest_paths` takes.
    /// seed : int
    ///     From 0 to 2**64 - 1.
    /// weight : str, or array of float, shape (links,), or float, or dict, optional
    ///     What crossing each link adds to the weight of a path: >= 0, inf for a link not to be used; the name of one
    ///     of the `link_attributes` that every link has, such as ``"delay"``. A dict has the weights of some links,
    ///     ``{("A", "B"): 3.0}``, beside 1 of the others. By default 1, so that shortest paths are those with the
    ///     fewest links. `ecmp_split` says which weights are alike.
    ///
    /// Returns
    /// -------
    /// Paths
    ///     One path per pair.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first pair with an end that does not exist, with two equal ends, or without a route; and the link
    ///     whose weight is negative or NaN.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges(
    /// ...     [("A", "B", {"capacity": 10.0, "delay": 1.0}), ("B", "C", {"capacity": 10.0, "delay": 1.0}),
    /// ...      ("A", "C", {"capacity": 10.0, "delay": 5.0})]
    /// ... )
    /// >>> [net.link_names[link] for link in net.ecmp("A", "C")[0]]
    /// ['A -> C']
    /// >>> [net.link_names[link] for link in net.ecmp("A", "C", weight="delay")[0]]
    /// ['A -> B', 'B -> C']
    #[pyo3(signature = (sources, destinations=None, seed=None, weight=None))]
    #[pyo3(text_signature = "($self, sources, destinations=None, seed=0, weight=None)")]
    fn ecmp(
        slf: &Bound<'_, Self>,
        sources: &Bound<'_, PyAny>,
        destinations: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Paths> {
        let Pairs { sources, destinations, volumes } = pairs::of_arguments(slf, COLUMNS, sources, destinations)?;
        let (seed, core) = (seed_of(seed)?, &slf.get().core);
        let weight = weight.map(|weight| Self::weight_of(slf, weight)).transpose()?;
        let paths = slf.py().enter_rust(|| core.ecmp_by(&sources, &destinations, weight.as_deref(), seed))?;
        Ok(Paths::from(paths).with_flow_cap(volumes))
    }

    /// One path per pair that is made of all of its shortest paths, as routers divide traffic under equal-cost
    /// multipath: its coefficients are the part of the pair's traffic on every link.
    ///
    /// Hop by hop, every node divides what comes evenly over the links that lie on a shortest path from there. Links
    /// that have failed (capacity 0) are not used; several links between two nodes have a part each.
    ///
    /// Parameters
    /// ----------
    /// sources, destinations : array of int or sequence of str, shape (pairs,)
    ///     Pairs of ends, in any of the forms that `k_shortest_paths` takes.
    /// weight : str, or array of float, shape (links,), or float, or dict, optional
    ///     What crossing each link adds to the weight of a path: >= 0, inf for a link not to be used; the name of one
    ///     of the `link_attributes` that every link has, such as ``"delay"``. A dict has the weights of some links,
    ///     ``{("A", "B"): 3.0}``, beside 1 of the others. By default 1, so that shortest paths are those with the
    ///     fewest links.
    /// via : sequence of sequences of int or str, optional
    ///     Segment routing: for every pair the nodes that its traffic visits on the way, in this order. It takes the
    ///     shortest paths to the first, from there to the next, and so on to the destination; what it puts on a link
    ///     adds up, to more than 1 where it crosses the link more than once. An empty sequence is no such node.
    /// shares : str, or array of float, shape (links,), or float, or dict, optional
    ///     Weighted-cost multipath: what every link carries of a node's traffic relative to the other links that lie on
    ///     a shortest path from there: >= 0, 0 for none; or the name of one of the `link_attributes`. By default all
    ///     are alike. A dict has the shares of some links by the nodes that they run from and to, ``{("A", "B"):
    ///     3.0}``, beside 1 of the others; ``net.capacities`` divides in proportion to capacities.
    ///
    /// Returns
    /// -------
    /// Paths
    ///     One path per pair, with `Paths.coefficients`, unless every pair has only one shortest path.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first pair with an end that does not exist, with two equal ends, without a route, or with traffic
    ///     where no link has a share; the node in `via` that does not exist; the link whose weight or share is negative
    ///     or NaN; and for another number of lists in `via` than there are pairs.
    /// MemoryError
    ///     When the paths do not fit in memory.
    ///
    /// Notes
    /// -----
    /// Sums of weights are alike where they differ by less than 2**-40 of them (1e-12), so that 0.1 + 0.2 is 0.3. A
    /// link of weight 0 is only followed to a node with fewer links to go: traffic does not go in circles.
    ///
    /// Half of the traffic at a node with two such links takes each, however many paths go on from either:
    /// `k_shortest_paths` and `paths` have the paths one by one, for a `Problem` to divide in the best way.
    ///
    /// Sources: RFC 2992 (equal-cost multipath); RFC 8402 (segment routing); Zhou et al., *WCMP: Weighted cost
    /// multipathing for improved fairness in data centers*, EuroSys 2014.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB D 10\nA C 10\nC D 10\nD E 10")
    /// >>> paths = net.ecmp_split("A", "E")
    /// >>> [(net.link_names[link], float(part)) for link, part in zip(paths[0], paths.coefficients)]
    /// [('A -> B', 0.5), ('A -> C', 0.5), ('B -> D', 0.5), ('C -> D', 0.5), ('D -> E', 1.0)]
    /// >>> netnum.solve(netnum.Problem(net, net.ecmp_split({("A", "E"): 8.0, ("B", "E"): 8.0}))).flow_rates.round(3)
    /// array([5., 5.])
    ///
    /// The traffic of the first pair visits C:
    ///
    /// >>> net.ecmp_split(["A", "B"], ["E", "E"], via=[["C"], []])
    /// Paths(2 paths, 2.5 links each)
    #[pyo3(signature = (sources, destinations=None, weight=None, *, via=None, shares=None))]
    fn ecmp_split(
        slf: &Bound<'_, Self>,
        sources: &Bound<'_, PyAny>,
        destinations: Option<&Bound<'_, PyAny>>,
        weight: Option<&Bound<'_, PyAny>>,
        via: Option<&Bound<'_, PyAny>>,
        shares: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Paths> {
        let Pairs { sources, destinations, volumes } = pairs::of_arguments(slf, COLUMNS, sources, destinations)?;
        let (this, core) = (slf.get(), &slf.get().core);
        let weight = weight.map(|weight| Self::weight_of(slf, weight)).transpose()?;
        let via = via.map(|via| this.visits_of("via", via)).transpose()?;
        let shares = shares.map(|shares| Self::of_links(slf, "shares", shares, 1.0)).transpose()?;
        let what = EcmpSplit::new().with_weight(weight.as_deref()).with_via(via.as_deref());
        let what = what.with_shares(shares.as_deref());
        let paths = slf.py().enter_rust(|| core.ecmp_split(&sources, &destinations, &what))?;
        Ok(Paths::from(paths).with_flow_cap(volumes))
    }

    /// All shortest paths from one end to another, or of many pairs.
    ///
    /// Parameters
    /// ----------
    /// source, destination : int or str
    ///     Ends by index or by name, or pairs of them in any of the forms that `k_shortest_paths` takes.
    /// weight : str, or array of float, shape (links,), or float, or dict, optional
    ///     What crossing each link adds to the weight of a path, as in `ecmp`. By default 1, so that shortest paths are
    ///     those with the fewest links.
    ///
    /// Returns
    /// -------
    /// Paths
    ///     Pair by pair, in lexicographic order of their link indices; those of a pair are one flow's.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming both ends, when one does not exist, both are the same, no path joins them, or there are more than
    ///     1 000 000 paths; and the link whose weight is negative or NaN.
    #[pyo3(signature = (source, destination=None, weight=None))]
    fn paths(
        slf: &Bound<'_, Self>,
        source: &Bound<'_, PyAny>,
        destination: Option<&Bound<'_, PyAny>>,
        weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Paths> {
        let names = ["source", "destination"];
        let Pairs { sources, destinations, volumes } = pairs::of_arguments(slf, names, source, destination)?;
        check_length("destination", destinations.len(), sources.len(), "source").map_err(raise)?;
        let core = &slf.get().core;
        let weight = weight.map(|weight| Self::weight_of(slf, weight)).transpose()?;
        let (paths, group) = slf.py().enter_rust(|| {
            let (mut all, mut group) = (CorePaths::from_lists::<[u32; 0]>([]), Vec::new());
            for (flow, (&source, &destination)) in (0..).zip(sources.iter().zip(&destinations)) {
                core.paths_by(source, destination, weight.as_deref())?.iter().for_each(|path| all.push(path));
                group.resize(all.len(), flow);
            }
            Ok::<_, Error>((all, group))
        })?;
        Ok(Paths::grouped(paths.into(), &group).with_flow_cap(volumes))
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
        let (sources, destinations) = py.enter_rust(|| self.core.random_pairs(pairs, seed))?;
        Ok((self.column(py, &sources)?, self.column(py, &destinations)?))
    }

    /// Every pair of two different ends, in both directions.
    ///
    /// Returns
    /// -------
    /// sources, destinations : array of int, shape (ends * (ends - 1),)
    ///     Indices of ends; their names, where those are integers. Source by source.
    ///
    /// Raises
    /// ------
    /// MemoryError
    ///     When the pairs do not fit in memory.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB C 10")
    /// >>> net.all_pairs()
    /// (array([0, 0, 1, 1, 2, 2]), array([1, 2, 0, 2, 0, 1]))
    /// >>> net.ecmp(net.all_pairs())
    /// Paths(6 paths, 1.3 links each)
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn all_pairs<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
        let ends = self.core.ends();
        memory::check(&format!("all pairs of {ends} ends"), ends as u128 * ends as u128 * 32).map_err(raise)?;
        let others = |end: usize| (0..ends).filter(move |&other| other != end).map(move |other| (end, other));
        let (sources, destinations): (Vec<_>, Vec<_>) = (0..ends).flat_map(others).unzip();
        Ok((self.column(py, &sources)?, self.column(py, &destinations)?))
    }

    /// The k shortest paths without loops for every pair, or as many as there are.
    ///
    /// Links that have failed (capacity 0) are not used. The paths of a pair come in the order of their weight, then of
    /// their number of links, then of their link numbers, and are the first ones in that order; sums of weights are
    /// compared without rounding.
    ///
    /// Parameters
    /// ----------
    /// sources, destinations : array of int or sequence of str, shape (pairs,)
    ///     Ends by index or by name, one each or a column each. Pairs may also stand in one argument,
    ///     ``k_shortest_paths(pairs, k)``: a pair as a tuple, ``("A", "C")``; a list or an array of pairs; the two
    ///     arrays of `random_pairs` and `all_pairs`; or demands: `netnum.Demands`, a dict of volumes by pair, a table
    ///     with the columns source, destination and demand, or a matrix of volumes of shape (ends, ends), dense, sparse
    ///     or a frame. Volumes are the `Paths.flow_cap` of the paths then.
    /// k : int
    ///     The most paths per pair, from 1 to 100 000.
    /// weight : str, or array of float, shape (links,), or float, or dict, optional
    ///     What crossing each link adds to the weight of a path: >= 0, inf for a link not to be used; the name of one
    ///     of the `link_attributes` that every link has, such as ``"delay"``. A dict has the weights of some links,
    ///     ``{("A", "B"): 3.0}``, beside 1 of the others. By default 1, so that paths are measured in links.
    /// max_stretch : float, optional
    ///     The most that a path may weigh relative to the lightest of its pair, at least 1: with 1.5 none is longer by
    ///     more than half.
    /// disjoint : bool
    ///     Whether the paths of a pair may have no link in common. They are then those of least weight in sum, as many
    ///     as there can be up to k; the lightest path of all need not be among them. With a `max_stretch` there are as
    ///     many of them as all keep it.
    /// threads : int, optional
    ///     By default as many as the machine has cores. The paths do not depend on it.
    ///
    /// Returns
    /// -------
    /// paths : Paths
    ///     Pair by pair.
    /// group : array of int, shape (paths,)
    ///     The pair of every path: the `group` of `Problem`, which `paths` has as well.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first pair with an end that does not exist, with two equal ends, or without a path (see
    ///     `has_path`); and the link whose weight is negative or NaN.
    /// NumError
    ///     For a `k` or a `max_stretch` below 1.
    /// MemoryError
    ///     When the paths do not fit in memory.
    ///
    /// Notes
    /// -----
    /// Sources: Yen, *Finding the k shortest loopless paths in a network*, Management Science 17, 1971; for disjoint
    /// paths Suurballe, *Disjoint paths in a network*, Networks 4, 1974.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB C 10\nA C 4")
    /// >>> paths, group = net.k_shortest_paths(["A", "B"], ["C", "A"], 2)
    /// >>> [net.link_names[link] for link in paths[1]], group
    /// (['A -> B', 'B -> C'], array([0, 0, 1, 1]))
    /// >>> problem = netnum.Problem(net, paths, netnum.AlphaFair(1.0))
    /// >>> netnum.solve(problem).flow_rates.round(3)
    /// array([12., 12.])
    ///
    /// The volumes of demands are the caps of their flows:
    ///
    /// >>> problem = netnum.Problem(net, net.k_shortest_paths({("A", "C"): 3.0, ("B", "A"): 20.0}, 2))
    /// >>> netnum.solve(problem).flow_rates.round(3)
    /// array([ 3., 14.])
    #[pyo3(signature = (
        sources, destinations=None, k=None, weight=None, max_stretch=None, disjoint=false, *, threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords are how Python sets settings")]
    fn k_shortest_paths<'py>(
        slf: &Bound<'py, Self>,
        sources: &Bound<'py, PyAny>,
        destinations: Option<&Bound<'py, PyAny>>,
        k: Option<&Bound<'py, PyAny>>,
        weight: Option<&Bound<'py, PyAny>>,
        max_stretch: Option<f64>,
        disjoint: bool,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Paths, Bound<'py, PyArray1<i64>>)> {
        // After pairs in one argument k comes second.
        let (destinations, k) = match (destinations, k) {
            (Some(k), None) if !pairs::is_end(sources)? && pairs::is_number(k)? => (None, Some(k)),
            given => given,
        };
        let Some(k) = k else {
            let message = "k_shortest_paths needs k, the most paths per pair: k_shortest_paths(pairs, k) or \
                           k_shortest_paths(sources, destinations, k)";
            return Err(PyTypeError::new_err(message));
        };
        let Pairs { sources, destinations, volumes } = pairs::of_arguments(slf, COLUMNS, sources, destinations)?;
        let (k, core) = (count("k", k, 1)?, &slf.get().core);
        let weight = weight.map(|weight| Self::weight_of(slf, weight)).transpose()?;
        let threads = match threads {
            None => thread::available_parallelism().unwrap_or(std::num::NonZeroUsize::MIN),
            some => threads_of(some)?,
        };
        let threads = Threads::new(threads);
        let what = KShortest::new(k).with_weight(weight.as_deref()).with_max_stretch(max_stretch);
        let what = what.with_disjoint(disjoint).with_workers(&threads);
        let (paths, group) = slf.py().enter_rust(|| core.k_shortest_paths(&sources, &destinations, &what))?;
        let of_pairs = numbers::long_indices(slf.py(), &group)?;
        Ok((Paths::grouped(paths.into(), &group).with_flow_cap(volumes), of_pairs))
    }

    /// Whether a path over links that work joins every pair, so that `k_shortest_paths` has one for it.
    ///
    /// Parameters
    /// ----------
    /// sources, destinations : array of int or sequence of str, shape (pairs,)
    ///     Pairs of ends, in any of the forms that `k_shortest_paths` takes.
    ///
    /// Returns
    /// -------
    /// array of bool, shape (pairs,)
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the first pair with an end that does not exist or with two equal ends.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB C 10").without("A -> B")
    /// >>> net.has_path(["A", "B"], ["C", "A"])
    /// array([False,  True])
    #[pyo3(signature = (sources, destinations=None))]
    fn has_path<'py>(
        slf: &Bound<'py, Self>,
        sources: &Bound<'py, PyAny>,
        destinations: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let Pairs { sources, destinations, .. } = pairs::of_arguments(slf, COLUMNS, sources, destinations)?;
        let core = &slf.get().core;
        let have = slf.py().enter_rust(|| core.has_path(&sources, &destinations))?;
        Ok(PyArray1::from_vec(slf.py(), have))
    }

    /// The number of a node: its place in `node_names`.
    ///
    /// Parameters
    /// ----------
    /// node : str or int
    ///     Its name; or its number, which is only checked, unless the network's names are integers: then it is a name.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     When there is no such node, with the name that is most like it.
    fn node(&self, node: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.node_of("node", node)
    }

    /// The number of the link from one node to another: its place in `links` and in `capacities`.
    ///
    /// Parameters
    /// ----------
    /// source, destination : str or int
    ///     Nodes by name or by number, also as a pair in one argument, in which the name of a link stands, too.
    ///
    /// Returns
    /// -------
    /// int
    ///     Of several such links the first.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     When there is no such node or link, and for the name of a fiber, ``"A - B"``, with its two links.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10")
    /// >>> net.link("Denver", "Houston")
    /// 2
    #[pyo3(signature = (source, destination=None))]
    fn link(slf: &Bound<'_, Self>, source: &Bound<'_, PyAny>, destination: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        if let (Ok(name), None) = (source.cast::<PyString>(), destination) {
            return Self::link_named(slf, "link", name).map(|link| link as u32);
        }
        let ([source, destination], this) = (pairs::two_nodes("Topology.link", source, destination)?, slf.get());
        let (from, to) = (this.node_of("source", &source)?, this.node_of("destination", &destination)?);
        this.core.link(from, to).map_err(raise)
    }

    /// The links of the walk through some nodes.
    ///
    /// `Problem` and `Allocator` take lists of node names in place of lists of links themselves, where their network is
    /// a `Topology`.
    ///
    /// Parameters
    /// ----------
    /// nodes : sequence of str or int
    ///     At least two nodes, by name or by number.
    ///
    /// Returns
    /// -------
    /// array of int
    ///     Link numbers. Of several links between two nodes the first.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a node that does not exist, with the name that is most like it, and for two nodes that no link joins,
    ///     with the hop.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10")
    /// >>> net.route(["Seattle", "Denver", "Houston"])
    /// array([0, 2])
    fn route<'py>(&self, py: Python<'py>, nodes: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(numbers::indices(py, &self.route_of("nodes", nodes)?))
    }

    /// This network with some links failed: of capacity 0. All links keep their numbers, so that paths stay what
    /// they are.
    ///
    /// Parameters
    /// ----------
    /// links : int, str or pair of nodes, or sequence of those
    ///     As in `netnum.failure_study`: a link by its number or its name, ``"Denver -> Houston"``, both directions by
    ///     the name of the fiber, ``"Denver - Houston"``. A pair of nodes is the edge that joins them: both directions,
    ///     where edges work both ways; on a network that is `directed` the link from the first to the second.
    ///
    /// Returns
    /// -------
    /// Topology
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a link or a node that does not exist.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10")
    /// >>> net.without([("Denver", "Houston")]).capacities
    /// array([10., 10.,  0.,  0.])
    /// >>> net.without("Denver -> Houston").capacities
    /// array([10., 10.,  0., 10.])
    fn without(slf: &Bound<'_, Self>, links: &Bound<'_, PyAny>) -> PyResult<Self> {
        let failed = slf.py().import("netnum._link_sets")?.call_method1("failed_links", (slf, links))?;
        slf.get().with(slf.get().core.clone().without(&failed.extract::<Vec<u32>>()?).map_err(raise)?)
    }

    /// This network with other capacities.
    ///
    /// Parameters
    /// ----------
    /// capacities : array of float, shape (links,), or float, or dict
    ///     One per link, or the same for all: >= 0, inf for no limit. A dict changes the links that it names by the
    ///     nodes that they run from and to, as in `link_names` or by number, one direction each: ``{("Seattle",
    ///     "Denver"): 20.0}``, ``{"Seattle -> Denver": 20.0}``.
    ///
    /// Returns
    /// -------
    /// Topology
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the link whose capacity is wrong, or for another number of them; for a link that a dict names and
    ///     that does not exist, and for two nodes with several links, with their numbers.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.parking_lot(2)
    /// >>> net.with_capacities([10.0, 2.5]).capacities
    /// array([10. ,  2.5])
    fn with_capacities<'py>(slf: &Bound<'py, Self>, capacities: &Bound<'py, PyAny>) -> PyResult<Self> {
        let (core, names) = (&slf.get().core, Names { net: Some(slf.clone()), paths: None });
        let capacities = names.filled("capacities", capacities, Each::Link, || core.capacities().to_vec())?;
        let capacities = numbers::for_each("capacities", &capacities, core.links().len())?;
        slf.get().refuse_one_per_edge(&capacities)?;
        slf.get().with(core.clone().with_capacities(capacities).map_err(raise)?)
    }

    /// Save the network in a file that `netnum.load` reads back as an equal one: JSON.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A file that is there is replaced.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     When the file cannot be written.
    fn save(slf: &Bound<'_, Self>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        slf.py().import("netnum._saved")?.call_method1("save", (slf, path)).map(drop)
    }

    /// The links as a table, which `netnum.topology.from_pandas` reads back as an equal network.
    ///
    /// Returns
    /// -------
    /// pandas.DataFrame
    ///     A row per link: its source, target and capacity, whether it is shared where some are, and its
    ///     `link_attributes`. The nodes, with their positions and the name of the network, are in its ``attrs``.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a link attribute that is called as one of the other columns.
    /// ImportError
    ///     Without pandas: ``pip install "netnum[frames]"``.
    ///
    /// Examples
    /// --------
    /// >>> netnum.topology.from_edges("Seattle Denver 10").to_pandas()
    ///        source   target  capacity
    /// link
    /// 0     Seattle   Denver      10.0
    /// 1      Denver  Seattle      10.0
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum.topology._tables")?.call_method1("to_pandas", (slf,))
    }

    /// The network as GraphML, which `netnum.topology.from_graphml` reads back as an equal one.
    ///
    /// Nodes have their names for ids; their tiers and positions (``x`` and ``y``) and the capacities, numbers and
    /// attributes of links are data, as in `to_networkx`. A shared link is two edges, one each way.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike, optional
    ///     A file that is there is replaced. By default the text is returned.
    ///
    /// Returns
    /// -------
    /// str or None
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a name or a text with a character that XML cannot have, and for a link attribute that is called
    ///     ``capacity``, ``link``, ``shared`` or ``key``.
    /// OSError
    ///     When the file cannot be written.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.backbone("abilene")
    /// >>> netnum.topology.from_graphml(net.to_graphml()) == net
    /// True
    #[pyo3(signature = (path=None))]
    fn to_graphml<'py>(slf: &Bound<'py, Self>, path: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum.topology._graph_files")?.call_method1("to_graphml", (slf, path))
    }

    /// The network as a networkx graph.
    ///
    /// Returns
    /// -------
    /// networkx.DiGraph
    ///     A `MultiDiGraph` where several links run from one node to another. Nodes are named as here, by integers
    ///     where names are integers, and have the attributes ``tier``, ``is_end``, False, where they are no ends, and,
    ///     where there are positions, ``pos``; edges have ``capacity``, ``link``, the number of the link here, and
    ///     those of the `link_attributes` that they have. The graph has ``both_ways``, True, unless the network is
    ///     `directed`. `netnum.topology.from_networkx` reads it back as an equal network.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a link attribute that is called ``capacity``, ``link`` or ``shared``.
    /// ImportError
    ///     Without networkx: ``pip install "netnum[graphs]"``.
    ///
    /// Examples
    /// --------
    /// >>> graph = netnum.topology.from_edges("Seattle Denver 10").to_networkx()
    /// >>> graph.edges["Denver", "Seattle"]
    /// {'capacity': 10.0, 'link': 1}
    fn to_networkx<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum.topology._graphs")?.call_method1("to_networkx", (slf,))
    }

    /// Draw the network, fabrics tier by tier, other graphs by their positions or networkx's layout.
    ///
    /// A tier has its name and the numbers of its nodes at its left, and a node its number where there is room. Links
    /// that have failed (capacity 0) are dashed and crossed out. More than 40 positions are drawn apart where they are
    /// close. Names are left out where there is no room, and counted in the title.
    ///
    /// Parameters
    /// ----------
    /// ax : matplotlib.axes.Axes, optional
    ///     Where to draw; by default a new figure.
    /// values : Solution, Report, or array of float, shape (links,), optional
    ///     What colours the links and makes them wider: the utilization of a solution or of a simulation, or any
    ///     values, such as prices. Of the two links between two nodes the larger value shows.
    /// label : str, optional
    ///     The name of the values, for the colour bar; ``"utilization"`` for a solution or a simulation.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For values of another network.
    /// ImportError
    ///     Without matplotlib: ``pip install "netnum[plot]"``.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.leaf_spine(racks=3, servers_per_rack=8, spines=2)
    /// >>> problem = netnum.Problem(net, net.ecmp(*net.random_pairs(40)), netnum.AlphaFair(1.0))
    /// >>> ax = net.plot(values=netnum.solve(problem))
    #[pyo3(signature = (ax=None, *, values=None, label=None))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        ax: Option<&Bound<'py, PyAny>>,
        values: Option<&Bound<'py, PyAny>>,
        label: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.plots")?.call_method1("topology", (slf, ax, values, label))
    }

    #[expect(clippy::type_complexity, reason = "positional and keyword arguments, for pickle")]
    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((&[String], Bound<'py, PyArray2<i64>>, Py<PyArray1<f64>>), Bound<'py, PyDict>)> {
        let others = PyDict::new(py);
        others.set_item("ends", self.ends())?;
        others.set_item("tiers", self.tiers(py))?;
        others.set_item("name", self.name())?;
        others.set_item("positions", self.positions(py)?)?;
        others.set_item("shared", self.shared(py))?;
        others.set_item("link_attributes", self.attributes(py)?)?;
        others.set_item("directed", self.directed)?;
        Ok(((self.node_names(), self.links(py)?, self.capacities(py)?), others))
    }

    fn __repr__(&self) -> String {
        format!("Topology({})", self.core)
    }

    /// A small table and a drawing, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.html")?.call_method1("topology", (slf,))
    }
}

impl Topology {
    /// Ends as integers that stand for them.
    fn column<'py>(&self, py: Python<'py>, ends: &[usize]) -> PyResult<Bound<'py, PyArray1<i64>>> {
        if self.labels_ends() {
            return numbers::long_indices(py, &ends.iter().map(|&end| self.shown(end)).collect::<Vec<_>>());
        }
        numbers::long_indices(py, ends)
    }

    /// Refuses one capacity per edge where every edge is two links.
    pub(crate) fn refuse_one_per_edge(&self, capacities: &[f64]) -> PyResult<()> {
        let links = self.core.links();
        let goes_back = |edge: &[Link]| (edge[0].from, edge[0].to) == (edge[1].to, edge[1].from);
        if links.len() != 2 * capacities.len() || !links.chunks_exact(2).all(goes_back) {
            return Ok(());
        }
        let found = format!("capacities has {} entries, expected {}, one per link", capacities.len(), links.len());
        let message = format!("{found}: every edge is two links, one each way, np.repeat(capacities, 2)");
        Err(ProblemError::new_err(message))
    }

    /// The network with another core, and all else of this one.
    pub(crate) fn with(&self, core: Core) -> PyResult<Self> {
        Ok(Self { positions: self.positions.clone(), directed: self.directed, ..Self::from(core) })
    }

    /// A network of edges that work both ways.
    fn of_edges(core: Core) -> Self {
        Self { directed: false, ..Self::from(core) }
    }
}

/// This error, with the name of its link where the network has names.
pub(crate) fn with_link_name(error: Error, net: Option<&Topology>) -> Error {
    match (error, net) {
        (Error::RanksDiffer { link: Some(link), what }, Some(net)) => {
            let name = &net.core.link_names()[link];
            Error::RanksDiffer { link: None, what: format!("link {link} ({name}) has {what}") }
        }
        (error, _) => error,
    }
}

/// A seed, 0 by default.
pub(crate) fn seed_of(seed: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    let Some(seed) = seed else { return Ok(0) };
    seed.extract().map_err(|error: PyErr| match error.is_instance_of::<PyTypeError>(seed.py()) {
        true => PyTypeError::new_err("seed must be an integer"),
        false => setting("seed", seed, "an integer from 0 to 2**64 - 1"),
    })
}
