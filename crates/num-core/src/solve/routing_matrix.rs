//! The routing matrix R (links × paths) as loops over paths: products with R, Rᵀ and R W Rᵀ.
//!
//! Paths of one length stand together (presolve orders them so), and each run of them goes through a loop that is
//! compiled for that length. Every product is O(crossings).

use std::ops::Range;
use std::sync::Arc;

use crate::paths::Paths;
use crate::runs::{Run, runs, with_length};

/// The routing matrix of some paths, its columns cut into runs of equal length.
pub(crate) struct RoutingMatrix {
    paths: Arc<Paths>,
    runs: Vec<Run>,
}

impl RoutingMatrix {
    pub(crate) fn new(paths: &Arc<Paths>) -> Self {
        Self { paths: Arc::clone(paths), runs: runs(paths.indptr()) }
    }

    /// The links of every path.
    pub(crate) fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Rᵀ v: per path of a range the sum of its links' values.
    pub(crate) fn gather(&self, range: Range<usize>, values: &[f64], sums: &mut [f64]) {
        self.each(range.clone(), |run, links| {
            let sums = &mut sums[run.paths.start - range.start..run.paths.end - range.start];
            with_length!(run.length, LENGTH => gather(links.as_chunks::<LENGTH>().0, values, sums), {
                for (links, sum) in self.rows(run).zip(sums) {
                    *sum = links.iter().map(|&link| values[link as usize]).sum();
                }
            });
        });
    }

    /// R x over a range of paths, added to what is there: per link the sum of its paths' values.
    pub(crate) fn scatter(&self, range: Range<usize>, values: &[f64], sums: &mut [f64]) {
        self.each(range.clone(), |run, links| {
            let values = &values[run.paths.start - range.start..run.paths.end - range.start];
            with_length!(run.length, LENGTH => scatter(links.as_chunks::<LENGTH>().0, values, sums), {
                for (links, &value) in self.rows(run).zip(values) {
                    links.iter().for_each(|&link| sums[link as usize] += value);
                }
            });
        });
    }

    /// R W Rᵀ v over a range of paths, added to what is there; `pairs` holds (v, sum) of every link side by side, so
    /// that reading and adding touch one line of the cache.
    pub(crate) fn multiply(&self, range: Range<usize>, weights: &[f64], pairs: &mut [[f64; 2]]) {
        self.each(range, |run, links| {
            let weights = &weights[run.paths.clone()];
            with_length!(run.length, LENGTH => multiply(links.as_chunks::<LENGTH>().0, weights, pairs), {
                for (links, &weight) in self.rows(run).zip(weights) {
                    multiply_one(links, weight, pairs);
                }
            });
        });
    }

    /// The parts of the runs that are in a range, each with its links.
    fn each(&self, range: Range<usize>, mut visit: impl FnMut(&Run, &[u32])) {
        let first = self.runs.partition_point(|run| run.paths.end <= range.start);
        for run in self.runs[first..].iter().take_while(|run| run.paths.start < range.end) {
            let inside = run.paths.start.max(range.start)..run.paths.end.min(range.end);
            let (start, end) = (self.paths.indptr()[inside.start], self.paths.indptr()[inside.end]);
            visit(&Run { paths: inside, length: run.length }, &self.paths.indices()[start..end]);
        }
    }

    /// The links of each path of a run.
    fn rows(&self, run: &Run) -> impl Iterator<Item = &[u32]> + use<'_> {
        run.paths.clone().map(|path| self.paths.links(path))
    }
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
