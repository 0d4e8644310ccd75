//! Newton's method on the optimality conditions of an active set.
//!
//! A step ends with constraints that were overstepped becoming active, and active ones whose multiplier is negative
//! becoming inactive, until nothing changes. Quadratic from rates that are right to a few digits: one or two steps
//! where each flow has one path. Some ten where the active paths of flows with several are still to be found.

use super::active_set::{ActiveSet, PathState};
use super::equations::{Equations, Forces};
use super::point::{Point, is_fixed, jumps, marginal_below};
use super::tolerances::{FALL, MOST_SETTLED, NEAR, PROXIMAL, ROUNDING, SOLVED, STEPS, UNSETTLED, WEAK};
use crate::certificate::BESIDE;
use crate::error::Result;
use crate::interrupt;
use crate::presolve::Presolved;

impl Point {
    /// The active set that the numbers suggest: of slack and multiplier, the one that is smaller relatively is 0.
    pub(super) fn guess(problem: &Presolved, rates: Vec<f64>, prices: Vec<f64>) -> Result<Self> {
        let mut point = Self {
            loads: vec![0.0; prices.len()],
            flow_rates: Vec::new(),
            marginals: vec![0.0; problem.flows()],
            curvatures: vec![0.0; problem.flows()],
            path_prices: vec![0.0; rates.len()],
            active: ActiveSet::new(problem),
            no_excess: WEAK,
            rates,
            prices,
        };
        point.update(problem)?;
        let scales = point.price_scales(problem)?;
        for (link, active) in point.active.links.iter_mut().enumerate() {
            let slack = (1.0 - point.loads[link] / problem.capacities[link]).max(0.0);
            *active = point.prices[link] > 0.0 && point.prices[link] / scales[link] > slack;
        }
        for (price, active) in point.prices.iter_mut().zip(&point.active.links) {
            *price = if *active { *price } else { 0.0 };
        }
        problem.price_paths(0..point.path_prices.len(), &point.prices, &mut point.path_prices);
        for flow in 0..problem.flows() {
            let (marginal, rate) = (point.marginals[flow], point.flow_rates[flow]);
            let own = problem.paths_of(flow);
            // The path that is furthest from its bounds has the price that the flow pays.
            let room = |path: usize| point.rates[path].min(problem.bounds.caps[path] - point.rates[path]);
            let inner = own.clone().fold(own.start, |best, path| if room(path) > room(best) { path } else { best });
            let (bound, price) = (problem.bounds.saturations[flow], point.path_prices[inner]);
            let floor = problem.bounds.floors[flow];
            let slack = 1.0 - rate / bound;
            if 1.0 - price / marginal > slack && room(inner) / rate > slack {
                point.active.flows[flow] = bound;
            }
            for (at, fall) in jumps(problem, flow) {
                let (below, distance) = (marginal_below(problem, flow, at), (1.0 - rate / at).abs());
                let inside = (below - price).min(price - (below - fall)) / below;
                if at < bound && distance < NEAR && distance < inside {
                    (point.active.flows[flow], point.marginals[flow]) = (at, below);
                }
            }
            if is_fixed(problem, flow) || floor > 0.0 && price / marginal - 1.0 > rate / floor - 1.0 {
                point.active.flows[flow] = floor;
            }
            let level = if point.active.holds(flow) { point.path_prices[inner] } else { point.marginals[flow] };
            let is_held_by_itself = own.len() == 1 && is_fixed(problem, flow);
            for path in own {
                let (x, cap, price) = (point.rates[path], problem.bounds.caps[path], point.path_prices[path]);
                let scale = point.excess_scale(problem, &scales, (flow, path), level);
                let excess = if scale > 0.0 { (price - level) / scale } else { 0.0 };
                if -excess > 1.0 - x / cap && !is_held_by_itself {
                    point.active.paths[path] = PathState::Cap;
                } else if excess > x / rate || x == 0.0 {
                    point.active.paths[path] = PathState::Zero;
                }
            }
        }
        Ok(point)
    }

    /// Newton's method. Returns whether it converged; the equations are then those of the point.
    pub(super) fn refine(&mut self, problem: &Presolved, equations: &mut Equations) -> Result<bool> {
        self.update(problem)?;
        // By what part rates have changed since the matrix was factorized.
        let mut stale = f64::INFINITY;
        let none = vec![0.0; problem.flows()];
        let mut settled = 0;
        for _ in 0..STEPS {
            interrupt::check()?;
            if stale > NEAR {
                equations.set(problem, &self.active, &self.curvatures);
                stale = 0.0;
            } else {
                equations.set_weights(problem, &self.active, &self.curvatures);
            }
            // What holds a flow may be far above what it pays, whose digits it would take.
            let mut forces: Vec<f64> = self.path_prices.iter().map(|price| -price).collect();
            for flow in 0..problem.flows() {
                let level = self.level(problem, flow);
                forces[problem.paths_of(flow)].iter_mut().for_each(|force| *force += level);
            }
            let forces = Forces { flows: &none, paths: &forces };
            let targets: Vec<f64> =
                problem.capacities.iter().zip(&self.loads).map(|(capacity, load)| capacity - load).collect();
            let (rates, prices) = equations.step(problem, forces, &targets);
            let (mut length, mut change) = (1.0f64, 0.0f64);
            for (flow, rate) in self.flow_rates.iter().enumerate() {
                let steps = &rates[problem.paths_of(flow)];
                let relative = steps.iter().sum::<f64>() / rate;
                length = length.min(if relative < -FALL { -FALL / relative } else { 1.0 });
                change = steps.iter().fold(change, |change, step| change.max((step / rate).abs()));
            }
            if !change.is_finite() || prices.iter().any(|price| !price.is_finite()) {
                return Ok(false);
            }
            let scales = self.price_scales(problem)?;
            let price_change =
                prices.iter().zip(&scales).fold(0.0f64, |most, (step, scale)| most.max((step / scale).abs()));
            for (price, (step, active)) in self.prices.iter_mut().zip(prices.iter().zip(&self.active.links)) {
                *price = if *active { *price + length * step } else { 0.0 };
            }
            for (rate, step) in self.rates.iter_mut().zip(rates) {
                *rate += length * step;
            }
            let before = std::mem::take(&mut self.flow_rates);
            self.update(problem)?;
            let stays = self.correct(problem, &before)?;
            if !stays {
                self.update(problem)?;
            }
            let slows = stale + change + if problem.is_single_path() { 0.0 } else { PROXIMAL };
            let is_exact = stays && length == 1.0 && slows * change <= ROUNDING;
            settled += usize::from(is_exact);
            // D leaves a part of a step of prices. Links that held flows fill keep an excess.
            if is_exact && (settled == MOST_SETTLED || self.excess_of_active(problem) <= ROUNDING) {
                self.no_excess = (UNSETTLED * slows * price_change).clamp(SOLVED, WEAK);
                equations.set_weights(problem, &self.active, &self.curvatures);
                return Ok(true);
            }
            stale = if stays { stale + change } else { f64::INFINITY };
        }
        Ok(false)
    }

    /// The largest excess of an active link, relative.
    fn excess_of_active(&self, problem: &Presolved) -> f64 {
        let links = self.loads.iter().zip(&problem.capacities).zip(&self.active.links);
        let active = links.filter(|(_, active)| **active);
        active.fold(0.0, |most, ((load, capacity), _)| most.max((load / capacity - 1.0).abs()))
    }

    /// Changes the active set as signs require. Returns whether it stayed as it was.
    fn correct(&mut self, problem: &Presolved, rates_before: &[f64]) -> Result<bool> {
        let before = self.active.clone();
        let scales = self.price_scales(problem)?;
        for (link, scale) in scales.iter().enumerate() {
            if self.active.links[link] && self.prices[link] < -ROUNDING * scale {
                self.active.links[link] = false;
                self.prices[link] = 0.0;
            } else if self.loads[link] > problem.capacities[link] * (1.0 + ROUNDING) {
                self.active.links[link] = true;
            }
            self.prices[link] = self.prices[link].max(0.0);
        }
        for (flow, &rate_before) in rates_before.iter().enumerate() {
            let (own, marginal, rate) = (problem.paths_of(flow), self.marginals[flow], self.flow_rates[flow]);
            let level = self.level(problem, flow);
            let any_free = self.active.free_paths(problem, flow).next().is_some();
            if self.active.holds(flow) && !any_free && own.len() > 1 {
                // Its bound and those of its paths hold it twice: one of them is not active.
                let bound = self.active.flows[flow];
                let (lacks, exceeds) = (rate < bound * (1.0 - ROUNDING), rate > bound * (1.0 + ROUNDING));
                let is_floor = bound == problem.bounds.floors[flow];
                if lacks && !is_floor || exceeds && is_floor && !is_fixed(problem, flow) {
                    self.active.flows[flow] = f64::INFINITY;
                } else {
                    let left = if lacks { PathState::Zero } else { PathState::Cap };
                    let places = self.active.paths[own.clone()].iter_mut().filter(|place| **place == left);
                    places.for_each(|place| *place = PathState::Free);
                }
                continue;
            }
            if self.active.holds(flow) {
                let [low, high] = self.holding_prices(problem, flow);
                if level > high + ROUNDING * marginal || level < low - ROUNDING * marginal {
                    self.active.flows[flow] = f64::INFINITY;
                    // To the side where it goes: U' is another on either.
                    let side = if level > high { 1.0 - 2.0 * BESIDE } else { 1.0 + 2.0 * BESIDE };
                    self.rates[own.clone()].iter_mut().for_each(|rate| *rate *= side);
                }
            } else if rate < problem.bounds.floors[flow] * (1.0 - ROUNDING) {
                self.active.flows[flow] = problem.bounds.floors[flow];
            } else if rate > problem.bounds.saturations[flow] * (1.0 + ROUNDING) {
                self.active.flows[flow] = problem.bounds.saturations[flow];
            } else if let Some((at, _)) =
                jumps(problem, flow).into_iter().find(|&(at, _)| rate_before != at && (rate_before < at) != (rate < at))
            {
                // It has crossed a breakpoint, where it may have to stay.
                self.active.flows[flow] = at;
            }
            for path in own.clone() {
                let (x, excess) = (self.rates[path], self.path_prices[path] - level);
                let least = ROUNDING * self.excess_scale(problem, &scales, (flow, path), level);
                let place = &mut self.active.paths[path];
                *place = match *place {
                    PathState::Free if x > problem.bounds.caps[path] * (1.0 + ROUNDING) => PathState::Cap,
                    PathState::Free if x < 0.0 && own.len() > 1 => PathState::Zero,
                    PathState::Cap if excess > least => PathState::Free,
                    PathState::Zero if excess < -least => PathState::Free,
                    place => place,
                };
            }
        }
        Ok(self.active == before)
    }
}
