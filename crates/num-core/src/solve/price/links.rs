//! Links, one at a time and as columns, as a price rule is given them.

use crate::numerics::vectorized;

/// One link, as a price rule is given it.
///
/// The units are those of the iteration that runs the rule: natural units in [`solve`](crate::solve()) and
/// [`Solver`](crate::Solver), where rates and prices are near 1 whatever the problem's units are; the caller's units in
/// an engine or allocator of `netnum-parallel`. A rule without constants of a unit of its own behaves alike in both.
/// Loads and slopes have the flows' coefficients in them, what each uses of the link per unit of its rate.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LinkState {
    /// c_l ≥ 0; 0 for a failed link.
    pub capacity: f64,
    /// p_l ≥ 0.
    pub price: f64,
    /// y_l: the sum of what flows demand at the present prices, times their coefficients.
    pub load: f64,
    /// H_l ≥ 0: by how much the load falls per unit of price.
    pub slope: f64,
    /// G_l/H_l, the price change that would balance this link if the others did not move.
    pub newton_step: f64,
}

impl LinkState {
    /// A link and its Newton step.
    #[inline(always)]
    pub fn new(capacity: f64, price: f64, load: f64, slope: f64) -> Self {
        Self { capacity, price, load, slope, newton_step: newton_step(load - capacity, slope) }
    }

    /// G_l = y_l − c_l.
    #[inline(always)]
    pub fn excess(&self) -> f64 {
        self.load - self.capacity
    }
}

/// G/H; finite also for a link of slope 0.
#[inline(always)]
pub(in crate::solve) fn newton_step(excess: f64, slope: f64) -> f64 {
    excess / at_least(slope, LARGEST_PRICE.recip())
}

/// max that propagates NaN, in one instruction.
#[inline(always)]
pub(in crate::solve) fn at_least(value: f64, least: f64) -> f64 {
    if least > value { least } else { value }
}

/// Refusals, halvings or doublings of a step, at most.
pub(in crate::solve) const MOST_REFUSALS: usize = 30;

/// Bound of loads, slopes and memories, so that sums and products of two are finite.
pub const LARGEST_SUM: f64 = 1e250;

/// The capacity that stands for none: a link of it never fills, and what a rule computes of it is finite.
pub const UNLIMITED: f64 = 1e200;

/// Prices beyond this are cut, so that sums over long paths stay finite.
pub const LARGEST_PRICE: f64 = 1e200;

/// Rates are cut at this multiple of the path's smallest capacity: at a ceiling of the capacity itself the
/// overload would not show by how much the path is too cheap.
pub(crate) const CEILING: f64 = 2.0;

/// A price cut to 0 … [`LARGEST_PRICE`]; NaN stays NaN.
pub(in crate::solve) fn cut(price: f64) -> f64 {
    price.clamp(0.0, LARGEST_PRICE)
}

/// A rule's memory of one link: six numbers, all 0 before the first step.
pub type Memory = [f64; 6];

/// Whether all numbers are within ±[`LARGEST_SUM`].
pub(super) fn are_sums(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.abs() <= LARGEST_SUM)
}

/// Consecutive links, one entry per link in every column.
#[derive(Debug)]
pub struct Links<'a> {
    /// c_l ≥ 0 *(given)*.
    pub capacities: &'a [f64],
    /// y_l and H_l at the present prices *(derived)*.
    pub sums: &'a [[f64; 2]],
    /// p_l, 0 to 1e200 *(iterate)*.
    pub prices: &'a mut [f64],
    /// 1 for a link that counts as priced, else 0 *(derived)*.
    pub priced: &'a mut [f64],
    /// What the rule remembers of each link.
    pub memories: &'a mut [Memory],
}

impl Links<'_> {
    /// One link.
    ///
    /// # Panics
    /// If there is no such link.
    #[inline(always)]
    pub fn state(&self, link: usize) -> LinkState {
        let [load, slope] = self.sums[link];
        LinkState::new(self.capacities[link], self.prices[link], load, slope)
    }

    /// Moves every price to `next`, cut to 0 … [`LARGEST_PRICE`]; NaN becomes 0. A failed link keeps its price until it
    /// returns. A link counts as priced if its price is positive, or if `counts`, given whether it was priced and its
    /// excess, is true. Returns whether no next price was NaN.
    #[inline(always)]
    pub fn move_prices(
        &mut self,
        next: impl FnMut(&LinkState, &mut Memory) -> f64,
        counts: impl Fn(bool, f64) -> bool,
    ) -> bool {
        let Self { capacities, sums, prices, priced, memories } = self;
        vectorized(
            #[inline(always)]
            || move_each(capacities, sums, prices, priced, memories, next, counts),
        )
    }
}

/// Links that are summed side by side.
const LANES: usize = 8;

/// The sums over links of some numbers of each. In an order of its own, which is the same for as many links.
#[inline(always)]
pub(super) fn sum_links<const COUNT: usize>(
    (capacities, prices): (&[f64], &[f64]),
    sums: &[[f64; 2]],
    memories: &[Memory],
    of: impl Fn(&LinkState, &Memory) -> [f64; COUNT],
) -> [f64; COUNT] {
    let (capacities, last_capacities) = capacities.as_chunks::<LANES>();
    let (prices, last_prices) = prices.as_chunks::<LANES>();
    let (sums, last_sums) = sums.as_chunks::<LANES>();
    let (memories, last_memories) = memories.as_chunks::<LANES>();
    let mut totals = [[0.0; LANES]; COUNT];
    vectorized(
        #[inline(always)]
        || {
            for (((capacities, prices), sums), memories) in capacities.iter().zip(prices).zip(sums).zip(memories) {
                for lane in 0..LANES {
                    let [load, slope] = sums[lane];
                    let terms = of(&LinkState::new(capacities[lane], prices[lane], load, slope), &memories[lane]);
                    for (total, term) in totals.iter_mut().zip(terms) {
                        total[lane] += term;
                    }
                }
            }
        },
    );
    let mut all = totals.map(|lanes| lanes.iter().sum());
    let last = last_capacities.iter().zip(last_prices).zip(last_sums).zip(last_memories);
    for (((&capacity, &price), &[load, slope]), memory) in last {
        let terms = of(&LinkState::new(capacity, price, load, slope), memory);
        all.iter_mut().zip(terms).for_each(|(total, term): (&mut f64, f64)| *total += term);
    }
    all
}

/// The loop of [`Links::move_prices`]. The columns are arguments, and so distinct for the compiler: otherwise the loop
/// has no vectors.
#[inline(always)]
fn move_each(
    capacities: &[f64],
    sums: &[[f64; 2]],
    prices: &mut [f64],
    priced: &mut [f64],
    memories: &mut [Memory],
    mut next: impl FnMut(&LinkState, &mut Memory) -> f64,
    counts: impl Fn(bool, f64) -> bool,
) -> bool {
    let given = capacities.iter().zip(sums);
    let moved = prices.iter_mut().zip(priced).zip(memories);
    let mut numbers = true;
    for ((&capacity, &[load, slope]), ((price, priced), memory)) in given.zip(moved) {
        let link = LinkState::new(capacity, *price, load, slope);
        let next = next(&link, memory);
        numbers &= !next.is_nan() | (capacity == 0.0);
        let cut = if next > 0.0 { next } else { 0.0 };
        let cut = if cut < LARGEST_PRICE { cut } else { LARGEST_PRICE };
        *price = if capacity > 0.0 { cut } else { *price };
        let counts = counts(*priced > 0.0, link.excess());
        *priced = if (*price > 0.0) | counts { 1.0 } else { 0.0 };
    }
    numbers
}
