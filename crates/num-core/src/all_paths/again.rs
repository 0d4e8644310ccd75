//! Going on from an answer: its paths, as far as the pairs may use them, and what they carried.
//!
//! Demands, capacities and limits may be others, and so may the pairs: a path is of every pair between its ends. The
//! rounds then begin where those of the answer ended (`rounds.rs`).

use std::collections::HashMap;

use super::network_paths::NetworkPaths;
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, check_length};
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::problem::Problem;
use crate::work::Workers;

impl NetworkPaths {
    /// A problem of these flows over the paths of an answer that the pairs may use, and what each of them carried; a
    /// flow that has none of them begins with its path of the fewest links. Paths have the costs of their links.
    ///
    /// Paths are left out that cross a link which has failed or is to be avoided, pass through a node that does not
    /// forward, have too many links, or whose links do not follow on each other.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a flow per pair, a cost per link, if any, and a rate per path;
    /// [`Error::Stopped`].
    pub fn go_on(
        &self,
        problem: &Problem,
        link_costs: &[f64],
        (paths, rates): (&Paths, &[f64]),
        workers: &dyn Workers,
    ) -> Result<(Problem, Vec<f64>)> {
        check_length("pairs", self.pairs().len(), problem.flows(), "flow")?;
        check_length("rates", rates.len(), paths.len(), "path")?;
        let mut flows_of: HashMap<[u32; 2], Vec<u32>> = HashMap::new();
        for (flow, &pair) in (0u32..).zip(self.pairs()) {
            flows_of.entry(pair).or_default().push(flow);
        }
        let mut walks = Walks::new(self, problem.links());
        // Every path once, with its flows and its rate.
        let (mut places, mut known) = (HashMap::new(), Vec::<(usize, Vec<u32>, f64)>::new());
        let mut pacer = Pacer::new();
        for (path, (links, rate)) in paths.iter().zip(rates).enumerate() {
            pacer.did(1 + links.len())?;
            if let Some(&place) = places.get(links) {
                let (_, _, sum): &mut (usize, Vec<u32>, f64) = &mut known[place];
                *sum += rate;
                continue;
            }
            let ends = walks.ends(links);
            let flows: Vec<u32> = ends.into_iter().filter_map(|pair| flows_of.get(&pair)).flatten().copied().collect();
            if !flows.is_empty() {
                places.insert(links, known.len());
                known.push((path, flows, *rate));
            }
        }
        let mut carried: Vec<(u32, usize, f64)> = Vec::with_capacity(known.len());
        for (path, flows, rate) in known {
            carried.extend(flows.iter().map(|&flow| (flow, path, rate / flows.len() as f64)));
        }
        carried.sort_by_key(|&(flow, path, _)| (flow, path));
        let first = self.fewest_hops(problem.links(), workers)?;
        let (mut all, mut group) = (Paths::with_capacity(carried.len(), 0), Vec::with_capacity(carried.len()));
        let (mut of_paths, mut next) = (Vec::with_capacity(carried.len()), carried.into_iter().peekable());
        for flow in 0..problem.flows() as u32 {
            let start = group.len();
            while let Some((_, path, rate)) = next.next_if(|carried| carried.0 == flow) {
                pacer.did(1 + paths.links(path).len())?;
                all.push(paths.links(path));
                group.push(flow);
                of_paths.push(rate);
            }
            if group.len() == start {
                all.push(first.links(flow as usize));
                group.push(flow);
                of_paths.push(0.0);
            }
        }
        Ok((problem.over_other_paths(all, group, link_costs)?, of_paths))
    }
}

/// The ends of paths, which are walked along.
struct Walks<'a> {
    all: &'a NetworkPaths,
    /// The ways of every link that may be used, from which node to which.
    ways: Vec<Vec<[u32; 2]>>,
    /// By node, the last walk that has been there.
    seen: Vec<usize>,
    walk: usize,
}

impl<'a> Walks<'a> {
    fn new(all: &'a NetworkPaths, links: usize) -> Self {
        let mut ways = vec![Vec::new(); links];
        for (from, step) in all.ways() {
            ways[step.link as usize].push([*from, step.node]);
        }
        Self { all, ways, seen: vec![0; all.forwards().len()], walk: 0 }
    }

    /// The ends of a path in the direction of its links: none where it is no way, both directions where links have
    /// both.
    fn ends(&mut self, links: &[u32]) -> Vec<[u32; 2]> {
        if links.is_empty() || self.all.max_hops().is_some_and(|most| links.len() > most as usize) {
            return Vec::new();
        }
        let starts: Vec<u32> = self.ways_of(links[0]).iter().map(|way| way[0]).collect();
        starts.into_iter().filter_map(|start| self.end(links, start).map(|end| [start, end])).collect()
    }

    fn ways_of(&self, link: u32) -> &[[u32; 2]] {
        self.ways.get(link as usize).map_or(&[], |ways| ways)
    }

    fn end(&mut self, links: &[u32], start: u32) -> Option<u32> {
        self.walk += 1;
        self.seen[start as usize] = self.walk;
        let mut node = start;
        for (place, &link) in links.iter().enumerate() {
            if place > 0 && !self.all.forwards()[node as usize] {
                return None;
            }
            node = self.ways_of(link).iter().find(|way| way[0] == node)?[1];
            // A loop is no way.
            if std::mem::replace(&mut self.seen[node as usize], self.walk) == self.walk {
                return None;
            }
        }
        Some(node)
    }
}
