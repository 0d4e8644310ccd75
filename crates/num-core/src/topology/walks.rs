//! Whether the links of a path follow on each other in a network, and which links follow a list of nodes.
//!
//! A walk enters every node as often as it leaves it, but for its first and its last, and hangs together; that is all
//! there is to it (Euler). So the links of a path may be listed in any order.

use std::collections::HashMap;

use super::Topology;
use crate::error::{Error, Result, expected_below};
use crate::interrupt::Pacer;
use crate::link_ends::LinkEnds;
use crate::paths::Paths;

impl Topology {
    /// Checks that every path is a walk of this network, from any node to any other or back to its first: its links,
    /// in some order, follow on each other. O(crossings) for paths whose links are in that order.
    ///
    /// ```
    /// # use netnum_core::{Paths, Topology, Error};
    /// let net = Topology::parking_lot(3, 1.0)?;
    /// assert_eq!(net.check_walks(&Paths::from_lists([vec![0, 1], vec![2, 1, 0]])), Ok(()));
    /// let error = net.check_walks(&Paths::from_lists([[0, 2]])).unwrap_err();
    /// assert!(error.to_string().contains("link 0 (node 0 -> node 1) does not lead to link 2 (node 2 -> node 3)"));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoWalk`] naming the first path that is none and two links that do not meet,
    /// [`Error::LinkOutOfRange`] for a link that the network does not have, [`Error::Stopped`].
    pub fn check_walks(&self, paths: &Paths) -> Result<()> {
        let (mut pacer, links) = (Pacer::new(), self.links.len());
        for (path, row) in paths.iter().enumerate() {
            pacer.did(row.len())?;
            if let Some(&link) = row.iter().find(|&&link| link as usize >= links) {
                return Err(Error::LinkOutOfRange { path, link: link.into(), links });
            }
            let ends = |link: u32| (self.links[link as usize].from, self.links[link as usize].to);
            let breaks = |pair: &[u32]| ends(pair[0]).1 != ends(pair[1]).0;
            let Some(at) = row.windows(2).position(breaks) else { continue };
            if !make_a_walk(&row.iter().map(|&link| ends(link)).collect::<Vec<_>>()) {
                let (one, other) = (self.shown(row[at]), self.shown(row[at + 1]));
                return Err(Error::NoWalk { path, what: format!("{one} does not lead to {other}") });
            }
        }
        Ok(())
    }

    /// The link from one node to another, both by number; of several the first. O(links of the node).
    pub fn link(&self, from: usize, to: usize) -> Option<usize> {
        let node = |node: usize| u32::try_from(node).ok().filter(|_| node < self.node_names.len());
        let (from, to) = (node(from)?, node(to)?);
        // Ends that hang off a switch are no part of the trunk.
        let hangs = |node: u32| if (node as usize) < self.ends { self.attachment(node as usize).up_down } else { None };
        let leads = |&&link: &&u32| self.links[link as usize].from == from && self.links[link as usize].to == to;
        let hanging = [hangs(from).map(|(up, _)| up), hangs(to).map(|(_, down)| down)];
        let listed = hanging.as_slice().iter().flatten().chain(self.routing.leaving.of(from));
        listed.into_iter().find(leads).map(|&link| link as usize)
    }

    /// The links of the path through some nodes, given by number: of several links between two of them the first.
    ///
    /// ```
    /// # use netnum_core::{Topology, Error};
    /// let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10")?;
    /// assert_eq!(net.route(&[0, 1, 2])?, [0, 2]);
    /// let error = net.route(&[0, 2]).unwrap_err();
    /// assert_eq!(error.to_string(), "hop 0: there is no link from Seattle to Houston");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Topology`], naming the hop, for two nodes that no link joins, for a node that does not exist or comes
    /// twice, and for fewer than two nodes; [`Error::Stopped`].
    pub fn route(&self, nodes: &[usize]) -> Result<Vec<u32>> {
        if nodes.len() < 2 {
            let count = nodes.len();
            return Err(Error::Topology(format!(
                "a route of {count} node{} has no link",
                if count == 1 { "" } else { "s" }
            )));
        }
        if let Some(hop) = nodes.iter().position(|&node| node >= self.node_names.len()) {
            let expected = expected_below("node", self.node_names.len());
            return Err(Error::Topology(format!("place {hop} of the route names node {}, {expected}", nodes[hop])));
        }
        let (mut pacer, mut places) = (Pacer::new(), HashMap::new());
        for (place, node) in nodes.iter().enumerate() {
            pacer.did(1)?;
            if let Some(first) = places.insert(node, place) {
                let name = &self.node_names[*node];
                let message = format!("the route returns to {name}, which is in places {first} and {place}");
                return Err(Error::Topology(message));
            }
        }
        let link = |(hop, pair): (usize, &[usize])| {
            pacer.did(1)?;
            let name = |node: usize| &self.node_names[node];
            let message = || format!("hop {hop}: there is no link from {} to {}", name(pair[0]), name(pair[1]));
            self.link(pair[0], pair[1]).map(|link| link as u32).ok_or_else(|| Error::Topology(message()))
        };
        nodes.windows(2).enumerate().map(link).collect()
    }

    /// A link by number and nodes.
    pub(super) fn shown(&self, link: u32) -> String {
        let [from, to] = [self.links[link as usize].from, self.links[link as usize].to];
        format!("link {link} ({} -> {})", self.node_names[from as usize], self.node_names[to as usize])
    }
}

/// Whether links, given by their two nodes, make a walk in some order.
fn make_a_walk(links: &[(u32, u32)]) -> bool {
    let mut parts = LinkEnds::new(links.len());
    // By node: an end there, and how often it is left less how often it is entered.
    let mut nodes: HashMap<u32, (usize, i64)> = HashMap::new();
    for (head, &(from, to)) in links.iter().enumerate() {
        let tail = links.len() + head;
        parts.unite(head, tail);
        for (node, end, step) in [(from, tail, 1), (to, head, -1)] {
            let (first, excess) = nodes.entry(node).or_insert((end, 0));
            parts.unite(*first, end);
            *excess += step;
        }
    }
    let whole = parts.node(0);
    // The excesses add up to 0: with one node of 1 there is one of -1.
    (0..links.len()).all(|head| parts.node(head) == whole)
        && nodes.values().map(|(_, excess)| excess.abs()).sum::<i64>() <= 2
}
