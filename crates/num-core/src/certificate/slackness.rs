//! Complementary slackness: a link with a price is full.

use std::ops::Range;

use super::{FREE, FeasiblePoint, NONE, TINY};
use crate::error::Result;

/// A link that idles by this part of its capacity or less is full: rounding of the sum of its rates.
const FULL: f64 = 1e-13;

/// Whether links with prices are full.
pub(super) struct Slackness<'a> {
    point: &'a FeasiblePoint<'a>,
    /// By path: its flow's rate where that moves with the price; ∞ where it is at a bound, linear or 0.
    moving: Vec<f64>,
    /// By path: max(q_p, U'(y_f)).
    worths: Vec<f64>,
    /// By link: the smallest rate that moves, and the least worth.
    smallest: Vec<[f64; 2]>,
    /// Paths of numerically saturated flows, and their residuals: a rate is too large only on links with a price to
    /// others.
    pub(super) surplus: Vec<(usize, f64)>,
}

impl<'a> Slackness<'a> {
    pub(super) fn new(point: &'a FeasiblePoint<'a>) -> Self {
        let (paths, links) = (point.rates.len(), point.prices.len());
        let (moving, worths) = (vec![f64::INFINITY; paths], vec![f64::INFINITY; paths]);
        Self { point, moving, worths, smallest: vec![[f64::INFINITY; 2]; links], surplus: Vec::new() }
    }

    /// Counts a path, given its worth max(q_p, U'(y_f)), and its flow's rate if that changes with the price.
    #[inline(always)]
    pub(super) fn count(&mut self, path: usize, worth: f64, moving: Option<f64>) {
        let FeasiblePoint { problem, rates, .. } = self.point;
        let moving = moving.map(|rate| moving_rate(rates[path], rate, problem.ceilings[path]));
        (self.worths[path], self.moving[path]) = (worth, moving.unwrap_or(f64::INFINITY));
    }

    /// Where the worth and the moving rate of some paths are kept.
    pub(super) fn columns(&mut self, paths: Range<usize>) -> (&mut [f64], &mut [f64]) {
        (&mut self.worths[paths.clone()], &mut self.moving[paths])
    }

    /// What all paths on all ranks leave to their links.
    pub(super) fn add_up(&mut self) -> Result<()> {
        let Self { point, moving, worths, smallest, .. } = self;
        point.problem.each_path(
            #[inline(always)]
            |path, links| {
                let own = [moving[path], worths[path]];
                for &link in links {
                    let [rate, worth] = &mut smallest[link as usize];
                    // A number that is none does not count.
                    *rate = if own[0] < *rate { own[0] } else { *rate };
                    *worth = if own[1] < *worth { own[1] } else { *worth };
                }
            },
        )?;
        point.problem.ranks.min(smallest.as_flattened_mut())
    }

    /// By link: its adjacent rate d_l (`kkt.rs`).
    pub(super) fn adjacent_rates(&self) -> Result<Vec<f64>> {
        let FeasiblePoint { problem, prices, path_prices, .. } = self.point;
        let mut adjacent = problem.capacities.clone();
        // Price and smallest rate of every link, side by side: every path reads both.
        let of_links: Vec<[f64; 2]> =
            prices.iter().zip(&self.smallest).map(|(&price, &[rate, _])| [price, rate]).collect();
        problem.each_path(
            #[inline(always)]
            |path, links| {
                if self.moving[path] == f64::INFINITY {
                    return;
                }
                let (free, mut smallest) = (FREE * path_prices[path], f64::INFINITY);
                for &link in links {
                    let [price, rate] = of_links[link as usize];
                    smallest = if (price > free) & (rate < smallest) { rate } else { smallest };
                }
                for &link in links {
                    let adjacent = &mut adjacent[link as usize];
                    *adjacent = if smallest < *adjacent { smallest } else { *adjacent };
                }
            },
        )?;
        problem.ranks.min(&mut adjacent)?;
        Ok(adjacent)
    }

    /// min(largest share, idle capacity ÷ adjacent rate) of every link, and min(largest share along
    /// it, its residual) of every path with a surplus.
    pub(super) fn residuals(self, adjacent: Vec<f64>) -> impl Iterator<Item = f64> {
        let FeasiblePoint { problem, prices, relative_loads, .. } = self.point;
        // The largest part of the price of a path that is the link's own.
        let share = |(&price, &[_, worth]): (&f64, &[f64; 2])| if price > 0.0 { price / worth } else { 0.0 };
        let shares: Vec<f64> = prices.iter().zip(&self.smallest).map(share).collect();
        let of_surplus = |&(path, residual): &(usize, f64)| {
            let shares = problem.paths.links(path).iter().map(|&link| shares[link as usize]);
            let largest = shares.fold(0.0, f64::max);
            // min would drop a NaN.
            if residual > largest { largest } else { residual }
        };
        let surplus: Vec<f64> = self.surplus.iter().map(of_surplus).collect();
        let links = shares.into_iter().zip(relative_loads.iter().zip(&problem.capacities)).zip(adjacent);
        let idle = links.map(|((share, (load, capacity)), adjacent)| match 1.0 - load {
            idle if idle <= FULL => 0.0,
            idle => share.min(idle * capacity / adjacent),
        });
        idle.chain(surplus)
    }
}

/// What a link's idle capacity is compared with: the rate of a path's flow, or where that is tiny a part of what the
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
