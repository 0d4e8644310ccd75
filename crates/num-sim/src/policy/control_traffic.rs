//! The messages between servers and an allocator: starts and ends of flows one way, new rates the other.
//!
//! Messages between two steps of the allocator share packets: one per server and step, each way.

use netnum_core::Topology;
use serde::{Deserialize, Serialize};

use crate::workload::Workload;

/// Messages between servers and an allocator, in numbers. A flow that takes another route ends and starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct UpdateTraffic {
    /// Messages that a flow starts.
    pub starts: u64,
    /// Messages that a flow ends.
    pub ends: u64,
    /// New rates that the allocator has sent.
    pub updates: u64,
    /// Packets with starts and ends: those of a server between two steps share one.
    pub packets_to_allocator: u64,
    /// Packets with new rates: those of a step for one server share one.
    pub packets_to_servers: u64,
}

/// Counts messages and packets.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// The server that sends each flow of the workload.
    servers: Vec<usize>,
    /// The next step, from 1.
    step: u64,
    /// By server, the step of its last packet each way.
    last_sent: Vec<u64>,
    last_received: Vec<u64>,
    count: UpdateTraffic,
}

impl Meter {
    pub(super) fn new(net: &Topology, workload: &Workload) -> Self {
        let [last_sent, last_received] = [vec![0; net.ends()], vec![0; net.ends()]];
        Self {
            servers: workload.sources().to_vec(),
            step: 1,
            last_sent,
            last_received,
            count: UpdateTraffic::default(),
        }
    }

    /// More flows, by their servers.
    pub(super) fn add_flows(&mut self, servers: &[usize]) {
        self.servers.extend_from_slice(servers);
    }

    /// The server of a flow sends that it starts.
    pub(super) fn flow_started(&mut self, flow: u32) {
        self.count.starts += 1;
        self.send(flow);
    }

    /// The server of a flow sends that it ends.
    pub(super) fn flow_ended(&mut self, flow: u32) {
        self.count.ends += 1;
        self.send(flow);
    }

    fn send(&mut self, flow: u32) {
        let last = &mut self.last_sent[self.servers[flow as usize]];
        self.count.packets_to_allocator += u64::from(*last != self.step);
        *last = self.step;
    }

    /// The server of a flow gets its rate at this step.
    pub(super) fn rate_sent(&mut self, flow: u32) {
        self.count.updates += 1;
        let last = &mut self.last_received[self.servers[flow as usize]];
        self.count.packets_to_servers += u64::from(*last != self.step);
        *last = self.step;
    }

    /// A step is over.
    pub(super) fn next_step(&mut self) {
        self.step += 1;
    }

    pub(super) fn total(&self) -> UpdateTraffic {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_packet_per_server_each_way() {
        let net = Topology::leaf_spine(2, 2, 1, 1.0, 1.0).unwrap();
        let workload = Workload::new(vec![0.0; 3], vec![0, 0, 1], vec![2; 3], vec![1.0; 3]).unwrap();
        let mut meter = Meter::new(&net, &workload);
        // All start at once, from two servers, and get their rates at the first step.
        (0..3).for_each(|flow| meter.flow_started(flow));
        (0..3).for_each(|flow| meter.rate_sent(flow));
        meter.next_step();
        // Both flows of a server end before the second step, at which the third gets another rate.
        (0..2).for_each(|flow| meter.flow_ended(flow));
        meter.rate_sent(2);
        meter.next_step();
        meter.flow_ended(2);
        let expected = UpdateTraffic { starts: 3, ends: 3, updates: 4, packets_to_allocator: 4, packets_to_servers: 3 };
        assert_eq!(meter.total(), expected);
    }
}
