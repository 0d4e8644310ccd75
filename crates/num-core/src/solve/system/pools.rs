//! Flows with several paths, eliminated from Newton's equations one by one.
//!
//! ```text
//! dx_p = θ_p (a_p + η)      σ Σ dx_p + η = pull      a_p: what pushes path p; σ: curvature of the flow's own terms
//! dx_p = θ_p ( a_p − ā + (ā + pull)/(1 + Θσ) )      Θ = Σ θ_p, ā = Σ θ_p a_p/Θ
//! K_f  = Σ_{p≠0} θ_p e_p e_pᵀ − v vᵀ/Θ + u uᵀ/(Θ(1 + Θσ))      e_p = r_p − r_0, v = Σ θ_p e_p, u = Θ r_0 + v
//! ```
//!
//! r_p is the column of path p in the routing matrix and 0 the path of the largest θ. Where a flow is held nearly at its
//! rate (Θσ ≫ 1), what is left is how it is split. Written as Σ θ_p r_p r_pᵀ − …, that would be a difference of large
//! numbers on every link that all its paths cross; here such links are not in any e_p.

use std::ops::Range;

use crate::presolve::Presolved;

/// The flows with several paths that share something, in order of their paths.
pub(in crate::solve) struct Pools {
    /// The paths of each *(given)*.
    paths: Vec<Range<usize>>,
    /// What pulls each one's rate up.
    pub(in crate::solve) pulls: Vec<f64>,
    /// Θ, 1/(1 + Θσ) and σ/(1 + Θσ) of each *(derived)*.
    totals: Vec<f64>,
    gives: Vec<f64>,
    holds: Vec<f64>,
    /// Values of one flow's paths, and of all links.
    pushes: Vec<f64>,
    sums: Vec<f64>,
}

impl Pools {
    pub(super) fn new(links: usize, paths: Vec<Range<usize>>) -> Self {
        let zeros = vec![0.0; paths.len()];
        let most = paths.iter().map(Range::len).max().unwrap_or(0);
        let sums = if paths.is_empty() { Vec::new() } else { vec![0.0; links] };
        let (holds, pulls) = (zeros.clone(), zeros.clone());
        Self { paths, holds, pulls, totals: zeros.clone(), gives: zeros, pushes: vec![0.0; most], sums }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Takes over σ of a flow, and θ of its paths from those of all.
    pub(in crate::solve) fn set(&mut self, pool: usize, stiffness: f64, weights: &[f64]) {
        let total = weights[self.paths[pool].clone()].iter().sum::<f64>().max(f64::MIN_POSITIVE);
        self.totals[pool] = total;
        self.gives[pool] = (1.0 + total * stiffness).recip();
        // As a sum of reciprocals: σ may be anything a float is.
        self.holds[pool] = (stiffness.recip() + total).recip();
    }

    /// Replaces what pushes each path of a flow by how much its rate changes.
    /// Returns how much the flow's changes, which their sum is only to rounding of theirs, and η.
    pub(in crate::solve) fn respond(&self, pool: usize, weights: &[f64], pushes: &mut [f64]) -> (f64, f64) {
        self.split(pool, weights, self.pulls[pool], pushes)
    }

    fn split(&self, pool: usize, weights: &[f64], pull: f64, pushes: &mut [f64]) -> (f64, f64) {
        let weights = &weights[self.paths[pool].clone()];
        let mean = inner(weights, pushes) / self.totals[pool];
        let rise = (mean + pull) * self.gives[pool];
        for (push, weight) in pushes.iter_mut().zip(weights) {
            *push = weight * ((*push - mean) + rise);
        }
        (self.totals[pool] * rise, rise - mean)
    }

    /// Calls for every range of paths, in order: of a flow here with its number, of others with none.
    fn each(&self, paths: usize, mut visit: impl FnMut(Range<usize>, Option<usize>)) {
        let mut next = 0;
        for (pool, own) in self.paths.iter().enumerate() {
            if next < own.start {
                visit(next..own.start, None);
            }
            visit(own.clone(), Some(pool));
            next = own.end;
        }
        if next < paths {
            visit(next..paths, None);
        }
    }

    /// R W Rᵀ v with these flows eliminated, added to what is there; `pairs` holds (v, sum) of every link.
    pub(super) fn multiply(&mut self, problem: &Presolved, weights: &[f64], pairs: &mut [[f64; 2]]) {
        let mut pushes = std::mem::take(&mut self.pushes);
        let push = |path: usize, pairs: &[[f64; 2]]| -> f64 {
            problem.paths.links(path).iter().map(|&link| pairs[link as usize][0]).sum()
        };
        self.each(weights.len(), |range, pool| {
            let Some(pool) = pool else {
                for path in range {
                    let change = weights[path] * push(path, pairs);
                    problem.paths.links(path).iter().for_each(|&link| pairs[link as usize][1] += change);
                }
                return;
            };
            let changes = &mut pushes[..range.len()];
            for (change, path) in changes.iter_mut().zip(range.clone()) {
                *change = push(path, pairs);
            }
            self.split(pool, weights, 0.0, changes);
            for (change, path) in changes.iter().zip(range) {
                problem.paths.links(path).iter().for_each(|&link| pairs[link as usize][1] += change);
            }
        });
        self.pushes = pushes;
    }

    /// The diagonal of all that, added to what is there.
    pub(super) fn add_diagonal(&mut self, problem: &Presolved, weights: &[f64], diagonal: &mut [f64]) {
        let mut sums = std::mem::take(&mut self.sums);
        self.each(weights.len(), |range, pool| {
            for path in range.clone() {
                let to = if pool.is_some() { &mut sums[..] } else { &mut diagonal[..] };
                problem.paths.links(path).iter().for_each(|&link| to[link as usize] += weights[path]);
            }
            let Some(pool) = pool else { return };
            let (total, give, hold) = (self.totals[pool], self.gives[pool], self.holds[pool]);
            for &link in range.flat_map(|path| problem.paths.links(path)) {
                let sum = std::mem::take(&mut sums[link as usize]);
                // What crosses the link, once; the rest of the flow gives way to it.
                diagonal[link as usize] += sum * (give + (total - sum).max(0.0) * hold);
            }
        });
        self.sums = sums;
    }

    /// Calls with every entry of the lower or upper triangle of R W Rᵀ with these flows eliminated, an entry more than once.
    pub(super) fn multiply_out(&self, problem: &Presolved, weights: &[f64], mut add: impl FnMut(u32, u32, f64)) {
        let mut union = Union::new(problem.capacities.len());
        self.each(weights.len(), |range, pool| {
            let Some(pool) = pool else {
                for path in range.filter(|&path| weights[path] != 0.0) {
                    let links = problem.paths.links(path);
                    for (i, &one) in links.iter().enumerate() {
                        links[i..].iter().for_each(|&other| add(one, other, weights[path]));
                    }
                }
                return;
            };
            union.multiply_out(problem, range, weights, (self.totals[pool], self.gives[pool]), &mut add);
        });
    }
}

/// The links that a flow's paths cross, numbered, and K_f over them.
struct Union {
    /// The number of each link, or [`ABSENT`].
    numbers: Vec<u32>,
    links: Vec<u32>,
    /// e_p, where it is not 0.
    signs: Vec<(u32, f64)>,
    /// Which of them the pivot's path crosses, and another one; v, and Σ θ_p e_p e_pᵀ by rows.
    pivot: Vec<f64>,
    crossed: Vec<f64>,
    drift: Vec<f64>,
    square: Vec<f64>,
}

const ABSENT: u32 = u32::MAX;

impl Union {
    fn new(links: usize) -> Self {
        let numbers = vec![ABSENT; links];
        let (pivot, crossed, drift, square) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { numbers, links: Vec::new(), signs: Vec::new(), pivot, crossed, drift, square }
    }

    fn multiply_out(
        &mut self,
        problem: &Presolved,
        paths: Range<usize>,
        weights: &[f64],
        (total, give): (f64, f64),
        add: &mut impl FnMut(u32, u32, f64),
    ) {
        let heaviest =
            paths.clone().fold(paths.start, |best, path| if weights[path] > weights[best] { path } else { best });
        self.links.clear();
        for &link in paths.clone().flat_map(|path| problem.paths.links(path)) {
            if self.numbers[link as usize] == ABSENT {
                self.numbers[link as usize] = self.links.len() as u32;
                self.links.push(link);
            }
        }
        let size = self.links.len();
        for values in [&mut self.pivot, &mut self.crossed, &mut self.drift] {
            values.clear();
            values.resize(size, 0.0);
        }
        self.square.clear();
        self.square.resize(size * size, 0.0);
        for &link in problem.paths.links(heaviest) {
            self.pivot[self.numbers[link as usize] as usize] = 1.0;
        }
        for path in paths.filter(|&path| path != heaviest) {
            self.signs.clear();
            for &link in problem.paths.links(path) {
                let number = self.numbers[link as usize];
                self.crossed[number as usize] = 1.0;
                if self.pivot[number as usize] == 0.0 {
                    self.signs.push((number, 1.0));
                }
            }
            for &link in problem.paths.links(heaviest) {
                let number = self.numbers[link as usize];
                if self.crossed[number as usize] == 0.0 {
                    self.signs.push((number, -1.0));
                }
            }
            for &link in problem.paths.links(path) {
                self.crossed[self.numbers[link as usize] as usize] = 0.0;
            }
            let weight = weights[path];
            for (place, &(one, sign)) in self.signs.iter().enumerate() {
                let weighted = weight * sign;
                self.drift[one as usize] += weighted;
                for &(other, sign) in &self.signs[..=place] {
                    self.square[one.max(other) as usize * size + one.min(other) as usize] += weighted * sign;
                }
            }
        }
        for (one, &row) in self.links.iter().enumerate() {
            let (drift, rise) = (self.drift[one] / total, (self.pivot[one] + self.drift[one] / total) * give);
            for (other, &column) in self.links[..=one].iter().enumerate() {
                let whole = total * self.pivot[other] + self.drift[other];
                add(row, column, self.square[one * size + other] - drift * self.drift[other] + rise * whole);
            }
        }
        self.links.iter().for_each(|&link| self.numbers[link as usize] = ABSENT);
    }
}

/// Σ one · other.
pub(super) fn inner(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
