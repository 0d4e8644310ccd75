//! Errors of the Rust crates → Python exceptions, with the same message.

use netnum_core::Error;
use netnum_core::FAMILIES;
use netnum_sim::Error as SimError;
use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    netnum,
    NumError,
    PyValueError,
    r#"Bad input. The message names the place, and what would have been right.

Examples
--------
>>> try:
...     netnum.Problem([-1.0], [[0]], netnum.AlphaFair(1.0))
... except netnum.NumError as error:
...     print(type(error).__name__, error, sep=": ")
ProblemError: link 0 has capacity -1, expected a number >= 0 (inf for no limit)"#
);
create_exception!(
    netnum,
    ProblemError,
    NumError,
    "Data that is no problem or no network: a bad capacity, path, group, cap, rate, price, length or text.

Examples
--------
>>> try:
...     netnum.Problem([1.0], [[0, 3]], netnum.AlphaFair(1.0))
... except netnum.ProblemError as error:
...     print(error)
path 0 names link 3, expected link 0, the only one"
);
create_exception!(
    netnum,
    MethodError,
    NumError,
    r#"A method or an option that does not exist, or a problem that the method cannot take.

Examples
--------
>>> try:
...     netnum.solve(netnum.Problem([1.0], [[0]], netnum.Linear(1.0)), "ned")
... except netnum.MethodError as error:
...     print(error)
method "ned" cannot take linear utilities; use "interior-point""#
);
create_exception!(
    netnum,
    UtilityError,
    NumError,
    "A utility with a parameter out of its range, or with answers that no method can use.

Examples
--------
>>> try:
...     netnum.AlphaFair(1.0, weight=[1.0, -2.0])
... except netnum.UtilityError as error:
...     print(error)
flow 1 has weight -2, expected a finite number > 0"
);
create_exception!(
    netnum,
    SensitivityError,
    NumError,
    "A solution or a utility without derivatives, or a derivative that does not exist.

Examples
--------
>>> problem = netnum.Problem([1.0], [[0], [0]], netnum.AlphaFair(np.inf))
>>> try:
...     netnum.solve(problem).sensitivity()
... except netnum.SensitivityError as error:
...     print(error)
no sensitivity of max-min rates; AlphaFair with a large alpha, such as 8, is smooth"
);

/// An error that has a Python exception.
pub(crate) trait Raise {
    fn raise(self) -> PyErr;
}

/// The exception for an error.
pub(crate) fn raise(error: impl Raise) -> PyErr {
    error.raise()
}

impl Raise for Error {
    fn raise(self) -> PyErr {
        let message = self.to_string();
        match self {
            // As a parameter out of its range.
            Self::UnknownName { kind, .. } if kind == FAMILIES.kind => UtilityError::new_err(message),
            Self::UnknownName { .. }
            | Self::UnknownOption { .. }
            | Self::OptionOfAuto { .. }
            | Self::Unsupported { .. }
            | Self::CannotTake { .. } => MethodError::new_err(message),
            Self::Parameter { .. }
            | Self::BandwidthFunction { .. }
            | Self::MissingField { .. }
            | Self::Utility { .. } => UtilityError::new_err(message),
            Self::NoSensitivity { .. } | Self::NotDifferentiable { .. } => SensitivityError::new_err(message),
            Self::Setting { .. }
            | Self::Option { .. }
            | Self::Threads { .. }
            | Self::RankFailed { .. }
            | Self::RanksDiffer { .. }
            | Self::Stopped => NumError::new_err(message),
            Self::Memory { .. } => PyMemoryError::new_err(message),
            _ => ProblemError::new_err(message),
        }
    }
}

impl Raise for SimError {
    fn raise(self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::Core(error) => error.raise(),
            Self::Policy { .. } | Self::Routing { .. } | Self::ClosedLoop { .. } | Self::StandsStill { .. } => {
                MethodError::new_err(message)
            }
            _ => ProblemError::new_err(message),
        }
    }
}

/// Adds to an exception the problem or scenario that it is about: in the message if the exception is netnum's; else as
/// a note, where Python has notes, so that the exception of a user's code is raised unchanged.
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

/// The exception for a setting out of its range, in the words of the core.
pub(crate) fn setting(name: &str, value: impl ToString, expected: &str) -> PyErr {
    raise(Error::setting(name, value, expected))
}

/// The exception for a value of another type than one that is expected.
pub(crate) fn wrong_type(what: &str, expected: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let kind = value.get_type().name().map_or_else(|_| "that".into(), |kind| kind.to_string());
    PyTypeError::new_err(format!("{what} must be {expected}, not {kind}"))
}
