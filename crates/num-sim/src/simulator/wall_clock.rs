//! The real time of a run: its limit, the requests to stop it, and its observer.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use netnum_core::internal::interrupt;

use super::progress::{RunObserver, RunProgress};
use crate::error::{Error, Result};
use crate::report::RunStatus;

/// Units of work between two checks.
const CHECK: usize = 8192;
/// The time that a report may take for every active flow.
const REPORT: Duration = Duration::from_nanos(150);

/// The real time of a run, which decides with its observer when the run is stopped. Work is counted in units of a
/// [`Pacer`](interrupt::Pacer).
pub(super) struct WallClock<'a> {
    began: Instant,
    /// When the limit is reached.
    deadline: Option<Instant>,
    /// Whether it is, but for the time that the report takes.
    is_over: bool,
    /// Units of work since the last check.
    units: usize,
    observer: &'a mut dyn RunObserver,
    /// The time between two observations, and of the last.
    pause: Duration,
    observed: Instant,
}

impl<'a> WallClock<'a> {
    pub(super) fn new(began: Instant, limit: Option<Duration>, observer: &'a mut dyn RunObserver) -> Self {
        let (deadline, pause) = (limit.and_then(|limit| began.checked_add(limit)), observer.pause());
        Self { began, deadline, is_over: false, units: 0, observer, pause, observed: began }
    }

    /// Counts units of work, and checks from time to time whether to stop, early enough for a report of the active
    /// flows.
    ///
    /// # Errors
    /// [`netnum_core::Error::Stopped`] only.
    #[inline]
    pub(super) fn work(&mut self, units: usize, active: usize) -> Result<()> {
        self.units += units;
        if self.units < CHECK {
            return Ok(());
        }
        self.units = 0;
        interrupt::check()?;
        self.is_over = self.is_within(REPORT * active as u32);
        if self.is_over { Err(netnum_core::Error::Stopped.into()) } else { Ok(()) }
    }

    /// Shows the progress to the observer, where it is time for that.
    ///
    /// # Errors
    /// [`netnum_core::Error::Stopped`] if the observer ends the run.
    pub(super) fn observe(&mut self, progress: impl Fn(f64) -> RunProgress) -> Result<()> {
        if self.pause == Duration::MAX || self.observed.elapsed() < self.pause {
            return Ok(());
        }
        self.observed = Instant::now();
        match self.observer.observe(&progress(self.seconds())) {
            ControlFlow::Break(()) => Err(netnum_core::Error::Stopped.into()),
            ControlFlow::Continue(()) => Ok(()),
        }
    }

    /// The status of a run that an error ends, if the error is a request to stop.
    ///
    /// # Errors
    /// Any other.
    pub(super) fn status(&self, error: Error) -> Result<RunStatus> {
        match error {
            error if !error.is_stop() => Err(error),
            _ if self.is_over || self.is_within(Duration::ZERO) => Ok(RunStatus::TimeLimit),
            _ => Ok(RunStatus::Stopped),
        }
    }

    /// Whether the limit is reached in this time.
    fn is_within(&self, time: Duration) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() + time >= deadline)
    }

    pub(super) fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}
