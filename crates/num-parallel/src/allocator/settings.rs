//! Settings of an allocator.

use netnum_core::internal::registry::OptionRange;
use netnum_core::{Error, Normalization, Result};
use serde::{Deserialize, Serialize};

use crate::flow_blocks::Precision;

/// Settings of an allocator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub struct AllocatorSettings {
    /// What makes the rates of a tick feasible: F-NORM and U-NORM in O(flows), FILL in O(crossings) and on one thread.
    /// With `None` rates are the demands, and links may be too full.
    pub normalizer: Option<Normalization>,
    /// θ: a rate is sent again when it has moved by more than this part of itself; 0 ≤ θ < 1.
    pub update_threshold: f64,
    /// The part of every link that is held back, for flows too short to be started; 0 ≤ headroom < 1.
    pub headroom: f64,
    /// The numbers that are kept of flows.
    pub precision: Precision,
    /// The relative gap to which every tick goes on, with a certificate; 0 < gap < 1. It bounds the utility of all
    /// flows together, and not single rates. None where a tick is one iteration.
    pub exact: Option<f64>,
}

impl Default for AllocatorSettings {
    /// F-NORM, a threshold of 0.01, no headroom, f64, one iteration a tick.
    fn default() -> Self {
        Self {
            normalizer: Some(Normalization::FNorm),
            update_threshold: 0.01,
            headroom: 0.0,
            precision: Precision::F64,
            exact: None,
        }
    }
}

impl AllocatorSettings {
    /// The names of the settings, for a caller who gave one of them, misspelled, as an option.
    pub(super) const NAMES: [&str; 5] = ["normalizer", "update_threshold", "headroom", "precision", "exact"];

    /// With another normalizer, or none.
    pub fn with_normalizer(self, normalizer: Option<Normalization>) -> Self {
        Self { normalizer, ..self }
    }

    /// With another update threshold.
    pub fn with_update_threshold(self, update_threshold: f64) -> Self {
        Self { update_threshold, ..self }
    }

    /// With another headroom.
    pub fn with_headroom(self, headroom: f64) -> Self {
        Self { headroom, ..self }
    }

    /// With other numbers of flows.
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// With ticks that go on to such a relative gap, or that are one iteration.
    pub fn with_exact(self, exact: Option<f64>) -> Self {
        Self { exact, ..self }
    }

    pub(super) fn check(&self) -> Result<()> {
        OptionRange::Share.check("update_threshold", self.update_threshold)?;
        OptionRange::Share.check("headroom", self.headroom)?;
        let Some(gap) = self.exact else { return Ok(()) };
        let refused = |expected| Err(Error::setting("exact", gap, expected));
        match self.normalizer {
            _ if !(gap > 0.0 && gap < 1.0) => refused("a relative gap > 0 and < 1"),
            Some(Normalization::FNorm | Normalization::Fill) if self.precision == Precision::F64 => Ok(()),
            Some(Normalization::FNorm | Normalization::Fill) => refused("none with numbers of f32, right to 1e-6 only"),
            _ => refused("none without \"f-norm\" or \"fill\": other rates are not proven"),
        }
    }

    /// A flow's rate, from its demand and the part of that which the normalizer leaves.
    pub(super) fn given(&self, [demand, feasible]: [f64; 2]) -> f64 {
        if self.normalizer.is_none() { demand } else { feasible }
    }

    /// Whether a rate is to be sent after such a one; any is after one that is not a number.
    pub(super) fn is_news(&self, sent: f64, now: f64) -> bool {
        let threshold = self.update_threshold;
        sent.is_nan() || now < sent * (1.0 - threshold) || now > sent * (1.0 + threshold)
    }

    /// The part of a link that rates may fill.
    pub(super) fn used(&self, capacity: f64) -> f64 {
        capacity * (1.0 - self.headroom) * (1.0 - self.update_threshold)
    }
}
