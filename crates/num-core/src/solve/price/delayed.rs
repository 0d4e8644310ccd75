//! A rule whose prices flows hear of an interval late, as where they travel with packets.
//!
//! ```text
//! x(t) = D(p(t − 1))      p(t + 1) ← the rule, from p(t) and the loads of x(t)
//! ```
//!
//! One interval of feedback delay lowers the gains at which gradients are stable: of z² − z + λ, their characteristic
//! polynomial along an eigenvector, both roots lie in the circle for λ < 1, and without the delay for λ < 2. For rules
//! that judge no step: what they would judge is of other prices.

use serde::{Deserialize, Serialize};

use super::{LARGEST_PRICE, LinkState, PriceRule};
use crate::error::Result;

/// A price rule, with one interval of delay or without.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delayed<Rule> {
    rule: Rule,
    delay: bool,
}

impl<Rule: PriceRule> Delayed<Rule> {
    /// The rule, whose prices flows hear of an interval late where `delay` is true.
    pub fn new(rule: Rule, delay: bool) -> Self {
        Self { rule, delay }
    }
}

/// What a delayed rule remembers of a link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Late<Memory> {
    /// p(t − 1) as flows know it and p(t); none before the first step.
    prices: Option<[f64; 2]>,
    /// The rule's own.
    memory: Memory,
}

impl<Rule: PriceRule> PriceRule for Delayed<Rule> {
    type Memory = Late<Rule::Memory>;

    fn memory(&self) -> Self::Memory {
        Late { prices: None, memory: self.rule.memory() }
    }

    fn check(&self) -> Result<()> {
        self.rule.check()
    }

    fn could_leave(&self, late: &Self::Memory) -> bool {
        let are_prices = |prices: &[f64; 2]| prices.iter().all(|price| (0.0..=LARGEST_PRICE).contains(price));
        late.prices.as_ref().is_none_or(are_prices) && self.rule.could_leave(&late.memory)
    }

    fn counts_priced_links(&self) -> bool {
        self.rule.counts_priced_links()
    }

    fn learns_at_start(&self) -> bool {
        self.rule.learns_at_start()
    }

    fn starts_at_free_links(&self) -> bool {
        self.rule.starts_at_free_links()
    }

    fn start(&mut self, links: &mut dyn Iterator<Item = (LinkState, &mut Self::Memory)>) {
        self.rule.start(&mut links.map(|(link, late)| (link, &mut late.memory)));
    }

    fn advance(&self, link: &LinkState, late: &mut Self::Memory) -> f64 {
        if !self.delay {
            return self.rule.advance(link, &mut late.memory);
        }
        // A price that somebody has set since is the latest.
        let latest = late.prices.filter(|[known, _]| *known == link.price).map_or(link.price, |[_, latest]| latest);
        let next = self.rule.advance(&LinkState { price: latest, ..*link }, &mut late.memory);
        late.prices = Some([latest, next.clamp(0.0, LARGEST_PRICE)]);
        latest
    }
}
