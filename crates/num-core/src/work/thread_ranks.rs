//! Ranks as threads of one program: each writes its numbers, and all combine them in the order of the ranks.

use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;

use super::{AllReduce, Ranks};
use crate::error::Result;

/// A communicator of threads.
struct Threads {
    rank: usize,
    /// The values of every rank.
    slots: Arc<Vec<Mutex<Vec<f64>>>>,
    barrier: Arc<Barrier>,
}

impl Threads {
    fn reduce(&self, values: &mut [f64], combine: impl Fn(f64, f64) -> f64) {
        let slot = |rank: usize| self.slots[rank].lock().unwrap_or_else(PoisonError::into_inner);
        *slot(self.rank) = values.to_vec();
        self.barrier.wait();
        for rank in 0..self.ranks() {
            for (value, &other) in values.iter_mut().zip(&*slot(rank)) {
                *value = if rank == 0 { other } else { combine(*value, other) };
            }
        }
        self.barrier.wait();
    }
}

impl AllReduce for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.slots.len()
    }

    fn sum(&mut self, values: &mut [f64]) -> Result<()> {
        self.reduce(values, |one, other| one + other);
        Ok(())
    }

    fn max(&mut self, values: &mut [f64]) -> Result<()> {
        debug_assert!(values.iter().all(|value| !value.is_nan()));
        self.reduce(values, f64::max);
        Ok(())
    }
}

/// So many ranks of one program, for as many threads.
pub fn thread_ranks(ranks: usize) -> Vec<Ranks> {
    let slots: Arc<Vec<Mutex<Vec<f64>>>> = Arc::new((0..ranks).map(|_| Mutex::default()).collect());
    let barrier = Arc::new(Barrier::new(ranks));
    (0..ranks).map(|rank| Ranks::new(Threads { rank, slots: slots.clone(), barrier: barrier.clone() })).collect()
}

/// Does the work of every rank on a thread, and returns the results.
///
/// # Panics
/// If the work panics on a rank.
///
/// ```
/// use netnum_core::internal::on_ranks;
///
/// let sums = on_ranks(3, |rank, ranks| {
///     let mut values = [rank as f64, 1.0];
///     ranks.sum(&mut values).map(|()| values)
/// });
/// assert_eq!(sums, vec![Ok([3.0, 3.0]); 3]);
/// ```
pub fn on_ranks<T: Send>(ranks: usize, work: impl Fn(usize, &Ranks) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let started = thread_ranks(ranks).into_iter().enumerate();
        let threads: Vec<_> = started.map(|(rank, ranks)| scope.spawn(move || work(rank, &ranks))).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended.map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
