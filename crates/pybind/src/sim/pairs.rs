//! The pairs of ends that flows join: as a workload takes them, and the functions that make some.

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::memory::room;
use netnum_sim::Pairs;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::detach::{self, EnterRust};
use crate::numbers::{self, count};
use crate::path_forms;
use crate::topology::{Topology, seed_of};

/// Pairs from an array or a table of two columns, or from a sequence of pairs, in which ends may have names.
pub(super) fn pairs_of(net: &Topology, pairs: &Bound<'_, PyAny>) -> PyResult<Pairs> {
    let rows = numbers::rows_of(pairs)?;
    let is_array = rows.hasattr("dtype")? && !path_forms::names_nodes(&rows)?;
    if is_array || rows.is_instance_of::<PyString>() || rows.try_iter().is_err() {
        return numbered_pairs(net, &rows);
    }
    let (mut listed, mut pacer, mut is_named) = (Vec::new(), detach::Pacer::new(pairs.py()), false);
    for row in rows.try_iter()? {
        pacer.did(1)?;
        let row = row?;
        is_named = is_named || !row.is_instance_of::<PyString>() && has_name(&row);
        listed.push(row);
    }
    if !is_named {
        return numbered_pairs(net, PyList::new(pairs.py(), listed)?.as_any());
    }
    let pair = |(place, pair): (usize, &Bound<'_, PyAny>)| {
        pacer.did(1)?;
        let Ok([source, destination]) = pair.extract::<[Bound<'_, PyAny>; 2]>() else {
            return Err(PyTypeError::new_err(format!("pairs[{place}] must be two ends, not {}", pair.repr()?)));
        };
        let end = |end| net.end_of(&format!("an end of pairs[{place}]"), end);
        Ok((end(&source)?, end(&destination)?))
    };
    listed.iter().enumerate().map(pair).collect::<PyResult<_>>().map(Pairs::Listed)
}

/// Pairs of integers.
fn numbered_pairs(net: &Topology, pairs: &Bound<'_, PyAny>) -> PyResult<Pairs> {
    let end = |pair: usize, end: i64| net.index_of(|| format!("an end of pairs[{pair}]"), end);
    let pair = |(pair, [source, destination]): (usize, [i64; 2])| Ok((end(pair, source)?, end(pair, destination)?));
    numbers::pairs("pairs", pairs)?.into_iter().enumerate().map(pair).collect::<PyResult<_>>().map(Pairs::Listed)
}

/// Whether an end of a pair is a name.
fn has_name(pair: &Bound<'_, PyAny>) -> bool {
    let ends: Vec<Bound<'_, PyAny>> = pair.extract().unwrap_or_default();
    ends.iter().any(|end| end.is_instance_of::<PyString>())
}

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
