//! Weighted max-min fairness: no flow's fair share can be raised without lowering one that is not larger.
//!
//! ```text
//! rates x are max-min fair   ⇔   every flow is at its cap or saturation, or crosses a link that is full and
//!                                on which no flow has a larger fair share: its bottleneck
//! fair share                     f = x/w for a weight w, f = F(x) for a bandwidth function B = F⁻¹
//! ```
//!
//! It is what the optimum of α-fair utilities goes to as α → ∞. Rates are unique, and exact to rounding.
//!
//! | file | what it does |
//! |---|---|
//! | `water_fill.rs` | weights: fast, reusable |
//! | `curves.rs` | bandwidth functions, and weights among them |
//! | `earliest.rs` | which link fills first |
//! | `bottleneck.rs` | how far any rates are from the equivalence above |
//! | `lexicographic.rs` | flows with several paths |
//!
//! Sources: Bertsekas, Gallager, *Data Networks*, 1992, §6.5.2; for bandwidth functions Kumar et al., *BwE*, SIGCOMM
//! 2015; Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2.

mod bottleneck;
mod curves;
mod earliest;
mod lexicographic;
mod water_fill;

pub(crate) use bottleneck::{bottleneck_links, bottleneck_residual};
pub(crate) use water_fill::WaterFill;

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::utility::FairShare;

/// What errors call it.
const METHOD: &str = "max-min";

/// The rate of every path of the max-min fair allocation, in the units of the capacities: over rates per weight for
/// [`AlphaFair`](crate::AlphaFair), over fair shares for [`BandwidthFunction`](crate::BandwidthFunction), whatever
/// their α.
///
/// Closed paths (over a failed link or capped at 0) get 0. With weights alone O(crossings), and a few
/// looks at every link; curves are sorted by their kinks besides.
///
/// # Errors
/// [`Error::Unsupported`] for flows with several paths and for utilities without a [fair
/// share](crate::Utility::fair_share), naming the flow; [`Error::Utility`] when a user's utility has a weight that is
/// not finite and positive.
pub fn max_min(problem: &Problem) -> Result<Vec<f64>> {
    if !problem.is_single_path() {
        return lexicographic::lexicographic(problem);
    }
    let shares = fair_shares(problem, METHOD)?;
    let caps = || (0..shares.len()).map(|path| problem.rate_cap(path)).collect::<Vec<_>>();
    let weights: Option<Vec<f64>> = shares.iter().map(FairShare::as_weight).collect();
    let (capacities, paths) = (problem.capacities(), problem.paths());
    Ok(match weights {
        Some(weights) => {
            let mut rates = vec![0.0; weights.len()];
            let caps = if problem.has_rate_caps() { caps() } else { Vec::new() };
            WaterFill::new(capacities, paths).fill(&weights, &caps, &mut rates);
            rates
        }
        None => curves::fill(capacities, paths, &shares, &caps()),
    })
}

/// The fair share of the flow of every path, for problems with one path per flow.
fn fair_shares<'a>(problem: &'a Problem, method: &str) -> Result<Vec<FairShare<'a>>> {
    let mut of_flow = vec![FairShare::weight(1.0); problem.flows()];
    for block in problem.blocks() {
        for (place, &flow) in block.flows.iter().enumerate() {
            let flow = flow as usize;
            let share = block.utility.fair_share(place).ok_or_else(|| {
                let kind = block.utility.spec(place).map_or("user's own".into(), |spec| spec.kind);
                let what = format!("flow {flow}, whose {kind} utility has no fair share");
                let instead = "use solve(), or AlphaFair or BandwidthFunction for every flow";
                Error::Unsupported { method: method.into(), what, instead }
            })?;
            if let Some(weight) = share.as_weight().filter(|weight| !(weight.is_finite() && *weight > 0.0)) {
                let what = format!("the weight of its fair share is {weight}, expected a finite number > 0");
                return Err(Error::Utility { flow, what });
            }
            of_flow[flow] = share;
        }
    }
    Ok(problem.group().iter().map(|&flow| of_flow[flow as usize]).collect())
}
