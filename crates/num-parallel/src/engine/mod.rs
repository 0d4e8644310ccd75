//! The block engine: price iterations on many cores, with flows that come and go.

pub(crate) mod bucket;
pub(crate) mod exchange;
pub(crate) mod lane;
pub(crate) mod partition;
mod real;
mod round;

use std::num::NonZeroUsize;
use std::sync::Arc;

use netnum_core::{Error, Paths, PriceRule, Result};

use crate::crew::{Crew, Job};
use bucket::{Law, Response};
use exchange::{read, write};
use lane::Spot;
use partition::Partition;
pub use real::Real;
use round::{Blocks, Move};

/// What a flow's rate is worth: U'(x) = (w/x)^α up to a cap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worth {
    /// w > 0.
    pub weight: f64,
    /// α > 0, finite.
    pub alpha: f64,
    /// The most it can use, > 0; ∞ for no bound.
    pub cap: f64,
}

impl Worth {
    /// w log x.
    pub fn log(weight: f64) -> Self {
        Self { weight, alpha: 1.0, cap: f64::INFINITY }
    }
}

/// A flow of an engine. Never names another flow, also when that has taken its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowId {
    number: u32,
    generation: u32,
}

/// Where a flow is.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// Odd while there is a flow.
    generation: u32,
    lane: u32,
    spot: Spot,
    cap: f64,
}

/// Price iterations by blocks.
pub struct Engine<R: Real, Rule: PriceRule> {
    blocks: Arc<Blocks<R, Rule>>,
    job: Job,
    crew: Crew,
    capacities: Vec<f64>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    scratch: Vec<u32>,
}

/// Rates are cut at this multiple of the path's smallest capacity.
const CEILING: f64 = 2.0;
const LARGEST_PRICE: f64 = 1e200;

/// After this many refusals of one step it is taken as it is.
const MOST_REFUSALS: usize = 30;

impl<R: Real, Rule: PriceRule + 'static> Engine<R, Rule> {
    /// An engine without flows for the links of these capacities.
    pub fn new(capacities: Vec<f64>, typical: &Paths, rule: Rule, threads: NonZeroUsize) -> Result<Self> {
        let partition = Partition::new(capacities.len(), typical.len(), |path| typical.links(path));
        let blocks = Arc::new(Blocks::new(partition, &capacities, rule));
        let crew = Crew::new(threads)?;
        let shared = Arc::clone(&blocks);
        let job: Job = Arc::new(move |member| shared.round(member));
        Ok(Self { blocks, job, crew, capacities, slots: Vec::new(), free: Vec::new(), scratch: Vec::new() })
    }

    /// Adds a flow.
    pub fn add(&mut self, path: &[u32], worth: Worth) -> Result<FlowId> {
        let number = self.free.last().copied().unwrap_or(self.slots.len() as u32);
        let smallest = path.iter().map(|&link| self.capacities[link as usize]).fold(f64::INFINITY, f64::min);
        let ceiling = worth.cap.min(CEILING * smallest);
        let response = if worth.alpha == 1.0 {
            let floor = (worth.weight / ceiling).clamp(LARGEST_PRICE.recip(), LARGEST_PRICE);
            Response { law: Law::Log, scale: worth.weight, exponent: 1.0, floor }
        } else {
            let floor = (worth.weight / ceiling).powf(worth.alpha).clamp(LARGEST_PRICE.recip(), LARGEST_PRICE);
            Response { law: Law::Power, scale: worth.weight.ln(), exponent: worth.alpha.recip(), floor }
        };
        let partition = &self.blocks.partition;
        self.scratch.clear();
        partition.segments_of(path, &mut self.scratch);
        let lane = partition.lane_of(path);
        let spot = write(&self.blocks.lanes[lane]).add(partition, number, &self.scratch, &response);
        let slot = Slot { generation: 1, lane: lane as u32, spot, cap: worth.cap };
        match self.slots.get_mut(number as usize) {
            Some(old) => {
                *old = Slot { generation: old.generation + 1, ..slot };
                self.free.pop();
            }
            None => self.slots.push(slot),
        }
        Ok(FlowId { number, generation: self.slots[number as usize].generation })
    }

    fn slot(&self, id: FlowId) -> Result<Slot> {
        let slot = self.slots.get(id.number as usize).filter(|slot| slot.generation == id.generation);
        slot.copied().ok_or_else(|| Error::Topology("no such flow".into()))
    }

    /// Takes a flow out.
    pub fn remove(&mut self, id: FlowId) -> Result<()> {
        let slot = self.slot(id)?;
        if let Some(moved) = write(&self.blocks.lanes[slot.lane as usize]).remove(slot.spot) {
            self.slots[moved as usize].spot = slot.spot;
        }
        self.slots[id.number as usize].generation += 1;
        self.free.push(id.number);
        Ok(())
    }

    /// Starts at given prices.
    pub fn start(&mut self, prices: &[f64]) {
        for block in &self.blocks.links {
            let block = &mut *write(block);
            block.prices.copy_from_slice(&prices[block.links.clone()]);
        }
        self.run(Move::Stay);
        let mut links = self.blocks.links.iter().map(write).collect::<Vec<_>>();
        if !read(&self.blocks.rule).judges() {
            links.iter_mut().for_each(|block| block.gather(&self.blocks.lanes));
        }
    }

    /// One iteration.
    pub fn step(&mut self) {
        self.run(Move::Advance);
        for _ in 0..MOST_REFUSALS {
            let sum = self.judgement();
            if write(&self.blocks.rule).accept(sum) {
                break;
            }
            self.run(Move::Retreat);
        }
    }

    fn judgement(&self) -> [f64; 3] {
        let (rule, mut sum) = (read(&self.blocks.rule), [0.0; 3]);
        if rule.judges() {
            for block in &self.blocks.links {
                let part = read(block).judge(&*rule);
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
        sum
    }

    fn run(&mut self, next: Move) {
        *write(&self.blocks.next) = next;
        self.crew.run(Arc::clone(&self.job));
    }

    /// Price of every link.
    pub fn prices(&self) -> Vec<f64> {
        self.blocks.links.iter().flat_map(|block| read(block).prices.clone()).collect()
    }

    /// What a flow asks for.
    pub fn rate(&self, id: FlowId) -> Result<f64> {
        let slot = self.slot(id)?;
        let lane = read(&self.blocks.lanes[slot.lane as usize]);
        Ok(lane.buckets()[slot.spot.bucket as usize].rates()[slot.spot.place as usize].wide())
    }
}
