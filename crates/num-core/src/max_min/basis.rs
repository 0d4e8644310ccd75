//! The basis of the simplex method, reduced to the links that are full.
//!
//! ```text
//! x_{k_f} = y_f − Σ x_e over the extra paths e of f          every flow has a key path k_f
//! W x_E = c_T − loads of the key paths on T                  W = R_{T,e} − R_{T,k(f(e))}, one row per full link of T,
//!                                                            one column per extra path of E, |T| = |E|
//! ```
//!
//! Everything else (rates of key paths, slacks of the other links) follows from x_E. W has small whole entries and
//! knows neither capacities nor weights, so its inverse is as good as the network's structure, whatever decades these
//! span. W⁻¹ is dense: O(n²) per change for n full links, O(n³) to make it anew. Another representation needs the same
//! operations: a row, a product from either side, the four exchanges, and a new start.

use faer::Mat;
use faer::linalg::solvers::{DenseSolveCore, PartialPivLu};

use super::network::Network;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;
/// An entry of the inverse below this is rounding.
const DUST: f64 = 1e-13;

#[derive(Debug, Clone)]
pub(super) struct Basis {
    /// The key path of every flow.
    pub(super) keys: Vec<u32>,
    /// T and E: the link of every row of W, the path of every column.
    pub(super) links: Vec<u32>,
    pub(super) paths: Vec<u32>,
    /// Where a link or path stands in them, or [`NONE`].
    pub(super) row_of: Vec<u32>,
    pub(super) column_of: Vec<u32>,
    /// The extra paths of every flow.
    pub(super) extras: Vec<Vec<u32>>,
    /// W⁻¹: one row per path of E, one column per link of T, `stride` apart.
    inverse: Vec<f64>,
    stride: usize,
}

impl Basis {
    /// No link full, and one path for every flow that has any.
    pub(super) fn new(network: &Network, keys: Vec<u32>) -> Self {
        Self {
            row_of: vec![NONE; network.capacities.len()],
            column_of: vec![NONE; network.paths.len()],
            extras: vec![Vec::new(); keys.len()],
            keys,
            links: Vec::new(),
            paths: Vec::new(),
            inverse: Vec::new(),
            stride: 0,
        }
    }

    /// Number of full links.
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    /// The row of W⁻¹ that belongs to an extra path.
    pub(super) fn row(&self, column: usize) -> &[f64] {
        &self.inverse[column * self.stride..column * self.stride + self.len()]
    }

    /// The column of W that a path has or would have, as (row, entry).
    pub(super) fn column(&self, network: &Network, path: u32) -> Vec<(u32, f64)> {
        let own = network.paths.links(path as usize);
        let key = network.paths.links(self.keys[network.owners[path as usize] as usize] as usize);
        let part = |links: &[u32], others: &[u32], sign: f64| -> Vec<(u32, f64)> {
            let row = |&link: &u32| self.row_of[link as usize];
            links
                .iter()
                .filter(|link| !others.contains(link))
                .map(row)
                .filter(|&row| row != NONE)
                .map(|row| (row, sign))
                .collect()
        };
        let mut column = part(own, key, 1.0);
        column.extend(part(key, own, -1.0));
        column
    }

    /// W⁻¹ d.
    pub(super) fn solve(&self, column: &[(u32, f64)]) -> Vec<f64> {
        let of_row = |row: &[f64]| column.iter().map(|&(j, entry)| row[j as usize] * entry).sum();
        (0..self.len()).map(|i| of_row(self.row(i))).collect()
    }

    /// gᵀ W⁻¹, for a g of few entries (column, entry).
    pub(super) fn combine(&self, entries: &[(u32, f64)]) -> Vec<f64> {
        let mut sum = vec![0.0; self.len()];
        for &(column, entry) in entries {
            sum.iter_mut().zip(self.row(column as usize)).for_each(|(sum, inverse)| *sum += entry * inverse);
        }
        sum
    }

    /// W⁻¹ b, for a b without zeros.
    pub(super) fn solve_dense(&self, right: &[f64]) -> Vec<f64> {
        let of_row = |row: &[f64]| row.iter().zip(right).map(|(inverse, right)| inverse * right).sum();
        (0..self.len()).map(|i| of_row(self.row(i))).collect()
    }

    /// Makes an extra path the key path of its flow, and the key path an extra one in its column.
    pub(super) fn swap_key(&mut self, flow: usize, extra: u32) {
        let (n, key) = (self.len(), self.keys[flow]);
        let column = self.column_of[extra as usize];
        let mut row = vec![0.0; n];
        for &path in &self.extras[flow] {
            let other = self.row(self.column_of[path as usize] as usize);
            row.iter_mut().zip(other).for_each(|(sum, inverse)| *sum -= inverse);
        }
        let start = column as usize * self.stride;
        self.inverse[start..start + n].copy_from_slice(&row);
        self.keys[flow] = extra;
        self.paths[column as usize] = key;
        self.column_of[key as usize] = column;
        self.column_of[extra as usize] = NONE;
        self.extras[flow].iter_mut().filter(|path| **path == extra).for_each(|path| *path = key);
    }

    /// One more full link and one more extra path. `prices` are those of the link's row: −gᵀ W⁻¹ on T; `pivot` is the
    /// price of the path above that of its key path.
    pub(super) fn add(&mut self, network: &Network, link: u32, path: u32, prices: &[f64], pivot: f64) {
        let n = self.len();
        let solved = self.solve(&self.column(network, path));
        self.reserve(n + 1);
        let stride = self.stride;
        let nonzero = nonzero(prices);
        for (i, value) in solved.into_iter().enumerate() {
            let row = &mut self.inverse[i * stride..i * stride + n + 1];
            let part = clean(value / pivot);
            subtract(&mut row[..n], part, prices, &nonzero);
            row[n] = -part;
        }
        let last = &mut self.inverse[n * stride..n * stride + n + 1];
        last[..n].iter_mut().zip(prices).for_each(|(entry, price)| *entry = clean(price / pivot));
        last[n] = 1.0 / pivot;
        self.row_of[link as usize] = n as u32;
        self.links.push(link);
        self.column_of[path as usize] = n as u32;
        self.paths.push(path);
        self.extras[network.owners[path as usize] as usize].push(path);
    }

    /// A link is full in the place of another one. `prices` as in [`add`](Self::add).
    pub(super) fn replace_link(&mut self, full: u32, other: u32, prices: &[f64]) {
        let (n, stride, place) = (self.len(), self.stride, self.row_of[other as usize] as usize);
        let mut change: Vec<f64> = prices.iter().map(|price| -price).collect();
        change[place] -= 1.0;
        let nonzero = nonzero(&change);
        for i in 0..n {
            let row = &mut self.inverse[i * stride..i * stride + n];
            let part = clean(row[place] / -prices[place]);
            subtract(row, part, &change, &nonzero);
        }
        self.row_of[other as usize] = NONE;
        self.row_of[full as usize] = place as u32;
        self.links[place] = full;
    }

    /// A path is extra in the place of another one.
    pub(super) fn replace_path(&mut self, network: &Network, extra: u32, other: u32) {
        let place = self.column_of[other as usize] as usize;
        let solved = self.solve(&self.column(network, extra));
        self.eliminate(place, solved[place], &solved);
        self.forget_extra(network, other);
        self.column_of[extra as usize] = place as u32;
        self.paths[place] = extra;
        self.extras[network.owners[extra as usize] as usize].push(extra);
    }

    /// A link is full no more, and a path no more extra.
    pub(super) fn remove(&mut self, network: &Network, link: u32, path: u32) {
        let (n, stride) = (self.len(), self.stride);
        let (row, column) = (self.row_of[link as usize] as usize, self.column_of[path as usize] as usize);
        let parts: Vec<f64> = (0..n).map(|i| self.inverse[i * stride + row]).collect();
        self.eliminate(column, parts[column], &parts);
        self.forget_extra(network, path);
        self.row_of[link as usize] = NONE;
        let last = n - 1;
        if column != last {
            self.inverse.copy_within(last * stride..last * stride + n, column * stride);
            self.paths[column] = self.paths[last];
            self.column_of[self.paths[column] as usize] = column as u32;
        }
        if row != last {
            for i in 0..last {
                self.inverse[i * stride + row] = self.inverse[i * stride + last];
            }
            self.links[row] = self.links[last];
            self.row_of[self.links[row] as usize] = row as u32;
        }
        self.paths.pop();
        self.links.pop();
    }

    /// Divides a row of the inverse by a pivot and takes its part from the others.
    fn eliminate(&mut self, place: usize, pivot: f64, parts: &[f64]) {
        let (n, stride) = (self.len(), self.stride);
        let mut own = self.row(place).to_vec();
        own.iter_mut().for_each(|entry| *entry = clean(*entry / pivot));
        let nonzero = nonzero(&own);
        for (i, &part) in parts.iter().enumerate().filter(|&(i, _)| i != place) {
            subtract(&mut self.inverse[i * stride..i * stride + n], part, &own, &nonzero);
        }
        self.inverse[place * stride..place * stride + n].copy_from_slice(&own);
    }

    fn forget_extra(&mut self, network: &Network, path: u32) {
        self.column_of[path as usize] = NONE;
        self.extras[network.owners[path as usize] as usize].retain(|&other| other != path);
    }

    fn reserve(&mut self, size: usize) {
        if size <= self.stride {
            return;
        }
        let (n, old, stride) = (self.len(), self.stride, (2 * self.stride).max(32).max(size));
        let mut inverse = vec![0.0; stride * stride];
        for i in 0..n {
            inverse[i * stride..i * stride + n].copy_from_slice(&self.inverse[i * old..i * old + n]);
        }
        (self.inverse, self.stride) = (inverse, stride);
    }

    /// Makes the inverse anew. Returns whether W has one.
    pub(super) fn refactor(&mut self, network: &Network) -> bool {
        let n = self.len();
        let mut matrix = Mat::<f64>::zeros(n, n);
        for (j, &path) in self.paths.iter().enumerate() {
            for (row, entry) in self.column(network, path) {
                matrix[(row as usize, j)] = entry;
            }
        }
        let inverse = PartialPivLu::new(matrix.as_ref()).inverse();
        for i in 0..n {
            for j in 0..n {
                self.inverse[i * self.stride + j] = clean(inverse[(i, j)]);
            }
        }
        (0..n).all(|i| self.row(i).iter().all(|entry| entry.is_finite()))
    }
}

fn clean(entry: f64) -> f64 {
    if entry.abs() < DUST { 0.0 } else { entry }
}

/// The places of entries that are not 0, where they are few.
fn nonzero(entries: &[f64]) -> Option<Vec<u32>> {
    let places: Vec<u32> = (0u32..).zip(entries).filter(|(_, entry)| **entry != 0.0).map(|(place, _)| place).collect();
    (4 * places.len() <= entries.len()).then_some(places)
}

/// row ← row − part · other.
fn subtract(row: &mut [f64], part: f64, other: &[f64], nonzero: &Option<Vec<u32>>) {
    if part == 0.0 {
        return;
    }
    match nonzero {
        Some(places) => {
            for &place in places {
                let entry = &mut row[place as usize];
                *entry = clean(*entry - part * other[place as usize]);
            }
        }
        None => row.iter_mut().zip(other).for_each(|(entry, other)| *entry = clean(*entry - part * other)),
    }
}
