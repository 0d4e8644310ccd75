//! An engine as plain data, and the same engine from it, to the last bit.
//!
//! Sums are taken in an order that depends on the layout and on how the flows stand in it. So a snapshot has the paths
//! that the layout was made from, and the flows in their order.

use std::num::NonZeroUsize;

use netnum_core::interrupt::Pacer;
use netnum_core::solve::{LARGEST_PRICE, LARGEST_SUM};
use netnum_core::{Error, Paths, PriceRule, Result, paced};
use serde::{Deserialize, Serialize};

use super::exchange::{read, write};
use super::partition::Sample;
use super::{Engine, Flow, FlowId, LAST_GENERATION, Real, Slot, Worth, check_capacity, check_path, check_price};

/// An engine's state.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(serialize = "Rule: Serialize, Memory: Serialize"))]
#[serde(bound(deserialize = "Rule: Deserialize<'de>, Memory: Deserialize<'de>"))]
pub struct Snapshot<Rule, Memory> {
    /// Width of the numbers that it keeps of flows.
    bits: u32,
    rule: Rule,
    started: bool,
    #[serde(with = "paced")]
    links: Vec<SavedLink<Memory>>,
    /// Paths that the layout was made from, and of how many.
    #[serde(with = "paced")]
    sample: Vec<Vec<u32>>,
    sampled_of: usize,
    /// In the order of the layout.
    #[serde(with = "paced")]
    flows: Vec<SavedFlow>,
    /// Number and generation of every slot without a flow, in the order in which they were left.
    #[serde(with = "paced")]
    free: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLink<Memory> {
    capacity: f64,
    /// The last capacity above 0; 0 before it has had one.
    nominal: f64,
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

impl<Rule, Memory> Snapshot<Rule, Memory> {
    /// Width of the numbers that it keeps of flows.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// Of how many paths the layout was made.
    pub(crate) fn sampled_of(&self) -> usize {
        self.sampled_of
    }

    /// The capacity of every link.
    pub(crate) fn capacities(&self) -> impl ExactSizeIterator<Item = f64> {
        self.links.iter().map(|link| link.capacity)
    }
}

impl<R: Real, Rule: PriceRule + Clone + 'static> Engine<R, Rule> {
    /// The engine's state. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn snapshot(&self) -> Result<Snapshot<Rule, Rule::Memory>> {
        let (mut links, mut pacer) = (Vec::with_capacity(self.capacities.len()), Pacer::new());
        for block in &self.blocks.links {
            let block = read(block);
            for at in 0..block.links.len() {
                let [load, slope] = block.sums[at];
                links.push(SavedLink {
                    capacity: block.capacities[at],
                    nominal: self.nominal[block.links.start + at],
                    price: block.prices[at],
                    priced: block.priced[at] > R::ZERO,
                    load,
                    slope,
                    memory: block.memories[at].clone(),
                });
                pacer.did(1)?;
            }
        }
        let mut flows = Vec::with_capacity(self.flows());
        self.each_flow(|Flow { id, path, worth: Worth { weight, alpha, cap }, rate, feasible }| {
            pacer.did(8 + path.len())?;
            let (number, generation, path) = (id.number(), id.generation(), path.to_vec());
            let cap = cap.is_finite().then_some(cap);
            flows.push(SavedFlow { number, generation, path, weight, alpha, cap, rate, feasible });
            Ok(())
        })?;
        let empty = self.free.iter().chain(&self.retired);
        Ok(Snapshot {
            bits: R::BITS,
            rule: read(&self.blocks.rule).clone(),
            started: self.started,
            links,
            sample: self.sample.paths.iter().map(<[u32]>::to_vec).collect(),
            sampled_of: self.sample.of,
            flows,
            free: empty.map(|&number| (number, self.slots[number as usize].generation)).collect(),
        })
    }

    /// The engine that a snapshot was taken of, on any number of threads. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Snapshot`] that names the part which is wrong, or does not fit the others; [`Error::Setting`] when the
    /// system does not give that many threads, [`Error::Stopped`].
    pub fn restore(snapshot: Snapshot<Rule, Rule::Memory>, threads: NonZeroUsize) -> Result<Self> {
        let mut pacer = Pacer::new();
        snapshot.check_links::<R>(&mut pacer)?;
        let slots = snapshot.slots(&mut pacer)?;
        let Snapshot { rule, started, links, sample, sampled_of, flows, free, .. } = snapshot;
        let sample = Sample { paths: Paths::from_lists(sample), of: sampled_of };
        let capacities: Vec<f64> = links.iter().map(|saved| saved.capacity).collect();
        let mut this = Self::laid_out(capacities, sample, rule, threads)?;
        this.nominal = links.iter().map(|saved| saved.nominal).collect();
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
        this.slots = slots;
        for saved in &flows {
            let SavedFlow { number, generation, weight, alpha, rate, feasible, .. } = *saved;
            let worth = Worth { weight, alpha, cap: saved.cap.unwrap_or(f64::INFINITY) };
            let id = FlowId::new(number, generation);
            this.check(id.as_flow(), &saved.path, &worth).map_err(in_flows)?;
            this.slots[number as usize].worth = worth;
            this.place(Flow { id, path: &saved.path, worth, rate, feasible });
            pacer.did(8 + saved.path.len())?;
        }
        for (number, generation) in free {
            let numbers = if generation < LAST_GENERATION { &mut this.free } else { &mut this.retired };
            numbers.push(number);
        }
        this.started = started;
        Ok(this)
    }
}

impl<Rule: PriceRule> Snapshot<Rule, Rule::Memory> {
    /// Whether the rule, the links and the layout's paths can be those of an engine.
    fn check_links<R: Real>(&self, pacer: &mut Pacer) -> Result<()> {
        let wrong = |what: String| Err(Error::Snapshot(what));
        if self.bits != R::BITS {
            return wrong(format!("its numbers have {} bits, expected {}", self.bits, R::BITS));
        }
        self.rule.check().map_err(|error| match error {
            Error::Snapshot(_) => error,
            other => Error::Snapshot(format!("rule: {other}")),
        })?;
        for (link, saved) in self.links.iter().enumerate() {
            let in_links = |error: Error| Error::Snapshot(format!("links: {error}"));
            check_capacity(link, saved.capacity).map_err(in_links)?;
            check_price(link, saved.price).map_err(in_links)?;
            let SavedLink { capacity, nominal, price, priced, load, slope, ref memory } = *saved;
            if price > LARGEST_PRICE || (price > 0.0 && !priced) {
                return wrong(format!("links: link {link} has price {price} and priced {priced}"));
            }
            if !(nominal.is_finite() && nominal >= 0.0) || (capacity > 0.0 && nominal != capacity) {
                return wrong(format!("links: link {link} has capacity {capacity} and nominal {nominal}"));
            }
            for (name, sum) in [("load", load), ("slope", slope)] {
                if !(0.0..=LARGEST_SUM).contains(&sum) {
                    return wrong(format!("links: link {link} has {name} {sum}, expected a number >= 0"));
                }
            }
            if !self.rule.could_leave(memory) {
                return wrong(format!("links: link {link} has a memory that its rule cannot have left"));
            }
            pacer.did(8)?;
        }
        for (path, links) in self.sample.iter().enumerate() {
            check_path(path, links, self.links.len()).map_err(|error| Error::Snapshot(format!("sample: {error}")))?;
            pacer.did(links.len())?;
        }
        let (found, of) = (self.sample.len(), self.sampled_of);
        if of >= u32::MAX as usize || found != Sample::size(self.links.len(), of) {
            return wrong(format!("sample and sampled_of: {found} paths, of {of}"));
        }
        Ok(())
    }

    /// A slot for every flow, and for every number that is free.
    fn slots(&self, pacer: &mut Pacer) -> Result<Vec<Slot>> {
        let mut slots = vec![None; self.flows.len() + self.free.len()];
        // A generation is odd while there is a flow.
        let of_flows = self.flows.iter().map(|flow| ("flows", flow.number, flow.generation, 1..=LAST_GENERATION));
        let of_free =
            self.free.iter().map(|&(number, generation)| ("free", number, generation, 2..=LAST_GENERATION + 1));
        for (part, number, generation, generations) in of_flows.chain(of_free) {
            if generation % 2 != generations.start() % 2 || !generations.contains(&generation) {
                return Err(Error::Snapshot(format!("{part}: slot {number} cannot be of generation {generation}")));
            }
            match slots.get_mut(number as usize) {
                Some(slot @ None) => *slot = Some(Slot::empty(generation)),
                _ => return Err(Error::Snapshot(format!("{part}: slot {number} is there twice, or beyond the last"))),
            }
            pacer.did(4)?;
        }
        for (flow, SavedFlow { number, rate, feasible, .. }) in self.flows.iter().enumerate() {
            for (name, value) in [("rate", rate), ("feasible", feasible)] {
                if !(0.0..=LARGEST_SUM).contains(value) {
                    let what = format!("flows: the one of slot {number}, at place {flow}, has {name} {value}");
                    return Err(Error::Snapshot(format!("{what}, expected a number >= 0")));
                }
            }
        }
        Ok(slots.into_iter().map(|slot| slot.expect("as many slots as numbers, none twice")).collect())
    }
}

/// An error about a flow of a snapshot.
fn in_flows(error: Error) -> Error {
    Error::Snapshot(format!("flows: {error}"))
}
