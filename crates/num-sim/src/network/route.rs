//! The links that a flow loads: a rate x puts a_l x on link l of its route.
//!
//! On a single path every coefficient a_l is 1. A flow that spreads over several paths with weights w_p, Σ w_p = 1, has
//! a_l = Σ_{p ∋ l} w_p: 1 on the links that all paths have in common, less elsewhere. Other coefficients are given:
//! the parts of a split that is no sum of a few paths, acknowledgements that load the way back by 0.05.
//!
//! A *pooled* route has several paths, and the policy sets the rate of each: its links and coefficients are then those
//! of the split of the moment.

use std::sync::Arc;

use netnum_core::{AlphaFair, Paths, Problem, Topology, max_min};
use smallvec::SmallVec;

use crate::numbers::ALIKE;

/// Links, each with what the flow puts on it per unit of its rate.
// In two lines of the cache: an event reads the first one of every flow whose rate changes.
#[derive(Debug, Clone, PartialEq, Default)]
#[repr(C, align(64))]
pub struct Route {
    links: SmallVec<[u32; 8]>,
    /// Empty where all are 1.
    coefficients: Vec<f64>,
    /// The sum of the weights of its paths; none where coefficients were given.
    weight: Option<f64>,
    pool: Option<Box<Pool>>,
}

/// Paths among which a policy splits a flow.
#[derive(Debug, Clone, PartialEq)]
struct Pool {
    paths: Arc<Paths>,
    /// By path, its part of the flow's rate.
    shares: Vec<f64>,
}

impl Route {
    /// Takes one path, given by its links in order from the sender, in place of the route before.
    pub fn take(&mut self, path: &[u32]) {
        self.links.clear();
        self.links.extend_from_slice(path);
        self.coefficients.clear();
        (self.weight, self.pool) = (Some(1.0), None);
    }

    /// Spreads over paths likewise, a fraction `weight` of the rate on each. Links in common are merged. Weights must
    /// add up to 1: a flow's rate is then the rate at which its bytes arrive.
    pub fn spread<'a>(&mut self, paths: impl IntoIterator<Item = (&'a [u32], f64)>) {
        let mut total = 0.0;
        let parts = paths.into_iter().flat_map(|(path, weight)| {
            total += weight;
            path.iter().map(move |&link| (link, weight))
        });
        self.put(parts);
        (self.weight, self.pool) = (Some(total), None);
    }

    /// Takes links with coefficients likewise, the links of the sender first: finite numbers > 0, which need not be the
    /// parts of a flow. Those of a link that is there twice are added.
    pub fn take_with_coefficients(&mut self, entries: impl IntoIterator<Item = (u32, f64)>) {
        self.put(entries);
        (self.weight, self.pool) = (None, None);
    }

    /// Takes one of some paths likewise, with its coefficients.
    pub fn take_path(&mut self, paths: &Paths, path: usize) {
        match paths.entries(path).all(|(_, coefficient)| coefficient == 1.0) {
            true => self.take(paths.links(path)),
            false => self.take_with_coefficients(paths.entries(path)),
        }
    }

    /// Takes all of some paths likewise, for the policy to split the flow over them; evenly at first. Only policies
    /// that [split](crate::Policy::splits) are given such routes, by a routing that [pools](crate::Routing::pools).
    ///
    /// # Panics
    /// Without a path.
    pub fn pool(&mut self, paths: &Arc<Paths>) {
        let even = vec![1.0 / paths.len() as f64; paths.len()];
        assert!(!even.is_empty(), "a pool has at least one path");
        self.pool = Some(Box::new(Pool { paths: Arc::clone(paths), shares: Vec::new() }));
        self.split(&even);
    }

    /// Splits the flow over the paths of its pool, in proportion to their rates.
    pub(crate) fn split(&mut self, rates: &[f64]) {
        let Some(mut pool) = self.pool.take() else { return };
        let total: f64 = rates.iter().sum();
        pool.shares.clear();
        pool.shares.extend(rates.iter().map(|rate| rate / total));
        let parts = pool.shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
        let entries = parts.flat_map(|(path, share)| {
            pool.paths.entries(path).map(move |(link, coefficient)| (link, share * coefficient))
        });
        self.put(entries);
        self.weight = pool.paths.coefficients().is_none().then_some(1.0);
        self.pool = Some(pool);
    }

    fn put(&mut self, entries: impl IntoIterator<Item = (u32, f64)>) {
        self.links.clear();
        self.coefficients.clear();
        for (link, coefficient) in entries {
            match self.links.iter().position(|&known| known == link) {
                Some(place) => self.coefficients[place] += coefficient,
                None => {
                    self.links.push(link);
                    self.coefficients.push(coefficient);
                }
            }
        }
        if self.coefficients.iter().all(|&coefficient| coefficient == 1.0) {
            self.coefficients.clear();
        }
    }

    /// Its links, each once.
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// What the flow puts on each of them per unit of its rate.
    pub fn coefficients(&self) -> impl ExactSizeIterator<Item = f64> {
        self.iter().map(|(_, coefficient)| coefficient)
    }

    /// The paths over which the policy splits the flow, if it is pooled.
    pub fn pooled(&self) -> Option<&Paths> {
        self.pool.as_ref().map(|pool| &*pool.paths)
    }

    /// By path of a pooled route, its part of the flow's rate; without a pool there are none.
    pub fn shares(&self) -> &[f64] {
        self.pool.as_ref().map_or(&[], |pool| &pool.shares)
    }

    /// The links that the flow may load: of a pooled one, those of all its paths, which may come several times.
    pub(crate) fn all_links(&self) -> &[u32] {
        self.pooled().map_or(self.links(), Paths::indices)
    }

    /// Whether the flow could send: no link of it has failed, or of one of its paths if it is pooled.
    pub(crate) fn is_open(&self, capacities: &[f64]) -> bool {
        let works = |links: &[u32]| links.iter().all(|&link| capacities[link as usize] > 0.0);
        match self.pooled() {
            None => works(&self.links),
            Some(paths) => paths.iter().any(works),
        }
    }

    /// Links with their coefficients.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, f64)> {
        let coefficient = |place: usize| self.coefficients.get(place).copied().unwrap_or(1.0);
        self.links.iter().enumerate().map(move |(place, &link)| (link, coefficient(place)))
    }

    /// Whether all of the flow crosses each link, once.
    pub(crate) fn is_whole(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// The route as a path with coefficients.
    pub(crate) fn path(&self) -> netnum_core::Result<Paths> {
        Paths::with_coefficients(vec![0, self.links.len()], self.links.to_vec(), self.coefficients().collect())
    }

    /// The rate of a flow that is alone on the route, in bit/s; over all paths of a pooled one, at the best split.
    ///
    /// # Errors
    /// Of a pooled route only: those of [`max_min`](netnum_core::max_min).
    pub fn alone(&self, capacities: &[f64]) -> netnum_core::Result<f64> {
        self.pooled().map_or_else(|| Ok(self.narrowest(capacities)), |paths| most_over(paths, capacities))
    }

    /// The rate of a flow that is alone on its links as they are, in bit/s.
    pub(crate) fn narrowest(&self, capacities: &[f64]) -> f64 {
        self.iter().map(|(link, coefficient)| capacities[link as usize] / coefficient).fold(f64::INFINITY, f64::min)
    }

    /// The rate that its first link alone would allow, in bit/s: ∞ without links.
    pub fn first(&self, capacities: &[f64]) -> f64 {
        let first = self.iter().next();
        first.map_or(f64::INFINITY, |(link, coefficient)| capacities[link as usize] / coefficient)
    }

    /// Whether it is one walk from one node to another, with all of the flow on each of its links, none of them twice.
    fn is_walk(&self, net: &Topology, (from, to): (usize, usize)) -> bool {
        let mut at = from;
        let goes_on = |(place, (link, coefficient)): (usize, (u32, f64))| {
            let next = if (link as usize) < net.links().len() { net.beyond(link, at) } else { None };
            let leaves = next.is_some_and(|next| {
                at = next;
                true
            });
            leaves && coefficient == 1.0 && !self.links[..place].contains(&link)
        };
        self.iter().enumerate().all(goes_on) && at == to && self.weight == Some(1.0)
    }

    /// Whether its links lead from one node to another. `reached` is memory, as for [`violation`](Self::violation).
    fn leads(&self, net: &Topology, (from, to): (usize, usize), reached: &mut [f64]) -> bool {
        reached[from] = 1.0;
        let mut goes_on = true;
        // Links mostly come in the order in which they follow on each other.
        while std::mem::take(&mut goes_on) && reached[to] == 0.0 {
            for &link in &self.links {
                let ends = net.links()[link as usize];
                for at in [ends.from, ends.to].map(|node| node as usize) {
                    let next = if reached[at] > 0.0 { net.beyond(link, at) } else { None };
                    goes_on |= next.is_some_and(|next| std::mem::replace(&mut reached[next], 1.0) == 0.0);
                }
            }
        }
        let leads = reached[to] > 0.0;
        reached[from] = 0.0;
        for ends in self.links.iter().map(|&link| net.links()[link as usize]) {
            (reached[ends.from as usize], reached[ends.to as usize]) = (0.0, 0.0);
        }
        leads
    }

    /// Why it is no route of a flow from one node to another, or None if it is one: links that do not exist,
    /// coefficients out of range, or a node whose inflow is not its outflow; of coefficients that were given, links
    /// that do not lead there. `balance` is memory, a zero for every node before and after.
    pub(crate) fn violation(&self, net: &Topology, (from, to): (usize, usize), balance: &mut [f64]) -> Option<String> {
        if self.links.is_empty() {
            return Some("got a route without links".into());
        }
        let links = net.links();
        if self.is_walk(net, (from, to)) {
            return None;
        }
        let (what, most, expected) = match self.weight {
            Some(_) => ("fraction", 1.0 + ALIKE, "a number > 0 and <= 1"),
            None => ("coefficient", f64::MAX, "a finite number > 0"),
        };
        for (place, (link, coefficient)) in self.iter().enumerate() {
            if link as usize >= links.len() {
                return Some(format!("got a route over link {link}, expected a link below {}", links.len()));
            }
            if !(coefficient > 0.0 && coefficient <= most) {
                return Some(format!("got a route with {what} {coefficient} of link {link}, expected {expected}"));
            }
            if self.links[..place].contains(&link) {
                return Some(format!("got a route that visits link {link} twice"));
            }
        }
        let Some(weight) = self.weight else {
            let [source, destination] = [from, to].map(|node| &net.node_names()[node]);
            let lost = || format!("got a route whose links do not lead from {source} to {destination}");
            return (!self.leads(net, (from, to), balance)).then(lost);
        };
        if weight.is_nan() || (weight - 1.0).abs() > ALIKE {
            return Some(format!("got weights over paths that add up to {weight}, expected 1"));
        }
        // Which way the parts of a flow cross a shared link is not known.
        if self.links.iter().any(|&link| net.is_shared(link)) {
            return None;
        }
        // Σ out − Σ in of every node is 1 where the flow begins, −1 where it ends, and 0 elsewhere.
        balance[from] -= weight;
        balance[to] += weight;
        for (link, coefficient) in self.iter() {
            let link = links[link as usize];
            balance[link.from as usize] += coefficient;
            balance[link.to as usize] -= coefficient;
        }
        let mut violation = None;
        let nodes = self.links.iter().map(|&link| links[link as usize]).flat_map(|link| [link.from, link.to]);
        for node in nodes.map(|node| node as usize).chain([from, to]) {
            let more = std::mem::take(&mut balance[node]);
            if more.abs() > ALIKE && violation.is_none() {
                violation = Some((node, more));
            }
        }
        violation.map(|(node, more)| {
            let [from, to, node] = [from, to, node].map(|node| &net.node_names()[node]);
            let what = if more < 0.0 { "is lost at" } else { "comes from nowhere at" };
            format!("got a route that does not lead from {from} to {to}: a fraction of {} {what} {node}", more.abs())
        })
    }
}

/// The largest rate over some paths together, in bit/s: the max-min rate of a flow that has the network for itself.
fn most_over(paths: &Paths, capacities: &[f64]) -> netnum_core::Result<f64> {
    // On its own links only.
    let mut used = paths.indices().to_vec();
    used.sort_unstable();
    used.dedup();
    let place = |link: u32| used.binary_search(&link).ok().map(|place| place as u32);
    let all: Vec<u32> = (0..paths.len() as u32).collect();
    let own = paths.over_some(&all, place)?;
    let own_capacities = used.iter().map(|&link| capacities[link as usize]).collect();
    let fair = AlphaFair::new(f64::INFINITY, 1.0)?;
    let problem = Problem::grouped(own_capacities, own, vec![0; paths.len()], fair)?;
    Ok(max_min(&problem)?.iter().sum())
}
