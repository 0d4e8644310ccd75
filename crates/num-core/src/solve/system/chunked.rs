//! Sums of which most are 0, and the others near each other: those of the links of the flows below a node of a trie.

use std::ops::Range;

use crate::numerics::vectorized;

/// Numbers of a chunk, at least: a few lines of the cache.
const LEAST_NUMBERS: usize = 16;

/// Numbers in at most 64 chunks, of which those that may be other than 0 are known.
pub(super) struct Chunked {
    values: Vec<f64>,
    /// A bit for each such chunk.
    filled: u64,
    /// log₂ of the numbers of a chunk.
    shift: u32,
}

impl Chunked {
    /// So many zeros.
    pub(super) fn zeros(size: usize) -> Self {
        let numbers = size.div_ceil(u64::BITS as usize).max(LEAST_NUMBERS).next_power_of_two();
        Self { values: vec![0.0; size], filled: 0, shift: numbers.trailing_zeros() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Adds a value at a place.
    pub(super) fn add(&mut self, place: usize, value: f64) {
        self.values[place] += value;
        self.filled |= 1 << (place >> self.shift);
    }

    /// Adds all to others, and leaves zeros.
    pub(super) fn move_to(&mut self, others: &mut Self) {
        if others.filled == 0 {
            return std::mem::swap(self, others);
        }
        for places in self.filled_from(0) {
            add(&self.values[places.clone()], &mut others.values[places.clone()]);
            self.values[places].fill(0.0);
        }
        others.filled |= std::mem::take(&mut self.filled);
    }

    /// Adds all from the chunk of a place on to a list.
    pub(super) fn add_from(&self, place: usize, sums: &mut [f64]) {
        for places in self.filled_from(place) {
            add(&self.values[places.clone()], &mut sums[places]);
        }
    }

    pub(super) fn clear(&mut self) {
        self.filled_from(0).for_each(|places| self.values[places].fill(0.0));
        self.filled = 0;
    }

    /// The runs of chunks that are filled, from that of a place on.
    fn filled_from(&self, place: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (mut left, mut first, shift) = (self.filled >> (place >> self.shift), place >> self.shift, self.shift);
        let size = self.values.len();
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            first += left.trailing_zeros() as usize;
            left >>= left.trailing_zeros();
            let run = left.trailing_ones() as usize;
            let places = first << shift..((first + run) << shift).min(size);
            first += run;
            left = left.checked_shr(run as u32).unwrap_or(0);
            Some(places)
        })
    }
}

/// sums ← sums + values.
fn add(values: &[f64], sums: &mut [f64]) {
    vectorized(
        #[inline(always)]
        || sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_the_sums_of_whole_lists() {
        for size in [1, 40, 1024, 1025, 5000] {
            let places: Vec<usize> = (0..200).map(|number| number * number * 7919 % size).collect();
            let (mut one, mut other) = (Chunked::zeros(size), Chunked::zeros(size));
            let (mut expected, mut found) = (vec![0.0; size], vec![0.0; size]);
            for turn in 0..2 {
                for (number, &place) in places.iter().enumerate().skip(turn * 150) {
                    one.add(place, number as f64);
                    expected[place] += number as f64;
                }
                one.move_to(&mut other);
            }
            one.add_from(0, &mut found);
            assert!(found.iter().all(|&value| value == 0.0));
            other.add_from(0, &mut found);
            assert_eq!(found, expected);
            let from = places[0] >> other.shift << other.shift;
            other.add_from(places[0], &mut found);
            expected[from..].iter_mut().for_each(|value| *value *= 2.0);
            assert_eq!(found, expected);
            other.clear();
            assert!(other.values.iter().all(|&value| value == 0.0) && other.filled == 0);
        }
    }
}
