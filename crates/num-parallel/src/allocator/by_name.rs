//! Allocators by the name of their method, with whichever numbers they keep.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use netnum_core::price::{Rule, RuleSetup};
use netnum_core::{Error, Result};

use super::snapshot::Header;
use super::{Allocate, Allocator, AllocatorSettings, AllocatorSnapshot};

/// An allocator that moves prices by a method of [`METHODS`](netnum_core::METHODS) that has a price rule, in f64 or,
/// for half the memory, in single precision. Its options are those of the method. "rcp" takes proportionally fair
/// flows; for flows of another common α, make an [`Allocator`] with its [`Rule`].
///
/// # Errors
/// Those of [`Allocator::new`] and of [`Rule::by_name`], with the nearest setting for an unknown option.
pub fn allocator(
    capacities: Vec<f64>,
    method: &str,
    options: &BTreeMap<String, f64>,
    settings: AllocatorSettings,
    single: bool,
    threads: NonZeroUsize,
) -> Result<Box<dyn Allocate>> {
    let rule = Rule::by_name(method, options, &RuleSetup::default())
        .map_err(|error| error.or_setting(&AllocatorSettings::NAMES))?;
    Ok(match single {
        true => Box::new(Allocator::<f32>::new(capacities, rule, settings, threads)?),
        false => Box::new(Allocator::<f64>::new(capacities, rule, settings, threads)?),
    })
}

/// The allocator whose state [`Allocate::to_json`] wrote.
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
    let snapshot = AllocatorSnapshot::from_json(json)?;
    Ok(match single {
        true => Box::new(Allocator::<f32>::restore(snapshot, threads)?),
        false => Box::new(Allocator::<f64>::restore(snapshot, threads)?),
    })
}
