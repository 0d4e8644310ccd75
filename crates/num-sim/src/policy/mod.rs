//! Which rate every flow gets.
//!
//! A [`Policy`] is told which flows arrive and leave, and asked for rates when all changes of an instant are known. It
//! answers with the rates that change, and with the time at which it wants to be asked again though nothing has
//! happened: its clock, if it has one. A new one is a file here and a line in [`POLICIES`].

mod active_problem;
mod clock;
mod clocked;
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
mod urgency;
mod xwi;

pub use clocked::{Clocked, ClockedOptions};
pub use control_traffic::UpdateTraffic;
pub use edf::{DeadlineKey, Edf};
pub use ideal::Ideal;
pub use max_min::{MaxMinFair, fair_rates};
pub use objective::Objective;
pub use ordered::{Key, Ordered};
pub use pias::Pias;
pub use rax::{Rax, RaxOptions};
pub use remaining::Remaining;
pub use srpt::{RemainingKey, Srpt};
pub use strict::{Rank, Strict};
pub use urgency::{MinFctOptions, Urgency};
pub use xwi::{Xwi, XwiOptions};

use netnum_core::Topology;

use crate::error::{Error, Result};
use crate::network::Flows;
use crate::registry::{self, Entry, Given, Options};
use crate::workload::Workload;
use edf::EdfOptions;
use ideal::{AlphaFairOptions, IdealOptions};
use pias::PiasOptions;
use srpt::SrptOptions;

/// Decides which rate every flow gets.
pub trait Policy {
    /// What it is called.
    fn name(&self) -> &str;

    /// Called once before the first flow arrives.
    ///
    /// # Errors
    /// Of the policy's own.
    fn start(&mut self, net: &Topology, workload: &Workload) -> Result<()>;

    /// A flow has arrived in a slot. Its rate is 0 until [`allocate`](Self::allocate) sets one.
    fn arrive(&mut self, slot: u32, flows: &Flows);

    /// A flow leaves its slot, which may be given to another at once.
    fn leave(&mut self, slot: u32, flows: &Flows);

    /// A flow has another cap from now on. A policy that leaves it at that gives rates without regard to caps; a source
    /// then takes what it can use of them.
    fn cap_changed(&mut self, _slot: u32, _flows: &Flows) {}

    /// A flow takes another route from now on, at the rate that it has. By default as if it left and came back.
    fn reroute(&mut self, slot: u32, flows: &Flows) {
        self.leave(slot, flows);
        self.arrive(slot, flows);
    }

    /// The capacity of a link has changed; 0 if it has failed.
    fn set_capacity(&mut self, link: usize, capacity: f64);

    /// All changes of this instant are known: sets the rates that change. Returns when to ask again if nothing happens
    /// before, which must be after `now`; ∞ for never.
    ///
    /// # Errors
    /// Of the policy's own.
    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64>;

    /// Whether a flow that only its cap holds back gets all of it. One that stops near an optimum, or that nobody knows,
    /// may give a little less: then a backlog is not taken for one before it is a packet, since otherwise a cap could
    /// come and go without end.
    fn is_exact(&self) -> bool {
        true
    }

    /// The largest relative gap to an optimum that it has proven of its rates so far; 0 for those that know none, or
    /// are exact.
    fn gap(&self) -> f64 {
        0.0
    }

    /// What it and the servers have told each other so far; none for a policy without an allocator to tell.
    fn traffic(&self) -> Option<UpdateTraffic> {
        None
    }
}

/// The rates that change at an instant.
#[derive(Debug, Default)]
pub struct Rates {
    changes: Vec<(u32, f64)>,
}

impl Rates {
    /// From now on the flow in this slot gets this rate, in bit/s.
    #[inline]
    pub fn set(&mut self, slot: u32, rate: f64) {
        self.changes.push((slot, rate));
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (u32, f64)> {
        self.changes.drain(..)
    }
}

/// What to use where flows spread over several paths.
const SPREADS: &str =
    r#"use routing "ecmp" or "flow-bender" (of step 1), or policy "max-min", "srpt", "edf", "pias", "rax" or "rax+""#;

/// The path of a flow, for policies that can take no flow with several.
fn single_path<'a>(policy: &str, slot: u32, flows: &'a Flows) -> Result<&'a [u32]> {
    let route = flows.route(slot);
    if route.shares().iter().all(|&share| share == 1.0) {
        return Ok(route.links());
    }
    let flow = flows.flow(slot).number;
    let what = format!("cannot take flow {flow}, which spreads over several paths; {SPREADS}");
    Err(Error::Policy { policy: policy.into(), what })
}

/// Makes a policy from its options.
type Make = fn(&Given<'_>) -> Result<Box<dyn Policy + Send>>;

/// The policies that [`policy`] knows, by name.
pub const POLICIES: &[Entry<Make>] = &[
    Entry {
        name: "max-min",
        summary: "fair sharing",
        options: Options::new,
        make: |_| Ok(Box::new(MaxMinFair::new())),
    },
    Entry {
        name: "srpt",
        summary: "strict priority by what is left of a flow in size or in time, pFabric's ideal",
        options: registry::defaults::<SrptOptions>,
        make: |given| Ok(Box::new(given.read::<SrptOptions>()?.policy())),
    },
    Entry {
        name: "edf",
        summary: "strict priority by deadlines at a multiple of what a flow takes alone",
        options: registry::defaults::<EdfOptions>,
        make: |given| Ok(Box::new(given.read::<EdfOptions>()?.policy()?)),
    },
    Entry {
        name: "pias",
        summary: "fair sharing at priorities that fall with the bytes that a flow has sent",
        options: registry::defaults::<PiasOptions>,
        make: |given| Ok(Box::new(given.read::<PiasOptions>()?.policy()?)),
    },
    Entry {
        name: "rax",
        summary: "fair sharing at priorities by estimated remaining time",
        options: registry::defaults::<RaxOptions>,
        make: |given| Ok(Box::new(Strict::by(Rax::new(&given.read()?)?))),
    },
    Entry {
        name: "rax+",
        summary: "fair sharing at priorities by true remaining time",
        options: registry::defaults::<RaxOptions>,
        make: |given| Ok(Box::new(Strict::by(Rax::plus(&given.read()?)?))),
    },
    Entry {
        name: "proportional",
        summary: "the exact optimum of log x at every change",
        options: registry::defaults::<IdealOptions>,
        make: |given| Ok(Box::new(Ideal::proportional().with_gap(given.read::<IdealOptions>()?.tol)?)),
    },
    Entry {
        name: "min-fct",
        summary: "the exact optimum of NUMFabric's utility for short completion times at every change",
        options: registry::defaults::<MinFctOptions>,
        make: |given| Ok(Box::new(given.read::<MinFctOptions>()?.policy()?)),
    },
    Entry {
        name: "alpha-fair",
        summary: "the exact optimum of alpha-fair utilities at every change",
        options: registry::defaults::<AlphaFairOptions>,
        make: |given| Ok(Box::new(given.read::<AlphaFairOptions>()?.policy()?)),
    },
    Entry {
        name: "flowtune",
        summary: "an allocator that does one step at every tick of a clock",
        options: || ClockedOptions::default().known(),
        make: |given| Ok(Box::new(Clocked::new(given.read()?)?)),
    },
    Entry {
        name: "xwi",
        summary: "NUMFabric: weights from prices that move at intervals, rates by weighted max-min at once",
        options: registry::defaults::<XwiOptions>,
        make: |given| Ok(Box::new(Xwi::new(given.read()?)?)),
    },
    Entry {
        name: "gradient",
        summary: "dual gradient descent at intervals, rates that follow the prices at once",
        options: || ClockedOptions::gradient().known(),
        make: |given| Ok(Box::new(Clocked::new(given.read_over(ClockedOptions::gradient())?)?)),
    },
    Entry {
        name: "rcp",
        summary: "RCP* likewise",
        options: || ClockedOptions::rcp().known(),
        make: |given| Ok(Box::new(Clocked::new(given.read_over(ClockedOptions::rcp())?)?)),
    },
];

/// A policy by its name.
///
/// # Errors
/// [`Error::UnknownName`], [`Error::UnknownOption`], [`Error::Option`]; others for values out of their range.
pub fn policy(name: &str, options: &Options) -> Result<Box<dyn Policy + Send>> {
    let (make, given) = registry::find(POLICIES, "policy", name, options)?;
    given.named(make(&given))
}
