//! Newton's method on the dual, with the whole Hessian: as two-metric projection, and as published.
//!
//! ```text
//! G = R x(p) − c            H = R D Rᵀ,  D_s = −dx_s/dq_s
//! bound set B               p_l ≤ ε and G_l ≤ 0
//! direction d               H_FF d_F = G_F on the other links F,      d_l = G_l/H_ll on B
//! p⁺ = [p + γ d]₊           accept if −G(p⁺)·Δp ≤ 0.8 |G(p)·Δp|, else γ ← γ/2
//! plain                     p⁺ = [p + γ H⁻¹G]₊ on all links, and no test
//! ```
//!
//! G is the negative gradient of the dual function, H its Hessian. Newton's direction on all links at once, projected, may
//! lead uphill: the links that are held at a price of 0 must not take part in it (Bertsekas). They form the bound set, with
//! a margin ε = min(mean price/1000, ‖p − [p + G/diag H]₊‖) that goes to 0 with the error, and move by the diagonal. The
//! slope test is that of [`FastNed`](super::FastNed): no objective values, whose differences drown in rounding.
//!
//! Links that the same flows cross make H singular, so its diagonal is raised by a part that goes to 0 with the error:
//! steps stay quadratically short of nothing near the optimum. H is never formed where conjugate gradients arrive
//! (`system.rs`): O(crossings) for each of some 10 to 50 products a step, O(links³) otherwise.
//!
//! 10 to 50 steps for α from 0.125 to 10, more for large α, where the dual function bends so sharply that the test halves
//! steps. The plain form fails wherever links are slack: it keeps them in the system, where they drag the others along,
//! and two of them with the same flows make H singular. It ends as a status, with finite numbers.
//!
//! Sources: Bertsekas, *Projected Newton methods for optimization problems with simple constraints*, SIAM J. Control
//! Optim. 1982; plain: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017, appendix B.

use super::incidence::Incidence;
use super::price::{LARGEST_PRICE, MOST_REFUSALS, at_least, ceilings, newton_step, worth_of_mismatch};
use super::system::System;
use super::{Method, State};
use crate::presolve::Presolved;

/// Newton on the dual. Vectors are per link or path, in natural units.
pub(super) struct Newton {
    /// The longest step.
    gamma: f64,
    plain: bool,
    incidence: Incidence,
    system: System,
    /// Bound of every path's rate, and the price at which its flow asks for that much *(given)*.
    ceilings: Vec<f64>,
    floors: Vec<f64>,
    /// q and D of every path *(derived)*.
    path_prices: Vec<f64>,
    slopes: Vec<f64>,
    /// G, diag H and G/diag H of every link *(derived)*.
    excess: Vec<f64>,
    diagonal: Vec<f64>,
    steps: Vec<f64>,
    /// Which links' prices go to 0, as far as this step goes *(derived)*.
    held: Vec<bool>,
    direction: Vec<f64>,
    /// For what is needed at one place only.
    solution: Vec<f64>,
    right: Vec<f64>,
    path_sums: Vec<f64>,
    /// p and G where the step began *(derived)*.
    base: Vec<f64>,
    base_excess: Vec<f64>,
    /// Of the relative gap *(derived)*.
    estimate: f64,
}

/// A step is refused when the dual function's slope along it has turned by more than this.
const STEEPEST: f64 = 0.8;
/// Slopes within this part of all revenue are rounding.
const ROUNDING: f64 = 1e-14;
/// The margin of the bound set, at most, as a part of the mean price.
const MARGIN: f64 = 1e-3;
/// What is added to the diagonal, as a part of it: at most, per estimated gap, and at least.
const MOST_RAISED: f64 = 1e-3;
const RAISED: f64 = 1e-3;
const LEAST_RAISED: f64 = 1e-11;
/// By this factor the diagonal of a bound link is raised, which takes it out of the system.
const MOST_ROUNDS: usize = 10;
const HELD: f64 = 1e16;
/// Relative accuracy of the direction: at most, per estimated gap, and at least.
const COARSEST: f64 = 1e-2;
const FINEST: f64 = 1e-9;

impl Newton {
    pub(super) fn new(gamma: f64, plain: bool, problem: &Presolved) -> Self {
        let (ceilings, floors) = ceilings(problem);
        let (links, paths) = (vec![0.0; problem.capacities.len()], vec![0.0; problem.paths.len()]);
        Self {
            gamma,
            plain,
            incidence: Incidence::new(&problem.paths),
            system: System::new(problem, Vec::new(), 0),
            ceilings,
            floors,
            path_prices: paths.clone(),
            slopes: paths.clone(),
            excess: links.clone(),
            diagonal: links.clone(),
            steps: links.clone(),
            held: vec![false; links.len()],
            direction: links.clone(),
            solution: links.clone(),
            right: links.clone(),
            path_sums: paths.clone(),
            base: links.clone(),
            base_excess: links,
            estimate: 0.0,
        }
    }

    /// Rates, G and D at some prices.
    fn respond(&mut self, problem: &Presolved, state: &mut State) {
        let Self { incidence, path_prices, floors, ceilings, slopes, excess, .. } = self;
        incidence.gather(&problem.paths, &state.prices, path_prices);
        for (price, &floor) in path_prices.iter_mut().zip(&*floors) {
            *price = at_least(*price, floor);
        }
        // One path per flow: flows and paths have the same numbers.
        for block in &problem.blocks {
            for flows in block.chunks() {
                let (prices, ceilings) = (&path_prices[flows.clone()], &ceilings[flows.clone()]);
                let (rates, slopes) = (&mut state.rates[flows.clone()], &mut slopes[flows.clone()]);
                block.utility.respond_into(block.places(&flows), prices, ceilings, rates, slopes);
            }
        }
        for (excess, capacity) in excess.iter_mut().zip(&problem.capacities) {
            *excess = -capacity;
        }
        incidence.scatter(&problem.paths, &state.rates, excess);
    }

    /// The diagonal where it stands, and the estimate of the gap.
    fn look(&mut self, problem: &Presolved, prices: &[f64]) -> f64 {
        self.diagonal.fill(0.0);
        self.incidence.scatter(&problem.paths, &self.slopes, &mut self.diagonal);
        let (mut mismatch, mut revenue) = (0.0, 0.0);
        let links = self.excess.iter().zip(&self.diagonal).zip(&mut self.steps);
        for (((&excess, &slope), step), (&price, capacity)) in links.zip(prices.iter().zip(&problem.capacities)) {
            *step = newton_step(excess, slope);
            mismatch += worth_of_mismatch(excess, price, *step);
            revenue += capacity * price;
        }
        self.estimate = if mismatch == 0.0 { 0.0 } else { mismatch / revenue };
        self.estimate
    }

    /// How near to 0 a price counts as held there.
    fn margin(&self, prices: &[f64]) -> f64 {
        let mean = prices.iter().sum::<f64>() / prices.len() as f64;
        let moves = prices.iter().zip(&self.steps).map(|(price, step)| price - (price + step).max(0.0));
        moves.map(|change| change * change).sum::<f64>().sqrt().min(MARGIN * mean)
    }

    /// The direction from some prices.
    fn direct(&mut self, problem: &Presolved, prices: &[f64]) {
        let margin = if self.plain { f64::NEG_INFINITY } else { self.margin(prices) };
        for (held, (price, excess)) in self.held.iter_mut().zip(prices.iter().zip(&self.excess)) {
            *held = *price <= margin && *excess <= 0.0;
        }
        self.direction.fill(0.0);
        self.system.weights.copy_from_slice(&self.slopes);
        self.solution.fill(0.0);
        for _ in 0..MOST_ROUNDS {
            self.solve(problem, prices);
            let mut more = false;
            for ((held, change), price) in self.held.iter_mut().zip(&mut self.direction).zip(prices) {
                if !self.plain && *change < -price && !*held {
                    (*held, *change, more) = (true, -price, true);
                }
            }
            if !more {
                break;
            }
        }
        let links = self.direction.iter().zip(&self.excess);
        let uphill = links.map(|(change, excess)| change * excess).sum::<f64>();
        if !uphill.is_finite() || (!self.plain && uphill <= 0.0) {
            self.direction.copy_from_slice(&self.steps);
        }
    }

    /// The direction of the links that are not held, given that of those that are.
    fn solve(&mut self, problem: &Presolved, prices: &[f64]) {
        let Self { system, direction, solution, right, path_sums, .. } = self;
        for ((change, held), price) in direction.iter_mut().zip(&self.held).zip(prices) {
            *change = if *held { -price } else { 0.0 };
        }
        self.incidence.gather(&problem.paths, direction, path_sums);
        for (sum, slope) in path_sums.iter_mut().zip(&self.slopes) {
            *sum *= -slope;
        }
        right.copy_from_slice(&self.excess);
        self.incidence.scatter(&problem.paths, path_sums, right);
        let raised = if self.plain { LEAST_RAISED } else { (RAISED * self.estimate).clamp(LEAST_RAISED, MOST_RAISED) };
        for (link, held) in self.held.iter().enumerate() {
            system.diagonal[link] = self.diagonal[link] * if *held { HELD } else { raised };
            if *held {
                right[link] = 0.0;
            }
        }
        system.renew(problem, &self.incidence);
        let accuracy = if self.plain { FINEST } else { self.estimate.clamp(FINEST, COARSEST) };
        system.solve(problem, &self.incidence, right, solution, accuracy);
        for ((change, solved), held) in direction.iter_mut().zip(solution).zip(&self.held) {
            if !*held {
                *change = *solved;
            }
        }
    }
}

impl Method for Newton {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> f64 {
        state.prices.iter_mut().for_each(|price| *price = price.min(LARGEST_PRICE));
        self.respond(problem, state);
        self.look(problem, &state.prices)
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> f64 {
        self.direct(problem, &state.prices);
        self.base.copy_from_slice(&state.prices);
        self.base_excess.copy_from_slice(&self.excess);
        let (mut gamma, mut refusals) = (self.gamma, 0);
        loop {
            for ((price, base), change) in state.prices.iter_mut().zip(&self.base).zip(&self.direction) {
                *price = (base + gamma * change).clamp(0.0, LARGEST_PRICE);
            }
            self.respond(problem, state);
            if self.plain || refusals == MOST_REFUSALS || self.accepts(problem, &state.prices) {
                if std::env::var("NV").is_ok() { eprintln!("NV gamma {gamma:.1e} ref {refusals} est {:.2e} slope {:.2e} bound {} small {} finite {}", self.estimate, self.base_excess.iter().zip(&state.prices).zip(&self.base).map(|((g,p),b)| g*(p-b)).sum::<f64>(), self.system.diagonal.iter().zip(&self.diagonal).filter(|(a,b)| a>b).count(), state.prices.iter().filter(|p| **p<1e-6).count(), self.system.is_exact()); }
                return self.look(problem, &state.prices);
            }
            refusals += 1;
            gamma *= 0.5;
        }
    }

    fn is_dear(&self) -> bool {
        true
    }
}

impl Newton {
    /// The slope test.
    fn accepts(&self, problem: &Presolved, prices: &[f64]) -> bool {
        let (mut found, mut foretold, mut revenue) = (0.0, 0.0, 0.0);
        let links = prices.iter().zip(&self.base).zip(&self.excess).zip(&self.base_excess);
        for ((((price, base), excess), base_excess), capacity) in links.zip(&problem.capacities) {
            let change = price - base;
            found -= excess * change;
            foretold += base_excess * change;
            revenue += capacity * price;
        }
        found <= STEEPEST * f64::abs(foretold) + ROUNDING * revenue
    }
}
