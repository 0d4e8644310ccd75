//! Prices to more digits than floats have: what ties of paths say of them.
//!
//! Where prices of links lie more than some 10¹⁰ apart, the rounding of the large ones exceeds the small ones, and no
//! float says whether two paths over large prices cost the same to the units of the small ones. But any real prices may
//! be a certificate's evidence. So those are taken that are within rounding of the given ones and at which the paths
//! that flows use tie:
//!
//! ```text
//! Σ_l (a_lp − a_lr) p_l = 0        for paths p, r that a flow uses and whose prices are the same but for rounding
//! ```
//!
//! Gaussian elimination, with the largest price of a row as its pivot, writes some prices as sums of smaller ones. The
//! difference of any two paths then is a sum over the prices that are left, in which the large ones have cancelled
//! exactly. A row that contradicts the rows before it is left out, and judged by what they say: its own excess counts
//! relative to what is paid on the links that are left, which it moves by way of the ties.

use std::collections::BTreeMap;

use super::FeasiblePoint;
use crate::double_double::DoubleDouble;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::tolerances::ROUNDING;

/// The part by which a price may differ from the given one: little more than sums that may be the same.
const MOVED: f64 = 4.0 * ROUNDING;
/// A coefficient below this is rounding.
const NO_COEFFICIENT: f64 = 1e-9;

/// A sum of prices: the coefficient of every link, by its place among all in order of falling prices.
type Row = BTreeMap<u32, f64>;

impl FeasiblePoint<'_> {
    /// Prices of all of the caller's links, in natural units of price and of links, completed where paths tie; 0 where
    /// no path crosses them.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(crate) fn completed_prices(&self) -> Result<Vec<DoubleDouble>> {
        let completed = match Ties::of(self)? {
            Some(ties) => ties.completed(),
            None => self.prices.iter().map(|&price| DoubleDouble::new(price)).collect(),
        };
        let mut all = vec![DoubleDouble::default(); self.problem.caller.total_links];
        self.problem.caller.links.iter().zip(completed).for_each(|(&link, price)| all[link as usize] = price);
        Ok(all)
    }
}

/// Prices at which paths tie.
pub(super) struct Ties {
    /// By link, its place in the order; by place, the link and its given price.
    places: Vec<u32>,
    links: Vec<u32>,
    prices: Vec<f64>,
    /// By place: the price as a sum of others that are no larger and are none themselves.
    sums: Vec<Option<Vec<(u32, f64)>>>,
}

impl Ties {
    /// The prices nearest to those of a point at which its paths tie. None where such prices are not within rounding of
    /// them.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn of(point: &FeasiblePoint<'_>) -> Result<Option<Self>> {
        let FeasiblePoint { problem, prices, path_prices, rates, .. } = point;
        let mut order: Vec<u32> = (0..prices.len() as u32).collect();
        order.sort_by(|&one, &other| prices[other as usize].total_cmp(&prices[one as usize]));
        let mut places = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&link, place)| places[link as usize] = place);
        let sorted = order.iter().map(|&link| prices[link as usize]).collect();
        let mut this = Self { places, prices: sorted, sums: vec![None; order.len()], links: order };
        // Paths that carry much first: those that carry rounding may tie by chance.
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for flow in 0..problem.flows() {
            let own = problem.paths_of(flow);
            let Some(main) = own.clone().max_by(|&one, &other| rates[one].total_cmp(&rates[other])) else { continue };
            let is_same = |path: usize| {
                (path_prices[path] - path_prices[main]).abs() <= ROUNDING * path_prices[path].max(path_prices[main])
            };
            let used = own.filter(|&path| path != main && rates[path] > 0.0 && is_same(path));
            pairs.extend(used.map(|path| (rates[path] / rates[main], path, main)));
        }
        pairs.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut pacer = Pacer::new();
        for &(_, path, main) in &pairs {
            pacer.did(problem.paths.row(path).links().len().pow(2))?;
            let row = this.reduced(this.row(point, path, main));
            this.add(row);
        }
        Ok(this.is_near().then_some(this))
    }

    /// What a path costs more than another one, as a sum over links: how often each one's price counts, and the price.
    pub(super) fn difference(&self, point: &FeasiblePoint<'_>, one: usize, other: usize) -> Vec<(usize, f64, f64)> {
        let row = self.reduced(self.row(point, one, other));
        let entry =
            |(place, used): (u32, f64)| (self.links[place as usize] as usize, used, self.prices[place as usize]);
        row.into_iter().map(entry).collect()
    }

    fn row(&self, point: &FeasiblePoint<'_>, one: usize, other: usize) -> Row {
        let mut row = Row::new();
        for (path, sign) in [(one, 1.0), (other, -1.0)] {
            for (link, a) in point.problem.paths.row(path).entries() {
                *row.entry(self.places[link as usize]).or_default() += sign * a;
            }
        }
        row.retain(|_, coefficient| coefficient.abs() > NO_COEFFICIENT);
        row
    }

    /// A row without the prices that are sums of others.
    fn reduced(&self, mut row: Row) -> Row {
        let mut next = 0;
        while let Some((&place, &factor)) = row.range(next..).next() {
            next = place + 1;
            let Some(sum) = &self.sums[place as usize] else { continue };
            row.remove(&place);
            for &(other, coefficient) in sum {
                let entry = row.entry(other).or_default();
                *entry += factor * coefficient;
                if entry.abs() <= NO_COEFFICIENT {
                    row.remove(&other);
                }
            }
        }
        row
    }

    fn value(&self, row: &Row) -> f64 {
        row.iter().map(|(&place, coefficient)| coefficient * self.prices[place as usize]).sum()
    }

    /// Has a reduced row be 0, if it may be.
    fn add(&mut self, row: Row) {
        let Some((&place, &lead)) = row.first_key_value() else { return };
        if self.value(&row).abs() > ROUNDING * lead.abs() * self.prices[place as usize] {
            return;
        }
        let sum = row.iter().skip(1).map(|(&other, coefficient)| (other, -coefficient / lead)).collect();
        self.sums[place as usize] = Some(sum);
    }

    /// The price of every link, to as many digits as the ties say.
    fn completed(&self) -> Vec<DoubleDouble> {
        let of_places = self.of_places();
        self.places.iter().map(|&place| of_places[place as usize]).collect()
    }

    fn of_places(&self) -> Vec<DoubleDouble> {
        let mut prices: Vec<DoubleDouble> = self.prices.iter().map(|&price| DoubleDouble::new(price)).collect();
        for place in (0..prices.len()).rev() {
            if let Some(terms) = &self.sums[place] {
                let mut sum = DoubleDouble::default();
                terms.iter().for_each(|&(other, coefficient)| sum.add_multiple(coefficient, prices[other as usize]));
                prices[place] = sum;
            }
        }
        prices
    }

    /// Whether all prices are within rounding of the given ones, and none is below 0.
    fn is_near(&self) -> bool {
        let prices = self.of_places();
        prices.iter().zip(&self.prices).all(|(now, given)| (now.value() - given).abs() <= MOVED * given)
    }
}
