//! Water-filling as a method: one step, and the rates are max-min fair.
//!
//! Nothing is iterated, there are no prices (all stay 0), and a second step changes nothing. What it does is in
//! [`max_min`](crate::max_min).

use super::{Method, State};
use crate::error::Result;
use crate::max_min::{Witness, max_min_with_witness};
use crate::presolve::Presolved;
use crate::problem::Problem;

/// Max-min fair rates.
pub(super) struct WaterFilling {
    /// In natural units *(given)*.
    rates: Vec<f64>,
    witness: Witness,
    done: bool,
}

impl WaterFilling {
    pub(super) fn new(problem: &Problem, presolved: &Presolved) -> Result<Self> {
        let (rates, witness) = max_min_with_witness(problem)?;
        Ok(Self { rates: presolved.natural_rates(&rates), witness, done: false })
    }
}

impl Method for WaterFilling {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> f64 {
        self.done = false;
        state.prices.fill(0.0);
        state.witness.clone_from(&self.witness);
        state.rates.copy_from_slice(&problem.equal_shares);
        f64::MAX
    }

    fn step(&mut self, _problem: &Presolved, state: &mut State) -> f64 {
        self.done = true;
        state.rates.copy_from_slice(&self.rates);
        0.0
    }

    fn is_dear(&self) -> bool {
        true
    }

    fn is_stuck(&self) -> bool {
        self.done
    }
}
