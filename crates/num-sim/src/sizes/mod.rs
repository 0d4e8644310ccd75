//! The sizes of flows.
//!
//! A distribution is points (b_i, c_i): a fraction c_i of the flows has at most b_i bytes. Between two points the
//! cumulative distribution is a straight line in bytes, and a fraction c_0 has exactly b_0 bytes. So
//!
//! ```text
//! size for u uniform in (0, 1]    b_i + (u − c_i)/(c_i+1 − c_i) (b_i+1 − b_i)  for c_i < u ≤ c_i+1;  b_0 for u ≤ c_0
//! mean                            c_0 b_0 + Σ (c_i+1 − c_i) (b_i + b_i+1)/2
//! ```
//!
//! and the mean, from which a load is computed, is that of the sizes that are drawn.

mod measured;

use std::fmt;

use netnum_core::internal::numerics::ln;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, positive};
use measured::MEASURED;

/// A distribution of flow sizes, in bytes.
///
/// ```
/// use netnum_sim::Sizes;
///
/// let sizes = Sizes::new("mice and elephants", vec![(1e3, 0.9), (1e6, 0.9), (2e6, 1.0)])?;
/// assert!((sizes.mean() - (0.9 * 1e3 + 0.1 * 1.5e6)).abs() < 1e-6);
/// # Ok::<(), netnum_sim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Sizes {
    name: String,
    law: Law,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Law {
    Points(Vec<(f64, f64)>),
    Exponential { mean: f64 },
}

/// The serialized form of a distribution, which is checked when it is read.
#[derive(Serialize, Deserialize)]
struct Plain {
    name: String,
    law: Law,
}

impl TryFrom<Plain> for Sizes {
    type Error = Error;

    fn try_from(Plain { name, law }: Plain) -> Result<Self> {
        match law {
            Law::Points(points) => Self::new(name, points),
            Law::Exponential { mean } => Ok(Self { name, ..Self::exponential(mean)? }),
        }
    }
}

impl From<Sizes> for Plain {
    fn from(Sizes { name, law }: Sizes) -> Self {
        Self { name, law }
    }
}

impl Sizes {
    /// A distribution from its points (bytes, fraction of flows that are no larger).
    ///
    /// # Errors
    /// [`Error::Sizes`] naming the point unless there is one, bytes are finite, not negative and do not decrease, the
    /// fractions lie in 0…1, do not decrease and end at 1, and no flow has 0 bytes.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Result<Self> {
        let wrong = |point: usize, what: String, expected| Err(Error::Sizes { point, what, expected });
        if points.is_empty() {
            return wrong(0, "is missing".into(), "at least one point (bytes, fraction)");
        }
        let mut last = (0.0, 0.0);
        for (point, &(bytes, fraction)) in points.iter().enumerate() {
            if !(bytes.is_finite() && bytes >= last.0) {
                return wrong(point, format!("is at {bytes} bytes"), "finite sizes >= 0 that do not decrease");
            }
            if !(fraction >= last.1 && fraction <= 1.0) {
                return wrong(point, format!("has fraction {fraction}"), "fractions from 0 to 1 that do not decrease");
            }
            if bytes == 0.0 && fraction > 0.0 {
                return wrong(point, format!("gives 0 bytes to {fraction} of the flows"), "sizes > 0");
            }
            last = (bytes, fraction);
        }
        if last.1 != 1.0 {
            return wrong(points.len() - 1, format!("has fraction {}", last.1), "1 at the last point");
        }
        Ok(Self { name: name.into(), law: Law::Points(points) })
    }

    /// All flows of one size, in bytes.
    ///
    /// # Errors
    /// [`Error::Sizes`] unless that is finite and > 0.
    pub fn fixed(bytes: f64) -> Result<Self> {
        Self::new(format!("{bytes} bytes"), vec![(bytes, 1.0)])
    }

    /// Exponential sizes of a mean, in bytes.
    ///
    /// # Errors
    /// A setting's, unless that is finite and > 0.
    pub fn exponential(mean: f64) -> Result<Self> {
        positive("mean", mean)?;
        Ok(Self { name: "exponential".into(), law: Law::Exponential { mean } })
    }

    /// The names of the measured distributions.
    pub fn measured() -> impl Iterator<Item = &'static str> {
        MEASURED.iter().map(|known| known.0)
    }

    /// A measured distribution by its name, one of [`measured`](Self::measured).
    ///
    /// # Errors
    /// [`Error::Core`] for another name.
    pub fn named(name: &str) -> Result<Self> {
        match MEASURED.iter().find(|known| known.0 == name) {
            Some((_, points)) => Self::new(name, points.to_vec()),
            None => Err(netnum_core::Error::unknown_name("sizes", name, Self::measured()).into()),
        }
    }

    /// The web search cluster of the DCTCP paper, which most papers use.
    pub fn web_search() -> Self {
        Self { name: "web_search".into(), law: Law::Points(measured::WEB_SEARCH.to_vec()) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The points (bytes, fraction); none for exponential sizes.
    pub fn points(&self) -> &[(f64, f64)] {
        match &self.law {
            Law::Points(points) => points,
            Law::Exponential { .. } => &[],
        }
    }

    /// The mean of the sizes that are drawn, in bytes.
    pub fn mean(&self) -> f64 {
        match &self.law {
            Law::Points(points) => {
                let between = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0;
                points[0].0 * points[0].1 + points.windows(2).map(between).sum::<f64>()
            }
            Law::Exponential { mean } => *mean,
        }
    }

    /// The size that a fraction of the flows does not exceed, in bytes: the inverse of the cumulative distribution.
    /// `fraction` outside 0…1 counts as the nearer end.
    pub fn quantile(&self, fraction: f64) -> f64 {
        match &self.law {
            Law::Points(points) => {
                let above = points.partition_point(|point| point.1 < fraction).min(points.len() - 1);
                let (b1, c1) = points[above];
                match above.checked_sub(1).map(|below| points[below]) {
                    Some((b0, c0)) if c1 > c0 => b0 + (fraction.min(1.0) - c0) / (c1 - c0) * (b1 - b0),
                    _ => b1,
                }
            }
            Law::Exponential { mean } => -mean * ln((1.0 - fraction).clamp(f64::MIN_POSITIVE, 1.0)),
        }
    }

    /// Draws a size, > 0.
    pub(crate) fn sample(&self, rng: &mut impl Rng) -> f64 {
        // Uniform in (0, 1]: the generator's range is [0, 1).
        let u = 1.0 - rng.random::<f64>();
        match &self.law {
            Law::Points(_) => self.quantile(u),
            Law::Exponential { mean } => (-mean * ln(u)).clamp(f64::MIN_POSITIVE, f64::MAX),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, mean {:.4} kB", self.name, self.mean() / 1e3)
    }
}
