//! Flows in blocks: those of one utility object stand together, and among them paths of equal length.

use std::ops::Range;
use std::sync::Arc;

use super::{CHECKED, open_paths};
use crate::error::Result;
use crate::interrupt::{Pacer, check};
use crate::paths::Paths;
use crate::problem::{Block, Problem};
use crate::utility::{Rescaled, Units, Utility};

/// Paths that are treated at a time: their prices, rates and slopes stay in the first-level cache.
pub(crate) const CHUNK: usize = 128;

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
        let (start, end) = (self.flows.start, self.flows.end);
        let size = if self.is_user_defined { (end - start).max(1) } else { CHUNK };
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
        let Block { utility, flows } = &problem.blocks()[*number];
        let range = start..start + places.len();
        start = range.end;
        let known = utility.in_units(places, units);
        let is_user_defined = known.is_none();
        let rescale = || Box::new(Rescaled::new(Arc::clone(utility), places.clone(), flows.len(), units)) as Box<_>;
        let utility = known.unwrap_or_else(rescale);
        let may_jump = is_user_defined || (0..range.len()).any(|place| !utility.jumps(place).is_empty());
        NaturalBlock { utility, flows: range, is_user_defined, may_jump }
    };
    blocks.iter().map(natural).collect()
}

/// Which paths and flows are kept, and in which order.
pub(super) struct Order {
    pub(super) paths: Vec<u32>,
    pub(super) flow_paths: Vec<usize>,
    /// Per kept block its number in the problem and the places of its kept flows there, in working order.
    pub(super) blocks: Vec<(usize, Vec<u32>)>,
    pub(super) failed_flows: Vec<u32>,
}

impl Order {
    pub(super) fn of(problem: &Problem) -> Result<Self> {
        let open = open_paths(problem)?;
        let mut this = Self {
            paths: Vec::with_capacity(problem.paths().len()),
            flow_paths: Vec::with_capacity(problem.flows() + 1),
            blocks: Vec::new(),
            failed_flows: Vec::new(),
        };
        this.flow_paths.push(0);
        for (number, block) in problem.blocks().iter().enumerate() {
            let places = this.sorted_places(problem, block, &open)?;
            for some in places.chunks(CHECKED) {
                for &place in some {
                    this.paths.extend_from_slice(open.links(block.flows[place as usize] as usize));
                    this.flow_paths.push(this.paths.len());
                }
                check()?;
            }
            if !places.is_empty() {
                this.blocks.push((number, places));
            }
        }
        this.failed_flows.sort_unstable();
        Ok(this)
    }

    /// Flows with one path come first, by path length; then those with several.
    fn sorted_places(&mut self, problem: &Problem, block: &Block, open: &Paths) -> Result<Vec<u32>> {
        let mut by_length: Vec<Vec<u32>> = Vec::new();
        let (mut several, mut pacer) = (Vec::new(), Pacer::new());
        for (place, &flow) in block.flows.iter().enumerate() {
            match open.links(flow as usize) {
                [] => self.failed_flows.push(flow),
                &[path] => {
                    let length = problem.paths().links(path as usize).len();
                    if by_length.len() <= length {
                        by_length.resize(length + 1, Vec::new());
                    }
                    by_length[length].push(place as u32);
                }
                _ => several.push(place as u32),
            }
            pacer.did(1)?;
        }
        by_length.push(several);
        Ok(by_length.concat())
    }
}
