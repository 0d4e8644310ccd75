//! Core errors → Python exceptions, with the same message.

use netnum_core::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    netnum,
    NumError,
    PyValueError,
    "Bad input. The message names the place, and what would have been right."
);
create_exception!(
    netnum,
    ProblemError,
    NumError,
    "Data that is no problem or no network: a bad capacity, path, group, cap, rate, price, length or text."
);
create_exception!(
    netnum,
    MethodError,
    NumError,
    "A method or an option that does not exist, or a problem that the method cannot take."
);
create_exception!(
    netnum,
    UtilityError,
    NumError,
    "A utility with a parameter out of its range, or with answers that no method can use."
);

/// The exception for an error.
pub(crate) fn raise(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::UnknownMethod { .. } | Error::UnknownOption { .. } | Error::Unsupported { .. } => {
            MethodError::new_err(message)
        }
        Error::Parameter { .. }
        | Error::UnknownKind { .. }
        | Error::BandwidthFunction { .. }
        | Error::MissingField { .. }
        | Error::Utility { .. } => UtilityError::new_err(message),
        Error::Setting { .. } | Error::Stopped => NumError::new_err(message),
        Error::Memory { .. } => PyMemoryError::new_err(message),
        _ => ProblemError::new_err(message),
    }
}

/// Says which problem or scenario an exception is about: in the message of those that are ours; as a note, where Python has
/// notes, when it is someone else's, so that it comes through as it was raised.
pub(crate) fn about(py: Python<'_>, what: &str, number: usize, error: PyErr) -> PyErr {
    if !error.is_instance_of::<NumError>(py) {
        let _ = error.value(py).call_method1("add_note", (format!("in {what} {number}"),));
        return error;
    }
    let message = format!("{what} {number}: {}", error.value(py));
    let ours = PyErr::from_type(error.get_type(py), (message,));
    ours.set_cause(py, error.cause(py));
    ours
}

/// The exception for a setting out of its range, worded as the core words it.
pub(crate) fn setting(name: &str, value: impl ToString, expected: &str) -> PyErr {
    raise(Error::Setting { name: name.into(), value: value.to_string(), expected: expected.into() })
}
