//! What prices of links prove of demands, by weak duality.
//!
//! ```text
//! Σ_f d_f v_f · λ ≤ Σ_l c_l p_l + Σ_p r_p (v_f − q_p)₊             for any p, v ≥ 0 and any rates that carry λ d_f
//! Σ_l c_l p_l · μ ≥ Σ_f d_f v_f − Σ_p r_p (v_f − q_p)₊             for any rates that carry d_f at the utilization μ
//! ```
//!
//! with q_p = Σ_{l ∈ p} a_lp p_l: both add p_l times the capacity of every link to (v_f − q_p) times the cap of every
//! path that is cheaper than v_f. A path without a cap has q_p ≥ v_f. For given p the right side of the second is
//! largest where v_f is the price of the last path that f fills, if it fills its paths from the cheapest on: it is the
//! least that the demands can cost.

use super::demands::Demands;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::problem::Problem;

/// Prices of links and flows, and the bound that they prove.
#[derive(Debug)]
pub(super) struct Prices {
    pub(super) of_links: Vec<f64>,
    pub(super) of_flows: Vec<f64>,
    pub(super) bound: f64,
}

impl Prices {
    /// Those that prove nothing, with the bound that holds without any.
    pub(super) fn none(problem: &Problem, bound: f64) -> Self {
        Self { of_links: vec![0.0; problem.links()], of_flows: vec![0.0; problem.flows()], bound }
    }

    /// The bound on λ; of flow prices v_f = min (q_p + what the cap of the path costs).
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn of_fraction(demands: &Demands<'_>, mut of_links: Vec<f64>, of_caps: &[f64]) -> Result<Self> {
        let problem = demands.problem;
        make_unlimited_free(problem, &mut of_links);
        let mut worth = worth(problem, &of_links);
        let (mut of_flows, mut paid, mut pacer) = (vec![0.0; problem.flows()], 0.0, Pacer::new());
        for (flow, paths) in demands.flows() {
            let price = |path: u32| problem.paths().row(path as usize).sum(&of_links);
            let with_cap = |&path: &u32| price(path) + of_caps[path as usize];
            let of_flow = paths.iter().map(with_cap).fold(f64::INFINITY, f64::min);
            for &path in paths {
                pacer.did(1 + problem.paths().links(path as usize).len())?;
                worth += rent(problem, path as usize, of_flow, price(path));
            }
            of_flows[flow] = of_flow;
            paid += of_flow * demands.volumes[flow];
        }
        Ok(Self { of_links, of_flows, bound: worth / paid }.per(paid).unwrap_or(Self::none(problem, f64::INFINITY)))
    }

    /// The bound on μ.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn of_utilization(demands: &Demands<'_>, mut of_links: Vec<f64>) -> Result<Self> {
        let problem = demands.problem;
        make_unlimited_free(problem, &mut of_links);
        let worth = worth(problem, &of_links);
        let (mut of_flows, mut cost, mut pacer) = (vec![0.0; problem.flows()], 0.0, Pacer::new());
        let mut priced: Vec<(f64, f64)> = Vec::new();
        for (flow, paths) in demands.flows() {
            priced.clear();
            for path in paths.iter().map(|&path| path as usize) {
                pacer.did(1 + problem.paths().links(path).len())?;
                priced.push((problem.paths().row(path).sum(&of_links), problem.rate_cap(path)));
            }
            priced.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
            let mut left = demands.volumes[flow];
            for &(price, cap) in priced.iter() {
                let rate = left.min(cap);
                (of_flows[flow], cost, left) = (price, cost + rate * price, left - rate);
                if left <= 0.0 {
                    break;
                }
            }
        }
        Ok(Self { of_links, of_flows, bound: cost / worth }.per(worth).unwrap_or(Self::none(problem, 0.0)))
    }

    /// In another unit, if that is a number.
    fn per(mut self, unit: f64) -> Option<Self> {
        self.of_links.iter_mut().chain(&mut self.of_flows).for_each(|price| *price /= unit);
        (unit > 0.0 && self.bound.is_finite()).then_some(self)
    }
}

/// Links without a limit have no price.
fn make_unlimited_free(problem: &Problem, of_links: &mut [f64]) {
    for (price, _) in of_links.iter_mut().zip(problem.capacities()).filter(|(_, capacity)| capacity.is_infinite()) {
        *price = 0.0;
    }
}

/// Σ c_l p_l: what the links are worth.
pub(crate) fn worth(problem: &Problem, of_links: &[f64]) -> f64 {
    of_links.iter().zip(problem.capacities()).map(|(&price, &capacity)| paid(price, capacity)).sum()
}

/// r_p (v_f − q_p)₊: what the cap of a path is worth to its flow.
pub(crate) fn rent(problem: &Problem, path: usize, of_flow: f64, of_path: f64) -> f64 {
    paid(of_flow - of_path, problem.rate_cap(path))
}

/// A price times an amount that may be infinite where nothing is paid.
fn paid(price: f64, amount: f64) -> f64 {
    if price > 0.0 { price * amount } else { 0.0 }
}
