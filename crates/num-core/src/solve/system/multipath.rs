//! Flows with several paths, eliminated from Newton's equations one by one.
//!
//! ```text
//! dx_p = θ_p (a_p + η)      σ Σ dx_p + η = b      a_p, b: forces on path p and on the flow; σ: the flow's curvature
//! dx_p = θ_p ( a_p − ā + (ā + b)/(1 + Θσ) )      Θ = Σ θ_p, ā = Σ θ_p a_p/Θ
//! K_f  = Σ_{p≠0} θ_p e_p e_pᵀ − v vᵀ/Θ + u uᵀ/(Θ(1 + Θσ))      e_p = r_p − r_0, v = Σ θ_p e_p, u = Θ r_0 + v
//! ```
//!
//! r_p is the column of path p in the routing matrix and 0 the path of the largest θ. Where Θσ ≫ 1 the flow's rate is
//! nearly fixed and only its split changes. The form Σ θ_p r_p r_pᵀ − … would then be a difference of large numbers on
//! every link that all its paths cross; such links are in no e_p. Their price Q may be many decades larger than the
//! differences that decide the split: a_p, b and η are without Q.

use std::ops::Range;

use faer::Mat;

use super::{ABSENT, Rows};
use crate::paths::Paths;
use crate::paths::parts;
use crate::presolve::Presolved;

/// The flows with several paths that share something, in order of their paths.
pub(crate) struct Multipath {
    /// The paths of each *(given)*.
    paths: Vec<Range<usize>>,
    eliminated: Vec<Eliminated>,
    link_sets: LinkSets,
    /// The links that each crosses; none before the first factorization *(given)*.
    unions: Option<Unions>,
    /// The most paths of a flow here *(given)*.
    most: usize,
}

/// What a flow that is eliminated adds to the equations *(derived)*.
#[derive(Clone, Copy, Default)]
struct Eliminated {
    /// Θ.
    total: f64,
    /// 1/(1 + Θσ).
    softness: f64,
    /// σ/(1 + Θσ).
    stiffness: f64,
}

impl Eliminated {
    /// From θ of its paths and σ.
    fn new(weights: &[f64], curvature: f64) -> Self {
        let total = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        // σ/(1 + Θσ) as 1/(1/σ + Θ): σ may be 0 or ∞.
        Self { total, softness: (1.0 + total * curvature).recip(), stiffness: (curvature.recip() + total).recip() }
    }
}

/// The weights of consecutive paths, and what the flows with several of them add to the equations.
pub(crate) struct WeightsOfPart<'a> {
    first_path: usize,
    weights: &'a mut [f64],
    first_flow: usize,
    paths: &'a [Range<usize>],
    eliminated: &'a mut [Eliminated],
}

impl WeightsOfPart<'_> {
    /// The paths.
    #[cfg(test)]
    pub(super) fn paths(&self) -> Range<usize> {
        self.first_path..self.first_path + self.weights.len()
    }

    /// Those of some of the paths.
    pub(crate) fn of(&mut self, paths: &Range<usize>) -> &mut [f64] {
        &mut self.weights[paths.start - self.first_path..paths.end - self.first_path]
    }

    /// Takes θ of a flow's paths, and its σ.
    pub(crate) fn eliminate(&mut self, flow: usize, curvature: f64) {
        let own = self.paths[flow - self.first_flow].clone();
        self.eliminated[flow - self.first_flow] = Eliminated::new(self.of(&own), curvature);
    }
}

impl Multipath {
    pub(super) fn new(problem: &Presolved, paths: Vec<Range<usize>>) -> Self {
        let most = paths.iter().map(Range::len).max().unwrap_or(0);
        Self {
            eliminated: vec![Eliminated::default(); paths.len()],
            unions: None,
            most,
            link_sets: LinkSets::new(problem, &paths),
            paths,
        }
    }

    /// Sets σ of a flow, and θ of its paths from `weights` of all paths.
    pub(crate) fn set(&mut self, flow: usize, curvature: f64, weights: &[f64]) {
        self.eliminated[flow] = Eliminated::new(&weights[self.paths[flow].clone()], curvature);
    }

    /// `weights` of all paths by these ranges of them, which cut no flow, to be set.
    pub(super) fn split<'a>(&'a mut self, weights: &'a mut [f64], ranges: &[Range<usize>]) -> Vec<WeightsOfPart<'a>> {
        let numbers: Vec<Range<usize>> = ranges.iter().map(|range| self.numbers(range)).collect();
        let paths = &self.paths;
        let weights: Vec<&mut [f64]> = parts::split_mut(weights, ranges).collect();
        let eliminated: Vec<&mut [Eliminated]> = parts::split_mut(&mut self.eliminated, &numbers).collect();
        let starts = ranges.iter().map(|range| range.start).zip(numbers);
        let pieces = weights.into_iter().zip(eliminated).zip(starts);
        pieces
            .map(|((weights, eliminated), (first_path, flows))| {
                let (first_flow, paths) = (flows.start, &paths[flows]);
                WeightsOfPart { first_path, weights, first_flow, paths, eliminated }
            })
            .collect()
    }

    /// The links of a path of a flow here that not all paths of the flow cross.
    pub(crate) fn own_links(&self, path: usize) -> &[u32] {
        self.link_sets.own(path)
    }

    /// Σ of values over the common links of a flow (the result), and over the own links of each path (`sums`).
    pub(crate) fn gather(&self, flow: usize, value: impl Fn(u32) -> f64, sums: &mut [f64]) -> f64 {
        for (sum, path) in sums.iter_mut().zip(self.paths[flow].clone()) {
            *sum = self.link_sets.own(path).iter().map(|&link| value(link)).sum();
        }
        self.link_sets.common(flow).iter().map(|&link| value(link)).sum()
    }

    /// The numbers of the flows here that have paths in a range, which cuts no flow.
    pub(super) fn numbers(&self, paths: &Range<usize>) -> Range<usize> {
        let before = |path: usize| self.paths.partition_point(|own| own.start < path);
        before(paths.start)..before(paths.end)
    }

    /// A range of paths, its ends moved on to where no flow here is cut.
    pub(super) fn whole_flows(&self, paths: Range<usize>) -> Range<usize> {
        let end_of_flow = |path: usize| match self.paths.partition_point(|own| own.start < path) {
            0 => path,
            before => self.paths[before - 1].end.max(path),
        };
        end_of_flow(paths.start)..end_of_flow(paths.end)
    }

    /// Rᵀ v of some paths: of a flow here the sum over its common links (`commons`), and over each path's own links.
    /// Sums and commons are those of these paths and of their flows.
    pub(super) fn gather_all(
        &self,
        routing: &Paths,
        values: &[f64],
        paths: Range<usize>,
        sums: &mut [f64],
        commons: &mut [f64],
    ) {
        let (first, first_number) = (paths.start, self.numbers(&paths).start);
        self.each(paths, |range, flow| {
            let sums = &mut sums[range.start - first..range.end - first];
            match flow {
                None => routing.gather(range, values, sums),
                Some(flow) => {
                    commons[flow - first_number] = self.gather(flow, |link| values[link as usize], sums);
                }
            }
        });
    }

    /// R x of some paths, added to what is there: on the common links of a flow here it is the flow's rate, free of the
    /// rounding of the sum over its paths.
    pub(super) fn scatter_all(
        &self,
        routing: &Paths,
        rates: &[f64],
        flow_rates: &[f64],
        paths: Range<usize>,
        sums: &mut [f64],
    ) {
        self.each(paths, |range, flow| match flow {
            None => routing.scatter(range.clone(), &rates[range], sums),
            Some(flow) => {
                for path in range {
                    self.link_sets.own(path).iter().for_each(|&link| sums[link as usize] += rates[path]);
                }
                self.link_sets.common(flow).iter().for_each(|&link| sums[link as usize] += flow_rates[flow]);
            }
        });
    }

    /// Replaces a_p of each path of a flow by dx_p, given b, both without Q. Returns Σ dx_p, free of the rounding of
    /// that sum, and η (without Q).
    pub(crate) fn respond(&self, flow: usize, weights: &[f64], force: f64, forces: &mut [f64]) -> (f64, f64) {
        let (weights, Eliminated { total, softness, .. }) = (&weights[self.paths[flow].clone()], self.eliminated[flow]);
        let mean = inner(weights, forces) / total;
        let rise = (mean + force) * softness;
        for (force, weight) in forces.iter_mut().zip(weights) {
            *force = weight * ((*force - mean) + rise);
        }
        (total * rise, rise - mean)
    }

    /// Calls for every range among some paths, which cut no flow, in order: of a flow here with its number, of others
    /// with none.
    fn each(&self, paths: Range<usize>, mut visit: impl FnMut(Range<usize>, Option<usize>)) {
        let mut next = paths.start;
        for flow in self.numbers(&paths) {
            let own = &self.paths[flow];
            if next < own.start {
                visit(next..own.start, None);
            }
            visit(own.clone(), Some(flow));
            next = own.end;
        }
        if next < paths.end {
            visit(next..paths.end, None);
        }
    }

    /// R W Rᵀ v over some paths with these flows eliminated, added to what is there; `pairs` holds (v, sum) of every
    /// link.
    pub(super) fn multiply(&self, routing: &Paths, weights: &[f64], paths: Range<usize>, pairs: &mut [[f64; 2]]) {
        let mut of_paths = vec![0.0; self.most];
        self.each(paths, |range, flow| {
            let Some(flow) = flow else { return routing.multiply(range, weights, pairs) };
            let changes = &mut of_paths[..range.len()];
            let common = self.gather(flow, |link| pairs[link as usize][0], changes);
            let (total, _) = self.respond(flow, weights, common, changes);
            for (change, path) in changes.iter().zip(range) {
                self.link_sets.own(path).iter().for_each(|&link| pairs[link as usize][1] += change);
            }
            self.link_sets.common(flow).iter().for_each(|&link| pairs[link as usize][1] += total);
        });
    }

    /// The diagonal of all that, added to what is there.
    pub(super) fn add_diagonal(&self, routing: &Paths, weights: &[f64], paths: Range<usize>, diagonal: &mut [f64]) {
        let mut sums = if self.paths.is_empty() { Vec::new() } else { vec![0.0; diagonal.len()] };
        self.each(paths, |range, flow| {
            let Some(flow) = flow else {
                return routing.scatter(range.clone(), &weights[range], diagonal);
            };
            for path in range.clone() {
                routing.row(path).add(weights[path], &mut sums);
            }
            let Eliminated { total, softness, stiffness } = self.eliminated[flow];
            for &link in range.flat_map(|path| routing.links(path)) {
                let sum = std::mem::take(&mut sums[link as usize]);
                // θ of the paths on the link is `sum`: sum (1 + (Θ − sum) σ)/(1 + Θσ).
                diagonal[link as usize] += sum * (softness + (total - sum).max(0.0) * stiffness);
            }
        });
    }

    /// Finds the links that each crosses, before the first [`add_square`](Self::add_square).
    pub(super) fn find_unions(&mut self, routing: &Paths, links: usize) {
        self.unions.get_or_insert_with(|| Unions::new(routing, links, &self.paths));
    }

    /// Adds R W Rᵀ over some paths with these flows eliminated to a scaled matrix over some of the links, its lower
    /// triangle. O(crossings²) of each flow over those links, in time and, for one flow at a time, in memory.
    pub(super) fn add_square(
        &self,
        routing: &Paths,
        weights: &[f64],
        paths: Range<usize>,
        rows: &Rows,
        matrix: &mut Mat<f64>,
    ) {
        let (unions, mut room) = (self.unions.as_ref().expect("they have been found"), Room::default());
        self.each(paths, |range, flow| match flow {
            None => rows.add_paths(routing, range, weights, matrix),
            Some(flow) => {
                unions.add_flow(routing, (flow, range), weights, self.eliminated[flow], rows, &mut room, matrix);
            }
        });
    }
}

/// The common links of each flow, which all its paths cross, and the own links of each path: its others.
struct LinkSets {
    /// The common links of flow f are `common[common_starts[f]..common_starts[f + 1]]`, the own links of path p
    /// `own[own_starts[p]..own_starts[p + 1]]`.
    common_starts: Vec<usize>,
    common: Vec<u32>,
    own_starts: Vec<usize>,
    own: Vec<u32>,
}

impl LinkSets {
    fn new(problem: &Presolved, flows: &[Range<usize>]) -> Self {
        let mut this = Self { common_starts: vec![0], common: Vec::new(), own_starts: Vec::new(), own: Vec::new() };
        let mut counts = vec![0; if flows.is_empty() { 0 } else { problem.capacities.len() }];
        for paths in flows {
            let crossed = || paths.clone().flat_map(|path| problem.paths.links(path));
            crossed().for_each(|&link| counts[link as usize] += 1);
            let is_common = |link: &&u32| counts[**link as usize] == paths.len();
            this.common.extend(problem.paths.links(paths.start).iter().filter(is_common));
            this.common_starts.push(this.common.len());
            for path in paths.clone() {
                // Paths before this one that are not here have none.
                this.own_starts.resize(path + 1, this.own.len());
                this.own.extend(problem.paths.links(path).iter().filter(|link| !is_common(link)));
            }
            crossed().for_each(|&link| counts[link as usize] = 0);
        }
        this.own_starts.push(this.own.len());
        this
    }

    fn common(&self, flow: usize) -> &[u32] {
        &self.common[self.common_starts[flow]..self.common_starts[flow + 1]]
    }

    fn own(&self, path: usize) -> &[u32] {
        &self.own[self.own_starts[path]..self.own_starts[path + 1]]
    }
}

/// The links that the paths of each flow cross, in increasing order, and K_f over them.
struct Unions {
    /// Those of flow f are `links[starts[f]..starts[f + 1]]` *(given)*.
    starts: Vec<usize>,
    links: Vec<u32>,
    /// The place of every crossing's link among its flow's, in increasing order for each path *(given)*.
    places: Vec<u32>,
}

/// Room for K_f of one flow.
#[derive(Default)]
struct Room {
    /// Of one flow, those of its links that have a row: their numbers by place, rows and scales.
    numbers: Vec<u32>,
    rows: Vec<u32>,
    scales: Vec<f64>,
    /// The numbers of the links of path 0.
    pivot: Vec<u32>,
    /// r_0, by number.
    on_pivot: Vec<f64>,
    /// The entries ±1 of e_p = r_p − r_0.
    signs: Vec<(u32, f64)>,
    /// v = Σ θ_p e_p.
    drift: Vec<f64>,
    /// u = Θ r_0 + v.
    whole: Vec<f64>,
    /// Σ θ_p e_p e_pᵀ, by columns.
    square: Vec<f64>,
}

impl Unions {
    fn new(all: &Paths, links: usize, flows: &[Range<usize>]) -> Self {
        let (indptr, indices) = (all.indptr(), all.indices());
        let mut place_of = vec![ABSENT; links];
        let (mut starts, mut links, mut places) = (vec![0], Vec::new(), vec![0; indices.len()]);
        for own in flows {
            let first = links.len();
            for &link in &indices[indptr[own.start]..indptr[own.end]] {
                if std::mem::replace(&mut place_of[link as usize], 0) == ABSENT {
                    links.push(link);
                }
            }
            let union: &mut [u32] = &mut links[first..];
            union.sort_unstable();
            for (place, &link) in union.iter().enumerate() {
                place_of[link as usize] = place as u32;
            }
            for path in own.clone() {
                let crossings = indptr[path]..indptr[path + 1];
                for (place, &link) in places[crossings.clone()].iter_mut().zip(&indices[crossings.clone()]) {
                    *place = place_of[link as usize];
                }
                places[crossings].sort_unstable();
            }
            union.iter().for_each(|&link| place_of[link as usize] = ABSENT);
            starts.push(links.len());
        }
        Self { starts, links, places }
    }

    /// The links of a flow.
    fn of(&self, flow: usize) -> &[u32] {
        &self.links[self.starts[flow]..self.starts[flow + 1]]
    }

    #[expect(clippy::too_many_arguments, reason = "a flow with its weights, and where it is added")]
    fn add_flow(
        &self,
        all: &Paths,
        (flow, paths): (usize, Range<usize>),
        weights: &[f64],
        Eliminated { total, softness, .. }: Eliminated,
        rows: &Rows,
        room: &mut Room,
        matrix: &mut Mat<f64>,
    ) {
        room.number(self.of(flow), rows);
        let Room { numbers, rows, scales, pivot, on_pivot, signs, drift, whole, square } = room;
        let places = &self.places;
        let size = rows.len();
        if size == 0 {
            return;
        }
        for values in [&mut *on_pivot, drift, whole] {
            values.clear();
            values.resize(size, 0.0);
        }
        square.clear();
        square.resize(size * size, 0.0);
        let crossed = |path: usize| {
            let places = &places[all.indptr()[path]..all.indptr()[path + 1]];
            places.iter().map(|&place| numbers[place as usize]).filter(|&number| number != ABSENT)
        };
        let heaviest =
            paths.clone().fold(paths.start, |best, path| if weights[path] > weights[best] { path } else { best });
        pivot.clear();
        pivot.extend(crossed(heaviest));
        pivot.iter().for_each(|&number| on_pivot[number as usize] = 1.0);
        for path in paths.filter(|&path| path != heaviest) {
            signs.clear();
            let mut left = pivot.iter().copied().peekable();
            for number in crossed(path) {
                while let Some(before) = left.next_if(|&other| other < number) {
                    signs.push((before, -1.0));
                }
                if left.next_if_eq(&number).is_none() {
                    signs.push((number, 1.0));
                }
            }
            signs.extend(left.map(|number| (number, -1.0)));
            for (place, &(one, sign)) in signs.iter().enumerate() {
                let weighted = weights[path] * sign;
                drift[one as usize] += weighted;
                let column = &mut square[one as usize * size..(one as usize + 1) * size];
                for &(other, sign) in &signs[place..] {
                    column[other as usize] += weighted * sign;
                }
            }
        }
        for ((whole, on_pivot), drift) in whole.iter_mut().zip(&*on_pivot).zip(&*drift) {
            *whole = total * on_pivot + drift;
        }
        for (number, &to) in rows.iter().enumerate() {
            let mean = drift[number] / total;
            let (rise, scale) = ((on_pivot[number] + mean) * softness, scales[number]);
            let column = matrix.col_as_slice_mut(to as usize);
            let square = &square[number * size + number..(number + 1) * size];
            let others = drift[number..].iter().zip(&whole[number..]).zip(&scales[number..]);
            for ((&row, value), ((drift, whole), other)) in rows[number..].iter().zip(square).zip(others) {
                column[row as usize] += (value - mean * drift + rise * whole) * (scale * other);
            }
        }
    }
}

impl Room {
    /// Numbers those of a flow's links that have a row.
    fn number(&mut self, links: &[u32], rows: &Rows) {
        self.numbers.clear();
        self.rows.clear();
        self.scales.clear();
        for &link in links {
            let row = rows.of[link as usize];
            let number = if row == ABSENT { ABSENT } else { self.rows.len() as u32 };
            self.numbers.push(number);
            if row != ABSENT {
                self.rows.push(row);
                self.scales.push(rows.scale[link as usize]);
            }
        }
    }
}

/// Σ one · other.
fn inner(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
