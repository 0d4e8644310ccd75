//! The flows of the moment, in slots that are used again.
//!
//! A flow's rate is constant between two events, so what is left of it is only written down when its rate changes:
//!
//! ```text
//! left(t) = left(since) − rate · (t − since)
//! ```

use crate::routing::Route;

/// A flow that has arrived and not ended. Amounts are in bits.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Its number in the workload.
    pub number: u32,
    /// What it carries in all.
    pub size: f64,
    /// Its rate, in bit/s.
    pub rate: f64,
    /// What its source can send at most, in bit/s: ∞ for a source that has all its bytes at hand.
    pub cap: f64,
    /// What was left at the time `since`.
    pub(crate) left: f64,
    /// When its rate last changed.
    pub(crate) since: f64,
    /// Where it stands in the list of active slots.
    place: u32,
}

impl Flow {
    /// What is left of it at a time at or after its last change of rate.
    pub fn left(&self, now: f64) -> f64 {
        (self.left - self.rate * (now - self.since)).max(0.0)
    }
}

/// The flows of the moment. Slots are small numbers: those of flows that have ended are given to later ones.
#[derive(Debug, Default)]
pub struct Flows {
    slots: Vec<Flow>,
    routes: Vec<Route>,
    active: Vec<u32>,
    free: Vec<u32>,
}

impl Flows {
    /// The slots in use, in no particular order.
    pub fn active(&self) -> &[u32] {
        &self.active
    }

    /// The flow in a slot; of a free one, the last that was there.
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
        let flow = Flow { number: number as u32, size, rate: 0.0, cap: f64::INFINITY, left: size, since: now, place };
        match self.slots.get_mut(slot as usize) {
            Some(free) => *free = flow,
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
