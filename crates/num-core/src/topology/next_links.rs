//! The links by which shortest paths lead to a target, one target at a time, on the trunk.
//!
//! Let d(n) be how far the target is from node n. The *next links* of n are those that leave it for a node m that is
//! nearer, d(m) < d(n), on a shortest way: length + d(m) = d(n). Shortest paths are exactly the walks along next links.
//! One search from the target, against the links, gives d, breadth first where links are counted, by Dijkstra's
//! algorithm where they have weights; every list of next links is made when a path first comes by.

use std::cmp::Reverse;

use super::graph::{Attachment, Routing};
use super::lengths::{Lengths, ties};
use super::tree::Tree;
use super::{Link, Topology};
use crate::error::Result;
use crate::tolerances::NONE;

/// The shortest ways to one target at a time.
pub(super) struct Routes<'a> {
    links: &'a [Link],
    graph: &'a Routing,
    away: Away<'a>,
    spans: Vec<(usize, usize)>, // by node: where its next links lie in `next`; empty until used
    next: Vec<u32>,
    seen: Vec<bool>, // by node, while those downstream of one are looked for
}

/// How far the target is from every node.
enum Away<'a> {
    /// In links; and the nodes that reach the target, nearest first.
    Hops { hops: Vec<u32>, reached: Vec<u32> },
    /// By weight.
    Weight { lengths: &'a Lengths, tree: Option<Tree> },
}

impl<'a> Routes<'a> {
    /// Those with the fewest links, or with the least weight.
    pub(super) fn new(net: &'a Topology, lengths: Option<&'a Lengths>) -> Self {
        let nodes = net.node_names.len();
        let away = match lengths {
            None => Away::Hops { hops: vec![NONE; nodes], reached: Vec::new() },
            Some(lengths) => Away::Weight { lengths, tree: None },
        };
        let (links, graph) = (&net.links, &net.routing);
        Self { links, graph, away, spans: vec![(0, 0); nodes], next: Vec::new(), seen: vec![false; nodes] }
    }

    /// Searches from a new target, against the links, until the whole trunk is reached.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped), by weight only.
    pub(super) fn aim(&mut self, target: u32) -> Result<()> {
        self.next.clear();
        let (hops, reached) = match &mut self.away {
            Away::Hops { hops, reached } => (hops, reached),
            Away::Weight { lengths, tree } => {
                self.spans.fill((0, 0));
                *tree = Some(Tree::new(self.links, self.graph, lengths, target)?);
                return Ok(());
            }
        };
        for node in reached.drain(..) {
            hops[node as usize] = NONE;
            self.spans[node as usize] = (0, 0);
        }
        hops[target as usize] = 0;
        reached.push(target);
        let mut nearest = 0;
        while nearest < reached.len() && reached.len() < self.graph.trunk_nodes {
            let node = reached[nearest];
            for &link in self.graph.entering.of(node) {
                let from = self.links[link as usize].from;
                if hops[from as usize] == NONE {
                    hops[from as usize] = hops[node as usize] + 1;
                    reached.push(from);
                }
            }
            nearest += 1;
        }
        Ok(())
    }

    /// Whether a way leads from a node of the trunk to the target.
    pub(super) fn reaches(&self, node: u32) -> bool {
        match &self.away {
            Away::Hops { hops, .. } => hops[node as usize] != NONE,
            Away::Weight { tree, .. } => tree.as_ref().is_some_and(|tree| tree.to_go(node).is_some()),
        }
    }

    /// Whether a way leads from one end to another that meets the trunk at the target, over their own links, too.
    pub(super) fn joins(&self, first: Attachment, last: Attachment) -> bool {
        let is_used = |link| match &self.away {
            Away::Hops { .. } => true,
            Away::Weight { lengths, .. } => lengths.of(link).is_some(),
        };
        let own = [first.up_down.map(|(up, _)| up), last.up_down.map(|(_, down)| down)];
        self.reaches(first.node) && own.into_iter().flatten().all(is_used)
    }

    /// The links by which shortest paths leave a node: at least one, unless the node is the target or does not reach
    /// it.
    pub(super) fn next_links(&mut self, node: u32) -> &[u32] {
        let (mut start, mut end) = self.spans[node as usize];
        if start == end {
            let (links, away) = (self.links, &self.away);
            let leads = |link: u32| {
                let to = links[link as usize].to;
                match away {
                    // The node is at most one link farther than any node it has a link to: nearer is nearer by one.
                    Away::Hops { hops, .. } => hops[to as usize] < hops[node as usize],
                    Away::Weight { lengths, tree } => {
                        let to_go = |node| tree.as_ref().and_then(|tree| tree.to_go(node));
                        let (Some(step), Some(after), Some(here)) = (lengths.of(link), to_go(to), to_go(node)) else {
                            return false;
                        };
                        after < here && ties(step + after, here)
                    }
                }
            };
            start = self.next.len();
            self.next.extend(self.graph.leaving.of(node).iter().filter(|&&link| leads(link)));
            end = self.next.len();
            self.spans[node as usize] = (start, end);
        }
        &self.next[start..end]
    }

    /// Lists the nodes that shortest paths from a node visit: each after all that lead to it, the target last.
    pub(super) fn downstream(&mut self, from: u32, nodes: &mut Vec<u32>) {
        nodes.clear();
        nodes.push(from);
        self.seen[from as usize] = true;
        let (links, mut place) = (self.links, 0);
        while let Some(&node) = nodes.get(place) {
            for at in 0..self.next_links(node).len() {
                let to = links[self.next_links(node)[at] as usize].to;
                if !self.seen[to as usize] {
                    self.seen[to as usize] = true;
                    nodes.push(to);
                }
            }
            place += 1;
        }
        nodes.iter().for_each(|&node| self.seen[node as usize] = false);
        // Counted in links they have come level by level.
        if let Away::Weight { tree: Some(tree), .. } = &self.away {
            nodes.sort_by_key(|&node| Reverse(tree.to_go(node)));
        }
    }

    /// How many shortest paths lead from a node to the target, or `u64::MAX` if more than that, and how many links the
    /// longest of them has.
    pub(super) fn count(&mut self, from: u32) -> (u64, u64) {
        let mut nodes = Vec::new();
        self.downstream(from, &mut nodes);
        let mut ways = vec![(0u64, 0u64); self.spans.len()];
        ways[from as usize] = (1, 0);
        for &node in &nodes {
            let (links, (here, longest)) = (self.links, ways[node as usize]);
            for &link in self.next_links(node) {
                let (there, hops) = &mut ways[links[link as usize].to as usize];
                *there = there.saturating_add(here);
                *hops = (*hops).max(longest + 1);
            }
        }
        nodes.last().map_or((0, 0), |&target| ways[target as usize])
    }
}
