//! Numbers of links, flows or paths that are given as a dict by name.

use pyo3::prelude::*;

use crate::numbers;
use crate::paths::Paths;
use crate::topology::Topology;

/// Where links, flows and paths are looked up by the names of nodes.
pub(crate) struct Names<'py> {
    pub(crate) net: Option<Bound<'py, Topology>>,
    /// Those of the flows, with their flows; none where only links have numbers.
    pub(crate) paths: Option<Bound<'py, Paths>>,
}

/// What has a number each.
#[derive(Clone, Copy)]
pub(crate) enum Each {
    Link,
    Flow,
    Path,
}

impl Each {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Flow => "flow",
            Self::Path => "path",
        }
    }
}

impl<'py> Names<'py> {
    /// Those of a network and of paths with their flows.
    pub(crate) fn of_paths(py: Python<'py>, net: Option<&Bound<'py, Topology>>, paths: Paths) -> PyResult<Self> {
        Ok(Self { net: net.cloned(), paths: Some(Bound::new(py, paths)?) })
    }

    /// The entries of a dict, or of a Series with an index of its own, in place of some of the present numbers;
    /// anything else as it is.
    pub(crate) fn filled(
        &self,
        name: &str,
        value: &Bound<'py, PyAny>,
        each: Each,
        present: impl FnOnce() -> Vec<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let value = dict_of_series(value)?;
        if !is_a(&value, "Mapping")? {
            return Ok(value);
        }
        let present = numbers::read_only(value.py(), present());
        let arguments = (name, &value, each.word(), present, self.net.as_ref(), self.paths.as_ref());
        value.py().import("netnum._by_name")?.call_method1("filled", arguments)
    }
}

/// Whether the value is a `collections.abc.Mapping` or `Sequence`. Whether it is one may be asked in Python code, so a
/// Ctrl-C can arrive within; a cast of PyO3 would print it and go on.
pub(crate) fn is_a(value: &Bound<'_, PyAny>, abstract_class: &str) -> PyResult<bool> {
    value.is_instance(&value.py().import("collections.abc")?.getattr(abstract_class)?)
}

/// A Series with an index of its own as a dict; anything else as it is.
pub(crate) fn dict_of_series<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if numbers::is_series_by_name(value)? { value.call_method0("to_dict") } else { Ok(value.clone()) }
}
