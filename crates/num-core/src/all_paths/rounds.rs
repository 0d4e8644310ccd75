//! The loop of rounds: solve, price, add the paths that are missing, certify where that may end it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, mem};

use super::cheapest_paths::{Cheaper, CheapestPaths};
use super::cuts;
use super::first_paths::first_paths;
use super::floors::{Floors, floors};
use super::missing::{self, Missing, at_paths, reaches, used, with_paths};
use super::shorter::over_shorter_paths;
use crate::certificate::{Certificate, FeasiblePoint};
use crate::error::{Error, Result, check_length};
use crate::interrupt;
use crate::max_min::Witness;
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::solve::{
    Ask, Cadence, Goal, MethodInfo, Observer, Progress, Settings, Solution, Solver, Status, Stop, limits,
};
use crate::tolerances::GRACE;
use crate::utility::Curvature;
use crate::work::{StopToken, Workers};

/// Paths to begin with are looked for in this part of the time.
const FIRST_PATHS: f64 = 0.5;
/// The first round is solved to this gap, and each to these parts of the gap that the last one has left over all paths,
/// and of what it has found missing: the nearer prices are, the fewer rounds follow.
const FIRST: f64 = 0.01;
/// The first where it goes on from an answer, whose paths are nearly all that are wanted: prices tell more then.
const AGAIN: f64 = 1e-4;
const NEXT: f64 = 0.1;
const NEXT_MISSING: f64 = 0.03;
/// The last is solved to this part of the tolerance: the missing paths may add as much again.
const LAST: f64 = 0.3;
/// A path that is cheaper by no more than this part, or by the gap of the round if that is smaller, is left out.
const MOST_LEFT_OUT: f64 = 0.1;
/// A round wins something where it leaves no more than this part of the gap; it gives up after so many that do not.
const WON: f64 = 0.9;
const PATIENCE: usize = 20;
/// Where nothing is missing and the certificate is not met, rounds are solved to less and less, down to this part of
/// the tolerance.
const LEAST: f64 = 1e-3;

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
/// begin with, and its floors, caps and utilities are those of the flows. Where it is asked to start at a
/// [point](Ask::with_point) over these, as [`NetworkPaths::go_on`](super::NetworkPaths::go_on) makes them, it goes on
/// from there; otherwise more paths are found before anything is solved, unless all demands fit on these.
///
/// An optimal answer takes no longer path of a flow where a shorter one that it has found costs as much and has room.
/// With link costs these alone say which paths are better.
///
/// The status is [`Status::Optimal`] where the certificate over all paths meets the settings: the gap and, as the stop
/// has it, the KKT residual, which counts the cheapest path of every flow. A limit or an observer ends it with rates
/// that are feasible, and a certificate that is over all paths as well. The gap that observers are shown is over all
/// paths, that after the last round that was certified: one that may be the last, and with an observer of every
/// iteration each. In the trace it is over the paths of the round, and in its last row, which is that of the answer,
/// over all.
///
/// # Errors
/// Those of [`solve`](crate::solve()); [`Error::OverAllPaths`] for priorities, caps and costs of single paths,
/// coefficients and tie costs; [`Error::Unsupported`] for a method other than the interior point, or max-min for its
/// utilities; [`Error::CheapestPath`] for a path that cannot be the cheapest.
pub fn solve_over_all_paths(
    problem: &Problem,
    all: &dyn CheapestPaths,
    ask: &Ask,
    observer: &mut dyn Observer,
) -> Result<OverAllPaths> {
    solve_with_link_costs(problem, all, &[], ask, observer)
}

/// [`solve_over_all_paths`] where links have costs, utility lost per unit of load: the problem's paths have theirs from
/// them.
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
    check_over_all_paths(problem, !link_costs.is_empty(), ask)?;
    check_length("the pairs of the paths", all.flows(), problem.flows(), "flow")?;
    let reaches = reaches(problem, all, &*ask.workers)?;
    let mut rounds = Rounds {
        all,
        link_costs,
        reaches,
        ask,
        workers: &*ask.workers,
        observer,
        began,
        rounds: 0,
        iterations: 0,
        trace: Vec::new(),
        gap: f64::INFINITY,
        finishing: Duration::ZERO,
    };
    let problem = match rounds.begin(problem)? {
        ControlFlow::Continue(problem) => problem,
        ControlFlow::Break((problem, status)) => {
            let unsolved = Solution::unsolved(&problem, began.elapsed());
            return rounds.ended(problem, Solution { status, ..unsolved });
        }
    };
    match problem.curvature() {
        Curvature::MaxMin => rounds.run_max_min(problem),
        _ => rounds.run(problem),
    }
}

/// Checks that a problem is one that [`solve_over_all_paths`] takes, and can be solved as it is asked.
///
/// # Errors
/// [`Error::OverAllPaths`] naming what it does not take, and of a method [`Error::UnknownName`] and
/// [`Error::Unsupported`]; [`Error::Length`] for a point over other paths than those to begin with.
pub fn check_over_all_paths(problem: &Problem, links_have_costs: bool, ask: &Ask) -> Result<()> {
    let refused = |what, instead| Err(Error::OverAllPaths { what, instead });
    problem.check_all_paths(links_have_costs)?;
    if problem.curvature() == Curvature::MaxMin && links_have_costs {
        return refused("costs beside max-min utilities", "leave them out");
    }
    if problem.has_priorities() {
        return refused("priorities", "give it paths, such as those of k_shortest_paths");
    }
    if !ask.tie_costs.is_empty() {
        return refused("tie costs", "give links a cost, link_cost");
    }
    if !ask.workers.ranks().are_alone() {
        return refused("ranks", "solve it on one");
    }
    if let Some((_, rates)) = ask.start_point() {
        check_length("the rates to start from", rates.len(), problem.paths().len(), "path")?;
    }
    let own = if problem.curvature() == Curvature::MaxMin { "max-min" } else { "interior-point" };
    if !["auto", own].contains(&ask.method()) {
        if ask.is_by_name() {
            MethodInfo::of(ask.method(), problem)?;
        }
        let (method, what) = (ask.method().into(), "all paths of a network".into());
        return Err(Error::Unsupported { method, what, instead: "use \"auto\"" });
    }
    ask.check_options(own, problem)
}

struct Rounds<'a> {
    all: &'a dyn CheapestPaths,
    link_costs: &'a [f64],
    /// The most that each flow can carry over all of its paths.
    reaches: Vec<f64>,
    ask: &'a Ask,
    workers: &'a dyn Workers,
    observer: &'a mut dyn Observer,
    began: Instant,
    rounds: usize,
    iterations: usize,
    trace: Vec<Progress>,
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
    /// The problem over the paths to begin with, which carry the floors where any paths do; or why there is none.
    fn begin(&mut self, problem: &Problem) -> Result<ControlFlow<(Problem, Status), Problem>> {
        let start = self.ask.start_point();
        let first = || first_paths(problem.clone(), start, self.all, &self.reaches, self.link_costs, self.workers);
        let limit = self.ask.settings.time_limit;
        let until = limit.and_then(|limit| self.began.checked_add(limit.mul_f64(FIRST_PATHS)));
        let mut problem = in_time(until, first)?.unwrap_or_else(|| problem.clone());
        if !problem.has_flow_floors() {
            return Ok(ControlFlow::Continue(problem));
        }
        let (mut last, mut level) = (Instant::now(), None);
        loop {
            interrupt::check()?;
            let found = self.in_time(|| floors(&problem, self.all, self.link_costs, self.workers, &mut level))?;
            problem = match found {
                None => return Ok(ControlFlow::Break((problem, Status::TimeLimit))),
                Some(Floors::Settled(problem)) => return Ok(ControlFlow::Continue(problem)),
                Some(Floors::Wanting(problem)) => problem,
            };
            self.rounds += 1;
            let is_due = match self.observer.cadence() {
                Cadence::EveryIteration => true,
                Cadence::Every(pause) => last.elapsed() >= pause,
            };
            if is_due {
                last = Instant::now();
                let seconds = self.began.elapsed().as_secs_f64();
                let progress =
                    Progress { iteration: 0, gap: self.gap, overload: f64::NAN, kkt_residual: f64::NAN, seconds };
                if self.observer.observe(&progress).is_break() {
                    return Ok(ControlFlow::Break((problem, Status::Stopped)));
                }
            }
        }
    }

    /// Does some work in the time that is left; none where that is up before.
    fn in_time<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let until = self.ask.settings.time_limit.and_then(|limit| (self.began + GRACE).checked_add(limit));
        in_time(until.map(|until| until.checked_sub(self.finishing).unwrap_or(self.began)), work)
    }

    /// The time that is left, if it is limited.
    fn left(&self) -> Option<Duration> {
        let limit = self.ask.settings.time_limit?;
        Some(limit.saturating_sub(self.began.elapsed() + self.finishing))
    }

    fn run(&mut self, mut problem: Problem) -> Result<OverAllPaths> {
        let Settings { tol, stop, .. } = self.ask.settings;
        let goal = Goal::new(&self.ask.settings);
        let mut start = match self.ask.start_point() {
            Some((prices, rates)) => Some((prices.to_vec(), Some(at_paths(rates, &problem)))),
            None => self.ask.start_prices().map(|prices| (prices.to_vec(), None)),
        };
        let first = if start.as_ref().is_some_and(|(_, rates)| rates.is_some()) { AGAIN } else { FIRST };
        let is_watched = self.observer.cadence() == Cadence::EveryIteration;
        // The prices of the round that had least missing, for the bound where a limit ends it in a worse one.
        let mut best: Option<(f64, Vec<f64>)> = None;
        // The round that has proven most, of those that would have been the last but for what floats hide.
        let mut proven: Option<Round> = None;
        let mut last = None;
        let (mut aim, mut least, mut since) = (first.max(LAST * tol), f64::INFINITY, 0);
        loop {
            interrupt::check()?;
            self.rounds += 1;
            let is_last = aim <= LAST * tol;
            let until = if is_last { stop } else { Stop::Gap };
            let (solution, _) = self.solve("interior-point", &problem, start.take(), None, aim, until)?;
            let round = Round { problem, solution, witness: Vec::new() }.or(last.take());
            let mut solution = round.solution;
            problem = round.problem;
            if solution.infeasibility.is_some() || solution.objective.is_nan() {
                return self.ended(problem, solution);
            }
            let finishing = Instant::now();
            let Solution { prices, flow_rates, certificate, .. } = &solution;
            let (own, links) = (certificate.relative_gap, self.link_costs);
            let missing = Missing::at(&problem, self.all, prices, links, flow_rates, self.workers)?;
            let estimate = missing.gap + own;
            (least, since) = if estimate < WON * least { (estimate, 0) } else { (least, since + 1) };
            let is_over = is_over(&solution);
            // Nothing is missing and nothing is won: rounding, or a method that is done.
            let nothing = missing.is_empty() && is_last && (solution.status == Status::Stalled || aim < LEAST * tol);
            let mut hidden = None;
            // The gap over all paths is at least what these paths miss.
            if missing.of_worth <= tol || is_over || nothing || since > PATIENCE || is_watched {
                let point = (&*solution.rates, &*solution.prices);
                solution.certificate =
                    missing::certificate(&problem, &missing, point, self.link_costs, &self.reaches, self.ask)?;
                let numbers = |of: &Solution| (of.certificate.relative_gap, of.certificate.kkt_residual);
                let rank = |(gap, residual)| goal.rank(gap, residual);
                let (gap, residual) = numbers(&solution);
                if is_over
                    && !goal.is_met(gap, residual)
                    && let Some((_, prices)) = best.take_if(|(before, _)| *before < estimate)
                {
                    // Nothing follows that time is kept for.
                    self.finishing = Duration::ZERO;
                    let other = self.in_time(|| self.at_prices(&problem, &solution, prices))?;
                    if let Some(other) = other.filter(|other| rank(numbers(other)) < rank((gap, residual))) {
                        solution = other;
                    }
                }
                let is_met = |of: &Solution| {
                    let (gap, residual) = numbers(of);
                    goal.is_met(gap, residual) && of.status != Status::Stalled
                };
                let mut is_met_now = is_met(&solution);
                // The sums of costs have no more digits.
                if is_met_now && self.link_costs.is_empty() {
                    self.finishing = Duration::ZERO;
                    match self.in_time(|| self.hidden(&problem, &missing, &solution))? {
                        // There was no time to say that nothing is.
                        None => is_met_now = false,
                        Some(None) => (),
                        Some(Some((found, certificate))) => {
                            (hidden, solution.certificate) = (Some(found), certificate);
                            is_met_now = is_met(&solution);
                        }
                    }
                }
                self.gap = solution.certificate.relative_gap;
                if is_met_now || is_over || nothing && hidden.is_none() || since > PATIENCE {
                    if is_met_now
                        && let Some(Some(shorter)) = self.in_time(|| self.shorter(&problem, &missing, &solution))?
                        && is_met(&shorter)
                    {
                        solution = shorter;
                    }
                    let is_more = |round: &Round| rank(numbers(&round.solution)) < rank(numbers(&solution));
                    if let Some(round) = proven.filter(is_more) {
                        (problem, solution) = (round.problem, Solution { status: solution.status, ..round.solution });
                    }
                    solution.status = status(is_met_now, is_over, &solution);
                    return self.ended(problem, solution);
                }
                let is_more = |round: &Round| rank(numbers(&round.solution)) <= rank(numbers(&solution));
                if hidden.is_some() && !proven.as_ref().is_some_and(is_more) {
                    let (problem, solution) = (problem.clone(), solution.clone());
                    proven = Some(Round { problem, solution, witness: Vec::new() });
                }
            }
            // The next may be priced and certified twice: at its own prices and at the best.
            self.finishing = 2 * finishing.elapsed();
            if best.as_ref().is_none_or(|(before, _)| estimate < *before) {
                best = Some((estimate, solution.prices.clone()));
            }
            // What prices of this accuracy cannot tell from rounding is left out, but at last.
            let by = if is_last { 0.0 } else { own.min(MOST_LEFT_OUT) };
            let mut more = missing.added_to(&problem, self.link_costs, by)?;
            if let Some(Cheaper { flows, paths }) = &hidden {
                more = with_paths(&more, flows, paths, &[])?;
            }
            let before = mem::replace(&mut problem, more);
            aim = match is_last && missing.is_empty() && hidden.is_none() {
                true => 0.1 * aim,
                false => aim.min(NEXT * estimate).min(NEXT_MISSING * missing.gap).max(LAST * tol),
            };
            start = Some((solution.prices.clone(), Some(at_paths(&solution.rates, &problem))));
            last = Some(Round { problem: before, solution, witness: Vec::new() });
        }
    }

    /// The paths that are missing in digits that floats do not have, if any, and what is proven beside them.
    fn hidden(
        &self,
        problem: &Problem,
        missing: &Missing,
        solution: &Solution,
    ) -> Result<Option<(Cheaper, Certificate)>> {
        let Solution { rates, prices, .. } = solution;
        let Some(found) = missing::hidden(problem, missing, (rates, prices), self.all, self.ask)? else {
            return Ok(None);
        };
        let whole = with_paths(problem, &found.flows, &found.paths, &[])?;
        let point = (&*at_paths(rates, &whole), &**prices);
        let certificate = missing::certificate(&whole, missing, point, &[], &self.reaches, self.ask)?;
        Ok(Some((found, certificate)))
    }

    /// A solution at other prices: what they prove of its rates, and the bottlenecks under them.
    fn at_prices(&self, problem: &Problem, solution: &Solution, prices: Vec<f64>) -> Result<Solution> {
        let rates = &solution.flow_rates;
        let missing = Missing::at(problem, self.all, &prices, self.link_costs, rates, self.workers)?;
        let mut other = Solution { prices, ..solution.clone() };
        self.prove(problem, &missing, &mut other)?;
        Ok(other)
    }

    /// A solution over shorter paths where it has longer ones that cost as much. What costs beside prices says which
    /// paths are better, however long they are.
    fn shorter(&self, problem: &Problem, missing: &Missing, solution: &Solution) -> Result<Option<Solution>> {
        let Solution { rates, flow_rates, .. } = solution;
        if !self.link_costs.is_empty() {
            return Ok(None);
        }
        let Some(rates) = over_shorter_paths(problem, missing, rates, flow_rates)? else { return Ok(None) };
        let mut shorter = Solution { loads: problem.loads(&rates)?, rates, ..solution.clone() };
        self.prove(problem, missing, &mut shorter)?;
        Ok(Some(shorter))
    }

    /// What the rates and prices of a solution prove, and the bottlenecks under them.
    fn prove(&self, problem: &Problem, missing: &Missing, solution: &mut Solution) -> Result<()> {
        let Solution { rates, prices, .. } = &*solution;
        let certificate =
            missing::certificate(problem, missing, (rates, prices), self.link_costs, &self.reaches, self.ask)?;
        let presolved = Presolved::by(problem, Arc::clone(&self.ask.workers))?;
        let (rates, prices) = (presolved.natural_rates(rates), presolved.natural_prices(prices));
        let point = FeasiblePoint::new(&presolved, &rates, &prices)?;
        let bottlenecks = limits(problem, &presolved, &point, &[])?.bottlenecks;
        (solution.certificate, solution.bottlenecks) = (certificate, bottlenecks);
        Ok(())
    }

    /// Max-min: paths are missing under the cuts that hold flows back.
    fn run_max_min(&mut self, mut problem: Problem) -> Result<OverAllPaths> {
        let Settings { tol, stop, .. } = self.ask.settings;
        let goal = Goal::new(&self.ask.settings);
        let (mut last, mut solver, mut asked) = (None, None, cuts::Asked::new());
        loop {
            interrupt::check()?;
            self.rounds += 1;
            let (solution, after) = self.solve("max-min", &problem, None, solver.as_ref(), tol, stop)?;
            let witness = solver.insert(after).witness().to_vec();
            let round = Round { problem, solution, witness }.or(last.take());
            let (mut solution, mut witness) = (round.solution, round.witness);
            problem = round.problem;
            if solution.infeasibility.is_some() || solution.objective.is_nan() {
                return self.ended(problem, solution);
            }
            let finishing = Instant::now();
            if problem.is_single_path() {
                witness = cuts::of_bottlenecks(&problem, &solution.bottlenecks, &solution.rates);
            }
            let is_over = is_over(&solution);
            if is_over {
                // It may be the round before, which lacks the paths that were added since.
                asked.clear();
            }
            let (flows, paths) = cuts::missing(&problem, self.all, &witness, &mut asked, self.workers)?;
            self.finishing = finishing.elapsed();
            if flows.is_empty() || is_over {
                let Certificate { relative_gap, kkt_residual, .. } = &mut solution.certificate;
                let residual = match flows.is_empty() {
                    // Nothing is proven over paths that are missing.
                    false => 1.0,
                    true if problem.is_single_path() => *relative_gap,
                    true => cuts::residual_over_all(&problem, &solution.rates, &witness, self.workers)?,
                };
                (*relative_gap, *kkt_residual) = (relative_gap.max(residual), kkt_residual.max(residual));
                let is_met = goal.is_met(*relative_gap, *kkt_residual);
                solution.status = status(is_met, is_over, &solution);
                return self.ended(problem, solution);
            }
            // That of the answer if it ended here: nothing is proven over paths that are missing.
            self.gap = 1.0;
            let more = problem.with_more_paths(&flows, &paths, &[])?;
            let before = mem::replace(&mut problem, more);
            last = Some(Round { problem: before, solution, witness });
        }
    }

    /// Solves one round by a method, in the time and with the iterations that are left, from a start or from what the
    /// last solver has found.
    fn solve(
        &mut self,
        method: &str,
        problem: &Problem,
        start: Option<(Vec<f64>, Option<Vec<f64>>)>,
        last: Option<&Solver>,
        tol: f64,
        stop: Stop,
    ) -> Result<(Solution, Solver)> {
        let given = &self.ask.settings;
        let mut settings = given.clone().with_tol(tol).with_stop(stop);
        settings.max_iterations = given.max_iterations.saturating_sub(self.iterations);
        settings.time_limit = self.left();
        let ask = self.ask.clone().with_method(method).with_settings(settings.clone());
        let ask = match start {
            // A point is over the paths to begin with.
            None if ask.start_point().is_some() => ask.cold(),
            None => ask,
            Some((prices, None)) => ask.with_prices(prices),
            Some((prices, Some(rates))) => ask.with_point(prices, rates),
        };
        let (before, began) = (self.iterations, self.began.elapsed().as_secs_f64());
        let mut solver = Solver::after(problem, &ask, last)?;
        let mut shown = OfRound { observer: self.observer, gap: self.gap, before, began: self.began };
        let mut solution = solver.run(&settings, &mut shown)?;
        self.trace.extend(later(mem::take(&mut solution.trace), before, began));
        self.iterations += solution.iterations;
        Ok((solution, solver))
    }

    /// The answer: over the paths that are used.
    fn ended(&mut self, problem: Problem, solution: Solution) -> Result<OverAllPaths> {
        let (iterations, seconds) = (self.iterations, self.began.elapsed().as_secs_f64());
        let mut trace = mem::take(&mut self.trace);
        if self.ask.settings.trace {
            trace.push(last_row(&solution.certificate, iterations, seconds));
        }
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
                iterations,
                trace,
                seconds,
                ..solution
            },
            rounds: self.rounds,
            paths: self.all.name(),
        })
    }
}

/// Does some work until then, if time is limited; none where that is over before.
pub(super) fn in_time<T>(until: Option<Instant>, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    let Some(until) = until else { return work().map(Some) };
    let Some(left) = until.checked_duration_since(Instant::now()) else { return Ok(None) };
    match StopToken::with_timeout(left).scope(work) {
        Err(Error::Stopped) => interrupt::check().map(|()| None),
        result => result.map(Some),
    }
}

/// How the rounds end.
fn status(is_met: bool, is_over: bool, last: &Solution) -> Status {
    match () {
        () if is_met => Status::Optimal,
        () if is_over => last.status,
        () => Status::Stalled,
    }
}

/// A problem over the paths of a round, with its solution, and what proves it where that is max-min.
struct Round {
    problem: Problem,
    solution: Solution,
    witness: Witness,
}

impl Round {
    /// This one; or the one before it, where a limit has ended this one early with less. Without rates its objective is
    /// NaN, and the one before is taken.
    fn or(self, before: Option<Self>) -> Self {
        match before {
            Some(before) if is_over(&self.solution) => {
                if self.solution.objective > before.solution.objective {
                    return self;
                }
                Self { solution: Solution { status: self.solution.status, ..before.solution }, ..before }
            }
            _ => self,
        }
    }
}

/// Whether a limit or the observer has ended it.
pub(super) fn is_over(solution: &Solution) -> bool {
    matches!(solution.status, Status::TimeLimit | Status::Stopped | Status::MaxIterations)
}

/// Rows of a trace that follow others: iterations and seconds go on.
pub(super) fn later(rows: Vec<Progress>, iterations: usize, seconds: f64) -> impl Iterator<Item = Progress> {
    rows.into_iter().map(move |row| Progress {
        iteration: iterations + row.iteration,
        seconds: seconds + row.seconds,
        ..row
    })
}

/// The last row of a trace: the answer, with the certificate over all paths.
pub(super) fn last_row(certificate: &Certificate, iteration: usize, seconds: f64) -> Progress {
    let &Certificate { relative_gap: gap, overload, kkt_residual } = certificate;
    Progress { iteration, gap, overload, kkt_residual, seconds }
}

/// What an observer sees of a round: iterations of all rounds, and the gap over all paths.
pub(super) struct OfRound<'a> {
    pub(super) observer: &'a mut dyn Observer,
    pub(super) gap: f64,
    /// The iterations of the rounds before.
    pub(super) before: usize,
    pub(super) began: Instant,
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
