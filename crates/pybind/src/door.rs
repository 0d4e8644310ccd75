//! The one door for long calls: without the interpreter, so that other threads run; stopped by Ctrl-C; and what Python
//! code raised on the way comes out as it was raised.
//!
//! The core knows no Python exceptions. Code that is called back (a utility, a callback, a progress bar) leaves its
//! exception here, in a slot of the thread that the call runs on, and answers with NaN or "stop". A token looks for
//! signals while the call runs, whatever of it asks (`netnum_core::interrupt`), and leaves what a signal handler raised in
//! the same slot. The call then ends in some way or other, and what is raised is what was left.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use netnum_core::solve::{Cadence, Observer, Progress};
use netnum_core::{Certificate, Settings, Solution, StopToken, interrupt};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::raise;

/// How often a running call looks whether a signal has arrived.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Does the work without the interpreter. What looks whether to stop (`interrupt::check`) heeds signals meanwhile.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> netnum_core::Result<T> + Send) -> PyResult<T> {
    // A call within a call (a utility that solves a problem of its own) has a slot and a token of its own.
    let outer = RAISED.take();
    let result = py.detach(|| StopToken::with_poll(PAUSE, has_raised_or_signal).scope_alone(work));
    let result = came_out(result);
    RAISED.set(outer);
    result
}

/// Looks for signals, and says whether there is an exception by now.
fn has_raised_or_signal() -> bool {
    if let Err(raised) = Python::attach(|py| py.check_signals()) {
        keep(raised);
    }
    has_raised()
}

/// What came out of work on this thread: what Python code raised meanwhile, before what the work returns.
pub(crate) fn came_out<T>(result: netnum_core::Result<T>) -> PyResult<T> {
    match RAISED.take() {
        Some(raised) => Err(raised),
        None => result.map_err(raise),
    }
}

/// What a lock guards, unless it is at work: in another thread, or around Python code that looks at it.
pub(crate) fn at_rest<'a, T>(lock: &'a Mutex<T>, what: &str) -> PyResult<MutexGuard<'a, T>> {
    match lock.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(format!("this {what} is at work already"))),
    }
}

/// Does a piece of work so many times without the interpreter. Ctrl-C stops between two of them.
pub(crate) fn repeated(
    py: Python<'_>,
    times: usize,
    mut work: impl FnMut() -> netnum_core::Result<()> + Send,
) -> PyResult<()> {
    detached(py, || (0..times).try_for_each(|_| work().and_then(|()| interrupt::check())))
}

/// Looks for signals once per so many items, in a conversion, which is not detached.
pub(crate) struct Pacer<'py> {
    py: Python<'py>,
    done: usize,
}

impl<'py> Pacer<'py> {
    /// Items between two looks: a microsecond each at most, where they are Python objects.
    const PAUSE: usize = 16_384;

    pub(crate) fn new(py: Python<'py>) -> Self {
        Self { py, done: 0 }
    }

    /// Counts some items, and looks when enough are done.
    pub(crate) fn did(&mut self, items: usize) -> PyResult<()> {
        self.done += items;
        if self.done < Self::PAUSE {
            return Ok(());
        }
        self.done = 0;
        self.py.check_signals()
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

    /// Shows the bar how it ended, and leaves it at that whatever happened.
    pub(crate) fn close(self, py: Python<'_>, solution: Option<&Solution>) -> PyResult<()> {
        let Some(mut bar) = self.bar else { return Ok(()) };
        let shown = solution.map_or(Ok(()), |solution| {
            let Certificate { relative_gap, kkt_residual, .. } = solution.certificate;
            bar.show(py, solution.iterations, relative_gap, kkt_residual)
        });
        shown.and(bar.close(py))
    }

    fn look(&mut self, py: Python<'_>, progress: &Progress, is_time: bool) -> PyResult<ControlFlow<()>> {
        if is_time {
            py.check_signals()?;
            if let Some(bar) = &mut self.bar {
                bar.show(py, progress.iteration, progress.gap, progress.kkt_residual)?;
            }
        }
        if let Some(callback) = &self.callback {
            let answer = callback.call1(py, (crate::solve::Progress::from(*progress),))?;
            // A comparison of NumPy numbers answers with NumPy's own False.
            if let Ok(false) = answer.extract::<bool>(py) {
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
        // Without a callback the solve keeps the pauses itself.
        let is_time = self.callback.is_none() || self.last_look.elapsed() >= PAUSE;
        if is_time {
            self.last_look = Instant::now();
        }
        Python::attach(|py| self.look(py, progress, is_time)).unwrap_or_else(|error| {
            keep(error);
            ControlFlow::Break(())
        })
    }
}

/// A progress bar of `netnum.progress`, on the screen from its first `show` on.
pub(crate) struct Bar {
    tol: f64,
    stop: &'static str,
    shown: Option<Py<PyAny>>,
}

impl Bar {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { tol: settings.tol, stop: settings.stop.name(), shown: None }
    }

    fn show(&mut self, py: Python<'_>, iteration: usize, gap: f64, kkt_residual: f64) -> PyResult<()> {
        let bar = match self.shown.take() {
            Some(bar) => bar,
            None => py.import("netnum.progress")?.call_method1("bar", (self.tol, self.stop))?.unbind(),
        };
        let bar = self.shown.insert(bar);
        bar.call_method1(py, "show", (iteration, gap, kkt_residual)).map(drop)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.shown.as_ref().map_or(Ok(()), |bar| bar.call_method0(py, "close").map(drop))
    }
}
