//! Short completion times: U(x) = x^(1−ε)/s, so that the flow with the smallest s is served almost exclusively.
//!
//! With s the flow's size this approximates shortest job first, with its remaining size SRPT, with its deadline
//! earliest deadline first. Source: Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §2, with ε = 0.125. On one link rates
//! are proportional to s^(−1/ε): a factor of 2 in size is a factor of 256 in rate.

use std::sync::Arc;

use crate::error::Result;
use crate::numerics::{ln, vectorized};
use crate::utility::power::{Logs, Power, Powers, as_power, laws, map};
use crate::utility::spec::{column, parameter};
use crate::utility::{CHUNK, Family, Parameter, ParameterName, Spec, Units, Utility};

/// Utilities that minimize completion times: x^(1−ε)/s.
#[derive(Debug, Clone, PartialEq)]
pub struct MinFct {
    size: Parameter,
    epsilon: Parameter,
}

pub(super) const FAMILY: Family = Family {
    name: "fct",
    summary: "x^(1−ε)/s",
    options: || vec![parameter("size", "the size s > 0"), parameter("eps", "the exponent ε, between 0 and 1")],
    make: from_specs,
};

impl MinFct {
    /// The ε of the paper's experiments.
    pub const EPSILON: f64 = 0.125;

    /// Size > 0 (any unit) and 0 < ε < 1, each one number or one per flow.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) naming the flow whose size or ε is out of range,
    /// [`Error::Length`](crate::Error::Length) when the two disagree on the number of flows.
    pub fn new(size: impl Into<Parameter>, epsilon: impl Into<Parameter>) -> Result<Self> {
        let (size, epsilon) = (size.into(), epsilon.into());
        size.check_positive("size")?;
        epsilon.check("epsilon", "a number between 0 and 1, both excluded", |value| value > 0.0 && value < 1.0)?;
        Parameter::common_flows("epsilon", &size, &epsilon)?;
        Ok(Self { size, epsilon })
    }

    /// The size s.
    pub fn size(&self) -> &Parameter {
        &self.size
    }

    /// The exponent ε.
    pub fn epsilon(&self) -> &Parameter {
        &self.epsilon
    }

    #[inline(always)]
    fn parameters(&self, flow: usize) -> Power {
        Power { log_k: self.size.of(flow), alpha: self.epsilon.of(flow) }
    }

    #[inline(always)]
    fn law(&self, Power { log_k: size, alpha: epsilon }: Power) -> Power {
        Power { log_k: ln(1.0 - epsilon) - ln(size), alpha: epsilon }
    }
}

fn from_specs(specs: &[Spec]) -> Result<Arc<dyn Utility>> {
    let (size, epsilon) = (column(specs, "size")?, column(specs, "eps")?);
    Ok(Arc::new(MinFct::new(size, epsilon)?))
}

impl Utility for MinFct {
    as_power!();

    fn flows(&self) -> Option<usize> {
        self.size.flows().or(self.epsilon.flows())
    }
    fn log_marginal_slope(&self, flow: usize, parameter: ParameterName, rate: f64) -> Option<f64> {
        match parameter {
            ParameterName::Size => Some(-self.size.of(flow).recip()),
            // log U' is log(1−ε) − log s − ε log x.
            ParameterName::Epsilon => Some(-(1.0 - self.epsilon.of(flow)).recip() - ln(rate)),
            _ => None,
        }
    }
    /// U is x^(1−ε)/s.
    fn value_slope(&self, flow: usize, parameter: ParameterName, rate: f64) -> Option<f64> {
        match parameter {
            ParameterName::Size => Some(-self.value(flow, rate) / self.size.of(flow)),
            ParameterName::Epsilon => Some(-ln(rate) * self.value(flow, rate)),
            _ => None,
        }
    }
    fn spec(&self, flow: usize) -> Option<Spec> {
        Some(Spec::of_kind("fct").with("size", self.size.of(flow)).with("eps", self.epsilon.of(flow)))
    }
}
