//! Newton's equations, of the interior point and of the dual, brought to one unknown per link and one per flow with
//! several paths.
//!
//! ```text
//! [ R W Rᵀ + S/P    −R W Aᵀ     ] [ dp ]
//! [ −A W Rᵀ          A W Aᵀ + G ] [ η  ] = right-hand side
//! ```
//!
//! R is links × paths, A flows with several paths × their paths; W, S/P, G are diagonal. Symmetric and positive definite,
//! and so dense once multiplied out that a sparse factorization never pays: on leaf-spines 77 % of its factor is filled.
//! Conjugate gradients with the diagonal as preconditioner do without the product (O(crossings) per step, no memory);
//! where they do not arrive, and from the start where the system is small, it is multiplied out and factorized (faer's
//! Cholesky, O(size³)).

use faer::linalg::solvers::{Llt, Solve};
use faer::{ColMut, Mat, Side};

use super::incidence::Incidence;
use crate::presolve::Presolved;
use crate::utility::Curvature;

/// Up to this size the matrix is factorized from the start.
const SMALL: usize = 48;
/// The same where it is badly conditioned near the end, because rates are not unique or reach 0.
const MEDIUM: usize = 1000;
/// Up to this size it can be: 200 MB.
const LARGEST: usize = 5000;
/// Conjugate-gradient steps after which they count as not arriving.
const MOST_STEPS: usize = 400;
/// Refinements of what a factorization gives, at most, and the relative error that ends them.
const MOST_REFINEMENTS: usize = 8;
const REFINED: f64 = 1e-15;
/// The unknown of a flow that has none.
pub(super) const NONE: u32 = u32::MAX;

/// Newton's equations: their matrix, and a way of solving them.
pub(super) struct System {
    links: usize,
    /// Per path the unknown of its flow, counted after the links', or [`NONE`]; empty when no flow has one *(given)*.
    rows: Vec<u32>,
    /// W, and the diagonals S/P and G one after the other *(derived)*.
    pub(super) weights: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
    /// The whole diagonal of the matrix, inverted *(derived)*.
    preconditioner: Vec<f64>,
    factor: Option<Factor>,
    /// Whether to factorize *(derived)*.
    dense: bool,
    gradients: Gradients,
}

/// Cholesky factor of the matrix scaled to a diagonal of ones.
struct Factor {
    scale: Vec<f64>,
    lower: Llt<f64>,
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
    pub(super) fn new(problem: &Presolved, rows: Vec<u32>, count: usize) -> Self {
        let delicate = count > 0 || problem.blocks.iter().any(|block| block.utility.curvature() == Curvature::Linear);
        let links = problem.capacities.len();
        let size = links + count;
        Self {
            links,
            rows,
            weights: vec![0.0; problem.paths.len()],
            diagonal: vec![0.0; size],
            preconditioner: vec![0.0; size],
            factor: None,
            dense: size <= if delicate { MEDIUM } else { SMALL },
            gradients: Gradients { pairs: vec![[0.0; 2]; size], direction: vec![0.0; size], residual: vec![0.0; size] },
        }
    }

    pub(super) fn size(&self) -> usize {
        self.diagonal.len()
    }

    /// From now on, factorize where that can be.
    pub(super) fn be_exact(&mut self) {
        self.dense |= self.size() <= LARGEST;
    }

    /// Takes over new weights and diagonals.
    pub(super) fn renew(&mut self, problem: &Presolved, incidence: &Incidence) {
        self.preconditioner.copy_from_slice(&self.diagonal);
        incidence.scatter(&problem.paths, 0..self.weights.len(), &self.weights, &mut self.preconditioner[..self.links]);
        for (&row, &weight) in self.rows.iter().zip(&self.weights).filter(|(row, _)| **row != NONE) {
            self.preconditioner[self.links + row as usize] += weight;
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
            if self.iterate(problem, incidence, right, solution, tolerance) || self.size() > LARGEST {
                return;
            }
            self.dense = true;
            self.factorize(problem);
        }
        if let Some(factor) = self.factor.take() {
            self.refine(problem, incidence, &factor, right, solution);
            self.factor = Some(factor);
        }
    }

    /// Conjugate gradients from 0 with the factor as preconditioner: what is small beside the rest is then as exact as the
    /// rest, and what was added to the diagonal for the factor's sake does no harm. Two steps as a rule.
    fn refine(
        &mut self,
        problem: &Presolved,
        incidence: &Incidence,
        factor: &Factor,
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
        let (links, pairs) = (self.links, &mut self.gradients.pairs);
        for (pair, diagonal) in pairs.iter_mut().zip(&self.diagonal) {
            pair[1] = diagonal * pair[0];
        }
        if self.rows.is_empty() {
            return incidence.multiply(&problem.paths, &self.weights, pairs);
        }
        for ((path, &weight), &row) in problem.paths.iter().zip(&self.weights).zip(&self.rows) {
            let mut sum: f64 = path.iter().map(|&link| pairs[link as usize][0]).sum();
            if row != NONE {
                sum -= pairs[links + row as usize][0];
                pairs[links + row as usize][1] -= weight * sum;
            }
            path.iter().for_each(|&link| pairs[link as usize][1] += weight * sum);
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
        let size = self.size();
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
            if rest <= goal {
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
        let size = self.size();
        let scale: Vec<f64> = self.preconditioner.iter().map(|value| value.sqrt()).collect();
        let mut matrix = Mat::<f64>::zeros(size, size);
        let mut add = |one: usize, other: usize, value: f64| {
            let (row, column) = if one > other { (one, other) } else { (other, one) };
            matrix[(row, column)] += value * scale[row] * scale[column];
        };
        for (path, (links, &weight)) in problem.paths.iter().zip(&self.weights).enumerate() {
            if weight == 0.0 {
                continue;
            }
            for (i, &one) in links.iter().enumerate() {
                links[i..].iter().for_each(|&other| add(one as usize, other as usize, weight));
            }
            if let Some(&row) = self.rows.get(path).filter(|row| **row != NONE) {
                let row = self.links + row as usize;
                links.iter().for_each(|&link| add(link as usize, row, -weight));
                add(row, row, weight);
            }
        }
        for (i, &diagonal) in self.diagonal.iter().enumerate() {
            add(i, i, diagonal);
        }
        let diagonal: Vec<f64> = (0..size).map(|i| matrix[(i, i)]).collect();
        for shift in [1e-15, 1e-12, 1e-9, 1e-6] {
            for (i, value) in diagonal.iter().enumerate() {
                matrix[(i, i)] = value + shift;
            }
            if let Ok(lower) = matrix.llt(Side::Lower) {
                self.factor = Some(Factor { scale, lower });
                return;
            }
        }
    }
}

fn inner(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

impl Factor {
    fn solve(&self, right: &mut [f64]) {
        let scale = |right: &mut [f64]| right.iter_mut().zip(&self.scale).for_each(|(value, scale)| *value *= scale);
        scale(right);
        self.lower.solve_in_place(ColMut::from_slice_mut(right).as_mat_mut());
        scale(right);
    }
}
