//! Flows served one after the other, in the order of a number, its key: each with all that those before it leave of its
//! route.
//!
//! ```text
//! in increasing order of key_f:   x_f = min(cap_f, min_l (c_l − Σ_{g before f} a_gl x_g) / a_fl)
//! ```
//!
//! Between events keys change at constant speeds, so that the moment at which a flow overtakes another is known. It
//! matters only where both want a link that is full, and the one ahead sends over it: on a link with something to spare
//! the order changes nothing, and one that sends nothing leaves as much to those behind it as to those ahead. So for
//! every link the order of those that send over it is followed, and at the first overtaking on a full one this policy asks
//! to be asked again.
//!
//! The faster a key is to fall the more the flow gets, so that two that have changed places do not change back. An event
//! costs O(active), and as many steps more as places are changed: the order is kept, only keys that fall are asked for
//! again, and of a flow that gets nothing only the link is looked at that held it back last. What is left is O(hops) for
//! every flow that gets something, of which there are at most as many as links.

use std::cmp::Ordering;

use netnum_core::Topology;
use netnum_core::interrupt::Pacer;

use super::{Policy, Rates};
use crate::error::{Error, Result};
use crate::network::Flows;
use crate::workload::Workload;

/// Numbers that differ by this part of them are not equal.
const APART: f64 = 4.0 * f64::EPSILON;
/// A link of which this part is free is full: that is rounding.
const FULL: f64 = 1e-12;
/// From this many flows on that arrive at once, all are sorted.
const MANY: usize = 16;

/// By which number flows are served: the lowest first.
pub trait Key {
    /// What the policy is called.
    fn name(&self) -> &str;

    /// Called once before the first flow arrives, with the capacity of every link.
    fn start(&mut self, _capacities: &[f64]) {}

    /// The key of a flow at a moment. It is asked for again whenever it may have changed.
    fn key(&self, slot: u32, flows: &Flows, now: f64) -> f64;

    /// How fast it changes from then on at a rate: ≤ 0, and the lower the higher the rate.
    fn slope(&self, slot: u32, flows: &Flows, rate: f64) -> f64;
}

/// Serves flows in the order of their keys; of equal ones the first to arrive.
#[derive(Debug, Clone, Default)]
pub struct Ordered<K> {
    by: K,
    capacities: Vec<f64>,
    /// The active slots with their keys and numbers, in order when last looked at.
    order: Vec<Place>,
    links: Vec<Link>,
    /// How many at its end have just arrived, and slots of flows that have left.
    arrived: usize,
    left: Vec<u32>,
    /// Whether some take other routes than when keys were last asked for.
    rerouted: bool,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    key: f64,
    /// How fast it has changed since it was asked for; NaN if it has not been yet.
    slope: f64,
    number: u32,
    slot: u32,
    /// The link that left nothing for it when flows were last served; [`NONE`] for one that got something.
    blocked: u32,
}

/// No link.
const NONE: u32 = u32::MAX;

impl Place {
    fn comes_before(&self, other: &Self) -> bool {
        (self.key, self.number) < (other.key, other.number)
    }
}

/// A link while flows are served.
#[derive(Debug, Clone, Copy)]
struct Link {
    /// What is left of it.
    free: f64,
    /// The key of the flow that was served last and got something, and how fast it changes.
    last: (f64, f64),
    /// Seconds until a flow overtakes the one before it.
    overtaking: f64,
}

impl<K: Key> Ordered<K> {
    /// In the order of some key.
    pub fn by(key: K) -> Self {
        let (capacities, order, links) = (Vec::new(), Vec::new(), Vec::new());
        Self { by: key, capacities, order, links, arrived: 0, left: Vec::new(), rerouted: false }
    }

    /// Sorts what is almost sorted, but for many that have just arrived.
    fn sort(&mut self) {
        if std::mem::take(&mut self.arrived) >= MANY {
            let key = |place: &Place| (place.key, place.number);
            let in_order = |one: &Place, other: &Place| key(one).partial_cmp(&key(other)).unwrap_or(Ordering::Equal);
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
    fn forget_those_that_left(&mut self) {
        match self.left.as_mut_slice() {
            [] => return,
            &mut [slot] => {
                if let Some(gone) = self.order.iter().position(|place| place.slot == slot) {
                    self.order.remove(gone);
                }
            }
            left => {
                left.sort_unstable();
                self.order.retain(|place| left.binary_search(&place.slot).is_err());
            }
        }
        self.left.clear();
    }
}

impl<K: Key> Policy for Ordered<K> {
    fn name(&self) -> &str {
        self.by.name()
    }

    fn start(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        self.capacities = net.capacities().to_vec();
        self.order.clear();
        (self.arrived, self.left, self.rerouted) = (0, Vec::new(), false);
        self.by.start(net.capacities());
        Ok(())
    }

    fn arrive(&mut self, slot: u32, flows: &Flows) {
        // Its slot may be that of a flow that has left at this moment.
        self.forget_those_that_left();
        self.order.push(Place {
            key: f64::INFINITY,
            slope: f64::NAN,
            number: flows.flow(slot).number,
            slot,
            blocked: NONE,
        });
        self.arrived += 1;
    }

    fn leave(&mut self, slot: u32, _flows: &Flows) {
        self.left.push(slot);
    }

    fn reroute(&mut self, _slot: u32, _flows: &Flows) {
        // A key may depend on the route.
        self.rerouted = true;
    }

    fn set_capacity(&mut self, link: usize, capacity: f64) {
        self.capacities[link] = capacity;
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        self.forget_those_that_left();
        let (mut pacer, all) = (Pacer::new(), std::mem::take(&mut self.rerouted));
        pacer.did(self.order.len())?;
        for place in self.order.iter_mut().filter(|place| all || place.slope != 0.0) {
            pacer.did(1)?;
            place.blocked = if all { NONE } else { place.blocked };
            place.key = self.by.key(place.slot, flows, now);
            if place.key.is_nan() {
                let what = format!("gave flow {} the key NaN at {now} s, expected a number", place.number);
                return Err(Error::Policy { policy: self.by.name().into(), what });
            }
        }
        self.sort();
        let Self { by, capacities, order, links, .. } = self;
        let idle = |&capacity: &f64| Link { free: capacity, last: (0.0, f64::NEG_INFINITY), overtaking: f64::INFINITY };
        links.clear();
        links.extend(capacities.iter().map(idle));
        for place in order.iter_mut() {
            let Place { key, slot, blocked, .. } = *place;
            // Then it gets nothing again.
            let still = links.get(blocked as usize).is_some_and(|link| link.free == 0.0);
            let rate = match still {
                true => 0.0,
                false => {
                    let (flow, route) = (flows.flow(slot), flows.route(slot));
                    pacer.did(route.links().len())?;
                    let rate = route.iter().map(|(link, share)| links[link].free / share).fold(flow.cap, f64::min);
                    let full = route.links().iter().find(|&&link| links[link as usize].free == 0.0);
                    place.blocked = full.copied().unwrap_or(NONE);
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
                let link = &mut links[link];
                let (ahead, its_slope) = link.last;
                if slope < its_slope {
                    // By so much that the two can be told apart.
                    let way = f64::max(key - ahead, APART * key);
                    link.overtaking = f64::min(link.overtaking, way / (its_slope - slope));
                }
                if rate > 0.0 {
                    // Nothing is left of a link that holds it back, though it be a rounding.
                    let holds = link.free / share <= rate;
                    link.free = if holds { 0.0 } else { f64::max(0.0, link.free - share * rate) };
                    link.last = (key, slope);
                }
            }
        }
        let full = |(link, capacity): &(&Link, &f64)| link.free <= FULL * **capacity;
        let first = links.iter().zip(&*capacities).filter(full).map(|(link, _)| link.overtaking);
        Ok(f64::max(now + first.fold(f64::INFINITY, f64::min), now.next_up()))
    }
}
