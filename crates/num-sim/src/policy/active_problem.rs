//! The active flows as a problem, in order of arrival.

use netnum_core::{Paths, Problem, Utilities};

use super::single_path::single_path;
use crate::error::Result;
use crate::network::{Flow, Flows};

/// The slots of the active flows in order of arrival, and their problem: `utilities` gives the utilities of the flows
/// in slots, in that order and for rates in bit/s.
///
/// # Errors
/// [`Error::Policy`](crate::Error::Policy) naming a flow that spreads over several paths; those of `utilities`.
pub(super) fn problem(
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
