//! Fast NED: NED with a majorized diagonal, momentum per link, and a slope test. The default.
//!
//! ```text
//! v_l = [y_l + γ G_l(y)/H_l(y)]₊                     H counts every flow once per priced link: γ = 1 is stable
//! t_l ← 1 where G_l (v_l − p_l) < 0                  momentum that points the wrong way is dropped, link by link
//! t⁺ = (1 + √(1 + 4t²))/2,  y⁺ = [v + (t − 1)/t⁺ (v − p)]₊,  p ← v
//! accept y⁺ if −G(y⁺)·Δy ≤ 0.8 |G(y)·Δy|             else γ ← γ/2, no momentum; γ grows back
//! ```
//!
//! Since H ≥ the whole Hessian on the priced links, a step with γ = 1 cannot overshoot by more than its curvature changes
//! on the way, and the slope test catches that: it asks that the dual function has not begun to rise steeply along the
//! step. It needs no objective values, whose differences drown in rounding near the optimum. One pass over the flows per
//! iteration, one more for every refused step. Sources: NED as in [`Ned`](super::Ned); Nesterov's momentum (1983) with
//! the gradient restart of O'Donoghue, Candès (2015), here for every link on its own.

use super::{LinkState, PriceRule, newton_step};

/// NED with a majorized diagonal, momentum per link, and a slope test.
#[derive(Debug, Clone, PartialEq)]
pub struct FastNed {
    largest_gamma: f64,
    /// γ *(iterate)*.
    gamma: f64,
}

/// A step is refused when the dual function's slope along it has turned by more than this.
const STEEPEST: f64 = 0.8;
/// Slopes within this part of all revenue are rounding.
const ROUNDING: f64 = 1e-12;
/// By how much γ grows after an accepted step.
const GROWTH: f64 = 1.5;

impl FastNed {
    /// The longest step γ > 0; 1 is safe.
    pub fn new(gamma: f64) -> Self {
        Self { largest_gamma: gamma, gamma }
    }
}

/// What fast NED remembers of a link: where it stood, and what it saw there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// p_l, the point before extrapolation; NaN before the first step.
    base: f64,
    /// t_l.
    momentum: f64,
    /// y_l, G_l and H_l of the last accepted point.
    price: f64,
    excess: f64,
    slope: f64,
}

impl PriceRule for FastNed {
    type Memory = Memory;

    fn memory(&self) -> Memory {
        Memory { base: f64::NAN, momentum: 1.0, price: 0.0, excess: 0.0, slope: 0.0 }
    }

    fn counts_priced_links(&self) -> bool {
        true
    }

    fn advance(&self, link: &LinkState, memory: &mut Memory) -> f64 {
        let excess = link.excess();
        let next = (link.price + self.gamma * link.newton_step()).max(0.0);
        let base = if memory.base.is_nan() { link.price } else { memory.base };
        let change = next - base;
        let momentum = if excess * change < 0.0 { 1.0 } else { memory.momentum };
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        *memory = Memory { base: next, momentum: grown, price: link.price, excess, slope: link.slope };
        next + (momentum - 1.0) / grown * change
    }

    /// −G(y⁺)·Δy, G(y)·Δy, c·y⁺.
    fn judge(&self, link: &LinkState, memory: &Memory) -> [f64; 3] {
        let change = link.price - memory.price;
        [-link.excess() * change, memory.excess * change, link.capacity * link.price]
    }

    fn accept(&mut self, [found, foretold, revenue]: [f64; 3]) -> bool {
        if found <= STEEPEST * foretold.abs() + ROUNDING * revenue {
            self.gamma = (self.gamma * GROWTH).min(self.largest_gamma);
            return true;
        }
        self.gamma *= 0.5;
        false
    }

    fn retreat(&self, _link: &LinkState, memory: &mut Memory) -> f64 {
        let next = (memory.price + self.gamma * newton_step(memory.excess, memory.slope)).max(0.0);
        (memory.base, memory.momentum) = (next, 1.0);
        next
    }
}
