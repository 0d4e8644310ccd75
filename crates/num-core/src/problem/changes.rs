//! Problems that differ from another in one thing; all else is shared.

use std::sync::Arc;

use super::{Problem, blocks, check_capacities};
use crate::error::{Error, Result, check_length};
use crate::utility::Utilities;

impl Problem {
    /// This problem with a cap on the rate of every path, ∞ for none. A path capped at 0 is closed, as one over a
    /// failed link is.
    ///
    /// # Errors
    /// [`Error::RateCap`], or [`Error::Length`] unless there is one cap per path.
    pub fn with_rate_caps(mut self, rate_caps: Vec<f64>) -> Result<Self> {
        check_length("rate_cap", rate_caps.len(), self.paths.len(), "path")?;
        // Invariant 4: caps are not negative.
        if let Some(path) = rate_caps.iter().position(|value| value.is_nan() || *value < 0.0) {
            return Err(Error::RateCap { path, value: rate_caps[path] });
        }
        self.rate_caps = Arc::new(if rate_caps.iter().all(|cap| cap.is_infinite()) { vec![] } else { rate_caps });
        Ok(self)
    }

    /// This problem with a cap on the rate of every flow over all its paths, its demand; ∞ for none. A flow capped
    /// at 0 gets nothing, as one that no path is open to. All else is shared.
    ///
    /// # Errors
    /// [`Error::FlowCap`], or [`Error::Length`] unless there is one cap per flow.
    pub fn with_flow_caps(mut self, flow_caps: Vec<f64>) -> Result<Self> {
        check_length("flow_cap", flow_caps.len(), self.flows, "flow")?;
        // Invariant 4: caps are not negative.
        if let Some(flow) = flow_caps.iter().position(|value| value.is_nan() || *value < 0.0) {
            return Err(Error::FlowCap { flow, value: flow_caps[flow] });
        }
        check_floors(&self.flow_floors, |flow| flow_caps[flow])?;
        self.flow_caps = Arc::new(if flow_caps.iter().all(|cap| cap.is_infinite()) { vec![] } else { flow_caps });
        Ok(self)
    }

    /// This problem with a floor for the rate of every flow over all its paths, which is guaranteed to it; 0 for none.
    /// A solve ends as [`Status::Infeasible`](crate::Status::Infeasible) where the floors do not fit. The floor of a
    /// flow without an open path does not count. A flow without a floor for which the others leave nothing, and whose
    /// marginal utility is ∞ then, is a failed flow. All else is shared.
    ///
    /// # Errors
    /// [`Error::FlowFloor`], or [`Error::Length`] unless there is one floor per flow.
    pub fn with_flow_floors(mut self, flow_floors: Vec<f64>) -> Result<Self> {
        check_length("flow_floor", flow_floors.len(), self.flows, "flow")?;
        // Invariant 5: floors are finite, not negative and at most the caps.
        check_floors(&flow_floors, |flow| self.flow_cap(flow))?;
        self.flow_floors = Arc::new(if flow_floors.iter().all(|&floor| floor == 0.0) { vec![] } else { flow_floors });
        self.carrying = Arc::default();
        Ok(self)
    }

    /// This problem with a priority of every flow, smaller first: each class of flows of one priority is allocated in
    /// the best way while every class before it keeps the rates of its flows, whose splits may move. All else is
    /// shared.
    ///
    /// # Errors
    /// [`Error::Priority`], or [`Error::Length`] unless there is one priority per flow.
    pub fn with_priorities(mut self, priorities: Vec<f64>) -> Result<Self> {
        check_length("priority", priorities.len(), self.flows, "flow")?;
        // Invariant 7: priorities are finite.
        if let Some(flow) = priorities.iter().position(|priority| !priority.is_finite()) {
            return Err(Error::Priority { flow, value: priorities[flow] });
        }
        let are_one = priorities.windows(2).all(|pair| pair[0] == pair[1]);
        self.priorities = Arc::new(if are_one { vec![] } else { priorities });
        Ok(self)
    }

    /// This problem with its floors for the demands of its flows.
    pub(crate) fn with_floors_as_demands(&self) -> Self {
        let (flow_caps, flow_floors) = (Arc::clone(&self.flow_floors), Arc::default());
        Self { flow_caps, flow_floors, priorities: Arc::default(), carrying: Arc::default(), ..self.clone() }
    }

    /// This problem with a cost of every path: utility lost per unit of rate on it. The objective is Σ U − Σ k x. All
    /// else is shared.
    ///
    /// # Errors
    /// [`Error::Cost`], or [`Error::Length`] unless there is one cost per path.
    pub fn with_path_costs(mut self, path_costs: Vec<f64>) -> Result<Self> {
        check_length("path_cost", path_costs.len(), self.paths.len(), "path")?;
        // Invariant 5: costs are finite and not negative.
        check_costs("path", &path_costs)?;
        self.path_costs = Arc::new(if path_costs.iter().all(|&cost| cost == 0.0) { vec![] } else { path_costs });
        Ok(self)
    }

    /// This problem with a cost of every link, utility lost per unit of load on it, in place of the costs of paths: a
    /// path costs what its links do, times its coefficients. All else is shared.
    ///
    /// # Errors
    /// [`Error::Cost`], or [`Error::Length`] unless there is one cost per link.
    pub fn with_link_costs(self, link_costs: &[f64]) -> Result<Self> {
        check_length("link_cost", link_costs.len(), self.links(), "link")?;
        check_costs("link", link_costs)?;
        let of_path = |path: usize| self.paths.row(path).sum(link_costs);
        let costs = (0..self.paths.len()).map(of_path).collect();
        self.with_path_costs(costs)
    }

    /// This problem with other capacities; 0 for a link that has failed, ∞ for one without a limit. All else is shared.
    ///
    /// # Errors
    /// [`Error::Capacity`], or [`Error::Length`] unless there is one capacity per link.
    pub fn with_capacities(mut self, capacities: Vec<f64>) -> Result<Self> {
        check_length("capacities", capacities.len(), self.capacities.len(), "link")?;
        check_capacities(&capacities)?;
        self.capacities = Arc::new(capacities);
        Ok(self)
    }

    /// This problem with other utilities, one per flow. All else is shared.
    ///
    /// # Errors
    /// [`Error::Length`] when there are utilities for another number of flows, and the errors of a utility;
    /// [`Error::Stopped`].
    pub fn with_utility(mut self, utilities: impl Into<Utilities>) -> Result<Self> {
        // Invariant 6: one utility per flow.
        self.blocks = Arc::new(blocks::of(utilities.into(), self.flows)?);
        Ok(self)
    }

    /// This problem with some more paths closed: their caps become 0. A flow without an open path
    /// gets nothing, as one whose links have failed. All else is shared.
    ///
    /// # Errors
    /// [`Error::UnknownPath`].
    pub fn with_paths_closed(mut self, paths: &[u32]) -> Result<Self> {
        let count = self.paths.len();
        if let Some(&path) = paths.iter().find(|&&path| path as usize >= count) {
            return Err(Error::UnknownPath { path: i64::from(path), paths: count });
        }
        if !paths.is_empty() {
            let mut rate_caps: Vec<f64> = (0..count).map(|path| self.rate_cap(path)).collect();
            paths.iter().for_each(|&path| rate_caps[path as usize] = 0.0);
            self.rate_caps = Arc::new(rate_caps);
        }
        Ok(self)
    }
}

fn check_floors(floors: &[f64], cap: impl Fn(usize) -> f64) -> Result<()> {
    let is_wrong = |(flow, &floor): (usize, &f64)| !((0.0..f64::INFINITY).contains(&floor) && floor <= cap(flow));
    match floors.iter().enumerate().position(is_wrong) {
        Some(flow) => Err(Error::FlowFloor { flow, value: floors[flow], cap: cap(flow) }),
        None => Ok(()),
    }
}

fn check_costs(per: &'static str, costs: &[f64]) -> Result<()> {
    match costs.iter().position(|cost| !(0.0..f64::INFINITY).contains(cost)) {
        Some(number) => Err(Error::Cost { per, number, value: costs[number] }),
        None => Ok(()),
    }
}
