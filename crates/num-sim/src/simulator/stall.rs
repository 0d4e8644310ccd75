//! A run whose clock stands still, and one in which nothing can be sent any more.
//!
//! Arrivals, ends and changes of capacity are finite in number. Between two of them turns of sources, reviews of routes
//! and calls of the policy may be any number, and each may lead to another one at once. So these are counted from the
//! last moment at which the clock had moved by [`TICK`] for each of them, as a part of the time now or, where that is
//! later, of the next arrival, end, turn or change or of the end of the run. After [`PATIENCE`] of them and
//! [`PER_FLOW`] for every flow the run is refused with [`Error::StandsStill`]. Hence n events take the clock at least n
//! · `TICK` of itself further, but for a number that is bounded by that of flows and changes, and no run stays at a
//! moment, or creeps towards one, though the moment be 0.
//!
//! Where nothing is sent and nothing is to come but the clock of a policy, [`PATIENCE`] ticks for every flow are enough
//! to call the flows starved.

use crate::error::{Error, Result};

/// Reviews of every flow while none sends, and calls of the policy, after which none will send any more.
pub(super) const PATIENCE: usize = 10_000;
/// Events for each flow, beside [`PATIENCE`], without an arrival or an end for which the clock may stand still.
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
        if self.events <= (PATIENCE + PER_FLOW * active) as u64 {
            return Ok(());
        }
        Err(Error::StandsStill { time: now, events: self.events, last: last() })
    }
}
