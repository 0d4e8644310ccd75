//! FGM, the fast weighted gradient method.
//!
//! ```text
//! p_l ← [v_l + G_l(v)/L_l]₊                      L_l = Σ_{s ∋ l} a_ls Σ_m a_ms/σ_s,  σ_s = min −U_s'' over 0 … x_max
//! v_l = [p_l + (t − 1)/t⁺ (p_l − p_l before)]₊   t⁺ = (1 + √(1 + 4t²))/2, one t for all links
//! ```
//!
//! 1/σ_s bounds the slope of a flow's demand at any price, so that diag(L) is above the Hessian wherever the prices
//! are: no step overshoots, and the dual function falls like 1/k² after k iterations. |U''| is least at the largest
//! rate, where the response is cut; L is therefore the slope of a network whose links are all free, counted once per
//! link of a path, times its coefficients. α-fair slopes grow as x^(1 + α), so for n flows that share a link the bound
//! is too large by about (2n)^(1 + α): steps shorten with the number of flows, and from α = 2 on it crawls. Where |U''|
//! does not fall with the rate (bandwidth functions) the cut gives no bound, and FGM may diverge. One pass over the
//! flows per iteration.
//!
//! Sources: Beck, Nedić, Ozdaglar, Teboulle, *An O(1/k) gradient method for network resource allocation problems*, IEEE
//! Trans. Control of Network Systems 2014; Flowtune (NSDI 2017), §7.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::solve::price::{LARGEST_SUM, LinkState, Memory, PriceRule, RuleInfo, RuleOf, Sums, newton_step};
use crate::solve::takes::SMOOTH;

/// The fast weighted gradient method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fgm {
    /// t *(iterate)*.
    t: f64,
    /// (t − 1)/t⁺ of the next step *(derived)*.
    momentum: f64,
}

/// t⁺, the next of Nesterov's numbers.
fn next_t(t: f64) -> f64 {
    0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt())
}

impl Fgm {
    pub(in crate::solve) const INFO: RuleInfo = RuleInfo {
        name: "fgm",
        summary: "fast weighted gradient: steps from a bound of the slopes, with momentum",
        options: Vec::new,
        make: RuleOf { takes: SMOOTH, make: |_, _| Self::new().into() },
    };

    /// It has no options: the step follows from the utilities.
    pub fn new() -> Self {
        // (t − 1)/t⁺ is 0 at t = 1.
        Self { t: 1.0, momentum: 0.0 }
    }
}

impl Default for Fgm {
    fn default() -> Self {
        Self::new()
    }
}

/// The memory is L_l, and p_l before extrapolation.
impl PriceRule for Fgm {
    fn check(&self) -> Result<()> {
        let Self { t, momentum } = *self;
        if (1.0..1e15).contains(&t) && (0.0..1.0).contains(&momentum) {
            return Ok(());
        }
        let value = format!("t {t} and momentum {momentum}");
        Err(Error::Setting { name: "rule".into(), value, expected: "those of a step".into() })
    }

    fn is_valid_memory(&self, &[steepest, base, ..]: &Memory) -> bool {
        (0.0..=LARGEST_SUM).contains(&steepest) && base >= 0.0
    }

    fn counts_priced_links(&self) -> bool {
        true
    }

    fn starts_at_zero_prices(&self) -> bool {
        true
    }

    fn start(&mut self, links: &mut dyn Iterator<Item = (LinkState, &mut Memory)>) {
        *self = Self::new();
        for (link, [steepest, ..]) in links {
            *steepest = link.slope;
        }
    }

    fn advance(&self, link: &LinkState, [steepest, base, ..]: &mut Memory) -> f64 {
        let next = (link.price + newton_step(link.excess(), *steepest)).max(0.0);
        let change = next - *base;
        *base = next;
        next + self.momentum * change
    }

    /// Every step stands; t counts them.
    fn accept(&mut self, _sums: Sums) -> bool {
        self.t = next_t(self.t);
        self.momentum = (self.t - 1.0) / next_t(self.t);
        true
    }
}
