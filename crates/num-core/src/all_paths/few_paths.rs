//! Few paths: the rates that are optimal over all paths, over as few as it takes (`vertex.rs`), or over a given number
//! per flow with the proven distance to the optimum over all.

use std::mem;
use std::time::{Duration, Instant};

use super::cheapest_paths::CheapestPaths;
use super::missing::{Missing, certificate, reaches, used};
use super::rounds::{OfRound, OverAllPaths, is_over, last_row, later};
use super::vertex::vertex;
use crate::certificate::Certificate;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::solve::{Ask, Goal, Observer, Solution, Status, solve_on};
use crate::tolerances::SUMMED;
use crate::utility::Curvature;

/// Where the split over few paths is not proven, prices are found to this part of the tolerance, so many times.
const FINER: f64 = 0.03;
const TRIES: usize = 3;

impl OverAllPaths {
    /// Keeps the rates of flows and uses few paths: at most one for every flow and one for every full link. Of several
    /// such splits it is one of paths with few links. Links have the costs that the solution was found with; the
    /// certificate is over all paths again. A solution that a limit has ended keeps its split.
    ///
    /// With `most` a flow has at most so many paths: those that carry most of it, over which the problem is solved
    /// again. The certificate then has the distance of these rates to the optimum over all paths, by the prices of
    /// that; of max-min, whose proof is none of other rates, it proves nothing. Where that is above the tolerance, the
    /// status is [`Status::FewerPaths`].
    ///
    /// # Errors
    /// Those of the oracle and of [`solve`](crate::solve()), and [`Error::Setting`] for 0 paths and for floors that do
    /// not fit over so few.
    pub fn over_few_paths(
        self,
        all: &dyn CheapestPaths,
        link_costs: &[f64],
        most: Option<usize>,
        ask: &Ask,
        observer: &mut dyn Observer,
    ) -> Result<OverAllPaths> {
        if most == Some(0) {
            return Err(Error::setting("max_paths", 0, "an integer >= 1"));
        }
        let OverAllPaths { problem: whole, solution: mut many, .. } = self;
        if many.infeasibility.is_some() || many.objective.is_nan() || is_over(&many) && most.is_none() {
            return Ok(OverAllPaths { problem: whole, solution: many, ..self });
        }
        let (began, seconds) = (Instant::now(), many.seconds);
        // What the rounds have left of the limits.
        let left = |done: usize| {
            let mut settings = ask.settings.clone();
            settings.max_iterations = settings.max_iterations.saturating_sub(done);
            let took = Duration::from_secs_f64(seconds) + began.elapsed();
            settings.time_limit = settings.time_limit.map(|limit| limit.saturating_sub(took));
            settings
        };
        let rest = ask.cold().with_settings(left(many.iterations));
        let mut trace = mem::take(&mut many.trace);
        let first = began.checked_sub(Duration::from_secs_f64(seconds)).unwrap_or(began);
        let mut shown = OfRound { observer, gap: f64::INFINITY, before: many.iterations, began: first };
        let mut few = Few::of(&whole, &many, all, link_costs, most, &rest, &mut shown)?;
        let mut tol = ask.settings.tol;
        for _ in 0..TRIES {
            if few.are_best || few.are_fewer || many.status != Status::Optimal {
                break;
            }
            // A path that is a little dearer than others carries little in a split over all, and may carry much here.
            tol *= FINER;
            let finer = rest.clone().with_method("interior-point").with_settings(left(many.iterations).with_tol(tol));
            let finer = finer.with_point(many.prices.clone(), many.rates.clone());
            let (before, at) = (many.iterations, first.elapsed().as_secs_f64());
            let (mut next, _) = solve_on(&whole, &finer, &mut shown, None)?;
            if next.objective.is_nan() || !matches!(next.status, Status::Optimal | Status::Stalled) {
                break;
            }
            trace.extend(later(mem::take(&mut next.trace), before, at));
            many = Solution { status: many.status, iterations: before + next.iterations, ..next };
            shown.before = many.iterations;
            few = Few::of(&whole, &many, all, link_costs, most, &rest, &mut shown)?;
        }
        let Few { problem, mut solution, .. } = few;
        solution.seconds = first.elapsed().as_secs_f64();
        trace.append(&mut solution.trace);
        if ask.settings.trace {
            trace.push(last_row(&solution.certificate, solution.iterations, solution.seconds));
        }
        solution.trace = trace;
        Ok(OverAllPaths { problem, solution, ..self })
    }
}

/// The problem over few paths, and its solution.
struct Few {
    problem: Problem,
    solution: Solution,
    /// Whether the certificate is as good as that of all the paths.
    are_best: bool,
    /// Whether paths are left out that the rates want.
    are_fewer: bool,
}

impl Few {
    fn of(
        whole: &Problem,
        many: &Solution,
        all: &dyn CheapestPaths,
        link_costs: &[f64],
        most: Option<usize>,
        ask: &Ask,
        shown: &mut OfRound<'_>,
    ) -> Result<Self> {
        let is_over = is_over(many);
        // Where the time is up there is none for another split.
        let mut rates = if is_over { many.rates.clone() } else { vertex(whole, &many.rates)? };
        let fits = |(load, capacity): (&f64, &f64)| *load <= capacity * (1.0 + SUMMED);
        if !whole.loads(&rates)?.iter().zip(whole.capacities()).all(fits) {
            rates.clone_from(&many.rates);
        }
        let mut kept = used(whole, &rates);
        let before = kept.len();
        // Without time to solve again flows keep all paths that carry floors.
        if let Some(most) = most.filter(|_| !is_over || !whole.has_flow_floors()) {
            keep_largest(whole, &rates, most, &mut kept);
        }
        let are_fewer = kept.len() < before;
        let problem = whole.with_paths_of(&kept, &*ask.workers)?;
        let mut solution = many.clone();
        let at = shown.began.elapsed().as_secs_f64();
        let again = if are_fewer && !is_over { Some(solve_on(&problem, ask, shown, None)?.0) } else { None };
        if again.as_ref().is_some_and(|again| again.infeasibility.is_some()) {
            let expected = "more: over so few paths per flow the floors do not fit";
            return Err(Error::setting("max_paths", most.unwrap_or_default(), expected));
        }
        if let Some(again) = &again {
            solution.status = if again.status == Status::Optimal { many.status } else { again.status };
        }
        match again.filter(|again| !again.objective.is_nan()) {
            Some(again) => {
                let iterations = many.iterations + again.iterations;
                let Solution { rates, flow_rates, loads, bottlenecks, objective, certificate, trace, .. } = again;
                let trace = later(trace, many.iterations, at).collect();
                let rest = Solution { iterations, trace, ..solution };
                solution = Solution { rates, flow_rates, loads, bottlenecks, objective, certificate, ..rest };
            }
            None => {
                solution.rates = kept.iter().map(|&path| rates[path as usize]).collect();
                solution.bottlenecks = kept.iter().map(|&path| many.bottlenecks[path as usize]).collect();
                solution.loads = problem.loads(&solution.rates)?;
                // There is no time to solve again: flows have what the paths that are left carry.
                if are_fewer {
                    solution.flow_rates = problem.flow_rates(&solution.rates)?;
                    let Solution { rates, flow_rates, failed_flows, .. } = &solution;
                    solution.objective = problem.objective(rates, flow_rates, failed_flows, &*ask.workers);
                }
            }
        }
        // What proves max-min rates is about flows, however they are split, and proves no others.
        if problem.curvature() != Curvature::MaxMin {
            // Over all the paths from which these were chosen: what their links hold idle counts. Others are free.
            let mut is_crossed = vec![false; whole.links()];
            whole.paths().indices().iter().for_each(|&link| is_crossed[link as usize] = true);
            let priced = solution.prices.iter_mut().zip(is_crossed);
            priced.filter(|(_, is_crossed)| !is_crossed).for_each(|(price, _)| *price = 0.0);
            let mut of_whole = vec![0.0; whole.paths().len()];
            kept.iter().zip(&solution.rates).for_each(|(&path, rate)| of_whole[path as usize] = *rate);
            let Solution { prices, flow_rates, .. } = &solution;
            let missing = Missing::at(whole, all, prices, link_costs, flow_rates, &*ask.workers)?;
            let reaches = reaches(whole, all, &*ask.workers)?;
            solution.certificate = certificate(whole, &missing, (&of_whole, prices), link_costs, &reaches, ask)?;
        } else if are_fewer {
            (solution.certificate.relative_gap, solution.certificate.kkt_residual) = (1.0, 1.0);
        }
        let Certificate { relative_gap, kkt_residual, .. } = solution.certificate;
        let is_met = Goal::new(&ask.settings).is_met(relative_gap, kkt_residual);
        if many.status == Status::Optimal {
            solution.status = match solution.status {
                _ if is_met => Status::Optimal,
                // Its own solve is optimal over the fewer paths.
                Status::Optimal if are_fewer => Status::FewerPaths,
                Status::Optimal => Status::Stalled,
                // A limit ended its own solve: nothing is proven over the fewer paths either.
                status => status,
            };
        }
        Ok(Self { problem, are_best: solution.status == many.status, solution, are_fewer })
    }
}

/// Keeps of some paths, in the order of their flows, at most so many of each flow: those that carry most.
fn keep_largest(problem: &Problem, rates: &[f64], most: usize, kept: &mut Vec<u32>) {
    let flow = |path: u32| problem.group()[path as usize];
    let all = std::mem::take(kept);
    for own in all.chunk_by(|&one, &other| flow(one) == flow(other)) {
        let mut own = own.to_vec();
        own.sort_by(|&one, &other| rates[other as usize].total_cmp(&rates[one as usize]));
        own.truncate(most);
        own.sort_unstable();
        kept.extend(own);
    }
}
