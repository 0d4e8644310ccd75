//! The derivative of the basic variables by the fair share, and the ratio test: the first row to reach 0.
//!
//! ```text
//! dx_E/dt = −W⁻¹ a_T       a_l = Σ r_f over the key paths on l,  r_f = dy_f/dt
//! dx_k/dt = r_f − Σ dx_e,  ds_l/dt from the loads
//! ```
//!
//! A derivative below 1e−12 of the terms that it is the sum of counts as 0. The ratio test has two passes: the least
//! step at which a row is below 0 by a tolerance; then, of the rows that reach 0 within that step, the one whose
//! derivative has the least relative rounding. Cost: O(nonzeros of W⁻¹ + links).

use super::basis::NONE;
use super::network::Network;
use super::parametric::Parametric;

/// A rate of change of less than this part of its terms is rounding.
const ROUNDING: f64 = 1e-12;
/// By what part of its capacity a row may go below 0.
const TOLERANCE: f64 = 1e-12;
/// A row that is below 0 by more than this part must leave, whether it falls or not.
const BROKEN: f64 = 1e-7;
/// A row's rate of change is right when the row itself gives the same to this part.
const AGREES: f64 = 1e-6;
/// It is reliable where it is more than this part of its terms.
const RELIABLE: f64 = 1e-5;

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

#[derive(Debug, Default)]
pub(super) struct Direction {
    /// Rates of change by column, by link, and by flow in `split`; each with the sum of its terms' sizes.
    pub(super) extras: Vec<f64>,
    pub(super) slacks: Vec<f64>,
    keys: Vec<f64>,
    extra_terms: Vec<f64>,
    slack_terms: Vec<f64>,
    key_terms: Vec<f64>,
    /// Flows with extra paths.
    split: Vec<u32>,
    is_split: Vec<bool>,
    /// The row whose rate of change has been set to what the row itself gives.
    checked: Option<Leaving>,
}

impl Direction {
    pub(super) fn new(links: usize, flows: usize) -> Self {
        Self {
            slacks: vec![0.0; links],
            slack_terms: vec![0.0; links],
            keys: vec![0.0; flows],
            key_terms: vec![0.0; flows],
            is_split: vec![false; flows],
            ..Self::default()
        }
    }

    /// Finds all rates of change. Returns the operations that took.
    pub(super) fn find(&mut self, state: &Parametric, network: &Network) -> usize {
        let basis = &state.basis;
        self.checked = None;
        let rises: Vec<f64> = basis.links.iter().map(|&link| state.rise[link as usize].value()).collect();
        self.extras.clear();
        self.extra_terms.clear();
        let mut work = 0;
        for column in 0..basis.len() {
            let (mut sum, mut terms) = (0.0, 0.0);
            for &(j, entry) in basis.row(column) {
                let term = entry * rises[j as usize];
                sum -= term;
                terms += term.abs();
            }
            work += basis.row(column).len();
            self.extras.push(sum);
            self.extra_terms.push(terms);
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
            let (mut sum, mut terms) = (slope, slope);
            for &path in &basis.extras[flow] {
                let column = basis.column_of[path as usize] as usize;
                sum -= self.extras[column];
                terms += self.extra_terms[column];
            }
            (self.keys[flow], self.key_terms[flow]) = (sum, terms);
        }
        for ((slack, terms), rise) in self.slacks.iter_mut().zip(&mut self.slack_terms).zip(&state.rise) {
            let rise = rise.value();
            (*slack, *terms) = (-rise, rise.abs());
        }
        for (column, &path) in basis.paths.iter().enumerate() {
            let (sum, terms) = (self.extras[column], self.extra_terms[column]);
            if sum == 0.0 {
                continue;
            }
            let key = basis.keys[network.owners[path as usize] as usize];
            for (path, sign) in [(path, -1.0), (key, 1.0)] {
                for &link in network.paths.links(path as usize) {
                    self.slacks[link as usize] += sign * sum;
                    self.slack_terms[link as usize] += terms;
                }
            }
        }
        for &link in &basis.links {
            self.slacks[link as usize] = 0.0;
        }
        work + 20 * basis.len() + self.slacks.len()
    }

    /// The row that leaves first, and after which step; none if nothing falls.
    pub(super) fn first(&self, state: &Parametric, network: &Network) -> Option<(Leaving, f64)> {
        let mut nearest = f64::INFINITY;
        let mut broken: Option<(Leaving, f64)> = None;
        // Rows that are near so far, with their step and how reliable that is.
        let mut near: Vec<(Leaving, f64, f64)> = Vec::new();
        self.each(state, network, |leaving, value, scale, falls, terms| {
            if value < -BROKEN * scale && broken.is_none_or(|(_, worst)| value / scale < worst) {
                broken = Some((leaving, value / scale));
            }
            if falls > 0.0 {
                let step = value.max(0.0) / falls;
                if step <= nearest {
                    nearest = nearest.min((value.max(0.0) + TOLERANCE * scale) / falls);
                    near.push((leaving, step, falls / terms));
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

    /// Calls with every row that may leave: its value, the scale of that, by how much it falls, and the terms of
    /// that.
    fn each(&self, state: &Parametric, network: &Network, mut visit: impl FnMut(Leaving, f64, f64, f64, f64)) {
        let falls = |change: f64, terms: f64| if change < -ROUNDING * terms { -change } else { 0.0 };
        let (basis, fixed_rows) = (&state.basis, &state.fixed_rows);
        for (link, (&slack, &change)) in state.slacks.iter().zip(&self.slacks).enumerate() {
            if basis.row_of[link] == NONE && !fixed_rows.links[link] {
                let terms = self.slack_terms[link];
                visit(Leaving::Slack(link as u32), slack, network.capacities[link], falls(change, terms), terms);
            }
        }
        for (column, &path) in basis.paths.iter().enumerate() {
            if !fixed_rows.paths[path as usize] {
                let (scale, terms) = (network.ceilings[path as usize], self.extra_terms[column]);
                let falls = falls(self.extras[column], terms);
                visit(Leaving::Extra(column), state.rates[path as usize], scale, falls, terms);
            }
        }
        for &flow in &self.split {
            let flow = flow as usize;
            let key = basis.keys[flow] as usize;
            if !fixed_rows.paths[key] {
                let terms = self.key_terms[flow];
                let falls = falls(self.keys[flow], terms);
                visit(Leaving::Key(flow), state.key_rate(flow), network.ceilings[key], falls, terms);
            }
        }
    }

    /// Whether a row's rate of change is not the small rest of terms that cancel.
    pub(super) fn is_reliable(&self, leaving: Leaving) -> bool {
        let (change, terms) = match leaving {
            Leaving::Slack(link) => (self.slacks[link as usize], self.slack_terms[link as usize]),
            Leaving::Extra(column) => (self.extras[column], self.extra_terms[column]),
            Leaving::Key(flow) => (self.keys[flow], self.key_terms[flow]),
        };
        change.abs() > RELIABLE * terms
    }

    /// What a row's rate of fall should have been, if the row itself gives another: `by_row` is free of cancellation
    /// between flows that do not pay in it. None if it was right, or has been set right.
    pub(super) fn corrected(&self, leaving: Leaving, by_row: f64) -> Option<f64> {
        if self.checked == Some(leaving) {
            return None;
        }
        let falls = match leaving {
            Leaving::Slack(link) => -self.slacks[link as usize],
            Leaving::Extra(column) => -self.extras[column],
            Leaving::Key(flow) => -self.keys[flow],
        };
        // One that does not fall leaves because it is below 0.
        let right = falls <= 0.0 || (falls - by_row).abs() <= AGREES * falls;
        (!right).then_some(by_row)
    }

    /// Sets a row's rate of change.
    pub(super) fn set(&mut self, leaving: Leaving, change: f64) {
        let (value, terms) = match leaving {
            Leaving::Slack(link) => (&mut self.slacks[link as usize], &mut self.slack_terms[link as usize]),
            Leaving::Extra(column) => (&mut self.extras[column], &mut self.extra_terms[column]),
            Leaving::Key(flow) => (&mut self.keys[flow], &mut self.key_terms[flow]),
        };
        (*value, *terms) = (change, change.abs());
        self.checked = Some(leaving);
    }

    /// A key path and an extra one change places.
    pub(super) fn swap(&mut self, flow: usize, column: usize) {
        std::mem::swap(&mut self.keys[flow], &mut self.extras[column]);
        std::mem::swap(&mut self.key_terms[flow], &mut self.extra_terms[column]);
    }
}
