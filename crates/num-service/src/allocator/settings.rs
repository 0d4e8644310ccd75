//! What an operator sets of rates.

use std::num::NonZeroUsize;
use std::time::Duration;

use netnum_parallel::AllocatorSettings;
use serde::Deserialize;

/// How rates are computed, and how long they live.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RateSettings {
    /// Between two ticks, from 100 µs to 100 ms. In files a number of microseconds, `tick_us`.
    #[serde(rename = "tick_us", deserialize_with = "crate::microseconds")]
    pub tick: Duration,
    /// For how long a rate holds that is not renewed, at least 32 ticks. In files `lifetime_us`.
    #[serde(rename = "lifetime_us", deserialize_with = "crate::microseconds")]
    pub lifetime: Duration,
    /// Iterations of prices per tick, at least 1.
    pub iterations: usize,
    /// γ of NED, the step of prices.
    pub gamma: f64,
    /// α of the flowlets' utilities, 1 for proportional fairness.
    pub alpha: f64,
    /// A rate is sent again when it has moved by more than this part of itself; so much of each link stays free.
    pub update_threshold: f64,
    /// The part of each link that is left to flows that no endpoint has reported.
    pub headroom: f64,
    /// Threads of the iteration.
    pub threads: NonZeroUsize,
    /// The most flowlets that an endpoint may have at once. Others are left to TCP.
    pub flowlets_per_endpoint: usize,
}

impl Default for RateSettings {
    /// A tick of 1 ms, a lifetime of 200 ms, 4 iterations a tick, γ = 0.4, α = 1, a threshold of 0.01, no headroom,
    /// one thread, 65 536 flowlets.
    fn default() -> Self {
        Self {
            tick: Duration::from_millis(1),
            lifetime: Duration::from_millis(200),
            iterations: 4,
            gamma: 0.4,
            alpha: 1.0,
            update_threshold: 0.01,
            headroom: 0.0,
            threads: NonZeroUsize::MIN,
            flowlets_per_endpoint: 65_536,
        }
    }
}

/// A setting out of its range.
#[derive(Debug, thiserror::Error)]
#[error("{setting} is {found}, expected {expected}")]
pub struct BadSettings {
    setting: &'static str,
    found: String,
    expected: &'static str,
}

/// The fewest ticks in a lifetime: an endpoint asks again after a sixteenth of it, and the answer takes a tick.
const TICKS_IN_LIFETIME: u32 = 32;

impl RateSettings {
    /// Whether all are in their ranges.
    ///
    /// # Errors
    /// [`BadSettings`].
    pub fn check(&self) -> Result<(), BadSettings> {
        let is_share = |part: f64| (0.0..1.0).contains(&part);
        let is_positive = |number: f64| number > 0.0 && number.is_finite();
        let ranges = [
            (
                "tick_us",
                self.tick.as_micros().to_string(),
                (100..=100_000).contains(&self.tick.as_micros()),
                "100 to 100000 microseconds",
            ),
            (
                "lifetime_us",
                self.lifetime.as_micros().to_string(),
                self.lifetime >= self.tick * TICKS_IN_LIFETIME && self.lifetime <= Duration::from_secs(3600),
                "at least 32 ticks and at most an hour",
            ),
            ("iterations", self.iterations.to_string(), self.iterations > 0, "at least 1"),
            ("gamma", self.gamma.to_string(), is_positive(self.gamma), "a number > 0"),
            ("alpha", self.alpha.to_string(), is_positive(self.alpha), "a number > 0"),
            (
                "update_threshold",
                self.update_threshold.to_string(),
                is_share(self.update_threshold),
                "a number >= 0 and < 1",
            ),
            ("headroom", self.headroom.to_string(), is_share(self.headroom), "a number >= 0 and < 1"),
        ];
        match ranges.into_iter().find(|range| !range.2) {
            Some((setting, found, _, expected)) => Err(BadSettings { setting, found, expected }),
            None => Ok(()),
        }
    }
}

impl RateSettings {
    pub(super) fn of_allocator(&self) -> AllocatorSettings {
        AllocatorSettings::default().with_update_threshold(self.update_threshold).with_headroom(self.headroom)
    }
}
