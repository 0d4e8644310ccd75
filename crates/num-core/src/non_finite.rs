//! Numbers that may be ∞ or NaN, which JSON cannot write: there they are null.
//!
//! `#[serde(with = "non_finite::infinity")]` reads null as ∞, `#[serde(with = "non_finite::nan")]` as NaN.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

fn write<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    Some(value).filter(|value| value.is_finite()).serialize(serializer)
}

macro_rules! null_is {
    ($name:ident, $value:expr) => {
        pub(crate) mod $name {
            use super::*;

            pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
                write(*value, serializer)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
                Ok(Option::deserialize(deserializer)?.unwrap_or($value))
            }
        }
    };
}

null_is!(infinity, f64::INFINITY);
null_is!(nan, f64::NAN);
