//! Max-min for flows with one path each, a slice of work at a time.

use std::sync::Arc;

use super::bottleneck::{residual, residual_at_levels};
use super::curves::CurveWaterFill;
use super::fair_shares::{METHOD, flow_shares, path_weights};
use super::tolerances::SLICE;
use crate::error::Result;
use crate::interrupt;
use crate::normalize::{FNorm, Normalizer};
use crate::paths::Paths;
use crate::problem::Problem;
use crate::utility::FairShare;
use crate::water_fill::WaterFill;
use crate::work::{Ranks, Workers};

/// A water-fill on its way.
#[derive(Debug)]
pub(super) struct OnePath {
    problem: Problem,
    workers: Arc<dyn Workers>,
    kind: Kind,
    is_done: bool,
}

#[derive(Debug)]
enum Kind {
    Weights { water_fill: Box<WaterFill<Arc<Paths>>>, weights: Vec<f64>, caps: Vec<f64>, rates: Vec<f64> },
    Curves(Box<CurveWaterFill>),
}

impl OnePath {
    /// # Errors
    /// Those of [`max_min`](super::max_min).
    pub(super) fn new(problem: &Problem, workers: Arc<dyn Workers>) -> Result<Self> {
        let problem = &*problem.limited(&Ranks::alone())?;
        let (capacities, group) = (problem.capacities(), problem.group());
        let caps = || (0..group.len()).map(|path| problem.limit(path)).collect::<Vec<_>>();
        let kind = match path_weights(problem, METHOD)? {
            Some(weights) => {
                interrupt::check()?;
                let mut water_fill = WaterFill::new(capacities, problem.shared_paths())?;
                interrupt::check()?;
                let mut rates = vec![0.0; weights.len()];
                water_fill.start(&weights, &mut rates, &*workers)?;
                let caps = if problem.has_rate_caps() || problem.has_flow_caps() { caps() } else { Vec::new() };
                Kind::Weights { water_fill: Box::new(water_fill), weights, caps, rates }
            }
            None => {
                let of_flow = flow_shares(problem, METHOD)?;
                let shares: Vec<FairShare> = group.iter().map(|&flow| of_flow[flow as usize]).collect();
                Kind::Curves(Box::new(CurveWaterFill::new(capacities, problem.paths(), &shares, &caps())?))
            }
        };
        Ok(Self { problem: problem.clone(), workers, kind, is_done: false })
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
            self.is_done = match &mut self.kind {
                Kind::Weights { water_fill, caps, rates, .. } => water_fill.rise(caps, rates, paths),
                Kind::Curves(water_fill) => water_fill.rise(paths / 8),
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
        let proven = match &self.kind {
            // A path may have stopped at its cap instead.
            Kind::Weights { water_fill, weights, caps, .. } if caps.is_empty() => {
                residual_at_levels(&self.problem, weights, water_fill.levels(), rates, &*self.workers)?
            }
            _ => None,
        };
        proven.map_or_else(|| residual(&self.problem, rates, &[], &*self.workers), Ok)
    }

    /// Feasible rates so far.
    pub(super) fn rates(&self) -> Vec<f64> {
        match &self.kind {
            Kind::Weights { rates, .. } if self.is_done => rates.clone(),
            Kind::Weights { water_fill, caps, rates, .. } => water_fill.so_far(caps, rates),
            Kind::Curves(water_fill) => {
                let mut rates = water_fill.so_far();
                // Fair shares that no float can hold would leave a link too full.
                FNorm::default().normalize(self.problem.capacities(), self.problem.paths(), &mut rates);
                rates
            }
        }
    }
}
