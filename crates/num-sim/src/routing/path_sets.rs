//! The shortest paths of every flow, by links or by weight, listed once for each pair of ends.

use std::sync::Arc;

use netnum_core::internal::interrupt::Pacer;
use netnum_core::{Paths, Topology};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::workload::{DistinctPairs, FirstOfPair, Workload};

/// The option of routings that have no other one.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ByWeight {
    /// The attribute of links by which paths are shortest; by their number of links without.
    pub(super) weight: Option<String>,
}

/// The weight of every link, where paths are shortest by an attribute.
///
/// # Errors
/// [`Error::Core`](crate::Error::Core) unless every link has it as a number.
pub(super) fn weight_of<'a>(net: &'a Topology, attribute: Option<&str>) -> Result<Option<&'a [f64]>> {
    Ok(attribute.map(|name| net.weight(name)).transpose()?)
}

/// The shortest paths of every flow.
#[derive(Debug, Clone, Default)]
pub(super) struct PathSets {
    /// By pair of ends.
    lists: Vec<Arc<Paths>>,
    pairs: DistinctPairs,
}

impl PathSets {
    /// Those of the flows of a workload. O(pairs of ends · (nodes + links)), and what is listed.
    ///
    /// # Errors
    /// [`Error::Core`](crate::Error::Core), naming the routing, and the first flow without a path or with too many;
    /// unless every link has the attribute.
    pub(super) fn new(routing: &str, net: &Topology, workload: &Workload, weight: Option<&str>) -> Result<Self> {
        let mut this = Self::default();
        this.add(routing, net, workload, weight)?;
        Ok(this)
    }

    /// Adds those of the flows that are new in the workload.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn add(
        &mut self,
        routing: &str,
        net: &Topology,
        workload: &Workload,
        weight: Option<&str>,
    ) -> Result<()> {
        let weight = weight_of(net, weight)?;
        let mut pacer = Pacer::new();
        let list = |FirstOfPair { flow, source, destination }| {
            pacer.did(net.links().len())?;
            net.paths_by(source, destination, weight).map_err(|error| match error {
                netnum_core::Error::Stopped => error,
                error => netnum_core::Error::Topology(format!("routing {routing:?}, flow {flow}: {error}")),
            })
        };
        let new = self.pairs.add(workload)?.into_iter().map(list).collect::<netnum_core::Result<Vec<_>>>()?;
        self.lists.extend(new.into_iter().map(Arc::new));
        Ok(())
    }

    /// Those of a flow, at least one.
    pub(super) fn of(&self, flow: usize) -> &Arc<Paths> {
        &self.lists[self.pairs.of[flow] as usize]
    }
}
