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

use super::filled::{Cut, Filled, Left, cut_off_from, list};
use super::hops::Hop;
use super::link_levels::LinkLevels;
use crate::error::Result;
use crate::numbers::NONE;

/// Fills that continue another one, before the next one from 0.
const AFRESH: u32 = 64;

/// The number of links, of those that come next, that are compared.
const WINDOW: usize = 32;

/// An ordered key for numbers >= 0 that are not NaN: their bits.
fn key(level: f64) -> Reverse<u64> {
    Reverse(level.to_bits())
}

impl LinkLevels {
    /// Computes the levels of all links that are at some level or above, and those that changes of flows and caps move.
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
        places.resize(self.members.len(), NONE);
        risen.clear();
        risen.extend((0..places.len() as u32).filter(|&slot| !self.hops.of(slot).is_empty()));
    }

    /// Flows that were cut off at some level or above rise again.
    fn resume_from(&mut self, from: f64) {
        let Self { hops, filled: Filled { left, cut, places, risen, room, .. }, .. } = self;
        let left = left.as_mut_slice();
        let first = cut.partition_point(|cut| cut.rate < from);
        for &slot in cut_off_from(first, cut, places, room) {
            let place = std::mem::replace(&mut places[slot as usize], NONE);
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

    /// The common rate rises from a level on, in about the order in which links filled last time: of some that come
    /// next the lowest is the next to fill. Whether no other one should have filled before.
    fn fill_in_order(&mut self, from: f64) -> Result<bool> {
        self.sort_caps();
        let mut order = std::mem::take(&mut self.filled.order);
        let below = order.iter().position(|&link| self.levels[link as usize] >= from).unwrap_or(order.len());
        self.levels.iter_mut().filter(|level| **level >= from).for_each(|level| *level = f64::INFINITY);
        let done = self.fill_links_in_order(&mut order[below..], from);
        self.filled.order = order;
        done
    }

    /// Fills links in the order that is tried, which becomes that in which they fill. Whether that is right.
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
        if places[slot as usize] == NONE {
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
        for &slot in list(room, through, |slot| places[slot as usize] == NONE) {
            places[slot as usize] = cut.len() as u32;
            cut.push(Cut { slot, link, rate: level });
            for &Hop { link, share, .. } in hops.of(slot) {
                left[link as usize].remove(share, level);
            }
        }
    }
}
