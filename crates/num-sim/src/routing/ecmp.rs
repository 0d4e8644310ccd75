//! Equal-cost multipath: one shortest path per flow, drawn as switches hash, and kept for as long as it works.
//!
//! Under an ideal hash flow i of a workload takes the path that [`Topology::ecmp_by`] draws, hop by hop, for pair i of
//! the same seed. One with a [skew](super::hash) picks among all shortest paths. When a link fails the switches hash
//! its flows over the paths that are left, at once.

use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use netnum_core::{Paths, Topology};
use serde::{Deserialize, Serialize};

use super::hash::Hash;
use super::path_sets::{PathSets, weight_of};
use super::{Routing, RoutingEntry};
use crate::error::Result;
use crate::network::{NetworkState, Route};
use crate::workload::Workload;

const NAME: &str = "ecmp";

pub(super) const ENTRY: RoutingEntry = Entry {
    name: NAME,
    summary: "a random shortest path for each flow, drawn once",
    options: options::defaults::<EcmpOptions>,
    make: |given, seed| {
        let EcmpOptions { skew, weight } = given.read()?;
        Ok(Box::new(Ecmp::new(seed).with_skew(skew)?.with_weight(weight)))
    },
};

/// Static equal-cost multipath.
#[derive(Debug, Clone)]
pub struct Ecmp {
    seed: u64,
    hash: Hash,
    skewed: bool,
    /// The attribute of links by which paths are shortest, unless by their number of links.
    weight: Option<String>,
    /// Whose flows are routed: the path of one does not tell its direction over a link that both directions share.
    workload: Workload,
    /// The ends of the flows that were added to it.
    added: Vec<(usize, usize)>,
    /// By flow, unless skewed.
    paths: Paths,
    /// If skewed.
    path_sets: PathSets,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EcmpOptions {
    skew: f64,
    weight: Option<String>,
}

impl Ecmp {
    /// With an ideal hash, from a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            hash: Hash::ideal(seed),
            skewed: false,
            weight: None,
            workload: Workload::default(),
            added: Vec::new(),
            paths: Paths::from_lists([[0; 0]; 0]),
            path_sets: PathSets::default(),
        }
    }

    /// With a skew s of the hash: from (1 + s)/P to (1 − s)/P of all flows take each of P paths. From 0, which is
    /// ideal, to 1.
    ///
    /// # Errors
    /// [`netnum_core::Error::Option`] for a skew outside 0…1.
    pub fn with_skew(self, skew: f64) -> Result<Self> {
        Ok(Self { hash: Hash::new(NAME, self.seed, skew)?, skewed: skew > 0.0, ..self })
    }

    /// With the paths that are shortest by an attribute of links, such as a cost; by their number of links without.
    #[must_use]
    pub fn with_weight(self, weight: Option<String>) -> Self {
        Self { weight, ..self }
    }
}

impl Routing for Ecmp {
    fn name(&self) -> &str {
        NAME
    }

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        (self.workload, self.added) = (workload.clone(), Vec::new());
        if self.skewed {
            self.path_sets = PathSets::new(NAME, net, workload, self.weight.as_deref())?;
        } else {
            let weight = weight_of(net, self.weight.as_deref())?;
            self.paths = net.ecmp_by(workload.sources(), workload.destinations(), weight, self.seed)?;
        }
        Ok(())
    }

    fn add_flows(&mut self, net: &Topology, workload: &Workload, first: usize) -> Result<()> {
        if self.skewed {
            self.path_sets.add(NAME, net, workload, self.weight.as_deref())?;
        } else {
            let weight = weight_of(net, self.weight.as_deref())?;
            let (sources, destinations) = (&workload.sources()[first..], &workload.destinations()[first..]);
            let paths = net.ecmp_from(first, sources, destinations, weight, self.seed)?;
            paths.iter().for_each(|path| self.paths.push(path));
        }
        self.added.extend((first..workload.len()).map(|flow| workload.pair(flow)));
        Ok(())
    }

    fn route(&mut self, flow: usize, _network: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        if self.skewed {
            let paths = self.path_sets.of(flow);
            route.take(paths.links(self.hash.pick(flow, 0, paths.len())));
        } else {
            route.take(self.paths.links(flow));
        }
        Ok(())
    }

    fn reroute(&mut self, flow: usize, network: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        if network.works(route.links()) {
            return Ok(false);
        }
        let (source, destination) = match flow.checked_sub(self.workload.len()) {
            None => self.workload.pair(flow),
            Some(place) => self.added[place],
        };
        let weight = weight_of(network.net, self.weight.as_deref())?;
        let all = network.net.paths_by(source, destination, weight)?;
        let left: Vec<&[u32]> = all.iter().filter(|path| network.works(path)).collect();
        if left.is_empty() {
            return Ok(false);
        }
        route.take(left[self.hash.pick(flow, 0, left.len())]);
        Ok(true)
    }
}
