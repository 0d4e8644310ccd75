//! The policies by name.

use super::{Policy, PolicyEntry, clocked, edf, ideal, max_min, pias, rax, srpt, urgency, xwi};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::registry::{self, Options};

/// The policies that [`policy`] builds.
pub const POLICIES: &[PolicyEntry] = &[
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
];

/// A policy by its name.
///
/// # Errors
/// [`Error::UnknownName`], [`Error::UnknownOption`], [`Error::Option`]; others for values out of their range.
pub fn policy(name: &str, options: &Options) -> Result<Box<dyn Policy + Send>> {
    registry::build(POLICIES, "policy", name, options, 0)
}
