//! What flows with several paths can have together, as rows Σ λ_f y_f ≤ bound.
//!
//! ```text
//! Σ_f λ_f y_f  ≤  c·p + Σ_paths r_p (λ_f − q_p)₊        for every p ≥ 0, λ ≥ 0 and all rates that can be routed
//! q_p = Σ_{l ∈ p} p_l,      r_p = the smallest of cap_p and the capacities on p
//! ```
//!
//! as λ_f x_p ≤ q_p x_p + r_p (λ_f − q_p)₊ on every path. By Farkas' lemma these rows say everything. For given prices
//! and rates the tightest λ_f is the price of the path at which the flow, taking its paths in order of price, has its
//! rate. Cost: O(crossings of the flows on priced links).

use super::curves::{Curve, Rows};
use super::water_fill::power_of_two;
use crate::paths::Paths;
use crate::presolve::{open_paths, smallest};
use crate::problem::Problem;
use crate::utility::FairShare;

/// What of a problem its flows see, in a unit in which no sum overflows.
#[derive(Debug)]
pub(super) struct Network<'a> {
    pub(super) unit: f64,
    pub(super) capacities: Vec<f64>,
    pub(super) paths: &'a Paths,
    group: &'a [u32],
    pub(super) through: Paths,
    /// The open paths of every flow.
    pub(super) open: Paths,
    /// r_p of every path.
    pub(super) ceilings: Vec<f64>,
    /// B of every flow, cut at the sum of its ceilings.
    pub(super) curves: Vec<Curve<'a>>,
}

/// A row, and the prices that it follows from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cut {
    /// p_l > 0 of some links.
    pub(super) prices: Vec<(u32, f64)>,
    /// λ_f > 0 of some flows.
    pub(super) factors: Vec<(u32, f64)>,
    pub(super) bound: f64,
}

impl Cut {
    /// How far rates are from the bound: negative if beyond.
    pub(super) fn slack(&self, rates: &[f64]) -> f64 {
        self.bound - self.factors.iter().map(|&(flow, factor)| factor * rates[flow as usize]).sum::<f64>()
    }
}

impl<'a> Network<'a> {
    /// `shares` has one entry per flow.
    pub(super) fn new(problem: &'a Problem, shares: &[FairShare<'a>]) -> Self {
        let unit = power_of_two(problem.capacities().iter().copied().fold(0.0, f64::max));
        let (paths, open) = (problem.paths(), open_paths(problem).expect("not stopped"));
        let ceiling =
            |(path, links): (usize, &[u32])| smallest(problem.capacities(), links).min(problem.rate_cap(path));
        let ceilings: Vec<f64> = paths.iter().enumerate().map(ceiling).map(|ceiling| ceiling / unit).collect();
        let curve = |(own, &share): (&[u32], &FairShare<'a>)| {
            let most = own.iter().fold(0.0, |sum, &path| sum + ceilings[path as usize]);
            Curve::new(share, (most * unit).min(f64::MAX), unit)
        };
        Self {
            unit,
            capacities: problem.capacities().iter().map(|capacity| capacity / unit).collect(),
            paths,
            group: problem.group(),
            through: paths.transpose(problem.links()).expect("paths name links that exist"),
            curves: open.iter().zip(shares).map(curve).collect(),
            open,
            ceilings,
        }
    }

    /// The cut of some prices that is tightest at some rates of flows.
    pub(super) fn price(&self, prices: &[(u32, f64)], rates: &[f64]) -> Cut {
        let dense = self.spread(prices);
        let through = |&(link, _): &(u32, f64)| self.through.links(link as usize).iter();
        let mut flows: Vec<u32> = prices.iter().flat_map(through).map(|&path| self.group[path as usize]).collect();
        flows.sort_unstable();
        flows.dedup();
        let mut by_price: Vec<(f64, f64)> = Vec::new();
        let mut factors = Vec::new();
        for flow in flows {
            let own = self.open.links(flow as usize).iter();
            by_price.clear();
            by_price.extend(own.map(|&path| (self.path_price(path, &dense), self.ceilings[path as usize])));
            by_price.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
            let mut missing = rates[flow as usize];
            let reaches = by_price.iter().find(|(_, ceiling)| {
                missing -= ceiling;
                missing <= 0.0
            });
            match reaches.or(by_price.last()) {
                Some(&(factor, _)) if factor > 0.0 => factors.push((flow, factor)),
                _ => {}
            }
        }
        let bound = self.bound(prices, &factors);
        Cut { prices: prices.to_vec(), factors, bound }
    }

    /// c·p + Σ r_p (λ_f − q_p)₊.
    pub(super) fn bound(&self, prices: &[(u32, f64)], factors: &[(u32, f64)]) -> f64 {
        let dense = self.spread(prices);
        let worth: f64 = prices.iter().map(|&(link, price)| price * self.capacities[link as usize]).sum();
        let rents = factors.iter().map(|&(flow, factor)| {
            let rent = |&path: &u32| {
                // Not a product with 0, which would spoil a ceiling that is not finite.
                let above = factor - self.path_price(path, &dense);
                if above > 0.0 { self.ceilings[path as usize] * above } else { 0.0 }
            };
            self.open.links(flow as usize).iter().map(rent).sum::<f64>()
        });
        worth + rents.sum::<f64>()
    }

    /// What the paths of a flow can carry, each for itself.
    pub(super) fn width(&self, flow: usize) -> f64 {
        self.open.links(flow).iter().map(|&path| self.ceilings[path as usize]).sum()
    }

    /// A price for every link.
    pub(super) fn spread(&self, prices: &[(u32, f64)]) -> Vec<f64> {
        let mut dense = vec![0.0; self.capacities.len()];
        prices.iter().for_each(|&(link, price)| dense[link as usize] = price);
        dense
    }

    /// q_p.
    pub(super) fn path_price(&self, path: u32, prices: &[f64]) -> f64 {
        self.paths.links(path as usize).iter().map(|&link| prices[link as usize]).sum()
    }

    /// Prices apart where no flow of a cut pays for both: its links, one list for every part that stands alone.
    pub(super) fn parts(&self, cut: &Cut) -> Vec<Vec<(u32, f64)>> {
        let dense = self.spread(&cut.prices);
        let mut part: Vec<u32> = (0..dense.len() as u32).collect();
        fn root(part: &mut [u32], mut link: u32) -> u32 {
            while part[link as usize] != link {
                part[link as usize] = part[part[link as usize] as usize];
                link = part[link as usize];
            }
            link
        }
        for &(flow, _) in &cut.factors {
            let mut first = None;
            for &path in self.open.links(flow as usize) {
                for &link in self.paths.links(path as usize).iter().filter(|&&link| dense[link as usize] > 0.0) {
                    let (one, other) = (root(&mut part, *first.get_or_insert(link)), root(&mut part, link));
                    part[other as usize] = one;
                }
            }
        }
        let mut of_root: Vec<(u32, (u32, f64))> = Vec::new();
        of_root.extend(cut.prices.iter().map(|&(link, price)| (root(&mut part, link), (link, price))));
        of_root.sort_by_key(|&(root, (link, _))| (root, link));
        of_root
            .chunk_by(|one, other| one.0 == other.0)
            .map(|chunk| chunk.iter().map(|&(_, pair)| pair).collect())
            .collect()
    }
}

/// Cuts as rows to fill.
pub(super) fn rows(cuts: &[Cut]) -> Rows {
    Rows {
        bounds: cuts.iter().map(|cut| cut.bound).collect(),
        flows: cuts.iter().map(|cut| cut.factors.clone()).collect(),
    }
}
