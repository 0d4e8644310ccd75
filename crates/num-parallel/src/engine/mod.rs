//! The engine: a price iteration over flows that come and go.
//!
//! | file | what it does |
//! |---|---|
//! | `flow_table.rs` | flows by id |
//! | `capacities.rs` | capacities that change |
//! | `link_flows.rs` | which flows use a link |
//! | `snapshot.rs` | an engine as plain data, and back |
//!
//! The iteration itself is [`LinkPrices`] over [`LiveFlows`].

mod capacities;
mod flow_table;
mod link_flows;
mod snapshot;

use std::convert::Infallible;
use std::fmt;
use std::num::NonZeroUsize;

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::numerics::vectorized;
use netnum_core::internal::{LinkPrices, Reduced};
use netnum_core::price::Rule;
use netnum_core::{Error, Fill, Normalizer, Paths, PowerLaw, Ranks, Result};

use crate::flow_blocks::{LiveFlows, Precision, Sample, Spot};
pub use flow_table::FlowId;
use flow_table::{FlowTable, Slot};
use link_flows::LinkFlows;
pub(crate) use snapshot::EngineSnapshot;

/// The largest weight of a flow in a max-min by demand, in parts of what its path can carry.
const HEAVIEST: f64 = 1e6;

/// A flow, as an engine has it.
pub(crate) struct Flow<'a> {
    pub(crate) id: FlowId,
    pub(crate) path: &'a [u32],
    pub(crate) law: PowerLaw,
    pub(crate) rate: f64,
    pub(crate) feasible: f64,
}

/// A price iteration over flows that come and go: a step at a time, prices staying where they are in between.
///
/// In a step every flow demands the rate that its utility gives at the present prices, links add these up, and prices
/// move by the rule: one of the library, or [user-defined](Rule::user). Flows have one path each; those of a length and
/// law stand together in columns, so that adding and removing one is a few writes, and a step reads memory in order.
/// The answer has the same bits for any number of threads: the order of all additions follows from the links, the
/// typical paths and the calls.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use netnum_core::price::Ned;
/// use netnum_core::{Paths, PowerLaw};
/// use netnum_parallel::Precision;
/// use netnum_parallel::internal::Engine;
///
/// // Two links of 10; a flow over both, and one over each.
/// let typical = Paths::from_lists([vec![0, 1], vec![0], vec![1]]);
/// let mut engine =
///     Engine::new(vec![10.0, 10.0], &typical, Ned::new(0.4), Precision::F64, NonZeroUsize::MIN)?;
/// let long = engine.add(&[0, 1], PowerLaw::log(1.0))?;
/// let short = engine.add(&[0], PowerLaw::log(1.0))?;
/// engine.add(&[1], PowerLaw::log(1.0))?;
/// for _ in 0..100 {
///     engine.step()?;
/// }
/// assert!((engine.rate(long)? - 10.0 / 3.0).abs() < 1e-6);
///
/// // The others share what it leaves.
/// engine.remove(long)?;
/// for _ in 0..100 {
///     engine.step()?;
/// }
/// assert!((engine.rate(short)? - 10.0).abs() < 1e-6);
/// assert!(engine.rate(long).is_err());
/// # Ok::<(), netnum_core::Error>(())
/// ```
///
/// Flows whose rates, prices or slopes are out of the range of the [`Precision`] are refused.
pub struct Engine {
    links: LinkPrices,
    flows: LiveFlows,
    table: FlowTable,
    /// Of every link, the last capacity above 0; 0 before it has had one. Flows are checked against these, so that a
    /// link that has failed may return as it was.
    nominal: Vec<f64>,
    /// What the layout was made from.
    sample: Sample,
    /// The most threads to use; the layout may use fewer.
    threads: NonZeroUsize,
    /// Which flows use a link; computed on first use.
    link_flows: Option<LinkFlows>,
    /// Whether workers have a core each.
    pinned: bool,
    /// What normalization multiplies by, for every link *(derived)*.
    fractions: Vec<f64>,
    /// Who has the other flows over these links.
    ranks: Ranks,
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
        let sample = Sample::of(count, typical.len(), |path| typical.links(path))?;
        let nominal = links.capacities().to_vec();
        Self::laid_out(links, nominal, sample, precision, threads)
    }

    fn laid_out(
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

    /// Keeps each worker thread on a core of its own from now on, so that its part of the data stays in that core's
    /// caches; the calling thread is never moved. On Linux only, and only where there are enough cores beside the
    /// caller's. It helps a process that has the machine to itself, and slows down one whose threads would share those
    /// cores.
    pub fn pin(&mut self) {
        self.pinned = true;
        self.flows.pin();
    }

    /// Adds a flow, which takes part from the next step on. O(links of its path).
    ///
    /// # Errors
    /// [`Error::EmptyPath`], [`Error::LinkOutOfRange`], [`Error::RepeatedLink`] and [`Error::Parameter`], which call it
    /// path 0 and flow 0; the latter also for a flow whose prices no table could hold, be it over a link that has
    /// failed when that returns. [`Error::Unsupported`] for an α that the rule cannot take, [`Error::Setting`] for more
    /// flows than can be numbered.
    pub fn add(&mut self, path: &[u32], law: PowerLaw) -> Result<FlowId> {
        self.check_room(1)?;
        self.check(0, path, &law)?;
        Ok(self.add_checked(path, law))
    }

    /// Whether so many more flows can be numbered.
    pub(crate) fn check_room(&self, flows: usize) -> Result<()> {
        self.table.check_room(flows)
    }

    /// Adds a flow that has been [checked](Self::check).
    pub(crate) fn add_checked(&mut self, path: &[u32], law: PowerLaw) -> FlowId {
        let demand = law.over(self.smallest(path));
        let spot = self.flows.add(self.table.next_number(), path, &demand);
        let id = self.table.begin(spot, law);
        self.links.network_changed();
        if let Some(link_flows) = &mut self.link_flows {
            link_flows.enter(id.number(), id.generation(), path);
        }
        id
    }

    /// Takes back what [`add_checked`](Self::add_checked) did last and has not been returned.
    pub(crate) fn take_back(&mut self, id: FlowId) {
        self.leave_links(id);
        self.take_out(self.table.slots[id.slot()].spot);
        self.table.take_back(id);
    }

    /// Whether a flow could be added. O(links of its path).
    ///
    /// # Errors
    /// Those of [`add`](Self::add), which call it path and flow `number`.
    pub fn check(&self, number: usize, path: &[u32], law: &PowerLaw) -> Result<()> {
        check_path(number, path, self.links())?;
        self.check_law(number, path, law)
    }

    /// Whether a flow over a path that exists could have this utility.
    fn check_law(&self, flow: usize, path: &[u32], law: &PowerLaw) -> Result<()> {
        law.check(flow)?;
        self.links.rule().check_alpha(flow, law.alpha)?;
        law.check_range(flow, self.smallest_nominal(path), self.flows.precision().largest())
    }

    fn smallest(&self, path: &[u32]) -> f64 {
        path.iter().map(|&link| self.links.capacities()[link as usize]).fold(f64::INFINITY, f64::min)
    }

    /// The smallest capacity of a path when no link has failed, of those that have had one; ∞ where none has.
    fn smallest_nominal(&self, path: &[u32]) -> f64 {
        let of_links = path.iter().map(|&link| self.nominal[link as usize]);
        of_links.filter(|&capacity| capacity > 0.0).fold(f64::INFINITY, f64::min)
    }

    /// Ends a flow. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn remove(&mut self, id: FlowId) -> Result<()> {
        let Slot { spot, .. } = *self.table.get(id)?;
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

    /// A flow leaves the links of its path.
    fn leave_links(&mut self, id: FlowId) {
        if self.link_flows.is_none() {
            return;
        }
        let links = self.flows.path(self.table.slots[id.slot()].spot).len();
        self.link_flows = self.link_flows.take().and_then(|link_flows| link_flows.without(links));
    }

    /// Changes the path of a flow, its utility, or both; id and prices stay. On another path it has no rate before the
    /// next step, nor ever more than its cap. O(links of its paths).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`]; those of [`add`](Self::add), which call the path 0, and the flow by its id. Nothing has
    /// changed then.
    pub fn change_flow(&mut self, id: FlowId, path: Option<&[u32]>, law: Option<PowerLaw>) -> Result<()> {
        self.check_change(0, id, path, law.as_ref())?;
        self.change_checked(id, path, law);
        Ok(())
    }

    /// Whether a flow could change so; `number` is what an error calls the path.
    pub(crate) fn check_change(
        &self,
        number: usize,
        id: FlowId,
        path: Option<&[u32]>,
        law: Option<&PowerLaw>,
    ) -> Result<()> {
        let Slot { spot, law: old, .. } = self.table.get(id)?;
        let law = law.unwrap_or(old);
        match path {
            Some(path) => {
                check_path(number, path, self.links())?;
                self.check_law(id.as_flow(), path, law)
            }
            None => self.check_law(id.as_flow(), &self.flows.path(*spot), law),
        }
    }

    /// Changes a flow that has been [checked](Self::check_change).
    pub(crate) fn change_checked(&mut self, id: FlowId, path: Option<&[u32]>, law: Option<PowerLaw>) {
        let Slot { spot, law: old, .. } = self.table.slots[id.slot()];
        let law = law.unwrap_or(old);
        let (rate, feasible) = (self.flows.rate(spot), self.flows.feasible_rate(spot));
        let before = self.flows.path(spot);
        if path.is_some() {
            self.leave_links(id);
        }
        self.take_out(spot);
        self.table.slots[id.slot()].law = law;
        let stays = path.is_none_or(|path| path == before);
        let [rate, feasible] = [rate, feasible].map(|rate| if stays { rate.min(law.cap) } else { 0.0 });
        self.place(Flow { id, path: path.unwrap_or(&before), law, rate, feasible });
        if let (Some(link_flows), Some(path)) = (&mut self.link_flows, path) {
            link_flows.enter(id.number(), id.generation(), path);
        }
        self.links.network_changed();
    }

    /// Whether the rule has seen this network, to be [put back](Self::set_started) where a change is taken back.
    pub(crate) fn has_started(&self) -> bool {
        self.links.has_started()
    }

    pub(crate) fn set_started(&mut self, started: bool) {
        self.links.set_started(started);
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.table.len()
    }

    /// The rule that moves prices.
    pub fn rule(&self) -> &Rule {
        self.links.rule()
    }

    /// # Errors
    /// [`Error::UnknownLink`].
    pub(crate) fn check_link(&self, link: u32) -> Result<()> {
        self.links.check_link(link)
    }

    /// Sets the price of every link, and has the rule start again there.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one per link, [`Error::Price`].
    pub fn set_prices(&mut self, prices: &[f64]) -> Result<()> {
        self.links.set_prices(prices)
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

    /// What flows demand at the present prices, which stay. O(flows + links).
    ///
    /// # Errors
    /// Those of [`step`](Self::step).
    pub fn respond(&mut self) -> Result<()> {
        self.links.respond_once(&mut Reduced::new(&mut self.flows, self.ranks.clone()))
    }

    /// Price of every link.
    pub fn prices(&self) -> &[f64] {
        self.links.prices()
    }

    pub(crate) fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// From now on sums are over the flows of these ranks.
    pub(crate) fn set_ranks(&mut self, ranks: Ranks) {
        self.ranks = ranks;
    }

    /// Load of every link, as demanded in the last step or response.
    pub fn loads(&self) -> Vec<f64> {
        self.links.sums().iter().map(|sum| sum[0]).collect()
    }

    /// What a flow demanded in the last step or response; 0 before its first.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn rate(&self, id: FlowId) -> Result<f64> {
        Ok(self.flows.rate(self.table.get(id)?.spot))
    }

    /// Makes these rates feasible by F-NORM: a rate is divided by the largest load per capacity on its
    /// path, where that is above 1. O(flows + links), about half a step.
    pub fn normalize(&mut self) {
        self.find_fractions();
        self.flows.normalize(&self.fractions);
    }

    /// The same by U-NORM: every rate is divided by the largest load per capacity of all links, where that is above 1.
    /// Flows over a failed link get nothing, and do not count. O(flows + links).
    pub fn normalize_uniformly(&mut self) {
        self.find_fractions();
        let links = self.fractions.iter().zip(self.links.capacities());
        let smallest =
            links.filter(|(_, capacity)| **capacity > 0.0).map(|(fraction, _)| *fraction).fold(1.0, f64::min);
        for (fraction, &capacity) in self.fractions.iter_mut().zip(self.links.capacities()) {
            *fraction = if capacity > 0.0 { smallest } else { 0.0 };
        }
        self.flows.normalize(&self.fractions);
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

    /// The same by any normalizer, on one thread. Flows over a failed link get nothing. O(crossings), and what the
    /// normalizer takes.
    pub fn normalize_by(&mut self, normalizer: &impl Normalizer) {
        self.normalize_what(normalizer, |flow, _| flow.rate);
    }

    /// Rates by a max-min of what flows would demand at the present prices if paths could carry it, up to a million
    /// times what they can: a flow of a larger weight gets more even before prices have followed. O(crossings), and a
    /// max-min, on one thread.
    pub fn fill_by_demand(&mut self) {
        let prices = self.prices().to_vec();
        self.normalize_what(&Fill, |flow, smallest| {
            let price: f64 = flow.path.iter().map(|&link| prices[link as usize]).sum();
            PowerLaw { cap: f64::INFINITY, ..flow.law }.demand(price).min(HEAVIEST * smallest)
        });
    }

    /// The same by any normalizer, of whatever `rate` gives for a flow over a path of that smallest capacity.
    fn normalize_what(&mut self, normalizer: &impl Normalizer, rate: impl Fn(&Flow<'_>, f64) -> f64) {
        let (mut paths, mut rates, mut caps) = (Paths::from_lists([[0; 0]; 0]), Vec::new(), Vec::new());
        let Ok(()) = self.each_flow::<Infallible>(|flow| {
            let smallest = self.smallest(flow.path);
            paths.push(flow.path);
            rates.push(if smallest == 0.0 { 0.0 } else { rate(&flow, smallest) });
            caps.push(flow.law.cap);
            Ok(())
        });
        normalizer.normalize_capped(self.links.capacities(), &paths, &caps, &mut rates);
        self.flows.set_feasible_rates(rates);
    }

    /// What the last normalizer left a flow; 0 for one that began after it.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn feasible_rate(&self, id: FlowId) -> Result<f64> {
        Ok(self.flows.feasible_rate(self.table.get(id)?.spot))
    }

    /// Whether there is such a flow.
    pub fn contains(&self, id: FlowId) -> bool {
        self.table.get(id).is_ok()
    }

    /// The links of a flow, in the order that they were given in.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn path(&self, id: FlowId) -> Result<Vec<u32>> {
        Ok(self.flows.path(self.table.get(id)?.spot))
    }

    /// Price of one link.
    ///
    /// # Errors
    /// [`Error::UnknownLink`].
    pub fn price(&self, link: u32) -> Result<f64> {
        self.check_link(link)?;
        Ok(self.links.prices()[link as usize])
    }

    /// What was demanded of one link in the last step or response.
    ///
    /// # Errors
    /// [`Error::UnknownLink`].
    pub fn load(&self, link: u32) -> Result<f64> {
        self.check_link(link)?;
        Ok(self.links.sums()[link as usize][0])
    }

    /// Path and utility of the flow of a slot.
    pub(crate) fn flow_of(&self, number: u32) -> (Vec<u32>, PowerLaw) {
        let slot = &self.table.slots[number as usize];
        (self.flows.path(slot.spot), slot.law)
    }

    /// How many slots there are, with flows and without.
    pub(crate) fn slots(&self) -> usize {
        self.table.slots.len()
    }

    /// The utility of a flow.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn utility(&self, id: FlowId) -> Result<PowerLaw> {
        Ok(self.table.get(id)?.law)
    }

    /// Sets the price of one link. A rule whose memory depends on the network starts again, any other goes on. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownLink`], [`Error::Price`].
    pub fn set_price(&mut self, link: u32, price: f64) -> Result<()> {
        self.links.set_price(link, price)
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
        let sample = Sample::of(self.links(), paths.len(), |path| paths.links(path))?;
        let mut flows = LiveFlows::new(self.links(), &sample, self.flows.precision(), self.threads)?;
        let mut spots = Vec::with_capacity(self.flows());
        self.each_flow(|Flow { id, path, law, rate, feasible }| {
            let spot = flows.add(id.number(), path, &law.over(self.smallest(path)));
            flows.set_rates(spot, rate, feasible);
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
    fn place(&mut self, flow: Flow<'_>) {
        let demand = flow.law.over(self.smallest(flow.path));
        let spot = self.flows.add(flow.id.number(), flow.path, &demand);
        self.flows.set_rates(spot, flow.rate, flow.feasible);
        self.table.slots[flow.id.slot()].spot = spot;
    }

    /// Links of the network.
    pub fn links(&self) -> usize {
        self.links.capacities().len()
    }

    /// Calls a function with every flow: its rate as demanded and as the last normalizer left it. O(flows).
    pub fn each_rate(&self, mut look: impl FnMut(FlowId, f64, f64)) {
        self.flows.each_rate(|number, rate, feasible| look(self.table.id(number), rate, feasible));
    }

    /// Calls a function with every flow, block by block, until one is refused.
    pub(crate) fn each_flow<E>(&self, mut look: impl FnMut(Flow<'_>) -> Result<(), E>) -> Result<(), E> {
        self.flows.each_flow(|number, path, rate, feasible| {
            let law = self.table.slots[number as usize].law;
            look(Flow { id: self.table.id(number), path, law, rate, feasible })
        })
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flows, links, blocks) = (self.flows(), self.links(), self.flows.len());
        write!(f, "Engine({flows} flows, {links} links, {blocks} flow blocks, {} threads)", self.flows.threads())
    }
}

fn check_path(path: usize, links: &[u32], count: usize) -> Result<()> {
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
