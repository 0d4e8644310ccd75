//! The routing matrix R (links × paths) as loops over paths: products with R, with Rᵀ and with R W Rᵀ.
//!
//! Paths of one length stand together (presolve sees to it), and each run of them goes through a loop that is compiled
//! for that length. Every product is O(crossings).

use std::ops::Range;

use super::price::with_length;
use crate::paths::Paths;

/// The links of some paths, cut into runs of equal length.
pub(super) struct RoutingMatrix {
    runs: Vec<Run>,
}

struct Run {
    paths: Range<usize>,
    /// Their number of links; none for a run of lengths that are too long or too varied to be worth a loop each.
    length: Option<usize>,
}

/// The longest path that gets a loop of its own.
const LONGEST: usize = 6;

impl RoutingMatrix {
    pub(super) fn new(paths: &Paths) -> Self {
        let length = |path: usize| Some(paths.links(path).len()).filter(|&length| length <= LONGEST);
        let mut runs: Vec<Run> = Vec::new();
        for path in 0..paths.len() {
            match runs.last_mut() {
                Some(run) if run.length == length(path) => run.paths.end = path + 1,
                _ => runs.push(Run { paths: path..path + 1, length: length(path) }),
            }
        }
        Self { runs }
    }

    /// Rᵀ v: per path of a range the sum of its links' values.
    pub(super) fn gather(&self, paths: &Paths, range: Range<usize>, values: &[f64], sums: &mut [f64]) {
        self.each(paths, range.clone(), |run, links| {
            let sums = &mut sums[run.paths.start - range.start..run.paths.end - range.start];
            with_length!(run.length, LENGTH => gather(links.as_chunks::<LENGTH>().0, values, sums), {
                for (links, sum) in rows(paths, run).zip(sums) {
                    *sum = links.iter().map(|&link| values[link as usize]).sum();
                }
            });
        });
    }

    /// R x over a range of paths, added to what is there: per link the sum of its paths' values.
    pub(super) fn scatter(&self, paths: &Paths, range: Range<usize>, values: &[f64], sums: &mut [f64]) {
        self.each(paths, range.clone(), |run, links| {
            let values = &values[run.paths.start - range.start..run.paths.end - range.start];
            with_length!(run.length, LENGTH => scatter(links.as_chunks::<LENGTH>().0, values, sums), {
                for (links, &value) in rows(paths, run).zip(values) {
                    links.iter().for_each(|&link| sums[link as usize] += value);
                }
            });
        });
    }

    /// R W Rᵀ v over a range of paths, added to what is there; `pairs` holds (v, sum) of every link side by side, so that
    /// reading and adding touch one line of the cache.
    pub(super) fn multiply(&self, paths: &Paths, range: Range<usize>, weights: &[f64], pairs: &mut [[f64; 2]]) {
        self.each(paths, range, |run, links| {
            let weights = &weights[run.paths.clone()];
            with_length!(run.length, LENGTH => multiply(links.as_chunks::<LENGTH>().0, weights, pairs), {
                for (links, &weight) in rows(paths, run).zip(weights) {
                    multiply_one(links, weight, pairs);
                }
            });
        });
    }

    /// The parts of the runs that are in a range, each with its links.
    fn each(&self, paths: &Paths, range: Range<usize>, mut visit: impl FnMut(&Run, &[u32])) {
        let first = self.runs.partition_point(|run| run.paths.end <= range.start);
        for run in self.runs[first..].iter().take_while(|run| run.paths.start < range.end) {
            let inside = run.paths.start.max(range.start)..run.paths.end.min(range.end);
            let (start, end) = (paths.indptr()[inside.start], paths.indptr()[inside.end]);
            visit(&Run { paths: inside, length: run.length }, &paths.indices()[start..end]);
        }
    }
}

fn rows<'a>(paths: &'a Paths, run: &Run) -> impl Iterator<Item = &'a [u32]> {
    run.paths.clone().map(|path| paths.links(path))
}

fn gather<const LENGTH: usize>(rows: &[[u32; LENGTH]], values: &[f64], sums: &mut [f64]) {
    for (row, sum) in rows.iter().zip(sums) {
        *sum = row.iter().map(|&link| values[link as usize]).sum();
    }
}

fn scatter<const LENGTH: usize>(rows: &[[u32; LENGTH]], values: &[f64], sums: &mut [f64]) {
    for (row, &value) in rows.iter().zip(values) {
        row.iter().for_each(|&link| sums[link as usize] += value);
    }
}

fn multiply<const LENGTH: usize>(rows: &[[u32; LENGTH]], weights: &[f64], pairs: &mut [[f64; 2]]) {
    for (row, &weight) in rows.iter().zip(weights) {
        multiply_one(row, weight, pairs);
    }
}

#[inline(always)]
fn multiply_one(links: &[u32], weight: f64, pairs: &mut [[f64; 2]]) {
    let sum: f64 = weight * links.iter().map(|&link| pairs[link as usize][0]).sum::<f64>();
    links.iter().for_each(|&link| pairs[link as usize][1] += sum);
}
