//! Tables of a worker, which flows read and add to: price, load and slope of every entry.
//!
//! ```text
//! links → pairs   price of a pair = p_row + p_column
//! flows           gather, respond, scatter
//! pairs → links   load of a link += its row's or its column's sums
//! ```
//!
//! A worker's blocks use its tables one after the other: prices are made once for all of them, sums are taken and
//! cleared after each, so that these are the block's alone.

use netnum_core::internal::numerics::vectorized;

use super::partition::{PairTable, Partition};
use super::real::Real;
use super::sizes::{TAKEN, WINDOW};
use super::windows::{Lines, View, add};

/// One entry per link, then one per link pair, then a window that is never used.
#[derive(Debug)]
pub(crate) struct Tables<R> {
    /// Price of every entry *(given, of links)*.
    prices: Lines<R>,
    /// Its priced links, 0 to 2, where a rule counts them *(given, of links)*.
    priced: Lines<R>,
    counts_priced: bool,
    /// [load, slope] that the flows of a block put there; 0 between blocks *(derived)*.
    sums: Lines<[R; 2]>,
    /// The part of the demanded rates that an entry can carry, at most 1; empty before the first F-NORM *(given, of
    /// links)*.
    fractions: Lines<R>,
    /// Whether the pairs of a table follow from the links that were read last.
    is_current: Vec<bool>,
}

impl<R: Real> Tables<R> {
    pub(crate) fn new(partition: &Partition) -> Self {
        let length = partition.entries() + WINDOW;
        Self {
            prices: Lines::new(R::ZERO, length),
            priced: Lines::new(R::ZERO, length),
            counts_priced: false,
            sums: Lines::new([R::ZERO; 2], length),
            fractions: Lines::new(R::ZERO, 0),
            is_current: vec![false; partition.tables().len()],
        }
    }

    /// Reads the prices of all links, to which flows are to respond. Where `priced` is given, slopes count priced
    /// links.
    pub(crate) fn read_prices(&mut self, prices: &[f64], priced: Option<&[f64]>) {
        copy(prices, &mut self.prices);
        self.counts_priced = priced.is_some();
        if let Some(priced) = priced {
            copy(priced, &mut self.priced);
        }
        self.is_current.fill(false);
    }

    /// Reads the fraction of its load that every link can carry.
    pub(crate) fn read_fractions(&mut self, fractions: &[f64]) {
        // The first time, and no more: allocated where it is used.
        if self.fractions.is_empty() {
            self.fractions = Lines::new(R::ONE, self.prices.len());
        }
        copy(fractions, &mut self.fractions);
        self.is_current.fill(false);
    }

    /// Makes the prices of the pairs of some tables.
    pub(crate) fn add_up(&mut self, partition: &Partition, tables: &[u32]) {
        let Self { prices, priced, counts_priced, is_current, .. } = self;
        vectorized(
            #[inline(always)]
            || {
                for table in outdated(partition, tables, is_current) {
                    for_pairs(table, prices, |row, column| row + column);
                    if *counts_priced {
                        for_pairs(table, priced, |row, column| row + column);
                    }
                }
            },
        );
    }

    /// The tables that flows read, whether they count priced links, and the table that they add to.
    pub(crate) fn of_flows(&mut self) -> (View<'_, R>, bool, &mut [[R; 2]]) {
        (View { prices: &self.prices, priced: &self.priced }, self.counts_priced, &mut self.sums)
    }

    /// Moves the sums on the pairs of these tables to their links.
    pub(crate) fn gather(&mut self, partition: &Partition, tables: &[u32]) {
        let sums = &mut self.sums;
        vectorized(
            #[inline(always)]
            || {
                for &table in tables {
                    gather(&partition.tables()[table as usize], sums);
                }
            },
        );
    }

    /// Takes the sums of every link, and clears them.
    pub(crate) fn take<T>(&mut self, links: &mut [T], put: impl Fn(&mut T, [R; 2])) {
        let sums = &mut self.sums[..links.len()];
        vectorized(
            #[inline(always)]
            || {
                for (links, sums) in links.chunks_mut(TAKEN).zip(sums.chunks_mut(TAKEN)) {
                    links.iter_mut().zip(&*sums).for_each(|(link, &sum)| put(link, sum));
                    sums.fill([R::ZERO; 2]);
                }
            },
        );
    }

    /// The fractions of all entries, with the pairs of these tables.
    pub(crate) fn least_fractions(&mut self, partition: &Partition, tables: &[u32]) -> &[R] {
        let Self { fractions, is_current, .. } = self;
        vectorized(
            #[inline(always)]
            || {
                for table in outdated(partition, tables, is_current) {
                    for_pairs(table, fractions, R::at_most);
                }
            },
        );
        &self.fractions
    }
}

/// Those of some tables that are to be made anew, which are current then.
#[inline(always)]
fn outdated<'a>(
    partition: &'a Partition,
    tables: &[u32],
    is_current: &mut [bool],
) -> impl Iterator<Item = &'a PairTable> {
    let outdated = tables.iter().filter(|&&table| !std::mem::replace(&mut is_current[table as usize], true));
    outdated.map(|&table| &partition.tables()[table as usize])
}

/// A column of all links into the table that begins with them.
fn copy<R: Real>(links: &[f64], table: &mut [R]) {
    vectorized(
        #[inline(always)]
        || {
            for (entry, &link) in table.iter_mut().zip(links) {
                *entry = R::of(link);
            }
        },
    );
}

/// Runs through the columns of a table in strips of constant widths, the widest first.
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

/// Makes all pairs of a table from their two links.
#[inline(always)]
fn for_pairs<R: Real>(node: &PairTable, table: &mut [R], of: impl Fn(R, R) -> R + Copy) {
    let (links, pairs) = table.split_at_mut(node.start);
    in_strips!(node.columns.len(), (first, WIDTH) => {
        let columns = strip::<_, WIDTH>(&node.columns, first);
        let from = &links[columns[0] as usize..];
        let columns = match (node.step, from.first_chunk::<{ 2 * WIDTH }>()) {
            (1, _) => *strip(from, 0),
            (2, Some(both)) => std::array::from_fn(|column| both[2 * column]),
            _ => columns.map(|link| links[link as usize]),
        };
        for (row, &link) in node.rows.iter().enumerate() {
            let row = &mut pairs[row * node.columns.len()..];
            let own = links[link as usize];
            for (pair, &column) in strip_mut::<_, WIDTH>(row, first).iter_mut().zip(&columns) {
                *pair = of(own, column);
            }
        }
    });
}

/// Adds the sums of a table's rows and columns to their links, and clears it.
#[inline(always)]
fn gather<R: Real>(node: &PairTable, sums: &mut [[R; 2]]) {
    let (links, pairs) = sums.split_at_mut(node.start);
    in_strips!(node.columns.len(), (first, WIDTH) => {
        // Flat, so that vectors are filled whichever kind of numbers it is.
        let mut totals = [R::ZERO; 2 * WIDTH];
        for (row, &link) in node.rows.iter().enumerate() {
            let row = &mut pairs[row * node.columns.len()..];
            let row = strip_mut::<_, { 2 * WIDTH }>(row.as_flattened_mut(), 2 * first);
            let mut row = std::mem::replace(row, [R::ZERO; 2 * WIDTH]);
            for (total, &sum) in totals.iter_mut().zip(&row) {
                *total += sum;
            }
            // Halves onto each other, so that no addition waits for the one before.
            let mut half = 2 * WIDTH;
            while half > 2 {
                half /= 2;
                for place in 0..half {
                    let other = row[place + half];
                    row[place] += other;
                }
            }
            add(&mut links[link as usize], [row[0], row[1]]);
        }
        let totals = totals.as_chunks().0.iter().copied();
        let columns = strip::<_, WIDTH>(&node.columns, first);
        match (node.step, links[columns[0] as usize..].first_chunk_mut::<{ 2 * WIDTH }>()) {
            (1, _) => {
                let links = strip_mut::<_, WIDTH>(links, columns[0] as usize);
                links.iter_mut().zip(totals).for_each(|(link, total)| add(link, total));
            }
            (2, Some(both)) => {
                both.as_chunks_mut().0.iter_mut().zip(totals).for_each(|([link, _], total)| add(link, total));
            }
            _ => columns.iter().zip(totals).for_each(|(&link, total)| add(&mut links[link as usize], total)),
        }
    });
}

/// Some entries of a row.
#[inline(always)]
fn strip<T, const WIDTH: usize>(row: &[T], first: usize) -> &[T; WIDTH] {
    row[first..].first_chunk().expect(WITHIN)
}

/// Some entries of a row, to be changed.
#[inline(always)]
fn strip_mut<T, const WIDTH: usize>(row: &mut [T], first: usize) -> &mut [T; WIDTH] {
    row[first..].first_chunk_mut().expect(WITHIN)
}

const WITHIN: &str = "strips are within the row";
