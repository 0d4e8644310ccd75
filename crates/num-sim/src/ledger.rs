//! What every link carries: its load at the moment, the bits that have gone over it, and what it was asked to carry over
//! its capacity.
//!
//! Loads are looked at when time has passed, not while the rates of one instant are set one after the other. Bits are
//! added up flow by flow, and do not drift.

use crate::routing::Route;

#[derive(Debug, Clone)]
struct Link {
    capacity: f64,
    load: f64,
    since: f64,
    peak: f64,
    bits: f64,
    /// ∫ capacity dt until the capacity last changed, in bits, and when that was.
    offered: f64,
    changed: f64,
    /// ∫ max(0, load − capacity) dt, in bits.
    excess: f64,
}

/// The accounts of all links.
#[derive(Debug)]
pub(crate) struct Ledger {
    links: Vec<Link>,
}

impl Ledger {
    pub(crate) fn new(capacities: &[f64]) -> Self {
        let link = |&capacity: &f64| Link {
            capacity,
            load: 0.0,
            since: 0.0,
            peak: 0.0,
            bits: 0.0,
            offered: 0.0,
            changed: 0.0,
            excess: 0.0,
        };
        Self { links: capacities.iter().map(link).collect() }
    }

    /// The rate of a flow on a route changes.
    #[inline]
    pub(crate) fn change(&mut self, route: &Route, change: f64, now: f64) {
        for (link, share) in route.iter() {
            let link = &mut self.links[link];
            link.settle(now);
            link.load += share * change;
        }
    }

    /// A flow has sent bits over a route.
    pub(crate) fn sent(&mut self, route: &Route, bits: f64) {
        for (link, share) in route.iter() {
            self.links[link].bits += share * bits;
        }
    }

    /// The capacity of a link changes.
    pub(crate) fn set_capacity(&mut self, link: usize, capacity: f64, now: f64) {
        let link = &mut self.links[link];
        link.settle(now);
        link.offered += link.capacity * (now - link.changed);
        (link.capacity, link.changed) = (capacity, now);
    }

    /// The time is over: nothing changes any more.
    pub(crate) fn close(&mut self, now: f64) {
        for link in 0..self.links.len() {
            self.set_capacity(link, self.links[link].capacity, now);
        }
    }

    /// What went over each link, of what it could have carried; NaN where that is nothing.
    pub(crate) fn utilizations(&self) -> Vec<f64> {
        self.links.iter().map(|link| link.bits / link.offered).collect()
    }

    pub(crate) fn bytes(&self) -> Vec<f64> {
        self.links.iter().map(|link| link.bits / 8.0).collect()
    }

    pub(crate) fn peaks(&self) -> Vec<f64> {
        self.links.iter().map(|link| link.peak).collect()
    }

    pub(crate) fn excess_bits(&self) -> f64 {
        self.links.iter().map(|link| link.excess).sum()
    }
}

impl Link {
    /// Writes down the load of the time that has passed.
    #[inline]
    fn settle(&mut self, now: f64) {
        if now > self.since {
            if self.load > self.peak {
                self.peak = self.load;
            }
            if self.load > self.capacity {
                self.excess += (self.load - self.capacity) * (now - self.since);
            }
            self.since = now;
        }
    }
}
