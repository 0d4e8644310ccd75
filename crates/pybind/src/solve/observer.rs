//! Observes a running solve: checks for signals and moves the bar by the clock, calls back at every iteration.

use std::ops::ControlFlow;
use std::time::Instant;

use netnum_core::{Cadence, Observer, Progress};
use pyo3::prelude::*;

use crate::detach::{self, PAUSE};
use crate::error::wrong_type;
use crate::progress_bar::ProgressBar;

/// A user's callback and the progress bar.
pub(crate) struct PythonObserver<'a> {
    callback: Option<Py<PyAny>>,
    bar: &'a ProgressBar,
    last_check: Instant,
}

impl<'a> PythonObserver<'a> {
    pub(crate) fn new(callback: Option<&Bound<'_, PyAny>>, bar: &'a ProgressBar) -> PyResult<Self> {
        if let Some(callback) = callback.filter(|callback| !callback.is_callable()) {
            return Err(wrong_type("callback", "callable", callback));
        }
        let callback = callback.map(|callback| callback.clone().unbind());
        Ok(Self { callback, bar, last_check: Instant::now() })
    }

    fn observe_in(&self, py: Python<'_>, progress: &Progress, is_due: bool) -> PyResult<ControlFlow<()>> {
        if is_due {
            py.check_signals()?;
            self.bar.show(py, (progress.iteration, progress.gap, progress.kkt_residual))?;
        }
        if let Some(callback) = &self.callback {
            let answer = callback.call1(py, (super::Progress::from(*progress),))?;
            // A comparison of NumPy numbers returns NumPy's False.
            if let Ok(false) = answer.extract::<bool>(py) {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Observer for PythonObserver<'_> {
    fn cadence(&self) -> Cadence {
        if self.callback.is_some() { Cadence::EveryIteration } else { Cadence::Every(PAUSE) }
    }

    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        if detach::has_raised() {
            return ControlFlow::Break(());
        }
        // Without a callback the solve itself keeps the pauses.
        let is_due = self.callback.is_none() || self.last_check.elapsed() >= PAUSE;
        if is_due {
            self.last_check = Instant::now();
        }
        Python::attach(|py| self.observe_in(py, progress, is_due)).unwrap_or_else(|error| {
            detach::keep(error);
            ControlFlow::Break(())
        })
    }
}
