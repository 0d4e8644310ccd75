//! The normalizers of the library by name, for settings and files.

use super::{NORMALIZERS, Normalization};
use crate::error::Result;

/// From the kinds of normalizers and their names: [`Normalization`], which is each of them as it is by default.
macro_rules! normalizers {
    ($($kind:ident = $name:literal: $summary:literal,)*) => {
        /// A normalizer of the library, with its default options.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[non_exhaustive]
        pub enum Normalization {
            $(
                #[doc = concat!("[`", stringify!($kind), "`], by the name `", $name, "`.")]
                #[serde(rename = $name)]
                $kind,
            )*
        }

        /// The normalizers of the library by name, the one to use first first.
        #[doc(hidden)]
        pub static NORMALIZERS: &crate::registry::Registry<Normalization> = &crate::registry::Registry::new(
            "normalizer",
            &[$(crate::registry::Entry {
                name: $name,
                summary: $summary,
                options: Vec::new,
                make: Normalization::$kind,
            },)*],
        );

        impl Normalization {
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

pub(super) use normalizers;

impl Normalization {
    /// The normalizer of a name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::Error::UnknownName).
    pub fn by_name(name: &str) -> Result<Self> {
        NORMALIZERS.get(name).map(|entry| entry.make)
    }
}
