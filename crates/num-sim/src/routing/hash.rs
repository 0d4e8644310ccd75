//! Which of P paths a hash of a flow's header picks, as if drawn at random: path i, in the order in which they are
//! listed, with the probability
//!
//! ```text
//! w_i = (1 + s (1 − 2i/(P − 1))) / P          from (1 + s)/P to (1 − s)/P
//! ```
//!
//! Switches whose hash is not ideal prefer some paths, the same ones for all flows: that is the skew s, 0 for none.
//! The flow's number and a value V that its sender may change are hashed: equal ones give equal paths.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};

/// The hash function of all switches.
#[derive(Debug, Clone)]
pub(super) struct Hash {
    rng: ChaCha8Rng,
    skew: f64,
}

/// Flow i has stream i after this one: the first are those of `Topology::ecmp`.
const STREAMS: u64 = 1 << 32;

impl Hash {
    /// One without a skew.
    pub(super) fn ideal(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), skew: 0.0 }
    }

    /// # Errors
    /// [`netnum_core::Error::Option`] for a skew outside 0…1, naming the routing.
    pub(super) fn new(routing: &str, seed: u64, skew: f64) -> Result<Self> {
        match (0.0..=1.0).contains(&skew) {
            true => Ok(Self { skew, ..Self::ideal(seed) }),
            false => Err(Error::option(&format!("routing {routing:?}"), "skew", skew, "a number from 0 to 1")),
        }
    }

    /// One of so many paths, at least one.
    pub(super) fn pick(&self, flow: usize, v: u32, paths: usize) -> usize {
        let last = paths - 1;
        let weight = |path: usize| (1.0 + self.skew * (1.0 - 2.0 * path as f64 / last as f64)) / paths as f64;
        self.pick_by(flow, v, (0..paths).map(weight))
    }

    /// One of some paths, at least one, by their probabilities.
    pub(super) fn pick_by(&self, flow: usize, v: u32, weights: impl ExactSizeIterator<Item = f64>) -> usize {
        let last = weights.len() - 1;
        if last == 0 {
            return 0;
        }
        let mut rng = self.rng.clone();
        rng.set_stream(STREAMS + flow as u64);
        // Two words of 32 bits make a number.
        rng.set_word_pos(2 * u128::from(v));
        let mut place: f64 = rng.random();
        let past = |weight: f64| {
            place -= weight;
            place < 0.0
        };
        weights.take(last).position(past).unwrap_or(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skew_is_what_it_says() {
        for (skew, expected) in [(0.0, [0.25; 4]), (0.5, [1.5 / 4.0, 3.5 / 12.0, 2.5 / 12.0, 0.5 / 4.0])] {
            let hash = Hash::new("ecmp", 3, skew).unwrap();
            let mut counts = [0.0f64; 4];
            for draw in 0..40_000 {
                counts[hash.pick(draw % 200, (draw / 200) as u32, 4)] += 1.0 / 40_000.0;
            }
            for (count, expected) in counts.iter().zip(expected) {
                assert!((count - expected).abs() < 0.01, "skew {skew}: {counts:?}");
            }
        }
    }

    #[test]
    fn the_same_goes_the_same_way() {
        let hash = Hash::new("ecmp", 9, 0.0).unwrap();
        let all = || (0..100).map(|flow| hash.pick(flow, 7, 8)).collect::<Vec<_>>();
        assert_eq!(all(), all());
        assert!((0..100).any(|flow| hash.pick(flow, 7, 8) != hash.pick(flow, 8, 8)));
    }
}
