//! Where workers run, if they are to be pinned: each on a core of its own, where the system can be told and there are
//! enough of them.
//!
//! A worker that stays keeps its part of the problem in its core's caches. The thread that calls is never moved: it is
//! not ours.

/// The cores that this thread may run on, without the one that it is on: the next in number first.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn others() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu};

    let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
    let here = sched_getcpu();
    let cores = (here + 1..CpuSet::MAX_CPU).chain(0..here);
    cores.filter(|&core| allowed.is_set(core)).collect()
}

/// Keeps this thread on a core. Where the system refuses, it goes on without.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn stay_on(core: usize) {
    use rustix::thread::{CpuSet, sched_setaffinity};

    let mut only = CpuSet::new();
    only.set(core);
    let _ = sched_setaffinity(None, &only);
}

/// Elsewhere workers run where the system likes.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn others() -> Vec<usize> {
    Vec::new()
}

/// Elsewhere there is no core to name.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn stay_on(_core: usize) {}
