//! Derivatives of the optimum, beside one step of the interior point on the same problem.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench sensitivity                # about a minute
//! cargo bench -p netnum-benches --bench sensitivity -- 100000      # some of it
//! ```
//!
//! `new` refines a solution at the default tolerance and linearizes there; `reverse` is the derivative of one function
//! of rates and prices in all parameters. The step is a solve by the interior point to a gap of 1e−9, by its
//! iterations. The batch is 64 problems, each solved and its derivative taken. One thread, two for the batch.

mod common;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use common::{Instance, Plan};
use criterion::{BenchmarkId, Criterion};
use netnum_core::sensitivity::{AtKink, OutcomeChange, Sensitivity};
use netnum_core::{AlphaFair, Ask, KShortest, Problem, Settings, Solution, Solver, solve};
use rand::RngExt;

const PLAN: Plan = Plan { warm_up: Duration::from_millis(100), measure: Duration::from_millis(1000), samples: 10 };
/// Problems of the batch, and flows of each.
const BATCH: usize = 64;
const FLOWS: usize = 1000;

/// A problem by its name.
type Case = (&'static str, fn() -> Problem);

/// The networks, each constructed when it is measured.
const CASES: [Case; 6] = [
    ("leaf-spine, 100 flows", || Instance::fabric(100).log()),
    ("leaf-spine, 1000 flows", || Instance::fabric(1000).log()),
    ("leaf-spine, 10000 flows", || Instance::fabric(10_000).log()),
    ("leaf-spine, 100000 flows", || Instance::fabric(100_000).log()),
    ("leaf-spine, 100000 flows, mixed α", || Instance::fabric(100_000).mixed()),
    ("wide-area of 84 nodes, 1000 flows, 4 paths each", several_paths),
];

/// Flows over up to 4 short paths, with demands.
fn several_paths() -> Problem {
    let net = common::wide_area(84);
    let (sources, destinations) = net.random_pairs(1000, 1).expect("there are pairs");
    let (paths, group) =
        net.k_shortest_paths(&sources, &destinations, &KShortest::new(4)).expect("all nodes are joined");
    let mut rng = common::rng(5);
    let capacities = net.capacities().iter().map(|capacity| capacity * rng.random_range(0.8..1.2)).collect();
    let weights: Vec<f64> = sources.iter().map(|_| rng.random_range(0.5..1.5)).collect();
    let demands = sources.iter().map(|_| rng.random_range(0.1e9..20e9)).collect();
    let utility = AlphaFair::new(1.0, weights).expect("weights are positive");
    let problem = Problem::grouped(capacities, paths, group, utility).expect("the instance is well formed");
    problem.with_flow_caps(demands).expect("demands are positive")
}

/// A function of all rates and prices.
fn outcome(problem: &Problem) -> OutcomeChange {
    let mut rng = common::rng(6);
    let mut list = |count: usize| (0..count).map(|_| rng.random_range(-1.0..1.0)).collect();
    OutcomeChange { flow_rates: list(problem.flows()), prices: list(problem.links()), ..OutcomeChange::default() }
}

fn solved(problem: &Problem) -> Solution {
    solve(problem, &Ask::default()).expect("a solve does not fail")
}

struct Line {
    name: &'static str,
    /// Seconds, where measured.
    columns: [Option<f64>; 4],
}

fn measure(criterion: &mut Criterion, name: &'static str, problem: &Problem) -> Line {
    let (solution, outcome) = (solved(problem), outcome(problem));
    let mut time = |what: &str, routine: &mut dyn FnMut() -> f64| {
        common::measure(criterion, "sensitivity", BenchmarkId::new(what, name), PLAN, |count| {
            Duration::from_secs_f64((0..count).map(|_| routine()).sum())
        })
    };
    let seconds = |began: Instant| began.elapsed().as_secs_f64();
    let step = time("interior-point step", &mut || {
        let mut solver = Solver::new(problem, &Ask::by("interior-point")).expect("it takes the problem");
        let began = Instant::now();
        let solution = solver.run(&Settings::default().with_tol(1e-9), &mut ()).expect("a solve does not fail");
        seconds(began) / solution.iterations as f64
    });
    let solve = time("solve", &mut || {
        let began = Instant::now();
        let _ = black_box(solved(problem));
        seconds(began)
    });
    let new = time("new", &mut || {
        let began = Instant::now();
        black_box(Sensitivity::new(problem, &solution).expect("the optimum has derivatives"));
        seconds(began)
    });
    let mut sensitivity = Sensitivity::new(problem, &solution).expect("the optimum has derivatives");
    let reverse = time("reverse", &mut || {
        let began = Instant::now();
        black_box(sensitivity.reverse(std::slice::from_ref(&outcome), AtKink::Hold).expect("it has derivatives"));
        seconds(began)
    });
    Line { name, columns: [step, solve, new, reverse] }
}

/// 64 problems of one fabric with weights of their own: all of them solved, and the derivative of each.
fn measure_batch(criterion: &mut Criterion) -> Option<f64> {
    let instance = Instance::fabric(FLOWS);
    let mut rng = common::rng(7);
    let mut problem = || {
        let weights: Vec<f64> = (0..FLOWS).map(|_| rng.random_range(0.5..1.5)).collect();
        let utility = AlphaFair::new(1.0, weights).expect("weights are positive");
        Problem::new(instance.capacities.clone(), instance.paths.clone(), utility).expect("it is well formed")
    };
    let problems: Vec<Problem> = (0..BATCH).map(|_| problem()).collect();
    let (outcome, two) = (outcome(&problems[0]), NonZeroUsize::new(2).expect("not 0"));
    let ask = Ask::default();
    common::measure(criterion, "sensitivity", BenchmarkId::new("batch", "64 of 1000 flows"), PLAN, |count| {
        let began = Instant::now();
        for _ in 0..count {
            let solutions = netnum_parallel::solve_many(&problems, &ask, two).into_iter();
            let solutions: Vec<Solution> = solutions.collect::<Result<_, _>>().expect("a solve does not fail");
            let of: Vec<_> = problems.iter().zip(&solutions).map(|(one, solution)| (one, solution, &outcome)).collect();
            for found in netnum_parallel::reverse_many(&of, AtKink::Hold, two) {
                black_box(found.expect("the optimum has derivatives"));
            }
        }
        began.elapsed()
    })
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let lines: Vec<Line> = CASES.into_iter().map(|(name, problem)| measure(&mut criterion, name, &problem())).collect();
    let batch = measure_batch(&mut criterion);
    criterion.final_summary();
    if common::is_test() {
        return;
    }
    let ms = |seconds: &Option<f64>| seconds.map_or("–".into(), |seconds| format!("{:.3}", 1e3 * seconds));
    println!("\nMedians in ms, one core of {:.2} GHz.\n", common::gigahertz());
    println!("{:<48} {:>10} {:>10} {:>10} {:>10}", "problem", "IP step", "solve", "new", "reverse");
    for Line { name, columns } in lines.iter().filter(|line| line.columns.iter().any(Option::is_some)) {
        let [step, solve, new, reverse] = columns.each_ref().map(ms);
        println!("{name:<48} {step:>10} {solve:>10} {new:>10} {reverse:>10}");
    }
    println!("{BATCH} problems of {FLOWS} flows, solved and derivatives taken, two threads: {} ms", ms(&batch));
}
