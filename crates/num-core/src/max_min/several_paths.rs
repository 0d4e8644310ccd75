//! Max-min for flows with several paths: runs of the simplex method until the witness of one certifies its rates.
//!
//! A run that fails, or whose rates are not certified, is repeated with other costs and hence other pivots; a run from
//! an earlier solution is followed by one from the beginning, in which the paths of that solution come first. The best
//! rates are kept. When stopped early, fixed flows have their rate, and the others B_f(t) at the current fair share t.

use std::sync::Arc;

use super::fair_shares::{METHOD, flow_shares};
use super::network::Network;
use super::parametric::{Parametric, Run};
use super::rising_rates::RisingRates;
use super::tolerances::{ACCEPTABLE, PROVEN, RUNS, RUNS_WHERE_NEAR, SLICE};
use super::warm_start::{Found, Frame, WarmStart};
use super::witness::{Inequality, network_residual};
use crate::error::Result;
use crate::interrupt;
use crate::problem::Problem;
use crate::utility::FairShare;

/// A search for max-min rates that goes on where it was stopped.
#[derive(Debug)]
pub(super) struct SeveralPaths {
    network: Network,
    frame: Arc<Frame>,
    /// Rates of flows at the fair share 0, and those by which they rise to their floors there, if any have one.
    lowest: RisingRates,
    floors: Option<RisingRates>,
    /// An earlier solution with that frame, until it has been tried, and the rates that it starts from.
    start: Option<(Arc<WarmStart>, RisingRates)>,
    /// That solution once it has been tried, for the next run.
    last: Option<Arc<WarmStart>>,
    run: Option<Parametric>,
    /// Rates are an answer when no flow is further than this from its bottleneck.
    enough: f64,
    runs: u64,
    /// Operations of the run at hand, or of the one that the start comes from.
    work: usize,
    /// The best rates, with their residual.
    best: Option<(Found, f64)>,
    /// Rates of the run so far, once they were read off.
    so_far: Vec<f64>,
}

impl SeveralPaths {
    /// From an earlier solution, if there is one. Rates are an answer that are proven to be as near as `accuracy`, or
    /// but for rounding where that is 0.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min).
    pub(super) fn new(problem: &Problem, start: Option<Arc<WarmStart>>, accuracy: f64) -> Result<Self> {
        let shares = flow_shares(problem, METHOD)?;
        let network = Network::new(problem, &shares)?;
        let (frame, start) = match start.map(|start| start.on(&network)).transpose()?.flatten() {
            Some(start) => {
                let width = |flow: usize| (network.widths[flow] * network.unit).min(f64::MAX);
                let bounded = shares.iter().enumerate().map(|(flow, share)| share.at_most(width(flow)));
                let lowest = RisingRates::new(&bounded.collect::<Vec<_>>(), &network);
                (Arc::clone(start.frame()), Some((start, lowest)))
            }
            None => (Arc::new(Frame::new(&network)?), None),
        };
        let lowest = RisingRates::new(&shares, &network);
        let to_floor = |flow: usize| match problem.flow_floor(flow) {
            0.0 => FairShare::weight(1.0).at_most(0.0),
            floor => FairShare::weight(floor).at_most(floor),
        };
        let floors = problem.has_flow_floors().then(|| {
            let shares: Vec<FairShare<'_>> = (0..network.flows()).map(to_floor).collect();
            RisingRates::new(&shares, &network)
        });
        Ok(Self {
            network,
            frame,
            lowest,
            floors,
            start,
            last: None,
            run: None,
            enough: accuracy.max(PROVEN),
            runs: 0,
            work: 0,
            best: None,
            so_far: Vec::new(),
        })
    }

    /// Goes on for about so many elementary operations, or until it is done. Returns whether it is.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped); it may go on all the same.
    pub(super) fn advance(&mut self, operations: usize) -> Result<bool> {
        self.so_far.clear();
        if let Some((start, lowest)) = &self.start {
            let found = start.resume(&self.network, lowest)?;
            self.work = start.work();
            self.last = self.start.take().map(|(start, _)| start);
            if let Some(found) = found
                && self.judge(found)?
            {
                return Ok(true);
            }
        }
        let mut done = 0;
        while done < operations {
            interrupt::check()?;
            let Self { network, frame, lowest, floors, last, runs, work, .. } = self;
            let run = self.run.get_or_insert_with(|| {
                (*runs, *work) = (*runs + 1, 0);
                let last = last.take();
                let basis = last.as_ref().map(|last| last.basis());
                Parametric::new(network, lowest.clone(), floors.clone(), Arc::clone(&frame.through), *runs, basis)
            });
            let how = run.advance(network, SLICE.min(operations));
            done += run.work().max(1);
            *work += run.work();
            if how == Run::Rising {
                continue;
            }
            let rates = network.feasible(&frame.through, run.path_rates(network));
            let (basis, witness) = self.run.take().expect("there is a run").into_found();
            if self.judge(Found { rates, witness, basis })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps what was found if it is the best. Returns whether it will do.
    fn judge(&mut self, found: Found) -> Result<bool> {
        let residual = network_residual(&self.network, &self.frame.through, &found.rates, &found.witness)?;
        // A run that breaks off before its first level is no answer, however little is asked for.
        let enough = if found.witness.is_empty() { PROVEN } else { self.enough };
        if self.best.as_ref().is_none_or(|(_, least)| residual < *least) {
            self.best = Some((found, residual));
        }
        let is_near = self.best.as_ref().is_some_and(|(_, least)| *least <= ACCEPTABLE);
        let most = if is_near { RUNS_WHERE_NEAR } else { RUNS };
        Ok(self.runs >= most || residual <= enough)
    }

    /// Brings the rates of the run so far to rounding, once after it has gone on: it goes on from there.
    pub(super) fn refresh(&mut self) {
        if let (None, Some(run), true) = (&self.best, &mut self.run, self.so_far.is_empty()) {
            self.so_far = run.path_rates(&self.network);
        }
    }

    /// The rates of the open paths so far, feasible.
    fn so_far(&mut self) -> Vec<f64> {
        self.refresh();
        match (&self.best, &self.run) {
            (Some((best, _)), _) => best.rates.clone(),
            (None, Some(_)) => self.network.feasible(&self.frame.through, self.so_far.clone()),
            (None, None) => vec![0.0; self.network.paths.len()],
        }
    }

    /// The rates so far, feasible, in the caller's units.
    pub(super) fn rates(&mut self) -> Vec<f64> {
        let rates = self.so_far();
        self.network.caller_rates(&rates)
    }

    pub(super) fn network(&self) -> &Network {
        &self.network
    }

    /// Why flows have no more, once it is done.
    pub(super) fn witness(&self) -> &[Inequality] {
        self.best.as_ref().map_or(&[], |(best, _)| &best.witness)
    }

    /// How far the rates so far are proven.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn residual(&mut self) -> Result<f64> {
        match self.best {
            Some((_, residual)) => Ok(residual),
            None => {
                let rates = self.so_far();
                network_residual(&self.network, &self.frame.through, &rates, &[])
            }
        }
    }

    /// The start of a search for other capacities, caps or weights, or over more paths, once this one is done and
    /// proven.
    pub(super) fn next_start(&self) -> Option<WarmStart> {
        let (best, _) = self.best.as_ref().filter(|(_, residual)| *residual <= ACCEPTABLE)?;
        Some(WarmStart::new(Arc::clone(&self.frame), best.basis.clone(), best.witness.clone(), self.work))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tolerances::ABOUT;
    use super::*;
    use crate::{AlphaFair, Paths};

    #[test]
    fn a_run_without_levels_is_no_answer_however_little_is_asked_for() {
        let (paths, max_min) = (Paths::from_lists([[0], [1], [1]]), AlphaFair::new(f64::INFINITY, 1.0).unwrap());
        let problem = Problem::grouped(vec![1.0, 1.0], paths, vec![0, 0, 1], max_min).unwrap();
        let search = || SeveralPaths::new(&problem, None, ABOUT).unwrap();
        let mut whole = search();
        while !whole.advance(SLICE).unwrap() {}
        let (mut found, _) = whole.best.take().unwrap();
        found.rates.iter_mut().for_each(|rate| *rate *= 0.5);
        let without = Found { rates: found.rates.clone(), witness: Vec::new(), basis: found.basis.clone() };
        assert!(search().judge(found).unwrap() && !search().judge(without).unwrap());
    }
}
