//! A barrier: bounds on the rates of paths or flows, each with a slack and a multiplier whose product goes to 0 with μ.
//!
//! It adds the curvature multiplier/slack to the diagonal of Newton's equations, and a force on the rate.

use std::ops::Range;

use crate::paths::Numbered;

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
    fn complementarity_after(&self, lengths: (f64, f64), changes: &Numbered<f64>) -> f64;

    /// Adds each bound's curvature multiplier/slack.
    fn add_curvatures(&self, part: Range<usize>, first: usize, sums: &mut [f64]);

    /// Adds each multiplier's force.
    fn add_forces(&self, part: Range<usize>, first: usize, sums: &mut [f64]);

    /// Adds the force of each target.
    fn add_target_forces(&self, part: Range<usize>, first: usize, sums: &mut [f64]);

    /// Aims at a product of 0.
    fn aim_at_zero(&mut self);

    /// Aims at a product of `centre`, with a part of the second-order term of the last direction.
    fn aim_at(&mut self, centre: f64, part: f64, changes: &Numbered<f64>);

    /// Aims also at bringing the products that a step of these lengths would give into a range.
    fn aim_within(&mut self, lengths: (f64, f64), range: (f64, f64), changes: &Numbered<f64>);

    /// Steps of the multipliers that go with changes of the entries.
    fn direct(&mut self, changes: &Numbered<f64>);

    /// The largest relative falls of a slack and of a multiplier in a whole step.
    fn falls(&self, changes: &Numbered<f64>) -> (f64, f64);

    /// Takes a step of these lengths.
    fn advance(&mut self, lengths: (f64, f64), changes: &Numbered<f64>);
}

/// How far a product is from a range, and no farther than its upper end.
pub(super) fn outside(product: f64, (least, most): (f64, f64)) -> f64 {
    if product < least { least - product } else { (most - product).clamp(-most, 0.0) }
}
