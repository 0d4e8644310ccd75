//! The k shortest paths without loops between two nodes.
//!
//! A path that is found splits what it was the shortest of into smaller sets: per node on it, the paths that begin as
//! it does and leave it there by another link. The shortest path of all is the shortest of one of these sets, and so
//! on (Yen 1971; the sets never overlap, Lawler 1972). The tree of shortest ways to the target bounds every set from
//! below, from the links that leave one node. Sets wait in a heap by that bound, and a path is only searched
//! in one whose bound is the least: it is what the tree says, unless that leads back to the beginning of the path; only
//! then is there a search, with the tree as its bound (A*).
//!
//! Every path comes out with the least link numbers among those of its length: the way by the tree does by its making,
//! and a search walks all nodes that could lie on a shortest path before it chooses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Topology;
use super::lengths::{Length, Lengths};
use super::tree::Tree;
use crate::error::Result;
use crate::interrupt::Pacer;

/// Finds paths to the root of one tree.
pub(super) struct Yen<'a> {
    net: &'a Topology,
    lengths: &'a Lengths,
    tree: &'a Tree,
    pacer: Pacer,
    found: Vec<Path>,
    waiting: BinaryHeap<Reverse<Candidate>>,
    /// The lengths of the shortest paths that are known, taken or waiting, at most k.
    known: BinaryHeap<Length>,
    on_beginning: Marks,
    search: Search,
}

/// A path that was found, and the set that it was found in.
struct Path {
    links: Vec<u32>,
    set: Set,
}

/// The paths that have the first `at` links of path `of` and go on by another link than it and than those that it was
/// found beside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Set {
    of: usize,
    at: usize,
}

/// The shortest path of a set, or a bound on its length while `links` is empty. In this order, so that of equal lengths
/// the bounds come before the paths, and those by their links.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    length: Length,
    links: Vec<u32>,
    set: Set,
}

impl<'a> Yen<'a> {
    pub(super) fn new(net: &'a Topology, lengths: &'a Lengths, tree: &'a Tree) -> Self {
        let nodes = net.node_names.len();
        Self {
            net,
            lengths,
            tree,
            pacer: Pacer::new(),
            found: Vec::new(),
            waiting: BinaryHeap::new(),
            known: BinaryHeap::new(),
            on_beginning: Marks::new(nodes),
            search: Search::new(nodes),
        }
    }

    /// Takes up to `k` paths from a node that has one, other than the target, shortest first, none longer than `limit`
    /// but the first.
    pub(super) fn find(&mut self, source: u32, k: usize, limit: Length, mut take: impl FnMut(&[u32])) -> Result<()> {
        self.found.clear();
        self.waiting.clear();
        self.known.clear();
        self.on_beginning.clear();
        let mut links = Vec::new();
        self.follow_tree(source, &mut links);
        self.known.extend(self.tree.to_go(source));
        let mut next = Some(Path { links, set: Set { of: 0, at: 0 } });
        while let Some(path) = next {
            take(&path.links);
            self.pacer.did(path.links.len())?;
            self.found.push(path);
            if self.found.len() == k {
                break;
            }
            self.split(self.most(k, limit))?;
            next = self.next(k, limit)?;
        }
        Ok(())
    }

    /// The longest that a path may be to be among the `k` shortest and within `limit`.
    fn most(&self, k: usize, limit: Length) -> Length {
        self.known.peek().filter(|_| self.known.len() == k).map_or(limit, |&longest| longest.min(limit))
    }

    /// Lets a path wait that is the shortest of its set.
    fn wait(&mut self, k: usize, path: Candidate) {
        self.known.push(path.length);
        if self.known.len() > k {
            self.known.pop();
        }
        self.waiting.push(Reverse(path));
    }

    /// Puts the sets that the latest path leaves into the heap.
    fn split(&mut self, limit: Length) -> Result<()> {
        let of = self.found.len() - 1;
        self.on_beginning.clear();
        let mut length = 0;
        for at in 0..self.found[of].links.len() {
            let link = self.found[of].links[at];
            let node = self.net.links[link as usize].from;
            self.on_beginning.mark(node);
            if at >= self.found[of].set.at {
                let set = Set { of, at };
                self.pacer.did(self.net.routing.leaving.of(node).len())?;
                if let Some((onward, _)) = self.onward(node, set).filter(|&(onward, _)| length + onward <= limit) {
                    self.waiting.push(Reverse(Candidate { length: length + onward, links: Vec::new(), set }));
                }
            }
            length += self.lengths.of(link).unwrap_or_default();
        }
        Ok(())
    }

    /// The shortest way on from the node where a set leaves its path, if what lies beyond the first link may be any
    /// way: its length, and that link.
    fn onward(&self, node: u32, set: Set) -> Option<(Length, u32)> {
        let mut best: Option<(Length, u32)> = None;
        for &link in self.net.routing.leaving.of(node) {
            let to = self.net.links[link as usize].to;
            let (Some(step), Some(to_go)) = (self.lengths.of(link), self.tree.to_go(to)) else { continue };
            let length = step + to_go;
            if best.is_none_or(|(best, _)| length < best) && !self.on_beginning.has(to) && !self.is_closed(set, link) {
                best = Some((length, link));
            }
        }
        best
    }

    /// Whether a link goes on as a path does that a set excludes.
    fn is_closed(&self, set: Set, link: u32) -> bool {
        let mut path = set.of;
        loop {
            let Path { links, set: Set { of, at } } = &self.found[path];
            if links[set.at] == link {
                return true;
            }
            // The path that it was found beside, if it left that one at this place, too.
            if path == 0 || *at != set.at {
                return false;
            }
            path = *of;
        }
    }

    /// The shortest path of all sets.
    fn next(&mut self, k: usize, limit: Length) -> Result<Option<Path>> {
        while let Some(Reverse(Candidate { length, links, set })) = self.waiting.pop() {
            if !links.is_empty() {
                return Ok(Some(Path { links, set }));
            }
            let beginning = &self.found[set.of].links[..=set.at];
            self.on_beginning.clear();
            for &link in beginning {
                self.on_beginning.mark(self.net.links[link as usize].from);
            }
            self.pacer.did(beginning.len())?;
            let node = self.net.links[beginning[set.at] as usize].from;
            let mut links = beginning[..set.at].to_vec();
            let Some((onward, first)) = self.onward(node, set) else { continue };
            links.push(first);
            if self.follow_tree(self.net.links[first as usize].to, &mut links) {
                self.wait(k, Candidate { length, links, set });
                continue;
            }
            links.truncate(set.at);
            let spent = length - onward;
            let most = self.most(k, limit);
            let Some(within) = most.checked_sub(spent) else { continue };
            if let Some(onward) = self.search(node, set, within, &mut links)? {
                self.wait(k, Candidate { length: spent + onward, links, set });
            }
        }
        Ok(None)
    }

    /// Goes on by the tree from a node to the target; says whether that keeps off the beginning of the path.
    fn follow_tree(&self, mut node: u32, links: &mut Vec<u32>) -> bool {
        while node != self.tree.target {
            let link = self.tree.next(node);
            links.push(link);
            node = self.net.links[link as usize].to;
            if self.on_beginning.has(node) {
                return false;
            }
        }
        true
    }

    /// The shortest way from a node to the target that avoids the beginning of the path and what the set excludes, no
    /// longer than `limit`; appends its links.
    fn search(&mut self, spur: u32, set: Set, limit: Length, path: &mut Vec<u32>) -> Result<Option<Length>> {
        let (net, tree, target) = (self.net, self.tree, self.tree.target);
        let open = |yen: &Self, from: u32, link: u32| {
            let to = net.links[link as usize].to;
            let length = yen.lengths.of(link)?;
            let closed = yen.on_beginning.has(to) || (from == spur && yen.is_closed(set, link));
            (!closed).then_some((to, length))
        };
        let mut most = limit;
        self.search.clear();
        self.search.reach(spur, 0);
        self.search.near.push(Reverse((0, spur)));
        while let Some(Reverse((bound, node))) = self.search.near.pop() {
            if bound > most {
                break;
            }
            let Some(so_far) = self.search.so_far(node).filter(|_| !self.search.done.has(node)) else { continue };
            self.search.done.mark(node);
            if node == target {
                // What is as near still counts: the least link numbers are to be found.
                most = so_far;
                continue;
            }
            let leaving = net.routing.leaving.of(node);
            self.pacer.did(leaving.len())?;
            for &link in leaving {
                let Some((to, step)) = open(self, node, link) else { continue };
                let Some(to_go) = tree.to_go(to) else { continue };
                if so_far + step + to_go <= most && self.search.so_far(to).is_none_or(|known| so_far + step < known) {
                    self.search.reach(to, so_far + step);
                    self.search.near.push(Reverse((so_far + step + to_go, to)));
                }
            }
        }
        if !self.search.done.has(target) {
            return Ok(None);
        }
        // The nodes on shortest ways, backwards from the target.
        let mut ahead = vec![target];
        self.search.on_shortest.mark(target);
        while let Some(node) = ahead.pop() {
            let entering = net.routing.entering.of(node);
            self.pacer.did(entering.len())?;
            for &link in entering {
                let from = net.links[link as usize].from;
                let so_far = (self.search.so_far(from), self.search.so_far(node));
                let (Some(before), Some(after)) = so_far else { continue };
                let leads = open(self, from, link).is_some_and(|(_, step)| before + step == after);
                if leads && !self.search.on_shortest.has(from) {
                    self.search.on_shortest.mark(from);
                    ahead.push(from);
                }
            }
        }
        let mut node = spur;
        while node != target {
            let so_far = self.search.so_far(node);
            let leads = |&&link: &&u32| {
                open(self, node, link).is_some_and(|(to, step)| {
                    self.search.on_shortest.has(to) && so_far.map(|so_far| so_far + step) == self.search.so_far(to)
                })
            };
            let Some(&link) = net.routing.leaving.of(node).iter().find(leads) else { return Ok(None) };
            path.push(link);
            node = net.links[link as usize].to;
        }
        Ok(self.search.so_far(target))
    }
}

/// A set of nodes that is emptied at once.
struct Marks {
    round: u32,
    rounds: Vec<u32>,
}

impl Marks {
    fn new(nodes: usize) -> Self {
        Self { round: 1, rounds: vec![0; nodes] }
    }

    fn clear(&mut self) {
        if self.round == u32::MAX {
            self.rounds.fill(0);
            self.round = 0;
        }
        self.round += 1;
    }

    fn mark(&mut self, node: u32) {
        self.rounds[node as usize] = self.round;
    }

    #[inline]
    fn has(&self, node: u32) -> bool {
        self.rounds[node as usize] == self.round
    }
}

/// The nodes that a search has reached.
struct Search {
    reached: Marks,
    so_far: Vec<Length>,
    done: Marks,
    on_shortest: Marks,
    near: BinaryHeap<Reverse<(Length, u32)>>,
}

impl Search {
    fn new(nodes: usize) -> Self {
        let marks = || Marks::new(nodes);
        Self { reached: marks(), so_far: vec![0; nodes], done: marks(), on_shortest: marks(), near: BinaryHeap::new() }
    }

    fn clear(&mut self) {
        self.reached.clear();
        self.done.clear();
        self.on_shortest.clear();
        self.near.clear();
    }

    fn reach(&mut self, node: u32, so_far: Length) {
        self.reached.mark(node);
        self.so_far[node as usize] = so_far;
    }

    fn so_far(&self, node: u32) -> Option<Length> {
        self.reached.has(node).then(|| self.so_far[node as usize])
    }
}
