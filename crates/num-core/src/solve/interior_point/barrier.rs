//! Bounds on some entries of a vector, each with its slack and its multiplier.

use std::ops::Range;

/// Bounds of one kind: x ≥ 0, x ≤ cap, or y ≤ saturation, for those entries that have one that can bind.
pub(super) struct Bounds {
    /// The entries that are bounded, in increasing order, and their bounds *(given)*.
    at: Vec<u32>,
    limit: Vec<f64>,
    /// What the slack changes by when the entry grows by one: 1 for lower bounds, −1 for upper ones *(given)*.
    sign: f64,
    /// Slack and multiplier, > 0 *(iterate)*.
    slack: Vec<f64>,
    dual: Vec<f64>,
    /// What slack·multiplier is to change by, and the multiplier's step *(derived)*.
    target: Vec<f64>,
    step: Vec<f64>,
}

impl Bounds {
    /// Lower bounds for sign 1, upper ones for sign −1.
    pub(super) fn new(entries: Vec<(u32, f64)>, sign: f64) -> Self {
        let zeros = vec![0.0; entries.len()];
        let (at, limit) = entries.into_iter().unzip();
        Self { at, limit, sign, slack: zeros.clone(), dual: zeros.clone(), target: zeros.clone(), step: zeros }
    }

    /// Whether an entry is bounded.
    pub(super) fn holds(&self, entry: usize) -> bool {
        self.at.binary_search(&(entry as u32)).is_ok()
    }

    /// The bounds of a range of entries.
    pub(super) fn within(&self, entries: &Range<usize>) -> Range<usize> {
        let before = |entry: usize| self.at.partition_point(|&at| (at as usize) < entry);
        before(entries.start)..before(entries.end)
    }

    /// Calls with every bounded entry of a part and its multiplier.
    pub(super) fn duals(&self, part: Range<usize>, mut visit: impl FnMut(usize, f64)) {
        for i in part {
            visit(self.at[i] as usize, self.dual[i]);
        }
    }

    /// Replaces the multipliers of a part, each given its entry and what it is.
    pub(super) fn settle(&mut self, part: Range<usize>, mut settled: impl FnMut(usize, f64) -> f64) {
        for i in part {
            self.dual[i] = settled(self.at[i] as usize, self.dual[i]);
        }
    }

    /// Takes the slack of one entry from its value.
    pub(super) fn place(&mut self, entry: usize, value: f64) {
        if let Ok(i) = self.at.binary_search(&(entry as u32)) {
            self.slack[i] = self.sign * (value - self.limit[i]);
        }
    }

    /// Takes all slacks from the values, and the multipliers that center them. `force` says of an entry by how much it is too
    /// dear, which the multiplier makes up for where the bound binds, and the price that this compares with.
    pub(super) fn begin(&mut self, values: &[f64], centre: f64, force: impl Fn(usize) -> (f64, f64)) {
        for (i, &at) in self.at.iter().enumerate() {
            let (excess, price) = force(at as usize);
            self.slack[i] = self.sign * (values[at as usize] - self.limit[i]);
            self.dual[i] = (self.sign * excess).max((centre / self.slack[i]).min(0.1 * price));
        }
    }

    /// Cuts values that rounding has put beyond their bound.
    pub(super) fn clip(&self, part: Range<usize>, values: &mut [f64]) {
        for (&at, &limit) in self.at[part.clone()].iter().zip(&self.limit[part]) {
            let value = &mut values[at as usize];
            *value = if self.sign > 0.0 { value.max(limit) } else { value.min(limit) };
        }
    }

    /// Σ slack·multiplier.
    pub(super) fn complementarity(&self) -> f64 {
        self.slack.iter().zip(&self.dual).map(|(slack, dual)| slack * dual).sum()
    }

    /// Σ bound·multiplier.
    pub(super) fn worth(&self) -> f64 {
        self.limit.iter().zip(&self.dual).map(|(limit, dual)| limit * dual).sum()
    }

    /// Σ slack·multiplier after a step in the entries and in the multipliers.
    pub(super) fn complementarity_after(&self, primal: f64, dual: f64, changes: &[f64]) -> f64 {
        let pairs = self.at.iter().zip(&self.slack).zip(self.dual.iter().zip(&self.step));
        let after = |((&at, slack), (multiplier, step)): ((&u32, &f64), (&f64, &f64))| {
            (slack + primal * self.sign * changes[at as usize]) * (multiplier + dual * step)
        };
        pairs.map(after).sum()
    }

    /// Calls with every bounded entry of a part and the bound's curvature multiplier/slack.
    pub(super) fn curvatures(&self, part: Range<usize>, mut add: impl FnMut(usize, f64)) {
        for i in part {
            add(self.at[i] as usize, self.dual[i] / self.slack[i]);
        }
    }

    /// Calls with every bounded entry of a part and the multiplier's force on it.
    pub(super) fn forces(&self, part: Range<usize>, mut add: impl FnMut(usize, f64)) {
        for i in part {
            add(self.at[i] as usize, self.sign * self.dual[i]);
        }
    }

    /// Calls with every bounded entry of a part and the force that the target adds.
    pub(super) fn target_forces(&self, part: Range<usize>, mut add: impl FnMut(usize, f64)) {
        for i in part {
            add(self.at[i] as usize, self.sign * self.target[i] / self.slack[i]);
        }
    }

    /// Aims at a product of 0.
    pub(super) fn aim_at_zero(&mut self) {
        for ((target, slack), dual) in self.target.iter_mut().zip(&self.slack).zip(&self.dual) {
            *target = -slack * dual;
        }
    }

    /// Aims at a product of `centre`, with a part of the second-order term of the last direction.
    pub(super) fn aim_at(&mut self, centre: f64, part: f64, changes: &[f64]) {
        let pairs = self.slack.iter().zip(&self.dual).zip(self.at.iter().zip(&self.step));
        for (target, ((slack, dual), (&at, step))) in self.target.iter_mut().zip(pairs) {
            *target = centre - slack * dual - part * self.sign * changes[at as usize] * step;
        }
    }

    /// Steps of the multipliers that go with changes of the entries.
    pub(super) fn direct(&mut self, changes: &[f64]) {
        let pairs = self.slack.iter().zip(&self.dual).zip(self.at.iter().zip(&self.target));
        for (step, ((slack, dual), (&at, target))) in self.step.iter_mut().zip(pairs) {
            *step = (target - dual * self.sign * changes[at as usize]) / slack;
        }
    }

    /// How much of a step keeps every slack, and every multiplier, from falling below 0: as the largest relative falls.
    pub(super) fn falls(&self, changes: &[f64]) -> (f64, f64) {
        let (mut primal, mut dual) = (0.0f64, 0.0f64);
        for ((&at, slack), (multiplier, step)) in self.at.iter().zip(&self.slack).zip(self.dual.iter().zip(&self.step))
        {
            primal = primal.max(-self.sign * changes[at as usize] / slack);
            dual = dual.max(-step / multiplier);
        }
        (primal, dual)
    }

    pub(super) fn advance(&mut self, primal: f64, dual: f64, changes: &[f64]) {
        let pairs = self.slack.iter_mut().zip(&mut self.dual).zip(self.at.iter().zip(&self.step));
        for ((slack, multiplier), (&at, step)) in pairs {
            *slack += primal * self.sign * changes[at as usize];
            *multiplier += dual * step;
        }
    }
}
