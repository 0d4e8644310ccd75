//! The interior-point method: Mehrotra's predictor and corrector on the optimality conditions. The most accurate
//! method.
//!
//! ```text
//! U'(y_f) = λ_f        y_f = Σ_{p ∈ f} x_p       λ_f − q_p + z_p − v_p − t_f = 0
//! R x + s = c          s·p = μ    z·x = μ    v·(cap − x) = μ    t·(saturation − y) = μ        μ → 0
//! ```
//!
//! and with floors and costs what `floors.rs` has.
//!
//! A Newton step on these, each flow's and path's prices eliminated, leaves one equation per link (`../system`). Two
//! steps with one matrix: straight at μ = 0 (predictor), which shows how far μ can fall, then at that μ with
//! second-order terms (corrector). In large problems up to two more correctors bring the products that would be far
//! from μ nearer to it, which makes the steps longer (Gondzio, *Multiple centrality corrections in a primal-dual method
//! for linear programming*, Comput. Optim. Appl. 1996). Details that convergence needs:
//!
//! - The residual of U'(y) = λ is taken in logarithms, ρ = log U'(y) − log λ, dλ = λ (ρ − ε dy/y), with ε the
//!   elasticity of U'. Marginals may then span a hundred decades.
//! - A *tiny* flow, whose demand at λ is far below what its path could carry, is set to it and does not shorten steps.
//! - A breakpoint of U', where it falls at once (a flat piece of a bandwidth function), is an elastic bound
//!   (`breakpoints.rs`).
//! - z exists only where a rate may reach 0: several paths, linear utilities, U'(0) finite, or α < 0.45.
//! - A proximal term on every path of a flow that has several, whose split is not unique: 1e−8 of the least λ of all
//!   flows, per y: below the differences of prices that decide a split. A second one on every linear flow, 1e−12 of its
//!   λ, per y. One on every price of a linear program, and where paths have coefficients, 1e−14 of its entry of the
//!   diagonal.
//! - From where complementarity is rounding beside the revenue and ρ no longer falls, or infeasibility is more than
//!   complementarity, what is missing are rates of flows that pay little of it. Prices and Newton's equations then have
//!   twice the digits of a float: the rounding of a large price is a large change of a small one, which the split of a
//!   flow that pays both is to make equal. ℓ − q is that of the flow's main path, and differences from it. The first
//!   proximal term alone is left.
//! - Path prices are compared with ℓ − Q: the level ℓ = λ − t of the flow, less the price Q of the links that all its
//!   paths cross. Where t or Q is nearly all of λ, ℓ − Q is an independent iterate, and t or λ is computed from it: the
//!   difference would be rounding of λ.
//! - μ is increased while the infeasibility exceeds the complementarity.
//!
//! Starts, in its first step, from the prices it is given, improved by up to 60 iterations of fast NED unless utilities
//! are linear. 5 to 15 iterations for most problems, each some tens of products with the routing matrix, so
//! O(crossings) in time and memory; where a factorization is needed, O(links³). Fails where that is needed and too
//! large. All but the factorization is done part by part (`part.rs`), by the workers of the solve. Source: Mehrotra,
//! *On the implementation of a primal-dual interior point method*, SIAM J. Optim. 1992.

mod barrier;
mod barriers;
mod bounds;
mod breakpoints;
mod chunk;
mod cold_start;
mod floors;
mod given;
mod newton_step;
mod over_core;
mod part;
mod residuals;
mod variables;
mod warm_start;

use floors::{eased_capacities, mean_cost};
use given::Given;
use newton_step::KktSystem;
use part::Part;
use variables::{Residuals, Step, Variables};

use super::system::{ABSENT, Accuracy, EXACT, FINEST, Nodes, Tries};
use super::{Method, State};
use crate::error::Result;
use crate::interrupt;
use crate::paths::parts::split_mut;
use crate::presolve::Presolved;
use crate::utility::Curvature;
use crate::work::for_each;

/// The primal-dual interior point, in natural units.
pub(super) struct InteriorPoint {
    /// All flows.
    parts: Vec<Part>,
    /// Number of complementary pairs *(given)*.
    pairs: f64,
    /// As [`eased_capacities`] has them, or those of the problem *(given)*.
    capacities: Vec<f64>,
    /// Whether the capacities are not those of the problem *(given)*.
    is_eased: bool,
    /// As [`mean_cost`] has it *(given)*.
    mean_cost: Option<f64>,
    variables: Variables,
    residuals: Residuals,
    kkt: KktSystem,
    step: Step,
    progress: ProgressWatch,
    start: Start,
    /// Steps that are left without correctors of centrality.
    resting: usize,
}

/// The state before the first step: `variables` has the prices to begin from, and near a solution the rates too.
#[derive(Clone, Copy)]
enum Start {
    Cold,
    Warm,
    Done,
}

/// Counts the iterations without progress.
struct ProgressWatch {
    best: f64,
    /// The smallest of the largest |ρ| so far, and of Σ s p + …: small flows may still converge when the
    /// estimate is at rounding.
    best_log: f64,
    best_complementarity: f64,
    since: usize,
    /// Whether the largest |ρ| fell in the last iteration.
    log_falls: bool,
}

impl ProgressWatch {
    fn new() -> Self {
        let best = f64::INFINITY;
        Self { best, best_log: best, best_complementarity: best, since: 0, log_falls: true }
    }
}

/// Relative accuracy of the predictor, and of the corrector by conjugate gradients.
const PREDICTOR: Accuracy = Accuracy { without_factor: 1e-2, with_factor: 1e-4 };
const CORRECTOR: f64 = 3e-3;
/// Accuracy of the corrector as a part of the complementarity, where the factor is that of about the matrix; and while
/// that is larger than this, the accuracy.
const LEFT: f64 = 1e-6;
const FAR: f64 = 1e-6;
/// How far to go towards the nearest bound.
const FRACTION: f64 = 0.99;
/// A path is idle when its rate is this part of its flow's or of what it could carry, and its price this part of λ too
/// high.
const IDLE_RATE: f64 = 1e-8;
const IDLE_EXCESS: f64 = 1e-4;
/// Iterations without progress after which it gives up.
const PATIENCE: usize = 30;
/// Complementarity, relative to the revenue, below which what is missing are rates of flows that pay little of it.
const ROUNDING: f64 = 1e-15;
/// Complementarity below which a larger infeasibility is rounding of large prices.
const SMALL: f64 = 1e-9;
/// The least marginal and the least rate, so that quotients stay numbers.
const LEAST: f64 = 1e-250;

impl InteriorPoint {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(problem: &Presolved) -> Result<Self> {
        Self::within(eased_capacities(problem)?, problem)
    }

    /// The method within given capacities.
    fn within(capacities: Vec<f64>, problem: &Presolved) -> Result<Self> {
        let found = for_each(&*problem.workers, problem.flow_ranges(), |flows| Part::new(problem, &capacities, flows))?;
        let (mut parts, mut several_paths) = (Vec::new(), Vec::new());
        for (number, (mut part, several)) in found.into_iter().enumerate() {
            part.several.part = number;
            let before = several_paths.len() as u32;
            let numbers = part.several.numbers.values.iter_mut().filter(|number| **number != ABSENT);
            numbers.for_each(|number| *number += before);
            several_paths.extend(several);
            parts.push(part);
        }
        interrupt::check()?;
        let (links, kkt) = (problem.capacities.len(), KktSystem::new(problem, several_paths)?);
        for part in &mut parts {
            part.several.nodes = kkt.system.tries(part.several.part).map_or_else(Nodes::default, Tries::nodes);
        }
        interrupt::check()?;
        Ok(Self {
            pairs: (links + parts.iter().map(|part| part.barriers.pairs()).sum::<usize>()) as f64,
            parts,
            is_eased: capacities != problem.capacities,
            capacities,
            mean_cost: mean_cost(problem)?,
            variables: Variables::new(links),
            residuals: Residuals { links: vec![0.0; links], ..Residuals::default() },
            kkt,
            step: Step::new(links),
            progress: ProgressWatch::new(),
            start: Start::Cold,
            resting: 0,
        })
    }
}

impl Method for InteriorPoint {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        (self.progress, self.start, self.resting) = (ProgressWatch::new(), Start::Cold, 0);
        self.variables.prices.copy_from_slice(&state.prices);
        (self.variables.finer, self.step.finer) = (Vec::new(), Vec::new());
        self.parts.iter_mut().for_each(|part| part.several.shifts.values.fill(0.0));
        state.rates.copy_from_slice(problem.equal_shares());
        if self.mean_cost == Some(0.0) {
            // Nothing is worth anything, and the floors cost nothing.
            state.prices.fill(0.0);
            state.rates.fill(0.0);
            state.rates.iter_mut().zip(&problem.floor_rates).for_each(|(rate, &given)| *rate = given);
            return Ok(0.0);
        }
        Ok(f64::MAX)
    }

    fn resume(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        for part in &mut self.parts {
            part.variables.rates.values.copy_from_slice(&state.rates[part.paths.clone()]);
        }
        let estimate = self.start(problem, state)?;
        for part in &self.parts {
            state.rates[part.paths.clone()].copy_from_slice(&part.variables.rates.values);
        }
        self.start = Start::Warm;
        Ok(estimate)
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        if self.is_eased && self.progress.since > PATIENCE {
            // It has stalled within eased capacities, whose prices are no start for others.
            *self = Self::within(problem.capacities.clone(), problem)?;
            state.prices.copy_from_slice(&problem.first_prices);
            self.start(problem, state)?;
        }
        if !matches!(self.start, Start::Done) {
            match self.start {
                Start::Warm => self.start_warm(problem)?,
                _ => self.start_cold(problem)?,
            }
            self.advance(problem, None);
            self.start = Start::Done;
        }
        interrupt::check()?;
        self.predict(problem, PREDICTOR);
        interrupt::check()?;
        let lengths = self.lengths(1.0);
        let centre = self.centre(problem, lengths);
        let part = lengths.0.min(lengths.1);
        self.correct(problem, centre, part, self.corrector_accuracy());
        self.recentre(problem, centre, part, self.corrector_accuracy());
        // A direction that was interrupted is not used.
        interrupt::check()?;
        let lengths = self.step.sum.is_finite().then(|| self.lengths(FRACTION));
        let estimate = self.advance(problem, lengths);
        self.publish(problem, state);
        let estimate = if estimate.is_finite() { estimate } else { f64::MAX };
        self.watch(estimate);
        if self.needs_finer_prices(problem) {
            let none = vec![0.0; problem.capacities.len()];
            (self.variables.finer, self.step.finer, self.progress.since) = (none.clone(), none, 0);
        }
        Ok(estimate)
    }

    fn is_expensive(&self) -> bool {
        true
    }

    fn has_stalled(&self) -> bool {
        self.progress.since > PATIENCE && !self.is_eased
    }
}

impl InteriorPoint {
    /// The corrector is solved the more exactly, the smaller the residuals are.
    fn corrector_accuracy(&self) -> Accuracy {
        let Residuals { complementarity, infeasibility, least_marginal, largest_marginal, .. } = self.residuals;
        let without_factor = (0.1 * (complementarity + infeasibility).sqrt()).clamp(FINEST, CORRECTOR);
        let with_factor = match self.kkt.system.is_approximate() {
            true if complementarity > FAR => FAR,
            // In units of the smallest marginal, whose flow is not to be moved by what is left of the others.
            true => (LEFT * (complementarity * least_marginal / largest_marginal)).clamp(EXACT, FINEST),
            false => EXACT,
        };
        Accuracy { without_factor, with_factor }
    }

    /// Copies prices and rates to the state.
    fn publish(&self, problem: &Presolved, state: &mut State) {
        state.prices.copy_from_slice(&self.variables.prices);
        self.clear_free_links(problem, &mut state.prices);
        let ranges = problem.path_ranges();
        for_each(&*problem.workers, self.parts.iter().zip(split_mut(&mut state.rates, &ranges)), |(part, rates)| {
            rates.copy_from_slice(&part.variables.rates.values);
            part.clear_idle_paths(problem, &self.variables.prices, rates);
            Ok(())
        })
        .expect("nothing stops it");
    }

    /// Turns to exact directions when there is no progress.
    fn watch(&mut self, estimate: f64) {
        let (log, complementarity) = (self.residuals.largest_log, self.residuals.complementarity);
        let ProgressWatch { best, best_log, best_complementarity, since, log_falls } = &mut self.progress;
        *log_falls = log < 0.9 * *best_log;
        let falls = estimate < 0.9 * *best || *log_falls || complementarity < 0.9 * *best_complementarity;
        if falls {
            (*best, *best_log) = (estimate.min(*best), log.min(*best_log));
            (*best_complementarity, *since) = (complementarity.min(*best_complementarity), 0);
            return;
        }
        *since += 1;
        if *since == PATIENCE / 3 {
            self.kkt.system.enable_factorization();
        }
    }

    /// Whether prices now need more digits than those of a float: their rounding then decides how flows are split over
    /// several paths, and with them the rates of flows that pay prices many decades smaller.
    fn needs_finer_prices(&self, problem: &Presolved) -> bool {
        let Residuals { complementarity, infeasibility, .. } = self.residuals;
        let ProgressWatch { since, log_falls, .. } = self.progress;
        let is_rounding = complementarity < SMALL.min(infeasibility) || complementarity < ROUNDING && !log_falls;
        // Prices of linear programs are of the sizes of their weights.
        problem.has_several_paths
            && !is_linear(problem)
            && self.variables.finer.is_empty()
            && self.kkt.system.may_be_fine()
            && (is_rounding || since == PATIENCE / 3)
    }
}

/// Whether it is a linear program.
fn is_linear(problem: &Presolved) -> bool {
    problem.blocks.iter().all(|block| block.utility.curvature() == Curvature::Linear)
}

impl Part {
    /// Sets the rates of idle paths: those that may be 0 and are too expensive. 0 where the rate is negligible relative
    /// to the flow's, at most the demand at the path's price where it is negligible relative to the ceiling.
    fn clear_idle_paths(&self, problem: &Presolved, link_prices: &[f64], rates: &mut [f64]) {
        let (mut prices, mut demands) = (Vec::new(), Vec::new());
        for chunk in self.chunks.iter() {
            let first = chunk.paths.start;
            let mut has_demands = false;
            self.barriers.lower.for_each_dual(chunk.lower.clone(), |path, dual| {
                let (flow, rate) = (chunk.flow_of(problem, path), &mut rates[path - self.paths.start]);
                // λ − q is minus the excess of the price.
                let level = if chunk.is_single() {
                    self.variables.marginals[flow]
                } else {
                    self.variables.levels[flow].max(0.0)
                };
                if dual - self.residuals.paths[path] - self.several.shift(flow) <= IDLE_EXCESS * level {
                    return;
                }
                if *rate < IDLE_RATE * self.variables.flow_rates[flow] {
                    *rate = 0.0;
                } else if *rate < IDLE_RATE * problem.bounds.ceilings[path] {
                    if !has_demands {
                        has_demands = true;
                        prices.resize(chunk.paths.len(), 0.0);
                        demands.resize(chunk.paths.len(), 0.0);
                        problem.price_paths(chunk.paths.clone(), link_prices, &mut prices);
                        problem.path_demands_into(&problem.blocks[chunk.block], &chunk.flows, &prices, &mut demands);
                    }
                    *rate = rate.min(demands[path - first]);
                }
            });
            if problem.bounds.floors.is_empty() {
                continue;
            }
            // Where that breaks a floor, other paths would have to carry it, over links that may be full. Rates that
            // are given as a whole, as those of classes, are proven more often without idle paths.
            for flow in chunk.flows.clone().filter(|&flow| self.given[flow] != Given::Total) {
                let own = problem.paths_of(flow);
                let own = own.start - self.paths.start..own.end - self.paths.start;
                if rates[own.clone()].iter().sum::<f64>() < problem.bounds.floors[flow] {
                    rates[own.clone()].copy_from_slice(&self.variables.rates.values[own]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlphaFair, Paths, Problem};

    #[test]
    fn finer_prices_are_left_until_rounding_stops_what_still_falls() {
        let paths = Paths::from_lists([[0], [1]]);
        let utilities = AlphaFair::new(4.0, 1.0).unwrap();
        let problem = Problem::grouped(vec![1.0, 2.0], paths, vec![0, 0], utilities).unwrap();
        let problem = Presolved::new(&problem).unwrap();
        let mut method = InteriorPoint::new(&problem).unwrap();
        let mut needs = |complementarity, infeasibility, log_falls| {
            method.residuals = Residuals { complementarity, infeasibility, ..Residuals::default() };
            method.progress.log_falls = log_falls;
            method.needs_finer_prices(&problem)
        };
        assert!(!needs(1e-16, 1e-28, true));
        assert!(needs(1e-16, 1e-28, false));
        assert!(!needs(1e-14, 1e-28, false));
        assert!(needs(1e-10, 1e-9, true));
        assert!(!needs(1e-8, 1e-7, true));
    }
}
