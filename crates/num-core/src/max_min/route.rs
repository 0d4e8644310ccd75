//! Whether rates of flows can be routed together, and if not, which links are to blame.
//!
//! ```text
//! maximize  Σ_f min(y_f, b_f)/b_f      R x ≤ c,  0 ≤ x ≤ cap,  y_f = Σ_{p ∈ f} x_p
//! ```
//!
//! A linear program, solved by the interior point: every flow counts alike, whatever its size. The rates b can be routed
//! exactly when the optimum is the number of flows; otherwise the prices make a cut ([`cuts`](super::cuts)) that b
//! violates. Cost: 10 to 25 iterations of the interior point.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cuts::Network;
use crate::error::Result;
use crate::paths::Paths;
use crate::problem::Problem;
use crate::solve::{Settings, Solver};
use crate::utility::{Curvature, Units, Utility};

/// The iterations after which what has been reached will do.
const ITERATIONS: usize = 200;
/// A flow that wants less than this part of what its paths can carry is no part of the program.
const NEGLIGIBLE: f64 = 1e-18;

/// What came out.
pub(super) struct Routing {
    /// Rate of every path; feasible.
    pub(super) rates: Vec<f64>,
    /// Price of every link.
    pub(super) prices: Vec<f64>,
}

/// Worth y/b up to b, nothing beyond.
#[derive(Debug)]
struct Wanted {
    /// b of every flow.
    rates: Vec<f64>,
    /// 1/b, in the unit of prices.
    worth: Vec<f64>,
}

impl Utility for Wanted {
    fn value(&self, flow: usize, rate: f64) -> f64 {
        self.worth[flow] * rate.min(self.rates[flow])
    }
    /// Up to b; methods do not go beyond.
    fn marginal(&self, flow: usize, _rate: f64) -> f64 {
        self.worth[flow]
    }
    fn demand(&self, flow: usize, price: f64) -> f64 {
        if price < self.worth[flow] { self.rates[flow] } else { 0.0 }
    }
    fn demand_slope(&self, _flow: usize, _price: f64) -> f64 {
        0.0
    }
    fn flows(&self) -> Option<usize> {
        Some(self.rates.len())
    }
    fn curvature(&self) -> Curvature {
        Curvature::Linear
    }
    fn saturation(&self, flow: usize) -> f64 {
        self.rates[flow]
    }
    fn gain(&self, flow: usize, from: f64, to: f64) -> f64 {
        self.worth[flow] * (to.min(self.rates[flow]) - from.min(self.rates[flow]))
    }
    fn elasticity_into(&self, _flows: Range<usize>, _rates: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
    fn in_units(&self, flows: &[u32], units: Units) -> Option<Box<dyn Utility>> {
        let of = |values: &[f64], unit: f64| flows.iter().map(|&flow| values[flow as usize] / unit).collect();
        Some(Box::new(Self { rates: of(&self.rates, units.rate), worth: of(&self.worth, units.price()) }))
    }
}

impl Network<'_> {
    /// Routes some rates of flows as far as they can be, beginning at some prices if there are any, to a
    /// relative gap.
    ///
    /// # Errors
    /// As [`Solver::new`].
    pub(super) fn route(&self, wanted: &[f64], prices: Option<&[f64]>, tolerance: f64) -> Result<Routing> {
        let mut rates = vec![0.0; self.paths.len()];
        let (mut paths, mut kept, mut group, mut caps) = (Paths::with_capacity(0, 0), vec![], vec![], vec![]);
        let mut large = Vec::new();
        for (own, &rate) in self.open.iter().zip(wanted) {
            let wider =
                |&&one: &&u32, &&other: &&u32| self.ceilings[one as usize].total_cmp(&self.ceilings[other as usize]);
            let Some(&widest) = own.iter().max_by(wider) else { continue };
            if rate <= NEGLIGIBLE * self.ceilings[widest as usize] {
                rates[widest as usize] = rate;
                continue;
            }
            for &path in own {
                paths.push(self.paths.links(path as usize));
                group.push(large.len() as u32);
                caps.push(self.ceilings[path as usize]);
                kept.push(path as usize);
            }
            large.push(rate);
        }
        if large.is_empty() {
            return Ok(Routing { rates, prices: vec![0.0; self.capacities.len()] });
        }
        let worth = large.iter().map(|rate| rate.recip()).collect();
        let problem = Problem::grouped(self.capacities.clone(), paths, group, Wanted { rates: large, worth })?;
        let mut solver = Solver::new(&problem.with_rate_caps(caps)?, "interior-point", &BTreeMap::new())?;
        if let Some(prices) = prices {
            solver.warm_start(prices)?;
        }
        // Traced, so that every iteration is certified: the method's own estimate lags behind on degenerate programs.
        let settings = Settings { tol: tolerance, max_iterations: ITERATIONS, trace: true, ..Settings::default() };
        let solution = solver.run(&settings, &mut ())?;
        kept.iter().zip(&solution.rates).for_each(|(&path, &rate)| rates[path] = rate);
        Ok(Routing { rates, prices: solution.prices })
    }
}
