//! Adaptive splitting, the ideal that DeTail's per-packet decisions approach: at every moment the best split of all flows
//! over their shortest paths.
//!
//! ```text
//! best:   flows' max-min rates are as high as any split allows, the lowest first
//!         and of the splits at which they are, the least that any link has free is the largest, then the next least, …
//! ```
//!
//! The first says how fast flows are, and if rates are max-min nothing else does; the second, where they go while there
//! is more than one way, so that a link that carries something else already is the last to be used. Both are one max-min
//! problem with several paths per flow ([`max_min`]), in which the free capacity of each link that flows may avoid is a
//! flow of its own with a weight ε = 10⁻⁶ in place of 1: rates are lower by such a part at most. In a symmetric Clos the
//! answer is spraying.
//!
//! Every arrival and end costs as much as `max_min` does, some linear programs: this one is for questions, not for speed.
//!
//! Source: Zats et al., *DeTail: Reducing the Flow Completion Time Tail in Datacenter Networks*, SIGCOMM 2012, §4.1.

use std::collections::{BTreeMap, BTreeSet};

use netnum_core::{AlphaFair, Paths, Problem, Topology, max_min};

use super::choices::Choices;
use super::{Moves, Now, Route, Routing};
use crate::error::Result;
use crate::flows::Flows;
use crate::workload::Workload;

/// What its name is.
const NAME: &str = "adaptive";
/// ε.
const FREE: f64 = 1e-6;
/// A path with less than this part of its flow has nothing.
const NOTHING: f64 = 1e-9;

/// The best split at every moment.
#[derive(Debug, Clone, Default)]
pub struct Adaptive {
    choices: Choices,
}

impl Adaptive {
    /// For a network that is still to be named.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Routing for Adaptive {
    fn name(&self) -> &str {
        NAME
    }

    fn start(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.choices = Choices::new(NAME, net, workload)?;
        Ok(())
    }

    /// Until [`balance`](Self::balance) is called, any will do.
    fn route(&mut self, flow: usize, route: &mut Route) -> Result<()> {
        route.take(self.choices.of(flow).links(0));
        Ok(())
    }

    fn balance(&mut self, now: &Now<'_>, flows: &Flows, moves: &mut Moves) -> Result<()> {
        let number = |slot: u32| flows.flow(slot).number as usize;
        let mut slots = flows.active().to_vec();
        slots.sort_unstable_by_key(|&slot| number(slot));
        let (mut paths, mut group) = (Paths::from_lists([[0; 0]; 0]), Vec::new());
        let mut capacities = now.capacities.to_vec();
        // The links that some flow may avoid; in order, so that the bits are always the same.
        let mut optional = BTreeSet::new();
        for (&slot, flow) in slots.iter().zip(0..) {
            let (choices, cap) = (self.choices.of(number(slot)), flows.flow(slot).cap);
            let mut crossed = BTreeMap::new();
            for path in choices.iter() {
                path.iter().for_each(|&link| *crossed.entry(link).or_insert(0) += 1);
                // A cap is a link of its own.
                let own = (cap < f64::INFINITY).then_some(capacities.len() as u32);
                paths.push(&path.iter().copied().chain(own).collect::<Vec<_>>());
                group.push(flow);
            }
            if cap < f64::INFINITY {
                capacities.push(cap);
            }
            optional.extend(crossed.into_iter().filter(|link| link.1 < choices.len()).map(|link| link.0));
        }
        for (&link, flow) in optional.iter().zip(slots.len() as u32..) {
            paths.push(&[link]);
            group.push(flow);
        }
        let mut weights = vec![1.0; slots.len()];
        weights.resize(slots.len() + optional.len(), FREE);
        let problem = Problem::grouped(capacities, paths, group, AlphaFair::new(f64::INFINITY, weights)?)?;
        let mut rates = &max_min(&problem)?[..];
        for &slot in &slots {
            let choices = self.choices.of(number(slot));
            let (own, others) = rates.split_at(choices.len());
            rates = others;
            let whole: f64 = own.iter().sum();
            let used: Vec<(&[u32], f64)> =
                choices.iter().zip(own.iter().copied()).filter(|path| path.1 > NOTHING * whole).collect();
            let whole: f64 = used.iter().map(|path| path.1).sum();
            // A flow without a path that works stays where it is.
            if whole > 0.0 {
                let mut route = Route::default();
                route.spread(used.iter().map(|&(path, rate)| (path, rate / whole)));
                moves.set(slot, route);
            }
        }
        Ok(())
    }
}
