//! The derivative of the basic variables by the fair share, and the ratio test: the first row to reach 0.
//!
//! ```text
//! dx_E/dt = −W⁻¹ b_T       b_l = Σ a_lk r_f over the key paths k on l,  r_f = dy_f/dt
//! dx_k/dt = r_f − Σ dx_e,  ds_l/dt from the loads
//! ```
//!
//! A derivative below 1e−12 of the terms that it is the sum of counts as 0. The ratio test has two passes: the least
//! step at which a row is below 0 by a tolerance; then, of the rows that reach 0 within that step, the one whose
//! derivative has the least relative rounding. Cost: O(nonzeros of W⁻¹ + links).

use super::Parametric;
use crate::max_min::basis::NONE;
use crate::max_min::network::Network;
use crate::max_min::tolerances::{BELOW_0, BROKEN, RELIABLE, ROUNDING};

/// A row that leaves the basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// The slack of a link.
    Slack(u32),
    /// An extra path, by its column.
    Extra(usize),
    /// The key path of a flow that has extra ones.
    Key(usize),
}

/// A derivative by the fair share, and the sum of its terms' sizes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Change {
    pub(super) by: f64,
    terms: f64,
}

impl Change {
    /// By how much it falls; 0 where that is rounding.
    fn falls(self) -> f64 {
        if self.by < -ROUNDING * self.terms { -self.by } else { 0.0 }
    }
}

#[derive(Debug, Default)]
pub(super) struct Direction {
    /// By column, by link, and by flow in `split`.
    pub(super) extras: Vec<Change>,
    pub(super) slacks: Vec<Change>,
    keys: Vec<Change>,
    /// Flows with extra paths.
    split: Vec<u32>,
    is_split: Vec<bool>,
    /// The row whose derivative has been corrected.
    checked: Option<Leaving>,
}

impl Direction {
    pub(super) fn new(links: usize, flows: usize) -> Self {
        let (slacks, keys) = (vec![Change::default(); links], vec![Change::default(); flows]);
        Self { slacks, keys, is_split: vec![false; flows], ..Self::default() }
    }

    /// Finds all derivatives. Returns the operations done.
    pub(super) fn find(&mut self, state: &Parametric, network: &Network) -> usize {
        let basis = &state.basis;
        self.checked = None;
        let rises: Vec<f64> = basis.links.iter().map(|&link| state.rise[link as usize].value()).collect();
        self.extras.clear();
        let mut work = 0;
        for column in 0..basis.len() {
            let mut change = Change::default();
            for &(j, entry) in basis.row(column) {
                let term = entry * rises[j as usize];
                change.by -= term;
                change.terms += term.abs();
            }
            work += basis.row(column).len();
            self.extras.push(change);
        }
        self.split.drain(..).for_each(|flow| self.is_split[flow as usize] = false);
        for &path in &basis.paths {
            let flow = network.owners[path as usize];
            if !self.is_split[flow as usize] {
                self.is_split[flow as usize] = true;
                self.split.push(flow);
            }
        }
        for &flow in &self.split {
            let flow = flow as usize;
            let slope = state.flow_rates.slope(flow);
            let mut change = Change { by: slope, terms: slope };
            for &path in &basis.extras[flow] {
                let extra = self.extras[basis.column_of[path as usize] as usize];
                change.by -= extra.by;
                change.terms += extra.terms;
            }
            self.keys[flow] = change;
        }
        for (slack, rise) in self.slacks.iter_mut().zip(&state.rise) {
            let rise = rise.value();
            *slack = Change { by: -rise, terms: rise.abs() };
        }
        for (&extra, &path) in self.extras.iter().zip(&basis.paths) {
            if extra.by == 0.0 {
                continue;
            }
            let key = basis.keys[network.owners[path as usize] as usize];
            for (path, sign) in [(path, -1.0), (key, 1.0)] {
                for (link, a) in network.paths.row(path as usize).entries() {
                    self.slacks[link as usize].by += sign * (a * extra.by);
                    self.slacks[link as usize].terms += a * extra.terms;
                }
            }
        }
        basis.links.iter().for_each(|&link| self.slacks[link as usize].by = 0.0);
        work + 20 * basis.len() + self.slacks.len()
    }

    /// The row that leaves first, and after which step; none if nothing falls.
    pub(super) fn first(&self, state: &Parametric, network: &Network) -> Option<(Leaving, f64)> {
        let mut nearest = f64::INFINITY;
        let mut broken: Option<(Leaving, f64)> = None;
        // Rows that are near so far, with their step and its reliability.
        let mut near: Vec<(Leaving, f64, f64)> = Vec::new();
        self.each(state, network, |leaving, value, scale, change| {
            if value < -BROKEN * scale && broken.is_none_or(|(_, worst)| value / scale < worst) {
                broken = Some((leaving, value / scale));
            }
            let falls = change.falls();
            if falls > 0.0 {
                let step = value.max(0.0) / falls;
                if step <= nearest {
                    nearest = nearest.min((value.max(0.0) + BELOW_0 * scale) / falls);
                    near.push((leaving, step, falls / change.terms));
                }
            }
        });
        if let Some((leaving, _)) = broken {
            return Some((leaving, 0.0));
        }
        let (mut best, mut most) = (None, 0.0);
        for (leaving, step, reliability) in near {
            if step <= nearest && reliability > most {
                (best, most) = (Some((leaving, step)), reliability);
            }
        }
        best
    }

    /// Calls with every row that may leave: its value, the largest that it could be, and its derivative.
    fn each(&self, state: &Parametric, network: &Network, mut visit: impl FnMut(Leaving, f64, f64, Change)) {
        let (basis, fixed_rows) = (&state.basis, &state.fixed_rows);
        for (link, (&slack, &change)) in state.slacks.iter().zip(&self.slacks).enumerate() {
            if basis.row_of[link] == NONE && !fixed_rows.links[link] {
                visit(Leaving::Slack(link as u32), slack, network.capacities[link], change);
            }
        }
        for (column, (&path, &change)) in basis.paths.iter().zip(&self.extras).enumerate() {
            let path = path as usize;
            if !fixed_rows.paths[path] {
                visit(Leaving::Extra(column), state.rates[path], network.ceilings[path], change);
            }
        }
        for &flow in &self.split {
            let flow = flow as usize;
            let key = basis.keys[flow] as usize;
            if !fixed_rows.paths[key] {
                visit(Leaving::Key(flow), state.key_rate(flow), network.ceilings[key], self.keys[flow]);
            }
        }
    }

    fn change(&mut self, leaving: Leaving) -> &mut Change {
        match leaving {
            Leaving::Slack(link) => &mut self.slacks[link as usize],
            Leaving::Extra(column) => &mut self.extras[column],
            Leaving::Key(flow) => &mut self.keys[flow],
        }
    }

    /// Whether a row's derivative is not the small rest of terms that cancel.
    pub(super) fn is_reliable(&mut self, leaving: Leaving) -> bool {
        let Change { by, terms } = *self.change(leaving);
        by.abs() > RELIABLE * terms
    }

    /// Sets how fast a row falls to the rate `by_row`, which is free of cancellation between flows that do not pay in
    /// it. Returns whether that differs from the derivative, which was not corrected before.
    pub(super) fn correct(&mut self, leaving: Leaving, by_row: f64) -> bool {
        let falls = -self.change(leaving).by;
        // One that does not fall leaves because it is below 0.
        let is_right = falls <= 0.0 || (falls - by_row).abs() <= RELIABLE * falls;
        if is_right || self.checked == Some(leaving) {
            return false;
        }
        *self.change(leaving) = Change { by: -by_row, terms: by_row.abs() };
        self.checked = Some(leaving);
        true
    }

    /// A row does not fall.
    pub(super) fn stand(&mut self, leaving: Leaving) {
        *self.change(leaving) = Change::default();
    }

    /// A key path and an extra one change places.
    pub(super) fn swap(&mut self, flow: usize, column: usize) {
        std::mem::swap(&mut self.keys[flow], &mut self.extras[column]);
    }
}
