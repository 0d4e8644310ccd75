//! The Python classes of the families. Of a family with numbers only, one for all flows or one per flow, a class is its
//! documentation and the names of its parameters.

use std::sync::Arc;

use netnum_core::Problem;
use netnum_core::internal::Spec;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::Utility;
use super::class::{Class, column, raise_weight, with_base};
use super::{alpha_fair, bandwidth_function};
use crate::detach::Pacer;
use crate::error::{UtilityError, raise};
use crate::{hints, numbers};

/// A class of a family of the core: its kind in files, the signature in Rust and as `help` shows it, and of each
/// parameter the name, its column in files, and the default where there is one.
macro_rules! family {
    (
        $(#[$about:meta])*
        $class:ident as $entry:ident, $kind:literal, $signature:tt, $shown:literal,
        { $($(#[$about_given:meta])* $given:ident: $column:literal,)* }
        { $($(#[$about_other:meta])* $other:ident: $other_column:literal = $default:expr,)* }
    ) => {
        $(#[$about])*
        #[pyclass(frozen, eq, extends = Utility, module = "netnum")]
        #[derive(PartialEq)]
        pub(crate) struct $class(pub(super) Arc<netnum_core::$class>);

        const $entry: Class = Class {
            kinds: &[$kind],
            add: |module| module.add_class::<$class>(),
            of_specs: |py, specs| {
                let core = netnum_core::$class::new(
                    $(column(specs, |spec| spec.get($column)),)*
                    $(column(specs, |spec| spec.get($other_column)),)*
                );
                Ok(Py::new(py, with_base(core.map_err(raise)?, $class))?.into_any())
            },
        };

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = $signature)]
            #[pyo3(text_signature = $shown)]
            fn new(
                _py: Python<'_>,
                $($given: Option<&Bound<'_, PyAny>>,)*
                $($other: Option<&Bound<'_, PyAny>>,)*
                unknown: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<PyClassInitializer<Self>> {
                hints::refuse(stringify!($class), unknown)?;
                $(
                    let $given = hints::needed(_py, stringify!($class), stringify!($given), $given)?;
                    let $given = numbers::parameter(stringify!($given), $given)?;
                )*
                $(
                    let $other = match $other {
                        Some(other) => numbers::parameter(stringify!($other), other)?,
                        None => $default.into(),
                    };
                )*
                Ok(with_base(netnum_core::$class::new($($given,)* $($other,)*).map_err(raise_weight)?, Self))
            }

            $(
                $(#[$about_given])*
                #[getter]
                fn $given<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
                    numbers::parameter_out(py, self.0.$given())
                }
            )*

            $(
                $(#[$about_other])*
                #[getter]
                fn $other<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
                    numbers::parameter_out(py, self.0.$other())
                }
            )*

            fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                PyTuple::new(py, [$(self.$given(py),)* $(self.$other(py),)*])
            }

            fn __repr__(&self) -> String {
                let parameters = [
                    $((stringify!($given), self.0.$given()),)*
                    $((stringify!($other), self.0.$other()),)*
                ];
                let shown = parameters.map(|(name, value)| format!("{name}={}", numbers::parameter_repr(value)));
                format!("{}({})", stringify!($class), shown.join(", "))
            }
        }
    };
}

family! {
    /// Throughput: w x, the limit α → 0 of alpha-fairness and a linear program.
    ///
    /// Parameters
    /// ----------
    /// weight : float or array of float, shape (flows,)
    ///     > 0 and finite. 1 unless given.
    ///
    /// Raises
    /// ------
    /// UtilityError
    ///     Naming the flow whose weight is out of range.
    ///
    /// Examples
    /// --------
    /// >>> problem = netnum.Problem([1.0, 1.0], [[0, 1], [0], [1]], netnum.Linear())
    /// >>> netnum.solve(problem).rates.round(4)
    /// array([0., 1., 1.])
    Linear as LINEAR, "linear", (weight=None, **unknown), "(weight=1.0)",
    {}
    {
        /// The weight w: a float, or an array of float of shape (flows,).
        weight: "weight" = 1.0,
    }
}

family! {
    /// Short completion times: x^(1-ε)/s, so that the flow with the smallest s is served almost exclusively.
    ///
    /// With s the flow's size this approximates shortest job first, with its remaining size SRPT, with its deadline
    /// earliest deadline first. On one link rates are proportional to s^(-1/ε): a factor of 2 in size is one of 256 in
    /// rate.
    ///
    /// Parameters
    /// ----------
    /// size : float or array of float, shape (flows,)
    ///     > 0 and finite, in any unit.
    /// epsilon : float or array of float, shape (flows,)
    ///     Between 0 and 1, both excluded.
    ///
    /// Raises
    /// ------
    /// UtilityError
    ///     Naming the flow whose size or epsilon is out of range.
    /// ProblemError
    ///     When the two arrays differ in length.
    ///
    /// Notes
    /// -----
    /// Source: Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2, with ε = 0.125.
    ///
    /// Examples
    /// --------
    /// The smaller of two flows gets 256 times the rate of the other, of twice its size:
    ///
    /// >>> problem = netnum.Problem([257.0], [[0], [0]], netnum.MinFct([1.0, 2.0]))
    /// >>> netnum.solve(problem, stop="kkt").rates.round(2)
    /// array([256.,   1.])
    MinFct as MIN_FCT, "fct", (size=None, epsilon=None, **unknown), "(size, epsilon=0.125)",
    {
        /// The size s: a float, or an array of float of shape (flows,).
        size: "size",
    }
    {
        /// The exponent ε: a float, or an array of float of shape (flows,).
        epsilon: "eps" = netnum_core::MinFct::EPSILON,
    }
}

/// The classes, in any order. The module and the problems that are read from JSON go through this list.
const CLASSES: &[Class] = &[alpha_fair::CLASS, LINEAR, MIN_FCT, bandwidth_function::CLASS];

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
