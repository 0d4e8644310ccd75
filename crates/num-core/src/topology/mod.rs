//! Networks: nodes with names, the links that join them, and the paths between two ends.
//!
//! A [`Topology`] is a directed graph whose edges are the links of a [`Problem`](crate::Problem). This file is the type
//! and its invariants; the others build and search it:
//!
//! | file | what it does |
//! |---|---|
//! | `attributes.rs` | delays, costs and what else links have |
//! | `fabrics.rs` | the networks that papers use |
//! | `routes.rs` | shortest paths, by links or by weight: all of a pair, or one for each pair |
//! | `ecmp_split.rs` | how traffic divides over shortest paths, hop by hop |
//! | `next_links.rs` | the links by which shortest paths lead to a target |
//! | `k_shortest.rs` | several short paths per pair: `lengths.rs`, `tree.rs`, `yen.rs`, `disjoint.rs` |
//! | `connected.rs` | whether paths join the ends, and why not |
//! | `shared.rs` | links of one capacity for both directions |
//! | `walks.rs` | whether given paths are any, and links from nodes |
//! | `node.rs` | nodes by number or by name |

mod attributes;
mod connected;
mod disjoint;
mod ecmp_split;
mod fabrics;
mod graph;
mod k_shortest;
mod lengths;
mod next_links;
mod node;
mod routes;
mod shared;
mod tree;
mod walks;
mod yen;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, check_capacity, check_length, expected_below};
use crate::interrupt::{self, Pacer};
pub use attributes::LinkAttribute;
pub use ecmp_split::EcmpSplit;
use graph::Routing;
pub use k_shortest::KShortest;
pub use node::Node;
use shared::Unfolded;

/// One directed link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The node that sends into the link.
    pub from: u32,
    /// The node that receives from it.
    pub to: u32,
    /// Its capacity, in the caller's unit: 0 for a link that has failed, ∞ for one without a limit, which is written
    /// as null.
    #[serde(with = "written")]
    pub capacity: f64,
}

/// Capacities as they are written: null for a link without a limit.
mod written {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(capacity: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*capacity).filter(|capacity| capacity.is_finite()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}

/// A network: named nodes, joined by directed links with capacities.
///
/// The first [`ends`](Self::ends) nodes are the ends, where flows may start and stop: the servers of a fabric, numbered
/// rack by rack from 0, or every node of a generic graph. The `tier` of a node is 0 for an end, 1 for a rack or edge
/// switch, 2 for aggregation or spine, 3 for core; in generic graphs it is 0 throughout. It is there to be drawn;
/// routing ignores it.
///
/// Invariants of every `Topology`, also of one that was deserialized:
///
/// 1. there are at least two ends, and no more than there are nodes;
/// 2. every node has a tier and a name, and no two share a name;
/// 3. every link joins two different nodes that exist (several links may join the same two);
/// 4. every capacity is a number >= 0, ∞ for a link without a limit;
/// 5. every attribute has a value per link.
///
/// ```
/// # use netnum_core::{Topology, Error};
/// let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9)?;
/// assert_eq!(net.to_string(), "leaf-spine, 144 servers, 360 links");
/// assert_eq!(net.paths(0, 143)?.len(), 4); // one through each spine
/// let paths = net.ecmp(&[0, 1], &[143, 2], 1)?; // one of them for each pair, as routers choose
/// assert_eq!(paths.links(1), [1, 146]); // server 1 -> rack 0 -> server 2
/// assert_eq!(net.paths("server 1", "server 2")?.links(0), [1, 146]); // nodes by name
/// # Ok::<(), Error>(())
/// ```
///
/// A link is a `u32` everywhere: its place in [`links`](Self::links), and what paths are made of.
/// A node is given by number or by name, see [`Node`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Plain")]
pub struct Topology {
    name: String,            // (given)
    node_names: Vec<String>, // (given)
    ends: usize,             // (given)
    tiers: Vec<u8>,          // (given) by node
    links: Vec<Link>,        // (given)
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<String, LinkAttribute>, // (given)
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shared: Vec<u32>, // (given) in increasing order
    #[serde(skip)]
    unfolded: Option<Arc<Unfolded>>, // (derived) where some are shared
    #[serde(skip)]
    capacities: Vec<f64>, // (derived) those of `links`
    #[serde(skip)]
    by_name: Vec<(u64, u32)>, // (derived) the hash of every name and its node, in order
    #[serde(skip)]
    routing: Routing, // (derived) the graph as routing walks it
}

/// A topology as it is read, unchecked.
#[derive(Deserialize)]
struct Plain {
    name: String,
    node_names: Vec<String>,
    ends: usize,
    tiers: Vec<u8>,
    links: Vec<Link>,
    #[serde(default)]
    attributes: BTreeMap<String, LinkAttribute>,
    #[serde(default)]
    shared: Vec<u32>,
}

impl Topology {
    /// A network from its nodes and links.
    ///
    /// - `name`: the name of the network.
    /// - `node_names`: one name per node.
    /// - `ends`: how many nodes, counted from the first, are ends.
    /// - `tiers`: one per node, see [`Topology`].
    /// - `links`: link `l` of every path is `links[l]`.
    ///
    /// O(links + nodes log nodes).
    ///
    /// # Errors
    /// - [`Error::Length`] unless there is one tier per node.
    /// - [`Error::Capacity`] for a capacity that is negative or not a number.
    /// - [`Error::Stopped`].
    /// - [`Error::Topology`] for fewer than two ends or more than there are nodes, two nodes of one name, a link from
    ///   or to a node that does not exist, a link from a node to itself, and more nodes or links than a `u32` can
    ///   number.
    pub fn new(
        name: impl Into<String>,
        node_names: Vec<String>,
        ends: usize,
        tiers: Vec<u8>,
        links: Vec<Link>,
    ) -> Result<Self> {
        let nodes = node_names.len();
        for (what, count) in [("nodes", nodes), ("links", links.len())] {
            if u32::try_from(count).is_err() {
                return Err(too_many(what, count));
            }
        }
        // Invariant 1: from 2 to nodes ends.
        if nodes < 2 {
            let found = if nodes == 0 { "none" } else { "one" };
            return Err(Error::Topology(format!("a network needs at least two nodes, this one has {found}")));
        }
        if ends < 2 || ends > nodes {
            return Err(Error::Topology(format!(
                "ends is {ends} in a network of {nodes} nodes, expected at least 2 and at most as many as nodes"
            )));
        }
        // Invariant 2: one tier per node, and a name of its own.
        check_length("tiers", tiers.len(), nodes, "node")?;
        let (mut by_name, mut pacer) = (Vec::with_capacity(nodes), Pacer::new());
        for (node, name) in (0..).zip(&node_names) {
            by_name.push((hash_of(name), node));
            pacer.did(1)?;
        }
        by_name.sort_unstable();
        let namesake = |place: usize| {
            let (hash, node) = by_name[place];
            let mut alike = by_name[..place].iter().rev().take_while(|other| other.0 == hash).map(|other| other.1);
            Some((node, alike.find(|&other| node_names[other as usize] == node_names[node as usize])?))
        };
        if let Some((node, first)) = (0..nodes).filter_map(namesake).min() {
            let shared = &node_names[node as usize];
            return Err(Error::Topology(format!("nodes {first} and {node} are both named {shared:?}")));
        }
        for (link, &Link { from, to, capacity }) in links.iter().enumerate() {
            pacer.did(1)?;
            // Invariant 3: links join two different nodes.
            if let Some(node) = [from, to].into_iter().find(|&node| node as usize >= nodes) {
                let expected = expected_below("node", nodes);
                return Err(Error::Topology(format!("link {link} names node {node}, {expected}")));
            }
            if from == to {
                let node = &node_names[from as usize];
                return Err(Error::Topology(format!("link {link} runs from {node} to itself")));
            }
            // Invariant 4: capacities are not negative.
            check_capacity(link, capacity)?;
        }
        let capacities = links.iter().map(|link| link.capacity).collect();
        interrupt::check()?;
        let routing = Routing::new(nodes, ends, &links)?;
        Ok(Self {
            name: name.into(),
            node_names,
            ends,
            tiers,
            links,
            attributes: BTreeMap::new(),
            shared: Vec::new(),
            unfolded: None,
            capacities,
            by_name,
            routing,
        })
    }

    /// This network under another name: `Topology::from_edges(text)?.named("Abilene")`.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// This network with other capacities, one per link.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one per link, [`Error::Capacity`] for one that is negative or not a number,
    /// [`Error::Stopped`].
    pub fn with_capacities(mut self, capacities: Vec<f64>) -> Result<Self> {
        check_length("capacities", capacities.len(), self.links.len(), "link")?;
        let mut reroutes = false;
        for (link, (&capacity, ends)) in capacities.iter().zip(&mut self.links).enumerate() {
            check_capacity(link, capacity)?;
            reroutes |= (capacity > 0.0) != (ends.capacity > 0.0);
            ends.capacity = capacity;
        }
        if reroutes {
            self.routing = Routing::new(self.node_names.len(), self.ends, &self.links)?;
        }
        Self { capacities, ..self }.with_these_capacities()
    }

    /// This network with some links failed: their capacity is 0, and no route takes them. All links keep their numbers.
    ///
    /// # Errors
    /// [`Error::UnknownLink`] for a link that does not exist.
    pub fn without(self, links: &[u32]) -> Result<Self> {
        let mut capacities = self.capacities.clone();
        for &link in links {
            let unknown = Error::UnknownLink { link: link.into(), links: capacities.len() };
            *capacities.get_mut(link as usize).ok_or(unknown)? = 0.0;
        }
        self.with_capacities(capacities)
    }

    /// The name of the network.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The capacity of every link, in the caller's unit.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// Every link: where from, where to, and its capacity.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// A name for every link, such as `server 3 -> rack 0`, of a shared one `server 3 - rack 0`. The second link
    /// between the same nodes in the same direction has ` #2` after its name, the third ` #3`. O(links), made anew by
    /// every call.
    pub fn link_names(&self) -> Vec<String> {
        let mut seen: HashMap<(u32, u32, bool), usize> = HashMap::with_capacity(self.links.len());
        let name = |(link, &Link { from, to, .. }): (u32, &Link)| {
            let shared = self.is_shared(link);
            let key = if shared { (from.min(to), from.max(to), true) } else { (from, to, false) };
            let nth = seen.entry(key).and_modify(|nth| *nth += 1).or_insert(1);
            let name = self.name_of_link(link);
            if *nth == 1 { name } else { format!("{name} #{nth}") }
        };
        (0..).zip(&self.links).map(name).collect()
    }

    /// The name of every node. The ends come first.
    pub fn node_names(&self) -> &[String] {
        &self.node_names
    }

    /// The name of every end.
    pub fn end_names(&self) -> &[String] {
        &self.node_names[..self.ends]
    }

    /// The integer that an end has for a name, written as integers are: `"-3"`, but neither `"007"` nor `"+1"`.
    pub fn integer_name(&self, end: usize) -> Option<i64> {
        let name = self.end_names().get(end)?;
        name.parse().ok().filter(|label: &i64| label.to_string() == *name)
    }

    /// Whether all ends have integers for names. An integer in a file is then a name, and else an index. O(ends).
    ///
    /// ```
    /// # use netnum_core::{Topology, Error};
    /// assert!(Topology::from_edges("256 7 1e9\n7 -1 1e9")?.has_integer_names());
    /// assert!(!Topology::from_edges("256 seven 1e9")?.has_integer_names());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn has_integer_names(&self) -> bool {
        (0..self.ends).all(|end| self.integer_name(end).is_some())
    }

    /// The tier of every node: 0 for ends, 1 for rack or edge switches, 2 for aggregation or spine, 3 for core.
    pub fn tiers(&self) -> &[u8] {
        &self.tiers
    }

    /// How many ends there are, at least 2. They are the nodes `0..ends`.
    pub fn ends(&self) -> usize {
        self.ends
    }

    /// The end of that name; `None` if no node has it, or one that is not an end. O(log nodes).
    ///
    /// ```
    /// # use netnum_core::{Topology, Error};
    /// let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10")?;
    /// assert_eq!(net.end("Houston"), Some(2));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn end(&self, name: &str) -> Option<usize> {
        self.node(name).filter(|&node| node < self.ends)
    }

    /// The node of that name; `None` if there is none. O(log nodes).
    pub fn node(&self, name: &str) -> Option<usize> {
        let hash = hash_of(name);
        let first = self.by_name.partition_point(|of_node| of_node.0 < hash);
        let alike = self.by_name[first..].iter().take_while(|of_node| of_node.0 == hash);
        alike.map(|&(_, node)| node as usize).find(|&node| self.node_names[node] == name)
    }

    /// The name of a node that is most like a text that names none, if one is near: letters' cases do not matter.
    /// O(nodes).
    ///
    /// ```
    /// # use netnum_core::{Topology, Error};
    /// let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10")?;
    /// assert_eq!(net.nearest_name("seatle"), Some("Seattle"));
    /// assert_eq!(net.nearest_name("London"), None);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn nearest_name(&self, text: &str) -> Option<&str> {
        node::nearest_name(text, &self.node_names)
    }
}

/// A line that says what network it is and how big: `leaf-spine, 144 servers, 360 links`.
impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.ends == self.node_names.len() { "nodes" } else { "servers" };
        let (ends, links) = (self.ends, self.links.len());
        write!(f, "{}, {ends} {word}, {links} link{}", self.name, if links == 1 { "" } else { "s" })?;
        self.disconnection().map_or(Ok(()), |disconnection| write!(f, "; {disconnection}"))
    }
}

impl TryFrom<Plain> for Topology {
    type Error = Error;

    fn try_from(plain: Plain) -> Result<Self> {
        let net = Self::new(plain.name, plain.node_names, plain.ends, plain.tiers, plain.links)?;
        // Invariant 5: a value per link.
        let net = net.with_shared(&plain.shared)?;
        plain.attributes.into_iter().try_fold(net, |net, (name, values)| net.with_attribute(name, values))
    }
}

fn hash_of(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

fn too_many(what: &str, count: impl fmt::Display) -> Error {
    Error::Topology(format!("a network of {count} {what}, expected at most {} (they are numbered by u32)", u32::MAX))
}
