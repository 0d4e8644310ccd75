//! The KKT residual of a certificate, which bounds the error of every single rate.
//!
//! The gap bounds a total. By concavity it leaves every flow an interval of rates, |Δy/y| ≤ √(2 gap/(α e)) with e its
//! share of S. The interval is wide for flows with a small e, such as those with large rates at large α. The KKT
//! residual is the smallest ε ≥ 0 for which x̂ is the exact optimum of a problem in which
//!
//! - every flow's best response to its path prices is changed by at most ε relative to the flow's own rate. Where U' is
//!   flat (α < 0.1, linear utilities), a change of the prices by ε/10 will do;
//! - for any two paths p, r of a flow f with q_p > q_r and r below its cap: x_p ≤ ε y_f or q_p − q_r ≤ q ε/10 with
//!   q = max(q_p, U'(y_f)), and x_p ≤ ε d_L or q_p − q_r ≤ m_L ε;
//! - for every link with a price: c_l − load_l ≤ ε d_l, and what flows miss of caps, floors and kinks of U that hold
//!   them is at most ε of the rates that have it or lack it (`misplaced.rs`); or p_l ≤ ε max(q_p, U'(y_f)) for every
//!   path p through it.
//!
//! Here L is the set of links of which p and r use unlike amounts, a_lp ≠ a_lr, and
//!
//! ```text
//! d_l = min(c_l, a_ls a_kg y_g / a_ks : flow g shares a priced link k with a path s through l)
//!                                                                    the adjacent rate of a link, in its unit
//! d_L = min_{l ∈ L} d_l / |a_lp − a_lr|
//! m_L = min |a_lp − a_lr| max(α_g, 0.1) max(q_s, U'(y_g)) / a_ls
//!                      over the paths s (of flow g) through a priced link l of L; α_g = 0 where U_g is no power
//! ```
//!
//! so that no residual depends on the unit of a link. On the link with a price, "p_l ≤ ε max(q_p, U')" is of a_lp p_l.
//! A link k is priced for s where a_ks p_k > 10⁻⁹ q_s, and for all paths where that is more than 10⁻³ max(q_t, U') of
//! one path t through it: what is nothing to one flow may be all that another one pays, which has what the first one
//! leaves idle elsewhere.
//!
//! q_p is Σ a_lp p_l + k_p with the path's cost. A flow at its floor may pay more than U'; in its place then stands
//! what its dearest path in use costs, and where no price would raise it, at least 10⁻⁹ of a mean price. Flows that a
//! bound or a kink holds do not count in d_l: U' and the price differ there by more than 10⁻³, and no small change of
//! the price moves them. For a rate that should be 0 no such rate does. The rates of linear flows do not count in d_l
//! either, which may be any; but paths s that carry some of one do: what it lacks others have on another of its links.
//!
//! **Why d_l and not c_l.** Rates change by at most χ(R) times the change of the capacities, with a constant of the
//! routing matrix only (Stewart 1989, Todd 1990). That bound is absolute: an idle capacity that is small relative to
//! c_l may be several times the rate of a small flow elsewhere, and distort its price. So single rates are right to ε
//! times a factor of the routing, near 1 where paths cross few full links. Idle capacity, and what flows at bounds miss
//! of them, may propagate further, along flows that cross two full links each, than the residual shows. A link that
//! idles by less than the rounding of its load (10⁻¹³, or 2⁻⁵² for each path through it) is full.
//!
//! **Why m_L and not q_p.** A wrong split of one flow leaves it its rate, and changes prices and rates of others. Where
//! U' spans many decades (α ≥ 4, rates that differ a hundredfold), an error relative to the price of a flow with a
//! small rate may exceed all that a flow with a large rate pays. Links that both paths cross cancel in q_p − q_r.
//! Other flows on links of L may shift to paths of the same price, and so pass on what is wrong: where that may matter,
//! L has those links as well to which the ties of paths in use reduce q_p − q_r (`ties.rs`). Where prices of others lie
//! more than some 10¹⁰ apart, their rounding exceeds m_L, and nothing is proven, however right the rates.
//!
//! Rates below 10⁻⁹ of what their path could carry are relative to that (completion times may ask for rates over forty
//! decades), and rates that should be 0 to 10⁻³ of it, or less beside small rates: d_l.
use std::ops::Range;

use super::numerical_saturation::{NumericalSaturation, numerical_saturation_of};
use super::path_splits::PathSplits;
use super::slackness::{Columns, PASSES_ON, Slackness, moves_with_price, moving_rate};
use super::tolerances::{AT_KINK, BESIDE, FLAT, NONE, TINY};
use super::{FeasiblePoint, larger};
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::numerics::vectorized;
use crate::presolve::{NaturalBlock, ROUNDING};
use crate::utility::Curvature;
use crate::work::for_each;

/// Some paths, each with a number.
type OfPaths = Vec<(usize, f64)>;

impl FeasiblePoint<'_> {
    /// The KKT residual as defined above.
    pub(crate) fn kkt_residual(&self) -> Result<f64> {
        let (problem, numerical_saturation) = (self.problem, self.numerical_saturation()?);
        let mut splits = PathSplits::new(self, numerical_saturation)?;
        let (mut links, ranges) = (Slackness::new(self), problem.flow_ranges());
        let of_ranges = for_each(&*problem.workers, ranges.iter().zip(links.split()), |(range, columns)| {
            self.response_residual(range, columns, splits.as_ref(), numerical_saturation)
        })?;
        let mut residual = 0.0f64;
        let mut count = |violation: f64| residual = larger(residual, violation);
        let mut held = Vec::new();
        for (found, [surplus, unwanted, misplaced], flows) in of_ranges {
            count(found);
            links.surplus.extend(surplus);
            links.unwanted.extend(unwanted);
            links.misplaced.extend(misplaced);
            held.extend(flows);
        }
        links.add_up()?;
        let adjacent = links.adjacent_rates()?;
        let parts = links.misplaced_parts(splits.as_ref(), &held)?;
        links.residuals(&adjacent, &parts).for_each(&mut count);
        count(links.unwanted_residual()?);
        let [far, mut near, with_ties] = match &splits {
            Some(splits) => self.split_residuals(splits, &adjacent, residual)?,
            None => [0.0; 3],
        };
        residual = larger(residual, far);
        // Where nothing else is wrong: completing prices takes longer than all that was before. It cannot be done over
        // ranks, each of which has a part of the ties.
        if near.max(with_ties) > residual.max(TINY)
            && near.is_finite()
            && problem.ranks().are_alone()
            && let Some(splits) = &mut splits
            && splits.complete_prices()?
        {
            near = self.split_residuals(splits, &adjacent, residual)?.into_iter().fold(0.0, larger);
        }
        residual = larger(residual, near);
        let mut largest = [residual];
        problem.ranks().max(&mut largest)?;
        Ok(largest[0])
    }

    /// The largest residuals of the splits of flows, those that are larger than a known one.
    fn split_residuals(&self, splits: &PathSplits<'_>, adjacent: &[f64], known: f64) -> Result<[f64; 3]> {
        let each = |one: [f64; 3], other: [f64; 3]| [0, 1, 2].map(|place| larger(one[place], other[place]));
        let least = adjacent.iter().copied().fold(f64::INFINITY, f64::min);
        let of_ranges = for_each(&*self.problem.workers, self.problem.flow_ranges(), |flows| {
            let (mut residuals, mut differences) = ([known, 0.0, 0.0], vec![0.0; adjacent.len()]);
            let mut pacer = Pacer::new();
            for flow in flows {
                pacer.did(self.problem.paths_of(flow).len())?;
                let of_flow = splits.residuals(flow, adjacent, least, residuals[0], &mut differences);
                residuals = each(residuals, of_flow);
            }
            Ok(residuals)
        })?;
        Ok(of_ranges.into_iter().fold([0.0; 3], each))
    }

    /// By how much consecutive flows miss their best responses, at most; the paths with a surplus, those of flows that
    /// should have no rate, and those that miss what holds them; and the flows that are held and have several paths.
    /// Writes worths and moving rates of their paths.
    fn response_residual(
        &self,
        range: &Range<usize>,
        mut columns: Columns<'_>,
        splits: Option<&PathSplits<'_>>,
        numerical_saturation: &[NumericalSaturation],
    ) -> Result<(f64, [OfPaths; 3], Vec<usize>)> {
        let (problem, flow_rates) = (self.problem, self.flow_rates());
        let (mut residual, [mut surplus, mut unwanted, mut misplaced]) = (0.0f64, [const { Vec::new() }; 3]);
        let mut held = Vec::new();
        let mut count = |violation: f64| residual = larger(residual, violation);
        let [mut below, mut marginals, mut above, mut demands] = [const { Vec::new() }; 4];
        let [mut prices, mut least_demands, mut most_demands] = [const { Vec::new() }; 3];
        // One path per flow, and nothing that bounds a rate.
        let is_plain = splits.is_none() && problem.is_unbounded() && numerical_saturation.is_empty();
        for (block, flows) in problem.chunks_of(range) {
            let linear = block.utility.curvature() == Curvature::Linear;
            let is_plain = is_plain && !block.may_jump && !linear;
            interrupt::check()?;
            let (places, rates) = (block.places(&flows), &flow_rates[flows.clone()]);
            marginals.resize(flows.len(), 0.0);
            match splits {
                Some(splits) => marginals.copy_from_slice(&splits.marginals[flows.clone()]),
                None => self.marginals_into(block, flows.clone(), &mut below, &mut marginals),
            }
            above.clone_from(&marginals);
            if block.may_jump {
                let beyond: Vec<f64> = rates.iter().map(|rate| rate * (1.0 + BESIDE)).collect();
                block.utility.marginal_into(places.clone(), &beyond, &mut above);
            }
            let paths = problem.paths_of_all(&flows);
            demands.resize(paths.len(), 0.0);
            problem.path_demands_into(block, &flows, &self.path_prices[paths.clone()], &mut demands);
            if is_plain && marginals.iter().chain(&demands).all(|&value| value > 0.0) {
                let of_paths = [&self.path_prices[paths.clone()], rates, &problem.bounds.ceilings[paths.clone()]];
                count_plain(of_paths, &marginals, &mut demands, columns.of(paths));
                demands.iter().for_each(|&residual| count(residual));
                continue;
            }
            if block.may_jump {
                for (beside, demands) in [(1.0 + NONE, &mut least_demands), (1.0 - NONE, &mut most_demands)] {
                    prices.clear();
                    prices.extend(self.path_prices[paths.clone()].iter().map(|price| price * beside));
                    demands.resize(paths.len(), 0.0);
                    problem.path_demands_into(block, &flows, &prices, demands);
                }
            }
            for ((flow, place), (&marginal, &above)) in flows.zip(places).zip(marginals.iter().zip(&above)) {
                // The marginal of a power law is positive: 0 is an underflow.
                let lost = marginal == 0.0 && block.utility.alpha(place).is_some();
                let numerical_saturation = numerical_saturation_of(numerical_saturation, flow);
                let (rounding, numerically_saturated) =
                    (numerical_saturation.rounding, numerical_saturation.is_at(marginal));
                let saturated = problem.is_saturated(flow, flow_rates[flow]);
                let price_at_floor = self.price_at_floor(flow, above);
                let wants_none = problem.paths_of(flow).all(|path| demands[path - paths.start] == 0.0);
                let (mut is_used, mut moves) = (false, false);
                for path in problem.paths_of(flow) {
                    let at_bound = saturated || self.rates[path] >= problem.bounds.caps[path];
                    // min would drop a NaN.
                    let (demand, most) = (demands[path - paths.start], problem.bounds.saturations[flow]);
                    let demand = if demand > most { most } else { demand };
                    let price = self.path_prices[path];
                    let at_floor = price_at_floor > 0.0;
                    let (rate, cap, ceiling) =
                        (self.rates[path], problem.bounds.caps[path], problem.bounds.ceilings[path]);
                    let flow_rate = flow_rates[flow];
                    let response = Response { price, rate, cap, ceiling, flow_rate, marginal, demand };
                    // What a flow pays above U' at its floor is the floor's price.
                    let residual = match lost && price == 0.0 {
                        _ if at_floor && price > marginal => 0.0,
                        true if at_bound => 0.0,
                        true => 1.0,
                        false => response.residual(),
                    };
                    match numerically_saturated && price <= rounding {
                        true if marginal > price => {}
                        true => surplus.push((path, residual)),
                        false => count(residual),
                    }
                    // The right derivative of U, unless the path is at a bound.
                    let worth = larger(larger(price, if at_bound { marginal } else { above }), rounding);
                    let worth = larger(worth, price_at_floor);
                    let excess = response.excess();
                    let is_unwanted = wants_none && price > marginal && !numerically_saturated;
                    if is_unwanted && rate > 0.0 && excess > TINY {
                        unwanted.push((path, excess));
                    }
                    let at = path - paths.start;
                    // On the side on which its rate is.
                    let is_at_kink = block.may_jump && {
                        let beside = if price > marginal { most_demands[at] } else { least_demands[at] };
                        (beside - demand).abs() <= AT_KINK * demand
                    };
                    let floor = problem.bounds.floors[flow];
                    let is_apart = price > marginal * (1.0 + NONE) || marginal > price * (1.0 + NONE);
                    let is_at_end = demand >= most.min(flow_rate - rate + cap) || demand <= floor || is_at_kink;
                    let is_held = at_bound || at_floor && price > marginal || is_apart && is_at_end;
                    let distance = response.distance();
                    let counts = is_apart && is_at_end && !wants_none && !numerically_saturated;
                    if counts && distance.abs() > ROUNDING * flow_rate {
                        misplaced.push((path, distance));
                    }
                    let moving = match moves_with_price(rate, price, marginal) && !is_held && !numerically_saturated {
                        true if !linear => moving_rate(rate, flow_rate, ceiling),
                        true if rate > 0.0 => PASSES_ON,
                        _ => f64::INFINITY,
                    };
                    is_used |= rate > 0.0;
                    moves |= moving < f64::INFINITY;
                    columns.count(path, worth, moving);
                }
                if is_used && !moves && problem.paths_of(flow).len() > 1 {
                    held.push(flow);
                }
            }
        }
        Ok((residual, [surplus, unwanted, misplaced], held))
    }

    /// What a flow at its floor pays, given U' above it: the price of the dearest path that it uses, which may be more
    /// than U'. Where no price would raise its rate that is at least the part 10⁻⁹ of a mean price, below which it pays
    /// nothing; a price that holds down a flow is one, however small. 0 for others.
    pub(super) fn price_at_floor(&self, flow: usize, above: f64) -> f64 {
        let (problem, floor) = (self.problem, self.problem.bounds.floors[flow]);
        if floor == 0.0 || self.flow_rates()[flow] > floor * (1.0 + ROUNDING) {
            return 0.0;
        }
        let least = if above == 0.0 || problem.is_saturated(flow, floor) { TINY } else { 0.0 };
        let used = problem.paths_of(flow).filter(|&path| self.rates[path] > 0.0);
        used.map(|path| self.path_prices[path]).fold(least, larger)
    }

    /// U' of some flows, just below its saturation where a flow is there.
    pub(super) fn marginals_into(
        &self,
        block: &NaturalBlock,
        flows: Range<usize>,
        below: &mut Vec<f64>,
        marginals: &mut [f64],
    ) {
        self.marginals_below(block, block.places(&flows), &self.flow_rates()[flows], below, marginals);
    }

    /// The same at rates of flows at these places of a block.
    pub(super) fn marginals_below(
        &self,
        block: &NaturalBlock,
        places: Range<usize>,
        rates: &[f64],
        below: &mut Vec<f64>,
        marginals: &mut [f64],
    ) {
        if self.problem.bounds.saturations.is_empty() {
            return block.utility.marginal_into(places, rates, marginals);
        }
        below.clear();
        below.extend(rates.iter().zip(places.clone()).map(|(&rate, place)| {
            let saturation = block.utility.saturation(place);
            // Beyond it, at a floor, there is nothing.
            if rate >= saturation && rate * (1.0 - BESIDE) <= saturation { saturation * (1.0 - BESIDE) } else { rate }
        }));
        block.utility.marginal_into(places, below, marginals);
    }
}

/// Counts flows that have one path and no bound: replaces demands by residuals, and writes worths and moving rates.
/// Given are prices, rates and ceilings, and marginals > 0.
fn count_plain(
    [prices, rates, ceilings]: [&[f64]; 3],
    marginals: &[f64],
    demands: &mut [f64],
    (worths, moving): (&mut [f64], &mut [f64]),
) {
    let given = prices.iter().zip(rates).zip(ceilings).zip(marginals);
    let found = demands.iter_mut().zip(worths).zip(moving);
    vectorized(
        #[inline(always)]
        || {
            for ((((&price, &rate), &ceiling), &marginal), ((demand, worth), moving)) in given.zip(found) {
                let (cap, flow_rate) = (f64::INFINITY, rate);
                *demand = Response { price, rate, cap, ceiling, flow_rate, marginal, demand: *demand }.residual();
                *worth = larger(price, marginal);
                *moving = if moves_with_price(rate, price, marginal) {
                    moving_rate(rate, rate, ceiling)
                } else {
                    f64::INFINITY
                };
            }
        },
    );
}

/// A path and its flow, for the residual of its best response.
#[derive(Clone, Copy)]
struct Response {
    /// q_p, x̂_p, cap_p and the most that the path can carry.
    price: f64,
    rate: f64,
    cap: f64,
    ceiling: f64,
    /// ŷ_f, U'(ŷ_f) and the flow's demand at q_p.
    flow_rate: f64,
    marginal: f64,
    demand: f64,
}

impl Response {
    /// By how much price and U' differ, as a part of a rate where U' is flat.
    #[inline(always)]
    fn excess(self) -> f64 {
        let Self { price, marginal, .. } = self;
        let (high, low) = if price > marginal { (price, marginal) } else { (marginal, price) };
        let excess = high - low;
        if excess == f64::INFINITY { 1.0 } else { excess / high / FLAT }
    }

    /// What a path lacks of where its flow, or the path, is held, or has beyond it: below 0. What a flow lacks its
    /// paths lack in proportion to their rates.
    fn distance(self) -> f64 {
        let Self { rate, cap, flow_rate, demand, .. } = self;
        let of_flow = (demand - flow_rate) * (rate / flow_rate);
        if of_flow > cap - rate { cap - rate } else { of_flow }
    }

    /// q_p > U' at a positive rate, or U' > q_p below its cap. Without branches: loops over it are vector instructions.
    #[inline(always)]
    fn residual(self) -> f64 {
        let Self { price, rate, cap, ceiling, flow_rate, marginal, demand } = self;
        let least = if demand == 0.0 { NONE } else { TINY } * ceiling;
        let is_too_much = price > marginal;
        let in_price = self.excess();
        let (over, under) = if is_too_much { (flow_rate, demand) } else { (demand, flow_rate) };
        let whole = if over > least { over } else { least };
        let distance = if over > under { over - under } else { 0.0 };
        let in_rate = if over == f64::INFINITY { 1.0 } else { distance / whole };
        // What there is to take away, or to add; 0/0 where that underflows, and then nothing is proven.
        let part = rate / if is_too_much { whole } else { cap };
        let part = if is_too_much { part } else { 1.0 - part };
        let residual = if in_price < in_rate { in_price } else { in_rate };
        let residual = if part < residual { part } else { residual };
        // Equal, or NaN.
        let residual = if price > marginal || marginal > price { residual } else { marginal - price };
        if demand.is_nan() { demand } else { residual }
    }
}
