//! Newton's equations of the interior point and of the dual, reduced to one unknown per link.
//!
//! ```text
//! ( Σ_f K_f + S/P ) dp = right-hand side      K_f = W_p r_p r_pᵀ for a flow with one path p
//! ```
//!
//! r_p is path p's column of the routing matrix, W and S/P are diagonal; K_f of a flow with several paths is in
//! `multipath.rs`. The matrix is symmetric, positive definite and dense: on leaf-spines 77 % of a sparse factor is
//! filled, so a sparse factorization does not pay. Conjugate gradients with the diagonal as preconditioner need
//! products with the matrix only (O(crossings) per step, no memory). Where they do not converge, and from the start
//! where the system is small, the matrix is computed and factorized (faer's Cholesky, O(links³) of those that are not
//! slack). Conjugate gradients with that factor as preconditioner converge in a few steps.
//!
//! Products with the matrix and the matrix itself are sums over the paths, which the workers of the problem do in
//! parts; the factorization is done by the calling thread. Where prices lie many decades apart, it makes the matrix and
//! its factor to twice the digits of a float (`fine.rs`). In large problems whose paths begin alike they are sums over
//! the nodes of tries, and what is factorized is only about the matrix (`tries.rs`), added up over chains of links
//! (`chains.rs`).

mod chains;
mod fine;
mod multipath;
mod tries;

use std::ops::{Add, AddAssign, Div, Mul, Neg, Range, Sub};
use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::reborrow::ReborrowMut;
use faer::{ColMut, Mat, MatMut, fx128, get_global_parallelism};

use self::chains::Chains;
use self::fine::FineFactor;
use self::multipath::Multipath;
pub(crate) use self::multipath::WeightsOfPart;
use self::tries::Square;
pub(crate) use self::tries::{Nodes, Tries};
use crate::error::Result;
use crate::interrupt;
use crate::paths::Paths;
use crate::paths::parts;
use crate::paths::passes::Pass;
use crate::presolve::{NaturalBlock, Presolved};
use crate::utility::Curvature;
use crate::work::{Workers, for_each};

/// Up to this number of links the matrix is factorized from the start.
const SMALL: usize = 48;
/// Links up to which it is where it is badly conditioned near the end, because rates reach 0, and where flows have
/// several paths.
const MEDIUM: usize = 1000;
const SEVERAL: usize = 2500;
/// The largest number of links in a factor (those that are not slack): 200 MB.
const LARGEST: usize = 5000;
/// A link is slack when no more than this part of its diagonal entry comes from flows: it stays out of the factor. The
/// first part that leaves no more links in the factor than its number, or the last: what is left out costs steps of
/// conjugate gradients, O(crossings) each, and every link in it a part of O(links³).
const SLACK: [(f64, usize); 3] = [(1e-9, 128), (1e-4, 500), (1e-2, 500)];
const LARGEST_SLACK: f64 = 0.1;
/// The same where the matrix is made by tries, whose additions are few.
const SHARED_SLACK: [(f64, usize); 2] = [(1e-9, 500), (1e-3, 2000)];
/// The links and crossings up to which a matrix to twice the digits of a float takes about a second.
const MOST_FINE_LINKS: usize = 2000;
const MOST_FINE_CROSSINGS: usize = 1 << 22;
/// Paths of such a matrix that are added between two checks of the time.
const AT_ONCE: usize = 1 << 10;
/// All links whose part from flows is more than rounding.
const ALL: [(f64, usize); 1] = [(f64::EPSILON, usize::MAX)];
/// Conjugate-gradient steps after which they count as not converging.
const MOST_STEPS: usize = 400;
/// An accuracy at which prices that are small relative to the others have as many digits.
pub(crate) const EXACT: f64 = 1e-15;
/// The finest accuracy that a step needs without a factor.
pub(super) const FINEST: f64 = 1e-9;
/// Infeasibility, relative, and changes of the dual as parts of the revenue: what is below this is rounding.
pub(super) const ROUNDING: f64 = 1e-14;
/// Additions of a part of the matrix for each of its entries, at least: each part has a matrix of its own. And the most
/// parts, for the memory that these take.
const PER_ENTRY: f64 = 8.0;
const MOST_MATRICES: usize = 8;
/// The crossings from which on tries pay, and the most nodes that they have per crossing.
const LEAST_SHARED_CROSSINGS: usize = 1 << 16;
const MOST_NODES: f64 = 0.4;
/// The most parts of the matrix with tries, which cost few additions, and the most entries of all (.8 GB); and the size
/// of blocks of the matrix.
const MOST_SHARED_MATRICES: usize = 4;
const MOST_SHARED_ENTRIES: usize = 100_000_000;
const BLOCK: usize = 64;
/// Steps that refine what a factorization gives, at most.
const MOST_REFINEMENTS: usize = 60;
/// The index of an absent item, such as the row of a link without one.
pub(crate) const ABSENT: u32 = u32::MAX;

/// How exact a solution is to be, relative, in the norm of the preconditioner.
#[derive(Clone, Copy)]
pub(crate) struct Accuracy {
    /// With the diagonal as preconditioner, and with a factor.
    pub(crate) without_factor: f64,
    pub(crate) with_factor: f64,
}

/// Newton's equations: their matrix, and a way of solving them.
pub(crate) struct System {
    /// *(given)*.
    pub(crate) routing: Arc<Paths>,
    /// W and S/P *(derived)*; of the last, after an update, with the part that was added.
    pub(crate) weights: Vec<f64>,
    pub(crate) diagonal: Vec<f64>,
    /// The flows with several paths.
    pub(crate) multipath: Multipath,
    /// The whole diagonal of the matrix, inverted *(derived)*.
    preconditioner: Vec<f64>,
    factor: Option<Factor>,
    /// The factor to twice the digits of a float.
    fine_factor: Option<FineFactor>,
    /// Whether to factorize *(derived)*.
    dense: bool,
    gradients: Gradients,
    /// Who does the passes over the paths, and the paths of every part *(given)*.
    workers: Arc<dyn Workers>,
    ranges: Vec<Range<usize>>,
    /// The paths of every part as tries; empty where they share too little *(given)*.
    tries: Vec<Tries>,
    /// All links, those after each other that paths cross one after the other, where there are tries *(given)*.
    links_in_order: Vec<u32>,
    /// The chains of links, where there are tries *(given)*.
    chains: Chains,
    /// About so many products of two entries are added to the matrix, where there are tries *(given)*.
    additions: f64,
    /// Room for the nodes of every part, for the parts of the matrix, and for the matrix itself, where there are tries.
    nodes: Vec<Nodes>,
    squares: Vec<Square>,
    room: Mat<f64>,
}

/// Cholesky factor of the matrix scaled to a diagonal of ones, over the links that are not slack; the others are alone.
struct Factor {
    scale: Vec<f64>,
    /// The links of its rows.
    links: Vec<u32>,
    /// In its lower triangle.
    lower: Mat<f64>,
    scratch: Vec<f64>,
}

/// What the matrix is made of: floats, or sums of two.
trait Scalar:
    Copy
    + PartialEq
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
}

impl Scalar for f64 {}
impl Scalar for fx128 {}

/// The vectors of conjugate gradients.
#[derive(Default)]
struct Gradients {
    /// (direction, product) of every unknown: that of all paths, and of those of every part after the first.
    pairs: Vec<[f64; 2]>,
    pairs_of_parts: Vec<Vec<[f64; 2]>>,
    direction: Vec<f64>,
    residual: Vec<f64>,
}

impl System {
    /// `several` are the paths of each flow that has several and holds them together.
    pub(crate) fn new(problem: &Presolved, several: Vec<Range<usize>>) -> Self {
        let linear = |block: &NaturalBlock| block.utility.curvature() == Curvature::Linear;
        let most = match problem.blocks.iter().any(linear) {
            _ if !several.is_empty() => SEVERAL,
            true => MEDIUM,
            false => SMALL,
        };
        let (size, ranges) = (problem.capacities.len(), problem.path_ranges());
        let pairs = vec![[0.0; 2]; size];
        Self {
            routing: Arc::clone(&problem.paths),
            weights: vec![0.0; problem.paths.len()],
            diagonal: vec![0.0; size],
            multipath: Multipath::new(problem, several),
            preconditioner: vec![0.0; size],
            factor: None,
            fine_factor: None,
            dense: size <= most,
            gradients: Gradients {
                pairs_of_parts: vec![pairs.clone(); ranges.len() - 1],
                pairs,
                direction: vec![0.0; size],
                residual: vec![0.0; size],
            },
            workers: Arc::clone(&problem.workers),
            ranges,
            tries: Vec::new(),
            links_in_order: (0..size as u32).collect(),
            chains: Chains::default(),
            additions: 0.0,
            nodes: Vec::new(),
            squares: Vec::new(),
            room: Mat::new(),
        }
    }

    /// Makes tries of the paths, if that pays.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(crate) fn share_beginnings(&mut self) -> Result<()> {
        let Self { routing, multipath, workers, .. } = &*self;
        if routing.indices().len() < LEAST_SHARED_CROSSINGS {
            return Ok(());
        }
        let links = self.diagonal.len();
        let of_part = |range: &Range<usize>| Tries::new(routing, multipath, links, range.clone(), MOST_NODES);
        let tries = for_each(&**workers, &self.ranges, of_part)?;
        if let Some(tries) = tries.into_iter().collect::<Option<Vec<_>>>() {
            let mut additions = 0.0;
            multipath.each(0..routing.len(), |range, flow| {
                // A path alone is added at its end, and on up its tree.
                additions += match flow {
                    None => range.len() as f64,
                    Some(_) => range.map(|path| routing.links(path).len() as f64).sum::<f64>().powi(2) / 2.0,
                };
            });
            (self.additions, self.chains) = (additions, Chains::new(&self.routing, links));
            self.nodes = tries.iter().map(Tries::nodes).collect();
            let mut is_new = vec![true; links];
            let mut is_first = |link: &u32| std::mem::take(&mut is_new[*link as usize]);
            let all = tries.iter().flat_map(Tries::links).chain(0..links as u32);
            self.links_in_order = all.filter(&mut is_first).collect();
            self.tries = tries;
        }
        Ok(())
    }

    /// The paths of a part as tries, where they share enough.
    pub(crate) fn tries(&self, part: usize) -> Option<&Tries> {
        self.tries.get(part)
    }

    /// A pass over all paths.
    pub(crate) fn pass(&self) -> Pass<'_> {
        Pass { paths: &self.routing, links: self.diagonal.len(), ranges: self.ranges.clone(), workers: &*self.workers }
    }

    /// The weights of the paths of every part, to be set.
    pub(crate) fn weights_of_parts(&mut self) -> Vec<WeightsOfPart<'_>> {
        self.multipath.split(&mut self.weights, &self.ranges)
    }

    /// The diagonal of R W Rᵀ with flows eliminated, added to what is there.
    pub(crate) fn add_diagonal(&self, diagonal: &mut [f64]) {
        let Self { routing, weights, multipath, tries, ranges, .. } = self;
        self.pass().add_with(diagonal, ranges.iter().cloned().enumerate(), |(part, range), diagonal| {
            match tries.get(part) {
                Some(tries) => tries.add_diagonal((routing, multipath), weights, range, diagonal),
                None => multipath.add_diagonal(routing, weights, range, diagonal),
            }
        });
    }

    /// Rᵀ v of all paths: of a flow with several paths the sum over its common links (`commons`), and over each path's
    /// own links.
    pub(crate) fn gather_all(&self, values: &[f64], sums: &mut [f64], commons: &mut [f64]) {
        let numbers: Vec<Range<usize>> = self.ranges.iter().map(|range| self.multipath.numbers(range)).collect();
        let pieces = parts::split_mut(sums, &self.ranges).zip(parts::split_mut(commons, &numbers));
        for_each(&*self.workers, pieces.zip(&self.ranges), |((sums, commons), range)| {
            self.multipath.gather_all(&self.routing, values, range.clone(), sums, commons);
            Ok(())
        })
        .expect("nothing stops it");
    }

    /// R x of all paths, added to what is there: on the common links of a flow with several paths it is the flow's
    /// rate, free of the rounding of the sum over its paths.
    pub(crate) fn scatter_all(&self, rates: &[f64], flow_rates: &[f64], sums: &mut [f64]) {
        self.pass().add(sums, |range, sums| {
            self.multipath.scatter_all(&self.routing, rates, flow_rates, range, sums);
        });
    }

    /// Whether what is factorized is only about the matrix, that of a large problem, beside which more right-hand sides
    /// cost little.
    pub(crate) fn is_approximate(&self) -> bool {
        !self.tries.is_empty()
    }

    /// From now on the matrix is factorized, if it is not too large.
    pub(crate) fn enable_factorization(&mut self) {
        self.dense = true;
    }

    /// Recomputes the preconditioner.
    fn invert_diagonal(&mut self) {
        let mut preconditioner = std::mem::take(&mut self.preconditioner);
        preconditioner.copy_from_slice(&self.diagonal);
        self.add_diagonal(&mut preconditioner);
        self.preconditioner = preconditioner;
        self.preconditioner.iter_mut().for_each(|value| *value = value.recip());
    }

    /// Recomputes the preconditioner, or the factor, from `weights` and `diagonal`, to which a part of the whole
    /// diagonal is added first.
    pub(crate) fn update(&mut self, part: f64) {
        self.invert_diagonal();
        if part > 0.0 {
            let whole = self.preconditioner.iter().map(|inverse| inverse.recip());
            self.diagonal.iter_mut().zip(whole).for_each(|(diagonal, whole)| *diagonal += part * whole);
        }
        self.fine_factor = None;
        if let Some(last) = self.factor.take()
            && !self.tries.is_empty()
        {
            self.room = last.lower;
        }
        if self.dense {
            self.factorize();
        }
    }

    /// Replaces a right-hand side by the solution with the last factor, which may be of earlier weights. Returns
    /// whether there is one.
    pub(crate) fn solve_by_factor(&mut self, right: &mut [f64]) -> bool {
        let Some(factor) = &mut self.factor else { return false };
        factor.solve(right);
        true
    }

    /// The smallest pivot of the last factor, of a matrix with a diagonal of ones; none without a factor.
    pub(crate) fn smallest_pivot(&self) -> Option<f64> {
        let lower = &self.factor.as_ref()?.lower;
        Some((0..lower.nrows()).map(|i| lower[(i, i)] * lower[(i, i)]).fold(1.0, f64::min))
    }

    /// Solves to the given accuracy, from a guess in `solution`. `right` is used up.
    pub(crate) fn solve(&mut self, right: &mut [f64], solution: &mut [f64], accuracy: Accuracy) {
        if self.factor.is_none() {
            // Where it is dense already there is none for these weights.
            if self.iterate(right, solution, accuracy.without_factor) || self.dense {
                return;
            }
            self.dense = true;
            self.factorize();
        }
        if let Some(mut factor) = self.factor.take() {
            self.refine(&mut factor, right, solution, accuracy.with_factor);
            self.factor = Some(factor);
        }
    }

    /// Conjugate gradients from 0 with the factor as preconditioner. Small entries become as exact as large ones, and
    /// the shift of the diagonal that the factorization needed is corrected. Two steps as a rule, more where many links
    /// are left out of the factor.
    fn refine(&mut self, factor: &mut Factor, right: &mut [f64], solution: &mut [f64], tolerance: f64) {
        solution.fill(0.0);
        let (mut rest, mut goal, mut turn) = (0.0, 0.0, 0.0);
        for step in 0..=MOST_REFINEMENTS {
            let mut steered = std::mem::take(&mut self.gradients.residual);
            steered.copy_from_slice(right);
            factor.solve(&mut steered);
            let left: f64 = right.iter().zip(&steered).map(|(right, steered)| right * steered).sum();
            match step {
                0 => goal = tolerance * tolerance * left,
                _ => turn = left / rest,
            }
            rest = left;
            for (direction, steered) in self.gradients.direction.iter_mut().zip(&steered) {
                *direction = steered + turn * *direction;
            }
            self.gradients.residual = steered;
            if step > 0 && rest <= goal || !(rest > 0.0 && rest.is_finite()) {
                return;
            }
            self.multiply_direction();
            let Gradients { pairs, direction, .. } = &self.gradients;
            let steepness: f64 = pairs.iter().zip(direction).map(|(pair, direction)| pair[1] * direction).sum();
            let length = rest / steepness;
            if !length.is_finite() {
                return;
            }
            for (i, (pair, direction)) in pairs.iter().zip(direction).enumerate() {
                solution[i] += length * direction;
                right[i] -= length * pair[1];
            }
        }
    }

    fn multiply_direction(&mut self) {
        let direction = std::mem::take(&mut self.gradients.direction);
        self.multiply(&direction);
        self.gradients.direction = direction;
    }

    /// The product of the matrix with a vector, beside it in `pairs`.
    fn multiply(&mut self, values: &[f64]) {
        let Self { routing, weights, diagonal, multipath, gradients, workers, ranges, tries, nodes, .. } = self;
        let Gradients { pairs, pairs_of_parts, .. } = gradients;
        let mut nodes = nodes.iter_mut();
        let of_parts = std::iter::once(&mut *pairs).chain(&mut *pairs_of_parts).zip(&*ranges).enumerate();
        let of_parts = of_parts.map(|(part, of_part)| (part, of_part, tries.get(part).zip(nodes.next())));
        for_each(&**workers, of_parts, |(part, (pairs, range), tries)| {
            for ((pair, &value), diagonal) in pairs.iter_mut().zip(values).zip(&*diagonal) {
                *pair = [value, if part == 0 { diagonal * value } else { 0.0 }];
            }
            match tries {
                Some((tries, nodes)) => tries.multiply(multipath, weights, range.clone(), nodes, pairs),
                None => multipath.multiply(routing, weights, range.clone(), pairs),
            }
            Ok(())
        })
        .expect("nothing stops it");
        for own in pairs_of_parts {
            pairs.iter_mut().zip(own).for_each(|(pair, own)| pair[1] += own[1]);
        }
    }

    /// Conjugate gradients. Returns whether they converged.
    fn iterate(&mut self, right: &[f64], solution: &mut [f64], tolerance: f64) -> bool {
        let size = self.diagonal.len();
        let weighted = |values: &[f64], scale: &[f64]| -> f64 {
            values.iter().zip(scale).map(|(value, scale)| value * value * scale).sum()
        };
        let goal = tolerance * tolerance * weighted(right, &self.preconditioner);
        self.gradients.residual.copy_from_slice(right);
        if solution.iter().any(|&value| value != 0.0) {
            self.multiply(solution);
            for (residual, pair) in self.gradients.residual.iter_mut().zip(&self.gradients.pairs) {
                *residual -= pair[1];
            }
        }
        let mut rest = weighted(&self.gradients.residual, &self.preconditioner);
        let mut turn = 0.0;
        for _ in 0..MOST_STEPS {
            // The caller checks the tokens as well, and does not use a solution that was interrupted.
            if rest <= goal || interrupt::check().is_err() {
                return true;
            }
            let Gradients { direction, residual, .. } = &mut self.gradients;
            for i in 0..size {
                direction[i] = residual[i] * self.preconditioner[i] + turn * direction[i];
            }
            self.multiply_direction();
            let Gradients { pairs, direction, residual, .. } = &mut self.gradients;
            let steepness: f64 = pairs.iter().zip(&*direction).map(|(pair, direction)| pair[1] * direction).sum();
            let length = rest / steepness;
            let mut left = 0.0;
            for i in 0..size {
                solution[i] += length * direction[i];
                residual[i] -= length * pairs[i][1];
                left += residual[i] * residual[i] * self.preconditioner[i];
            }
            turn = left / rest;
            rest = left;
            if !rest.is_finite() {
                return false;
            }
        }
        rest <= goal
    }

    /// R W Rᵀ with flows eliminated, scaled, over the links that have a row; its lower triangle.
    fn square(&mut self, rows: &Rows) -> Mat<f64> {
        if !self.tries.is_empty() {
            return self.square_by_tries(rows);
        }
        let (size, links) = (rows.links.len(), self.diagonal.len());
        let Self { routing, weights, multipath, workers, .. } = self;
        multipath.find_unions(routing, links);
        let (paths, of_matrix) = (weights.len(), PER_ENTRY * (size as f64).powi(2));
        let of_path = (routing.indices().len() as f64 / paths.max(1) as f64).powi(2);
        let least = parts::PATHS.max((of_matrix / of_path) as usize);
        let ranges = parts::cut(paths, parts::count(paths, least).min(MOST_MATRICES));
        let matrices = for_each(&**workers, ranges, |range| {
            let mut matrix = Mat::<f64>::zeros(size, size);
            multipath.add_square(routing, weights, multipath.whole_flows(range), rows, &mut matrix);
            Ok(matrix)
        });
        let mut matrices = matrices.expect("nothing stops it").into_iter();
        let mut matrix = matrices.next().expect("there is a part");
        for own in matrices {
            for column in 0..size {
                let sums = matrix.col_as_slice_mut(column).iter_mut().zip(own.col_as_slice(column)).skip(column);
                sums.for_each(|(sum, value)| *sum += value);
            }
        }
        rows.scale(&mut matrix);
        matrix
    }

    /// About the same by tries, with a diagonal that is no smaller: see `tries.rs`.
    fn square_by_tries(&mut self, rows: &Rows) -> Mat<f64> {
        let size = rows.links.len();
        let mut matrix = std::mem::replace(&mut self.room, Mat::new());
        if matrix.nrows() != size {
            matrix = Mat::zeros(size, size);
        }
        let Self {
            routing,
            weights,
            multipath,
            workers,
            ranges,
            tries,
            preconditioner,
            squares,
            diagonal,
            chains,
            additions,
            ..
        } = self;
        let chains = chains.rows(rows);
        let all = chains.len();
        let most = MOST_SHARED_MATRICES.min(MOST_SHARED_ENTRIES / (all * all));
        let most = most.min((*additions / (PER_ENTRY * (all * all) as f64)) as usize).max(1);
        let groups = parts::cut(tries.len(), tries.len().min(most));
        squares.resize_with(groups.len(), Square::default);
        for_each(&**workers, groups.into_iter().zip(&mut *squares), |(group, square)| {
            square.clear(all);
            for (tries, range) in tries[group.clone()].iter().zip(&ranges[group]) {
                tries.add_square((routing, multipath), (weights, preconditioner), range.clone(), &chains, square);
            }
            chains.fold(&mut square.matrix);
            Ok(())
        })
        .expect("nothing stops it");
        let scales: Vec<f64> = rows.links.iter().map(|&link| rows.scale[link as usize]).collect();
        // In square blocks, for the cache.
        let blocks = parts::cut(size, size.div_ceil(BLOCK));
        let of_columns = blocks.iter().zip(split_columns(matrix.as_mut(), &blocks));
        for_each(&**workers, of_columns, |(columns, mut of_columns)| {
            for block in blocks.iter().filter(|block| block.end > columns.start) {
                for column in columns.clone() {
                    let rows = block.start.max(column)..block.end;
                    let entries = of_columns.rb_mut().col_mut(column - columns.start);
                    let entries = entries.try_as_col_major_mut().expect("columns are contiguous").as_slice_mut();
                    let entries = &mut entries[rows.clone()];
                    entries.fill(0.0);
                    for square in &*squares {
                        let of_square = square.entries(column, rows.clone());
                        entries.iter_mut().zip(of_square).for_each(|(entry, value)| *entry += value);
                    }
                    let scale = scales[column];
                    entries.iter_mut().zip(&scales[rows]).for_each(|(entry, of_row)| *entry *= of_row * scale);
                }
            }
            Ok(())
        })
        .expect("nothing stops it");
        for (row, (&link, scale)) in rows.links.iter().zip(&scales).enumerate() {
            // What is left out of ties makes the diagonal larger: with a smaller one it would not be definite.
            matrix[(row, row)] = (1.0 - diagonal[link as usize] * scale * scale).max(matrix[(row, row)]);
        }
        matrix
    }

    /// Whether the matrix is small enough for [`update_finely`](Self::update_finely).
    pub(crate) fn may_be_fine(&self) -> bool {
        self.diagonal.len() <= MOST_FINE_LINKS && self.routing.indices().len() <= MOST_FINE_CROSSINGS
    }

    /// Computes the matrix, scales and factorizes it, all to twice the digits of a float, over all links that are not
    /// slack to the last digit. Returns whether there is a factor.
    pub(crate) fn update_finely(&mut self) -> bool {
        self.fine_factor = None;
        self.invert_diagonal();
        let by_number: Vec<u32> = (0..self.diagonal.len() as u32).collect();
        let rows = Rows::new(&self.diagonal, &self.preconditioner, &by_number, &ALL);
        let size = rows.links.len();
        let Self { routing, weights, multipath, diagonal, .. } = self;
        multipath.find_unions(routing, diagonal.len());
        let mut matrix = Mat::<fx128>::zeros(size, size);
        for range in parts::cut(weights.len(), weights.len().div_ceil(AT_ONCE)) {
            if interrupt::check().is_err() {
                return false;
            }
            multipath.add_square(routing, weights, multipath.whole_flows(range), &rows, &mut matrix);
        }
        rows.scale(&mut matrix);
        for (row, &link) in rows.links.iter().enumerate() {
            let scale = fx128::from(rows.scale[link as usize]);
            matrix[(row, row)] += fx128::from(diagonal[link as usize]) * scale * scale;
        }
        self.fine_factor = FineFactor::new(&matrix, rows).ok().flatten();
        self.fine_factor.is_some()
    }

    /// Solves to twice the digits of a float: the floats of the solution, and what rounding has cut off from each.
    /// Returns whether there is a factor.
    pub(crate) fn solve_finely(&mut self, right: &[f64], solution: &mut [f64], finer: &mut [f64]) -> bool {
        let Some(factor) = &self.fine_factor else { return false };
        let mut values: Vec<fx128> = right.iter().map(|&value| fx128::from(value)).collect();
        factor.solve(&mut values);
        for (value, (float, rest)) in values.iter().zip(solution.iter_mut().zip(finer)) {
            (*float, *rest) = (value.0, value.1);
        }
        true
    }

    /// Computes the matrix, scales and factorizes it. Rounding may make it indefinite; then the diagonal is shifted.
    fn factorize(&mut self) {
        let slack = if self.tries.is_empty() { &SLACK[..] } else { &SHARED_SLACK };
        let rows = Rows::new(&self.diagonal, &self.preconditioner, &self.links_in_order, slack);
        let size = rows.links.len();
        if size == 0 || size > LARGEST || interrupt::check().is_err() {
            return;
        }
        for shift in [1e-15, 1e-12, 1e-9, 1e-6] {
            let mut matrix = self.square(&rows);
            for (row, &link) in rows.links.iter().enumerate() {
                let link = link as usize;
                matrix[(row, row)] += self.diagonal[link] * rows.scale[link] * rows.scale[link];
                matrix[(row, row)] += shift;
            }
            if interrupt::check().is_err() {
                return;
            }
            if let Some(lower) = cholesky(matrix) {
                let Rows { scale, links, .. } = rows;
                self.factor = Some(Factor { scale, scratch: vec![0.0; size], links, lower });
                return;
            }
        }
    }
}

/// The Cholesky factor of a matrix, in the place of its lower triangle; none where that is not definite.
fn cholesky(mut matrix: Mat<f64>) -> Option<Mat<f64>> {
    let parallelism = get_global_parallelism();
    let needed = llt::factor::cholesky_in_place_scratch::<f64>(matrix.nrows(), parallelism, Default::default());
    let (mut scratch, into) = (MemBuffer::new(needed), matrix.as_mut());
    let stack = MemStack::new(&mut scratch);
    llt::factor::cholesky_in_place(into, Default::default(), parallelism, stack, Default::default()).ok()?;
    Some(matrix)
}

/// The columns of a matrix in these ranges, which cover it.
fn split_columns<'a>(mut matrix: MatMut<'a, f64>, ranges: &[Range<usize>]) -> Vec<MatMut<'a, f64>> {
    let mut all = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (columns, rest) = matrix.split_at_col_mut(range.len());
        all.push(columns);
        matrix = rest;
    }
    all
}

/// The links that have a row in the factor.
struct Rows {
    /// What scales the matrix to a diagonal of ones, per link.
    scale: Vec<f64>,
    /// The row of each link, or [`ABSENT`], and the link of each row.
    of: Vec<u32>,
    links: Vec<u32>,
}

impl Rows {
    fn new(diagonal: &[f64], preconditioner: &[f64], order: &[u32], slack: &[(f64, usize)]) -> Self {
        let scale: Vec<f64> = preconditioner.iter().map(|value| value.sqrt()).collect();
        let own: Vec<f64> = diagonal.iter().zip(preconditioner).map(|(diagonal, inverse)| diagonal * inverse).collect();
        let fits = |&&(slack, most): &&(f64, usize)| own.iter().filter(|&&own| own < 1.0 - slack).count() <= most;
        let slack = slack.iter().find(fits).map_or(LARGEST_SLACK, |&(slack, _)| slack);
        let (mut of, mut links) = (vec![ABSENT; scale.len()], Vec::new());
        for &link in order.iter().filter(|&&link| own[link as usize] < 1.0 - slack) {
            of[link as usize] = links.len() as u32;
            links.push(link);
        }
        Self { scale, of, links }
    }

    /// Adds W_p r_p r_pᵀ of some paths to a matrix, its lower triangle.
    fn add_paths<T: Scalar>(&self, routing: &Paths, paths: Range<usize>, weights: &[f64], matrix: &mut Mat<T>) {
        for path in paths.filter(|&path| weights[path] != 0.0) {
            let (weight, row) = (T::from(weights[path]), routing.row(path));
            let rows = row.links().iter().map(|&link| self.of[link as usize]);
            match row.coefficients() {
                None => add_square(rows.map(|row| (row, ())), |(), ()| weight, matrix),
                Some(all) => {
                    let product = |one: &f64, other: &f64| weight * T::from(*one) * T::from(*other);
                    add_square(rows.zip(all), product, matrix);
                }
            }
        }
    }

    /// Scales a matrix over its rows, the lower triangle.
    fn scale<T: Scalar>(&self, matrix: &mut Mat<T>) {
        let scales: Vec<T> = self.links.iter().map(|&link| T::from(self.scale[link as usize])).collect();
        for (column, &scale) in scales.iter().enumerate() {
            let entries = matrix.col_as_slice_mut(column)[column..].iter_mut();
            entries.zip(&scales[column..]).for_each(|(entry, &other)| *entry = *entry * scale * other);
        }
    }
}

/// Adds a product of each two entries of a vector to a matrix, its lower triangle, given the rows and values of them.
fn add_square<T: Scalar, V: Copy>(
    vector: impl Iterator<Item = (u32, V)> + Clone,
    product: impl Fn(V, V) -> T,
    matrix: &mut Mat<T>,
) {
    let mut left = vector.filter(|(row, _)| *row != ABSENT);
    let mut from_here = left.clone();
    while let Some((one, value)) = left.next() {
        for (other, of_other) in from_here {
            matrix[(one.max(other) as usize, one.min(other) as usize)] += product(value, of_other);
        }
        from_here = left.clone();
    }
}

impl Factor {
    fn solve(&mut self, right: &mut [f64]) {
        let Self { scale, links, lower, scratch } = self;
        right.iter_mut().zip(&*scale).for_each(|(value, scale)| *value *= scale);
        for (value, &link) in scratch.iter_mut().zip(&*links) {
            *value = right[link as usize];
        }
        let (of_rows, stack) = (ColMut::from_slice_mut(scratch).as_mat_mut(), MemStack::new(&mut []));
        llt::solve::solve_in_place(lower.as_ref(), of_rows, get_global_parallelism(), stack);
        for (value, &link) in scratch.iter().zip(&*links) {
            right[link as usize] = *value;
        }
        right.iter_mut().zip(&*scale).for_each(|(value, scale)| *value *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;
    use crate::{AlphaFair, Paths};

    /// Flows with one path, with two that share links, with three of which two are alike, and with one inside another;
    /// with ones, and with coefficients that differ where all paths of a flow cross a link, or not. And their flows
    /// with several paths.
    fn problems() -> [(Presolved, Vec<Range<usize>>); 2] {
        let lists: [&[u32]; 8] = [&[0, 1], &[1, 2, 3], &[1, 4, 3], &[5, 2], &[5, 0], &[2, 5], &[0], &[0, 4]];
        let coefficients = vec![0.5, 1.0, 0.25, 3.0, 0.1, 1.0, 0.5, 0.1, 0.7, 1.0, 0.01, 2.0, 1.0, 0.3, 1.0, 1.0, 0.05];
        let ones = Paths::from_lists(lists);
        let others = Paths::with_coefficients(ones.indptr().to_vec(), ones.indices().to_vec(), coefficients).unwrap();
        [ones, others].map(|paths| {
            let group = vec![0, 1, 1, 2, 2, 2, 3, 3];
            let utility = AlphaFair::new(1.0, 1.0).unwrap();
            let problem = Presolved::new(&Problem::grouped(vec![1.0; 6], paths, group, utility).unwrap()).unwrap();
            let several = (0..4).map(|flow| problem.paths_of(flow)).filter(|paths| paths.len() > 1).collect();
            (problem, several)
        })
    }

    /// R W Rᵀ with flows eliminated, as its definition has it: Σ θ (r_p − r̄) (r_p − r̄)ᵀ + Θ/(1 + Θσ) r̄ r̄ᵀ.
    fn defined(problem: &Presolved, weights: &[f64], several: &[Range<usize>], curvature: f64) -> Vec<Vec<f64>> {
        let size = problem.capacities.len();
        let column = |path: usize| {
            let mut column = vec![0.0; size];
            problem.paths.row(path).add(1.0, &mut column);
            column
        };
        let mut matrix = vec![vec![0.0; size]; size];
        let mut add = |weight: f64, vector: &[f64]| {
            for (row, one) in matrix.iter_mut().zip(vector) {
                row.iter_mut().zip(vector).for_each(|(entry, other)| *entry += weight * one * other);
            }
        };
        for flow in 0..problem.flows() {
            let own = problem.paths_of(flow);
            if !several.contains(&own) {
                own.for_each(|path| add(weights[path], &column(path)));
                continue;
            }
            let total: f64 = weights[own.clone()].iter().sum();
            let mut mean = vec![0.0; size];
            for path in own.clone() {
                mean.iter_mut().zip(column(path)).for_each(|(mean, a)| *mean += weights[path] / total * a);
            }
            for path in own {
                let from_mean: Vec<f64> = column(path).iter().zip(&mean).map(|(a, mean)| a - mean).collect();
                add(weights[path], &from_mean);
            }
            add(total / (1.0 + total * curvature), &mean);
        }
        matrix
    }

    #[test]
    fn the_matrix_that_is_factorized_and_multiplied_with_is_that_of_the_equations() {
        for (problem, several) in problems() {
            [0.0, 1e-3, 1.0, 1e9].into_iter().for_each(|curvature| compare_matrices(&problem, &several, curvature));
        }
    }

    fn compare_matrices(problem: &Presolved, several: &[Range<usize>], curvature: f64) {
        let mut system = System::new(problem, several.to_vec());
        system.weights = vec![0.5, 1.0, 20.0, 3.0, 0.1, 7.0, 1e3, 1e-3];
        for flow in 0..several.len() {
            system.multipath.set(flow, curvature, &system.weights);
        }
        let size = problem.capacities.len();
        let rows = all_rows(size, vec![1.0; size]);
        let matrix = system.square(&rows);
        let defined = defined(problem, &system.weights, several, curvature);
        let mut fine = Mat::<fx128>::zeros(size, size);
        system.multipath.add_square(&system.routing, &system.weights, 0..system.weights.len(), &rows, &mut fine);
        let mut diagonal = vec![0.0; size];
        system.add_diagonal(&mut diagonal);
        for column in 0..size {
            assert!((matrix[(column, column)] - diagonal[column]).abs() <= 1e-12 * diagonal[column]);
            let unit: Vec<f64> = (0..size).map(|row| f64::from(u8::from(row == column))).collect();
            system.multiply(&unit);
            for (row, pair) in system.gradients.pairs.iter().enumerate() {
                let entry = matrix[(row.max(column), row.min(column))];
                let (scale, defined) = ((diagonal[row] * diagonal[column]).sqrt(), defined[row][column]);
                let differs = (entry - pair[1]).abs().max((entry - defined).abs());
                assert!(differs <= 1e-12 * scale, "{curvature}: {row}, {column}: {entry}, {pair:?}, {defined}");
                let fine = fine[(row.max(column), row.min(column))].0;
                assert!((fine - entry).abs() <= 1e-12 * scale, "{curvature}: {row}, {column}: {fine}, {entry}");
            }
        }
    }

    #[test]
    fn over_some_of_the_links_the_matrix_is_scaled() {
        let (scale, links) = (vec![0.5, 1.0, 2.0, 4.0, 1.0, 0.25], vec![0, 2, 3, 5]);
        let rows = Rows { scale: scale.clone(), of: vec![0, ABSENT, 1, 2, ABSENT, 3], links: links.clone() };
        for (problem, several) in problems() {
            let mut system = System::new(&problem, several.clone());
            system.weights = vec![0.5, 1.0, 20.0, 3.0, 0.1, 7.0, 1e3, 1e-3];
            (0..several.len()).for_each(|flow| system.multipath.set(flow, 1.0, &system.weights));
            let (matrix, defined) = (system.square(&rows), defined(&problem, &system.weights, &several, 1.0));
            for (row, &link) in links.iter().enumerate() {
                for (column, &other) in links[..=row].iter().enumerate() {
                    let [link, other] = [link, other].map(|link| link as usize);
                    let expected = defined[link][other] * scale[link] * scale[other];
                    assert!((matrix[(row, column)] - expected).abs() <= 1e-12 * matrix[(row, row)], "{row}, {column}");
                }
            }
        }
    }

    #[test]
    fn by_tries_the_matrix_is_the_same() {
        let [(problem, several), (others, _)] = problems();
        compare_by_tries(&problem, &several, vec![0.5, 1.0, 20.0, 3.0, 0.6, 7.0, 10.0, 1.0]);
        let tries = Tries::new(&others.paths, &Multipath::new(&others, Vec::new()), 6, 0..8, 1.0).unwrap();
        assert!(tries.is_none(), "rows with coefficients do not begin alike");
    }

    #[test]
    fn by_tries_chains_that_are_crossed_in_part_count_link_by_link() {
        // Chains 0, 1, 2 and 3, 4 and 6, 7. Flows of three paths with a common link, and with links that two of them
        // share; and flows of disjoint paths.
        let lists: [&[u32]; 13] = [
            &[0, 1, 2, 5],
            &[3, 4, 5],
            &[6, 7, 5],
            &[1, 2, 6],
            &[3, 4, 6, 7],
            &[0, 1, 2, 8],
            &[0, 1],
            &[7],
            &[3, 4],
            &[0, 1, 2],
            &[2],
            &[4, 8],
            &[0, 1, 2, 5],
        ];
        let utility = AlphaFair::new(1.0, 1.0).unwrap();
        let group = vec![0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 5];
        let problem = Problem::grouped(vec![1.0; 9], Paths::from_lists(lists), group, utility).unwrap();
        let problem = Presolved::new(&problem).unwrap();
        let several: Vec<_> = (0..6).map(|flow| problem.paths_of(flow)).filter(|paths| paths.len() > 1).collect();
        let chains = Chains::new(&problem.paths, 9);
        assert_eq!(chains.rows(&all_rows(9, vec![1.0; 9])).len(), 9 + 3);
        let weights = vec![0.5, 2.0, 20.0, 3.0, 0.6, 7.0, 10.0, 1.0, 4.0, 0.3, 1.0, 6.0, 0.9];
        compare_by_tries(&problem, &several, weights);
    }

    fn all_rows(size: usize, scale: Vec<f64>) -> Rows {
        Rows { scale, of: (0..size as u32).collect(), links: (0..size as u32).collect() }
    }

    fn compare_by_tries(problem: &Presolved, several: &[Range<usize>], weights: Vec<f64>) {
        let size = problem.capacities.len();
        for curvature in [0.0, 1e-3, 1.0, 1e9] {
            let mut system = System::new(problem, several.to_vec());
            system.weights.clone_from(&weights);
            (0..several.len()).for_each(|flow| system.multipath.set(flow, curvature, &system.weights));
            let tries = Tries::new(&system.routing, &system.multipath, size, 0..weights.len(), 1.0).unwrap().unwrap();
            system.chains = Chains::new(&system.routing, size);
            (system.nodes, system.tries) = (vec![tries.nodes()], vec![tries]);
            system.update(0.0);
            let scale: Vec<f64> = system.preconditioner.iter().map(|value| value.sqrt()).collect();
            let matrix = system.square(&all_rows(size, scale.clone()));
            let defined = defined(problem, &system.weights, several, curvature);
            for column in 0..size {
                let unit: Vec<f64> = (0..size).map(|row| f64::from(u8::from(row == column))).collect();
                system.multiply(&unit);
                for (row, pair) in system.gradients.pairs.iter().enumerate() {
                    let size = (defined[row][row] * defined[column][column]).sqrt();
                    let differs = (pair[1] - defined[row][column]).abs();
                    assert!(differs <= 1e-12 * size, "{curvature}: {row} {column}");
                    if row >= column {
                        let differs = (matrix[(row, column)] - defined[row][column] * scale[row] * scale[column]).abs();
                        assert!(differs <= 1e-7, "{curvature}: {row}, {column}");
                    }
                }
                let inverse = system.preconditioner[column];
                assert!((inverse * defined[column][column] - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn by_tries_the_matrix_is_definite_where_many_small_ties_are_left_out() {
        // Flows whose two paths share links 0 and 1; the second carries little and crosses a link that others fill.
        let flows = 1000;
        let lists = (0..flows).flat_map(|_| [&[0, 1, 2][..], &[0, 1, 3]]).chain([&[3][..]]);
        let group = (0..flows).flat_map(|flow| [flow, flow]).chain([flows]).collect();
        let utility = AlphaFair::new(1.0, 1.0).unwrap();
        let problem = Problem::grouped(vec![1.0; 4], Paths::from_lists(lists), group, utility).unwrap();
        let problem = Presolved::new(&problem).unwrap();
        let several = (0..problem.flows()).map(|flow| problem.paths_of(flow)).filter(|paths| paths.len() > 1).collect();
        let mut system = System::new(&problem, several);
        for flow in 0..problem.flows() {
            match problem.paths_of(flow) {
                paths if paths.len() == 1 => system.weights[paths.start] = 1e3,
                paths => system.weights[paths].copy_from_slice(&[1.0, 1e-5]),
            }
        }
        (0..flows as usize).for_each(|flow| system.multipath.set(flow, 1.0, &system.weights));
        let paths = 0..system.weights.len();
        let tries = Tries::new(&system.routing, &system.multipath, 4, paths, 1.0).unwrap().unwrap();
        (system.nodes, system.tries) = (vec![tries.nodes()], vec![tries]);
        system.update(0.0);
        assert!(system.factor.is_some());
    }

    #[test]
    fn in_parts_the_sums_over_paths_are_what_they_are_in_one() {
        for (problem, several) in problems() {
            compare_parts(&problem, &several);
        }
    }

    fn compare_parts(problem: &Presolved, several: &[Range<usize>]) {
        let values = [0.3, 1.0, 2.0, 0.7, 0.1, 5.0];
        let sums = |ends: &[usize]| {
            let mut system = System::new(problem, several.to_vec());
            system.diagonal.fill(0.25);
            system.gradients.pairs_of_parts = vec![vec![[9.0; 2]; 6]; ends.len() - 2];
            system.ranges = ends.windows(2).map(|ends| ends[0]..ends[1]).collect();
            for mut part in system.weights_of_parts() {
                let paths = part.paths();
                part.of(&paths).iter_mut().zip(paths.clone()).for_each(|(weight, path)| *weight = 1.0 + path as f64);
                for (number, own) in several.iter().enumerate().filter(|(_, own)| paths.contains(&own.start)) {
                    assert!(own.end <= paths.end);
                    part.eliminate(number, 0.5 + number as f64);
                }
            }
            let (mut diagonal, mut loads) = (vec![1.0; 6], vec![-1.0; 6]);
            let (mut path_sums, mut commons) = (vec![0.0; 8], vec![0.0; several.len()]);
            system.add_diagonal(&mut diagonal);
            system.multiply(&values);
            system.gather_all(&values, &mut path_sums, &mut commons);
            system.scatter_all(&path_sums, &commons, &mut loads);
            let product = system.gradients.pairs.iter().map(|pair| pair[1]).collect();
            [diagonal, product, path_sums, commons, loads].concat()
        };
        let whole = sums(&[0, 8]);
        let flow_ends: Vec<usize> = (0..4).map(|flow| problem.paths_of(flow).end).collect();
        for ends in [vec![0, flow_ends[0], 8], [&[0], &*flow_ends].concat()] {
            for (found, expected) in sums(&ends).iter().zip(&whole) {
                assert!((found - expected).abs() <= 1e-13 * expected.abs(), "{ends:?}: {found}, {expected}");
            }
        }
    }
}
