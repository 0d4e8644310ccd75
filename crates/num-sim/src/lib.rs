//! Flow-level time: flows arrive, share a network as a policy says, and end when their bytes are through.
//!
//! The model is fluid. A flow is a number of bytes on a route; rates change at events only and are constant in between,
//! so that every completion time is exact up to rounding. There are no packets and no queues.
//!
//! | file | what it says |
//! |---|---|
//! | `sizes/` | how large flows are: distributions by name, or points of one's own |
//! | `workload/` | which flows arrive when, from where to where |
//! | `routing/` | which links a flow takes: a [`Routing`] per file |
//! | `policy/` | which rate it gets: a [`Policy`] per file |
//! | `options.rs` | what either may be told besides its name |
//! | `flows.rs` | the flows of the moment, as policies see them |
//! | `source.rs` | what a flow can send when its bytes are produced as it runs |
//! | `marks.rs` | what congested links tell the flows that cross them |
//! | `fluid.rs` | the loop over events |
//! | `calendar.rs`, `ledger.rs` | when the next flow ends; what every link carries |
//! | `report.rs` | what came of it |
//!
//! Here, and only here, units are fixed, since flow sizes are: **bytes** for sizes, **bit/s** for capacities and rates,
//! **seconds** for times.
//!
//! ```
//! use netnum_core::Topology;
//! use netnum_sim::{Ecmp, MaxMin, Pairs, Poisson, Run, Sizes, Workload, simulate};
//!
//! let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9)?;
//! let arrivals = Poisson { flows: 2000, ..Poisson::new(Sizes::web_search(), 0.6) };
//! let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 1)?;
//! let report = simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMin::new(), &Run::default(), &mut ())?;
//! assert_eq!(report.ended(), 2000);
//! assert!(report.slowdowns.iter().all(|&slowdown| slowdown >= 1.0 - 1e-9));
//! # Ok::<(), netnum_sim::Error>(())
//! ```
#![forbid(unsafe_code)]

/// The README's program runs as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod calendar;
mod error;
mod network;
mod policy;
mod registry;
mod report;
mod routing;
mod simulator;
mod sizes;
mod workload;

pub use error::{Error, Result};
pub use network::{Flow, Flows, Marking, Marks, NetworkState, Route};
pub use policy::{
    Clocked, ClockedOptions, DeadlineKey, Edf, Ideal, Key, MaxMinFair, MinFctOptions, Objective, Ordered, POLICIES,
    Pias, Policy, Rank, Rates, Rax, RaxOptions, Remaining, RemainingKey, Srpt, Strict, UpdateTraffic, Urgency, Xwi,
    XwiOptions, fair_rates, policy,
};
pub use registry::{Entry, Given, Options};
pub use report::{Report, RunStatus};
pub use routing::{
    Adaptive, Ecmp, EcmpOptions, FlowBender, FlowBenderOptions, KShortestOptions, KShortestPaths, Moves, ROUTINGS,
    Routing, Split, Spray, routing,
};
pub use simulator::{CapacityChange, RunObserver, RunProgress, RunSettings, simulate};
pub use sizes::{NAMES, Sizes};
pub use workload::{Pairs, Poisson, Production, Workload};
