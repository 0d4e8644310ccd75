//! The k shortest paths of every pair of ends, by the number of their links or by an attribute of these: each flow over
//! one of them, drawn evenly, spread evenly over all, or over all as the policy splits it.
//!
//! Unlike with ECMP these are also paths that are longer than the shortest: on wide-area networks, a pair seldom has
//! two of the same length. Flows of a failed path take the others, as in [`Split`](super::Split).

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use netnum_core::{KShortest, Topology};
use serde::{Deserialize, Serialize};

use super::path_sets::weight_of;
use super::split::Split;
use super::{Routing, RoutingEntry};
use crate::error::{Error, Result};
use crate::network::{NetworkState, Route};
use crate::workload::{DistinctPairs, FirstOfPair, Workload};

const NAME: &str = "k-shortest";

pub(super) const ENTRY: RoutingEntry = Entry {
    name: NAME,
    summary: "a random one of the k shortest paths for each flow, or all of them, evenly or as the policy splits",
    options: options::defaults::<KShortestOptions>,
    make: |given, seed| {
        let KShortestOptions { k, spread, pooled, disjoint, weight } = given.read()?;
        if spread && pooled {
            return Err(Error::option(&format!("routing {NAME:?}"), "pooled", pooled, "false where spread is true"));
        }
        let routing = KShortestPaths::new(seed, k)?.with_spread(spread).with_pooled(pooled).with_disjoint(disjoint);
        Ok(Box::new(routing.with_weight(weight)))
    },
};

/// An even choice among the k shortest paths.
#[derive(Debug, Clone)]
pub struct KShortestPaths {
    seed: u64,
    k: usize,
    spread: bool,
    pooled: bool,
    disjoint: bool,
    weight: Option<String>,
    pairs: DistinctPairs,
    split: Split,
}

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct KShortestOptions {
    k: usize,
    spread: bool,
    pooled: bool,
    disjoint: bool,
    weight: Option<String>,
}

impl Default for KShortestOptions {
    fn default() -> Self {
        Self { k: 4, spread: false, pooled: false, disjoint: false, weight: None }
    }
}

impl KShortestPaths {
    /// With the random draws of a seed, one of at most k ≥ 1 paths for every flow.
    ///
    /// # Errors
    /// [`netnum_core::Error::Option`] for a k of 0.
    pub fn new(seed: u64, k: usize) -> Result<Self> {
        if k == 0 {
            return Err(Error::option(&format!("routing {NAME:?}"), "k", 0, "at least 1"));
        }
        Ok(Self {
            seed,
            k,
            spread: false,
            pooled: false,
            disjoint: false,
            weight: None,
            pairs: DistinctPairs::default(),
            split: Split::empty(seed),
        })
    }

    /// With every flow spread over all of the paths.
    #[must_use]
    pub fn with_spread(self, spread: bool) -> Self {
        Self { spread, ..self }
    }

    /// With all of the paths as the pool of every flow, over which the policy splits it.
    #[must_use]
    pub fn with_pooled(self, pooled: bool) -> Self {
        Self { pooled, ..self }
    }

    /// With the paths that are shortest by an attribute of links, such as a delay; by their number of links without.
    #[must_use]
    pub fn with_weight(self, weight: Option<String>) -> Self {
        Self { weight, ..self }
    }

    /// With paths of a pair that have no link in common.
    #[must_use]
    pub fn with_disjoint(self, disjoint: bool) -> Self {
        Self { disjoint, ..self }
    }
}

impl Routing for KShortestPaths {
    fn name(&self) -> &str {
        NAME
    }

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.pairs = DistinctPairs::default();
        let split = Split::empty(self.seed);
        self.split = match (self.pooled, self.spread) {
            (true, _) => split.pooled()?,
            (false, true) => split.spread(),
            (false, false) => split,
        };
        self.add_flows(net, workload, 0)
    }

    fn add_flows(&mut self, net: &Topology, workload: &Workload, first: usize) -> Result<()> {
        let weight = weight_of(net, self.weight.as_deref())?;
        let pairs = self.pairs.add(workload)?;
        if !pairs.is_empty() {
            let sources: Vec<usize> = pairs.iter().map(|pair| pair.source).collect();
            let destinations: Vec<usize> = pairs.iter().map(|pair| pair.destination).collect();
            if let Some(place) = net.has_path(&sources, &destinations)?.iter().position(|joined| !joined) {
                let FirstOfPair { flow, source, destination } = pairs[place];
                let [from, to] = [source, destination].map(|end| &net.node_names()[end]);
                let message = format!("routing {NAME:?}, flow {flow}: paths from {from} to {to}: there is no route");
                return Err(netnum_core::Error::Topology(message).into());
            }
            let which = KShortest::new(self.k).with_disjoint(self.disjoint).with_weight(weight);
            let (paths, of_pair) = net.k_shortest_paths(&sources, &destinations, &which)?;
            let (mut at, mut pacer) = (0, Pacer::new());
            for own in of_pair.chunk_by(|one, other| one == other) {
                let pair = &pairs[own[0] as usize];
                let own_paths = (at..at + own.len()).map(|path| paths.links(path));
                self.split.add_pair((pair.source, pair.destination), own_paths);
                at += own.len();
                pacer.did(own.len())?;
            }
        }
        self.split.add_flows(net, workload, first)
    }

    fn route(&mut self, flow: usize, network: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        self.split.route(flow, network, route)
    }

    fn pools(&self) -> bool {
        self.pooled
    }

    fn reroute(&mut self, flow: usize, network: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        self.split.reroute(flow, network, route)
    }
}
