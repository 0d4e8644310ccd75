//! The network at one moment, as given to routings.

use netnum_core::Topology;

/// The network at one moment.
#[derive(Debug, Clone, Copy)]
pub struct NetworkState<'a> {
    /// As it was at the start.
    pub net: &'a Topology,
    /// The time, in seconds.
    pub time: f64,
    /// Of every link now, in bit/s: 0 if it has failed, `no_limit` if it has none.
    pub capacities: &'a [f64],
    /// A capacity that nothing can fill; ∞ where every link has a limit.
    pub no_limit: f64,
    /// The load of every link, in bit/s: without flows that have ended at this instant, at the rates from before it.
    pub loads: &'a [f64],
}

impl NetworkState<'_> {
    /// Whether all links of a path have a capacity.
    pub fn works(&self, path: &[u32]) -> bool {
        path.iter().all(|&link| self.capacities[link as usize] > 0.0)
    }
}
