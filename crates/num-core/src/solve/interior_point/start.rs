//! Where the interior point begins: well inside all bounds, near the prices that it is given.

use super::{InteriorPoint, LEAST, MOST, Scratch, sum_paths};
use crate::presolve::Presolved;
use crate::solve::price::{FastNed, PriceMethod};
use crate::solve::{Method, State};
use crate::utility::Curvature;

/// Iterations of fast NED that improve the prices at first.
const NED_STEPS: usize = 40;
/// The least price, as a part of the mean; and by how much all are raised.
const LEAST_PRICE: f64 = 1e-4;
const RAISED: f64 = 1.05;
/// A flow with several paths starts with a λ of this part of its cheapest path's price.
const CHEAPER: f64 = 0.9;
/// The most that a rate is of its bound, and a flow's of its saturation.
const INSIDE: f64 = 0.9;
/// The least slack of a link, as a part of its capacity.
const LEAST_SLACK: f64 = 0.1;

impl InteriorPoint {
    /// From prices.
    pub(super) fn start_from(&mut self, problem: &Presolved, prices: &[f64]) {
        self.prices.copy_from_slice(prices);
        let strict = problem.blocks.iter().all(|block| block.utility.curvature() == Curvature::Strict);
        if (strict || std::env::var("IPL").is_ok()) && self.is_single_path() {
            self.improve_prices(problem);
        }
        let mean = self.prices.iter().sum::<f64>() / self.prices.len().max(1) as f64;
        let least = LEAST_PRICE * mean.max(LEAST_PRICE * self.revenue_at_half_shares(problem)).max(LEAST);
        self.prices.iter_mut().for_each(|price| *price = price.max(least) * RAISED);
        self.respond(problem);
        let loads = &mut self.link_residuals;
        loads.fill(0.0);
        self.incidence.scatter(&problem.paths, &self.rates, loads);
        for ((slack, capacity), load) in self.slacks.iter_mut().zip(&problem.capacities).zip(loads) {
            *slack = (capacity - *load).max(LEAST_SLACK * capacity);
        }
        self.set_multipliers(problem, true);
    }

    /// From half the equal share of every link.
    pub(super) fn start_evenly(&mut self, problem: &Presolved) {
        self.take_half_shares(problem);
        let loads = &mut self.link_residuals;
        loads.fill(0.0);
        self.incidence.scatter(&problem.paths, &self.rates, loads);
        for ((slack, capacity), load) in self.slacks.iter_mut().zip(&problem.capacities).zip(loads) {
            *slack = capacity - *load;
        }
        self.prices.fill(0.0);
        for (flow, &marginal) in self.marginals.iter().enumerate() {
            for path in problem.paths_of(flow) {
                let links = problem.paths.links(path);
                let part = marginal * self.rates[path] / links.len() as f64;
                for &link in links {
                    self.prices[link as usize] += part / problem.capacities[link as usize];
                }
            }
        }
        let mean = self.prices.iter().sum::<f64>() / self.prices.len().max(1) as f64;
        self.prices.iter_mut().for_each(|price| *price = price.max(1e-3 * mean).max(LEAST));
        self.set_multipliers(problem, false);
    }

    /// Half the equal share for every path, at most half its saturation for every flow, and U' there.
    fn take_half_shares(&mut self, problem: &Presolved) {
        for (rate, share) in self.rates.iter_mut().zip(&problem.equal_shares) {
            *rate = 0.5 * share;
        }
        for (flow, &saturation) in self.saturations(problem).iter().enumerate() {
            let paths = problem.paths_of(flow);
            let total: f64 = self.rates[paths.clone()].iter().sum();
            if total > 0.5 * saturation {
                self.rates[paths].iter_mut().for_each(|rate| *rate *= 0.5 * saturation / total);
            }
        }
        self.set_marginals(problem);
    }

    /// Revenue per unit of capacity at half the equal shares: a scale for prices that is there even where nothing has a
    /// price, because caps or saturation bind everywhere.
    fn revenue_at_half_shares(&mut self, problem: &Presolved) -> f64 {
        self.take_half_shares(problem);
        let revenue: f64 = self.flow_rates.iter().zip(&self.marginals).map(|(rate, marginal)| rate * marginal).sum();
        revenue / problem.capacities.iter().sum::<f64>()
    }

    fn improve_prices(&mut self, problem: &Presolved) {
        let mut ned = PriceMethod::new(FastNed::new(1.0), problem);
        let mut state = State { prices: std::mem::take(&mut self.prices), rates: std::mem::take(&mut self.rates) };
        ned.start(problem, &mut state);
        for _ in 0..NED_STEPS {
            ned.step(problem, &mut state);
        }
        (self.prices, self.rates) = (state.prices, state.rates);
    }

    /// Rates at the prices, inside all bounds, and U' there. A flow with several paths fills those that are cheap.
    fn respond(&mut self, problem: &Presolved) {
        let path_prices = &mut self.scratch.paths;
        self.incidence.gather(&problem.paths, &self.prices, path_prices);
        let saturations = self.saturations(problem);
        let path_prices = &self.scratch.paths;
        for block in &problem.blocks {
            for flows in block.chunks() {
                let cheapest = |flow: usize| {
                    let prices = &path_prices[problem.paths_of(flow)];
                    let least = prices.iter().copied().fold(f64::INFINITY, f64::min);
                    if prices.len() > 1 { CHEAPER * least } else { least }
                };
                let prices: Vec<f64> = flows.clone().map(cheapest).collect();
                let mut demands = vec![0.0; flows.len()];
                block.utility.demand_into(block.places(&flows), &prices, &mut demands);
                for ((flow, demand), price) in flows.zip(demands).zip(prices) {
                    let paths = problem.paths_of(flow);
                    let room: f64 = problem.ceilings[paths.clone()].iter().sum();
                    let least = if self.floors.holds(paths.start) { 1e-2 * room } else { LEAST };
                    let total = demand.min(INSIDE * room).min(INSIDE * saturations[flow]).max(least);
                    let weight = |path: usize| (path_prices[path] - price).max(1e-3 * path_prices[path]).recip();
                    let weights: f64 = if paths.len() > 1 { paths.clone().map(weight).sum() } else { 1.0 };
                    for path in paths.clone() {
                        let part = if paths.len() > 1 { weight(path) / weights } else { 1.0 };
                        self.rates[path] = (total * part).min(INSIDE * problem.ceilings[path]);
                    }
                }
            }
        }
        self.set_marginals(problem);
    }

    fn saturations(&self, problem: &Presolved) -> Vec<f64> {
        let of = |block: &crate::presolve::NaturalBlock| {
            (0..block.flows.len()).map(|place| block.utility.saturation(place)).collect::<Vec<_>>()
        };
        problem.blocks.iter().flat_map(of).collect()
    }

    /// y and λ = U'(y).
    fn set_marginals(&mut self, problem: &Presolved) {
        sum_paths(problem, &self.rates, &mut self.flow_rates);
        self.marginals = problem.marginals(&self.flow_rates);
        let marginals = &mut self.marginals;
        self.kinks.passed(&self.flow_rates, |flow, fall| marginals[flow] += fall);
        self.marginals.iter_mut().for_each(|marginal| *marginal = marginal.clamp(LEAST, MOST));
    }

    /// Slacks and multipliers of all bounds, centred; where prices are worth following, they say which bounds bind.
    fn set_multipliers(&mut self, problem: &Presolved, priced: bool) {
        let products = self.slacks.iter().zip(&self.prices).map(|(slack, price)| slack * price);
        let centre = (products.sum::<f64>() / self.slacks.len().max(1) as f64).max(LEAST);
        let Scratch { paths: path_prices, .. } = &mut self.scratch;
        self.incidence.gather(&problem.paths, &self.prices, path_prices);
        let path_prices = &self.scratch.paths;
        let cheapest = |flow: usize| path_prices[problem.paths_of(flow)].iter().copied().fold(f64::INFINITY, f64::min);
        let marginals = &self.marginals;
        let over_saturation = |flow: usize| (CHEAPER * cheapest(flow) - marginals[flow], marginals[flow]);
        self.tops.begin(&self.flow_rates, centre, priced.then_some(&over_saturation));
        self.kinks.begin(&self.flow_rates, centre);
        let mut worth = vec![0.0; self.rates.len()];
        for (flow, &marginal) in marginals.iter().enumerate() {
            worth[problem.paths_of(flow)].fill(marginal);
        }
        let mut push = |flow: usize, force| worth[problem.paths_of(flow)].iter_mut().for_each(|worth| *worth += force);
        self.tops.forces(&mut push);
        self.kinks.forces(&mut push);
        let too_dear = |path: usize| (path_prices[path] - worth[path], path_prices[path]);
        self.floors.begin(&self.rates, centre, priced.then_some(&too_dear));
        self.caps.begin(&self.rates, centre, priced.then_some(&too_dear));
    }
}
