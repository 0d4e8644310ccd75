//! Runs: flows arrive, are routed, get rates and end.
//!
//! | file | |
//! |---|---|
//! | `event_loop.rs` | the loop over events |
//! | `closed_loop.rs` | flows that depend on how earlier ones went |
//! | `limits.rs` | links without a limit |
//! | `starts.rs` | when flows start: at their arrivals, or after those that they wait for |
//! | `rerouting.rs` | active flows that take other routes |
//! | `transfers.rs` | the active flows: their rates, routes and sources, and the links that they load |
//! | `paces.rs` | flows that share a rate, and the clock of it |
//! | `reviews.rs` | when the route of each flow is reviewed |
//! | `stops.rs` | when a run is observed, stopped, or refused since its clock stands still |
//! | `settings.rs`, `progress.rs` | what a run is given, and what an observer of it is |

mod closed_loop;
mod event_loop;
mod limits;
mod paces;
mod progress;
mod rerouting;
mod reviews;
mod settings;
mod starts;
mod stops;
mod transfers;

use std::time::Instant;

use netnum_core::Options;
use netnum_core::internal::interrupt::{self, Pacer};
use netnum_core::{StopToken, Topology};

use crate::error::{Error, Result};
use crate::policy::{self, POLICIES, Policy};
use crate::report::Report;
#[cfg(doc)]
use crate::report::RunStatus;
use crate::routing::Routing;
use crate::workload::Workload;
use closed_loop::Pending;
pub use closed_loop::{ClosedLoop, EndedFlow, NextFlows};
use event_loop::Simulation;
use limits::Limits;
pub use progress::{RunObserver, RunProgress};
pub use settings::{CapacityChange, RunSettings};
use stops::Stops;

/// Simulates the flows of a workload on a network.
///
/// Routes avoid links that have failed at the start (of capacity 0), but for those to which a change gives a capacity
/// later: until then flows are moved off them, or wait where there is no other path.
///
/// Equal arguments give equal reports, bit for bit, except for their [`seconds`](Report::seconds); the report of a
/// run that stops by the real clock is the beginning of it.
///
/// A [`StopToken`] in force ends the run with [`RunStatus::Stopped`], a [time limit](RunSettings::time_limit) with
/// [`RunStatus::TimeLimit`]: the report is of what has happened by then, though that be nothing.
///
/// # Errors
/// [`Error::Flow`] naming a flow between ends that the network does not have; a setting's, for a time, a link or a
/// capacity of the run out of its range, and for a run [until](RunSettings::until) ∞ of flows that never end;
/// [`Unlimited`](netnum_core::Error::Unlimited) naming a flow that neither a link nor its application limits;
/// [`Error::Policy`] for weights, or [pooled](Routing::pools) paths, that the policy does not take; those of
/// the routing for flows that it cannot route, and of the policy for the
/// network, before anything is simulated; [`Error::Routing`] and [`Error::Policy`] for routes and rates that cannot be
/// used; [`Error::StandsStill`].
pub fn simulate(
    net: &Topology,
    workload: &Workload,
    routing: &mut dyn Routing,
    policy: &mut dyn Policy,
    run: &RunSettings,
    observer: &mut dyn RunObserver,
) -> Result<Report> {
    simulate_by(net, workload, None, routing, policy, run, observer)
}

/// Simulates the flows of a workload, and those that a closed loop adds while the run goes on.
///
/// The workload of the report has all flows that were given, in order of their starts, which are its arrivals: it has
/// no [dependencies](Workload::dependencies). Where the run was over before some have started, these come last; those
/// that wait for others arrive there after the end. Coflows have numbers in the order in which they start. Of a run
/// that has finished or reached [`until`](RunSettings::until), [`simulate`] with that workload and the same settings
/// gives the same completion times and the same bytes over links, bit for bit. Calls of the loop are events of its run
/// only, also those after the last flow: the number of events, the time at the end with the utilization of links until
/// then, and the status may differ.
///
/// # Errors
/// Those of [`simulate`], and of the loop; [`Error::ClosedLoop`] for an answer that cannot be used, for flows of the
/// start with rates of production, and after a million calls and flows where neither
/// [`until`](RunSettings::until) nor a [time limit](RunSettings::time_limit) ends the run; [`Error::Routing`] and
/// [`Error::Policy`] where these take no flows that are added.
pub fn simulate_closed_loop(
    net: &Topology,
    workload: &Workload,
    closed_loop: &mut dyn ClosedLoop,
    routing: &mut dyn Routing,
    policy: &mut dyn Policy,
    run: &RunSettings,
    observer: &mut dyn RunObserver,
) -> Result<Report> {
    simulate_by(net, workload, Some(closed_loop), routing, policy, run, observer)
}

fn simulate_by(
    net: &Topology,
    workload: &Workload,
    closed_loop: Option<&mut dyn ClosedLoop>,
    routing: &mut dyn Routing,
    policy: &mut dyn Policy,
    run: &RunSettings,
    observer: &mut dyn RunObserver,
) -> Result<Report> {
    let began = Instant::now();
    run.check(net.capacities().len())?;
    let Limits { net, changes, none } = Limits::of(net, &run.changes, workload)?;
    let net = &*net;
    check_ends(net, workload)?;
    // Flows of a closed loop, and those beside it, get their numbers when they arrive.
    let at_first = match workload.weights() {
        Some(_) => Workload::default().with_weights(Vec::new())?,
        None => Workload::default(),
    };
    let (given, workload) = (workload, if closed_loop.is_some() { &at_first } else { workload });
    let limit = run.time_limit.map_or_else(StopToken::new, StopToken::with_timeout);
    limit.scope(|| {
        let pending = match closed_loop {
            Some(it) => Some(Pending::new(it, given, net.ends(), run)?),
            None => None,
        };
        let planned = settings::planned(net, &changes)?;
        let planned = planned.as_ref().unwrap_or(net);
        let ready = match prepare(net, planned, workload, routing, policy, run.until) {
            Err(error) if !error.is_stop() => return Err(error),
            ready => ready,
        };
        let stops = Stops::new(began, run, observer);
        let run_of = (run, &*changes, none);
        let mut simulation = Simulation::new(net, planned, workload, routing, policy, run_of, stops);
        simulation.pending = pending;
        let ended = ready.and_then(|()| simulation.run());
        let status = ended.or_else(|error| simulation.stops.status(error))?;
        Ok(simulation.report(status))
    })
}

/// All that is done before the first event.
fn prepare(
    net: &Topology,
    planned: &Topology,
    workload: &Workload,
    routing: &mut dyn Routing,
    policy: &mut dyn Policy,
    until: f64,
) -> Result<()> {
    if let Some(flow) = workload.first_endless(0).filter(|_| until == f64::INFINITY) {
        let expected =
            format!("the seconds to simulate, since flow {flow} of size {} never ends", workload.sizes()[flow]);
        return Err(Error::setting("until", until, &expected));
    }
    if workload.weights().is_some() && !policy.takes_weights() {
        return Err(refused_weights(policy.name()));
    }
    if routing.pools() && !policy.splits() {
        return Err(refused_pools(policy.name(), routing.name()));
    }
    routing.begin_run(planned, workload)?;
    let period = routing.period();
    if period.is_nan() || period <= 0.0 {
        return Err(Error::setting("period", period, "a number > 0"));
    }
    routing.marking().check(routing.name())?;
    policy.begin_run(net, workload)?;
    Ok(interrupt::check()?)
}

/// The error for weights under a policy to which they mean nothing.
fn refused_weights(policy: &str) -> Error {
    let names = policies_that(|policy| policy.takes_weights());
    let what = format!("has no use for the weights of flows; policies that have are {names}");
    Error::Policy { policy: policy.into(), what }
}

/// The error for pooled routes under a policy that does not split flows.
fn refused_pools(policy: &str, routing: &str) -> Error {
    let names = policies_that(|policy| policy.splits());
    let what = format!(
        "sets one rate per flow, and routing {routing:?} pools paths, on each of which a policy sets a rate; policies \
         that do by default are {names}"
    );
    Error::Policy { policy: policy.into(), what }
}

/// The names of the policies with some ability, as a list.
fn policies_that(can: impl Fn(&dyn Policy) -> bool) -> String {
    let can = |name: &str| policy::policy(name, &Options::new()).is_ok_and(|policy| can(&*policy));
    let names = POLICIES.iter().map(|entry| entry.name).filter(|name| can(name)).map(|name| format!("{name:?}"));
    names.collect::<Vec<_>>().join(", ")
}

/// Whether every flow joins ends of the network.
fn check_ends(net: &Topology, workload: &Workload) -> Result<()> {
    let mut pacer = Pacer::new();
    for (what, ends) in [("source", workload.sources()), ("destination", workload.destinations())] {
        for (flow, &end) in ends.iter().enumerate() {
            if end >= net.ends() {
                let expected = format!("an end from 0 to {}", net.ends() - 1);
                return Err(Error::Flow { flow, what, value: end as f64, expected });
            }
            pacer.did(1)?;
        }
    }
    Ok(())
}
