//! RCP*: links move a fair-share rate by their utilization, for α-fairness with one α.
//!
//! ```text
//! R_l ← R_l (1 + a (1 − u_l)),   u_l = y_l/c_l      x_s = w_s (Σ_{l ∈ s} R_l^(−α))^(−1/α)
//! p_l = R_l^(−α):                p_l ← p_l (1 + a (1 − u_l))^(−α), the factor cut to 0.5 … 2
//! ```
//!
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

use super::{LinkState, PriceRule};
use crate::error::{Error, Result};
use crate::presolve::Presolved;
use crate::solve::method::OptionRange;

/// RCP*, for power-law utilities that share one α.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rcp {
    a: f64,
    alpha: f64,
}

/// The price of a link that is too full, at least, in parts of its Newton step. With 1e-6 a link that was idle takes some
/// twenty doublings to matter again, which a flow that has just come does not wait for.
const LEAST: f64 = 1e-2;
/// The most by which a price falls or rises in one step.
const LARGEST_FACTOR: f64 = 2.0;

impl Rcp {
    /// The gain a > 0, below 2 to converge, and the α > 0 of all utilities.
    pub fn new(a: f64, alpha: f64) -> Self {
        Self { a, alpha }
    }
}

impl PriceRule for Rcp {
    type Memory = ();

    fn memory(&self) {}

    fn check(&self) -> Result<()> {
        OptionRange::Positive.check("a", self.a)?;
        OptionRange::Positive.check("alpha", self.alpha)
    }

    fn learns_at_start(&self) -> bool {
        false
    }

    fn advance(&self, link: &LinkState, (): &mut ()) -> f64 {
        let growth = (1.0 + self.a * (1.0 - link.load / link.capacity)).max(0.0);
        let factor = growth.powf(-self.alpha).clamp(LARGEST_FACTOR.recip(), LARGEST_FACTOR);
        link.price.max(LEAST * link.newton_step) * factor
    }
}

/// The α that all flows share.
///
/// # Errors
/// [`Error::Unsupported`] naming the first flow whose utility is no power law, or whose α is not the first flow's.
pub(in crate::solve) fn common_alpha(problem: &Presolved) -> Result<f64> {
    let unsupported = |what| Err(Error::Unsupported { method: "rcp".into(), what, instead: "use \"fast-ned\"" });
    let mut first: Option<(u32, f64)> = None;
    for block in &problem.blocks {
        for (place, &flow) in problem.original_flows[block.flows.clone()].iter().enumerate() {
            let Some(alpha) = block.utility.alpha(place) else {
                return unsupported(format!("flow {flow}, whose marginal utility is no power law k x^-alpha"));
            };
            match first {
                None => first = Some((flow, alpha)),
                Some((_, common)) if common == alpha => {}
                Some((other, common)) => {
                    return unsupported(format!("alpha {common} of flow {other} beside alpha {alpha} of flow {flow}"));
                }
            }
        }
    }
    // Without flows any would do.
    Ok(first.map_or(1.0, |(_, alpha)| alpha))
}
