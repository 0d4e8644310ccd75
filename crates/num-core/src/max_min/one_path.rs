//! Max-min for flows with one path each, a slice of work at a time.

use std::sync::Arc;

use super::bottleneck::{bottleneck_residual, residual_at_levels};
use super::curves::CurveFill;
use super::search::{METHOD, SLICE};
use super::water_fill::WaterFill;
use super::{flow_shares, path_weights};
use crate::error::Result;
use crate::interrupt;
use crate::normalize::{FNorm, Normalizer};
use crate::paths::Paths;
use crate::problem::Problem;
use crate::utility::FairShare;

/// A water-fill on its way.
#[derive(Debug)]
pub(super) struct OnePath {
    problem: Problem,
    fill: Fill,
    is_done: bool,
}

#[derive(Debug)]
enum Fill {
    Weights { fill: Box<WaterFill<Arc<Paths>>>, weights: Vec<f64>, caps: Vec<f64>, rates: Vec<f64> },
    Curves(Box<CurveFill>),
}

impl OnePath {
    /// # Errors
    /// Those of [`max_min`](super::max_min).
    pub(super) fn new(problem: &Problem) -> Result<Self> {
        let (capacities, group) = (problem.capacities(), problem.group());
        let caps = || (0..group.len()).map(|path| problem.limit(path)).collect::<Vec<_>>();
        let fill = match path_weights(problem, METHOD)? {
            Some(weights) => {
                interrupt::check()?;
                let mut fill = WaterFill::new(capacities, problem.shared_paths())?;
                interrupt::check()?;
                let mut rates = vec![0.0; weights.len()];
                fill.start(&weights, &mut rates)?;
                let caps = if problem.has_rate_caps() || problem.has_flow_caps() { caps() } else { Vec::new() };
                Fill::Weights { fill: Box::new(fill), weights, caps, rates }
            }
            None => {
                let of_flow = flow_shares(problem, METHOD)?;
                let shares: Vec<FairShare> = group.iter().map(|&flow| of_flow[flow as usize]).collect();
                Fill::Curves(Box::new(CurveFill::new(capacities, problem.paths(), &shares, &caps())?))
            }
        };
        Ok(Self { problem: problem.clone(), fill, is_done: false })
    }

    /// Goes on for about so many operations. Returns whether it is done.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped); it may go on all the same.
    pub(super) fn advance(&mut self, operations: usize) -> Result<bool> {
        for _ in 0..operations.div_ceil(SLICE) {
            interrupt::check()?;
            // A visit of a path costs some ten of them.
            let paths = operations.min(SLICE) / 8;
            self.is_done = match &mut self.fill {
                Fill::Weights { fill, caps, rates, .. } => fill.rise(caps, rates, paths),
                Fill::Curves(fill) => fill.rise(paths / 8),
            };
            if self.is_done {
                break;
            }
        }
        Ok(self.is_done)
    }

    /// How far its rates are proven, once it is done.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn residual(&self, rates: &[f64]) -> Result<f64> {
        let proven = match &self.fill {
            // A path may have stopped at its cap instead.
            Fill::Weights { fill, weights, caps, .. } if caps.is_empty() => {
                residual_at_levels(&self.problem, weights, fill.levels(), rates)?
            }
            _ => None,
        };
        proven.map_or_else(|| bottleneck_residual(&self.problem, rates, &[]), Ok)
    }

    /// Feasible rates so far.
    pub(super) fn rates(&self) -> Vec<f64> {
        match &self.fill {
            Fill::Weights { rates, .. } if self.is_done => rates.clone(),
            Fill::Weights { fill, caps, rates, .. } => fill.so_far(caps, rates),
            Fill::Curves(fill) => {
                let mut rates = fill.so_far();
                // Fair shares that no float can hold would leave a link too full.
                FNorm::default().normalize(self.problem.capacities(), self.problem.paths(), &mut rates);
                rates
            }
        }
    }
}
