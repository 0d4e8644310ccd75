//! The Newton step: its equations, its two right-hand sides, and how far it can be gone.

use std::ops::Range;
use std::sync::Arc;

use super::chunk::{Chunk, largest, total};
use super::{Direction, InteriorPoint};
use crate::presolve::Presolved;
use crate::solve::routing_matrix::RoutingMatrix;
use crate::solve::system::{ABSENT, Accuracy, System};

/// The proximal term: per y of the least λ of all flows and of ℓ − Q, and at least of ℓ − Q.
const PROXIMAL: f64 = 1e-8;
const LEAST_PROXIMAL: f64 = 1e-12;
/// The same of a linear flow, per y of its λ: nothing else holds its rate where it is while μ goes on falling for flows
/// that pay next to nothing, and rounding of its price would move it.
const LINEAR: f64 = 1e-12;
/// What counts as ℓ − Q is at least this part of ℓ there.
const LEAST_LEVEL: f64 = 1e-30;
/// μ goes no further than this part of all revenue.
const SMALLEST: f64 = 1e-150;
/// Infeasibility below this is rounding.
const ROUNDING: f64 = 1e-14;

impl InteriorPoint {
    /// The direction straight at μ = 0, for which it makes new equations.
    pub(super) fn predict(&mut self, problem: &Presolved, accuracy: Accuracy) {
        for (target, (slack, price)) in self.targets.iter_mut().zip(self.slacks.iter().zip(&self.prices)) {
            *target = -slack * price;
        }
        self.floors.aim_at_zero();
        self.caps.aim_at_zero();
        self.tops.aim_at_zero();
        self.kinks.aim_at_zero();
        self.begin_right();
        for chunk in Arc::clone(&self.chunks).iter() {
            self.linearize(problem, chunk);
            self.aims[chunk.flows.clone()].copy_from_slice(&self.log_residuals[chunk.flows.clone()]);
            self.add_forces(problem, chunk);
        }
        for ((diagonal, slack), price) in self.system.diagonal.iter_mut().zip(&self.slacks).zip(&self.prices) {
            *diagonal = slack / price;
        }
        self.system.renew(problem, &self.routing);
        self.direction.prices.fill(0.0);
        self.direct(problem, accuracy);
    }

    /// The direction at the μ that the predictor makes possible by steps of these lengths, with what it shows of the
    /// curvature.
    pub(super) fn correct(&mut self, problem: &Presolved, (primal, dual): (f64, f64), accuracy: Accuracy) {
        let part = primal.min(dual);
        let centre = self.centre(primal, dual);
        let direction = &self.direction;
        let links = self.slacks.iter().zip(&direction.slacks).zip(self.prices.iter().zip(&direction.prices));
        for (target, ((slack, change), (price, step))) in self.targets.iter_mut().zip(links) {
            *target = centre - slack * price - part * change * step;
        }
        self.floors.aim_at(centre, part, &direction.rates);
        self.caps.aim_at(centre, part, &direction.rates);
        self.tops.aim_at(centre, part, &direction.flow_rates);
        self.kinks.aim_at(centre, part);
        self.begin_right();
        for chunk in Arc::clone(&self.chunks).iter() {
            self.aim(chunk, part);
            self.add_forces(problem, chunk);
        }
        self.direct(problem, accuracy);
    }

    /// The μ to aim at.
    fn centre(&self, primal: f64, dual: f64) -> f64 {
        let direction = &self.direction;
        let mut after = 0.0;
        let links = self.slacks.iter().zip(&direction.slacks).zip(self.prices.iter().zip(&direction.prices));
        for ((slack, change), (price, step)) in links {
            after += (slack + primal * change) * (price + dual * step);
        }
        after += self.floors.complementarity_after(primal, dual, &direction.rates);
        after += self.caps.complementarity_after(primal, dual, &direction.rates);
        after += self.tops.complementarity_after(primal, dual, &direction.flow_rates);
        after += self.kinks.complementarity_after(primal, dual);
        let now = self.complementarity * self.revenue;
        let mut centring = (after / now).powi(3).clamp(1e-8, 1.0);
        if self.infeasibility > self.complementarity.max(ROUNDING) {
            centring = centring.max(0.3f64.min(0.1 * (self.infeasibility / self.complementarity).sqrt()));
        }
        (centring * now).max(SMALLEST * self.revenue) / self.pairs
    }

    /// ρ with the second-order term of the last direction, ½ ((dλ/λ)² + ε (dy/y)²); ε = bend · y.
    fn aim(&mut self, Chunk { flows, .. }: &Chunk, part: f64) {
        let aims = self.aims[flows.clone()].iter_mut().zip(&self.log_residuals[flows.clone()]);
        let rates = self.direction.flow_rates[flows.clone()].iter().zip(&self.flow_rates[flows.clone()]);
        let marginals = self.direction.log_marginals[flows.clone()].iter().zip(&self.bends[flows.clone()]);
        for (((aim, residual), (change, rate)), (in_marginal, bend)) in aims.zip(rates).zip(marginals) {
            let in_rate = bend * change * change / rate;
            let curvature = 0.5 * part * part * (in_marginal * in_marginal + in_rate);
            *aim = residual + part * if curvature < 2.0 { curvature } else { 2.0 };
        }
    }

    /// Weights of the paths, and the curvature of the flows with several.
    fn linearize(&mut self, problem: &Presolved, chunk: &Chunk) {
        let Self { system, stiffness, .. } = self;
        let Chunk { flows, paths, .. } = chunk;
        let marginals = self.marginals[flows.clone()].iter().zip(&self.bends[flows.clone()]);
        for (stiffness, (marginal, bend)) in stiffness[flows.clone()].iter_mut().zip(marginals) {
            *stiffness = marginal * bend;
        }
        if chunk.linear {
            let values = self.marginals[flows.clone()].iter().zip(&self.flow_rates[flows.clone()]);
            for (stiffness, (marginal, rate)) in stiffness[flows.clone()].iter_mut().zip(values) {
                *stiffness += LINEAR * marginal / rate;
            }
        }
        let mut stiffen = |flow: usize, curvature| stiffness[flow] += curvature;
        self.tops.curvatures(chunk.tops.clone(), &mut stiffen);
        self.kinks.curvatures(chunk.kinks.clone(), &mut stiffen);
        let curvatures = &mut system.weights;
        chunk.spread(problem, &stiffness[flows.clone()], &mut curvatures[paths.clone()]);
        for flow in flows.clone().filter(|_| !chunk.is_single()) {
            if self.multipath[flow] != ABSENT {
                let (level, common) = (self.levels[flow], self.commons[flow]);
                let level = level.abs().max(LEAST_LEVEL * (level + common).abs());
                let proximal = (PROXIMAL * level.min(self.least_marginal)).max(LEAST_PROXIMAL * level);
                curvatures[problem.paths_of(flow)].fill(proximal / self.flow_rates[flow]);
            }
        }
        self.floors.curvatures(chunk.floors.clone(), |path, curvature| curvatures[path] += curvature);
        self.caps.curvatures(chunk.caps.clone(), |path, curvature| curvatures[path] += curvature);
        curvatures[paths.clone()].iter_mut().for_each(|value| *value = value.recip());
        for flow in flows.clone().filter(|&flow| !chunk.is_single() && self.multipath[flow] != ABSENT) {
            system.multipath.set(self.multipath[flow] as usize, stiffness[flow], &system.weights);
        }
    }

    /// Begins the right-hand side with what the links say.
    fn begin_right(&mut self) {
        let residuals = self.link_residuals.iter().zip(&self.targets).zip(&self.prices);
        for (right, ((residual, target), price)) in self.right.iter_mut().zip(residuals) {
            *right = target / price - residual;
        }
    }

    /// The forces on the paths, and what the right-hand side has of them.
    fn add_forces(&mut self, problem: &Presolved, chunk: &Chunk) {
        let Self { system, forces, right, scratch, .. } = self;
        let Chunk { flows, paths, .. } = chunk;
        // λ ρ, with the forces of the flow's own bounds.
        let (flow_forces, moves) = (&mut scratch.flows[..flows.len()], &mut scratch.paths[..paths.len()]);
        let aims = self.marginals[flows.clone()].iter().zip(&self.aims[flows.clone()]);
        for (force, (marginal, aim)) in flow_forces.iter_mut().zip(aims) {
            *force = marginal * aim;
        }
        let mut add = |flow: usize, force| flow_forces[flow - flows.start] += force;
        self.tops.target_forces(chunk.tops.clone(), &mut add);
        self.kinks.target_forces(chunk.kinks.clone(), &mut add);
        chunk.spread(problem, flow_forces, moves);
        for flow in flows.clone().filter(|_| !chunk.is_single()) {
            if self.multipath[flow] != ABSENT {
                let own = problem.paths_of(flow);
                moves[own.start - paths.start..own.end - paths.start].fill(0.0);
                system.multipath.forces[self.multipath[flow] as usize] = flow_forces[flow - flows.start];
            }
        }
        let forced = forces[paths.clone()].iter_mut().zip(&self.path_residuals[paths.clone()]);
        for ((force, residual), of_flow) in forced.zip(&*moves) {
            *force = residual + of_flow;
        }
        self.floors.target_forces(chunk.floors.clone(), |path, force| forces[path] += force);
        self.caps.target_forces(chunk.caps.clone(), |path, force| forces[path] += force);
        moves.copy_from_slice(&forces[paths.clone()]);
        respond(problem, (system, &self.multipath), chunk, &[], moves, flow_forces, &mut []);
        self.routing.scatter(&problem.paths, paths.clone(), moves, right);
    }

    /// The direction towards the targets.
    fn direct(&mut self, problem: &Presolved, accuracy: Accuracy) {
        let Self { system, routing, right, direction, .. } = self;
        system.solve(problem, routing, right, &mut direction.prices, accuracy);
        let pairs = self.slacks.iter().zip(&self.prices).zip(self.targets.iter().zip(&direction.prices));
        for (change, ((slack, price), (target, step))) in direction.slacks.iter_mut().zip(pairs) {
            *change = (target - slack * step) / price;
        }
        let all = direction.prices.iter().chain(&direction.slacks);
        (direction.sum, direction.fall) = (all.sum(), 0.0);
        for chunk in Arc::clone(&self.chunks).iter() {
            self.direct_flows(problem, chunk);
        }
        let Direction { rates, flow_rates, .. } = &self.direction;
        self.floors.direct(rates);
        self.caps.direct(rates);
        self.tops.direct(flow_rates);
        self.kinks.direct(flow_rates);
    }

    /// What it is for some flows.
    fn direct_flows(&mut self, problem: &Presolved, chunk: &Chunk) {
        let Chunk { flows, paths, .. } = chunk;
        let Direction { prices, rates, flow_rates, levels, log_marginals, sum, fall, .. } = &mut self.direction;
        let steps = &mut self.scratch.paths[..paths.len()];
        let commons = &mut self.scratch.commons[..flows.len()];
        gather(problem, &self.routing, (&self.system, &self.multipath), chunk, prices, steps, commons);
        let (rates, flow_rates) = (&mut rates[paths.clone()], &mut flow_rates[flows.clone()]);
        for (change, (force, step)) in rates.iter_mut().zip(self.forces[paths.clone()].iter().zip(&*steps)) {
            *change = force - step;
        }
        let levels = if chunk.is_single() { &mut [][..] } else { &mut levels[flows.clone()] };
        respond(problem, (&self.system, &self.multipath), chunk, commons, rates, flow_rates, levels);
        let aims = self.aims[flows.clone()].iter().zip(&self.bends[flows.clone()]);
        let changes = log_marginals[flows.clone()].iter_mut().zip(&*flow_rates);
        for ((log_marginal, change), (aim, bend)) in changes.zip(aims) {
            *log_marginal = aim - bend * change;
        }
        *sum += total(flow_rates, &log_marginals[flows.clone()], |change, log_marginal| change + log_marginal);
        let now = self.rates[paths.clone()].iter().zip(&self.tiny[paths.clone()]);
        // What the prices' steps were has been used up.
        let falls = steps;
        for (fall, (change, (rate, &tiny))) in falls.iter_mut().zip(rates.iter().zip(now)) {
            *fall = if tiny { 0.0 } else { -*change / rate };
        }
        *fall = fall.max(largest(falls));
    }

    /// The longest steps, of rates and of prices, that go no more than a part of the way to the nearest bound.
    pub(super) fn lengths(&self, fraction: f64) -> (f64, f64) {
        let direction = &self.direction;
        let (mut primal, mut dual) = (direction.fall, 0.0f64);
        for (slack, change) in self.slacks.iter().zip(&direction.slacks) {
            primal = primal.max(-change / slack);
        }
        for (price, change) in self.prices.iter().zip(&direction.prices) {
            dual = dual.max(-change / price);
        }
        let (rates, flow_rates) = (&direction.rates, &direction.flow_rates);
        let of_paths = [self.floors.falls(rates), self.caps.falls(rates)];
        let of_flows = [self.tops.falls(flow_rates), self.kinks.falls()];
        for (primal_fall, dual_fall) in of_paths.into_iter().chain(of_flows) {
            (primal, dual) = (primal.max(primal_fall), dual.max(dual_fall));
        }
        let length = |fall: f64| if fall > fraction { fraction / fall } else { 1.0 };
        (length(primal), length(dual))
    }
}

/// Σ over the links of each path of some flows, and for a flow with several that it holds together, of those that all cross
/// apart.
pub(super) fn gather(
    problem: &Presolved,
    routing: &RoutingMatrix,
    (system, multipath): (&System, &[u32]),
    chunk: &Chunk,
    values: &[f64],
    sums: &mut [f64],
    commons: &mut [f64],
) {
    let Chunk { flows, paths, .. } = chunk;
    commons.fill(0.0);
    if chunk.is_single() {
        return routing.gather(&problem.paths, paths.clone(), values, sums);
    }
    for (flow, common) in flows.clone().zip(commons) {
        let own = problem.paths_of(flow);
        let sums = &mut sums[own.start - paths.start..own.end - paths.start];
        match multipath[flow] {
            ABSENT => routing.gather(&problem.paths, own, values, sums),
            number => *common = system.multipath.gather(number as usize, |link| values[link as usize], sums),
        }
    }
}

/// Replaces the force on each path of some flows, less what is the same for all paths of its flow, by how much its rate
/// changes. Says how much the flows' rates and levels do.
fn respond(
    problem: &Presolved,
    (system, multipath): (&System, &[u32]),
    chunk: &Chunk,
    commons: &[f64],
    forces: &mut [f64],
    flow_rates: &mut [f64],
    levels: &mut [f64],
) {
    let Chunk { flows, paths, .. } = chunk;
    let weigh = |forces: &mut [f64], paths: Range<usize>| {
        forces.iter_mut().zip(&system.weights[paths]).for_each(|(force, weight)| *force *= weight);
    };
    if chunk.is_single() {
        weigh(forces, paths.clone());
        return flow_rates.copy_from_slice(forces);
    }
    for (place, (flow, change)) in flows.clone().zip(flow_rates).enumerate() {
        let own = problem.paths_of(flow);
        let forces = &mut forces[own.start - paths.start..own.end - paths.start];
        *change = match multipath[flow] {
            ABSENT => {
                weigh(forces, own);
                forces.iter().sum()
            }
            number => {
                let common = commons.get(place).copied().unwrap_or(0.0);
                let (change, level) = system.multipath.respond(number as usize, &system.weights, -common, forces);
                if let Some(to) = levels.get_mut(place) {
                    *to = level;
                }
                change
            }
        };
    }
}
