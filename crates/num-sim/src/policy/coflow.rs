//! Coflows one after the other: each gets what those before it leave, its flows in proportion to what is left of them,
//! so that they end together; what then remains is shared fairly.
//!
//! ```text
//! Γ_c = max_l Σ_{f ∈ c} a_fl left_f / free_l              seconds that coflow c takes
//! in the order of the coflows:    x_f = min(left_f / Γ_c, cap_f),   free_l ← free_l − Σ_{f ∈ c} a_fl x_f
//! then:                           x ← x + max-min rates in what is free
//! ```
//!
//! A coflow over a link of which nothing is left gets what remains alone. The order is that of first starts, or that of
//! Γ in an empty network, computed at every event. A flow that is in no coflow is a coflow of its own. Flows that have
//! not started do not count. Of a coflow with flows that never end these share its rates equally.
//!
//! Source: M. Chowdhury, Y. Zhong and I. Stoica, *Efficient coflow scheduling with Varys*, SIGCOMM 2014: smallest
//! effective bottleneck first (§5.3.1) and minimum allocation for desired duration (§5.3.2).

use std::collections::HashMap;

use netnum_core::Topology;
use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use serde::{Deserialize, Serialize};

use super::{Event, MaxMinFair, Policy, PolicyEntry, Rates};
use crate::error::Result;
use crate::network::{Flow, Flows};
use crate::numbers::{FLOW, ROUNDING};
use crate::workload::Workload;

pub(super) const ENTRY: PolicyEntry = Entry {
    name: "coflow",
    summary: "coflows one after the other, the smallest bottleneck first, and what remains fairly",
    options: options::defaults::<CoflowOptions>,
    make: |given| Ok(Box::new(Coflow::by(given.read::<CoflowOptions>()?.order))),
};

/// The order in which coflows are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    /// That which would end first if it were alone: Varys.
    #[default]
    SmallestBottleneck,
    /// That whose first flow has started first.
    Fifo,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CoflowOptions {
    order: Order,
}

/// Serves coflows one after the other.
#[derive(Debug, Default)]
pub struct Coflow {
    order: Order,
    capacities: Vec<f64>,
    /// By flow, its coflow.
    coflows: Vec<Option<u32>>,
    /// When the first flow of every coflow has started; ∞ before.
    started: Vec<f64>,
}

/// A coflow that is being sent.
struct Group {
    key: f64,
    /// The lowest number of its flows.
    first: u32,
    /// With the bits that are left of each, or 1 and 0 for those that never end and the others.
    flows: Vec<(u32, f64)>,
}

impl Group {
    /// Γ: the seconds that its flows take with what is free of every link.
    fn seconds(&self, free: &[f64], flows: &Flows) -> f64 {
        let mut demands = HashMap::new();
        for &(slot, left) in &self.flows {
            flows.route(slot).iter().for_each(|(link, share)| *demands.entry(link).or_insert(0.0) += share * left);
        }
        // Of no time at all where a link has neither a demand nor a capacity.
        let on = |(link, demand): (u32, f64)| if demand > 0.0 { demand / free[link as usize] } else { 0.0 };
        demands.into_iter().map(on).fold(0.0, f64::max)
    }
}

impl Coflow {
    /// First that which would end first if it were alone: Varys.
    pub fn smallest_bottleneck() -> Self {
        Self::by(Order::SmallestBottleneck)
    }

    /// First that whose first flow has started first.
    pub fn fifo() -> Self {
        Self::by(Order::Fifo)
    }

    fn by(order: Order) -> Self {
        Self { order, ..Self::default() }
    }

    /// The active flows by coflow, in the order in which coflows are served.
    fn groups(&self, now: f64, flows: &Flows, pacer: &mut Pacer) -> Result<Vec<Group>> {
        let coflow = |slot: u32| self.coflows[flows.flow(slot).number as usize];
        // Those in none come last, and are told apart by their numbers.
        let mut slots: Vec<(Option<u32>, u32, u32)> =
            flows.active().iter().map(|&slot| (coflow(slot), flows.flow(slot).number, slot)).collect();
        pacer.did(FLOW * slots.len())?;
        slots.sort_unstable();
        let mut groups = Vec::new();
        for together in slots.chunk_by(|one, other| one.0.is_some() && one.0 == other.0) {
            let (coflow, first, slot) = together[0];
            let left = |&(_, _, slot): &(Option<u32>, u32, u32)| (slot, flows.flow(slot).left(now));
            let mut group = Group { key: 0.0, first, flows: together.iter().map(left).collect() };
            let is_endless = group.flows.iter().any(|flow| flow.1 == f64::INFINITY);
            if is_endless {
                group.flows.iter_mut().for_each(|(_, left)| *left = if *left < f64::INFINITY { 0.0 } else { 1.0 });
            }
            group.key = match (self.order, coflow) {
                (Order::Fifo, Some(coflow)) => self.started[coflow as usize],
                (Order::Fifo, None) => flows.flow(slot).arrival,
                (Order::SmallestBottleneck, _) if is_endless => f64::INFINITY,
                (Order::SmallestBottleneck, _) => group.seconds(&self.capacities, flows),
            };
            pacer.did(FLOW * together.len())?;
            groups.push(group);
        }
        groups.sort_by(|one, other| one.key.total_cmp(&other.key).then(one.first.cmp(&other.first)));
        Ok(groups)
    }
}

impl Policy for Coflow {
    fn name(&self) -> &str {
        match self.order {
            Order::SmallestBottleneck => "coflow",
            Order::Fifo => "coflow(fifo)",
        }
    }

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.capacities = net.capacities().to_vec();
        (self.coflows, self.started) = (Vec::new(), Vec::new());
        self.add_flows(workload, 0)
    }

    fn add_flows(&mut self, workload: &Workload, first: usize) -> Result<()> {
        self.coflows.extend((first..workload.len()).map(|flow| workload.coflow(flow)));
        self.started.resize(workload.coflows(), f64::INFINITY);
        Ok(())
    }

    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        match event {
            Event::Arrived(slot) => {
                let flow = flows.flow(slot);
                if let Some(coflow) = self.coflows[flow.number as usize] {
                    let started = &mut self.started[coflow as usize];
                    *started = f64::min(*started, flow.arrival);
                }
            }
            Event::CapacityChanged { link, capacity } => self.capacities[link as usize] = capacity,
            Event::Ended(_) | Event::Rerouted(_) | Event::CapChanged(_) | Event::Sent(..) => {}
        }
        Ok(())
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        let mut pacer = Pacer::new();
        let groups = self.groups(now, flows, &mut pacer)?;
        let mut free = self.capacities.clone();
        let mut given: Vec<(u32, f64)> = Vec::with_capacity(flows.active().len());
        for group in &groups {
            let seconds = group.seconds(&free, flows);
            pacer.did(FLOW * group.flows.len())?;
            for &(slot, left) in &group.flows {
                // Nothing of a coflow that no time suffices for.
                let rate = if seconds.is_finite() && seconds > 0.0 { left / seconds } else { 0.0 };
                let rate = f64::min(rate, flows.flow(slot).cap);
                given.push((slot, rate));
                flows.route(slot).iter().for_each(|(link, share)| free[link as usize] -= share * rate);
            }
            for &link in group.flows.iter().flat_map(|flow| flows.route(flow.0).links()) {
                let (left, capacity) = (&mut free[link as usize], self.capacities[link as usize]);
                *left = if *left <= ROUNDING * capacity { 0.0 } else { *left };
            }
        }
        let room = |&(slot, rate): &(u32, f64)| flows.flow(slot).cap - rate;
        let more = MaxMinFair::rates(&free, given.iter().map(|flow| (flows.route(flow.0).clone(), room(flow))))?;
        for (flow, more) in given.iter().zip(more) {
            let Flow { cap, rate: before, .. } = *flows.flow(flow.0);
            let rate = if more >= room(flow) { cap } else { f64::min(flow.1 + more, cap) };
            if rate != before {
                rates.set(flow.0, rate);
            }
        }
        Ok(f64::INFINITY)
    }
}
