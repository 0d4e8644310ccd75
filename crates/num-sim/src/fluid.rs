//! The loop over events: arrivals, ends, and the policy's own clock. Between two events every rate is constant, so that
//! the next end is known exactly, and nothing is done in between.
//!
//! ```text
//! now ← the first of: next arrival, next end, the policy's clock
//! flows that end now leave; flows that arrive now are routed and join
//! the policy says which rates change; only those flows are looked at
//! ```

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use netnum_core::Topology;

use crate::calendar::Calendar;
use crate::error::{Error, Result};
use crate::flows::Flows;
use crate::ledger::Ledger;
use crate::policy::{Policy, Rates};
use crate::progress::{Observer, Progress};
use crate::report::{Report, Status};
use crate::routing::Routing;
use crate::workload::Workload;

/// Bits per byte: sizes are in the one, rates in the other.
const BITS: f64 = 8.0;

/// When a simulation stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Simulated seconds after which it is over, whatever is still on the way. Default: ∞, until all flows have ended.
    pub until: f64,
}

impl Default for Run {
    fn default() -> Self {
        Self { until: f64::INFINITY }
    }
}

/// Lets the flows of a workload pass through a network.
///
/// The same arguments give the same report, bit for bit, but for its [`seconds`](Report::seconds).
///
/// # Errors
/// A setting's, for a negative time; what the routing says of flows that it cannot route and the policy of the network,
/// before anything is simulated;
/// [`Error::Routing`] and [`Error::Policy`] for routes and rates that cannot be used.
pub fn simulate(
    net: &Topology,
    workload: &Workload,
    routing: &mut dyn Routing,
    policy: &mut dyn Policy,
    run: &Run,
    observer: &mut dyn Observer,
) -> Result<Report> {
    if run.until.is_nan() || run.until < 0.0 {
        return Err(Error::setting("until", run.until, "a number >= 0"));
    }
    let began = Instant::now();
    routing.start(net, workload)?;
    policy.start(net, workload)?;
    let mut fluid = Fluid::new(net, workload, routing, policy);
    let status = fluid.run(run.until, observer, began)?;
    Ok(fluid.report(status, began))
}

struct Fluid<'a> {
    capacities: &'a [f64],
    workload: &'a Workload,
    routing: &'a mut dyn Routing,
    policy: &'a mut dyn Policy,
    now: f64,
    flows: Flows,
    ends: Calendar,
    ledger: Ledger,
    /// When the policy wants to be asked again.
    wake: f64,
    rates: Rates,
    /// How many flows have arrived, and how many have ended.
    arrived: usize,
    ended: usize,
    events: u64,
    rate_changes: u64,
    completion_times: Vec<f64>,
    slowdowns: Vec<f64>,
    bytes_sent: Vec<f64>,
}

impl<'a> Fluid<'a> {
    fn new(
        net: &'a Topology,
        workload: &'a Workload,
        routing: &'a mut dyn Routing,
        policy: &'a mut dyn Policy,
    ) -> Self {
        Self {
            capacities: net.capacities(),
            workload,
            routing,
            policy,
            now: 0.0,
            flows: Flows::default(),
            ends: Calendar::default(),
            ledger: Ledger::new(net.capacities()),
            wake: f64::INFINITY,
            rates: Rates::default(),
            arrived: 0,
            ended: 0,
            events: 0,
            rate_changes: 0,
            completion_times: vec![f64::NAN; workload.len()],
            slowdowns: vec![f64::NAN; workload.len()],
            bytes_sent: vec![0.0; workload.len()],
        }
    }

    fn run(&mut self, until: f64, observer: &mut dyn Observer, began: Instant) -> Result<Status> {
        let pause = observer.pause();
        let mut last_look = began;
        let mut due = Vec::new();
        loop {
            if self.ended == self.workload.len() {
                return Ok(Status::Finished);
            }
            let arrival = self.workload.arrivals().get(self.arrived).copied().unwrap_or(f64::INFINITY);
            let end = self.ends.first();
            let next = arrival.min(end).min(self.wake);
            if next > until {
                self.now = until;
                return Ok(Status::TimeUp);
            }
            // A clock may tick on though nothing is on the way, and nothing can be.
            let stands = arrival == f64::INFINITY && end == f64::INFINITY;
            if next == f64::INFINITY || (stands && !self.can_move()) {
                return Ok(Status::Starved);
            }
            self.now = next;
            self.events += 1;
            if end <= next {
                self.ends.due(next, &mut due);
                due.iter().for_each(|&slot| self.end(slot));
            }
            while self.workload.arrivals().get(self.arrived).is_some_and(|&arrival| arrival <= next) {
                self.arrive()?;
            }
            self.allocate()?;
            if pause < Duration::MAX && last_look.elapsed() >= pause {
                last_look = Instant::now();
                if observer.observe(&self.progress(began)) == ControlFlow::Break(()) {
                    return Ok(Status::Stopped);
                }
            }
        }
    }

    /// Whether there is a flow over links that all have a capacity.
    fn can_move(&self) -> bool {
        self.flows.active().iter().any(|&slot| self.flows.route(slot).alone(self.capacities) > 0.0)
    }

    fn arrive(&mut self) -> Result<()> {
        let flow = self.arrived;
        self.arrived += 1;
        let (slot, route) = self.flows.insert(flow, BITS * self.workload.sizes()[flow], self.now);
        self.routing.route(flow, route)?;
        if let Some(what) = route.fault(self.capacities.len()) {
            return Err(Error::Routing { routing: self.routing.name().into(), flow, what });
        }
        self.policy.arrive(slot, &self.flows);
        Ok(())
    }

    fn end(&mut self, slot: u32) {
        let (flow, route) = (*self.flows.flow(slot), self.flows.route(slot));
        let number = flow.number as usize;
        // Not `now − arrival`, which has the rounding of the clock: a short flow late in a long run would have none of
        // its digits left.
        let time = (flow.since - self.workload.arrivals()[number]) + flow.left / flow.rate;
        self.completion_times[number] = time;
        self.slowdowns[number] = time * route.alone(self.capacities) / flow.size;
        self.bytes_sent[number] = self.workload.sizes()[number];
        self.ledger.change(route, -flow.rate, self.now);
        self.ledger.sent(route, flow.size);
        self.ends.set(slot, f64::INFINITY);
        self.policy.leave(slot, &self.flows);
        self.flows.remove(slot);
        self.ended += 1;
    }

    /// Asks the policy for the rates that change.
    fn allocate(&mut self) -> Result<()> {
        let now = self.now;
        self.wake = self.policy.allocate(now, &self.flows, &mut self.rates)?;
        if self.wake.is_nan() || self.wake <= now {
            let what = format!("wants to be asked again at {}, which is not after {now}", self.wake);
            return Err(Error::Policy { policy: self.policy.name().into(), what });
        }
        for (slot, rate) in self.rates.drain() {
            if !self.flows.is_active(slot) {
                let what = format!("gave slot {slot} a rate, where no flow is");
                return Err(Error::Policy { policy: self.policy.name().into(), what });
            }
            let flow = self.flows.flow_mut(slot);
            if !(rate.is_finite() && rate >= 0.0) {
                let what = format!("gave flow {} the rate {rate}, expected a finite number >= 0", flow.number);
                return Err(Error::Policy { policy: self.policy.name().into(), what });
            }
            if rate == flow.rate {
                continue;
            }
            let change = rate - flow.rate;
            flow.left = flow.left(now);
            (flow.since, flow.rate) = (now, rate);
            let end = if rate > 0.0 { now + flow.left / rate } else { f64::INFINITY };
            self.ends.set(slot, end);
            self.ledger.change(self.flows.route(slot), change, now);
            self.rate_changes += 1;
        }
        Ok(())
    }

    fn progress(&self, began: Instant) -> Progress {
        Progress {
            time: self.now,
            flows: self.workload.len(),
            arrived: self.arrived,
            ended: self.ended,
            events: self.events,
            seconds: began.elapsed().as_secs_f64(),
        }
    }

    fn report(mut self, status: Status, began: Instant) -> Report {
        for &slot in self.flows.active() {
            let flow = self.flows.flow(slot);
            let sent = flow.size - flow.left(self.now);
            self.bytes_sent[flow.number as usize] = sent / BITS;
            self.ledger.sent(self.flows.route(slot), sent);
        }
        self.ledger.close(self.now);
        let link_bytes = self.ledger.bytes();
        let used = |(bytes, capacity): (&f64, &f64)| BITS * bytes / (capacity * self.now);
        Report {
            status,
            policy: self.policy.name().into(),
            routing: self.routing.name().into(),
            workload: self.workload.clone(),
            completion_times: self.completion_times,
            slowdowns: self.slowdowns,
            bytes_sent: self.bytes_sent,
            link_utilization: link_bytes.iter().zip(self.capacities).map(used).collect(),
            link_bytes,
            peak_loads: self.ledger.peaks(),
            over_allocation: if self.now > 0.0 { self.ledger.excess_bits() / self.now } else { 0.0 },
            gap: self.policy.gap(),
            time: self.now,
            events: self.events,
            rate_changes: self.rate_changes,
            seconds: began.elapsed().as_secs_f64(),
        }
    }
}
