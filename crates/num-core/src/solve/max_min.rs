//! The search for max-min rates as a method: a step is some milliseconds of it, and when it is done the rates are
//! max-min fair.
//!
//! There are no prices (all stay 0). Until it is done the rates are those of a fair share that has been reached, with
//! what has stopped before it left where it is: feasible, and far from proven. The gap is then what the reasons found
//! so far prove, and may be larger than that of [`certify`](crate::certify()), which completes the search.

use super::{Method, State};
use crate::error::Result;
use crate::max_min::{Inequality, Search};
use crate::presolve::Presolved;
use crate::problem::Problem;

/// Elementary operations in a step: some ten milliseconds.
const STEP: usize = 1 << 23;
/// The same, per path, that reading the rates off costs.
const READ: usize = 8;

/// Max-min fair rates.
pub(super) struct MaxMinMethod {
    search: Search,
    /// Whether the rates in the state are those that the search has come to.
    is_done: bool,
    /// Operations since the rates in the state were read off.
    since: usize,
}

impl MaxMinMethod {
    /// # Errors
    /// Those of [`max_min`](crate::max_min()).
    pub(super) fn new(problem: &Problem) -> Result<Self> {
        Ok(Self { search: Search::new(problem)?, is_done: false, since: 0 })
    }
}

impl Method for MaxMinMethod {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.is_done = false;
        state.prices.fill(0.0);
        state.rates.copy_from_slice(&problem.equal_shares);
        Ok(f64::MAX)
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.is_done = self.search.advance(STEP)?;
        self.since += STEP;
        if self.is_done || self.since >= READ * state.rates.len() {
            self.since = 0;
            state.rates = problem.natural_rates(&self.search.rates());
        }
        Ok(if self.is_done { 0.0 } else { f64::MAX })
    }

    fn witness(&self) -> &[Inequality] {
        self.search.witness()
    }

    fn is_expensive(&self) -> bool {
        true
    }

    fn has_stalled(&self) -> bool {
        self.is_done
    }
}
