//! Throughput: U(x) = w x, the limit α → 0 of α-fairness and a linear program.
//!
//! A family of its own, because w^α = 1 for every weight w at α = 0.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::utility::spec::{column, parameter};
use crate::utility::{Curvature, Family, Parameter, Spec, Units, Utility};

/// Linear utilities: w x.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    weight: Parameter,
}

pub(super) const FAMILY: Family = Family {
    name: "linear",
    summary: "w x",
    options: || vec![parameter("weight", "the weight w >= 0")],
    make: from_specs,
};

impl Linear {
    /// Weight ≥ 0, one number or one per flow; 0 for flows that have a floor or a cap, which are then routed at the
    /// least cost. Beside flows that are worth something such a flow has its floor, and no more.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) naming the flow whose weight is out of range.
    pub fn new(weight: impl Into<Parameter>) -> Result<Self> {
        let weight = weight.into();
        weight.check("weight", "a finite number >= 0", |weight| weight >= 0.0 && weight.is_finite())?;
        Ok(Self { weight })
    }

    /// The weight w.
    pub fn weight(&self) -> &Parameter {
        &self.weight
    }
}

fn from_specs(specs: &[Spec]) -> Result<Arc<dyn Utility>> {
    Ok(Arc::new(Linear::new(column(specs, "weight")?)?))
}

impl Utility for Linear {
    fn value(&self, flow: usize, rate: f64) -> f64 {
        self.weight.of(flow) * rate
    }
    fn marginal(&self, flow: usize, _rate: f64) -> f64 {
        self.weight.of(flow)
    }
    /// Everything below the price w, nothing from it on.
    fn demand(&self, flow: usize, price: f64) -> f64 {
        if price < self.weight.of(flow) { f64::INFINITY } else { 0.0 }
    }
    fn demand_slope(&self, _flow: usize, _price: f64) -> f64 {
        0.0
    }
    fn saturation(&self, flow: usize) -> f64 {
        if self.weight.of(flow) > 0.0 { f64::INFINITY } else { 0.0 }
    }
    fn gain(&self, flow: usize, from: f64, to: f64) -> f64 {
        self.weight.of(flow) * (to - from)
    }
    fn elasticity_into(&self, _flows: Range<usize>, _rates: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
    fn flows(&self) -> Option<usize> {
        self.weight.flows()
    }
    fn curvature(&self) -> Curvature {
        Curvature::Linear
    }
    fn in_units(&self, flows: &[u32], units: Units) -> Option<Box<dyn Utility>> {
        let weights = flows.iter().map(|&flow| (self.weight.of(flow as usize).ln() - units.log_price).min(600.0).exp());
        Some(Box::new(Self { weight: Parameter::PerFlow(weights.collect()) }))
    }
    fn spec(&self, flow: usize) -> Option<Spec> {
        Some(Spec::of_kind("linear").with("weight", self.weight.of(flow)))
    }
}
