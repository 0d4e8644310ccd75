//! Capacities that change while flows are there: planned and checked first, done then, or not at all.

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::{UNLIMITED, check_capacity, check_length};
use netnum_core::{Error, Result};
use rustc_hash::FxHashMap;

use super::FlowId;
use super::engine::{Engine, check_utility};
use super::link_flows::LinkFlows;

/// New capacities of some links, and the new lowest prices of the flows there.
pub(super) struct CapacityChange {
    /// By link.
    pub(super) capacities: FxHashMap<u32, f64>,
    /// The flows over these links, by slot, with the prices below which their rates do not grow, and the most that each
    /// path carries where there are several.
    pub(super) flows: Vec<(FlowId, f64, Vec<f64>)>,
}

impl Engine {
    /// Changes the capacity of a link. At 0 it has failed: its flows demand next to nothing and its price does not move
    /// until it returns. O(its flows), and once, when a capacity first changes, O(crossings).
    ///
    /// # Errors
    /// Those of [`Allocator::set_capacities`](super::Allocator::set_capacities); nothing has changed then.
    pub fn set_capacity(&mut self, link: u32, capacity: f64) -> Result<()> {
        let change = self.plan_capacities(&[link], &[capacity])?;
        self.commit_capacities(change)
    }

    /// A change of capacities that is allowed, and not done as yet.
    pub(super) fn plan_capacities(&mut self, links: &[u32], capacities: &[f64]) -> Result<CapacityChange> {
        check_length("capacities", capacities.len(), links.len(), "link")?;
        let mut changed = FxHashMap::default();
        for (&link, &capacity) in links.iter().zip(capacities) {
            self.links.check_link(link)?;
            check_capacity(link as usize, capacity)?;
            if changed.insert(link, capacity).is_some() {
                return Err(Error::LinkTwice { link: link as usize });
            }
        }
        let flows = self.flows_over(links)?;
        let flows = self.with_lowest_prices(&flows, &changed)?;
        Ok(CapacityChange { capacities: changed, flows })
    }

    /// Makes a change, planned with nothing else in between.
    pub(super) fn commit_capacities(&mut self, change: CapacityChange) -> Result<()> {
        for (id, price, ceilings) in change.flows {
            let spot = self.table.slots[id.slot()].spot;
            match self.several.contains_key(&(id.slot() as u32)) {
                false => self.flows.set_floor(spot, price),
                true => self.flows.set_limits(spot, price, &ceilings),
            }
        }
        for (link, capacity) in change.capacities {
            self.links.set_capacity(link, capacity)?;
            if capacity > 0.0 {
                self.nominal[link as usize] = self.links.capacities()[link as usize];
            }
        }
        self.links.network_changed();
        self.floors.network_changed();
        Ok(())
    }

    /// All flows over some links, by slot.
    fn flows_over(&mut self, links: &[u32]) -> Result<Vec<FlowId>> {
        let mut pacer = Pacer::new();
        if links.is_empty() || self.flows() == 0 {
            return Ok(Vec::new());
        }
        let mut link_flows = match self.link_flows.take() {
            Some(link_flows) => link_flows,
            None => {
                let mut link_flows = LinkFlows::new(self.links());
                self.each_flow(|flow| {
                    link_flows.enter(flow.id, flow.path.links);
                    pacer.did(flow.path.links.len())
                })?;
                self.each_several(|flow| {
                    link_flows.enter(flow.id, flow.paths.links());
                    pacer.did(flow.paths.links().len())
                })?;
                link_flows
            }
        };
        let mut flows = Vec::new();
        let mut stopped = Ok(());
        for &link in links {
            let before = flows.len();
            link_flows.append(link, &mut flows, |id| {
                self.table.find(id).is_some_and(|slot| match self.several.get(&(id.slot() as u32)) {
                    None => self.flows.path(slot.spot).contains(&link),
                    Some(paths) => paths.links().contains(&link),
                })
            });
            stopped = stopped.and(pacer.did(1 + flows.len() - before));
        }
        self.link_flows = Some(link_flows);
        stopped?;
        flows.sort_unstable_by_key(|id| id.slot());
        flows.dedup();
        Ok(flows)
    }

    /// The lowest prices of flows at these capacities of some links.
    fn with_lowest_prices(
        &self,
        flows: &[FlowId],
        changed: &FxHashMap<u32, f64>,
    ) -> Result<Vec<(FlowId, f64, Vec<f64>)>> {
        let capacity = |link: u32| changed.get(&link).copied().unwrap_or(self.links.capacities()[link as usize]);
        let nominal = |link: u32| match changed.get(&link) {
            Some(&capacity) if capacity > 0.0 => capacity.min(UNLIMITED),
            _ => self.nominal[link as usize],
        };
        let (mut found, mut pacer) = (Vec::with_capacity(flows.len()), Pacer::new());
        for &id in flows {
            let slot = self.table.slots[id.slot()];
            let utility = slot.utility();
            if let Some(paths) = self.several.get(&(id.slot() as u32)) {
                self.check_range(id.to_bits() as usize, paths, &utility, nominal)?;
                let (ceilings, narrowest) = self.limits(paths, |link| capacity(link).min(UNLIMITED));
                found.push((id, utility.lowest_price(narrowest), ceilings));
                pacer.did(3 * paths.links().len())?;
                continue;
            }
            let own = self.path_at(slot.spot);
            let path = own.get();
            check_utility(id.to_bits() as usize, path, &utility, nominal, self.flows.precision())?;
            found.push((id, utility.lowest_price(path.narrowest(capacity)), Vec::new()));
            pacer.did(path.links.len())?;
        }
        Ok(found)
    }
}
