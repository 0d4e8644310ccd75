//! Whole solves: from a problem to rates that are proven to be within 1e−3, 1e−6 and 1e−9 of the optimum.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench time_to_gap                  # some minutes
//! cargo bench -p netnum-benches --bench time_to_gap -- '1000 flows'  # some of it
//! FULL=1 cargo bench -p netnum-benches --bench time_to_gap -- growth # up to 10 000 000 flows
//! ```
//!
//! A solve begins with a checked `Problem` and ends with a `Solution`: presolve, first prices, iterations, certificates
//! and normalized rates all count. The baseline is the naive loop: NED as published, with the same γ = 0.4 as method
//! `ned`, a certificate every ten iterations, and first prices that are not counted. Runs that miss the gap within
//! their iterations are shown as such, with their last gap and their time, and criterion does not time them. One
//! thread.
//!
//! The group `growth` solves proportional fairness to 1e−6 by `auto` for growing numbers of flows: from a problem, and
//! from arrays, which includes the construction and the checks of the problem.

mod common;
mod naive;

use std::time::{Duration, Instant};

use common::{Instance, Plan};
use criterion::{BenchmarkId, Criterion};
use naive::Naive;
use netnum_core::{AlphaFair, Ask, Problem, Settings, Solver, Status, Stop, certify};

const TOLERANCES: [f64; 3] = [1e-3, 1e-6, 1e-9];

/// The step of NED in the paper's experiments; both loops use it.
const GAMMA: f64 = 0.4;

/// The naive loop tests its gap once in this many iterations.
const CERTIFY_EVERY: usize = 10;

/// The limit of a run: this many iterations times flows, or 500 iterations, so that a run that does not converge ends.
const FLOW_ITERATIONS: usize = 100_000_000;

/// Flows of the group `growth`; from [`TOO_MANY`] on only where `FULL` is set.
const GROWTH: [usize; 6] = [100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
const TOO_MANY: usize = 10_000_000;

const PLAN: Plan = Plan { warm_up: Duration::from_millis(100), measure: Duration::from_millis(500), samples: 10 };

/// How a run ended.
#[derive(Clone, Copy)]
struct Outcome {
    reached: bool,
    iterations: usize,
    gap: f64,
}

fn most_iterations(problem: &Problem) -> usize {
    (FLOW_ITERATIONS / problem.flows()).max(500)
}

fn solve(problem: &Problem, method: &str, tol: f64) -> Outcome {
    let settings = Settings::default().with_tol(tol).with_stop(Stop::Gap).with_max_iterations(most_iterations(problem));
    let mut solver = Solver::new(problem, &Ask::by(method)).expect("the method takes the problem");
    let solution = solver.run(&settings, &mut ()).expect("a solve does not fail");
    Outcome {
        reached: solution.status == Status::Optimal,
        iterations: solution.iterations,
        gap: solution.certificate.relative_gap,
    }
}

/// The naive loop on proportional fairness.
fn solve_naively(problem: &Problem, weights: &[f64], first_prices: &[f64], tol: f64) -> (Outcome, Naive, Vec<f64>) {
    let respond = |flow: usize, price: f64| (weights[flow] / price, weights[flow] / (price * price));
    let mut naive = Naive::new(problem, first_prices.to_vec());
    let mut iterations = 0;
    loop {
        for _ in 0..CERTIFY_EVERY {
            naive.step(GAMMA, respond);
        }
        iterations += CERTIFY_EVERY;
        let rates = naive.feasible_rates(respond);
        let gap = naive.log_gap(weights, &rates);
        if gap <= tol || iterations >= most_iterations(problem) {
            return (Outcome { reached: gap <= tol, iterations, gap }, naive, rates);
        }
    }
}

/// The naive loop's gap is that of netnum's certificate.
fn assert_that_certificates_agree(problem: &Problem, weights: &[f64], first_prices: &[f64]) {
    let (outcome, naive, rates) = solve_naively(problem, weights, first_prices, 1e-3);
    let gap = certify(problem, &rates, naive.prices()).expect("rates and prices are numbers").relative_gap;
    assert!((gap - outcome.gap).abs() <= 1e-6 * gap.abs() + 1e-12, "{gap:e} and {:e}", outcome.gap);
}

/// A line of the table.
struct Line {
    instance: String,
    tol: f64,
    method: &'static str,
    outcome: Outcome,
    seconds: f64,
}

/// Where lines are measured and collected.
struct Bench {
    criterion: Criterion,
    lines: Vec<Line>,
}

impl Bench {
    /// Times runs and appends their line, unless the command line excludes them. A run returns the time that counts.
    fn measure(
        &mut self,
        (group, instance): (&str, &str),
        (method, tol): (&'static str, f64),
        mut run: impl FnMut() -> (Duration, Outcome),
    ) {
        let parameter = if group == "growth" { instance.to_string() } else { format!("{instance}, {tol:.0e}") };
        let (time, outcome) = run();
        let mut line = Line { instance: instance.into(), tol, method, outcome, seconds: time.as_secs_f64() };
        if outcome.reached {
            let id = BenchmarkId::new(method, parameter);
            let seconds =
                common::measure(&mut self.criterion, group, id, PLAN, |count| (0..count).map(|_| run().0).sum());
            let Some(seconds) = seconds else { return };
            line.seconds = seconds;
        }
        self.lines.push(line);
    }
}

/// A run whose whole time counts.
fn whole(run: impl Fn() -> Outcome) -> impl Fn() -> (Duration, Outcome) {
    move || {
        let began = Instant::now();
        let outcome = run();
        (began.elapsed(), outcome)
    }
}

fn print_table(lines: &[Line]) {
    println!("Whole solves to a proven relative gap; medians; ratio: naive loop / this, where both got there.\n");
    println!(
        "{:<40} {:>5}  {:<10} {:>10} {:>10} {:>9} {:>7}",
        "instance", "tol", "method", "iterations", "ms", "gap", "ratio"
    );
    let mut above: Option<(&str, f64)> = None;
    for line in lines {
        let here = (line.instance.as_str(), line.tol);
        let instance = if above.is_some_and(|above| above.0 == here.0) { "" } else { here.0 };
        let tol = if above == Some(here) { String::new() } else { format!("{:.0e}", line.tol) };
        above = Some(here);
        let baseline =
            lines.iter().find(|other| other.method == "naive" && (other.instance.as_str(), other.tol) == here);
        let ratio = match baseline {
            Some(baseline) if baseline.outcome.reached && line.outcome.reached => {
                format!("{:.2}", baseline.seconds / line.seconds)
            }
            _ => "–".into(),
        };
        let Outcome { reached, iterations, gap } = line.outcome;
        let remark = if reached { "" } else { "  not reached" };
        println!(
            "{instance:<40} {tol:>5}  {:<10} {iterations:>10} {:>10.3} {gap:>9.1e} {ratio:>7}{remark}",
            line.method,
            1e3 * line.seconds
        );
    }
}

/// Several methods, tolerances and utilities on networks of moderate size.
fn kinds(bench: &mut Bench) {
    let fabric = |flows: usize| (format!("leaf-spine 9x16x4, {flows} flows"), Instance::fabric(flows));
    let fat_tree = (String::from("fat-tree k=8, 10000 flows"), Instance::fat_tree(10_000));
    for (name, instance) in [fabric(1000), fabric(10_000), fabric(100_000), fat_tree] {
        let small = instance.weights.len() <= 1000;
        let methods: &[&'static str] = match small {
            true => &["fast-ned", "interior-point", "ned", "gradient"],
            false => &["fast-ned", "interior-point"],
        };
        let (problem, name_log) = (instance.log(), format!("{name}, log"));
        let first_prices = first_prices(&problem);
        assert_that_certificates_agree(&problem, &instance.weights, &first_prices);
        for tol in TOLERANCES {
            for &method in methods {
                let run = whole(|| solve(&problem, method, tol));
                bench.measure(("time_to_gap", &name_log), (method, tol), run);
            }
            let run = whole(|| solve_naively(&problem, &instance.weights, &first_prices, tol).0);
            bench.measure(("time_to_gap", &name_log), ("naive", tol), run);
        }
        let (problem, name_mixed) = (instance.mixed(), format!("{name}, mixed α"));
        for tol in TOLERANCES {
            for method in ["fast-ned", "interior-point"] {
                let run = whole(|| solve(&problem, method, tol));
                bench.measure(("time_to_gap", &name_mixed), (method, tol), run);
            }
        }
    }
}

/// One tolerance, growing numbers of flows.
fn growth(bench: &mut Bench) {
    let full = std::env::var("FULL").is_ok_and(|full| full != "0");
    for flows in GROWTH.into_iter().filter(|&flows| full || flows < TOO_MANY) {
        let instance = Instance::growing(flows);
        let id = ("growth", &*flows.to_string());
        bench.measure(id, ("from arrays", 1e-6), || {
            let (capacities, paths, weights) =
                (instance.capacities.clone(), instance.paths.clone(), instance.weights.clone());
            let began = Instant::now();
            let utility = AlphaFair::new(1.0, weights).expect("weights are positive");
            let problem = Problem::new(capacities, paths, utility).expect("the instance is well formed");
            let outcome = solve(&problem, "auto", 1e-6);
            (began.elapsed(), outcome)
        });
        let problem = instance.log();
        bench.measure(id, ("from a problem", 1e-6), whole(|| solve(&problem, "auto", 1e-6)));
        let first_prices = first_prices(&problem);
        let run = whole(|| solve_naively(&problem, &instance.weights, &first_prices, 1e-6).0);
        bench.measure(id, ("naive", 1e-6), run);
    }
}

fn first_prices(problem: &Problem) -> Vec<f64> {
    Solver::new(problem, &Ask::by("ned")).expect("NED takes the problem").prices()
}

fn main() {
    let mut bench = Bench { criterion: Criterion::default().configure_from_args(), lines: Vec::new() };
    kinds(&mut bench);
    growth(&mut bench);
    bench.criterion.final_summary();
    if !bench.lines.is_empty() && !common::is_test() {
        print_table(&bench.lines);
    }
}
