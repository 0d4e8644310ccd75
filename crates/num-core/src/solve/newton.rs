//! Newton's method on the dual, with the whole Hessian: in two metrics with a line search, and as published.
//!
//! ```text
//! G = R x(p) − c                 H = R D Rᵀ,  D_s = −dx_s/dq_s
//! links fixed at 0               p_l ≤ ε and G_l ≤ 0, then also those with p_l + d_l < 0 once solved
//! direction d                    d_l = −p_l where fixed, H d = G in the rows of the others
//! p⁺ = [p + γ d]₊                accept if −G(p⁺)·Δp ≤ ½ |G(p)·Δp|, else γ ← γ/2
//! plain                          p⁺ = [p + γ H⁻¹G]₊ on all links, and no test
//! ```
//!
//! −G is the gradient of the dual function, H its Hessian. Newton's direction on all links, projected, may increase the
//! dual. Links whose price is fixed at 0 are therefore taken out of the system: those within ε of 0, with ε = min(mean
//! price/1000, ‖p − [p + G/diag H]₊‖) → 0 with the error (Bertsekas), and those that the direction would take below 0;
//! the system of the others is then solved once more. A direction that still increases the dual is replaced by the
//! diagonal's. The slope test is that of [`FastNed`](super::FastNed), with other constants: it needs no objective
//! values, whose differences are below rounding near the optimum.
//!
//! Links that the same flows cross make H singular, so its diagonal is raised by a part of it that goes to 0 with the
//! error. H is never formed where conjugate gradients converge (`system/`): a step costs two systems of some 10 to 50
//! products each, all O(crossings), and one pass over the flows for every trial of γ; O(links³) where they do not
//! converge.
//!
//! Some 10 to 20 steps to 1e−9 on leaf-spines, fat-trees and wide-area networks, the last two or three of them
//! quadratic; 25 to 70 for α from 5 on and where sizes or weights span many decades: there demands bend so much within
//! a step that it is halved. Flows at their caps are counted as if they responded, which makes the end linear where
//! many are.
//!
//! The plain form fails wherever links are slack: slack links stay in the system and bias the direction, and H, of
//! which only 1e−11 of the diagonal is raised, may be singular. It ends as a status, with finite numbers.
//!
//! Sources: Bertsekas, *Projected Newton methods for optimization problems with simple constraints*, SIAM J. Control
//! Optim. 1982; plain: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017, appendix B.

use super::price::{Bounds, LARGEST_PRICE, MOST_REFUSALS, at_least, bounds, newton_step, value_of_excess};
use super::system::{Accuracy, EXACT, FINEST, ROUNDING, System};
use super::{Method, State};
use crate::error::Result;
use crate::interrupt;
use crate::paths::parts::{pieces, split_mut};
use crate::presolve::Presolved;
use crate::work::for_each;

/// Newton on the dual. Vectors are per link or path, in natural units.
pub(super) struct Newton {
    /// The longest step.
    gamma: f64,
    plain: bool,
    system: System,
    /// Bound of every path's rate, and the price at which its flow's demand is that *(given)*.
    ceilings: Vec<f64>,
    floors: Vec<f64>,
    /// q and D of every path *(derived)*.
    path_prices: Vec<f64>,
    slopes: Vec<f64>,
    /// G, diag H and G/diag H of every link *(derived)*.
    excess: Vec<f64>,
    diagonal: Vec<f64>,
    steps: Vec<f64>,
    /// Links whose price is fixed at 0, and d *(derived)*.
    held: Vec<bool>,
    direction: Vec<f64>,
    /// p and G where the step began *(derived)*.
    base: Vec<f64>,
    base_excess: Vec<f64>,
    /// For solving: per link, per link, per path.
    solution: Vec<f64>,
    right: Vec<f64>,
    path_sums: Vec<f64>,
    /// Of the relative gap *(derived)*.
    estimate: f64,
}

/// As in [`FastNed`](super::FastNed), but stricter.
const STEEPEST: f64 = 0.5;
/// ε, at most, as a part of the mean price.
const MARGIN: f64 = 1e-3;
/// What is added to the diagonal, as a part of it: at most, and per estimated gap; and at least.
const RAISED: f64 = 0.1;
const LEAST_RAISED: f64 = 1e-11;
/// Solves of the system per step, with more links fixed each time.
const ROUNDS: usize = 2;
/// Factor on the diagonal of a link whose price is fixed, which takes it out of the system.
const HELD: f64 = 1e16;
/// The coarsest accuracy of a direction; otherwise it is the estimated gap.
const COARSEST: f64 = 1e-2;

impl Newton {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(gamma: f64, plain: bool, problem: &Presolved) -> Result<Self> {
        let Bounds { ceilings, least_prices: floors, .. } = bounds(problem)?;
        let (links, paths) = (vec![0.0; problem.capacities.len()], vec![0.0; problem.paths.len()]);
        Ok(Self {
            gamma,
            plain,
            system: System::new(problem, Vec::new()),
            ceilings,
            floors,
            path_prices: paths.clone(),
            slopes: paths.clone(),
            excess: links.clone(),
            diagonal: links.clone(),
            steps: links.clone(),
            held: vec![false; links.len()],
            direction: links.clone(),
            base: links.clone(),
            base_excess: links.clone(),
            solution: links.clone(),
            right: links,
            path_sums: paths,
            estimate: 0.0,
        })
    }

    /// Rates, G and D at some prices.
    fn respond(&mut self, problem: &Presolved, state: &mut State) {
        let Self { path_prices, floors, ceilings, slopes, excess, .. } = self;
        let (State { prices: link_prices, rates, .. }, pass) = (state, problem.pass());
        for (excess, capacity) in excess.iter_mut().zip(&problem.capacities) {
            *excess = -capacity;
        }
        let of_paths = split_mut(path_prices, &pass.ranges).zip(split_mut(rates, &pass.ranges));
        let of_parts = of_paths.zip(pieces(slopes, &pass.ranges));
        pass.add_with(excess, of_parts, |((prices, rates), (slopes, range)), excess| {
            problem.paths.gather(range.clone(), link_prices, prices);
            for (price, &floor) in prices.iter_mut().zip(&floors[range.clone()]) {
                *price = at_least(*price, floor);
            }
            // One path per flow: flows and paths have the same numbers.
            for (block, flows) in problem.chunks_of(&range) {
                let own = flows.start - range.start..flows.end - range.start;
                let (prices, ceilings) = (&prices[own.clone()], &ceilings[flows.clone()]);
                let (rates, slopes) = (&mut rates[own.clone()], &mut slopes[own]);
                block.utility.respond_into(block.places(&flows), prices, ceilings, rates, slopes);
            }
            problem.paths.scatter(range, rates, excess);
        });
    }

    /// The diagonal where it stands, and the estimate of the gap.
    fn look(&mut self, problem: &Presolved, state: &State) -> f64 {
        self.diagonal.fill(0.0);
        problem.pass().add_diagonal(&self.slopes, &mut self.diagonal);
        let mut mismatch = 0.0;
        let links = self.excess.iter().zip(&self.diagonal).zip(&mut self.steps);
        for (((&excess, &slope), step), &price) in links.zip(&state.prices) {
            *step = newton_step(excess, slope);
            mismatch += value_of_excess(excess, price, *step);
        }
        // A path's price is not below U' at its ceiling: this is the sum of x U'(x).
        let revenues = for_each(&*problem.workers, problem.path_ranges(), |paths| {
            let paid = state.rates[paths.clone()].iter().zip(&self.path_prices[paths]);
            Ok(paid.map(|(rate, price)| rate * price).sum::<f64>())
        });
        let revenue: f64 = revenues.expect("nothing stops it").into_iter().sum();
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
        let links = self.held.iter_mut().zip(&mut self.direction).zip(prices.iter().zip(&self.excess));
        for ((held, change), (price, excess)) in links {
            *held = *price <= margin && *excess <= 0.0;
            *change = -price;
        }
        self.system.weights.copy_from_slice(&self.slopes);
        self.solution.fill(0.0);
        for _ in 0..ROUNDS {
            self.solve(problem);
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
        let descent = links.map(|(change, excess)| change * excess).sum::<f64>();
        if !descent.is_finite() || (!self.plain && descent <= 0.0) {
            self.direction.copy_from_slice(&self.steps);
        }
    }

    /// The direction of the links that are not held, given that of those that are.
    fn solve(&mut self, problem: &Presolved) {
        let Self { system, direction, solution, right, path_sums, slopes, .. } = self;
        for (change, _) in direction.iter_mut().zip(&self.held).filter(|(_, held)| !**held) {
            *change = 0.0;
        }
        right.copy_from_slice(&self.excess);
        let (pass, direction_now) = (problem.pass(), &*direction);
        pass.add_with(right, pieces(path_sums, &pass.ranges), |(sums, range), right| {
            problem.paths.gather(range.clone(), direction_now, sums);
            for (sum, slope) in sums.iter_mut().zip(&slopes[range.clone()]) {
                *sum *= -slope;
            }
            problem.paths.scatter(range, sums, right);
        });
        let raised = if self.plain { LEAST_RAISED } else { (RAISED * self.estimate).clamp(LEAST_RAISED, RAISED) };
        for (link, held) in self.held.iter().enumerate() {
            system.diagonal[link] = self.diagonal[link] * if *held { HELD } else { raised };
            if *held {
                right[link] = 0.0;
            }
        }
        system.update(0.0);
        let without_factor = if self.plain { FINEST } else { self.estimate.clamp(FINEST, COARSEST) };
        let accuracy = Accuracy { without_factor, with_factor: EXACT };
        system.solve(right, solution, accuracy);
        for ((change, solved), held) in direction.iter_mut().zip(solution).zip(&self.held) {
            if !*held {
                *change = *solved;
            }
        }
    }
}

impl Method for Newton {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        state.prices.iter_mut().for_each(|price| *price = price.min(LARGEST_PRICE));
        self.respond(problem, state);
        Ok(self.look(problem, state))
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.direct(problem, &state.prices);
        // What was stopped on the way is no direction.
        interrupt::check()?;
        self.base.copy_from_slice(&state.prices);
        self.base_excess.copy_from_slice(&self.excess);
        let (mut gamma, mut refusals) = (self.gamma, 0);
        loop {
            for ((price, base), change) in state.prices.iter_mut().zip(&self.base).zip(&self.direction) {
                *price = (base + gamma * change).clamp(0.0, LARGEST_PRICE);
            }
            self.respond(problem, state);
            if self.plain || refusals == MOST_REFUSALS || self.accepts(problem, &state.prices) {
                return Ok(self.look(problem, state));
            }
            refusals += 1;
            gamma *= 0.5;
        }
    }

    fn is_expensive(&self) -> bool {
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
