//! The optimum at every moment: at every change the rates that are worth the most in all, proven to a tolerance.
//!
//! What other policies approach by iterating, this one has at once. It solves the problem of the flows of the moment,
//! each time from the prices of the last one.

use std::collections::BTreeMap;
use std::fmt;

use netnum_core::{Settings, Solver, Topology, Utilities, interrupt};
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::{Objective, Policy, Rates, active_problem};
use crate::error::{Error, Result};
use crate::network::{Flow, Flows};
use crate::workload::Workload;

/// The flows whose rates are to be worth something.
pub(super) struct Moment<'a> {
    pub(super) slots: &'a [u32],
    pub(super) flows: &'a Flows,
    pub(super) now: f64,
    /// Of the links, as they were at first.
    pub(super) capacities: &'a [f64],
}

/// What the rates of flows are worth, flow by flow.
type Worth = Box<dyn Fn(&Moment<'_>) -> Result<Utilities> + Send>;

/// The exact optimum of a utility at every change.
///
/// It takes flows with one path each: the first that a routing spreads ends the simulation, with an error that names it, when
/// it arrives or moves.
pub struct Ideal {
    name: String,
    worth: Worth,
    settings: Settings,
    /// When utilities change though no flow comes or goes.
    clock: Option<Clock>,
    /// Of the links at the moment, and as they were at first.
    capacities: Vec<f64>,
    at_first: Vec<f64>,
    /// Those of the last optimum; empty before the first.
    prices: Vec<f64>,
    changed: bool,
    gap: f64,
}

impl Ideal {
    /// The optimum of utilities of one's own: `worth` is given the flows of the moment, in order of arrival, and says
    /// what their rates (in bit/s) are worth.
    pub fn new(name: impl Into<String>, worth: impl Fn(&[&Flow]) -> Result<Utilities> + Send + 'static) -> Self {
        Self::of(
            name.into(),
            None,
            Box::new(move |moment| worth(&active_problem::flows_in(moment.slots, moment.flows))),
        )
    }

    /// The optimum of utilities that change while flows run, and are asked for at the ticks of a clock as well.
    pub(super) fn changing(
        name: &str,
        clock: Clock,
        worth: impl Fn(&Moment<'_>) -> Result<Utilities> + Send + 'static,
    ) -> Self {
        Self::of(name.into(), Some(clock), Box::new(worth))
    }

    fn of(name: String, clock: Option<Clock>, worth: Worth) -> Self {
        let (capacities, at_first, prices) = (Vec::new(), Vec::new(), Vec::new());
        let settings = Self::settings(Settings::default().tol);
        Self { name, worth, settings, clock, capacities, at_first, prices, changed: false, gap: 0.0 }
    }

    /// Proportional fairness.
    pub fn proportional() -> Self {
        Self::new("proportional", |flows| Objective::Proportional.of(flows))
    }

    /// Alpha-fairness with weights of 1.
    ///
    /// # Errors
    /// A setting's, for an α that is not finite and > 0.
    pub fn alpha_fair(alpha: f64) -> Result<Self> {
        if !(alpha.is_finite() && alpha > 0.0) {
            return Err(Error::setting("alpha", alpha, "a finite number > 0"));
        }
        let utility = Objective::AlphaFair(alpha);
        Ok(Self::new(format!("alpha-fair({alpha})"), move |flows| utility.of(flows)))
    }

    /// Short completion times: U(x) = x^(1−ε)/size with the size that a flow arrives with, and NUMFabric's ε.
    pub fn min_fct() -> Self {
        Self::new("min-fct", |flows| Objective::MinFct.of(flows))
    }

    /// The same, with other settings for every solve. By default those of `solve`, a proven gap of 1e-6 and every single
    /// rate to a thousandth, in a thousand iterations.
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// The same to a gap of one's own.
    pub(super) fn with_gap(self, tol: f64) -> Result<Self> {
        if !(tol.is_finite() && tol > 0.0) {
            return Err(Error::setting("tol", tol, "a finite number > 0"));
        }
        Ok(self.with_settings(Self::settings(tol)))
    }

    /// Where a thousand iterations do not get there, twenty thousand at every event would stand in the way of the rest.
    fn settings(tol: f64) -> Settings {
        Settings::default().with_tol(tol).with_max_iterations(1000)
    }
}

/// Options of an optimum.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct IdealOptions {
    /// The gap to prove at every change.
    pub(super) tol: f64,
}

impl Default for IdealOptions {
    fn default() -> Self {
        Self { tol: Settings::default().tol }
    }
}

/// Options of the optimum of x^(1−α)/(1−α).
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AlphaFairOptions {
    alpha: f64,
    tol: f64,
}

impl Default for AlphaFairOptions {
    /// α = 2, where what counts is the time that a bit takes.
    fn default() -> Self {
        Self { alpha: 2.0, tol: Settings::default().tol }
    }
}

impl AlphaFairOptions {
    pub(super) fn policy(self) -> Result<Ideal> {
        Ideal::alpha_fair(self.alpha)?.with_gap(self.tol)
    }
}

impl Policy for Ideal {
    fn name(&self) -> &str {
        &self.name
    }

    fn start(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        (self.capacities, self.at_first) = (net.capacities().to_vec(), net.capacities().to_vec());
        (self.prices, self.changed, self.gap) = (Vec::new(), false, 0.0);
        if let Some(clock) = &mut self.clock {
            clock.reset();
        }
        Ok(())
    }

    fn arrive(&mut self, _slot: u32, _flows: &Flows) {
        self.changed = true;
    }

    fn leave(&mut self, _slot: u32, _flows: &Flows) {
        self.changed = true;
    }

    fn cap_changed(&mut self, _slot: u32, _flows: &Flows) {
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
        if let Some(clock) = &mut self.clock {
            self.changed |= clock.is_due(now, &self.name)?;
        }
        if std::mem::take(&mut self.changed) && !flows.active().is_empty() {
            let worth = |slots: &[u32]| (self.worth)(&Moment { slots, flows, now, capacities: &self.at_first });
            let (slots, problem) = active_problem::problem(&self.name, &self.capacities, flows, worth)?;
            let mut solver = Solver::new(&problem, "auto", &BTreeMap::new())?;
            if !self.prices.is_empty() {
                solver.warm_start(&self.prices)?;
            }
            let solution = solver.run(&self.settings, &mut ())?;
            interrupt::check()?;
            self.gap = f64::max(self.gap, solution.certificate.relative_gap);
            for (&slot, &rate) in slots.iter().zip(&solution.rates) {
                rates.set(slot, rate);
            }
            // From prices that have left the floats nothing can go on.
            self.prices = solution.prices;
            if !self.prices.iter().all(|price| price.is_finite()) {
                self.prices.clear();
            }
        }
        let next = self.clock.as_ref().filter(|_| !flows.active().is_empty());
        Ok(next.map_or(f64::INFINITY, Clock::next))
    }

    fn gap(&self) -> f64 {
        self.gap
    }
}

impl fmt::Debug for Ideal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ideal").field("name", &self.name).field("gap", &self.gap).finish_non_exhaustive()
    }
}
