//! What links tell the flows that cross them: a part of what goes over a congested link is marked, and a flow's receiver
//! reports how much of its bytes was, for a routing to act on.
//!
//! A link is congested while it is full, is a switch's (a server's own link has no queue that marks; where every node is an
//! end, all are switches as well), and is the first bottleneck of a flow: the first full link on the flow's route on which
//! no other flow is faster. So a flow alone, which is as fast as its server's link, marks nothing further on, although
//! links there are full as well.
//!
//! ```text
//! φ_f = 1 − Π_l (1 − m_l)        the part of a flow's bytes that is marked, links marking independently
//! marked_f = ∫ φ_f x_f dt        over a period of the flow's clock
//! ```
//!
//! Where a flow spreads, links that carry a share a_l < 1 of it mark Σ a_l m_l together, at most 1: exactly so while no path
//! has two that mark.
//!
//! Sources: Kabbani et al., *FlowBender*, CoNEXT 2014, §3; the fraction under DCTCP from Alizadeh et al., *Analysis of
//! DCTCP*, SIGMETRICS 2011, §3: n synchronized windows mark √(2n/W) of their packets.

use netnum_core::Topology;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::network::Route;
use crate::network::{Flows, PACKET};
use crate::registry::mistyped;

/// Loads that are this close to a capacity, and rates this close to each other, are equal.
const SAME: f64 = 1e-9;
/// Loads are kept up by adding and subtracting, with less rounding than this part of a capacity.
const DRIFT: f64 = 1e-6;

/// How links mark what goes over them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Marking {
    /// Congested links mark everything.
    Saturated,
    /// Congested links mark what DCTCP's control does: √(2n/W), n the flows on the link and W = (C·RTT + K)/1500 bytes what
    /// it holds.
    Dctcp {
        /// The round-trip time, in seconds.
        rtt: f64,
        /// The marking threshold of the queue, K, in bytes.
        threshold: f64,
    },
    /// A switch's links mark everything from this utilization on.
    Utilization(f64),
}

impl Marking {
    /// How one is written.
    pub(crate) const FORMS: &str =
        r#""saturated", {"dctcp": {"rtt": seconds, "threshold": bytes}} or {"utilization": part}"#;

    /// How a routing of that name wants its links to mark: a name, or an object with a name and its numbers.
    ///
    /// # Errors
    /// [`Error::Option`] for one that does not exist, or a number out of its range.
    pub fn from_json(routing: &str, value: &serde_json::Value) -> Result<Self> {
        let wrong = |error| mistyped(&format!("routing {routing:?}"), "marking", value, &error);
        let marking = Self::deserialize(value).map_err(wrong)?;
        marking.check(routing).map(|()| marking)
    }

    pub(crate) fn check(&self, routing: &str) -> Result<()> {
        let wrong = |option: &str, value: f64, expected: &str| {
            Err(Error::option(&format!("routing {routing:?}"), option, value, expected))
        };
        let not_negative = |option, value: f64| match value >= 0.0 && value.is_finite() {
            true => Ok(()),
            false => wrong(option, value, "a finite number >= 0"),
        };
        match *self {
            Self::Saturated => Ok(()),
            Self::Dctcp { rtt, threshold } => {
                not_negative("marking.dctcp.rtt", rtt).and(not_negative("marking.dctcp.threshold", threshold))
            }
            Self::Utilization(from) if from > 0.0 && from <= 1.0 => Ok(()),
            Self::Utilization(from) => wrong("marking.utilization", from, "a number > 0 and <= 1"),
        }
    }

    /// The load from which on a link of some capacity is full, as marks go.
    fn full_from(&self, capacity: f64) -> f64 {
        let part = if let Self::Utilization(from) = *self { from } else { 1.0 };
        part * capacity * (1.0 - SAME)
    }

    /// m of a link.
    fn part(&self, link: &Link) -> f64 {
        match *self {
            _ if !link.of_switch => 0.0,
            Self::Utilization(_) => f64::from(link.holds_from < f64::INFINITY),
            _ if link.holds == 0 => 0.0,
            Self::Saturated => 1.0,
            Self::Dctcp { rtt, threshold } => {
                let window = (link.capacity * rtt + 8.0 * threshold) / PACKET;
                f64::min(1.0, (2.0 * link.through.len() as f64 / window).sqrt())
            }
        }
    }
}

/// What a flow hears of a period of its clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marks {
    /// Bits that it has sent.
    pub sent: f64,
    /// Those of them that were marked.
    pub marked: f64,
}

impl Marks {
    /// The part that was marked; 0 if nothing was sent.
    pub fn fraction(&self) -> f64 {
        if self.sent > 0.0 { self.marked / self.sent } else { 0.0 }
    }
}

#[derive(Debug, Clone)]
struct Link {
    capacity: f64,
    /// The load from which on it is full.
    full_from: f64,
    of_switch: bool,
    /// The slots that cross it, with the shares of them that do.
    through: Vec<(u32, f64)>,
    /// What they send over it; ∞ if that is to be added up.
    load: f64,
    /// The least rate of a flow that it would hold back: that of the fastest on it. ∞ unless it is full.
    holds_from: f64,
    /// How many flows it is the first to hold back.
    holds: u32,
    /// m.
    marks: f64,
    /// Whether flows have joined or left it, or its capacity has changed, since it was last looked at.
    is_other: bool,
    /// Whether it is listed, as touched or as one that may mark otherwise.
    listed: bool,
}

/// No link.
const NONE: u32 = u32::MAX;

/// What a flow has heard since its last review.
#[derive(Debug, Clone, Copy)]
struct Heard {
    /// φ at the moment.
    part: f64,
    /// What was left of it at its last review, and when φ last changed.
    left_then: f64,
    left: f64,
    marked: f64,
    /// The link that is the first to hold it back.
    first: u32,
    /// Whether it is listed as one that may be held back elsewhere.
    held: bool,
}

impl Heard {
    fn settle(&mut self, left: f64) {
        self.marked += self.part * (self.left - left);
        self.left = left;
    }
}

/// The marks of all links and flows.
///
/// A change of some flows is followed over the links that they cross to the flows there, and from the links that mark
/// otherwise than before to the flows that hear it.
#[derive(Debug)]
pub(crate) struct Marked {
    marking: Marking,
    links: Vec<Link>,
    /// By slot.
    heard: Vec<Heard>,
    /// Links that flows have joined or left, or on which one has another rate, and links that may mark otherwise than before.
    touched: Vec<u32>,
    turned: Vec<u32>,
    /// Flows that may be held back elsewhere than before, and flows that may hear something else.
    held: Vec<u32>,
    hearing: Vec<u32>,
}

impl Marked {
    pub(crate) fn new(net: &Topology, marking: Marking) -> Self {
        let all_are_ends = net.ends() == net.node_names().len();
        let link = |link: &netnum_core::Link| Link {
            capacity: link.capacity,
            full_from: marking.full_from(link.capacity),
            of_switch: link.from as usize >= net.ends() || all_are_ends,
            through: Vec::new(),
            load: 0.0,
            holds_from: f64::INFINITY,
            holds: 0,
            marks: 0.0,
            is_other: false,
            listed: false,
        };
        let links = net.links().iter().map(link).collect();
        let (heard, [touched, turned, held, hearing]) = (Vec::new(), [const { Vec::new() }; 4]);
        Self { marking, links, heard, touched, turned, held, hearing }
    }

    fn touch(&mut self, link: usize) {
        if !std::mem::replace(&mut self.links[link].listed, true) {
            self.touched.push(link as u32);
        }
    }

    pub(crate) fn set_capacity(&mut self, link: usize, capacity: f64) {
        let changed = &mut self.links[link];
        (changed.capacity, changed.full_from) = (capacity, self.marking.full_from(capacity));
        // To be added up.
        (changed.load, changed.is_other) = (f64::INFINITY, true);
        self.touch(link);
    }

    /// A flow has arrived.
    pub(crate) fn arrive(&mut self, slot: u32, flows: &Flows) {
        let left = flows.flow(slot).size;
        let heard = Heard { part: 0.0, left_then: left, left, marked: 0.0, first: NONE, held: false };
        match self.heard.get_mut(slot as usize) {
            Some(free) => *free = heard,
            // Slots are handed out one after the other.
            None => self.heard.push(heard),
        }
        self.join(slot, flows.route(slot), 0.0);
    }

    /// A flow takes a route, at some rate.
    pub(crate) fn join(&mut self, slot: u32, route: &Route, rate: f64) {
        for (link, share) in route.iter() {
            let joins = &mut self.links[link];
            joins.through.push((slot, share));
            joins.load += share * rate;
            joins.is_other = true;
            self.touch(link);
        }
        self.hold(slot);
        self.hearing.push(slot);
    }

    /// A flow leaves its route, and the rate that it had there.
    pub(crate) fn leave(&mut self, slot: u32, route: &Route, rate: f64) {
        for (link, share) in route.iter() {
            let leaves = &mut self.links[link];
            leaves.load -= share * rate;
            leaves.is_other = true;
            if let Some(place) = leaves.through.iter().position(|&(other, _)| other == slot) {
                leaves.through.swap_remove(place);
            }
            self.touch(link);
        }
        let heard = &mut self.heard[slot as usize];
        heard.held = false;
        let first = std::mem::replace(&mut heard.first, NONE);
        if first != NONE {
            self.links[first as usize].holds -= 1;
        }
    }

    /// A flow on a route has another rate, by so much more.
    pub(crate) fn change(&mut self, slot: u32, route: &Route, more: f64) {
        for (link, share) in route.iter() {
            self.links[link].load += share * more;
            self.touch(link);
        }
        self.hold(slot);
    }

    /// A flow may be held back elsewhere than before.
    fn hold(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.heard[slot as usize].held, true) {
            self.held.push(slot);
        }
    }

    /// Rates and routes of this instant are known. O(links of the flows that changed · flows on them · hops).
    pub(crate) fn look(&mut self, flows: &Flows, now: f64) {
        let Self { marking, links, heard, touched, turned, held, hearing } = self;
        for number in touched.drain(..) {
            let link = &mut links[number as usize];
            let mut holds_from = f64::INFINITY;
            // One that was full may have lost what its load had no digits left beside.
            if link.load >= link.full_from - DRIFT * link.capacity || link.holds_from < f64::INFINITY {
                let (mut load, mut fastest) = (0.0, 0.0);
                for &(slot, share) in &link.through {
                    let rate = flows.flow(slot).rate;
                    load += share * rate;
                    fastest = if rate > fastest { rate } else { fastest };
                }
                link.load = load;
                if load >= link.full_from {
                    holds_from = fastest * (1.0 - SAME);
                }
            }
            let before = std::mem::replace(&mut link.holds_from, holds_from);
            link.listed = std::mem::take(&mut link.is_other) || holds_from != before;
            if link.listed {
                turned.push(number);
            }
            if holds_from != before {
                // Those whose own rate has changed are listed already.
                let otherwise = |rate: f64| (rate >= before) != (rate >= holds_from);
                for &(slot, _) in link.through.iter().filter(|flow| otherwise(flows.flow(flow.0).rate)) {
                    if !std::mem::replace(&mut heard[slot as usize].held, true) {
                        held.push(slot);
                    }
                }
            }
        }
        for slot in held.drain(..) {
            // One may have ended, or be listed twice, if it has left a route since.
            if !std::mem::take(&mut heard[slot as usize].held) {
                continue;
            }
            let rate = flows.flow(slot).rate;
            let holds = |link: &&u32| rate >= links[**link as usize].holds_from;
            let first = flows.route(slot).links().iter().find(holds).copied().unwrap_or(NONE);
            let before = std::mem::replace(&mut heard[slot as usize].first, first);
            if before != first {
                for (link, more) in [(before, false), (first, true)].into_iter().filter(|link| link.0 != NONE) {
                    let held = &mut links[link as usize];
                    held.holds = if more { held.holds + 1 } else { held.holds - 1 };
                    if !std::mem::replace(&mut held.listed, true) {
                        turned.push(link);
                    }
                }
            }
        }
        for link in turned.drain(..) {
            let link = &mut links[link as usize];
            link.listed = false;
            let marks = marking.part(link);
            if marks != link.marks {
                link.marks = marks;
                hearing.extend(link.through.iter().map(|&(slot, _)| slot));
            }
        }
        for slot in hearing.drain(..) {
            let (mut clean, mut apart) = (1.0, 0.0);
            for (link, share) in flows.route(slot).iter() {
                let marks = links[link].marks;
                if share < 1.0 { apart += share * marks } else { clean *= 1.0 - marks }
            }
            let part = 1.0 - clean * (1.0 - f64::min(1.0, apart));
            let heard = &mut heard[slot as usize];
            if part != heard.part {
                heard.settle(flows.flow(slot).left(now));
                heard.part = part;
            }
        }
    }

    /// A flow's period is over: what it has heard in it.
    pub(crate) fn take(&mut self, slot: u32, left: f64) -> Marks {
        let heard = &mut self.heard[slot as usize];
        heard.settle(left);
        let marks = Marks { sent: heard.left_then - left, marked: heard.marked };
        (heard.left_then, heard.marked) = (left, 0.0);
        marks
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The part of every active flow that is marked, from the definitions.
    fn parts(net: &Topology, marking: Marking, capacities: &[f64], flows: &Flows) -> Vec<f64> {
        let on = |link: usize| {
            let hop = move |slot: u32| flows.route(slot).iter().find(|hop| hop.0 == link);
            flows.active().iter().filter_map(move |&slot| hop(slot).map(|hop| (slot, hop.1)))
        };
        let rate = |slot: u32| flows.flow(slot).rate;
        let load = |link: usize| on(link).map(|(slot, share)| share * rate(slot)).sum::<f64>();
        let full = |link: usize, part: f64| load(link) >= part * capacities[link] * (1.0 - SAME);
        let fastest = |link: usize| on(link).map(|flow| rate(flow.0)).fold(0.0, f64::max);
        let holds = |link: usize, slot| full(link, 1.0) && rate(slot) >= fastest(link) * (1.0 - SAME);
        let first = |slot: u32| flows.route(slot).iter().map(|hop| hop.0).find(|&link| holds(link, slot));
        let congested = |link: usize| on(link).any(|flow| first(flow.0) == Some(link));
        let marks = |link: usize| match marking {
            _ if (net.links()[link].from as usize) < net.ends() => 0.0,
            Marking::Utilization(part) => f64::from(full(link, part)),
            _ if !congested(link) => 0.0,
            Marking::Saturated => 1.0,
            Marking::Dctcp { rtt, threshold } => {
                let packets = (capacities[link] * rtt / 8.0 + threshold) / 1500.0;
                (2.0 * on(link).count() as f64 / packets).sqrt().min(1.0)
            }
        };
        let all: Vec<f64> = (0..capacities.len()).map(marks).collect();
        let part = |&slot: &u32| {
            let (whole, split): (Vec<_>, Vec<_>) = flows.route(slot).iter().partition(|hop| hop.1 >= 1.0);
            let apart = split.iter().map(|&(link, share)| share * all[link]).sum::<f64>();
            1.0 - whole.iter().map(|hop| 1.0 - all[hop.0]).product::<f64>() * (1.0 - apart.min(1.0))
        };
        flows.active().iter().map(part).collect()
    }

    #[test]
    fn marks_follow_every_change() {
        let net = Topology::leaf_spine(3, 2, 3, 1.0, 1.0).unwrap();
        let markings = [Marking::Saturated, Marking::Dctcp { rtt: 1e3, threshold: 1e4 }, Marking::Utilization(0.7)];
        let mut heard_of = 0;
        for seed in 0..30 {
            let (mut rng, marking) = (ChaCha8Rng::seed_from_u64(seed), markings[seed as usize % 3]);
            let (mut marked, mut flows, mut capacities) = (Marked::new(&net, marking), Flows::default(), vec![1.0; 30]);
            assert_eq!(net.links().len(), capacities.len());
            let path = |rng: &mut ChaCha8Rng, route: &mut Route| {
                let from = rng.random_range(0..6u32) as usize;
                let paths = net.paths(from, (from + 1 + rng.random_range(0..5u32) as usize) % 6).unwrap();
                let mut one = || paths.links(rng.random_range(0..paths.len() as u32) as usize);
                let (one, other) = (one(), one());
                if one == other { route.take(one) } else { route.spread([(one, 0.25), (other, 0.75)]) }
            };
            for number in 0..1500 {
                for _ in 0..rng.random_range(1..5) {
                    let some = flows.active().get(rng.random_range(0..20u32) as usize).copied();
                    let does = rng.random_range(0..6u32);
                    match some {
                        None if does < 3 => {
                            let (slot, route) = flows.insert(number, 1e9, 0.0);
                            path(&mut rng, route);
                            marked.arrive(slot, &flows);
                        }
                        Some(slot) if does == 0 => {
                            marked.leave(slot, flows.route(slot), flows.flow(slot).rate);
                            flows.remove(slot);
                        }
                        Some(slot) if does == 1 => {
                            let (rate, old) = (flows.flow(slot).rate, flows.route(slot).clone());
                            path(&mut rng, flows.route_mut(slot));
                            marked.leave(slot, &old, rate);
                            marked.join(slot, flows.route(slot), rate);
                        }
                        Some(slot) => {
                            // Tenths, so that links are full at times; now and then one beside which others are nothing.
                            let tenths = f64::from(rng.random_range(0..6u32)) / 10.0;
                            let rate = if rng.random_bool(0.01) { 1e26 } else { tenths };
                            let more = rate - flows.flow(slot).rate;
                            flows.flow_mut(slot).rate = rate;
                            marked.change(slot, flows.route(slot), more);
                            if rate > 1.0 {
                                break;
                            }
                        }
                        None => {
                            let link = rng.random_range(0..30u32) as usize;
                            capacities[link] = f64::from(rng.random_range(0..11u32)) / 10.0;
                            marked.set_capacity(link, capacities[link]);
                        }
                    }
                }
                marked.look(&flows, 0.0);
                for (&slot, part) in flows.active().iter().zip(parts(&net, marking, &capacities, &flows)) {
                    let heard = marked.heard[slot as usize].part;
                    assert!((heard - part).abs() < 1e-12, "seed {seed}, slot {slot}: {heard} and {part}");
                    heard_of += usize::from(part > 0.0);
                }
            }
        }
        assert!(heard_of > 10_000, "{heard_of} marked flows are too few to say anything");
    }
}
