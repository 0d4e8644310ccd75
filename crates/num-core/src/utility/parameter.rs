//! A utility parameter: one number for all flows, or one per flow.

use crate::error::{Error, Result};

/// A parameter of a utility: one number for all flows, or one per flow.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    /// One number for all flows.
    Same(f64),
    /// One number per flow.
    PerFlow(Vec<f64>),
}

/// The name of a parameter in which the optimum has a derivative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterName {
    /// Weight w of α-fair utilities.
    Weight,
    /// Scale s of α-fair utilities, where it was given in place of the weight.
    Scale,
    /// Exponent α of α-fair utilities, with a fixed weight, or scale.
    Alpha,
    /// Size s of completion times.
    Size,
    /// Exponent ε of completion times.
    Epsilon,
}

impl ParameterName {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Weight, Self::Scale, Self::Alpha, Self::Size, Self::Epsilon];

    /// The name that Python uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Weight => "weight",
            Self::Scale => "scale",
            Self::Alpha => "alpha",
            Self::Size => "size",
            Self::Epsilon => "epsilon",
        }
    }
}

impl Parameter {
    /// The parameter of one flow.
    ///
    /// # Panics
    /// If there is one number per flow and `flow` is beyond them.
    #[inline(always)]
    pub fn of(&self, flow: usize) -> f64 {
        match self {
            Self::Same(value) => *value,
            Self::PerFlow(values) => values[flow],
        }
    }

    /// For how many flows there are numbers; `None` when one serves all.
    pub fn flows(&self) -> Option<usize> {
        match self {
            Self::Same(_) => None,
            Self::PerFlow(values) => Some(values.len()),
        }
    }

    /// Every number satisfies `holds`; the error names the first flow whose number does not.
    pub(crate) fn check(&self, name: &'static str, expected: &'static str, holds: impl Fn(f64) -> bool) -> Result<()> {
        let values = match self {
            Self::Same(value) => std::slice::from_ref(value),
            Self::PerFlow(values) => values,
        };
        match values.iter().position(|&value| !holds(value)) {
            Some(flow) => Err(Error::Parameter { flow, name, value: values[flow], expected }),
            None => Ok(()),
        }
    }

    /// Strictly positive and finite.
    pub(crate) fn check_positive(&self, name: &'static str) -> Result<()> {
        self.check(name, "a finite number > 0", |value| value > 0.0 && value.is_finite())
    }

    /// The number of flows that two parameters of one utility agree on.
    pub(crate) fn common_flows(what: &str, first: &Self, second: &Self) -> Result<Option<usize>> {
        match (first.flows(), second.flows()) {
            (Some(expected), Some(found)) if expected != found => {
                Err(Error::Length { what: what.into(), found, expected, per: "flow" })
            }
            (first, second) => Ok(first.or(second)),
        }
    }
}

impl From<f64> for Parameter {
    fn from(value: f64) -> Self {
        Self::Same(value)
    }
}

impl From<Vec<f64>> for Parameter {
    fn from(values: Vec<f64>) -> Self {
        Self::PerFlow(values)
    }
}

impl From<&[f64]> for Parameter {
    fn from(values: &[f64]) -> Self {
        Self::PerFlow(values.to_vec())
    }
}
