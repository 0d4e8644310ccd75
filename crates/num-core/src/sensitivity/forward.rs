//! J v: the change of the optimum with a change of parameters.

use std::cmp::Ordering;

use super::active_set::{ActiveSet, Constraint};
use super::changes::entry;
use super::equations::{Forces, Given, Solved};
use super::point::held_level;
use super::tied_prices::TiedPrices;
use super::tolerances::{MANY, NOISE, ROUNDING, SOLVED, STEPS, WEAK};
use super::{OutcomeChange, ParameterChange, Sensitivity, kink};
use crate::error::{Error, Result};
use crate::interrupt;

/// What holds the rate of a flow: its floor, its cap, or a saturation or breakpoint of its utility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeldBy {
    Floor,
    Cap,
    Utility,
}

/// A change of parameters, in natural units and the presolved numbering.
struct Right {
    /// Per flow: the change of U'.
    forces: Vec<f64>,
    /// Per link: what loads may rise by, dc_l − Σ x_p da_lp.
    capacities: Vec<f64>,
    /// Per path: by how much its price rises at the same prices of links, dk_p + Σ p_l da_lp.
    rises: Vec<f64>,
    /// Per path and per flow: of the bounds that hold them.
    caps: Vec<f64>,
    bounds: Vec<f64>,
    /// Σ (∂U/∂θ) dθ, Σ v dr + Σ t dd, and − Σ x (dk + Σ p da), in the caller's units.
    objective: f64,
}

impl Sensitivity {
    /// The changes of rates, prices and objective per unit of each change of parameters: the derivative in that
    /// direction, one-sided at a [`Kink`](super::Kink).
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::Setting`] for lists of another length or with numbers that are not finite;
    /// [`Error::NoSensitivity`] for a parameter that a flow's utility lacks; [`Error::NotDifferentiable`] for
    /// capacities of failed links and of links whose prices are not unique; [`Error::Stopped`].
    pub fn forward(&mut self, changes: &[ParameterChange]) -> Result<Vec<OutcomeChange>> {
        changes.iter().try_for_each(|change| change.check(&self.problem))?;
        changes.iter().map(|change| self.forward_one(change)).collect()
    }

    fn forward_one(&mut self, change: &ParameterChange) -> Result<OutcomeChange> {
        interrupt::check()?;
        self.check_floors(change)?;
        let mut right = self.right(change);
        let (mut active, mut tied) = (self.point.active.clone(), TiedPrices::new(&self.point));
        let solved = self.find_side(&mut right, &mut active, &mut tied);
        if active != self.point.active {
            self.equations.set(&self.presolved, &self.point.active, &self.point.curvatures);
        }
        let solved = solved?;
        if !tied.point(&self.point, &active).is_optimal(&self.presolved, &self.point.active)? {
            let what = format!("the side that was found is not optimal where {}", kink::describe(&self.kinks));
            return Err(Error::NotDifferentiable { what });
        }
        self.check_held(&right, &active, &solved)?;
        self.check_equal_bounds(change, &right, &solved)?;
        let mut outcome = self.outcome(change, &right, &solved);
        for &link in &tied.jumps {
            outcome.prices[self.presolved.caller.links[link] as usize] = f64::NAN;
        }
        Ok(outcome)
    }

    /// Makes constraints active and inactive until none is violated after the change; returns the solution with these.
    fn find_side(&mut self, right: &mut Right, active: &mut ActiveSet, tied: &mut TiedPrices) -> Result<Solved> {
        let mut weak = self.weak.clone();
        let mut solved = self.solve_for(right, active)?;
        for number in 0.. {
            let mut breaks = if solved.drift.is_empty() {
                self.violated(right, active, &weak, &solved)
            } else {
                let leaves = tied.follow(self, &right.capacities, active, &solved);
                right.objective += tied.gain;
                let Some(leaves) = leaves else {
                    return Err(Error::NotDifferentiable { what: self.describe_tie(&solved.drifting()) });
                };
                weak = tied.point(&self.point, active).weak(&self.presolved)?;
                if !weak.contains(&leaves) {
                    weak.push(leaves);
                }
                vec![leaves]
            };
            if breaks.is_empty() {
                break;
            }
            if number >= MANY + STEPS * (1 + weak.len()) {
                let what = format!("no side of it was found where {}", kink::describe(&self.kinks));
                return Err(Error::NotDifferentiable { what });
            }
            breaks.truncate(if number < MANY { breaks.len() } else { 1 });
            for weak in breaks {
                let flip = !active.is_active(weak);
                active.set(weak, flip);
            }
            interrupt::check()?;
            self.equations.set(&self.presolved, active, &self.point.curvatures);
            solved = self.solve_for(right, active)?;
        }
        Ok(solved)
    }

    /// Refuses a change after which a held flow with several paths is not where it is held, as none of its paths moves.
    fn check_held(&self, right: &Right, active: &ActiveSet, solved: &Solved) -> Result<()> {
        let most = solved.rates.iter().fold(0.0f64, |most, rate| most.max(rate.abs()));
        for flow in (0..right.bounds.len()).filter(|&flow| active.holds(flow)) {
            let own = self.presolved.paths_of(flow);
            let total: f64 = solved.rates[own.clone()].iter().sum();
            let terms: f64 = solved.rates[own.clone()].iter().map(|rate| rate.abs()).sum();
            let bound = right.bounds[flow];
            let is_fixed = active.free_paths(&self.presolved, flow).next().is_none();
            if own.len() > 1 && is_fixed && (total - bound).abs() > NOISE * (terms + bound.abs()) + ROUNDING * most {
                let flow = self.presolved.caller.flows[flow];
                let what = format!("flow {flow} is at its cap and all its paths at theirs or at 0");
                return Err(Error::NotDifferentiable { what });
            }
        }
        Ok(())
    }

    /// Refuses a floor for a flow that gets nothing, which would have to rise at once.
    fn check_floors(&self, change: &ParameterChange) -> Result<()> {
        let floored = |&flow: &usize| entry(&change.flow_floors, self.presolved.caller.flows[flow] as usize) != 0.0;
        match (0..self.presolved.flows()).filter(floored).find(|&flow| self.point.flow_rates[flow] <= 0.0) {
            Some(flow) => {
                let what = format!("flow {} has rate 0 and no floor", self.presolved.caller.flows[flow]);
                Err(Error::NotDifferentiable { what })
            }
            None => Ok(()),
        }
    }

    /// Refuses a change after which another of a flow's equal bounds would hold it.
    fn check_equal_bounds(&self, change: &ParameterChange, right: &Right, solved: &Solved) -> Result<()> {
        let (presolved, point) = (&self.presolved, &self.point);
        for flow in 0..presolved.flows() {
            if !kink::has_equal_bounds(&self.problem, presolved, point, flow) {
                continue;
            }
            let (own, caller) = (presolved.paths_of(flow), presolved.caller.flows[flow] as usize);
            let total = self.equations.flow_rate(presolved, solved, flow);
            let terms: f64 = solved.rates[own.clone()].iter().map(|rate| rate.abs()).sum();
            let cap = match own.len() {
                1 => right.caps[own.start],
                _ => entry(&change.flow_caps, caller) / presolved.units.rate,
            };
            let is_saturated = point.is_saturated(presolved, flow);
            let least = SOLVED * (terms + cap.abs());
            let is_bent = is_saturated || point.is_at_jump(presolved, flow);
            let (at, rate) = (presolved.bounds.floors[flow], point.flow_rates[flow]);
            let is_refused = match (at - rate).abs() <= WEAK * rate {
                true => {
                    let floor = entry(&change.flow_floors, caller) / presolved.units.rate;
                    let (level, marginal) = (point.level(presolved, flow), point.marginals[flow]);
                    let is_fixed = kink::is_fixed_by_cap(&self.problem, presolved, flow);
                    let is_weak = (level - marginal).abs() <= WEAK * marginal.max(level);
                    is_bent && (floor.abs() > least || total.abs() > least)
                        || is_fixed && (cap < floor - least || is_weak && cap > floor + least)
                }
                false => total > cap + least || is_saturated && cap > least || is_bent && total > least,
            };
            if is_refused {
                let what = kink::describe(&[super::Kink::TwiceBoundFlow(caller)]);
                return Err(Error::NotDifferentiable { what });
            }
        }
        Ok(())
    }

    pub(super) fn describe_tie(&self, links: &[u32]) -> String {
        let all: Vec<u32> = links.iter().map(|&link| self.presolved.caller.links[link as usize]).collect();
        let names: Vec<String> = all.iter().take(4).map(u32::to_string).collect();
        let more = if all.len() > 4 { format!(" and {} more", all.len() - 4) } else { String::new() };
        let names = names.join(", ");
        match all.len() {
            1 => format!("the price of link {names} is not unique: it is full by flows at caps or floors"),
            _ => format!(
                "the prices of links {names}{more} are not unique: they are full by the same flows, or by flows at \
                 caps or floors"
            ),
        }
    }

    fn right(&self, change: &ParameterChange) -> Right {
        let (problem, presolved, point) = (&self.problem, &self.presolved, &self.point);
        let (unit, price_unit) = (presolved.units.rate, presolved.units.price());
        let links = presolved.caller.links.iter().enumerate();
        let of_link = |(place, &link): (usize, &u32)| {
            entry(&change.capacities, link as usize) / (unit * presolved.caller.link_unit(place))
        };
        let capacities = links.map(of_link).collect();
        let mut right = Right {
            forces: vec![0.0; point.flow_rates.len()],
            capacities,
            rises: vec![0.0; point.rates.len()],
            caps: vec![0.0; point.rates.len()],
            bounds: vec![0.0; point.flow_rates.len()],
            objective: 0.0,
        };
        for flow in 0..presolved.flows() {
            let caller = presolved.caller.flows[flow] as usize;
            let mut log_marginal = 0.0;
            for &name in &self.parameters {
                let by = entry(change.of(name), caller);
                if by != 0.0 {
                    let (utility, place, rate) = self.utility(flow);
                    log_marginal += utility.log_marginal_slope(place, name, rate).unwrap_or(0.0) * by;
                    right.objective += utility.value_slope(place, name, rate).unwrap_or(0.0) * by;
                }
            }
            let own = presolved.paths_of(flow);
            right.forces[flow] = point.marginals[flow] * log_marginal;
            let flow_cap = entry(&change.flow_caps, caller) / unit;
            let level = point.level(presolved, flow);
            for path in own.clone() {
                let caller_path = presolved.caller.paths[path] as usize;
                let own_cap = entry(&change.rate_caps, caller_path) / unit;
                right.caps[path] = if own.len() > 1 {
                    own_cap
                } else {
                    match kink::smaller_cap(problem.rate_cap(caller_path), problem.flow_cap(caller)) {
                        Ordering::Less => own_cap,
                        Ordering::Greater => flow_cap,
                        Ordering::Equal => own_cap.min(flow_cap),
                    }
                };
                if point.active.is_at_cap(path) {
                    right.objective += (level - point.path_prices[path]) * price_unit * right.caps[path] * unit;
                }
                right.rises[path] = entry(&change.path_costs, caller_path) / price_unit;
                if !change.coefficients.is_empty() {
                    let by = &change.coefficients[problem.paths().indptr()[caller_path]..];
                    for ((link, _), by) in presolved.paths.row(path).entries().zip(by) {
                        let (link, by) = (link as usize, by / presolved.caller.link_unit(link as usize));
                        right.rises[path] += point.prices[link] * by;
                        right.capacities[link] -= point.rates[path] * by;
                    }
                }
                right.objective -= right.rises[path] * price_unit * point.rates[path] * unit;
            }
            let of_bound = |by: HeldBy| match by {
                HeldBy::Floor => entry(&change.flow_floors, caller) / unit,
                HeldBy::Cap if own.len() == 1 => right.caps[own.start],
                HeldBy::Cap => flow_cap,
                HeldBy::Utility => 0.0,
            };
            if point.active.holds(flow) {
                right.bounds[flow] = of_bound(self.held_by(flow, point.active.flows[flow]));
                right.objective += (point.marginals[flow] - level) * price_unit * right.bounds[flow] * unit;
            }
        }
        for weak in &self.weak {
            let caller = |flow: usize| presolved.caller.flows[flow] as usize;
            match *weak {
                Constraint::Flow { flow, bound } if self.held_by(flow, bound) == HeldBy::Cap => {
                    right.bounds[flow] = entry(&change.flow_caps, caller(flow)) / unit;
                }
                Constraint::Above { flow, bound } if self.held_by(flow, bound) == HeldBy::Floor => {
                    right.bounds[flow] = entry(&change.flow_floors, caller(flow)) / unit;
                }
                _ => {}
            }
        }
        right
    }

    /// What a bound of the rate of a flow is. Where floor and cap are one, the price says which of them holds it.
    pub(super) fn held_by(&self, flow: usize, bound: f64) -> HeldBy {
        let (presolved, point) = (&self.presolved, &self.point);
        let is_floor = bound == presolved.bounds.floors[flow];
        let is_fixed = is_floor && kink::is_fixed_by_cap(&self.problem, presolved, flow);
        match () {
            () if is_fixed && point.level(presolved, flow) < point.marginals[flow] => HeldBy::Cap,
            () if is_floor => HeldBy::Floor,
            () if bound.is_finite() && presolved.bounds.flow_cap(flow) == Some(bound) => HeldBy::Cap,
            () => HeldBy::Utility,
        }
    }

    fn solve_for(&mut self, right: &Right, active: &ActiveSet) -> Result<Solved> {
        let presolved = &self.presolved;
        let mut start = vec![0.0; right.caps.len()];
        for flow in 0..presolved.flows() {
            let own = presolved.paths_of(flow);
            for path in own.clone().filter(|&path| active.is_at_cap(path)) {
                start[path] = right.caps[path];
            }
            if active.holds(flow) {
                let moving: Vec<usize> = active.free_paths(presolved, flow).collect();
                let lacking = right.bounds[flow] - start[own].iter().sum::<f64>();
                moving.iter().for_each(|&path| start[path] = lacking / moving.len() as f64);
            }
        }
        let of_paths: Vec<f64> = right.rises.iter().map(|rise| -rise).collect();
        let forces = Forces { flows: &right.forces, paths: &of_paths };
        let given = Given { forces, targets: &right.capacities };
        self.equations.solve(presolved, &self.scales, given, start)
    }

    /// The weakly active constraints that this change would break on the side that was tried.
    fn violated(&self, right: &Right, active: &ActiveSet, weak: &[Constraint], solved: &Solved) -> Vec<Constraint> {
        if weak.is_empty() {
            return Vec::new();
        }
        let (presolved, point, pass) = (&self.presolved, &self.point, self.presolved.pass());
        let (mut loads, mut prices) = (vec![0.0; presolved.capacities.len()], vec![0.0; solved.rates.len()]);
        pass.scatter(&solved.rates, &mut loads);
        pass.gather(&solved.prices, &mut prices);
        prices.iter_mut().zip(&right.rises).for_each(|(price, rise)| *price += rise);
        let flow_rate = |flow: usize| self.equations.flow_rate(presolved, solved, flow);
        let marginal = |flow: usize| right.forces[flow] - point.curvatures[flow] * flow_rate(flow);
        // The change of what a flow pays per rate: U' where no path that moves has a price.
        let level = |flow: usize| {
            let any_free = active.free_paths(presolved, flow).next().is_some();
            let held = if any_free { held_level(presolved, active, flow, &prices) } else { None };
            held.unwrap_or_else(|| marginal(flow))
        };
        // Rounding is relative: what is 0 has digits of the largest change of any other quantity.
        let mut most = 0.0f64;
        let scales = &self.scales.prices;
        for (link, scale) in scales.iter().enumerate() {
            let change = right.capacities[link].abs() / presolved.capacities[link];
            most = most.max(change).max(solved.prices[link].abs() / scale);
        }
        for flow in 0..presolved.flows() {
            let (rate, force) = (point.flow_rates[flow], right.forces[flow].abs());
            for path in presolved.paths_of(flow) {
                let change = solved.rates[path].abs().max(right.caps[path].abs()).max(right.bounds[flow].abs());
                most = most.max(change / rate).max(right.rises[path].abs() / point.marginals[flow]);
            }
            most = most.max(force / point.marginals[flow]);
        }
        let least = |scale: f64| SOLVED * most * scale;
        let in_flow = |flow: usize| least(point.flow_rates[flow]);
        let in_price = |flow: usize| least(point.marginals[flow]);
        let in_excess = |flow: usize, path: usize| {
            least(point.excess_scale(presolved, scales, (flow, path), point.level(presolved, flow)))
        };
        let breaks = |weak: &Constraint| match (*weak, active.is_active(*weak)) {
            (Constraint::Link(link), true) => solved.prices[link] < -least(scales[link]),
            (Constraint::Link(link), false) => loads[link] - right.capacities[link] > least(presolved.capacities[link]),
            (Constraint::Zero { flow, path }, true) => prices[path] - level(flow) < -in_excess(flow, path),
            (Constraint::Zero { flow, path }, false) => solved.rates[path] < -in_flow(flow),
            (Constraint::Cap { flow, path }, true) => level(flow) - prices[path] < -in_excess(flow, path),
            (Constraint::Cap { flow, path }, false) => solved.rates[path] > right.caps[path] + in_flow(flow),
            (Constraint::Flow { flow, .. }, true) => marginal(flow) - level(flow) < -in_price(flow),
            (Constraint::Flow { flow, .. }, false) => flow_rate(flow) > right.bounds[flow] + in_flow(flow),
            (Constraint::Above { flow, .. }, true) => level(flow) - marginal(flow) < -in_price(flow),
            (Constraint::Above { flow, .. }, false) => flow_rate(flow) < right.bounds[flow] - in_flow(flow),
        };
        weak.iter().filter(|weak| breaks(weak)).copied().collect()
    }

    fn outcome(&self, change: &ParameterChange, right: &Right, solved: &Solved) -> OutcomeChange {
        let presolved = &self.presolved;
        let rates = presolved.caller_rates(&solved.rates);
        let flow_rate = |flow: usize| self.equations.flow_rate(presolved, solved, flow);
        let flow_rates: Vec<f64> = (0..presolved.flows()).map(flow_rate).collect();
        let flow_rates = presolved.caller_flow_rates(&flow_rates);
        let mut prices = vec![0.0; self.problem.links()];
        for (place, (&link, price)) in presolved.caller.links.iter().zip(&solved.prices).enumerate() {
            prices[link as usize] = price * presolved.units.price() / presolved.caller.link_unit(place);
        }
        let mut objective = right.objective;
        if !change.capacities.is_empty() {
            objective += self.prices().iter().zip(&change.capacities).map(|(price, by)| price * by).sum::<f64>();
        }
        OutcomeChange { rates, flow_rates, prices, objective }
    }
}
