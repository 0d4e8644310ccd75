//! Whether the links of a path follow on each other in a network, and which links follow a list of nodes.
//!
//! A walk enters every node as often as it leaves it, but for its first and its last, and hangs together; that is all
//! there is to it (Euler). So the links of a path may be listed in any order.

use std::collections::HashMap;

use super::{Link, Node, Topology};
use crate::error::{Error, Result};
use crate::interrupt::Pacer;
use crate::link_ends::LinkEnds;
use crate::paths::Paths;

impl Topology {
    /// Checks that every path is a walk of this network, from any node to any other or back to its first: its links,
    /// in some order, follow on each other. O(crossings) for paths whose links are in that order. A path that uses some
    /// link by a part or more than once, with a coefficient other than 1, need not be a walk: traffic that
    /// [divides](Self::ecmp_split) is none.
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
            let own = paths.indptr()[path]..paths.indptr()[path + 1];
            if paths.coefficients().is_some_and(|all| all[own].iter().any(|&coefficient| coefficient != 1.0)) {
                if let Some(&link) = row.iter().find(|&&link| link as usize >= links) {
                    return Err(Error::LinkOutOfRange { path, link: link.into(), links });
                }
                continue;
            }
            if !self.shared.is_empty() && row.iter().any(|&link| self.is_shared(link)) {
                self.check_walk_over_shared(path, row)?;
                continue;
            }
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

    /// The nodes between which links lead, in the order of a walk or in any; `None` where they come back to where they
    /// begin, are no walk, or do not all exist. A walk over shared links may lead the other way as well.
    pub fn walk_ends(&self, links: &[u32]) -> Option<(usize, usize)> {
        if links.iter().any(|&link| link as usize >= self.links.len()) {
            return None;
        }
        let first = &self.links[*links.first()? as usize];
        let from = |node: usize| {
            let end = links.iter().try_fold(node, |node, &link| self.beyond(link, node))?;
            Some((node, end))
        };
        if let Some((first, last)) = from(first.from as usize).or_else(|| from(first.to as usize)) {
            return (first != last).then_some((first, last));
        }
        let is_either_way = links.iter().any(|&link| self.is_shared(link));
        let mut more: HashMap<u32, i32> = HashMap::new();
        for Link { from, to, .. } in links.iter().map(|&link| self.links[link as usize]) {
            *more.entry(from).or_default() += 1;
            *more.entry(to).or_default() += if is_either_way { 1 } else { -1 };
        }
        let mut ends: Vec<(u32, i32)> = more.into_iter().filter(|(_, more)| more % 2 != 0).collect();
        // First the one that is left more often than it is entered; over shared links that is not known.
        ends.sort_unstable_by_key(|&(node, more)| (if is_either_way { 0 } else { -more }, node));
        match ends[..] {
            [(first, _), (last, _)] => Some((first as usize, last as usize)),
            _ => None,
        }
    }

    /// As [`check_walks`](Self::check_walks), for a path with shared links.
    fn check_walk_over_shared(&self, path: usize, row: &[u32]) -> Result<()> {
        let links = self.links.len();
        if let Some(&link) = row.iter().find(|&&link| link as usize >= links) {
            return Err(Error::LinkOutOfRange { path, link: link.into(), links });
        }
        let ends = |&link: &u32| (self.links[link as usize].from, self.links[link as usize].to);
        let goes_on = |node: usize| row.iter().try_fold(node, |node, &link| self.beyond(link, node)).is_some();
        let (first, last) = ends(&row[0]);
        if goes_on(first as usize) || goes_on(last as usize) {
            return Ok(());
        }
        let given: Vec<_> = row.iter().map(|link| (ends(link), self.is_shared(*link))).collect();
        if make_a_walk_either_way(&given) {
            return Ok(());
        }
        let meet = |pair: &[u32]| {
            let sides = |link: u32, of: u32| {
                let (from, to) = ends(&link);
                if self.is_shared(link) { [from, to] } else { [of, of] }
            };
            let (after, before) = (sides(pair[0], ends(&pair[0]).1), sides(pair[1], ends(&pair[1]).0));
            after.iter().any(|node| before.contains(node))
        };
        let at = row.windows(2).position(|pair| !meet(pair)).unwrap_or(0);
        let (one, other) = (self.shown(row[at]), self.shown(row[(at + 1).min(row.len() - 1)]));
        Err(Error::NoWalk { path, what: format!("{one} does not lead to {other}") })
    }

    /// The link from one node to another; of several the first. O(links of the node).
    ///
    /// ```
    /// # use netnum_core::{Topology, Error};
    /// let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10")?;
    /// assert_eq!(net.link("Denver", "Houston")?, 2);
    /// assert_eq!(net.link(1, 2)?, 2);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Topology`], naming both, for two nodes that no link joins; for a node that does not exist.
    pub fn link(&self, from: impl Node, to: impl Node) -> Result<u32> {
        let (from, to) = (self.number_of(|| "from".into(), &from)?, self.number_of(|| "to".into(), &to)?);
        self.link_between(from, to)
    }

    fn link_between(&self, from: usize, to: usize) -> Result<u32> {
        if let Some(unfolded) = &self.unfolded {
            return unfolded.net.link_between(from, to).map(|link| unfolded.link(link));
        }
        let leads = |&&link: &&u32| self.links[link as usize].to as usize == to;
        self.routing.listed.of(from as u32).iter().find(leads).copied().ok_or_else(|| {
            let [from, to] = [from, to].map(|node| &self.node_names[node]);
            Error::Topology(format!("there is no link from {from} to {to}"))
        })
    }

    /// The links of the path through some nodes: of several links between two of them the first.
    ///
    /// ```
    /// # use netnum_core::{Topology, Error};
    /// let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10")?;
    /// assert_eq!(net.route(&["Seattle", "Denver", "Houston"])?, [0, 2]);
    /// let error = net.route(&[0, 2]).unwrap_err();
    /// assert_eq!(error.to_string(), "hop 0: there is no link from Seattle to Houston");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Topology`], naming the hop, for two nodes that no link joins, for a node that does not exist or comes
    /// twice, and for fewer than two nodes; [`Error::Stopped`].
    pub fn route(&self, nodes: &[impl Node]) -> Result<Vec<u32>> {
        if nodes.len() < 2 {
            let count = nodes.len();
            return Err(Error::Topology(format!(
                "a route of {count} node{} has no link",
                if count == 1 { "" } else { "s" }
            )));
        }
        let (mut pacer, mut places) = (Pacer::new(), HashMap::new());
        let number = |(place, node)| {
            pacer.did(1)?;
            let number = self.number_of(|| format!("nodes[{place}]"), node)?;
            match places.insert(number, place) {
                None => Ok(number),
                Some(first) => {
                    let name = &self.node_names[number];
                    let message = format!("the route returns to {name}, which is in places {first} and {place}");
                    Err(Error::Topology(message))
                }
            }
        };
        let nodes: Vec<usize> = nodes.iter().enumerate().map(number).collect::<Result<_>>()?;
        let link = |(hop, pair): (usize, &[usize])| {
            pacer.did(1)?;
            self.link_between(pair[0], pair[1]).map_err(|error| Error::Topology(format!("hop {hop}: {error}")))
        };
        nodes.windows(2).enumerate().map(link).collect()
    }

    /// A link by number and nodes.
    pub(super) fn shown(&self, link: u32) -> String {
        format!("link {link} ({})", self.name_of_link(link))
    }

    /// The two nodes of a link by name, in its direction if it has one.
    pub(super) fn name_of_link(&self, link: u32) -> String {
        let Link { from, to, .. } = self.links[link as usize];
        let [from, to] = [from, to].map(|node| &self.node_names[node as usize]);
        format!("{from} {} {to}", if self.is_shared(link) { "-" } else { "->" })
    }
}

/// Whether links make a walk in some order, each given by its two nodes, and whether it may be walked either way.
///
/// It does if the links that may can be turned so that every node is left as often as it is entered, but for the first
/// and the last. Turning one moves two from a node's excess to the other's: a flow along links that may be turned, from
/// nodes that are left too often.
fn make_a_walk_either_way(links: &[((u32, u32), bool)]) -> bool {
    let mut excess: HashMap<u32, i64> = HashMap::new();
    for &((from, to), _) in links {
        *excess.entry(from).or_default() += 1;
        *excess.entry(to).or_default() -= 1;
    }
    let mut odd: Vec<u32> = excess.iter().filter(|(_, excess)| *excess % 2 != 0).map(|(&node, _)| node).collect();
    odd.sort_unstable();
    let ends = match odd[..] {
        [] => vec![None],
        [one, other] => vec![Some((one, other)), Some((other, one))],
        _ => return false,
    };
    ends.into_iter().any(|ends| {
        let (mut left, mut turned) = (excess.clone(), links.to_vec());
        if let Some((first, last)) = ends {
            *left.entry(first).or_default() -= 1;
            *left.entry(last).or_default() += 1;
        }
        while let Some((&node, _)) = left.iter().find(|(_, excess)| **excess > 0) {
            let Some(way) = way_to_less(&turned, node, &left) else { return false };
            let mut end = node;
            for link in way {
                let ((from, to), _) = turned[link];
                turned[link].0 = (to, from);
                end = to;
            }
            *left.entry(node).or_default() -= 2;
            *left.entry(end).or_default() += 2;
        }
        let walked: Vec<(u32, u32)> = turned.iter().map(|link| link.0).collect();
        make_a_walk(&walked)
    })
}

/// Links that may be turned, one after the other from a node to one that is left too seldom.
fn way_to_less(links: &[((u32, u32), bool)], from: u32, excess: &HashMap<u32, i64>) -> Option<Vec<usize>> {
    let mut reached: HashMap<u32, Vec<usize>> = HashMap::from([(from, Vec::new())]);
    let mut waiting = vec![from];
    while let Some(node) = waiting.pop() {
        let way = reached[&node].clone();
        if excess.get(&node).is_some_and(|&excess| excess < 0) {
            return Some(way);
        }
        for (place, &((tail, head), turns)) in links.iter().enumerate() {
            if turns && tail == node && !reached.contains_key(&head) {
                reached.insert(head, way.iter().copied().chain([place]).collect());
                waiting.push(head);
            }
        }
    }
    None
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
