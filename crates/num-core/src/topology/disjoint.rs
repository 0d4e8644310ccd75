//! Paths between two nodes that have no link in common, of least length in sum.
//!
//! They are a flow of one unit per link: the next path is a shortest way through what earlier ones leave, where a link
//! of theirs may be crossed backwards at minus its length, which takes it out of both (Suurballe 1974). Lengths are
//! measured against potentials, at first the way to go to the target, so that none is negative; then Dijkstra's
//! algorithm finds it. Since every link has a length above 0, the flow has no circle, and its paths have no loops.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Topology;
use super::lengths::{Length, Lengths};
use super::tree::Tree;
use crate::error::Result;
use crate::interrupt::Pacer;

/// Finds disjoint paths to the root of one tree. What a search has changed of the lists is put back after it, so that a
/// pair costs what its searches reach.
pub(super) struct Disjoint<'a> {
    net: &'a Topology,
    lengths: &'a Lengths,
    tree: &'a Tree,
    pacer: Pacer,
    /// Whether the flow of the pair uses each link, and the links that it has used.
    used: Vec<bool>,
    crossed: Vec<u32>,
    /// Of every node, at first the way to go, and the nodes where it differs.
    potentials: Vec<Option<i128>>,
    moved: Vec<u32>,
    /// How the search has come to each node, and the nodes to which it has come.
    reached: Vec<Option<Reached>>,
    met: Vec<u32>,
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
        let nodes = net.node_names.len();
        Self {
            net,
            lengths,
            tree,
            pacer: Pacer::new(),
            used: vec![false; net.links.len()],
            crossed: Vec::new(),
            // The shortest way is one of length 0 by these.
            potentials: (0..nodes).map(|node| tree.to_go(node as u32).map(|to_go| to_go as i128)).collect(),
            moved: Vec::new(),
            reached: vec![None; nodes],
            met: Vec::new(),
        }
    }

    /// Takes as many paths as there are, up to `k`, from a node that has one, other than the target; but only so many
    /// that none is longer than `limit`. Shortest first.
    pub(super) fn find(&mut self, source: u32, k: usize, limit: Length, take: impl FnMut(&[u32])) -> Result<()> {
        let (links, target) = (&self.net.links, self.tree.target);
        let mut node = source;
        while node != target {
            let link = self.tree.next(node);
            self.used[link as usize] = true;
            self.crossed.push(link);
            node = links[link as usize].to;
        }
        let mut paths = self.paths(source)?;
        for _ in 1..k {
            if !self.augment(source)? {
                break;
            }
            let more = self.paths(source)?;
            if more.iter().all(|&(length, _)| length <= limit) {
                paths = more;
            }
        }
        self.crossed.drain(..).for_each(|link| self.used[link as usize] = false);
        for node in self.moved.drain(..) {
            self.potentials[node as usize] = self.tree.to_go(node).map(|to_go| to_go as i128);
        }
        paths.iter().map(|(_, path)| path.as_slice()).for_each(take);
        Ok(())
    }

    /// Adds a unit of flow, if there is room for one.
    fn augment(&mut self, source: u32) -> Result<bool> {
        let Self { net, lengths, tree, pacer, used, crossed, potentials, moved, reached, met } = self;
        let target = tree.target;
        met.drain(..).for_each(|node| reached[node as usize] = None);
        let mut near = BinaryHeap::from([Reverse((0, source))]);
        reached[source as usize] = Some(Reached { after: 0, by: u32::MAX, done: false });
        met.push(source);
        let mut whole = None;
        while let Some(Reverse((after, node))) = near.pop() {
            let Some(here) = reached[node as usize].as_mut().filter(|here| !here.done) else { continue };
            here.done = true;
            if node == target {
                whole = Some(after);
                break;
            }
            let (leaving, entering) = (net.routing.leaving.of(node), net.routing.entering.of(node));
            pacer.did(leaving.len() + entering.len())?;
            let onward = leaving.iter().filter(|&&link| !used[link as usize]).map(|&link| (link, false));
            let back = entering.iter().filter(|&&link| used[link as usize]).map(|&link| (link, true));
            for (link, back) in onward.chain(back) {
                let ends = net.links[link as usize];
                let to = if back { ends.from } else { ends.to };
                let Some(length) = lengths.of(link).map(|length| length as i128) else { continue };
                let (Some(here), Some(there)) = (potentials[node as usize], potentials[to as usize]) else { continue };
                let after = after + if back { -length } else { length } + there - here;
                let known = &mut reached[to as usize];
                if known.is_none() {
                    met.push(to);
                }
                if known.is_none_or(|known| after < known.after) {
                    *known = Some(Reached { after, by: link, done: false });
                    near.push(Reverse((after, to)));
                }
            }
        }
        let Some(whole) = whole else { return Ok(false) };
        // Less what was reached, at most the whole; all of them with as much more, which changes no difference.
        for &node in &*met {
            let after = reached[node as usize].filter(|reached| reached.done).map(|reached| reached.after);
            if let (Some(potential), Some(after)) = (&mut potentials[node as usize], after) {
                *potential += whole - after;
                moved.push(node);
            }
        }
        let mut node = target;
        while let Some(Reached { by, .. }) = reached[node as usize].filter(|_| node != source) {
            let ends = net.links[by as usize];
            if ends.to == node && !used[by as usize] {
                used[by as usize] = true;
                crossed.push(by);
                node = ends.from;
            } else {
                used[by as usize] = false;
                node = ends.to;
            }
        }
        pacer.did(met.len())?;
        Ok(true)
    }

    /// The paths that the flow is made of, shortest first.
    fn paths(&mut self, source: u32) -> Result<Vec<(Length, Vec<u32>)>> {
        let Self { net, lengths, tree, pacer, used: left, crossed, .. } = self;
        let mut paths = Vec::new();
        pacer.did(crossed.len())?;
        loop {
            let (mut node, mut path) = (source, Vec::new());
            while node != tree.target {
                let leaving = net.routing.leaving.of(node);
                let Some(&link) = leaving.iter().find(|&&link| left[link as usize]) else { break };
                left[link as usize] = false;
                path.push(link);
                node = net.links[link as usize].to;
            }
            if path.is_empty() {
                break;
            }
            paths.push((path.iter().filter_map(|&link| lengths.of(link)).sum(), path));
        }
        paths.iter().flat_map(|(_, path)| path).for_each(|&link| left[link as usize] = true);
        paths.sort();
        Ok(paths)
    }
}
