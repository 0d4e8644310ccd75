//! Paths: lists of lists, `Paths`, or the columns of a sparse matrix → the core's compressed rows.

use std::sync::Arc;

use netnum_core::internal::expected_below;
use netnum_core::{Error, Paths as Core};
use numpy::PyArray1;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyRange, PyString, PyTuple};

use crate::detach::{self, Pacer};
use crate::error::{ProblemError, raise};
use crate::numbers::{self, counted};
use crate::topology::Topology;

/// The links of every path, in compressed sparse rows.
///
/// Path ``p`` crosses the links ``indices[indptr[p]:indptr[p + 1]]``, in any order. ``paths[p]`` gives them,
/// ``len(paths)`` the number of paths, and a loop goes through them.
///
/// Parameters
/// ----------
/// indptr : array of int, shape (paths + 1,)
///     Where every path begins in `indices`; from 0 to ``len(indices)``, never decreasing.
/// indices : array of int
///     The links of all paths, one path after the other. Copied.
/// group : array of int, shape (paths,), optional
///     The flow that every path belongs to, which a `Problem` takes unless it is given another. By default path p is
///     flow p.
///
/// Raises
/// ------
/// ProblemError
///     When `indptr` does not describe rows of `indices`, a link index is negative, or `group` is not of one flow per
///     path.
///
/// Examples
/// --------
/// >>> netnum.Paths([0, 2, 3], [0, 1, 0])[0]
/// array([0, 1])
#[pyclass(frozen, eq, module = "netnum")]
pub(crate) struct Paths {
    pub(crate) core: Arc<Core>,
    /// The flow of every path, unless path p is flow p for all of them.
    group: Option<Arc<[u32]>>,
    indptr: PyOnceLock<Py<PyArray1<i64>>>,
    indices: PyOnceLock<Py<PyArray1<i64>>>,
}

impl PartialEq for Paths {
    fn eq(&self, other: &Self) -> bool {
        self.core == other.core && self.group == other.group
    }
}

impl From<Core> for Paths {
    fn from(core: Core) -> Self {
        Arc::new(core).into()
    }
}

impl From<Arc<Core>> for Paths {
    fn from(core: Arc<Core>) -> Self {
        Self { core, group: None, indptr: PyOnceLock::new(), indices: PyOnceLock::new() }
    }
}

impl Paths {
    /// Paths that belong to flows.
    pub(crate) fn grouped(core: Arc<Core>, group: &[u32]) -> Self {
        let is_ungrouped = (0..).zip(group).all(|(path, &flow): (u32, _)| path == flow);
        Self { group: (!is_ungrouped).then(|| group.into()), ..core.into() }
    }
}

#[pymethods]
impl Paths {
    #[new]
    #[pyo3(signature = (indptr, indices, group=None))]
    fn new(indptr: &Bound<'_, PyAny>, indices: &Bound<'_, PyAny>, group: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
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
        let core = Arc::new(detach::run(indices.py(), || Core::new(offsets, links))?);
        let Some(group) = group else { return Ok(core.into()) };
        let group = flow_numbers(group)?;
        if group.len() != core.len() {
            let (what, found, expected) = ("group".into(), group.len(), core.len());
            return Err(raise(Error::Length { what, found, expected, per: "path" }));
        }
        Ok(Self::grouped(core, &group))
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

    /// The flow of every path: array of int, shape (paths,). Path p is flow p unless `Topology.k_shortest_paths` or a
    /// `Problem`, whose `paths` they are, has another assignment.
    #[getter]
    fn group<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        match &self.group {
            Some(group) => numbers::long_indices(py, group),
            None => numbers::long_indices(py, &(0..self.core.len()).collect::<Vec<_>>()),
        }
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

    #[expect(clippy::type_complexity, reason = "the arguments, for pickle")]
    fn __getnewargs__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Py<PyArray1<i64>>, Py<PyArray1<i64>>, Option<Bound<'py, PyArray1<i64>>>)> {
        let group = self.group.is_some().then(|| self.group(py)).transpose()?;
        Ok((self.indptr(py)?, self.indices(py)?, group))
    }

    fn __repr__(&self) -> String {
        let (paths, crossings) = (self.core.len(), self.core.indices().len());
        let mean = crossings as f64 / paths.max(1) as f64;
        let flows = self.group.as_ref().and_then(|group| group.iter().max());
        let flows = flows.map_or_else(String::new, |&last| format!(" of {}", counted(last as usize + 1, "flow")));
        format!("Paths({}{flows}, {mean:.1} links each)", counted(paths, "path"))
    }
}

/// Links are numbered by `u32`.
const MOST_LINKS: usize = u32::MAX as usize + 1;

/// Flow numbers as the core counts them.
pub(crate) fn flow_numbers(group: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let number = |(path, value): (usize, i64)| u32::try_from(value).map_err(|_| raise(Error::Group { path, value }));
    numbers::integers("group", group)?.into_iter().enumerate().map(number).collect()
}

/// The flows that paths belong to, where a `Paths` has them.
pub(crate) fn group_of(paths: &Bound<'_, PyAny>) -> Option<Vec<u32>> {
    paths.cast::<Paths>().ok()?.get().group.as_ref().map(|group| group.to_vec())
}

/// Paths over so many links, from any of the forms that a problem takes; over those of a network, which also takes
/// lists of node names.
pub(crate) fn paths(value: &Bound<'_, PyAny>, links: usize, net: Option<&Topology>) -> PyResult<Arc<Core>> {
    if let Ok(paths) = value.cast::<Paths>() {
        return Ok(Arc::clone(&paths.get().core));
    }
    if let Ok(pair) = value.cast::<PyTuple>()
        && pair.len() == 2
        && pair.get_item(0)?.cast::<Paths>().is_ok()
    {
        let message = "paths is a pair of Paths and the flows that they belong to, as k_shortest_paths returns them: \
                       give the first, which has its flows";
        return Err(ProblemError::new_err(message));
    }
    if value.hasattr("tocsc")? {
        return columns(value, links).map(Arc::new);
    }
    if value.hasattr("mask")? && value.hasattr("filled")? {
        return Err(PyTypeError::new_err("paths are a masked array, expected plain integers"));
    }
    if let Some(what) = dense(value)? {
        return Err(PyTypeError::new_err(format!("paths is {what}, expected lists of link numbers: {AS_MATRIX}")));
    }
    let kind = value.get_type().name()?;
    let rows = value.try_iter().map_err(|_| {
        let what = "a sequence of sequences of link indices, a netnum.Paths or a SciPy sparse matrix";
        PyTypeError::new_err(format!("paths must be {what}, not {kind}"))
    })?;
    let mut paths = Core::from_lists::<[u32; 0]>([]);
    let (mut row, mut pacer) = (Vec::new(), Pacer::new(value.py()));
    // The first path that is no list of links 0 and 1, since no path crosses a link twice.
    let mut like_matrix = None;
    for (path, links_of_path) in rows.enumerate() {
        let links_of_path = links_of_path?;
        if let Ok(text) = links_of_path.cast::<PyString>() {
            return Err(text_as_path(path, &text.to_cow()?, value));
        }
        row.clear();
        push_row(path, &links_of_path, links, net, &mut row)?;
        if row.len() > 1 && row.iter().all(|&link| link < 2) && (row.len() > 2 || row[0] == row[1]) {
            like_matrix = like_matrix.or(Some(path));
        }
        paths.push(&row);
        pacer.did(1 + row.len())?;
    }
    if let Some(path) = like_matrix {
        let entries = paths.links(path).len();
        let is_table = paths.iter().all(|row| row.len() == entries && row.iter().all(|&link| link < 2));
        if is_table && (entries == links || paths.len() == links) {
            let what = format!("path {path} has {entries} entries of 0 and 1, which are link numbers");
            return Err(ProblemError::new_err(format!("{what}, and visits a link twice: {AS_MATRIX}")));
        }
    }
    Ok(Arc::new(paths))
}

/// The error for a text in place of a path: often the nodes of one path, in a flat list.
fn text_as_path(path: usize, text: &str, all: &Bound<'_, PyAny>) -> PyErr {
    let nodes: Vec<String> = all.extract().unwrap_or_default();
    let example = if matches!(nodes.len(), 2..=8) { format!(": [{nodes:?}]") } else { String::new() };
    let expected = "expected a list of links or of node names";
    PyTypeError::new_err(format!("path {path} is the text {text:?}, {expected}{example}"))
}

/// The hint for a routing matrix that is not sparse.
const AS_MATRIX: &str =
    "give a routing matrix as scipy.sparse.csc_array(matrix), one row per link, one column per path";

/// The type of an argument that has no link numbers: an array of floats or bools, or a frame.
fn dense(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.hasattr("iloc")? && value.hasattr("columns")? {
        return Ok(Some(format!("a {}", value.get_type().name()?)));
    }
    if !(value.hasattr("dtype")? && value.hasattr("shape")?) {
        return Ok(None);
    }
    let (shape, dtype) = (value.getattr("shape")?, value.getattr("dtype")?);
    let is_number = dtype.getattr("kind")?.extract::<char>().is_ok_and(|kind| matches!(kind, 'b' | 'f'));
    Ok((is_number && shape.len()? == 2).then(|| format!("an array of shape {shape} and dtype {dtype}")))
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

/// Whether something is a list of nodes: its first entry is a name.
pub(crate) fn names_nodes(value: &Bound<'_, PyAny>) -> PyResult<bool> {
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
        if paths == links {
            let what = format!("the routing matrix has shape ({rows}, {paths}), expected {links} rows");
            let message = format!("{what}: one per link, one column per path, which its transpose has (matrix.T)");
            return Err(ProblemError::new_err(message));
        }
        let what = format!("the routing matrix has shape ({rows}, {paths}), expected ({links}, {paths})");
        return Err(ProblemError::new_err(format!("{what}: one row per link, one column per path")));
    }
    // Entries at the same place are summed and zeros dropped in a copy.
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
    detach::run(matrix.py(), || Core::new(indptr, links))
}
