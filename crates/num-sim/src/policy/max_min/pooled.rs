//! Max-min rates of flows that may be split over several paths in any way, weighted where flows have weights.
//!
//! Rates of flows are unique, splits are not. The flows that an event concerns are solved anew by the simplex method of
//! `netnum_core`; others keep rates and splits.

use netnum_core::{AlphaFair, max_min};

use super::super::active::{problem_of, set_rates};
use super::super::touched::Touched;
use super::super::{Event, Rates};
use crate::error::Result;
use crate::network::Flows;

/// Max-min rates over several paths.
#[derive(Debug, Default)]
pub(super) struct Pooled {
    capacities: Vec<f64>,
    touched: Touched,
}

impl Pooled {
    pub(super) fn new(capacities: &[f64], flows: &Flows) -> Self {
        Self { capacities: capacities.to_vec(), touched: Touched::of(flows) }
    }

    pub(super) fn change(&mut self, event: Event, flows: &Flows) {
        if let Event::CapacityChanged { link, capacity } = event {
            self.capacities[link as usize] = capacity;
        }
        self.touched.change(event, flows);
    }

    /// Sets the rates that change.
    ///
    /// # Errors
    /// The core's.
    pub(super) fn update(&mut self, flows: &Flows, rates: &mut Rates) -> Result<()> {
        let slots = self.touched.take(self.capacities.len(), flows);
        if slots.is_empty() {
            return Ok(());
        }
        let weights: Vec<f64> = slots.iter().map(|&slot| flows.weight(slot)).collect();
        let problem = problem_of(&self.capacities, &slots, flows, AlphaFair::new(f64::INFINITY, weights)?.into())?;
        set_rates(&slots, flows, &max_min(&problem)?, rates);
        Ok(())
    }
}
