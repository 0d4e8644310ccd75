//! Columns of alike flows with several paths, and passes over them.

use std::cell::Cell;
use std::ops::Range;

use netnum_core::internal::numerics::vectorized;

use super::super::real::Real;
use super::super::sizes::LANES;
use super::super::windows::{View, add_to};
use super::response::{Lanes, Law, SMALLEST_SHARE, Scratch, follow, split};
use super::{Crossing, OfPath, Several, Shape};

/// Flows that are alike. Number i of a column is that of lane `i % LANES` in group `i / LANES`; columns of paths have
/// a group's paths one after the other.
#[derive(Debug)]
pub(super) struct SplitBucket<R> {
    pub(super) shape: Shape,
    /// Entries of the common links, then of every path's own; an entry that is never used where a path has fewer.
    ids: Vec<[u32; LANES]>,
    /// As many, 0 where there is no link; none without coefficients.
    coefficients: Vec<Lanes<R>>,
    scales: Vec<Lanes<R>>,
    exponents: Vec<Lanes<R>>,
    /// The lowest price of every flow.
    floors: Vec<Lanes<R>>,
    /// By path.
    shares: Vec<Lanes<R>>,
    ceilings: Vec<Lanes<R>>,
    rates: Vec<Lanes<R>>,
    feasible: Vec<Lanes<R>>,
    /// Numbers of the flows.
    pub(super) flows: Vec<u32>,
    scratch: Scratch<R>,
}

impl<R: Real> SplitBucket<R> {
    pub(super) fn new(shape: Shape) -> Self {
        let none = || vec![[R::ZERO; LANES]; shape.paths];
        let scratch = Scratch { prices: none(), priced: none(), parts: none(), whole: none(), moves: none() };
        Self {
            shape,
            ids: Vec::new(),
            coefficients: Vec::new(),
            scales: Vec::new(),
            exponents: Vec::new(),
            floors: Vec::new(),
            shares: Vec::new(),
            ceilings: Vec::new(),
            rates: Vec::new(),
            feasible: Vec::new(),
            flows: Vec::new(),
            scratch,
        }
    }

    /// Entries of a flow, padded.
    fn entries(&self) -> usize {
        self.shape.common + self.shape.paths * self.shape.own
    }

    /// Rows and lane of a flow's paths.
    fn rows(&self, place: usize) -> (Range<usize>, usize) {
        let first = place / LANES * self.shape.paths;
        (first..first + self.shape.paths, place % LANES)
    }

    pub(super) fn rates(&self, place: usize) -> impl Iterator<Item = [f64; 2]> {
        let (rows, lane) = self.rows(place);
        rows.map(move |row| [self.rates[row][lane].wide(), self.feasible[row][lane].wide()])
    }

    pub(super) fn of_paths(&self, place: usize, follows: bool) -> impl Iterator<Item = OfPath> {
        let (rows, lane) = self.rows(place);
        let mut shares = self.shares[rows.clone()].to_vec();
        if follows {
            follow(&mut shares, &self.rates[rows]);
        }
        let shares = shares.into_iter().map(move |row| row[lane].wide());
        shares.zip(self.rates(place)).map(|(share, rates)| OfPath { share, rates })
    }

    pub(super) fn set_feasible(&mut self, place: usize, path: usize, rate: f64) {
        let (rows, lane) = self.rows(place);
        self.feasible[rows.start + path][lane] = R::of(rate);
    }

    pub(super) fn set_split(&mut self, place: usize, rates: &[f64]) {
        let (rows, lane) = self.rows(place);
        let share = |rate: f64, total: f64| (rate / total).max(SMALLEST_SHARE);
        let total: f64 = rates.iter().sum();
        let sum: f64 = rates.iter().map(|&rate| share(rate, total)).sum();
        for (row, &rate) in rows.zip(rates) {
            [self.rates[row][lane], self.feasible[row][lane]] = [R::of(rate); 2];
            // A flow that gets nothing keeps its shares.
            if total > 0.0 {
                self.shares[row][lane] = R::of(share(rate, total) / sum);
            }
        }
    }

    pub(super) fn set_limits(&mut self, place: usize, floor: f64, ceilings: &[f64]) {
        let (rows, lane) = self.rows(place);
        // A flow without a path that works is at its ceilings of 0 whatever it demands.
        self.floors[place / LANES][lane] = R::of(floor.min(f64::MAX));
        for (row, &ceiling) in rows.zip(ceilings) {
            self.ceilings[row][lane] = R::of(ceiling);
        }
    }

    pub(super) fn push(&mut self, flow: u32, several: &Several<'_>, nowhere: u32) -> u32 {
        let (place, entries, paths) = (self.flows.len(), self.entries(), self.shape.paths);
        let (group, lane) = (place / LANES, place % LANES);
        if lane == 0 {
            self.make_room(nowhere);
        }
        let Shape { common, own, .. } = self.shape;
        let mut put = |at: usize, crossings: &[Crossing]| {
            for (position, &(link, a)) in crossings.iter().enumerate() {
                let at = group * entries + at + position;
                self.ids[at][lane] = link;
                if let Some(coefficients) = self.coefficients.get_mut(at) {
                    coefficients[lane] = R::of(a);
                }
            }
        };
        put(0, several.common);
        several.own.iter().enumerate().for_each(|(path, crossings)| put(common + path * own, crossings));
        self.scales[group][lane] = R::of(several.demand.scale);
        self.exponents[group][lane] = R::of(several.demand.exponent);
        for (path, state) in several.state.iter().enumerate() {
            let row = group * paths + path;
            self.shares[row][lane] = R::of(state.share);
            [self.rates[row][lane], self.feasible[row][lane]] = state.rates.map(R::of);
        }
        self.flows.push(flow);
        self.set_limits(place, several.demand.floor, several.ceilings);
        place as u32
    }

    /// Another group, all of whose lanes are empty: flows that demand nothing, nowhere.
    fn make_room(&mut self, nowhere: u32) {
        let (groups, entries, paths) = (self.scales.len() + 1, self.entries(), self.shape.paths);
        self.ids.resize(groups * entries, [nowhere; LANES]);
        if self.shape.is_weighted {
            self.coefficients.resize(groups * entries, [R::ZERO; LANES]);
        }
        for column in [&mut self.scales, &mut self.exponents, &mut self.floors] {
            column.resize(groups, [R::ONE; LANES]);
        }
        for column in [&mut self.shares, &mut self.ceilings, &mut self.rates, &mut self.feasible] {
            column.resize(groups * paths, [R::ZERO; LANES]);
        }
    }

    pub(super) fn swap_remove(&mut self, place: usize, nowhere: u32) -> Option<u32> {
        let (last, entries, paths) = (self.flows.len() - 1, self.entries(), self.shape.paths);
        move_lane(&mut self.ids, entries, last, place, nowhere);
        if self.shape.is_weighted {
            move_lane(&mut self.coefficients, entries, last, place, R::ZERO);
        }
        for column in [&mut self.scales, &mut self.exponents, &mut self.floors] {
            move_lane(column, 1, last, place, R::ONE);
        }
        for column in [&mut self.shares, &mut self.ceilings, &mut self.rates, &mut self.feasible] {
            move_lane(column, paths, last, place, R::ZERO);
        }
        if last.is_multiple_of(LANES) {
            let groups = last / LANES;
            self.ids.truncate(groups * entries);
            self.coefficients.truncate(groups * entries);
            for column in [&mut self.scales, &mut self.exponents, &mut self.floors] {
                column.truncate(groups);
            }
            for column in [&mut self.shares, &mut self.ceilings, &mut self.rates, &mut self.feasible] {
                column.truncate(groups * paths);
            }
        }
        self.flows.swap_remove(place);
        self.flows.get(place).copied()
    }

    /// Gathers, responds and scatters group by group; only what lies between is worth vectors.
    #[inline(never)]
    pub(super) fn respond<const COUNTS: bool, const WEIGHTED: bool>(
        &mut self,
        view: View<'_, R>,
        sums: &[Cell<[R; 2]>],
        follows: bool,
    ) {
        let (entries, Shape { is_power, paths, common, own, .. }) = (self.entries(), self.shape);
        for group in 0..self.scales.len() {
            let ids = &self.ids[group * entries..(group + 1) * entries];
            let all = if WEIGHTED { &self.coefficients[group * entries..(group + 1) * entries] } else { &[] };
            let of = |first: usize, count: usize| {
                (&ids[first..first + count], if WEIGHTED { &all[first..first + count] } else { all })
            };
            let rows = group * paths..(group + 1) * paths;
            let Scratch { prices, priced, .. } = &mut self.scratch;
            let in_common = total::<R, WEIGHTED>(view.prices, of(0, common));
            let counted = if COUNTS { total::<R, WEIGHTED>(view.priced, of(0, common)) } else { [R::ZERO; LANES] };
            for (path, (price, priced)) in prices.iter_mut().zip(priced).enumerate() {
                *price = total::<R, WEIGHTED>(view.prices, of(common + path * own, own));
                if COUNTS {
                    *priced = total::<R, WEIGHTED>(view.priced, of(common + path * own, own));
                }
            }
            let law = Law {
                is_power,
                scales: &self.scales[group],
                exponents: &self.exponents[group],
                floors: &self.floors[group],
            };
            let (shares, ceilings) = (&mut self.shares[rows.clone()], &self.ceilings[rows.clone()]);
            let rates = &mut self.rates[rows];
            if follows {
                vectorized(
                    #[inline(always)]
                    || follow(shares, rates),
                );
            }
            split(&law, &in_common, shares, ceilings, rates, &mut self.scratch);
            let Scratch { priced, whole, moves, .. } = &self.scratch;
            // Of the common links: load, slope, and that times the priced links.
            let (mut load, mut slope, mut counts) = ([R::ZERO; LANES], [R::ZERO; LANES], [R::ZERO; LANES]);
            for (path, rates) in rates.iter().enumerate() {
                for lane in 0..LANES {
                    load[lane] += rates[lane];
                    slope[lane] += whole[path][lane];
                    if COUNTS {
                        counts[lane] += whole[path][lane] * (counted[lane] + priced[path][lane]);
                    }
                }
                let (ids, all) = of(common + path * own, own);
                for (position, ids) in ids.iter().enumerate() {
                    for lane in 0..LANES {
                        let a = if WEIGHTED { all[position][lane] } else { R::ONE };
                        let slope = match COUNTS {
                            true => {
                                let own = priced[path][lane];
                                whole[path][lane] * (counted[lane] + own).at_least(a)
                                    + moves[path][lane] * own.at_least(a)
                            }
                            false => a * (whole[path][lane] + moves[path][lane]),
                        };
                        add_to(&sums[ids[lane] as usize], [a * rates[lane], a * slope]);
                    }
                }
            }
            let (ids, all) = of(0, common);
            for (position, ids) in ids.iter().enumerate() {
                for lane in 0..LANES {
                    let a = if WEIGHTED { all[position][lane] } else { R::ONE };
                    let slope = (a * slope[lane]).at_least(counts[lane]);
                    add_to(&sums[ids[lane] as usize], [a * load[lane], a * slope]);
                }
            }
        }
    }

    pub(super) fn follow(&mut self) {
        let Self { shape, shares, rates, .. } = self;
        vectorized(
            #[inline(always)]
            || {
                for (shares, rates) in shares.chunks_exact_mut(shape.paths).zip(rates.chunks_exact(shape.paths)) {
                    follow(shares, rates);
                }
            },
        );
    }

    #[inline(never)]
    pub(super) fn normalize(&mut self, fractions: &[R]) {
        let (entries, Shape { paths, common, own, .. }) = (self.entries(), self.shape);
        for group in 0..self.scales.len() {
            let ids = &self.ids[group * entries..(group + 1) * entries];
            let of_common = least(fractions, [R::ONE; LANES], &ids[..common]);
            for path in 0..paths {
                let first = common + path * own;
                let least = least(fractions, of_common, &ids[first..first + own]);
                let row = group * paths + path;
                let rates = self.feasible[row].iter_mut().zip(&self.rates[row]).zip(least);
                rates.for_each(|((feasible, &rate), least)| *feasible = rate * least);
            }
        }
    }
}

/// Moves a flow's numbers to another's place, so many rows to a group, and empties its own.
fn move_lane<T: Copy>(column: &mut [[T; LANES]], rows: usize, from: usize, to: usize, empty: T) {
    for row in 0..rows {
        let number = std::mem::replace(&mut column[from / LANES * rows + row][from % LANES], empty);
        if from != to {
            column[to / LANES * rows + row][to % LANES] = number;
        }
    }
}

/// Sums of a table over the entries of a group.
#[inline(always)]
fn total<R: Real, const WEIGHTED: bool>(table: &[R], (ids, all): (&[[u32; LANES]], &[Lanes<R>])) -> Lanes<R> {
    let mut total = [R::ZERO; LANES];
    for (position, ids) in ids.iter().enumerate() {
        for lane in 0..LANES {
            let found = table[ids[lane] as usize];
            total[lane] += if WEIGHTED { all[position][lane] * found } else { found };
        }
    }
    total
}

/// The least of a table over the entries of a group, and what is given.
#[inline(always)]
fn least<R: Real>(table: &[R], given: Lanes<R>, ids: &[[u32; LANES]]) -> Lanes<R> {
    let mut least = given;
    for ids in ids {
        for lane in 0..LANES {
            least[lane] = least[lane].at_most(table[ids[lane] as usize]);
        }
    }
    least
}
