//! The Python classes of the families, one file each.

use std::sync::Arc;

use netnum_core::utility::{Family, Spec};
use netnum_core::{Error, Parameter, Problem, Utility as Core};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{Utility, alpha_fair, bandwidth_function, linear, min_fct};
use crate::detach::Pacer;
use crate::error::{UtilityError, raise};

/// The classes, in any order. The module and the problems that are read from JSON go through this list.
const CLASSES: &[Class] = &[alpha_fair::CLASS, linear::CLASS, min_fct::CLASS, bandwidth_function::CLASS];

/// An entry of [`CLASSES`].
pub(super) struct Class {
    /// One of the kinds of its family in the core.
    pub(super) kind: &'static str,
    /// Adds the class to the module.
    pub(super) add: fn(&Bound<'_, PyModule>) -> PyResult<()>,
    /// The object for flows whose plain data are of one kind and have the same fields.
    pub(super) of_specs: fn(Python<'_>, &[Spec]) -> PyResult<Py<PyAny>>,
}

/// Adds the classes to the module.
pub(crate) fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    CLASSES.iter().try_for_each(|class| (class.add)(module))
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

/// The utilities of a problem that was read from plain data: one object where one can hold them all, else a tuple.
pub(crate) fn of_problem(py: Python<'_>, problem: &Problem) -> PyResult<Py<PyAny>> {
    let spec = |flow| {
        let (utility, place) = problem.utility(flow);
        utility.spec(place).expect("utilities that were read from plain data can be written as such")
    };
    let mut pacer = Pacer::new(py);
    let specs = (0..problem.flows()).map(|flow| pacer.did(1).map(|()| spec(flow)));
    let specs: Vec<Spec> = specs.collect::<PyResult<_>>()?;
    if let Some(first) = specs.first() {
        let alike = specs.iter().all(|spec| spec.kind == first.kind && spec.scale.is_some() == first.scale.is_some());
        if alike && first.breakpoints.is_none() || specs.iter().all(|spec| spec == first) {
            return of_specs(py, &specs);
        }
    }
    let each: Vec<_> = specs.iter().map(|spec| of_specs(py, std::slice::from_ref(spec))).collect::<PyResult<_>>()?;
    Ok(PyTuple::new(py, each)?.into_any().unbind())
}

fn of_specs(py: Python<'_>, specs: &[Spec]) -> PyResult<Py<PyAny>> {
    let kind = &specs[0].kind;
    let kinds = Family::of(kind).map_err(raise)?.kinds;
    let class = CLASSES.iter().find(|class| kinds.contains(&class.kind));
    let class =
        class.ok_or_else(|| UtilityError::new_err(format!("utilities of kind {kind:?} have no Python class")))?;
    (class.of_specs)(py, specs)
}
