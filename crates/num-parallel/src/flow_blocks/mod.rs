//! Flows in blocks, which respond to prices on the threads of a team.
//!
//! ```text
//! flows   every block: x, D ← prices;  its sums ← x, D
//!         ── barrier ──
//! links   every range: [y, H] ← sums of all blocks, in the order of their numbers
//! ```
//!
//! A worker takes every n-th block and every n-th range of links, n being the threads: which it takes changes no bit. A
//! block is written by one thread before the barrier, a range by one thread after it, so that no thread waits for a
//! lock. A worker that is alone adds each block's sums to those of all in the same order, and keeps no copies. Blocks
//! are lent to the team for a round and are here between rounds, so that flows come and go without a lock.
//!
//! | file | what it does |
//! |---|---|
//! | `partition.rs` | links → table entries, flows → blocks |
//! | `block.rs` | flows that respond together |
//! | `bucket.rs` | those of them that are alike, and their response |
//! | `split/` | alike flows with several paths each |
//! | `of_problem.rs` | all flows of a problem at once |
//! | `tables.rs` | links → pairs → flows → pairs → links |
//! | `windows.rs` | the part of a table that alike flows read and add to |
//! | `real.rs` | the numbers of a block: f64 or f32 |
//! | `sizes.rs` | how many flows, links and entries go together |
//! | `live.rs` | flows that come and go, in blocks of either |

mod block;
mod bucket;
mod live;
mod of_problem;
mod partition;
mod real;
mod sizes;
mod split;
mod tables;
mod windows;

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use netnum_core::Result;
use netnum_core::internal::numerics::vectorized;
use netnum_core::internal::{PowerDemand, Respond};

use crate::team::{Job, Team, Worker};
use block::FlowBlock;
use bucket::Bucket;
pub(crate) use live::LiveFlows;
pub use live::Precision;
pub(crate) use of_problem::of_problem;
pub(crate) use partition::Sample;
use partition::{Entry, Partition};
use real::Real;
use split::Splits;
pub(crate) use split::{Crossing, OfPath, SMALLEST_SHARE, Several};
use tables::Tables;

/// Where a flow is. It is looked up at random, so that it counts how many lie in a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    block: u32,
    place: Place,
}

/// Where a flow is in its block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Place {
    bucket: u32,
    place: u32,
}

/// Flows with one path each, or several.
pub(crate) struct FlowBlocks<R> {
    shared: Arc<Shared<R>>,
    blocks: Vec<RwLock<FlowBlock<R>>>,
    team: Team,
    job: Job,
    scratch: Vec<Entry>,
    /// How many flows have several paths.
    splits: usize,
}

/// Shared by a team.
struct Shared<R> {
    partition: Partition,
    round: RwLock<Round<R>>,
    /// One per worker.
    tables: Vec<RwLock<Tables<R>>>,
    /// [load, slope] of every link by the flows of a block, where several workers add them up *(derived)*.
    of_blocks: Vec<RwLock<Vec<[R; 2]>>>,
    /// [load, slope] of consecutive links, one list per worker *(derived)*.
    sums: Vec<RwLock<Vec<[f64; 2]>>>,
}

/// Lent to a team for a round.
struct Round<R> {
    task: Task,
    blocks: Vec<RwLock<FlowBlock<R>>>,
    /// Prices, or fractions to normalize by, of all links.
    links: Vec<f64>,
    priced: Vec<f64>,
}

/// The work of a round.
#[derive(Debug, Clone, Copy)]
enum Task {
    Respond { counts_priced: bool },
    Normalize,
}

impl<R: Real> FlowBlocks<R> {
    /// Blocks without flows.
    ///
    /// # Errors
    /// [`Error::Threads`](netnum_core::Error::Threads).
    fn new(partition: Partition, threads: NonZeroUsize) -> Result<Self> {
        // A worker without a block would only be woken.
        let team = Team::new(threads.min(partition.blocks()))?;
        let blocks = (0..partition.blocks().get()).map(|_| RwLock::new(FlowBlock::new(&partition))).collect();
        let (links, ranges) = (partition.links(), team.threads().get());
        let (mut of_blocks, mut sums) = (Vec::new(), Vec::new());
        if ranges > 1 {
            of_blocks.resize_with(partition.blocks().get(), || RwLock::new(vec![[R::ZERO; 2]; links]));
            sums.extend((0..ranges).map(|range| RwLock::new(vec![[0.0; 2]; range_of(links, range, ranges).len()])));
        }
        let round = Round { task: Task::Normalize, blocks: Vec::new(), links: Vec::new(), priced: Vec::new() };
        let tables = (0..ranges).map(|_| RwLock::new(Tables::new(&partition))).collect();
        let shared = Arc::new(Shared { partition, round: RwLock::new(round), tables, of_blocks, sums });
        let of_team = Arc::clone(&shared);
        let job: Job = Arc::new(move |worker| of_team.round(worker));
        Ok(Self { shared, blocks, team, job, scratch: Vec::new(), splits: 0 })
    }

    /// See [`Team::pin`].
    pub(crate) fn pin(&mut self) {
        self.team.pin();
    }

    /// Adds a flow by its number, with its rates of an earlier response and normalization. It has a coefficient for
    /// each link of its path, or none where all are 1.
    pub(crate) fn add(
        &mut self,
        flow: u32,
        path: &[u32],
        coefficients: Option<&[f64]>,
        demand: &PowerDemand,
        rates: [f64; 2],
    ) -> Spot {
        let partition = &self.shared.partition;
        partition.entries_of(path, coefficients.is_some(), &mut self.scratch);
        let number = partition.block_of(path);
        let block = own(&mut self.blocks[number]);
        let place = block.add(flow, &self.scratch, coefficients, demand);
        if rates != [0.0; 2] {
            block.buckets_mut()[place.bucket as usize].set_rates(place.place as usize, rates);
        }
        Spot { block: number as u32, place }
    }

    /// Takes a flow out; returns the number of the one that is in its spot now, if there is one.
    pub(crate) fn remove(&mut self, spot: Spot) -> Option<u32> {
        own(&mut self.blocks[spot.block as usize]).remove(spot.place)
    }

    /// [`add`](Self::add) for a flow with several paths, of which the first begins with this link.
    pub(crate) fn add_several(&mut self, flow: u32, first: u32, several: &Several<'_>) -> Spot {
        let block = self.shared.partition.block_of(&[first]);
        self.splits += 1;
        Spot { block: block as u32, place: own(&mut self.blocks[block]).splits_mut().add(flow, several) }
    }

    /// [`remove`](Self::remove) for a flow with several paths.
    pub(crate) fn remove_several(&mut self, spot: Spot) -> Option<u32> {
        self.splits -= 1;
        self.splits_mut(spot).remove(spot.place)
    }

    fn splits_mut(&mut self, spot: Spot) -> &mut Splits<R> {
        own(&mut self.blocks[spot.block as usize]).splits_mut()
    }

    /// The paths of a flow with several.
    pub(crate) fn of_paths(&self, spot: Spot) -> Vec<OfPath> {
        read(&self.blocks[spot.block as usize]).splits().of_paths(spot.place).collect()
    }

    /// Changes the price below which a flow's rate does not grow, and the most that its several paths carry.
    pub(crate) fn set_limits(&mut self, spot: Spot, floor: f64, ceilings: &[f64]) {
        self.splits_mut(spot).set_limits(spot.place, floor, ceilings);
    }

    /// Sets the rates of a flow's several paths, which then split as these.
    pub(crate) fn set_split(&mut self, spot: Spot, rates: &[f64]) {
        self.splits_mut(spot).set_split(spot.place, rates);
    }

    /// Number of every flow with several paths, and the [rates](OfPath::rates) of these, block by block, until one is
    /// refused.
    pub(crate) fn each_several<E>(
        &self,
        mut look: impl FnMut(u32, &mut dyn Iterator<Item = [f64; 2]>) -> Result<(), E>,
    ) -> Result<(), E> {
        let blocks = if self.splits == 0 { &[][..] } else { &self.blocks };
        blocks.iter().try_for_each(|block| read(block).splits().each(&mut look))
    }

    /// Number and paths of every flow with several, in the same order.
    pub(crate) fn each_state<E>(&self, mut look: impl FnMut(u32, Vec<OfPath>) -> Result<(), E>) -> Result<(), E> {
        self.blocks.iter().try_for_each(|block| read(block).splits().each_state(&mut look))
    }

    /// Calls a function with the bucket of a flow, and its place there.
    fn with<T>(&self, Spot { block, place }: Spot, look: impl FnOnce(&Bucket<R>, usize) -> T) -> T {
        let block = read(&self.blocks[block as usize]);
        look(&block.buckets()[place.bucket as usize], place.place as usize)
    }

    /// Rate of a flow as it demanded in the last response, and as it was last normalized; 0 for one that came after
    /// these.
    pub(crate) fn rates(&self, spot: Spot) -> [f64; 2] {
        self.with(spot, Bucket::rates)
    }

    /// Sets the [rates](Self::rates) of a flow.
    pub(crate) fn set_rates(&mut self, Spot { block, place }: Spot, rates: [f64; 2]) {
        let block = own(&mut self.blocks[block as usize]);
        block.buckets_mut()[place.bucket as usize].set_rates(place.place as usize, rates);
    }

    /// Changes the price below which a flow's rate does not grow.
    pub(crate) fn set_floor(&mut self, Spot { block, place }: Spot, floor: f64) {
        let block = own(&mut self.blocks[block as usize]);
        block.buckets_mut()[place.bucket as usize].set_floor(place.place as usize, floor);
    }

    /// The links of a flow.
    pub(crate) fn path(&self, spot: Spot) -> Vec<u32> {
        self.with(spot, |bucket, place| self.links_of(bucket, place).collect())
    }

    /// The coefficients of a flow on its links; none where all are 1.
    pub(crate) fn coefficients(&self, spot: Spot) -> Option<Vec<f64>> {
        self.with(spot, |bucket, place| Some(bucket.coefficients(place)?.collect()))
    }

    fn links_of(&self, bucket: &Bucket<R>, place: usize) -> impl Iterator<Item = u32> {
        bucket.entries(place).flat_map(|entry| {
            let (one, other) = self.shared.partition.links_of(entry);
            std::iter::once(one).chain(other)
        })
    }

    /// Number and [rates](Self::rates) of every flow with one path, block by block.
    pub(crate) fn each_rate(&self, mut look: impl FnMut(u32, [f64; 2])) {
        let Ok(()) = self.each_place::<Infallible>(|flow, bucket, place| {
            look(flow, bucket.rates(place));
            Ok(())
        });
    }

    /// Number, path, [coefficients](Self::coefficients) and [rates](Self::rates) of every flow with one path, block by
    /// block, until one is refused.
    pub(crate) fn each_flow<E>(
        &self,
        mut look: impl FnMut(u32, &[u32], Option<&[f64]>, [f64; 2]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut path, mut coefficients) = (Vec::new(), Vec::new());
        self.each_place(|flow, bucket, place| {
            path.clear();
            path.extend(self.links_of(bucket, place));
            let own = bucket.coefficients(place).map(|own| {
                coefficients.clear();
                coefficients.extend(own);
                &*coefficients
            });
            look(flow, &path, own, bucket.rates(place))
        })
    }

    fn each_place<E>(&self, mut look: impl FnMut(u32, &Bucket<R>, usize) -> Result<(), E>) -> Result<(), E> {
        for block in &self.blocks {
            for bucket in read(block).in_order() {
                for (place, &flow) in bucket.flows().iter().enumerate() {
                    look(flow, bucket, place)?;
                }
            }
        }
        Ok(())
    }

    /// Sets the feasible rates of all flows in the order of [`each_rate`](Self::each_rate), then those of all paths in
    /// that of [`each_several`](Self::each_several).
    pub(crate) fn set_feasible_rates(&mut self, rates: Vec<f64>) {
        let mut rates = rates.into_iter();
        for block in &mut self.blocks {
            own(block).each_in_order(|bucket| {
                for place in 0..bucket.flows().len() {
                    bucket.set_feasible(place, rates.next().expect("one rate per flow"));
                }
            });
        }
        self.blocks.iter_mut().for_each(|block| own(block).splits_mut().set_all_feasible(&mut rates));
    }

    /// F-NORM, given the fraction of its load that every link can carry, at most 1.
    pub(crate) fn normalize(&mut self, fractions: &[f64]) {
        if self.is_alone() {
            let Shared { partition, tables, .. } = &*self.shared;
            let tables = &mut write(&tables[0]);
            tables.read_fractions(fractions);
            return self.blocks.iter_mut().for_each(|block| own(block).normalize(partition, tables));
        }
        self.run(Task::Normalize, fractions, None);
    }

    /// Whether the calling thread does everything.
    fn is_alone(&self) -> bool {
        self.shared.sums.is_empty()
    }

    /// Has the team do a task on these columns of all links.
    fn run(&mut self, task: Task, links: &[f64], priced: Option<&[f64]>) {
        let blocks = std::mem::take(&mut self.blocks);
        {
            let round = &mut *write(&self.shared.round);
            (round.task, round.blocks) = (task, blocks);
            round.links.clear();
            round.links.extend_from_slice(links);
            round.priced.clear();
            round.priced.extend_from_slice(priced.unwrap_or_default());
        }
        self.team.run(Arc::clone(&self.job));
        self.blocks = std::mem::take(&mut write(&self.shared.round).blocks);
    }
}

impl<R: Real> Respond for FlowBlocks<R> {
    fn respond(&mut self, prices: &[f64], priced: Option<&[f64]>, sums: &mut [[f64; 2]]) -> Result<()> {
        if self.is_alone() {
            let Shared { partition, tables, .. } = &*self.shared;
            let tables = &mut write(&tables[0]);
            tables.read_prices(prices, priced);
            for (number, block) in self.blocks.iter_mut().enumerate() {
                own(block).respond(partition, tables);
                match number {
                    0 => tables.take(sums, put),
                    _ => tables.take(sums, add),
                }
            }
            return Ok(());
        }
        self.run(Task::Respond { counts_priced: priced.is_some() }, prices, priced);
        let (ranges, links) = (self.shared.sums.len(), sums.len());
        for (range, found) in self.shared.sums.iter().enumerate() {
            sums[range_of(links, range, ranges)].copy_from_slice(&read(found));
        }
        Ok(())
    }

    fn rates_into(&self, rates: &mut [f64]) {
        self.each_rate(|flow, [rate, _]| rates[flow as usize] = rate);
    }

    fn accepted(&mut self) {
        if self.splits > 0 {
            self.blocks.iter_mut().for_each(|block| own(block).splits_mut().follow());
        }
    }
}

impl<R: Real> Shared<R> {
    /// One worker's part of a round.
    fn round(&self, worker: &Worker<'_>) {
        let round = read(&self.round);
        let Round { task, blocks, links, priced } = &*round;
        let (partition, tables) = (&self.partition, &mut write(&self.tables[worker.number()]));
        match *task {
            Task::Normalize => {
                tables.read_fractions(links);
                of_worker(blocks, worker).for_each(|(_, block)| write(block).normalize(partition, tables));
            }
            Task::Respond { counts_priced } => {
                tables.read_prices(links, counts_priced.then_some(priced.as_slice()));
                for (number, block) in of_worker(blocks, worker) {
                    write(block).respond(partition, tables);
                    tables.take(&mut write(&self.of_blocks[number]), |sum, found| *sum = found);
                }
                worker.wait();
                for (range, sums) in of_worker(&self.sums, worker) {
                    self.add_up(range_of(links.len(), range, self.sums.len()), &mut write(sums));
                }
            }
        }
    }

    /// Adds up the sums of all blocks for some links.
    fn add_up(&self, links: Range<usize>, sums: &mut [[f64; 2]]) {
        for (number, found) in self.of_blocks.iter().enumerate() {
            let found = read(found);
            let sums = sums.iter_mut().zip(&found[links.clone()]);
            vectorized(
                #[inline(always)]
                || match number {
                    0 => sums.for_each(|(sum, &found)| put(sum, found)),
                    _ => sums.for_each(|(sum, &found)| add(sum, found)),
                },
            );
        }
    }
}

/// A link's sum over the first block.
#[inline(always)]
fn put<R: Real>(sum: &mut [f64; 2], found: [R; 2]) {
    *sum = found.map(R::wide);
}

/// Adds to a link's sum that over one more block.
#[inline(always)]
fn add<R: Real>(sum: &mut [f64; 2], found: [R; 2]) {
    sum[0] += found[0].wide();
    sum[1] += found[1].wide();
}

/// One of some nearly equal parts of all links.
fn range_of(links: usize, range: usize, ranges: usize) -> Range<usize> {
    links * range / ranges..links * (range + 1) / ranges
}

/// A worker's part of a list.
fn of_worker<'a, T>(list: &'a [T], worker: &Worker<'_>) -> impl Iterator<Item = (usize, &'a T)> {
    list.iter().enumerate().skip(worker.number()).step_by(worker.of())
}

/// For reading, also after a panic, which leaves plain numbers.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// For writing.
fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// For writing where no other thread can read: no lock is taken.
fn own<T>(lock: &mut RwLock<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}
