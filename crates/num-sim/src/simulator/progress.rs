//! The progress of a run, and its observers.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunProgress {
    /// Simulated seconds.
    pub time: f64,
    /// Flows in the workload; with a closed loop, those that have arrived.
    pub flows: usize,
    /// Flows that have arrived.
    pub arrived: usize,
    /// Flows that have ended.
    pub ended: usize,
    /// Instants with at least one event.
    pub events: u64,
    /// Real seconds.
    pub seconds: f64,
}

/// Observes a run, and may stop it.
pub trait RunObserver {
    /// The real time between two calls of [`observe`](Self::observe).
    fn pause(&self) -> Duration {
        Duration::from_millis(20)
    }

    /// [`ControlFlow::Break`] ends the run, with a report of what has happened so far.
    fn observe(&mut self, progress: &RunProgress) -> ControlFlow<()>;
}

/// Never called, never stops.
impl RunObserver for () {
    fn pause(&self) -> Duration {
        Duration::MAX
    }

    fn observe(&mut self, _progress: &RunProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Any closure over the progress is an observer.
impl<F: FnMut(&RunProgress) -> ControlFlow<()>> RunObserver for F {
    fn observe(&mut self, progress: &RunProgress) -> ControlFlow<()> {
        self(progress)
    }
}
