//! The residual of max-min rates, independent of the method that found them.
//!
//! ```text
//! residual of a flow = min( 1 − x/r,  min over links l ∈ p of max(1 − load_l/c_l, 1 − x/B(f_l)) )
//! f_l = the largest fair share on link l = max over its flows of F(x)
//! ```
//!
//! with r its cap or saturation: the flow's distance from being satisfied, or from having a bottleneck that is full
//! and on which no flow has a larger fair share. The largest over all flows is 0 exactly for the max-min rates. Fair
//! shares are compared in rates, so that the residual is relative to them. Where B is flat a rate belongs to many fair
//! shares; the smallest counts, and a rate that is above a flat piece by no more than rounding is on it.
//!
//! Flows with several paths need more than a link (`witness.rs`).
//!
//! Cost: O(crossings) and two curves evaluated per crossing.

use super::flow_shares;
use super::witness::{Inequality, witness_residual};
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::normalize::relative_loads;
use crate::problem::Problem;

/// Its name in errors.
const METHOD: &str = "certify";
/// What a rate may be above a flat piece of its curve and still be on it, relative.
const ROUNDING: f64 = 1e-12;

/// The largest residual over the flows that are not closed; 0 when there are none. `rates` are feasible. The witness is
/// needed where flows have several paths.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) for utilities without a fair share, and
/// [`Error::Utility`](crate::Error::Utility) for one with a bad weight.
pub(super) fn bottleneck_residual(problem: &Problem, rates: &[f64], witness: &[Inequality]) -> Result<f64> {
    if !problem.is_single_path() {
        return witness_residual(problem, rates, witness, METHOD);
    }
    let mut residual = 0.0f64;
    each_path(problem, rates, |_, nearest, _| residual = residual.max(nearest))?;
    Ok(residual)
}

/// The bottleneck of every path: none where it is closed or at its cap or saturation, or where no link is within
/// `near` of being one. For flows with one path each.
///
/// # Errors
/// As [`bottleneck_residual`].
pub(crate) fn bottleneck_links(problem: &Problem, rates: &[f64], near: f64) -> Result<Vec<Option<u32>>> {
    let mut links = vec![None; rates.len()];
    each_path(problem, rates, |path, nearest, link| links[path] = link.filter(|_| nearest <= near))?;
    Ok(links)
}

/// Calls with the residual of every path that is not closed, and the link that it is about; none for a cap or
/// saturation.
fn each_path(problem: &Problem, rates: &[f64], mut visit: impl FnMut(usize, f64, Option<u32>)) -> Result<()> {
    let of_flow = flow_shares(problem, METHOD)?;
    let shares = || problem.group().iter().map(|&flow| &of_flow[flow as usize]);
    let loads = relative_loads(problem.capacities(), problem.paths(), rates.iter().copied());
    let mut largest = vec![0.0f64; problem.links()];
    let mut pacer = Pacer::new();
    for ((links, share), &rate) in problem.paths().iter().zip(shares()).zip(rates) {
        pacer.did(links.len())?;
        let fair_share = share.least(rate * (1.0 - ROUNDING));
        for &link in links {
            largest[link as usize] = largest[link as usize].max(fair_share);
        }
    }
    for (path, (links, share)) in problem.paths().iter().zip(shares()).enumerate() {
        pacer.did(links.len())?;
        if problem.is_closed(path) {
            continue;
        }
        let below = |most: f64| if most > rates[path] { 1.0 - rates[path] / most } else { 0.0 };
        let most = problem.rate_cap(path).min(share.saturation());
        let mut nearest = (if most.is_finite() { below(most) } else { f64::INFINITY }, None);
        let fair_share = share.least(rates[path]);
        if rates[path] > 0.0 && (fair_share.is_infinite() || fair_share == 0.0) {
            // A share that no float can hold cannot be compared with another.
            visit(path, 1.0, None);
            continue;
        }
        for &link in links {
            let (idle, most) = ((1.0 - loads[link as usize]).max(0.0), largest[link as usize]);
            // B(F(x)) may differ from x by more than rounding; a flow with the largest share on a link has
            // residual 0 there.
            let residual = if fair_share >= most { idle } else { idle.max(below(share.bandwidth(most))) };
            if residual < nearest.0 {
                nearest = (residual, Some(link));
            }
        }
        visit(path, nearest.0, nearest.1);
    }
    Ok(())
}
