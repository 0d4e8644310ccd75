//! The policies by name.

use netnum_core::registry::{Options, Registry};

use super::{MakePolicy, Policy, clocked, edf, ideal, max_min, pias, rax, srpt, urgency, xwi};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;

/// The policies that [`policy`] builds.
pub static POLICIES: &Registry<MakePolicy> = &Registry::new(
    "policy",
    &[
        max_min::ENTRY,
        srpt::ENTRY,
        edf::ENTRY,
        pias::ENTRY,
        rax::ENTRY,
        rax::PLUS,
        ideal::PROPORTIONAL,
        urgency::ENTRY,
        ideal::ALPHA_FAIR,
        clocked::FLOWTUNE,
        xwi::ENTRY,
        clocked::GRADIENT,
        clocked::RCP,
    ],
);

/// A policy by its name.
///
/// # Errors
/// [`Error::Core`] for a name or an option that does not exist, or for a value of another type or out of its range.
pub fn policy(name: &str, options: &Options) -> Result<Box<dyn Policy + Send>> {
    let (entry, given) = POLICIES.given(name, options)?;
    let (MakePolicy::AnyRoute(make) | MakePolicy::SinglePath(make)) = entry.make;
    make(&given).map_err(|error| error.about_option(&given))
}
