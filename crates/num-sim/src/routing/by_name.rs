//! The routings by name.

use netnum_core::registry::{Options, Registry};

use super::{MakeRouting, Routing, adaptive, ecmp, flow_bender, k_shortest, spray};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;

/// The routings that [`routing`] builds.
pub static ROUTINGS: &Registry<MakeRouting> =
    &Registry::new("routing", &[ecmp::ENTRY, flow_bender::ENTRY, spray::ENTRY, k_shortest::ENTRY, adaptive::ENTRY]);

/// A routing by its name; its random draws are those of a seed.
///
/// # Errors
/// [`Error::Core`] for a name or an option that does not exist, or for a value of another type or out of its range.
pub fn routing(name: &str, seed: u64, options: &Options) -> Result<Box<dyn Routing + Send>> {
    let (entry, given) = ROUTINGS.given(name, options)?;
    (entry.make)(&given, seed).map_err(|error| error.about_option(&given))
}
