//! The threads of a solve.
//!
//! Threads begin in two ways. Passes over all flows, which take milliseconds, and problems of a batch run on a pool of
//! rayon, which begins with the first work that has several parts. The rounds of price iterations, which take
//! microseconds, run on a [team](crate::team) that waits at a barrier.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, mem, process};

use netnum_core::internal::interrupt::Tokens;
use netnum_core::internal::{PowerDemands, Respond};
use netnum_core::{Paths, Ranks, Result, Workers};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::flow_blocks::of_problem;

/// Up to so many threads, the caller's among them, and the ranks that share the problem if there are any: the
/// [`Workers`] of a solve. Price methods have faster loops than one flow after the other also with one thread.
/// An answer has the same bits for any number of threads.
///
/// ```
/// use std::num::NonZeroUsize;
/// use std::sync::Arc;
///
/// use netnum_core::{AlphaFair, Ask, Paths, Problem, solve};
/// use netnum_parallel::Threads;
///
/// let problem = Problem::new(vec![12.0], Paths::from_lists([[0]; 3]), AlphaFair::proportional())?;
/// let two = Threads::new(NonZeroUsize::new(2).unwrap());
/// let solution = solve(&problem, &Ask::default().with_workers(Arc::new(two)))?;
/// assert!((solution.rates[0] - 4.0).abs() < 1e-4);
/// # Ok::<(), netnum_core::Error>(())
/// ```
pub struct Threads {
    count: NonZeroUsize,
    ranks: Ranks,
    /// All but the caller's, once there is work for several, and the process in which they run: a fork has none of
    /// them. None where the system gives none.
    others: Mutex<Option<(u32, Option<Arc<ThreadPool>>)>>,
}

impl Threads {
    /// So many threads. Where the system refuses them, the calling thread does all the work.
    pub fn new(count: NonZeroUsize) -> Self {
        Self { count, ranks: Ranks::alone(), others: Mutex::new(None) }
    }

    /// On this rank, with those of other ranks.
    pub fn with_ranks(self, ranks: Ranks) -> Self {
        Self { ranks, ..self }
    }

    fn others(&self) -> Option<Arc<ThreadPool>> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let here = process::id();
        if others.as_ref().is_none_or(|(process, _)| *process != here) {
            let pool = ThreadPoolBuilder::new().num_threads(self.count.get() - 1).build();
            // That of another process has no threads to end.
            mem::forget(others.replace((here, pool.ok().map(Arc::new))));
        }
        others.as_ref()?.1.clone()
    }
}

impl Workers for Threads {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let take = || {
            let mut part = next.fetch_add(1, Ordering::Relaxed);
            while part < parts {
                work(part);
                part = next.fetch_add(1, Ordering::Relaxed);
            }
        };
        let helpers = self.count.get().min(parts).saturating_sub(1);
        match (helpers > 0).then(|| self.others()).flatten() {
            None => take(),
            Some(pool) => {
                let tokens = Tokens::in_force();
                // The calling thread works too: signals are shown to it alone.
                pool.in_place_scope(|scope| {
                    for _ in 0..helpers {
                        let tokens = tokens.clone();
                        scope.spawn(move |_| tokens.scope(take));
                    }
                    take();
                });
            }
        }
    }

    fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    fn respond(&self, links: usize, paths: &Paths, demands: &[PowerDemands<'_>]) -> Result<Option<Box<dyn Respond>>> {
        of_problem(links, paths, demands, self.count, self)
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Threads({}, {:?})", self.count, self.ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netnum_core::internal::for_each;
    use netnum_core::internal::interrupt::check;
    use netnum_core::{Error, StopToken};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn three() -> Threads {
        Threads::new(NonZeroUsize::new(3).unwrap())
    }

    #[test]
    fn every_part_is_done_once_and_what_it_found_is_in_its_place() {
        let found = for_each(&three(), 0..1000, |part| Ok(part * part)).unwrap();
        assert_eq!(found, (0..1000).map(|part| part * part).collect::<Vec<_>>());
    }

    #[test]
    fn a_token_stops_parts_on_all_threads() {
        let token = StopToken::new();
        let stopped = token.scope(|| {
            for_each(&three(), 0..100, |part| {
                if part == 10 {
                    token.stop();
                }
                check()
            })
        });
        assert_eq!(stopped, Err(Error::Stopped));
    }

    #[test]
    fn a_panic_of_a_part_comes_out() {
        let work = |part: usize| if part == 57 { panic!("on the way") } else { Ok(part) };
        assert!(catch_unwind(AssertUnwindSafe(|| for_each(&three(), 0..100, work))).is_err());
    }
}
