//! Adaptive splitting, the ideal that DeTail's per-packet decisions approach: at every moment the best split of all
//! flows over their shortest paths that work.
//!
//! ```text
//! best:   1. max-min rates as high as any split allows, the lowest first
//!         2. every flow uses only those of its paths on which the most is free: of two that it has, p and q,
//!            min over the links of p but not of q of (capacity − load)  ≥  the same of q,  if p carries any of it
//! ```
//!
//! The first fixes the rates of flows, as max-min rates do; [`max_min`] finds it, to some 1e-10. The second fixes the
//! paths where there is more than one solution, so that links with other load are used last. From the even split, or
//! from that of `max_min` if the even one does not allow these rates, one flow after the other moves from p to q half
//! of what q has more, until nothing does: each move raises the lowest of what is free on the links it changes, and no
//! link is ever overloaded. In a symmetric Clos nothing moves, and the split is that of spraying.
//!
//! Every arrival and end costs as much as `max_min` does, some pivots per flow: a reference, not for speed.
//!
//! Source: Zats et al., *DeTail: Reducing the Flow Completion Time Tail in Datacenter Networks*, SIGCOMM 2012, §4.1.

use netnum_core::{AlphaFair, Paths, Problem, Topology, max_min};

use super::path_sets::PathSets;
use super::spray::evenly;
use super::{Moves, Routing, RoutingEntry};
use crate::error::Result;
use crate::network::{Flows, NetworkState, Route};
use crate::registry::{Entry, Options};
use crate::workload::Workload;

/// Its name.
const NAME: &str = "adaptive";
/// A link may be overloaded by this fraction of its capacity: rounding.
const ROUNDING: f64 = 1e-12;
/// A path with less than this fraction of its flow has none, and a smaller fraction does not move.
const NOTHING: f64 = 1e-9;
/// The most rounds of moves; what is left to move then is little.
const ROUNDS: usize = 1000;

/// As a routing by its name.
pub(super) const ENTRY: RoutingEntry = Entry {
    name: NAME,
    summary: "the best split over all shortest paths at every moment, DeTail's ideal",
    options: Options::new,
    build: |_| Ok(Box::new(Adaptive::new())),
};

/// The best split at every moment.
#[derive(Debug, Clone, Default)]
pub struct Adaptive {
    paths: PathSets,
}

/// A flow, split over its paths.
struct Split<'a> {
    slot: u32,
    paths: Vec<&'a [u32]>,
    rates: Vec<f64>,
    rate: f64,
}

impl Adaptive {
    /// The best split at every moment.
    pub fn new() -> Self {
        Self::default()
    }

    /// The flows that have a path that works, in order of arrival, at the rates of `max_min`.
    fn fastest(&self, network: &NetworkState<'_>, flows: &Flows) -> Result<Vec<Split<'_>>> {
        let number = |slot: u32| flows.flow(slot).number as usize;
        let split = |&slot: &u32| {
            let paths: Vec<&[u32]> = self.paths.of(number(slot)).iter().filter(|path| network.works(path)).collect();
            (!paths.is_empty()).then_some(Split { slot, paths, rates: Vec::new(), rate: 0.0 })
        };
        let mut splits: Vec<Split<'_>> = flows.active().iter().filter_map(split).collect();
        splits.sort_unstable_by_key(|split| number(split.slot));
        if splits.is_empty() {
            return Ok(splits);
        }
        let (mut paths, mut group) = (Paths::from_lists([[0; 0]; 0]), Vec::new());
        let mut capacities = network.capacities.to_vec();
        for (split, flow) in splits.iter().zip(0..) {
            // A cap is one more link.
            let cap = flows.flow(split.slot).cap;
            let own = (cap < f64::INFINITY).then_some(capacities.len() as u32);
            capacities.extend(own.map(|_| cap));
            for path in &split.paths {
                paths.push(&path.iter().copied().chain(own).collect::<Vec<_>>());
                group.push(flow);
            }
        }
        let fair = AlphaFair::new(f64::INFINITY, 1.0)?;
        let rates = max_min(&Problem::grouped(capacities, paths, group, fair)?)?;
        let mut rates = &rates[..];
        for split in &mut splits {
            let (own, others) = rates.split_at(split.paths.len());
            (split.rates, split.rate, rates) = (own.to_vec(), own.iter().sum(), others);
        }
        Ok(splits)
    }
}

/// The capacity of every link that the flows leave free.
fn free(capacities: &[f64], splits: &[Split<'_>], rate: impl Fn(&Split<'_>, usize) -> f64) -> Vec<f64> {
    let mut free = capacities.to_vec();
    for split in splits {
        for (place, path) in split.paths.iter().enumerate() {
            path.iter().for_each(|&link| free[link as usize] -= rate(split, place));
        }
    }
    free
}

/// Moves flows to paths on which more is free.
fn even_out(capacities: &[f64], splits: &mut [Split<'_>]) {
    let evenly = |split: &Split<'_>, _| split.rate / split.paths.len() as f64;
    let left = free(capacities, splits, evenly);
    if left.iter().zip(capacities).all(|(left, capacity)| *left >= -ROUNDING * capacity) {
        splits.iter_mut().for_each(|split| split.rates.fill(split.rate / split.paths.len() as f64));
    }
    let mut free = free(capacities, splits, |split, place| split.rates[place]);
    for _ in 0..ROUNDS {
        let mut moved = false;
        for Split { paths, rates, rate, .. } in &mut *splits {
            for from in 0..paths.len() {
                for to in 0..paths.len() {
                    let apart = |one: usize, other: usize| {
                        let only = paths[one].iter().filter(|link| !paths[other].contains(link));
                        only.map(|&link| free[link as usize]).fold(f64::INFINITY, f64::min)
                    };
                    // NaN for a path and itself.
                    let half = 0.5 * (apart(to, from) - apart(from, to));
                    if half > NOTHING * *rate && rates[from] > NOTHING * *rate {
                        let part = f64::min(rates[from], half);
                        rates[from] -= part;
                        rates[to] += part;
                        paths[from].iter().for_each(|&link| free[link as usize] += part);
                        paths[to].iter().for_each(|&link| free[link as usize] -= part);
                        moved = true;
                    }
                }
            }
        }
        if !moved {
            break;
        }
    }
}

impl Routing for Adaptive {
    fn name(&self) -> &str {
        NAME
    }

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.paths = PathSets::new(NAME, net, workload)?;
        Ok(())
    }

    /// Until [`balance`](Self::balance) is called.
    fn route(&mut self, flow: usize, _network: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        evenly(self.paths.of(flow).iter().collect(), route);
        Ok(())
    }

    fn follows_caps(&self) -> bool {
        true
    }

    fn balance(&mut self, network: &NetworkState<'_>, flows: &Flows, moves: &mut Moves) -> Result<()> {
        let mut splits = self.fastest(network, flows)?;
        even_out(network.capacities, &mut splits);
        for Split { slot, paths, rates, rate } in &splits {
            let used = || paths.iter().zip(rates).filter(|path| *path.1 > NOTHING * rate);
            let whole: f64 = used().map(|path| path.1).sum();
            if whole > 0.0 {
                let mut route = Route::default();
                route.spread(used().map(|(path, rate)| (*path, rate / whole)));
                moves.set(*slot, route);
            }
        }
        Ok(())
    }
}
