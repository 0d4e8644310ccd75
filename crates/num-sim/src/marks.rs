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
use crate::flows::Flows;

/// Loads that are this close to a capacity, and rates this close to each other, are equal.
const SAME: f64 = 1e-9;
/// Bits of a full packet.
const PACKET: f64 = 8.0 * 1500.0;

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
    pub(crate) fn check(&self) -> Result<()> {
        let not_negative = |name, value: f64| match value >= 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Error::setting(name, value, "a finite number >= 0")),
        };
        match *self {
            Self::Saturated => Ok(()),
            Self::Dctcp { rtt, threshold } => not_negative("rtt", rtt).and(not_negative("threshold", threshold)),
            Self::Utilization(from) if from > 0.0 && from <= 1.0 => Ok(()),
            Self::Utilization(from) => Err(Error::setting("utilization", from, "a number > 0 and <= 1")),
        }
    }

    /// The part that a link marks.
    fn part(&self, link: &Link) -> f64 {
        match *self {
            Self::Saturated => f64::from(link.congested),
            Self::Dctcp { .. } if !link.congested => 0.0,
            Self::Dctcp { rtt, threshold } => {
                let window = (link.capacity * rtt + 8.0 * threshold) / PACKET;
                f64::min(1.0, (2.0 * f64::from(link.flows) / window).sqrt())
            }
            Self::Utilization(from) => f64::from(link.of_switch && link.load >= from * link.capacity * (1.0 - SAME)),
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

#[derive(Debug, Clone, Copy)]
struct Link {
    capacity: f64,
    of_switch: bool,
    load: f64,
    /// The highest rate of a flow on it.
    fastest: f64,
    flows: u32,
    congested: bool,
}

impl Link {
    fn is_full(&self) -> bool {
        self.load >= self.capacity * (1.0 - SAME)
    }

    /// Whether it is what holds a flow of that rate back.
    fn holds(&self, rate: f64) -> bool {
        self.is_full() && rate >= self.fastest * (1.0 - SAME)
    }
}

/// What a flow has heard since its last review.
#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    /// φ at the moment.
    part: f64,
    /// What was left of it at its last review, and when φ last changed.
    left_then: f64,
    left: f64,
    marked: f64,
}

impl Heard {
    fn settle(&mut self, left: f64) {
        self.marked += self.part * (self.left - left);
        self.left = left;
    }
}

/// The marks of all links and flows.
#[derive(Debug)]
pub(crate) struct Marked {
    marking: Marking,
    links: Vec<Link>,
    heard: Vec<Heard>,
}

impl Marked {
    pub(crate) fn new(net: &Topology, marking: Marking) -> Self {
        let all_are_ends = net.ends() == net.node_names().len();
        let link = |link: &netnum_core::Link| Link {
            capacity: link.capacity,
            of_switch: link.from as usize >= net.ends() || all_are_ends,
            load: 0.0,
            fastest: 0.0,
            flows: 0,
            congested: false,
        };
        Self { marking, links: net.links().iter().map(link).collect(), heard: Vec::new() }
    }

    pub(crate) fn set_capacity(&mut self, link: usize, capacity: f64) {
        self.links[link].capacity = capacity;
    }

    /// A flow has arrived.
    pub(crate) fn arrive(&mut self, slot: u32, flows: &Flows) {
        let slot = slot as usize;
        self.heard.resize(self.heard.len().max(slot + 1), Heard::default());
        let left = flows.flow(slot as u32).size;
        self.heard[slot] = Heard { part: 0.0, left_then: left, left, marked: 0.0 };
    }

    /// Rates or routes have changed: looks at all links again. O(crossings).
    pub(crate) fn look(&mut self, flows: &Flows, now: f64) {
        for link in &mut self.links {
            (link.load, link.fastest, link.flows, link.congested) = (0.0, 0.0, 0, false);
        }
        for &slot in flows.active() {
            let rate = flows.flow(slot).rate;
            for (link, share) in flows.route(slot).iter() {
                let link = &mut self.links[link];
                link.load += share * rate;
                link.fastest = f64::max(link.fastest, rate);
                link.flows += 1;
            }
        }
        for &slot in flows.active() {
            let rate = flows.flow(slot).rate;
            let first = flows.route(slot).links().iter().find(|&&link| self.links[link as usize].holds(rate));
            if let Some(&first) = first {
                let link = &mut self.links[first as usize];
                link.congested |= link.of_switch;
            }
        }
        for &slot in flows.active() {
            let (mut clean, mut apart) = (1.0, 0.0);
            for (link, share) in flows.route(slot).iter() {
                let marks = self.marking.part(&self.links[link]);
                if share < 1.0 { apart += share * marks } else { clean *= 1.0 - marks }
            }
            let part = 1.0 - clean * (1.0 - f64::min(1.0, apart));
            let heard = &mut self.heard[slot as usize];
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
