//! Interruption of long work: by a token that another thread may set, a deadline, or a poll of signals.
//!
//! A [`StopToken`] is in force on a thread while [`scope`](StopToken::scope) runs. Scopes nest, and every one of them
//! counts: a solve with a time limit inside a simulation that Ctrl-C may stop ends with whichever comes first. Long
//! loops call [`check`] every few thousand items, by a [`Pacer`], and return [`Error::Stopped`]: a token
//! abandons the work. A time limit in the settings of a solve, or an observer, ends it with the best answer so far
//! instead, and so does any of them a simulation, with a status that says so. Threads that work for another one enter
//! the [`Tokens`] of that one.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

thread_local! {
    static IN_FORCE: RefCell<Vec<StopToken>> = const { RefCell::new(Vec::new()) };
}

/// Stops the work inside its [`scope`](Self::scope) at its next check. Clones are the same token.
///
/// ```
/// use std::thread;
///
/// use netnum_core::{Error, StopToken, Topology};
///
/// let token = StopToken::new();
/// let from_elsewhere = token.clone();
/// thread::spawn(move || from_elsewhere.stop()).join().unwrap();
/// let stopped = token.scope(|| Topology::leaf_spine(9, 16, 4, 10e9, 40e9)?.ecmp(&[0; 100_000], &[143; 100_000], 1));
/// assert_eq!(stopped.unwrap_err(), Error::Stopped);
/// ```
#[derive(Clone)]
pub struct StopToken {
    inner: Arc<Inner>,
}

struct Inner {
    stopped: AtomicBool,
    /// When it stops by itself.
    deadline: Option<Instant>,
    /// Polled every now and then whether to stop.
    poll: Option<Poll>,
}

struct Poll {
    poll: fn() -> bool,
    /// The thread that polls.
    thread: ThreadId,
    pause: Duration,
    began: Instant,
    /// When the next poll is due, in nanoseconds since it began.
    next: AtomicU64,
}

impl StopToken {
    /// A token that stops when [`stop`](Self::stop) is called.
    pub fn new() -> Self {
        Self::of(None, None)
    }

    /// A token that also stops by itself, this long from now.
    pub fn with_timeout(timeout: Duration) -> Self {
        Self::of(Instant::now().checked_add(timeout), None)
    }

    /// A token that also polls `poll` whether to stop, no more often than once per `pause`, and only on the thread that
    /// makes the token: signals are often shown to one thread alone. Others see what it answered there.
    pub fn with_poll(pause: Duration, poll: fn() -> bool) -> Self {
        let thread = thread::current().id();
        Self::of(None, Some(Poll { poll, thread, pause, began: Instant::now(), next: AtomicU64::new(0) }))
    }

    fn of(deadline: Option<Instant>, poll: Option<Poll>) -> Self {
        Self { inner: Arc::new(Inner { stopped: AtomicBool::new(false), deadline, poll }) }
    }

    /// Stops what runs in its scope, on any thread. It stays stopped.
    pub fn stop(&self) {
        self.inner.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it has been stopped, its time is up, or its poll returns true.
    pub fn is_stopped(&self) -> bool {
        let Inner { stopped, deadline, poll } = &*self.inner;
        let is_stopped = stopped.load(Ordering::Relaxed)
            || deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || poll.as_ref().is_some_and(Poll::says_stop);
        if is_stopped {
            self.stop();
        }
        is_stopped
    }

    /// Does some work that this token may stop. The tokens of scopes around it stay in force.
    pub fn scope<T>(&self, work: impl FnOnce() -> T) -> T {
        Tokens(vec![self.clone()]).scope(work)
    }

    /// Does some work that this token alone may stop: the tokens of scopes around it are set aside until it ends. For
    /// code that is called back and calls again: a stop of its caller is not one of its own.
    pub fn scope_alone<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Puts the tokens back, whatever way the work ends.
        struct SetAside(Vec<StopToken>);
        impl Drop for SetAside {
            fn drop(&mut self) {
                IN_FORCE.set(std::mem::take(&mut self.0));
            }
        }
        let _set_aside = SetAside(IN_FORCE.replace(vec![self.clone()]));
        work()
    }
}

impl Default for StopToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for StopToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stopped = self.inner.stopped.load(Ordering::Relaxed);
        f.debug_struct("StopToken").field("stopped", &stopped).field("deadline", &self.inner.deadline).finish()
    }
}

impl Poll {
    fn says_stop(&self) -> bool {
        let now = self.began.elapsed().as_nanos() as u64;
        let next = self.next.load(Ordering::Relaxed);
        // One thread polls at a time.
        let after = now.saturating_add(self.pause.as_nanos() as u64);
        now >= next
            && thread::current().id() == self.thread
            && self.next.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            && (self.poll)()
    }
}

/// The tokens in force on a thread, for threads that work for it.
#[derive(Debug, Clone, Default)]
pub struct Tokens(Vec<StopToken>);

impl Tokens {
    /// Those in force on this thread.
    pub fn in_force() -> Self {
        Self(IN_FORCE.with_borrow(Vec::clone))
    }

    /// Does some work, on any thread, that these tokens may stop.
    pub fn scope<T>(self, work: impl FnOnce() -> T) -> T {
        /// Takes the tokens off again, whatever way the work ends.
        struct Entered(usize);
        impl Drop for Entered {
            fn drop(&mut self) {
                IN_FORCE.with_borrow_mut(|tokens| tokens.truncate(self.0));
            }
        }
        let before = IN_FORCE.with_borrow_mut(|tokens| {
            let before = tokens.len();
            tokens.extend(self.0);
            before
        });
        let _entered = Entered(before);
        work()
    }
}

/// Whether to go on: called by whatever takes long. Without a token some nanoseconds, with one some tens.
///
/// # Errors
/// [`Error::Stopped`] when a token in force on this thread has stopped.
pub fn check() -> Result<()> {
    // A poll of signals may do anything, entering another scope included: nothing is borrowed meanwhile.
    let tokens = match IN_FORCE.with_borrow(|tokens| (!tokens.is_empty()).then(|| tokens.clone())) {
        None => return Ok(()),
        Some(tokens) => tokens,
    };
    if tokens.iter().any(StopToken::is_stopped) { Err(Error::Stopped) } else { Ok(()) }
}

/// Items that a loop without branches works through between two checks.
pub(crate) const PIECE: usize = 1 << 12;

/// Calls [`check`] once per so many units of work, so that a loop may ask at every turn.
#[derive(Debug, Clone, Default)]
pub struct Pacer {
    done: usize,
}

impl Pacer {
    /// Units of work between two checks: some tens of nanoseconds each, so that a check is due every fraction of a
    /// millisecond.
    const PAUSE: usize = 8192;

    /// Nothing done yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts some units of work (links crossed, entries read), and checks when enough are done.
    ///
    /// # Errors
    /// [`Error::Stopped`] as [`check`].
    #[inline]
    pub fn did(&mut self, units: usize) -> Result<()> {
        self.done += units;
        if self.done < Self::PAUSE {
            return Ok(());
        }
        self.done = 0;
        check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn without_a_token_nothing_stops() {
        assert_eq!(check(), Ok(()));
    }

    #[test]
    fn a_scope_ends_with_its_work_and_those_around_it_count() {
        let (outer, inner) = (StopToken::new(), StopToken::new());
        outer.scope(|| {
            inner.scope(|| assert_eq!(check(), Ok(())));
            inner.stop();
            assert_eq!(check(), Ok(()));
            outer.stop();
            StopToken::new().scope(|| assert_eq!(check(), Err(Error::Stopped)));
        });
        assert_eq!(check(), Ok(()));
    }

    #[test]
    fn a_panic_leaves_its_scope_too() {
        let token = StopToken::new();
        token.stop();
        assert!(std::panic::catch_unwind(|| token.scope(|| panic!("on the way"))).is_err());
        assert_eq!(check(), Ok(()));
    }

    #[test]
    fn a_deadline_stops() {
        let token = StopToken::with_timeout(Duration::from_secs(3600));
        token.scope(|| {
            assert_eq!(check(), Ok(()));
            StopToken::with_timeout(Duration::ZERO).scope(|| {
                assert_eq!(check(), Err(Error::Stopped));
            });
        });
    }

    #[test]
    fn threads_that_work_for_another_one_heed_its_tokens() {
        let token = StopToken::new();
        token.scope(|| {
            let tokens = Tokens::in_force();
            token.stop();
            let seen = thread::spawn(move || (check(), tokens.scope(check))).join().unwrap();
            assert_eq!(seen, (Ok(()), Err(Error::Stopped)));
        });
    }

    #[test]
    fn a_look_that_says_stop_is_remembered() {
        let token = StopToken::with_poll(Duration::from_secs(3600), || true);
        token.scope(|| {
            assert_eq!(check(), Err(Error::Stopped));
            assert_eq!(check(), Err(Error::Stopped));
        });
    }

    #[test]
    fn a_look_is_taken_on_the_thread_of_its_token_and_heeded_on_all() {
        let token = StopToken::with_poll(Duration::ZERO, || true);
        let elsewhere = || thread::scope(|scope| scope.spawn(|| token.scope(check)).join().unwrap());
        assert_eq!(elsewhere(), Ok(()));
        assert_eq!(token.scope(check), Err(Error::Stopped));
        assert_eq!(elsewhere(), Err(Error::Stopped));
    }

    #[test]
    fn alone_a_token_sets_those_around_it_aside_until_its_work_ends() {
        let (outer, inner) = (StopToken::new(), StopToken::with_timeout(Duration::from_secs(3600)));
        outer.stop();
        outer.scope(|| {
            inner.scope_alone(|| {
                assert_eq!(check(), Ok(()));
                inner.stop();
                assert_eq!(check(), Err(Error::Stopped));
            });
            assert_eq!(check(), Err(Error::Stopped));
        });
        assert_eq!(check(), Ok(()));
    }

    #[test]
    fn a_pacer_looks_once_per_so_many_units() {
        let token = StopToken::new();
        token.stop();
        token.scope(|| {
            let mut pacer = Pacer::new();
            let first = (0..).find(|_| pacer.did(2).is_err()).unwrap();
            assert_eq!(first + 1, Pacer::PAUSE / 2);
        });
    }
}
