//! The transfers of the active flows: rates, routes, and what follows from them for ends, sources, links and marks.
//!
//! Between two events every rate is constant, so that the next end of every flow and the next stage change of every
//! source are exact, and only flows whose rate, route or source changes are computed.

use super::paces::Paces;
use crate::calendar::Calendar;
use crate::network::{CongestionMarks, Flow, Flows, LinkTotals, Route, Source};
use crate::numbers::ALIKE;
use crate::timeline::{Changes, Timeline};

/// The active flows, and the links that they load.
pub(super) struct Transfers {
    pub(super) flows: Flows,
    pub(super) links: LinkTotals,
    /// Where routes are reviewed.
    pub(super) marks: Option<CongestionMarks>,
    /// By slot, when its flow ends, or its source changes stage if that is earlier.
    ends: Calendar,
    /// Flows that share their rates with others: these have no end of their own.
    paces: Paces,
    /// By slot, the bits that its flow had sent when it took its route.
    sent_at_route: Vec<f64>,
    /// Slots of flows with a source that something has happened to at this instant, for [`foresee`](Self::foresee).
    pub(super) sourced: Vec<u32>,
    pub(super) rate_changes: u64,
    pub(super) route_changes: u64,
    /// Rates of flows over time, if they are kept.
    kept: Option<Changes>,
}

impl Transfers {
    pub(super) fn new(capacities: &[f64], no_limit: f64, marks: Option<CongestionMarks>, keeps: bool) -> Self {
        Self {
            flows: Flows::default(),
            links: LinkTotals::new(capacities, no_limit, keeps),
            marks,
            ends: Calendar::default(),
            paces: Paces::default(),
            sent_at_route: Vec::new(),
            sourced: Vec::new(),
            rate_changes: 0,
            route_changes: 0,
            kept: keeps.then(Changes::default),
        }
    }

    /// Rates and loads over time, if they are kept, of a run of so many flows that ends now.
    pub(super) fn timeline(&mut self, flows: usize, now: f64) -> Option<Timeline> {
        let (rates, kept) = (self.kept.take()?, self.links.kept(now)?);
        let [loads, capacities] = kept.map(|changes| changes.steps(self.links.capacities().len()));
        Some(Timeline { rates: rates.steps(flows), loads, capacities })
    }

    /// The flow in a slot, which has a route by now, begins; with a source unless all its bytes are at hand.
    pub(super) fn begin(&mut self, slot: u32, source: Option<Source>) {
        if self.sent_at_route.len() <= slot as usize {
            self.sent_at_route.resize(slot as usize + 1, 0.0);
        }
        self.sent_at_route[slot as usize] = 0.0;
        if let Some(kept) = &mut self.kept {
            let flow = self.flows.flow(slot);
            kept.push(flow.number, flow.arrival, 0.0);
        }
        if let Some(source) = source {
            self.flows.set_source(slot, source);
            self.sourced.push(slot);
        }
        if let Some(marks) = &mut self.marks {
            marks.arrive(slot, &self.flows);
        }
    }

    /// The time of the first end or stage change; ∞ for none.
    pub(super) fn first(&mut self) -> f64 {
        f64::min(self.ends.first(), self.paces.first())
    }

    /// The slots whose flows end by some time, or whose sources change stage, in increasing order.
    pub(super) fn due(&mut self, now: f64, due: &mut Vec<u32>) {
        self.ends.due(now, due);
        self.paces.due(now, due);
        due.sort_unstable();
    }

    /// A pace, which the flows that follow it share, has another rate from now on.
    pub(super) fn set_pace(&mut self, pace: u32, rate: f64, now: f64) {
        self.rate_changes += u64::from(self.paces.set(pace, rate, now));
    }

    /// A flow takes a pace. The loads of its links are set apart from it.
    pub(super) fn join(&mut self, slot: u32, pace: u32, weight: f64, now: f64) {
        self.leave(slot);
        let target = self.flows.target(slot);
        self.paces.join(slot, (self.flows.flow_mut(slot), target), pace, weight, now);
        self.ends.set(slot, f64::INFINITY);
        self.rate_changes += 1;
    }

    /// A flow has its rate to itself. Whether it shared one.
    pub(super) fn leave(&mut self, slot: u32) -> bool {
        self.paces.leave(slot, self.flows.flow_mut(slot))
    }

    /// Computes the rates of flows that share one, and what they have sent.
    pub(super) fn settle(&mut self) {
        for place in 0..self.flows.active().len() {
            let slot = self.flows.active()[place];
            self.paces.settle(slot, self.flows.flow_mut(slot));
        }
    }

    /// The flow in a slot has sent all of its bits. It stays there until it is removed.
    pub(super) fn end(&mut self, slot: u32, now: f64) {
        let (flow, route) = (self.flows.flow(slot), self.flows.route(slot));
        self.links.change(route, -flow.rate, now);
        if let Some(kept) = &mut self.kept {
            kept.push(flow.number, now, 0.0);
        }
        self.links.sent(route, flow.size - self.sent_at_route[slot as usize]);
        self.ends.set(slot, f64::INFINITY);
        if let Some(marks) = &mut self.marks {
            marks.leave(slot, route, flow.rate);
        }
    }

    /// A flow takes another route, at the rate that it has; `route` is then its old one.
    pub(super) fn take_route(&mut self, slot: u32, route: &mut Route, now: f64) {
        self.change_route(slot, route, now);
        self.route_changes += 1;
    }

    fn change_route(&mut self, slot: u32, route: &mut Route, now: f64) {
        self.have_alone(slot, now);
        let flow = self.flows.flow(slot);
        let (rate, sent) = (flow.rate, flow.sent(now));
        let before = std::mem::replace(&mut self.sent_at_route[slot as usize], sent);
        std::mem::swap(self.flows.route_mut(slot), route);
        self.links.change(route, -rate, now);
        self.links.sent(route, sent - before);
        self.links.change(self.flows.route(slot), rate, now);
        if let Some(marks) = &mut self.marks {
            marks.leave(slot, route, rate);
            marks.join(slot, self.flows.route(slot), rate);
        }
    }

    /// The policy gives the paths of a pooled flow their rates. What it sends is split likewise, also where its cap
    /// allows less; without any rate it keeps its split.
    pub(super) fn split(&mut self, slot: u32, path_rates: &[f64], now: f64) {
        let total: f64 = path_rates.iter().sum();
        let route = self.flows.route(slot);
        let is_same = |(share, rate): (&f64, &f64)| *share == rate / total;
        if total > 0.0 && !route.shares().iter().zip(path_rates).all(is_same) {
            let mut other = route.clone();
            other.split(path_rates);
            self.change_route(slot, &mut other, now);
        }
        self.grant(slot, total, now);
    }

    /// The policy gives a flow a rate, of which it takes as much as its cap allows.
    pub(super) fn grant(&mut self, slot: u32, rate: f64, now: f64) {
        match self.flows.flow_and_source_mut(slot) {
            None => self.set_rate(slot, rate, now),
            Some((flow, source)) => {
                source.granted = rate;
                let rate = f64::min(rate, flow.cap);
                self.set_rate(slot, rate, now);
                self.sourced.push(slot);
            }
        }
    }

    /// From now on the policy awaits that a flow has sent so many bits.
    pub(super) fn set_awaited(&mut self, slot: u32, bits: f64, now: f64) {
        self.leave(slot);
        self.advance(slot, now);
        self.flows.set_awaited(slot, bits);
        match self.flows.source(slot) {
            None => self.find_end(slot, now),
            Some(_) => self.sourced.push(slot),
        }
    }

    /// A source changes stage.
    pub(super) fn change_stage(&mut self, slot: u32, now: f64) {
        self.advance(slot, now);
        let Some((flow, source)) = self.flows.flow_and_source_mut(slot) else { return };
        source.change_stage(flow.rate, flow.sent(now));
        flow.cap = source.cap();
        let rate = f64::min(source.granted, flow.cap);
        self.set_rate(slot, rate, now);
        self.sourced.push(slot);
    }

    /// Computes what comes first for a flow with a source at its present rate: its end, or a stage change.
    /// Whether its cap is lifted by that: the flow had less than its cap, so that no rate changes.
    pub(super) fn foresee(&mut self, slot: u32, now: f64) -> bool {
        self.advance(slot, now);
        let target = self.flows.target(slot);
        let Some((flow, source)) = self.flows.flow_and_source_mut(slot) else { return false };
        source.follow(flow.rate);
        let lifted = source.lift(flow.sent(now));
        flow.cap = source.cap();
        let end = flow.time_to(target);
        let change = source.next(flow.rate, flow.sent(now));
        source.stage_changes_first = change < end * (1.0 - ALIKE);
        self.ends.set(slot, now + if source.stage_changes_first { change } else { end });
        lifted
    }

    /// Bits that an active flow has sent by now. Those since it took its route are added to the links' totals, at the
    /// end of a run.
    pub(super) fn close(&mut self, slot: u32, now: f64) -> f64 {
        let sent = self.flows.flow(slot).sent(now);
        // There is none of a flow whose arrival a request to stop has cut short.
        let before = self.sent_at_route.get(slot as usize).copied().unwrap_or(0.0);
        if sent > before {
            self.links.sent(self.flows.route(slot), sent - before);
        }
        sent
    }

    /// Totals of links begin at this time, which is not before the last event.
    pub(super) fn restart_totals(&mut self, now: f64) {
        self.links.restart(now);
        for &slot in self.flows.active() {
            self.sent_at_route[slot as usize] = self.flows.flow(slot).sent(now);
        }
    }

    /// Whether a flow that never ends sends.
    pub(super) fn sends_on(&mut self) -> bool {
        self.settle();
        let endless = |flow: &Flow| flow.size == f64::INFINITY && flow.rate > 0.0;
        self.flows.active().iter().any(|&slot| endless(self.flows.flow(slot)))
    }

    /// Computes the marks at the rates and routes of this instant.
    pub(super) fn mark(&mut self, now: f64) {
        if let Some(marks) = &mut self.marks {
            marks.update(&self.flows, now);
        }
    }

    /// A flow sends at another rate from now on.
    fn set_rate(&mut self, slot: u32, rate: f64, now: f64) {
        self.have_alone(slot, now);
        let before = self.flows.flow(slot).rate;
        if rate == before {
            return;
        }
        self.advance(slot, now);
        let flow = self.flows.flow_mut(slot);
        flow.rate = rate;
        if let Some(kept) = &mut self.kept {
            kept.push(flow.number, now, rate);
        }
        self.find_end(slot, now);
        self.links.change(self.flows.route(slot), rate - before, now);
        if let Some(marks) = &mut self.marks {
            marks.change(slot, self.flows.route(slot), rate - before);
        }
        self.rate_changes += 1;
    }

    /// A flow has its rate to itself from now on, and so an end.
    fn have_alone(&mut self, slot: u32, now: f64) {
        if self.leave(slot) {
            self.flows.flow_mut(slot).advance(now);
            self.find_end(slot, now);
        }
    }

    /// Computes when a flow, advanced to now, ends at the rate that it has, or has sent what is awaited of it.
    fn find_end(&mut self, slot: u32, now: f64) {
        self.ends.set(slot, now + self.flows.flow(slot).time_to(self.flows.target(slot)));
    }

    /// Computes what a flow has sent and its source has produced until now.
    fn advance(&mut self, slot: u32, now: f64) {
        if let Some((flow, source)) = self.flows.flow_and_source_mut(slot) {
            source.advance(flow.rate, now - flow.since);
        }
        self.flows.flow_mut(slot).advance(now);
    }
}
