//! Complementary slackness: a link with a price is full.

use std::ops::Range;

use super::tolerances::{NONE, TINY};
use super::{FeasiblePoint, larger};
use crate::error::Result;
use crate::paths::parts::split_mut;
use crate::presolve::ROUNDING;

/// The moving rate of a path of a linear flow that carries something: no rate is compared with it, but what idles on
/// one of its links is what others on another link have too much.
pub(super) const PASSES_ON: f64 = 1e200;

/// Whether links with prices are full.
pub(super) struct Slackness<'a> {
    pub(super) point: &'a FeasiblePoint<'a>,
    /// By path: its flow's rate where that moves with the price; [`PASSES_ON`] for a linear flow; ∞ where it is held by
    /// a bound or a kink, or is 0 and stays so.
    pub(super) moving: Vec<f64>,
    /// By path: max(q_p, U'(y_f)).
    worths: Vec<f64>,
    /// By link, in its unit: the smallest a_lp y_f that moves, and the least worth/a_lp.
    pub(super) smallest: Vec<[f64; 2]>,
    /// Paths of numerically saturated flows, and their residuals: a rate is too large only on links with a price to
    /// others.
    pub(super) surplus: Vec<(usize, f64)>,
    /// Paths of flows that should have no rate but have one, and by how much their prices exceed what it is worth.
    pub(super) unwanted: Vec<(usize, f64)>,
    /// Paths of flows that a bound or a kink of U holds, and what they lack of it, or have beyond it: below 0.
    pub(super) misplaced: Vec<(usize, f64)>,
}

impl<'a> Slackness<'a> {
    pub(super) fn new(point: &'a FeasiblePoint<'a>) -> Self {
        let (paths, links) = (point.rates.len(), point.prices.len());
        let (moving, worths) = (vec![f64::INFINITY; paths], vec![f64::INFINITY; paths]);
        Self {
            point,
            moving,
            worths,
            smallest: vec![[f64::INFINITY; 2]; links],
            surplus: Vec::new(),
            unwanted: Vec::new(),
            misplaced: Vec::new(),
        }
    }

    /// The columns of the paths of [`Presolved::flow_ranges`](crate::presolve::Presolved::flow_ranges).
    pub(super) fn split(&mut self) -> impl Iterator<Item = Columns<'_>> {
        let paths = self.point.problem.path_ranges();
        let columns = split_mut(&mut self.worths, &paths).zip(split_mut(&mut self.moving, &paths));
        let columns = columns.collect::<Vec<_>>().into_iter();
        columns.zip(paths).map(|((worths, moving), paths)| Columns { first: paths.start, worths, moving })
    }

    /// Finds the smallest rate and the least worth of every link, over all paths on all ranks.
    pub(super) fn add_up(&mut self) -> Result<()> {
        let Self { point, moving, worths, .. } = &*self;
        let unknown = vec![[f64::INFINITY; 2]; point.prices.len()];
        self.smallest = point.problem.pass().least(
            unknown,
            #[inline(always)]
            |path, row, smallest| row.lower(|a| [a * moving[path], worths[path] / a], smallest),
        )?;
        Ok(())
    }

    /// Whether the price of a link counts for every path through it: what is nothing to one may be all that another one
    /// pays.
    pub(super) fn counts_for_all(&self, link: usize) -> bool {
        self.point.prices[link] > NONE * self.smallest[link][1]
    }

    /// By link: its adjacent rate d_l (`kkt.rs`).
    pub(super) fn adjacent_rates(&self) -> Result<Vec<f64>> {
        let FeasiblePoint { problem, prices, path_prices, .. } = self.point;
        // Price and smallest rate of every link, side by side: every path reads both.
        let of_link = |(link, &price): (usize, &f64)| {
            let counted = if self.counts_for_all(link) { f64::INFINITY } else { price };
            [counted, self.smallest[link][0]]
        };
        let of_links: Vec<[f64; 2]> = prices.iter().enumerate().map(of_link).collect();
        let adjacent = problem.pass().least(
            problem.capacities.iter().map(|&capacity| [capacity]).collect(),
            #[inline(always)]
            |path, row, adjacent| {
                if self.moving[path] == f64::INFINITY {
                    return;
                }
                let (free, mut smallest) = (TINY * path_prices[path], f64::INFINITY);
                for (link, a) in row.entries() {
                    let [price, rate] = of_links[link as usize];
                    let rate = rate / a;
                    smallest = if (a * price > free) & (rate < smallest) { rate } else { smallest };
                }
                row.lower(|a| [a * smallest], adjacent);
            },
        )?;
        Ok(adjacent.into_flattened())
    }

    /// By link, in its unit: what is idle beyond the rounding of the sum of its rates.
    pub(super) fn idle(&self) -> impl Iterator<Item = f64> {
        let FeasiblePoint { problem, relative_loads, .. } = self.point;
        let idle = |(&load, &capacity): (&f64, &f64)| if 1.0 - load > ROUNDING { (1.0 - load) * capacity } else { 0.0 };
        relative_loads.iter().zip(&problem.capacities).map(idle)
    }

    /// min(largest share, idle capacity ÷ adjacent rate, or the part of what is misplaced) of every link, and
    /// min(largest share along it, its residual) of every path with a surplus.
    pub(super) fn residuals(&self, adjacent: &[f64], parts: &[f64]) -> impl Iterator<Item = f64> {
        let FeasiblePoint { problem, prices, .. } = self.point;
        // The largest part of the price of a path that is the link's own.
        let share = |(&price, &[_, worth]): (&f64, &[f64; 2])| if price > 0.0 { price / worth } else { 0.0 };
        let shares: Vec<f64> = prices.iter().zip(&self.smallest).map(share).collect();
        let of_surplus = |&(path, residual): &(usize, f64)| {
            let largest = problem.paths.row(path).largest(&shares);
            // min would drop a NaN.
            if residual > largest { largest } else { residual }
        };
        let surplus: Vec<f64> = self.surplus.iter().map(of_surplus).collect();
        let found = self.idle().zip(adjacent).zip(parts);
        let found = found.map(|((idle, adjacent), &part)| larger(idle / adjacent, part));
        let of_links: Vec<f64> = shares.iter().zip(found).map(|(share, found)| share.min(found)).collect();
        of_links.into_iter().chain(surplus)
    }

    /// The largest min(excess price, load ÷ adjacent rate of a link that it pays for) of the paths of flows that should
    /// have no rate: the load of all of them, which others lack, or of the path alone where its excess is almost none.
    /// They count in no adjacent rate then: each would be compared with itself.
    pub(super) fn unwanted_residual(mut self) -> Result<f64> {
        let FeasiblePoint { problem, prices, path_prices, rates, .. } = self.point;
        if !problem.ranks().any(!self.unwanted.is_empty())? {
            return Ok(0.0);
        }
        let mut dear = vec![0.0; rates.len()];
        for &(path, excess) in &self.unwanted {
            self.moving[path] = f64::INFINITY;
            dear[path] = if excess > NONE { rates[path] } else { 0.0 };
        }
        self.add_up()?;
        let adjacent = self.adjacent_rates()?;
        let loads = problem.pass().sums(
            #[inline(always)]
            |path, row, loads| row.add(dear[path], loads),
        )?;
        let residual = |&(path, excess): &(usize, f64)| {
            let paid = problem.paths.row(path).entries().map(|(link, a)| (link as usize, a));
            let free = TINY * path_prices[path];
            let paid = paid.filter(|&(link, a)| self.counts_for_all(link) || a * prices[link] > free);
            let load = |(link, a): (usize, f64)| if excess > NONE { loads[link] } else { a * rates[path] };
            excess.min(paid.map(|(link, a)| load((link, a)) / adjacent[link]).fold(0.0, f64::max))
        };
        Ok(self.unwanted.iter().map(residual).fold(0.0, f64::max))
    }
}

/// Where worths and moving rates of consecutive paths are kept.
pub(super) struct Columns<'a> {
    /// The first of the paths.
    first: usize,
    worths: &'a mut [f64],
    moving: &'a mut [f64],
}

impl Columns<'_> {
    /// Counts a path, given its worth max(q_p, U'(y_f)) and its moving rate.
    #[inline(always)]
    pub(super) fn count(&mut self, path: usize, worth: f64, moving: f64) {
        (self.worths[path - self.first], self.moving[path - self.first]) = (worth, moving);
    }

    /// Worths and moving rates of some of the paths.
    pub(super) fn of(&mut self, paths: Range<usize>) -> (&mut [f64], &mut [f64]) {
        let places = paths.start - self.first..paths.end - self.first;
        (&mut self.worths[places.clone()], &mut self.moving[places])
    }
}

/// The rate that a link's idle capacity is compared with: that of a path's flow, or where it is tiny a part of what the
/// path could carry.
#[inline(always)]
pub(super) fn moving_rate(rate: f64, flow_rate: f64, ceiling: f64) -> f64 {
    let least = if rate > 0.0 { TINY } else { NONE } * ceiling;
    if flow_rate > least { flow_rate } else { least }
}

/// Whether a path counts: it carries something, or a slightly lower price would make it.
#[inline(always)]
pub(super) fn moves_with_price(rate: f64, price: f64, marginal: f64) -> bool {
    (rate > 0.0) | (price <= marginal * (1.0 + NONE))
}
