//! A price rule as a method of the solver.

use std::sync::Arc;

use super::Rule;
use super::link_prices::LinkPrices;
use super::links::cut;
use super::reduced::Reduced;
use super::respond::Respond;
use super::serial::{Serial, bounds, power_demands};
use crate::error::{Error, Result};
use crate::presolve::Presolved;
use crate::solve::{Method, State};

/// Link prices over the flows of a problem.
pub(in crate::solve) struct PriceMethod {
    links: LinkPrices,
    flows: Box<dyn Respond>,
    /// Whether the solver checks the rates of every step: answers of a user-defined utility.
    shows_rates: bool,
}

impl PriceMethod {
    /// # Errors
    /// [`Error::Unsupported`] for flows that the rule cannot take, and those of the workers, which
    /// respond where that pays.
    pub(in crate::solve) fn new(rule: Rule, name: &str, problem: &Arc<Presolved>) -> Result<Self> {
        if let Some(alpha) = rule.get().common_alpha() {
            check_common_alpha(problem, name, alpha)?;
        }
        let bounds = bounds(problem)?;
        let flows = match power_demands(problem, &bounds.least_prices) {
            Some(demands) => problem.workers.respond(problem.capacities.len(), &problem.paths, &demands)?,
            None => None,
        };
        let flows = match flows {
            Some(flows) => flows,
            None => Box::new(Serial::new(problem.clone(), bounds)?),
        };
        let ranks = problem.ranks();
        let flows = if ranks.are_alone() { flows } else { Box::new(Reduced::new(flows, ranks.clone())) };
        let shows_rates = problem.blocks.iter().any(|block| block.is_user_defined);
        Ok(Self { links: LinkPrices::new(rule, problem.capacities.clone())?, flows, shows_rates })
    }
}

impl Method for PriceMethod {
    fn write_rates(&mut self, _problem: &Presolved, state: &mut State) {
        self.flows.rates_into(&mut state.rates);
    }

    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        state.prices.iter_mut().for_each(|price| *price = cut(*price));
        self.links.set_prices(&state.prices)?;
        self.links.start(&mut *self.flows)?;
        if self.shows_rates {
            self.write_rates(problem, state);
        }
        Ok(self.links.gap_estimate())
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.links.find_flat_directions(&problem.paths, problem.ranks())?;
        self.links.step(&mut *self.flows)?;
        state.prices.copy_from_slice(self.links.prices());
        if self.shows_rates {
            self.write_rates(problem, state);
        }
        Ok(self.links.gap_estimate())
    }
}

/// α of the first flow, the smallest of the ranks'; 1 without flows, where any would do.
///
/// # Errors
/// Those of [`Ranks`](crate::Ranks).
pub(in crate::solve) fn first_alpha(problem: &Presolved) -> Result<f64> {
    let first = problem.blocks.first().map_or(f64::INFINITY, |block| block.utility.alpha(0).unwrap_or(1.0));
    let mut least = [first];
    problem.ranks().min(&mut least)?;
    Ok(if least[0] < f64::INFINITY { least[0] } else { 1.0 })
}

/// # Errors
/// [`Error::Unsupported`] naming the first flow whose utility is no power law, or whose α is another.
fn check_common_alpha(problem: &Presolved, method: &str, common: f64) -> Result<()> {
    let unsupported = |what| Err(Error::Unsupported { method: method.into(), what, instead: "use \"fast-ned\"" });
    let mut first = None;
    for block in &problem.blocks {
        for (place, &flow) in problem.caller.flows[block.flows.clone()].iter().enumerate() {
            match (block.utility.alpha(place), first) {
                (None, _) => {
                    return unsupported(format!("flow {flow}, whose marginal utility is no power law k x^-alpha"));
                }
                (Some(alpha), _) if alpha == common => first = first.or(Some(flow)),
                (Some(alpha), Some(other)) => {
                    return unsupported(format!("alpha {common} of flow {other} beside alpha {alpha} of flow {flow}"));
                }
                (Some(alpha), None) => {
                    return unsupported(format!("alpha {alpha} of flow {flow}, only alpha {common}"));
                }
            }
        }
    }
    Ok(())
}
