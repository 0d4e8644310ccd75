//! What is reported of every flow of the workload.

use crate::network::Flow;
use crate::workload::Workload;

/// Columns over the flows of a workload; NaN for flows that have not ended.
pub(super) struct Record {
    /// Flows that have arrived, and that have ended.
    pub(super) arrived: usize,
    pub(super) ended: usize,
    pub(super) completion_times: Vec<f64>,
    pub(super) slowdowns: Vec<f64>,
    pub(super) bytes_sent: Vec<f64>,
    pub(super) copy_rates: Vec<f64>,
}

impl Record {
    pub(super) fn new(flows: usize) -> Self {
        Self {
            arrived: 0,
            ended: 0,
            completion_times: vec![f64::NAN; flows],
            slowdowns: vec![f64::NAN; flows],
            bytes_sent: vec![0.0; flows],
            copy_rates: vec![f64::NAN; flows],
        }
    }

    /// A flow ends; it has a copy rate if it has a source.
    pub(super) fn end(&mut self, flow: &Flow, workload: &Workload, copy_rate: Option<f64>) {
        let number = flow.number as usize;
        // Not `now − arrival`, which has the rounding of the clock: a short flow late in a long run would have none of
        // its digits left.
        let time = (flow.since - workload.arrivals()[number]) + flow.left / flow.rate;
        self.completion_times[number] = time;
        self.slowdowns[number] = time * flow.alone / flow.size;
        self.bytes_sent[number] = workload.sizes()[number];
        if let Some(copy_rate) = copy_rate {
            self.copy_rates[number] = copy_rate;
        }
        self.ended += 1;
    }
}
