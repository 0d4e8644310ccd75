//! Bounds on the certificate, and the order of two solutions.
//!
//! | stop | gap ≤ | KKT residual ≤ |
//! |---|---|---|
//! | rates | tol | max(tol, 10⁻³) |
//! | gap | tol | |
//! | kkt | max(tol, 10⁻¹) | tol |
//!
//! The KKT residual costs another pass over the flows; with `rates` it is only found where the gap is near.

use super::{Settings, Stop};

/// KKT residual that [`Stop::Rates`] requires.
const RATES: f64 = 1e-3;

/// The largest gap for [`Stop::Kkt`], as a residual does not bound the gap where rates are tiny.
const MAX_GAP_FOR_KKT: f64 = 0.1;

/// The goal of a solve.
pub(crate) struct Goal {
    stop: Stop,
    tol: f64,
    /// Upper bounds of the gap and the KKT residual.
    gap: f64,
    kkt_residual: f64,
}

impl Goal {
    /// A gap within this factor of the tolerance is near.
    pub(super) const NEAR: f64 = 30.0;

    pub(crate) fn new(settings: &Settings) -> Self {
        let (stop, tol) = (settings.stop, settings.tol);
        let (gap, kkt_residual) = match stop {
            Stop::Rates => (tol, tol.max(RATES)),
            Stop::Gap => (tol, f64::INFINITY),
            Stop::Kkt => (tol.max(MAX_GAP_FOR_KKT), tol),
        };
        Self { stop, tol, gap, kkt_residual }
    }

    /// Whether the KKT residual matters, given the gap.
    pub(super) fn needs_rates(&self, gap: f64) -> bool {
        match self.stop {
            Stop::Rates => gap <= Self::NEAR * self.tol,
            Stop::Gap => false,
            Stop::Kkt => true,
        }
    }

    /// Whether the certificate meets the goal. A residual that was not computed is NaN, which does not.
    pub(crate) fn is_met(&self, gap: f64, kkt_residual: f64) -> bool {
        gap <= self.gap && (self.stop == Stop::Gap || kkt_residual <= self.kkt_residual)
    }

    /// The tolerance.
    pub(super) fn tol(&self) -> f64 {
        self.tol
    }

    /// Whether, at this gap, only single rates may be missing.
    pub(super) fn lacks_rates(&self, gap: f64) -> bool {
        gap <= self.gap && self.stop != Stop::Gap
    }

    /// Score: tolerance times the violation, at most the tolerance when the goal is met.
    pub(super) fn score(&self, gap: f64, kkt_residual: f64) -> f64 {
        if self.is_met(gap, kkt_residual) {
            return self.tol.min((gap / self.gap).max(kkt_residual / self.kkt_residual) * self.tol);
        }
        let rates = if self.needs_rates(gap) { kkt_residual / self.kkt_residual } else { 0.0 };
        let score = (gap / self.gap).max(rates) * self.tol;
        // NaN meets no goal.
        if gap.is_nan() || rates.is_nan() { f64::INFINITY } else { score }
    }

    /// Smaller for the better of two answers: one that is good enough before any other; of the others, with `rates` and
    /// `gap`, first the gap until that is good enough, and with `kkt` whichever of gap and residual is larger, because
    /// a residual of nearly 1 says little; of two with the same, the gap.
    pub(crate) fn rank(&self, gap: f64, kkt_residual: f64) -> [f64; 3] {
        let number = |value: f64| if value.is_nan() { f64::INFINITY } else { value };
        let (met, gap, rates) = (self.is_met(gap, kkt_residual), number(gap), number(kkt_residual));
        match self.stop {
            Stop::Kkt if met => [0.0, rates, gap],
            Stop::Kkt => [1.0, rates.max(gap), gap],
            Stop::Rates if gap <= self.gap => [0.0, rates, gap],
            Stop::Rates | Stop::Gap => [1.0, gap, gap],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_solutions_with_large_residuals_the_smaller_gap_is_better() {
        let by = |stop| Goal::new(&Settings::default().with_stop(stop));
        assert!(by(Stop::Kkt).rank(1e-14, 1.0) < by(Stop::Kkt).rank(0.8, 1.0));
        assert!(by(Stop::Kkt).rank(0.8, 0.5) < by(Stop::Kkt).rank(1e-14, 0.9));
        assert!(by(Stop::Kkt).rank(0.8, 1.0) < by(Stop::Kkt).rank(0.1, f64::NAN));
        assert!(by(Stop::Rates).rank(1e-7, 0.4) < by(Stop::Rates).rank(1e-9, 0.5));
        assert!(by(Stop::Rates).rank(1e-7, 1.0) < by(Stop::Rates).rank(1e-5, 1e-9));
    }
}
