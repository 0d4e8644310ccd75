//! Floors: the rates that flows are guaranteed.
//!
//! ```text
//! start       where Σ a m ≤ c on each of the flow's links, over all floors m there
//! cut         m' = m min_l min(1, c_l / Σ a m)            over flows whose links all work
//! demand      x ← max(x, m')
//! normalize   r = m' + φ (x − m')                         φ = min_l min(1, (c_l − M_l)/(y_l − M_l)),  M_l = Σ a m'
//! ```
//!
//! c is the part of a capacity that rates may fill. Where a capacity has fallen below the floors on it they are cut in
//! proportion; where all fit, m' = m. Blocks of flows know of no floors: what a floor adds to a demand, and what a
//! normalizer leaves above it, is set afterwards, flow by flow. Without floors nothing is done.

use std::collections::BTreeMap;

use netnum_core::internal::Respond;
use netnum_core::{Error, Result};
use rustc_hash::FxHashMap;

use super::engine::Engine;
use super::flow_table::{FlowId, Slot};
use super::path::{OwnPath, Path};
use crate::flow_blocks::LiveFlows;

/// A floor is not broken by such a part of it, and such a part of a link above floors is the rounding of their sum.
const ROUNDING: f64 = 1e-12;

/// The floor of a flow.
#[derive(Debug, Clone, Copy)]
struct Floor {
    given: f64,
    /// m' *(derived)*.
    kept: f64,
}

/// The floors of all flows that have one.
#[derive(Debug, Default)]
pub(super) struct Floors {
    /// By slot.
    of: BTreeMap<u32, Floor>,
    /// Of every link Σ a m, whether its flows' other links work or not *(derived)*; empty before the first floor.
    given: Vec<f64>,
    /// M of every link *(derived)*.
    kept: Vec<f64>,
    /// Whether what is kept follows from the present floors and capacities.
    is_current: bool,
}

impl Floors {
    pub(super) fn are_none(&self) -> bool {
        self.of.is_empty()
    }

    /// The floor that the flow of a slot was given.
    pub(super) fn given(&self, slot: u32) -> f64 {
        self.of.get(&slot).map_or(0.0, |floor| floor.given)
    }

    /// What is kept of it.
    pub(super) fn kept(&self, slot: u32) -> f64 {
        self.of.get(&slot).map_or(0.0, |floor| floor.kept)
    }

    /// A flow has a floor from now on, if that is not 0.
    pub(super) fn insert(&mut self, slot: u32, path: Path<'_>, given: f64, links: usize) {
        if given > 0.0 {
            self.given.resize(links, 0.0);
            self.of.insert(slot, Floor { given, kept: 0.0 });
            self.add(path, given);
        }
    }

    /// The flow of a slot has none from now on.
    pub(super) fn remove(&mut self, slot: u32, path: impl FnOnce() -> OwnPath) {
        if let Some(floor) = self.of.remove(&slot) {
            self.add(path().get(), -floor.given);
        }
    }

    fn add(&mut self, path: Path<'_>, floor: f64) {
        path.entries().for_each(|(link, a)| self.given[link as usize] += a * floor);
        self.is_current = false;
    }

    pub(super) fn network_changed(&mut self) {
        self.is_current = false;
    }
}

/// Floors that come and go together.
#[derive(Debug, Default)]
pub(super) struct FloorChange(FxHashMap<u32, f64>);

impl FloorChange {
    /// A flow over a path has a floor from now on, or none any more.
    pub(super) fn add(&mut self, path: Path<'_>, floor: f64) {
        path.entries().for_each(|(link, a)| *self.0.entry(link).or_default() += a * floor);
    }
}

impl Engine {
    /// Whether a floor fits on a path beside all others and such a change, of which it is part; `flow` is what an error
    /// calls the flow.
    ///
    /// # Errors
    /// [`Error::FloorDoesNotFit`].
    pub(super) fn check_floor(&self, flow: usize, path: Path<'_>, floor: f64, change: &FloorChange) -> Result<()> {
        if floor == 0.0 {
            return Ok(());
        }
        for (link, _) in path.entries() {
            let present = self.floors.given.get(link as usize).copied().unwrap_or(0.0);
            let (floors, capacity) = (present + change.0.get(&link).copied().unwrap_or(0.0), self.used(link));
            if capacity == 0.0 || floors > capacity * (1.0 + ROUNDING) {
                return Err(Error::FloorDoesNotFit { flow, floor, link: link as usize, floors, capacity });
            }
        }
        Ok(())
    }

    /// The part of a capacity that rates may fill.
    pub(super) fn used(&self, link: u32) -> f64 {
        self.links.capacities()[link as usize]
    }

    /// Finds what can be kept of every floor, unless it is known.
    pub(super) fn keep_floors(&mut self) {
        if self.floors.is_current || self.floors.are_none() && self.floors.given.is_empty() {
            return;
        }
        let links = self.links();
        let paths: Vec<OwnPath> =
            self.floors.of.keys().map(|&slot| self.path_at(self.table.slots[slot as usize].spot)).collect();
        let works: Vec<bool> = paths.iter().map(|path| self.narrowest(path.get()) > 0.0).collect();
        let capacities = self.links.capacities();
        let Floors { of, given, kept, is_current } = &mut self.floors;
        // Anew, so that what was added and subtracted leaves nothing.
        given.clear();
        given.resize(links, 0.0);
        let mut together = vec![0.0; links];
        for ((floor, path), works) in of.values().zip(&paths).zip(&works) {
            for (link, a) in path.get().entries() {
                given[link as usize] += a * floor.given;
                together[link as usize] += if *works { a * floor.given } else { 0.0 };
            }
        }
        kept.clear();
        kept.resize(links, 0.0);
        for ((floor, path), works) in of.values_mut().zip(&paths).zip(works) {
            let part = |(link, _): (u32, f64)| capacities[link as usize] / together[link as usize];
            let part = path.get().entries().map(part).fold(1.0, f64::min);
            floor.kept = if works { part * floor.given } else { 0.0 };
            path.get().entries().for_each(|(link, a)| kept[link as usize] += a * floor.kept);
        }
        *is_current = true;
    }

    /// The flows whose floors are not kept, by slot.
    pub(super) fn broken_floors(&mut self) -> Vec<FlowId> {
        self.keep_floors();
        let broken = self.floors.of.iter().filter(|(_, floor)| floor.kept < floor.given * (1.0 - ROUNDING));
        broken.map(|(&slot, _)| self.table.id(slot)).collect()
    }

    /// What is left of a link beside floors, and of its load.
    pub(super) fn above_floors(&self, link: usize, load: f64) -> [f64; 2] {
        let (kept, capacity) = (self.floors.kept.get(link).copied().unwrap_or(0.0), self.links.capacities()[link]);
        let above = load - kept;
        let is_rounding = kept > 0.0 && above <= ROUNDING * capacity;
        [(capacity - kept).max(0.0), if is_rounding { 0.0 } else { above }]
    }

    /// Sets the feasible rates of flows with floors, given the fraction of every link that is left of what is above
    /// them.
    pub(super) fn normalize_floors(&mut self, fractions: &[f64]) {
        for (&slot, floor) in &self.floors.of {
            let spot = self.table.slots[slot as usize].spot;
            let least = |least: f64, &link: &u32| least.min(fractions[link as usize]);
            let least = self.flows.path(spot).iter().fold(1.0, least);
            let [demand, _] = self.flows.rates(spot);
            self.flows.set_rates(spot, [demand, floor.kept + (demand - floor.kept).max(0.0) * least]);
        }
    }
}

/// Flows that demand no less than their floors.
pub(super) struct AboveFloors<'a> {
    pub(super) flows: &'a mut LiveFlows,
    pub(super) floors: &'a Floors,
    pub(super) slots: &'a [Slot],
}

impl Respond for AboveFloors<'_> {
    fn respond(&mut self, prices: &[f64], priced: Option<&[f64]>, sums: &mut [[f64; 2]]) -> Result<()> {
        self.flows.respond(prices, priced, sums)?;
        for (&slot, floor) in &self.floors.of {
            let spot = self.slots[slot as usize].spot;
            let [demand, feasible] = self.flows.rates(spot);
            if demand < floor.kept {
                // Its slope stays: a step is the shorter for it.
                self.flows.set_rates(spot, [floor.kept, feasible]);
                let more = self.flows.rates(spot)[0] - demand;
                let (links, coefficients) = (self.flows.path(spot), self.flows.coefficients(spot));
                let path = Path { links: &links, coefficients: coefficients.as_deref() };
                path.entries().for_each(|(link, a)| sums[link as usize][0] += a * more);
            }
        }
        Ok(())
    }

    fn rates_into(&self, rates: &mut [f64]) {
        self.flows.rates_into(rates);
    }

    fn accepted(&mut self) {
        self.flows.accepted();
    }
}
