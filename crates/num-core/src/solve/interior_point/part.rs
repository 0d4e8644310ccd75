//! A part of the flows, with all that belongs to them: the workers of the solve do an iteration part by part.
//!
//! Parts are those of the passes over the problem ([`Presolved::flow_ranges`]), so that neither they nor the order in
//! which their sums are added up depend on the workers.

use std::ops::Range;
use std::sync::Arc;

use super::barriers::Barriers;
use super::bounds::Bounds;
use super::breakpoints::Breakpoints;
use super::chunk::Chunk;
use super::given::Given;
use super::variables::{FlowResiduals, FlowStep, FlowVariables};
use crate::double_double::DoubleDouble;
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::paths::Numbered;
use crate::presolve::{NaturalBlock, Presolved};
use crate::solve::system::{ABSENT, Nodes, System};
use crate::utility::Curvature;

/// Consecutive flows.
pub(super) struct Part {
    pub(super) flows: Range<usize>,
    pub(super) paths: Range<usize>,
    /// A cache-full at a time *(given)*.
    pub(super) chunks: Arc<[Chunk]>,
    /// Whether a flow may be tiny: one path, and nothing but U' to keep it above 0 *(given)*.
    pub(super) may_be_tiny: Numbered<bool>,
    /// What floors give of the flows' rates; empty where no flow of the problem has a floor *(given)*.
    pub(super) given: Numbered<Given>,
    pub(super) several: Several,
    pub(super) variables: FlowVariables,
    pub(super) barriers: Barriers,
    pub(super) residuals: FlowResiduals,
    pub(super) step: FlowStep,
    /// λ ε/y + t/(saturation − y) per flow *(derived)*.
    pub(super) stiffness: Numbered<f64>,
    /// The corrector's aim: ρ with its second-order term per flow *(derived)*.
    pub(super) aims: Numbered<f64>,
    /// The forces on the paths, of which the right-hand side of the equations is made *(derived)*.
    pub(super) forces: Numbered<f64>,
    pub(super) scratch: Scratch,
}

/// Prices of all links: floats, and what rounding has cut off from each; empty where that does not matter.
#[derive(Clone, Copy)]
pub(super) struct Prices<'a> {
    pub(super) floats: &'a [f64],
    pub(super) finer: &'a [f64],
}

impl Prices<'_> {
    /// Adds the price, times a factor, of what a path uses beyond what all paths of its flow use alike.
    fn add_own(self, system: &System, path: usize, times: f64, sum: &mut DoubleDouble) {
        for (link, a) in system.multipath.own(path).entries() {
            sum.add_product(times * a, self.floats[link as usize]);
            sum.add_product(times * a, self.finer[link as usize]);
        }
    }
}

/// Room for a chunk's paths and flows.
pub(super) struct Scratch {
    pub(super) paths: Vec<f64>,
    pub(super) flows: Vec<f64>,
    /// dQ.
    pub(super) commons: Vec<f64>,
}

/// The flows of a part whose several paths share one level.
pub(super) struct Several {
    /// The number of such a flow among all, or [`ABSENT`] *(given)*.
    pub(super) numbers: Numbered<u32>,
    /// The force on such a flow *(derived)*; empty where every flow has one path.
    pub(super) forces: Numbered<f64>,
    /// Where prices have more digits than floats, the part of ℓ − q that all paths of such a flow have in common: the
    /// rounding of ℓ, which may be more than all that splits the flow *(derived)*.
    pub(super) shifts: Numbered<f64>,
    /// The number of the part *(given)*.
    pub(super) part: usize,
    /// Values of the nodes of its tries, where it has some *(derived)*.
    pub(super) nodes: Nodes,
}

/// ε below which rates may reach 0.
const SHALLOW: f64 = 0.45;

impl Part {
    /// Returns the paths of its flows with several too, under which these are numbered from 0.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(
        problem: &Presolved,
        capacities: &[f64],
        range: Range<usize>,
    ) -> Result<(Self, Vec<Range<usize>>)> {
        let (mut pacer, paths) = (Pacer::new(), problem.paths_of_all(&range));
        let (mut numbers, mut may_be_tiny) = (Numbered::new(&range, ABSENT), Numbered::new(&range, false));
        let (mut several_paths, mut breakpoints) = (Vec::new(), Breakpoints::default());
        let (mut lower, mut caps, mut saturations, mut floors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let has_floors = !problem.bounds.floors.is_empty();
        let mut all_given = if has_floors { Numbered::new(&range, Given::Nothing) } else { Numbered::empty() };
        for block in &problem.blocks {
            let flows = block.flows.start.max(range.start)..block.flows.end.min(range.end);
            if flows.is_empty() {
                continue;
            }
            let linear = block.utility.curvature() == Curvature::Linear;
            let shallow = shallow(problem, block, &flows);
            for (flow, shallow) in flows.zip(shallow) {
                pacer.did(8 * problem.paths_of(flow).len())?;
                let saturation = problem.bounds.saturations[flow];
                let several = problem.paths_of(flow).len() > 1;
                let (given, floor) = (Given::of(problem, capacities, flow), problem.bounds.floors[flow]);
                if given != Given::Nothing {
                    all_given[flow] = given;
                }
                if given == Given::Paths {
                    continue;
                }
                let jumps = block.utility.jumps(flow - block.flows.start);
                may_be_tiny[flow] = !several && !shallow && jumps.is_empty() && floor == 0.0;
                let jumps = if given == Given::Nothing { jumps } else { Vec::new() };
                for (rate, fall) in jumps {
                    breakpoints.push(flow, rate, fall);
                }
                if several && given == Given::Nothing && saturation < f64::INFINITY {
                    saturations.push((flow as u32, saturation));
                }
                if several && given == Given::Nothing && floor > 0.0 {
                    floors.push((flow as u32, floor));
                }
                // Paths of a linear flow are independent, unless a saturation or a floor bounds their sum.
                if several && !(linear && saturation == f64::INFINITY && floor == 0.0) {
                    numbers[flow] = several_paths.len() as u32;
                    several_paths.push(problem.paths_of(flow));
                }
                for path in problem.paths_of(flow) {
                    if several || shallow || floor > 0.0 {
                        lower.push((path as u32, if several { 0.0 } else { floor }));
                    }
                    let cap =
                        if several { problem.bounds.caps[path] } else { problem.bounds.caps[path].min(saturation) };
                    if cap < problem.paths.row(path).narrowest(capacities) {
                        caps.push((path as u32, cap));
                    }
                }
            }
        }
        interrupt::check()?;
        let barriers = Barriers {
            lower: Bounds::lower(lower),
            caps: Bounds::upper(caps),
            saturations: Bounds::upper(saturations),
            floors: Bounds::lower(floors),
            breakpoints,
        };
        interrupt::check()?;
        let chunks = barriers.chunks(problem, &range);
        let room = |size: fn(&Chunk) -> usize| vec![0.0; chunks.iter().map(size).max().unwrap_or(0)];
        let scratch = Scratch {
            paths: room(|chunk| chunk.paths.len()),
            flows: room(|chunk| chunk.flows.len()),
            commons: room(|chunk| chunk.flows.len()),
        };
        let of_flows = || if several_paths.is_empty() { Numbered::empty() } else { Numbered::new(&range, 0.0) };
        let (forces, shifts) = (of_flows(), of_flows());
        interrupt::check()?;
        let part = Self {
            chunks: chunks.into(),
            may_be_tiny,
            given: all_given,
            several: Several { numbers, forces, shifts, part: 0, nodes: Nodes::default() },
            variables: FlowVariables::new(&range, &paths),
            barriers,
            residuals: FlowResiduals::new(&range, &paths),
            step: FlowStep::new(&range, &paths),
            stiffness: Numbered::new(&range, 0.0),
            aims: Numbered::new(&range, 0.0),
            forces: Numbered::new(&paths, 0.0),
            scratch,
            flows: range,
            paths,
        };
        Ok((part, several_paths))
    }
}

/// The path of a flow of the largest weight: the multipliers of its bounds are the smallest.
fn main_path(paths: &Range<usize>, weights: &[f64]) -> usize {
    paths.clone().fold(paths.start, |main, path| if weights[path] > weights[main] { path } else { main })
}

/// Whether the rate of each of some flows of a block may reach 0: where the elasticity of U' near 0 is below
/// [`SHALLOW`].
fn shallow(problem: &Presolved, block: &NaturalBlock, flows: &Range<usize>) -> Vec<bool> {
    let near_zero: Vec<f64> =
        flows.clone().map(|flow| 1e-9 * problem.bounds.ceilings[problem.paths_of(flow).start]).collect();
    let mut bends = vec![0.0; near_zero.len()];
    block.utility.elasticity_into(block.places(flows), &near_zero, &mut bends);
    bends.into_iter().map(|bend| bend < SHALLOW).collect()
}

impl Several {
    /// Begins the passes over the flows that gather these values of the links.
    pub(super) fn begin_gather(&mut self, system: &System, values: &[f64]) {
        if let Some(tries) = system.tries(self.part) {
            tries.gather(|link| values[link], &mut self.nodes);
        }
    }

    /// Adds the rates of the paths of some flows, and of the flows, to the sums of the links, or to those of the nodes
    /// on the way there.
    pub(super) fn scatter(
        &mut self,
        system: &System,
        Chunk { flows, paths, .. }: &Chunk,
        (rates, flow_rates): (&[f64], &[f64]),
        sums: &mut [f64],
    ) {
        let Some(tries) = system.tries(self.part) else { return system.routing.scatter(paths.clone(), rates, sums) };
        let at = &mut self.nodes.sums;
        rates.iter().zip(tries.ends(paths)).for_each(|(rate, &end)| at[end as usize] += rate);
        let of_flows = flows.clone().zip(flow_rates).filter(|(flow, _)| self.numbers[*flow] != ABSENT);
        of_flows.for_each(|(flow, rate)| at[tries.common(self.numbers[flow] as usize)] += rate);
    }

    /// Ends the passes over the flows that [scatter](Self::scatter).
    pub(super) fn finish_scatter(&mut self, system: &System, sums: &mut [f64]) {
        if let Some(tries) = system.tries(self.part) {
            tries.scatter(&mut self.nodes, |link, sum| sums[link] += sum);
        }
    }

    /// Σ over the links of each path of some flows. Of a flow with several paths that share one level, the links that
    /// all of them cross are summed apart.
    pub(super) fn gather(
        &self,
        (problem, system): (&Presolved, &System),
        chunk: &Chunk,
        values: &[f64],
        sums: &mut [f64],
        commons: &mut [f64],
    ) {
        let Chunk { flows, paths, .. } = chunk;
        let routing = &system.routing;
        commons.fill(0.0);
        if let Some(tries) = system.tries(self.part) {
            let at = &self.nodes.values;
            sums.iter_mut().zip(tries.ends(paths)).for_each(|(sum, &end)| *sum = at[end as usize]);
            let of_flows = flows.clone().zip(commons).filter(|(flow, _)| self.numbers[*flow] != ABSENT);
            of_flows.for_each(|(flow, common)| *common = at[tries.common(self.numbers[flow] as usize)]);
            return;
        }
        if chunk.is_single() {
            return routing.gather(paths.clone(), values, sums);
        }
        for (flow, common) in flows.clone().zip(commons) {
            let own = problem.paths_of(flow);
            let sums = &mut sums[own.start - paths.start..own.end - paths.start];
            match self.numbers[flow] {
                ABSENT => routing.gather(own, values, sums),
                number => {
                    *common = system.multipath.gather(number as usize, |link| values[link], sums);
                }
            }
        }
    }

    /// ℓ − q of each path of those flows of a chunk that have several, in two parts: that of the flow's main path,
    /// which they share, and the difference from it. Prices may be many decades larger than the differences that split
    /// a flow.
    pub(super) fn find_fine_excesses(
        &mut self,
        (problem, system): (&Presolved, &System),
        Chunk { flows, paths, .. }: &Chunk,
        prices: Prices<'_>,
        levels: &Numbered<f64>,
        excesses: &mut [f64],
    ) {
        for flow in flows.clone().filter(|&flow| self.numbers[flow] != ABSENT) {
            let own = problem.paths_of(flow);
            let alike = own.clone().map(|path| problem.costs[path]).fold(f64::INFINITY, f64::min);
            let main = main_path(&own, &system.weights);
            let mut shift = DoubleDouble::new(levels[flow]);
            shift.add(alike - problem.costs[main]);
            prices.add_own(system, main, -1.0, &mut shift);
            self.shifts[flow] = shift.value();
            for path in own {
                let mut excess = DoubleDouble::new(problem.costs[main] - problem.costs[path]);
                prices.add_own(system, main, 1.0, &mut excess);
                prices.add_own(system, path, -1.0, &mut excess);
                excesses[path - paths.start] = excess.value();
            }
        }
    }

    /// The part of ℓ − q that all paths of a flow share.
    pub(super) fn shift(&self, flow: usize) -> f64 {
        if self.numbers[flow] == ABSENT { 0.0 } else { self.shifts[flow] }
    }

    /// Moves the sum over the own links of a flow's main path from those of all its paths to that of their common
    /// links, without the rounding of either: what is left are the differences that split the flow.
    pub(super) fn gather_finely(
        &self,
        (problem, system): (&Presolved, &System),
        Chunk { flows, paths, .. }: &Chunk,
        prices: Prices<'_>,
        sums: &mut [f64],
        commons: &mut [f64],
    ) {
        for (flow, common) in flows.clone().zip(commons).filter(|(flow, _)| self.numbers[*flow] != ABSENT) {
            let own = problem.paths_of(flow);
            let main = main_path(&own, &system.weights);
            *common += sums[main - paths.start];
            for path in own {
                let mut sum = DoubleDouble::default();
                prices.add_own(system, path, 1.0, &mut sum);
                prices.add_own(system, main, -1.0, &mut sum);
                sums[path - paths.start] = sum.value();
            }
        }
    }

    /// Adds to the changes of levels what [`gather_finely`](Self::gather_finely) has moved, without the shifts.
    pub(super) fn complete_levels(
        &self,
        (problem, system): (&Presolved, &System),
        Chunk { flows, .. }: &Chunk,
        prices: Prices<'_>,
        levels: &mut [f64],
    ) {
        for (flow, level) in flows.clone().zip(levels).filter(|(flow, _)| self.numbers[*flow] != ABSENT) {
            let mut sum = DoubleDouble::new(*level);
            sum.add(-self.shifts[flow]);
            prices.add_own(system, main_path(&problem.paths_of(flow), &system.weights), 1.0, &mut sum);
            *level = sum.value();
        }
    }

    /// Replaces the force on each path of some flows, without the common part Q of its flow, by dx_p, and sets the
    /// changes of the flows' rates and levels.
    pub(super) fn respond(
        &self,
        (problem, system): (&Presolved, &System),
        chunk: &Chunk,
        commons: &[f64],
        forces: &mut [f64],
        flow_rates: &mut [f64],
        levels: &mut [f64],
    ) {
        let Chunk { flows, paths, .. } = chunk;
        let weigh = |forces: &mut [f64], paths: Range<usize>| {
            forces.iter_mut().zip(&system.weights[paths]).for_each(|(force, weight)| *force *= weight);
        };
        if chunk.is_single() {
            weigh(forces, paths.clone());
            return flow_rates.copy_from_slice(forces);
        }
        for (place, (flow, change)) in flows.clone().zip(flow_rates).enumerate() {
            let own = problem.paths_of(flow);
            let forces = &mut forces[own.start - paths.start..own.end - paths.start];
            *change = match self.numbers[flow] {
                ABSENT => {
                    weigh(forces, own);
                    forces.iter().sum()
                }
                number => {
                    let common = commons.get(place).copied().unwrap_or(0.0);
                    let force = self.forces[flow] - common;
                    let (change, level) = system.multipath.respond(number as usize, &system.weights, force, forces);
                    if let Some(to) = levels.get_mut(place) {
                        *to = level;
                    }
                    change
                }
            };
        }
    }
}
