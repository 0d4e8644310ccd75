//! What `auto` answers to problems of every kind: nearly all end `optimal`, by gap and by KKT residual.

mod common;
#[path = "common/kinds.rs"]
mod kinds;

use std::collections::BTreeMap;
use std::time::Instant;

#[path = "common/random.rs"]
mod random;

use common::*;
use kinds::{KINDS, draw};
use netnum_core::*;

/// How a solve ended, in short, if not well.
/// METHOD instead of auto.
fn fails(problem: &Problem, stop: Stop, tol: f64, iterations: &mut Vec<usize>) -> Option<String> {
    let most = number("ITERATIONS", 5000) as usize;
    let settings = Settings { tol, stop, max_iterations: most, ..Settings::default() };
    match Solver::new(problem, &std::env::var("METHOD").unwrap_or("auto".into()), &BTreeMap::new())
        .and_then(|mut solver| solver.run(&settings, &mut ()))
    {
        Err(error) => Some(format!("error: {error}")),
        Ok(solution) => {
            iterations.push(solution.iterations);
            let well = solution.status == Status::Optimal;
            (!well).then(|| solution.to_string())
        }
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Prints the share of problems that do not end `optimal`, by kind, and every such problem's seed. `PROBLEMS` says how
/// many of each kind (1000), `FIRST` the first seed (0), `KIND` a part of the kinds' names, `STOP` the criterion; `KEEP`
/// a folder for the files of those that failed.
#[test]
#[ignore = "slow: prints a table"]
fn the_share_that_does_not_end_optimal_by_kind() {
    let (problems, first) = (number("PROBLEMS", 1000), number("FIRST", 0));
    let only = std::env::var("KIND").unwrap_or_default();
    let chosen = std::env::var("STOP").unwrap_or_default();
    let stops = [Stop::Rates, Stop::Kkt];
    println!(
        "{:36} {:4} {:>7} {:>12} {:>12} {:>10} {:>6} {:>8}",
        "kind", "stop", "number", "<= 8 decades", "more", "median", "90 %", "seconds"
    );
    for kind in KINDS.into_iter().filter(|kind| kind.contains(&only)) {
        for stop in stops.into_iter().filter(|stop| stop.name().contains(&chosen)) {
            let name = stop.name();
            let (mut failed, mut drawn, mut iterations, began) = ([0, 0], [0, 0], Vec::new(), Instant::now());
            for seed in first..first + problems {
                let problem = draw(kind, seed);
                let far = usize::from(problem.decades > 8.0);
                drawn[far] += 1;
                let Some(how) = fails(&problem.problem, stop, 1e-6, &mut iterations) else { continue };
                failed[far] += 1;
                println!("  {name} {} -> {how}", problem.name);
                if let (Ok(folder), Ok(text)) = (std::env::var("KEEP"), problem.problem.to_json()) {
                    let file = format!("{folder}/{}-{name}-{seed}.json", kind.replace([' ', ','], "-"));
                    std::fs::write(file, text).unwrap();
                }
            }
            let share = |i: usize| format!("{}/{}", failed[i], drawn[i]);
            let seconds = began.elapsed().as_secs_f64();
            iterations.sort_unstable();
            let of = |part: f64| iterations[(part * (iterations.len() - 1) as f64) as usize];
            println!(
                "{kind:36} {name:4} {problems:>7} {:>12} {:>12} {:>10} {:>6} {seconds:>8.1}",
                share(0),
                share(1),
                of(0.5),
                of(0.9)
            );
        }
    }
}

#[test]
#[ignore]
fn one() {
    let seed = number("SEED", 0);
    let kind = std::env::var("KIND").unwrap();
    let problem = match std::env::var("FILE") {
        _ if kind == "random" => random::random_problem(seed).1,
        Ok(file) => Problem::from_json(&std::fs::read_to_string(file).unwrap()).unwrap(),
        _ => draw(&kind, seed).problem,
    };
    let stop = if std::env::var("STOP").unwrap_or_default() == "kkt" { Stop::Kkt } else { Stop::Rates };
    let method = std::env::var("METHOD").unwrap_or("auto".into());
    let settings = Settings {
        tol: 1e-6,
        stop,
        max_iterations: number("ITERATIONS", 5000) as usize,
        trace: true,
        ..Settings::default()
    };
    let solution =
        Solver::new(&problem, &method, &BTreeMap::new()).and_then(|mut solver| solver.run(&settings, &mut ()));
    for row in solution.as_ref().map(|s| s.trace.clone()).unwrap_or_default() {
        println!("ROW {} gap {:.1e} over {:.1e} kkt {:.1e}", row.iteration, row.gap, row.overload, row.kkt_residual);
    }
    if kind != "random" {
        println!("{}", draw(&kind, seed).name);
    }
    println!("{:?}", solution.map(|s| (s.to_string(), s.certificate)));
}

#[test]
#[ignore]
fn all_cases() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases")).unwrap() {
        let path = entry.unwrap().path();
        let problem = Problem::from_json(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if problem.curvature() == Curvature::MaxMin {
            continue;
        }
        for (stop, tol) in [(Stop::Gap, 1e-9), (Stop::Rates, 1e-6), (Stop::Kkt, 1e-9)] {
            let settings = Settings { tol, stop, ..Settings::default() };
            let s = Solver::new(&problem, &std::env::var("METHOD").unwrap_or("auto".into()), &BTreeMap::new())
                .unwrap()
                .run(&settings, &mut ())
                .unwrap();
            println!(
                "CASE {} {} {tol:e} {} {s}",
                path.file_name().unwrap().to_str().unwrap(),
                stop.name(),
                s.iterations
            );
        }
    }
}
