//! The search for max-min rates as a method. A step is some ten milliseconds of it; after the last one the rates are
//! max-min fair.
//!
//! There are no prices (all stay 0). Before the last step the rates are those at the current fair share t, with flows
//! that were fixed below t at their fixed rates: feasible, and far from optimal. Their gap is by the inequalities found
//! so far, and may be larger than that of [`certify`](crate::certify()), which completes the search.

use std::sync::Arc;

use super::{Method, State};
use crate::error::Result;
use crate::max_min::{Inequality, Search};
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::work::Workers;

/// Elementary operations in a step, at least: some ten milliseconds.
const STEP: usize = 1 << 23;

/// Max-min fair rates.
pub(super) struct MaxMinMethod {
    search: Search,
    is_done: bool,
    /// Whether the rates in the state are those of the search.
    is_written: bool,
}

impl MaxMinMethod {
    /// # Errors
    /// Those of [`max_min`](crate::max_min()).
    pub(super) fn new(problem: &Problem, workers: Arc<dyn Workers>) -> Result<Self> {
        Ok(Self { search: Search::of(problem, workers)?, is_done: false, is_written: true })
    }
}

impl Method for MaxMinMethod {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        (self.is_done, self.is_written) = (false, true);
        state.prices.fill(0.0);
        state.rates.copy_from_slice(problem.equal_shares());
        Ok(f64::MAX)
    }

    fn write_rates(&mut self, problem: &Presolved, state: &mut State) {
        if !self.is_written {
            state.rates = problem.natural_rates(&self.search.rates());
            self.is_written = true;
        }
    }

    fn step(&mut self, _problem: &Presolved, state: &mut State) -> Result<f64> {
        self.is_written = false;
        self.is_done = self.search.advance(STEP.max(8 * state.rates.len()))?;
        // So that it goes on alike, whether rates are read off or not.
        self.search.refresh();
        Ok(if self.is_done { 0.0 } else { f64::MAX })
    }

    fn again(&self, problem: &Problem) -> Result<Option<Box<dyn Method>>> {
        let search = self.search.again(problem)?;
        Ok(search.map(|search| Box::new(Self { search, is_done: false, is_written: false }) as Box<dyn Method>))
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
