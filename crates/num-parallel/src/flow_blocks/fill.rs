//! All flows of a problem into blocks at once: sorted by block, then bucket by bucket with room for all. Threads fill a
//! block each, so that who does changes no bit.

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
    /// [`Error::Setting`] when the system does not give the threads, [`Error::Stopped`].
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

/// Consecutive flows of one bucket.
struct Stretch {
    bucket: u32,
    flows: usize,
}

impl<R: Real> FlowBlock<R> {
    /// Adds flows of one law, given in increasing order.
    fn fill(&mut self, partition: &Partition, flows: &[u32], paths: &Paths, demands: &PowerDemands<'_>) -> Result<()> {
        let (mut entries, mut numbers, mut pacer) = (Vec::new(), Vec::new(), Pacer::new());
        let mut stretches: Vec<Stretch> = Vec::new();
        for &flow in flows {
            let path = paths.links(flow as usize);
            partition.entries_of(path, &mut entries);
            numbers.extend(entries.iter().map(|entry| entry.number));
            let bucket = match stretches.last() {
                Some(last) => self.next_bucket_of(last.bucket, demands.are_logs(), &entries),
                None => self.bucket_of(demands.are_logs(), &entries),
            };
            match stretches.last_mut() {
                Some(last) if last.bucket == bucket => last.flows += 1,
                _ => stretches.push(Stretch { bucket, flows: 1 }),
            }
            pacer.did(path.len())?;
        }
        let mut counts = vec![0; self.buckets().len()];
        stretches.iter().for_each(|stretch| counts[stretch.bucket as usize] += stretch.flows);
        self.buckets_mut().iter_mut().zip(counts).for_each(|(bucket, count)| bucket.reserve(count));
        let (mut flows, mut numbers) = (flows, &*numbers);
        for Stretch { bucket, flows: count } in stretches {
            let bucket = &mut self.buckets_mut()[bucket as usize];
            let width = bucket.windows().len();
            let (some, own);
            (some, flows) = flows.split_at(count);
            (own, numbers) = numbers.split_at(count * width);
            for (&flow, entries) in some.iter().zip(own.chunks_exact(width)) {
                bucket.push(flow, entries.iter().copied(), &demands.of(flow as usize));
            }
            pacer.did(count)?;
        }
        Ok(())
    }
}
