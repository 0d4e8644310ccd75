//! The loop over events. Between two of them every rate is constant, so that the next end is known exactly, and nothing is
//! done in between.
//!
//! ```text
//! now ← the first of: an arrival, an end, a turn of a source, a review of a route, a change of capacity, the policy's clock
//! flows that end now leave; sources turn; links change; routes are reviewed; flows that arrive now are routed and join
//! the policy says which rates change; only those flows are looked at
//! ```
//!
//! Arrivals, ends and changes of capacity are finite in number. Between two of them sources turn, routes are reviewed and
//! policies are asked again as often as they wish, and each of these may lead to another one at once. So these are counted,
//! from the last moment at which the clock had moved by [`TICK`] for each of them, as a part of the time now or, where that
//! is later, of the next arrival, end, turn or change or of the end of the run: if it has not done so after [`PATIENCE`] of
//! them and [`PER_FLOW`] for every flow, the run is refused with [`Error::StandsStill`]. Hence any number n of events takes
//! the clock at least n · `TICK` of itself further, but for a number that is bounded by that of flows and changes, and no
//! run stays at a moment, or creeps towards one, though the moment be 0. Where nothing is sent and nothing is to come but
//! the clock of a policy, [`PATIENCE`] ticks for every flow are enough to call them starved.

mod progress;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use netnum_core::interrupt::{self, Pacer};
use netnum_core::{StopToken, Topology};

use crate::calendar::Calendar;
use crate::error::{Error, Result};
use crate::network::{Flows, Ledger, Marked, PACKET, Route, Source};
use crate::policy::{Policy, Rates};
use crate::report::{Report, RunStatus};
use crate::routing::{Moves, Routing};
use crate::workload::Workload;
pub use progress::{RunObserver, RunProgress};

/// Bits per byte: sizes are in the one, rates in the other.
const BITS: f64 = 8.0;

/// An end and a turn of a source that are this close, relative to the time until then, are one.
const TOGETHER: f64 = 1e-9;
/// Ends that are this close, relative to the time, are at the same moment: what is between them is rounding.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Reviews of every flow while none sends, and ticks of the policy, after which none will any more, wherever it goes.
const PATIENCE: usize = 10_000;
/// Events for each flow, beside [`PATIENCE`], without an arrival or an end for which the clock may stand still.
const PER_FLOW: usize = 16;
/// The part of the time by which the clock moves from one event to the next if it does not stand still.
const TICK: f64 = 8.0 * f64::EPSILON;
/// What an event costs at least, an arrival or an end, and a rate, in units of a [`Pacer`].
const EVENT: usize = 64;
const ARRIVAL: usize = 16;
const RATE: usize = 2;
/// Units between two looks at whether to stop.
const LOOK: usize = 8192;
/// How long a report may take for every flow that is still on its way.
const REPORTED: Duration = Duration::from_nanos(150);

/// A link's capacity from some time on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CapacityChange {
    /// When, in seconds.
    pub time: f64,
    /// The link.
    pub link: usize,
    /// Its capacity from then on, in bit/s; 0 if it fails.
    pub capacity: f64,
}

/// What happens to a network while flows pass, and when a simulation stops.
///
/// A run whose policy, sources and routing answer each other for ever at one moment ends with [`Error::StandsStill`].
#[derive(Debug, Clone, PartialEq)]
pub struct RunSettings {
    /// Simulated seconds after which it is over, whatever is still on the way. Default: ∞, until all flows have ended.
    pub until: f64,
    /// Links whose capacities change, in order of time. Default: none.
    pub changes: Vec<CapacityChange>,
    /// Real time after which it is over, with a report of what has happened so far. It counts from the first instruction
    /// on, and all that a report takes is part of it. Default: none.
    pub time_limit: Option<Duration>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self { until: f64::INFINITY, changes: Vec::new(), time_limit: None }
    }
}

impl RunSettings {
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
                return wrong("link", &change.link, &format!("a link below {links}"));
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
/// The same arguments give the same report, bit for bit, but for its [`seconds`](Report::seconds); one that stops by the
/// real clock is the beginning of it.
///
/// A [`StopToken`] in force ends it with [`RunStatus::Stopped`], a [limit of time](Run::time_limit) with
/// [`RunStatus::TimeLimit`]: what has happened by then is in the report, though it be nothing.
///
/// # Errors
/// [`Error::Flow`] naming a flow between ends that the network does not have; a setting's, for a time, a link or a
/// capacity of the run that cannot be; what the routing says of flows that it cannot route and the policy of the network,
/// before anything is simulated; [`Error::Routing`] and [`Error::Policy`] for routes and rates that cannot be used;
/// [`Error::StandsStill`].
pub fn simulate(
    net: &Topology,
    workload: &Workload,
    routing: &mut dyn Routing,
    policy: &mut dyn Policy,
    run: &RunSettings,
    observer: &mut dyn RunObserver,
) -> Result<Report> {
    let began = Instant::now();
    run.check(net.capacities().len())?;
    let limit = run.time_limit.map_or_else(StopToken::new, StopToken::with_timeout);
    limit.scope(|| {
        let ready = match prepare(net, workload, routing, policy) {
            Err(error) if !error.is_stop() => return Err(error),
            ready => ready,
        };
        let mut fluid = Fluid::new(net, workload, routing, policy, &run.changes, began, run.time_limit);
        let status = match ready.and_then(|()| fluid.run(run.until, observer)) {
            Err(error) if error.is_stop() => match fluid.ran_out_of_time || limit.is_stopped() {
                true => RunStatus::TimeLimit,
                false => RunStatus::Stopped,
            },
            other => other?,
        };
        Ok(fluid.report(status))
    })
}

/// All that is done before the first event.
fn prepare(net: &Topology, workload: &Workload, routing: &mut dyn Routing, policy: &mut dyn Policy) -> Result<()> {
    check_ends(net, workload)?;
    routing.start(net, workload)?;
    let period = routing.period();
    if period.is_nan() || period <= 0.0 {
        return Err(Error::setting("period", period, "a number > 0"));
    }
    routing.marking().check(routing.name())?;
    policy.start(net, workload)?;
    Ok(interrupt::check()?)
}

/// Whether every flow joins ends of the network.
fn check_ends(net: &Topology, workload: &Workload) -> Result<()> {
    let mut pacer = Pacer::new();
    for (what, ends) in [("source", workload.sources()), ("destination", workload.destinations())] {
        for (flow, &end) in ends.iter().enumerate() {
            if end >= net.ends() {
                return Err(Error::Flow { flow, what, value: end as f64, expected: "an end of the network" });
            }
            pacer.did(1)?;
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
    changes: &'a [CapacityChange],
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
    /// Since the clock last moved noticeably, or a flow arrived or ended.
    still: Still,
    /// Events since anything was sent, while nothing is to come.
    idle: usize,
    rate_changes: u64,
    route_changes: u64,
    began: Instant,
    /// When the time is over, and whether it is, but for what the report takes.
    deadline: Option<Instant>,
    ran_out_of_time: bool,
    /// Units of work since the last look at whether to stop.
    paced: usize,
    completion_times: Vec<f64>,
    slowdowns: Vec<f64>,
    bytes_sent: Vec<f64>,
    copy_rates: Vec<f64>,
}

/// Events while the clock stands still.
#[derive(Debug, Clone, Copy, Default)]
struct Still {
    since: f64,
    events: u64,
}

/// What an event began with, unless that was an arrival, an end or a change.
#[derive(Debug, Clone, Copy)]
enum Last {
    /// A turn of the source of a flow.
    Turn(u32),
    Review,
    /// Of the policy to be asked again.
    Wish,
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
        changes: &'a [CapacityChange],
        began: Instant,
        time_limit: Option<Duration>,
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
            still: Still::default(),
            idle: 0,
            rate_changes: 0,
            route_changes: 0,
            began,
            deadline: time_limit.and_then(|limit| began.checked_add(limit)),
            ran_out_of_time: false,
            paced: 0,
            completion_times: vec![f64::NAN; workload.len()],
            slowdowns: vec![f64::NAN; workload.len()],
            bytes_sent: vec![0.0; workload.len()],
            copy_rates: vec![f64::NAN; workload.len()],
        }
    }

    fn run(&mut self, until: f64, observer: &mut dyn RunObserver) -> Result<RunStatus> {
        let pause = observer.pause();
        let mut last_look = self.began;
        let mut due = Vec::new();
        loop {
            if self.ended == self.workload.len() {
                return Ok(RunStatus::Finished);
            }
            let arrival = self.workload.arrivals().get(self.arrived).copied().unwrap_or(f64::INFINITY);
            let end = self.ends.first();
            let review = self.reviews.as_mut().map_or(f64::INFINITY, |reviews| reviews.calendar.first());
            let change = self.changes.first().map_or(f64::INFINITY, |change| change.time);
            let next = arrival.min(end).min(review).min(change).min(self.wake);
            if next > until {
                self.now = until;
                return Ok(RunStatus::TimeUp);
            }
            // A clock may tick on though nothing is on the way, and nothing can be.
            let stands = arrival == f64::INFINITY && end == f64::INFINITY && change == f64::INFINITY;
            self.idle = if stands { self.idle + 1 } else { 0 };
            if let Some(reviews) = self.reviews.as_mut().filter(|_| !stands) {
                reviews.idle = 0;
            }
            if next == f64::INFINITY || (stands && !self.can_move()) {
                return Ok(RunStatus::Starved);
            }
            self.now = next;
            self.events += 1;
            let foreseen = arrival.min(end).min(change).min(until);
            self.pace(EVENT + self.flows.active().len())?;
            let before = (self.arrived, self.ended);
            let mut last = Last::Wish;
            if end <= next {
                self.ends.due((next * (1.0 + ROUNDING)).min(f64::MAX), &mut due);
                last = Last::Turn(self.flows.flow(due[0]).number);
                for &slot in &due {
                    self.end_or_turn(slot);
                    self.pace(ARRIVAL)?;
                }
            }
            if change <= next {
                self.change_capacities()?;
            }
            if review <= next {
                self.review(&mut due)?;
                last = Last::Review;
            }
            while self.workload.arrivals().get(self.arrived).is_some_and(|&arrival| arrival <= next) {
                self.arrive()?;
                self.pace(ARRIVAL)?;
            }
            self.allocate()?;
            if before != (self.arrived, self.ended) || change <= next {
                self.still = Still { since: next, events: 0 };
            } else {
                self.stand_still(last, foreseen)?;
            }
            if pause < Duration::MAX && last_look.elapsed() >= pause {
                last_look = Instant::now();
                if observer.observe(&self.progress()) == ControlFlow::Break(()) {
                    return Ok(RunStatus::Stopped);
                }
            }
        }
    }

    /// Another event without an arrival, an end or a change, the next of which is foreseen for some time.
    fn stand_still(&mut self, last: Last, foreseen: f64) -> Result<()> {
        let Still { since, events } = &mut self.still;
        *events += 1;
        let time = if foreseen.is_finite() { self.now.max(foreseen) } else { self.now };
        if self.now - *since > *events as f64 * TICK * time {
            self.still = Still { since: self.now, events: 0 };
            return Ok(());
        }
        if *events <= (PATIENCE + PER_FLOW * self.flows.active().len()) as u64 {
            return Ok(());
        }
        let last = match last {
            Last::Turn(flow) => format!("a turn of the source of flow {flow}"),
            Last::Review => format!("a review of routes by routing {:?}", self.routing.name()),
            Last::Wish => format!("one that policy {:?} had asked for", self.policy.name()),
        };
        Err(Error::StandsStill { time: self.now, events: *events, last })
    }

    /// Counts units of work, and looks now and then whether to stop, early enough for a report.
    #[inline]
    fn pace(&mut self, units: usize) -> Result<()> {
        self.paced += units;
        if self.paced < LOOK {
            return Ok(());
        }
        self.paced = 0;
        interrupt::check()?;
        let report = REPORTED * self.flows.active().len() as u32;
        self.ran_out_of_time = self.deadline.is_some_and(|deadline| Instant::now() + report >= deadline);
        if self.ran_out_of_time { Err(netnum_core::Error::Stopped.into()) } else { Ok(()) }
    }

    /// Whether there is a flow over links that all have a capacity, or one that may yet be moved to such.
    fn can_move(&self) -> bool {
        let flows = self.flows.active();
        let patience = PATIENCE * flows.len();
        let moves = |reviews: &Reviews| reviews.idle <= patience;
        self.idle <= patience && flows.iter().any(|&slot| self.flows.route(slot).alone(self.ledger.capacities()) > 0.0)
            || self.reviews.as_ref().is_some_and(moves)
    }

    fn change_capacities(&mut self) -> Result<()> {
        while let Some((&CapacityChange { time, link, capacity }, rest)) = self.changes.split_first()
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
            self.pace(ARRIVAL)?;
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
            self.pace(ARRIVAL)?;
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
        if self.left_before.len() <= slot as usize {
            self.left_before.resize(slot as usize + 1, 0.0);
        }
        self.left_before[slot as usize] = size;
        let now = self.ledger.now(self.net, self.now);
        self.routing.route(flow, &now, route)?;
        if self.changed {
            self.routing.reroute(flow, &now, route)?;
        }
        let fault = self.flows.route(slot).fault(self.net, self.workload.pair(flow), &mut self.balance);
        self.refuse(flow, fault)?;
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
        self.policy.cap_changed(slot, &self.flows);
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
            self.policy.cap_changed(slot, &self.flows);
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
            self.pace(RATE)?;
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
            self.pace(RATE)?;
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

    fn progress(&self) -> RunProgress {
        RunProgress {
            time: self.now,
            flows: self.workload.len(),
            arrived: self.arrived,
            ended: self.ended,
            events: self.events,
            seconds: self.began.elapsed().as_secs_f64(),
        }
    }

    fn report(mut self, status: RunStatus) -> Report {
        for &slot in self.flows.active() {
            let flow = self.flows.flow(slot);
            let left = flow.left(self.now);
            if left == self.left_before[slot as usize] && left == flow.size {
                continue;
            }
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
            seconds: self.began.elapsed().as_secs_f64(),
        }
    }
}
