//! Demands and the paths that are open to them; splits, which are rates that carry them.

use crate::error::{Error, Result};
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::presolve::open_paths;
use crate::problem::Problem;
use crate::tolerances::ROUNDING;
use crate::utility::families::AlphaFair;

#[derive(Debug)]
pub(super) struct Demands<'a> {
    pub(super) problem: &'a Problem,
    /// d_f; 0 where no path is open.
    pub(super) volumes: Vec<f64>,
    /// The open paths of every flow.
    open: Paths,
    pub(super) failed: Vec<u32>,
}

impl<'a> Demands<'a> {
    /// # Errors
    /// [`Error::NoDemand`], [`Error::Stopped`].
    pub(super) fn of(problem: &'a Problem) -> Result<Self> {
        let mut volumes: Vec<f64> = (0..problem.flows()).map(|flow| problem.flow_cap(flow)).collect();
        if let Some(flow) = volumes.iter().position(|volume| volume.is_infinite()) {
            return Err(Error::NoDemand { flow });
        }
        let (open, mut failed) = (open_paths(problem)?, Vec::new());
        for (flow, (volume, paths)) in volumes.iter_mut().zip(open.iter()).enumerate() {
            if paths.is_empty() {
                *volume = 0.0;
                failed.push(flow as u32);
            }
        }
        Ok(Self { problem, volumes, open, failed })
    }

    /// The open paths of the flows with a demand, each as (flow, path).
    pub(super) fn paths(&self) -> impl Iterator<Item = (usize, usize)> {
        self.flows().flat_map(|(flow, paths)| paths.iter().map(move |&path| (flow, path as usize)))
    }

    /// The flows with a demand, and their open paths.
    pub(super) fn flows(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let has_demand = |&(flow, _): &(usize, &[u32])| self.volumes[flow] > 0.0;
        self.open.iter().enumerate().filter(has_demand)
    }

    /// The rates of the demands where each has one path.
    pub(super) fn only_split(&self) -> Option<Vec<f64>> {
        let mut split = vec![0.0; self.problem.paths().len()];
        for (flow, paths) in self.flows() {
            let [path] = paths else { return None };
            split[*path as usize] = self.volumes[flow];
        }
        Some(split)
    }

    /// Whether a path crosses no link of finite capacity.
    pub(super) fn is_off_all_links(&self, path: usize) -> bool {
        self.problem.paths().row(path).narrowest(self.problem.capacities()) == f64::INFINITY
    }

    /// Whether the caps of paths leave room for every demand.
    ///
    /// # Errors
    /// [`Error::DemandAboveCaps`].
    pub(super) fn check_caps(&self) -> Result<()> {
        if !self.problem.has_rate_caps() {
            return Ok(());
        }
        for (flow, paths) in self.flows() {
            let demand = self.volumes[flow];
            let caps: f64 = paths.iter().map(|&path| self.problem.rate_cap(path as usize)).sum();
            if caps < demand * (1.0 - ROUNDING) {
                return Err(Error::DemandAboveCaps { flow, demand, caps });
            }
        }
        Ok(())
    }

    /// The problem whose max-min rates are in proportion to some of the demands as long as all can rise, over paths
    /// with these caps.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn weighted(&self, demands: &[f64], cap: impl Fn(usize) -> f64) -> Result<Problem> {
        let weights: Vec<f64> = demands.iter().map(|&demand| if demand > 0.0 { demand } else { 1.0 }).collect();
        let flow_caps = demands.iter().map(|&demand| if demand > 0.0 { f64::INFINITY } else { 0.0 });
        let (flows, paths) = (self.problem.flows(), self.problem.paths().len());
        // What else a problem has does not matter here, and max-min does not take all of it.
        let plain = self.problem.clone().with_flow_floors(vec![0.0; flows])?.with_priorities(vec![0.0; flows])?;
        let plain = plain.with_path_costs(vec![0.0; paths])?.with_flow_caps(flow_caps.collect())?;
        let utility = AlphaFair::new(f64::INFINITY, weights)?;
        plain.with_rate_caps((0..paths).map(cap).collect())?.with_utility(utility)
    }

    /// Adds rates in proportion to those given that carry demands.
    pub(super) fn carry(&self, demands: &[f64], rates: &[f64], split: &mut [f64]) {
        for (flow, paths) in self.flows().filter(|&(flow, _)| demands[flow] > 0.0) {
            let total: f64 = paths.iter().map(|&path| rates[path as usize]).sum();
            for &path in paths {
                let share = if total > 0.0 { rates[path as usize] / total } else { 1.0 / paths.len() as f64 };
                split[path as usize] += share * demands[flow];
            }
        }
    }

    /// Moves what a split has above the caps of paths to others of the same flow.
    pub(super) fn keep_caps(&self, split: &mut [f64]) {
        for (_, paths) in self.flows() {
            let mut above = 0.0;
            for &path in paths {
                let (rate, cap) = (&mut split[path as usize], self.problem.rate_cap(path as usize));
                above += (*rate - cap).max(0.0);
                *rate = rate.min(cap);
            }
            for &path in paths {
                let room = self.problem.rate_cap(path as usize) - split[path as usize];
                let moved = room.min(above);
                split[path as usize] += moved;
                above -= moved;
            }
        }
    }

    /// The largest fraction of a split that fits.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn fraction(&self, split: &[f64]) -> Result<f64> {
        let mut fraction = 1.0 / self.utilization(&self.problem.loads(split)?);
        let mut pacer = Pacer::new();
        for (_, path) in self.paths() {
            pacer.did(1)?;
            if split[path] > 0.0 {
                fraction = fraction.min(self.problem.rate_cap(path) / split[path]);
            }
        }
        Ok(fraction)
    }

    /// The largest load over capacity.
    pub(super) fn utilization(&self, loads: &[f64]) -> f64 {
        let loaded = loads.iter().zip(self.problem.capacities()).filter(|(load, _)| **load > 0.0);
        loaded.map(|(load, capacity)| load / capacity).fold(0.0, f64::max)
    }
}
