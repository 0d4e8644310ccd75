//! Strict priorities: every flow has one of K levels; the first is served as if the others were not there, each of the
//! others with what those before it leave, and flows of one level share fairly.
//!
//! Switches have 4 to 8 such queues at every port. Which level a flow has, and for how long, is up to a [`Rank`].

use netnum_core::Topology;

use super::max_min::Tiers;
use super::{Policy, Rates};
use crate::calendar::Calendar;
use crate::error::{Error, Result};
use crate::flows::Flows;
use crate::workload::Workload;

/// Decides which level a flow has.
pub trait Rank {
    /// What the policy is called.
    fn name(&self) -> &str;

    /// How many levels there are.
    fn levels(&self) -> usize;

    /// Called once before the first flow arrives, with the capacity of every link.
    fn start(&mut self, _capacities: &[f64]) {}

    /// The level of a flow at a moment, below [`levels`](Self::levels); 0 is served first.
    fn level(&self, slot: u32, flows: &Flows, now: f64) -> usize;

    /// When that is asked for again, if the flow keeps the level and the rate that it has from now on: at once if it is not
    /// after `now`; ∞ for never, NaN where no float is so near to `now`. It is asked for once more whenever the rate changes.
    fn until(&self, slot: u32, level: usize, rate: f64, flows: &Flows, now: f64) -> f64;
}

/// Serves flows by levels.
#[derive(Debug)]
pub struct Strict<R> {
    rank: R,
    tiers: Tiers,
    /// When levels are asked for again.
    calendar: Calendar,
    /// Slots whose level is asked for at this instant, and those that have another rate or level since.
    due: Vec<u32>,
    changed: Vec<u32>,
}

impl<R: Rank> Strict<R> {
    /// By the levels of a rank.
    pub fn by(rank: R) -> Self {
        Self { rank, tiers: Tiers::default(), calendar: Calendar::default(), due: Vec::new(), changed: Vec::new() }
    }
}

impl<R: Rank> Policy for Strict<R> {
    fn name(&self) -> &str {
        self.rank.name()
    }

    fn start(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        self.tiers.start(self.rank.levels(), net.capacities());
        self.calendar = Calendar::default();
        self.rank.start(net.capacities());
        Ok(())
    }

    fn arrive(&mut self, slot: u32, flows: &Flows) {
        let level = self.rank.level(slot, flows, flows.flow(slot).arrival);
        self.tiers.insert(slot, level, flows);
        // Until it has a rate.
        let arrival = flows.flow(slot).arrival;
        self.calendar.set(slot, f64::max(arrival, self.rank.until(slot, level, 0.0, flows, arrival)));
    }

    fn leave(&mut self, slot: u32, _flows: &Flows) {
        self.tiers.remove(slot);
        self.calendar.set(slot, f64::INFINITY);
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
        let Self { rank, tiers, calendar, due, changed } = self;
        calendar.due(now, due);
        for &slot in &*due {
            let level = rank.level(slot, flows, now);
            if level != tiers.level(slot) {
                tiers.remove(slot);
                tiers.insert(slot, level, flows);
            }
        }
        changed.clone_from(due);
        tiers.settle(|slot, rate| {
            rates.set(slot, rate);
            changed.push(slot);
        });
        for &slot in &*changed {
            let until = rank.until(slot, tiers.level(slot), tiers.rate(slot), flows, now);
            if until.is_nan() {
                let what = format!("has an interval shorter than the clock can tell apart at {now} s");
                return Err(Error::Policy { policy: rank.name().into(), what });
            }
            calendar.set(slot, f64::max(until, now.next_up()));
        }
        Ok(calendar.first())
    }
}
