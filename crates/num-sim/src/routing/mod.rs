//! Which links a flow takes.
//!
//! A [`Routing`] is asked when a flow arrives, and answers with one path, or with weights over several. A static one leaves
//! it at that. One with a [clock](Routing::period) is asked again at every period of a flow, and told how much of what the
//! flow sent in it was [marked](Marking); others want to be asked when a link's capacity changes, or at every change of
//! any flow. A new one is a file here and a line in [`ROUTINGS`].

mod ecmp;
mod route;

pub use ecmp::Ecmp;
pub use route::Route;

use netnum_core::Topology;

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::flows::Flows;
use crate::marks::{Marking, Marks};
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

    /// Seconds of a flow's own clock, which starts when it arrives: after each of them it is [reviewed](Self::review).
    /// ∞, the default, for never.
    fn period(&self) -> f64 {
        f64::INFINITY
    }

    /// How links mark what goes over them, for those who review.
    fn marking(&self) -> Marking {
        Marking::Saturated
    }

    /// A period of a flow's clock is over: leaves another route in `route`, and says so, or leaves it alone.
    ///
    /// # Errors
    /// Of the routing's own.
    fn review(&mut self, _flow: usize, _marks: Marks, _route: &mut Route) -> Result<bool> {
        Ok(false)
    }

    /// The capacity of a link has changed. Every flow is then asked about, by [`reroute`](Self::reroute).
    fn set_capacity(&mut self, _link: usize, _capacity: f64) {}

    /// The capacity of a link has changed: leaves another route for a flow in `route`, and says so, or leaves it alone.
    ///
    /// # Errors
    /// Of the routing's own.
    fn reroute(&mut self, _flow: usize, _route: &mut Route) -> Result<bool> {
        Ok(false)
    }

    /// All flows that come or go at this instant are known, but no rate has changed as yet: says which flows take another
    /// route, and which.
    ///
    /// # Errors
    /// Of the routing's own.
    fn balance(&mut self, _now: f64, _flows: &Flows, _moves: &mut Moves) -> Result<()> {
        Ok(())
    }
}

/// The flows that take another route at an instant.
#[derive(Debug, Default)]
pub struct Moves {
    moves: Vec<(u32, Route)>,
}

impl Moves {
    /// From now on the flow in this slot takes this route.
    pub fn set(&mut self, slot: u32, route: Route) {
        self.moves.push((slot, route));
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (u32, Route)> {
        self.moves.drain(..)
    }
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
