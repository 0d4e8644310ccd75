//! What several rooms compare alike. Tolerances of one room are in its own files.

use std::time::Duration;

/// Two sums, of rates or of prices, that differ by no more than this part are the same: the rest is rounding of their
/// terms.
pub(crate) const ROUNDING: f64 = 1e-12;
/// A rate of no more than this part of what its links could carry is 0: rounding of the links. So is a price of no more
/// than this part of U'.
pub(crate) const NEGLIGIBLE: f64 = 1e-9;
/// A path with no more than this part of its flow's rate carries nothing.
pub(crate) const IDLE_SHARE: f64 = 1e-6;
/// A rate within this part of its limit is at it.
pub(crate) const AT_LIMIT: f64 = 1e-9;
/// The part of a capacity by which the sum of the rates over a link may be off.
pub(crate) const SUMMED: f64 = 1e-11;
/// Work that takes no longer is done whatever the time limit.
pub(crate) const GRACE: Duration = Duration::from_millis(20);
/// In the place of a number: none.
pub(crate) const NONE: u32 = u32::MAX;

/// What the floors of so many paths leave at most, as a part of a capacity, where they leave nothing: the rounding of
/// their sums.
pub(crate) fn no_room(paths: usize) -> f64 {
    ROUNDING.max(paths as f64 * f64::EPSILON)
}
