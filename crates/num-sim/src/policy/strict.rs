//! Strict priorities: every flow has one of K levels; the first is served as if it were alone, each of the others with
//! the capacity that those before it leave, and flows of one level share in proportion to their weights.
//!
//! Switches have 4 to 8 such queues at every port. [`Levels`] set the level of a flow, and for how long.

use netnum_core::Topology;
use netnum_core::internal::interrupt::Pacer;

use super::max_min::Tiers;
use super::{Event, Policy, Rates};
use crate::calendar::Calendar;
use crate::error::{Error, Result};
use crate::network::Flows;
use crate::numbers::FLOW;
use crate::workload::Workload;

/// Sets the level of every flow.
pub trait Levels {
    /// The name of the policy.
    fn name(&self) -> &str;

    /// The number of levels.
    fn levels(&self) -> usize;

    /// Called once before the first flow arrives, with the capacity of every link.
    fn begin_run(&mut self, _capacities: &[f64]) {}

    /// The level of a flow now, below [`levels`](Self::levels); 0 is served first.
    fn level(&self, slot: u32, flows: &Flows, now: f64) -> usize;

    /// The time at which the level is computed again, if the flow keeps its level and its rate: at once if that is not
    /// after `now`; ∞ for never, NaN where no float is so near to `now`. Called again whenever the rate changes.
    fn until(&self, slot: u32, level: usize, rate: f64, flows: &Flows, now: f64) -> f64;
}

/// Serves flows by levels.
#[derive(Debug)]
pub struct Strict<L> {
    by: L,
    tiers: Tiers,
    /// When levels are computed again.
    calendar: Calendar,
    /// Slots whose level is computed at this instant, and those whose rate or level has changed since.
    due: Vec<u32>,
    changed: Vec<u32>,
}

impl<L: Levels> Strict<L> {
    /// By levels that are set so.
    pub fn by(by: L) -> Self {
        let (tiers, calendar, due, changed) = (Tiers::default(), Calendar::default(), Vec::new(), Vec::new());
        Self { by, tiers, calendar, due, changed }
    }

    /// The level of a flow, checked.
    fn level(&self, slot: u32, flows: &Flows, now: f64) -> Result<usize> {
        let (level, levels) = (self.by.level(slot, flows, now), self.by.levels());
        if level < levels {
            return Ok(level);
        }
        let number = flows.flow(slot).number;
        Err(self.error(format!("gave flow {number} the level {level} at {now} s, expected one below {levels}")))
    }

    /// When that is computed again.
    fn until(&self, slot: u32, level: usize, rate: f64, flows: &Flows, now: f64) -> Result<f64> {
        let until = self.by.until(slot, level, rate, flows, now);
        if !until.is_nan() {
            return Ok(until);
        }
        let number = flows.flow(slot).number;
        let why = "the time is NaN, as for an interval shorter than the clock can tell apart";
        Err(self.error(format!("sets no time for the next level of flow {number} after {now} s: {why}")))
    }

    fn error(&self, what: String) -> Error {
        Error::Policy { policy: self.by.name().into(), what }
    }
}

impl<L: Levels> Policy for Strict<L> {
    fn name(&self) -> &str {
        self.by.name()
    }

    fn begin_run(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        if self.by.levels() == 0 {
            return Err(self.error("has no level, expected at least one".into()));
        }
        self.tiers.reset(self.by.levels(), net.capacities());
        self.calendar = Calendar::default();
        self.by.begin_run(net.capacities());
        Ok(())
    }

    fn add_flows(&mut self, _workload: &Workload, _first: usize) -> Result<()> {
        Ok(())
    }

    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        match event {
            Event::Arrived(slot) => {
                let arrival = flows.flow(slot).arrival;
                let level = self.level(slot, flows, arrival)?;
                // Until it has a rate.
                let until = self.until(slot, level, 0.0, flows, arrival)?;
                self.tiers.insert(slot, level, flows);
                self.calendar.set(slot, f64::max(arrival, until));
            }
            Event::Ended(slot) => {
                self.tiers.remove(slot);
                self.calendar.set(slot, f64::INFINITY);
            }
            Event::Rerouted(slot) => {
                let level = self.tiers.level(slot);
                self.tiers.remove(slot);
                self.tiers.insert(slot, level, flows);
            }
            Event::CapChanged(slot) => self.tiers.set_cap(slot, flows.flow(slot).cap),
            Event::CapacityChanged { link, capacity } => self.tiers.set_capacity(link, capacity),
        }
        Ok(())
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        let mut pacer = Pacer::new();
        let mut due = std::mem::take(&mut self.due);
        self.calendar.due(now, &mut due);
        for &slot in &due {
            pacer.did(FLOW)?;
            let level = self.level(slot, flows, now)?;
            if level != self.tiers.level(slot) {
                self.tiers.remove(slot);
                self.tiers.insert(slot, level, flows);
            }
        }
        let mut changed = std::mem::take(&mut self.changed);
        changed.clone_from(&due);
        self.tiers.update(|slot, rate| {
            rates.set(slot, rate);
            changed.push(slot);
        })?;
        for &slot in &changed {
            pacer.did(FLOW)?;
            let until = self.until(slot, self.tiers.level(slot), self.tiers.rate(slot), flows, now)?;
            self.calendar.set(slot, f64::max(until, now.next_up()));
        }
        (self.due, self.changed) = (due, changed);
        Ok(self.calendar.first())
    }

    fn takes_weights(&self) -> bool {
        true
    }
}
