//! Dual gradient descent.
//!
//! ```text
//! p_l ← [p_l + γ s G_l]₊,     s = 1 / max_l H_l, with the slopes of the first prices
//! ```
//!
//! G is minus the gradient of the dual function, 1/s bounds its curvature where the iteration starts; H counts every flow
//! once per priced link. Converges slowly for γ ≤ 1 while the curvature does not grow, and diverges when it does: α-fair
//! demand curves steepen as prices fall. Sources: Low, Lapsley, *Optimization flow control*, ToN 1999; Flowtune
//! (NSDI 2017), appendix B; NUMFabric (SIGCOMM 2016), eq. 4. Theirs has γ in the units of the problem; here it has none.

use super::{LinkState, PriceRule};

/// Dual gradient descent, one step length for all links.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    gamma: f64,
    /// γ s *(derived at the start)*.
    step: f64,
}

impl Gradient {
    /// γ > 0, relative to the longest step that is safe at the first prices.
    pub fn new(gamma: f64) -> Self {
        Self { gamma, step: 0.0 }
    }
}

impl PriceRule for Gradient {
    type Memory = ();

    fn memory(&self) {}

    fn counts_priced_links(&self) -> bool {
        true
    }

    fn start(&mut self, links: &mut dyn Iterator<Item = LinkState>) {
        self.step = self.gamma / links.map(|link| link.slope).fold(f64::MIN_POSITIVE, f64::max);
    }

    fn advance(&self, link: &LinkState, (): &mut ()) -> f64 {
        link.price + self.step * link.excess()
    }
}
