//! Closed loops: flows that depend on how earlier ones went, of a function that is asked for them during the run.
//!
//! It is asked for them at time 0, at every instant at which flows have ended, once for all of them, and at the times
//! that it has set. A flow gets its number when it starts, so that the workload of the report is in order of arrival,
//! and has the same completion times when it is simulated.

use std::cmp::Reverse;
use std::collections::hash_map::{Entry, OccupiedEntry};
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::settings::RunSettings;
use super::starts::Waits;
use crate::error::{Error, Result};
use crate::numbers::NONE;
use crate::workload::Workload;

/// Calls of a loop, and flows of it, at most where neither `until` nor a time limit ends the run.
const MOST_WITHOUT_END: usize = 1_000_000;

/// The flows of a closed loop, such as clients that ask again when they have their answers.
pub trait ClosedLoop {
    /// Called at time 0, at every instant at which flows have ended, with [packets](crate::Packets) at the destination,
    /// and at the times that it has set: returns flows that arrive now or later. `ended` are those that have ended
    /// since the last call, in order of their numbers.
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
    /// New flows, whose arrivals are times of the run. They may wait for each other, and are in coflows of their own.
    /// They have weights where those at the start have, 1 if none are given, and no rates of production.
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

/// Flows that were given together.
struct Batch {
    flows: Workload,
    /// Where some of them wait for others.
    waits: Option<Waits>,
    /// By its coflows, their numbers in the run; [`NONE`] before their first flows arrive.
    coflows: Vec<u32>,
    /// Flows that have not arrived, or, where some wait for others, that have not ended.
    open: usize,
}

/// A closed loop in a run, with the flows that it has given and that have not arrived.
pub(super) struct Pending<'a> {
    closed_loop: &'a mut dyn ClosedLoop,
    /// Those that have ended since the last call, by the times at which it is told and their numbers. Bits of numbers
    /// >= 0 are in the order of the numbers.
    ended: BTreeMap<(u64, usize), EndedFlow>,
    /// The time that it has set.
    next_call: f64,
    batches: HashMap<u64, Batch>,
    /// Flows whose starts are known, by these, by batch and by their place there.
    planned: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// By number, batch and place of the active flows that others may wait for.
    followed: HashMap<usize, (u64, u32)>,
    /// Batches so far, coflows that have begun, and calls and flows.
    given: u64,
    coflows: u32,
    count: usize,
    /// Ends of the network, whether flows have weights, and whether the run has an end in its own time, or in any.
    ends: usize,
    has_weights: bool,
    has_until: bool,
    has_end: bool,
}

impl<'a> Pending<'a> {
    /// With the flows that are known at the start.
    ///
    /// # Errors
    /// [`Error::ClosedLoop`] for flows of the start that cannot be beside it.
    pub(super) fn new(
        closed_loop: &'a mut dyn ClosedLoop,
        at_first: &Workload,
        ends: usize,
        run: &RunSettings,
    ) -> Result<Self> {
        let has_until = run.until < f64::INFINITY;
        let mut this = Self {
            closed_loop,
            ended: BTreeMap::new(),
            next_call: 0.0,
            batches: HashMap::new(),
            planned: BinaryHeap::new(),
            followed: HashMap::new(),
            given: 0,
            coflows: 0,
            count: 0,
            ends,
            has_weights: at_first.weights().is_some(),
            has_until,
            has_end: has_until || run.time_limit.is_some(),
        };
        this.add(at_first.clone(), 0.0, "is beside")?;
        Ok(this)
    }

    /// The first arrival; ∞ for none.
    pub(super) fn first(&self) -> f64 {
        self.planned.peek().map_or(f64::INFINITY, |&Reverse((time, ..))| f64::from_bits(time))
    }

    /// The time of its next call; ∞ for none.
    pub(super) fn next_call(&self) -> f64 {
        let told = self.ended.first_key_value().map_or(f64::INFINITY, |(&(time, _), _)| f64::from_bits(time));
        f64::min(self.next_call, told)
    }

    /// Whether nothing more will come of it, once all flows have ended that have arrived.
    pub(super) fn is_done(&self) -> bool {
        self.planned.is_empty() && self.next_call() == f64::INFINITY
    }

    /// A flow has ended, whose last byte arrives at some time from now on.
    pub(super) fn end(&mut self, flow: EndedFlow, arrived: f64) {
        let Self { batches, planned, followed, .. } = self;
        if let Some((batch, place)) = followed.remove(&flow.flow)
            && let Entry::Occupied(mut own) = batches.entry(batch)
        {
            if let Some(waits) = &mut own.get_mut().waits {
                waits.ended(place as usize, arrived, |start, next| planned.push(Reverse((start, batch, next))));
            }
            close(own);
        }
        self.ended.insert((arrived.to_bits(), flow.flow), flow);
    }

    /// Calls it.
    ///
    /// # Errors
    /// Those of the loop, and [`Error::ClosedLoop`] for an answer that cannot be used.
    pub(super) fn call(&mut self, now: f64) -> Result<()> {
        let later = self.ended.split_off(&(now.to_bits(), usize::MAX));
        let ended: Vec<EndedFlow> = std::mem::replace(&mut self.ended, later).into_values().collect();
        let NextFlows { flows, next_call } = self.closed_loop.next_flows(now, &ended)?;
        if next_call.is_nan() || next_call <= now {
            return Err(refused(format!("set its next call to {next_call}, which is not after {now}")));
        }
        self.next_call = next_call;
        self.count += 1 + flows.len();
        if self.count > MOST_WITHOUT_END && !self.has_end {
            let what = format!(
                "has more than a million calls and flows by {now} s of the simulation: give the run until (simulated \
                 seconds) or a time limit"
            );
            return Err(refused(what));
        }
        self.add(flows, now, "gave")
    }

    /// Moves the flows that arrive by now to the end of a workload.
    pub(super) fn arrive(&mut self, now: f64, workload: &mut Workload) {
        while let Some(&Reverse((time, batch, flow))) = self.planned.peek()
            && f64::from_bits(time) <= now
        {
            self.planned.pop();
            let Entry::Occupied(mut own) = self.batches.entry(batch) else { continue };
            let Batch { flows, waits, coflows, .. } = own.get_mut();
            let coflow = flows.coflow(flow as usize).map(|coflow| {
                let number = &mut coflows[coflow as usize];
                if *number == NONE {
                    *number = self.coflows;
                    self.coflows += 1;
                }
                *number
            });
            let number = workload.len();
            workload.push(f64::from_bits(time), (flows, flow as usize), coflow);
            if waits.is_some() {
                self.followed.insert(number, (batch, flow));
            } else {
                close(own);
            }
        }
    }

    /// The run ends: moves all flows that have not arrived to the end of a workload. Those that wait for others, of
    /// which no start is known, arrive there after the end.
    pub(super) fn arrive_never(&mut self, now: f64, workload: &mut Workload) {
        for (&batch, Batch { flows, waits, .. }) in &self.batches {
            let waiting = waits.iter().flat_map(|waits| (0..flows.len()).filter(|&flow| waits.has_to_wait(flow)));
            self.planned.extend(waiting.map(|flow| {
                let start = f64::max(flows.arrivals()[flow], now.next_up());
                Reverse((start.to_bits(), batch, flow as u32))
            }));
        }
        self.arrive(f64::INFINITY, workload);
    }

    /// Adds flows; `what` the loop does with them begins the sentence of an error.
    fn add(&mut self, flows: Workload, now: f64, what: &str) -> Result<()> {
        for flow in 0..flows.len() {
            if let Some(why) = self.violation(&flows, flow, now) {
                return Err(refused(format!("{what} a workload whose flow {flow} {why}")));
            }
        }
        if flows.is_empty() {
            return Ok(());
        }
        let (batch, waits) = (self.given, Waits::of(&flows));
        self.given += 1;
        let free = (0..flows.len()).filter(|&flow| waits.as_ref().is_none_or(|waits| !waits.has_to_wait(flow)));
        // −0 is 0.
        let start = |flow: usize| Reverse(((flows.arrivals()[flow] + 0.0).to_bits(), batch, flow as u32));
        self.planned.extend(free.map(start));
        let (coflows, open) = (vec![NONE; flows.coflows()], flows.len());
        self.batches.insert(batch, Batch { flows, waits, coflows, open });
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
        let others = [
            (flows.production().is_some(), "has a rate of production"),
            (flows.weights().is_some() && !self.has_weights, "has a weight, and flows of the start have none"),
            (flows.sizes()[flow] == f64::INFINITY && !self.has_until, "never ends, in a run without until"),
        ];
        others.into_iter().find_map(|(is_so, why)| is_so.then(|| why.into()))
    }
}

/// A flow of a batch is over for it; the last one ends the batch.
fn close(mut batch: OccupiedEntry<'_, u64, Batch>) {
    batch.get_mut().open -= 1;
    if batch.get().open == 0 {
        batch.remove();
    }
}

fn refused(what: String) -> Error {
    Error::ClosedLoop { what }
}
