//! Flows with several paths that are alike: one law, as many paths, with coefficients or without; and their response.
//!
//! The rule is that of `price/path_split.rs` in the core, where its reasons stand:
//!
//! ```text
//! q_p = C + o_p                                     C of the links that all paths cross, o_p of the others
//! τ   = 0.2 Σ σ_p o_p + 0.03 max(Σ σ_p q_p, q*)     q* = U'(ceiling)
//! q   = −τ log Σ σ_p exp(−q_p/τ)                    the mean price, D = (U')⁻¹(q)
//! x_p = D σ_p exp(−q_p/τ) / Σ σ_k exp(−q_k/τ)
//! H_l = Σ a² (x_p/D (−D') + x_p/τ min(1, 2 (1 − x_p/D)))         the second term not where all paths cross the link
//! σ_p ← σ_p + ¼ (max(x_p/Σ x_k, 1e-6) − σ_p)        after an accepted step, scaled to a sum of 1
//! ```
//!
//! Sums over shares are divided by those of the paths that take part: a path over a failed link does not, nor does one
//! that would carry more than its ceiling, which it then carries; the others share the rest of what the flow demands at
//! their mean price. So traffic leaves a failed link in the response after its failure. A link that paths use with
//! different coefficients is among the others, as if some path avoided it.
//!
//! All paths of a flow are in one bucket of one block, that of its first path's first link, so that no sum over paths
//! crosses threads. Links are read one by one: what a pair of links would need is not the same for both. A flow has a
//! lane; the entries that its paths have in common are read once.
//!
//! | file | what it does |
//! |---|---|
//! | `bucket.rs` | columns of alike flows: gather, split, scatter |
//! | `response.rs` | how a group of them splits at given prices |

mod bucket;
mod response;

use std::cell::Cell;
use std::collections::BTreeMap;

use netnum_core::internal::PowerDemand;

use super::Place;
use super::real::Real;
use super::windows::View;
use bucket::SplitBucket;
pub(crate) use response::SMALLEST_SHARE;

/// What the flows of a bucket have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shape {
    /// α is not 1.
    is_power: bool,
    is_weighted: bool,
    paths: usize,
    /// Links that all paths cross, and the most that one of them crosses beside these.
    common: usize,
    own: usize,
}

/// A link, and what a path uses of it per unit of its rate.
pub(crate) type Crossing = (u32, f64);

/// A flow with several paths, as a block takes it.
#[derive(Debug)]
pub(crate) struct Several<'a> {
    /// Links that all paths cross with the same coefficient.
    pub(crate) common: &'a [Crossing],
    /// The others of every path.
    pub(crate) own: &'a [Vec<Crossing>],
    pub(crate) demand: PowerDemand,
    /// The most that every path carries; 0 where a link has failed.
    pub(crate) ceilings: &'a [f64],
    pub(crate) state: &'a [OfPath],
}

/// What a path of a flow remembers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OfPath {
    /// σ.
    pub(crate) share: f64,
    /// As demanded last, and as the last normalizer left it.
    pub(crate) rates: [f64; 2],
}

impl Several<'_> {
    fn shape(&self) -> Shape {
        let one = |&(_, a): &Crossing| a == 1.0;
        Shape {
            is_power: !self.demand.is_log,
            is_weighted: !(self.common.iter().all(one) && self.own.iter().flatten().all(one)),
            paths: self.own.len(),
            common: self.common.len(),
            own: self.own.iter().map(Vec::len).max().unwrap_or(0),
        }
    }
}

/// All flows with several paths of a block.
#[derive(Debug)]
pub(crate) struct Splits<R> {
    buckets: Vec<SplitBucket<R>>,
    /// Their numbers, in the order in which they respond.
    order: BTreeMap<Shape, u32>,
    /// The entry that is never used.
    nowhere: u32,
    /// Whether the shares are to follow the rates, which the next response does first: it reads and writes both.
    follows: bool,
}

impl<R: Real> Splits<R> {
    pub(crate) fn new(nowhere: usize) -> Self {
        Self { buckets: Vec::new(), order: BTreeMap::new(), nowhere: nowhere as u32, follows: false }
    }

    /// Adds a flow.
    pub(crate) fn add(&mut self, flow: u32, several: &Several<'_>) -> Place {
        // Shares that have followed do not again.
        if self.follows && several.state.iter().any(|path| path.rates[0] > 0.0) {
            self.buckets.iter_mut().for_each(SplitBucket::follow);
            self.follows = false;
        }
        let Self { buckets, order, nowhere, .. } = self;
        let shape = several.shape();
        let bucket = *order.entry(shape).or_insert_with(|| {
            buckets.push(SplitBucket::new(shape));
            buckets.len() as u32 - 1
        });
        Place { bucket, place: buckets[bucket as usize].push(flow, several, *nowhere) }
    }

    /// Takes a flow out; returns the number of the one that is in its place now, if there is one.
    pub(crate) fn remove(&mut self, Place { bucket, place }: Place) -> Option<u32> {
        self.buckets[bucket as usize].swap_remove(place as usize, self.nowhere)
    }

    /// The paths of a flow.
    pub(crate) fn of_paths(&self, Place { bucket, place }: Place) -> impl Iterator<Item = OfPath> {
        self.buckets[bucket as usize].of_paths(place as usize, self.follows)
    }

    /// Changes the price below which a flow's rate does not grow, and the most that its paths carry.
    pub(crate) fn set_limits(&mut self, Place { bucket, place }: Place, floor: f64, ceilings: &[f64]) {
        self.buckets[bucket as usize].set_limits(place as usize, floor, ceilings);
    }

    /// Sets the rates of a flow's paths, and its shares to these.
    pub(crate) fn set_split(&mut self, Place { bucket, place }: Place, rates: &[f64]) {
        self.buckets[bucket as usize].set_split(place as usize, rates);
    }

    /// Number of every flow with the [rates](OfPath::rates) of its paths, in the order in which they respond, until one
    /// is refused.
    pub(crate) fn each<E>(
        &self,
        mut look: impl FnMut(u32, &mut dyn Iterator<Item = [f64; 2]>) -> Result<(), E>,
    ) -> Result<(), E> {
        for &bucket in self.order.values() {
            let bucket = &self.buckets[bucket as usize];
            for (place, &flow) in bucket.flows.iter().enumerate() {
                look(flow, &mut bucket.rates(place))?;
            }
        }
        Ok(())
    }

    /// Number and paths of every flow, in the same order.
    pub(crate) fn each_state<E>(&self, mut look: impl FnMut(u32, Vec<OfPath>) -> Result<(), E>) -> Result<(), E> {
        for &bucket in self.order.values() {
            let bucket = &self.buckets[bucket as usize];
            for (place, &flow) in bucket.flows.iter().enumerate() {
                look(flow, bucket.of_paths(place, self.follows).collect())?;
            }
        }
        Ok(())
    }

    /// Sets the feasible rates of the paths of all flows, in the order of [`each`](Self::each).
    pub(crate) fn set_all_feasible(&mut self, rates: &mut impl Iterator<Item = f64>) {
        for &bucket in self.order.values() {
            let bucket = &mut self.buckets[bucket as usize];
            for place in 0..bucket.flows.len() {
                let own = 0..bucket.shape.paths;
                own.for_each(|path| bucket.set_feasible(place, path, rates.next().expect("one rate per path")));
            }
        }
    }

    /// Rates at these prices, added to the sums of links.
    pub(crate) fn respond(&mut self, view: View<'_, R>, counts_priced: bool, sums: &mut [[R; 2]]) {
        let follows = std::mem::take(&mut self.follows);
        let all = Cell::from_mut(&mut *sums).as_slice_of_cells();
        for &bucket in self.order.values() {
            let bucket = &mut self.buckets[bucket as usize];
            match (counts_priced, bucket.shape.is_weighted) {
                (true, true) => bucket.respond::<true, true>(view, all, follows),
                (true, false) => bucket.respond::<true, false>(view, all, follows),
                (false, true) => bucket.respond::<false, true>(view, all, follows),
                (false, false) => bucket.respond::<false, false>(view, all, follows),
            }
        }
        sums[self.nowhere as usize] = [R::ZERO; 2];
    }

    /// The shares move towards how the last response was split.
    pub(crate) fn follow(&mut self) {
        self.follows = true;
    }

    /// F-NORM, path by path, given the fraction of the demanded rates that every entry can carry.
    pub(crate) fn normalize(&mut self, fractions: &[R]) {
        self.buckets.iter_mut().for_each(|bucket| bucket.normalize(fractions));
    }
}
