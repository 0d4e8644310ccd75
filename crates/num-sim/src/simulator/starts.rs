//! When flows start: at their arrivals, or after the flows that they wait for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::workload::{Dependencies, Workload};

/// The flows that have not started.
pub(super) struct Starts<'a> {
    arrivals: &'a [f64],
    /// The next one in order of arrival that waits for no flow.
    next: usize,
    waits: Option<Waits<'a>>,
}

struct Waits<'a> {
    dependencies: &'a Dependencies,
    /// By flow, how many of those that it waits for have not ended.
    left: Vec<u32>,
    /// By flow, the time at which the last of those that have ended has arrived.
    latest: Vec<f64>,
    /// Flows that wait for none any more, by their starts. Bits of numbers >= 0 are in the order of the numbers.
    ready: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<'a> Starts<'a> {
    pub(super) fn new(workload: &'a Workload) -> Self {
        let waits = |dependencies: &'a Dependencies| {
            let left = (0..dependencies.flows()).map(|flow| dependencies.after(flow).len() as u32).collect();
            let latest = vec![0.0; dependencies.flows()];
            Waits { dependencies, left, latest, ready: BinaryHeap::new() }
        };
        let waits = workload.dependencies().map(waits);
        let mut starts = Self { arrivals: workload.arrivals(), next: 0, waits };
        starts.skip();
        starts
    }

    /// The time of the first start that is known; ∞ for none.
    pub(super) fn first(&self) -> f64 {
        let arrival = self.arrivals.get(self.next).copied().unwrap_or(f64::INFINITY);
        self.ready().map_or(arrival, |(time, _)| f64::min(time, arrival))
    }

    /// A flow that starts by now; those that start together in the order of their numbers.
    pub(super) fn take(&mut self, now: f64) -> Option<usize> {
        let arrival = self.arrivals.get(self.next).map(|&arrival| (arrival, self.next));
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
        } else if let Some(waits) = &mut self.waits {
            waits.ready.pop();
        }
        Some(flow)
    }

    /// A flow has ended, and has arrived by some time from now on: those that have waited for it alone will start. With
    /// packets the last to end need not be the last to arrive.
    pub(super) fn ended(&mut self, flow: usize, arrived: f64) {
        let Some(Waits { dependencies, left, latest, ready }) = &mut self.waits else { return };
        for &follower in dependencies.followers(flow) {
            let place = follower as usize;
            latest[place] = f64::max(latest[place], arrived);
            left[place] -= 1;
            if left[place] == 0 {
                let start = f64::max(self.arrivals[place], latest[place] + dependencies.delay(place));
                ready.push(Reverse((start.to_bits(), follower)));
            }
        }
    }

    fn ready(&self) -> Option<(f64, usize)> {
        let Reverse((time, flow)) = *self.waits.as_ref()?.ready.peek()?;
        Some((f64::from_bits(time), flow as usize))
    }

    /// Skips flows that wait for others.
    fn skip(&mut self) {
        let Some(waits) = &self.waits else { return };
        while self.next < self.arrivals.len() && !waits.dependencies.after(self.next).is_empty() {
            self.next += 1;
        }
    }
}
