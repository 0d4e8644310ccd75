//! How traffic divides over all shortest paths where routers split it hop by hop (equal-cost multipath).
//!
//! ```text
//! t(source) = 1        t(m) = Σ over next links l = (n, m) of f(l)
//! f(l) = t(n) s_l / Σ over next links k of n of s_k
//! ```
//!
//! with shares s, all alike by default: f(l) is the part of the pair's traffic on link l. Nodes are taken in the order
//! in which their traffic is complete, the farthest first.

use super::lengths::Lengths;
use super::next_links::Routes;
use super::{Node, Topology};
use crate::error::{Error, Result, check_length};
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::work::memory;

/// How [`Topology::ecmp_split`] divides traffic: evenly over all paths with the fewest links, unless told otherwise.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
#[must_use]
pub struct EcmpSplit<'a> {
    /// What crossing each link adds to the weight of a path: >= 0, ∞ for a link not to be used. `None` is 1 for every
    /// link.
    pub weight: Option<&'a [f64]>,
    /// By pair, the nodes that its traffic visits on the way, in this order: it takes the shortest paths from one to
    /// the next. A node that it is at already changes nothing. `None` is no such node for any pair.
    pub via: Option<&'a [Vec<usize>]>,
    /// What every link carries of a node's traffic relative to the other links by which shortest paths leave the node:
    /// >= 0 and finite. `None` is as much as the others.
    pub shares: Option<&'a [f64]>,
}

impl<'a> EcmpSplit<'a> {
    /// An even split over all paths with the fewest links.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these weights of the links, or without.
    pub fn with_weight(self, weight: impl Into<Option<&'a [f64]>>) -> Self {
        Self { weight: weight.into(), ..self }
    }

    /// With these nodes to visit, or without.
    pub fn with_via(self, via: impl Into<Option<&'a [Vec<usize>]>>) -> Self {
        Self { via: via.into(), ..self }
    }

    /// With these shares of the links, or without.
    pub fn with_shares(self, shares: impl Into<Option<&'a [f64]>>) -> Self {
        Self { shares: shares.into(), ..self }
    }
}

/// The segments of the ways of pairs, from one node to another.
struct Segments<'a> {
    sources: &'a [usize],
    destinations: &'a [usize],
    /// By pair, its first segment; and how many there are.
    starts: Vec<usize>,
    from: Vec<usize>,
    to: Vec<usize>,
}

/// By segment, the links that it uses, with the part of its traffic on each.
struct Divided {
    spans: Vec<(usize, usize)>,
    parts: Vec<(u32, f64)>,
}

/// Why a segment has no split.
enum Failure {
    NoRoute,
    /// All links by which shortest paths leave a node have the share 0.
    NoShare {
        node: u32,
        links: usize,
    },
}

impl Topology {
    /// For every pair `sources[i]`, `destinations[i]` the one path that all of its shortest paths make together where
    /// every node divides the traffic evenly over the links by which they leave it, as routers do under equal-cost
    /// multipath: its coefficients are the part of the pair's traffic on every link.
    ///
    /// Links that have failed (capacity 0) are not used, and paths may pass through other ends, as in
    /// [`ecmp`](Self::ecmp), which chooses one of these paths. Several links between two nodes have a part each. Sums
    /// of weights are alike where they differ by less than 2⁻⁴⁰ of them (10⁻¹²), so that 0.1 + 0.2 is 0.3. A link of
    /// weight 0 is only followed to a node with fewer links to go: traffic does not go in circles.
    ///
    /// With [`via`](EcmpSplit::via) the traffic of a pair takes the shortest paths to the first of some nodes, from
    /// there to the next, and so on (segment routing): what it puts on a link adds up, to more than 1 where it crosses
    /// the link more than once. With [`shares`](EcmpSplit::shares) the traffic of a node is divided in proportion to
    /// them; a share counts only beside those of the other links that lead on (weighted-cost multipath).
    ///
    /// Time: a search of O(links), or O(links log nodes) by weight, per distinct switch among the destinations and the
    /// nodes to visit; per pair O(links on its shortest paths).
    ///
    /// # Errors
    /// - [`Error::Length`] unless there are as many destinations as sources, a weight and a share per link if any, and
    ///   a list of nodes to visit per pair if any.
    /// - [`Error::Topology`] for a weight that is negative or not a number, and a share that is negative or not finite,
    ///   naming the link; for a node to visit that does not exist, with its place; for an end that does not exist, two
    ///   equal ends, no path, or no share above 0 where traffic comes by, naming the first such pair and both ends.
    /// - [`Error::Memory`] when the paths do not fit in memory, [`Error::Stopped`].
    ///
    /// ```
    /// # use netnum_core::{EcmpSplit, Topology, Error};
    /// let net = Topology::leaf_spine(2, 1, 4, 10.0, 10.0)?;
    /// let paths = net.ecmp_split(&["server 0"], &["server 1"], &EcmpSplit::new())?;
    /// // Up to the rack, a quarter to and from every spine, and down.
    /// assert_eq!(paths.coefficients(), Some(&[1.0, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 1.0][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn ecmp_split(&self, sources: &[impl Node], destinations: &[impl Node], what: &EcmpSplit<'_>) -> Result<Paths> {
        let EcmpSplit { weight, via, shares } = *what;
        let [sources, destinations] = &self.pairs_of(sources, destinations)?;
        let lengths = self.lengths_of(weight)?;
        self.check_shares(shares)?;
        let segments = self.segments(sources, destinations, via)?;
        let divided = match &self.unfolded {
            None => self.divide(&segments, lengths.as_ref(), shares)?,
            Some(unfolded) => {
                let spread = |values: Option<&[f64]>| values.map(|values| unfolded.spread(values));
                let lengths = unfolded.net.lengths_of(spread(weight).as_deref())?;
                unfolded.net.divide(&segments, lengths.as_ref(), spread(shares).as_deref())?
            }
        };
        // Segments one after the other. Parts on the same link, of several segments or where both directions share it,
        // are added up.
        let (mut indptr, mut indices, mut coefficients) = (vec![0], Vec::new(), Vec::new());
        let mut pacer = Pacer::new();
        for pair in segments.starts.windows(2) {
            for &(start, end) in &divided.spans[pair[0]..pair[1]] {
                for &(link, part) in &divided.parts[start..end] {
                    indices.push(self.unfolded.as_ref().map_or(link, |unfolded| unfolded.link(link)));
                    coefficients.push(part);
                }
                pacer.did(1 + end - start)?;
            }
            indptr.push(indices.len());
        }
        Paths::with_coefficients(indptr, indices, coefficients)
    }

    fn check_shares(&self, shares: Option<&[f64]>) -> Result<()> {
        let Some(shares) = shares else { return Ok(()) };
        check_length("shares", shares.len(), self.links.len(), "link")?;
        match shares.iter().position(|share| !(share.is_finite() && *share >= 0.0)) {
            None => Ok(()),
            Some(link) => {
                let (share, link) = (shares[link], self.shown(link as u32));
                Err(Error::Topology(format!("{link} has share {share}, expected a finite number >= 0")))
            }
        }
    }

    /// The segments of pairs. One from a node to itself has no links, and is left out.
    fn segments<'a>(
        &self,
        sources: &'a [usize],
        destinations: &'a [usize],
        via: Option<&[Vec<usize>]>,
    ) -> Result<Segments<'a>> {
        if let Some(via) = via {
            check_length("via", via.len(), sources.len(), "pair")?;
        }
        let (mut starts, mut from, mut to, mut pacer) = (vec![0], Vec::new(), Vec::new(), Pacer::new());
        for (pair, (&source, &destination)) in sources.iter().zip(destinations).enumerate() {
            let mut here = source;
            let visited = via.map_or(&[][..], |via| &via[pair]);
            for (place, node) in visited.iter().chain([&destination]).enumerate() {
                let node = self.number_of(|| format!("via[{pair}][{place}]"), node)?;
                if node != here {
                    from.push(here);
                    to.push(node);
                }
                here = node;
            }
            pacer.did(1 + visited.len())?;
            starts.push(from.len());
        }
        Ok(Segments { sources, destinations, starts, from, to })
    }

    /// The split of every segment, on a network without shared links.
    fn divide(&self, segments: &Segments<'_>, lengths: Option<&Lengths>, shares: Option<&[f64]>) -> Result<Divided> {
        let by_target = self.by_target(&segments.to)?;
        let (mut routes, mut pacer) = (Routes::new(self, lengths), Pacer::new());
        let mut divided = Divided { spans: vec![(0, 0); segments.to.len()], parts: Vec::new() };
        let mut failed: Option<(usize, Failure)> = None;
        let (mut traffic, mut nodes) = (vec![0.0; self.node_names.len()], Vec::new());
        for target in (0..self.node_names.len() as u32).filter(|&target| !by_target.of(target).is_empty()) {
            routes.aim(target)?;
            pacer.did(self.routing.trunk_nodes)?;
            for segment in by_target.of(target).iter().map(|&segment| segment as usize) {
                let (first, last) = (self.attachment(segments.from[segment]), self.attachment(segments.to[segment]));
                let start = divided.parts.len();
                let own = [first.up_down.map(|(up, _)| up), last.up_down.map(|(_, down)| down)];
                divided.parts.extend(own[0].map(|up| (up, 1.0)));
                let has_share = |link: &u32| shares.is_none_or(|shares| shares[*link as usize] > 0.0);
                let split = if !routes.joins(first, last) {
                    Err(Failure::NoRoute)
                } else if let Some(link) = own.into_iter().flatten().find(|link| !has_share(link)) {
                    Err(Failure::NoShare { node: self.links[link as usize].from, links: 1 })
                } else {
                    routes.downstream(first.node, &mut nodes);
                    self.follow(&mut routes, &nodes, shares, &mut traffic, &mut divided.parts)
                };
                if let Err(failure) = split
                    && failed.as_ref().is_none_or(|(earlier, _)| segment < *earlier)
                {
                    failed = Some((segment, failure));
                }
                divided.parts.extend(own[1].map(|down| (down, 1.0)));
                let end = divided.parts.len();
                divided.spans[segment] = (start, end);
                pacer.did(nodes.len() + end - start)?;
                let bytes = |parts: usize| parts as u128 * size_of::<(u32, f64)>() as u128;
                if bytes(end) / memory::SMALL > bytes(start) / memory::SMALL {
                    // As much again, for all of them in order.
                    memory::check(&format!("splits over {end} links in all"), bytes(end))?;
                }
            }
        }
        match failed {
            None => Ok(divided),
            Some((segment, Failure::NoRoute)) => {
                Err(self.error_for_segment(segments, segment, &self.no_route(self.avoided(lengths))))
            }
            Some((segment, Failure::NoShare { node, links })) => {
                let node = &self.node_names[node as usize];
                let which = if links == 1 { "the only link".into() } else { format!("all {links} links") };
                let have = if links == 1 { "has" } else { "have" };
                let reason =
                    format!("{which} by which shortest paths leave {node} {have} share 0, expected one above 0");
                Err(self.error_for_segment(segments, segment, &reason))
            }
        }
    }

    fn error_for_segment(&self, segments: &Segments<'_>, segment: usize, reason: &str) -> Error {
        let Segments { sources, destinations, starts, from, to } = segments;
        let pair = starts.partition_point(|&start| start <= segment) - 1;
        if starts[pair + 1] - starts[pair] == 1 {
            return self.error_for_pair(pair, sources, destinations, reason);
        }
        let [from, to] = [from[segment], to[segment]].map(|node| &self.node_names[node]);
        self.error_for_pair(pair, sources, destinations, &format!("on the way from {from} to {to} {reason}"))
    }

    /// Divides a traffic of 1 from the first of some nodes, those downstream of it in order, to the last. `traffic` is
    /// 0 for every node, before and after.
    fn follow(
        &self,
        routes: &mut Routes<'_>,
        nodes: &[u32],
        shares: Option<&[f64]>,
        traffic: &mut [f64],
        parts: &mut Vec<(u32, f64)>,
    ) -> std::result::Result<(), Failure> {
        let [between @ .., target] = nodes else { return Ok(()) };
        let mut holding = 1; // nodes with traffic that are yet to divide it
        if let Some(&source) = between.first() {
            traffic[source as usize] = 1.0;
        }
        let mut divided = Ok(());
        for &node in between {
            let mut here = std::mem::take(&mut traffic[node as usize]);
            if here == 0.0 || divided.is_err() {
                continue;
            }
            if holding == 1 {
                // All of it: what rounding took off comes back.
                here = 1.0;
            }
            holding -= 1;
            let next = routes.next_links(node);
            // A sum of huge shares is not to overflow.
            let largest =
                shares.map_or(1.0, |shares| next.iter().fold(0.0, |most, &link| shares[link as usize].max(most)));
            let share = |link: u32| shares.map_or(1.0, |shares| shares[link as usize] / largest);
            if largest == 0.0 {
                divided = Err(Failure::NoShare { node, links: next.len() });
                continue;
            }
            let whole: f64 = next.iter().map(|&link| share(link)).sum();
            for &link in next {
                let part = here * share(link) / whole;
                if part > 0.0 {
                    parts.push((link, part));
                    let there = &mut traffic[self.links[link as usize].to as usize];
                    holding += usize::from(*there == 0.0);
                    *there += part;
                }
            }
        }
        traffic[*target as usize] = 0.0;
        divided
    }
}
