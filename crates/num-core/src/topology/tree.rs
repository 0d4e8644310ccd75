//! The shortest ways from all nodes to one, by Dijkstra's algorithm against the links.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Link;
use super::graph::Routing;
use super::lengths::{Length, Lengths, NONE};
use crate::error::Result;
use crate::interrupt::Pacer;

/// The tree of shortest ways to a node of the trunk.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) target: u32,
    to_go: Vec<Length>,
    next: Vec<u32>,
}

impl Tree {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(links: &[Link], graph: &Routing, lengths: &Lengths, target: u32) -> Result<Self> {
        let nodes = graph.nodes();
        let mut tree = Self { target, to_go: vec![NONE; nodes], next: vec![u32::MAX; nodes] };
        let (mut near, mut pacer) = (BinaryHeap::from([Reverse((0, target))]), Pacer::new());
        tree.to_go[target as usize] = 0;
        while let Some(Reverse((length, node))) = near.pop() {
            if length > tree.to_go[node as usize] {
                continue;
            }
            let entering = graph.entering.of(node);
            pacer.did(1 + entering.len())?;
            for &link in entering {
                let Some(step) = lengths.of(link) else { continue };
                let from = links[link as usize].from as usize;
                if length + step < tree.to_go[from] {
                    tree.to_go[from] = length + step;
                    tree.next[from] = link;
                    near.push(Reverse((length + step, from as u32)));
                } else if length + step == tree.to_go[from] {
                    tree.next[from] = tree.next[from].min(link);
                }
            }
        }
        Ok(tree)
    }

    /// How long the shortest way from a node is; `None` without any.
    #[inline]
    pub(super) fn to_go(&self, node: u32) -> Option<Length> {
        Some(self.to_go[node as usize]).filter(|&length| length != NONE)
    }

    /// The link by which the shortest way leaves a node that has one, other than the target. Of several shortest ways
    /// the one meant is first in the lexicographic order of link numbers.
    pub(super) fn next(&self, node: u32) -> u32 {
        self.next[node as usize]
    }
}
