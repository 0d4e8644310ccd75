//! Numerical saturation of user-defined utilities: U' is rounding of U' at half the rate.
//!
//! The *saturation* of a utility is the rate from which U' = 0. A user-defined utility that does not state one is known
//! by its values only. A flow is *numerically saturated* at the rate z when
//!
//! ```text
//! g = U'(z)/U'(z/2) ≤ 2⁻⁵³     and     U'(2z) ≤ U'(z) g^1.5
//! ```
//!
//! The first says that U'(z) is rounding of U'(z/2). The second says that the tail falls at least about as fast as an
//! exponential: for U' = e^(−z/s), g = e^(−z/2s) and U'(2z)/U'(z) = g². There the first holds from z = 106 s log 2 ≈
//! 74 s on, however wide the link. A power law has U'(2z)/U'(z) = g, and is never numerically saturated.
//!
//! Such a flow is bound-limited (`gap.rs`), with R_f = U'(z/2) z/2 for the smallest z found by halving ŷ of which every
//! double up to ŷ is numerically saturated as well: R_f is no more than the utility of its rate.
//!
//! The rate of a numerically saturated flow is never too small. It is too large only on links with a price to others. A
//! link whose price is below the rounding of U' of every path need not be full.
use super::tolerances::{LEAST_PART, NEGLIGIBLE};
use crate::error::Result;
use crate::interrupt;
use crate::presolve::Presolved;

/// Of a numerically saturated flow: the largest marginal that is rounding, and R. Otherwise both 0.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NumericalSaturation {
    pub(super) rounding: f64,
    pub(super) revenue: f64,
}

impl NumericalSaturation {
    /// Whether a flow with this marginal is numerically saturated.
    pub(super) fn is_at(self, marginal: f64) -> bool {
        self.rounding > 0.0 && marginal <= self.rounding
    }
}

/// The numerical saturation of every flow; empty without user-defined utilities.
pub(super) fn find(problem: &Presolved, flow_rates: &[f64]) -> Result<Vec<NumericalSaturation>> {
    let mut found = Vec::new();
    for block in problem.blocks.iter().filter(|block| block.is_user_defined) {
        found.resize(problem.flows(), NumericalSaturation::default());
        let (places, flows, given) =
            (block.places(&block.flows), block.flows.clone(), &flow_rates[block.flows.clone()]);
        let marginals_at = |factor: f64| {
            let rates: Vec<f64> = given.iter().map(|rate| rate * factor).collect();
            let mut marginals = vec![0.0; rates.len()];
            block.utility.marginal_into(places.clone(), &rates, &mut marginals);
            marginals
        };
        let (mut twice, mut now, mut factor) = (marginals_at(2.0), marginals_at(1.0), 1.0);
        let mut goes_on: Vec<bool> = given.iter().map(|&rate| rate > 0.0).collect();
        // If half the rate is numerically saturated, so is the rate.
        while goes_on.contains(&true) && factor > LEAST_PART {
            interrupt::check()?;
            factor *= 0.5;
            let half = marginals_at(factor);
            for (place, flow) in flows.clone().enumerate() {
                goes_on[place] &= is_negligible(half[place], now[place], twice[place]);
                if goes_on[place] && half[place] > 0.0 {
                    let (rounding, revenue) = (NEGLIGIBLE * half[place], factor * given[place] * half[place]);
                    found[flow] = NumericalSaturation { rounding, revenue };
                }
            }
            (twice, now) = (now, half);
        }
    }
    Ok(found)
}

/// Whether a marginal, with those of half and of twice the rate, is on a tail that falls as an exponential does, or
/// faster, and has become rounding. A power law, however steep, falls by the same factor each time.
fn is_negligible(half: f64, now: f64, twice: f64) -> bool {
    let fall = if half > 0.0 { now / half } else { 0.0 };
    half.is_finite() && fall <= NEGLIGIBLE && twice <= now * fall.powf(1.5)
}

pub(super) fn numerical_saturation_of(
    numerical_saturation: &[NumericalSaturation],
    flow: usize,
) -> NumericalSaturation {
    numerical_saturation.get(flow).copied().unwrap_or_default()
}
