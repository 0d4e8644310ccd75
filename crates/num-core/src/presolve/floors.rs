//! Floors: whether they fit, the rates that carry them, and why where they do not.
//!
//! ```text
//! t = max { t : Σ_{p ∈ f} x_p = t m_f,  R x ≤ c,  0 ≤ x ≤ r }     a concurrent flow with the floors for demands
//! t < 1  ⟺  Σ_f λ_f m_f > Σ_l c_l p_l + Σ_p r_p (λ_f − q_p)₊      for some p, λ ≥ 0
//! ```
//!
//! Where each flow with a floor has one path and the loads of the floors fit, nothing need be solved. Floors that fill
//! links may leave flows without a floor nothing (`solve/starved.rs`).

use serde::{Deserialize, Serialize};

use super::Presolved;
use crate::concurrent_flow::{MulticommodityFlow, concurrent_flow, rent, worth};
use crate::error::{Error, Result};
use crate::interrupt::Pacer;
use crate::problem::Problem;
use crate::solve::paths_beside_floors;
use crate::tolerances::{ROUNDING, no_room};

/// Why the floors of a problem do not fit: an inequality that no rates satisfy.
///
/// ```text
/// Σ_f v_f m_f > Σ_l c_l p_l + Σ_p r_p (v_f − q_p)₊        q_p = Σ_{l ∈ p} a_lp p_l
/// ```
///
/// over the flows that are named, their floors m, open paths p and the caps r of these, if any. Rates that keep the
/// floors would pay the left side at least, and the links and caps are worth no more than the right side. Those that
/// limit `fraction`, which is over all floors, may be others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Infeasibility {
    /// The links with a price in it.
    pub links: Vec<u32>,
    /// The flows in it, none of which can be left out at these prices.
    pub flows: Vec<u32>,
    /// Price p of every link.
    pub prices: Vec<f64>,
    /// The paths whose caps have a price in it.
    pub paths: Vec<u32>,
    /// Price v of every flow; 0 of those that are not named.
    pub flow_prices: Vec<f64>,
    /// Price (v − q)₊ of the cap of every path; 0 without a cap, and of flows that are not named.
    pub cap_prices: Vec<f64>,
    /// The largest part of all floors that fits at once, those of flows that are not named too.
    pub fraction: f64,
    /// Rate of every path; they carry that part of every floor.
    pub rates: Vec<f64>,
}

impl Presolved {
    /// Finds the rates that carry the floors, and why there are none where they do not fit.
    pub(super) fn carry_floors(&mut self, problem: &Problem) -> Result<()> {
        if !self.ranks().any(!self.bounds.floors.is_empty())? {
            return Ok(());
        }
        if !problem.carrying().is_empty() {
            self.floor_rates = self.natural_rates(problem.carrying());
            return Ok(());
        }
        let with_floor = |flow: &usize| self.bounds.floors[*flow] > 0.0;
        let mut base = vec![0.0; self.paths.len()];
        let mut are_single = true;
        for flow in (0..self.flows()).filter(with_floor) {
            let own = self.paths_of(flow);
            are_single &= own.len() == 1;
            base[own.start] = self.bounds.floors[flow];
        }
        let several = self.ranks().any(!are_single)?;
        if !several {
            let mut loads = self.loads(&base);
            self.ranks().sum(&mut loads)?;
            // Sums have the rounding of their terms.
            let fits = |((load, capacity), uses): ((&f64, &f64), &f64)| {
                *load <= capacity * (1.0 + ROUNDING + uses * f64::EPSILON)
            };
            let links = loads.iter().zip(&self.capacities).zip(&self.uses).all(fits);
            let caps = base.iter().zip(&self.bounds.ceilings).all(|(rate, most)| *rate <= most * (1.0 + ROUNDING));
            if !self.ranks().any(!(links && caps))? {
                self.floor_rates = base;
                return Ok(());
            }
        }
        if !self.ranks().are_alone() {
            let (who, what) = ("a part of a problem", "floors of flows with several paths, or that do not fit");
            return Err(Error::CannotTake { who, what, instead: "solve the whole on one rank" });
        }
        let flow = concurrent_flow(&problem.with_floors_as_demands())?;
        let part = flow.fraction.min(1.0) / flow.fraction;
        self.floor_rates = self.natural_rates(&flow.rates);
        self.floor_rates.iter_mut().for_each(|rate| *rate *= part);
        if flow.bound < 1.0 - ROUNDING - self.paths.len() as f64 * f64::EPSILON {
            // Methods get floors that fit.
            self.bounds.floors.scale(flow.fraction);
            self.infeasibility = Some(infeasibility(problem, flow)?);
        }
        Ok(())
    }

    /// Whether the floors fill each link, as they are split where they are known to fit; none without floors.
    pub(crate) fn links_full_of_floors(&self) -> Result<Vec<bool>> {
        if !self.ranks().any(!self.bounds.floors.is_empty())? {
            return Ok(Vec::new());
        }
        let mut loads = self.loads(&self.floor_rates);
        self.ranks().sum(&mut loads)?;
        let mut paths = [self.paths.len() as f64];
        self.ranks().sum(&mut paths)?;
        let is_full = |(load, capacity): (&f64, &f64)| *load >= (1.0 - no_room(paths[0] as usize)) * capacity;
        Ok(loads.iter().zip(&self.capacities).map(is_full).collect())
    }

    /// The paths of the flows for which floors leave nothing, if there are any, on one rank. Where the rates that carry
    /// the floors are given, they are closed already.
    pub(super) fn starved_by_floors(&self, problem: &Problem) -> Result<Option<Vec<u32>>> {
        let are_found = !self.floor_rates.is_empty() && problem.carrying().is_empty();
        if !are_found || self.infeasibility.is_some() || !self.ranks().are_alone() {
            return Ok(None);
        }
        let closed = paths_beside_floors(problem, &self.caller_rates(&self.floor_rates))?;
        Ok(Some(closed).filter(|closed| !closed.is_empty()))
    }
}

/// The inequality of prices that prove it, with as few flows as it takes.
fn infeasibility(problem: &Problem, flow: MulticommodityFlow) -> Result<Infeasibility> {
    let MulticommodityFlow { prices, mut flow_prices, fraction, rates, .. } = flow;
    let worth = worth(problem, &prices);
    // Of the open paths: number, flow and price.
    let (mut open, mut pacer) = (Vec::new(), Pacer::new());
    for (path, &flow) in problem.group().iter().enumerate().filter(|(path, _)| !problem.is_closed(*path)) {
        let row = problem.paths().row(path);
        pacer.did(row.links().len())?;
        open.push((path, flow as usize, row.sum(&prices)));
    }
    // Paths without a cap are not cheaper, whatever rounding did.
    for &(_, flow, price) in open.iter().filter(|(path, ..)| problem.rate_cap(*path) == f64::INFINITY) {
        flow_prices[flow] = flow_prices[flow].min(price);
    }
    // What every flow adds to the left side, less its part of the right one.
    let mut excess: Vec<f64> =
        flow_prices.iter().enumerate().map(|(flow, price)| price * problem.flow_floor(flow)).collect();
    for &(path, flow, price) in &open {
        excess[flow] -= rent(problem, path, flow_prices[flow], price);
    }
    let mut flows: Vec<u32> =
        (0u32..).zip(&excess).filter(|(_, excess)| **excess > 0.0).map(|(flow, _)| flow).collect();
    flows.sort_by(|&one, &other| excess[one as usize].total_cmp(&excess[other as usize]));
    let mut sum: f64 = flows.iter().map(|&flow| excess[flow as usize]).sum();
    flows.retain(|&flow| {
        let is_needed = sum - excess[flow as usize] <= worth;
        sum -= if is_needed { 0.0 } else { excess[flow as usize] };
        is_needed
    });
    flows.sort_unstable();
    for (flow, price) in (0u32..).zip(&mut flow_prices) {
        *price = if flows.binary_search(&flow).is_ok() { *price } else { 0.0 };
    }
    let mut cap_prices = vec![0.0; problem.paths().len()];
    for (path, flow, price) in open.into_iter().filter(|(path, ..)| problem.rate_cap(*path) < f64::INFINITY) {
        cap_prices[path] = (flow_prices[flow] - price).max(0.0);
    }
    let priced = |prices: &[f64]| (0u32..).zip(prices).filter(|(_, price)| **price > 0.0).map(|(at, _)| at).collect();
    let (links, paths) = (priced(&prices), priced(&cap_prices));
    Ok(Infeasibility { links, flows, prices, paths, flow_prices, cap_prices, fraction, rates })
}
