//! The Newton step: its equations, its two right-hand sides, and the longest step that stays inside the bounds.

use std::ops::Range;
use std::sync::Arc;

use super::InteriorPoint;
use super::chunk::{Chunk, largest, total};
use super::variables::Step;
use crate::presolve::Presolved;
use crate::solve::system::{ABSENT, Accuracy, ROUNDING, System};

/// The proximal term: per y of the least λ of all flows and of ℓ − Q.
const PROXIMAL: f64 = 1e-8;
/// The least proximal term: per y of ℓ − Q; of a linear flow, per y of its λ. A linear flow has no other curvature, and
/// rounding of its price would move its rate while μ still falls for flows with small payments.
const LEAST_PROXIMAL: f64 = 1e-12;
/// The least ℓ − Q that counts, as a part of ℓ.
const LEAST_LEVEL: f64 = 1e-30;
/// μ goes no further than this part of all revenue.
const SMALLEST: f64 = 1e-150;

/// The KKT system: Newton's equations on the optimality conditions, the prices of flows and paths eliminated.
pub(super) struct KktSystem {
    /// One equation per link.
    pub(super) system: System,
    /// The number of a flow whose several paths share one level, or [`ABSENT`] *(given)*.
    multipath: Vec<u32>,
    /// λ ε/y + t/(saturation − y) per flow *(derived)*.
    stiffness: Vec<f64>,
    /// The corrector's aims: the wanted change of s p per link, and ρ with its second-order term per flow *(derived)*.
    targets: Vec<f64>,
    aims: Vec<f64>,
    /// The right-hand side, and the forces on the paths that it is made of *(derived)*.
    right: Vec<f64>,
    pub(super) forces: Vec<f64>,
}

impl KktSystem {
    pub(super) fn new(problem: &Presolved, multipath: Vec<u32>, several_paths: Vec<Range<usize>>) -> Self {
        let (links, flows) = (problem.capacities.len(), multipath.len());
        Self {
            system: System::new(problem, several_paths),
            multipath,
            stiffness: vec![0.0; flows],
            targets: vec![0.0; links],
            aims: vec![0.0; flows],
            right: vec![0.0; links],
            forces: vec![0.0; problem.paths.len()],
        }
    }

    /// Σ over the links of each path of some flows. Of a flow with several paths that share one level, the links that
    /// all of them cross are summed apart.
    pub(super) fn gather(
        &self,
        problem: &Presolved,
        chunk: &Chunk,
        values: &[f64],
        sums: &mut [f64],
        commons: &mut [f64],
    ) {
        let Chunk { flows, paths, .. } = chunk;
        let routing = &self.system.routing;
        commons.fill(0.0);
        if chunk.is_single() {
            return routing.gather(paths.clone(), values, sums);
        }
        for (flow, common) in flows.clone().zip(commons) {
            let own = problem.paths_of(flow);
            let sums = &mut sums[own.start - paths.start..own.end - paths.start];
            match self.multipath[flow] {
                ABSENT => routing.gather(own, values, sums),
                number => {
                    *common = self.system.multipath.gather(number as usize, |link| values[link as usize], sums);
                }
            }
        }
    }

    /// Replaces the force on each path of some flows, without the common part Q of its flow, by dx_p, and sets the
    /// changes of the flows' rates and levels.
    fn respond(
        &self,
        problem: &Presolved,
        chunk: &Chunk,
        commons: &[f64],
        forces: &mut [f64],
        flow_rates: &mut [f64],
        levels: &mut [f64],
    ) {
        let Chunk { flows, paths, .. } = chunk;
        let system = &self.system;
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
            *change = match self.multipath[flow] {
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
}

impl InteriorPoint {
    /// The direction straight at μ = 0, for which it makes new equations.
    pub(super) fn predict(&mut self, problem: &Presolved, accuracy: Accuracy) {
        let pairs = self.variables.slacks.iter().zip(&self.variables.prices);
        for (target, (slack, price)) in self.kkt.targets.iter_mut().zip(pairs) {
            *target = -slack * price;
        }
        self.barriers.aim_at_zero();
        self.set_right();
        for chunk in Arc::clone(&self.chunks).iter() {
            self.linearize(problem, chunk);
            self.kkt.aims[chunk.flows.clone()].copy_from_slice(&self.residuals.logs[chunk.flows.clone()]);
            self.add_forces(problem, chunk);
        }
        let system = &mut self.kkt.system;
        let pairs = self.variables.slacks.iter().zip(&self.variables.prices);
        for (diagonal, (slack, price)) in system.diagonal.iter_mut().zip(pairs) {
            *diagonal = slack / price;
        }
        system.update();
        self.step.prices.fill(0.0);
        self.direct(problem, accuracy);
    }

    /// The direction at the given μ, with the curvature that a part of the last direction shows.
    pub(super) fn correct(&mut self, problem: &Presolved, centre: f64, part: f64, accuracy: Accuracy) {
        let (now, step) = (&self.variables, &self.step);
        let links = now.slacks.iter().zip(&step.slacks).zip(now.prices.iter().zip(&step.prices));
        for (target, ((slack, change), (price, step))) in self.kkt.targets.iter_mut().zip(links) {
            *target = centre - slack * price - part * change * step;
        }
        for (barrier, changes) in self.barriers.with_changes_mut(step) {
            barrier.aim_at(centre, part, changes);
        }
        self.set_right();
        for chunk in Arc::clone(&self.chunks).iter() {
            self.aim(chunk, part);
            self.add_forces(problem, chunk);
        }
        self.direct(problem, accuracy);
    }

    /// The μ to aim at: the smaller, the further a step of these lengths takes it down.
    pub(super) fn centre(&self, (primal, dual): (f64, f64)) -> f64 {
        let (now, step, residuals) = (&self.variables, &self.step, &self.residuals);
        let mut after = 0.0;
        let links = now.slacks.iter().zip(&step.slacks).zip(now.prices.iter().zip(&step.prices));
        for ((slack, change), (price, step)) in links {
            after += (slack + primal * change) * (price + dual * step);
        }
        for (barrier, changes) in self.barriers.with_changes(step) {
            after += barrier.complementarity_after((primal, dual), changes);
        }
        let now = residuals.complementarity * residuals.revenue;
        let mut centring = (after / now).powi(3).clamp(1e-8, 1.0);
        if residuals.infeasibility > residuals.complementarity.max(ROUNDING) {
            centring = centring.max(0.3f64.min(0.1 * (residuals.infeasibility / residuals.complementarity).sqrt()));
        }
        (centring * now).max(SMALLEST * residuals.revenue) / self.pairs
    }

    /// ρ with the second-order term of the last direction, ½ ((dλ/λ)² + ε (dy/y)²).
    fn aim(&mut self, Chunk { flows, .. }: &Chunk, part: f64) {
        let aims = self.kkt.aims[flows.clone()].iter_mut().zip(&self.residuals.logs[flows.clone()]);
        let rates = self.step.flow_rates[flows.clone()].iter().zip(&self.variables.flow_rates[flows.clone()]);
        let marginals = self.step.log_marginals[flows.clone()].iter().zip(&self.residuals.bends[flows.clone()]);
        for (((aim, residual), (change, rate)), (in_marginal, bend)) in aims.zip(rates).zip(marginals) {
            let in_rate = bend * change * change / rate;
            let curvature = 0.5 * part * part * (in_marginal * in_marginal + in_rate);
            *aim = residual + part * if curvature < 2.0 { curvature } else { 2.0 };
        }
    }

    /// Weights of the paths, and the curvature of the flows with several.
    fn linearize(&mut self, problem: &Presolved, chunk: &Chunk) {
        let Self { variables: now, residuals, barriers, kkt, .. } = self;
        let KktSystem { system, multipath, stiffness, .. } = kkt;
        let Chunk { flows, paths, .. } = chunk;
        let of_flows = &mut stiffness[flows.clone()];
        let marginals = now.marginals[flows.clone()].iter().zip(&residuals.bends[flows.clone()]);
        for (stiffness, (marginal, bend)) in of_flows.iter_mut().zip(marginals) {
            *stiffness = marginal * bend;
        }
        if chunk.linear {
            let values = now.marginals[flows.clone()].iter().zip(&now.flow_rates[flows.clone()]);
            for (stiffness, (marginal, rate)) in of_flows.iter_mut().zip(values) {
                *stiffness += LEAST_PROXIMAL * marginal / rate;
            }
        }
        for (barrier, part) in barriers.on_flows_of(chunk) {
            barrier.add_curvatures(part, flows.start, of_flows);
        }
        let curvatures = &mut system.weights;
        chunk.spread(problem, of_flows, &mut curvatures[paths.clone()]);
        for flow in flows.clone().filter(|&flow| !chunk.is_single() && multipath[flow] != ABSENT) {
            let (level, common) = (now.levels[flow], residuals.commons[flow]);
            let level = level.abs().max(LEAST_LEVEL * (level + common).abs());
            let proximal = (PROXIMAL * level.min(residuals.least_marginal)).max(LEAST_PROXIMAL * level);
            curvatures[problem.paths_of(flow)].fill(proximal / now.flow_rates[flow]);
        }
        let of_paths = &mut curvatures[paths.clone()];
        for (barrier, part) in barriers.on_paths_of(chunk) {
            barrier.add_curvatures(part, paths.start, of_paths);
        }
        of_paths.iter_mut().for_each(|value| *value = value.recip());
        for flow in flows.clone().filter(|&flow| !chunk.is_single() && multipath[flow] != ABSENT) {
            system.multipath.set(multipath[flow] as usize, stiffness[flow], &system.weights);
        }
    }

    /// Sets the right-hand side to the links' part of it.
    fn set_right(&mut self) {
        let KktSystem { right, targets, .. } = &mut self.kkt;
        let residuals = self.residuals.links.iter().zip(&*targets).zip(&self.variables.prices);
        for (right, ((residual, target), price)) in right.iter_mut().zip(residuals) {
            *right = target / price - residual;
        }
    }

    /// The forces on the paths, and their part of the right-hand side.
    fn add_forces(&mut self, problem: &Presolved, chunk: &Chunk) {
        let Self { variables: now, residuals, barriers, kkt, scratch, .. } = self;
        let Chunk { flows, paths, .. } = chunk;
        // λ ρ, with the forces of the bounds on flows.
        let (flow_forces, moves) = (&mut scratch.flows[..flows.len()], &mut scratch.paths[..paths.len()]);
        let aims = now.marginals[flows.clone()].iter().zip(&kkt.aims[flows.clone()]);
        for (force, (marginal, aim)) in flow_forces.iter_mut().zip(aims) {
            *force = marginal * aim;
        }
        for (barrier, part) in barriers.on_flows_of(chunk) {
            barrier.add_target_forces(part, flows.start, flow_forces);
        }
        chunk.spread(problem, flow_forces, moves);
        for flow in flows.clone().filter(|&flow| !chunk.is_single() && kkt.multipath[flow] != ABSENT) {
            let own = problem.paths_of(flow);
            moves[own.start - paths.start..own.end - paths.start].fill(0.0);
            kkt.system.multipath.forces[kkt.multipath[flow] as usize] = flow_forces[flow - flows.start];
        }
        let forces = &mut kkt.forces[paths.clone()];
        for ((force, residual), of_flow) in forces.iter_mut().zip(&residuals.paths[paths.clone()]).zip(&*moves) {
            *force = residual + of_flow;
        }
        for (barrier, part) in barriers.on_paths_of(chunk) {
            barrier.add_target_forces(part, paths.start, forces);
        }
        moves.copy_from_slice(forces);
        kkt.respond(problem, chunk, &[], moves, flow_forces, &mut []);
        kkt.system.routing.scatter(paths.clone(), moves, &mut kkt.right);
    }

    /// The direction towards the targets.
    fn direct(&mut self, problem: &Presolved, accuracy: Accuracy) {
        let Self { variables: now, kkt, step, .. } = self;
        kkt.system.solve(&mut kkt.right, &mut step.prices, accuracy);
        let pairs = now.slacks.iter().zip(&now.prices).zip(kkt.targets.iter().zip(&step.prices));
        for (change, ((slack, price), (target, step))) in step.slacks.iter_mut().zip(pairs) {
            *change = (target - slack * step) / price;
        }
        (step.sum, step.fall) = (step.prices.iter().chain(&step.slacks).sum(), 0.0);
        for chunk in Arc::clone(&self.chunks).iter() {
            self.direct_flows(problem, chunk);
        }
        for (barrier, changes) in self.barriers.with_changes_mut(&self.step) {
            barrier.direct(changes);
        }
    }

    /// The direction of some flows.
    fn direct_flows(&mut self, problem: &Presolved, chunk: &Chunk) {
        let Self { variables: now, residuals, kkt, step, scratch, .. } = self;
        let Chunk { flows, paths, .. } = chunk;
        let Step { prices, rates, flow_rates, levels, log_marginals, sum, fall, .. } = step;
        let sums = &mut scratch.paths[..paths.len()];
        let commons = &mut scratch.commons[..flows.len()];
        kkt.gather(problem, chunk, prices, sums, commons);
        let (rates, flow_rates) = (&mut rates[paths.clone()], &mut flow_rates[flows.clone()]);
        for (change, (force, sum)) in rates.iter_mut().zip(kkt.forces[paths.clone()].iter().zip(&*sums)) {
            *change = force - sum;
        }
        let levels = if chunk.is_single() { &mut [][..] } else { &mut levels[flows.clone()] };
        kkt.respond(problem, chunk, commons, rates, flow_rates, levels);
        let aims = kkt.aims[flows.clone()].iter().zip(&residuals.bends[flows.clone()]);
        let changes = log_marginals[flows.clone()].iter_mut().zip(&*flow_rates);
        for ((log_marginal, change), (aim, bend)) in changes.zip(aims) {
            *log_marginal = aim - bend * change;
        }
        *sum += total(flow_rates, &log_marginals[flows.clone()], |change, log_marginal| change + log_marginal);
        // The room of the sums is free again.
        let falls = sums;
        let of_paths = now.rates[paths.clone()].iter().zip(&now.tiny[paths.clone()]);
        for (fall, (change, (rate, &tiny))) in falls.iter_mut().zip(rates.iter().zip(of_paths)) {
            *fall = if tiny { 0.0 } else { -*change / rate };
        }
        *fall = fall.max(largest(falls));
    }

    /// The longest steps, of rates and of prices, that go no more than a part of the way to the nearest bound.
    pub(super) fn lengths(&self, fraction: f64) -> (f64, f64) {
        let (now, step) = (&self.variables, &self.step);
        let (mut primal, mut dual) = (step.fall, 0.0f64);
        for (slack, change) in now.slacks.iter().zip(&step.slacks) {
            primal = primal.max(-change / slack);
        }
        for (price, change) in now.prices.iter().zip(&step.prices) {
            dual = dual.max(-change / price);
        }
        for (barrier, changes) in self.barriers.with_changes(step) {
            let (primal_fall, dual_fall) = barrier.falls(changes);
            (primal, dual) = (primal.max(primal_fall), dual.max(dual_fall));
        }
        let length = |fall: f64| if fall > fraction { fraction / fall } else { 1.0 };
        (length(primal), length(dual))
    }
}
