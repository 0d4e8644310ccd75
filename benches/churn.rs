//! One flow replaced by another, at random, in an engine: the cost of an end and a start.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench churn             # about a minute
//! cargo bench -p netnum-benches --bench churn -- 49152    # one size
//! ```
//!
//! The flow that ends, and the path and the weight of the one that starts, are drawn beforehand. The baseline is the
//! simplest bookkeeping, without columns and without ids: a vector of paths, each a vector, and a vector of weights,
//! with `swap_remove` and `push`. Both start with the same flows. Before anything is timed, the engine is checked to
//! compute the same as one that had the remaining flows from the beginning. Paths have 4 links, those of 1 000 000
//! flows also 2; f64, one thread. The table at the end shows medians of criterion's samples.

mod common;
mod naive;

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use common::{Instance, Plan, ROWS};
use criterion::{BenchmarkId, Criterion};
use naive::Naive;
use netnum_core::PowerLaw;
use netnum_core::price::Ned;
use netnum_core::{AlphaFair, Paths, Problem};
use netnum_parallel::internal::Engine;
use netnum_parallel::{FlowId, Precision};
use rand::RngExt;

/// The step of the paper's experiments.
const GAMMA: f64 = 0.4;

/// At least this many replacements are drawn beforehand, and two for each flow. They are used cyclically.
const DRAWN: usize = 1 << 16;

const PLAN: Plan = Plan { warm_up: Duration::from_millis(500), measure: Duration::from_millis(2000), samples: 40 };

/// One flow ends, another starts.
struct Replacement {
    /// The place of the one that ends.
    ends: u32,
    /// The other's links: `links[..count]`.
    links: [u32; 4],
    count: u32,
    weight: f64,
}

impl Replacement {
    /// The one that starts has the path length and weight of a random one of the instance.
    fn draw(instance: &Instance) -> Vec<Self> {
        let (flows, mut rng) = (instance.paths.len(), common::rng(5));
        let mut draw = || {
            let (ends, like) = (rng.random_range(0..flows as u32), rng.random_range(0..flows));
            let (path, mut links) = (instance.paths.links(like), [0; 4]);
            links[..path.len()].copy_from_slice(path);
            Self { ends, links, count: path.len() as u32, weight: instance.weights[like] }
        };
        (0..DRAWN.max(2 * flows)).map(|_| draw()).collect()
    }

    fn path(&self) -> &[u32] {
        &self.links[..self.count as usize]
    }
}

/// An engine, and the ids of its flows.
struct Flows {
    engine: Engine,
    ids: Vec<FlowId>,
}

impl Flows {
    fn new(instance: &Instance) -> Self {
        let (capacities, paths) = (instance.capacities.clone(), &instance.paths);
        let mut engine = Engine::new(capacities, paths, Ned::new(GAMMA), Precision::F64, NonZeroUsize::MIN)
            .expect("one thread is there");
        let flows = paths.iter().zip(&instance.weights);
        let mut add =
            |(links, &weight)| engine.start(links, PowerLaw::log(weight)).expect("the instance is well formed");
        Self { ids: flows.map(&mut add).collect(), engine }
    }

    fn replace(&mut self, replacement: &Replacement) {
        let id = &mut self.ids[replacement.ends as usize];
        self.engine.end(*id).expect("it is there");
        *id = self
            .engine
            .start(replacement.path(), PowerLaw::log(replacement.weight))
            .expect("the instance is well formed");
    }
}

/// Flows in vectors.
struct Vectors {
    paths: Vec<Vec<u32>>,
    weights: Vec<f64>,
}

impl Vectors {
    fn new(instance: &Instance) -> Self {
        Self { paths: instance.paths.iter().map(<[u32]>::to_vec).collect(), weights: instance.weights.clone() }
    }

    fn replace(&mut self, replacement: &Replacement) {
        self.paths.swap_remove(replacement.ends as usize);
        self.weights.swap_remove(replacement.ends as usize);
        self.paths.push(replacement.path().to_vec());
        self.weights.push(replacement.weight);
    }
}

/// After many replacements, loads are those of an engine that had the remaining flows from the beginning.
fn assert_that_nothing_is_lost(instance: &Instance, replacements: &[Replacement]) {
    let mut flows = Flows::new(instance);
    let mut paths: Vec<&[u32]> = instance.paths.iter().collect();
    let mut weights = instance.weights.clone();
    for replacement in replacements {
        flows.replace(replacement);
        let ends = replacement.ends as usize;
        (paths[ends], weights[ends]) = (replacement.path(), replacement.weight);
    }
    flows.engine.step().expect("flows of one machine respond");
    let utility = AlphaFair::new(1.0, weights.clone()).expect("weights are positive");
    let problem = Problem::new(instance.capacities.clone(), Paths::from_lists(&paths), utility);
    let problem = problem.expect("the instance is well formed");
    let mut naive = Naive::new(&problem, vec![1.0; problem.links()]);
    naive.step(GAMMA, |flow, price| (weights[flow] / price, weights[flow] / (price * price)));
    for (link, (price, other)) in flows.engine.links.prices().iter().zip(naive.prices()).enumerate() {
        assert!((price - other).abs() <= 1e-9 * other.max(1.0), "link {link}: {price:e} and {other:e}");
    }
    for (flow, &id) in flows.ids.iter().enumerate() {
        let (rate, other) = (flows.engine.rate(id).expect("it is there"), naive.rates()[flow]);
        assert!((rate - other).abs() <= 1e-9 * other, "flow {flow}: {rate:e} and {other:e}");
    }
}

/// The time that `count` replacements take.
fn time(count: u64, replacements: &[Replacement], mut replace: impl FnMut(&Replacement)) -> Duration {
    let began = Instant::now();
    replacements.iter().cycle().take(count as usize).for_each(&mut replace);
    began.elapsed()
}

/// Seconds per replacement, where measured.
struct Measured {
    flows: usize,
    vectors: Option<f64>,
    engine: Option<f64>,
}

fn measure(criterion: &mut Criterion, instance: &Instance) -> Measured {
    let (flows, replacements) = (instance.paths.len(), Replacement::draw(instance));
    assert_that_nothing_is_lost(instance, &replacements);
    let id = |name: &str| BenchmarkId::new(name, flows);
    let mut vectors = Vectors::new(instance);
    let vectors = common::measure(criterion, "churn", id("vectors"), PLAN, |count| {
        time(count, &replacements, |replacement| vectors.replace(replacement))
    });
    let mut engine = Flows::new(instance);
    let engine = common::measure(criterion, "churn", id("engine"), PLAN, |count| {
        time(count, &replacements, |replacement| engine.replace(replacement))
    });
    Measured { flows, vectors, engine }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let instances = [ROWS[0].instance(), ROWS[6].instance(), Instance::growing(1_000_000)];
    let measured: Vec<Measured> = instances.iter().map(|instance| measure(&mut criterion, instance)).collect();
    criterion.final_summary();
    if common::is_test() || measured.iter().all(|side| side.vectors.is_none() && side.engine.is_none()) {
        return;
    }
    println!("A random flow replaced by another (log utility, f64, one thread); medians, ns.\n");
    println!("{:>8} │ {:>7} │ {:>7} {:>6}", "flows", "vectors", "engine", "ratio");
    for Measured { flows, vectors, engine } in measured {
        let side = |seconds: Option<f64>| seconds.map_or("–".into(), |seconds| format!("{:.1}", 1e9 * seconds));
        let ratio = vectors.zip(engine).map_or("–".into(), |(vectors, engine)| format!("{:.2}", vectors / engine));
        println!("{flows:>8} │ {:>7} │ {:>7} {ratio:>6}", side(vectors), side(engine));
    }
}
