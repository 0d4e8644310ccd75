//! The online allocator at work: an iteration of a price rule on the flows of the moment, at every tick of a clock or at
//! every arrival and end; in between a flow keeps the rate that it last heard of.
//!
//! ```text
//! at a tick   x, p ← one step of the rule;  r ← normalizer(x);  flows hear of rates that moved by more than θ
//! ```
//!
//! A flow has no rate until the tick after its arrival. Source: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017, §2.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;

use netnum_parallel::{Allocate, AllocatorSettings, FlowId, Worth, allocator};

use super::{Policy, Rates, single_path};
use crate::error::{Error, Result};
use crate::flows::{Flow, Flows};

/// When an allocator iterates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clock {
    /// Every so many seconds, > 0.
    Every(f64),
    /// At every arrival and end.
    AtEvents,
}

type OfFlow = Box<dyn Fn(&Flow, f64) -> Worth + Send>;

/// An [`Allocator`](netnum_parallel::Allocator) on a clock.
pub struct Ticking {
    clock: Clock,
    method: String,
    options: BTreeMap<String, f64>,
    settings: AllocatorSettings,
    /// What a flow's rate is worth, given the mean capacity of a link.
    worth: OfFlow,
    mean_capacity: f64,
    allocator: Option<Box<dyn Allocate>>,
    /// By slot of the simulator, and by slot of the allocator.
    ids: Vec<Option<FlowId>>,
    slots: Vec<u32>,
    /// Slots of flows that have taken another route since the last tick: they are told their rate whatever it is.
    moved: Vec<u32>,
    next: f64,
    /// What went wrong where nothing could be returned.
    fault: Option<Error>,
}

impl Ticking {
    /// Flowtune: NED with a step of 0.4 and F-NORM every 10 µs, proportional fairness, a threshold of 1 %.
    pub fn flowtune() -> Self {
        Self::new(Clock::Every(10e-6), "ned", &[("gamma", 0.4)], AllocatorSettings::default())
    }

    /// An allocator by the name and the options of its method, for proportional fairness.
    pub fn new(clock: Clock, method: &str, options: &[(&str, f64)], settings: AllocatorSettings) -> Self {
        Self {
            clock,
            method: method.into(),
            options: options.iter().map(|&(name, value)| (name.into(), value)).collect(),
            settings,
            worth: Box::new(|_, mean_capacity| Worth::log(mean_capacity)),
            mean_capacity: 0.0,
            allocator: None,
            ids: Vec::new(),
            slots: Vec::new(),
            moved: Vec::new(),
            next: 0.0,
            fault: None,
        }
    }

    /// The same for other utilities: `worth` is given a flow and the mean capacity of a link, in bit/s.
    pub fn with_worth(self, worth: impl Fn(&Flow, f64) -> Worth + Send + 'static) -> Self {
        Self { worth: Box::new(worth), ..self }
    }

    fn begin(&mut self, slot: u32, flows: &Flows) -> Result<()> {
        let path = single_path(self.name(), slot, flows)?;
        let worth = (self.worth)(flows.flow(slot), self.mean_capacity);
        let Some(allocator) = &mut self.allocator else { return Ok(()) };
        let id = allocator.start(path, worth)?;
        self.ids.resize(self.ids.len().max(slot as usize + 1), None);
        self.slots.resize(self.slots.len().max(id.slot() + 1), 0);
        (self.ids[slot as usize], self.slots[id.slot()]) = (Some(id), slot);
        Ok(())
    }

    /// Whether there is a tick now; says when the next one is.
    fn is_due(&mut self, now: f64) -> Result<bool> {
        let Clock::Every(interval) = self.clock else { return Ok(true) };
        if self.next < now {
            self.next = (now / interval).ceil() * interval;
        }
        if now < self.next {
            return Ok(false);
        }
        // The quotient may be just below the whole number that it stands for.
        let ticks = (now / interval).floor();
        for more in [1.0, 2.0] {
            self.next = (ticks + more) * interval;
            if self.next > now {
                return Ok(true);
            }
        }
        let what = format!("has an interval of {interval} s, shorter than the clock can tell apart at {now} s");
        Err(Error::Policy { policy: self.name().into(), what })
    }
}

impl Policy for Ticking {
    fn name(&self) -> &'static str {
        "flowtune"
    }

    fn start(&mut self, capacities: &[f64]) {
        self.mean_capacity = capacities.iter().sum::<f64>() / capacities.len() as f64;
        (self.ids, self.slots, self.moved) = (Vec::new(), Vec::new(), Vec::new());
        (self.next, self.fault) = (0.0, None);
        if let Clock::Every(interval) = self.clock
            && !(interval > 0.0 && interval.is_finite())
        {
            self.fault = Some(Error::setting("interval", interval, "a finite number > 0"));
        }
        let (settings, one) = (self.settings, NonZeroUsize::MIN);
        match allocator(capacities.to_vec(), &self.method, &self.options, settings, false, one) {
            Ok(allocator) => self.allocator = Some(allocator),
            Err(error) => self.fault = Some(error.into()),
        }
    }

    fn arrive(&mut self, slot: u32, flows: &Flows) {
        if let Err(error) = self.begin(slot, flows) {
            self.fault.get_or_insert(error);
        }
    }

    fn leave(&mut self, slot: u32, _flows: &Flows) {
        let id = self.ids.get_mut(slot as usize).and_then(Option::take);
        if let Some((id, allocator)) = id.zip(self.allocator.as_mut())
            && let Err(error) = allocator.end(id)
        {
            self.fault.get_or_insert(error.into());
        }
    }

    fn reroute(&mut self, slot: u32, flows: &Flows) {
        self.leave(slot, flows);
        self.arrive(slot, flows);
        self.moved.push(slot);
    }

    fn set_capacity(&mut self, link: usize, capacity: f64) {
        if let Some(allocator) = &mut self.allocator
            && let Err(error) = allocator.set_capacity(link as u32, capacity)
        {
            self.fault.get_or_insert(error.into());
        }
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let due = self.is_due(now)?;
        if let Some(allocator) = self.allocator.as_mut().filter(|_| due) {
            allocator.tick()?;
            for slot in self.moved.drain(..) {
                if let Some(id) = self.ids[slot as usize] {
                    rates.set(slot, allocator.rate(id)?);
                }
            }
            for (id, rate) in allocator.updates() {
                rates.set(self.slots[id.slot()], rate);
            }
        }
        // Without flows nothing is worth a tick; prices stay.
        Ok(if flows.active().is_empty() || self.clock == Clock::AtEvents { f64::INFINITY } else { self.next })
    }
}

impl fmt::Debug for Ticking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticking").field("clock", &self.clock).field("method", &self.method).finish_non_exhaustive()
    }
}
