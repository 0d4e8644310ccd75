//! Fair sharing: max-min rates at every moment, as ideal TCP-like endpoints or fair queues would reach them.
//!
//! The [`LinkLevels`] of links are kept from event to event. An arrival or an end changes few of them, which are found
//! by following the change from link to link; when that goes too far, or when many flows arrive and end at once, all of
//! them are computed anew, by water-filling. Where many flows share each link, an end changes the rates of thousands:
//! levels then follow from sums over the flows of a link (`bottlenecks.rs`), and flows have the pace of the link that
//! limits them. Over pooled routes, linear programs find rates and splits (`pooled.rs`).

mod bottlenecks;
mod fill;
mod filled;
mod flow_levels;
mod hops;
mod link_levels;
mod links;
mod pooled;
mod tiers;
mod weighted;

use netnum_core::Topology;
use netnum_core::internal::registry::Entry;

use super::{Event, Policy, PolicyEntry, Rates};
use crate::error::Result;
use crate::network::Flows;
use crate::network::Route;
use crate::workload::Workload;
use link_levels::LinkLevels;
use pooled::Pooled;
pub(super) use tiers::Tiers;
pub(super) use weighted::Weighted;

pub(super) const ENTRY: PolicyEntry = Entry {
    name: "max-min",
    summary: "fair sharing, by weight if flows have weights",
    options: Vec::new,
    make: |_| Ok(Box::new(MaxMinFair::new())),
};

/// Max-min fair sharing, weighted where flows have weights.
#[derive(Debug, Default)]
pub struct MaxMinFair {
    levels: LinkLevels,
    /// In place of these, where flows have weights.
    weighted: Option<Weighted>,
    /// In place of both, from the first flow with a pooled route on.
    pooled: Option<Pooled>,
    /// Of the links now, in bit/s.
    capacities: Vec<f64>,
}

impl MaxMinFair {
    /// Fair sharing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Fair sharing, computed anew at every event: as exact, and slower unless many flows are active. A reference for
    /// tests.
    pub fn full() -> Self {
        Self { levels: LinkLevels::full(), ..Self::default() }
    }

    /// Fair sharing, computed as for a crowd however few flows there are: as exact, and slower then. For tests.
    pub fn crowded() -> Self {
        Self { levels: LinkLevels::crowded(), ..Self::default() }
    }

    /// The rates of flows that share a network fairly, each with its route and its cap, in bit/s. O(crossings ·
    /// log(links)).
    ///
    /// # Errors
    /// [`netnum_core::Error::Stopped`] only.
    ///
    /// # Panics
    /// For a route over a link that does not exist.
    pub fn rates(capacities: &[f64], flows: impl IntoIterator<Item = (Route, f64)>) -> Result<Vec<f64>> {
        let mut levels = LinkLevels::full();
        levels.reset(capacities);
        let mut count = 0;
        for (route, cap) in flows {
            levels.insert(count, &route, 1.0, cap, 0.0);
            count += 1;
        }
        levels.update()?;
        Ok((0..count).map(|slot| levels.member(slot).rate).collect())
    }
}

impl Policy for MaxMinFair {
    fn name(&self) -> &str {
        "max-min"
    }

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.levels.reset(net.capacities());
        self.weighted = workload.weights().map(|_| Weighted::new(net.capacities(), self.levels.is_crowd));
        (self.pooled, self.capacities) = (None, net.capacities().to_vec());
        Ok(())
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn splits(&self) -> bool {
        true
    }

    fn add_flows(&mut self, _workload: &Workload, _first: usize) -> Result<()> {
        Ok(())
    }

    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        if let Event::Arrived(slot) = event
            && flows.route(slot).pooled().is_some()
            && self.pooled.is_none()
        {
            self.pooled = Some(Pooled::new(&self.capacities, flows));
        }
        if let Event::CapacityChanged { link, capacity } = event {
            self.capacities[link as usize] = capacity;
        }
        if let Some(pooled) = &mut self.pooled {
            pooled.change(event, flows);
            return Ok(());
        }
        if let Some(weighted) = &mut self.weighted {
            weighted.change(event, flows, |slot| flows.weight(slot));
            return Ok(());
        }
        if let Event::Ended(slot) | Event::Rerouted(slot) = event {
            self.levels.remove(slot);
        }
        match event {
            Event::Arrived(slot) | Event::Rerouted(slot) => {
                let flow = flows.flow(slot);
                self.levels.insert(slot, flows.route(slot), 1.0, flow.cap, flow.rate);
            }
            Event::Ended(_) | Event::Sent(..) => {}
            Event::CapChanged(slot) => self.levels.set_cap(slot, flows.flow(slot).cap),
            Event::CapacityChanged { link, capacity } => _ = self.levels.set_capacity(link, capacity),
        }
        Ok(())
    }

    fn allocate(&mut self, _now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        if let Some(pooled) = &mut self.pooled {
            pooled.update(flows, rates)?;
            return Ok(f64::INFINITY);
        }
        if let Some(weighted) = &mut self.weighted {
            weighted.may_share(rates.may_share);
            weighted.update()?;
            weighted.share(rates)?;
            weighted.changes(|slot, rate| rates.set(slot, rate))?;
            return Ok(f64::INFINITY);
        }
        self.levels.may_share = rates.may_share;
        self.levels.update()?;
        self.levels.share(rates.shared(), 0, |_| 1.0)?;
        self.levels.drain_loads(|link, load| rates.shared().loads.push((link, load)));
        self.levels.changes(|slot, member, _| rates.set(slot, member.rate))?;
        Ok(f64::INFINITY)
    }
}
