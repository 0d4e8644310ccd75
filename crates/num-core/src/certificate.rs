//! How good an answer can be proven to be, whatever method it came from.
//!
//! Weak duality: for any prices p ≥ 0 and any feasible rates x̂,
//!
//! ```text
//! Σ U_f(ŷ_f) ≤ D(p) = c·p + Σ_f V_f(p),     V_f = max { U_f(Σ x) − Σ q_p x_p : 0 ≤ x_p ≤ r_p }
//! ```
//!
//! where r_p is the smallest of cap_p, min_{l ∈ p} c_l and the rate that saturates U_f;
//! so D(p) − Σ U(ŷ) is at least the utility that is still missing. V_f fills the paths of a flow in order of price until
//! U' meets it; the bound by the path's smallest capacity keeps D finite when a path is free. With y, x where V_f
//! is attained, the gap is a sum of terms that are not negative, so that rounding cannot push it below 0:
//!
//! ```text
//! D(p) − Σ U(ŷ) = Σ_l p_l (c_l − load_l(x̂)) + Σ_f [U_f(y_f) − U_f(ŷ_f) − Σ q_p (x_p − x̂_p)]
//! ```
//!
//! It is reported relative to min(Σ ŷ U'(ŷ), c·p + Σ r_p μ_p), with μ_p = (U'(y) − q_p)₊ what the
//! bound is worth: the first-order gain of raising every rate by 100 %. That does not change with the units, with a
//! scaling of U or with constants added to it. For log utilities it is the mean loss of log rate.
//!
//! A small gap does not make every rate exact: |Δy/y| ≤ √(2 gap/(α e)) with e the flow's share of the revenue, the rent
//! of caps included. The KKT residual looks at every path on its own: its distance from its best response, relative in
//! price or in rate, whichever is smaller; and on every link of it min(the link's share of the path's price, the link's
//! idle share).
//!
//! Max-min fairness has no objective and so no dual bound. Its proof is the bottleneck property, which
//! [`max_min`](crate::max_min()) states: the largest distance of a flow from having a bottleneck stands for both gap
//! and residual.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::max_min::{Witness, bottleneck_residual, max_min_with_witness};
use crate::normalize::{self, FNorm, relative_loads};
use crate::presolve::{NaturalBlock, Presolved};
use crate::problem::Problem;
use crate::utility::Curvature;

/// The proof that comes with rates and prices.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Bound on the utility that is still missing after the rates were made feasible by F-NORM, relative to the
    /// first-order gain of raising every rate by 100 %. Never below the true loss (to rounding). For max-min problems,
    /// which have no utility to lose, how far the flow that is worst off is from having a bottleneck, relative to its
    /// rate.
    pub relative_gap: f64,
    /// By how much the rates exceeded a capacity or a cap, at most, before they were made feasible; relative to it, 0 if
    /// they did not, ∞ if something went over a failed link.
    pub overload: f64,
    /// Largest violation of the optimality conditions, relative; at least the overload.
    pub kkt_residual: f64,
}

/// Certifies rates and prices, in the caller's units.
///
/// Flows that nothing can pass (every path over a failed link or capped at 0) leave the objective, and prices of links
/// that no other flow uses are ignored. O(crossings).
///
/// A max-min problem (any α is ∞) is held to the bottleneck property: once the rates are feasible, every flow must be
/// at its cap or saturation, or cross a link that is full and on which no flow has a larger fair share. The prices are
/// then ignored. Where flows have several paths a bottleneck is a sum over several links: the max-min rates are found
/// first, which costs what [`max_min`](crate::max_min()) does, and the links that hold up each flow there are what the
/// given rates are judged by. That is sound: no links, however wrong, would let wrong rates pass.
///
/// # Errors
/// [`Error::Length`], [`Error::Rate`], [`Error::Price`] for bad input; [`Error::Unsupported`] for max-min problems with
/// utilities that have no [fair share](crate::Utility::fair_share); and
/// [`Error::Utility`] when a user's utility answers with a demand that is no best response.
pub fn certify(problem: &Problem, rates: &[f64], prices: &[f64]) -> Result<Certificate> {
    normalize::check(problem, rates)?;
    problem.check_prices(prices)?;
    if problem.curvature() == Curvature::MaxMin {
        let witness = if problem.is_single_path() { Witness::default() } else { max_min_with_witness(problem)?.1 };
        return certify_max_min(problem, rates, &witness);
    }
    let presolved = Presolved::new(problem)?;
    let overload = overload(problem, rates);
    let (natural, prices) = (presolved.natural_rates(rates), presolved.natural_prices(prices));
    let answer = Answer::new(&presolved, &natural, &prices);
    answer.check_demands()?;
    let certificate = answer.certificate();
    Ok(Certificate { overload, kkt_residual: certificate.kkt_residual.max(overload), ..certificate })
}

/// The bottleneck property in place of a gap.
pub(crate) fn certify_max_min(problem: &Problem, rates: &[f64], witness: &Witness) -> Result<Certificate> {
    let feasible = normalize::normalize(problem, rates, &FNorm::default())?;
    let (residual, overload) = (bottleneck_residual(problem, &feasible, witness)?, overload(problem, rates));
    Ok(Certificate { relative_gap: residual, overload, kkt_residual: residual.max(overload) })
}

/// By how much rates exceed a capacity or a cap, at most.
fn overload(problem: &Problem, rates: &[f64]) -> f64 {
    let links = relative_loads(problem.capacities(), problem.paths(), rates).into_iter();
    let used = rates.iter().enumerate().filter(|(_, rate)| **rate > 0.0);
    let caps = used.map(|(path, rate)| rate / problem.rate_cap(path));
    (links.chain(caps).fold(0.0, f64::max) - 1.0).max(0.0)
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
    /// load/c of every link under x̂.
    relative_loads: Vec<f64>,
    /// By how much the fullest link was over its capacity before; 0 if none was.
    pub(crate) overload: f64,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(problem: &'a Presolved, rates: &[f64], prices: &'a [f64]) -> Self {
        let mut rates: Vec<f64> = cut_to_caps(rates, &problem.caps);
        let loads = |rates: &[f64]| relative_loads(&problem.capacities, &problem.paths, rates);
        let before = loads(&rates);
        let overload = most_over_one(&before);
        FNorm::default().divide(&before, &problem.paths, &mut rates);
        let relative_loads = if overload > 0.0 { loads(&rates) } else { before };
        let path_price = |links: &[u32]| links.iter().map(|&link| prices[link as usize]).sum();
        let path_prices = problem.paths.iter().map(path_price).collect();
        let flow_rates = problem.flow_totals(&rates);
        Self { problem, prices, path_prices, rates, flow_rates, relative_loads, overload }
    }

    /// The proof for the rates and prices that were given.
    pub(crate) fn certificate(&self) -> Certificate {
        let kkt_residual = self.kkt_residual().max(self.overload);
        Certificate { relative_gap: self.relative_gap(), overload: self.overload, kkt_residual }
    }

    /// The proof for the feasible rates x̂ and the prices; their gap is that of the rates that were given.
    pub(crate) fn settled_certificate(&self, relative_gap: f64) -> Certificate {
        let overload = most_over_one(&self.relative_loads);
        Certificate { relative_gap, overload, kkt_residual: self.kkt_residual().max(overload) }
    }

    /// The dual bound rests on demands being best responses. For utilities of a user's own that is not a given, so it is
    /// checked where it was used: at every demand U' must fall, through the price of every path that is between its
    /// bounds, from above the price of one that is full and to below the price of one that is empty.
    ///
    /// # Errors
    /// [`Error::Utility`] naming the first flow whose demand is none.
    pub(crate) fn check_demands(&self) -> Result<()> {
        let (problem, mut best) = (self.problem, Best::default());
        for block in problem.blocks.iter().filter(|block| block.whole) {
            best.respond(self, block, block.flows.clone());
            let first = problem.flow_paths[block.flows.start];
            let marginals_at = |rate: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
                let rates: Vec<f64> = block.flows.clone().zip(&best.rates).map(|(flow, &x)| rate(flow, x)).collect();
                let mut marginals = vec![0.0; rates.len()];
                block.utility.marginal_into(0..rates.len(), &rates, &mut marginals);
                marginals
            };
            let nothing = |flow: usize| NOTHING * problem.ceilings[problem.paths_of(flow)].iter().sum::<f64>();
            // Just below a demand however small it is: U' may fall a lot between that and what counts as nothing.
            let some = |flow: usize, x: f64| if x > 0.0 { x } else { nothing(flow) };
            let before = marginals_at(&|flow, x| some(flow, x) * (1.0 - BESIDE));
            let after = marginals_at(&|flow, x| x.max(nothing(flow)) * (1.0 + BESIDE));
            for (place, flow) in block.flows.clone().enumerate() {
                let wrong = |path: &usize| {
                    let (rate, price) = (best.path_rates[path - first], self.path_prices[*path]);
                    let too_much = rate > 0.0 && before[place] < price * (1.0 - FALLS);
                    let too_little = rate < problem.ceilings[*path] && after[place] > price * (1.0 + FALLS);
                    too_much || too_little
                };
                let found = problem.paths_of(flow).find(wrong);
                let rises = after[place] > before[place] * (1.0 + ROUNDING);
                if let Some(path) = found.or(rises.then_some(problem.flow_paths[flow])) {
                    let (unit, price_unit) = (problem.units.rate, problem.units.price());
                    let (price, demand) = (self.path_prices[path] * price_unit, best.rates[place] * unit);
                    let is = if found.is_some() { "is" } else { "rises from" };
                    let marginal = before[place] * price_unit;
                    let what = format!(
                        "its demand at price {price:e} is {demand:e}, but its marginal there {is} {marginal:e}"
                    );
                    return Err(Error::Utility { flow: problem.original_flows[flow] as usize, what });
                }
            }
        }
        Ok(())
    }

    /// The feasible rates x̂.
    pub(crate) fn into_rates(self) -> Vec<f64> {
        self.rates
    }

    /// (D(p) − Σ U(ŷ)) / min(Σ ŷ U'(ŷ), c·p + Σ r μ).
    pub(crate) fn relative_gap(&self) -> f64 {
        let problem = self.problem;
        let (mut gap, mut priced, mut revenue) = (0.0, 0.0, 0.0);
        for ((price, capacity), load) in self.prices.iter().zip(&problem.capacities).zip(&self.relative_loads) {
            priced += price * capacity;
            gap += price * capacity * (1.0 - load).max(0.0);
        }
        let mut best = Best::default();
        for block in &problem.blocks {
            for flows in block.chunks() {
                let (places, now) = (block.places(&flows), &self.flow_rates[flows.clone()]);
                let bounded = best.respond(self, block, flows.clone());
                let scratch = &mut best.scratch;
                block.utility.gain_into(places.clone(), now, &best.rates, scratch);
                let first = problem.flow_paths[flows.start];
                for (flow, gain) in flows.clone().zip(&*scratch) {
                    let change = |path: usize| best.path_rates[path - first] - self.rates[path];
                    let cost: f64 = problem.paths_of(flow).map(|path| self.path_prices[path] * change(path)).sum();
                    // Not max, which would hide an answer that is not a number.
                    gap += if gain - cost < 0.0 { 0.0 } else { gain - cost };
                }
                block.utility.marginal_into(places.clone(), now, scratch);
                let worth = |(&rate, &marginal): (&f64, &f64)| if rate == 0.0 { 0.0 } else { rate * marginal };
                revenue += now.iter().zip(&*scratch).map(worth).sum::<f64>();
                if bounded {
                    block.utility.marginal_into(places, &best.rates, scratch);
                    priced += self.worth_of_bounds(flows, scratch);
                }
            }
        }
        let scale = if priced > 0.0 { priced.min(revenue) } else { revenue };
        if gap == 0.0 { 0.0 } else { gap / scale }
    }

    /// Σ r_p (U' − q_p)₊ over the paths of some flows.
    fn worth_of_bounds(&self, flows: Range<usize>, marginals: &[f64]) -> f64 {
        let mut total = 0.0;
        for (flow, &marginal) in flows.zip(marginals) {
            for path in self.problem.paths_of(flow) {
                total += self.problem.ceilings[path] * (marginal - self.path_prices[path]).max(0.0);
            }
        }
        total
    }

    /// The largest violation of the optimality conditions by x̂, which is feasible, and the prices.
    pub(crate) fn kkt_residual(&self) -> f64 {
        let problem = self.problem;
        let mut residual = 0.0f64;
        let (mut marginals, mut above, mut demands) = (Vec::new(), Vec::new(), vec![0.0; self.rates.len()]);
        for block in &problem.blocks {
            for flows in block.chunks() {
                let (places, rates) = (block.places(&flows), &self.flow_rates[flows.clone()]);
                marginals.resize(flows.len(), 0.0);
                block.utility.marginal_into(places.clone(), rates, &mut marginals);
                above.clone_from(&marginals);
                if block.may_jump {
                    let beyond: Vec<f64> = rates.iter().map(|rate| rate * (1.0 + JUST_ABOVE)).collect();
                    block.utility.marginal_into(places.clone(), &beyond, &mut above);
                }
                problem.demands_into(block, &flows, &self.path_prices, &mut demands);
                for ((flow, place), (&marginal, &above)) in flows.zip(places).zip(marginals.iter().zip(&above)) {
                    // A power law is never worth nothing: a marginal of 0 is one that no float can hold.
                    let lost = marginal == 0.0 && block.utility.alpha(place).is_some();
                    let saturation = block.utility.saturation(place);
                    for path in problem.paths_of(flow) {
                        let held = self.rates[path] >= problem.caps[path] || self.flow_rates[flow] >= saturation;
                        let response = match lost && self.path_prices[path] == 0.0 {
                            true => {
                                if held {
                                    0.0
                                } else {
                                    1.0
                                }
                            }
                            false => self.response_residual(path, self.flow_rates[flow], marginal, demands[path]),
                        };
                        // What the path is worth: where more of it is worth less at once, that.
                        let worth = if held { marginal } else { above };
                        for violation in [response, self.slackness_residual(path, worth)] {
                            // Not max, which would hide an answer that is not a number.
                            residual = if violation <= residual { residual } else { violation };
                        }
                    }
                }
            }
        }
        residual
    }

    /// How far a path is from its best response: too dear and still used, or worth more and still not at its cap.
    fn response_residual(&self, path: usize, flow_rate: f64, marginal: f64, demand: f64) -> f64 {
        let (price, rate, cap) = (self.path_prices[path], self.rates[path], self.problem.caps[path]);
        let in_price = |excess: f64| if excess.is_infinite() { 1.0 } else { excess / price.max(marginal) };
        if price > marginal {
            let in_rate = (flow_rate - demand).max(0.0) / flow_rate.max(f64::MIN_POSITIVE);
            let used = rate / flow_rate.max(NEGLIGIBLE * self.problem.ceilings[path]);
            in_price(price - marginal).min(used).min(in_rate)
        } else if marginal > price {
            let in_rate = (1.0 - flow_rate / demand).max(0.0);
            let below_cap = if cap.is_finite() { 1.0 - rate / cap } else { f64::INFINITY };
            in_price(marginal - price).min(below_cap).min(in_rate)
        } else {
            // Equal, or not a number.
            marginal - price
        }
    }

    /// Whether a path pays for links that are not full: the largest min(share of its price, idle share).
    fn slackness_residual(&self, path: usize, marginal: f64) -> f64 {
        let whole = self.path_prices[path].max(marginal);
        let mut residual = 0.0f64;
        for &link in self.problem.paths.links(path) {
            let price = self.prices[link as usize];
            if price > 0.0 {
                residual = residual.max((price / whole).min((1.0 - self.relative_loads[link as usize]).max(0.0)));
            }
        }
        residual
    }
}

/// How far beside a demand the marginal is looked at, and how closely it must fall through the price there.
const BESIDE: f64 = 1e-6;
const FALLS: f64 = 1e-3;

/// A rise of the marginal by this part is rounding.
const ROUNDING: f64 = 1e-9;
/// What stands for a rate of 0 where a marginal is asked for, as a part of what the flow's paths can carry.
const NOTHING: f64 = 1e-12;
/// How far above a rate the marginal is looked at, to tell whether it jumps there.
const JUST_ABOVE: f64 = 1e-9;

/// A rate below this part of what its path could carry counts as none.
const NEGLIGIBLE: f64 = 1e-6;

/// Rates, at most the caps; what is not a number stays none.
fn cut_to_caps(rates: &[f64], caps: &[f64]) -> Vec<f64> {
    rates.iter().zip(caps).map(|(&rate, &cap)| if rate > cap { cap } else { rate }).collect()
}

/// max(v) − 1, at least 0.
fn most_over_one(values: &[f64]) -> f64 {
    (values.iter().copied().fold(0.0, f64::max) - 1.0).max(0.0)
}

/// The best responses of a chunk of flows: what attains V_f.
#[derive(Default)]
struct Best {
    /// y_f of every flow of the chunk, and x_p of every path.
    rates: Vec<f64>,
    path_rates: Vec<f64>,
    scratch: Vec<f64>,
    /// Demand at the price of every path of the problem.
    demands: Vec<f64>,
}

impl Best {
    /// Fills the paths of every flow in order of price. Returns whether any path is at its bound.
    fn respond(&mut self, answer: &Answer, block: &NaturalBlock, flows: Range<usize>) -> bool {
        let problem = answer.problem;
        self.demands.resize(answer.rates.len(), 0.0);
        problem.demands_into(block, &flows, &answer.path_prices, &mut self.demands);
        let paths = problem.flow_paths[flows.start]..problem.flow_paths[flows.end];
        self.scratch.resize(flows.len(), 0.0);
        self.rates.clear();
        self.path_rates.clear();
        let ceilings = &problem.ceilings[paths.clone()];
        if paths.len() == flows.len() {
            let demands = self.demands[paths].iter();
            self.path_rates.extend(demands.zip(ceilings).map(|(demand, &ceiling)| demand.clamp(0.0, ceiling)));
            self.rates.extend_from_slice(&self.path_rates);
        } else {
            self.path_rates.resize(paths.len(), 0.0);
            let mut order: Vec<usize> = Vec::new();
            for flow in flows {
                order.clear();
                order.extend(problem.paths_of(flow));
                order.sort_by(|&one, &other| answer.path_prices[one].total_cmp(&answer.path_prices[other]));
                let mut rate = 0.0;
                for &path in &order {
                    let filled = (self.demands[path] - rate).clamp(0.0, problem.ceilings[path]);
                    self.path_rates[path - paths.start] = filled;
                    rate += filled;
                }
                self.rates.push(rate);
            }
        }
        self.path_rates.iter().zip(ceilings).any(|(rate, ceiling)| rate == ceiling)
    }
}
