//! Moves the progress bar of a running simulation.

use std::ops::ControlFlow;
use std::time::Duration;

use netnum_sim::{RunObserver, RunProgress};
use pyo3::prelude::*;

use crate::detach;
use crate::progress_bar::ProgressBar;

/// Shows the bar the flows that have ended and the simulated seconds.
pub(super) struct BarObserver<'a>(pub(super) &'a ProgressBar);

impl RunObserver for BarObserver<'_> {
    fn pause(&self) -> Duration {
        // A stop token checks for signals.
        if self.0.exists() { detach::PAUSE } else { Duration::MAX }
    }

    fn observe(&mut self, progress: &RunProgress) -> ControlFlow<()> {
        Python::attach(|py| self.0.show(py, (progress.ended, progress.time))).map_or_else(
            |error| {
                detach::keep(error);
                ControlFlow::Break(())
            },
            ControlFlow::Continue,
        )
    }
}
