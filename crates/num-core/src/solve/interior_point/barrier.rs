//! The barriers: bounds on the rates of paths and flows, each with a slack and a multiplier whose product goes to 0
//! with μ.
//!
//! ```text
//! x ≥ 0          z·x = μ                      floors
//! x ≤ cap        v·(cap − x) = μ              caps
//! y ≤ saturation t·(saturation − y) = μ       saturation bounds
//! y past b       at the price J               breakpoints (`breakpoints.rs`)
//! ```
//!
//! The first three are rigid ([`Bounds`]); the multiplier of the last is at most J. Each adds the curvature
//! multiplier/slack to the diagonal of Newton's equations, and a force on the rate.

use std::ops::Range;

use super::breakpoints::Breakpoints;
use super::chunk::Chunk;
use super::variables::Step;

/// What an iteration needs of one kind of bound. Entries are paths or flows; a `part` is a range of the bounds. Sums
/// over a part are added to `sums`, whose first entry is number `first`.
pub(super) trait Barrier {
    /// Number of complementary pairs.
    fn pairs(&self) -> usize;

    /// The bounds of a range of entries.
    fn within(&self, entries: &Range<usize>) -> Range<usize>;

    /// Σ slack·multiplier.
    fn complementarity(&self) -> f64;

    /// Σ slack·multiplier after a step of these lengths; `changes` are those of the entries.
    fn complementarity_after(&self, lengths: (f64, f64), changes: &[f64]) -> f64;

    /// Adds each bound's curvature multiplier/slack.
    fn add_curvatures(&self, part: Range<usize>, first: usize, sums: &mut [f64]);

    /// Adds each multiplier's force.
    fn add_forces(&self, part: Range<usize>, first: usize, sums: &mut [f64]);

    /// Adds the force of each target.
    fn add_target_forces(&self, part: Range<usize>, first: usize, sums: &mut [f64]);

    /// Aims at a product of 0.
    fn aim_at_zero(&mut self);

    /// Aims at a product of `centre`, with a part of the second-order term of the last direction.
    fn aim_at(&mut self, centre: f64, part: f64, changes: &[f64]);

    /// Steps of the multipliers that go with changes of the entries.
    fn direct(&mut self, changes: &[f64]);

    /// The largest relative falls of a slack and of a multiplier in a whole step.
    fn falls(&self, changes: &[f64]) -> (f64, f64);

    /// Takes a step of these lengths.
    fn advance(&mut self, lengths: (f64, f64), changes: &[f64]);
}

/// The barriers of a problem.
pub(super) struct Barriers {
    pub(super) floors: Bounds,
    pub(super) caps: Bounds,
    pub(super) saturations: Bounds,
    pub(super) breakpoints: Breakpoints,
}

impl Barriers {
    pub(super) fn on_paths(&self) -> [&dyn Barrier; 2] {
        [&self.floors, &self.caps]
    }

    pub(super) fn on_flows(&self) -> [&dyn Barrier; 2] {
        [&self.saturations, &self.breakpoints]
    }

    /// Those on the paths of a chunk, each with the part of its bounds that is there.
    pub(super) fn on_paths_of(&self, chunk: &Chunk) -> impl Iterator<Item = (&dyn Barrier, Range<usize>)> {
        self.on_paths().into_iter().zip([chunk.floors.clone(), chunk.caps.clone()])
    }

    /// The same of its flows.
    pub(super) fn on_flows_of(&self, chunk: &Chunk) -> impl Iterator<Item = (&dyn Barrier, Range<usize>)> {
        self.on_flows().into_iter().zip([chunk.saturations.clone(), chunk.breakpoints.clone()])
    }

    /// All, each with the changes of its entries in a step.
    pub(super) fn with_changes<'a>(&'a self, step: &'a Step) -> [(&'a dyn Barrier, &'a [f64]); 4] {
        let [floors, caps] = self.on_paths();
        let [saturations, breakpoints] = self.on_flows();
        let Step { rates, flow_rates, .. } = step;
        [(floors, rates), (caps, rates), (saturations, flow_rates), (breakpoints, flow_rates)]
    }

    /// The same, to be changed.
    pub(super) fn with_changes_mut<'a>(&'a mut self, step: &'a Step) -> [(&'a mut dyn Barrier, &'a [f64]); 4] {
        let Self { floors, caps, saturations, breakpoints } = self;
        let Step { rates, flow_rates, .. } = step;
        [(floors, rates), (caps, rates), (saturations, flow_rates), (breakpoints, flow_rates)]
    }

    pub(super) fn pairs(&self) -> usize {
        self.on_paths().into_iter().chain(self.on_flows()).map(Barrier::pairs).sum()
    }

    pub(super) fn aim_at_zero(&mut self) {
        let Self { floors, caps, saturations, breakpoints } = self;
        let all: [&mut dyn Barrier; 4] = [floors, caps, saturations, breakpoints];
        all.into_iter().for_each(Barrier::aim_at_zero);
    }
}

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
    pub(super) fn centre_at(&mut self, values: &[f64], centre: f64, excess: impl Fn(usize) -> (f64, f64)) {
        for (i, &at) in self.at.iter().enumerate() {
            let (excess, price) = excess(at as usize);
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

    fn complementarity_after(&self, (primal, dual): (f64, f64), changes: &[f64]) -> f64 {
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

    fn aim_at(&mut self, centre: f64, part: f64, changes: &[f64]) {
        let pairs = self.slack.iter().zip(&self.dual).zip(self.at.iter().zip(&self.step));
        for (target, ((slack, dual), (&at, step))) in self.target.iter_mut().zip(pairs) {
            *target = centre - slack * dual - part * self.sign * changes[at as usize] * step;
        }
    }

    fn direct(&mut self, changes: &[f64]) {
        let pairs = self.slack.iter().zip(&self.dual).zip(self.at.iter().zip(&self.target));
        for (step, ((slack, dual), (&at, target))) in self.step.iter_mut().zip(pairs) {
            *step = (target - dual * self.sign * changes[at as usize]) / slack;
        }
    }

    fn falls(&self, changes: &[f64]) -> (f64, f64) {
        let (mut primal, mut dual) = (0.0f64, 0.0f64);
        for ((&at, slack), (multiplier, step)) in self.at.iter().zip(&self.slack).zip(self.dual.iter().zip(&self.step))
        {
            primal = primal.max(-self.sign * changes[at as usize] / slack);
            dual = dual.max(-step / multiplier);
        }
        (primal, dual)
    }

    fn advance(&mut self, (primal, dual): (f64, f64), changes: &[f64]) {
        let pairs = self.slack.iter_mut().zip(&mut self.dual).zip(self.at.iter().zip(&self.step));
        for ((slack, multiplier), (&at, step)) in pairs {
            *slack += primal * self.sign * changes[at as usize];
            *multiplier += dual * step;
        }
    }
}
