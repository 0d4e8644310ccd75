//! Moves the bar over a running simulation.

use std::ops::ControlFlow;
use std::time::Duration;

use netnum_sim::{RunObserver, RunProgress};
use pyo3::prelude::*;

use crate::door;

pub(super) struct Watch {
    /// The flows that the bar is over and when their time is up, where there is to be one.
    work: Option<(usize, f64)>,
    /// The bar of `netnum.progress`, on the screen from its first look on.
    bar: Option<Py<PyAny>>,
}

impl Watch {
    pub(super) fn new(progress: bool, flows: usize, until: f64) -> Self {
        Self { work: progress.then_some((flows, until)), bar: None }
    }

    /// Shows the bar how it ended, flows and simulated seconds, and leaves it at that whatever happened.
    pub(super) fn close(mut self, py: Python<'_>, ended: Option<(usize, f64)>) -> PyResult<()> {
        let shown = ended.map_or(Ok(()), |(ended, time)| self.show(py, ended, time));
        shown.and(self.bar.map_or(Ok(()), |bar| bar.call_method0(py, "close").map(drop)))
    }

    fn show(&mut self, py: Python<'_>, ended: usize, time: f64) -> PyResult<()> {
        let Some(work) = self.work else { return Ok(()) };
        let bar = match self.bar.take() {
            Some(bar) => bar,
            None => py.import("netnum.progress")?.call_method1("flows", work)?.unbind(),
        };
        self.bar.insert(bar).call_method1(py, "show", (ended, time)).map(drop)
    }
}

impl RunObserver for Watch {
    fn pause(&self) -> Duration {
        // Signals are looked for elsewhere, by a token.
        if self.work.is_some() { door::PAUSE } else { Duration::MAX }
    }

    fn observe(&mut self, progress: &RunProgress) -> ControlFlow<()> {
        match Python::attach(|py| self.show(py, progress.ended, progress.time)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                door::keep(error);
                ControlFlow::Break(())
            }
        }
    }
}
