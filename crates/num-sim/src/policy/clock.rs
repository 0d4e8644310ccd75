//! The clock of a policy with intervals.

use crate::error::{Error, Result, positive};
use crate::network::Flows;

/// A clock that ticks at whole multiples of an interval.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    interval: f64,
    /// The next tick.
    next: f64,
}

impl Clock {
    /// Ticks every so many seconds, from 0 on.
    ///
    /// # Errors
    /// [`Error::Setting`](netnum_core::Error::Setting) for an interval that is not a finite number > 0.
    pub(super) fn new(interval: f64) -> Result<Self> {
        positive("interval", interval)?;
        Ok(Self { interval, next: 0.0 })
    }

    /// Resets it to before its first tick.
    pub(super) fn reset(&mut self) {
        self.next = 0.0;
    }

    /// The next tick. Without flows there are none.
    pub(super) fn next(&self, flows: &Flows) -> f64 {
        if flows.active().is_empty() { f64::INFINITY } else { self.next }
    }

    /// Whether it ticks now; then the next tick is one later.
    ///
    /// # Errors
    /// [`Error::Policy`] where floats near `now` are too coarse to tell ticks apart.
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
            if self.next > now && self.next.is_finite() {
                return Ok(true);
            }
        }
        let what = format!("has an interval of {interval} s, shorter than the clock can tell apart at {now} s");
        Err(Error::Policy { policy: policy.into(), what })
    }
}
