//! Utilities: concave, increasing functions of a flow's rate. `families/` has a file per family, and the list of them.
//!
//! | family | U(x) | U'(x) | demand (U')⁻¹(q) |
//! |---|---|---|---|
//! | [`AlphaFair`] | w^α x^(1−α)/(1−α); α = 1: w log x | (w/x)^α | w q^(−1/α) |
//! | the same by scale s = w^α | s x^(1−α)/(1−α); α = 1: s log x | s x^(−α) | (s/q)^(1/α) |
//! | [`Linear`] | w x | w | all or nothing |
//! | [`MinFct`] | x^(1−ε)/s | (1−ε) x^(−ε)/s | ((1−ε)/(s q))^(1/ε) |
//! | [`BandwidthFunction`] | ∫ F^(−α), F = B⁻¹ | F(x)^(−α) | B(q^(−1/α)) |
//!
//! Source: Nagaraj et al., *NUMFabric*, SIGCOMM 2016, table 1.

mod curve;
mod fair_share;
pub(crate) mod families;
pub mod inverse;
mod laws;
mod parameter;
mod power;
mod spec;
mod tolerances;
mod units;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use fair_share::FairShare;
pub(crate) use families::*;
pub use laws::utility_laws;
pub use parameter::{Parameter, ParameterName};
use spec::Family;
pub use spec::Spec;
pub(crate) use spec::{BREAKPOINTS, columns};
pub(crate) use tolerances::CHUNK;
use tolerances::{FLAT, LARGEST_ELASTICITY, RISE, STEP};
pub(crate) use units::Rescaled;
pub use units::Units;

/// The curvature class of a utility, which decides the methods that support it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Curvature {
    /// Strictly concave up to its saturation: one demand for every price.
    Strict,
    /// Linear: the demand at the price U' is a whole interval, the problem a linear program.
    Linear,
    /// Weighted max-min fairness, the limit α → ∞: a lexicographic order and no number.
    MaxMin,
}

/// The utility of a flow's rate: concave and increasing.
///
/// One object serves one flow or many: `flow` selects the parameters of one of them. Implement `value` and `marginal`
/// and the library works; demands are then found by inverting the marginal ([`inverse`]), unless a formula is given.
/// [`utility_laws`](crate::utility_laws) checks that they are consistent. The `_into` functions take a block of
/// consecutive flows, so that dynamic dispatch costs one call per block; override them where a block can be computed
/// faster.
///
/// The unit of rates is the caller's, the unit of prices is utility per unit of rate.
pub trait Utility: fmt::Debug + Send + Sync {
    /// U(x). May be −∞ at 0.
    fn value(&self, flow: usize, rate: f64) -> f64;

    /// U'(x) ≥ 0, the marginal utility; the left derivative at a breakpoint of U. May be ∞ at 0.
    fn marginal(&self, flow: usize, rate: f64) -> f64;

    /// The rate x ≥ 0 that maximizes U(x) − q x at price q > 0. Not increasing in q.
    fn demand(&self, flow: usize, price: f64) -> f64 {
        let mut demand = [0.0];
        let marginals = |rates: &[f64], out: &mut [f64]| out[0] = self.marginal(flow, rates[0]);
        inverse::demands_into(marginals, |_| self.saturation(flow), &[price], &mut demand);
        demand[0]
    }

    /// dx/dq ≤ 0, the slope of [`demand`](Self::demand) at price q > 0.
    fn demand_slope(&self, flow: usize, price: f64) -> f64 {
        let mut slope = [0.0];
        let marginals = |rates: &[f64], out: &mut [f64]| out[0] = self.marginal(flow, rates[0]);
        let demand = self.demand(flow, price);
        inverse::demand_slopes_into(marginals, |_| self.saturation(flow), &[price], &[demand], &mut slope);
        slope[0]
    }

    /// How many flows it has parameters for; `None` when the same parameters serve any number.
    fn flows(&self) -> Option<usize> {
        None
    }

    /// How it bends.
    fn curvature(&self) -> Curvature {
        Curvature::Strict
    }

    /// The exponent α when the marginal is a power law U'(x) = k x^(−α); `None` for any other.
    fn alpha(&self, _flow: usize) -> Option<f64> {
        None
    }

    /// The least rate from which U' = 0; infinite where there is none.
    fn saturation(&self, _flow: usize) -> f64 {
        f64::INFINITY
    }

    /// The rate that a flow gets at a common fair share, which is what [`max_min`](crate::max_min()) compares; `None`
    /// for utilities that have no such curve.
    fn fair_share(&self, _flow: usize) -> Option<FairShare<'_>> {
        None
    }

    /// U(`to`) − U(`from`), without the cancellation of subtracting two values where the family has a formula. Where it
    /// does not and [`cancels`] says so, the bound U'(`from`) (`to` − `from`), which by concavity is no less.
    fn gain(&self, flow: usize, from: f64, to: f64) -> f64 {
        if from == to {
            return 0.0;
        }
        let (before, after) = (self.value(flow, from), self.value(flow, to));
        if cancels(before, after) { self.marginal(flow, from) * (to - from) } else { after - before }
    }

    /// The derivative of log U'(x) in one of the flow's parameters, for
    /// [`Sensitivity`](crate::sensitivity::Sensitivity); `None` where it has no such parameter.
    fn log_marginal_slope(&self, _flow: usize, _parameter: ParameterName, _rate: f64) -> Option<f64> {
        None
    }

    /// The derivative of U(x) in one of the flow's parameters; `None` where it has no such parameter.
    fn value_slope(&self, _flow: usize, _parameter: ParameterName, _rate: f64) -> Option<f64> {
        None
    }

    /// The rates between 0 and saturation at which U' falls at once, each with by how much: demands that stay the same
    /// while the price changes. In increasing order.
    fn jumps(&self, _flow: usize) -> Vec<(f64, f64)> {
        Vec::new()
    }

    /// [`value`](Self::value) of a block: `out[i]` for flow `flows.start + i` at `rates[i]`.
    fn value_into(&self, flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        for ((flow, &rate), out) in flows.zip(rates).zip(out) {
            *out = self.value(flow, rate);
        }
    }

    /// [`marginal`](Self::marginal) of a block.
    fn marginal_into(&self, flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        for ((flow, &rate), out) in flows.zip(rates).zip(out) {
            *out = self.marginal(flow, rate);
        }
    }

    /// [`demand`](Self::demand) of a block.
    fn demand_into(&self, flows: Range<usize>, prices: &[f64], out: &mut [f64]) {
        for ((flow, &price), out) in flows.zip(prices).zip(out) {
            *out = self.demand(flow, price);
        }
    }

    /// [`demand_slope`](Self::demand_slope) of a block.
    fn demand_slope_into(&self, flows: Range<usize>, prices: &[f64], out: &mut [f64]) {
        for ((flow, &price), out) in flows.zip(prices).zip(out) {
            *out = self.demand_slope(flow, price);
        }
    }

    /// [`gain`](Self::gain) of a block.
    fn gain_into(&self, flows: Range<usize>, from: &[f64], to: &[f64], out: &mut [f64]) {
        for (((flow, &from), &to), out) in flows.zip(from).zip(to).zip(out) {
            *out = self.gain(flow, from, to);
        }
    }

    // What follows puts the families of the library into files and makes them faster. It is not meant to be written for
    // another.

    /// One flow's utility as plain data, for files; `None` for utilities that only exist as code.
    #[doc(hidden)]
    fn spec(&self, _flow: usize) -> Option<Spec> {
        None
    }

    /// The utilities of some flows in other [units](Units), when the family can do better than converting every
    /// argument and answer; that is what happens to utilities that answer `None`.
    #[doc(hidden)]
    fn in_units(&self, _flows: &[u32], _units: Units) -> Option<Box<dyn Utility>> {
        None
    }

    /// The weights w when every flow's utility is w log x, whose response takes one division: price methods then
    /// respond and add up in one pass over the flows.
    #[doc(hidden)]
    fn log_weights(&self) -> Option<&[f64]> {
        None
    }

    /// The weights of a block, `out[i]` of flow `flows.start + i`, and whether the
    /// [fair share](Self::fair_share) of each is its rate per weight; if not, `out` is undefined.
    #[doc(hidden)]
    fn fair_weights_into(&self, flows: Range<usize>, out: &mut [f64]) -> bool {
        flows.zip(out).all(|(flow, out)| match self.fair_share(flow).and_then(|share| share.as_weight()) {
            Some(weight) => {
                *out = weight;
                true
            }
            None => false,
        })
    }

    /// log U'(x) of a block. At 1e10 bit/s and α = 30 a marginal is no longer a number that a float can hold, its
    /// logarithm is.
    #[doc(hidden)]
    fn log_marginal_into(&self, flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        self.marginal_into(flows, rates, out);
        for out in out {
            *out = out.ln();
        }
    }

    /// log U'(x) of flows in any order. Not asked of a utility without [units](Self::in_units).
    #[doc(hidden)]
    fn log_marginal_at(&self, flows: &[u32], rates: &[f64], out: &mut [f64]) {
        for ((&flow, rate), out) in flows.iter().zip(rates.chunks(1)).zip(out.chunks_mut(1)) {
            self.log_marginal_into(flow as usize..flow as usize + 1, rate, out);
        }
    }

    /// −d log U'(x) / d log x of a block, the elasticity of U' at rates > 0: α for α-fair utilities, 0 for linear ones.
    /// By a difference of logarithms, which is right where a demand stays at 0 or a tail is all but flat, too.
    #[doc(hidden)]
    fn elasticity_into(&self, flows: Range<usize>, rates: &[f64], out: &mut [f64]) {
        let shifted = |factor: f64| rates.iter().map(|rate| rate * factor).collect::<Vec<_>>();
        let mut above = vec![0.0; rates.len()];
        self.log_marginal_into(flows.clone(), &shifted(1.0 - STEP), out);
        self.log_marginal_into(flows, &shifted(1.0 + STEP), &mut above);
        for (out, above) in out.iter_mut().zip(above) {
            let fall = *out - above;
            // Where U' is 0 on both sides, it does not fall.
            *out = if fall > 0.0 { (fall / (2.0 * STEP)).min(LARGEST_ELASTICITY) } else { 0.0 };
        }
    }

    /// The answer to a price method: the demand, at most `ceilings[i]`, and a *curvature* −dx/dq > 0 for the
    /// step length. Where the demand is flat the curvature is floored, so that a price can still leave that piece.
    #[doc(hidden)]
    fn respond_into(
        &self,
        flows: Range<usize>,
        prices: &[f64],
        ceilings: &[f64],
        rates: &mut [f64],
        curvatures: &mut [f64],
    ) {
        self.demand_into(flows.clone(), prices, rates);
        self.demand_slope_into(flows, prices, curvatures);
        for (((&price, &ceiling), rate), curvature) in prices.iter().zip(ceilings).zip(rates).zip(curvatures) {
            // min and max would drop a NaN.
            let (demand, steepness) = (*rate, -*curvature);
            *rate = if demand > ceiling { ceiling } else { demand };
            let flat = steepness <= FLAT * *rate / price;
            *curvature = if flat { RISE * ceiling / price } else { steepness };
        }
    }
}

/// The utilities of a problem's flows: one object for all of them, or one for each.
#[derive(Debug, Clone)]
pub enum Utilities {
    /// One object that holds the parameters of every flow.
    Shared(Arc<dyn Utility>),
    /// One object per flow. Those of one kind are merged into one block.
    PerFlow(Vec<Arc<dyn Utility>>),
    /// Plain data, one entry per flow: what JSON has.
    #[doc(hidden)]
    Specs(Vec<Spec>),
}

/// Whether two values of a utility are so near to each other that their difference is rounding for the most part.
pub fn cancels(before: f64, after: f64) -> bool {
    (after - before).abs() <= 1e-12 * before.abs().max(after.abs())
}

impl<U: Utility + 'static> From<U> for Utilities {
    fn from(utility: U) -> Self {
        Self::Shared(Arc::new(utility))
    }
}

impl From<Arc<dyn Utility>> for Utilities {
    fn from(utility: Arc<dyn Utility>) -> Self {
        Self::Shared(utility)
    }
}

impl From<Vec<Arc<dyn Utility>>> for Utilities {
    fn from(utilities: Vec<Arc<dyn Utility>>) -> Self {
        Self::PerFlow(utilities)
    }
}
