//! When a run stops before all flows have ended: at a simulated time, at a real time, at a request, when its clock
//! stands still, and when nothing can be sent any more.
//!
//! Arrivals, ends and changes of capacity are finite in number. Between two of them, stage changes of sources, reviews
//! of routes and calls of the policy may be any number, and each may lead to another one at once. These are counted
//! from the last time at which the clock had advanced by [`LAST_DIGITS`] for each of them, relative to the time now or,
//! where that is later, to the next arrival, end, stage change or change of capacity, or to the end of the run. After
//! [`MAX_EVENTS_WITHOUT_PROGRESS`] of them and [`PER_FLOW`] for every flow the run ends with [`Error::StandsStill`].
//! Hence n events advance the clock by at least a fraction n · `LAST_DIGITS`, but for a number of events that flows and
//! changes bound, and no run stays at one time or converges to one, even at time 0. The flows of a closed loop may be
//! any number: their arrivals and ends are counted like other events.
//!
//! Where no flow sends and only ticks of a policy are to come, the status is `starved` after
//! [`MAX_EVENTS_WITHOUT_PROGRESS`] ticks for every flow.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use netnum_core::internal::interrupt;

use super::progress::{RunObserver, RunProgress};
use super::settings::RunSettings;
use crate::error::{Error, Result};
use crate::numbers::LAST_DIGITS;
use crate::report::RunStatus;

/// Reviews of every flow while none sends, and calls of the policy, after which a run is stalled.
const MAX_EVENTS_WITHOUT_PROGRESS: usize = 10_000;
/// Events for each active flow, in addition to [`MAX_EVENTS_WITHOUT_PROGRESS`], for which the clock may stand still.
const PER_FLOW: usize = 16;
/// Units of work between two checks.
const CHECK: usize = 8192;
/// The time that a report may take for every active flow.
const REPORT: Duration = Duration::from_nanos(150);

/// The ends of a run but the last flow's. Work is counted in units of a [`Pacer`](interrupt::Pacer).
pub(super) struct Stops<'a> {
    /// Simulated seconds after which the run is over.
    pub(super) until: f64,
    /// The last time at which the clock had advanced, and events since.
    advanced: f64,
    events: u64,
    /// Events since anything was sent, while nothing is to come.
    pub(super) idle: usize,
    began: Instant,
    /// When the limit of real time is reached.
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

impl<'a> Stops<'a> {
    pub(super) fn new(began: Instant, run: &RunSettings, observer: &'a mut dyn RunObserver) -> Self {
        Self {
            until: run.until,
            advanced: 0.0,
            events: 0,
            idle: 0,
            began,
            deadline: run.time_limit.and_then(|limit| began.checked_add(limit)),
            is_over: false,
            units: 0,
            pause: observer.pause(),
            observer,
            observed: began,
        }
    }

    /// There was an arrival, an end or a change of capacity.
    pub(super) fn advance(&mut self, now: f64) {
        (self.advanced, self.events) = (now, 0);
    }

    /// There was another event, `last`; the next arrival, end or change is foreseen for some time.
    ///
    /// # Errors
    /// [`Error::StandsStill`].
    pub(super) fn count(&mut self, now: f64, foreseen: f64, active: usize, last: impl Fn() -> String) -> Result<()> {
        self.events += 1;
        let time = if foreseen.is_finite() { now.max(foreseen) } else { now };
        if now - self.advanced > self.events as f64 * LAST_DIGITS * time {
            self.advance(now);
            return Ok(());
        }
        if self.events <= (MAX_EVENTS_WITHOUT_PROGRESS + PER_FLOW * active) as u64 {
            return Ok(());
        }
        Err(Error::StandsStill { time: now, events: self.events, last: last() })
    }

    /// The most events at which nothing is sent.
    pub(super) fn most_idle(&self, active: usize) -> usize {
        MAX_EVENTS_WITHOUT_PROGRESS * active
    }

    /// Counts units of work, and checks from time to time whether to stop, early enough for a report of the active
    /// flows.
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
