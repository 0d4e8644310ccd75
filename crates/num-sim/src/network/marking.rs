//! How congested links mark what goes over them, and the marks of a flow.
//!
//! Source of the fraction under DCTCP: Alizadeh et al., *Analysis of DCTCP*, SIGMETRICS 2011, §3: n synchronized
//! windows mark √(2n/W) of their packets.

use netnum_core::OptionValue;
use netnum_core::internal::options;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Error, Result};

/// How links mark what goes over them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Marking {
    /// Congested links mark everything.
    Saturated,
    /// Congested links mark what DCTCP's control does: √(2n/W), n the flows on the link and W = (C·RTT + K)/1500 bytes
    /// what it holds.
    Dctcp {
        /// The round-trip time, in seconds.
        rtt: f64,
        /// The marking threshold of the queue, K, in bytes.
        threshold: f64,
    },
    /// A switch's links mark everything from this utilization on.
    Utilization(f64),
}

impl Marking {
    /// The forms in which one is written.
    const FORMS: &str = r#""saturated", {"dctcp": {"rtt": seconds, "threshold": bytes}} or {"utilization": part}"#;

    /// The option `marking` of a routing: a name, or an object with a name and its numbers.
    ///
    /// # Errors
    /// [`netnum_core::Error::Option`] for another form, or a number out of its range.
    pub fn from_option(routing: &str, value: &OptionValue) -> Result<Self> {
        let wrong = |_| Error::option(&format!("routing {routing:?}"), "marking", value, Self::FORMS);
        let marking = Self::deserialize(options::json(value)).map_err(wrong)?;
        marking.check(routing).map(|()| marking)
    }

    /// Reads an option, with an error that lists the forms.
    pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        options::read_form(deserializer, Self::FORMS)
    }

    pub(crate) fn check(&self, routing: &str) -> Result<()> {
        let wrong = |option: &str, value: f64, expected: &str| {
            Err(Error::option(&format!("routing {routing:?}"), option, value, expected))
        };
        let not_negative = |option, value: f64| match value >= 0.0 && value.is_finite() {
            true => Ok(()),
            false => wrong(option, value, "a finite number >= 0"),
        };
        match *self {
            Self::Saturated => Ok(()),
            Self::Dctcp { rtt, threshold } => {
                not_negative("marking.dctcp.rtt", rtt).and(not_negative("marking.dctcp.threshold", threshold))
            }
            Self::Utilization(from) if from > 0.0 && from <= 1.0 => Ok(()),
            Self::Utilization(from) => wrong("marking.utilization", from, "a number > 0 and <= 1"),
        }
    }
}

/// What a flow has sent in a period of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Marks {
    /// Bits sent.
    pub sent: f64,
    /// The bits of them that were marked.
    pub marked: f64,
}

impl Marks {
    /// The fraction that was marked; 0 if nothing was sent.
    pub fn fraction(&self) -> f64 {
        if self.sent > 0.0 { self.marked / self.sent } else { 0.0 }
    }
}
