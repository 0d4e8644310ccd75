//! Weighted max-min by water-filling: all rates rise in proportion to their weights, x_p = w_p t, until a link fills;
//! that link's paths stop there, the others go on.
//!
//! ```text
//! level of link l     t_l = R_l / W_l       R_l = c_l − Σ a_lp x_p of the paths that have stopped
//!                                           W_l = Σ a_lp w_p of those that have not
//! a cap               a link of p alone:    p stops at r_p once w_p t ≥ r_p
//! ```
//!
//! When a path stops at t ≤ t_l, both (R_l − a w t)/(W_l − a w) and every later value are at least t_l: levels only
//! rise.
//! So a level once computed is a bound ever after, the link whose bound is the smallest is visited again, and is
//! either put back higher or the next to fill. The caps on a link that is about to fill are found the same way: stop
//! those that are below w_p t_l, compute the level again. That is Newton's method on a concave piecewise-linear
//! function, which at least quarters residual times slope each time, so that a link is not visited more than some 50
//! times.
//!
//! R and W are double-double sums. So light paths are exact after heavy ones are subtracted, no
//! link is loaded over its capacity by more than a few units of its last place, and the order of paths does not matter.
//! A link with no more than rounding left counts as full: links that fill together do so at one level.
//!
//! Cost: O(crossings + visits · log links) after a transpose, with 2 to 4 visits a link on a leaf-spine. Weights
//! that differ by more than 290 decades are not distinguished.
//!
//! Source: Bertsekas, Gallager, *Data Networks*, 1992, §6.5.2, for the definition and the round-by-round algorithm.

mod tournament;

use std::array::from_fn;
use std::borrow::Borrow;
use std::hint::select_unpredictable;

use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::paths::parts;
use crate::paths::{Paths, Row, with_length};
use crate::work::{Ranks, Workers, for_each};
pub(crate) use tournament::Tournament;

/// A link with this part of its capacity left is full.
pub(crate) const FULL: f64 = 16.0 * f64::EPSILON;
/// The least weight, as a part of the largest: a level is then a number.
pub(crate) const LEAST: f64 = 1e-290;
/// Paths or flows that are visited between two checks for a stop.
pub(crate) const SLICE: usize = 1 << 16;

/// Weighted max-min over a fixed network: made once, run for any weights and caps.
#[derive(Debug)]
pub(crate) struct WaterFill<P> {
    paths: P,
    /// The paths through every link.
    through: Paths,
    /// The rate that counts as 1, so that no sum overflows: a power of two near the largest capacity.
    unit: f64,
    /// The weight that counts as 1.
    weight_unit: f64,
    capacities: Vec<f64>,
    links: Vec<Link>,
    least: Vec<Least>,
    /// The level at which every link has filled; ∞ where it has not.
    levels: Vec<f64>,
    /// The number of links of every path, if it is the same for all.
    length: Option<usize>,
    stopped: Stopped,
    tournament: Tournament,
    /// The level that has been reached.
    water: f64,
    /// The paths through the link at hand that have not stopped.
    rising: Vec<u32>,
}

/// The paths that have stopped, one bit each: few enough bytes to stay in cache while a link's paths are gone through.
#[derive(Debug)]
struct Stopped(Vec<u64>);

impl Stopped {
    fn contains(&self, path: usize) -> bool {
        self.0[path / 64] >> (path % 64) & 1 == 1
    }

    fn insert(&mut self, path: usize) {
        self.0[path / 64] |= 1 << (path % 64);
    }

    /// What those paths of a link weigh there that have not stopped.
    fn weights_of_others(&self, paths: Row<'_>, weights: &[f64]) -> Vec<f64> {
        let rising = paths.entries().filter(|&(path, _)| !self.contains(path as usize));
        rising.map(|(path, a)| weight_on_link(a, weights[path as usize])).collect()
    }
}

/// [R, W] of a link, each the sum of a high and a low part, in half a line of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Link {
    high: [f64; 2],
    low: [f64; 2],
}

impl Link {
    /// [R, W] ← [R − a x, W − a w], and what that rounds off: Dekker's fast two-sum, as neither takes more than there
    /// is.
    fn take(&mut self, taken: [f64; 2]) {
        for ((high, low), taken) in self.high.iter_mut().zip(&mut self.low).zip(taken) {
            let rest = *high - taken;
            *low += (*high - rest) - taken;
            *high = rest;
        }
    }

    fn weight(&self) -> f64 {
        self.high[1] + self.low[1]
    }

    /// Sums W afresh, in both parts: what heavy paths leave later would be lost in the rounding of one. Returns the
    /// value of W below which fewer than 16 of the 32 digits are left, and W is summed afresh again.
    fn set_weight<T: Copy>(&mut self, paths: &[T], weight: impl Fn(T) -> f64) -> f64 {
        [self.high[1], self.low[1]] = sum(paths, weight);
        (f64::EPSILON * self.weight()).min(f64::MAX)
    }

    /// The level at which it fills, or a bound of it; at least the present one.
    fn level(&self, Least { capacity, weight: least }: Least, water: f64) -> f64 {
        let (left, weight) = (self.high[0] + self.low[0], self.weight());
        let is_water = (weight <= least) | (left - weight * water <= capacity);
        select_unpredictable(is_water, water, left / weight)
    }
}

/// What is negligible on a link.
#[derive(Debug, Clone, Copy)]
struct Least {
    /// Capacity with which it is full.
    capacity: f64,
    /// W at which it is summed afresh.
    weight: f64,
}

/// What a path of a weight weighs on a link with coefficient a: a w.
fn weight_on_link(a: f64, weight: f64) -> f64 {
    (a * weight).max(LEAST)
}

/// The sum of some paths' weights, and what that rounds off: Knuth's two-sum, in lanes that do not wait for each other.
#[inline(always)]
fn sum<T: Copy>(paths: &[T], weight: impl Fn(T) -> f64) -> [f64; 2] {
    let add = |high: &mut f64, low: &mut f64, weight: f64| {
        let sum = *high + weight;
        let added = sum - *high;
        *low += (*high - (sum - added)) + (weight - added);
        *high = sum;
    };
    let (mut high, mut low) = ([0.0; 4], [0.0; 4]);
    let (chunks, rest) = paths.as_chunks::<4>();
    for chunk in chunks {
        let weights = chunk.map(&weight);
        for i in 0..4 {
            add(&mut high[i], &mut low[i], weights[i]);
        }
    }
    let mut total = [0.0; 2];
    let [sum, rounded] = &mut total;
    high.iter().for_each(|&high| add(sum, rounded, high));
    rest.iter().for_each(|&path| add(sum, rounded, weight(path)));
    *rounded += low.iter().sum::<f64>();
    total
}

impl<P: Borrow<Paths>> WaterFill<P> {
    /// Capacities are finite and not negative, and every path names links among them.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(crate) fn new(capacities: &[f64], paths: P) -> Result<Self> {
        let unit = power_of_two(largest(capacities));
        let only = match paths.borrow().runs() {
            [run] => run.length,
            _ => None,
        };
        let through = paths.borrow().transpose(capacities.len())?;
        let busiest = through.iter().map(<[u32]>::len).max().unwrap_or(0);
        Ok(Self {
            through,
            unit,
            weight_unit: 1.0,
            levels: Vec::new(),
            capacities: capacities.iter().map(|capacity| capacity / unit).collect(),
            links: Vec::with_capacity(capacities.len()),
            least: Vec::with_capacity(capacities.len()),
            // Paths without links are no loop: they would never stop.
            length: only.filter(|&length| length > 0),
            stopped: Stopped(vec![0; paths.borrow().len().div_ceil(64)]),
            paths,
            tournament: Tournament::new(capacities.len()),
            water: 0.0,
            rising: vec![0; busiest],
        })
    }

    /// The rate of every path, for its weight ≥ 0 and its cap ≥ 0 (`caps` may be empty when there are none).
    ///
    /// A path of weight 0 gets rate 0, and so does one through a failed link. Stopped on the way it leaves feasible
    /// rates.
    pub(crate) fn run(&mut self, weights: &[f64], caps: &[f64], rates: &mut [f64]) {
        if self.start(weights, rates, &Ranks::alone()).is_err() {
            rates.fill(0.0);
            return;
        }
        while !self.rise(caps, rates, SLICE) {
            if interrupt::check().is_err() {
                let so_far = self.so_far(caps, rates);
                rates.copy_from_slice(&so_far);
                return;
            }
        }
    }

    /// Lets the water rise until all paths have stopped, or about so many paths have been visited. Returns whether
    /// all have. `rates` is what [`start`](Self::start) and this have left there.
    pub(crate) fn rise(&mut self, caps: &[f64], rates: &mut [f64], most: usize) -> bool {
        let mut visited = 0;
        while let Some((link, bound)) = self.tournament.first() {
            if visited >= most {
                return false;
            }
            visited += 1;
            let level = self.links[link].level(self.least[link], self.water);
            if level > bound {
                let Self { links, least, tournament, water, .. } = self;
                tournament.set_around(link, |link| links[link].level(least[link], *water));
                continue;
            }
            visited += self.through.links(link).len();
            let rising = self.rising(link);
            if rising == 0 {
                self.tournament.set(link, f64::INFINITY);
            } else if self.links[link].weight() <= self.least[link].weight {
                self.weigh(link, rising, rates);
            } else if caps.is_empty() || !self.stop_at_caps(rising, level, caps, rates) {
                self.stop(link, rising, level, rates);
                self.levels[link] = level;
                self.tournament.set(link, f64::INFINITY);
                self.water = level;
            }
        }
        true
    }

    /// The rates so far: those that have not stopped are at the present level, or at their caps.
    pub(crate) fn so_far(&self, caps: &[f64], rates: &[f64]) -> Vec<f64> {
        let cap = |path: usize| caps.get(path).copied().unwrap_or(f64::INFINITY);
        let rate = |(path, &rate): (usize, &f64)| match self.stopped.contains(path) {
            true => rate,
            false => (rate * self.water * self.unit).min(cap(path)),
        };
        rates.iter().enumerate().map(rate).collect()
    }

    /// The rate per weight at which every link has filled; ∞ where it has not.
    pub(crate) fn levels(&self) -> impl Iterator<Item = f64> {
        self.levels.iter().map(|level| level * (self.unit / self.weight_unit))
    }

    /// Leaves in `rates` the weight of every path as a part of the largest, which stays there until it stops.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(crate) fn start(&mut self, weights: &[f64], rates: &mut [f64], workers: &dyn Workers) -> Result<()> {
        self.water = 0.0;
        let mut pacer = Pacer::new();
        let unit = power_of_two(largest(weights));
        self.weight_unit = unit;
        self.levels.clear();
        self.levels.resize(self.capacities.len(), f64::INFINITY);
        let words = self.stopped.0.iter_mut().zip(rates.chunks_mut(64)).zip(weights.chunks(64));
        for (first, ((stopped, rates), weights)) in (0..).step_by(64).zip(words) {
            pacer.did(64)?;
            for (rate, &weight) in rates.iter_mut().zip(weights) {
                *rate = if weight > 0.0 { (weight / unit).clamp(LEAST, 2.0) } else { 0.0 };
            }
            *stopped = 0;
            for (place, rate) in rates.iter_mut().enumerate() {
                // A path without links would never stop.
                if self.length.is_none() && self.paths.borrow().links(first + place).is_empty() {
                    *rate = 0.0;
                }
                *stopped |= u64::from(*rate == 0.0) << place;
            }
        }
        self.links.clear();
        self.least.clear();
        let Self { capacities, through, stopped, .. } = &*self;
        let rates = &*rates;
        let links = parts::cut(capacities.len(), parts::count(through.indices().len(), parts::PATHS));
        let of_parts = for_each(workers, links, |links| {
            let (mut found, mut pacer) = (Vec::with_capacity(links.len()), Pacer::new());
            for link in links {
                let (capacity, paths) = (capacities[link], through.row(link));
                pacer.did(paths.links().len())?;
                let mut link = Link { high: [capacity, 0.0], low: [0.0; 2] };
                let weight = match through.coefficients() {
                    None => link.set_weight(paths.links(), |path| rates[path as usize]),
                    Some(_) => link.set_weight(&stopped.weights_of_others(paths, rates), |weight| weight),
                };
                found.push((link, Least { capacity: FULL * capacity, weight }));
            }
            Ok(found)
        })?;
        for (link, least) in of_parts.into_iter().flatten() {
            self.links.push(link);
            self.least.push(least);
        }
        self.tournament.set_all(self.links.iter().zip(&self.least).map(|(link, &least)| link.level(least, 0.0)));
        Ok(())
    }

    /// Sums the weights of the listed paths of a link afresh.
    fn weigh(&mut self, link: usize, rising: usize, rates: &[f64]) {
        let Self { links, least, through, stopped, .. } = self;
        least[link].weight = match through.coefficients() {
            None => links[link].set_weight(&self.rising[..rising], |path| rates[path as usize]),
            Some(_) => links[link].set_weight(&stopped.weights_of_others(through.row(link), rates), |weight| weight),
        };
    }

    /// Lists the paths through a link that have not stopped, and returns how many there are.
    fn rising(&mut self, link: usize) -> usize {
        let mut count = 0;
        for &path in self.through.links(link) {
            // Without a branch: which paths have stopped cannot be predicted.
            self.rising[count] = path;
            count += usize::from(!self.stopped.contains(path as usize));
        }
        count
    }

    /// Stops those of the listed paths whose cap is below their share at a level. Returns whether there were any.
    fn stop_at_caps(&mut self, rising: usize, level: f64, caps: &[f64], rates: &mut [f64]) -> bool {
        let mut any = false;
        for &path in &self.rising[..rising] {
            let path = path as usize;
            let (weight, cap) = (rates[path], caps[path] / self.unit);
            if !self.stopped.contains(path) && cap <= weight * level {
                any = true;
                rates[path] = caps[path];
                self.stopped.insert(path);
                let paths = self.paths.borrow();
                match paths.coefficients() {
                    None => paths.links(path).iter().for_each(|&link| self.links[link as usize].take([cap, weight])),
                    Some(_) => paths.row(path).entries().for_each(|(link, a)| {
                        self.links[link as usize].take([a * cap, weight_on_link(a, weight)]);
                    }),
                }
            }
        }
        any
    }

    /// Stops the listed paths of a link at a level.
    fn stop(&mut self, full: usize, rising: usize, level: f64, rates: &mut [f64]) {
        let Self { paths, links, stopped, length, unit, .. } = self;
        let paths: &Paths = (*paths).borrow();
        let mut stop = Stop { full, level, unit: *unit, links, stopped, rates };
        let rising = &self.rising[..rising];
        if paths.coefficients().is_some() {
            return stop.each(rising, |path| paths.row(path).entries());
        }
        with_length!(*length, LENGTH => {
            stop.each(rising, |path| paths.indices().as_chunks::<LENGTH>().0[path].iter().map(|&link| (link, 1.0)));
        }, {
            stop.each(rising, |path| paths.links(path).iter().map(|&link| (link, 1.0)));
        });
    }
}

/// Paths that stop where a link is full.
struct Stop<'a> {
    full: usize,
    level: f64,
    unit: f64,
    links: &'a mut [Link],
    stopped: &'a mut Stopped,
    rates: &'a mut [f64],
}

impl Stop<'_> {
    /// Stops paths, each with its links and coefficients.
    #[inline(always)]
    fn each<E: Iterator<Item = (u32, f64)>>(&mut self, paths: &[u32], entries: impl Fn(usize) -> E) {
        for &path in paths {
            let path = path as usize;
            if self.stopped.contains(path) {
                // Listed twice, as a path that crosses the link twice is.
                continue;
            }
            self.stopped.insert(path);
            let weight = self.rates[path];
            let rate = weight * self.level;
            self.rates[path] = rate * self.unit;
            for (link, a) in entries(path) {
                // The full link is done; the others do not wait for it.
                if link as usize != self.full {
                    self.links[link as usize].take([a * rate, weight_on_link(a, weight)]);
                }
            }
        }
    }
}

/// The largest number, 0 without any: in lanes, so that the loop is vectorized.
fn largest(values: &[f64]) -> f64 {
    let larger = |one: f64, other: f64| if one > other { one } else { other };
    let (chunks, rest) = values.as_chunks::<8>();
    let lanes = chunks.iter().fold([0.0; 8], |lanes, chunk| from_fn(|i| larger(chunk[i], lanes[i])));
    lanes.iter().chain(rest).copied().fold(0.0, larger)
}

/// The power of two at or below a number, 1 for 0.
pub(crate) fn power_of_two(value: f64) -> f64 {
    if value > 0.0 { value.log2().floor().clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
}
