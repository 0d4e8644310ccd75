//! U'(x) = k x^(−α), the shape that α-fair and completion-time utilities share, with k kept as its logarithm.
//!
//! log k = α log w overflows nowhere: at 1e10 bit/s and α = 10 prices are near 1e−90, and w^α or x^(−α) computed on
//! their own underflow from α = 31 on.

use std::ops::Range;

use super::Utility;

/// Values beyond this stand for "too large to matter"; sums of ten million of them are still finite.
const HUGE: f64 = 1e290;

/// log of the smallest rate that a positive price can push a flow to.
const LOG_TINY: f64 = -690.0;

/// exp, kept finite.
fn exp(exponent: f64) -> f64 {
    exponent.min(667.0).exp()
}

/// One flow's U'(x) = exp(`log_k`) x^(−`alpha`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Power {
    pub(super) log_k: f64,
    pub(super) alpha: f64,
}

impl Power {
    /// k log x for α = 1, else k x^(1−α)/(1−α).
    pub(super) fn value(self, rate: f64) -> f64 {
        if self.alpha == 1.0 {
            return self.log_k.exp() * rate.ln();
        }
        let beta = 1.0 - self.alpha;
        if rate == 0.0 {
            return if beta > 0.0 { 0.0 } else { f64::NEG_INFINITY };
        }
        (self.log_k + beta * rate.ln()).exp() / beta
    }

    pub(super) fn log_marginal(self, rate: f64) -> f64 {
        self.log_k - self.alpha * rate.ln()
    }

    pub(super) fn marginal(self, rate: f64) -> f64 {
        self.log_marginal(rate).exp()
    }

    pub(super) fn demand(self, price: f64) -> f64 {
        exp(((self.log_k - price.ln()) / self.alpha).max(LOG_TINY))
    }

    pub(super) fn demand_slope(self, price: f64) -> f64 {
        -self.demand(price) / (self.alpha * price)
    }

    /// k x^(1−α) (exp((1−α) log(x'/x)) − 1)/(1−α): exact to rounding however close the two rates are.
    pub(super) fn gain(self, from: f64, to: f64) -> f64 {
        self.gain_over(from, to, to - from)
    }

    /// The same where the change is known more exactly than by subtracting.
    pub(super) fn gain_over(self, from: f64, to: f64, change: f64) -> f64 {
        if change == 0.0 {
            return 0.0;
        }
        if from == 0.0 || to == 0.0 {
            return self.value(to) - self.value(from);
        }
        let beta = 1.0 - self.alpha;
        let log_ratio = log_ratio(from, to, change);
        if beta == 0.0 {
            return exp(self.log_k) * log_ratio;
        }
        let scale = exp(self.log_k + beta * from.ln());
        (scale * ((beta * log_ratio).min(667.0).exp_m1() / beta)).clamp(-HUGE, HUGE)
    }
}

/// The functions of [`Utility`] that a family gets by saying which power law a flow has: `fn power(&self, flow)`.
macro_rules! as_power {
    () => {
        fn value(&self, flow: usize, rate: f64) -> f64 {
            self.power(flow).value(rate)
        }
        fn marginal(&self, flow: usize, rate: f64) -> f64 {
            self.power(flow).marginal(rate)
        }
        fn demand(&self, flow: usize, price: f64) -> f64 {
            self.power(flow).demand(price)
        }
        fn demand_slope(&self, flow: usize, price: f64) -> f64 {
            self.power(flow).demand_slope(price)
        }
        /// `None` for max-min, which has no marginal.
        fn alpha(&self, flow: usize) -> Option<f64> {
            Some(self.power(flow).alpha).filter(|alpha| alpha.is_finite())
        }
        fn gain(&self, flow: usize, from: f64, to: f64) -> f64 {
            self.power(flow).gain(from, to)
        }
        fn log_marginal_into(&self, flows: std::ops::Range<usize>, rates: &[f64], out: &mut [f64]) {
            for ((flow, &rate), out) in flows.zip(rates).zip(out) {
                *out = self.power(flow).log_marginal(rate);
            }
        }
        fn elasticity_into(&self, flows: std::ops::Range<usize>, _rates: &[f64], out: &mut [f64]) {
            for (flow, out) in flows.zip(out) {
                *out = self.power(flow).alpha;
            }
        }
        fn in_units(&self, flows: &[u32], units: Units) -> Option<Box<dyn Utility>> {
            Some(Powers::block(units.powers(flows.iter().map(|&flow| self.power(flow as usize)))))
        }
    };
}
pub(super) use as_power;

/// log(`to`/`from`), accurate also where the two are nearly equal.
fn log_ratio(from: f64, to: f64, change: f64) -> f64 {
    if change.abs() < 0.5 * from { (change / from).ln_1p() } else { (to / from).ln() }
}

/// Many flows of the same shape, in natural units.
#[derive(Debug)]
pub(super) struct Powers {
    flows: Vec<Power>,
}

impl Powers {
    /// The fastest form for these flows.
    pub(super) fn block(flows: Vec<Power>) -> Box<dyn Utility> {
        if flows.iter().all(|flow| flow.alpha == 1.0) {
            Box::new(Logs { weights: flows.iter().map(|flow| exp(flow.log_k)).collect() })
        } else {
            Box::new(Self { flows })
        }
    }
}

impl Utility for Powers {
    fn value(&self, flow: usize, rate: f64) -> f64 {
        self.flows[flow].value(rate)
    }
    fn marginal(&self, flow: usize, rate: f64) -> f64 {
        self.flows[flow].marginal(rate)
    }
    fn demand(&self, flow: usize, price: f64) -> f64 {
        self.flows[flow].demand(price)
    }
    fn demand_slope(&self, flow: usize, price: f64) -> f64 {
        self.flows[flow].demand_slope(price)
    }
    fn alpha(&self, flow: usize) -> Option<f64> {
        Some(self.flows[flow].alpha)
    }
    fn gain(&self, flow: usize, from: f64, to: f64) -> f64 {
        self.flows[flow].gain(from, to)
    }
    fn log_marginal_into(&self, flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        for ((flow, &rate), out) in self.flows[flows].iter().zip(rates).zip(out) {
            *out = flow.log_marginal(rate);
        }
    }
    fn elasticity_into(&self, flows: Range<usize>, _rates: &[f64], out: &mut [f64]) {
        for (flow, out) in self.flows[flows].iter().zip(out) {
            *out = flow.alpha;
        }
    }
    fn respond_into(
        &self,
        flows: Range<usize>,
        prices: &[f64],
        ceilings: &[f64],
        rates: &mut [f64],
        curvatures: &mut [f64],
    ) {
        let inputs = self.flows[flows].iter().zip(prices).zip(ceilings);
        for (((flow, &price), &ceiling), (rate, curvature)) in inputs.zip(rates.iter_mut().zip(curvatures)) {
            *rate = flow.demand(price).min(ceiling);
            *curvature = *rate / (flow.alpha * price);
        }
    }
}

/// α = 1, without a transcendental function in the response: x = w/q.
#[derive(Debug)]
struct Logs {
    weights: Vec<f64>,
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
    fn demand(&self, flow: usize, price: f64) -> f64 {
        self.weights[flow] / price
    }
    fn demand_slope(&self, flow: usize, price: f64) -> f64 {
        -self.weights[flow] / (price * price)
    }
    fn alpha(&self, _flow: usize) -> Option<f64> {
        Some(1.0)
    }
    fn gain(&self, flow: usize, from: f64, to: f64) -> f64 {
        if from == to { 0.0 } else { self.weights[flow] * log_ratio(from, to, to - from) }
    }
    fn elasticity_into(&self, _flows: Range<usize>, _rates: &[f64], out: &mut [f64]) {
        out.fill(1.0);
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
