//! Jᵀ w: the derivative of a function of the optimum in every parameter.

use super::changes::entry;
use super::equations::{Forces, Given};
use super::forward::HeldBy;
use super::{AtKink, OutcomeChange, ParameterChange, Sensitivity, kink};
use crate::error::{Error, Result};
use crate::interrupt;

/// A gradient that has two sides.
fn take_a_side(what: &str) -> Error {
    Error::NotDifferentiable { what: format!("{what}; at_kink takes a side, hold or release") }
}

/// How the objective changes with what holds the rates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueBy {
    /// By the multipliers of what holds them, where these are unique: the derivative of the objective in any direction.
    Multipliers,
    /// By U' and the rates on the side that is asked for.
    Rates,
}

impl Sensitivity {
    /// The derivative in every parameter of functions of rates, prices and objective, each given by its own derivatives
    /// in those. Lists of caps, floors and parameters that the problem does not have stay empty.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::Setting`] for lists of another length or with numbers that are not finite;
    /// [`Error::NotDifferentiable`] at a [`Kink`](super::Kink), unless `at_kink` names a side, or the objective alone
    /// is asked for and all multipliers are unique, so that it is differentiable there; [`Error::Stopped`].
    ///
    /// Where they are not unique, the derivative of the objective to a side is that of its rates times U'.
    pub fn reverse(&mut self, outcomes: &[OutcomeChange], at_kink: AtKink) -> Result<Vec<ParameterChange>> {
        outcomes.iter().try_for_each(|outcome| outcome.check(&self.problem))?;
        let all = outcomes.iter().all(OutcomeChange::is_of_objective);
        let mut values = ValueBy::Multipliers;
        if !self.kinks.is_empty()
            && outcomes.iter().any(|outcome| outcome.objective != 0.0)
            && !self.has_unique_multipliers(at_kink == AtKink::Refuse)?
        {
            values = ValueBy::Rates;
        }
        if at_kink == AtKink::Refuse && !self.kinks.is_empty() && !(all && values == ValueBy::Multipliers) {
            let what = if self.tied.is_empty() { kink::describe(&self.kinks) } else { self.describe_tie(&self.tied) };
            return Err(take_a_side(&what));
        }
        let before = self.point.active.clone();
        if at_kink != AtKink::Refuse && !self.weak.is_empty() {
            for &weak in &self.weak {
                // The rate of a held flow has a path that follows its bound.
                let holds = at_kink == AtKink::Hold && !self.point.active.leaves_no_path(&self.presolved, weak);
                self.point.active.set(weak, holds);
            }
            self.equations.set(&self.presolved, &self.point.active, &self.point.curvatures);
        }
        let found = outcomes.iter().map(|outcome| self.reverse_one(outcome, at_kink, values)).collect();
        if self.point.active != before {
            self.point.active = before;
            self.equations.set(&self.presolved, &self.point.active, &self.point.curvatures);
        }
        found
    }

    /// Whether the constraints that hold are independent, weakly active ones with the others, and those that `opens`
    /// names as well: failed links and caps of 0.
    fn has_unique_multipliers(&mut self, opens: bool) -> Result<bool> {
        let others = kink::of(&self.problem, &self.presolved, &self.point, &[], &self.tied);
        if others.iter().any(|kink| opens || !kink.is_closed()) {
            return Ok(false);
        }
        let mut all = self.point.active.clone();
        self.weak.iter().for_each(|&weak| all.set(weak, true));
        self.equations.set(&self.presolved, &all, &self.point.curvatures);
        let tied = self.equations.tied(&self.presolved, &self.scales);
        self.equations.set(&self.presolved, &self.point.active, &self.point.curvatures);
        match tied {
            Err(Error::NoSensitivity { .. }) => Ok(false),
            tied => Ok(tied?.is_empty()),
        }
    }

    fn reverse_one(&mut self, outcome: &OutcomeChange, at_kink: AtKink, values: ValueBy) -> Result<ParameterChange> {
        interrupt::check()?;
        let (unit, price_unit) = (self.presolved.units.rate, self.presolved.units.price());
        let (problem, presolved, point) = (&self.problem, &self.presolved, &self.point);
        // In natural units: of rates times their unit, of prices times theirs.
        let of = |values: &[f64], numbers: &[u32], unit: f64| -> Vec<f64> {
            numbers.iter().map(|&number| entry(values, number as usize) * unit).collect()
        };
        let mut flow_forces = of(&outcome.flow_rates, &presolved.caller.flows, unit);
        let mut path_forces = of(&outcome.rates, &presolved.caller.paths, unit);
        let mut targets = of(&outcome.prices, &presolved.caller.links, price_unit);
        targets.iter_mut().zip(&presolved.caller.link_units).for_each(|(target, unit)| *target /= unit);
        // The objective by multipliers, each 0 where it is by rates.
        let by_multipliers = match values {
            ValueBy::Multipliers => outcome.objective,
            ValueBy::Rates => {
                let scale = outcome.objective * price_unit * unit;
                flow_forces.iter_mut().zip(&point.marginals).for_each(|(force, marginal)| *force += scale * marginal);
                let costs = presolved.costs.of(0..path_forces.len());
                path_forces.iter_mut().zip(costs).for_each(|(force, cost)| *force -= scale * cost);
                0.0
            }
        };
        let forces = Forces { flows: &flow_forces, paths: &path_forces };
        let given = Given { forces, targets: &targets };
        let solved = self.equations.solve(presolved, &self.scales, given, vec![0.0; path_forces.len()])?;
        if at_kink == AtKink::Refuse && !solved.drift.is_empty() {
            return Err(take_a_side(&self.describe_tie(&solved.drifting())));
        }
        let mut found = ParameterChange {
            capacities: vec![0.0; problem.links()],
            rate_caps: vec![0.0; if problem.has_rate_caps() { problem.paths().len() } else { 0 }],
            flow_caps: vec![0.0; if problem.has_flow_caps() { problem.flows() } else { 0 }],
            flow_floors: vec![0.0; if problem.has_flow_floors() { problem.flows() } else { 0 }],
            path_costs: vec![0.0; problem.paths().len()],
            coefficients: vec![0.0; problem.paths().indices().len()],
            ..ParameterChange::default()
        };
        for (place, &link) in presolved.caller.links.iter().enumerate() {
            let price = if by_multipliers == 0.0 { 0.0 } else { point.prices[place] * price_unit };
            let of_link = solved.prices[place] / unit + by_multipliers * price;
            found.capacities[link as usize] = of_link / presolved.caller.link_unit(place);
        }
        let names = &self.parameters;
        for &name in names {
            *found.of_mut(name) = vec![0.0; problem.flows()];
        }
        let price = |path: usize| presolved.paths.row(path).sum(&solved.prices);
        for (flow, flow_force) in flow_forces.iter().enumerate() {
            let (caller, own) = (presolved.caller.flows[flow] as usize, presolved.paths_of(flow));
            let free = point.active.free_paths(presolved, flow);
            let force = |path: usize| flow_force + path_forces[path];
            let is_held = point.active.holds(flow);
            let moved = if is_held { 0.0 } else { self.equations.flow_rate(presolved, &solved, flow) };
            let (utility, place, rate) = self.utility(flow);
            for &name in names {
                let slope = utility.log_marginal_slope(place, name, rate).unwrap_or(0.0);
                let of_value = match outcome.objective == 0.0 {
                    true => 0.0,
                    false => outcome.objective * utility.value_slope(place, name, rate).unwrap_or(0.0),
                };
                found.of_mut(name)[caller] = point.marginals[flow] * moved * slope + of_value;
            }
            // The multiplier of what holds the flow, in these equations; what its curvature resists elsewhere.
            let mut resisted = point.curvatures[flow] * moved;
            if is_held {
                let (count, sum) =
                    free.fold((0, 0.0), |(count, sum), path| (count + 1, sum + force(path) - price(path)));
                resisted = if count > 0 { sum / f64::from(count) } else { 0.0 };
                let multiplier = (point.marginals[flow] - point.level(presolved, flow)) * price_unit;
                let slope = resisted / unit + by_multipliers * multiplier;
                match self.held_by(flow, point.active.flows[flow]) {
                    _ if count == 0 => {}
                    HeldBy::Floor => found.flow_floors[caller] = slope,
                    HeldBy::Cap if own.len() > 1 || kink::own_cap_is_larger(problem, presolved, flow, own.start) => {
                        found.flow_caps[caller] = slope;
                    }
                    HeldBy::Cap => found.rate_caps[presolved.caller.paths[own.start] as usize] = slope,
                    HeldBy::Utility => {}
                }
            }
            for path in own.clone().filter(|&path| point.active.is_at_cap(path)) {
                let caller_path = presolved.caller.paths[path] as usize;
                let multiplier = (point.level(presolved, flow) - point.path_prices[path]) * price_unit;
                let slope = (force(path) - price(path) - resisted) / unit + by_multipliers * multiplier;
                match kink::own_cap_is_larger(problem, presolved, flow, path) {
                    true => found.flow_caps[caller] = slope,
                    false => found.rate_caps[caller_path] = slope,
                }
            }
            for path in own {
                let caller_path = presolved.caller.paths[path] as usize;
                let (moved, rate) = (solved.rates[path] / price_unit, point.rates[path] * unit);
                found.path_costs[caller_path] = -moved - outcome.objective * rate;
                let slopes = &mut found.coefficients[problem.paths().indptr()[caller_path]..];
                for ((link, _), slope) in presolved.paths.row(path).entries().zip(slopes) {
                    let (link, price) = (link as usize, point.prices[link as usize] * price_unit);
                    let slope_here = price * (moved + by_multipliers * rate) + solved.prices[link] * rate / unit;
                    *slope -= slope_here / presolved.caller.link_unit(link);
                }
            }
        }
        Ok(found)
    }
}
