//! Max-min for flows with several paths: runs of the simplex method until the witness of one certifies its rates.
//!
//! A run that fails, or whose rates are not certified, is repeated with other costs and hence other pivots; a run from
//! an earlier solution is followed by one from the beginning. The best rates are kept. When stopped early, fixed flows
//! have their rate, and the others B_f(t) at the current fair share t.

use std::sync::Arc;

use super::basis::Basis;
use super::crossings::Crossings;
use super::flow_shares;
use super::network::Network;
use super::parametric::{Parametric, Run};
use super::rising_rates::RisingRates;
use super::search::{METHOD, SLICE};
use super::warm_start::{Frame, WarmStart};
use super::witness::{Inequality, Witness, residual_in};
use super::witness_from_cuts::witness_from_cuts;
use crate::error::Result;
use crate::interrupt;
use crate::problem::Problem;

/// Rates are proven when no flow is further than this from its bottleneck.
const PROVEN: f64 = 1e-8;
/// Runs after which the best one stands.
const RUNS: u64 = 4;

/// A search for max-min rates that goes on where it was stopped.
#[derive(Debug)]
pub(super) struct SeveralPaths {
    problem: Problem,
    network: Network,
    frame: Arc<Frame>,
    /// An earlier solution with that frame, until it has been tried.
    start: Option<Arc<WarmStart>>,
    run: Option<Parametric>,
    /// Rates are an answer when no flow is further than this from its bottleneck.
    enough: f64,
    runs: u64,
    best: Option<(Found, f64)>,
}

/// What a run has come to.
#[derive(Debug)]
pub(super) struct Found {
    /// Rates in the caller's units, and what proves them.
    pub(super) rates: Vec<f64>,
    pub(super) witness: Witness,
    pub(super) basis: Basis,
}

impl SeveralPaths {
    /// From an earlier solution, if there is one. Rates are an answer that are proven to be as near as `accuracy`, or
    /// but for rounding where that is 0.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min).
    pub(super) fn new(problem: &Problem, start: Option<Arc<WarmStart>>, accuracy: f64) -> Result<Self> {
        let network = Network::new(problem)?;
        let (frame, start) = match start.as_ref().and_then(|start| start.frame(&network)) {
            Some(frame) => (frame, start),
            None => (Arc::new(Frame::new(&network)?), None),
        };
        // What is unsupported is an error at once.
        flow_shares(problem, METHOD)?;
        Ok(Self {
            problem: problem.clone(),
            network,
            frame,
            start,
            run: None,
            enough: accuracy.max(PROVEN),
            runs: 0,
            best: None,
        })
    }

    /// Goes on for about so many elementary operations, or until it is done. Returns whether it is.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped); it may go on all the same.
    pub(super) fn advance(&mut self, operations: usize) -> Result<bool> {
        if let Some(start) = &self.start {
            let found = start.resume(&self.problem, &self.network)?;
            self.start = None;
            if let Some(found) = found
                && self.judge(found)?
            {
                return Ok(true);
            }
        }
        let mut done = 0;
        while done < operations {
            interrupt::check()?;
            let run = match &mut self.run {
                Some(run) => run,
                None => {
                    self.runs += 1;
                    let crossings = self.frame.crossings.clone();
                    self.run.insert(from_the_beginning(&self.problem, &self.network, crossings, self.runs)?)
                }
            };
            let how = run.advance(&self.network, SLICE.min(operations));
            done += run.work().max(1);
            if how == Run::Rising {
                continue;
            }
            let rates = self.network.caller_rates(run.path_rates(&self.network));
            let Parametric { path_ban, link_ban, .. } = &*run;
            let witness = witness_from_cuts(&self.network, &self.frame.crossings.all, run.cuts(), path_ban, link_ban)?;
            let basis = self.run.take().expect("there is a run").basis;
            if self.judge(Found { rates, witness, basis })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps what a run came to if it is the best. Returns whether it will do.
    fn judge(&mut self, found: Found) -> Result<bool> {
        let shares = flow_shares(&self.problem, METHOD)?;
        let residual = residual_in(
            &self.problem,
            &self.network,
            &self.frame.crossings.all,
            &shares,
            &found.rates,
            &found.witness,
        )?;
        if self.best.as_ref().is_none_or(|(_, least)| residual < *least) {
            self.best = Some((found, residual));
        }
        Ok(self.runs >= RUNS || residual <= self.enough)
    }

    /// The rates so far, feasible, in the caller's units.
    pub(super) fn rates(&mut self) -> Vec<f64> {
        match (&self.best, &mut self.run) {
            (Some((best, _)), _) => best.rates.clone(),
            (None, Some(run)) => self.network.caller_rates(run.path_rates(&self.network)),
            (None, None) => vec![0.0; self.problem.paths().len()],
        }
    }

    /// Why flows have no more, once it is done.
    pub(super) fn witness(&self) -> &[Inequality] {
        self.best.as_ref().map_or(&[], |(best, _)| &best.witness)
    }

    /// How far the rates are proven, once it is done.
    pub(super) fn residual(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |(_, residual)| *residual)
    }

    /// What a search for other capacities, caps or weights can start from, once it is done.
    pub(super) fn into_start(self) -> Option<WarmStart> {
        self.best.map(|(best, _)| WarmStart::new(self.frame, best.basis, best.witness))
    }
}

fn from_the_beginning(problem: &Problem, network: &Network, crossings: Crossings, seed: u64) -> Result<Parametric> {
    let shares = flow_shares(problem, METHOD)?;
    let flow_rates = RisingRates::new(&shares, |flow| !network.paths_of(flow).is_empty(), network.unit);
    Ok(Parametric::new(network, flow_rates, crossings, seed))
}
