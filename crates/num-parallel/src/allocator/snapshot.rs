//! An allocator as plain data and as text, and back.
//!
//! ```text
//! {"format": "netnum-allocator", "version": 3, "bits": 64, "settings": …, "engine": {"prices": {"rule": …}, …}, …}
//! ```
//!
//! Text that was damaged, or written by hand, is refused with the name of the part that is wrong, or gives an allocator
//! that works: every number is checked by itself and against the others. The method is the name of the rule, which has
//! its options and its state.

use std::fmt;
use std::num::NonZeroUsize;

use netnum_core::error::check_capacity;
use netnum_core::price::LARGEST_SUM;
use netnum_core::{Error, Result, interrupt, interruptible_list};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::{Allocator, AllocatorSettings};
use crate::engine::{Engine, EngineSnapshot};
use crate::flow_blocks::Real;

/// The value of the first field of the text.
const FORMAT: &str = "netnum-allocator";
/// Raised whenever a field changes.
const VERSION: u64 = 3;

/// An allocator's state.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllocatorSnapshot {
    format: String,
    version: u64,
    bits: u32,
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
pub(super) struct Header {
    format: Option<String>,
    version: Option<u64>,
    pub(super) bits: Option<u64>,
}

impl AllocatorSnapshot {
    /// The text of it.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(text_error)
    }

    /// The snapshot of such a text.
    ///
    /// # Errors
    /// [`Error::Snapshot`], [`Error::Stopped`].
    pub(super) fn from_json(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(text_error)
    }
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
    pub(super) fn of(json: &str) -> Result<Self> {
        let mut header = Self::default();
        let read = serde_json::Deserializer::from_str(json).deserialize_map(&mut header);
        let wrong = |what: String| Err(Error::Snapshot(what));
        if let (Err(error), false) = (read, header.is_complete()) {
            return wrong(error.to_string());
        }
        let Self { format, version, .. } = &header;
        match (format.as_deref(), version) {
            (None, _) | (_, None) => {
                wrong("it has no format and version: it is of an earlier netnum, or of something else".into())
            }
            (Some(format), _) if format != FORMAT => wrong(format!("its format is {format:?}, expected {FORMAT:?}")),
            (_, Some(version)) if *version != VERSION => {
                wrong(format!("its version is {version}, and this netnum reads version {VERSION}"))
            }
            _ => Ok(header),
        }
    }

    fn is_complete(&self) -> bool {
        self.format.is_some() && self.version.is_some() && self.bits.is_some()
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
                "bits" => self.bits = Some(fields.next_value()?),
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

impl<R: Real> Allocator<R> {
    /// The whole state. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a user-defined rule, [`Error::Stopped`].
    pub fn snapshot(&self) -> Result<AllocatorSnapshot> {
        let mut fresh: Vec<(u32, f64)> = self.fresh.iter().map(|(&link, &price)| (link, price)).collect();
        fresh.sort_unstable_by_key(|&(link, _)| link);
        Ok(AllocatorSnapshot {
            format: FORMAT.into(),
            version: VERSION,
            bits: R::BITS,
            settings: self.settings,
            engine: self.engine.snapshot()?,
            capacities: self.capacities.clone(),
            fresh,
            sent: self.sent.clone(),
            laid_out: self.laid_out,
        })
    }

    /// The allocator that a snapshot was taken of: from here on both do the same, to the last bit, on any number of
    /// threads. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Snapshot`] where a part is wrong or does not fit the others, and those of [`Engine::restore`].
    pub fn restore(snapshot: AllocatorSnapshot, threads: NonZeroUsize) -> Result<Self> {
        snapshot.check::<R>()?;
        let AllocatorSnapshot { engine, settings, capacities, fresh, sent, laid_out, .. } = snapshot;
        let engine = Engine::restore(engine, threads)?;
        if sent.len() != engine.slots() {
            let what = format!("sent has {} entries, expected {}, one per slot", sent.len(), engine.slots());
            return Err(Error::Snapshot(what));
        }
        let fresh = fresh.into_iter().collect();
        Ok(Self { engine, settings, capacities, fresh, sent, laid_out, agreed: false })
    }
}

impl AllocatorSnapshot {
    /// Whether its parts fit each other, as far as that shows without an engine.
    fn check<R: Real>(&self) -> Result<()> {
        let Self { format, version, bits, settings, engine, capacities, fresh, sent, laid_out } = self;
        let wrong = |what: String| Err(Error::Snapshot(what));
        if format != FORMAT || *version != VERSION || *bits != R::BITS || engine.bits() != *bits {
            let what = format!("format {format:?}, version {version} and bits {bits} ({})", engine.bits());
            return wrong(format!("{what}, expected {FORMAT:?}, {VERSION} and {}", R::BITS));
        }
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

impl fmt::Display for AllocatorSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AllocatorSnapshot({}, {} links)", self.engine.method(), self.capacities.len())
    }
}
