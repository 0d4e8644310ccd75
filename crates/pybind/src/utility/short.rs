//! The short forms of utilities: a name, and a number, which is the α of alpha-fairness.

use netnum_core::{AlphaFair as Core, Error, Linear as CoreLinear};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyString};

use super::Utility;
use super::alpha_fair::AlphaFair;
use super::class::with_base;
use super::families::Linear;
use crate::error::{UtilityError, raise};
use crate::hints;
use crate::numbers::is_integer;

/// The names, in the order in which errors list them.
const NAMES: [&str; 4] = ["proportional", "max-min", "throughput", "fct"];

/// Utilities that were given in a short form, each made once, so that flows share it.
pub(super) struct Made<'py>(Bound<'py, PyDict>);

impl<'py> Made<'py> {
    pub(super) fn none(py: Python<'py>) -> Self {
        Self(PyDict::new(py))
    }

    /// The utility that a name or a number stands for; anything else itself.
    pub(super) fn full(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if !is_short(&value)? {
            return Ok(value);
        }
        if let Some(utility) = self.0.get_item(&value)? {
            return Ok(utility);
        }
        let utility = match value.cast::<PyString>() {
            Ok(name) => named(value.py(), &name.to_cow()?)?,
            Err(_) => fair(value.py(), value.extract()?)?,
        };
        self.0.set_item(value, &utility)?;
        Ok(utility)
    }
}

/// Whether something is a name or a number; a truth is none.
pub(super) fn is_short(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_instance_of::<Utility>() {
        return Ok(false);
    }
    let is_plain = value.is_instance_of::<PyString>() || value.is_instance_of::<PyFloat>() || is_integer(value);
    if is_plain {
        return Ok(true);
    }
    // The real numbers of NumPy: of its integers none derives from Python's.
    let numpy = value.py().import("numpy")?;
    Ok(value.is_instance(&numpy.getattr("integer")?)? || value.is_instance(&numpy.getattr("floating")?)?)
}

/// The utility of a name. Those of one name have one meaning: `AlphaFair` of some α, or `Linear`, with a weight of 1.
fn named<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    match name {
        "proportional" => fair(py, 1.0),
        "max-min" => fair(py, f64::INFINITY),
        "throughput" => {
            let core = CoreLinear::new(1.0).map_err(raise)?;
            Ok(Bound::new(py, with_base(core, Linear))?.into_any())
        }
        "fct" => Err(UtilityError::new_err("utility \"fct\" needs the sizes of the flows: netnum.MinFct(size)")),
        _ => {
            let error = Error::unknown_name("utility", name, NAMES);
            let meant = hints::meant(py, "utility", name)?.map_or_else(String::new, |meant| format!(": {meant}"));
            Err(UtilityError::new_err(format!("{error}{meant}")))
        }
    }
}

fn fair(py: Python<'_>, alpha: f64) -> PyResult<Bound<'_, PyAny>> {
    let core = Core::new(alpha, 1.0).map_err(|error| match error {
        Error::Parameter { value, expected, .. } => {
            UtilityError::new_err(format!("alpha is {value}, expected {expected}"))
        }
        error => raise(error),
    })?;
    Ok(Bound::new(py, with_base(core, AlphaFair))?.into_any())
}
