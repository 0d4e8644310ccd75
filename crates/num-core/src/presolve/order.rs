//! Which paths and flows are kept, and in which order.

use std::sync::Arc;

use super::active::{has_own_open_paths, open_paths};
use super::flow_paths::FlowPaths;
use crate::error::Result;
use crate::interrupt::{PIECE, check};
use crate::paths::{LONGEST, Paths};
use crate::problem::{Block, Problem, is_worthless};
use crate::utility::Curvature;

/// Which paths and flows are kept, and in which order.
pub(super) struct Order {
    /// By the caller's numbers; the same list where every flow has its own path.
    pub(super) paths: Arc<Vec<u32>>,
    pub(super) flows: Arc<Vec<u32>>,
    pub(super) flow_paths: FlowPaths,
    /// Per kept block its number in the problem and the places of its kept flows there, in working order.
    pub(super) blocks: Vec<(usize, Vec<u32>)>,
    pub(super) failed_flows: Vec<u32>,
}

impl Order {
    /// Flows that are worth nothing and have no floor are left out, unless they have a rate that is to be certified.
    pub(super) fn of(problem: &Problem, has_worthless: bool) -> Result<Self> {
        let open = (!has_own_open_paths(problem)).then(|| open_paths(problem)).transpose()?;
        let (mut flows, mut failed_flows) = (Vec::with_capacity(problem.flows()), Vec::new());
        let mut blocks = Vec::new();
        let longest = open.as_ref().map_or(0, |_| longest(problem.paths()));
        for (number, block) in problem.blocks().iter().enumerate() {
            let mut places = sorted_places(problem, block, open.as_ref(), longest, &mut failed_flows)?;
            if !has_worthless && block.utility.curvature() == Curvature::Linear {
                // What is worth nothing is not sent, and has not failed.
                let is_sent = |&place: &u32| {
                    !is_worthless(&*block.utility, place as usize)
                        || problem.flow_floor(block.flows[place as usize] as usize) > 0.0
                };
                places.retain(is_sent);
            }
            flows.extend(places.iter().map(|&place| block.flows[place as usize]));
            check()?;
            if !places.is_empty() {
                blocks.push((number, places));
            }
        }
        failed_flows.sort_unstable();
        let flows = Arc::new(flows);
        let (paths, flow_paths) = match open {
            None => (Arc::clone(&flows), FlowPaths::default()),
            Some(open) => {
                let (mut paths, mut starts) = (Vec::with_capacity(open.indices().len()), vec![0]);
                starts.reserve(flows.len());
                for some in flows.chunks(PIECE) {
                    for &flow in some {
                        paths.extend_from_slice(open.links(flow as usize));
                        starts.push(paths.len());
                    }
                    check()?;
                }
                (Arc::new(paths), FlowPaths::new(starts))
            }
        };
        Ok(Self { paths, flows, flow_paths, blocks, failed_flows })
    }
}

/// Flows with one path come first, by path length; then those with several. Those without go to `failed_flows`. In
/// large problems paths too long for a loop of their own count as of one length: they stay in the order of the caller,
/// in which paths that begin alike stand together.
fn sorted_places(
    problem: &Problem,
    block: &Block,
    open: Option<&Paths>,
    longest: usize,
    failed_flows: &mut Vec<u32>,
) -> Result<Vec<u32>> {
    let indptr = problem.paths().indptr();
    let length = |path: u32| indptr[path as usize + 1] - indptr[path as usize];
    match open {
        None => counting_sort(&block.flows, length, usize::MAX).map(|(places, _)| places),
        Some(open) => {
            let (several, failed) = (longest + 1, longest + 2);
            let most = if problem.paths().indices().len() < LARGE { longest } else { LONGEST + 1 };
            let key = |flow: u32| match open.links(flow as usize) {
                [] => failed,
                &[path] => length(path).min(most),
                _ => several,
            };
            let (mut places, kept) = counting_sort(&block.flows, key, failed)?;
            failed_flows.extend(places.drain(kept..).map(|place| block.flows[place as usize]));
            Ok(places)
        }
    }
}

/// Crossings from which on the order of long paths is that of the caller.
const LARGE: usize = 1 << 16;

/// The length of the longest path.
fn longest(paths: &Paths) -> usize {
    paths.indptr().windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
}

/// The places of some flows in the order of their keys, and how many keys are below a given one.
fn counting_sort(flows: &[u32], key: impl Fn(u32) -> usize, below: usize) -> Result<(Vec<u32>, usize)> {
    let mut next: Vec<usize> = Vec::new();
    for some in flows.chunks(PIECE) {
        for &flow in some {
            let key = key(flow);
            if next.len() <= key {
                next.resize(key + 1, 0);
            }
            next[key] += 1;
        }
        check()?;
    }
    let mut total = 0;
    for count in &mut next {
        total += std::mem::replace(count, total);
    }
    let kept = next.get(below).copied().unwrap_or(total);
    let mut places = vec![0; flows.len()];
    for (number, some) in flows.chunks(PIECE).enumerate() {
        for (place, &flow) in some.iter().enumerate() {
            let at = &mut next[key(flow)];
            places[*at] = (number * PIECE + place) as u32;
            *at += 1;
        }
        check()?;
    }
    Ok((places, kept))
}
