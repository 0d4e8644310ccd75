//! The loop over events.
//!
//! ```text
//! now ← the first of: an arrival, an end, a source's stage change, a review, a change of capacity, the policy's clock
//! ended flows leave; sources change stage; links change; routes are reviewed; arriving flows are routed and join
//! the policy sets the rates that change; only those flows are computed anew
//! ```

use netnum_core::{Paths, Topology};

use super::closed_loop::{EndedFlow, Pending};
use super::progress::RunProgress;
use super::reviews::Reviews;
use super::settings::{CapacityChange, RunSettings};
use super::starts::Starts;
use super::stops::Stops;
use super::transfers::Transfers;
use crate::error::{Error, Result};
use crate::network::{CongestionMarks, Route, Source};
use crate::numbers::{BITS, EVENT, FLOW, LAST_DIGITS, PACKET};
use crate::packets::Packets;
use crate::policy::{Event, Policy, Rates, Shared};
use crate::report::{Report, RunStatus};
use crate::routing::{Moves, Routing};
use crate::workload::Workload;

/// The largest weight of flows that share a pace, over the smallest. On one clock the ends of light flows are rounded
/// to what is sent by heavy ones.
const MOST_UNLIKE: f64 = 1e12;

/// A run.
pub(super) struct Simulation<'a> {
    /// With the links that have failed at first and return.
    pub(super) net: &'a Topology,
    /// The flows; with a closed loop those that have arrived.
    pub(super) workload: Workload,
    pub(super) pending: Option<Pending<'a>>,
    pub(super) routing: &'a mut dyn Routing,
    pub(super) policy: &'a mut dyn Policy,
    /// Changes of capacity that are still to come, and whether there has been one.
    pub(super) changes: &'a [CapacityChange],
    pub(super) links_changed: bool,
    added: Option<Added<'a>>,
    /// The time from which on totals of links count; ∞ once it is over.
    warmup: f64,
    /// The flows that were active then, with the bits that they had sent.
    sent_at_warmup: Vec<(u32, f64)>,
    pub(super) now: f64,
    pub(super) events: u64,
    pub(super) transfers: Transfers,
    /// Where routes are reviewed.
    pub(super) reviews: Option<Reviews>,
    starts: Starts,
    /// Flows that have started, and that have ended.
    pub(super) arrived: usize,
    pub(super) ended: usize,
    /// The columns over flows so far.
    pub(super) report: Report,
    pub(super) stops: Stops<'a>,
    /// When the policy is called next, and whether it is called now since it was given an event.
    pub(super) wake: f64,
    pub(super) has_event: bool,
    pub(super) rates: Rates,
    pub(super) moves: Moves,
    /// Whether only the policy asks for the rates of single flows: there are no sources, no marks and no timeline.
    shows_no_flow: bool,
    /// The smallest and the largest weight so far.
    weights: (f64, f64),
    pub(super) spare_route: Route,
    /// A zero for every node, to check routes with.
    pub(super) balance: Vec<f64>,
}

/// What packets add to times.
struct Added<'a> {
    packets: &'a Packets,
    /// By flow, the seconds that they add to the time that it takes alone, on the route of its arrival.
    alone: Vec<f64>,
    /// By flow that has ended, its time in the fluid.
    fluid_times: Vec<f64>,
}

/// How an event began, unless that was an arrival, an end or a change.
#[derive(Debug, Clone, Copy)]
enum Last {
    /// A turn of the source of a flow.
    StageChange(u32),
    /// A flow has sent what the policy awaits.
    Sent(u32),
    Review,
    /// A call of the policy, at the time that it had set.
    Wake,
    /// A call of the closed loop.
    Asked,
}

impl<'a> Simulation<'a> {
    pub(super) fn new(
        net: &Topology,
        planned: &'a Topology,
        workload: &'a Workload,
        routing: &'a mut dyn Routing,
        policy: &'a mut dyn Policy,
        (run, changes, no_limit): (&'a RunSettings, &'a [CapacityChange], f64),
        stops: Stops<'a>,
    ) -> Self {
        let unknown = vec![f64::NAN; workload.len()];
        let reviews = Reviews::every(routing.period());
        let marks = reviews.is_some().then(|| CongestionMarks::new(net, routing.marking()));
        let added = run.packets.as_ref().map(|packets| Added {
            packets,
            alone: vec![0.0; workload.len()],
            fluid_times: unknown.clone(),
        });
        let shows_no_flow = workload.production().is_none() && reviews.is_none() && !run.timeline;
        Self {
            net: planned,
            workload: workload.clone(),
            pending: None,
            routing,
            policy,
            changes,
            added,
            warmup: if run.warmup > 0.0 { run.warmup } else { f64::INFINITY },
            sent_at_warmup: Vec::new(),
            links_changed: !std::ptr::eq(net, planned),
            now: 0.0,
            events: 0,
            transfers: Transfers::new(net.capacities(), no_limit, marks, run.timeline),
            reviews,
            starts: Starts::new(workload),
            arrived: 0,
            ended: 0,
            report: Report {
                starts: unknown.clone(),
                completion_times: unknown.clone(),
                slowdowns: unknown.clone(),
                bytes_sent: vec![0.0; workload.len()],
                copy_rates: unknown,
                warmup: run.warmup,
                ..Report::new(RunStatus::default(), workload.clone())
            },
            stops,
            wake: f64::INFINITY,
            has_event: false,
            rates: Rates::default(),
            moves: Moves::default(),
            shows_no_flow,
            weights: (f64::INFINITY, 0.0),
            spare_route: Route::default(),
            balance: vec![0.0; planned.node_names().len()],
        }
    }

    /// Runs until all flows have ended, or something else ends the run.
    ///
    /// # Errors
    /// Those of [`simulate`](super::simulate), and [`netnum_core::Error::Stopped`].
    pub(super) fn run(&mut self) -> Result<RunStatus> {
        let until = self.stops.until;
        self.weigh(0);
        let mut due = Vec::new();
        loop {
            if self.ended == self.workload.len() && self.pending.as_ref().is_none_or(Pending::is_done) {
                return Ok(RunStatus::Finished);
            }
            let (planned, call) =
                self.pending.as_ref().map_or((f64::INFINITY, f64::INFINITY), |it| (it.first(), it.next_call()));
            let arrival = self.starts.first().min(planned);
            let end = self.transfers.first();
            let review = self.reviews.as_mut().map_or(f64::INFINITY, Reviews::first);
            let change = self.changes.first().map_or(f64::INFINITY, |change| change.time);
            let next = arrival.min(end).min(review).min(change).min(self.wake).min(call);
            if next > until {
                self.warm_up(until);
                self.now = until;
                return Ok(RunStatus::TimeUp);
            }
            // A clock may tick on though nothing is sent, and nothing can be.
            let is_idle = arrival == f64::INFINITY
                && end == f64::INFINITY
                && change == f64::INFINITY
                && call == f64::INFINITY
                && !self.transfers.sends_on();
            self.stops.idle = if is_idle { self.stops.idle + 1 } else { 0 };
            if let Some(reviews) = self.reviews.as_mut().filter(|_| !is_idle) {
                reviews.idle = 0;
            }
            if next == f64::INFINITY || (is_idle && !self.can_send()) {
                return Ok(RunStatus::Starved);
            }
            self.warm_up(next);
            self.now = next;
            self.events += 1;
            let foreseen = arrival.min(end).min(change).min(until);
            self.work(EVENT + self.active())?;
            let before = (self.arrived, self.ended);
            let mut last = Last::Wake;
            if end <= next {
                self.transfers.due((next * (1.0 + LAST_DIGITS)).min(f64::MAX), &mut due);
                last = Last::StageChange(self.transfers.flows.flow(due[0]).number);
                for &slot in &due {
                    let flows = &self.transfers.flows;
                    if flows.source(slot).is_some_and(|source| source.stage_changes_first) {
                        self.change_stage(slot)?;
                    } else if let Some(bits) = flows.awaited(slot) {
                        last = Last::Sent(flows.flow(slot).number);
                        self.transfers.set_awaited(slot, f64::INFINITY, next);
                        self.notify(Event::Sent(slot, bits))?;
                    } else {
                        self.end(slot)?;
                    }
                    self.work(FLOW)?;
                }
            }
            if change <= next {
                self.change_capacities()?;
            }
            if review <= next {
                self.review(&mut due)?;
                last = Last::Review;
            }
            if let Some(pending) = self.pending.as_mut().filter(|pending| pending.next_call() <= next) {
                pending.call(next)?;
                last = Last::Asked;
            }
            while let Some(flow) = self.starts.take(next) {
                self.arrive(flow)?;
                self.work(FLOW)?;
            }
            self.arrive_from_loop()?;
            self.allocate()?;
            // The flows of a closed loop are any number.
            let foreseen = if self.pending.is_some() { next } else { foreseen };
            if self.pending.is_none() && before != (self.arrived, self.ended) || change <= next {
                self.stops.advance(next);
            } else {
                let active = self.active();
                let (routing, policy) = (self.routing.name(), self.policy.name());
                let name = || match last {
                    Last::StageChange(flow) => format!("a stage change of the source of flow {flow}"),
                    Last::Sent(flow) => format!("flow {flow}, which has sent what policy {policy:?} awaits"),
                    Last::Review => format!("a review of routes by routing {routing:?}"),
                    Last::Asked => "a call of the closed loop".into(),
                    Last::Wake => format!("a call at a time that policy {policy:?} had set"),
                };
                self.stops.count(next, foreseen, active, name)?;
            }
            self.stops.observe(|seconds| RunProgress {
                time: self.now,
                flows: self.workload.len(),
                arrived: self.arrived,
                ended: self.ended,
                events: self.events,
                seconds,
            })?;
        }
    }

    pub(super) fn active(&self) -> usize {
        self.transfers.flows.active().len()
    }

    /// Counts units of work, and checks from time to time whether to stop.
    #[inline]
    pub(super) fn work(&mut self, units: usize) -> Result<()> {
        let active = self.active();
        self.stops.work(units, active)
    }

    /// Whether there is a flow over links that all have a capacity, or one that may yet be moved to such links.
    fn can_send(&self) -> bool {
        let flows = &self.transfers.flows;
        let most = self.stops.most_idle(self.active());
        let is_open = |&slot: &u32| flows.route(slot).is_open(self.transfers.links.capacities());
        self.stops.idle <= most && flows.active().iter().any(is_open)
            || self.reviews.as_ref().is_some_and(|reviews| reviews.idle <= most)
    }

    /// The clock goes to some time: what counts from a time before it on does so. Rates are constant until then.
    fn warm_up(&mut self, time: f64) {
        if self.warmup <= time {
            self.transfers.settle();
            self.transfers.restart_totals(self.warmup);
            let flows = &self.transfers.flows;
            let sent = |&slot: &u32| (flows.flow(slot).number, flows.flow(slot).sent(self.warmup));
            self.sent_at_warmup = flows.active().iter().map(sent).collect();
            self.warmup = f64::INFINITY;
        }
    }

    /// [`Report::mean_rates`], once all bytes are counted.
    fn mean_rates(&self) -> Vec<f64> {
        let Report { starts, completion_times, bytes_sent, warmup, .. } = &self.report;
        // While its packets are still on their way a flow sends nothing.
        let times = self.added.as_ref().map_or(completion_times, |added| &added.fluid_times);
        let mut bits: Vec<f64> = bytes_sent.iter().map(|bytes| BITS * bytes).collect();
        for &(flow, before) in &self.sent_at_warmup {
            bits[flow as usize] -= before;
        }
        let rate = |(flow, bits): (usize, f64)| {
            let (start, time) = (starts[flow], times[flow]);
            // Of a flow that has ended without the rounding of the clock.
            let until_end = if time.is_nan() { self.now - start } else { time };
            let seconds = until_end - f64::max(0.0, warmup - start);
            if seconds > 0.0 { bits / seconds } else { f64::NAN }
        };
        bits.into_iter().enumerate().map(rate).collect()
    }

    /// Gives the policy an event.
    pub(super) fn notify(&mut self, event: Event) -> Result<()> {
        self.has_event = true;
        self.policy.changed(event, &self.transfers.flows)
    }

    /// The flows of a closed loop that arrive now.
    fn arrive_from_loop(&mut self) -> Result<()> {
        let Some(pending) = &mut self.pending else { return Ok(()) };
        let first = self.workload.len();
        pending.arrive(self.now, &mut self.workload);
        let flows = self.workload.len();
        if flows == first {
            return Ok(());
        }
        if u32::try_from(flows).is_err() {
            return Err(Error::setting("flows", flows, "at most 4294967295"));
        }
        self.lengthen_columns();
        self.weigh(first);
        self.routing.add_flows(self.net, &self.workload, first)?;
        self.policy.add_flows(&self.workload, first)?;
        for flow in first..flows {
            self.arrive(flow)?;
            self.work(FLOW)?;
        }
        Ok(())
    }

    /// Counts the weights of the flows from some number on.
    fn weigh(&mut self, first: usize) {
        for &weight in self.workload.weights().map_or(&[][..], |weights| &weights[first..]) {
            self.weights = (self.weights.0.min(weight), self.weights.1.max(weight));
        }
    }

    /// Columns over flows get entries for those that are new in the workload.
    fn lengthen_columns(&mut self) {
        let flows = self.workload.len();
        let Report { starts, completion_times, slowdowns, bytes_sent, copy_rates, .. } = &mut self.report;
        for column in [starts, completion_times, slowdowns, copy_rates] {
            column.resize(flows, f64::NAN);
        }
        bytes_sent.resize(flows, 0.0);
        if let Some(added) = &mut self.added {
            added.alone.resize(flows, 0.0);
            added.fluid_times.resize(flows, f64::NAN);
        }
    }

    fn arrive(&mut self, flow: usize) -> Result<()> {
        self.arrived += 1;
        self.report.starts[flow] = self.now;
        let size = BITS * self.workload.sizes()[flow];
        let Transfers { flows, links, .. } = &mut self.transfers;
        let (slot, route) = flows.insert(flow, size, self.now);
        let network = links.state(self.net, self.now);
        self.routing.route(flow, &network, route)?;
        if self.links_changed {
            self.routing.reroute(flow, &network, route)?;
        }
        let violation = route.violation(self.net, self.workload.pair(flow), &mut self.balance);
        self.refuse(flow, violation)?;
        let route = self.transfers.flows.route(slot);
        let capacities = self.net.capacities();
        let (mut alone, first) = (route.alone(capacities)?, route.first(capacities));
        if let (true, Some(production)) = (self.transfers.links.have_no_limit(route), self.workload.production()) {
            alone = production.rates()[flow];
        }
        if let Some(added) = &mut self.added {
            added.alone[flow] = added.packets.added(size, alone, route, capacities);
        }
        self.transfers.flows.flow_mut(slot).alone = alone;
        if let Some(weights) = self.workload.weights() {
            self.transfers.flows.set_weight(slot, weights[flow]);
        }
        let source = self.workload.production().map(|production| {
            let (rate, buffer) = (production.rates()[flow], BITS * production.buffer());
            // A policy that gives a flow a little less than its cap, as over pools, leaves a little waiting, and so
            // does a routing that splits it otherwise as soon as it has none.
            let is_exact = self.policy.is_exact() && !self.routing.follows_caps() && !self.routing.pools();
            let slack = if is_exact { 0.0 } else { PACKET };
            Source::new(rate, buffer, size, first, slack)
        });
        self.transfers.begin(slot, source);
        self.check_limit(slot)?;
        if let Some(reviews) = &mut self.reviews {
            reviews.begin(slot, self.now);
        }
        self.notify(Event::Arrived(slot))
    }

    fn end(&mut self, slot: u32) -> Result<()> {
        self.transfers.leave(slot);
        let flows = &self.transfers.flows;
        let copy_rate = flows.source(slot).map(|_| flows.copy_rate(slot, self.now));
        let (flow, report) = (flows.flow(slot), &mut self.report);
        let number = flow.number as usize;
        // Not `now − arrival`, which has the rounding of the clock: a short flow late in a long run would have none of
        // its digits left.
        let time = (flow.since - flow.arrival) + flow.time_to(flow.size);
        let (mut alone, mut waits) = (flow.size / flow.alone, 0.0);
        if let Some(added) = &mut self.added {
            let (packets, route) = (added.packets, flows.route(slot));
            // How a pool is split is known at the end.
            alone += match route.pooled() {
                Some(_) => packets.added(flow.size, flow.alone, route, self.net.capacities()),
                None => added.alone[number],
            };
            waits = packets.added(flow.size, flow.size / time, route, self.transfers.links.capacities());
            added.fluid_times[number] = time;
        }
        let time = time + waits;
        report.completion_times[number] = time;
        report.slowdowns[number] = time / alone;
        report.bytes_sent[number] = self.workload.sizes()[number];
        report.copy_rates[number] = copy_rate.unwrap_or(f64::NAN);
        self.ended += 1;
        self.starts.ended(number, self.now + waits);
        if let Some(pending) = &mut self.pending {
            let ((source, destination), size) = (self.workload.pair(number), self.workload.sizes()[number]);
            let start = self.report.starts[number];
            let ended = EndedFlow { flow: number, source, destination, size, start, completion_time: time };
            pending.end(ended, self.now + waits);
        }
        self.transfers.end(slot, self.now);
        if let Some(reviews) = &mut self.reviews {
            reviews.end(slot);
        }
        self.notify(Event::Ended(slot))?;
        self.transfers.flows.remove(slot);
        Ok(())
    }

    fn change_stage(&mut self, slot: u32) -> Result<()> {
        self.transfers.change_stage(slot, self.now);
        self.notify(Event::CapChanged(slot))
    }

    /// Calls the policy, if it was given an event or its time has come, and sets the rates that change.
    fn allocate(&mut self) -> Result<()> {
        let now = self.now;
        if self.has_event {
            self.balance_routes()?;
        }
        if !self.has_event && self.wake > now {
            return Ok(());
        }
        self.has_event = false;
        self.rates.may_share = self.moves.never && self.shows_no_flow && self.weights.1 <= MOST_UNLIKE * self.weights.0;
        self.wake = self.policy.allocate(now, &self.transfers.flows, &mut self.rates)?;
        if self.wake.is_nan() || self.wake <= now {
            let what = format!("set its next call to {}, which is not after {now}", self.wake);
            return Err(self.policy_error(what));
        }
        let mut rates = std::mem::take(&mut self.rates);
        for (slot, bits) in rates.drain_awaited() {
            self.work(FLOW)?;
            self.await_sent(slot, bits)?;
        }
        self.share(rates.shared())?;
        for (slot, path_rates) in rates.drain_splits() {
            self.work(FLOW * path_rates.len())?;
            self.split(slot, &path_rates)?;
        }
        for (slot, rate) in rates.drain() {
            self.work(FLOW)?;
            if !self.transfers.flows.is_active(slot) {
                return Err(self.policy_error(format!("gave slot {slot} a rate, where no flow is")));
            }
            if !(rate.is_finite() && rate >= 0.0) {
                let number = self.transfers.flows.flow(slot).number;
                let what = format!("gave flow {number} the rate {rate}, expected a finite number >= 0");
                return Err(self.policy_error(what));
            }
            self.transfers.grant(slot, rate, now);
        }
        // What flows that share rates add to a load is not known before.
        for (link, load) in rates.shared().loads.drain(..) {
            self.work(1)?;
            self.transfers.links.set_load(link, load, now);
        }
        self.rates = rates;
        let mut sourced = std::mem::take(&mut self.transfers.sourced);
        for slot in sourced.drain(..) {
            self.work(FLOW)?;
            if self.transfers.flows.is_active(slot) && self.transfers.foresee(slot, now) {
                // No rate changes by that: the policy is not called for it.
                self.policy.changed(Event::CapChanged(slot), &self.transfers.flows)?;
            }
        }
        self.transfers.sourced = sourced;
        self.transfers.mark(now);
        Ok(())
    }

    /// The policy awaits that a flow has sent so many bits.
    fn await_sent(&mut self, slot: u32, bits: f64) -> Result<()> {
        if !self.transfers.flows.is_active(slot) {
            return Err(self.policy_error(format!("awaits what slot {slot} sends, where no flow is")));
        }
        if bits.is_nan() {
            let number = self.transfers.flows.flow(slot).number;
            return Err(self.policy_error(format!("awaits NaN bits of flow {number}, expected a number")));
        }
        self.transfers.set_awaited(slot, bits, self.now);
        Ok(())
    }

    /// Sets the paces that change. First their rates, so that flows that leave one do so at the rate that it has.
    fn share(&mut self, Shared { paces, joins, .. }: &mut Shared) -> Result<()> {
        for (pace, rate) in paces.drain(..) {
            self.work(FLOW)?;
            self.transfers.set_pace(pace, rate, self.now);
        }
        for (slot, pace, weight) in joins.drain(..) {
            self.work(FLOW)?;
            self.transfers.join(slot, pace, weight, self.now);
        }
        Ok(())
    }

    /// The policy gives the paths of a pooled flow their rates.
    fn split(&mut self, slot: u32, path_rates: &[f64]) -> Result<()> {
        if !self.transfers.flows.is_active(slot) {
            return Err(self.policy_error(format!("split slot {slot}, where no flow is")));
        }
        let (number, route) = (self.transfers.flows.flow(slot).number, self.transfers.flows.route(slot));
        let paths = route.pooled().map_or(0, Paths::len);
        if path_rates.len() != paths {
            let what = format!("split flow {number} over {} paths, expected {paths}", path_rates.len());
            return Err(self.policy_error(what));
        }
        if let Some(path) = path_rates.iter().position(|rate| !(rate.is_finite() && *rate >= 0.0)) {
            let what = format!(
                "gave path {path} of flow {number} the rate {}, expected a finite number >= 0",
                path_rates[path]
            );
            return Err(self.policy_error(what));
        }
        self.transfers.split(slot, path_rates, self.now);
        Ok(())
    }

    fn policy_error(&self, what: String) -> Error {
        Error::Policy { policy: self.policy.name().into(), what }
    }

    /// The report of what has happened so far.
    pub(super) fn report(mut self, status: RunStatus) -> Report {
        self.transfers.settle();
        if self.warmup < f64::INFINITY {
            // The run was over before.
            self.transfers.restart_totals(self.now);
        }
        for place in 0..self.active() {
            let slot = self.transfers.flows.active()[place];
            let sent = self.transfers.close(slot, self.now);
            self.report.bytes_sent[self.transfers.flows.flow(slot).number as usize] = sent / BITS;
        }
        if let Some(mut pending) = self.pending.take() {
            pending.arrive_never(self.now, &mut self.workload);
            self.lengthen_columns();
        }
        self.report.mean_rates = self.mean_rates();
        self.transfers.links.close(self.now);
        let timeline = self.transfers.timeline(self.workload.len(), self.now);
        let Transfers { links, rate_changes, route_changes, .. } = self.transfers;
        Report {
            status,
            workload: self.workload,
            policy: self.policy.name().into(),
            routing: self.routing.name().into(),
            link_utilization: links.utilizations(),
            link_bytes: links.bytes(),
            peak_loads: links.peaks(),
            over_allocation: if self.now > self.report.warmup {
                links.excess_bits() / (self.now - self.report.warmup)
            } else {
                0.0
            },
            timeline,
            gap: self.policy.gap(),
            update_traffic: self.policy.update_traffic(),
            time: self.now,
            events: self.events,
            rate_changes,
            route_changes,
            seconds: self.stops.seconds(),
            ..self.report
        }
    }
}
