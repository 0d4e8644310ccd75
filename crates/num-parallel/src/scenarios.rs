//! One problem under many scenarios: other demands, other capacities, or both, one row of a matrix for each.
//!
//! Scenarios next to each other are solved one after the other by one solver, which goes on from the answer before
//! ([`Solver::update`]): after a small change of demands, or a few failed links, a warm start takes a fraction of the
//! iterations. The number of scenarios alone decides the groups: an answer has the same bits for any number of
//! threads.

use std::num::NonZeroUsize;

use netnum_core::internal::interrupt::Tokens;
use netnum_core::internal::solve_on;
use netnum_core::{Ask, Error, Problem, Result, Solution, Solver};
use rayon::prelude::*;

use crate::many::{BatchObserver, StopObserver, on_one_thread};
use crate::threads::pool;

/// The most scenarios that one solver goes through.
const MOST_TOGETHER: usize = 32;
/// The least number of groups, for as many threads: every group begins anew.
const LEAST_GROUPS: usize = 16;

/// Scenarios of one problem, to be solved in the same way.
#[derive(Debug, Clone, Copy)]
pub struct Scenarios<'a> {
    /// The problem of which they are.
    pub problem: &'a Problem,
    /// Caps of the flows, row by row: one row with a cap per flow for each scenario, ∞ for none. The problem's own if
    /// there is no matrix.
    pub flow_caps: Option<&'a [f64]>,
    /// Capacities of the links likewise, 0 for one that has failed.
    pub capacities: Option<&'a [f64]>,
    /// How each of them is to be solved, on one thread.
    pub ask: &'a Ask,
}

impl Scenarios<'_> {
    /// How many there are.
    ///
    /// # Errors
    /// [`Error::Length`] for a matrix without whole rows, or with another number of rows than the other one;
    /// [`Error::Setting`] where there is none.
    pub fn count(&self) -> Result<usize> {
        let rows = |what: &str, matrix: &[f64], columns: usize, per: &'static str| {
            let wrong = |found| Error::Length { what: what.into(), found, expected: columns, per };
            match (matrix.len().checked_div(columns), matrix.len().checked_rem(columns)) {
                (Some(rows), Some(0)) => Ok(Some(rows)),
                (_, Some(rest)) => Err(wrong(rest)),
                // Rows of nothing: as many as there are of the other matrix.
                _ if matrix.is_empty() => Ok(None),
                _ => Err(wrong(matrix.len())),
            }
        };
        if self.flow_caps.is_none() && self.capacities.is_none() {
            return Err(Error::Setting {
                name: "scenarios".into(),
                value: "none".into(),
                expected: "a matrix of flow caps or of capacities".into(),
            });
        }
        let flow_caps = |matrix| rows("flow_caps", matrix, self.problem.flows(), "flow");
        let capacities = |matrix| rows("capacities", matrix, self.problem.links(), "link");
        match (self.flow_caps.map_or(Ok(None), flow_caps)?, self.capacities.map_or(Ok(None), capacities)?) {
            (Some(expected), Some(found)) if found != expected => {
                Err(Error::Length { what: "capacities".into(), found, expected, per: "row of flow_caps" })
            }
            (rows, other) => Ok(rows.or(other).unwrap_or(0)),
        }
    }

    /// The problem of one of them.
    ///
    /// # Errors
    /// [`Error::FlowCap`], [`Error::Capacity`].
    ///
    /// # Panics
    /// If there is no such scenario.
    pub fn problem(&self, scenario: usize) -> Result<Problem> {
        let row = |matrix: &[f64], columns: usize| matrix[scenario * columns..][..columns].to_vec();
        let mut problem = self.problem.clone();
        if let Some(caps) = self.flow_caps {
            problem = problem.with_flow_caps(row(caps, self.problem.flows()))?;
        }
        if let Some(capacities) = self.capacities {
            problem = problem.with_capacities(row(capacities, self.problem.links()))?;
        }
        Ok(problem)
    }

    /// Solves them on `threads` threads, and hands each answer to the observer. Returns when all are done or left out.
    ///
    /// # Errors
    /// Those of [`count`](Self::count), and [`Error::Threads`]; nothing has begun then. What is wrong with a scenario
    /// is in its own result.
    pub fn solve(&self, threads: NonZeroUsize, observer: &impl BatchObserver) -> Result<()> {
        let count = self.count()?;
        let together = Self::together(count);
        let (groups, tokens) = (count.div_ceil(together), Tokens::in_force());
        pool(threads, groups)?.install(|| {
            (0..groups).into_par_iter().with_max_len(1).for_each(|group| {
                let first = group * together;
                tokens.clone().scope(|| self.solve_group(first..count.min(first + together), observer));
            });
        });
        Ok(())
    }

    /// How many of so many scenarios one solver goes through, one after the other: the first of them are a group, and
    /// so on.
    pub fn together(count: usize) -> usize {
        count.div_ceil(LEAST_GROUPS).clamp(1, MOST_TOGETHER)
    }

    /// Solves all of them as one group, on this thread: `solve` does the same with every group of
    /// [`together`](Self::together).
    ///
    /// # Errors
    /// Those of [`count`](Self::count).
    pub fn solve_in_turn(&self, observer: &impl BatchObserver) -> Result<()> {
        self.solve_group(0..self.count()?, observer);
        Ok(())
    }

    /// Solves some, one after the other.
    fn solve_group(&self, scenarios: std::ops::Range<usize>, observer: &impl BatchObserver) {
        let (ask, mut last) = (on_one_thread(self.ask), None);
        for scenario in scenarios {
            if !observer.is_wanted(scenario) {
                return;
            }
            let (answer, solver) = match self.solve_one(scenario, &ask, last, observer) {
                Ok((answer, solver)) => (Ok(answer), solver),
                Err(error) => (Err(error), None),
            };
            observer.on_solution(scenario, answer);
            last = solver;
        }
    }

    fn solve_one(
        &self,
        scenario: usize,
        ask: &Ask,
        last: Option<Solver>,
        observer: &impl BatchObserver,
    ) -> Result<(Solution, Option<Solver>)> {
        solve_on(&self.problem(scenario)?, ask, &mut StopObserver { problem: scenario, observer }, last)
    }
}
