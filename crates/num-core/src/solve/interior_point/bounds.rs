//! Rigid bounds.
//!
//! ```text
//! x ≥ l    dual·(x − l) = μ          x ≤ u    dual·(u − x) = μ
//! ```

use std::ops::Range;

use super::barrier::{Barrier, outside};
use crate::paths::Numbered;

/// Rigid bounds of one kind, on the entries for which the bound can bind.
pub(super) struct Bounds {
    /// The entries that are bounded, in increasing order, and their bounds *(given)*.
    at: Vec<u32>,
    limit: Vec<f64>,
    /// The slack's change when the entry grows by one: 1 for lower bounds, −1 for upper ones *(given)*.
    sign: f64,
    /// Slack and multiplier, > 0 *(iterate)*.
    slack: Vec<f64>,
    dual: Vec<f64>,
    /// The wanted change of slack·multiplier, and the multiplier's step *(derived)*.
    target: Vec<f64>,
    step: Vec<f64>,
}

impl Bounds {
    pub(super) fn lower(entries: Vec<(u32, f64)>) -> Self {
        Self::new(entries, 1.0)
    }

    pub(super) fn upper(entries: Vec<(u32, f64)>) -> Self {
        Self::new(entries, -1.0)
    }

    fn new(entries: Vec<(u32, f64)>, sign: f64) -> Self {
        let zeros = vec![0.0; entries.len()];
        let (at, limit) = entries.into_iter().unzip();
        Self { at, limit, sign, slack: zeros.clone(), dual: zeros.clone(), target: zeros.clone(), step: zeros }
    }

    /// Whether an entry is bounded.
    pub(super) fn holds(&self, entry: usize) -> bool {
        self.at.binary_search(&(entry as u32)).is_ok()
    }

    /// Calls with every bounded entry of a part and its multiplier.
    pub(super) fn for_each_dual(&self, part: Range<usize>, mut visit: impl FnMut(usize, f64)) {
        for i in part {
            visit(self.at[i] as usize, self.dual[i]);
        }
    }

    /// Replaces the multipliers of a part, each a function of its entry and of the present one.
    pub(super) fn replace_duals(&mut self, part: Range<usize>, mut replaced: impl FnMut(usize, f64) -> f64) {
        for i in part {
            self.dual[i] = replaced(self.at[i] as usize, self.dual[i]);
        }
    }

    /// Takes the slack of one entry from its value.
    pub(super) fn set_slack(&mut self, entry: usize, value: f64) {
        if let Ok(i) = self.at.binary_search(&(entry as u32)) {
            self.slack[i] = self.sign * (value - self.limit[i]);
        }
    }

    /// Takes all slacks from the values, and the multipliers that center them. `excess` gives the excess of an entry's
    /// price, which the multiplier makes up for where the bound binds, and the price to compare it with.
    pub(super) fn centre_at(&mut self, values: &Numbered<f64>, centre: f64, excess: impl Fn(usize) -> (f64, f64)) {
        for (i, &at) in self.at.iter().enumerate() {
            let (excess, price) = excess(at as usize);
            self.slack[i] = self.sign * (values[at as usize] - self.limit[i]);
            self.dual[i] = (self.sign * excess).max((centre / self.slack[i]).min(0.1 * price));
        }
    }

    /// Cuts values that rounding has put beyond their bound.
    pub(super) fn clip(&self, part: Range<usize>, values: &mut Numbered<f64>) {
        for (&at, &limit) in self.at[part.clone()].iter().zip(&self.limit[part]) {
            let value = &mut values[at as usize];
            *value = if self.sign > 0.0 { value.max(limit) } else { value.min(limit) };
        }
    }

    /// Σ bound·multiplier.
    pub(super) fn revenue(&self) -> f64 {
        self.limit.iter().zip(&self.dual).map(|(limit, dual)| limit * dual).sum()
    }
}

impl Barrier for Bounds {
    fn pairs(&self) -> usize {
        self.at.len()
    }

    fn within(&self, entries: &Range<usize>) -> Range<usize> {
        let before = |entry: usize| self.at.partition_point(|&at| (at as usize) < entry);
        before(entries.start)..before(entries.end)
    }

    fn complementarity(&self) -> f64 {
        self.slack.iter().zip(&self.dual).map(|(slack, dual)| slack * dual).sum()
    }

    fn complementarity_after(&self, (primal, dual): (f64, f64), changes: &Numbered<f64>) -> f64 {
        let pairs = self.at.iter().zip(&self.slack).zip(self.dual.iter().zip(&self.step));
        let after = |((&at, slack), (multiplier, step)): ((&u32, &f64), (&f64, &f64))| {
            (slack + primal * self.sign * changes[at as usize]) * (multiplier + dual * step)
        };
        pairs.map(after).sum()
    }

    fn add_curvatures(&self, part: Range<usize>, first: usize, sums: &mut [f64]) {
        for i in part {
            sums[self.at[i] as usize - first] += self.dual[i] / self.slack[i];
        }
    }

    fn add_forces(&self, part: Range<usize>, first: usize, sums: &mut [f64]) {
        for i in part {
            sums[self.at[i] as usize - first] += self.sign * self.dual[i];
        }
    }

    fn add_target_forces(&self, part: Range<usize>, first: usize, sums: &mut [f64]) {
        for i in part {
            sums[self.at[i] as usize - first] += self.sign * self.target[i] / self.slack[i];
        }
    }

    fn aim_at_zero(&mut self) {
        for ((target, slack), dual) in self.target.iter_mut().zip(&self.slack).zip(&self.dual) {
            *target = -slack * dual;
        }
    }

    fn aim_at(&mut self, centre: f64, part: f64, changes: &Numbered<f64>) {
        let pairs = self.slack.iter().zip(&self.dual).zip(self.at.iter().zip(&self.step));
        for (target, ((slack, dual), (&at, step))) in self.target.iter_mut().zip(pairs) {
            *target = centre - slack * dual - part * self.sign * changes[at as usize] * step;
        }
    }

    fn aim_within(&mut self, (primal, dual): (f64, f64), range: (f64, f64), changes: &Numbered<f64>) {
        let pairs = self.slack.iter().zip(&self.dual).zip(self.at.iter().zip(&self.step));
        for (target, ((slack, multiplier), (&at, step))) in self.target.iter_mut().zip(pairs) {
            let after = (slack + primal * self.sign * changes[at as usize]) * (multiplier + dual * step);
            *target += outside(after, range);
        }
    }

    fn direct(&mut self, changes: &Numbered<f64>) {
        let pairs = self.slack.iter().zip(&self.dual).zip(self.at.iter().zip(&self.target));
        for (step, ((slack, dual), (&at, target))) in self.step.iter_mut().zip(pairs) {
            *step = (target - dual * self.sign * changes[at as usize]) / slack;
        }
    }

    fn falls(&self, changes: &Numbered<f64>) -> (f64, f64) {
        let (mut primal, mut dual) = (0.0f64, 0.0f64);
        for ((&at, slack), (multiplier, step)) in self.at.iter().zip(&self.slack).zip(self.dual.iter().zip(&self.step))
        {
            primal = primal.max(-self.sign * changes[at as usize] / slack);
            dual = dual.max(-step / multiplier);
        }
        (primal, dual)
    }

    fn advance(&mut self, (primal, dual): (f64, f64), changes: &Numbered<f64>) {
        let pairs = self.slack.iter_mut().zip(&mut self.dual).zip(self.at.iter().zip(&self.step));
        for ((slack, multiplier), (&at, step)) in pairs {
            *slack += primal * self.sign * changes[at as usize];
            *multiplier += dual * step;
        }
    }
}
