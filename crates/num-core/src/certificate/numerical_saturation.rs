//! NumericalSaturation: the rates from which more is worth nothing that floats could tell.
//!
//! A user-defined utility is known by its values only, and they are floats. On a tail that falls as an exponential
//! does, or faster, a flow is *satiated* where U'(z) is rounding, 2⁻⁵³ of U'(z/2), and falls on to U'(2z) by that to
//! the power of 3/2 at least: at 74 lengths of an exponential, however wide the link. (A power law falls by the same
//! factor again and again, however steep, and is never satiated.) Such a flow is held, with R_f = U'(z/2) z/2 for the
//! smallest such z that is found by halving ŷ, each half of it such as well: no more than what its rate is worth.
//!
//! The rate of a satiated flow is not too small. It is too large only on links with a price to others, and a link
//! whose price is nothing beside the rounding of U', to every path, need not be full.

use super::FeasiblePoint;
use crate::error::Result;
use crate::interrupt;

/// A marginal is rounding beside one that is larger by more than this.
const NEGLIGIBLE: f64 = 0.5 * f64::EPSILON;
/// Enough is looked for down to this part of a rate.
const LEAST_FACTOR: f64 = 1e-30;

/// Of a flow that has numerical_saturation: the marginals that its utility cannot tell from 0, and R. Else both 0.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NumericalSaturation {
    pub(super) rounding: f64,
    pub(super) revenue: f64,
}

impl NumericalSaturation {
    /// Whether a flow with this marginal has it.
    pub(super) fn is_at(self, marginal: f64) -> bool {
        self.rounding > 0.0 && marginal <= self.rounding
    }
}

impl FeasiblePoint<'_> {
    /// The numerical_saturation of every flow; empty without user-defined utilities.
    pub(super) fn numerical_saturation(&self) -> Result<&[NumericalSaturation]> {
        if self.numerical_saturation.get().is_none() {
            let found = self.find_numerical_saturation()?;
            self.numerical_saturation.get_or_init(|| found);
        }
        Ok(self.numerical_saturation.get().expect("it was found"))
    }

    pub(super) fn find_numerical_saturation(&self) -> Result<Vec<NumericalSaturation>> {
        let mut numerical_saturation = Vec::new();
        for block in self.problem.blocks.iter().filter(|block| block.is_user_defined) {
            numerical_saturation.resize(self.flow_rates.len(), NumericalSaturation::default());
            let (places, flows) = (block.places(&block.flows), block.flows.clone());
            let marginals_at = |factor: f64| {
                let rates: Vec<f64> = self.flow_rates[flows.clone()].iter().map(|rate| rate * factor).collect();
                let mut marginals = vec![0.0; rates.len()];
                block.utility.marginal_into(places.clone(), &rates, &mut marginals);
                marginals
            };
            let (mut twice, mut now, mut factor) = (marginals_at(2.0), marginals_at(1.0), 1.0);
            let mut goes_on: Vec<bool> = self.flow_rates[flows.clone()].iter().map(|&rate| rate > 0.0).collect();
            // Who has numerical_saturation at half of it has numerical_saturation.
            while goes_on.contains(&true) && factor > LEAST_FACTOR {
                interrupt::check()?;
                factor *= 0.5;
                let half = marginals_at(factor);
                for (place, flow) in flows.clone().enumerate() {
                    goes_on[place] &= is_negligible(half[place], now[place], twice[place]);
                    if goes_on[place] && half[place] > 0.0 {
                        let (rounding, revenue) =
                            (NEGLIGIBLE * half[place], factor * self.flow_rates[flow] * half[place]);
                        numerical_saturation[flow] = NumericalSaturation { rounding, revenue };
                    }
                }
                (twice, now) = (now, half);
            }
        }
        Ok(numerical_saturation)
    }
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
