//! The network of the moment: its capacities and loads, the flows on it with their routes and sources, and what congested
//! links mark. Routings and policies see it; it depends on neither.

mod congestion;
mod flows;
mod ledger;
mod route;
mod source;

use netnum_core::Topology;

pub(crate) use congestion::Marked;
pub use congestion::{Marking, Marks};
pub(crate) use flows::PACKET;
pub use flows::{Flow, Flows};
pub(crate) use ledger::Ledger;
pub use route::Route;
pub(crate) use source::Source;

/// The network of the moment.
#[derive(Debug, Clone, Copy)]
pub struct NetworkState<'a> {
    /// As it was at the start.
    pub net: &'a Topology,
    /// The moment, in seconds.
    pub time: f64,
    /// Of every link at the moment, in bit/s; 0 if it has failed.
    pub capacities: &'a [f64],
    /// What every link carries, in bit/s: flows that have ended at this instant are gone, the others have the rates from
    /// before it.
    pub loads: &'a [f64],
}

impl NetworkState<'_> {
    /// Whether all links of a path carry something.
    pub fn works(&self, path: &[u32]) -> bool {
        path.iter().all(|&link| self.capacities[link as usize] > 0.0)
    }
}
