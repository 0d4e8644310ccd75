//! An engine as plain data, and the same engine from it, to the last bit.
//!
//! Sums are taken in an order that depends on the layout and on how the flows stand in it. So a snapshot has the paths
//! that the layout was made from, and the flows in their order.

use std::num::NonZeroUsize;

use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::{LARGEST_SUM, LinkPrices, PricesSnapshot, interruptible_list};
use netnum_core::{Error, Paths, PowerLaw, Result};
use serde::{Deserialize, Serialize};

use super::flow_table::LAST_GENERATION;
use super::{Engine, Flow, FlowId, Slot, check_path};
use crate::flow_blocks::{Precision, Sample};

/// An engine's state.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EngineSnapshot {
    prices: PricesSnapshot,
    /// Of every link, the last capacity above 0; 0 before it has had one.
    #[serde(with = "interruptible_list")]
    nominal: Vec<f64>,
    /// Paths that the layout was made from, and of how many.
    #[serde(with = "interruptible_list")]
    sample: Vec<Vec<u32>>,
    sampled_of: usize,
    /// In the order of the layout.
    #[serde(with = "interruptible_list")]
    flows: Vec<SavedFlow>,
    /// Number and generation of every slot without a flow, in the order in which they were left.
    #[serde(with = "interruptible_list")]
    free: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedFlow {
    number: u32,
    generation: u32,
    path: Vec<u32>,
    utility: PowerLaw,
    rate: f64,
    feasible: f64,
}

impl EngineSnapshot {
    /// Of how many paths the layout was made.
    pub(crate) fn sampled_of(&self) -> usize {
        self.sampled_of
    }

    /// The capacity of every link.
    pub(crate) fn capacities(&self) -> impl ExactSizeIterator<Item = f64> {
        self.prices.capacities()
    }
}

impl Engine {
    /// The engine's state. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a user-defined rule, [`Error::Stopped`].
    pub(crate) fn snapshot(&self) -> Result<EngineSnapshot> {
        let (prices, mut pacer) = (self.links.save()?, Pacer::new());
        let mut flows = Vec::with_capacity(self.flows());
        self.each_flow(|Flow { id, path, law: utility, rate, feasible }| {
            pacer.did(8 + path.len())?;
            let (number, generation, path) = (id.number(), id.generation(), path.to_vec());
            flows.push(SavedFlow { number, generation, path, utility, rate, feasible });
            Ok(())
        })?;
        let empty = self.table.free.iter().chain(&self.table.retired);
        Ok(EngineSnapshot {
            prices,
            nominal: self.nominal.clone(),
            sample: self.sample.paths.iter().map(<[u32]>::to_vec).collect(),
            sampled_of: self.sample.of,
            flows,
            free: empty.map(|&number| (number, self.table.slots[number as usize].generation)).collect(),
        })
    }

    /// The engine that a snapshot was taken of, on any number of threads. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Snapshot`] that names the part which is wrong, or does not fit the others; [`Error::Threads`],
    /// [`Error::Stopped`].
    pub(crate) fn restore(snapshot: EngineSnapshot, precision: Precision, threads: NonZeroUsize) -> Result<Self> {
        let mut pacer = Pacer::new();
        snapshot.check(&mut pacer)?;
        let slots = snapshot.slots(&mut pacer)?;
        let EngineSnapshot { prices, nominal, sample, sampled_of, flows, free, .. } = snapshot;
        let sample = Sample { paths: Paths::from_lists(sample), of: sampled_of };
        let mut this = Self::laid_out(LinkPrices::restore(prices)?, nominal, sample, precision, threads)?;
        this.table.slots = slots;
        for SavedFlow { number, generation, path, utility, rate, feasible } in &flows {
            let id = FlowId::new(*number, *generation);
            this.check(id.as_flow(), path, utility).map_err(in_flows)?;
            this.table.slots[id.slot()].law = *utility;
            this.place(Flow { id, path, law: *utility, rate: *rate, feasible: *feasible });
            pacer.did(8 + path.len())?;
        }
        for (number, generation) in free {
            let numbers = match generation < LAST_GENERATION {
                true => &mut this.table.free,
                false => &mut this.table.retired,
            };
            numbers.push(number);
        }
        Ok(this)
    }
}

impl EngineSnapshot {
    /// Whether its numbers, its capacities and the layout's paths can be those of an engine.
    fn check(&self, pacer: &mut Pacer) -> Result<()> {
        let wrong = |what: String| Err(Error::Snapshot(what));
        let links = self.capacities().len();
        if self.nominal.len() != links {
            return wrong(format!("nominal: {} capacities, of {links} links", self.nominal.len()));
        }
        for (link, (capacity, &nominal)) in self.capacities().zip(&self.nominal).enumerate() {
            if !(nominal.is_finite() && nominal >= 0.0) || (capacity > 0.0 && nominal != capacity) {
                return wrong(format!("nominal: link {link} has capacity {capacity} and nominal {nominal}"));
            }
            pacer.did(1)?;
        }
        for (path, links_of_path) in self.sample.iter().enumerate() {
            check_path(path, links_of_path, links).map_err(|error| Error::Snapshot(format!("sample: {error}")))?;
            pacer.did(links_of_path.len())?;
        }
        let (found, of) = (self.sample.len(), self.sampled_of);
        if of >= u32::MAX as usize || found != Sample::size(links, of) {
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
