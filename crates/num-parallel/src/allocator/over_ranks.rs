//! Allocators of several ranks, each with its own flows over the same links: what the ranks tell each other.
//!
//! ```text
//! over       links, capacities, prices, method and settings are the same
//! tick       three flags, with the votes: has a capacity changed, an idle link been taken, the rule to start again?
//!            capacities are the same                                        where one has changed
//!            p_l ← Σ_ranks of what new flows pay for idle links             where one has been taken
//!            [y, H] ← Σ_ranks                                               two numbers per link
//! ```
//!
//! All that follows from the sums is then the same on every rank: prices, and what a normalizer divides by.

use netnum_core::price::Rule;
use netnum_core::{Error, METHODS, NORMALIZERS, Normalization, Ranks, Result};
use serde_json::Value;

use super::{Allocator, Precision};

impl Allocator {
    /// The beginning of a tick or a response, at the prices that new flows give to idle links.
    ///
    /// # Errors
    /// Those of [`Ranks`], and [`Error::RanksDiffer`] where ranks have different capacities.
    pub(super) fn meet(&mut self) -> Result<()> {
        let ranks = self.engine.ranks().clone();
        let mut all = [!self.agreed, !self.fresh.is_empty(), !self.engine.has_started()].map(f64::from);
        ranks.max(&mut all)?;
        let [changed, fresh, starts] = all;
        if changed > 0.0 {
            self.check_capacities(&ranks)?;
            self.agreed = true;
        }
        if fresh > 0.0 {
            self.price_idle_links(&ranks)?;
        }
        if starts > 0.0 {
            self.engine.set_started(false);
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
        self.fresh.drain().try_for_each(|(link, price)| self.engine.set_price(link, price.max(0.0)))
    }

    fn check_capacities(&self, ranks: &Ranks) -> Result<()> {
        ranks.check_same_links(&self.capacities, "capacity")
    }

    /// # Errors
    /// As [`over`](Self::over).
    pub(super) fn check_ranks(&self, ranks: &Ranks) -> Result<()> {
        let (settings, rule) = (&self.settings, self.engine.rule());
        if settings.normalizer == Some(Normalization::Fill) && ranks.ranks() > 1 {
            let (name, value) = ("normalizer".into(), format!("{:?}", Normalization::Fill.name()));
            let expected =
                "\"f-norm\", \"u-norm\" or None over several ranks: a max-min takes all flows at once".into();
            return Err(Error::Setting { name, value, expected });
        }
        let place = |found: Option<usize>| found.map_or(-1.0, |place| place as f64);
        let given = [
            self.capacities.len() as f64,
            place(METHODS.iter().position(|method| method.name == rule.name())),
            place(NORMALIZERS.iter().position(|entry| Some(entry.make) == settings.normalizer)),
            settings.update_threshold,
            settings.headroom,
            f64::from(u8::from(settings.precision == Precision::F32)),
        ];
        ranks.check_same(&given, |place, value| match place {
            0 => format!("there are {value} links"),
            1 if value < 0.0 => "the method is user-defined".into(),
            1 => format!("the method is {:?}", METHODS[value as usize].name),
            2 if value < 0.0 => "there is no normalizer".into(),
            2 => format!("the normalizer is {:?}", NORMALIZERS[value as usize].name),
            3 => format!("update_threshold is {value}"),
            4 => format!("headroom is {value}"),
            _ => format!("flows have numbers of {}", if value > 0.0 { "f32" } else { "f64" }),
        })?;
        let (names, values) = numbers_of(rule);
        ranks.check_same(&values, |place, value| format!("option {:?} is {value}", names[place]))?;
        self.check_capacities(ranks)?;
        ranks.check_same_links(self.engine.prices(), "price")
    }
}

/// The numbers of a rule by name, in the order in which files have them; none of a user-defined rule.
fn numbers_of(rule: &Rule) -> (Vec<String>, Vec<f64>) {
    fn add(name: &str, value: &Value, numbers: &mut Vec<(String, f64)>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| add(name, value, numbers)),
            Value::Bool(value) => numbers.push((name.into(), f64::from(*value))),
            value => numbers.extend(value.as_f64().map(|value| (name.into(), value))),
        }
    }
    let mut numbers = Vec::new();
    add("", &serde_json::to_value(rule).unwrap_or_default(), &mut numbers);
    numbers.into_iter().unzip()
}
