//! The optimum at every moment: at every change the rates of the largest total utility, proven to a tolerance.
//!
//! Other policies approach it by iterating; this one has it at once. It solves the problem of the active flows that an
//! event concerns, each time from the prices of the last one. Over pooled routes rates are those of all splits, and the
//! split is part of the solution.

use std::fmt;

use netnum_core::internal::interrupt;
use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use netnum_core::{Ask, Problem, Settings, Topology, Utilities, solve};
use serde::{Deserialize, Serialize};

use super::active::{flows_in, problem_of, set_rates};
use super::clock::Clock;
use super::objective::refuse_endless;
use super::touched::Touched;
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
    /// Whether the utility of a flow depends on that flow alone, and not on others or the time.
    is_constant: bool,
    settings: Settings,
    /// When utilities change though no flow arrives or ends.
    clock: Option<Clock>,
    /// Of the links now, and at the start.
    capacities: Vec<f64>,
    at_first: Vec<f64>,
    /// Those of the last optimum; empty before the first.
    prices: Vec<f64>,
    touched: Touched,
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
            is_constant: false,
            settings,
            clock,
            capacities,
            at_first,
            prices,
            touched: Touched::default(),
            gap: 0.0,
        }
    }

    /// The optimum of one of the utilities that an option names.
    fn by(name: String, objective: Objective) -> Self {
        let utilities = move |moment: &Moment<'_>| objective.of(moment.slots, moment.flows);
        let takes_weights = objective.takes_weights();
        Self { takes_weights, is_constant: true, ..Self::of(name, None, Box::new(utilities)) }
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

    /// Keeps the prices of the links of a problem for the next one.
    fn keep(&mut self, problem: &Problem, prices: Vec<f64>) {
        if !prices.iter().all(|price| price.is_finite()) {
            // They are no start.
            self.prices.clear();
        } else if self.prices.is_empty() {
            self.prices = prices;
        } else {
            problem.paths().indices().iter().for_each(|&link| self.prices[link as usize] = prices[link as usize]);
        }
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
            refuse_endless(&self.name, workload, 0)?;
        }
        (self.capacities, self.at_first) = (net.capacities().to_vec(), net.capacities().to_vec());
        (self.prices, self.touched, self.gap) = (Vec::new(), Touched::default(), 0.0);
        if let Some(clock) = &mut self.clock {
            clock.reset();
        }
        Ok(())
    }

    fn add_flows(&mut self, workload: &Workload, first: usize) -> Result<()> {
        if self.of_times {
            refuse_endless(&self.name, workload, first)?;
        }
        Ok(())
    }

    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        if let Event::CapacityChanged { link, capacity } = event {
            self.capacities[link as usize] = capacity;
        }
        self.touched.change(event, flows);
        if !self.is_constant {
            self.touched.change_all();
        }
        Ok(())
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn takes_weights(&self) -> bool {
        self.takes_weights
    }

    fn splits(&self) -> bool {
        true
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        if let Some(clock) = &mut self.clock {
            // Utilities change with the time.
            if clock.is_due(now, &self.name)? {
                self.touched.change_all();
            }
        }
        let slots = self.touched.take(self.capacities.len(), flows);
        if !slots.is_empty() {
            let moment = Moment { slots: &slots, flows, now, capacities: &self.at_first };
            let problem = problem_of(&self.capacities, &slots, flows, (self.utilities)(&moment)?)?;
            let mut ask = Ask::from(self.settings.clone());
            if !self.prices.is_empty() {
                ask = ask.with_prices(self.prices.clone());
            }
            let solution = solve(&problem, &ask)?;
            interrupt::check()?;
            self.gap = f64::max(self.gap, solution.certificate.relative_gap);
            set_rates(&slots, flows, &solution.rates, rates);
            self.keep(&problem, solution.prices);
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
