//! Max-min for flows with several paths: the smallest fair share as large as possible, then the next smallest, and so
//! on.
//!
//! ```text
//! T = rates y that can be routed = { y : Σ λ_f y_f ≤ bound for every cut }        (cuts.rs)
//! P = some of these cuts ⊇ T     y = max-min over P, by water-filling             (curves.rs)
//! y can be routed: y is max-min over T      otherwise: one more cut, that y violates      (route.rs)
//! ```
//!
//! The largest of a set, in an order, is the largest of every subset that it lies in. So nothing rests on the accuracy
//! of a linear program but whether it finds a cut. The first cuts are the links. Prices that were good once are tried
//! again before a linear program is, with the λ that is tightest at the present rates; a cut whose links no flow joins is
//! taken apart.
//!
//! A cut on which the water stopped flows at fair share t proves that none of them can have more unless another falls
//! below B(t): the witness that [`blocked`](super::blocked) asks for.
//!
//! What a program's answer lacks to be a routing is settled by projections, and what its prices lack to be a vertex by
//! making them even: rates are then as good as rounding.
//!
//! Cost: a linear program for every bottleneck that is not a single link, and one more: 5 to 15 for 100 flows on a
//! leaf-spine, 5 to 12 iterations each. Where it fails: a program that is so degenerate that its prices stay inexact leaves
//! errors of up to 1e-7 (one random problem in a thousand). Source: cutting planes, Kelley, *The cutting-plane
//! method for solving convex programs*, SIAM J. 1960; ours for max-min.

use super::blocked::{Reason, Witness};
use super::curves::fill_rows;
use super::cuts::{Cut, Network, rows};
use super::water_fill::FULL;
use super::{METHOD, flow_shares};
use crate::error::Result;
use crate::normalize::{FNorm, Normalizer, relative_loads};
use crate::problem::Problem;

/// Relative gaps that are asked of a linear program: the first will do unless the rates are beyond what can be routed by
/// so little that no cut shows it.
const TOLERANCES: [f64; 2] = [1e-8, 1e-12];
/// A cut counts as violated from here on, relative to its bound.
const VIOLATED: f64 = 1e-12;
/// Rates are routed when no link or cap is exceeded by more than this part, and may be when what is missing at first
/// is less than the second part.
const ROUTED: f64 = 4.0 * FULL;
const NEARLY: f64 = 1e-5;
/// Times that paths are brought to the rates of flows and links to their capacities, in turns.
const TURNS: usize = 1000;
/// A link whose price makes less than this part of a cut's bound is left out of it, if that is violated all the same.
const FAINT: f64 = 1e-8;
/// Paths cost the same when their prices differ by no more than this part, and a cut in which they do must keep this part
/// of its depth.
const ALIKE: f64 = 1e-4;
const DEPTH: f64 = 0.999;
/// The largest denominator of a ratio of prices that counts as small.
const RATIOS: u32 = 12;
/// Linear programs beyond one per flow after which the answer stands as it is.
const PATIENCE: usize = 50;

/// The max-min rates of a problem in which flows own several paths, and the proof.
pub(super) fn lexicographic(problem: &Problem) -> Result<(Vec<f64>, Witness)> {
    let shares = flow_shares(problem, METHOD)?;
    let network = Network::new(problem, &shares);
    let most: Vec<f64> = network.curves.iter().map(|curve| curve.ceiling()).collect();
    let links = 0..network.capacities.len() as u32;
    let mut pool: Vec<Vec<(u32, f64)>> = links.map(|link| vec![(link, 1.0)]).collect();
    let mut cuts: Vec<Cut> = pool.iter().map(|prices| network.price(prices, &most)).collect();
    let mut warm: Option<Vec<f64>> = None;
    let mut programs = 0;
    loop {
        let filled = fill_rows(&rows(&cuts), &network.curves);
        let again = pool.iter().map(|prices| network.price(prices, &filled.rates));
        let before = cuts.len();
        cuts.extend(again.filter(|cut| is_violated(cut, &filled.rates)));
        if cuts.len() > before {
            continue;
        }
        let mut found = Vec::new();
        for tolerance in TOLERANCES {
            let routing = network.route(&filled.rates, warm.as_deref(), tolerance)?;
            programs += 1;
            let mut rates = routing.rates;
            let routed = network.settle(&filled.rates, &mut rates);
            found = if routed { Vec::new() } else { network.blame(&routing.prices, &filled.rates) };
            warm = Some(routing.prices);
            if !found.is_empty() && programs <= PATIENCE + problem.flows() {
                break;
            }
            if routed || tolerance == TOLERANCES[1] {
                rates.iter_mut().for_each(|rate| *rate *= network.unit);
                return Ok((rates, witness(cuts, &filled.levels)));
            }
        }
        pool.extend(found.iter().map(|cut| cut.prices.clone()));
        cuts.extend(found);
    }
}

fn is_violated(cut: &Cut, rates: &[f64]) -> bool {
    depth(cut, rates) > VIOLATED
}

/// By how much rates are beyond a cut, relative to its bound.
fn depth(cut: &Cut, rates: &[f64]) -> f64 {
    if cut.bound > 0.0 { -cut.slack(rates) / cut.bound } else { 0.0 }
}

/// The cuts that stopped flows, each with the fair share where it did.
fn witness(cuts: Vec<Cut>, levels: &[f64]) -> Witness {
    let reasons = cuts.into_iter().zip(levels).filter(|(_, level)| level.is_finite());
    reasons.map(|(Cut { prices, factors, .. }, &fair_share)| Reason { fair_share, prices, factors }).collect()
}

impl Network<'_> {
    /// Makes rates of paths feasible that nearly are and nearly add up to the rates of flows: in turns, each flow's paths
    /// are brought to its rate and each link's to its capacity. Returns whether both are met in the end; links always are.
    fn settle(&self, wanted: &[f64], rates: &mut [f64]) -> bool {
        let turns = if self.shortfall(wanted, rates) <= NEARLY { TURNS } else { 0 };
        let mut projected = rates.to_vec();
        let mut routed = false;
        for turn in 0..=turns {
            // Raised apart from the projections, which would not converge with it.
            rates.copy_from_slice(&projected);
            self.raise(wanted, rates);
            routed = self.fits(wanted, rates);
            if routed || turn == turns {
                break;
            }
            self.project(wanted, &mut projected);
        }
        FNorm::default().normalize_capped(&self.capacities, self.paths, &self.ceilings, rates);
        routed
    }

    /// Projections on one constraint after the other.
    fn project(&self, wanted: &[f64], rates: &mut [f64]) {
        for (own, &wanted) in self.open.iter().zip(wanted) {
            let total: f64 = own.iter().map(|&path| rates[path as usize]).sum();
            for &path in own {
                let rate = rates[path as usize] + (wanted - total) / own.len() as f64;
                rates[path as usize] = rate.clamp(0.0, self.ceilings[path as usize]);
            }
        }
        for (through, &capacity) in self.through.iter().zip(&self.capacities) {
            let over = through.iter().map(|&path| rates[path as usize]).sum::<f64>() - capacity;
            let used = through.iter().filter(|&&path| rates[path as usize] > 0.0).count();
            if over > 0.0 {
                for &path in through {
                    rates[path as usize] = (rates[path as usize] - over / used as f64).max(0.0);
                }
            }
        }
    }

    /// Whether nothing is exceeded, and no flow was left without any rate to raise.
    fn fits(&self, wanted: &[f64], rates: &[f64]) -> bool {
        let loads = relative_loads(&self.capacities, self.paths, rates.iter().copied()).into_iter();
        let used = rates.iter().zip(&self.ceilings).filter(|(rate, _)| **rate > 0.0);
        loads.chain(used.map(|(rate, ceiling)| rate / ceiling)).fold(0.0, f64::max) <= 1.0 + ROUTED
            && self.shortfall(wanted, rates) <= ROUTED
    }

    /// The largest part that a flow falls short of its rate.
    fn shortfall(&self, wanted: &[f64], rates: &[f64]) -> f64 {
        let total = |own: &[u32]| own.iter().map(|&path| rates[path as usize]).sum::<f64>();
        let short = |(own, &wanted): (&[u32], &f64)| if wanted > 0.0 { 1.0 - total(own) / wanted } else { 0.0 };
        self.open.iter().zip(wanted).map(short).fold(0.0, f64::max)
    }

    /// Brings the paths of every flow to its rate, in proportion.
    fn raise(&self, wanted: &[f64], rates: &mut [f64]) {
        for (own, &wanted) in self.open.iter().zip(wanted) {
            let total: f64 = own.iter().map(|&path| rates[path as usize]).sum();
            if total > 0.0 {
                own.iter().for_each(|&path| rates[path as usize] *= wanted / total);
            }
        }
    }

    /// Cuts that the rates of flows violate, from the prices at which they could not be routed.
    fn blame(&self, prices: &[f64], rates: &[f64]) -> Vec<Cut> {
        let worth = |(link, price): (usize, &f64)| price * self.capacities[link];
        let whole: f64 = prices.iter().enumerate().map(worth).sum();
        let above = |part: f64| -> Vec<(u32, f64)> {
            let priced = prices.iter().enumerate().filter(|&(link, price)| worth((link, price)) > part * whole);
            priced.map(|(link, &price)| (link as u32, price)).collect()
        };
        for part in [FAINT, 0.0] {
            let cut = self.price(&above(part), rates);
            let parts = self.parts(&cut).into_iter().map(|prices| self.even(self.price(&prices, rates), rates));
            let found: Vec<Cut> = parts.filter(|part| is_violated(part, rates)).collect();
            if !found.is_empty() {
                return found;
            }
            if is_violated(&cut, rates) {
                return vec![cut];
            }
        }
        Vec::new()
    }

    /// The same cut with prices at which paths of a flow that nearly cost the same do, if that is violated as much: what
    /// they differ by is the error of a linear program, and would loosen the bound by as much.
    fn even(&self, cut: Cut, rates: &[f64]) -> Cut {
        if let Some(whole) = self.round(&cut, rates) {
            return whole;
        }
        let mut prices = self.spread(&cut.prices);
        let near = |&(flow, factor): &(u32, f64)| -> Vec<u32> {
            let differs = |&path: &u32| (self.path_price(path, &prices) / factor - 1.0).abs();
            self.open.links(flow as usize).iter().copied().filter(|path| differs(path) <= ALIKE).collect()
        };
        let alike: Vec<Vec<u32>> = cut.factors.iter().map(near).filter(|paths| paths.len() > 1).collect();
        for _ in 0..TURNS {
            let mut worst = 0.0f64;
            for paths in &alike {
                let total: f64 = paths.iter().map(|&path| self.path_price(path, &prices)).sum();
                for &path in paths {
                    let change = total / paths.len() as f64 / self.path_price(path, &prices);
                    worst = worst.max((change - 1.0).abs());
                    self.paths.links(path as usize).iter().for_each(|&link| prices[link as usize] *= change);
                }
            }
            if worst <= FULL {
                break;
            }
        }
        let even: Vec<(u32, f64)> = cut.prices.iter().map(|&(link, _)| (link, prices[link as usize])).collect();
        let even = self.price(&even, rates);
        if depth(&even, rates) >= DEPTH * depth(&cut, rates) { even } else { cut }
    }

    /// The same with prices in small whole ratios, if that is violated as much: those of an extreme ray of all cuts are.
    fn round(&self, cut: &Cut, rates: &[f64]) -> Option<Cut> {
        let largest = cut.prices.iter().map(|&(_, price)| price).fold(0.0, f64::max);
        let rounded = |parts: u32| {
            let whole = |price: f64| (price / largest * f64::from(parts)).round();
            let prices: Vec<(u32, f64)> = cut.prices.iter().map(|&(link, price)| (link, whole(price))).collect();
            let kept: Vec<(u32, f64)> = prices.into_iter().filter(|&(_, price)| price > 0.0).collect();
            self.price(&kept, rates)
        };
        (1..=RATIOS).map(rounded).find(|other| depth(other, rates) >= DEPTH * depth(cut, rates))
    }
}
