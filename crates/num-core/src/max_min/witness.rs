//! The residual of max-min rates of flows with several paths, by a witness: a set of inequalities that bound the rates.
//!
//! An inequality is a fair share t with prices p ≥ 0 and factors λ ≥ 0, otherwise arbitrary. With m_g = min(y_g,
//! B_g(t)), where B_g is at least the floor,
//!
//! ```text
//! slack_f    = c·p + Σ r_p (λ − q_p)₊ − Σ_{g ≠ f} λ_g m_g − λ_f y_f
//! residual_f = min( 1 − y_f/r_f,  min over inequalities with λ_f > 0 of
//!                             max(1 − y_f/B_f(t), slack_f/(slack_f + λ_f y_f)) )
//! ```
//!
//! with r_f its saturation or cap, or what all its paths' caps and capacities allow. By weak duality
//!
//! ```text
//! Σ λ_f y_f ≤ c·p + Σ r_p (λ_f − q_p)₊      as λ_f x_p ≤ q_p x_p + r_p (λ_f − q_p)₊ on every path
//! ```
//!
//! any feasible rates that leave every other flow g at least m_g give f at most y_f + slack_f/λ_f. So a residual of ε
//! means: y_f ≥ (1 − ε) B_f(t), and z_f ≤ y_f/(1 − ε) in all feasible rates z with z_g ≥ m_g for the other flows g. The
//! statement holds for any witness: a wrong or missing inequality can only make the residual larger. The largest
//! residual over all flows is 0 for the max-min rates and their witness. A cap counts as a link of its path.
//!
//! Cost: O(inequalities · (flows + crossings of their links)) after a transpose.

use super::fair_shares::{CERTIFICATE, flow_shares};
use super::network::Network;
use super::tolerances::{LEAST_PRICE, NEGLIGIBLE, ROUNDING};
use crate::double_double::DoubleDouble;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::problem::Problem;
use crate::water_fill::FULL;

/// A set of inequalities that bound the rates of flows.
pub(crate) type Witness = Vec<Inequality>;

/// An inequality between the rates of some flows, and the fair share at which it is full.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Inequality {
    pub(super) fair_share: f64,
    /// p_l ≥ 0 of some links, each once; those that stand for caps among them.
    pub(super) prices: Vec<(u32, f64)>,
    /// λ_f ≥ 0 of some flows, each once; in order where prices have given them.
    pub(super) factors: Vec<(u32, f64)>,
}

impl Inequality {
    /// Of prices of links, each once, and factors of flows, each once.
    pub(crate) fn new(fair_share: f64, prices: Vec<(u32, f64)>, factors: Vec<(u32, f64)>) -> Self {
        Self { fair_share, prices, factors }
    }

    /// The prices of links, those that stand for caps of paths among them, after the links of the problem.
    pub(crate) fn prices(&self) -> &[(u32, f64)] {
        &self.prices
    }

    /// The factors of flows.
    pub(crate) fn factors(&self) -> &[(u32, f64)] {
        &self.factors
    }

    /// Multiplies all factors by one below 1, which makes the inequality weaker.
    pub(crate) fn lowered(&self, by: f64) -> Self {
        let factors = self.factors.iter().map(|&(flow, factor)| (flow, by * factor)).collect();
        Self { factors, ..self.clone() }
    }

    /// The one of some prices, of which those that are not positive count as 0: λ_f is the least price of an open path
    /// of f. `through` lists the paths of every link; `path_prices` is room: 0 for every path, before and after. It
    /// holds for all feasible rates, by weak duality.
    pub(super) fn of_prices(
        network: &Network,
        through: &Paths,
        prices: &[(u32, f64)],
        path_prices: &mut [f64],
    ) -> Self {
        let largest = prices.iter().map(|&(_, price)| price).fold(0.0, f64::max);
        let of_largest = prices.iter().map(|&(link, price)| (link, price / largest));
        let mut prices: Vec<(u32, f64)> = of_largest.filter(|&(_, price)| price > LEAST_PRICE).collect();
        prices.sort_unstable_by_key(|&(link, _)| link);
        prices.iter().for_each(|&(link, price)| through.row(link as usize).add(price, path_prices));
        let mut factors = Vec::new();
        let mut find_factor = |flow: u32| {
            let of_flow = &mut path_prices[network.paths_of(flow as usize)];
            let factor = of_flow.iter().copied().fold(f64::INFINITY, f64::min);
            if factor > 0.0 && factor.is_finite() {
                factors.push((flow, factor));
                // Once.
                of_flow[0] = 0.0;
            }
        };
        if crossings(through, &prices) < network.paths.len() {
            let crossed = prices.iter().flat_map(|&(link, _)| through.links(link as usize));
            crossed.for_each(|&path| find_factor(network.owners[path as usize]));
            factors.sort_unstable_by_key(|&(flow, _)| flow);
        } else {
            (0..network.flows() as u32).for_each(find_factor);
        }
        clear(through, &prices, path_prices);
        Self { fair_share: 0.0, prices, factors }
    }

    /// Σ p_l c_l.
    pub(super) fn worth(&self, network: &Network) -> f64 {
        self.prices.iter().map(|&(link, price)| price * network.capacities[link as usize]).sum()
    }
}

/// The largest residual over the flows that are not closed; 0 when there are none. `rates` are feasible, one per path,
/// in the caller's units.
///
/// # Errors
/// As [`residual`](super::residual()).
pub(super) fn witness_residual(problem: &Problem, rates: &[f64], witness: &[Inequality]) -> Result<f64> {
    let network = Network::new(problem, &flow_shares(problem, CERTIFICATE)?)?;
    let through = network.paths.transpose(network.capacities.len())?;
    network_residual(&network, &through, &network.own_rates(rates), witness)
}

/// The largest residual in a network, of feasible rates of its open paths. `through` lists the paths of every link.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn network_residual(
    network: &Network,
    through: &Paths,
    rates: &[f64],
    witness: &[Inequality],
) -> Result<f64> {
    let flow_rates = flow_rates(network, rates);
    let nearest = nearest_inequalities(network, through, rates, witness)?;
    let satisfied = |flow: usize| below(network, flow, flow_rates[flow], network.curves.ceiling(flow));
    let residuals = nearest.into_iter().enumerate().map(|(flow, (nearest, _))| nearest.min(satisfied(flow)));
    Ok(residuals.fold(0.0, f64::max))
}

/// The residual of every flow by the inequality that gives the least, with the number of that; ∞ where none bounds it.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn nearest_inequalities(
    network: &Network,
    through: &Paths,
    rates: &[f64],
    witness: &[Inequality],
) -> Result<Vec<(f64, Option<u32>)>> {
    let Network { widths, curves, .. } = network;
    let rates = flow_rates(network, rates);
    let mut nearest = vec![(f64::INFINITY, None); rates.len()];
    let (mut path_prices, mut pacer) = (vec![0.0; network.paths.len()], Pacer::new());
    let mut kept = Vec::new();
    for (number, Inequality { fair_share, prices: priced, factors }) in (0..).zip(witness) {
        // On a steep curve the rounding of t is a large change of the rate.
        let above = fair_share * (1.0 + ROUNDING);
        // Compensated, as a flow may be a small part of thousands.
        let mut slack = DoubleDouble::default();
        kept.clear();
        for &(flow, factor) in factors {
            kept.push(rates[flow as usize].min(curves.bandwidth(flow as usize, above)));
            slack.add_product(-factor, kept[kept.len() - 1]);
        }
        for &(link, price) in priced {
            let paths = through.row(link as usize);
            pacer.did(paths.links().len())?;
            paths.add(price, &mut path_prices);
        }
        let mut bound = 0.0;
        for &(link, price) in priced {
            let capacity = network.capacities[link as usize];
            slack.add_product(price, capacity);
            bound += price * capacity;
        }
        let mut rents = 0.0;
        for &(flow, factor) in factors {
            for path in network.paths_of(flow as usize) {
                let above = factor - path_prices[path];
                // 0 · ∞ would be NaN.
                rents += if above > 0.0 { network.ceilings[path] * above } else { 0.0 };
            }
        }
        pacer.did(factors.len())?;
        clear(through, priced, &mut path_prices);
        let bound = bound + rents;
        let slack = slack.value() + rents - FULL * bound;
        for (&(flow, factor), &kept) in factors.iter().zip(&kept).filter(|((_, factor), _)| *factor > 0.0) {
            let rate = rates[flow as usize];
            let slack = slack - factor * (rate - kept);
            let whole = rate.max(NEGLIGIBLE * widths[flow as usize]);
            let gain = if slack > 0.0 { slack / (slack + factor * whole) } else { 0.0 };
            let known = &mut nearest[flow as usize];
            if gain < known.0 {
                let most = curves.bandwidth(flow as usize, *fair_share);
                let residual = gain.max(below(network, flow as usize, rate, most));
                *known = if residual < known.0 { (residual, Some(number)) } else { *known };
            }
        }
    }
    Ok(nearest)
}

/// How many paths cross the links of some prices.
pub(super) fn crossings(through: &Paths, prices: &[(u32, f64)]) -> usize {
    prices.iter().map(|&(link, _)| through.links(link as usize).len()).sum()
}

/// Takes the prices of the paths away that cross links with a price.
fn clear(through: &Paths, prices: &[(u32, f64)], path_prices: &mut [f64]) {
    if crossings(through, prices) < path_prices.len() {
        let crossed = prices.iter().flat_map(|&(link, _)| through.links(link as usize));
        crossed.for_each(|&path| path_prices[path as usize] = 0.0);
    } else {
        path_prices.fill(0.0);
    }
}

/// The rate of every flow, from those of its open paths.
fn flow_rates(network: &Network, rates: &[f64]) -> Vec<f64> {
    (0..network.flows()).map(|flow| rates[network.paths_of(flow)].iter().sum::<f64>()).collect()
}

/// How far a flow's rate is below the most that it may have, relative to that.
fn below(network: &Network, flow: usize, rate: f64, most: f64) -> f64 {
    let whole = most.max(NEGLIGIBLE * network.widths[flow]);
    if most > rate { (most - rate) / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::{Search, residual};
    use super::{Inequality, Witness};
    use crate::{AlphaFair, Paths, Problem, Ranks, Workers};

    /// Six flows with three paths each over eight links.
    fn problem(rng: &mut ChaCha8Rng) -> Problem {
        let capacities = (0..8).map(|_| rng.random_range(1.0..5.0)).collect();
        let path = |rng: &mut ChaCha8Rng| {
            let first = rng.random_range(0..8u32);
            [first, (first + rng.random_range(1..8u32)) % 8]
        };
        let paths = Paths::from_lists((0..18).map(|_| path(rng)));
        let weights: Vec<f64> = (0..6).map(|_| rng.random_range(0.5..3.0)).collect();
        let group = (0..18).map(|path| path / 3).collect();
        Problem::grouped(capacities, paths, group, AlphaFair::new(f64::INFINITY, weights).unwrap()).unwrap()
    }

    fn any_inequality(rng: &mut ChaCha8Rng) -> Inequality {
        let prices = (0..8).filter(|_| rng.random_bool(0.5)).collect::<Vec<u32>>();
        let factors = (0..6).filter(|_| rng.random_bool(0.7)).collect::<Vec<u32>>();
        Inequality {
            fair_share: 10f64.powf(rng.random_range(-2.0..2.0)),
            prices: prices.into_iter().map(|link| (link, rng.random_range(0.0..2.0))).collect(),
            factors: factors.into_iter().map(|flow| (flow, rng.random_range(0.0..2.0))).collect(),
        }
    }

    #[test]
    fn no_inequalities_let_wrong_rates_pass() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let alone: Arc<dyn Workers> = Arc::new(Ranks::alone());
        for _ in 0..100 {
            let problem = problem(&mut rng);
            let mut search = Search::of(&problem, Arc::clone(&alone)).unwrap().finish().unwrap();
            let (rates, witness) = (search.rates(), search.witness().to_vec());
            let right = residual(&problem, &rates, &witness, &*alone).unwrap();
            assert!(right < 1e-9, "{right:e}");
            let (short, part) = (rng.random_range(0..6u32), rng.random_range(0.01..0.5));
            let group = problem.group().iter();
            let lower = |(&flow, &rate): (&u32, &f64)| if flow == short { rate * (1.0 - part) } else { rate };
            let spoiled: Vec<f64> = group.zip(&rates).map(lower).collect();
            for _ in 0..50 {
                // Arbitrary inequalities, and the right ones with errors.
                let mut inequalities: Witness = (0..5).map(|_| any_inequality(&mut rng)).collect();
                let error = rng.random_range(0.0..0.5);
                for mut inequality in witness.clone() {
                    let mut spoil = |value: &mut f64| *value *= 1.0 + rng.random_range(-error..=error);
                    spoil(&mut inequality.fair_share);
                    inequality.prices.iter_mut().chain(&mut inequality.factors).for_each(|(_, value)| spoil(value));
                    inequalities.push(inequality);
                }
                let found = residual(&problem, &spoiled, &inequalities, &*alone).unwrap();
                assert!(found >= part * (1.0 - 1e-9), "{found:e} for {part:e}");
            }
        }
    }
}
