//! RAX: a flow's priority follows from an estimate of its remaining time, which depends on how fast its application
//! produces data. The more a flow has produced, the more it is expected to produce:
//!
//! ```text
//! T_est = (b_s + b_b) / min(r_c, C) + b_b / C    b_s sent, b_b waiting to be sent, r_c the copy rate,
//!                                                C as the first link allows
//! level = the number of thresholds Q_1, Q_1 E, Q_1 E², … that it has reached
//! ```
//!
//! The estimates are computed when a flow arrives and at the ticks of a clock. RAX+ does the same with the true
//! [remaining time](Remaining::Time).
//!
//! Source: Li et al., *Rate-aware flow scheduling for commodity data center networks*, §III.

use netnum_core::internal::options;
use netnum_core::internal::registry::Entry;
use serde::{Deserialize, Serialize};

use super::PolicyEntry;
use super::remaining::Remaining;
use super::strict::{Levels, Strict, Until};
use crate::error::{Error, Result, positive_option};
use crate::network::Flows;
use crate::setters::setters;

pub(super) const ENTRY: PolicyEntry = Entry {
    name: "rax",
    summary: "fair sharing at priorities by estimated remaining time",
    options: options::defaults::<RaxOptions>,
    make: |given| Ok(Box::new(Strict::by(Rax::new(&given.read()?)?))),
};

pub(super) const PLUS: PolicyEntry = Entry {
    name: "rax+",
    summary: "fair sharing at priorities by true remaining time",
    options: options::defaults::<RaxOptions>,
    make: |given| Ok(Box::new(Strict::by(Rax::plus(&given.read()?)?))),
};

/// Options of RAX. By default as for links of 10 Gbit/s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RaxOptions {
    /// K, the number of levels, 1 to 64.
    pub levels: usize,
    /// Q_1, the first threshold, in seconds.
    pub first: f64,
    /// E, the ratio of each threshold to the one before, > 1.
    pub base: f64,
    /// Seconds between two computations of the estimates, > 0.
    pub interval: f64,
}

setters!(RaxOptions {
    with_levels: levels: usize,
    with_first: first: f64,
    with_base: base: f64,
    with_interval: interval: f64,
});

impl Default for RaxOptions {
    fn default() -> Self {
        Self { levels: 8, first: 160e-6, base: 2.0, interval: 20e-6 }
    }
}

/// Levels by estimated or true remaining time.
#[derive(Debug, Clone)]
pub struct Rax {
    name: &'static str,
    /// Whether levels follow the true remaining time.
    is_exact: bool,
    thresholds: Vec<f64>,
    interval: f64,
    capacities: Vec<f64>,
}

impl Rax {
    /// By estimated remaining time.
    ///
    /// # Errors
    /// [`netnum_core::Error::Option`] for none or too many levels, a ratio that is not > 1, and times that are not
    /// finite and > 0.
    pub fn new(options: &RaxOptions) -> Result<Self> {
        Self::named("rax", false, options)
    }

    /// By true remaining time.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn plus(options: &RaxOptions) -> Result<Self> {
        Self::named("rax+", true, options)
    }

    fn named(name: &'static str, is_exact: bool, options: &RaxOptions) -> Result<Self> {
        let &RaxOptions { levels, first, base, interval } = options;
        let of = format!("policy {name:?}");
        if !(1..=64).contains(&levels) {
            return Err(Error::option(&of, "levels", levels, "1 to 64"));
        }
        if !(base.is_finite() && base > 1.0) {
            return Err(Error::option(&of, "base", base, "a finite number > 1"));
        }
        for (option, seconds) in [("first", first), ("interval", interval)] {
            positive_option(&of, option, seconds)?;
        }
        let thresholds = std::iter::successors(Some(first), |threshold| Some(base * threshold));
        let thresholds = thresholds.take(levels - 1).collect();
        Ok(Self { name, is_exact, thresholds, interval, capacities: Vec::new() })
    }
}

impl Levels for Rax {
    fn name(&self) -> &str {
        self.name
    }

    fn levels(&self) -> usize {
        self.thresholds.len() + 1
    }

    fn begin_run(&mut self, capacities: &[f64]) {
        self.capacities = capacities.to_vec();
    }

    fn level(&self, slot: u32, _sent: f64, flows: &Flows, now: f64) -> usize {
        let capacity = flows.route(slot).first(&self.capacities);
        let time = match self.is_exact {
            true => Remaining::Time.of(slot, flows, now, capacity),
            false => {
                let copied = flows.produced(slot, now);
                copied / f64::min(flows.copy_rate(slot, now), capacity) + flows.backlog(slot, now) / capacity
            }
        };
        self.thresholds.partition_point(|&threshold| threshold <= time)
    }

    fn until(&self, _slot: u32, _level: usize, _flows: &Flows, now: f64) -> Until {
        // The quotient may be just below the whole number that it stands for.
        let next = ((now / self.interval).floor() + 1.0) * self.interval;
        let next = if next > now { next } else { next + self.interval };
        Until::Time(if next > now && next.is_finite() { next } else { f64::NAN })
    }
}
