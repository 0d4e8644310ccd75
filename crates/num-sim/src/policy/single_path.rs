//! Policies that are for flows with one path each.

use crate::error::{Error, Result};
use crate::network::Flows;

/// The alternatives where flows spread over several paths.
const SPREADS: &str =
    r#"use routing "ecmp" or "flow-bender" (of step 1), or policy "max-min", "srpt", "edf", "pias", "rax" or "rax+""#;

/// The path of a flow.
///
/// # Errors
/// [`Error::Policy`] naming a flow that spreads over several paths.
pub(super) fn single_path<'a>(policy: &str, slot: u32, flows: &'a Flows) -> Result<&'a [u32]> {
    let route = flows.route(slot);
    if route.fractions().iter().all(|&fraction| fraction == 1.0) {
        return Ok(route.links());
    }
    let flow = flows.flow(slot).number;
    let what = format!("cannot take flow {flow}, which spreads over several paths; {SPREADS}");
    Err(Error::Policy { policy: policy.into(), what })
}
