//! The bottleneck link of every path.
//!
//! ```text
//! b_p = argmax { a_lp p_l : l ∈ p, load_l ≥ (1 − 10⁻²) c_l, a_lp p_l > 10⁻⁹ U'(y_f) }
//! ```
//!
//! The full link to which the path pays most; the first of equals. A path has none when
//!
//! - it is at its cap, or its flow at its cap or saturation, to 10⁻³: more capacity would not change its rate;
//! - it is idle: its rate is at most 10⁻⁶ of its flow's, or 10⁻⁹ of what its links could carry, and the flow has more
//!   than that: what limits a flow without a rate are the links of all of its paths;
//! - it is free: no full link of it has a price above 10⁻⁹ U'(y_f).
//!
//! At a gap ε a link with the part s of all revenue may idle by ε/s: hence the tolerance 10⁻² of a full link.
//! O(crossings), and one U' per flow.
//!
//! Max-min fairness has no prices of this kind: there it is the full link on which no flow has a larger fair share, or
//! over several paths that of the cut which holds the flow (`max_min/levels.rs`), where prices are found as well.

use crate::certificate::FeasiblePoint;
use crate::error::Result;
use crate::max_min::{self, Inequality, Limits};
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::tolerances::{IDLE_SHARE, NEGLIGIBLE};
use crate::utility::Curvature;

/// A link that idles by no more than this is full.
const IDLE: f64 = 1e-2;
/// A rate within this of its cap or saturation is at it.
const AT_LIMIT: f64 = 1e-3;

/// The bottleneck of every path of the problem at a feasible point, the prices of links, and the cuts of max-min over
/// several paths, which its witness has.
///
/// # Errors
/// Those of the certificate.
pub(crate) fn limits(
    problem: &Problem,
    presolved: &Presolved,
    point: &FeasiblePoint,
    witness: &[Inequality],
) -> Result<Limits> {
    if problem.curvature() == Curvature::MaxMin {
        return max_min::limits(problem, &presolved.caller_rates(&point.rates), witness, IDLE, &*presolved.workers);
    }
    let bottlenecks = by_price(presolved, point)?;
    Ok(Limits { bottlenecks, prices: presolved.caller_prices(&point.prices), cuts: Vec::new() })
}

/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
fn by_price(problem: &Presolved, point: &FeasiblePoint) -> Result<Vec<Option<u32>>> {
    let (rates, flow_rates) = (&point.rates, point.flow_rates());
    let mut marginals = problem.marginals(flow_rates)?;
    for (flow, marginal) in marginals.iter_mut().enumerate() {
        let is_at_limit = flow_rates[flow] >= problem.bounds.saturations[flow] * (1.0 - AT_LIMIT);
        *marginal = if is_at_limit { f64::INFINITY } else { NEGLIGIBLE * *marginal };
    }
    // The price of every full link.
    let of_full = point.prices.iter().zip(&point.relative_loads);
    let of_full: Vec<f64> = of_full.map(|(&price, &load)| if load >= 1.0 - IDLE { price } else { 0.0 }).collect();
    problem.caller_links(
        #[inline(always)]
        |path, flow, row| {
            let nothing = NEGLIGIBLE * row.narrowest(&problem.capacities);
            let is_idle = rates[path] <= (IDLE_SHARE * flow_rates[flow]).max(nothing) && flow_rates[flow] > nothing;
            if is_idle || rates[path] >= problem.bounds.caps[path] * (1.0 - AT_LIMIT) {
                return None;
            }
            let (mut found, mut highest) = (None, marginals[flow]);
            for (link, a) in row.entries() {
                let price = a * of_full[link as usize];
                if price > highest {
                    (found, highest) = (Some(link), price);
                }
            }
            found
        },
    )
}
