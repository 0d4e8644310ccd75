//! Which constraints are active.

use crate::presolve::Presolved;

/// The rate of a path: between its bounds, held at 0, or held at its cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathState {
    Free,
    Zero,
    Cap,
}

/// The active constraints, in the numbering of the presolved problem.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ActiveSet {
    pub(super) links: Vec<bool>,
    pub(super) paths: Vec<PathState>,
    /// The rate at which a flow is held: its floor, its cap, its saturation or a breakpoint of U; ∞ where it is not.
    pub(super) flows: Vec<f64>,
}

/// A constraint that may be active or not; one of a path names its flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Constraint {
    Link(usize),
    /// A path at rate 0, and one at its cap.
    Zero {
        flow: usize,
        path: usize,
    },
    Cap {
        flow: usize,
        path: usize,
    },
    /// A flow at a bound of its rate.
    Flow {
        flow: usize,
        bound: f64,
    },
    /// A flow at its floor or a breakpoint of its utility, above which it would rise.
    Above {
        flow: usize,
        bound: f64,
    },
}

impl ActiveSet {
    pub(super) fn new(problem: &Presolved) -> Self {
        Self {
            links: vec![false; problem.capacities.len()],
            paths: vec![PathState::Free; problem.paths.len()],
            flows: vec![f64::INFINITY; problem.flows()],
        }
    }

    pub(super) fn is_at_cap(&self, path: usize) -> bool {
        self.paths[path] == PathState::Cap
    }

    /// Whether the rate of a flow is held.
    pub(super) fn holds(&self, flow: usize) -> bool {
        self.flows[flow].is_finite()
    }

    /// The paths of a flow that are inside their bounds.
    pub(super) fn free_paths(&self, problem: &Presolved, flow: usize) -> impl Iterator<Item = usize> + Clone {
        problem.paths_of(flow).filter(|&path| self.paths[path] == PathState::Free)
    }

    /// Whether the rates of a flow's free paths follow prices: no bound on the flow fixes the only one.
    pub(super) fn moves(&self, problem: &Presolved, flow: usize) -> bool {
        self.free_paths(problem, flow).nth(usize::from(self.holds(flow))).is_some()
    }

    /// Whether this bound of a path would be that of the last free path of a flow whose rate is held.
    pub(super) fn leaves_no_path(&self, problem: &Presolved, weak: Constraint) -> bool {
        match weak {
            Constraint::Zero { flow, path } | Constraint::Cap { flow, path } => {
                self.holds(flow) && self.free_paths(problem, flow).all(|free| free == path)
            }
            Constraint::Link(_) | Constraint::Flow { .. } | Constraint::Above { .. } => false,
        }
    }

    pub(super) fn is_active(&self, weak: Constraint) -> bool {
        match weak {
            Constraint::Link(link) => self.links[link],
            Constraint::Zero { path, .. } => self.paths[path] == PathState::Zero,
            Constraint::Cap { path, .. } => self.paths[path] == PathState::Cap,
            Constraint::Flow { flow, .. } | Constraint::Above { flow, .. } => self.holds(flow),
        }
    }

    /// Makes a constraint active or inactive.
    pub(super) fn set(&mut self, weak: Constraint, active: bool) {
        match weak {
            Constraint::Link(link) => self.links[link] = active,
            Constraint::Zero { path, .. } => self.paths[path] = if active { PathState::Zero } else { PathState::Free },
            Constraint::Cap { path, .. } => self.paths[path] = if active { PathState::Cap } else { PathState::Free },
            Constraint::Flow { flow, bound } | Constraint::Above { flow, bound } => {
                self.flows[flow] = if active { bound } else { f64::INFINITY }
            }
        }
    }
}
