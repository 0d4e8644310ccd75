//! F-NORM: x_p ← x_p / max_{l ∈ p} r_l, r_l = load_l / c_l; O(crossings).

use super::{Normalizer, divided, relative_loads};
use crate::paths::Paths;

/// F-NORM: divides every rate by the largest load per capacity on its path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FNorm {
    /// Whether rates may also be raised until the fullest link of their path is full.
    pub raise_rates: bool,
}

impl Normalizer for FNorm {
    fn normalize(&self, capacities: &[f64], paths: &Paths, rates: &mut [f64]) {
        let relative_loads = relative_loads(capacities, paths, rates);
        for (path, rate) in rates.iter_mut().enumerate() {
            *rate = self.divided(*rate, paths.row(path).largest(&relative_loads));
        }
    }
}

impl FNorm {
    /// A rate, its path's largest relative load at hand.
    #[inline(always)]
    pub(crate) fn divided(self, rate: f64, fullest: f64) -> f64 {
        divided(rate, fullest, self.raise_rates)
    }
}
