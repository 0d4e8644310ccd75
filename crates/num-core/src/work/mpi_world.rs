//! Reductions over all ranks of MPI, by the crate `mpi` (rsmpi): the feature `mpi`, which is off by default.
//!
//! To build it takes an MPI with `mpicc` on the path and libclang. An error of MPI ends all processes, as is its
//! custom.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, LazyLock};

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};

use crate::error::Result;
use crate::work::AllReduce;

/// All ranks of MPI (`MPI_COMM_WORLD`), of which this process is one. MPI is [initialized](mpi::initialize) before, and
/// its `Universe` lives longer. Collectives of the program go over a duplicate of the communicator: where a rank has
/// failed, its reduction would meet them.
///
/// The handle of another communicator is a pointer in some MPI libraries, which cannot be sent to a thread; for one,
/// implement [`AllReduce`].
///
/// ```no_run
/// use netnum_core::{MpiWorld, Ranks};
///
/// let universe = mpi::initialize().expect("not initialized before");
/// let ranks = Ranks::new(MpiWorld::default());
/// println!("rank {}", ranks.rank());
/// drop(universe);
/// ```
#[derive(Debug, Default)]
pub struct MpiWorld {
    /// The values of this rank, while the result is written over them.
    own: Vec<f64>,
}

impl MpiWorld {
    fn reduce(&mut self, values: &mut [f64], operation: SystemOperation) {
        self.own.clear();
        self.own.extend_from_slice(values);
        SimpleCommunicator::world().all_reduce_into(&self.own[..], values, operation);
    }
}

impl AllReduce for MpiWorld {
    fn rank(&self) -> usize {
        SimpleCommunicator::world().rank() as usize
    }

    fn ranks(&self) -> usize {
        SimpleCommunicator::world().size() as usize
    }

    fn sum(&mut self, values: &mut [f64]) -> Result<()> {
        self.reduce(values, SystemOperation::sum());
        Ok(())
    }

    fn max(&mut self, values: &mut [f64]) -> Result<()> {
        self.reduce(values, SystemOperation::max());
        Ok(())
    }

    fn begun(&self) -> Arc<AtomicUsize> {
        static BEGUN: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);
        Arc::clone(&BEGUN)
    }
}
