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
//! those below 1e−11 of the largest are rounding, but where paths have coefficients and the row is refined.
//!
//! What a flow pays for all its paths, λ_f = π(k_f), is found where it is needed. Cost: O(entries of W⁻¹ of the extra
//! paths that differ on the link that leaves), and what the paths cost that may enter (`candidates.rs`).

use std::mem;

use super::Parametric;
use super::candidates::Candidates;
use super::direction::Leaving;
use super::refined_prices::refine;
use crate::max_min::basis::{Basis, NONE};
use crate::max_min::network::Network;
use crate::max_min::tolerances::{LARGE, PIVOT, REDUCED_COST, ROUNDING, ZERO};

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
    /// Whether prices, which are products of coefficients, are exact but for their own rounding.
    is_refined: bool,
    candidates: Candidates,
    /// λ_f = π(k_f) where that is not 0, once it has been needed; sums on the way there.
    factors: Vec<(u32, f64)>,
    sums: Vec<f64>,
}

impl Row {
    pub(super) fn new(links: usize, flows: usize, costs: Vec<f64>) -> Self {
        let candidates = Candidates::new(costs);
        Self { prices: vec![0.0; links], candidates, sums: vec![0.0; flows], ..Self::default() }
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
        work
    }

    /// Brings the row's coefficients of the basis, 1 of its own column and 0 of the others, to rounding: what W⁻¹ has
    /// lost in many changes would be lost in a cut. From then on small coefficients count, where paths have any.
    /// Returns the operations done.
    pub(super) fn refine(&mut self, state: &Parametric, network: &Network, leaving: Leaving) -> usize {
        let basis = &state.basis;
        let work = refine(network, basis, &mut self.prices, |column, path| {
            let wanted = if leaving == Leaving::Extra(column) { 1.0 } else { 0.0 };
            Some((basis.keys[network.owners[path as usize] as usize], wanted))
        });
        let refined = basis.links.iter().map(|&link| (link, mem::take(&mut self.prices[link as usize])));
        let refined: Vec<(u32, f64)> = refined.collect();
        self.priced.clear();
        self.is_refined = network.paths.coefficients().is_some();
        let slack = if let Leaving::Slack(link) = leaving { Some(link) } else { None };
        self.set_prices(refined.iter().copied(), slack);
        work
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
            if self.counts(network, factor.abs(), &[state.basis.keys[flow as usize]]) {
                self.factors.push((flow, factor));
            }
        }
        work
    }

    fn clear(&mut self) {
        self.priced.drain(..).for_each(|link| self.prices[link as usize] = 0.0);
        self.factors.clear();
        self.is_refined = false;
    }

    fn set_prices(&mut self, prices: impl Iterator<Item = (u32, f64)> + Clone, slack: Option<u32>) {
        let first = if slack.is_some() { 1.0 } else { 0.0 };
        self.largest = prices.clone().map(|(_, price)| price.abs()).fold(first, f64::max);
        let least = if self.is_refined { self.least_price() } else { ZERO * self.largest };
        for (link, price) in prices {
            if price.abs() > least {
                self.prices[link as usize] = price;
                self.priced.push(link);
            }
        }
        if let Some(link) = slack {
            self.prices[link as usize] = 1.0;
            self.priced.push(link);
        }
    }

    /// A coefficient that is no larger is none, unless the row is refined.
    fn tolerance(&self) -> f64 {
        (PIVOT * self.largest.min(LARGE)).max(ROUNDING * self.largest)
    }

    /// The slack of a link has a coefficient if its price is larger.
    pub(super) fn least_price(&self) -> f64 {
        if self.is_refined { ROUNDING.max(f64::EPSILON * self.largest) } else { self.tolerance() }
    }

    /// Whether a coefficient, the difference of what some paths cost, is more than rounding.
    fn counts(&self, network: &Network, size: f64, paths: &[u32]) -> bool {
        let terms = |path: &u32| network.paths.row(*path as usize).sum_of(|link| self.prices[link].abs());
        size > self.tolerance()
            || self.is_refined && size > 0.0 && size > ROUNDING * paths.iter().map(terms).sum::<f64>()
    }

    /// Links with a price, and that.
    pub(super) fn priced(&self) -> impl Iterator<Item = (u32, f64)> {
        self.priced.iter().map(|&link| (link, self.prices[link as usize]))
    }

    /// Prices have risen by so many times the row.
    pub(super) fn rise(&mut self, times: f64) {
        self.candidates.rise(times);
    }

    /// A path has left the basis, after that.
    pub(super) fn push(&mut self, path: u32) {
        self.candidates.push(path);
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
        self.price_of(network, path as usize) - self.price_of(network, key as usize)
    }

    /// π(p).
    fn price_of(&self, network: &Network, path: usize) -> f64 {
        network.paths.row(path).sum(&self.prices)
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

    /// The column that enters, if any can. Returns the operations done, too.
    pub(super) fn entering(
        &mut self,
        state: &Parametric,
        network: &Network,
        leaving: Leaving,
    ) -> (Option<Entering>, usize) {
        // Columns that were near so far, with their reduced cost and the size of their coefficient.
        let mut near: Vec<(Column, f64, f64)> = Vec::new();
        let mut compare = |nearest: &mut f64, column: Column, reduced: f64, size: f64| {
            if reduced <= *nearest * size {
                *nearest = nearest.min((reduced + REDUCED_COST) / size);
                near.push((column, reduced, size));
            }
        };
        let (mut nearest, least) = (f64::INFINITY, self.least_price());
        for (link, price) in self.priced() {
            let leaves = leaving == Leaving::Slack(link);
            if price < -least && !leaves && state.link_ban[link as usize] == NONE {
                compare(&mut nearest, Column::Slack(link), state.prices[link as usize].max(0.0), -price);
            }
        }
        let mut candidates = mem::take(&mut self.candidates);
        let mut work = 0;
        candidates.begin(state, network);
        while let Some((path, key)) = candidates.next(state, network, nearest) {
            let size = self.price_of(network, key) - self.price_of(network, path);
            let reduced = candidates.look(state, network, path, key);
            work += 8 * network.paths.links(path).len();
            if self.counts(network, size, &[path as u32, key as u32]) {
                compare(&mut nearest, Column::Path(path as u32), reduced, size);
            }
        }
        work += candidates.end();
        self.candidates = candidates;
        let near = near.into_iter().filter(|&(_, reduced, size)| reduced / size <= nearest);
        let best = near.max_by(|one, other| one.2.total_cmp(&other.2));
        (best.map(|(column, reduced, size)| Entering { column, length: reduced / size }), work)
    }

    /// The paths that would have to fall below 0 for the row's variable not to, after [`entering`](Self::entering).
    pub(super) fn shut_out(&self, state: &Parametric, network: &Network) -> Vec<usize> {
        let is_shut_out = |&path: &usize| {
            let above = |path: u32| self.above_key(&state.basis, network, path);
            state.may_enter(network, path)
                && self.counts(network, above(path as u32), &[path as u32, state.key_of(network, path) as u32])
        };
        self.candidates.all().filter(is_shut_out).collect()
    }
}

impl Parametric {
    pub(super) fn may_enter(&self, network: &Network, path: usize) -> bool {
        let (column, ban) = (self.basis.column_of[path], self.path_ban[path]);
        column == NONE && ban == NONE && self.key_of(network, path) != path
    }

    /// The key path of a path's flow.
    pub(super) fn key_of(&self, network: &Network, path: usize) -> usize {
        self.basis.keys[network.owners[path] as usize] as usize
    }
}

/// g_e for the slack of a link.
fn slack_entries(state: &Parametric, network: &Network, link: u32) -> Vec<(u32, f64)> {
    let basis = &state.basis;
    let uses = |path: u32| network.paths.row(path as usize).coefficient(link);
    let above_key = |path: u32| uses(path) - uses(basis.keys[network.owners[path as usize] as usize]);
    let entries = (0u32..).zip(&basis.paths).map(|(column, &path)| (column, above_key(path)));
    entries.filter(|(_, above_key)| *above_key != 0.0).collect()
}
