//! Priorities as utilities: the smaller a number s, which may change while a flow runs, the higher the rate.
//!
//! ```text
//! U(x) = x^(1−ε) / s      s the size, what remains of it, the remaining time, or the time until the deadline
//! ```
//!
//! They approximate serving flows in the order of s; ε > 0 leads from that towards fair sharing. Numbers that change
//! are computed when flows arrive or end, and at the ticks of a clock. They do not fall below those of one packet:
//! s → 0 would make U' unbounded. Source: Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2, Table 1.

use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use netnum_core::{MinFct, Settings};
use serde::{Deserialize, Serialize};

use super::PolicyEntry;
use super::clock::Clock;
use super::edf::deadline;
use super::ideal::{Ideal, Moment};
use super::remaining::{FOREVER, Remaining};
use crate::error::{Result, positive_option};
use crate::numbers::PACKET;

pub(super) const ENTRY: PolicyEntry = Entry {
    name: "min-fct",
    summary: "the exact optimum of NUMFabric's utility for short completion times at every change",
    options: options::defaults::<MinFctOptions>,
    make: |given| Ok(Box::new(given.read::<MinFctOptions>()?.policy()?)),
};

/// The number that makes a flow urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Urgency {
    /// A small size, as it was when the flow arrived.
    #[default]
    Size,
    /// Little left of it.
    Remaining,
    /// Little time left that it takes.
    Time,
    /// Little time left until its deadline.
    Deadline,
}

/// The optimum for short completion times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MinFctOptions {
    /// The gap to prove at every change.
    tol: f64,
    /// The number that makes a flow urgent.
    by: Urgency,
    /// Seconds between two computations of that, > 0.
    interval: f64,
    /// The time from arrival to deadline, as a multiple of what the flow takes alone, > 0.
    slack: f64,
}

impl Default for MinFctOptions {
    fn default() -> Self {
        Self { tol: Settings::default().tol, by: Urgency::Size, interval: 100e-6, slack: 2.0 }
    }
}

impl MinFctOptions {
    /// The policy with these options.
    ///
    /// # Errors
    /// [`netnum_core::Error::Option`] or a setting's, naming the option that is out of its range.
    fn policy(&self) -> Result<Ideal> {
        let &Self { tol, by, interval, slack } = self;
        positive_option(r#"policy "min-fct""#, "slack", slack)?;
        let clock = Clock::new(interval)?;
        let ideal = match by.name() {
            None => Ideal::min_fct(),
            Some(name) => Ideal::changing(name, clock, move |moment| {
                let urgency = |&slot: &u32| by.of(slot, moment, slack);
                Ok(MinFct::new(moment.slots.iter().map(urgency).collect::<Vec<f64>>(), MinFct::EPSILON)?.into())
            }),
        };
        ideal.with_gap(tol)
    }
}

impl Urgency {
    /// The name of the policy, if s changes while a flow runs.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Size => None,
            Self::Remaining => Some("min-fct(remaining)"),
            Self::Time => Some("min-fct(time)"),
            Self::Deadline => Some("min-fct(deadline)"),
        }
    }

    /// s.
    fn of(self, slot: u32, moment: &Moment<'_>, slack: f64) -> f64 {
        let &Moment { flows, now, capacities, .. } = moment;
        let flow = flows.flow(slot);
        let capacity = flows.route(slot).first(capacities);
        let packet_time = PACKET / capacity;
        let urgency: f64 = match self {
            Self::Size => flow.size,
            Self::Remaining => f64::max(PACKET, flow.left(now)),
            Self::Time => f64::max(packet_time, Remaining::Time.of(slot, flows, now, capacity)),
            Self::Deadline => f64::max(packet_time, deadline(flow, slack) - now),
        };
        urgency.min(FOREVER)
    }
}
