//! Where the optimum is not differentiable.

use std::cmp::Ordering;
use std::fmt;

use super::active_set::Weak;
use super::polish::{Point, WEAK};
use crate::presolve::Presolved;
use crate::problem::Problem;

/// A constraint that holds with a multiplier of 0, so that the derivative has two sides; by the caller's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kink {
    /// A link that is full at price 0.
    Link(usize),
    /// A path that is about to be used, or at a cap that costs nothing.
    Path(usize),
    /// A flow at a cap or a breakpoint of its utility that costs nothing.
    Flow(usize),
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

impl fmt::Display for Kink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(link) => write!(f, "link {link} is full at price 0"),
            Self::Path(path) => write!(f, "path {path} is at 0 or at its cap with a multiplier of 0"),
            Self::Flow(flow) => write!(f, "flow {flow} is at its cap or a breakpoint with a multiplier of 0"),
        }
    }
}

/// Those of the weakly active constraints, and of flows whose two caps are equal.
pub(super) fn of(problem: &Problem, presolved: &Presolved, point: &Point, weak: &[Weak]) -> Vec<Kink> {
    let by_caller = |weak: &Weak| match *weak {
        Weak::Link(link) => Kink::Link(presolved.links[link] as usize),
        Weak::Zero { path, .. } | Weak::Cap { path, .. } => Kink::Path(presolved.original_paths[path] as usize),
        Weak::Flow { flow, .. } | Weak::Above { flow, .. } => Kink::Flow(presolved.original_flows[flow] as usize),
    };
    let mut kinks: Vec<Kink> = weak.iter().map(by_caller).collect();
    for flow in 0..presolved.flows() {
        let (own, caller) = (presolved.paths_of(flow), presolved.original_flows[flow] as usize);
        let path = presolved.original_paths[own.start] as usize;
        let caps = (problem.rate_cap(path), problem.flow_cap(caller));
        if own.len() == 1 && point.active.is_at_cap(own.start) && smaller_cap(caps.0, caps.1) == Ordering::Equal {
            kinks.push(Kink::Flow(caller));
        }
    }
    kinks
}

/// Whether the cap of a path is less than the cap of its flow, or greater.
pub(super) fn smaller_cap(of_path: f64, of_flow: f64) -> Ordering {
    match (of_path - of_flow).abs() <= WEAK * of_flow {
        true if of_flow.is_finite() => Ordering::Equal,
        _ => of_path.total_cmp(&of_flow),
    }
}

/// What an error says of them: the first three.
pub(super) fn describe(kinks: &[Kink]) -> String {
    let first: Vec<String> = kinks.iter().take(3).map(ToString::to_string).collect();
    let more = kinks.len().saturating_sub(3);
    let tail = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{tail}", first.join(", "))
}
