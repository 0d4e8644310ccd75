//! RCP*: links move a fair-share rate by their utilization, for α-fairness with one α.
//!
//! ```text
//! R_l ← R_l (1 + a (1 − u_l)),   u_l = y_l/c_l      x_s = w_s (Σ_{l ∈ s} a_ls R_l^(−α))^(−1/α)
//! p_l = R_l^(−α):                p_l ← p_l (1 + a (1 − u_l))^(−α), the factor cut to 0.5 … 2
//! ```
//!
//! R_l is the rate per weight at which the link is shared by flows that use one unit of it per unit of rate, a_ls = 1.
//! In prices the flows' part is the common response to p, with the weights as factors, so only the links' part is new.
//! The cut keeps a price from vanishing at once, or from jumping past every float where u ≥ 1 + 1/a.
//!
//! In log p the linearized step is the identity minus a times a matrix whose rows sum to 1 and whose eigenvalues are
//! those of a positive semidefinite one (less where a rate is capped): locally stable for a < 2 on every topology and
//! for every α, and on a single link a = 1 lands at once. Prices of links that are not full fall by a factor and never
//! reach 0, slowly where they are nearly full, so that the gap has a long tail. A price of 0 would stay there: a link
//! that is too full has at least the [`LEAST`] part of the price that NED would add. One pass over the flows per
//! iteration. Sources: NUMFabric (SIGCOMM 2016), eq. 15 and 16, without the queue, as in fluid models; RCP is
//! Dukkipati's (2008).

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::registry::{OptionInfo, OptionRange};
use crate::solve::price::{DELAY, Delayed, LinkState, Memory, PriceRule, Rule, RuleInfo, RuleOf};
use crate::solve::takes::SMOOTH;

/// RCP*, for power-law utilities that share one α.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rcp {
    a: f64,
    alpha: f64,
}

/// The least price of a link that is too full, relative to its Newton step. The price of an idle link then recovers in
/// about 7 doublings; with 1e-6 in about 20, during which a new flow overloads it.
const LEAST: f64 = 1e-2;
/// The most by which a price falls or rises in one step.
const LARGEST_FACTOR: f64 = 2.0;

impl Rcp {
    pub(in crate::solve) const INFO: RuleInfo = RuleInfo {
        name: "rcp",
        summary: "RCP*: fair-share rates that follow utilization, for one common alpha",
        options: || {
            let a = "gain, below 2 to converge, or 1 with delay";
            vec![OptionInfo::number("a", 1.0, OptionRange::Positive, a), DELAY]
        },
        make: RuleOf {
            takes: SMOOTH,
            make: |options, setup| Delayed::new(Self::new(options["a"], setup.alpha), options["delay"] == 1.0).into(),
        },
    };

    /// The gain a > 0, below 2 to converge, and the α > 0 of all utilities.
    pub fn new(a: f64, alpha: f64) -> Self {
        Self { a, alpha }
    }
}

impl PriceRule for Rcp {
    fn check(&self) -> Result<()> {
        OptionRange::Positive.check("a", self.a)?;
        OptionRange::Positive.check("alpha", self.alpha)
    }

    fn common_alpha(&self) -> Option<f64> {
        Some(self.alpha)
    }

    fn depends_on_network(&self) -> bool {
        false
    }

    fn advance(&self, link: &LinkState, _memory: &mut Memory) -> f64 {
        let growth = (1.0 + self.a * (1.0 - link.load / link.capacity)).max(0.0);
        let factor = growth.powf(-self.alpha).clamp(LARGEST_FACTOR.recip(), LARGEST_FACTOR);
        link.price.max(LEAST * link.newton_step) * factor
    }
}

/// Without delay.
impl From<Rcp> for Rule {
    fn from(rule: Rcp) -> Self {
        Delayed::new(rule, false).into()
    }
}
