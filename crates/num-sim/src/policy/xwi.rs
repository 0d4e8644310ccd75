//! NUMFabric's xWI at work: rates are a weighted max-min of the weights at the present prices, from the moment that flows
//! come or go; links move their prices at every tick of a clock.
//!
//! ```text
//! at every arrival and end   x = weighted max-min of w(p)
//! at a tick                  p ← one step of xWI, and the same
//! a link without flows       y = 0:  p ← β p + (1 − β) [p − η p]₊
//! ```
//!
//! Swift, which gives NUMFabric's flows their max-min, has no time of its own here. An arrival, an end or a tick costs two
//! or three water-fillings of the flows of the moment. Source: Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §4 and §6.

use std::collections::BTreeMap;
use std::fmt;

use netnum_core::{METHODS, Solver, Topology};
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::{Policy, Rates, Utility, moment};
use crate::error::Result;
use crate::flows::Flows;
use crate::workload::Workload;

/// How xWI works. By default as in most of the paper's experiments: every 30 µs, η = 5, β = 0.5, proportional fairness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct XwiOptions {
    /// Seconds between two steps, > 0.
    pub interval: f64,
    /// How fast links that are not full lose price; ≥ 0.
    pub eta: f64,
    /// The part of the old price that a step leaves; 0 ≤ and < 1.
    pub beta: f64,
    /// Bound of weights, relative to the path's smallest capacity; > 0. Utilities whose weights differ by many decades, as
    /// those for short completion times do, need a large one.
    pub heaviest: f64,
    /// What rates are worth.
    pub utility: Utility,
}

impl Default for XwiOptions {
    fn default() -> Self {
        Self { interval: 30e-6, eta: 5.0, beta: 0.5, heaviest: 10.0, utility: Utility::default() }
    }
}

impl XwiOptions {
    /// Those of the core's method.
    fn of_method(&self) -> BTreeMap<String, f64> {
        let options = [("eta", self.eta), ("beta", self.beta), ("heaviest", self.heaviest)];
        options.map(|(name, value)| (name.into(), value)).into()
    }
}

/// Its name, here and in the core.
const XWI: &str = "xwi";

/// xWI on a clock.
///
/// It takes flows with one path each: the first that a routing spreads ends the simulation, with an error that names it, when
/// it arrives or moves.
pub struct Xwi {
    options: XwiOptions,
    clock: Clock,
    capacities: Vec<f64>,
    /// Of all links *(iterate)*; empty before the first flow.
    prices: Vec<f64>,
    /// The flows of the moment, by slot, and their iteration.
    at_work: Option<(Vec<u32>, Solver)>,
    changed: bool,
}

impl Xwi {
    /// xWI on a clock.
    ///
    /// # Errors
    /// A setting's, naming the option out of its range.
    pub fn new(options: XwiOptions) -> Result<Self> {
        let clock = Clock::new(options.interval)?;
        options.utility.check()?;
        if let Some(method) = METHODS.iter().find(|method| method.name == XWI) {
            method.values(&options.of_method())?;
        }
        Ok(Self { options, clock, capacities: Vec::new(), prices: Vec::new(), at_work: None, changed: false })
    }

    /// Goes on with the flows of this moment, from the prices as they are.
    fn begin(&mut self, flows: &Flows) -> Result<()> {
        let utility = self.options.utility;
        let (slots, problem) =
            moment::problem(XWI, &self.capacities, flows, |slots| utility.of(&moment::flows_in(slots, flows)))?;
        let mut solver = Solver::new(&problem, XWI, &self.options.of_method())?;
        if !self.prices.is_empty() {
            solver.warm_start(&self.prices)?;
        }
        self.at_work = Some((slots, solver));
        Ok(())
    }

    /// Moves the prices.
    fn step(&mut self) -> Result<()> {
        let Some((_, solver)) = &mut self.at_work else { return Ok(()) };
        solver.step(1)?;
        let XwiOptions { eta, beta, .. } = self.options;
        let left = beta + (1.0 - beta) * (1.0 - eta).max(0.0);
        let mut next: Vec<f64> = self.prices.iter().map(|price| left * price).collect();
        let found = solver.prices();
        next.resize(found.len(), 0.0);
        for path in solver.problem().paths().iter() {
            path.iter().for_each(|&link| next[link as usize] = found[link as usize]);
        }
        // From prices that have left the floats nothing can go on.
        self.prices = if next.iter().all(|price| price.is_finite()) { next } else { Vec::new() };
        Ok(())
    }
}

impl Policy for Xwi {
    fn name(&self) -> &str {
        XWI
    }

    fn start(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        self.capacities = net.capacities().to_vec();
        self.clock.reset();
        (self.prices, self.at_work, self.changed) = (Vec::new(), None, false);
        Ok(())
    }

    fn arrive(&mut self, _slot: u32, _flows: &Flows) {
        self.changed = true;
    }

    fn leave(&mut self, _slot: u32, _flows: &Flows) {
        self.changed = true;
    }

    fn recap(&mut self, _slot: u32, _flows: &Flows) {
        self.changed = true;
    }

    fn set_capacity(&mut self, link: usize, capacity: f64) {
        self.capacities[link] = capacity;
        self.changed = true;
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        let due = self.clock.is_due(now, XWI)?;
        if flows.active().is_empty() {
            // Without flows nothing is worth a tick; prices stay.
            self.at_work = None;
            return Ok(f64::INFINITY);
        }
        if std::mem::take(&mut self.changed) {
            self.begin(flows)?;
        }
        if due {
            self.step()?;
        }
        if let Some((slots, solver)) = &self.at_work {
            for (&slot, rate) in slots.iter().zip(solver.raw_rates()) {
                rates.set(slot, rate);
            }
        }
        Ok(self.clock.next())
    }
}

impl fmt::Debug for Xwi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Xwi").field("options", &self.options).finish_non_exhaustive()
    }
}
