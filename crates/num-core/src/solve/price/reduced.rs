//! The flows of several processes: each rank's respond, and their sums are added up.
//!
//! ```text
//! [y, H] = Σ_ranks [y, H] of the rank's flows        one reduction of two numbers per link
//! ```
//!
//! Prices, capacities and the rule are the same on all ranks, and so are the sums: every rank moves the same prices.

use std::ops::DerefMut;

use super::respond::Respond;
use crate::error::Result;
use crate::work::Ranks;

/// Flows of this rank, which respond as those of all ranks do.
#[derive(Debug)]
pub struct Reduced<R> {
    flows: R,
    ranks: Ranks,
}

impl<R: Respond> Reduced<R> {
    /// These flows, and those that the other ranks have over the same links.
    pub fn new(flows: R, ranks: Ranks) -> Self {
        Self { flows, ranks }
    }
}

impl<R: Respond> Respond for Reduced<R> {
    fn respond(&mut self, prices: &[f64], priced: Option<&[f64]>, sums: &mut [[f64; 2]]) -> Result<()> {
        self.flows.respond(prices, priced, sums)?;
        self.ranks.sum(sums.as_flattened_mut())
    }

    fn rates_into(&self, rates: &mut [f64]) {
        self.flows.rates_into(rates);
    }

    fn restart(&mut self) -> Result<()> {
        self.flows.restart()
    }

    fn accepted(&mut self) {
        self.flows.accepted();
    }
}

/// Flows behind a pointer.
impl<P: DerefMut<Target: Respond> + Send> Respond for P {
    fn respond(&mut self, prices: &[f64], priced: Option<&[f64]>, sums: &mut [[f64; 2]]) -> Result<()> {
        (**self).respond(prices, priced, sums)
    }

    fn rates_into(&self, rates: &mut [f64]) {
        (**self).rates_into(rates);
    }

    fn restart(&mut self) -> Result<()> {
        (**self).restart()
    }

    fn accepted(&mut self) {
        (**self).accepted();
    }
}
