//! The splits of flows over several paths: no path that is more expensive than another with room carries anything.

use std::mem::take;

use super::numerical_saturation::{NumericalSaturation, numerical_saturation_of};
use super::ties::Ties;
use super::tolerances::{FLAT, MANY_PATHS, NONE, TINY};
use super::{FeasiblePoint, larger};
use crate::double_double::DoubleDouble;
use crate::error::Result;
use crate::interrupt;
use crate::paths::parts::pieces;
use crate::paths::passes::smaller;
use crate::tolerances::ROUNDING;
use crate::work::for_each;

/// Completed prices make no difference of paths larger by more than this part of what is paid.
const MOST_MOVED: f64 = 8.0 * ROUNDING;

/// How flows are split over their paths.
pub(super) struct PathSplits<'a> {
    point: &'a FeasiblePoint<'a>,
    /// U' of every flow, just below its saturation where it is there.
    pub(super) marginals: Vec<f64>,
    /// The most that a path of every flow may pay: U', or more at its floor.
    worths: Vec<f64>,
    /// By link: min max(α_g, 0.1) max(q_s, U'(y_g))/a_ls over the paths s through it of whose price it is a part.
    least_paid: Vec<f64>,
    /// The least of these, of any link with a price.
    least_of_all: f64,
    /// The digits of the prices that rounding has cut off, where they matter.
    ties: Option<Ties>,
}

impl<'a> PathSplits<'a> {
    /// None where every flow on every rank has one path.
    pub(super) fn new(
        point: &'a FeasiblePoint<'a>,
        numerical_saturation: &'a [NumericalSaturation],
    ) -> Result<Option<Self>> {
        let FeasiblePoint { problem, prices, path_prices, .. } = point;
        if !problem.has_several_paths {
            return Ok(None);
        }
        let (mut marginals, ranges) = (vec![0.0; problem.flows()], problem.flow_ranges());
        for_each(&*problem.workers, pieces(&mut marginals, &ranges), |(marginals, range)| {
            let mut below = Vec::new();
            for (block, flows) in problem.chunks_of(&range) {
                interrupt::check()?;
                let own = flows.start - range.start..flows.end - range.start;
                point.marginals_into(block, flows, &mut below, &mut marginals[own]);
            }
            Ok(())
        })?;
        let (mut paid, steepness) = (path_prices.clone(), point.steepness()?);
        let mut worths = Vec::with_capacity(marginals.len());
        for (flow, &marginal) in marginals.iter().enumerate() {
            let worth = larger(marginal, numerical_saturation_of(numerical_saturation, flow).rounding);
            let worth = larger(worth, point.price_at_floor(flow, marginal));
            worths.push(worth);
            // A path at a bound, or of rate 0, may pay up to its marginal.
            let raise = |paid: &mut f64| *paid = if worth > *paid { worth } else { *paid };
            paid[problem.paths_of(flow)].iter_mut().for_each(raise);
        }
        let least_paid = problem.pass().least(vec![[f64::INFINITY]; prices.len()], |path, row, least| {
            let paid = paid[path];
            for (link, a) in row.entries().filter(|&(link, a)| a * prices[link as usize] > TINY * paid) {
                let [least] = &mut least[link as usize];
                *least = smaller(steepness[path] * paid / a, *least);
            }
        })?;
        let least_paid = least_paid.into_flattened();
        let least_of_all = least_paid.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(Some(Self { point, marginals, worths, least_paid, least_of_all, ties: None }))
    }

    /// Finds the digits of the prices that rounding has cut off. Returns whether there are any.
    pub(super) fn complete_prices(&mut self) -> Result<bool> {
        if self.ties.is_none() && self.point.problem.costs.is_empty() {
            self.ties = Ties::of(self.point)?;
        }
        Ok(self.ties.is_some())
    }

    /// The excess price of the paths that a flow uses over others with room, relative to the least payment m_L on the
    /// links L of which one of the two uses more (`kkt.rs`): that of paths whose prices differ, that of those that cost
    /// the same but for rounding, and as long as ties are not known what they may make of the first. `differences` is
    /// room: 0 for every link, before and after. What cannot be more than a residual that is known is left out.
    pub(super) fn residuals(
        &self,
        flow: usize,
        adjacent: &[f64],
        least_adjacent: f64,
        known: f64,
        differences: &mut [f64],
    ) -> [f64; 3] {
        let FeasiblePoint { problem, path_prices, rates, .. } = self.point;
        let paths = problem.paths_of(flow);
        let is_open = |path: &usize| rates[*path] < problem.bounds.caps[*path];
        let others = self.cheapest(paths.clone().filter(is_open));
        let cheapest = others.iter().map(|&other| path_prices[other]).fold(f64::INFINITY, f64::min);
        // Two paths differ by 1 on a link.
        let is_bounded = problem.paths.coefficients().is_none();
        let worth = self.worths[flow];
        let mut residuals = [known, 0.0, 0.0];
        for path in paths.filter(|&path| rates[path] > 0.0) {
            let whole = self.point.flow_rates()[flow].max(TINY * problem.bounds.ceilings[path]);
            let own = path_prices[path].max(worth);
            let excess = path_prices[path] - cheapest + MOST_MOVED * own;
            let most_of_own = (rates[path] / whole).min(excess / own / FLAT);
            let most_of_others = (rates[path] / least_adjacent).min(excess / self.least_of_all);
            if is_bounded && larger(most_of_own, most_of_others).min(1.0) <= residuals[0] {
                continue;
            }
            let cheaper = |other: &&usize| path_prices[**other] < path_prices[path] * (1.0 + ROUNDING);
            for &other in others.iter().filter(cheaper).filter(|&&other| other != path) {
                let (mut excess, mut least_paid, mut smallest) = self.compare(path, other, adjacent, differences);
                let is_near = excess.abs() <= ROUNDING * own;
                let may_count = is_near || excess > larger(residuals[0], residuals[1]) * self.least_of_all;
                if let Some(ties) = self.ties.as_ref().filter(|_| may_count) {
                    let mut sum = 0.0;
                    for (link, used, price) in ties.difference(self.point, path, other) {
                        sum += used * price;
                        least_paid = smaller(least_paid, self.least_paid[link] * used.abs());
                        smallest = smaller(smallest, adjacent[link] / used.abs());
                    }
                    excess = if is_near { sum } else { excess };
                }
                if excess <= 0.0 {
                    continue;
                }
                // Another split leaves the flow its rate: what it loses is its own, what others have is on links of L.
                let amount = rates[path].min(problem.bounds.caps[other] - rates[other]);
                let of_own = (amount / whole).min(excess / own / FLAT);
                let of_others = (amount / smallest).min(excess / least_paid);
                let residual = &mut residuals[usize::from(is_near)];
                *residual = larger(*residual, larger(of_own, of_others).min(1.0));
                if self.ties.is_none() && !is_near {
                    let most = (amount / least_adjacent).min(excess / self.least_of_all).min(1.0);
                    residuals[2] = larger(residuals[2], most);
                }
            }
        }
        residuals
    }

    /// The shifts of a flow from a path that it uses to one with room that costs no more, of which one counts: the two,
    /// how much may move, and by link how much more of it the first one uses.
    pub(super) fn shifts(
        &self,
        flow: usize,
        counts: &[bool],
        differences: &mut [f64],
        mut each: impl FnMut([usize; 2], f64, &[(usize, f64)]),
    ) {
        let FeasiblePoint { problem, path_prices, rates, .. } = self.point;
        let paths = self.cheapest(problem.paths_of(flow));
        let mut changes = Vec::new();
        for &from in paths.iter().filter(|&&path| rates[path] > 0.0) {
            for &to in &paths {
                let is_near = rates[to] > 0.0 || path_prices[to] <= path_prices[from] * (1.0 + NONE);
                let amount = rates[from].min(problem.bounds.caps[to] - rates[to]);
                if from == to || amount <= 0.0 || !is_near || !(counts[from] || counts[to]) {
                    continue;
                }
                changes.clear();
                self.differ(from, to, differences, |link, difference| changes.push((link, difference)));
                each([from, to], amount, &changes);
            }
        }
    }

    /// The cheapest of some paths, as many as are compared.
    fn cheapest(&self, paths: impl Iterator<Item = usize>) -> Vec<usize> {
        let (prices, mut paths) = (&self.point.path_prices, paths.collect::<Vec<_>>());
        if paths.len() > MANY_PATHS {
            paths.sort_by(|&one, &other| prices[one].total_cmp(&prices[other]));
            paths.truncate(MANY_PATHS);
        }
        paths
    }

    /// Over the links of which one of two paths uses more: the excess price q_one − q_other, the least payment m_L and
    /// the least adjacent rate d_L. Links that both use alike, whose prices may be many decades larger, are left out.
    fn compare(&self, one: usize, other: usize, adjacent: &[f64], differences: &mut [f64]) -> (f64, f64, f64) {
        let FeasiblePoint { problem, prices, .. } = self.point;
        let (mut sums, mut least, mut smallest) = ([0.0; 2], f64::INFINITY, f64::INFINITY);
        self.differ(one, other, differences, |link, difference| {
            let used = difference.abs();
            sums[usize::from(difference < 0.0)] += used * prices[link];
            least = smaller(self.least_paid[link] * used, least);
            smallest = smaller(adjacent[link] / used, smallest);
        });
        let excess = sums[0] - sums[1] + problem.costs[one] - problem.costs[other];
        let is_near = excess.abs() <= ROUNDING * larger(sums[0], sums[1]);
        (if is_near { self.exact_excess(one, other, differences) } else { excess }, least, smallest)
    }

    /// Each link of which one of two paths uses more, and how much the first uses more than the other.
    fn differ(&self, one: usize, other: usize, differences: &mut [f64], mut each: impl FnMut(usize, f64)) {
        let paths = &self.point.problem.paths;
        let entries = |path: usize| paths.row(path).entries().map(|(link, a)| (link as usize, a));
        entries(one).for_each(|(link, a)| differences[link] += a);
        entries(other).for_each(|(link, a)| differences[link] -= a);
        for (link, _) in entries(one).chain(entries(other)) {
            let difference = take(&mut differences[link]);
            if difference != 0.0 {
                each(link, difference);
            }
        }
    }

    /// q_one − q_other of prices that may lie so many decades apart that a sum swallows the small ones: the larger ones
    /// first, so that they cancel before the others count.
    fn exact_excess(&self, one: usize, other: usize, differences: &mut [f64]) -> f64 {
        let FeasiblePoint { problem, prices, .. } = self.point;
        let mut terms = vec![(1.0, problem.costs[one]), (-1.0, problem.costs[other])];
        self.differ(one, other, differences, |link, difference| terms.push((difference, prices[link])));
        terms.sort_by(|one, other| (other.0 * other.1).abs().total_cmp(&(one.0 * one.1).abs()));
        let mut excess = DoubleDouble::default();
        terms.into_iter().for_each(|(used, price)| excess.add_product(used, price));
        excess.value()
    }
}
