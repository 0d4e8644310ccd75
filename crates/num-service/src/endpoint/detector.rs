//! When a flowlet of a socket starts and ends, and how fast its source is.
//!
//! ```text
//! starts   bytes wait that TCP could not send at once, or has to send again
//! ends     nothing was unacknowledged for the idle time
//! source   r ← (1 − a) r + a Δwritten/Δt,  a = 0.25
//! cap      2 r       where nothing waited since the last looks: the source is what limits the flowlet
//!          none      elsewhere
//! ```
//!
//! Measuring the rate at which an application fills its buffer is RAX's (Li et al., *Rate-aware flow scheduling for
//! commodity data center networks*, INFOCOM 2017, §III), with its factor a. A cap of twice the rate lets a source that
//! becomes faster be seen to.
//!
//! A source that has given all it has is no slow one while TCP carries it and repeats what was lost, whether it knows
//! yet what that is or not. So nothing is measured over a time without new bytes until everything is acknowledged: Δt
//! goes on to the next bytes, and has the pause of a source that is slow.

use std::time::Duration;

use super::socket::Look;

/// RAX's smoothing.
const SMOOTHING: f64 = 0.25;
/// Rates are measured over so long, or longer: until something was written, or everything acknowledged.
const SAMPLE: Duration = Duration::from_millis(10);
/// The source limits a flowlet when nothing waited in so many samples.
const SLOW_SAMPLES: u32 = 5;
/// A cap is this many times the rate of the source.
const ROOM: f64 = 2.0;
/// A cap is told again when it is another by this factor.
const MOVES: f64 = 1.25;

/// What a look has shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    Started,
    /// Another cap, in bits per second; ∞ for none.
    Capped(f64),
    Ended,
}

#[derive(Debug)]
pub(super) struct Detector {
    idle: Duration,
    rate_aware: bool,
    flowlet: Option<Flow>,
}

#[derive(Debug)]
struct Flow {
    busy_at: Duration,
    sampled_at: Duration,
    written: u64,
    rate: Option<f64>,
    /// Samples in a row in which nothing waited.
    slow: u32,
    waited: bool,
    cap: f64,
}

impl Detector {
    pub(super) fn new(idle: Duration, rate_aware: bool) -> Self {
        Self { idle, rate_aware, flowlet: None }
    }

    pub(super) fn look(&mut self, look: Look, now: Duration) -> Option<Change> {
        let Some(flow) = &mut self.flowlet else {
            if look.waiting == 0 {
                return None;
            }
            self.flowlet = Some(Flow::new(look, now));
            return Some(Change::Started);
        };
        if !look.is_drained {
            flow.busy_at = now;
        } else if now - flow.busy_at >= self.idle {
            self.flowlet = None;
            return Some(Change::Ended);
        }
        if self.rate_aware { flow.sample(look, now).map(Change::Capped) } else { None }
    }
}

impl Flow {
    fn new(look: Look, now: Duration) -> Self {
        let (busy_at, sampled_at, written, cap) = (now, now, look.written, f64::INFINITY);
        Self { busy_at, sampled_at, written, rate: None, slow: 0, waited: true, cap }
    }

    /// The cap, where it is another one.
    fn sample(&mut self, look: Look, now: Duration) -> Option<f64> {
        self.waited |= look.waiting > 0;
        let time = now - self.sampled_at;
        // A buffer that fills is not limited by its source, which is known at once.
        let cap = if look.waiting > 0 && self.cap.is_finite() {
            f64::INFINITY
        } else if time < SAMPLE || (look.written <= self.written && !look.is_drained) {
            // The kernel counts what it fails to send again as sent again.
            self.written = self.written.min(look.written);
            return None;
        } else {
            let measured = 8.0 * look.written.saturating_sub(self.written) as f64 / time.as_secs_f64();
            let rate = self.rate.map_or(measured, |rate| rate + SMOOTHING * (measured - rate));
            self.slow = if self.waited { 0 } else { self.slow + 1 };
            (self.rate, self.written, self.sampled_at, self.waited) = (Some(rate), look.written, now, false);
            if self.slow < SLOW_SAMPLES || rate <= 0.0 { f64::INFINITY } else { ROOM * rate }
        };
        let is_near = cap < self.cap * MOVES && self.cap < cap * MOVES;
        let is_news = cap != self.cap && !is_near;
        if is_news {
            self.cap = cap;
        }
        is_news.then_some(cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn a_flowlet_starts_when_bytes_wait_and_ends_when_all_are_acknowledged_for_the_idle_time() {
        let mut detector = Detector::new(ms(5), false);
        let mut look = |now, waiting, is_drained| {
            detector.look(Look { waiting, is_drained, written: 1_000_000, segment: 1448 }, ms(now))
        };
        // What TCP sends at once is no flowlet.
        assert_eq!(look(0, 0, false), None);
        assert_eq!(look(1, 500, false), Some(Change::Started));
        assert_eq!(look(2, 0, false), None);
        assert_eq!(look(5, 0, true), None);
        assert_eq!(look(6, 0, false), None);
        assert_eq!(look(9, 0, true), None);
        assert_eq!(look(11, 0, true), Some(Change::Ended));
        assert_eq!(look(12, 0, true), None);
        assert_eq!(look(13, 1, false), Some(Change::Started));
    }

    /// A source of so many bytes per millisecond, none of which wait.
    fn slow_source(detector: &mut Detector, from: u64, to: u64, per_ms: u64) -> Vec<Change> {
        let look = |now| Look { waiting: 0, is_drained: false, written: now * per_ms, segment: 1448 };
        (from..to).filter_map(|now| detector.look(look(now), ms(now))).collect()
    }

    #[test]
    fn a_slow_source_is_capped_at_twice_its_rate() {
        let mut detector = Detector::new(ms(5), true);
        detector.look(Look { waiting: 1, is_drained: false, written: 0, segment: 1448 }, ms(0));
        // 125 bytes per ms are 1 Mbit/s.
        assert_eq!(slow_source(&mut detector, 1, 500, 125), [Change::Capped(2e6)]);
    }

    #[test]
    fn a_buffer_that_fills_lifts_the_cap_at_once() {
        let mut detector = Detector::new(ms(5), true);
        detector.look(Look { waiting: 1, is_drained: false, written: 0, segment: 1448 }, ms(0));
        slow_source(&mut detector, 1, 500, 125);
        let full = Look { waiting: 9000, is_drained: false, written: 500 * 125, segment: 1448 };
        assert_eq!(detector.look(full, ms(500)), Some(Change::Capped(f64::INFINITY)));
    }

    #[test]
    fn a_slow_source_is_capped_though_it_pauses_for_longer_than_a_sample() {
        let mut detector = Detector::new(ms(5), true);
        detector.look(Look { waiting: 1, is_drained: false, written: 0, segment: 1448 }, ms(0));
        // The way is so long that something is always under way.
        let look = |now: u64| Look { waiting: 0, is_drained: false, written: now / 100 * 12_500, segment: 1448 };
        let changes: Vec<Change> = (1..2000).filter_map(|now| detector.look(look(now), ms(now))).collect();
        assert_eq!(changes, [Change::Capped(2e6)]);
    }

    #[test]
    fn a_slow_source_is_capped_though_everything_is_acknowledged_in_its_pauses() {
        let mut detector = Detector::new(ms(50), true);
        detector.look(Look { waiting: 1, is_drained: false, written: 0, segment: 1448 }, ms(0));
        // 2500 bytes every 20 ms are 1 Mbit/s, and under way for 2 ms: every other sample is of no bytes.
        let look = |now: u64| Look { waiting: 0, is_drained: now % 20 > 1, written: now / 20 * 2500, segment: 1448 };
        let changes: Vec<Change> = (1..2000).filter_map(|now| detector.look(look(now), ms(now))).collect();
        let is_near = |change: &Change| matches!(change, Change::Capped(cap) if (1e6..3e6).contains(cap));
        assert!(!changes.is_empty() && changes.iter().all(is_near), "{changes:?}");
    }

    #[test]
    fn a_count_of_bytes_that_goes_back_is_no_rate_of_its_own() {
        let mut detector = Detector::new(ms(5), true);
        detector.look(Look { waiting: 1, is_drained: false, written: 9000, segment: 1448 }, ms(0));
        let look = |now: u64| Look { waiting: 0, is_drained: false, written: 8000 + now * 125, segment: 1448 };
        let changes: Vec<Change> = (1..500).filter_map(|now| detector.look(look(now), ms(now))).collect();
        // The first sample lacks what was written before its first look.
        let is_near = |change: &Change| matches!(change, Change::Capped(cap) if (1.9e6..=2e6).contains(cap));
        assert!(changes.len() == 1 && changes.iter().all(is_near), "{changes:?}");
    }

    #[test]
    fn a_source_that_has_given_all_is_not_slow_while_tcp_carries_it() {
        // Segments wait to be sent again; or all of them are under way, a first or a second time, or lost and not known
        // to be.
        for waiting in [7 * 1448, 0] {
            let mut detector = Detector::new(ms(5), true);
            detector.look(Look { waiting: 1, is_drained: false, written: 50_000, segment: 1448 }, ms(0));
            let tail = Look { waiting, is_drained: false, written: 100_000, segment: 1448 };
            assert!((1..500).all(|now| detector.look(tail, ms(now)).is_none()));
            let drained = Look { waiting: 0, is_drained: true, ..tail };
            let changes: Vec<Change> = (500..510).filter_map(|now| detector.look(drained, ms(now))).collect();
            assert_eq!(changes, [Change::Ended]);
        }
    }

    #[test]
    fn a_source_that_is_not_the_limit_has_no_cap() {
        let mut detector = Detector::new(ms(5), true);
        detector.look(Look { waiting: 1, is_drained: false, written: 0, segment: 1448 }, ms(0));
        let looks = (1..500).filter_map(|now| {
            let waiting = u64::from(now % 10 == 0);
            detector.look(Look { waiting, is_drained: false, written: now * 1000, segment: 1448 }, ms(now))
        });
        assert_eq!(looks.count(), 0);
    }
}
