//! α-fairness: U(x) = w^α x^(1−α)/(1−α), and w log x for α = 1.
//!
//! α → 0 maximizes throughput (that limit is [`Linear`](super::Linear)), α = 1 is proportional fairness, α = 2
//! minimizes potential delay, α → ∞ is weighted max-min. The weight enters as w^α, so that on one link rates are
//! proportional to the weights for every α. Source: Mo, Walrand, *Fair end-to-end window-based congestion control*, ToN
//! 2000; in this form Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2. Mo and Walrand write s x^(1−α)/(1−α): s = w^α is
//! the scale here.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::numerics::{ln, vectorized};
use crate::registry::OptionInfo;
use crate::utility::power::{Logs, Power, Powers, as_power, laws, map};
use crate::utility::spec::{column, parameter};
use crate::utility::{CHUNK, Curvature, FairShare, Family, Parameter, ParameterName, Spec, Units, Utility};

/// α-fair utilities: w^α x^(1−α)/(1−α) by weight, which is the textbook's s x^(1−α)/(1−α) at the scale s = w^α; w log x
/// for α = 1.
///
/// ```
/// # use netnum_core::{AlphaFair, Utility, Error};
/// let (by_weight, by_scale) = (AlphaFair::new(2.0, 3.0)?, AlphaFair::with_scale(2.0, 9.0)?);
/// assert!((by_weight.marginal(0, 5.0) - 9.0 / 25.0).abs() < 1e-15);
/// assert!((by_scale.marginal(0, 5.0) - 9.0 / 25.0).abs() < 1e-15);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AlphaFair {
    alpha: Parameter,
    weight: Parameter,
    /// The scale s, given in place of the weight.
    scale: Option<Parameter>,
}

const WEIGHT: OptionInfo = parameter("weight", "the weight w > 0");

pub(super) const FAMILY: Family = Family {
    name: "alpha_fair",
    summary: "w^α x^(1−α)/(1−α), or s x^(1−α)/(1−α)",
    options: || {
        let scale = parameter("scale", "the scale s > 0, in place of the weight");
        vec![WEIGHT, scale, parameter("alpha", "the exponent α > 0")]
    },
    make: from_specs,
};

/// α = ∞, for which files have no number.
pub(super) const MAX_MIN: Family =
    Family { name: "max_min", summary: "weighted max-min fairness", options: || vec![WEIGHT], make: from_specs };

/// The condition on the α of one utility object, which bends in one way.
pub(super) const ONE_LIMIT: &str = "all finite or all infinite within one utility";

impl AlphaFair {
    /// α > 0 (∞ for weighted max-min) and weight > 0, each one number or one per flow.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the flow whose α or weight is out of range, or when finite
    /// and infinite α are mixed in one object; [`Error::Length`] when the two disagree on the
    /// number of flows.
    pub fn new(alpha: impl Into<Parameter>, weight: impl Into<Parameter>) -> Result<Self> {
        let (alpha, weight) = (alpha.into(), weight.into());
        alpha.check("alpha", "a number > 0, inf for max-min (use Linear for alpha = 0)", |value| value > 0.0)?;
        weight.check_positive("weight")?;
        Parameter::common_flows("weight", &alpha, &weight)?;
        let infinite = alpha.flows() != Some(0) && alpha.of(0) == f64::INFINITY;
        alpha.check("alpha", ONE_LIMIT, |value| (value == f64::INFINITY) == infinite)?;
        Ok(Self { alpha, weight, scale: None })
    }

    /// α-fairness by the textbook's factor s = w^α > 0: s x^(1−α)/(1−α). α is finite here, since max-min only has
    /// weights; for α = 0 use [`Linear`](super::Linear), whose weight is a scale.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the flow whose α or scale is out of range, or whose weight s^(1/α) is beyond what a
    /// float holds; [`Error::Length`] when the two disagree on the number of flows.
    pub fn with_scale(alpha: impl Into<Parameter>, scale: impl Into<Parameter>) -> Result<Self> {
        let (alpha, scale) = (alpha.into(), scale.into());
        alpha.check("alpha", "a finite number > 0 beside a scale (max-min takes a weight)", |value| {
            value > 0.0 && value.is_finite()
        })?;
        scale.check_positive("scale")?;
        let flows = Parameter::common_flows("scale", &alpha, &scale)?;
        let weight = |flow: usize| {
            let (alpha, value) = (alpha.of(flow), scale.of(flow));
            let weight = if alpha == 1.0 { value } else { (value.ln() / alpha).exp() };
            let expected = "one whose weight, scale**(1/alpha), is between 1e-307 and 1e308";
            match (1e-307..1e308).contains(&weight) || alpha == 1.0 {
                true => Ok(weight),
                false => Err(Error::Parameter { flow, name: "scale", value, expected }),
            }
        };
        let weight = match flows {
            None => Parameter::Same(weight(0)?),
            Some(flows) => Parameter::PerFlow((0..flows).map(weight).collect::<Result<_>>()?),
        };
        Ok(Self { alpha, weight, scale: Some(scale) })
    }

    /// Proportional fairness with weight 1: log x.
    pub fn proportional() -> Self {
        Self { alpha: Parameter::Same(1.0), weight: Parameter::Same(1.0), scale: None }
    }

    /// The exponent α.
    pub fn alpha(&self) -> &Parameter {
        &self.alpha
    }

    /// The weight w; s^(1/α) where a scale was given.
    pub fn weight(&self) -> &Parameter {
        &self.weight
    }

    /// The scale s, where that was given in place of a weight.
    pub fn scale(&self) -> Option<&Parameter> {
        self.scale.as_ref()
    }

    #[inline(always)]
    fn parameters(&self, flow: usize) -> Power {
        let factor = self.scale.as_ref().unwrap_or(&self.weight);
        Power { log_k: factor.of(flow), alpha: self.alpha.of(flow) }
    }

    #[inline(always)]
    fn law(&self, Power { log_k: factor, alpha }: Power) -> Power {
        let log = ln(factor);
        Power { log_k: if self.scale.is_some() { log } else { alpha * log }, alpha }
    }
}

fn from_specs(specs: &[Spec]) -> Result<Arc<dyn Utility>> {
    let alpha = |(flow, spec): (usize, &Spec)| match spec.kind.as_str() {
        "max_min" => Ok(f64::INFINITY),
        _ => spec.get("alpha").ok_or_else(|| spec.lacks(flow, "alpha")),
    };
    let alphas: Vec<f64> = specs.iter().enumerate().map(alpha).collect::<Result<_>>()?;
    if specs.iter().all(|spec| spec.get("scale").is_some() && spec.get("weight").is_none()) && !specs.is_empty() {
        return Ok(Arc::new(AlphaFair::with_scale(alphas, column(specs, "scale")?)?));
    }
    if let Some((flow, value)) = specs.iter().enumerate().find_map(|(flow, spec)| Some((flow, spec.get("scale")?))) {
        return Err(Error::Parameter { flow, name: "scale", value, expected: "a weight or a scale, not both" });
    }
    Ok(Arc::new(AlphaFair::new(alphas, column(specs, "weight")?)?))
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
    fn fair_weights_into(&self, flows: Range<usize>, out: &mut [f64]) -> bool {
        match &self.weight {
            Parameter::Same(weight) => out.fill(*weight),
            Parameter::PerFlow(weights) => out.copy_from_slice(&weights[flows]),
        }
        true
    }
    fn log_marginal_slope(&self, flow: usize, parameter: ParameterName, rate: f64) -> Option<f64> {
        match (parameter, &self.scale) {
            (ParameterName::Weight, None) => Some(self.alpha.of(flow) / self.weight.of(flow)),
            (ParameterName::Scale, Some(scale)) => Some(scale.of(flow).recip()),
            (ParameterName::Alpha, None) => Some(ln(self.weight.of(flow)) - ln(rate)),
            (ParameterName::Alpha, Some(_)) => Some(-ln(rate)),
            _ => None,
        }
    }
    /// NaN in α at α = 1, where U, as a function of α, has a pole.
    fn value_slope(&self, flow: usize, parameter: ParameterName, rate: f64) -> Option<f64> {
        let slope = self.log_marginal_slope(flow, parameter, rate)?;
        let alpha = self.alpha.of(flow);
        Some(match (parameter, alpha == 1.0) {
            (ParameterName::Alpha, true) => f64::NAN,
            (ParameterName::Alpha, false) => self.value(flow, rate) * (slope + 1.0 / (1.0 - alpha)),
            // U is proportional to w^α, or to s.
            _ => self.value(flow, rate) * slope,
        })
    }
    fn spec(&self, flow: usize) -> Option<Spec> {
        let (weight, alpha) = (self.weight.of(flow), self.alpha.of(flow));
        if let Some(scale) = &self.scale {
            return Some(Spec::of_kind("alpha_fair").with("scale", scale.of(flow)).with("alpha", alpha));
        }
        Some(match alpha == f64::INFINITY {
            true => Spec::of_kind("max_min").with("weight", weight),
            false => Spec::of_kind("alpha_fair").with("weight", weight).with("alpha", alpha),
        })
    }
}
