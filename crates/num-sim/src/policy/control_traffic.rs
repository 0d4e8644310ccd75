//! What servers and an allocator tell each other: servers of flows that start and end, the allocator of new rates.
//!
//! What falls between two steps of the allocator travels together: a packet per server and step, each way.

use netnum_core::Topology;

use crate::workload::Workload;

/// Messages between servers and an allocator, in numbers. A flow that takes another route ends and starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UpdateTraffic {
    /// Flows that servers have said start.
    pub starts: u64,
    /// Flows that they have said end.
    pub ends: u64,
    /// New rates that the allocator has sent.
    pub updates: u64,
    /// Packets with starts and ends: what a server says between two steps shares one.
    pub packets_to_allocator: u64,
    /// Packets with new rates: those of a step for one server share one.
    pub packets_to_servers: u64,
}

/// Counts them.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// The server that sends each flow of the workload.
    servers: Vec<usize>,
    /// The step that is to come, from 1.
    step: u64,
    /// By server, the step of its last packet each way.
    said: Vec<u64>,
    heard: Vec<u64>,
    count: UpdateTraffic,
}

impl Meter {
    pub(super) fn new(net: &Topology, workload: &Workload) -> Self {
        let [said, heard] = [vec![0; net.ends()], vec![0; net.ends()]];
        Self { servers: workload.sources().to_vec(), step: 1, said, heard, count: UpdateTraffic::default() }
    }

    /// The server of a flow says that it starts.
    pub(super) fn start(&mut self, flow: u32) {
        self.count.starts += 1;
        self.say(flow);
    }

    /// The server of a flow says that it ends.
    pub(super) fn end(&mut self, flow: u32) {
        self.count.ends += 1;
        self.say(flow);
    }

    fn say(&mut self, flow: u32) {
        let said = &mut self.said[self.servers[flow as usize]];
        self.count.packets_to_allocator += u64::from(*said != self.step);
        *said = self.step;
    }

    /// The server of a flow hears of its rate at this step.
    pub(super) fn update(&mut self, flow: u32) {
        self.count.updates += 1;
        let heard = &mut self.heard[self.servers[flow as usize]];
        self.count.packets_to_servers += u64::from(*heard != self.step);
        *heard = self.step;
    }

    /// A step is over.
    pub(super) fn next(&mut self) {
        self.step += 1;
    }

    pub(super) fn count(&self) -> UpdateTraffic {
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
        // All start at once, from two servers, and hear of their rates at the first step.
        (0..3).for_each(|flow| meter.start(flow));
        (0..3).for_each(|flow| meter.update(flow));
        meter.next();
        // Both flows of a server end before the second step, at which the third hears of another rate.
        (0..2).for_each(|flow| meter.end(flow));
        meter.update(2);
        meter.next();
        meter.end(2);
        let expected = UpdateTraffic { starts: 3, ends: 3, updates: 4, packets_to_allocator: 4, packets_to_servers: 3 };
        assert_eq!(meter.count(), expected);
    }
}
