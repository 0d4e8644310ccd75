//! The progress of a running solve: one row per iteration, and its observers.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::non_finite;

/// The state of a solve after an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// Iterations done, 0 at the start.
    pub iteration: usize,
    /// Relative gap of the last certificate; ∞ before the first.
    #[serde(with = "non_finite::infinity")]
    pub gap: f64,
    /// How far the fullest link was over its capacity at the last certificate, relative to it, before
    /// normalization; NaN before the first.
    #[serde(with = "non_finite::nan")]
    pub overload: f64,
    /// KKT residual of the last certificate; NaN where it did not matter, the gap being far from the tolerance.
    #[serde(with = "non_finite::nan")]
    pub kkt_residual: f64,
    /// Seconds since the solve began.
    pub seconds: f64,
}

/// How often an observer is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cadence {
    /// After every iteration, each with a fresh certificate, which costs several iterations.
    EveryIteration,
    /// After the first iteration that ends this long after the last call, with the latest certificate.
    Every(Duration),
}

/// An observer of a running solve, which may stop it.
pub trait Observer {
    /// How often it is called.
    fn cadence(&self) -> Cadence {
        Cadence::EveryIteration
    }

    /// Called with the progress; [`ControlFlow::Break`] ends the solve with
    /// [`Status::Stopped`](super::Status::Stopped).
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()>;
}

/// No observer: never called, never stops.
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
