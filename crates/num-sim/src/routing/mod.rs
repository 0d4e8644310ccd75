//! Which links a flow takes.
//!
//! A [`Routing`] is asked when a flow arrives, and answers with one path, or with weights over several. A static one leaves
//! it at that. One with a [clock](Routing::period) is asked again at every period of a flow, and told how much of what the
//! flow sent in it was [marked](Marking); others want to be asked when a link's capacity changes, or at every change of
//! any flow. A new one is a file here and a line in [`ROUTINGS`], unless it is made of more than options, as a [`Split`] is.

mod adaptive;
mod ecmp;
mod flow_bender;
mod hash;
mod k_shortest;
mod path_sets;
mod split;
mod spray;

pub use adaptive::Adaptive;
pub use ecmp::{Ecmp, EcmpOptions};
pub use flow_bender::{FlowBender, FlowBenderOptions};
pub use k_shortest::{KShortestOptions, KShortestPaths};
pub use split::Split;
pub use spray::Spray;

use netnum_core::Topology;

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::network::Flows;
use crate::network::{Marking, Marks, NetworkState, Route};
use crate::registry::{self, Entry, Given, Options};
use crate::workload::Workload;

/// Decides which links a flow takes.
pub trait Routing {
    /// What it is called.
    fn name(&self) -> &str;

    /// Called once before the first flow arrives. What depends on the workload only is best computed here, all at once.
    ///
    /// # Errors
    /// Naming the first flow that cannot be routed.
    fn start(&mut self, net: &Topology, workload: &Workload) -> Result<()>;

    /// Leaves the route of a flow that arrives in `route`, given the network of the moment. Flows are asked about in order of
    /// arrival.
    ///
    /// # Errors
    /// Of the routing's own.
    fn route(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<()>;

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
    fn review(&mut self, _flow: usize, _marks: Marks, _now: &NetworkState<'_>, _route: &mut Route) -> Result<bool> {
        Ok(false)
    }

    /// What switches do when capacities are not those of the start: asked about every flow when one changes, and after
    /// that about every flow that arrives. Leaves another route in `route`, and says so, or leaves it alone. `now` has
    /// every link with its capacity of the moment.
    ///
    /// # Errors
    /// Of the routing's own.
    fn reroute(&mut self, _flow: usize, _now: &NetworkState<'_>, _route: &mut Route) -> Result<bool> {
        Ok(false)
    }

    /// Whether [`balance`](Self::balance) looks at the caps of flows. Where a cap that goes with the first bit of a backlog
    /// leaves a flow a split that empties it at once, and the next one a backlog again, it would come and go without end:
    /// then a backlog is not taken for one before it is a packet.
    fn follows_caps(&self) -> bool {
        false
    }

    /// All flows that come or go at this instant are known, but no rate has changed as yet: says which flows take another
    /// route, and which.
    ///
    /// # Errors
    /// Of the routing's own.
    fn balance(&mut self, _now: &NetworkState<'_>, _flows: &Flows, _moves: &mut Moves) -> Result<()> {
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
pub const ROUTINGS: &[Entry<Make>] = &[
    Entry {
        name: "ecmp",
        summary: "a random shortest path for each flow, drawn once",
        options: registry::defaults::<EcmpOptions>,
        make: |seed, given| Ok(Box::new(Ecmp::with(seed, given.read()?)?)),
    },
    Entry {
        name: "flow-bender",
        summary: "a flow on a congested path draws another one",
        options: registry::defaults::<FlowBenderOptions>,
        make: |seed, given| Ok(Box::new(FlowBender::new(seed, given.read()?)?)),
    },
    Entry {
        name: "spray",
        summary: "an even split over all shortest paths",
        options: Options::new,
        make: |_, _| Ok(Box::new(Spray::new())),
    },
    Entry {
        name: "k-shortest",
        summary: "a random one of the k shortest paths for each flow, or all of them",
        options: registry::defaults::<KShortestOptions>,
        make: |seed, given| Ok(Box::new(KShortestPaths::new(seed, given.read()?)?)),
    },
    Entry {
        name: "adaptive",
        summary: "the best split over all shortest paths at every moment, DeTail's ideal",
        options: Options::new,
        make: |_, _| Ok(Box::new(Adaptive::new())),
    },
];

/// A routing by its name.
///
/// # Errors
/// [`Error::UnknownName`], [`Error::UnknownOption`], [`Error::Option`]; others for values out of their range.
pub fn routing(name: &str, seed: u64, options: &Options) -> Result<Box<dyn Routing + Send>> {
    let (make, given) = registry::find(ROUTINGS, "routing", name, options)?;
    given.named(make(seed, &given))
}
