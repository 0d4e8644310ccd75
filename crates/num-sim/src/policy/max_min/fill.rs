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

use netnum_core::interrupt::Pacer;

use super::levels::{Levels, Link, Member};
use super::lowest::Lowest;
use crate::error::Result;

/// Fills that go on from one from the start, before the next such one.
const AFRESH: u32 = 64;

/// The place of a flow that is not cut off.
const RISES: u32 = u32::MAX;

/// What of a link is still to be given away, and to how many.
#[derive(Debug, Clone, Copy)]
struct Left {
    capacity: f64,
    shares: f64,
    flows: usize,
}

impl Left {
    fn of(link: &Link) -> Self {
        let flows = link.through.len();
        // Whole shares add up to their number.
        let shares = match link.spread {
            0 => flows as f64,
            _ => link.through.iter().map(|crossing| crossing.share).sum(),
        };
        Self { capacity: link.capacity, shares, flows }
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
    /// The level at which every link would fill *(while filling)*.
    next: Lowest,
}

impl Filled {
    /// A flow has arrived.
    #[inline]
    pub(super) fn insert(&mut self, slot: u32, member: &Member) {
        if !self.holds {
            return;
        }
        if self.places.len() <= slot as usize {
            self.places.resize(slot as usize + 1, RISES);
        }
        self.places[slot as usize] = RISES;
        for (link, share) in member.crossed() {
            self.left[link].give(share, 0.0);
        }
        self.risen.push(slot);
        self.from = f64::min(self.from, member.cap);
    }

    /// A flow has left.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32, member: &Member) {
        if self.holds {
            self.rise(slot, member);
            for (link, share) in member.crossed() {
                self.left[link].take(share, 0.0);
            }
        }
    }

    /// A flow has another cap than before.
    #[inline]
    pub(super) fn recap(&mut self, slot: u32, before: f64, member: &Member) {
        if self.holds {
            self.rise(slot, member);
            self.risen.push(slot);
            self.from = self.from.min(before).min(member.cap);
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
    fn rise(&mut self, slot: u32, member: &Member) {
        let place = std::mem::replace(&mut self.places[slot as usize], RISES);
        if let Some(&Cut { rate, .. }) = self.cut.get(place as usize) {
            self.from = f64::min(self.from, rate);
            for (link, share) in member.crossed() {
                self.left[link].give(share, rate);
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
        let Self { links, levels, members, filled, listed, .. } = self;
        let from = f64::min(from, filled.from);
        let goes_on = filled.holds && from > 0.0 && filled.times < AFRESH;
        let Filled { holds, times, left, cut, places, risen, from: risen_from, next } = filled;
        *holds = false;
        *risen_from = f64::INFINITY;
        let mut pacer = Pacer::new();
        pacer.did(links.len())?;
        let mut water = 0.0;
        if goes_on {
            *times += 1;
            water = from;
            let first = cut.partition_point(|cut| cut.rate < from);
            for (place, &Cut { slot, rate }) in (0..).zip(&*cut).skip(first) {
                if places[slot as usize] == place {
                    places[slot as usize] = RISES;
                    risen.push(slot);
                    for (link, share) in members[slot as usize].crossed() {
                        left[link].give(share, rate);
                    }
                }
            }
            cut.truncate(first);
            pacer.did(risen.len())?;
        } else {
            *times = 0;
            left.clear();
            left.extend(links.iter().map(Left::of));
            cut.clear();
            places.clear();
            places.resize(members.len(), RISES);
            risen.clear();
            risen.extend((0..members.len() as u32).filter(|&slot| !members[slot as usize].hops.is_empty()));
        }
        levels.iter_mut().filter(|level| **level >= water).for_each(|level| *level = f64::INFINITY);
        // Of those that arrived some may have left.
        risen.retain(|&slot| members[slot as usize].cap < f64::INFINITY && !members[slot as usize].hops.is_empty());
        let capped = risen;
        capped.sort_unstable_by(|&one, &other| members[other as usize].cap.total_cmp(&members[one as usize].cap));
        next.start(left.iter().map(|left| left.level(0.0)));
        while let Some((link, bound)) = next.first() {
            if let Some(&slot) = capped.last().filter(|&&slot| members[slot as usize].cap <= bound) {
                capped.pop();
                let member = &mut members[slot as usize];
                if places[slot as usize] == RISES {
                    water = f64::max(water, member.cap);
                    places[slot as usize] = cut.len() as u32;
                    cut.push(Cut { slot, rate: member.cap });
                    for (link, share) in member.crossed() {
                        left[link].take(share, member.cap);
                    }
                    member.cut_off(slot, member.cap, None, listed);
                }
                continue;
            }
            let level = left[link].level(water);
            if level > bound {
                next.set(link, level);
                continue;
            }
            next.set(link, f64::INFINITY);
            water = level;
            levels[link] = level;
            pacer.did(links[link].through.len())?;
            for crossing in &links[link].through {
                let slot = crossing.slot;
                if places[slot as usize] != RISES {
                    continue;
                }
                places[slot as usize] = cut.len() as u32;
                cut.push(Cut { slot, rate: level });
                let member = &mut members[slot as usize];
                for (link, share) in member.crossed() {
                    left[link].take(share, level);
                }
                member.cut_off(slot, level, Some(link), listed);
            }
        }
        capped.clear();
        // Flows that no link of theirs cuts off would do the same without it.
        links.iter_mut().zip(&*left).for_each(|(link, left)| link.spare = left.capacity);
        *holds = true;
        Ok(())
    }
}
