//! J v: the change of the optimum with a change of parameters.

use super::active_set::{ActiveSet, Place, Weak};
use super::changes::entry;
use super::equations::Solved;
use super::{OutcomeChange, ParameterChange, Sensitivity, kink};
use crate::error::{Error, Result};
use crate::interrupt;

/// Active sets that are tried with all violated constraints changed at once; afterwards one at a time.
const AT_ONCE: usize = 10;
/// Tries of one at a time, and as many per constraint.
const TRIES: usize = 50;
/// A violation of the one-sided conditions below this, relative, is rounding.
const ROUNDING: f64 = 1e-9;

/// A change of parameters, in natural units and the presolved numbering.
struct Right {
    /// Per path: the change of its flow's U'.
    forces: Vec<f64>,
    /// Per link.
    capacities: Vec<f64>,
    /// Per path and per flow: of the bounds that hold them.
    caps: Vec<f64>,
    bounds: Vec<f64>,
    /// Σ (∂U/∂θ) dθ and Σ v dr + Σ t dd, in the caller's units.
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
        let right = self.right(change);
        let mut active = self.point.active.clone();
        let mut solved = self.solve_for(&right, &active);
        let tries = AT_ONCE + TRIES * (1 + self.weak.len());
        for number in 0..tries {
            let mut violated = self.violated(&right, &active, &solved);
            if violated.is_empty() {
                break;
            }
            if number + 1 == tries {
                let what = format!("no side of it was found where {}", kink::describe(&self.kinks));
                return Err(Error::NotDifferentiable { what });
            }
            violated.truncate(if number < AT_ONCE { violated.len() } else { 1 });
            for weak in violated {
                let flip = !active.is_active(weak);
                active.set(&self.presolved, weak, flip);
            }
            interrupt::check()?;
            self.equations.set(&self.presolved, &active, &self.point.curvatures);
            solved = self.solve_for(&right, &active);
        }
        if active != self.point.active {
            self.equations.set(&self.presolved, &self.point.active, &self.point.curvatures);
        }
        if !solved.drift.is_empty() {
            return Err(self.tie(&solved.drifting()));
        }
        Ok(self.outcome(change, &right, &solved))
    }

    pub(super) fn tie(&self, links: &[u32]) -> Error {
        let all: Vec<u32> = links.iter().map(|&link| self.presolved.links[link as usize]).collect();
        let names: Vec<String> = all.iter().take(4).map(u32::to_string).collect();
        let more = if all.len() > 4 { format!(" and {} more", all.len() - 4) } else { String::new() };
        let what = format!(
            "the prices of links {}{more} are not unique: they are full by the same flows, or by flows at caps",
            names.join(", ")
        );
        Error::NotDifferentiable { what }
    }

    fn right(&self, change: &ParameterChange) -> Right {
        let (problem, presolved, point) = (&self.problem, &self.presolved, &self.point);
        let (unit, price_unit) = (presolved.units.rate, presolved.units.price());
        let capacities = presolved.links.iter().map(|&link| entry(&change.capacities, link as usize) / unit).collect();
        let mut right = Right {
            forces: vec![0.0; point.rates.len()],
            capacities,
            caps: vec![0.0; point.rates.len()],
            bounds: vec![0.0; point.flow_rates.len()],
            objective: 0.0,
        };
        for flow in 0..presolved.flows() {
            let caller = presolved.original_flows[flow] as usize;
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
            right.forces[own.clone()].fill(point.marginals[flow] * log_marginal);
            let flow_cap = entry(&change.flow_caps, caller) / unit;
            let level = point.level(presolved, flow);
            if self.is_held_by_cap(flow) {
                right.bounds[flow] = flow_cap;
                right.objective += (point.marginals[flow] - level) * price_unit * flow_cap * unit;
            }
            for path in own.clone() {
                let caller_path = presolved.original_paths[path] as usize;
                let own_cap = entry(&change.rate_caps, caller_path) / unit;
                right.caps[path] = if own.len() > 1 {
                    own_cap
                } else {
                    let caps = (problem.rate_cap(caller_path), problem.flow_cap(caller));
                    match caps.0.partial_cmp(&caps.1) {
                        Some(std::cmp::Ordering::Less) => own_cap,
                        Some(std::cmp::Ordering::Greater) => flow_cap,
                        _ => own_cap.min(flow_cap),
                    }
                };
                if point.active.is_at_cap(path) {
                    right.objective += (level - point.path_prices[path]) * price_unit * right.caps[path] * unit;
                }
            }
        }
        right
    }

    /// Whether the rate of a flow with several paths is at its cap, and not at a saturation or breakpoint of its
    /// utility.
    pub(super) fn is_held_by_cap(&self, flow: usize) -> bool {
        let caps = &self.presolved.flow_caps;
        let found = caps.binary_search_by_key(&flow, |&(flow, _)| flow);
        self.point.active.flows[flow].is_finite()
            && found.is_ok_and(|place| caps[place].1 == self.point.active.flows[flow])
    }

    fn solve_for(&mut self, right: &Right, active: &ActiveSet) -> Solved {
        let presolved = &self.presolved;
        let mut start = vec![0.0; right.forces.len()];
        for flow in 0..presolved.flows() {
            let own = presolved.paths_of(flow);
            for path in own.clone().filter(|&path| active.is_at_cap(path)) {
                start[path] = right.caps[path];
            }
            if active.holds(flow) && own.len() > 1 {
                let moving: Vec<usize> = own.clone().filter(|&path| active.paths[path] == Place::Free).collect();
                let lacking = right.bounds[flow] - start[own].iter().sum::<f64>();
                moving.iter().for_each(|&path| start[path] = lacking / moving.len() as f64);
            }
        }
        self.equations.solve(presolved, &right.forces, &right.capacities, start)
    }

    /// The weakly active constraints that this change would break on the side that was tried.
    fn violated(&self, right: &Right, active: &ActiveSet, solved: &Solved) -> Vec<Weak> {
        if self.weak.is_empty() {
            return Vec::new();
        }
        let (presolved, point) = (&self.presolved, &self.point);
        let most = |values: &[f64]| values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let rates_most =
            most(&solved.rates).max(most(&right.capacities)).max(most(&right.caps)).max(most(&right.bounds));
        let prices_most = most(&solved.prices).max(most(&right.forces));
        let (in_rates, in_prices) = (ROUNDING * rates_most, ROUNDING * prices_most);
        let flow_of = |path: usize| {
            (0..presolved.flows()).collect::<Vec<_>>().partition_point(|&f| presolved.paths_of(f).end <= path)
        };
        let price =
            |path: usize| -> f64 { presolved.paths.links(path).iter().map(|&link| solved.prices[link as usize]).sum() };
        let total = |flow: usize| -> f64 { solved.rates[presolved.paths_of(flow)].iter().sum() };
        let marginal =
            |flow: usize| right.forces[presolved.paths_of(flow).start] - point.curvatures[flow] * total(flow);
        // The change of what a flow pays per rate, as `Point::level`.
        let level = |flow: usize| {
            let own = presolved.paths_of(flow);
            let moving = own.clone().filter(|&path| active.paths[path] == Place::Free);
            match (active.holds(flow), moving.clone().count()) {
                (false, _) | (true, 0) => marginal(flow),
                (true, count) => moving.map(price).sum::<f64>() / count as f64,
            }
        };
        let breaks = |weak: &Weak| match (*weak, active.is_active(*weak)) {
            (Weak::Link(link), true) => solved.prices[link] < -in_prices,
            (Weak::Link(link), false) => {
                let crosses = |path: &usize| presolved.paths.links(*path).contains(&(link as u32));
                let load: f64 = (0..solved.rates.len()).filter(crosses).map(|path| solved.rates[path]).sum();
                load > right.capacities[link] + in_rates
            }
            (Weak::Zero(path), true) => price(path) - level(flow_of(path)) < -in_prices,
            (Weak::Zero(path), false) => solved.rates[path] < -in_rates,
            (Weak::Cap(path), true) => level(flow_of(path)) - price(path) < -in_prices,
            (Weak::Cap(path), false) => solved.rates[path] > right.caps[path] + in_rates,
            (Weak::Flow(flow), true) => marginal(flow) - level(flow) < -in_prices,
            (Weak::Flow(flow), false) => total(flow) > right.bounds[flow] + in_rates,
        };
        self.weak.iter().filter(|weak| breaks(weak)).copied().collect()
    }

    fn outcome(&self, change: &ParameterChange, right: &Right, solved: &Solved) -> OutcomeChange {
        let presolved = &self.presolved;
        let rates = presolved.caller_rates(&solved.rates);
        let mut flow_rates = vec![0.0; self.problem.flows()];
        for (path, &flow) in self.problem.group().iter().enumerate() {
            flow_rates[flow as usize] += rates[path];
        }
        let mut prices = vec![0.0; self.problem.links()];
        for (&link, price) in presolved.links.iter().zip(&solved.prices) {
            prices[link as usize] = price * presolved.units.price();
        }
        let mut objective = right.objective;
        if !change.capacities.is_empty() {
            objective += self.prices().iter().zip(&change.capacities).map(|(price, by)| price * by).sum::<f64>();
        }
        OutcomeChange { rates, flow_rates, prices, objective }
    }
}
