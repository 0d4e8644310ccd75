//! The bottleneck link of every path.
//!
//! ```text
//! b_p = argmax { p_l : l ∈ p, load_l ≥ (1 − 10⁻²) c_l, p_l > 10⁻⁹ U'(y_f) }
//! ```
//!
//! The full link with the largest price on the path; the first of equals. A path has none when
//!
//! - it is at its cap, or its flow at its cap or saturation, to 10⁻³: more capacity would not change its rate;
//! - it is idle: its rate is at most 10⁻⁶ of its flow's, or 10⁻⁹ of its smallest capacity;
//! - it is free: no full link of it has a price above 10⁻⁹ U'(y_f).
//!
//! At a gap ε a link with the part s of all revenue may idle by ε/s: hence the tolerance 10⁻² of a full link. Max-min
//! fairness has no prices: there it is the full link on which no flow has a larger fair share, and flows with
//! several paths have none. O(crossings), and one U' per flow.

use crate::certificate::FeasiblePoint;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::max_min::bottleneck_links;
use crate::presolve::{Presolved, smallest};
use crate::problem::Problem;
use crate::utility::Curvature;

/// A link that idles by no more than this is full.
const IDLE: f64 = 1e-2;
/// A rate within this of its cap or saturation is at it.
const AT_LIMIT: f64 = 1e-3;
/// A path with no more than this part of its flow's rate, or of what its links could carry, carries nothing.
const IDLE_SHARE: f64 = 1e-6;
const IDLE_PATH: f64 = 1e-9;
/// A price of no more than this part of U' is none.
const FREE: f64 = 1e-9;

/// The bottleneck of every path of the problem, at a feasible point. Prices are in natural units.
///
/// # Errors
/// Those of the certificate.
pub(super) fn of_paths(
    problem: &Problem,
    presolved: &Presolved,
    point: &FeasiblePoint,
    prices: &[f64],
) -> Result<Vec<Option<u32>>> {
    match problem.curvature() {
        Curvature::MaxMin if problem.is_single_path() => {
            bottleneck_links(problem, &presolved.caller_rates(&point.rates), IDLE)
        }
        Curvature::MaxMin => Ok(vec![None; problem.paths().len()]),
        _ => by_price(presolved, point, prices),
    }
}

/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
fn by_price(problem: &Presolved, point: &FeasiblePoint, prices: &[f64]) -> Result<Vec<Option<u32>>> {
    let FeasiblePoint { rates, flow_rates, relative_loads: loads, .. } = point;
    let marginals = problem.marginals(flow_rates)?;
    let (mut links, mut pacer) = (vec![None; rates.len()], Pacer::new());
    for block in &problem.blocks {
        for flow in block.flows.clone() {
            let rate = flow_rates[flow];
            if rate >= problem.saturations[flow] * (1.0 - AT_LIMIT) {
                continue;
            }
            for path in problem.paths_of(flow) {
                let of_path = problem.paths.links(path);
                pacer.did(of_path.len())?;
                let least = (IDLE_SHARE * rate).max(IDLE_PATH * smallest(&problem.capacities, of_path));
                if rates[path] <= least || rates[path] >= problem.caps[path] * (1.0 - AT_LIMIT) {
                    continue;
                }
                let mut highest = FREE * marginals[flow];
                for &link in of_path {
                    let price = prices[link as usize];
                    if loads[link as usize] >= 1.0 - IDLE && price > highest {
                        (links[path], highest) = (Some(link), price);
                    }
                }
            }
        }
    }
    Ok(problem.caller_links(&links))
}
