//! A lane: some flows, with tables of their own.
//!
//! ```text
//! links → segments   price of a pair = p_row + p_column
//! flows              gather, respond, scatter
//! segments → links   load of a link += its row's or its column's sums
//! ```

use std::collections::BTreeMap;

use netnum_core::numerics::vectorized;
use rustc_hash::FxHashMap;

use super::bucket::{Bucket, Response, Seen, add};
use super::partition::{Grid, Partition, Segment, Windows};
use super::real::Real;

/// Some of the flows, and what they see of the network and add to it.
#[derive(Debug)]
pub(crate) struct Lane<R> {
    /// Price of every segment; the links come first *(iterate)*.
    prices: Vec<R>,
    /// Its priced links, 0 to 2, where a rule counts them *(iterate)*.
    priced: Vec<R>,
    /// [load, slope] that these flows put there *(derived)*.
    sums: Vec<[R; 2]>,
    /// The grids that its flows ever used, in the order of their numbers.
    grids: Vec<u32>,
    uses: Vec<bool>,
    buckets: Vec<Bucket<R>>,
    /// Numbers of buckets without flows. Such a bucket is in neither of the next two.
    vacant: Vec<u32>,
    /// The buckets by law and windows, the last window first, so that one finds in the cache what the one before left
    /// there.
    order: BTreeMap<Box<[u32]>, u32>,
    /// The same, to be found: there may be thousands, and a search would guess at every turn.
    numbers: FxHashMap<Box<[u32]>, u32>,
    /// What is looked up there: law and windows, the last one first.
    key: Vec<u32>,
    windows: Windows,
    /// The share of what flows ask for that a segment can carry, at most 1; empty until it is asked for *(derived)*.
    shares: Vec<R>,
}

/// Where a flow is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) bucket: u32,
    pub(crate) place: u32,
}

impl<R: Real> Lane<R> {
    pub(crate) fn new(partition: &Partition) -> Self {
        let length = partition.segments();
        Self {
            prices: vec![R::ZERO; length],
            priced: vec![R::ZERO; length],
            sums: vec![[R::ZERO; 2]; length],
            grids: Vec::new(),
            uses: vec![false; partition.grids().len()],
            buckets: Vec::new(),
            vacant: Vec::new(),
            order: BTreeMap::new(),
            numbers: FxHashMap::default(),
            key: Vec::new(),
            windows: partition.windows(),
            shares: Vec::new(),
        }
    }

    pub(crate) fn buckets(&self) -> &[Bucket<R>] {
        &self.buckets
    }

    /// In the order in which they respond, which does not depend on which came first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Bucket<R>> {
        self.order.values().map(|&bucket| &self.buckets[bucket as usize])
    }

    /// The same, to change them.
    pub(crate) fn each_in_order(&mut self, mut change: impl FnMut(&mut Bucket<R>)) {
        self.order.values().for_each(|&bucket| change(&mut self.buckets[bucket as usize]));
    }

    pub(crate) fn buckets_mut(&mut self) -> &mut [Bucket<R>] {
        &mut self.buckets
    }

    /// [load, slope] that its flows put on every link, and on every pair, after a response.
    pub(crate) fn sums(&self) -> &[[R; 2]] {
        &self.sums
    }

    /// Adds a flow over these segments.
    pub(crate) fn add(&mut self, flow: u32, segments: &[Segment], response: &Response) -> Spot {
        for grid in segments.iter().filter_map(|segment| segment.grid) {
            if !std::mem::replace(&mut self.uses[grid as usize], true) {
                let at = self.grids.partition_point(|&other| other < grid);
                self.grids.insert(at, grid);
            }
        }
        let windows = || self.windows.of(segments);
        self.key.clear();
        self.key.push(response.law as u32);
        self.key.extend(windows().rev());
        let bucket = match self.numbers.get(&*self.key) {
            Some(&bucket) => bucket,
            None => {
                let new = Bucket::new(response.law, windows().collect());
                let bucket = match self.vacant.pop() {
                    Some(vacant) => {
                        self.buckets[vacant as usize] = new;
                        vacant
                    }
                    None => {
                        self.buckets.push(new);
                        self.buckets.len() as u32 - 1
                    }
                };
                self.order.insert((&*self.key).into(), bucket);
                self.numbers.insert((&*self.key).into(), bucket);
                bucket
            }
        };
        let place = self.buckets[bucket as usize].push(flow, segments.iter().map(|segment| segment.number), response);
        Spot { bucket, place }
    }

    /// Takes a flow out; returns the number of the one that is in its place now, if any. A bucket that has lost its last
    /// flow goes: there are more combinations of windows than flows ever live at a time.
    pub(crate) fn remove(&mut self, spot: Spot) -> Option<u32> {
        let bucket = &mut self.buckets[spot.bucket as usize];
        let moved = bucket.swap_remove(spot.place as usize);
        if bucket.flows().is_empty() {
            self.key.clear();
            self.key.push(bucket.law() as u32);
            self.key.extend(bucket.windows().iter().rev());
            self.order.remove(&*self.key);
            self.numbers.remove(&*self.key);
            *bucket = Bucket::new(bucket.law(), Vec::new());
            self.vacant.push(spot.bucket);
        }
        moved
    }

    /// Prices of some links, from `start` on.
    pub(crate) fn hear(&mut self, start: usize, prices: &[R], priced: &[R], weigh: bool) {
        self.prices[start..start + prices.len()].copy_from_slice(prices);
        if weigh {
            self.priced[start..start + priced.len()].copy_from_slice(priced);
        }
    }

    /// What its flows do at these prices.
    pub(crate) fn respond(&mut self, partition: &Partition, weigh: bool) {
        let grids = || self.grids.iter().map(|&grid| &partition.grids()[grid as usize]);
        add_up(grids(), &mut self.prices);
        if weigh {
            add_up(grids(), &mut self.priced);
        }
        self.sums[..partition.links()].fill([R::ZERO; 2]);
        let seen = Seen { prices: &self.prices, priced: &self.priced };
        for &bucket in self.order.values() {
            let bucket = &mut self.buckets[bucket as usize];
            match weigh {
                true => bucket.respond::<true>(seen, &mut self.sums),
                false => bucket.respond::<false>(seen, &mut self.sums),
            }
        }
        let (grids, sums) = (&self.grids, &mut self.sums);
        vectorized(
            #[inline(always)]
            || {
                for &grid in grids {
                    take_sums(&partition.grids()[grid as usize], sums);
                }
            },
        );
    }
}

impl<R: Real> Lane<R> {
    /// Shares of some links, from `start` on.
    pub(crate) fn hear_shares(&mut self, start: usize, shares: &[R]) {
        // The first time, and no more: allocated where it is used.
        self.shares.resize(self.prices.len(), R::ZERO);
        self.shares[start..start + shares.len()].copy_from_slice(shares);
    }

    /// F-NORM: gives every flow of what it asks for the smallest share on its path.
    pub(crate) fn normalize(&mut self, partition: &Partition) {
        let (grids, shares) = (&self.grids, &mut self.shares);
        vectorized(
            #[inline(always)]
            || {
                for &grid in grids {
                    for_pairs(&partition.grids()[grid as usize], shares, R::at_most);
                }
            },
        );
        for &bucket in self.order.values() {
            self.buckets[bucket as usize].normalize(&self.shares);
        }
    }
}

/// Sums of all pairs of some grids.
fn add_up<'a, R: Real>(grids: impl Iterator<Item = &'a Grid>, table: &mut [R]) {
    vectorized(
        #[inline(always)]
        || {
            for grid in grids {
                for_pairs(grid, table, |row, column| row + column);
            }
        },
    );
}

/// Runs through the columns of a grid in strips of a width that the compiler knows, the widest first.
macro_rules! in_strips {
    ($columns:expr, ($first:ident, $width:ident) => $body:block) => {{
        let (columns, mut $first) = ($columns, 0);
        in_strips!(@ columns, $first, $width, $body, 16 8 4 2 1);
    }};
    (@ $columns:ident, $first:ident, $width:ident, $body:block, $($value:literal)*) => {$(
        while $columns - $first >= $value {
            const $width: usize = $value;
            $body
            $first += $width;
        }
    )*};
}

/// What all pairs of a grid have of their two links.
#[inline(always)]
fn for_pairs<R: Real>(grid: &Grid, table: &mut [R], of: impl Fn(R, R) -> R + Copy) {
    let (links, pairs) = table.split_at_mut(grid.start);
    in_strips!(grid.columns.len(), (first, WIDTH) => {
        let mut columns = [R::ZERO; WIDTH];
        for (column, &link) in columns.iter_mut().zip(&grid.columns[first..]) {
            *column = links[link as usize];
        }
        for (&link, row) in grid.rows.iter().zip(pairs.chunks_exact_mut(grid.columns.len())) {
            let own = links[link as usize];
            for (pair, &column) in strip::<_, WIDTH>(row, first).iter_mut().zip(&columns) {
                *pair = of(own, column);
            }
        }
    });
}

/// Adds the sums of a grid's rows and columns to their links, and clears it.
#[inline(always)]
fn take_sums<R: Real>(grid: &Grid, sums: &mut [[R; 2]]) {
    let (links, pairs) = sums.split_at_mut(grid.start);
    in_strips!(grid.columns.len(), (first, WIDTH) => {
        let mut columns = [[R::ZERO; 2]; WIDTH];
        for (&link, row) in grid.rows.iter().zip(pairs.chunks_exact_mut(grid.columns.len())) {
            // Several sums, so that no addition waits for the one before.
            let mut parts = [[R::ZERO; 2]; PARTS];
            for (place, (pair, column)) in strip::<_, WIDTH>(row, first).iter_mut().zip(&mut columns).enumerate() {
                add(&mut parts[place % PARTS], *pair);
                add(column, *pair);
                *pair = [R::ZERO; 2];
            }
            let [mut sum, one, mut two, three] = parts;
            add(&mut sum, one);
            add(&mut two, three);
            add(&mut sum, two);
            add(&mut links[link as usize], sum);
        }
        for (&link, column) in grid.columns[first..].iter().zip(columns) {
            add(&mut links[link as usize], column);
        }
    });
}

const PARTS: usize = 4;

/// Some entries of a row.
#[inline(always)]
fn strip<T, const WIDTH: usize>(row: &mut [T], first: usize) -> &mut [T; WIDTH] {
    row[first..].first_chunk_mut().expect("strips are within the row")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Worth;
    use crate::engine::partition::Sample;
    use netnum_core::Paths;

    /// More combinations of windows than anybody can keep: what has emptied goes, and its number is used again.
    #[test]
    fn there_are_never_more_buckets_than_flows() {
        let links = 1_000_000;
        let sample = Sample { paths: Paths::from_lists([[0; 0]; 0]), of: 0 };
        let partition = Partition::new(links, &sample).unwrap();
        let mut lane = Lane::<f64>::new(&partition);
        let (mut segments, mut spots) = (Vec::new(), Vec::<Spot>::new());
        let mut random = 1u64;
        for flow in 0..20_000u32 {
            let path: Vec<u32> = (0..4)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((random >> 33) % links as u64) as u32
                })
                .collect();
            partition.segments_of(&path, &mut segments);
            let alpha = [1.0, 2.0][flow as usize % 2];
            spots.push(lane.add(flow, &segments, &Worth { alpha, ..Worth::log(1.0) }.response(1.0)));
            if spots.len() > 100 {
                // The flow that is in its place now was the bucket's last.
                let spot = spots.swap_remove((random >> 40) as usize % spots.len());
                if lane.remove(spot).is_some() {
                    let last = lane.buckets()[spot.bucket as usize].flows().len() as u32;
                    *spots.iter_mut().find(|other| **other == Spot { place: last, ..spot }).unwrap() = spot;
                }
            }
            assert!(lane.order.len() <= spots.len() && lane.numbers.len() == lane.order.len());
            assert!(lane.buckets.len() <= 101 && lane.vacant.len() + lane.order.len() == lane.buckets.len());
        }
        assert_eq!(lane.in_order().map(|bucket| bucket.flows().len()).sum::<usize>(), spots.len());
        spots.sort_unstable_by_key(|spot| (spot.bucket, std::cmp::Reverse(spot.place)));
        for spot in spots {
            assert_eq!(lane.remove(spot), None, "the last of its bucket");
        }
        assert!(lane.order.is_empty() && lane.numbers.is_empty());
    }
}
