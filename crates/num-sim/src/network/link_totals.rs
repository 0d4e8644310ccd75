//! Per-link totals: the load of each link, the bits that have crossed it, its peak load, and its load above
//! its capacity.
//!
//! Loads are integrated when time has passed, not while the rates of one instant are set one after the other. Bits
//! are added up flow by flow, and do not drift.

use netnum_core::Topology;

use super::route::Route;
use super::state::NetworkState;
use crate::numbers::{BITS, ROUNDING};
use crate::timeline::Changes;

/// In one line of the cache: with many links, what an event costs is the lines that it reads.
#[derive(Debug, Clone, Default)]
#[repr(align(64))]
struct LinkTotal {
    /// That of the link now, once more.
    capacity: f64,
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
    /// Loads and capacities over time, if they are kept.
    kept: Option<[Changes; 2]>,
}

impl LinkTotals {
    /// With loads and capacities over time, if `keeps`.
    pub(crate) fn new(capacities: &[f64], no_limit: f64, keeps: bool) -> Self {
        let total = |&capacity: &f64| LinkTotal { capacity, ..LinkTotal::default() };
        let (loads, links) = (vec![0.0; capacities.len()], capacities.iter().map(total).collect());
        let kept = keeps.then(Default::default);
        let mut this = Self { capacities: capacities.to_vec(), no_limit, loads, links, kept };
        (0..capacities.len()).for_each(|link| this.keep_capacity(link, 0.0));
        this
    }

    fn keep_capacity(&mut self, link: usize, now: f64) {
        if let Some([_, capacities]) = &mut self.kept {
            let capacity = self.capacities[link];
            capacities.push(link as u32, now, if capacity == self.no_limit { f64::INFINITY } else { capacity });
        }
    }

    /// Loads and capacities over time, if they are kept, of a run that ends now.
    pub(crate) fn kept(&mut self, now: f64) -> Option<[Changes; 2]> {
        let mut kept = self.kept.take()?;
        for (link, &load) in self.loads.iter().enumerate() {
            kept[0].push(link as u32, now, without_drift(load, self.capacities[link]));
        }
        Some(kept)
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
            self.hold(link, now);
            self.loads[link] += fraction * change;
        }
    }

    /// The load of a link is another one from now on.
    pub(crate) fn set_load(&mut self, link: u32, load: f64, now: f64) {
        self.hold(link as usize, now);
        self.loads[link as usize] = load;
    }

    /// The load of a link until now was what it is.
    #[inline]
    fn hold(&mut self, link: usize, now: f64) {
        let (load, total) = (self.loads[link], &mut self.links[link]);
        if let Some([loads, _]) = self.kept.as_mut().filter(|_| now > total.since) {
            loads.push(link as u32, total.since, without_drift(load, total.capacity));
        }
        total.add_up(load, now);
    }

    /// A flow has sent bits over a route.
    pub(crate) fn sent(&mut self, route: &Route, bits: f64) {
        for (link, fraction) in route.iter() {
            self.links[link as usize].bits += fraction * bits;
        }
    }

    /// The capacity of a link changes.
    pub(crate) fn set_capacity(&mut self, link: usize, capacity: f64, now: f64) {
        self.hold(link, now);
        let total = &mut self.links[link];
        let offered = if self.capacities[link] == self.no_limit { f64::INFINITY } else { self.capacities[link] };
        total.offered += if now > total.changed { offered * (now - total.changed) } else { 0.0 };
        (total.changed, total.capacity) = (now, capacity);
        self.capacities[link] = capacity;
        self.keep_capacity(link, now);
    }

    /// Forgets what was before some time.
    pub(crate) fn restart(&mut self, now: f64) {
        for link in 0..self.links.len() {
            self.hold(link, now);
            let capacity = self.capacities[link];
            self.links[link] = LinkTotal { capacity, since: now, changed: now, ..LinkTotal::default() };
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

/// A load that is kept up by adding and subtracting; what is left when all flows have gone is rounding.
fn without_drift(load: f64, capacity: f64) -> f64 {
    if load.abs() <= ROUNDING * capacity { 0.0 } else { load }
}

impl LinkTotal {
    /// Adds the load over the time that has passed, if any. Without branches: whether another flow on the link has
    /// changed at this instant cannot be predicted.
    #[inline]
    fn add_up(&mut self, load: f64, now: f64) {
        let held = f64::from_bits(load.to_bits() & u64::from(now > self.since).wrapping_neg());
        self.peak = if held > self.peak { held } else { self.peak };
        let excess = load - self.capacity;
        self.excess += if excess > 0.0 { excess } else { 0.0 } * (now - self.since);
        self.since = now;
    }
}
