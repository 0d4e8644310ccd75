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

use std::iter::repeat_n;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::max_min::{Witness, bottleneck_residual, max_min_with_witness};
use crate::normalize::{self, FNorm, relative, relative_loads};
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
    let settled = answer.settled();
    settled.check_demands()?;
    let kkt_residual = settled.kkt_residual().max(answer.overload).max(overload);
    Ok(Certificate { relative_gap: answer.relative_gap(), overload, kkt_residual })
}

/// The bottleneck property in place of a gap.
pub(crate) fn certify_max_min(problem: &Problem, rates: &[f64], witness: &Witness) -> Result<Certificate> {
    let feasible = normalize::normalize(problem, rates, &FNorm::default())?;
    let (residual, overload) = (bottleneck_residual(problem, &feasible, witness)?, overload(problem, rates));
    Ok(Certificate { relative_gap: residual, overload, kkt_residual: residual.max(overload) })
}

/// By how much rates exceed a capacity or a cap, at most.
fn overload(problem: &Problem, rates: &[f64]) -> f64 {
    let links = relative_loads(problem.capacities(), problem.paths(), rates.iter().copied()).into_iter();
    let used = rates.iter().enumerate().filter(|(_, rate)| **rate > 0.0);
    let caps = used.map(|(path, rate)| rate / problem.rate_cap(path));
    (links.chain(caps).fold(0.0, f64::max) - 1.0).max(0.0)
}

/// Rates and prices to be judged.
pub(crate) struct Answer<'a> {
    problem: &'a Presolved,
    /// Of all paths, as they were given.
    rates: &'a [f64],
    prices: &'a [f64],
    /// load/c of every link under the rates, cut to their caps.
    relative_loads: Vec<f64>,
    /// By how much the fullest link is over its capacity; 0 if none is.
    pub(crate) overload: f64,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(problem: &'a Presolved, rates: &'a [f64], prices: &'a [f64]) -> Self {
        let cut = rates.iter().zip(&problem.caps).map(|(&rate, &cap)| cut(rate, cap));
        let relative_loads = relative_loads(&problem.capacities, &problem.paths, cut);
        let overload = most_over_one(&relative_loads);
        Self { problem, rates, prices, relative_loads, overload }
    }

    /// The proof for the rates and prices that were given.
    pub(crate) fn certificate(&self) -> Certificate {
        let kkt_residual = self.settled().kkt_residual().max(self.overload);
        Certificate { relative_gap: self.relative_gap(), overload: self.overload, kkt_residual }
    }

    /// The feasible rates x̂, and everything about them that is worth keeping.
    pub(crate) fn settled(&self) -> Settled<'a> {
        let Self { problem, prices, .. } = *self;
        let mut path_prices = vec![0.0; self.rates.len()];
        let mut rates = path_prices.clone();
        self.settle(0..self.rates.len(), &self.quoted(), &mut path_prices, &mut rates);
        let relative_loads = match self.overload > 0.0 {
            true => relative_loads(&problem.capacities, &problem.paths, rates.iter().copied()),
            false => self.relative_loads.clone(),
        };
        let flow_rates = problem.flow_totals(&rates);
        Settled { problem, prices, path_prices, rates, flow_rates, relative_loads }
    }

    /// [price, load/c] of every link, side by side: a path asks for both.
    fn quoted(&self) -> Vec<[f64; 2]> {
        self.prices.iter().zip(&self.relative_loads).map(|(&price, &load)| [price, load]).collect()
    }

    /// q_p and x̂_p of some paths.
    fn settle(&self, paths: Range<usize>, links: &[[f64; 2]], path_prices: &mut [f64], rates: &mut [f64]) {
        for ((path, path_price), rate) in paths.zip(path_prices).zip(rates) {
            let (mut sum, mut fullest) = (0.0, 0.0);
            for &link in self.problem.paths.links(path) {
                let [price, load] = links[link as usize];
                sum += price;
                fullest = if load > fullest { load } else { fullest };
            }
            *path_price = sum;
            *rate = FNorm::default().divided(cut(self.rates[path], self.problem.caps[path]), fullest);
        }
    }

    /// (D(p) − Σ U(ŷ)) / min(Σ ŷ U'(ŷ), c·p + Σ r μ). One pass over the paths, a chunk at a time.
    pub(crate) fn relative_gap(&self) -> f64 {
        let problem = self.problem;
        let (mut gap, mut priced, mut revenue) = (0.0, 0.0, 0.0);
        let (mut best, links) = (Best::default(), self.quoted());
        let (mut path_prices, mut rates) = (Vec::new(), Vec::new());
        let (mut flow_rates, mut costs) = (Vec::new(), Vec::new());
        let mut loads = vec![0.0; links.len()];
        for block in &problem.blocks {
            for flows in block.chunks() {
                let paths = problem.paths_of_all(&flows);
                path_prices.resize(paths.len(), 0.0);
                rates.resize(paths.len(), 0.0);
                self.settle(paths.clone(), &links, &mut path_prices, &mut rates);
                if self.overload > 0.0 {
                    for (path, &rate) in paths.clone().zip(&rates) {
                        for &link in problem.paths.links(path) {
                            loads[link as usize] += rate;
                        }
                    }
                }
                flow_rates.clear();
                costs.clear();
                let starts = &problem.flow_paths[flows.start..=flows.end];
                let single = paths.len() == flows.len();
                if single {
                    flow_rates.extend_from_slice(&rates);
                } else {
                    let own = starts.windows(2).map(|pair| pair[0] - paths.start..pair[1] - paths.start);
                    flow_rates.extend(own.map(|own| rates[own].iter().sum::<f64>()));
                }

                let places = block.places(&flows);
                let bounded = best.respond(problem, block, flows.clone(), &path_prices);
                let scratch = &mut best.scratch;
                block.utility.gain_into(places.clone(), &flow_rates, &best.rates, scratch);
                let cost = best
                    .path_rates
                    .iter()
                    .zip(&rates)
                    .zip(&path_prices)
                    .map(|((best, now), price)| price * (best - now));
                if single {
                    costs.extend(cost);
                } else {
                    costs.resize(flows.len(), 0.0);
                    let owners =
                        starts.windows(2).enumerate().flat_map(|(flow, pair)| repeat_n(flow, pair[1] - pair[0]));
                    owners.zip(cost).for_each(|(flow, cost)| costs[flow] += cost);
                }
                for (gain, cost) in scratch.iter().zip(&costs) {
                    // Not max, which would hide an answer that is not a number.
                    gap += if gain - cost < 0.0 { 0.0 } else { gain - cost };
                }
                block.utility.marginal_into(places.clone(), &flow_rates, scratch);
                let worth = |(&rate, &marginal): (&f64, &f64)| if rate == 0.0 { 0.0 } else { rate * marginal };
                revenue += flow_rates.iter().zip(&*scratch).map(worth).sum::<f64>();
                if bounded {
                    block.utility.marginal_into(places, &best.rates, scratch);
                    priced += worth_of_bounds(problem, flows, &path_prices, scratch);
                }
            }
        }
        let loads =
            if self.overload > 0.0 { relative(loads, &problem.capacities) } else { self.relative_loads.clone() };
        for ((price, capacity), load) in self.prices.iter().zip(&problem.capacities).zip(loads) {
            priced += price * capacity;
            gap += price * capacity * (1.0 - load).max(0.0);
        }
        let scale = if priced > 0.0 { priced.min(revenue) } else { revenue };
        if gap == 0.0 { 0.0 } else { gap / scale }
    }
}

/// Σ r_p (U' − q_p)₊ over the paths of some flows.
fn worth_of_bounds(problem: &Presolved, flows: Range<usize>, path_prices: &[f64], marginals: &[f64]) -> f64 {
    let first = problem.flow_paths[flows.start];
    let mut total = 0.0;
    for (flow, &marginal) in flows.zip(marginals) {
        for path in problem.paths_of(flow) {
            total += problem.ceilings[path] * (marginal - path_prices[path - first]).max(0.0);
        }
    }
    total
}

/// Rates made feasible by F-NORM, and what goes with them.
pub(crate) struct Settled<'a> {
    problem: &'a Presolved,
    prices: &'a [f64],
    /// q_p of every path.
    path_prices: Vec<f64>,
    /// x̂_p of every path, ŷ_f of every flow.
    pub(crate) rates: Vec<f64>,
    pub(crate) flow_rates: Vec<f64>,
    /// load/c of every link under x̂.
    pub(crate) relative_loads: Vec<f64>,
}

impl Settled<'_> {
    /// The proof for the feasible rates x̂ and the prices; their gap is that of the rates that were given.
    pub(crate) fn certificate(&self, relative_gap: f64) -> Certificate {
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
            let first = problem.flow_paths[block.flows.start];
            best.respond(problem, block, block.flows.clone(), &self.path_prices[first..]);
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

    /// The largest violation of the optimality conditions by x̂, which is feasible, and the prices.
    pub(crate) fn kkt_residual(&self) -> f64 {
        let problem = self.problem;
        let mut residual = 0.0f64;
        let (mut marginals, mut above, mut demands) = (Vec::new(), Vec::new(), Vec::new());
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
                let paths = problem.paths_of_all(&flows);
                demands.resize(paths.len(), 0.0);
                problem.path_demands_into(block, &flows, &self.path_prices[paths.clone()], &mut demands);
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
                            false => self.response_residual(
                                path,
                                self.flow_rates[flow],
                                marginal,
                                demands[path - paths.start],
                            ),
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

/// A rate, at most its cap; what is not a number stays none.
fn cut(rate: f64, cap: f64) -> f64 {
    if rate > cap { cap } else { rate }
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
}

impl Best {
    /// Fills the paths of every flow in order of price, given for those paths. Returns whether any path is at its bound.
    fn respond(&mut self, problem: &Presolved, block: &NaturalBlock, flows: Range<usize>, path_prices: &[f64]) -> bool {
        let paths = problem.paths_of_all(&flows);
        let path_prices = &path_prices[..paths.len()];
        self.scratch.resize(flows.len(), 0.0);
        self.path_rates.resize(paths.len(), 0.0);
        problem.path_demands_into(block, &flows, path_prices, &mut self.path_rates);
        let ceilings = &problem.ceilings[paths.clone()];
        self.rates.clear();
        if paths.len() == flows.len() {
            for (rate, &ceiling) in self.path_rates.iter_mut().zip(ceilings) {
                *rate = rate.clamp(0.0, ceiling);
            }
            self.rates.extend_from_slice(&self.path_rates);
        } else {
            let mut order: Vec<usize> = Vec::new();
            for flow in flows {
                order.clear();
                order.extend(problem.paths_of(flow).map(|path| path - paths.start));
                order.sort_by(|&one, &other| path_prices[one].total_cmp(&path_prices[other]));
                let mut rate = 0.0;
                for &path in &order {
                    let filled = (self.path_rates[path] - rate).clamp(0.0, ceilings[path]);
                    self.path_rates[path] = filled;
                    rate += filled;
                }
                self.rates.push(rate);
            }
        }
        self.path_rates.iter().zip(ceilings).any(|(rate, ceiling)| rate == ceiling)
    }
}
