//! Policies by name, from the list in `mod.rs`.

use netnum_core::Options;
use netnum_core::internal::options::Given;
use netnum_core::internal::registry::Entry;

use super::{POLICIES, Policy};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;

/// A policy by its name.
///
/// # Errors
/// [`Error::Core`] for a name or an option that does not exist, or for a value of another type or out of its range.
pub fn policy(name: &str, options: &Options) -> Result<Box<dyn Policy + Send>> {
    let (entry, given) = POLICIES.given(name, options)?;
    (entry.make)(&given).map_err(|error| error.about_option(&given))
}

/// Makes a policy of [`POLICIES`] from its options.
pub(crate) type MakePolicy = fn(&Given<'_>) -> Result<Box<dyn Policy + Send>>;

pub(super) type PolicyEntry = Entry<MakePolicy>;
