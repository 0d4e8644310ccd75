//! The loop: step, certify, observe, stop. The only one; methods supply the step.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use super::auto::Auto;
use super::cuts::Found;
use super::fill::{fill, top_up};
use super::schedule::CertificateSchedule;
use super::splits::split_anew;
use super::{
    Cadence, Deadline, Goal, Observer, Progress, Settings, Solution, Solver, State, Status, Stop, bottlenecks,
    idle_links,
};
use crate::certificate::{Certificate, FeasiblePoint};
use crate::certify::gap_and_residual;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::interrupt;
use crate::max_min::Limits;
use crate::presolve::{Infeasibility, Presolved};
use crate::utility::Curvature;

/// The KKT residual of rates that are to be exact, as a part of the tolerance.
const EXACT: f64 = 0.03;
/// It is near while each certificate has no more than this part of the residual before.
const CLOSER: f64 = 0.5;
/// Above it a gap proves next to nothing: the first iterations have prices that are wrong by decades.
const FAR: f64 = 1.0;

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

impl Best<'_> {
    /// Whether it has a finite gap, or the other one has none either.
    fn is_proven_like(&self, other: Option<&Best<'_>>) -> bool {
        self.gap.is_finite() || other.is_none_or(|other| !other.gap.is_finite())
    }
}

impl Solver {
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

    /// Runs until a limit, with the seconds counted from when the making of this solver began.
    pub(super) fn run_until(
        &mut self,
        began: Instant,
        limit: Option<Instant>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        if let Some(infeasibility) = self.presolved.infeasibility.clone() {
            return self.infeasible(infeasibility, began);
        }
        let workers = Arc::clone(&self.presolved.workers);
        let ranks = workers.ranks();
        let mut deadline = Deadline::new(limit, began, self.made, ranks);
        if self.auto.is_some()
            && let Some(method) = Auto::replacement(self.method_name, &self.problem, settings)
        {
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
        // Whether that was filled from nothing.
        let mut is_filled = false;
        // Certificates that were due since the best answer.
        let mut worse = 0usize;
        // The residual of the best answer at the last certificate that met the goal.
        let mut last_residual = f64::INFINITY;
        let mut trace = Vec::new();
        let mut last_call: Option<Instant> = None;
        let mut progress =
            Progress { iteration: first, gap: f64::INFINITY, overload: f64::NAN, kkt_residual: f64::NAN, seconds: 0.0 };
        let status = loop {
            interrupt::check()?;
            if !self.is_made {
                break Status::TimeLimit;
            }
            progress.iteration = self.iteration;
            let due = every_iteration || self.is_due(&schedule, settings);
            if due {
                let before = best.as_ref().map(|best| best.rank);
                let score = deadline.certificate(|| self.certify(&presolved, &goal, &mut progress, &mut best))?;
                worse = if best.as_ref().map(|best| best.rank) == before { worse + 1 } else { 0 };
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
            let stalled = self.method.has_stalled() || self.auto.as_ref().is_some_and(Auto::has_stalled);
            if let Some(status) = self.final_status(&goal, best.as_ref())? {
                let residual = best.as_ref().map_or(f64::NAN, |best| best.kkt_residual);
                let may_be_closer = residual > EXACT * settings.tol && !stalled;
                if !self.ask.is_exact || !may_be_closer || due && residual > CLOSER * last_residual {
                    break status;
                }
                last_residual = if due { residual } else { last_residual };
            } else {
                let is_stuck = stalled || due && worse.is_power_of_two();
                if let Some(found) = best.as_ref().filter(|_| is_stuck) {
                    let better = deadline.within(|| self.better(&presolved, &goal, found))?;
                    best = better.flatten().or(best);
                    if let Some(status) = self.final_status(&goal, best.as_ref())? {
                        break status;
                    }
                }
                // A warm start is to end no worse than a cold one. Max-min has its own ways to begin again.
                let may_begin_again = stalled && self.warm && self.problem.curvature() != Curvature::MaxMin;
                if may_begin_again
                    && self.auto.is_some()
                    && !is_stopped
                    && deadline.within(|| self.begin_cold(settings))?.is_some()
                {
                    continue;
                }
                if let Some(method) = self.next_method(stalled, due, &best, &goal).filter(|_| !is_stopped) {
                    let prices = best.as_ref().map_or(&self.state.prices, |best| &best.point.prices).clone();
                    if deadline.within(|| self.switch_method(method, prices))?.is_some() {
                        continue;
                    }
                }
            }
            let certified = due || deadline.is_estimated_reached()?;
            if certified && !due {
                is_filled = self.certify_or_fill(&presolved, &goal, &mut deadline, &mut progress, &mut best)?;
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
                    is_filled = self.certify_or_fill(&presolved, &goal, &mut deadline, &mut progress, &mut best)?;
                }
                break self.final_status(&goal, best.as_ref())?.unwrap_or(status);
            }
            deadline.step(|| self.advance())?;
        };
        let best = match status {
            _ if is_filled && self.has_found_nothing() => best,
            Status::TimeLimit | Status::MaxIterations | Status::Stopped => {
                let best = match deadline.finish(|| self.filled(&presolved, &goal, best.as_ref()))? {
                    Some(Some(filled)) => Some(filled),
                    _ => best,
                };
                match best.as_ref().filter(|best| best.gap > FAR && self.problem.curvature() != Curvature::MaxMin) {
                    Some(found) => deadline.finish(|| self.anew(&presolved, &goal, found))?.flatten().or(best),
                    None => best,
                }
            }
            Status::Stalled if self.problem.curvature() != Curvature::MaxMin => {
                let filled = deadline.finish(|| self.filled(&presolved, &goal, best.as_ref()))?.flatten();
                let is_better = |filled: &Best<'_>| best.as_ref().is_none_or(|best| filled.rank < best.rank);
                filled.filter(is_better).or(best)
            }
            _ => best,
        };
        let best = match best {
            None if !self.is_made => {
                // What is not filled, as costs are, has equal shares.
                let mut shares = None;
                self.state.rates.copy_from_slice(presolved.equal_shares());
                deadline.finish(|| self.certify(&presolved, &goal, &mut progress, &mut shares))?;
                shares
            }
            best => best,
        };
        let status = self.final_status(&goal, best.as_ref())?.unwrap_or(status);
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
        let is_lost = self.presolved.ranks().any(!self.presolved.holds_prices(&best.point.prices))?;
        Ok(Some(if is_lost { Status::Stalled } else { Status::Optimal }))
    }

    /// The method that `auto` switches to, if any.
    fn next_method(
        &mut self,
        stalled: bool,
        certified: bool,
        best: &Option<Best<'_>>,
        goal: &Goal,
    ) -> Option<&'static str> {
        let score = best.as_ref().map_or(f64::INFINITY, |best| best.score);
        if !stalled && !certified {
            return None;
        }
        let how = (stalled, best.as_ref().is_some_and(|best| goal.lacks_rates(best.gap)));
        self.auto.as_mut()?.next(self.method_name, &self.problem, how, self.iteration, score, goal.tol())
    }

    fn is_due(&self, schedule: &CertificateSchedule, settings: &Settings) -> bool {
        match self.method.is_expensive() {
            true => {
                let near = settings.stop == Stop::Kkt || self.estimate <= Goal::NEAR * settings.tol;
                // Without an estimate, as before the end of a search for max-min rates, little is proven.
                let is_turn = self.iteration > 0 && self.iteration.is_multiple_of(CertificateSchedule::EXPENSIVE_PAUSE);
                near || is_turn && self.estimate < f64::MAX
            }
            false => schedule.is_due(self.iteration, self.estimate, settings.tol),
        }
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
        self.method.write_rates(&self.presolved, &mut self.state);
        let point = FeasiblePoint::new(presolved, &self.state.rates, &self.state.prices)?;
        let is_needed = |gap| goal.needs_rates(gap);
        let (gap, kkt_residual) = gap_and_residual(&self.problem, &point, self.method.witness(), is_needed)?;
        (progress.gap, progress.overload, progress.kkt_residual) = (gap, point.overload, kkt_residual);
        // Marginals of the library's own families overflow over hundreds of decades; nothing is proven then.
        if gap.is_nan() && self.presolved.blocks.iter().any(|block| block.is_user_defined) {
            return Err(self.not_numbers());
        }
        let score = goal.score(gap, kkt_residual);
        let State { prices, rates, .. } = &self.state;
        let usable = !presolved.ranks().any(!prices.iter().chain(rates).all(|value| value.is_finite()))?;
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

    /// Whether there are no rates that are worth keeping: those before the first iteration are equal shares, unless the
    /// caller gave a start.
    fn has_found_nothing(&self) -> bool {
        !self.warm && self.iteration == 0
    }

    /// Certifies where it stands, or where nothing is found what is filled from nothing, which may be a little late.
    /// Returns whether it is the latter. With one path per flow a certificate is sooner, and what it is of is filled.
    fn certify_or_fill<'p>(
        &mut self,
        presolved: &'p Presolved,
        goal: &Goal,
        deadline: &mut Deadline,
        progress: &mut Progress,
        best: &mut Option<Best<'p>>,
    ) -> Result<bool> {
        let prices = &presolved.first_prices;
        if self.has_found_nothing()
            && !presolved.is_single_path()
            && let Some(rates) = deadline.finish(|| fill(&self.problem, presolved, None, prices))?.flatten()
        {
            let filled = deadline.first_certificate(|| self.certified(presolved, goal, &rates, prices))?;
            if let Some(filled) = filled.filter(|filled| filled.is_proven_like(best.as_ref())) {
                *best = Some(filled);
                return Ok(true);
            }
        }
        match self.has_found_nothing() {
            true => deadline.first_certificate(|| self.certify(presolved, goal, progress, best))?,
            false => deadline.certificate(|| self.certify(presolved, goal, progress, best))?,
        };
        Ok(false)
    }

    /// The best answer with what it leaves idle filled; none where nothing is to be filled.
    fn filled<'p>(&self, presolved: &'p Presolved, goal: &Goal, best: Option<&Best<'p>>) -> Result<Option<Best<'p>>> {
        // Over several paths equal shares are no better than nothing.
        let found = best.filter(|_| presolved.is_single_path() || !self.has_found_nothing());
        let prices = found.map_or(&presolved.first_prices, |best| &best.point.prices);
        let Some(rates) = fill(&self.problem, presolved, found.map(|best| &*best.point.rates), prices)? else {
            return Ok(None);
        };
        let filled = self.certified(presolved, goal, &rates, prices)?;
        Ok(Some(filled).filter(|filled| filled.is_proven_like(best)))
    }

    /// An answer that proves more than one that is far from the optimum: its rates at the first prices, or what is
    /// filled from nothing.
    fn anew<'p>(&self, presolved: &'p Presolved, goal: &Goal, best: &Best<'p>) -> Result<Option<Best<'p>>> {
        let prices = &presolved.first_prices;
        let first = self.certified(presolved, goal, &best.point.rates, prices)?;
        let filled = match fill(&self.problem, presolved, None, prices)? {
            Some(rates) => Some(self.certified(presolved, goal, &rates, prices)?),
            None => None,
        };
        let others = [Some(first), filled].into_iter().flatten().filter(|other| other.gap < best.gap);
        Ok(others.min_by(|one, other| one.gap.total_cmp(&other.gap)))
    }

    /// A better answer than the best one: that without prices, where no flow wants more than its floor, that without
    /// what rounding has left, where single rates are missing, or the last one of the method with another split, where
    /// floors fill links.
    fn better<'p>(&self, presolved: &'p Presolved, goal: &Goal, best: &Best<'p>) -> Result<Option<Best<'p>>> {
        let mut better = match goal.lacks_rates(best.gap) {
            true => self.without_rounding(presolved, goal, best)?,
            // Prices that are rounding of no scale cost what links leave idle, whatever is paid.
            false if self.problem.has_flow_floors() && self.problem.curvature() != Curvature::MaxMin => {
                let free = self.certified(presolved, goal, &best.point.rates, &vec![0.0; best.point.prices.len()])?;
                Some(free).filter(|free| free.rank < best.rank)
            }
            false => None,
        };
        // Prices prove nothing of max-min rates.
        let is_met = better.as_ref().is_some_and(|better| goal.is_met(better.gap, better.kkt_residual));
        if !is_met
            && self.problem.curvature() != Curvature::MaxMin
            && let Some(rates) = split_anew(&self.problem, presolved, &self.state.rates)?
        {
            let split = self.certified(presolved, goal, &rates, &self.state.prices)?;
            let split = self.without_rounding(presolved, goal, &split)?.unwrap_or(split);
            let rank = better.as_ref().map_or(best.rank, |better| better.rank);
            better = Some(split).filter(|split| split.rank < rank).or(better);
        }
        Ok(better)
    }

    /// An answer without what rounding has left, where that is better. A flow with a tiny rate is hurt by an idle
    /// capacity that is rounding to its links: it is filled, in proportion to the rates or in the order of what that is
    /// worth. A flow that pays next to nothing is hurt by the prices of links that stay idle: these cost nothing.
    fn without_rounding<'p>(&self, presolved: &'p Presolved, goal: &Goal, best: &Best<'p>) -> Result<Option<Best<'p>>> {
        let mut better: Option<Best<'p>> = None;
        let better_one = |one: Option<Best<'p>>, other: Best<'p>| {
            let least = one.as_ref().map_or(best.rank, |one| one.rank);
            if other.rank < least { Some(other) } else { one }
        };
        let is_met = |found: Option<&Best<'_>>| found.is_some_and(|found| goal.is_met(found.gap, found.kkt_residual));
        if let Some(rates) = top_up(&self.problem, presolved, &best.point.rates, &best.point.prices)? {
            better = better_one(better, self.certified(presolved, goal, &rates, &best.point.prices)?);
            if !is_met(better.as_ref())
                && let Some(filled) = self.filled(presolved, goal, Some(best))?
            {
                better = better_one(better, filled);
            }
        }
        let point = &better.as_ref().unwrap_or(best).point;
        // Prices prove nothing of max-min rates.
        if is_met(better.as_ref()) || self.problem.curvature() == Curvature::MaxMin {
            return Ok(better);
        }
        let prices = idle_links::without_their_prices(presolved, point);
        if presolved.ranks().any(prices.is_some())? {
            let prices = prices.unwrap_or_else(|| point.prices.clone());
            let free = self.certified(presolved, goal, &point.rates, &prices)?;
            better = better_one(better, free);
        }
        Ok(better)
    }

    fn certified<'p>(&self, presolved: &'p Presolved, goal: &Goal, rates: &[f64], prices: &[f64]) -> Result<Best<'p>> {
        let point = FeasiblePoint::new(presolved, rates, prices)?;
        let is_needed = |gap| goal.needs_rates(gap);
        let (gap, kkt_residual) = gap_and_residual(&self.problem, &point, self.method.witness(), is_needed)?;
        let (score, rank) = (goal.score(gap, kkt_residual), goal.rank(gap, kkt_residual));
        Ok(Best { score, rank, gap, kkt_residual, point })
    }

    /// The solution at rates and prices that were found for a problem with fewer constraints, whose certificate has the
    /// residual: rates that are right there, and feasible here, are right here. What fills them adds to
    /// the residual what it moves.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub(super) fn at(&self, found: &Found, settings: &Settings) -> Result<Solution> {
        let (began, presolved, goal) = (Instant::now(), &self.presolved, Goal::new(settings));
        let (rates, prices) = (presolved.natural_rates(&found.rates), presolved.natural_prices(&found.prices));
        let mut best = Best { kkt_residual: found.kkt_residual, ..self.certified(presolved, &goal, &rates, &prices)? };
        // What max-min has carried is short of the links by rounding of all rates, which may be much to the class.
        if !goal.is_met(best.gap, 0.0)
            && let Some(filled) = self.without_rounding(presolved, &goal, &best)?
        {
            let [before, now] = [&best, &filled].map(|best| presolved.flow_totals(&best.point.rates));
            let moved = before.iter().zip(&*now).map(|(before, now)| (now - before).abs() / now);
            let kkt_residual = found.kkt_residual + moved.fold(0.0, f64::max);
            best = Best { kkt_residual, ..filled };
        }
        let status = self.final_status(&goal, Some(&best))?.unwrap_or(Status::Stalled);
        self.solution(status, best, found.iterations, Vec::new(), began)
    }

    /// The solution at rates and prices that were found otherwise, with the certificate of this problem.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub(super) fn proven(&self, found: &Found, settings: &Settings) -> Result<Solution> {
        let (began, presolved, goal) = (Instant::now(), &self.presolved, Goal::new(settings));
        let (rates, prices) = (presolved.natural_rates(&found.rates), presolved.natural_prices(&found.prices));
        let mut best = self.certified(presolved, &goal, &rates, &prices)?;
        if !goal.is_met(best.gap, best.kkt_residual)
            && let Some(better) = self.without_rounding(presolved, &goal, &best)?
        {
            best = better;
        }
        let status = self.final_status(&goal, Some(&best))?.unwrap_or(Status::Stalled);
        self.solution(status, best, found.iterations, Vec::new(), began)
    }

    /// The rank whose flows these are, and how many ranks there are.
    fn part(&self) -> Option<(usize, usize)> {
        let ranks = self.presolved.ranks();
        (ranks.ranks() > 1).then(|| (ranks.rank(), ranks.ranks()))
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
        let Limits { bottlenecks, prices, cuts } =
            bottlenecks::limits(&self.problem, presolved, point, self.method.witness())?;
        interrupt::check()?;
        let flow_rates = self.problem.flow_rates(&rates)?;
        let loads = presolved.caller_loads(&point.loads);
        let failed_flows = presolved.caller.failed_flows.clone();
        interrupt::check()?;
        let mut objective = [self.problem.objective(&rates, &flow_rates, &failed_flows, &*presolved.workers)];
        presolved.ranks().sum(&mut objective)?;
        let [objective] = objective;
        if objective.is_nan() {
            return Err(self.not_numbers());
        }
        interrupt::check()?;
        let status = if status == Status::Optimal && objective.is_infinite() { Status::Stalled } else { status };
        Ok(Solution {
            status,
            method: self.method_name.into(),
            objective,
            prices,
            rates,
            flow_rates,
            loads,
            bottlenecks,
            cuts,
            certificate,
            iterations,
            seconds: began.elapsed().as_secs_f64(),
            failed_flows,
            part: self.part(),
            trace,
            classes: Vec::new(),
            infeasibility: None,
        })
    }

    /// The solution of a problem whose floors do not fit: the rates that carry the largest part of all of them.
    fn infeasible(&self, infeasibility: Infeasibility, began: Instant) -> Result<Solution> {
        let problem = &self.problem;
        let (rates, failed_flows) = (infeasibility.rates.clone(), self.presolved.caller.failed_flows.clone());
        let (flow_rates, loads) = (problem.flow_rates(&rates)?, problem.loads(&rates)?);
        Ok(Solution {
            status: Status::Infeasible,
            rates,
            flow_rates,
            loads,
            failed_flows,
            infeasibility: Some(infeasibility),
            ..Solution::unsolved(problem, began.elapsed())
        })
    }
}
