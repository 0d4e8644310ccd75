//! Max-min over several paths, approximately, by water-filling alone: for more flows than the simplex method can take.
//!
//! ```text
//! x_p = θ_p B_f(t)      Σ_{p ∈ f} θ_p = 1        as the fair share t rises, each path until a link of it is full
//! θ_p ← x_p / Σ x       the weight of a path is its part of the flow's rate; then again from t = 0
//! ```
//!
//! At a fixed point all paths that a flow uses fill at one fair share. That is necessary for max-min rates and not
//! sufficient: the method is not exact. The residual of the rates is therefore bounded afterwards by a witness
//! (`witness.rs`). Two kinds of inequalities are tried, with prices of 1 on
//!
//! ```text
//! one full link l                    with t the largest fair share of a flow all of whose paths cross l
//! all full links of level ≤ t        for some levels t;  level of a link = mean fair share of what it carries
//! ```
//!
//! **The bound.** Let u be the largest residual. By weak duality (`witness.rs`) every flow f that is not satisfied has
//! an inequality with fair share t, so that with m_g = min(y_g, B_g(t)), for any feasible rates z,
//!
//! ```text
//! (1)  y_f ≥ (1 − u) B_f(t)
//! (2)  z_g ≥ m_g for all other flows g   ⇒   z_f ≤ y_f / (1 − u)        but for y_f below 1e−6 of what its paths carry
//! ```
//!
//! Take the max-min rates for z. If they give f more than y_f/(1 − u), then by (2) they give some g less than m_g,
//! which is at most its B_g(t), and by (1) B_f(t) ≤ y_f/(1 − u): f can gain more only from flows whose fair share is at
//! most that of y_f/(1 − u). Let s* be the largest s for which the rates min(r_f, B_f(s))
//! of all flows are feasible. Then every flow has all but a part u of that rate:
//!
//! ```text
//! (3)  y_f ≥ (1 − u) min(r_f, B_f(s*))
//! ```
//!
//! for if t ≤ s* the max-min rates leave every other flow its m_g, so that (2) applies, and otherwise (1) is
//! stronger. There is no such bound for single rates at higher fair shares.
//!
//! Cost: a water-fill of all paths per round, and for the proof, every few rounds, the crossings of full links times
//! the number of levels.

use super::curves::CurveFill;
use super::network::Network;
use super::water_fill::WaterFill;
use super::witness::{Inequality, Witness, residual_in};
use super::witness_from_cuts::ROUNDED;
use super::{METHOD, flow_shares, flow_weights};
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::paths::Paths;
use crate::problem::Problem;
use crate::utility::FairShare;

/// Rounds between two proofs, and how many proofs are tried.
const ROUNDS: usize = 4;
const PROOFS: usize = 6;
/// The relative decrease of the residual below which no further proof is tried.
const GAIN: f64 = 0.01;
/// Levels of which a proof takes all full links below.
const LEVELS: usize = 16;
/// A link with no more than this part of its capacity left is full.
const FULL: f64 = 1e-9;
/// The least θ_p: at 0 a path would never be used again.
const LEAST: f64 = 1e-9;
/// Paths between two checks for a stop.
const SLICE: usize = 1 << 16;

/// Rates in the caller's units, and their residual.
pub(super) struct Approximate {
    pub(super) rates: Vec<f64>,
    pub(super) unfairness: f64,
}

/// Goes on until the bound is at most `accuracy`, or gets no better.
///
/// # Errors
/// Those of [`max_min`](super::max_min()).
pub(super) fn adaptive(problem: &Problem, accuracy: f64) -> Result<Approximate> {
    let network = Network::new(problem)?;
    let through = network.paths.transpose(network.capacities.len())?;
    let shares = flow_shares(problem, METHOD)?;
    let weights = flow_weights(problem, METHOD)?;
    let mut parts: Vec<f64> = (0..network.flows())
        .flat_map(|flow| network.paths_of(flow).map(move |_| flow))
        .map(|flow| 1.0 / network.paths_of(flow).len() as f64)
        .collect();
    let mut fill = match &weights {
        Some(_) => Some(WaterFill::new(&network.capacities, &network.paths)?),
        None => None,
    };
    let mut best: Option<Approximate> = None;
    for round in 1..=ROUNDS * PROOFS {
        interrupt::check()?;
        let rates = match (&mut fill, &weights) {
            (Some(fill), Some(weights)) => by_weights(problem, &network, fill, weights, &parts)?,
            _ => by_curves(&network, &shares, &parts)?,
        };
        for flow in 0..network.flows() {
            let of_flow = network.paths_of(flow);
            let total: f64 = rates[of_flow.clone()].iter().sum();
            if total > 0.0 {
                of_flow.for_each(|path| parts[path] = (rates[path] / total).max(LEAST));
            }
        }
        if round.is_multiple_of(ROUNDS) {
            let witness = witness_near(&network, &through, &shares, &rates)?;
            let mut rates = network.caller_rates(rates);
            problem.cut_to_flow_caps(&mut rates);
            let unfairness = residual_in(problem, &network, &through, &shares, &rates, &witness)?;
            let before = best.as_ref().map_or(f64::INFINITY, |best| best.unfairness);
            if unfairness < before {
                best = Some(Approximate { rates, unfairness });
            }
            if unfairness <= accuracy || unfairness > before * (1.0 - GAIN) {
                break;
            }
        }
    }
    Ok(best.expect("there is a proof after some rounds"))
}

/// A water-fill of the open paths, each with its part of its flow's weight and cap.
fn by_weights(
    problem: &Problem,
    network: &Network,
    fill: &mut WaterFill<&Paths>,
    weights: &[f64],
    parts: &[f64],
) -> Result<Vec<f64>> {
    let of_path = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
        network.owners.iter().zip(parts).map(|(&flow, part)| part * value(flow as usize)).collect()
    };
    let path_weights = of_path(&|flow| weights[flow]);
    let caps = match problem.has_flow_caps() {
        true => of_path(&|flow| problem.flow_cap(flow) / network.unit),
        false => Vec::new(),
    };
    let mut rates = vec![0.0; parts.len()];
    fill.start(&path_weights, &mut rates)?;
    while !fill.rise(&caps, &mut rates, SLICE) {
        interrupt::check()?;
    }
    Ok(rates)
}

/// The same where some fair shares are curves.
fn by_curves(network: &Network, shares: &[FairShare], parts: &[f64]) -> Result<Vec<f64>> {
    let capacities: Vec<f64> = network.capacities.iter().map(|capacity| capacity * network.unit).collect();
    let of_path: Vec<FairShare> = network.owners.iter().map(|&flow| shares[flow as usize]).collect();
    let caps = vec![f64::INFINITY; parts.len()];
    let mut fill = CurveFill::new(&capacities, &network.paths, &of_path, &caps, parts)?;
    while !fill.rise(SLICE / 8) {
        interrupt::check()?;
    }
    Ok(fill.so_far().into_iter().map(|rate| rate / network.unit).collect())
}

/// A witness for rates of the open paths: inequalities at the bottlenecks of these rates.
fn witness_near(network: &Network, through: &Paths, shares: &[FairShare], rates: &[f64]) -> Result<Witness> {
    let mut pacer = Pacer::new();
    let level = |flow: usize| {
        let total: f64 = network.paths_of(flow).map(|path| rates[path]).sum();
        shares[flow].least(total * network.unit)
    };
    let levels: Vec<f64> = (0..network.flows()).map(level).collect();
    let mut full: Vec<(f64, u32)> = Vec::new();
    let mut witness = Vec::new();
    let mut crossed = vec![0u32; network.flows()];
    for (link, paths) in through.iter().enumerate() {
        pacer.did(paths.len())?;
        let (mut load, mut sum) = (0.0, 0.0);
        for &path in paths {
            let rate = rates[path as usize];
            load += rate;
            sum += if rate > 0.0 { rate * levels[network.owners[path as usize] as usize] } else { 0.0 };
        }
        if load > 0.0 && load >= network.capacities[link] * (1.0 - FULL) {
            full.push((sum / load, link as u32));
            paths.iter().for_each(|&path| crossed[network.owners[path as usize] as usize] += 1);
            let (mut factors, mut most) = (Vec::new(), 0.0f64);
            for &path in paths {
                let flow = network.owners[path as usize];
                // All paths of the flow cross the link; those of others that are counted here do not.
                if std::mem::take(&mut crossed[flow as usize]) as usize == network.paths_of(flow as usize).len() {
                    factors.push((flow, 1.0));
                    most = most.max(levels[flow as usize]);
                }
            }
            if !factors.is_empty() {
                witness.push(Inequality {
                    fair_share: most * (1.0 - ROUNDED),
                    prices: vec![(link as u32, 1.0)],
                    factors,
                });
            }
        }
    }
    full.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let mut ends: Vec<usize> = (1..=LEVELS).map(|part| full.len() * part / LEVELS).filter(|&end| end > 0).collect();
    ends.dedup();
    for end in ends {
        let mut path_prices = vec![0.0; network.paths.len()];
        for &(_, link) in &full[..end] {
            pacer.did(through.links(link as usize).len())?;
            through.links(link as usize).iter().for_each(|&path| path_prices[path as usize] += 1.0);
        }
        let least = |flow: usize| network.paths_of(flow).map(|path| path_prices[path]).fold(f64::INFINITY, f64::min);
        let factors = (0..network.flows()).map(|flow| (flow as u32, least(flow)));
        let factors = factors.filter(|&(_, factor)| factor > 0.0 && factor.is_finite()).collect();
        let prices = full[..end].iter().map(|&(_, link)| (link, 1.0)).collect();
        witness.push(Inequality { fair_share: full[end - 1].0, prices, factors });
    }
    Ok(witness)
}
