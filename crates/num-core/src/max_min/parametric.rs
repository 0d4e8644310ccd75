//! Max-min over several paths by the parametric dual simplex method.
//!
//! ```text
//! R x + s = c,  Σ_{p ∈ f} x_p = y_f(t),  x, s ≥ 0        y_f(t) = B_f(t), or what f was held at
//! ```
//!
//! The fair share t rises from 0. A basis (`basis.rs`) says how the flows are split over their paths at every t until a
//! rate or a slack falls to 0 (`direction.rs`). That row leaves, and the path or slack enters that keeps all reduced
//! costs positive (`row.rs`): the flows are routed around the full link. When nothing can enter, the row reads
//!
//! ```text
//! Σ λ_f y_f(t) ≤ π·c       π the row's prices of links, λ_f = π(k_f): a cut, full at this t
//! ```
//!
//! Its flows with λ_f > 0 are held there, exactly at the t that fills the cut; what has a positive coefficient in the
//! row (links with π_l > 0, paths with π(p) > λ_f) is 0 for good and never enters again, and the variable that was to
//! leave never leaves. Then t rises on, until all flows are held or have all they can use. One run finds the rates of all flows.
//!
//! Costs of paths only serve to choose who enters: their number of links and a random part, without which pivots could
//! go round in circles. Cost of a pivot: O(nonzeros of the inverse), and the crossings of the links that have a price in
//! the row; some 1 to 5 pivots per flow. What goes wrong: rounding, in the end. Every result is checked by
//! [`witness`](super::witness), and a run that breaks off or fails the check is repeated with other costs
//! (`several_paths.rs`).
//!
//! Source: parametric right-hand sides, Gass and Saaty, *Naval Research Logistics Quarterly* 1955; the ratio tests with
//! tolerances after Harris, *Mathematical Programming* 1973; key paths: generalized upper bounds, Dantzig and Van
//! Slyke, 1967. Their use for max-min is ours.

use std::mem;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::basis::{Basis, NONE};
use super::crossings::Crossings;
use super::direction::{Direction, Leaving};
use super::network::Network;
use super::prove::Cut;
use super::rising_rates::RisingRates;
use super::row::{Entering, Row};
use super::twofold::Twofold;
use crate::paths::Paths;

/// Pivots and cuts after which lists are shortened and sums made anew.
const TIDY: usize = 200;
/// Those after which costs of paths are made anew, a multiple of that: rounding is all that is wrong with them, and they
/// only say who enters.
const COSTS: usize = 2000;
/// The inverse is made anew when a full link is off by more than this part of its capacity, and whenever lists are
/// shortened while it is small.
const DRIFT: f64 = 1e-10;
const SMALL: usize = 400;
/// A row that is no further from 0 than this part of its terms is at 0.
const FULL: f64 = 1e-9;
/// Part of the costs that is random.
const RANDOM: f64 = 0.5;
/// Turns, per path, link and breakpoint, after which a run has broken off.
const TURNS: usize = 20;

/// How a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    /// Flows still rise.
    Rising,
    /// No flow rises any more.
    Done,
    /// Rounding does not let it go on.
    Broken,
}

#[derive(Debug)]
pub(super) struct Parametric {
    pub(super) flow_rates: RisingRates,
    pub(super) basis: Basis,
    /// The paths through every link.
    pub(super) crossing: Arc<Paths>,
    /// Those by which flows differ, and those that count as through a link −1 times, see [`Crossings`]; but for those
    /// that never carry anything again and those of flows that are settled.
    pub(super) through: Vec<Vec<u32>>,
    pub(super) around: Vec<Vec<u32>>,
    /// What flows that are not settled may have of every link.
    left: Vec<Twofold>,
    /// By how much the load of key paths on every link rises with the fair share.
    pub(super) rise: Vec<Twofold>,
    /// x of extra paths, s of links that are not in T.
    pub(super) rates: Vec<f64>,
    pub(super) slacks: Vec<f64>,
    /// Prices of links, and the cost and prices of every path.
    pub(super) prices: Vec<f64>,
    costs: Vec<f64>,
    pub(super) path_costs: Vec<f64>,
    /// The cut from which on a path or a link's slack is 0 for good.
    pub(super) path_ban: Vec<u32>,
    pub(super) link_ban: Vec<u32>,
    /// Rows that never leave again.
    pub(super) rests: Rests,
    /// Flows that have one path left and are held: a part of the capacities' loads.
    pub(super) settled: Vec<bool>,
    cuts: Vec<Cut>,
    direction: Direction,
    pub(super) row: Row,
    turns: usize,
    most_turns: usize,
    /// Turns but for breakpoints.
    changes: usize,
    /// Elementary operations done, to tell how long it has taken.
    work: usize,
}

/// Rows that stay in the basis at 0, of links and paths.
#[derive(Debug)]
pub(super) struct Rests {
    pub(super) links: Vec<bool>,
    pub(super) paths: Vec<bool>,
}

impl Parametric {
    /// At the fair share 0, with costs that depend on `seed`.
    pub(super) fn new(network: &Network, flow_rates: RisingRates, crossings: Crossings, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let cost = |path: &[u32]| path.len() as f64 + RANDOM * rng.random_range(0.0..1.0);
        let costs: Vec<f64> = network.paths.iter().map(cost).collect();
        let cheapest = |flow: usize| {
            let own = network.paths_of(flow);
            own.min_by(|&one, &other| costs[one].total_cmp(&costs[other])).map_or(NONE, |path| path as u32)
        };
        let keys: Vec<u32> = (0..network.flows()).map(cheapest).collect();
        let prices = vec![0.0; network.capacities.len()];
        let (basis, path_costs) = (Basis::new(network, keys), costs.clone());
        let mut this = Self::with_basis(network, flow_rates, basis, crossings, costs, path_costs, prices);
        for flow in 0..network.flows() {
            this.tilt(network, flow, this.flow_rates.slope(flow));
        }
        this
    }

    /// At a basis, with random costs for which it is dual feasible, to route rates that are given.
    pub(super) fn at(network: &Network, flow_rates: RisingRates, basis: Basis, crossings: Crossings) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut prices = vec![0.0; network.capacities.len()];
        basis.links.iter().for_each(|&link| prices[link as usize] = rng.random_range(0.5..1.5));
        let reduced = |path: usize| {
            let is_key = basis.keys[network.owners[path] as usize] == path as u32;
            if is_key || basis.column_of[path] != NONE { 0.0 } else { rng.random_range(0.5..1.5) }
        };
        let path_costs = (0..network.paths.len()).map(reduced).collect();
        Self::with_basis(network, flow_rates, basis, crossings, Vec::new(), path_costs, prices)
    }

    fn with_basis(
        network: &Network,
        flow_rates: RisingRates,
        basis: Basis,
        Crossings { all, through, around }: Crossings,
        costs: Vec<f64>,
        path_costs: Vec<f64>,
        prices: Vec<f64>,
    ) -> Self {
        let (links, paths) = (network.capacities.len(), network.paths.len());
        Self {
            basis,
            crossing: all,
            through,
            around,
            left: network.capacities.iter().map(|&capacity| Twofold::new(capacity)).collect(),
            rise: vec![Twofold::default(); links],
            rates: vec![0.0; paths],
            slacks: network.capacities.clone(),
            prices,
            path_costs,
            costs,
            path_ban: vec![NONE; paths],
            link_ban: vec![NONE; links],
            rests: Rests { links: vec![false; links], paths: vec![false; paths] },
            settled: vec![false; network.flows()],
            cuts: Vec::new(),
            direction: Direction::new(links, network.flows()),
            row: Row::new(links, paths, network.flows()),
            turns: 0,
            changes: 0,
            most_turns: TURNS * (paths + links + network.flows() + flow_rates.breakpoints()) + 1000,
            work: 0,
            flow_rates,
        }
    }

    /// Goes on until the fair share has risen to where no flow rises, or about so many elementary operations are done.
    pub(super) fn advance(&mut self, network: &Network, operations: usize) -> Run {
        self.work = 0;
        while self.work < operations {
            if self.flow_rates.rising() == 0 {
                return Run::Done;
            }
            self.turns += 1;
            let changes = self.changes;
            if self.turns > self.most_turns || !self.turn(network) {
                return Run::Broken;
            }
            if self.changes > changes && self.changes.is_multiple_of(TIDY) && !self.tidy(network) {
                return Run::Broken;
            }
        }
        Run::Rising
    }

    /// Operations of the last call.
    pub(super) fn work(&self) -> usize {
        self.work
    }

    /// The cuts so far.
    pub(super) fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// Rates of the open paths at the present fair share.
    pub(super) fn path_rates(&mut self, network: &Network) -> Vec<f64> {
        self.settle_values(network);
        let mut rates = vec![0.0; network.paths.len()];
        for (flow, &key) in self.basis.keys.iter().enumerate().filter(|(_, key)| **key != NONE) {
            let wanted = self.flow_rates.rate(flow);
            for &path in &self.basis.extras[flow] {
                rates[path as usize] = self.rates[path as usize].max(0.0);
            }
            rates[key as usize] = self.key_rate(flow).max(0.0);
            let own = network.paths_of(flow);
            let total: f64 = rates[own.clone()].iter().sum();
            if total > wanted {
                rates[own].iter_mut().for_each(|rate| *rate *= wanted / total);
            }
        }
        rates
    }

    /// x of a flow's key path.
    pub(super) fn key_rate(&self, flow: usize) -> f64 {
        let extra: f64 = self.basis.extras[flow].iter().map(|&path| self.rates[path as usize]).sum();
        self.flow_rates.rate(flow) - extra
    }

    /// A breakpoint, a pivot or a cut. Returns whether there was one.
    fn turn(&mut self, network: &Network) -> bool {
        let mut direction = mem::take(&mut self.direction);
        let mut row = mem::take(&mut self.row);
        self.work += direction.find(self, network);
        let went = loop {
            let breakpoint = self.flow_rates.distance_to_breakpoint();
            let leaving = direction.first(self, network);
            let (leaving, step) = match (leaving, breakpoint) {
                (Some((_, step)), Some(breakpoint)) if breakpoint <= step => (None, breakpoint),
                (Some((leaving, step)), _) => (Some(leaving), step),
                (None, Some(breakpoint)) => (None, breakpoint),
                (None, None) => break false,
            };
            let Some(leaving) = leaving else {
                self.rise_by(&direction, step);
                self.pass_breakpoint(network);
                break true;
            };
            let before = leaving;
            let leaving = self.key_to_extra(network, before);
            if let (Leaving::Key(flow), Leaving::Extra(column)) = (before, leaving) {
                direction.swap(flow, column);
            }
            self.work += row.price(self, network, leaving);
            if !direction.is_sure(leaving) {
                self.work += row.find_factors(self, network);
                if let Some(falls) = direction.corrected(leaving, row.falls(self)) {
                    direction.set(leaving, -falls);
                    continue;
                }
            }
            self.rise_by(&direction, step);
            self.changes += 1;
            if let Some(entering) = row.entering(self, network, leaving) {
                self.pivot(network, &row, leaving, entering);
                break true;
            }
            self.work += row.find_factors(self, network);
            match row.holds(self) {
                true => self.cut(network, &row, leaving),
                // Of a row that is below 0 by rounding and falls no more.
                false => self.rest(leaving),
            }
            break true;
        };
        (self.direction, self.row) = (direction, row);
        went
    }

    /// Raises the fair share.
    fn rise_by(&mut self, direction: &Direction, step: f64) {
        if step > 0.0 {
            self.flow_rates.set_above(self.flow_rates.above() + step);
            for (&path, falls) in self.basis.paths.iter().zip(&direction.extras) {
                self.rates[path as usize] += falls * step;
            }
            self.slacks.iter_mut().zip(&direction.slacks).for_each(|(slack, falls)| *slack += falls * step);
        }
    }

    fn pass_breakpoint(&mut self, network: &Network) {
        let (flow, before, after) = self.flow_rates.pass_breakpoint();
        // Not the difference, which would be rounded.
        self.tilt(network, flow, -before);
        self.tilt(network, flow, after);
    }

    /// The load of a flow's key path rises by so much more with the fair share.
    fn tilt(&mut self, network: &Network, flow: usize, by: f64) {
        let key = self.basis.keys[flow];
        if key != NONE && by != 0.0 {
            for &link in network.paths.links(key as usize) {
                self.rise[link as usize].add(by);
            }
        }
    }

    /// A key path that is to leave first becomes an extra one, in the place of the extra path with the largest rate.
    pub(super) fn key_to_extra(&mut self, network: &Network, leaving: Leaving) -> Leaving {
        let Leaving::Key(flow) = leaving else { return leaving };
        let larger = |&&one: &&u32, &&other: &&u32| {
            let of = |path: u32| (!self.rests.paths[path as usize], self.rates[path as usize]);
            let (one, other) = (of(one), of(other));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        };
        let extra = *self.basis.extras[flow].iter().max_by(larger).expect("only flows with extra paths have a row");
        let (column, key) = (self.basis.column_of[extra as usize] as usize, self.basis.keys[flow]);
        self.rates[key as usize] = self.key_rate(flow);
        let slope = self.flow_rates.slope(flow);
        self.tilt(network, flow, -slope);
        self.basis.swap_key(flow, extra);
        self.tilt(network, flow, slope);
        self.work += self.basis.len();
        Leaving::Extra(column)
    }

    /// The leaving row goes out, and what enters comes in; prices follow.
    pub(super) fn pivot(&mut self, network: &Network, row: &Row, leaving: Leaving, entering: Entering) {
        self.work += 4 * self.basis.nonzeros();
        let (what, length) = (entering.what, entering.length);
        row.priced().for_each(|(link, price)| self.prices[link as usize] += length * price);
        row.add_to(&mut self.path_costs, length, network);
        match (leaving, what) {
            (Leaving::Slack(link), Ok(path)) => {
                let prices = row.prices_of(&self.basis.links);
                self.basis.add(network, link, path, &prices, row.above_key(&self.basis, network, path));
                self.slacks[link as usize] = 0.0;
                self.rates[path as usize] = 0.0;
            }
            (Leaving::Slack(link), Err(other)) => {
                let prices = row.prices_of(&self.basis.links);
                self.basis.replace_link(link, other, &prices);
                self.slacks[link as usize] = 0.0;
                self.free(other);
            }
            (Leaving::Extra(column), Ok(path)) => {
                let gone = self.basis.paths[column];
                self.basis.replace_path(network, path, gone);
                self.rates[gone as usize] = 0.0;
                self.rates[path as usize] = 0.0;
            }
            (Leaving::Extra(column), Err(other)) => {
                let gone = self.basis.paths[column];
                self.basis.remove(network, other, gone);
                self.rates[gone as usize] = 0.0;
                self.free(other);
            }
            (Leaving::Key(_), _) => unreachable!("brought to an extra path before"),
        }
    }

    /// The slack of a link comes in: its price goes.
    fn free(&mut self, link: u32) {
        self.slacks[link as usize] = 0.0;
        let price = mem::take(&mut self.prices[link as usize]);
        if price != 0.0 {
            self.through[link as usize].iter().for_each(|&path| self.path_costs[path as usize] -= price);
            self.around[link as usize].iter().for_each(|&path| self.path_costs[path as usize] += price);
        }
    }

    /// Nothing can enter: the flows that pay in this row are held, and what would have to enter is shut out.
    fn cut(&mut self, network: &Network, row: &Row, leaving: Leaving) {
        // Only for these flows: what is exact for light ones may be far off for heavy ones elsewhere.
        let above = self.level_of(row).unwrap_or(self.flow_rates.above());
        let fair_share = self.flow_rates.fair_share(above);
        for (flow, _) in row.paying() {
            let flow = flow as usize;
            if !self.flow_rates.is_held(flow) {
                let slope = self.flow_rates.slope(flow);
                self.flow_rates.hold(flow, above);
                self.tilt(network, flow, -slope);
            }
        }
        let number = self.cuts.len() as u32;
        for (link, price) in row.priced().filter(|(_, price)| *price > 0.0) {
            if price > row.tolerance() && self.link_ban[link as usize] == NONE {
                self.link_ban[link as usize] = number;
            }
        }
        for path in row.shut_out(self, network) {
            self.path_ban[path as usize] = number;
        }
        self.rest(leaving);
        self.cuts.push(Cut { fair_share, prices: row.priced().collect() });
        self.settle_values(network);
    }

    /// A row never leaves again.
    pub(super) fn rest(&mut self, leaving: Leaving) {
        match leaving {
            Leaving::Slack(link) => self.rests.links[link as usize] = true,
            Leaving::Extra(column) => self.rests.paths[self.basis.paths[column] as usize] = true,
            Leaving::Key(flow) => self.rests.paths[self.basis.keys[flow] as usize] = true,
        }
    }

    /// How far above the last breakpoint the fair share fills a row's cut exactly; none if that is past the next
    /// breakpoint, or not what the values of the basis say.
    fn level_of(&mut self, row: &Row) -> Option<f64> {
        let (mut rest, mut slope, mut terms) = (Twofold::default(), 0.0, 0.0);
        for (link, price) in row.priced() {
            let left = self.left[link as usize].value();
            rest.add_product(price, left);
            terms += (price * left).abs();
        }
        for (flow, factor) in row.factors() {
            let flow = flow as usize;
            let rises = self.flow_rates.slope(flow);
            let start =
                if self.flow_rates.is_held(flow) { self.flow_rates.rate(flow) } else { self.flow_rates.start(flow) };
            rest.add_product(-factor, start);
            slope += factor * rises;
        }
        let (above, now) = (rest.value() / slope, self.flow_rates.above());
        let next = self.flow_rates.distance_to_breakpoint().map_or(f64::INFINITY, |breakpoint| now + breakpoint);
        let agrees = (above - now).abs() * slope <= FULL * terms;
        (agrees && above >= 0.0 && above <= next).then_some(above)
    }

    /// Shortens lists, and makes anew what has been updated many times. Returns whether the basis has an inverse.
    fn tidy(&mut self, network: &Network) -> bool {
        for flow in 0..network.flows() {
            let own = network.paths_of(flow);
            if self.settled[flow] || !self.flow_rates.is_held(flow) || !self.basis.extras[flow].is_empty() {
                continue;
            }
            if own.filter(|&path| self.path_ban[path] == NONE).count() == 1 {
                self.settled[flow] = true;
                let rate = self.flow_rates.rate(flow);
                for &link in network.paths.links(self.basis.keys[flow] as usize) {
                    self.left[link as usize].add(-rate);
                }
            }
        }
        let Self { through, around, path_ban, settled, .. } = self;
        let stays = |&path: &u32| path_ban[path as usize] == NONE && !settled[network.owners[path as usize] as usize];
        through.iter_mut().chain(around).for_each(|paths| paths.retain(stays));
        self.work += 2 * network.paths.len();
        if self.changes.is_multiple_of(COSTS) {
            for (path, cost) in self.path_costs.iter_mut().enumerate() {
                *cost = self.costs[path] + network.path_price(path, &self.prices);
            }
            self.work += 2 * network.paths.indices().len();
        }
        let n = self.basis.len();
        if n > 0 && n < SMALL {
            self.work += n * n * n;
            if !self.basis.refactor(network) {
                return false;
            }
        }
        self.settle_values(network);
        true
    }

    /// Makes the values of the basis anew, and its inverse too if they do not fit.
    pub(super) fn settle_values(&mut self, network: &Network) {
        let n = self.basis.len();
        if self.find_values(network) > DRIFT && n > 0 {
            self.work += n * n * n;
            if self.basis.refactor(network) {
                self.find_values(network);
            }
        }
    }

    /// x_E = W⁻¹ (c_T − loads of key paths), refined once, and the slacks. Returns by how much full links were off at
    /// first, as a part of their capacity.
    fn find_values(&mut self, network: &Network) -> f64 {
        let mut keys = vec![0.0; network.capacities.len()];
        for (flow, &key) in self.basis.keys.iter().enumerate() {
            if key != NONE && !self.settled[flow] {
                let rate = self.flow_rates.rate(flow);
                self.work += add(&mut keys, network, key, rate);
            }
        }
        let missing = |loads: &[f64], links: &[u32]| -> Vec<f64> {
            links.iter().map(|&link| self.left[link as usize].value() - loads[link as usize]).collect()
        };
        self.work += 2 * self.basis.nonzeros();
        let mut rates = self.basis.solve_dense(&missing(&keys, &self.basis.links));
        let mut drift = 0.0;
        let mut loads = keys.clone();
        for round in 0..2 {
            loads.clone_from(&keys);
            for (&path, &rate) in self.basis.paths.iter().zip(&rates) {
                add(&mut loads, network, path, rate);
                add(&mut loads, network, self.basis.keys[network.owners[path as usize] as usize], -rate);
            }
            if round == 0 {
                let off = missing(&loads, &self.basis.links);
                let part = |(&link, off): (&u32, &f64)| off.abs() / network.capacities[link as usize];
                drift = self.basis.links.iter().zip(&off).map(part).fold(0.0, f64::max);
                rates.iter_mut().zip(self.basis.solve_dense(&off)).for_each(|(rate, more)| *rate += more);
            }
        }
        for (link, slack) in self.slacks.iter_mut().enumerate() {
            *slack = if self.basis.row_of[link] == NONE { self.left[link].value() - loads[link] } else { 0.0 };
        }
        for (&path, rate) in self.basis.paths.iter().zip(rates) {
            self.rates[path as usize] = rate;
        }
        drift
    }
}

/// Adds a path's rate to the loads of its links. Returns how many there are.
fn add(loads: &mut [f64], network: &Network, path: u32, rate: f64) -> usize {
    let links = network.paths.links(path as usize);
    links.iter().for_each(|&link| loads[link as usize] += rate);
    links.len()
}
