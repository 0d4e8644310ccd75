//! Flows in blocks: those of one utility object stand together, and among them paths of equal length.

use std::ops::Range;
use std::sync::Arc;

use crate::problem::{Block, Problem};
use crate::utility::{CHUNK, Rescaled, Units, Utility};

/// Flows that share one utility object in natural units: `flows.start + i` has its parameters number `i`.
pub(crate) struct NaturalBlock {
    pub(crate) utility: Box<dyn Utility>,
    pub(crate) flows: Range<usize>,
    /// Whether the utility is user-defined: it has no conversion of units, and is called with all its flows at once.
    pub(crate) is_user_defined: bool,
    /// Whether U' may have jumps: a family that states them, or any user-defined utility.
    pub(crate) may_jump: bool,
}

impl NaturalBlock {
    /// Its flows, a chunk at a time.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        self.chunks_of(&self.flows)
    }

    /// Its flows that are in a range, a chunk at a time.
    pub(crate) fn chunks_of(&self, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let (start, end) = (self.flows.start.max(range.start), self.flows.end.min(range.end));
        let size = if self.is_user_defined { end.saturating_sub(start).max(1) } else { CHUNK };
        (start..end).step_by(size).map(move |at| at..(at + size).min(end))
    }

    /// The numbers of some flows' parameters in the utility object.
    pub(crate) fn places(&self, flows: &Range<usize>) -> Range<usize> {
        flows.start - self.flows.start..flows.end - self.flows.start
    }
}

pub(super) fn natural_blocks(problem: &Problem, blocks: &[(usize, Vec<u32>)], units: Units) -> Vec<NaturalBlock> {
    let mut start = 0;
    let natural = |(number, places): &(usize, Vec<u32>)| {
        let block @ Block { utility, flows } = &problem.blocks()[*number];
        let range = start..start + places.len();
        start = range.end;
        let (is_user_defined, known) = (block.is_user_defined(), utility.in_units(places, units));
        let rescale = || Box::new(Rescaled::new(Arc::clone(utility), places.clone(), flows.len(), units)) as Box<_>;
        let utility = known.unwrap_or_else(rescale);
        let may_jump = is_user_defined || (0..range.len()).any(|flow| !utility.jumps(flow).is_empty());
        NaturalBlock { utility, flows: range, is_user_defined, may_jump }
    };
    blocks.iter().map(natural).collect()
}
