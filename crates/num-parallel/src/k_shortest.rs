//! Several short paths for many pairs of ends, on many threads.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use netnum_core::interrupt::Tokens;
use netnum_core::{Error, KShortest, Paths, Result, Topology};

/// [`Topology::k_shortest_paths`] on `threads` threads, the calling one among them, so that it sees what stops it. The
/// paths do not depend on `threads`.
///
/// # Errors
/// Those of [`Topology::k_shortest_paths`], and [`Error::Threads`].
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use netnum_core::{KShortest, Topology};
///
/// let net = Topology::fat_tree(8, 1.0)?;
/// let (sources, destinations) = net.random_pairs(1000, 1)?;
/// let two = NonZeroUsize::new(2).unwrap();
/// let (paths, group) = netnum_parallel::k_shortest_paths(&net, &sources, &destinations, &KShortest::new(4), two)?;
/// assert_eq!(Ok((paths, group)), net.k_shortest_paths(&sources, &destinations, &KShortest::new(4)));
/// # Ok::<(), netnum_core::Error>(())
/// ```
pub fn k_shortest_paths(
    net: &Topology,
    sources: &[usize],
    destinations: &[usize],
    what: &KShortest<'_>,
    threads: NonZeroUsize,
) -> Result<(Paths, Vec<u32>)> {
    net.k_shortest_paths_by(sources, destinations, what, |jobs, work| {
        let (next, done) = (AtomicUsize::new(0), Mutex::new((0..jobs).map(|_| None).collect::<Vec<_>>()));
        // Jobs are taken one by one, since they may take very different times; after an error no more of them begin.
        let take_turns = || {
            loop {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job >= jobs {
                    return;
                }
                let found = work(job);
                if found.is_err() {
                    next.store(jobs, Ordering::Relaxed);
                }
                done.lock().unwrap_or_else(|poisoned| poisoned.into_inner())[job] = Some(found);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads.get().min(jobs) {
                let tokens = Tokens::in_force();
                let helper = move || tokens.scope(take_turns);
                if let Err(refusal) = thread::Builder::new().spawn_scoped(scope, helper) {
                    next.store(jobs, Ordering::Relaxed);
                    return Err(Error::threads(threads, refusal));
                }
            }
            take_turns();
            Ok(())
        })?;
        let done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        // Those that did not begin come after an error.
        Ok(done.into_iter().map(|found| found.unwrap_or(Err(Error::Stopped))).collect())
    })
}
