//! Allocators of several ranks, each with its own flows over the same links.
//!
//! ```text
//! over       links, capacities, prices, method and settings are the same
//! tick       three flags, with the votes: has a capacity changed, an idle link been taken, the rule to start again?
//!            capacities are the same                                        where one has changed
//!            p_l ← Σ_ranks of what new flows pay for idle links             where one has been taken
//!            [y, H] ← Σ_ranks                                               two numbers per link
//! ```
//!
//! All that follows from the sums is then the same on every rank: prices, and the divisors of a normalizer.

use netnum_core::price::Rule;
use netnum_core::{Error, Normalization, Ranks, Result};
use serde_json::Value;

use super::Allocator;
use crate::flow_blocks::Precision;

impl Allocator {
    /// The beginning of a tick or a response, at the prices that new flows give to idle links.
    ///
    /// # Errors
    /// Those of [`Ranks`], and [`Error::RanksDiffer`] where ranks have different capacities.
    pub(super) fn meet(&mut self) -> Result<()> {
        let ranks = self.engine.ranks.clone();
        let mut all = [!self.agreed, !self.fresh.is_empty(), !self.engine.links.has_started()].map(f64::from);
        ranks.max(&mut all)?;
        let [changed, fresh, starts] = all;
        if changed > 0.0 {
            ranks.check_same_links(&self.capacities, "capacity")?;
            self.agreed = true;
        }
        if fresh > 0.0 {
            self.price_idle_links(&ranks)?;
        }
        if starts > 0.0 {
            self.engine.links.set_started(false);
        }
        Ok(())
    }

    /// Gives the links that were idle the prices that the new flows of all ranks pay there.
    fn price_idle_links(&mut self, ranks: &Ranks) -> Result<()> {
        if !ranks.are_alone() {
            // Of every link how many ranks have new flows there, and what these pay.
            let mut sums = vec![[0.0; 2]; self.capacities.len()];
            self.fresh.iter().for_each(|(&link, &price)| sums[link as usize] = [1.0, price]);
            ranks.sum(sums.as_flattened_mut())?;
            let sums = (0..).zip(&sums).filter(|(_, [ranks, _])| *ranks > 0.0);
            self.fresh = sums.map(|(link, &[_, price])| (link, price)).collect();
        }
        self.fresh.drain().try_for_each(|(link, price)| self.engine.links.set_price(link, price.max(0.0)))
    }

    /// # Errors
    /// As [`over`](Self::over).
    pub(super) fn check_ranks(&self, ranks: &Ranks) -> Result<()> {
        let (settings, rule) = (&self.settings, self.engine.links.rule());
        // These two scale by the sums of all ranks; any other would give the flows of every rank a whole link.
        let by_sums = |by: &Normalization| matches!(by, Normalization::FNorm | Normalization::UNorm);
        if let Some(other) = settings.normalizer.filter(|by| ranks.ranks() > 1 && !by_sums(by)) {
            let expected = "\"f-norm\", \"u-norm\" or None over several ranks: others take all flows at once";
            return Err(Error::setting("normalizer", format!("{:?}", other.name()), expected));
        }
        if let (true, Some(gap)) = (ranks.ranks() > 1, settings.exact) {
            return Err(Error::setting("exact", gap, "none over several ranks: a proof takes all flows at once"));
        }
        if ranks.ranks() > 1 && !self.engine.floors.are_none() {
            let expected = "none over several ranks: floors fit beside those of all flows";
            return Err(Error::setting("flow_floor", "that of a flow", expected));
        }
        ranks.check_same(&[
            format!("there are {} links", self.capacities.len()),
            format!("the method is {:?}", rule.name()),
            match settings.normalizer {
                Some(normalizer) => format!("the normalizer is {:?}", normalizer.name()),
                None => "there is no normalizer".into(),
            },
            format!("update_threshold is {}", settings.update_threshold),
            format!("headroom is {}", settings.headroom),
            format!("flows have numbers of {}", if settings.precision == Precision::F32 { "f32" } else { "f64" }),
        ])?;
        ranks.check_same(&option_facts(rule))?;
        ranks.check_same_links(&self.capacities, "capacity")?;
        ranks.check_same_links(self.engine.links.prices(), "price")
    }
}

/// The numbers of a rule, in the order in which files have them; none of a user-defined rule.
fn option_facts(rule: &Rule) -> Vec<String> {
    fn add(name: &str, value: &Value, facts: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| add(name, value, facts)),
            Value::Bool(value) => facts.push(format!("option {name:?} is {value}")),
            value => facts.extend(value.as_f64().map(|value| format!("option {name:?} is {value}"))),
        }
    }
    let mut facts = Vec::new();
    add("", &serde_json::to_value(rule).unwrap_or_default(), &mut facts);
    facts
}
