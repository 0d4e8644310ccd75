//! The variables of the interior point, their residuals and a step in them: of the links, and of the flows of a part.

use std::ops::Range;

use crate::paths::Numbered;

/// The iterate of the links: p and s.
pub(super) struct Variables {
    pub(super) prices: Vec<f64>,
    /// The digits of the prices beyond those of a float; empty until they are needed.
    pub(super) finer: Vec<f64>,
    pub(super) slacks: Vec<f64>,
}

/// The iterate of the flows of a part; slacks and multipliers of the bounds are in
/// [`Barriers`](super::barriers::Barriers).
pub(super) struct FlowVariables {
    /// x per path; y, λ per flow *(iterate)*.
    pub(super) rates: Numbered<f64>,
    pub(super) flow_rates: Numbered<f64>,
    pub(super) marginals: Numbered<f64>,
    /// ℓ − Q of the flows in chunks with several paths; empty where there are none *(iterate)*.
    pub(super) levels: Numbered<f64>,
    /// Which paths are those of tiny flows *(derived)*.
    pub(super) tiny: Numbered<bool>,
}

/// How far the iterate is from the optimality conditions, over all flows.
#[derive(Default)]
pub(super) struct Residuals {
    /// c − R x − s per link *(derived)*.
    pub(super) links: Vec<f64>,
    /// The largest |ρ|, the smallest λ and the largest *(derived)*.
    pub(super) largest_log: f64,
    pub(super) least_marginal: f64,
    pub(super) largest_marginal: f64,
    /// Σ s p + …, and Σ p |c − R x − s|, each relative to all revenue *(derived)*.
    pub(super) complementarity: f64,
    pub(super) infeasibility: f64,
    pub(super) revenue: f64,
}

/// How far the flows of a part are from the optimality conditions, and what Newton's equations need of U' there.
pub(super) struct FlowResiduals {
    /// ρ per flow, ℓ − q + z − v per path *(derived)*.
    pub(super) logs: Numbered<f64>,
    pub(super) paths: Numbered<f64>,
    /// ε/y per flow *(derived)*.
    pub(super) bends: Numbered<f64>,
    /// Q of the same flows as ℓ: the price that all paths of a flow pay alike; 0 for others *(derived)*.
    pub(super) commons: Numbered<f64>,
}

/// What a Newton step changes on the links: dp, ds.
pub(super) struct Step {
    pub(super) prices: Vec<f64>,
    /// The digits of dp beyond those of a float, where prices have them.
    pub(super) finer: Vec<f64>,
    pub(super) slacks: Vec<f64>,
    /// The sum of all changes, of the flows' too: a number if all are.
    pub(super) sum: f64,
    /// The largest falls, relative, of rates and of multipliers; those of tiny flows do not count.
    pub(super) falls: (f64, f64),
}

/// What a Newton step changes of the flows of a part.
pub(super) struct FlowStep {
    /// dx per path; dy per flow.
    pub(super) rates: Numbered<f64>,
    pub(super) flow_rates: Numbered<f64>,
    /// dℓ.
    pub(super) levels: Numbered<f64>,
    /// dλ/λ.
    pub(super) log_marginals: Numbered<f64>,
}

/// The flows that have a level: all, or none where every flow has one path.
fn with_levels(flows: &Range<usize>, paths: &Range<usize>) -> Range<usize> {
    if paths.len() > flows.len() { flows.clone() } else { 0..0 }
}

impl Variables {
    pub(super) fn new(links: usize) -> Self {
        Self { prices: vec![0.0; links], finer: Vec::new(), slacks: vec![0.0; links] }
    }
}

impl FlowVariables {
    pub(super) fn new(flows: &Range<usize>, paths: &Range<usize>) -> Self {
        Self {
            rates: Numbered::new(paths, 0.0),
            flow_rates: Numbered::new(flows, 0.0),
            marginals: Numbered::new(flows, 0.0),
            levels: Numbered::new(&with_levels(flows, paths), 0.0),
            tiny: Numbered::new(paths, false),
        }
    }

    /// Σ y λ.
    pub(super) fn revenue(&self) -> f64 {
        self.flow_rates.values.iter().zip(&self.marginals.values).map(|(rate, marginal)| rate * marginal).sum()
    }
}

impl FlowResiduals {
    pub(super) fn new(flows: &Range<usize>, paths: &Range<usize>) -> Self {
        Self {
            logs: Numbered::new(flows, 0.0),
            paths: Numbered::new(paths, 0.0),
            bends: Numbered::new(flows, 0.0),
            commons: Numbered::new(&with_levels(flows, paths), 0.0),
        }
    }
}

impl Step {
    pub(super) fn new(links: usize) -> Self {
        Self { prices: vec![0.0; links], finer: Vec::new(), slacks: vec![0.0; links], sum: 0.0, falls: (0.0, 0.0) }
    }
}

impl FlowStep {
    pub(super) fn new(flows: &Range<usize>, paths: &Range<usize>) -> Self {
        Self {
            rates: Numbered::new(paths, 0.0),
            flow_rates: Numbered::new(flows, 0.0),
            levels: Numbered::new(&with_levels(flows, paths), 0.0),
            log_marginals: Numbered::new(flows, 0.0),
        }
    }
}
