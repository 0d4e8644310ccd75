//! The real time of a run: its limit, and the requests to stop it.

use std::time::{Duration, Instant};

use netnum_core::interrupt;

use crate::error::Result;

/// Units of work between two checks.
const CHECK: usize = 8192;
/// The time that a report may take for every active flow.
const REPORT: Duration = Duration::from_nanos(150);

/// The real time of a run. Work is counted in units of a [`Pacer`](interrupt::Pacer).
pub(super) struct WallClock {
    pub(super) began: Instant,
    /// When the limit is reached.
    deadline: Option<Instant>,
    /// Whether it is, but for the time that the report takes.
    pub(super) is_over: bool,
    /// Units of work since the last check.
    units: usize,
}

impl WallClock {
    pub(super) fn new(began: Instant, limit: Option<Duration>) -> Self {
        let deadline = limit.and_then(|limit| began.checked_add(limit));
        Self { began, deadline, is_over: false, units: 0 }
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
        let report = REPORT * active as u32;
        self.is_over = self.deadline.is_some_and(|deadline| Instant::now() + report >= deadline);
        if self.is_over { Err(netnum_core::Error::Stopped.into()) } else { Ok(()) }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}
