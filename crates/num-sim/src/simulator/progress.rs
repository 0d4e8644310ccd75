//! Where a running simulation stands, and who looks at it.

use std::ops::ControlFlow;
use std::time::Duration;

/// Where a running simulation stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunProgress {
    /// Simulated seconds.
    pub time: f64,
    /// Flows in the workload.
    pub flows: usize,
    /// Those that have arrived.
    pub arrived: usize,
    /// Those that have ended.
    pub ended: usize,
    /// Instants at which something happened.
    pub events: u64,
    /// Real seconds.
    pub seconds: f64,
}

/// Looks at a running simulation and may stop it.
pub trait RunObserver {
    /// How long to wait between two looks, by the real clock.
    fn pause(&self) -> Duration {
        Duration::from_millis(20)
    }

    /// Looks; [`ControlFlow::Break`] ends the run, with a report of what has happened so far.
    fn observe(&mut self, progress: &RunProgress) -> ControlFlow<()>;
}

/// Never looks, never stops.
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
