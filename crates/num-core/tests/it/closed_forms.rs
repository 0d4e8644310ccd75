//! Answers that are known on paper.

use crate::common;
use crate::common::{gamma, solve_with};
use netnum_core::*;

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "found {found}, expected {expected}");
}

#[test]
fn on_one_link_rates_are_proportional_to_the_weights() {
    let weights = vec![0.5, 1.0, 2.5, 4.0];
    for alpha in [0.25, 0.5, 1.0, 2.0, 5.0, 10.0] {
        let paths = Paths::from_lists(vec![vec![0]; 4]);
        let utility = AlphaFair::new(alpha, weights.clone()).unwrap();
        let solution = solve_with(&Problem::new(vec![10.0], paths, utility).unwrap(), "fast-ned", 1e-9);
        assert_eq!(solution.status, Status::Optimal);
        for (rate, weight) in solution.rates.iter().zip(&weights) {
            close(*rate, 10.0 * weight / 8.0, 1e-6);
        }
    }
}

#[test]
fn in_a_parking_lot_the_long_flow_gets_one_share_of_one_plus_the_root_of_n() {
    for method in ["fast-ned", "ned"] {
        for links in [1usize, 2, 5, 20] {
            for alpha in [0.5, 1.0, 2.0, 5.0] {
                let long: Vec<u32> = (0..links as u32).collect();
                let lists = std::iter::once(long).chain((0..links as u32).map(|link| vec![link]));
                let utility = AlphaFair::new(alpha, 1.0).unwrap();
                let problem = Problem::new(vec![3.0; links], Paths::from_lists(lists), utility).unwrap();
                let solution = solve_with(&problem, method, 1e-12);
                assert_eq!(solution.status, Status::Optimal, "{method}, {links} links, alpha {alpha}");
                close(solution.rates[0], 3.0 / (1.0 + (links as f64).powf(1.0 / alpha)), 1e-5);
            }
        }
    }
}

#[test]
fn a_flow_alone_gets_the_smallest_capacity_of_its_path() {
    let problem = Problem::new(vec![3.0, 5.0, 2.0], Paths::from_lists([[0, 1, 2]]), AlphaFair::proportional()).unwrap();
    close(solve_with(&problem, "fast-ned", 1e-9).rates[0], 2.0, 1e-8);
}

#[test]
fn completion_times_are_short_when_rates_fall_with_the_size_to_the_power_of_one_over_epsilon() {
    let sizes = [1.0, 1.2, 1.5];
    let utility = MinFct::new(sizes.to_vec(), MinFct::EPSILON).unwrap();
    let problem = Problem::new(vec![1.0], Paths::from_lists([[0], [0], [0]]), utility).unwrap();
    let solution = solve_with(&problem, "fast-ned", 1e-12);
    let shares: Vec<f64> = sizes.iter().map(|size: &f64| size.powf(-8.0)).collect();
    for (rate, share) in solution.rates.iter().zip(&shares) {
        close(*rate, share / shares.iter().sum::<f64>(), 1e-5);
    }
}

#[test]
fn bandwidth_functions_share_a_link_as_they_were_drawn() {
    // NUMFabric, figures 2 and 9: flow 1 first, up to 10; then both; at 25 they have 15 and 10.
    let first = BandwidthFunction::new(&[0.0, 2.0, 2.5], &[0.0, 10.0, 15.0], 5.0, 10.0).unwrap();
    let second = BandwidthFunction::new(&[0.0, 2.0, 2.5], &[0.0, 0.0, 10.0], 5.0, 0.0).unwrap();
    for (capacity, expected) in [(5.0, [5.0, 0.0]), (10.0, [10.0, 0.0]), (17.5, [12.5, 5.0]), (25.0, [15.0, 10.0])] {
        let utilities: Vec<std::sync::Arc<dyn Utility>> =
            vec![std::sync::Arc::new(first.clone()), std::sync::Arc::new(second.clone())];
        let problem = Problem::new(vec![capacity], Paths::from_lists([[0], [0]]), utilities).unwrap();
        let solution = solve_with(&problem, "fast-ned", 1e-9);
        assert_eq!(solution.status, Status::Optimal, "capacity {capacity}: {solution}");
        for (rate, expected) in solution.rates.iter().zip(expected) {
            assert!((rate - expected).abs() < 1e-4 * capacity, "capacity {capacity}: {:?}", solution.rates);
        }
    }
}

#[test]
fn a_capped_flow_leaves_the_rest_to_the_others() {
    let problem = Problem::new(vec![9.0], Paths::from_lists([[0], [0], [0]]), AlphaFair::proportional())
        .unwrap()
        .with_rate_caps(vec![1.0, f64::INFINITY, f64::INFINITY])
        .unwrap();
    let solution = solve_with(&problem, "fast-ned", 1e-10);
    close(solution.rates[0], 1.0, 1e-9);
    close(solution.rates[1], 4.0, 1e-6);
    close(solution.prices[0], 0.25, 1e-6);
}

#[test]
fn an_idle_link_is_free() {
    let problem =
        Problem::new(vec![1.0, 5.0, 7.0], Paths::from_lists([[0, 1], [0, 1]]), AlphaFair::proportional()).unwrap();
    let solution = solve_with(&problem, "fast-ned", 1e-9);
    assert!(solution.prices[1] < 1e-8 && solution.prices[2] == 0.0, "{:?}", solution.prices);
    close(solution.prices[0], 2.0, 1e-6);
}

#[test]
fn the_gradient_gets_there_in_the_end() {
    let problem = common::leaf_spine(100, 1.0, 1);
    let solution = solve_with(&problem, "gradient", 1e-3);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
}

#[test]
fn ned_with_a_full_step_diverges_on_the_leaf_spine_and_says_so_with_finite_numbers() {
    for flows in [100, 1000] {
        let problem = common::leaf_spine(flows, 1.0, 1);
        let settings = Settings::default().with_max_iterations(2000);
        let mut solver = Solver::new(&problem, &Ask::by("ned").with_options(&gamma(1.0))).unwrap();
        let solution = solver.run(&settings, &mut ()).unwrap();
        assert_eq!(solution.status, Status::MaxIterations);
        assert!(solution.certificate.relative_gap > 1e-4, "it converged: {solution}");
        assert!(solution.rates.iter().chain(&solution.prices).all(|value| value.is_finite()));
        assert!(solver.prices().iter().chain(&solver.raw_rates()).all(|value| value.is_finite()));
    }
}

#[test]
fn fast_ned_reaches_a_millionth_on_the_leaf_spine_for_every_alpha() {
    for flows in [100, 1000, 10_000] {
        for alpha in [0.5, 1.0, 2.0, 5.0] {
            let solution = solve_with(&common::leaf_spine(flows, alpha, 1), "fast-ned", 1e-6);
            assert_eq!(solution.status, Status::Optimal, "{flows} flows, alpha {alpha}: {solution}");
        }
    }
}

#[test]
#[ignore = "slow: 100 000 flows"]
fn fast_ned_reaches_a_millionth_with_a_hundred_thousand_flows() {
    for alpha in [0.5, 1.0, 2.0, 5.0] {
        let solution = solve_with(&common::leaf_spine(100_000, alpha, 1), "fast-ned", 1e-6);
        assert_eq!(solution.status, Status::Optimal, "alpha {alpha}: {solution}");
    }
}

// --- the textbook's factor in place of a weight ---

#[test]
fn by_scale_on_one_link_rates_go_as_its_root() {
    // s x^(-alpha) is the same for all: x ~ s^(1/alpha).
    let scales = [0.5, 1.0, 2.5, 40.0];
    for alpha in [0.25, 0.5, 1.0, 2.0, 5.0] {
        let utility = AlphaFair::with_scale(alpha, scales.to_vec()).unwrap();
        let problem = Problem::new(vec![10.0], Paths::from_lists(vec![vec![0]; 4]), utility).unwrap();
        let solution = solve_with(&problem, "fast-ned", 1e-9);
        assert_eq!(solution.status, Status::Optimal);
        let roots = scales.map(|scale: f64| scale.powf(1.0 / alpha));
        for (rate, root) in solution.rates.iter().zip(roots) {
            close(*rate, 10.0 * root / roots.iter().sum::<f64>(), 1e-6);
        }
        // The price is every flow's s x^(-alpha), in the textbook's unit of utility.
        close(solution.prices[0], 2.5 * solution.rates[2].powf(-alpha), 1e-6);
    }
}

#[test]
fn a_scale_is_the_weight_to_the_power_of_alpha() {
    for alpha in [0.1, 0.5, 1.0, 2.0, 7.5, 30.0] {
        for weight in [1e-3, 1.0, 2.0, 1e4] {
            let by_weight = AlphaFair::new(alpha, weight).unwrap();
            let by_scale = AlphaFair::with_scale(alpha, weight.powf(alpha)).unwrap();
            close(by_scale.weight().of(0), weight, 1e-13);
            for x in [1e-2, 1.0, 3e3] {
                close(by_scale.marginal(0, x), by_weight.marginal(0, x), 1e-12);
                close(by_scale.value(0, x), by_weight.value(0, x), 1e-12);
                close(by_scale.demand(0, x), by_weight.demand(0, x), 1e-12);
            }
        }
    }
}

#[test]
fn a_scale_out_of_range_names_its_flow() {
    let message = |alpha: f64, scale: Vec<f64>| AlphaFair::with_scale(alpha, scale).unwrap_err().to_string();
    assert_eq!(message(1.0, vec![1.0, 0.0]), "flow 1 has scale 0, expected a finite number > 0");
    assert_eq!(
        message(1e-3, vec![1.0, 1e10]),
        "flow 1 has scale 10000000000, expected one whose weight, scale**(1/alpha), is between 1e-307 and 1e308"
    );
    assert!(message(1e-3, vec![1e-10]).starts_with("flow 0 has scale 0.0000000001, expected one whose weight"));
    let infinite = message(f64::INFINITY, vec![1.0]);
    assert_eq!(infinite, "flow 0 has alpha inf, expected a finite number > 0 beside a scale (max-min takes a weight)");
    assert!(AlphaFair::with_scale(1e-3, 1.0).is_ok());
    assert!(AlphaFair::with_scale(1.0, f64::MIN_POSITIVE).is_ok());
}

#[test]
fn scales_are_written_and_read_beside_weights() {
    let utilities: Vec<std::sync::Arc<dyn Utility>> = vec![
        std::sync::Arc::new(AlphaFair::with_scale(2.0, 9.0).unwrap()),
        std::sync::Arc::new(AlphaFair::new(2.0, 3.0).unwrap()),
        std::sync::Arc::new(AlphaFair::with_scale(0.5, 2.0).unwrap()),
    ];
    let problem = Problem::new(vec![6.0], Paths::from_lists([[0], [0], [0]]), utilities).unwrap();
    let text = problem.to_json().unwrap();
    assert!(text.contains(r#""weight":[null,3.0,null],"scale":[9.0,null,2.0]"#), "{text}");
    let again = Problem::from_json(&text).unwrap();
    for flow in 0..3 {
        let ((one, place), (other, again)) = (problem.utility(flow), again.utility(flow));
        assert_eq!(one.spec(place), other.spec(again));
    }
    let solution = solve_with(&again, "fast-ned", 1e-9);
    close(solution.rates[0], solution.rates[1], 1e-6);
    let both = text.replace("[null,3.0,null]", "[1.0,3.0,null]");
    let told = Problem::from_json(&both).unwrap_err().to_string();
    assert_eq!(told, "flow 0 has scale 9, expected a weight or a scale, not both");
}
