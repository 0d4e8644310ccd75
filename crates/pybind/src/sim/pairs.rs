//! The pairs of ends that flows join: the functions that make some.

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::memory::room;
use netnum_sim::Pairs;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::detach::EnterRust;
use crate::numbers::count;
use crate::topology::{Topology, seed_of};

/// Listed pairs as an array of two columns.
fn columns<'py>(
    net: &Bound<'py, Topology>,
    pairs: impl FnOnce(&netnum_core::Topology) -> netnum_sim::Result<Pairs> + Send,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let (py, net) = (net.py(), net.get());
    let ends = py.enter_rust(|| -> netnum_sim::Result<_> {
        let Pairs::Listed(pairs) = pairs(&net.core)? else { unreachable!("only listed pairs come here") };
        let (mut ends, mut pacer) = (room("ends of pairs", 2 * pairs.len())?, Pacer::new());
        for (source, destination) in pairs {
            ends.extend([net.shown(source), net.shown(destination)]);
            pacer.did(1)?;
        }
        Ok(ends)
    })?;
    let rows = ends.len() / 2;
    PyArray1::from_vec(py, ends).reshape([rows, 2])
}

/// Pairs of which every end is the source of one and the destination of another, at random.
///
/// Parameters
/// ----------
/// net : Topology
/// seed : int
///
/// Returns
/// -------
/// array of int, shape (ends, 2)
///
/// Examples
/// --------
/// >>> pairs = netnum.sim.permutation(netnum.topology.star(4), seed=1)
/// >>> sorted(pairs[:, 0].tolist()), sorted(pairs[:, 1].tolist())
/// ([0, 1, 2, 3], [0, 1, 2, 3])
#[pyfunction]
#[pyo3(signature = (net, seed=None), text_signature = "(net, seed=0)")]
pub(crate) fn permutation<'py>(
    net: &Bound<'py, Topology>,
    seed: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let seed = seed_of(seed)?;
    columns(net, |net| Ok(Pairs::permutation(net, seed)))
}

/// Pairs from random senders to one receiver.
///
/// Parameters
/// ----------
/// net : Topology
/// receiver : int
/// senders : int
///     All other ends, if there are not as many.
/// seed : int
///
/// Returns
/// -------
/// array of int, shape (senders, 2)
///
/// Examples
/// --------
/// >>> pairs = netnum.sim.incast(netnum.topology.star(4), receiver=0, senders=3)
/// >>> pairs.shape, set(pairs[:, 1].tolist())
/// ((3, 2), {0})
#[pyfunction]
#[pyo3(signature = (net, receiver, senders, seed=None), text_signature = "(net, receiver, senders, seed=0)")]
pub(crate) fn incast<'py>(
    net: &Bound<'py, Topology>,
    receiver: &Bound<'py, PyAny>,
    senders: &Bound<'py, PyAny>,
    seed: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let (receiver, senders) = (net.get().end_of("receiver", receiver)?, count("senders", senders, 1)?);
    let seed = seed_of(seed)?;
    columns(net, |net| Pairs::incast(net, receiver, senders, seed))
}

/// Pairs from every end to every other one.
///
/// Parameters
/// ----------
/// net : Topology
///
/// Returns
/// -------
/// array of int, shape (ends * (ends - 1), 2)
///
/// Examples
/// --------
/// >>> netnum.sim.all_to_all(netnum.topology.star(3)).tolist()
/// [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]
#[pyfunction]
pub(crate) fn all_to_all<'py>(py: Python<'py>, net: &Bound<'py, Topology>) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let net = net.get();
    let ends = py.enter_rust(|| -> netnum_sim::Result<_> {
        let mut ends = room("ends of pairs", 2 * net.core.ends() * (net.core.ends() - 1))?;
        Pairs::each_to_each(&net.core, |source, destination| ends.extend([net.shown(source), net.shown(destination)]))?;
        Ok(ends)
    })?;
    let pairs = ends.len() / 2;
    PyArray1::from_vec(py, ends).reshape([pairs, 2])
}
