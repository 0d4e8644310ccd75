//! Shortest remaining processing time, as pFabric approaches it: flows are served in the order of their remaining
//! size, or of their remaining time if applications are slower than the network.
//!
//! ```text
//! key_f = s_f / w_f      s_f what remains of the flow, w_f its weight
//! ```
//!
//! On one link that is the order of least Σ w_f T_f for the flows there are: Smith's rule.
//!
//! Sources: Alizadeh et al., *pFabric*, SIGCOMM 2013, §3, where priority queues approximate it; Li et
//! al., *RAX*, §II-B, for the order by remaining time; W. E. Smith, *Various optimizers for single-stage production*,
//! 1956, for weights.

use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use serde::{Deserialize, Serialize};

use super::PolicyEntry;
use super::ordered::{Key, Ordered};
use super::remaining::Remaining;
use crate::network::Flows;

pub(super) const ENTRY: PolicyEntry = Entry {
    name: "srpt",
    summary: "strict priority by remaining size or remaining time, pFabric's ideal",
    options: options::defaults::<SrptOptions>,
    make: |given| {
        let by = given.read::<SrptOptions>()?.by;
        Ok(Box::new(Ordered::by(Srpt { by, ..Srpt::default() })))
    },
};

/// The remaining size or time of a flow, as a key of [`Ordered`].
#[derive(Debug, Clone, Default)]
pub struct Srpt {
    by: Remaining,
    capacities: Vec<f64>,
}

impl Srpt {
    /// By remaining size.
    pub fn new() -> Self {
        Self::default()
    }

    /// By remaining time.
    pub fn by_time() -> Self {
        Self { by: Remaining::Time, ..Self::default() }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SrptOptions {
    by: Remaining,
}

impl Srpt {
    /// The rate that a flow's first link allows, where the key depends on it.
    fn capacity(&self, slot: u32, flows: &Flows) -> f64 {
        match self.by {
            Remaining::Size => f64::NAN,
            Remaining::Time => flows.route(slot).first(&self.capacities),
        }
    }
}

impl Key for Srpt {
    fn name(&self) -> &str {
        match self.by {
            Remaining::Size => "srpt",
            Remaining::Time => "srpt(time)",
        }
    }

    fn begin_run(&mut self, capacities: &[f64]) {
        self.capacities = capacities.to_vec();
    }

    fn key(&self, slot: u32, flows: &Flows, now: f64) -> f64 {
        self.by.of(slot, flows, now, self.capacity(slot, flows)) / flows.weight(slot)
    }

    #[inline]
    fn slope(&self, slot: u32, flows: &Flows, rate: f64) -> f64 {
        self.by.slope(slot, flows, rate, self.capacity(slot, flows)) / flows.weight(slot)
    }

    fn takes_weights(&self) -> bool {
        true
    }
}
