//! Network utility maximization on many cores.
//!
//! | file | what it does |
//! |---|---|
//! | `flow_blocks/` | flows that respond to prices, in blocks on the threads of a team |
//! | `allocator/` | flows that start and end, ticks, updates |
//! | `threads.rs` | the threads of a solve: passes on a pool, price iterations on a team |
//! | `team/` | threads that do one job together, with a barrier inside |
//! | `many.rs` | many problems, scenarios of one, or derivatives at once, a thread for each in turn |
//!
//! `netnum-core` has the mathematics; this crate assigns it to threads. The number of threads is an argument; it
//! affects the time alone: an answer has the same bits for any number of threads.
//!
//! ```
//! use std::num::NonZeroUsize;
//!
//! use netnum_core::{AlphaFair, Ask, Paths, Problem};
//!
//! // One link, shared by one flow, by two, by three, …
//! let problem = |flows| Problem::new(vec![12.0], Paths::from_lists(vec![[0]; flows]), AlphaFair::proportional());
//! let problems = (1..=6).map(problem).collect::<Result<Vec<_>, _>>()?;
//! let two = NonZeroUsize::new(2).unwrap();
//! let solutions = netnum_parallel::solve_many(&problems, &Ask::default(), two);
//! for (flows, solution) in (1..).zip(solutions) {
//!     assert!((solution?.rates[0] - 12.0 / flows as f64).abs() < 1e-4);
//! }
//! # Ok::<(), netnum_core::Error>(())
//! ```
#![forbid(unsafe_code)]

/// Items that benchmarks and tests use below the public face. They may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::allocator::Engine;
}

/// The README's program runs as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod allocator;
mod flow_blocks;
mod many;
mod team;
mod threads;

pub use allocator::{Allocator, AllocatorSettings, FlowId, FlowPaths};
pub use flow_blocks::Precision;
pub use many::{Batch, BatchObserver, Scenarios, reverse_many, solve_many};
pub use threads::Threads;
