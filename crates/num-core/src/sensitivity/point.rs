//! The point of linearization: rates and prices, the constraints that are active there, and what follows from them.

use super::active_set::{ActiveSet, PathState};
use super::scales::Scales;
use super::tolerances::WEAK;
use crate::certificate::BESIDE;
use crate::error::Result;
use crate::interrupt;
use crate::paths::parts::{pieces, split_mut};
use crate::presolve::{NaturalBlock, Presolved};
use crate::work::for_each;

/// Rates and prices in natural units, with their active set.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) rates: Vec<f64>,
    pub(super) prices: Vec<f64>,
    pub(super) flow_rates: Vec<f64>,
    /// Load of every link.
    pub(super) loads: Vec<f64>,
    /// U' and σ = −U'' of every flow.
    pub(super) marginals: Vec<f64>,
    pub(super) curvatures: Vec<f64>,
    /// q of every path.
    pub(super) path_prices: Vec<f64>,
    pub(super) active: ActiveSet,
    /// An excess of a path's price up to this, relative, is 0.
    pub(super) no_excess: f64,
}

impl Point {
    /// Puts the rates of constraints that are active where they are, and finds everything else that follows.
    pub(super) fn update(&mut self, problem: &Presolved) -> Result<()> {
        for path in 0..self.rates.len() {
            match self.active.paths[path] {
                PathState::Free => {}
                PathState::Zero => self.rates[path] = 0.0,
                PathState::Cap => self.rates[path] = problem.bounds.caps[path],
            }
        }
        for flow in (0..problem.flows()).filter(|&flow| self.active.holds(flow)) {
            let own = problem.paths_of(flow);
            let movable: Vec<usize> = self.active.free_paths(problem, flow).collect();
            let lacking = self.active.flows[flow] - self.rates[own].iter().sum::<f64>();
            movable.iter().for_each(|&path| self.rates[path] += lacking / movable.len() as f64);
        }
        self.flow_rates = problem.flow_totals(&self.rates).into_owned();
        let mut below = vec![0.0; self.flow_rates.len()];
        for (flow, below) in below.iter_mut().enumerate() {
            *below = self.flow_rates[flow] * if self.active.holds(flow) { 1.0 - BESIDE } else { 1.0 };
        }
        let (ranges, pass) = (problem.flow_ranges(), problem.pass());
        let of_parts = split_mut(&mut self.marginals, &ranges).zip(pieces(&mut self.curvatures, &ranges));
        for_each(&*problem.workers, of_parts, |(marginals, (curvatures, range))| {
            for (block, flows) in problem.chunks_of(&range) {
                interrupt::check()?;
                let (places, rates) = (block.places(&flows), &below[flows.clone()]);
                let own = flows.start - range.start..flows.end - range.start;
                let (marginals, curvatures) = (&mut marginals[own.clone()], &mut curvatures[own]);
                block.utility.marginal_into(places.clone(), rates, marginals);
                block.utility.elasticity_into(places, rates, curvatures);
                for (curvature, (marginal, rate)) in curvatures.iter_mut().zip(marginals.iter().zip(rates)) {
                    let found = *curvature * marginal / rate;
                    *curvature = if found > 0.0 && found.is_finite() { found } else { f64::MIN_POSITIVE.sqrt() };
                }
            }
            Ok(())
        })?;
        pass.gather(&self.prices, &mut self.path_prices);
        problem.add_costs(0..self.rates.len(), &mut self.path_prices);
        self.loads.fill(0.0);
        pass.scatter(&self.rates, &mut self.loads);
        Ok(())
    }

    /// With what changes are compared.
    pub(super) fn scales(&self, problem: &Presolved) -> Result<Scales> {
        let rates = problem.per_path(&self.flow_rates).into_owned();
        let pays = |flow: usize| match self.active.flows[flow] == problem.bounds.floors[flow] {
            true => self.marginals[flow].max(self.level(problem, flow)),
            false => self.marginals[flow],
        };
        Ok(Scales { marginals: (0..problem.flows()).map(pays).collect(), rates, prices: self.price_scales(problem)? })
    }

    /// With what the price of a link is compared: the least of max(q_p, U') over the paths through it.
    pub(super) fn price_scales(&self, problem: &Presolved) -> Result<Vec<f64>> {
        let marginals = problem.per_path(&self.marginals);
        let unknown = vec![[f64::INFINITY]; problem.capacities.len()];
        let least = problem.pass().least(unknown, |path, row, least| {
            row.lower(|a| [self.path_prices[path].max(marginals[path]) / a], least);
        })?;
        Ok(least.into_flattened())
    }

    /// With what the excess of a path's price over its flow's level is compared: what the flow pays, and where it is at
    /// a cap, far below U' perhaps, what the links of the path are compared with.
    pub(super) fn excess_scale(
        &self,
        problem: &Presolved,
        scales: &[f64],
        (flow, path): (usize, usize),
        level: f64,
    ) -> f64 {
        let marginal = self.marginals[flow];
        if !self.active.holds(flow) {
            return marginal;
        }
        let links = problem.paths.row(path).entries().map(|(link, a)| (link as usize, a));
        let priced = links.filter(|&(link, _)| self.active.links[link]).map(|(link, a)| a * scales[link]);
        // At a floor it pays more than U'.
        priced.fold(level, f64::max).min(marginal.max(level))
    }

    /// The least and the largest price at which a held flow stays where it is: U' just above and just below the bound,
    /// or −∞ at a cap, which nothing passes, and ∞ at a floor.
    pub(super) fn holding_prices(&self, problem: &Presolved, flow: usize) -> [f64; 2] {
        let (bound, marginal) = (self.active.flows[flow], self.marginals[flow]);
        let fall = jumps(problem, flow).into_iter().find(|(at, _)| *at == bound).map(|(_, fall)| fall);
        let is_floor = bound == problem.bounds.floors[flow];
        let least = match fall {
            Some(fall) => marginal - fall,
            None if is_floor && !is_fixed(problem, flow) => marginal,
            None => f64::NEG_INFINITY,
        };
        [least, if is_floor { f64::INFINITY } else { marginal }]
    }

    /// Whether a flow is at a breakpoint of its utility.
    pub(super) fn is_at_jump(&self, problem: &Presolved, flow: usize) -> bool {
        let rate = self.flow_rates[flow];
        jumps(problem, flow).into_iter().any(|(at, _)| (at - rate).abs() <= WEAK * rate)
    }

    /// Whether a flow is at the rate that saturates its utility, whatever its caps.
    pub(super) fn is_saturated(&self, problem: &Presolved, flow: usize) -> bool {
        let (block, rate) = (block_of(problem, flow), self.flow_rates[flow]);
        (block.utility.saturation(flow - block.flows.start) - rate).abs() <= WEAK * rate
    }

    /// The price that a flow pays on the paths that it uses.
    pub(super) fn level(&self, problem: &Presolved, flow: usize) -> f64 {
        held_level(problem, &self.active, flow, &self.path_prices).unwrap_or(self.marginals[flow])
    }
}

/// The price that a flow pays whose rate is held: that of the paths that move, the cheapest where none does. `None` for
/// other flows, which pay U'.
pub(super) fn held_level(problem: &Presolved, active: &ActiveSet, flow: usize, path_prices: &[f64]) -> Option<f64> {
    if !active.holds(flow) {
        return None;
    }
    let own = problem.paths_of(flow);
    let (count, sum) =
        active.free_paths(problem, flow).fold((0.0, 0.0), |(count, sum), path| (count + 1.0, sum + path_prices[path]));
    Some(if count > 0.0 { sum / count } else { path_prices[own].iter().copied().fold(f64::INFINITY, f64::min) })
}

/// Whether the cap of a flow is its floor, or what it can use is.
pub(super) fn is_fixed(problem: &Presolved, flow: usize) -> bool {
    let (floor, own) = (problem.bounds.floors[flow], problem.paths_of(flow));
    let most = if own.len() == 1 { problem.bounds.caps[own.start] } else { f64::INFINITY };
    floor > 0.0 && most.min(problem.bounds.saturations[flow]) <= floor * (1.0 + WEAK)
}

/// U' of a flow just below a rate.
pub(super) fn marginal_below(problem: &Presolved, flow: usize, rate: f64) -> f64 {
    let block = block_of(problem, flow);
    block.utility.marginal(flow - block.flows.start, rate * (1.0 - BESIDE))
}

pub(super) fn block_of(problem: &Presolved, flow: usize) -> &NaturalBlock {
    &problem.blocks[problem.blocks.partition_point(|block| block.flows.end <= flow)]
}

/// The breakpoints of U of a flow, each with the fall of U'.
pub(super) fn jumps(problem: &Presolved, flow: usize) -> Vec<(f64, f64)> {
    let block = block_of(problem, flow);
    if block.may_jump { block.utility.jumps(flow - block.flows.start) } else { Vec::new() }
}
