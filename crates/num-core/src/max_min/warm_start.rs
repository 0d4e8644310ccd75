//! Max-min from the basis and the cuts of an earlier solution, after capacities, caps or weights have changed, or paths
//! were added.
//!
//! ```text
//! 1. y ← max-min rates under the cuts known        cuts.rs; cuts hold whatever the capacities, caps and weights are,
//!                                                  and over more paths with λ_f as low as the price of the cheapest
//! 2. route y from the last basis                   parametric/reroute.rs; a basis depends on its own paths alone
//! 3. if y exceeds cuts, add them, and again        if not, y is max-min fair, and the cuts are its witness
//! ```
//!
//! The set under the cuts contains all feasible rates. There are finitely many cuts, and each round adds some that y
//! exceeds; a row that is below 0 by rounding, whose cut y does not exceed, gives none. A changed cap mostly moves
//! flows along known cuts: few rounds, and few pivots. Where much has changed the search ends after a small part of the
//! operations that a run from the beginning has taken, and one follows.

use std::collections::HashMap;
use std::sync::Arc;

use super::basis::Basis;
use super::cuts::CutPool;
use super::network::Network;
use super::parametric::{Parametric, Rerouted};
use super::rising_rates::RisingRates;
use super::tolerances::TRIED;
use super::witness::{Inequality, Witness};
use crate::error::Result;
use crate::interrupt;
use crate::paths::Paths;

/// Rates of the open paths, feasible, with their witness and basis.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) rates: Vec<f64>,
    pub(super) witness: Witness,
    pub(super) basis: Basis,
}

/// The end of a search that the next one starts from.
#[derive(Debug)]
pub(super) struct WarmStart {
    frame: Arc<Frame>,
    basis: Basis,
    cuts: Vec<Inequality>,
    /// Operations of the run from the beginning that it comes from.
    work: usize,
}

/// The part of a search that problems with the same open paths share.
#[derive(Debug)]
pub(super) struct Frame {
    /// The links of the paths that are open, those that stand for caps among them.
    paths: Paths,
    /// Their numbers in the problem.
    open: Vec<u32>,
    /// The paths through every link.
    pub(super) through: Arc<Paths>,
}

impl Frame {
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(network: &Network) -> Result<Self> {
        let through = Arc::new(network.paths.transpose(network.capacities.len())?);
        let (paths, open) = (network.paths.clone(), network.open().to_vec());
        Ok(Self { paths, open, through })
    }

    fn fits(&self, network: &Network) -> bool {
        self.has_links_of(network) && self.open == network.open() && self.paths == network.paths
    }

    fn has_links_of(&self, network: &Network) -> bool {
        self.through.len() == network.capacities.len()
    }

    /// Where its paths stand in a network that has them all, and perhaps others.
    fn places(&self, network: &Network) -> Option<Vec<u32>> {
        let place_of: HashMap<u32, u32> = network.open().iter().copied().zip(0..).collect();
        let place = |(path, number)| {
            let place = *place_of.get(number)?;
            (self.paths.row(path) == network.paths.row(place as usize)).then_some(place)
        };
        if self.has_links_of(network) { self.open.iter().enumerate().map(place).collect() } else { None }
    }

    /// A basis on this frame in a network that has all paths of it, and perhaps others.
    pub(super) fn renumbered(&self, basis: &Basis, network: &Network) -> Option<Basis> {
        self.places(network).and_then(|places| basis.renumbered(network, &places))
    }
}

impl WarmStart {
    pub(super) fn new(frame: Arc<Frame>, basis: Basis, cuts: Vec<Inequality>, work: usize) -> Self {
        Self { frame, basis, cuts, work }
    }

    /// Operations of the run from the beginning that it comes from.
    pub(super) fn work(&self) -> usize {
        self.work
    }

    pub(super) fn basis(&self) -> &Basis {
        &self.basis
    }

    pub(super) fn frame(&self) -> &Arc<Frame> {
        &self.frame
    }

    /// The start on a network that has the same paths, or these and more; none where it lacks one.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn on(self: Arc<Self>, network: &Network) -> Result<Option<Arc<Self>>> {
        if self.frame.fits(network) {
            return Ok(Some(self));
        }
        let Some(basis) = self.frame.renumbered(&self.basis, network) else { return Ok(None) };
        let frame = Frame::new(network)?;
        let mut path_prices = vec![0.0; network.paths.len()];
        let over_more = |cut: &Inequality| {
            interrupt::check()?;
            Ok(Inequality::of_prices(network, &frame.through, &cut.prices, &mut path_prices))
        };
        let cuts = self.cuts.iter().map(over_more).collect::<Result<_>>()?;
        Ok(Some(Arc::new(Self { frame: Arc::new(frame), basis, cuts, work: self.work })))
    }

    /// Rates of a problem with the same frame, with their witness; none where too much has changed, or where rounding
    /// has spoilt it. `lowest` is at the fair share 0.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn resume(&self, network: &Network, lowest: &RisingRates) -> Result<Option<Found>> {
        // Of a round after the first.
        let pass = 8 * self.cuts.iter().map(|cut| cut.factors.len()).sum::<usize>();
        let mut operations = self.work / TRIED + network.paths.len();
        let mut pool = CutPool::new(network, lowest, self.cuts.clone());
        let mut run = Parametric::at(network, lowest.clone(), self.basis.clone(), Arc::clone(&self.frame.through));
        loop {
            interrupt::check()?;
            let mut flow_rates = lowest.clone();
            let witness = pool.max_min_rates(&mut flow_rates)?;
            run.flow_rates = flow_rates;
            let known = pool.len();
            match run.reroute(network, &mut pool, lowest, &self.frame.through, &mut operations)? {
                Rerouted::Fits if pool.len() == known => {
                    let rates = network.feasible(&self.frame.through, run.path_rates(network));
                    return Ok(Some(Found { rates, witness, basis: run.basis }));
                }
                // The operations bound the rounds.
                Rerouted::Fits => operations = operations.saturating_sub(pass),
                Rerouted::Broken => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use crate::max_min::fair_shares::{METHOD, flow_shares};
    use crate::max_min::network::Network;
    use crate::max_min::rising_rates::RisingRates;
    use crate::max_min::search::Search;
    use crate::max_min::tolerances::PROVEN;
    use crate::max_min::witness::network_residual;
    use crate::work::Ranks;
    use crate::{AlphaFair, Paths, Problem};

    const LINKS: u32 = 12;

    pub(in crate::max_min) fn path(rng: &mut ChaCha8Rng) -> Vec<u32> {
        let first = rng.random_range(0..LINKS);
        vec![first, (first + rng.random_range(1..LINKS)) % LINKS]
    }

    /// Flows over two paths each, on links of which many have the same capacity.
    pub(in crate::max_min) fn drawn(rng: &mut ChaCha8Rng, flows: u32) -> Problem {
        let capacities = (0..LINKS).map(|_| f64::from(rng.random_range(1..4))).collect();
        let paths = Paths::from_lists((0..2 * flows).map(|_| path(rng)));
        let group = (0..2 * flows).map(|path| path / 2).collect();
        Problem::grouped(capacities, paths, group, AlphaFair::new(f64::INFINITY, 1.0).unwrap()).unwrap()
    }

    fn search(problem: &Problem) -> Search {
        Search::of(problem, Arc::new(Ranks::alone())).unwrap().finish().unwrap()
    }

    #[test]
    fn over_more_paths_it_goes_on_to_rates_that_are_proven() {
        let mut proven = 0;
        for seed in 0..40 {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            let before = drawn(rng, 40);
            let more = before.with_more_paths(&[3, 17], &Paths::from_lists([path(rng), path(rng)]), &[]).unwrap();
            let start = Arc::new(search(&before).next_start().unwrap());

            let shares = flow_shares(&more, METHOD).unwrap();
            let network = Network::new(&more, &shares).unwrap();
            let start = start.on(&network).unwrap().expect("all of its paths are there");
            let Some(found) = start.resume(&network, &RisingRates::new(&shares, &network)).unwrap() else { continue };
            let through = &start.frame().through;
            assert!(network_residual(&network, through, &found.rates, &found.witness).unwrap() <= PROVEN);
            proven += 1;

            let fewer = Network::new(&before, &shares).unwrap();
            assert!(start.on(&fewer).unwrap().is_none(), "the network lacks some of its paths");
        }
        assert!(proven >= 10, "only {proven} went on");
    }
}
