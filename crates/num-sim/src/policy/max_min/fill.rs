//! Levels by water-filling. All flows rise at one common rate, from 0 on. A link fills when that rate reaches the
//! link's level; its flows are then cut off: they keep that rate. A flow is also cut off at its cap. The fill ends when
//! no flow rises.
//!
//! A link's level, computed from the flows that rise on it, only increases while other flows are cut off. So the link
//! with the lowest computed level is visited first: either its level has increased and it is queued again, or it is the
//! next link to fill.
//!
//! A change leaves all levels below the lowest level that it moves. So a fill continues the last one: flows that were
//! cut off at that level or above rise again, their links regain the capacity, and the common rate starts from there.
//! Where many flows are active, every end of a flow moves many levels, but only those above its rate.
//!
//! ```text
//! left_l = c_l − Σ_f a_fl x_f over the flows that are cut off      level_l = left_l / Σ_f a_fl over those that rise
//! ```
//!
//! `left` is kept up by adding and subtracting; every [`AFRESH`] fills it is computed anew.
//!
//! Such a fill tries the order in which links filled last time, and compares the next [`WINDOW`] links of it. If each
//! level is at least the one before, and no link is over its capacity at the end, then every flow is cut off by a full
//! link on which no other is faster, and rates are max-min; otherwise the fill begins from 0.
//!
//! The water-fills of netnum-core always begin from 0, for weights over hundreds of decades in twice the precision of a
//! float. This one has to be fast for one event after another and for flows that spread over links by shares.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use netnum_core::internal::interrupt::Pacer;

use super::flow_levels::NONE;
use super::hops::Hop;
use super::levels::Levels;
use super::links::{Crossing, Link};
use crate::error::Result;

/// Fills that continue another one, before the next one from 0.
const AFRESH: u32 = 64;

/// The part of a link's shares below which those that are left are added up again.
const LOST: f64 = 1e-3;

/// One of so many flows must have been cut off for all to be read.
const MANY: usize = 8;

/// The number of links, of those that come next, that are compared.
const WINDOW: usize = 32;

/// The fraction of a link's capacity that may be missing: that is rounding.
const OVER: f64 = 1e-13;

/// The place of a flow that is not cut off.
const RISES: u32 = u32::MAX;

/// The capacity of a link that is left, and the flows that rise on it.
#[derive(Debug, Clone, Copy)]
struct Left {
    capacity: f64,
    shares: f64,
    flows: usize,
    /// Shares that are less than this are the rounding of others.
    lost: f64,
}

impl Left {
    fn of(link: &Link) -> Self {
        let flows = link.through.len();
        // Whole shares add up to their number.
        let shares = match link.spread {
            0 => flows as f64,
            _ => link.through.iter().map(|crossing| crossing.share).sum(),
        };
        Self { capacity: link.capacity, shares, flows, lost: LOST * shares }
    }

    /// A flow that rises is cut off at a rate, or leaves.
    fn remove(&mut self, share: f64, rate: f64) {
        self.capacity -= share * rate;
        self.shares -= share;
        self.flows -= 1;
    }

    /// A flow rises again from that rate, or arrives.
    fn add(&mut self, share: f64, rate: f64) {
        self.capacity += share * rate;
        self.shares += share;
        self.flows += 1;
    }

    /// Adds up the shares of the flows that rise, where what is kept of them may be lost in that of others.
    fn add_up(&mut self, link: &Link, places: &[u32]) {
        self.lost = f64::max(self.lost, LOST * self.shares);
        if self.shares < self.lost && self.flows > 0 {
            let rises = |crossing: &&Crossing| places[crossing.slot as usize] == RISES;
            self.shares = link.through.iter().filter(rises).map(|crossing| crossing.share).sum();
            self.lost = LOST * self.shares;
        }
    }

    /// Whether it is full below some level, by more than rounding.
    fn is_over(&self, level: f64, capacity: f64) -> bool {
        let demand = if self.flows == 0 { 0.0 } else { self.shares * level };
        self.capacity < demand - OVER * capacity
    }

    /// The level at which it fills, at least the present one; ∞ if no flow is left to fill it.
    fn level(&self, common_rate: f64) -> f64 {
        if self.flows == 0 { f64::INFINITY } else { f64::max(common_rate, self.capacity / self.shares) }
    }
}

/// A flow that has been cut off, and where.
#[derive(Debug, Clone, Copy)]
struct Cut {
    slot: u32,
    /// By which link; [`NONE`] for its cap.
    link: u32,
    rate: f64,
}

/// The state after the last fill, and the changes since.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// Whether levels are those of the last fill.
    holds: bool,
    /// How many fills there have been since the last one from 0.
    times: u32,
    left: Vec<Left>,
    /// Flows in the order in which they were cut off. A place that is no longer its flow's is empty.
    cut: Vec<Cut>,
    /// By slot.
    places: Vec<u32>,
    /// Slots of flows that have risen again since, or arrived.
    risen: Vec<u32>,
    /// The lowest rate that one of them has or had, or may have because of its cap.
    from: f64,
    /// All links, in the order in which they filled.
    order: Vec<u32>,
    /// Room for a list of flows.
    room: Vec<u32>,
}

/// An ordered key for numbers >= 0 that are not NaN: their bits.
fn key(level: f64) -> Reverse<u64> {
    Reverse(level.to_bits())
}

impl Filled {
    /// A flow has arrived.
    #[inline]
    pub(super) fn insert(&mut self, slot: u32, cap: f64, hops: &[Hop]) {
        if !self.holds {
            return;
        }
        if self.places.len() <= slot as usize {
            self.places.resize(slot as usize + 1, RISES);
        }
        self.places[slot as usize] = RISES;
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
        let place = std::mem::replace(&mut self.places[slot as usize], RISES);
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
fn list(listed: &mut Vec<u32>, slots: impl ExactSizeIterator<Item = u32>, is_so: impl Fn(u32) -> bool) -> &[u32] {
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
fn cut_off_from<'a>(first: usize, cut: &[Cut], places: &[u32], listed: &'a mut Vec<u32>) -> &'a [u32] {
    if MANY * (cut.len() - first) > places.len() {
        let from = first as u32;
        return list(listed, 0..places.len() as u32, |slot| (from..RISES).contains(&places[slot as usize]));
    }
    listed.clear();
    let valid = cut.iter().enumerate().skip(first).filter(|&(at, cut)| places[cut.slot as usize] as usize == at);
    listed.extend(valid.map(|(_, cut)| cut.slot));
    listed
}

impl Levels {
    /// Computes the levels of all links that are at some level or above, and those that changes of flows and caps move.
    ///
    /// # Errors
    /// [`netnum_core::Error::Stopped`] only, after which the levels are undefined.
    pub(super) fn fill(&mut self, from: f64) -> Result<()> {
        let from = f64::min(from, self.filled.from);
        let goes_on = self.filled.holds && from > 0.0 && self.filled.times < AFRESH;
        self.filled.holds = false;
        self.filled.from = f64::INFINITY;
        let mut first = 0;
        if goes_on {
            self.filled.times += 1;
            self.resume_from(from);
            first = self.filled.cut.len();
        }
        if !goes_on || !self.fill_in_order(from)? {
            self.filled.times = 0;
            self.start_filling();
            first = 0;
            self.fill_from_zero()?;
        }
        self.set_rates_from(first);
        // Flows that no link of theirs cuts off would do the same without it.
        self.links.iter_mut().zip(&self.filled.left).for_each(|(link, left)| link.spare = left.capacity);
        self.filled.risen.clear();
        self.filled.holds = true;
        Ok(())
    }

    /// All flows rise, from 0.
    fn start_filling(&mut self) {
        let Filled { left, cut, places, risen, .. } = &mut self.filled;
        left.clear();
        left.extend(self.links.iter().map(Left::of));
        cut.clear();
        places.clear();
        places.resize(self.members.len(), RISES);
        risen.clear();
        risen.extend((0..places.len() as u32).filter(|&slot| !self.hops.of(slot).is_empty()));
    }

    /// Flows that were cut off at some level or above rise again.
    fn resume_from(&mut self, from: f64) {
        let Self { hops, filled: Filled { left, cut, places, risen, room, .. }, .. } = self;
        let left = left.as_mut_slice();
        let first = cut.partition_point(|cut| cut.rate < from);
        for &slot in cut_off_from(first, cut, places, room) {
            let place = std::mem::replace(&mut places[slot as usize], RISES);
            let rate = cut[place as usize].rate;
            risen.push(slot);
            for &Hop { link, share, .. } in hops.of(slot) {
                left[link as usize].add(share, rate);
            }
        }
        cut.truncate(first);
    }

    /// Sets the rates of flows that have been cut off.
    fn set_rates_from(&mut self, first: usize) {
        let Self { members, listed, filled: Filled { cut, places, room, .. }, .. } = self;
        for &slot in cut_off_from(first, cut, places, room) {
            let Cut { link, rate, .. } = cut[places[slot as usize] as usize];
            members[slot as usize].cut_off(slot, rate, link, listed);
        }
    }

    /// The common rate rises from 0 until all flows are cut off.
    fn fill_from_zero(&mut self) -> Result<()> {
        self.sort_caps();
        self.levels.fill(f64::INFINITY);
        let Filled { left, order, .. } = &mut self.filled;
        order.clear();
        order.extend((0..left.len() as u32).filter(|&link| left[link as usize].flows == 0));
        let mut filled = Vec::with_capacity(left.len());
        let entry = |(link, left): (u32, &Left)| (left.flows > 0).then(|| (key(left.level(0.0)), link));
        let mut heap: BinaryHeap<(Reverse<u64>, u32)> = (0..).zip(&*left).filter_map(entry).collect();
        let (mut common_rate, mut pacer) = (0.0, Pacer::new());
        while let Some(mut first) = heap.peek_mut() {
            let (Reverse(bits), link) = *first;
            let bound = f64::from_bits(bits);
            if let Some(slot) = self.next_capped(bound) {
                common_rate = f64::max(common_rate, self.members[slot as usize].cap);
                self.cut_capped(slot);
                continue;
            }
            let left = self.left_of(link);
            let level = left.level(common_rate);
            if level > bound && level < f64::INFINITY {
                first.0 = key(level);
                continue;
            }
            PeekMut::pop(first);
            filled.push(link);
            if level < f64::INFINITY {
                common_rate = level;
                pacer.did(self.links[link as usize].through.len())?;
                self.cut_off_at(link, level);
            }
        }
        self.filled.order.splice(0..0, filled);
        Ok(())
    }

    /// The same from a level on, in about the order in which links filled last time: of some that come next the lowest
    /// is the next to fill. Whether no other one should have filled before.
    fn fill_in_order(&mut self, from: f64) -> Result<bool> {
        self.sort_caps();
        let mut order = std::mem::take(&mut self.filled.order);
        let below = order.iter().position(|&link| self.levels[link as usize] >= from).unwrap_or(order.len());
        self.levels.iter_mut().filter(|level| **level >= from).for_each(|level| *level = f64::INFINITY);
        let done = self.fill_links_in_order(&mut order[below..], from);
        self.filled.order = order;
        done
    }

    /// The same over links in the order that is tried, which becomes that in which they fill.
    fn fill_links_in_order(&mut self, ahead: &mut [u32], mut common_rate: f64) -> Result<bool> {
        let (mut at, mut pacer) = (0, Pacer::new());
        pacer.did(ahead.len())?;
        loop {
            let (mut lowest, mut first, mut compared, mut place) = (f64::INFINITY, at, 0, at);
            while place < ahead.len() && compared < WINDOW {
                let link = ahead[place];
                let left = self.left_of(link);
                if left.flows > 0 {
                    let level = left.capacity / left.shares;
                    (lowest, first) = if level < lowest { (level, place) } else { (lowest, first) };
                    compared += 1;
                } else if left.is_over(0.0, self.links[link as usize].capacity) {
                    return Ok(false);
                } else {
                    ahead[at..=place].rotate_right(1);
                    (first, at) = (first + 1, at + 1);
                }
                place += 1;
            }
            if let Some(slot) = self.next_capped(f64::max(lowest, common_rate)) {
                common_rate = f64::max(common_rate, self.members[slot as usize].cap);
                self.cut_capped(slot);
                continue;
            }
            if lowest == f64::INFINITY {
                return Ok(true);
            }
            let link = ahead[first];
            if self.filled.left[link as usize].is_over(common_rate, self.links[link as usize].capacity) {
                return Ok(false);
            }
            ahead[at..=first].rotate_right(1);
            at += 1;
            common_rate = f64::max(common_rate, lowest);
            pacer.did(self.links[link as usize].through.len())?;
            self.cut_off_at(link, common_rate);
        }
    }

    /// Lists the flows that rise and have a cap, the lowest cap last. Of those that arrived some may have left.
    fn sort_caps(&mut self) {
        let Self { members, hops, filled: Filled { risen, .. }, .. } = self;
        let cap = |slot: u32| members[slot as usize].cap;
        risen.retain(|&slot| cap(slot) < f64::INFINITY && !hops.of(slot).is_empty());
        risen.sort_unstable_by(|&one, &other| cap(other).total_cmp(&cap(one)));
    }

    /// The flow with the lowest cap of those listed, if that is at most some level.
    #[inline]
    fn next_capped(&mut self, level: f64) -> Option<u32> {
        let Self { members, filled: Filled { risen, .. }, .. } = self;
        risen.pop_if(|slot| members[*slot as usize].cap <= level)
    }

    /// The remaining capacity and flows of a link.
    #[inline]
    fn left_of(&mut self, link: u32) -> Left {
        let Filled { left, places, .. } = &mut self.filled;
        let left = &mut left[link as usize];
        left.add_up(&self.links[link as usize], places);
        *left
    }

    /// Cuts off a flow at its cap, if it still rises.
    fn cut_capped(&mut self, slot: u32) {
        let Self { members, hops, filled: Filled { left, cut, places, .. }, .. } = self;
        let cap = members[slot as usize].cap;
        if places[slot as usize] == RISES {
            places[slot as usize] = cut.len() as u32;
            cut.push(Cut { slot, link: NONE, rate: cap });
            for &Hop { link, share, .. } in hops.of(slot) {
                left[link as usize].remove(share, cap);
            }
        }
    }

    /// Cuts off the flows of a link that still rise.
    fn cut_off_at(&mut self, link: u32, level: f64) {
        let Self { links, levels, hops, filled: Filled { left, cut, places, room, .. }, .. } = self;
        let (left, places) = (left.as_mut_slice(), places.as_mut_slice());
        let through = links[link as usize].through.as_slice();
        levels[link as usize] = level;
        let through = through.iter().map(|crossing| crossing.slot);
        for &slot in list(room, through, |slot| places[slot as usize] == RISES) {
            places[slot as usize] = cut.len() as u32;
            cut.push(Cut { slot, link, rate: level });
            for &Hop { link, share, .. } in hops.of(slot) {
                left[link as usize].remove(share, level);
            }
        }
    }
}
