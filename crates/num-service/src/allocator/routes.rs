//! Paths of flowlets: ECMP by the five-tuple.
//!
//! A flowlet takes one of the shortest paths between its ends, the one whose number is a hash of its five-tuple
//! modulo their count. Switches hash by functions of their own, which a network of one's own may know and this does
//! not: where paths differ in what they share, the model of the network should be its edge alone (the paper's §6).
//!
//! Most hosts hang off a switch by one link up and one link down. Their paths are that link and the paths of the
//! switch, so that paths are searched for and kept per pair of switches.

use std::net::Ipv4Addr;
use std::sync::Arc;

use netnum_core::{Paths, Topology};
use rustc_hash::FxHashMap;

use crate::protocol::Flowlet;

/// Pairs whose paths are kept.
const KEPT: usize = 65_536;

#[derive(Default)]
pub(super) struct Routes {
    /// By node, once a path was asked for.
    own: Vec<Option<Own>>,
    /// By the nodes at which paths meet the rest of the network: without own links.
    of_pair: FxHashMap<(usize, usize), Option<Arc<Paths>>>,
}

/// The only links of a node, and the switch that they lead to.
#[derive(Debug, Clone, Copy)]
struct Own {
    up: u32,
    down: u32,
    switch: usize,
}

impl Routes {
    /// The links of a flowlet's path; none where no path joins its ends.
    pub(super) fn path(&mut self, net: &Topology, ends: (usize, usize), hash: u64) -> Option<Vec<u32>> {
        if ends.0 == ends.1 {
            return None;
        }
        if self.own.is_empty() {
            self.own = own_links(net);
        }
        let (first, last) = (self.own[ends.0], self.own[ends.1]);
        let meets = |end, own: Option<Own>| own.map_or(end, |own| own.switch);
        let pair = (meets(ends.0, first), meets(ends.1, last));
        if self.of_pair.len() >= KEPT {
            self.of_pair.clear();
        }
        let paths = self.of_pair.entry(pair).or_insert_with(|| {
            let paths = net.paths(ends.0, ends.1).ok()?;
            let inner = |path: &[u32]| path[first.iter().len()..path.len() - last.iter().len()].to_vec();
            Some(Arc::new(Paths::from_lists(paths.iter().map(inner))))
        });
        let paths = paths.as_ref().filter(|paths| !paths.is_empty())?;
        let inner = paths.links((hash % paths.len() as u64) as usize).iter().copied();
        Some(first.map(|own| own.up).into_iter().chain(inner).chain(last.map(|own| own.down)).collect())
    }

    /// The network has changed.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// By node, its links where it has one link up and one down that work, to one switch that has others.
fn own_links(net: &Topology) -> Vec<Option<Own>> {
    let nodes = net.node_names().len();
    let (mut leaving, mut entering) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for (number, link) in (0..).zip(net.links()).filter(|(_, link)| link.capacity > 0.0) {
        leaving[link.from as usize].push(number);
        entering[link.to as usize].push(number);
    }
    let own = |node: usize| {
        let (&[up], &[down]) = (leaving[node].as_slice(), entering[node].as_slice()) else { return None };
        let switch = net.links()[up as usize].to as usize;
        let hangs = net.links()[down as usize].from as usize == switch && leaving[switch].len() > 1;
        hangs.then_some(Own { up, down, switch })
    };
    (0..nodes).map(own).collect()
}

/// FNV-1a of the five-tuple: addresses, protocol 6, ports, as they stand in packets.
pub(super) fn hash(source: Ipv4Addr, flowlet: &Flowlet) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    take(&source.octets());
    take(&flowlet.destination.octets());
    take(&[6]);
    take(&flowlet.source_port.to_be_bytes());
    take(&flowlet.destination_port.to_be_bytes());
    // The low bits of FNV-1a are weak: the remainder by a small count is taken of all.
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_network_whatever_pair_of_a_rack_was_asked_for_first() {
        let fabric = Topology::leaf_spine(3, 2, 2, 1.0, 1.0).unwrap();
        let broken = fabric.clone().without(&[0]).unwrap();
        // A host with two links, a switch that is an end, a pair that nothing else joins.
        let mixed = Topology::from_edges("a s 1\nb s 1\nc s 1\nc t 1\nd t 1\ns t 1\nx y 1").unwrap();
        for net in [fabric, broken, mixed] {
            let mut routes = Routes::default();
            for (from, to) in (0..net.ends()).flat_map(|from| (0..net.ends()).map(move |to| (from, to))) {
                let all = net
                    .paths(from, to)
                    .map_or_else(|_| Vec::new(), |paths| paths.iter().map(<[u32]>::to_vec).collect());
                for hash in 0..4 {
                    let expected = all.get(hash % all.len().max(1)).cloned();
                    assert_eq!(routes.path(&net, (from, to), hash as u64), expected, "{from} to {to} of {net}");
                }
            }
        }
    }
}
