//! Capacities that change while flows are there: planned and checked first, done then, or not at all.

use netnum_core::internal::check_capacity;
use netnum_core::internal::interrupt::Pacer;
use netnum_core::{Error, Result};
use rustc_hash::FxHashMap;

use super::Engine;
use super::link_flows::LinkFlows;

/// New capacities of some links, and what they do to the flows there.
pub(crate) struct CapacityChange {
    links: Vec<u32>,
    capacities: Vec<f64>,
    /// Numbers of the flows, and their floors.
    flows: Vec<u32>,
    floors: Vec<f64>,
}

impl CapacityChange {
    /// Numbers of the flows over these links.
    pub(crate) fn flows(&self) -> &[u32] {
        &self.flows
    }
}

impl Engine {
    /// Changes the capacity of a link. At 0 it has failed: its flows demand next to nothing and its price does not move
    /// until it returns. O(its flows), and once, when a capacity first changes, O(crossings).
    ///
    /// # Errors
    /// Those of [`set_capacities`](Self::set_capacities); nothing has changed then.
    pub fn set_capacity(&mut self, link: u32, capacity: f64) -> Result<()> {
        self.set_capacities(&[link], &[capacity])
    }

    /// Changes the capacities of many links, or none where one is wrong. O(their flows), and once O(crossings).
    ///
    /// # Errors
    /// [`Error::Length`] unless every link has a capacity; [`Error::UnknownLink`], [`Error::LinkTwice`],
    /// [`Error::Capacity`]; [`Error::Parameter`] as [`add`](Self::add) where a flow's prices would go out of range,
    /// which is then named by its id; [`Error::Stopped`]. Nothing has changed then.
    pub fn set_capacities(&mut self, links: &[u32], capacities: &[f64]) -> Result<()> {
        let change = self.plan_capacities(links, capacities)?;
        self.commit_capacities(change)
    }

    /// What a change of capacities does, all of it allowed, none of it done.
    pub(crate) fn plan_capacities(&mut self, links: &[u32], capacities: &[f64]) -> Result<CapacityChange> {
        if links.len() != capacities.len() {
            let (found, expected) = (capacities.len(), links.len());
            return Err(Error::Length { what: "capacities".into(), found, expected, per: "link" });
        }
        let mut changed = FxHashMap::default();
        for (&link, &capacity) in links.iter().zip(capacities) {
            self.links.check_link(link)?;
            check_capacity(link as usize, capacity)?;
            if changed.insert(link, capacity).is_some() {
                return Err(Error::LinkTwice { link: link as usize });
            }
        }
        let flows = self.flows_over(links)?;
        let floors = self.floors(&flows, &changed)?;
        Ok(CapacityChange { links: links.to_vec(), capacities: capacities.to_vec(), flows, floors })
    }

    /// Does what was planned, with nothing else in between.
    pub(crate) fn commit_capacities(&mut self, change: CapacityChange) -> Result<()> {
        let CapacityChange { links, capacities, flows, floors } = change;
        for (number, floor) in flows.into_iter().zip(floors) {
            self.flows.set_floor(self.table.slots[number as usize].spot, floor);
        }
        for (link, capacity) in links.into_iter().zip(capacities) {
            self.links.set_capacity(link, capacity)?;
            if capacity > 0.0 {
                self.nominal[link as usize] = capacity;
            }
        }
        self.links.network_changed();
        Ok(())
    }

    /// The numbers of all flows over some links, in increasing order.
    fn flows_over(&mut self, links: &[u32]) -> Result<Vec<u32>> {
        let mut pacer = Pacer::new();
        if links.is_empty() || self.flows() == 0 {
            return Ok(Vec::new());
        }
        let mut link_flows = match self.link_flows.take() {
            Some(link_flows) => link_flows,
            None => {
                let mut link_flows = LinkFlows::new(self.links());
                self.flows.each_flow(|number, path, _, _| {
                    link_flows.enter(number, self.table.id(number).generation(), path);
                    pacer.did(path.len())
                })?;
                link_flows
            }
        };
        let mut flows = Vec::new();
        let mut stopped = Ok(());
        for &link in links {
            let before = flows.len();
            link_flows.append(link, &mut flows, |number, generation| {
                let slot = self.table.slots[number as usize];
                slot.generation == generation && self.flows.path(slot.spot).contains(&link)
            });
            stopped = stopped.and(pacer.did(1 + flows.len() - before));
        }
        self.link_flows = Some(link_flows);
        stopped?;
        flows.sort_unstable();
        flows.dedup();
        Ok(flows)
    }

    /// The floors of these flows where some capacities are others.
    fn floors(&self, flows: &[u32], changed: &FxHashMap<u32, f64>) -> Result<Vec<f64>> {
        let capacity = |link: u32| changed.get(&link).copied().unwrap_or(self.links.capacities()[link as usize]);
        let nominal = |link: u32| match changed.get(&link) {
            Some(&capacity) if capacity > 0.0 => capacity,
            _ => self.nominal[link as usize],
        };
        let (mut floors, mut pacer) = (Vec::with_capacity(flows.len()), Pacer::new());
        for &number in flows {
            let slot = self.table.slots[number as usize];
            let path = self.flows.path(slot.spot);
            let nominals = path.iter().map(|&link| nominal(link)).filter(|&capacity| capacity > 0.0);
            let nominal = nominals.fold(f64::INFINITY, f64::min);
            slot.law.check_range(self.table.id(number).as_flow(), nominal, self.flows.precision().largest())?;
            let smallest = path.iter().map(|&link| capacity(link)).fold(f64::INFINITY, f64::min);
            floors.push(slot.law.floor(smallest));
            pacer.did(path.len())?;
        }
        Ok(floors)
    }
}
