//! The seam for paths: prices of links in, the cheapest path of every flow out.

use std::fmt;

use super::search::{Price, sum};
use crate::error::{Error, Result};
use crate::paths::Paths;
use crate::work::Workers;

/// Cheapest paths of flows, with the flows that they are for, in increasing order.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Cheaper {
    /// The flow of every path, each at most once.
    pub flows: Vec<u32>,
    /// A path of each of these flows.
    pub paths: Paths,
}

impl Cheaper {
    /// Of flows, in increasing order, and a path of each.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one path per flow.
    pub fn new(flows: Vec<u32>, paths: Paths) -> Result<Self> {
        crate::error::check_length("paths", paths.len(), flows.len(), "flow")?;
        Ok(Self { flows, paths })
    }
}

/// All paths that flows may use, by the one question that [`solve_over_all_paths`](super::solve_over_all_paths) asks:
/// which is the cheapest?
///
/// [`NetworkPaths`](super::NetworkPaths) answers it for the paths of a network. An implementation of your own has other
/// sets of paths: over waypoints, valley-free ones, lists of segments. A proof over all paths is as good as the
/// answers: it holds for the paths that are named here, of which none is cheaper than the one that is returned.
pub trait CheapestPaths: fmt::Debug + Send + Sync {
    /// How many flows there are.
    fn flows(&self) -> usize;

    /// For every flow whose cheapest path costs less than `than[flow]`, that path. The cost of a path is the sum of the
    /// prices of its links, which are at least 0; of several cheapest paths any will do, the same at every call.
    ///
    /// # Errors
    /// [`Error::Stopped`], and any of its own.
    fn cheaper(&self, prices: &[f64], than: &[f64], workers: &dyn Workers) -> Result<Cheaper>;

    /// The same at prices to more digits than floats have: whole numbers of a unit, whose sums saturate. Where prices
    /// of flows lie twelve decades apart and more, floats hold no difference of paths that matters to those that pay
    /// least. By default none is known, and the proof is to the digits of floats.
    ///
    /// # Errors
    /// As above.
    fn cheaper_exactly(&self, prices: &[u128], than: &[u128], workers: &dyn Workers) -> Result<Option<Cheaper>> {
        let _ = (prices, than, workers);
        Ok(None)
    }

    /// The most that each flow can carry over all of its paths together, given the capacities of links: by default all
    /// of them, as each unit takes one link at least.
    fn most(&self, capacities: &[f64]) -> Vec<f64> {
        vec![capacities.iter().sum(); self.flows()]
    }

    /// What the paths are, for people: `all paths`, `all paths of at most 4 links`.
    fn name(&self) -> String;
}

/// A path may cost more than one that is known by this part of the highest price: rounding of sums, and what was added
/// to prices to find shorter paths. It is left out then.
pub const DEARER: f64 = 1e-6;

/// What a set of paths answers, checked.
///
/// # Errors
/// Its own, and [`Error::CheapestPath`] naming the flow.
pub(super) fn cheaper(
    all: &dyn CheapestPaths,
    capacities: &[f64],
    prices: &[f64],
    than: &[f64],
    workers: &dyn Workers,
) -> Result<Cheaper> {
    let mut found = all.cheaper(prices, than, workers)?;
    let little = DEARER * prices.iter().copied().fold(0.0, f64::max);
    check(&found, capacities, prices, than, |than| than + little)?;
    let is_cheaper = |(path, &flow): (usize, &u32)| found.paths.row(path).sum(prices) < than[flow as usize];
    let kept: Vec<usize> =
        found.flows.iter().enumerate().filter(|path| is_cheaper(*path)).map(|(path, _)| path).collect();
    if kept.len() < found.flows.len() {
        let links = kept.iter().map(|&path| found.paths.links(path));
        found =
            Cheaper { paths: Paths::from_lists(links), flows: kept.iter().map(|&path| found.flows[path]).collect() };
    }
    Ok(found)
}

/// The same in whole units, if it is known.
///
/// # Errors
/// As above.
pub(super) fn cheaper_exactly(
    all: &dyn CheapestPaths,
    capacities: &[f64],
    prices: &[u128],
    than: &[u128],
    workers: &dyn Workers,
) -> Result<Option<Cheaper>> {
    let Some(found) = all.cheaper_exactly(prices, than, workers)? else { return Ok(None) };
    check(&found, capacities, prices, than, |than| than)?;
    Ok(Some(found))
}

/// Checks what was returned: flows that exist, in order, and paths over links that exist and have not failed, none of
/// them dearer than asked for but by a little.
///
/// # Errors
/// [`Error::CheapestPath`] naming the flow.
fn check<P: Price + fmt::Display>(
    found: &Cheaper,
    capacities: &[f64],
    prices: &[P],
    than: &[P],
    and_a_little: impl Fn(P) -> P,
) -> Result<()> {
    let wrong = |flow: usize, what: String| Err(Error::CheapestPath { flow, what });
    if let Some(pair) = found.flows.windows(2).find(|pair| pair[0] >= pair[1]) {
        return wrong(pair[1] as usize, format!("it follows flow {}, expected flows in increasing order", pair[0]));
    }
    if let Some(&last) = found.flows.last().filter(|&&last| last as usize >= than.len()) {
        return wrong(last as usize, format!("there are {} flows", than.len()));
    }
    for (path, &flow) in found.flows.iter().enumerate() {
        let (flow, links) = (flow as usize, found.paths.links(path));
        if links.is_empty() {
            return wrong(flow, "its path has no links".into());
        }
        if let Some(link) = links.iter().find(|&&link| link as usize >= capacities.len()) {
            return wrong(flow, format!("its path names link {link} of {} links", capacities.len()));
        }
        if let Some(link) = links.iter().find(|&&link| capacities[link as usize] == 0.0) {
            return wrong(flow, format!("its path crosses link {link}, which has failed"));
        }
        let cost = sum(links.iter().copied(), prices);
        if cost > and_a_little(than[flow]) {
            return wrong(flow, format!("its path costs {cost}, more than another of {} that it may use", than[flow]));
        }
    }
    Ok(())
}
