//! A row of the simplex tableau, as prices of links, and the entering column when it leaves.
//!
//! ```text
//! slack of link l     π_l = 1,  π_T = −gᵀ W⁻¹,  g_e = R_{l,e} − R_{l,k(f(e))}
//! extra path e        π_T = row e of W⁻¹
//! coefficients        π(p) − π(k_f) for a path p of flow f,  π_l for the slack of a link l
//! ```
//!
//! Columns with a negative coefficient may enter. The ratio test takes the least ratio of reduced cost to coefficient,
//! and of the ratios that are equal to a tolerance the largest coefficient. Prices are sums of small fractions, so
//! those below 1e−11 of the largest are rounding.
//!
//! Coefficients need no more than the differences between the paths of a flow (`crossings.rs`). What a flow pays for
//! all its paths, λ_f = π(k_f), is found where it is needed. Cost: O(crossings by which flows differ, of the links with
//! a price, and the other paths of their flows).

use std::{iter, mem};

use super::Parametric;
use super::direction::Leaving;
use crate::max_min::basis::{Basis, NONE};
use crate::max_min::network::Network;
use crate::max_min::tolerances::{PIVOT, REDUCED_COST, ZERO};

/// A column that enters the basis.
#[derive(Debug, Clone, Copy)]
pub(super) enum Column {
    Path(u32),
    /// The slack of a link.
    Slack(u32),
}

/// A column, and how far it enters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entering {
    pub(super) column: Column,
    /// Its reduced cost per coefficient: by how much of the row prices rise.
    pub(super) length: f64,
}

#[derive(Debug, Default)]
pub(super) struct Row {
    /// π of every link, and which have one.
    prices: Vec<f64>,
    priced: Vec<u32>,
    largest: f64,
    /// π(p) of every path, but for a part that all paths of its flow have in common; the paths by which flows differ on
    /// priced links, one bit each, as they are met in no order and read in theirs.
    path_prices: Vec<f64>,
    met: Vec<u64>,
    /// λ_f = π(k_f) where that is not 0, once it has been needed; sums on the way there.
    factors: Vec<(u32, f64)>,
    sums: Vec<f64>,
}

impl Row {
    pub(super) fn new(links: usize, paths: usize, flows: usize) -> Self {
        Self {
            prices: vec![0.0; links],
            path_prices: vec![0.0; paths],
            met: vec![0; paths.div_ceil(64)],
            sums: vec![0.0; flows],
            ..Self::default()
        }
    }

    /// Finds the prices of the row that leaves. Returns the operations done.
    pub(super) fn price(&mut self, state: &Parametric, network: &Network, leaving: Leaving) -> usize {
        self.clear();
        let (basis, n) = (&state.basis, state.basis.len());
        let mut work = n;
        match leaving {
            Leaving::Slack(link) => {
                let entries = slack_entries(state, network, link);
                work += n + entries.iter().map(|&(column, _)| basis.row(column as usize).len()).sum::<usize>();
                let sums = basis.combine(&entries);
                self.set_prices(basis.links.iter().zip(&sums).map(|(&link, sum)| (link, -sum)), Some(link));
            }
            Leaving::Extra(column) => {
                let prices = basis.row(column).iter().map(|&(j, entry)| (basis.links[j as usize], entry));
                self.set_prices(prices, None);
            }
            Leaving::Key(_) => unreachable!("brought to an extra path before"),
        }
        let Self { prices, priced, path_prices, met, .. } = self;
        for &link in &*priced {
            let price = prices[link as usize];
            work += 4 * state.differences.count(link);
            state.differences.each(link, |path, difference| {
                met[path as usize / 64] |= 1 << (path % 64);
                path_prices[path as usize] += difference * price;
            });
        }
        work + met.len()
    }

    /// The paths by which flows differ on priced links, in order.
    fn met(&self) -> impl Iterator<Item = usize> {
        let of_word = |(word, &bits): (usize, &u64)| {
            let others = |bits: &u64| Some(bits & (bits - 1)).filter(|bits| *bits != 0);
            iter::successors(Some(bits), others).map(move |bits| 64 * word + bits.trailing_zeros() as usize)
        };
        self.met.iter().enumerate().filter(|(_, bits)| **bits != 0).flat_map(of_word)
    }

    /// Calls with every path of a flow that differs from the key path, and its price above that.
    fn each_above_key(&self, state: &Parametric, network: &Network, mut visit: impl FnMut(usize, usize, f64)) {
        let mut next = 0;
        for met in self.met() {
            if met < next {
                continue;
            }
            let flow = network.owners[met] as usize;
            let (of_flow, key) = (network.paths_of(flow), state.basis.keys[flow] as usize);
            next = of_flow.end;
            for path in of_flow {
                let above = self.path_prices[path] - self.path_prices[key];
                if above != 0.0 && state.may_enter(path) {
                    visit(path, key, above);
                }
            }
        }
    }

    /// Brings the row's coefficients of the basis, 1 of its own column and 0 of the others, to rounding: what W⁻¹ has
    /// lost in many changes would be lost in a cut. Returns the operations done.
    pub(super) fn refine(&mut self, state: &Parametric, network: &Network, leaving: Leaving) -> usize {
        let basis = &state.basis;
        let price = |path: u32| network.paths.row(path as usize).sum(&self.prices);
        let missing = basis.paths.iter().enumerate().map(|(column, &path)| {
            let wanted = if leaving == Leaving::Extra(column) { 1.0 } else { 0.0 };
            let key = basis.keys[network.owners[path as usize] as usize];
            (column as u32, wanted - (price(path) - price(key)))
        });
        let change = basis.combine(&missing.collect::<Vec<_>>());
        let refined = basis.links.iter().zip(change).map(|(&link, change)| (link, self.prices[link as usize] + change));
        let refined: Vec<(u32, f64)> = refined.collect();
        self.priced.drain(..).for_each(|link| self.prices[link as usize] = 0.0);
        let slack = if let Leaving::Slack(link) = leaving { Some(link) } else { None };
        self.set_prices(refined.iter().copied(), slack);
        basis.nonzeros() + 16 * basis.len()
    }

    /// Finds λ_f of every flow. Returns the operations done.
    pub(super) fn find_factors(&mut self, state: &Parametric, network: &Network) -> usize {
        self.factors.clear();
        let (mut flows, mut work) = (Vec::new(), 0);
        for &link in &self.priced {
            let (price, crossing) = (self.prices[link as usize], state.crossing.row(link as usize));
            work += crossing.links().len();
            for (path, a) in crossing.entries() {
                let flow = network.owners[path as usize];
                if state.basis.keys[flow as usize] == path && !state.fixed_flows[flow as usize] {
                    flows.push(flow);
                    self.sums[flow as usize] += a * price;
                }
            }
        }
        for flow in flows {
            // Taken once, so that a flow that is listed again has none.
            let factor = mem::take(&mut self.sums[flow as usize]);
            if factor.abs() > self.tolerance() {
                self.factors.push((flow, factor));
            }
        }
        work
    }

    fn clear(&mut self) {
        self.priced.drain(..).for_each(|link| self.prices[link as usize] = 0.0);
        for (bits, prices) in self.met.iter_mut().zip(self.path_prices.chunks_mut(64)) {
            if mem::take(bits) != 0 {
                prices.fill(0.0);
            }
        }
        self.factors.clear();
    }

    fn set_prices(&mut self, prices: impl Iterator<Item = (u32, f64)> + Clone, slack: Option<u32>) {
        let first = if slack.is_some() { 1.0 } else { 0.0 };
        self.largest = prices.clone().map(|(_, price)| price.abs()).fold(first, f64::max);
        for (link, price) in prices {
            if price.abs() > ZERO * self.largest {
                self.prices[link as usize] = price;
                self.priced.push(link);
            }
        }
        if let Some(link) = slack {
            self.prices[link as usize] = 1.0;
            self.priced.push(link);
        }
    }

    /// A coefficient that is no larger is none.
    pub(super) fn tolerance(&self) -> f64 {
        PIVOT * self.largest
    }

    /// Links with a price, and that.
    pub(super) fn priced(&self) -> impl Iterator<Item = (u32, f64)> {
        self.priced.iter().map(|&link| (link, self.prices[link as usize]))
    }

    /// Adds so many times the prices of paths to their costs, but for a part that all paths of a flow have in common.
    pub(super) fn add_to(&self, costs: &mut [f64], times: f64) {
        self.met().for_each(|path| costs[path] += times * self.path_prices[path]);
    }

    /// Flows whose key path has a price, and that, after [`find_factors`](Self::find_factors).
    pub(super) fn factors(&self) -> impl Iterator<Item = (u32, f64)> {
        self.factors.iter().copied()
    }

    /// Those with a positive one.
    pub(super) fn paying(&self) -> impl Iterator<Item = (u32, f64)> {
        self.factors().filter(|(_, factor)| *factor > 0.0)
    }

    /// The prices of some links.
    pub(super) fn prices_of(&self, links: &[u32]) -> Vec<f64> {
        links.iter().map(|&link| self.prices[link as usize]).collect()
    }

    /// π(p) − π(k_f).
    pub(super) fn above_key(&self, basis: &Basis, network: &Network, path: u32) -> f64 {
        let key = basis.keys[network.owners[path as usize] as usize];
        self.path_prices[path as usize] - self.path_prices[key as usize]
    }

    /// The row's coefficient of a column.
    pub(super) fn coefficient(&self, basis: &Basis, network: &Network, column: Column) -> f64 {
        match column {
            Column::Path(path) => self.above_key(basis, network, path),
            Column::Slack(link) => self.prices[link as usize],
        }
    }

    /// By how much the row's variable falls as the fair share rises.
    pub(super) fn falls(&self, state: &Parametric) -> f64 {
        self.factors().map(|(flow, factor)| factor * state.flow_rates.slope(flow as usize)).sum()
    }

    /// Whether a flow that is not fixed yet pays in it.
    pub(super) fn holds(&self, state: &Parametric) -> bool {
        self.paying().any(|(flow, _)| !state.flow_rates.is_fixed(flow as usize))
    }

    /// The column that enters, if any can.
    pub(super) fn entering(&self, state: &Parametric, network: &Network, leaving: Leaving) -> Option<Entering> {
        // Columns that were near so far, with their reduced cost and the size of their coefficient.
        let mut near: Vec<(Column, f64, f64)> = Vec::new();
        let mut nearest = f64::INFINITY;
        let mut compare = |column: Column, reduced: f64, size: f64| {
            if reduced <= nearest * size {
                nearest = nearest.min((reduced + REDUCED_COST) / size);
                near.push((column, reduced, size));
            }
        };
        let tolerance = self.tolerance();
        self.each_above_key(state, network, |path, key, above| {
            if -above > tolerance {
                let reduced = state.path_costs[path] - state.path_costs[key];
                compare(Column::Path(path as u32), reduced.max(0.0), -above);
            }
        });
        for (link, price) in self.priced() {
            let leaves = leaving == Leaving::Slack(link);
            if price < -tolerance && !leaves && state.link_ban[link as usize] == NONE {
                compare(Column::Slack(link), state.prices[link as usize].max(0.0), -price);
            }
        }
        let near = near.into_iter().filter(|&(_, reduced, size)| reduced / size <= nearest);
        let best = near.max_by(|one, other| one.2.total_cmp(&other.2));
        best.map(|(column, reduced, size)| Entering { column, length: reduced / size })
    }

    /// The paths that would have to fall below 0 for the row's variable not to.
    pub(super) fn shut_out(&self, state: &Parametric, network: &Network) -> Vec<u32> {
        let (mut paths, tolerance) = (Vec::new(), self.tolerance());
        self.each_above_key(state, network, |path, _, above| {
            if above > tolerance {
                paths.push(path as u32);
            }
        });
        paths
    }
}

impl Parametric {
    fn may_enter(&self, path: usize) -> bool {
        self.basis.column_of[path] == NONE && self.path_ban[path] == NONE
    }
}

/// g_e for the slack of a link.
fn slack_entries(state: &Parametric, network: &Network, link: u32) -> Vec<(u32, f64)> {
    let basis = &state.basis;
    let mut entries = Vec::new();
    state.differences.each(link, |path, difference| {
        if basis.column_of[path as usize] != NONE {
            entries.push((basis.column_of[path as usize], difference));
        }
        let flow = network.owners[path as usize] as usize;
        if basis.keys[flow] == path {
            entries.extend(basis.extras[flow].iter().map(|&extra| (basis.column_of[extra as usize], -difference)));
        }
    });
    entries
}
