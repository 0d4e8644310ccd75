//! α-fairness: U(x) = w^α x^(1−α)/(1−α), and w log x for α = 1.
//!
//! α → 0 maximizes throughput (that limit is [`Linear`](super::Linear)), α = 1 is proportional fairness, α = 2 minimizes
//! potential delay, α → ∞ is weighted max-min. The weight enters as w^α, so that on one link rates are proportional to
//! the weights for every α. Source: Mo, Walrand, *Fair end-to-end window-based congestion control*, ToN 2000; in this
//! form Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2.

use std::sync::Arc;

use super::elementary::{ln, vectorized};
use super::power::{Power, Powers, as_power, map};
use super::spec::column;
use super::{Curvature, FairShare, Family, Parameter, Spec, Units, Utility};
use crate::error::Result;

/// α-fair utilities: w^α x^(1−α)/(1−α), and w log x for α = 1.
#[derive(Debug, Clone, PartialEq)]
pub struct AlphaFair {
    alpha: Parameter,
    weight: Parameter,
}

pub(super) const FAMILY: Family = Family { kinds: &["alpha_fair", "max_min"], from_specs };

/// What is expected of the α of one utility object: it bends in one way.
pub(super) const ONE_LIMIT: &str = "all finite or all infinite within one utility";

impl AlphaFair {
    /// α > 0 (∞ for weighted max-min) and weight > 0, each one number or one per flow.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) naming the flow whose α or weight is out of range, or when finite
    /// and infinite α are mixed in one object; [`Error::Length`](crate::Error::Length) when the two disagree on the
    /// number of flows.
    pub fn new(alpha: impl Into<Parameter>, weight: impl Into<Parameter>) -> Result<Self> {
        let (alpha, weight) = (alpha.into(), weight.into());
        alpha.check("alpha", "a number > 0, inf for max-min (use Linear for alpha = 0)", |value| value > 0.0)?;
        weight.check_positive("weight")?;
        Parameter::common_flows("weight", &alpha, &weight)?;
        let infinite = alpha.flows() != Some(0) && alpha.of(0) == f64::INFINITY;
        alpha.check("alpha", ONE_LIMIT, |value| (value == f64::INFINITY) == infinite)?;
        Ok(Self { alpha, weight })
    }

    /// Proportional fairness with weight 1: log x.
    pub fn proportional() -> Self {
        Self { alpha: Parameter::Same(1.0), weight: Parameter::Same(1.0) }
    }

    /// The exponent α.
    pub fn alpha(&self) -> &Parameter {
        &self.alpha
    }

    /// The weight w.
    pub fn weight(&self) -> &Parameter {
        &self.weight
    }

    #[inline(always)]
    fn power(&self, flow: usize) -> Power {
        let alpha = self.alpha.of(flow);
        Power { log_k: alpha * ln(self.weight.of(flow)), alpha }
    }
}

fn from_specs(specs: &[Spec]) -> Result<Arc<dyn Utility>> {
    let alpha = |(flow, spec): (usize, &Spec)| match spec.kind.as_str() {
        "max_min" => Ok(f64::INFINITY),
        _ => spec.need(flow, "alpha", &spec.alpha),
    };
    let alphas: Vec<f64> = specs.iter().enumerate().map(alpha).collect::<Result<_>>()?;
    Ok(Arc::new(AlphaFair::new(alphas, column(specs, "weight", |spec| &spec.weight)?)?))
}

impl Utility for AlphaFair {
    as_power!();

    fn flows(&self) -> Option<usize> {
        self.alpha.flows().or(self.weight.flows())
    }
    fn curvature(&self) -> Curvature {
        match self.flows() != Some(0) && self.alpha.of(0) == f64::INFINITY {
            true => Curvature::MaxMin,
            false => Curvature::Strict,
        }
    }
    /// B(f) = w f, whatever α.
    fn fair_share(&self, flow: usize) -> Option<FairShare<'_>> {
        Some(FairShare::weight(self.weight.of(flow)))
    }
    fn spec(&self, flow: usize) -> Option<Spec> {
        let (weight, alpha) = (Some(self.weight.of(flow)), self.alpha.of(flow));
        Some(match alpha == f64::INFINITY {
            true => Spec { weight, ..Spec::of_kind("max_min") },
            false => Spec { weight, alpha: Some(alpha), ..Spec::of_kind("alpha_fair") },
        })
    }
}
