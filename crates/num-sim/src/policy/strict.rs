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

    /// The level of a flow now, below [`levels`](Self::levels); 0 is served first. It depends on that flow alone,
    /// which has sent so many bits: what was awaited counts as sent, though the clock has rounded the moment.
    fn level(&self, slot: u32, sent: f64, flows: &Flows, now: f64) -> usize;

    /// When the level of a flow is computed again.
    fn until(&self, slot: u32, level: usize, flows: &Flows, now: f64) -> Until;
}

/// When the level of a flow is computed again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// When it has sent so many bits. Flows that only wait for that may share their rates.
    Sent(f64),
    /// At that time, at once if it is not after now; NaN where no float is so near to now.
    Time(f64),
    /// Not before the flow ends.
    End,
}

/// Serves flows by levels.
#[derive(Debug)]
pub struct Strict<L> {
    by: L,
    tiers: Tiers,
    /// Whether a level has been computed again at a time: it may depend on what a flow has sent by then.
    is_timed: bool,
    /// When levels are computed again.
    calendar: Calendar,
    /// Slots whose level is computed at this time.
    due: Vec<u32>,
    /// Those that have arrived or sent what was awaited of them, with the bits that they have sent.
    changed: Vec<(u32, f64)>,
}

impl<L: Levels> Strict<L> {
    /// By levels that are set so.
    pub fn by(by: L) -> Self {
        let (tiers, calendar, due, changed) = (Tiers::default(), Calendar::default(), Vec::new(), Vec::new());
        Self { by, tiers, is_timed: false, calendar, due, changed }
    }

    /// By levels likewise, with rates computed as for a crowd however few flows there are: as exact, and slower then.
    /// For tests.
    pub fn crowded(by: L) -> Self {
        Self { tiers: Tiers::crowded(), ..Self::by(by) }
    }

    /// The level of a flow, checked.
    fn level(&self, slot: u32, sent: f64, flows: &Flows, now: f64) -> Result<usize> {
        let (level, levels) = (self.by.level(slot, sent, flows, now), self.by.levels());
        if level < levels {
            return Ok(level);
        }
        let number = flows.flow(slot).number;
        Err(self.error(format!("gave flow {number} the level {level} at {now} s, expected one below {levels}")))
    }

    /// Plans when the level of a flow is computed again.
    fn plan(&mut self, slot: u32, flows: &Flows, now: f64, rates: &mut Rates) -> Result<()> {
        let until = self.by.until(slot, self.tiers.level(slot), flows, now);
        let (time, bits) = match until {
            Until::Sent(bits) => (f64::INFINITY, bits),
            Until::Time(time) => (time, f64::INFINITY),
            Until::End => (f64::INFINITY, f64::INFINITY),
        };
        if time.is_nan() {
            let number = flows.flow(slot).number;
            let why = "the time is NaN, as for an interval shorter than the clock can tell apart";
            return Err(self.error(format!("sets no time for the next level of flow {number} after {now} s: {why}")));
        }
        self.is_timed |= time < f64::INFINITY;
        self.calendar.set(slot, f64::max(time, now.next_up()));
        rates.await_sent(slot, bits);
        Ok(())
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
        (self.is_timed, self.calendar, self.changed) = (false, Calendar::default(), Vec::new());
        self.by.begin_run(net.capacities());
        Ok(())
    }

    fn add_flows(&mut self, _workload: &Workload, _first: usize) -> Result<()> {
        Ok(())
    }

    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        match event {
            Event::Arrived(slot) => {
                let level = self.level(slot, 0.0, flows, flows.flow(slot).arrival)?;
                self.tiers.insert(slot, level, flows);
                self.changed.push((slot, 0.0));
            }
            Event::Sent(slot, bits) => self.changed.push((slot, bits)),
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
        let mut changed = std::mem::take(&mut self.changed);
        let told = changed.len();
        changed.extend(due.iter().map(|&slot| (slot, flows.flow(slot).sent(now))));
        for (number, (slot, sent)) in changed.drain(..).enumerate() {
            pacer.did(FLOW)?;
            let level = self.level(slot, sent, flows, now)?;
            // A flow that was awaited has left its pace.
            let has_left = number < told && sent > 0.0;
            if has_left || level != self.tiers.level(slot) {
                self.tiers.remove(slot);
                self.tiers.insert(slot, level, flows);
            }
            self.plan(slot, flows, now, rates)?;
        }
        (self.due, self.changed) = (due, changed);
        self.tiers.update(rates, !self.is_timed)?;
        Ok(self.calendar.first())
    }

    fn takes_weights(&self) -> bool {
        true
    }
}
