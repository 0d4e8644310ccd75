//! Packet spraying: every flow is split evenly over all of its shortest paths that work, whatever their load; or it has
//! these as a pool, over which the policy splits it.
//!
//! Source: Dixit et al., *On the impact of packet spraying in data center networks*, INFOCOM 2013.

use netnum_core::Topology;
use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use serde::{Deserialize, Serialize};

use super::path_sets::PathSets;
use super::{Routing, RoutingEntry};
use crate::error::Result;
use crate::network::{NetworkState, Route};
use crate::workload::Workload;

const NAME: &str = "spray";

pub(super) const ENTRY: RoutingEntry = Entry {
    name: NAME,
    summary: "an even split over all shortest paths, or as the policy splits",
    options: options::defaults::<SprayOptions>,
    make: |given, _| {
        let SprayOptions { pooled, weight } = given.read()?;
        Ok(Box::new(Spray::new().with_pooled(pooled).with_weight(weight)))
    },
};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SprayOptions {
    pooled: bool,
    weight: Option<String>,
}

/// An even split over all shortest paths.
#[derive(Debug, Clone, Default)]
pub struct Spray {
    pooled: bool,
    weight: Option<String>,
    paths: PathSets,
}

impl Spray {
    /// An even split over all shortest paths.
    pub fn new() -> Self {
        Self::default()
    }

    /// With all of them as the pool of every flow, over which the policy splits it.
    #[must_use]
    pub fn with_pooled(self, pooled: bool) -> Self {
        Self { pooled, ..self }
    }

    /// With the paths that are shortest by an attribute of links, such as a cost; by their number of links without.
    #[must_use]
    pub fn with_weight(self, weight: Option<String>) -> Self {
        Self { weight, ..self }
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

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.paths = PathSets::new(NAME, net, workload, self.weight.as_deref())?;
        Ok(())
    }

    fn add_flows(&mut self, net: &Topology, workload: &Workload, _first: usize) -> Result<()> {
        self.paths.add(NAME, net, workload, self.weight.as_deref())
    }

    fn route(&mut self, flow: usize, _network: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        match self.pooled {
            true => route.pool(self.paths.of(flow)),
            false => evenly(self.paths.of(flow).iter().collect(), route),
        }
        Ok(())
    }

    fn pools(&self) -> bool {
        self.pooled
    }

    fn reroute(&mut self, flow: usize, network: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        if self.pooled {
            // The policy gives nothing to paths that have failed.
            return Ok(false);
        }
        let left: Vec<&[u32]> = self.paths.of(flow).iter().filter(|path| network.works(path)).collect();
        if left.is_empty() {
            return Ok(false);
        }
        evenly(left, route);
        Ok(true)
    }
}
