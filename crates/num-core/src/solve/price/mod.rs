//! Methods that only move prices: respond (rates from prices), add up (load and slope per link), move every price.
//!
//! ```text
//! q_s = Σ_{l ∈ s} p_l      x_s = (U_s')⁻¹(q_s)      D_s = −dx_s/dq_s
//! y_l = Σ_{s ∋ l} x_s      H_l = Σ_{s ∋ l} D_s
//! ```
//!
//! How a price moves, given y_l, H_l and c_l, is a [`PriceRule`]. Two safeguards make the response usable far from the
//! optimum. The rate is cut at twice the smallest capacity of the path: without a bound a cheap path asks for so much
//! that H drowns everything else, and a bound at the capacity itself hides by how much the path is too cheap. And the
//! slope is taken at the price where the cut begins, so that a free path does not make H infinite.

mod fast_ned;
mod gradient;
mod ned;

pub use fast_ned::FastNed;
pub use gradient::Gradient;
pub use ned::Ned;

use super::{Method, State};
use crate::presolve::{NaturalBlock, Presolved, smallest};

/// What a price rule sees of one link, in natural units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkState {
    /// c_l > 0.
    pub capacity: f64,
    /// p_l ≥ 0.
    pub price: f64,
    /// y_l: what the flows ask for at these prices.
    pub load: f64,
    /// H_l ≥ 0: by how much the load falls per unit of price.
    pub slope: f64,
}

impl LinkState {
    /// G_l = y_l − c_l.
    pub fn excess(&self) -> f64 {
        self.load - self.capacity
    }

    /// G_l/H_l, the price change that would balance this link if the others stood still.
    pub fn newton_step(&self) -> f64 {
        newton_step(self.excess(), self.slope)
    }
}

/// G/H, where a link that nobody responds to still gives a number.
fn newton_step(excess: f64, slope: f64) -> f64 {
    excess / slope.max(SMALLEST_SLOPE)
}

const SMALLEST_SLOPE: f64 = 1e-200;

/// Prices beyond this are cut, so that sums over long paths stay finite.
const LARGEST_PRICE: f64 = 1e200;

/// After this many refusals of one step it is taken as it is.
const MOST_REFUSALS: usize = 30;

/// Rates are cut at this multiple of the path's smallest capacity.
const CEILING: f64 = 2.0;

/// How one link's price moves, given its load, its slope and its capacity.
///
/// A rule sees one link at a time and keeps its own memory of it, so that any partition of the links into blocks runs
/// every rule unchanged. What it may know of the network as a whole is one sum over links, from which it accepts or
/// refuses the last step.
pub trait PriceRule: Send {
    /// What it remembers of one link.
    type Memory: Clone + Send;

    /// The memory of a link before the first step.
    fn memory(&self) -> Self::Memory;

    /// Whether the slope of a flow is to be counted once for every priced link of its path, which makes H an upper
    /// bound of the whole Hessian instead of its diagonal.
    fn counts_priced_links(&self) -> bool {
        false
    }

    /// Sees all links once before the first step.
    fn start(&mut self, _links: &mut dyn Iterator<Item = LinkState>) {}

    /// p ← …: the next price of a link. May be negative or too large; it is cut to what a price can be.
    fn advance(&self, link: &LinkState, memory: &mut Self::Memory) -> f64;

    /// This link's part of the sum that [`accept`](Self::accept) decides on, after the step.
    fn judge(&self, _link: &LinkState, _memory: &Self::Memory) -> [f64; 3] {
        [0.0; 3]
    }

    /// Whether the step stands, given the sum over all links. After thirty refusals it is taken without asking again.
    fn accept(&mut self, _sum: [f64; 3]) -> bool {
        true
    }

    /// After a refusal: the price to try instead, from the memory of the link's last accepted point.
    fn retreat(&self, link: &LinkState, _memory: &mut Self::Memory) -> f64 {
        link.price
    }
}

/// Price and sums of one link, side by side: gathering and scattering touch one line of the cache.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct Record {
    /// p_l *(iterate)*.
    price: f64,
    /// 1 where p_l > 0 or the link was too full in the last pass, else 0 *(derived)*.
    priced: f64,
    /// y_l and H_l *(derived)*.
    load: f64,
    slope: f64,
}

/// A price rule as a method.
pub(super) struct PriceMethod<R: PriceRule> {
    rule: R,
    memories: Vec<R::Memory>,
    records: Vec<Record>,
    /// Bound of every path's rate, and the price at which its flow asks for that much *(given)*.
    ceilings: Vec<f64>,
    floors: Vec<f64>,
    /// Paths of a block with one length, at most a chunk of them.
    chunks: Vec<Chunk>,
    scratch: Scratch,
}

/// Consecutive paths of one block.
struct Chunk {
    block: usize,
    paths: std::ops::Range<usize>,
    /// Their common number of links, if they have one.
    length: Option<usize>,
}

/// Per path of a chunk: price, number of priced links, slope.
#[derive(Default)]
struct Scratch {
    prices: Vec<f64>,
    priced: Vec<f64>,
    slopes: Vec<f64>,
}

impl<R: PriceRule> PriceMethod<R> {
    pub(super) fn new(rule: R, problem: &Presolved) -> Self {
        let (ceilings, floors) = ceilings(problem);
        let chunks: Vec<Chunk> = chunks(problem);
        let longest = chunks.iter().map(|chunk| chunk.paths.len()).max().unwrap_or(0);
        let scratch = Scratch { prices: vec![0.0; longest], priced: vec![0.0; longest], slopes: vec![0.0; longest] };
        let links = problem.capacities.len();
        let memories = vec![rule.memory(); links];
        Self { rule, memories, records: vec![Record::default(); links], ceilings, floors, chunks, scratch }
    }

    /// Rates and sums at the prices of `records`.
    fn respond(&mut self, problem: &Presolved, rates: &mut [f64]) {
        for record in &mut self.records {
            record.price = record.price.clamp(0.0, LARGEST_PRICE);
            record.priced = if record.price > 0.0 { 1.0 } else { record.priced };
            (record.load, record.slope) = (0.0, 0.0);
        }
        let weigh = self.rule.counts_priced_links();
        for chunk in &self.chunks {
            let NaturalBlock { utility, flows, .. } = &problem.blocks[chunk.block];
            let (paths, count) = (chunk.paths.clone(), chunk.paths.len());
            let links =
                &problem.paths.indices()[problem.paths.indptr()[paths.start]..problem.paths.indptr()[paths.end]];
            let prices = &mut self.scratch.prices[..count];
            let (priced, slopes) = (&mut self.scratch.priced[..count], &mut self.scratch.slopes[..count]);
            let rows = Rows { problem, chunk, links };
            rows.gather(&self.records, prices, priced);
            for (price, &floor) in prices.iter_mut().zip(&self.floors[paths.clone()]) {
                *price = price.max(floor);
            }
            let rates = &mut rates[paths.clone()];
            let places = paths.start - flows.start..paths.end - flows.start;
            utility.respond_into(places, prices, &self.ceilings[paths], rates, slopes);
            if weigh {
                for (slope, &priced) in slopes.iter_mut().zip(&*priced) {
                    *slope *= priced.max(1.0);
                }
            }
            rows.scatter(rates, slopes, &mut self.records);
        }
    }

    fn link(record: &Record, capacity: f64) -> LinkState {
        LinkState { capacity, price: record.price, load: record.load, slope: record.slope }
    }
}

impl<R: PriceRule> Method for PriceMethod<R> {
    fn start(&mut self, problem: &Presolved, state: &mut State) -> f64 {
        self.memories.fill(self.rule.memory());
        for (record, &price) in self.records.iter_mut().zip(&state.prices) {
            *record = Record { price, ..Record::default() };
        }
        self.respond(problem, &mut state.rates);
        let link = |(record, &capacity): (&Record, &f64)| Self::link(record, capacity);
        self.rule.start(&mut self.records.iter().zip(&problem.capacities).map(link));
        self.finish(problem, state)
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> f64 {
        let capacities = &problem.capacities;
        for ((record, &capacity), memory) in self.records.iter_mut().zip(capacities).zip(&mut self.memories) {
            let link = Self::link(record, capacity);
            record.price = self.rule.advance(&link, memory);
            record.priced = if link.excess() > 0.0 { 1.0 } else { 0.0 };
        }
        self.respond(problem, &mut state.rates);
        for _ in 0..MOST_REFUSALS {
            if self.accepted(capacities) {
                break;
            }
            for ((record, &capacity), memory) in self.records.iter_mut().zip(capacities).zip(&mut self.memories) {
                record.price = self.rule.retreat(&Self::link(record, capacity), memory);
            }
            self.respond(problem, &mut state.rates);
        }
        self.finish(problem, state)
    }
}

impl<R: PriceRule> PriceMethod<R> {
    /// Prices as they were responded to, and the estimate of the gap.
    fn finish(&self, problem: &Presolved, state: &mut State) -> f64 {
        for (price, record) in state.prices.iter_mut().zip(&self.records) {
            *price = record.price;
        }
        self.estimate(&problem.capacities)
    }

    fn accepted(&mut self, capacities: &[f64]) -> bool {
        let mut sum = [0.0; 3];
        for ((record, &capacity), memory) in self.records.iter().zip(capacities).zip(&self.memories) {
            let part = self.rule.judge(&Self::link(record, capacity), memory);
            for (sum, part) in sum.iter_mut().zip(part) {
                *sum += part;
            }
        }
        self.rule.accept(sum)
    }

    /// What the links' mismatch is worth, relative to all revenue: Σ |G_l| p_l / Σ c_l p_l, at the price after a Newton
    /// step where a link is too full. Near the optimum about the gap; the loop decides by it when to certify.
    /// Not a number when a utility's slopes are none.
    fn estimate(&self, capacities: &[f64]) -> f64 {
        let (mut mismatch, mut revenue) = (0.0, 0.0);
        if self.records.iter().any(|record| record.slope.is_nan()) {
            return f64::NAN;
        }
        for (record, &capacity) in self.records.iter().zip(capacities) {
            let link = Self::link(record, capacity);
            let excess = link.excess();
            let price = if excess > 0.0 { link.price + link.newton_step() } else { link.price };
            mismatch += excess.abs() * price;
            revenue += capacity * link.price;
        }
        if mismatch == 0.0 { 0.0 } else { mismatch / revenue }
    }
}

/// The rows of a chunk in the routing matrix.
struct Rows<'a> {
    problem: &'a Presolved,
    chunk: &'a Chunk,
    links: &'a [u32],
}

/// Calls a generic function with the path length as a constant, for the lengths that networks have.
macro_rules! with_length {
    ($length:expr, $call:ident($($argument:expr),*), $otherwise:expr) => {
        match $length {
            Some(1) => $call::<1>($($argument),*),
            Some(2) => $call::<2>($($argument),*),
            Some(3) => $call::<3>($($argument),*),
            Some(4) => $call::<4>($($argument),*),
            Some(5) => $call::<5>($($argument),*),
            Some(6) => $call::<6>($($argument),*),
            _ => $otherwise,
        }
    };
}

impl Rows<'_> {
    fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.chunk.paths.clone().map(|path| self.problem.paths.links(path))
    }

    /// q_s and the number of priced links of every path.
    fn gather(&self, records: &[Record], prices: &mut [f64], priced: &mut [f64]) {
        with_length!(self.chunk.length, gather(self.links, records, prices, priced), {
            for ((links, price), priced) in self.each().zip(prices).zip(priced) {
                gather_one(links, records, price, priced);
            }
        });
    }

    /// Adds every path's rate and slope to its links.
    fn scatter(&self, rates: &[f64], slopes: &[f64], records: &mut [Record]) {
        with_length!(self.chunk.length, scatter(self.links, rates, slopes, records), {
            for ((links, &rate), &slope) in self.each().zip(rates).zip(slopes) {
                scatter_one(links, rate, slope, records);
            }
        });
    }
}

fn gather<const LENGTH: usize>(links: &[u32], records: &[Record], prices: &mut [f64], priced: &mut [f64]) {
    let (rows, _) = links.as_chunks::<LENGTH>();
    for ((row, price), priced) in rows.iter().zip(prices).zip(priced) {
        gather_one(row, records, price, priced);
    }
}

fn scatter<const LENGTH: usize>(links: &[u32], rates: &[f64], slopes: &[f64], records: &mut [Record]) {
    let (rows, _) = links.as_chunks::<LENGTH>();
    for ((row, &rate), &slope) in rows.iter().zip(rates).zip(slopes) {
        scatter_one(row, rate, slope, records);
    }
}

#[inline(always)]
fn gather_one(links: &[u32], records: &[Record], price: &mut f64, priced: &mut f64) {
    let mut sums = [0.0, 0.0];
    for &link in links {
        let record = &records[link as usize];
        sums[0] += record.price;
        sums[1] += record.priced;
    }
    [*price, *priced] = sums;
}

#[inline(always)]
fn scatter_one(links: &[u32], rate: f64, slope: f64, records: &mut [Record]) {
    for &link in links {
        let record = &mut records[link as usize];
        record.load += rate;
        record.slope += slope;
    }
}

/// Consecutive paths of equal length within a block, in pieces that stay in cache.
fn chunks(problem: &Presolved) -> Vec<Chunk> {
    let length = |path: usize| problem.paths.links(path).len();
    let mut chunks = Vec::new();
    for (block, natural) in problem.blocks.iter().enumerate() {
        for paths in natural.chunks() {
            if natural.whole {
                chunks.push(Chunk { block, paths, length: None });
                continue;
            }
            let mut start = paths.start;
            for path in paths.clone() {
                if path + 1 == paths.end || length(path + 1) != length(start) {
                    chunks.push(Chunk { block, paths: start..path + 1, length: Some(length(start)) });
                    start = path + 1;
                }
            }
        }
    }
    chunks
}

/// Bound of every path's rate, and the price at which its flow asks for that much.
fn ceilings(problem: &Presolved) -> (Vec<f64>, Vec<f64>) {
    let ceiling = |(links, &cap): (&[u32], &f64)| cap.min(CEILING * smallest(&problem.capacities, links));
    let mut ceilings: Vec<f64> = problem.paths.iter().zip(&problem.caps).map(ceiling).collect();
    for block in &problem.blocks {
        for (place, ceiling) in ceilings[block.flows.clone()].iter_mut().enumerate() {
            *ceiling = ceiling.min(block.utility.saturation(place));
        }
    }
    // A path that asks for its ceiling at any price that a float can hold keeps a small positive one.
    let mut floors = problem.marginals(&ceilings);
    floors.iter_mut().for_each(|floor| *floor = floor.clamp(LARGEST_PRICE.recip(), LARGEST_PRICE));
    (ceilings, floors)
}
