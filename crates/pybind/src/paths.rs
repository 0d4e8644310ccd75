//! `Paths`.

use std::sync::Arc;

use netnum_core::internal::check_length;
use netnum_core::{Error, Paths as Core};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::detach::EnterRust;
use crate::error::{ProblemError, raise, wrong_type};
use crate::numbers::{self, counted, kept};
use crate::topology::Topology;
use crate::{hints, path_forms};

/// The source and the destination of every flow, numbers of nodes.
pub(crate) type Ends = Arc<[[u32; 2]]>;

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
/// coefficients : array of float, optional
///     What every path uses of its links per unit of its rate, > 0, one per entry of `indices`; 1 by default. A link
///     that a path names twice has their sum.
/// flow_cap : array of float, shape (flows,), optional
///     The cap on the rate of every flow, which a `Problem` takes unless it is given another. Paths that a `Topology`
///     makes for demands have their volumes.
///
/// Raises
/// ------
/// ProblemError
///     When `indptr` does not describe rows of `indices`, a link index is negative, `group` is not of one flow per
///     path, `coefficients` not of one finite number > 0 per entry, or `flow_cap` not of one cap >= 0 per flow.
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
    /// The cap of every flow, unless none has one.
    flow_cap: Option<Arc<[f64]>>,
    /// The ends of every flow, of a problem that was given them: numbers of nodes.
    ends: Option<Ends>,
    indptr: PyOnceLock<Py<PyArray1<i64>>>,
    indices: PyOnceLock<Py<PyArray1<i64>>>,
    coefficients: PyOnceLock<Py<PyArray1<f64>>>,
}

impl PartialEq for Paths {
    fn eq(&self, other: &Self) -> bool {
        self.core == other.core && self.group == other.group && self.flow_cap == other.flow_cap
    }
}

impl From<Core> for Paths {
    fn from(core: Core) -> Self {
        Arc::new(core).into()
    }
}

impl From<Arc<Core>> for Paths {
    fn from(core: Arc<Core>) -> Self {
        let (indptr, indices, coefficients) = (PyOnceLock::new(), PyOnceLock::new(), PyOnceLock::new());
        Self { core, group: None, flow_cap: None, ends: None, indptr, indices, coefficients }
    }
}

impl Paths {
    /// Paths that belong to flows.
    pub(crate) fn grouped(core: Arc<Core>, group: &[u32]) -> Self {
        let is_ungrouped = (0..).zip(group).all(|(path, &flow): (u32, _)| path == flow);
        Self { group: (!is_ungrouped).then(|| group.into()), ..core.into() }
    }

    /// With the volumes of demands as the caps of flows.
    pub(crate) fn with_flow_cap(self, flow_cap: Option<Vec<f64>>) -> Self {
        Self { flow_cap: flow_cap.map(Into::into), ..self }
    }

    /// With the ends of flows, where they are given.
    pub(crate) fn with_ends(self, ends: Option<Ends>) -> Self {
        Self { ends, ..self }
    }

    /// The cap of every flow, where there are caps.
    pub(crate) fn flow_caps(&self) -> Option<&[f64]> {
        self.flow_cap.as_deref()
    }

    /// The path of every flow.
    ///
    /// # Errors
    /// A `ProblemError` naming the first flow with several paths, or in another place.
    pub(crate) fn of_flows(&self) -> PyResult<&Core> {
        let Some(group) = &self.group else { return Ok(&self.core) };
        let (path, flow) =
            (0..).zip(group.iter()).find(|&(path, &flow): &(u32, _)| path != flow).expect("not the same");
        let what = format!("path {path} is one of flow {flow}, expected path {path} to be that of flow {path}");
        Err(ProblemError::new_err(format!(
            "{what}: several paths with shares are a netnum.sim.Split(net, paths, shares)"
        )))
    }

    /// Whether there is a path that is not of the flow of its number.
    pub(crate) fn is_grouped(&self) -> bool {
        self.group.is_some()
    }

    fn flows(&self) -> usize {
        self.group.as_ref().map_or(self.core.len(), |group| group.iter().max().map_or(0, |&last| last as usize + 1))
    }
}

#[pymethods]
impl Paths {
    #[new]
    #[pyo3(signature = (indptr=None, indices=None, group=None, coefficients=None, flow_cap=None, **unknown))]
    #[pyo3(text_signature = "(indptr, indices, group=None, coefficients=None, flow_cap=None)")]
    fn new(
        py: Python<'_>,
        indptr: Option<&Bound<'_, PyAny>>,
        indices: Option<&Bound<'_, PyAny>>,
        group: Option<&Bound<'_, PyAny>>,
        coefficients: Option<&Bound<'_, PyAny>>,
        flow_cap: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        hints::refuse("Paths", unknown)?;
        let indptr = hints::needed(py, "Paths", "indptr", indptr)?;
        if indptr.cast::<Topology>().is_ok() || holds_lists(indptr) {
            let instead = "netnum.Paths.from_lists(paths, net) takes lists of links or of nodes";
            return Err(wrong_type("indptr", &format!("an array of integers ({instead})"), indptr));
        }
        let indices = hints::needed(py, "Paths", "indices", indices)?;
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
        let coefficients = coefficients.map(|all| numbers::floats("coefficients", all)).transpose()?;
        let core = py.enter_rust(|| match coefficients {
            None => Core::new(offsets, links),
            Some(coefficients) => Core::with_coefficients(offsets, links, coefficients),
        })?;
        let core = Arc::new(core);
        let this = match group {
            None => Self::from(core),
            Some(group) => {
                let group = flow_numbers(group)?;
                check_length("group", group.len(), core.len(), "path").map_err(raise)?;
                Self::grouped(core, &group)
            }
        };
        let Some(caps) = flow_cap.map(|caps| numbers::floats("flow_cap", caps)).transpose()? else { return Ok(this) };
        check_length("flow_cap", caps.len(), this.flows(), "flow").map_err(raise)?;
        if let Some(flow) = caps.iter().position(|cap| cap.is_nan() || *cap < 0.0) {
            let message = format!("flow {flow} has cap {}, expected a number >= 0", caps[flow]);
            return Err(ProblemError::new_err(message));
        }
        Ok(this.with_flow_cap(Some(caps)))
    }

    /// Paths from a list of links or of nodes for each.
    ///
    /// Parameters
    /// ----------
    /// paths : sequence of sequences of int or of str
    ///     As in `Problem`: the links of every path, or its nodes by name, ``["Seattle", "Denver"]``.
    /// net : Topology, optional
    ///     Whose nodes are named, and whose links the paths have.
    /// group : array of int, shape (paths,), optional
    ///     The flow that every path belongs to. By default path p is flow p.
    ///
    /// Returns
    /// -------
    /// Paths
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Naming the path with a link or a node that the network does not have, or whose links do not follow on each
    ///     other in it.
    /// TypeError
    ///     For what is no list of paths, and for names of nodes without a network.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("Seattle Denver 10\nDenver Houston 10")
    /// >>> paths = netnum.Paths.from_lists([["Seattle", "Denver", "Houston"], ["Denver", "Houston"]], net)
    /// >>> [path.tolist() for path in paths]
    /// [[0, 2], [2]]
    #[staticmethod]
    #[pyo3(signature = (paths, net=None, *, group=None))]
    fn from_lists(
        paths: &Bound<'_, PyAny>,
        net: Option<&Bound<'_, Topology>>,
        group: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let links = net.map_or(u32::MAX as usize, |net| net.get().core.links().len());
        let core = path_forms::paths(paths, links, net.map(Bound::get))?;
        if let Some(net) = net {
            let topology = &net.get().core;
            paths.py().enter_rust(|| topology.check_walks(&core))?;
        }
        let Some(group) = group.map(flow_numbers).transpose()? else { return Ok(core.into()) };
        check_length("group", group.len(), core.len(), "path").map_err(raise)?;
        Ok(Self::grouped(core, &group))
    }

    /// These paths with other coefficients, and their flows and the caps of these.
    ///
    /// Parameters
    /// ----------
    /// coefficients : array of float, or float
    ///     What every path uses of its links per unit of its rate, finite and > 0: one per entry of `indices`, or the
    ///     same for all.
    ///
    /// Returns
    /// -------
    /// Paths
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     Unless there is one finite coefficient > 0 per entry of `indices`.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB C 10")
    /// >>> paths = net.ecmp({("A", "C"): 4.0}).with_coefficients([1.0, 1.05])
    /// >>> paths, paths.flow_cap
    /// (Paths(1 path, 2.0 links each, with coefficients, capped by demands), array([4.]))
    fn with_coefficients(&self, py: Python<'_>, coefficients: &Bound<'_, PyAny>) -> PyResult<Self> {
        let coefficients = numbers::for_each("coefficients", coefficients, self.core.indices().len())?;
        let (indptr, indices) = (self.core.indptr().to_vec(), self.core.indices().to_vec());
        let core = py.enter_rust(|| Core::with_coefficients(indptr, indices, coefficients))?;
        let (group, flow_cap, ends) = (self.group.clone(), self.flow_cap.clone(), self.ends.clone());
        Ok(Self { group, flow_cap, ends, ..core.into() })
    }

    /// The paths as a table, with the names of a network.
    ///
    /// Parameters
    /// ----------
    /// net : Topology, optional
    ///     The network of the paths; without it links have numbers.
    ///
    /// Returns
    /// -------
    /// pandas.DataFrame
    ///     A row per path: its flow and its links; with a network also its source, its destination and the list of its
    ///     nodes, which is empty where its links are not listed in the order of the path.
    ///
    /// Raises
    /// ------
    /// ProblemError
    ///     For a path over a link that the network does not have.
    /// ImportError
    ///     Without pandas: ``pip install "netnum[frames]"``.
    ///
    /// Examples
    /// --------
    /// >>> net = netnum.topology.from_edges("A B 10\nB C 10")
    /// >>> net.paths("A", "C").to_pandas(net)
    ///       flow source destination      nodes           links
    /// path
    /// 0        0      A           C  [A, B, C]  A -> B, B -> C
    #[pyo3(signature = (net=None))]
    fn to_pandas<'py>(slf: &Bound<'py, Self>, net: Option<&Bound<'py, Topology>>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("netnum._show.frames")?.call_method1("paths", (slf, net))
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

    /// What every path uses of its links per unit of its rate, one per entry of `indices`: array of float; None where
    /// all are 1.
    #[getter]
    fn coefficients(&self, py: Python<'_>) -> PyResult<Option<Py<PyArray1<f64>>>> {
        let of = |all: &[f64]| kept(&self.coefficients, py, || Ok(numbers::read_only(py, all.to_vec())));
        self.core.coefficients().map(of).transpose()
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

    /// The cap on the rate of every flow: array of float, shape (flows,); None where the paths were made for no
    /// demands.
    #[getter]
    fn flow_cap<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.flow_cap.as_ref().map(|caps| numbers::read_only(py, caps.to_vec()))
    }

    /// The source and the destination of every flow, one after the other, of a problem that was given them.
    #[getter]
    fn _ends<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        let numbers = |ends: &Ends| ends.as_flattened().iter().map(|&node| i64::from(node)).collect();
        self.ends.as_ref().map(|ends| numbers::read_only(py, numbers(ends)))
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
    ) -> PyResult<(
        Py<PyArray1<i64>>,
        Py<PyArray1<i64>>,
        Option<Bound<'py, PyArray1<i64>>>,
        Option<Py<PyArray1<f64>>>,
        Option<Bound<'py, PyArray1<f64>>>,
    )> {
        let group = self.group.is_some().then(|| self.group(py)).transpose()?;
        Ok((self.indptr(py)?, self.indices(py)?, group, self.coefficients(py)?, self.flow_cap(py)))
    }

    fn __repr__(&self) -> String {
        let (paths, crossings) = (self.core.len(), self.core.indices().len());
        let mean = crossings as f64 / paths.max(1) as f64;
        let is_grouped = self.group.as_ref().is_some_and(|group| !group.is_empty());
        let flows = if is_grouped { format!(" of {}", counted(self.flows(), "flow")) } else { String::new() };
        let coefficients = if self.core.coefficients().is_some() { ", with coefficients" } else { "" };
        let caps = if self.flow_cap.is_some() { ", capped by demands" } else { "" };
        format!("Paths({}{flows}, {mean:.1} links each{coefficients}{caps})", counted(paths, "path"))
    }
}

/// Whether something is a list of lists, of arrays or of texts, and not of numbers.
fn holds_lists(value: &Bound<'_, PyAny>) -> bool {
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    is_list && value.get_item(0).is_ok_and(|first| first.len().is_ok())
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

/// The caps of the flows of paths, where a `Paths` has them.
pub(crate) fn flow_caps_of(paths: &Bound<'_, PyAny>) -> Option<Vec<f64>> {
    paths.cast::<Paths>().ok()?.get().flow_caps().map(<[f64]>::to_vec)
}
