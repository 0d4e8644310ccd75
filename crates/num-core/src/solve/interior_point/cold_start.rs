//! The cold start: well inside all bounds, near the given prices.

use super::chunk::Chunk;
use super::given::Given;
use super::part::Part;
use super::variables::{FlowVariables, Variables};
use super::{InteriorPoint, LEAST};
use crate::error::Result;
use crate::interrupt;
use crate::paths::Numbered;
use crate::presolve::Presolved;
use crate::solve::price::{FastNed, LARGEST_SUM, LinkPrices, Serial, bounds, cut};
use crate::solve::system::System;
use crate::utility::Curvature;
use crate::work::for_each;

/// Iterations of fast NED that improve the prices at first: many where a response is one division, which makes them
/// cost a twentieth of an interior iteration each; few where flows have several paths, whose shares take more than that
/// to settle. And the estimate of their gap that will do.
const NED_STEPS: usize = 20;
const LOG_STEPS: usize = 60;
const SHARE_STEPS: usize = 5;
const ENOUGH: f64 = 1e-4;
/// Where prices and slacks begin: near to what fast NED found, with room for flows to move to other paths, or with room
/// to find the right side of every jump of U'.
const NEAR: Room = Room { raised: 1.01, least_slack: 0.01, least_price: 1e-4 };
const SHARED: Room = Room { raised: 1.01, least_slack: 0.1, least_price: 1e-2 };
const WIDE: Room = Room { raised: 1.05, least_slack: 0.1, least_price: 1e-4 };
/// The most that a rate is of its bound and a flow's of its saturation; λ of a flow with several paths, as a part of
/// its cheapest path's price.
const INSIDE: f64 = 0.9;
/// The least rate that may reach 0, as a part of its bound, and of its equal share where the flow has other paths: what
/// all these paths carry together is to leave the links room.
const LEAST_RATE: f64 = 1e-2;
const LEAST_SHARE: f64 = 0.5;

/// How far inside the bounds of links to begin.
struct Room {
    /// By what factor all prices are raised.
    raised: f64,
    /// The least slack of a link as a part of its capacity, and the least price as a part of the mean.
    least_slack: f64,
    least_price: f64,
}

impl InteriorPoint {
    /// From the prices at hand.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn start_cold(&mut self, problem: &Presolved) -> Result<()> {
        let strict = problem.blocks.iter().all(|block| block.utility.curvature() == Curvature::Strict);
        if strict {
            self.improve_prices(problem)?;
        }
        let several = problem.paths.len() > problem.flows();
        let Room { raised, least_slack, least_price } =
            match strict && self.parts.iter().all(|part| part.barriers.breakpoints.is_empty()) {
                true if several => SHARED,
                true => NEAR,
                false => WIDE,
            };
        let prices = &self.variables.prices;
        let mean = prices.iter().sum::<f64>() / prices.len().max(1) as f64;
        let least = least_price * mean.max(least_price * self.revenue_at_half_shares(problem)?).max(LEAST);
        self.variables.prices.iter_mut().for_each(|price| *price = price.max(least) * raised);
        self.each_part(problem, |part, _, prices| part.respond(problem, prices))?;
        self.add_up_loads();
        let Variables { slacks, prices, .. } = &mut self.variables;
        for ((slack, capacity), load) in slacks.iter_mut().zip(&self.capacities).zip(&self.residuals.links) {
            *slack = (capacity - *load).max(least_slack * capacity);
        }
        let products = slacks.iter().zip(&*prices).map(|(slack, price)| slack * price);
        let centre = (products.sum::<f64>() / slacks.len().max(1) as f64).max(LEAST);
        self.set_multipliers(problem, centre, INSIDE);
        Ok(())
    }

    /// Revenue and costs per unit of capacity at half the equal shares: a scale for prices that exists even where all
    /// prices are 0, because caps or saturations bind everywhere.
    fn revenue_at_half_shares(&mut self, problem: &Presolved) -> Result<f64> {
        // They are found by a pass of their own.
        problem.equal_shares();
        let of_parts = self.each_part(problem, |part, _, _| {
            part.take_half_shares(problem)?;
            Ok(part.variables.revenue())
        })?;
        Ok((of_parts.into_iter().sum::<f64>() + self.paid_costs(problem)) / problem.capacities.iter().sum::<f64>())
    }

    /// Does something for every part, given the prices.
    pub(super) fn each_part<T: Send>(
        &mut self,
        problem: &Presolved,
        work: impl Fn(&mut Part, &System, &[f64]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let (system, prices) = (&self.kkt.system, &self.variables.prices);
        for_each(&*problem.workers, &mut self.parts, |part| work(part, system, prices))
    }

    fn improve_prices(&mut self, problem: &Presolved) -> Result<()> {
        let mut links = LinkPrices::new(FastNed::new(1.0), problem.capacities.clone())?;
        let mut flows = Serial::new(problem, bounds(problem)?)?;
        self.variables.prices.iter_mut().for_each(|price| *price = cut(*price));
        links.set_prices(&self.variables.prices)?;
        links.start(&mut flows)?;
        let logs = problem.blocks.iter().all(|block| block.utility.log_weights().is_some());
        let steps = match problem.paths.len() > problem.flows() {
            true => SHARE_STEPS,
            false if logs => LOG_STEPS,
            false => NED_STEPS,
        };
        for _ in 0..steps {
            links.step(&mut flows)?;
            if links.gap_estimate() <= ENOUGH {
                break;
            }
        }
        self.variables.prices.copy_from_slice(links.prices());
        Ok(())
    }

    /// Slacks and multipliers of all bounds, centred at a μ; the prices say which of them bind, with ℓ at this part of
    /// the price of a flow's cheapest path.
    pub(super) fn set_multipliers(&mut self, problem: &Presolved, centre: f64, cheaper: f64) {
        let set = |part: &mut Part, _: &System, prices: &[f64]| {
            part.set_multipliers(problem, prices, centre, cheaper);
            Ok(())
        };
        self.each_part(problem, set).expect("nothing stops it");
    }
}

impl Part {
    /// Half the equal share for every path, at most half its saturation for every flow, and U' there.
    fn take_half_shares(&mut self, problem: &Presolved) -> Result<()> {
        let rates = &mut self.variables.rates;
        for (rate, share) in rates.values.iter_mut().zip(&problem.equal_shares()[self.paths.clone()]) {
            *rate = 0.5 * share;
        }
        if problem.bounds.saturations.is_empty() {
            return self.set_marginals(problem);
        }
        for flow in self.flows.clone() {
            let (paths, saturation) = (problem.paths_of(flow), problem.bounds.saturations[flow]);
            let total: f64 = rates[paths.clone()].iter().sum();
            if total > 0.5 * saturation {
                rates[paths].iter_mut().for_each(|rate| *rate *= 0.5 * saturation / total);
            }
        }
        self.set_marginals(problem)
    }

    /// Rates at the prices, inside all bounds, and U' there. A flow with several paths fills them in order of price.
    fn respond(&mut self, problem: &Presolved, link_prices: &[f64]) -> Result<()> {
        let Self { variables: now, barriers, forces: prices, step, .. } = self;
        let demands = &mut step.rates;
        problem.price_paths(self.paths.clone(), link_prices, &mut prices.values);
        for paths in self.flows.clone().map(|flow| problem.paths_of(flow)).filter(|paths| paths.len() > 1) {
            prices[paths].iter_mut().for_each(|price| *price *= INSIDE);
        }
        let mut order: Vec<usize> = Vec::new();
        for (block, flows) in problem.chunks_of(&self.flows) {
            let linear = block.utility.curvature() == Curvature::Linear;
            interrupt::check()?;
            let paths = problem.paths_of_all(&flows);
            problem.path_demands_into(block, &flows, &prices[paths.clone()], &mut demands[paths]);
            for flow in flows {
                order.clear();
                order.extend(problem.paths_of(flow));
                order.sort_by(|&one, &other| prices[one].total_cmp(&prices[other]));
                let (count, mut total) = (order.len() as f64, 0.0);
                for &path in &order {
                    let most = INSIDE * problem.bounds.ceilings[path].min(problem.bounds.saturations[flow] / count);
                    let share =
                        if order.len() == 1 { f64::INFINITY } else { LEAST_SHARE * problem.equal_shares()[path] };
                    let least = if barriers.lower.holds(path) { share.min(LEAST_RATE / count * most) } else { LEAST };
                    // The demand of a linear flow is 0 or ∞: no interior point.
                    let most = if linear { 0.5 * problem.equal_shares()[path].min(most) } else { most };
                    now.rates[path] = (demands[path] - total).max(if linear { f64::INFINITY } else { least }).min(most);
                    total += now.rates[path];
                }
            }
        }
        self.enter_floors(problem);
        self.set_marginals(problem)
    }

    /// y and λ = U'(y).
    pub(super) fn set_marginals(&mut self, problem: &Presolved) -> Result<()> {
        let FlowVariables { rates, flow_rates, marginals, .. } = &mut self.variables;
        for chunk in self.chunks.iter() {
            interrupt::check()?;
            let Chunk { flows, paths, .. } = chunk;
            chunk.add_up(problem, &rates[paths.clone()], &mut flow_rates[flows.clone()]);
            let (block, marginals) = (&problem.blocks[chunk.block], &mut marginals[flows.clone()]);
            block.utility.marginal_into(block.places(flows), &flow_rates[flows.clone()], marginals);
            marginals.iter_mut().for_each(|marginal| *marginal = marginal.clamp(LEAST, LARGEST_SUM));
        }
        Ok(())
    }

    fn set_multipliers(&mut self, problem: &Presolved, link_prices: &[f64], centre: f64, cheaper: f64) {
        let Self { variables: now, barriers, forces: path_prices, flows, paths, .. } = self;
        problem.price_paths(paths.clone(), link_prices, &mut path_prices.values);
        let cheapest = |flow: usize| path_prices[problem.paths_of(flow)].iter().copied().fold(f64::INFINITY, f64::min);
        let excess = |flow: usize| (cheaper * cheapest(flow) - now.marginals[flow], now.marginals[flow]);
        barriers.saturations.centre_at(&now.flow_rates, centre, excess);
        barriers.floors.centre_at(&now.flow_rates, centre, excess);
        barriers.breakpoints.centre_at(&now.flow_rates, centre);
        now.levels.values.fill(f64::INFINITY);
        let mut levels = now.marginals.values.clone();
        for bounds in barriers.on_flows() {
            bounds.add_forces(bounds.within(flows), flows.start, &mut levels);
        }
        let mut path_levels = Numbered::new(paths, 0.0);
        for (flow, level) in flows.clone().zip(levels) {
            let is_given = !problem.bounds.floors.is_empty() && self.given[flow] == Given::Total;
            let level = if is_given { cheaper * cheapest(flow) } else { level };
            path_levels[problem.paths_of(flow)].fill(level);
        }
        let excess = |path: usize| (path_prices[path] - path_levels[path], path_prices[path]);
        barriers.lower.centre_at(&now.rates, centre, excess);
        barriers.caps.centre_at(&now.rates, centre, excess);
    }
}
