//! The remaining size of a flow in bits, or its remaining time. Real schedulers do not have it; policies that do are
//! references for the others.
//!
//! ```text
//! size   s = b_r + b_b                          b_r still to be produced, b_b waiting to be sent
//! time   T = b_r / min(r_g, C) + b_b / C        r_g the rate of production, C what its first link allows
//! ```
//!
//! T is the time that a flow takes in an idle network, if its backlog goes first. Source: Li et al., *RAX*, eq. 1.

use serde::{Deserialize, Serialize};

use crate::network::Flows;

/// The unit of what remains of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub(super) enum Remaining {
    /// Bits.
    #[default]
    Size,
    /// Seconds.
    Time,
}

/// The time of a flow over a link without capacity, as a number that can be compared.
pub(super) const FOREVER: f64 = 1e100;

impl Remaining {
    /// The remaining size or time of a flow behind a link of some capacity.
    pub(super) fn of(self, slot: u32, flows: &Flows, now: f64, capacity: f64) -> f64 {
        let flow = flows.flow(slot);
        let left = flow.left(now);
        match self {
            Self::Size => left,
            Self::Time if capacity == 0.0 => FOREVER,
            Self::Time => {
                let to_come = flows.to_come(slot, now);
                to_come / f64::min(flows.production(slot), capacity) + f64::max(0.0, left - to_come) / capacity
            }
        }
    }

    /// Its slope at a rate; the lower the higher the rate.
    pub(super) fn slope(self, slot: u32, flows: &Flows, rate: f64, capacity: f64) -> f64 {
        match self {
            Self::Size => -rate,
            Self::Time if capacity == 0.0 => 0.0,
            Self::Time => {
                let pace = flows.pace(slot, rate);
                (pace - rate) / capacity - pace / f64::min(flows.production(slot), capacity)
            }
        }
    }
}
