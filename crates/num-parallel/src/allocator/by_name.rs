//! Allocators by the name of their method, with whichever numbers they keep.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use netnum_core::solve::{Delayed, FastNed, Fgm, Gradient, METHODS, Ned, NewtonLike, Rcp};
use netnum_core::{Error, PriceRule, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::snapshot::Header;
use super::{Allocate, Allocator, AllocatorSettings, AllocatorSnapshot};

/// A rule that can be written down, with what it remembers.
pub trait SavedRule:
    PriceRule<Memory: Serialize + DeserializeOwned> + Clone + Serialize + DeserializeOwned + 'static
{
    /// The name of its method, which snapshots carry.
    const METHOD: &'static str;
}

impl SavedRule for Ned {
    const METHOD: &'static str = "ned";
}

impl SavedRule for FastNed {
    const METHOD: &'static str = "fast-ned";
}

impl SavedRule for Delayed<Gradient> {
    const METHOD: &'static str = "gradient";
}

impl SavedRule for Fgm {
    const METHOD: &'static str = "fgm";
}

impl SavedRule for NewtonLike {
    const METHOD: &'static str = "newton-like";
}

impl SavedRule for Delayed<Rcp> {
    const METHOD: &'static str = "rcp";
}

/// An allocator that moves prices by a method of [`METHODS`] that has a price rule, in f64 or, for half the memory, in
/// single precision. Its options are those of the method; "rcp" takes all flows for proportionally fair ones.
///
/// # Errors
/// Those of [`Allocator::new`]; [`Error::Setting`] for a method without a rule, [`Error::UnknownOption`].
pub fn allocator(
    capacities: Vec<f64>,
    method: &str,
    options: &BTreeMap<String, f64>,
    settings: AllocatorSettings,
    single: bool,
    threads: NonZeroUsize,
) -> Result<Box<dyn Allocate>> {
    by_name(method, options, New { capacities, settings, single, threads })
}

/// The allocator that [`Allocate::to_json`] was asked of.
///
/// # Errors
/// [`Error::Snapshot`] for any other text, and those of [`Allocator::restore`].
pub fn restore_allocator(json: &str, threads: NonZeroUsize) -> Result<Box<dyn Allocate>> {
    let header = Header::of(json)?;
    let single = match header.bits {
        Some(64) => false,
        Some(32) => true,
        bits => return Err(Error::Snapshot(format!("its numbers have {} bits, expected 64 or 32", bits.unwrap_or(0)))),
    };
    let method = header.method.unwrap_or_default();
    if !NAMES.contains(&&*method) {
        return Err(Error::Snapshot(format!("method {method:?} is none of an allocator")));
    }
    by_name(&method, &BTreeMap::new(), Old { json, single, threads })
}

/// The methods that have a rule.
const NAMES: [&str; 6] = [
    Ned::METHOD,
    FastNed::METHOD,
    <Delayed<Gradient>>::METHOD,
    Fgm::METHOD,
    NewtonLike::METHOD,
    <Delayed<Rcp>>::METHOD,
];

/// What is to be done with a rule, once its type is known.
trait Job {
    fn with<Rule: SavedRule>(self, rule: Rule) -> Result<Box<dyn Allocate>>;
}

fn by_name(method: &str, options: &BTreeMap<String, f64>, job: impl Job) -> Result<Box<dyn Allocate>> {
    let info = METHODS.iter().find(|info| info.name == method);
    let values = info.map_or(Ok(Vec::new()), |info| info.values(options))?;
    match method {
        "ned" => job.with(Ned::new(values[0])),
        "fast-ned" => job.with(FastNed::new(values[0])),
        "gradient" => {
            job.with(Delayed::new(Gradient::new(values[0], values[1]).with_step(values[2]), values[3] == 1.0))
        }
        "fgm" => job.with(Fgm::new()),
        "newton-like" => job.with(NewtonLike::new(values[0], values[1])),
        "rcp" => job.with(Delayed::new(Rcp::new(values[0], 1.0), values[1] == 1.0)),
        _ => {
            let (name, value) = ("method".into(), format!("{method:?}"));
            let expected = "\"ned\", \"fast-ned\", \"gradient\", \"fgm\", \"newton-like\" or \"rcp\"".into();
            Err(Error::Setting { name, value, expected })
        }
    }
}

struct New {
    capacities: Vec<f64>,
    settings: AllocatorSettings,
    single: bool,
    threads: NonZeroUsize,
}

impl Job for New {
    fn with<Rule: SavedRule>(self, rule: Rule) -> Result<Box<dyn Allocate>> {
        let Self { capacities, settings, single, threads } = self;
        Ok(match single {
            true => Box::new(Allocator::<f32, Rule>::new(capacities, rule, settings, threads)?),
            false => Box::new(Allocator::<f64, Rule>::new(capacities, rule, settings, threads)?),
        })
    }
}

struct Old<'a> {
    json: &'a str,
    single: bool,
    threads: NonZeroUsize,
}

impl Job for Old<'_> {
    fn with<Rule: SavedRule>(self, _: Rule) -> Result<Box<dyn Allocate>> {
        let snapshot = AllocatorSnapshot::<Rule, Rule::Memory>::from_json(self.json)?;
        Ok(match self.single {
            true => Box::new(Allocator::<f32, Rule>::restore(snapshot, self.threads)?),
            false => Box::new(Allocator::<f64, Rule>::restore(snapshot, self.threads)?),
        })
    }
}
