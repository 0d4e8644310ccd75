//! What the prices say of constraints: which multipliers are 0, which have the wrong sign, which are lost in rounding.

use super::active_set::{ActiveSet, Constraint, PathState};
use super::point::{Point, block_of, is_fixed, jumps};
use super::tolerances::{MULTIPLIER, ROUNDING, WEAK};
use crate::certificate::BESIDE;
use crate::error::Result;
use crate::presolve::Presolved;

impl Point {
    /// Whether the prices are multipliers of the rates with this active set: all to the right side of 0, and those of
    /// what is not active 0. `before` is the active set of the point itself.
    pub(super) fn is_optimal(&self, problem: &Presolved, before: &ActiveSet) -> Result<bool> {
        let scales = self.price_scales(problem)?;
        let links = self.prices.iter().zip(&scales).zip(&self.active.links);
        let mut is_optimal = links.fold(true, |is_optimal, ((&price, scale), active)| {
            is_optimal && price >= -MULTIPLIER * scale && (*active || price <= MULTIPLIER * scale)
        });
        for flow in 0..problem.flows() {
            let (marginal, mut level) = (self.marginals[flow], self.level(problem, flow));
            let least = -MULTIPLIER * marginal;
            let left = jumps(problem, flow).into_iter().find(|(at, _)| *at == before.flows[flow]);
            if let Some((_, fall)) = left.filter(|_| !self.active.holds(flow)) {
                // It has left a breakpoint, to the side that its price names.
                let lowest = self.path_prices[problem.paths_of(flow)].iter().copied().fold(f64::INFINITY, f64::min);
                level = if lowest < marginal - 0.5 * fall { marginal - fall } else { marginal };
            }
            if self.active.holds(flow) {
                let [low, high] = self.holding_prices(problem, flow);
                is_optimal &= high - level >= least && level - low >= least;
            }
            for path in problem.paths_of(flow) {
                let excess = self.path_prices[path] - level;
                // What a held flow pays may be rounding of 0.
                let scale = self.excess_scale(problem, &scales, (flow, path), level);
                let least = -MULTIPLIER * scale - ROUNDING * marginal;
                is_optimal &= match self.active.paths[path] {
                    PathState::Free => excess.abs() <= -least,
                    PathState::Zero => excess >= least,
                    PathState::Cap => -excess >= least,
                };
            }
        }
        Ok(is_optimal)
    }

    /// A link whose price is lost in rounding on a path of a flow with several, although it decides how the flow is
    /// split. Returns link and flow.
    pub(super) fn lost_price(&self, problem: &Presolved) -> Result<Option<(usize, usize)>> {
        let scales = self.price_scales(problem)?;
        let several = (0..problem.flows()).filter(|&flow| problem.paths_of(flow).len() > 1);
        let mut paths = several.flat_map(|flow| problem.paths_of(flow).map(move |path| (flow, path)));
        Ok(paths.find_map(|(flow, path)| {
            let (price, level) = (self.path_prices[path], self.level(problem, flow));
            let near = self.no_excess * self.excess_scale(problem, &scales, (flow, path), level);
            let rounding = match self.active.paths[path] {
                PathState::Free => ROUNDING * price,
                PathState::Zero | PathState::Cap if (price - level).abs() <= near => near,
                PathState::Zero | PathState::Cap => return None,
            };
            let is_lost = |link: usize, a: f64| {
                let price = self.prices[link];
                self.active.links[link] && price > WEAK * scales[link] && a * price < rounding
            };
            let mut links = problem.paths.row(path).entries().map(|(link, a)| (link as usize, a));
            links.find(|&(link, a)| is_lost(link, a)).map(|(link, _)| (link, flow))
        }))
    }

    /// The constraints that hold with a multiplier of 0.
    pub(super) fn weak(&mut self, problem: &Presolved) -> Result<Vec<Constraint>> {
        let scales = self.price_scales(problem)?;
        let mut weak = Vec::new();
        for (link, scale) in scales.iter().enumerate() {
            let (capacity, price) = (problem.capacities[link], self.prices[link]);
            if self.loads[link] >= capacity * (1.0 - WEAK) && price <= WEAK * scale {
                weak.push(Constraint::Link(link));
            }
        }
        for flow in 0..problem.flows() {
            let (own, marginal, rate) = (problem.paths_of(flow), self.marginals[flow], self.flow_rates[flow]);
            let level = self.level(problem, flow);
            let (bound, floor) = (self.bound_near(problem, flow), problem.bounds.floors[flow]);
            let is_at = |bound: f64| (rate - bound).abs() <= WEAK * rate;
            let may_rise = self.active.holds(flow) && level - self.holding_prices(problem, flow)[0] <= WEAK * marginal;
            if is_fixed(problem, flow) {
                // Held at any price.
            } else if is_at(floor) && !self.active.holds(flow) {
                weak.push(Constraint::Above { flow, bound: floor });
            } else if !is_at(floor) && is_at(bound) && marginal - level <= WEAK * marginal {
                weak.push(Constraint::Flow { flow, bound });
            } else if may_rise {
                let bound = self.active.flows[flow];
                weak.push(Constraint::Above { flow, bound });
                // If it leaves, it rises.
                let (block, rate) = (block_of(problem, flow), rate * (1.0 + BESIDE));
                let place = flow - block.flows.start;
                let mut elasticity = [0.0];
                block.utility.elasticity_into(place..place + 1, &[rate], &mut elasticity);
                self.curvatures[flow] = elasticity[0] * block.utility.marginal(place, rate) / rate;
            }
            for path in own.clone() {
                let (x, excess) = (self.rates[path], self.path_prices[path] - level);
                let scale = self.excess_scale(problem, &scales, (flow, path), level);
                if own.len() > 1 && x <= WEAK * rate && excess <= self.no_excess * scale {
                    weak.push(Constraint::Zero { flow, path });
                } else if own.len() == 1 && is_fixed(problem, flow) {
                    // Its floor holds it.
                } else if x >= problem.bounds.caps[path] * (1.0 - WEAK) && -excess <= WEAK * scale {
                    weak.push(Constraint::Cap { flow, path });
                }
            }
        }
        Ok(weak)
    }

    /// The bound of a flow's rate that is nearest: its saturation or cap, or a breakpoint of U.
    fn bound_near(&self, problem: &Presolved, flow: usize) -> f64 {
        let (rate, most) = (self.flow_rates[flow], problem.bounds.saturations[flow]);
        let jumps = jumps(problem, flow).into_iter().map(|(rate, _)| rate).filter(|jump| *jump < most);
        let nearer = |best: f64, other: f64| if (other - rate).abs() < (best - rate).abs() { other } else { best };
        jumps.fold(most, nearer)
    }
}
