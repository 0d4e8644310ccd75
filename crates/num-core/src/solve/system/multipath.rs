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
//! every link that all its paths cross; what they use of it alike is in no e_p. The price Q of that may be many decades
//! larger than the differences that decide the split: a_p, b and η are without Q.

use std::ops::Range;

use faer::Mat;

use super::{ABSENT, Rows, Scalar};
use crate::paths::parts;
use crate::paths::{Paths, Row};
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
pub(super) struct Eliminated {
    /// Θ.
    pub(super) total: f64,
    /// 1/(1 + Θσ).
    pub(super) softness: f64,
    /// σ/(1 + Θσ).
    pub(super) stiffness: f64,
}

impl Eliminated {
    /// From θ of its paths and σ.
    fn new(weights: &[f64], curvature: f64) -> Self {
        Self::from_total(weights.iter().sum::<f64>().max(f64::MIN_POSITIVE), curvature)
    }

    /// From Θ and σ.
    pub(super) fn from_total(total: f64, curvature: f64) -> Self {
        // σ/(1 + Θσ) as 1/(1/σ + Θ): σ may be 0 or ∞.
        Self { total, softness: (1.0 + total * curvature).recip(), stiffness: (curvature.recip() + total).recip() }
    }

    /// σ.
    pub(super) fn curvature(self) -> f64 {
        self.stiffness / self.softness
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

    /// What a flow here adds to the equations.
    pub(super) fn eliminated(&self, flow: usize) -> Eliminated {
        self.eliminated[flow]
    }

    /// What all paths of a flow use alike.
    #[inline(always)]
    pub(super) fn common(&self, flow: usize) -> Row<'_> {
        self.link_sets.common.row(flow)
    }

    /// What a path of a flow here uses beyond what all paths of the flow use alike.
    #[inline(always)]
    pub(crate) fn own(&self, path: usize) -> Row<'_> {
        self.link_sets.own.row(path)
    }

    /// Σ a v over what all paths of a flow use alike (the result), and over the rest of each path (`sums`).
    pub(crate) fn gather(&self, flow: usize, value: impl Fn(usize) -> f64, sums: &mut [f64]) -> f64 {
        for (sum, path) in sums.iter_mut().zip(self.paths[flow].clone()) {
            *sum = self.own(path).sum_of(&value);
        }
        self.link_sets.common.row(flow).sum_of(value)
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
                    commons[flow - first_number] = self.gather(flow, |link| values[link], sums);
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
                range.for_each(|path| self.own(path).add(rates[path], sums));
                self.link_sets.common.row(flow).add(flow_rates[flow], sums);
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
    pub(super) fn each(&self, paths: Range<usize>, mut visit: impl FnMut(Range<usize>, Option<usize>)) {
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
            let common = self.gather(flow, |link| pairs[link][0], changes);
            let (total, _) = self.respond(flow, weights, common, changes);
            let mut add = |link: usize, used| pairs[link][1] += used;
            changes.iter().zip(range).for_each(|(&change, path)| self.own(path).each_use(change, &mut add));
            self.link_sets.common.row(flow).each_use(total, add);
        });
    }

    /// The diagonal of all that, added to what is there.
    pub(super) fn add_diagonal(&self, routing: &Paths, weights: &[f64], paths: Range<usize>, diagonal: &mut [f64]) {
        let room = |is_needed: bool| if is_needed { vec![0.0; diagonal.len()] } else { Vec::new() };
        let mut sums = room(!self.paths.is_empty());
        let mut squares = room(!self.paths.is_empty() && routing.coefficients().is_some());
        self.each(paths, |range, flow| {
            let Some(flow) = flow else {
                return routing.add_diagonal(range.clone(), &weights[range], diagonal);
            };
            for path in range.clone() {
                routing.row(path).add(weights[path], &mut sums);
            }
            let Eliminated { total, softness, stiffness } = self.eliminated[flow];
            if !squares.is_empty() {
                // Σ θ a²/(1 + Θσ) + (Σ θ a² − (Σ θ a)²/Θ) Θσ/(1 + Θσ).
                routing.add_diagonal(range.clone(), &weights[range.clone()], &mut squares);
                for &link in range.flat_map(|path| routing.links(path)) {
                    let sum = std::mem::take(&mut sums[link as usize]);
                    let square = std::mem::take(&mut squares[link as usize]);
                    let spread = (square - sum * (sum / total)).max(0.0);
                    diagonal[link as usize] += square * softness + spread * (total * stiffness);
                }
                return;
            }
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

    /// Adds R W Rᵀ over some paths with these flows eliminated to a matrix over some of the links, its lower triangle.
    /// One addition per two links of each flow, and O(kinds²) of the flow more: see [`Unions`].
    pub(super) fn add_square<T: Scalar>(
        &self,
        routing: &Paths,
        weights: &[f64],
        paths: Range<usize>,
        rows: &Rows,
        matrix: &mut Mat<T>,
    ) {
        let (unions, mut room) = (self.unions.as_ref().expect("they have been found"), Room::new());
        self.each(paths, |range, flow| match flow {
            None => rows.add_paths(routing, range, weights, matrix),
            Some(flow) => {
                let of_flow = (flow, range, self.eliminated[flow]);
                unions.add_flow(of_flow, weights, &mut room, (rows, &mut *matrix));
            }
        });
    }
}

/// What all paths of each flow use alike, the least coefficient where all cross a link, and what each path uses beyond
/// that: where all coefficients are 1 the links that all cross, and the other links of each path.
struct LinkSets {
    common: Paths,
    own: Paths,
}

impl LinkSets {
    fn new(problem: &Presolved, flows: &[Range<usize>]) -> Self {
        let (mut common, mut own) = (Entries::new(&problem.paths), Entries::new(&problem.paths));
        // Of every link how many of a flow's paths cross it, and the least of their coefficients.
        let mut of_links = vec![(0, f64::INFINITY); if flows.is_empty() { 0 } else { problem.capacities.len() }];
        for paths in flows {
            for (link, a) in paths.clone().flat_map(|path| problem.paths.row(path).entries()) {
                let (count, least) = &mut of_links[link as usize];
                (*count, *least) = (*count + 1, least.min(a));
            }
            let alike = |link: u32| match of_links[link as usize] {
                (count, least) if count == paths.len() => least,
                _ => 0.0,
            };
            let first = problem.paths.row(paths.start);
            common.push(first.links().iter().map(|&link| (link, alike(link))));
            // Paths before these that are not here have none.
            own.fill_up_to(paths.start);
            for path in paths.clone() {
                own.push(problem.paths.row(path).entries().map(|(link, a)| (link, a - alike(link))));
            }
            let crossed = paths.clone().flat_map(|path| problem.paths.links(path));
            crossed.for_each(|&link| of_links[link as usize] = (0, f64::INFINITY));
        }
        Self { common: common.finish(), own: own.finish() }
    }
}

/// Rows of links and coefficients, in the making.
struct Entries {
    indptr: Vec<usize>,
    links: Vec<u32>,
    /// None where all paths have ones.
    coefficients: Option<Vec<f64>>,
}

impl Entries {
    fn new(of: &Paths) -> Self {
        Self { indptr: vec![0], links: Vec::new(), coefficients: of.coefficients().map(|_| Vec::new()) }
    }

    /// Appends empty rows until there are so many.
    fn fill_up_to(&mut self, rows: usize) {
        self.indptr.resize(rows + 1, self.links.len());
    }

    /// Appends the row of the entries that are not 0.
    fn push(&mut self, entries: impl Iterator<Item = (u32, f64)>) {
        for (link, a) in entries.filter(|(_, a)| *a > 0.0) {
            self.links.push(link);
            self.coefficients.iter_mut().for_each(|all| all.push(a));
        }
        self.indptr.push(self.links.len());
    }

    fn finish(self) -> Paths {
        Paths::from_rows(self.indptr, self.links, self.coefficients)
    }
}

/// The links that the paths of each flow cross, by kinds, and K_f over the kinds: links that every path of the flow
/// uses alike are of one kind, and have one entry of K_f.
struct Unions {
    /// The kinds of flow f are `starts[f]..starts[f + 1]` *(given)*.
    starts: Vec<usize>,
    /// The links of kind k are `links[firsts[k]..firsts[k + 1]]` *(given)*.
    firsts: Vec<usize>,
    links: Vec<u32>,
    /// The kinds that each path of these flows uses, numbered within its flow, in increasing order *(given)*.
    uses: Paths,
}

/// Room for K_f of one flow.
struct Room<T> {
    /// Of one flow, the kinds that have a row: their numbers by kind, and the ends of their rows by number.
    numbers: Vec<u32>,
    ends: Vec<usize>,
    rows: Vec<u32>,
    /// r_0: the numbers that it uses with its coefficients, and by number.
    pivot: Vec<(u32, T)>,
    on_pivot: Vec<T>,
    /// The entries of e_p = r_p − r_0.
    differences: Vec<(u32, T)>,
    /// v = Σ θ_p e_p.
    drift: Vec<T>,
    /// u = Θ r_0 + v.
    whole: Vec<T>,
    /// Σ θ_p e_p e_pᵀ, by columns.
    square: Vec<T>,
}

impl Unions {
    fn new(all: &Paths, links: usize, flows: &[Range<usize>]) -> Self {
        let mut kind_of = vec![ABSENT; links];
        let (mut starts, mut firsts, mut ordered, mut uses) = (vec![0], Vec::new(), Vec::new(), Entries::new(all));
        let (mut crossed, mut row) = (Vec::new(), Vec::new());
        for own in flows {
            let (first, mut kinds) = (ordered.len(), 0);
            // Each path splits the kinds that it uses in part, or not everywhere alike.
            for path in own.clone() {
                crossed.clear();
                crossed.extend(all.row(path).entries().map(|(link, a)| (kind_of[link as usize], a.to_bits(), link)));
                crossed.sort_unstable();
                for alike in crossed.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
                    for &(before, _, link) in alike {
                        if before == ABSENT {
                            ordered.push(link);
                        }
                        kind_of[link as usize] = kinds;
                    }
                    kinds += 1;
                }
            }
            let union: &mut [u32] = &mut ordered[first..];
            union.sort_unstable_by_key(|&link| (kind_of[link as usize], link));
            let mut last = ABSENT;
            for (place, &link) in union.iter().enumerate() {
                if std::mem::replace(&mut last, kind_of[link as usize]) != last {
                    firsts.push(first + place);
                }
                kind_of[link as usize] = (firsts.len() - 1 - starts[starts.len() - 1]) as u32;
            }
            // Paths before these that are not here have none.
            uses.fill_up_to(own.start);
            for path in own.clone() {
                row.clear();
                row.extend(all.row(path).entries().map(|(link, a)| (kind_of[link as usize], a)));
                row.sort_unstable_by_key(|&(kind, _)| kind);
                row.dedup_by_key(|&mut (kind, _)| kind);
                uses.push(row.iter().copied());
            }
            union.iter().for_each(|&link| kind_of[link as usize] = ABSENT);
            starts.push(firsts.len());
        }
        firsts.push(ordered.len());
        Self { starts, firsts, links: ordered, uses: uses.finish() }
    }

    /// Adds K_f of a flow with these paths to a matrix over the rows.
    fn add_flow<T: Scalar>(
        &self,
        (flow, paths, Eliminated { total, softness, .. }): (usize, Range<usize>, Eliminated),
        weights: &[f64],
        room: &mut Room<T>,
        (rows, matrix): (&Rows, &mut Mat<T>),
    ) {
        let kinds = self.firsts[self.starts[flow]..=self.starts[flow + 1]].windows(2);
        room.number(kinds.map(|ends| &self.links[ends[0]..ends[1]]), rows);
        let Room { numbers, ends, rows, pivot, on_pivot, differences, drift, whole, square } = room;
        let size = ends.len();
        for values in [&mut *on_pivot, drift, whole] {
            values.clear();
            values.resize(size, T::from(0.0));
        }
        square.clear();
        square.resize(size * size, T::from(0.0));
        let used = |path: usize| {
            let entries = self.uses.row(path).entries().map(|(kind, a)| (numbers[kind as usize], T::from(a)));
            entries.filter(|(number, _)| *number != ABSENT)
        };
        let heaviest =
            paths.clone().fold(paths.start, |best, path| if weights[path] > weights[best] { path } else { best });
        pivot.clear();
        pivot.extend(used(heaviest));
        pivot.iter().for_each(|&(number, a)| on_pivot[number as usize] = a);
        for path in paths.filter(|&path| path != heaviest) {
            differences.clear();
            let mut left = pivot.iter().copied().peekable();
            for (number, a) in used(path) {
                while let Some((before, of_pivot)) = left.next_if(|(other, _)| *other < number) {
                    differences.push((before, -of_pivot));
                }
                let of_pivot =
                    left.next_if(|(other, _)| *other == number).map_or(T::from(0.0), |(_, of_pivot)| of_pivot);
                if a != of_pivot {
                    differences.push((number, a - of_pivot));
                }
            }
            differences.extend(left.map(|(number, of_pivot)| (number, -of_pivot)));
            for (place, &(one, difference)) in differences.iter().enumerate() {
                let weighted = T::from(weights[path]) * difference;
                drift[one as usize] += weighted;
                let column = &mut square[one as usize * size..(one as usize + 1) * size];
                for &(other, difference) in &differences[place..] {
                    column[other as usize] += weighted * difference;
                }
            }
        }
        let (total, softness) = (T::from(total), T::from(softness));
        for ((whole, on_pivot), drift) in whole.iter_mut().zip(&*on_pivot).zip(&*drift) {
            *whole = total * *on_pivot + *drift;
        }
        let rows_of = |number: usize| &rows[if number == 0 { 0 } else { ends[number - 1] }..ends[number]];
        for number in 0..size {
            let mean = drift[number] / total;
            let rise = (on_pivot[number] + mean) * softness;
            for other in number..size {
                let value = square[number * size + other] - mean * drift[other] + rise * whole[other];
                for (place, &one) in rows_of(number).iter().enumerate() {
                    let first = if other == number { place } else { 0 };
                    for &other in &rows_of(other)[first..] {
                        matrix[(one.max(other) as usize, one.min(other) as usize)] += value;
                    }
                }
            }
        }
    }
}

impl<T: Scalar> Room<T> {
    fn new() -> Self {
        Self {
            numbers: Vec::new(),
            ends: Vec::new(),
            rows: Vec::new(),
            pivot: Vec::new(),
            on_pivot: Vec::new(),
            differences: Vec::new(),
            drift: Vec::new(),
            whole: Vec::new(),
            square: Vec::new(),
        }
    }

    /// Numbers those of a flow's kinds that have a row, given the links of each.
    fn number<'a>(&mut self, kinds: impl Iterator<Item = &'a [u32]>, rows: &Rows) {
        self.numbers.clear();
        self.ends.clear();
        self.rows.clear();
        for links in kinds {
            let before = self.rows.len();
            self.rows.extend(links.iter().map(|&link| rows.of[link as usize]).filter(|&row| row != ABSENT));
            let has_rows = self.rows.len() > before;
            self.numbers.push(if has_rows { self.ends.len() as u32 } else { ABSENT });
            if has_rows {
                self.ends.push(self.rows.len());
            }
        }
    }
}

/// Σ one · other.
fn inner(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
