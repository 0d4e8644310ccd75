//! The state after a [fill](super::fill), from which the next one continues: what is left of every link, and the flows
//! in the order in which they were cut off.

use super::hops::Hop;
use super::links::{Crossing, SharedLink};
use crate::numbers::{NONE, ROUNDING};

/// The part of a link's shares below which those that are left are added up again.
const LOST: f64 = 1e-3;

/// One of so many flows must have been cut off for all to be read.
const MANY: usize = 8;

/// The capacity of a link that is left, and the flows that rise on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    pub(super) capacity: f64,
    pub(super) shares: f64,
    pub(super) flows: usize,
    /// Shares that are less than this are the rounding of others.
    lost: f64,
}

impl Left {
    pub(super) fn of(link: &SharedLink) -> Self {
        let flows = link.through.len();
        // Whole shares add up to their number.
        let shares = match link.spread {
            0 => flows as f64,
            _ => link.through.iter().map(|crossing| crossing.share).sum(),
        };
        Self { capacity: link.capacity, shares, flows, lost: LOST * shares }
    }

    /// A flow that rises is cut off at a rate, or leaves.
    pub(super) fn remove(&mut self, share: f64, rate: f64) {
        self.capacity -= share * rate;
        self.shares -= share;
        self.flows -= 1;
    }

    /// A flow rises again from that rate, or arrives.
    pub(super) fn add(&mut self, share: f64, rate: f64) {
        self.capacity += share * rate;
        self.shares += share;
        self.flows += 1;
    }

    /// Adds up the shares of the flows that rise, where what is kept of them may be lost in that of others.
    pub(super) fn add_up(&mut self, link: &SharedLink, places: &[u32]) {
        self.lost = f64::max(self.lost, LOST * self.shares);
        if self.shares < self.lost && self.flows > 0 {
            let rises = |crossing: &&Crossing| places[crossing.slot as usize] == NONE;
            self.shares = link.through.iter().filter(rises).map(|crossing| crossing.share).sum();
            self.lost = LOST * self.shares;
        }
    }

    /// Whether it is full below some level, by more than rounding.
    pub(super) fn is_over(&self, level: f64, capacity: f64) -> bool {
        let demand = if self.flows == 0 { 0.0 } else { self.shares * level };
        self.capacity < demand - ROUNDING * capacity
    }

    /// The level at which it fills, at least the present one; ∞ if no flow is left to fill it.
    pub(super) fn level(&self, common_rate: f64) -> f64 {
        if self.flows == 0 { f64::INFINITY } else { f64::max(common_rate, self.capacity / self.shares) }
    }
}

/// A flow that has been cut off, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub(super) slot: u32,
    /// By which link; [`NONE`] for its cap.
    pub(super) link: u32,
    pub(super) rate: f64,
}

/// The state after the last fill, and the changes since.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// Whether levels are those of the last fill.
    pub(super) holds: bool,
    /// How many fills there have been since the last one from 0.
    pub(super) times: u32,
    pub(super) left: Vec<Left>,
    /// Flows in the order in which they were cut off. A place that is no longer its flow's is empty.
    pub(super) cut: Vec<Cut>,
    /// By slot.
    pub(super) places: Vec<u32>,
    /// Slots of flows that have risen again since, or arrived.
    pub(super) risen: Vec<u32>,
    /// The lowest rate that one of them has or had, or may have because of its cap.
    pub(super) from: f64,
    /// All links, in the order in which they filled.
    pub(super) order: Vec<u32>,
    /// Room for a list of flows.
    pub(super) room: Vec<u32>,
}

impl Filled {
    /// A flow has arrived.
    #[inline]
    pub(super) fn insert(&mut self, slot: u32, cap: f64, hops: &[Hop]) {
        if !self.holds {
            return;
        }
        if self.places.len() <= slot as usize {
            self.places.resize(slot as usize + 1, NONE);
        }
        self.places[slot as usize] = NONE;
        for &Hop { link, share, .. } in hops {
            self.left[link as usize].add(share, 0.0);
        }
        self.risen.push(slot);
        self.from = f64::min(self.from, cap);
    }

    /// A flow has left.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32, hops: &[Hop]) {
        if self.holds {
            self.rise(slot, hops);
            for &Hop { link, share, .. } in hops {
                self.left[link as usize].remove(share, 0.0);
            }
        }
    }

    /// A flow has another cap than before, `lowest` being the lower one.
    #[inline]
    pub(super) fn cap_changed(&mut self, slot: u32, lowest: f64, hops: &[Hop]) {
        if self.holds {
            self.rise(slot, hops);
            self.risen.push(slot);
            self.from = f64::min(self.from, lowest);
        }
    }

    /// A link has so much more capacity than before.
    #[inline]
    pub(super) fn set_capacity(&mut self, link: u32, more: f64) {
        if self.holds {
            self.left[link as usize].capacity += more;
        }
    }

    /// The free capacity of a link that cuts off no flow, if it is computed.
    pub(super) fn left(&self, link: u32) -> Option<f64> {
        (self.holds && self.risen.is_empty()).then(|| self.left[link as usize].capacity)
    }

    /// Levels have changed outside of a fill.
    pub(super) fn forget(&mut self) {
        self.holds = false;
    }

    /// A flow that was cut off rises again.
    fn rise(&mut self, slot: u32, hops: &[Hop]) {
        let place = std::mem::replace(&mut self.places[slot as usize], NONE);
        if let Some(&Cut { rate, .. }) = self.cut.get(place as usize) {
            self.from = f64::min(self.from, rate);
            for &Hop { link, share, .. } in hops {
                self.left[link as usize].add(share, rate);
            }
        }
    }
}

/// Lists slots with some property, without a branch: which they are cannot be predicted.
#[inline]
pub(super) fn list(
    listed: &mut Vec<u32>,
    slots: impl ExactSizeIterator<Item = u32>,
    is_so: impl Fn(u32) -> bool,
) -> &[u32] {
    if listed.len() < slots.len() {
        listed.resize(slots.len(), 0);
    }
    let mut count = 0;
    for slot in slots {
        listed[count] = slot;
        count += usize::from(is_so(slot));
    }
    &listed[..count]
}

/// Lists the flows that were cut off from some place on. Many of them are listed by slot, as they lie in memory.
pub(super) fn cut_off_from<'a>(first: usize, cut: &[Cut], places: &[u32], listed: &'a mut Vec<u32>) -> &'a [u32] {
    if MANY * (cut.len() - first) > places.len() {
        let from = first as u32;
        return list(listed, 0..places.len() as u32, |slot| (from..NONE).contains(&places[slot as usize]));
    }
    listed.clear();
    let valid = cut.iter().enumerate().skip(first).filter(|&(at, cut)| places[cut.slot as usize] as usize == at);
    listed.extend(valid.map(|(_, cut)| cut.slot));
    listed
}
