//! An allocator as plain data and as text, and back.
//!
//! ```text
//! {"format": "netnum-allocator", "version": 4, "settings": …, "engine": {"prices": {"rule": …}, …}, …}
//! ```
//!
//! Text that was damaged, or written by hand, is refused with the name of the part that is wrong, or gives an allocator
//! that works: every number is checked by itself and against the others. The method is the name of the rule, which has
//! its options and its state.

use std::fmt;
use std::num::NonZeroUsize;

use netnum_core::internal::{LARGEST_SUM, check_capacity, interrupt, interruptible_list};
use netnum_core::{Error, Result};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::{Allocator, AllocatorSettings};
use crate::engine::{Engine, EngineSnapshot};

/// The value of the first field of the text.
const FORMAT: &str = "netnum-allocator";
/// Raised whenever a field changes.
const VERSION: u64 = 4;

/// An allocator's state.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllocatorSnapshot {
    format: String,
    version: u64,
    settings: AllocatorSettings,
    engine: EngineSnapshot,
    #[serde(with = "interruptible_list")]
    capacities: Vec<f64>,
    #[serde(with = "interruptible_list")]
    fresh: Vec<(u32, f64)>,
    #[serde(with = "interruptible_list")]
    sent: Vec<f64>,
    laid_out: usize,
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
pub(super) fn to_json(allocator: &Allocator) -> Result<String> {
    let mut fresh: Vec<(u32, f64)> = allocator.fresh.iter().map(|(&link, &price)| (link, price)).collect();
    fresh.sort_unstable_by_key(|&(link, _)| link);
    let snapshot = AllocatorSnapshot {
        format: FORMAT.into(),
        version: VERSION,
        settings: allocator.settings,
        engine: allocator.engine.snapshot()?,
        capacities: allocator.capacities.clone(),
        fresh,
        sent: allocator.sent.clone(),
        laid_out: allocator.laid_out,
    };
    serde_json::to_string(&snapshot).map_err(text_error)
}

/// The allocator of such a text.
///
/// # Errors
/// [`Error::Snapshot`] where a part is wrong or does not fit the others; [`Error::Threads`], [`Error::Stopped`].
pub(super) fn from_json(json: &str, threads: NonZeroUsize) -> Result<Allocator> {
    Header::check(json)?;
    let snapshot: AllocatorSnapshot = serde_json::from_str(json).map_err(text_error)?;
    snapshot.check()?;
    let AllocatorSnapshot { engine, settings, capacities, fresh, sent, laid_out, .. } = snapshot;
    let engine = Engine::restore(engine, settings.precision, threads)?;
    if sent.len() != engine.slots() {
        let what = format!("sent has {} entries, expected {}, one per slot", sent.len(), engine.slots());
        return Err(Error::Snapshot(what));
    }
    let fresh = fresh.into_iter().collect();
    Ok(Allocator { engine, settings, capacities, fresh, sent, laid_out, agreed: false })
}

/// Writing and reading fail where a token has stopped them, or where the text is wrong.
fn text_error(error: serde_json::Error) -> Error {
    interrupt::check().err().unwrap_or_else(|| Error::Snapshot(error.to_string()))
}

impl Header {
    /// Reads no farther than needed: it comes first, unless the fields were sorted.
    ///
    /// # Errors
    /// [`Error::Snapshot`] for text without it, or of another format or version.
    fn check(json: &str) -> Result<()> {
        let mut header = Self::default();
        let read = serde_json::Deserializer::from_str(json).deserialize_map(&mut header);
        let wrong = |what: String| Err(Error::Snapshot(what));
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

impl AllocatorSnapshot {
    /// Whether its parts fit each other, as far as that shows without an engine.
    fn check(&self) -> Result<()> {
        let Self { settings, engine, capacities, fresh, sent, laid_out, .. } = self;
        let wrong = |what: String| Err(Error::Snapshot(what));
        settings.check().map_err(|error| Error::Snapshot(format!("settings: {error}")))?;
        if capacities.len() != engine.capacities().len() {
            return wrong(format!("capacities: {} of them, of {} links", capacities.len(), engine.capacities().len()));
        }
        for (link, (&capacity, used)) in capacities.iter().zip(engine.capacities()).enumerate() {
            check_capacity(link, capacity).map_err(|error| Error::Snapshot(format!("capacities: {error}")))?;
            if settings.used(capacity) != used {
                return wrong(format!("capacities: link {link} has {capacity}, and its settings do not leave {used}"));
            }
        }
        let is_sorted = fresh.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !is_sorted || fresh.last().is_some_and(|&(link, _)| link as usize >= capacities.len()) {
            return wrong("fresh: its links are not there, or not in increasing order".into());
        }
        if let Some((link, price)) = fresh.iter().find(|(_, price)| price.abs() > LARGEST_SUM || price.is_nan()) {
            return wrong(format!("fresh: link {link} has price {price:e}, expected a number within 1e250"));
        }
        if let Some(slot) = sent.iter().position(|sent| !(sent.is_finite() && *sent >= 0.0)) {
            return wrong(format!("sent: slot {slot} has {}, expected a finite number >= 0", sent[slot]));
        }
        // A layout is made of the flows of its moment, each of which had a slot.
        if *laid_out != engine.sampled_of() || *laid_out > sent.len() {
            let (of, slots) = (engine.sampled_of(), sent.len());
            return wrong(format!("laid_out is {laid_out}, of a layout of {of} flows and {slots} slots"));
        }
        Ok(())
    }
}
