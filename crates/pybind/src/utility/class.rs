//! The parts that the Python classes of the families share.

use std::sync::Arc;

use netnum_core::internal::Spec;
use netnum_core::{Error, Parameter, Utility as Core};
use pyo3::PyClass;
use pyo3::prelude::*;

use super::Utility;
use crate::error::{UtilityError, raise};

/// An entry of the list of classes.
pub(super) struct Class {
    /// The kinds in files that it stands for.
    pub(super) kinds: &'static [&'static str],
    /// Adds the class to the module.
    pub(super) add: fn(&Bound<'_, PyModule>) -> PyResult<()>,
    /// The object for flows whose plain data are of one kind and have the same fields.
    pub(super) of_specs: fn(Python<'_>, &[Spec]) -> PyResult<Py<PyAny>>,
}

/// An object of a class whose base is [`Utility`].
pub(super) fn with_base<C: Core + 'static, T: PyClass<BaseType = Utility>>(
    core: C,
    class: fn(Arc<C>) -> T,
) -> PyClassInitializer<T> {
    let core = Arc::new(core);
    PyClassInitializer::from(Utility { core: core.clone() }).add_subclass(class(core))
}

/// One field of plain data as a parameter.
pub(super) fn column(specs: &[Spec], field: fn(&Spec) -> Option<f64>) -> Parameter {
    let values: Vec<f64> = specs.iter().filter_map(field).collect();
    let same = values.iter().all(|&value| value == values[0]);
    if same { Parameter::Same(values[0]) } else { Parameter::PerFlow(values) }
}

/// The exception for a bad parameter. A weight of 0 mostly stands for a demand of 0; the message has how to give one.
pub(super) fn raise_weight(error: Error) -> PyErr {
    let is_zero = matches!(error, Error::Parameter { name: "weight", value: 0.0, .. });
    let message = error.to_string();
    match is_zero {
        true => {
            let instead = "a flow without demand has flow_cap 0 and any weight, or is left out";
            UtilityError::new_err(format!("{message}: {instead}"))
        }
        false => raise(error),
    }
}
