//! The loop: step, certify, observe, stop. The only one; methods supply the step.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::auto::{AUTO, Auto, FAST_NED};
use super::method::{Method, MethodInfo, SMOOTH, Setup, State};
use super::price::{MakeRespond, PriceMethod, Rule};
use super::proof::Proof;
use super::{Cadence, Deadline, Goal, Observer, PartSetup, Progress, Settings, Solution, Status, Stop, bottlenecks};
use crate::certificate::{Certificate, FeasiblePoint};
use crate::error::{Error, Result};
use crate::interrupt::{self, StopToken};
use crate::normalize;
use crate::paths::parts::{InTurn, Parts};
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::ranks::Ranks;

/// A method on a problem: one iteration at a time, or until a certificate meets the tolerance.
pub struct Solver {
    problem: Problem,
    presolved: Arc<Presolved>,
    method_name: &'static str,
    method: Box<dyn Method>,
    /// Makes the response to prices in place of the built-in loop, where that is faster *(given)*.
    respond: Option<Arc<MakeRespond>>,
    /// Present where the method is `auto`.
    auto: Option<Auto>,
    /// The method's own, by name. None for a user-defined rule *(given)*.
    options: Option<BTreeMap<String, f64>>,
    state: State,
    /// The method's estimate of the relative gap *(derived)*.
    estimate: f64,
    iteration: usize,
    /// Whether the caller gave the first prices, which may already be optimal.
    warm: bool,
    /// Whether the method has started at the state.
    has_begun: bool,
    /// What making it cost, counted as part of the solve.
    made: Duration,
}

impl Solver {
    /// A solver at the method's first prices. `options` are the method's own, by name.
    ///
    /// # Errors
    /// [`Error::UnknownMethod`], [`Error::UnknownOption`], [`Error::Setting`], [`Error::Unsupported`] when the method
    /// cannot take the problem, [`Error::Utility`] when a utility's answers cannot be used.
    pub fn new(problem: &Problem, method: &str, options: &BTreeMap<String, f64>) -> Result<Self> {
        Self::with_respond(problem, method, options, None, Arc::new(InTurn))
    }

    /// The same, and the response to prices is made by `respond` where it makes one. The parts of passes over all
    /// flows, from the problem to the solution, are done by `parts`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_respond(
        problem: &Problem,
        method: &str,
        options: &BTreeMap<String, f64>,
        respond: Option<Arc<MakeRespond>>,
        parts: Arc<dyn Parts>,
    ) -> Result<Self> {
        let info = MethodInfo::of(method, problem)?;
        let make = |presolved: &_| {
            let made = info.make(options, &Setup { problem, presolved, respond: respond.as_deref() });
            if method == AUTO { made.map_err(Error::of_auto) } else { made }
        };
        let mut this = Self::start(problem, &Ranks::alone(), info.name, parts, make)?;
        this.auto = (method == AUTO).then(Auto::new);
        (this.respond, this.options) = (respond, Some(options.clone()));
        Ok(this)
    }

    /// A solver that moves prices by a rule, of the library or user-defined, on single-path, strictly concave problems.
    ///
    /// # Errors
    /// [`Error::Unsupported`] and [`Error::Utility`] as [`new`](Self::new).
    pub fn with_rule(problem: &Problem, name: &'static str, rule: impl Into<Rule>) -> Result<Self> {
        SMOOTH.check(name, problem)?;
        let make = |presolved: &_| Ok(Box::new(PriceMethod::new(rule.into(), name, presolved, None)?) as Box<_>);
        Self::start(problem, &Ranks::alone(), name, Arc::new(InTurn), make)
    }

    /// A solver for this rank's part of a problem.
    ///
    /// # Errors
    /// Those of [`new`](Self::new) and of [`Ranks`]; [`Error::Unsupported`] for a method that moves no prices by a
    /// rule.
    pub(super) fn of_part(problem: &Problem, setup: &PartSetup<'_>) -> Result<Self> {
        let method = if setup.method == AUTO { FAST_NED } else { setup.method };
        let info = MethodInfo::of(method, problem).map_err(Error::of_part)?;
        if info.rule().is_none() {
            let (method, what) = (method.into(), "a part of a problem".into());
            return Err(Error::Unsupported { method, what, instead: "use \"fast-ned\", which moves prices by a rule" });
        }
        let respond = setup.respond.as_deref();
        let make = |presolved: &_| info.make(setup.options, &Setup { problem, presolved, respond });
        Self::start(problem, setup.ranks, info.name, Arc::clone(&setup.parts), make)
    }

    fn start(
        problem: &Problem,
        ranks: &Ranks,
        method_name: &'static str,
        parts: Arc<dyn Parts>,
        make: impl FnOnce(&Arc<Presolved>) -> Result<Box<dyn Method>>,
    ) -> Result<Self> {
        let began = Instant::now();
        let presolved = Arc::new(Presolved::of_part(problem, ranks, parts)?);
        let mut method = make(&presolved)?;
        let mut state = State { prices: presolved.first_prices.clone(), rates: vec![0.0; presolved.paths.len()] };
        let estimate = method.start(&presolved, &mut state)?;
        let problem = problem.clone();
        let made = began.elapsed();
        let this = Self {
            problem,
            presolved,
            method_name,
            method,
            respond: None,
            auto: None,
            options: None,
            state,
            estimate,
            iteration: 0,
            warm: false,
            has_begun: true,
            made,
        };
        this.check()?;
        Ok(this)
    }

    /// Starts again from given prices, those of a similar problem's solution, say. `prices` has one entry per link, in
    /// the caller's units.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Price`], [`Error::Utility`]; [`Error::Stopped`], after which the next step begins
    /// there.
    pub fn warm_start(&mut self, prices: &[f64]) -> Result<()> {
        self.problem.check_prices(prices)?;
        self.choose_for_warm_start()?;
        self.state.prices = self.presolved.natural_prices(prices);
        (self.iteration, self.warm) = (0, true);
        self.begin(|method, problem, state| method.start(problem, state))
    }

    /// Starts again near an answer: at the prices and rates of the solution of a problem on the same paths, whose
    /// capacities, caps or utilities were others. The interior point then takes a fraction of its steps.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Price`], [`Error::Rate`], [`Error::Utility`]; [`Error::Stopped`], after which the
    /// next step begins at these prices.
    pub fn resume(&mut self, prices: &[f64], rates: &[f64]) -> Result<()> {
        self.problem.check_prices(prices)?;
        normalize::check(&self.problem, rates)?;
        self.choose_for_warm_start()?;
        self.state.prices = self.presolved.natural_prices(prices);
        self.state.rates = self.presolved.natural_rates(rates);
        (self.iteration, self.warm) = (0, true);
        self.begin(|method, problem, state| method.resume(problem, state))
    }

    /// Goes on with another problem on the same paths, from where it stands: other capacities, caps or utilities.
    ///
    /// # Errors
    /// [`Error::OtherPaths`] for a problem with other links, paths or flows, [`Error::Unsupported`]
    /// for one that the method cannot take, and for a solver with a user-defined [rule](Self::with_rule); those
    /// of [`new`](Self::new). Nothing has changed then.
    pub fn update(&mut self, problem: &Problem) -> Result<()> {
        self.problem.check_same_paths(problem)?;
        let Some(options) = &self.options else {
            let (method, what) = (self.method_name.into(), "a change of its problem".into());
            return Err(Error::Unsupported { method, what, instead: "make another solver" });
        };
        let method = if self.auto.is_some() { AUTO } else { self.method_name };
        let mut next =
            Self::with_respond(problem, method, options, self.respond.clone(), self.presolved.parts.clone())?;
        let (prices, rates) = (self.prices(), self.raw_rates());
        // If prices or rates are not finite, it starts cold.
        if prices.iter().chain(&rates).all(|value| value.is_finite()) {
            let began = Instant::now();
            next.resume(&prices, &rates)?;
            next.made += began.elapsed();
        }
        *self = next;
        Ok(())
    }

    /// Switches to the method of `auto` for a warm start.
    fn choose_for_warm_start(&mut self) -> Result<()> {
        if self.auto.is_some() {
            self.auto = Some(Auto::new());
            let first = Auto::first_when_warm(&self.problem);
            if self.method_name != first {
                self.switch_method(first, self.state.prices.clone())?;
            }
        }
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
        self.method.write_rates(&mut self.state);
        outcome
    }

    /// One iteration. Its rates may need [`Method::write_rates`].
    fn advance(&mut self) -> Result<()> {
        if !self.has_begun {
            self.begin(|method, problem, state| method.start(problem, state))?;
        }
        self.estimate = self.method.step(&self.presolved, &mut self.state)?;
        self.iteration += 1;
        self.check()
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

    /// The same rates made feasible by F-NORM.
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
        self.proof(&self.presolved).certificate()
    }

    /// Iterates until the certificate meets the tolerance or a limit is hit, and returns the best answer certified.
    ///
    /// Certificates cost several iterations, so they are taken when the method's own estimate says that the tolerance
    /// may be met, every now and then in any case, and after every iteration only for a trace or an observer of every
    /// iteration. An answer whose prices or objective no float can hold in the caller's units is not `optimal`,
    /// however right its rates: it ends as [`Status::Stalled`].
    ///
    /// # Errors
    /// [`Error::Setting`], [`Error::Utility`], and [`Error::Stopped`] when a token in force on this thread says so. Not
    /// reaching the tolerance is no error but a [`Status`].
    pub fn run(&mut self, settings: &Settings, observer: &mut dyn Observer) -> Result<Solution> {
        settings.check()?;
        let now = Instant::now();
        let limit = settings.time_limit.and_then(|limit| now.checked_add(limit));
        self.run_until(now.checked_sub(self.made).unwrap_or(now), limit, settings, observer)
    }

    /// The same, with the time counted from when the making of this solver began.
    pub(super) fn run_since(
        &mut self,
        began: Instant,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        let limit = settings.time_limit.and_then(|limit| began.checked_add(limit));
        self.run_until(began, limit, settings, observer)
    }

    fn run_until(
        &mut self,
        began: Instant,
        limit: Option<Instant>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        let at_once = |auto: &Auto| auto.replacement(self.method_name, &self.problem, settings.stop, settings.tol);
        let ranks = &Arc::clone(&self.presolved).ranks;
        let mut deadline = Deadline::new(limit, self.made, ranks);
        if let Some(method) = self.auto.as_ref().and_then(at_once) {
            deadline.within(|| self.switch_method(method, self.state.prices.clone()))?;
        }
        let first = self.iteration;
        if let Some(auto) = &mut self.auto {
            auto.begin(first);
        }
        let goal = Goal::new(settings);
        let every_iteration = ranks.any(settings.trace || observer.cadence() == Cadence::EveryIteration)?;
        let pause = if self.warm { 0 } else { CertificateSchedule::PAUSE };
        let mut schedule = CertificateSchedule { next: first + pause, calibration: 1.0 };
        let presolved = Arc::clone(&self.presolved);
        let mut best: Option<Best<'_>> = None;
        let mut trace = Vec::new();
        let mut last_call: Option<Instant> = None;
        let mut progress =
            Progress { iteration: first, gap: f64::INFINITY, overload: f64::NAN, kkt_residual: f64::NAN, seconds: 0.0 };
        let status = loop {
            interrupt::check()?;
            progress.iteration = self.iteration;
            let due = every_iteration || self.is_due(&schedule, settings);
            if due {
                let score = deadline.certificate(|| self.certify(&presolved, &goal, &mut progress, &mut best))?;
                if let Some(score) = score {
                    schedule.record(self.iteration, self.estimate, score, settings.tol);
                }
            }
            progress.seconds = began.elapsed().as_secs_f64();
            if settings.trace {
                trace.push(progress);
            }
            let observer_is_due = match observer.cadence() {
                Cadence::EveryIteration => true,
                Cadence::Every(pause) => last_call.is_none_or(|last| last.elapsed() >= pause),
            };
            let control = if observer_is_due {
                last_call = Some(Instant::now());
                observer.observe(&progress)
            } else {
                ControlFlow::Continue(())
            };
            let is_stopped = ranks.any(control.is_break())?;
            if let Some(status) = self.final_status(&goal, best.as_ref())? {
                break status;
            }
            let stalled = self.method.has_stalled() || self.auto.as_ref().is_some_and(Auto::has_stalled);
            if let Some(method) = self.next_method(stalled, due, &best, settings.tol) {
                let prices = best.as_ref().map_or(&self.state.prices, |best| &best.point.prices).clone();
                if deadline.within(|| self.switch_method(method, prices))?.is_some() {
                    continue;
                }
            }
            let certified = due || deadline.is_estimated_reached()?;
            if certified && !due {
                deadline.certificate(|| self.certify(&presolved, &goal, &mut progress, &mut best))?;
            }
            let limit = match () {
                () if is_stopped => Some(Status::Stopped),
                () if stalled => Some(Status::Stalled),
                () if self.iteration - first >= settings.max_iterations => Some(Status::MaxIterations),
                () if deadline.is_reached()? => Some(Status::TimeLimit),
                () => None,
            };
            if let Some(status) = limit {
                if !certified && deadline.allows_certificate()? {
                    deadline.certificate(|| self.certify(&presolved, &goal, &mut progress, &mut best))?;
                }
                break self.final_status(&goal, best.as_ref())?.unwrap_or(status);
            }
            deadline.step(|| self.advance())?;
        };
        match best {
            Some(best) => self.solution(status, best, self.iteration - first, trace, began),
            None => {
                let (method, iterations) = (self.method_name.into(), self.iteration - first);
                let unsolved = Solution::unsolved(&self.problem, began.elapsed());
                Ok(Solution { status, method, iterations, trace, part: self.part(), ..unsolved })
            }
        }
    }

    /// The final status, if the best answer meets the goal.
    ///
    /// # Errors
    /// Those of [`Ranks`].
    fn final_status(&self, goal: &Goal, best: Option<&Best<'_>>) -> Result<Option<Status>> {
        let Some(best) = best.filter(|best| goal.is_met(best.gap, best.kkt_residual)) else { return Ok(None) };
        let is_lost = self.presolved.ranks.any(!self.presolved.holds_prices(&best.point.prices))?;
        Ok(Some(if is_lost { Status::Stalled } else { Status::Optimal }))
    }

    /// The method that `auto` switches to, if any.
    fn next_method(
        &mut self,
        stalled: bool,
        certified: bool,
        best: &Option<Best<'_>>,
        tol: f64,
    ) -> Option<&'static str> {
        let score = best.as_ref().map_or(f64::INFINITY, |best| best.score);
        if !stalled && !certified {
            return None;
        }
        self.auto.as_mut()?.next(self.method_name, &self.problem, stalled, self.iteration, score, tol)
    }

    /// Goes on with another method from these prices. Where that cannot start, the method is unchanged.
    fn switch_method(&mut self, method: &str, prices: Vec<f64>) -> Result<()> {
        let info = MethodInfo::of(method, &self.problem)?;
        let setup = Setup { problem: &self.problem, presolved: &self.presolved, respond: self.respond.as_deref() };
        let mut method = info.make(&BTreeMap::new(), &setup)?;
        let mut state = State { prices, rates: vec![0.0; self.state.rates.len()] };
        self.estimate = method.start(&self.presolved, &mut state)?;
        (self.method, self.method_name, self.state, self.has_begun) = (method, info.name, state, true);
        self.check()
    }

    fn is_due(&self, schedule: &CertificateSchedule, settings: &Settings) -> bool {
        match self.method.is_expensive() {
            true => {
                let near = settings.stop == Stop::Kkt || self.estimate <= Goal::NEAR * settings.tol;
                near || (self.iteration > 0 && self.iteration.is_multiple_of(CertificateSchedule::EXPENSIVE_PAUSE))
            }
            false => schedule.is_due(self.iteration, self.estimate, settings.tol),
        }
    }

    fn proof<'p>(&self, presolved: &'p Presolved) -> Proof<'_, 'p> {
        let Self { problem, state, method, .. } = self;
        Proof { problem, presolved, state, witness: method.witness() }
    }

    /// Certifies where it stands, and keeps that if it is the best so far. Returns how far it is from the goal: the
    /// tolerance when it meets it, more when it does not.
    fn certify<'p>(
        &mut self,
        presolved: &'p Presolved,
        goal: &Goal,
        progress: &mut Progress,
        best: &mut Option<Best<'p>>,
    ) -> Result<f64> {
        self.method.write_rates(&mut self.state);
        let (Certificate { relative_gap: gap, overload, kkt_residual }, point) = self.proof(presolved).towards(goal)?;
        (progress.gap, progress.overload, progress.kkt_residual) = (gap, overload, kkt_residual);
        // Marginals of the library's own families overflow over hundreds of decades; nothing is proven then.
        if gap.is_nan() && self.presolved.blocks.iter().any(|block| block.is_user_defined) {
            return Err(self.not_numbers());
        }
        let score = goal.score(gap, kkt_residual);
        let State { prices, rates, .. } = &self.state;
        let usable = !presolved.ranks.any(!prices.iter().chain(rates).all(|value| value.is_finite()))?;
        let rank = goal.rank(gap, kkt_residual);
        if usable && best.as_ref().is_none_or(|best| rank < best.rank) {
            *best = Some(Best { score, rank, gap, kkt_residual, point });
        } else if best.is_none() {
            // No usable point yet: equal shares, with an infinite gap.
            *best = Some(Best {
                score: f64::INFINITY,
                rank: [f64::INFINITY; 3],
                gap: f64::INFINITY,
                kkt_residual: f64::INFINITY,
                point: FeasiblePoint::new(presolved, presolved.equal_shares(), &vec![0.0; prices.len()])?,
            });
        }
        Ok(score)
    }

    /// The rank whose flows these are, and how many ranks there are.
    fn part(&self) -> Option<(usize, usize)> {
        let ranks = &self.presolved.ranks;
        (ranks.ranks() > 1).then(|| (ranks.rank(), ranks.ranks()))
    }

    /// A demand of a user-defined utility that is not a number >= 0 ends the solve.
    fn check(&self) -> Result<()> {
        for block in self.presolved.blocks.iter().filter(|block| block.is_user_defined) {
            for flow in block.flows.clone() {
                let mut rates = self.state.rates[self.presolved.paths_of(flow)].iter();
                if let Some(rate) = rates.find(|rate| !(rate.is_finite() && **rate >= 0.0)) {
                    let what = format!("its demand is {rate}, expected a number >= 0");
                    return Err(Error::Utility { flow: self.presolved.original_flows[flow] as usize, what });
                }
            }
        }
        if self.estimate.is_nan() { Err(self.not_numbers()) } else { Ok(()) }
    }

    /// The error for NaN: it names the first flow with a user-defined utility, or else the price rule.
    fn not_numbers(&self) -> Error {
        match self.presolved.blocks.iter().find(|block| block.is_user_defined) {
            Some(block) => {
                let flow = self.presolved.original_flows[block.flows.start] as usize;
                let what = "its answers are not numbers, or not those of a concave, increasing function".into();
                Error::Utility { flow, what }
            }
            None => {
                let (name, value) = (format!("a price of method {:?}", self.method_name), "NaN".into());
                Error::Setting { name, value, expected: "a number".into() }
            }
        }
    }

    fn solution(
        &self,
        status: Status,
        best: Best<'_>,
        iterations: usize,
        trace: Vec<Progress>,
        began: Instant,
    ) -> Result<Solution> {
        let (point, presolved) = (&best.point, &self.presolved);
        point.check_demands()?;
        let rates = presolved.caller_rates(&point.rates);
        let found = best.kkt_residual;
        let overload = point.overload_left();
        let kkt_residual = if found.is_nan() { point.kkt_residual()? } else { found }.max(overload);
        let certificate = Certificate { relative_gap: best.gap, overload, kkt_residual };
        let bottlenecks = bottlenecks::of_paths(&self.problem, presolved, point)?;
        interrupt::check()?;
        let flow_rates = self.problem.flow_rates(&rates)?;
        let loads = presolved.caller_loads(&point.loads);
        let failed_flows = presolved.failed_flows.clone();
        interrupt::check()?;
        let mut objective = [self.problem.objective(&flow_rates, &failed_flows, &*presolved.parts)];
        presolved.ranks.sum(&mut objective)?;
        let [objective] = objective;
        if objective.is_nan() {
            return Err(self.not_numbers());
        }
        interrupt::check()?;
        let status = if status == Status::Optimal && objective.is_infinite() { Status::Stalled } else { status };
        let prices = presolved.caller_prices(&point.prices);
        Ok(Solution {
            status,
            method: self.method_name.into(),
            objective,
            prices,
            rates,
            flow_rates,
            loads,
            bottlenecks,
            certificate,
            iterations,
            seconds: began.elapsed().as_secs_f64(),
            failed_flows,
            part: self.part(),
            trace,
        })
    }
}

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flows, links) = (self.problem.flows(), self.problem.links());
        write!(f, "Solver({}, {flows} flows, {links} links, iteration {})", self.method_name, self.iteration)
    }
}

/// The best answer certified so far, in natural units.
struct Best<'p> {
    /// [`Goal::score`].
    score: f64,
    rank: [f64; 3],
    gap: f64,
    /// NaN where it was not computed.
    kkt_residual: f64,
    point: FeasiblePoint<'p>,
}

/// When certificates are due.
struct CertificateSchedule {
    /// The iteration at which one is due for any estimate.
    next: usize,
    /// Last score per estimate.
    calibration: f64,
}

impl CertificateSchedule {
    /// Iterations without a certificate at first; later as many as have been done. A certificate costs about four
    /// iterations, and most solves of fabrics end before this.
    const PAUSE: usize = 32;
    /// The same for methods with expensive steps.
    const EXPENSIVE_PAUSE: usize = 5;

    fn is_due(&self, iteration: usize, estimate: f64, tol: f64) -> bool {
        iteration >= self.next || estimate * self.calibration <= tol
    }

    fn record(&mut self, iteration: usize, estimate: f64, score: f64, tol: f64) {
        let near = score <= Goal::NEAR * tol;
        self.next = iteration + if near { (iteration / 8).max(8) } else { iteration.max(Self::PAUSE) };
        self.calibration = if estimate > 0.0 && score > 0.0 { (score / estimate).clamp(0.01, 1000.0) } else { 1.0 };
    }
}
