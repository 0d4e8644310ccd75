//! Complementary slackness: a link with a price is full.

use super::{FREE, FeasiblePoint, NONE, TINY};
use crate::error::Result;
use crate::interrupt::Pacer;

/// A link that idles by this part of its capacity or less is full: rounding of the sum of its rates.
const FULL: f64 = 1e-13;

/// Whether links with prices are full.
pub(super) struct Slackness<'a> {
    point: &'a FeasiblePoint<'a>,
    /// By path: its flow's rate where that moves with the price; ∞ where it is at a bound, linear or 0.
    moving: Vec<f64>,
    /// By link: the smallest of these.
    smallest: Vec<f64>,
    /// By link: the largest part of the price of a path that is its own.
    shares: Vec<f64>,
    /// Paths of numerically saturated flows, and their residuals: a rate is too large only on links with a price to
    /// others.
    pub(super) surplus: Vec<(usize, f64)>,
}

impl<'a> Slackness<'a> {
    pub(super) fn new(point: &'a FeasiblePoint<'a>) -> Self {
        let (paths, links) = (point.rates.len(), point.prices.len());
        let smallest = vec![f64::INFINITY; links];
        Self { point, moving: vec![f64::INFINITY; paths], smallest, shares: vec![0.0; links], surplus: Vec::new() }
    }

    /// Counts a path, given its worth max(q_p, U'(y_f)), and its flow's rate if that changes with the price.
    pub(super) fn count(&mut self, path: usize, worth: f64, moving: Option<f64>) {
        let FeasiblePoint { problem, rates, prices, .. } = self.point;
        let ceiling = problem.ceilings[path];
        let moving = match moving {
            Some(rate) if rates[path] > 0.0 => rate.max(TINY * ceiling),
            Some(rate) => rate.max(NONE * ceiling),
            None => f64::INFINITY,
        };
        self.moving[path] = moving;
        for &link in problem.paths.links(path) {
            let link = link as usize;
            let (share, smallest) = (prices[link] / worth, &mut self.smallest[link]);
            *smallest = if moving < *smallest { moving } else { *smallest };
            // 0/0 is NaN and does not count.
            self.shares[link] = if share > self.shares[link] { share } else { self.shares[link] };
        }
    }

    /// By link: its adjacent rate d_l (`kkt.rs`).
    pub(super) fn adjacent_rates(&self) -> Result<Vec<f64>> {
        let FeasiblePoint { problem, prices, path_prices, .. } = self.point;
        let (mut adjacent, mut pacer) = (problem.capacities.clone(), Pacer::new());
        for (path, links) in problem.paths.iter().enumerate().filter(|&(path, _)| self.moving[path].is_finite()) {
            pacer.did(2 * links.len())?;
            let priced = |link: &&u32| prices[**link as usize] > FREE * path_prices[path];
            let smallest = links.iter().filter(priced).map(|&link| self.smallest[link as usize]);
            let smallest = smallest.fold(f64::INFINITY, f64::min);
            for &link in links {
                let adjacent = &mut adjacent[link as usize];
                *adjacent = if smallest < *adjacent { smallest } else { *adjacent };
            }
        }
        Ok(adjacent)
    }

    /// min(largest share, idle capacity ÷ adjacent rate) of every link, and min(largest share along
    /// it, its residual) of every path with a surplus.
    pub(super) fn residuals(self, adjacent: Vec<f64>) -> impl Iterator<Item = f64> {
        let FeasiblePoint { problem, relative_loads, .. } = self.point;
        let of_surplus = |&(path, residual): &(usize, f64)| {
            let shares = problem.paths.links(path).iter().map(|&link| self.shares[link as usize]);
            let largest = shares.fold(0.0, f64::max);
            // min would drop a NaN.
            if residual > largest { largest } else { residual }
        };
        let surplus: Vec<f64> = self.surplus.iter().map(of_surplus).collect();
        let links = self.shares.into_iter().zip(relative_loads.iter().zip(&problem.capacities)).zip(adjacent);
        let idle = links.map(|((share, (load, capacity)), adjacent)| match 1.0 - load {
            idle if idle <= FULL => 0.0,
            idle => share.min(idle * capacity / adjacent),
        });
        idle.chain(surplus)
    }
}
