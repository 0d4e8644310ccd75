//! The network as searches walk it: the links that work, hanging ends contracted, and the pairs by where they start.

use crate::error::Result;
use crate::interrupt::Pacer;
use crate::topology::{Node, Topology};

/// One way of a link as a search takes it: to which node, over which link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    pub(super) node: u32,
    pub(super) link: u32,
}

/// Where the path of a flow meets the trunk: a node, and the link there of an end that hangs off it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Meeting {
    pub(super) node: u32,
    pub(super) link: Option<u32>,
}

/// The steps from every node, of the links that may be used.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    starts: Vec<usize>,
    steps: Vec<Step>,
    /// Nodes that a path may pass through.
    forwards: Vec<bool>,
    nodes: usize,
}

impl Graph {
    /// Over these links, from their first node to their second, or backwards.
    pub(super) fn new(nodes: usize, links: &[(u32, Step)], forwards: Vec<bool>, backwards: bool) -> Self {
        let both = |&(from, Step { node, link }): &(u32, Step)| match backwards {
            true => (node, Step { node: from, link }),
            false => (from, Step { node, link }),
        };
        let mut starts = vec![0; nodes + 1];
        links.iter().for_each(|link| starts[both(link).0 as usize + 1] += 1);
        (0..nodes).for_each(|node| starts[node + 1] += starts[node]);
        let (mut free, mut steps) = (starts.clone(), vec![Step { node: 0, link: 0 }; links.len()]);
        for link in links {
            let (from, step) = both(link);
            steps[free[from as usize]] = step;
            free[from as usize] += 1;
        }
        Self { starts, steps, forwards, nodes }
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// The steps from a node, where a search from `root` may go on there.
    #[inline]
    pub(super) fn steps(&self, node: u32, root: u32) -> &[Step] {
        match node == root || self.forwards[node as usize] {
            true => &self.steps[self.starts[node as usize]..self.starts[node as usize + 1]],
            false => &[],
        }
    }
}

/// The links of a network that may be used: every way of each, from its first node to its second.
pub(super) fn usable(net: &Topology, may_use: impl Fn(u32) -> bool) -> Vec<(u32, Step)> {
    let mut ways = Vec::with_capacity(net.links().len());
    for (number, link) in (0u32..).zip(net.links()) {
        if may_use(number) {
            ways.push((link.from, Step { node: link.to, link: number }));
            if net.is_shared(number) {
                ways.push((link.to, Step { node: link.from, link: number }));
            }
        }
    }
    ways
}

/// Where every end meets the trunk, on the way out and on the way in: the switch of an end that has one way out and one
/// way in, both of the same node; any other node itself.
pub(super) fn meetings(forwards: &[bool], ends: usize, ways: &[(u32, Step)]) -> Vec<[Meeting; 2]> {
    let nodes = forwards.len();
    let (mut out, mut into) =
        (vec![(0u32, Step { node: 0, link: 0 }); nodes], vec![(0u32, Step { node: 0, link: 0 }); nodes]);
    for &(from, step) in ways {
        let Step { node, link } = step;
        out[from as usize] = (out[from as usize].0 + 1, step);
        into[node as usize] = (into[node as usize].0 + 1, Step { node: from, link });
    }
    let hangs = |end: usize| {
        let ((outs, up), (ins, down)) = (out[end], into[end]);
        // Two ends that have only each other would hang off nothing.
        let alone = |node: usize| out[node].0 + into[node].0 == 2;
        let is_one = end < ends && outs == 1 && ins == 1 && up.node == down.node;
        is_one && forwards[up.node as usize] && !alone(up.node as usize)
    };
    let of = |node: usize| match hangs(node) {
        true => [out[node].1, into[node].1].map(|step| Meeting { node: step.node, link: Some(step.link) }),
        false => [Meeting { node: node as u32, link: None }; 2],
    };
    (0..nodes).map(of).collect()
}

/// The ends of pairs by number, checked: two different ends of the network each.
///
/// # Errors
/// [`Error::Length`], and [`Error::Topology`] naming the first pair that is wrong.
pub(super) fn pairs(net: &Topology, sources: &[impl Node], destinations: &[impl Node]) -> Result<[Vec<u32>; 2]> {
    let [sources, destinations] = net.pairs_of(sources, destinations)?;
    let numbers = |ends: Vec<usize>| ends.into_iter().map(|end| end as u32).collect();
    Ok([numbers(sources), numbers(destinations)])
}

/// The flows of every root, in increasing order.
#[derive(Debug, Clone)]
pub(super) struct ByRoot {
    /// The roots that have flows, in increasing order, each with where its flows begin.
    pub(super) roots: Vec<(u32, usize)>,
    flows: Vec<u32>,
}

impl ByRoot {
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn new(nodes: usize, roots: &[u32]) -> Result<Self> {
        let mut starts = vec![0usize; nodes + 1];
        roots.iter().for_each(|&root| starts[root as usize + 1] += 1);
        (0..nodes).for_each(|node| starts[node + 1] += starts[node]);
        let with_flows = (0..nodes).filter(|&node| starts[node + 1] > starts[node]);
        let places = with_flows.map(|node| (node as u32, starts[node])).collect();
        let (mut free, mut flows, mut pacer) = (starts, vec![0; roots.len()], Pacer::new());
        for (flow, &root) in (0u32..).zip(roots) {
            flows[free[root as usize]] = flow;
            free[root as usize] += 1;
            pacer.did(1)?;
        }
        Ok(Self { roots: places, flows })
    }

    /// The root of that place, and its flows.
    pub(super) fn of(&self, place: usize) -> (u32, &[u32]) {
        let (root, start) = self.roots[place];
        let end = self.roots.get(place + 1).map_or(self.flows.len(), |&(_, start)| start);
        (root, &self.flows[start..end])
    }
}
