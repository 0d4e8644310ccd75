//! The paths that may enter the basis, in the order of what prices have to rise by before they can.
//!
//! ```text
//! d_p = cost(p) − cost(k_f)                  cost: the path's own, and the prices of its links
//! d_p ≥ d_p when it was last found − (fallen − fallen then)
//! fallen = Σ θ over the pivots               θ: by how many rows prices rise, a reduced cost by its coefficient
//! ```
//!
//! A path whose bound is above some ratio of reduced cost to coefficient does not enter before that. So a row looks at
//! some hundred of ten thousand paths, and finds their reduced costs then. All that holds for coefficients up to 1,
//! that of the variable which leaves. A path with a larger one may have a reduced cost below 0 when it is looked at.
//! As costs are any that keep pivots from going round in circles, its own cost is raised to what makes that 0.
//!
//! Cost: O(links + log paths) for every path that is looked at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;

use super::Parametric;
use crate::max_min::network::Network;

/// How much has to have fallen before a path's reduced cost can be 0, as bits, and the path. Numbers that are not
/// negative are in the order of their bits.
type Candidate = Reverse<(u64, u32)>;

/// The part of the queue that is looked at in order, before the rest is looked at in any.
const IN_ORDER: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// What every path costs besides the prices of its links.
    costs: Vec<f64>,
    queue: BinaryHeap<Candidate>,
    /// Whether each path is in the queue; empty before there is one.
    queued: Vec<bool>,
    fallen: f64,
    /// Those that the row has looked at, and those that it looks at in any order.
    looked: Vec<Candidate>,
    rest: Vec<Candidate>,
}

impl Candidates {
    pub(super) fn new(costs: Vec<f64>) -> Self {
        Self { costs, ..Self::default() }
    }

    /// Begins with a row.
    pub(super) fn begin(&mut self, state: &Parametric, network: &Network) {
        if self.queued.is_empty() {
            self.queued = (0..network.paths.len()).map(|path| state.may_enter(network, path)).collect();
            let all = (0u32..).zip(&self.queued).filter(|(_, queued)| **queued);
            self.queue = all.map(|(path, _)| Reverse((0, path))).collect();
        }
    }

    /// The next path that may enter before a ratio of reduced cost to coefficient, and the key path of its flow.
    pub(super) fn next(&mut self, state: &Parametric, network: &Network, ratio: f64) -> Option<(usize, usize)> {
        let most = self.fallen + ratio;
        let is_near = |&Reverse((bits, _)): &Candidate| f64::from_bits(bits).total_cmp(&most).is_le();
        loop {
            if self.looked.len() > self.queue.len() / IN_ORDER {
                self.rest.append(&mut mem::take(&mut self.queue).into_vec());
            }
            let (next, in_order) = match self.rest.pop() {
                Some(next) => (next, false),
                None => (self.queue.pop()?, true),
            };
            let Reverse((_, path)) = next;
            if !is_near(&next) {
                self.looked.push(next);
                if in_order {
                    return None;
                }
            } else if state.may_enter(network, path as usize) {
                return Some((path as usize, state.key_of(network, path as usize)));
            } else {
                self.queued[path as usize] = false;
            }
        }
    }

    /// Finds the reduced cost of a path by its key path, and keeps it.
    pub(super) fn look(&mut self, state: &Parametric, network: &Network, path: usize, key: usize) -> f64 {
        let cost = |path: usize| self.costs[path] + network.paths.row(path).sum(&state.prices);
        let reduced = cost(path) - cost(key);
        if reduced < 0.0 {
            self.costs[path] -= reduced;
        }
        let reduced = reduced.max(0.0);
        self.looked.push(Reverse(((reduced + self.fallen).to_bits(), path as u32)));
        reduced
    }

    /// Ends with a row. Returns the operations done.
    pub(super) fn end(&mut self) -> usize {
        let looked = self.looked.len();
        self.queue.append(&mut mem::take(&mut self.looked).into());
        4 * looked
    }

    /// Prices have risen by so many times the row.
    pub(super) fn rise(&mut self, times: f64) {
        self.fallen += times;
    }

    /// A path has left the basis, after that.
    pub(super) fn push(&mut self, path: u32) {
        if !mem::replace(&mut self.queued[path as usize], true) {
            self.queue.push(Reverse((self.fallen.to_bits(), path)));
        }
    }

    /// All paths that may enter, and perhaps others.
    pub(super) fn all(&self) -> impl Iterator<Item = usize> {
        self.queue.iter().map(|&Reverse((_, path))| path as usize)
    }
}
