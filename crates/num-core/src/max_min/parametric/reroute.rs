//! A basis that routes given rates, from any other one, by the dual simplex method.
//!
//! ```text
//! R x + s = c,  Σ_{p ∈ f} x_p = y_f,  x, s ≥ 0        for rates y of the flows
//! ```
//!
//! The row with the lowest value leaves, and the column that keeps all reduced costs positive enters (`row.rs`), until
//! no row is below 0, or no column can enter: then the row's prices are a cut that the rates exceed,
//!
//! ```text
//! Σ λ_f y_f > π·c
//! ```
//!
//! which is added to those that are known. Its flows are lowered to the fair share at which it is full, so that the row
//! is at 0, and the search goes on: one call finds several cuts. Costs are random, as they only choose what enters: any
//! basis is dual feasible for some. Cost of a pivot: as in [`parametric`](super), but for the direction.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Parametric;
use super::direction::Leaving;
use super::row::Column;
use crate::error::Result;
use crate::interrupt;
use crate::max_min::basis::{Basis, NONE};
use crate::max_min::cuts::CutPool;
use crate::max_min::network::Network;
use crate::max_min::rising_rates::RisingRates;
use crate::max_min::tolerances::{REFRESH, ZERO};
use crate::paths::Paths;

/// How it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::max_min) enum Rerouted {
    /// The basis routes the rates, or those that they were lowered to.
    Fits,
    /// Rounding has kept it from an end, or it would take too long.
    Broken,
}

impl Parametric {
    /// At a basis, with random costs for which it is dual feasible, to route rates that are given.
    pub(in crate::max_min) fn at(
        network: &Network,
        flow_rates: RisingRates,
        basis: Basis,
        crossing: Arc<Paths>,
    ) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut prices = vec![0.0; network.capacities.len()];
        basis.links.iter().for_each(|&link| prices[link as usize] = rng.random_range(0.5..1.5));
        let reduced = |path: usize| {
            let is_key = basis.keys[network.owners[path] as usize] == path as u32;
            if is_key || basis.column_of[path] != NONE { 0.0 } else { rng.random_range(0.5..1.5) }
        };
        let besides = |(path, reduced): (usize, f64)| reduced - network.paths.row(path).sum(&prices);
        let costs = (0..network.paths.len()).map(reduced).enumerate().map(besides).collect();
        Self::with_basis(network, flow_rates, basis, crossing, costs, prices)
    }

    /// Routes the rates at which all flows are fixed, within so many elementary operations. Cuts that they exceed are
    /// added to the pool, and flows lowered to them. `through` lists the paths of every link.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(in crate::max_min) fn reroute(
        &mut self,
        network: &Network,
        pool: &mut CutPool,
        lowest: &RisingRates,
        through: &Paths,
        operations: &mut usize,
    ) -> Result<Rerouted> {
        self.fixed_rows.links.fill(false);
        self.fixed_rows.paths.fill(false);
        self.refresh_values(network);
        let (mut row, mut fresh) = (std::mem::take(&mut self.row), true);
        let mut outcome = Rerouted::Broken;
        self.work = 0;
        let mut pivots = 0;
        while self.work < *operations {
            interrupt::check()?;
            pivots += 1;
            self.work += self.slacks.len() + 8 * self.basis.len() + 4 * self.basis.nonzeros();
            let Some(leaving) = self.furthest_below(network) else {
                if fresh {
                    outcome = Rerouted::Fits;
                    break;
                }
                self.refresh_values(network);
                fresh = true;
                continue;
            };
            let leaving = self.key_to_extra(network, leaving);
            self.work += row.price(self, network, leaving);
            let (entering, work) = row.entering(self, network, leaving);
            self.work += work;
            match entering {
                Some(entering) => {
                    let value = match leaving {
                        Leaving::Slack(link) => self.slacks[link as usize],
                        Leaving::Extra(column) => self.rates[self.basis.paths[column] as usize],
                        Leaving::Key(_) => unreachable!("brought to an extra path before"),
                    };
                    let coefficient = row.coefficient(&self.basis, network, entering.column);
                    let step = value / coefficient;
                    self.move_along(network, entering.column, step);
                    self.pivot(network, &mut row, leaving, entering);
                    match entering.column {
                        Column::Path(path) => self.rates[path as usize] = step,
                        Column::Slack(link) => self.slacks[link as usize] = step,
                    }
                    fresh = false;
                }
                None => {
                    let prices: Vec<(u32, f64)> = row.priced().collect();
                    pool.add(network, lowest, through, &prices);
                    self.fix_row(leaving);
                    let lowered = pool.lower(network, &mut self.flow_rates);
                    if lowered.is_empty() {
                        // The row is below 0 by rounding, as the rates do not exceed its cut.
                        pool.withdraw();
                        continue;
                    }
                    for (flow, before) in lowered {
                        self.lower(network, flow as usize, before);
                    }
                    self.spread(network);
                }
            }
            if pivots % REFRESH == 0 {
                self.refresh_values(network);
                fresh = true;
            }
        }
        *operations = operations.saturating_sub(self.work);
        self.row = row;
        Ok(outcome)
    }

    /// The row that is furthest below 0, as a part of what it could be.
    fn furthest_below(&self, network: &Network) -> Option<Leaving> {
        let (mut furthest, mut worst) = (None, -ZERO);
        let mut compare = |part: f64, leaving: Leaving| {
            if part < worst {
                (furthest, worst) = (Some(leaving), part);
            }
        };
        for (link, slack) in self.slacks.iter().enumerate() {
            if *slack < 0.0 && self.basis.row_of[link] == NONE && !self.fixed_rows.links[link] {
                compare(slack / network.capacities[link], Leaving::Slack(link as u32));
            }
        }
        for (column, &path) in self.basis.paths.iter().enumerate() {
            let rate = self.rates[path as usize];
            if rate < 0.0 && !self.fixed_rows.paths[path as usize] {
                compare(rate / network.ceilings[path as usize], Leaving::Extra(column));
            }
            let flow = network.owners[path as usize] as usize;
            let (key, rate) = (self.basis.keys[flow] as usize, self.key_rate(flow));
            if rate < 0.0 && !self.fixed_rows.paths[key] {
                compare(rate / network.ceilings[key], Leaving::Key(flow));
            }
        }
        furthest
    }

    /// All rates and slacks of the basis, when the column that enters is at `step`.
    fn move_along(&mut self, network: &Network, column: Column, step: f64) {
        let falls = match column {
            Column::Path(path) => self.basis.solve(&self.basis.column(network, path)),
            Column::Slack(link) => self.basis.solve(&[(self.basis.row_of[link as usize], 1.0)]),
        };
        for (column, fall) in falls.into_iter().enumerate().filter(|(_, fall)| *fall != 0.0) {
            let path = self.basis.paths[column];
            self.rates[path as usize] -= step * fall;
            self.shift(network, path, -step * fall);
        }
        if let Column::Path(path) = column {
            self.shift(network, path, step);
        }
    }

    /// The key path of a flow carries so much less than before.
    fn lower(&mut self, network: &Network, flow: usize, before: f64) {
        let less = before - self.flow_rates.rate(flow);
        let key = self.basis.keys[flow] as usize;
        network.paths.row(key).add(less, &mut self.slacks);
    }

    /// The paths of the basis take the capacity that full links have left.
    fn spread(&mut self, network: &Network) {
        let left: Vec<f64> = self.basis.links.iter().map(|&link| self.slacks[link as usize]).collect();
        for (column, more) in self.basis.solve_dense(&left).into_iter().enumerate().filter(|(_, more)| *more != 0.0) {
            let path = self.basis.paths[column];
            self.rates[path as usize] += more;
            self.shift(network, path, more);
        }
        self.basis.links.iter().for_each(|&link| self.slacks[link as usize] = 0.0);
    }

    /// So much more goes over a path, and less over the key path of its flow.
    fn shift(&mut self, network: &Network, path: u32, more: f64) {
        let key = self.basis.keys[network.owners[path as usize] as usize];
        network.paths.row(path as usize).add(-more, &mut self.slacks);
        network.paths.row(key as usize).add(more, &mut self.slacks);
    }
}
