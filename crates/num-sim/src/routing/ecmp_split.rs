//! Equal-cost multipath by packet: every node splits a flow evenly over the links by which shortest paths leave it
//! ([`Topology::ecmp_split`]). When a link fails, nodes split over the paths that are left, at once.
//!
//! Unlike an even split over all shortest paths ([`Spray`](super::Spray)) it is made hop by hop, as routers do.

use std::collections::HashMap;
use std::collections::hash_map;

use netnum_core::internal::registry::Entry;
use netnum_core::{EcmpSplit as How, Paths, Topology};

use super::path_sets::{ByWeight, weight_of};
use super::{Routing, RoutingEntry};
use crate::error::Result;
use crate::network::{NetworkState, Route};
use crate::workload::{DistinctPairs, FirstOfPair, Workload};

const NAME: &str = "ecmp-split";

pub(super) const ENTRY: RoutingEntry = Entry {
    name: NAME,
    summary: "an even split at every node over the links of shortest paths",
    options: netnum_core::internal::options::defaults::<ByWeight>,
    make: |given, _| Ok(Box::new(EcmpSplit::new().with_weight(given.read::<ByWeight>()?.weight))),
};

/// An even split at every node, over the links by which shortest paths leave it.
#[derive(Debug, Clone, Default)]
pub struct EcmpSplit {
    /// The attribute of links by which paths are shortest, unless by their number of links.
    weight: Option<String>,
    pairs: Vec<(usize, usize)>,
    /// By flow, its pair.
    known: DistinctPairs,
    /// By pair, while all links work: a path of one of the lists, one list for each time that new pairs came.
    places: Vec<(u32, u32)>,
    lists: Vec<Paths>,
    left: Left,
}

/// The splits while some links have failed.
#[derive(Debug, Clone, Default)]
struct Left {
    /// Whether each link works, and the network in which those that do not have no capacity.
    works: Vec<bool>,
    net: Option<Topology>,
    /// By pair; none where no path is left.
    paths: HashMap<u32, Option<Paths>>,
}

impl EcmpSplit {
    /// Over the paths with the fewest links.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the paths that are shortest by an attribute of links, such as a cost; by their number of links without.
    #[must_use]
    pub fn with_weight(self, weight: Option<String>) -> Self {
        Self { weight, ..self }
    }

    /// The split of a pair while all links work, as a path of a list.
    fn path(&self, pair: u32) -> (&Paths, usize) {
        let (list, path) = self.places[pair as usize];
        (&self.lists[list as usize], path as usize)
    }

    /// The split of a pair over the links that work; none where no path is left.
    fn path_left(&mut self, pair: u32, network: &NetworkState<'_>) -> Result<Option<&Paths>> {
        let Self { weight, pairs, left, .. } = self;
        let works = network.capacities.iter().map(|&capacity| capacity > 0.0);
        if left.net.is_none() || !works.clone().eq(left.works.iter().copied()) {
            left.works = works.collect();
            left.net = Some(network.net.clone().with_capacities(network.capacities.to_vec())?);
            left.paths.clear();
        }
        let Left { net: Some(net), paths, .. } = left else { return Ok(None) };
        let entry = match paths.entry(pair) {
            hash_map::Entry::Occupied(entry) => return Ok(entry.into_mut().as_ref()),
            hash_map::Entry::Vacant(entry) => entry,
        };
        let (source, destination) = pairs[pair as usize];
        let how = How::new().with_weight(weight_of(net, weight.as_deref())?);
        let found = match net.ecmp_split(&[source], &[destination], &how) {
            Ok(found) => Some(found),
            Err(netnum_core::Error::Topology(_)) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(entry.insert(found).as_ref())
    }
}

impl Routing for EcmpSplit {
    fn name(&self) -> &str {
        NAME
    }

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        *self = Self::new().with_weight(self.weight.take());
        self.add_flows(net, workload, 0)
    }

    fn add_flows(&mut self, net: &Topology, workload: &Workload, _first: usize) -> Result<()> {
        let weight = weight_of(net, self.weight.as_deref())?;
        let new = self.known.add(workload)?;
        if new.is_empty() {
            return Ok(());
        }
        let ends = new.iter().map(|pair| (pair.source, pair.destination));
        let (sources, destinations): (Vec<usize>, Vec<usize>) = ends.clone().unzip();
        let found = net.ecmp_split(&sources, &destinations, &How::new().with_weight(weight));
        let found = found.map_err(|error| {
            // The first flow that has none, by its number.
            let lost = new.iter().find_map(|&FirstOfPair { flow, source, destination }| {
                let error = net.paths_by(source, destination, weight).err()?;
                Some(netnum_core::Error::Topology(format!("routing {NAME:?}, flow {flow}: {error}")))
            });
            lost.filter(|_| !matches!(error, netnum_core::Error::Stopped)).unwrap_or(error)
        })?;
        let list = self.lists.len() as u32;
        self.places.extend((0..new.len() as u32).map(|path| (list, path)));
        self.pairs.extend(ends);
        self.lists.push(found);
        Ok(())
    }

    fn route(&mut self, flow: usize, _network: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        let (list, path) = self.path(self.known.of[flow]);
        route.take_path(list, path);
        Ok(())
    }

    fn reroute(&mut self, flow: usize, network: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        let pair = self.known.of[flow];
        let (list, path) = self.path(pair);
        if network.works(list.links(path)) {
            route.take_path(list, path);
            return Ok(true);
        }
        let left = self.path_left(pair, network)?;
        left.iter().for_each(|left| route.take_path(left, 0));
        Ok(left.is_some())
    }
}
