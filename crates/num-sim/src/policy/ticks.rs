//! A clock of a policy: the multiples of an interval.

use crate::error::{Error, Result};

/// Ticks at 0, one interval, two intervals…
#[derive(Debug, Clone)]
pub(super) struct Ticks {
    interval: f64,
    next: f64,
}

impl Ticks {
    /// Seconds between two of them, finite and > 0.
    pub(super) fn every(interval: f64) -> Self {
        Self { interval, next: 0.0 }
    }

    /// Begins anew.
    pub(super) fn start(&mut self) {
        self.next = 0.0;
    }

    /// When the next one is, if that has been passed on by [`is_due`](Self::is_due).
    pub(super) fn next(&self) -> f64 {
        self.next
    }

    /// Whether there is one now; goes on to the next one then.
    ///
    /// # Errors
    /// [`Error::Policy`], for an interval that is too short for the time of day.
    pub(super) fn is_due(&mut self, now: f64, policy: &str) -> Result<bool> {
        let interval = self.interval;
        if self.next < now {
            self.next = (now / interval).ceil() * interval;
        }
        if now < self.next {
            return Ok(false);
        }
        // The quotient may be just below the whole number that it stands for.
        let ticks = (now / interval).floor();
        for more in [1.0, 2.0] {
            self.next = (ticks + more) * interval;
            if self.next > now {
                return Ok(true);
            }
        }
        let what = format!("has an interval of {interval} s, shorter than the clock can tell apart at {now} s");
        Err(Error::Policy { policy: policy.into(), what })
    }
}
