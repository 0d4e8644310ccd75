//! A tick of the allocator beside the iteration with F-NORM of which it consists, and the cost of starts, ends and
//! updates.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench allocator    # about half a minute
//! ```
//!
//! NED with log utility in f64 on one thread, on the first and the last row of Flowtune's table. A start and its end
//! are timed in batches of 100; updates are timed at converged prices, when there are none. `4 paths` is a tick of the
//! same flows, each of which splits over the four spines.

mod common;

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use common::{Instance, Plan, ROWS, Row};
use criterion::{BenchmarkId, Criterion};
use netnum_core::price::Ned;
use netnum_core::{Normalization, Paths, PowerLaw};
use netnum_parallel::internal::Engine;
use netnum_parallel::{Allocator, AllocatorSettings, FlowPaths, Precision};

/// The step of the paper's experiments.
const GAMMA: f64 = 0.4;
/// Flows that start and end together.
const BATCH: usize = 100;

const PLAN: Plan = Plan { warm_up: Duration::from_millis(300), measure: Duration::from_millis(2000), samples: 40 };

fn allocator(instance: &Instance) -> Allocator {
    let (capacities, settings) = (instance.capacities.clone(), AllocatorSettings::default());
    let mut allocator =
        Allocator::new(capacities, Ned::new(GAMMA), settings, NonZeroUsize::MIN).expect("one thread is there");
    for (links, &weight) in instance.paths.iter().zip(&instance.weights) {
        allocator.start(links, PowerLaw::log(weight)).expect("the instance is well formed");
    }
    (0..100).for_each(|_| allocator.tick().expect("one thread is there"));
    allocator
}

fn split(row: &Row) -> Allocator {
    let (instance, group) = row.over_all_spines();
    let settings = AllocatorSettings::default();
    let mut allocator =
        Allocator::new(instance.capacities, Ned::new(GAMMA), settings, NonZeroUsize::MIN).expect("one thread is there");
    let flows = FlowPaths::grouped(&instance.paths, &group).expect("every flow has paths");
    let laws: Vec<PowerLaw> = instance.weights.iter().map(|&weight| PowerLaw::log(weight)).collect();
    allocator.start_all(flows, &laws).expect("the instance is well formed");
    (0..100).for_each(|_| allocator.tick().expect("one thread is there"));
    allocator
}

fn engine(instance: &Instance) -> Engine {
    let (capacities, paths) = (instance.capacities.clone(), &instance.paths);
    let mut engine = Engine::new(capacities, paths, Ned::new(GAMMA), Precision::F64, NonZeroUsize::MIN)
        .expect("one thread is there");
    for (links, &weight) in paths.iter().zip(&instance.weights) {
        engine.start(links, PowerLaw::log(weight)).expect("the instance is well formed");
    }
    (0..100).for_each(|_| engine.step().expect("flows of one machine respond"));
    engine
}

fn time(count: u64, mut work: impl FnMut()) -> Duration {
    let began = Instant::now();
    (0..count).for_each(|_| work());
    began.elapsed()
}

struct Measured {
    flows: usize,
    iteration: Option<f64>,
    tick: Option<f64>,
    news: Option<f64>,
    /// Of one flow.
    start_and_end: Option<f64>,
    /// A tick where every flow has four paths.
    split: Option<f64>,
}

fn measure(criterion: &mut Criterion, row: &Row) -> Measured {
    let instance = &row.instance();
    let flows = instance.paths.len();
    let id = |name: &str| BenchmarkId::new(name, flows);
    let mut engine = engine(instance);
    let iteration = common::measure(criterion, "allocator", id("iteration"), PLAN, |count| {
        time(count, || {
            engine.step().expect("flows of one machine respond");
            engine.normalize(Normalization::FNorm);
        })
    });
    let mut allocator = allocator(instance);
    let tick = common::measure(criterion, "allocator", id("tick"), PLAN, |count| {
        time(count, || allocator.tick().expect("one thread is there"))
    });
    let _ = allocator.updates();
    let news = common::measure(criterion, "allocator", id("updates"), PLAN, |count| {
        time(count, || assert!(allocator.updates().is_empty()))
    });
    let batch = Paths::from_lists((0..BATCH).map(|flow| instance.paths.links(7 * flow % flows)));
    let worths: Vec<PowerLaw> = (0..BATCH).map(|flow| PowerLaw::log(instance.weights[flow])).collect();
    let start_and_end = common::measure(criterion, "allocator", id("100 starts and ends"), PLAN, |count| {
        time(count, || {
            let ids = allocator.start_all(&batch, &worths).expect("the instance is well formed");
            allocator.end_all(&ids).expect("they have just started");
        })
    });
    let mut splits = split(row);
    let split = common::measure(criterion, "allocator", id("tick, 4 paths"), PLAN, |count| {
        time(count, || splits.tick().expect("one thread is there"))
    });
    let start_and_end = start_and_end.map(|seconds| seconds / BATCH as f64);
    Measured { flows, iteration, tick, news, start_and_end, split }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let measured: Vec<Measured> = [&ROWS[0], &ROWS[6]].map(|row| measure(&mut criterion, row)).into();
    criterion.final_summary();
    if common::is_test() || measured.iter().all(|side| side.tick.is_none()) {
        return;
    }
    println!("NED (γ = {GAMMA}) with F-NORM, log utility, f64, one thread; medians, µs; a start and its end, ns.\n");
    println!(
        "{:>7} │ {:>9} {:>9} {:>6} │ {:>9} │ {:>9} │ {:>9} {:>6}",
        "flows", "iteration", "tick", "ratio", "updates", "start+end", "4 paths", "ratio"
    );
    for Measured { flows, iteration, tick, news, start_and_end, split } in measured {
        let side =
            |seconds: Option<f64>, unit: f64| seconds.map_or("–".into(), |seconds| format!("{:.1}", unit * seconds));
        let ratio = tick.zip(iteration).map_or("–".into(), |(tick, iteration)| format!("{:.2}", tick / iteration));
        let of_tick = split.zip(tick).map_or("–".into(), |(split, tick)| format!("{:.2}", split / tick));
        println!(
            "{flows:>7} │ {:>9} {:>9} {ratio:>6} │ {:>9} │ {:>9} │ {:>9} {of_tick:>6}",
            side(iteration, 1e6),
            side(tick, 1e6),
            side(news, 1e6),
            side(start_and_end, 1e9),
            side(split, 1e6)
        );
    }
}
