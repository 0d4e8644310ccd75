//! The active problem: the open paths, and the links that they use.

use crate::error::Result;
use crate::interrupt::{PIECE, Pacer, check};
use crate::paths::Paths;
use crate::paths::parts;
use crate::problem::Problem;
use crate::work::{Workers, for_each};

/// The open paths of every flow.
pub(crate) fn open_paths(problem: &Problem) -> Result<Paths> {
    let count = problem.paths().len();
    if has_own_open_paths(problem) {
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

/// Whether every flow has a path of its own, by the same number, and none is closed.
pub(super) fn has_own_open_paths(problem: &Problem) -> bool {
    let has_caps = problem.has_rate_caps() || problem.has_flow_caps();
    problem.capacities().iter().all(|&capacity| capacity > 0.0)
        && (!has_caps || (0..problem.paths().len()).all(|path| problem.limit(path) > 0.0))
        && problem.pairs_flows_with_paths()
}

/// How many of some paths cross every link of a problem, over all ranks.
pub(super) fn uses(problem: &Problem, paths: &[u32], workers: &dyn Workers) -> Result<Vec<f64>> {
    let mut uses: Vec<f64> = own_uses(problem, paths, workers)?.into_iter().map(f64::from).collect();
    workers.ranks().sum(&mut uses)?;
    Ok(uses)
}

fn own_uses(problem: &Problem, paths: &[u32], workers: &dyn Workers) -> Result<Vec<u32>> {
    let ranges = parts::ranges(paths.len(), parts::PATHS.max(parts::PER_LINK * problem.links()));
    let is_whole = paths.len() == problem.paths().len();
    let of_ranges = for_each(workers, ranges, |range| {
        let mut uses = vec![0u32; problem.links()];
        if is_whole {
            let indptr = problem.paths().indptr();
            for some in problem.paths().indices()[indptr[range.start]..indptr[range.end]].chunks(PIECE) {
                some.iter().for_each(|&link| uses[link as usize] += 1);
                check()?;
            }
            return Ok(uses);
        }
        for some in paths[range].chunks(PIECE) {
            for &path in some {
                problem.paths().links(path as usize).iter().for_each(|&link| uses[link as usize] += 1);
            }
            check()?;
        }
        Ok(uses)
    })?;
    Ok(parts::add_up(of_ranges))
}
