//! A rule whose prices reach flows one interval late, as where they travel with packets.
//!
//! ```text
//! x(t) = D(p(t − 1))      p(t + 1) ← the rule, from p(t) and the loads of x(t)
//! ```
//!
//! One interval of feedback delay lowers the gains at which gradients are stable: of z² − z + λ, their characteristic
//! polynomial along an eigenvector, both roots lie in the circle for λ < 1, and without the delay for λ < 2. Not for
//! rules with a step test, whose sums would belong to older prices.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::solve::price::{LARGEST_PRICE, LinkState, Memory, PriceRule};

/// A price rule, with one interval of delay or without.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delayed<Rule> {
    rule: Rule,
    delay: bool,
}

impl<Rule: PriceRule> Delayed<Rule> {
    /// The rule, whose prices reach flows one interval late where `delay` is true. Of the memory it has the first four
    /// numbers.
    pub fn new(rule: Rule, delay: bool) -> Self {
        Self { rule, delay }
    }
}

/// The last two numbers of the memory are p(t − 1), which flows respond to, and p(t); 0 before the first step.
impl<Rule: PriceRule> PriceRule for Delayed<Rule> {
    fn check(&self) -> Result<()> {
        if self.delay && self.rule.needs_step_sums() {
            let (name, value) = ("delay".into(), "1".into());
            return Err(Error::Setting { name, value, expected: "0 for a rule that may refuse a step".into() });
        }
        self.rule.check()
    }

    fn is_valid_memory(&self, memory: &Memory) -> bool {
        let [rest @ .., published, latest] = *memory;
        let mut of_rule = Memory::default();
        of_rule[..4].copy_from_slice(&rest);
        [published, latest].iter().all(|price| (0.0..=LARGEST_PRICE).contains(price))
            && self.rule.is_valid_memory(&of_rule)
    }

    fn common_alpha(&self) -> Option<f64> {
        self.rule.common_alpha()
    }

    fn counts_priced_links(&self) -> bool {
        self.rule.counts_priced_links()
    }

    fn depends_on_network(&self) -> bool {
        self.rule.depends_on_network()
    }

    fn starts_at_zero_prices(&self) -> bool {
        self.rule.starts_at_zero_prices()
    }

    fn start(&mut self, links: &mut dyn Iterator<Item = (LinkState, &mut Memory)>) {
        self.rule.start(links);
    }

    fn advance(&self, link: &LinkState, memory: &mut Memory) -> f64 {
        if !self.delay {
            return self.rule.advance(link, memory);
        }
        let [.., published, latest] = *memory;
        // A price that was set since is the latest.
        let latest = if published == link.price { latest } else { link.price };
        let next = self.rule.advance(&LinkState { price: latest, ..*link }, memory);
        [memory[4], memory[5]] = [latest, next.clamp(0.0, LARGEST_PRICE)];
        latest
    }
}
