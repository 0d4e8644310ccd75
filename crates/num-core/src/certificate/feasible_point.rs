//! Rates made feasible, with their prices: the point that a certificate is about.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::floors;
use super::numerical_saturation::{self, NumericalSaturation};
use super::tolerances::TINY;
use crate::error::Result;
use crate::interrupt::check;
use crate::normalize::{FNorm, overload, relative};
use crate::paths::parts::{pieces, split_mut};
use crate::presolve::Presolved;
use crate::tolerances::SUMMED;
use crate::work::Workers;

/// The part of a floor that rounding of sums may miss.
const MISSED: f64 = 1e-9;

/// Rates made feasible by F-NORM, with their prices, and what goes with them.
pub(crate) struct FeasiblePoint<'a> {
    pub(super) problem: &'a Presolved,
    pub(crate) prices: Vec<f64>,
    /// By how much the fullest link was over its capacity before, or a flow below its floor; 0 if none was.
    pub(crate) overload: f64,
    /// Whether a flow is below its floor, by more than rounding: nothing is proven then.
    pub(super) misses_floors: bool,
    /// q_p + k_p of every path.
    pub(super) path_prices: Vec<f64>,
    /// x̂_p of every path.
    pub(crate) rates: Vec<f64>,
    /// ŷ_f of every flow; empty where each has one path, whose rate it is.
    totals: Vec<f64>,
    /// Load of every link under x̂, of all ranks, and load/c.
    pub(crate) loads: Vec<f64>,
    pub(crate) relative_loads: Vec<f64>,
    /// [`numerical_saturation`](Self::numerical_saturation), once it was found.
    numerical_saturation: OnceLock<Vec<NumericalSaturation>>,
}

impl<'a> FeasiblePoint<'a> {
    /// Two passes over the paths. Rates and prices are as they were found; the caps are imposed here.
    pub(crate) fn new(problem: &'a Presolved, raw_rates: &[f64], prices: &[f64]) -> Result<Self> {
        let prices = &*beside_costs(problem, prices)?;
        let mut rates = raw_rates.to_vec();
        for (rate, &cap) in rates.iter_mut().zip(problem.bounds.caps.of(0..raw_rates.len())) {
            *rate = if *rate > cap { cap } else { *rate };
        }
        problem.cut_to_flow_caps(&mut rates);
        check()?;
        // What was over a capacity, or below a floor, before.
        let violation = if problem.floor_rates.is_empty() { 0.0 } else { floors::keep(problem, &mut rates)? };
        let pass = problem.pass();
        let mut loads = pass.sums(
            #[inline(always)]
            |path, row, loads| row.add(rates[path], loads),
        )?;
        let mut relative_loads = relative(loads.clone(), &problem.capacities);
        let overload = overload(&relative_loads);
        // Rates that keep floors fit but for rounding, and are not scaled. Nor are max-min rates over several paths
        // (the utilities without blocks), whose search has summed loads beyond doubles.
        let is_max_min = problem.blocks.is_empty() && !problem.is_single_path();
        let fits = !problem.floor_rates.is_empty() || is_max_min && overload <= SUMMED;
        // [price, load/c] of every link, side by side: every path reads both.
        let quoted: Vec<[f64; 2]> = prices.iter().zip(&relative_loads).map(|(&price, &load)| [price, load]).collect();
        let mut path_prices = vec![0.0; rates.len()];
        if overload > 0.0 && !fits {
            let both = split_mut(&mut path_prices, &pass.ranges).zip(pieces(&mut rates, &pass.ranges));
            loads = pass.sums_with(
                both,
                #[inline(always)]
                |(path_prices, (rates, range)), path, row, loads| {
                    let (price, fullest) = row.sum_and_largest(&quoted);
                    path_prices[path - range.start] = price;
                    let rate = FNorm::default().divided(rates[path - range.start], fullest);
                    rates[path - range.start] = rate;
                    row.add(rate, loads);
                },
            )?;
            relative_loads = relative(loads.clone(), &problem.capacities);
        } else {
            pass.set(
                &mut path_prices,
                #[inline(always)]
                |row| row.sum_and_largest(&quoted).0,
            )?;
        }
        problem.add_costs(0..rates.len(), &mut path_prices);
        let totals = if problem.is_single_path() { Vec::new() } else { problem.flow_totals(&rates).into_owned() };
        let flow_rates = if problem.is_single_path() { &rates } else { &totals };
        let misses = |(rate, floor): (&f64, &f64)| *rate < floor * (1.0 - MISSED);
        let misses_floors = flow_rates.iter().zip(problem.bounds.floors.of(0..problem.flows())).any(misses);
        Ok(Self {
            problem,
            prices: prices.to_vec(),
            overload: overload.max(violation),
            misses_floors,
            path_prices,
            rates,
            totals,
            loads,
            relative_loads,
            numerical_saturation: OnceLock::new(),
        })
    }

    /// Who does the passes over it.
    pub(crate) fn workers(&self) -> &dyn Workers {
        &*self.problem.workers
    }

    /// Whether no rates keep the floors: nothing is proven then, whatever part of them is kept.
    pub(crate) fn is_infeasible(&self) -> bool {
        self.problem.infeasibility.is_some()
    }

    /// ŷ_f of every flow.
    pub(crate) fn flow_rates(&self) -> &[f64] {
        if self.problem.is_single_path() { &self.rates } else { &self.totals }
    }

    /// The numerical saturation of every flow; empty without user-defined utilities.
    pub(super) fn numerical_saturation(&self) -> Result<&[NumericalSaturation]> {
        if self.numerical_saturation.get().is_none() {
            let found = numerical_saturation::find(self.problem, self.flow_rates())?;
            self.numerical_saturation.get_or_init(|| found);
        }
        Ok(self.numerical_saturation.get().expect("it was found"))
    }

    /// x̂_p of every path, in the caller's units.
    pub(crate) fn caller_rates(&self) -> Vec<f64> {
        self.problem.caller_rates(&self.rates)
    }

    /// By how much x̂ is over a capacity, at most: rounding.
    pub(crate) fn overload_left(&self) -> f64 {
        overload(&self.relative_loads)
    }
}

/// Prices of links; those that are rounding beside the costs of all paths through the link are 0. Where nothing is
/// worth its cost no rate is left that a gap could be relative to, and such prices would be all of it.
fn beside_costs<'a>(problem: &Presolved, prices: &'a [f64]) -> Result<Cow<'a, [f64]>> {
    if !problem.ranks().any(!problem.costs.is_empty())? {
        return Ok(prices.into());
    }
    let unknown = vec![[f64::INFINITY]; prices.len()];
    let least = problem.pass().least(unknown, |path, row, least| row.lower(|a| [problem.costs[path] / a], least))?;
    let of_links = prices.iter().zip(least.as_flattened());
    Ok(of_links.map(|(&price, least)| if price <= TINY * least { 0.0 } else { price }).collect())
}
