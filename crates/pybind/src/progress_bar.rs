//! The progress bar of long calls. `netnum._show.progress` draws it.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// A bar of `netnum._show.progress`, on the screen from its first state on; or none.
pub(crate) struct ProgressBar(Option<Py<PyAny>>);

impl ProgressBar {
    /// The bar of a task of `netnum._show.progress` of some size, if one is wanted.
    pub(crate) fn new<'py>(py: Python<'py>, wanted: bool, task: &str, size: impl IntoPyObject<'py>) -> PyResult<Self> {
        let make = || Ok(py.import("netnum._show.progress")?.call_method1("bar", (task, size))?.unbind());
        wanted.then(make).transpose().map(Self)
    }

    pub(crate) fn exists(&self) -> bool {
        self.0.is_some()
    }

    /// Shows a state of the task.
    pub(crate) fn show<'py>(&self, py: Python<'py>, state: impl PyCallArgs<'py>) -> PyResult<()> {
        self.0.as_ref().map_or(Ok(()), |bar| bar.call_method1(py, "show", state).map(drop))
    }

    /// Shows the last state of a call that has succeeded, and ends the line. The result is that of the call; an error
    /// of the bar comes after one of the call.
    pub(crate) fn close<'py, T, S: PyCallArgs<'py>>(
        self,
        py: Python<'py>,
        result: PyResult<T>,
        last: impl FnOnce(&T) -> S,
    ) -> PyResult<T> {
        let Some(bar) = &self.0 else { return result };
        let shown = result.as_ref().map_or(Ok(()), |value| self.show(py, last(value)));
        let closed = shown.and(bar.call_method0(py, "close").map(drop));
        let value = result?;
        closed.map(|()| value)
    }
}
