//! Several short paths for every pair of ends: the search settings, and the jobs of the search.
//!
//! Pairs with one target share the tree of shortest ways to it. They are a *job*, or several if they are many; jobs
//! are independent, so that any number of workers may do them. `yen.rs` finds the k shortest paths of a
//! pair, `disjoint.rs` those without a common link.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::disjoint::Disjoint;
use super::lengths::{Length, Lengths, NONE, stretched};
use super::tree::Tree;
use super::yen::Yen;
use super::{Node, Topology};
use crate::error::{Error, Result};
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::work::{Ranks, Workers, for_each, memory};

/// The largest k.
const MOST: usize = 100_000;

/// Pairs of one target that are one job: enough of them that the cost of its tree is small relative to theirs.
const JOB: usize = 256;

/// The paths that [`Topology::k_shortest_paths`] finds.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
#[must_use]
pub struct KShortest<'a> {
    /// The most paths per pair, from 1 to 100 000.
    pub k: usize,
    /// What crossing each link adds to the weight of a path: >= 0, ∞ for a link not to be used. `None` is 1 for every
    /// link, so that paths are measured in links.
    pub weight: Option<&'a [f64]>,
    /// The largest weight of a path relative to the lightest of its pair, at least 1.
    pub max_stretch: Option<f64>,
    /// Whether the paths of a pair may have no link in common.
    pub disjoint: bool,
    /// Who does the work; the calling thread if none. The paths do not depend on it.
    pub workers: Option<&'a dyn Workers>,
}

impl<'a> KShortest<'a> {
    /// The `k` paths with the fewest links.
    pub fn new(k: usize) -> Self {
        Self { k, weight: None, max_stretch: None, disjoint: false, workers: None }
    }

    /// With these weights of the links, or without.
    pub fn with_weight(self, weight: impl Into<Option<&'a [f64]>>) -> Self {
        Self { weight: weight.into(), ..self }
    }

    /// With this largest weight relative to the lightest path, or without one.
    pub fn with_max_stretch(self, max_stretch: impl Into<Option<f64>>) -> Self {
        Self { max_stretch: max_stretch.into(), ..self }
    }

    /// With these workers.
    pub fn with_workers(self, workers: &'a dyn Workers) -> Self {
        Self { workers: Some(workers), ..self }
    }

    /// With paths that share no link, or without that condition.
    pub fn with_disjoint(self, disjoint: bool) -> Self {
        Self { disjoint, ..self }
    }
}

/// The paths that a job has found.
struct Found {
    /// By pair of the job: how many paths it has.
    counts: Vec<usize>,
    paths: Paths,
}

impl Topology {
    /// The `k` shortest paths without loops (Yen) for every pair `sources[i]`, `destinations[i]`, or as many as there
    /// are: the paths, pair by pair, and the pair of each, which is the `group` of
    /// [`Problem::grouped`](crate::Problem::grouped).
    ///
    /// The paths of a pair come in the order of their weight, then of their number of links, then of their link
    /// numbers, and are the first ones in that order. Sums of weights are compared without rounding. Links of capacity
    /// 0 are not used, unlike in [`paths`](Self::paths).
    ///
    /// With [`disjoint`](KShortest::disjoint) the paths of a pair have no link in common and least weight in sum
    /// (Suurballe), which need not include the lightest path; there are as many as there can be, up to `k`. With a
    /// [`max_stretch`](KShortest::max_stretch) there are as many of them as all keep it.
    ///
    /// Time: a search of O(links log nodes) per distinct switch among the destinations; per path O(hops · degree), and
    /// a search of the part that lies nearer for every way to leave an earlier path that would lead back to it.
    ///
    /// # Errors
    /// - [`Error::Setting`] for a `k` or `max_stretch` out of its range.
    /// - [`Error::Length`] unless there are as many destinations as sources, and a weight per link if any.
    /// - [`Error::Topology`] for a weight that is negative or not a number, naming the link; for an end that does not
    ///   exist, two equal ends or no path, naming the first such pair and both ends. [`has_path`](Self::has_path) says
    ///   which pairs have one.
    /// - [`Error::Memory`] when the paths do not fit in memory, [`Error::Stopped`].
    ///
    /// ```
    /// # use netnum_core::{KShortest, Topology, Error};
    /// let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 10")?;
    /// let (paths, group) = net.k_shortest_paths(&["Seattle", "Denver"], &["Houston", "Seattle"], &KShortest::new(2))?;
    /// assert_eq!(group, [0, 0, 1, 1]);
    /// assert_eq!(paths.links(1), [0, 2]); // Seattle -> Denver -> Houston
    /// # Ok::<(), Error>(())
    /// ```
    pub fn k_shortest_paths(
        &self,
        sources: &[impl Node],
        destinations: &[impl Node],
        what: &KShortest<'_>,
    ) -> Result<(Paths, Vec<u32>)> {
        let KShortest { k, weight, max_stretch, disjoint, workers } = *what;
        if k == 0 || k > MOST {
            return Err(Error::setting("k", k, format!("an integer from 1 to {MOST}")));
        }
        if let Some(stretch) = max_stretch.filter(|&stretch| stretch.is_nan() || stretch < 1.0) {
            return Err(Error::setting("max_stretch", stretch, "a number >= 1"));
        }
        let [sources, destinations] = &self.pairs_of(sources, destinations)?;
        let lengths = Lengths::new(self, weight)?;
        if let Some(unfolded) = &self.unfolded {
            let weight = weight.map(|weight| unfolded.spread(weight));
            let (paths, group) =
                unfolded.net.k_shortest_paths(sources, destinations, &what.with_weight(weight.as_deref()))?;
            return Ok((unfolded.folded(&paths), group));
        }

        let by_target = self.by_target(destinations)?;
        let targets = 0..self.node_names.len() as u32;
        let jobs: Vec<(u32, &[u32])> =
            targets.flat_map(|target| by_target.of(target).chunks(JOB).map(move |job| (target, job))).collect();
        let (crossed, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        let search = |job: usize| {
            let (target, pairs) = jobs[job];
            let tree = Tree::new(&self.links, &self.routing, &lengths, target)?;
            let limit = |shortest: Length| max_stretch.map_or(NONE, |factor| stretched(shortest, factor));
            let mut found = Found { counts: Vec::with_capacity(pairs.len()), paths: Paths::with_capacity(0, 0) };
            let (mut yen, mut apart) = (Yen::new(self, &lengths, &tree), Disjoint::new(self, &lengths, &tree));
            let mut path = Vec::new();
            for pair in pairs.iter().map(|&pair| pair as usize) {
                let (before, crossed_before) = (found.paths.len(), found.paths.indices().len());
                let (first, last) = (self.attachment(sources[pair]), self.attachment(destinations[pair]));
                let (up, down) = (first.up_down.map(|(up, _)| up), last.up_down.map(|(_, down)| down));
                let works = [up, down].into_iter().flatten().all(|link| lengths.of(link).is_some());
                if let Some(shortest) = tree.to_go(first.node).filter(|_| works) {
                    let hanging = [up, down].into_iter().flatten().filter_map(|link| lengths.of(link)).sum::<Length>();
                    let limit = limit(shortest + hanging).saturating_sub(hanging);
                    let mut take = |links: &[u32]| {
                        path.clear();
                        path.extend(up.iter().chain(links).chain(&down));
                        found.paths.push(&path);
                    };
                    if first.node == target {
                        take(&[]);
                    } else if disjoint {
                        // The link of an end that hangs off a switch is on all of its paths.
                        let k = if up.or(down).is_some() { 1 } else { k };
                        apart.find(first.node, k, limit, take)?;
                    } else {
                        yen.find(first.node, k, limit, take)?;
                    }
                }
                found.counts.push(found.paths.len() - before);
                let more = found.paths.indices().len() - crossed_before;
                let sum = crossed.fetch_add(more, Ordering::Relaxed) + more;
                let bytes = |links: usize| links as u128 * size_of::<u32>() as u128;
                if bytes(sum) / memory::SMALL > bytes(sum - more) / memory::SMALL {
                    // As much again, for all of them in order.
                    memory::check(&format!("paths of {sum} links in all"), bytes(sum))?;
                }
            }
            Ok(found)
        };
        // Jobs after one that has failed are left out: the first error is returned.
        let work = |job: usize| match failed.load(Ordering::Relaxed) < job {
            true => Err(Error::Stopped),
            false => search(job).inspect_err(|_| _ = failed.fetch_min(job, Ordering::Relaxed)),
        };
        let alone = Ranks::alone();
        let found = for_each(workers.unwrap_or(&alone), 0..jobs.len(), work)?;

        // Where the paths of every pair are: from which number on, of what job, and how many.
        let (mut places, mut pacer) = (vec![(0, 0, 0); sources.len()], Pacer::new());
        for (job, (&(_, pairs), found)) in jobs.iter().zip(&found).enumerate() {
            let mut first = 0;
            for (&pair, &count) in pairs.iter().zip(&found.counts) {
                places[pair as usize] = (job, first, count);
                first += count;
                pacer.did(1)?;
            }
        }
        if let Some(pair) = places.iter().position(|&(_, _, count)| count == 0) {
            let reason = self.no_route(self.avoided(Some(&lengths)));
            return Err(self.error_for_pair(pair, sources, destinations, &reason));
        }
        let count = found.iter().map(|found| found.paths.len()).sum();
        let crossings = found.iter().map(|found| found.paths.indices().len()).sum();
        let (mut paths, mut group) = (Paths::with_capacity(count, crossings), Vec::with_capacity(count));
        for (pair, (job, first, count)) in places.into_iter().enumerate() {
            for path in first..first + count {
                let links = found[job].paths.links(path);
                paths.push(links);
                group.push(pair as u32);
                pacer.did(1 + links.len())?;
            }
        }
        Ok((paths, group))
    }

    /// Whether some path over links that work (of capacity above 0) joins `sources[i]` to `destinations[i]`, for every
    /// pair: whether [`k_shortest_paths`](Self::k_shortest_paths) has any for it.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are as many destinations as sources; [`Error::Topology`] for an end that does not
    /// exist or two equal ends, naming the first such pair; [`Error::Stopped`].
    pub fn has_path(&self, sources: &[impl Node], destinations: &[impl Node]) -> Result<Vec<bool>> {
        let [sources, destinations] = &self.pairs_of(sources, destinations)?;
        if let Some(unfolded) = &self.unfolded {
            return unfolded.net.has_path(sources, destinations);
        }
        let lengths = Lengths::new(self, None)?;
        let by_target = self.by_target(destinations)?;
        let (mut have, mut pacer) = (vec![false; sources.len()], Pacer::new());
        for target in (0..self.node_names.len() as u32).filter(|&target| !by_target.of(target).is_empty()) {
            let tree = Tree::new(&self.links, &self.routing, &lengths, target)?;
            for pair in by_target.of(target).iter().map(|&pair| pair as usize) {
                let (first, last) = (self.attachment(sources[pair]), self.attachment(destinations[pair]));
                let ends = [first.up_down.map(|(up, _)| up), last.up_down.map(|(_, down)| down)];
                have[pair] = tree.to_go(first.node).is_some()
                    && ends.into_iter().flatten().all(|link| lengths.of(link).is_some());
                pacer.did(1)?;
            }
        }
        Ok(have)
    }
}
