//! Given paths with shares: for example the split of a traffic-engineering solution.
//!
//! The paths from one node to another are those of every flow between the two, each with its share of what all of them
//! have. A flow goes over one of them, drawn with its share as switches hash ([`hash`](super::hash)), is spread over
//! all, or has all of them as a pool, over which the policy splits it. Where a path has failed, its flows are drawn
//! anew over those that are left, or spread over them; paths without a share are never used.

use std::collections::HashMap;
use std::sync::Arc;

use netnum_core::internal::interrupt::Pacer;
use netnum_core::{Paths, Topology};

use super::Routing;
use super::hash::Hash;
use crate::error::{Error, Result};
use crate::network::{NetworkState, Route};
use crate::workload::Workload;

const NAME: &str = "split";

/// Given paths, each with its share of its pair.
#[derive(Debug, Clone)]
pub struct Split {
    hash: Hash,
    over: Over,
    table: Arc<Table>,
    /// By flow, its pair in the table.
    of: Vec<u32>,
}

/// What a flow takes of the paths of its pair.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Over {
    /// One, drawn with its share.
    One,
    /// All, in proportion to their shares.
    Spread,
    /// All, as the policy splits it.
    Pool,
}

/// Paths with shares, by the nodes that they join.
#[derive(Debug, Clone)]
struct Table {
    paths: Paths,
    shares: Vec<f64>,
    pairs: HashMap<(u32, u32), u32>,
    /// By pair, the paths with a share.
    of: Vec<Vec<u32>>,
    /// These paths themselves, where flows are pooled.
    pools: Vec<Arc<Paths>>,
}

impl Table {
    /// # Errors
    /// [`netnum_core::Error::Length`] unless there is a share per path, [`Error::Share`], the core's for a path that is
    /// no walk, and [`netnum_core::Error::Stopped`].
    fn new(net: &Topology, paths: Paths, shares: Vec<f64>) -> Result<Self> {
        let (found, expected) = (shares.len(), paths.len());
        if found != expected {
            let error = netnum_core::Error::Length { what: "shares".into(), found, expected, per: "path" };
            return Err(error.into());
        }
        if let Some(path) = shares.iter().position(|share| !(share.is_finite() && *share >= 0.0)) {
            return Err(Error::Share { path, value: shares[path] });
        }
        net.check_walks(&paths)?;
        let (mut pairs, mut of, mut pacer) = (HashMap::new(), Vec::<Vec<u32>>::new(), Pacer::new());
        for (path, links) in paths.iter().enumerate() {
            pacer.did(links.len())?;
            if links.is_empty() {
                return Err(netnum_core::Error::EmptyPath { path }.into());
            }
            let mut sorted = links.to_vec();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(netnum_core::Error::RepeatedLink { path, link: pair[0] as usize }.into());
            }
            let Some((source, destination)) = net.walk_ends(links) else {
                let what = match paths.coefficients() {
                    None => "it ends where it begins, expected two nodes".into(),
                    Some(_) => {
                        "it is no walk between two nodes; the paths themselves are a routing, one per flow".into()
                    }
                };
                return Err(netnum_core::Error::NoWalk { path, what }.into());
            };
            // Links that are all shared lead either way.
            let is_either_way = links.iter().all(|&link| net.is_shared(link));
            for pair in [(source, destination), (destination, source)].into_iter().take(1 + usize::from(is_either_way))
            {
                let next = of.len() as u32;
                let place = *pairs.entry((pair.0 as u32, pair.1 as u32)).or_insert(next);
                if place == next {
                    of.push(Vec::new());
                }
                if shares[path] > 0.0 {
                    of[place as usize].push(path as u32);
                }
            }
        }
        Ok(Self { paths, shares, pairs, of, pools: Vec::new() })
    }
}

impl Split {
    /// From paths of a network with one share each, relative to those of the same two nodes: the rates of a flow over
    /// its paths, say. Each flow takes one of them, by a hash of this seed, with the coefficients that it has.
    ///
    /// # Errors
    /// [`Error::Share`] for a share that is negative or not finite, the core's for paths that are no walks of the
    /// network or end where they begin, and unless there is one share per path.
    pub fn new(net: &Topology, paths: Paths, shares: Vec<f64>, seed: u64) -> Result<Self> {
        let table = Arc::new(Table::new(net, paths, shares)?);
        Ok(Self { hash: Hash::ideal(seed), over: Over::One, table, of: Vec::new() })
    }

    /// Without paths yet: [`add_pair`](Self::add_pair) adds them.
    pub(super) fn empty(seed: u64) -> Self {
        let paths = Paths::from_lists([[0; 0]; 0]);
        let table = Table { paths, shares: Vec::new(), pairs: HashMap::new(), of: Vec::new(), pools: Vec::new() };
        Self { hash: Hash::ideal(seed), over: Over::One, table: Arc::new(table), of: Vec::new() }
    }

    /// Adds paths from a node to another that has none from there yet, all with the same share. They are of this
    /// direction only, over shared links as well.
    pub(super) fn add_pair<'a>(
        &mut self,
        (source, destination): (usize, usize),
        paths: impl IntoIterator<Item = &'a [u32]>,
    ) {
        let table = Arc::make_mut(&mut self.table);
        let (first, pool) = (table.paths.len(), Paths::from_lists(paths));
        pool.iter().for_each(|path| table.paths.push(path));
        table.shares.resize(table.paths.len(), 1.0);
        table.pairs.insert((source as u32, destination as u32), table.of.len() as u32);
        table.of.push((first as u32..table.paths.len() as u32).collect());
        if self.over == Over::Pool {
            table.pools.push(Arc::new(pool));
        }
    }

    /// With every flow spread over all of its paths, as if packet by packet.
    #[must_use]
    pub fn spread(self) -> Self {
        Self { over: Over::Spread, ..self }
    }

    /// With all paths with a share as the pool of every flow: the policy sets the rate on each of them, at all times.
    ///
    /// # Errors
    /// [`netnum_core::Error::Stopped`].
    pub fn pooled(mut self) -> Result<Self> {
        if self.table.pools.is_empty() {
            let table = Arc::make_mut(&mut self.table);
            let pool = |own: &Vec<u32>| Ok(Arc::new(table.paths.over_some(own, Some)?));
            table.pools = table.of.iter().map(pool).collect::<Result<_>>()?;
        }
        Ok(Self { over: Over::Pool, ..self })
    }

    /// With the hash of another seed, for another run.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { hash: Hash::ideal(seed), over: self.over, table: Arc::clone(&self.table), of: Vec::new() }
    }

    /// The paths.
    pub fn paths(&self) -> &Paths {
        &self.table.paths
    }

    /// The share of every path.
    pub fn shares(&self) -> &[f64] {
        &self.table.shares
    }

    /// Whether flows are spread over their paths.
    pub fn is_spread(&self) -> bool {
        self.over == Over::Spread
    }

    /// Whether they have them as a pool.
    pub fn is_pooled(&self) -> bool {
        self.over == Over::Pool
    }

    /// Sends a flow over some of its paths.
    fn send(&self, flow: usize, paths: &[u32], route: &mut Route) {
        let shares: Vec<f64> = paths.iter().map(|&path| self.table.shares[path as usize]).collect();
        // A sum of huge shares is not to overflow.
        let largest = shares.iter().copied().fold(0.0, f64::max);
        let total: f64 = shares.iter().map(|share| share / largest).sum();
        let parts = || shares.iter().map(|share| share / largest / total);
        let all = &self.table.paths;
        if self.over == Over::Spread && paths.len() > 1 {
            let parts = paths.iter().map(|&path| path as usize).zip(parts()).filter(|part| part.1 > 0.0);
            match all.coefficients() {
                None => route.spread(parts.map(|(path, part)| (all.links(path), part))),
                Some(_) => route.take_with_coefficients(parts.flat_map(|(path, part)| {
                    all.entries(path).map(move |(link, coefficient)| (link, part * coefficient))
                })),
            }
        } else {
            route.take_path(all, paths[self.hash.pick_by(flow, 0, parts())] as usize);
        }
    }
}

impl Routing for Split {
    fn name(&self) -> &str {
        NAME
    }

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.of.clear();
        self.add_flows(net, workload, 0)
    }

    fn add_flows(&mut self, net: &Topology, workload: &Workload, first: usize) -> Result<()> {
        let mut pacer = Pacer::new();
        for flow in first..workload.len() {
            let (source, destination) = workload.pair(flow);
            pacer.did(1)?;
            let pair = u32::try_from(source).ok().zip(u32::try_from(destination).ok());
            let wrong = |what: &str| {
                let name = |end: usize| net.node_names().get(end).map_or_else(|| end.to_string(), Clone::clone);
                let what = format!("flow {flow} from {} to {} has {what}", name(source), name(destination));
                Error::Routing { routing: NAME.into(), what }
            };
            let Some(&place) = pair.and_then(|pair| self.table.pairs.get(&pair)) else {
                return Err(wrong("no path, expected at least one among those given"));
            };
            if self.table.of[place as usize].is_empty() {
                return Err(wrong("no path with a share above 0"));
            }
            self.of.push(place);
        }
        Ok(())
    }

    fn route(&mut self, flow: usize, _network: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        let pair = self.of[flow] as usize;
        match self.over {
            Over::Pool => route.pool(&self.table.pools[pair]),
            Over::One | Over::Spread => self.send(flow, &self.table.of[pair], route),
        }
        Ok(())
    }

    fn pools(&self) -> bool {
        self.is_pooled()
    }

    fn reroute(&mut self, flow: usize, network: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        let stays = match self.over {
            Over::One => network.works(route.links()),
            Over::Spread => false,
            // The policy gives nothing to paths that have failed.
            Over::Pool => true,
        };
        if stays {
            return Ok(false);
        }
        let all = &self.table.of[self.of[flow] as usize];
        let works = |path: &u32| network.works(self.table.paths.links(*path as usize));
        let left: Vec<u32> = all.iter().copied().filter(works).collect();
        if left.is_empty() {
            return Ok(false);
        }
        self.send(flow, &left, route);
        Ok(true)
    }
}
