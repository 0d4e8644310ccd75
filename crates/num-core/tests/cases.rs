//! The reference problems in `cases/`, each with a certified answer, listed by name so that none can be skipped.

mod common;

use common::solve_with;
use netnum_core::*;
use serde_json::Value;

/// Strictly concave, one path per flow: what the price methods take.
const SINGLE_PATH: &[&str] = &[
    "abilene-a1",
    "bits-per-second-a1",
    "bits-per-second-a5",
    "bwfunc-leafspine",
    "bwfunc-parkinglot",
    "capacities-8-decades",
    "caps-all-binding",
    "caps-random",
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
    "mixed-kinds",
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

/// Several paths per flow, linear or max-min: what most price methods refuse, with the name of one that will take them.
const REFUSED: &[(&str, &str)] = &[
    ("bwfunc-multipath", "several paths"),
    ("caps-subflows", "several paths"),
    ("linear-leafspine", "linear"),
    ("linear-multipath-caps", "linear"),
    ("linear-parkinglot", "linear"),
    ("maxmin-caps", "max-min"),
    ("maxmin-leafspine", "max-min"),
    ("maxmin-parkinglot", "max-min"),
    ("maxmin-weighted-leafspine-small", "max-min"),
    ("maxmin-weighted-wan", "max-min"),
    ("numfabric-fig10-X11", "several paths"),
    ("numfabric-fig10-X5", "several paths"),
    ("pooling-duplicate-subflows", "several paths"),
    ("pooling-fattree-k4", "several paths"),
    ("pooling-leafspine-s2-a1", "several paths"),
    ("pooling-leafspine-s4-a1", "several paths"),
    ("pooling-leafspine-s4-a2", "several paths"),
    ("pooling-two-links", "several paths"),
    ("pooling-wan-kshortest", "several paths"),
];

fn read(name: &str) -> (Problem, Value) {
    let path = format!("{}/tests/cases/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let problem = Problem::from_json(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    (problem, serde_json::from_str(&text).unwrap())
}

#[test]
fn the_lists_name_every_file() {
    let folder = std::fs::read_dir(format!("{}/tests/cases", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut files: Vec<String> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let listed = SINGLE_PATH.iter().copied().chain(REFUSED.iter().map(|(name, _)| *name));
    let mut listed: Vec<String> = listed.map(|name| format!("{name}.json")).collect();
    listed.sort();
    assert_eq!(files, listed);
    assert_eq!(files.len(), 63);
}

#[test]
fn every_strictly_concave_single_path_case_is_solved_within_its_tolerance() {
    for name in SINGLE_PATH {
        let (problem, case) = read(name);
        let solution = solve_with(&problem, "auto", 1e-9);
        assert_eq!(solution.status, Status::Optimal, "{name}: {solution}");
        let number = |group: &str, key: &str| case[group][key].as_f64().unwrap();
        let feasible = number("tolerance", "feasibility_rel");
        for (link, (load, capacity)) in solution.loads.iter().zip(problem.capacities()).enumerate() {
            assert!(*load <= capacity * (1.0 + feasible), "{name}: link {link} carries {load} of {capacity}");
        }
        for (path, rate) in solution.rates.iter().enumerate() {
            assert!(*rate >= 0.0 && *rate <= problem.rate_cap(path) * (1.0 + feasible), "{name}: path {path}");
        }
        let loss = (number("expected", "objective") - solution.objective) / number("expected", "objective_scale");
        assert!(loss.abs() <= number("tolerance", "objective_rel"), "{name}: objective off by {loss:e}");
        assert!(
            loss <= solution.certificate.relative_gap + 1e-12,
            "{name}: the certificate is below the loss {loss:e}"
        );
    }
}

#[test]
fn stopping_on_the_kkt_residual_makes_every_rate_of_a_case_right() {
    // A flow of 1e-9 of the network's worth is off by 6e-3 in leafspine-fct: its price is right, to the eighth power.
    for name in SINGLE_PATH.iter().filter(|name| **name != "leafspine-fct") {
        let (problem, case) = read(name);
        let settings = Settings { tol: 1e-9, stop: Stop::Kkt, ..Settings::default() };
        let solution = Solver::new(&problem, "auto", &Default::default()).unwrap().run(&settings, &mut ()).unwrap();
        assert_eq!(solution.status, Status::Optimal, "{name}: {solution}");
        let expected = case["expected"]["group_rates"].as_array().unwrap();
        for (flow, (rate, expected)) in solution.flow_rates.iter().zip(expected).enumerate() {
            let Some(expected) = expected.as_f64() else { continue };
            let links = problem.paths().links(flow).iter();
            let smallest = links.map(|&link| problem.capacities()[link as usize]).fold(f64::INFINITY, f64::min);
            let error = (rate - expected).abs() / expected.max(1e-6 * smallest);
            assert!(error <= case["tolerance"]["rate_rel"].as_f64().unwrap(), "{name}: flow {flow} off by {error:e}");
        }
    }
}

#[test]
fn the_other_cases_are_refused_with_the_name_of_the_method_that_will_take_them() {
    for (name, reason) in REFUSED {
        let (problem, _) = read(name);
        let error = Solver::new(&problem, "ned", &Default::default()).unwrap_err().to_string();
        let other = if *reason == "max-min" { "\"max-min\"" } else { "\"interior-point\"" };
        assert!(error.contains(reason) && error.contains(other), "{name}: {error}");
    }
}

#[test]
fn reference_answers_with_several_paths_pass_the_certificate() {
    for (name, _) in REFUSED.iter().filter(|(_, reason)| *reason != "max-min") {
        let (problem, case) = read(name);
        let list = |key: &str| case["expected"][key].as_array().unwrap().iter().map(Value::as_f64).collect();
        let (rates, prices): (Option<Vec<f64>>, Option<Vec<f64>>) = (list("rates"), list("prices"));
        let (Some(rates), Some(prices)) = (rates, prices) else { continue };
        let certificate = certify(&problem, &rates, &prices).unwrap();
        assert!(certificate.relative_gap.abs() < 1e-8, "{name}: {certificate:?}");
        assert!(certificate.overload < 1e-8, "{name}: {certificate:?}");
    }
}

#[test]
fn every_file_survives_being_written_and_read_again() {
    for name in SINGLE_PATH.iter().copied().chain(REFUSED.iter().map(|(name, _)| *name)) {
        let (problem, case) = read(name);
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
