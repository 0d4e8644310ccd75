//! The utilities that policies may be given by an option.

use netnum_core::internal::options;
use netnum_core::{AlphaFair, MinFct, PowerLaw, Utilities};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Error, Result, positive};
use crate::network::Flows;
use crate::workload::Workload;

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

    /// Refuses workloads whose flows, from the first one on, have no such utility.
    ///
    /// # Errors
    /// [`Error::Policy`] naming the first flow that never ends.
    pub(super) fn check_flows(self, policy: &str, workload: &Workload, first: usize) -> Result<()> {
        match self {
            Self::MinFct => refuse_endless(policy, workload, first),
            Self::Proportional | Self::AlphaFair(_) => Ok(()),
        }
    }

    /// Whether the weights of flows are those of its utilities.
    pub(super) fn takes_weights(self) -> bool {
        match self {
            Self::Proportional | Self::AlphaFair(_) => true,
            Self::MinFct => false,
        }
    }

    /// The utilities of the flows in some slots, with rates in bit/s.
    ///
    /// # Errors
    /// A parameter's.
    pub(super) fn of(self, slots: &[u32], flows: &Flows) -> Result<Utilities> {
        let alpha_fair = |alpha: f64| -> Result<Utilities> {
            Ok(match flows.have_weights() {
                true => AlphaFair::new(alpha, slots.iter().map(|&slot| flows.weight(slot)).collect::<Vec<_>>())?.into(),
                false => AlphaFair::new(alpha, 1.0)?.into(),
            })
        };
        match self {
            Self::Proportional => alpha_fair(1.0),
            Self::AlphaFair(alpha) => alpha_fair(alpha),
            Self::MinFct => {
                let sizes: Vec<f64> = slots.iter().map(|&slot| flows.flow(slot).size).collect();
                Ok(MinFct::new(sizes, MinFct::EPSILON)?.into())
            }
        }
    }

    /// The utility of a flow in an allocator's form, U'(x) = (w/x)^α, where `unit` is a rate like those of the network:
    /// utilities may all be multiplied by the same number, and near 1 at such a rate they lose no digits.
    pub(super) fn power_law(self, slot: u32, flows: &Flows, unit: f64) -> PowerLaw {
        let weight = match self {
            Self::Proportional | Self::AlphaFair(_) => unit * flows.weight(slot),
            // Sizes in Mbit.
            Self::MinFct => unit * (flows.flow(slot).size / 1e6).powf(-1.0 / MinFct::EPSILON),
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

/// Refuses flows from the first one on that never end, for a policy that values the time that a flow takes.
///
/// # Errors
/// [`Error::Policy`] naming the first of them.
pub(super) fn refuse_endless(policy: &str, workload: &Workload, first: usize) -> Result<()> {
    match workload.first_endless(first) {
        Some(flow) => {
            let size = workload.sizes()[flow];
            let what = format!("cannot take flow {flow} of size {size}, which never ends: it values short times");
            Err(Error::Policy { policy: policy.into(), what })
        }
        None => Ok(()),
    }
}
