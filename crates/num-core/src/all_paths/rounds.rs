//! The loop of rounds: solve, price, add the paths that are missing, certify where that may end it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cheapest_paths::CheapestPaths;
use super::cuts;
use super::demands::missing_for_floors;
use super::first_paths;
use super::missing::Missing;
use crate::certificate::Certificate;
use crate::certify::certify_presolved;
use crate::error::{Error, Result, check_length};
use crate::interrupt;
use crate::max_min::Witness;
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::solve::{Ask, Cadence, Goal, Observer, Progress, Settings, Solution, Solver, Status, Stop};
use crate::utility::Curvature;
use crate::work::Workers;

/// The first is solved to this.
const FIRST: f64 = 0.01;
/// The last is solved to this part of the tolerance: the missing paths may add as much again.
const LAST: f64 = 0.3;
/// Rounds that bring nothing before it gives up.
const PATIENCE: usize = 8;

/// The solution over all paths that flows may use.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct OverAllPaths {
    /// The problem over the paths that are used, at least one of every flow, in the order of the flows.
    pub problem: Problem,
    /// Its solution. The certificate is over all paths.
    pub solution: Solution,
    /// How often paths were added and the problem solved.
    pub rounds: usize,
    /// What the paths are that the proof is over.
    pub paths: String,
}

/// Solves a problem over all paths that `all` has for its flows. Its own paths, at least one per flow, are those to
/// begin with, and its floors, caps and utilities are those of the flows.
///
/// The status is [`Status::Optimal`] where the certificate over all paths meets the settings: the gap and, as the stop
/// has it, the KKT residual, which counts the cheapest path of every flow. A limit or an observer ends it with rates
/// that are feasible, and a certificate that is over all paths as well. The gap that observers are shown is over all
/// paths, that of the last round.
///
/// # Errors
/// Those of [`solve`](crate::solve()); [`Error::Unsupported`] for max-min utilities, priorities, caps of single paths,
/// coefficients, and a method other than the interior point; [`Error::CheapestPath`] for a path that cannot be the
/// cheapest.
pub fn solve_over_all_paths(
    problem: &Problem,
    all: &dyn CheapestPaths,
    ask: &Ask,
    observer: &mut dyn Observer,
) -> Result<OverAllPaths> {
    solve_with_link_costs(problem, all, &[], ask, observer)
}

/// The same where links have costs, utility lost per unit of load, which the costs of the problem's paths are of.
///
/// # Errors
/// As above.
pub fn solve_with_link_costs(
    problem: &Problem,
    all: &dyn CheapestPaths,
    link_costs: &[f64],
    ask: &Ask,
    observer: &mut dyn Observer,
) -> Result<OverAllPaths> {
    let began = Instant::now();
    ask.settings.check()?;
    check(problem, !link_costs.is_empty(), ask)?;
    check_length("the pairs of the paths", all.flows(), problem.flows(), "flow")?;
    let problem = problem.with_reaches(all.most(problem.capacities()));
    let mut rounds = Rounds {
        all,
        link_costs,
        ask,
        workers: &*ask.workers,
        observer,
        began,
        rounds: 0,
        iterations: 0,
        gap: f64::INFINITY,
        finishing: Duration::ZERO,
    };
    match problem.curvature() {
        Curvature::MaxMin => rounds.run_max_min(problem),
        _ => rounds.run(problem),
    }
}

fn check(problem: &Problem, links_have_costs: bool, ask: &Ask) -> Result<()> {
    let unsupported = |what: &str, instead| {
        let method = "all paths of a network".into();
        Err(Error::Unsupported { method, what: what.into(), instead })
    };
    problem.check_all_paths(links_have_costs)?;
    if problem.curvature() == Curvature::MaxMin && links_have_costs {
        return unsupported("costs beside max-min utilities", "leave them out");
    }
    if problem.has_priorities() {
        return unsupported("priorities", "use paths that are given");
    }
    if !ask.tie_costs.is_empty() {
        return unsupported("tie costs", "give links a cost, link_cost");
    }
    if !ask.workers.ranks().are_alone() {
        return unsupported("a part of a problem", "solve the whole on one rank");
    }
    let method = if problem.curvature() == Curvature::MaxMin { "max-min" } else { "interior-point" };
    if !["auto", method].contains(&ask.method()) {
        return unsupported(&format!("methods other than {method:?}"), "use \"auto\"");
    }
    Ok(())
}

struct Rounds<'a> {
    all: &'a dyn CheapestPaths,
    link_costs: &'a [f64],
    ask: &'a Ask,
    workers: &'a dyn Workers,
    observer: &'a mut dyn Observer,
    began: Instant,
    rounds: usize,
    iterations: usize,
    /// The last gap over all paths.
    gap: f64,
    /// How long pricing and certifying took.
    finishing: Duration,
}

impl fmt::Display for OverAllPaths {
    /// `Solution(optimal over all paths, 2028 flows, 88 links, 3935 paths, 4 rounds, gap 2.2e-11, …)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let solution = self.solution.to_string();
        let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let links = format!("{}, ", counted(self.problem.links(), "link"));
        let own = format!("{}, {}, ", counted(self.problem.paths().len(), "path"), counted(self.rounds, "round"));
        let status = self.solution.status.to_string();
        let over = solution.replacen(&status, &format!("{status} over {}", self.paths), 1);
        f.write_str(&over.replacen(&links, &format!("{links}{own}"), 1))
    }
}

impl Rounds<'_> {
    fn run(&mut self, mut problem: Problem) -> Result<OverAllPaths> {
        let Settings { tol, stop, .. } = self.ask.settings;
        let goal = Goal::new(&self.ask.settings);
        let first = problem.paths().len();
        if first == problem.flows() {
            problem = first_paths::spread(problem, self.all, self.link_costs, self.workers)?;
        }
        if std::env::var_os("ROUNDS").is_some() { eprintln!("spread: {} paths {:.3} s", problem.paths().len(), self.began.elapsed().as_secs_f64()); }
        let mut presolved = Arc::new(Presolved::by(&problem, Arc::clone(&self.ask.workers))?);
        let mut start = self.ask.start_prices().map(|prices| (prices.to_vec(), None));
        let (mut aim, mut least, mut since) = (std::env::var("FIRST").ok().and_then(|v| v.parse().ok()).unwrap_or(FIRST).max(LAST * tol), f64::INFINITY, 0);
        loop {
            interrupt::check()?;
            self.rounds += 1;
            let is_last = aim <= LAST * tol;
            let (aim_now, stop_now) = if is_last { (aim, stop) } else { (aim, Stop::Gap) };
            let mut solution = self.solve(&problem, &presolved, start.take(), aim_now, stop_now)?;
            let is_over = matches!(solution.status, Status::TimeLimit | Status::Stopped | Status::MaxIterations);
            if let Some(next) = self.more_for_floors(&problem, &solution)? {
                presolved = Arc::new(Presolved::by(&next, Arc::clone(&self.ask.workers))?);
                problem = next;
                continue;
            }
            if solution.infeasibility.is_some() || solution.objective.is_nan() {
                return self.ended(problem, solution);
            }
            let finishing = Instant::now();
            let missing = Missing::at(
                &problem,
                self.all,
                &solution.prices,
                self.link_costs,
                &solution.flow_rates,
                self.workers,
            )?;
            let own = solution.certificate;
            let estimate = missing.gap + own.relative_gap;
            let found = missing.found.flows.len();
            let envf = |name: &str, or: f64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(or);
            let by = if is_last { 0.0 } else { (envf("THRESH", 0.1) * own.relative_gap.min(1.0)).min(0.1) };
            let next = missing.added_to(&problem, self.link_costs, by)?;
            let mut rates = solution.rates.clone();
            rates.resize(next.paths().len(), 0.0);
            if std::env::var_os("ROUNDS").is_some() {
                eprintln!(
                    "round {} paths {} new {} own gap {:.1e} missing {:.1e} aim {:.0e} steps {} {:.3} s",
                    self.rounds, problem.paths().len(), found, own.relative_gap, missing.gap, aim, solution.iterations,
                    self.began.elapsed().as_secs_f64()
                );
            }
            let is_same = found == 0;
            let drop = envf("DROP", 1e9);
            let (mut next, mut start_rates) = (next, rates.clone());
            let mut dropped = 0;
            if drop < 1e8 && missing.gap > envf("DROPGAP", 1e-4) {
                let keep: Vec<u32> = (0..next.paths().len() as u32).filter(|&p| {
                    let p = p as usize;
                    p >= missing.path_costs.len() || rates[p] > 0.0 || missing.path_costs[p] <= missing.least[next.group()[p] as usize] * (1.0 + drop)
                }).collect();
                dropped = next.paths().len() - keep.len();
                if dropped > 0 {
                    start_rates = keep.iter().map(|&p| rates[p as usize]).collect();
                    next = next.with_paths_of(&keep, self.workers)?;
                }
            }
            if std::env::var_os("ROUNDS").is_some() { eprintln!("   added {} dropped {}", next.paths().len() + dropped - problem.paths().len(), dropped); }
            rates = start_rates;
            if true {
                presolved = Arc::new(Presolved::by(&next, Arc::clone(&self.ask.workers))?);
            }
            // The gap over all paths is at least the estimate.
            if missing.gap <= tol || is_over {
                let whole = missing.added_to(&problem, self.link_costs, 0.0)?;
                let mut padded = solution.rates.clone();
                padded.resize(whole.paths().len(), 0.0);
                let certificate = match is_same {
                    true => own,
                    false => certify_presolved(&whole, &Presolved::by(&whole, Arc::clone(&self.ask.workers))?, &padded, &solution.prices, &[])?,
                };
                let Certificate { relative_gap, kkt_residual, .. } = certificate;
                self.gap = relative_gap;
                let is_met = goal.is_met(relative_gap, kkt_residual) && solution.status != Status::Stalled;
                if is_met || is_over {
                    solution.certificate = certificate;
                    solution.status = if is_met { Status::Optimal } else { solution.status };
                    return self.ended(problem, solution);
                }
            }
            self.finishing = finishing.elapsed();
            // Nothing is missing and nothing is won: rounding, or a method that is done.
            (least, since) = if estimate < 0.9 * least { (estimate, 0) } else { (least, since + 1) };
            let is_done = is_same && is_last && (solution.status == Status::Stalled || aim < 1e-3 * tol);
            if is_done || since > PATIENCE + 100 {
                solution.certificate = certify_presolved(&next, &presolved, &rates, &solution.prices, &[])?;
                solution.status = Status::Stalled;
                return self.ended(problem, solution);
            }
            aim = if is_last && is_same { 0.1 * aim } else { aim.min(envf("NEXT_EST", 0.1) * estimate).min(envf("NEXT_MISS", 0.001) * missing.gap).max(LAST * tol) };
            start = Some((solution.prices, Some(rates)));
            problem = next;
        }
    }

    /// Max-min: paths are missing under the cuts that hold flows back.
    fn run_max_min(&mut self, problem: Problem) -> Result<OverAllPaths> {
        let goal = Goal::new(&self.ask.settings);
        let mut problem = first_paths::spread(problem.without_reaches(), self.all, self.link_costs, self.workers)?;
        loop {
            interrupt::check()?;
            self.rounds += 1;
            let given = &self.ask.settings;
            let presolved = Arc::new(Presolved::by(&problem, Arc::clone(&self.ask.workers))?);
            let (mut solution, mut witness) =
                self.solve_by("max-min", &problem, &presolved, None, given.tol, given.stop)?;
            if let Some(next) = self.more_for_floors(&problem, &solution)? {
                problem = next;
                continue;
            }
            let is_over = matches!(solution.status, Status::TimeLimit | Status::Stopped | Status::MaxIterations);
            if solution.infeasibility.is_some() || solution.objective.is_nan() {
                return self.ended(problem, solution);
            }
            let finishing = Instant::now();
            if problem.is_single_path() {
                witness = cuts::of_bottlenecks(&problem, &solution.bottlenecks, &solution.rates);
            }
            let (flows, paths) = cuts::missing(&problem, self.all, &witness, self.workers)?;
            self.finishing = finishing.elapsed();
            if flows.is_empty() || is_over {
                let Certificate { relative_gap, kkt_residual, .. } = &mut solution.certificate;
                if flows.is_empty() && !problem.is_single_path() {
                    let residual = cuts::residual_over_all(&problem, &solution.rates, &witness, self.workers)?;
                    (*relative_gap, *kkt_residual) = (relative_gap.max(residual), kkt_residual.max(residual));
                } else if !flows.is_empty() {
                    // Nothing is proven over paths that are missing.
                    (*relative_gap, *kkt_residual) = (1.0, 1.0);
                }
                let is_met = goal.is_met(*relative_gap, *kkt_residual);
                solution.status = match (is_met, is_over) {
                    (true, _) => Status::Optimal,
                    (false, true) => solution.status,
                    (false, false) => Status::Stalled,
                };
                return self.ended(problem, solution);
            }
            problem = problem.with_more_paths(&flows, &paths, &vec![0.0; flows.len()])?;
        }
    }

    /// The problem with the paths that floors want which do not fit over its own; none where there are no such.
    fn more_for_floors(&self, problem: &Problem, solution: &Solution) -> Result<Option<Problem>> {
        let Some(proof) = &solution.infeasibility else { return Ok(None) };
        let found = missing_for_floors(self.all, &proof.prices, &proof.flow_prices, self.workers)?;
        if found.flows.is_empty() {
            return Ok(None);
        }
        let costs = (0..found.flows.len()).map(|path| match self.link_costs.is_empty() {
            true => 0.0,
            false => found.paths.row(path).sum(self.link_costs),
        });
        problem.with_more_paths(&found.flows, &found.paths, &costs.collect::<Vec<_>>()).map(Some)
    }

    /// Solves one round by the interior point.
    fn solve(
        &mut self,
        problem: &Problem,
        presolved: &Arc<Presolved>,
        start: Option<(Vec<f64>, Option<Vec<f64>>)>,
        tol: f64,
        stop: Stop,
    ) -> Result<Solution> {
        self.solve_by("interior-point", problem, presolved, start, tol, stop).map(|(solution, _)| solution)
    }

    /// Solves one round, in the time and with the iterations that are left.
    fn solve_by(
        &mut self,
        method: &str,
        problem: &Problem,
        presolved: &Arc<Presolved>,
        start: Option<(Vec<f64>, Option<Vec<f64>>)>,
        tol: f64,
        stop: Stop,
    ) -> Result<(Solution, Witness)> {
        let given = &self.ask.settings;
        let mut settings = given.clone().with_tol(tol).with_stop(stop);
        settings.max_iterations = given.max_iterations.saturating_sub(self.iterations);
        settings.time_limit =
            given.time_limit.map(|limit| limit.saturating_sub(self.began.elapsed() + self.finishing));
        let ask = self.ask.clone().with_method(method).with_settings(settings.clone());
        let ask = match start {
            None => ask,
            Some((prices, None)) => ask.with_prices(prices),
            Some((prices, Some(rates))) => ask.with_point(prices, rates),
        };
        let mut solver = Solver::of(problem, Arc::clone(presolved), &ask)?;
        let mut shown = OfRound { observer: self.observer, gap: self.gap, before: self.iterations, began: self.began };
        let solution = solver.run(&settings, &mut shown)?;
        self.iterations += solution.iterations;
        Ok((solution, solver.witness().to_vec()))
    }

    /// The answer: over the paths that are used.
    fn ended(&self, problem: Problem, solution: Solution) -> Result<OverAllPaths> {
        let problem = problem.without_reaches();
        let kept = used(&problem, &solution.rates);
        let of = |values: &[f64]| kept.iter().map(|&path| values[path as usize]).collect::<Vec<f64>>();
        let bottlenecks = kept.iter().map(|&path| solution.bottlenecks[path as usize]).collect();
        let infeasibility = solution.infeasibility.clone().map(|mut proof| {
            proof.rates = of(&proof.rates);
            proof
        });
        Ok(OverAllPaths {
            problem: problem.with_paths_of(&kept, self.workers)?,
            solution: Solution {
                rates: of(&solution.rates),
                bottlenecks,
                infeasibility,
                iterations: self.iterations,
                seconds: self.began.elapsed().as_secs_f64(),
                ..solution
            },
            rounds: self.rounds,
            paths: self.all.name(),
        })
    }
}

/// The paths that carry something, and one of every flow that has none, in the order of the flows.
pub(super) fn used(problem: &Problem, rates: &[f64]) -> Vec<u32> {
    let flow_of = |path: u32| problem.group()[path as usize] as usize;
    let mut kept: Vec<u32> = (0..problem.paths().len() as u32).collect();
    let mut has_one = vec![false; problem.flows()];
    kept.iter().filter(|&&path| rates[path as usize] > 0.0).for_each(|&path| has_one[flow_of(path)] = true);
    kept.retain(|&path| rates[path as usize] > 0.0 || !std::mem::replace(&mut has_one[flow_of(path)], true));
    kept.sort_by_key(|&path| flow_of(path));
    kept
}

/// What an observer sees of a round: iterations of all rounds, and the gap over all paths.
struct OfRound<'a> {
    observer: &'a mut dyn Observer,
    gap: f64,
    before: usize,
    began: Instant,
}

impl Observer for OfRound<'_> {
    fn cadence(&self) -> Cadence {
        self.observer.cadence()
    }

    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        let (iteration, seconds) = (self.before + progress.iteration, self.began.elapsed().as_secs_f64());
        self.observer.observe(&Progress { iteration, gap: self.gap, seconds, ..*progress })
    }
}
