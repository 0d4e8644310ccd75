//! Applications that produce bytes while their flow runs: a rate g for every flow, and a send buffer that they wait for
//! when it is full. What a flow can send follows from these; see `source.rs`.

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::memory::room;
use rand_distr::{Distribution, LogNormal};
use serde::{Deserialize, Serialize};

use super::draws::{Draw, rng};
use crate::error::{Error, Result, positive};
use crate::numbers::FLOW;

/// At which rates the bytes of flows are produced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Production {
    rates: Vec<f64>,
    buffer: f64,
}

/// As it is written down, where there is no infinity.
#[derive(Serialize, Deserialize)]
struct Plain {
    rates: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    buffer: Option<f64>,
}

impl Production {
    /// A rate for every flow, in bit/s, and the send buffer that each has, in bytes: ∞ for one without a limit.
    ///
    /// # Errors
    /// [`Error::Flow`] naming the first with a rate that is not finite and > 0; a setting's, for a buffer that is not >
    /// 0.
    pub fn new(rates: Vec<f64>, buffer: f64) -> Result<Self> {
        let mut pacer = Pacer::new();
        for (flow, &value) in rates.iter().enumerate() {
            if !(value.is_finite() && value > 0.0) {
                let (what, expected) = ("production rate", "a finite number > 0");
                return Err(Error::Flow { flow, what, value, expected: expected.into() });
            }
            pacer.did(1)?;
        }
        if buffer.is_nan() || buffer <= 0.0 {
            return Err(Error::setting("send buffer", buffer, "a number > 0"));
        }
        Ok(Self { rates, buffer })
    }

    /// Random rates, whose logarithms are normal: around a median (in bit/s) with a standard deviation `sigma` of the
    /// logarithm; those outside `lowest..=highest` are drawn again.
    ///
    /// # Errors
    /// A setting's, for numbers that are no such distribution, or one that hardly ever falls between the bounds; those
    /// of [`new`](Self::new).
    pub fn log_normal(
        flows: usize,
        median: f64,
        sigma: f64,
        (lowest, highest): (f64, f64),
        buffer: f64,
        seed: u64,
    ) -> Result<Self> {
        positive("median", median)?;
        let normal = match LogNormal::new(median.ln(), sigma) {
            Ok(normal) if sigma >= 0.0 => normal,
            _ => return Err(Error::setting("sigma", sigma, "a finite number >= 0")),
        };
        if !(lowest <= highest && highest > 0.0) {
            let expected = "a lowest and a highest number > 0, in this order";
            return Err(Error::setting("bounds", format!("{lowest} to {highest}"), expected));
        }
        let (mut rng, mut pacer) = (rng(seed, Draw::Production), Pacer::new());
        let mut rates = room("rates of production", flows)?;
        while rates.len() < flows {
            let within = |(_, rate): &(usize, f64)| (lowest..=highest).contains(rate);
            let Some((draws, rate)) = (1..=DRAWS).map(|draw| (draw, normal.sample(&mut rng))).find(within) else {
                let expected =
                    format!("some that rates with median {median} and sigma {sigma} are likely to lie between");
                return Err(Error::setting("bounds", format!("{lowest} to {highest}"), &expected));
            };
            rates.push(rate);
            pacer.did(FLOW * draws)?;
        }
        Self::new(rates, buffer)
    }

    /// The rate of every flow, in bit/s.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// The send buffer of each, in bytes.
    pub fn buffer(&self) -> f64 {
        self.buffer
    }
}

/// How often a rate is drawn again before its bounds are taken to be wrong.
const DRAWS: usize = 10_000;

impl TryFrom<Plain> for Production {
    type Error = Error;

    fn try_from(plain: Plain) -> Result<Self> {
        Self::new(plain.rates, plain.buffer.unwrap_or(f64::INFINITY))
    }
}

impl From<Production> for Plain {
    fn from(Production { rates, buffer }: Production) -> Self {
        Self { rates, buffer: buffer.is_finite().then_some(buffer) }
    }
}
