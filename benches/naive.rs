//! The naive loop, as the paper states it: the baseline of several benchmarks.
//!
//! NED over compressed rows, flow by flow: add up the prices of the path, compute the rate and its slope, scatter both
//! to the links; then move every price. Ordinary Rust with ordinary indexing, f64, one thread.
#![allow(dead_code, reason = "every benchmark uses its part")]

use netnum_core::Problem;

/// A network and its prices, one plain array per quantity.
pub(crate) struct Naive {
    capacities: Vec<f64>,
    /// The links of flow `f` are `links[starts[f]..starts[f + 1]]`.
    starts: Vec<usize>,
    links: Vec<usize>,
    prices: Vec<f64>,
    rates: Vec<f64>,
    loads: Vec<f64>,
    slopes: Vec<f64>,
}

impl Naive {
    pub(crate) fn new(problem: &Problem, prices: Vec<f64>) -> Self {
        let (flows, links) = (problem.flows(), problem.links());
        Self {
            capacities: problem.capacities().to_vec(),
            starts: problem.paths().indptr().to_vec(),
            links: problem.paths().indices().iter().map(|&link| link as usize).collect(),
            prices,
            rates: vec![0.0; flows],
            loads: vec![0.0; links],
            slopes: vec![0.0; links],
        }
    }

    pub(crate) fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// Demands of the last iteration.
    pub(crate) fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// One iteration. `respond` gives a flow's rate at a path price, and by how much the rate falls per unit of price.
    pub(crate) fn step(&mut self, gamma: f64, respond: impl Fn(usize, f64) -> (f64, f64)) {
        self.loads.fill(0.0);
        self.slopes.fill(0.0);
        for flow in 0..self.rates.len() {
            let mut price = 0.0;
            for i in self.starts[flow]..self.starts[flow + 1] {
                price += self.prices[self.links[i]];
            }
            let (rate, slope) = respond(flow, price);
            self.rates[flow] = rate;
            for i in self.starts[flow]..self.starts[flow + 1] {
                self.loads[self.links[i]] += rate;
                self.slopes[self.links[i]] += slope;
            }
        }
        for link in 0..self.prices.len() {
            let excess = self.loads[link] - self.capacities[link];
            self.prices[link] = f64::max(0.0, self.prices[link] + gamma * excess / self.slopes[link]);
        }
    }

    /// The demands at the present prices, made feasible by F-NORM.
    pub(crate) fn feasible_rates(&mut self, respond: impl Fn(usize, f64) -> (f64, f64)) -> Vec<f64> {
        self.loads.fill(0.0);
        for flow in 0..self.rates.len() {
            let rate = respond(flow, self.path_price(flow)).0;
            self.rates[flow] = rate;
            for i in self.starts[flow]..self.starts[flow + 1] {
                self.loads[self.links[i]] += rate;
            }
        }
        (0..self.rates.len()).map(|flow| self.rates[flow] / self.fullest(flow)).collect()
    }

    /// The relative duality gap of feasible rates for U = w log x, as `netnum_core::Certificate` defines it:
    /// (c·p + Σ max [U(x) − q x] − Σ U(x̂)) / min(Σ x̂ U'(x̂), c·p).
    pub(crate) fn log_gap(&self, weights: &[f64], feasible: &[f64]) -> f64 {
        let mut revenue = 0.0;
        for link in 0..self.prices.len() {
            revenue += self.capacities[link] * self.prices[link];
        }
        let (mut gap, mut worth) = (revenue, 0.0);
        for flow in 0..feasible.len() {
            let price = self.path_price(flow);
            let best = f64::min(weights[flow] / price, self.smallest_capacity(flow));
            gap += weights[flow] * (best / feasible[flow]).ln() - price * best;
            worth += weights[flow];
        }
        gap / f64::min(worth, revenue)
    }

    fn path_price(&self, flow: usize) -> f64 {
        self.row(flow).iter().map(|&link| self.prices[link]).sum()
    }

    fn smallest_capacity(&self, flow: usize) -> f64 {
        self.row(flow).iter().map(|&link| self.capacities[link]).fold(f64::INFINITY, f64::min)
    }

    /// The largest load per capacity on a path, at least 1.
    fn fullest(&self, flow: usize) -> f64 {
        self.row(flow).iter().map(|&link| self.loads[link] / self.capacities[link]).fold(1.0, f64::max)
    }

    fn row(&self, flow: usize) -> &[usize] {
        &self.links[self.starts[flow]..self.starts[flow + 1]]
    }
}
