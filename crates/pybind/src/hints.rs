//! What is meant by names that do not exist and by arguments that are missing: the tables are in Python.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What is meant by a name of some `kind`, if the table has it.
pub(crate) fn meant(py: Python<'_>, kind: &str, name: &str) -> PyResult<Option<String>> {
    py.import("netnum._hints")?.call_method1("meant", (kind, name))?.extract()
}

/// The arrays of an object of some class that is none, if the table has it.
pub(crate) fn arrays(py: Python<'_>, class: &str) -> PyResult<Option<String>> {
    py.import("netnum._hints")?.getattr("ARRAYS")?.call_method1("get", (class,))?.extract()
}

/// Refuses keywords that a class does not have. Its constructor takes them as `**unknown`, which `help` does not show.
pub(crate) fn refuse(class: &str, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some((name, _)) = unknown.and_then(|unknown| unknown.iter().next()) else { return Ok(()) };
    Err(unexpected(name.py(), class, &name.extract::<String>()?)?)
}

/// An argument that has no default. The constructors of classes take it as an optional one, since PyO3's own message
/// for a missing argument does not say what it is.
pub(crate) fn needed<'a, 'py>(
    py: Python<'py>,
    class: &str,
    name: &str,
    given: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<&'a Bound<'py, PyAny>> {
    match given {
        Some(given) => Ok(given),
        None => Err(PyErr::from_value(arguments(py)?.call_method1("absent", (class, name))?)),
    }
}

/// The exception for a keyword that a function does not have.
pub(crate) fn unexpected(py: Python<'_>, function: &str, name: &str) -> PyResult<PyErr> {
    arguments(py)?.call_method1("unexpected", (function, name)).map(PyErr::from_value)
}

/// The exception for an option that no method has, if the table knows what is meant.
pub(crate) fn no_option(py: Python<'_>, function: &str, name: &str) -> PyResult<Option<PyErr>> {
    let error = arguments(py)?.call_method1("no_option", (function, name))?;
    Ok((!error.is_none()).then(|| PyErr::from_value(error)))
}

/// Refuses options that no method has, of a function that takes `keywords` for them.
pub(crate) fn refuse_options(py: Python<'_>, function: &str, keywords: &Bound<'_, PyDict>) -> PyResult<()> {
    arguments(py)?.call_method1("refuse_options", (function, keywords)).map(drop)
}

/// The exception for what is given in place of a network, if it is known; else the one about an array of capacities.
pub(crate) fn no_network(given: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = given.py();
    if !error.is_instance_of::<PyException>(py) {
        return error;
    }
    match arguments(py).and_then(|module| module.call_method1("no_network", (given,))) {
        Ok(known) if known.is_none() => error,
        Ok(known) => PyErr::from_value(known),
        Err(other) => other,
    }
}

fn arguments(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("netnum._arguments")
}
