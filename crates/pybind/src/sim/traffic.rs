//! `UpdateTraffic`.

use netnum_sim::UpdateTraffic as Core;
use pyo3::prelude::*;

/// Numbers of messages between servers and an allocator. A change of route counts as an end and a start.
///
/// The numbers for a part of a run are the difference of two runs with the same seed and its two ends as `until`.
///
/// Parameters
/// ----------
/// starts, ends : int
///     Starts and ends of flows that servers have reported.
/// updates : int
///     New rates that the allocator has sent.
/// packets_to_allocator : int
///     Packets with starts and ends: one for all messages of a server between two steps of the allocator.
/// packets_to_servers : int
///     Packets with new rates: one for all new rates of a step for one server.
///
/// Examples
/// --------
/// >>> net = netnum.topology.star(3, capacity=10e9)
/// >>> workload = netnum.sim.Workload([0.0, 0.0], [0, 1], [2, 2], [1e5, 1e5])
/// >>> traffic = netnum.sim.simulate(net, workload, policy="flowtune").update_traffic
/// >>> traffic.starts, traffic.ends
/// (2, 2)
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

    /// Starts of flows that servers have reported.
    #[getter]
    fn starts(&self) -> u64 {
        self.core.starts
    }

    /// Ends of flows that servers have reported.
    #[getter]
    fn ends(&self) -> u64 {
        self.core.ends
    }

    /// New rates that the allocator has sent.
    #[getter]
    fn updates(&self) -> u64 {
        self.core.updates
    }

    /// Packets with starts and ends: one for all messages of a server between two steps of the allocator.
    #[getter]
    fn packets_to_allocator(&self) -> u64 {
        self.core.packets_to_allocator
    }

    /// Packets with new rates: one for all new rates of a step for one server.
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
