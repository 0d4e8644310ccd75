//! The variables of the interior point, their residuals and a step in them. Vectors are per link, path or flow.

use crate::presolve::Presolved;

/// The iterate; slacks and multipliers of the bounds are in [`Barriers`](super::barriers::Barriers).
pub(super) struct Variables {
    /// p, s per link; x per path; y, λ per flow *(iterate)*.
    pub(super) prices: Vec<f64>,
    pub(super) slacks: Vec<f64>,
    pub(super) rates: Vec<f64>,
    pub(super) flow_rates: Vec<f64>,
    pub(super) marginals: Vec<f64>,
    /// ℓ − Q of the flows in chunks with several paths; empty where there are none *(iterate)*.
    pub(super) levels: Vec<f64>,
    /// Which paths are those of tiny flows *(derived)*.
    pub(super) tiny: Vec<bool>,
}

/// How far the iterate is from the optimality conditions, and what Newton's equations need of U' there.
#[derive(Default)]
pub(super) struct Residuals {
    /// c − R x − s per link, ρ per flow, ℓ − q + z − v per path *(derived)*.
    pub(super) links: Vec<f64>,
    pub(super) logs: Vec<f64>,
    pub(super) paths: Vec<f64>,
    /// ε/y per flow *(derived)*.
    pub(super) bends: Vec<f64>,
    /// Q of the same flows as ℓ: the price that all paths of a flow pay alike; 0 for others *(derived)*.
    pub(super) commons: Vec<f64>,
    /// The largest |ρ|, and the smallest λ *(derived)*.
    pub(super) largest_log: f64,
    pub(super) least_marginal: f64,
    /// Σ s p + …, and Σ p |c − R x − s|, each relative to all revenue *(derived)*.
    pub(super) complementarity: f64,
    pub(super) infeasibility: f64,
    pub(super) revenue: f64,
}

/// What a Newton step changes.
pub(super) struct Step {
    /// dp, ds per link; dx per path; dy per flow.
    pub(super) prices: Vec<f64>,
    pub(super) slacks: Vec<f64>,
    pub(super) rates: Vec<f64>,
    pub(super) flow_rates: Vec<f64>,
    /// dℓ.
    pub(super) levels: Vec<f64>,
    /// dλ/λ.
    pub(super) log_marginals: Vec<f64>,
    /// The sum of all, a number if all are.
    pub(super) sum: f64,
    /// The largest fall of a rate, relative, tiny flows apart.
    pub(super) fall: f64,
}

/// Number of flows that have a level: all, or none where every flow has one path.
fn levels(problem: &Presolved) -> usize {
    let (paths, flows) = (problem.paths.len(), problem.flows());
    if paths > flows { flows } else { 0 }
}

impl Variables {
    pub(super) fn new(problem: &Presolved) -> Self {
        let (links, paths, flows) = (problem.capacities.len(), problem.paths.len(), problem.flows());
        Self {
            prices: vec![0.0; links],
            slacks: vec![0.0; links],
            rates: vec![0.0; paths],
            flow_rates: vec![0.0; flows],
            marginals: vec![0.0; flows],
            levels: vec![0.0; levels(problem)],
            tiny: vec![false; paths],
        }
    }

    /// Σ y λ.
    pub(super) fn revenue(&self) -> f64 {
        self.flow_rates.iter().zip(&self.marginals).map(|(rate, marginal)| rate * marginal).sum()
    }
}

impl Residuals {
    pub(super) fn new(problem: &Presolved) -> Self {
        let flows = problem.flows();
        Self {
            links: vec![0.0; problem.capacities.len()],
            logs: vec![0.0; flows],
            paths: vec![0.0; problem.paths.len()],
            bends: vec![0.0; flows],
            commons: vec![0.0; levels(problem)],
            ..Self::default()
        }
    }
}

impl Step {
    pub(super) fn new(problem: &Presolved) -> Self {
        let (links, flows) = (problem.capacities.len(), problem.flows());
        Self {
            prices: vec![0.0; links],
            slacks: vec![0.0; links],
            rates: vec![0.0; problem.paths.len()],
            flow_rates: vec![0.0; flows],
            levels: vec![0.0; levels(problem)],
            log_marginals: vec![0.0; flows],
            sum: 0.0,
            fall: 0.0,
        }
    }
}
