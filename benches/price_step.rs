//! One iteration of NED, beside the naive loop, on the seven sizes of Flowtune's table.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench price_step             # about a minute
//! cargo bench -p netnum-benches --bench price_step -- 12288    # one row
//! ```
//!
//! All variants run on one thread and start at the same prices, and those in f64 are checked to move them equally
//! before they are timed. The arrays are in the cache, as in an allocator that runs one iteration after the other. The
//! table at the end shows medians of criterion's samples, in cycles of the clock that was measured in the same run.
//! Flowtune's figures are the published ones: cycles per flow of all its cores together, on hardware of 2011, with
//! F-NORM and with the exchange between cores. They show the size of an iteration then, and compare no machines.

mod common;
mod naive;

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use common::{Instance, Plan, ROWS, Row};
use criterion::{BenchmarkId, Criterion};
use naive::Naive;
use netnum_core::price::Ned;
use netnum_core::{Ask, Normalization, PowerLaw, Solver};
use netnum_parallel::Precision;
use netnum_parallel::internal::Engine;

/// The step of the paper's experiments.
const GAMMA: f64 = 0.4;

const PLAN: Plan = Plan { warm_up: Duration::from_millis(300), measure: Duration::from_millis(1500), samples: 30 };

fn solver(instance: &Instance) -> Solver {
    Solver::new(&instance.log(), &Ask::by("ned").with_option("gamma", GAMMA)).expect("log utility suits NED")
}

fn engine(instance: &Instance, precision: Precision) -> Engine {
    let (capacities, paths) = (instance.capacities.clone(), &instance.paths);
    let mut engine =
        Engine::new(capacities, paths, Ned::new(GAMMA), precision, NonZeroUsize::MIN).expect("one thread is there");
    for (links, &weight) in paths.iter().zip(&instance.weights) {
        engine.start(links, PowerLaw::log(weight)).expect("the instance is well formed");
    }
    engine.links.set_prices(&solver(instance).prices()).expect("prices are finite");
    engine
}

fn step_engine(engine: &mut Engine) {
    engine.step().expect("flows of one machine respond");
}

fn naive(instance: &Instance) -> Naive {
    Naive::new(&instance.log(), solver(instance).prices())
}

/// U = w log x demands w/q, which falls by w/q² per unit of price.
fn step(naive: &mut Naive, weights: &[f64]) {
    naive.step(GAMMA, |flow, price| (weights[flow] / price, weights[flow] / (price * price)));
}

/// All variants compute the same prices.
fn assert_that_both_agree(instance: &Instance) {
    let (mut engine, mut naive) = (engine(instance, Precision::F64), naive(instance));
    for iteration in 1..=10 {
        engine.step().expect("flows of one machine respond");
        step(&mut naive, &instance.weights);
        let prices = engine.links.prices();
        let dearest = prices.iter().copied().fold(0.0, f64::max);
        for (link, (price, other)) in prices.iter().zip(naive.prices()).enumerate() {
            let difference = (price - other).abs() / dearest;
            assert!(difference <= 1e-9, "link {link}, iteration {iteration}: {price:e} and {other:e}");
        }
    }
}

/// Seconds per iteration, where measured.
struct Measured {
    row: &'static Row,
    naive: Option<f64>,
    wide: Option<f64>,
    normalized: Option<f64>,
    narrow: Option<f64>,
}

fn measure(criterion: &mut Criterion, row: &'static Row) -> Measured {
    let instance = row.instance();
    assert_that_both_agree(&instance);
    let size = format!("{}x{}", row.nodes, row.flows);
    let id = |name: &str| BenchmarkId::new(name, &size);

    let mut baseline = naive(&instance);
    let naive = common::measure(criterion, "price_step", id("naive"), PLAN, |count| {
        let began = Instant::now();
        for _ in 0..count {
            step(&mut baseline, &instance.weights);
        }
        began.elapsed()
    });
    let wide = repeat(criterion, id("f64"), engine(&instance, Precision::F64), step_engine);
    let normalized = repeat(criterion, id("f64, F-NORM"), engine(&instance, Precision::F64), |engine| {
        step_engine(engine);
        engine.normalize(Normalization::FNorm);
    });
    let narrow = repeat(criterion, id("f32"), engine(&instance, Precision::F32), step_engine);
    Measured { row, naive, wide, normalized, narrow }
}

fn repeat(
    criterion: &mut Criterion,
    id: BenchmarkId,
    mut engine: Engine,
    iteration: impl Fn(&mut Engine),
) -> Option<f64> {
    common::measure(criterion, "price_step", id, PLAN, |count| {
        let began = Instant::now();
        (0..count).for_each(|_| iteration(&mut engine));
        began.elapsed()
    })
}

fn print_table(measured: &[Measured], [before, after]: [f64; 2]) {
    let gigahertz = before.max(after);
    println!(
        "One iteration of NED (γ = {GAMMA}, log utility, 4 links a flow, one thread); medians, µs | cycles per flow."
    );
    println!("Cycles of a clock of {gigahertz:.2} GHz, measured in this run: {before:.2} before, {after:.2} after.\n");
    println!(
        "{:>5} {:>6} │ {:^15} │ {:^15} {:^6} │ {:^15} │ {:^15} │ {:^23}",
        "nodes", "flows", "naive loop", "f64", "ratio", "with F-NORM", "f32", "Flowtune, as published"
    );
    for Measured { row, naive, wide, normalized, narrow } in measured {
        let side = |seconds: Option<f64>| {
            let Some(seconds) = seconds else { return format!("{:>7} | {:>5}", "–", "–") };
            format!("{:>7.1} | {:>5.1}", 1e6 * seconds, 1e9 * seconds / row.flows as f64 * gigahertz)
        };
        let ratio = naive.zip(*wide).map_or("–".into(), |(naive, wide)| format!("{:.2}", naive / wide));
        println!(
            "{:>5} {:>6} │ {} │ {} {ratio:>6} │ {} │ {} │ {:>2} cores {:>5.2} | {:>5.0}",
            row.nodes,
            row.flows,
            side(*naive),
            side(*wide),
            side(*normalized),
            side(*narrow),
            row.flowtune_cores,
            row.flowtune_us,
            row.flowtune_cycles_per_flow()
        );
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let before = common::gigahertz();
    let measured: Vec<Measured> = ROWS.iter().map(|row| measure(&mut criterion, row)).collect();
    let after = common::gigahertz();
    criterion.final_summary();
    let measured: Vec<Measured> =
        measured.into_iter().filter(|side| side.wide.is_some() || side.naive.is_some()).collect();
    if !measured.is_empty() && !common::is_test() {
        print_table(&measured, [before, after]);
    }
}
