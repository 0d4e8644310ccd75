//! The warm start: the prices and rates of the solution of a similar problem, each pair of a slack and a multiplier
//! moved away from 0 until their product is μ.
//!
//! ```text
//! μ = ε Σ y λ / pairs      s_l ≥ μ/p_l      x_p ≥ μ/(q_p − ℓ)      cap − y ≥ μ/(λ − ℓ)
//! ```
//!
//! At the end of a solve these products are some 10⁻⁹ of the revenue, and one of each pair is nearly 0. Steps from
//! there are short where the change of the problem exchanges which of a pair is 0. With a μ of about the change they
//! are long, and unchanged pairs return in a few steps. Rates are first set to the demands at the old prices. What idle
//! paths of a flow get its others lose: where α is large and y larger by a part, U' is far smaller, and the multipliers
//! of all its paths would be far too large.
//!
//! ε is the error Σ p_l |c_l − load_l| of these rates, relative to the revenue. After 1 % of the demands of a wide-area
//! network have changed, a warm start takes about half the steps of a cold start (6 for 12 with α = 1, 7 for 17 with
//! linear utilities: `benches/at_size.py changed`). Beyond a largest ε (all demands drawn anew, say), or overload
//! Σ max(load_l − c_l, 0)/Σ load_l, the start is cold.

use super::part::Part;
use super::variables::{FlowVariables, Variables};
use super::{InteriorPoint, LEAST};
use crate::error::Result;
use crate::interrupt;
use crate::paths::Numbered;
use crate::presolve::Presolved;
use crate::utility::Curvature;

/// The least ε, and the largest ε and overload: beyond them a warm start takes as many steps as a cold one.
const LEAST_CENTRE: f64 = 1e-3;
const FARTHEST: f64 = 0.01;
/// The most that a slack, of a link or of a cap, and a rate that may become 0 are at first, as parts of their bounds.
const MOST_SLACK: f64 = 0.1;
const MOST_IDLE: f64 = 1e-3;
/// The most that such rates of a flow are together, as a part of its rate: it may be far smaller than its links.
const MOST_IDLE_OF_FLOW: f64 = 0.2;
/// The least that a cap leaves, as a part of it.
const LEAST_ROOM: f64 = 1e-6;

impl InteriorPoint {
    /// From the prices and rates at hand.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn start_warm(&mut self, problem: &Presolved) -> Result<()> {
        let prices = &self.variables.prices;
        let mean = prices.iter().sum::<f64>() / prices.len().max(1) as f64;
        if mean.is_nan() || mean <= 0.0 {
            // No link was full: the prices say nothing about the new problem.
            return self.start_cold(problem);
        }
        let of_parts = self.each_part(problem, |part, _, prices| {
            problem.price_paths(part.paths.clone(), prices, &mut part.forces.values);
            part.follow_demands(problem)?;
            part.set_marginals(problem)?;
            Ok(part.revenue_at_prices(problem))
        })?;
        let revenue: f64 = of_parts.into_iter().sum();
        self.add_up_loads();
        let links = self.variables.prices.iter().zip(self.capacities.iter().zip(&self.residuals.links));
        let wrong: f64 = links.map(|(price, (capacity, load))| price * (capacity - load).abs()).sum();
        // Links that were free have no price that says how much too full they are.
        let loads = self.residuals.links.iter().zip(&self.capacities);
        let overload: f64 = loads.map(|(load, capacity)| (load - capacity).max(0.0)).sum();
        if wrong > FARTHEST * revenue || overload > FARTHEST * self.residuals.links.iter().sum::<f64>() {
            return self.start_cold(problem);
        }
        let part = (wrong / revenue).max(LEAST_CENTRE);
        let centre = (part * revenue / self.pairs).max(LEAST);
        self.each_part(problem, |part, _, _| {
            part.leave_bounds(problem, centre);
            part.enter_floors(problem);
            part.set_marginals(problem)
        })?;
        self.add_up_loads();
        let Variables { slacks, prices, .. } = &mut self.variables;
        let links = slacks.iter_mut().zip(prices).zip(self.capacities.iter().zip(&self.residuals.links));
        for ((slack, price), (capacity, load)) in links {
            let far = (centre / price.max(LEAST)).min(MOST_SLACK * capacity);
            *slack = (capacity - *load).max(far);
            *price = price.max(centre / *slack).min(price.max(mean.max(LEAST)));
        }
        self.set_multipliers(problem, centre, 1.0);
        Ok(())
    }

    /// The load of every link, where its residual will be.
    pub(super) fn add_up_loads(&mut self) {
        let Self { parts, kkt, residuals, .. } = self;
        residuals.links.fill(0.0);
        let routing = &kkt.system.routing;
        kkt.system.pass().add_with(&mut residuals.links, parts.iter(), |part, loads| {
            routing.scatter(part.paths.clone(), &part.variables.rates.values, loads);
        });
    }
}

impl Part {
    /// Takes each flow to what it demands at its cheapest path's price, over the paths that it has used.
    fn follow_demands(&mut self, problem: &Presolved) -> Result<()> {
        let (rates, prices) = (&mut self.variables.rates, &self.forces);
        let mut demands = Numbered::new(&self.paths, 0.0);
        for (block, flows) in problem.chunks_of(&self.flows) {
            let linear = block.utility.curvature() == Curvature::Linear;
            interrupt::check()?;
            let paths = problem.paths_of_all(&flows);
            if !linear {
                problem.path_demands_into(block, &flows, &prices[paths.clone()], &mut demands[paths]);
            }
            for flow in flows {
                let own = problem.paths_of(flow);
                let total: f64 = rates[own.clone()].iter().sum();
                let demand = match linear {
                    true => total.min(problem.bounds.saturations[flow]).max(problem.bounds.floors[flow]),
                    // That of the cheapest path is the largest.
                    false => demands[own.clone()].iter().copied().fold(0.0, f64::max),
                };
                if total > 0.0 && demand > 0.0 && demand.is_finite() {
                    rates[own.clone()].iter_mut().for_each(|rate| *rate *= demand / total);
                } else if total == 0.0 && demand > 0.0 {
                    rates[own.clone()].copy_from_slice(&problem.equal_shares()[own.clone()]);
                }
                for path in own {
                    rates[path] = rates[path].min(problem.bounds.caps[path]);
                }
            }
        }
        Ok(())
    }

    /// Σ y λ, or what flows with floors pay where that is more, at the path prices at hand.
    fn revenue_at_prices(&self, problem: &Presolved) -> f64 {
        if problem.bounds.floors.is_empty() {
            return self.variables.revenue();
        }
        let of_flow = |flow: usize| {
            let own = problem.paths_of(flow);
            let paid =
                self.variables.rates[own.clone()].iter().zip(&self.forces[own]).map(|(rate, price)| rate * price);
            paid.sum::<f64>().max(self.variables.flow_rates[flow] * self.variables.marginals[flow])
        };
        self.flows.clone().map(of_flow).sum()
    }

    /// Moves rates into their bounds: from 0, from caps of paths and from caps of flows.
    fn leave_bounds(&mut self, problem: &Presolved, centre: f64) {
        let FlowVariables { rates, marginals, .. } = &mut self.variables;
        for (flow, &marginal) in self.flows.clone().zip(&marginals.values) {
            let own = problem.paths_of(flow);
            let (prices, saturation) = (&self.forces[own.clone()], problem.bounds.saturations[flow]);
            let count = own.len() as f64;
            let level = prices.iter().copied().fold(marginal, f64::min);
            let demand: f64 = rates[own.clone()].iter().sum();
            // A starved flow begins with what pays μ.
            let widest = problem.bounds.ceilings[own.clone()].iter().copied().fold(0.0, f64::max);
            let starved = (centre / level.max(LEAST)).min(MOST_IDLE * widest);
            let of_flow = (MOST_IDLE_OF_FLOW * demand).max(starved);
            let mut total = 0.0;
            for (path, price) in own.clone().zip(prices) {
                let most = problem.bounds.ceilings[path];
                let idle = (centre / (price - level).max(LEAST)).min((MOST_IDLE * most).min(of_flow) / count);
                let least = if self.barriers.lower.holds(path) { idle } else { LEAST };
                let cap = problem.bounds.caps[path].min(if count == 1.0 { saturation } else { f64::INFINITY });
                let room = room(cap, centre, marginal - price);
                rates[path] = rates[path].max(least).min(cap - room);
                total += rates[path];
            }
            let most = saturation - room(saturation, centre, marginal - level);
            let most = most.min(demand.max(starved));
            if count > 1.0 && total > most {
                rates[own].iter_mut().for_each(|rate| *rate *= most / total);
            }
        }
    }
}

/// What to leave of a bound whose multiplier is about this.
fn room(bound: f64, centre: f64, multiplier: f64) -> f64 {
    if bound == f64::INFINITY {
        0.0
    } else {
        (centre / multiplier.max(LEAST)).clamp(LEAST_ROOM * bound, MOST_SLACK * bound)
    }
}
