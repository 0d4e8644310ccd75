//! The values of a basis: rates of paths and slacks of links, updated from pivot to pivot and now and then computed
//! afresh.

use std::cmp::Ordering;

use super::Parametric;
use crate::double_double::DoubleDouble;
use crate::max_min::basis::NONE;
use crate::max_min::network::Network;
use crate::max_min::rising_rates::RisingRates;
use crate::max_min::tolerances::{DRIFT, REFINEMENTS};
use crate::water_fill::FULL;

impl Parametric {
    /// Rates of the open paths at the present fair share.
    pub(in crate::max_min) fn path_rates(&mut self, network: &Network) -> Vec<f64> {
        self.refresh_values(network);
        let rests = self.refine_splits(network);
        let mut rates = vec![0.0; network.paths.len()];
        for (flow, &key) in self.basis.keys.iter().enumerate().filter(|(_, key)| **key != NONE) {
            let wanted = self.flow_rates.rate(flow);
            for &path in &self.basis.extras[flow] {
                rates[path as usize] = self.exact(path, &rests).value().max(0.0);
            }
            rates[key as usize] = self.exact_key_rate(flow, &rests).value().max(0.0);
            let of_flow = network.paths_of(flow);
            let total: f64 = rates[of_flow.clone()].iter().sum();
            if total > wanted {
                rates[of_flow].iter_mut().for_each(|rate| *rate *= wanted / total);
            }
        }
        rates
    }

    /// Splits flows so that full links are full beyond the rounding of the sums of thousands of rates. Returns what
    /// the rates of extra paths are above their doubles, by column.
    fn refine_splits(&mut self, network: &Network) -> Vec<f64> {
        let mut rests = vec![0.0; self.basis.len()];
        for _ in 0..REFINEMENTS {
            let mut left: Vec<DoubleDouble> =
                network.capacities.iter().map(|&capacity| DoubleDouble::new(capacity)).collect();
            let mut take = |path: u32, rate: DoubleDouble| {
                let entries = network.paths.row(path as usize).entries();
                entries.for_each(|(link, a)| left[link as usize].add_multiple(-a, rate));
            };
            for (flow, &key) in self.basis.keys.iter().enumerate().filter(|(_, key)| **key != NONE) {
                self.basis.extras[flow].iter().for_each(|&path| take(path, self.exact(path, &rests)));
                take(key, self.exact_key_rate(flow, &rests));
            }
            let off: Vec<f64> = self.basis.links.iter().map(|&link| left[link as usize].value()).collect();
            let more = self.basis.solve_dense(&off);
            let mut moved = 0.0f64;
            for (column, more) in more.into_iter().enumerate() {
                let path = self.basis.paths[column];
                let mut rate = self.exact(path, &rests);
                rate.add(more);
                (self.rates[path as usize], rests[column]) = rate.parts();
                moved = moved.max(more.abs() / network.ceilings[path as usize]);
            }
            if moved <= f64::EPSILON {
                break;
            }
        }
        rests
    }

    /// x of an extra path, and of a flow's key path, beyond doubles.
    fn exact(&self, path: u32, rests: &[f64]) -> DoubleDouble {
        let mut rate = DoubleDouble::new(self.rates[path as usize]);
        rate.add(rests[self.basis.column_of[path as usize] as usize]);
        rate
    }

    fn exact_key_rate(&self, flow: usize, rests: &[f64]) -> DoubleDouble {
        let mut rate = self.flow_rates.exact_rate(flow);
        self.basis.extras[flow].iter().for_each(|&path| rate.add_multiple(-1.0, self.exact(path, rests)));
        rate
    }

    /// x of a flow's key path.
    pub(in crate::max_min) fn key_rate(&self, flow: usize) -> f64 {
        let extra: f64 = self.basis.extras[flow].iter().map(|&path| self.rates[path as usize]).sum();
        self.flow_rates.rate(flow) - extra
    }

    /// Finds flows that have one path left, and computes values and a small inverse afresh. Returns whether the basis
    /// has an inverse.
    pub(super) fn refresh(&mut self, network: &Network) -> bool {
        // Flows that have risen to their floors rise further.
        for flow in (0..network.flows()).filter(|_| self.above_floors.is_none()) {
            let of_flow = network.paths_of(flow);
            if self.fixed_flows[flow] || !self.flow_rates.is_fixed(flow) || !self.basis.extras[flow].is_empty() {
                continue;
            }
            if of_flow.filter(|&path| self.path_ban[path] == NONE).count() == 1 {
                self.fixed_flows[flow] = true;
                let rate = self.flow_rates.exact_rate(flow);
                for (link, a) in network.paths.row(self.basis.keys[flow] as usize).entries() {
                    self.left[link as usize].add_multiple(-a, rate);
                }
            }
        }
        self.work += 2 * network.paths.len();
        let n = self.basis.len();
        self.work += 200 * n;
        if !self.basis.refine(network) {
            return false;
        }
        self.refresh_values(network)
    }

    /// Computes the values of the basis afresh, and its inverse too if they do not fit. Returns whether they fit then.
    pub(in crate::max_min) fn refresh_values(&mut self, network: &Network) -> bool {
        let n = self.basis.len();
        if self.compute_values(network) <= DRIFT || n == 0 {
            return true;
        }
        self.work += n * n * n;
        self.basis.refactor(network) && self.compute_values(network).is_finite()
    }

    /// x_E = W⁻¹ (c_T − loads of key paths), refined until rates stay, and the slacks. Returns by how much full links
    /// were off at first, as a part of their capacity; ∞ where W⁻¹ is so far off that rates do not come to stay.
    fn compute_values(&mut self, network: &Network) -> f64 {
        match network.paths.coefficients() {
            // W⁻¹ has small entries.
            None => self.compute_values_by::<f64>(network),
            // It may have entries of 10¹².
            Some(_) => self.compute_values_by::<DoubleDouble>(network),
        }
    }

    /// With what is left of links as numbers of a kind.
    fn compute_values_by<A: Amount>(&mut self, network: &Network) -> f64 {
        let mut keys: Vec<A> = self.left.iter().map(|&left| A::of_sum(left)).collect();
        for (flow, &key) in self.basis.keys.iter().enumerate() {
            if key != NONE && !self.fixed_flows[flow] {
                self.work += take(&mut keys, network, key, A::of_flow(&self.flow_rates, flow));
            }
        }
        let of_rows =
            |left: &[A]| -> Vec<f64> { self.basis.links.iter().map(|&link| left[link as usize].value()).collect() };
        let mut rates = self.basis.solve_dense(&of_rows(&keys));
        let (mut drift, mut left, mut least) = (0.0, Vec::new(), f64::INFINITY);
        for round in 0..=A::REFINEMENTS {
            left.clone_from(&keys);
            for (&path, &rate) in self.basis.paths.iter().zip(&rates) {
                let key = self.basis.keys[network.owners[path as usize] as usize];
                self.work += take(&mut left, network, path, A::of_sum(DoubleDouble::new(rate)));
                self.work += take(&mut left, network, key, A::of_sum(DoubleDouble::new(-rate)));
            }
            let off = of_rows(&left);
            if round == 0 {
                let part = |(&link, off): (&u32, &f64)| off.abs() / network.capacities[link as usize];
                drift = self.basis.links.iter().zip(&off).map(part).fold(0.0, f64::max);
            }
            if round == A::REFINEMENTS {
                break;
            }
            self.work += self.basis.nonzeros();
            let more = self.basis.solve_dense(&off);
            let part = |(&path, more): (&u32, &f64)| more.abs() / network.ceilings[path as usize];
            // max would drop a NaN.
            let larger = |one: f64, other: f64| if other <= one { one } else { other };
            let moves = self.basis.paths.iter().zip(&more).map(part).fold(0.0, larger);
            if moves <= FULL {
                break;
            }
            if moves.partial_cmp(&least) != Some(Ordering::Less) {
                drift = if moves <= DRIFT { drift } else { f64::INFINITY };
                break;
            }
            least = moves;
            rates.iter_mut().zip(more).for_each(|(rate, more)| *rate += more);
        }
        for (link, slack) in self.slacks.iter_mut().enumerate() {
            *slack = if self.basis.row_of[link] == NONE { left[link].value() } else { 0.0 };
        }
        for (&path, rate) in self.basis.paths.iter().zip(rates) {
            self.rates[path as usize] = rate;
        }
        drift
    }
}

/// A rate, or what is left of a link.
trait Amount: Copy {
    /// Steps at most that bring the rates of a basis to rounding.
    const REFINEMENTS: usize;

    fn of_sum(sum: DoubleDouble) -> Self;
    fn of_flow(rates: &RisingRates, flow: usize) -> Self;
    fn take(&mut self, a: f64, rate: Self);
    fn value(self) -> f64;
}

impl Amount for f64 {
    const REFINEMENTS: usize = 1;

    fn of_sum(sum: DoubleDouble) -> Self {
        sum.value()
    }

    fn of_flow(rates: &RisingRates, flow: usize) -> Self {
        rates.rate(flow)
    }

    fn take(&mut self, a: f64, rate: Self) {
        *self -= a * rate;
    }

    fn value(self) -> f64 {
        self
    }
}

impl Amount for DoubleDouble {
    const REFINEMENTS: usize = REFINEMENTS;

    fn of_sum(sum: DoubleDouble) -> Self {
        sum
    }

    fn of_flow(rates: &RisingRates, flow: usize) -> Self {
        rates.exact_rate(flow)
    }

    fn take(&mut self, a: f64, rate: Self) {
        self.add_multiple(-a, rate);
    }

    fn value(self) -> f64 {
        self.value()
    }
}

/// Takes a path of a rate from what is left of its links. Returns how many there are.
fn take<A: Amount>(left: &mut [A], network: &Network, path: u32, rate: A) -> usize {
    let row = network.paths.row(path as usize);
    row.entries().for_each(|(link, a)| left[link as usize].take(a, rate));
    row.links().len()
}
