//! The sums of the equations where many paths begin alike: over the nodes of tries in place of crossings.
//!
//! The column of the matrix of a link is the response of all flows to a price of 1 of that link: the sum of what each
//! path that crosses it moves, over all paths of its flow. Those that cross it after the same links have one node, and
//! their sum is also part of that of every link before: a node costs O(links) and not O(crossings of all its paths), in
//! vectors over links near each other.
//!
//! The matrix that is factorized is the preconditioner of a few conjugate gradients on the exact equations. It may
//! leave out what is small: a path that is not the heaviest of its flow counts in the diagonal alone where θ is less
//! than a part of the diagonal of every link that the flow crosses, and the flow counts as one without it. The matrix
//! stays positive definite: K_f = R (diag(1/θ) + σ 1 1ᵀ)⁻¹ Rᵀ over the paths of a flow grows with every θ, by no more
//! than that in any entry, so that what is left out is positive semidefinite, and so is its diagonal.

use std::ops::Range;

use super::chunked::Chunked;
use super::multipath::{Eliminated, Multipath};
use super::{ABSENT, Rows};
use crate::error::Result;
use crate::paths::Paths;
use crate::paths::trie::Trie;

/// A path that is not the heaviest of its flow counts from this part of a link's diagonal on.
const COUNTS: f64 = 1e-10;

/// Consecutive paths, as tries.
pub(crate) struct Tries {
    first_path: usize,
    first_flow: usize,
    /// What paths use beyond what all paths of a flow use alike, and after them that of the flows with several.
    split: Trie,
    ends: Vec<u32>,
    commons: Vec<u32>,
    /// Whether no two paths of a flow with several have another link.
    disjoint: Vec<bool>,
    /// The paths that end at every node, and after these, numbered on from them, the flows whose common links do.
    ending: Paths,
}

/// Room for values of the nodes of a part, and for sums at them, which are 0 between two uses.
#[derive(Clone, Default)]
pub(crate) struct Nodes {
    pub(crate) values: Vec<f64>,
    pub(crate) sums: Vec<f64>,
}

/// Room for a matrix in the making, by columns, for sums at the nodes, and for what is known of the paths of a part.
#[derive(Default)]
pub(super) struct Square {
    pub(super) matrix: Vec<f64>,
    sums: Vec<Chunked>,
    /// The largest of what the links on the way to each node have.
    largest: Vec<f64>,
    counting: Vec<Counts>,
}

/// How a path counts in a matrix.
#[derive(Clone, Copy, PartialEq)]
enum Counts {
    Alone,
    /// Together with the others of its flow.
    Of(u32),
    Not,
}

impl Tries {
    /// Of paths in ranges that cut no flow; none where they have coefficients, or more nodes than a part of their
    /// crossings.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(
        routing: &Paths,
        multipath: &Multipath,
        links: usize,
        paths: Range<usize>,
        part: f64,
    ) -> Result<Option<Self>> {
        if routing.coefficients().is_some() {
            return Ok(None);
        }
        let flows = multipath.numbers(&paths);
        let (mut rows, mut disjoint) = (Vec::with_capacity(paths.len() + flows.len()), Vec::with_capacity(flows.len()));
        let mut last = vec![u32::MAX; links];
        multipath.each(paths.clone(), |range, flow| {
            let Some(flow) = flow else { return rows.extend(range.map(|path| routing.links(path))) };
            let first = rows.len();
            rows.extend(range.map(|path| multipath.own(path).links));
            let mut own = rows[first..].iter().copied().flatten();
            let is_new = |&link: &u32| std::mem::replace(&mut last[link as usize], flow as u32) != flow as u32;
            disjoint.push(own.all(is_new));
        });
        rows.extend(flows.clone().map(|flow| multipath.common(flow).links));
        let Some((split, mut ends)) = Trie::new(rows.into_iter(), links, part)? else { return Ok(None) };
        let ending = Paths::from_rows((0..=ends.len()).collect(), ends.clone(), None).transpose(split.len())?;
        let commons = ends.split_off(paths.len());
        let (first_path, first_flow) = (paths.start, flows.start);
        Ok(Some(Self { first_path, first_flow, split, ends, commons, disjoint, ending }))
    }

    /// The links of all nodes, in the order of a walk down the trees.
    pub(super) fn links(&self) -> impl Iterator<Item = u32> {
        self.split.links()
    }

    /// Room for the nodes of the sums of paths and flows.
    pub(crate) fn nodes(&self) -> Nodes {
        Nodes { values: vec![0.0; self.split.len()], sums: vec![0.0; self.split.len()] }
    }

    /// Sets Rᵀ v of all nodes, given v of a link.
    pub(crate) fn gather(&self, value: impl Fn(usize) -> f64, nodes: &mut Nodes) {
        self.split.gather(value, &mut nodes.values);
    }

    /// Adds the sums at all nodes to those of the links.
    pub(crate) fn scatter(&self, nodes: &mut Nodes, add: impl FnMut(usize, f64)) {
        self.split.scatter(&mut nodes.sums, add);
    }

    /// The nodes at which some paths end, by what each uses beyond what all of its flow use alike.
    pub(crate) fn ends(&self, paths: &Range<usize>) -> &[u32] {
        &self.ends[paths.start - self.first_path..paths.end - self.first_path]
    }

    /// The node of what all paths of a flow with several use alike.
    pub(crate) fn common(&self, flow: usize) -> usize {
        self.commons[flow - self.first_flow] as usize
    }

    /// R W Rᵀ v with flows eliminated, added to what is there; `pairs` holds (v, sum) of every link.
    pub(super) fn multiply(
        &self,
        multipath: &Multipath,
        weights: &[f64],
        paths: Range<usize>,
        nodes: &mut Nodes,
        pairs: &mut [[f64; 2]],
    ) {
        self.gather(|link| pairs[link][0], nodes);
        let Nodes { values, sums } = nodes;
        let mut changes = Vec::new();
        multipath.each(paths, |range, flow| {
            let ends = self.ends(&range);
            let Some(flow) = flow else {
                let paths = ends.iter().zip(&weights[range]);
                return paths.for_each(|(&end, weight)| sums[end as usize] += weight * values[end as usize]);
            };
            changes.clear();
            changes.extend(ends.iter().map(|&end| values[end as usize]));
            let common = self.common(flow);
            let (total, _) = multipath.respond(flow, weights, values[common], &mut changes);
            ends.iter().zip(&changes).for_each(|(&end, change)| sums[end as usize] += change);
            sums[common] += total;
        });
        self.scatter(nodes, |link, sum| pairs[link][1] += sum);
    }

    /// The diagonal of all that, added to what is there.
    pub(super) fn add_diagonal(
        &self,
        (routing, multipath): (&Paths, &Multipath),
        weights: &[f64],
        paths: Range<usize>,
        diagonal: &mut [f64],
    ) {
        let mut nodes = self.nodes();
        multipath.each(paths, |range, flow| {
            let ends = self.ends(&range);
            let own = ends.iter().zip(&weights[range.clone()]);
            let Some(flow) = flow else { return own.for_each(|(&end, weight)| nodes.sums[end as usize] += weight) };
            if !self.disjoint[flow - self.first_flow] {
                return multipath.add_diagonal(routing, weights, range, diagonal);
            }
            let Eliminated { total, softness, stiffness } = multipath.eliminated(flow);
            own.for_each(|(&end, weight)| nodes.sums[end as usize] += alone(*weight, total, softness, stiffness));
            nodes.sums[self.common(flow)] += total * softness;
        });
        self.scatter(&mut nodes, |link, sum| diagonal[link] += sum);
    }

    /// Adds R W Rᵀ with flows eliminated over the links that have a row to a matrix, its lower triangle. `inverse` is
    /// the inverse of the whole diagonal.
    pub(super) fn add_square(
        &self,
        (routing, multipath): (&Paths, &Multipath),
        (weights, inverse): (&[f64], &[f64]),
        paths: Range<usize>,
        rows: &Rows,
        Square { matrix, sums, largest, counting }: &mut Square,
    ) {
        let size = rows.links.len();
        largest.resize(self.split.len(), 0.0);
        self.split.largest(|link| if rows.of[link] == ABSENT { 0.0 } else { inverse[link] }, largest);
        // The flow of each path, if it counts, and Θ of the paths of each flow that do.
        let (first_path, first_flow) = (self.first_path, self.first_flow);
        counting.clear();
        counting.resize(paths.len(), Counts::Alone);
        let mut eliminated = Vec::with_capacity(self.commons.len());
        multipath.each(paths.clone(), |range, flow| {
            let Some(flow) = flow else { return };
            let own = &weights[range.clone()];
            let heaviest = (1..own.len()).fold(0, |best, place| if own[place] > own[best] { place } else { best });
            let ends = self.ends(&range).iter().chain([&self.commons[flow - first_flow]]);
            let most = ends.map(|&end| largest[end as usize]).fold(0.0, f64::max);
            let mut left = 0.0;
            for (place, &weight) in own.iter().enumerate() {
                let is_in = place == heaviest || weight * most > COUNTS;
                counting[range.start + place - first_path] = if is_in { Counts::Of(flow as u32) } else { Counts::Not };
                left += if is_in { weight } else { 0.0 };
            }
            eliminated.push(multipath.eliminated(flow).of_total(left));
        });
        let add_all = |links: &[u32], value: f64, sums: &mut Chunked| {
            let of_rows = links.iter().map(|&link| rows.of[link as usize]).filter(|&row| row != ABSENT);
            of_rows.for_each(|row| sums.add(row as usize, value));
        };
        // What the paths of a flow change by at a price of 1 of what one of them, or all, use.
        let add = |node: usize, sums: &mut Chunked| {
            for number in self.ending.links(node).iter().map(|&number| number as usize) {
                let path = (number < paths.len()).then(|| first_path + number);
                let flow = match path.map(|path| (path, counting[number])) {
                    None => first_flow + number - paths.len(),
                    Some((_, Counts::Of(flow))) => flow as usize,
                    Some((path, Counts::Alone)) => {
                        add_all(routing.links(path), weights[path], sums);
                        continue;
                    }
                    Some((_, Counts::Not)) => continue,
                };
                let Eliminated { total, softness, stiffness } = eliminated[flow - first_flow];
                for other in multipath.paths(flow).filter(|other| counting[other - first_path] != Counts::Not) {
                    let change = match path {
                        Some(path) if path == other => alone(weights[path], total, softness, stiffness),
                        Some(path) => -stiffness * weights[path] * weights[other],
                        None => softness * weights[other],
                    };
                    add_all(multipath.own(other).links, change, sums);
                }
                let of_path = path.map_or(total, |path| weights[path]);
                add_all(multipath.common(flow).links, softness * of_path, sums);
            }
        };
        let visit = |link: usize, sums: &Chunked| {
            let row = rows.of[link];
            if row != ABSENT {
                let column = row as usize * size;
                sums.add_from(row as usize, &mut matrix[column..column + size]);
            }
        };
        self.split.add_up(sums, || Chunked::zeros(size), add, visit, Chunked::move_to);
        sums.iter_mut().for_each(Chunked::clear);
    }
}

/// What a path of a weight adds to the diagonal, on links that no other path of its flow crosses.
fn alone(weight: f64, total: f64, softness: f64, stiffness: f64) -> f64 {
    weight * (softness + (total - weight).max(0.0) * stiffness)
}

impl Square {
    /// An empty matrix of a size.
    pub(super) fn clear(&mut self, size: usize) {
        self.matrix.clear();
        self.matrix.resize(size * size, 0.0);
        if self.sums.first().is_some_and(|sums| sums.len() != size) {
            self.sums.clear();
        }
    }
}
