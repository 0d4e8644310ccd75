//! Shortest remaining processing time, as pFabric approaches it: flows are served in the order of what is left of them,
//! each with all that those before it leave of its route.
//!
//! ```text
//! in increasing order of left_f:   x_f = min(cap_f, min_l (c_l − Σ_{g before f} a_gl x_g) / a_fl)
//! ```
//!
//! Between events the order changes where a flow that is served overtakes one that waits; then this policy asks to be
//! asked again. After the swap the one that overtook is served no less than before and the other no more, so that they
//! do not change back. An event costs O(active · (log active + hops)).
//!
//! Source: Alizadeh et al., *pFabric*, SIGCOMM 2013, §3, where it is the ideal that priority queues stand in for.

use netnum_core::Topology;

use super::{Policy, Rates};
use crate::error::Result;
use crate::flows::Flows;
use crate::workload::Workload;

/// Numbers that differ by this part of them are not equal.
const APART: f64 = 4.0 * f64::EPSILON;

/// Strict priority by remaining size.
#[derive(Debug, Clone, Default)]
pub struct Srpt {
    capacities: Vec<f64>,
    /// The active slots with what is left of them.
    order: Vec<(f64, u32)>,
    /// What is left of every link.
    free: Vec<f64>,
}

impl Srpt {
    /// For a network that is still to be named.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Policy for Srpt {
    fn name(&self) -> &str {
        "srpt"
    }

    fn start(&mut self, net: &Topology, _workload: &Workload) -> Result<()> {
        self.capacities = net.capacities().to_vec();
        self.free = net.capacities().to_vec();
        Ok(())
    }

    fn arrive(&mut self, _slot: u32, _flows: &Flows) {}

    fn leave(&mut self, _slot: u32, _flows: &Flows) {}

    fn set_capacity(&mut self, link: usize, capacity: f64) {
        self.capacities[link] = capacity;
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        let Self { capacities, order, free } = self;
        order.clear();
        order.extend(flows.active().iter().map(|&slot| (flows.flow(slot).left(now), slot)));
        // Equal ones in order of arrival.
        order.sort_unstable_by(|one, other| {
            one.0.total_cmp(&other.0).then_with(|| flows.flow(one.1).number.cmp(&flows.flow(other.1).number))
        });
        free.copy_from_slice(capacities);
        let mut next = f64::INFINITY;
        let mut ahead = (0.0, 0.0);
        for &(left, slot) in order.iter() {
            let (flow, route) = (flows.flow(slot), flows.route(slot));
            let rate = route.iter().map(|(link, share)| free[link] / share).fold(flow.cap, f64::min);
            for (link, share) in route.iter() {
                free[link] = f64::max(0.0, free[link] - share * rate);
            }
            if rate != flow.rate {
                rates.set(slot, rate);
            }
            // It overtakes the one ahead of it, and by so much that what is left of the two tells them apart.
            if rate > ahead.1 {
                let way = f64::max(left - ahead.0, APART * left);
                next = f64::min(next, now + way / (rate - ahead.1));
            }
            ahead = (left, rate);
        }
        Ok(f64::max(next, now.next_up()))
    }
}
