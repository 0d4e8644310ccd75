//! The parts of a work, shared out to threads that live as long as it.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use netnum_core::interrupt::Tokens;
use netnum_core::parts::Parts;

/// So many threads, the caller's among them. Where the system gives fewer, those do all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnThreads(pub(crate) NonZeroUsize);

impl Parts for OnThreads {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let take = || {
            let mut part = next.fetch_add(1, Ordering::Relaxed);
            while part < parts {
                work(part);
                part = next.fetch_add(1, Ordering::Relaxed);
            }
        };
        let tokens = Tokens::in_force();
        thread::scope(|scope| {
            let start = |_| {
                let tokens = tokens.clone();
                thread::Builder::new().spawn_scoped(scope, move || tokens.scope(take)).ok()
            };
            let others: Vec<_> = (1..self.0.get().min(parts)).map_while(start).collect();
            take();
            for other in others {
                other.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
    }
}
