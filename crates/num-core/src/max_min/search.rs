//! A search for max-min rates, a slice of work at a time.

use std::sync::Arc;

use super::fair_shares::METHOD;
use super::one_path::OnePath;
use super::several_paths::SeveralPaths;
use super::tolerances::{ACCEPTABLE, SLICE};
use super::warm_start::WarmStart;
use super::witness::Inequality;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::work::{Ranks, Workers};

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
    /// For exact rates, from the beginning.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min).
    pub(crate) fn of(problem: &Problem, workers: Arc<dyn Workers>) -> Result<Self> {
        Self::new(problem, None, 0.0, workers)
    }

    /// From an earlier solution on the same paths or fewer, if there is one. Rates over several paths are an answer
    /// that are proven to be as near as `accuracy`, or but for rounding where that is 0. The workers do the passes over
    /// paths, where flows have one each.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min).
    pub(super) fn new(
        problem: &Problem,
        start: Option<Arc<WarmStart>>,
        accuracy: f64,
        workers: Arc<dyn Workers>,
    ) -> Result<Self> {
        let kind = match problem.is_single_path() {
            true => Kind::OnePath(Box::new(OnePath::new(problem, workers)?)),
            false => Kind::SeveralPaths(Box::new(SeveralPaths::new(problem, start, accuracy)?)),
        };
        Ok(Self { kind, is_done: false })
    }

    /// Goes on for about so many elementary operations of some nanoseconds each, or until it is done. Returns whether
    /// it is.
    ///
    /// # Errors
    /// [`Error::Stopped`]; it may go on all the same.
    pub(crate) fn advance(&mut self, operations: usize) -> Result<bool> {
        if !self.is_done {
            self.is_done = match &mut self.kind {
                Kind::OnePath(water_fill) => water_fill.advance(operations)?,
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

    /// Computes anew what rates are read off, as [`rates`](Self::rates) does.
    pub(crate) fn refresh(&mut self) {
        if let Kind::SeveralPaths(runs) = &mut self.kind {
            runs.refresh();
        }
    }

    /// Feasible rates of all paths, in the caller's units: flows that have stopped have their rate, the others what
    /// they have at the fair share that has been reached.
    pub(crate) fn rates(&mut self) -> Vec<f64> {
        match &mut self.kind {
            Kind::OnePath(water_fill) => water_fill.rates(),
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

    /// What a unit of the problem's link is worth, by a price of the witness.
    pub(super) fn caller_price(&self, link: u32, price: f64) -> f64 {
        match &self.kind {
            Kind::OnePath(_) => price,
            Kind::SeveralPaths(runs) => runs.network().caller_price(link, price),
        }
    }

    /// How far its rates are proven.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn residual(&mut self, rates: &[f64]) -> Result<f64> {
        match &mut self.kind {
            Kind::OnePath(water_fill) => water_fill.residual(rates),
            Kind::SeveralPaths(runs) => runs.residual(),
        }
    }

    /// Whether its rates are an answer, once it is done. Over one path they always are.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub(super) fn check_proven(&mut self) -> Result<()> {
        if let Kind::SeveralPaths(runs) = &mut self.kind {
            let residual = runs.residual()?;
            if residual > ACCEPTABLE {
                let what = format!("this problem to its end: a gap of {residual:.1e} is left");
                let instead = "use solve(), which returns it with its gap";
                return Err(Error::Unsupported { method: METHOD.into(), what, instead });
            }
        }
        Ok(())
    }

    /// The start of the next search, once this one is done and proven.
    pub(super) fn next_start(&self) -> Option<WarmStart> {
        match &self.kind {
            Kind::OnePath(_) => None,
            Kind::SeveralPaths(runs) => runs.next_start(),
        }
    }

    /// A search for exact rates of another problem on these paths, or these and more, from what this one has found;
    /// none where that is nothing to start from.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min).
    pub(crate) fn again(&self, problem: &Problem) -> Result<Option<Self>> {
        let start = self.is_done.then(|| self.next_start()).flatten();
        let again = |start| Self::new(problem, Some(Arc::new(start)), 0.0, Arc::new(Ranks::alone()));
        start.map(again).transpose()
    }
}
