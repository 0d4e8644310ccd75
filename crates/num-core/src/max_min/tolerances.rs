//! Tolerances and limits of max-min. A part is relative: 1e-12 of what is named.
//!
//! Those of water-filling stand in `water_fill/mod.rs`: a link with the part 16 ε of its capacity left is full.

/// Also of derivatives and entries of W⁻¹, the part of its terms that a coefficient of a refined row must exceed, and
/// the part by which a fair share is rounded.
pub(super) use crate::tolerances::ROUNDING;

/// Part of the largest price below which a price is 0, and part of its range below which a variable that is negative
/// is 0 when given rates are routed.
pub(super) const ZERO: f64 = 1e-11;
/// Part of the largest price of an inequality below which a price is 0: smaller ones are told from rounding, as prices
/// are refined.
pub(super) const LEAST_PRICE: f64 = 1e-18;
/// Part of its terms that a violation of a sum of cuts, or what removes it, must exceed: prices are exact to less.
pub(super) const REFINED: f64 = 64.0 * f64::EPSILON;
/// Part of its range by which a variable may go below 0 in the ratio test. Such a rate is 0 in the end, and what its
/// links lack then may be much beside what the classes before leave to another.
pub(super) const BELOW_0: f64 = 64.0 * f64::EPSILON;
/// Part of a full link's capacity by which its load may be off before W⁻¹ is computed afresh.
pub(super) const DRIFT: f64 = 1e-10;
/// Entry of I − W W⁻¹ above which W⁻¹ is computed afresh, and not brought to rounding.
pub(super) const FAR: f64 = 1e-3;
/// Part of a link's capacity up to which the load above it is rounding of splits, for which one path gives way.
pub(super) const GIVES_WAY: f64 = 1e-9;
/// Reduced cost that a column may have below 0 in the ratio test.
pub(super) const REDUCED_COST: f64 = 1e-9;
/// Part of a cut's terms by which its slack at the present fair share may be off.
pub(super) const FULL_CUT: f64 = 1e-9;
/// Part of the largest price of a row that a coefficient must exceed to be a pivot, and the largest price that counts
/// there: the leaving variable has the coefficient 1. Where paths use links differently, prices are products of many
/// ratios, and of larger ones only the rounding counts.
pub(super) const PIVOT: f64 = 1e-7;
pub(super) const LARGE: f64 = 100.0;
/// Part of its range by which a variable below 0 must leave, whether it falls or not.
pub(super) const BROKEN: f64 = 1e-7;
/// Part of its terms that a derivative must exceed to be reliable, and part by which it may differ from the row's.
pub(super) const RELIABLE: f64 = 1e-5;
/// Part of what the paths of a flow could carry: residuals are relative to the rate and at least to that.
pub(super) const NEGLIGIBLE: f64 = 1e-6;
/// Part of a full inequality that a flow must have in it to be held by it: where it has less, what is left of the
/// inequality by rounding (`FULL`) is more than a millionth of the flow.
pub(super) const SMALL: f64 = 4e-9;
/// Residual of rates, or gap, that ends a search over several paths: rounding is far below it.
pub(crate) const PROVEN: f64 = 1e-8;
/// Residual up to which the best rates of such a search are an answer.
pub(super) const ACCEPTABLE: f64 = 1e-5;

/// Runs with other costs or pivots before the best one stands; and where its rates are an answer.
pub(crate) const RUNS: u64 = 4;
/// A residual with which a run has come to its end, whose levels are wanted and not their proof.
pub(super) const ABOUT: f64 = 0.999;
pub(super) const RUNS_WHERE_NEAR: u64 = 2;
/// Iterations per path, link, flow and breakpoint before a run has broken off.
pub(super) const ITERATIONS: usize = 20;
/// Steps at most that bring prices or rates to rounding: each takes what the product of W⁻¹ and W is off by.
pub(super) const REFINEMENTS: usize = 8;
/// Pivots and cuts after which lists are shortened and sums computed afresh.
pub(super) const REFRESH: usize = 200;
/// Pivots of a proof of a level before it is given up.
pub(super) const PROOF_PIVOTS: usize = 100;
/// Pivots of a proof after which W⁻¹ is brought to rounding: its pivots are small where much is tied.
pub(super) const OFTEN: usize = 16;
/// What part of the operations of a run from the beginning are tried from an earlier basis, before one follows.
pub(super) const TRIED: usize = 8;
/// Elementary operations between two checks for a stop: about a millisecond.
pub(super) const SLICE: usize = 1 << 20;
/// Elementary operations before a search stops where rates need not be exact: some seconds.
pub(super) const MOST_OPERATIONS: usize = 2500 * SLICE;
