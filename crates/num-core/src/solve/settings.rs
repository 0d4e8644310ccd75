//! When a solve stops.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What the certificate must show before a solve may say `optimal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Stop {
    /// The relative gap is at most the tolerance, and the KKT residual at most 1e−3 (or the tolerance, where that is
    /// larger): the total utility is right to the tolerance, and every single rate to about a thousandth of itself, or
    /// its price to a tenth of that where the utility is nearly linear.
    #[default]
    Rates,
    /// The relative gap is at most the tolerance: the total utility is right, relative to the gain of raising all rates
    /// by 100 %. Flows that matter little to that total (large rates at large α, tiny weights) may still be far from
    /// their rates.
    Gap,
    /// The KKT residual is at most the tolerance: every single rate is right to about that, relative to itself.
    Kkt,
}

impl Stop {
    /// The name that Python and files use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rates => "rates",
            Self::Gap => "gap",
            Self::Kkt => "kkt",
        }
    }
}

/// When a solve stops.
///
/// ```
/// use netnum_core::{Settings, Stop};
///
/// let settings = Settings::default().with_tol(1e-8).with_stop(Stop::Gap);
/// assert_eq!(settings.max_iterations, 20_000);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[must_use]
pub struct Settings {
    /// Tolerance that the certificate must meet. Relative, > 0. Default 1e−6.
    pub tol: f64,
    /// What the tolerance is about. Default: the gap, with single rates to a moderate accuracy.
    pub stop: Stop,
    /// Iterations after which the best answer so far is returned. Default 20 000.
    pub max_iterations: usize,
    /// Time after which the best answer so far is returned. The limit includes set-up and the final certificate.
    /// Default: none.
    pub time_limit: Option<Duration>,
    /// Whether to keep one row of [`Progress`](super::Progress) per iteration. Certifies every iteration, which makes
    /// it several times as expensive. Default: no.
    pub trace: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tol: 1e-6, stop: Stop::Rates, max_iterations: 20_000, time_limit: None, trace: false }
    }
}

impl Settings {
    /// The names of the settings, for a caller who gave one of them, misspelled, as a method's option.
    pub(super) const NAMES: [&str; 5] = ["tol", "stop", "max_iterations", "time_limit", "trace"];

    /// With another tolerance.
    pub fn with_tol(self, tol: f64) -> Self {
        Self { tol, ..self }
    }

    /// With another subject of the tolerance.
    pub fn with_stop(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// With another limit of iterations.
    pub fn with_max_iterations(self, max_iterations: usize) -> Self {
        Self { max_iterations, ..self }
    }

    /// With a time limit, or none.
    pub fn with_time_limit(self, time_limit: impl Into<Option<Duration>>) -> Self {
        Self { time_limit: time_limit.into(), ..self }
    }

    /// With a trace, or without.
    pub fn with_trace(self, trace: bool) -> Self {
        Self { trace, ..self }
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.tol.is_finite() && self.tol > 0.0 {
            return Ok(());
        }
        let (name, value) = ("tol".into(), self.tol.to_string());
        Err(Error::Setting { name, value, expected: "a finite number > 0".into() })
    }
}
