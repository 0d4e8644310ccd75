//! The values of a basis: rates of paths and slacks of links, updated from pivot to pivot and now and then computed
//! afresh.

use super::Parametric;
use crate::double_double::DoubleDouble;
use crate::max_min::basis::NONE;
use crate::max_min::network::Network;
use crate::max_min::tolerances::DRIFT;

impl Parametric {
    /// Rates of the open paths at the present fair share.
    pub(in crate::max_min) fn path_rates(&mut self, network: &Network) -> Vec<f64> {
        self.refresh_values(network);
        self.refine_splits(network);
        let mut rates = vec![0.0; network.paths.len()];
        for (flow, &key) in self.basis.keys.iter().enumerate().filter(|(_, key)| **key != NONE) {
            let wanted = self.flow_rates.rate(flow);
            for &path in &self.basis.extras[flow] {
                rates[path as usize] = self.rates[path as usize].max(0.0);
            }
            rates[key as usize] = self.key_rate(flow).max(0.0);
            let of_flow = network.paths_of(flow);
            let total: f64 = rates[of_flow.clone()].iter().sum();
            if total > wanted {
                rates[of_flow].iter_mut().for_each(|rate| *rate *= wanted / total);
            }
        }
        rates
    }

    /// Splits flows so that full links are full beyond the rounding of the sums of thousands of rates.
    fn refine_splits(&mut self, network: &Network) {
        let mut left: Vec<DoubleDouble> =
            network.capacities.iter().map(|&capacity| DoubleDouble::new(capacity)).collect();
        let mut take = |path: u32, rate: f64| {
            let entries = network.paths.row(path as usize).entries();
            entries.for_each(|(link, a)| left[link as usize].add_product(-a, rate));
        };
        for (flow, &key) in self.basis.keys.iter().enumerate().filter(|(_, key)| **key != NONE) {
            self.basis.extras[flow].iter().for_each(|&path| take(path, self.rates[path as usize]));
            take(key, self.key_rate(flow));
        }
        let off: Vec<f64> = self.basis.links.iter().map(|&link| left[link as usize].value()).collect();
        for (column, more) in self.basis.solve_dense(&off).into_iter().enumerate() {
            self.rates[self.basis.paths[column] as usize] += more;
        }
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
                let rate = self.flow_rates.rate(flow);
                for (link, a) in network.paths.row(self.basis.keys[flow] as usize).entries() {
                    self.left[link as usize].add(-a * rate);
                }
            }
        }
        self.work += 2 * network.paths.len();
        let n = self.basis.len();
        self.work += 200 * n;
        if !self.basis.refine(network) {
            return false;
        }
        self.refresh_values(network);
        true
    }

    /// Computes the values of the basis afresh, and its inverse too if they do not fit.
    pub(in crate::max_min) fn refresh_values(&mut self, network: &Network) {
        let n = self.basis.len();
        if self.compute_values(network) > DRIFT && n > 0 {
            self.work += n * n * n;
            if self.basis.refactor(network) {
                self.compute_values(network);
            }
        }
    }

    /// x_E = W⁻¹ (c_T − loads of key paths), refined once, and the slacks. Returns by how much full links were off at
    /// first, as a part of their capacity.
    fn compute_values(&mut self, network: &Network) -> f64 {
        let mut keys = vec![0.0; network.capacities.len()];
        for (flow, &key) in self.basis.keys.iter().enumerate() {
            if key != NONE && !self.fixed_flows[flow] {
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

/// Adds a path of a rate to the loads of its links. Returns how many there are.
fn add(loads: &mut [f64], network: &Network, path: u32, rate: f64) -> usize {
    let row = network.paths.row(path as usize);
    row.add(rate, loads);
    row.links().len()
}
