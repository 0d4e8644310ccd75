//! A flow's utility as an allocator has it: a power law with a cap.
//!
//! ```text
//! U'(x) = (w/x)^α,  m ≤ x ≤ r        x(q) = max(m, min(r, w q^(−1/α)))
//! ```
//!
//! This is [`AlphaFair`](crate::AlphaFair) for one flow. Kernels keep it as columns in two other forms, which hold
//! where w^α or w would leave the range of floats: log w^α and α for the values and slopes of a family, and
//! [`PowerDemand`] for the response to a price.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::solve::price::{CEILING, LARGEST_PRICE, PowerDemand};

/// A marginal utility U'(x) = (w/x)^α, from a floor up to a cap.
///
/// ```
/// use netnum_core::PowerLaw;
///
/// let law = PowerLaw::new(6.0, 2.0).with_cap(5.0);
/// assert_eq!(law.marginal(3.0), 4.0);
/// assert_eq!(law.demand(4.0), 3.0);
/// assert_eq!(law.demand(1.0), 5.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerLaw {
    /// w > 0, in units of rate.
    pub weight: f64,
    /// α > 0, finite; 1 is proportional fairness.
    pub alpha: f64,
    /// r, the largest rate that is of use, > 0; ∞ for none, which is left out of text.
    #[serde(default = "no_cap", skip_serializing_if = "is_no_cap")]
    pub cap: f64,
    /// m, the rate that the flow is guaranteed, from 0 to the cap; 0 for none, which is left out of text.
    #[serde(default, skip_serializing_if = "is_no_floor")]
    pub floor: f64,
}

fn no_cap() -> f64 {
    f64::INFINITY
}

fn is_no_cap(cap: &f64) -> bool {
    *cap == f64::INFINITY
}

fn is_no_floor(floor: &f64) -> bool {
    *floor == 0.0
}

impl PowerLaw {
    /// U'(x) = (w/x)^α without a cap and without a floor.
    pub const fn new(weight: f64, alpha: f64) -> Self {
        Self { weight, alpha, cap: f64::INFINITY, floor: 0.0 }
    }

    /// U(x) = w log x without a cap and without a floor.
    pub const fn log(weight: f64) -> Self {
        Self::new(weight, 1.0)
    }

    /// With a cap.
    #[must_use]
    pub const fn with_cap(self, cap: f64) -> Self {
        Self { cap, ..self }
    }

    /// With a floor.
    #[must_use]
    pub const fn with_floor(self, floor: f64) -> Self {
        Self { floor, ..self }
    }

    /// Whether all numbers are in their ranges.
    ///
    /// # Errors
    /// [`Error::Parameter`] and [`Error::FlowFloor`], which name this flow.
    pub fn check(&self, flow: usize) -> Result<()> {
        let wrong = |name, value, expected| Err(Error::Parameter { flow, name, value, expected });
        if !(self.weight > 0.0 && self.weight.is_finite()) {
            return wrong("weight", self.weight, "a finite number > 0");
        }
        if !(self.alpha > 0.0 && self.alpha.is_finite()) {
            return wrong("alpha", self.alpha, "a finite number > 0");
        }
        if self.cap.is_nan() || self.cap <= 0.0 {
            return wrong("cap", self.cap, "a number > 0 (inf for none)");
        }
        let fits = self.floor >= 0.0 && self.floor <= self.cap && self.floor.is_finite();
        if fits { Ok(()) } else { Err(Error::FlowFloor { flow, value: self.floor, cap: self.cap }) }
    }

    /// Whether w, U' at the ceiling x over a path of that smallest capacity, and x/U', which slopes are like, lie
    /// between 1/`largest` and `largest`. A capacity of ∞ is one that is not known yet.
    ///
    /// # Errors
    /// [`Error::Parameter`] that names this flow.
    pub fn check_range(&self, flow: usize, smallest_capacity: f64, largest: f64) -> Result<()> {
        let rate = self.ceiling(smallest_capacity);
        let price = self.marginal(rate);
        let held = largest.recip()..=largest;
        let slope = rate / price;
        let of_path =
            if smallest_capacity < f64::INFINITY { [rate, price, slope, slope / self.alpha] } else { [1.0; 4] };
        let fits = held.contains(&self.weight) && of_path.iter().all(|number| held.contains(number));
        let expected = "a weight near the capacities, in their unit: prices (weight/rate)^alpha go out of range";
        if fits { Ok(()) } else { Err(Error::Parameter { flow, name: "weight", value: self.weight, expected }) }
    }

    /// U'(x), without the cap.
    pub fn marginal(&self, rate: f64) -> f64 {
        let ratio = self.weight / rate;
        if self.alpha == 1.0 { ratio } else { power(ratio, self.alpha) }
    }

    /// (U')⁻¹(q), at most the cap and at least the floor; without a cap, ∞ for what costs nothing.
    pub fn demand(&self, price: f64) -> f64 {
        let demand =
            if self.alpha == 1.0 { self.weight / price } else { self.weight * price.powf(-self.alpha.recip()) };
        demand.min(self.cap).max(self.floor)
    }

    /// The most that a flow demands over a path of that smallest capacity.
    pub fn ceiling(&self, smallest_capacity: f64) -> f64 {
        self.cap.min(CEILING * smallest_capacity)
    }

    /// U' at the ceiling: below this price the rate does not grow. ∞ where a link has failed, so that the rate is 0 at
    /// any price.
    pub fn lowest_price(&self, smallest_capacity: f64) -> f64 {
        match smallest_capacity > 0.0 {
            true => self.marginal(self.ceiling(smallest_capacity)).clamp(LARGEST_PRICE.recip(), LARGEST_PRICE),
            false => f64::INFINITY,
        }
    }

    /// x U'(x) at the most that a path can carry: what a flow alone there would pay.
    pub fn revenue(&self, smallest_capacity: f64) -> f64 {
        let rate = self.cap.min(smallest_capacity);
        rate * self.marginal(rate)
    }

    /// The response over a path of that smallest capacity, without the floor.
    pub fn over(&self, smallest_capacity: f64) -> PowerDemand {
        let is_log = self.alpha == 1.0;
        let scale = if is_log { self.weight } else { self.weight.ln() };
        PowerDemand { is_log, scale, exponent: self.alpha.recip(), floor: self.lowest_price(smallest_capacity) }
    }
}

/// x^y. Not inlined: compilers would compute it for logs, too, and choose afterwards.
#[inline(never)]
fn power(base: f64, exponent: f64) -> f64 {
    base.powf(exponent)
}
