//! NUMFabric's xWI on a clock: rates are the weighted max-min of the weights at the present prices, at every arrival
//! and end; links move their prices at every tick of a clock.
//!
//! ```text
//! at every arrival and end   x = weighted max-min of w(p)
//! at a tick                  p ← one step of xWI, and the same
//! a link without flows       y = 0:  p ← β p + (1 − β) [p − η p]₊
//! ```
//!
//! A step divides what a flow lacks, U' − q, by its coefficients together: Σ_l a_fl / u_l, in units u_l of the links in
//! which the largest coefficient is 1. Of ones that is the number of links.
//!
//! Swift, NUMFabric's rate control, reaches its max-min at once here. Weights only move at ticks: an arrival or an end
//! costs what it costs the policy `max-min`, a tick a water-filling of all flows. Source: Nagaraj et al., *NUMFabric*,
//! SIGCOMM 2016, §4 and §6.

use std::collections::BTreeMap;

use netnum_core::internal::LARGEST_PRICE;
use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use netnum_core::{METHODS, PowerLaw, Topology};

use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::max_min::Weighted;
use super::{Event, Objective, Policy, PolicyEntry, Rates};
use crate::error::Result;
use crate::network::{Flows, Route};
use crate::numbers::{ALIKE, FLOW};
use crate::setters::setters;
use crate::workload::Workload;

/// Options of xWI. By default as in most of the paper's experiments: every 30 µs, η = 5, β = 0.5, proportional
/// fairness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct XwiOptions {
    /// Seconds between two steps, > 0.
    pub interval: f64,
    /// How fast links that are not full lose price; ≥ 0.
    pub eta: f64,
    /// The weight of the old price in a step; 0 ≤ and < 1.
    pub beta: f64,
    /// Bound of weights, relative to the path's smallest capacity; > 0. Utilities whose weights differ by many decades,
    /// as those for short completion times do, need a large one.
    pub heaviest: f64,
    /// The utility of rates.
    #[serde(deserialize_with = "Objective::read")]
    pub utility: Objective,
}

setters!(XwiOptions {
    with_interval: interval: f64,
    with_eta: eta: f64,
    with_beta: beta: f64,
    with_heaviest: heaviest: f64,
    with_utility: utility: Objective,
});

impl Default for XwiOptions {
    fn default() -> Self {
        Self { interval: 30e-6, eta: 5.0, beta: 0.5, heaviest: 10.0, utility: Objective::default() }
    }
}

impl XwiOptions {
    /// Those of the core's method.
    fn of_method(&self) -> BTreeMap<String, f64> {
        let options = [("eta", self.eta), ("beta", self.beta), ("heaviest", self.heaviest)];
        options.map(|(name, value)| (name.into(), value)).into()
    }
}

pub(super) const ENTRY: PolicyEntry = Entry {
    name: XWI,
    summary: "NUMFabric: weights from prices that move at intervals, rates by weighted max-min at once",
    options: options::defaults::<XwiOptions>,
    make: |given| Ok(Box::new(Xwi::new(given.read()?)?)),
};

/// Its name, here and in the core.
const XWI: &str = "xwi";

/// xWI on a clock.
#[derive(Debug)]
pub struct Xwi {
    options: XwiOptions,
    clock: Clock,
    capacities: Vec<f64>,
    /// The rate that counts as 1 in utilities and weights: the largest capacity at first.
    unit: f64,
    /// Of all links *(iterate)*, and whether there was a step since the start.
    prices: Vec<f64>,
    moved: bool,
    /// u_l: the largest coefficient of any flow so far; 0 before the first.
    link_units: Vec<f64>,
    shared: Weighted,
    /// Whether flows, caps or capacities have changed, and whether that changes the weights of all flows.
    changed: bool,
    reweigh_all: bool,
}

impl Xwi {
    /// xWI on a clock.
    ///
    /// # Errors
    /// A setting's, naming the option out of its range.
    pub fn new(options: XwiOptions) -> Result<Self> {
        let clock = Clock::new(options.interval)?;
        options.utility.check()?;
        METHODS.numbers(METHODS.get(XWI)?, &options.of_method())?;
        Ok(Self {
            options,
            clock,
            capacities: Vec::new(),
            unit: 1.0,
            prices: Vec::new(),
            moved: false,
            link_units: Vec::new(),
            shared: Weighted::default(),
            changed: false,
            reweigh_all: false,
        })
    }

    /// U'(x) = (w/x)^α, in a unit of price at which it is near 1 for rates like those of the network.
    fn utility(&self, slot: u32, flows: &Flows) -> PowerLaw {
        let law = self.options.utility.power_law(slot, flows, self.unit);
        PowerLaw { weight: law.weight.clamp(f64::MIN_POSITIVE, f64::MAX), ..law }
    }

    /// (U')⁻¹ of the price of its path, bounded relative to what the path can carry, in units.
    fn weight(&self, slot: u32, flows: &Flows) -> f64 {
        let route = flows.route(slot);
        let heaviest = self.options.heaviest * route.narrowest(&self.capacities);
        f64::min(self.utility(slot, flows).demand(self.price(route)), heaviest) / self.unit
    }

    /// q of a route.
    fn price(&self, route: &Route) -> f64 {
        route.iter().map(|(link, coefficient)| coefficient * self.prices[link as usize]).sum()
    }

    /// The prices to begin with: every flow's revenue at an equal share, split evenly over the links of its route.
    fn first_prices(&mut self, flows: &Flows) -> Result<()> {
        let mut counts = vec![0.0; self.capacities.len()];
        let mut pacer = Pacer::new();
        let open = |slot: u32| self.is_open(slot, flows);
        for &slot in flows.active().iter().filter(|&&slot| open(slot)) {
            flows.route(slot).links().iter().for_each(|&link| counts[link as usize] += 1.0);
            pacer.did(FLOW)?;
        }
        let mut prices = vec![0.0; counts.len()];
        for &slot in flows.active().iter().filter(|&&slot| open(slot)) {
            let (flow, route) = (flows.flow(slot), flows.route(slot));
            let share = |(link, coefficient): (u32, f64)| {
                self.capacities[link as usize] / (coefficient * counts[link as usize])
            };
            let (share, links) = (route.iter().map(share).fold(flow.cap, f64::min), route.links());
            let revenue = share * f64::min(self.utility(slot, flows).marginal(share), LARGEST_PRICE);
            for &link in links {
                prices[link as usize] += revenue / links.len() as f64 / self.capacities[link as usize];
            }
            pacer.did(FLOW)?;
        }
        prices.iter_mut().for_each(|price| *price = f64::min(*price, LARGEST_PRICE));
        self.prices = prices;
        Ok(())
    }

    /// Whether its cap and all links of its route are > 0.
    fn is_open(&self, slot: u32, flows: &Flows) -> bool {
        flows.flow(slot).cap > 0.0 && flows.route(slot).narrowest(&self.capacities) > 0.0
    }

    /// Moves the prices.
    fn step(&mut self, flows: &Flows) -> Result<()> {
        let links = self.capacities.len();
        // min (U' − q)/Σ a over the flows of every link that count, and its load.
        let (mut residuals, mut loads) = (vec![f64::INFINITY; links], vec![0.0; links]);
        let mut pacer = Pacer::new();
        for &slot in flows.active().iter().filter(|&&slot| self.is_open(slot, flows)) {
            pacer.did(FLOW)?;
            let (flow, route, rate) = (flows.flow(slot), flows.route(slot), self.shared.rate(slot));
            let marginal = f64::min(self.utility(slot, flows).marginal(rate), LARGEST_PRICE);
            let residual = marginal - self.price(route);
            let mut coefficients = 0.0;
            for (link, coefficient) in route.iter() {
                loads[link as usize] += coefficient * rate;
                coefficients += coefficient / self.link_units[link as usize];
            }
            // A rate at its cap, or of 0, need not fit the prices.
            if (rate >= flow.cap * (1.0 - ALIKE) && residual >= 0.0) || (rate <= 0.0 && residual <= 0.0) {
                continue;
            }
            for &link in route.links() {
                let least = &mut residuals[link as usize];
                *least = f64::min(*least, residual / coefficients);
            }
        }
        let XwiOptions { eta, beta, .. } = self.options;
        let links = residuals.iter().zip(&self.link_units).zip(loads.iter().zip(&self.capacities));
        for (price, ((&residual, &unit), (&load, &capacity))) in self.prices.iter_mut().zip(links) {
            let residual = if residual.is_finite() { residual / unit } else { 0.0 };
            let idle = if capacity > 0.0 { f64::max(0.0, 1.0 - load / capacity) } else { 1.0 };
            let next = (*price + residual - eta * idle * *price).clamp(0.0, LARGEST_PRICE);
            *price = beta * *price + (1.0 - beta) * next;
        }
        self.moved = true;
        Ok(())
    }

    /// Gives all flows the weights of the prices as they are.
    fn reweigh(&mut self, flows: &Flows) -> Result<()> {
        let mut shared = std::mem::take(&mut self.shared);
        let done = shared.reweigh(flows, |slot| self.weight(slot, flows));
        self.shared = shared;
        done
    }
}

impl Policy for Xwi {
    fn name(&self) -> &str {
        XWI
    }

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.options.utility.check_flows(XWI, workload, 0)?;
        self.capacities = net.capacities().to_vec();
        let largest = self.capacities.iter().copied().fold(0.0, f64::max);
        self.unit = if largest > 0.0 { largest } else { 1.0 };
        self.clock.reset();
        self.shared.reset(&self.capacities);
        (self.prices, self.moved) = (vec![0.0; self.capacities.len()], false);
        self.link_units = vec![0.0; self.capacities.len()];
        (self.changed, self.reweigh_all) = (false, false);
        Ok(())
    }

    fn add_flows(&mut self, workload: &Workload, first: usize) -> Result<()> {
        self.options.utility.check_flows(XWI, workload, first)
    }

    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        self.changed = true;
        match event {
            Event::Arrived(slot) | Event::Rerouted(slot) => {
                for (link, coefficient) in flows.route(slot).iter() {
                    let unit = &mut self.link_units[link as usize];
                    *unit = f64::max(*unit, coefficient);
                }
            }
            Event::CapacityChanged { link, capacity } => {
                self.capacities[link as usize] = capacity;
                self.reweigh_all = true;
            }
            Event::Ended(_) | Event::CapChanged(_) | Event::Sent(..) => {}
        }
        let mut shared = std::mem::take(&mut self.shared);
        shared.change(event, flows, |slot| self.weight(slot, flows));
        self.shared = shared;
        Ok(())
    }

    fn takes_weights(&self) -> bool {
        self.options.utility.takes_weights()
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        let due = self.clock.is_due(now, XWI)?;
        if flows.active().is_empty() {
            return Ok(f64::INFINITY);
        }
        if std::mem::take(&mut self.changed) {
            if !self.moved {
                self.first_prices(flows)?;
            }
            // The weights of flows that have not come or gone are as they were, unless the prices are not.
            if std::mem::take(&mut self.reweigh_all) || !self.moved {
                self.reweigh(flows)?;
            }
        }
        self.shared.update()?;
        if due {
            self.step(flows)?;
            self.reweigh(flows)?;
        }
        self.shared.changes(|slot, rate| rates.set(slot, rate))?;
        Ok(self.clock.next(flows))
    }
}
