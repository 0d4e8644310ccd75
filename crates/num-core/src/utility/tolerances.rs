//! What counts as large, as flat and as a point; steps of differences.

/// Flows that are treated at a time: their prices, rates and slopes stay in the first-level cache.
pub(crate) const CHUNK: usize = 128;

/// Rates above this count as ∞, rates below its inverse as 0; gains are cut here.
pub(super) const LARGEST: f64 = 1e290;
/// log of the smallest rate that a positive price can push a flow to.
pub(super) const LOG_SMALLEST: f64 = -690.0;

/// The relative step of differences.
pub(super) const STEP: f64 = 1e-5;
/// Elasticities of U' that are found by differences are cut here, where a demand does not move at all, and from below,
/// where it moves without end.
pub(super) const LARGEST_ELASTICITY: f64 = 1e12;
pub(super) const LEAST_ELASTICITY: f64 = 1e-9;

/// A demand with less than this −d log x / d log q counts as flat: a price step has to leave the piece.
pub(super) const FLAT: f64 = 1e-3;
/// What a flat demand counts as instead: this part of the ceiling, per relative change of the price. Halvings by a
/// slope test bring such a step down to any size; a step without a bound would not come down.
pub(super) const RISE: f64 = 0.02;
/// The least curvature of a bandwidth function, as a part of what a rise to the ceiling over one fair share would have.
pub(super) const CURVE_RISE: f64 = 0.1;

/// Calls of the marginal, at most, after a bracket of a demand is found.
pub(super) const MOST_CALLS: usize = 90;
/// A bracket as narrow as this, relative, is a point.
pub(super) const POINT: f64 = 4.0 * f64::EPSILON;
/// The least distance of a secant's point from an end of the bracket, as a part of its width.
pub(super) const MARGIN: f64 = 1e-9;
