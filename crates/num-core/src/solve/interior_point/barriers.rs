//! All barriers of a part of the flows.
//!
//! ```text
//! x ≥ least      z·(x − least) = μ            lower bounds: 0, or the floor of a flow with one path
//! x ≤ cap        v·(cap − x) = μ              caps
//! y ≤ saturation t·(saturation − y) = μ       saturations
//! y ≥ floor      w·(y − floor) = μ            floors of flows with several paths
//! y past b       at the price J               breakpoints
//! ```
//!
//! All but the last are rigid ([`Bounds`]); its multiplier is at most J ([`Breakpoints`]).

use std::ops::Range;

use super::barrier::Barrier;
use super::bounds::Bounds;
use super::breakpoints::Breakpoints;
use super::chunk::Chunk;
use super::variables::FlowStep;
use crate::paths::Numbered;
use crate::presolve::Presolved;
use crate::utility::Curvature;

/// The barriers of a part of the flows.
pub(super) struct Barriers {
    pub(super) lower: Bounds,
    pub(super) caps: Bounds,
    pub(super) saturations: Bounds,
    pub(super) floors: Bounds,
    pub(super) breakpoints: Breakpoints,
}

impl Barriers {
    /// Consecutive flows of a problem, in chunks.
    pub(super) fn chunks(&self, problem: &Presolved, range: &Range<usize>) -> Vec<Chunk> {
        let Self { lower, caps, saturations, floors, breakpoints } = self;
        let mut chunks = Vec::new();
        for (block, natural) in problem.blocks.iter().enumerate() {
            for flows in natural.chunks_of(range) {
                let paths = problem.paths_of_all(&flows);
                chunks.push(Chunk {
                    block,
                    linear: natural.utility.curvature() == Curvature::Linear,
                    has_floors: !problem.bounds.floors.is_empty(),
                    lower: lower.within(&paths),
                    caps: caps.within(&paths),
                    saturations: saturations.within(&flows),
                    floors: floors.within(&flows),
                    breakpoints: breakpoints.within(&flows),
                    flows,
                    paths,
                });
            }
        }
        chunks
    }

    pub(super) fn on_paths(&self) -> [&dyn Barrier; 2] {
        [&self.lower, &self.caps]
    }

    pub(super) fn on_flows(&self) -> [&dyn Barrier; 3] {
        [&self.saturations, &self.breakpoints, &self.floors]
    }

    /// Those on the paths of a chunk, each with the part of its bounds that is there.
    pub(super) fn on_paths_of(&self, chunk: &Chunk) -> impl Iterator<Item = (&dyn Barrier, Range<usize>)> {
        self.on_paths().into_iter().zip([chunk.lower.clone(), chunk.caps.clone()])
    }

    /// Those on the flows of a chunk, each with the part of its bounds that is there.
    pub(super) fn on_flows_of(&self, chunk: &Chunk) -> impl Iterator<Item = (&dyn Barrier, Range<usize>)> {
        let parts = [chunk.saturations.clone(), chunk.breakpoints.clone(), chunk.floors.clone()];
        self.on_flows().into_iter().zip(parts)
    }

    /// All, each with the changes of its entries in a step.
    pub(super) fn with_changes<'a>(&'a self, step: &'a FlowStep) -> [(&'a dyn Barrier, &'a Numbered<f64>); 5] {
        let [lower, caps] = self.on_paths();
        let [saturations, breakpoints, floors] = self.on_flows();
        let FlowStep { rates, flow_rates, .. } = step;
        [(lower, rates), (caps, rates), (saturations, flow_rates), (breakpoints, flow_rates), (floors, flow_rates)]
    }

    /// [`with_changes`](Self::with_changes), to be changed.
    pub(super) fn with_changes_mut<'a>(
        &'a mut self,
        step: &'a FlowStep,
    ) -> [(&'a mut dyn Barrier, &'a Numbered<f64>); 5] {
        let Self { lower, caps, saturations, floors, breakpoints } = self;
        let FlowStep { rates, flow_rates, .. } = step;
        [(lower, rates), (caps, rates), (saturations, flow_rates), (breakpoints, flow_rates), (floors, flow_rates)]
    }

    pub(super) fn pairs(&self) -> usize {
        self.on_paths().into_iter().chain(self.on_flows()).map(Barrier::pairs).sum()
    }

    pub(super) fn aim_at_zero(&mut self) {
        let Self { lower, caps, saturations, floors, breakpoints } = self;
        let all: [&mut dyn Barrier; 5] = [lower, caps, saturations, breakpoints, floors];
        all.into_iter().for_each(Barrier::aim_at_zero);
    }
}
