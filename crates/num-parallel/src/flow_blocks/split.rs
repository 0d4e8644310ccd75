//! Flows with several paths that are alike: one law, as many paths, with coefficients or without; and their response.
//!
//! The rule is that of `price/path_split.rs` in the core, where its reasons stand:
//!
//! ```text
//! q_p = C + o_p                                     C of the links that all paths cross, o_p of the others
//! τ   = 0.2 Σ σ_p o_p + 0.03 max(Σ σ_p q_p, q*)     q* = U'(ceiling)
//! q   = −τ log Σ σ_p exp(−q_p/τ)                    the mean price, D = (U')⁻¹(q)
//! x_p = D σ_p exp(−q_p/τ) / Σ σ_k exp(−q_k/τ)
//! H_l = Σ a² (x_p/D (−D') + x_p/τ min(1, 2 (1 − x_p/D)))         the second term not where all paths cross the link
//! σ_p ← σ_p + ¼ (max(x_p/Σ x_k, 1e-6) − σ_p)        after an accepted step, scaled to a sum of 1
//! ```
//!
//! Sums over shares are divided by those of the paths that take part: a path over a failed link does not, nor does one
//! that would carry more than its ceiling, which it then carries; the others share the rest of what the flow demands at
//! their mean price. So traffic leaves a failed link in the response after its failure. A link that paths use with
//! different coefficients is among the others, as if some path avoided it.
//!
//! All paths of a flow are in one bucket of one block, that of its first path's first link, so that no sum over paths
//! crosses threads. Links are read one by one: what a pair of links would need is not the same for both. A flow has a
//! lane; the entries that its paths have in common are read once.

use std::cell::Cell;
use std::collections::BTreeMap;

use netnum_core::internal::PowerDemand;
use netnum_core::internal::numerics::{exp, ln, vectorized};

use super::block::Place;
use super::real::Real;
use super::sizes::LANES;
use super::windows::{View, add_to};

/// τ relative to the mean price of the links that some path avoids, and to that of all.
const AVOIDABLE: f64 = 0.2;
const WHOLE: f64 = 0.03;
/// How far shares move towards the split of the rates.
const FOLLOW: f64 = 0.25;
/// No share falls below this, so that a path can come back.
pub(crate) const SMALLEST_SHARE: f64 = 1e-6;
/// exp of its negative is still a number, times the smallest share.
const LARGEST_EXPONENT: f64 = 600.0;
/// exp of this is still a number, also after ten million of them are added.
const LARGEST_POWER: f64 = 690.0;
/// Stands for 0 in a division, and for no price at all.
const TINY: f64 = 1e-30;

/// What the flows of a bucket have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shape {
    /// α is not 1.
    is_power: bool,
    is_weighted: bool,
    paths: usize,
    /// Links that all paths cross, and the most that one of them crosses beside these.
    common: usize,
    own: usize,
}

/// A link, and what a path uses of it per unit of its rate.
pub(crate) type Crossing = (u32, f64);

/// A flow with several paths, as a block takes it.
#[derive(Debug)]
pub(crate) struct Several<'a> {
    /// Links that all paths cross with the same coefficient.
    pub(crate) common: &'a [Crossing],
    /// The others of every path.
    pub(crate) own: &'a [Vec<Crossing>],
    pub(crate) demand: PowerDemand,
    /// The most that every path carries; 0 where a link has failed.
    pub(crate) ceilings: &'a [f64],
    pub(crate) state: &'a [OfPath],
}

/// What a path of a flow remembers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OfPath {
    /// σ.
    pub(crate) share: f64,
    /// As demanded last, and as the last normalizer left it.
    pub(crate) rates: [f64; 2],
}

impl Several<'_> {
    fn shape(&self) -> Shape {
        let one = |&(_, a): &Crossing| a == 1.0;
        Shape {
            is_power: !self.demand.is_log,
            is_weighted: !(self.common.iter().all(one) && self.own.iter().flatten().all(one)),
            paths: self.own.len(),
            common: self.common.len(),
            own: self.own.iter().map(Vec::len).max().unwrap_or(0),
        }
    }
}

type Lanes<R> = [R; LANES];

/// Flows that are alike. Number i of a column is that of lane `i % LANES` in group `i / LANES`; columns of paths have
/// a group's paths one after the other.
#[derive(Debug)]
struct SplitBucket<R> {
    shape: Shape,
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
    flows: Vec<u32>,
    scratch: Scratch<R>,
}

/// Numbers of a group, per path.
#[derive(Debug)]
struct Scratch<R> {
    /// Price of its own links, and Σ a over the priced ones.
    prices: Vec<Lanes<R>>,
    priced: Vec<Lanes<R>>,
    /// x_p/D.
    parts: Vec<Lanes<R>>,
    /// −D' x_p/D, and the slope of what moves between paths.
    whole: Vec<Lanes<R>>,
    moves: Vec<Lanes<R>>,
}

/// All flows with several paths of a block.
#[derive(Debug)]
pub(crate) struct Splits<R> {
    buckets: Vec<SplitBucket<R>>,
    /// Their numbers, in the order in which they respond.
    order: BTreeMap<Shape, u32>,
    /// The entry that is never used.
    nowhere: u32,
}

impl<R: Real> Splits<R> {
    pub(crate) fn new(nowhere: usize) -> Self {
        Self { buckets: Vec::new(), order: BTreeMap::new(), nowhere: nowhere as u32 }
    }

    /// Adds a flow.
    pub(crate) fn add(&mut self, flow: u32, several: &Several<'_>) -> Place {
        let Self { buckets, order, nowhere } = self;
        let shape = several.shape();
        let bucket = *order.entry(shape).or_insert_with(|| {
            buckets.push(SplitBucket::new(shape));
            buckets.len() as u32 - 1
        });
        Place { bucket, place: buckets[bucket as usize].push(flow, several, *nowhere) }
    }

    /// Takes a flow out; returns the number of the one that is in its place now, if there is one.
    pub(crate) fn remove(&mut self, Place { bucket, place }: Place) -> Option<u32> {
        self.buckets[bucket as usize].swap_remove(place as usize, self.nowhere)
    }

    /// The paths of a flow.
    pub(crate) fn of_paths(&self, Place { bucket, place }: Place) -> impl Iterator<Item = OfPath> {
        self.buckets[bucket as usize].of_paths(place as usize)
    }

    /// Changes the price below which a flow's rate does not grow, and the most that its paths carry.
    pub(crate) fn set_limits(&mut self, Place { bucket, place }: Place, floor: f64, ceilings: &[f64]) {
        self.buckets[bucket as usize].set_limits(place as usize, floor, ceilings);
    }

    /// Number and paths of every flow, in the order in which they respond, until one is refused.
    pub(crate) fn each<E>(
        &self,
        mut look: impl FnMut(u32, &mut dyn Iterator<Item = OfPath>) -> Result<(), E>,
    ) -> Result<(), E> {
        for &bucket in self.order.values() {
            let bucket = &self.buckets[bucket as usize];
            for (place, &flow) in bucket.flows.iter().enumerate() {
                look(flow, &mut bucket.of_paths(place))?;
            }
        }
        Ok(())
    }

    /// Sets the feasible rates of the paths of all flows, in the order of [`each`](Self::each).
    pub(crate) fn set_all_feasible(&mut self, rates: &mut impl Iterator<Item = f64>) {
        for &bucket in self.order.values() {
            let bucket = &mut self.buckets[bucket as usize];
            for place in 0..bucket.flows.len() {
                let own = 0..bucket.shape.paths;
                own.for_each(|path| bucket.set_feasible(place, path, rates.next().expect("one rate per path")));
            }
        }
    }

    /// Rates at these prices, added to the sums of links.
    pub(crate) fn respond(&mut self, view: View<'_, R>, counts_priced: bool, sums: &mut [[R; 2]]) {
        let all = Cell::from_mut(&mut *sums).as_slice_of_cells();
        for &bucket in self.order.values() {
            let bucket = &mut self.buckets[bucket as usize];
            match (counts_priced, bucket.shape.is_weighted) {
                (true, true) => bucket.respond::<true, true>(view, all),
                (true, false) => bucket.respond::<true, false>(view, all),
                (false, true) => bucket.respond::<false, true>(view, all),
                (false, false) => bucket.respond::<false, false>(view, all),
            }
        }
        sums[self.nowhere as usize] = [R::ZERO; 2];
    }

    /// Moves the shares towards how the last response was split.
    pub(crate) fn follow(&mut self) {
        self.buckets.iter_mut().for_each(SplitBucket::follow);
    }

    /// F-NORM, path by path, given the fraction of the demanded rates that every entry can carry.
    pub(crate) fn normalize(&mut self, fractions: &[R]) {
        self.buckets.iter_mut().for_each(|bucket| bucket.normalize(fractions));
    }
}

impl<R: Real> SplitBucket<R> {
    fn new(shape: Shape) -> Self {
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
    fn rows(&self, place: usize) -> (std::ops::Range<usize>, usize) {
        let first = place / LANES * self.shape.paths;
        (first..first + self.shape.paths, place % LANES)
    }

    fn of_paths(&self, place: usize) -> impl Iterator<Item = OfPath> {
        let (rows, lane) = self.rows(place);
        rows.map(move |row| OfPath {
            share: self.shares[row][lane].wide(),
            rates: [self.rates[row][lane].wide(), self.feasible[row][lane].wide()],
        })
    }

    fn set_feasible(&mut self, place: usize, path: usize, rate: f64) {
        let (rows, lane) = self.rows(place);
        self.feasible[rows.start + path][lane] = R::of(rate);
    }

    fn set_limits(&mut self, place: usize, floor: f64, ceilings: &[f64]) {
        let (rows, lane) = self.rows(place);
        // A flow without a path that works is at its ceilings of 0 whatever it demands.
        self.floors[place / LANES][lane] = R::of(floor.min(f64::MAX));
        for (row, &ceiling) in rows.zip(ceilings) {
            self.ceilings[row][lane] = R::of(ceiling);
        }
    }

    fn push(&mut self, flow: u32, several: &Several<'_>, nowhere: u32) -> u32 {
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

    fn swap_remove(&mut self, place: usize, nowhere: u32) -> Option<u32> {
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
    fn respond<const COUNTS: bool, const WEIGHTED: bool>(&mut self, view: View<'_, R>, sums: &[Cell<[R; 2]>]) {
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
            let (shares, ceilings) = (&self.shares[rows.clone()], &self.ceilings[rows.clone()]);
            let rates = &mut self.rates[rows];
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

    fn follow(&mut self) {
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
    fn normalize(&mut self, fractions: &[R]) {
        let (entries, Shape { paths, common, own, .. }) = (self.entries(), self.shape);
        for group in 0..self.scales.len() {
            let ids = &self.ids[group * entries..(group + 1) * entries];
            let of_common = least(fractions, [R::ONE; LANES], &ids[..common]);
            for path in 0..paths {
                let first = common + path * own;
                let least = least(fractions, of_common, &ids[first..first + own]);
                let row = group * paths + path;
                for lane in 0..LANES {
                    self.feasible[row][lane] = self.rates[row][lane] * least[lane];
                }
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

/// How the flows of a group respond to a price.
struct Law<'a, R> {
    is_power: bool,
    scales: &'a Lanes<R>,
    exponents: &'a Lanes<R>,
    floors: &'a Lanes<R>,
}

impl<R: Real> Law<'_, R> {
    /// D and −D'.
    #[inline(always)]
    fn respond(&self, lane: usize, price: R) -> [R; 2] {
        if self.is_power {
            let exponent = self.scales[lane].wide() - ln(price.wide()) * self.exponents[lane].wide();
            let demand = R::of(exp(exponent.clamp(-LARGEST_POWER, LARGEST_POWER)));
            [demand, self.exponents[lane] * demand / price]
        } else {
            let demand = self.scales[lane] / price;
            [demand, demand / price]
        }
    }
}

/// The rates of a group, and their slopes.
#[inline(always)]
fn split<R: Real>(
    law: &Law<'_, R>,
    common: &Lanes<R>,
    shares: &[Lanes<R>],
    ceilings: &[Lanes<R>],
    rates: &mut [Lanes<R>],
    Scratch { prices, parts, whole, moves, .. }: &mut Scratch<R>,
) {
    let mut over = [false; LANES];
    let mut scales = [R::ONE; LANES];
    vectorized(
        #[inline(always)]
        || {
            let most = R::of(f64::MAX);
            let (mut taking_part, mut mean, mut least) = ([R::ZERO; LANES], [R::ZERO; LANES], [most; LANES]);
            for ((shares, ceilings), prices) in shares.iter().zip(ceilings).zip(&*prices) {
                for lane in 0..LANES {
                    let works = ceilings[lane] > R::ZERO;
                    let share = if works { shares[lane] } else { R::ZERO };
                    taking_part[lane] += share;
                    mean[lane] += share * prices[lane];
                    least[lane] = least[lane].at_most(if works { prices[lane] } else { most });
                }
            }
            let mut sums = [R::ZERO; LANES];
            for lane in 0..LANES {
                taking_part[lane] = taking_part[lane].at_least(R::of(TINY));
                least[lane] = if least[lane] < most { least[lane] } else { R::ZERO };
                let avoidable = mean[lane] / taking_part[lane];
                let all = (common[lane] + avoidable).at_least(law.floors[lane]);
                scales[lane] = R::of(AVOIDABLE) * avoidable + R::of(WHOLE) * all;
            }
            for (((shares, ceilings), prices), parts) in shares.iter().zip(ceilings).zip(&*prices).zip(&mut *parts) {
                for lane in 0..LANES {
                    let share = if ceilings[lane] > R::ZERO { shares[lane] } else { R::ZERO };
                    let exponent = ((least[lane] - prices[lane]) / scales[lane]).at_most(R::ZERO);
                    let part = share * R::of(exp(exponent.at_least(R::of(-LARGEST_EXPONENT)).wide()));
                    sums[lane] += part;
                    parts[lane] = part;
                }
            }
            let (mut demands, mut slopes, mut inverses) = ([R::ZERO; LANES], [R::ZERO; LANES], [R::ZERO; LANES]);
            for lane in 0..LANES {
                let sum = sums[lane].at_least(R::of(TINY));
                let below = scales[lane] * R::of(ln((sum / taking_part[lane]).wide()));
                let price = (common[lane] + least[lane] - below).at_least(law.floors[lane]);
                [demands[lane], slopes[lane]] = law.respond(lane, price);
                inverses[lane] = R::ONE / sum;
            }
            for (path, rates) in rates.iter_mut().enumerate() {
                for lane in 0..LANES {
                    let part = parts[path][lane] * inverses[lane];
                    let rate = part * demands[lane];
                    over[lane] |= rate > ceilings[path][lane];
                    rates[lane] = rate;
                    whole[path][lane] = part * slopes[lane];
                    moves[path][lane] = of_moves(rate, scales[lane], part);
                }
            }
        },
    );
    for (lane, _) in over.iter().enumerate().filter(|(_, over)| **over) {
        let column = |of: &[Lanes<R>]| of.iter().map(|row| row[lane]).collect::<Vec<R>>();
        let of = Cut {
            common: common[lane],
            prices: &column(prices),
            shares: &column(shares),
            ceilings: &column(ceilings),
            scale: scales[lane],
        };
        let (found, slope) = of.split(law, lane);
        let mut sum = R::ZERO;
        found.iter().for_each(|&rate| sum += rate);
        let sum = sum.at_least(R::of(TINY));
        for (path, rate) in found.into_iter().enumerate() {
            let part = rate / sum;
            rates[path][lane] = rate;
            whole[path][lane] = part * slope;
            moves[path][lane] = of_moves(rate, scales[lane], part);
        }
    }
}

/// x_p/τ min(1, 2 (1 − x_p/D)).
#[inline(always)]
fn of_moves<R: Real>(rate: R, scale: R, part: R) -> R {
    let others = R::of(2.0) * (R::ONE - part);
    rate / scale * others.at_least(R::ZERO).at_most(R::ONE)
}

/// A flow, some of whose paths would carry more than their ceilings.
struct Cut<'a, R> {
    common: R,
    prices: &'a [R],
    shares: &'a [R],
    ceilings: &'a [R],
    scale: R,
}

impl<R: Real> Cut<'_, R> {
    /// The rates of its paths, and −D' at the mean price of those that have room. Those that want more than their
    /// ceilings carry these, and the others share what is left of the demand, in rounds.
    fn split(&self, law: &Law<'_, R>, lane: usize) -> (Vec<R>, R) {
        let mut has_room: Vec<bool> = self.ceilings.iter().map(|&ceiling| ceiling > R::ZERO).collect();
        let mut slope = R::ZERO;
        loop {
            let free = || (0..self.prices.len()).filter(|&path| has_room[path]);
            let Some(least) = free().map(|path| self.prices[path]).reduce(R::at_most) else {
                return (self.ceilings.to_vec(), slope);
            };
            let weight = |path: usize| {
                let exponent = ((least - self.prices[path]) / self.scale).wide().max(-LARGEST_EXPONENT);
                self.shares[path] * R::of(exp(exponent))
            };
            let (mut shares, mut sum, mut cut) = (R::of(TINY), R::of(TINY), R::ZERO);
            for path in free() {
                shares += self.shares[path];
                sum += weight(path);
            }
            for path in (0..self.prices.len()).filter(|&path| !has_room[path]) {
                cut += self.ceilings[path];
            }
            let below = self.scale * R::of(ln((sum / shares).wide()));
            let demand;
            [demand, slope] = law.respond(lane, (self.common + least - below).at_least(law.floors[lane]));
            let rest = (demand - cut).at_least(R::ZERO);
            let rate = |path: usize| if has_room[path] { rest * (weight(path) / sum) } else { self.ceilings[path] };
            let rates: Vec<R> = (0..self.prices.len()).map(rate).collect();
            let full: Vec<usize> = free().filter(|&path| rates[path] > self.ceilings[path]).collect();
            if full.is_empty() {
                return (rates, slope);
            }
            full.into_iter().for_each(|path| has_room[path] = false);
        }
    }
}

/// Moves the shares of a group.
#[inline(always)]
fn follow<R: Real>(shares: &mut [Lanes<R>], rates: &[Lanes<R>]) {
    let (mut totals, mut sums) = ([R::ZERO; LANES], [R::ZERO; LANES]);
    for rates in rates {
        for lane in 0..LANES {
            totals[lane] += rates[lane];
        }
    }
    for (shares, rates) in shares.iter_mut().zip(rates) {
        for lane in 0..LANES {
            // A flow that gets nothing keeps its shares.
            let part = if totals[lane] > R::ZERO { rates[lane] / totals[lane] } else { shares[lane] };
            shares[lane] += R::of(FOLLOW) * (part.at_least(R::of(SMALLEST_SHARE)) - shares[lane]);
            sums[lane] += shares[lane];
        }
    }
    for shares in shares {
        for lane in 0..LANES {
            shares[lane] = shares[lane] / sums[lane];
        }
    }
}
