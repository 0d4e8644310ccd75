//! Solves whose price methods run on many cores.
//!
//! The price methods of netnum-core find loads and slopes by one loop over the flows; here flow blocks do, on as many
//! threads as are given. All else, rules and certificates included, is netnum-core's.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use netnum_core::price::{MakeRespond, PowerDemands};
use netnum_core::{Paths, Problem, Result, Solver};

use crate::flow_blocks::of_problem;

/// A solver as [`Solver::new`] makes it, at the prices of a similar problem's solution where they are given. Its price
/// methods use up to `threads` threads, and faster loops than one flow after the other also where that is one. The
/// answer has the same bits for any number of threads.
///
/// # Errors
/// Those of [`Solver::new`] and [`Solver::warm_start`], [`Error::Threads`](netnum_core::Error::Threads),
/// and [`Error::Stopped`](netnum_core::Error::Stopped) while the flows are laid out.
pub fn solver(
    problem: &Problem,
    method: &str,
    options: &BTreeMap<String, f64>,
    threads: NonZeroUsize,
    prices: Option<&[f64]>,
) -> Result<Solver> {
    let mut solver = Solver::with_respond(problem, method, options, Some(respond(threads)))?;
    if let Some(prices) = prices {
        solver.warm_start(prices)?;
    }
    Ok(solver)
}

/// Makes the response to prices by flow blocks, on up to so many threads, where these are faster than the loop over
/// flows: what [`Solver::with_respond`] and [`PartSetup`](netnum_core::solve::PartSetup) take.
pub fn respond(threads: NonZeroUsize) -> Arc<MakeRespond> {
    Arc::new(move |links: usize, paths: &Paths, demands: &[PowerDemands<'_>]| {
        of_problem(links, paths, demands, threads)
    })
}
