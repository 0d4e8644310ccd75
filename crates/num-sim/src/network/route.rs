//! The links that a flow loads: a rate x puts a_l x on link l of its route.
//!
//! On a single path every fraction a_l is 1. A flow that spreads over several paths with weights w_p, Σ w_p = 1, has
//! a_l = Σ_{p ∋ l} w_p: 1 on the links that all paths have in common, less elsewhere.

use netnum_core::Topology;

use crate::numbers::ALIKE;

/// Links, each with the fraction of the flow's rate that it carries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Route {
    links: Vec<u32>,
    fractions: Vec<f64>,
    /// The sum of the weights of its paths.
    weight: f64,
}

impl Route {
    /// Takes one path, given by its links in order from the sender, in place of the route before.
    pub fn take(&mut self, path: &[u32]) {
        self.links.clear();
        self.links.extend_from_slice(path);
        self.fractions.clear();
        self.fractions.resize(path.len(), 1.0);
        self.weight = 1.0;
    }

    /// Spreads over paths likewise, a fraction `weight` of the rate on each. Links in common are merged. Weights must
    /// add up to 1: a flow's rate is then the rate at which its bytes arrive.
    pub fn spread<'a>(&mut self, paths: impl IntoIterator<Item = (&'a [u32], f64)>) {
        self.links.clear();
        self.fractions.clear();
        self.weight = 0.0;
        for (path, weight) in paths {
            self.weight += weight;
            for &link in path {
                match self.links.iter().position(|&known| known == link) {
                    Some(place) => self.fractions[place] += weight,
                    None => {
                        self.links.push(link);
                        self.fractions.push(weight);
                    }
                }
            }
        }
    }

    /// Its links, each once.
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// The fraction of the flow's rate on each of them.
    pub fn fractions(&self) -> &[f64] {
        &self.fractions
    }

    /// Links with their fractions.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, f64)> {
        self.links.iter().copied().zip(self.fractions.iter().copied())
    }

    /// The rate of a flow that is alone on the route, in bit/s.
    pub fn alone(&self, capacities: &[f64]) -> f64 {
        self.iter().map(|(link, fraction)| capacities[link as usize] / fraction).fold(f64::INFINITY, f64::min)
    }

    /// Whether it is one walk from one node to another, with all of the flow on each of its links, none of them twice.
    fn is_walk(&self, net: &Topology, (from, to): (usize, usize)) -> bool {
        let mut at = from;
        let goes_on = |(place, (link, fraction)): (usize, (u32, f64))| {
            let next = if (link as usize) < net.links().len() { net.beyond(link, at) } else { None };
            let leaves = next.is_some_and(|next| {
                at = next;
                true
            });
            leaves && fraction == 1.0 && !self.links[..place].contains(&link)
        };
        self.iter().enumerate().all(goes_on) && at == to && self.weight == 1.0
    }

    /// Why it is no route of a flow from one node to another, or None if it is one: links that do not exist,
    /// fractions out of range, or a node whose inflow is not its outflow. `balance` is memory, a zero for every node
    /// before and after.
    pub(crate) fn violation(&self, net: &Topology, (from, to): (usize, usize), balance: &mut [f64]) -> Option<String> {
        if self.links.is_empty() {
            return Some("got a route without links".into());
        }
        let links = net.links();
        if self.is_walk(net, (from, to)) {
            return None;
        }
        for (place, (link, fraction)) in self.iter().enumerate() {
            if link as usize >= links.len() {
                return Some(format!("got a route over link {link}, expected a link below {}", links.len()));
            }
            if !(fraction > 0.0 && fraction <= 1.0 + ALIKE) {
                return Some(format!(
                    "got a route with fraction {fraction} of link {link}, expected a number > 0 and <= 1"
                ));
            }
            if self.links[..place].contains(&link) {
                return Some(format!("got a route that visits link {link} twice"));
            }
        }
        if self.weight.is_nan() || (self.weight - 1.0).abs() > ALIKE {
            return Some(format!("got weights over paths that add up to {}, expected 1", self.weight));
        }
        // Which way the parts of a flow cross a shared link is not known.
        if self.links.iter().any(|&link| net.is_shared(link)) {
            return None;
        }
        // Σ out − Σ in of every node is 1 where the flow begins, −1 where it ends, and 0 elsewhere.
        balance[from] -= self.weight;
        balance[to] += self.weight;
        for (link, fraction) in self.iter() {
            let link = links[link as usize];
            balance[link.from as usize] += fraction;
            balance[link.to as usize] -= fraction;
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
