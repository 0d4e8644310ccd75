//! Closed loops: flows that depend on how earlier ones went, of a function that is asked for them during the run.
//!
//! It is asked for them at time 0, at every instant at which flows have ended, once for all of them, and at the times
//! that it has set. A flow gets its number when it arrives, so that the workload of the report is in order of arrival,
//! and has the same completion times when it is simulated.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::workload::Workload;

/// The flows of a closed loop, such as clients that ask again when they have their answers.
pub trait ClosedLoop {
    /// Called at time 0, at every instant at which flows have ended, and at the times that it has set: returns flows
    /// that arrive now or later. `ended` are those that have ended since the last call, in order of their numbers.
    ///
    /// # Errors
    /// Of the loop; an error ends the run.
    fn next_flows(&mut self, now: f64, ended: &[EndedFlow]) -> Result<NextFlows>;
}

/// A flow that has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EndedFlow {
    /// Its number in the workload of the report.
    pub flow: usize,
    /// The end that has sent it.
    pub source: usize,
    /// The end that has received it.
    pub destination: usize,
    /// Its size in bytes.
    pub size: f64,
    /// When it started, in seconds.
    pub start: f64,
    /// Seconds from its start to its end.
    pub completion_time: f64,
}

/// What a closed loop answers.
#[derive(Debug, Clone, PartialEq)]
pub struct NextFlows {
    /// New flows, whose arrivals are times of the run. They have weights where those at the start have, 1 if none are
    /// given; they wait for no others, and have neither coflows nor rates of production.
    pub flows: Workload,
    /// The time of the next call if no flow ends before, after now; ∞ for none. It replaces the one before.
    pub next_call: f64,
}

impl Default for NextFlows {
    /// No flows, and no call before another one ends.
    fn default() -> Self {
        Self { flows: Workload::default(), next_call: f64::INFINITY }
    }
}

/// A flow that has not arrived.
struct Planned {
    ends: (usize, usize),
    size: f64,
    weight: f64,
}

/// A closed loop in a run, with the flows that it has given and that have not arrived.
pub(super) struct Pending<'a> {
    closed_loop: &'a mut dyn ClosedLoop,
    /// Those that have ended since the last call.
    pub(super) ended: Vec<EndedFlow>,
    pub(super) next_call: f64,
    /// By arrival and the order in which they were given. Bits of numbers >= 0 are in the order of the numbers.
    planned: BTreeMap<(u64, u64), Planned>,
    given: u64,
    /// Ends of the network, whether flows have weights, and whether the run has an end of its own.
    ends: usize,
    has_weights: bool,
    has_until: bool,
}

impl<'a> Pending<'a> {
    /// With the flows that are known at the start.
    ///
    /// # Errors
    /// [`Error::ClosedLoop`] for flows of the start with more than weights.
    pub(super) fn new(
        closed_loop: &'a mut dyn ClosedLoop,
        at_first: &Workload,
        (ends, until): (usize, f64),
    ) -> Result<Self> {
        let mut this = Self {
            closed_loop,
            ended: Vec::new(),
            next_call: 0.0,
            planned: BTreeMap::new(),
            given: 0,
            ends,
            has_weights: at_first.weights().is_some(),
            has_until: until < f64::INFINITY,
        };
        this.add(at_first, 0.0, "is beside")?;
        Ok(this)
    }

    /// The first arrival; ∞ for none.
    pub(super) fn first(&self) -> f64 {
        self.planned.first_key_value().map_or(f64::INFINITY, |(&(time, _), _)| f64::from_bits(time))
    }

    /// Whether nothing more will come of it.
    pub(super) fn is_done(&self) -> bool {
        self.planned.is_empty() && self.ended.is_empty() && self.next_call == f64::INFINITY
    }

    /// Whether it is to be called.
    pub(super) fn is_due(&self, now: f64) -> bool {
        self.next_call <= now || !self.ended.is_empty()
    }

    /// Calls it.
    ///
    /// # Errors
    /// Those of the loop, and [`Error::ClosedLoop`] for an answer that cannot be used.
    pub(super) fn call(&mut self, now: f64) -> Result<()> {
        let mut ended = std::mem::take(&mut self.ended);
        ended.sort_unstable_by_key(|ended| ended.flow);
        let NextFlows { flows, next_call } = self.closed_loop.next_flows(now, &ended)?;
        if next_call.is_nan() || next_call <= now {
            return Err(refused(format!("set its next call to {next_call}, which is not after {now}")));
        }
        self.next_call = next_call;
        self.add(&flows, now, "gave")
    }

    /// Moves the flows that arrive by now to the end of a workload.
    pub(super) fn arrive(&mut self, now: f64, workload: &mut Workload) {
        while let Some(first) = self.planned.first_entry().filter(|first| f64::from_bits(first.key().0) <= now) {
            let ((time, _), Planned { ends, size, weight }) = first.remove_entry();
            workload.push(f64::from_bits(time), ends, size, self.has_weights.then_some(weight));
        }
    }

    /// Adds flows; `what` the loop does with them begins the sentence of an error.
    fn add(&mut self, flows: &Workload, now: f64, what: &str) -> Result<()> {
        for flow in 0..flows.len() {
            if let Some(why) = self.violation(flows, flow, now) {
                return Err(refused(format!("{what} a workload whose flow {flow} {why}")));
            }
        }
        for flow in 0..flows.len() {
            let weight = flows.weights().map_or(1.0, |weights| weights[flow]);
            // −0 is 0.
            let key = ((flows.arrivals()[flow] + 0.0).to_bits(), self.given);
            self.planned.insert(key, Planned { ends: flows.pair(flow), size: flows.sizes()[flow], weight });
            self.given += 1;
        }
        Ok(())
    }

    /// Why a flow cannot be taken, or None if it can.
    fn violation(&self, flows: &Workload, flow: usize, now: f64) -> Option<String> {
        let (arrival, (source, destination)) = (flows.arrivals()[flow], flows.pair(flow));
        if arrival < now {
            return Some(format!("arrives at {arrival}, before {now}"));
        }
        if let Some(end) = [source, destination].into_iter().find(|&end| end >= self.ends) {
            return Some(format!("has the end {end}, expected ends from 0 to {}", self.ends - 1));
        }
        let waits = flows.dependencies().is_some_and(|all| !all.after(flow).is_empty() || all.delay(flow) > 0.0);
        let others = [
            (flows.production().is_some(), "has a rate of production"),
            (waits, "waits for others, or for a time: the loop can give it after that"),
            (flows.coflow(flow).is_some(), "is in a coflow"),
            (flows.weights().is_some() && !self.has_weights, "has a weight, and flows of the start have none"),
            (flows.sizes()[flow] == f64::INFINITY && !self.has_until, "never ends, in a run without until"),
        ];
        others.into_iter().find_map(|(is_so, why)| is_so.then(|| why.into()))
    }
}

fn refused(what: String) -> Error {
    Error::ClosedLoop { what }
}
