//! Windows of tables, in which an entry is 16 bits: alike flows read them and add to them.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

use super::real::Real;
use super::sizes::{ABREAST, LINE, WINDOW};

/// A table that begins with a cache line: a vector over two of them takes twice as long.
#[derive(Debug)]
pub(crate) struct Lines<T> {
    numbers: Vec<T>,
    first: usize,
}

impl<T: Copy> Lines<T> {
    pub(crate) fn new(number: T, length: usize) -> Self {
        let spare = LINE / size_of::<T>();
        let numbers = vec![number; length + spare];
        let first = numbers.as_ptr().align_offset(LINE).min(spare);
        Self { numbers, first }
    }
}

impl<T> Deref for Lines<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let spare = LINE / size_of::<T>();
        &self.numbers[self.first..][..self.numbers.len() - spare]
    }
}

impl<T> DerefMut for Lines<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let length = self.len();
        &mut self.numbers[self.first..][..length]
    }
}

/// Price of every entry and, where a rule counts them, its priced links.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a, R> {
    pub(crate) prices: &'a [R],
    pub(crate) priced: &'a [R],
}

/// The window of a table that begins at an entry.
#[inline(always)]
pub(super) fn window<T>(table: &[T], start: usize) -> &[T; WINDOW] {
    table[start..].first_chunk().expect("tables end with a whole window")
}

/// The entries of flows that stand together, four to a word: a load is dearer than a shift.
pub(super) struct Abreast<const WIDTH: usize>([u64; WIDTH]);

impl<const WIDTH: usize> Abreast<WIDTH> {
    #[inline(always)]
    pub(super) fn new(paths: &[[u16; WIDTH]; ABREAST]) -> Self {
        let mut words = [0; WIDTH];
        for (word, &[one, two, three, four]) in words.iter_mut().zip(paths.as_flattened().as_chunks::<4>().0) {
            *word = u64::from(one) | u64::from(two) << 16 | u64::from(three) << 32 | u64::from(four) << 48;
        }
        Self(words)
    }

    #[inline(always)]
    pub(super) fn id(&self, flow: usize, position: usize) -> usize {
        let place = flow * WIDTH + position;
        usize::from((self.0[place / 4] >> (16 * (place % 4))) as u16)
    }
}

/// The entries that flows of a bucket read, window by window.
#[derive(Clone, Copy)]
pub(super) struct WindowView<'a, R, const WIDTH: usize, const WEIGH: bool> {
    prices: [&'a [R; WINDOW]; WIDTH],
    /// Read only where priced links are counted.
    priced: [&'a [R; WINDOW]; WIDTH],
}

impl<'a, R: Real, const WIDTH: usize, const WEIGH: bool> WindowView<'a, R, WIDTH, WEIGH> {
    #[inline(always)]
    pub(super) fn new(view: View<'a, R>, starts: [usize; WIDTH]) -> Self {
        let windows = |table: &'a [R]| starts.map(|start| window(table, start));
        Self { prices: windows(view.prices), priced: windows(view.priced) }
    }

    /// Price of a path, given its entry at every position.
    #[inline(always)]
    pub(super) fn price(&self, id: impl Fn(usize) -> usize) -> R {
        Self::total(&self.prices, id)
    }

    /// Priced links of a path, at least 1.
    #[inline(always)]
    pub(super) fn priced(&self, id: impl Fn(usize) -> usize) -> R {
        if WEIGH { Self::total(&self.priced, id).at_least(R::ONE) } else { R::ONE }
    }

    #[inline(always)]
    fn total(tables: &[&[R; WINDOW]; WIDTH], id: impl Fn(usize) -> usize) -> R {
        let mut total = tables[0][id(0)];
        for position in 1..WIDTH {
            total += tables[position][id(position)];
        }
        total
    }

    /// Prices of paths with coefficients.
    #[inline(always)]
    pub(super) fn weighted_prices(&self, own: &Weights<R, WIDTH>, id: impl Fn(usize, usize) -> usize) -> [R; ABREAST] {
        Self::weighted_totals(&self.prices, own, id)
    }

    /// Σ a over the priced links of paths with coefficients; 0 where these are not counted.
    #[inline(always)]
    pub(super) fn weighted_priced(&self, own: &Weights<R, WIDTH>, id: impl Fn(usize, usize) -> usize) -> [R; ABREAST] {
        if WEIGH { Self::weighted_totals(&self.priced, own, id) } else { [R::ZERO; ABREAST] }
    }

    #[inline(always)]
    fn weighted_totals(
        tables: &[&[R; WINDOW]; WIDTH],
        own: &Weights<R, WIDTH>,
        id: impl Fn(usize, usize) -> usize,
    ) -> [R; ABREAST] {
        let mut totals = [R::ZERO; ABREAST];
        for (position, (table, a)) in tables.iter().zip(own).enumerate() {
            let mut found = [R::ZERO; ABREAST];
            for (flow, found) in found.iter_mut().enumerate() {
                *found = table[id(flow, position)];
            }
            for flow in 0..ABREAST {
                totals[flow] += a[flow] * found[flow];
            }
        }
        totals
    }
}

/// The coefficients of flows that stand together, position by position.
pub(super) type Weights<R, const WIDTH: usize> = [[R; ABREAST]; WIDTH];

/// Adds to loads and slopes what the first so many of some flows with coefficients use, a x and a max(n, a) D, given
/// their x, D and n = Σ a over priced links.
#[inline(always)]
pub(super) fn scatter_weighted<R: Real, const WIDTH: usize>(
    sums: &[&[Cell<[R; 2]>; WINDOW]; WIDTH],
    own: &Weights<R, WIDTH>,
    id: impl Fn(usize, usize) -> usize,
    [rates, slopes, priced]: [&[R; ABREAST]; 3],
    flows: usize,
) {
    for (position, (sums, a)) in sums.iter().zip(own).enumerate() {
        let mut uses = [[R::ZERO; ABREAST]; 2];
        for flow in 0..ABREAST {
            uses[0][flow] = a[flow] * rates[flow];
        }
        for flow in 0..ABREAST {
            uses[1][flow] = a[flow] * (slopes[flow] * priced[flow].at_least(a[flow]));
        }
        for flow in 0..flows.min(ABREAST) {
            add_to(&sums[id(flow, position)], uses.map(|uses| uses[flow]));
        }
    }
}

/// sum += to, which is one instruction where both lie together.
#[inline(always)]
pub(super) fn add<R: Real>(sum: &mut [R; 2], to: [R; 2]) {
    sum[0] += to[0];
    sum[1] += to[1];
}

/// sum += to in a table whose windows overlap.
#[inline(always)]
pub(super) fn add_to<R: Real>(sum: &Cell<[R; 2]>, to: [R; 2]) {
    let mut total = sum.get();
    add(&mut total, to);
    sum.set(total);
}
