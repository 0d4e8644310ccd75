//! Flows a cache-full at a time: every phase of an iteration goes over them once, and does all it has to do there.
//!
//! What is computed for a chunk is still in the first-level cache when it is used; the vectors over all flows are
//! streamed once per phase, not once per formula.

use std::ops::Range;

use crate::presolve::Presolved;
use crate::solve::price::at_least;

/// Consecutive flows of one utility, with their paths and what bounds them.
pub(super) struct Chunk {
    pub(super) block: usize,
    pub(super) flows: Range<usize>,
    pub(super) paths: Range<usize>,
    /// Whether λ is a constant.
    pub(super) linear: bool,
    /// Whether any flow of the problem has a floor.
    pub(super) has_floors: bool,
    /// The numbers of their bounds, in the order of those.
    pub(super) lower: Range<usize>,
    pub(super) caps: Range<usize>,
    pub(super) saturations: Range<usize>,
    pub(super) floors: Range<usize>,
    pub(super) breakpoints: Range<usize>,
}

impl Chunk {
    /// Whether every flow has one path; both then have the same places.
    pub(super) fn is_single(&self) -> bool {
        self.paths.len() == self.flows.len()
    }

    /// The flow of one of the paths.
    pub(super) fn flow_of(&self, problem: &Presolved, path: usize) -> usize {
        match self.is_single() {
            true => self.flows.start + path - self.paths.start,
            false => {
                let (mut first, mut last) = (self.flows.start, self.flows.end - 1);
                while first < last {
                    let middle = first.midpoint(last + 1);
                    match problem.paths_of(middle).start <= path {
                        true => first = middle,
                        false => last = middle - 1,
                    }
                }
                first
            }
        }
    }

    /// y_f = Σ x_p, for slices of the chunk.
    pub(super) fn add_up(&self, problem: &Presolved, per_path: &[f64], per_flow: &mut [f64]) {
        if self.is_single() {
            return per_flow.copy_from_slice(per_path);
        }
        let first = self.paths.start;
        for (flow, sum) in self.flows.clone().zip(per_flow) {
            let paths = problem.paths_of(flow);
            *sum = per_path[paths.start - first..paths.end - first].iter().sum();
        }
    }

    /// The flow's value for each of its paths, for slices of the chunk.
    pub(super) fn spread(&self, problem: &Presolved, per_flow: &[f64], per_path: &mut [f64]) {
        if self.is_single() {
            return per_path.copy_from_slice(per_flow);
        }
        let first = self.paths.start;
        for (flow, &value) in self.flows.clone().zip(per_flow) {
            let paths = problem.paths_of(flow);
            per_path[paths.start - first..paths.end - first].fill(value);
        }
    }
}

/// Σ join(one, other), in four sums side by side, none of which waits for another.
pub(super) fn total(ones: &[f64], others: &[f64], join: impl Fn(f64, f64) -> f64) -> f64 {
    let ((ones, last_ones), (others, last_others)) = (ones.as_chunks::<4>(), others.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (one, other) in ones.iter().zip(others) {
        for (sum, (&one, &other)) in sums.iter_mut().zip(one.iter().zip(other)) {
            *sum += join(one, other);
        }
    }
    let last = last_ones.iter().zip(last_others).map(|(&one, &other)| join(one, other));
    sums.into_iter().chain(last).sum()
}

/// The largest value, at least 0, in the same way; NaN does not count.
pub(super) fn largest(values: &[f64]) -> f64 {
    let (fours, last) = values.as_chunks::<4>();
    let mut largest = [0.0; 4];
    for four in fours {
        for (largest, &value) in largest.iter_mut().zip(four) {
            *largest = at_least(*largest, value);
        }
    }
    largest.into_iter().chain(last.iter().copied()).fold(0.0, f64::max)
}
