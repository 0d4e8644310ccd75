//! Shortest paths, by their number of links or by weight: all of them for one pair of ends, or one for each of many
//! pairs as routers choose.
//!
//! Most ends of a fabric hang off one switch by one link up and one link down. Their routes are that link and the
//! routes of the switch, so that searches (`next_links.rs`) need only walk the *trunk*, the network without such ends,
//! and only once per switch: 2064 nodes for 65 536 servers in racks of 32 under 16 spines. Searches are made one target
//! at a time, all pairs of one target together; memory is O(nodes + links + what is returned).

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::graph::ByNode;
use super::lengths::Lengths;
use super::next_links::Routes;
use super::{Node, Topology};
use crate::error::{Error, Result, check_length, expected_below};
use crate::interrupt::{self, Pacer};
use crate::paths::Paths;
use crate::work::memory;

/// More shortest paths than this between one pair of ends are not listed.
const MOST_PATHS: u64 = 1_000_000;
/// Nor are paths whose lists of links are longer than this in all (400 MB).
const MOST_CROSSINGS: u64 = 100_000_000;

impl Topology {
    /// All shortest paths (fewest links) from one end to another, in lexicographic order of their link indices.
    ///
    /// Links that have failed (capacity 0) are not used. Paths may pass through other ends. O(nodes + links + what is
    /// returned).
    ///
    /// # Errors
    /// [`Error::Topology`], naming both ends, when an end does not exist, both are the same, no path joins them, or
    /// there are more than 1 000 000 paths (or 100 000 000 links on them), which are counted before they are listed;
    /// [`Error::Stopped`].
    pub fn paths(&self, source: impl Node, destination: impl Node) -> Result<Paths> {
        self.paths_by(source, destination, None)
    }

    /// All paths of least weight from one end to another, as [`paths`](Self::paths) has those with the fewest links.
    ///
    /// - `weight`: what crossing each link adds to the weight of a path: >= 0, ∞ for a link not to be used. `None` is 1
    ///   for every link.
    ///
    /// Sums of weights are alike where they differ by less than 2⁻⁴⁰ of them (10⁻¹²), so that 0.1 + 0.2 is 0.3. A link
    /// of weight 0 is only followed to a node with fewer links to go. O(nodes + links log nodes + what is returned).
    ///
    /// # Errors
    /// As [`paths`](Self::paths); [`Error::Length`] unless there is a weight per link, [`Error::Topology`] for one that
    /// is negative or not a number, naming the link.
    ///
    /// ```
    /// # use netnum_core::{Topology, Error};
    /// let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 10")?;
    /// let delay = [10.0, 10.0, 8.0, 8.0, 30.0, 30.0];
    /// assert_eq!(net.paths("Seattle", "Houston")?.links(0), [4]);
    /// assert_eq!(net.paths_by("Seattle", "Houston", Some(&delay))?.links(0), [0, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn paths_by(&self, source: impl Node, destination: impl Node, weight: Option<&[f64]>) -> Result<Paths> {
        let source = self.end_of(|| "source".into(), &source)?;
        let destination = self.end_of(|| "destination".into(), &destination)?;
        let lengths = self.lengths_of(weight)?;
        if let Some(unfolded) = &self.unfolded {
            let weight = weight.map(|weight| unfolded.spread(weight));
            let paths = unfolded.net.paths_by(source, destination, weight.as_deref())?;
            return Ok(unfolded.folded(&paths));
        }
        let error = |reason: &str| self.error_for("paths", source, destination, reason);
        self.check_pair(source, destination).map_err(|reason| error(&reason))?;
        let (first, last) = (self.routing.attachments[source], self.routing.attachments[destination]);
        let mut routes = Routes::new(self, lengths.as_ref());
        routes.aim(last.node)?;
        interrupt::check()?;
        if !routes.joins(first, last) {
            return Err(error(&self.no_route(self.avoided(lengths.as_ref()))));
        }
        let (count, hops) = routes.count(first.node);
        if count > MOST_PATHS || count * hops > MOST_CROSSINGS {
            return Err(error(&format!(
                "there are too many shortest paths to list, more than {MOST_PATHS} of them \
                 or {MOST_CROSSINGS} links on them; ecmp chooses one"
            )));
        }

        let (mut paths, mut pacer) = (Paths::from_lists([[0; 0]; 0]), Pacer::new());
        let mut path: Vec<u32> = first.up_down.map(|(up, _)| up).into_iter().collect();
        let mut walk = vec![(first.node, 0)]; // the nodes so far, and how many next links of each have been tried
        while let Some((node, tried)) = walk.last_mut() {
            let next = if *node == last.node { None } else { routes.next_links(*node).get(*tried).copied() };
            if let Some(link) = next {
                *tried += 1;
                path.push(link);
                walk.push((self.links[link as usize].to, 0));
                continue;
            }
            if *node == last.node {
                path.extend(last.up_down.map(|(_, down)| down));
                paths.push(&path);
                pacer.did(path.len())?;
                path.truncate(path.len() - usize::from(last.up_down.is_some()));
            }
            walk.pop();
            path.pop();
        }
        Ok(paths)
    }

    /// One shortest path (fewest links) for every pair `sources[i]`, `destinations[i]`, chosen as routers do under
    /// equal-cost multipath: hop by hop, uniformly among the links that lie on a shortest path from there.
    ///
    /// The choices of pair `i` depend on `seed` and `i` only, not on the other pairs: they are drawn from stream `i` of
    /// the ChaCha8 generator seeded with `seed`. The same call gives the same paths on every platform, and a longer
    /// list of pairs begins with the paths of the shorter one. Links that have failed (capacity 0) are not used.
    ///
    /// Time: at most O(links) per distinct switch among the destinations, and O(hops) per pair. Memory: the result, and
    /// O(nodes + links + pairs) besides.
    ///
    /// # Errors
    /// - [`Error::Length`] unless there are as many destinations as sources.
    /// - [`Error::Topology`], naming the pair and both ends, when an end does not exist, both are the same, or no path
    ///   joins them. The first such pair is named.
    /// - [`Error::Stopped`].
    pub fn ecmp(&self, sources: &[impl Node], destinations: &[impl Node], seed: u64) -> Result<Paths> {
        self.ecmp_by(sources, destinations, None, seed)
    }

    /// One path of least weight for every pair, chosen as [`ecmp`](Self::ecmp) chooses among those with the fewest
    /// links.
    ///
    /// - `weight`: what crossing each link adds to the weight of a path: >= 0, ∞ for a link not to be used. `None` is 1
    ///   for every link. Which sums are alike [`paths_by`](Self::paths_by) says.
    ///
    /// Time: a search of O(links log nodes) per distinct switch among the destinations, and O(hops) per pair.
    ///
    /// # Errors
    /// As [`ecmp`](Self::ecmp); [`Error::Length`] unless there is a weight per link, [`Error::Topology`] for one that
    /// is negative or not a number, naming the link.
    pub fn ecmp_by(
        &self,
        sources: &[impl Node],
        destinations: &[impl Node],
        weight: Option<&[f64]>,
        seed: u64,
    ) -> Result<Paths> {
        self.ecmp_from(0, sources, destinations, weight, seed)
    }

    /// [`ecmp_by`](Self::ecmp_by) of pairs that follow on `first_pair` others: their paths are those that they would
    /// have in a list of all of them.
    ///
    /// # Errors
    /// As [`ecmp_by`](Self::ecmp_by).
    pub fn ecmp_from(
        &self,
        first_pair: usize,
        sources: &[impl Node],
        destinations: &[impl Node],
        weight: Option<&[f64]>,
        seed: u64,
    ) -> Result<Paths> {
        let [sources, destinations] = &self.pairs_of(sources, destinations)?;
        let lengths = self.lengths_of(weight)?;
        if let Some(unfolded) = &self.unfolded {
            let weight = weight.map(|weight| unfolded.spread(weight));
            let paths = unfolded.net.ecmp_from(first_pair, sources, destinations, weight.as_deref(), seed)?;
            return Ok(unfolded.folded(&paths));
        }
        let attachments = &self.routing.attachments;
        let pairs = self.by_target(destinations)?;
        let streams = ChaCha8Rng::seed_from_u64(seed);
        let (mut routes, mut pacer) = (Routes::new(self, lengths.as_ref()), Pacer::new());
        let mut spans = vec![(0, 0); sources.len()]; // by pair, where its path lies in `found`
        let mut found: Vec<u32> = Vec::new();
        let mut lost: Option<usize> = None;
        for target in (0..self.node_names.len() as u32).filter(|&target| !pairs.of(target).is_empty()) {
            routes.aim(target)?;
            pacer.did(self.routing.trunk_nodes)?;
            for pair in pairs.of(target).iter().map(|&pair| pair as usize) {
                let (first, last) = (attachments[sources[pair]], attachments[destinations[pair]]);
                if !routes.joins(first, last) {
                    lost = Some(lost.map_or(pair, |earlier| earlier.min(pair)));
                    continue;
                }
                let start = found.len();
                found.extend(first.up_down.map(|(up, _)| up));
                let mut node = first.node;
                if node != target {
                    let mut rng = streams.clone();
                    rng.set_stream((first_pair + pair) as u64);
                    while node != target {
                        let next = routes.next_links(node);
                        let choice = if next.len() == 1 { 0 } else { rng.random_range(0..next.len() as u32) };
                        let link = next[choice as usize];
                        found.push(link);
                        node = self.links[link as usize].to;
                    }
                }
                found.extend(last.up_down.map(|(_, down)| down));
                spans[pair] = (start, found.len());
                pacer.did(found.len() - start)?;
            }
        }
        if let Some(pair) = lost {
            let reason = self.no_route(self.avoided(lengths.as_ref()));
            return Err(self.error_for_pair(pair, sources, destinations, &reason));
        }
        let mut paths = Paths::with_capacity(sources.len(), found.len());
        for (start, end) in spans {
            paths.push(&found[start..end]);
            pacer.did(1 + end - start)?;
        }
        Ok(paths)
    }

    /// The pairs, of any nodes, by the node of the trunk that their routes lead to.
    pub(super) fn by_target(&self, destinations: &[usize]) -> Result<ByNode> {
        if u32::try_from(destinations.len()).is_err() {
            let pairs = destinations.len();
            return Err(Error::Topology(format!("{pairs} pairs, expected at most {}", u32::MAX)));
        }
        let target = |pair: usize| Some(self.attachment(destinations[pair]).node);
        ByNode::new(self.node_names.len(), destinations.len(), target)
    }

    /// `count` pairs of two different ends, as (sources, destinations), uniform among all such pairs. The same seed
    /// gives the same pairs on every platform. Whether a route joins them is not looked at.
    ///
    /// # Errors
    /// [`Error::Memory`] when the pairs do not fit in memory, [`Error::Stopped`].
    ///
    /// ```
    /// # use netnum_core::{Topology, Error};
    /// let net = Topology::fat_tree(4, 10.0)?;
    /// let (sources, destinations) = net.random_pairs(1000, 7)?;
    /// let paths = net.ecmp(&sources, &destinations, 7)?;
    /// assert_eq!(paths.len(), 1000);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn random_pairs(&self, count: usize, seed: u64) -> Result<(Vec<usize>, Vec<usize>)> {
        memory::check(&format!("{count} pairs of ends"), count as u128 * size_of::<[usize; 2]>() as u128)?;
        let (mut sources, mut destinations) = (memory::room("sources", count)?, memory::room("destinations", count)?);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(u64::MAX); // ecmp of the same seed draws from streams 0, 1, …
        let ends = self.ends as u32; // at least 2, by invariant 1
        let mut pair = || {
            let source = rng.random_range(0..ends);
            let other = rng.random_range(0..ends - 1);
            (source as usize, (other + u32::from(other >= source)) as usize)
        };
        let mut pacer = Pacer::new();
        for _ in 0..count {
            let (source, destination) = pair();
            sources.push(source);
            destinations.push(destination);
            pacer.did(1)?;
        }
        Ok((sources, destinations))
    }

    /// The numbers of the ends of pairs, checked: as many sources as destinations, two different ends in each pair.
    pub(crate) fn pairs_of(&self, sources: &[impl Node], destinations: &[impl Node]) -> Result<[Vec<usize>; 2]> {
        let (sources, destinations) = (self.ends_of("sources", sources)?, self.ends_of("destinations", destinations)?);
        self.check_pairs(&sources, &destinations)?;
        Ok([sources, destinations])
    }

    fn check_pairs(&self, sources: &[usize], destinations: &[usize]) -> Result<()> {
        check_length("destinations", destinations.len(), sources.len(), "source")?;
        let mut pacer = Pacer::new();
        for (pair, (&source, &destination)) in sources.iter().zip(destinations).enumerate() {
            let checked = self.check_pair(source, destination);
            checked.map_err(|reason| self.error_for_pair(pair, sources, destinations, &reason))?;
            pacer.did(1)?;
        }
        Ok(())
    }

    /// The lengths of links by their weights, checked, if they have some.
    pub(super) fn lengths_of(&self, weight: Option<&[f64]>) -> Result<Option<Lengths>> {
        weight.map(|weight| Lengths::new(self, Some(weight))).transpose()
    }

    fn check_pair(&self, source: usize, destination: usize) -> std::result::Result<(), String> {
        let ends = self.ends;
        if let Some(end) = [source, destination].into_iter().find(|&end| end >= ends) {
            return Err(format!("end {end} does not exist, {}", expected_below("end", ends)));
        }
        if source == destination {
            return Err("source and destination are the same".into());
        }
        Ok(())
    }

    /// That there is no route, and why if most pairs have none.
    pub(crate) fn no_route(&self, but: &str) -> String {
        let cause = self.disconnection().map_or_else(String::new, |disconnection| format!(" ({disconnection})"));
        format!("there is no route{but}{cause}")
    }

    /// What routes avoid, as a part of a sentence.
    pub(super) fn avoided(&self, lengths: Option<&Lengths>) -> &'static str {
        match lengths {
            Some(lengths) if lengths.avoids => " that avoids links of capacity 0 or weight inf",
            None if self.capacities.contains(&0.0) => " that avoids links of capacity 0",
            _ => "",
        }
    }

    pub(super) fn error_for_pair(&self, pair: usize, sources: &[usize], destinations: &[usize], reason: &str) -> Error {
        self.error_for(&format!("pair {pair}"), sources[pair], destinations[pair], reason)
    }

    fn error_for(&self, what: &str, source: usize, destination: usize, reason: &str) -> Error {
        let name = |end: usize| {
            if end < self.ends { self.node_names[end].clone() } else { format!("end {end}") }
        };
        Error::Topology(format!("{what} from {} to {}: {reason}", name(source), name(destination)))
    }
}
