//! The routings by name.

use super::{Routing, RoutingEntry, adaptive, ecmp, flow_bender, k_shortest, spray};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::registry::{self, Options};

/// The routings that [`routing`] builds.
pub const ROUTINGS: &[RoutingEntry] =
    &[ecmp::ENTRY, flow_bender::ENTRY, spray::ENTRY, k_shortest::ENTRY, adaptive::ENTRY];

/// A routing by its name; its random draws are those of a seed.
///
/// # Errors
/// [`Error::UnknownName`], [`Error::UnknownOption`], [`Error::Option`]; others for values out of their range.
pub fn routing(name: &str, seed: u64, options: &Options) -> Result<Box<dyn Routing + Send>> {
    registry::build(ROUTINGS, "routing", name, options, seed)
}
