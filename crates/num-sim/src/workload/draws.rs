//! Random numbers of a workload, which depend on nothing but its seed and what they are for.

#[cfg(doc)]
use netnum_core::Topology;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What is drawn from a seed, each from a separate stream: more flows, another load or other sizes leave the rest of
/// the draws alone, and a longer workload begins with the shorter one.
#[derive(Clone, Copy)]
pub(super) enum Draw {
    Gaps = 1,
    Pairs,
    Sizes,
    Production,
    OnOff,
}

/// The generator of one purpose. Streams are counted down from the last: the first ones are the routes' of
/// [`Topology::ecmp`], which may be given the same seed.
pub(super) fn rng(seed: u64, draw: Draw) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::MAX - draw as u64);
    rng
}
