//! What `auto` answers to problems of every kind: nearly all end `optimal`, by gap and by KKT residual.

use crate::common::kinds;
use std::time::Instant;

use crate::common::kinds::{KINDS, draw};
use crate::common::*;
use netnum_core::*;

/// How a solve ended, in short, if not well.
fn fails(problem: &Problem, stop: Stop, tol: f64, iterations: &mut Vec<usize>) -> Option<String> {
    let most = number("ITERATIONS", 5000) as usize;
    let method = std::env::var("METHOD").unwrap_or("auto".into());
    let settings = Settings::default().with_tol(tol).with_stop(stop).with_max_iterations(most);
    match Solver::new(problem, &Ask::by(&method)).and_then(|mut solver| solver.run(&settings, &mut ())) {
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
/// many of each kind (40), `FIRST` the first seed (0), `KIND` a part of the kinds' names, `STOP` the criterion (`rates`
/// or `kkt`, else both), `METHOD` another method, `ITERATIONS` how many (5000); `KEEP` a folder for the files of those
/// that failed.
#[test]
#[ignore = "slow: prints a table"]
fn the_share_that_does_not_end_optimal_by_kind() {
    let (problems, first) = (number("PROBLEMS", 40), number("FIRST", 0));
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

/// Of a kind, the problems of the first so many seeds whose data stay within eight decades.
fn mild(kind: &str, seeds: u64) -> impl Iterator<Item = kinds::Drawn> {
    (0..seeds).map(move |seed| draw(kind, seed)).filter(|drawn| drawn.decades <= 8.0)
}

fn end_optimal(kind: &str, seeds: u64, most: usize) {
    let mut failed = Vec::new();
    for drawn in mild(kind, seeds) {
        for (stop, tol) in [(Stop::Rates, 1e-6), (Stop::Kkt, 1e-6)] {
            if let Some(how) = fails(&drawn.problem, stop, tol, &mut Vec::new()) {
                failed.push(format!("{} by {}: {how}", drawn.name, stop.name()));
            }
        }
    }
    assert!(failed.len() <= most, "{failed:#?}");
}

#[test]
fn linear_programs_end_optimal() {
    for kind in KINDS.into_iter().filter(|kind| kind.starts_with("linear")) {
        end_optimal(kind, 60, 0);
    }
}

#[test]
fn power_laws_end_optimal() {
    for kind in ["alpha", "mixed alpha", "completion times"] {
        end_optimal(kind, 60, 0);
    }
    // Three of 43, by either criterion: with weights over eight decades and α = 5.2 to 6.7 prices differ by 10¹⁹ to
    // 10⁵⁰, and no float says how a flow is split some of whose paths share what a rich one pays for.
    end_optimal("alpha, several paths", 60, 6);
}

#[test]
fn intervals_of_a_line_with_unit_weights_end_optimal() {
    for seed in 0..40 {
        let drawn = draw("linear on lines", seed);
        let problem =
            Problem::new(vec![1.0; drawn.problem.links()], drawn.problem.paths().clone(), Linear::new(1.0).unwrap());
        let solution = solve(&problem.unwrap(), &Ask::default()).unwrap();
        assert_eq!(solution.status, Status::Optimal, "{}: {solution}", drawn.name);
    }
}

/// The recorded problems of a folder.
fn finds(folder: &str) -> impl Iterator<Item = (String, Problem)> {
    let folder = format!("{}/tests/{folder}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files.map(|path| {
        let problem = Problem::from_json(&std::fs::read_to_string(&path).unwrap()).unwrap();
        (path.display().to_string(), problem)
    })
}

#[test]
fn problems_that_once_stalled_end_optimal() {
    for (name, problem) in finds("finds") {
        let solution = solve(&problem, &Ask::default()).unwrap();
        assert_eq!(solution.status, Status::Optimal, "{name}: {solution}");
    }
}

/// Marginals over tens of decades and curves that all but jump. Solved or not, what there is can be used, and is called
/// by its name.
#[test]
fn problems_that_are_still_too_hard_end_in_a_status_with_rates_that_fit() {
    for (name, problem) in finds("finds/open") {
        for method in ["auto", "interior-point"] {
            let mut solver = Solver::new(&problem, &Ask::by(method)).unwrap();
            let settings = Settings::default().with_max_iterations(500);
            let solution = solver.run(&settings, &mut ()).unwrap();
            assert!(solution.rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0), "{name}: {solution}");
            for (load, capacity) in solution.loads.iter().zip(problem.capacities()) {
                assert!(*load <= capacity * (1.0 + 1e-12), "{name}: {solution}");
            }
            let proof = certify(&problem, &solution.rates, &solution.prices).unwrap();
            let proven = proof.relative_gap <= 2e-6 && proof.kkt_residual <= 2e-3;
            assert!(solution.status != Status::Optimal || proven, "{name}: {solution}, {proof:?}");
        }
    }
}

/// A deadline is met by a rate, and more is worth next to nothing: where a link is far wider than what its flows need,
/// their marginals lie beyond what a float holds.
#[test]
fn flat_tails_end_optimal() {
    end_optimal("deadline", 30, 0);
}

/// However wide the links, and whether another flow fills one or none does.
#[test]
fn who_has_enough_does_not_hold_up_the_rest() {
    let utility = || Deadline { need: 1.0 };
    for capacity in [1.0, 10.0, 70.0, 80.0, 1e3, 1e6, 1e12] {
        for (middle, cap) in [(0.5, f64::INFINITY), (capacity, f64::INFINITY), (0.5, 2.0), (capacity, 2.0)] {
            let paths = Paths::from_lists([vec![0], vec![1], vec![2], vec![0, 1]]);
            let problem = Problem::new(vec![capacity, middle, capacity], paths, utility()).unwrap();
            let problem = problem.with_flow_caps(vec![cap, f64::INFINITY, 1.0, f64::INFINITY]).unwrap();
            let half = 0.5 * middle;
            let fits = [cap.min(capacity - half), half, 1.0, half];
            let worth = |rates: &[f64]| rates.iter().map(|&rate| utility().value(0, rate)).sum::<f64>();
            for stop in [Stop::Rates, Stop::Gap, Stop::Kkt] {
                let solution = solve(&problem, &Settings::default().with_stop(stop).into()).unwrap();
                let name = format!("{capacity}, {middle}, {cap}, by {}: {solution}", stop.name());
                assert_eq!(solution.status, Status::Optimal, "{name}");
                assert!(worth(&solution.rates) >= worth(&fits) - 1e-5, "{name}: {:?}", solution.rates);
            }
        }
    }
}

/// U' of a flow may be 10¹⁸ times what its paths cost: between two jumps, or at the end of its curve. Two of 43, by
/// either criterion, are as those of power laws.
#[test]
fn curves_over_several_paths_end_optimal() {
    end_optimal("bandwidth functions, several paths", 60, 4);
}

/// U(x) = √x, by value and marginal alone.
#[derive(Debug)]
struct Root;

impl Utility for Root {
    fn value(&self, _flow: usize, rate: f64) -> f64 {
        rate.sqrt()
    }
    fn marginal(&self, _flow: usize, rate: f64) -> f64 {
        0.5 / rate.sqrt()
    }
}

#[test]
fn a_value_and_a_marginal_are_enough() {
    utility_laws(&Root, 0, 1e3).unwrap();
    close(Root.demand(0, 0.25), 4.0, 1e-12);
    close(Root.demand_slope(0, 0.25), -32.0, 1e-6);
    let paths = Paths::from_lists([vec![0, 1], vec![0], vec![1]]);
    let own = Problem::new(vec![1e6, 3e6], paths.clone(), Root).unwrap();
    let family = Problem::new(vec![1e6, 3e6], paths, AlphaFair::new(0.5, 1.0).unwrap()).unwrap();
    for method in ["auto", "fast-ned", "interior-point"] {
        let (one, other) = (solve_with(&own, method, 1e-9), solve_with(&family, method, 1e-9));
        assert_eq!(one.status, Status::Optimal, "{one}");
        for (one, other) in one.rates.iter().zip(&other.rates) {
            close(*one, *other, 1e-3);
        }
    }
}
