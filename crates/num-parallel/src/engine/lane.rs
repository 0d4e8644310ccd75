//! A lane: some flows, with tables of their own.
//!
//! ```text
//! links → segments   price of a pair = p_row + p_column
//! flows              gather, respond, scatter
//! segments → links   load of a link += its row's or its column's sums
//! ```

use std::collections::HashMap;

use netnum_core::utility::elementary::vectorized;

use super::bucket::{Bucket, Response, Table, WINDOW, add};
use super::partition::{Grid, Partition, Segment};
use super::real::Real;

/// Some of the flows, and what they see of the network and add to it.
#[derive(Debug)]
pub(crate) struct Lane<R> {
    /// [price, priced] of every segment; the links come first *(iterate)*.
    prices: Table<R>,
    /// [load, slope] that these flows put there *(derived)*.
    sums: Table<R>,
    /// The grids that its flows ever used, in the order of their numbers.
    grids: Vec<u32>,
    uses: Vec<bool>,
    buckets: Vec<Bucket<R>>,
    /// The buckets by law and windows, so that one finds in the cache what the one before left there.
    order: Vec<u32>,
    /// The same, to be found: law and windows → bucket. There may be thousands, and a search would guess at every turn.
    numbers: HashMap<Vec<u32>, u32>,
    /// What is looked up there.
    key: Vec<u32>,
    /// Segments that a bucket's 16 bits number.
    window: usize,
    /// Load per capacity of every segment; empty until it is asked for *(derived)*.
    fullness: Vec<R>,
}

/// Where a flow is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) bucket: u32,
    pub(crate) place: u32,
}

impl<R: Real> Lane<R> {
    pub(crate) fn new(partition: &Partition) -> Self {
        let length = partition.segments().max(WINDOW).next_multiple_of(WINDOW);
        let table = || vec![[R::default(); 2]; length];
        let (grids, buckets, order, fullness) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self {
            prices: table(),
            sums: table(),
            grids,
            uses: vec![false; partition.grids().len()],
            buckets,
            order,
            numbers: HashMap::new(),
            key: Vec::new(),
            window: partition.window(),
            fullness,
        }
    }

    pub(crate) fn buckets(&self) -> &[Bucket<R>] {
        &self.buckets
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
        let windows = || segments.iter().map(|segment| segment.number & !(self.window as u32 - 1));
        self.key.clear();
        self.key.push(response.law as u32);
        self.key.extend(windows());
        let bucket = match self.numbers.get(&*self.key) {
            Some(&bucket) => bucket,
            None => {
                let bucket = self.buckets.len() as u32;
                let before = |&other: &u32| {
                    let other = &self.buckets[other as usize];
                    other.law().cmp(&response.law).then_with(|| other.windows().iter().copied().cmp(windows())).is_lt()
                };
                self.order.insert(self.order.partition_point(before), bucket);
                self.numbers.insert(self.key.clone(), bucket);
                self.buckets.push(Bucket::new(response.law, windows().collect(), self.window));
                bucket
            }
        };
        let place = self.buckets[bucket as usize].push(flow, segments.iter().map(|segment| segment.number), response);
        Spot { bucket, place }
    }

    /// Takes a flow out; returns the number of the one that is in its place now, if any.
    pub(crate) fn remove(&mut self, spot: Spot) -> Option<u32> {
        self.buckets[spot.bucket as usize].swap_remove(spot.place as usize)
    }

    /// Prices of some links, from `start` on.
    pub(crate) fn hear(&mut self, start: usize, prices: &[[R; 2]]) {
        self.prices[start..start + prices.len()].copy_from_slice(prices);
    }

    /// What its flows do at these prices.
    pub(crate) fn respond(&mut self, partition: &Partition, weigh: bool) {
        let (grids, prices) = (&self.grids, &mut self.prices);
        vectorized(
            #[inline(always)]
            || {
                for &grid in grids {
                    add_prices(&partition.grids()[grid as usize], prices);
                }
            },
        );
        self.sums[..partition.links()].fill([R::default(); 2]);
        for &bucket in &self.order {
            let bucket = &mut self.buckets[bucket as usize];
            match weigh {
                true => bucket.respond::<true>(&self.prices, &mut self.sums),
                false => bucket.respond::<false>(&self.prices, &mut self.sums),
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
    /// load/c of some links, from `start` on.
    pub(crate) fn hear_fullness(&mut self, start: usize, fullness: &[R]) {
        // The first time, and no more: allocated where it is used.
        self.fullness.resize(self.prices.len(), R::default());
        self.fullness[start..start + fullness.len()].copy_from_slice(fullness);
    }

    /// F-NORM: divides every rate by the largest load per capacity on its path, where that is above 1.
    pub(crate) fn normalize(&mut self, partition: &Partition) {
        for &grid in &self.grids {
            let Grid { start, rows, columns } = &partition.grids()[grid as usize];
            let (links, pairs) = self.fullness.split_at_mut(*start);
            for (&link, row) in rows.iter().zip(pairs.chunks_exact_mut(columns.len())) {
                let own = links[link as usize];
                for (pair, &link) in row.iter_mut().zip(columns) {
                    *pair = links[link as usize].at_least(own);
                }
            }
        }
        for &bucket in &self.order {
            self.buckets[bucket as usize].normalize(&self.fullness);
        }
    }
}

/// Compiles an expression for each number of columns that fabrics have.
macro_rules! with_columns {
    ($columns:expr, $constant:ident => $call:expr, $otherwise:expr) => {
        with_columns!($columns, $constant => $call, $otherwise, [2 4 8 16 32])
    };
    ($columns:expr, $constant:ident => $call:expr, $otherwise:expr, [$($value:literal)*]) => {
        match $columns {
            $($value => {
                const $constant: usize = $value;
                $call
            })*
            _ => $otherwise,
        }
    };
}

/// Prices of all pairs of a grid.
#[inline(always)]
fn add_prices<R: Real>(grid: &Grid, prices: &mut [[R; 2]]) {
    let (links, pairs) = prices.split_at_mut(grid.start);
    with_columns!(grid.columns.len(), COLUMNS => {
        let mut columns = [[R::default(); 2]; COLUMNS];
        for (column, &link) in columns.iter_mut().zip(&grid.columns) {
            *column = links[link as usize];
        }
        for (&link, row) in grid.rows.iter().zip(pairs.as_chunks_mut::<COLUMNS>().0) {
            let [price, priced] = links[link as usize];
            for (pair, column) in row.iter_mut().zip(&columns) {
                *pair = [price + column[0], priced + column[1]];
            }
        }
    }, {
        for (&link, row) in grid.rows.iter().zip(pairs.chunks_exact_mut(grid.columns.len())) {
            let [price, priced] = links[link as usize];
            for (pair, &link) in row.iter_mut().zip(&grid.columns) {
                let column = links[link as usize];
                *pair = [price + column[0], priced + column[1]];
            }
        }
    });
}

/// Adds the sums of a grid's rows and columns to their links, and clears it.
#[inline(always)]
fn take_sums<R: Real>(grid: &Grid, sums: &mut [[R; 2]]) {
    let (links, pairs) = sums.split_at_mut(grid.start);
    with_columns!(grid.columns.len(), COLUMNS => {
        let mut columns = [[R::default(); 2]; COLUMNS];
        for (&link, row) in grid.rows.iter().zip(pairs.as_chunks_mut::<COLUMNS>().0) {
            let mut sum = [R::default(); 2];
            for (pair, column) in row.iter_mut().zip(&mut columns) {
                add(&mut sum, *pair);
                add(column, *pair);
                *pair = [R::default(); 2];
            }
            add(&mut links[link as usize], sum);
        }
        for (&link, column) in grid.columns.iter().zip(columns) {
            add(&mut links[link as usize], column);
        }
    }, {
        for (&row_link, row) in grid.rows.iter().zip(pairs.chunks_exact_mut(grid.columns.len())) {
            for (&link, pair) in grid.columns.iter().zip(row) {
                add(&mut links[link as usize], *pair);
                add(&mut links[row_link as usize], *pair);
                *pair = [R::default(); 2];
            }
        }
    });
}
