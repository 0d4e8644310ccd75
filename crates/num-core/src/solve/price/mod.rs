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
//!
//! This is for flows with one path; how a flow splits over several is in `shares.rs`, of which no rule knows.

mod delayed;
mod engine;
mod fast_ned;
mod fgm;
mod gradient;
mod ned;
mod newton_like;
mod rcp;
mod rows;
mod shares;

pub use delayed::{Delayed, Late};
pub use engine::{LinkRecord, PowerFlows, PowerLaw, PriceEngine, Responder};
pub use fast_ned::FastNed;
pub use fgm::Fgm;
pub use gradient::Gradient;
pub use ned::Ned;
pub use newton_like::NewtonLike;
pub use rcp::Rcp;
pub(super) use rcp::common_alpha;

use rows::{Chunk, Logs, Rows};
pub(super) use rows::{at_least, with_length};
use shares::{Bounds, Shares};

use super::{Method, State};
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::presolve::{NaturalBlock, Presolved, smallest};

/// What a price rule sees of one link, in natural units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkState {
    /// c_l > 0; 0 for a failed link of an engine with flows that come and go.
    pub capacity: f64,
    /// p_l ≥ 0.
    pub price: f64,
    /// y_l: what the flows ask for at these prices.
    pub load: f64,
    /// H_l ≥ 0: by how much the load falls per unit of price.
    pub slope: f64,
    /// G_l/H_l, the price change that would balance this link if the others stood still.
    pub newton_step: f64,
}

impl LinkState {
    /// A link whose Newton step is yet to be found.
    pub fn new(capacity: f64, price: f64, load: f64, slope: f64) -> Self {
        Self { capacity, price, load, slope, newton_step: newton_step(load - capacity, slope) }
    }

    /// G_l = y_l − c_l.
    pub fn excess(&self) -> f64 {
        self.load - self.capacity
    }
}

/// G/H, where a link that nobody responds to still gives a number.
pub(super) fn newton_step(excess: f64, slope: f64) -> f64 {
    excess / at_least(slope, SMALLEST_SLOPE)
}

/// |G_l| p_l, at the price after a Newton step where a link is too full.
pub(super) fn worth_of_mismatch(excess: f64, price: f64, newton_step: f64) -> f64 {
    excess.abs() * (price + at_least(newton_step, 0.0))
}

const SMALLEST_SLOPE: f64 = 1e-200;

/// Loads, slopes and what is remembered of them lie within this, so that sums and products of two are numbers.
pub const LARGEST_SUM: f64 = 1e250;

/// Whether numbers that a rule remembers are ones that loads, slopes and prices can lead to.
fn are_sums(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.abs() <= LARGEST_SUM)
}

/// Prices beyond this are cut, so that sums over long paths stay finite.
pub const LARGEST_PRICE: f64 = 1e200;

/// After this many refusals of one step it is taken as it is.
pub const MOST_REFUSALS: usize = 30;

/// Rates are cut at this multiple of the path's smallest capacity.
pub const CEILING: f64 = 2.0;

/// Sums over all links, of whatever a rule asks for.
pub type Sums = [f64; 8];

/// How one link's price moves, given its load, its slope and its capacity.
///
/// A rule sees one link at a time and keeps its own memory of it, so that any partition of the links into blocks runs
/// every rule unchanged. What it may know of the network as a whole are sums over links, from which it accepts or
/// refuses the last step.
pub trait PriceRule: Send + Sync {
    /// What it remembers of one link.
    type Memory: Clone + Send + Sync;

    /// The memory of a link before the first step.
    fn memory(&self) -> Self::Memory;

    /// Whether its parameters are in their ranges, and its state is one that steps can lead to. A rule that was read
    /// from a file, or made with any numbers, is asked before it is used.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) for a parameter, [`Error::Snapshot`](crate::Error::Snapshot) for a state.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Whether it can have left this memory of a link, which was read from a file.
    fn could_leave(&self, _memory: &Self::Memory) -> bool {
        true
    }

    /// Whether the slope of a flow is to be counted once for every priced link of its path, which makes H an upper
    /// bound of the whole Hessian instead of its diagonal.
    fn counts_priced_links(&self) -> bool {
        false
    }

    /// Whether it must [`start`](Self::start) again where flows or capacities have changed, and what it remembers is of
    /// another network.
    fn learns_at_start(&self) -> bool {
        true
    }

    /// Whether [`start`](Self::start) sees the links at a price of 0, all counted as priced, and not at the first
    /// prices: each flow then asks for the most it ever does, with the slope that its demand has there.
    fn starts_at_free_links(&self) -> bool {
        false
    }

    /// Sees all links once before the first step, each with its memory.
    fn start(&mut self, _links: &mut dyn Iterator<Item = (LinkState, &mut Self::Memory)>) {}

    /// p ← …: the next price of a link. May be negative or too large; it is cut to what a price can be.
    fn advance(&self, link: &LinkState, memory: &mut Self::Memory) -> f64;

    /// Whether [`accept`](Self::accept) looks at the sum of what [`judge`](Self::judge) says. If not, nobody need look at
    /// the links between two steps, and `judge` may not be asked.
    fn judges(&self) -> bool {
        false
    }

    /// This link's part of the sums that [`accept`](Self::accept) decides on, after the step.
    fn judge(&self, _link: &LinkState, _memory: &Self::Memory) -> Sums {
        Sums::default()
    }

    /// Whether the step stands, given the sums over all links. After thirty refusals it is taken without asking again.
    fn accept(&mut self, _sums: Sums) -> bool {
        true
    }

    /// After a refusal: the price to try instead, from the memory of the link's last accepted point.
    fn retreat(&self, link: &LinkState, _memory: &mut Self::Memory) -> f64 {
        link.price
    }
}

/// A price rule as a method.
pub(super) struct PriceMethod<R: PriceRule> {
    rule: R,
    memories: Vec<R::Memory>,
    records: Vec<LinkRecord>,
    /// G_l/H_l *(derived)*: found once for the estimate of the gap and for the next step, since it is a division.
    newton_steps: Vec<f64>,
    /// Bound of every path's rate, of every flow's demand, and the price at which it asks for that much *(given)*.
    ceilings: Vec<f64>,
    demands: Vec<f64>,
    floors: Vec<f64>,
    /// Flows with one path, and those with several.
    chunks: Vec<Chunk>,
    shares: Shares,
    scratch: Scratch,
    /// Responds in place of all these, where there is one.
    responder: Option<Box<dyn Responder>>,
    /// Whether the sums in `records` are a response to the prices there.
    is_answered: bool,
}

/// Per path of a chunk: price, number of priced links, slope. Logs do without.
#[derive(Default)]
struct Scratch {
    prices: Vec<f64>,
    priced: Vec<f64>,
    slopes: Vec<f64>,
}

impl<R: PriceRule> PriceMethod<R> {
    /// # Errors
    /// The engine's.
    pub(super) fn new(rule: R, problem: &Presolved, engine: Option<&dyn PriceEngine>) -> Result<Self> {
        let (ceilings, demands, floors) = ceilings(problem)?;
        let responder = match engine.zip(PowerFlows::of(problem, &floors)) {
            Some((engine, flows)) => engine.responder(&flows)?,
            None => None,
        };
        let chunks = rows::chunks(problem);
        let in_passes = |chunk: &&Chunk| problem.blocks[chunk.block].utility.log_weights().is_none();
        let longest = chunks.iter().filter(in_passes).map(|chunk| chunk.paths.len()).max().unwrap_or(0);
        let scratch = Scratch { prices: vec![0.0; longest], priced: vec![0.0; longest], slopes: vec![0.0; longest] };
        let links = problem.capacities.len();
        let memories = vec![rule.memory(); links];
        let (records, newton_steps) = (vec![LinkRecord::default(); links], vec![0.0; links]);
        let shares = Shares::new(problem)?;
        Ok(Self {
            rule,
            memories,
            records,
            newton_steps,
            ceilings,
            demands,
            floors,
            chunks,
            shares,
            scratch,
            responder,
            is_answered: false,
        })
    }

    /// Rates and sums at the prices of `records`.
    fn respond(&mut self, problem: &Presolved, rates: &mut [f64]) -> Result<()> {
        let weigh = self.rule.counts_priced_links();
        if let Some(responder) = &mut self.responder {
            responder.respond(weigh, &mut self.records);
            return Ok(());
        }
        for chunk in &self.chunks {
            interrupt::check()?;
            let NaturalBlock { utility, flows, .. } = &problem.blocks[chunk.block];
            let (paths, count) = (chunk.paths.clone(), chunk.paths.len());
            let places = chunk.flows.start - flows.start..chunk.flows.end - flows.start;
            let links =
                &problem.paths.indices()[problem.paths.indptr()[paths.start]..problem.paths.indptr()[paths.end]];
            let rows = Rows { problem, chunk, links };
            let (floors, rates) = (&self.floors[chunk.flows.clone()], &mut rates[paths.clone()]);
            if let Some(weights) = utility.log_weights() {
                let logs = Logs { weights: &weights[places], floors, rates };
                match weigh {
                    true => rows.respond_with_logs::<true>(logs, &mut self.records),
                    false => rows.respond_with_logs::<false>(logs, &mut self.records),
                }
                continue;
            }
            let prices = &mut self.scratch.prices[..count];
            let (priced, slopes) = (&mut self.scratch.priced[..count], &mut self.scratch.slopes[..count]);
            rows.gather(&self.records, prices, priced);
            for (price, &floor) in prices.iter_mut().zip(floors) {
                *price = at_least(*price, floor);
            }
            utility.respond_into(places, prices, &self.ceilings[paths], rates, slopes);
            if weigh {
                for (slope, &priced) in slopes.iter_mut().zip(&*priced) {
                    *slope *= priced.max(1.0);
                }
            }
            rows.scatter(rates, slopes, &mut self.records);
        }
        let bounds = Bounds { ceilings: &self.ceilings, demands: &self.demands, floors: &self.floors };
        self.shares.respond(problem, &bounds, rates, &mut self.records)
    }

    /// Shows the rule the links as they are.
    fn start_rule(&mut self, capacities: &[f64]) {
        let links = self.records.iter().zip(capacities).zip(&mut self.memories);
        self.rule.start(&mut links.map(|((record, &capacity), memory)| {
            let step = newton_step(record.load - capacity, record.slope);
            (record.link(capacity, step), memory)
        }));
    }

    /// What the links look like after a response: their Newton steps, the sums that the rule decides on, and the
    /// estimate of the gap. The divisions have a loop of their own, which the compiler does two at a time.
    ///
    /// The estimate is what the links' mismatch is worth, relative to all revenue: Σ |G_l| p_l / Σ c_l p_l. Near the
    /// optimum about the gap; the loop decides by it when to certify. Not a number if any load or slope is none.
    fn survey(&mut self, capacities: &[f64], prices: &mut [f64]) -> (Sums, f64) {
        let (mut sums, mut mismatch, mut revenue) = (Sums::default(), 0.0, 0.0);
        for ((record, &capacity), step) in self.records.iter().zip(capacities).zip(&mut self.newton_steps) {
            *step = newton_step(record.load - capacity, record.slope);
        }
        let links = self.records.iter().zip(capacities).zip(prices);
        for (((record, &capacity), price), (memory, &step)) in links.zip(self.memories.iter().zip(&self.newton_steps)) {
            *price = record.price;
            let excess = record.load - capacity;
            let part = self.rule.judge(&record.link(capacity, step), memory);
            for (sum, part) in sums.iter_mut().zip(part) {
                *sum += part;
            }
            mismatch += worth_of_mismatch(excess, record.price, step);
            revenue += capacity * record.price;
        }
        (sums, if mismatch == 0.0 { 0.0 } else { mismatch / revenue })
    }
}

impl<R: PriceRule> Method for PriceMethod<R> {
    fn settle(&mut self, state: &mut State) {
        if let Some(responder) = &self.responder {
            responder.rates_into(&mut state.rates);
        }
    }

    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.memories.fill(self.rule.memory());
        self.shares.start(problem)?;
        if self.rule.starts_at_free_links() {
            self.records.fill(LinkRecord::at(0.0, 1.0));
            self.respond(problem, &mut state.rates)?;
            self.start_rule(&problem.capacities);
        }
        for (record, &price) in self.records.iter_mut().zip(&state.prices) {
            *record = LinkRecord::at(price, 0.0);
        }
        self.respond(problem, &mut state.rates)?;
        let (_, estimate) = self.survey(&problem.capacities, &mut state.prices);
        if !self.rule.starts_at_free_links() {
            self.start_rule(&problem.capacities);
        }
        self.settle(state);
        self.is_answered = true;
        Ok(estimate)
    }

    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        let capacities = &problem.capacities;
        let links = self.records.iter_mut().zip(capacities).zip(&self.newton_steps);
        for (((record, &capacity), &step), memory) in links.zip(&mut self.memories) {
            *record = match self.is_answered {
                true => {
                    let link = record.link(capacity, step);
                    LinkRecord::at(self.rule.advance(&link, memory), if link.excess() > 0.0 { 1.0 } else { 0.0 })
                }
                // The step before was stopped: its prices have no response yet.
                false => LinkRecord::at(record.price, record.priced),
            };
        }
        self.is_answered = false;
        let mut refusals = 0;
        loop {
            self.respond(problem, &mut state.rates)?;
            let (sums, estimate) = self.survey(capacities, &mut state.prices);
            if refusals == MOST_REFUSALS || self.rule.accept(sums) {
                self.shares.follow(problem);
                self.is_answered = true;
                return Ok(estimate);
            }
            refusals += 1;
            let links = self.records.iter_mut().zip(capacities).zip(&self.newton_steps);
            for (((record, &capacity), &step), memory) in links.zip(&mut self.memories) {
                let price = self.rule.retreat(&record.link(capacity, step), memory);
                *record = LinkRecord::at(price, record.priced);
            }
        }
    }
}

/// Bound of every path's rate, of every flow's demand, and the price at which it asks for that much.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn ceilings(problem: &Presolved) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>)> {
    let ceiling = |(links, &cap): (&[u32], &f64)| cap.min(CEILING * smallest(&problem.capacities, links));
    interrupt::check()?;
    let mut ceilings: Vec<f64> = problem.paths.iter().zip(&problem.caps).map(ceiling).collect();
    interrupt::check()?;
    let (mut demands, mut pacer) = (problem.flow_totals(&ceilings), Pacer::new());
    for block in &problem.blocks {
        for flow in block.flows.clone() {
            pacer.did(problem.paths_of(flow).len())?;
            let saturation = problem.saturations[flow];
            demands[flow] = demands[flow].min(saturation);
            for ceiling in &mut ceilings[problem.paths_of(flow)] {
                *ceiling = ceiling.min(saturation);
            }
        }
    }
    // A path that asks for its ceiling at any price that a float can hold keeps a small positive one.
    let mut floors = problem.marginals(&demands)?;
    floors.iter_mut().for_each(|floor| *floor = floor.clamp(LARGEST_PRICE.recip(), LARGEST_PRICE));
    Ok((ceilings, demands, floors))
}
