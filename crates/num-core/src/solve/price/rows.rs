//! One pass over the flows: gather the prices of every path, scatter its rate and slope to its links.
//!
//! ```text
//! gather     q_s = Σ_{l ∈ s} a_ls p_l        n_s = Σ_{l ∈ s} a_ls [l is priced]
//! scatter    y_l += a_ls x_s                 H_l += a_ls max(n_s, a_ls) D_s       a_ls² D_s where n is not counted
//! ```
//!
//! Rows of ones are loops of their own, in which these factors are known and cost nothing.
//!
//! Paths of one length go through a loop that is compiled for that length. Logarithmic utilities, whose response is one
//! division, are responded to between gathering and scattering, two flows at a time, so that the division overlaps with
//! the memory operations: half the cycles of three loops over a chunk (`cargo bench --bench price_step`).

use std::ops::Range;

use super::links::at_least;
use crate::paths::{Row, with_length};
use crate::presolve::Presolved;

/// What the paths through a link read and add to.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct LinkRecord {
    pub(super) price: f64,
    pub(super) priced: f64,
    pub(super) load: f64,
    pub(super) slope: f64,
}

/// Consecutive flows of one block, with one path each.
pub(super) struct Chunk {
    pub(super) block: usize,
    pub(super) flows: Range<usize>,
    pub(super) paths: Range<usize>,
    /// Their common number of links, if they have one.
    pub(super) length: Option<usize>,
}

/// The rows of a chunk in the routing matrix.
pub(super) struct Rows<'a> {
    pub(super) problem: &'a Presolved,
    pub(super) chunk: &'a Chunk,
    pub(super) links: &'a [u32],
    /// One per link; none where all are 1.
    pub(super) coefficients: Option<&'a [f64]>,
}

impl Rows<'_> {
    fn each(&self) -> impl Iterator<Item = Row<'_>> {
        self.chunk.paths.clone().map(|path| self.problem.paths.row(path))
    }

    /// q_s and n_s of every path.
    pub(super) fn gather(&self, records: &[LinkRecord], prices: &mut [f64], priced: &mut [f64]) {
        with_length!(self.chunk.length, LENGTH => match self.coefficients {
            None => gather(ones::<LENGTH>(self.links), records, prices, priced),
            Some(all) => gather(weighted::<LENGTH>(self.links, all), records, prices, priced),
        }, gather(self.each(), records, prices, priced));
    }

    /// Gathers, responds and scatters path by path, so that the division hides behind the memory operations.
    pub(super) fn respond_with_logs<const WEIGH: bool>(&self, flows: Logs, records: &mut [LinkRecord]) {
        with_length!(self.chunk.length, LENGTH => match self.coefficients {
            None => {
                let (pairs, last) = self.links.as_chunks::<LENGTH>().0.as_chunks::<2>();
                let pairs = pairs.iter().map(|links| links.each_ref().map(row_of_ones));
                flows.respond::<WEIGH>(pairs, ones::<LENGTH>(last.as_flattened()), records);
            }
            Some(all) => {
                let (pairs, last) = self.links.as_chunks::<LENGTH>().0.as_chunks::<2>();
                let (of_pairs, of_last) = all.as_chunks::<LENGTH>().0.as_chunks::<2>();
                let pairs = pairs.iter().zip(of_pairs).map(|([one, other], [of_one, of_other])| {
                    [weighted_row((one, of_one)), weighted_row((other, of_other))]
                });
                flows.respond::<WEIGH>(pairs, weighted::<LENGTH>(last.as_flattened(), of_last.as_flattened()), records);
            }
        }, {
            flows.respond_each::<WEIGH>(self.each(), records);
        });
    }

    /// Adds every path's rate and slope to its links, given n_s if it is counted.
    pub(super) fn scatter<const WEIGH: bool>(
        &self,
        rates: &[f64],
        slopes: &[f64],
        priced: &[f64],
        records: &mut [LinkRecord],
    ) {
        with_length!(self.chunk.length, LENGTH => match self.coefficients {
            None => scatter::<WEIGH>(ones::<LENGTH>(self.links), rates, slopes, priced, records),
            Some(all) => scatter::<WEIGH>(weighted::<LENGTH>(self.links, all), rates, slopes, priced, records),
        }, scatter::<WEIGH>(self.each(), rates, slopes, priced, records));
    }
}

fn row_of_ones<const LENGTH: usize>(links: &[u32; LENGTH]) -> Row<'_> {
    Row { links, coefficients: None }
}

fn weighted_row<'a, const LENGTH: usize>((links, own): (&'a [u32; LENGTH], &'a [f64; LENGTH])) -> Row<'a> {
    Row { links, coefficients: Some(own) }
}

/// Rows of one length whose coefficients are 1, which the compiler then knows.
fn ones<const LENGTH: usize>(links: &[u32]) -> impl Iterator<Item = Row<'_>> {
    links.as_chunks::<LENGTH>().0.iter().map(row_of_ones)
}

/// Rows of one length with these coefficients.
fn weighted<'a, const LENGTH: usize>(links: &'a [u32], all: &'a [f64]) -> impl Iterator<Item = Row<'a>> {
    links.as_chunks::<LENGTH>().0.iter().zip(all.as_chunks::<LENGTH>().0).map(weighted_row)
}

fn gather<'a>(rows: impl Iterator<Item = Row<'a>>, records: &[LinkRecord], prices: &mut [f64], priced: &mut [f64]) {
    for ((row, price), priced) in rows.zip(prices).zip(priced) {
        let mut sums = [-0.0, -0.0];
        for (link, a) in row.entries() {
            let record = &records[link as usize];
            sums[0] += a * record.price;
            sums[1] += a * record.priced;
        }
        [*price, *priced] = sums;
    }
}

fn scatter<'a, const WEIGH: bool>(
    rows: impl Iterator<Item = Row<'a>>,
    rates: &[f64],
    slopes: &[f64],
    priced: &[f64],
    records: &mut [LinkRecord],
) {
    for (((row, &rate), &slope), &priced) in rows.zip(rates).zip(slopes).zip(priced) {
        scatter_one::<WEIGH>(row, rate, slope, priced, records);
    }
}

/// Adds a path's rate and slope to its links, given its n if that is counted.
#[inline(always)]
fn scatter_one<const WEIGH: bool>(row: Row<'_>, rate: f64, slope: f64, priced: f64, records: &mut [LinkRecord]) {
    for (link, a) in row.entries() {
        let record = &mut records[link as usize];
        record.load += a * rate;
        record.slope += a * (slope * if WEIGH { at_least(priced, a) } else { a });
    }
}

/// Flows with U = w log x.
pub(super) struct Logs<'a> {
    pub(super) weights: &'a [f64],
    pub(super) least_prices: &'a [f64],
    pub(super) rates: &'a mut [f64],
}

impl Logs<'_> {
    /// Paths of one length, two at a time. In a function of its own, where the loop has all registers (10 % faster).
    #[inline(never)]
    fn respond<'a, const WEIGH: bool>(
        self,
        pairs: impl Iterator<Item = [Row<'a>; 2]>,
        last: impl Iterator<Item = Row<'a>>,
        records: &mut [LinkRecord],
    ) {
        let (weights, last_weight) = self.weights.as_chunks::<2>();
        let (least_prices, last_least) = self.least_prices.as_chunks::<2>();
        let (rates, last_rate) = self.rates.as_chunks_mut::<2>();
        for (((rows, weights), least_prices), rates) in pairs.zip(weights).zip(least_prices).zip(rates) {
            *rates = respond_together::<2, WEIGH>(rows, weights, least_prices, records);
        }
        let last_flow = Logs { weights: last_weight, least_prices: last_least, rates: last_rate };
        last_flow.respond_each::<WEIGH>(last, records);
    }

    /// Paths of any length, one at a time.
    fn respond_each<'a, const WEIGH: bool>(self, rows: impl Iterator<Item = Row<'a>>, records: &mut [LinkRecord]) {
        for (((row, &weight), &least), rate) in rows.zip(self.weights).zip(self.least_prices).zip(self.rates) {
            [*rate] = respond_together::<1, WEIGH>([row], &[weight], &[least], records);
        }
    }
}

/// Rates of a few flows at once, which lets the compiler do their arithmetic in one register: x = w/q and D = x/q, at a
/// price of at least U'(ceiling), which bounds the rate too.
#[inline(always)]
fn respond_together<const FLOWS: usize, const WEIGH: bool>(
    rows: [Row<'_>; FLOWS],
    weights: &[f64; FLOWS],
    least_prices: &[f64; FLOWS],
    records: &mut [LinkRecord],
) -> [f64; FLOWS] {
    // −0 and not 0, which would cost an addition: −0 + p is p for every p.
    let (mut prices, mut priced) = ([-0.0; FLOWS], [-0.0; FLOWS]);
    for (row, (price, priced)) in rows.iter().zip(prices.iter_mut().zip(&mut priced)) {
        for (link, a) in row.entries() {
            let record = &records[link as usize];
            *price += a * record.price;
            if WEIGH {
                *priced += a * record.priced;
            }
        }
    }
    let (mut rates, mut slopes) = ([0.0; FLOWS], [0.0; FLOWS]);
    for i in 0..FLOWS {
        let inverse = 1.0 / at_least(prices[i], least_prices[i]);
        rates[i] = weights[i] * inverse;
        slopes[i] = rates[i] * inverse;
    }
    for i in 0..FLOWS {
        scatter_one::<WEIGH>(rows[i], rates[i], slopes[i], priced[i], records);
    }
    rates
}
