//! How good an answer can be proven to be, whatever method it came from.
//!
//! # The gap
//!
//! Weak duality: for any prices p ≥ 0 and any feasible rates x̂,
//!
//! ```text
//! Σ U_f(ŷ_f) ≤ D(p) = c·p + Σ_f V_f(p),     V_f = max { U_f(Σ x) − Σ q_p x_p : 0 ≤ x_p ≤ r_p, Σ x ≤ r_f }
//! ```
//!
//! where r_f is the flow's cap or the rate that saturates U_f, if that is smaller, and r_p the smallest of r_f, cap_p and
//! min_{l ∈ p} c_l; so D(p) − Σ U(ŷ) is at least the utility that is still missing. V_f fills the paths of a flow in order
//! of price until U' meets it or the flow is at r_f; the bound by the path's smallest capacity keeps D finite when a path
//! is free. With y, x where V_f is attained, the missing utility is a sum over flows of terms that are not negative, so that
//! rounding cannot push it below 0:
//!
//! ```text
//! D(p) − Σ U(ŷ) = Σ_f Δ_f,    Δ_f = U_f(y_f) − U_f(ŷ_f) − Σ_p q_p (x_p − x̂_p) + Σ_p Σ_{l ∈ p} x̂_p p_l (c_l/load_l − 1)
//! ```
//!
//! The last term is what the links idle by, at their prices, each path with its part of the load (every path through
//! a link without load with an equal part). It is reported relative to what raising rates by 100 % would gain. A flow at a
//! cap or a saturation gains nothing by that, however large U' is just below: it is *held* when the rent of its bounds,
//! R_f = Σ x_p (U'(y_f) − q_p)₊, is more than what it would pay for x. Over the flows that are not held
//!
//! ```text
//! S = min(Σ ŷ_f U'(ŷ_f), Σ_p x̂_p Σ_{l ∈ p} p_l c_l/load_l),    gap = max { Σ Δ_f/S, max_f Δ_f/R_f }
//! ```
//!
//! (the first of the two where nothing is paid) and where a held flow with R_f > S is judged by itself, on the right, and
//! any other flow is in the sum on the left. So at a gap ε the missing utility is at most ε (S + Σ R_f), and what held flows
//! are worth does not hide that others starve.
//! The gap does not change with the units, with a scaling of U or with constants added to it. For log utilities it is
//! the mean loss of log rate.
//!
//! A utility of the caller's own is known by its answers only, and they are floats. On a tail that falls as an exponential
//! does, or faster, a flow *has enough* where U'(z) is rounding, 2⁻⁵³ of U'(z/2), and falls on to U'(2z) by that to the power
//! of 3/2 at least: at 74 lengths of an exponential, however wide the link. (A power law falls by the same factor again and
//! again, however steep, and has never enough.) It is held too, with R_f = U'(z/2) z/2 for the smallest such z that is
//! found by halving ŷ, each half of it such as well: no more than what its rate is worth.
//!
//! # Single rates
//!
//! The gap is about a total: by concavity it leaves every flow an interval of rates, |Δy/y| ≤ √(2 gap/(α e)) with e its
//! share of S, which says nothing about flows that matter little to the total, as rich ones do at large α. The KKT
//! residual is about every flow. It is the smallest ε ≥ 0 for which x̂ is the exact optimum of a problem in which
//!
//! - every flow's best response to its path prices is changed by at most ε relative to the flow's own rate (or the prices
//!   by ε/10, where U' is so flat that a small change of price moves the rate a lot: α < 0.1, linear utilities);
//! - no path that costs more than another one of its flow with room carries more than the part ε of the flow, or of the
//!   smallest rate beside any link that only one of the two crosses, unless it costs more by at most ε/10 of what any flow
//!   pays, or is worth, whose path crosses such a link;
//! - every link with a price is full when its capacity is changed by at most ε times the smallest rate beside it, or its
//!   price is at most the part ε of what every path through it is worth.
//!
//! The smallest rate *beside* a link is that of any flow, neither held nor linear, that shares a priced link with a flow
//! through it. Why that, and not the capacity: rates change by at most χ(R) times what capacities change by, with a
//! constant of the routing matrix only (Stewart 1989, Todd 1990), absolutely: what a wide link idles by may be several
//! times what a small flow gets somewhere else, whose price then is that link's by mistake. So single rates are right to ε
//! times a factor of the routing, near 1 where few full links follow each other on paths; what a link idles by may travel
//! further, along flows that cross two full links each, than the residual looks. A link that idles by less than
//! what rounding leaves of a sum (10⁻¹³) is full.
//!
//! Prices of two paths of one flow are compared beside what others pay, and not beside themselves, because a split that is
//! wrong moves those: where U' spreads over many decades (α ≥ 4, rates that differ a hundredfold), all that a rich flow pays
//! is nothing beside the prices of a poor one, whose split says what is left for it. Links that both paths cross are in neither
//! price there. Where prices of the others lie more than some 10¹⁰ apart, their rounding alone is more than that, and
//! nothing is proven, however right the rates.
//!
//! The rate of a flow that has enough is not too small. It is too large only on links with a price to others, and a link
//! whose price is nothing beside the rounding of U', to every path, need not be full.
//!
//! Rates below 10⁻⁹ of what their path could carry are relative to that (completion times may ask for rates over forty
//! decades), and rates that should be 0 to 10⁻³ of it.
//!
//! Max-min fairness has no objective and so no dual bound; `max_min/certificate.rs` has its proof.

use std::cell::OnceCell;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::interrupt::{self, Pacer};
use crate::normalize::{FNorm, relative, relative_loads};
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

/// The gap and the residual of rates and prices in the caller's units, which are checked.
///
/// # Errors
/// [`Error::Utility`] when a user's utility answers with a demand that is no best response; and [`Error::Stopped`].
pub(crate) fn certify_by_prices(problem: &Problem, rates: &[f64], prices: &[f64]) -> Result<Certificate> {
    let presolved = Presolved::new(problem)?;
    let overload = overload(problem, rates);
    let (natural, prices) = (presolved.natural_rates(rates), presolved.natural_prices(prices));
    interrupt::check()?;
    let settled = Settled::new(&presolved, &natural, &prices)?;
    settled.check_demands()?;
    settled.certificate(overload.max(settled.overload))
}

/// By how much rates exceed a capacity or a cap, of a path or a flow, at most.
pub(crate) fn overload(problem: &Problem, rates: &[f64]) -> f64 {
    let links = relative_loads(problem.capacities(), problem.paths(), rates.iter().copied()).into_iter();
    let used = rates.iter().enumerate().filter(|(_, rate)| **rate > 0.0);
    let caps = used.map(|(path, rate)| rate / problem.rate_cap(path));
    let totals =
        if problem.has_flow_caps() { problem.flow_rates(rates).expect("one rate per path") } else { Vec::new() };
    let used = totals.into_iter().enumerate().filter(|(_, total)| *total > 0.0);
    let flow_caps = used.map(|(flow, total)| total / problem.flow_cap(flow));
    (links.chain(caps).chain(flow_caps).fold(0.0, f64::max) - 1.0).max(0.0)
}

/// Rates made feasible by F-NORM, with their prices, and what goes with them.
pub(crate) struct Settled<'a> {
    problem: &'a Presolved,
    prices: &'a [f64],
    /// By how much the fullest link was over its capacity before; 0 if none was.
    pub(crate) overload: f64,
    /// q_p of every path.
    path_prices: Vec<f64>,
    /// x̂_p of every path, ŷ_f of every flow.
    pub(crate) rates: Vec<f64>,
    pub(crate) flow_rates: Vec<f64>,
    /// load/c of every link under x̂.
    pub(crate) relative_loads: Vec<f64>,
    /// [`enough`](Self::enough), once it was asked for.
    enough: OnceCell<Vec<Enough>>,
}

/// Of a flow that has enough: the marginals that its utility cannot tell from 0, and R. Else both 0.
#[derive(Debug, Clone, Copy, Default)]
struct Enough {
    rounding: f64,
    worth: f64,
}

impl Enough {
    /// Whether a flow with this marginal has it.
    fn is_at(self, marginal: f64) -> bool {
        self.rounding > 0.0 && marginal <= self.rounding
    }
}

impl<'a> Settled<'a> {
    /// Two passes over the paths. Rates and prices are as they were found; the caps are imposed here.
    ///
    /// # Errors
    /// [`Error::Stopped`], as everything here that passes over all flows.
    pub(crate) fn new(problem: &'a Presolved, raw_rates: &[f64], prices: &'a [f64]) -> Result<Self> {
        let mut rates: Vec<f64> =
            raw_rates.iter().zip(&problem.caps).map(|(&rate, &cap)| if rate > cap { cap } else { rate }).collect();
        problem.cut_to_flow_caps(&mut rates);
        interrupt::check()?;
        let mut loads = relative_loads(&problem.capacities, &problem.paths, rates.iter().copied());
        interrupt::check()?;
        let overload = most_over_one(&loads);
        // [price, load/c] of every link, side by side: a path asks for both.
        let quoted: Vec<[f64; 2]> = prices.iter().zip(&loads).map(|(&price, &load)| [price, load]).collect();
        let mut path_prices = Vec::with_capacity(rates.len());
        let mut normalized = vec![0.0; if overload > 0.0 { loads.len() } else { 0 }];
        let mut pacer = Pacer::new();
        for (links, rate) in problem.paths.iter().zip(&mut rates) {
            pacer.did(links.len())?;
            let (mut sum, mut fullest) = (0.0, 0.0);
            for &link in links {
                let [price, load] = quoted[link as usize];
                sum += price;
                fullest = if load > fullest { load } else { fullest };
            }
            path_prices.push(sum);
            if overload > 0.0 {
                *rate = FNorm::default().divided(*rate, fullest);
                for &link in links {
                    normalized[link as usize] += *rate;
                }
            }
        }
        if overload > 0.0 {
            loads = relative(normalized, &problem.capacities);
        }
        let flow_rates = problem.flow_totals(&rates);
        Ok(Self {
            problem,
            prices,
            overload,
            path_prices,
            rates,
            flow_rates,
            relative_loads: loads,
            enough: OnceCell::new(),
        })
    }

    /// The proof for x̂ and the prices, with the overload that the rates had before.
    pub(crate) fn certificate(&self, overload: f64) -> Result<Certificate> {
        let kkt_residual = self.kkt_residual()?.max(overload);
        Ok(Certificate { relative_gap: self.relative_gap()?, overload, kkt_residual })
    }

    /// By how much x̂ is over a capacity, at most: rounding.
    pub(crate) fn overload_left(&self) -> f64 {
        most_over_one(&self.relative_loads)
    }

    /// The gap as defined above. One pass over the paths, a chunk at a time.
    pub(crate) fn relative_gap(&self) -> Result<f64> {
        let problem = self.problem;
        let (idle, enough) = (self.idle_worth(), self.enough()?);
        let (mut best, mut marginals) = (Best::default(), Vec::new());
        let mut free = Free::default();
        let mut held: Vec<[f64; 2]> = Vec::new();
        for block in &problem.blocks {
            for flows in block.chunks() {
                interrupt::check()?;
                let (places, rates) = (block.places(&flows), &self.flow_rates[flows.clone()]);
                let first = problem.flow_paths[flows.start];
                let bounded = best.respond(problem, block, flows.clone(), &self.path_prices[first..]) || block.may_jump;
                block.utility.gain_into(places.clone(), rates, &best.rates, &mut best.scratch);
                marginals.resize(flows.len(), 0.0);
                block.utility.marginal_into(places.clone(), rates, &mut marginals);
                best.marginals.clear();
                if bounded {
                    best.marginals.resize(flows.len(), 0.0);
                    block.utility.marginal_into(places, &best.rates, &mut best.marginals);
                }
                for (number, flow) in flows.enumerate() {
                    let (mut cost, mut paid, mut idled, mut would_pay, mut rent) = (0.0, 0.0, 0.0, 0.0, 0.0);
                    for path in problem.paths_of(flow) {
                        let (price, now, then) =
                            (self.path_prices[path], self.rates[path], best.path_rates[path - first]);
                        cost += price * (then - now);
                        paid += price * now;
                        would_pay += price * then;
                        let links = problem.paths.links(path).iter().map(|&link| idle.of(link as usize, now));
                        idled += links.sum::<f64>();
                        if bounded && then > 0.0 && best.marginals[number] > price {
                            rent += then * (best.marginals[number] - price);
                        }
                    }
                    let missing = best.scratch[number] - cost;
                    // Not max, which would hide an answer that is not a number.
                    let missing = if missing < 0.0 { 0.0 } else { missing } + idled;
                    let lost = rent == 0.0 && would_pay == 0.0 && rates[number] < best.rates[number];
                    // A power law is never worth nothing: where it is, its marginal is one that no float holds.
                    if lost && block.utility.alpha(flow - block.flows.start).is_some() {
                        return Ok(f64::INFINITY);
                    }
                    let enough = enough_of(enough, flow);
                    if enough.is_at(marginals[number]) {
                        held.push([missing, rent.max(enough.worth)]);
                    } else if rent > would_pay {
                        held.push([missing, rent]);
                    } else {
                        let rate = rates[number];
                        free.missing += missing;
                        free.revenue += if rate == 0.0 { 0.0 } else { rate * marginals[number] };
                        free.paid += paid + idled;
                    }
                }
            }
        }
        Ok(free.relative_gap(&held))
    }

    /// What links idle by, at their prices.
    fn idle_worth(&self) -> IdleWorth {
        let problem = self.problem;
        let mut this = IdleWorth { per_rate: vec![0.0; self.prices.len()], even: Vec::new() };
        let links = self.prices.iter().zip(&problem.capacities).zip(&self.relative_loads);
        for (link, ((price, capacity), &load)) in links.enumerate() {
            if load > f64::MIN_POSITIVE {
                this.per_rate[link] = price * (1.0 / load - 1.0).max(0.0);
            } else if *price > 0.0 {
                this.even.resize(self.prices.len(), 0.0);
                this.even[link] = price * capacity;
            }
        }
        if !this.even.is_empty() {
            let mut counts = vec![0.0; self.prices.len()];
            problem.paths.indices().iter().for_each(|&link| counts[link as usize] += 1.0);
            this.even.iter_mut().zip(counts).for_each(|(worth, count)| *worth /= f64::max(count, 1.0));
        }
        this
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
                    let has_room = rate < problem.ceilings[*path] && !problem.is_saturated(flow, best.rates[place]);
                    let too_little = has_room && after[place] > price * (1.0 + FALLS);
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

    /// The KKT residual as defined above.
    pub(crate) fn kkt_residual(&self) -> Result<f64> {
        let problem = self.problem;
        let mut residual = 0.0f64;
        let mut count = |violation: f64| residual = larger(residual, violation);
        let (mut below, mut marginals, mut above, mut demands) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut links = Slackness::new(self);
        let enough = self.enough()?;
        let mut splits = Splits::new(self, enough)?;
        for block in &problem.blocks {
            let linear = block.utility.curvature() == Curvature::Linear;
            for flows in block.chunks() {
                interrupt::check()?;
                let (places, rates) = (block.places(&flows), &self.flow_rates[flows.clone()]);
                marginals.resize(flows.len(), 0.0);
                match &splits {
                    Some(splits) => marginals.copy_from_slice(&splits.marginals[flows.clone()]),
                    None => self.marginals_into(block, flows.clone(), &mut below, &mut marginals),
                }
                above.clone_from(&marginals);
                if block.may_jump {
                    let beyond: Vec<f64> = rates.iter().map(|rate| rate * (1.0 + JUST_BESIDE)).collect();
                    block.utility.marginal_into(places.clone(), &beyond, &mut above);
                }
                let paths = problem.paths_of_all(&flows);
                demands.resize(paths.len(), 0.0);
                problem.path_demands_into(block, &flows, &self.path_prices[paths.clone()], &mut demands);
                for ((flow, place), (&marginal, &above)) in flows.zip(places).zip(marginals.iter().zip(&above)) {
                    // A power law is never worth nothing: a marginal of 0 is one that no float can hold.
                    let lost = marginal == 0.0 && block.utility.alpha(place).is_some();
                    let enough = enough_of(enough, flow);
                    let (rounding, has_enough) = (enough.rounding, enough.is_at(marginal));
                    let saturated = problem.is_saturated(flow, self.flow_rates[flow]);
                    for path in problem.paths_of(flow) {
                        let held = saturated || self.rates[path] >= problem.caps[path];
                        // Not min, which would hide what is not a number.
                        let (demand, most) = (demands[path - paths.start], problem.saturations[flow]);
                        let demand = if demand > most { most } else { demand };
                        let price = self.path_prices[path];
                        let residual = match lost && price == 0.0 {
                            true if held => 0.0,
                            true => 1.0,
                            false => self.response_residual(path, flow, marginal, demand),
                        };
                        match has_enough && price <= rounding {
                            true if marginal > price => {}
                            true => links.surplus.push((path, residual)),
                            false => count(residual),
                        }
                        // What the path is worth: where more of it is worth less at once, that.
                        let worth = larger(larger(price, if held { marginal } else { above }), rounding);
                        // One that has nothing, and would have something at a price a little lower, moves too.
                        let moves = self.rates[path] > 0.0 || price <= marginal * (1.0 + NONE);
                        let moves = moves && !linear && !held && !has_enough;
                        links.count(path, worth, moves.then_some(self.flow_rates[flow]));
                    }
                }
            }
        }
        let beside = links.beside()?;
        if let Some(splits) = &mut splits {
            let mut pacer = Pacer::new();
            for flow in 0..self.flow_rates.len() {
                pacer.did(problem.paths_of(flow).len())?;
                count(splits.residual(flow, &beside));
            }
        }
        links.residuals(beside).for_each(count);
        Ok(residual)
    }

    /// U' of some flows, just below its saturation where a flow is there.
    fn marginals_into(&self, block: &NaturalBlock, flows: Range<usize>, below: &mut Vec<f64>, marginals: &mut [f64]) {
        let places = block.places(&flows);
        below.clear();
        below.extend(self.flow_rates[flows].iter().zip(places.clone()).map(|(&rate, place)| {
            let saturation = block.utility.saturation(place);
            if rate >= saturation { saturation * (1.0 - JUST_BESIDE) } else { rate }
        }));
        block.utility.marginal_into(places, below, marginals);
    }

    /// By flow, whether it has enough. Empty without utilities of the caller's own.
    fn enough(&self) -> Result<&[Enough]> {
        if self.enough.get().is_none() {
            let found = self.find_enough()?;
            self.enough.get_or_init(|| found);
        }
        Ok(self.enough.get().expect("it was found"))
    }

    fn find_enough(&self) -> Result<Vec<Enough>> {
        let mut enough = Vec::new();
        for block in self.problem.blocks.iter().filter(|block| block.whole) {
            enough.resize(self.flow_rates.len(), Enough::default());
            let (places, flows) = (block.places(&block.flows), block.flows.clone());
            let marginals_at = |factor: f64| {
                let rates: Vec<f64> = self.flow_rates[flows.clone()].iter().map(|rate| rate * factor).collect();
                let mut marginals = vec![0.0; rates.len()];
                block.utility.marginal_into(places.clone(), &rates, &mut marginals);
                marginals
            };
            let (mut twice, mut now, mut factor) = (marginals_at(2.0), marginals_at(1.0), 1.0);
            let mut goes_on: Vec<bool> = self.flow_rates[flows.clone()].iter().map(|&rate| rate > 0.0).collect();
            // Who has enough at half of it has enough.
            while goes_on.contains(&true) && factor > LEAST_FACTOR {
                interrupt::check()?;
                factor *= 0.5;
                let half = marginals_at(factor);
                for (place, flow) in flows.clone().enumerate() {
                    goes_on[place] &= is_spent(half[place], now[place], twice[place]);
                    if goes_on[place] && half[place] > 0.0 {
                        let (rounding, worth) = (SPENT * half[place], factor * self.flow_rates[flow] * half[place]);
                        enough[flow] = Enough { rounding, worth };
                    }
                }
                (twice, now) = (now, half);
            }
        }
        Ok(enough)
    }

    /// How far a path is from its best response: too expensive and still used, or worth more and still not at its cap.
    fn response_residual(&self, path: usize, flow: usize, marginal: f64, demand: f64) -> f64 {
        if demand.is_nan() {
            return demand;
        }
        let (price, rate, flow_rate) = (self.path_prices[path], self.rates[path], self.flow_rates[flow]);
        let cap = self.problem.caps[path];
        let least = if demand == 0.0 { NONE } else { TINY } * self.problem.ceilings[path];
        let in_price = |excess: f64| if excess.is_infinite() { 1.0 } else { excess / price.max(marginal) / FLAT };
        if price > marginal {
            if rate == 0.0 {
                return 0.0;
            }
            let whole = flow_rate.max(least);
            let in_rate = (flow_rate - demand).max(0.0) / whole;
            in_price(price - marginal).min(rate / whole).min(in_rate)
        } else if marginal > price {
            let in_rate = (demand - flow_rate).max(0.0) / demand.max(least);
            let in_rate = if demand == f64::INFINITY { 1.0 } else { in_rate };
            let below_cap = if cap.is_finite() { 1.0 - rate / cap } else { f64::INFINITY };
            in_price(marginal - price).min(below_cap).min(in_rate)
        } else {
            // Equal, or not a number.
            marginal - price
        }
    }
}

/// How flows are split over their paths.
struct Splits<'a> {
    settled: &'a Settled<'a>,
    /// U' of every flow, just below its saturation where it is there.
    marginals: Vec<f64>,
    enough: &'a [Enough],
    /// By link: the least that a path over it pays, or is worth if that is more, of which the link's price is a part.
    least_paid: Vec<f64>,
    /// By link: which of two paths that are compared cross it.
    crossed: Vec<u8>,
}

impl<'a> Splits<'a> {
    /// None where every flow has one path.
    fn new(settled: &'a Settled<'a>, enough: &'a [Enough]) -> Result<Option<Self>> {
        let Settled { problem, prices, path_prices, flow_rates, .. } = settled;
        if problem.paths.len() == flow_rates.len() {
            return Ok(None);
        }
        let (mut marginals, mut below) = (vec![0.0; flow_rates.len()], Vec::new());
        for block in &problem.blocks {
            for flows in block.chunks() {
                interrupt::check()?;
                settled.marginals_into(block, flows.clone(), &mut below, &mut marginals[flows]);
            }
        }
        let (mut least_paid, mut pacer) = (vec![f64::INFINITY; prices.len()], Pacer::new());
        for (flow, &marginal) in marginals.iter().enumerate() {
            let worth = larger(marginal, enough_of(enough, flow).rounding);
            for path in problem.paths_of(flow) {
                pacer.did(problem.paths.links(path).len())?;
                // One that is held, or has nothing yet, may pay up to what it is worth.
                let paid = if worth > path_prices[path] { worth } else { path_prices[path] };
                for &link in problem.paths.links(path) {
                    let (price, least) = (prices[link as usize], &mut least_paid[link as usize]);
                    *least = if price > FREE * paid && paid < *least { paid } else { *least };
                }
            }
        }
        Ok(Some(Self { settled, marginals, enough, least_paid, crossed: vec![0; prices.len()] }))
    }

    /// What the paths that a flow uses cost more than others with room, beside what is paid on the links that only one of
    /// the two crosses.
    fn residual(&mut self, flow: usize, beside: &[f64]) -> f64 {
        let Settled { problem, path_prices, rates, flow_rates, .. } = self.settled;
        let paths = problem.paths_of(flow);
        let is_open = |path: &usize| rates[*path] < problem.caps[*path];
        let mut others: Vec<usize> = paths.clone().filter(is_open).collect();
        if others.len() > MANY_PATHS {
            others.sort_by(|&one, &other| path_prices[one].total_cmp(&path_prices[other]));
            others.truncate(MANY_PATHS);
        }
        let worth = larger(self.marginals[flow], enough_of(self.enough, flow).rounding);
        let mut residual = 0.0f64;
        for path in paths.filter(|&path| rates[path] > 0.0) {
            let whole = flow_rates[flow].max(TINY * problem.ceilings[path]);
            let own = path_prices[path].max(worth);
            let cheaper = |other: &&usize| path_prices[**other] < path_prices[path] * (1.0 + SUMMED);
            for &other in others.iter().filter(cheaper).filter(|&&other| other != path) {
                let (excess, least_paid, smallest) = self.compare(path, other, beside);
                if excess <= 0.0 {
                    continue;
                }
                let part = (rates[path].min(problem.caps[other] - rates[other]) / whole.min(smallest)).min(1.0);
                residual = larger(residual, part.min(excess / own.min(least_paid) / FLAT));
            }
        }
        residual
    }

    /// By how much one path is more expensive than another, and the least that is paid on, and the smallest rate beside,
    /// the links that one of the two crosses, and not both: what both cross, whose prices may be many decades larger, is in
    /// none of them.
    fn compare(&mut self, one: usize, other: usize, beside: &[f64]) -> (f64, f64, f64) {
        let Settled { problem, prices, .. } = self.settled;
        let links = |path: usize| problem.paths.links(path).iter().map(|&link| link as usize);
        links(one).for_each(|link| self.crossed[link] |= 1);
        links(other).for_each(|link| self.crossed[link] |= 2);
        let (mut sums, mut least, mut smallest) = ([0.0; 2], f64::INFINITY, f64::INFINITY);
        for link in links(one).chain(links(other)) {
            let crossed = std::mem::take(&mut self.crossed[link]);
            if matches!(crossed, 1 | 2) {
                sums[crossed as usize - 1] += prices[link];
                let (paid, rate) = (self.least_paid[link], beside[link]);
                least = if paid < least { paid } else { least };
                smallest = if rate < smallest { rate } else { smallest };
            }
        }
        (sums[0] - sums[1], least, smallest)
    }
}

/// Whether a marginal, with those of half and of twice the rate, is on a tail that falls as an exponential does, or faster,
/// and has become rounding. A power law, however steep, falls by the same factor each time.
fn is_spent(half: f64, now: f64, twice: f64) -> bool {
    let fall = if half > 0.0 { now / half } else { 0.0 };
    half.is_finite() && fall <= SPENT && twice <= now * fall.powf(1.5)
}

fn enough_of(enough: &[Enough], flow: usize) -> Enough {
    enough.get(flow).copied().unwrap_or_default()
}

/// What the links idle by, at their prices.
struct IdleWorth {
    /// Per unit of load.
    per_rate: Vec<f64>,
    /// Of links without load, for each path through them; empty where there are none.
    even: Vec<f64>,
}

impl IdleWorth {
    /// The part of a path with this rate.
    fn of(&self, link: usize, rate: f64) -> f64 {
        let loaded = if rate > 0.0 { rate * self.per_rate[link] } else { 0.0 };
        loaded + if self.even.is_empty() { 0.0 } else { self.even[link] }
    }
}

/// Sums over the flows that are not held.
#[derive(Default)]
struct Free {
    /// Σ Δ.
    missing: f64,
    /// Σ ŷ U'(ŷ).
    revenue: f64,
    /// What they pay, with their part of what the links idle by.
    paid: f64,
}

impl Free {
    /// The gap, given [Δ, R] of the held flows.
    fn relative_gap(self, held: &[[f64; 2]]) -> f64 {
        let scale = if self.paid > 0.0 { self.paid.min(self.revenue) } else { self.revenue };
        let (mut missing, mut alone) = (self.missing, 0.0f64);
        for &[own, rent] in held {
            if own == f64::INFINITY {
                return own;
            }
            if rent > scale {
                alone = larger(alone, if rent.is_finite() { own / rent } else { f64::NAN });
            } else {
                missing += own;
            }
        }
        let together = match missing {
            0.0 | f64::INFINITY => missing,
            _ if scale.is_infinite() => f64::NAN,
            _ => missing / scale,
        };
        larger(together, alone)
    }
}

/// Whether links with prices are full.
struct Slackness<'a> {
    settled: &'a Settled<'a>,
    /// By path: its flow's rate where that moves with the price; ∞ where it is held, linear or 0.
    moving: Vec<f64>,
    /// By link: the smallest of these.
    smallest: Vec<f64>,
    /// By link: the largest part of the price of a path that is its own.
    shares: Vec<f64>,
    /// Paths of flows that have more than enough, and their residuals: too much is only what others would pay for.
    surplus: Vec<(usize, f64)>,
}

impl<'a> Slackness<'a> {
    fn new(settled: &'a Settled<'a>) -> Self {
        let (paths, links) = (settled.rates.len(), settled.prices.len());
        let smallest = vec![f64::INFINITY; links];
        Self { settled, moving: vec![f64::INFINITY; paths], smallest, shares: vec![0.0; links], surplus: Vec::new() }
    }

    /// Counts a path, given what it is worth, and its flow's rate if that moves.
    fn count(&mut self, path: usize, worth: f64, moving: Option<f64>) {
        let Settled { problem, rates, prices, .. } = self.settled;
        let ceiling = problem.ceilings[path];
        let moving = match moving {
            Some(rate) if rates[path] > 0.0 => rate.max(TINY * ceiling),
            Some(rate) => rate.max(NONE * ceiling),
            None => f64::INFINITY,
        };
        self.moving[path] = moving;
        for &link in problem.paths.links(path) {
            let link = link as usize;
            let (share, smallest) = (prices[link] / worth, &mut self.smallest[link]);
            *smallest = if moving < *smallest { moving } else { *smallest };
            // A path that is worth nothing pays for nothing.
            self.shares[link] = if share > self.shares[link] { share } else { self.shares[link] };
        }
    }

    /// By link: the smallest rate beside it, at most its capacity.
    fn beside(&self) -> Result<Vec<f64>> {
        let Settled { problem, prices, path_prices, .. } = self.settled;
        let (mut beside, mut pacer) = (problem.capacities.clone(), Pacer::new());
        for (path, links) in problem.paths.iter().enumerate().filter(|&(path, _)| self.moving[path].is_finite()) {
            pacer.did(2 * links.len())?;
            let priced = |link: &&u32| prices[**link as usize] > FREE * path_prices[path];
            let smallest = links.iter().filter(priced).map(|&link| self.smallest[link as usize]);
            let smallest = smallest.fold(f64::INFINITY, f64::min);
            for &link in links {
                let beside = &mut beside[link as usize];
                *beside = if smallest < *beside { smallest } else { *beside };
            }
        }
        Ok(beside)
    }

    /// min(largest share, what it idles by ÷ the smallest rate beside it) of every link, and min(largest share along it,
    /// its residual) of every path with a surplus.
    fn residuals(self, beside: Vec<f64>) -> impl Iterator<Item = f64> {
        let Settled { problem, relative_loads, .. } = self.settled;
        let of_surplus = |&(path, residual): &(usize, f64)| {
            let shares = problem.paths.links(path).iter().map(|&link| self.shares[link as usize]);
            let largest = shares.fold(0.0, f64::max);
            // Not min, which would hide what is not a number.
            if residual > largest { largest } else { residual }
        };
        let surplus: Vec<f64> = self.surplus.iter().map(of_surplus).collect();
        let links = self.shares.into_iter().zip(relative_loads.iter().zip(&problem.capacities)).zip(beside);
        let idle = links.map(|((share, (load, capacity)), beside)| match 1.0 - load {
            idle if idle <= FULL => 0.0,
            idle => share.min(idle * capacity / beside),
        });
        idle.chain(surplus)
    }
}

/// A marginal is rounding beside one that is larger by more than this.
const SPENT: f64 = 0.5 * f64::EPSILON;
/// Enough is looked for down to this part of a rate.
const LEAST_FACTOR: f64 = 1e-30;
/// How far beside a demand the marginal is looked at, and how closely it must fall through the price there.
const BESIDE: f64 = 1e-6;
const FALLS: f64 = 1e-3;

/// A rise of the marginal by this part is rounding.
const ROUNDING: f64 = 1e-9;
/// A price that is larger by this part may be the same: what rounding leaves of a sum.
const SUMMED: f64 = 1e-12;
/// A path is compared with at most this many of the cheapest others.
const MANY_PATHS: usize = 64;
/// What stands for a rate of 0 where a marginal is asked for, as a part of what the flow's paths can carry.
const NOTHING: f64 = 1e-12;
/// How far beside a rate the marginal is looked at, to tell whether it jumps there.
const JUST_BESIDE: f64 = 1e-9;

/// U' is flat where its elasticity is below this: a price off by ε may then move a rate by more than ε over this.
const FLAT: f64 = 0.1;
/// A rate below this part of what its path could carry is tiny: an error is relative to that.
const TINY: f64 = 1e-9;
/// The same where no rate at all is right.
const NONE: f64 = 1e-3;
/// A link that idles by this part of its capacity or less is full: rounding of the sum of its rates.
const FULL: f64 = 1e-13;
/// A link whose price is this part of a path's or less is free.
const FREE: f64 = 1e-9;

/// The larger of two numbers; not a number if one of them is none, which max would hide.
fn larger(one: f64, other: f64) -> f64 {
    if one.is_nan() || one >= other { one } else { other }
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
    /// U' there, where it was asked for.
    marginals: Vec<f64>,
    scratch: Vec<f64>,
}

impl Best {
    /// Fills the paths of every flow in order of price, given for those paths. Returns whether any path or flow is at its
    /// bound.
    fn respond(&mut self, problem: &Presolved, block: &NaturalBlock, flows: Range<usize>, path_prices: &[f64]) -> bool {
        let paths = problem.paths_of_all(&flows);
        let path_prices = &path_prices[..paths.len()];
        self.scratch.resize(flows.len(), 0.0);
        self.path_rates.resize(paths.len(), 0.0);
        problem.path_demands_into(block, &flows, path_prices, &mut self.path_rates);
        let ceilings = &problem.ceilings[paths.clone()];
        self.rates.clear();
        let mut bounded = false;
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
                bounded |= self.path_rates[order[0]] >= problem.saturations[flow];
                let mut rate = 0.0;
                for &path in &order {
                    let filled = (self.path_rates[path] - rate).clamp(0.0, ceilings[path]);
                    self.path_rates[path] = filled;
                    rate += filled;
                }
                self.rates.push(rate);
            }
        }
        bounded || self.path_rates.iter().zip(ceilings).any(|(rate, ceiling)| rate == ceiling)
    }
}
