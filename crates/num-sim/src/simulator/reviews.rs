//! The clocks by which the routes of flows are reviewed: one per flow, which starts when the flow arrives.

use crate::calendar::Calendar;
use crate::error::{Error, Result};
use crate::network::Flow;

/// When the route of each flow is reviewed next.
pub(super) struct Reviews {
    period: f64,
    calendar: Calendar,
    /// By slot, the number of its flow's next review.
    counts: Vec<u64>,
    /// Reviews since anything was sent.
    pub(super) idle: usize,
}

impl Reviews {
    /// With a period in seconds; none if that is ∞.
    pub(super) fn every(period: f64) -> Option<Self> {
        let (calendar, counts) = (Calendar::default(), Vec::new());
        (period < f64::INFINITY).then_some(Self { period, calendar, counts, idle: 0 })
    }

    /// The time of the next review; ∞ for none.
    pub(super) fn first(&mut self) -> f64 {
        self.calendar.first()
    }

    /// The slots of the flows to review at some time.
    pub(super) fn due(&mut self, now: f64, due: &mut Vec<u32>) {
        self.calendar.due(now, due);
    }

    pub(super) fn begin(&mut self, slot: u32, now: f64) {
        self.calendar.set(slot, now + self.period);
        self.counts.resize(self.counts.len().max(slot as usize + 1), 0);
        self.counts[slot as usize] = 1;
    }

    pub(super) fn end(&mut self, slot: u32) {
        self.calendar.set(slot, f64::INFINITY);
    }

    /// The flow in a slot is reviewed: sets the time of its next review.
    ///
    /// # Errors
    /// A setting's, where floats near `now` are too coarse to tell reviews apart.
    pub(super) fn advance(&mut self, slot: u32, flow: &Flow, now: f64) -> Result<()> {
        self.idle += 1;
        // Counted from the arrival, and not from the last review, so that rounding does not add up.
        let count = &mut self.counts[slot as usize];
        *count += 1;
        let time = flow.arrival + *count as f64 * self.period;
        if time <= now {
            let expected = format!("longer than what the clock can tell apart at {now} s");
            return Err(Error::setting("period", self.period, &expected));
        }
        self.calendar.set(slot, time);
        Ok(())
    }
}
