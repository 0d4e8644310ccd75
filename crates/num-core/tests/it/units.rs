//! Nothing depends on the caller's units: the same iterations and the same rates at any scale.

use crate::common::{leaf_spine, solve_with};
use netnum_core::*;

/// The problem with capacities and weights in other units.
fn scaled(problem: &Problem, capacity: f64, weight: f64) -> Problem {
    let specs = (0..problem.flows()).map(|flow| {
        let (utility, place) = problem.utility(flow);
        let spec = utility.spec(place).unwrap();
        match spec.get("weight") {
            Some(value) => spec.with("weight", value * weight),
            None => spec,
        }
    });
    let capacities = problem.capacities().iter().map(|value| value * capacity).collect();
    Problem::new(capacities, problem.paths().clone(), Utilities::Specs(specs.collect())).unwrap()
}

#[test]
fn scaling_capacities_or_weights_changes_neither_iterations_nor_relative_rates() {
    for alpha in [0.5, 1.0, 2.0, 5.0] {
        let problem = leaf_spine(500, alpha, 5);
        // The first-order methods do not get anywhere at larger alpha; at smaller, measured slopes amplify rounding by
        // ten decades before they settle.
        // Newton's line search on steep utilities decides by rounding from alpha 5 on.
        let others = match alpha {
            0.5 => &["gradient", "fgm", "newton"][..],
            1.0 => &["gradient", "fgm", "newton-like", "newton"],
            2.0 => &["newton-like", "newton"],
            _ => &["newton-like"],
        };
        let methods = ["fast-ned", "ned", "rcp", "xwi", "interior-point"].iter().chain(others);
        for method in methods {
            let tol = if ["fast-ned", "newton", "interior-point"].contains(method) { 1e-9 } else { 1e-2 };
            let base = solve_with(&problem, method, tol);
            assert_eq!(base.status, Status::Optimal, "{method}, alpha {alpha}: {base}");
            for (capacity, weight) in [(1e9, 1.0), (1e-9, 1.0), (1.0, 1e6), (1e-9, 1e-6)] {
                let other = solve_with(&scaled(&problem, capacity, weight), method, tol);
                let what = format!("{method}, alpha {alpha}, capacities x {capacity:e}, weights x {weight:e}");
                assert_eq!(other.status, Status::Optimal, "{what}: {other}");
                assert_eq!(other.iterations, base.iterations, "{what}: {base} against {other}");
                for (rate, expected) in other.rates.iter().zip(&base.rates) {
                    assert!((rate / capacity - expected).abs() <= 1e-6 * expected, "{what}");
                }
            }
        }
    }
}

#[test]
fn prices_are_utility_per_unit_of_rate() {
    let problem = leaf_spine(100, 2.0, 5);
    let base = solve_with(&problem, "fast-ned", 1e-9);
    let other = solve_with(&scaled(&problem, 1e-9, 1.0), "fast-ned", 1e-9);
    for (price, expected) in other.prices.iter().zip(&base.prices) {
        // U' = (w/x)^2 grows by 1e18 when rates shrink by 1e9.
        assert!((price / 1e18 - expected).abs() <= 1e-3 * expected + 1e-12 * base.prices.iter().sum::<f64>());
    }
}

#[test]
fn an_alpha_whose_prices_no_float_can_hold_is_solved_but_not_called_optimal() {
    // At 1e10 bit/s, (1/x)^40 is 1e-400: the rates are there, the prices that prove them are not.
    let solution = solve_with(&leaf_spine(100, 40.0, 5), "fast-ned", 1e-6);
    assert_eq!(solution.status, Status::Stalled, "{solution}");
    assert!(solution.rates.iter().all(|rate| *rate > 1e6));
}
