//! The list of the Python classes of the families, which have a file each.

use netnum_core::Problem;
use netnum_core::utility::Spec;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::class::Class;
use super::{alpha_fair, bandwidth_function, linear, min_fct};
use crate::detach::Pacer;
use crate::error::UtilityError;

/// The classes, in any order. The module and the problems that are read from JSON go through this list.
const CLASSES: &[Class] = &[alpha_fair::CLASS, linear::CLASS, min_fct::CLASS, bandwidth_function::CLASS];

/// Adds the classes to the module.
pub(crate) fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    CLASSES.iter().try_for_each(|class| (class.add)(module))
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
        let alike = specs
            .iter()
            .all(|spec| spec.kind == first.kind && spec.get("scale").is_some() == first.get("scale").is_some());
        if alike && first.breakpoints().is_none() || specs.iter().all(|spec| spec == first) {
            return of_specs(py, &specs);
        }
    }
    let each: Vec<_> = specs.iter().map(|spec| of_specs(py, std::slice::from_ref(spec))).collect::<PyResult<_>>()?;
    Ok(PyTuple::new(py, each)?.into_any().unbind())
}

fn of_specs(py: Python<'_>, specs: &[Spec]) -> PyResult<Py<PyAny>> {
    let kind = &*specs[0].kind;
    let class = CLASSES.iter().find(|class| class.kinds.contains(&kind));
    let class =
        class.ok_or_else(|| UtilityError::new_err(format!("utilities of kind {kind:?} have no Python class")))?;
    (class.of_specs)(py, specs)
}
