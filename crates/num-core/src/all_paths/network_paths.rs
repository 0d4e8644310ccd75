//! All paths of a network between the ends of pairs.

use std::fmt;

use super::cheapest_paths::{Cheaper, CheapestPaths};
use super::graph::{ByRoot, Graph, Meeting, Step, meetings, pairs, usable};
use super::search::{Price, Search, sum};
use crate::error::{Error, Result, check_length};
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::problem::Problem;
use crate::topology::{Node, Topology};
use crate::utility::Utilities;
use crate::work::{Ranks, Workers, for_each};

/// Roots whose searches are one part of the work.
const ROOTS: usize = 8;
/// An error lists so many pairs.
const LISTED: usize = 10;

/// All paths without loops of a network, for pairs of its ends: over links of capacity above 0 that are not to be
/// avoided, and with a limit of links if there is one.
///
/// Where only some nodes are ends, the servers of a fabric, paths do not pass through them: they do not forward. In a
/// network whose nodes are all ends all of them do.
///
/// ```
/// use netnum_core::{AlphaFair, Ask, NetworkPaths, Topology, solve_over_all_paths};
///
/// let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 10")?;
/// let paths = NetworkPaths::new(&net, &["Seattle", "Denver"], &["Houston", "Houston"])?;
/// let problem = paths.problem(&net, AlphaFair::proportional())?; // over one path per pair, to begin with
/// let all = solve_over_all_paths(&problem, &paths, &Ask::default(), &mut ())?;
/// assert!((all.solution.flow_rates[0] - 10.0).abs() < 1e-2);
/// # Ok::<(), netnum_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NetworkPaths {
    /// The ends of every pair.
    pairs: Vec<[u32; 2]>,
    /// Where they meet the trunk.
    meetings: Vec<[Meeting; 2]>,
    /// All ways of links that may be used.
    ways: Vec<(u32, Step)>,
    forwards: Vec<bool>,
    avoided: Vec<bool>,
    avoided_nodes: Vec<u32>,
    max_hops: Option<u32>,
    /// Whether searches begin at destinations, and go against the links.
    backwards: bool,
    graph: Graph,
    by_root: ByRoot,
    /// The paths of pairs that only failed links join; empty for others.
    failed: Vec<Vec<u32>>,
}

impl NetworkPaths {
    /// For pairs `sources[i]`, `destinations[i]`. O(nodes + links + pairs), and a search per root.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are as many destinations as sources; [`Error::Topology`] for a pair of equal ends
    /// or an end that does not exist, naming the pair, and for pairs that the network does not join, which it lists;
    /// [`Error::Stopped`].
    pub fn new(net: &Topology, sources: &[impl Node], destinations: &[impl Node]) -> Result<Self> {
        Self::within(net, sources, destinations, None, &[], &[])
    }

    /// For pairs, over paths of at most `max_hops` links that take none of the links `avoid_links` and pass through
    /// none of the nodes `avoid_nodes`, which may be ends of pairs all the same.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`Error::Setting`] for a limit of 0 links, [`Error::UnknownLink`], and
    /// [`Error::Topology`] for a node that does not exist.
    pub fn within(
        net: &Topology,
        sources: &[impl Node],
        destinations: &[impl Node],
        max_hops: Option<u32>,
        avoid_links: &[u32],
        avoid_nodes: &[u32],
    ) -> Result<Self> {
        let [sources, destinations] = pairs(net, sources, destinations)?;
        if max_hops == Some(0) {
            return Err(Error::setting("max_hops", 0, "an integer >= 1"));
        }
        let (nodes, ends, links) = (net.node_names().len(), net.ends(), net.links().len());
        let mut avoided = vec![false; links];
        for &link in avoid_links {
            let unknown = Error::UnknownLink { link: link.into(), links };
            *avoided.get_mut(link as usize).ok_or(unknown)? = true;
        }
        // Where all nodes are ends, all of them forward.
        let mut forwards: Vec<bool> = (0..nodes).map(|node| node >= ends || ends == nodes).collect();
        for &node in avoid_nodes {
            let what =
                || Error::Topology(format!("node {node} of avoid_nodes does not exist, there are {nodes} nodes"));
            *forwards.get_mut(node as usize).ok_or_else(what)? = false;
        }
        let pairs: Vec<[u32; 2]> = sources.into_iter().zip(destinations).map(|(from, to)| [from, to]).collect();
        // First over failed links as well: which pairs does the network join at all?
        let mut all = Self::over(pairs.clone(), forwards.clone(), avoided.clone(), max_hops, net, |_| true)?;
        all.avoided_nodes = avoid_nodes.to_vec();
        let alone = Ranks::alone();
        let (prices, any) = (vec![1.0; links], vec![f64::INFINITY; pairs.len()]);
        let Cheaper { flows, paths } = all.cheaper(&prices, &any, &alone)?;
        if flows.len() < pairs.len() {
            return Err(unconnected(net, &pairs, &flows, &all));
        }
        if !net.capacities().contains(&0.0) {
            return Ok(all);
        }
        let mut this =
            Self::over(pairs, forwards, avoided, max_hops, net, |link| net.capacities()[link as usize] > 0.0)?;
        let working = this.cheaper(&prices, &any, &alone)?.flows;
        this.avoided_nodes = avoid_nodes.to_vec();
        this.failed = vec![Vec::new(); this.pairs.len()];
        for (flow, links) in this.failed.iter_mut().enumerate() {
            if working.binary_search(&(flow as u32)).is_err() {
                links.extend_from_slice(paths.links(flow));
            }
        }
        Ok(this)
    }

    fn over(
        pairs: Vec<[u32; 2]>,
        forwards: Vec<bool>,
        avoided: Vec<bool>,
        max_hops: Option<u32>,
        net: &Topology,
        works: impl Fn(u32) -> bool,
    ) -> Result<Self> {
        let nodes = forwards.len();
        let ways = usable(net, |link| works(link) && !avoided[link as usize]);
        let of_ends = meetings(&forwards, net.ends(), &ways);
        let meetings: Vec<[Meeting; 2]> =
            pairs.iter().map(|&[from, to]| [of_ends[from as usize][0], of_ends[to as usize][1]]).collect();
        let roots = |end: usize| meetings.iter().map(|both| both[end].node).collect::<Vec<u32>>();
        let distinct = |mut roots: Vec<u32>| {
            roots.sort_unstable();
            roots.dedup();
            roots.len()
        };
        let backwards = distinct(roots(1)) < distinct(roots(0));
        let by_root = ByRoot::new(nodes, &roots(usize::from(backwards)))?;
        let graph = Graph::new(nodes, &ways, forwards.clone(), backwards);
        let (avoided_nodes, failed) = (Vec::new(), Vec::new());
        Ok(Self {
            pairs,
            meetings,
            ways,
            forwards,
            avoided,
            avoided_nodes,
            max_hops,
            backwards,
            graph,
            by_root,
            failed,
        })
    }

    /// The paths with the fewest links, one per pair: those that a problem begins with. Pairs that only failed links
    /// join have a path over these.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn fewest_hops(&self, links: usize, workers: &dyn Workers) -> Result<Paths> {
        let found = self.cheaper(&vec![1.0; links], &vec![f64::INFINITY; self.pairs.len()], workers)?;
        if found.flows.len() == self.pairs.len() {
            return Ok(found.paths);
        }
        let (mut paths, mut place) = (Paths::with_capacity(self.pairs.len(), found.paths.indices().len()), 0);
        for flow in 0..self.pairs.len() {
            if found.flows.get(place) == Some(&(flow as u32)) {
                paths.push(found.paths.links(place));
                place += 1;
            } else {
                paths.push(&self.failed[flow]);
            }
        }
        Ok(paths)
    }

    /// A problem of these pairs over one path each, that with the fewest links: what to begin with.
    ///
    /// # Errors
    /// Those of [`Problem::new`].
    pub fn problem(&self, net: &Topology, utilities: impl Into<Utilities>) -> Result<Problem> {
        let paths = self.fewest_hops(net.links().len(), &Ranks::alone())?;
        Problem::new(net.capacities().to_vec(), paths, utilities)
    }

    /// A problem of these flows over the paths to begin with, one per pair, which have the costs of their links.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a flow per pair and a cost per link, if any; [`Error::Stopped`].
    pub fn begin(&self, problem: &Problem, link_costs: &[f64], workers: &dyn Workers) -> Result<Problem> {
        over_first_paths(problem, self.fewest_hops(problem.links(), workers)?, link_costs)
    }

    /// These pairs, with their limits, in the network with other capacities.
    ///
    /// # Errors
    /// Those of [`within`](Self::within).
    pub fn of_network(&self, net: &Topology) -> Result<Self> {
        let (sources, destinations): (Vec<usize>, Vec<usize>) =
            self.pairs.iter().map(|&[from, to]| (from as usize, to as usize)).unzip();
        Self::within(net, &sources, &destinations, self.max_hops, &self.avoided_links(), &self.avoided_nodes)
    }

    /// Whether pairs and limits are the same.
    pub fn is_of_same(&self, other: &Self) -> bool {
        let limits = |paths: &Self| (paths.max_hops, paths.avoided.clone(), paths.forwards.clone());
        self.pairs == other.pairs && limits(self) == limits(other)
    }

    /// The ends of every pair.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// The ways of links that may be used: from a node, the step that each is.
    pub(super) fn ways(&self) -> &[(u32, Step)] {
        &self.ways
    }

    /// Whether paths may pass through a node, by node.
    pub(super) fn forwards(&self) -> &[bool] {
        &self.forwards
    }

    /// The most links of a path, if there is a limit.
    pub fn max_hops(&self) -> Option<u32> {
        self.max_hops
    }

    /// The links that are avoided, in increasing order.
    pub fn avoided_links(&self) -> Vec<u32> {
        (0..).zip(&self.avoided).filter(|(_, avoided)| **avoided).map(|(link, _)| link).collect()
    }

    /// The nodes that are avoided.
    pub fn avoided_nodes(&self) -> &[u32] {
        &self.avoided_nodes
    }

    /// The flows of one root whose cheapest paths cost less than asked for, with their links one after the other, and
    /// where each ends.
    fn of_root<P: Price>(
        &self,
        place: usize,
        search: &mut Search<P>,
        prices: &[P],
        than: &[P],
        found: &mut Found,
    ) -> Result<()> {
        let (root, flows) = self.by_root.of(place);
        // The links of hanging ends count as well.
        let limit = self.max_hops.map(|hops| (hops as usize).min(self.graph.nodes() + 2) as u32);
        let mut searched = None;
        let mut pacer = Pacer::new();
        let (near, far) = (usize::from(self.backwards), usize::from(!self.backwards));
        for &flow in flows.iter().filter(|&&flow| than[flow as usize] > P::ZERO) {
            let both = self.meetings[flow as usize];
            let hanging = both.iter().filter_map(|meeting| meeting.link);
            let own = sum(hanging.clone(), prices);
            let count = hanging.count() as u32;
            if limit.is_some_and(|limit| count > limit) {
                continue;
            }
            let limit = limit.map(|limit| limit - count);
            if searched != Some(limit) {
                search.run(&self.graph, prices, root, limit)?;
                searched = Some(limit);
            }
            let target = both[far].node;
            let cost = search.cost(target).plus(own);
            // A price that is no number has no cheapest path.
            let is_cheaper = cost < than[flow as usize];
            if !is_cheaper {
                continue;
            }
            let start = found.links.len();
            found.links.extend(both[far].link);
            search.way_back(target, root, limit, &mut found.links);
            found.links.extend(both[near].link);
            if !self.backwards {
                found.links[start..].reverse();
            }
            pacer.did(1 + found.links.len() - start)?;
            found.flows.push((flow, found.links.len()));
        }
        Ok(())
    }

    /// The cheapest paths of the flows for which they cost less than asked for.
    fn cheaper_than<P: Price>(&self, prices: &[P], than: &[P], workers: &dyn Workers) -> Result<Cheaper> {
        let roots = self.by_root.roots.len();
        let parts = (0..roots).step_by(ROOTS).map(|start| start..(start + ROOTS).min(roots));
        let parts = for_each(workers, parts, |places| {
            let (mut search, mut found) = (Search::default(), Found::default());
            places.into_iter().try_for_each(|place| self.of_root(place, &mut search, prices, than, &mut found))?;
            Ok(found)
        })?;
        let (count, links) =
            parts.iter().fold((0, 0), |(count, links), found| (count + found.flows.len(), links + found.links.len()));
        let mut places = Vec::with_capacity(count);
        for (part, found) in (0u32..).zip(&parts) {
            let mut start = 0;
            for &(flow, end) in &found.flows {
                places.push((flow, part, start, end));
                start = end;
            }
        }
        places.sort_unstable();
        let (mut paths, mut pacer) = (Paths::with_capacity(count, links), Pacer::new());
        for &(_, part, start, end) in &places {
            paths.push(&parts[part as usize].links[start..end]);
            pacer.did(1 + end - start)?;
        }
        Ok(Cheaper { flows: places.into_iter().map(|(flow, ..)| flow).collect(), paths })
    }
}

/// What a part of the roots has found.
#[derive(Default)]
struct Found {
    /// Flows, and where the links of each end.
    flows: Vec<(u32, usize)>,
    links: Vec<u32>,
}

impl CheapestPaths for NetworkPaths {
    fn flows(&self) -> usize {
        self.pairs.len()
    }

    fn cheaper(&self, prices: &[f64], than: &[f64], workers: &dyn Workers) -> Result<Cheaper> {
        self.cheaper_than(prices, than, workers)
    }

    fn cheaper_exactly(&self, prices: &[u128], than: &[u128], workers: &dyn Workers) -> Result<Option<Cheaper>> {
        self.cheaper_than(prices, than, workers).map(Some)
    }

    /// min(Σ of the capacities out of the source, Σ of those into the destination).
    fn most(&self, capacities: &[f64]) -> Vec<f64> {
        let nodes = self.forwards.len();
        let (mut out, mut into) = (vec![0.0; nodes], vec![0.0; nodes]);
        for &(from, Step { node, link }) in &self.ways {
            out[from as usize] += capacities[link as usize];
            into[node as usize] += capacities[link as usize];
        }
        self.pairs.iter().map(|&[from, to]| f64::min(out[from as usize], into[to as usize])).collect()
    }

    fn name(&self) -> String {
        let all = match self.max_hops {
            Some(1) => "all paths of 1 link".into(),
            Some(hops) => format!("all paths of at most {hops} links"),
            None => "all paths".to_string(),
        };
        self.avoids().map_or(all.clone(), |avoided| format!("{all} that avoid {avoided}"))
    }
}

/// A problem of these flows over one path each, to begin with; paths have the costs of their links.
///
/// # Errors
/// [`Error::Length`] unless there is a path per flow and a cost per link, if any.
pub fn over_first_paths(problem: &Problem, paths: Paths, link_costs: &[f64]) -> Result<Problem> {
    check_length("pairs", paths.len(), problem.flows(), "flow")?;
    problem.over_other_paths(paths, (0..problem.flows() as u32).collect(), link_costs)
}

impl NetworkPaths {
    /// How many links and nodes are avoided, in words, if any.
    fn avoids(&self) -> Option<String> {
        let counted = |count: usize, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            _ => Some(format!("{count} {what}s")),
        };
        let links = counted(self.avoided.iter().filter(|avoided| **avoided).count(), "link");
        let avoided: Vec<String> = links.into_iter().chain(counted(self.avoided_nodes.len(), "node")).collect();
        (!avoided.is_empty()).then(|| avoided.join(" and "))
    }
}

impl fmt::Display for NetworkPaths {
    /// `all paths`, `all paths of at most 4 links that avoid 1 node`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// That the network does not join some pairs, with their names.
fn unconnected(net: &Topology, pairs: &[[u32; 2]], joined: &[u32], paths: &NetworkPaths) -> Error {
    let lost: Vec<usize> = (0..pairs.len()).filter(|&pair| joined.binary_search(&(pair as u32)).is_err()).collect();
    let name = |end: u32| &net.node_names()[end as usize];
    let shown = |&pair: &usize| format!("{} to {}", name(pairs[pair][0]), name(pairs[pair][1]));
    let listed = lost.iter().take(LISTED).map(shown).collect::<Vec<_>>().join(", ");
    let more = if lost.len() > LISTED { format!(" and {} more", lost.len() - LISTED) } else { String::new() };
    let (what, joins) = match lost.len() {
        1 => ("1 pair has".to_owned(), "it"),
        count => (format!("{count} pairs have"), "them"),
    };
    let which = match paths.max_hops {
        Some(hops) => format!("no path of at most {hops} link{} joins {joins}", if hops == 1 { "" } else { "s" }),
        None => net.no_route(&paths.avoids().map_or_else(String::new, |avoided| format!(" that avoids {avoided}"))),
    };
    Error::Topology(format!("{what} no path, {listed}{more}: {which}"))
}
