//! Bandwidth functions: a drawn curve B(f) says what rate a flow gets at the fair share f.
//!
//! U(x) = ∫ F(τ)^(−α) dτ with F = B⁻¹, so U'(x) = F(x)^(−α) and the demand at price q is B(q^(−1/α)): all flows of one
//! bottleneck see the same fair share f = q^(−1/α). A large α makes the sum over several links approach the max-min
//! over fair shares that operators draw the curves for, and α = ∞ is that max-min itself. Sources: Kumar et al.,
//! *BwE*, SIGCOMM 2015, for the curves; Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2, for the utility, with α ≈ 5.
//!
//! ```text
//!  B │        ┌── tail_slope from here (0: more is worth nothing)
//!    │     ┌──●
//!    │    ╱        a flat piece of B is a jump of U'
//!    │●──●
//!    └────────── f
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::alpha_fair::ONE_LIMIT;
use crate::error::{Error, Result};
use crate::registry::OptionInfo;
use crate::utility::curve::Curve;
use crate::utility::spec::{BREAKPOINTS, parameter};
use crate::utility::tolerances::CURVE_RISE;
use crate::utility::{Curvature, FairShare, Family, Spec, Units, Utility};

/// Utilities drawn as piecewise-linear curves of bandwidth over fair share.
#[derive(Debug, Clone, PartialEq)]
pub struct BandwidthFunction {
    /// One curve for every flow, or a single one that serves all.
    curves: Vec<Curve>,
    shared: bool,
}

pub(super) const FAMILY: Family = Family {
    name: "bandwidth_function",
    summary: "∫ F^(−α), F = B⁻¹",
    options: || {
        let [points, tail_slope] = CURVE;
        vec![parameter("alpha", "the exponent α > 0"), points, tail_slope]
    },
    make: from_specs,
};

/// α = ∞, for which files have no number.
pub(super) const MAX_MIN: Family = Family {
    name: "max_min_bandwidth_function",
    summary: "max-min fairness over fair shares",
    options: || CURVE.into(),
    make: from_specs,
};

const CURVE: [OptionInfo; 2] = [
    parameter(BREAKPOINTS, "the points (fair share, bandwidth) of B"),
    parameter("tail_slope", "the slope of B after the last point, 0 unless given"),
];

impl BandwidthFunction {
    /// The α that NUMFabric uses.
    pub const ALPHA: f64 = 5.0;

    /// One curve for every flow, through the points (`fair_share[i]`, `bandwidth[i]`).
    ///
    /// Fair shares must increase from 0 or more; bandwidths must not decrease, start at 0 and rise somewhere (or the
    /// tail must). After the last point the curve goes on with `tail_slope` ≥ 0; with 0 the flow is saturated there.
    /// α = ∞ is max-min fairness over fair shares.
    ///
    /// # Errors
    /// [`Error::BandwidthFunction`] naming the point, [`Error::Parameter`] for α, [`Error::Length`] when the two lists
    /// differ in length.
    pub fn new(fair_share: &[f64], bandwidth: &[f64], alpha: f64, tail_slope: f64) -> Result<Self> {
        Ok(Self { curves: vec![Curve::new(0, fair_share, bandwidth, alpha, tail_slope)?], shared: true })
    }

    /// Bandwidth B at a fair share, for one flow.
    pub fn bandwidth(&self, flow: usize, fair_share: f64) -> f64 {
        self.curve(flow).bandwidth(fair_share)
    }

    /// The exponent α of a flow; ∞ for max-min.
    pub fn exponent(&self, flow: usize) -> f64 {
        self.curve(flow).alpha
    }

    fn curve(&self, flow: usize) -> &Curve {
        &self.curves[if self.shared { 0 } else { flow }]
    }
}

fn from_specs(specs: &[Spec]) -> Result<Arc<dyn Utility>> {
    let curve = |(flow, spec): (usize, &Spec)| {
        let points = spec.breakpoints().ok_or_else(|| spec.lacks(flow, BREAKPOINTS))?;
        let (fair_share, bandwidth): (Vec<_>, Vec<_>) = points.iter().map(|point| (point[0], point[1])).unzip();
        let alpha = spec.exponent().ok_or_else(|| spec.lacks(flow, "alpha"))?;
        let tail_slope = spec.get("tail_slope").unwrap_or(0.0);
        Curve::new(flow, &fair_share, &bandwidth, alpha, tail_slope)
    };
    let curves: Vec<Curve> = specs.iter().enumerate().map(curve).collect::<Result<_>>()?;
    let mixed = |curve: &Curve| (curve.alpha == f64::INFINITY) != (curves[0].alpha == f64::INFINITY);
    if let Some(flow) = curves.iter().position(mixed) {
        return Err(Error::Parameter { flow, name: "alpha", value: curves[flow].alpha, expected: ONE_LIMIT });
    }
    Ok(Arc::new(BandwidthFunction { curves, shared: false }))
}

impl Utility for BandwidthFunction {
    /// ∫ F^(−α) from the last point's bandwidth to the rate: 0 there, negative below.
    fn value(&self, flow: usize, rate: f64) -> f64 {
        let curve = self.curve(flow);
        curve.gain(curve.last_bandwidth(), rate)
    }
    fn marginal(&self, flow: usize, rate: f64) -> f64 {
        self.curve(flow).marginal(rate)
    }
    fn demand(&self, flow: usize, price: f64) -> f64 {
        let curve = self.curve(flow);
        curve.bandwidth(curve.share().demand(price))
    }
    fn demand_slope(&self, flow: usize, price: f64) -> f64 {
        let curve = self.curve(flow);
        let fair_share = curve.share().demand(price);
        -curve.at(fair_share).1 * fair_share / (curve.alpha * price)
    }
    fn gain(&self, flow: usize, from: f64, to: f64) -> f64 {
        self.curve(flow).gain(from, to)
    }
    fn flows(&self) -> Option<usize> {
        if self.shared { None } else { Some(self.curves.len()) }
    }
    fn curvature(&self) -> Curvature {
        match self.curves.first().is_some_and(|curve| curve.alpha == f64::INFINITY) {
            true => Curvature::MaxMin,
            false => Curvature::Strict,
        }
    }
    fn saturation(&self, flow: usize) -> f64 {
        self.curve(flow).saturation()
    }
    fn fair_share(&self, flow: usize) -> Option<FairShare<'_>> {
        Some(FairShare::curve(self.curve(flow)))
    }
    fn spec(&self, flow: usize) -> Option<Spec> {
        let curve = self.curve(flow);
        let points = curve.fair_share.iter().zip(&curve.bandwidth).map(|(&f, &b)| [f, b]).collect();
        let spec = match curve.alpha == f64::INFINITY {
            true => Spec::of_kind(MAX_MIN.name),
            false => Spec::of_kind(FAMILY.name).with("alpha", curve.alpha),
        };
        Some(spec.with_breakpoints(points).with("tail_slope", curve.slope[curve.slope.len() - 1]))
    }
    fn in_units(&self, flows: &[u32], units: Units) -> Option<Box<dyn Utility>> {
        let curves = flows.iter().map(|&flow| self.curve(flow as usize).in_units(units)).collect();
        Some(Box::new(Self { curves, shared: false }))
    }
    fn jumps(&self, flow: usize) -> Vec<(f64, f64)> {
        let curve = self.curve(flow);
        let fall = |rate: f64| curve.marginal(rate) - curve.share().marginal(curve.fair_share_after(rate));
        let inner = (1..curve.slope.len() - 1).filter(|&i| curve.slope[i] == 0.0 && curve.slope[i - 1] > 0.0);
        let rates = inner.map(|i| curve.bandwidth[i]).filter(|&rate| rate < curve.saturation());
        rates.map(|rate| (rate, fall(rate))).collect()
    }
    fn elasticity_into(&self, flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        for ((flow, &rate), out) in flows.zip(rates).zip(out) {
            let curve = self.curve(flow);
            *out = curve.alpha * rate / (curve.slope[curve.rising(rate)] * curve.fair_share(rate));
        }
    }
    fn log_marginal_into(&self, flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        for ((flow, &rate), out) in flows.zip(rates).zip(out) {
            *out = self.curve(flow).log_marginal(rate);
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
        let inputs = flows.zip(prices).zip(ceilings);
        for (((flow, &price), &ceiling), (rate, curvature)) in inputs.zip(rates.iter_mut().zip(curvatures)) {
            let curve = self.curve(flow);
            let fair_share = curve.share().demand(price);
            let (bandwidth, slope) = curve.at(fair_share);
            *rate = bandwidth.min(ceiling);
            *curvature = (slope * fair_share).max(CURVE_RISE * ceiling) / (curve.alpha * price);
        }
    }
}
