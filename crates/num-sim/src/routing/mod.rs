//! Which links a flow takes.
//!
//! A [`Routing`] is asked when a flow arrives, and answers with one path, or with weights over several, which the flow
//! keeps to its end. A new one is a file here and a line in [`ROUTINGS`].

mod ecmp;
mod route;

pub use ecmp::Ecmp;
pub use route::Route;

use netnum_core::Topology;

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::options::{self, Entry, Given, Options};
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

/// Makes a routing from a seed and its options.
type Make = fn(u64, &Given<'_>) -> Result<Box<dyn Routing + Send>>;

/// The routings that [`routing`] knows, by name.
pub const ROUTINGS: &[Entry<Make>] = &[Entry {
    name: "ecmp",
    summary: "a random shortest path for each flow, drawn once",
    options: Options::new,
    make: |seed, _| Ok(Box::new(Ecmp::new(seed))),
}];

/// A routing by its name.
///
/// # Errors
/// [`Error::UnknownName`], [`Error::UnknownOption`], [`Error::Option`]; others for values out of their range.
pub fn routing(name: &str, seed: u64, options: &Options) -> Result<Box<dyn Routing + Send>> {
    let (make, given) = options::find(ROUTINGS, "routing", name, options)?;
    make(seed, &given)
}
