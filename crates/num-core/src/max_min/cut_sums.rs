//! From the cuts of a run, each of which holds given the earlier ones, to inequalities that hold alone.
//!
//! ```text
//! cut i         Σ λ_f y_f ≤ π·c      holds given cuts j < i: where cut j has fixed a link as full, π may be negative;
//!                                    where it has fixed a path as empty, π(p) may be below λ_f
//! inequality i  = cut i + Σ_{j < i} κ_j inequality j      with the least κ_j ≥ 0 for which π ≥ 0, and π(p) ≥ λ_f for
//!                                                         every path
//! ```
//!
//! The cuts j are added from the latest to the earliest. Inequality j satisfies both conditions everywhere, strictly on
//! the links and paths that cut j has fixed: a multiple of it removes their violations and creates no others. All cuts
//! are full at the end, so their sum is, once its prices are refined (`parametric/refined_prices.rs`). Its factors are
//! at last those of its prices, so that prices that are off by rounding cost no more than that.
//!
//! Cost: for every cut the paths of the flows that cross its links, and for each inequality added to it those of the
//! flows with a violation.

use super::network::Network;
use super::tolerances::REFINED;
use super::witness::{Inequality, Witness, crossings};
use crate::paths::Paths;

/// A sparse vector.
#[derive(Debug)]
struct Sparse {
    values: Vec<f64>,
    is_listed: Vec<bool>,
    listed: Vec<u32>,
}

impl Sparse {
    fn new(size: usize) -> Self {
        Self { values: vec![0.0; size], is_listed: vec![false; size], listed: Vec::new() }
    }

    fn add(&mut self, place: u32, value: f64) {
        if !self.is_listed[place as usize] {
            self.is_listed[place as usize] = true;
            self.listed.push(place);
        }
        self.values[place as usize] += value;
    }

    fn clear(&mut self) {
        for place in self.listed.drain(..) {
            self.values[place as usize] = 0.0;
            self.is_listed[place as usize] = false;
        }
    }

    fn set(&mut self, entries: &[(u32, f64)]) {
        self.clear();
        entries.iter().for_each(|&(place, value)| self.add(place, value));
    }
}

/// A violation that an earlier inequality removes: a link with π < 0, or a path with π(p) < λ_f.
#[derive(Debug, Clone, Copy)]
enum Violation {
    Link(u32),
    Path(u32),
}

/// The inequalities of the cuts so far.
#[derive(Debug)]
pub(super) struct CutSums {
    of_cuts: Witness,
    prices: Sparse,
    earlier_prices: Sparse,
    /// The flows that cross the links of a cut, and the factors of those with a violation.
    crossing: Sparse,
    factors: Sparse,
    path_prices: Vec<f64>,
    violations: Vec<(u32, Violation)>,
}

impl CutSums {
    pub(super) fn new(network: &Network) -> Self {
        let (links, flows) = (network.capacities.len(), network.flows());
        Self {
            of_cuts: Vec::new(),
            prices: Sparse::new(links),
            earlier_prices: Sparse::new(links),
            crossing: Sparse::new(flows),
            factors: Sparse::new(flows),
            path_prices: vec![0.0; network.paths.len()],
            violations: Vec::new(),
        }
    }

    /// Number of cuts.
    pub(super) fn len(&self) -> u32 {
        self.of_cuts.len() as u32
    }

    pub(super) fn first(&self) -> Option<&Inequality> {
        self.of_cuts.first()
    }

    pub(super) fn into_witness(self) -> Witness {
        self.of_cuts
    }

    /// The prices of the next cut with those of the inequalities before that it needs. `path_ban` and `link_ban` give
    /// the cut that has fixed a path or a link; `through` lists the paths of every link. Returns the operations done,
    /// too.
    pub(super) fn sum(
        &mut self,
        network: &Network,
        through: &Paths,
        cut: &[(u32, f64)],
        path_ban: &[u32],
        link_ban: &[u32],
    ) -> (Vec<(u32, f64)>, usize) {
        let Self { of_cuts, prices, earlier_prices, crossing, factors, path_prices, violations } = self;
        let (number, mut work) = (of_cuts.len() as u32, 0);
        prices.set(cut);
        crossing.clear();
        factors.clear();
        violations.clear();
        for &(link, price) in cut {
            if price < 0.0 && link_ban[link as usize] < number {
                violations.push((link_ban[link as usize], Violation::Link(link)));
            }
            let paths = through.row(link as usize);
            work += 4 * paths.links().len();
            paths.links().iter().for_each(|&path| crossing.add(network.owners[path as usize], 0.0));
            paths.add(price, path_prices);
        }
        for &flow in &crossing.listed {
            let of_flow = network.paths_of(flow as usize);
            let may_carry = of_flow.clone().filter(|&path| path_ban[path] >= number);
            let factor = may_carry.map(|path| path_prices[path]).fold(f64::INFINITY, f64::min);
            let factor = if factor.is_finite() { factor } else { 0.0 };
            let known = violations.len();
            for path in of_flow {
                if path_ban[path] < number && path_prices[path] < factor {
                    violations.push((path_ban[path], Violation::Path(path as u32)));
                }
            }
            if violations.len() > known {
                factors.add(flow, factor);
            }
        }
        for &(link, _) in cut {
            through.links(link as usize).iter().for_each(|&path| path_prices[path as usize] = 0.0);
        }
        violations.sort_unstable_by_key(|&(number, _)| std::cmp::Reverse(number));
        let mut unit = cut.iter().map(|&(_, price)| price.abs()).fold(0.0, f64::max);
        for of_one in violations.chunk_by(|one, other| one.0 == other.0) {
            let earlier = &of_cuts[of_one[0].0 as usize];
            earlier_prices.set(&earlier.prices);
            let price = |path: usize, prices: &Sparse| network.paths.row(path).sum(&prices.values);
            let factor_there = |flow: usize| {
                network.paths_of(flow).map(|path| price(path, earlier_prices)).fold(f64::INFINITY, f64::min)
            };
            let mut times = 0.0f64;
            for &(_, violation) in of_one {
                let (missing, gives) = match violation {
                    Violation::Link(link) => {
                        let missing = -prices.values[link as usize];
                        (if missing > REFINED * unit { missing } else { 0.0 }, earlier_prices.values[link as usize])
                    }
                    Violation::Path(path) => {
                        let (flow, path) = (network.owners[path as usize] as usize, path as usize);
                        work += 4 * network.paths.links(path).len();
                        let (missing, there) =
                            (factors.values[flow] - price(path, prices), price(path, earlier_prices));
                        let terms = network.paths.row(path).sum_of(|link| prices.values[link].abs());
                        // Where nothing is missing it does not matter what there is.
                        let gives = if missing > REFINED * terms { there - factor_there(flow) } else { 0.0 };
                        (missing, if gives > REFINED * there { gives } else { 0.0 })
                    }
                };
                if missing > 0.0 && gives > 0.0 {
                    times = times.max(missing / gives);
                }
            }
            work += 2 * earlier.prices.len();
            if times > 0.0 {
                earlier.prices.iter().for_each(|&(link, price)| {
                    prices.add(link, times * price);
                    let sum = &mut prices.values[link as usize];
                    // No flow is held by the rounding of a violation that is removed.
                    *sum = if sum.abs() <= REFINED * times * price { 0.0 } else { *sum };
                });
                for &flow in &factors.listed {
                    factors.values[flow as usize] += times * factor_there(flow as usize);
                    let of_flow = network.paths_of(flow as usize);
                    work += 4 * of_flow.len() * network.paths.links(of_flow.start).len();
                }
                unit = unit.max(times);
            }
        }
        (prices.listed.iter().map(|&link| (link, prices.values[link as usize])).collect(), work)
    }

    /// The inequality of the next cut, by the prices of its [`sum`](Self::sum). Returns the operations done, too.
    pub(super) fn push(
        &mut self,
        network: &Network,
        through: &Paths,
        sum: &[(u32, f64)],
        fair_share: f64,
    ) -> (&Inequality, usize) {
        let Self { of_cuts, path_prices, .. } = self;
        let work = 2 * crossings(through, sum);
        of_cuts.push(Inequality { fair_share, ..Inequality::of_prices(network, through, sum, path_prices) });
        (of_cuts.last().expect("just pushed"), work)
    }
}
