//! Levels where many flows share each link: an event costs the links whose level it moves, and the flows that another
//! link limits from then on, but not the flows whose rate changes.
//!
//! Each flow stands at its bottleneck, the link of its route with the lowest level. A link keeps the shares of its
//! flows added up by where they stand, so that its level follows from those of other links:
//!
//! ```text
//! s_lk = Σ a_fl over the flows f of link l that stand at k
//! λ_l = (c_l − Σ_k s_lk λ_k) / s_ll        over the k ≠ l with flows on l; ∞ if s_ll = 0 and these fit   (1)
//! ```
//!
//! A sweep computes the levels that an event may move, in about the order that they have had. What stands on a link at
//! one that is still to come stands there from then on. If a flow of a link stands at one that came before at a higher
//! level, the link belongs before that one, and the sweep goes back to there. In the end every flow stands at a full
//! link on which no other is faster, so that rates are max-min.
//!
//! Shares are added up anew where they are not whole numbers, and levels always, so that nothing drifts.

use netnum_core::internal::interrupt::Pacer;

use super::hops::Hop;
use super::link_levels::LinkLevels;
use super::links::SharedLink;
use crate::error::Result;
use crate::numbers::{ALIKE, LAST_DIGITS, NONE, ROUNDING};
use crate::policy::Shared;

/// A sweep may compute every link so many times before a fill is faster.
const MOST_VISITS: usize = 8;

/// After so many sweeps moves are thought of again.
const SWEEPS: usize = 64;

/// The flows of a link that stand at some link.
#[derive(Debug, Clone, Copy)]
struct Standing {
    at: u32,
    flows: u32,
    share: f64,
}

/// Whether a link has nothing for its flows, so that one that stands there changes nothing.
fn is_starved(links: &[SharedLink], link: u32) -> bool {
    links.get(link as usize).is_some_and(|link| link.capacity == 0.0)
}

/// Where flows stand.
#[derive(Debug, Default)]
pub(super) struct Bottlenecks {
    /// Whether it is known.
    pub(super) known: bool,
    /// By link, its flows by where they stand.
    standing: Vec<Vec<Standing>>,
    /// By link, its level; in a sweep ∞ for one that is still to come.
    water: Vec<f64>,
    /// By link, in a sweep the last level that it has had, and its load there.
    latest: Vec<f64>,
    load: Vec<f64>,
    /// All links, in about the order of their levels.
    order: Vec<u32>,
    /// The lowest level that may move.
    from: f64,
    /// Links whose levels have moved since the last report, and those with another load.
    moved: Vec<u32>,
    loads: Vec<(u32, f64)>,
    /// Room for a list of flows.
    room: Vec<u32>,
    /// What moves would have read since they were last thought of, in that many sweeps.
    would_read: usize,
    sweeps: usize,
}

impl Bottlenecks {
    fn count(&mut self, link: u32, at: u32, share: f64) {
        let standing = &mut self.standing[link as usize];
        match standing.iter_mut().find(|standing| standing.at == at) {
            Some(standing) => {
                standing.flows += 1;
                standing.share += share;
            }
            None => standing.push(Standing { at, flows: 1, share }),
        }
    }
}

impl LinkLevels {
    /// Where flows stand after a fill. All of them, and all links, are listed for the next report.
    pub(super) fn find_bottlenecks(&mut self) {
        let links = self.links.len();
        self.bottlenecks = Bottlenecks {
            known: true,
            standing: vec![Vec::new(); links],
            water: self.levels.clone(),
            load: vec![0.0; links],
            order: (0..links as u32).collect(),
            from: f64::INFINITY,
            moved: (0..links as u32).filter(|&link| self.levels[link as usize] < f64::INFINITY).collect(),
            loads: (0..links as u32).map(|link| (link, self.links[link as usize].capacity - self.left(link))).collect(),
            ..Bottlenecks::default()
        };
        for slot in 0..self.members.len() as u32 {
            let at = self.members[slot as usize].bottleneck();
            for &Hop { link, share, .. } in self.hops.of(slot) {
                self.bottlenecks.count(link, at, share);
            }
            self.members[slot as usize].list(slot, &mut self.listed);
        }
        self.filled.forget();
    }

    /// A flow has arrived.
    pub(super) fn stand_first(&mut self, slot: u32) {
        let hops = self.hops.of(slot);
        let Some(first) = hops.first() else { return };
        let member = &mut self.members[slot as usize];
        if !is_starved(&self.links, member.bottleneck()) {
            let lowest = hops.iter().map(|hop| self.links[hop.link as usize].lowest_level());
            self.bottlenecks.from = lowest.fold(self.bottlenecks.from, f64::min);
            hops.iter().for_each(|hop| self.links[hop.link as usize].spare = f64::NAN);
        }
        // Where no link limits flows yet, at any.
        let at = if member.bottleneck() == NONE { first.link } else { member.bottleneck() };
        member.stand(at);
        for &Hop { link, share, .. } in hops {
            self.bottlenecks.count(link, at, share);
        }
    }

    /// A flow has left its links.
    pub(super) fn stand_nowhere(&mut self, slot: u32) {
        let at = self.members[slot as usize].bottleneck();
        // One without links stands nowhere.
        let level = self.levels.get(at as usize).copied().unwrap_or(f64::INFINITY);
        if !is_starved(&self.links, at) {
            self.bottlenecks.from = f64::min(self.bottlenecks.from, level);
            self.hops.of(slot).iter().for_each(|hop| self.links[hop.link as usize].spare = f64::NAN);
        }
        self.members[slot as usize].stand(NONE);
        self.leave_bottleneck(slot, at);
    }

    /// A link has another capacity.
    pub(super) fn level_may_move(&mut self, link: u32) {
        let lowest = f64::min(self.levels[link as usize], self.links[link as usize].lowest_level());
        self.bottlenecks.from = f64::min(self.bottlenecks.from, lowest);
        self.links[link as usize].spare = f64::NAN;
    }

    /// A flow that stood at a link does not any more.
    fn leave_bottleneck(&mut self, slot: u32, at: u32) {
        let Self { links, members, hops, bottlenecks: Bottlenecks { standing, .. }, .. } = self;
        for &Hop { link, share, .. } in hops.of(slot) {
            let standing = &mut standing[link as usize];
            let Some(place) = standing.iter().position(|standing| standing.at == at) else { continue };
            let link = &links[link as usize];
            standing[place].flows -= 1;
            if standing[place].flows == 0 {
                standing.swap_remove(place);
            } else if link.spread == 0 && share == 1.0 {
                standing[place].share -= share;
            } else {
                let others = link.through.iter().filter(|other| members[other.slot as usize].bottleneck() == at);
                standing[place].share = others.map(|other| other.share).sum();
            }
        }
    }

    /// Computes the levels that may have moved.
    pub(super) fn sweep(&mut self) -> Result<()> {
        let from = std::mem::replace(&mut self.bottlenecks.from, f64::INFINITY);
        if from == f64::INFINITY {
            return Ok(());
        }
        let mut order = std::mem::take(&mut self.bottlenecks.order);
        order.sort_by(|&one, &other| self.levels[one as usize].total_cmp(&self.levels[other as usize]));
        // A flow may stand at one of two that are alike, and the other one may be the lower one by rounding.
        let first = order.partition_point(|&link| self.levels[link as usize] < from * (1.0 - ALIKE));
        if !self.sweep_from(first, &mut order)? {
            self.fill_all()?;
            self.find_bottlenecks();
            return Ok(());
        }
        for &link in &order[first..] {
            let (level, water) = (&mut self.levels[link as usize], self.bottlenecks.water[link as usize]);
            let (shared, load) = (&mut self.links[link as usize], self.bottlenecks.load[link as usize]);
            if *level != water {
                *level = water;
                self.bottlenecks.moved.push(link);
                self.bottlenecks.would_read += shared.through.len();
            }
            let spare = shared.capacity - load;
            // NaN where the load may be another one though the same is left.
            if spare != shared.spare {
                shared.spare = spare;
                self.bottlenecks.loads.push((link, load));
            }
        }
        self.bottlenecks.order = order;
        self.bottlenecks.sweeps += 1;
        Ok(())
    }

    /// Computes those of the links from some place on in the order. False if a fill is faster.
    fn sweep_from(&mut self, first: usize, order: &mut [u32]) -> Result<bool> {
        let Bottlenecks { water, latest, .. } = &mut self.bottlenecks;
        latest.clone_from(&self.levels);
        order[first..].iter().for_each(|&link| water[link as usize] = f64::INFINITY);
        let (mut at, mut visits, mut pacer) = (first, 0, Pacer::new());
        while let Some(&link) = order.get(at) {
            visits += 1;
            if visits > MOST_VISITS * (order.len() - first) {
                return Ok(false);
            }
            pacer.did(self.bottlenecks.standing[link as usize].len())?;
            let (level, load, highest) = self.level_where_flows_stand(link);
            let Bottlenecks { water, latest, .. } = &mut self.bottlenecks;
            if highest > level * (1.0 + ROUNDING) {
                // It comes before that one, and what has come since is computed again.
                let higher = |&link: &u32| water[link as usize] > level * (1.0 + ROUNDING);
                let place = order[first..at].iter().position(higher).map_or(first, |place| first + place);
                order[place..at].iter().for_each(|&link| water[link as usize] = f64::INFINITY);
                order[place..=at].rotate_right(1);
                at = place;
                continue;
            }
            let lower = order[at + 1..].iter().take_while(|&&link| latest[link as usize] < level).count();
            if lower > 0 {
                // Others come first, if they are still where they were.
                latest[link as usize] = level;
                order[at..=at + lower].rotate_left(1);
                continue;
            }
            let before = self.levels[link as usize];
            let is_same = (level - before).abs() <= LAST_DIGITS * f64::min(level, before);
            self.stand_here(link);
            let Bottlenecks { water, latest, load: its_load, .. } = &mut self.bottlenecks;
            water[link as usize] = if is_same { before } else { level };
            latest[link as usize] = level;
            its_load[link as usize] = load;
            at += 1;
        }
        Ok(true)
    }

    /// The level of a link as it follows from those that have come before, the load of the link, and the highest one at
    /// which a flow of it stands. (1), or if that is above the level, so that flows there are limited here.
    fn level_where_flows_stand(&self, link: u32) -> (f64, f64, f64) {
        let Bottlenecks { standing, water, .. } = &self.bottlenecks;
        let (capacity, standing) = (self.links[link as usize].capacity, &*standing[link as usize]);
        // Four at a time, and without branches: which have come cannot be predicted.
        let (mut taken, mut rising, mut highest) = ([0.0; 4], [0.0; 4], [0.0; 4]);
        let mut add = |lane: usize, &Standing { at, share, .. }: &Standing| {
            let water = water[at as usize];
            let has_come = u64::from(water < f64::INFINITY).wrapping_neg();
            let level = f64::from_bits(water.to_bits() & has_come);
            taken[lane] += share * level;
            rising[lane] += f64::from_bits(share.to_bits() & !has_come);
            highest[lane] = if level > highest[lane] { level } else { highest[lane] };
        };
        let (fours, rest) = standing.as_chunks::<4>();
        fours.iter().for_each(|four| (0..4).for_each(|lane| add(lane, &four[lane])));
        rest.iter().for_each(|other| add(0, other));
        let [taken, rising] = [taken, rising].map(|lanes: [f64; 4]| lanes.iter().sum::<f64>());
        let highest = highest.into_iter().fold(0.0, f64::max);
        let level = match rising > 0.0 {
            true => f64::max(0.0, (capacity - taken) / rising),
            false if taken <= capacity * (1.0 + ROUNDING) => return (f64::INFINITY, taken, highest),
            false => 0.0,
        };
        if highest <= level * (1.0 + ROUNDING) {
            return (level, capacity, highest);
        }
        // By Newton's method from below: every step is upwards, and the last one exact.
        let shares = |guess: f64| {
            let cut_off = |standing: &&Standing| water[standing.at as usize] > guess;
            standing.iter().filter(cut_off).map(|standing| standing.share).sum::<f64>()
        };
        let mut level = capacity / shares(-1.0);
        loop {
            let below = standing.iter().filter(|standing| water[standing.at as usize] <= level);
            let taken: f64 = below.map(|standing| standing.share * water[standing.at as usize]).sum();
            let next = (capacity - taken) / shares(level);
            if next > level {
                level = next;
            } else {
                return (level, capacity, highest);
            }
        }
    }

    /// Flows of a link that stand at others that are still to come stand here from now on.
    fn stand_here(&mut self, link: u32) {
        let Bottlenecks { standing, water, room, .. } = &mut self.bottlenecks;
        if !standing[link as usize].iter().any(|other| other.at != link && water[other.at as usize] == f64::INFINITY) {
            return;
        }
        let stands = |slot: u32| self.members[slot as usize].bottleneck();
        let is_to_come = |slot: &u32| stands(*slot) != link && water[stands(*slot) as usize] == f64::INFINITY;
        let mut room = std::mem::take(room);
        room.clear();
        room.extend(self.links[link as usize].through.iter().map(|crossing| crossing.slot).filter(is_to_come));
        for &slot in &room {
            let before = self.members[slot as usize].bottleneck();
            self.members[slot as usize].stand(link);
            self.members[slot as usize].list(slot, &mut self.listed);
            self.leave_bottleneck(slot, before);
            for &Hop { link: crossed, share, .. } in self.hops.of(slot) {
                self.bottlenecks.count(crossed, link, share);
            }
        }
        self.bottlenecks.room = room;
    }

    /// Whether moves would cost more than sweeps, as far as the last of these show.
    fn is_crowded(&mut self) -> bool {
        let Bottlenecks { sweeps, would_read, .. } = &mut self.bottlenecks;
        if *sweeps < SWEEPS {
            return !self.is_small();
        }
        let read = std::mem::take(would_read) / std::mem::take(sweeps);
        self.fill_is_faster(0, read)
    }

    /// Back to rates of flows: all of them are listed.
    fn forget_bottlenecks(&mut self) -> Result<()> {
        self.bottlenecks.known = false;
        self.without_seconds = true;
        self.find_seconds()?;
        self.reported.fill(f64::NAN);
        for (slot, member) in (0..).zip(&mut self.members) {
            member.list(slot, &mut self.listed);
        }
        Ok(())
    }

    /// Whether flows have the paces of links.
    pub(super) fn shares(&self) -> bool {
        self.bottlenecks.known
    }

    /// Calls with the links whose load may have changed since the last call, and their loads, while flows have paces.
    pub(super) fn drain_loads(&mut self, mut call: impl FnMut(u32, f64)) {
        self.bottlenecks.loads.drain(..).for_each(|(link, load)| call(link, load));
    }

    /// Reports what has changed since the last report: paces, one per link and numbered from `first` on, and the flows
    /// that take another one, with their weights. Where the crowd is over, or flows may not share any more, they have
    /// rates of their own again, which are then those that they share.
    pub(super) fn share(&mut self, shared: &mut Shared, first: u32, weight: impl Fn(u32) -> f64) -> Result<()> {
        let Self { levels, members, hops, listed, bottlenecks: Bottlenecks { known, moved, .. }, .. } = self;
        let paces = moved.drain(..).map(|link| (first + link, levels[link as usize]));
        shared.paces.extend(paces.filter(|pace| pace.1 < f64::INFINITY));
        if *known {
            for slot in listed.drain(..) {
                let member = &mut members[slot as usize];
                member.listed = false;
                if !hops.of(slot).is_empty() {
                    shared.joins.push((slot, first + member.bottleneck(), weight(slot)));
                }
            }
            if !self.may_share || !self.is_crowded() {
                self.forget_bottlenecks()?;
            }
        }
        Ok(())
    }
}
