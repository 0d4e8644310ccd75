//! The caps of paths that a run of the simplex method counts. Each is one link more, and few of them bind: a run counts
//! those that the runs before did not keep, and all after a few. What prices prove without some of the caps holds with
//! them.

use super::demands::Demands;
use crate::tolerances::ROUNDING;

/// Runs after which all caps count.
const FEW: usize = 4;

#[derive(Debug)]
pub(super) struct Caps<'a> {
    demands: &'a Demands<'a>,
    counts: Vec<bool>,
    runs: usize,
}

impl<'a> Caps<'a> {
    /// Those that close a path, or limit one that no link does.
    pub(super) fn new(demands: &'a Demands<'a>) -> Self {
        let problem = demands.problem;
        let counts = |path: usize| problem.rate_cap(path) == 0.0 || demands.is_off_all_links(path);
        Self { demands, counts: (0..problem.paths().len()).map(counts).collect(), runs: 0 }
    }

    /// The cap of a path where it counts, so many times.
    pub(super) fn cap(&self, path: usize, times: f64) -> f64 {
        let cap = self.demands.problem.rate_cap(path);
        match self.counts[path] {
            true if cap > 0.0 => cap * times,
            true => 0.0,
            false => f64::INFINITY,
        }
    }

    /// Counts those that so many times a split does not keep. Returns whether there are any.
    pub(super) fn add(&mut self, split: &[f64], times: f64) -> bool {
        self.runs += 1;
        let (counts, problem) = (&mut self.counts, self.demands.problem);
        let mut broken = false;
        for (_, path) in self.demands.paths().filter(|&(_, path)| split[path] > 0.0) {
            if !counts[path] && split[path] * times > problem.rate_cap(path) * (1.0 + ROUNDING) {
                (counts[path], broken) = (true, true);
            }
        }
        if broken && self.runs >= FEW {
            counts.fill(true);
        }
        broken
    }
}
