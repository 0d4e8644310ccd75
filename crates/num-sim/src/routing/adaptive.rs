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
//! Where no split allows higher rates than the even one, `max_min` is not called. A flow f proves that of its rate if,
//! at some place k of its paths, all links there are full and carry no faster flow, and every flow g crosses as many of
//! them, n_g, on each of its paths. Rates under any split then satisfy
//!
//! ```text
//! Σ_g n_g x_g  ≤  Σ_{l in cut} c_l,      cut = the links at place k on the paths of f
//! ```
//!
//! here with equality: f can only gain if some flow that is not faster loses. In a symmetric Clos all flows prove it.
//! Elsewhere every arrival and end costs as much as `max_min` does, some pivots per flow: a reference, not for speed.
//!
//! Source: Zats et al., *DeTail: Reducing the Flow Completion Time Tail in Datacenter Networks*, SIGCOMM 2012, §4.1.

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use netnum_core::{AlphaFair, Paths, Problem, Topology, max_min};

use super::path_sets::{ByWeight, PathSets};
use super::spray::evenly;
use super::{Moves, Routing, RoutingEntry};
use crate::error::Result;
use crate::network::{Flows, NetworkState, Route};
use crate::numbers::{ALIKE, ROUNDING};
use crate::policy::MaxMinFair;
use crate::workload::Workload;

const NAME: &str = "adaptive";
/// The most rounds of moves; what is left to move then is little.
const ROUNDS: usize = 1000;

pub(super) const ENTRY: RoutingEntry = Entry {
    name: NAME,
    summary: "the best split over all shortest paths at every moment, DeTail's ideal",
    options: options::defaults::<ByWeight>,
    make: |given, _| Ok(Box::new(Adaptive::new().with_weight(given.read::<ByWeight>()?.weight))),
};

/// The best split at every moment.
#[derive(Debug, Clone, Default)]
pub struct Adaptive {
    weight: Option<String>,
    paths: PathSets,
}

/// A flow, split over its paths.
struct SplitFlow<'a> {
    slot: u32,
    paths: Vec<&'a [u32]>,
    /// Its route if it is split evenly.
    even: Route,
    rates: Vec<f64>,
    rate: f64,
}

impl Adaptive {
    /// The best split at every moment.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the paths that are shortest by an attribute of links, such as a cost; by their number of links without.
    #[must_use]
    pub fn with_weight(self, weight: Option<String>) -> Self {
        Self { weight, ..self }
    }

    /// The flows that have a path that works, in order of arrival, at the highest rates of any split.
    fn fastest(&self, network: &NetworkState<'_>, flows: &Flows) -> Result<Vec<SplitFlow<'_>>> {
        let number = |slot: u32| flows.flow(slot).number as usize;
        let split = |&slot: &u32| {
            let paths: Vec<&[u32]> = self.paths.of(number(slot)).iter().filter(|path| network.works(path)).collect();
            (!paths.is_empty()).then(|| {
                let mut even = Route::default();
                evenly(paths.clone(), &mut even);
                SplitFlow { slot, paths, even, rates: Vec::new(), rate: 0.0 }
            })
        };
        let mut splits: Vec<SplitFlow<'_>> = flows.active().iter().filter_map(split).collect();
        splits.sort_unstable_by_key(|split| number(split.slot));
        if splits.is_empty() {
            return Ok(splits);
        }
        let cap = |split: &SplitFlow<'_>| flows.flow(split.slot).cap;
        let even = splits.iter().map(|split| (split.even.clone(), cap(split)));
        let rates = MaxMinFair::rates(network.capacities, even)?;
        for (split, rate) in splits.iter_mut().zip(rates) {
            split.rate = rate;
            split.rates = vec![rate / split.paths.len() as f64; split.paths.len()];
        }
        if no_split_is_faster(network.capacities, &splits, cap)? {
            return Ok(splits);
        }
        let (mut paths, mut group) = (Paths::from_lists([[0; 0]; 0]), Vec::new());
        let mut capacities = network.capacities.to_vec();
        for (split, flow) in splits.iter().zip(0..) {
            // A cap is one more link.
            let cap = cap(split);
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
fn free(capacities: &[f64], splits: &[SplitFlow<'_>], rate: impl Fn(&SplitFlow<'_>, usize) -> f64) -> Vec<f64> {
    let mut free = capacities.to_vec();
    for split in splits {
        for (place, path) in split.paths.iter().enumerate() {
            path.iter().for_each(|&link| free[link as usize] -= rate(split, place));
        }
    }
    free
}

/// Whether flows that are split evenly prove that no other split allows higher rates.
fn no_split_is_faster(
    capacities: &[f64],
    splits: &[SplitFlow<'_>],
    cap: impl Fn(&SplitFlow<'_>) -> f64,
) -> Result<bool> {
    let left = free(capacities, splits, |split, place| split.rates[place]);
    let links = capacities.len();
    // By link, the rate of its fastest flow, and whether all paths of its flows cross it.
    let (mut fastest, mut is_common) = (vec![0.0; links], vec![true; links]);
    for split in splits {
        for (link, fraction) in split.even.iter() {
            let link = link as usize;
            fastest[link] = f64::max(fastest[link], split.rate);
            is_common[link] &= fraction > 1.0 - ROUNDING;
        }
    }
    let is_full = |link: usize| left[link] <= ROUNDING * capacities[link];
    let crossings: usize = splits.iter().flat_map(|split| &split.paths).map(|path| path.len()).sum();
    let mut pacer = Pacer::new();
    // By link, the last cut that was tried with it, and the last that proved something; how many links those have.
    let (mut tried, mut proved, mut sizes) = (vec![0; links], vec![0; links], vec![0]);
    for split in splits {
        let cuts = sizes.len();
        let limits = |link: usize| is_full(link) && fastest[link] <= split.rate * (1.0 + ROUNDING);
        let proves = |place: usize| {
            let cut = || split.paths.iter().map(|path| path[place] as usize);
            let first = split.paths[0][place] as usize;
            if !cut().all(limits) {
                return false;
            }
            if cut().all(|link| link == first) {
                return is_common[first];
            }
            let (number, known) = (sizes.len(), proved[first]);
            let mut size = 0;
            for link in cut() {
                size += usize::from(tried[link] != number);
                tried[link] = number;
            }
            sizes.push(size);
            if known > 0 && sizes[known] == size && cut().all(|link| proved[link] == known) {
                return true;
            }
            let crossed = |path: &&[u32]| path.iter().filter(|&&link| tried[link as usize] == number).count();
            let as_many = |other: &SplitFlow<'_>| {
                let first = crossed(&other.paths[0]);
                other.paths.iter().all(|path| crossed(path) == first)
            };
            let does = splits.iter().all(as_many);
            if does {
                cut().for_each(|link| proved[link] = number);
            }
            does
        };
        let places = split.paths.iter().map(|path| path.len()).min().unwrap_or(0);
        if split.rate < cap(split) * (1.0 - ROUNDING) && !(0..places).any(proves) {
            return Ok(false);
        }
        // Every cut is looked for on all paths.
        pacer.did(split.paths.len() + (sizes.len() - cuts) * crossings)?;
    }
    Ok(true)
}

/// Whether as much is free on all links at the same place of some paths that have as many links as each other. None of
/// them has more free than another one then: what is free on their links is alike, and so it is without those that two
/// of them share.
fn are_alike(paths: &[&[u32]], free: &[f64], difference: f64) -> bool {
    let links = paths[0].len();
    paths.iter().all(|path| path.len() == links)
        && (0..links).all(|place| {
            let first = free[paths[0][place] as usize];
            let least = |least, path: &&[u32]| f64::min(least, free[path[place] as usize]);
            let most = |most, path: &&[u32]| f64::max(most, free[path[place] as usize]);
            paths.iter().fold(first, most) - paths.iter().fold(first, least) <= difference
        })
}

/// Moves flows to paths on which more is free.
fn even_out(capacities: &[f64], splits: &mut [SplitFlow<'_>]) {
    let evenly = |split: &SplitFlow<'_>, _| split.rate / split.paths.len() as f64;
    let left = free(capacities, splits, evenly);
    if left.iter().zip(capacities).all(|(left, capacity)| *left >= -ROUNDING * capacity) {
        splits.iter_mut().for_each(|split| split.rates.fill(split.rate / split.paths.len() as f64));
    }
    let mut free = free(capacities, splits, |split, place| split.rates[place]);
    for _ in 0..ROUNDS {
        let mut moved = false;
        for SplitFlow { paths, rates, rate, .. } in &mut *splits {
            if are_alike(paths, &free, ALIKE * *rate) {
                continue;
            }
            for from in 0..paths.len() {
                for to in 0..paths.len() {
                    let apart = |one: usize, other: usize| {
                        let only = paths[one].iter().filter(|link| !paths[other].contains(link));
                        only.map(|&link| free[link as usize]).fold(f64::INFINITY, f64::min)
                    };
                    // NaN for a path and itself.
                    let half = 0.5 * (apart(to, from) - apart(from, to));
                    if half > ALIKE * *rate && rates[from] > ALIKE * *rate {
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
        self.paths = PathSets::new(NAME, net, workload, self.weight.as_deref())?;
        Ok(())
    }

    fn add_flows(&mut self, net: &Topology, workload: &Workload, _first: usize) -> Result<()> {
        self.paths.add(NAME, net, workload, self.weight.as_deref())
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
        for SplitFlow { slot, paths, even, rates, rate } in splits {
            if rate > 0.0 && rates.iter().all(|part| *part == rates[0]) {
                moves.set(slot, even);
                continue;
            }
            let used = || paths.iter().zip(&rates).filter(|path| *path.1 > ALIKE * rate);
            let whole: f64 = used().map(|path| path.1).sum();
            if whole > 0.0 {
                let mut route = Route::default();
                route.spread(used().map(|(path, rate)| (*path, rate / whole)));
                moves.set(slot, route);
            }
        }
        Ok(())
    }
}
