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
    /// By how much the slack is less than what the entry leaves *(derived)*.
    residual: Vec<f64>,
    /// What slack·multiplier is to change by, the slack's step and the multiplier's *(derived)*.
    target: Vec<f64>,
    change: Vec<f64>,
    step: Vec<f64>,
}

impl Bounds {
    /// Lower bounds for sign 1, upper ones for sign −1.
    pub(super) fn new(entries: Vec<(u32, f64)>, sign: f64) -> Self {
        let zeros = vec![0.0; entries.len()];
        let (at, limit) = entries.into_iter().unzip();
        let (slack, dual, residual, target, change, step) =
            (zeros.clone(), zeros.clone(), zeros.clone(), zeros.clone(), zeros.clone(), zeros);
        Self { at, limit, sign, slack, dual, residual, target, change, step }
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

    /// Compares the slacks of a part with what the values leave.
    pub(super) fn measure(&mut self, part: Range<usize>, values: &[f64]) {
        for i in part {
            self.residual[i] = self.sign * (values[self.at[i] as usize] - self.limit[i]) - self.slack[i];
        }
    }

    /// Σ multiplier·|residual|.
    pub(super) fn infeasibility(&self) -> f64 {
        self.dual.iter().zip(&self.residual).map(|(dual, residual)| dual * residual.abs()).sum()
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
    pub(super) fn complementarity_after(&self, primal: f64, dual: f64) -> f64 {
        let pairs = self.change.iter().zip(&self.slack).zip(self.dual.iter().zip(&self.step));
        let after = |((change, slack), (multiplier, step)): ((&f64, &f64), (&f64, &f64))| {
            (slack + primal * change) * (multiplier + dual * step)
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
    pub(super) fn pulls(&self, part: Range<usize>, mut add: impl FnMut(usize, f64)) {
        for i in part {
            let target = self.target[i] - self.dual[i] * self.residual[i];
            add(self.at[i] as usize, self.sign * target / self.slack[i]);
        }
    }

    /// Aims at a product of 0.
    pub(super) fn aim_at_zero(&mut self) {
        for ((target, slack), dual) in self.target.iter_mut().zip(&self.slack).zip(&self.dual) {
            *target = -slack * dual;
        }
    }

    /// Aims at a product of `centre`, with a part of the second-order term of the last direction.
    pub(super) fn aim_at(&mut self, centre: f64, part: f64) {
        let pairs = self.slack.iter().zip(&self.dual).zip(self.change.iter().zip(&self.step));
        for (target, ((slack, dual), (change, step))) in self.target.iter_mut().zip(pairs) {
            *target = centre - slack * dual - part * change * step;
        }
    }

    /// Steps of the multipliers that go with changes of the entries.
    pub(super) fn direct(&mut self, changes: &[f64]) {
        for (i, &at) in self.at.iter().enumerate() {
            self.change[i] = self.sign * changes[at as usize] + self.residual[i];
            self.step[i] = (self.target[i] - self.dual[i] * self.change[i]) / self.slack[i];
        }
    }

    /// The same where the multiplier's step is also known from the forces on the entry, to the rounding of its worth:
    /// next to the bound that says more than the entry's change, which is a difference of what its parts change by.
    pub(super) fn direct_by(&mut self, changes: &[f64], values: &[f64], step: impl Fn(usize) -> Option<(f64, f64)>) {
        self.direct(changes);
        for (i, &at) in self.at.iter().enumerate() {
            if let Some((step, worth)) = step(at as usize)
                && self.slack[i] * worth < self.dual[i] * values[at as usize]
            {
                self.step[i] = step;
                self.change[i] = (self.target[i] - self.slack[i] * step) / self.dual[i];
            }
        }
    }

    /// How much of a step keeps every slack, and every multiplier, from falling below 0: as the largest relative falls.
    pub(super) fn falls(&self) -> (f64, f64) {
        let (mut primal, mut dual) = (0.0f64, 0.0f64);
        for ((change, slack), (multiplier, step)) in
            self.change.iter().zip(&self.slack).zip(self.dual.iter().zip(&self.step))
        {
            primal = primal.max(-change / slack);
            dual = dual.max(-step / multiplier);
        }
        (primal, dual)
    }

    pub(super) fn advance(&mut self, primal: f64, dual: f64) {
        let pairs = self.slack.iter_mut().zip(&mut self.dual).zip(self.change.iter().zip(&self.step));
        for ((slack, multiplier), (change, step)) in pairs {
            *slack += primal * change;
            *multiplier += dual * step;
        }
    }
}
