//! Flows served one after the other, in the order of a number, the key: each gets the capacity of its route that
//! remains after the flows before it.
//!
//! ```text
//! in increasing order of key_f:   x_f = min(cap_f, min_l (c_l − Σ_{g before f} a_gl x_g) / a_fl)
//! ```
//!
//! Between events keys change at constant slopes, so that the time at which a flow overtakes another is exact. It
//! matters only where both cross a full link, and the one ahead sends over it: on a link with free capacity the order
//! changes nothing, and a flow of rate 0 takes no capacity. So for every link the order of the flows that send over it
//! is computed, and the next call of this policy is at the first overtaking on a full one.
//!
//! A key falls the faster the higher the rate, so that two flows that have changed places do not change back. An event
//! costs O(active), and as many steps more as places are changed: the order is kept, only keys that fall are computed
//! again, and of a flow that gets nothing only the link that was full last is checked. The rest is O(hops) for every
//! flow that gets something, of which there are at most as many as links.

use std::cmp::Ordering;

use netnum_core::Topology;
use netnum_core::internal::interrupt::Pacer;

use super::{Event, Policy, Rates};
use crate::error::{Error, Result};
use crate::network::Flows;
use crate::numbers::{LAST_DIGITS, NONE, ROUNDING};
use crate::workload::Workload;

/// From this many flows on that arrive at once, all are sorted.
const MANY: usize = 16;

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
}

/// Serves flows in the order of their keys; of equal ones the first to arrive.
#[derive(Debug, Clone, Default)]
pub struct Ordered<K> {
    by: K,
    capacities: Vec<f64>,
    /// The active slots with their keys and numbers, in the order of the last call.
    order: Vec<Served>,
    links: Vec<ServingLink>,
    /// The number of flows at its end that have just arrived, and slots of flows that have ended.
    arrived: usize,
    ended: Vec<u32>,
    /// Whether routes have changed since keys were computed.
    rerouted: bool,
}

#[derive(Debug, Clone, Copy)]
struct Served {
    key: f64,
    /// Its slope since it was computed; NaN if it has not been.
    slope: f64,
    number: u32,
    slot: u32,
    /// The full link that left nothing for it at the last call; [`NONE`] for a flow that got something.
    full_link: u32,
}

impl Served {
    fn comes_before(&self, other: &Self) -> bool {
        (self.key, self.number) < (other.key, other.number)
    }
}

/// A link while flows are served.
#[derive(Debug, Clone, Copy)]
struct ServingLink {
    /// What is left of it.
    free: f64,
    /// The key and the slope of the flow that was served last and got something.
    last: (f64, f64),
    /// Seconds until a flow overtakes the one before it.
    overtaking: f64,
}

impl<K: Key> Ordered<K> {
    /// In the order of some key.
    pub fn by(key: K) -> Self {
        let (capacities, order, links) = (Vec::new(), Vec::new(), Vec::new());
        Self { by: key, capacities, order, links, arrived: 0, ended: Vec::new(), rerouted: false }
    }

    /// Sorts what is almost sorted, but for many that have just arrived.
    fn sort(&mut self) {
        if std::mem::take(&mut self.arrived) >= MANY {
            let key = |place: &Served| (place.key, place.number);
            let in_order = |one: &Served, other: &Served| key(one).partial_cmp(&key(other)).unwrap_or(Ordering::Equal);
            return self.order.sort_by(in_order);
        }
        for place in 1..self.order.len() {
            let moved = self.order[place];
            if self.order[place - 1].key < moved.key {
                continue;
            }
            let before = self.order[..place].iter().rposition(|other| !moved.comes_before(other));
            let to = before.map_or(0, |before| before + 1);
            self.order.copy_within(to..place, to + 1);
            self.order[to] = moved;
        }
    }
}

impl<K> Ordered<K> {
    fn remove_ended(&mut self) {
        match self.ended.as_mut_slice() {
            [] => return,
            &mut [slot] => {
                if let Some(gone) = self.order.iter().position(|place| place.slot == slot) {
                    self.order.remove(gone);
                }
            }
            ended => {
                ended.sort_unstable();
                self.order.retain(|place| ended.binary_search(&place.slot).is_err());
            }
        }
        self.ended.clear();
    }
}

impl<K: Key> Policy for Ordered<K> {
    fn name(&self) -> &str {
        self.by.name()
    }

    fn begin_run(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        self.capacities = net.capacities().to_vec();
        self.order.clear();
        (self.arrived, self.ended, self.rerouted) = (0, Vec::new(), false);
        self.by.begin_run(net.capacities());
        Ok(())
    }

    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        match event {
            Event::Arrived(slot) => {
                // Its slot may be that of a flow that has ended at this moment.
                self.remove_ended();
                let number = flows.flow(slot).number;
                self.order.push(Served { key: f64::INFINITY, slope: f64::NAN, number, slot, full_link: NONE });
                self.arrived += 1;
            }
            Event::Ended(slot) => self.ended.push(slot),
            // A key may depend on the route.
            Event::Rerouted(_) => self.rerouted = true,
            Event::CapChanged(_) => {}
            Event::CapacityChanged { link, capacity } => self.capacities[link as usize] = capacity,
        }
        Ok(())
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        self.remove_ended();
        let (mut pacer, all) = (Pacer::new(), std::mem::take(&mut self.rerouted));
        pacer.did(self.order.len())?;
        for place in self.order.iter_mut().filter(|place| all || place.slope != 0.0) {
            pacer.did(1)?;
            place.full_link = if all { NONE } else { place.full_link };
            place.key = self.by.key(place.slot, flows, now);
            if place.key.is_nan() {
                let what = format!("gave flow {} the key NaN at {now} s, expected a number", place.number);
                return Err(Error::Policy { policy: self.by.name().into(), what });
            }
        }
        self.sort();
        let Self { by, capacities, order, links, .. } = self;
        let idle =
            |&capacity: &f64| ServingLink { free: capacity, last: (0.0, f64::NEG_INFINITY), overtaking: f64::INFINITY };
        links.clear();
        links.extend(capacities.iter().map(idle));
        for place in order.iter_mut() {
            let Served { key, slot, full_link, .. } = *place;
            // Then it gets nothing again.
            let still = links.get(full_link as usize).is_some_and(|link| link.free == 0.0);
            let rate = match still {
                true => 0.0,
                false => {
                    let (flow, route) = (flows.flow(slot), flows.route(slot));
                    pacer.did(route.links().len())?;
                    let rate =
                        route.iter().map(|(link, share)| links[link as usize].free / share).fold(flow.cap, f64::min);
                    let full = route.links().iter().find(|&&link| links[link as usize].free == 0.0);
                    place.full_link = full.copied().unwrap_or(NONE);
                    if rate != flow.rate {
                        rates.set(slot, rate);
                    }
                    rate
                }
            };
            let slope = by.slope(slot, flows, rate);
            if slope.is_nan() || slope > 0.0 {
                let what =
                    format!("has a key of slope {slope} for flow {} at {now} s, expected a number <= 0", place.number);
                return Err(Error::Policy { policy: by.name().into(), what });
            }
            place.slope = slope;
            if rate == 0.0 && slope == 0.0 {
                continue;
            }
            for (link, share) in flows.route(slot).iter() {
                let link = &mut links[link as usize];
                let (ahead, its_slope) = link.last;
                if slope < its_slope {
                    // By so much that the two differ.
                    let way = f64::max(key - ahead, LAST_DIGITS * key);
                    link.overtaking = f64::min(link.overtaking, way / (its_slope - slope));
                }
                if rate > 0.0 {
                    // Nothing is left of a link that limits it, though rounding leave something.
                    let holds = link.free / share <= rate;
                    link.free = if holds { 0.0 } else { f64::max(0.0, link.free - share * rate) };
                    link.last = (key, slope);
                }
            }
        }
        let full = |(link, capacity): &(&ServingLink, &f64)| link.free <= ROUNDING * **capacity;
        let first = links.iter().zip(&*capacities).filter(full).map(|(link, _)| link.overtaking);
        Ok(f64::max(now + first.fold(f64::INFINITY, f64::min), now.next_up()))
    }
}
