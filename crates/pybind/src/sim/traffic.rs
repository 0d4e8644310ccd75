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
#[pyclass(frozen, eq, get_all, module = "netnum.sim")]
#[derive(PartialEq)]
pub(crate) struct UpdateTraffic {
    /// Starts of flows that servers have reported.
    starts: u64,
    /// Ends of flows that servers have reported.
    ends: u64,
    /// New rates that the allocator has sent.
    updates: u64,
    /// Packets with starts and ends: one for all messages of a server between two steps of the allocator.
    packets_to_allocator: u64,
    /// Packets with new rates: one for all new rates of a step for one server.
    packets_to_servers: u64,
}

impl From<Core> for UpdateTraffic {
    fn from(core: Core) -> Self {
        let Core { starts, ends, updates, packets_to_allocator, packets_to_servers } = core;
        Self { starts, ends, updates, packets_to_allocator, packets_to_servers }
    }
}

impl From<&UpdateTraffic> for Core {
    fn from(traffic: &UpdateTraffic) -> Self {
        let &UpdateTraffic { starts, ends, updates, packets_to_allocator, packets_to_servers } = traffic;
        Self { starts, ends, updates, packets_to_allocator, packets_to_servers }
    }
}

#[pymethods]
impl UpdateTraffic {
    #[new]
    fn new(starts: u64, ends: u64, updates: u64, packets_to_allocator: u64, packets_to_servers: u64) -> Self {
        Self { starts, ends, updates, packets_to_allocator, packets_to_servers }
    }

    fn __getnewargs__(&self) -> (u64, u64, u64, u64, u64) {
        let Self { starts, ends, updates, packets_to_allocator, packets_to_servers } = *self;
        (starts, ends, updates, packets_to_allocator, packets_to_servers)
    }

    fn __repr__(&self) -> String {
        let Self { starts, ends, updates, packets_to_allocator, packets_to_servers } = *self;
        format!(
            "UpdateTraffic(starts={starts}, ends={ends}, updates={updates}, \
             packets_to_allocator={packets_to_allocator}, packets_to_servers={packets_to_servers})"
        )
    }
}
