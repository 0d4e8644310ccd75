//! Strict priorities: the flows of level 0 share the network fairly, those of level 1 what is left of it, and so on.
//!
//! ```text
//! c_l,0 = c_l      x_f of level k: max-min over the c_l,k      c_l,k+1 = c_l,k − Σ_{f of level k} a_fl x_f
//! ```
//!
//! Inside a level flows share in proportion to their weights. Every level has separate [`LinkLevels`] of links. A
//! change begins at the level of the flow that arrives or ends, so that those above are not computed, and goes on below
//! only over links of which another part is left; in a level that limits no flow on such a link it costs O(1). Where
//! many flows of a level share each link, they have the paces of the links that limit them (`bottlenecks.rs`), numbered
//! by level and link.

use super::link_levels::LinkLevels;
use super::weighted::{LARGEST, rate};
use crate::error::Result;
use crate::network::Flows;
use crate::numbers::ROUNDING;
use crate::policy::Rates;

/// Max-min rates level by level, of flows that come and go and change their levels.
#[derive(Debug, Default)]
pub(in crate::policy) struct Tiers {
    tiers: Vec<LinkLevels>,
    capacities: Vec<f64>,
    /// By slot, its level, and weight and cap.
    level_of: Vec<usize>,
    flows: Vec<(f64, f64)>,
    /// By link and level, its flows.
    counts: Vec<u32>,
    /// By level, the links of which it may leave another part than before, and whether no flow of it was there.
    touched: Vec<Vec<(u32, bool)>>,
    /// Links that have changed for the levels below, as a list and by link, and those that have for some level only.
    changed: Vec<u32>,
    listed: Vec<bool>,
    settled: Vec<u32>,
    is_crowd: bool,
}

impl Tiers {
    /// Few flows are taken for a crowd.
    pub(in crate::policy) fn crowded() -> Self {
        Self { is_crowd: true, ..Self::default() }
    }

    /// For so many levels.
    pub(in crate::policy) fn reset(&mut self, levels: usize, capacities: &[f64]) {
        let is_crowd = self.is_crowd;
        let tier = || {
            let mut tier = if is_crowd { LinkLevels::crowded() } else { LinkLevels::default() };
            tier.reset(capacities);
            tier
        };
        *self = Self {
            tiers: (0..levels).map(|_| tier()).collect(),
            capacities: capacities.to_vec(),
            counts: vec![0; levels * capacities.len()],
            touched: vec![Vec::new(); levels],
            listed: vec![false; capacities.len()],
            is_crowd,
            ..Self::default()
        };
    }

    /// The level of the flow in a slot.
    pub(in crate::policy) fn level(&self, slot: u32) -> usize {
        self.level_of[slot as usize]
    }

    /// A flow that has a rate already is one that takes another route or level.
    pub(in crate::policy) fn insert(&mut self, slot: u32, level: usize, flows: &Flows) {
        let (flow, weight) = (flows.flow(slot), flows.weight(slot).clamp(LARGEST.recip(), LARGEST));
        let slots = self.level_of.len().max(slot as usize + 1);
        self.level_of.resize(slots, 0);
        self.flows.resize(slots, (1.0, 0.0));
        (self.level_of[slot as usize], self.flows[slot as usize]) = (level, (weight, flow.cap));
        self.tiers[level].insert(slot, flows.route(slot), weight, flow.cap / weight, flow.rate / weight);
        self.count(slot, level, 1);
    }

    pub(in crate::policy) fn remove(&mut self, slot: u32) {
        let level = self.level(slot);
        self.count(slot, level, -1);
        self.tiers[level].remove(slot);
    }

    /// So many more flows cross the links of one at its level.
    fn count(&mut self, slot: u32, level: usize, more: i32) {
        for link in self.tiers[level].links_of(slot) {
            let count = &mut self.counts[link as usize * self.tiers.len() + level];
            self.touched[level].push((link, *count == 0));
            *count = count.wrapping_add_signed(more);
        }
    }

    pub(in crate::policy) fn set_cap(&mut self, slot: u32, cap: f64) {
        let level = self.level(slot);
        let (weight, its_cap) = &mut self.flows[slot as usize];
        *its_cap = cap;
        self.tiers[level].set_cap(slot, cap / *weight);
    }

    pub(in crate::policy) fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.capacities[link as usize] = capacity;
        if let Some(touched) = self.touched.first_mut() {
            touched.push((link, true));
        }
    }

    /// Sets the rates that have changed. Flows may share some where `may_share` and all else allow that.
    pub(in crate::policy) fn update(&mut self, rates: &mut Rates, may_share: bool) -> Result<()> {
        let Self { tiers, capacities, flows, counts, touched, changed, listed, settled, .. } = self;
        let (levels, links) = (tiers.len(), capacities.len());
        let may_share = may_share && rates.may_share;
        let mut is_shared = false;
        for (level, touched) in touched.iter_mut().enumerate() {
            let (above, below) = tiers.split_at_mut(level);
            let tier = &mut below[0];
            // Where a level has the same capacity as before, and no flow of it changes, so have those below. One that
            // has no flow on a link leaves all of it, and is not read until it has some: it is rarely in the cache.
            let mut is_other = |link: u32| {
                let counts = &counts[link as usize * levels..][..=level];
                if counts[level] == 0 {
                    return true;
                }
                let capacity = capacities[link as usize];
                let last = counts[..level].iter().rposition(|&count| count > 0);
                let left = last.map_or(capacity, |last| above[last].left(link));
                tier.set_capacity(link, if left <= ROUNDING * capacity { 0.0 } else { left })
            };
            changed.retain(|&link| {
                listed[link as usize] = is_other(link);
                if !listed[link as usize] {
                    settled.push(link);
                }
                listed[link as usize]
            });
            let mut list = |changed: &mut Vec<u32>, link: u32| {
                if !std::mem::replace(&mut listed[link as usize], true) {
                    changed.push(link);
                }
            };
            for (link, had_none) in touched.drain(..) {
                if had_none {
                    is_other(link);
                }
                list(changed, link);
            }
            tier.may_share = may_share;
            is_shared |= tier.shares();
            tier.update()?;
            is_shared |= tier.shares();
            tier.share(rates.shared(), (level * links) as u32, |slot| flows[slot as usize].0)?;
            tier.drain_loads(|link, _| list(changed, link));
            tier.changes(|slot, member, hops| {
                hops.iter().for_each(|hop| list(changed, hop.link));
                rates.set(slot, rate(member, flows[slot as usize]));
            })?;
        }
        // Where flows share rates, loads are not added up from those of flows.
        settled.append(changed);
        for link in settled.drain(..) {
            listed[link as usize] = false;
            if is_shared {
                let last = counts[link as usize * levels..][..levels].iter().rposition(|&count| count > 0);
                let capacity = capacities[link as usize];
                let left = last.map_or(capacity, |last| tiers[last].left(link));
                rates.shared().loads.push((link, capacity - left));
            }
        }
        Ok(())
    }
}
