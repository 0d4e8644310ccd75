//! Shared links: one capacity for the sum of both directions.
//!
//! Such a link is walked either way. Routing sees it as two links of a network of its own, the *unfolded* one, whose
//! links are those of this one in order, each shared one followed by its way back. A path of the unfolded network is
//! one here once its links are named as here.

use std::sync::Arc;

use super::graph::Routing;
use super::{Link, Topology};
use crate::error::{Error, Result};
use crate::paths::Paths;

/// A network in which every link has one direction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unfolded {
    pub(super) net: Topology,
    /// The link of every link there.
    links: Vec<u32>,
}

impl Unfolded {
    fn of(net: &Topology) -> Result<Self> {
        let (mut both, mut links) = (Vec::new(), Vec::new());
        for (number, &link) in (0..).zip(&net.links) {
            both.push(link);
            links.push(number);
            if net.is_shared(number) {
                both.push(Link { from: link.to, to: link.from, ..link });
                links.push(number);
            }
        }
        let (name, names, tiers) = (net.name.clone(), net.node_names.clone(), net.tiers.clone());
        Ok(Self { net: Topology::new(name, names, net.ends, tiers, both)?, links })
    }

    /// Paths there by the links of the network here.
    pub(super) fn folded(&self, paths: &Paths) -> Paths {
        let indices = paths.indices().iter().map(|&link| self.links[link as usize]).collect();
        Paths::new(paths.indptr().to_vec(), indices).expect("the paths were some")
    }

    /// The link here of a link there.
    pub(super) fn link(&self, link: u32) -> u32 {
        self.links[link as usize]
    }

    /// What every link there has, from what every link here has.
    pub(super) fn spread(&self, values: &[f64]) -> Vec<f64> {
        self.links.iter().map(|&link| values[link as usize]).collect()
    }
}

impl Topology {
    /// This network with these links shared, and no others: walked either way, with one capacity for the sum of both
    /// directions, and one price. They run from the node of the smaller number to the other.
    ///
    /// # Errors
    /// [`Error::UnknownLink`] for a link that does not exist; [`Error::Stopped`].
    ///
    /// ```
    /// # use netnum_core::{Link, Topology, Error};
    /// let link = |from, to| Link { from, to, capacity: 10.0 };
    /// let names = ["a", "b", "c"].map(String::from).to_vec();
    /// let net = Topology::new("line", names, 3, vec![0; 3], vec![link(0, 1), link(1, 2)])?.with_shared(&[0, 1])?;
    /// assert_eq!((net.link(0, 1)?, net.link(1, 0)?), (0, 0));
    /// assert_eq!(net.route(&[2, 1, 0])?, [1, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_shared(mut self, links: &[u32]) -> Result<Self> {
        let count = self.links.len();
        if let Some(&link) = links.iter().find(|&&link| link as usize >= count) {
            return Err(Error::UnknownLink { link: link.into(), links: count });
        }
        self.shared = links.to_vec();
        self.shared.sort_unstable();
        self.shared.dedup();
        for &link in &self.shared {
            let Link { from, to, .. } = &mut self.links[link as usize];
            if from > to {
                std::mem::swap(from, to);
            }
        }
        self.routing = Routing::new(self.node_names.len(), self.ends, &self.links)?;
        self.unfolded = if self.shared.is_empty() { None } else { Some(Arc::new(Unfolded::of(&self)?)) };
        Ok(self)
    }

    /// The shared links, in increasing order.
    pub fn shared(&self) -> &[u32] {
        &self.shared
    }

    /// Whether a link is shared by both directions.
    pub fn is_shared(&self, link: u32) -> bool {
        self.shared.binary_search(&link).is_ok()
    }

    /// The node that a link leads to from one of its nodes; `None` from any other, against the direction of a link that
    /// is not shared, and for a link that does not exist.
    pub fn beyond(&self, link: u32, node: usize) -> Option<usize> {
        let &Link { from, to, .. } = self.links.get(link as usize)?;
        match node {
            _ if from as usize == node => Some(to as usize),
            _ if to as usize == node && self.is_shared(link) => Some(from as usize),
            _ => None,
        }
    }

    /// With the capacities of the links in the unfolded network, too.
    pub(super) fn with_these_capacities(mut self) -> Result<Self> {
        if let Some(unfolded) = &self.unfolded {
            let capacities = unfolded.spread(&self.capacities);
            let net = unfolded.net.clone().with_capacities(capacities)?;
            self.unfolded = Some(Arc::new(Unfolded { net, links: unfolded.links.clone() }));
        }
        Ok(self)
    }
}
