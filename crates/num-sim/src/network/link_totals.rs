//! Per-link totals: the load of each link, the bits that have crossed it, its peak load, and its load above
//! its capacity.
//!
//! Loads are integrated when time has passed, not while the rates of one instant are set one after the other. Bits
//! are added up flow by flow, and do not drift.

use netnum_core::Topology;

use super::route::Route;
use super::state::NetworkState;
use crate::numbers::BITS;

#[derive(Debug, Clone, Default)]
struct LinkTotal {
    since: f64,
    peak: f64,
    bits: f64,
    /// ∫ capacity dt until the capacity last changed, in bits, and when that was.
    offered: f64,
    changed: f64,
    /// ∫ max(0, load − capacity) dt, in bits.
    excess: f64,
}

/// The totals of all links.
#[derive(Debug)]
pub(crate) struct LinkTotals {
    /// Of every link now, in bit/s.
    capacities: Vec<f64>,
    /// The capacity that stands for none.
    no_limit: f64,
    loads: Vec<f64>,
    links: Vec<LinkTotal>,
}

impl LinkTotals {
    pub(crate) fn new(capacities: &[f64], no_limit: f64) -> Self {
        let (loads, links) = (vec![0.0; capacities.len()], vec![LinkTotal::default(); capacities.len()]);
        Self { capacities: capacities.to_vec(), no_limit, loads, links }
    }

    /// Whether no link of a route has a limit now, or of a path of a pooled one.
    pub(crate) fn have_no_limit(&self, route: &Route) -> bool {
        let unlimited = |links: &[u32]| links.iter().all(|&link| self.capacities[link as usize] == self.no_limit);
        match route.pooled() {
            None => unlimited(route.links()),
            Some(paths) => paths.iter().any(unlimited),
        }
    }

    pub(crate) fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// The network as given to routings.
    pub(crate) fn state<'a>(&'a self, net: &'a Topology, time: f64) -> NetworkState<'a> {
        NetworkState { net, time, capacities: &self.capacities, no_limit: self.no_limit, loads: &self.loads }
    }

    /// The rate of a flow on a route changes.
    #[inline]
    pub(crate) fn change(&mut self, route: &Route, change: f64, now: f64) {
        for (link, fraction) in route.iter() {
            let link = link as usize;
            let (total, load) = (&mut self.links[link], &mut self.loads[link]);
            total.add_up(*load, self.capacities[link], now);
            *load += fraction * change;
        }
    }

    /// A flow has sent bits over a route.
    pub(crate) fn sent(&mut self, route: &Route, bits: f64) {
        for (link, fraction) in route.iter() {
            self.links[link as usize].bits += fraction * bits;
        }
    }

    /// The capacity of a link changes.
    pub(crate) fn set_capacity(&mut self, link: usize, capacity: f64, now: f64) {
        let total = &mut self.links[link];
        total.add_up(self.loads[link], self.capacities[link], now);
        let offered = if self.capacities[link] == self.no_limit { f64::INFINITY } else { self.capacities[link] };
        total.offered += if now > total.changed { offered * (now - total.changed) } else { 0.0 };
        total.changed = now;
        self.capacities[link] = capacity;
    }

    /// Forgets what was before some time.
    pub(crate) fn restart(&mut self, now: f64) {
        for (link, total) in self.links.iter_mut().enumerate() {
            total.add_up(self.loads[link], self.capacities[link], now);
            *total = LinkTotal { since: now, changed: now, ..LinkTotal::default() };
        }
    }

    /// Ends the run at some time: nothing changes afterwards.
    pub(crate) fn close(&mut self, now: f64) {
        for link in 0..self.links.len() {
            self.set_capacity(link, self.capacities[link], now);
        }
    }

    /// The bits over each link, of those that it could have carried; NaN where it could carry none, or had no limit.
    pub(crate) fn utilizations(&self) -> Vec<f64> {
        let utilization = |link: &LinkTotal| if link.offered.is_finite() { link.bits / link.offered } else { f64::NAN };
        self.links.iter().map(utilization).collect()
    }

    pub(crate) fn bytes(&self) -> Vec<f64> {
        self.links.iter().map(|link| link.bits / BITS).collect()
    }

    pub(crate) fn peaks(&self) -> Vec<f64> {
        self.links.iter().map(|link| link.peak).collect()
    }

    pub(crate) fn excess_bits(&self) -> f64 {
        self.links.iter().map(|link| link.excess).sum()
    }
}

impl LinkTotal {
    /// Adds the load over the time that has passed, if any. Without branches: whether another flow on the link has
    /// changed at this instant cannot be predicted.
    #[inline]
    fn add_up(&mut self, load: f64, capacity: f64, now: f64) {
        let held = f64::from_bits(load.to_bits() & u64::from(now > self.since).wrapping_neg());
        self.peak = if held > self.peak { held } else { self.peak };
        let excess = load - capacity;
        self.excess += if excess > 0.0 { excess } else { 0.0 } * (now - self.since);
        self.since = now;
    }
}
