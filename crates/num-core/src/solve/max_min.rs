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
    /// Whether the rates in the state are those of the finished search.
    is_done: bool,
}

impl MaxMinMethod {
    /// # Errors
    /// Those of [`max_min`](crate::max_min()).
    pub(super) fn new(problem: &Problem, workers: Arc<dyn Workers>) -> Result<Self> {
        Ok(Self { search: Search::of(problem, workers)?, is_done: false })
    }
}

impl Method for MaxMinMethod {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.is_done = false;
        state.prices.fill(0.0);
        state.rates.copy_from_slice(problem.equal_shares());
        Ok(f64::MAX)
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        // Reading the rates off costs some 8 operations per path.
        self.is_done = self.search.advance(STEP.max(8 * state.rates.len()))?;
        state.rates = problem.natural_rates(&self.search.rates());
        Ok(if self.is_done { 0.0 } else { f64::MAX })
    }

    fn again(&self, problem: &Problem) -> Result<Option<Box<dyn Method>>> {
        let search = self.search.again(problem)?;
        Ok(search.map(|search| Box::new(Self { search, is_done: false }) as Box<dyn Method>))
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
