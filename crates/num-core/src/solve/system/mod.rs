//! Newton's equations, of the interior point and of the dual, brought to one unknown per link.
//!
//! ```text
//! ( Σ_f K_f + S/P ) dp = right-hand side      K_f = W_p r_p r_pᵀ for a flow with one path p
//! ```
//!
//! r_p is path p's column of the routing matrix, W and S/P are diagonal; K_f of a flow with several paths is in `pools.rs`.
//! Symmetric and positive definite, and so dense once multiplied out that a sparse factorization never pays: on leaf-spines
//! 77 % of its factor is filled. Conjugate gradients with the diagonal as preconditioner do without the product
//! (O(crossings) per step, no memory); where they do not arrive, and from the start where the system is small, it is
//! multiplied out and factorized (faer's Cholesky, O(links³) of those that are not slack).

mod pools;

use std::ops::Range;

use faer::linalg::solvers::{Llt, Solve};
use faer::{ColMut, Mat, Side};

use self::pools::{Pools, inner};
use super::incidence::Incidence;
use crate::interrupt;
use crate::presolve::{NaturalBlock, Presolved};
use crate::utility::Curvature;

/// Up to this number of links the matrix is factorized from the start.
const SMALL: usize = 48;
/// The same where it is badly conditioned near the end, because rates reach 0, and where flows have several paths.
const MEDIUM: usize = 1000;
const SEVERAL: usize = 2500;
/// Up to this number of links that are not slack it can be: 200 MB.
const LARGEST: usize = 5000;
/// A link is slack when no more than this part of its diagonal entry comes from flows: it stays out of the factor.
const SLACK: f64 = 1e-9;
/// Conjugate-gradient steps after which they count as not arriving.
const MOST_STEPS: usize = 400;
/// Refinements of what a factorization gives, at most, and the relative error that ends them.
const MOST_REFINEMENTS: usize = 8;
const REFINED: f64 = 1e-15;
/// The row of a link that has none.
const NONE: u32 = u32::MAX;

/// Newton's equations: their matrix, and a way of solving them.
pub(super) struct System {
    /// W and S/P *(derived)*.
    pub(super) weights: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
    /// The flows with several paths.
    pub(super) pools: Pools,
    /// The whole diagonal of the matrix, inverted *(derived)*.
    preconditioner: Vec<f64>,
    factor: Option<Factor>,
    /// Whether to factorize *(derived)*.
    dense: bool,
    gradients: Gradients,
}

/// Cholesky factor of the matrix scaled to a diagonal of ones, over the links that are not slack; the others are alone.
struct Factor {
    scale: Vec<f64>,
    /// The links of its rows.
    links: Vec<u32>,
    lower: Llt<f64>,
    scratch: Vec<f64>,
}

/// The vectors of conjugate gradients.
#[derive(Default)]
struct Gradients {
    /// (direction, product) of every unknown.
    pairs: Vec<[f64; 2]>,
    direction: Vec<f64>,
    residual: Vec<f64>,
}

impl System {
    /// `several` are the paths of each flow that has several and holds them together.
    pub(super) fn new(problem: &Presolved, several: Vec<Range<usize>>) -> Self {
        let linear = |block: &NaturalBlock| block.utility.curvature() == Curvature::Linear;
        let most = match problem.blocks.iter().any(linear) {
            _ if !several.is_empty() => SEVERAL,
            true => MEDIUM,
            false => SMALL,
        };
        let size = problem.capacities.len();
        Self {
            weights: vec![0.0; problem.paths.len()],
            diagonal: vec![0.0; size],
            pools: Pools::new(size, several),
            preconditioner: vec![0.0; size],
            factor: None,
            dense: size <= most,
            gradients: Gradients { pairs: vec![[0.0; 2]; size], direction: vec![0.0; size], residual: vec![0.0; size] },
        }
    }

    /// From now on, factorize where that can be.
    pub(super) fn be_exact(&mut self) {
        self.dense = true;
    }

    /// Takes over new weights and diagonals.
    pub(super) fn renew(&mut self, problem: &Presolved, incidence: &Incidence) {
        self.preconditioner.copy_from_slice(&self.diagonal);
        if self.pools.is_empty() {
            incidence.scatter(&problem.paths, 0..self.weights.len(), &self.weights, &mut self.preconditioner);
        } else {
            self.pools.add_diagonal(problem, &self.weights, &mut self.preconditioner);
        }
        self.preconditioner.iter_mut().for_each(|value| *value = value.recip());
        self.factor = None;
        if self.dense {
            self.factorize(problem);
        }
    }

    /// Solves to a relative residual of `tolerance` (in the norm of the preconditioner; to rounding when factorized),
    /// from a guess in `solution`. `right` is used up.
    pub(super) fn solve(
        &mut self,
        problem: &Presolved,
        incidence: &Incidence,
        right: &mut [f64],
        solution: &mut [f64],
        tolerance: f64,
    ) {
        if self.factor.is_none() {
            if self.iterate(problem, incidence, right, solution, tolerance) {
                return;
            }
            self.dense = true;
            self.factorize(problem);
        }
        if let Some(mut factor) = self.factor.take() {
            self.refine(problem, incidence, &mut factor, right, solution);
            self.factor = Some(factor);
        }
    }

    /// Conjugate gradients from 0 with the factor as preconditioner: what is small beside the rest is then as exact as the
    /// rest, and what was added to the diagonal for the factor's sake does no harm. Two steps as a rule.
    fn refine(
        &mut self,
        problem: &Presolved,
        incidence: &Incidence,
        factor: &mut Factor,
        right: &mut [f64],
        solution: &mut [f64],
    ) {
        solution.fill(0.0);
        let (mut rest, mut goal, mut turn) = (0.0, 0.0, 0.0);
        for step in 0..=MOST_REFINEMENTS {
            let mut steered = std::mem::take(&mut self.gradients.residual);
            steered.copy_from_slice(right);
            factor.solve(&mut steered);
            let left = inner(right, &steered);
            match step {
                0 => goal = REFINED * REFINED * left,
                _ => turn = left / rest,
            }
            rest = left;
            let Gradients { pairs, direction, .. } = &mut self.gradients;
            for ((direction, pair), steered) in direction.iter_mut().zip(pairs).zip(&steered) {
                *direction = steered + turn * *direction;
                pair[0] = *direction;
            }
            self.gradients.residual = steered;
            if step > 1 && rest <= goal || !(rest > 0.0 && rest.is_finite()) {
                return;
            }
            self.multiply(problem, incidence);
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

    fn multiply(&mut self, problem: &Presolved, incidence: &Incidence) {
        let pairs = &mut self.gradients.pairs;
        for (pair, diagonal) in pairs.iter_mut().zip(&self.diagonal) {
            pair[1] = diagonal * pair[0];
        }
        match self.pools.is_empty() {
            true => incidence.multiply(&problem.paths, &self.weights, pairs),
            false => self.pools.multiply(problem, &self.weights, pairs),
        }
    }

    /// Conjugate gradients. Returns whether they arrived.
    fn iterate(
        &mut self,
        problem: &Presolved,
        incidence: &Incidence,
        right: &[f64],
        solution: &mut [f64],
        tolerance: f64,
    ) -> bool {
        let size = self.diagonal.len();
        let weighted = |values: &[f64], scale: &[f64]| -> f64 {
            values.iter().zip(scale).map(|(value, scale)| value * value * scale).sum()
        };
        let goal = tolerance * tolerance * weighted(right, &self.preconditioner);
        self.gradients.residual.copy_from_slice(right);
        if solution.iter().any(|&value| value != 0.0) {
            self.gradients.pairs.iter_mut().zip(&*solution).for_each(|(pair, &value)| pair[0] = value);
            self.multiply(problem, incidence);
            for (residual, pair) in self.gradients.residual.iter_mut().zip(&self.gradients.pairs) {
                *residual -= pair[1];
            }
        }
        let mut rest = weighted(&self.gradients.residual, &self.preconditioner);
        let mut turn = 0.0;
        for _ in 0..MOST_STEPS {
            // Whoever asked looks at the tokens as well, and does not use what was stopped.
            if rest <= goal || interrupt::check().is_err() {
                return true;
            }
            let Gradients { pairs, direction, residual } = &mut self.gradients;
            for i in 0..size {
                direction[i] = residual[i] * self.preconditioner[i] + turn * direction[i];
                pairs[i][0] = direction[i];
            }
            self.multiply(problem, incidence);
            let Gradients { pairs, direction, residual } = &mut self.gradients;
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

    /// Multiplies the matrix out, scales it and factorizes it. Rounding may leave it barely indefinite; then with a little
    /// more on the diagonal.
    fn factorize(&mut self, problem: &Presolved) {
        let scale: Vec<f64> = self.preconditioner.iter().map(|value| value.sqrt()).collect();
        let own = self.diagonal.iter().zip(&self.preconditioner).map(|(diagonal, inverse)| diagonal * inverse);
        let (mut rows, mut links) = (vec![NONE; scale.len()], Vec::new());
        for (link, own) in own.enumerate() {
            if own < 1.0 - SLACK {
                rows[link] = links.len() as u32;
                links.push(link as u32);
            }
        }
        let size = links.len();
        if size == 0 || size > LARGEST || interrupt::check().is_err() {
            return;
        }
        let mut matrix = Mat::<f64>::zeros(size, size);
        self.pools.multiply_out(problem, &self.weights, |one, other, value| {
            let (first, second) = (rows[one as usize], rows[other as usize]);
            if first != NONE && second != NONE {
                let value = value * scale[one as usize] * scale[other as usize];
                matrix[(first.max(second) as usize, first.min(second) as usize)] += value;
            }
        });
        for (row, &link) in links.iter().enumerate() {
            let link = link as usize;
            matrix[(row, row)] += self.diagonal[link] * scale[link] * scale[link];
        }
        let diagonal: Vec<f64> = (0..size).map(|i| matrix[(i, i)]).collect();
        for shift in [1e-15, 1e-12, 1e-9, 1e-6] {
            for (i, value) in diagonal.iter().enumerate() {
                matrix[(i, i)] = value + shift;
            }
            if interrupt::check().is_err() {
                return;
            }
            if let Ok(lower) = matrix.llt(Side::Lower) {
                self.factor = Some(Factor { scale, scratch: vec![0.0; size], links, lower });
                return;
            }
        }
    }
}

impl Factor {
    fn solve(&mut self, right: &mut [f64]) {
        let Self { scale, links, lower, scratch } = self;
        right.iter_mut().zip(&*scale).for_each(|(value, scale)| *value *= scale);
        for (value, &link) in scratch.iter_mut().zip(&*links) {
            *value = right[link as usize];
        }
        lower.solve_in_place(ColMut::from_slice_mut(scratch).as_mat_mut());
        for (value, &link) in scratch.iter().zip(&*links) {
            right[link as usize] = *value;
        }
        right.iter_mut().zip(&*scale).for_each(|(value, scale)| *value *= scale);
    }
}
