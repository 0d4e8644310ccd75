//! Active flows as a problem.

use netnum_core::{Paths, Problem, Utilities};

use super::Rates;
use crate::error::Result;
use crate::network::{Flow, Flows};

/// The problem of the flows in some slots, with their utilities for rates in bit/s. A flow that spreads in fixed parts
/// has one path with coefficients; a pooled one has all its paths.
///
/// # Errors
/// The core's.
pub(super) fn problem_of(capacities: &[f64], slots: &[u32], flows: &Flows, utilities: Utilities) -> Result<Problem> {
    // Coefficients are empty while all are 1.
    let (mut indptr, mut links, mut coefficients) = (vec![0], Vec::new(), Vec::new());
    let (mut group, mut pooled) = (Vec::new(), false);
    for (&slot, flow) in slots.iter().zip(0..) {
        let route = flows.route(slot);
        match route.pooled() {
            None => {
                if !route.is_whole() {
                    coefficients.resize(links.len(), 1.0);
                    coefficients.extend(route.coefficients());
                }
                links.extend_from_slice(route.links());
                indptr.push(links.len());
            }
            Some(paths) => {
                pooled = true;
                for (path, path_links) in paths.iter().enumerate() {
                    coefficients.resize(links.len(), 1.0);
                    links.extend_from_slice(path_links);
                    coefficients.extend(paths.entries(path).map(|(_, coefficient)| coefficient));
                    indptr.push(links.len());
                }
            }
        }
        group.resize(indptr.len() - 1, flow);
    }
    let coefficients = (!coefficients.is_empty()).then(|| {
        coefficients.resize(links.len(), 1.0);
        coefficients
    });
    let paths = Paths::from_rows(indptr, links, coefficients);
    let caps = slots.iter().map(|&slot| flows.flow(slot).cap).collect();
    Ok(match pooled {
        false => Problem::new(capacities.to_vec(), paths, utilities)?.with_rate_caps(caps)?,
        true => Problem::grouped(capacities.to_vec(), paths, group, utilities)?.with_flow_caps(caps)?,
    })
}

/// Sets the rates of the flows in some slots, from those of the paths of their problem.
pub(super) fn set_rates(slots: &[u32], flows: &Flows, mut path_rates: &[f64], rates: &mut Rates) {
    for &slot in slots {
        let (own, others) = path_rates.split_at(flows.route(slot).pooled().map_or(1, Paths::len));
        match flows.route(slot).pooled() {
            None => rates.set(slot, own[0]),
            Some(_) => rates.split(slot, own.to_vec()),
        }
        path_rates = others;
    }
}

/// The flows in some slots.
pub(super) fn flows_in<'a>(slots: &[u32], flows: &'a Flows) -> Vec<&'a Flow> {
    slots.iter().map(|&slot| flows.flow(slot)).collect()
}
