//! Max-min over several paths by the parametric dual simplex method.
//!
//! ```text
//! R x + s = c,  Σ_{p ∈ f} x_p = y_f(t),  x, s ≥ 0        y_f(t) = B_f(t), or the rate at which f was fixed
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
//! Its flows with λ_f > 0 are fixed there, exactly at the t that fills the cut; what has a positive coefficient in the
//! row (links with π_l > 0, paths with π(p) > λ_f) is 0 for good and never enters again, and the variable that was to
//! leave never leaves. Then t rises further, until all flows are fixed or have all they can use: one run finds all
//! rates.
//!
//! Before a cut the row is refined (`refined_prices.rs`), as a cut is for good. Where paths use links by coefficients,
//! prices are products of many ratios, W⁻¹ has entries of 10¹², and a level may be 10¹² times as far off as those
//! before it are. Then all coefficients of a refined row count that are more than their own rounding, and what enters
//! by one of them is followed by W⁻¹ and values computed afresh; the values of the basis are computed beyond doubles,
//! as the rates are at which flows are fixed; and the prices of an inequality are refined once more. A row in which no
//! flow pays does not fall, whatever its derivative rounds to: that of a link whose flows all cross another full link
//! of the same capacity, say. It stays in the basis, and may fall after another pivot.
//!
//! Where flows have floors, y_f(0) is their floor. A run first lets flows rise to their floors, all in proportion, by
//! the same pivots, and then goes on from there.
//!
//! Costs of paths only serve to choose what enters: their number of links and a random part, without which pivots could
//! go round in circles. Paths of the basis of an earlier solution cost no more than that part, so that they come first:
//! 400 pivots in the place of 9500 with 80 new paths of 35 000. Cost of a pivot: O(nonzeros of the inverse), and the
//! links of the paths that may enter first (`candidates.rs`); some 1 to 5 pivots per flow. It fails by rounding only.
//! Every result is checked (`witness.rs`), and a run that breaks off or fails the check is repeated with other costs
//! (`several_paths.rs`).
//!
//! Source: parametric right-hand sides, Gass and Saaty, *Naval Research Logistics Quarterly* 1955; the ratio tests with
//! tolerances after Harris, *Mathematical Programming* 1973; key paths: generalized upper bounds, Dantzig and Van
//! Slyke, 1967. Their use for max-min is new here.

mod candidates;
mod direction;
mod proof;
mod refined_prices;
mod reroute;
mod row;
mod values;

use std::mem;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::basis::{Basis, NONE};
use super::cut_sums::CutSums;
use super::network::Network;
use super::rising_rates::RisingRates;
use super::tolerances::{BROKEN, FULL_CUT, ITERATIONS, REFRESH};
use super::witness::{Inequality, Witness};
use crate::double_double::DoubleDouble;
use crate::paths::Paths;
use crate::water_fill::FULL;
use direction::{Direction, Leaving};
use proof::held_by;
use refined_prices::balance;
pub(super) use reroute::Rerouted;
use row::{Column, Entering, Row};

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

/// What an iteration has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// A breakpoint or a pivot.
    Went,
    /// A row that is to leave, in which flows pay, and for which nothing can enter.
    Full(Leaving),
    /// Rounding does not let it go on.
    Broken,
}

#[derive(Debug)]
pub(super) struct Parametric {
    pub(super) flow_rates: RisingRates,
    /// The rates to go on with when flows have risen to their floors.
    above_floors: Option<RisingRates>,
    pub(super) basis: Basis,
    /// The paths through every link.
    pub(super) crossing: Arc<Paths>,
    /// The capacity of every link that flows whose rates are not fixed may use.
    left: Vec<DoubleDouble>,
    /// By how much the load of key paths on every link rises with the fair share.
    pub(super) rise: Vec<DoubleDouble>,
    /// x of extra paths, s of links that are not in T.
    pub(super) rates: Vec<f64>,
    pub(super) slacks: Vec<f64>,
    /// Prices of links.
    pub(super) prices: Vec<f64>,
    /// The cut from which on a path or a link's slack is 0 for good.
    pub(super) path_ban: Vec<u32>,
    pub(super) link_ban: Vec<u32>,
    /// Rows that never leave again.
    pub(super) fixed_rows: FixedRows,
    /// Flows that have one path left and are fixed: they count as a part of the load of links.
    pub(super) fixed_flows: Vec<bool>,
    /// Inequalities that hold for all feasible rates, of levels that those of the cuts do not prove.
    proofs: Witness,
    /// Whether the fair share stays where it is, whatever the steps: only the basis changes.
    stands: bool,
    cuts: CutSums,
    direction: Direction,
    row: Row,
    iterations: usize,
    most_iterations: usize,
    /// Iterations but for breakpoints: pivots and cuts.
    basis_changes: usize,
    /// Elementary operations done, a measure of time.
    work: usize,
}

/// Rows that stay in the basis at 0, of links and paths.
#[derive(Debug)]
pub(super) struct FixedRows {
    pub(super) links: Vec<bool>,
    pub(super) paths: Vec<bool>,
}

impl Parametric {
    /// At the fair share 0, with costs that depend on `seed`. `floors` lets flows rise to what they have there, where
    /// that is more than 0. Paths of the basis `last` come first.
    pub(super) fn new(
        network: &Network,
        flow_rates: RisingRates,
        floors: Option<RisingRates>,
        crossing: Arc<Paths>,
        seed: u64,
        last: Option<&Basis>,
    ) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let comes_first = |path: usize| last.is_some_and(|last| last.has(network, path));
        let cost = |(path, links): (usize, &[u32])| {
            let of_links = if comes_first(path) { 0.0 } else { links.len() as f64 };
            of_links + rng.random_range(0.0..0.5)
        };
        let costs: Vec<f64> = network.paths.iter().enumerate().map(cost).collect();
        let cheapest = |flow: usize| {
            let of_flow = network.paths_of(flow);
            of_flow.min_by(|&one, &other| costs[one].total_cmp(&costs[other])).map_or(NONE, |path| path as u32)
        };
        let keys: Vec<u32> = (0..network.flows()).map(cheapest).collect();
        let prices = vec![0.0; network.capacities.len()];
        let basis = Basis::new(network, keys);
        let (flow_rates, above_floors) = match floors {
            None => (flow_rates, None),
            Some(floors) => (floors, Some(flow_rates)),
        };
        let mut this = Self::with_basis(network, flow_rates, basis, crossing, costs, prices);
        this.above_floors = above_floors;
        this.add_slopes(network);
        this
    }

    /// At a fair share and a basis that is feasible there, with random costs for which it is dual feasible.
    pub(super) fn at_fair_share(
        network: &Network,
        mut flow_rates: RisingRates,
        above: f64,
        basis: Basis,
        crossing: Arc<Paths>,
    ) -> Self {
        flow_rates.set_above(above);
        let mut this = Self::at(network, flow_rates, basis, crossing);
        this.add_slopes(network);
        this.refresh_values(network);
        this
    }

    /// The loads of key paths rise as their flows do.
    fn add_slopes(&mut self, network: &Network) {
        for flow in 0..network.flows() {
            self.add_slope(network, flow, self.flow_rates.slope(flow));
        }
    }

    /// Goes on from the floors. Returns whether there were any to rise to.
    fn leave_floors(&mut self, network: &Network) -> bool {
        let Some(flow_rates) = self.above_floors.take() else { return false };
        self.flow_rates = flow_rates;
        self.rise.fill(DoubleDouble::default());
        self.add_slopes(network);
        self.refresh_values(network);
        true
    }

    pub(super) fn with_basis(
        network: &Network,
        flow_rates: RisingRates,
        basis: Basis,
        crossing: Arc<Paths>,
        costs: Vec<f64>,
        prices: Vec<f64>,
    ) -> Self {
        let (links, paths) = (network.capacities.len(), network.paths.len());
        Self {
            basis,
            crossing,
            left: network.capacities.iter().map(|&capacity| DoubleDouble::new(capacity)).collect(),
            rise: vec![DoubleDouble::default(); links],
            rates: vec![0.0; paths],
            slacks: network.capacities.clone(),
            prices,
            path_ban: vec![NONE; paths],
            link_ban: vec![NONE; links],
            fixed_rows: FixedRows { links: vec![false; links], paths: vec![false; paths] },
            fixed_flows: vec![false; network.flows()],
            proofs: Vec::new(),
            cuts: CutSums::new(network),
            stands: false,
            direction: Direction::new(links, network.flows()),
            row: Row::new(links, network.flows(), costs),
            iterations: 0,
            basis_changes: 0,
            most_iterations: ITERATIONS * (paths + links + network.flows() + flow_rates.breakpoints()) + 1000,
            work: 0,
            flow_rates,
            above_floors: None,
        }
    }

    /// Goes on until no flow rises any more, or about so many elementary operations are done.
    pub(super) fn advance(&mut self, network: &Network, operations: usize) -> Run {
        self.work = 0;
        while self.work < operations {
            if self.flow_rates.rising() == 0 {
                if self.leave_floors(network) {
                    continue;
                }
                return Run::Done;
            }
            self.iterations += 1;
            let basis_changes = self.basis_changes;
            if self.iterations > self.most_iterations {
                return Run::Broken;
            }
            match self.iterate(network) {
                Event::Went => {}
                Event::Full(leaving) => self.cut(network, leaving),
                Event::Broken => return Run::Broken,
            }
            if self.basis_changes > basis_changes
                && self.basis_changes.is_multiple_of(REFRESH)
                && !self.refresh(network)
            {
                return Run::Broken;
            }
        }
        Run::Rising
    }

    /// Operations of the last call.
    pub(super) fn work(&self) -> usize {
        self.work
    }

    /// Of the first cut.
    pub(super) fn first_cut(&self) -> Option<&Inequality> {
        self.cuts.first()
    }

    /// The basis, and why the flows that are fixed have no more.
    pub(super) fn into_found(self) -> (Basis, Witness) {
        let mut witness = self.cuts.into_witness();
        witness.extend(self.proofs);
        (self.basis, witness)
    }

    /// A breakpoint or a pivot, or up to a cut.
    fn iterate(&mut self, network: &Network) -> Event {
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
                (None, None) => break Event::Broken,
            };
            let Some(leaving) = leaving else {
                self.rise_by(&direction, step);
                self.pass_breakpoint(network);
                break Event::Went;
            };
            let before = leaving;
            let leaving = self.key_to_extra(network, before);
            if let (Leaving::Key(flow), Leaving::Extra(column)) = (before, leaving) {
                direction.swap(flow, column);
            }
            self.work += row.price(self, network, leaving);
            if !direction.is_reliable(leaving) {
                self.work += row.find_factors(self, network);
                if direction.correct(leaving, row.falls(self)) {
                    continue;
                }
            }
            let (mut entering, work) = row.entering(self, network, leaving);
            self.work += work;
            let has_coefficients = network.paths.coefficients().is_some();
            let is_refined = entering.is_none() && (has_coefficients || self.above_floors.is_none());
            if is_refined {
                self.work += row.refine(self, network, leaving);
            }
            if is_refined && has_coefficients {
                let (small, work) = row.entering(self, network, leaving);
                entering = small;
                self.work += work;
            }
            if entering.is_none() && self.above_floors.is_none() {
                self.work += row.find_factors(self, network);
                if !row.holds(self) && !self.is_broken(network, leaving) {
                    // Its derivative is rounding, as where links in a row are full together: it may fall after a pivot.
                    direction.stand(leaving);
                    continue;
                }
            }
            self.rise_by(&direction, step);
            self.basis_changes += 1;
            match entering {
                Some(entering) => {
                    // What it is below 0 is in all rows then, and a small pivot makes W⁻¹ large.
                    let is_far = has_coefficients && (is_refined || self.is_broken(network, leaving));
                    self.pivot(network, &mut row, leaving, entering);
                    if is_far && !self.refresh(network) {
                        break Event::Broken;
                    }
                }
                // Floors that fill a link, to rounding.
                None if self.leave_floors(network) => {}
                None if row.holds(self) => break Event::Full(leaving),
                // Of a row that is below 0 by rounding and falls no more.
                None => self.fix_row(leaving),
            }
            break Event::Went;
        };
        (self.direction, self.row) = (direction, row);
        went
    }

    /// Raises the fair share.
    fn rise_by(&mut self, direction: &Direction, step: f64) {
        if step > 0.0 && !self.stands {
            self.flow_rates.set_above(self.flow_rates.above() + step);
            for (&path, change) in self.basis.paths.iter().zip(&direction.extras) {
                self.rates[path as usize] += change.by * step;
            }
            self.slacks.iter_mut().zip(&direction.slacks).for_each(|(slack, change)| *slack += change.by * step);
        }
    }

    fn pass_breakpoint(&mut self, network: &Network) {
        let (flow, before, after) = self.flow_rates.pass_breakpoint();
        // Not the difference, which would be rounded.
        self.add_slope(network, flow, -before);
        self.add_slope(network, flow, after);
    }

    /// The load of a flow's key path rises by so much more with the fair share.
    fn add_slope(&mut self, network: &Network, flow: usize, by: f64) {
        let key = self.basis.keys[flow];
        if key != NONE && by != 0.0 {
            for (link, a) in network.paths.row(key as usize).entries() {
                self.rise[link as usize].add(a * by);
            }
        }
    }

    /// A key path that is to leave first becomes an extra one, in the place of the extra path with the largest rate.
    fn key_to_extra(&mut self, network: &Network, leaving: Leaving) -> Leaving {
        let Leaving::Key(flow) = leaving else { return leaving };
        let larger = |&&one: &&u32, &&other: &&u32| {
            let of = |path: u32| (!self.fixed_rows.paths[path as usize], self.rates[path as usize]);
            let (one, other) = (of(one), of(other));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        };
        let extra = *self.basis.extras[flow].iter().max_by(larger).expect("only flows with extra paths have a row");
        let (column, key) = (self.basis.column_of[extra as usize] as usize, self.basis.keys[flow]);
        self.rates[key as usize] = self.key_rate(flow);
        let slope = self.flow_rates.slope(flow);
        self.add_slope(network, flow, -slope);
        self.basis.swap_key(flow, extra);
        self.add_slope(network, flow, slope);
        self.work += self.basis.len();
        Leaving::Extra(column)
    }

    /// The leaving row goes out, and the entering column comes in; prices follow.
    fn pivot(&mut self, network: &Network, row: &mut Row, leaving: Leaving, entering: Entering) {
        self.work += 4 * self.basis.nonzeros();
        let Entering { column, length } = entering;
        row.priced().for_each(|(link, price)| self.prices[link as usize] += length * price);
        row.rise(length);
        match (leaving, column) {
            (Leaving::Slack(link), Column::Path(path)) => {
                let prices = row.prices_of(&self.basis.links);
                self.basis.add(network, link, path, &prices, row.above_key(&self.basis, network, path));
                self.slacks[link as usize] = 0.0;
                self.rates[path as usize] = 0.0;
            }
            (Leaving::Slack(link), Column::Slack(other)) => {
                let prices = row.prices_of(&self.basis.links);
                self.basis.replace_link(link, other, &prices);
                self.slacks[link as usize] = 0.0;
                self.free(other);
            }
            (Leaving::Extra(column), Column::Path(path)) => {
                let gone = self.basis.paths[column];
                self.basis.replace_path(network, path, gone);
                row.push(gone);
                self.rates[gone as usize] = 0.0;
                self.rates[path as usize] = 0.0;
            }
            (Leaving::Extra(column), Column::Slack(other)) => {
                let gone = self.basis.paths[column];
                self.basis.remove(network, other, gone);
                row.push(gone);
                self.rates[gone as usize] = 0.0;
                self.free(other);
            }
            (Leaving::Key(_), _) => unreachable!("brought to an extra path before"),
        }
    }

    /// The slack of a link comes in: its price goes.
    fn free(&mut self, link: u32) {
        self.slacks[link as usize] = 0.0;
        self.prices[link as usize] = 0.0;
    }

    /// No column can enter: the flows that pay in this row are fixed, and columns with a positive coefficient excluded.
    fn cut(&mut self, network: &Network, leaving: Leaving) {
        let row = mem::take(&mut self.row);
        let paying: Vec<u32> =
            row.paying().map(|(flow, _)| flow).filter(|&flow| !self.flow_rates.is_fixed(flow as usize)).collect();
        // Only for these flows: what is exact for light ones may be far off for heavy ones elsewhere.
        let above = self.level_of(&row, leaving, network).unwrap_or(DoubleDouble::new(self.flow_rates.above()));
        let fair_share = self.flow_rates.fair_share(above.value()) * (1.0 - FULL);
        let prices: Vec<(u32, f64)> = row.priced().collect();
        let number = self.cuts.len();
        self.fix_row(leaving);
        let Self { cuts, crossing, path_ban, link_ban, flow_rates, basis, fixed_rows, .. } = &mut *self;
        let (mut sum, summing) = cuts.sum(network, crossing, &prices, path_ban, link_ban);
        let balancing = balance(network, basis, fixed_rows, &mut sum);
        let (proof, proving) = cuts.push(network, crossing, &sum, fair_share);
        let held = held_by(network, flow_rates, proof);
        self.work += summing + balancing + proving;
        let left: Vec<u32> = paying.iter().copied().filter(|flow| !held.contains(flow)).collect();
        if !left.is_empty() {
            let (proofs, work) = self.prove(network, &left);
            self.work += work;
            self.proofs.extend(proofs.into_iter().map(|proof| Inequality { fair_share, ..proof }));
        }
        paying.into_iter().for_each(|flow| self.stop(network, flow, above));
        for (link, price) in row.priced().filter(|(_, price)| *price > 0.0) {
            if price > row.least_price() && self.link_ban[link as usize] == NONE {
                self.link_ban[link as usize] = number;
            }
        }
        for path in row.shut_out(self, network) {
            self.path_ban[path] = number;
        }
        self.row = row;
        self.refresh_values(network);
    }

    /// Leaves a flow for good at the rate that it has so far above the last breakpoint.
    fn stop(&mut self, network: &Network, flow: u32, above: DoubleDouble) {
        let flow = flow as usize;
        let slope = self.flow_rates.slope(flow);
        self.flow_rates.hold_at(flow, above);
        self.add_slope(network, flow, -slope);
    }

    /// Whether a row is so far below 0 that it must leave.
    fn is_broken(&self, network: &Network, leaving: Leaving) -> bool {
        let (value, scale) = match leaving {
            Leaving::Slack(link) => (self.slacks[link as usize], network.capacities[link as usize]),
            Leaving::Extra(column) => {
                let path = self.basis.paths[column] as usize;
                (self.rates[path], network.ceilings[path])
            }
            Leaving::Key(flow) => (self.key_rate(flow), network.ceilings[self.basis.keys[flow] as usize]),
        };
        value < -BROKEN * scale
    }

    /// A row never leaves again.
    fn fix_row(&mut self, leaving: Leaving) {
        match leaving {
            Leaving::Slack(link) => self.fixed_rows.links[link as usize] = true,
            Leaving::Extra(column) => self.fixed_rows.paths[self.basis.paths[column] as usize] = true,
            Leaving::Key(flow) => self.fixed_rows.paths[self.basis.keys[flow] as usize] = true,
        }
    }

    /// How far above the last breakpoint the fair share fills a row's cut exactly; none if that is past the next
    /// breakpoint, or not what the values of the basis say. The row's variable is read off the loads: prices are
    /// rounded, and what they multiply is then rounding as well, however large they are.
    fn level_of(&mut self, row: &Row, leaving: Leaving, network: &Network) -> Option<DoubleDouble> {
        let mut value = DoubleDouble::new(match leaving {
            Leaving::Slack(_) => 0.0,
            Leaving::Extra(column) => self.rates[self.basis.paths[column] as usize],
            Leaving::Key(_) => unreachable!("brought to an extra path before"),
        });
        let mut terms = 0.0;
        for (link, price) in row.priced() {
            let idle = self.idle(network, link);
            value.add_product(price, idle);
            terms += price.abs() * self.left[link as usize].value().abs();
        }
        let slope = row.falls(self);
        let now = self.flow_rates.above();
        let mut above = DoubleDouble::new(now);
        above.add(value.value() / slope);
        let next = self.flow_rates.distance_to_breakpoint().map_or(f64::INFINITY, |breakpoint| now + breakpoint);
        let agrees = value.value().abs() <= FULL_CUT * terms;
        (agrees && slope > 0.0 && (0.0..=next).contains(&above.value())).then_some(above)
    }

    /// What the rates of the basis leave of a link, summed beyond doubles.
    fn idle(&mut self, network: &Network, link: u32) -> f64 {
        let mut idle = self.left[link as usize];
        let crossing = self.crossing.row(link as usize);
        self.work += 2 * crossing.links().len();
        for (path, a) in crossing.entries() {
            let (flow, column) = (network.owners[path as usize] as usize, self.basis.column_of[path as usize]);
            if column != NONE {
                idle.add_product(-a, self.rates[path as usize]);
            } else if self.basis.keys[flow] == path && !self.fixed_flows[flow] {
                idle.add_multiple(-a, self.flow_rates.exact_rate(flow));
                self.basis.extras[flow].iter().for_each(|&extra| idle.add_product(a, self.rates[extra as usize]));
            }
        }
        idle.value()
    }
}
