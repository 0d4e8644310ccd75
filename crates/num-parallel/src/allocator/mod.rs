//! The online allocator: flows start and end, prices are kept, every tick gives feasible rates, and only changes are
//! sent to endpoints.
//!
//! ```text
//! tick       x, p ← one step of the price rule;  r ← normalizer(x)
//! capacity   c (1 − headroom)(1 − θ)             θ the update threshold
//! updates    every flow whose r has left [(1 − θ) sent, (1 + θ) sent]
//! ```
//!
//! An endpoint without an update sends at most r/(1 − θ), so that links, filled to 1 − θ, are not overloaded. The price
//! of a link that was empty has no meaning; it becomes the one at which its first flows pay x U'(x), split evenly over
//! the links of their paths: p_l = Σ x U'(x)/(|path| c_l), x the most that a path can carry. Source: Perry,
//! Balakrishnan, Shah, *Flowtune*, NSDI 2017, §2 to §4 and §6. A flow uses a_l of a link per unit of its rate, 1 unless
//! its path has coefficients: Σ a_l x ≤ c_l, the price of its path is Σ a_l p_l.
//!
//! A flow with several paths is a lane of its block: all its paths are columns there, whatever links they cross, so
//! that the block sums over them without waiting for another, and no flow is split over threads. Prices alone cross
//! blocks and ranks. What is seldom read of it (links in their order, caps, what was sent) is in a table by slot; its
//! shares are part of the state, as prices are. A link that fails closes the path: its ceiling is 0, and the next
//! response splits among the others.
//!
//! | file | what it does |
//! |---|---|
//! | `settings.rs` | settings |
//! | `engine.rs` | the price iteration over the flows |
//! | `exact.rs` | ticks that end with a proof |
//! | `capacities.rs` | capacities that change |
//! | `floors.rs` | rates that flows are guaranteed |
//! | `flow_table.rs` | flows by id |
//! | `link_flows.rs` | the flows of a link |
//! | `path.rs` | the links of a path, with its coefficients |
//! | `flow_paths.rs` | the paths that flows are given, one each or several |
//! | `several.rs` | flows with several paths |
//! | `over_ranks.rs` | allocators of several ranks |
//! | `snapshot.rs` | an allocator as text, and back |

mod capacities;
mod engine;
mod exact;
mod floors;
mod flow_paths;
mod flow_table;
mod link_flows;
mod over_ranks;
mod path;
mod settings;
mod several;
mod snapshot;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::num::NonZeroUsize;

use netnum_core::internal::interrupt::{self, Pacer};
use netnum_core::internal::{Call, UNLIMITED, check_capacity, check_length, check_price};
use netnum_core::price::Rule;
use netnum_core::{Certificate, Error, Normalization, Paths, PowerLaw, Ranks, Result};
use rustc_hash::{FxHashMap, FxHashSet};

use capacities::CapacityChange;
pub use engine::Engine;
use floors::FloorChange;
pub use flow_paths::FlowPaths;
pub use flow_table::FlowId;
use path::Path;
pub use settings::AllocatorSettings;
use several::PathSet;

/// An allocator for flows with one path each, or several.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use netnum_core::PowerLaw;
/// use netnum_core::price::Ned;
/// use netnum_parallel::{Allocator, AllocatorSettings};
///
/// let settings = AllocatorSettings::default().with_update_threshold(0.0);
/// let mut allocator = Allocator::new(vec![10.0, 10.0], Ned::new(0.4), settings, NonZeroUsize::MIN)?;
/// let long = allocator.start(&[0, 1], PowerLaw::log(1.0))?;
/// let short = allocator.start(&[0], PowerLaw::log(1.0))?;
/// (0..50).try_for_each(|_| allocator.tick())?;
/// assert!((allocator.rate(long)? - 5.0).abs() < 1e-6);
/// assert_eq!(allocator.updates().len(), 2);
///
/// // The link fails, and its flows with it.
/// allocator.set_capacity(1, 0.0)?;
/// (0..50).try_for_each(|_| allocator.tick())?;
/// assert_eq!(allocator.rate(long)?, 0.0);
/// assert!((allocator.rate(short)? - 10.0).abs() < 1e-6);
/// # Ok::<(), netnum_core::Error>(())
/// ```
pub struct Allocator {
    engine: Engine,
    settings: AllocatorSettings,
    /// Of every link, as given.
    capacities: Vec<f64>,
    /// Links that carried nothing at the last tick, and the prices there by the flows that have come since, below 0
    /// where the capacity has changed before a flow ended; and links whose price was set.
    fresh: FxHashMap<u32, f64>,
    /// By slot, the last rate sent to the flow's endpoint; 0 before the first, not a number where the flow had several
    /// paths before, of which anything may have been sent.
    sent: Vec<f64>,
    /// Whether all ranks are known to have these capacities.
    agreed: bool,
    /// Of the last tick, where ticks are exact.
    certificate: Option<Certificate>,
}

/// From so many flows on the layout follows them, when they have become twice as many or an eighth.
const FEW: usize = 64;

impl Allocator {
    /// An allocator for links of these capacities, without flows. A capacity of 0 is a failed link, one of ∞ a link
    /// without a limit.
    ///
    /// # Errors
    /// [`Error::Capacity`]; [`Error::Setting`] for a setting or a parameter of the rule out of its range;
    /// [`Error::Threads`].
    pub fn new(
        capacities: Vec<f64>,
        rule: impl Into<Rule>,
        settings: AllocatorSettings,
        threads: NonZeroUsize,
    ) -> Result<Self> {
        settings.check()?;
        capacities.iter().enumerate().try_for_each(|(link, &capacity)| check_capacity(link, capacity))?;
        let used = capacities.iter().map(|&capacity| settings.used(capacity)).collect();
        let none = Paths::from_lists([[0; 0]; 0]);
        let mut engine = Engine::new(used, &none, rule, settings.precision, threads)?;
        engine.links.set_prices(&vec![0.0; capacities.len()])?;
        let (fresh, sent, agreed) = (FxHashMap::default(), Vec::new(), false);
        Ok(Self { engine, settings, capacities, fresh, sent, agreed, certificate: None })
    }

    /// An allocator that moves prices by the price rule of a method, given by name; `options` are those of the method.
    /// "rcp" takes proportionally fair flows; for flows of another common α, make its [`Rule`].
    ///
    /// # Errors
    /// Those of [`new`](Self::new) and of [`Rule::by_name`], with the nearest setting for an unknown option.
    pub fn by_name(
        capacities: Vec<f64>,
        method: &str,
        options: &BTreeMap<String, f64>,
        settings: AllocatorSettings,
        threads: NonZeroUsize,
    ) -> Result<Self> {
        let rule = Rule::by_name(method, options, 1.0).map_err(|error| error.or_setting(&AllocatorSettings::NAMES))?;
        Self::new(capacities, rule, settings, threads)
    }

    /// Starts a flow, which gets a rate at the next tick; with coefficients [`start_all`](Self::start_all) does. From
    /// then on it gets at least its floor, for which each of its links must have room beside other floors.
    /// O(links of its path).
    ///
    /// # Errors
    /// [`Error::EmptyPath`], [`Error::LinkOutOfRange`], [`Error::RepeatedLink`], [`Error::FloorDoesNotFit`] and
    /// [`Error::Parameter`], which call it path 0 and flow 0; the latter also for a flow whose prices its
    /// [`Precision`](crate::Precision) could not hold, be it over a link that has failed when that returns.
    /// [`Error::Unlimited`] for a flow that neither a link nor a cap limits, [`Error::Unsupported`] for an α that the
    /// rule cannot take, [`Error::Setting`] for more flows than can be numbered. Nothing has changed then.
    pub fn start(&mut self, path: &[u32], utility: PowerLaw) -> Result<FlowId> {
        self.engine.table.check_room(1)?;
        let path = Path::ones(path);
        self.engine.check(0, path, &utility)?;
        self.check_floors(&[utility], |_| path)?;
        Ok(self.start_checked(std::iter::once((path, utility)), &mut Pacer::new())?[0])
    }

    /// Starts many, or none where one is wrong: with one path each, `&Paths`, or [several](FlowPaths::grouped), over
    /// which the allocator splits a flow. What a flow uses of its links per unit of its rate are the
    /// [coefficients](Paths::coefficients) of its paths. O(crossings).
    ///
    /// # Errors
    /// Those of [`start`](Self::start), which name the path and the flow by its place; [`Error::Parameter`] for a
    /// coefficient at which prices would be out of range; [`Error::Length`] unless every flow has a utility;
    /// [`Error::Stopped`].
    pub fn start_all<'a>(&mut self, paths: impl Into<FlowPaths<'a>>, utilities: &[PowerLaw]) -> Result<Vec<FlowId>> {
        let flows: FlowPaths<'a> = paths.into();
        let Some(paths) = flows.one_each() else { return self.start_several(&flows, utilities) };
        check_length("utilities", utilities.len(), paths.len(), "flow")?;
        self.engine.table.check_room(paths.len())?;
        let mut pacer = Pacer::new();
        for (number, utility) in utilities.iter().enumerate() {
            self.engine.check(number, Path::of(paths, number), utility)?;
            pacer.did(paths.links(number).len())?;
        }
        self.check_floors(utilities, |flow| Path::of(paths, flow))?;
        self.start_checked((0..paths.len()).map(|flow| (Path::of(paths, flow), utilities[flow])), &mut pacer)
    }

    /// Ends a flow. O(links of its path).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`]; nothing has changed then.
    pub fn end(&mut self, id: FlowId) -> Result<()> {
        self.end_all(&[id])
    }

    /// Ends many, or none where one is not there or named twice. O(crossings).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`], [`Error::Stopped`].
    pub fn end_all(&mut self, ids: &[FlowId]) -> Result<()> {
        let mut pacer = Pacer::new();
        self.check_ids(ids, &mut pacer)?;
        let mut prices = FxHashMap::default();
        if !self.fresh.is_empty() {
            for &id in ids {
                let (utility, capacity) = (self.utility(id)?, |link| self.used(link));
                if let Some(paths) = self.engine.several.get(&(id.slot() as u32)) {
                    self.price_fresh_paths(&mut prices, paths, &utility, -1.0, capacity);
                    pacer.did(4 * paths.links().len())?;
                    continue;
                }
                let (path, utility) = (self.engine.own_path(id)?, self.engine.utility_of(id.slot()));
                self.price_fresh(&mut prices, path.get(), &utility, -1.0, capacity);
                pacer.did(4 * path.links.len())?;
            }
        }
        self.fresh.extend(prices);
        ids.iter().try_for_each(|&id| self.engine.end(id))
    }

    /// Changes the path of a flow, its utility, or both, from the next tick on. Id and prices stay; on another path
    /// it has no rate before that tick. O(links of its paths).
    ///
    /// # Errors
    /// Those of [`change_all`](Self::change_all).
    pub fn change(&mut self, id: FlowId, path: Option<&[u32]>, utility: Option<PowerLaw>) -> Result<()> {
        let path = path.map(|path| Paths::from_lists([path]));
        self.change_all(&[id], path.as_ref().map(Into::into), utility.as_ref().map(std::slice::from_ref))
    }

    /// Changes many, or none where one is wrong. O(crossings).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`], also for an id that is named twice; [`Error::Length`] unless there are paths and a
    /// utility per id, or none; those of [`start`](Self::start), which name a path by its place and a flow by its id;
    /// [`Error::Stopped`]. Nothing has changed then.
    pub fn change_all(
        &mut self,
        ids: &[FlowId],
        paths: Option<FlowPaths<'_>>,
        utilities: Option<&[PowerLaw]>,
    ) -> Result<()> {
        let lengths =
            [("paths", paths.as_ref().map(FlowPaths::flows)), ("utilities", utilities.map(<[PowerLaw]>::len))];
        for (what, length) in lengths {
            check_length(what, length.unwrap_or(ids.len()), ids.len(), "id")?;
        }
        let (mut pacer, mut changes, mut changed_floors) = (Pacer::new(), Vec::new(), Vec::new());
        self.check_ids(ids, &mut pacer)?;
        if let Some(paths) = &paths {
            paths.check(self.engine.links(), &mut pacer)?;
        }
        let (mut prices, mut floors) = (FxHashMap::default(), FloorChange::default());
        for (place, &id) in ids.iter().enumerate() {
            let (old_paths, old_utility) = (self.engine.paths_of(id)?, self.utility(id)?);
            let (new, utility) = (paths.as_ref().map(|paths| paths.of(place)), utilities.map(|all| all[place]));
            let paths = new.as_ref().unwrap_or(&old_paths);
            let new_utility = paths.limit(&utility.unwrap_or(old_utility));
            self.engine.check_several(id.to_bits() as usize, paths, &new_utility)?;
            if new_utility.floor != old_utility.floor || new.is_some() && new_utility.floor > 0.0 {
                floors.add(old_paths.path(0), -old_utility.floor);
                floors.add(paths.path(0), new_utility.floor);
                changed_floors.push((id, place, new_utility.floor));
            }
            if !self.fresh.is_empty() {
                let old_utility = old_paths.limit(&old_utility);
                self.price_fresh_paths(&mut prices, &old_paths, &old_utility, -1.0, |link| self.used(link));
            }
            self.price_fresh_paths(&mut prices, paths, &new_utility, 1.0, |link| self.used(link));
            pacer.did(8 + 4 * old_paths.links().len())?;
            changes.push((id, old_paths, new, utility));
        }
        for (id, place, floor) in changed_floors {
            self.check_alone(&self.engine.ranks, floor)?;
            let (_, old, new, _) = &changes[place];
            let path = new.as_ref().unwrap_or(old).path(0);
            self.engine.check_floor(id.to_bits() as usize, path, floor, &floors)?;
        }
        self.fresh.extend(prices);
        for (id, old, new, utility) in changes {
            let utility = utility.unwrap_or(self.utility(id)?);
            if old.len() > 1 || new.as_ref().is_some_and(|new| new.len() > 1) {
                if self.engine.change_several(id, new, utility) {
                    self.sent[id.slot()] = f64::NAN;
                }
            } else {
                self.engine.change_alone(id, &old, new.as_ref(), utility);
            }
        }
        Ok(())
    }

    /// Whether there is such a flow.
    pub fn contains(&self, id: FlowId) -> bool {
        self.engine.table.find(id).is_some()
    }

    /// The paths of a flow, one or several, with what it uses of their links per unit of its rate, to its
    /// [`Precision`](crate::Precision).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn paths(&self, id: FlowId) -> Result<Paths> {
        Ok(self.engine.paths_of(id)?.paths())
    }

    /// The utility of a flow. Its cap is that of the flow, without those of its paths.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn utility(&self, id: FlowId) -> Result<PowerLaw> {
        self.engine.table.get(id)?;
        Ok(self.engine.own_utility(id.slot()))
    }

    /// Changes the capacity of a link, from the next tick on. At 0 it has failed: its flows get nothing, and count
    /// nowhere, until it returns. O(its flows), and once, when a capacity first changes, O(crossings).
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
    /// [`Error::Capacity`]; [`Error::Parameter`] as [`start`](Self::start) where a flow's prices would go out of range,
    /// which is then named by its id; [`Error::Stopped`]. Nothing has changed then.
    pub fn set_capacities(&mut self, links: &[u32], capacities: &[f64]) -> Result<()> {
        for (&link, &capacity) in links.iter().zip(capacities) {
            self.engine.links.check_link(link)?;
            check_capacity(link as usize, capacity)?;
        }
        let used: Vec<f64> = capacities.iter().map(|&capacity| self.settings.used(capacity)).collect();
        let change = self.engine.plan_capacities(links, &used)?;
        let prices = self.price_returned(&change)?;
        self.engine.commit_capacities(change)?;
        links.iter().zip(capacities).for_each(|(&link, &capacity)| self.capacities[link as usize] = capacity);
        self.fresh.extend(prices);
        self.agreed = false;
        Ok(())
    }

    /// Sets the prices of links, from the next tick or response on, such as those of an allocator that had the same
    /// links by other numbers: those of links that carry something, after the flows have started. What flows pay that
    /// start or end between this and the tick, on links that carry nothing as yet, is added or taken off.
    ///
    /// # Errors
    /// [`Error::Length`] unless every link has a price; [`Error::UnknownLink`], [`Error::LinkTwice`], [`Error::Price`];
    /// [`Error::Setting`] over several ranks. Nothing has changed then.
    pub fn set_prices(&mut self, links: &[u32], prices: &[f64]) -> Result<()> {
        if !self.engine.ranks.are_alone() {
            return Err(Error::setting("prices", "given", "none over several ranks: they are those of all flows"));
        }
        check_length("prices", prices.len(), links.len(), "link")?;
        let mut given = FxHashMap::default();
        for (&link, &price) in links.iter().zip(prices) {
            self.engine.links.check_link(link)?;
            check_price(link as usize, price)?;
            if given.insert(link, price).is_some() {
                return Err(Error::LinkTwice { link: link as usize });
            }
        }
        self.fresh.extend(given);
        Ok(())
    }

    /// From now on the flows of other ranks are on these links too: every rank has an allocator of its own flows, and
    /// calls this, each tick and each response as often and in the same order. Prices are then the same on all ranks,
    /// and rates are those of one allocator of all flows, but for the order of sums. Starts, ends, changes, rates and
    /// updates are of the rank's own flows; capacities change on all ranks before the same tick or response, which
    /// checks them. A tick adds up two numbers per link over the ranks; the first after an idle link has been taken
    /// again, once more, and the first after a capacity has changed compares them all. O(links).
    ///
    /// Several allocators over one communicator take [`Ranks`] of their own each, by whose numbers ranks that tick them
    /// in different orders learn of it. After an error of a tick or a response the allocators of all ranks have ended:
    /// each further tick returns it.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    ///
    /// use netnum_core::PowerLaw;
    /// # use netnum_core::internal::on_ranks;
    /// use netnum_core::price::Ned;
    /// use netnum_parallel::{Allocator, AllocatorSettings};
    ///
    /// // Two ranks, which are threads here, each with a flow on the same link.
    /// let settings = AllocatorSettings::default().with_update_threshold(0.0);
    /// let rates = on_ranks(2, |_, ranks| {
    ///     let mut allocator = Allocator::new(vec![10.0], Ned::new(0.4), settings, NonZeroUsize::MIN)?;
    ///     allocator.over(ranks.clone())?;
    ///     let id = allocator.start(&[0], PowerLaw::log(1.0))?;
    ///     (0..50).try_for_each(|_| allocator.tick())?;
    ///     allocator.rate(id)
    /// });
    /// for rate in rates {
    ///     assert!((rate? - 5.0).abs() < 1e-9);
    /// }
    /// # Ok::<(), netnum_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RanksDiffer`] where ranks do not have the same links, capacities, prices, method and options, settings,
    /// numbers; [`Error::Setting`] for normalizers that take all flows at once, as [`Normalization::Fill`]; those of
    /// [`Ranks`].
    pub fn over(&mut self, ranks: Ranks) -> Result<()> {
        ranks.together(Call::Allocator, || self.check_ranks(&ranks))?;
        self.engine.ranks = ranks;
        Ok(())
    }

    /// One iteration on the flows of this moment, and feasible rates for them. O(flows + links) with F-NORM. Where
    /// ticks are [exact](AllocatorSettings::exact), as many iterations as prove the gap of the rates, or a solve.
    ///
    /// No link is then over its capacity by more than rounding: the loads, added up flow by flow, are at most
    /// c (1 + (n + 4) 2⁻⁵²), n being the flows on the link, and with coefficients c (1 + (n + 6) 2⁻⁵²); with
    /// floors 1e-12 more, in single precision some 1e-5.
    ///
    /// # Errors
    /// [`Error::Threads`] when the system does not give those that more flows could use, and [`Error::Stopped`], both
    /// before the iteration, which is never done by half; an exact tick stops between two of them, too, and has no
    /// [certificate](Self::certificate) then, but whole rates. Over ranks those of [`Ranks`], and
    /// [`Error::RanksDiffer`] for capacities that are not the same.
    pub fn tick(&mut self) -> Result<()> {
        self.engine.ranks.clone().together(Call::Tick, || {
            interrupt::check()?;
            let (flows, laid_out) = (self.engine.flows(), self.engine.sample.of);
            if flows.max(laid_out) >= FEW && (flows >= 2 * laid_out || 8 * flows <= laid_out) {
                self.engine.lay_out()?;
            }
            self.meet()?;
            if let Some(gap) = self.settings.exact {
                return self.tick_to(gap);
            }
            self.engine.step()?;
            self.settings.normalizer.into_iter().for_each(|normalizer| self.engine.normalize(normalizer));
            Ok(())
        })
    }

    /// Keeps each worker thread on a core of its own from now on, so that its part of the data stays in that core's
    /// caches; the calling thread is never moved. On Linux only, and only where there are enough cores beside the
    /// caller's. It helps a process that has the machine to itself, and slows down one whose threads would share those
    /// cores.
    pub fn pin(&mut self) {
        self.engine.pin();
    }

    /// Feasible rates for the flows of this moment at the prices of the last tick, which stay as they are. With fill,
    /// flows weigh what they would demand if paths could carry it, so that a weight acts before prices have followed.
    /// O(flows + links) with F-NORM.
    ///
    /// # Errors
    /// Over ranks as [`tick`](Self::tick).
    pub fn respond(&mut self) -> Result<()> {
        self.engine.ranks.clone().together(Call::Respond, || {
            self.meet()?;
            self.certificate = None;
            self.engine.respond()?;
            match self.settings.normalizer {
                None => {}
                Some(Normalization::Fill) => self.engine.fill_by_demand(),
                Some(other) => self.engine.normalize(other),
            }
            Ok(())
        })
    }

    /// Rate of a flow by the last tick or response; 0 if it started after that.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn rate(&self, id: FlowId) -> Result<f64> {
        Ok(self.settings.given(self.engine.rates(id)?))
    }

    /// Rates of the paths of a flow, in the order in which they were given.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn path_rates(&self, id: FlowId) -> Result<Vec<f64>> {
        Ok(self.engine.path_rates(id)?.into_iter().map(|rates| self.settings.given(rates)).collect())
    }

    /// Id and rate of every flow. O(flows).
    pub fn rates(&self) -> Vec<(FlowId, f64)> {
        let mut all = Vec::with_capacity(self.engine.flows());
        self.engine.each_rate(|id, rates| all.push((id, self.settings.given(rates))));
        all
    }

    /// Id and rate of every flow whose endpoint needs an update: its rate has moved by more than the threshold since
    /// the last one, or what was sent is below its floor, and its rate is not. They count as sent. O(flows).
    pub fn updates(&mut self) -> Vec<(FlowId, f64)> {
        let (settings, sent) = (self.settings, &mut self.sent);
        let (mut updates, engine) = (Vec::new(), &self.engine);
        let below = |id: FlowId, sent: f64, now: f64| {
            let floor = if engine.floors.are_none() { 0.0 } else { engine.floors.kept(id.slot() as u32) };
            sent < floor && now >= floor
        };
        self.engine.each_rate(|id, rates| {
            let (now, sent) = (settings.given(rates), &mut sent[id.slot()]);
            if settings.is_news(*sent, now) || below(id, *sent, now) {
                *sent = now;
                updates.push((id, now));
            }
        });
        updates
    }

    /// Id, number of the path, and rate of every path whose endpoint needs an update, as [`updates`](Self::updates) for
    /// flows. What is sent for a flow with one path counts for both; a flow that splits is sent path by path, or links
    /// may be overloaded by rates that endpoints still use. After a change of its paths all of them are sent, those
    /// that have 0 too. O(paths).
    pub fn path_updates(&mut self) -> Vec<(FlowId, usize, f64)> {
        let (settings, mut updates) = (self.settings, Vec::new());
        let Self { engine, sent, .. } = self;
        let Engine { flows, table, several, .. } = engine;
        let is_news = |sent: &mut f64, now: f64| {
            let is_news = settings.is_news(*sent, now);
            *sent = if is_news { now } else { *sent };
            is_news
        };
        flows.each_rate(|slot, rates| {
            let now = settings.given(rates);
            if is_news(&mut sent[slot as usize], now) {
                updates.push((table.id(slot), 0, now));
            }
        });
        let Ok(()) = flows.each_several::<Infallible>(|slot, paths| {
            let sent = &mut several.get_mut(&slot).expect("it has several paths").sent;
            for (path, (rates, sent)) in paths.zip(sent).enumerate() {
                let now = settings.given(rates);
                if is_news(sent, now) {
                    updates.push((table.id(slot), path, now));
                }
            }
            Ok(())
        });
        updates
    }

    /// The flows that get less than their floor: links have failed or lost capacity, and those on them are cut in
    /// proportion. In the order of their slots. O(crossings of flows with floors).
    pub fn broken_floors(&mut self) -> Vec<FlowId> {
        self.engine.broken_floors()
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.engine.flows()
    }

    /// Capacity of every link, as given.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// Price of every link.
    pub fn prices(&self) -> Vec<f64> {
        self.engine.links.prices().to_vec()
    }

    /// Name of the method that moves prices.
    pub fn method(&self) -> &'static str {
        self.engine.links.rule().name()
    }

    /// Its settings.
    pub fn settings(&self) -> &AllocatorSettings {
        &self.settings
    }

    /// The allocator whose state [`to_json`](Self::to_json) wrote: from here on both do the same, to the last bit, on
    /// any number of threads. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Snapshot`] for any other text, naming the part that is wrong or does not fit the others;
    /// [`Error::Threads`], [`Error::Stopped`].
    pub fn from_json(json: &str, threads: NonZeroUsize) -> Result<Self> {
        snapshot::from_json(json, threads)
    }

    /// The whole state as JSON, for [`from_json`](Self::from_json); of an allocator over ranks that of its own flows,
    /// to be put [over](Self::over) such ranks again. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Unsupported`] with a user-defined rule, [`Error::Stopped`].
    pub fn to_json(&self) -> Result<String> {
        snapshot::to_json(self)
    }

    /// The part of a link's capacity that rates may fill.
    fn used(&self, link: u32) -> f64 {
        self.engine.used(link)
    }

    /// [`price_fresh`](Self::price_fresh) for every path of a flow, of which it pays an equal part.
    fn price_fresh_paths(
        &self,
        prices: &mut FxHashMap<u32, f64>,
        paths: &PathSet,
        utility: &PowerLaw,
        sign: f64,
        capacity: impl Fn(u32) -> f64,
    ) {
        let part = sign / paths.len() as f64;
        paths.iter().for_each(|path| self.price_fresh(prices, path, utility, part, &capacity));
    }

    /// Adds to these prices (or takes off again, where the part is below 0) such a part of those that a flow alone pays
    /// for the links of its path that carry nothing as yet, at such capacities.
    fn price_fresh(
        &self,
        prices: &mut FxHashMap<u32, f64>,
        path: Path<'_>,
        utility: &PowerLaw,
        part: f64,
        capacity: impl Fn(u32) -> f64,
    ) {
        let carries = |link: u32| self.engine.links.sums()[link as usize][0] > 0.0;
        let is_empty = |&&link: &&u32| !carries(link);
        if path.links.iter().find(is_empty).is_none() {
            return;
        }
        let narrowest = path.narrowest(&capacity);
        if narrowest == 0.0 {
            return;
        }
        let pays = part * utility.revenue(narrowest) / path.links.len() as f64;
        for &link in path.links.iter().filter(is_empty) {
            let was = prices.get(&link).or_else(|| self.fresh.get(&link)).copied().unwrap_or(0.0);
            let price = was + pays / capacity(link);
            if price.is_finite() && capacity(link) < UNLIMITED {
                prices.insert(link, price);
            }
        }
    }

    /// Whether the floors of flows that start fit.
    ///
    /// # Errors
    /// [`Error::FloorDoesNotFit`], and [`Error::Setting`] over several ranks.
    fn check_floors<'a>(&self, utilities: &[PowerLaw], path: impl Fn(usize) -> Path<'a>) -> Result<()> {
        let with_floor = || utilities.iter().enumerate().filter(|(_, utility)| utility.floor > 0.0);
        let mut change = FloorChange::default();
        with_floor().for_each(|(flow, utility)| change.add(path(flow), utility.floor));
        with_floor().try_for_each(|(flow, utility)| {
            self.check_alone(&self.engine.ranks, utility.floor)?;
            self.engine.check_floor(flow, path(flow), utility.floor, &change)
        })
    }

    /// Whether a floor fits is known of all flows together.
    fn check_alone(&self, ranks: &Ranks, floor: f64) -> Result<()> {
        if ranks.are_alone() {
            return Ok(());
        }
        Err(Error::setting("flow_floor", floor, "0 over several ranks: floors fit beside those of all flows"))
    }

    /// All ids are there, and none twice.
    fn check_ids(&self, ids: &[FlowId], pacer: &mut Pacer) -> Result<()> {
        let mut named = FxHashSet::default();
        for &id in ids {
            if !self.contains(id) {
                return Err(Error::UnknownFlow { id: id.to_string() });
            }
            if ids.len() > 1 && !named.insert(id) {
                return Err(Error::FlowTwice { id: id.to_string() });
            }
            pacer.did(4)?;
        }
        Ok(())
    }

    /// Starts flows that have been checked, or none.
    fn start_checked<'a>(
        &mut self,
        flows: impl ExactSizeIterator<Item = (Path<'a>, PowerLaw)> + Clone,
        pacer: &mut Pacer,
    ) -> Result<Vec<FlowId>> {
        let mut prices = FxHashMap::default();
        for (path, utility) in flows.clone() {
            self.price_fresh(&mut prices, path, &utility, 1.0, |link| self.used(link));
            pacer.did(path.links.len())?;
        }
        let (mut ids, started) = (Vec::with_capacity(flows.len()), self.engine.links.has_started());
        for (path, utility) in flows {
            ids.push(self.engine.start_checked(path, utility));
            if let Err(stopped) = pacer.did(4 * path.links.len()) {
                ids.into_iter().rev().for_each(|id| self.engine.take_back(id));
                self.engine.links.set_started(started);
                return Err(stopped);
            }
        }
        self.note_started(&ids, prices);
        Ok(ids)
    }

    /// [`start_all`](Self::start_all) for flows of which some have several paths.
    fn start_several(&mut self, flows: &FlowPaths<'_>, utilities: &[PowerLaw]) -> Result<Vec<FlowId>> {
        check_length("utilities", utilities.len(), flows.flows(), "flow")?;
        self.engine.table.check_room(flows.flows())?;
        let (mut pacer, mut prices) = (Pacer::new(), FxHashMap::default());
        flows.check(self.engine.links(), &mut pacer)?;
        let mut limited = Vec::with_capacity(utilities.len());
        for (flow, utility) in utilities.iter().enumerate() {
            let paths = flows.of(flow);
            let utility = paths.limit(utility);
            self.engine.check_several(flow, &paths, &utility)?;
            self.price_fresh_paths(&mut prices, &paths, &utility, 1.0, |link| self.used(link));
            limited.push(utility);
            pacer.did(4 * paths.links().len())?;
        }
        // Those with several paths have none.
        self.check_floors(&limited, |flow| flows.first(flow))?;
        let (mut ids, started) = (Vec::with_capacity(utilities.len()), self.engine.links.has_started());
        for (flow, &utility) in utilities.iter().enumerate() {
            let paths = flows.of(flow);
            let crossings = paths.links().len();
            ids.push(match paths.len() {
                1 => self.engine.start_alone(&paths, utility),
                _ => self.engine.start_several(paths, utility),
            });
            if let Err(stopped) = pacer.did(8 * crossings) {
                ids.into_iter().rev().for_each(|id| self.engine.take_back(id));
                self.engine.links.set_started(started);
                return Err(stopped);
            }
        }
        self.note_started(&ids, prices);
        Ok(ids)
    }

    /// Flows have started: nothing was sent of them, and these are the prices of idle links now.
    fn note_started(&mut self, ids: &[FlowId], prices: FxHashMap<u32, f64>) {
        self.sent.resize(self.engine.table.slots.len(), 0.0);
        ids.iter().for_each(|id| self.sent[id.slot()] = 0.0);
        self.fresh.extend(prices);
    }

    /// Prices of links that only flows over returning links use. With a link its flows are back, and with them those
    /// links of their paths that no other flow has used.
    fn price_returned(&self, change: &CapacityChange) -> Result<FxHashMap<u32, f64>> {
        let (mut prices, mut pacer) = (FxHashMap::default(), Pacer::new());
        let capacity = |link: u32| change.capacities.get(&link).copied().unwrap_or_else(|| self.used(link));
        let returns = |&link: &u32| self.used(link) == 0.0 && capacity(link) > 0.0;
        if change.capacities.keys().any(returns) {
            for (id, ..) in &change.flows {
                let (paths, utility) = (self.engine.paths_of(*id)?, self.engine.utility_of(id.slot()));
                let part = (paths.len() as f64).recip();
                for path in paths.iter().filter(|path| path.links.iter().any(returns)) {
                    self.price_fresh(&mut prices, path, &utility, part, capacity);
                }
                pacer.did(4 * paths.links().len())?;
            }
        }
        Ok(prices)
    }
}

impl fmt::Debug for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allocator({:?})", self.engine)
    }
}
