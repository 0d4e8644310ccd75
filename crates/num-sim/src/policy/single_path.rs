//! Flows with one path each, for the policies that take no others, and the active ones as a problem.

use netnum_core::{Paths, Problem, Utilities};

use super::{MakePolicy, POLICIES};
use crate::error::{Error, Result};
use crate::network::{Flow, Flows};

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

/// The slots of the active flows in order of arrival, and their problem: `utilities` gives the utilities of the flows
/// in slots, in that order and for rates in bit/s.
///
/// # Errors
/// [`Error::Policy`] naming a flow that spreads over several paths; those of `utilities`.
pub(super) fn active_problem(
    policy: &str,
    capacities: &[f64],
    flows: &Flows,
    utilities: impl Fn(&[u32]) -> Result<Utilities>,
) -> Result<(Vec<u32>, Problem)> {
    let mut slots = flows.active().to_vec();
    slots.sort_unstable_by_key(|&slot| flows.flow(slot).number);
    let mut paths = Paths::from_lists([[0; 0]; 0]);
    let mut caps = Vec::with_capacity(slots.len());
    for &slot in &slots {
        paths.push(single_path(policy, slot, flows)?);
        caps.push(flows.flow(slot).cap);
    }
    let problem = Problem::new(capacities.to_vec(), paths, utilities(&slots)?)?;
    Ok((slots, problem.with_rate_caps(caps)?))
}

/// The flows in some slots.
pub(super) fn flows_in<'a>(slots: &[u32], flows: &'a Flows) -> Vec<&'a Flow> {
    slots.iter().map(|&slot| flows.flow(slot)).collect()
}
