//! Paths: lists of lists, `Paths`, or the columns of a sparse matrix → the core's compressed rows.

use std::sync::Arc;

use netnum_core::{Error, Paths as Core, expected_below};
use numpy::PyArray1;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyRange, PyString, PyTuple};

use crate::door::{self, Pacer};
use crate::error::{ProblemError, raise};
use crate::numbers::{self, counted};
use crate::topology::Topology;

/// The links of every path, in compressed sparse rows.
///
/// Path ``p`` crosses the links ``indices[indptr[p]:indptr[p + 1]]``, in any order. ``paths[p]`` gives them, ``len(paths)``
/// the number of paths, and a loop goes through them.
///
/// Parameters
/// ----------
/// indptr : array of int, shape (paths + 1,)
///     Where every path begins in `indices`; from 0 to ``len(indices)``, never decreasing.
/// indices : array of int
///     The links of all paths, one path after the other. Copied.
///
/// Raises
/// ------
/// ProblemError
///     When `indptr` does not describe rows of `indices`, or a link index is negative.
///
/// Examples
/// --------
/// >>> netnum.Paths([0, 2, 3], [0, 1, 0])[0]
/// array([0, 1])
#[pyclass(frozen, eq, module = "netnum")]
pub(crate) struct Paths {
    pub(crate) core: Arc<Core>,
    indptr: PyOnceLock<Py<PyArray1<i64>>>,
    indices: PyOnceLock<Py<PyArray1<i64>>>,
}

impl PartialEq for Paths {
    fn eq(&self, other: &Self) -> bool {
        self.core == other.core
    }
}

impl From<Core> for Paths {
    fn from(core: Core) -> Self {
        Arc::new(core).into()
    }
}

impl From<Arc<Core>> for Paths {
    fn from(core: Arc<Core>) -> Self {
        Self { core, indptr: PyOnceLock::new(), indices: PyOnceLock::new() }
    }
}

#[pymethods]
impl Paths {
    #[new]
    fn new(indptr: &Bound<'_, PyAny>, indices: &Bound<'_, PyAny>) -> PyResult<Self> {
        let offsets = numbers::integers("indptr", indptr)?;
        let links = numbers::integers("indices", indices)?;
        if let Some(position) = offsets.iter().position(|&offset| offset < 0) {
            let expected = "at least 0".into();
            return Err(raise(Error::Indptr { position, value: offsets[position], expected }));
        }
        let offsets: Vec<usize> = offsets.into_iter().map(|offset| offset as usize).collect();
        if let Some(position) = links.iter().position(|&link| u32::try_from(link).is_err()) {
            let path = offsets.partition_point(|&start| start <= position).saturating_sub(1);
            return Err(raise(Error::LinkOutOfRange { path, link: links[position], links: MOST_LINKS }));
        }
        let links: Vec<u32> = links.into_iter().map(|link| link as u32).collect();
        let core = door::detached(indices.py(), || Core::new(offsets, links))?;
        Ok(core.into())
    }

    /// Where every path begins in `indices`: array of int, shape (paths + 1,).
    #[getter]
    fn indptr(&self, py: Python<'_>) -> PyResult<Py<PyArray1<i64>>> {
        let make = || numbers::long_indices(py, self.core.indptr()).map(Bound::unbind);
        Ok(self.indptr.get_or_try_init(py, make)?.clone_ref(py))
    }

    /// The links of all paths, one path after the other: array of int.
    #[getter]
    fn indices(&self, py: Python<'_>) -> PyResult<Py<PyArray1<i64>>> {
        let make = || numbers::long_indices(py, self.core.indices()).map(Bound::unbind);
        Ok(self.indices.get_or_try_init(py, make)?.clone_ref(py))
    }

    fn __len__(&self) -> usize {
        self.core.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, path: isize) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let paths = self.core.len();
        let from_start = if path < 0 { path.saturating_add_unsigned(paths) } else { path };
        match usize::try_from(from_start) {
            Ok(path) if path < paths => Ok(numbers::indices(py, self.core.links(path))),
            _ => {
                let expected = expected_below("path", paths);
                Err(PyIndexError::new_err(format!("path {path} does not exist, {expected}")))
            }
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let range = PyRange::new(slf.py(), 0, slf.get().core.len() as isize)?;
        slf.py().import("builtins")?.call_method1("map", (slf.getattr("__getitem__")?, range))
    }

    #[expect(clippy::type_complexity, reason = "what pickle asks for: the arguments")]
    fn __getnewargs__(&self, py: Python<'_>) -> PyResult<(Py<PyArray1<i64>>, Py<PyArray1<i64>>)> {
        Ok((self.indptr(py)?, self.indices(py)?))
    }

    fn __repr__(&self) -> String {
        let (paths, crossings) = (self.core.len(), self.core.indices().len());
        let mean = crossings as f64 / paths.max(1) as f64;
        format!("Paths({}, {mean:.1} links each)", counted(paths, "path"))
    }
}

/// Links are numbered by `u32`.
const MOST_LINKS: usize = u32::MAX as usize + 1;

/// Paths over so many links, from any of the forms that a problem takes; over those of a network, which also takes lists
/// of node names.
pub(crate) fn paths(value: &Bound<'_, PyAny>, links: usize, net: Option<&Topology>) -> PyResult<Arc<Core>> {
    if let Ok(paths) = value.cast::<Paths>() {
        return Ok(Arc::clone(&paths.get().core));
    }
    if let Ok(pair) = value.cast::<PyTuple>()
        && pair.len() == 2
        && pair.get_item(0)?.cast::<Paths>().is_ok()
    {
        let message = "paths is a pair of Paths and the flows that they belong to, as k_shortest_paths returns them: \
                       give the second as group=";
        return Err(ProblemError::new_err(message));
    }
    if value.hasattr("tocsc")? {
        return columns(value, links).map(Arc::new);
    }
    if value.hasattr("mask")? && value.hasattr("filled")? {
        return Err(PyTypeError::new_err("paths are a masked array, expected plain integers"));
    }
    let kind = value.get_type().name()?;
    let rows = value.try_iter().map_err(|_| {
        let what = "a sequence of sequences of link indices, a netnum.Paths or a SciPy sparse matrix";
        PyTypeError::new_err(format!("paths must be {what}, not {kind}"))
    })?;
    let mut paths = Core::from_lists::<[u32; 0]>([]);
    let (mut row, mut pacer) = (Vec::new(), Pacer::new(value.py()));
    for (path, links_of_path) in rows.enumerate() {
        row.clear();
        push_row(path, &links_of_path?, links, net, &mut row)?;
        paths.push(&row);
        pacer.did(1 + row.len())?;
    }
    Ok(Arc::new(paths))
}

/// Appends the links of one path.
fn push_row(
    path: usize,
    value: &Bound<'_, PyAny>,
    links: usize,
    net: Option<&Topology>,
    row: &mut Vec<u32>,
) -> PyResult<()> {
    if names_nodes(value)? {
        let net = net.ok_or_else(|| {
            let instead = "names of nodes take a Topology as the network";
            PyTypeError::new_err(format!("path {path} must be of integers, not str: {instead}"))
        })?;
        row.extend(net.route_of(&format!("path {path}"), value)?);
        return Ok(());
    }
    let mut push = |link: i64| match u32::try_from(link) {
        Ok(index) if (index as usize) < links => {
            row.push(index);
            Ok(())
        }
        _ => Err(raise(Error::LinkOutOfRange { path, link, links })),
    };
    if value.hasattr("dtype")? {
        return numbers::integers(&format!("path {path}"), value)?.into_iter().try_for_each(push);
    }
    let wrong = |what: &str, found: &Bound<'_, PyAny>| {
        let kind = found.get_type().name()?;
        Err(PyTypeError::new_err(format!("path {path} must be {what}, not {kind}")))
    };
    let Ok(entries) = value.try_iter() else { return wrong("a sequence of link indices", value) };
    for entry in entries {
        let entry = entry?;
        match entry.extract::<i64>() {
            Ok(link) => push(link)?,
            Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => return wrong("of integers", &entry),
            Err(_) => {
                let expected = expected_below("link", links);
                return Err(ProblemError::new_err(format!("path {path} names link {entry}, {expected}")));
            }
        }
    }
    Ok(())
}

/// Whether a path is a list of nodes: its first entry is a name.
fn names_nodes(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(list) = value.cast::<PyList>() {
        return Ok(list.get_item(0).is_ok_and(|first| first.is_instance_of::<PyString>()));
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return Ok(tuple.get_item(0).is_ok_and(|first| first.is_instance_of::<PyString>()));
    }
    // NumPy's letters for text and for objects.
    let kind = |value: &Bound<'_, PyAny>| value.getattr("dtype")?.getattr("kind")?.extract::<char>();
    Ok(value.hasattr("dtype")? && kind(value).is_ok_and(|kind| matches!(kind, 'U' | 'O')))
}

/// The columns of a routing matrix (links × paths) of ones.
fn columns(matrix: &Bound<'_, PyAny>, links: usize) -> PyResult<Core> {
    let shape = matrix.getattr("shape")?;
    let (rows, paths) = shape
        .extract::<(usize, usize)>()
        .map_err(|_| ProblemError::new_err(format!("the routing matrix has shape {shape}, expected (links, paths)")))?;
    if rows != links {
        let what = format!("the routing matrix has shape ({rows}, {paths}), expected ({links}, {paths})");
        return Err(ProblemError::new_err(format!("{what}: one row per link, one column per path")));
    }
    // Entries at the same place are summed and zeros dropped in a copy of our own.
    let matrix = matrix.call_method1("tocsc", (true,))?;
    matrix.call_method0("sum_duplicates")?;
    matrix.call_method0("eliminate_zeros")?;
    let indptr = numbers::integers("indptr", &matrix.getattr("indptr")?)?;
    let rows = numbers::integers("indices", &matrix.getattr("indices")?)?;
    let entries = numbers::floats("the routing matrix", &matrix.getattr("data")?.call_method1("astype", ("f8",))?)?;
    if let Some(at) = entries.iter().position(|&entry| entry != 1.0) {
        let path = indptr.partition_point(|&start| start <= at as i64) - 1;
        let what = format!("path {path} has entry {} at link {} of the routing matrix", entries[at], rows[at]);
        return Err(ProblemError::new_err(format!("{what}, expected 1 where the path crosses the link")));
    }
    let indptr = indptr.into_iter().map(|offset| offset as usize).collect();
    let links = rows.into_iter().map(|row| row as u32).collect();
    door::detached(matrix.py(), || Core::new(indptr, links))
}
