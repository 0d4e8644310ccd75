//! One iteration of NED, beside the loop that anyone would write first, on the seven sizes of Flowtune's table.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench price_step             # about a minute
//! cargo bench -p netnum-benches --bench price_step -- 12288    # one row
//! ```
//!
//! Both sides are f64 on one thread, start at the same prices, and are checked to move them equally before anything is
//! timed. The arrays are hot: an allocator runs one iteration after the other. The table at the end shows the medians
//! of the samples that criterion sees, in cycles of the clock that was measured in the same run. Flowtune's figures
//! are the published ones: cycles of all its cores together per flow, on hardware of 2011, with F-NORM and with the
//! exchange between cores. They say how large an iteration was then, not what either machine could do now.

mod common;
mod naive;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use common::{Instance, Plan, ROWS, Row};
use criterion::{BenchmarkId, Criterion};
use naive::Naive;
use netnum_core::Solver;

/// The step of the paper's experiments.
const GAMMA: f64 = 0.4;

const PLAN: Plan = Plan { warm_up: Duration::from_millis(300), measure: Duration::from_millis(1500), samples: 30 };

fn solver(instance: &Instance) -> Solver {
    let options = BTreeMap::from([("gamma".into(), GAMMA)]);
    Solver::new(&instance.log(), "ned", &options).expect("log utility suits NED")
}

fn naive(instance: &Instance) -> Naive {
    Naive::new(&instance.log(), solver(instance).prices())
}

/// U = w log x asks for w/q, which falls by w/q² per unit of price.
fn step(naive: &mut Naive, weights: &[f64]) {
    naive.step(GAMMA, |flow, price| (weights[flow] / price, weights[flow] / (price * price)));
}

/// A faster loop is worth something only if it computes the same.
fn assert_that_both_agree(instance: &Instance) {
    let (mut solver, mut naive) = (solver(instance), naive(instance));
    for iteration in 1..=10 {
        solver.step(1).expect("NED does not fail");
        step(&mut naive, &instance.weights);
        let prices = solver.prices();
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
    netnum: Option<f64>,
    naive: Option<f64>,
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
    let mut solver = solver(&instance);
    let netnum = common::measure(criterion, "price_step", id("netnum"), PLAN, |count| {
        let began = Instant::now();
        for _ in 0..count {
            solver.step(1).expect("NED does not fail");
        }
        began.elapsed()
    });
    Measured { row, netnum, naive }
}

fn print_table(measured: &[Measured], [before, after]: [f64; 2]) {
    let gigahertz = before.max(after);
    println!("One iteration of NED (γ = {GAMMA}, log utility, 4 links a flow, f64, one thread); medians.");
    println!("Cycles of a clock of {gigahertz:.2} GHz, measured in this run: {before:.2} before, {after:.2} after.\n");
    println!(
        "{:>5} {:>6} │ {:^26} │ {:^26} │ {:^5} │ {:^24}",
        "", "", "naive loop", "netnum", "", "Flowtune, as published"
    );
    println!(
        "{:>5} {:>6} │ {:>8} {:>8} {:>8} │ {:>8} {:>8} {:>8} │ {:>5} │ {:>5} {:>8} {:>8}",
        "nodes", "flows", "µs", "ns/f", "cycles/f", "µs", "ns/f", "cycles/f", "ratio", "cores", "µs", "cycles/f"
    );
    for Measured { row, netnum, naive } in measured {
        let side = |seconds: Option<f64>| {
            let Some(seconds) = seconds else { return format!("{:>8} {:>8} {:>8}", "–", "–", "–") };
            let per_flow = 1e9 * seconds / row.flows as f64;
            format!("{:>8.1} {per_flow:>8.2} {:>8.1}", 1e6 * seconds, per_flow * gigahertz)
        };
        let ratio = match (netnum, naive) {
            (Some(netnum), Some(naive)) => format!("{:.2}", naive / netnum),
            _ => "–".into(),
        };
        println!(
            "{:>5} {:>6} │ {} │ {} │ {ratio:>5} │ {:>5} {:>8.2} {:>8.0}",
            row.nodes,
            row.flows,
            side(*naive),
            side(*netnum),
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
        measured.into_iter().filter(|side| side.netnum.is_some() || side.naive.is_some()).collect();
    if !measured.is_empty() && !common::is_test() {
        print_table(&measured, [before, after]);
    }
}
