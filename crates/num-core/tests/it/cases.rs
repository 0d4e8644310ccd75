//! The reference problems in `cases/`, each with a certified answer.

use crate::common::{read_case, solve_with};
use netnum_core::*;
use serde_json::Value;

/// Rates below this part of the smallest capacity of their path are compared with that.
const FLOOR: f64 = 1e-6;
/// Rates of paths below this part of their flow's are compared with that, to 1e-6: a KKT residual of 1e-9 lets a path
/// that should be idle keep 1e-9 of its flow's rate.
const SHARE: f64 = 1e-3;

/// The names of all cases, in order.
fn names() -> Vec<String> {
    let folder = std::fs::read_dir(format!("{}/tests/cases", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut names: Vec<_> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names.iter().map(|name| name.strip_suffix(".json").unwrap().to_owned()).collect()
}

/// The cases that have utilities, and so an objective on a scale and prices; or the others, weighted max-min.
fn cases(concave: bool) -> impl Iterator<Item = (String, Problem, Value)> {
    let read = |name: String| {
        let (problem, case) = read_case(&name);
        (name, problem, case)
    };
    names().into_iter().map(read).filter(move |(_, _, case)| case["expected"]["objective_scale"].is_number() == concave)
}

fn to_the_last_digit(name: &str, problem: &Problem) -> Solution {
    let settings = Settings::default().with_tol(1e-9).with_stop(Stop::Kkt);
    let solution = Solver::new(problem, &Ask::by("auto")).unwrap().run(&settings, &mut ()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{name}: {solution}");
    solution
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
fn there_are_so_many_cases_of_each_kind() {
    assert_eq!([cases(true).count(), cases(false).count()], [58, 5]);
}

#[test]
fn stopping_on_the_gap_makes_the_objective_of_every_case_right() {
    for (name, problem, case) in cases(true) {
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
    for (name, problem, case) in cases(true) {
        let solution = to_the_last_digit(&name, &problem);
        check_rates(&name, &problem, &case, &solution, 1e-6, 1e-8);
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
    for (name, problem, case) in cases(false) {
        let solution = to_the_last_digit(&name, &problem);
        check_rates(&name, &problem, &case, &solution, 1e-9, 1e-9);
    }
}

#[test]
fn reference_answers_pass_the_certificate() {
    for (name, problem, case) in cases(true) {
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
    for name in names() {
        let (problem, case) = read_case(&name);
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
