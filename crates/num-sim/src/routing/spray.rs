//! Packet spraying: every flow is split evenly over all of its shortest paths that work, whatever they carry.
//!
//! Source: Dixit et al., *On the impact of packet spraying in data center networks*, INFOCOM 2013.

use netnum_core::Topology;

use super::path_sets::PathSets;
use super::{NetworkState, Route, Routing};
use crate::error::Result;
use crate::workload::Workload;

/// What its name is.
const NAME: &str = "spray";

/// An even split over all shortest paths.
#[derive(Debug, Clone, Default)]
pub struct Spray {
    choices: PathSets,
}

impl Spray {
    /// For a network that is still to be named.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Splits a flow evenly over paths.
pub(super) fn evenly(paths: Vec<&[u32]>, route: &mut Route) {
    let weight = 1.0 / paths.len() as f64;
    route.spread(paths.into_iter().map(|path| (path, weight)));
}

impl Routing for Spray {
    fn name(&self) -> &str {
        NAME
    }

    fn start(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.choices = PathSets::new(NAME, net, workload)?;
        Ok(())
    }

    fn route(&mut self, flow: usize, _now: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        evenly(self.choices.of(flow).iter().collect(), route);
        Ok(())
    }

    fn reroute(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        let left: Vec<&[u32]> = self.choices.of(flow).iter().filter(|path| now.works(path)).collect();
        if left.is_empty() {
            return Ok(false);
        }
        evenly(left, route);
        Ok(true)
    }
}
