//! When the loop takes certificates: they cost several iterations.

use super::Goal;

/// When certificates are due.
pub(super) struct CertificateSchedule {
    /// The iteration at which one is due for any estimate.
    pub(super) next: usize,
    /// Last score per estimate.
    pub(super) calibration: f64,
}

impl CertificateSchedule {
    /// Iterations without a certificate at first; later as many as have been done. A certificate costs about four
    /// iterations, and most solves of fabrics end before this.
    pub(super) const PAUSE: usize = 32;
    /// Iterations without a certificate of methods with expensive steps.
    pub(super) const EXPENSIVE_PAUSE: usize = 5;

    pub(super) fn is_due(&self, iteration: usize, estimate: f64, tol: f64) -> bool {
        iteration >= self.next || estimate * self.calibration <= tol
    }

    pub(super) fn record(&mut self, iteration: usize, estimate: f64, score: f64, tol: f64) {
        let near = score <= Goal::NEAR * tol;
        self.next = iteration + if near { (iteration / 8).max(8) } else { iteration.max(Self::PAUSE) };
        self.calibration = if estimate > 0.0 && score > 0.0 { (score / estimate).clamp(0.01, 1000.0) } else { 1.0 };
    }
}
