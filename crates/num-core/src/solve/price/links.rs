//! The links of a network as columns, as a price rule moves them.

use super::rule::{LARGEST_PRICE, LinkState, Memory};
use crate::numerics::vectorized;

/// Consecutive links, one entry per link in every column.
#[derive(Debug)]
pub struct Links<'a> {
    /// c_l ≥ 0 *(given)*.
    pub capacities: &'a [f64],
    /// y_l and H_l at the present prices *(derived)*.
    pub sums: &'a [[f64; 2]],
    /// G_l/H_l *(derived)*.
    pub newton_steps: &'a [f64],
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
        let (capacity, price, newton_step) = (self.capacities[link], self.prices[link], self.newton_steps[link]);
        LinkState { capacity, price, load, slope, newton_step }
    }

    /// Moves every price to `next`, cut to what a price can be; what is not a number becomes 0. A failed link keeps its
    /// price until it returns. A link counts as priced that has a price; without one where `counts`, given whether it
    /// was priced and its excess, says so. Returns whether all next prices were numbers.
    #[inline(always)]
    pub fn move_prices(
        &mut self,
        mut next: impl FnMut(&LinkState, &mut Memory) -> f64,
        counts: impl Fn(bool, f64) -> bool,
    ) -> bool {
        let given = self.capacities.iter().zip(self.sums).zip(self.newton_steps);
        let moved = self.prices.iter_mut().zip(self.priced.iter_mut()).zip(self.memories.iter_mut());
        let mut numbers = true;
        vectorized(
            #[inline(always)]
            || {
                for (((&capacity, &[load, slope]), &newton_step), ((price, priced), memory)) in given.zip(moved) {
                    let link = LinkState { capacity, price: *price, load, slope, newton_step };
                    let next = next(&link, memory);
                    numbers &= (next == next) | (capacity == 0.0);
                    let cut = if next > 0.0 { next } else { 0.0 };
                    let cut = if cut < LARGEST_PRICE { cut } else { LARGEST_PRICE };
                    *price = if capacity > 0.0 { cut } else { *price };
                    let counts = counts(*priced > 0.0, link.excess());
                    *priced = if (*price > 0.0) | counts { 1.0 } else { 0.0 };
                }
            },
        );
        numbers
    }
}
