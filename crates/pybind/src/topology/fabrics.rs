//! Ready-made networks: a function each, which `netnum.topology` has under the same name.

use netnum_core::Topology as Core;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::Topology;
use crate::detach::EnterRust;
use crate::error::{setting, wrong_type};
use crate::numbers::count;

fn made(py: Python<'_>, make: impl FnOnce() -> netnum_core::Result<Core> + Send) -> PyResult<Topology> {
    py.enter_rust(make).map(Into::into)
}

fn of_edges(py: Python<'_>, make: impl FnOnce() -> netnum_core::Result<Core> + Send) -> PyResult<Topology> {
    py.enter_rust(make).map(Topology::of_edges)
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
///     For no racks, servers or spines, a single server in all, or a capacity that is negative or not a number.
///
/// Notes
/// -----
/// 9 racks of 16 servers under 4 spines is the network of Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017.
///
/// Examples
/// --------
/// >>> net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4)
/// >>> net.ends, len(net.capacities), len(net.paths(0, 143))
/// (144, 360, 4)
#[pyfunction]
#[pyo3(signature = (racks, servers_per_rack, spines, server_capacity=10e9, fabric_capacity=40e9))]
pub(crate) fn leaf_spine(
    racks: &Bound<'_, PyAny>,
    servers_per_rack: &Bound<'_, PyAny>,
    spines: &Bound<'_, PyAny>,
    server_capacity: f64,
    fabric_capacity: f64,
) -> PyResult<Topology> {
    let py = racks.py();
    let racks = count("racks", racks, 1)?;
    let servers_per_rack = count("servers_per_rack", servers_per_rack, 1)?;
    let spines = count("spines", spines, 1)?;
    of_edges(py, || Core::leaf_spine(racks, servers_per_rack, spines, server_capacity, fabric_capacity))
}

/// The fat tree of k-port switches: k pods, k³/4 servers, (k/2)² shortest paths between pods.
///
/// Parameters
/// ----------
/// k : int
///     Ports per switch, even and at least 2.
/// capacity : float
///     Of every link. By default 10 Gbit/s in bit/s, as in all these networks.
///
/// Returns
/// -------
/// Topology
///
/// Raises
/// ------
/// NumError
///     For a `k` that is odd or below 2, or a capacity that is negative or not a number.
///
/// Notes
/// -----
/// Source: Al-Fares, Loukissas, Vahdat, *A Scalable, Commodity Data Center Network Architecture*, SIGCOMM 2008, §3.
///
/// Examples
/// --------
/// >>> net = netnum.topology.fat_tree(4)
/// >>> net.ends, len(net.paths(0, 15))
/// (16, 4)
#[pyfunction]
#[pyo3(signature = (k, capacity=10e9))]
pub(crate) fn fat_tree(k: &Bound<'_, PyAny>, capacity: f64) -> PyResult<Topology> {
    let even = "an even number >= 2";
    let ports = count("k", k, 2)
        .map_err(|error| if k.lt(2).is_ok_and(|small| small) { setting("k", k, even) } else { error })?;
    of_edges(k.py(), || Core::fat_tree(ports, capacity))
}

/// Two nodes and one link, from node 0 to node 1.
///
/// Parameters
/// ----------
/// capacity : float
///     By default 10 Gbit/s in bit/s.
///
/// Returns
/// -------
/// Topology
///
/// Examples
/// --------
/// >>> net = netnum.topology.single_link(10.0)
/// >>> net.capacities, net.paths(0, 1)[0]
/// (array([10.]), array([0]))
#[pyfunction]
#[pyo3(signature = (capacity=10e9))]
pub(crate) fn single_link(py: Python<'_>, capacity: f64) -> PyResult<Topology> {
    made(py, || Core::single_link(capacity))
}

/// One number. Chains of several capacities are common in exercises, so that a list is likely here.
fn of_every_link(capacity: &Bound<'_, PyAny>) -> PyResult<f64> {
    match capacity.extract() {
        Ok(capacity) => Ok(capacity),
        Err(_) => Err(not_one("capacity", "a number, that of every link", capacity)),
    }
}

fn not_one(name: &str, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let wrong = wrong_type(name, expected, given);
    let instead = "parking_lot(n).with_capacities(capacities) has a capacity for each link";
    PyTypeError::new_err(format!("{}: {instead}", wrong.value(given.py())))
}

/// n links in a chain: link i runs from node i to node i + 1.
///
/// Parameters
/// ----------
/// n : int
///     Number of links, at least 1.
/// capacity : float
///     Of every link. By default 10 Gbit/s in bit/s, as in all these networks.
///
/// Returns
/// -------
/// Topology
///
/// Examples
/// --------
/// >>> net = netnum.topology.parking_lot(3, capacity=10.0)
/// >>> net.paths(0, 3)[0], net.capacities
/// (array([0, 1, 2]), array([10., 10., 10.]))
#[pyfunction]
#[pyo3(signature = (n, capacity=10e9))]
pub(crate) fn parking_lot(
    n: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = of_every_link)] capacity: f64,
) -> PyResult<Topology> {
    if n.hasattr("__len__")? {
        return Err(not_one("n", "an integer, the number of links", n));
    }
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
///     Of every link. By default 10 Gbit/s in bit/s, as in all these networks.
///
/// Returns
/// -------
/// Topology
///
/// Examples
/// --------
/// >>> net = netnum.topology.star(3)
/// >>> net.paths(0, 2)[0], net.link_names[5]
/// (array([0, 5]), 'hub -> server 2')
#[pyfunction]
#[pyo3(signature = (servers, capacity=10e9))]
pub(crate) fn star(servers: &Bound<'_, PyAny>, capacity: f64) -> PyResult<Topology> {
    let ends = count("servers", servers, 2)?;
    of_edges(servers.py(), || Core::star(ends, capacity))
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
#[pyfunction]
#[pyo3(signature = (text, name="graph"))]
pub(crate) fn from_edges(py: Python<'_>, text: &str, name: &str) -> PyResult<Topology> {
    of_edges(py, || Core::from_edges(text).map(|core| core.named(name)))
}
