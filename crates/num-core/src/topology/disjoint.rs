//! Paths between two nodes that have no link in common, of least length in sum.
//!
//! They are a flow of one unit per link: the next path is a shortest way through what earlier ones leave, where a link
//! of theirs may be crossed backwards at minus its length, which takes it out of both (Suurballe 1974). Lengths are
//! measured against potentials, at first the way to go to the target, so that none is negative; then Dijkstra's
//! algorithm finds it. Since every link has a length above 0, the flow has no circle, and its paths have no loops.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::Topology;
use super::lengths::{Length, Lengths};
use super::tree::Tree;
use crate::error::Result;
use crate::interrupt::Pacer;

/// Finds disjoint paths to the root of one tree.
pub(super) struct Disjoint<'a> {
    net: &'a Topology,
    lengths: &'a Lengths,
    tree: &'a Tree,
    pacer: Pacer,
}

/// How the search has come to a node.
#[derive(Clone, Copy)]
struct Reached {
    after: i128,
    /// The link, crossed backwards if it leaves the node.
    by: u32,
    done: bool,
}

impl<'a> Disjoint<'a> {
    pub(super) fn new(net: &'a Topology, lengths: &'a Lengths, tree: &'a Tree) -> Self {
        Self { net, lengths, tree, pacer: Pacer::new() }
    }

    /// Takes as many paths as there are, up to `k`, from a node that has one, other than the target; but only so many
    /// that none is longer than `limit`. Shortest first.
    pub(super) fn find(&mut self, source: u32, k: usize, limit: Length, take: impl FnMut(&[u32])) -> Result<()> {
        let (links, target) = (&self.net.links, self.tree.target);
        let mut used: HashSet<u32> = HashSet::new();
        let mut node = source;
        while node != target {
            used.insert(self.tree.next(node));
            node = links[self.tree.next(node) as usize].to;
        }
        let mut paths = self.paths(source, &used)?;
        if k > 1 {
            // The shortest way is one of length 0 by these potentials.
            let potential = |node: usize| self.tree.to_go(node as u32).map(|to_go| to_go as i128);
            let mut potentials: Vec<Option<i128>> = (0..self.net.node_names.len()).map(potential).collect();
            for _ in 1..k {
                if !self.augment(source, &mut potentials, &mut used)? {
                    break;
                }
                let more = self.paths(source, &used)?;
                if more.iter().all(|&(length, _)| length <= limit) {
                    paths = more;
                }
            }
        }
        paths.iter().map(|(_, path)| path.as_slice()).for_each(take);
        Ok(())
    }

    /// Adds a unit of flow, if there is room for one.
    fn augment(&mut self, source: u32, potentials: &mut [Option<i128>], used: &mut HashSet<u32>) -> Result<bool> {
        let (net, target) = (self.net, self.tree.target);
        let mut reached: Vec<Option<Reached>> = vec![None; potentials.len()];
        let mut near = BinaryHeap::from([Reverse((0, source))]);
        reached[source as usize] = Some(Reached { after: 0, by: u32::MAX, done: false });
        let mut whole = None;
        while let Some(Reverse((after, node))) = near.pop() {
            let Some(here) = reached[node as usize].as_mut().filter(|here| !here.done) else { continue };
            here.done = true;
            if node == target {
                whole = Some(after);
                break;
            }
            let (leaving, entering) = (net.routing.leaving.of(node), net.routing.entering.of(node));
            self.pacer.did(leaving.len() + entering.len())?;
            let onward = leaving.iter().filter(|link| !used.contains(link)).map(|&link| (link, false));
            for (link, back) in
                onward.chain(entering.iter().filter(|link| used.contains(link)).map(|&link| (link, true)))
            {
                let ends = net.links[link as usize];
                let to = if back { ends.from } else { ends.to };
                let Some(length) = self.lengths.of(link).map(|length| length as i128) else { continue };
                let (Some(here), Some(there)) = (potentials[node as usize], potentials[to as usize]) else { continue };
                let after = after + if back { -length } else { length } + there - here;
                if reached[to as usize].is_none_or(|known| after < known.after) {
                    reached[to as usize] = Some(Reached { after, by: link, done: false });
                    near.push(Reverse((after, to)));
                }
            }
        }
        let Some(whole) = whole else { return Ok(false) };
        for (potential, reached) in potentials.iter_mut().zip(&reached) {
            if let Some(potential) = potential {
                *potential -= reached.filter(|reached| reached.done).map_or(whole, |reached| reached.after);
            }
        }
        let mut node = target;
        while let Some(Reached { by, .. }) = reached[node as usize].filter(|_| node != source) {
            let ends = net.links[by as usize];
            if ends.to == node && used.insert(by) {
                node = ends.from;
            } else {
                used.remove(&by);
                node = ends.to;
            }
        }
        self.pacer.did(reached.len())?;
        Ok(true)
    }

    /// The paths that a flow is made of, shortest first.
    fn paths(&mut self, source: u32, used: &HashSet<u32>) -> Result<Vec<(Length, Vec<u32>)>> {
        let (net, target) = (self.net, self.tree.target);
        let (mut left, mut paths) = (used.clone(), Vec::new());
        self.pacer.did(used.len())?;
        loop {
            let (mut node, mut path) = (source, Vec::new());
            while node != target {
                let Some(&link) = net.routing.leaving.of(node).iter().find(|link| left.contains(link)) else { break };
                left.remove(&link);
                path.push(link);
                node = net.links[link as usize].to;
            }
            if path.is_empty() {
                break;
            }
            paths.push((path.iter().filter_map(|&link| self.lengths.of(link)).sum(), path));
        }
        paths.sort();
        Ok(paths)
    }
}
