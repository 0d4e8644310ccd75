//! The first level of max-min over several paths: the largest rates in proportion to weights that all flows can have at
//! once, and the prices of the cut that stops them.
//!
//! The parametric simplex method (`parametric/`) up to its first cut. Until there all flows rise, so that the cut has
//! prices π ≥ 0, and what it says holds for all feasible rates. Where paths have been added since another level was
//! found, its basis is feasible at that fair share, and flows rise on from there: a few pivots.

use std::sync::Arc;

use super::basis::Basis;
use super::fair_shares::{METHOD, flow_shares};
use super::network::Network;
use super::parametric::{Parametric, Run};
use super::rising_rates::RisingRates;
use super::tolerances::ZERO;
use super::warm_start::Frame;
use crate::error::Result;
use crate::interrupt;
use crate::problem::Problem;

/// The network of a problem, in which the first level is looked for.
#[derive(Debug)]
pub(crate) struct FirstLevels {
    network: Network,
    frame: Arc<Frame>,
    lowest: RisingRates,
    links: usize,
}

/// A basis with the fair share of the level that it was found at.
#[derive(Debug)]
pub(crate) struct LevelBasis {
    frame: Arc<Frame>,
    basis: Basis,
    above: f64,
}

/// The first level.
#[derive(Debug)]
pub(crate) struct FirstLevel {
    /// The rate of every path, in the caller's units; to rounding in proportion to the weights of flows, and feasible.
    pub(crate) rates: Vec<f64>,
    /// The price of every link in the cut, in any common unit, and of the cap of every path. Where the simplex
    /// method was broken off by rounding all are 0.
    pub(crate) prices: Vec<f64>,
    pub(crate) cap_prices: Vec<f64>,
    /// For the next level, over more paths.
    pub(crate) basis: LevelBasis,
}

impl FirstLevels {
    /// Of max-min utilities with weights, for flows that have no caps but 0.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min()).
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        let shares = flow_shares(problem, METHOD)?;
        let network = Network::new(problem, &shares)?;
        let frame = Arc::new(Frame::new(&network)?);
        let lowest = RisingRates::new(&shares, &network);
        Ok(Self { network, frame, lowest, links: problem.links() })
    }

    /// The level: from that of a network that has some of the paths of this one, if there is one, or else from the
    /// beginning, by pivots that depend on `seed`.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(crate) fn find(&self, seed: u64, last: Option<LevelBasis>) -> Result<FirstLevel> {
        let Self { network, frame, lowest, links } = self;
        let known = last.and_then(|last| Some((last.frame.renumbered(&last.basis, network)?, last.above)));
        let (lowest, through) = (lowest.clone(), Arc::clone(&frame.through));
        let mut run = match known {
            Some((basis, above)) => Parametric::at_fair_share(network, lowest, above, basis, through),
            None => Parametric::new(network, lowest, None, through, seed, None),
        };
        // An iteration at a time.
        while run.first_cut().is_none() && run.advance(network, 1) == Run::Rising {
            interrupt::check()?;
        }
        let (rates, above) = (network.caller_rates(&run.path_rates(network)), run.flow_rates.above());
        let (mut prices, mut cap_prices) = (vec![0.0; *links], vec![0.0; rates.len()]);
        if let Some(cut) = run.first_cut() {
            let largest = cut.prices.iter().map(|&(_, price)| price).fold(0.0, f64::max);
            for &(link, price) in cut.prices.iter().filter(|(_, price)| *price > ZERO * largest) {
                let price = network.caller_price(link, price / largest);
                match prices.get_mut(link as usize) {
                    Some(of_link) => *of_link = price,
                    // A link that stands for a cap has one path.
                    None => {
                        let path = frame.through.links(link as usize)[0];
                        cap_prices[network.open()[path as usize] as usize] = price;
                    }
                }
            }
        }
        let (basis, _) = run.into_found();
        let basis = LevelBasis { frame: Arc::clone(frame), basis, above };
        Ok(FirstLevel { rates, prices, cap_prices, basis })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::FirstLevels;
    use crate::max_min::warm_start::tests::{drawn, path};
    use crate::{Paths, Problem};

    #[test]
    fn over_more_paths_the_level_is_that_from_the_beginning() {
        for seed in 0..40 {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            let before = drawn(rng, 20);
            let flows: Vec<u32> = (0..20).collect();
            let more = Paths::from_lists((0..20).map(|_| path(rng)));
            let more = &before.with_more_paths(&flows, &more, &[]).unwrap();
            let level = |problem: &Problem, last| FirstLevels::new(problem).unwrap().find(1, last).unwrap();
            let first = level(&before, None).basis;
            let networks = FirstLevels::new(more).unwrap();
            assert!(first.frame.renumbered(&first.basis, &networks.network).is_some());
            let (warm, cold) = (networks.find(1, Some(first)).unwrap(), level(more, None));
            // Its prices prove it: no fraction of weights of 1 above Σ c p / Σ λ fits.
            let price =
                |path: usize| -> f64 { more.paths().links(path).iter().map(|&link| warm.prices[link as usize]).sum() };
            let of_flow = |flow: u32| (0..more.paths().len()).filter(move |&path| more.group()[path] == flow);
            let least = |flow: u32| of_flow(flow).map(price).fold(f64::INFINITY, f64::min);
            let worth: f64 = more.capacities().iter().zip(&warm.prices).map(|(capacity, price)| capacity * price).sum();
            let bound = worth / flows.iter().map(|&flow| least(flow)).sum::<f64>();
            let rate: f64 = of_flow(0).map(|path| warm.rates[path]).sum();
            assert!((bound - rate).abs() <= 1e-12 * bound, "{rate} is not proven: {bound}");
            let [warm, cold] = [warm, cold].map(|level| level.basis.above);
            assert!((warm - cold).abs() <= 1e-12 * cold, "{warm} from a level, {cold} from the beginning");
        }
    }
}
