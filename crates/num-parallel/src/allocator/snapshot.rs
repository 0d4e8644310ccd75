//! An allocator as text, and back, to the last bit.
//!
//! ```text
//! {"format": "netnum-allocator", "version": 8, "settings": …, "prices": {"rule": …}, "flows": […], …}
//! ```
//!
//! Sums are taken in an order that depends on the layout and on how the flows stand in it. So the text has the paths
//! that the layout was made from, and the flows in their order.
//!
//! Text that was damaged, or written by hand, is refused with the name of the part that is wrong, or gives an allocator
//! that works: every number is checked by itself and against the others. The method is the name of the rule, which has
//! its options and its state.

use std::fmt;
use std::num::NonZeroUsize;

use netnum_core::internal::interrupt::{self, Pacer};
use netnum_core::internal::{LARGEST_SUM, LinkPrices, PricesSnapshot, UNLIMITED, check_capacity, interruptible_list};
use netnum_core::{Error, Paths, PowerLaw, Result};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::engine::{Engine, Flow};
use super::flow_table::{FlowId, LAST_GENERATION, Slot};
use super::path::Path;
use super::several::{PathSet, SplitFlow};
use super::{Allocator, AllocatorSettings};
use crate::flow_blocks::{OfPath, SMALLEST_SHARE, Sample};

/// The value of the first field of the text.
const FORMAT: &str = "netnum-allocator";
/// Raised whenever a field changes.
const VERSION: u64 = 8;

/// An allocator's state.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    format: String,
    version: u64,
    settings: AllocatorSettings,
    /// Of every link, as given; null for no limit.
    #[serde(with = "interruptible_list")]
    capacities: Vec<Option<f64>>,
    /// By link.
    #[serde(with = "interruptible_list")]
    fresh: Vec<(u32, f64)>,
    /// By slot; null for what is not known.
    #[serde(with = "interruptible_list")]
    sent: Vec<Option<f64>>,
    prices: PricesSnapshot,
    /// Of every link, the last capacity above 0; 0 before it has had one.
    #[serde(with = "interruptible_list")]
    nominal: Vec<f64>,
    /// Paths that the layout was made from, of how many, and whether most had coefficients.
    #[serde(with = "interruptible_list")]
    sample: Vec<Vec<u32>>,
    sampled_of: usize,
    sample_is_weighted: bool,
    /// Those with one path, in the order of the layout.
    #[serde(with = "interruptible_list")]
    flows: Vec<SavedFlow>,
    /// Those with several.
    #[serde(with = "interruptible_list")]
    several: Vec<SavedSplit>,
    /// Every slot without a flow, with its generation, in the order in which they were left.
    #[serde(with = "interruptible_list")]
    free: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedFlow {
    slot: u32,
    generation: u32,
    path: Vec<u32>,
    /// One per link of the path; left out where all are 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coefficients: Option<Vec<f64>>,
    utility: PowerLaw,
    /// Left out for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_cap: Option<f64>,
    rate: f64,
    feasible: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedSplit {
    slot: u32,
    generation: u32,
    utility: PowerLaw,
    paths: Vec<SavedPath>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedPath {
    links: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coefficients: Option<Vec<f64>>,
    /// Null for none.
    cap: Option<f64>,
    share: f64,
    rate: f64,
    feasible: f64,
    /// Null for what is not known.
    sent: Option<f64>,
}

/// What has to be known before the rest can be read.
#[derive(Debug, Default)]
struct Header {
    format: Option<String>,
    version: Option<u64>,
}

/// The whole state as text. O(links + crossings).
///
/// # Errors
/// [`Error::Unsupported`] for a user-defined rule, [`Error::Stopped`].
pub(super) fn to_json(Allocator { engine, settings, capacities, fresh, sent, .. }: &Allocator) -> Result<String> {
    let mut fresh: Vec<(u32, f64)> = fresh.iter().map(|(&link, &price)| (link, price)).collect();
    fresh.sort_unstable_by_key(|&(link, _)| link);
    let (prices, mut pacer) = (engine.links.save()?, Pacer::new());
    let mut flows = Vec::with_capacity(engine.flows());
    engine.each_flow(|Flow { id, path, rates: [rate, feasible], .. }| {
        pacer.did(8 + path.links.len())?;
        let utility = engine.own_utility(id.slot());
        let path_cap = engine.path_caps.get(&(id.slot() as u32)).map(|caps| caps.path);
        let (slot, generation, coefficients) =
            (id.slot() as u32, id.generation(), path.coefficients.map(<[f64]>::to_vec));
        let path = path.links.to_vec();
        flows.push(SavedFlow { slot, generation, path, coefficients, utility, path_cap, rate, feasible });
        Ok(())
    })?;
    let mut several = Vec::new();
    engine.each_several(|SplitFlow { id, paths, utility, state }| {
        pacer.did(8 + paths.links().len())?;
        let saved = |((path, of_path), place): ((Path<'_>, &OfPath), usize)| SavedPath {
            links: path.links.to_vec(),
            coefficients: path.coefficients.map(<[f64]>::to_vec),
            cap: Some(paths.caps[place]).filter(|cap| cap.is_finite()),
            share: of_path.share,
            rate: of_path.rates[0],
            feasible: of_path.rates[1],
            sent: known(paths.sent[place]),
        };
        let paths = paths.iter().zip(&state).zip(0..).map(saved).collect();
        several.push(SavedSplit { slot: id.slot() as u32, generation: id.generation(), utility, paths });
        Ok(())
    })?;
    let empty = engine.table.free.iter().chain(&engine.table.retired);
    let snapshot = Snapshot {
        format: FORMAT.into(),
        version: VERSION,
        settings: *settings,
        capacities: capacities.iter().map(|&capacity| Some(capacity).filter(|capacity| capacity.is_finite())).collect(),
        fresh,
        sent: sent.iter().copied().map(known).collect(),
        prices,
        nominal: engine.nominal.clone(),
        sample: engine.sample.paths.iter().map(<[u32]>::to_vec).collect(),
        sampled_of: engine.sample.of,
        sample_is_weighted: engine.sample.is_weighted,
        flows,
        several,
        free: empty.map(|&slot| (slot, engine.table.slots[slot as usize].generation)).collect(),
    };
    serde_json::to_string(&snapshot).map_err(text_error)
}

/// The allocator of such a text, on any number of threads. O(links + crossings).
///
/// # Errors
/// [`Error::Snapshot`] where a part is wrong or does not fit the others; [`Error::Threads`], [`Error::Stopped`].
pub(super) fn from_json(json: &str, threads: NonZeroUsize) -> Result<Allocator> {
    Header::check(json)?;
    let snapshot: Snapshot = serde_json::from_str(json).map_err(text_error)?;
    let mut pacer = Pacer::new();
    snapshot.check_links()?;
    snapshot.check_layout(&mut pacer)?;
    let slots = snapshot.slots(&mut pacer)?;
    let Snapshot { settings, capacities, fresh, sent, prices, nominal, flows, several, free, .. } = snapshot;
    let capacities = capacities.into_iter().map(given).collect();
    let (paths, is_weighted) = (Paths::from_lists(snapshot.sample), snapshot.sample_is_weighted);
    let sample = Sample { paths, of: snapshot.sampled_of, is_weighted };
    let mut engine = Engine::laid_out(LinkPrices::restore(prices)?, nominal, sample, settings.precision, threads)?;
    engine.table.slots = slots;
    for SavedFlow { slot, generation, path: links, coefficients, utility, path_cap, rate, feasible } in &flows {
        let (id, path) = (FlowId::new(*slot, *generation), Path { links, coefficients: coefficients.as_deref() });
        let set = PathSet::new(std::iter::once(path), vec![given(*path_cap)]);
        let limited = set.limit(utility);
        let checked = engine.check(id.to_bits() as usize, path, &limited);
        checked.map_err(|error| Error::Snapshot(format!("flows: {error}")))?;
        engine.place(Flow { id, path, utility: limited, rates: [*rate, *feasible] });
        engine.set_path_cap(id, &set, utility);
        pacer.did(8 + links.len())?;
    }
    for SavedSplit { slot, generation, utility, paths } in &several {
        let id = FlowId::new(*slot, *generation);
        let refused = |error| Error::Snapshot(format!("several: {error}"));
        for (number, saved) in paths.iter().enumerate() {
            saved.path().check(number, engine.links()).map_err(refused)?;
        }
        let mut set =
            PathSet::new(paths.iter().map(SavedPath::path), paths.iter().map(|saved| given(saved.cap)).collect());
        set.sent = paths.iter().map(|saved| sent_before(saved.sent)).collect();
        engine.check_several(id.to_bits() as usize, &set, utility).map_err(refused)?;
        pacer.did(8 + set.links().len())?;
        let state = |saved: &SavedPath| OfPath { share: saved.share, rates: [saved.rate, saved.feasible] };
        engine.place_several(id, set, utility, Some(&paths.iter().map(state).collect::<Vec<_>>()));
    }
    free.into_iter().for_each(|(slot, generation)| engine.table.leave(slot, generation));
    let (fresh, sent) = (fresh.into_iter().collect(), sent.into_iter().map(sent_before).collect());
    Ok(Allocator { engine, settings, capacities, fresh, sent, agreed: false, certificate: None })
}

/// Writing and reading fail where a token has stopped them, or where the text is wrong.
fn text_error(error: serde_json::Error) -> Error {
    interrupt::check().err().unwrap_or_else(|| Error::Snapshot(error.to_string()))
}

/// What was sent, unless it is not known.
fn known(sent: f64) -> Option<f64> {
    Some(sent).filter(|sent| !sent.is_nan())
}

/// The inverse of [`known`].
fn sent_before(known: Option<f64>) -> f64 {
    known.unwrap_or(f64::NAN)
}

/// A capacity as it was given.
fn given(written: Option<f64>) -> f64 {
    written.unwrap_or(f64::INFINITY)
}

fn wrong<T>(what: String) -> Result<T> {
    Err(Error::Snapshot(what))
}

impl Header {
    /// Reads no farther than needed: it comes first, unless the fields were sorted.
    ///
    /// # Errors
    /// [`Error::Snapshot`] for text without it, or of another format or version.
    fn check(json: &str) -> Result<()> {
        let mut header = Self::default();
        let read = serde_json::Deserializer::from_str(json).deserialize_map(&mut header);
        if let (Err(error), false) = (read, header.is_complete()) {
            return wrong(error.to_string());
        }
        let Self { format, version } = &header;
        match (format.as_deref(), version) {
            (None, _) | (_, None) => {
                wrong("it has no format and version: it is of an earlier netnum, or of something else".into())
            }
            (Some(format), _) if format != FORMAT => wrong(format!("its format is {format:?}, expected {FORMAT:?}")),
            (_, Some(version)) if *version != VERSION => {
                wrong(format!("its version is {version}, and this netnum reads version {VERSION}"))
            }
            _ => Ok(()),
        }
    }

    fn is_complete(&self) -> bool {
        self.format.is_some() && self.version.is_some()
    }
}

impl<'de> Visitor<'de> for &mut Header {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the state of an allocator")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while !self.is_complete() {
            let Some(name) = fields.next_key::<String>()? else { break };
            match &*name {
                "format" => self.format = Some(fields.next_value()?),
                "version" => self.version = Some(fields.next_value()?),
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

impl Snapshot {
    /// Whether the settings and the lists by link and by slot fit each other.
    fn check_links(&self) -> Result<()> {
        let Self { settings, prices, capacities, nominal, fresh, sent, .. } = self;
        settings.check().map_err(|error| Error::Snapshot(format!("settings: {error}")))?;
        let links = prices.capacities().len();
        for (name, count) in [("capacities", capacities.len()), ("nominal", nominal.len())] {
            if count != links {
                return wrong(format!("{name}: {count} of them, of {links} links"));
            }
        }
        for (link, ((&capacity, used), &nominal)) in capacities.iter().zip(prices.capacities()).zip(nominal).enumerate()
        {
            let capacity = given(capacity);
            check_capacity(link, capacity).map_err(|error| Error::Snapshot(format!("capacities: {error}")))?;
            if settings.used(capacity).min(UNLIMITED) != used {
                return wrong(format!("capacities: link {link} has {capacity}, and its settings do not leave {used}"));
            }
            if !(nominal.is_finite() && nominal >= 0.0) || (used > 0.0 && nominal != used) {
                return wrong(format!("nominal: link {link} has capacity {used} and nominal {nominal}"));
            }
        }
        let is_sorted = fresh.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !is_sorted || fresh.last().is_some_and(|&(link, _)| link as usize >= capacities.len()) {
            return wrong("fresh: its links are not there, or not in increasing order".into());
        }
        if let Some((link, price)) = fresh.iter().find(|(_, price)| price.abs() > LARGEST_SUM || price.is_nan()) {
            return wrong(format!("fresh: link {link} has price {price:e}, expected a number within 1e250"));
        }
        let is_wrong = |sent: &f64| !(sent.is_finite() && *sent >= 0.0);
        if let Some((slot, sent)) =
            sent.iter().enumerate().find_map(|(slot, sent)| Some((slot, sent.filter(is_wrong)?)))
        {
            return wrong(format!("sent: slot {slot} has {sent}, expected a finite number >= 0"));
        }
        Ok(())
    }

    /// Whether the layout's paths can be those of an allocator.
    fn check_layout(&self, pacer: &mut Pacer) -> Result<()> {
        let Self { sample, sampled_of: of, sent, .. } = self;
        let links = self.capacities.len();
        for (path, links_of_path) in sample.iter().enumerate() {
            let checked = Path::ones(links_of_path).check(path, links);
            checked.map_err(|error| Error::Snapshot(format!("sample: {error}")))?;
            pacer.did(links_of_path.len())?;
        }
        // A layout is made of the flows of its moment, each of which had a slot.
        if *of > sent.len() || sample.len() != Sample::size(links, *of) {
            return wrong(format!("sample and sampled_of: {} paths, of {of}, and {} slots", sample.len(), sent.len()));
        }
        Ok(())
    }

    /// A slot for every flow, and for every number that is free.
    fn slots(&self, pacer: &mut Pacer) -> Result<Vec<Slot>> {
        let mut slots = vec![None; self.flows.len() + self.several.len() + self.free.len()];
        // A generation is odd while there is a flow.
        let of_flows = self.flows.iter().map(|flow| ("flows", flow.slot, flow.generation, 1..=LAST_GENERATION));
        let of_free = self.free.iter().map(|&(slot, generation)| ("free", slot, generation, 2..=LAST_GENERATION + 1));
        let of_several = self.several.iter();
        let of_several = of_several.map(|flow| ("several", flow.slot, flow.generation, 1..=LAST_GENERATION));
        for (part, slot, generation, generations) in of_flows.chain(of_several).chain(of_free) {
            if generation % 2 != generations.start() % 2 || !generations.contains(&generation) {
                return wrong(format!("{part}: slot {slot} cannot be of generation {generation}"));
            }
            match slots.get_mut(slot as usize) {
                Some(empty @ None) => *empty = Some(Slot::empty(generation)),
                _ => return wrong(format!("{part}: slot {slot} is there twice, or beyond the last")),
            }
            pacer.did(4)?;
        }
        if self.sent.len() != slots.len() {
            return wrong(format!("sent has {} entries, expected {}, one per slot", self.sent.len(), slots.len()));
        }
        for (flow, SavedFlow { slot, path, coefficients, rate, feasible, .. }) in self.flows.iter().enumerate() {
            if let Some(own) = coefficients.as_ref().filter(|own| own.len() != path.len()) {
                let (found, expected) = (own.len(), path.len());
                let what = format!("flows: the one of slot {slot}, at place {flow}, has {found} coefficients");
                return wrong(format!("{what}, expected {expected}, one per link"));
            }
            for (name, value) in [("rate", rate), ("feasible", feasible)] {
                if !(0.0..=LARGEST_SUM).contains(value) {
                    let what = format!("flows: the one of slot {slot}, at place {flow}, has {name} {value}");
                    return wrong(format!("{what}, expected a number >= 0"));
                }
            }
        }
        self.several.iter().try_for_each(SavedSplit::check)?;
        Ok(slots.into_iter().map(|slot| slot.expect("as many as there are entries, none twice")).collect())
    }
}

impl SavedPath {
    fn path(&self) -> Path<'_> {
        Path { links: &self.links, coefficients: self.coefficients.as_deref() }
    }
}

impl SavedSplit {
    /// Whether its numbers are in their ranges.
    fn check(&self) -> Result<()> {
        let Self { slot, paths, .. } = self;
        if paths.len() < 2 {
            return wrong(format!("several: the flow of slot {slot} has {} paths, expected several", paths.len()));
        }
        for (path, saved) in paths.iter().enumerate() {
            if let Some(own) = saved.coefficients.as_ref().filter(|own| own.len() != saved.links.len()) {
                let what = format!("several: path {path} of slot {slot} has {} coefficients", own.len());
                return wrong(format!("{what}, expected {}, one per link", saved.links.len()));
            }
            let sums = 0.0..=LARGEST_SUM;
            let numbers = [
                ("cap", given(saved.cap), 0.0..=f64::INFINITY),
                // Shares are at least the smallest one before they are divided by their sum.
                ("share", saved.share, 0.5 * SMALLEST_SHARE..=1.0),
                ("rate", saved.rate, sums.clone()),
                ("feasible", saved.feasible, sums.clone()),
                ("sent", saved.sent.unwrap_or(0.0), sums),
            ];
            if let Some((name, value, range)) = numbers.iter().find(|(_, value, range)| !range.contains(value)) {
                let what = format!("several: path {path} of slot {slot} has {name} {value}");
                return wrong(format!("{what}, expected a number from {:?} to {:?}", range.start(), range.end()));
            }
        }
        Ok(())
    }
}
