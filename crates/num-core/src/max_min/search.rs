//! A search for max-min rates, a slice of work at a time.

use super::one_path::OnePath;
use super::several_paths::SeveralPaths;
use super::solution::MaxMinBasis;
use super::witness::Inequality;
use crate::error::{Error, Result};
use crate::problem::Problem;

/// Its name in errors.
pub(super) const METHOD: &str = "max-min";
/// With several paths per flow, rates this near to being proven are an answer.
const ENOUGH: f64 = 1e-5;
/// Operations between two checks for a stop: about a millisecond.
pub(super) const SLICE: usize = 1 << 20;

/// Max-min rates on the way; it goes on where it was left.
#[derive(Debug)]
pub(crate) struct Search {
    kind: Kind,
    is_done: bool,
}

#[derive(Debug)]
enum Kind {
    OnePath(Box<OnePath>),
    SeveralPaths(Box<SeveralPaths>),
}

impl Search {
    /// # Errors
    /// Those of [`max_min`](super::max_min).
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        Ok(Self::of(match problem.is_single_path() {
            true => Kind::OnePath(Box::new(OnePath::new(problem)?)),
            false => Kind::SeveralPaths(Box::new(SeveralPaths::new(problem, None, 0.0)?)),
        }))
    }

    /// From what an earlier search has left, on the same paths.
    ///
    /// # Errors
    /// Those of [`MaxMin::again`](super::MaxMin::again).
    pub(super) fn from_basis(problem: &Problem, basis: &MaxMinBasis) -> Result<Self> {
        basis.check(problem)?;
        match &basis.start {
            Some(start) if !problem.is_single_path() => {
                Ok(Self::of(Kind::SeveralPaths(Box::new(SeveralPaths::new(problem, Some(start.clone()), 0.0)?))))
            }
            _ => Self::new(problem),
        }
    }

    /// Over several paths, for rates that are proven to be as near as `accuracy`.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min).
    pub(super) fn within(problem: &Problem, accuracy: f64) -> Result<Self> {
        Ok(Self::of(Kind::SeveralPaths(Box::new(SeveralPaths::new(problem, None, accuracy)?))))
    }

    fn of(kind: Kind) -> Self {
        Self { kind, is_done: false }
    }

    /// Goes on for about so many elementary operations of some nanoseconds each, or until it is done. Returns whether
    /// it is.
    ///
    /// # Errors
    /// [`Error::Stopped`]; it may go on all the same.
    pub(crate) fn advance(&mut self, operations: usize) -> Result<bool> {
        if !self.is_done {
            self.is_done = match &mut self.kind {
                Kind::OnePath(fill) => fill.advance(operations)?,
                Kind::SeveralPaths(runs) => runs.advance(operations)?,
            };
        }
        Ok(self.is_done)
    }

    /// Goes on until it is done.
    ///
    /// # Errors
    /// [`Error::Stopped`]; it may go on all the same.
    pub(super) fn finish(mut self) -> Result<Self> {
        while !self.advance(SLICE)? {}
        Ok(self)
    }

    /// Feasible rates of all paths, in the caller's units: what has stopped has its rate, the rest what it has at the
    /// fair share that has been reached.
    pub(crate) fn rates(&mut self) -> Vec<f64> {
        match &mut self.kind {
            Kind::OnePath(fill) => fill.rates(),
            Kind::SeveralPaths(runs) => runs.rates(),
        }
    }

    /// The witness of the rates, once the search is done; empty with one path per flow.
    pub(crate) fn witness(&self) -> &[Inequality] {
        match &self.kind {
            Kind::OnePath(_) => &[],
            Kind::SeveralPaths(runs) => runs.witness(),
        }
    }

    /// How far its rates are proven, once it is done.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn residual(&self, rates: &[f64]) -> Result<f64> {
        match &self.kind {
            Kind::OnePath(fill) => fill.residual(rates),
            Kind::SeveralPaths(runs) => Ok(runs.residual()),
        }
    }

    /// Whether its rates are an answer, once it is done. Over one path they always are.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub(super) fn check_proven(&self) -> Result<()> {
        match &self.kind {
            Kind::SeveralPaths(runs) if runs.residual() > ENOUGH => {
                let what = format!("this problem to its end: a gap of {:.1e} is left", runs.residual());
                Err(Error::Unsupported {
                    method: METHOD.into(),
                    what,
                    instead: "use solve(), which returns it with its gap",
                })
            }
            _ => Ok(()),
        }
    }

    /// What the next search can start from, once this one is done.
    pub(super) fn into_basis(self, problem: &Problem) -> MaxMinBasis {
        let start = match self.kind {
            Kind::OnePath(_) => None,
            Kind::SeveralPaths(runs) => runs.into_start(),
        };
        MaxMinBasis::new(problem, start)
    }
}
