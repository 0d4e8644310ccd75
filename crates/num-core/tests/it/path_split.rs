//! Flows with several paths under fast NED: closed forms, the reference cases, fabrics, units, and what is refused.

use std::sync::Arc;

use crate::common::{Logarithmic, any_problem, read_case, solve_with};
use netnum_core::price::PriceRule;
use netnum_core::*;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// Strictly concave, several paths per flow.
const CASES: &[&str] = &[
    "bwfunc-multipath",
    "caps-subflows",
    "numfabric-fig10-X11",
    "numfabric-fig10-X5",
    "pooling-duplicate-subflows",
    "pooling-fattree-k4",
    "pooling-leafspine-s2-a1",
    "pooling-leafspine-s4-a1",
    "pooling-leafspine-s4-a2",
    "pooling-two-links",
    "pooling-wan-kshortest",
];

/// `flows` random flows between different racks or pods, each over `paths` of its shortest paths, in turn.
fn pooled(net: &Topology, flows: usize, paths: usize, alpha: f64) -> Problem {
    let (sources, destinations) = net.random_pairs(4 * flows, 1).unwrap();
    let routes = sources.iter().zip(&destinations).map(|(&from, &to)| net.paths(from, to).unwrap());
    let (mut chosen, mut group) = (Paths::from_lists::<[u32; 0]>([]), vec![]);
    for (flow, routes) in routes.filter(|routes| routes.len() > 1).take(flows).enumerate() {
        for path in 0..paths {
            chosen.push(routes.links((7 * flow + 3 * path) % routes.len()));
            group.push(flow as u32);
        }
    }
    Problem::grouped(net.capacities().to_vec(), chosen, group, AlphaFair::new(alpha, 1.0).unwrap()).unwrap()
}

fn grouped(capacities: &[f64], paths: &[&[u32]], group: &[u32], utilities: impl Into<Utilities>) -> Problem {
    Problem::grouped(capacities.to_vec(), Paths::from_lists(paths), group.to_vec(), utilities).unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs().max(1e-3), "{found} instead of {expected}");
}

#[test]
fn two_links_shared_by_two_flows_are_one_large_link() {
    for alpha in [0.5, 1.0, 2.0, 5.0] {
        let weights = AlphaFair::new(alpha, vec![1.0, 3.0]).unwrap();
        let problem = grouped(&[2.0, 6.0], &[&[0], &[1], &[0], &[1]], &[0, 0, 1, 1], weights);
        let solution = solve_with(&problem, "fast-ned", 1e-8);
        assert_eq!(solution.status, Status::Optimal, "alpha {alpha}: {solution}");
        close(solution.flow_rates[0], 2.0, 1e-3);
        close(solution.flow_rates[1], 6.0, 1e-3);
        close(solution.prices[0], solution.prices[1], 1e-3);
    }
}

#[test]
fn a_flow_leaves_the_link_that_costs_more() {
    let problem = grouped(&[6.0, 2.0], &[&[0], &[1], &[0], &[1]], &[0, 0, 1, 2], AlphaFair::proportional());
    let solution = solve_with(&problem, "fast-ned", 1e-6);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    close(solution.flow_rates[0], 3.0, 1e-3);
    close(solution.flow_rates[1], 3.0, 1e-3);
    close(solution.flow_rates[2], 2.0, 1e-3);
}

#[test]
fn all_paths_are_filled_to_their_caps_where_there_is_room() {
    let problem = grouped(&[100.0; 2], &[&[0], &[1]], &[0, 0], AlphaFair::proportional());
    let solution = solve_with(&problem.with_rate_caps(vec![1.0, 9.0]).unwrap(), "fast-ned", 1e-6);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    close(solution.rates[0], 1.0, 1e-5);
    close(solution.rates[1], 9.0, 1e-5);
    assert!(solution.iterations < 60, "{solution}");
}

#[test]
fn a_saturated_flow_takes_no_more_over_all_its_paths_than_it_can_use() {
    // 3 is all that the curve goes up to; each link alone could carry it.
    let curve = BandwidthFunction::new(&[0.0, 1.0], &[0.0, 3.0], 5.0, 0.0).unwrap();
    let problem = grouped(&[10.0, 10.0], &[&[0], &[1]], &[0, 0], curve);
    let solution = solve_with(&problem, "fast-ned", 1e-6);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    close(solution.flow_rates[0], 3.0, 1e-4);
}

#[test]
fn the_cases_are_solved_to_a_thousandth_of_their_objective() {
    for name in CASES {
        let (problem, case) = read_case(name);
        let solution = solve_with(&problem, "auto", 1e-3);
        assert_eq!(solution.status, Status::Optimal, "{name}: {solution}");
        assert!(solution.iterations <= 150, "{name}: {solution}");
        let number = |key: &str| case["expected"][key].as_f64().unwrap();
        let loss = (number("objective") - solution.objective) / number("objective_scale");
        assert!((-1e-7..=1e-3).contains(&loss), "{name}: objective off by {loss:e}");
        for (link, (load, capacity)) in solution.loads.iter().zip(problem.capacities()).enumerate() {
            assert!(*load <= capacity * (1.0 + 1e-12), "{name}: link {link} carries {load} of {capacity}");
        }
    }
}

#[test]
fn fabrics_are_certified_to_a_millionth() {
    let leaf_spine = Topology::leaf_spine(9, 16, 4, 10.0, 10.0).unwrap();
    let fat_tree = Topology::fat_tree(8, 10.0).unwrap();
    for (net, flows, paths) in
        [(&leaf_spine, 300, 2), (&leaf_spine, 300, 4), (&leaf_spine, 300, 8), (&fat_tree, 200, 8)]
    {
        for alpha in [0.5, 1.0, 2.0] {
            let solution = solve_with(&pooled(net, flows, paths, alpha), "fast-ned", 1e-6);
            assert_eq!(solution.status, Status::Optimal, "{net}, {paths} paths, alpha {alpha}: {solution}");
            assert!(solution.iterations <= 500, "{net}, {paths} paths, alpha {alpha}: {solution}");
        }
    }
}

#[test]
fn iterations_do_not_depend_on_units() {
    let net = |capacity| Topology::leaf_spine(4, 4, 3, capacity, capacity).unwrap();
    for alpha in [0.5, 1.0, 2.0] {
        let base = solve_with(&pooled(&net(10.0), 60, 2, alpha), "fast-ned", 1e-6);
        assert_eq!(base.status, Status::Optimal, "{base}");
        for unit in [1e9, 1e-9] {
            let other = solve_with(&pooled(&net(10.0 * unit), 60, 2, alpha), "fast-ned", 1e-6);
            assert_eq!(other.iterations, base.iterations, "alpha {alpha}, unit {unit:e}: {base} against {other}");
            for (rate, expected) in other.flow_rates.iter().zip(&base.flow_rates) {
                close(rate / unit, *expected, 1e-6);
            }
        }
    }
}

#[test]
fn flows_with_one_path_and_with_several_share_a_users_utility() {
    let utilities: Vec<Arc<dyn Utility>> =
        (0..3).map(|_| Arc::new(Logarithmic { weight: 1.0, scale: 1e-6 }) as _).collect();
    let problem = grouped(&[6.0, 2.0], &[&[0], &[1], &[0], &[1]], &[0, 0, 1, 2], utilities);
    let solution = solve_with(&problem, "fast-ned", 1e-6);
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    close(solution.flow_rates[0], 3.0, 1e-3);
    close(solution.flow_rates[2], 2.0, 1e-3);
}

/// A user's utility with a mistake: its demand is not a number.
#[derive(Debug)]
struct Broken;

impl Utility for Broken {
    fn value(&self, _flow: usize, rate: f64) -> f64 {
        rate.ln()
    }
    fn marginal(&self, _flow: usize, rate: f64) -> f64 {
        1.0 / rate
    }
    fn demand(&self, _flow: usize, _price: f64) -> f64 {
        f64::NAN
    }
    fn demand_slope(&self, _flow: usize, price: f64) -> f64 {
        -1.0 / (price * price)
    }
}

#[test]
fn the_error_for_a_demand_that_is_nan_names_its_flow() {
    let utilities: Vec<Arc<dyn Utility>> = vec![Arc::new(AlphaFair::proportional()), Arc::new(Broken)];
    let problem = grouped(&[1.0, 1.0], &[&[0], &[0], &[1]], &[0, 1, 1], utilities);
    let error = Solver::new(&problem, &Ask::by("fast-ned")).unwrap_err().to_string();
    assert!(error.contains("flow 1") && error.contains("NaN"), "{error}");
}

#[test]
fn a_warm_start_from_the_answers_prices_is_short() {
    let net = Topology::leaf_spine(9, 16, 4, 10.0, 10.0).unwrap();
    let problem = pooled(&net, 300, 4, 1.0);
    let mut solver = Solver::new(&problem, &Ask::by("fast-ned")).unwrap();
    let settings = Settings::default().with_tol(1e-3).with_stop(Stop::Gap);
    let cold = solver.run(&settings, &mut ()).unwrap();
    let ask = Ask::by("fast-ned").with_prices(cold.prices.clone()).with_settings(settings);
    let warm = solve(&problem, &ask).unwrap();
    assert_eq!(warm.status, Status::Optimal, "{warm}");
    assert!(warm.iterations <= cold.iterations, "{cold} against {warm}");
}

/// A user-defined rule.
struct Doubling;

impl PriceRule for Doubling {
    fn advance(&self, link: &price::LinkState, _memory: &mut price::Memory) -> f64 {
        2.0 * link.price
    }
}

#[test]
fn every_other_price_rule_refuses_several_paths_by_its_name() {
    let problem = grouped(&[1.0, 1.0], &[&[0], &[1]], &[0, 0], AlphaFair::proportional());
    for method in ["ned", "gradient", "fgm", "newton-like", "rcp"] {
        let error = Solver::new(&problem, &Ask::by(method)).unwrap_err().to_string();
        let expected =
            format!("method {method:?} cannot take flows with several paths; use \"interior-point\" or \"fast-ned\"");
        assert_eq!(error, expected);
    }
    let error = Solver::new(&problem, &Ask::by_rule("mine", || price::Rule::user(Doubling))).unwrap_err().to_string();
    assert!(error.starts_with("method \"mine\" cannot take flows with several paths"), "{error}");
}

#[test]
fn nearly_all_problems_that_are_not_extreme_are_solved_to_a_hundredth() {
    // In the others the shares of very elastic flows and the prices of small links go round in circles.
    let (mut runner, mut missed) = (TestRunner::deterministic(), 0);
    let settings = Settings::default().with_tol(1e-2).with_stop(Stop::Gap).with_max_iterations(2000);
    for _ in 0..300 {
        let problem = any_problem(2, true).new_tree(&mut runner).unwrap().current();
        let solution = Solver::new(&problem, &Ask::by("fast-ned")).unwrap().run(&settings, &mut ()).unwrap();
        missed += usize::from(solution.status != Status::Optimal);
    }
    assert!(missed <= 6, "{missed} of 300");
}
