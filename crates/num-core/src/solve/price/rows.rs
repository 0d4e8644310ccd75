//! One pass over the flows: gather the prices of every path, scatter its rate and slope to its links.
//!
//! Paths of one length go through a loop that is compiled for that length. Logarithmic utilities, whose response is one
//! division, are responded to between gathering and scattering, two flows at a time, so that the division overlaps with
//! the memory operations: half the cycles of three loops over a chunk (`cargo bench --bench price_step`).

use std::ops::Range;

use super::links::at_least;
use crate::paths::with_length;
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
}

impl Rows<'_> {
    fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.chunk.paths.clone().map(|path| self.problem.paths.links(path))
    }

    /// q_s and the number of priced links of every path.
    pub(super) fn gather(&self, records: &[LinkRecord], prices: &mut [f64], priced: &mut [f64]) {
        with_length!(self.chunk.length, LENGTH => gather::<LENGTH>(self.links, records, prices, priced), {
            for ((links, price), priced) in self.each().zip(prices).zip(priced) {
                gather_one(links, records, price, priced);
            }
        });
    }

    /// Gathers, responds and scatters path by path, so that the division hides behind the memory operations.
    pub(super) fn respond_with_logs<const WEIGH: bool>(&self, flows: Logs, records: &mut [LinkRecord]) {
        with_length!(self.chunk.length, LENGTH => flows.respond::<LENGTH, WEIGH>(self.links, records), {
            flows.respond_each::<WEIGH>(self.each(), records);
        });
    }

    /// Adds every path's rate and slope to its links.
    pub(super) fn scatter(&self, rates: &[f64], slopes: &[f64], records: &mut [LinkRecord]) {
        with_length!(self.chunk.length, LENGTH => scatter::<LENGTH>(self.links, rates, slopes, records), {
            for ((links, &rate), &slope) in self.each().zip(rates).zip(slopes) {
                scatter_one(links, rate, slope, records);
            }
        });
    }
}

fn gather<const LENGTH: usize>(links: &[u32], records: &[LinkRecord], prices: &mut [f64], priced: &mut [f64]) {
    let (rows, _) = links.as_chunks::<LENGTH>();
    for ((row, price), priced) in rows.iter().zip(prices).zip(priced) {
        gather_one(row, records, price, priced);
    }
}

fn scatter<const LENGTH: usize>(links: &[u32], rates: &[f64], slopes: &[f64], records: &mut [LinkRecord]) {
    let (rows, _) = links.as_chunks::<LENGTH>();
    for ((row, &rate), &slope) in rows.iter().zip(rates).zip(slopes) {
        scatter_one(row, rate, slope, records);
    }
}

#[inline(always)]
pub(super) fn gather_one(links: &[u32], records: &[LinkRecord], price: &mut f64, priced: &mut f64) {
    let mut sums = [-0.0, -0.0];
    for &link in links {
        let record = &records[link as usize];
        sums[0] += record.price;
        sums[1] += record.priced;
    }
    [*price, *priced] = sums;
}

#[inline(always)]
pub(super) fn scatter_one(links: &[u32], rate: f64, slope: f64, records: &mut [LinkRecord]) {
    for &link in links {
        let record = &mut records[link as usize];
        record.load += rate;
        record.slope += slope;
    }
}

/// Flows with U = w log x.
pub(super) struct Logs<'a> {
    pub(super) weights: &'a [f64],
    pub(super) floors: &'a [f64],
    pub(super) rates: &'a mut [f64],
}

impl Logs<'_> {
    /// Paths of one length, two at a time. In a function of its own, where the loop has all registers (10 % faster).
    #[inline(never)]
    fn respond<const LENGTH: usize, const WEIGH: bool>(self, links: &[u32], records: &mut [LinkRecord]) {
        let (pairs, last) = links.as_chunks::<LENGTH>().0.as_chunks::<2>();
        let (weights, last_weight) = self.weights.as_chunks::<2>();
        let (floors, last_floor) = self.floors.as_chunks::<2>();
        let (rates, last_rate) = self.rates.as_chunks_mut::<2>();
        for ((([one, other], weights), floors), rates) in pairs.iter().zip(weights).zip(floors).zip(rates) {
            *rates = respond_together::<2, WEIGH>([one, other], weights, floors, records);
        }
        let last_flow = Logs { weights: last_weight, floors: last_floor, rates: last_rate };
        last_flow.respond_each::<WEIGH>(last.iter().map(<[_; LENGTH]>::as_slice), records);
    }

    /// Paths of any length, one at a time.
    fn respond_each<'a, const WEIGH: bool>(self, rows: impl Iterator<Item = &'a [u32]>, records: &mut [LinkRecord]) {
        for (((row, &weight), &floor), rate) in rows.zip(self.weights).zip(self.floors).zip(self.rates) {
            [*rate] = respond_together::<1, WEIGH>([row], &[weight], &[floor], records);
        }
    }
}

/// Rates of a few flows at once, which lets the compiler do their arithmetic in one register: x = w/q and D = x/q, at a
/// price of at least U'(ceiling), which bounds the rate too.
#[inline(always)]
fn respond_together<const FLOWS: usize, const WEIGH: bool>(
    rows: [&[u32]; FLOWS],
    weights: &[f64; FLOWS],
    floors: &[f64; FLOWS],
    records: &mut [LinkRecord],
) -> [f64; FLOWS] {
    // −0 and not 0, which would cost an addition: −0 + p is p for every p.
    let (mut prices, mut priced) = ([-0.0; FLOWS], [-0.0; FLOWS]);
    for (row, (price, priced)) in rows.iter().zip(prices.iter_mut().zip(&mut priced)) {
        for &link in *row {
            let record = &records[link as usize];
            *price += record.price;
            if WEIGH {
                *priced += record.priced;
            }
        }
    }
    let (mut rates, mut slopes) = ([0.0; FLOWS], [0.0; FLOWS]);
    for i in 0..FLOWS {
        let inverse = 1.0 / at_least(prices[i], floors[i]);
        rates[i] = weights[i] * inverse;
        slopes[i] = rates[i] * inverse;
    }
    if WEIGH {
        for i in 0..FLOWS {
            slopes[i] *= at_least(priced[i], 1.0);
        }
    }
    for (row, (&rate, &slope)) in rows.iter().zip(rates.iter().zip(&slopes)) {
        for &link in *row {
            let record = &mut records[link as usize];
            record.load += rate;
            record.slope += slope;
        }
    }
    rates
}
