//! A vertex of all splits that give flows their rates: at most as many paths as there are flows and full links
//! together.
//!
//! ```text
//! { x ≥ 0 : Σ_{p ∈ f} x_p = y_f,  R x + s = c,  s ≥ 0 }          a vertex has at most flows + links entries above 0
//! ```
//!
//! Every flow has a base path, and every other path is a column d_p = R_p − R_base: traffic moves from the base to it.
//! The basis is the columns of some paths, as many as there are links whose idle capacity s is 0 and not basic. A path
//! that is neither a base nor basic is moved against the basis, towards less cost and then shorter paths, until a path
//! is empty or a link full: of these one leaves, and the path is empty or takes its place. Where a base is empty, a
//! basic path of the flow becomes the base.
//!
//! This is the last phase of a crossover from an interior point to a vertex (Megiddo, *On finding primal- and
//! dual-optimal bases*, ORSA Journal on Computing 1991); bases of flows are the keys of generalized upper bounding
//! (Dantzig and Van Slyke, *Journal of Computer and System Sciences* 1967).

use crate::error::Result;
use crate::interrupt::Pacer;
use crate::problem::Problem;
use crate::tolerances::ROUNDING;

/// A coefficient of a direction is 0 below this part of the largest.
const ZERO: f64 = 1e-9;
/// The inverse is made anew after so many changes.
const FRESH: usize = 64;
/// Rates of all paths that give every flow its rate and load no link above its capacity, or above what it has, over few
/// paths: at most one for every flow and one for every link. Costs of paths are no higher in sum.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn vertex(problem: &Problem, rates: &[f64]) -> Result<Vec<f64>> {
    let mut split = Split::new(problem, rates)?;
    let mut pacer = Pacer::new();
    for path in 0..rates.len() {
        while split.is_superbasic(path) {
            pacer.did(split.basics.len() * (1 + problem.paths().links(path).len()))?;
            if !split.settle(path) {
                break;
            }
        }
    }
    Ok(split.rates)
}

struct Split<'a> {
    problem: &'a Problem,
    rates: Vec<f64>,
    /// What every link has idle.
    idle: Vec<f64>,
    /// The base path of every flow.
    base: Vec<usize>,
    is_basic: Vec<bool>,
    /// Basic paths, in the order of the columns, and links without idle capacity, in the order of the rows.
    basics: Vec<usize>,
    full: Vec<usize>,
    /// The place of a link among these.
    row: Vec<Option<usize>>,
    /// The inverse of the columns at these rows: by column, then by row.
    inverse: Vec<Vec<f64>>,
    changes: usize,
    /// Room for a direction of links.
    loads: Vec<f64>,
    touched: Vec<usize>,
}

/// What ends a move.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaving {
    /// The path that is moved is empty.
    Itself,
    /// The base of a flow is.
    Base(usize),
    /// A basic path, by its place.
    Basic(usize),
    /// A link is full.
    Link(usize),
}

impl<'a> Split<'a> {
    fn new(problem: &'a Problem, given: &[f64]) -> Result<Self> {
        let mut rates: Vec<f64> = given.iter().map(|rate| rate.max(0.0)).collect();
        let flow_rates = problem.flow_rates(&rates)?;
        let mut base = vec![usize::MAX; problem.flows()];
        for (path, &flow) in problem.group().iter().enumerate() {
            let base = &mut base[flow as usize];
            if *base == usize::MAX || rates[path] > rates[*base] {
                *base = path;
            }
        }
        // Dust goes to the base, whose links it does not fill by more than rounding.
        for (path, &flow) in problem.group().iter().enumerate() {
            let of_flow = base[flow as usize];
            if path != of_flow && rates[path] <= ROUNDING * flow_rates[flow as usize] {
                rates[of_flow] += std::mem::take(&mut rates[path]);
            }
        }
        let loads = problem.loads(&rates)?;
        let idle = loads.iter().zip(problem.capacities()).map(|(load, capacity)| match capacity - load {
            idle if idle <= ROUNDING * capacity => 0.0,
            idle => idle,
        });
        let links = problem.links();
        Ok(Self {
            problem,
            idle: idle.collect(),
            base,
            is_basic: vec![false; rates.len()],
            rates,
            basics: Vec::new(),
            full: Vec::new(),
            row: vec![None; links],
            inverse: Vec::new(),
            changes: 0,
            loads: vec![0.0; links],
            touched: Vec::new(),
        })
    }

    fn flow(&self, path: usize) -> usize {
        self.problem.group()[path] as usize
    }

    fn is_superbasic(&self, path: usize) -> bool {
        self.rates[path] > 0.0 && !self.is_basic[path] && self.base[self.flow(path)] != path
    }

    /// Calls with every link where moving a unit from the base of its flow to a path changes the load, and by how much.
    fn each_change(&self, path: usize, mut each: impl FnMut(usize, f64)) {
        // Over all paths of a network no path has coefficients.
        let links = |path: usize| self.problem.paths().links(path).iter().map(|&link| link as usize);
        links(path).for_each(|link| each(link, 1.0));
        links(self.base[self.flow(path)]).for_each(|link| each(link, -1.0));
    }

    /// What a unit more on a path costs, and how much longer its way is, where the base of its flow has a unit less.
    fn worth(&self, path: usize) -> [f64; 2] {
        let base = self.base[self.flow(path)];
        let length = |path: usize| self.problem.paths().links(path).len() as f64;
        [self.problem.path_cost(path) - self.problem.path_cost(base), length(path) - length(base)]
    }

    /// How the basic paths change per unit of a path: B⁻¹ d at the full links.
    fn direction(&self, path: usize) -> Vec<f64> {
        let mut at_rows = vec![0.0; self.full.len()];
        self.each_change(path, |link, change| {
            if let Some(row) = self.row[link] {
                at_rows[row] += change;
            }
        });
        let of = |row: &Vec<f64>| row.iter().zip(&at_rows).map(|(entry, change)| entry * change).sum();
        self.inverse.iter().map(of).collect()
    }

    /// Moves a path that is neither a base nor basic until it is empty, or another path or a link takes its place.
    /// False where rounding has lost what bounds it: it stays as it is.
    fn settle(&mut self, path: usize) -> bool {
        let direction = self.direction(path);
        let largest = direction.iter().fold(1.0f64, |most, entry| most.max(entry.abs()));
        // Per unit of the path: what paths and links have more of. Basic paths go against it.
        let mut worth = self.worth(path);
        let flow = self.flow(path);
        let mut bases: Vec<(usize, f64)> = vec![(flow, -1.0)];
        let mut touched = std::mem::take(&mut self.touched);
        let mut loads = std::mem::take(&mut self.loads);
        let mut add = |link: usize, change: f64| {
            if loads[link] == 0.0 {
                touched.push(link);
            }
            loads[link] += change;
        };
        self.each_change(path, &mut add);
        for (&basic, &entry) in self.basics.iter().zip(&direction) {
            if entry.abs() <= ZERO * largest {
                continue;
            }
            let own = self.worth(basic);
            worth = [worth[0] - entry * own[0], worth[1] - entry * own[1]];
            bases.push((self.flow(basic), entry));
            self.each_change(basic, |link, change| add(link, -entry * change));
        }
        bases.sort_unstable_by_key(|&(flow, _)| flow);
        bases.dedup_by(|next, before| {
            let is_same = next.0 == before.0;
            before.1 += if is_same { next.1 } else { 0.0 };
            is_same
        });
        // Cheaper, or else shorter; where neither differs, less of the path.
        let is_up = match worth {
            [cost, _] if cost.abs() > ZERO * largest => cost < 0.0,
            [_, length] => length < -ZERO * largest,
        };
        let sign = if is_up { 1.0 } else { -1.0 };
        let (mut most, mut leaving) = match is_up {
            true => (f64::INFINITY, Leaving::Itself),
            false => (self.rates[path], Leaving::Itself),
        };
        let mut ends = |rate: f64, change: f64, what: Leaving| {
            let change = sign * change;
            if change < -ZERO * largest && rate / -change < most {
                (most, leaving) = (rate / -change, what);
            }
        };
        bases.iter().for_each(|&(flow, change)| ends(self.rates[self.base[flow]], change, Leaving::Base(flow)));
        for (place, &entry) in direction.iter().enumerate() {
            ends(self.rates[self.basics[place]], -entry, Leaving::Basic(place));
        }
        for &link in touched.iter().filter(|&&link| self.row[link].is_none()) {
            ends(self.idle[link], -loads[link], Leaving::Link(link));
        }
        if most.is_infinite() {
            touched.drain(..).for_each(|link| loads[link] = 0.0);
            (self.touched, self.loads) = (touched, loads);
            return false;
        }
        let by = sign * most;
        self.rates[path] = (self.rates[path] + by).max(0.0);
        for &(flow, change) in &bases {
            let base = self.base[flow];
            self.rates[base] = (self.rates[base] + by * change).max(0.0);
        }
        for (&basic, &entry) in self.basics.iter().zip(&direction) {
            self.rates[basic] = (self.rates[basic] - by * entry).max(0.0);
        }
        for link in touched.drain(..) {
            if self.row[link].is_none() {
                self.idle[link] = (self.idle[link] - by * loads[link]).max(0.0);
            }
            loads[link] = 0.0;
        }
        (self.touched, self.loads) = (touched, loads);
        match leaving {
            // What is left of it is rounding.
            Leaving::Itself => self.rates[self.base[flow]] += std::mem::take(&mut self.rates[path]),
            Leaving::Basic(place) => {
                self.rates[self.basics[place]] = 0.0;
                self.replace(place, path, direction);
            }
            Leaving::Link(link) => {
                self.idle[link] = 0.0;
                self.border(link, path, &direction);
            }
            Leaving::Base(flow) => {
                self.rates[self.base[flow]] = 0.0;
                self.change_base(flow, path);
            }
        }
        self.changes += 1;
        if self.changes.is_multiple_of(FRESH) {
            self.invert();
        }
        true
    }

    /// A path takes the place of a basic one.
    fn replace(&mut self, place: usize, path: usize, direction: Vec<f64>) {
        self.is_basic[self.basics[place]] = false;
        self.is_basic[path] = true;
        self.basics[place] = path;
        let pivot = direction[place];
        let row: Vec<f64> = self.inverse[place].iter().map(|entry| entry / pivot).collect();
        for (other, entries) in self.inverse.iter_mut().enumerate().filter(|(other, _)| *other != place) {
            let part = direction[other];
            entries.iter_mut().zip(&row).for_each(|(entry, own)| *entry -= part * own);
        }
        self.inverse[place] = row;
    }

    /// A link is full from now on, and a path is basic for it.
    fn border(&mut self, link: usize, path: usize, direction: &[f64]) {
        // The row of the link: what every basic path changes there.
        let at_link = |path: usize| {
            let mut change = 0.0;
            self.each_change(path, |other, by| change += if other == link { by } else { 0.0 });
            change
        };
        let of_link: Vec<f64> = self.basics.iter().map(|&basic| at_link(basic)).collect();
        let corner = at_link(path) - of_link.iter().zip(direction).map(|(own, entry)| own * entry).sum::<f64>();
        let size = self.full.len();
        let mut product = vec![0.0; size];
        for (own, entries) in of_link.iter().zip(&self.inverse) {
            product.iter_mut().zip(entries).for_each(|(sum, entry)| *sum += own * entry);
        }
        for (entries, part) in self.inverse.iter_mut().zip(direction) {
            entries.iter_mut().zip(&product).for_each(|(entry, own)| *entry += part * own / corner);
            entries.push(-part / corner);
        }
        let mut last: Vec<f64> = product.iter().map(|own| -own / corner).collect();
        last.push(1.0 / corner);
        self.inverse.push(last);
        self.row[link] = Some(size);
        self.full.push(link);
        self.is_basic[path] = true;
        self.basics.push(path);
    }

    /// The base of a flow is empty: a basic path of the flow becomes it, and the path that was moved is basic for that,
    /// or the path that was moved becomes it itself.
    fn change_base(&mut self, flow: usize, path: usize) {
        let own: Vec<usize> = (0..self.basics.len()).filter(|&place| self.flow(self.basics[place]) == flow).collect();
        let Some(&next) =
            own.iter().max_by(|&&one, &&other| self.rates[self.basics[one]].total_cmp(&self.rates[self.basics[other]]))
        else {
            self.base[flow] = path;
            return;
        };
        // The columns of the flow's other basic paths are from the new base, and that of the old base stands in its
        // place: −d. The rows of the inverse follow.
        let mut sum = self.inverse[next].clone();
        for &other in own.iter().filter(|&&other| other != next) {
            sum.iter_mut().zip(&self.inverse[other]).for_each(|(entry, own)| *entry += own);
        }
        self.inverse[next] = sum.into_iter().map(|entry| -entry).collect();
        let old = std::mem::replace(&mut self.base[flow], self.basics[next]);
        self.is_basic[self.basics[next]] = false;
        self.basics[next] = old;
        self.is_basic[old] = true;
        let direction = self.direction(path);
        self.replace(next, path, direction);
    }

    /// Makes the inverse anew, by elimination with the largest pivots of columns; where that fails it stays as it is.
    fn invert(&mut self) {
        let size = self.full.len();
        let mut columns = vec![vec![0.0; size]; size];
        for (column, &basic) in columns.iter_mut().zip(&self.basics) {
            self.each_change(basic, |link, change| {
                if let Some(row) = self.row[link] {
                    column[row] += change;
                }
            });
        }
        // Rows of [M | 1], by place.
        let mut rows: Vec<Vec<f64>> = (0..size)
            .map(|row| {
                let own = (0..size).map(|column| columns[column][row]);
                own.chain((0..size).map(|other| f64::from(u8::from(other == row)))).collect()
            })
            .collect();
        for place in 0..size {
            let largest =
                (place..size).max_by(|&one, &other| rows[one][place].abs().total_cmp(&rows[other][place].abs()));
            let Some(pivot) = largest.filter(|&row| rows[row][place].abs() > ZERO) else { return };
            rows.swap(place, pivot);
            let by = rows[place][place];
            rows[place].iter_mut().for_each(|entry| *entry /= by);
            let own = rows[place].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(other, _)| *other != place) {
                let part = row[place];
                if part != 0.0 {
                    row.iter_mut().zip(&own).for_each(|(entry, own)| *entry -= part * own);
                }
            }
        }
        self.inverse = rows.into_iter().map(|row| row[size..].to_vec()).collect();
    }
}
