//! The barrier inside a job: no worker passes before all have arrived.
//!
//! A sense-reversing barrier: a worker reads the phase, then increments the count of arrivals; the last one resets the
//! count and increments the phase, which the others poll. Two atomic variables, each on a line of
//! cache of its own, one shared write to arrive and one to release. (Mellor-Crummey and Scott, ACM TOCS 9(1), 1991,
//! section 3.1; their sense is the last bit of the phase, so that no worker stores it.)
//!
//! A worker that has left arrives at no later phase. One that waits for it gets an error instead of a wait for ever.

use crossbeam_utils::CachePadded;

use super::sync::atomic::{AtomicUsize, Ordering};
use super::sync::{hint, thread};

/// A barrier of `workers` workers.
#[derive(Debug)]
pub(super) struct Barrier {
    workers: usize,
    /// Workers that have arrived in the present phase.
    arrived: CachePadded<AtomicUsize>,
    /// Completed phases.
    phase: CachePadded<AtomicUsize>,
    /// Workers that have not left.
    active: CachePadded<AtomicUsize>,
}

/// The error of waiting for a worker that has left.
#[derive(Debug)]
pub(super) struct MissingWorker;

impl Barrier {
    /// A barrier that all workers have left: it has to be [opened](Self::open) first.
    pub(super) fn new(workers: usize) -> Self {
        let none = || CachePadded::new(AtomicUsize::new(0));
        Self { workers, arrived: none(), phase: none(), active: none() }
    }

    pub(super) fn workers(&self) -> usize {
        self.workers
    }

    /// Makes all workers active again. To be called when all have left, and before any of them can arrive.
    pub(super) fn open(&self) {
        // A phase with a missing worker may have left a count.
        self.arrived.store(0, Ordering::Relaxed);
        self.active.store(self.workers, Ordering::Relaxed);
    }

    /// Waits until all workers have arrived. Every write before it is visible to all of them after it.
    pub(super) fn wait(&self) -> Result<(), MissingWorker> {
        // It cannot be incremented before this worker has arrived.
        let seen = self.phase.load(Ordering::Relaxed);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            self.arrived.store(0, Ordering::Relaxed);
            self.phase.store(seen.wrapping_add(1), Ordering::Release);
            return Ok(());
        }
        let mut patience = Patience::default();
        while self.phase.load(Ordering::Acquire) == seen {
            let lasts = patience.spend();
            // A worker leaves after its last phase. If that was this one, the phase has been incremented.
            if !lasts
                && self.active.load(Ordering::Acquire) < self.workers
                && self.phase.load(Ordering::Acquire) == seen
            {
                return Err(MissingWorker);
            }
        }
        Ok(())
    }

    /// A worker leaves the job.
    pub(super) fn leave(&self) {
        self.active.fetch_sub(1, Ordering::Release);
    }

    /// Waits until all workers have left. Their writes are visible after it.
    pub(super) fn wait_until_left(&self) {
        let mut patience = Patience::default();
        while self.active.load(Ordering::Acquire) > 0 {
            patience.spend();
        }
    }
}

/// How long to watch a variable before others may have the core.
///
/// Workers that have a core each meet within fractions of a microsecond, and asking the system for anything takes as
/// long. Where they share cores, the missing one may need the core of the one that waits.
#[derive(Debug, Default)]
pub(super) struct Patience(u32);

impl Patience {
    /// Looks to spend on watching: some microseconds.
    const SPINS: u32 = if cfg!(all(test, feature = "loom")) { 1 } else { 200 };

    /// Lets a moment pass. `false` once it is spent: this and every further moment is offered to other threads.
    pub(super) fn spend(&mut self) -> bool {
        let lasts = self.0 < Self::SPINS;
        if lasts {
            self.0 += 1;
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
        lasts
    }
}
