//! Which constraints are active.

use crate::presolve::Presolved;

/// Where the rate of a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Free,
    Zero,
    Cap,
}

/// The active constraints, in the numbering of the presolved problem.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ActiveSet {
    pub(super) links: Vec<bool>,
    pub(super) paths: Vec<Place>,
    /// The rate at which a flow is held: its cap, its saturation or a breakpoint of U; ∞ where it is not.
    pub(super) flows: Vec<f64>,
}

/// A constraint that may be active or not, and of a path its flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Weak {
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
    /// A flow at a breakpoint of its utility, above which it would rise.
    Above {
        flow: usize,
        bound: f64,
    },
}

impl ActiveSet {
    pub(super) fn new(problem: &Presolved) -> Self {
        Self {
            links: vec![false; problem.capacities.len()],
            paths: vec![Place::Free; problem.paths.len()],
            flows: vec![f64::INFINITY; problem.flows()],
        }
    }

    pub(super) fn is_at_cap(&self, path: usize) -> bool {
        self.paths[path] == Place::Cap
    }

    /// Whether the rate of a flow is held.
    pub(super) fn holds(&self, flow: usize) -> bool {
        self.flows[flow].is_finite()
    }

    /// The paths of a flow that are inside their bounds.
    pub(super) fn free_paths(&self, problem: &Presolved, flow: usize) -> impl Iterator<Item = usize> + Clone {
        problem.paths_of(flow).filter(|&path| self.paths[path] == Place::Free)
    }

    /// Whether the rates of a flow's free paths follow prices: no bound on the flow fixes the only one.
    pub(super) fn moves(&self, problem: &Presolved, flow: usize) -> bool {
        self.free_paths(problem, flow).nth(usize::from(self.holds(flow))).is_some()
    }

    /// Whether this bound of a path would be that of the last free path of a flow whose rate is held.
    pub(super) fn leaves_no_path(&self, problem: &Presolved, weak: Weak) -> bool {
        match weak {
            Weak::Zero { flow, path } | Weak::Cap { flow, path } => {
                self.holds(flow) && self.free_paths(problem, flow).all(|free| free == path)
            }
            Weak::Link(_) | Weak::Flow { .. } | Weak::Above { .. } => false,
        }
    }

    pub(super) fn is_active(&self, weak: Weak) -> bool {
        match weak {
            Weak::Link(link) => self.links[link],
            Weak::Zero { path, .. } => self.paths[path] == Place::Zero,
            Weak::Cap { path, .. } => self.paths[path] == Place::Cap,
            Weak::Flow { flow, .. } | Weak::Above { flow, .. } => self.holds(flow),
        }
    }

    /// Makes a constraint active or inactive.
    pub(super) fn set(&mut self, weak: Weak, active: bool) {
        match weak {
            Weak::Link(link) => self.links[link] = active,
            Weak::Zero { path, .. } => self.paths[path] = if active { Place::Zero } else { Place::Free },
            Weak::Cap { path, .. } => self.paths[path] = if active { Place::Cap } else { Place::Free },
            Weak::Flow { flow, bound } | Weak::Above { flow, bound } => {
                self.flows[flow] = if active { bound } else { f64::INFINITY }
            }
        }
    }
}
