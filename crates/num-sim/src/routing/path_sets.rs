//! The shortest paths of every flow, listed once for each pair of ends.

use std::collections::HashMap;

use netnum_core::internal::interrupt::Pacer;
use netnum_core::{Paths, Topology};

use crate::error::Result;
use crate::workload::Workload;

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
        let mut known = HashMap::new();
        let (mut sets, mut pacer) = (Self::default(), Pacer::new());
        for (flow, (&source, &destination)) in workload.sources().iter().zip(workload.destinations()).enumerate() {
            let list = match known.get(&(source, destination)) {
                Some(&list) => list,
                None => {
                    let wrong = |error| match error {
                        netnum_core::Error::Stopped => error,
                        error => netnum_core::Error::Topology(format!("routing {routing:?}, flow {flow}: {error}")),
                    };
                    sets.lists.push(net.paths(source, destination).map_err(wrong)?);
                    pacer.did(net.links().len())?;
                    let list = sets.lists.len() as u32 - 1;
                    known.insert((source, destination), list);
                    list
                }
            };
            sets.of.push(list);
            pacer.did(1)?;
        }
        Ok(sets)
    }

    /// Those of a flow, at least one.
    pub(super) fn of(&self, flow: usize) -> &Paths {
        &self.lists[self.of[flow] as usize]
    }
}
