//! Flow-level simulation: flows arrive, share a network by a policy, and end when their bytes are sent.
//!
//! The model is fluid. A flow is a number of bytes on a route; rates change at events only and are constant in between,
//! so that every completion time is exact up to rounding. There are no packets and no queues.
//!
//! | file | contents |
//! |---|---|
//! | `sizes/` | distributions of flow sizes: measured ones by name, or from points |
//! | `workload/` | the flows: when they arrive, from where to where |
//! | `network/` | the network of the moment: capacities and loads, active flows with their routes and sources, marks |
//! | `routing/` | the links that a flow takes: a [`Routing`] per file |
//! | `policy/` | the rates of flows: a [`Policy`] per file |
//! | `simulator/` | the loop over events |
//! | `report.rs` | the result |
//! | `timeline.rs` | rates and loads over the time of a run |
//! | `packets.rs` | what packets add to the times of flows |
//! | `calendar.rs` | the least time per slot |
//! | `numbers.rs` | units, tolerances and costs that several files share |
//!
//! Here, and only here, units are fixed, since flow sizes are: **bytes** for sizes, **bit/s** for capacities and rates,
//! **seconds** for times.
//!
//! ```
//! use netnum_core::Topology;
//! use netnum_sim::{Ecmp, MaxMinFair, Pairs, Poisson, RunSettings, Sizes, Workload, simulate};
//!
//! let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9)?;
//! let arrivals = Poisson::new(Sizes::web_search(), 0.6).with_flows(2000);
//! let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 1)?;
//! let (mut routing, mut policy) = (Ecmp::new(1), MaxMinFair::new());
//! let report = simulate(&net, &workload, &mut routing, &mut policy, &RunSettings::default(), &mut ())?;
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
mod numbers;
mod packets;
mod policy;
mod report;
mod routing;
mod setters;
mod simulator;
mod sizes;
mod timeline;
mod workload;

pub use error::{Error, Result};
pub use network::{Flow, Flows, Marking, Marks, NetworkState, Route};
pub use packets::Packets;
pub use policy::{
    Clocked, ClockedOptions, Coflow, Event, Ideal, MaxMinFair, Objective, POLICIES, Policy, Rates, UpdateTraffic, Xwi,
    XwiOptions, policy,
};
pub use report::{Report, RunStatus};
pub use routing::*;
pub use simulator::{
    CapacityChange, ClosedLoop, EndedFlow, NextFlows, RunObserver, RunProgress, RunSettings, simulate,
    simulate_closed_loop,
};
pub use sizes::Sizes;
pub use timeline::{Steps, Timeline};
pub use workload::{AllReduce, Dependencies, OnOff, Pairs, Poisson, Production, Workload};

/// Policies that serve flows in some order or by levels, which [`policy`] makes by name. They may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::policy::{Edf, Key, Levels, Ordered, Pias, Rax, RaxOptions, Srpt, Strict, Until};
}
