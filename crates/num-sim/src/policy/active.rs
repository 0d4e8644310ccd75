//! The active flows as a problem.

use netnum_core::{Paths, Problem, Utilities};

use crate::error::Result;
use crate::network::{Flow, Flows};

/// The slots of the active flows in order of arrival, and their problem, in which a flow that spreads has one path with
/// coefficients: `utilities` gives the utilities of the flows in slots, in that order and for rates in bit/s.
///
/// # Errors
/// Those of `utilities`, and the core's.
pub(super) fn active_problem(
    capacities: &[f64],
    flows: &Flows,
    utilities: impl Fn(&[u32]) -> Result<Utilities>,
) -> Result<(Vec<u32>, Problem)> {
    let mut slots = flows.active().to_vec();
    slots.sort_unstable_by_key(|&slot| flows.flow(slot).number);
    let (mut indptr, mut links, mut coefficients) = (vec![0], Vec::new(), Vec::new());
    let mut caps = Vec::with_capacity(slots.len());
    for &slot in &slots {
        let route = flows.route(slot);
        links.extend_from_slice(route.links());
        coefficients.extend_from_slice(route.coefficients());
        indptr.push(links.len());
        caps.push(flows.flow(slot).cap);
    }
    let paths = match coefficients.iter().all(|&coefficient| coefficient == 1.0) {
        true => Paths::new(indptr, links),
        false => Paths::with_coefficients(indptr, links, coefficients),
    }?;
    let problem = Problem::new(capacities.to_vec(), paths, utilities(&slots)?)?;
    Ok((slots, problem.with_rate_caps(caps)?))
}

/// The flows in some slots.
pub(super) fn flows_in<'a>(slots: &[u32], flows: &'a Flows) -> Vec<&'a Flow> {
    slots.iter().map(|&slot| flows.flow(slot)).collect()
}
