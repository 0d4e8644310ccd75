//! A drawn curve B(f): the bandwidth at a fair share, piecewise linear, and its integral.

use super::Units;
use super::power::Power;
use crate::error::{Error, Result, check_length};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curve {
    /// Fair share of every point, increasing.
    pub(super) fair_share: Vec<f64>,
    /// Bandwidth of every point, from 0, not decreasing.
    pub(super) bandwidth: Vec<f64>,
    /// Slope after every point; the last one is the tail's.
    pub(super) slope: Vec<f64>,
    pub(super) alpha: f64,
    /// U' is exp(`log_k`) F^(−α); 0 in the caller's units.
    log_k: f64,
}

impl Curve {
    pub(super) fn new(flow: usize, fair_share: &[f64], bandwidth: &[f64], alpha: f64, tail_slope: f64) -> Result<Self> {
        let wrong = |what: String, expected| Err(Error::BandwidthFunction { flow, what, expected });
        let points = fair_share.len();
        check_length("bandwidth", bandwidth.len(), points, "point")?;
        if points < 2 {
            return wrong(format!("number of points is {points}"), "at least two");
        }
        for i in 0..points {
            let (f, b) = (fair_share[i], bandwidth[i]);
            if !(f.is_finite() && f >= 0.0) {
                return wrong(format!("fair share at point {i} is {f}"), "a finite number >= 0");
            }
            if !(b.is_finite() && b >= 0.0) {
                return wrong(format!("bandwidth at point {i} is {b}"), "a finite number >= 0");
            }
            if i > 0 && f <= fair_share[i - 1] {
                return wrong(format!("fair share does not increase at point {i}"), "an increasing list");
            }
            if i > 0 && b < bandwidth[i - 1] {
                return wrong(format!("bandwidth decreases at point {i}"), "a list that never decreases");
            }
        }
        if bandwidth[0] != 0.0 {
            return wrong(format!("bandwidth at point 0 is {}", bandwidth[0]), "0, so that it has no jump");
        }
        if !(tail_slope.is_finite() && tail_slope >= 0.0) {
            return wrong(format!("tail slope is {tail_slope}"), "a finite number >= 0");
        }
        if bandwidth[points - 1] == 0.0 && tail_slope == 0.0 {
            return wrong("bandwidth is 0 everywhere".into(), "a rise somewhere");
        }
        if alpha.is_nan() || alpha <= 0.0 {
            let expected = "a number > 0, inf for max-min";
            return Err(Error::Parameter { flow, name: "alpha", value: alpha, expected });
        }
        let rise = |i: usize| (bandwidth[i + 1] - bandwidth[i]) / (fair_share[i + 1] - fair_share[i]);
        let slope = (0..points - 1).map(rise).chain([tail_slope]).collect();
        Ok(Self { fair_share: fair_share.to_vec(), bandwidth: bandwidth.to_vec(), slope, alpha, log_k: 0.0 })
    }

    pub(super) fn in_units(&self, units: Units) -> Self {
        let scale = |values: &[f64]| values.iter().map(|value| value / units.rate).collect();
        Self {
            fair_share: self.fair_share.clone(),
            bandwidth: scale(&self.bandwidth),
            slope: scale(&self.slope),
            alpha: self.alpha,
            log_k: self.log_k - units.log_price,
        }
    }

    /// f^(−α) as a marginal utility of f.
    pub(super) fn share(&self) -> Power {
        Power { log_k: self.log_k, alpha: self.alpha }
    }

    pub(super) fn last_bandwidth(&self) -> f64 {
        self.bandwidth[self.bandwidth.len() - 1]
    }

    pub(super) fn saturation(&self) -> f64 {
        if self.slope[self.slope.len() - 1] == 0.0 { self.last_bandwidth() } else { f64::INFINITY }
    }

    /// The rising piece that ends at or goes through a rate; for rate 0 the first one that rises.
    pub(super) fn rising(&self, rate: f64) -> usize {
        match self.bandwidth.partition_point(|&b| b < rate) {
            0 => self.slope.iter().position(|&slope| slope > 0.0).unwrap_or(0),
            above => above - 1,
        }
    }

    /// Fair share, bandwidth and slope from there on, of every point.
    pub(super) fn pieces(&self) -> impl Iterator<Item = [f64; 3]> + use<'_> {
        self.fair_share.iter().zip(&self.bandwidth).zip(&self.slope).map(|((&f, &b), &slope)| [f, b, slope])
    }

    /// The smallest fair share that gives a rate: F(x).
    pub(super) fn fair_share(&self, rate: f64) -> f64 {
        let piece = self.rising(rate);
        self.fair_share[piece] + (rate - self.bandwidth[piece]) / self.slope[piece]
    }

    /// The largest fair share that gives a rate below saturation.
    pub(super) fn fair_share_after(&self, rate: f64) -> f64 {
        let above = self.bandwidth.partition_point(|&b| b <= rate) - 1;
        self.fair_share[above] + (rate - self.bandwidth[above]) / self.slope[above]
    }

    /// B(f), and its slope there.
    pub(super) fn at(&self, fair_share: f64) -> (f64, f64) {
        match self.fair_share.partition_point(|&f| f <= fair_share) {
            0 => (0.0, 0.0),
            after if self.slope[after - 1] == 0.0 => (self.bandwidth[after - 1], 0.0),
            after => {
                let (f, b, slope) = (self.fair_share[after - 1], self.bandwidth[after - 1], self.slope[after - 1]);
                (b + slope * (fair_share - f), slope)
            }
        }
    }

    pub(super) fn bandwidth(&self, fair_share: f64) -> f64 {
        self.at(fair_share).0
    }

    pub(super) fn marginal(&self, rate: f64) -> f64 {
        self.log_marginal(rate).exp()
    }

    /// −α log F(x); −∞ beyond saturation.
    pub(super) fn log_marginal(&self, rate: f64) -> f64 {
        let beyond = rate > self.saturation();
        if beyond { f64::NEG_INFINITY } else { self.share().log_marginal(self.fair_share(rate)) }
    }

    /// ∫ F^(−α) from a rate to a higher one, piece by piece; on one piece dx = slope · df.
    fn rise(&self, from: f64, to: f64) -> f64 {
        let (from, to) = (from.min(self.saturation()), to.min(self.saturation()));
        if from >= to {
            return 0.0;
        }
        let (first, last) = (self.rising(from), self.rising(to));
        let mut total = 0.0;
        for piece in (first..=last).filter(|&piece| self.slope[piece] > 0.0) {
            let (b, slope) = (self.bandwidth[piece], self.slope[piece]);
            let share = |rate: f64| self.fair_share[piece] + (rate - b) / slope;
            let low = from.max(b);
            let high = if piece == last { to } else { self.bandwidth[piece + 1] };
            total += slope * self.share().gain_over(share(low), share(high), (high - low) / slope);
        }
        total
    }

    pub(super) fn gain(&self, from: f64, to: f64) -> f64 {
        if from <= to { self.rise(from, to) } else { -self.rise(to, from) }
    }
}
