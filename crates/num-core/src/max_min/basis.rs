//! The basis of the simplex method, reduced to the links that are full.
//!
//! ```text
//! x_{k_f} = y_f − Σ x_e over the extra paths e of f          every flow has a key path k_f
//! W x_E = c_T − loads of the key paths on T                  W = R_{T,e} − R_{T,k(f(e))}, one row per full link of T,
//!                                                            one column per extra path of E, |T| = |E|
//! ```
//!
//! with the coefficients in R. Everything else (rates of key paths, slacks of the other links) follows from x_E. W
//! depends on neither capacities nor weights, and without coefficients it has small whole entries, so its inverse is as
//! good as the network's structure, whatever decades these span. Of W⁻¹ the entries that are not 0 are kept, row by
//! row: on networks some 4 to 10 in a row, whether 100 or 2000 links are full. Cost: O(nonzeros) per change and per
//! product, O(n³) to compute it afresh.

use std::mem;

use faer::Mat;
use faer::linalg::solvers::{DenseSolveCore, PartialPivLu};

use super::network::Network;
use super::tolerances::{FAR, ROUNDING};

/// In the place of a number: none.
pub(super) const NONE: u32 = u32::MAX;

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
    /// W⁻¹: one row per path of E, with the entries of some links of T, in any order.
    inverse: Vec<Vec<Entry>>,
}

/// An entry of a row, by its column.
pub(super) type Entry = (u32, f64);

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
        }
    }

    /// The same basis in a network that has its links, and its paths at other places; none where one is not its flow's
    /// there. A flow that had no path has its first one as key path.
    pub(super) fn renumbered(&self, network: &Network, places: &[u32]) -> Option<Self> {
        let place = |flow: usize, path: u32| {
            let place = places[path as usize];
            (network.owners[place as usize] as usize == flow).then_some(place)
        };
        let key = |(flow, &key): (usize, &u32)| match key {
            NONE => Some(network.paths_of(flow).next().map_or(NONE, |path| path as u32)),
            key => place(flow, key),
        };
        let extras_of = |(flow, extras): (usize, &Vec<u32>)| extras.iter().map(|&path| place(flow, path)).collect();
        let mut basis = Self::new(network, self.keys.iter().enumerate().map(key).collect::<Option<_>>()?);
        basis.extras = self.extras.iter().enumerate().map(extras_of).collect::<Option<_>>()?;
        basis.paths = self.paths.iter().map(|&path| places[path as usize]).collect();
        (0..).zip(&basis.paths).for_each(|(column, &path)| basis.column_of[path as usize] = column);
        (basis.links, basis.row_of) = (self.links.clone(), self.row_of.clone());
        basis.inverse = self.inverse.clone();
        Some(basis)
    }

    /// Number of full links.
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether a path is a key path or an extra one.
    pub(super) fn has(&self, network: &Network, path: usize) -> bool {
        self.column_of[path] != NONE || self.keys[network.owners[path] as usize] == path as u32
    }

    /// The row of W⁻¹ that belongs to an extra path.
    pub(super) fn row(&self, column: usize) -> &[Entry] {
        &self.inverse[column]
    }

    /// Entries of W⁻¹.
    pub(super) fn nonzeros(&self) -> usize {
        self.inverse.iter().map(Vec::len).sum()
    }

    /// The column of W that a path has or would have, as (row, entry).
    pub(super) fn column(&self, network: &Network, path: u32) -> Vec<(u32, f64)> {
        let own = network.paths.row(path as usize);
        let key = network.paths.row(self.keys[network.owners[path as usize] as usize] as usize);
        let above_key = own.entries().map(|(link, a)| (link, a - key.coefficient(link)));
        let of_key = key.entries().filter(|(link, _)| !own.links().contains(link)).map(|(link, a)| (link, -a));
        let in_rows = above_key.chain(of_key).map(|(link, entry)| (self.row_of[link as usize], entry));
        in_rows.filter(|&(row, entry)| row != NONE && entry != 0.0).collect()
    }

    /// W⁻¹ d.
    pub(super) fn solve(&self, column: &[Entry]) -> Vec<f64> {
        let mut dense = vec![0.0; self.len()];
        column.iter().for_each(|&(j, entry)| dense[j as usize] += entry);
        self.solve_dense(&dense)
    }

    /// gᵀ W⁻¹, for a g of few entries (column, entry).
    pub(super) fn combine(&self, entries: &[Entry]) -> Vec<f64> {
        let mut sum = vec![0.0; self.len()];
        for &(column, entry) in entries {
            self.row(column as usize).iter().for_each(|&(j, inverse)| sum[j as usize] += entry * inverse);
        }
        sum
    }

    /// W⁻¹ b, for a b of all entries.
    pub(super) fn solve_dense(&self, right: &[f64]) -> Vec<f64> {
        let of_row = |row: &Vec<Entry>| row.iter().map(|&(j, inverse)| inverse * right[j as usize]).sum();
        self.inverse.iter().map(of_row).collect()
    }

    /// Makes an extra path the key path of its flow, and the key path an extra one in its column.
    pub(super) fn swap_key(&mut self, flow: usize, extra: u32) {
        let key = self.keys[flow];
        let column = self.column_of[extra as usize];
        let extras = self.extras[flow].iter().map(|&path| (self.column_of[path as usize], -1.0));
        self.inverse[column as usize] = entries(self.combine(&extras.collect::<Vec<_>>()).into_iter());
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
        let prices = entries(prices.iter().copied());
        let mut merge = Merge::new(n);
        for (row, value) in self.inverse.iter_mut().zip(solved) {
            let part = clean(value / pivot);
            if part != 0.0 {
                merge.subtract(row, part, &prices);
                row.push((n as u32, -part));
            }
        }
        let mut last = prices;
        last.iter_mut().for_each(|(_, price)| *price /= pivot);
        last.retain(|&(_, entry)| clean(entry) != 0.0);
        last.push((n as u32, 1.0 / pivot));
        self.inverse.push(last);
        self.row_of[link as usize] = n as u32;
        self.links.push(link);
        self.column_of[path as usize] = n as u32;
        self.paths.push(path);
        self.extras[network.owners[path as usize] as usize].push(path);
    }

    /// A link is full in the place of another one. `prices` as in [`add`](Self::add).
    pub(super) fn replace_link(&mut self, full: u32, other: u32, prices: &[f64]) {
        let place = self.row_of[other as usize] as usize;
        let mut change: Vec<f64> = prices.iter().map(|price| -price).collect();
        change[place] -= 1.0;
        let change = entries(change.into_iter());
        let mut merge = Merge::new(self.len());
        for row in &mut self.inverse {
            let part = clean(entry_at(row, place) / -prices[place]);
            if part != 0.0 {
                merge.subtract(row, part, &change);
            }
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
        let (row, column) = (self.row_of[link as usize] as usize, self.column_of[path as usize] as usize);
        let parts: Vec<f64> = self.inverse.iter().map(|entries| entry_at(entries, row)).collect();
        self.eliminate(column, parts[column], &parts);
        self.forget_extra(network, path);
        self.row_of[link as usize] = NONE;
        let last = self.len() - 1;
        self.inverse.swap_remove(column);
        self.paths.swap_remove(column);
        if column != last {
            self.column_of[self.paths[column] as usize] = column as u32;
        }
        for entries in &mut self.inverse {
            entries.retain(|&(j, _)| j as usize != row);
            entries.iter_mut().filter(|(j, _)| *j as usize == last).for_each(|(j, _)| *j = row as u32);
        }
        self.links.swap_remove(row);
        if row != last {
            self.row_of[self.links[row] as usize] = row as u32;
        }
    }

    /// Divides a row of the inverse by a pivot and takes its part from the others.
    fn eliminate(&mut self, place: usize, pivot: f64, parts: &[f64]) {
        let mut row = mem::take(&mut self.inverse[place]);
        row.iter_mut().for_each(|(_, entry)| *entry /= pivot);
        row.retain(|&(_, entry)| clean(entry) != 0.0);
        let mut merge = Merge::new(self.len());
        for (i, &part) in parts.iter().enumerate().filter(|&(i, part)| i != place && *part != 0.0) {
            merge.subtract(&mut self.inverse[i], part, &row);
        }
        self.inverse[place] = row;
    }

    fn forget_extra(&mut self, network: &Network, path: u32) {
        self.column_of[path as usize] = NONE;
        self.extras[network.owners[path as usize] as usize].retain(|&other| other != path);
    }

    /// Brings the inverse to rounding: X ← X + X (I − W X), by Schulz 1933. What it has lost in many changes is gone
    /// after one step, as the error is squared; computed afresh where it has lost too much. Returns whether there is an
    /// inverse.
    pub(super) fn refine(&mut self, network: &Network) -> bool {
        let n = self.len();
        let mut errors: Vec<Vec<Entry>> = vec![Vec::new(); n];
        let mut merge = Merge::new(n);
        let columns: Vec<Vec<Entry>> = self.paths.iter().map(|&path| self.column(network, path)).collect();
        let mut of_rows: Vec<Vec<Entry>> = vec![Vec::new(); n];
        for (column, entries) in (0u32..).zip(&columns) {
            entries.iter().for_each(|&(row, entry)| of_rows[row as usize].push((column, entry)));
        }
        let (mut dense, mut listed) = (vec![0.0; n], Vec::new());
        let (mut largest, mut is_near) = (0.0f64, true);
        for (j, (error, of_row)) in errors.iter_mut().zip(&of_rows).enumerate() {
            dense[j] = 1.0;
            listed.push(j as u32);
            for &(column, entry) in of_row {
                for &(k, inverse) in self.row(column as usize) {
                    dense[k as usize] -= entry * inverse;
                    listed.push(k);
                }
            }
            for k in listed.drain(..) {
                let value = mem::take(&mut dense[k as usize]);
                largest = largest.max(value.abs());
                is_near &= value.is_finite();
                if value.abs() > f64::EPSILON {
                    error.push((k, value));
                }
            }
        }
        if !is_near || largest > FAR {
            return self.refactor(network);
        }
        for row in &mut self.inverse {
            for (j, inverse) in row.clone() {
                if !errors[j as usize].is_empty() {
                    merge.subtract(row, -inverse, &errors[j as usize]);
                }
            }
        }
        true
    }

    /// Computes the inverse afresh. Returns whether W has one.
    pub(super) fn refactor(&mut self, network: &Network) -> bool {
        let n = self.len();
        let mut matrix = Mat::<f64>::zeros(n, n);
        for (j, &path) in self.paths.iter().enumerate() {
            for (row, entry) in self.column(network, path) {
                matrix[(row as usize, j)] = entry;
            }
        }
        let inverse = PartialPivLu::new(matrix.as_ref()).inverse();
        for (i, row) in self.inverse.iter_mut().enumerate() {
            *row = entries((0..n).map(|j| inverse[(i, j)]));
        }
        self.inverse.iter().flatten().all(|(_, entry)| entry.is_finite())
    }
}

fn clean(entry: f64) -> f64 {
    if entry.abs() < ROUNDING { 0.0 } else { entry }
}

/// The entries that are not 0.
fn entries(dense: impl Iterator<Item = f64>) -> Vec<Entry> {
    (0u32..).zip(dense).filter(|&(_, entry)| clean(entry) != 0.0).collect()
}

fn entry_at(row: &[Entry], place: usize) -> f64 {
    row.iter().find(|&&(j, _)| j as usize == place).map_or(0.0, |&(_, entry)| entry)
}

/// Differences of rows.
struct Merge {
    /// Where the entry of a column stands in the row at hand, plus one.
    place: Vec<u32>,
}

impl Merge {
    fn new(columns: usize) -> Self {
        Self { place: vec![0; columns] }
    }

    /// row ← row − part · other.
    fn subtract(&mut self, row: &mut Vec<Entry>, part: f64, other: &[Entry]) {
        for (at, &(j, _)) in (1u32..).zip(row.iter()) {
            self.place[j as usize] = at;
        }
        for &(j, entry) in other {
            match self.place[j as usize] {
                0 => row.push((j, -part * entry)),
                at => row[at as usize - 1].1 -= part * entry,
            }
        }
        row.iter().for_each(|&(j, _)| self.place[j as usize] = 0);
        row.retain(|&(_, entry)| clean(entry) != 0.0);
    }
}
