//! Strict priorities: every flow has one of K levels; the first is served as if the others were not there, each of the
//! others with what those before it leave, and flows of one level share fairly.
//!
//! Switches have 4 to 8 such queues at every port. Which level a flow has is up to a [`Rank`].

use netnum_core::Topology;

use super::max_min::Tiers;
use super::{Policy, Rates};
use crate::error::Result;
use crate::flows::Flows;
use crate::workload::Workload;

/// Decides which level a flow has.
pub trait Rank {
    /// What the policy is called.
    fn name(&self) -> &str;

    /// How many levels there are.
    fn levels(&self) -> usize;

    /// Called once before the first flow arrives, with the capacity of every link.
    ///
    /// # Errors
    /// Of the rank's own.
    fn start(&mut self, _capacities: &[f64]) -> Result<()> {
        Ok(())
    }

    /// The level of a flow at a moment, below [`levels`](Self::levels); 0 is served first.
    fn level(&self, slot: u32, flows: &Flows, now: f64) -> usize;

    /// Whether the levels of all flows are looked at now; one that arrives has one at once.
    ///
    /// # Errors
    /// Of the rank's own.
    fn is_due(&mut self, now: f64) -> Result<bool>;

    /// When a flow may have another level, at the rate that it has from now on; ∞ for never.
    fn until(&self, slot: u32, rate: f64, flows: &Flows, now: f64) -> f64;
}

/// Serves flows by levels.
#[derive(Debug)]
pub struct Strict<R> {
    rank: R,
    tiers: Tiers,
}

impl<R: Rank> Strict<R> {
    /// By the levels of a rank.
    pub fn by(rank: R) -> Self {
        Self { rank, tiers: Tiers::default() }
    }
}

impl<R: Rank> Policy for Strict<R> {
    fn name(&self) -> &str {
        self.rank.name()
    }

    fn start(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        self.tiers.start(self.rank.levels(), net.capacities());
        self.rank.start(net.capacities())
    }

    fn arrive(&mut self, slot: u32, flows: &Flows) {
        let level = self.rank.level(slot, flows, flows.flow(slot).arrival);
        self.tiers.insert(slot, level, flows);
    }

    fn leave(&mut self, slot: u32, _flows: &Flows) {
        self.tiers.remove(slot);
    }

    fn recap(&mut self, slot: u32, flows: &Flows) {
        self.tiers.set_cap(slot, flows.flow(slot).cap);
    }

    fn reroute(&mut self, slot: u32, flows: &Flows) {
        let level = self.tiers.level(slot);
        self.tiers.remove(slot);
        self.tiers.insert(slot, level, flows);
    }

    fn set_capacity(&mut self, link: usize, capacity: f64) {
        self.tiers.set_capacity(link as u32, capacity);
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        let Self { rank, tiers } = self;
        if rank.is_due(now)? {
            for &slot in flows.active() {
                let level = rank.level(slot, flows, now);
                if level != tiers.level(slot) {
                    tiers.remove(slot);
                    tiers.insert(slot, level, flows);
                }
            }
        }
        tiers.settle(|slot, rate| rates.set(slot, rate));
        let until = |&slot: &u32| rank.until(slot, tiers.rate(slot), flows, now);
        let next = flows.active().iter().map(until).fold(f64::INFINITY, f64::min);
        Ok(f64::max(next, now.next_up()))
    }
}
