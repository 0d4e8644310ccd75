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

use super::fgm::next_t;
use super::{LinkState, PriceRule};

/// NED with a majorized diagonal, momentum per link, and a slope test.
#[derive(Debug, Clone, PartialEq)]
pub struct FastNed {
    largest_gamma: f64,
    /// γ *(iterate)*.
    gamma: f64,
    /// (t − 1)/t⁺ after 0, 1, … steps, the same for every link, so that none takes roots: as many as there were steps, up
    /// to [`MOST_MOMENTA`], from where on it stays *(derived)*.
    momenta: Vec<f64>,
    /// The t of the next *(derived)*.
    t: f64,
}

/// A step is refused when the dual function's slope along it has turned by more than this.
const STEEPEST: f64 = 0.8;
/// Slopes within this part of all revenue are rounding.
const ROUNDING: f64 = 1e-12;
/// By how much γ grows after an accepted step.
const GROWTH: f64 = 1.5;
/// Steps over which momentum grows; (t − 1)/t⁺ is 0.999 by then.
const MOST_MOMENTA: usize = 4096;

impl FastNed {
    /// The longest step γ > 0; 1 is safe.
    pub fn new(gamma: f64) -> Self {
        Self { largest_gamma: gamma, gamma, momenta: Vec::new(), t: 1.0 }
    }

    fn grow_momentum(&mut self) {
        if self.momenta.len() == MOST_MOMENTA {
            return;
        }
        let grown = next_t(self.t);
        self.momenta.push((self.t - 1.0) / grown);
        self.t = grown;
    }
}

/// What fast NED remembers of a link: where it stood, and what it saw there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// p_l, the point before extrapolation; NaN before the first step.
    base: f64,
    /// Steps since momentum was last dropped.
    age: u32,
    /// y_l, G_l and G_l/H_l of the last accepted point.
    price: f64,
    excess: f64,
    newton_step: f64,
}

impl PriceRule for FastNed {
    type Memory = Memory;

    fn memory(&self) -> Memory {
        Memory { base: f64::NAN, age: 0, price: 0.0, excess: 0.0, newton_step: 0.0 }
    }

    fn counts_priced_links(&self) -> bool {
        true
    }

    fn start(&mut self, _links: &mut dyn Iterator<Item = (LinkState, &mut Memory)>) {
        *self = Self::new(self.largest_gamma);
        self.grow_momentum();
    }

    fn advance(&self, link: &LinkState, memory: &mut Memory) -> f64 {
        let excess = link.excess();
        let next = (link.price + self.gamma * link.newton_step).max(0.0);
        let base = if memory.base.is_nan() { link.price } else { memory.base };
        let change = next - base;
        let age = if excess * change < 0.0 { 0 } else { memory.age };
        *memory =
            Memory { base: next, age: age.saturating_add(1), price: link.price, excess, newton_step: link.newton_step };
        next + self.momenta[(age as usize).min(MOST_MOMENTA - 1)] * change
    }

    fn judges(&self) -> bool {
        true
    }

    /// −G(y⁺)·Δy, G(y)·Δy, c·y⁺.
    fn judge(&self, link: &LinkState, memory: &Memory) -> [f64; 3] {
        let change = link.price - memory.price;
        [-link.excess() * change, memory.excess * change, link.capacity * link.price]
    }

    fn accept(&mut self, [found, foretold, revenue]: [f64; 3]) -> bool {
        if found <= STEEPEST * foretold.abs() + ROUNDING * revenue {
            self.grow_momentum();
            self.gamma = (self.gamma * GROWTH).min(self.largest_gamma);
            return true;
        }
        self.gamma *= 0.5;
        false
    }

    fn retreat(&self, _link: &LinkState, memory: &mut Memory) -> f64 {
        let next = (memory.price + self.gamma * memory.newton_step).max(0.0);
        (memory.base, memory.age) = (next, 0);
        next
    }
}
