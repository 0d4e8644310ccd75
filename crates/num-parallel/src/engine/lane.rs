//! A lane: some flows, with tables of their own.
//!
//! ```text
//! links → segments   price of a pair = p_row + p_column
//! flows              gather, respond, scatter
//! segments → links   load of a link += its row's or its column's sums
//! ```

use super::bucket::{Bucket, Response, Table, WINDOW};
use super::partition::{Grid, Partition};
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
    buckets: Vec<Bucket<R>>,
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
        Self { prices: table(), sums: table(), grids: Vec::new(), buckets: Vec::new() }
    }

    pub(crate) fn buckets(&self) -> &[Bucket<R>] {
        &self.buckets
    }

    /// [load, slope] that its flows put on every link, and on every pair, after a response.
    pub(crate) fn sums(&self) -> &[[R; 2]] {
        &self.sums
    }

    /// Adds a flow over these segments.
    pub(crate) fn add(&mut self, partition: &Partition, flow: u32, segments: &[u32], response: &Response) -> Spot {
        for grid in segments.iter().filter_map(|&segment| partition.grid_of(segment)) {
            if let Err(at) = self.grids.binary_search(&(grid as u32)) {
                self.grids.insert(at, grid as u32);
            }
        }
        let window = |segment: u32| segment & !(WINDOW as u32 - 1);
        let alike = |bucket: &Bucket<R>| {
            let windows = segments.iter().map(|&segment| window(segment));
            bucket.law() == response.law && windows.eq(bucket.windows.iter().copied())
        };
        let bucket = self.buckets.iter().position(alike).unwrap_or_else(|| {
            self.buckets.push(Bucket::new(response.law, segments.iter().map(|&segment| window(segment)).collect()));
            self.buckets.len() - 1
        });
        let place = self.buckets[bucket].flows().len() as u32;
        self.buckets[bucket].push(flow, segments.iter().map(|&segment| segment as u16), response);
        Spot { bucket: bucket as u32, place }
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
        for &grid in &self.grids {
            add_prices(&partition.grids()[grid as usize], &mut self.prices);
        }
        self.sums[..partition.links()].fill([R::default(); 2]);
        for bucket in &mut self.buckets {
            match weigh {
                true => bucket.respond::<true>(&self.prices, &mut self.sums),
                false => bucket.respond::<false>(&self.prices, &mut self.sums),
            }
        }
        for &grid in &self.grids {
            take_sums(&partition.grids()[grid as usize], &mut self.sums);
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
#[inline(never)]
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
#[inline(never)]
fn take_sums<R: Real>(grid: &Grid, sums: &mut [[R; 2]]) {
    let (links, pairs) = sums.split_at_mut(grid.start);
    let add = |to: &mut [R; 2], sum: [R; 2]| {
        to[0] += sum[0];
        to[1] += sum[1];
    };
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
