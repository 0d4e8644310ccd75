//! Demand from the marginal alone: x with U'(x) = q, for a block of flows at a time.
//!
//! A bracket is found by going up or down from rate 1 in steps that double, in log x; then secants of log U' over log
//! x, exact for power laws, with a bisection wherever two of them have not halved the bracket. Some ten to fifty calls
//! of the marginal for a block, however many flows are in it: a utility in Python costs as many calls of NumPy.

use super::tolerances::{LARGEST, LEAST_ELASTICITY, MARGIN, MOST_CALLS, POINT, STEP};

/// Rates below this count as 0.
fn smallest() -> f64 {
    LARGEST.recip()
}

/// One flow's search.
struct Search {
    /// log q, and the saturation.
    log_price: f64,
    saturation: f64,
    /// Rates with U' > q and U' ≤ q, each with log U' − log q; 0 and ∞ where none is known.
    low: [f64; 2],
    high: [f64; 2],
    /// The next step of log x, before there is a bracket.
    step: f64,
    /// log(high/low) before the last two steps.
    widths: [f64; 2],
    at: f64,
    done: bool,
}

impl Search {
    fn new(price: f64, saturation: f64) -> Self {
        let at = if saturation < 1.0 { saturation } else { 1.0 };
        let (low, high) = ([0.0, f64::INFINITY], [f64::INFINITY, f64::NEG_INFINITY]);
        Self { log_price: price.ln(), saturation, low, high, step: 1.0, widths: [f64::INFINITY; 2], at, done: false }
    }

    /// Takes U' at the last rate, and returns the next rate to evaluate.
    fn update(&mut self, marginal: f64) {
        let excess = marginal.ln() - self.log_price;
        if marginal.is_nan() {
            (self.at, self.done) = (f64::NAN, true);
        } else if excess > 0.0 {
            self.low = [self.at, excess];
            self.done = self.at >= self.saturation || self.at >= LARGEST;
        } else {
            self.high = [self.at, excess];
            self.done = excess == 0.0;
            if self.at <= smallest() {
                (self.at, self.done) = (0.0, true);
            }
        }
        if self.done {
            return;
        }
        let ([low, above], [high, below]) = (self.low, self.high);
        if low == 0.0 || high == f64::INFINITY {
            let factor = if low == 0.0 { (-self.step).exp() } else { self.step.exp() };
            self.at = (self.at * factor).clamp(smallest(), LARGEST.min(self.saturation));
            self.step *= 2.0;
            return;
        }
        let width = (high / low).ln();
        self.done = high - low <= POINT * high;
        let slow = width > 0.5 * self.widths[0];
        self.widths = [self.widths[1], width];
        let part = above / (above - below);
        self.at = match !slow && part.is_finite() && part > 0.0 && part < 1.0 {
            // At least MARGIN from either end, so that both ends move.
            true => low * (width * part.clamp(MARGIN, 1.0 - MARGIN)).exp(),
            false if width > 1.0 => low.sqrt() * high.sqrt(),
            false => 0.5 * (low + high),
        };
        if !(self.at > low && self.at < high) {
            (self.at, self.done) = (low, true);
        }
    }
}

/// The rate x ≥ 0 at which `marginals` fall through the price, for each of a block of flows; `marginals` takes a rate
/// per flow. 0 where U' is below the price everywhere, the saturation where it is above.
pub fn demands_into(
    mut marginals: impl FnMut(&[f64], &mut [f64]),
    saturation: impl Fn(usize) -> f64,
    prices: &[f64],
    out: &mut [f64],
) {
    let mut all: Vec<Search> =
        prices.iter().enumerate().map(|(flow, &price)| Search::new(price, saturation(flow))).collect();
    let (mut rates, mut calls) = (vec![0.0; prices.len()], 0);
    while all.iter().any(|search| !search.done) && calls < MOST_CALLS {
        rates
            .iter_mut()
            .zip(&all)
            .for_each(|(rate, search)| *rate = if search.at > 0.0 { search.at } else { smallest() });
        marginals(&rates, out);
        all.iter_mut().zip(&*out).filter(|(search, _)| !search.done).for_each(|(search, &value)| search.update(value));
        calls += 1;
    }
    out.iter_mut().zip(all).for_each(|(out, search)| *out = search.at);
}

/// dx/dq at demands x, from how much `marginals` fall there: 0 where a flow demands nothing or is saturated.
pub fn demand_slopes_into(
    mut marginals: impl FnMut(&[f64], &mut [f64]),
    saturation: impl Fn(usize) -> f64,
    prices: &[f64],
    demands: &[f64],
    out: &mut [f64],
) {
    let shifted = |factor: f64| demands.iter().map(|rate| (rate * factor).max(smallest())).collect::<Vec<_>>();
    let mut above = vec![0.0; demands.len()];
    marginals(&shifted(1.0 - STEP), out);
    marginals(&shifted(1.0 + STEP), &mut above);
    for (flow, ((out, above), (&demand, price))) in
        out.iter_mut().zip(above).zip(demands.iter().zip(prices)).enumerate()
    {
        let elasticity = (*out / above).ln() / (2.0 * STEP);
        let held = demand == 0.0 || demand >= saturation(flow) || demand >= LARGEST;
        *out = if held { 0.0 } else { -demand / (price * elasticity.max(LEAST_ELASTICITY)) };
    }
}
