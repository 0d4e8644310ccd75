//! Max-min rates with their certificate, and warm starts from them.

use std::sync::Arc;

use super::adaptive::{Approximate, adaptive};
use super::search::{SLICE, Search};
use super::warm_start::WarmStart;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::paths::Paths;
use crate::problem::Problem;

/// Slices of the exact method that are tried where rates need not be exact.
const SLICES: usize = 2500;

/// Max-min fair rates, how far they are proven, and what the next ones can start from.
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

/// What a search for max-min rates leaves for the next one, on the same paths.
#[derive(Debug, Clone)]
pub struct MaxMinBasis {
    paths: Arc<Paths>,
    group: Arc<Vec<u32>>,
    pub(super) start: Option<Arc<WarmStart>>,
}

impl MaxMin {
    /// The rates of [`max_min`](super::max_min()), with their proof.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min()).
    pub fn of(problem: &Problem) -> Result<Self> {
        Self::found(problem, Search::new(problem)?)
    }

    /// The rates of a problem with the same paths, in which capacities, caps or utilities may be others: exact, and
    /// proven as those of [`MaxMin::of`] are, but quicker where little has changed. The rates of the flows are the same
    /// to 1e-9; how they are split over paths may differ.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min()), and [`Error::OtherPaths`] where paths differ, saying which.
    pub fn again(&self, problem: &Problem) -> Result<Self> {
        Self::from_basis(problem, &self.basis)
    }

    /// The same, from what is left of an earlier search.
    ///
    /// # Errors
    /// Those of [`MaxMin::again`].
    pub fn from_basis(problem: &Problem, basis: &MaxMinBasis) -> Result<Self> {
        Self::found(problem, Search::from_basis(problem, basis)?)
    }

    /// Rates that need not be exact: for 10⁵ flows with several paths and more, for which the exact method takes
    /// minutes. Those of [`filled`](Self::filled), if they are proven to be within `accuracy` of max-min fair; else the
    /// ones of the exact method, if they are found in about 2.5 · 10⁹ operations; else those, with what has been proven
    /// of them.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min()), and [`Error::Setting`] unless 0 < `accuracy` < 1.
    pub fn within(problem: &Problem, accuracy: f64) -> Result<Self> {
        let near = Self::filled(problem, accuracy)?;
        if near.unfairness <= accuracy {
            return Ok(near);
        }
        // Not until it is proven to the last digit: runs that are repeated for that take as long as the first.
        let mut search = Search::within(problem, accuracy)?;
        for _ in 0..SLICES {
            interrupt::check()?;
            if search.advance(SLICE)? {
                break;
            }
        }
        let exact = Self::ended(problem, search)?;
        Ok(if exact.unfairness < near.unfairness { exact } else { near })
    }

    /// Approximate rates by water-filling alone, which is repeated until its rates are proven to be within `accuracy`
    /// of max-min fair, or that gets no better, at most 24 times; [`unfairness`](Self::unfairness) is what has been
    /// proven, mostly much more than `accuracy` where many flows have several paths.
    ///
    /// An unfairness of u means for every flow f that is not satisfied: rates that give f more than 1/(1 − u) of its
    /// rate take from a flow whose fair share is at most that of f with 1/(1 − u) of its rate. And every flow has at
    /// least the part 1 − u of what the largest fair share gives it that all can have at once. Single flows may be
    /// further than that from their max-min rates. With one path per flow the rates are exact.
    ///
    /// # Errors
    /// As [`within`](Self::within).
    pub fn filled(problem: &Problem, accuracy: f64) -> Result<Self> {
        if !(accuracy > 0.0 && accuracy < 1.0) {
            let (name, expected) = ("accuracy".into(), "a number above 0 and below 1".into());
            return Err(Error::Setting { name, value: accuracy.to_string(), expected });
        }
        if problem.is_single_path() {
            return Self::of(problem);
        }
        let Approximate { rates, unfairness } = adaptive(problem, accuracy)?;
        Ok(Self { rates, unfairness, basis: MaxMinBasis::new(problem, None), is_exact: false })
    }

    /// What the next search can start from.
    pub fn basis(&self) -> &MaxMinBasis {
        &self.basis
    }

    /// Whether these are the rates of the exact method, from which the next search can start.
    pub fn has_basis(&self) -> bool {
        self.is_exact
    }

    fn found(problem: &Problem, search: Search) -> Result<Self> {
        let search = search.finish()?;
        search.check_proven()?;
        Self::ended(problem, search)
    }

    /// What a search that is done has come to.
    fn ended(problem: &Problem, mut search: Search) -> Result<Self> {
        let rates = search.rates();
        let unfairness = search.residual(&rates)?;
        Ok(Self { rates, unfairness, basis: search.into_basis(problem), is_exact: true })
    }
}

impl MaxMinBasis {
    pub(super) fn new(problem: &Problem, start: Option<WarmStart>) -> Self {
        let (paths, group) = (problem.shared_paths(), problem.shared_group());
        Self { paths, group, start: start.map(Arc::new) }
    }

    /// # Errors
    /// [`Error::OtherPaths`] unless it is of a problem with these paths.
    pub(super) fn check(&self, problem: &Problem) -> Result<()> {
        match problem.difference(&self.paths, &self.group) {
            Some(what) => Err(Error::OtherPaths { name: "start", what }),
            None => Ok(()),
        }
    }
}
