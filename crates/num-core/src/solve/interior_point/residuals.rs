//! Where the iterate stands: rates, residuals and sums of all kinds.

use std::sync::Arc;

use super::barrier::Bounds;
use super::breakpoints::Kinks;
use super::chunk::{Chunk, total};
use super::direction::gather;
use super::{InteriorPoint, LEAST, MOST};
use crate::numerics::{ln, vectorized};
use crate::presolve::Presolved;
use crate::solve::price::at_least;

/// A flow is tiny when it is below the first part of what its path can carry and its demand below the second.
const TINY_RATE: f64 = 0.1;
const TINY_DEMAND: f64 = 1e-2;
/// A λ below this part of its flow's price is free to rise.
const FREE: f64 = 0.1;
/// A λ shrinks by no more than e^−this at a time.
const SHRINK: f64 = 12.0;
/// The least elasticity of a flow that is not linear: one that does not bend at all has no curvature to divide by.
const LEAST_ELASTIC: f64 = 1e-10;
/// ℓ − Q is kept, and t or λ taken from it, up to this part of t or Q.
const MOST_LEVEL: f64 = 0.1;
/// λ follows from ℓ where it changes by no more than this part by that.
const MOST_CHANGE: f64 = 1e-2;
/// log of the least marginal that counts.
const LEAST_LOG: f64 = -570.0;

/// Sums over paths.
#[derive(Default)]
struct Sums {
    /// Σ x |ℓ − q + z − v|, Σ x λ.
    wrong: f64,
    worth: f64,
}

impl InteriorPoint {
    /// Goes the given parts of the direction, of rates and of prices, if any, and looks where it stands then. Returns the
    /// estimate of the gap.
    pub(super) fn look(&mut self, problem: &Presolved, lengths: Option<(f64, f64)>) -> f64 {
        if let Some((primal, dual)) = lengths {
            self.advance(primal, dual);
        }
        self.link_residuals.fill(0.0);
        self.largest_log = 0.0;
        self.least_marginal = f64::INFINITY;
        let mut sums = Sums::default();
        for chunk in Arc::clone(&self.chunks).iter() {
            if let Some((primal, dual)) = lengths {
                self.advance_flows(chunk, primal, dual);
            }
            self.settle(problem, chunk);
            self.add_loads(problem, chunk);
            self.look_at_utilities(problem, chunk);
            self.look_at_prices(problem, chunk, &mut sums);
        }
        let (mut complementarity, mut infeasibility, mut priced) = (0.0, 0.0, 0.0);
        let links = self.link_residuals.iter_mut().zip(&problem.capacities);
        for ((residual, capacity), (price, slack)) in links.zip(self.prices.iter().zip(&self.slacks)) {
            *residual = capacity - *residual - slack;
            complementarity += price * slack;
            infeasibility += price * residual.abs();
            priced += price * capacity;
        }
        complementarity += self.floors.complementarity() + self.caps.complementarity();
        priced += self.caps.worth() + self.tops.worth();
        complementarity += self.tops.complementarity() + self.kinks.complementarity();
        if self.marginals.is_empty() {
            return 0.0;
        }
        self.revenue = sums.worth.min(priced.max(1e-200));
        self.complementarity = complementarity / self.revenue;
        self.infeasibility = infeasibility / self.revenue;
        self.complementarity + self.infeasibility + sums.wrong / self.revenue
    }

    /// Goes a part of the direction on the links and bounds.
    fn advance(&mut self, primal: f64, dual: f64) {
        let direction = &self.direction;
        step(&mut self.slacks, &direction.slacks, primal);
        step(&mut self.prices, &direction.prices, dual);
        self.floors.advance(primal, dual, &direction.rates);
        self.caps.advance(primal, dual, &direction.rates);
        self.tops.advance(primal, dual, &direction.flow_rates);
        self.kinks.advance(primal, dual);
    }

    /// The same with the rates and marginals of some flows.
    fn advance_flows(&mut self, Chunk { flows, paths, .. }: &Chunk, primal: f64, dual: f64) {
        step(&mut self.rates[paths.clone()], &self.direction.rates[paths.clone()], primal);
        let marginals = self.marginals[flows.clone()].iter_mut();
        for (marginal, change) in marginals.zip(&self.direction.log_marginals[flows.clone()]) {
            *marginal *= factor(dual * change);
        }
        if !self.levels.is_empty() {
            step(&mut self.levels[flows.clone()], &self.direction.levels[flows.clone()], dual);
        }
    }

    /// Finds the tiny flows and sets them to their demands.
    fn settle(&mut self, problem: &Presolved, chunk: &Chunk) {
        let Chunk { block, flows, .. } = chunk;
        let first = problem.flow_paths[flows.start..flows.end].iter().zip(&self.snaps[flows.clone()]);
        let is_low = |rates: &[f64], path: usize| rates[path] < TINY_RATE * problem.ceilings[path];
        if !first.clone().any(|(&path, &snaps)| snaps && is_low(&self.rates, path)) {
            return self.tiny[chunk.paths.clone()].fill(false);
        }
        let (block, demands) = (&problem.blocks[*block], &mut self.scratch.flows[..flows.len()]);
        block.utility.demand_into(block.places(flows), &self.marginals[flows.clone()], demands);
        for ((&path, &snaps), &demand) in first.zip(&*demands) {
            self.tiny[path] = snaps && is_low(&self.rates, path) && demand < TINY_DEMAND * problem.ceilings[path];
            if self.tiny[path] {
                self.rates[path] = at_least(demand, LEAST);
                self.caps.place(path, self.rates[path]);
            }
        }
    }

    /// y of every flow, and its part of the loads.
    fn add_loads(&mut self, problem: &Presolved, chunk: &Chunk) {
        let Chunk { flows, paths, .. } = chunk;
        self.caps.clip(chunk.caps.clone(), &mut self.rates);
        let rates = &self.rates[paths.clone()];
        chunk.add_up(problem, rates, &mut self.flow_rates[flows.clone()]);
        self.tops.clip(chunk.tops.clone(), &mut self.flow_rates);
        self.routing.scatter(&problem.paths, paths.clone(), rates, &mut self.link_residuals);
    }

    /// ρ and ε/y of every flow.
    fn look_at_utilities(&mut self, problem: &Presolved, chunk: &Chunk) {
        let marginals = &mut self.marginals;
        self.kinks.cross(chunk.kinks.clone(), &self.flow_rates, |flow, change| {
            // Where nothing is left, λ will be U'.
            marginals[flow] = (marginals[flow] + change).max(0.0);
        });
        let Chunk { block, flows, .. } = chunk;
        let block = &problem.blocks[*block];
        let (rates, marginals) = (&self.flow_rates[flows.clone()], &mut marginals[flows.clone()]);
        let (residuals, bends) = (&mut self.log_residuals[flows.clone()], &mut self.bends[flows.clone()]);
        block.utility.log_marginal_into(block.places(flows), rates, residuals);
        // What no float can hold is worth next to nothing.
        residuals.iter_mut().for_each(|log| *log = at_least(*log, LEAST_LOG));
        for (marginal, residual) in marginals.iter_mut().zip(&*residuals) {
            if *marginal == 0.0 {
                *marginal = residual.exp().clamp(LEAST, MOST);
            }
        }
        if chunk.linear {
            residuals.fill(0.0);
            return bends.fill(0.0);
        }
        block.utility.elasticity_into(block.places(flows), rates, bends);
        for (bend, rate) in bends.iter_mut().zip(rates) {
            *bend = at_least(*bend, LEAST_ELASTIC) / rate;
        }
        vectorized(|| {
            for (residual, marginal) in residuals.iter_mut().zip(marginals) {
                *residual -= ln(*marginal);
            }
        });
        self.largest_log =
            residuals.iter().fold(self.largest_log, |largest, residual| at_least(largest, residual.abs()));
    }

    /// λ − q and the forces of the bounds on every path.
    fn look_at_prices(&mut self, problem: &Presolved, chunk: &Chunk, sums: &mut Sums) {
        let Chunk { flows, paths, .. } = chunk;
        let (residuals, prices) = (&mut self.path_residuals, &mut self.scratch.paths[..paths.len()]);
        let several = !self.levels.is_empty();
        let commons = if several { &mut self.commons[flows.clone()] } else { &mut self.scratch.commons[..flows.len()] };
        gather(problem, &self.routing, (&self.system, &self.multipath), chunk, &self.prices, prices, commons);
        if !chunk.linear {
            let (marginals, logs) = (&mut self.marginals, &mut self.log_residuals);
            for flow in flows.clone().filter(|&flow| !self.snaps[flow]) {
                let own = problem.paths_of(flow);
                let own = &prices[own.start - paths.start..own.end - paths.start];
                let least = own.iter().copied().fold(f64::INFINITY, f64::min);
                raise(&mut marginals[flow], &mut logs[flow], FREE * (least + commons[flow - flows.start]));
            }
        }
        if chunk.is_single() {
            residuals[paths.clone()].copy_from_slice(&self.marginals[flows.clone()]);
        } else {
            let net = &mut self.scratch.flows[..flows.len()];
            let marginals = (&mut self.marginals[flows.clone()], &mut self.log_residuals[flows.clone()]);
            level(&mut self.levels[flows.clone()], commons, net, marginals, chunk, (&mut self.tops, &self.kinks));
            chunk.spread(problem, &self.levels[flows.clone()], &mut residuals[paths.clone()]);
        }
        for (residual, price) in residuals[paths.clone()].iter_mut().zip(prices) {
            *residual -= *price;
        }
        let mut add = |path: usize, force| residuals[path] += force;
        self.floors.forces(chunk.floors.clone(), &mut add);
        self.caps.forces(chunk.caps.clone(), &mut add);
        if chunk.is_single() {
            // Flows and paths differ by the same number all through the chunk.
            let mut add = |flow: usize, force| residuals[flow - flows.start + paths.start] += force;
            self.tops.forces(chunk.tops.clone(), &mut add);
            self.kinks.forces(chunk.kinks.clone(), &mut add);
        }
        sums.wrong += total(&self.rates[paths.clone()], &residuals[paths.clone()], |rate, wrong| rate * wrong.abs());
        let (rates, marginals) = (&self.flow_rates[flows.clone()], &self.marginals[flows.clone()]);
        sums.worth += total(rates, marginals, |rate, marginal| rate * marginal);
        self.least_marginal = marginals.iter().copied().fold(self.least_marginal, f64::min);
    }
}

/// Takes ℓ − Q from λ and what else there is, or t or λ from it where that is the smaller one by far. `net` is room.
fn level(
    levels: &mut [f64],
    commons: &[f64],
    net: &mut [f64],
    (marginals, log_residuals): (&mut [f64], &mut [f64]),
    chunk: &Chunk,
    (tops, kinks): (&mut Bounds, &Kinks),
) {
    let first = chunk.flows.start;
    for ((net, marginal), common) in net.iter_mut().zip(&*marginals).zip(commons) {
        *net = marginal - common;
    }
    kinks.forces(chunk.kinks.clone(), |flow, force| net[flow - first] += force);
    tops.settle(chunk.tops.clone(), |flow, dual| {
        let (net, level) = (&mut net[flow - first], levels[flow - first]);
        let most = MOST_LEVEL * dual.min(*net - level);
        if level.abs() < most {
            let dual = *net - level;
            *net = level;
            return dual;
        }
        *net -= dual;
        dual
    });
    let flows = levels.iter_mut().zip(net).zip(commons).zip(marginals.iter_mut().zip(log_residuals));
    for (((level, &mut net), common), (marginal, log_residual)) in flows {
        let change = (*level - net) / *marginal;
        if !chunk.linear && level.abs() < MOST_LEVEL * common && change.abs() < MOST_CHANGE {
            *marginal *= 1.0 + change;
            *log_residual -= change.ln_1p();
        } else {
            *level = net;
        }
    }
}

/// v ← v + length·dv.
fn step(values: &mut [f64], changes: &[f64], length: f64) {
    values.iter_mut().zip(changes).for_each(|(value, change)| *value += length * change);
}

/// 1 + t, bent so that it stays positive: λ of a steep utility may have to fall by decades, and is not to hold up the rest.
fn factor(change: f64) -> f64 {
    if change > -0.9 { 1.0 + change } else { 0.1 * (10.0 * (change + 0.9)).max(-SHRINK).exp() }
}

/// Raises a λ to U', but no higher than given. Where λ is far below its flow's price, z or v makes up for the rest, and its
/// own Newton steps would take it up by a small factor at a time while the rate, and with it U', moves by decades.
fn raise(marginal: &mut f64, log_residual: &mut f64, most: f64) {
    if *log_residual > 0.0 && *marginal < most {
        let rise = log_residual.min(ln(most / *marginal));
        *marginal *= rise.exp();
        *log_residual -= rise;
    }
}
