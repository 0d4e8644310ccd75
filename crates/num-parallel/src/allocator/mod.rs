//! The online allocator: flowlets start and end, prices stay, every tick gives rates that no link is too small for, and
//! endpoints hear only what changed.
//!
//! ```text
//! tick       x, p ← one step of the price rule;  r ← normalizer(x)
//! capacity   c (1 − headroom)(1 − θ)             θ the update threshold
//! updates    every flow whose r has left [(1 − θ) sent, (1 + θ) sent]
//! ```
//!
//! An endpoint that has not heard of its rate sends at most r/(1 − θ), so that the links, filled to 1 − θ, hold all the
//! same. A link that was empty has a price of no meaning; it gets the one at which its first flows pay what they are
//! worth, split evenly over the links of their paths: p_l = Σ x U'(x)/(|path| c_l), x the most that a path can carry.
//! Source: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017, §2 to §4 and §6.

mod named;

use std::fmt;
use std::num::NonZeroUsize;

use netnum_core::{Error, Fill, Paths, PriceRule, Result, UNorm};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, FlowId, Real, Snapshot, Worth, check_capacity};
use named::SavedRule;
pub use named::{allocator, restore_allocator};

/// What makes the rates of a tick feasible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalization {
    /// Every rate is divided by the largest load per capacity on its path, where that is above 1. O(flows).
    FNorm,
    /// All by the largest of the network. O(crossings), on one thread.
    UNorm,
    /// Weighted max-min with the rates as weights, which wastes nothing. As dear as [`max_min`](netnum_core::max_min()),
    /// on one thread.
    Fill,
    /// Nothing: rates are what the flows ask for, and links may be too full.
    None,
}

/// How an allocator works.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllocatorSettings {
    /// What makes rates feasible.
    pub normalization: Normalization,
    /// θ: a rate is news when it has moved by more than this part of itself; 0 ≤ θ < 1.
    pub update_threshold: f64,
    /// The part of every link that is held back, for flows too short to ask; 0 ≤ headroom < 1.
    pub headroom: f64,
}

impl Default for AllocatorSettings {
    /// F-NORM, a threshold of 0.01 and no headroom.
    fn default() -> Self {
        Self { normalization: Normalization::FNorm, update_threshold: 0.01, headroom: 0.0 }
    }
}

impl AllocatorSettings {
    fn check(&self) -> Result<()> {
        for (name, value) in [("update_threshold", self.update_threshold), ("headroom", self.headroom)] {
            if !(0.0..1.0).contains(&value) {
                let expected = "a number >= 0 and < 1".into();
                return Err(Error::Setting { name: name.into(), value: value.to_string(), expected });
            }
        }
        Ok(())
    }
}

/// An allocator for flowlets with one path each.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use netnum_core::solve::Ned;
/// use netnum_parallel::{Allocate, Allocator, AllocatorSettings, Worth};
///
/// let settings = AllocatorSettings { update_threshold: 0.0, ..Default::default() };
/// let mut allocator = Allocator::<f64, _>::new(vec![10.0, 10.0], Ned::new(0.4), settings, NonZeroUsize::MIN)?;
/// let long = allocator.start(&[0, 1], Worth::log(1.0))?;
/// let short = allocator.start(&[0], Worth::log(1.0))?;
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
pub struct Allocator<R: Real, Rule: PriceRule> {
    engine: Engine<R, Rule>,
    settings: AllocatorSettings,
    /// Of every link, as the caller says.
    capacities: Vec<f64>,
    /// Links that carried nothing at the last tick, and have been priced since.
    fresh: FxHashSet<u32>,
    /// By slot, what the flow's endpoint last heard; 0 before it has.
    sent: Vec<f64>,
    /// Flows that the layout was made for.
    laid_out: usize,
}

/// What an allocator does, whatever its rule and its numbers.
pub trait Allocate: Send + Sync {
    /// Starts a flowlet, which gets a rate at the next tick. O(links of its path).
    ///
    /// # Errors
    /// Those of [`Engine::add`]; nothing has changed then.
    fn start(&mut self, path: &[u32], worth: Worth) -> Result<FlowId>;

    /// Starts many, or none where one is wrong. O(crossings).
    ///
    /// # Errors
    /// Those of [`Engine::add`], which name the path and the flow by its place; [`Error::Length`] unless every path has a
    /// worth.
    fn start_all(&mut self, paths: &Paths, worths: &[Worth]) -> Result<Vec<FlowId>>;

    /// Ends a flowlet. O(links of its path).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`]; nothing has changed then.
    fn end(&mut self, id: FlowId) -> Result<()>;

    /// Ends many, or none where one is not there or named twice. O(crossings).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    fn end_all(&mut self, ids: &[FlowId]) -> Result<()>;

    /// Whether there is such a flowlet.
    fn knows(&self, id: FlowId) -> bool;

    /// Changes the capacity of a link, from the next tick on. At 0 it has failed: its flows get nothing, and count nowhere,
    /// until it returns. O(flows).
    ///
    /// # Errors
    /// Those of [`Engine::set_capacity`]; nothing has changed then.
    fn set_capacity(&mut self, link: u32, capacity: f64) -> Result<()>;

    /// One iteration on the flows of this moment, and feasible rates for them. O(flows + links) with F-NORM.
    ///
    /// # Errors
    /// [`Error::Setting`] when the system does not give the threads that more flows could use.
    fn tick(&mut self) -> Result<()>;

    /// Feasible rates for the flows of this moment at the prices of the last tick, which stay as they are. With fill, flows
    /// weigh what they would ask for if paths could carry it, so that a weight acts before prices have followed. O(flows +
    /// links) with F-NORM.
    fn respond(&mut self);

    /// What the last tick or response gave a flowlet; 0 if it started after that.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    fn rate(&self, id: FlowId) -> Result<f64>;

    /// Id and rate of every flowlet. O(flows).
    fn rates(&self) -> Vec<(FlowId, f64)>;

    /// Id and rate of every flowlet whose endpoint must hear of it: its rate has moved by more than the threshold since
    /// its last update. They count as sent. O(flows).
    fn updates(&mut self) -> Vec<(FlowId, f64)>;

    /// Number of flowlets.
    fn flows(&self) -> usize;

    /// Capacity of every link, as given.
    fn capacities(&self) -> &[f64];

    /// Price of every link.
    fn prices(&self) -> Vec<f64>;

    /// The whole state as JSON, for [`restore_allocator`]. O(links + crossings).
    fn to_json(&self) -> String;
}

/// From so many flows on the layout follows them, when they have become twice as many or an eighth.
const FEW: usize = 64;

impl<R: Real, Rule: PriceRule + Clone + 'static> Allocator<R, Rule> {
    /// An allocator for links of these capacities, without flows. A capacity of 0 is a failed link.
    ///
    /// # Errors
    /// [`Error::Capacity`], [`Error::Setting`].
    pub fn new(capacities: Vec<f64>, rule: Rule, settings: AllocatorSettings, threads: NonZeroUsize) -> Result<Self> {
        settings.check()?;
        capacities.iter().enumerate().try_for_each(|(link, &capacity)| check_capacity(link, capacity))?;
        let used = capacities.iter().map(|&capacity| settings.used(capacity)).collect();
        let none = Paths::from_lists([[0; 0]; 0]);
        let mut engine = Engine::new(used, &none, rule, threads)?;
        engine.set_prices(&vec![0.0; capacities.len()])?;
        Ok(Self { engine, settings, capacities, fresh: FxHashSet::default(), sent: Vec::new(), laid_out: 0 })
    }

    /// Adds (or takes off again) what a flow alone pays for the links of its path that carry nothing as yet.
    fn price_fresh(&mut self, path: &[u32], worth: &Worth, sign: f64) {
        let is_empty = |&&link: &&u32| !self.engine.load(link).is_ok_and(|load| load > 0.0);
        if path.iter().find(is_empty).is_none() {
            return;
        }
        let used = |&link: &u32| self.settings.used(self.capacities[link as usize]);
        let smallest = path.iter().map(used).fold(f64::INFINITY, f64::min);
        if smallest == 0.0 {
            return;
        }
        let pays = sign * worth.revenue(smallest) / path.len() as f64;
        for &link in path {
            if self.engine.load(link).is_ok_and(|load| load > 0.0) {
                continue;
            }
            let was = if self.fresh.insert(link) { 0.0 } else { self.engine.price(link).unwrap_or(0.0) };
            let price = (was + pays / self.settings.used(self.capacities[link as usize])).max(0.0);
            if price.is_finite() {
                self.engine.set_price(link, price).expect("a price of a known link");
            }
        }
    }

    fn start_checked(&mut self, path: &[u32], worth: Worth) -> FlowId {
        let id = self.engine.add_checked(path, worth);
        let slot = id.slot();
        if slot == self.sent.len() {
            self.sent.push(0.0);
        }
        self.sent[slot] = 0.0;
        self.price_fresh(path, &worth, 1.0);
        id
    }

    /// Feasible rates, of what flows asked for last.
    fn normalize(&mut self) {
        match self.settings.normalization {
            Normalization::FNorm => self.engine.normalize(),
            Normalization::UNorm => self.engine.normalize_by(&UNorm::default()),
            Normalization::Fill => self.engine.normalize_by(&Fill),
            Normalization::None => {}
        }
    }

    /// The whole state. O(links + crossings).
    pub fn snapshot(&self) -> AllocatorSnapshot<Rule, Rule::Memory> {
        let mut fresh: Vec<u32> = self.fresh.iter().copied().collect();
        fresh.sort_unstable();
        AllocatorSnapshot {
            engine: self.engine.snapshot(),
            settings: self.settings,
            capacities: self.capacities.clone(),
            fresh,
            sent: self.sent.clone(),
            laid_out: self.laid_out,
        }
    }

    /// The allocator that a snapshot was taken of: from here on both do the same, to the last bit, on any number of
    /// threads. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Snapshot`] where its parts do not fit together, and those of [`Engine::restore`].
    pub fn restore(snapshot: AllocatorSnapshot<Rule, Rule::Memory>, threads: NonZeroUsize) -> Result<Self> {
        let AllocatorSnapshot { engine, settings, capacities, fresh, sent, laid_out } = snapshot;
        settings.check()?;
        let engine = Engine::restore(engine, threads)?;
        let links = engine.links();
        let of_links = capacities.len() == links && fresh.iter().all(|&link| (link as usize) < links);
        if !of_links || sent.len() != engine.slots() || laid_out > u32::MAX as usize {
            return Err(Error::Snapshot("its parts are of different sizes".into()));
        }
        for (link, &capacity) in capacities.iter().enumerate() {
            check_capacity(link, capacity)?;
        }
        let fresh = fresh.into_iter().collect();
        Ok(Self { engine, settings, capacities, fresh, sent, laid_out })
    }
}

impl<R: Real, Rule: SavedRule> Allocate for Allocator<R, Rule> {
    fn start(&mut self, path: &[u32], worth: Worth) -> Result<FlowId> {
        self.engine.check(0, path, &worth)?;
        Ok(self.start_checked(path, worth))
    }

    fn start_all(&mut self, paths: &Paths, worths: &[Worth]) -> Result<Vec<FlowId>> {
        let (found, expected) = (worths.len(), paths.len());
        if found != expected {
            return Err(Error::Length { what: "worths".into(), found, expected, per: "path" });
        }
        for (number, (path, worth)) in paths.iter().zip(worths).enumerate() {
            self.engine.check(number, path, worth)?;
        }
        Ok(paths.iter().zip(worths).map(|(path, &worth)| self.start_checked(path, worth)).collect())
    }

    fn end(&mut self, id: FlowId) -> Result<()> {
        if !self.fresh.is_empty() {
            let (path, worth) = (self.engine.path(id)?, self.engine.worth(id)?);
            self.price_fresh(&path, &worth, -1.0);
        }
        self.engine.remove(id)
    }

    fn end_all(&mut self, ids: &[FlowId]) -> Result<()> {
        let mut named = FxHashSet::default();
        for &id in ids {
            if !self.engine.knows(id) || !named.insert(id) {
                return Err(Error::UnknownFlow { id: id.to_string() });
            }
        }
        ids.iter().try_for_each(|&id| self.end(id))
    }

    fn knows(&self, id: FlowId) -> bool {
        self.engine.knows(id)
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) -> Result<()> {
        check_capacity(link as usize, capacity)?;
        self.engine.set_capacity(link, self.settings.used(capacity))?;
        let before = std::mem::replace(&mut self.capacities[link as usize], capacity);
        if before == 0.0 && capacity > 0.0 {
            // Its flows are back, and with them those links of their paths that nobody else has used.
            let mut back = Vec::new();
            self.engine.each_flow(|flow| {
                if flow.path.contains(&link) {
                    back.push((flow.path.to_vec(), flow.worth));
                }
            });
            back.iter().for_each(|(path, worth)| self.price_fresh(path, worth, 1.0));
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<()> {
        let flows = self.engine.flows();
        if flows.max(self.laid_out) >= FEW && (flows >= 2 * self.laid_out || 8 * flows <= self.laid_out) {
            self.engine.lay_out()?;
            self.laid_out = flows;
        }
        self.engine.step();
        self.normalize();
        self.fresh.clear();
        Ok(())
    }

    fn respond(&mut self) {
        self.engine.respond();
        match self.settings.normalization {
            Normalization::Fill => self.engine.fill_by_demand(),
            _ => self.normalize(),
        }
        self.fresh.clear();
    }

    fn rate(&self, id: FlowId) -> Result<f64> {
        Ok(self.settings.given(self.engine.rate(id)?, self.engine.feasible_rate(id)?))
    }

    fn rates(&self) -> Vec<(FlowId, f64)> {
        let mut all = Vec::with_capacity(self.engine.flows());
        self.engine.each_rate(|id, rate, feasible| all.push((id, self.settings.given(rate, feasible))));
        all
    }

    fn updates(&mut self) -> Vec<(FlowId, f64)> {
        let threshold = self.settings.update_threshold;
        let (settings, sent) = (self.settings, &mut self.sent);
        let mut news = Vec::new();
        self.engine.each_rate(|id, rate, feasible| {
            let (now, sent) = (settings.given(rate, feasible), &mut sent[id.slot()]);
            if now < *sent * (1.0 - threshold) || now > *sent * (1.0 + threshold) {
                *sent = now;
                news.push((id, now));
            }
        });
        news
    }

    fn flows(&self) -> usize {
        self.engine.flows()
    }

    fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    fn prices(&self) -> Vec<f64> {
        self.engine.prices()
    }

    fn to_json(&self) -> String {
        serde_json::to_string(&self.snapshot()).expect("numbers, all finite, and lists of them")
    }
}

impl AllocatorSettings {
    /// A flow's rate, of what it asks for and what is left of that.
    fn given(&self, asked: f64, feasible: f64) -> f64 {
        if self.normalization == Normalization::None { asked } else { feasible }
    }

    /// The part of a link that rates may fill.
    fn used(&self, capacity: f64) -> f64 {
        capacity * (1.0 - self.headroom) * (1.0 - self.update_threshold)
    }
}

/// An allocator's state.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllocatorSnapshot<Rule, Memory> {
    engine: Snapshot<Rule, Memory>,
    settings: AllocatorSettings,
    capacities: Vec<f64>,
    fresh: Vec<u32>,
    sent: Vec<f64>,
    laid_out: usize,
}

impl<R: Real, Rule: PriceRule + 'static> fmt::Debug for Allocator<R, Rule> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allocator({:?})", self.engine)
    }
}
