//! How far rates of flows with several paths are from max-min fair, by reasons why flows cannot have more.
//!
//! A reason is a fair share t with prices p and factors λ ≥ 0, any numbers. With m_g = min(y_g, B_g(t)),
//!
//! ```text
//! slack_f    = c·p + Σ r_p (λ − q_p)₊ − Σ_{g ≠ f} λ_g m_g − λ_f y_f
//! residual_f = min( 1 − y_f/r_f,  min over reasons with λ_f > 0 of max(1 − y_f/B_f(t), slack_f/(slack_f + λ_f y_f)) )
//! ```
//!
//! with r_f its saturation or what all its caps and capacities allow. By weak duality (`cuts.rs`) any feasible rates
//! that leave every other flow g at least m_g give f at most y_f + slack_f/λ_f. So a residual of ε says that f has all
//! but a part ε of B_f(t), and could gain no more than a part ε of what it would then have without taking from a flow
//! that has no more than its own B_g(t). No reason, however wrong, makes a wrong answer look right; one that is missing
//! makes a right answer look wrong. The largest over all flows is 0 for the max-min rates and the reasons that come with
//! them.
//!
//! Cost: O(reasons · (flows + crossings of their links)).

use super::cuts::Network;
use super::flow_shares;
use crate::error::Result;
use crate::problem::Problem;

/// Why flows cannot have more than they have.
pub(crate) type Witness = Vec<Reason>;

/// What keeps some flows where they are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reason {
    pub(super) fair_share: f64,
    /// p_l ≥ 0 of some links, each once.
    pub(super) prices: Vec<(u32, f64)>,
    /// λ_f ≥ 0 of some flows, each once.
    pub(super) factors: Vec<(u32, f64)>,
}

/// The largest residual over the flows that are not closed; 0 when there are none. `rates` are feasible, one per path.
///
/// # Errors
/// As [`bottleneck_residual`](super::bottleneck_residual).
pub(super) fn blocked_residual(problem: &Problem, rates: &[f64], witness: &[Reason], method: &str) -> Result<f64> {
    let network = Network::new(problem, &flow_shares(problem, method)?);
    let natural: Vec<f64> = rates.iter().map(|rate| rate / network.unit).collect();
    let rates = problem.flow_rates(&natural)?;
    let below = |rate: f64, most: f64| if most > rate { 1.0 - rate / most } else { 0.0 };
    let mut residuals: Vec<f64> =
        network.curves.iter().zip(&rates).map(|(curve, &rate)| below(rate, curve.ceiling())).collect();
    for Reason { fair_share, prices, factors } in witness {
        let kept = |flow: u32| rates[flow as usize].min(network.curves[flow as usize].bandwidth(*fair_share));
        let taken: f64 = factors.iter().map(|&(flow, factor)| factor * kept(flow)).sum();
        let slack = network.bound(prices, factors) - taken;
        for &(flow, factor) in factors.iter().filter(|(_, factor)| *factor > 0.0) {
            let (rate, most) = (rates[flow as usize], network.curves[flow as usize].bandwidth(*fair_share));
            let slack = slack - factor * (rate - kept(flow));
            let gain = if slack > 0.0 { slack / (slack + factor * rate) } else { 0.0 };
            let residual = &mut residuals[flow as usize];
            *residual = residual.min(gain.max(below(rate, most)));
        }
    }
    Ok(residuals.into_iter().fold(0.0, f64::max))
}
