//! The KKT residual of a certificate, which is about every single rate.
//!
//! The gap is about a total: by concavity it leaves every flow an interval of rates, |Δy/y| ≤ √(2 gap/(α e)) with e its
//! share of S, which says nothing about flows that matter little to the total, as rich ones do at large α. The KKT
//! residual is about every flow. It is the smallest ε ≥ 0 for which x̂ is the exact optimum of a problem in which
//!
//! - every flow's best response to its path prices is changed by at most ε relative to the flow's own rate (or the
//!   prices by ε/10, where U' is so flat that a small change of price moves the rate a lot: α < 0.1, linear utilities);
//! - no path that costs more than another one of its flow with room carries more than the part ε of the flow, or of the
//!   smallest rate beside any link that only one of the two crosses, unless it costs more by at most ε/10 of what any
//!   flow pays, or is worth, whose path crosses such a link;
//! - every link with a price is full when its capacity is changed by at most ε times the smallest rate beside it, or
//!   its price is at most the part ε of what every path through it is worth.
//!
//! The smallest rate *beside* a link is that of any flow, neither held nor linear, that shares a priced link with a
//! flow through it. Why that, and not the capacity: rates change by at most χ(R) times what capacities change by, with
//! a constant of the routing matrix only (Stewart 1989, Todd 1990), absolutely: what a wide link idles by may be
//! several times what a small flow gets somewhere else, whose price then is that link's by mistake. So single rates are
//! right to ε times a factor of the routing, near 1 where few full links follow each other on paths; what a link idles
//! by may travel further, along flows that cross two full links each, than the residual shows. A link that idles by
//! less than what rounding leaves of a sum (10⁻¹³) is full.
//!
//! Prices of two paths of one flow are compared beside what others pay, and not beside themselves, because a split that
//! is wrong moves those: where U' spreads over many decades (α ≥ 4, rates that differ a hundredfold), all that a rich
//! flow pays is nothing beside the prices of a poor one, whose split says what is left for it. Links that both paths
//! cross are in neither price there. Where prices of the others lie more than some 10¹⁰ apart, their rounding alone is
//! more than that, and nothing is proven, however right the rates.
//!
//! Rates below 10⁻⁹ of what their path could carry are relative to that (completion times may ask for rates over forty
//! decades), and rates that should be 0 to 10⁻³ of it.

use std::ops::Range;

use super::numerical_saturation::numerical_saturation_of;
use super::path_splits::PathSplits;
use super::slackness::Slackness;
use super::{FLAT, FeasiblePoint, NONE, TINY, larger};
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::presolve::NaturalBlock;
use crate::utility::Curvature;

/// How far beside a rate the marginal is looked at, to tell whether it jumps there.
const OFFSET: f64 = 1e-9;

impl FeasiblePoint<'_> {
    /// The KKT residual as defined above.
    pub(crate) fn kkt_residual(&self) -> Result<f64> {
        let problem = self.problem;
        let mut residual = 0.0f64;
        let mut count = |violation: f64| residual = larger(residual, violation);
        let (mut below, mut marginals, mut above, mut demands) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut links = Slackness::new(self);
        let numerical_saturation = self.numerical_saturation()?;
        let mut splits = PathSplits::new(self, numerical_saturation)?;
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
                    let beyond: Vec<f64> = rates.iter().map(|rate| rate * (1.0 + OFFSET)).collect();
                    block.utility.marginal_into(places.clone(), &beyond, &mut above);
                }
                let paths = problem.paths_of_all(&flows);
                demands.resize(paths.len(), 0.0);
                problem.path_demands_into(block, &flows, &self.path_prices[paths.clone()], &mut demands);
                for ((flow, place), (&marginal, &above)) in flows.zip(places).zip(marginals.iter().zip(&above)) {
                    // A power law is never worth nothing: a marginal of 0 is one that no float can hold.
                    let lost = marginal == 0.0 && block.utility.alpha(place).is_some();
                    let numerical_saturation = numerical_saturation_of(numerical_saturation, flow);
                    let (rounding, numerically_saturated) =
                        (numerical_saturation.rounding, numerical_saturation.is_at(marginal));
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
                        match numerically_saturated && price <= rounding {
                            true if marginal > price => {}
                            true => links.surplus.push((path, residual)),
                            false => count(residual),
                        }
                        // What the path is worth: where more of it is worth less at once, that.
                        let worth = larger(larger(price, if held { marginal } else { above }), rounding);
                        // One that has nothing, and would have something at a price a little lower, moves too.
                        let moves = self.rates[path] > 0.0 || price <= marginal * (1.0 + NONE);
                        let moves = moves && !linear && !held && !numerically_saturated;
                        links.count(path, worth, moves.then_some(self.flow_rates[flow]));
                    }
                }
            }
        }
        let adjacent = links.adjacent_rates()?;
        if let Some(splits) = &mut splits {
            let mut pacer = Pacer::new();
            for flow in 0..self.flow_rates.len() {
                pacer.did(problem.paths_of(flow).len())?;
                count(splits.residual(flow, &adjacent));
            }
        }
        links.residuals(adjacent).for_each(count);
        Ok(residual)
    }

    /// U' of some flows, just below its saturation where a flow is there.
    pub(super) fn marginals_into(
        &self,
        block: &NaturalBlock,
        flows: Range<usize>,
        below: &mut Vec<f64>,
        marginals: &mut [f64],
    ) {
        let places = block.places(&flows);
        below.clear();
        below.extend(self.flow_rates[flows].iter().zip(places.clone()).map(|(&rate, place)| {
            let saturation = block.utility.saturation(place);
            if rate >= saturation { saturation * (1.0 - OFFSET) } else { rate }
        }));
        block.utility.marginal_into(places, below, marginals);
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
