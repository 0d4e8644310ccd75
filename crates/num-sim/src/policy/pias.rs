//! PIAS: a flow's priority falls as it sends. Most flows end before that, and sizes need not be given.
//!
//! ```text
//! level = the number of thresholds that the bytes sent have reached
//! ```
//!
//! Source: Bai et al., *Information-agnostic flow scheduling for commodity data centers*, NSDI 2015.

use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use serde::{Deserialize, Serialize};

use super::PolicyEntry;
use super::strict::{Levels, Strict, Until};
use crate::error::{Error, Result};
use crate::network::Flows;
use crate::numbers::BITS;

pub(super) const ENTRY: PolicyEntry = Entry {
    name: "pias",
    summary: "fair sharing at priorities that fall with the bytes that a flow has sent",
    options: options::defaults::<PiasOptions>,
    make: |given| Ok(Box::new(Strict::by(Pias::new(&given.read::<PiasOptions>()?.thresholds)?))),
};

/// Levels by bytes sent.
#[derive(Debug, Clone)]
pub struct Pias {
    /// In bits.
    thresholds: Vec<f64>,
}

impl Pias {
    /// With thresholds in bytes, of which there is one fewer than levels.
    ///
    /// # Errors
    /// [`netnum_core::Error::Option`] for thresholds that are not finite, > 0 and increasing, or for none.
    pub fn new(thresholds: &[f64]) -> Result<Self> {
        let wrong = |value: String, expected| Err(Error::option(r#"policy "pias""#, "thresholds", value, expected));
        if thresholds.is_empty() {
            return wrong("empty".into(), "at least one");
        }
        let mut previous = 0.0;
        for &threshold in thresholds {
            if !(threshold.is_finite() && threshold > previous) {
                return wrong(format!("{threshold} after {previous}"), "finite numbers > 0 that increase");
            }
            previous = threshold;
        }
        Ok(Self { thresholds: thresholds.iter().map(|bytes| BITS * bytes).collect() })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PiasOptions {
    thresholds: Vec<f64>,
}

impl Default for PiasOptions {
    /// 8 levels: 20 kB, and 2.7 times as much from each to the next, for the sizes of a web search.
    fn default() -> Self {
        let thresholds = std::iter::successors(Some(20_000.0), |threshold| Some(2.7 * threshold));
        Self { thresholds: thresholds.take(7).collect() }
    }
}

impl Levels for Pias {
    fn name(&self) -> &str {
        "pias"
    }

    fn levels(&self) -> usize {
        self.thresholds.len() + 1
    }

    fn level(&self, _slot: u32, sent: f64, _flows: &Flows, _now: f64) -> usize {
        self.thresholds.partition_point(|&threshold| sent >= threshold)
    }

    fn until(&self, _slot: u32, level: usize, _flows: &Flows, _now: f64) -> Until {
        self.thresholds.get(level).map_or(Until::End, |&threshold| Until::Sent(threshold))
    }
}
