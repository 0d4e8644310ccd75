//! All flows of a problem into blocks at once: sorted by block, then bucket by bucket with room for all. Threads fill a
//! block each, so that the bits do not depend on their number.

use std::panic::resume_unwind;
use std::thread;

use netnum_core::interrupt::{Pacer, Tokens};
use netnum_core::price::PowerDemands;
use netnum_core::{Error, Paths, Result};

use super::block::FlowBlock;
use super::partition::Partition;
use super::real::Real;
use super::{FlowBlocks, own};

impl<R: Real> FlowBlocks<R> {
    /// Adds all flows of a problem, by their numbers.
    ///
    /// # Errors
    /// [`Error::Threads`], [`Error::Stopped`].
    pub(super) fn fill(&mut self, paths: &Paths, demands: &[PowerDemands<'_>]) -> Result<()> {
        let (partition, threads) = (&self.shared.partition, self.team.threads());
        let (flows, ends) = by_block(partition, paths)?;
        let mut shares: Vec<Vec<(&mut FlowBlock<R>, &[u32])>> = (0..threads.get()).map(|_| Vec::new()).collect();
        let mut start = 0;
        for (number, (block, end)) in self.blocks.iter_mut().zip(ends).enumerate() {
            shares[number % threads].push((own(block), &flows[start..end]));
            start = end;
        }
        let work = |share: Vec<(&mut FlowBlock<R>, &[u32])>| {
            share.into_iter().try_for_each(|(block, mut rest)| {
                for demands in demands {
                    let count = rest.partition_point(|&flow| (flow as usize) < demands.flows.end);
                    let (some, after) = rest.split_at(count);
                    block.fill(partition, some, paths, demands)?;
                    rest = after;
                }
                Ok(())
            })
        };
        let (mut shares, tokens) = (shares.into_iter(), Tokens::in_force());
        let own = shares.next().expect("there is a thread");
        thread::scope(|scope| {
            let start = |share| {
                let tokens = tokens.clone();
                let started = thread::Builder::new().spawn_scoped(scope, move || tokens.scope(|| work(share)));
                started.map_err(|refusal| Error::threads(threads, refusal))
            };
            let others: Vec<_> = shares.map(start).collect::<Result<_>>()?;
            let done = work(own);
            let join =
                |other: thread::ScopedJoinHandle<'_, _>| other.join().unwrap_or_else(|panic| resume_unwind(panic));
            others.into_iter().map(join).fold(done, Result::and)
        })
    }
}

/// The flows of every block, in their order, and where those of each end.
fn by_block(partition: &Partition, paths: &Paths) -> Result<(Vec<u32>, Vec<usize>)> {
    let (mut next, mut pacer) = (vec![0; partition.blocks().get() + 1], Pacer::new());
    for path in paths.iter() {
        next[partition.block_of(path) + 1] += 1;
        pacer.did(1)?;
    }
    for block in 1..next.len() {
        next[block] += next[block - 1];
    }
    let mut flows = vec![0; paths.len()];
    for (flow, path) in paths.iter().enumerate() {
        let at = &mut next[partition.block_of(path)];
        flows[*at] = flow as u32;
        *at += 1;
        pacer.did(1)?;
    }
    next.pop();
    Ok((flows, next))
}

impl<R: Real> FlowBlock<R> {
    /// Adds flows of one law, given in increasing order.
    fn fill(&mut self, partition: &Partition, flows: &[u32], paths: &Paths, demands: &PowerDemands<'_>) -> Result<()> {
        let mut numbers = Vec::with_capacity(2 * flows.len());
        let (mut buckets, mut counts) = (Vec::with_capacity(flows.len()), Vec::new());
        let (mut finder, mut entries, mut pacer) = (Finder::new(), Vec::new(), Pacer::new());
        for flows in flows.chunks(PIECE) {
            let mut crossed = 0;
            for &flow in flows {
                let path = paths.links(flow as usize);
                let mut key = Key::default();
                partition.each_entry(path, |entry| {
                    numbers.push(entry.number);
                    key.add(entry.number);
                    entry.table.into_iter().for_each(|table| self.use_table(table));
                });
                let bucket = finder.find(key, || {
                    partition.entries_of(path, &mut entries);
                    self.bucket_of(demands.are_logs(), &entries)
                });
                if counts.len() <= bucket as usize {
                    counts.resize(bucket as usize + 1, 0);
                }
                counts[bucket as usize] += 1;
                buckets.push(bucket);
                crossed += path.len();
            }
            pacer.did(crossed)?;
        }
        self.buckets_mut().iter_mut().zip(counts).for_each(|(bucket, count)| bucket.reserve(count));
        let mut numbers = &*numbers;
        for (&flow, bucket) in flows.iter().zip(buckets) {
            let bucket = &mut self.buckets_mut()[bucket as usize];
            let own;
            (own, numbers) = numbers.split_at(bucket.windows().len());
            bucket.push(flow, own.iter().copied(), &demands.of(flow as usize));
            pacer.did(1)?;
        }
        Ok(())
    }
}

/// Flows between two checks whether to stop.
const PIECE: usize = 1024;

/// The smallest windows of the entries of a flow. No two flows of different buckets have the same.
#[derive(Clone, Copy, Default)]
struct Key {
    windows: u64,
    /// Whether a window does not fit in.
    overflows: bool,
}

impl Key {
    /// Numbers of each window, and bits for each: four entries fit in.
    const WINDOW: u32 = 1 << 10;
    const BITS: u32 = 16;

    #[inline(always)]
    fn add(&mut self, number: u32) {
        // One more than the window, so that no key of fewer entries is the same.
        let window = u64::from(number / Self::WINDOW) + 1;
        self.overflows |= (self.windows >> (u64::BITS - Self::BITS) != 0) | (window >= (1 << Self::BITS) - 1);
        self.windows = self.windows << Self::BITS | window;
    }
}

/// Finds the buckets of many flows: those found last, by their keys.
struct Finder {
    last: Vec<(u64, u32)>,
}

impl Finder {
    /// How many are remembered.
    const SIZE: usize = 1 << 11;

    fn new() -> Self {
        // No key that fits in has only ones.
        Self { last: vec![(u64::MAX, 0); Self::SIZE] }
    }

    /// The bucket of flows with a key, which is looked up where it was not the last of its kind.
    #[inline(always)]
    fn find(&mut self, key: Key, look_up: impl FnOnce() -> u32) -> u32 {
        if key.overflows {
            return look_up();
        }
        let last = &mut self.last[(key.windows.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 53) as usize % Self::SIZE];
        if last.0 != key.windows {
            *last = (key.windows, look_up());
        }
        last.1
    }
}
