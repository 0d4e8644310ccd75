//! The optimum at every moment: at every change the rates of the largest total utility, proven to a tolerance.
//!
//! Other policies approach it by iterating; this one has it at once. It solves the problem of the active flows, each
//! time from the prices of the last one.

use std::fmt;

use netnum_core::internal::interrupt;
use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use netnum_core::{Ask, Settings, Topology, Utilities, solve};
use serde::{Deserialize, Serialize};

use super::active::{active_problem, flows_in};
use super::clock::Clock;
use super::objective::refuse_endless;
use super::{Event, Objective, Policy, PolicyEntry, Rates};
use crate::error::{Result, positive};
use crate::network::{Flow, Flows};
use crate::workload::Workload;

/// The active flows at a moment.
pub(super) struct Moment<'a> {
    pub(super) slots: &'a [u32],
    pub(super) flows: &'a Flows,
    pub(super) now: f64,
    /// Of the links, at the start.
    pub(super) capacities: &'a [f64],
}

/// The utilities of the active flows.
type UtilitiesOf = Box<dyn Fn(&Moment<'_>) -> Result<Utilities> + Send>;

/// The exact optimum of a utility at every change.
pub struct Ideal {
    name: String,
    utilities: UtilitiesOf,
    /// Whether they value the time that a flow takes, so that it has to end.
    of_times: bool,
    takes_weights: bool,
    settings: Settings,
    /// When utilities change though no flow arrives or ends.
    clock: Option<Clock>,
    /// Of the links now, and at the start.
    capacities: Vec<f64>,
    at_first: Vec<f64>,
    /// Those of the last optimum; empty before the first.
    prices: Vec<f64>,
    changed: bool,
    gap: f64,
}

impl Ideal {
    /// The optimum of user-defined utilities: `utilities` is called with the active flows, in order of arrival, and
    /// returns their utilities for rates in bit/s.
    pub fn new(name: impl Into<String>, utilities: impl Fn(&[&Flow]) -> Result<Utilities> + Send + 'static) -> Self {
        Self::of(name.into(), None, Box::new(move |moment| utilities(&flows_in(moment.slots, moment.flows))))
    }

    /// The optimum of utilities that change while flows run, computed at the ticks of a clock as well.
    pub(super) fn changing(
        name: &str,
        clock: Clock,
        utilities: impl Fn(&Moment<'_>) -> Result<Utilities> + Send + 'static,
    ) -> Self {
        Self { of_times: true, ..Self::of(name.into(), Some(clock), Box::new(utilities)) }
    }

    fn of(name: String, clock: Option<Clock>, utilities: UtilitiesOf) -> Self {
        let (capacities, at_first, prices) = (Vec::new(), Vec::new(), Vec::new());
        let settings = Self::settings(Settings::default().tol);
        Self {
            name,
            utilities,
            of_times: false,
            takes_weights: false,
            settings,
            clock,
            capacities,
            at_first,
            prices,
            changed: false,
            gap: 0.0,
        }
    }

    /// The optimum of one of the utilities that an option names.
    fn by(name: String, objective: Objective) -> Self {
        let utilities = move |moment: &Moment<'_>| objective.of(moment.slots, moment.flows);
        Self { takes_weights: objective.takes_weights(), ..Self::of(name, None, Box::new(utilities)) }
    }

    /// Proportional fairness, weighted where flows have weights.
    pub fn proportional() -> Self {
        Self::by("proportional".into(), Objective::Proportional)
    }

    /// Alpha-fairness, with weights of 1 where flows have none.
    ///
    /// # Errors
    /// A setting's, for an α that is not finite and > 0.
    pub fn alpha_fair(alpha: f64) -> Result<Self> {
        positive("alpha", alpha)?;
        Ok(Self::by(format!("alpha-fair({alpha})"), Objective::AlphaFair(alpha)))
    }

    /// Short completion times: U(x) = x^(1−ε)/size with the size that a flow arrives with, and NUMFabric's ε.
    pub fn min_fct() -> Self {
        Self { of_times: true, ..Self::by("min-fct".into(), Objective::MinFct) }
    }

    /// With other settings for every solve. By default those of `solve`, a proven gap of 1e-6 and every
    /// single rate to a thousandth, in a thousand iterations.
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// With another gap.
    pub(super) fn with_gap(self, tol: f64) -> Result<Self> {
        positive("tol", tol)?;
        Ok(self.with_settings(Self::settings(tol)))
    }

    /// A thousand iterations at most: twenty thousand at every event would take too long where those do not suffice.
    fn settings(tol: f64) -> Settings {
        Settings::default().with_tol(tol).with_max_iterations(1000)
    }
}

pub(super) const PROPORTIONAL: PolicyEntry = Entry {
    name: "proportional",
    summary: "the exact optimum of log x at every change",
    options: options::defaults::<IdealOptions>,
    make: |given| Ok(Box::new(Ideal::proportional().with_gap(given.read::<IdealOptions>()?.tol)?)),
};

pub(super) const ALPHA_FAIR: PolicyEntry = Entry {
    name: "alpha-fair",
    summary: "the exact optimum of alpha-fair utilities at every change",
    options: options::defaults::<AlphaFairOptions>,
    make: |given| Ok(Box::new(given.read::<AlphaFairOptions>()?.policy()?)),
};

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

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        if self.of_times {
            refuse_endless(&self.name, workload)?;
        }
        (self.capacities, self.at_first) = (net.capacities().to_vec(), net.capacities().to_vec());
        (self.prices, self.changed, self.gap) = (Vec::new(), false, 0.0);
        if let Some(clock) = &mut self.clock {
            clock.reset();
        }
        Ok(())
    }

    fn changed(&mut self, event: Event, _flows: &Flows) -> Result<()> {
        if let Event::CapacityChanged { link, capacity } = event {
            self.capacities[link as usize] = capacity;
        }
        self.changed = true;
        Ok(())
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn takes_weights(&self) -> bool {
        self.takes_weights
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        if let Some(clock) = &mut self.clock {
            self.changed |= clock.is_due(now, &self.name)?;
        }
        if std::mem::take(&mut self.changed) && !flows.active().is_empty() {
            let utilities = |slots: &[u32]| (self.utilities)(&Moment { slots, flows, now, capacities: &self.at_first });
            let (slots, problem) = active_problem(&self.capacities, flows, utilities)?;
            let mut ask = Ask::from(self.settings.clone());
            if !self.prices.is_empty() {
                ask = ask.with_prices(std::mem::take(&mut self.prices));
            }
            let solution = solve(&problem, &ask)?;
            interrupt::check()?;
            self.gap = f64::max(self.gap, solution.certificate.relative_gap);
            for (&slot, &rate) in slots.iter().zip(&solution.rates) {
                rates.set(slot, rate);
            }
            // Prices that are not finite are no start.
            self.prices = solution.prices;
            if !self.prices.iter().all(|price| price.is_finite()) {
                self.prices.clear();
            }
        }
        Ok(self.clock.as_ref().map_or(f64::INFINITY, |clock| clock.next(flows)))
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
