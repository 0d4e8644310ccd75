//! The point of linearization: a certified solution, refined to rounding.
//!
//! Newton's method on the optimality conditions of an active set. A step ends with constraints that were overstepped
//! becoming active, and active ones whose multiplier is negative becoming inactive, until nothing changes. Quadratic
//! from rates that are right to a few digits: one or two steps where each flow has one path. Some ten where the active
//! paths of flows with several are still to be found.

use super::active_set::{ActiveSet, Place, Weak};
use super::equations::{Equations, Forces, PROXIMAL, Scales};
use crate::certificate::FeasiblePoint;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::paths::Paths;
use crate::presolve::{NaturalBlock, Presolved};
use crate::problem::Problem;
use crate::solve::{Ask, Settings, Solution, Stop, solve};

/// Newton steps at most.
const STEPS: usize = 40;
/// The refined point: the largest change of a rate, as a part of its flow's, that another step would make.
const EXACT: f64 = 1e-12;
/// Steps that are as small, after which links may still have an excess.
const MOST_SETTLED: usize = 3;
/// The matrix is factorized again when rates have changed by more than this part since.
const STALE: f64 = 1e-2;
/// Rounding of a multiplier relative to U', and of a load relative to the capacity.
const ROUNDING: f64 = 1e-12;
/// A rate falls by no more than this part in a step.
const FALL: f64 = 0.8;
/// The relative distance from a breakpoint at which a flow of a certified solution may be there.
const NEAR: f64 = 1e-2;
/// What a constraint lacks to be active where it counts as 0, and its multiplier at most, relative.
pub(super) const WEAK: f64 = 1e-7;
/// The excess of a path's price counts as 0 up to this many times what the last Newton step leaves unsettled of prices,
/// and up to the least, relative: paths may differ by little, and a path that is dearer carries nothing.
const UNSETTLED: f64 = 1e3;
const LEAST_EXCESS: f64 = 1e-9;
/// A price that is no more than this part of the price of a path is rounding there.
const LOST: f64 = 1e-12;
/// The largest KKT residual of the refined point.
const CERTIFIED: f64 = 1e-6;
/// The rounding of a multiplier of the last active set, relative: a drift has six digits.
const MULTIPLIER: f64 = 1e-5;
/// Relative distance below a breakpoint at which U' is taken.
const BELOW: f64 = 1e-9;
/// The KKT residual to which the interior point solves where Newton's method does not converge.
const TOLERANCE: f64 = 1e-9;
/// The same where it does, with constraints that hold with a multiplier of 0.
const CENTRAL: f64 = 1e-11;

/// Rates and prices in natural units, with their active set.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) rates: Vec<f64>,
    pub(super) prices: Vec<f64>,
    pub(super) flow_rates: Vec<f64>,
    /// Of every link.
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
    pub(super) fn refined(
        problem: &Problem,
        presolved: &Presolved,
        solution: &Solution,
        equations: &mut Equations,
    ) -> Result<Self> {
        let from = |solution: &Solution, equations: &Equations| {
            let rates = presolved.natural_rates(&solution.rates);
            Self::guess(presolved, equations.routing(), rates, presolved.natural_prices(&solution.prices))
        };
        let mut found: Option<(usize, Self)> = None;
        let mut point = from(solution, equations)?;
        if point.refine(presolved, equations)? && point.kkt_residual(presolved)? <= CERTIFIED {
            let weak = point.clone().weak(presolved).len();
            if weak == 0 || presolved.is_single_path() {
                return Ok(point);
            }
            found = Some((weak, point));
        }
        // Where the split of flows is not unique, Newton's method may end where constraints just hold. The interior
        // point ends far from all that can be slack.
        let tol = if found.is_some() { CENTRAL } else { TOLERANCE };
        let settings = Settings { tol, stop: Stop::Kkt, ..Settings::default() };
        let again = solve(problem, &Ask::by("interior-point").with_settings(settings))?;
        let mut point = from(&again, equations)?;
        let is_refined = point.refine(presolved, equations)? && point.kkt_residual(presolved)? <= CERTIFIED;
        let Some((weak, first)) = found else {
            return match is_refined {
                true => Ok(point),
                false => Err(Error::NoSensitivity {
                    what: "a solution that Newton's method does not refine".into(),
                    instead: "bring capacities and weights nearer to each other, or alpha nearer to 1",
                }),
            };
        };
        if is_refined && point.clone().weak(presolved).len() < weak {
            return Ok(point);
        }
        equations.set(presolved, &first.active, &first.curvatures);
        Ok(first)
    }

    fn kkt_residual(&self, problem: &Presolved) -> Result<f64> {
        let feasible = FeasiblePoint::new(problem, &self.rates, &self.prices)?;
        Ok(feasible.certificate(feasible.overload)?.kkt_residual)
    }

    /// The active set that the numbers suggest: of slack and multiplier, the one that is smaller relatively is 0.
    fn guess(problem: &Presolved, routing: &Paths, rates: Vec<f64>, prices: Vec<f64>) -> Result<Self> {
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
        point.update(problem, routing)?;
        let scales = point.price_scales(problem);
        for (link, active) in point.active.links.iter_mut().enumerate() {
            let slack = (1.0 - point.loads[link] / problem.capacities[link]).max(0.0);
            *active = point.prices[link] > 0.0 && point.prices[link] / scales[link] > slack;
        }
        for (price, active) in point.prices.iter_mut().zip(&point.active.links) {
            *price = if *active { *price } else { 0.0 };
        }
        routing.gather(0..point.rates.len(), &point.prices, &mut point.path_prices);
        for flow in 0..problem.flows() {
            let (marginal, rate) = (point.marginals[flow], point.flow_rates[flow]);
            let own = problem.paths_of(flow);
            // The path that is furthest from its bounds has the price that the flow pays.
            let room = |path: usize| point.rates[path].min(problem.caps[path] - point.rates[path]);
            let inner = own.clone().fold(own.start, |best, path| if room(path) > room(best) { path } else { best });
            let (bound, price) = (problem.saturations[flow], point.path_prices[inner]);
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
            let level = if point.active.holds(flow) { point.path_prices[inner] } else { point.marginals[flow] };
            for path in own {
                let (x, cap, price) = (point.rates[path], problem.caps[path], point.path_prices[path]);
                let scale = point.excess_scale(problem, &scales, (flow, path), level);
                let excess = if scale > 0.0 { (price - level) / scale } else { 0.0 };
                if -excess > 1.0 - x / cap {
                    point.active.paths[path] = Place::Cap;
                } else if excess > x / rate || x == 0.0 {
                    point.active.paths[path] = Place::Zero;
                }
            }
        }
        Ok(point)
    }

    /// The bound of a flow's rate that is nearest: its saturation or cap, or a breakpoint of U.
    fn bound_near(&self, problem: &Presolved, flow: usize) -> f64 {
        let (rate, most) = (self.flow_rates[flow], problem.saturations[flow]);
        let jumps = jumps(problem, flow).into_iter().map(|(rate, _)| rate).filter(|jump| *jump < most);
        let nearer = |best: f64, other: f64| if (other - rate).abs() < (best - rate).abs() { other } else { best };
        jumps.fold(most, nearer)
    }

    /// Puts the rates of constraints that are active where they are, and finds everything else that follows.
    fn update(&mut self, problem: &Presolved, routing: &Paths) -> Result<()> {
        for path in 0..self.rates.len() {
            match self.active.paths[path] {
                Place::Free => {}
                Place::Zero => self.rates[path] = 0.0,
                Place::Cap => self.rates[path] = problem.caps[path],
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
            *below = self.flow_rates[flow] * if self.active.holds(flow) { 1.0 - BELOW } else { 1.0 };
        }
        for block in &problem.blocks {
            for flows in block.chunks() {
                interrupt::check()?;
                let (places, rates) = (block.places(&flows), &below[flows.clone()]);
                block.utility.marginal_into(places.clone(), rates, &mut self.marginals[flows.clone()]);
                block.utility.elasticity_into(places, rates, &mut self.curvatures[flows]);
            }
        }
        for (curvature, (marginal, rate)) in self.curvatures.iter_mut().zip(self.marginals.iter().zip(&below)) {
            let found = *curvature * marginal / rate;
            *curvature = if found > 0.0 && found.is_finite() { found } else { f64::MIN_POSITIVE.sqrt() };
        }
        routing.gather(0..self.rates.len(), &self.prices, &mut self.path_prices);
        self.loads.fill(0.0);
        routing.scatter(0..self.rates.len(), &self.rates, &mut self.loads);
        Ok(())
    }

    /// With what changes are compared.
    pub(super) fn scales(&self, problem: &Presolved) -> Scales {
        let of_paths = |(flow, &rate)| std::iter::repeat_n(rate, problem.paths_of(flow).len());
        let rates = self.flow_rates.iter().enumerate().flat_map(of_paths).collect();
        Scales { marginals: self.marginals.clone(), rates, prices: self.price_scales(problem) }
    }

    /// With what the price of a link is compared: the least of max(q_p, U') over the paths through it.
    pub(super) fn price_scales(&self, problem: &Presolved) -> Vec<f64> {
        let mut scales = vec![[f64::INFINITY]; problem.capacities.len()];
        for flow in 0..problem.flows() {
            for path in problem.paths_of(flow) {
                problem.paths.row(path).lower([self.path_prices[path].max(self.marginals[flow])], &mut scales);
            }
        }
        scales.into_flattened()
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
        let links = problem.paths.links(path).iter().map(|&link| link as usize);
        let priced = links.filter(|&link| self.active.links[link]).map(|link| scales[link]);
        priced.fold(level, f64::max).min(marginal)
    }

    /// Newton's method. Returns whether it converged; the equations are then those of the point.
    fn refine(&mut self, problem: &Presolved, equations: &mut Equations) -> Result<bool> {
        self.update(problem, equations.routing())?;
        // By what part rates have changed since the matrix was factorized.
        let mut stale = f64::INFINITY;
        let none = vec![0.0; problem.flows()];
        let mut settled = 0;
        for _ in 0..STEPS {
            interrupt::check()?;
            if stale > STALE {
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
            let scales = self.price_scales(problem);
            let price_change =
                prices.iter().zip(&scales).fold(0.0f64, |most, (step, scale)| most.max((step / scale).abs()));
            for (price, (step, active)) in self.prices.iter_mut().zip(prices.iter().zip(&self.active.links)) {
                *price = if *active { *price + length * step } else { 0.0 };
            }
            for (rate, step) in self.rates.iter_mut().zip(rates) {
                *rate += length * step;
            }
            let before = std::mem::take(&mut self.flow_rates);
            self.update(problem, equations.routing())?;
            let stays = self.correct(problem, &before);
            if !stays {
                self.update(problem, equations.routing())?;
            }
            let slows = stale + change + if problem.is_single_path() { 0.0 } else { PROXIMAL };
            let is_exact = stays && length == 1.0 && slows * change <= EXACT;
            settled += usize::from(is_exact);
            // D leaves a part of a step of prices. Links that held flows fill keep an excess.
            if is_exact && (settled == MOST_SETTLED || self.excess_of_active(problem) <= EXACT) {
                self.no_excess = (UNSETTLED * slows * price_change).clamp(LEAST_EXCESS, WEAK);
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
    fn correct(&mut self, problem: &Presolved, rates_before: &[f64]) -> bool {
        let before = self.active.clone();
        let scales = self.price_scales(problem);
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
                let most = self.active.flows[flow];
                if rate < most * (1.0 - ROUNDING) {
                    self.active.flows[flow] = f64::INFINITY;
                } else {
                    let places = &mut self.active.paths[own.clone()];
                    places.iter_mut().filter(|place| **place == Place::Cap).for_each(|place| *place = Place::Free);
                }
                continue;
            }
            if self.active.holds(flow) {
                let (low, high) = (self.marginal_beyond(problem, flow), marginal);
                if level > high + ROUNDING * marginal || level < low - ROUNDING * marginal {
                    self.active.flows[flow] = f64::INFINITY;
                    // To the side where it goes: U' is another on either.
                    let side = if level > high { 1.0 - 2.0 * BELOW } else { 1.0 + 2.0 * BELOW };
                    self.rates[own.clone()].iter_mut().for_each(|rate| *rate *= side);
                }
            } else if rate > problem.saturations[flow] * (1.0 + ROUNDING) {
                self.active.flows[flow] = problem.saturations[flow];
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
                    Place::Free if x > problem.caps[path] * (1.0 + ROUNDING) => Place::Cap,
                    Place::Free if x < 0.0 && own.len() > 1 => Place::Zero,
                    Place::Cap if excess > least => Place::Free,
                    Place::Zero if excess < -least => Place::Free,
                    place => place,
                };
            }
        }
        self.active == before
    }

    /// U' of a held flow just above the bound; −∞ at a cap, which nothing passes.
    pub(super) fn marginal_beyond(&self, problem: &Presolved, flow: usize) -> f64 {
        let fall = jumps(problem, flow).into_iter().find(|(at, _)| *at == self.active.flows[flow]);
        fall.map_or(f64::NEG_INFINITY, |(_, fall)| self.marginals[flow] - fall)
    }

    /// Whether a flow is at a breakpoint of its utility.
    pub(super) fn is_at_jump(&self, problem: &Presolved, flow: usize) -> bool {
        let rate = self.flow_rates[flow];
        jumps(problem, flow).into_iter().any(|(at, _)| (at - rate).abs() <= WEAK * rate)
    }

    /// The rate that saturates the utility of a flow, whatever its caps.
    pub(super) fn saturation(&self, problem: &Presolved, flow: usize) -> f64 {
        let (block, mut found) = (block_of(problem, flow), [0.0]);
        let place = flow - block.flows.start;
        block.utility.saturation_into(place..place + 1, &mut found);
        found[0]
    }

    /// Whether the prices are multipliers of the rates with this active set: all to the right side of 0, and those of
    /// what is not active 0. `before` is the active set of the point itself.
    pub(super) fn is_optimal(&self, problem: &Presolved, before: &ActiveSet) -> bool {
        let scales = self.price_scales(problem);
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
                is_optimal &= marginal - level >= least && level - self.marginal_beyond(problem, flow) >= least;
            }
            for path in problem.paths_of(flow) {
                let excess = self.path_prices[path] - level;
                // What a held flow pays may be rounding of 0.
                let scale = self.excess_scale(problem, &scales, (flow, path), level);
                let least = -MULTIPLIER * scale - ROUNDING * marginal;
                is_optimal &= match self.active.paths[path] {
                    Place::Free => excess.abs() <= -least,
                    Place::Zero => excess >= least,
                    Place::Cap => -excess >= least,
                };
            }
        }
        is_optimal
    }

    /// What a flow pays per rate on the paths that it uses.
    pub(super) fn level(&self, problem: &Presolved, flow: usize) -> f64 {
        let moving = level(problem, &self.active, flow, &self.path_prices);
        moving.unwrap_or(self.marginals[flow])
    }

    /// A link and a flow with several paths, one of which pays a price there that rounding takes from its sum, or that
    /// is all by which it is dearer than a path of nearly the same price, although it is the price of another flow: by
    /// it alone the optimum would choose among paths.
    pub(super) fn lost_price(&self, problem: &Presolved) -> Option<(usize, usize)> {
        let scales = self.price_scales(problem);
        let several = (0..problem.flows()).filter(|&flow| problem.paths_of(flow).len() > 1);
        several.flat_map(|flow| problem.paths_of(flow).map(move |path| (flow, path))).find_map(|(flow, path)| {
            let (price, level) = (self.path_prices[path], self.level(problem, flow));
            let near = self.no_excess * self.excess_scale(problem, &scales, (flow, path), level);
            let rounding = match self.active.paths[path] {
                Place::Free => LOST * price,
                Place::Zero | Place::Cap if (price - level).abs() <= near => near,
                Place::Zero | Place::Cap => return None,
            };
            let is_lost = |link: usize| {
                let price = self.prices[link];
                self.active.links[link] && price > WEAK * scales[link] && price < rounding
            };
            let mut links = problem.paths.links(path).iter().map(|&link| link as usize);
            links.find(|&link| is_lost(link)).map(|link| (link, flow))
        })
    }

    /// The constraints that hold with a multiplier of 0.
    pub(super) fn weak(&mut self, problem: &Presolved) -> Vec<Weak> {
        let scales = self.price_scales(problem);
        let mut weak = Vec::new();
        for (link, scale) in scales.iter().enumerate() {
            let (capacity, price) = (problem.capacities[link], self.prices[link]);
            if self.loads[link] >= capacity * (1.0 - WEAK) && price <= WEAK * scale {
                weak.push(Weak::Link(link));
            }
        }
        for flow in 0..problem.flows() {
            let (own, marginal, rate) = (problem.paths_of(flow), self.marginals[flow], self.flow_rates[flow]);
            let level = self.level(problem, flow);
            let bound = self.bound_near(problem, flow);
            if (rate - bound).abs() <= WEAK * rate && marginal - level <= WEAK * marginal {
                weak.push(Weak::Flow { flow, bound });
            } else if self.active.holds(flow) && level - self.marginal_beyond(problem, flow) <= WEAK * marginal {
                let bound = self.active.flows[flow];
                weak.push(Weak::Above { flow, bound });
                // If it leaves, it rises.
                let (block, rate) = (block_of(problem, flow), rate * (1.0 + BELOW));
                let place = flow - block.flows.start;
                let mut elasticity = [0.0];
                block.utility.elasticity_into(place..place + 1, &[rate], &mut elasticity);
                self.curvatures[flow] = elasticity[0] * block.utility.marginal(place, rate) / rate;
            }
            for path in own.clone() {
                let (x, excess) = (self.rates[path], self.path_prices[path] - level);
                let scale = self.excess_scale(problem, &scales, (flow, path), level);
                if own.len() > 1 && x <= WEAK * rate && excess <= self.no_excess * scale {
                    weak.push(Weak::Zero { flow, path });
                } else if x >= problem.caps[path] * (1.0 - WEAK) && -excess <= WEAK * scale {
                    weak.push(Weak::Cap { flow, path });
                }
            }
        }
        weak
    }
}

/// What a flow whose rate is held pays per rate: the price of the paths that move, the cheapest where none does. `None`
/// for other flows, which pay U'.
pub(super) fn level(problem: &Presolved, active: &ActiveSet, flow: usize, path_prices: &[f64]) -> Option<f64> {
    if !active.holds(flow) {
        return None;
    }
    let own = problem.paths_of(flow);
    let (count, sum) =
        active.free_paths(problem, flow).fold((0.0, 0.0), |(count, sum), path| (count + 1.0, sum + path_prices[path]));
    Some(if count > 0.0 { sum / count } else { path_prices[own].iter().copied().fold(f64::INFINITY, f64::min) })
}

/// U' of a flow just below a rate.
fn marginal_below(problem: &Presolved, flow: usize, rate: f64) -> f64 {
    let block = block_of(problem, flow);
    block.utility.marginal(flow - block.flows.start, rate * (1.0 - BELOW))
}

fn block_of(problem: &Presolved, flow: usize) -> &NaturalBlock {
    &problem.blocks[problem.blocks.partition_point(|block| block.flows.end <= flow)]
}

/// The breakpoints of U of a flow, each with the fall of U'.
fn jumps(problem: &Presolved, flow: usize) -> Vec<(f64, f64)> {
    let block = block_of(problem, flow);
    if block.may_jump { block.utility.jumps(flow - block.flows.start) } else { Vec::new() }
}
