//! Paths of flowlets: ECMP by the five-tuple.
//!
//! A flowlet takes one of the shortest paths between its ends, the one whose number is a hash of its five-tuple
//! modulo their count. Switches hash by functions of their own, which a network of one's own may know and this does
//! not: where paths differ in what they share, the model of the network should be its edge alone (the paper's §6).

use std::net::Ipv4Addr;
use std::sync::Arc;

use netnum_core::{Paths, Topology};
use rustc_hash::FxHashMap;

use crate::protocol::Flowlet;

/// Pairs whose paths are kept.
const KEPT: usize = 65_536;

#[derive(Default)]
pub(super) struct Routes {
    of_pair: FxHashMap<(usize, usize), Option<Arc<Paths>>>,
}

impl Routes {
    /// The links of a flowlet's path; none where no path joins its ends.
    pub(super) fn path(&mut self, net: &Topology, ends: (usize, usize), hash: u64) -> Option<Vec<u32>> {
        if self.of_pair.len() >= KEPT {
            self.of_pair.clear();
        }
        let paths = self.of_pair.entry(ends).or_insert_with(|| net.paths(ends.0, ends.1).ok().map(Arc::new));
        let paths = paths.as_ref().filter(|paths| !paths.is_empty())?;
        Some(paths.links((hash % paths.len() as u64) as usize).to_vec())
    }

    /// The network has changed.
    pub(super) fn clear(&mut self) {
        self.of_pair.clear();
    }
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
