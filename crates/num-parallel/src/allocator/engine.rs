//! The price iteration of an allocator, over flows that start and end.
//!
//! The iteration itself is [`LinkPrices`] over [`LiveFlows`].

use std::convert::Infallible;
use std::fmt;
use std::num::NonZeroUsize;

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::numerics::vectorized;
use netnum_core::internal::{LinkPrices, Reduced, UNLIMITED};
use netnum_core::price::Rule;
use netnum_core::{Error, Fill, Normalization, Normalizer, Paths, PowerLaw, Ranks, Result};

use super::flow_table::{FlowId, FlowTable, Slot};
use super::link_flows::LinkFlows;
use crate::flow_blocks::{LiveFlows, Precision, Sample, Spot};

/// The largest weight of a flow in a max-min by demand, in parts of what its path can carry.
const HEAVIEST: f64 = 1e6;

/// A flow, as an engine has it.
pub(super) struct Flow<'a> {
    pub(super) id: FlowId,
    pub(super) path: &'a [u32],
    pub(super) utility: PowerLaw,
    /// As demanded, and as the last normalizer left it.
    pub(super) rates: [f64; 2],
}

/// A price iteration over flows that start and end: a step at a time, prices staying where they are in between.
///
/// In a step every flow demands the rate that its utility gives at the present prices, links add these up, and prices
/// move by the rule: one of the library, or [user-defined](Rule::user). Flows have one path each; those of a length and
/// law stand together in columns, so that starting and ending one is a few writes, and a step reads memory in order.
/// The answer has the same bits for any number of threads: the order of all additions follows from the links, the
/// typical paths and the calls.
///
/// Flows whose rates, prices or slopes are out of the range of the [`Precision`] are refused.
pub struct Engine {
    /// Prices of links, and their sums in the last step or response.
    pub links: LinkPrices,
    pub(super) flows: LiveFlows,
    pub(super) table: FlowTable,
    /// Of every link, the last capacity above 0; 0 before it has had one. Flows are checked against these, so that a
    /// link that has failed may return as it was.
    pub(super) nominal: Vec<f64>,
    /// Paths that the layout was made from.
    pub(super) sample: Sample,
    /// The most threads to use; the layout may use fewer.
    threads: NonZeroUsize,
    /// Which flows use a link; computed on first use.
    pub(super) link_flows: Option<LinkFlows>,
    /// Whether workers have a core each.
    pinned: bool,
    /// Factor of every link in a normalization *(derived)*.
    fractions: Vec<f64>,
    /// Who has the other flows over these links.
    pub(super) ranks: Ranks,
}

impl Engine {
    /// An engine for links of these capacities (0 is a failed link), with all prices at 1 and without flows. `typical`
    /// are paths as flows will take them, about as many as there will be at a time: they decide the layout, which is
    /// fast for paths like these and right for any. O(links + typical paths).
    ///
    /// # Errors
    /// [`Error::Capacity`], [`Error::EmptyPath`], [`Error::LinkOutOfRange`], [`Error::RepeatedLink`];
    /// [`Error::Setting`] for a parameter of the rule that is out of its range; [`Error::Threads`], [`Error::Stopped`].
    pub fn new(
        capacities: Vec<f64>,
        typical: &Paths,
        rule: impl Into<Rule>,
        precision: Precision,
        threads: NonZeroUsize,
    ) -> Result<Self> {
        let links = LinkPrices::new(rule, capacities)?;
        let (count, mut pacer) = (links.capacities().len(), Pacer::new());
        for (path, links) in typical.iter().enumerate() {
            check_path(path, links, count)?;
            pacer.did(links.len())?;
        }
        let sample = Sample::of(count, typical)?;
        let nominal = links.capacities().to_vec();
        Self::laid_out(links, nominal, sample, precision, threads)
    }

    pub(super) fn laid_out(
        links: LinkPrices,
        nominal: Vec<f64>,
        sample: Sample,
        precision: Precision,
        threads: NonZeroUsize,
    ) -> Result<Self> {
        let flows = LiveFlows::new(links.capacities().len(), &sample, precision, threads)?;
        let (table, fractions, ranks) = (FlowTable::default(), Vec::new(), Ranks::alone());
        Ok(Self { links, flows, table, nominal, sample, threads, link_flows: None, pinned: false, fractions, ranks })
    }

    /// See [`Allocator::pin`](super::Allocator::pin).
    pub(super) fn pin(&mut self) {
        self.pinned = true;
        self.flows.pin();
    }

    /// Starts a flow, which takes part from the next step on. O(links of its path).
    ///
    /// # Errors
    /// Those of [`Allocator::start`](super::Allocator::start).
    pub fn start(&mut self, path: &[u32], utility: PowerLaw) -> Result<FlowId> {
        self.table.check_room(1)?;
        self.check(0, path, &utility)?;
        Ok(self.start_checked(path, utility))
    }

    /// Starts a flow that has been [checked](Self::check).
    pub(super) fn start_checked(&mut self, path: &[u32], utility: PowerLaw) -> FlowId {
        let demand = utility.over(self.smallest(path));
        let spot = self.flows.add(self.table.next_slot(), path, None, &demand, [0.0; 2]);
        let id = self.table.start(spot, utility);
        self.enter_links(id, path);
        id
    }

    /// Takes back what [`start_checked`](Self::start_checked) did last and has not been returned.
    pub(super) fn take_back(&mut self, id: FlowId) {
        self.leave_links(id);
        self.take_out(self.table.slots[id.slot()].spot);
        self.table.take_back(id);
    }

    /// Whether a flow could start. O(links of its path).
    ///
    /// # Errors
    /// Those of [`start`](Self::start), which call it path and flow `number`.
    pub(super) fn check(&self, number: usize, path: &[u32], utility: &PowerLaw) -> Result<()> {
        check_path(number, path, self.links())?;
        self.check_utility(number, path, utility)
    }

    /// Whether a flow over a path that exists could have this utility.
    fn check_utility(&self, flow: usize, path: &[u32], utility: &PowerLaw) -> Result<()> {
        utility.check(flow)?;
        self.links.rule().check_alpha(flow, utility.alpha)?;
        let nominal = least_working(path, |link| self.nominal[link as usize]);
        check_utility(flow, utility, nominal, self.flows.precision())
    }

    pub(super) fn smallest(&self, path: &[u32]) -> f64 {
        path.iter().map(|&link| self.links.capacities()[link as usize]).fold(f64::INFINITY, f64::min)
    }

    /// Ends a flow. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn end(&mut self, id: FlowId) -> Result<()> {
        let spot = self.table.get(id)?.spot;
        self.leave_links(id);
        self.take_out(spot);
        self.table.end(id);
        self.links.network_changed();
        Ok(())
    }

    /// Takes a flow out of its block.
    fn take_out(&mut self, spot: Spot) {
        if let Some(moved) = self.flows.remove(spot) {
            self.table.slots[moved as usize].spot = spot;
        }
    }

    /// A flow is on the links of its path now.
    fn enter_links(&mut self, id: FlowId, path: &[u32]) {
        self.links.network_changed();
        if let Some(link_flows) = &mut self.link_flows {
            link_flows.enter(id, path);
        }
    }

    /// A flow leaves the links of its path.
    fn leave_links(&mut self, id: FlowId) {
        if let Some(link_flows) = self.link_flows.take() {
            let links = self.flows.path(self.table.slots[id.slot()].spot).len();
            self.link_flows = link_flows.without(links);
        }
    }

    /// Changes the path of a flow, its utility, or both; id and prices stay. On another path it has no rate before the
    /// next step, nor ever more than its cap. O(links of its paths).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`]; those of [`start`](Self::start), which call the path 0, and the flow by its id. Nothing
    /// has changed then.
    pub fn change(&mut self, id: FlowId, path: Option<&[u32]>, utility: Option<PowerLaw>) -> Result<()> {
        self.check_change(0, id, path, utility.as_ref())?;
        self.change_checked(id, path, utility);
        Ok(())
    }

    /// Whether a flow could change so; `number` is what an error calls the path.
    pub(super) fn check_change(
        &self,
        number: usize,
        id: FlowId,
        path: Option<&[u32]>,
        utility: Option<&PowerLaw>,
    ) -> Result<()> {
        let Slot { spot, utility: old, .. } = self.table.get(id)?;
        let (flow, utility) = (id.to_bits() as usize, utility.unwrap_or(old));
        match path {
            Some(path) => {
                check_path(number, path, self.links())?;
                self.check_utility(flow, path, utility)
            }
            None => self.check_utility(flow, &self.flows.path(*spot), utility),
        }
    }

    /// Changes a flow that has been [checked](Self::check_change).
    pub(super) fn change_checked(&mut self, id: FlowId, path: Option<&[u32]>, utility: Option<PowerLaw>) {
        let Slot { spot, utility: old, .. } = self.table.slots[id.slot()];
        let utility = utility.unwrap_or(old);
        let (rates, before) = (self.flows.rates(spot), self.flows.path(spot));
        if path.is_some() {
            self.leave_links(id);
        }
        self.take_out(spot);
        let stays = path.is_none_or(|path| path == before);
        let rates = rates.map(|rate| if stays { rate.min(utility.cap) } else { 0.0 });
        self.place(Flow { id, path: path.unwrap_or(&before), utility, rates });
        self.enter_links(id, path.unwrap_or_default());
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.table.len()
    }

    /// One iteration. O(flows + links), and once more for every time that the rule refuses its last step.
    ///
    /// # Errors
    /// Those of [`Ranks`], where an [`Allocator`](crate::Allocator) is over several.
    pub fn step(&mut self) -> Result<()> {
        let flows = &mut Reduced::new(&mut self.flows, self.ranks.clone());
        match self.links.has_started() {
            true => self.links.respond(flows)?,
            false => self.links.start(flows)?,
        }
        self.links.advance();
        Ok(())
    }

    /// Computes the demands at the present prices, which stay. O(flows + links).
    ///
    /// # Errors
    /// Those of [`step`](Self::step).
    pub(super) fn respond(&mut self) -> Result<()> {
        self.links.respond_once(&mut Reduced::new(&mut self.flows, self.ranks.clone()))
    }

    /// Demand of a flow in the last step or response; 0 before its first.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn rate(&self, id: FlowId) -> Result<f64> {
        Ok(self.rates(id)?[0])
    }

    /// Rate of a flow after the last normalizer; 0 for one that started later.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn feasible_rate(&self, id: FlowId) -> Result<f64> {
        Ok(self.rates(id)?[1])
    }

    /// Its demand and its feasible rate.
    pub(super) fn rates(&self, id: FlowId) -> Result<[f64; 2]> {
        Ok(self.flows.rates(self.table.get(id)?.spot))
    }

    /// The links of a flow, in the order that they were given in.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn path(&self, id: FlowId) -> Result<Vec<u32>> {
        Ok(self.flows.path(self.table.get(id)?.spot))
    }

    /// Makes the rates of the last step or response feasible. Flows over a failed link get nothing, and do not count.
    /// O(flows + links), about half a step, by F-NORM and U-NORM; with another normalizer O(crossings), and what it
    /// takes, on one thread.
    pub fn normalize(&mut self, by: Normalization) {
        match by {
            Normalization::FNorm => {
                self.find_fractions();
                self.flows.normalize(&self.fractions);
            }
            Normalization::UNorm => {
                self.find_fractions();
                let capacities = self.links.capacities();
                let working = self.fractions.iter().zip(capacities).filter(|(_, capacity)| **capacity > 0.0);
                let smallest = working.map(|(&fraction, _)| fraction).fold(1.0, f64::min);
                for (fraction, &capacity) in self.fractions.iter_mut().zip(capacities) {
                    *fraction = if capacity > 0.0 { smallest } else { 0.0 };
                }
                self.flows.normalize(&self.fractions);
            }
            other => self.normalize_what(&other, |flow, _| flow.rates[0]),
        }
    }

    /// min(1, c_l/y_l) of every link.
    fn find_fractions(&mut self) {
        let links = self.links.sums().iter().zip(self.links.capacities());
        self.fractions.resize(self.links.capacities().len(), 1.0);
        let fractions = self.fractions.iter_mut().zip(links);
        vectorized(
            #[inline(always)]
            || {
                for (fraction, (&[load, _], &capacity)) in fractions {
                    *fraction = if load > capacity { capacity / load } else { 1.0 };
                }
            },
        );
    }

    /// Rates by a max-min of what flows would demand at the present prices if paths could carry it, up to a million
    /// times what they can: a flow of a larger weight gets more even before prices have followed. O(crossings), and a
    /// max-min, on one thread.
    pub(super) fn fill_by_demand(&mut self) {
        let prices = self.links.prices().to_vec();
        self.normalize_what(&Fill, |flow, smallest| {
            let price: f64 = flow.path.iter().map(|&link| prices[link as usize]).sum();
            PowerLaw { cap: f64::INFINITY, ..flow.utility }.demand(price).min(HEAVIEST * smallest)
        });
    }

    /// Normalizes what `rate` gives for a flow over a path of that smallest capacity.
    fn normalize_what(&mut self, normalizer: &impl Normalizer, rate: impl Fn(&Flow<'_>, f64) -> f64) {
        let (mut paths, mut rates, mut caps) = (Paths::from_lists([[0; 0]; 0]), Vec::new(), Vec::new());
        let Ok(()) = self.each_flow::<Infallible>(|flow| {
            let smallest = self.smallest(flow.path);
            paths.push(flow.path);
            rates.push(if smallest == 0.0 { 0.0 } else { rate(&flow, smallest) });
            caps.push(flow.utility.cap);
            Ok(())
        });
        normalizer.normalize_capped(self.links.capacities(), &paths, &caps, &mut rates);
        self.flows.set_feasible_rates(rates);
    }

    /// Makes the layout anew, for the flows that are there now: worth its time when they have become many more, or run
    /// elsewhere. Rates, prices and ids stay; sums come in another order. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Threads`], [`Error::Stopped`]; nothing has changed then.
    pub fn lay_out(&mut self) -> Result<()> {
        let (mut paths, mut pacer) = (Paths::from_lists([[0; 0]; 0]), Pacer::new());
        self.each_flow(|flow| {
            paths.push(flow.path);
            pacer.did(flow.path.len())
        })?;
        let sample = Sample::of(self.links(), &paths)?;
        let mut flows = LiveFlows::new(self.links(), &sample, self.flows.precision(), self.threads)?;
        let mut spots = Vec::with_capacity(self.flows());
        self.each_flow(|Flow { id, path, utility, rates }| {
            let spot = flows.add(id.slot() as u32, path, None, &utility.over(self.smallest(path)), rates);
            spots.push((id, spot));
            pacer.did(2 * path.len())
        })?;
        spots.into_iter().for_each(|(id, spot)| self.table.slots[id.slot()].spot = spot);
        (self.flows, self.sample) = (flows, sample);
        if self.pinned {
            self.flows.pin();
        }
        Ok(())
    }

    /// Puts a flow that has a slot where the layout says.
    pub(super) fn place(&mut self, Flow { id, path, utility, rates }: Flow<'_>) {
        let spot = self.flows.add(id.slot() as u32, path, None, &utility.over(self.smallest(path)), rates);
        let slot = &mut self.table.slots[id.slot()];
        (slot.spot, slot.utility) = (spot, utility);
    }

    /// Number of links.
    pub(super) fn links(&self) -> usize {
        self.links.capacities().len()
    }

    /// Calls a function with every flow: its rate as demanded and as the last normalizer left it. O(flows).
    pub(super) fn each_rate(&self, mut look: impl FnMut(FlowId, [f64; 2])) {
        self.flows.each_rate(|slot, rates| look(self.table.id(slot), rates));
    }

    /// Calls a function with every flow, block by block, until one is refused.
    pub(super) fn each_flow<E>(&self, mut look: impl FnMut(Flow<'_>) -> Result<(), E>) -> Result<(), E> {
        self.flows.each_flow(|slot, path, _, rates| {
            let utility = self.table.slots[slot as usize].utility;
            look(Flow { id: self.table.id(slot), path, utility, rates })
        })
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({} flows, {} links)", self.flows(), self.links())
    }
}

/// The smallest capacity of a path when no link has failed, of those that have had one; ∞ where none has.
pub(super) fn least_working(path: &[u32], nominal: impl Fn(u32) -> f64) -> f64 {
    let of_links = path.iter().map(|&link| nominal(link));
    of_links.filter(|&capacity| capacity > 0.0).fold(f64::INFINITY, f64::min)
}

/// Whether a flow may have this utility over a path of this smallest capacity.
pub(super) fn check_utility(flow: usize, utility: &PowerLaw, smallest: f64, precision: Precision) -> Result<()> {
    if smallest == UNLIMITED && utility.cap == f64::INFINITY {
        return Err(Error::Unlimited { flow });
    }
    utility.check_range(flow, smallest, precision.largest())
}

/// Whether a path has links, all of which are there, and none twice.
pub(super) fn check_path(path: usize, links: &[u32], count: usize) -> Result<()> {
    if links.is_empty() {
        return Err(Error::EmptyPath { path });
    }
    for (place, &link) in links.iter().enumerate() {
        if link as usize >= count {
            return Err(Error::LinkOutOfRange { path, link: link.into(), links: count });
        }
        if links[..place].contains(&link) {
            return Err(Error::RepeatedLink { path, link: link as usize });
        }
    }
    Ok(())
}
