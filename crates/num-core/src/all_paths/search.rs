//! Cheapest ways from one node to all others: Dijkstra's algorithm, or with a limit of links Bellman's and Ford's.
//!
//! Of ways of one cost that with the fewest links is taken, and of these the one that was found first, so that no way
//! has a cycle, even where links are free, and the same prices always give the same ways.
//!
//! ```text
//! Dijkstra         (d, hops)(v) = min over links u → v of (d(u) + p, hops(u) + 1)      nearest node first
//! Bellman, Ford    d_h(v) = min(d_{h−1}(v), min over links u → v of d_{h−1}(u) + p)      h = 1, 2, …, the limit
//! ```
//!
//! With the limit, the way to v goes back over the layers at which d fell. Prices are not negative, so that d cannot
//! have fallen at one node twice along a way: it has no cycle.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use super::graph::{Graph, Step};
use crate::error::Result;
use crate::interrupt::Pacer;

/// No step: a root, or a node that was not reached.
const NONE: Step = Step { node: u32::MAX, link: u32::MAX };

/// Prices and their sums: floats, or whole numbers of a unit, whose sums are exact.
pub(super) trait Price: Copy + Default + PartialOrd + Sync {
    const ZERO: Self;
    /// What it costs where there is no way.
    const NO_WAY: Self;
    /// Prices that are not negative have the order of their keys.
    type Key: Copy + Default + Ord + fmt::Debug;

    fn plus(self, other: Self) -> Self;
    fn key(self) -> Self::Key;
    fn of_key(key: Self::Key) -> Self;
}

impl Price for f64 {
    const ZERO: Self = 0.0;
    const NO_WAY: Self = f64::INFINITY;
    /// The bits.
    type Key = u64;

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn key(self) -> u64 {
        self.to_bits()
    }

    #[inline(always)]
    fn of_key(key: u64) -> Self {
        Self::from_bits(key)
    }
}

impl Price for u128 {
    const ZERO: Self = 0;
    const NO_WAY: Self = u128::MAX;
    type Key = Self;

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }

    #[inline(always)]
    fn key(self) -> Self {
        self
    }

    #[inline(always)]
    fn of_key(key: Self) -> Self {
        key
    }
}

/// What links cost together.
pub(super) fn sum<P: Price>(links: impl IntoIterator<Item = u32>, prices: &[P]) -> P {
    links.into_iter().fold(P::ZERO, |sum, link| sum.plus(prices[link as usize]))
}

/// Room for a search, used again by the next.
#[derive(Debug, Default)]
pub(super) struct Search<P: Price> {
    /// Cost of the way to every node.
    cost: Vec<P>,
    hops: Vec<u32>,
    /// The last step of every way, by the node before.
    before: Vec<Step>,
    heap: BinaryHeap<Reverse<(P::Key, u32, u32)>>,
    /// With a limit: by layer and node, the last step where the cost fell there.
    layers: Vec<Step>,
    next: Vec<P>,
}

impl<P: Price> Search<P> {
    /// Finds the ways from a root; with at most so many links if there is a limit.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn run(&mut self, graph: &Graph, prices: &[P], root: u32, limit: Option<u32>) -> Result<()> {
        self.cost.clear();
        self.cost.resize(graph.nodes(), P::NO_WAY);
        self.cost[root as usize] = P::ZERO;
        match limit {
            None => self.dijkstra(graph, prices, root),
            Some(limit) => self.layers(graph, prices, root, limit as usize),
        }
    }

    /// What the way to a node costs.
    #[inline]
    pub(super) fn cost(&self, node: u32) -> P {
        self.cost[node as usize]
    }

    /// Appends the links of the way to a node, from its end back to the root.
    pub(super) fn way_back(&self, mut node: u32, root: u32, limit: Option<u32>, links: &mut Vec<u32>) {
        if limit.is_none() {
            while node != root {
                let step = self.before[node as usize];
                links.push(step.link);
                node = step.node;
            }
            return;
        }
        let nodes = self.cost.len();
        let mut layer = self.layers.len() / nodes;
        while node != root {
            layer -= 1;
            let step = self.layers[layer * nodes + node as usize];
            if step != NONE {
                links.push(step.link);
                node = step.node;
            }
        }
    }

    fn dijkstra(&mut self, graph: &Graph, prices: &[P], root: u32) -> Result<()> {
        let Self { cost, hops, before, heap, .. } = self;
        hops.clear();
        hops.resize(graph.nodes(), 0);
        before.clear();
        before.resize(graph.nodes(), NONE);
        heap.clear();
        heap.push(Reverse((P::ZERO.key(), 0, root)));
        let mut pacer = Pacer::new();
        while let Some(Reverse((key, count, node))) = heap.pop() {
            let so_far = P::of_key(key);
            if so_far > cost[node as usize] || count > hops[node as usize] {
                continue;
            }
            let steps = graph.steps(node, root);
            pacer.did(1 + steps.len())?;
            for &Step { node: next, link } in steps {
                let (found, place) = (so_far.plus(prices[link as usize]), next as usize);
                if found < cost[place] || (found == cost[place] && found < P::NO_WAY && count + 1 < hops[place]) {
                    (cost[place], hops[place], before[place]) = (found, count + 1, Step { node, link });
                    heap.push(Reverse((found.key(), count + 1, next)));
                }
            }
        }
        Ok(())
    }

    fn layers(&mut self, graph: &Graph, prices: &[P], root: u32, limit: usize) -> Result<()> {
        let Self { cost, layers, next, .. } = self;
        let nodes = graph.nodes();
        layers.clear();
        let mut pacer = Pacer::new();
        for layer in 0..limit {
            layers.resize((layer + 1) * nodes, NONE);
            next.clone_from(cost);
            let last = &mut layers[layer * nodes..];
            let mut falls = false;
            for node in (0..nodes as u32).filter(|&node| cost[node as usize] < P::NO_WAY) {
                let steps = graph.steps(node, root);
                pacer.did(1 + steps.len())?;
                for &Step { node: to, link } in steps {
                    let found = cost[node as usize].plus(prices[link as usize]);
                    if found < next[to as usize] {
                        (next[to as usize], last[to as usize]) = (found, Step { node, link });
                        falls = true;
                    }
                }
            }
            std::mem::swap(cost, next);
            if !falls {
                break;
            }
        }
        Ok(())
    }
}
