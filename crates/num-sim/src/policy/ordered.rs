//! Flows served one after the other, in the order of a number, the key: each gets the capacity of its route that
//! remains after the flows before it.
//!
//! ```text
//! in increasing order of key_f:   x_f = min(cap_f, min_l (c_l − Σ_{g before f} a_gl x_g) / a_fl)
//! ```
//!
//! Between events keys change at constant slopes, so that the time at which a flow overtakes another is exact. It
//! matters only where both cross a full link, and the one ahead sends over it: on a link with free capacity the order
//! changes nothing, and a flow of rate 0 takes no capacity. So for every link the first time is kept at which a flow
//! overtakes another on it, and the next call of this policy is at the first of these on a full link. A key falls the
//! faster the higher the rate, so that two flows that have changed places do not change back.
//!
//! An event costs what it touches, and a look at 1/32 of the links for the next overtaking. A flow that gets nothing,
//! and whose key stays, waits at the link that was full when its turn came; all others are *present* on their links.
//! Where something changes on a link, those that are present behind the change have their turns again if the link
//! limits them or has too little left for them. So has the first of those that wait there; the others need none while
//! it finds the link full. Turns are in the order of the keys, so that whatever is ahead of a flow is settled. Where a
//! link is found in another order than before, as two keys have met at this very moment, its flows have their turns in
//! one more round.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap};

use netnum_core::Topology;
use netnum_core::internal::interrupt::Pacer;

use super::{Event, Policy, Rates};
use crate::calendar::Calendar;
use crate::error::{Error, Result};
use crate::network::{Flows, Route};
use crate::numbers::{FLOW, LAST_DIGITS, NONE, ROUNDING};
use crate::workload::Workload;

/// The number by which flows are served: the lowest first.
pub trait Key {
    /// The name of the policy.
    fn name(&self) -> &str;

    /// Called once before the first flow arrives, with the capacity of every link.
    fn begin_run(&mut self, _capacities: &[f64]) {}

    /// The key of a flow now. Called again whenever it may have changed.
    fn key(&self, slot: u32, flows: &Flows, now: f64) -> f64;

    /// Its slope from then on at a rate: ≤ 0, and the lower the higher the rate.
    fn slope(&self, slot: u32, flows: &Flows, rate: f64) -> f64;

    /// Whether keys depend on the weights of flows. Otherwise flows with weights are refused.
    fn takes_weights(&self) -> bool {
        false
    }
}

/// Serves flows in the order of their keys; of equal ones the one with the lowest number in the workload.
#[derive(Debug, Clone, Default)]
pub struct Ordered<K> {
    by: K,
    /// By slot.
    served: Vec<Served>,
    links: Vec<ServingLink>,
    /// By link, when a flow overtakes another on it while it is full.
    overtakings: Calendar,
    /// Flows and links at which something has changed since the last call.
    changed: Vec<u32>,
    loosened: Vec<u32>,
    /// How many calls there have been, the turns that are to come in this one, each with the link that it is for or
    /// [`NONE`], and the links that are open.
    call: u32,
    turns: BinaryHeap<Reverse<(Turn, u32)>>,
    opened: Vec<u32>,
    /// Links whose flows have their turns, and those that were found in another order.
    due: Vec<u32>,
    reordered: Vec<u32>,
    /// Flows that have had their turns in any round of this moment.
    granted: Vec<u32>,
}

/// The place of a flow in the order.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Turn {
    key: f64,
    number: u32,
    slot: u32,
}

impl Eq for Turn {}

impl Ord for Turn {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.total_cmp(&other.key).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A flow in a slot.
#[derive(Debug, Clone, Default)]
struct Served {
    route: Route,
    number: u32,
    /// Its key at the call in which that was computed last.
    key: f64,
    keyed: u32,
    rate: f64,
    slope: f64,
    /// The call in which it had its turn last.
    turned: u32,
    is_present: bool,
    /// The link that limits it, at which it waits unless it is present; [`NONE`] for its cap.
    limit: u32,
}

/// A link while flows are served.
#[derive(Debug, Clone, Default)]
struct ServingLink {
    capacity: f64,
    /// Flows that are present, with their shares; in the order of their turns since the link was opened.
    present: Vec<(Turn, f64)>,
    waiting: BTreeSet<Turn>,
    /// The call in which it was opened last; then how many of the flows that are present have been passed, what these
    /// leave, and whether those behind a change have been called.
    opened: u32,
    passed: usize,
    free: f64,
    is_changed: bool,
}

impl ServingLink {
    /// Passes the flows before a turn.
    fn pass(&mut self, turn: &Turn, served: &[Served]) {
        while let Some((next, share)) = self.present.get(self.passed).filter(|(next, _)| next < turn) {
            self.free = after(self.free, served[next.slot as usize].rate, *share);
            self.passed += 1;
        }
    }

    /// When a flow overtakes the one that sends ahead of it; ∞ where the link has free capacity.
    fn overtaking(&self, now: f64, served: &[Served]) -> f64 {
        let (mut ahead, mut its_slope, mut free, mut first) = (0.0, f64::NEG_INFINITY, self.capacity, f64::INFINITY);
        for &(Turn { key, slot, .. }, share) in &self.present {
            let Served { rate, slope, .. } = served[slot as usize];
            if slope < its_slope {
                // By so much that the two differ.
                let way = f64::max(key - ahead, LAST_DIGITS * key);
                first = f64::min(first, way / (its_slope - slope));
            }
            if rate > 0.0 {
                free = after(free, rate, share);
                (ahead, its_slope) = (key, slope);
            }
        }
        if free <= ROUNDING * self.capacity { now + first } else { f64::INFINITY }
    }
}

/// What a flow leaves of a link: nothing if the link limits it, though rounding leave something.
fn after(free: f64, rate: f64, share: f64) -> f64 {
    match rate > 0.0 {
        false => free,
        true if free / share <= rate => 0.0,
        true => f64::max(0.0, free - share * rate),
    }
}

impl<K> Ordered<K> {
    /// In the order of some key.
    pub fn by(key: K) -> Self {
        Self {
            by: key,
            served: Vec::new(),
            links: Vec::new(),
            overtakings: Calendar::default(),
            changed: Vec::new(),
            loosened: Vec::new(),
            call: 0,
            turns: BinaryHeap::new(),
            opened: Vec::new(),
            due: Vec::new(),
            reordered: Vec::new(),
            granted: Vec::new(),
        }
    }

    /// A flow leaves its links; those that it has sent over are loosened.
    fn leave(&mut self, slot: u32) {
        let Self { served, links, loosened, .. } = self;
        let flow = &mut served[slot as usize];
        if flow.is_present {
            for &link in flow.route.links() {
                links[link as usize].present.retain(|(turn, _)| turn.slot != slot);
                loosened.push(link);
            }
        }
        if let Some(link) = links.get_mut(flow.limit as usize).filter(|_| !flow.is_present) {
            link.waiting.remove(&Turn { key: flow.key, number: flow.number, slot });
        }
        (flow.rate, flow.is_present, flow.limit) = (0.0, false, NONE);
    }
}

impl<K: Key> Ordered<K> {
    /// The turn of a flow in this call, with the key that it has now.
    fn turn(&mut self, slot: u32, flows: &Flows, now: f64) -> Result<Turn> {
        let flow = &mut self.served[slot as usize];
        if flow.keyed != self.call {
            // Zeros of both signs are equal.
            (flow.key, flow.keyed) = (self.by.key(slot, flows, now) + 0.0, self.call);
            if flow.key.is_nan() {
                let what = format!("gave flow {} the key NaN at {now} s, expected a number", flow.number);
                return Err(Error::Policy { policy: self.by.name().into(), what });
            }
        }
        Ok(Turn { key: flow.key, number: flow.number, slot })
    }

    /// Opens a link in this call: flows that are present are sorted by what keys they have now.
    fn open(&mut self, link: u32, flows: &Flows, now: f64) -> Result<()> {
        if self.links[link as usize].opened == self.call {
            return Ok(());
        }
        let mut present = std::mem::take(&mut self.links[link as usize].present);
        for (turn, _) in &mut present {
            *turn = self.turn(turn.slot, flows, now)?;
        }
        if !present.is_sorted_by_key(|(turn, _)| *turn) {
            present.sort_unstable_by_key(|(turn, _)| *turn);
            self.reordered.push(link);
        }
        let opened = &mut self.links[link as usize];
        (opened.present, opened.opened, opened.passed) = (present, self.call, 0);
        (opened.free, opened.is_changed) = (opened.capacity, false);
        self.opened.push(link);
        Ok(())
    }

    /// Something has changed on a link: those that are present and have not been passed have their turns again, and the
    /// first that waits there.
    fn call_those_behind(&mut self, link: u32) {
        let Self { links, turns, .. } = self;
        let at = &mut links[link as usize];
        if !std::mem::replace(&mut at.is_changed, true) {
            turns.extend(at.present[at.passed..].iter().map(|(turn, _)| Reverse((*turn, link))));
            turns.extend(at.waiting.first().map(|first| Reverse((*first, link))));
        }
    }

    /// Whether a flow's turn comes to nothing, which is for a link alone: the one at which it waits is full, or one
    /// that does not limit it has enough left.
    fn is_settled(&mut self, turn: Turn, link: u32, share: f64) -> bool {
        let Self { links, served, .. } = self;
        let (at, flow) = (&mut links[link as usize], &served[turn.slot as usize]);
        at.pass(&turn, served);
        match flow.is_present {
            false => at.free == 0.0,
            true => flow.limit != link && at.free / share >= flow.rate,
        }
    }

    /// Has the flows of some links have their turns, with those that have them for their own sake.
    fn round(&mut self, due: &[u32], flows: &Flows, now: f64, pacer: &mut Pacer) -> Result<()> {
        self.opened.clear();
        for &link in due {
            self.open(link, flows, now)?;
            self.call_those_behind(link);
        }
        // All of their flows have their turns.
        self.reordered.clear();
        while let Some(Reverse((turn, link))) = self.turns.pop() {
            pacer.did(FLOW + self.served[turn.slot as usize].route.links().len())?;
            self.serve(turn, link, flows, now)?;
        }
        for place in 0..self.opened.len() {
            let link = self.opened[place];
            pacer.did(1 + self.links[link as usize].present.len())?;
            let overtaking = self.links[link as usize].overtaking(now, &self.served);
            self.overtakings.set(link, f64::max(overtaking, now.next_up()));
        }
        Ok(())
    }

    /// Serves a flow whose turn it is, for a link or for its own sake: everything ahead of it is settled.
    fn serve(&mut self, turn: Turn, link: u32, flows: &Flows, now: f64) -> Result<()> {
        let slot = turn.slot;
        let flow = &self.served[slot as usize];
        if flow.turned == self.call {
            return Ok(());
        }
        if link != NONE {
            let share = flow.route.iter().find(|hop| hop.0 == link).map_or(1.0, |hop| hop.1);
            if self.is_settled(turn, link, share) {
                return Ok(());
            }
        }
        let flow = &mut self.served[slot as usize];
        (flow.turned, flow.key, flow.keyed) = (self.call, turn.key, self.call);
        if let Some(at) = self.links.get_mut(flow.limit as usize).filter(|_| !flow.is_present) {
            at.waiting.remove(&turn);
            self.turns.extend(at.waiting.first().map(|next| Reverse((*next, flow.limit))));
        }
        let (mut rate, mut limit) = (flows.flow(slot).cap, NONE);
        let route = std::mem::take(&mut flow.route);
        for (link, share) in route.iter() {
            self.open(link, flows, now)?;
            let Self { links, served, .. } = self;
            let at = &mut links[link as usize];
            at.pass(&turn, served);
            if at.free / share < rate {
                (rate, limit) = (at.free / share, link);
            }
        }
        let slope = self.by.slope(slot, flows, rate);
        if slope.is_nan() || slope > 0.0 {
            let what =
                format!("has a key of slope {slope} for flow {} at {now} s, expected a number <= 0", turn.number);
            return Err(Error::Policy { policy: self.by.name().into(), what });
        }
        let is_present = rate > 0.0 || slope != 0.0;
        let flow = &mut self.served[slot as usize];
        let (was_present, before) = (flow.is_present, flow.rate);
        (flow.rate, flow.slope, flow.is_present, flow.limit) = (rate, slope, is_present, limit);
        self.granted.push(slot);
        for (link, share) in route.iter() {
            let at = &mut self.links[link as usize];
            match (was_present, is_present) {
                (false, true) => at.present.insert(at.passed, (turn, share)),
                (true, false) => {
                    debug_assert_eq!(at.present[at.passed].0.slot, slot);
                    at.present.remove(at.passed);
                }
                _ => {}
            }
            if rate != before {
                self.call_those_behind(link);
            }
        }
        if let Some(at) = self.links.get_mut(limit as usize).filter(|_| !is_present) {
            at.waiting.insert(turn);
        }
        self.served[slot as usize].route = route;
        Ok(())
    }
}

impl<K: Key> Policy for Ordered<K> {
    fn name(&self) -> &str {
        self.by.name()
    }

    fn begin_run(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        let link = |&capacity: &f64| ServingLink { capacity, ..ServingLink::default() };
        self.links = net.capacities().iter().map(link).collect();
        (self.served, self.call, self.overtakings) = (Vec::new(), 0, Calendar::default());
        (self.changed, self.loosened) = (Vec::new(), Vec::new());
        (self.turns, self.reordered) = (BinaryHeap::new(), Vec::new());
        self.by.begin_run(net.capacities());
        Ok(())
    }

    fn add_flows(&mut self, _workload: &Workload, _first: usize) -> Result<()> {
        Ok(())
    }

    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        match event {
            Event::Arrived(slot) => {
                if self.served.len() <= slot as usize {
                    self.served.resize(slot as usize + 1, Served::default());
                }
                let (number, route) = (flows.flow(slot).number, flows.route(slot).clone());
                self.served[slot as usize] = Served { route, number, limit: NONE, ..Served::default() };
                self.changed.push(slot);
            }
            Event::Ended(slot) => self.leave(slot),
            Event::Rerouted(slot) => {
                self.leave(slot);
                self.served[slot as usize].route.clone_from(flows.route(slot));
                self.changed.push(slot);
            }
            Event::CapChanged(slot) => self.changed.push(slot),
            Event::Sent(..) => {}
            Event::CapacityChanged { link, capacity } => {
                self.links[link as usize].capacity = capacity;
                self.loosened.push(link);
            }
        }
        Ok(())
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        let mut pacer = Pacer::new();
        self.call += 1;
        self.granted.clear();
        for slot in std::mem::take(&mut self.changed) {
            if flows.is_active(slot) {
                pacer.did(FLOW)?;
                // Its key may be another one: it no longer waits where that had a place.
                let flow = &mut self.served[slot as usize];
                if let Some(at) = self.links.get_mut(flow.limit as usize).filter(|_| !flow.is_present) {
                    at.waiting.remove(&Turn { key: flow.key, number: flow.number, slot });
                    flow.limit = NONE;
                }
                let turn = self.turn(slot, flows, now)?;
                self.turns.push(Reverse((turn, NONE)));
            }
        }
        let mut due = std::mem::take(&mut self.due);
        self.overtakings.due(now, &mut due);
        due.append(&mut self.loosened);
        let mut is_once = true;
        loop {
            self.round(&due, flows, now, &mut pacer)?;
            due.clear();
            due.append(&mut self.reordered);
            if due.is_empty() {
                break;
            }
            self.call += 1;
            is_once = false;
        }
        if !is_once {
            self.granted.sort_unstable();
            self.granted.dedup();
        }
        self.due = due;
        for &slot in &self.granted {
            let Served { rate, .. } = self.served[slot as usize];
            if rate != flows.flow(slot).rate {
                rates.set(slot, rate);
            }
        }
        Ok(f64::max(self.overtakings.first(), now.next_up()))
    }

    fn takes_weights(&self) -> bool {
        self.by.takes_weights()
    }
}

#[cfg(test)]
mod tests;
