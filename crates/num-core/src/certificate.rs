//! How good an answer can be proven to be, whatever method it came from.
//!
//! Weak duality: for any prices p ≥ 0 and any feasible rates x̂,
//!
//! ```text
//! Σ U_f(ŷ_f) ≤ D(p) = c·p + Σ_f V_f(p),     V_f = max { U_f(Σ x) − Σ q_p x_p : 0 ≤ x_p ≤ min(cap_p, min_{l ∈ p} c_l) }
//! ```
//!
//! so D(p) − Σ U(ŷ) is at least the utility that is still missing. V_f fills the paths of a flow in order of price until
//! U' meets it; the bound on x_p by the path's smallest capacity keeps D finite when a path is free. The gap is computed
//! as c·p + Σ_f [(U_f(y_f) − U_f(ŷ_f)) − Σ q_p x_p], where y attains V_f, so that no large sums cancel; it is reported
//! relative to min(Σ ŷ U'(ŷ), c·p + Σ cap·μ), μ = (U' − q)₊ on capped paths: the first-order gain of raising every rate
//! by 100 %. That does not change with the units, with a scaling of U or with constants added to it. For log utilities
//! it is the mean loss of log rate.
//!
//! A small gap does not make every rate exact: |Δy/y| ≤ √(2 gap/(α e)) with e the flow's share of the revenue. The KKT
//! residual does: it is the largest of the overload, of every path's distance from its best response, relative in price
//! or in rate, whichever is smaller, and of every link's min(its share of the revenue, its share of idle capacity).

use std::ops::Range;

use crate::error::{Error, Result};
use crate::normalize::{self, FNorm, relative_loads};
use crate::presolve::{NaturalBlock, Presolved};
use crate::problem::Problem;
use crate::utility::Curvature;

/// The proof that comes with rates and prices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Bound on the utility that is still missing after the rates were made feasible by F-NORM, relative to the
    /// first-order gain of raising every rate by 100 %. Never below the true loss (to rounding).
    pub relative_gap: f64,
    /// How far the fullest link was over its capacity before the rates were made feasible, relative to it; 0 if none.
    pub overload: f64,
    /// Largest violation of the optimality conditions, relative.
    pub kkt_residual: f64,
}

impl Certificate {
    /// The certificate of an empty answer.
    pub(crate) const EMPTY: Self = Self { relative_gap: 0.0, overload: 0.0, kkt_residual: 0.0 };
}

/// Certifies rates and prices, in the caller's units.
///
/// Flows that nothing can pass (every path over a failed link or capped at 0) leave the objective, and prices of links
/// that no other flow uses are ignored. O(crossings).
///
/// # Errors
/// [`Error::Length`], [`Error::Rate`], [`Error::Price`] for bad input, and [`Error::Unsupported`] for max-min problems,
/// which have no objective.
pub fn certify(problem: &Problem, rates: &[f64], prices: &[f64]) -> Result<Certificate> {
    normalize::check(problem, rates)?;
    problem.check_prices(prices)?;
    if problem.curvature() == Curvature::MaxMin {
        let (method, what) = ("certify".into(), "max-min utilities, which have no objective".into());
        return Err(Error::Unsupported { method, what, instead: "use a finite alpha to get a certificate" });
    }
    let presolved = Presolved::new(problem)?;
    if presolved.flows() == 0 {
        return Ok(Certificate::EMPTY);
    }
    let (rates, prices) = (presolved.natural_rates(rates), presolved.natural_prices(prices));
    Ok(Answer::new(&presolved, &rates, &prices).certificate())
}

/// Rates made feasible, and everything that both proofs need.
pub(crate) struct Answer<'a> {
    problem: &'a Presolved,
    prices: &'a [f64],
    /// q_p of every path.
    path_prices: Vec<f64>,
    /// x̂_p of every path, ŷ_f of every flow.
    rates: Vec<f64>,
    flow_rates: Vec<f64>,
    pub(crate) overload: f64,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(problem: &'a Presolved, rates: &[f64], prices: &'a [f64]) -> Self {
        let mut rates: Vec<f64> = rates.iter().zip(&problem.caps).map(|(rate, &cap)| rate.min(cap)).collect();
        let relative = relative_loads(&problem.capacities, &problem.paths, &rates);
        FNorm::default().divide(&relative, &problem.paths, &mut rates);
        let fullest = relative.into_iter().fold(0.0, f64::max);
        let path_price = |links: &[u32]| links.iter().map(|&link| prices[link as usize]).sum();
        let path_prices = problem.paths.iter().map(path_price).collect();
        let flow_rates = problem.flow_totals(&rates);
        Self { problem, prices, path_prices, rates, flow_rates, overload: (fullest - 1.0).max(0.0) }
    }

    /// The proof for the rates and prices that were given.
    pub(crate) fn certificate(&self) -> Certificate {
        let kkt_residual = self.kkt_residual().max(self.overload);
        Certificate { relative_gap: self.relative_gap(), overload: self.overload, kkt_residual }
    }

    /// The proof for the feasible rates x̂ and the prices; their gap is that of the rates that were given.
    pub(crate) fn settled_certificate(&self, relative_gap: f64) -> Certificate {
        let problem = self.problem;
        let fullest = relative_loads(&problem.capacities, &problem.paths, &self.rates).into_iter().fold(0.0, f64::max);
        let overload = (fullest - 1.0).max(0.0);
        Certificate { relative_gap, overload, kkt_residual: self.kkt_residual().max(overload) }
    }

    /// The feasible rates x̂.
    pub(crate) fn into_rates(self) -> Vec<f64> {
        self.rates
    }

    /// (D(p) − Σ U(ŷ)) / min(Σ ŷ U'(ŷ), c·p + Σ cap·μ).
    pub(crate) fn relative_gap(&self) -> f64 {
        let problem = self.problem;
        let link_revenue: f64 = self.prices.iter().zip(&problem.capacities).map(|(price, c)| price * c).sum();
        let (mut missing, mut revenue, mut cap_revenue) = (0.0, 0.0, 0.0);
        let mut best = Best::default();
        for block in &problem.blocks {
            for flows in block.chunks() {
                let (places, now) = (block.places(&flows), &self.flow_rates[flows.clone()]);
                best.respond(self, block, flows.clone());
                let scratch = &mut best.scratch;
                block.utility.gain_into(places.clone(), now, &best.rates, scratch);
                missing += scratch.iter().zip(&best.cost).map(|(gain, cost)| gain - cost).sum::<f64>();
                block.utility.marginal_into(places, now, scratch);
                let worth = |(&rate, &marginal): (&f64, &f64)| if rate == 0.0 { 0.0 } else { rate * marginal };
                revenue += now.iter().zip(&*scratch).map(worth).sum::<f64>();
                cap_revenue += self.cap_revenue(flows, scratch);
            }
        }
        let gap = link_revenue + missing;
        let priced = link_revenue + cap_revenue;
        let scale = if priced > 0.0 { revenue.min(priced) } else { revenue };
        if gap == 0.0 { 0.0 } else { gap / scale }
    }

    /// Σ cap·(U' − q)₊ over the capped paths of some flows.
    fn cap_revenue(&self, flows: Range<usize>, marginals: &[f64]) -> f64 {
        let mut total = 0.0;
        for (flow, &marginal) in flows.zip(marginals) {
            for path in self.problem.paths_of(flow) {
                if self.problem.caps[path].is_finite() && marginal > self.path_prices[path] {
                    total += self.problem.caps[path] * (marginal - self.path_prices[path]);
                }
            }
        }
        total
    }

    /// The largest violation of the optimality conditions by x̂, which is feasible, and the prices.
    pub(crate) fn kkt_residual(&self) -> f64 {
        let problem = self.problem;
        let (mut residual, mut cap_revenue) = (0.0f64, 0.0);
        let (mut marginals, mut demands) = (Vec::new(), vec![0.0; self.rates.len()]);
        for block in &problem.blocks {
            for flows in block.chunks() {
                let places = block.places(&flows);
                marginals.resize(flows.len(), 0.0);
                block.utility.marginal_into(places, &self.flow_rates[flows.clone()], &mut marginals);
                self.demands_into(block, &flows, &mut demands);
                cap_revenue += self.cap_revenue(flows.clone(), &marginals);
                for (flow, &marginal) in flows.zip(&marginals) {
                    for path in problem.paths_of(flow) {
                        residual =
                            residual.max(self.path_residual(path, self.flow_rates[flow], marginal, demands[path]));
                    }
                }
            }
        }
        let relative = relative_loads(&problem.capacities, &problem.paths, &self.rates);
        let link_revenue = |link: usize| self.prices[link] * problem.capacities[link];
        let revenue = cap_revenue + (0..self.prices.len()).map(link_revenue).sum::<f64>();
        for (link, &load) in relative.iter().enumerate() {
            if revenue > 0.0 {
                residual = residual.max((link_revenue(link) / revenue).min((1.0 - load).max(0.0)));
            }
        }
        residual
    }

    /// How far a path is from its best response: too dear and still used, or worth more and still not at its cap.
    fn path_residual(&self, path: usize, flow_rate: f64, marginal: f64, demand: f64) -> f64 {
        let (price, rate, cap) = (self.path_prices[path], self.rates[path], self.problem.caps[path]);
        let in_price = |excess: f64| if excess.is_infinite() { 1.0 } else { excess / price.max(marginal) };
        if price > marginal {
            let in_rate = (flow_rate - demand).max(0.0) / flow_rate.max(f64::MIN_POSITIVE);
            in_price(price - marginal).min(rate / self.problem.ceilings[path]).min(in_rate)
        } else if marginal > price {
            let in_rate = (1.0 - flow_rate / demand).max(0.0);
            let below_cap = if cap.is_finite() { 1.0 - rate / cap } else { f64::INFINITY };
            in_price(marginal - price).min(below_cap).min(in_rate)
        } else {
            0.0
        }
    }

    /// (U')⁻¹(q_p) for every path of some flows, all it can use where a path is free; the paths are asked in rounds, one of
    /// every flow at a time.
    fn demands_into(&self, block: &NaturalBlock, flows: &Range<usize>, demands: &mut [f64]) {
        let starts = &self.problem.flow_paths[flows.start..=flows.end];
        let rounds = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let (mut prices, mut answers) = (vec![0.0; flows.len()], vec![0.0; flows.len()]);
        for round in 0..rounds {
            let path = |pair: &[usize]| (pair[0] + round).min(pair[1] - 1);
            for (price, pair) in prices.iter_mut().zip(starts.windows(2)) {
                *price = self.path_prices[path(pair)].max(f64::MIN_POSITIVE);
            }
            block.utility.demand_into(block.places(flows), &prices, &mut answers);
            for ((place, &answer), pair) in block.places(flows).zip(&answers).zip(starts.windows(2)) {
                let free = self.path_prices[path(pair)] == 0.0;
                demands[path(pair)] = if free { block.utility.saturation(place) } else { answer };
            }
        }
    }
}

/// The best responses of a chunk of flows: what attains V_f.
#[derive(Default)]
struct Best {
    /// y_f of every flow of the chunk, and Σ q_p x_p.
    rates: Vec<f64>,
    cost: Vec<f64>,
    scratch: Vec<f64>,
    /// Demand at the price of every path of the problem.
    demands: Vec<f64>,
}

impl Best {
    fn respond(&mut self, answer: &Answer, block: &NaturalBlock, flows: Range<usize>) {
        let problem = answer.problem;
        self.demands.resize(answer.rates.len(), 0.0);
        answer.demands_into(block, &flows, &mut self.demands);
        self.rates.clear();
        self.cost.clear();
        self.scratch.resize(flows.len(), 0.0);
        let paths = problem.flow_paths[flows.start]..problem.flow_paths[flows.end];
        if paths.len() == flows.len() {
            let inputs = self.demands[paths.clone()].iter().zip(&problem.ceilings[paths.clone()]);
            self.rates.extend(inputs.map(|(demand, ceiling)| demand.clamp(0.0, *ceiling)));
            self.cost.extend(self.rates.iter().zip(&answer.path_prices[paths]).map(|(rate, price)| rate * price));
            return;
        }
        let mut order: Vec<usize> = Vec::new();
        for flow in flows {
            order.clear();
            order.extend(problem.paths_of(flow));
            order.sort_by(|&one, &other| answer.path_prices[one].total_cmp(&answer.path_prices[other]));
            let (mut rate, mut cost) = (0.0, 0.0);
            for &path in &order {
                let filled = (self.demands[path] - rate).clamp(0.0, problem.ceilings[path]);
                rate += filled;
                cost += answer.path_prices[path] * filled;
            }
            self.rates.push(rate);
            self.cost.push(cost);
        }
    }
}
