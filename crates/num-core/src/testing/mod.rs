//! For tests: checks of user-defined utilities, and ranks without MPI.

mod thread_ranks;
mod utility_laws;

pub use thread_ranks::{on_ranks, thread_ranks};
pub use utility_laws::utility_laws;
