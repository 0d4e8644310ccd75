//! Who does the work, and what stops it.
//!
//! | file | contents |
//! |---|---|
//! | `workers.rs` | [`Workers`]: threads, ranks and blocks of flows behind one object, which a solve is given once |
//! | `ranks.rs`, `mpi_world.rs` | the processes that share a problem |
//! | `thread_ranks.rs` | ranks without MPI, for tests |
//! | `interrupt.rs`, `interruptible_list.rs` | tokens that stop long work |
//! | `memory.rs` | memory that is asked for before it is used |

pub(crate) mod interrupt;
pub mod interruptible_list;
pub mod memory;
#[cfg(feature = "mpi")]
mod mpi_world;
mod ranks;
mod thread_ranks;
mod workers;

pub use interrupt::StopToken;
#[cfg(feature = "mpi")]
pub use mpi_world::MpiWorld;
pub use ranks::{AllReduce, Call, Ranks};
pub use thread_ranks::{on_ranks, thread_ranks};
pub use workers::{Workers, for_each};
