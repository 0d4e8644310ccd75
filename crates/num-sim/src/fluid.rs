//! The loop over events. Between two of them every rate is constant, so that the next end is known exactly, and nothing is
//! done in between.
//!
//! ```text
//! now ← the first of: an arrival, an end, a turn of a source, a review of a route, a change of capacity, the policy's clock
//! flows that end now leave; sources turn; links change; routes are reviewed; flows that arrive now are routed and join
//! the policy says which rates change; only those flows are looked at
//! ```

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use netnum_core::Topology;

use crate::calendar::Calendar;
use crate::error::{Error, Result};
use crate::flows::{Flows, PACKET};
use crate::ledger::Ledger;
use crate::marks::Marked;
use crate::policy::{Policy, Rates};
use crate::progress::{Observer, Progress};
use crate::report::{Report, Status};
use crate::routing::{Moves, Route, Routing};
use crate::source::Source;
use crate::workload::Workload;

/// Bits per byte: sizes are in the one, rates in the other.
const BITS: f64 = 8.0;

/// An end and a turn of a source that are this close, relative to the time until then, are one.
const TOGETHER: f64 = 1e-9;
/// Reviews of every flow while none sends, after which none will any more, wherever it goes.
const PATIENCE: usize = 10_000;

/// A link's capacity from some time on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// When, in seconds.
    pub time: f64,
    /// The link.
    pub link: usize,
    /// Its capacity from then on, in bit/s; 0 if it fails.
    pub capacity: f64,
}

/// What happens to a network while flows pass, and when a simulation stops.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Simulated seconds after which it is over, whatever is still on the way. Default: ∞, until all flows have ended.
    pub until: f64,
    /// Links whose capacities change, in order of time. Default: none.
    pub changes: Vec<Change>,
}

impl Default for Run {
    fn default() -> Self {
        Self { until: f64::INFINITY, changes: Vec::new() }
    }
}

impl Run {
    fn check(&self, links: usize) -> Result<()> {
        if self.until.is_nan() || self.until < 0.0 {
            return Err(Error::setting("until", self.until, "a number >= 0"));
        }
        let mut previous = 0.0;
        for (place, change) in self.changes.iter().enumerate() {
            let wrong = |what: &str, value: &dyn ToString, expected: &str| {
                Err(Error::setting(&format!("{what} of change {place}"), value.to_string(), expected))
            };
            if !(change.time.is_finite() && change.time >= 0.0) {
                return wrong("time", &change.time, "a finite number >= 0");
            }
            if change.time < previous {
                return wrong("time", &change.time, "changes in order of time");
            }
            if change.link >= links {
                return wrong("link", &change.link, &format!("a link in 0..{links}"));
            }
            if !(change.capacity.is_finite() && change.capacity >= 0.0) {
                return wrong("capacity", &change.capacity, "a finite number >= 0");
            }
            previous = change.time;
        }
        Ok(())
    }
}

/// Lets the flows of a workload pass through a network.
///
/// The same arguments give the same report, bit for bit, but for its [`seconds`](Report::seconds).
///
/// # Errors
/// [`Error::Flow`] naming a flow between ends that the network does not have; a setting's, for a time, a link or a
/// capacity of the run that cannot be; what the routing says of flows that it cannot route and the policy of the network,
/// before anything is simulated; [`Error::Routing`] and [`Error::Policy`] for routes and rates that cannot be used.
pub fn simulate(
    net: &Topology,
    workload: &Workload,
    routing: &mut dyn Routing,
    policy: &mut dyn Policy,
    run: &Run,
    observer: &mut dyn Observer,
) -> Result<Report> {
    run.check(net.capacities().len())?;
    check_ends(net, workload)?;
    let began = Instant::now();
    routing.start(net, workload)?;
    let period = routing.period();
    if period.is_nan() || period <= 0.0 {
        return Err(Error::setting("period", period, "a number > 0"));
    }
    routing.marking().check(routing.name())?;
    policy.start(net, workload)?;
    let mut fluid = Fluid::new(net, workload, routing, policy, &run.changes);
    let status = fluid.run(run.until, observer, began)?;
    Ok(fluid.report(status, began))
}

/// Whether every flow joins ends of the network.
fn check_ends(net: &Topology, workload: &Workload) -> Result<()> {
    for (what, ends) in [("source", workload.sources()), ("destination", workload.destinations())] {
        if let Some(flow) = ends.iter().position(|&end| end >= net.ends()) {
            return Err(Error::Flow { flow, what, value: ends[flow] as f64, expected: "an end of the network" });
        }
    }
    Ok(())
}

struct Fluid<'a> {
    net: &'a Topology,
    workload: &'a Workload,
    routing: &'a mut dyn Routing,
    policy: &'a mut dyn Policy,
    /// Changes of capacity that are still to come.
    changes: &'a [Change],
    /// Whether there has been one.
    changed: bool,
    now: f64,
    flows: Flows,
    /// When a flow ends, or its source turns if that is earlier.
    ends: Calendar,
    ledger: Ledger,
    /// When the policy wants to be asked again, and whether it must be asked now.
    wake: f64,
    told: bool,
    rates: Rates,
    /// Flows with a source that something has happened to at this instant.
    touched: Vec<u32>,
    /// Where routes are reviewed.
    reviews: Option<Reviews>,
    moves: Moves,
    spare_route: Route,
    /// A zero for every node, to check routes with.
    balance: Vec<f64>,
    /// By slot, what was left of the flow when it took its route.
    left_before: Vec<f64>,
    /// How many flows have arrived, and how many have ended.
    arrived: usize,
    ended: usize,
    events: u64,
    rate_changes: u64,
    route_changes: u64,
    completion_times: Vec<f64>,
    slowdowns: Vec<f64>,
    bytes_sent: Vec<f64>,
    copy_rates: Vec<f64>,
}

/// The clocks of flows whose routes are reviewed.
struct Reviews {
    period: f64,
    calendar: Calendar,
    /// By slot, how many there have been.
    counts: Vec<u64>,
    marked: Marked,
    /// How many there have been since anything was sent.
    idle: usize,
}

impl<'a> Fluid<'a> {
    fn new(
        net: &'a Topology,
        workload: &'a Workload,
        routing: &'a mut dyn Routing,
        policy: &'a mut dyn Policy,
        changes: &'a [Change],
    ) -> Self {
        let period = routing.period();
        let reviews = (period < f64::INFINITY).then(|| Reviews {
            period,
            calendar: Calendar::default(),
            counts: Vec::new(),
            marked: Marked::new(net, routing.marking()),
            idle: 0,
        });
        Self {
            net,
            workload,
            routing,
            policy,
            changes,
            changed: false,
            now: 0.0,
            flows: Flows::default(),
            ends: Calendar::default(),
            ledger: Ledger::new(net.capacities()),
            wake: f64::INFINITY,
            told: false,
            rates: Rates::default(),
            touched: Vec::new(),
            reviews,
            moves: Moves::default(),
            spare_route: Route::default(),
            balance: vec![0.0; net.node_names().len()],
            left_before: Vec::new(),
            arrived: 0,
            ended: 0,
            events: 0,
            rate_changes: 0,
            route_changes: 0,
            completion_times: vec![f64::NAN; workload.len()],
            slowdowns: vec![f64::NAN; workload.len()],
            bytes_sent: vec![0.0; workload.len()],
            copy_rates: vec![f64::NAN; workload.len()],
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
            let review = self.reviews.as_mut().map_or(f64::INFINITY, |reviews| reviews.calendar.first());
            let change = self.changes.first().map_or(f64::INFINITY, |change| change.time);
            let next = arrival.min(end).min(review).min(change).min(self.wake);
            if next > until {
                self.now = until;
                return Ok(Status::TimeUp);
            }
            // A clock may tick on though nothing is on the way, and nothing can be.
            let stands = arrival == f64::INFINITY && end == f64::INFINITY && change == f64::INFINITY;
            if let Some(reviews) = self.reviews.as_mut().filter(|_| !stands) {
                reviews.idle = 0;
            }
            if next == f64::INFINITY || (stands && !self.can_move()) {
                return Ok(Status::Starved);
            }
            self.now = next;
            self.events += 1;
            if end <= next {
                self.ends.due(next, &mut due);
                due.iter().for_each(|&slot| self.end_or_turn(slot));
            }
            if change <= next {
                self.change_capacities()?;
            }
            if review <= next {
                self.review(&mut due)?;
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

    /// Whether there is a flow over links that all have a capacity, or one that may yet be moved to such.
    fn can_move(&self) -> bool {
        let flows = self.flows.active();
        let moves = |reviews: &Reviews| reviews.idle <= PATIENCE * flows.len();
        flows.iter().any(|&slot| self.flows.route(slot).alone(self.ledger.capacities()) > 0.0)
            || self.reviews.as_ref().is_some_and(moves)
    }

    fn change_capacities(&mut self) -> Result<()> {
        while let Some((&Change { time, link, capacity }, rest)) = self.changes.split_first()
            && time <= self.now
        {
            self.changes = rest;
            self.ledger.set_capacity(link, capacity, self.now);
            if let Some(reviews) = &mut self.reviews {
                reviews.marked.set_capacity(link, capacity);
            }
            self.policy.set_capacity(link, capacity);
        }
        (self.told, self.changed) = (true, true);
        for place in 0..self.flows.active().len() {
            let slot = self.flows.active()[place];
            self.spare_route.clone_from(self.flows.route(slot));
            let now = self.ledger.now(self.net, self.now);
            if self.routing.reroute(self.flows.flow(slot).number as usize, &now, &mut self.spare_route)? {
                self.take_spare_route(slot)?;
            }
        }
        Ok(())
    }

    /// The clocks of some flows have come round: they hear what was marked, and may move.
    fn review(&mut self, due: &mut Vec<u32>) -> Result<()> {
        let Some(reviews) = &mut self.reviews else { return Ok(()) };
        reviews.calendar.due(self.now, due);
        for &slot in &*due {
            let Some(reviews) = &mut self.reviews else { return Ok(()) };
            let flow = self.flows.flow(slot);
            let marks = reviews.marked.take(slot, flow.left(self.now));
            reviews.idle += 1;
            // Counted from the arrival, and not from the last one, so that rounding does not add up.
            let count = &mut reviews.counts[slot as usize];
            *count += 1;
            let time = flow.arrival + *count as f64 * reviews.period;
            if time <= self.now {
                let expected = format!("longer than what the clock can tell apart at {} s", self.now);
                return Err(Error::setting("period", reviews.period, &expected));
            }
            reviews.calendar.set(slot, time);
            let number = flow.number as usize;
            self.spare_route.clone_from(self.flows.route(slot));
            let now = self.ledger.now(self.net, self.now);
            if self.routing.review(number, marks, &now, &mut self.spare_route)? {
                self.take_spare_route(slot)?;
            }
        }
        Ok(())
    }

    /// A flow takes another route, at the rate that it has.
    fn take_spare_route(&mut self, slot: u32) -> Result<()> {
        if self.flows.route(slot) == &self.spare_route {
            return Ok(());
        }
        let flow = self.flows.flow(slot);
        let number = flow.number as usize;
        let fault = self.spare_route.fault(self.net, self.workload.pair(number), &mut self.balance);
        self.refuse(number, fault)?;
        let (rate, left) = (flow.rate, flow.left(self.now));
        let before = std::mem::replace(&mut self.left_before[slot as usize], left);
        std::mem::swap(self.flows.route_mut(slot), &mut self.spare_route);
        self.ledger.change(&self.spare_route, -rate, self.now);
        self.ledger.sent(&self.spare_route, before - left);
        self.ledger.change(self.flows.route(slot), rate, self.now);
        self.policy.reroute(slot, &self.flows);
        self.told = true;
        self.route_changes += 1;
        if let Some(reviews) = &mut self.reviews {
            reviews.marked.leave(slot, &self.spare_route, rate);
            reviews.marked.join(slot, self.flows.route(slot), rate);
        }
        Ok(())
    }

    /// The error for a flow with a route that has a fault, if it has one.
    fn refuse(&self, flow: usize, fault: Option<String>) -> Result<()> {
        match fault {
            Some(what) => {
                Err(Error::Routing { routing: self.routing.name().into(), what: format!("flow {flow} {what}") })
            }
            None => Ok(()),
        }
    }

    fn arrive(&mut self) -> Result<()> {
        let flow = self.arrived;
        self.arrived += 1;
        let size = BITS * self.workload.sizes()[flow];
        let (slot, route) = self.flows.insert(flow, size, self.now);
        let now = self.ledger.now(self.net, self.now);
        self.routing.route(flow, &now, route)?;
        if self.changed {
            self.routing.reroute(flow, &now, route)?;
        }
        let fault = self.flows.route(slot).fault(self.net, self.workload.pair(flow), &mut self.balance);
        self.refuse(flow, fault)?;
        if self.left_before.len() <= slot as usize {
            self.left_before.resize(slot as usize + 1, 0.0);
        }
        self.left_before[slot as usize] = size;
        self.flows.flow_mut(slot).alone = self.flows.route(slot).alone(self.net.capacities());
        if let Some(production) = self.workload.production() {
            let first = self.flows.route(slot).links()[0] as usize;
            let (rate, buffer) = (production.rates()[flow], BITS * production.buffer());
            // A policy that gives a flow a little less than its cap leaves a little waiting, and so does a routing that
            // splits it otherwise as soon as it has none.
            let slack = if self.policy.is_exact() && !self.routing.follows_caps() { 0.0 } else { PACKET };
            let source = Source::new(rate, buffer, size, self.net.capacities()[first], slack);
            self.flows.feed(slot, source);
            self.touched.push(slot);
        }
        if let Some(reviews) = &mut self.reviews {
            reviews.calendar.set(slot, self.now + reviews.period);
            reviews.counts.resize(reviews.counts.len().max(slot as usize + 1), 0);
            reviews.counts[slot as usize] = 1;
            reviews.marked.arrive(slot, &self.flows);
        }
        self.policy.arrive(slot, &self.flows);
        self.told = true;
        Ok(())
    }

    fn end_or_turn(&mut self, slot: u32) {
        match self.flows.source(slot).is_some_and(Source::turns_first) {
            true => self.turn(slot),
            false => self.end(slot),
        }
    }

    fn end(&mut self, slot: u32) {
        let (flow, route) = (*self.flows.flow(slot), self.flows.route(slot));
        let number = flow.number as usize;
        // Not `now − arrival`, which has the rounding of the clock: a short flow late in a long run would have none of
        // its digits left.
        let time = (flow.since - self.workload.arrivals()[number]) + flow.left / flow.rate;
        self.completion_times[number] = time;
        self.slowdowns[number] = time * flow.alone / flow.size;
        self.bytes_sent[number] = self.workload.sizes()[number];
        if self.flows.source(slot).is_some() {
            self.copy_rates[number] = self.flows.copy_rate(slot, self.now);
        }
        self.ledger.change(route, -flow.rate, self.now);
        self.ledger.sent(route, self.left_before[slot as usize]);
        self.ends.set(slot, f64::INFINITY);
        if let Some(reviews) = &mut self.reviews {
            reviews.calendar.set(slot, f64::INFINITY);
            reviews.marked.leave(slot, route, flow.rate);
        }
        self.policy.leave(slot, &self.flows);
        self.told = true;
        self.flows.remove(slot);
        self.ended += 1;
    }

    /// A source is at its next stage.
    fn turn(&mut self, slot: u32) {
        self.settle(slot);
        let now = self.now;
        let Some((flow, source)) = self.flows.fed_mut(slot) else { return };
        source.turn(flow.rate, flow.sent(now));
        flow.cap = source.cap();
        let rate = f64::min(source.granted(), flow.cap);
        self.set_rate(slot, rate);
        self.touched.push(slot);
        self.policy.recap(slot, &self.flows);
        self.told = true;
    }

    /// Writes down where a flow stands.
    fn settle(&mut self, slot: u32) {
        let now = self.now;
        if let Some((flow, source)) = self.flows.fed_mut(slot) {
            source.settle(flow.rate, now - flow.since);
        }
        self.flows.flow_mut(slot).settle(now);
    }

    /// A flow sends at another rate from now on.
    fn set_rate(&mut self, slot: u32, rate: f64) {
        let before = self.flows.flow(slot).rate;
        if rate == before {
            return;
        }
        self.settle(slot);
        let flow = self.flows.flow_mut(slot);
        flow.rate = rate;
        let end = if rate > 0.0 { self.now + flow.left / rate } else { f64::INFINITY };
        self.ends.set(slot, end);
        self.ledger.change(self.flows.route(slot), rate - before, self.now);
        if let Some(reviews) = &mut self.reviews {
            reviews.marked.change(slot, self.flows.route(slot), rate - before);
        }
        self.rate_changes += 1;
    }

    /// What comes first for a flow with a source at its present rate: its end, or a turn.
    fn foresee(&mut self, slot: u32) {
        self.settle(slot);
        let now = self.now;
        let Some((flow, source)) = self.flows.fed_mut(slot) else { return };
        source.follow(flow.rate);
        let lifted = source.lift(flow.sent(now));
        flow.cap = source.cap();
        let end = if flow.rate > 0.0 { flow.left / flow.rate } else { f64::INFINITY };
        let turn = source.next(flow.rate, flow.sent(now));
        let turns_first = turn < end * (1.0 - TOGETHER);
        source.set_turns_first(turns_first);
        self.ends.set(slot, now + if turns_first { turn } else { end });
        if lifted {
            // It had less than its cap, so that no rate changes now that it has none.
            self.policy.recap(slot, &self.flows);
        }
    }

    /// Asks the policy for the rates that change, if there is a reason to.
    fn allocate(&mut self) -> Result<()> {
        let now = self.now;
        if self.told {
            let network = self.ledger.now(self.net, now);
            self.routing.balance(&network, &self.flows, &mut self.moves)?;
            let mut moves = std::mem::take(&mut self.moves);
            for (slot, route) in moves.drain() {
                if !self.flows.is_active(slot) {
                    let what = format!("moved slot {slot}, where no flow is");
                    return Err(Error::Routing { routing: self.routing.name().into(), what });
                }
                self.spare_route = route;
                self.take_spare_route(slot)?;
            }
            self.moves = moves;
        }
        if !self.told && self.wake > now {
            return Ok(());
        }
        self.told = false;
        self.wake = self.policy.allocate(now, &self.flows, &mut self.rates)?;
        if self.wake.is_nan() || self.wake <= now {
            let what = format!("wants to be asked again at {}, which is not after {now}", self.wake);
            return Err(Error::Policy { policy: self.policy.name().into(), what });
        }
        let mut rates = std::mem::take(&mut self.rates);
        for (slot, rate) in rates.drain() {
            if !self.flows.is_active(slot) {
                let what = format!("gave slot {slot} a rate, where no flow is");
                return Err(Error::Policy { policy: self.policy.name().into(), what });
            }
            if !(rate.is_finite() && rate >= 0.0) {
                let number = self.flows.flow(slot).number;
                let what = format!("gave flow {number} the rate {rate}, expected a finite number >= 0");
                return Err(Error::Policy { policy: self.policy.name().into(), what });
            }
            match self.flows.fed_mut(slot) {
                None => self.set_rate(slot, rate),
                Some((flow, source)) => {
                    source.grant(rate);
                    let rate = f64::min(rate, flow.cap);
                    self.set_rate(slot, rate);
                    self.touched.push(slot);
                }
            }
        }
        self.rates = rates;
        let mut touched = std::mem::take(&mut self.touched);
        for slot in touched.drain(..) {
            if self.flows.is_active(slot) {
                self.foresee(slot);
            }
        }
        self.touched = touched;
        if let Some(reviews) = &mut self.reviews {
            reviews.marked.look(&self.flows, now);
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
            let left = flow.left(self.now);
            self.bytes_sent[flow.number as usize] = (flow.size - left) / BITS;
            self.ledger.sent(self.flows.route(slot), self.left_before[slot as usize] - left);
        }
        self.ledger.close(self.now);
        Report {
            status,
            policy: self.policy.name().into(),
            routing: self.routing.name().into(),
            workload: self.workload.clone(),
            completion_times: self.completion_times,
            slowdowns: self.slowdowns,
            bytes_sent: self.bytes_sent,
            copy_rates: self.copy_rates,
            link_utilization: self.ledger.utilizations(),
            link_bytes: self.ledger.bytes(),
            peak_loads: self.ledger.peaks(),
            over_allocation: if self.now > 0.0 { self.ledger.excess_bits() / self.now } else { 0.0 },
            gap: self.policy.gap(),
            update_traffic: self.policy.traffic(),
            time: self.now,
            events: self.events,
            rate_changes: self.rate_changes,
            route_changes: self.route_changes,
            seconds: began.elapsed().as_secs_f64(),
        }
    }
}
