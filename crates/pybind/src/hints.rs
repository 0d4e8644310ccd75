//! What is meant by names that do not exist, by the table of `netnum._hints`.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What is meant by a name of some `kind`, if the table has it.
pub(crate) fn meant(py: Python<'_>, kind: &str, name: &str) -> PyResult<Option<String>> {
    table(py)?.call_method1("meant", (kind, name))?.extract()
}

/// Refuses keywords that a class does not have. Its constructor takes them as `**unknown`, which `help` does not show.
pub(crate) fn refuse(class: &str, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some((name, _)) = unknown.and_then(|unknown| unknown.iter().next()) else { return Ok(()) };
    Err(unexpected(name.py(), class, &name.extract::<String>()?)?)
}

/// The exception for a keyword that a function does not have.
pub(crate) fn unexpected(py: Python<'_>, function: &str, name: &str) -> PyResult<PyErr> {
    table(py)?.call_method1("unexpected", (function, name)).map(PyErr::from_value)
}

/// The exception for an option that no method has, if the table knows what is meant.
pub(crate) fn no_option(py: Python<'_>, function: &str, name: &str) -> PyResult<Option<PyErr>> {
    let error = table(py)?.call_method1("no_option", (function, name))?;
    Ok((!error.is_none()).then(|| PyErr::from_value(error)))
}

fn table(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("netnum._hints")
}
