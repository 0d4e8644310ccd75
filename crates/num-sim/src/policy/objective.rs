//! The utilities that policies may be given by an option.

use netnum_core::internal::options;
use netnum_core::{AlphaFair, MinFct, PowerLaw, Utilities};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Result, positive};
use crate::network::Flow;

/// The utility of the rate x of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Objective {
    /// log x.
    #[default]
    Proportional,
    /// x^(1−ε)/size, with the size that a flow arrives with and NUMFabric's ε.
    MinFct,
    /// x^(1−α)/(1−α), for a finite α > 0.
    AlphaFair(f64),
}

impl Objective {
    /// The forms in which one is written.
    const FORMS: &str = r#""proportional", "min-fct" or {"alpha-fair": alpha}"#;

    /// Reads an option, with an error that lists the forms.
    pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        options::read_form(deserializer, Self::FORMS)
    }

    /// Whether its numbers are in their range.
    ///
    /// # Errors
    /// A setting's.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::AlphaFair(alpha) => positive("utility.alpha-fair", alpha),
            Self::Proportional | Self::MinFct => Ok(()),
        }
    }

    /// The utilities of flows, with rates in bit/s.
    ///
    /// # Errors
    /// A parameter's.
    pub(super) fn of(self, flows: &[&Flow]) -> Result<Utilities> {
        Ok(match self {
            Self::Proportional => AlphaFair::proportional().into(),
            Self::AlphaFair(alpha) => AlphaFair::new(alpha, 1.0)?.into(),
            Self::MinFct => {
                let sizes: Vec<f64> = flows.iter().map(|flow| flow.size).collect();
                MinFct::new(sizes, MinFct::EPSILON)?.into()
            }
        })
    }

    /// The utility of a flow in an allocator's form, U'(x) = (w/x)^α, where `unit` is a rate like those of the network:
    /// utilities may all be multiplied by the same number, and near 1 at such a rate they lose no digits.
    pub(super) fn power_law(self, flow: &Flow, unit: f64) -> PowerLaw {
        let weight = match self {
            Self::Proportional | Self::AlphaFair(_) => unit,
            // Sizes in Mbit.
            Self::MinFct => unit * (flow.size / 1e6).powf(-1.0 / MinFct::EPSILON),
        };
        PowerLaw::new(weight, self.alpha())
    }

    /// The α that all flows share.
    pub(super) fn alpha(self) -> f64 {
        match self {
            Self::Proportional => 1.0,
            Self::AlphaFair(alpha) => alpha,
            Self::MinFct => MinFct::EPSILON,
        }
    }
}
