//! FILL: the weighted max-min rates whose weights are the raw rates; the cost of a [`max_min`](crate::max_min()).

use super::{FNorm, Normalizer};
use crate::paths::Paths;
use crate::problem::Problem;
use crate::water_fill::WaterFill;

/// FILL: the weighted max-min rates of the network with the raw rates as weights. Every path with a rate above 0 is
/// then at its cap or has a full link, so rates are raised as well as lowered; a path with rate 0 stays there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fill;

impl Normalizer for Fill {
    fn normalize(&self, capacities: &[f64], paths: &Paths, rates: &mut [f64]) {
        self.normalize_capped(capacities, paths, &[], rates);
    }

    fn normalize_capped(&self, capacities: &[f64], paths: &Paths, caps: &[f64], rates: &mut [f64]) {
        let weights = rates.to_vec();
        match WaterFill::new(capacities, paths) {
            Ok(mut water_fill) => water_fill.run(&weights, caps, rates),
            // Stopped on the way: feasible all the same.
            Err(_) => FNorm::default().normalize_capped(capacities, paths, caps, rates),
        }
    }

    /// Over several paths the cap of a flow is one more link of each, so that what it leaves goes to others.
    fn normalize_problem(&self, problem: &Problem, rates: &mut [f64]) {
        let caps: Vec<f64> = match problem.has_rate_caps() || problem.has_flow_caps() {
            true => (0..rates.len()).map(|path| problem.limit(path)).collect(),
            false => Vec::new(),
        };
        if problem.has_flow_caps() && !problem.is_single_path() {
            let caps_of_flows = (0..problem.flows()).map(|flow| problem.flow_cap(flow));
            let owners = problem.group().iter().map(|&flow| flow as usize);
            let (capacities, paths) = flow_caps_as_links(problem.capacities(), problem.paths(), caps_of_flows, owners);
            self.normalize_capped(&capacities, &paths, &caps, rates);
        } else {
            self.normalize_capped(problem.capacities(), problem.paths(), &caps, rates);
        }
    }
}

/// The capacities and paths of a network with one more link, on all its paths, for every flow whose cap is finite.
/// `owners` is the flow of every path.
pub(crate) fn flow_caps_as_links(
    capacities: &[f64],
    paths: &Paths,
    flow_caps: impl IntoIterator<Item = f64>,
    owners: impl IntoIterator<Item = usize>,
) -> (Vec<f64>, Paths) {
    let mut capacities = capacities.to_vec();
    let link = |cap: f64| {
        cap.is_finite().then(|| {
            capacities.push(cap);
            capacities.len() as u32 - 1
        })
    };
    let of_flow: Vec<Option<u32>> = flow_caps.into_iter().map(link).collect();
    let of_path: Vec<Option<u32>> = owners.into_iter().map(|flow| of_flow[flow]).collect();
    (capacities, paths.extended(&of_path))
}
