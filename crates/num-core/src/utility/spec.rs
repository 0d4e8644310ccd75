//! Utilities as plain data: the columns of a problem file.

use std::borrow::Cow;
use std::sync::Arc;

use super::{FAMILIES, Utility};
use crate::error::{Error, Result};
use crate::registry::{Entry, OptionInfo, OptionValue};

/// An entry of [`FAMILIES`]: a kind that a file may name, with its parameters.
pub(super) type Family = Entry<FromSpecs>;

/// Makes one utility that holds the parameters of all the given flows.
pub(super) type FromSpecs = fn(&[Spec]) -> Result<Arc<dyn Utility>>;

/// One flow's utility as plain data: a kind, and parameters by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Name of the kind, one of [`FAMILIES`].
    pub kind: String,
    numbers: Vec<(&'static str, f64)>,
    breakpoints: Option<Vec<[f64; 2]>>,
}

/// The parameter that is a list of points.
pub(crate) const BREAKPOINTS: &str = "breakpoints";

impl Spec {
    /// A spec of one kind without parameters.
    pub fn of_kind(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), numbers: Vec::new(), breakpoints: None }
    }

    /// With a value of a parameter.
    pub fn with(mut self, name: &'static str, value: f64) -> Self {
        match self.numbers.iter_mut().find(|number| number.0 == name) {
            Some(number) => number.1 = value,
            None => self.numbers.push((name, value)),
        }
        self
    }

    /// Without a parameter.
    pub fn without(mut self, name: &str) -> Self {
        self.numbers.retain(|number| number.0 != name);
        self
    }

    /// With the points of a curve.
    pub fn with_breakpoints(self, points: Vec<[f64; 2]>) -> Self {
        Self { breakpoints: Some(points), ..self }
    }

    /// The value of a parameter, if it has one.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.numbers.iter().find(|number| number.0 == name).map(|number| number.1)
    }

    /// The points of its curve, if it has one.
    pub fn breakpoints(&self) -> Option<&[[f64; 2]]> {
        self.breakpoints.as_deref()
    }

    /// The exponent α, which has no number in files where it is ∞.
    pub fn exponent(&self) -> Option<f64> {
        self.get("alpha").or_else(|| self.kind.starts_with("max_min").then_some(f64::INFINITY))
    }

    /// The error for a parameter that this kind needs.
    pub(super) fn lacks(&self, flow: usize, name: &'static str) -> Error {
        Error::MissingField { flow, kind: self.kind.clone(), name }
    }
}

/// A parameter of a family, by its name in files.
pub(super) const fn parameter(name: &'static str, summary: &'static str) -> OptionInfo {
    OptionInfo { name: Cow::Borrowed(name), default: OptionValue::None, range: None, summary }
}

/// The names of all parameters: the columns of a file, in the order of the families.
pub(crate) fn columns() -> Vec<&'static str> {
    let mut columns = Vec::new();
    for parameter in FAMILIES.iter().flat_map(|family| (family.options)()) {
        if let Cow::Borrowed(name) = parameter.name
            && !columns.contains(&name)
        {
            columns.push(name);
        }
    }
    columns
}

/// A parameter of all specs.
pub(super) fn column(specs: &[Spec], name: &'static str) -> Result<Vec<f64>> {
    specs.iter().enumerate().map(|(flow, spec)| spec.get(name).ok_or_else(|| spec.lacks(flow, name))).collect()
}
