//! What flows and links tell each other: sums one way, prices the other.
//!
//! ```text
//! y_l = Σ over lanes, in the order of their numbers, of the lane's own sum
//! p_l   by the rule, or as it is told, from y_l, H_l and c_l
//! ```
//!
//! Links stand in as many blocks as there are lanes. A block is written by one thread at a time and read by all lanes,
//! a lane likewise, and a barrier lies between: nobody waits for a lock. Sums come in an order that depends on the
//! lanes only, and with them every bit of the answer.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use netnum_core::PriceRule;
use netnum_core::numerics::vectorized;
use netnum_core::solve::{LARGEST_PRICE, LinkState, Sums};

use super::lane::Lane;
use super::real::Real;

/// For reading; what a panic left behind is plain numbers.
pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// For writing.
pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// For writing, by who has it alone: no lock is taken.
pub(crate) fn own<T>(lock: &mut RwLock<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Consecutive links, with what a rule remembers of each.
#[derive(Debug)]
pub(crate) struct LinkBlock<R, M> {
    pub(crate) links: Range<usize>,
    /// c_l ≥ 0 *(given)*.
    pub(crate) capacities: Vec<f64>,
    /// p_l *(iterate)*.
    pub(crate) prices: Vec<f64>,
    pub(crate) memories: Vec<M>,
    /// y_l and H_l *(derived)*.
    pub(crate) sums: Vec<[f64; 2]>,
    /// Prices as flows see them, and whether a link is priced, 1 or 0.
    pub(crate) board: Vec<R>,
    pub(crate) priced: Vec<R>,
    /// min(1, c_l/y_l), as of when it was last asked for.
    pub(crate) shares: Vec<R>,
}

impl<R: Real, M: Clone> LinkBlock<R, M> {
    pub(crate) fn new(links: Range<usize>, capacities: &[f64], memory: M) -> Self {
        let count = links.len();
        let (capacities, prices, sums) = (capacities[links.clone()].to_vec(), vec![1.0; count], vec![[0.0; 2]; count]);
        let (memories, board, priced, shares) =
            (vec![memory; count], vec![R::ONE; count], vec![R::ONE; count], Vec::new());
        Self { links, capacities, prices, memories, sums, board, priced, shares }
    }

    /// Starts at given prices.
    pub(crate) fn begin(&mut self, prices: &[f64]) {
        self.prices.copy_from_slice(prices);
        self.post_at(prices);
    }

    /// Shows flows these prices; a link is priced that has one.
    pub(crate) fn post_at(&mut self, prices: &[f64]) {
        for ((board, priced), &price) in self.board.iter_mut().zip(&mut self.priced).zip(prices) {
            (*board, *priced) = (R::of(price), R::of(if price > 0.0 { 1.0 } else { 0.0 }));
        }
    }

    /// The same for one link, by its number in the network.
    pub(crate) fn post_one(&mut self, link: usize, price: f64) {
        let at = link - self.links.start;
        self.prices[at] = price;
        (self.board[at], self.priced[at]) = (R::of(price), R::of(if price > 0.0 { 1.0 } else { 0.0 }));
    }

    /// A link as another block has it, all but its capacity.
    pub(crate) fn take(&mut self, link: usize, other: &Self) {
        let (mine, theirs) = (link - self.links.start, link - other.links.start);
        (self.prices[mine], self.sums[mine]) = (other.prices[theirs], other.sums[theirs]);
        (self.board[mine], self.priced[mine]) = (other.board[theirs], other.priced[theirs]);
        self.memories[mine] = other.memories[theirs].clone();
    }

    /// Shows flows free links, all counted as priced.
    pub(crate) fn set_free(&mut self) {
        self.board.fill(R::ZERO);
        self.priced.fill(R::ONE);
    }

    /// Every link as a rule sees it, with its memory.
    pub(crate) fn states(&mut self) -> impl Iterator<Item = (LinkState, &mut M)> {
        let links = self.capacities.iter().zip(&self.sums).zip(&self.prices);
        links
            .zip(&mut self.memories)
            .map(|(((&capacity, &sums), &price), memory)| (state(capacity, price, sums), memory))
    }

    /// min(1, c/y) of every link: what F-NORM leaves.
    pub(crate) fn compare(&mut self) {
        let share = |(&[load, _], &capacity): (&[f64; 2], &f64)| if load > capacity { capacity / load } else { 1.0 };
        self.shares.clear();
        self.shares.extend(self.sums.iter().zip(&self.capacities).map(share).map(R::of));
    }

    /// Adds up what the lanes have found.
    pub(crate) fn gather(&mut self, lanes: &[RwLock<Lane<R>>]) {
        for (number, lane) in lanes.iter().enumerate() {
            let lane = read(lane);
            let sums = self.sums.iter_mut().zip(&lane.sums()[self.links.clone()]);
            vectorized(
                #[inline(always)]
                || match number {
                    0 => sums.for_each(|(sum, found)| *sum = found.map(R::wide)),
                    _ => sums.for_each(|(sum, found)| {
                        sum[0] += found[0].wide();
                        sum[1] += found[1].wide();
                    }),
                },
            );
        }
    }

    /// Moves prices, and says which links are priced: those with a price, or too full; with `holds`, those without one
    /// that were priced before.
    pub(crate) fn post(&mut self, holds: bool, mut next: impl FnMut(&LinkState, &mut M) -> f64) {
        let links = self.capacities.iter().zip(&self.sums).zip(&mut self.prices);
        let seen = self.memories.iter_mut().zip(self.board.iter_mut().zip(&mut self.priced));
        vectorized(
            #[inline(always)]
            || {
                for (((&capacity, &sums), price), (memory, (board, priced))) in links.zip(seen) {
                    let link = state(capacity, *price, sums);
                    // What is not a number becomes 0.
                    let (next, most) = (next(&link, memory), LARGEST_PRICE);
                    let cut = if next > 0.0 { next } else { 0.0 };
                    let cut = if cut < most { cut } else { most };
                    // A failed link keeps its price until it returns.
                    *price = if capacity > 0.0 { cut } else { *price };
                    let counts = if holds { priced.wide() > 0.0 } else { link.excess() > 0.0 };
                    *priced = R::of(if (*price > 0.0) | counts { 1.0 } else { 0.0 });
                    *board = R::of(*price);
                }
            },
        );
    }

    /// Sum over its links of what the rule judges by.
    pub(crate) fn judge(&self, rule: &impl PriceRule<Memory = M>) -> Sums {
        let mut sum = Sums::default();
        let links = self.capacities.iter().zip(&self.sums).zip(&self.prices);
        for (((&capacity, &sums), &price), memory) in links.zip(&self.memories) {
            let part = rule.judge(&state(capacity, price, sums), memory);
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        sum
    }
}

/// A link as a rule sees it.
#[inline(always)]
fn state(capacity: f64, price: f64, [load, slope]: [f64; 2]) -> LinkState {
    LinkState::new(capacity, price, load, slope)
}
