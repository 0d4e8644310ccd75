//! `Paths`.

use std::sync::Arc;

use netnum_core::internal::check_length;
use netnum_core::{Error, Paths as Core};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::detach::EnterRust;
use crate::error::raise;
use crate::hints;
use crate::numbers::{self, counted, kept};

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
    #[pyo3(signature = (indptr, indices, group=None, **unknown))]
    #[pyo3(text_signature = "(indptr, indices, group=None)")]
    fn new(
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        group: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        hints::refuse("Paths", unknown)?;
        let offsets = numbers::integers("indptr", indptr)?;
        let links = numbers::integers("indices", indices)?;
        if let Some(position) = offsets.iter().position(|&offset| offset < 0) {
            let expected = "at least 0".into();
            return Err(raise(Error::Indptr { position, value: offsets[position], expected }));
        }
        let offsets: Vec<usize> = offsets.into_iter().map(|offset| offset as usize).collect();
        if let Some(position) = links.iter().position(|&link| u32::try_from(link).is_err()) {
            let path = offsets.partition_point(|&start| start <= position).saturating_sub(1);
            let numbers = u32::MAX as usize + 1;
            return Err(raise(Error::LinkOutOfRange { path, link: links[position], links: numbers }));
        }
        let links: Vec<u32> = links.into_iter().map(|link| link as u32).collect();
        let core = Arc::new(indices.py().enter_rust(|| Core::new(offsets, links))?);
        let Some(group) = group else { return Ok(core.into()) };
        let group = flow_numbers(group)?;
        check_length("group", group.len(), core.len(), "path").map_err(raise)?;
        Ok(Self::grouped(core, &group))
    }

    /// Where every path begins in `indices`: array of int, shape (paths + 1,).
    #[getter]
    fn indptr(&self, py: Python<'_>) -> PyResult<Py<PyArray1<i64>>> {
        kept(&self.indptr, py, || numbers::long_indices(py, self.core.indptr()))
    }

    /// The links of all paths, one path after the other: array of int.
    #[getter]
    fn indices(&self, py: Python<'_>) -> PyResult<Py<PyArray1<i64>>> {
        kept(&self.indices, py, || numbers::long_indices(py, self.core.indices()))
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
        let path = numbers::place("path", path, self.core.len())?;
        Ok(numbers::indices(py, self.core.links(path)))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        numbers::entries(slf)
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

/// Flow numbers as the core counts them.
pub(crate) fn flow_numbers(group: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let number = |(path, value): (usize, i64)| u32::try_from(value).map_err(|_| raise(Error::Group { path, value }));
    numbers::integers("group", group)?.into_iter().enumerate().map(number).collect()
}

/// The flows that paths belong to, where a `Paths` has them.
pub(crate) fn group_of(paths: &Bound<'_, PyAny>) -> Option<Vec<u32>> {
    paths.cast::<Paths>().ok()?.get().group.as_ref().map(|group| group.to_vec())
}
