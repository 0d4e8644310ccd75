//! Weighted max-min: flows that share a link get rates in proportion to their weights. A flow of weight w and rate x is
//! one of share w and rate t = x/w, and the t are max-min.
//!
//! ```text
//! Σ_f w_f t_f ≤ c_l        t_f ≤ cap_f / w_f
//! ```

use super::flow_levels::FlowLevels;
use super::link_levels::LinkLevels;
use crate::error::Result;
use crate::network::Flows;
use crate::policy::{Event, Rates};

/// The largest weight, and the reciprocal of the least: a rate t and a sum of weights are then numbers.
pub(super) const LARGEST: f64 = 1e200;

/// Weighted max-min rates of flows that come and go.
#[derive(Debug, Default)]
pub(in crate::policy) struct Weighted {
    levels: LinkLevels,
    /// By slot, weight and cap.
    flows: Vec<(f64, f64)>,
}

/// The rate of a flow: its cap, to the last digit, or in proportion to its weight.
pub(super) fn rate(member: &FlowLevels, (weight, cap): (f64, f64)) -> f64 {
    if member.is_at_cap() { cap } else { f64::min(weight * member.rate, cap) }
}

impl Weighted {
    pub(super) fn new(capacities: &[f64], is_crowd: bool) -> Self {
        let mut new = Self::default();
        new.levels.is_crowd = is_crowd;
        new.reset(capacities);
        new
    }

    /// Takes an event into account: a flow that arrives or moves has the weight that `weight` gives.
    pub(in crate::policy) fn change(&mut self, event: Event, flows: &Flows, weight: impl Fn(u32) -> f64) {
        if let Event::Ended(slot) | Event::Rerouted(slot) = event {
            self.remove(slot);
        }
        match event {
            Event::Arrived(slot) | Event::Rerouted(slot) => self.insert(slot, weight(slot), flows),
            Event::Ended(_) | Event::Sent(..) => {}
            Event::CapChanged(slot) => self.set_cap(slot, flows.flow(slot).cap),
            Event::CapacityChanged { link, capacity } => self.set_capacity(link, capacity),
        }
    }

    pub(in crate::policy) fn reset(&mut self, capacities: &[f64]) {
        self.levels.reset(capacities);
        self.flows.clear();
    }

    fn insert(&mut self, slot: u32, weight: f64, flows: &Flows) {
        let weight = weight.clamp(LARGEST.recip(), LARGEST);
        let cap = flows.flow(slot).cap;
        self.flows.resize(self.flows.len().max(slot as usize + 1), (0.0, 0.0));
        self.flows[slot as usize] = (weight, cap);
        // Its rate counts as changed, whatever it is.
        self.levels.insert(slot, flows.route(slot), weight, cap / weight, f64::NAN);
    }

    fn remove(&mut self, slot: u32) {
        self.levels.remove(slot);
    }

    fn set_cap(&mut self, slot: u32, cap: f64) {
        let (weight, its_cap) = &mut self.flows[slot as usize];
        *its_cap = cap;
        self.levels.set_cap(slot, cap / *weight);
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.levels.set_capacity(link, capacity);
    }

    /// Gives all flows other weights.
    pub(in crate::policy) fn reweigh(&mut self, flows: &Flows, weight: impl Fn(u32) -> f64) -> Result<()> {
        for &slot in flows.active() {
            let weight = weight(slot).clamp(LARGEST.recip(), LARGEST);
            let cap = flows.flow(slot).cap;
            self.flows[slot as usize] = (weight, cap);
            self.levels.set_weight(slot, flows.route(slot), weight, cap / weight);
        }
        self.levels.fill_all()
    }

    /// Computes the rates that have changed.
    pub(in crate::policy) fn update(&mut self) -> Result<()> {
        self.levels.update()
    }

    /// The rate of a flow, as of the last update.
    pub(in crate::policy) fn rate(&self, slot: u32) -> f64 {
        rate(self.levels.member(slot), self.flows[slot as usize])
    }

    /// From now on flows may share paces.
    pub(super) fn may_share(&mut self, may: bool) {
        self.levels.may_share = may;
    }

    /// Sets the paces that have changed.
    pub(super) fn share(&mut self, rates: &mut Rates) -> Result<()> {
        self.levels.share(rates.shared(), 0, |slot| self.flows[slot as usize].0)?;
        self.levels.drain_loads(|link, load| rates.shared().loads.push((link, load)));
        Ok(())
    }

    /// Calls with every rate that has changed since the last call.
    pub(in crate::policy) fn changes(&mut self, mut set_rate: impl FnMut(u32, f64)) -> Result<()> {
        let Self { levels, flows } = self;
        levels.changes(|slot, member, _| set_rate(slot, rate(member, flows[slot as usize])))
    }
}
