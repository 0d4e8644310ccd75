//! Flows that share a pace: each has a fixed multiple of one rate, as those that one link limits do.
//!
//! A pace has a clock, the integral of its rate. A flow that follows it ends at a fixed point of that clock, whatever
//! the rate does:
//!
//! ```text
//! v(t) = ∫ rate dt      sent(t) = sent(t₀) + w (v(t) − v(t₀))      end at v(t₀) + (size − sent(t₀)) / w
//! ```
//!
//! So a change of the rate costs the same for one flow as for thousands, and only a flow that takes another pace is
//! computed. It is the virtual time of fair queueing, with a clock for every link.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::calendar::Calendar;
use crate::network::Flow;
use crate::numbers::NONE;

/// Ends per flow, those of flows that have left included, from which on the latter are removed.
const MOST_LEFT: usize = 4;

/// A point on a clock: a sum of two floats, so that a short flow is exact late in a long run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Point {
    high: f64,
    low: f64,
}

impl Point {
    fn plus(self, more: f64) -> Self {
        let (sum, lost) = two_sum(self.high, more);
        let (high, low) = two_sum(sum, lost + self.low);
        Self { high, low }
    }

    fn minus(self, other: Self) -> f64 {
        (self.high - other.high) + (self.low - other.low)
    }
}

/// A sum, and what its rounding has lost.
fn two_sum(one: f64, other: f64) -> (f64, f64) {
    let sum = one + other;
    let part = sum - one;
    (sum, (one - (sum - part)) + (other - part))
}

/// An end on a clock.
#[derive(Debug, Clone, Copy, PartialEq)]
struct End {
    at: Point,
    slot: u32,
    /// Which of the times that a flow of this slot has taken a pace.
    taken: u32,
}

impl Eq for End {}

impl Ord for End {
    fn cmp(&self, other: &Self) -> Ordering {
        let points = self.at.high.total_cmp(&other.at.high).then(self.at.low.total_cmp(&other.at.low));
        points.then((self.slot, self.taken).cmp(&(other.slot, other.taken)))
    }
}

impl PartialOrd for End {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Debug, Default)]
struct Pace {
    rate: f64,
    /// The clock at the time `since`.
    clock: Point,
    since: f64,
    /// Flows that follow it.
    flows: u32,
    /// Their ends, and those of flows that have left it.
    ends: BinaryHeap<Reverse<End>>,
}

impl Pace {
    fn advance(&mut self, now: f64) {
        self.clock = self.clock.plus(self.rate * (now - self.since));
        self.since = now;
    }
}

/// What the flow in a slot follows.
#[derive(Debug, Clone, Copy)]
struct Follows {
    /// [`NONE`] for none.
    pace: u32,
    taken: u32,
    weight: f64,
    /// The point from which on what it has sent is not counted.
    from: Point,
}

/// The paces of a run, and the flows that follow them.
#[derive(Debug, Default)]
pub(super) struct Paces {
    paces: Vec<Pace>,
    follows: Vec<Follows>,
    /// By pace, the first end.
    calendar: Calendar,
    /// Paces whose first end may be another one.
    touched: Vec<u32>,
}

impl Paces {
    /// A pace has another rate from now on. How many flows follow it.
    pub(super) fn set(&mut self, pace: u32, rate: f64, now: f64) -> u32 {
        if self.paces.len() <= pace as usize {
            self.paces.resize_with(pace as usize + 1, Pace::default);
        }
        let changed = &mut self.paces[pace as usize];
        changed.advance(now);
        changed.rate = rate;
        self.touched.push(pace);
        changed.flows
    }

    /// A flow that follows none takes a pace, of which it is given a multiple, until it has sent `target` bits.
    pub(super) fn join(&mut self, slot: u32, (flow, target): (&mut Flow, f64), pace: u32, weight: f64, now: f64) {
        if self.follows.len() <= slot as usize {
            let none = Follows { pace: NONE, taken: 0, weight: 0.0, from: Point::default() };
            self.follows.resize(slot as usize + 1, none);
        }
        let (joined, follows) = (&mut self.paces[pace as usize], &mut self.follows[slot as usize]);
        joined.advance(now);
        joined.flows += 1;
        flow.advance(now);
        flow.rate = weight * joined.rate;
        let taken = follows.taken.wrapping_add(1);
        *follows = Follows { pace, taken, weight, from: joined.clock };
        let after = (target - flow.sent) / weight;
        // A flow without end has none on any clock.
        if after.is_finite() {
            joined.ends.push(Reverse(End { at: joined.clock.plus(after), slot, taken }));
        }
        self.touched.push(pace);
    }

    /// Computes what a flow has sent. Whether it follows a pace.
    pub(super) fn settle(&mut self, slot: u32, flow: &mut Flow) -> bool {
        let Some(follows) = self.follows.get_mut(slot as usize).filter(|follows| follows.pace != NONE) else {
            return false;
        };
        let pace = &self.paces[follows.pace as usize];
        flow.sent = f64::min(flow.sent + follows.weight * pace.clock.minus(follows.from), flow.size);
        (flow.since, flow.rate, follows.from) = (pace.since, follows.weight * pace.rate, pace.clock);
        true
    }

    /// Computes what a flow has sent, which has its rate to itself from now on. Whether it followed a pace.
    pub(super) fn leave(&mut self, slot: u32, flow: &mut Flow) -> bool {
        let follows = self.settle(slot, flow);
        if follows {
            let left = std::mem::replace(&mut self.follows[slot as usize].pace, NONE);
            self.paces[left as usize].flows -= 1;
            self.touched.push(left);
        }
        follows
    }

    /// The time of the first end; ∞ for none.
    pub(super) fn first(&mut self) -> f64 {
        for pace in self.touched.drain(..) {
            let Pace { rate, clock, since, flows, ends } = &mut self.paces[pace as usize];
            if ends.len() > MOST_LEFT * (*flows as usize + 1) {
                ends.retain(|Reverse(end)| is_valid(&self.follows, pace, end));
            }
            while ends.peek().is_some_and(|Reverse(end)| !is_valid(&self.follows, pace, end)) {
                ends.pop();
            }
            let end = ends.peek().filter(|_| *rate > 0.0).map(|Reverse(end)| end.at.minus(*clock) / *rate);
            self.calendar.set(pace, end.map_or(f64::INFINITY, |after| *since + f64::max(0.0, after)));
        }
        self.calendar.first()
    }

    /// Adds the slots of the flows that end by some time.
    pub(super) fn due(&mut self, now: f64, due: &mut Vec<u32>) {
        let mut paces = Vec::new();
        self.first();
        self.calendar.due(now, &mut paces);
        for pace in paces {
            let Pace { rate, clock, since, ends, .. } = &mut self.paces[pace as usize];
            while let Some(Reverse(end)) = ends.peek()
                && *since + end.at.minus(*clock) / *rate <= now
            {
                due.extend(is_valid(&self.follows, pace, end).then_some(end.slot));
                ends.pop();
            }
        }
    }
}

/// Whether an end of a pace is that of a flow that still follows it.
fn is_valid(follows: &[Follows], pace: u32, end: &End) -> bool {
    let Follows { pace: its, taken, .. } = follows[end.slot as usize];
    its == pace && taken == end.taken
}
