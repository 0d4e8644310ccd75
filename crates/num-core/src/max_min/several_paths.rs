//! Max-min for flows with several paths: runs of the simplex method, each with its proof, until one holds.
//!
//! A run that breaks off or whose rates are not proven is repeated with other costs, which lead it along other pivots.
//! The best rates stay. Stopped before, the rates are those of the present fair share: what is held keeps its rate, the
//! rest has what it has at that share.

use super::blocked::{Witness, blocked_residual};
use super::levels::Levels;
use super::network::Network;
use super::parametric::{Parametric, Run};
use super::witness::reasons;
use super::{METHOD, flow_shares};
use crate::error::Result;
use crate::interrupt;
use crate::problem::Problem;

/// Rates are proven when no flow is further than this from its bottleneck.
const PROVEN: f64 = 1e-8;
/// Runs after which the best one stands.
const RUNS: u64 = 4;
/// Operations between two looks at whether to stop: about a millisecond.
const SLICE: usize = 1 << 20;

/// A search for max-min rates that goes on where it was stopped.
#[derive(Debug)]
pub(crate) struct SeveralPaths {
    problem: Problem,
    network: Network,
    run: Parametric,
    runs: u64,
    /// Rates in the caller's units, what proves them, and how well.
    best: Option<Proven>,
}

#[derive(Debug)]
struct Proven {
    rates: Vec<f64>,
    witness: Witness,
    residual: f64,
}

impl SeveralPaths {
    /// # Errors
    /// Those of [`max_min`](super::max_min).
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        let network = Network::new(problem)?;
        let run = start(problem, &network, 1)?;
        Ok(Self { problem: problem.clone(), network, run, runs: 1, best: None })
    }

    /// Goes on for about so many elementary operations, or until it is done. Returns whether it is.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped); it may go on all the same.
    pub(crate) fn advance(&mut self, operations: usize) -> Result<bool> {
        let mut done = 0;
        while done < operations {
            interrupt::check()?;
            let run = self.run.advance(&self.network, SLICE.min(operations));
            done += self.run.work().max(1);
            if run == Run::Rising {
                continue;
            }
            if self.judge()? {
                return Ok(true);
            }
            self.runs += 1;
            self.run = start(&self.problem, &self.network, self.runs)?;
        }
        Ok(false)
    }

    /// Keeps what a run came to if it is the best. Returns whether it will do.
    fn judge(&mut self) -> Result<bool> {
        let rates = self.network.caller_rates(self.run.path_rates(&self.network));
        let Parametric { path_ban, link_ban, .. } = &self.run;
        let witness = reasons(&self.network, self.run.cuts(), path_ban, link_ban)?;
        let residual = blocked_residual(&self.problem, &rates, &witness, METHOD)?;
        if self.best.as_ref().is_none_or(|best| residual < best.residual) {
            self.best = Some(Proven { rates, witness, residual });
        }
        Ok(self.runs >= RUNS || residual <= PROVEN)
    }

    /// The rates so far, feasible, in the caller's units.
    pub(crate) fn rates(&mut self) -> Vec<f64> {
        match &self.best {
            Some(best) => best.rates.clone(),
            None => self.network.caller_rates(self.run.path_rates(&self.network)),
        }
    }

    /// Why flows have no more, once it is done.
    pub(crate) fn witness(&self) -> Witness {
        self.best.as_ref().map_or_else(Witness::new, |best| best.witness.clone())
    }
}

fn start(problem: &Problem, network: &Network, seed: u64) -> Result<Parametric> {
    let shares = flow_shares(problem, METHOD)?;
    let levels = Levels::new(&shares, |flow| !network.paths_of(flow).is_empty(), network.unit);
    Ok(Parametric::new(network, levels, seed))
}
