//! Equal-cost multipath: one shortest path per flow, drawn as switches hash, and kept for as long as it works.
//!
//! Under an ideal hash flow i of a workload takes the path that [`Topology::ecmp`] draws, hop by hop, for pair i of the
//! same seed. One with a [skew](super::hash) picks among all shortest paths. When a link fails the switches hash its flows
//! over the paths that are left, at once.

use netnum_core::{Paths, Topology};
use serde::{Deserialize, Serialize};

use super::hash::Hash;
use super::path_sets::PathSets;
use super::{NetworkState, Route, Routing};
use crate::error::Result;
use crate::workload::Workload;

/// What its name is.
const NAME: &str = "ecmp";

/// Static equal-cost multipath.
#[derive(Debug, Clone)]
pub struct Ecmp {
    seed: u64,
    hash: Hash,
    skewed: bool,
    /// By flow, unless skewed.
    paths: Paths,
    /// If skewed.
    choices: PathSets,
}

/// How [`Ecmp`] hashes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EcmpOptions {
    /// How much the hash prefers some paths, s: from (1 + s)/P to (1 − s)/P of all flows take each of P paths. From 0, the
    /// default, to 1.
    pub skew: f64,
}

impl Ecmp {
    /// That of a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            hash: Hash::ideal(seed),
            skewed: false,
            paths: Paths::from_lists([[0; 0]; 0]),
            choices: PathSets::default(),
        }
    }

    /// The same, with options.
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for a skew outside 0…1.
    pub fn with(seed: u64, options: EcmpOptions) -> Result<Self> {
        let (hash, skewed) = (Hash::new(NAME, seed, options.skew)?, options.skew > 0.0);
        Ok(Self { hash, skewed, ..Self::new(seed) })
    }
}

impl Routing for Ecmp {
    fn name(&self) -> &str {
        NAME
    }

    fn start(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        if self.skewed {
            self.choices = PathSets::new(NAME, net, workload)?;
        } else {
            self.paths = net.ecmp(workload.sources(), workload.destinations(), self.seed)?;
        }
        Ok(())
    }

    fn route(&mut self, flow: usize, _now: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        if self.skewed {
            let paths = self.choices.of(flow);
            route.take(paths.links(self.hash.pick(flow, 0, paths.len())));
        } else {
            route.take(self.paths.links(flow));
        }
        Ok(())
    }

    fn reroute(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        let links = route.links();
        if now.works(links) {
            return Ok(false);
        }
        let link = |place: usize| &now.net.links()[links[place] as usize];
        let all = now.net.paths(link(0).from as usize, link(links.len() - 1).to as usize)?;
        let left: Vec<&[u32]> = all.iter().filter(|path| now.works(path)).collect();
        if left.is_empty() {
            return Ok(false);
        }
        route.take(left[self.hash.pick(flow, 0, left.len())]);
        Ok(true)
    }
}
