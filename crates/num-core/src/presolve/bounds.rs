//! What bounds rates.

use std::ops::Index;

use super::caller::Caller;
use super::flow_paths::FlowPaths;
use super::{NaturalBlock, Presolved};
use crate::error::{Error, Result};
use crate::interrupt::{Pacer, check};
use crate::problem::Problem;
use crate::utility::{CHUNK, Curvature};

/// What rounding leaves of a sum, relative.
pub(crate) const ROUNDING: f64 = 1e-13;

/// The bounds of the rates of paths and flows.
pub(crate) struct Bounds {
    /// The least rate of every flow over all its paths, 0 where there is none.
    pub(crate) floors: Column,
    /// Cap of every path, > 0.
    pub(crate) caps: Column,
    /// The most that a path can carry or its flow can use: its cap, its smallest capacity, the flow's saturation.
    pub(crate) ceilings: Vec<f64>,
    /// The most that a flow could carry or use over other paths as well; empty where its own are all it has.
    pub(crate) reaches: Vec<f64>,
    /// Caps of flows with several paths, where the paths could carry more; a flow with one path has it in `caps`.
    pub(crate) flow_caps: Vec<(usize, f64)>,
    /// The most that a flow can use over all its paths: what saturates its utility, or its cap among `flow_caps`.
    pub(crate) saturations: Column,
}

impl Bounds {
    /// Bounds by capacities and caps, in natural units, given the smallest capacity along every path.
    pub(super) fn new(
        problem: &Problem,
        rate: f64,
        caller: &Caller,
        flow_paths: &FlowPaths,
        mut ceilings: Vec<f64>,
    ) -> Result<Self> {
        let (mut caps, mut flow_caps) = (Vec::new(), Vec::new());
        let reaches = problem.reaches().map_or_else(Vec::new, |reaches| {
            let of_flow = |&flow: &u32| reaches[flow as usize].min(problem.flow_cap(flow as usize)) / rate;
            caller.flows.iter().map(of_flow).collect()
        });
        if problem.has_rate_caps() || problem.has_flow_caps() {
            caps.extend(caller.paths.iter().map(|&path| problem.rate_cap(path as usize) / rate));
            ceilings.iter_mut().zip(&caps).for_each(|(ceiling, &cap)| *ceiling = ceiling.min(cap));
        }
        if problem.has_flow_caps() {
            let mut pacer = Pacer::new();
            for (flow, &original) in caller.flows.iter().enumerate() {
                let (own, cap) = (flow_paths.of(flow), problem.flow_cap(original as usize) / rate);
                pacer.did(own.len())?;
                if own.len() == 1 {
                    caps[own.start] = caps[own.start].min(cap);
                    ceilings[own.start] = ceilings[own.start].min(cap);
                } else if cap < ceilings[own].iter().sum() || !reaches.is_empty() && cap < f64::INFINITY {
                    flow_caps.push((flow, cap));
                }
            }
        }
        let floors = match problem.has_flow_floors() {
            true => caller.flows.iter().map(|&flow| problem.flow_floor(flow as usize) / rate).collect(),
            false => Vec::new(),
        };
        let (floors, caps) = (Column::new(floors, 0.0), Column::new(caps, f64::INFINITY));
        let saturations = Column::new(Vec::new(), f64::INFINITY);
        Ok(Self { floors, caps, ceilings, reaches, flow_caps, saturations })
    }

    /// The cap of a flow with several paths, where the paths could carry more.
    pub(crate) fn flow_cap(&self, flow: usize) -> Option<f64> {
        let place = self.flow_caps.binary_search_by_key(&flow, |&(flow, _)| flow).ok()?;
        Some(self.flow_caps[place].1)
    }
}

impl Presolved {
    /// Whether nothing but links bounds a rate.
    pub(crate) fn is_unbounded(&self) -> bool {
        let Bounds { floors, caps, saturations, .. } = &self.bounds;
        caps.is_empty() && saturations.is_empty() && floors.is_empty()
    }

    /// Cuts rates to what the flows' caps allow over several paths, those of a flow in proportion.
    pub(crate) fn cut_to_flow_caps(&self, rates: &mut [f64]) {
        for &(flow, cap) in &self.bounds.flow_caps {
            let own = &mut rates[self.paths_of(flow)];
            let total: f64 = own.iter().sum();
            if total > cap {
                own.iter_mut().for_each(|rate| *rate *= cap / total);
            }
        }
    }

    /// Whether a flow has all that it can use, to the rounding of the sum over its paths.
    pub(crate) fn is_saturated(&self, flow: usize, rate: f64) -> bool {
        rate >= self.bounds.saturations[flow] * (1.0 - ROUNDING)
    }

    /// Bounds flows by what saturates their utilities, and those that are worth nothing by their floors. Where no flow
    /// is worth anything, the interior point has more room without.
    pub(super) fn bound_by_saturation(&mut self, has_worth: bool) -> Result<()> {
        let (mut saturations, mut found) = (Vec::new(), [0.0; CHUNK]);
        let counts = |block: &&NaturalBlock| has_worth || block.utility.curvature() != Curvature::Linear;
        for block in self.blocks.iter().filter(counts) {
            // In pieces for a user-defined utility, too: each is asked on its own.
            for start in block.flows.clone().step_by(CHUNK) {
                let flows = start..block.flows.end.min(start + CHUNK);
                check()?;
                let found = &mut found[..flows.len()];
                for (found, place) in found.iter_mut().zip(block.places(&flows)) {
                    *found = block.utility.saturation(place);
                }
                if let Some(place) = found.iter().position(|&saturation| saturation.is_nan() || saturation < 0.0) {
                    let what = format!("its saturation is {}, expected a number >= 0", found[place] * self.units.rate);
                    return Err(Error::Utility { flow: self.caller.flows[flows.start + place] as usize, what });
                }
                // What a floor guarantees is used, whatever it is worth.
                let floors = self.bounds.floors.of(flows.clone());
                found.iter_mut().zip(floors).for_each(|(found, &floor)| *found = found.max(floor));
                if !saturations.is_empty() || found.iter().any(|&saturation| saturation < f64::INFINITY) {
                    saturations.resize(flows.start, f64::INFINITY);
                    saturations.extend_from_slice(found);
                }
            }
        }
        if saturations.is_empty() && self.bounds.flow_caps.is_empty() {
            return Ok(());
        }
        saturations.resize(self.flows(), f64::INFINITY);
        for &(flow, cap) in &self.bounds.flow_caps {
            saturations[flow] = saturations[flow].min(cap);
        }
        self.bounds.saturations = Column::new(saturations, f64::INFINITY);
        for (flow, reach) in self.bounds.reaches.iter_mut().enumerate() {
            *reach = reach.min(self.bounds.saturations[flow]);
        }
        let mut pacer = Pacer::new();
        for flow in 0..self.flows() {
            let own = self.paths_of(flow);
            pacer.did(own.len())?;
            for ceiling in &mut self.bounds.ceilings[own] {
                *ceiling = ceiling.min(self.bounds.saturations[flow]);
            }
        }
        Ok(())
    }
}

/// One number per path or per flow; holds nothing where all are the same.
#[derive(Debug)]
pub(crate) struct Column {
    values: Vec<f64>,
    usual: f64,
}

impl Column {
    /// The numbers in a list; none for the usual one everywhere.
    pub(super) fn new(values: Vec<f64>, usual: f64) -> Self {
        let are_usual = values.iter().all(|&value| value == usual);
        Self { values: if are_usual { Vec::new() } else { values }, usual }
    }

    /// Whether all are the usual one.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Multiplies all that are kept.
    pub(super) fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|value| *value *= factor);
    }

    /// Of consecutive paths or flows; nothing where all are the usual one.
    pub(crate) fn of(&self, range: std::ops::Range<usize>) -> &[f64] {
        if self.values.is_empty() { &[] } else { &self.values[range] }
    }
}

impl Index<usize> for Column {
    type Output = f64;

    #[inline(always)]
    fn index(&self, place: usize) -> &f64 {
        if self.values.is_empty() { &self.usual } else { &self.values[place] }
    }
}
