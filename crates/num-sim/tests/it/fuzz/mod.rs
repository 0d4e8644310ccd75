//! Fuzzing on stable Rust: damaged problems, snapshots, topologies, traces and simulations end in an error or in a
//! valid result, in time, and never in a panic.
//!
//! ```sh
//! cargo test -p netnum-sim --test it fuzz                                      # the corpus as it is
//! NETNUM_FUZZ_SECONDS=600 cargo test -p netnum-sim --test it fuzz -- --ignored --nocapture
//! ```
//!
//! What is found is written to `target/fuzz`; mended, it belongs in the folder of its target in `tests/fuzz/corpus`.

mod driver;
mod mutate;
mod targets;

use targets::{ALLOCATORS, PROBLEMS, SIMULATIONS, TARGETS, TOPOLOGIES, TRACES};

#[test]
fn the_corpus_ends_in_errors_or_answers() {
    TARGETS.iter().for_each(|target| target.replay());
}

#[test]
#[ignore = "slow"]
fn damaged_problems() {
    PROBLEMS.fuzz();
}

#[test]
#[ignore = "slow"]
fn damaged_allocators() {
    ALLOCATORS.fuzz();
}

#[test]
#[ignore = "slow"]
fn damaged_topologies() {
    TOPOLOGIES.fuzz();
}

#[test]
#[ignore = "slow"]
fn damaged_traces() {
    TRACES.fuzz();
}

#[test]
#[ignore = "slow"]
fn damaged_simulations() {
    SIMULATIONS.fuzz();
}
