//! The best responses of flows to prices, on which the dual bound rests.

use std::ops::Range;

use super::FeasiblePoint;
use super::tolerances::{AT_DEMAND, BESIDE_DEMAND, INSTEAD_OF_0, TINY};
use crate::error::{Error, Result};
use crate::presolve::{NaturalBlock, Presolved};
use crate::tolerances::ROUNDING;

/// The best responses of a chunk of flows: what attains V_f.
#[derive(Default)]
pub(super) struct BestResponse {
    /// y_f of every flow of the chunk, and x_p of every path.
    pub(super) rates: Vec<f64>,
    pub(super) path_rates: Vec<f64>,
    /// U' there, where a bound is reached.
    pub(super) marginals: Vec<f64>,
    pub(super) scratch: Vec<f64>,
}

impl BestResponse {
    /// Fills the paths of every flow in order of price, given for those paths. Returns whether any path or flow may be
    /// at a bound.
    pub(super) fn respond(
        &mut self,
        problem: &Presolved,
        block: &NaturalBlock,
        flows: Range<usize>,
        path_prices: &[f64],
    ) -> bool {
        let paths = problem.paths_of_all(&flows);
        let path_prices = &path_prices[..paths.len()];
        self.scratch.resize(flows.len(), 0.0);
        self.path_rates.resize(paths.len(), 0.0);
        problem.path_demands_into(block, &flows, path_prices, &mut self.path_rates);
        let of_flows;
        let ceilings = match &problem.bounds.reaches {
            none if none.is_empty() => &problem.bounds.ceilings[paths.clone()],
            // Beside each path there may be others of its price, which are not listed.
            reaches => {
                let of_paths = |flow: usize| std::iter::repeat_n(reaches[flow], problem.paths_of(flow).len());
                of_flows = flows.clone().flat_map(of_paths).collect::<Vec<f64>>();
                &of_flows
            }
        };
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
                bounded |= self.path_rates[order[0]] >= problem.bounds.saturations[flow];
                let mut rate = 0.0;
                for &path in &order {
                    let filled = (self.path_rates[path] - rate).clamp(0.0, ceilings[path]);
                    self.path_rates[path] = filled;
                    rate += filled;
                }
                self.rates.push(rate);
            }
        }
        let has_floors = !problem.bounds.floors.is_empty();
        bounded || has_floors || self.path_rates.iter().zip(ceilings).any(|(rate, ceiling)| rate == ceiling)
    }
}

impl FeasiblePoint<'_> {
    /// The dual bound rests on demands being best responses. User-defined utilities may break that, so it is
    /// checked where it was used: at every demand U' must fall, through the price of every path that is between its
    /// bounds, from above the price of one that is full and to below the price of one that is empty.
    ///
    /// # Errors
    /// [`Error::Utility`] naming the first flow whose demand is none.
    pub(crate) fn check_demands(&self) -> Result<()> {
        let (problem, mut best) = (self.problem, BestResponse::default());
        for block in problem.blocks.iter().filter(|block| block.is_user_defined) {
            let first = problem.paths_of_all(&block.flows).start;
            best.respond(problem, block, block.flows.clone(), &self.path_prices[first..]);
            let marginals_at = |rate: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
                let rates: Vec<f64> = block.flows.clone().zip(&best.rates).map(|(flow, &x)| rate(flow, x)).collect();
                let mut marginals = vec![0.0; rates.len()];
                block.utility.marginal_into(0..rates.len(), &rates, &mut marginals);
                marginals
            };
            let nothing =
                |flow: usize| INSTEAD_OF_0 * problem.bounds.ceilings[problem.paths_of(flow)].iter().sum::<f64>();
            // Just below the demand itself, however small: U' may fall by much between that and `nothing`.
            let some = |flow: usize, x: f64| if x > 0.0 { x } else { nothing(flow) };
            let before = marginals_at(&|flow, x| some(flow, x) * (1.0 - BESIDE_DEMAND));
            let after = marginals_at(&|flow, x| x.max(nothing(flow)) * (1.0 + BESIDE_DEMAND));
            for (place, flow) in block.flows.clone().enumerate() {
                let wrong = |path: &usize| {
                    let (rate, price) = (best.path_rates[path - first], self.path_prices[*path]);
                    // A sum of rates of paths is rounded.
                    let is_held = best.rates[place] <= problem.bounds.floors[flow] * (1.0 + ROUNDING);
                    let too_much = rate > 0.0 && before[place] < price * (1.0 - AT_DEMAND) && !is_held;
                    let has_room =
                        rate < problem.bounds.ceilings[*path] && !problem.is_saturated(flow, best.rates[place]);
                    let too_little = has_room && after[place] > price * (1.0 + AT_DEMAND);
                    too_much || too_little
                };
                let found = problem.paths_of(flow).find(wrong);
                let rises = after[place] > before[place] * (1.0 + TINY);
                if let Some(path) = found.or(rises.then_some(problem.paths_of(flow).start)) {
                    let (unit, price_unit) = (problem.units.rate, problem.units.price());
                    let (price, demand) = (self.path_prices[path] * price_unit, best.rates[place] * unit);
                    let is = if found.is_some() { "is" } else { "rises from" };
                    let shown = |value: f64| if value == 0.0 { "0".into() } else { format!("{value:e}") };
                    let [price, demand, marginal] = [price, demand, before[place] * price_unit].map(shown);
                    let what =
                        format!("its demand at price {price} is {demand}, but its marginal there {is} {marginal}");
                    return Err(Error::Utility { flow: problem.caller.flows[flow] as usize, what });
                }
            }
        }
        Ok(())
    }
}
