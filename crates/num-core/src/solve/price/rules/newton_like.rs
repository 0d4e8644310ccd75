//! The Newton-like method: NED with slopes that are measured and not known.
//!
//! ```text
//! p_l ← [p_l + γ G_l/H_l]₊
//! H_l ← s H_l + (1 − s) ΔH,     ΔH = −Δy_l/Δp_l over the last step, where that is positive
//! ```
//!
//! Made for networks whose links measure loads and have no knowledge of utilities. H starts as the exact slope at the
//! first prices, since there is nothing to measure yet. A load also moves because other links' prices do: then ΔH is
//! wrong by as much as they moved, and may be negative or huge. So a measurement counts only if it is positive and both
//! have moved by more than rounding, and H stays within a factor of a thousand of where it started.
//!
//! With the defaults of both it takes 1.5 to 2 times [`Ned`](super::Ned)'s iterations to a gap of 1e−3 on a leaf-spine.
//! It swings for ever at large α (5 there), where slopes change by more than the average can follow. At small α (0.5
//! there) quotients of differences amplify rounding, so that two runs in different units part before both converge. One
//! pass over the flows per iteration. Sources: Athuraliya, Low, *Optimization flow control with Newton-like algorithm*,
//! Telecommunication Systems 2000; Flowtune (NSDI 2017), appendix B.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::registry::{OptionInfo, OptionRange};
use crate::solve::price::{LinkState, Memory, PriceRule, RuleInfo, RuleOf, are_sums, gamma, newton_step};
use crate::solve::takes::SMOOTH;

/// NED with measured slopes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewtonLike {
    gamma: f64,
    smoothing: f64,
}

/// A price or a load that moved by less, relative to itself, tells nothing about the slope but the sign of rounding.
const STILL: f64 = 1e-9;
/// How far a measured slope may be from the first, either way.
const FARTHEST: f64 = 1e3;

impl NewtonLike {
    pub(in crate::solve) const INFO: RuleInfo = RuleInfo {
        name: "newton-like",
        summary: "NED with slopes measured from how loads follow prices",
        options: || {
            let smoothing = "part of the old slope that a measurement leaves";
            vec![gamma(0.5, "step"), OptionInfo::number("smoothing", 0.5, OptionRange::Share, smoothing)]
        },
        make: RuleOf { takes: SMOOTH, make: |options, _| Self::new(options["gamma"], options["smoothing"]).into() },
    };

    /// γ > 0, and the part 0 ≤ s < 1 of the old slope that a measurement leaves.
    pub fn new(gamma: f64, smoothing: f64) -> Self {
        Self { gamma, smoothing }
    }
}

/// The memory is p_l and y_l before the last step, H_l *(iterate)*, and the slope it started from.
impl PriceRule for NewtonLike {
    fn check(&self) -> Result<()> {
        OptionRange::Positive.check("gamma", self.gamma)?;
        OptionRange::Share.check("smoothing", self.smoothing)
    }

    fn is_valid_memory(&self, memory: &Memory) -> bool {
        are_sums(memory) && memory.iter().all(|number| *number >= 0.0)
    }

    fn start(&mut self, links: &mut dyn Iterator<Item = (LinkState, &mut Memory)>) {
        for (LinkState { price, load, slope, .. }, memory) in links {
            *memory = [price, load, slope, slope, 0.0, 0.0];
        }
    }

    fn advance(&self, link: &LinkState, [price, load, slope, first_slope, ..]: &mut Memory) -> f64 {
        let (rise, fall) = (link.price - *price, *load - link.load);
        let moved = rise.abs() > STILL * link.price && fall.abs() > STILL * link.load;
        let measured = fall / rise;
        if moved && measured > 0.0 {
            let mean = self.smoothing * *slope + (1.0 - self.smoothing) * measured;
            *slope = mean.max(*first_slope / FARTHEST).min(*first_slope * FARTHEST);
        }
        (*price, *load) = (link.price, link.load);
        link.price + self.gamma * newton_step(link.excess(), *slope)
    }
}
