//! The file that maps addresses to nodes.
//!
//! ```text
//! # address    name in its certificate    node of the network
//! 10.0.0.1     web-1.example              server 0
//! 10.0.0.2     web-1.example              server 0
//! ```
//!
//! One address a line. The node is the rest of the line, so that names may have blanks. All addresses of a name are at
//! one node: an endpoint is known by the name in its certificate, and sends from the first of its addresses. Of names,
//! as in certificates, capitals and small letters are the same.

use std::net::Ipv4Addr;

use netnum_core::Topology;
use rustc_hash::FxHashMap;

/// An endpoint that may talk to the allocator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The name in its certificate, in small letters.
    pub name: String,
    /// The first of its addresses.
    pub address: Ipv4Addr,
    /// Its node.
    pub node: usize,
}

/// All endpoints, numbered in the order of the file, and the nodes of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    hosts: Vec<Host>,
    node_of: FxHashMap<Ipv4Addr, usize>,
}

/// A line that is wrong.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadHosts {
    line: usize,
    what: String,
}

impl Hosts {
    /// Reads a file for such a network.
    ///
    /// # Errors
    /// [`BadHosts`] with the number of the line, counted from 1: fewer than three fields, an address that is not IPv4
    /// or comes twice, a node that the network does not have, a name at two nodes.
    pub fn read(text: &str, net: &Topology) -> Result<Self, BadHosts> {
        let mut hosts: Vec<Host> = Vec::new();
        let (mut by_name, mut node_of) = (FxHashMap::default(), FxHashMap::default());
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: String| BadHosts { line: number, what };
            let next = |text: &'_ str| {
                text.trim_start().split_once(char::is_whitespace).map(|(a, b)| (a.to_string(), b.to_string()))
            };
            let Some((address, (name, node))) = next(line).and_then(|(address, rest)| Some((address, next(&rest)?)))
            else {
                return Err(wrong(format!("found {line:?}, expected an address, a name and a node")));
            };
            let name = name.to_ascii_lowercase();
            let address: Ipv4Addr =
                address.parse().map_err(|_| wrong(format!("{address:?} is not an IPv4 address")))?;
            let Some(end) = net.end(node.trim()) else {
                let nearest = net.nearest_name(node.trim()).map(|name| format!(", the nearest is {name:?}"));
                return Err(wrong(format!("the network has no node {:?}{}", node.trim(), nearest.unwrap_or_default())));
            };
            if node_of.insert(address, end).is_some() {
                let what = "another program of a host has a line with an address that no other line has";
                return Err(wrong(format!("{address} is named twice: {what}")));
            }
            match by_name.get(&name) {
                None => {
                    by_name.insert(name.clone(), hosts.len());
                    hosts.push(Host { name, address, node: end });
                }
                Some(&known) if hosts[known].node == end => {}
                Some(_) => return Err(wrong(format!("{name} is at another node above"))),
            }
        }
        Ok(Self { hosts, node_of })
    }

    /// All endpoints.
    pub fn all(&self) -> &[Host] {
        &self.hosts
    }

    /// The node of an address; none for an address that is not in the file.
    pub fn node_of(&self, address: Ipv4Addr) -> Option<usize> {
        self.node_of.get(&address).copied()
    }
}
