//! A flow block: some of the flows, and a private copy of what they read and add to.
//!
//! ```text
//! links → pairs   price of a pair = p_row + p_column
//! flows           gather, respond, scatter
//! pairs → links   load of a link += its row's or its column's sums
//! ```

use std::collections::BTreeMap;

use netnum_core::numerics::vectorized;
use netnum_core::price::PowerDemand;
use rustc_hash::FxHashMap;

use super::bucket::{Bucket, View, add};
use super::partition::{Entry, PairTable, Partition, Windows};
use super::real::Real;

/// Some of the flows, and their tables: one entry per link, then one per link pair.
#[derive(Debug)]
pub(crate) struct FlowBlock<R> {
    /// Price of every entry *(given, of links)*.
    prices: Vec<R>,
    /// Its priced links, 0 to 2, where a rule counts them *(given, of links)*.
    priced: Vec<R>,
    /// [load, slope] that these flows put there *(derived)*.
    sums: Vec<[R; 2]>,
    /// The pair tables that its flows ever used, in the order of their numbers.
    tables: Vec<u32>,
    uses: Vec<bool>,
    buckets: Vec<Bucket<R>>,
    /// Numbers of buckets without flows. Such a bucket is in neither of the next two.
    vacant: Vec<u32>,
    /// The buckets by law and windows, the last window first, so that consecutive buckets share cache lines.
    order: BTreeMap<Box<[u32]>, u32>,
    /// The same for look-up: with thousands of buckets, every branch of a binary search is mispredicted half the time.
    numbers: FxHashMap<Box<[u32]>, u32>,
    /// What is looked up there: law and windows, the last one first.
    key: Vec<u32>,
    windows: Windows,
    /// The part of the demanded rates that an entry can carry, at most 1; empty before the first F-NORM *(given, of
    /// links)*.
    fractions: Vec<R>,
}

/// Where a flow is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) bucket: u32,
    pub(crate) place: u32,
}

impl<R: Real> FlowBlock<R> {
    pub(crate) fn new(partition: &Partition) -> Self {
        let length = partition.entries();
        Self {
            prices: vec![R::ZERO; length],
            priced: vec![R::ZERO; length],
            sums: vec![[R::ZERO; 2]; length],
            tables: Vec::new(),
            uses: vec![false; partition.tables().len()],
            buckets: Vec::new(),
            vacant: Vec::new(),
            order: BTreeMap::new(),
            numbers: FxHashMap::default(),
            key: Vec::new(),
            windows: partition.windows(),
            fractions: Vec::new(),
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

    /// Adds a flow over these entries.
    pub(crate) fn add(&mut self, flow: u32, entries: &[Entry], demand: &PowerDemand) -> Place {
        let bucket = self.bucket_of(demand.is_log, entries);
        let place = self.buckets[bucket as usize].push(flow, entries.iter().map(|entry| entry.number), demand);
        Place { bucket, place }
    }

    /// Notes that a pair table has flows.
    #[inline]
    pub(super) fn use_table(&mut self, table: u32) {
        if !std::mem::replace(&mut self.uses[table as usize], true) {
            let at = self.tables.partition_point(|&other| other < table);
            self.tables.insert(at, table);
        }
    }

    /// The number of the bucket of flows over these entries, which may be new.
    pub(super) fn bucket_of(&mut self, is_log: bool, entries: &[Entry]) -> u32 {
        entries.iter().filter_map(|entry| entry.table).for_each(|table| self.use_table(table));
        let windows = || self.windows.of(entries);
        self.key.clear();
        self.key.push(u32::from(!is_log));
        self.key.extend(windows().rev());
        match self.numbers.get(&*self.key) {
            Some(&bucket) => bucket,
            None => {
                let new = Bucket::new(is_log, windows().collect());
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
        }
    }

    /// Takes a flow out; returns the number of the one that is in its place now, if any. A bucket that has lost its
    /// last flow goes: there are more combinations of windows than flows ever live at a time.
    pub(crate) fn remove(&mut self, spot: Place) -> Option<u32> {
        let bucket = &mut self.buckets[spot.bucket as usize];
        let moved = bucket.swap_remove(spot.place as usize);
        if bucket.flows().is_empty() {
            self.key.clear();
            self.key.push(u32::from(!bucket.is_log()));
            self.key.extend(bucket.windows().iter().rev());
            self.order.remove(&*self.key);
            self.numbers.remove(&*self.key);
            *bucket = Bucket::new(bucket.is_log(), Vec::new());
            self.vacant.push(spot.bucket);
        }
        moved
    }

    /// The response of its flows to the prices of all links. Where `priced` is given, slopes count priced links.
    pub(crate) fn respond(&mut self, partition: &Partition, prices: &[f64], priced: Option<&[f64]>) {
        copy(prices, &mut self.prices);
        let weigh = priced.is_some();
        if let Some(priced) = priced {
            copy(priced, &mut self.priced);
        }
        let tables = || self.tables.iter().map(|&table| &partition.tables()[table as usize]);
        add_up(tables(), &mut self.prices);
        if weigh {
            add_up(tables(), &mut self.priced);
        }
        self.sums[..partition.links()].fill([R::ZERO; 2]);
        let view = View { prices: &self.prices, priced: &self.priced };
        for &bucket in self.order.values() {
            let bucket = &mut self.buckets[bucket as usize];
            match weigh {
                true => bucket.respond::<true>(view, &mut self.sums),
                false => bucket.respond::<false>(view, &mut self.sums),
            }
        }
        let (tables, sums) = (&self.tables, &mut self.sums);
        vectorized(
            #[inline(always)]
            || {
                for &node in tables {
                    take_sums(&partition.tables()[node as usize], sums);
                }
            },
        );
    }
}

impl<R: Real> FlowBlock<R> {
    /// F-NORM: every flow gets the smallest fraction on its path of the rate that it demands, given the fraction of its
    /// load that every link can carry.
    pub(crate) fn normalize(&mut self, partition: &Partition, fractions: &[f64]) {
        // The first time, and no more: allocated where it is used.
        self.fractions.resize(self.prices.len(), R::ZERO);
        copy(fractions, &mut self.fractions);
        let (tables, fractions) = (&self.tables, &mut self.fractions);
        vectorized(
            #[inline(always)]
            || {
                for &node in tables {
                    for_pairs(&partition.tables()[node as usize], fractions, R::at_most);
                }
            },
        );
        for &bucket in self.order.values() {
            self.buckets[bucket as usize].normalize(&self.fractions);
        }
    }
}

/// A column of all links into the table that begins with them.
fn copy<R: Real>(links: &[f64], table: &mut [R]) {
    for (entry, &link) in table.iter_mut().zip(links) {
        *entry = R::of(link);
    }
}

/// Sums of all pairs of some nodes.
fn add_up<'a, R: Real>(nodes: impl Iterator<Item = &'a PairTable>, table: &mut [R]) {
    vectorized(
        #[inline(always)]
        || {
            for node in nodes {
                for_pairs(node, table, |row, column| row + column);
            }
        },
    );
}

/// Runs through the columns of a table in strips of a width that the compiler knows, the widest first.
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

/// What all pairs of a table have of their two links.
#[inline(always)]
fn for_pairs<R: Real>(node: &PairTable, table: &mut [R], of: impl Fn(R, R) -> R + Copy) {
    let (links, pairs) = table.split_at_mut(node.start);
    in_strips!(node.columns.len(), (first, WIDTH) => {
        let mut columns = [R::ZERO; WIDTH];
        for (column, &link) in columns.iter_mut().zip(&node.columns[first..]) {
            *column = links[link as usize];
        }
        for (&link, row) in node.rows.iter().zip(pairs.chunks_exact_mut(node.columns.len())) {
            let own = links[link as usize];
            for (pair, &column) in strip::<_, WIDTH>(row, first).iter_mut().zip(&columns) {
                *pair = of(own, column);
            }
        }
    });
}

/// Adds the sums of a table's rows and columns to their links, and clears it.
#[inline(always)]
fn take_sums<R: Real>(node: &PairTable, sums: &mut [[R; 2]]) {
    let (links, pairs) = sums.split_at_mut(node.start);
    in_strips!(node.columns.len(), (first, WIDTH) => {
        let mut columns = [[R::ZERO; 2]; WIDTH];
        for (&link, row) in node.rows.iter().zip(pairs.chunks_exact_mut(node.columns.len())) {
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
        for (&link, column) in node.columns[first..].iter().zip(columns) {
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
    use crate::flow_blocks::partition::Sample;
    use netnum_core::{Paths, PowerLaw};

    /// There are more combinations of windows than memory holds: an empty bucket goes, and its number is used again.
    #[test]
    fn there_are_never_more_buckets_than_flows() {
        let links = 1_000_000;
        let sample = Sample { paths: Paths::from_lists([[0; 0]; 0]), of: 0 };
        let partition = Partition::new(links, &sample).unwrap();
        let mut block = FlowBlock::<f64>::new(&partition);
        let (mut entries, mut spots) = (Vec::new(), Vec::<Place>::new());
        let mut random = 1u64;
        for flow in 0..20_000u32 {
            let path: Vec<u32> = (0..4)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((random >> 33) % links as u64) as u32
                })
                .collect();
            partition.entries_of(&path, &mut entries);
            let alpha = [1.0, 2.0][flow as usize % 2];
            spots.push(block.add(flow, &entries, &PowerLaw::new(1.0, alpha).over(1.0)));
            if spots.len() > 100 {
                // The flow that is in its place now was the bucket's last.
                let spot = spots.swap_remove((random >> 40) as usize % spots.len());
                if block.remove(spot).is_some() {
                    let last = block.buckets()[spot.bucket as usize].flows().len() as u32;
                    *spots.iter_mut().find(|other| **other == Place { place: last, ..spot }).unwrap() = spot;
                }
            }
            assert!(block.order.len() <= spots.len() && block.numbers.len() == block.order.len());
            assert!(block.buckets.len() <= 101 && block.vacant.len() + block.order.len() == block.buckets.len());
        }
        assert_eq!(block.in_order().map(|bucket| bucket.flows().len()).sum::<usize>(), spots.len());
        spots.sort_unstable_by_key(|spot| (spot.bucket, std::cmp::Reverse(spot.place)));
        for spot in spots {
            assert_eq!(block.remove(spot), None, "the last of its bucket");
        }
        assert!(block.order.is_empty() && block.numbers.is_empty());
    }
}
