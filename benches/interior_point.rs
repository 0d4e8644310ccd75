//! The interior point to a proven gap of 1e−9, beside fast NED, on the networks that it is meant for.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench interior_point                 # about a minute
//! cargo bench -p netnum-benches --bench interior_point -- leaf-spine   # some of it
//! ```
//!
//! A solve begins with a checked `Problem` and ends with a proven `Solution`. Fast NED on the same problem, to the same
//! certificate, is the baseline: the time of first-order steps. Other solvers are in `benches/peers.py`. One thread.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::{Instance, Plan};
use criterion::{BenchmarkId, Criterion};
use netnum_core::{Ask, Problem, Settings, Solution, Solver, Status, Stop};

const PLAN: Plan = Plan { warm_up: Duration::from_millis(100), measure: Duration::from_millis(1000), samples: 10 };

const TOLERANCE: f64 = 1e-9;

fn solve(problem: &Problem, method: &str, tol: f64) -> Solution {
    let mut solver = Solver::new(problem, &Ask::by(method)).expect("the method takes the problem");
    solver.run(&Settings::default().with_tol(tol).with_stop(Stop::Gap), &mut ()).expect("a solve does not fail")
}

/// One method on one problem, where measured.
struct Measured {
    seconds: Option<f64>,
    iterations: usize,
}

fn measure(criterion: &mut Criterion, name: &str, problem: &Problem, method: &str, tol: f64) -> Measured {
    let mut iterations = 0;
    let seconds = common::measure(criterion, "interior_point", BenchmarkId::new(method, name), PLAN, |count| {
        let began = Instant::now();
        for _ in 0..count {
            let solution = black_box(solve(problem, method, tol));
            assert_eq!(solution.status, Status::Optimal, "{name} by {method}: {solution}");
            iterations = solution.iterations;
        }
        began.elapsed()
    });
    Measured { seconds, iterations }
}

/// The networks, each constructed when it is measured.
type Case = (&'static str, fn() -> Problem, f64);

const CASES: [Case; 10] = [
    ("leaf-spine 9x16x4, 1000 flows", || Instance::fabric(1000).log(), TOLERANCE),
    ("leaf-spine 9x16x4, 10000 flows", || Instance::fabric(10_000).log(), TOLERANCE),
    ("leaf-spine 9x16x4, 100000 flows", || Instance::fabric(100_000).log(), TOLERANCE),
    ("leaf-spine 9x16x4, 100000 flows, mixed α", || Instance::fabric(100_000).mixed(), TOLERANCE),
    ("fat-tree k=16, 10000 flows", || Instance::large_fat_tree(10_000).log(), TOLERANCE),
    ("wide-area of 84 nodes, 5000 flows", || Instance::wide_area(84, 5000).log(), TOLERANCE),
    ("wide-area of 400 nodes, 5000 flows", || Instance::wide_area(400, 5000).log(), TOLERANCE),
    ("scattered, 100000 flows, 1e-3", || Instance::scattered(100_000).log(), 1e-3),
    ("scattered, 100000 flows, 1e-6", || Instance::scattered(100_000).log(), 1e-6),
    ("scattered, 100000 flows, 1e-9", || Instance::scattered(100_000).log(), TOLERANCE),
];

fn print_header(gigahertz: f64) {
    println!("To a proven gap of 1e-9 unless said, one thread of {gigahertz:.2} GHz; medians in ms (iterations).\n");
    println!("{:<42} {:>6} │ {:>16} │ {:>16} │ {:>5}", "problem", "links", "interior point", "fast NED", "ratio");
}

fn print_line(name: &str, links: usize, ours: &Measured, baseline: &Measured) {
    let ms = |side: &Measured| match side.seconds {
        Some(seconds) => format!("{:.3} ({})", 1e3 * seconds, side.iterations),
        None => "–".into(),
    };
    let ratio = baseline.seconds.zip(ours.seconds).map_or("–".into(), |(one, other)| format!("{:.2}", one / other));
    println!("{name:<42} {links:>6} │ {:>16} │ {:>16} │ {ratio:>5}", ms(ours), ms(baseline));
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut lines = Vec::new();
    for (name, problem, tol) in CASES {
        let problem = problem();
        let ours = measure(&mut criterion, name, &problem, "interior-point", tol);
        let baseline = measure(&mut criterion, name, &problem, "fast-ned", tol);
        if ours.seconds.or(baseline.seconds).is_some() {
            lines.push((name, problem.links(), ours, baseline));
        }
    }
    criterion.final_summary();
    if !lines.is_empty() && !common::is_test() {
        print_header(common::gigahertz());
        lines.iter().for_each(|(name, links, ours, baseline)| print_line(name, *links, ours, baseline));
    }
}
