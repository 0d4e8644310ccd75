//! The reference problems in `cases/`, each with a certified answer, listed by name so that none can be skipped.

use crate::common::{read_case, solve_with};
use netnum_core::*;
use serde_json::Value;

/// What has utilities, and so an objective and prices.
const CONCAVE: &[&str] = &[
    "abilene-a1",
    "bits-per-second-a1",
    "bits-per-second-a5",
    "bwfunc-leafspine",
    "bwfunc-multipath",
    "bwfunc-parkinglot",
    "capacities-8-decades",
    "caps-all-binding",
    "caps-random",
    "caps-subflows",
    "degenerate-chain",
    "degenerate-zero-price",
    "duplicate-paths",
    "fattree-k4-a1",
    "fattree-k8-a2-weighted",
    "incast",
    "leafspine-fct",
    "leafspine-mixed-alpha-weights",
    "leafspine-n100-a1-up10",
    "leafspine-n150-a10-up40",
    "leafspine-n1500-a1-up10",
    "leafspine-n200-a0.125-up10",
    "leafspine-n300-a5-up10",
    "leafspine-n400-a0.5-up10",
    "leafspine-n500-a2-up40",
    "leafspine-weights-6-decades",
    "linear-leafspine",
    "linear-multipath-caps",
    "linear-parkinglot",
    "mixed-kinds",
    "numfabric-fig10-X11",
    "numfabric-fig10-X5",
    "numfabric-fig9-c17.5",
    "numfabric-fig9-c25",
    "numfabric-fig9-c5",
    "parkinglot-hetero-weighted",
    "parkinglot-n10-a5",
    "parkinglot-n3-a0.25",
    "parkinglot-n3-a1",
    "parkinglot-n4-a2",
    "parkinglot-n40-a1",
    "permutation",
    "pooling-duplicate-subflows",
    "pooling-fattree-k4",
    "pooling-leafspine-s2-a1",
    "pooling-leafspine-s4-a1",
    "pooling-leafspine-s4-a2",
    "pooling-two-links",
    "pooling-wan-kshortest",
    "single-equal-4",
    "single-fct",
    "single-mixed-alpha-c3",
    "single-weighted-a0.5",
    "solo-flows",
    "tiny-capacities",
    "unused-links",
    "wan-equal-a2",
    "wan-hetero-a1",
];

/// Weighted max-min.
const MAX_MIN: &[&str] =
    &["maxmin-caps", "maxmin-leafspine", "maxmin-parkinglot", "maxmin-weighted-leafspine-small", "maxmin-weighted-wan"];

/// Rates below this part of the smallest capacity of their path are compared with that.
const FLOOR: f64 = 1e-6;
/// Rates of paths below this part of their flow's are compared with that, to 1e-6: a KKT residual of 1e-9 lets a path
/// that should be idle keep 1e-9 of its flow's rate.
const SHARE: f64 = 1e-3;

fn to_the_last_digit(name: &str) -> (Problem, Value, Solution) {
    let (problem, case) = read_case(name);
    let settings = Settings::default().with_tol(1e-9).with_stop(Stop::Kkt);
    let solution = Solver::new(&problem, &Ask::by("auto")).unwrap().run(&settings, &mut ()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{name}: {solution}");
    (problem, case, solution)
}

/// The expected numbers that are unique, with their places.
fn expected(case: &Value, field: &str) -> Vec<(usize, f64)> {
    let values = case["expected"][field].as_array().unwrap().iter().enumerate();
    values.filter_map(|(place, value)| Some((place, value.as_f64()?))).collect()
}

fn check_rates(name: &str, problem: &Problem, case: &Value, solution: &Solution, tolerance: f64, feasibility: f64) {
    for (link, (load, capacity)) in solution.loads.iter().zip(problem.capacities()).enumerate() {
        assert!(*load <= capacity * (1.0 + feasibility), "{name}: link {link} carries {load} of {capacity}");
    }
    let mut of_flow = vec![0.0; problem.flows()];
    let mut of_path = Vec::new();
    for (path, rate) in solution.rates.iter().enumerate() {
        let cap = problem.rate_cap(path);
        assert!(*rate >= 0.0 && *rate <= cap * (1.0 + feasibility), "{name}: path {path}");
        let links = problem.paths().links(path).iter();
        let smallest = links.map(|&link| problem.capacities()[link as usize]).fold(f64::INFINITY, f64::min);
        let flow = problem.group()[path] as usize;
        of_path.push((FLOOR * smallest).max(SHARE * solution.flow_rates[flow]));
        of_flow[flow] += FLOOR * smallest.min(cap);
    }
    for (what, rates, least) in [("rates", &solution.rates, of_path), ("group_rates", &solution.flow_rates, of_flow)] {
        for (place, expected) in expected(case, what) {
            let error = (rates[place] - expected).abs() / expected.max(least[place]);
            assert!(error <= tolerance, "{name}: {what}[{place}] is off by {error:e}");
        }
    }
}

#[test]
fn the_lists_name_every_file() {
    let folder = std::fs::read_dir(format!("{}/tests/cases", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut files: Vec<String> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let mut listed: Vec<String> = CONCAVE.iter().chain(MAX_MIN).map(|name| format!("{name}.json")).collect();
    listed.sort();
    assert_eq!(files, listed);
    assert_eq!(files.len(), 63);
}

#[test]
fn stopping_on_the_gap_makes_the_objective_of_every_case_right() {
    for name in CONCAVE {
        let (problem, case) = read_case(name);
        let solution = solve_with(&problem, "auto", 1e-9);
        assert_eq!(solution.status, Status::Optimal, "{name}: {solution}");
        let number = |group: &str, key: &str| case[group][key].as_f64().unwrap();
        let loss = (number("expected", "objective") - solution.objective) / number("expected", "objective_scale");
        assert!(loss.abs() <= number("tolerance", "objective_rel"), "{name}: objective off by {loss:e}");
        // The expected objectives are right to some 1e-10.
        assert!(
            loss <= solution.certificate.relative_gap + 1e-10,
            "{name}: the certificate is below the loss {loss:e}"
        );
    }
}

#[test]
fn stopping_on_the_kkt_residual_makes_every_rate_price_and_objective_of_a_case_right() {
    for name in CONCAVE {
        let (problem, case, solution) = to_the_last_digit(name);
        check_rates(name, &problem, &case, &solution, 1e-6, 1e-8);
        let scale = case["expected"]["objective_scale"].as_f64().unwrap();
        let loss = (case["expected"]["objective"].as_f64().unwrap() - solution.objective) / scale;
        assert!(loss.abs() <= 1e-7, "{name}: objective off by {loss:e}");
        // In units of the mean revenue of a link in use.
        let mut used = vec![false; problem.links()];
        problem.paths().indices().iter().for_each(|&link| used[link as usize] = true);
        let revenue = scale / used.iter().filter(|used| **used).count() as f64;
        for (link, expected) in expected(&case, "prices") {
            let error = (solution.prices[link] - expected).abs() * problem.capacities()[link] / revenue;
            assert!(error <= 1e-5, "{name}: price of link {link} is off by {error:e}");
        }
    }
}

#[test]
fn max_min_rates_of_a_case_are_exact() {
    for name in MAX_MIN {
        let (problem, case, solution) = to_the_last_digit(name);
        check_rates(name, &problem, &case, &solution, 1e-9, 1e-9);
    }
}

#[test]
fn reference_answers_pass_the_certificate() {
    for name in CONCAVE {
        let (problem, case) = read_case(name);
        let (rates, prices) = (expected(&case, "rates"), expected(&case, "prices"));
        if rates.len() < problem.paths().len() || prices.len() < problem.links() {
            continue;
        }
        let numbers = |list: Vec<(usize, f64)>| list.into_iter().map(|(_, number)| number).collect::<Vec<_>>();
        let certificate = certify(&problem, &numbers(rates), &numbers(prices)).unwrap();
        assert!(certificate.relative_gap.abs() < 1e-8, "{name}: {certificate:?}");
        assert!(certificate.overload < 1e-8, "{name}: {certificate:?}");
    }
}

#[test]
fn every_file_survives_being_written_and_read_again() {
    for name in CONCAVE.iter().chain(MAX_MIN) {
        let (problem, case) = read_case(name);
        let written: Value = serde_json::from_str(&problem.to_json().unwrap()).unwrap();
        for field in ["capacity", "paths", "group", "cap"] {
            assert_eq!(written[field], case[field], "{name}: {field}");
        }
        for (column, values) in written["utility"].as_object().unwrap() {
            // A max-min flow has no alpha, and a bandwidth function's tail may be left out when it is 0.
            assert_eq!(values, &case["utility"][column], "{name}: {column}");
        }
    }
}
