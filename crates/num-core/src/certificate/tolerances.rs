//! What a certificate counts as little. All relative.

/// A rate below this part of what its path could carry is tiny: an error is relative to that. A price below this part
/// of a path's is none, and a rise of U' by this part rounding.
pub(super) const TINY: f64 = 1e-9;
/// A rate is nothing below this part, where no rate at all is right; U' is the price where they differ by no more.
pub(super) const NONE: f64 = 1e-3;
/// Demands at two prices that differ by no more than this part are at one kink of U.
pub(super) const AT_KINK: f64 = 1e-6;
/// What a flow at its floor lacks is nothing up to this part of what it pays: rounding of sums.
pub(super) const NOTHING: f64 = 16.0 * f64::EPSILON;
/// U' is flat where its elasticity is below this: a price off by ε may then move a rate by more than ε over this.
pub(super) const FLAT: f64 = 0.1;

/// The distance from a rate at which U' is evaluated on either side, to detect a jump; from a demand, which need not be
/// exact, [`BESIDE_DEMAND`].
pub(crate) const BESIDE: f64 = 1e-9;
pub(super) const BESIDE_DEMAND: f64 = 1e-6;

/// A marginal is rounding of another one when it is at most this part of it.
pub(super) const NEGLIGIBLE: f64 = 0.5 * f64::EPSILON;
/// Rates are halved down to this part of the given one, to find where U' becomes rounding.
pub(super) const LEAST_PART: f64 = 1e-30;

/// The rate in place of 0 at which U' is evaluated, as a part of what the flow's paths can carry.
pub(super) const INSTEAD_OF_0: f64 = 1e-12;
/// A demand is a best response where U' there is the price, to this part.
pub(super) const AT_DEMAND: f64 = 1e-3;

/// A path is compared with at most this many of the cheapest others of its flow.
pub(super) const MANY_PATHS: usize = 64;
