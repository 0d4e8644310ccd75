//! Passes over paths: most loops over the links that paths cross.
//!
//! ```text
//! gather     q_p = Σ_{l ∈ p} a_lp v_l                        Rᵀ v
//! scatter    y_l = Σ_{p ∋ l} a_lp v_p                        R v
//! diagonal   y_l = Σ_{p ∋ l} a_lp² w_p                       that of R W Rᵀ
//! multiply   y_l = Σ_{p ∋ l} a_lp w_p Σ_{m ∈ p} a_mp v_m     R W Rᵀ v
//! each       a function of every path and its links
//! ```
//!
//! where a_lp, the coefficient, is what path p uses of link l per unit of its rate. Ones are not stored, and passes
//! over them have loops of their own.
//!
//! A pass goes over a range of paths, run by run of equal lengths ([`Run`]), so that its loop is compiled for that
//! length. It costs O(crossings), and those that take long stop when a token in force says so.
//!
//! A pass over all paths of a problem is a [`Pass`]: it is cut into parts by sizes alone, the [`Workers`] do them, and
//! what they find is added up in the order of the parts, then over the ranks. The bits do not depend on who works.
//!
//! Loops over links elsewhere are measured kernels, and say so: the price iteration (`solve/price/rows.rs`,
//! `path_split.rs`, the flow blocks of netnum-parallel), and searches in max-min that follow single paths.

use std::ops::Range;
use std::sync::OnceLock;

use super::parts::{self, split_mut};
use super::runs::{Run, clipped, runs, with_length};
use super::{Paths, are_ones};
use crate::error::Result;
use crate::interrupt::{PIECE, Pacer};
use crate::work::{Workers, for_each};

/// The links of a path and its coefficients there: what a pass does with them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row<'a> {
    pub(crate) links: &'a [u32],
    /// One per link; none where all are 1.
    pub(crate) coefficients: Option<&'a [f64]>,
}

impl<'a> Row<'a> {
    /// The links.
    #[inline(always)]
    pub(crate) fn links(self) -> &'a [u32] {
        self.links
    }

    /// Its coefficients; none where all are 1.
    #[inline(always)]
    pub(crate) fn coefficients(self) -> Option<&'a [f64]> {
        self.coefficients
    }

    /// Every link, and what the path uses of it per unit of its rate.
    #[inline(always)]
    pub(crate) fn entries(self) -> impl Iterator<Item = (u32, f64)> + 'a {
        let coefficient = move |place: usize| self.coefficients.map_or(1.0, |all| all[place]);
        self.links.iter().enumerate().map(move |(place, &link)| (link, coefficient(place)))
    }

    /// Σ_{l ∈ p} a_lp, the number of links where all are 1.
    #[inline(always)]
    pub(crate) fn total(self) -> f64 {
        self.coefficients.map_or(self.links.len() as f64, |all| all.iter().sum())
    }

    /// What the path uses of a link per unit of its rate: 0 where it does not cross it.
    pub(crate) fn coefficient(self, link: u32) -> f64 {
        self.entries().find(|&(crossed, _)| crossed == link).map_or(0.0, |(_, a)| a)
    }

    /// Σ_{l ∈ p} a_lp v_l.
    #[inline(always)]
    pub(crate) fn sum(self, of_links: &[f64]) -> f64 {
        self.sum_of(|link| of_links[link])
    }

    /// Σ_{l ∈ p} a_lp v(l) of a function v.
    #[inline(always)]
    pub(crate) fn sum_of(self, value: impl Fn(usize) -> f64) -> f64 {
        match self.coefficients {
            None => self.links.iter().map(|&link| value(link as usize)).sum(),
            Some(all) => self.links.iter().zip(all).map(|(&link, a)| a * value(link as usize)).sum(),
        }
    }

    /// Adds what a path of a rate uses to each of its links: a_lp x.
    #[inline(always)]
    pub(crate) fn add(self, rate: f64, sums: &mut [f64]) {
        self.each_use(rate, |link, used| sums[link] += used);
    }

    /// Calls with every link and a_lp x, what a path of a rate uses of it.
    #[inline(always)]
    pub(crate) fn each_use(self, rate: f64, mut visit: impl FnMut(usize, f64)) {
        match self.coefficients {
            None => self.links.iter().for_each(|&link| visit(link as usize, rate)),
            Some(all) => self.links.iter().zip(all).for_each(|(&link, a)| visit(link as usize, a * rate)),
        }
    }

    /// The rate at which the path uses up the first of its links: min_{l ∈ p} v_l / a_lp, ∞ without links.
    #[inline(always)]
    pub(crate) fn narrowest(self, of_links: &[f64]) -> f64 {
        let narrower = |narrowest: f64, rate: f64| smaller(rate, narrowest);
        match self.coefficients {
            None => self.links.iter().map(|&link| of_links[link as usize]).fold(f64::INFINITY, narrower),
            Some(all) => {
                let rates = self.links.iter().zip(all).map(|(&link, a)| of_links[link as usize] / a);
                rates.fold(f64::INFINITY, narrower)
            }
        }
    }

    /// Of two values of every link, which lie side by side, [`narrowest`](Self::narrowest) of each.
    #[inline(always)]
    pub(crate) fn narrowest_pair(self, of_links: &[[f64; 2]]) -> [f64; 2] {
        match self.coefficients {
            None => self.links.iter().fold([f64::INFINITY; 2], |[one, other], &link| {
                let [first, second] = of_links[link as usize];
                [smaller(first, one), smaller(second, other)]
            }),
            Some(all) => self.links.iter().zip(all).fold([f64::INFINITY; 2], |[one, other], (&link, a)| {
                let [first, second] = of_links[link as usize];
                [smaller(first / a, one), smaller(second / a, other)]
            }),
        }
    }

    /// max_{l ∈ p} v_l, 0 without links.
    #[inline(always)]
    pub(crate) fn largest(self, of_links: &[f64]) -> f64 {
        self.links.iter().map(|&link| of_links[link as usize]).fold(0.0, f64::max)
    }

    /// Of two values of every link, which lie side by side, the [`sum`](Self::sum) of one and the
    /// [`largest`](Self::largest) of the other.
    #[inline(always)]
    pub(crate) fn sum_and_largest(self, of_links: &[[f64; 2]]) -> (f64, f64) {
        let with = |(sum, largest): (f64, f64), one: f64, other: f64| {
            (sum + one, if other > largest { other } else { largest })
        };
        match self.coefficients {
            None => self.links.iter().fold((0.0, 0.0), |both, &link| {
                let [one, other] = of_links[link as usize];
                with(both, one, other)
            }),
            Some(all) => self.links.iter().zip(all).fold((0.0, 0.0), |both, (&link, a)| {
                let [one, other] = of_links[link as usize];
                with(both, a * one, other)
            }),
        }
    }

    /// Lowers the values of each link to those that the path has there, given its coefficient; one that is no number
    /// does not count.
    #[inline(always)]
    pub(crate) fn lower<const N: usize>(self, values: impl Fn(f64) -> [f64; N], of_links: &mut [[f64; N]]) {
        let lower = |least: &mut [f64; N], values: [f64; N]| {
            least.iter_mut().zip(values).for_each(|(least, value)| *least = smaller(value, *least));
        };
        match self.coefficients {
            None => {
                let values = values(1.0);
                self.links.iter().for_each(|&link| lower(&mut of_links[link as usize], values));
            }
            Some(all) => {
                self.links.iter().zip(all).for_each(|(&link, &a)| lower(&mut of_links[link as usize], values(a)));
            }
        }
    }
}

/// The first of two numbers where it is smaller: one instruction, where min is three.
#[inline(always)]
pub(crate) fn smaller(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

impl Paths {
    /// The links of one path, for what passes do with them.
    #[inline(always)]
    pub(crate) fn row(&self, path: usize) -> Row<'_> {
        let own = self.indptr[path]..self.indptr[path + 1];
        Row { links: &self.indices[own.clone()], coefficients: self.coefficients.as_deref().map(|all| &all[own]) }
    }

    /// Calls a function with the number and the links of every path.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    #[inline(always)]
    pub(crate) fn each(&self, look: impl FnMut(usize, Row<'_>)) -> Result<()> {
        self.each_of(0..self.len(), look)
    }

    /// Calls a function with the number and the links of consecutive paths.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    #[inline(always)]
    pub(crate) fn each_of(&self, which: Range<usize>, mut look: impl FnMut(usize, Row<'_>)) -> Result<()> {
        let mut pacer = Pacer::new();
        for run in clipped(self.runs(), which) {
            let (mut start, end) = (run.paths.start, run.paths.end);
            // Loops of fixed length are for ones alone, or there would be twice as many.
            let length = if self.coefficients.is_none() { run.length } else { None };
            while start < end {
                let some = start..end.min(start + PIECE);
                let links = self.links_of(&some);
                start = some.end;
                with_length!(length, LENGTH => {
                    for (path, links) in some.zip(links.as_chunks::<LENGTH>().0) {
                        look(path, Row { links, coefficients: None });
                    }
                }, {
                    for path in some {
                        look(path, self.row(path));
                    }
                });
                pacer.did(links.len())?;
            }
        }
        Ok(())
    }

    /// Rᵀ v: per path of a range the sum of its links' values, times its coefficients.
    pub(crate) fn gather(&self, range: Range<usize>, values: &[f64], sums: &mut [f64]) {
        for Run { paths, length } in clipped(self.runs(), range.clone()) {
            let sums = &mut sums[paths.start - range.start..paths.end - range.start];
            with_length!(length, LENGTH => gather(self.entries_of::<LENGTH>(&paths), values, sums), {
                for (path, sum) in paths.zip(sums) {
                    *sum = self.row(path).sum(values);
                }
            });
        }
    }

    /// R x over a range of paths, added to what is there: per link the sum of its paths' values, times coefficients.
    pub(crate) fn scatter(&self, range: Range<usize>, values: &[f64], sums: &mut [f64]) {
        for Run { paths, length } in clipped(self.runs(), range.clone()) {
            let values = &values[paths.start - range.start..paths.end - range.start];
            with_length!(length, LENGTH => scatter(self.entries_of::<LENGTH>(&paths), values, sums), {
                for (path, &value) in paths.zip(values) {
                    self.row(path).add(value, sums);
                }
            });
        }
    }

    /// The diagonal of R W Rᵀ over a range of paths, added to what is there.
    pub(crate) fn add_diagonal(&self, range: Range<usize>, weights: &[f64], sums: &mut [f64]) {
        let Some(coefficients) = &self.coefficients else { return self.scatter(range, weights, sums) };
        for (path, &weight) in range.zip(weights) {
            let own = self.indptr[path]..self.indptr[path + 1];
            for (&link, a) in self.indices[own.clone()].iter().zip(&coefficients[own]) {
                sums[link as usize] += a * (a * weight);
            }
        }
    }

    /// R W Rᵀ v over a range of paths, added to what is there; `pairs` holds (v, sum) of every link side by side, so
    /// that reading and adding touch one line of the cache.
    pub(crate) fn multiply(&self, range: Range<usize>, weights: &[f64], pairs: &mut [[f64; 2]]) {
        for Run { paths, length } in clipped(self.runs(), range) {
            let weights = &weights[paths.clone()];
            with_length!(length, LENGTH => multiply(self.entries_of::<LENGTH>(&paths), weights, pairs), {
                for (path, &weight) in paths.zip(weights) {
                    multiply_one(self.row(path), weight, pairs);
                }
            });
        }
    }

    /// Some of the paths, in the order given; links by other numbers where there are such.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(crate) fn select(&self, paths: &[u32], numbers: Option<&[u32]>, workers: &dyn Workers) -> Result<Self> {
        let (mut indptr, mut end) = (Vec::with_capacity(paths.len() + 1), 0);
        indptr.push(0);
        indptr.extend(paths.iter().map(|&path| {
            end += self.indptr[path as usize + 1] - self.indptr[path as usize];
            end
        }));
        let (mut indices, runs) = (vec![0; end], runs(&indptr));
        let ranges = parts::ranges(paths.len(), parts::PATHS);
        let of_ranges: Vec<Range<usize>> = ranges.iter().map(|range| indptr[range.start]..indptr[range.end]).collect();
        let pieces = parts::split_mut(&mut indices, &of_ranges).zip(ranges.iter().cloned());
        for_each(workers, pieces, |(piece, range)| self.copy(paths, numbers, &runs, range, piece))?;
        let coefficients = self.coefficients.as_deref().map(|all| {
            let mut own = vec![0.0; end];
            let pieces = parts::split_mut(&mut own, &of_ranges).zip(ranges);
            for_each(workers, pieces, |(piece, range)| {
                let mut rest = piece;
                for &path in &paths[range] {
                    let from = self.indptr[path as usize]..self.indptr[path as usize + 1];
                    let (own, others) = rest.split_at_mut(from.len());
                    own.copy_from_slice(&all[from]);
                    rest = others;
                }
                Ok(())
            })?;
            Ok(own)
        });
        let coefficients = coefficients.transpose()?.filter(|all| !are_ones(all));
        Ok(Self { indptr, indices, coefficients, runs: OnceLock::from(runs) })
    }

    /// Some of the paths, in the order given, over the links that have a number there, by it.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    #[doc(hidden)]
    pub fn over_some(&self, paths: &[u32], number: impl Fn(u32) -> Option<u32>) -> Result<Self> {
        let (mut indptr, mut indices, mut own, mut pacer) = (vec![0], Vec::new(), Vec::new(), Pacer::new());
        for &path in paths {
            let row = self.row(path as usize);
            pacer.did(row.links().len())?;
            for (link, a) in row.entries().filter_map(|(link, a)| Some((number(link)?, a))) {
                indices.push(link);
                own.extend(self.coefficients.as_ref().map(|_| a));
            }
            indptr.push(indices.len());
        }
        Ok(Self::from_rows(indptr, indices, self.coefficients.as_ref().map(|_| own)))
    }

    /// The links of consecutive ones of some paths, whose runs are given.
    fn copy(
        &self,
        paths: &[u32],
        numbers: Option<&[u32]>,
        runs: &[Run],
        range: Range<usize>,
        mut rest: &mut [u32],
    ) -> Result<()> {
        let mut pacer = Pacer::new();
        for Run { paths: run, length } in clipped(runs, range) {
            for some in paths[run].chunks(PIECE) {
                let crossed = some.iter().map(|&path| self.indptr[path as usize + 1] - self.indptr[path as usize]);
                let (out, after) = rest.split_at_mut(length.map_or_else(|| crossed.sum(), |each| each * some.len()));
                rest = after;
                pacer.did(out.len())?;
                with_length!(length, LENGTH => {
                    for (out, &path) in out.as_chunks_mut::<LENGTH>().0.iter_mut().zip(some) {
                        *out = *self.indices[self.indptr[path as usize]..].first_chunk().expect("of this length");
                    }
                }, {
                    let mut rest = &mut *out;
                    for &path in some {
                        let (own, others) = rest.split_at_mut(self.links(path as usize).len());
                        own.copy_from_slice(self.links(path as usize));
                        rest = others;
                    }
                });
                if let Some(numbers) = numbers {
                    out.iter_mut().for_each(|link| *link = numbers[*link as usize]);
                }
            }
        }
        Ok(())
    }

    /// The links and coefficients of consecutive paths of one length.
    fn entries_of<const LENGTH: usize>(&self, paths: &Range<usize>) -> Entries<'_, LENGTH> {
        let own = self.indptr[paths.start]..self.indptr[paths.end];
        let coefficients = self.coefficients.as_deref().map(|all| all[own.clone()].as_chunks().0);
        (self.indices[own].as_chunks().0, coefficients)
    }

    /// The links of consecutive paths, one path after the other.
    fn links_of(&self, paths: &Range<usize>) -> &[u32] {
        &self.indices[self.indptr[paths.start]..self.indptr[paths.end]]
    }
}

/// The links and coefficients of consecutive paths of one length.
type Entries<'a, const LENGTH: usize> = (&'a [[u32; LENGTH]], Option<&'a [[f64; LENGTH]]>);

fn gather<const LENGTH: usize>((rows, coefficients): Entries<'_, LENGTH>, values: &[f64], sums: &mut [f64]) {
    let Some(coefficients) = coefficients else {
        for (links, sum) in rows.iter().zip(sums) {
            *sum = Row { links, coefficients: None }.sum(values);
        }
        return;
    };
    for ((links, own), sum) in rows.iter().zip(coefficients).zip(sums) {
        *sum = Row { links, coefficients: Some(own) }.sum(values);
    }
}

fn scatter<const LENGTH: usize>((rows, coefficients): Entries<'_, LENGTH>, values: &[f64], sums: &mut [f64]) {
    let Some(coefficients) = coefficients else {
        for (links, &value) in rows.iter().zip(values) {
            Row { links, coefficients: None }.add(value, sums);
        }
        return;
    };
    for ((links, own), &value) in rows.iter().zip(coefficients).zip(values) {
        Row { links, coefficients: Some(own) }.add(value, sums);
    }
}

fn multiply<const LENGTH: usize>((rows, coefficients): Entries<'_, LENGTH>, weights: &[f64], pairs: &mut [[f64; 2]]) {
    let Some(coefficients) = coefficients else {
        for (links, &weight) in rows.iter().zip(weights) {
            multiply_one(Row { links, coefficients: None }, weight, pairs);
        }
        return;
    };
    for ((links, own), &weight) in rows.iter().zip(coefficients).zip(weights) {
        multiply_one(Row { links, coefficients: Some(own) }, weight, pairs);
    }
}

#[inline(always)]
fn multiply_one(row: Row<'_>, weight: f64, pairs: &mut [[f64; 2]]) {
    match row.coefficients {
        None => {
            let sum: f64 = weight * row.links.iter().map(|&link| pairs[link as usize][0]).sum::<f64>();
            row.links.iter().for_each(|&link| pairs[link as usize][1] += sum);
        }
        Some(all) => {
            let own = || row.links.iter().zip(all);
            let sum: f64 = weight * own().map(|(&link, a)| a * pairs[link as usize][0]).sum::<f64>();
            own().for_each(|(&link, a)| pairs[link as usize][1] += a * sum);
        }
    }
}

/// A pass over all paths of a problem, or of one rank's part of it.
pub(crate) struct Pass<'a> {
    pub(crate) paths: &'a Paths,
    pub(crate) links: usize,
    /// The paths of every part, in order.
    pub(crate) ranges: Vec<Range<usize>>,
    pub(crate) workers: &'a dyn Workers,
}

impl Pass<'_> {
    /// Rᵀ v: per path the sum of its links' values, times its coefficients.
    pub(crate) fn gather(&self, values: &[f64], sums: &mut [f64]) {
        for_each(self.workers, parts::pieces(sums, &self.ranges), |(sums, range)| {
            self.paths.gather(range, values, sums);
            Ok(())
        })
        .expect("nothing stops it");
    }

    /// R x, added to what is there: per link the sum of its paths' values, those of this rank.
    pub(crate) fn scatter(&self, values: &[f64], sums: &mut [f64]) {
        self.add(sums, |range, sums| self.paths.scatter(range.clone(), &values[range], sums));
    }

    /// The diagonal of R W Rᵀ, added to what is there, over the paths of this rank.
    pub(crate) fn add_diagonal(&self, weights: &[f64], sums: &mut [f64]) {
        self.add(sums, |range, sums| self.paths.add_diagonal(range.clone(), &weights[range], sums));
    }

    /// Adds to what is there, per link, what `add` adds for the paths of every part, those of this rank. The first
    /// part goes on from there, so that a pass in one part takes no room.
    pub(crate) fn add(&self, sums: &mut [f64], add: impl Fn(Range<usize>, &mut [f64]) + Sync) {
        self.add_with(sums, self.ranges.iter().cloned(), add);
    }

    /// [`add`](Self::add), where every part has something of its own, and what is found there.
    pub(crate) fn add_with<P: Send, O: Send>(
        &self,
        sums: &mut [f64],
        of_parts: impl IntoIterator<Item = P>,
        add: impl Fn(P, &mut [f64]) -> O + Sync,
    ) -> Vec<O> {
        let mut others: Vec<Vec<f64>> = self.ranges.iter().skip(1).map(|_| vec![0.0; sums.len()]).collect();
        let lists = std::iter::once(&mut *sums).chain(others.iter_mut().map(Vec::as_mut_slice));
        let found = for_each(self.workers, of_parts.into_iter().zip(lists), |(part, sums)| Ok(add(part, sums)));
        for own in others {
            sums.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
        }
        found.expect("nothing stops it")
    }

    /// Sets the value of every path.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    #[inline(always)]
    pub(crate) fn set(&self, values: &mut [f64], of: impl Fn(Row<'_>) -> f64 + Sync) -> Result<()> {
        let pieces = split_mut(values, &self.ranges);
        for_each(self.workers, pieces.zip(&self.ranges), |(values, range)| {
            self.paths.each_of(
                range.clone(),
                #[inline(always)]
                |path, row| values[path - range.start] = of(row),
            )
        })?;
        Ok(())
    }

    /// Per link the sum of what `add` adds, over all paths of all ranks.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped) and those of [`Ranks`](crate::Ranks).
    #[inline(always)]
    pub(crate) fn sums(&self, add: impl Fn(usize, Row<'_>, &mut [f64]) + Sync) -> Result<Vec<f64>> {
        let nothing = std::iter::repeat_n((), self.ranges.len());
        self.sums_with(
            nothing,
            #[inline(always)]
            |_, path, row, sums| add(path, row, sums),
        )
    }

    /// [`sums`](Self::sums), where every part has columns of its own, which `add` may write.
    ///
    /// # Errors
    /// Those of `sums`.
    #[inline(always)]
    pub(crate) fn sums_with<C: Send>(
        &self,
        columns: impl IntoIterator<Item = C>,
        add: impl Fn(&mut C, usize, Row<'_>, &mut [f64]) + Sync,
    ) -> Result<Vec<f64>> {
        let of_parts = for_each(self.workers, columns.into_iter().zip(&self.ranges), |(mut column, range)| {
            let mut sums = vec![0.0; self.links];
            self.paths.each_of(
                range.clone(),
                #[inline(always)]
                |path, row| add(&mut column, path, row, &mut sums),
            )?;
            Ok(sums)
        })?;
        let mut sums = parts::add_up(of_parts);
        self.workers.ranks().sum(&mut sums)?;
        Ok(sums)
    }

    /// Per link the least of some values over all paths of all ranks, at most those of `most`.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped) and those of [`Ranks`](crate::Ranks).
    #[inline(always)]
    pub(crate) fn least<const N: usize>(
        &self,
        most: Vec<[f64; N]>,
        lower: impl Fn(usize, Row<'_>, &mut [[f64; N]]) + Sync,
    ) -> Result<Vec<[f64; N]>> {
        let of_parts = for_each(self.workers, self.ranges.iter().cloned(), |range| {
            let mut least = most.clone();
            self.paths.each_of(
                range,
                #[inline(always)]
                |path, row| lower(path, row, &mut least),
            )?;
            Ok(least)
        })?;
        let mut least = most;
        for own in of_parts {
            let pairs = least.as_flattened_mut().iter_mut().zip(own.as_flattened());
            pairs.for_each(|(least, &own)| *least = smaller(own, *least));
        }
        self.workers.ranks().min(least.as_flattened_mut())?;
        Ok(least)
    }
}
