//! Where a running solve stands: one typed row, and who looks at it.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Where a solve stands after an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Iterations done, 0 at the start.
    pub iteration: usize,
    /// Relative gap of the last certificate; ∞ before the first.
    pub gap: f64,
    /// How far the fullest link was over its capacity at the last certificate, relative to it, before
    /// normalization; NaN before the first.
    pub overload: f64,
    /// KKT residual of the last certificate; NaN where it did not matter, the gap being far from the tolerance.
    pub kkt_residual: f64,
    /// Seconds since the solve began.
    pub seconds: f64,
}

/// How often an observer wants to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cadence {
    /// After every iteration, each with a fresh certificate, which costs several iterations.
    EveryIteration,
    /// After the first iteration that ends this long after the last look, with the certificate at hand.
    Every(Duration),
}

/// Looks at a running solve and may stop it.
pub trait Observer {
    /// How often.
    fn cadence(&self) -> Cadence {
        Cadence::EveryIteration
    }

    /// Looks; [`ControlFlow::Break`] ends the solve with [`Status::Stopped`](super::Status::Stopped).
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()>;
}

/// Never looks, never stops.
impl Observer for () {
    fn cadence(&self) -> Cadence {
        Cadence::Every(Duration::MAX)
    }
    fn observe(&mut self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Any closure over the progress is an observer of every iteration.
impl<F: FnMut(&Progress) -> ControlFlow<()>> Observer for F {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self(progress)
    }
}
