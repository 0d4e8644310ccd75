//! Which links a flow takes.
//!
//! A [`Routing`] gives every flow that arrives one path, or weights over several. A static one does no more. One with a
//! [period](Routing::period) reviews the route of a flow at every period, given how much of what the flow sent was
//! [marked](Marking); others change routes when a link's capacity changes, or at every change of any flow. A new
//! routing is a file here, with its entry, and a line in [`ROUTINGS`], unless it is built from more than options, as a
//! [`Split`] is.

mod adaptive;
mod ecmp;
mod ecmp_split;
mod flow_bender;
mod given_paths;
mod hash;
mod k_shortest;
mod path_sets;
mod split;
mod spray;

pub use adaptive::Adaptive;
pub use ecmp::Ecmp;
pub use ecmp_split::EcmpSplit;
pub use flow_bender::{FlowBender, FlowBenderOptions};
pub use given_paths::GivenPaths;
pub use k_shortest::KShortestPaths;
pub use split::Split;
pub use spray::Spray;

use netnum_core::internal::options::Given;
use netnum_core::internal::registry::{Entry, Registry};
use netnum_core::{Options, Topology};

use crate::error::{Error, Result};
use crate::network::{Flows, Marking, Marks, NetworkState, Route};
use crate::workload::Workload;

/// The routings that [`routing`] builds.
#[doc(hidden)]
pub static ROUTINGS: &Registry<MakeRouting> = &Registry::new(
    "routing",
    &[ecmp::ENTRY, ecmp_split::ENTRY, flow_bender::ENTRY, spray::ENTRY, k_shortest::ENTRY, adaptive::ENTRY],
);

/// A routing by its name; its random draws are those of a seed.
///
/// # Errors
/// [`Error::Core`] for a name or an option that does not exist, or for a value of another type or out of its range.
pub fn routing(name: &str, seed: u64, options: &Options) -> Result<Box<dyn Routing + Send>> {
    let (entry, given) = ROUTINGS.given(name, options)?;
    (entry.make)(&given, seed).map_err(|error| error.about_option(&given))
}

/// Sets the route of every flow.
pub trait Routing {
    /// Its name in reports and errors.
    fn name(&self) -> &str;

    /// Called once before the first flow arrives. What depends on the workload only is best computed here, all at once.
    ///
    /// # Errors
    /// Naming the first flow that cannot be routed.
    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()>;

    /// Called when a [closed loop](crate::ClosedLoop) has added flows to the workload, those from number `first` on,
    /// before they arrive. `net` is the one of [`begin_run`](Self::begin_run).
    ///
    /// # Errors
    /// Naming the first flow that cannot be routed; by default it takes none.
    fn add_flows(&mut self, _net: &Topology, _workload: &Workload, _first: usize) -> Result<()> {
        let what = "takes no flows that a closed loop adds".into();
        Err(Error::Routing { routing: self.name().into(), what })
    }

    /// Writes the route of a flow that arrives to `route`. Called for flows in order of arrival.
    ///
    /// # Errors
    /// Of the routing; an error ends the run.
    fn route(&mut self, flow: usize, network: &NetworkState<'_>, route: &mut Route) -> Result<()>;

    /// Seconds between two [reviews](Self::review) of the route of a flow, counted from its arrival. Default: ∞, for
    /// none.
    fn period(&self) -> f64 {
        f64::INFINITY
    }

    /// Whether its routes are [pooled](Route::pool), several paths each, over which the policy splits the flow.
    fn pools(&self) -> bool {
        false
    }

    /// How links mark what goes over them, for [reviews](Self::review).
    fn marking(&self) -> Marking {
        Marking::Saturated
    }

    /// A period of a flow is over: writes another route to `route` and returns true, or returns false.
    ///
    /// # Errors
    /// Of the routing; an error ends the run.
    fn review(&mut self, _flow: usize, _marks: Marks, _network: &NetworkState<'_>, _route: &mut Route) -> Result<bool> {
        Ok(false)
    }

    /// What switches do when capacities are not those of the start: called for every flow when one changes, and after
    /// that for every flow that arrives. Writes another route to `route` and returns true, or returns false.
    ///
    /// # Errors
    /// Of the routing; an error ends the run.
    fn reroute(&mut self, _flow: usize, _network: &NetworkState<'_>, _route: &mut Route) -> Result<bool> {
        Ok(false)
    }

    /// Whether [`balance`](Self::balance) depends on the caps of flows. Where a cap that goes with the first bit of a
    /// backlog leads to a split that empties the backlog at once, and the next one to a backlog again, the cap would
    /// come and go without end: a backlog below one packet then does not lift the cap.
    fn follows_caps(&self) -> bool {
        false
    }

    /// Called after all events of an instant, while no rate has changed yet: sets the routes that change.
    ///
    /// # Errors
    /// Of the routing; an error ends the run.
    fn balance(&mut self, _network: &NetworkState<'_>, _flows: &Flows, moves: &mut Moves) -> Result<()> {
        moves.never = true;
        Ok(())
    }
}

/// The flows that take another route at an instant.
#[derive(Debug, Default)]
pub struct Moves {
    moves: Vec<(u32, Route)>,
    /// Whether the routing has no [`balance`](Routing::balance) of its own, which could read rates of flows.
    pub(crate) never: bool,
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

/// Makes a routing of [`ROUTINGS`] from its options and a seed.
pub(crate) type MakeRouting = fn(&Given<'_>, u64) -> Result<Box<dyn Routing + Send>>;

type RoutingEntry = Entry<MakeRouting>;
