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
use rustc_hash::FxHashMap;

use super::floors::{AboveFloors, Floors};
use super::flow_table::{FlowId, FlowTable};
use super::link_flows::LinkFlows;
use super::path::{Collected, OwnPath, Path};
use super::several::{AloneCaps, PathSet};
use crate::flow_blocks::{LiveFlows, Precision, Sample, Spot};

/// The largest weight of a flow in a max-min by demand, in parts of what its path can carry.
const HEAVIEST: f64 = 1e6;

/// A flow, as an engine has it.
pub(super) struct Flow<'a> {
    pub(super) id: FlowId,
    pub(super) path: Path<'a>,
    pub(super) utility: PowerLaw,
    /// As demanded, and as the last normalizer left it.
    pub(super) rates: [f64; 2],
}

/// A price iteration over flows that start and end: a step at a time, prices staying where they are in between.
///
/// In a step every flow demands the rate that its utility gives at the present prices, links add these up, and prices
/// move by the rule: one of the library, or [user-defined](Rule::user). Flows of a length and law stand together in
/// columns, so that starting and ending one is a few writes, and a step reads memory in order; those with several paths
/// too.
/// The answer has the same bits for any number of threads: the order of all additions follows from the links, the
/// typical paths and the calls.
///
/// Flows whose rates, prices or slopes are out of the range of the [`Precision`] are refused.
pub struct Engine {
    /// Prices of links, and their sums in the last step or response.
    pub links: LinkPrices,
    pub(super) flows: LiveFlows,
    pub(super) table: FlowTable,
    /// By slot, the paths of the flows that have several.
    pub(super) several: FxHashMap<u32, PathSet>,
    /// By slot, the caps of flows whose only path has one.
    pub(super) path_caps: FxHashMap<u32, AloneCaps>,
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
    /// The rates that flows are guaranteed.
    pub(super) floors: Floors,
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
            Path::ones(links).check(path, count)?;
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
        let (table, fractions, floors, ranks) = (FlowTable::default(), Vec::new(), Floors::default(), Ranks::alone());
        Ok(Self {
            links,
            flows,
            table,
            several: FxHashMap::default(),
            path_caps: FxHashMap::default(),
            nominal,
            sample,
            threads,
            link_flows: None,
            pinned: false,
            fractions,
            floors,
            ranks,
        })
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
        let path = Path::ones(path);
        self.table.check_room(1)?;
        self.check(0, path, &utility)?;
        Ok(self.start_checked(path, utility))
    }

    /// Starts a flow that has been [checked](Self::check).
    pub(super) fn start_checked(&mut self, path: Path<'_>, utility: PowerLaw) -> FlowId {
        let demand = utility.over(self.narrowest(path));
        let spot = self.flows.add(self.table.next_slot(), path.links, path.coefficients, &demand, [0.0; 2]);
        let id = self.table.start(spot, &utility);
        self.floors.insert(id.slot() as u32, path, utility.floor, self.nominal.len());
        self.enter_links(id, path.links);
        id
    }

    /// Takes back what [`start_checked`](Self::start_checked) did last and has not been returned.
    pub(super) fn take_back(&mut self, id: FlowId) {
        self.leave_links(id);
        let spot = self.table.slots[id.slot()].spot;
        self.drop_floor(id, spot);
        self.take_out(id.slot() as u32, spot);
        self.table.take_back(id);
    }

    /// Whether a flow could start. O(links of its path).
    ///
    /// # Errors
    /// Those of [`start`](Self::start), which call it path and flow `number`.
    pub(super) fn check(&self, number: usize, path: Path<'_>, utility: &PowerLaw) -> Result<()> {
        path.check(number, self.links())?;
        self.check_utility(number, path, utility)
    }

    /// Whether a flow over a path that exists could have this utility.
    fn check_utility(&self, flow: usize, path: Path<'_>, utility: &PowerLaw) -> Result<()> {
        utility.check(flow)?;
        self.links.rule().check_alpha(flow, utility.alpha)?;
        check_utility(flow, path, utility, |link| self.nominal[link as usize], self.flows.precision())
    }

    /// The largest rate that fits on a path.
    pub(super) fn narrowest(&self, path: Path<'_>) -> f64 {
        path.narrowest(|link| self.links.capacities()[link as usize])
    }

    /// Ends a flow. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn end(&mut self, id: FlowId) -> Result<()> {
        let spot = self.table.get(id)?.spot;
        self.leave_links(id);
        self.drop_floor(id, spot);
        self.take_out(id.slot() as u32, spot);
        self.table.end(id);
        self.links.network_changed();
        Ok(())
    }

    /// A flow in a spot has no floor from now on.
    pub(super) fn drop_floor(&mut self, id: FlowId, spot: Spot) {
        let Self { flows, floors, .. } = self;
        floors.remove(id.slot() as u32, || OwnPath { links: flows.path(spot), coefficients: flows.coefficients(spot) });
    }

    /// The utility of the flow of a slot.
    pub(super) fn utility_of(&self, slot: usize) -> PowerLaw {
        self.table.slots[slot].utility().with_floor(self.floors.given(slot as u32))
    }

    /// Takes a flow out of its block.
    pub(super) fn take_out(&mut self, slot: u32, spot: Spot) {
        self.path_caps.remove(&slot);
        let moved = match self.several.remove(&slot) {
            None => self.flows.remove(spot),
            Some(_) => self.flows.remove_several(spot),
        };
        if let Some(moved) = moved {
            self.table.slots[moved as usize].spot = spot;
        }
    }

    /// A flow is on the links of its path now.
    pub(super) fn enter_links(&mut self, id: FlowId, path: &[u32]) {
        self.links.network_changed();
        if let Some(link_flows) = &mut self.link_flows {
            link_flows.enter(id, path);
        }
    }

    /// A flow leaves the links of its path.
    pub(super) fn leave_links(&mut self, id: FlowId) {
        if let Some(link_flows) = self.link_flows.take() {
            let links = match self.several.get(&(id.slot() as u32)) {
                None => self.flows.path(self.table.slots[id.slot()].spot).len(),
                Some(paths) => paths.links().len(),
            };
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
        let path = path.map(Path::ones);
        self.check_change(0, id, path, utility.as_ref())?;
        self.change_checked(id, path, utility);
        Ok(())
    }

    /// Whether a flow could change so; `number` is what an error calls the path.
    pub(super) fn check_change(
        &self,
        number: usize,
        id: FlowId,
        path: Option<Path<'_>>,
        utility: Option<&PowerLaw>,
    ) -> Result<()> {
        let (spot, old) = (self.table.get(id)?.spot, self.utility_of(id.slot()));
        let (flow, utility) = (id.to_bits() as usize, utility.unwrap_or(&old));
        match path {
            Some(path) => {
                path.check(number, self.links())?;
                self.check_utility(flow, path, utility)
            }
            None => self.check_utility(flow, self.path_at(spot).get(), utility),
        }
    }

    /// Changes a flow that has been [checked](Self::check_change).
    pub(super) fn change_checked(&mut self, id: FlowId, path: Option<Path<'_>>, utility: Option<PowerLaw>) {
        let spot = self.table.slots[id.slot()].spot;
        let utility = utility.unwrap_or(self.utility_of(id.slot()));
        let (rates, before) = (self.flows.rates(spot), self.path_at(spot));
        let before = before.get();
        if path.is_some() {
            self.leave_links(id);
        }
        self.drop_floor(id, spot);
        self.take_out(id.slot() as u32, spot);
        let stays = path.is_none_or(|path| path == before);
        let rates = rates.map(|rate| if stays { rate.min(utility.cap) } else { 0.0 });
        self.place(Flow { id, path: path.unwrap_or(before), utility, rates });
        self.enter_links(id, path.map_or(&[][..], |path| path.links));
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
        self.keep_floors();
        let Self { flows, floors, table, links, ranks, .. } = self;
        let flows = &mut Reduced::new(AboveFloors { flows, floors, slots: &table.slots }, ranks.clone());
        match links.has_started() {
            true => links.respond(flows)?,
            false => links.start(flows)?,
        }
        links.advance();
        Ok(())
    }

    /// Computes the demands at the present prices, which stay. O(flows + links).
    ///
    /// # Errors
    /// Those of [`step`](Self::step).
    pub(super) fn respond(&mut self) -> Result<()> {
        self.keep_floors();
        let Self { flows, floors, table, links, ranks, .. } = self;
        links.respond_once(&mut Reduced::new(AboveFloors { flows, floors, slots: &table.slots }, ranks.clone()))
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
        let spot = self.table.get(id)?.spot;
        Ok(match self.several.contains_key(&(id.slot() as u32)) {
            false => self.flows.rates(spot),
            true => self.flows.of_paths(spot).into_iter().map(|path| path.rates).fold([0.0; 2], add),
        })
    }

    /// The links of a flow, in the order that they were given in.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn path(&self, id: FlowId) -> Result<Vec<u32>> {
        Ok(self.own_path(id)?.links)
    }

    /// The path of a flow.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub(super) fn own_path(&self, id: FlowId) -> Result<OwnPath> {
        Ok(self.path_at(self.table.get(id)?.spot))
    }

    pub(super) fn path_at(&self, spot: Spot) -> OwnPath {
        OwnPath { links: self.flows.path(spot), coefficients: self.flows.coefficients(spot) }
    }

    /// Makes the rates of the last step or response feasible. Flows over a failed link get nothing, and do not count.
    /// O(flows + links), about half a step, by F-NORM and U-NORM; with another normalizer O(crossings), and what it
    /// takes, on one thread.
    pub fn normalize(&mut self, by: Normalization) {
        match by {
            Normalization::FNorm => {
                self.find_fractions();
                self.normalize_by_fractions();
            }
            Normalization::UNorm => {
                self.find_fractions();
                let capacities = self.links.capacities();
                let working = self.fractions.iter().zip(capacities).filter(|(_, capacity)| **capacity > 0.0);
                let smallest = working.map(|(&fraction, _)| fraction).fold(1.0, f64::min);
                for (fraction, &capacity) in self.fractions.iter_mut().zip(capacities) {
                    *fraction = if capacity > 0.0 { smallest } else { 0.0 };
                }
                self.normalize_by_fractions();
            }
            other => self.normalize_what(&other, |flow, _, _| flow.rates[0]),
        }
    }

    fn normalize_by_fractions(&mut self) {
        self.flows.normalize(&self.fractions);
        let fractions = std::mem::take(&mut self.fractions);
        self.normalize_floors(&fractions);
        self.fractions = fractions;
    }

    /// min(1, c_l/y_l) of every link, of what is above floors.
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
        if self.floors.are_none() {
            return;
        }
        for (link, &[load, _]) in self.links.sums().iter().enumerate() {
            let [capacity, load] = self.above_floors(link, load);
            self.fractions[link] = if load > capacity { capacity / load } else { 1.0 };
        }
    }

    /// Rates by a max-min of what flows would demand at the present prices if paths could carry it, up to a million
    /// times what they can: a flow of a larger weight gets more even before prices have followed. O(crossings), and a
    /// max-min, on one thread.
    pub(super) fn fill_by_demand(&mut self) {
        let prices = self.links.prices().to_vec();
        self.normalize_what(&Fill, |flow, narrowest, share| {
            let price: f64 = flow.path.entries().map(|(link, a)| a * prices[link as usize]).sum();
            let demand = PowerLaw { cap: f64::INFINITY, ..flow.utility }.demand(price);
            share * demand.min(HEAVIEST * narrowest)
        });
    }

    /// Normalizes what `rate` gives for a flow on whose path such a rate fits at most, and for a path with such a share
    /// of its flow, as far as it is above floors.
    fn normalize_what(&mut self, normalizer: &impl Normalizer, rate: impl Fn(&Flow<'_>, f64, f64) -> f64) {
        let (mut paths, mut rates, mut caps, mut floors) = (Collected::default(), Vec::new(), Vec::new(), Vec::new());
        let Ok(()) = self.each_flow::<Infallible>(|flow| {
            let narrowest = self.narrowest(flow.path);
            paths.push(flow.path);
            let kept = self.floors.kept(flow.id.slot() as u32);
            rates.push(if narrowest == 0.0 { 0.0 } else { (rate(&flow, narrowest, 1.0) - kept).max(0.0) });
            caps.push(flow.utility.cap - kept);
            floors.push(kept);
            Ok(())
        });
        let mut left: Vec<f64> = (0..self.links()).map(|link| self.above_floors(link, 0.0)[0]).collect();
        let Ok(()) = self.each_several::<Infallible>(|flow| {
            // A cap of the flow is a link of its own on all its paths.
            let cap = flow.utility.cap.is_finite().then(|| {
                left.push(flow.utility.cap);
                left.len() as u32 - 1
            });
            for ((path, of_path), &most) in flow.paths.iter().zip(&flow.state).zip(&flow.paths.caps) {
                let (narrowest, own) = (self.narrowest(path).min(most), of_path.rates);
                paths.push_and(path, cap);
                let flow = Flow { id: flow.id, path, utility: flow.utility, rates: own };
                rates.push(if narrowest == 0.0 { 0.0 } else { rate(&flow, narrowest, of_path.share) });
                caps.push(most);
                floors.push(0.0);
            }
            Ok(())
        });
        normalizer.normalize_capped(&left, &paths.paths(), &caps, &mut rates);
        rates.iter_mut().zip(floors).for_each(|(rate, floor)| *rate += floor);
        self.flows.set_feasible_rates(rates);
    }

    /// Makes the layout anew, for the flows that are there now: worth its time when they have become many more, or run
    /// elsewhere. Rates, prices and ids stay; sums come in another order. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Threads`], [`Error::Stopped`]; nothing has changed then.
    pub fn lay_out(&mut self) -> Result<()> {
        let (mut paths, mut pacer) = (Collected::default(), Pacer::new());
        self.each_flow(|flow| {
            paths.push(flow.path);
            pacer.did(flow.path.links.len())
        })?;
        self.collect_several(&mut paths, &mut pacer)?;
        let is_weighted = paths.are_link_by_link();
        let sample = Sample { is_weighted, ..Sample::of(self.links(), &paths.paths())? };
        let mut flows = LiveFlows::new(self.links(), &sample, self.flows.precision(), self.threads)?;
        let mut spots = Vec::with_capacity(self.flows());
        self.each_flow(|Flow { id, path, utility, rates }| {
            let demand = utility.over(self.narrowest(path));
            let spot = flows.add(id.slot() as u32, path.links, path.coefficients, &demand, rates);
            spots.push((id, spot));
            pacer.did(2 * path.links.len())
        })?;
        let mut several = Vec::new();
        self.each_several(|flow| {
            several.push((flow.id, flow.utility, flow.state));
            pacer.did(2 * flow.paths.links().len())
        })?;
        spots.into_iter().for_each(|(id, spot)| self.table.slots[id.slot()].spot = spot);
        (self.flows, self.sample) = (flows, sample);
        let sets = std::mem::take(&mut self.several);
        for (id, utility, state) in several {
            let slot = id.slot() as u32;
            self.table.slots[id.slot()].spot = self.put(slot, &sets[&slot], &utility, Some(&state));
        }
        self.several = sets;
        if self.pinned {
            self.flows.pin();
        }
        Ok(())
    }

    /// Puts a flow that has a slot where the layout says.
    pub(super) fn place(&mut self, Flow { id, path, utility, rates }: Flow<'_>) {
        let demand = utility.over(self.narrowest(path));
        let spot = self.flows.add(id.slot() as u32, path.links, path.coefficients, &demand, rates);
        self.floors.insert(id.slot() as u32, path, utility.floor, self.nominal.len());
        let slot = &mut self.table.slots[id.slot()];
        slot.spot = spot;
        slot.set_utility(&utility);
    }

    /// Number of links.
    pub(super) fn links(&self) -> usize {
        self.links.capacities().len()
    }

    /// Calls a function with every flow: its rate as demanded and as the last normalizer left it. O(flows).
    pub(super) fn each_rate(&self, mut look: impl FnMut(FlowId, [f64; 2])) {
        self.flows.each_rate(|slot, rates| look(self.table.id(slot), rates));
        let Ok(()) = self.flows.each_several::<Infallible>(|slot, paths| {
            look(self.table.id(slot), paths.fold([0.0; 2], add));
            Ok(())
        });
    }

    /// Calls a function with every flow that has one path, block by block, until one is refused.
    pub(super) fn each_flow<E>(&self, mut look: impl FnMut(Flow<'_>) -> Result<(), E>) -> Result<(), E> {
        self.flows.each_flow(|slot, links, coefficients, rates| {
            let utility = self.utility_of(slot as usize);
            look(Flow { id: self.table.id(slot), path: Path { links, coefficients }, utility, rates })
        })
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({} flows, {} links)", self.flows(), self.links())
    }
}

fn add(one: [f64; 2], other: [f64; 2]) -> [f64; 2] {
    [one[0] + other[0], one[1] + other[1]]
}

/// Whether a flow may have this utility over a path of links that have these capacities when none has failed; 0 for one
/// that has not had any.
///
/// # Errors
/// [`Error::Unlimited`]; [`Error::Parameter`] for a flow whose numbers, or what it puts on links, are out of range.
pub(super) fn check_utility(
    flow: usize,
    path: Path<'_>,
    utility: &PowerLaw,
    nominal: impl Fn(u32) -> f64,
    precision: Precision,
) -> Result<()> {
    let working = path.narrowest(|link| if nominal(link) > 0.0 { nominal(link) } else { UNLIMITED });
    // ∞ where no link has had a capacity.
    let working = if path.links.iter().any(|&link| nominal(link) > 0.0) { working } else { f64::INFINITY };
    if working == UNLIMITED && utility.cap == f64::INFINITY {
        return Err(Error::Unlimited { flow });
    }
    utility.check_range(flow, working, precision.largest())?;
    if path.coefficients.is_none() || working == f64::INFINITY {
        return Ok(());
    }
    let rate = utility.ceiling(working);
    let price = utility.marginal(rate);
    let held = precision.largest().recip()..=precision.largest();
    let fits = |value: f64| {
        let slope = value * value * rate / price;
        [value * rate, price / value, slope, slope / utility.alpha].iter().all(|number| held.contains(number))
    };
    match path.entries().find(|&(_, value)| !fits(value)) {
        None => Ok(()),
        Some((_, value)) => {
            let expected = "a number nearer to 1: what its link carries, or its price, goes out of range";
            Err(Error::Parameter { flow, name: "coefficient", value, expected })
        }
    }
}
