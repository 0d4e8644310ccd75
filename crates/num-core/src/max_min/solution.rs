//! Max-min rates with their certificate, and warm starts from them.

use std::sync::Arc;

use super::search::Search;
use super::tolerances::MOST_OPERATIONS;
use super::warm_start::WarmStart;
use crate::error::{Error, Result};
use crate::paths::Paths;
use crate::problem::Problem;
use crate::work::{Ranks, Workers};

/// Max-min fair rates, how far they are proven, and the start of the next search.
///
/// ```
/// use netnum_core::{AlphaFair, MaxMin, Paths, Problem};
///
/// let paths = Paths::from_lists([[0], [1], [1]]);
/// let utility = AlphaFair::new(f64::INFINITY, 1.0)?;
/// let problem = Problem::grouped(vec![1.0, 2.0], paths, vec![0, 0, 1], utility)?;
/// let fair = MaxMin::of(&problem)?;
/// assert_eq!(problem.flow_rates(&fair.rates)?, [1.5, 1.5]);
/// let capped = problem.with_flow_caps(vec![1.0, f64::INFINITY])?;
/// let again = fair.again(&capped)?;
/// assert_eq!(capped.flow_rates(&again.rates)?, [1.0, 2.0]);
/// # Ok::<(), netnum_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct MaxMin {
    /// Rate of every path, in the units of the capacities; feasible.
    pub rates: Vec<f64>,
    /// No flow is further than this part from being satisfied or from a bottleneck, proven; 0 but for rounding where
    /// rates are exact. See [`MaxMin::within`].
    pub unfairness: f64,
    basis: MaxMinBasis,
    is_exact: bool,
}

/// The start of a search for max-min rates: the end of an earlier one on the same paths or fewer.
#[derive(Debug, Clone)]
pub struct MaxMinBasis {
    paths: Arc<Paths>,
    group: Arc<Vec<u32>>,
    start: Option<Arc<WarmStart>>,
}

impl MaxMin {
    /// The rates of [`max_min`](super::max_min()), with their proof.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min()).
    pub fn of(problem: &Problem) -> Result<Self> {
        Self::by(problem, None, None, Arc::new(Ranks::alone()))
    }

    /// As [`MaxMin::of`], [`MaxMin::again`] from the basis of an earlier search, or [`MaxMin::within`] an accuracy,
    /// where workers do the passes over the flows, if these have one path each. The bits do not depend on how many they
    /// are.
    ///
    /// # Errors
    /// Those of [`MaxMin::again`] and [`MaxMin::within`].
    pub fn by(
        problem: &Problem,
        start: Option<&MaxMinBasis>,
        accuracy: Option<f64>,
        workers: Arc<dyn Workers>,
    ) -> Result<Self> {
        super::check(problem)?;
        if let Some(what) = start.and_then(|basis| problem.difference(&basis.paths, &basis.group)) {
            return Err(Error::OtherPaths { name: "start", what });
        }
        let search = |accuracy: f64| {
            let start = start.and_then(|basis| basis.start.clone());
            Search::new(problem, start, accuracy, workers)
        };
        match accuracy {
            None => Self::found(problem, search(0.0)?),
            Some(accuracy) => {
                check_accuracy(accuracy)?;
                Self::within_operations(problem, search(accuracy)?, MOST_OPERATIONS)
            }
        }
    }

    /// The rates of a problem with the same paths, in which capacities, caps or utilities may be others: exact, and
    /// proven as those of [`MaxMin::of`] are, but quicker where little has changed. The rates of the flows are the same
    /// to 1e-9; how they are split over paths may differ.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min()), and [`Error::OtherPaths`] where paths differ, saying which.
    pub fn again(&self, problem: &Problem) -> Result<Self> {
        Self::by(problem, Some(&self.basis), None, Arc::new(Ranks::alone()))
    }

    /// Rates that need not be exact, for 10⁵ flows with several paths and more, for which the exact method takes
    /// minutes: its rates as soon as they are proven to be within `accuracy` of max-min fair, or those of 2.6 · 10⁹
    /// operations, as far as they are proven. With one path per flow they are exact.
    ///
    /// An unfairness of u means for every flow f that is not satisfied: rates that give f more than 1/(1 − u) of its
    /// rate take from a flow whose fair share is at most that of f with 1/(1 − u) of its rate. And every flow has at
    /// least the part 1 − u of what the largest fair share gives it that all can have at once. Single flows may be
    /// further than that from their max-min rates.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min()), and [`Error::Setting`] unless 0 < `accuracy` < 1.
    pub fn within(problem: &Problem, accuracy: f64) -> Result<Self> {
        Self::by(problem, None, Some(accuracy), Arc::new(Ranks::alone()))
    }

    /// The rates of so many operations at most. With one path per flow they are exact.
    fn within_operations(problem: &Problem, mut search: Search, operations: usize) -> Result<Self> {
        if problem.is_single_path() {
            return Self::found(problem, search);
        }
        let is_done = search.advance(operations)?;
        Self::ended(problem, search, is_done)
    }

    /// The start of the next search.
    #[doc(hidden)]
    pub fn basis(&self) -> &MaxMinBasis {
        &self.basis
    }

    /// Whether these are the rates of the exact method, from which the next search can start.
    pub fn has_basis(&self) -> bool {
        self.is_exact
    }

    fn found(problem: &Problem, search: Search) -> Result<Self> {
        let mut search = search.finish()?;
        search.check_proven()?;
        Self::ended(problem, search, true)
    }

    /// The rates of a search so far.
    fn ended(problem: &Problem, mut search: Search, is_exact: bool) -> Result<Self> {
        let rates = search.rates();
        let unfairness = search.residual(&rates)?;
        let start = if is_exact { search.next_start().map(Arc::new) } else { None };
        let basis = MaxMinBasis { paths: problem.shared_paths(), group: problem.shared_group(), start };
        Ok(Self { rates, unfairness, basis, is_exact })
    }
}

fn check_accuracy(accuracy: f64) -> Result<()> {
    if accuracy > 0.0 && accuracy < 1.0 {
        return Ok(());
    }
    let (name, expected) = ("accuracy".into(), "a number above 0 and below 1".into());
    Err(Error::Setting { name, value: accuracy.to_string(), expected })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{MaxMin, Search};
    use crate::{AlphaFair, Paths, Problem, Ranks};

    #[test]
    fn a_search_that_is_stopped_has_feasible_rates_and_a_proven_bound() {
        let paths = Paths::from_lists([[0], [1], [1], [2], [2], [0]]);
        let utility = AlphaFair::new(f64::INFINITY, vec![1.0, 2.0, 3.0]).unwrap();
        let problem = Problem::grouped(vec![1.0, 2.0, 5.0], paths, vec![0, 0, 1, 1, 2, 2], utility).unwrap();
        let exact = MaxMin::within(&problem, 0.05).unwrap();
        assert!(exact.has_basis() && exact.unfairness <= 0.05);
        let search = Search::new(&problem, None, 0.05, Arc::new(Ranks::alone())).unwrap();
        let stopped = MaxMin::within_operations(&problem, search, 1).unwrap();
        assert!(!stopped.has_basis());
        assert!(stopped.unfairness > 0.05 && stopped.unfairness <= 1.0, "{}", stopped.unfairness);
        let loads = problem.loads(&stopped.rates).unwrap();
        assert!(loads.iter().zip(problem.capacities()).all(|(load, capacity)| load <= capacity), "{loads:?}");
        // The promise: the part 1 − u of the fair share that all can have at once.
        let least = [1.0, 2.0, 3.0].into_iter().zip(problem.flow_rates(&exact.rates).unwrap());
        let least = least.map(|(weight, rate)| rate / weight).fold(f64::INFINITY, f64::min);
        for (weight, rate) in [1.0, 2.0, 3.0].into_iter().zip(problem.flow_rates(&stopped.rates).unwrap()) {
            assert!(rate >= (1.0 - stopped.unfairness) * least * weight, "{rate}, {least}");
        }
    }
}
