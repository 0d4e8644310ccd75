//! Flows over other paths: more of them, or fewer.

use std::sync::Arc;

use super::Problem;
use crate::error::{Error, Result};
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::work::Workers;

impl Problem {
    /// This problem with more paths, after its own: of these flows, and with these costs, where paths have any.
    pub(crate) fn with_more_paths(&self, flows: &[u32], paths: &Paths, costs: &[f64]) -> Result<Self> {
        let mut all = Paths::clone(&self.paths);
        let mut pacer = Pacer::new();
        for links in paths.iter() {
            pacer.did(1 + links.len())?;
            all.push(links);
        }
        let path_costs = match self.path_costs.is_empty() {
            true => Arc::default(),
            false => Arc::new([&self.path_costs, costs].concat()),
        };
        let group = Arc::new([&self.group, flows].concat());
        let mut carrying = Arc::clone(&self.carrying);
        if !carrying.is_empty() {
            Arc::make_mut(&mut carrying).resize(all.len(), 0.0);
        }
        Ok(Self { paths: Arc::new(all), group, path_costs, carrying, ..self.clone() })
    }

    /// This problem over other paths, at least one of every flow, which have the costs of their links, if these have
    /// any.
    pub(crate) fn over_other_paths(&self, paths: Paths, group: Vec<u32>, link_costs: &[f64]) -> Result<Self> {
        let (paths, group) = (Arc::new(paths), Arc::new(group));
        let none = Self { paths, group, rate_caps: Arc::default(), ..self.clone() };
        let none = Self { path_costs: Arc::default(), carrying: Arc::default(), ..none };
        if link_costs.is_empty() { Ok(none) } else { none.with_link_costs(link_costs) }
    }

    /// This problem over some of its paths only, in the given order: at least one of every flow.
    pub(crate) fn with_paths_of(&self, paths: &[u32], workers: &dyn Workers) -> Result<Self> {
        let of = |values: &[f64]| -> Arc<Vec<f64>> {
            Arc::new(if values.is_empty() {
                Vec::new()
            } else {
                paths.iter().map(|&path| values[path as usize]).collect()
            })
        };
        Ok(Self {
            paths: Arc::new(self.paths.select(paths, None, workers)?),
            group: Arc::new(paths.iter().map(|&path| self.group[path as usize]).collect()),
            rate_caps: of(&self.rate_caps),
            path_costs: of(&self.path_costs),
            carrying: Arc::default(),
            ..self.clone()
        })
    }

    /// This problem with rates of all paths that are known to carry the floors.
    pub(crate) fn with_carrying(&self, rates: Vec<f64>) -> Self {
        Self { carrying: Arc::new(rates), ..self.clone() }
    }

    /// This problem as one over some of the paths that its flows have: each could carry so much over all of them.
    /// Bounds that paths have by their own capacities are then none.
    pub(crate) fn with_reaches(&self, reaches: Vec<f64>) -> Self {
        Self { reaches: Arc::new(reaches), ..self.clone() }
    }

    /// The most that every flow could carry over other paths as well, where there are any.
    pub(crate) fn reaches(&self) -> Option<&[f64]> {
        Some(&**self.reaches).filter(|reaches| !reaches.is_empty())
    }

    /// Checks that nothing about the problem is about single paths, which would not hold for others.
    pub(crate) fn check_all_paths(&self, links_have_costs: bool) -> Result<()> {
        let refused = |what, instead| Err(Error::OverAllPaths { what, instead });
        if self.has_rate_caps() {
            return refused("caps of single paths", "give flows a cap, flow_cap");
        }
        if self.has_path_costs() && !links_have_costs {
            return refused("costs of single paths", "give links a cost, link_cost");
        }
        if self.paths.coefficients().is_some() {
            return refused("coefficients of paths", "use paths that are given");
        }
        Ok(())
    }
}
