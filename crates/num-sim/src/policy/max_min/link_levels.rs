//! Max-min rates under changes: the level of every link, and which levels a change moves.
//!
//! Link l carries its flows f with shares a_fl (1 unless a flow spreads). Its level λ_l is the rate at which it cuts
//! its flows off, and a flow gets the lowest level on its route, or its cap if that is lower:
//!
//! ```text
//! m_fl = min(cap_f, min over the other links k of f of λ_k)        the rate of f without l
//! λ_l  solves  Σ_f a_fl min(λ_l, m_fl) = c_l;  ∞ if the m_fl fit   (1)
//! x_f  = min(cap_f, min_l λ_l)
//! ```
//!
//! Levels that satisfy (1) on every link give the max-min rates, and there are no others: the lowest level among them
//! is c_l / Σ a_fl of the tightest link, because nothing cuts its flows off before; remove it with its flows, and so
//! on. So the rates are right once (1) holds everywhere, whatever the order in which links are computed.
//!
//! A link depends on another one only below its level: if λ_k moves from u to v, (1) of l changes only for m_fl,
//! and only if min(u, v) < λ_l. So links are computed in the order of the lowest level at which they may move, as in
//! Dijkstra's algorithm, and most are computed once:
//!
//! ```text
//! some m_fl has fallen from u to v   λ_l can only rise:  from λ_l on
//! some m_fl has risen from u to v    λ_l can only fall:  not below u
//! ```
//!
//! That is a bound; when a link comes first its level is computed, and if that moves at a higher level than where the
//! next link may, it waits again.
//!
//! Each flow keeps its two lowest levels, from which m_fl follows for every l. An event costs O(links that move · flows
//! on them · hops), some tens of flows; a full [fill](super::fill) costs O(links + all crossings), and replaces the
//! moves after [`MOST_MOVES`] of them, or with many flows as soon as those have cost 1/[`FILL_PART`] of it; the next
//! few events then begin with a fill, or [sweeps](super::bottlenecks) do the rest, where flows may share paces.

use netnum_core::internal::interrupt::Pacer;

use super::bottlenecks::Bottlenecks;
use super::filled::Filled;
use super::flow_levels::FlowLevels;
use super::hops::{Hop, Hops};
use super::links::{Crossing, SharedLink, Waiting};
use crate::error::Result;
use crate::network::Route;
use crate::numbers::{LAST_DIGITS, NONE};

/// With few flows, a fill is faster than more moves than these, and than those of more links that wait.
const MOST_MOVES: usize = 60;
/// From this many crossings of flows and links on, what moves cost is counted instead.
const MANY_CROSSINGS: usize = 4000;
/// A crowd is over when one in so many of those is left.
const FEWER: usize = 2;
/// The fraction of a fill, in links and crossings that are read, after which a fill is faster: one in this many.
const FILL_PART: usize = 4;
/// To compare so many links that wait costs as much as to read a crossing.
const COMPARED: usize = 16;
/// Events at most that begin with a fill since moves have cost too much.
const MOST_FILLS: u32 = 32;

/// Max-min rates of flows that arrive and end.
#[derive(Debug, Default)]
pub(super) struct LinkLevels {
    pub(super) links: Vec<SharedLink>,
    /// λ by link, ∞ for one that limits no flow. Apart from the rest, since they are read most: they stay in cache.
    pub(super) levels: Vec<f64>,
    pub(super) members: Vec<FlowLevels>,
    /// By slot, the rate of its flow at the last call of [`changes`](Self::changes).
    pub(super) reported: Vec<f64>,
    pub(super) hops: Hops,
    waiting: Vec<Waiting>,
    /// The flows whose rate may have changed.
    pub(super) listed: Vec<u32>,
    /// The last fill, from which the next one goes on.
    pub(super) filled: Filled,
    /// Whether the second lowest levels of flows are missing, as after a fill.
    pub(super) without_seconds: bool,
    /// With many flows per link, in place of moves and fills.
    pub(super) bottlenecks: Bottlenecks,
    /// Whether flows may share paces, as those that one link limits do.
    pub(super) may_share: bool,
    /// Whether to fill at every event.
    always_fill: bool,
    /// Whether few flows are taken for a crowd.
    pub(super) is_crowd: bool,
    /// Flows on links.
    crossings: usize,
    /// How many events are to begin with a fill, and how many did when moves last cost too much.
    fills_left: u32,
    fills: u32,
}

impl LinkLevels {
    pub(super) fn full() -> Self {
        Self { always_fill: true, ..Self::default() }
    }

    pub(super) fn crowded() -> Self {
        Self { is_crowd: true, ..Self::default() }
    }

    pub(super) fn reset(&mut self, capacities: &[f64]) {
        let link = |&capacity: &f64| SharedLink {
            capacity,
            spare: capacity,
            through: Vec::new(),
            spread: 0,
            waits_at: NONE,
            next: f64::NAN,
        };
        *self = Self {
            links: capacities.iter().map(link).collect(),
            levels: vec![f64::INFINITY; capacities.len()],
            always_fill: self.always_fill,
            is_crowd: self.is_crowd,
            ..Self::default()
        };
    }

    /// A flow whose shares are those of its route, times its weight. One that has a rate already takes another route.
    pub(super) fn insert(&mut self, slot: u32, route: &Route, weight: f64, cap: f64, rate: f64) {
        let Self { links, levels, members, reported, hops, waiting, listed, crossings, filled, .. } = self;
        if members.len() <= slot as usize {
            members.resize_with(slot as usize + 1, FlowLevels::default);
            reported.resize(slot as usize + 1, f64::NAN);
        }
        let member = &mut members[slot as usize];
        let route = route.iter().enumerate().map(|(hop, (link, share))| {
            let (crossed, share) = (&mut links[link as usize], weight * share);
            let place = crossed.through.len() as u32;
            crossed.through.push(Crossing { slot, hop: hop as u32, share });
            crossed.spread += u32::from(share != 1.0);
            Hop { link, place, share }
        });
        hops.set(slot, route);
        let hops = hops.of(slot);
        *crossings += hops.len();
        (member.cap, reported[slot as usize]) = (cap, rate);
        member.find_lowest(hops, levels);
        member.list(slot, listed);
        if self.bottlenecks.known {
            return self.stand_first(slot);
        }
        filled.insert(slot, member.cap, hops);
        for &Hop { link, share, .. } in hops {
            let demand = share * member.without(link);
            let asked_of = &mut links[link as usize];
            if !asked_of.still_spare(levels[link as usize], demand) {
                let from = asked_of.lowest_level();
                asked_of.wait(link, from, waiting);
            }
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.filled.remove(slot, self.hops.of(slot));
        for hop in 0..self.hops.of(slot).len() {
            let Hop { link, place, share } = self.hops.of(slot)[hop];
            let demand = share * self.members[slot as usize].without(link);
            let left = &mut self.links[link as usize];
            left.spread -= u32::from(share != 1.0);
            let through = &mut left.through;
            through.swap_remove(place as usize);
            if let Some(moved) = through.get(place as usize) {
                self.hops.of_mut(moved.slot)[moved.hop as usize].place = place;
            }
            let level = self.levels[link as usize];
            if !self.bottlenecks.known && !self.links[link as usize].still_spare(level, -demand) {
                self.wait(link, level);
            }
        }
        if self.bottlenecks.known {
            self.stand_nowhere(slot);
        }
        self.crossings -= self.hops.of(slot).len();
        self.hops.clear(slot);
    }

    pub(super) fn set_cap(&mut self, slot: u32, cap: f64) {
        let member = &mut self.members[slot as usize];
        if self.without_seconds {
            member.find_lowest(self.hops.of(slot), &self.levels);
        }
        let (before, old) = (member.cap, member.lows());
        member.cap = cap;
        member.find_lowest(self.hops.of(slot), &self.levels);
        self.filled.cap_changed(slot, f64::min(before, cap), self.hops.of(slot));
        self.notify_links(slot, old);
    }

    /// A flow has another weight, by which the shares of its route are multiplied, and another cap. Levels are
    /// undefined until all are [filled](Self::fill_all).
    pub(super) fn set_weight(&mut self, slot: u32, route: &Route, weight: f64, cap: f64) {
        for (hop, coefficient) in self.hops.of_mut(slot).iter_mut().zip(route.coefficients()) {
            let share = weight * coefficient;
            let link = &mut self.links[hop.link as usize];
            link.spread -= u32::from(hop.share != 1.0);
            link.spread += u32::from(share != 1.0);
            link.through[hop.place as usize].share = share;
            hop.share = share;
        }
        let member = &mut self.members[slot as usize];
        // Its rate counts as changed, whatever it is.
        (member.cap, member.rate, self.reported[slot as usize]) = (cap, f64::NAN, f64::NAN);
    }

    /// Computes all levels anew.
    pub(super) fn fill_all(&mut self) -> Result<()> {
        self.filled.forget();
        self.refill()
    }

    /// Sets the capacity of a link. Whether it is another one.
    pub(super) fn set_capacity(&mut self, link: u32, capacity: f64) -> bool {
        let level = self.levels[link as usize];
        let changed = &mut self.links[link as usize];
        let less = changed.capacity - capacity;
        if less == 0.0 {
            return false;
        }
        changed.capacity = capacity;
        if self.bottlenecks.known {
            self.level_may_move(link);
            return true;
        }
        self.filled.set_capacity(link, -less);
        if !changed.still_spare(level, less) {
            let from = if less > 0.0 { changed.lowest_level() } else { level };
            self.wait(link, from);
        }
        true
    }

    /// What is left of a link for others.
    pub(super) fn left(&self, link: u32) -> f64 {
        if self.levels[link as usize] < f64::INFINITY {
            return 0.0;
        }
        if self.bottlenecks.known {
            return self.links[link as usize].spare;
        }
        if let Some(left) = self.filled.left(link) {
            return left;
        }
        let SharedLink { capacity, through, .. } = &self.links[link as usize];
        let rate = |crossing: &Crossing| crossing.share * self.members[crossing.slot as usize].rate;
        capacity - through.iter().map(rate).sum::<f64>()
    }

    /// The links that a flow crosses.
    pub(super) fn links_of(&self, slot: u32) -> impl Iterator<Item = u32> {
        self.hops.of(slot).iter().map(|hop| hop.link)
    }

    pub(super) fn member(&self, slot: u32) -> &FlowLevels {
        &self.members[slot as usize]
    }

    /// Calls with every flow whose rate has changed since the last call, and its route.
    pub(super) fn changes(&mut self, mut call: impl FnMut(u32, &FlowLevels, &[Hop])) -> Result<()> {
        let mut pacer = Pacer::new();
        for slot in self.listed.drain(..) {
            pacer.did(1)?;
            let member = &mut self.members[slot as usize];
            member.listed = false;
            let hops = self.hops.of(slot);
            // Not its negation: the reported rate may be NaN, for none.
            let reported = &mut self.reported[slot as usize];
            let is_same = (member.rate - *reported).abs() <= LAST_DIGITS * *reported;
            if !is_same && !hops.is_empty() {
                *reported = member.rate;
                call(slot, member, hops);
            }
        }
        Ok(())
    }

    /// Moves levels until (1) holds everywhere.
    pub(super) fn update(&mut self) -> Result<()> {
        if self.always_fill {
            return self.fill_all();
        }
        if self.bottlenecks.known {
            return self.sweep();
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        // All of them are to be read, with the flows on them.
        let through = self.waiting.len() * self.crossings / self.links.len();
        if self.fill_is_faster(self.waiting.len(), self.waiting.len() + through) {
            return self.refill();
        }
        if self.fills_left > 0 {
            self.fills_left -= 1;
            return self.refill();
        }
        self.filled.forget();
        self.find_seconds()?;
        let (mut moves, mut read, mut pacer) = (0, 0, Pacer::new());
        while let Some((place, others)) = self.first_waiting() {
            let compared = self.waiting.len() / COMPARED;
            pacer.did(1 + compared)?;
            read += compared;
            // Many links that stay where they are cost what moves cost.
            if self.is_large() && self.fill_is_faster(moves, read) {
                return self.fill_instead();
            }
            let link = self.waiting[place].link;
            let level = self.levels[link as usize];
            if self.links[link as usize].next.is_nan() {
                read += self.links[link as usize].through.len();
                self.links[link as usize].next = self.level(link);
            }
            let next = self.links[link as usize].next;
            if next == level || (next - level).abs() <= LAST_DIGITS * f64::min(next, level) {
                self.forget(place);
            } else if f64::min(next, level) > others {
                self.waiting[place].from = f64::min(next, level);
            } else if self.fill_is_faster(moves + 1, read) {
                return self.fill_instead();
            } else {
                moves += 1;
                read += self.links[link as usize].through.len();
                self.forget(place);
                self.shift(link, next);
            }
        }
        self.fills = 0;
        Ok(())
    }

    /// A fill in place of more moves.
    fn fill_instead(&mut self) -> Result<()> {
        if self.is_large() && self.may_share {
            self.refill()?;
            self.find_bottlenecks();
            return Ok(());
        }
        // With many flows the next events will not be cheaper.
        if self.is_large() {
            self.fills = u32::min(2 * self.fills + 1, MOST_FILLS);
            self.fills_left = self.fills;
        }
        self.refill()
    }

    /// Whether a crowd is over: between the bounds either way is as fast.
    pub(super) fn is_small(&self) -> bool {
        FEWER * self.crossings < MANY_CROSSINGS && !self.is_crowd
    }

    fn is_large(&self) -> bool {
        self.crossings >= MANY_CROSSINGS || self.is_crowd
    }

    /// Whether a fill is faster than so many moves, which read so many crossings.
    pub(super) fn fill_is_faster(&self, moves: usize, read: usize) -> bool {
        if self.is_large() { FILL_PART * read > self.links.len() + self.crossings } else { moves > MOST_MOVES }
    }

    /// Computes all levels that may have moved by a fill.
    fn refill(&mut self) -> Result<()> {
        let mut from = f64::INFINITY;
        for waits in self.waiting.drain(..) {
            self.links[waits.link as usize].waits_at = NONE;
            from = f64::min(from, waits.from);
        }
        self.without_seconds = true;
        self.fill(from)
    }

    /// Finds the second lowest levels of flows, which a fill leaves open.
    pub(super) fn find_seconds(&mut self) -> Result<()> {
        let mut pacer = Pacer::new();
        if std::mem::take(&mut self.without_seconds) {
            for (slot, member) in (0..).zip(&mut self.members) {
                pacer.did(1)?;
                member.find_lowest(self.hops.of(slot), &self.levels);
            }
        }
        Ok(())
    }

    /// The place of the waiting link that may move at the lowest level, and the lowest level at which another one may.
    fn first_waiting(&self) -> Option<(usize, f64)> {
        let (mut first, mut lowest, mut others) = (0, self.waiting.first()?.from, f64::INFINITY);
        for (place, &Waiting { from, .. }) in self.waiting.iter().enumerate().skip(1) {
            // Without branches: which is the lowest cannot be predicted.
            first = if from < lowest { place } else { first };
            let higher = if from < lowest { lowest } else { from };
            lowest = if from < lowest { from } else { lowest };
            others = if higher < others { higher } else { others };
        }
        Some((first, others))
    }

    /// A link may move, at a level `from` or above.
    #[inline]
    fn wait(&mut self, link: u32, from: f64) {
        self.links[link as usize].wait(link, from, &mut self.waiting);
    }

    fn forget(&mut self, place: usize) {
        let gone = self.waiting.swap_remove(place);
        self.links[gone.link as usize].waits_at = NONE;
        if let Some(moved) = self.waiting.get(place) {
            self.links[moved.link as usize].waits_at = place as u32;
        }
    }

    /// Moves a link's level, and lets the links wait whose (1) changes by that.
    fn shift(&mut self, link: u32, level: f64) {
        let moved_from = std::mem::replace(&mut self.levels[link as usize], level);
        let through = std::mem::take(&mut self.links[link as usize].through);
        for crossing in &through {
            let member = &mut self.members[crossing.slot as usize];
            let old = member.lows();
            member.follow(link, moved_from, level, self.hops.of(crossing.slot), &self.levels);
            self.notify_links(crossing.slot, old);
        }
        self.links[link as usize].through = through;
    }

    /// A flow's two lowest levels may have changed: lets those links of its route wait whose (1) changes by that.
    #[inline]
    fn notify_links(&mut self, slot: u32, old: (f64, f64, u32)) {
        let Self { links, levels, members, hops, waiting, listed, .. } = self;
        let member = &mut members[slot as usize];
        let now = member.lows();
        if (now.0, now.2) == (old.0, old.2) {
            // Only (1) of the link with the lowest level may change, and only above that level.
            if let Some(link) = links.get_mut(now.2 as usize) {
                link.next = f64::NAN;
            }
            return;
        }
        if now.0 != old.0 {
            member.list(slot, listed);
        }
        for &Hop { link: other, share, .. } in hops.of(slot) {
            let before = if other == old.2 { old.1 } else { old.0 };
            let after = if other == now.2 { now.1 } else { now.0 };
            if after == before {
                continue;
            }
            let link = &mut links[other as usize];
            // Its next level is no longer valid.
            link.next = f64::NAN;
            let (own_level, lower) = (levels[other as usize], if before < after { before } else { after });
            if (lower >= own_level) | link.still_spare(own_level, share * (after - before)) {
                continue;
            }
            link.wait(other, if after > before { before } else { own_level }, waiting);
        }
    }

    /// The level that solves (1) on one link, by Newton's method: the left side is concave and piecewise linear in the
    /// level, so that every step but the first is upwards, and the last one exact. Stores the spare capacity, if it is
    /// ∞.
    fn level(&mut self, link: u32) -> f64 {
        let Self { links, levels, members, .. } = self;
        let SharedLink { capacity, spare, through, .. } = &mut links[link as usize];
        let (capacity, through) = (*capacity, &*through);
        let mut guess = levels[link as usize];
        let (mut steps, mut has_begun_again) = (0, false);
        loop {
            // The capacity taken by flows cut off elsewhere, and the shares of those cut off here; the highest level of
            // the former, and the lowest level elsewhere of the latter.
            let (mut taken, mut shares) = (0.0, 0.0);
            let (mut below, mut above) = (0.0, f64::INFINITY);
            for crossing in through {
                // Without branches: where a flow is cut off cannot be predicted.
                let elsewhere = members[crossing.slot as usize].without(link);
                let is_below = u64::from(elsewhere < guess).wrapping_neg();
                let [lower, higher] = [is_below, !is_below].map(|mask| f64::from_bits(elsewhere.to_bits() & mask));
                let share = f64::from_bits(crossing.share.to_bits() & !is_below);
                taken += crossing.share * lower;
                shares += share;
                below = if lower > below { lower } else { below };
                // Where the flow is cut off below: NaN, which is not lower.
                let higher = f64::from_bits(higher.to_bits() | is_below);
                above = if higher < above { higher } else { above };
            }
            if shares == 0.0 {
                // From below all of them only the rounding of many terms leads back here.
                if has_begun_again || taken <= capacity * (1.0 + 2.0 * LAST_DIGITS) {
                    *spare = capacity - taken;
                    return f64::INFINITY;
                }
                // Above all of them, where the slope is 0: from below all of them.
                guess = capacity / through.iter().map(|crossing| crossing.share).sum::<f64>();
                (steps, has_begun_again) = (1, true);
                continue;
            }
            let next = f64::max(0.0, (capacity - taken) / shares);
            if next == guess || (steps > 1 && next < guess) {
                return guess;
            }
            if below <= next && next <= above {
                // The same flows are cut off here.
                return next;
            }
            guess = next;
            steps += 1;
        }
    }
}

#[cfg(test)]
mod tests;
