//! Congested links and their marks. A congested link marks a fraction of the bytes that cross it. A flow's receiver
//! reports the marked fraction of its bytes, by which a routing may change the flow's route.
//!
//! A link is congested while it is full, starts at a switch (a server's link has no queue that marks; where every node
//! is an end, all count as switches), and is the first bottleneck of a flow: the first full link on the flow's route on
//! which no other flow is faster. So a single flow at the rate of its server's link is not marked on later links,
//! although these are full as well.
//!
//! ```text
//! φ_f = 1 − Π_l (1 − m_l)        the fraction of a flow's bytes that is marked, links marking independently
//! marked_f = ∫ φ_f x_f dt        over a period of the flow's clock
//! ```
//!
//! Where a flow spreads, links that carry a fraction a_l < 1 of it mark Σ a_l m_l together, at most 1. That is exact
//! while no path has two links that mark.
//!
//! Source: Kabbani et al., *FlowBender*, CoNEXT 2014, §3.

use netnum_core::Topology;

use super::flows::Flows;
use super::marking::{Marking, Marks};
use super::route::Route;
use crate::numbers::{ALIKE, BITS, DRIFT, NONE, PACKET};

/// The load from which on a link of some capacity is full.
fn full_from(marking: Marking, capacity: f64) -> f64 {
    let fraction = if let Marking::Utilization(from) = marking { from } else { 1.0 };
    fraction * capacity * (1.0 - ALIKE)
}

#[derive(Debug, Clone)]
struct MarkingLink {
    capacity: f64,
    /// The load from which on it is full, and that from which on its running load may be one of a full link.
    full_from: f64,
    nearly_full_from: f64,
    of_switch: bool,
    /// The slots of the flows that cross it, with the fractions of them that do.
    through: Vec<(u32, f64)>,
    /// Their rates on it; ∞ if these are to be added up.
    load: f64,
    /// The number of flows whose first bottleneck it is.
    limited: u32,
    /// Whether flows have joined or left it, or its capacity has changed, since the last update.
    is_changed: bool,
    /// Whether it is listed, as touched or as one that may mark otherwise.
    listed: bool,
}

impl MarkingLink {
    fn set_capacity(&mut self, marking: Marking, capacity: f64) {
        self.capacity = capacity;
        self.full_from = full_from(marking, capacity);
        self.nearly_full_from = self.full_from - DRIFT * capacity;
    }

    /// m.
    fn marked_fraction(&self, marking: Marking, limits_from: f64) -> f64 {
        match marking {
            _ if !self.of_switch => 0.0,
            Marking::Utilization(_) => f64::from(limits_from < f64::INFINITY),
            _ if self.limited == 0 => 0.0,
            Marking::Saturated => 1.0,
            Marking::Dctcp { rtt, threshold } => {
                let window = (self.capacity * rtt + BITS * threshold) / PACKET;
                f64::min(1.0, (2.0 * self.through.len() as f64 / window).sqrt())
            }
        }
    }
}

/// The marks of a flow since its last review.
#[derive(Debug, Clone, Copy)]
struct FlowMarks {
    /// φ at the moment.
    fraction: f64,
    /// The bits that it had sent at its last review, and when φ last changed.
    sent_at_review: f64,
    sent: f64,
    marked: f64,
    /// Its first bottleneck.
    first: u32,
    /// Whether it is listed as one whose first bottleneck may be another one.
    listed: bool,
}

impl FlowMarks {
    /// Adds what was marked until so much was sent.
    fn add_up(&mut self, sent: f64) {
        self.marked += self.fraction * (sent - self.sent);
        self.sent = sent;
    }
}

/// Links, each listed once, in a list with room for all and one more.
#[derive(Debug)]
struct Touched {
    list: Vec<u32>,
    count: usize,
}

impl Touched {
    /// Adds a link, if it is to be added and is not listed. Without a branch: whether cannot be predicted.
    #[inline]
    fn add_if(&mut self, is_so: bool, link: u32, listed: &mut bool) {
        self.list[self.count] = link;
        self.count += usize::from(is_so & !*listed);
        *listed |= is_so;
    }
}

/// The marks of all links and flows.
///
/// A change of some flows is followed over the links that they cross to the flows there, and from the links that mark
/// otherwise than before to the flows on these.
#[derive(Debug)]
pub(crate) struct CongestionMarks {
    marking: Marking,
    links: Vec<MarkingLink>,
    /// By link, the least rate of a flow whose bottleneck it may be: that of the fastest on it. ∞ unless it is full.
    limits_from: Vec<f64>,
    /// By link, m.
    marks: Vec<f64>,
    /// By slot.
    flow_marks: Vec<FlowMarks>,
    /// Links that flows have joined or left, or that are or may be full and on which one has another rate, and links
    /// that may mark otherwise than before.
    touched: Touched,
    remarked: Vec<u32>,
    /// Flows whose first bottleneck may be another one, and flows whose φ may be.
    limited: Vec<u32>,
    affected: Vec<u32>,
}

impl CongestionMarks {
    pub(crate) fn new(net: &Topology, marking: Marking) -> Self {
        let all_are_ends = net.ends() == net.node_names().len();
        let link = |(number, link): (u32, &netnum_core::Link)| {
            let mut made = MarkingLink {
                capacity: 0.0,
                full_from: 0.0,
                nearly_full_from: 0.0,
                of_switch: link.from as usize >= net.ends()
                    || all_are_ends
                    || (link.to as usize >= net.ends() && net.is_shared(number)),
                through: Vec::new(),
                load: 0.0,
                limited: 0,
                is_changed: false,
                listed: false,
            };
            made.set_capacity(marking, link.capacity);
            made
        };
        let links: Vec<MarkingLink> = (0..).zip(net.links()).map(link).collect();
        let (limits_from, marks) = (vec![f64::INFINITY; links.len()], vec![0.0; links.len()]);
        let (flow_marks, [remarked, limited, affected]) = (Vec::new(), [const { Vec::new() }; 3]);
        let touched = Touched { list: vec![0; links.len() + 1], count: 0 };
        Self { marking, links, limits_from, marks, flow_marks, touched, remarked, limited, affected }
    }

    pub(crate) fn set_capacity(&mut self, link: u32, capacity: f64) {
        let changed = &mut self.links[link as usize];
        changed.set_capacity(self.marking, capacity);
        // To be added up.
        (changed.load, changed.is_changed) = (f64::INFINITY, true);
        self.touched.add_if(true, link, &mut changed.listed);
    }

    /// A flow has arrived.
    pub(crate) fn arrive(&mut self, slot: u32, flows: &Flows) {
        let begun =
            FlowMarks { fraction: 0.0, sent_at_review: 0.0, sent: 0.0, marked: 0.0, first: NONE, listed: false };
        match self.flow_marks.get_mut(slot as usize) {
            Some(free) => *free = begun,
            // Slots are handed out one after the other.
            None => self.flow_marks.push(begun),
        }
        self.join(slot, flows.route(slot), 0.0);
    }

    /// A flow takes a route, at some rate.
    pub(crate) fn join(&mut self, slot: u32, route: &Route, rate: f64) {
        for (link, fraction) in route.iter() {
            let joins = &mut self.links[link as usize];
            joins.through.push((slot, fraction));
            joins.load += fraction * rate;
            joins.is_changed = true;
            self.touched.add_if(true, link, &mut joins.listed);
        }
        self.list(slot);
        self.affected.push(slot);
    }

    /// A flow leaves its route, and the rate that it had there.
    pub(crate) fn leave(&mut self, slot: u32, route: &Route, rate: f64) {
        for (link, fraction) in route.iter() {
            let leaves = &mut self.links[link as usize];
            leaves.load -= fraction * rate;
            leaves.is_changed = true;
            if let Some(place) = leaves.through.iter().position(|&(other, _)| other == slot) {
                leaves.through.swap_remove(place);
            }
            self.touched.add_if(true, link, &mut leaves.listed);
        }
        let flow = &mut self.flow_marks[slot as usize];
        flow.listed = false;
        let first = std::mem::replace(&mut flow.first, NONE);
        if first != NONE {
            self.links[first as usize].limited -= 1;
        }
    }

    /// A flow on a route has another rate, by so much more.
    pub(crate) fn change(&mut self, slot: u32, route: &Route, more: f64) {
        for (link, fraction) in route.iter() {
            let changes = &mut self.links[link as usize];
            changes.load += fraction * more;
            let may_be_full =
                (changes.load >= changes.nearly_full_from) | (self.limits_from[link as usize] < f64::INFINITY);
            self.touched.add_if(may_be_full, link, &mut changes.listed);
        }
        self.list(slot);
    }

    /// A flow may have another first bottleneck.
    fn list(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.flow_marks[slot as usize].listed, true) {
            self.limited.push(slot);
        }
    }

    /// Updates the marks to the rates and routes of this instant.
    /// O(links of the flows that changed · flows on them · hops).
    pub(crate) fn update(&mut self, flows: &Flows, now: f64) {
        let Self {
            marking,
            links,
            limits_from: all_limits_from,
            marks: all_marks,
            flow_marks,
            touched,
            remarked,
            limited,
            affected,
        } = self;
        for &number in &touched.list[..std::mem::take(&mut touched.count)] {
            let link = &mut links[number as usize];
            let before = all_limits_from[number as usize];
            let mut limits_from = f64::INFINITY;
            // The running load of a link that was full may have lost small rates to rounding.
            if link.load >= link.nearly_full_from || before < f64::INFINITY {
                let (mut load, mut fastest) = (0.0, 0.0);
                for &(slot, fraction) in &link.through {
                    let rate = flows.flow(slot).rate;
                    load += fraction * rate;
                    fastest = if rate > fastest { rate } else { fastest };
                }
                link.load = load;
                if load >= link.full_from {
                    limits_from = fastest * (1.0 - ALIKE);
                }
            }
            all_limits_from[number as usize] = limits_from;
            link.listed = std::mem::take(&mut link.is_changed) || limits_from != before;
            if link.listed {
                remarked.push(number);
            }
            if limits_from != before {
                // Flows whose rate has changed are listed already.
                let otherwise = |rate: f64| (rate >= before) != (rate >= limits_from);
                for &(slot, _) in link.through.iter().filter(|flow| otherwise(flows.flow(flow.0).rate)) {
                    if !std::mem::replace(&mut flow_marks[slot as usize].listed, true) {
                        limited.push(slot);
                    }
                }
            }
        }
        for slot in limited.drain(..) {
            // One may have ended, or be listed twice, if it has left a route since.
            if !std::mem::take(&mut flow_marks[slot as usize].listed) {
                continue;
            }
            let rate = flows.flow(slot).rate;
            // Without branches, from the last: which is the first cannot be predicted.
            let earlier = |first, &link: &u32| if rate >= all_limits_from[link as usize] { link } else { first };
            let first = flows.route(slot).links().iter().rev().fold(NONE, earlier);
            let before = std::mem::replace(&mut flow_marks[slot as usize].first, first);
            if before != first {
                for (link, more) in [(before, false), (first, true)].into_iter().filter(|link| link.0 != NONE) {
                    let limits = &mut links[link as usize];
                    limits.limited = if more { limits.limited + 1 } else { limits.limited - 1 };
                    if !std::mem::replace(&mut limits.listed, true) {
                        remarked.push(link);
                    }
                }
            }
        }
        for number in remarked.drain(..) {
            let link = &mut links[number as usize];
            link.listed = false;
            let marks = link.marked_fraction(*marking, all_limits_from[number as usize]);
            if std::mem::replace(&mut all_marks[number as usize], marks) != marks {
                affected.extend(link.through.iter().map(|&(slot, _)| slot));
            }
        }
        for slot in affected.drain(..) {
            let (mut clean, mut apart) = (1.0, 0.0);
            for (link, fraction) in flows.route(slot).iter() {
                let marks = all_marks[link as usize];
                if fraction < 1.0 { apart += fraction * marks } else { clean *= 1.0 - marks }
            }
            let marked = 1.0 - clean * (1.0 - f64::min(1.0, apart));
            let flow = &mut flow_marks[slot as usize];
            if marked != flow.fraction {
                flow.add_up(flows.flow(slot).sent(now));
                flow.fraction = marked;
            }
        }
    }

    /// Ends a flow's period and returns its marks in that period.
    pub(crate) fn end_period(&mut self, slot: u32, sent: f64) -> Marks {
        let flow = &mut self.flow_marks[slot as usize];
        flow.add_up(sent);
        let marks = Marks { sent: sent - flow.sent_at_review, marked: flow.marked };
        (flow.sent_at_review, flow.marked) = (sent, 0.0);
        marks
    }
}

#[cfg(test)]
mod tests;
