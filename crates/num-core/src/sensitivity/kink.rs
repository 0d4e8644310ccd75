//! Where the optimum is not differentiable.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;

use super::active_set::Constraint;
use super::point::Point;
use super::tolerances::WEAK;
use crate::presolve::Presolved;
use crate::problem::Problem;

/// A constraint that holds with a multiplier of 0, so that the derivative has two sides; by the caller's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kink {
    /// A link that is full at price 0.
    Link(u32),
    /// A full link whose price is not unique.
    TiedLink(u32),
    /// A link that has failed, over which there are paths: any capacity opens them.
    FailedLink(u32),
    /// A path at a cap that costs nothing.
    Path(usize),
    /// A path that is about to be used.
    UnusedPath(usize),
    /// A path with a cap of 0.
    ClosedPath(usize),
    /// A flow at a floor, a cap or a breakpoint of its utility that costs nothing.
    Flow(usize),
    /// A flow at two equal bounds.
    TwiceBoundFlow(usize),
    /// A flow with a cap of 0.
    ClosedFlow(usize),
}

/// Which derivative [`Sensitivity::reverse`](super::Sensitivity::reverse) takes at a [`Kink`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum AtKink {
    /// None: an error.
    #[default]
    Refuse,
    /// The one in which these constraints stay active.
    Hold,
    /// The one in which they are inactive.
    Release,
}

impl Kink {
    /// The link, where the constraint is of a link.
    pub fn link(self) -> Option<u32> {
        match self {
            Self::Link(link) | Self::TiedLink(link) | Self::FailedLink(link) => Some(link),
            _ => None,
        }
    }

    /// The path, where the constraint is of a path.
    pub fn path(self) -> Option<usize> {
        match self {
            Self::Path(path) | Self::UnusedPath(path) | Self::ClosedPath(path) => Some(path),
            _ => None,
        }
    }

    /// The flow, where the constraint is of a flow.
    pub fn flow(self) -> Option<usize> {
        match self {
            Self::Flow(flow) | Self::TwiceBoundFlow(flow) | Self::ClosedFlow(flow) => Some(flow),
            _ => None,
        }
    }

    /// Whether the constraint is a failed link or a cap of 0.
    pub(super) fn is_closed(self) -> bool {
        matches!(self, Self::FailedLink(_) | Self::ClosedPath(_) | Self::ClosedFlow(_))
    }
}

impl fmt::Display for Kink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(link) => write!(f, "link {link} is full at price 0"),
            Self::TiedLink(link) => write!(f, "link {link} is full at a price that is not unique"),
            Self::FailedLink(link) => write!(f, "link {link} has failed (capacity 0)"),
            Self::Path(path) => write!(f, "path {path} is at its cap with a multiplier of 0"),
            Self::UnusedPath(path) => write!(f, "path {path} is unused, at nearly the price of those that are used"),
            Self::ClosedPath(path) => write!(f, "path {path} has a cap of 0"),
            Self::Flow(flow) => write!(f, "flow {flow} is at a floor, a cap or a breakpoint with a multiplier of 0"),
            Self::TwiceBoundFlow(flow) => write!(f, "flow {flow} is at two bounds"),
            Self::ClosedFlow(flow) => write!(f, "flow {flow} has a cap of 0"),
        }
    }
}

/// All kinks: weakly active constraints, links whose prices are not unique, flows at two equal bounds, and failed links
/// and caps of 0, which any increase opens. Each link, path and flow stands there once.
pub(super) fn of(
    problem: &Problem,
    presolved: &Presolved,
    point: &Point,
    weak: &[Constraint],
    tied: &[u32],
) -> Vec<Kink> {
    let by_caller = |weak: &Constraint| match *weak {
        Constraint::Link(link) => Kink::Link(presolved.caller.links[link]),
        // The cap of a flow with one path may be that of the flow.
        Constraint::Cap { flow, path } if own_cap_is_larger(problem, presolved, flow, path) => {
            Kink::Flow(presolved.caller.flows[flow] as usize)
        }
        Constraint::Zero { path, .. } => Kink::UnusedPath(presolved.caller.paths[path] as usize),
        Constraint::Cap { path, .. } => Kink::Path(presolved.caller.paths[path] as usize),
        Constraint::Flow { flow, .. } | Constraint::Above { flow, .. } => {
            Kink::Flow(presolved.caller.flows[flow] as usize)
        }
    };
    let mut kinks: Vec<Kink> = weak.iter().map(by_caller).collect();
    kinks.extend(tied.iter().map(|&link| Kink::TiedLink(presolved.caller.links[link as usize])));
    for flow in 0..presolved.flows() {
        let (own, caller) = (presolved.paths_of(flow), presolved.caller.flows[flow] as usize);
        let path = presolved.caller.paths[own.start] as usize;
        let caps = (problem.rate_cap(path), problem.flow_cap(caller));
        let is_capped_twice =
            own.len() == 1 && point.active.is_at_cap(own.start) && smaller_cap(caps.0, caps.1) == Ordering::Equal;
        if is_capped_twice || has_equal_bounds(problem, presolved, point, flow) {
            kinks.push(Kink::TwiceBoundFlow(caller));
        }
    }
    kinks.extend(failed_links(problem).into_iter().map(Kink::FailedLink));
    kinks.extend((0..problem.paths().len()).filter(|&path| problem.rate_cap(path) == 0.0).map(Kink::ClosedPath));
    kinks.extend((0..problem.flows()).filter(|&flow| problem.flow_cap(flow) == 0.0).map(Kink::ClosedFlow));
    let mut seen = HashSet::new();
    kinks.retain(|kink| seen.insert((kink.link(), kink.path(), kink.flow())));
    kinks
}

/// Links without capacity that paths cross, whose flows come back with any.
pub(super) fn failed_links(problem: &Problem) -> Vec<u32> {
    let mut is_failed = vec![false; problem.links()];
    for &link in problem.paths().indices() {
        is_failed[link as usize] = problem.capacities()[link as usize] == 0.0;
    }
    (0..problem.links() as u32).filter(|&link| is_failed[link as usize]).collect()
}

/// Whether the cap of a path is larger than that of its flow, which has no other path.
pub(super) fn own_cap_is_larger(problem: &Problem, presolved: &Presolved, flow: usize, path: usize) -> bool {
    let (path, caller) = (presolved.caller.paths[path] as usize, presolved.caller.flows[flow] as usize);
    presolved.paths_of(flow).len() == 1
        && smaller_cap(problem.rate_cap(path), problem.flow_cap(caller)) == Ordering::Greater
}

/// Whether a flow is at its cap, which its other bounds equal and hide: what its paths can carry, its saturation, or a
/// breakpoint of its utility; or at its floor, which is one of these.
pub(super) fn has_equal_bounds(problem: &Problem, presolved: &Presolved, point: &Point, flow: usize) -> bool {
    let (caller, rate) = (presolved.caller.flows[flow] as usize, point.flow_rates[flow]);
    let own = presolved.paths_of(flow);
    let is_near = |bound: f64| (bound - rate).abs() <= WEAK * rate;
    let is_bent = || point.is_saturated(presolved, flow) || point.is_at_jump(presolved, flow);
    if is_near(presolved.bounds.floors[flow]) {
        return is_fixed_by_cap(problem, presolved, flow) || is_bent();
    }
    if own.len() == 1 {
        return is_near(presolved.bounds.caps[own.start]) && is_bent();
    }
    // Presolve leaves out a cap that the paths cannot exceed.
    let is_left_out = || presolved.bounds.flow_cap(flow).is_none();
    is_near(problem.flow_cap(caller) / presolved.units.rate) && (is_left_out() || is_bent())
}

/// Whether the cap of a flow is its floor.
pub(super) fn is_fixed_by_cap(problem: &Problem, presolved: &Presolved, flow: usize) -> bool {
    let (floor, own) = (presolved.bounds.floors[flow], presolved.paths_of(flow));
    let cap = match own.len() {
        1 => presolved.bounds.caps[own.start],
        _ => problem.flow_cap(presolved.caller.flows[flow] as usize) / presolved.units.rate,
    };
    floor > 0.0 && cap <= floor * (1.0 + WEAK)
}

/// Whether the cap of a path is less than the cap of its flow, or greater.
pub(super) fn smaller_cap(of_path: f64, of_flow: f64) -> Ordering {
    match (of_path - of_flow).abs() <= WEAK * of_flow {
        true if of_flow.is_finite() => Ordering::Equal,
        _ => of_path.total_cmp(&of_flow),
    }
}

/// The first three kinks, for an error.
pub(super) fn describe(kinks: &[Kink]) -> String {
    let first: Vec<String> = kinks.iter().take(3).map(ToString::to_string).collect();
    let more = kinks.len().saturating_sub(3);
    let tail = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{tail}", first.join(", "))
}
