//! U'(x) = k x^(−α), the shape that α-fair and completion-time utilities share, with k kept as its logarithm.
//!
//! log k = α log w overflows nowhere: at 1e10 bit/s and α = 10 prices are near 1e−90, and w^α or x^(−α) computed on
//! their own underflow from α = 31 on.

use std::ops::Range;

use super::tolerances::{LARGEST, LOG_SMALLEST};
use super::{Units, Utility};
use crate::numerics::{self, exp_m1, ln, ln_ratio, vectorized};

/// exp, kept below [`LARGEST`].
#[inline(always)]
fn exp(exponent: f64) -> f64 {
    numerics::exp(exponent.min(667.0))
}

impl Units {
    /// U'(x) = k x^(−α) in these units: k C^(−α)/P.
    pub(super) fn convert(self, powers: &mut [Power]) {
        let log_rate = self.rate.ln();
        for power in powers {
            power.log_k = power.log_k - power.alpha * log_rate - self.log_price;
        }
    }
}

/// One flow's U'(x) = exp(`log_k`) x^(−`alpha`).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Power {
    pub(super) log_k: f64,
    pub(super) alpha: f64,
}

impl Power {
    /// k log x for α = 1, else k x^(1−α)/(1−α).
    #[inline(always)]
    pub(super) fn value(self, rate: f64) -> f64 {
        let (beta, log) = (1.0 - self.alpha, ln(rate));
        // At a rate of 0 the product of β and −∞ is what it should be.
        let power = numerics::exp(self.log_k + if beta == 0.0 { 0.0 } else { beta * log });
        power * if beta == 0.0 { log } else { 1.0 / beta }
    }

    #[inline(always)]
    pub(super) fn log_marginal(self, rate: f64) -> f64 {
        self.log_k - self.alpha * ln(rate)
    }

    #[inline(always)]
    pub(super) fn marginal(self, rate: f64) -> f64 {
        numerics::exp(self.log_marginal(rate))
    }

    #[inline(always)]
    pub(super) fn demand(self, price: f64) -> f64 {
        exp(((self.log_k - ln(price)) / self.alpha).max(LOG_SMALLEST))
    }

    pub(super) fn demand_slope(self, price: f64) -> f64 {
        -self.demand(price) / (self.alpha * price)
    }

    /// U(x') − U(x), exact to rounding however close the two rates are.
    pub(super) fn gain(self, from: f64, to: f64) -> f64 {
        self.gain_over(from, to, to - from)
    }

    /// U(x') − U(x), given x' − x, which may be more exact than the difference.
    pub(super) fn gain_over(self, from: f64, to: f64, change: f64) -> f64 {
        match change == 0.0 || (from != 0.0 && to != 0.0) {
            true => self.gain_between(from, to, change),
            false => self.value(to) - self.value(from),
        }
    }

    /// k x^(1−α) (exp u − 1)/(1−α) with u = (1−α) log(x'/x), for two rates that are not 0.
    #[inline(always)]
    fn gain_between(self, from: f64, to: f64, change: f64) -> f64 {
        let beta = 1.0 - self.alpha;
        let log_ratio = ln_ratio(from, to, change);
        let u = (beta * log_ratio).min(667.0);
        let growth = if beta == 0.0 || u == 0.0 { log_ratio } else { exp_m1(u) / beta };
        let gain = exp(self.log_k + beta * ln(from)) * growth;
        let gain = if change == 0.0 { 0.0 } else { gain };
        // Sums of ten million of the largest are finite.
        gain.clamp(-LARGEST, LARGEST)
    }
}

/// Whether no rate is 0, so that all logarithms are finite.
fn none_is_zero(rates: &[f64]) -> bool {
    rates.iter().all(|&rate| rate != 0.0)
}

/// A function of every flow's power law and of its rate or its price, for a block of flows in vector instructions. No
/// function that takes the other, which would not be compiled for the same vectors.
macro_rules! map {
    ($powers:expr, $arguments:expr, $out:expr, $function:ident) => {
        vectorized(
            #[inline(always)]
            || {
                for ((power, &argument), out) in $powers.iter().zip($arguments).zip($out) {
                    *out = power.$function(argument);
                }
            },
        )
    };
}
pub(super) use map;

/// The power laws of some flows of a family, one for each place of a buffer.
macro_rules! laws {
    ($family:expr, $flows:expr, $powers:expr) => {{
        for (flow, power) in $flows.zip(&mut *$powers) {
            *power = $family.parameters(flow);
        }
        vectorized(
            #[inline(always)]
            || $powers.iter_mut().for_each(|power| *power = $family.law(*power)),
        );
    }};
}
pub(super) use laws;

/// The functions of [`Utility`] that a family gets by saying which power law a flow has, in two steps:
/// `fn parameters(&self, flow) -> Power` has a number in place of log k, and `fn law(&self, parameters) -> Power` finds
/// log k from it, for many flows in vector instructions.
macro_rules! as_power {
    () => {
        fn value(&self, flow: usize, rate: f64) -> f64 {
            self.law(self.parameters(flow)).value(rate)
        }
        fn marginal(&self, flow: usize, rate: f64) -> f64 {
            self.law(self.parameters(flow)).marginal(rate)
        }
        fn demand(&self, flow: usize, price: f64) -> f64 {
            self.law(self.parameters(flow)).demand(price)
        }
        fn demand_slope(&self, flow: usize, price: f64) -> f64 {
            self.law(self.parameters(flow)).demand_slope(price)
        }
        /// `None` for max-min, which has no marginal.
        fn alpha(&self, flow: usize) -> Option<f64> {
            Some(self.parameters(flow).alpha).filter(|alpha| alpha.is_finite())
        }
        fn gain(&self, flow: usize, from: f64, to: f64) -> f64 {
            self.law(self.parameters(flow)).gain(from, to)
        }
        fn value_into(&self, flows: std::ops::Range<usize>, rates: &[f64], out: &mut [f64]) {
            let mut powers = [Power::default(); CHUNK];
            let pieces = rates.chunks(CHUNK).zip(out.chunks_mut(CHUNK));
            for (start, (rates, out)) in flows.step_by(CHUNK).zip(pieces) {
                let powers = &mut powers[..rates.len()];
                laws!(self, start.., powers);
                map!(powers, rates, out, value);
            }
        }
        fn log_marginal_into(&self, flows: std::ops::Range<usize>, rates: &[f64], out: &mut [f64]) {
            let flows: Vec<u32> = flows.map(|flow| flow as u32).collect();
            self.log_marginal_at(&flows, rates, out);
        }
        fn log_marginal_at(&self, flows: &[u32], rates: &[f64], out: &mut [f64]) {
            let mut powers = [Power::default(); CHUNK];
            let pieces = rates.chunks(CHUNK).zip(out.chunks_mut(CHUNK));
            for (flows, (rates, out)) in flows.chunks(CHUNK).zip(pieces) {
                let powers = &mut powers[..rates.len()];
                laws!(self, flows.iter().map(|&flow| flow as usize), powers);
                map!(powers, rates, out, log_marginal);
            }
        }
        fn elasticity_into(&self, flows: std::ops::Range<usize>, _rates: &[f64], out: &mut [f64]) {
            for (flow, out) in flows.zip(out) {
                *out = self.parameters(flow).alpha;
            }
        }
        fn in_units(&self, flows: &[u32], units: Units) -> Option<Box<dyn Utility>> {
            let of_flow = |&flow: &u32| flow as usize;
            if !flows.iter().all(|flow| self.parameters(of_flow(flow)).alpha == 1.0) {
                let mut powers = vec![Power::default(); flows.len()];
                laws!(self, flows.iter().map(of_flow), powers);
                units.convert(&mut powers);
                return Some(Box::new(Powers { flows: powers }));
            }
            let (mut weights, mut powers) = (vec![0.0; flows.len()], [Power::default(); CHUNK]);
            for (flows, weights) in flows.chunks(CHUNK).zip(weights.chunks_mut(CHUNK)) {
                let powers = &mut powers[..flows.len()];
                laws!(self, flows.iter().map(of_flow), powers);
                units.convert(powers);
                Logs::weights_into(powers, weights);
            }
            Some(Box::new(Logs { weights }))
        }
    };
}
pub(super) use as_power;

/// The power laws of many flows, in natural units.
#[derive(Debug)]
pub(super) struct Powers {
    pub(super) flows: Vec<Power>,
}

impl Utility for Powers {
    fn value(&self, flow: usize, rate: f64) -> f64 {
        self.flows[flow].value(rate)
    }
    fn marginal(&self, flow: usize, rate: f64) -> f64 {
        self.flows[flow].marginal(rate)
    }
    fn alpha(&self, flow: usize) -> Option<f64> {
        Some(self.flows[flow].alpha)
    }
    fn log_marginal_into(&self, flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        map!(self.flows[flows], rates, out, log_marginal);
    }
    fn marginal_into(&self, flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        map!(self.flows[flows], rates, out, marginal);
    }
    fn demand_into(&self, flows: Range<usize>, prices: &[f64], out: &mut [f64]) {
        map!(self.flows[flows], prices, out, demand);
    }
    fn gain_into(&self, flows: Range<usize>, from: &[f64], to: &[f64], out: &mut [f64]) {
        let inputs = self.flows[flows].iter().zip(from).zip(to).zip(out);
        if !(none_is_zero(from) && none_is_zero(to)) {
            return inputs.for_each(|(((flow, &from), &to), out)| *out = flow.gain(from, to));
        }
        vectorized(
            #[inline(always)]
            || {
                for (((flow, &from), &to), out) in inputs {
                    *out = flow.gain_between(from, to, to - from);
                }
            },
        );
    }
    fn elasticity_into(&self, flows: Range<usize>, _rates: &[f64], out: &mut [f64]) {
        for (flow, out) in self.flows[flows].iter().zip(out) {
            *out = flow.alpha;
        }
    }
    fn in_units(&self, flows: &[u32], units: Units) -> Option<Box<dyn Utility>> {
        let mut powers: Vec<Power> = flows.iter().map(|&flow| self.flows[flow as usize]).collect();
        units.convert(&mut powers);
        Some(Box::new(Self { flows: powers }))
    }
    fn respond_into(
        &self,
        flows: Range<usize>,
        prices: &[f64],
        ceilings: &[f64],
        rates: &mut [f64],
        curvatures: &mut [f64],
    ) {
        // Two loops: in one, the compiler would have to prove too many arrays apart to use vectors.
        self.demand_into(flows.clone(), prices, rates);
        vectorized(
            #[inline(always)]
            || {
                for (rate, &ceiling) in rates.iter_mut().zip(ceilings) {
                    *rate = rate.min(ceiling);
                }
                for (((flow, &price), &rate), curvature) in
                    self.flows[flows].iter().zip(prices).zip(&*rates).zip(curvatures)
                {
                    *curvature = rate / (flow.alpha * price);
                }
            },
        );
    }
}

/// α = 1, without a transcendental function in the response: x = w/q.
#[derive(Debug)]
pub(super) struct Logs {
    pub(super) weights: Vec<f64>,
}

impl Logs {
    /// The weights of power laws with α = 1.
    pub(super) fn weights_into(powers: &[Power], weights: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                for (weight, power) in weights.iter_mut().zip(powers) {
                    *weight = exp(power.log_k);
                }
            },
        );
    }
}

impl Utility for Logs {
    fn log_weights(&self) -> Option<&[f64]> {
        Some(&self.weights)
    }
    fn value(&self, flow: usize, rate: f64) -> f64 {
        self.weights[flow] * rate.ln()
    }
    fn marginal(&self, flow: usize, rate: f64) -> f64 {
        self.weights[flow] / rate
    }
    fn alpha(&self, _flow: usize) -> Option<f64> {
        Some(1.0)
    }
    fn marginal_into(&self, flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        for ((&weight, &rate), out) in self.weights[flows].iter().zip(rates).zip(out) {
            *out = weight / rate;
        }
    }
    fn demand_into(&self, flows: Range<usize>, prices: &[f64], out: &mut [f64]) {
        // Demand and marginal are each other's mirror.
        self.marginal_into(flows, prices, out);
    }
    fn gain_into(&self, flows: Range<usize>, from: &[f64], to: &[f64], out: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                for (((&weight, &from), &to), out) in self.weights[flows].iter().zip(from).zip(to).zip(out) {
                    let gain = weight * ln_ratio(from, to, to - from);
                    *out = if from == to { 0.0 } else { gain };
                }
            },
        );
    }
    fn elasticity_into(&self, _flows: Range<usize>, _rates: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
    fn in_units(&self, flows: &[u32], units: Units) -> Option<Box<dyn Utility>> {
        let unit = units.rate * units.price();
        Some(Box::new(Self { weights: flows.iter().map(|&flow| self.weights[flow as usize] / unit).collect() }))
    }
    fn respond_into(
        &self,
        flows: Range<usize>,
        prices: &[f64],
        ceilings: &[f64],
        rates: &mut [f64],
        curvatures: &mut [f64],
    ) {
        let inputs = self.weights[flows].iter().zip(prices).zip(ceilings);
        for (((&weight, &price), &ceiling), (rate, curvature)) in inputs.zip(rates.iter_mut().zip(curvatures)) {
            let inverse = 1.0 / price;
            *rate = (weight * inverse).min(ceiling);
            *curvature = *rate * inverse;
        }
    }
}
