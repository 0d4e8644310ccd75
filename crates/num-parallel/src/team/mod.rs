//! A team: threads that do one job together, again and again, with a barrier inside it.
//!
//! An iteration lasts microseconds, and starting a thread for it would take longer. So the workers are started once;
//! [`Team::run`] hands all of them the same job, the calling thread is one of them, and [`Worker::wait`] is the barrier
//! inside. Between jobs a worker watches for the next one for some microseconds, then sleeps until it is woken.
//!
//! ```text
//!   caller    job ─► calls += 1 ─► wake ─► job(0) ─► leave ─► all have left ─► return, or go on with a panic
//!                        │                   ▲
//!                        │                 barrier
//!                        ▼                   ▼
//!   worker i  watch, then sleep ────────► job(i) ─► leave ─► watch …
//! ```
//!
//! It is safe code: a mistake could cause a wrong answer or a wait for ever, but no undefined behaviour.
//! `every_order.rs` checks it under loom.

mod barrier;
mod cores;
#[cfg(all(test, feature = "loom"))]
mod every_order;
mod sync;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError};

use crossbeam_utils::CachePadded;
use netnum_core::{Error, Result};

use barrier::{Barrier, MissingWorker, Patience};
use sync::atomic::{AtomicUsize, Ordering};
use sync::{Mutex, thread};

/// Done by every worker of a team at the same time.
pub(crate) type Job = Arc<dyn Fn(&Worker) + Send + Sync>;

/// Threads that do one job together.
///
/// The workers end when it is dropped. A process made by `fork` has none of its parent's workers: the next job there
/// starts workers of its own, or is done by the caller alone where the system gives none.
pub(crate) struct Team {
    shared: Arc<Shared>,
    workers: Vec<thread::JoinHandle<()>>,
    /// The process whose threads the workers are.
    process: u32,
    /// Whether each worker is kept on a core of its own.
    pinned: bool,
}

/// One thread of a team, within its job.
pub(crate) struct Worker<'a> {
    number: usize,
    barrier: &'a Barrier,
}

/// Shared by the caller and the workers.
struct Shared {
    barrier: Barrier,
    /// How often `job` was replaced. A worker that reads a raised count locks `job` after the caller did, and that lock
    /// orders their accesses.
    calls: CachePadded<AtomicUsize>,
    /// What to do; nothing, when called, means that the team is shut down.
    job: Mutex<Option<Job>>,
    /// The payload of the first panic in the present job.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Team {
    /// Starts a team: `threads` − 1 workers, since the caller is one of the team. They run where the system puts them.
    ///
    /// # Errors
    /// [`Error::Threads`] when the system does not give that many threads; none is left running then.
    pub(crate) fn new(threads: NonZeroUsize) -> Result<Self> {
        let shared = Arc::new(Shared {
            barrier: Barrier::new(threads.get()),
            calls: CachePadded::new(AtomicUsize::new(0)),
            job: Mutex::new(None),
            panic: Mutex::new(None),
        });
        // Workers join one by one, so that dropping the team shuts down those that have been started.
        let mut team = Self { shared, workers: Vec::new(), process: std::process::id(), pinned: false };
        for number in 1..threads.get() {
            let shared = team.shared.clone();
            let worker = thread::Builder::new().name(format!("netnum-{number}")).spawn(move || shared.work(number));
            team.workers.push(worker.map_err(|refusal| Error::threads(threads, refusal))?);
        }
        Ok(team)
    }

    /// How many threads do a job, the caller's among them.
    pub(crate) fn threads(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.workers.len() + 1).expect("the caller is one")
    }

    /// Keeps each worker on a core of its own from now on, where there are enough cores beside the caller's.
    pub(crate) fn pin(&mut self) {
        self.pinned = true;
        if self.workers.is_empty() {
            return;
        }
        let cores = cores::others();
        if cores.len() >= self.workers.len() {
            self.run(Arc::new(move |worker| {
                if let Some(worker) = worker.number().checked_sub(1) {
                    cores::stay_on(cores[worker]);
                }
            }));
        }
    }

    /// Starts workers in a process that was forked from the one that has them.
    fn start_again(&mut self) {
        let (threads, pinned) = (self.threads(), self.pinned);
        // Dropped, it leaves the other process's workers alone.
        *self = Self::new(threads).unwrap_or_else(|_| Self::new(NonZeroUsize::MIN).expect("the caller is there"));
        if pinned {
            self.pin();
        }
    }

    /// Whether the workers are threads of another process, of which this one was forked.
    fn is_elsewhere(&self) -> bool {
        !self.workers.is_empty() && self.process != std::process::id()
    }

    /// Has every worker do the job, the caller as number 0. Returns when all have done it; the team keeps no copy of
    /// the job.
    ///
    /// # Panics
    /// When the job does, on any worker: with the panic of the first one. The others are not waited for where they wait
    /// for it. Also when a worker waits for one that has returned: all must pass the barrier equally often.
    pub(crate) fn run(&mut self, job: Arc<dyn Fn(&Worker) + Send + Sync>) {
        if self.is_elsewhere() {
            self.start_again();
        }
        let shared = &*self.shared;
        shared.barrier.open();
        shared.call(Some(job.clone()), &self.workers);
        shared.perform(0, job);
        shared.barrier.wait_until_left();
        *lock(&shared.job) = None;
        let died = lock(&shared.panic).take();
        if let Some(payload) = died {
            assert!(!payload.is::<MissingWorker>(), "a worker of the team waits for one that has returned");
            resume_unwind(payload);
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if self.is_elsewhere() {
            // Threads that are not in this process can be neither woken nor waited for.
            return std::mem::forget(std::mem::take(&mut self.workers));
        }
        self.shared.call(None, &self.workers);
        for worker in self.workers.drain(..) {
            // A worker catches the panics of its job.
            let _ = worker.join();
        }
    }
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Team").field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl Worker<'_> {
    /// Which one it is, from 0, the caller.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// How many there are.
    pub(crate) fn of(&self) -> usize {
        self.barrier.workers()
    }

    /// Waits until every worker has come here. Every write before it is visible to all of them after it.
    pub(crate) fn wait(&self) {
        if self.barrier.wait().is_err() {
            // Past the panic hook, which the missing worker has already called.
            resume_unwind(Box::new(MissingWorker));
        }
    }
}

impl Shared {
    /// Publishes a job, or the end, and wakes the workers.
    fn call(&self, job: Option<Job>, workers: &[thread::JoinHandle<()>]) {
        *lock(&self.job) = job;
        self.calls.fetch_add(1, Ordering::Relaxed);
        for worker in workers {
            worker.thread().unpark();
        }
    }

    /// The main loop of a worker.
    fn work(&self, number: usize) {
        let mut calls_done = 0;
        loop {
            let mut patience = Patience::default();
            while self.calls.load(Ordering::Relaxed) == calls_done {
                // A call between looking and sleeping ends the sleep at once.
                if !patience.spend() {
                    thread::park();
                }
            }
            // The caller does not call again before all have left.
            calls_done = calls_done.wrapping_add(1);
            let Some(job) = lock(&self.job).clone() else { return };
            self.perform(number, job);
        }
    }

    /// A worker's part in a job.
    fn perform(&self, number: usize, job: Job) {
        let worker = Worker { number, barrier: &self.barrier };
        // The job is dropped inside: it may be the last copy, and panic while dropped. The caller receives the panic,
        // and decides whether the job can run again.
        let done = catch_unwind(AssertUnwindSafe(move || job(&worker)));
        if let Err(payload) = done {
            let mut panic = lock(&self.panic);
            if panic.as_ref().is_none_or(|earlier| earlier.is::<MissingWorker>()) {
                *panic = Some(payload);
            }
        }
        self.barrier.leave();
    }
}

/// No job runs while a lock is held, so that none can be poisoned.
fn lock<T>(mutex: &Mutex<T>) -> impl std::ops::DerefMut<Target = T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
