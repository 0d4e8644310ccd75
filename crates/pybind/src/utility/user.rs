//! A user-defined utility: a Python object whose methods take and return arrays over flows.

use std::fmt;
use std::ops::Range;

use netnum_core::internal::{cancels, inverse};
use netnum_core::{Parameter, Utility};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use pyo3::{PyTraverseError, PyVisit};

use crate::error::UtilityError;
use crate::{detach, numbers};

/// The methods that it must have.
const NEEDED: [&str; 2] = ["value", "marginal"];

/// A Python object as a utility. A whole block of flows costs one call.
///
/// Once Python code has raised, it is not called again: the results are NaN until the call ends, which then raises the
/// first exception (see `detach.rs`).
pub(crate) struct UserUtility {
    object: Py<PyAny>,
    class: String,
    saturation: Option<Parameter>,
    /// Whether it has formulas for these.
    has_demand: bool,
    has_demand_slope: bool,
}

impl UserUtility {
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(class) = object.cast::<PyType>() {
            let name = class.name()?;
            return Err(PyTypeError::new_err(format!("utility is the class {name}, expected an instance: {name}(…)")));
        }
        let class = object.get_type().name()?.to_string();
        if object.is_callable() && !object.hasattr(NEEDED[0])? {
            let instead = "the logarithm is \"proportional\", and a utility of your own is an object with the methods \
                           value(rates) and marginal(rates), its derivative";
            return Err(PyTypeError::new_err(format!("{class} is no utility: {instead}")));
        }
        for method in NEEDED {
            if !object.hasattr(method)? {
                let needed = NEEDED.join(", ");
                let message = format!("{class} is no utility: it has no method {method:?} (of {needed})");
                return Err(PyTypeError::new_err(message));
            }
        }
        let saturation = match object.getattr_opt("saturation")? {
            None => None,
            Some(method) if method.is_callable() => Some(method.call0()?),
            Some(value) => Some(value),
        };
        let saturation = saturation.filter(|value| !value.is_none());
        let saturation = saturation.map(|value| numbers::parameter("saturation", &value)).transpose()?;
        let (has_demand, has_demand_slope) = (object.hasattr("demand")?, object.hasattr("demand_slope")?);
        Ok(Self { object: object.clone().unbind(), class, saturation, has_demand, has_demand_slope })
    }

    /// The object, for Python's garbage collector.
    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.object)
    }

    /// The result of a method for an array; none once Python code has raised, with the first exception kept.
    fn call(&self, method: &str, arguments: &[f64]) -> Option<Vec<f64>> {
        if detach::has_raised() {
            return None;
        }
        Python::attach(|py| self.answer(py, method, arguments)).map_err(detach::keep).ok()
    }

    fn answer(&self, py: Python<'_>, method: &str, arguments: &[f64]) -> PyResult<Vec<f64>> {
        // At rate 0, or at a price near 0, inf is the correct result of many utilities: NumPy must not warn.
        let settings = PyDict::new(py);
        settings.set_item("divide", "ignore")?;
        settings.set_item("over", "ignore")?;
        let quiet = py.import("numpy")?.getattr("errstate")?.call((), Some(&settings))?;
        quiet.call_method0("__enter__")?;
        let answer = self.object.bind(py).call_method1(method, (PyArray1::from_slice(py, arguments),));
        quiet.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
        let wrong = |what: String| UtilityError::new_err(format!("{}.{method} {what}", self.class));
        let (answers, shape) = numbers::floats_of_any_shape(method, &answer?).map_err(|error| {
            let ours = wrong(format!("did not return numbers: {}", error.value(py)));
            ours.set_cause(py, Some(error));
            ours
        })?;
        match shape.as_slice() {
            &[entries] if entries == arguments.len() || arguments.len() == 1 && entries > 0 => Ok(answers),
            _ => {
                let shape = shape.into_pyobject(py)?.call_method0("__repr__")?;
                Err(wrong(format!("returned an array of shape {shape}, expected [{}]", arguments.len())))
            }
        }
    }

    fn call_block(&self, method: &str, arguments: &[f64], out: &mut [f64]) {
        match self.call(method, arguments) {
            Some(answers) if answers.len() == out.len() => out.copy_from_slice(&answers),
            Some(answers) => {
                let (class, found, expected) = (&self.class, answers.len(), out.len());
                let what = format!("{class}.{method} returned an array of shape [{found}], expected [{expected}]");
                detach::keep(UtilityError::new_err(what));
                out.fill(f64::NAN);
            }
            None => out.fill(f64::NAN),
        }
    }

    /// The result for one flow. An object whose parameters are arrays over flows gives one for each of them.
    fn call_one(&self, method: &str, flow: usize, argument: f64) -> f64 {
        let Some(answers) = self.call(method, &[argument]) else { return f64::NAN };
        let place = if answers.len() == 1 { 0 } else { flow };
        answers.get(place).copied().unwrap_or_else(|| {
            let (class, flows) = (&self.class, answers.len());
            detach::keep(UtilityError::new_err(format!(
                "{class} has parameters for {flows} flows, and none for flow {flow}"
            )));
            f64::NAN
        })
    }
}

impl UserUtility {
    /// U' of one flow, as a function of a block of one.
    fn marginals_of(&self, flow: usize) -> impl FnMut(&[f64], &mut [f64]) {
        move |rates, out| out[0] = self.call_one("marginal", flow, rates[0])
    }
}

impl fmt::Debug for UserUtility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.class)
    }
}

impl Utility for UserUtility {
    fn value(&self, flow: usize, rate: f64) -> f64 {
        self.call_one("value", flow, rate)
    }
    fn marginal(&self, flow: usize, rate: f64) -> f64 {
        self.call_one("marginal", flow, rate)
    }
    fn demand(&self, flow: usize, price: f64) -> f64 {
        if self.has_demand {
            return self.call_one("demand", flow, price);
        }
        let mut demand = [0.0];
        inverse::demands_into(self.marginals_of(flow), |_| self.saturation(flow), &[price], &mut demand);
        demand[0]
    }
    fn demand_slope(&self, flow: usize, price: f64) -> f64 {
        if self.has_demand_slope {
            return self.call_one("demand_slope", flow, price);
        }
        let (demand, mut slope) = ([self.demand(flow, price)], [0.0]);
        let saturation = |_| self.saturation(flow);
        inverse::demand_slopes_into(self.marginals_of(flow), saturation, &[price], &demand, &mut slope);
        slope[0]
    }
    fn flows(&self) -> Option<usize> {
        self.saturation.as_ref().and_then(Parameter::flows)
    }
    fn saturation(&self, flow: usize) -> f64 {
        self.saturation.as_ref().map_or(f64::INFINITY, |saturation| saturation.of(flow))
    }
    fn value_into(&self, _flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        self.call_block("value", rates, out);
    }
    fn marginal_into(&self, _flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        self.call_block("marginal", rates, out);
    }
    fn demand_into(&self, flows: Range<usize>, prices: &[f64], out: &mut [f64]) {
        if self.has_demand {
            return self.call_block("demand", prices, out);
        }
        let marginals = |rates: &[f64], out: &mut [f64]| self.call_block("marginal", rates, out);
        inverse::demands_into(marginals, |place| self.saturation(flows.start + place), prices, out);
    }
    fn demand_slope_into(&self, flows: Range<usize>, prices: &[f64], out: &mut [f64]) {
        if self.has_demand_slope {
            return self.call_block("demand_slope", prices, out);
        }
        let mut demands = vec![0.0; prices.len()];
        self.demand_into(flows.clone(), prices, &mut demands);
        let marginals = |rates: &[f64], out: &mut [f64]| self.call_block("marginal", rates, out);
        let saturation = |place| self.saturation(flows.start + place);
        inverse::demand_slopes_into(marginals, saturation, prices, &demands, out);
    }
    fn gain_into(&self, _flows: Range<usize>, from: &[f64], to: &[f64], out: &mut [f64]) {
        let mut before = vec![0.0; from.len()];
        self.call_block("value", from, &mut before);
        self.call_block("value", to, out);
        let tangent = out.iter().zip(&before).any(|(&after, &before)| cancels(before, after));
        let mut marginals = vec![0.0; from.len()];
        if tangent {
            self.call_block("marginal", from, &mut marginals);
        }
        for (i, out) in out.iter_mut().enumerate() {
            *out = match from[i] == to[i] {
                true => 0.0,
                false if cancels(before[i], *out) => marginals[i] * (to[i] - from[i]),
                false => *out - before[i],
            };
        }
    }
}
