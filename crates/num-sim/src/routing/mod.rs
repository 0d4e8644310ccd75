//! Which links a flow takes.
//!
//! A [`Routing`] is asked when a flow arrives, and answers with one path, or with weights over several, which the flow
//! keeps to its end. A new one is a file here and a line in [`ROUTINGS`].

mod ecmp;
mod route;

pub use ecmp::Ecmp;
pub use route::Route;

use netnum_core::Topology;

use crate::error::{Error, Result};
use crate::workload::Workload;

/// Decides which links a flow takes.
pub trait Routing {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Called once before the first flow arrives. What depends on the workload only is best computed here, all at once.
    ///
    /// # Errors
    /// Naming the first flow that cannot be routed.
    fn start(&mut self, net: &Topology, workload: &Workload) -> Result<()>;

    /// Leaves the route of a flow that arrives now in `route`. Flows are asked about in order of arrival.
    ///
    /// # Errors
    /// Of the routing's own.
    fn route(&mut self, flow: usize, route: &mut Route) -> Result<()>;
}

/// A routing in the list of [`ROUTINGS`].
type Made = fn(seed: u64) -> Box<dyn Routing + Send>;

/// The routings that [`routing`] knows, by name.
pub const ROUTINGS: &[(&str, Made)] = &[("ecmp", |seed| Box::new(Ecmp::new(seed)))];

/// A routing by its name.
///
/// # Errors
/// [`Error::UnknownName`].
pub fn routing(name: &str, seed: u64) -> Result<Box<dyn Routing + Send>> {
    match ROUTINGS.iter().find(|routing| routing.0 == name) {
        Some((_, make)) => Ok(make(seed)),
        None => Err(Error::unknown("routing", name, ROUTINGS.iter().map(|routing| routing.0))),
    }
}
