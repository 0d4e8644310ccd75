//! U-NORM: x_p ← x_p / max_l r_l, r_l = load_l / c_l; O(crossings).

use super::{Normalizer, divided, relative_loads};
use crate::paths::Paths;

/// U-NORM: divides every rate by the largest load per capacity of the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UNorm {
    /// Whether rates may also be raised until the fullest link is full.
    pub raise_rates: bool,
}

impl Normalizer for UNorm {
    fn normalize(&self, capacities: &[f64], paths: &Paths, rates: &mut [f64]) {
        let fullest = relative_loads(capacities, paths, rates).into_iter().fold(0.0, f64::max);
        for rate in rates {
            *rate = divided(*rate, fullest, self.raise_rates);
        }
    }
}
