//! `UpdateTraffic`.

use netnum_sim::UpdateTraffic as Core;
use pyo3::prelude::*;

/// Messages between servers and an allocator, in numbers. A flow that takes another route ends and starts.
///
/// Those of a part of a run are the difference of two runs of the same seed that end at its two ends (`until`).
///
/// Parameters
/// ----------
/// starts, ends : int
///     Flows that servers have said start, and end.
/// updates : int
///     New rates that the allocator has sent.
/// packets_to_allocator : int
///     Packets with starts and ends: what a server says between two steps of the allocator shares one.
/// packets_to_servers : int
///     Packets with new rates: those of a step for one server share one.
#[pyclass(frozen, eq, module = "netnum.sim")]
#[derive(PartialEq)]
pub(crate) struct UpdateTraffic {
    pub(super) core: Core,
}

#[pymethods]
impl UpdateTraffic {
    #[new]
    fn new(starts: u64, ends: u64, updates: u64, packets_to_allocator: u64, packets_to_servers: u64) -> Self {
        Self { core: Core { starts, ends, updates, packets_to_allocator, packets_to_servers } }
    }

    /// Flows that servers have said start.
    #[getter]
    fn starts(&self) -> u64 {
        self.core.starts
    }

    /// Flows that servers have said end.
    #[getter]
    fn ends(&self) -> u64 {
        self.core.ends
    }

    /// New rates that the allocator has sent.
    #[getter]
    fn updates(&self) -> u64 {
        self.core.updates
    }

    /// Packets with starts and ends: what a server says between two steps of the allocator shares one.
    #[getter]
    fn packets_to_allocator(&self) -> u64 {
        self.core.packets_to_allocator
    }

    /// Packets with new rates: those of a step for one server share one.
    #[getter]
    fn packets_to_servers(&self) -> u64 {
        self.core.packets_to_servers
    }

    fn __getnewargs__(&self) -> (u64, u64, u64, u64, u64) {
        let Core { starts, ends, updates, packets_to_allocator, packets_to_servers } = self.core;
        (starts, ends, updates, packets_to_allocator, packets_to_servers)
    }

    fn __repr__(&self) -> String {
        let Core { starts, ends, updates, packets_to_allocator, packets_to_servers } = self.core;
        format!(
            "UpdateTraffic(starts={starts}, ends={ends}, updates={updates}, \
             packets_to_allocator={packets_to_allocator}, packets_to_servers={packets_to_servers})"
        )
    }
}
