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

use super::flows::{Flows, PACKET};
use super::marking::{Marking, Marks};
use super::route::Route;

/// Loads that are this close to a capacity, and rates this close to each other, are equal.
const SAME: f64 = 1e-9;
/// Loads are kept up by adding and subtracting, with less rounding than this fraction of a capacity.
const DRIFT: f64 = 1e-6;

/// The load from which on a link of some capacity is full.
fn full_from(marking: Marking, capacity: f64) -> f64 {
    let fraction = if let Marking::Utilization(from) = marking { from } else { 1.0 };
    fraction * capacity * (1.0 - SAME)
}

#[derive(Debug, Clone)]
struct Link {
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

impl Link {
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
                let window = (self.capacity * rtt + 8.0 * threshold) / PACKET;
                f64::min(1.0, (2.0 * self.through.len() as f64 / window).sqrt())
            }
        }
    }
}

/// No link.
const NONE: u32 = u32::MAX;

/// The marks of a flow since its last review.
#[derive(Debug, Clone, Copy)]
struct FlowMarks {
    /// φ at the moment.
    fraction: f64,
    /// The bits that were left of it at its last review, and when φ last changed.
    left_at_review: f64,
    left: f64,
    marked: f64,
    /// Its first bottleneck.
    first: u32,
    /// Whether it is listed as one whose first bottleneck may be another one.
    listed: bool,
}

impl FlowMarks {
    /// Adds what was marked until so much was left.
    fn add_up(&mut self, left: f64) {
        self.marked += self.fraction * (self.left - left);
        self.left = left;
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
    fn add_if(&mut self, is_so: bool, link: usize, listed: &mut bool) {
        self.list[self.count] = link as u32;
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
    links: Vec<Link>,
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
        let link = |link: &netnum_core::Link| {
            let mut made = Link {
                capacity: 0.0,
                full_from: 0.0,
                nearly_full_from: 0.0,
                of_switch: link.from as usize >= net.ends() || all_are_ends,
                through: Vec::new(),
                load: 0.0,
                limited: 0,
                is_changed: false,
                listed: false,
            };
            made.set_capacity(marking, link.capacity);
            made
        };
        let links: Vec<Link> = net.links().iter().map(link).collect();
        let (limits_from, marks) = (vec![f64::INFINITY; links.len()], vec![0.0; links.len()]);
        let (flow_marks, [remarked, limited, affected]) = (Vec::new(), [const { Vec::new() }; 3]);
        let touched = Touched { list: vec![0; links.len() + 1], count: 0 };
        Self { marking, links, limits_from, marks, flow_marks, touched, remarked, limited, affected }
    }

    pub(crate) fn set_capacity(&mut self, link: usize, capacity: f64) {
        let changed = &mut self.links[link];
        changed.set_capacity(self.marking, capacity);
        // To be added up.
        (changed.load, changed.is_changed) = (f64::INFINITY, true);
        self.touched.add_if(true, link, &mut changed.listed);
    }

    /// A flow has arrived.
    pub(crate) fn arrive(&mut self, slot: u32, flows: &Flows) {
        let left = flows.flow(slot).size;
        let begun = FlowMarks { fraction: 0.0, left_at_review: left, left, marked: 0.0, first: NONE, listed: false };
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
            let joins = &mut self.links[link];
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
            let leaves = &mut self.links[link];
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
            let changes = &mut self.links[link];
            changes.load += fraction * more;
            let may_be_full = (changes.load >= changes.nearly_full_from) | (self.limits_from[link] < f64::INFINITY);
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
                    limits_from = fastest * (1.0 - SAME);
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
                let marks = all_marks[link];
                if fraction < 1.0 { apart += fraction * marks } else { clean *= 1.0 - marks }
            }
            let marked = 1.0 - clean * (1.0 - f64::min(1.0, apart));
            let flow = &mut flow_marks[slot as usize];
            if marked != flow.fraction {
                flow.add_up(flows.flow(slot).left(now));
                flow.fraction = marked;
            }
        }
    }

    /// Ends a flow's period and returns its marks in that period.
    pub(crate) fn end_period(&mut self, slot: u32, left: f64) -> Marks {
        let flow = &mut self.flow_marks[slot as usize];
        flow.add_up(left);
        let marks = Marks { sent: flow.left_at_review - left, marked: flow.marked };
        (flow.left_at_review, flow.marked) = (left, 0.0);
        marks
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The fraction of every active flow that is marked, from the definitions.
    fn fractions(net: &Topology, marking: Marking, capacities: &[f64], flows: &Flows) -> Vec<f64> {
        let on = |link: usize| {
            let hop = move |slot: u32| flows.route(slot).iter().find(|hop| hop.0 == link);
            flows.active().iter().filter_map(move |&slot| hop(slot).map(|hop| (slot, hop.1)))
        };
        let rate = |slot: u32| flows.flow(slot).rate;
        let load = |link: usize| on(link).map(|(slot, fraction)| fraction * rate(slot)).sum::<f64>();
        let full = |link: usize, fraction: f64| load(link) >= fraction * capacities[link] * (1.0 - SAME);
        let fastest = |link: usize| on(link).map(|flow| rate(flow.0)).fold(0.0, f64::max);
        let limited = |link: usize, slot| full(link, 1.0) && rate(slot) >= fastest(link) * (1.0 - SAME);
        let first = |slot: u32| flows.route(slot).iter().map(|hop| hop.0).find(|&link| limited(link, slot));
        let congested = |link: usize| on(link).any(|flow| first(flow.0) == Some(link));
        let marks = |link: usize| match marking {
            _ if (net.links()[link].from as usize) < net.ends() => 0.0,
            Marking::Utilization(fraction) => f64::from(full(link, fraction)),
            _ if !congested(link) => 0.0,
            Marking::Saturated => 1.0,
            Marking::Dctcp { rtt, threshold } => {
                let packets = (capacities[link] * rtt / 8.0 + threshold) / 1500.0;
                (2.0 * on(link).count() as f64 / packets).sqrt().min(1.0)
            }
        };
        let all: Vec<f64> = (0..capacities.len()).map(marks).collect();
        let marked = |&slot: &u32| {
            let (whole, split): (Vec<_>, Vec<_>) = flows.route(slot).iter().partition(|hop| hop.1 >= 1.0);
            let apart = split.iter().map(|&(link, fraction)| fraction * all[link]).sum::<f64>();
            1.0 - whole.iter().map(|hop| 1.0 - all[hop.0]).product::<f64>() * (1.0 - apart.min(1.0))
        };
        flows.active().iter().map(marked).collect()
    }

    #[test]
    fn marks_follow_every_change() {
        let net = Topology::leaf_spine(3, 2, 3, 1.0, 1.0).unwrap();
        let markings = [Marking::Saturated, Marking::Dctcp { rtt: 1e3, threshold: 1e4 }, Marking::Utilization(0.7)];
        let mut checked = 0;
        for seed in 0..30 {
            let (mut rng, marking) = (ChaCha8Rng::seed_from_u64(seed), markings[seed as usize % 3]);
            let (mut marked, mut flows, mut capacities) =
                (CongestionMarks::new(&net, marking), Flows::default(), vec![1.0; 30]);
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
                            // Tenths, so that links are full at times; now and then a rate next to which the others
                            // are lost to rounding.
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
                marked.update(&flows, 0.0);
                for (&slot, fraction) in flows.active().iter().zip(fractions(&net, marking, &capacities, &flows)) {
                    let found = marked.flow_marks[slot as usize].fraction;
                    assert!((found - fraction).abs() < 1e-12, "seed {seed}, slot {slot}: {found} and {fraction}");
                    checked += usize::from(fraction > 0.0);
                }
            }
        }
        assert!(checked > 10_000, "{checked} marked flows are too few for a conclusion");
    }
}
