//! Equal-cost multipath: one shortest path per flow, drawn hop by hop as switches do, and kept to its end.
//!
//! Flow i of a workload takes the path that [`Topology::ecmp`] draws for pair i of the same seed.

use netnum_core::{Paths, Topology};

use super::{Route, Routing};
use crate::error::Result;
use crate::workload::Workload;

/// Static equal-cost multipath.
#[derive(Debug, Clone)]
pub struct Ecmp {
    seed: u64,
    paths: Paths,
}

impl Ecmp {
    /// That of a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, paths: Paths::from_lists([[0; 0]; 0]) }
    }
}

impl Routing for Ecmp {
    fn name(&self) -> &'static str {
        "ecmp"
    }

    fn start(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.paths = net.ecmp(workload.sources(), workload.destinations(), self.seed)?;
        Ok(())
    }

    fn route(&mut self, flow: usize, route: &mut Route) -> Result<()> {
        route.take(self.paths.links(flow));
        Ok(())
    }
}
