//! The price iteration as plain data. The iteration that is restored has the same bits, where a step is a response and
//! then an advance, as in an engine; whether there is a response is not kept.

use serde::{Deserialize, Serialize};

use super::Rule;
use super::link_prices::LinkPrices;
use super::links::{LARGEST_PRICE, LARGEST_SUM, Memory};
use super::rule::PriceRule;
use crate::error::{Error, Result, check_capacity, check_price};
use crate::interrupt::Pacer;
use crate::interruptible_list;

/// The state of [`LinkPrices`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PricesSnapshot {
    rule: Rule,
    started: bool,
    #[serde(with = "interruptible_list")]
    links: Vec<SavedLink>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLink {
    capacity: f64,
    price: f64,
    priced: bool,
    load: f64,
    slope: f64,
    memory: Memory,
}

impl PricesSnapshot {
    /// Name of the rule's method.
    pub fn method(&self) -> &'static str {
        self.rule.name()
    }

    /// Capacity of every link.
    pub fn capacities(&self) -> impl ExactSizeIterator<Item = f64> {
        self.links.iter().map(|link| link.capacity)
    }
}

impl LinkPrices {
    /// The whole state. O(links).
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a user-defined rule, [`Error::Stopped`].
    pub fn save(&self) -> Result<PricesSnapshot> {
        let rule = self.rule.to_saved()?;
        let (mut links, mut pacer) = (Vec::with_capacity(self.capacities.len()), Pacer::new());
        for (link, &[load, slope]) in self.sums.iter().enumerate() {
            let (capacity, price, priced) = (self.capacities[link], self.prices[link], self.priced[link] > 0.0);
            links.push(SavedLink { capacity, price, priced, load, slope, memory: self.memories[link] });
            pacer.did(1)?;
        }
        Ok(PricesSnapshot { rule, started: self.has_started, links })
    }

    /// The iteration that was saved; its next call is to be a response. O(links).
    ///
    /// # Errors
    /// [`Error::Snapshot`] that names the part which is wrong, or does not fit the others; [`Error::Stopped`].
    pub fn restore(saved: PricesSnapshot) -> Result<Self> {
        let PricesSnapshot { rule, started, links } = saved;
        let mut pacer = Pacer::new();
        rule.get().check().map_err(|error| match error {
            Error::Snapshot(_) => error,
            other => Error::Snapshot(format!("rule: {other}")),
        })?;
        for (link, saved) in links.iter().enumerate() {
            saved.check(link, rule.get())?;
            pacer.did(8)?;
        }
        let mut this = Self::new(rule, links.iter().map(|saved| saved.capacity).collect())?;
        for (link, saved) in links.iter().enumerate() {
            this.prices[link] = saved.price;
            this.priced[link] = if saved.priced { 1.0 } else { 0.0 };
            this.sums[link] = [saved.load, saved.slope];
            this.memories[link] = saved.memory;
        }
        this.has_started = started;
        Ok(this)
    }
}

impl SavedLink {
    /// Whether an iteration by this rule can have led to it.
    fn check(&self, link: usize, rule: &dyn PriceRule) -> Result<()> {
        let wrong = |what: String| Err(Error::Snapshot(format!("links: {what}")));
        let Self { capacity, price, priced, load, slope, ref memory } = *self;
        let valid = check_capacity(link, capacity).and_then(|()| check_price(link, price));
        if let Err(error) = valid {
            return wrong(error.to_string());
        }
        if price > LARGEST_PRICE || (price > 0.0 && !priced) {
            return wrong(format!("link {link} has price {price} and priced {priced}"));
        }
        for (name, sum) in [("load", load), ("slope", slope)] {
            if !(0.0..=LARGEST_SUM).contains(&sum) {
                return wrong(format!("link {link} has {name} {sum}, expected a number >= 0"));
            }
        }
        if !memory.iter().all(|number| number.is_finite()) || !rule.is_valid_memory(memory) {
            return wrong(format!("link {link} has a memory that its rule cannot have left"));
        }
        Ok(())
    }
}
