//! The price iteration: the only driver of a price rule.
//!
//! ```text
//! start      respond; the rule reads all links
//! advance    p ← the rule, link by link
//! respond    [y, H] ← flows at p;  step sums;  accepted, or p ← backtrack and respond again
//! step       advance, respond                              a solve
//!            respond, advance                              an engine, whose flows change between steps
//! ```

use super::Rule;
use super::flat_directions::FlatDirections;
use super::links::{LARGEST_PRICE, LinkState, Links, MOST_REFUSALS, Memory, UNLIMITED, at_least, sum_links};
use super::respond::Respond;
use super::rule::Sums;
use crate::error::{Error, Result, check_capacity, check_price};
use crate::paths::Paths;
use crate::work::Ranks;

/// Flat directions are taken after so many steps.
const FIRST_SHIFT: usize = 8;

/// Prices of links, moved by a rule from the loads of flows.
///
/// Flows are behind [`Respond`]. Every call costs O(links) beside what the flows take.
#[derive(Debug)]
pub struct LinkPrices {
    pub(super) rule: Rule,
    /// c_l ≥ 0, at most [`UNLIMITED`] *(given)*.
    pub(super) capacities: Vec<f64>,
    /// p_l *(iterate)*.
    pub(super) prices: Vec<f64>,
    /// 1 where p_l > 0 or the link was too full when its price moved, else 0 *(derived)*.
    pub(super) priced: Vec<f64>,
    /// y_l and H_l *(derived)*.
    pub(super) sums: Vec<[f64; 2]>,
    pub(super) memories: Vec<Memory>,
    /// Present where there are many; looked for once.
    flat_directions: Option<FlatDirections>,
    has_looked: bool,
    /// Steps since the start.
    steps: usize,
    /// How often the rule has refused the prices of this step.
    refusals: usize,
    /// Whether the rule has started on the present network.
    pub(super) has_started: bool,
    /// Whether the sums are an accepted response to these prices.
    has_response: bool,
    /// Whether no price of the rule was NaN.
    numbers: bool,
}

impl LinkPrices {
    /// Links of these capacities (0 is a failed link), all at a price of 1 but for those without a limit, which have
    /// none.
    ///
    /// # Errors
    /// [`Error::Capacity`]; [`Error::Setting`] for a rule whose numbers are out of their ranges.
    pub fn new(rule: impl Into<Rule>, capacities: Vec<f64>) -> Result<Self> {
        let rule = rule.into();
        rule.get().check()?;
        capacities.iter().enumerate().try_for_each(|(link, &capacity)| check_capacity(link, capacity))?;
        let links = capacities.len();
        let capacities: Vec<f64> = capacities.into_iter().map(|capacity| capacity.min(UNLIMITED)).collect();
        let prices: Vec<f64> =
            capacities.iter().map(|&capacity| if capacity < UNLIMITED { 1.0 } else { 0.0 }).collect();
        Ok(Self {
            rule,
            capacities,
            priced: prices.clone(),
            prices,
            sums: vec![[0.0; 2]; links],
            memories: vec![Memory::default(); links],
            flat_directions: None,
            has_looked: false,
            steps: 0,
            refusals: 0,
            has_started: false,
            has_response: false,
            numbers: true,
        })
    }

    /// The rule.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Capacity of every link, 1e200 for one without a limit.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// Price of every link.
    pub fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// [load, slope] of every link, of the last response.
    pub fn sums(&self) -> &[[f64; 2]] {
        &self.sums
    }

    /// Whether the rule has started on the present network; if not, [`start`](Self::start) is due.
    pub fn has_started(&self) -> bool {
        self.has_started
    }

    /// Sets the price of every link; the rule is to start again there.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one per link, [`Error::Price`]; nothing has changed then.
    pub fn set_prices(&mut self, prices: &[f64]) -> Result<()> {
        let (found, expected) = (prices.len(), self.prices.len());
        if found != expected {
            return Err(Error::Length { what: "prices".into(), found, expected, per: "link" });
        }
        prices.iter().enumerate().try_for_each(|(link, &price)| check_price(link, price))?;
        for (link, &price) in prices.iter().enumerate() {
            self.put_price(link, price);
        }
        (self.has_started, self.has_response, self.numbers) = (false, false, true);
        Ok(())
    }

    /// Sets the price of one link. A rule whose memory depends on the network starts again, any other goes on. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownLink`], [`Error::Price`]; nothing has changed then.
    pub fn set_price(&mut self, link: u32, price: f64) -> Result<()> {
        self.check_link(link)?;
        check_price(link as usize, price)?;
        self.put_price(link as usize, price);
        self.network_changed();
        Ok(())
    }

    fn put_price(&mut self, link: usize, price: f64) {
        let price = if self.capacities[link] < UNLIMITED { price.min(LARGEST_PRICE) } else { 0.0 };
        self.prices[link] = price;
        self.priced[link] = if price > 0.0 { 1.0 } else { 0.0 };
    }

    /// Changes the capacity of one link. At 0 it has failed, and its price does not move until it returns; at ∞ it has
    /// no price. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownLink`], [`Error::Capacity`]; nothing has changed then.
    pub fn set_capacity(&mut self, link: u32, capacity: f64) -> Result<()> {
        self.check_link(link)?;
        check_capacity(link as usize, capacity)?;
        self.capacities[link as usize] = capacity.min(UNLIMITED);
        self.put_price(link as usize, self.prices[link as usize]);
        self.network_changed();
        Ok(())
    }

    /// Flows or capacities have changed. A rule whose memory
    /// [depends on the network](super::PriceRule::depends_on_network) starts again.
    pub fn network_changed(&mut self) {
        self.has_started &= !self.rule.get().depends_on_network();
        self.has_response = false;
    }

    /// Restores [`has_started`](Self::has_started) after a change of the network that was undone.
    pub fn set_started(&mut self, has_started: bool) {
        self.has_started = has_started;
    }

    /// Checks that there is such a link.
    ///
    /// # Errors
    /// [`Error::UnknownLink`].
    pub fn check_link(&self, link: u32) -> Result<()> {
        let links = self.capacities.len();
        if (link as usize) < links { Ok(()) } else { Err(Error::UnknownLink { link: link.into(), links }) }
    }

    /// Starts the rule at the present prices, and computes the response to them.
    ///
    /// # Errors
    /// Those of [`Respond::respond`]; it may be started again.
    pub fn start(&mut self, flows: &mut dyn Respond) -> Result<()> {
        let at_zero_prices = self.rule.get().starts_at_zero_prices();
        (self.has_started, self.has_response) = (false, false);
        (self.steps, self.refusals) = (0, 0);
        self.flat_directions.iter_mut().for_each(FlatDirections::restart);
        self.memories.fill(Memory::default());
        flows.restart()?;
        if at_zero_prices {
            let (free, all) = (vec![0.0; self.prices.len()], vec![1.0; self.prices.len()]);
            let counted = self.rule.get().counts_priced_links().then_some(&*all);
            flows.respond(&free, counted, &mut self.sums)?;
            start_rule(&mut self.rule, &self.capacities, &free, &self.sums, &mut self.memories);
            for (priced, &price) in self.priced.iter_mut().zip(&self.prices) {
                *priced = if price > 0.0 { 1.0 } else { 0.0 };
            }
        }
        self.respond_once(flows)?;
        if !at_zero_prices {
            start_rule(&mut self.rule, &self.capacities, &self.prices, &self.sums, &mut self.memories);
        }
        (self.has_started, self.has_response) = (true, true);
        Ok(())
    }

    /// Moves every price by the rule.
    pub fn advance(&mut self) {
        let (rule, mut links) = self.split();
        self.numbers = rule.get().advance_all(&mut links);
        (self.has_response, self.refusals) = (false, 0);
    }

    /// The flows' response to the present prices, and to others where the rule refuses these.
    ///
    /// # Errors
    /// Those of [`Respond::respond`], after which it goes on from there.
    pub fn respond(&mut self, flows: &mut dyn Respond) -> Result<()> {
        loop {
            self.respond_once(flows)?;
            let refusals = self.refusals;
            let (rule, mut links) = self.split();
            let sums = if rule.get().needs_step_sums() { rule.get().sum_steps(&links) } else { Sums::default() };
            if refusals == MOST_REFUSALS || rule.get_mut().accept(sums) {
                break;
            }
            self.numbers &= rule.get().backtrack_all(&mut links);
            self.refusals += 1;
        }
        if let Some(flat) = self.flat_directions.as_mut().filter(|_| self.steps > FIRST_SHIFT) {
            flat.judge(self.refusals > 0);
        }
        flows.accepted();
        self.has_response = true;
        Ok(())
    }

    /// The flows' response to the present prices, which stay.
    ///
    /// # Errors
    /// Those of [`Respond::respond`].
    pub fn respond_once(&mut self, flows: &mut dyn Respond) -> Result<()> {
        let counted = self.rule.get().counts_priced_links().then_some(&*self.priced);
        flows.respond(&self.prices, counted, &mut self.sums)
    }

    /// One iteration, which ends with the response to the new prices. A rule that has not [started](Self::has_started)
    /// starts first.
    ///
    /// # Errors
    /// Those of [`Respond::respond`]; the next step then goes on with the response to the same prices.
    pub fn step(&mut self, flows: &mut dyn Respond) -> Result<()> {
        if !self.has_started {
            self.start(flows)?;
        }
        if self.has_response {
            self.shift()?;
            self.advance();
            self.steps += 1;
        }
        self.respond(flows)
    }

    /// Before a step: finds the flat directions of these paths once the steps are due that go along them, for a rule
    /// that takes shifts. O(links) then, O(1) else.
    ///
    /// # Errors
    /// [`Error::Stopped`], and those of [`Ranks`].
    pub(in crate::solve) fn find_flat_directions(&mut self, paths: &Paths, ranks: &Ranks) -> Result<()> {
        if self.steps >= FIRST_SHIFT && !self.has_looked && self.rule.get().takes_shifts() {
            self.flat_directions = FlatDirections::of(self.prices.len(), paths, ranks)?;
            self.has_looked = true;
        }
        Ok(())
    }

    fn shift(&mut self) -> Result<()> {
        let (rule, memories) = (self.rule.get(), &mut self.memories);
        match self.flat_directions.as_mut().filter(|flat| self.steps >= FIRST_SHIFT && flat.goes_on()) {
            Some(flat) => flat.shift(&self.prices, &self.capacities, &self.sums, |link, by| {
                rule.shift(&mut memories[link], by);
            }),
            None => Ok(()),
        }
    }

    /// An estimate of the relative gap, O(links): the value of the links' excess relative to total revenue,
    /// Σ |G_l| p_l / Σ c_l p_l, each price after a Newton step where the link is too full. Near the optimum it is about
    /// the gap. NaN if a price, a load or a slope is NaN.
    pub fn gap_estimate(&self) -> f64 {
        if !self.numbers {
            return f64::NAN;
        }
        let of = |link: &LinkState, _: &Memory| {
            [value_of_excess(link.excess(), link.price, link.newton_step), link.capacity * link.price]
        };
        let [mismatch, revenue] = sum_links((&self.capacities, &self.prices), &self.sums, &self.memories, of);
        if mismatch == 0.0 { 0.0 } else { mismatch / revenue }
    }

    /// The rule, and the links that it moves.
    fn split(&mut self) -> (&mut Rule, Links<'_>) {
        let Self { rule, capacities, prices, priced, sums, memories, .. } = self;
        (rule, Links { capacities, sums, prices, priced, memories })
    }
}

/// Starts a rule on the links.
fn start_rule(rule: &mut Rule, capacities: &[f64], prices: &[f64], sums: &[[f64; 2]], memories: &mut [Memory]) {
    let links = capacities.iter().zip(prices).zip(sums).zip(memories);
    rule.get_mut().start(
        &mut links.map(|(((&capacity, &price), &[load, slope]), memory)| {
            (LinkState::new(capacity, price, load, slope), memory)
        }),
    );
}

/// |G_l| p_l, at the price after a Newton step where a link is too full.
pub(in crate::solve) fn value_of_excess(excess: f64, price: f64, newton_step: f64) -> f64 {
    excess.abs() * (price + at_least(newton_step, 0.0))
}
