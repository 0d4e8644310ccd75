//! The normalizers of the library by name, for settings and files.

use serde::{Deserialize, Serialize};

use super::{FNorm, Fill, Normalizer, UNorm};
use crate::error::{Error, Result, did_you_mean};
use crate::paths::Paths;
use crate::problem::Problem;

/// From the kinds of normalizers and their names: [`Normalization`], which is each of them as it is by default.
macro_rules! normalizers {
    ($($kind:ident = $name:literal,)*) => {
        /// A normalizer of the library, with its default options.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Normalization {
            $(
                #[doc = concat!("[`", stringify!($kind), "`], by the name `", $name, "`.")]
                #[serde(rename = $name)]
                $kind,
            )*
        }

        impl Normalization {
            /// All of them, the one to use first.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }

        impl Normalizer for Normalization {
            fn normalize(&self, capacities: &[f64], paths: &Paths, rates: &mut [f64]) {
                match self {
                    $(Self::$kind => $kind::default().normalize(capacities, paths, rates),)*
                }
            }

            fn normalize_capped(&self, capacities: &[f64], paths: &Paths, caps: &[f64], rates: &mut [f64]) {
                match self {
                    $(Self::$kind => $kind::default().normalize_capped(capacities, paths, caps, rates),)*
                }
            }

            fn normalize_problem(&self, problem: &Problem, rates: &mut [f64]) {
                match self {
                    $(Self::$kind => $kind::default().normalize_problem(problem, rates),)*
                }
            }
        }
    };
}

normalizers! {
    FNorm = "f-norm",
    UNorm = "u-norm",
    Fill = "fill",
}

impl Normalization {
    /// The normalizer of a name.
    ///
    /// # Errors
    /// [`Error::Setting`] that lists the names, with the nearest of them, if there is none.
    pub fn by_name(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().copied().find(|kind| kind.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            let expected = format!("{} or None{}", quoted.join(", "), did_you_mean(name, &names));
            Error::Setting { name: "normalizer".into(), value: format!("{name:?}"), expected }
        })
    }
}
