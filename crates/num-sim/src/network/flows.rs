//! The active flows, in slots that are used again.
//!
//! A flow's rate is constant between two events, so what it has sent is only computed when its rate changes:
//!
//! ```text
//! sent(t) = sent(since) + rate · (t − since)        left(t) = size − sent(t)
//! ```
//!
//! What was sent is counted, and not taken from the size and what is left: these have no digit in common with it where
//! the size is much larger, and a flow that never ends has the size ∞.

use super::route::Route;
use super::source::Source;

/// A flow that has arrived and not ended. Amounts are in bits.
// In one line of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub struct Flow {
    /// Its number in the workload.
    pub number: u32,
    /// Its size; ∞ for a flow that never ends.
    pub size: f64,
    /// Its rate, in bit/s.
    pub rate: f64,
    /// When it arrived, in seconds.
    pub arrival: f64,
    /// The largest rate that its source allows now, in bit/s: ∞ unless it waits for bytes to be produced.
    pub cap: f64,
    /// The rate that it would have alone on the route of its arrival, in bit/s.
    pub alone: f64,
    /// The bits sent until the time `since`.
    pub(crate) sent: f64,
    /// When its rate last changed.
    pub(crate) since: f64,
    /// Its place in the list of active slots.
    place: u32,
}

impl Flow {
    /// The bits left of it at a time at or after its last change of rate.
    pub fn left(&self, now: f64) -> f64 {
        self.size - self.sent(now)
    }

    /// The bits that it has sent by then.
    pub fn sent(&self, now: f64) -> f64 {
        (self.sent + self.rate * (now - self.since)).min(self.size)
    }

    /// Computes what has been sent by now.
    pub(crate) fn advance(&mut self, now: f64) {
        (self.sent, self.since) = (self.sent(now), now);
    }

    /// Seconds from `since` until it has sent so many bits, at the rate that it has; ∞ for never.
    pub(crate) fn time_to(&self, bits: f64) -> f64 {
        if self.rate > 0.0 { f64::max(0.0, bits - self.sent) / self.rate } else { f64::INFINITY }
    }
}

/// The active flows. Slots are small numbers: those of flows that have ended are given to later ones.
#[derive(Debug, Default)]
pub struct Flows {
    slots: Vec<Flow>,
    routes: Vec<Route>,
    /// By slot, where the workload has rates of production; else empty.
    sources: Vec<Source>,
    /// By slot, where the workload has weights; else empty.
    weights: Vec<f64>,
    /// By slot, the bits sent of which the policy is told; empty unless it has asked for that.
    awaited: Vec<f64>,
    active: Vec<u32>,
    free: Vec<u32>,
}

impl Flows {
    /// The slots in use, in no particular order.
    pub fn active(&self) -> &[u32] {
        &self.active
    }

    /// The flow in a slot; in a free one, the last that was there.
    ///
    /// # Panics
    /// If there never was one.
    pub fn flow(&self, slot: u32) -> &Flow {
        &self.slots[slot as usize]
    }

    /// Its route.
    ///
    /// # Panics
    /// If there never was a flow in the slot.
    pub fn route(&self, slot: u32) -> &Route {
        &self.routes[slot as usize]
    }

    /// The weight of the flow in a slot: 1 unless its workload has weights.
    pub fn weight(&self, slot: u32) -> f64 {
        self.weights.get(slot as usize).copied().unwrap_or(1.0)
    }

    pub(crate) fn have_weights(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Bits of the flow in a slot that have been produced: all of them, unless its workload has rates of production.
    ///
    /// # Panics
    /// If there never was a flow in the slot; so do the following.
    pub fn produced(&self, slot: u32, now: f64) -> f64 {
        let flow = self.flow(slot);
        self.source(slot).map_or(flow.size, |source| source.produced(flow.rate, now - flow.since))
    }

    /// Bits of the flow that are still to be produced.
    pub(crate) fn to_come(&self, slot: u32, now: f64) -> f64 {
        self.source(slot).map_or(0.0, |_| self.flow(slot).size - self.produced(slot, now))
    }

    /// Bits that have been produced and wait to be sent.
    pub fn backlog(&self, slot: u32, now: f64) -> f64 {
        (self.produced(slot, now) - self.flow(slot).sent(now)).max(0.0)
    }

    /// An estimate of the rate at which its bytes are produced, in bit/s, from the bytes produced so far: the average
    /// of 64 kB at a time, the newest with a weight of ¼, which begins with the rate that the flow's first link allows
    /// at the start of a run. ∞ for a flow whose bytes are all there when it arrives.
    pub fn copy_rate(&self, slot: u32, now: f64) -> f64 {
        let flow = self.flow(slot);
        self.source(slot).map_or(f64::INFINITY, |source| source.copy_rate(flow.rate, now - flow.since))
    }

    /// The rate at which its bytes are produced, unknown to real schedulers; ∞ for a flow whose bytes are all there.
    pub fn production(&self, slot: u32) -> f64 {
        self.source(slot).map_or(f64::INFINITY, Source::production)
    }

    /// The rate at which its bytes will be produced while it has some rate: 0 when all are.
    pub fn pace(&self, slot: u32, rate: f64) -> f64 {
        self.source(slot).map_or(0.0, |source| source.pace(rate))
    }

    pub(crate) fn source(&self, slot: u32) -> Option<&Source> {
        self.sources.get(slot as usize)
    }

    /// The flow in a slot with its source.
    pub(crate) fn flow_and_source_mut(&mut self, slot: u32) -> Option<(&mut Flow, &mut Source)> {
        let source = self.sources.get_mut(slot as usize)?;
        Some((&mut self.slots[slot as usize], source))
    }

    /// Gives the flow in a slot a source.
    pub(crate) fn set_source(&mut self, slot: u32, source: Source) {
        self.slots[slot as usize].cap = source.cap();
        match self.sources.get_mut(slot as usize) {
            Some(free) => *free = source,
            // Slots are handed out one after the other.
            None => self.sources.push(source),
        }
    }

    /// Gives the flow in a slot a weight.
    pub(crate) fn set_weight(&mut self, slot: u32, weight: f64) {
        match self.weights.get_mut(slot as usize) {
            Some(free) => *free = weight,
            // Slots are handed out one after the other.
            None => self.weights.push(weight),
        }
    }

    /// The policy is told when the flow in a slot has sent so many bits; not if that is ∞.
    pub(crate) fn set_awaited(&mut self, slot: u32, bits: f64) {
        if self.awaited.len() <= slot as usize {
            self.awaited.resize(slot as usize + 1, f64::INFINITY);
        }
        self.awaited[slot as usize] = bits;
    }

    /// The bits sent of which the policy is told, if the flow in a slot sends so many.
    pub(crate) fn awaited(&self, slot: u32) -> Option<f64> {
        self.awaited.get(slot as usize).copied().filter(|&bits| bits < self.flow(slot).size)
    }

    /// The bits sent at which the flow in a slot ends, or the policy is told if that comes first.
    pub(crate) fn target(&self, slot: u32) -> f64 {
        self.awaited(slot).unwrap_or(self.flow(slot).size)
    }

    pub(crate) fn route_mut(&mut self, slot: u32) -> &mut Route {
        &mut self.routes[slot as usize]
    }

    pub(crate) fn is_active(&self, slot: u32) -> bool {
        let place = self.slots.get(slot as usize).map(|flow| flow.place as usize);
        place.is_some_and(|place| self.active.get(place) == Some(&slot))
    }

    pub(crate) fn flow_mut(&mut self, slot: u32) -> &mut Flow {
        &mut self.slots[slot as usize]
    }

    /// A slot for a flow that arrives, and the memory of a route for it.
    pub(crate) fn insert(&mut self, number: usize, size: f64, now: f64) -> (u32, &mut Route) {
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        let place = self.active.len() as u32;
        let (number, cap, alone) = (number as u32, f64::INFINITY, f64::INFINITY);
        let flow = Flow { number, size, rate: 0.0, arrival: now, cap, alone, sent: 0.0, since: now, place };
        match self.slots.get_mut(slot as usize) {
            Some(free) => {
                *free = flow;
                self.routes[slot as usize].take(&[]);
                if let Some(awaited) = self.awaited.get_mut(slot as usize) {
                    *awaited = f64::INFINITY;
                }
            }
            None => {
                self.slots.push(flow);
                self.routes.push(Route::default());
            }
        }
        self.active.push(slot);
        (slot, &mut self.routes[slot as usize])
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        let place = self.slots[slot as usize].place;
        self.active.swap_remove(place as usize);
        if let Some(&moved) = self.active.get(place as usize) {
            self.slots[moved as usize].place = place;
        }
        self.free.push(slot);
    }
}
