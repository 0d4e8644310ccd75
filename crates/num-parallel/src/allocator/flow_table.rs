//! Flows by id: where each one is, and what its utility is.

use std::fmt;

use netnum_core::{Error, PowerLaw, Result};
use serde::{Deserialize, Serialize};

use crate::flow_blocks::Spot;

/// A flow of an allocator. An id is never used for another flow, not even for one that has taken the place of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FlowId(
    // One number, the generation above the slot: two would be written apart and read together, which waits.
    u64,
);

impl FlowId {
    pub(super) fn new(slot: u32, generation: u32) -> Self {
        Self(u64::from(generation) << 32 | u64::from(slot))
    }

    /// The number of its slot, which no other flow has while it lives; slots of flows that ended are used again.
    pub fn slot(self) -> usize {
        self.0 as u32 as usize
    }

    /// The id as one number, and back.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The id of such a number; an allocator says whether it has such a flow.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl fmt::Display for FlowId {
    /// As one number, as [`to_bits`](Self::to_bits).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The last generation of a slot, after which it is never used again: an id stays below 2^63, so that a signed number
/// holds it, and no id is ever used twice.
pub(super) const LAST_GENERATION: u32 = (1 << 31) - 1;

/// Where a flow is. It is looked up at random, so that it counts how many lie in a cache.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    /// Goes up when a flow starts and when it ends: it is odd while there is one.
    pub(super) generation: u32,
    pub(super) spot: Spot,
    weight: f64,
    alpha: f64,
    cap: f64,
}

impl Slot {
    /// Without a flow as yet.
    pub(super) fn empty(generation: u32) -> Self {
        Self { generation, spot: Spot::default(), weight: 1.0, alpha: 1.0, cap: f64::INFINITY }
    }

    /// The utility of the flow but for its floor, which few have.
    pub(super) fn utility(&self) -> PowerLaw {
        PowerLaw::new(self.weight, self.alpha).with_cap(self.cap)
    }

    pub(super) fn set_utility(&mut self, utility: &PowerLaw) {
        (self.weight, self.alpha, self.cap) = (utility.weight, utility.alpha, utility.cap);
    }
}

/// The slots of all flows, and those that are free.
#[derive(Debug, Default)]
pub(super) struct FlowTable {
    pub(super) slots: Vec<Slot>,
    /// Slots without a flow.
    pub(super) free: Vec<u32>,
    /// Slots that have had their last flow.
    pub(super) retired: Vec<u32>,
}

impl FlowTable {
    /// Number of flows.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len() - self.retired.len()
    }

    /// # Errors
    /// [`Error::Setting`] where so many more flows cannot be numbered.
    pub(super) fn check_room(&self, flows: usize) -> Result<()> {
        let (slots, most) = (self.slots.len() - self.free.len() + flows, u32::MAX as usize);
        if slots <= most {
            return Ok(());
        }
        Err(Error::setting("the number of flows", slots, format!("at most {most}")))
    }

    /// The slot of the next flow.
    pub(super) fn next_slot(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.slots.len() as u32)
    }

    /// A flow starts, in the [next slot](Self::next_slot).
    pub(super) fn start(&mut self, spot: Spot, utility: &PowerLaw) -> FlowId {
        let number = self.next_slot();
        if self.free.pop().is_none() {
            self.slots.push(Slot::empty(0));
        }
        let slot = &mut self.slots[number as usize];
        (slot.generation, slot.spot) = (slot.generation + 1, spot);
        slot.set_utility(utility);
        FlowId::new(number, slot.generation)
    }

    /// A flow ends.
    pub(super) fn end(&mut self, id: FlowId) {
        let slot = &mut self.slots[id.slot()];
        slot.generation += 1;
        let generation = slot.generation;
        self.leave(id.slot() as u32, generation);
    }

    /// Notes that a slot has no flow, and whether it ever gets another one.
    pub(super) fn leave(&mut self, slot: u32, generation: u32) {
        let slots = if generation < LAST_GENERATION { &mut self.free } else { &mut self.retired };
        slots.push(slot);
    }

    /// Takes back the last flow that started and has not been given out.
    pub(super) fn take_back(&mut self, id: FlowId) {
        let slot = &mut self.slots[id.slot()];
        if slot.generation == 1 {
            self.slots.pop();
        } else {
            slot.generation -= 1;
            self.free.push(id.slot() as u32);
        }
    }

    /// The slot of a flow that has not ended.
    pub(super) fn find(&self, id: FlowId) -> Option<&Slot> {
        let slot = self.slots.get(id.slot());
        // A generation is odd while there is a flow.
        slot.filter(|slot| slot.generation == id.generation() && slot.generation % 2 == 1)
    }

    /// # Errors
    /// [`Error::UnknownFlow`].
    pub(super) fn get(&self, id: FlowId) -> Result<&Slot> {
        self.find(id).ok_or_else(|| Error::UnknownFlow { id: id.to_string() })
    }

    /// The id of the flow of a slot.
    pub(super) fn id(&self, slot: u32) -> FlowId {
        FlowId::new(slot, self.slots[slot as usize].generation)
    }
}
