//! Links without a limit: the same problem with capacities that cannot bind, for methods that count on finite ones.
//!
//! Every path has a finite bound, its *limit*: the smallest c_l/a_lp along it, its cap, or what its flow can use. So no
//! link carries more than the sum R of all finite capacities and of the limits of paths that cross none of these (with
//! coefficients, of the limits of all paths, times a_lp), and a link of capacity 2 R is as good as one without any: it
//! never fills, and its price is 0.

use std::borrow::Cow;
use std::sync::Arc;

use super::Problem;
use crate::error::{Error, Result};
use crate::interrupt::Pacer;
use crate::utility::{Curvature, Utility};
use crate::work::Ranks;

/// Whether no rate of a flow is worth anything, given its place in its utility.
pub(crate) fn is_worthless(utility: &dyn Utility, flow: usize) -> bool {
    utility.curvature() == Curvature::Linear && utility.marginal(flow, 0.0) == 0.0
}

impl Problem {
    /// Checks that every flow is limited: by a link of finite capacity on each of its open paths, by a cap, or by the
    /// saturation of its utility; and that it is worth something, or has a floor or a cap. O(links + flows), and
    /// O(crossings) where some link has no limit.
    ///
    /// # Errors
    /// [`Error::Unlimited`] and [`Error::Worthless`] naming the first flow that is not; [`Error::Stopped`].
    pub fn check_limits(&self) -> Result<()> {
        self.check_worth()?;
        self.limited(&Ranks::alone()).map(drop)
    }

    /// # Errors
    /// [`Error::Worthless`].
    pub(crate) fn check_worth(&self) -> Result<()> {
        for block in self.blocks().iter().filter(|block| block.utility.curvature() == Curvature::Linear) {
            let is_worthless = |(place, &flow): (usize, &u32)| {
                let flow = flow as usize;
                is_worthless(&*block.utility, place)
                    && self.flow_floor(flow) == 0.0
                    && self.flow_cap(flow) == f64::INFINITY
            };
            if let Some(place) = block.flows.iter().enumerate().position(is_worthless) {
                return Err(Error::Worthless { flow: block.flows[place] as usize });
            }
        }
        Ok(())
    }

    /// This problem with a finite capacity for every link, on all ranks the same: itself where all are.
    ///
    /// # Errors
    /// Those of [`check_limits`](Self::check_limits), and those of the ranks.
    pub(crate) fn limited(&self, ranks: &Ranks) -> Result<Cow<'_, Self>> {
        if self.capacities.iter().all(|capacity| capacity.is_finite()) {
            return Ok(Cow::Borrowed(self));
        }
        let mut others = [self.limits_without_links()?];
        ranks.sum(&mut others)?;
        let all = others[0] + self.capacities.iter().filter(|capacity| capacity.is_finite()).sum::<f64>();
        // Any will do where nothing is to be carried.
        let room = if all > 0.0 { (2.0 * all).min(f64::MAX) } else { 1.0 };
        let finite = self.capacities.iter().map(|&capacity| if capacity.is_finite() { capacity } else { room });
        Ok(Cow::Owned(Self { capacities: Arc::new(finite.collect()), ..self.clone() }))
    }

    /// The sum of the limits of the open paths that cross no link of finite capacity; with coefficients of all paths
    /// that cross one without a limit, times the largest coefficient there.
    fn limits_without_links(&self) -> Result<f64> {
        let (mut sum, mut pacer) = (0.0, Pacer::new());
        let are_ones = self.paths.coefficients().is_none();
        for path in 0..self.paths.len() {
            let row = self.paths.row(path);
            pacer.did(row.links().len())?;
            let narrowest = row.narrowest(&self.capacities);
            if are_ones && narrowest.is_finite() {
                continue;
            }
            let flow = self.group[path] as usize;
            let (utility, place) = self.utility(flow);
            // A floor is kept beyond the saturation, and is all that a flow has which is worth nothing.
            let saturation = if is_worthless(utility, place) { 0.0 } else { utility.saturation(place) };
            let most = saturation.max(self.flow_floor(flow));
            let limit = self.limit(path).min(most).min(narrowest);
            if limit == f64::INFINITY {
                return Err(Error::Unlimited { flow });
            }
            let unlimited = row.entries().filter(|&(link, _)| self.capacities[link as usize] == f64::INFINITY);
            sum += limit.max(0.0) * unlimited.map(|(_, a)| a).fold(0.0, f64::max);
        }
        Ok(sum)
    }
}
