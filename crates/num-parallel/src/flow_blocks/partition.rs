//! The layout: links → table entries, flows → blocks.
//!
//! ```text
//! entry   = a link, or a link pair: two links that paths cross one after the other
//! numbers   0 … links − 1 the links themselves, then the pair tables, row by row
//! pair table = all pairs (a, b) around one node: the links into it by the links out of it
//! block    = the flows that begin at some of these nodes: the unit of parallel work
//! ```
//!
//! A path of 4 links over 2 tables is 2 look-ups and 2 additions instead of 4 and 4, and the sums of a table's rows and
//! columns, which close the iteration, run over memory in order. Which links meet at a node is learned from the paths:
//! a union of everything that a link was ever paired with. That is a server's rack or a switch where links have a
//! direction; where they have none it may be half the network, and such a table, larger than its use, is left out. What
//! is in no table is crossed link by link, and so is everything where all tables together are too large for the caches.
//! A flow with coefficients is crossed link by link: its pairs are no sums that others share.
//!
//! All of it depends on the links and the paths only, never on threads.

use std::hash::Hasher;
use std::num::NonZeroUsize;

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::{LinkEnds, spread};
use netnum_core::{Paths, Result};
use rustc_hash::{FxHashSet, FxHasher};

use super::sizes::{
    ENTRIES_OF_LINES, FEW_PAIRS, FLOWS_PER_BLOCK, LOOKED_AT, MOST_BLOCKS, MOST_PAIRS, MOST_SCATTERED, SAMPLE, WINDOW,
};

/// Pairs of one node.
#[derive(Debug)]
pub(crate) struct PairTable {
    /// Its first entry.
    pub(crate) start: usize,
    /// The smallest of the links before the node.
    first: u32,
    /// The links before the node, or those after it, whichever are fewer: the inner loops run over the others. The pair
    /// of row r and column c is entry `start + r * columns.len() + c`.
    pub(crate) rows: Vec<u32>,
    pub(crate) columns: Vec<u32>,
    /// How much further every column's link is than the one before, if all are equally far, or 0: at 1 and 2 they are
    /// copied by vectors. At 2 the links of a direction and those against it take turns.
    pub(crate) step: u32,
    firsts_are_rows: bool,
}

impl PairTable {
    /// Its entries.
    pub(crate) fn entries(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.rows.len() * self.columns.len()
    }
}

/// A part of a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) number: u32,
    /// Of a pair.
    pub(crate) table: Option<u32>,
}

/// How many entries flows of one bucket have between them, at the beginning of their paths and further on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Windows {
    first: usize,
    others: usize,
}

impl Windows {
    /// How many bits tell the entries of a window apart.
    pub(super) fn bits(self) -> [u32; 2] {
        [self.first, self.others].map(usize::ilog2)
    }

    /// Where the windows of a path's entries begin.
    pub(crate) fn of(self, entries: &[Entry]) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator {
        let length = move |position| if position == 0 { self.first } else { self.others };
        let entries = entries.iter().map(|entry| entry.number).enumerate();
        entries.map(move |(position, entry)| entry & !(length(position) as u32 - 1))
    }
}

/// The layout of a network's entries and blocks.
#[derive(Debug)]
pub(crate) struct Partition {
    links: usize,
    entries: usize,
    tables: Vec<PairTable>,
    /// Per link its place as the first and as the second of a pair.
    as_first: Vec<InTable>,
    as_second: Vec<InTable>,
    /// Per link the block of the flows that begin there.
    blocks_of: Vec<u16>,
    blocks: usize,
    windows: Windows,
    are_links_scattered: bool,
}

/// A row or a column of a table: a pair is at the sum of both.
#[derive(Debug, Clone, Copy)]
struct InTable {
    table: u32,
    at: u32,
}

/// Places of a link in no table. They differ, so that two such links share no table.
const NOWHERE: [InTable; 2] = [InTable { table: u32::MAX, at: 0 }, InTable { table: u32::MAX - 1, at: 0 }];

/// Flows stand together whose entries lie in the same windows, the smaller the better as long as there are so many of
/// them for each combination, on average. 1024 entries and their sums are in the first-level cache, 8192 in the second.
const WINDOWS: [(Windows, usize); 2] =
    [(Windows { first: 1 << 10, others: 1 << 10 }, 200), (Windows { first: 1 << 10, others: 1 << 13 }, 64)];

/// Some of many paths, from which a layout is made.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) paths: Paths,
    /// Of how many.
    pub(crate) of: usize,
    /// Whether flows have coefficients: then no pairs are made.
    pub(crate) is_weighted: bool,
}

impl Sample {
    /// Enough of them to meet every link of a node.
    ///
    /// # Errors
    /// [`Error::Stopped`](netnum_core::Error::Stopped), as from all that takes long here.
    pub(crate) fn of(links: usize, paths: &Paths) -> Result<Self> {
        let (mut sampled, mut pacer) = (Paths::from_lists([[0; 0]; 0]), Pacer::new());
        for number in spread(Self::size(links, paths.len()), paths.len()) {
            let path = paths.links(number);
            sampled.push(path);
            pacer.did(path.len())?;
        }
        Ok(Self { paths: sampled, of: paths.len(), is_weighted: paths.coefficients().is_some() })
    }

    /// How many of so many paths over so many links are looked at.
    pub(crate) fn size(links: usize, paths: usize) -> usize {
        paths.min(SAMPLE * links)
    }
}

impl Partition {
    /// The layout for paths like these. O(links + entries).
    pub(crate) fn new(links: usize, Sample { paths: sample, of: paths, is_weighted }: &Sample) -> Result<Self> {
        let paths = *paths;
        let mut pacer = Pacer::new();
        let sampled = || sample.iter();
        let sampled_pairs = || sampled().filter(|_| !is_weighted).flat_map(pairs);
        let mut nodes = LinkEnds::new(links);
        for (one, other) in sampled_pairs() {
            nodes.join(one, other);
            pacer.did(2)?;
        }
        let mut uses = vec![0usize; 2 * links];
        for (one, _) in sampled_pairs() {
            uses[nodes.node(one as usize)] += 1;
            pacer.did(1)?;
        }

        let mut members: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
        let mut number = vec![u32::MAX; 2 * links];
        for side in 0..2 * links {
            pacer.did(1)?;
            let node = nodes.node(side);
            if uses[node] == 0 {
                continue;
            }
            if number[node] == u32::MAX {
                number[node] = members.len() as u32;
                members.push(Default::default());
            }
            let (firsts, seconds) = &mut members[number[node] as usize];
            match side < links {
                true => firsts.push(side as u32),
                false => seconds.push((side - links) as u32),
            }
        }
        let mut this = Self {
            links,
            entries: links,
            tables: Vec::new(),
            as_first: vec![NOWHERE[0]; links],
            as_second: vec![NOWHERE[1]; links],
            blocks_of: vec![0; links],
            blocks: 1,
            windows: Windows { first: WINDOW, others: WINDOW },
            are_links_scattered: false,
        };
        for (firsts, seconds) in members {
            let uses = uses[nodes.node(firsts[0] as usize)] * paths / sample.len();
            if firsts.len() * seconds.len() <= uses {
                this.add_pair_table(firsts, seconds);
            }
        }
        this.are_links_scattered = links > MOST_SCATTERED && this.links_per_entry(sample) < FEW_PAIRS;
        if this.entries > links + MOST_PAIRS {
            this.forget_pairs();
        }
        if paths >= 2 * FLOWS_PER_BLOCK && !sample.is_empty() {
            this.blocks = (paths / FLOWS_PER_BLOCK).min((paths / this.entries / 2).max(2)).min(MOST_BLOCKS);
            this.share_out(sampled().map(|links| links[0]));
        }
        // Every n-th, and not the first: paths may be sorted.
        let looked_at: Vec<&[u32]> = sampled().step_by((sample.len() / LOOKED_AT).max(1)).collect();
        for (windows, crowd) in WINDOWS {
            if this.entries <= windows.first {
                break;
            }
            let combinations = this.combinations(windows, &looked_at);
            if combinations > 0 && combinations * crowd <= paths && combinations * SAMPLE <= looked_at.len() {
                this.windows = windows;
                break;
            }
        }
        Ok(this)
    }

    /// In how many combinations of windows some paths lie.
    fn combinations(&self, windows: Windows, paths: &[&[u32]]) -> usize {
        let (mut found, mut entries) = (FxHashSet::default(), Vec::new());
        for path in paths {
            self.entries_of(path, false, &mut entries);
            let mut hasher = FxHasher::default();
            windows.of(&entries).for_each(|start| hasher.write_u32(start));
            found.insert(hasher.finish());
        }
        found.len()
    }

    pub(crate) fn windows(&self) -> Windows {
        self.windows
    }

    fn add_pair_table(&mut self, firsts: Vec<u32>, seconds: Vec<u32>) {
        let (table, firsts_are_rows) = (self.tables.len() as u32, firsts.len() < seconds.len());
        let is_large = firsts.len() * seconds.len() >= ENTRIES_OF_LINES;
        let start = self.entries.next_multiple_of(if is_large { ENTRIES_OF_LINES } else { 1 });
        let (of_firsts, of_seconds) = if firsts_are_rows { (seconds.len(), 1) } else { (1, firsts.len()) };
        for (place, &link) in firsts.iter().enumerate() {
            self.as_first[link as usize] = InTable { table, at: (start + place * of_firsts) as u32 };
        }
        for (place, &link) in seconds.iter().enumerate() {
            self.as_second[link as usize] = InTable { table, at: (place * of_seconds) as u32 };
        }
        let first = firsts[0];
        let (rows, columns) = if firsts_are_rows { (firsts, seconds) } else { (seconds, firsts) };
        let mut steps = columns.windows(2).map(|links| links[1] - links[0]);
        let step = steps.next().unwrap_or(1);
        let step = if steps.all(|other| other == step) { step } else { 0 };
        self.tables.push(PairTable { start, first, rows, columns, step, firsts_are_rows });
        self.entries = self.tables[table as usize].entries().end;
    }

    fn forget_pairs(&mut self) {
        self.as_first.fill(NOWHERE[0]);
        self.as_second.fill(NOWHERE[1]);
        self.tables.clear();
        self.entries = self.links;
    }

    /// Gives every block about as many flows as the others, and the links into one node to one block.
    fn share_out(&mut self, firsts: impl Iterator<Item = u32>) {
        let unit = |link: usize| match self.as_first[link].table {
            table if table == NOWHERE[0].table => link,
            table => self.tables[table as usize].first as usize,
        };
        let (mut flows, mut total) = (vec![0usize; self.links], 0);
        for first in firsts {
            flows[unit(first as usize)] += 1;
            total += 1;
        }
        let mut before = 0;
        for (link, &flows) in flows.iter().enumerate() {
            // A unit's first link comes first, and decides for the others.
            self.blocks_of[link] = match unit(link) {
                first if first < link => self.blocks_of[first],
                _ => (self.blocks * (before + flows / 2) / total).min(self.blocks - 1) as u16,
            };
            before += flows;
        }
    }

    pub(crate) fn links(&self) -> usize {
        self.links
    }

    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    pub(crate) fn blocks(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.blocks).expect("at least one")
    }

    /// The block of a path.
    pub(crate) fn block_of(&self, path: &[u32]) -> usize {
        self.blocks_of[path[0] as usize].into()
    }

    /// Replaces `entries` by those of a path, with coefficients or without.
    pub(crate) fn entries_of(&self, path: &[u32], is_weighted: bool, entries: &mut Vec<Entry>) {
        entries.clear();
        self.each_entry(path, is_weighted, |entry| entries.push(entry));
    }

    /// Calls a function with the entries of a path, with coefficients or without.
    #[inline(always)]
    pub(super) fn each_entry(&self, path: &[u32], is_weighted: bool, mut look: impl FnMut(Entry)) {
        let mut rest = path;
        while let [link, after @ ..] = rest {
            let pair = after.first().filter(|_| !is_weighted).and_then(|&next| self.pair(*link, next));
            look(pair.unwrap_or(Entry { number: *link, table: None }));
            rest = if pair.is_some() { &after[1..] } else { after };
        }
    }

    fn pair(&self, one: u32, other: u32) -> Option<Entry> {
        let (row, column) = (self.as_first[one as usize], self.as_second[other as usize]);
        (row.table == column.table).then_some(Entry { number: row.at + column.at, table: Some(row.table) })
    }

    /// How many links an entry of some paths has on average, 1 to 2.
    fn links_per_entry(&self, paths: &Paths) -> f64 {
        let (mut count, mut entries) = (0, Vec::new());
        for path in paths.iter() {
            self.entries_of(path, false, &mut entries);
            count += entries.len();
        }
        paths.indices().len() as f64 / count.max(1) as f64
    }

    /// Whether there are many links, and paths share few pairs of them: such links are in no order that serves caches.
    pub(crate) fn are_links_scattered(&self) -> bool {
        self.are_links_scattered
    }

    /// The links of an entry, one or two, in the order that paths cross them.
    pub(crate) fn links_of(&self, entry: usize) -> (u32, Option<u32>) {
        let Some(table) = self.tables.partition_point(|table| table.start <= entry).checked_sub(1) else {
            return (entry as u32, None);
        };
        let PairTable { start, rows, columns, firsts_are_rows, .. } = &self.tables[table];
        let place = entry - start;
        let (row, column) = (rows[place / columns.len()], columns[place % columns.len()]);
        if *firsts_are_rows { (row, Some(column)) } else { (column, Some(row)) }
    }

    pub(crate) fn tables(&self) -> &[PairTable] {
        &self.tables
    }
}

/// The pairs that a path is cut into. Paths of two links are left alone: they gain little, and would make one table of
/// the ways into a rack, out of it and through it.
fn pairs(path: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let path = if path.len() > 2 { path } else { &[] };
    path.as_chunks::<2>().0.iter().map(|&[one, other]| (one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths through one switch of so many links in and out, whose pairs are all used.
    fn through_a_switch(width: u32) -> Partition {
        let path = |place: u32| [place % width, width + (place / width + place) % width, 2 * width];
        let paths = Paths::from_lists((0..width * 8).map(path));
        let all = (width * width) as usize;
        Partition::new(2 * width as usize + 1, &Sample { paths, of: all, is_weighted: false }).unwrap()
    }

    #[test]
    fn pairs_beyond_what_caches_hold_are_crossed_link_by_link() {
        let (few, many) = (through_a_switch(362), through_a_switch(363));
        assert_eq!(
            (few.tables().len(), few.entries() - few.links().next_multiple_of(ENTRIES_OF_LINES)),
            (1, 362 * 362)
        );
        assert_eq!((many.tables().len(), many.entries()), (0, many.links()));
        let mut entries = Vec::new();
        for (partition, count) in [(&few, 2), (&many, 3)] {
            let last = partition.links() as u32 - 1;
            partition.entries_of(&[0, last / 2, last], false, &mut entries);
            assert_eq!(entries.len(), count);
            let links: Vec<_> = entries.iter().map(|entry| partition.links_of(entry.number as usize)).collect();
            assert_eq!(links.last(), Some(&(last, None)));
            assert!(!partition.are_links_scattered());
        }
    }
}
