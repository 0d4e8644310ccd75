//! The active problem: the open paths, their links and flows, and the caps of those flows.

use super::CHECKED;
use crate::error::Result;
use crate::interrupt::{Pacer, check};
use crate::paths::Paths;
use crate::problem::Problem;

/// The open paths of every flow.
///
/// # Errors
/// [`Error::Stopped`].
pub(crate) fn open_paths(problem: &Problem) -> Result<Paths> {
    let count = problem.paths().len();
    let has_caps = problem.has_rate_caps() || problem.has_flow_caps();
    let none_is_closed = !has_caps && problem.capacities().iter().all(|&capacity| capacity > 0.0);
    if none_is_closed && problem.pairs_flows_with_paths() {
        return Ok(Paths::new((0..=count).collect(), (0..count as u32).collect()).expect("one each"));
    }
    let (mut open, mut pacer) = (Vec::with_capacity(count), Pacer::new());
    for path in 0..count as u32 {
        if !problem.is_closed(path as usize) {
            open.push(path);
        }
        pacer.did(problem.paths().links(path as usize).len())?;
    }
    let mut indptr = vec![0; problem.flows() + 1];
    for &path in &open {
        indptr[problem.group()[path as usize] as usize + 1] += 1;
    }
    for flow in 0..problem.flows() {
        indptr[flow + 1] += indptr[flow];
    }
    let mut next = indptr.clone();
    let mut indices = vec![0; open.len()];
    for path in open {
        let slot = &mut next[problem.group()[path as usize] as usize];
        indices[*slot] = path;
        *slot += 1;
    }
    Ok(Paths::new(indptr, indices).expect("offsets are running sums"))
}

/// The links that the paths use, and the new number of every link.
pub(super) fn used_links(problem: &Problem, paths: &[u32]) -> Result<(Vec<u32>, Vec<u32>)> {
    let mut used = vec![false; problem.links()];
    for some in paths.chunks(CHECKED) {
        for &path in some {
            for &link in problem.paths().links(path as usize) {
                used[link as usize] = true;
            }
        }
        check()?;
    }
    let links: Vec<u32> = (0..problem.links() as u32).filter(|&link| used[link as usize]).collect();
    let mut number = vec![u32::MAX; problem.links()];
    for (new, &link) in links.iter().enumerate() {
        number[link as usize] = new as u32;
    }
    Ok((links, number))
}

/// The caps of flows with several paths that could carry more, in natural units; those of flows with one path become
/// that path's.
pub(super) fn flow_caps(
    problem: &Problem,
    rate: f64,
    flows: &[u32],
    flow_paths: &[usize],
    caps: &mut [f64],
    ceilings: &mut [f64],
) -> Result<Vec<(usize, f64)>> {
    let mut several = Vec::new();
    if !problem.has_flow_caps() {
        return Ok(several);
    }
    let mut pacer = Pacer::new();
    for (flow, (&original, pair)) in flows.iter().zip(flow_paths.windows(2)).enumerate() {
        let (own, cap) = (pair[0]..pair[1], problem.flow_cap(original as usize) / rate);
        pacer.did(own.len())?;
        if own.len() > 1 {
            if cap < ceilings[own].iter().sum() {
                several.push((flow, cap));
            }
            continue;
        }
        for value in [&mut caps[own.start], &mut ceilings[own.start]] {
            *value = value.min(cap);
        }
    }
    Ok(several)
}
