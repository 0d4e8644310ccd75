//! All flows of a problem into blocks at once: a piece of the problem after the other, sorted by block, so that paths
//! are read once; then bucket by bucket with room for all. A thread fills every n-th block, so that the bits do not
//! depend on their number.

use std::num::NonZeroUsize;
use std::ops::Range;

use netnum_core::internal::interrupt::{Pacer, check};
use netnum_core::internal::{PowerDemands, Respond, for_each};
use netnum_core::{Paths, Result, Workers};

use super::block::FlowBlock;
use super::bucket::Kind;
use super::partition::{Entry, Partition, Sample, Windows};
use super::real::Real;
use super::sizes::{FEWEST_FLOWS, PIECE, REMEMBERED};
use super::{FlowBlocks, own};

/// Blocks of the flows of a problem for so many threads, filled by these workers; none where the loop over rows is
/// faster.
///
/// # Errors
/// [`Error::Threads`](netnum_core::Error::Threads), [`Error::Stopped`](netnum_core::Error::Stopped).
pub(crate) fn of_problem(
    links: usize,
    paths: &Paths,
    demands: &[PowerDemands<'_>],
    threads: NonZeroUsize,
    workers: &dyn Workers,
) -> Result<Option<Box<dyn Respond>>> {
    if paths.len() < FEWEST_FLOWS {
        return Ok(None);
    }
    let sample = Sample::of(links, paths)?;
    let partition = Partition::new(links, &sample)?;
    // The loop over rows finds all of a link in one line of a cache.
    if partition.are_links_scattered() {
        return Ok(None);
    }
    let mut blocks = FlowBlocks::<f64>::new(partition, threads)?;
    blocks.add_all(paths, demands, workers)?;
    Ok(Some(Box::new(blocks)))
}

impl<R: Real> FlowBlocks<R> {
    /// Adds all flows of a problem, by their numbers.
    ///
    /// # Errors
    /// [`Error::Stopped`](netnum_core::Error::Stopped).
    fn add_all(&mut self, paths: &Paths, demands: &[PowerDemands<'_>], workers: &dyn Workers) -> Result<()> {
        let (partition, threads) = (&self.shared.partition, self.team.threads());
        let mut shares: Vec<Vec<Draft<'_, R>>> = (0..threads.get()).map(|_| Vec::new()).collect();
        for (number, block) in self.blocks.iter_mut().enumerate() {
            shares[number % threads].push(Draft::new(number, own(block)));
        }
        let work = |mut share: Vec<Draft<'_, R>>| -> Result<()> {
            let mut sorter = Sorter::new(partition, &share);
            for demands in demands {
                let flows = demands.flows.len() / partition.blocks();
                share.iter_mut().for_each(|draft| draft.reserve(flows));
                let mut finder = Finder::new(partition.windows(), share.len());
                for first in demands.flows.clone().step_by(PIECE) {
                    let flows = first..demands.flows.end.min(first + PIECE);
                    sorter.sort(partition, paths, flows)?;
                    for (number, draft) in share.iter_mut().enumerate() {
                        draft.add(partition, paths, sorter.flows_of(number), demands.are_logs(), &mut finder);
                    }
                }
                share.iter_mut().try_for_each(|draft| draft.place(paths, demands))?;
            }
            Ok(())
        };
        for_each(workers, shares, work).map(|_| ())
    }
}

/// Sorts consecutive flows by block, as far as the blocks are those of one thread.
struct Sorter {
    /// Per block of all its number among those of the thread, or one more than all where it is another's.
    numbers: Vec<u32>,
    /// The numbers of the flows' blocks.
    of_flows: Vec<u32>,
    flows: Vec<u32>,
    /// Where the flows of every block end.
    ends: Vec<u32>,
}

impl Sorter {
    fn new<R>(partition: &Partition, own: &[Draft<'_, R>]) -> Self {
        let none = own.len() as u32;
        let mut numbers = vec![none; partition.blocks().get()];
        own.iter().enumerate().for_each(|(number, draft)| numbers[draft.number] = number as u32);
        Self { numbers, of_flows: Vec::with_capacity(PIECE), flows: Vec::new(), ends: vec![0; own.len() + 1] }
    }

    /// # Errors
    /// [`Error::Stopped`](netnum_core::Error::Stopped).
    fn sort(&mut self, partition: &Partition, paths: &Paths, flows: Range<usize>) -> Result<()> {
        check()?;
        self.of_flows.clear();
        self.of_flows.extend(flows.clone().map(|flow| self.numbers[partition.block_of(paths.links(flow))]));
        self.ends.fill(0);
        self.of_flows.iter().for_each(|&number| self.ends[number as usize] += 1);
        let mut total = 0;
        for end in &mut self.ends {
            total += std::mem::replace(end, total);
        }
        self.flows.resize(flows.len(), 0);
        for (flow, &number) in flows.zip(&self.of_flows) {
            let end = &mut self.ends[number as usize];
            self.flows[*end as usize] = flow as u32;
            *end += 1;
        }
        Ok(())
    }

    /// Those of one of the thread's blocks, in increasing order.
    fn flows_of(&self, number: usize) -> &[u32] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.flows[start as usize..self.ends[number] as usize]
    }
}

/// A block, and the flows of one law that it is to have: first all are counted, then each bucket has room for its own.
struct Draft<'a, R> {
    number: usize,
    block: &'a mut FlowBlock<R>,
    flows: Vec<u32>,
    /// Their entries, one flow after the other.
    entries: Vec<u32>,
    /// The bucket of every flow.
    buckets: Vec<u32>,
    /// How many flows every bucket gets.
    counts: Vec<usize>,
    scratch: Vec<Entry>,
}

impl<'a, R: Real> Draft<'a, R> {
    fn new(number: usize, block: &'a mut FlowBlock<R>) -> Self {
        let (flows, entries, buckets) = (Vec::new(), Vec::new(), Vec::new());
        Self { number, block, flows, entries, buckets, counts: Vec::new(), scratch: Vec::new() }
    }

    /// Makes room for about so many flows.
    fn reserve(&mut self, flows: usize) {
        self.flows.reserve(flows);
        self.entries.reserve(2 * flows);
        self.buckets.reserve(flows);
    }

    fn add(&mut self, partition: &Partition, paths: &Paths, flows: &[u32], are_logs: bool, finder: &mut Finder) {
        let Self { number, block, entries, scratch, .. } = self;
        let kind = Kind { is_log: are_logs, is_weighted: paths.coefficients().is_some() };
        self.flows.extend_from_slice(flows);
        for &flow in flows {
            let path = paths.links(flow as usize);
            let mut key = Key::new(*number);
            partition.each_entry(path, kind.is_weighted, |entry| {
                entries.push(entry.number);
                finder.extend(&mut key, entry.number);
                entry.table.into_iter().for_each(|table| block.use_table(table));
            });
            let bucket = finder.find(key, || {
                partition.entries_of(path, kind.is_weighted, scratch);
                block.bucket_of(kind, scratch)
            });
            if self.counts.len() <= bucket as usize {
                self.counts.resize(bucket as usize + 1, 0);
            }
            self.counts[bucket as usize] += 1;
            self.buckets.push(bucket);
        }
    }

    /// Puts the flows into the block.
    ///
    /// # Errors
    /// [`Error::Stopped`](netnum_core::Error::Stopped).
    fn place(&mut self, paths: &Paths, demands: &PowerDemands<'_>) -> Result<()> {
        let buckets = self.block.buckets_mut();
        buckets.iter_mut().zip(self.counts.drain(..)).for_each(|(bucket, count)| bucket.reserve(count));
        let (mut entries, mut pacer) = (&*self.entries, Pacer::new());
        for (&flow, &bucket) in self.flows.iter().zip(&self.buckets) {
            let bucket = &mut buckets[bucket as usize];
            let own;
            (own, entries) = entries.split_at(bucket.windows().len());
            let first = paths.indptr()[flow as usize];
            let coefficients = paths.coefficients().map(|all| &all[first..first + own.len()]);
            bucket.push(flow, own.iter().copied(), coefficients, &demands.of(flow as usize));
            pacer.did(1)?;
        }
        (self.flows, self.entries, self.buckets) = (Vec::new(), Vec::new(), Vec::new());
        Ok(())
    }
}

/// The windows of the entries of a flow, by their numbers, and its block. No two flows of different buckets have the
/// same.
#[derive(Clone, Copy)]
struct Key {
    block: u32,
    length: u32,
    windows: u64,
    /// Whether a window does not fit in.
    overflows: bool,
}

impl Key {
    /// Bits for each window: four entries fit in.
    const BITS: u32 = u64::BITS / 4;

    fn new(block: usize) -> Self {
        Self { block: block as u32, length: 0, windows: 0, overflows: false }
    }
}

/// Finds the buckets of many flows of one law: those found last, by their keys.
struct Finder {
    /// How many bits tell entries of a window apart, at the beginning of paths and further on.
    bits: [u32; 2],
    last: Vec<(u64, u32, u32)>,
}

impl Finder {
    fn new(windows: Windows, blocks: usize) -> Self {
        let size = (REMEMBERED * blocks).next_power_of_two();
        // No key that fits in has only ones.
        Self { bits: windows.bits(), last: vec![(u64::MAX, 0, 0); size] }
    }

    /// Notes an entry of a flow in its key.
    #[inline(always)]
    fn extend(&self, key: &mut Key, number: u32) {
        // One more than the window, so that no key of fewer entries is the same.
        let window = u64::from(number >> self.bits[usize::from(key.length > 0)]) + 1;
        key.overflows |= (key.windows >> (u64::BITS - Key::BITS) != 0) | (window >= (1 << Key::BITS) - 1);
        key.windows = key.windows << Key::BITS | window;
        key.length += 1;
    }

    /// The bucket of flows with a key, which is looked up where it was not the last of its kind.
    #[inline(always)]
    fn find(&mut self, key: Key, look_up: impl FnOnce() -> u32) -> u32 {
        if key.overflows {
            return look_up();
        }
        let mixed = (key.windows ^ u64::from(key.block) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let places = self.last.len();
        let last = &mut self.last[(mixed >> 40) as usize & (places - 1)];
        if (last.0, last.1) != (key.windows, key.block) {
            *last = (key.windows, key.block, look_up());
        }
        last.2
    }
}
