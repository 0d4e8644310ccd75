//! The families of utilities: a file each, and a line in the list below.

mod alpha_fair;
mod bandwidth_function;
mod linear;
mod min_fct;

use crate::registry::Registry;
use crate::utility::spec::FromSpecs;

pub use alpha_fair::AlphaFair;
pub use bandwidth_function::BandwidthFunction;
pub use linear::Linear;
pub use min_fct::MinFct;

/// The kinds of utilities that a file may name, with their parameters, which are its columns.
#[doc(hidden)]
pub static FAMILIES: &Registry<FromSpecs> = &Registry::new(
    "utility kind",
    &[
        alpha_fair::FAMILY,
        alpha_fair::MAX_MIN,
        linear::FAMILY,
        min_fct::FAMILY,
        bandwidth_function::FAMILY,
        bandwidth_function::MAX_MIN,
    ],
);
