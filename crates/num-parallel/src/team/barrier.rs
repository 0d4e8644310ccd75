//! The barrier inside a job: no worker passes before all have arrived.
//!
//! A sense-reversing barrier: a worker reads the number of the meeting, then counts itself; the last one resets the
//! count and raises the number, which is all that the others watch. Two atomic variables, each on a line of
//! cache of its own, one shared write to arrive and one to release. (Mellor-Crummey and Scott, ACM TOCS 9(1), 1991,
//! section 3.1; their sense is the last bit of our number, so that no worker has to remember it.)
//!
//! A worker that has left for good comes to no other meeting. One that waits for it gets an error instead of waiting
//! for ever.

use crossbeam_utils::CachePadded;

use super::sync::atomic::{AtomicUsize, Ordering};
use super::sync::{hint, thread};

/// The meetings of so many workers.
#[derive(Debug)]
pub(super) struct Barrier {
    workers: usize,
    /// Workers that have come to the present meeting.
    arrived: CachePadded<AtomicUsize>,
    /// Meetings that have been held.
    meetings: CachePadded<AtomicUsize>,
    /// Workers that have not left for good.
    present: CachePadded<AtomicUsize>,
}

/// A worker was waited for that has left.
#[derive(Debug)]
pub(super) struct Deserted;

impl Barrier {
    /// A barrier that all workers have left: it has to be [opened](Self::open) first.
    pub(super) fn new(workers: usize) -> Self {
        let none = || CachePadded::new(AtomicUsize::new(0));
        Self { workers, arrived: none(), meetings: none(), present: none() }
    }

    pub(super) fn workers(&self) -> usize {
        self.workers
    }

    /// All workers are present again. To be called when all have left, and before any of them can arrive.
    pub(super) fn open(&self) {
        // A meeting that was deserted may have left a count.
        self.arrived.store(0, Ordering::Relaxed);
        self.present.store(self.workers, Ordering::Relaxed);
    }

    /// Waits until all workers have come. Every write before it is visible to all of them after it.
    pub(super) fn wait(&self) -> Result<(), Deserted> {
        // It cannot be raised before this worker is counted.
        let meeting = self.meetings.load(Ordering::Relaxed);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            self.arrived.store(0, Ordering::Relaxed);
            self.meetings.store(meeting.wrapping_add(1), Ordering::Release);
            return Ok(());
        }
        let mut patience = Patience::default();
        while self.meetings.load(Ordering::Acquire) == meeting {
            let lasts = patience.spend();
            // A worker leaves after its last meeting. If that was this one, the number has been raised.
            if !lasts
                && self.present.load(Ordering::Acquire) < self.workers
                && self.meetings.load(Ordering::Acquire) == meeting
            {
                return Err(Deserted);
            }
        }
        Ok(())
    }

    /// A worker leaves for good.
    pub(super) fn leave(&self) {
        self.present.fetch_sub(1, Ordering::Release);
    }

    /// Waits until all workers have left. Their writes are visible after it.
    pub(super) fn wait_until_left(&self) {
        let mut patience = Patience::default();
        while self.present.load(Ordering::Acquire) > 0 {
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
