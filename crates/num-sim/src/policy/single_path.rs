//! Policies that are for flows with one path each.

use super::{MakePolicy, POLICIES};
use crate::error::{Error, Result};
use crate::network::Flows;

/// The path of a flow.
///
/// # Errors
/// [`Error::Policy`] naming a flow that spreads over several paths, and the policies that take it.
pub(super) fn single_path<'a>(policy: &str, slot: u32, flows: &'a Flows) -> Result<&'a [u32]> {
    let route = flows.route(slot);
    if route.fractions().iter().all(|&fraction| fraction == 1.0) {
        return Ok(route.links());
    }
    let takes = POLICIES.iter().filter(|policy| matches!(policy.make, MakePolicy::AnyRoute(_)));
    let names: Vec<String> = takes.map(|policy| format!("{:?}", policy.name)).collect();
    let what = format!(
        "cannot take flow {}, which spreads over several paths; \
         use routing \"ecmp\" or \"flow-bender\" (of step 1), or one of the policies {}",
        flows.flow(slot).number,
        names.join(", ")
    );
    Err(Error::Policy { policy: policy.into(), what })
}
