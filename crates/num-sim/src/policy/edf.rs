//! Earliest deadline first: flows are served in the order of their deadlines.
//!
//! ```text
//! deadline = arrival + slack · (the time that the flow takes alone on the route of its arrival)
//! ```
//!
//! Large flows have more time than small ones, and no flow waits for ever. The order of two flows never changes.

use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use serde::{Deserialize, Serialize};

use super::PolicyEntry;
use super::ordered::{Key, Ordered};
use crate::error::{Result, positive_option};
use crate::network::{Flow, Flows};

pub(super) const ENTRY: PolicyEntry = Entry {
    name: "edf",
    summary: "strict priority by deadlines at a multiple of what a flow takes alone",
    options: options::defaults::<EdfOptions>,
    make: |given| Ok(Box::new(Ordered::by(Edf::new(given.read::<EdfOptions>()?.slack)?))),
};

/// A flow's deadline, as a key of [`Ordered`].
#[derive(Debug, Clone)]
pub struct Edf {
    slack: f64,
}

impl Edf {
    /// With deadlines at this many times what a flow would take alone.
    ///
    /// # Errors
    /// [`netnum_core::Error::Option`] for a slack that is not finite and > 0.
    pub fn new(slack: f64) -> Result<Self> {
        positive_option(r#"policy "edf""#, "slack", slack)?;
        Ok(Self { slack })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EdfOptions {
    slack: f64,
}

impl Default for EdfOptions {
    fn default() -> Self {
        Self { slack: 2.0 }
    }
}

/// The deadline of a flow, in seconds.
pub(super) fn deadline(flow: &Flow, slack: f64) -> f64 {
    flow.arrival + slack * flow.size / flow.alone
}

impl Key for Edf {
    fn name(&self) -> &str {
        "edf"
    }

    fn key(&self, slot: u32, flows: &Flows, _now: f64) -> f64 {
        deadline(flows.flow(slot), self.slack)
    }

    #[inline]
    fn slope(&self, _slot: u32, _flows: &Flows, _rate: f64) -> f64 {
        0.0
    }
}
