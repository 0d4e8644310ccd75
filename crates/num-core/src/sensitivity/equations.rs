//! The linear equations of a given active set, for any right-hand side.
//!
//! ```text
//! σ_f Σ_{p∈f} dx_p + dq_p + dη_f = a_p      free paths          [ H  Rᵀ ] [dx]   [a]
//! Σ_{p∋l} dx_p = g_l                        active links        [ R  0  ] [dp] = [g]
//! ```
//!
//! By the proximal method of multipliers, each round of which solves with H + Θ⁻¹ and −D in the diagonal for what is
//! left of the right-hand side. Θ⁻¹ = 1e−3 σ_f only for flows with several paths, D is 1e−8 of the matrix's
//! diagonal. Two
//! rounds are exact to rounding, as a rule. Where the equations have no solution (a right-hand side that asks for a
//! part of the split or of the prices that is not unique), the rounds drift by a constant step, which is taken out:
//! that is the solution for the projected right-hand side.

use std::ops::Range;

use super::active_set::ActiveSet;
use crate::presolve::Presolved;
use crate::solve::system::{ABSENT, Accuracy, EXACT, System};

/// Θ⁻¹ per σ, and D per diagonal entry.
const PROXIMAL: f64 = 1e-3;
const RAISED: f64 = 1e-8;
/// Factor on the diagonal of a link that is not active, which takes it out of the system.
const OUT: f64 = 1e16;
/// Relative accuracy of one solve without a factor.
const ACCURACY: f64 = 1e-12;
const ROUNDS: usize = 8;
/// Rounds end when their steps change by no more than this part of the solution.
const CHANGE: f64 = 1e-14;
/// A last step that is no more than this part of the solution is rounding and no drift.
const DRIFT: f64 = 1e-7;

pub(super) struct Equations {
    system: System,
    /// The number of a flow with several paths, or [`ABSENT`].
    several: Vec<u32>,
    /// σ of every flow, 0 where it is held; whether a path moves; whether a link is active *(given)*.
    stiffness: Vec<f64>,
    moves: Vec<bool>,
    active: Vec<bool>,
}

/// A solution, and by how much a round changes the prices where it drifts.
pub(super) struct Solved {
    pub(super) rates: Vec<f64>,
    pub(super) prices: Vec<f64>,
    /// Links whose prices drift: their capacities cannot change in this way while they all stay full.
    pub(super) drifting: Vec<u32>,
}

impl Equations {
    pub(super) fn new(problem: &Presolved) -> Self {
        let (mut several, mut ranges) = (vec![ABSENT; problem.flows()], Vec::<Range<usize>>::new());
        for (flow, number) in several.iter_mut().enumerate() {
            let own = problem.paths_of(flow);
            if own.len() > 1 {
                *number = ranges.len() as u32;
                ranges.push(own);
            }
        }
        Self {
            system: System::new(problem, ranges),
            several,
            stiffness: vec![0.0; problem.flows()],
            moves: vec![false; problem.paths.len()],
            active: vec![false; problem.capacities.len()],
        }
    }

    /// Takes an active set, and σ of every flow.
    pub(super) fn set(&mut self, problem: &Presolved, active: &ActiveSet, curvatures: &[f64]) {
        self.active.copy_from_slice(&active.links);
        for (flow, &curvature) in curvatures.iter().enumerate() {
            let (own, held) = (problem.paths_of(flow), active.holds(flow));
            self.stiffness[flow] = if held { 0.0 } else { curvature };
            let weight = if self.several[flow] == ABSENT { 1.0 } else { 1.0 / PROXIMAL } / curvature;
            for path in own {
                self.moves[path] = active.moves(problem, flow, path);
                self.system.weights[path] = if self.moves[path] { weight } else { 0.0 };
            }
            if self.several[flow] != ABSENT {
                let stiffness = if held { f64::INFINITY } else { curvature };
                self.system.multipath.set(self.several[flow] as usize, stiffness, &self.system.weights);
            }
        }
        let System { routing, weights, diagonal, multipath, .. } = &mut self.system;
        diagonal.fill(0.0);
        multipath.add_diagonal(routing, weights, diagonal);
        for (value, active) in diagonal.iter_mut().zip(&self.active) {
            // A link without moving paths has no entry: its price is free.
            *value = if *value > 0.0 { *value } else { 1.0 } * if *active { RAISED } else { OUT };
        }
        self.system.update();
    }

    /// Replaces forces on paths by the changes of their rates. Returns nothing of flows that are held but their split.
    fn respond(&self, problem: &Presolved, forces: &mut [f64]) {
        if problem.is_single_path() {
            return forces.iter_mut().zip(&self.system.weights).for_each(|(force, weight)| *force *= weight);
        }
        for flow in 0..problem.flows() {
            let own = problem.paths_of(flow);
            match self.several[flow] {
                ABSENT => forces[own.clone()]
                    .iter_mut()
                    .zip(&self.system.weights[own])
                    .for_each(|(force, weight)| *force *= weight),
                number => {
                    self.system.multipath.respond(number as usize, &self.system.weights, 0.0, &mut forces[own]);
                }
            }
        }
    }

    /// What is left of a_p − σ dy − dq_p of paths that move; 0 of others.
    fn forces_left(&self, problem: &Presolved, forces: &[f64], rates: &[f64], prices: &[f64], left: &mut [f64]) {
        self.system.routing.gather(0..left.len(), prices, left);
        for flow in 0..problem.flows() {
            let own = problem.paths_of(flow);
            let resisted = self.stiffness[flow] * rates[own.clone()].iter().sum::<f64>();
            for path in own {
                left[path] = if self.moves[path] { forces[path] - resisted - left[path] } else { 0.0 };
            }
        }
    }

    /// Solves for a and g, from rates of paths that do not move (and of held flows in all) as they are to be.
    pub(super) fn solve(&mut self, problem: &Presolved, forces: &[f64], targets: &[f64], start: Vec<f64>) -> Solved {
        let (paths, links) = (forces.len(), targets.len());
        let (mut rates, mut prices) = (start, vec![0.0; links]);
        let (mut step, mut price_step) = (vec![0.0; paths], vec![0.0; links]);
        let (mut left, mut excess) = (vec![0.0; paths], vec![0.0; links]);
        let mut sums = vec![0.0; paths];
        let mut rounds = 0.0;
        for _ in 0..ROUNDS {
            rounds += 1.0;
            self.forces_left(problem, forces, &rates, &prices, &mut left);
            sums.copy_from_slice(&left);
            self.respond(problem, &mut sums);
            for (sum, rate) in sums.iter_mut().zip(&rates) {
                *sum += rate;
            }
            excess.fill(0.0);
            self.system.routing.scatter(0..paths, &sums, &mut excess);
            for ((excess, target), active) in excess.iter_mut().zip(targets).zip(&self.active) {
                *excess = if *active { *excess - target } else { 0.0 };
            }
            let mut correction = vec![0.0; links];
            let accuracy = Accuracy { without_factor: ACCURACY, with_factor: EXACT };
            self.system.solve(&mut excess, &mut correction, accuracy);
            for (value, active) in correction.iter_mut().zip(&self.active) {
                *value = if *active { *value } else { 0.0 };
            }
            self.system.routing.gather(0..paths, &correction, &mut sums);
            for ((sum, left), moves) in sums.iter_mut().zip(&left).zip(&self.moves) {
                *sum = if *moves { left - *sum } else { 0.0 };
            }
            self.respond(problem, &mut sums);
            let changed = distance(&step, &sums).max(distance(&price_step, &correction));
            for (rate, step) in rates.iter_mut().zip(&sums) {
                *rate += step;
            }
            for (price, step) in prices.iter_mut().zip(&correction) {
                *price += step;
            }
            step.copy_from_slice(&sums);
            price_step = correction;
            let size = largest(&rates).max(largest(&prices));
            if changed <= CHANGE * size {
                break;
            }
        }
        for (rate, step) in rates.iter_mut().zip(&step) {
            *rate -= rounds * step;
        }
        for (price, step) in prices.iter_mut().zip(&price_step) {
            *price -= rounds * step;
        }
        let size = largest(&prices).max(largest(targets)).max(largest(forces)).max(largest(&rates));
        let drifts = |link: &u32| price_step[*link as usize].abs() > DRIFT * size;
        Solved { rates, prices, drifting: (0..links as u32).filter(drifts).collect() }
    }

    /// Links whose prices are not unique: they are full by the same flows.
    pub(super) fn tied(&mut self, problem: &Presolved) -> Vec<u32> {
        // Numbers without a pattern, so that no dependent links are changed in a way that suits all of them.
        let targets: Vec<f64> =
            (1..=self.active.len()).map(|i| 0.5 + (i as f64 * 0.618_033_988_749_895).fract()).collect();
        let paths = self.moves.len();
        self.solve(problem, &vec![0.0; paths], &targets, vec![0.0; paths]).drifting
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| value.abs().max(most))
}

fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).fold(0.0, |most, (one, other)| (one - other).abs().max(most))
}
