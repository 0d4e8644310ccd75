//! Long calls without the GIL: other Python threads run meanwhile, Ctrl-C stops the call, and an exception that Python
//! code raises during the call is raised by the call.
//!
//! The Rust crates are independent of Python exceptions. Python code that is called back (a utility, a callback, a
//! progress bar) keeps its exception in a slot of the thread that runs the call, and returns NaN or "stop". A stop
//! token checks for signals while the call runs, wherever the call checks for tokens, and keeps the exception of a
//! signal handler in the same slot. The call then ends, and the kept exception is raised.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use netnum_core::StopToken;
use netnum_core::internal::interrupt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::Raise;

/// The time between two checks for signals in a running call.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// The way from Python into the Rust crates.
pub(crate) trait EnterRust {
    /// Runs the work without the GIL. `interrupt::check` within it heeds signals.
    fn enter_rust<T: Send, E: Raise + Send>(self, work: impl FnOnce() -> Result<T, E> + Send) -> PyResult<T>;
}

impl EnterRust for Python<'_> {
    fn enter_rust<T: Send, E: Raise + Send>(self, work: impl FnOnce() -> Result<T, E> + Send) -> PyResult<T> {
        // A call within a call (a utility that solves another problem) has a separate slot and token.
        let outer = RAISED.take();
        let result = self.detach(|| StopToken::with_poll(PAUSE, has_raised_or_signal).scope_alone(work));
        let result = outcome(result);
        RAISED.set(outer);
        result
    }
}

/// Runs a piece of work so many times without the GIL. Ctrl-C stops between two of them.
pub(crate) fn repeat(
    py: Python<'_>,
    times: usize,
    mut work: impl FnMut() -> netnum_core::Result<()> + Send,
) -> PyResult<()> {
    py.enter_rust(|| (0..times).try_for_each(|_| work().and_then(|()| interrupt::check())))
}

/// Checks for signals; whether there is a kept exception afterwards.
fn has_raised_or_signal() -> bool {
    if let Err(raised) = Python::attach(|py| py.check_signals()) {
        keep(raised);
    }
    has_raised()
}

/// The result of work on this thread: the exception that Python code has raised meanwhile, else what the work returned.
pub(crate) fn outcome<T, E: Raise>(result: Result<T, E>) -> PyResult<T> {
    match RAISED.take() {
        Some(raised) => Err(raised),
        None => result.map_err(E::raise),
    }
}

/// Keeps an exception until the call ends. The first one is the cause of the others.
pub(crate) fn keep(error: PyErr) {
    RAISED.with_borrow_mut(|raised| {
        raised.get_or_insert(error);
    });
}

/// Whether Python code has raised in this call: no more of it may be called.
pub(crate) fn has_raised() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// The exception that Python code has raised in this call, as text.
pub(crate) fn raised() -> Option<String> {
    if !has_raised() {
        return None;
    }
    let clone = |py: Python<'_>| RAISED.with_borrow(|raised| raised.as_ref().map(|error| error.clone_ref(py)));
    Python::attach(clone).map(|error| text_of(&error))
}

/// An exception with its name, as tracebacks end: without a colon where it has no message.
pub(crate) fn text_of(error: &PyErr) -> String {
    error.to_string().trim_end_matches(": ").into()
}

/// The content of a lock, unless it is in use: in another thread, or around Python code that refers to it.
pub(crate) fn lock<'a, T>(lock: &'a Mutex<T>, what: &str) -> PyResult<MutexGuard<'a, T>> {
    match lock.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(in_use(what)),
    }
}

fn in_use(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("this {what} is in use already"))
}

/// A value that one call uses at a time, while calls of other threads wait.
pub(crate) struct InTurn<T> {
    value: Mutex<T>,
    /// The thread whose call it is.
    user: Mutex<Option<ThreadId>>,
}

impl<T: Send> InTurn<T> {
    /// The time between two looks whether it is free.
    const PAUSE: Duration = Duration::from_millis(1);

    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), user: Mutex::new(None) }
    }

    /// Waits for the value, and runs the work on it, both without the GIL. Ctrl-C ends either.
    ///
    /// An error where Python code within the work, such as the handler of a signal, refers to the same value: it would
    /// wait for its own end.
    pub(crate) fn run<R: Send, E: Raise + Send>(
        &self,
        py: Python<'_>,
        what: &str,
        work: impl FnOnce(&mut T) -> Result<R, E> + Send,
    ) -> PyResult<R> {
        let own = Some(thread::current().id());
        let mut value = loop {
            match self.value.try_lock() {
                Ok(value) => break value,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if *self.user() == own => return Err(in_use(what)),
                Err(TryLockError::WouldBlock) => py.detach(|| thread::sleep(Self::PAUSE)),
            }
            py.check_signals()?;
        };
        *self.user() = own;
        let value: &mut T = &mut value;
        let result = py.enter_rust(|| work(value));
        *self.user() = None;
        result
    }

    fn user(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.user.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks for signals once per so many items, in a conversion, which holds the GIL.
pub(crate) struct Pacer<'py> {
    py: Python<'py>,
    done: usize,
}

impl<'py> Pacer<'py> {
    /// Items between two checks: a microsecond each at most, where they are Python objects.
    const PAUSE: usize = 16_384;

    pub(crate) fn new(py: Python<'py>) -> Self {
        Self { py, done: 0 }
    }

    /// Counts some items, and checks when enough are done.
    pub(crate) fn did(&mut self, items: usize) -> PyResult<()> {
        self.done += items;
        if self.done < Self::PAUSE {
            return Ok(());
        }
        self.done = 0;
        self.py.check_signals()
    }
}
