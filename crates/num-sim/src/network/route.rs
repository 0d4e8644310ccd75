//! The links that a flow loads: a rate x puts a_l x on link l of its route.
//!
//! On a single path every share a_l is 1. A flow that spreads over several paths with weights w_p, Σ w_p = 1, has
//! a_l = Σ_{p ∋ l} w_p: 1 on the links that all paths have in common, less elsewhere.

use netnum_core::Topology;

/// Links, each with the share of the flow's rate that it carries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Route {
    links: Vec<u32>,
    shares: Vec<f64>,
    /// What the weights of its paths add up to.
    weight: f64,
}

/// Weights add up to one if they do so to rounding.
const ROUNDING: f64 = 1e-9;

impl Route {
    /// Takes one path, its links in order from the sender, instead of what was there before.
    pub fn take(&mut self, path: &[u32]) {
        self.links.clear();
        self.links.extend_from_slice(path);
        self.shares.clear();
        self.shares.resize(path.len(), 1.0);
        self.weight = 1.0;
    }

    /// Spreads over paths likewise, a part `weight` of the rate on each, instead of what was there before. Links in common are
    /// merged. Weights must add up to 1: a flow's rate is then the rate at which its bytes arrive.
    pub fn spread<'a>(&mut self, paths: impl IntoIterator<Item = (&'a [u32], f64)>) {
        self.links.clear();
        self.shares.clear();
        self.weight = 0.0;
        for (path, weight) in paths {
            self.weight += weight;
            for &link in path {
                match self.links.iter().position(|&known| known == link) {
                    Some(place) => self.shares[place] += weight,
                    None => {
                        self.links.push(link);
                        self.shares.push(weight);
                    }
                }
            }
        }
    }

    /// Its links, each once.
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// The share of the flow's rate on each of them.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Links with their shares.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, f64)> {
        self.links.iter().zip(&self.shares).map(|(&link, &share)| (link as usize, share))
    }

    /// The rate of a flow that has the whole route for itself.
    pub fn alone(&self, capacities: &[f64]) -> f64 {
        self.iter().map(|(link, share)| capacities[link] / share).fold(f64::INFINITY, f64::min)
    }

    /// What is wrong with it as the route of a flow from one node to another, if anything is: links that do not exist,
    /// shares that are none, and a node where something is lost or comes from nowhere. `balance` is memory, with a zero for
    /// every node, and zeros are left in it.
    pub(crate) fn fault(&self, net: &Topology, (from, to): (usize, usize), balance: &mut [f64]) -> Option<String> {
        if self.links.is_empty() {
            return Some("got a route without links".into());
        }
        let links = net.links();
        for (place, (link, share)) in self.iter().enumerate() {
            if link >= links.len() {
                return Some(format!("got a route over link {link}, expected a link below {}", links.len()));
            }
            if !(share > 0.0 && share <= 1.0 + ROUNDING) {
                return Some(format!("got a route with share {share} of link {link}, expected a number > 0 and <= 1"));
            }
            if self.links[..place].contains(&(link as u32)) {
                return Some(format!("got a route that visits link {link} twice"));
            }
        }
        if self.weight.is_nan() || (self.weight - 1.0).abs() > ROUNDING {
            return Some(format!("got weights over paths that add up to {}, expected 1", self.weight));
        }
        // Σ out − Σ in of every node is 1 where the flow begins, −1 where it ends, and 0 elsewhere.
        balance[from] -= self.weight;
        balance[to] += self.weight;
        for (link, share) in self.iter() {
            balance[links[link].from as usize] += share;
            balance[links[link].to as usize] -= share;
        }
        let mut fault = None;
        let nodes = self.links.iter().map(|&link| links[link as usize]).flat_map(|link| [link.from, link.to]);
        for node in nodes.map(|node| node as usize).chain([from, to]) {
            let more = std::mem::take(&mut balance[node]);
            if more.abs() > ROUNDING && fault.is_none() {
                fault = Some((node, more));
            }
        }
        fault.map(|(node, more)| {
            let [from, to, node] = [from, to, node].map(|node| &net.node_names()[node]);
            let what = if more < 0.0 { "is lost at" } else { "comes from nowhere at" };
            format!("got a route that does not lead from {from} to {to}: a share of {} {what} {node}", more.abs())
        })
    }
}
