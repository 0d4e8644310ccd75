//! What counts as 0, as solved and as settled. All relative: rates to those of their flows, prices to what their paths
//! pay (`scales.rs`), rows of the equations to their own terms.

/// Also the rounding of a multiplier beside a price.
pub(super) use crate::tolerances::ROUNDING;

/// The least gap that counts in a certificate, and the KKT residual of a refined point at most.
pub(super) const CERTIFIED: f64 = 1e-6;
/// A gap that is so many times that of the solution's certificate is of another problem; for rates and prices without a
/// certificate, one above [`UNCERTIFIED`].
pub(super) const FOREIGN: f64 = 10.0;
pub(super) const UNCERTIFIED: f64 = 1e-3;

/// Rates that differ by no more are near: one may be at the breakpoint that the other is at, and the factor of one
/// serves the other.
pub(super) const NEAR: f64 = 1e-2;
/// Newton steps at most; active sets that are tried for one forward product, and as many more per weak constraint.
pub(super) const STEPS: usize = 50;
/// A rate falls by no more than this part in a Newton step.
pub(super) const FALL: f64 = 0.8;
/// Newton steps that change rates by rounding, after which links may still have an excess.
pub(super) const MOST_SETTLED: usize = 3;
/// The KKT residual to which the interior point solves again where Newton's method does not converge, and where it
/// does, with constraints that hold with a multiplier of 0.
pub(super) const AGAIN: f64 = 1e-9;
pub(super) const CENTRAL: f64 = 1e-11;

/// What a constraint lacks to be active where it counts as 0, and its multiplier at most.
pub(super) const WEAK: f64 = 1e-7;
/// The excess of a path's price counts as 0 up to this many times what the last Newton step leaves unsettled of prices,
/// and at least up to [`SOLVED`]: paths may differ by little, and a path that is dearer carries nothing.
pub(super) const UNSETTLED: f64 = 1e3;
/// The rounding of a multiplier of the last active set: a drift has six digits.
pub(super) const MULTIPLIER: f64 = 1e-5;

/// Θ⁻¹ per stiffness, and D per diagonal entry (`equations/`).
pub(super) const PROXIMAL: f64 = 1e-3;
pub(super) const RAISED: f64 = 1e-8;
/// Factor on the diagonal of a link that is not active, which takes it out of the system.
pub(super) const OUT: f64 = 1e16;
/// The matrix is factorized where active links, cubed, are no more than this per crossing: about where O(links³) costs
/// as much as the conjugate gradients of one right-hand side.
pub(super) const CUBED_PER_CROSSING: f64 = 1e4;

/// What a row of the equations and a one-sided condition may leave; what a row may leave beside a drift of prices, as a
/// part of the largest relative change; and steps that no longer shrink, where they are rounding.
pub(super) const SOLVED: f64 = 1e-9;
pub(super) const SOLVED_BESIDE_DRIFT: f64 = 1e-8;
pub(super) const STALLED: f64 = 1e-10;
/// Rounds end when the next one would change no more than this part of the solution.
pub(super) const SETTLED: f64 = 1e-14;
/// Rounds at most.
pub(super) const ROUNDS: usize = 200;
/// Rounds, and active sets, after which a slower and surer way is taken; rounds that go on where rows are not solved.
pub(super) const MANY: usize = 12;
/// Steps that shrink by no more than this factor, and differ by no more than rounding, drift; after many rounds those
/// that differ by no more than [`NEARLY_SAME`].
pub(super) const CONSTANT: f64 = 0.1;
pub(super) const NEARLY_SAME: f64 = 1e-4;
/// A step that is no more than this part of the solution is no drift.
pub(super) const DRIFT: f64 = 1e-7;
/// Rounding of a drift, as a part of its largest entry, and of what it leaves of the equations: D over rounding.
pub(super) const NOISE: f64 = 1e-6;
