//! The sums of the equations where many paths begin alike: over the nodes of tries in place of crossings.
//!
//! The matrix is only a preconditioner here, that of a few conjugate gradients on the exact equations. It may leave
//! out what is small: of each flow with several paths those count of which a link has more than a part of its diagonal,
//! and with only one of them the flow is as one with one path. The others are in it without what ties them to the rest
//! of their flow.

use std::ops::Range;

use super::ABSENT;
use super::chains::ChainRows;
use super::multipath::{Eliminated, Multipath};
use crate::error::Result;
use crate::paths::Paths;
use crate::paths::trie::Trie;

/// A path that is not the heaviest of its flow counts from this part of a link's diagonal on.
const COUNTS: f64 = 1e-7;
/// Θσ up to which the products of pairs of paths may cancel on links that all paths of a flow cross.
const FREE_OF_CANCELLATION: f64 = 1e8;

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
    /// Whole paths.
    whole: Trie,
    whole_ends: Vec<u32>,
}

/// Room for values of the nodes of a part, and for sums at them, which are 0 between two uses.
#[derive(Clone, Default)]
pub(crate) struct Nodes {
    pub(crate) values: Vec<f64>,
    pub(crate) sums: Vec<f64>,
}

/// Room for a symmetric matrix in the making, by columns, each from the diagonal on; and for the rows of one flow.
#[derive(Default)]
pub(super) struct Square {
    pub(super) matrix: Vec<f64>,
    /// The columns of `matrix`, and the rows of each.
    pub(super) size: usize,
    /// The rows that the paths of the flow cross, one path after the other, and where those of each end.
    crossed: Vec<u32>,
    ends: Vec<usize>,
    /// The vector in the making: by row, and the rows that were touched; and its entries.
    of_rows: Vec<f64>,
    touched: Vec<u32>,
    vector: Vec<(u32, f64)>,
    /// Sums at the nodes, and the largest of what their links have.
    at: Vec<f64>,
    largest: Vec<f64>,
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
        let rows = paths.clone().map(|path| routing.links(path));
        let Some((whole, whole_ends)) = Trie::new(rows, links, part)? else { return Ok(None) };
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
        let commons = ends.split_off(paths.len());
        let (first_path, first_flow) = (paths.start, flows.start);
        Ok(Some(Self { first_path, first_flow, split, ends, commons, disjoint, whole, whole_ends }))
    }

    /// The links of all nodes, in the order of a walk down the trees.
    pub(super) fn links(&self) -> impl Iterator<Item = u32> {
        self.whole.links()
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

    /// Adds R W Rᵀ with flows eliminated over the links that have a row to a matrix. `inverse` is the inverse of the
    /// whole diagonal.
    pub(super) fn add_square(
        &self,
        (routing, multipath): (&Paths, &Multipath),
        (weights, inverse): (&[f64], &[f64]),
        paths: Range<usize>,
        chains: &ChainRows<'_>,
        room: &mut Square,
    ) {
        let rows = chains.rows;
        let row_of = |link: usize| Some(rows.of[link]).filter(|&row| row != ABSENT);
        let [mut at, mut largest] = [&mut room.at, &mut room.largest].map(std::mem::take);
        for values in [&mut at, &mut largest] {
            values.clear();
            values.resize(self.whole.len(), 0.0);
        }
        self.whole.largest(|link| if rows.of[link] == ABSENT { 0.0 } else { inverse[link] }, &mut largest);
        let mut counting = Vec::new();
        multipath.each(paths, |range, flow| {
            let ends = &self.whole_ends[range.start - self.first_path..range.end - self.first_path];
            let own = &weights[range.clone()];
            let Some(flow) = flow else {
                return ends.iter().zip(own).for_each(|(&end, weight)| at[end as usize] += weight);
            };
            let whole @ Eliminated { total, softness, stiffness } = multipath.eliminated(flow);
            let heaviest = (1..own.len()).fold(0, |best, place| if own[place] > own[best] { place } else { best });
            counting.clear();
            for (place, (&end, &weight)) in ends.iter().zip(own).enumerate() {
                let weight = alone(weight, total, softness, stiffness);
                if place == heaviest || weight * largest[end as usize] > COUNTS {
                    counting.push(place);
                } else {
                    at[end as usize] += weight;
                }
            }
            if let [only] = *counting {
                at[ends[only] as usize] += alone(own[only], total, softness, stiffness);
                return;
            }
            let curvature = whole.curvature();
            let total = counting.iter().map(|&place| own[place]).sum::<f64>();
            let Eliminated { softness, stiffness, .. } = Eliminated::from_total(total, curvature);
            let may_cancel = total * curvature >= FREE_OF_CANCELLATION;
            let places = counting.iter().map(|&place| own[place]).enumerate();
            let links = counting.iter().map(|&place| routing.links(range.start + place));
            if may_cancel && !multipath.common(flow).links.is_empty() {
                // Over links: what all paths use alike is to cancel to the last digit, also where one crosses a whole
                // chain and another a part of it.
                room.cross(links, |path, found| found.extend(path.iter().filter_map(|&link| row_of(link as usize))));
                let pivot = counting.iter().position(|&place| place == heaviest).expect("the heaviest counts");
                for (path, weight) in places.clone().filter(|(path, _)| *path != pivot) {
                    room.add(path, 1.0);
                    room.add(pivot, -1.0);
                    room.add_outer(weight);
                }
                for (coefficient, of_pivot) in [(-total.recip(), 0.0), (softness / total, total)] {
                    for (path, weight) in places.clone().filter(|(path, _)| *path != pivot) {
                        room.add(path, weight);
                        room.add(pivot, -weight);
                    }
                    room.add(pivot, of_pivot);
                    room.add_outer(coefficient);
                }
                return;
            }
            room.cross(links, |path, found| chains.cross(path, found));
            if may_cancel || self.disjoint[flow - self.first_flow] {
                // Σ (θ − κ θ²) r rᵀ − κ Σ θ θ' (r r'ᵀ + r' rᵀ) with κ = σ/(1 + Θσ).
                for (path, weight) in places.clone() {
                    at[ends[counting[path]] as usize] += alone(weight, total, softness, stiffness);
                    for (other, of_other) in places.clone().take(path) {
                        room.add_pair(path, other, -stiffness * weight * of_other);
                    }
                }
                return;
            }
            // Σ θ r rᵀ − κ (Σ θ r) (Σ θ r)ᵀ: paths that share links have few together.
            for (path, weight) in places {
                at[ends[counting[path]] as usize] += weight;
                room.add(path, weight);
            }
            room.add_outer(-stiffness);
        });
        self.whole.add_square(&mut at, row_of, |one, other, value| room.add_at(one, other, value));
        (room.at, room.largest) = (at, largest);
    }
}

/// What a path of a weight adds to the diagonal, on links that no other path of its flow crosses.
fn alone(weight: f64, total: f64, softness: f64, stiffness: f64) -> f64 {
    weight * (softness + (total - weight).max(0.0) * stiffness)
}

impl Square {
    /// An empty matrix of a size.
    pub(super) fn clear(&mut self, size: usize) {
        self.size = size;
        self.matrix.clear();
        self.matrix.resize(size * size, 0.0);
        self.of_rows.resize(size, 0.0);
    }

    /// The entries of a column in some rows, from the diagonal on.
    pub(super) fn entries(&self, column: usize, rows: Range<usize>) -> &[f64] {
        &self.matrix[column * self.size..][rows]
    }

    #[inline(always)]
    fn add_at(&mut self, one: u32, other: u32, value: f64) {
        self.matrix[one.min(other) as usize * self.size + one.max(other) as usize] += value;
    }

    /// Finds the rows of some paths, which are numbered from 0 then.
    fn cross<'a>(&mut self, paths: impl Iterator<Item = &'a [u32]>, mut find: impl FnMut(&[u32], &mut Vec<u32>)) {
        self.crossed.clear();
        self.ends.clear();
        for path in paths {
            find(path, &mut self.crossed);
            self.ends.push(self.crossed.len());
        }
    }

    fn range(&self, path: usize) -> Range<usize> {
        if path == 0 { 0..self.ends[0] } else { self.ends[path - 1]..self.ends[path] }
    }

    /// Adds w (v uᵀ + u vᵀ) of the rows of ones of two paths.
    fn add_pair(&mut self, one: usize, other: usize, weight: f64) {
        for own in self.range(one) {
            for row in self.range(other) {
                let (own, row) = (self.crossed[own], self.crossed[row]);
                self.add_at(own, row, if own == row { 2.0 * weight } else { weight });
            }
        }
    }

    /// Adds a value times a path's row of ones to the vector in the making.
    fn add(&mut self, path: usize, value: f64) {
        for &row in &self.crossed[self.range(path)] {
            let sum = &mut self.of_rows[row as usize];
            if *sum == 0.0 {
                self.touched.push(row);
            }
            *sum += value;
        }
    }

    /// Adds w v vᵀ of the vector in the making, which is 0 then.
    fn add_outer(&mut self, weight: f64) {
        let Self { matrix, size, of_rows, touched, vector, .. } = self;
        vector.clear();
        touched.sort_unstable();
        // A row whose sum was 0 in between is here twice.
        let values = touched.drain(..).map(|row| (row, std::mem::take(&mut of_rows[row as usize])));
        vector.extend(values.filter(|&(_, value)| value != 0.0));
        for (place, &(own, value)) in vector.iter().enumerate() {
            let weighted = weight * value;
            let column = &mut matrix[own as usize * *size..(own as usize + 1) * *size];
            vector[place..].iter().for_each(|&(row, value)| column[row as usize] += weighted * value);
        }
    }
}
