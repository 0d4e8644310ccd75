//! Changes of parameters and of outcomes, in the caller's units and numbering.

use super::kink::{self, Kink};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::utility::ParameterName;

/// A change of the parameters of a problem, or the derivative in each; an empty list is a change of nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParameterChange {
    /// Per link.
    pub capacities: Vec<f64>,
    /// Per path.
    pub rate_caps: Vec<f64>,
    /// Per flow.
    pub flow_caps: Vec<f64>,
    /// Per flow.
    pub flow_floors: Vec<f64>,
    /// Per path.
    pub path_costs: Vec<f64>,
    /// Of every link of every path, in the order of [`Paths::indices`](crate::Paths::indices).
    pub coefficients: Vec<f64>,
    /// Weight of every flow.
    pub weight: Vec<f64>,
    /// Scale of every flow.
    pub scale: Vec<f64>,
    /// α of every flow.
    pub alpha: Vec<f64>,
    /// Size of every flow.
    pub size: Vec<f64>,
    /// ε of every flow.
    pub epsilon: Vec<f64>,
}

/// A change of rates, prices and objective, or the derivative of a function in each; an empty list is 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutcomeChange {
    /// Per path.
    pub rates: Vec<f64>,
    /// Per flow.
    pub flow_rates: Vec<f64>,
    /// Per link.
    pub prices: Vec<f64>,
    /// The change of Σ U − Σ k x. NaN in `alpha` where a flow has α = 1: there U, as a function of α, has a pole.
    pub objective: f64,
}

impl ParameterChange {
    /// The values of a parameter of utilities.
    pub fn of(&self, name: ParameterName) -> &Vec<f64> {
        match name {
            ParameterName::Weight => &self.weight,
            ParameterName::Scale => &self.scale,
            ParameterName::Alpha => &self.alpha,
            ParameterName::Size => &self.size,
            ParameterName::Epsilon => &self.epsilon,
        }
    }

    /// The values of a parameter of utilities, to be changed.
    pub fn of_mut(&mut self, name: ParameterName) -> &mut Vec<f64> {
        match name {
            ParameterName::Weight => &mut self.weight,
            ParameterName::Scale => &mut self.scale,
            ParameterName::Alpha => &mut self.alpha,
            ParameterName::Size => &mut self.size,
            ParameterName::Epsilon => &mut self.epsilon,
        }
    }

    pub(super) fn check(&self, problem: &Problem) -> Result<()> {
        let (links, paths, flows) = (problem.links(), problem.paths().len(), problem.flows());
        check_list("capacities", &self.capacities, links, "link")?;
        check_list("rate_cap", &self.rate_caps, paths, "path")?;
        check_list("flow_cap", &self.flow_caps, flows, "flow")?;
        check_list("flow_floor", &self.flow_floors, flows, "flow")?;
        check_list("path_cost", &self.path_costs, paths, "path")?;
        check_list("coefficients", &self.coefficients, problem.paths().indices().len(), "crossing")?;
        ParameterName::ALL.into_iter().try_for_each(|name| check_list(name.name(), self.of(name), flows, "flow"))?;
        let has_none = |(link, change): (usize, &f64)| *change != 0.0 && problem.capacities()[link] == 0.0;
        let failed =
            if self.capacities.iter().enumerate().any(has_none) { kink::failed_links(problem) } else { Vec::new() };
        if let Some(link) = failed.into_iter().find(|&link| self.capacities[link as usize] != 0.0) {
            let failed = Kink::FailedLink(link);
            let what = format!("{failed}, and its flows come back at once with any capacity: give it one first");
            return Err(Error::NotDifferentiable { what });
        }
        let closed = |change: f64, cap: f64, kink: Kink| match change != 0.0 && cap == 0.0 {
            true => Err(Error::NotDifferentiable { what: format!("{kink}, which closes it") }),
            false => Ok(()),
        };
        let mut caps = self.rate_caps.iter().enumerate();
        caps.try_for_each(|(path, &change)| closed(change, problem.rate_cap(path), Kink::ClosedPath(path)))?;
        let mut caps = self.flow_caps.iter().enumerate();
        caps.try_for_each(|(flow, &change)| closed(change, problem.flow_cap(flow), Kink::ClosedFlow(flow)))?;
        for name in ParameterName::ALL {
            let changed = self.of(name).iter().enumerate().filter(|(_, change)| **change != 0.0);
            if let Some(flow) = changed.map(|(flow, _)| flow).find(|&flow| !has(problem, flow, name)) {
                let own = ParameterName::ALL.into_iter().filter(|&name| has(problem, flow, name));
                let own: Vec<&str> = own.map(ParameterName::name).collect();
                let (what, instead) = match own.is_empty() {
                    true => (format!("the {} of flow {flow}", name.name()), "its utility has none"),
                    false => (
                        format!("the {} of flow {flow}, whose parameters are {}", name.name(), own.join(", ")),
                        "name one of these",
                    ),
                };
                return Err(Error::NoSensitivity { what, instead });
            }
        }
        Ok(())
    }
}

impl OutcomeChange {
    /// Whether only the objective counts.
    pub(super) fn is_of_objective(&self) -> bool {
        [&self.rates, &self.flow_rates, &self.prices].into_iter().flatten().all(|value| *value == 0.0)
    }

    pub(super) fn check(&self, problem: &Problem) -> Result<()> {
        check_list("rates", &self.rates, problem.paths().len(), "path")?;
        check_list("flow_rates", &self.flow_rates, problem.flows(), "flow")?;
        check_list("prices", &self.prices, problem.links(), "link")?;
        check_list("objective", &[self.objective], 1, "problem")
    }
}

/// Whether the utility of a flow has a parameter.
fn has(problem: &Problem, flow: usize, name: ParameterName) -> bool {
    let (utility, place) = problem.utility(flow);
    utility.log_marginal_slope(place, name, 1.0).is_some()
}

/// The right number of finite entries, or none.
fn check_list(what: &str, list: &[f64], expected: usize, per: &'static str) -> Result<()> {
    if !list.is_empty() && list.len() != expected {
        return Err(Error::Length { what: what.into(), found: list.len(), expected, per });
    }
    match list.iter().position(|value| !value.is_finite()) {
        Some(place) => Err(Error::Setting {
            name: format!("the change of {what} of {per} {place}"),
            value: list[place].to_string(),
            expected: "a finite number".into(),
        }),
        None => Ok(()),
    }
}

/// An entry of a list that may be empty.
pub(super) fn entry(list: &[f64], place: usize) -> f64 {
    if list.is_empty() { 0.0 } else { list[place] }
}
