//! Links without a limit: for a run they have a capacity that cannot bind, so that policies and routings count on
//! finite ones.
//!
//! Every flow crosses a link of finite capacity or has an application that produces at some rate. So no link carries
//! more than the sum R of all finite capacities, at any time of the run, and of these rates: 2 R is as good as no
//! limit.

use std::borrow::Cow;

use netnum_core::Topology;

use super::settings::CapacityChange;
use crate::error::Result;
use crate::workload::Workload;

/// The network and the changes of a run, with finite capacities.
pub(super) struct Limits<'a> {
    pub(super) net: Cow<'a, Topology>,
    pub(super) changes: Cow<'a, [CapacityChange]>,
    /// The capacity that stands for none; ∞ where every link has a limit.
    pub(super) none: f64,
}

impl<'a> Limits<'a> {
    pub(super) fn of(net: &'a Topology, changes: &'a [CapacityChange], workload: &Workload) -> Result<Self> {
        let later = changes.iter().map(|change| change.capacity);
        let all = net.capacities().iter().copied().chain(later);
        if all.clone().all(f64::is_finite) {
            return Ok(Self { net: Cow::Borrowed(net), changes: Cow::Borrowed(changes), none: f64::INFINITY });
        }
        let rates = workload.production().map_or(0.0, |production| production.rates().iter().sum());
        let sum = all.filter(|capacity| capacity.is_finite()).sum::<f64>() + rates;
        let none = if sum > 0.0 { (2.0 * sum).min(f64::MAX) } else { 1.0 };
        let finite = |capacity: f64| if capacity.is_finite() { capacity } else { none };
        let capacities = net.capacities().iter().map(|&capacity| finite(capacity)).collect();
        let change = |&change: &CapacityChange| CapacityChange { capacity: finite(change.capacity), ..change };
        Ok(Self {
            net: Cow::Owned(net.clone().with_capacities(capacities)?),
            changes: changes.iter().map(change).collect(),
            none,
        })
    }
}
