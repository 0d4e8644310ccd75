//! Strict priorities: every flow has one of K levels; the first is served as if the others were not there, each of the
//! others with what those before it leave, and flows of one level share fairly.
//!
//! Switches have 4 to 8 such queues at every port. Which level a flow has, and for how long, is up to a [`Rank`].

use netnum_core::Topology;
use netnum_core::interrupt::Pacer;

use super::max_min::Tiers;
use super::{Policy, Rates};
use crate::calendar::Calendar;
use crate::error::{Error, Result};
use crate::network::Flows;
use crate::workload::Workload;

/// What it costs to ask for a flow's level, in units of a [`Pacer`].
const LOOK: usize = 4;

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
    /// What went wrong where nothing could be returned.
    fault: Option<Error>,
}

impl<R: Rank> Strict<R> {
    /// By the levels of a rank.
    pub fn by(rank: R) -> Self {
        let (tiers, calendar, due, changed) = (Tiers::default(), Calendar::default(), Vec::new(), Vec::new());
        Self { rank, tiers, calendar, due, changed, fault: None }
    }

    /// The level of a flow, one of those that there are.
    fn level(&self, slot: u32, flows: &Flows, now: f64) -> Result<usize> {
        let (level, levels) = (self.rank.level(slot, flows, now), self.rank.levels());
        if level < levels {
            return Ok(level);
        }
        let number = flows.flow(slot).number;
        Err(self.error(format!("gave flow {number} the level {level} at {now} s, expected one below {levels}")))
    }

    /// When that is asked for again.
    fn until(&self, slot: u32, level: usize, rate: f64, flows: &Flows, now: f64) -> Result<f64> {
        let until = self.rank.until(slot, level, rate, flows, now);
        if !until.is_nan() {
            return Ok(until);
        }
        let number = flows.flow(slot).number;
        let why = "the answer is NaN, as for an interval shorter than the clock can tell apart";
        Err(self.error(format!("does not say when to ask for the level of flow {number} again after {now} s: {why}")))
    }

    fn error(&self, what: String) -> Error {
        Error::Policy { policy: self.rank.name().into(), what }
    }
}

impl<R: Rank> Policy for Strict<R> {
    fn name(&self) -> &str {
        self.rank.name()
    }

    fn start(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        if self.rank.levels() == 0 {
            return Err(self.error("has no level, expected at least one".into()));
        }
        self.tiers.start(self.rank.levels(), net.capacities());
        (self.calendar, self.fault) = (Calendar::default(), None);
        self.rank.start(net.capacities());
        Ok(())
    }

    fn arrive(&mut self, slot: u32, flows: &Flows) {
        let arrival = flows.flow(slot).arrival;
        // Until it has a rate.
        let level = self.level(slot, flows, arrival);
        let until = level.clone().and_then(|level| self.until(slot, level, 0.0, flows, arrival));
        self.tiers.insert(slot, level.unwrap_or(0), flows);
        match until {
            Ok(until) => self.calendar.set(slot, f64::max(arrival, until)),
            Err(error) => _ = self.fault.get_or_insert(error),
        }
    }

    fn leave(&mut self, slot: u32, _flows: &Flows) {
        self.tiers.remove(slot);
        self.calendar.set(slot, f64::INFINITY);
    }

    fn cap_changed(&mut self, slot: u32, flows: &Flows) {
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
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let mut pacer = Pacer::new();
        let mut due = std::mem::take(&mut self.due);
        self.calendar.due(now, &mut due);
        for &slot in &due {
            pacer.did(LOOK)?;
            let level = self.level(slot, flows, now)?;
            if level != self.tiers.level(slot) {
                self.tiers.remove(slot);
                self.tiers.insert(slot, level, flows);
            }
        }
        let mut changed = std::mem::take(&mut self.changed);
        changed.clone_from(&due);
        self.tiers.settle(|slot, rate| {
            rates.set(slot, rate);
            changed.push(slot);
        })?;
        for &slot in &changed {
            pacer.did(LOOK)?;
            let until = self.until(slot, self.tiers.level(slot), self.tiers.rate(slot), flows, now)?;
            self.calendar.set(slot, f64::max(until, now.next_up()));
        }
        (self.due, self.changed) = (due, changed);
        Ok(self.calendar.first())
    }
}
