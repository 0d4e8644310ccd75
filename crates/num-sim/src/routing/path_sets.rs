//! The shortest paths of every flow, listed once for each pair of ends.

use netnum_core::internal::interrupt::Pacer;
use netnum_core::{Paths, Topology};

use crate::error::Result;
use crate::workload::{FirstOfPair, Workload};

/// The shortest paths of every flow.
#[derive(Debug, Clone, Default)]
pub(super) struct PathSets {
    lists: Vec<Paths>,
    /// By flow, the place of its list.
    of: Vec<u32>,
}

impl PathSets {
    /// Those of the flows of a workload. O(pairs of ends · (nodes + links)), and what is listed.
    ///
    /// # Errors
    /// [`Error::Core`](crate::Error::Core), naming the routing, and the first flow without a path or with too many.
    pub(super) fn new(routing: &str, net: &Topology, workload: &Workload) -> Result<Self> {
        let (pairs, of) = workload.distinct_pairs()?;
        let mut pacer = Pacer::new();
        let list = |FirstOfPair { flow, source, destination }| {
            pacer.did(net.links().len())?;
            net.paths(source, destination).map_err(|error| match error {
                netnum_core::Error::Stopped => error,
                error => netnum_core::Error::Topology(format!("routing {routing:?}, flow {flow}: {error}")),
            })
        };
        let lists = pairs.into_iter().map(list).collect::<netnum_core::Result<_>>()?;
        Ok(Self { lists, of })
    }

    /// Those of a flow, at least one.
    pub(super) fn of(&self, flow: usize) -> &Paths {
        &self.lists[self.of[flow] as usize]
    }
}
