//! An engine as plain data, and the same engine from it, to the last bit.
//!
//! Sums are taken in an order that depends on the layout and on how the flows stand in it. So a snapshot has the paths
//! that the layout was made from, and the flows in their order.

use std::num::NonZeroUsize;

use netnum_core::{Error, Paths, PriceRule, Result};
use serde::{Deserialize, Serialize};

use super::exchange::{read, write};
use super::partition::Sample;
use super::{Engine, Flow, FlowId, Real, Slot, Worth, check_capacity, check_path, check_price};

/// An engine's state.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot<Rule, Memory> {
    /// Width of the numbers that it keeps of flows.
    bits: u32,
    rule: Rule,
    started: bool,
    links: Vec<SavedLink<Memory>>,
    /// Paths that the layout was made from, and of how many.
    sample: Vec<Vec<u32>>,
    sampled_of: usize,
    /// In the order of the layout.
    flows: Vec<SavedFlow>,
    /// Number and generation of every slot without a flow, in the order in which they were left.
    free: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLink<Memory> {
    capacity: f64,
    price: f64,
    /// As flows see it.
    priced: bool,
    load: f64,
    slope: f64,
    memory: Memory,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedFlow {
    number: u32,
    generation: u32,
    path: Vec<u32>,
    weight: f64,
    alpha: f64,
    /// None is ∞, which JSON has no number for.
    cap: Option<f64>,
    rate: f64,
    feasible: f64,
}

impl<R: Real, Rule: PriceRule + Clone + 'static> Engine<R, Rule> {
    /// The engine's state. O(links + crossings).
    pub fn snapshot(&self) -> Snapshot<Rule, Rule::Memory> {
        let mut links = Vec::with_capacity(self.capacities.len());
        for block in &self.blocks.links {
            let block = read(block);
            for at in 0..block.links.len() {
                let [load, slope] = block.sums[at];
                links.push(SavedLink {
                    capacity: block.capacities[at],
                    price: block.prices[at],
                    priced: block.priced[at] > R::ZERO,
                    load,
                    slope,
                    memory: block.memories[at].clone(),
                });
            }
        }
        let mut flows = Vec::with_capacity(self.flows());
        self.each_flow(|Flow { id, path, worth: Worth { weight, alpha, cap }, rate, feasible }| {
            let (number, generation, path) = (id.number(), id.generation(), path.to_vec());
            let cap = cap.is_finite().then_some(cap);
            flows.push(SavedFlow { number, generation, path, weight, alpha, cap, rate, feasible });
        });
        Snapshot {
            bits: R::BITS,
            rule: read(&self.blocks.rule).clone(),
            started: self.started,
            links,
            sample: self.sample.paths.iter().map(<[u32]>::to_vec).collect(),
            sampled_of: self.sample.of,
            flows,
            free: self.free.iter().map(|&number| (number, self.slots[number as usize].generation)).collect(),
        }
    }

    /// The engine that a snapshot was taken of, on any number of threads. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Snapshot`] where flows and slots do not fit together, and those of [`new`](Self::new),
    /// [`add`](Self::add) and [`set_prices`](Self::set_prices).
    pub fn restore(snapshot: Snapshot<Rule, Rule::Memory>, threads: NonZeroUsize) -> Result<Self> {
        let Snapshot { bits, rule, started, links, sample, sampled_of, flows, free } = snapshot;
        if bits != R::BITS {
            return Err(Error::Snapshot(format!("its numbers have {bits} bits, expected {}", R::BITS)));
        }
        for (link, saved) in links.iter().enumerate() {
            check_capacity(link, saved.capacity)?;
            check_price(link, saved.price)?;
        }
        for (path, of_path) in sample.iter().enumerate() {
            check_path(path, of_path, links.len())?;
        }
        let sample = Sample { paths: Paths::from_lists(sample), of: sampled_of };
        if !(sample.paths.len()..u32::MAX as usize).contains(&sample.of) {
            return Err(Error::Snapshot(format!("its layout is of {} paths, of {sampled_of}", sample.paths.len())));
        }
        let capacities: Vec<f64> = links.iter().map(|saved| saved.capacity).collect();
        let mut this = Self::laid_out(capacities, sample, rule, threads)?;
        for block in &this.blocks.links {
            let block = &mut *write(block);
            for (at, saved) in links[block.links.clone()].iter().enumerate() {
                let link = block.links.start + at;
                block.post_one(link, saved.price);
                block.priced[at] = if saved.priced { R::ONE } else { R::ZERO };
                block.sums[at] = [saved.load, saved.slope];
                block.memories[at] = saved.memory.clone();
            }
        }
        let mut slots = vec![None; flows.len() + free.len()];
        // A generation is odd while there is a flow.
        let of_flows = flows.iter().map(|flow| (flow.number, flow.generation, 1));
        let of_free = free.iter().map(|&(number, generation)| (number, generation, 0));
        for (number, generation, lives) in of_flows.chain(of_free) {
            if generation % 2 != lives {
                return Err(Error::Snapshot(format!("slot {number} cannot be of generation {generation}")));
            }
            match slots.get_mut(number as usize) {
                Some(slot @ None) => *slot = Some(generation),
                _ => return Err(Error::Snapshot(format!("slot {number} is there twice, or beyond the last"))),
            }
        }
        let slot = |generation: Option<u32>| Slot::empty(generation.expect("as many slots as numbers, none twice"));
        this.slots = slots.into_iter().map(slot).collect();
        for (flow, saved) in flows.iter().enumerate() {
            let worth = Worth { weight: saved.weight, alpha: saved.alpha, cap: saved.cap.unwrap_or(f64::INFINITY) };
            this.check(flow, &saved.path, &worth)?;
            let numbers = [saved.rate, saved.feasible];
            if numbers.iter().any(|number| !(number.is_finite() && *number >= 0.0)) {
                return Err(Error::Rate { path: flow, value: saved.rate });
            }
            this.slots[saved.number as usize].worth = worth;
            let id = FlowId::new(saved.number, saved.generation);
            this.place(Flow { id, path: &saved.path, worth, rate: saved.rate, feasible: saved.feasible });
        }
        this.free = free.into_iter().map(|(number, _)| number).collect();
        this.started = started;
        Ok(this)
    }
}
