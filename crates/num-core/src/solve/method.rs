//! The interface of a method.

#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::max_min::Inequality;
use crate::presolve::Presolved;
use crate::problem::Problem;

/// Prices and rates of an iteration, in natural units.
#[derive(Debug, Clone)]
pub struct State {
    /// Price of every link *(iterate)*.
    pub prices: Vec<f64>,
    /// Demand of every path at these prices, not normalized *(derived)*.
    pub rates: Vec<f64>,
}

/// One way of improving prices. The loop around it (limits, observing, certifying, stopping) exists once, in
/// [`Solver`](super::Solver). A method does not say that it is done: the certificate does.
/// [`Ask::by_method`](super::Ask::by_method) has an example.
pub trait Method: Send {
    /// Starts at the prices in `state`, without any memory of earlier steps. Returns an estimate of the relative gap,
    /// from which the loop decides when to certify. The rates at these prices are in `state` after
    /// [`write_rates`](Self::write_rates).
    ///
    /// # Errors
    /// [`Error::Stopped`] when a token in force says so. It may be begun again.
    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64>;

    /// As [`start`](Self::start) near the optimum: `state` has the prices and rates of the solution of a similar
    /// problem. Override where the rates are used.
    fn resume(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.start(problem, state)
    }

    /// One iteration: new prices and an estimate of the gap. Their rates are in `state` after
    /// [`write_rates`](Self::write_rates).
    ///
    /// # Errors
    /// [`Error::Stopped`] when a token in force says so. The next step goes on from there.
    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64>;

    /// Writes the rates at the present prices to `state`, where steps do not.
    fn write_rates(&mut self, _problem: &Presolved, _state: &mut State) {}

    /// Makes this method for another problem on these paths, or these and more, from more than prices and rates of what
    /// it has found here; none where there is no more.
    ///
    /// # Errors
    /// Those of making it.
    #[doc(hidden)]
    fn again(&self, _problem: &Problem) -> Result<Option<Box<dyn Method>>> {
        Ok(None)
    }

    /// Why its rates are max-min fair, where it finds such rates for flows with several paths.
    #[doc(hidden)]
    fn witness(&self) -> &[Inequality] {
        &[]
    }

    /// Whether a step costs more than a certificate. Near the end each step is then certified.
    fn is_expensive(&self) -> bool {
        false
    }

    /// Whether further steps leave the state unchanged.
    fn has_stalled(&self) -> bool {
        false
    }
}
