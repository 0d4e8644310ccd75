//! A method on a problem, and its state. `run.rs` has the loop.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Ask;
use super::ask::{MakeChosen, Start};
use super::auto::Auto;
use super::deadline::Deadline;
use super::method::{Method, State};
use super::methods::MethodInfo;
use crate::certificate::{Certificate, FeasiblePoint};
use crate::certify::certify_point;
use crate::error::{Error, Result};
use crate::interrupt::StopToken;
use crate::max_min::Inequality;
use crate::normalize;
use crate::presolve::Presolved;
use crate::problem::Problem;

/// In place of a method that was not made: it does nothing.
struct Unmade;

impl Method for Unmade {
    fn start(&mut self, _problem: &Presolved, _state: &mut State) -> Result<f64> {
        Ok(f64::MAX)
    }

    fn step(&mut self, _problem: &Presolved, _state: &mut State) -> Result<f64> {
        Ok(f64::MAX)
    }
}

/// A method on a problem: one iteration at a time, or until a certificate meets the tolerance.
pub struct Solver {
    pub(super) problem: Problem,
    pub(super) presolved: Arc<Presolved>,
    pub(super) method_name: &'static str,
    pub(super) method: Box<dyn Method>,
    /// How it is made again for another problem *(given)*.
    pub(super) ask: Ask,
    /// Present where the method is `auto`.
    pub(super) auto: Option<Auto>,
    pub(super) state: State,
    /// The method's estimate of the relative gap *(derived)*.
    pub(super) estimate: f64,
    pub(super) iteration: usize,
    /// Whether the caller gave the first prices, which may already be optimal.
    pub(super) warm: bool,
    /// Whether the method has started at the state.
    has_begun: bool,
    /// Whether the time was enough to make the method.
    pub(super) is_made: bool,
    /// What making it cost, counted as part of the solve.
    pub(super) made: Duration,
}

impl Solver {
    /// A solver where the solve that is asked for starts. Its [`Settings`](super::Settings) are not used: those of a
    /// run are given to [`run`](Self::run).
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::UnknownOption`], [`Error::Setting`], [`Error::Unsupported`] when the method
    /// cannot take the problem, [`Error::Utility`] when a utility's answers cannot be used; [`Error::Length`],
    /// [`Error::Price`] and [`Error::Rate`] for what to start from; [`Error::Threads`], [`Error::Stopped`], and those
    /// of [`Ranks`](crate::Ranks).
    pub fn new(problem: &Problem, ask: &Ask) -> Result<Self> {
        Self::after(problem, ask, None)
    }

    /// [`new`](Self::new), where the method goes on from what that of another solver has found, if there is one: on a
    /// problem of the same flows over the same paths, or more.
    pub(crate) fn after(problem: &Problem, ask: &Ask, last: Option<&Self>) -> Result<Self> {
        let mut this = Self::by_deadline(problem, ask, last, &Deadline::none(), &mut None)?;
        this.method.write_rates(&this.presolved, &mut this.state);
        Ok(this)
    }

    /// [`new`](Self::new), which leaves the presolved problem as soon as there is one. Where the time is up then, it is
    /// for filling what is known, and the method is not made. It goes on from what the method of the last solver has
    /// found, if there is one.
    pub(super) fn by_deadline(
        problem: &Problem,
        ask: &Ask,
        last: Option<&Self>,
        deadline: &Deadline,
        presolved: &mut Option<Arc<Presolved>>,
    ) -> Result<Self> {
        let began = Instant::now();
        let (name, make) = ask.choose(problem)?;
        let found = presolved.insert(Arc::new(Presolved::by(problem, Arc::clone(&ask.workers))?));
        deadline.punctually(|| {
            let again =
                last.filter(|last| last.method_name == name).map(|last| last.method.again(problem)).transpose()?;
            let make = match again.flatten() {
                Some(method) => Box::new(|_: &Arc<Presolved>| Ok(method)),
                None => make,
            };
            Self::by(problem, Arc::clone(found), (name, make), ask, began)
        })
    }

    /// A solver whose method is not made, as the time was up before: it is run to fill what is known.
    pub(super) fn unmade(problem: &Problem, presolved: Arc<Presolved>, ask: &Ask, began: Instant) -> Result<Self> {
        let (method_name, _) = ask.choose(problem)?;
        let state = State { prices: presolved.first_prices.clone(), rates: vec![0.0; presolved.paths.len()] };
        Ok(Self {
            problem: problem.clone(),
            presolved,
            method_name,
            method: Box::new(Unmade),
            ask: ask.cold(),
            auto: None,
            state,
            estimate: f64::MAX,
            iteration: 0,
            warm: false,
            has_begun: true,
            is_made: false,
            made: began.elapsed(),
        })
    }

    /// [`new`](Self::new) on a problem that is presolved already.
    pub(crate) fn of(problem: &Problem, presolved: Arc<Presolved>, ask: &Ask) -> Result<Self> {
        Self::by(problem, presolved, ask.choose(problem)?, ask, Instant::now())
    }

    fn by(
        problem: &Problem,
        presolved: Arc<Presolved>,
        (method_name, make): (&'static str, MakeChosen<'_>),
        ask: &Ask,
        began: Instant,
    ) -> Result<Self> {
        let mut method = make(&presolved)?;
        let mut state = State { prices: presolved.first_prices.clone(), rates: vec![0.0; presolved.paths.len()] };
        let estimate = method.start(&presolved, &mut state)?;
        let mut this = Self {
            problem: problem.clone(),
            auto: (ask.is_auto() && presolved.ranks().are_alone()).then(Auto::new),
            presolved,
            method_name,
            method,
            ask: ask.cold(),
            state,
            estimate,
            iteration: 0,
            warm: false,
            has_begun: true,
            is_made: true,
            made: Duration::ZERO,
        };
        this.check()?;
        match &ask.start {
            Start::Cold => {}
            Start::Prices(prices) => this.start_at(prices, None)?,
            Start::Point(prices, rates) => this.start_at(prices, Some(rates))?,
        }
        this.made = began.elapsed();
        Ok(this)
    }

    /// Starts again from prices, and from rates if given.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Price`], [`Error::Rate`], [`Error::Utility`]; [`Error::Stopped`].
    fn start_at(&mut self, prices: &[f64], rates: Option<&[f64]>) -> Result<()> {
        self.problem.check_prices(prices)?;
        if let Some(rates) = rates {
            normalize::check(&self.problem, rates)?;
        }
        if self.auto.is_some() {
            self.auto = Some(Auto::new());
            let first = Auto::first_when_warm(&self.problem);
            if self.method_name != first {
                self.switch_method(first, self.state.prices.clone())?;
            }
        }
        self.state.prices = self.presolved.natural_prices(prices);
        (self.iteration, self.warm) = (0, true);
        match rates {
            None => self.begin(|method, problem, state| method.start(problem, state)),
            Some(rates) => {
                self.state.rates = self.presolved.natural_rates(rates);
                self.begin(|method, problem, state| method.resume(problem, state))
            }
        }
    }

    /// Goes on with another problem on the same paths, from where it stands: other capacities, caps or utilities.
    ///
    /// # Errors
    /// [`Error::OtherPaths`] for a problem with other links, paths or flows, and those of [`new`](Self::new). Nothing
    /// has changed then.
    pub fn update(&mut self, problem: &Problem) -> Result<()> {
        self.update_by(problem, &Deadline::none(), &mut None)?;
        self.method.write_rates(&self.presolved, &mut self.state);
        Ok(())
    }

    /// [`update`](Self::update), as [`by_deadline`](Self::by_deadline) is [`new`](Self::new).
    pub(super) fn update_by(
        &mut self,
        problem: &Problem,
        deadline: &Deadline,
        presolved: &mut Option<Arc<Presolved>>,
    ) -> Result<()> {
        self.problem.check_same_paths(problem)?;
        let mut next = Self::by_deadline(problem, &self.ask, Some(self), deadline, presolved)?;
        let (prices, rates) = (self.prices(), self.raw_rates());
        // If prices or rates are not finite, it starts cold.
        if prices.iter().chain(&rates).all(|value| value.is_finite()) {
            let began = Instant::now();
            next.start_at(&prices, Some(&rates))?;
            next.made += began.elapsed();
        }
        *self = next;
        Ok(())
    }

    /// Starts the method at the state. After [`Error::Stopped`] the next step starts it again.
    fn begin(&mut self, how: impl FnOnce(&mut dyn Method, &Presolved, &mut State) -> Result<f64>) -> Result<()> {
        self.has_begun = false;
        self.estimate = how(&mut *self.method, &self.presolved, &mut self.state)?;
        self.has_begun = true;
        self.check()
    }

    /// Does `iterations` iterations, without certifying.
    ///
    /// # Errors
    /// [`Error::Utility`] when a user's utility answers with a value that is not a rate; [`Error::Stopped`], after
    /// which the next step goes on from where this one was.
    pub fn step(&mut self, iterations: usize) -> Result<()> {
        let outcome = (0..iterations).try_for_each(|_| self.advance());
        self.method.write_rates(&self.presolved, &mut self.state);
        outcome
    }

    /// One iteration. Its rates may need [`Method::write_rates`].
    pub(super) fn advance(&mut self) -> Result<()> {
        if !self.has_begun {
            self.begin(|method, problem, state| method.start(problem, state))?;
        }
        self.estimate = self.method.step(&self.presolved, &mut self.state)?;
        self.iteration += 1;
        self.check()
    }

    /// The inequalities that prove max-min rates over several paths.
    pub(crate) fn witness(&self) -> &[Inequality] {
        self.method.witness()
    }

    /// The problem it works on.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Name of the method.
    pub fn method(&self) -> &'static str {
        self.method_name
    }

    /// Iterations done.
    pub fn iteration(&self) -> usize {
        self.iteration
    }

    /// Price of every link.
    pub fn prices(&self) -> Vec<f64> {
        self.presolved.caller_prices(&self.state.prices)
    }

    /// Demand of every path at these prices. Links may be overloaded.
    pub fn raw_rates(&self) -> Vec<f64> {
        self.presolved.caller_rates(&self.state.rates)
    }

    /// The [raw rates](Self::raw_rates), made feasible by F-NORM.
    pub fn rates(&self) -> Vec<f64> {
        let point = || FeasiblePoint::new(&self.presolved, &self.state.rates, &self.state.prices);
        let point = StopToken::new().scope_alone(point).expect("nothing stops it");
        self.presolved.caller_rates(&point.rates)
    }

    /// How good these rates and prices are.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where a max-min problem cannot be certified; [`Error::Utility`] when a user's utility
    /// answers with a demand that is no best response; [`Error::Stopped`].
    pub fn certificate(&self) -> Result<Certificate> {
        let point = FeasiblePoint::new(&self.presolved, &self.state.rates, &self.state.prices)?;
        certify_point(&self.problem, &point, self.method.witness(), point.overload)
    }

    /// Goes on with another method from these prices. Where that cannot start, the method is unchanged.
    pub(super) fn switch_method(&mut self, method: &str, prices: Vec<f64>) -> Result<()> {
        let info = MethodInfo::of(method, &self.problem)?;
        let mut method = info.make(&Default::default(), &self.problem, &self.presolved)?;
        let mut state = State { prices, rates: vec![0.0; self.state.rates.len()] };
        self.estimate = method.start(&self.presolved, &mut state)?;
        (self.method, self.method_name, self.state, self.has_begun) = (method, info.name, state, true);
        self.check()
    }

    /// Begins again as `auto` does without first prices.
    pub(super) fn begin_cold(&mut self, settings: &super::Settings) -> Result<()> {
        self.warm = false;
        self.auto.iter_mut().for_each(|auto| auto.begin(self.iteration));
        let first = Auto::first(&self.problem);
        let method = Auto::replacement(first, &self.problem, settings).unwrap_or(first);
        self.switch_method(method, self.presolved.first_prices.clone())
    }

    /// A demand of a user-defined utility that is not a number >= 0 ends the solve.
    pub(super) fn check(&self) -> Result<()> {
        for block in self.presolved.blocks.iter().filter(|block| block.is_user_defined) {
            for flow in block.flows.clone() {
                let mut rates = self.state.rates[self.presolved.paths_of(flow)].iter();
                if let Some(rate) = rates.find(|rate| !(rate.is_finite() && **rate >= 0.0)) {
                    let what = format!("its demand is {rate}, expected a number >= 0");
                    return Err(Error::Utility { flow: self.presolved.caller.flows[flow] as usize, what });
                }
            }
        }
        if self.estimate.is_nan() { Err(self.not_numbers()) } else { Ok(()) }
    }

    /// The error for NaN: it names the first flow with a user-defined utility, or else the price rule.
    pub(super) fn not_numbers(&self) -> Error {
        match self.presolved.blocks.iter().find(|block| block.is_user_defined) {
            Some(block) => {
                let flow = self.presolved.caller.flows[block.flows.start] as usize;
                let what = "its answers are not numbers, or not those of a concave, increasing function".into();
                Error::Utility { flow, what }
            }
            None => {
                let (name, value) = (format!("a price of method {:?}", self.method_name), "NaN".into());
                Error::Setting { name, value, expected: "a number".into() }
            }
        }
    }
}

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flows, links) = (self.problem.flows(), self.problem.links());
        write!(f, "Solver({}, {flows} flows, {links} links, iteration {})", self.method_name, self.iteration)
    }
}
