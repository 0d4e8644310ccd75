//! One step of the engine by one thread, by two, and by as many as there are cores.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench threads    # about half a minute
//! ```
//!
//! NED with log utility in f64, on the largest row of Flowtune's table and on 1 000 000 flows; the answer has the same
//! bits for every number of threads, which is checked before anything is timed. The delay between two cores differs
//! between machines and runs, so that times are shown with their spread.

mod common;

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use common::{Instance, Plan, ROWS, Spread};
use criterion::{BenchmarkId, Criterion};
use netnum_core::PowerLaw;
use netnum_core::price::Ned;
use netnum_parallel::Precision;
use netnum_parallel::internal::Engine;

/// The step of the paper's experiments.
const GAMMA: f64 = 0.4;

const PLAN: Plan = Plan { warm_up: Duration::from_millis(500), measure: Duration::from_millis(2500), samples: 50 };

fn engine(instance: &Instance, threads: NonZeroUsize) -> Engine {
    let (capacities, paths) = (instance.capacities.clone(), &instance.paths);
    let mut engine =
        Engine::new(capacities, paths, Ned::new(GAMMA), Precision::F64, threads).expect("there are threads");
    for (links, &weight) in paths.iter().zip(&instance.weights) {
        engine.start(links, PowerLaw::log(weight)).expect("the instance is well formed");
    }
    engine
}

fn assert_the_same_bits(instance: &Instance, numbers: &[NonZeroUsize]) {
    let prices = |&threads: &NonZeroUsize| {
        let mut engine = engine(instance, threads);
        (0..5).for_each(|_| engine.step().expect("flows of one machine respond"));
        engine.links.prices().iter().map(|price| price.to_bits()).collect::<Vec<_>>()
    };
    let one = prices(&NonZeroUsize::MIN);
    for threads in numbers {
        assert!(prices(threads) == one, "{threads} threads");
    }
}

/// 1, 2, and as many as there are cores.
fn numbers_of_threads() -> Vec<NonZeroUsize> {
    let two = NonZeroUsize::new(2).expect("not 0");
    let cores = std::thread::available_parallelism().unwrap_or(two);
    let mut numbers = vec![NonZeroUsize::MIN, two, two.max(cores)];
    numbers.dedup();
    numbers
}

/// The measurements with one number of threads.
struct Measured {
    threads: NonZeroUsize,
    /// One step, by instance.
    steps: Vec<Option<Spread>>,
}

fn measure(criterion: &mut Criterion, threads: NonZeroUsize, instances: &[(&str, Instance)]) -> Measured {
    let name = if threads == NonZeroUsize::MIN { "1 thread".into() } else { format!("{threads} threads") };
    let id = |what: &str| BenchmarkId::new(&name, what);
    let mut step = |(size, instance): &(&str, Instance)| {
        let mut engine = engine(instance, threads);
        common::spread(criterion, "threads", id(size), PLAN, |count| {
            let began = Instant::now();
            (0..count).for_each(|_| engine.step().expect("flows of one machine respond"));
            began.elapsed()
        })
    };
    Measured { threads, steps: instances.iter().map(&mut step).collect() }
}

fn print_table(instances: &[(&str, Instance)], measured: &[Measured]) {
    let spread = |spread: Option<Spread>, unit: f64| match spread {
        Some(Spread { least, median, most }) => {
            format!("{:>8.2} {:>8.2} {:>8.2}", unit * least, unit * median, unit * most)
        }
        None => format!("{:>8} {:>8} {:>8}", "–", "–", "–"),
    };
    println!(
        "One step of NED (γ = {GAMMA}, log utility, f64): least, median and largest of the samples; ratio of medians.\n"
    );
    println!("{:>22} {:>7} │ {:^26} {:>6}", "nodes x flows", "threads", "step, µs", "ratio");
    for (number, (size, _)) in instances.iter().enumerate() {
        let one = measured[0].steps[number];
        for Measured { threads, steps } in measured {
            let step = steps[number];
            let ratio = one.zip(step).map_or("–".into(), |(one, step)| format!("{:.2}", one.median / step.median));
            println!("{size:>22} {threads:>7} │ {} {ratio:>6}", spread(step, 1e6));
        }
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let instances = [("4608x49152", ROWS[6].instance()), ("16384x1000000", Instance::growing(1_000_000))];
    let numbers = numbers_of_threads();
    for (_, instance) in &instances {
        assert_the_same_bits(instance, &numbers[1..]);
    }
    let measured: Vec<Measured> = numbers.iter().map(|&threads| measure(&mut criterion, threads, &instances)).collect();
    criterion.final_summary();
    if !common::is_test() && measured.iter().any(|of| of.steps.iter().any(Option::is_some)) {
        print_table(&instances, &measured);
    }
}
