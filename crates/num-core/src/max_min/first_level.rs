//! The first level of max-min over several paths: the largest rates in proportion to weights that all flows can have at
//! once, and the prices of the cut that stops them.
//!
//! The parametric simplex method (`parametric/`) up to its first cut. Until there all flows rise, so that the cut has
//! prices π ≥ 0, and what it says holds for all feasible rates.

use std::sync::Arc;

use super::crossings::Crossings;
use super::fair_shares::{METHOD, flow_shares};
use super::network::Network;
use super::parametric::{Parametric, Run};
use super::rising_rates::RisingRates;
use super::tolerances::ZERO;
use crate::error::Result;
use crate::interrupt;
use crate::problem::Problem;

/// The network of a problem, in which the first level is looked for.
#[derive(Debug)]
pub(crate) struct FirstLevels {
    network: Network,
    crossings: Crossings,
    lowest: RisingRates,
    links: usize,
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
}

impl FirstLevels {
    /// Of max-min utilities with weights, for flows that have no caps but 0.
    ///
    /// # Errors
    /// Those of [`max_min`](super::max_min()).
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        let shares = flow_shares(problem, METHOD)?;
        let network = Network::new(problem, &shares)?;
        let through = Arc::new(network.paths.transpose(network.capacities.len())?);
        let crossings = Crossings::new(&network, through)?;
        let lowest = RisingRates::new(&shares, &network);
        Ok(Self { network, crossings, lowest, links: problem.links() })
    }

    /// The level, by pivots that depend on `seed`.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(crate) fn find(&self, seed: u64) -> Result<FirstLevel> {
        let Self { network, crossings, lowest, links } = self;
        let mut run = Parametric::new(network, lowest.clone(), None, crossings.clone(), seed);
        // An iteration at a time.
        while run.first_cut().is_none() && run.advance(network, 1) == Run::Rising {
            interrupt::check()?;
        }
        let rates = network.caller_rates(&run.path_rates(network));
        let (mut prices, mut cap_prices) = (vec![0.0; *links], vec![0.0; rates.len()]);
        if let Some(cut) = run.first_cut() {
            let largest = cut.prices.iter().map(|&(_, price)| price).fold(0.0, f64::max);
            for &(link, price) in cut.prices.iter().filter(|(_, price)| *price > ZERO * largest) {
                let price = network.caller_price(link, price / largest);
                match prices.get_mut(link as usize) {
                    Some(of_link) => *of_link = price,
                    // A link that stands for a cap has one path.
                    None => {
                        let path = crossings.all.links(link as usize)[0];
                        cap_prices[network.open()[path as usize] as usize] = price;
                    }
                }
            }
        }
        Ok(FirstLevel { rates, prices, cap_prices })
    }
}
