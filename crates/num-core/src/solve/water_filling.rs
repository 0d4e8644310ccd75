//! Water-filling as a method: a step raises the fair share by some milliseconds of work, and when all flows have stopped
//! the rates are max-min fair.
//!
//! There are no prices (all stay 0). Until it is done the rates are those of the fair share that has been reached a
//! moment ago, with what has stopped before it left where it is: feasible, and far from proven. What it does is in
//! [`max_min`](crate::max_min).

use super::{Method, State};
use crate::error::Result;
use crate::max_min::Search;
use crate::presolve::Presolved;
use crate::problem::Problem;

/// Elementary operations in a step: some ten milliseconds.
const STEP: usize = 1 << 23;
/// The same, per path, that reading the rates off costs.
const READ: usize = 8;

/// Max-min fair rates.
pub(super) struct WaterFilling {
    search: Search,
    /// Whether the search is done, and whether the rates in the state are its.
    is_found: bool,
    is_done: bool,
    /// Operations since the rates in the state were read off.
    since: usize,
}

impl WaterFilling {
    /// # Errors
    /// Those of [`max_min`](crate::max_min()).
    pub(super) fn new(problem: &Problem) -> Result<Self> {
        Ok(Self { search: Search::new(problem)?, is_found: false, is_done: false, since: 0 })
    }
}

impl Method for WaterFilling {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.is_done = false;
        state.prices.fill(0.0);
        state.rates.copy_from_slice(&problem.equal_shares);
        Ok(f64::MAX)
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.is_found = self.is_found || self.search.advance(STEP)?;
        self.since += STEP;
        if self.is_found || self.since >= READ * state.rates.len() {
            self.since = 0;
            state.rates = problem.natural_rates(&self.search.rates());
        }
        self.is_done = self.is_found;
        if self.is_done {
            state.witness = self.search.witness();
            return Ok(0.0);
        }
        Ok(f64::MAX)
    }

    fn is_dear(&self) -> bool {
        true
    }

    fn is_stuck(&self) -> bool {
        self.is_done
    }
}
