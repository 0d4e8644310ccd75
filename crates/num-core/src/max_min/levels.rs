//! What holds the flows of max-min rates back, and what a unit of capacity is worth to their fair share.
//!
//! ```text
//! price of link l = π_l / Σ_f λ_f B_f'(t)   of the first level t whose cut has the link, over the flows that it fixes
//! ```
//!
//! That is dt/dc_l: the links of the cut are in no earlier one, so that the flows which are fixed at lower levels stay
//! where they are. With one path per flow a cut is a link (π = λ = 1). Where flows are fixed at the same level by
//! several cuts, each counts for the first of them: t has a kink there, and the price is a slope to one side or between
//! the two. Slopes of B are those just below t.

use serde::{Deserialize, Serialize};

use super::fair_shares::{CERTIFICATE, flow_shares};
use super::network::Network;
use super::tolerances::ZERO;
use super::witness::{Inequality, nearest_inequalities};
use crate::error::Result;
use crate::paths::Row;
use crate::problem::Problem;
use crate::tolerances::{AT_LIMIT, IDLE_SHARE};
use crate::utility::FairShare;

/// Links that together have held back flows of max-min rates with several paths per flow, at one fair share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cut {
    /// The fair share at which the links were full.
    pub fair_share: f64,
    /// The links, in order.
    pub links: Vec<u32>,
    /// The flows that could not rise further, in order.
    pub flows: Vec<u32>,
}

/// What holds flows back.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    /// The link that holds every path back.
    pub(crate) bottlenecks: Vec<Option<u32>>,
    /// The price of every link.
    pub(crate) prices: Vec<f64>,
    /// In order of fair shares; none with one path per flow.
    pub(crate) cuts: Vec<Cut>,
}

/// A level: the links of its cut with their π, those that stand for caps among them, and the flows that it fixes.
struct Level {
    fair_share: f64,
    prices: Vec<(u32, f64)>,
    flows: Vec<u32>,
    /// Σ λ_f B_f'(t).
    rises: f64,
}

/// The limits of flows with several paths, at feasible rates in the caller's units, by their witness: of flows that are
/// within `near` of a bottleneck.
///
/// # Errors
/// As [`residual`](super::residual()).
pub(super) fn limits_by_cuts(problem: &Problem, rates: &[f64], witness: &[Inequality], near: f64) -> Result<Limits> {
    let shares = flow_shares(problem, CERTIFICATE)?;
    let network = Network::new(problem, &shares)?;
    let rates = network.own_rates(rates);
    let mut levels = levels(&network, &shares, &rates, witness, near)?;
    levels.sort_by(|one, other| one.fair_share.total_cmp(&other.fair_share));
    let is_link = |link: u32| (link as usize) < problem.links();
    let mut limits = Limits {
        bottlenecks: vec![None; problem.paths().len()],
        prices: vec![0.0; problem.links()],
        cuts: Vec::with_capacity(levels.len()),
    };
    for Level { fair_share, prices, flows, rises } in levels {
        let mut links = Vec::with_capacity(prices.len());
        for &(link, price) in prices.iter().filter(|&&(link, _)| is_link(link)) {
            links.push(link);
            let known = &mut limits.prices[link as usize];
            // Of the first level that has the link.
            let price = network.caller_price(link, price);
            *known = if *known == 0.0 && rises > 0.0 { (price / rises).min(f64::MAX) } else { *known };
        }
        for &flow in &flows {
            let of_flow = network.paths_of(flow as usize);
            let least = IDLE_SHARE * rates[of_flow.clone()].iter().sum::<f64>();
            for path in of_flow.filter(|&path| rates[path] > least) {
                let dearest = dearest(network.paths.row(path), &prices);
                limits.bottlenecks[network.open()[path] as usize] = dearest.filter(|&link| is_link(link));
            }
        }
        limits.cuts.push(Cut { fair_share, links, flows });
    }
    Ok(limits)
}

/// The levels at which flows were fixed, in any order.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
fn levels(
    network: &Network,
    shares: &[FairShare<'_>],
    rates: &[f64],
    witness: &[Inequality],
    near: f64,
) -> Result<Vec<Level>> {
    let through = network.paths.transpose(network.capacities.len())?;
    let nearest = nearest_inequalities(network, &through, rates, witness)?;
    let (mut fixed, mut levels) = (vec![Vec::new(); witness.len()], Vec::new());
    for (flow, (distance, number)) in nearest.into_iter().enumerate() {
        let rate: f64 = rates[network.paths_of(flow)].iter().sum();
        let share = &shares[flow];
        if network.paths_of(flow).is_empty() || rate * network.unit >= share.saturation() * (1.0 - AT_LIMIT) {
            continue;
        }
        match number.filter(|_| distance <= near) {
            Some(number) => fixed[number as usize].push(flow as u32),
            // It has the whole of the narrowest link of each of its paths.
            None if rate >= network.widths[flow] * (1.0 - near) => {
                let narrowest = |path: usize| {
                    let carries = |&(link, a): &(u32, f64)| network.capacities[link as usize] / a;
                    let entries = network.paths.row(path).entries();
                    entries.min_by(|one, other| carries(one).total_cmp(&carries(other)))
                };
                let links = network.paths_of(flow).filter_map(narrowest);
                let mut prices: Vec<(u32, f64)> = links.map(|(link, a)| (link, a.recip())).collect();
                prices.sort_unstable_by_key(|&(link, _)| link);
                let fair_share = share.least(rate * network.unit);
                let rises = share.slope_below(fair_share);
                levels.push(Level { fair_share, prices, flows: vec![flow as u32], rises });
            }
            None => {}
        }
    }
    for (Inequality { fair_share, prices, factors }, flows) in witness.iter().zip(fixed) {
        if flows.is_empty() {
            continue;
        }
        let rising = factors.iter().filter(|(flow, _)| flows.binary_search(flow).is_ok());
        let rises = rising.map(|&(flow, factor)| factor * shares[flow as usize].slope_below(*fair_share)).sum();
        let largest = prices.iter().map(|&(_, price)| price).fold(0.0, f64::max);
        let prices = prices.iter().copied().filter(|&(_, price)| price > ZERO * largest).collect();
        levels.push(Level { fair_share: *fair_share, prices, flows, rises });
    }
    Ok(levels)
}

/// The link to which a path pays most; the first of equals.
fn dearest(path: Row<'_>, prices: &[(u32, f64)]) -> Option<u32> {
    let price = |link: u32| prices.binary_search_by_key(&link, |&(link, _)| link).ok().map(|place| prices[place].1);
    let mut found: Option<(u32, f64)> = None;
    for (link, a) in path.entries() {
        if let Some(price) = price(link).map(|price| a * price)
            && found.is_none_or(|(_, highest)| price > highest)
        {
            found = Some((link, price));
        }
    }
    found.map(|(link, _)| link)
}
