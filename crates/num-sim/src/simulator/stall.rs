//! A run whose clock stands still, and one in which nothing can be sent any more.
//!
//! Arrivals, ends and changes of capacity are finite in number. Between two of them, stage changes of sources, reviews
//! of routes and calls of the policy may be any number, and each may lead to another one at once. These are counted
//! from the last time at which the clock had advanced by [`TICK`] for each of them, relative to the time now or, where
//! that is later, to the next arrival, end, stage change or change of capacity, or to the end of the run. After
//! [`MAX_EVENTS_WITHOUT_PROGRESS`] of them and [`PER_FLOW`] for every flow the run ends with [`Error::StandsStill`].
//! Hence n events advance the clock by at least a fraction n · `TICK`, but for a number of events that flows and
//! changes bound, and no run stays at one time or converges to one, even at time 0.
//!
//! Where no flow sends and only ticks of a policy are to come, the status is `starved` after
//! [`MAX_EVENTS_WITHOUT_PROGRESS`] ticks for every flow.

use crate::error::{Error, Result};

/// Reviews of every flow while none sends, and calls of the policy, after which a run is stalled.
pub(super) const MAX_EVENTS_WITHOUT_PROGRESS: usize = 10_000;
/// Events for each flow, in addition to [`MAX_EVENTS_WITHOUT_PROGRESS`], without
/// an arrival or an end for which the clock may stand still.
const PER_FLOW: usize = 16;
/// The part of the time by which the clock moves from one event to the next if it does not stand still.
const TICK: f64 = 8.0 * f64::EPSILON;

/// Events while the clock stands still.
#[derive(Debug, Default)]
pub(super) struct Stall {
    since: f64,
    events: u64,
}

impl Stall {
    /// There was an arrival, an end or a change of capacity.
    pub(super) fn reset(&mut self, now: f64) {
        *self = Self { since: now, events: 0 };
    }

    /// There was another event, `last`; the next arrival, end or change is foreseen for some time.
    ///
    /// # Errors
    /// [`Error::StandsStill`].
    pub(super) fn count(&mut self, now: f64, foreseen: f64, active: usize, last: impl Fn() -> String) -> Result<()> {
        self.events += 1;
        let time = if foreseen.is_finite() { now.max(foreseen) } else { now };
        if now - self.since > self.events as f64 * TICK * time {
            self.reset(now);
            return Ok(());
        }
        if self.events <= (MAX_EVENTS_WITHOUT_PROGRESS + PER_FLOW * active) as u64 {
            return Ok(());
        }
        Err(Error::StandsStill { time: now, events: self.events, last: last() })
    }
}
