//! Natural units: rates and prices near 1, whatever the caller's units are.

use std::ops::Range;
use std::sync::Arc;

use super::{Curvature, Utility};

/// The units that a solve works in: one rate and one price, the price as its logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    /// The rate that counts as 1. A power of two, so that conversion is exact.
    pub rate: f64,
    /// The logarithm of the price that counts as 1.
    pub log_price: f64,
}

impl Units {
    /// The caller's own.
    pub(crate) const NONE: Self = Self { rate: 1.0, log_price: 0.0 };

    /// The price that counts as 1. Under- and overflows where [`log_price`](Self::log_price) does not.
    pub fn price(self) -> f64 {
        self.log_price.exp()
    }
}

/// Some flows of a utility without natural units: every argument and result is converted.
///
/// The inner object is always called with all the flows that it was made for, in its order, because a vectorised
/// user-defined utility may hold arrays over them. The other flows get the argument of the first flow in use.
#[derive(Debug)]
pub(crate) struct Rescaled {
    inner: Arc<dyn Utility>,
    flows: Vec<u32>,
    units: Units,
    /// How many flows the inner object expects in one call.
    total: usize,
}

impl Rescaled {
    pub(crate) fn new(inner: Arc<dyn Utility>, flows: Vec<u32>, total: usize, units: Units) -> Self {
        Self { inner, flows, units, total }
    }

    /// What a function of the inner object answers to a block: arguments and answers, each with their unit.
    fn ask(
        &self,
        function: fn(&(dyn Utility + 'static), Range<usize>, &[f64], &mut [f64]),
        (arguments, unit): (&[f64], f64),
        (out, unit_out): (&mut [f64], f64),
    ) {
        let mut answers = vec![0.0; self.total];
        function(&*self.inner, 0..self.total, &self.spread(arguments, unit), &mut answers);
        self.gather(&answers, unit_out, out);
    }

    fn spread(&self, arguments: &[f64], unit: f64) -> Vec<f64> {
        let mut all = vec![arguments.first().copied().unwrap_or(1.0) * unit; self.total];
        for (&flow, &argument) in self.flows.iter().zip(arguments) {
            all[flow as usize] = argument * unit;
        }
        all
    }

    fn gather(&self, all: &[f64], unit: f64, out: &mut [f64]) {
        for (out, &flow) in out.iter_mut().zip(&self.flows) {
            *out = all[flow as usize] / unit;
        }
    }

    fn flow(&self, flow: usize) -> usize {
        self.flows[flow] as usize
    }
}

impl Utility for Rescaled {
    fn value(&self, flow: usize, rate: f64) -> f64 {
        self.inner.value(self.flow(flow), rate * self.units.rate) / (self.units.rate * self.units.price())
    }
    fn marginal(&self, flow: usize, rate: f64) -> f64 {
        self.inner.marginal(self.flow(flow), rate * self.units.rate) / self.units.price()
    }
    fn flows(&self) -> Option<usize> {
        Some(self.flows.len())
    }
    fn curvature(&self) -> Curvature {
        self.inner.curvature()
    }
    fn jumps(&self, flow: usize) -> Vec<(f64, f64)> {
        let jumps = self.inner.jumps(self.flow(flow)).into_iter();
        jumps.map(|(rate, fall)| (rate / self.units.rate, fall / self.units.price())).collect()
    }
    fn alpha(&self, flow: usize) -> Option<f64> {
        self.inner.alpha(self.flow(flow))
    }
    fn saturation(&self, flow: usize) -> f64 {
        self.inner.saturation(self.flow(flow)) / self.units.rate
    }
    fn marginal_into(&self, _flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        self.ask(<dyn Utility>::marginal_into, (rates, self.units.rate), (out, self.units.price()));
    }
    fn log_marginal_into(&self, _flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        self.ask(<dyn Utility>::log_marginal_into, (rates, self.units.rate), (&mut *out, 1.0));
        out.iter_mut().for_each(|log| *log -= self.units.log_price);
    }
    fn elasticity_into(&self, _flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        self.ask(<dyn Utility>::elasticity_into, (rates, self.units.rate), (out, 1.0));
    }
    fn demand_into(&self, _flows: Range<usize>, prices: &[f64], out: &mut [f64]) {
        self.ask(<dyn Utility>::demand_into, (prices, self.units.price()), (out, self.units.rate));
    }
    fn gain_into(&self, _flows: Range<usize>, from: &[f64], to: &[f64], out: &mut [f64]) {
        let (from, to) = (self.spread(from, self.units.rate), self.spread(to, self.units.rate));
        let mut answers = vec![0.0; self.total];
        self.inner.gain_into(0..self.total, &from, &to, &mut answers);
        self.gather(&answers, self.units.rate * self.units.price(), out);
    }
    fn respond_into(
        &self,
        _flows: Range<usize>,
        prices: &[f64],
        ceilings: &[f64],
        rates: &mut [f64],
        curvatures: &mut [f64],
    ) {
        let (price, rate) = (self.units.price(), self.units.rate);
        let (prices, ceilings) = (self.spread(prices, price), self.spread(ceilings, rate));
        let (mut all_rates, mut all_curvatures) = (vec![0.0; self.total], vec![0.0; self.total]);
        self.inner.respond_into(0..self.total, &prices, &ceilings, &mut all_rates, &mut all_curvatures);
        self.gather(&all_rates, rate, rates);
        self.gather(&all_curvatures, rate / price, curvatures);
    }
}
