//! Utilities as plain data: the columns of a problem file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{FAMILIES, Utility};
use crate::error::{Error, Result};

/// One flow's utility as plain data; the fields that its kind does not use are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Name of the kind: `alpha_fair`, `max_min`, `linear`, `fct`, `bandwidth_function` or
    /// `max_min_bandwidth_function`.
    pub kind: String,
    /// Weight w of `alpha_fair`, `max_min` and `linear`.
    pub weight: Option<f64>,
    /// Scale s = w^α of `alpha_fair`, in place of its weight.
    #[serde(default)]
    pub scale: Option<f64>,
    /// Exponent α of `alpha_fair` and `bandwidth_function`.
    pub alpha: Option<f64>,
    /// Size s of `fct`.
    pub size: Option<f64>,
    /// Exponent ε of `fct`.
    pub eps: Option<f64>,
    /// Points (fair share, bandwidth) of `bandwidth_function` and `max_min_bandwidth_function`.
    pub breakpoints: Option<Vec<[f64; 2]>>,
    /// Slope of those two after their last point.
    pub tail_slope: Option<f64>,
}

impl Spec {
    /// A spec of one kind with every field empty.
    pub fn of_kind(kind: &str) -> Self {
        Self { kind: kind.into(), ..Self::default() }
    }

    /// The exponent α, which has no number in files where it is ∞.
    pub fn exponent(&self) -> Option<f64> {
        self.alpha.or_else(|| self.kind.starts_with("max_min").then_some(f64::INFINITY))
    }

    /// A field that this kind needs.
    pub(super) fn need<T: Clone>(&self, flow: usize, name: &'static str, field: &Option<T>) -> Result<T> {
        field.clone().ok_or_else(|| Error::MissingField { flow, kind: self.kind.clone(), name })
    }
}

/// An entry of [`FAMILIES`]: the kinds that a file may name, and how to make one block of their flows.
pub struct Family {
    /// Names of the kinds of this family.
    pub kinds: &'static [&'static str],
    /// Makes one utility that holds the parameters of all the given flows.
    pub from_specs: fn(&[Spec]) -> Result<Arc<dyn Utility>>,
}

impl Family {
    /// The family that a kind belongs to.
    ///
    /// # Errors
    /// [`Error::UnknownKind`] naming the kinds that exist.
    pub fn of(kind: &str) -> Result<&'static Self> {
        FAMILIES.iter().find(|family| family.kinds.contains(&kind)).ok_or_else(|| {
            let known: Vec<_> = FAMILIES.iter().flat_map(|family| family.kinds).copied().collect();
            Error::UnknownKind { kind: kind.into(), known: known.join(", ") }
        })
    }
}

/// A column of one field over all specs.
pub(super) fn column(specs: &[Spec], name: &'static str, field: impl Fn(&Spec) -> &Option<f64>) -> Result<Vec<f64>> {
    specs.iter().enumerate().map(|(flow, spec)| spec.need(flow, name, field(spec))).collect()
}
