//! Dual gradient descent, with the queue if wanted.
//!
//! ```text
//! p_l ← [p_l + a (G_l + b q_l)]₊,       a as given, or γ / max_l H_l with the slopes of the first prices
//! q_l ← [q_l + G_l]₊                    what has queued up, an iteration being the unit of time
//! ```
//!
//! G is minus the gradient of the dual function, max H bounds its curvature where the iteration starts; H counts every
//! flow once per priced link, times its coefficients. Converges slowly for γ ≤ 1 while the curvature does not grow, and
//! diverges when it does: α-fair demand curves steepen as prices fall. The queue term (b > 0; 0 is without) drains what
//! earlier iterations sent too much. It is integral control: while a queue stands the linearized step is stable only
//! for b < 1, and larger b rely on the cut at an empty queue to end each swing. NUMFabric's b/a with its interval of
//! 16 µs is 0.06. Sources: Low, Lapsley, *Optimization flow control*, ToN 1999; Flowtune (NSDI 2017), appendix B;
//! NUMFabric (SIGCOMM 2016), eq. 4 and 14. Theirs have steps in the units of the problem; γ has none. With coefficients
//! a step that is given is that of links which are counted in units of their largest coefficient.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::registry::{OptionInfo, OptionRange};
use crate::solve::price::{DELAY, Delayed, LARGEST_SUM, LinkState, Memory, PriceRule, Rule, RuleInfo, RuleOf, gamma};
use crate::solve::takes::SMOOTH;

/// Dual gradient descent, one step length for all links.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gradient {
    gamma: f64,
    /// b.
    queue: f64,
    /// a *(given, or derived at the start)*.
    step: f64,
    given: bool,
}

impl Gradient {
    pub(in crate::solve) const INFO: RuleInfo = RuleInfo {
        name: "gradient",
        summary: "dual gradient descent",
        options: || {
            let not_negative = |name, summary| OptionInfo::number(name, 0.0, OptionRange::NotNegative, summary);
            vec![
                gamma(1.0, "step, relative to the longest that is safe at the start"),
                not_negative("queue", "weight of what has queued up, relative to the excess"),
                not_negative("step", "step in the caller's units of price per rate, in place of gamma's; 0 for none"),
                DELAY,
            ]
        },
        make: RuleOf {
            takes: SMOOTH,
            make: |options, setup| {
                let rule = Self::new(options["gamma"], options["queue"]);
                let rule = rule.with_step(options["step"] * setup.price_per_rate);
                Delayed::new(rule, options["delay"] == 1.0).into()
            },
        },
    };

    /// γ > 0, relative to the longest step that is safe at the first prices, and the queue's part b ≥ 0 in it.
    pub fn new(gamma: f64, queue: f64) -> Self {
        Self { gamma, queue, step: 0.0, given: false }
    }

    /// Sets the step a in the units of price per rate, whatever the slopes are; 0 leaves it to γ.
    pub fn with_step(self, step: f64) -> Self {
        Self { given: step > 0.0, step, ..self }
    }
}

impl PriceRule for Gradient {
    fn check(&self) -> Result<()> {
        OptionRange::Positive.check("gamma", self.gamma)?;
        OptionRange::NotNegative.check("queue", self.queue)?;
        OptionRange::NotNegative.check("step", self.step)
    }

    fn is_valid_memory(&self, [queue, ..]: &Memory) -> bool {
        (0.0..=LARGEST_SUM).contains(queue)
    }

    fn counts_priced_links(&self) -> bool {
        true
    }

    fn depends_on_network(&self) -> bool {
        !self.given
    }

    fn start(&mut self, links: &mut dyn Iterator<Item = (LinkState, &mut Memory)>) {
        if !self.given {
            let steepest = links.map(|(link, _)| link.slope).fold(f64::MIN_POSITIVE, f64::max);
            self.step = (self.gamma / steepest).min(f64::MAX);
        }
    }

    /// The memory is q_l.
    fn advance(&self, link: &LinkState, [queue, ..]: &mut Memory) -> f64 {
        let next = link.price + self.step * (link.excess() + self.queue * *queue);
        *queue = (*queue + link.excess()).max(0.0);
        next
    }
}

/// Without delay.
impl From<Gradient> for Rule {
    fn from(rule: Gradient) -> Self {
        Delayed::new(rule, false).into()
    }
}
