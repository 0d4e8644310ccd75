//! Fast NED: NED with a majorized diagonal along conjugate directions, with a slope test. The default.
//!
//! ```text
//! z_l = [y_l + u a_l]₊          G(z) = G(y) + u g        least dual on the line of the last step, from two slopes
//! y_l ← [z_l + s (G_l(z)/H_l + β a_l)]₊                  H counts every flow once per priced link
//! a = y − z,  g = G(y) − G(z),  κ = −Σ a g               the last step, and the curvature along it
//! u = Σ a G(y)/κ,   β = Σ g G(z)/H / κ,   s ← s (1 + u)  sums over the links that are priced or too full
//! accept y⁺ if −G(y⁺)·Δy ≤ 0.8 |G(y)·Δy|                 else s ← s/2 (at most γ), straight from y: z = y, β = 0
//! ```
//!
//! These are nonlinear conjugate gradients on the dual function, with H as preconditioner. A single pass over the flows
//! both tries a step and, by how G changed, tells how long the step should have been; the next one starts from there,
//! at excesses that are interpolated and not found by another pass. Where all flows have an end on either side of a
//! fabric, raising all prices of one side and lowering those of the other changes hardly any rate: the directions
//! remember such a flat one, along which steps of G/H creep.
//!
//! Since H ≥ the whole Hessian on the priced links, a step of s = 1 along G/H cannot overshoot by more than its
//! curvature changes on the way. Longer ones and β can, and so can interpolation where prices reach 0; the slope test
//! catches that: it requires that the dual function has not begun to rise steeply between the two points passed. It
//! needs no objective values, whose differences drown in rounding near the optimum. One pass over the flows per
//! iteration, one more for every refused step.
//!
//! Sources: NED as in [`Ned`](super::Ned); β of Hestenes and Stiefel, *Methods of conjugate gradients for solving
//! linear systems*, 1952, between 0 and 1.

use serde::{Deserialize, Serialize};

use super::{LinkState, Memory, PriceRule, Sums, are_sums, newton_step};
use crate::error::{Error, Result};
use crate::solve::method::{Make, MethodInfo, OptionRange, STRICT, gamma};

/// NED with a majorized diagonal along conjugate directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FastNed {
    gamma: f64,
    /// s *(iterate)*.
    length: f64,
    /// u and β *(derived)*.
    reach: f64,
    turn: f64,
}

/// A step is refused when the dual function's slope along it has turned by more than this.
const STEEPEST: f64 = 0.8;
/// Slopes within this part of all revenue are rounding.
const ROUNDING: f64 = 1e-12;
/// s/γ is kept between these: not so short or long that one odd curvature decides the next steps.
const LENGTHS: [f64; 2] = [0.7, 3.0];
/// By how much s may grow after refusals.
const GROWTH: f64 = 1.5;
/// The largest u: excesses are not extrapolated much farther than the points at which they are known.
const FARTHEST: f64 = 1.5;
/// κ is at least this part of Σ H a², of which it is almost 0 along flat directions, and below it in rounding.
const FLATTEST: f64 = 1e-3;

impl FastNed {
    pub(in crate::solve) const INFO: MethodInfo = MethodInfo {
        name: "fast-ned",
        summary: "NED with a majorized diagonal along conjugate directions, with a slope test",
        options: &[gamma(1.0, "step until a curvature is known")],
        takes: STRICT,
        make: Make::Rule(|options, _| Self::new(options[0]).into()),
    };

    /// The step γ > 0 until a curvature is known; 1 is safe.
    pub fn new(gamma: f64) -> Self {
        Self { gamma, length: gamma, reach: 0.0, turn: 0.0 }
    }
}

/// Whether a price can move: it is not held at 0 by a link that is not full.
fn is_free(link: &LinkState) -> bool {
    link.price > 0.0 || link.excess() > 0.0
}

/// The memory is z_l and G_l(z), where the last step began; and y_l, G_l and G_l/H_l of the last accepted point.
impl PriceRule for FastNed {
    fn check(&self) -> Result<()> {
        OptionRange::Positive.check("gamma", self.gamma)?;
        let Self { gamma, length, reach, turn } = *self;
        let is_length = length >= 0.0 && length <= gamma * LENGTHS[1];
        if is_length && (-1.0..=FARTHEST).contains(&reach) && (0.0..=1.0).contains(&turn) {
            return Ok(());
        }
        Err(Error::Snapshot(format!(
            "rule has length {length}, reach {reach} and turn {turn}, expected those of a step"
        )))
    }

    fn could_leave(&self, memory: &Memory) -> bool {
        let [base, _, price, ..] = *memory;
        base >= 0.0 && price >= 0.0 && are_sums(&memory[..4])
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
        let excess = link.excess();
        *accepted = [link.price, excess, link.newton_step, 0.0];
        if !is_free(link) {
            (*base, *base_excess) = (link.price, excess);
            return link.price;
        }
        let step = link.price - *base;
        *base = (link.price + self.reach * step).max(0.0);
        *base_excess = excess + self.reach * (excess - *base_excess);
        *base + self.length * (newton_step(*base_excess, link.slope) + self.turn * step)
    }

    fn judges(&self) -> bool {
        true
    }

    /// −G(y⁺)·Δy, G(y)·Δy and c·y⁺; then, of free links, Σ a G, −Σ a g, Σ H a², Σ g G/H and Σ g²/H.
    fn judge(&self, link: &LinkState, &[base, base_excess, price, accepted_excess, ..]: &Memory) -> Sums {
        let (excess, change) = (link.excess(), link.price - price);
        let mut sums =
            [-excess * change, accepted_excess * change, link.capacity * link.price, 0.0, 0.0, 0.0, 0.0, 0.0];
        if is_free(link) {
            let (step, turned) = (link.price - base, excess - base_excess);
            sums[3] = step * excess;
            sums[4] = -step * turned;
            sums[5] = step * step * link.slope;
            sums[6] = turned * link.newton_step;
            sums[7] = turned * newton_step(turned, link.slope);
        }
        sums
    }

    fn accept(&mut self, [found, foretold, revenue, ahead, curvature, steepest, across, turned]: Sums) -> bool {
        if found <= STEEPEST * foretold.abs() + ROUNDING * revenue {
            let curvature = curvature.max(FLATTEST * steepest);
            let reach = (ahead / curvature).clamp(-1.0, FARTHEST);
            let turn = ((across + reach * turned) / curvature).clamp(0.0, 1.0);
            // Neither is a number where no price moved.
            (self.reach, self.turn) = if reach.is_nan() || turn.is_nan() { (0.0, 0.0) } else { (reach, turn) };
            let [least, most] = LENGTHS.map(|length| length * self.gamma);
            let least = least.min(GROWTH * self.length);
            self.length = (self.length * (1.0 + self.reach)).clamp(least, most);
            return true;
        }
        (self.reach, self.turn) = (0.0, 0.0);
        self.length = if self.length > self.gamma { self.gamma } else { 0.5 * self.length };
        false
    }

    fn retreat(&self, _link: &LinkState, [base, base_excess, price, excess, step, _]: &mut Memory) -> f64 {
        (*base, *base_excess) = (*price, *excess);
        *price + self.length * *step
    }
}
