//! When flows start: at their arrivals, or after the flows that they wait for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::workload::Workload;

/// The flows that have not started.
pub(super) struct Starts {
    workload: Workload,
    /// The next one in order of arrival that waits for no flow.
    next: usize,
    waits: Option<Waits>,
    /// Flows that wait for none any more, by their starts.
    ready: BinaryHeap<Reverse<(u64, u32)>>,
}

/// For what the flows of a workload wait.
pub(super) struct Waits {
    flows: Workload,
    /// By flow, how many of those that it waits for have not ended.
    left: Vec<u32>,
    /// By flow, the time at which the last of those that have ended has arrived.
    latest: Vec<f64>,
}

impl Waits {
    /// None where no flow waits for others.
    pub(super) fn of(flows: &Workload) -> Option<Self> {
        let dependencies = flows.dependencies()?;
        let left = (0..flows.len()).map(|flow| dependencies.after(flow).len() as u32).collect();
        Some(Self { flows: flows.clone(), left, latest: vec![0.0; flows.len()] })
    }

    /// Whether a flow waits for others that have not ended.
    pub(super) fn has_to_wait(&self, flow: usize) -> bool {
        self.left[flow] > 0
    }

    /// A flow has ended, and has arrived by some time from now on: `start` is given those that have waited for it
    /// alone, after the bits of their starts. With packets the last to end need not be the last to arrive. Bits of
    /// numbers >= 0 are in the order of the numbers.
    pub(super) fn ended(&mut self, flow: usize, arrived: f64, mut start: impl FnMut(u64, u32)) {
        let Some(dependencies) = self.flows.dependencies() else { return };
        for &follower in dependencies.followers(flow) {
            let place = follower as usize;
            self.latest[place] = f64::max(self.latest[place], arrived);
            self.left[place] -= 1;
            if self.left[place] == 0 {
                let time = f64::max(self.flows.arrivals()[place], self.latest[place] + dependencies.delay(place));
                start(time.to_bits(), follower);
            }
        }
    }
}

impl Starts {
    pub(super) fn new(workload: &Workload) -> Self {
        let waits = Waits::of(workload);
        let mut starts = Self { workload: workload.clone(), next: 0, waits, ready: BinaryHeap::new() };
        starts.skip();
        starts
    }

    /// The time of the first start that is known; ∞ for none.
    pub(super) fn first(&self) -> f64 {
        let arrival = self.arrival().map_or(f64::INFINITY, |(time, _)| time);
        self.ready().map_or(arrival, |(time, _)| f64::min(time, arrival))
    }

    /// A flow that starts by now; those that start together in the order of their numbers.
    pub(super) fn take(&mut self, now: f64) -> Option<usize> {
        let arrival = self.arrival();
        let (time, flow) = match (arrival, self.ready()) {
            (Some(one), Some(other)) if other < one => other,
            (None, Some(other)) => other,
            (one, _) => one?,
        };
        if time > now {
            return None;
        }
        if arrival.is_some_and(|arrival| arrival.1 == flow) {
            self.next += 1;
            self.skip();
        } else {
            self.ready.pop();
        }
        Some(flow)
    }

    /// A flow has ended, and has arrived by some time from now on.
    pub(super) fn ended(&mut self, flow: usize, arrived: f64) {
        if let Some(waits) = &mut self.waits {
            waits.ended(flow, arrived, |start, next| self.ready.push(Reverse((start, next))));
        }
    }

    /// The next flow that waits for none.
    fn arrival(&self) -> Option<(f64, usize)> {
        self.workload.arrivals().get(self.next).map(|&time| (time, self.next))
    }

    fn ready(&self) -> Option<(f64, usize)> {
        self.ready.peek().map(|&Reverse((time, flow))| (f64::from_bits(time), flow as usize))
    }

    /// Skips flows that wait for others.
    fn skip(&mut self) {
        let Some(dependencies) = self.workload.dependencies() else { return };
        while self.next < self.workload.len() && !dependencies.after(self.next).is_empty() {
            self.next += 1;
        }
    }
}
