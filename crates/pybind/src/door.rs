//! The one door for long calls: without the interpreter, so that other threads run; stopped by Ctrl-C; and what Python
//! code raised on the way comes out as it was raised.
//!
//! The core knows no Python exceptions. Code that is called back (a utility, a callback, a progress bar) leaves its
//! exception here, in a slot of the thread that the call runs on, and answers with NaN or "stop". The call then ends in
//! some way or other, and what is raised is what was left.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use netnum_core::solve::{Cadence, Observer, Progress, Solution};
use pyo3::prelude::*;

use crate::error::raise;

/// How often a running call looks whether a signal has arrived.
const PAUSE: Duration = Duration::from_millis(20);

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Does the work without the interpreter. What Python code raised meanwhile comes before what the work returns.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> netnum_core::Result<T> + Send) -> PyResult<T> {
    // A call within a call (a utility that solves a problem of its own) has a slot of its own.
    let outer = RAISED.take();
    let result = py.detach(work);
    match RAISED.replace(outer) {
        Some(raised) => Err(raised),
        None => result.map_err(raise),
    }
}

/// Keeps an exception for the end of the call. The first one is the cause of the others.
pub(crate) fn keep(error: PyErr) {
    RAISED.with_borrow_mut(|raised| {
        raised.get_or_insert(error);
    });
}

/// Whether Python code has raised, so that no more of it is to be called.
pub(crate) fn has_raised() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// Watches a running solve for Python: looks for signals and moves the bar by the clock, calls back at every iteration.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    bar: Option<Bar>,
    last_look: Instant,
}

impl Watch {
    pub(crate) fn new(callback: Option<Py<PyAny>>, bar: Option<Bar>) -> Self {
        Self { callback, bar, last_look: Instant::now() }
    }

    /// Whether to stop because of a signal (or of what other code raised), by the clock.
    pub(crate) fn interrupted(&mut self) -> bool {
        if self.last_look.elapsed() >= PAUSE {
            self.last_look = Instant::now();
            if let Err(interrupt) = Python::attach(|py| py.check_signals()) {
                keep(interrupt);
            }
        }
        has_raised()
    }

    /// Shows the bar how it ended, and takes it off the screen whatever happened.
    pub(crate) fn close(self, py: Python<'_>, solution: Option<&Solution>) -> PyResult<()> {
        let Some(Bar(bar)) = self.bar else { return Ok(()) };
        let shown = match solution {
            Some(solution) => Bar::show(
                bar.bind(py),
                solution.iterations,
                solution.certificate.relative_gap,
                solution.certificate.kkt_residual,
            ),
            None => Ok(()),
        };
        let closed = bar.call_method0(py, "close");
        shown.and(closed.map(drop))
    }

    fn look(&self, py: Python<'_>, progress: &Progress, is_time: bool) -> PyResult<ControlFlow<()>> {
        if is_time {
            py.check_signals()?;
            if let Some(Bar(bar)) = &self.bar {
                Bar::show(bar.bind(py), progress.iteration, progress.gap, progress.kkt_residual)?;
            }
        }
        if let Some(callback) = &self.callback {
            let answer = callback.call1(py, (crate::solve::Progress::from(*progress),))?;
            if answer.is(&*false.into_pyobject(py)?) {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Observer for Watch {
    fn cadence(&self) -> Cadence {
        if self.callback.is_some() { Cadence::EveryIteration } else { Cadence::Every(PAUSE) }
    }

    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        if has_raised() {
            return ControlFlow::Break(());
        }
        let is_time = self.last_look.elapsed() >= PAUSE;
        if is_time {
            self.last_look = Instant::now();
        } else if self.callback.is_none() {
            return ControlFlow::Continue(());
        }
        Python::attach(|py| self.look(py, progress, is_time)).unwrap_or_else(|error| {
            keep(error);
            ControlFlow::Break(())
        })
    }
}

/// A progress bar of `netnum.progress`.
pub(crate) struct Bar(Py<PyAny>);

impl Bar {
    pub(crate) fn new(py: Python<'_>, tol: f64, stop: &str) -> PyResult<Self> {
        Ok(Self(py.import("netnum.progress")?.call_method1("bar", (tol, stop))?.unbind()))
    }

    fn show(bar: &Bound<'_, PyAny>, iteration: usize, gap: f64, kkt_residual: f64) -> PyResult<()> {
        bar.call_method1("show", (iteration, gap, kkt_residual)).map(drop)
    }
}
