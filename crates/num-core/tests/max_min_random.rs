//! Max-min over several paths on problems drawn at random: hard numbers, degenerate networks, networks of real size.

mod common;

use std::sync::Arc;

use netnum_core::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Rng = ChaCha8Rng;

/// What is drawn: over how many decades weights and capacities, and what else.
#[derive(Debug, Clone, Copy)]
struct Kind {
    weights: f64,
    capacities: f64,
    caps: bool,
    curves: bool,
    failures: bool,
    /// All capacities equal, and paths along a chain.
    chain: bool,
}

const PLAIN: Kind = Kind { weights: 1.0, capacities: 1.0, caps: false, curves: false, failures: false, chain: false };

fn decades(rng: &mut Rng, span: f64) -> f64 {
    10f64.powf(span * (rng.random_range(0.0..1.0) - 0.5))
}

fn curve(rng: &mut Rng, scale: f64) -> BandwidthFunction {
    let (mut f, mut b) = (if rng.random_bool(0.3) { 0.5 } else { 0.0 }, 0.0);
    let mut points = vec![(f, b)];
    for _ in 0..rng.random_range(1..5) {
        f += if rng.random_bool(0.1) { 1e-9 } else { rng.random_range(0.1..3.0) };
        b += if rng.random_bool(0.3) { 0.0 } else { rng.random_range(0.1..10.0) * scale };
        points.push((f, b));
    }
    let tail = if b == 0.0 || rng.random_bool(0.5) { scale } else { 0.0 };
    let (f, b): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    BandwidthFunction::new(&f, &b, f64::INFINITY, tail).unwrap()
}

fn draw(kind: Kind, rng: &mut Rng) -> Problem {
    let links = rng.random_range(1..14usize);
    let capacity = |rng: &mut Rng| match () {
        () if kind.failures && rng.random_bool(0.1) => 0.0,
        () if kind.chain => 1.0,
        () if rng.random_bool(0.2) => f64::from(rng.random_range(1..6u32)),
        () => decades(rng, kind.capacities),
    };
    let capacities: Vec<f64> = (0..links).map(|_| capacity(rng)).collect();
    let flows = rng.random_range(1..30usize);
    let (mut paths, mut group, mut caps) = (Paths::from_lists::<[u32; 0]>([]), Vec::new(), Vec::new());
    for flow in 0..flows as u32 {
        for _ in 0..rng.random_range(1..5) {
            let path: Vec<u32> = if kind.chain {
                let first = rng.random_range(0..links);
                (first..rng.random_range(first + 1..=links)).map(|link| link as u32).collect()
            } else {
                let mut all: Vec<u32> = (0..links as u32).collect();
                for place in 0..links {
                    all.swap(place, rng.random_range(place..links));
                }
                all.truncate(rng.random_range(1..=links.min(5)));
                all
            };
            paths.push(&path);
            group.push(flow);
            let capped = kind.caps && rng.random_bool(0.3);
            caps.push(if capped { decades(rng, kind.capacities + 1.0) } else { f64::INFINITY });
        }
    }
    let equal = rng.random_bool(0.2);
    let utility = |rng: &mut Rng| -> Arc<dyn Utility> {
        if kind.curves && rng.random_bool(0.6) {
            let scale = decades(rng, kind.capacities);
            return Arc::new(curve(rng, scale));
        }
        let weight = if equal { 1.0 } else { decades(rng, kind.weights) };
        Arc::new(AlphaFair::new(f64::INFINITY, weight).unwrap())
    };
    let utilities: Vec<_> = (0..flows).map(|_| utility(rng)).collect();
    Problem::grouped(capacities, paths, group, utilities).unwrap().with_rate_caps(caps).unwrap()
}

#[test]
#[ignore = "explore"]
fn explore() {
    let count: u64 = std::env::var("COUNT").map_or(1000, |text| text.parse().unwrap());
    for (name, kind) in [
        ("plain", PLAIN),
        ("chain", Kind { chain: true, ..PLAIN }),
        ("chain caps", Kind { chain: true, caps: true, weights: 4.0, ..PLAIN }),
        ("caps failures", Kind { caps: true, failures: true, capacities: 2.0, weights: 2.0, ..PLAIN }),
        ("curves", Kind { curves: true, caps: true, failures: true, ..PLAIN }),
        ("w4 c4", Kind { weights: 4.0, capacities: 4.0, caps: true, ..PLAIN }),
        ("w8", Kind { weights: 8.0, ..PLAIN }),
        ("w8 chain", Kind { weights: 8.0, chain: true, ..PLAIN }),
        ("c8", Kind { capacities: 8.0, ..PLAIN }),
        ("curves c4", Kind { curves: true, caps: true, capacities: 4.0, weights: 4.0, ..PLAIN }),
        ("w12 c6", Kind { weights: 12.0, capacities: 6.0, caps: true, failures: true, ..PLAIN }),
        ("w12 c6 curves", Kind { weights: 12.0, capacities: 6.0, caps: true, curves: true, failures: true, ..PLAIN }),
        ("c12", Kind { capacities: 12.0, caps: true, ..PLAIN }),
        ("w12", Kind { weights: 12.0, ..PLAIN }),
    ] {
        let (mut not, mut worst, mut seconds) = (Vec::new(), 0.0f64, 0.0f64);
        for seed in 0..count {
            let problem = draw(kind, &mut Rng::seed_from_u64(seed));
            let solution = solve(&problem, &Settings::default()).unwrap();
            seconds = seconds.max(solution.seconds);
            worst = worst.max(solution.certificate.relative_gap);
            if solution.status != Status::Optimal {
                not.push((seed, solution.certificate.relative_gap));
            }
            assert!(solution.rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0));
        }
        println!(
            "{name}: not optimal {} of {count}, worst {worst:.1e}, slowest {seconds:.3}: {:?}",
            not.len(),
            &not[..not.len().min(6)]
        );
    }
}
