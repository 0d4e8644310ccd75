//! `Progress`.

use pyo3::prelude::*;

/// The state of a running solve, for a callback.
///
/// Examples
/// --------
/// >>> def enough(progress):
/// ...     return progress.gap > 1e-2  # False stops the solve
/// >>> problem = netnum.Problem([1.0, 2.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
/// >>> netnum.solve(problem, "ned", callback=enough).status
/// 'stopped'
#[pyclass(frozen, eq, get_all, module = "netnum")]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Progress {
    /// Iterations done, 0 at the start.
    iteration: usize,
    /// Relative duality gap, certified.
    gap: f64,
    /// How far the fullest link was over its capacity before normalization, relative to it.
    overload: f64,
    /// KKT residual; nan where the gap is far from the tolerance.
    kkt_residual: f64,
    /// Seconds since the solve began.
    seconds: f64,
}

impl From<netnum_core::Progress> for Progress {
    fn from(core: netnum_core::Progress) -> Self {
        let netnum_core::Progress { iteration, gap, overload, kkt_residual, seconds, .. } = core;
        Self { iteration, gap, overload, kkt_residual, seconds }
    }
}

#[pymethods]
impl Progress {
    #[new]
    fn new(iteration: usize, gap: f64, overload: f64, kkt_residual: f64, seconds: f64) -> Self {
        Self { iteration, gap, overload, kkt_residual, seconds }
    }

    fn __getnewargs__(&self) -> (usize, f64, f64, f64, f64) {
        (self.iteration, self.gap, self.overload, self.kkt_residual, self.seconds)
    }

    fn __repr__(&self) -> String {
        let Self { iteration, gap, overload, seconds, .. } = self;
        format!("Progress(iteration {iteration}, gap {gap:.1e}, overload {overload:.1e}, {seconds:.3} s)")
    }
}
