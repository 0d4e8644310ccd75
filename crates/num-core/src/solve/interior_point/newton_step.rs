//! The Newton step: its equations, its two right-hand sides, and the longest step that stays inside the bounds.

use std::ops::Range;
use std::sync::Arc;

use super::barrier::outside;
use super::chunk::{Chunk, largest, total};
use super::floors::is_worthless;
use super::given::Given;
use super::part::{Part, Prices};
use super::variables::FlowStep;
use super::{InteriorPoint, is_linear};
use crate::error::Result;
use crate::interrupt;
use crate::presolve::Presolved;
use crate::solve::system::{ABSENT, Accuracy, ROUNDING, System, WeightsOfPart};
use crate::work::for_each;

/// The proximal term: per y of the least λ of all flows and of ℓ − Q.
const PROXIMAL: f64 = 1e-8;
/// The least proximal term: per y of ℓ − Q; of a linear flow, per y of its λ. A linear flow has no other curvature, and
/// rounding of its price would move its rate while μ still falls for flows with small payments.
const LEAST_PROXIMAL: f64 = 1e-12;
/// The proximal term of prices of a linear program, or where paths have coefficients, as a part of the diagonal: rows
/// of full links that depend on each other, as those of nearly parallel cuts, leave prices open, and rounding would
/// decide them. Others get finer prices where rounding decides.
const PROXIMAL_OF_PRICES: f64 = 1e-14;
/// The least ℓ − Q that counts, as a part of ℓ.
const LEAST_LEVEL: f64 = 1e-30;
/// Correctors of centrality in a step, at most, and the steps without any after one that made the step shorter: than
/// this part of what it was.
const MOST_RECENTRED: usize = 2;
const REST: usize = 2;
const SHORTER: f64 = 0.8;
/// A step of this length needs none. The length that is aimed at, a factor of the present one and a summand; and the
/// range of products, relative to μ, that counts as near.
const LONG: f64 = 0.9;
const LONGER: (f64, f64) = (1.2, 0.3);
const NEAR: (f64, f64) = (0.1, 10.0);
/// μ goes no further than this part of all revenue.
const SMALLEST: f64 = 1e-150;

/// The KKT system: Newton's equations on the optimality conditions, the prices of flows and paths eliminated.
pub(super) struct KktSystem {
    /// One equation per link.
    pub(super) system: System,
    /// The corrector's aims: the wanted change of s p per link *(derived)*.
    targets: Vec<f64>,
    /// The right-hand side *(derived)*.
    right: Vec<f64>,
}

/// Where a direction goes: straight at μ = 0, or at a μ with the curvature that a part of the last direction shows.
#[derive(Clone, Copy)]
enum Aim {
    Straight,
    At {
        centre: f64,
        part: f64,
    },
    /// As the last direction, and at products in a range after a step of these lengths along it.
    Within {
        lengths: (f64, f64),
        range: (f64, f64),
    },
}

impl KktSystem {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(problem: &Presolved, several_paths: Vec<Range<usize>>) -> Result<Self> {
        let links = problem.capacities.len();
        let mut system = System::new(problem, several_paths);
        system.share_beginnings()?;
        Ok(Self { system, targets: vec![0.0; links], right: vec![0.0; links] })
    }
}

impl InteriorPoint {
    /// The direction straight at μ = 0, for which it makes new equations.
    pub(super) fn predict(&mut self, problem: &Presolved, accuracy: Accuracy) {
        let is_fine = !self.variables.finer.is_empty();
        // The factor then resolves what is below the rounding of a price.
        let least_part = if is_fine { 0.0 } else { LEAST_PROXIMAL };
        let (system, least) = (&mut self.kkt.system, (self.residuals.least_marginal, least_part));
        for_each(&*problem.workers, self.parts.iter_mut().zip(system.weights_of_parts()), |(part, mut weights)| {
            part.each_chunk(|part, chunk| part.linearize(problem, chunk, least, &mut weights));
            Ok(())
        })
        .expect("nothing stops it");
        let pairs = self.variables.slacks.iter().zip(&self.variables.prices);
        for (diagonal, (slack, price)) in system.diagonal.iter_mut().zip(pairs) {
            *diagonal = slack / price;
        }
        if !(is_fine && system.update_finely()) {
            let may_depend = is_linear(problem) || problem.paths.coefficients().is_some();
            system.update(if may_depend { PROXIMAL_OF_PRICES } else { 0.0 });
        }
        self.go_straight(problem, accuracy);
    }

    /// The direction straight at μ = 0.
    fn go_straight(&mut self, problem: &Presolved, accuracy: Accuracy) {
        let pairs = self.variables.slacks.iter().zip(&self.variables.prices);
        for (target, (slack, price)) in self.kkt.targets.iter_mut().zip(pairs) {
            *target = -slack * price;
        }
        self.step.prices.fill(0.0);
        self.direct(problem, Aim::Straight, accuracy);
    }

    /// The direction at the given μ, with the curvature that a part of the last direction shows.
    pub(super) fn correct(&mut self, problem: &Presolved, centre: f64, part: f64, accuracy: Accuracy) {
        let (now, step) = (&self.variables, &self.step);
        let links = now.slacks.iter().zip(&step.slacks).zip(now.prices.iter().zip(&step.prices));
        for (target, ((slack, change), (price, step))) in self.kkt.targets.iter_mut().zip(links) {
            *target = centre - slack * price - part * change * step;
        }
        self.direct(problem, Aim::At { centre, part }, accuracy);
    }

    /// Replaces the last direction, at the given μ and with the curvature of that part, by one along which products
    /// stay nearer to μ, so that steps are longer; where they are not, it is left as it was.
    pub(super) fn recentre(&mut self, problem: &Presolved, centre: f64, part: f64, accuracy: Accuracy) {
        if !self.kkt.system.is_approximate() {
            return;
        }
        if self.resting > 0 {
            self.resting -= 1;
            return;
        }
        let shorter = |(primal, dual): (f64, f64)| primal.min(dual);
        for _ in 0..MOST_RECENTRED {
            let before = self.lengths(1.0);
            if shorter(before) >= LONG || interrupt::check().is_err() {
                return;
            }
            let longer = |length: f64| (LONGER.0 * length + LONGER.1).min(1.0);
            let lengths = (longer(before.0), longer(before.1));
            let (now, step) = (&self.variables, &self.step);
            let links = now.slacks.iter().zip(&step.slacks).zip(now.prices.iter().zip(&step.prices));
            let range = (NEAR.0 * centre, NEAR.1 * centre);
            for (target, ((slack, change), (price, step))) in self.kkt.targets.iter_mut().zip(links) {
                *target += outside((slack + lengths.0 * change) * (price + lengths.1 * step), range);
            }
            self.direct(problem, Aim::Within { lengths, range }, accuracy);
            // NaN is no progress either.
            if !(shorter(self.lengths(1.0)) >= SHORTER * shorter(before) && self.step.sum.is_finite()) {
                self.resting = REST;
                self.go_straight(problem, accuracy);
                return self.correct(problem, centre, part, accuracy);
            }
        }
    }

    /// The μ to aim at: the smaller, the further a step of these lengths takes it down.
    pub(super) fn centre(&self, problem: &Presolved, lengths: (f64, f64)) -> f64 {
        let (now, step, residuals) = (&self.variables, &self.step, &self.residuals);
        let (mut after, (primal, dual)) = (0.0, lengths);
        let links = now.slacks.iter().zip(&step.slacks).zip(now.prices.iter().zip(&step.prices));
        for ((slack, change), (price, step)) in links {
            after += (slack + primal * change) * (price + dual * step);
        }
        let of_parts = for_each(&*problem.workers, &self.parts, |part| {
            let with_changes = part.barriers.with_changes(&part.step);
            Ok(with_changes.map(|(barrier, changes)| barrier.complementarity_after(lengths, changes)))
        });
        let of_parts = of_parts.expect("nothing stops it");
        after = (0..5).fold(after, |after, barrier| after + of_parts.iter().map(|part| part[barrier]).sum::<f64>());
        let now = residuals.complementarity * residuals.revenue;
        let mut centring = (after / now).powi(3).clamp(1e-8, 1.0);
        if residuals.infeasibility > residuals.complementarity.max(ROUNDING) {
            centring = centring.max(0.3f64.min(0.1 * (residuals.infeasibility / residuals.complementarity).sqrt()));
        }
        (centring * now).max(SMALLEST * residuals.revenue) / self.pairs
    }

    /// The direction towards the targets.
    fn direct(&mut self, problem: &Presolved, aim: Aim, accuracy: Accuracy) {
        let Self { parts, variables: now, kkt, step, residuals, .. } = self;
        let KktSystem { system, targets, right } = kkt;
        let links = residuals.links.iter().zip(&*targets).zip(&now.prices);
        for (right, ((residual, target), price)) in right.iter_mut().zip(links) {
            *right = target / price - residual;
        }
        system.pass().add_with(right, parts.iter_mut(), |part, right| {
            part.aim_bounds(aim);
            part.each_chunk(|part, chunk| {
                part.aim(aim, chunk);
                part.add_forces((problem, system), chunk, right);
            });
            part.several.finish_scatter(system, right);
        });
        if !system.solve_finely(right, &mut step.prices, &mut step.finer) {
            system.solve(right, &mut step.prices, accuracy);
            step.finer.fill(0.0);
        }
        let pairs = now.slacks.iter().zip(&now.prices).zip(targets.iter().zip(&step.prices));
        for (change, ((slack, price), (target, step))) in step.slacks.iter_mut().zip(pairs) {
            *change = (target - slack * step) / price;
        }
        let (system, prices) = (&*system, Prices { floats: &step.prices, finer: &step.finer });
        let found = for_each(&*problem.workers, parts, |part| Ok(part.direct((problem, system), prices)));
        (step.sum, step.falls) = (step.prices.iter().chain(&step.slacks).sum(), (0.0, 0.0));
        for (sum, (primal, dual)) in found.expect("nothing stops it") {
            step.sum += sum;
            step.falls = (step.falls.0.max(primal), step.falls.1.max(dual));
        }
    }

    /// The longest steps, of rates and of prices, that go no more than a part of the way to the nearest bound.
    pub(super) fn lengths(&self, fraction: f64) -> (f64, f64) {
        let (now, step) = (&self.variables, &self.step);
        let (mut primal, mut dual) = step.falls;
        for (slack, change) in now.slacks.iter().zip(&step.slacks) {
            primal = primal.max(-change / slack);
        }
        for (price, change) in now.prices.iter().zip(&step.prices) {
            dual = dual.max(-change / price);
        }
        let length = |fall: f64| if fall > fraction { fraction / fall } else { 1.0 };
        (length(primal), length(dual))
    }
}

impl Part {
    /// Calls for all flows, a chunk at a time.
    pub(super) fn each_chunk(&mut self, mut visit: impl FnMut(&mut Self, &Chunk)) {
        for chunk in Arc::clone(&self.chunks).iter() {
            visit(self, chunk);
        }
    }

    /// The products of the bounds that are aimed at.
    fn aim_bounds(&mut self, aim: Aim) {
        match aim {
            Aim::Straight => self.barriers.aim_at_zero(),
            Aim::At { centre, part } => {
                for (barrier, changes) in self.barriers.with_changes_mut(&self.step) {
                    barrier.aim_at(centre, part, changes);
                }
            }
            Aim::Within { lengths, range } => {
                for (barrier, changes) in self.barriers.with_changes_mut(&self.step) {
                    barrier.aim_within(lengths, range, changes);
                }
            }
        }
    }

    /// The direction of all flows, given that of the prices. Returns the sum of what changes, and the largest falls.
    fn direct(&mut self, (problem, system): (&Presolved, &System), prices: Prices<'_>) -> (f64, (f64, f64)) {
        let (mut sum, mut fall) = (0.0, 0.0f64);
        self.several.begin_gather(system, prices.floats);
        self.each_chunk(|part, chunk| {
            let (of_chunk, falls) = part.direct_flows((problem, system), chunk, prices);
            sum += of_chunk;
            fall = fall.max(falls);
        });
        let mut falls = (fall, 0.0f64);
        for (barrier, changes) in self.barriers.with_changes_mut(&self.step) {
            barrier.direct(changes);
            let (primal, dual) = barrier.falls(changes);
            falls = (falls.0.max(primal), falls.1.max(dual));
        }
        (sum, falls)
    }

    /// ρ with the second-order term of the last direction, ½ ((dλ/λ)² + ε (dy/y)²).
    fn aim(&mut self, aim: Aim, Chunk { flows, .. }: &Chunk) {
        let part = match aim {
            Aim::Straight => return self.aims[flows.clone()].copy_from_slice(&self.residuals.logs[flows.clone()]),
            Aim::At { part, .. } => part,
            Aim::Within { .. } => return,
        };
        let aims = self.aims[flows.clone()].iter_mut().zip(&self.residuals.logs[flows.clone()]);
        let rates = self.step.flow_rates[flows.clone()].iter().zip(&self.variables.flow_rates[flows.clone()]);
        let marginals = self.step.log_marginals[flows.clone()].iter().zip(&self.residuals.bends[flows.clone()]);
        for (((aim, residual), (change, rate)), (in_marginal, bend)) in aims.zip(rates).zip(marginals) {
            let in_rate = bend * change * change / rate;
            let curvature = 0.5 * part * part * (in_marginal * in_marginal + in_rate);
            *aim = residual + part * if curvature < 2.0 { curvature } else { 2.0 };
        }
    }

    /// Weights of the paths, and the curvature of the flows with several.
    fn linearize(
        &mut self,
        problem: &Presolved,
        chunk: &Chunk,
        (least_marginal, least_part): (f64, f64),
        weights: &mut WeightsOfPart<'_>,
    ) {
        let Self { variables: now, residuals, barriers, given, several, stiffness, .. } = self;
        let Chunk { flows, paths, .. } = chunk;
        let of_flows = &mut stiffness[flows.clone()];
        let marginals = now.marginals[flows.clone()].iter().zip(&residuals.bends[flows.clone()]);
        for (stiffness, (marginal, bend)) in of_flows.iter_mut().zip(marginals) {
            *stiffness = marginal * bend;
        }
        if chunk.linear {
            let values = now.marginals[flows.clone()].iter().zip(&now.flow_rates[flows.clone()]);
            for (stiffness, (&marginal, rate)) in of_flows.iter_mut().zip(values) {
                // A flow that is worth nothing has no λ of its own.
                let worth = if is_worthless(marginal) { 1.0 } else { marginal };
                *stiffness += LEAST_PROXIMAL * worth / rate;
            }
        }
        for (barrier, part) in barriers.on_flows_of(chunk) {
            barrier.add_curvatures(part, flows.start, of_flows);
        }
        for flow in flows.clone().filter(|&flow| chunk.has_floors && given[flow] != Given::Nothing) {
            of_flows[flow - flows.start] = f64::INFINITY;
        }
        chunk.spread(problem, of_flows, weights.of(paths));
        for flow in flows.clone().filter(|&flow| !chunk.is_single() && several.numbers[flow] != ABSENT) {
            let (level, common) = (now.levels[flow], residuals.commons[flow]);
            let level = level.abs().max(LEAST_LEVEL * (level + common).abs());
            let proximal = (PROXIMAL * level.min(least_marginal)).max(least_part * level);
            weights.of(&problem.paths_of(flow)).fill(proximal / now.flow_rates[flow]);
        }
        let of_paths = weights.of(paths);
        for (barrier, part) in barriers.on_paths_of(chunk) {
            barrier.add_curvatures(part, paths.start, of_paths);
        }
        of_paths.iter_mut().for_each(|value| *value = value.recip());
        for flow in flows.clone().filter(|&flow| !chunk.is_single() && several.numbers[flow] != ABSENT) {
            weights.eliminate(several.numbers[flow] as usize, stiffness[flow]);
        }
    }

    /// The forces on the paths, and their part of the right-hand side.
    fn add_forces(&mut self, (problem, system): (&Presolved, &System), chunk: &Chunk, right: &mut [f64]) {
        let Self { variables: now, residuals, barriers, several, aims, forces, scratch, .. } = self;
        let Chunk { flows, paths, .. } = chunk;
        // λ ρ, with the forces of the bounds on flows.
        let (flow_forces, moves) = (&mut scratch.flows[..flows.len()], &mut scratch.paths[..paths.len()]);
        let aims = now.marginals[flows.clone()].iter().zip(&aims[flows.clone()]);
        for (force, (marginal, aim)) in flow_forces.iter_mut().zip(aims) {
            *force = marginal * aim;
        }
        for (barrier, part) in barriers.on_flows_of(chunk) {
            barrier.add_target_forces(part, flows.start, flow_forces);
        }
        chunk.spread(problem, flow_forces, moves);
        for flow in flows.clone().filter(|&flow| !chunk.is_single() && several.numbers[flow] != ABSENT) {
            let own = problem.paths_of(flow);
            moves[own.start - paths.start..own.end - paths.start].fill(0.0);
            several.forces[flow] = flow_forces[flow - flows.start] + several.shifts[flow];
        }
        let forces = &mut forces[paths.clone()];
        for ((force, residual), of_flow) in forces.iter_mut().zip(&residuals.paths[paths.clone()]).zip(&*moves) {
            *force = residual + of_flow;
        }
        for (barrier, part) in barriers.on_paths_of(chunk) {
            barrier.add_target_forces(part, paths.start, forces);
        }
        moves.copy_from_slice(forces);
        several.respond((problem, system), chunk, &[], moves, flow_forces, &mut []);
        several.scatter(system, chunk, (moves, flow_forces), right);
    }

    /// The direction of some flows. Returns the sum of what changes, and the largest fall of a rate, relative.
    fn direct_flows(
        &mut self,
        (problem, system): (&Presolved, &System),
        chunk: &Chunk,
        prices: Prices<'_>,
    ) -> (f64, f64) {
        let Self { variables: now, residuals, several, aims, forces, step, scratch, .. } = self;
        let Chunk { flows, paths, .. } = chunk;
        let FlowStep { rates, flow_rates, levels, log_marginals } = step;
        let sums = &mut scratch.paths[..paths.len()];
        let commons = &mut scratch.commons[..flows.len()];
        several.gather((problem, system), chunk, prices.floats, sums, commons);
        let is_fine = !prices.finer.is_empty() && !chunk.is_single();
        if is_fine {
            several.gather_finely((problem, system), chunk, prices, sums, commons);
        }
        let (rates, flow_rates) = (&mut rates[paths.clone()], &mut flow_rates[flows.clone()]);
        for (change, (force, sum)) in rates.iter_mut().zip(forces[paths.clone()].iter().zip(&*sums)) {
            *change = force - sum;
        }
        let levels = if chunk.is_single() { &mut [][..] } else { &mut levels[flows.clone()] };
        several.respond((problem, system), chunk, commons, rates, flow_rates, levels);
        if is_fine {
            several.complete_levels((problem, system), chunk, prices, levels);
        }
        let aims = aims[flows.clone()].iter().zip(&residuals.bends[flows.clone()]);
        let changes = log_marginals[flows.clone()].iter_mut().zip(&*flow_rates);
        for ((log_marginal, change), (aim, bend)) in changes.zip(aims) {
            *log_marginal = aim - bend * change;
        }
        let sum = total(flow_rates, &log_marginals[flows.clone()], |change, log_marginal| change + log_marginal);
        // The room of the sums is free again.
        let falls = sums;
        let of_paths = now.rates[paths.clone()].iter().zip(&now.tiny[paths.clone()]);
        for (fall, (change, (rate, &tiny))) in falls.iter_mut().zip(rates.iter().zip(of_paths)) {
            *fall = if tiny { 0.0 } else { -*change / rate };
        }
        (sum, largest(falls))
    }
}
