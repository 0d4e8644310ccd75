//! Levels by water-filling: the level of a link at which its flows would fill it, if those that lower links cut off stay
//! where they are, only rises while flows are cut off. So the lowest such level is looked at first, and is either higher
//! by now and put back, or that of the next link to fill.
//!
//! What happens below the lowest level that a change moves stays as it was. So a fill goes on from the last one: the
//! flows that this one cut off at that level or above rise again, their rates are given back to their links, and the
//! water rises from there. In a crowd every end moves the levels of many links, but only those above its own.
//!
//! ```text
//! left_l = c_l − Σ_f a_fl x_f over the flows that are cut off      level_l = left_l / Σ_f a_fl over those that rise
//! ```
//!
//! `left` is kept up by adding and subtracting; every [`AFRESH`] fills it is computed from nothing again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use netnum_core::interrupt::Pacer;

use super::hops::Hop;
use super::levels::{Crossing, Levels, Link};
use crate::error::Result;

/// Fills that go on from one from the start, before the next such one.
const AFRESH: u32 = 64;

/// The part of a link's shares below which those that are left are added up again.
const LOST: f64 = 1e-3;

/// The place of a flow that is not cut off.
const RISES: u32 = u32::MAX;

/// What of a link is still to be given away, and to how many.
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

    /// A flow is cut off.
    fn take(&mut self, share: f64, rate: f64) {
        self.capacity -= share * rate;
        self.shares -= share;
        self.flows -= 1;
    }

    /// It rises again.
    fn give(&mut self, share: f64, rate: f64) {
        self.capacity += share * rate;
        self.shares += share;
        self.flows += 1;
        self.lost = f64::max(self.lost, LOST * self.shares);
    }

    /// Adds up the shares of the flows that rise, where what is kept of them may be lost in that of others.
    fn add_up(&mut self, link: &Link, places: &[u32]) {
        if self.shares < self.lost && self.flows > 0 {
            let rises = |crossing: &&Crossing| places[crossing.slot as usize] == RISES;
            self.shares = link.through.iter().filter(rises).map(|crossing| crossing.share).sum();
            self.lost = LOST * self.shares;
        }
    }

    /// The level at which it fills, at least the present one; ∞ if no flow is left to fill it.
    fn level(&self, water: f64) -> f64 {
        if self.flows == 0 { f64::INFINITY } else { f64::max(water, self.capacity / self.shares) }
    }
}

/// A flow that has been cut off, and where.
#[derive(Debug, Clone, Copy)]
struct Cut {
    slot: u32,
    rate: f64,
}

/// What the last fill has left behind, and the changes since.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// Whether levels are those of the last fill.
    holds: bool,
    /// How many fills have gone on from the last one from the start.
    times: u32,
    left: Vec<Left>,
    /// Flows in the order in which they were cut off. A place that its flow does not know any more is empty.
    cut: Vec<Cut>,
    /// By slot.
    places: Vec<u32>,
    /// Slots of flows that have risen again since, or arrived.
    risen: Vec<u32>,
    /// The lowest rate that one of them has or had, or may have because of its cap.
    from: f64,
    /// Room for links by the levels at which they would fill, and for the flows that rise on the one that does.
    next: Vec<(Reverse<u64>, usize)>,
    rising: Vec<u32>,
}

/// Numbers that are not NaN, in order: those of bits for what is not negative.
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
            self.left[link as usize].give(share, 0.0);
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
                self.left[link as usize].take(share, 0.0);
            }
        }
    }

    /// A flow has another cap than before, `lowest` being the lower one.
    #[inline]
    pub(super) fn recap(&mut self, slot: u32, lowest: f64, hops: &[Hop]) {
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

    /// What is left of a link that cuts off nothing, if that is known.
    pub(super) fn left(&self, link: u32) -> Option<f64> {
        self.holds.then(|| self.left[link as usize].capacity)
    }

    /// Levels have moved otherwise.
    pub(super) fn forget(&mut self) {
        self.holds = false;
    }

    /// A flow that was cut off rises again.
    fn rise(&mut self, slot: u32, hops: &[Hop]) {
        let place = std::mem::replace(&mut self.places[slot as usize], RISES);
        if let Some(&Cut { rate, .. }) = self.cut.get(place as usize) {
            self.from = f64::min(self.from, rate);
            for &Hop { link, share, .. } in hops {
                self.left[link as usize].give(share, rate);
            }
        }
    }
}

impl Levels {
    /// Computes the levels of all links that are at some level or above, and those that changes of flows and caps move.
    ///
    /// # Errors
    /// [`netnum_core::Error::Stopped`] only, after which nothing holds of the levels.
    pub(super) fn fill(&mut self, from: f64) -> Result<()> {
        let from = f64::min(from, self.filled.from);
        let goes_on = self.filled.holds && from > 0.0 && self.filled.times < AFRESH;
        self.filled.holds = false;
        self.filled.from = f64::INFINITY;
        let water = if goes_on { from } else { 0.0 };
        match goes_on {
            true => self.give_back(from),
            false => self.start_filling(),
        }
        let filled = &mut self.filled;
        filled.times = if goes_on { filled.times + 1 } else { 0 };
        // Of those that arrived some may have left.
        let is_capped = |&slot: &u32| self.members[slot as usize].cap < f64::INFINITY && !self.hops.of(slot).is_empty();
        filled.risen.retain(is_capped);
        let cap = |slot: u32| self.members[slot as usize].cap;
        filled.risen.sort_unstable_by(|&one, &other| cap(other).total_cmp(&cap(one)));
        self.pour(water)?;
        // Flows that no link of theirs cuts off would do the same without it.
        self.links.iter_mut().zip(&self.filled.left).for_each(|(link, left)| link.spare = left.capacity);
        self.filled.holds = true;
        Ok(())
    }

    /// All flows rise, from nothing.
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
    fn give_back(&mut self, from: f64) {
        let Filled { left, cut, places, risen, .. } = &mut self.filled;
        let (left, places) = (left.as_mut_slice(), places.as_mut_slice());
        let first = cut.partition_point(|cut| cut.rate < from);
        for (place, &Cut { slot, rate }) in (first as u32..).zip(&cut[first..]) {
            if places[slot as usize] == place {
                places[slot as usize] = RISES;
                risen.push(slot);
                for &Hop { link, share, .. } in self.hops.of(slot) {
                    left[link as usize].give(share, rate);
                }
            }
        }
        cut.truncate(first);
    }

    /// The water rises from a level on, until all flows are cut off.
    fn pour(&mut self, mut water: f64) -> Result<()> {
        let Self { links, levels, members, hops, filled, listed, .. } = self;
        let Filled { left, cut, places, risen: capped, rising, next, .. } = filled;
        let (left, places, members) = (left.as_mut_slice(), places.as_mut_slice(), members.as_mut_slice());
        let mut pacer = Pacer::new();
        pacer.did(links.len())?;
        levels.iter_mut().filter(|level| **level >= water).for_each(|level| *level = f64::INFINITY);
        next.clear();
        links.iter().zip(&mut *left).for_each(|(link, left)| left.add_up(link, places));
        let entry = |(link, left): (usize, &Left)| (left.flows > 0).then(|| (key(left.level(water)), link));
        next.extend(left.iter().enumerate().filter_map(entry));
        let mut heap = BinaryHeap::from(std::mem::take(next));
        while let Some(mut first) = heap.peek_mut() {
            let (Reverse(bits), link) = *first;
            let bound = f64::from_bits(bits);
            if let Some(&slot) = capped.last().filter(|&&slot| members[slot as usize].cap <= bound) {
                capped.pop();
                let member = &mut members[slot as usize];
                if places[slot as usize] == RISES {
                    water = f64::max(water, member.cap);
                    places[slot as usize] = cut.len() as u32;
                    cut.push(Cut { slot, rate: member.cap });
                    for &Hop { link, share, .. } in hops.of(slot) {
                        left[link as usize].take(share, member.cap);
                    }
                    member.cut_off(slot, member.cap, None, listed);
                }
                continue;
            }
            left[link].add_up(&links[link], places);
            let level = left[link].level(water);
            if level > bound && level < f64::INFINITY {
                first.0 = key(level);
                continue;
            }
            PeekMut::pop(first);
            if level == f64::INFINITY {
                continue;
            }
            water = level;
            levels[link] = level;
            pacer.did(links[link].through.len())?;
            // Without a branch: which flows rise cannot be predicted.
            rising.clear();
            rising.resize(links[link].through.len(), 0);
            let mut count = 0;
            for crossing in &links[link].through {
                rising[count] = crossing.slot;
                count += usize::from(places[crossing.slot as usize] == RISES);
            }
            for &slot in &rising[..count] {
                places[slot as usize] = cut.len() as u32;
                cut.push(Cut { slot, rate: level });
                for &Hop { link, share, .. } in hops.of(slot) {
                    left[link as usize].take(share, level);
                }
                members[slot as usize].cut_off(slot, level, Some(link), listed);
            }
        }
        *next = heap.into_vec();
        Ok(())
    }
}
