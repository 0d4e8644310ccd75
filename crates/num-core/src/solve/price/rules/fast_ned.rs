//! Fast NED: NED with a majorized diagonal along conjugate directions, with a slope test. The default.
//!
//! ```text
//! z_l = [p_l + u a_l]₊ + δ_l    G(z) = G(p) + u g        least dual on the line of the last step, from two slopes
//! p_l ← [z_l + s (G_l(z)/H_l + β a_l)]₊                  H_l = Σ_s a_ls Σ_{m priced} a_ms |x_s'|
//! a = p − z,  g = G(p) − G(z),  κ = −Σ a g               the last step, and the curvature along it
//! u = Σ a G(p)/κ,   β = Σ g G(z)/H / κ,   s ← s (1 + u)  sums over the links that are priced or too full
//! accept p⁺ if −G(p⁺)·Δp ≤ 0.8 |G(p)·Δp|                 else s ← s/2 (at most γ), straight from p: z = p, β = 0
//! ```
//!
//! p are prices, z the extrapolated prices, G = y − c the excess; H counts every flow once per priced link. These are
//! nonlinear conjugate gradients on the dual function, with H as preconditioner. The change of G along a step gives its
//! optimal length, used in the next step: that starts at z, where G is interpolated without another pass over the
//! flows. Where all flows have an end on either side of a fabric, raising all prices of one side and lowering those of
//! the other changes hardly any rate. Conjugate directions keep components along such flat directions; steps G/H are
//! short there. Where there are many, z takes in a shift along them as well, from `flat_directions.rs`.
//!
//! Since H ≥ the whole Hessian on the priced links, a step of s = 1 along G/H cannot overshoot by more than its
//! curvature changes on the way. Longer ones and β can, and so can interpolation where prices reach 0. The slope test
//! refuses such steps: at their end the dual function rises steeply. The test needs no objective values, whose
//! differences are below rounding near the optimum. One pass over the flows per iteration, one more for every refused
//! step.
//!
//! Sources: NED as in [`Ned`](super::Ned); β of Hestenes and Stiefel, *Methods of conjugate gradients for solving
//! linear systems*, 1952, between 0 and 1.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::registry::OptionRange;
use crate::solve::price::{LinkState, Memory, PriceRule, RuleInfo, RuleOf, Sums, are_sums, gamma, newton_step};
use crate::solve::takes::STRICT;
use crate::tolerances::ROUNDING;

/// NED with a majorized diagonal along conjugate directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FastNed {
    gamma: f64,
    /// s *(iterate)*.
    length: f64,
    /// u and β *(derived)*.
    extrapolation: f64,
    beta: f64,
}

/// A step is refused when the dual rises at its end by more than this part of the slope at its start.
const STEEPEST: f64 = 0.8;
/// s/γ is kept between these, which bounds the effect of one outlying curvature.
const LENGTHS: [f64; 2] = [0.7, 3.0];
/// By how much s may grow after refusals.
const GROWTH: f64 = 1.5;
/// The largest u, which bounds extrapolation beyond the points at which excesses are known.
const MAX_EXTRAPOLATION: f64 = 1.5;
/// κ is at least this part of Σ H a². Along flat directions κ/Σ H a² is almost 0, and by rounding below.
const FLATTEST: f64 = 1e-3;

impl FastNed {
    pub(in crate::solve) const INFO: RuleInfo = RuleInfo {
        name: "fast-ned",
        summary: "NED with a majorized diagonal along conjugate directions, with a slope test",
        options: || vec![gamma(1.0, "step until a curvature is known")],
        make: RuleOf { takes: STRICT, make: |options, _| Self::new(options["gamma"]).into() },
    };

    /// The step γ > 0 until a curvature is known; 1 is safe.
    pub fn new(gamma: f64) -> Self {
        Self { gamma, length: gamma, extrapolation: 0.0, beta: 0.0 }
    }
}

/// Whether a price can move: it is positive, or its link is too full.
fn is_free(link: &LinkState) -> bool {
    (link.price > 0.0) | (link.excess() > 0.0)
}

/// The memory is z_l and G_l(z), where the last step began; p_l, G_l and G_l/H_l of the last accepted point; and the
/// shift that is due, which z takes in. Where z is below 0 then, path prices are those before the shift.
impl PriceRule for FastNed {
    fn check(&self) -> Result<()> {
        OptionRange::Positive.check("gamma", self.gamma)?;
        let Self { gamma, length, extrapolation, beta } = *self;
        let is_length = length >= 0.0 && length <= gamma * LENGTHS[1];
        if is_length && (-1.0..=MAX_EXTRAPOLATION).contains(&extrapolation) && (0.0..=1.0).contains(&beta) {
            return Ok(());
        }
        let value = format!("length {length}, extrapolation {extrapolation} and beta {beta}");
        Err(Error::Setting { name: "rule".into(), value, expected: "those of a step".into() })
    }

    fn is_valid_memory(&self, memory: &Memory) -> bool {
        let [base, _, price, .., shift] = *memory;
        // A shift is taken in the step that it is found for, and engines make none.
        shift == 0.0 && base >= 0.0 && price >= 0.0 && are_sums(&memory[..4])
    }

    fn counts_priced_links(&self) -> bool {
        true
    }

    fn start(&mut self, links: &mut dyn Iterator<Item = (LinkState, &mut Memory)>) {
        *self = Self::new(self.gamma);
        for (link, [base, base_excess, ..]) in links {
            (*base, *base_excess) = (link.price, link.excess());
        }
    }

    fn advance(&self, link: &LinkState, [base, base_excess, accepted @ ..]: &mut Memory) -> f64 {
        let (excess, shift) = (link.excess(), accepted[3]);
        *accepted = [link.price, excess, link.newton_step, 0.0];
        if !is_free(link) && shift <= 0.0 {
            (*base, *base_excess) = (link.price, excess);
            return link.price;
        }
        let step = link.price - *base;
        *base = (link.price + self.extrapolation * step).max(0.0) + shift;
        *base_excess = excess + self.extrapolation * (excess - *base_excess);
        *base + self.length * (newton_step(*base_excess, link.slope) + self.beta * step)
    }

    fn takes_shifts(&self) -> bool {
        true
    }

    fn shift(&self, [.., shift]: &mut Memory, by: f64) {
        *shift = by;
    }

    fn needs_step_sums(&self) -> bool {
        true
    }

    /// −G(p⁺)·Δp, G(p)·Δp and c·p⁺; then, of free links, Σ a G, −Σ a g, Σ H a², Σ g G/H and Σ g²/H.
    fn step_sums(&self, link: &LinkState, &[base, base_excess, price, accepted_excess, ..]: &Memory) -> Sums {
        let (excess, change, is_free) = (link.excess(), link.price - price, is_free(link));
        // One division, and no branch: which links are free is in no order.
        let (step, excess_change) = if is_free { (link.price - base, excess - base_excess) } else { (0.0, 0.0) };
        let inverse = newton_step(1.0, link.slope);
        // A step from below 0, where a shift ended, to 0: flows respond to it.
        let below = if !is_free & (base < 0.0) { base * (excess - base_excess) } else { 0.0 };
        [
            -excess * change,
            accepted_excess * change,
            link.capacity * link.price,
            step * excess,
            below - step * excess_change,
            step * step * link.slope,
            excess_change * (excess * inverse),
            excess_change * (excess_change * inverse),
        ]
    }

    fn accept(
        &mut self,
        [slope_after, slope_before, revenue, step_excess, curvature, bound, cross, change]: Sums,
    ) -> bool {
        if slope_after <= STEEPEST * slope_before.abs() + ROUNDING * revenue {
            let curvature = curvature.max(FLATTEST * bound);
            let extrapolation = (step_excess / curvature).clamp(-1.0, MAX_EXTRAPOLATION);
            let beta = ((cross + extrapolation * change) / curvature).clamp(0.0, 1.0);
            // Both are NaN where no price moved.
            let is_nan = extrapolation.is_nan() || beta.is_nan();
            (self.extrapolation, self.beta) = if is_nan { (0.0, 0.0) } else { (extrapolation, beta) };
            let [least, most] = LENGTHS.map(|length| length * self.gamma);
            let least = least.min(GROWTH * self.length);
            self.length = (self.length * (1.0 + self.extrapolation)).clamp(least, most);
            return true;
        }
        (self.extrapolation, self.beta) = (0.0, 0.0);
        self.length = if self.length > self.gamma { self.gamma } else { 0.5 * self.length };
        false
    }

    fn backtrack(&self, _link: &LinkState, [base, base_excess, price, excess, step, _]: &mut Memory) -> f64 {
        (*base, *base_excess) = (*price, *excess);
        *price + self.length * *step
    }
}
