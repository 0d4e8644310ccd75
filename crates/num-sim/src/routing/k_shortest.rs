//! The k shortest paths of every pair of ends, by the number of their links: each flow over one of them, drawn evenly, or
//! spread evenly over all.
//!
//! Unlike with ECMP these are also paths that are longer than the shortest: on wide-area networks, where a pair seldom has
//! two of the same length, they are what there is to choose from. Flows of a failed path take the others, as in
//! [`Split`](super::Split).

use std::collections::HashSet;

use netnum_core::interrupt::Pacer;
use netnum_core::{KShortest as Which, Topology};
use serde::{Deserialize, Serialize};

use super::split::Split;
use super::{NetworkState, Route, Routing};
use crate::error::{Error, Result};
use crate::workload::Workload;

/// What its name is.
const NAME: &str = "k-shortest";

/// An even choice among the k shortest paths.
#[derive(Debug, Clone)]
pub struct KShortestPaths {
    seed: u64,
    options: KShortestOptions,
    split: Option<Split>,
}

/// How [`KShortestPaths`] chooses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KShortestOptions {
    /// The most paths of a pair, at least 1; 4 by default.
    pub k: usize,
    /// Whether every flow is spread over all of them.
    pub spread: bool,
    /// Whether the paths of a pair may have no link in common.
    pub disjoint: bool,
}

impl Default for KShortestOptions {
    fn default() -> Self {
        Self { k: 4, spread: false, disjoint: false }
    }
}

impl KShortestPaths {
    /// That of a seed.
    ///
    /// # Errors
    /// [`Error::Option`] for a k of 0.
    pub fn new(seed: u64, options: KShortestOptions) -> Result<Self> {
        if options.k == 0 {
            return Err(Error::option(&format!("routing {NAME:?}"), "k", 0, "at least 1"));
        }
        Ok(Self { seed, options, split: None })
    }
}

impl Routing for KShortestPaths {
    fn name(&self) -> &str {
        NAME
    }

    fn start(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        let (mut known, mut pacer) = (HashSet::new(), Pacer::new());
        let (mut sources, mut destinations, mut flows) = (vec![], vec![], vec![]);
        for (flow, (&source, &destination)) in workload.sources().iter().zip(workload.destinations()).enumerate() {
            pacer.did(1)?;
            if known.insert((source, destination)) {
                sources.push(source);
                destinations.push(destination);
                flows.push(flow);
            }
        }
        if let Some(pair) = net.has_path(&sources, &destinations)?.iter().position(|joined| !joined) {
            let [from, to] = [sources[pair], destinations[pair]].map(|end| &net.node_names()[end]);
            let message =
                format!("routing {NAME:?}, flow {}: paths from {from} to {to}: there is no route", flows[pair]);
            return Err(netnum_core::Error::Topology(message).into());
        }
        let KShortestOptions { k, spread, disjoint } = self.options;
        let (paths, _) = net.k_shortest_paths(&sources, &destinations, &Which::new(k).with_disjoint(disjoint))?;
        let shares = vec![1.0; paths.len()];
        let split = Split::new(net, paths, shares, self.seed)?;
        let split = self.split.insert(if spread { split.spread() } else { split });
        split.start(net, workload)
    }

    fn route(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        self.started().route(flow, now, route)
    }

    fn reroute(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        self.started().reroute(flow, now, route)
    }
}

impl KShortestPaths {
    fn started(&mut self) -> &mut Split {
        self.split.as_mut().expect("start comes before any route")
    }
}
