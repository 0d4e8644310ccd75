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

#[cfg(test)]
mod tests {
    use super::*;
    use netnum_core::interrupt::check;
    use netnum_core::parts::for_each;
    use netnum_core::{Error, StopToken};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const THREE: OnThreads = OnThreads(NonZeroUsize::new(3).unwrap());

    #[test]
    fn every_part_is_done_once_and_what_it_found_is_in_its_place() {
        let found = for_each(&THREE, 0..1000, |part| Ok(part * part)).unwrap();
        assert_eq!(found, (0..1000).map(|part| part * part).collect::<Vec<_>>());
    }

    #[test]
    fn a_token_stops_parts_on_all_threads() {
        let token = StopToken::new();
        let stopped = token.scope(|| {
            for_each(&THREE, 0..100, |part| {
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
        assert!(catch_unwind(AssertUnwindSafe(|| for_each(&THREE, 0..100, work))).is_err());
    }
}
