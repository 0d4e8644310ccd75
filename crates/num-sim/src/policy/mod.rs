//! Policies: the rate of every flow.
//!
//! A [`Policy`] is given every [`Event`] of an instant, one after the other, and then sets the rates that change. It
//! returns the time of its next call without an event: its clock, if it has one. A new policy is a file here, with its
//! entry, and a line in [`POLICIES`].
//!
//! `by_name.rs` makes them. Several policies share the other files: `ordered.rs` (one flow after the other, by a key),
//! `strict.rs` (by levels), `max_min/` (rates and shared levels), `clocked.rs` (an allocator with a `clock.rs`),
//! `objective.rs` (utilities by option), `active.rs` (active flows as a `Problem`), `touched.rs` (those that events
//! concern), `remaining.rs` (remaining size and time), and `control_traffic.rs`.

mod active;
mod by_name;
mod clock;
mod clocked;
mod coflow;
mod control_traffic;
mod edf;
mod ideal;
mod max_min;
mod objective;
mod ordered;
mod pias;
mod rax;
mod remaining;
mod srpt;
mod strict;
mod touched;
mod urgency;
mod xwi;

use netnum_core::Topology;
use netnum_core::internal::registry::Registry;

use crate::error::{Error, Result};
use crate::network::Flows;
use crate::workload::Workload;

pub use by_name::policy;
use by_name::{MakePolicy, PolicyEntry};
pub use clocked::{Clocked, ClockedOptions};
pub use coflow::Coflow;
pub use control_traffic::UpdateTraffic;
pub use edf::Edf;
pub use ideal::Ideal;
pub use max_min::MaxMinFair;
pub use objective::Objective;
pub use ordered::{Key, Ordered};
pub use pias::Pias;
pub use rax::{Rax, RaxOptions};
pub use srpt::Srpt;
pub use strict::{Levels, Strict, Until};
pub use xwi::{Xwi, XwiOptions};

/// The policies that [`policy`] builds.
#[doc(hidden)]
pub static POLICIES: &Registry<MakePolicy> = &Registry::new(
    "policy",
    &[
        max_min::ENTRY,
        srpt::ENTRY,
        edf::ENTRY,
        pias::ENTRY,
        rax::ENTRY,
        rax::PLUS,
        ideal::PROPORTIONAL,
        urgency::ENTRY,
        coflow::ENTRY,
        ideal::ALPHA_FAIR,
        clocked::FLOWTUNE,
        xwi::ENTRY,
        clocked::GRADIENT,
        clocked::RCP,
    ],
);

/// Sets the rate of every flow.
pub trait Policy {
    /// Its name in reports and errors.
    fn name(&self) -> &str;

    /// Called once before the first flow arrives.
    ///
    /// # Errors
    /// Of the policy.
    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()>;

    /// Called when a [closed loop](crate::ClosedLoop) has added flows to the workload, those from number `first` on,
    /// before they arrive.
    ///
    /// # Errors
    /// Of the policy; by default it takes none.
    fn add_flows(&mut self, _workload: &Workload, _first: usize) -> Result<()> {
        let what = "takes no flows that a closed loop adds".into();
        Err(Error::Policy { policy: self.name().into(), what })
    }

    /// Called for every event, in the order of events.
    ///
    /// # Errors
    /// Of the policy; an error ends the run.
    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()>;

    /// Called after all events of an instant: sets the rates that change. Returns the time of the next call if
    /// no event comes before, which must be after `now`; ∞ for none.
    ///
    /// # Errors
    /// Of the policy; an error ends the run.
    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64>;

    /// Whether a flow that only its cap limits gets all of its cap. Policies that stop near an optimum, and
    /// user-defined ones, may give a little less, and so may all over [pools](crate::Routing::pools): a backlog below
    /// one packet then does not lift the cap, since otherwise the cap could come and go without end.
    fn is_exact(&self) -> bool {
        true
    }

    /// Whether weights of flows mean something to it. Otherwise [`simulate`](crate::simulate) refuses flows that have
    /// [some](Workload::weights).
    fn takes_weights(&self) -> bool {
        false
    }

    /// Whether it splits flows over the paths of a [pooled](crate::Route::pooled) route. Otherwise
    /// [`simulate`](crate::simulate) refuses routings that [pool](crate::Routing::pools) paths.
    fn splits(&self) -> bool {
        false
    }

    /// The largest relative gap to an optimum that its rates were proven to have so far; 0 for a policy that proves
    /// none, or is exact.
    fn gap(&self) -> f64 {
        0.0
    }

    /// The messages between its allocator and the servers so far; none for a policy without an allocator.
    fn update_traffic(&self) -> Option<UpdateTraffic> {
        None
    }
}

/// A change of the flows or of the network.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A flow has arrived in this slot. Its rate is 0 until [`allocate`](Policy::allocate) sets one.
    Arrived(u32),
    /// The flow in this slot ends. The slot may be given to another flow at once.
    Ended(u32),
    /// The flow in this slot takes another route from now on, at the rate that it has.
    Rerouted(u32),
    /// The flow in this slot has another cap from now on. A policy that ignores caps gives rates without regard to
    /// them; a source then takes what it can use of its rate.
    CapChanged(u32),
    /// The flow in this slot has sent so many bits, which the policy [awaits](Rates::await_sent) of it.
    Sent(u32, f64),
    /// A link has another capacity from now on.
    CapacityChanged {
        /// The link.
        link: u32,
        /// Its capacity in bit/s; 0 if it has failed.
        capacity: f64,
    },
}

/// The rates that change at an instant.
#[derive(Debug, Default)]
pub struct Rates {
    changes: Vec<(u32, f64)>,
    /// Slots of pooled flows with the rates of their paths.
    splits: Vec<(u32, Vec<f64>)>,
    /// Slots with the bits sent of which the policy is told.
    awaited: Vec<(u32, f64)>,
    /// Whether flows may share paces: nothing reads the rates of single flows.
    pub(crate) may_share: bool,
    shared: Shared,
}

/// The paces that change at an instant, each the rate of the flows that follow it per weight.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Paces, which go by the number of a link, with their rates.
    pub(crate) paces: Vec<(u32, f64)>,
    /// Slots of flows that take a pace, with the pace and their weight.
    pub(crate) joins: Vec<(u32, u32, f64)>,
    /// Links with their loads, which are not added up from rates of flows.
    pub(crate) loads: Vec<(u32, f64)>,
}

impl Rates {
    /// From now on the flow in this slot has this rate, in bit/s.
    #[inline]
    pub fn set(&mut self, slot: u32, rate: f64) {
        self.changes.push((slot, rate));
    }

    /// From now on the flow in this slot, whose route is [pooled](crate::Route::pooled), has these rates on its paths.
    pub fn split(&mut self, slot: u32, path_rates: Vec<f64>) {
        self.splits.push((slot, path_rates));
    }

    /// The policy is given [`Event::Sent`] when the flow in this slot has sent so many bits, in place of what it
    /// awaited of the flow before; not if the flow ends before that.
    pub fn await_sent(&mut self, slot: u32, bits: f64) {
        self.awaited.push((slot, bits));
    }

    /// What flows share from now on.
    pub(crate) fn shared(&mut self) -> &mut Shared {
        &mut self.shared
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (u32, f64)> {
        self.changes.drain(..)
    }

    pub(crate) fn drain_awaited(&mut self) -> impl Iterator<Item = (u32, f64)> {
        self.awaited.drain(..)
    }

    pub(crate) fn drain_splits(&mut self) -> impl Iterator<Item = (u32, Vec<f64>)> {
        self.splits.drain(..)
    }
}
