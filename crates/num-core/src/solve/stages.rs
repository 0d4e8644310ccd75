//! Problems in stages: one for the flows of every priority, and one for the cheapest of the best splits.
//!
//! ```text
//! stage k    max Σ_{f ∈ class k} U_f(y_f) − Σ k_p x_p    y_g = ŷ_g of the classes before, m_g of those after
//! at last    min Σ tie_p x_p                             y_f = ŷ_f of all
//! ```
//!
//! Rates that are kept are floors and caps at once, so that splits move for later stages, and every stage has a proof
//! of its own. It starts from the rates of the one before, which carry these floors, whatever rounding did. Beside
//! rates of several paths that are kept most classes have no answer after any number of iterations: they are found by
//! cuts (`cuts.rs`).
//!
//! Floors that nearly fill links are rates that are kept as well. The flows above them are then found as a class, and
//! the certificate is that of the whole problem: a flow is at its floor only where that says so.

use std::ops::ControlFlow;
use std::time::Instant;

use super::ask::Start;
use super::cuts::{Allowed, Found};
use super::goal::Goal;
use super::{
    Ask, Cadence, MethodInfo, Observer, PriorityClass, Progress, Solution, Solver, Status, cuts, solve_at_once,
    solve_on, starved,
};
use crate::certificate::Certificate;
use crate::error::{Error, Result, check_length};
use crate::problem::Problem;
use crate::utility::Curvature;
use crate::work::interrupt::{self, StopToken};

/// Where a class is found by cuts: no more than these parts of what counts as no room for a flow is none for a path,
/// and rates that are kept are preferred by so much, in this order. A class that has little of a link loses much to the
/// rounding of others that are preferred.
const ALLOWED: [(f64, f64); 4] = [(1.0, 1e-6), (1.0, 0.0), (1e-2, 0.0), (1e-4, 0.0)];

/// Iterations of a class beside rates of several paths that are kept, before it is tried by cuts, in this part of the
/// time that is left. Where these find no answer it begins again.
const BEFORE_CUTS: usize = 40;
const OF_TIME: f64 = 0.6;
/// Iterations of a problem whose flows have floors and several paths, before it is tried by cuts.
const BESIDE_FLOORS: usize = 150;
/// A flow is at its floor where it has no more than this part above it.
const AT_FLOOR: f64 = 1e-3;

/// Whether a solve takes several stages.
pub(super) fn are_needed(problem: &Problem, ask: &Ask) -> bool {
    problem.has_priorities() || !ask.tie_costs.is_empty()
}

/// Solves a problem stage by stage. Where a class stalls, once more, with rates of those before it that are exact: what
/// these leave of links that they would fill is all that its flows have there.
///
/// # Errors
/// Those of [`solve`](super::solve()), [`Error::Cost`] for a tie cost, [`Error::CannotTake`] over several ranks.
pub(super) fn solve(problem: &Problem, ask: &Ask, observer: &mut dyn Observer) -> Result<Solution> {
    let began = Instant::now();
    if !ask.workers.ranks().are_alone() {
        let (who, what) = ("a part of a problem", "priorities or tie costs");
        return Err(Error::CannotTake { who, what, instead: "solve the whole on one rank" });
    }
    let unsupported = |method: &str, what: &str, instead| {
        Err(Error::Unsupported { method: method.into(), what: what.into(), instead })
    };
    if !["auto", "interior-point", "max-min"].contains(&ask.method()) {
        return unsupported(ask.method(), "priorities or tie costs", "use \"auto\"");
    }
    if ask.method() == "max-min" && problem.curvature() != Curvature::MaxMin {
        // Of stages its error would name utilities that the problem has not.
        MethodInfo::of(ask.method(), problem)?;
    }
    if problem.curvature() == Curvature::MaxMin {
        problem.check_no_costs()?;
    }
    if !ask.tie_costs.is_empty() {
        check_length("tie_cost", ask.tie_costs.len(), problem.paths().len(), "path")?;
        problem.clone().with_path_costs(ask.tie_costs.clone())?;
        if problem.has_path_costs() {
            return unsupported("tie_cost=", "a problem with costs", "its costs choose among splits");
        }
    }
    let first = stage_by_stage(problem, ask, observer, (began, false))?;
    let has_classes = problem.distinct_priorities().len() > 1 && problem.curvature() != Curvature::MaxMin;
    if first.status != Status::Stalled || !has_classes {
        return Ok(first);
    }
    let again = stage_by_stage(problem, ask, observer, (began, true))?;
    let status = match again.status {
        Status::Optimal | Status::TimeLimit | Status::Stopped => again.status,
        _ => first.status,
    };
    let seconds = began.elapsed().as_secs_f64();
    Ok(Solution { status, seconds, ..joined(first, again, status == Status::Optimal) })
}

/// The better one of two solves of the same, with the iterations and the trace of both.
fn joined(before: Solution, again: Solution, is_better: bool) -> Solution {
    let iterations = before.iterations + again.iterations;
    let trace = [&before.trace[..], &again.trace].concat();
    let better = if is_better { again } else { before };
    Solution { iterations, trace, ..better }
}

/// Solves each stage once; if it is said so, every class but the last as exactly as it can be.
fn stage_by_stage(
    problem: &Problem,
    ask: &Ask,
    observer: &mut dyn Observer,
    (began, is_exact): (Instant, bool),
) -> Result<Solution> {
    let is_max_min = problem.has_only(Curvature::MaxMin);
    let mut stages = Stages::new(problem, ask, observer, began);
    let mut classes = Vec::new();
    let priorities = problem.distinct_priorities();
    for &priority in &priorities {
        let class = |flow: usize| problem.priority(flow) == priority;
        let is_before = |flow: usize| problem.priority(flow) < priority;
        stages.is_exact = is_exact && priorities.last() != Some(&priority);
        let Some(solution) = stages.solve(class, is_before)? else { break };
        let flows: Vec<u32> = (0..problem.flows() as u32).filter(|&flow| class(flow as usize)).collect();
        let Solution { status, objective, certificate, prices, .. } = solution;
        classes.push(PriorityClass { priority, flows, status, objective, certificate, prices });
    }
    if priorities.is_empty() {
        stages.solve(|_| true, |_| false)?;
    }
    if !ask.tie_costs.is_empty() {
        stages.cheapest()?;
    }
    let mut solution = stages.last.expect("there is a stage");
    if solution.infeasibility.is_none() && !solution.objective.is_nan() && !classes.is_empty() {
        let of_classes = classes.iter().map(|class: &PriorityClass| class.objective);
        let costs = solution.rates.iter().enumerate().map(|(path, rate)| problem.path_cost(path) * rate);
        solution.objective = match is_max_min {
            true => of_classes.fold(f64::INFINITY, f64::min),
            false => of_classes.sum::<f64>() - costs.sum::<f64>(),
        };
    }
    solution.classes = classes;
    solution.seconds = began.elapsed().as_secs_f64();
    Ok(solution)
}

/// Solves a problem in one stage. Where it has no answer after some iterations, and flows are at their floors, by cuts:
/// these keep them, and the others are a class beside them.
///
/// # Errors
/// Those of [`solve_on`].
pub(super) fn beside_floors(
    problem: &Problem,
    ask: &Ask,
    observer: &mut dyn Observer,
    last: Option<Solver>,
) -> Result<(Solution, Option<Solver>)> {
    let began = Instant::now();
    let has_floors = problem.has_flow_floors() && !problem.is_single_path() && ask.method() == "auto";
    if !has_floors || problem.curvature() == Curvature::MaxMin || !ask.workers.ranks().are_alone() {
        return solve_at_once(problem, ask, observer, last);
    }
    let (is_warm, most) = (last.is_some(), ask.settings.max_iterations);
    let mut settings = ask.settings.clone();
    settings.max_iterations = if is_warm { most } else { most.min(BESIDE_FLOORS) };
    let (found, solver) = solve_at_once(problem, &ask.clone().with_settings(settings), observer, last)?;
    let may_go_on = found.status == Status::MaxIterations && found.iterations < most;
    if found.status != Status::Stalled && !may_go_on {
        return Ok((found, solver));
    }
    let mut stages = Stages::new(problem, ask, observer, began);
    let found = stages.with_floors_kept(found, if may_go_on { OF_TIME } else { 1.0 })?;
    let seconds = |found: Solution| Solution { seconds: began.elapsed().as_secs_f64(), ..found };
    if !may_go_on || stages.is_over || found.status == Status::Optimal {
        return Ok((seconds(found), solver));
    }
    let mut ask = stages.ask_in_time();
    ask.settings.max_iterations = most - found.iterations;
    let (again, solver) = solve_at_once(problem, &ask, stages.observer, None)?;
    let found = stages.better(found, again);
    Ok((seconds(found), solver))
}

/// What is found for a class, beside the rates of the others, as a solution of the whole stage.
fn of_class(problem: &Problem, is_in: impl Fn(usize) -> bool, found: &Found, ask: &Ask) -> Result<Option<Solution>> {
    let flow_rates = problem.flow_rates(&found.rates)?;
    let stage = problem.stage(is_in, |flow| flow_rates[flow], found.rates.clone())?;
    let stage = stage.with_paths_closed(&found.starved)?;
    Solver::new(&stage, &ask.cold())?.at(found, &ask.settings).map(Some)
}

struct Stages<'a> {
    problem: &'a Problem,
    ask: &'a Ask,
    observer: &'a mut dyn Observer,
    began: Instant,
    /// What the stages up to now have come to.
    last: Option<Solution>,
    /// The prices of every class up to now.
    prices: Vec<Vec<f64>>,
    /// Whether the rates of the stage are to be exact.
    is_exact: bool,
    /// Whether a limit or the observer has ended the solve.
    is_over: bool,
}

impl<'a> Stages<'a> {
    fn new(problem: &'a Problem, ask: &'a Ask, observer: &'a mut dyn Observer, began: Instant) -> Self {
        Self { problem, ask, observer, began, last: None, prices: Vec::new(), is_exact: ask.is_exact, is_over: false }
    }

    /// The answer by cuts in which flows that are at their floors keep these, if it is proven in a part of the time
    /// that is left; otherwise that before.
    fn with_floors_kept(&mut self, before: Solution, of_time: f64) -> Result<Solution> {
        let problem = self.problem;
        let is_at_floor = |flow: usize| before.flow_rates[flow] <= problem.flow_floor(flow) * (1.0 + AT_FLOOR);
        let held: Vec<bool> =
            (0..problem.flows()).map(|flow| problem.flow_floor(flow) > 0.0 && is_at_floor(flow)).collect();
        let is_in = |flow: usize| !held[flow] && before.failed_flows.binary_search(&(flow as u32)).is_err();
        if !held.contains(&true) || !(0..problem.flows()).any(is_in) {
            return Ok(before);
        }
        let rates = |flow: usize| if held[flow] { problem.flow_floor(flow) } else { 0.0 };
        let stage = problem.stage(is_in, rates, before.rates.clone())?;
        let judge = |found: &Found, ask: &Ask| match found.starved.is_empty() {
            true => Solver::new(problem, &ask.cold())?.proven(found, &ask.settings).map(Some),
            // Who is starved beside floors is known before the first iteration.
            false => Ok(None),
        };
        self.by_cuts(&stage, is_in, judge, before.clone(), (&mut Vec::new(), of_time))
    }

    /// Solves for the flows of a class, and adds what was found; none where an earlier stage has ended the solve.
    fn solve(&mut self, is_in: impl Fn(usize) -> bool, is_before: impl Fn(usize) -> bool) -> Result<Option<Solution>> {
        let problem = self.problem;
        let rates: Vec<f64> = (0..problem.flows())
            .map(|flow| match &self.last {
                Some(last) if is_before(flow) => last.flow_rates[flow],
                _ => problem.flow_floor(flow),
            })
            .collect();
        let carrying = self.last.as_ref().map_or_else(Vec::new, |last| last.rates.clone());
        let mut stage = problem.stage(&is_in, |flow| rates[flow], carrying)?;
        let is_max_min = stage.curvature() == Curvature::MaxMin;
        if !is_max_min {
            let closed = self.starved(&stage, &is_in)?;
            stage = stage.with_paths_closed(&closed)?;
        }
        let found = match self.last {
            None => self.run(&stage, usize::MAX)?,
            Some(_) if is_max_min => self.with_or_without_starved(&stage, &is_in)?,
            Some(_) => self.beside_kept_rates(&stage, &is_in)?,
        };
        let Some(mut found) = found else { return Ok(None) };
        // Floors that do not fit end the stages: there is no later one that names the failed flows of its class.
        if found.infeasibility.is_none() {
            found.failed_flows.retain(|&flow| is_in(flow as usize));
        }
        let others = (0..problem.flows() as u32).filter(|&flow| !is_in(flow as usize));
        let mut left_out: Vec<u32> = others.chain(found.failed_flows.iter().copied()).collect();
        left_out.sort_unstable();
        if found.infeasibility.is_none() && !found.objective.is_nan() && problem.has_priorities() {
            // Of its flows alone: costs are those of the splits in the end.
            let utility = stage.with_path_costs(vec![0.0; problem.paths().len()])?;
            found.objective = utility.objective(&found.rates, &found.flow_rates, &left_out, &*self.ask.workers);
        }
        let class = found.clone();
        self.prices.push(class.prices.clone());
        self.add(found, &is_in);
        Ok(Some(class))
    }

    /// The paths of the flows of a class for which the stages before leave nothing.
    fn starved(&self, stage: &Problem, is_in: impl Fn(usize) -> bool) -> Result<Vec<u32>> {
        let Some(last) = self.last.as_ref().filter(|_| !self.is_over) else { return Ok(Vec::new()) };
        let ask = self.ask_in_time();
        starved::paths(stage, is_in, &last.rates, starved::least(&ask), &ask.settings)
    }

    /// A class of max-min. Where it stalls, without its starved flows if it is optimal then: the fair shares of many
    /// that are rounding hide those of the others. They have not failed, and their rates are 0.
    fn with_or_without_starved(&mut self, stage: &Problem, is_in: impl Fn(usize) -> bool) -> Result<Option<Solution>> {
        let Some(stalled) = self.run(stage, usize::MAX)? else { return Ok(None) };
        if stalled.status != Status::Stalled {
            return Ok(Some(stalled));
        }
        let closed = self.starved(stage, is_in)?;
        if closed.is_empty() {
            return Ok(Some(stalled));
        }
        let Some(again) = self.run(&stage.clone().with_paths_closed(&closed)?, usize::MAX)? else { return Ok(None) };
        let (failed_flows, is_better) = (stalled.failed_flows.clone(), again.status == Status::Optimal);
        Ok(Some(Solution { failed_flows, ..self.after(stalled, again, is_better) }))
    }

    /// A class beside rates that are kept, by cuts where it has no answer after some iterations.
    fn beside_kept_rates(&mut self, stage: &Problem, is_in: impl Fn(usize) -> bool) -> Result<Option<Solution>> {
        let most = if stage.is_single_path() { usize::MAX } else { BEFORE_CUTS };
        let Some(before) = self.run(stage, most)? else { return Ok(None) };
        let may_go_on = before.status == Status::MaxIterations && most < self.ask.settings.max_iterations;
        if before.status != Status::Stalled && !may_go_on {
            return Ok(Some(before));
        }
        let (of_time, mut known) = (if may_go_on { OF_TIME } else { 1.0 }, self.prices.clone());
        let problem = self.problem;
        let judge = |found: &Found, ask: &Ask| of_class(problem, &is_in, found, ask);
        let mut found = self.by_cuts(stage, &is_in, judge, before, (&mut known, of_time))?;
        if may_go_on && !self.is_over && found.status != Status::Optimal {
            let had_little_time = found.status == Status::TimeLimit;
            let left = self.ask.settings.max_iterations - found.iterations;
            let Some(again) = self.run(stage, left)? else { return Ok(None) };
            found = self.better(found, again);
            if had_little_time && found.status == Status::Stalled {
                found = self.by_cuts(stage, &is_in, judge, found, (&mut known, 1.0))?;
            }
        }
        self.is_over |= found.status == Status::TimeLimit;
        Ok(Some(found))
    }

    /// What has come of a stage that was solved again, with the answer that is better.
    fn better(&mut self, before: Solution, again: Solution) -> Solution {
        let goal = Goal::new(&self.ask.settings);
        let rank = |found: &Solution| goal.rank(found.certificate.relative_gap, found.certificate.kkt_residual);
        let is_better = rank(&again) < rank(&before);
        self.after(before, again, is_better)
    }

    /// What has come of a stage that was solved again, with the rates that are better.
    fn after(&mut self, before: Solution, again: Solution, is_better: bool) -> Solution {
        let status = match again.status {
            // The rates before carry the floors: they fit.
            Status::Infeasible => Status::Stalled,
            status => status,
        };
        self.is_over &= status == again.status;
        Solution { status, ..joined(before, again, is_better) }
    }

    /// A stage that has no answer beside rates that are kept, by cuts where these find it in a part of the time that is
    /// left, given prices that are cuts, to which those found are added. The judge makes a solution of what is found.
    /// Where cuts end with the time, so does the status say.
    fn by_cuts(
        &mut self,
        stage: &Problem,
        is_in: impl Fn(usize) -> bool,
        judge: impl Fn(&Found, &Ask) -> Result<Option<Solution>>,
        before: Solution,
        (known, of_time): (&mut Vec<Vec<f64>>, f64),
    ) -> Result<Solution> {
        let mut ask = self.ask_in_time();
        ask.settings.time_limit = ask.settings.time_limit.map(|limit| limit.mul_f64(of_time));
        ask.settings.max_iterations = ask.settings.max_iterations.saturating_sub(before.iterations);
        let mut observer = Watched { observer: &mut *self.observer, has_stopped: false };
        let mut find = || {
            for (part, preferred) in ALLOWED {
                let allowed = Allowed { least: part * starved::least(&ask), preferred, budget: None };
                let optimal =
                    |found: Found| Ok(judge(&found, &ask)?.filter(|by_cuts| by_cuts.status == Status::Optimal));
                let rates = (&mut *known, &before.rates[..]);
                if let Some(found) = cuts::class(stage, &is_in, rates, allowed, (&ask, &mut observer), optimal)? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        };
        let found = match ask.settings.time_limit {
            Some(limit) => StopToken::with_timeout(limit).scope(find),
            None => find(),
        };
        let has_stopped = observer.has_stopped;
        match found {
            Ok(None) | Err(Error::Stopped) if has_stopped => {
                self.is_over = true;
                Ok(Solution { status: Status::Stopped, ..before })
            }
            Ok(Some(found)) => {
                let iterations = before.iterations + found.iterations;
                Ok(Solution { iterations, trace: before.trace, ..found })
            }
            // Either the time is up, or a token of the caller has stopped it.
            Err(Error::Stopped) => interrupt::check().map(|()| Solution { status: Status::TimeLimit, ..before }),
            Ok(None) | Err(Error::Unlimited { .. }) => Ok(before),
            Err(error) => Err(error),
        }
    }

    /// Of the splits of the rates found the one of least cost.
    fn cheapest(&mut self) -> Result<()> {
        let Some(last) = &self.last else { return Ok(()) };
        let rates = last.flow_rates.clone();
        let problem = self.problem.clone().with_path_costs(self.ask.tie_costs.clone())?;
        let stage = problem.stage(|_| false, |flow| rates[flow], last.rates.clone())?;
        if let Some(mut found) = self.run(&stage, usize::MAX)? {
            if found.status == Status::Stalled {
                let judge = |found: &Found, ask: &Ask| of_class(&problem, |_| false, found, ask);
                found = self.by_cuts(&stage, |_| false, judge, found, (&mut self.prices.clone(), 1.0))?;
            }
            self.add(Solution { failed_flows: Vec::new(), objective: 0.0, ..found }, |_| false);
        }
        Ok(())
    }

    /// Runs one stage in the time that is left, for so many iterations at most.
    fn run(&mut self, stage: &Problem, most: usize) -> Result<Option<Solution>> {
        if self.is_over {
            return Ok(None);
        }
        let mut ask = self.ask_in_time();
        ask.settings.max_iterations = most.min(ask.settings.max_iterations);
        if self.last.is_some() {
            // Prices of another stage are no start.
            ask.start = Start::Cold;
        }
        let (found, _) = match self.last {
            None => solve_on(stage, &ask, self.observer, None)?,
            Some(_) => solve_at_once(stage, &ask, self.observer, None)?,
        };
        let solution = match &self.last {
            Some(last) => at_least(found, last),
            None => found,
        };
        self.is_over = [Status::TimeLimit, Status::Stopped, Status::Infeasible].contains(&solution.status);
        Ok(Some(solution))
    }

    /// What is asked of a stage, in the time that is left.
    fn ask_in_time(&self) -> Ask {
        let mut settings = self.ask.settings.clone();
        settings.time_limit = settings.time_limit.map(|limit| limit.saturating_sub(self.began.elapsed()));
        Ask { is_exact: self.is_exact, settings, tie_costs: Vec::new(), ..self.ask.clone() }
    }

    /// Takes over what a stage has found: its rates, and of the flows in it what concerns them.
    fn add(&mut self, found: Solution, is_in: impl Fn(usize) -> bool) {
        let Some(last) = self.last.take() else {
            self.last = Some(found);
            return;
        };
        let worst = |one: f64, other: f64| if one >= other || one.is_nan() { one } else { other };
        let (before, now) = (last.certificate, found.certificate);
        let certificate = Certificate {
            relative_gap: worst(before.relative_gap, now.relative_gap),
            overload: worst(before.overload, now.overload),
            kkt_residual: worst(before.kkt_residual, now.kkt_residual),
        };
        let group = self.problem.group();
        let of_class = |path: usize| is_in(group[path] as usize);
        let bottlenecks = found.bottlenecks.iter().zip(&last.bottlenecks).enumerate();
        let bottlenecks =
            bottlenecks.map(|(path, (now, before))| if of_class(path) { *now } else { *before }).collect();
        let mut failed_flows = [last.failed_flows, found.failed_flows.clone()].concat();
        failed_flows.sort_unstable();
        let status = if last.status == Status::Optimal || self.is_over { found.status } else { last.status };
        let is_stage_of_flows = (0..self.problem.flows()).any(&is_in);
        let (prices, method) =
            if is_stage_of_flows { (found.prices, found.method) } else { (last.prices, last.method) };
        self.last = Some(Solution {
            status,
            method,
            prices,
            bottlenecks,
            cuts: [last.cuts, found.cuts].concat(),
            objective: last.objective + found.objective,
            certificate,
            iterations: last.iterations + found.iterations,
            failed_flows,
            trace: [last.trace, found.trace].concat(),
            ..Solution {
                rates: found.rates,
                flow_rates: found.flow_rates,
                loads: found.loads,
                ..Solution::unsolved(self.problem, self.began.elapsed())
            }
        });
    }
}

/// An observer, and whether it has ended the solve: it is not asked again.
struct Watched<'a> {
    observer: &'a mut dyn Observer,
    has_stopped: bool,
}

impl Observer for Watched<'_> {
    fn cadence(&self) -> Cadence {
        self.observer.cadence()
    }

    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.has_stopped = self.has_stopped || self.observer.observe(progress).is_break();
        if self.has_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// What a stage has found, or the rates of the stages before where its time was up before anything was found.
fn at_least(found: Solution, last: &Solution) -> Solution {
    if !found.objective.is_nan() {
        return found;
    }
    let (rates, flow_rates, loads) = (last.rates.clone(), last.flow_rates.clone(), last.loads.clone());
    Solution { rates, flow_rates, loads, ..found }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{AlphaFair, Paths, Settings, solve};

    #[test]
    fn a_stage_that_finds_nothing_leaves_the_rates_of_those_before_it() {
        let problem = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional()).unwrap();
        let last = solve(&problem, &Ask::default()).unwrap();
        let nothing = at_least(Solution::unsolved(&problem, Duration::ZERO), &last);
        assert_eq!((&nothing.rates, &nothing.flow_rates, &nothing.loads), (&last.rates, &last.flow_rates, &last.loads));
        assert_ne!(nothing.status, Status::Optimal);
        let found = Solution { objective: 1.0, ..Solution::unsolved(&problem, Duration::ZERO) };
        assert_eq!(at_least(found, &last).rates, [0.0, 0.0]);
    }

    /// What cuts find for the second of two flows, and whether that ends the solve.
    fn by_cuts(ask: &Ask, observer: &mut dyn Observer) -> (Status, bool) {
        let paths = Paths::from_lists([[0], [1], [0], [2]]);
        let problem = Problem::grouped(vec![1.0; 3], paths, vec![0, 0, 1, 1], AlphaFair::proportional()).unwrap();
        let stage = problem.stage(|flow| flow == 1, |_| 1.5, vec![0.75, 0.75, 0.0, 0.0]).unwrap();
        let (began, problem, before) = (Instant::now(), &problem, solve(&stage, &Ask::default()).unwrap());
        let mut stages = Stages::new(problem, ask, observer, began);
        let is_in = |flow: usize| flow == 1;
        let judge = |found: &Found, ask: &Ask| of_class(problem, is_in, found, ask);
        let found = stages.by_cuts(&stage, is_in, judge, before, (&mut vec![], 1.0)).unwrap();
        (found.status, stages.is_over)
    }

    #[test]
    fn an_observer_that_ends_the_solve_in_cuts_stops_the_class() {
        // From the first call on, once, and never: who has ended the solve is not asked again.
        for (ends_at, status) in [(usize::MAX, Status::Stopped), (1, Status::Stopped), (0, Status::Optimal)] {
            let (mut calls, ends) = (0, ends_at > 0);
            let mut observer = |_: &Progress| {
                calls += 1;
                if calls <= ends_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            assert_eq!(by_cuts(&Ask::default(), &mut observer), (status, ends));
        }
    }

    #[test]
    fn cuts_that_run_out_of_time_say_so() {
        let at_once = Settings::default().with_time_limit(Duration::ZERO);
        assert_eq!(by_cuts(&Ask::from(at_once), &mut ()).0, Status::TimeLimit);
        let in_time = Settings::default().with_time_limit(Duration::from_secs(60));
        assert_eq!(by_cuts(&Ask::from(in_time), &mut ()).0, Status::Optimal);
    }
}
