//! Flows served one after the other, in the order of a number, its key: each with all that those before it leave of its
//! route.
//!
//! ```text
//! in increasing order of key_f:   x_f = min(cap_f, min_l (c_l − Σ_{g before f} a_gl x_g) / a_fl)
//! ```
//!
//! Between events keys change at constant speeds, so that the moment at which a flow overtakes another is known. It
//! matters only where both want a link that is full: on one with something to spare the order changes nothing. So for
//! every link the order of its own flows is followed, and at the first overtaking on a full one this policy asks to be
//! asked again.
//!
//! The faster a key is to fall the more the flow gets, so that two that have changed places do not change back. An event
//! costs O(active · hops), and as many steps more as places are changed: the order is kept.

use netnum_core::Topology;

use super::{Policy, Rates};
use crate::error::Result;
use crate::flows::Flows;
use crate::workload::Workload;

/// Numbers that differ by this part of them are not equal.
const APART: f64 = 4.0 * f64::EPSILON;
/// A link of which this part is free is full: that is rounding.
const FULL: f64 = 1e-12;

/// By which number flows are served: the lowest first.
pub trait Key {
    /// What the policy is called.
    fn name(&self) -> &str;

    /// Called once before the first flow arrives, with the capacity of every link.
    fn start(&mut self, _capacities: &[f64]) {}

    /// The key of a flow at a moment.
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
}

#[derive(Debug, Clone, Copy)]
struct Place {
    key: f64,
    number: u32,
    slot: u32,
}

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
    /// The key of the flow that was served last, and how fast it changes.
    last: (f64, f64),
    /// Seconds until a flow overtakes the one before it.
    overtaking: f64,
}

impl<K: Key> Ordered<K> {
    /// In the order of some key.
    pub fn by(key: K) -> Self {
        Self { by: key, capacities: Vec::new(), order: Vec::new(), links: Vec::new() }
    }

    /// Sorts what is almost sorted.
    fn sort(&mut self) {
        for place in 1..self.order.len() {
            let moved = self.order[place];
            let before = self.order[..place].iter().rposition(|other| !moved.comes_before(other));
            let to = before.map_or(0, |before| before + 1);
            self.order.copy_within(to..place, to + 1);
            self.order[to] = moved;
        }
    }
}

impl<K: Key> Policy for Ordered<K> {
    fn name(&self) -> &str {
        self.by.name()
    }

    fn start(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        self.capacities = net.capacities().to_vec();
        self.order.clear();
        self.by.start(net.capacities());
        Ok(())
    }

    fn arrive(&mut self, slot: u32, flows: &Flows) {
        self.order.push(Place { key: f64::INFINITY, number: flows.flow(slot).number, slot });
    }

    fn leave(&mut self, slot: u32, _flows: &Flows) {
        self.order.retain(|place| place.slot != slot);
    }

    fn reroute(&mut self, _slot: u32, _flows: &Flows) {}

    fn set_capacity(&mut self, link: usize, capacity: f64) {
        self.capacities[link] = capacity;
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        for place in &mut self.order {
            place.key = self.by.key(place.slot, flows, now);
        }
        self.sort();
        let Self { by, capacities, order, links } = self;
        let idle = |&capacity: &f64| Link { free: capacity, last: (0.0, f64::NEG_INFINITY), overtaking: f64::INFINITY };
        links.clear();
        links.extend(capacities.iter().map(idle));
        for &Place { key, slot, .. } in order.iter() {
            let (flow, route) = (flows.flow(slot), flows.route(slot));
            let rate = route.iter().map(|(link, share)| links[link].free / share).fold(flow.cap, f64::min);
            let slope = by.slope(slot, flows, rate);
            for (link, share) in route.iter() {
                let link = &mut links[link];
                link.free = f64::max(0.0, link.free - share * rate);
                let (ahead, its_slope) = link.last;
                if slope < its_slope {
                    // By so much that the two can be told apart.
                    let way = f64::max(key - ahead, APART * key);
                    link.overtaking = f64::min(link.overtaking, way / (its_slope - slope));
                }
                link.last = (key, slope);
            }
            if rate != flow.rate {
                rates.set(slot, rate);
            }
        }
        let full = |(link, capacity): &(&Link, &f64)| link.free <= FULL * **capacity;
        let first = links.iter().zip(&*capacities).filter(full).map(|(link, _)| link.overtaking);
        Ok(f64::max(now + first.fold(f64::INFINITY, f64::min), now.next_up()))
    }
}
