//! A solve that a limit stops leaves no capacity idle that a flow could use.

use crate::common::*;
use netnum_core::*;
use proptest::prelude::*;

const ROUNDING: f64 = 1e-9;

/// Whether every path has a full link, or is at its cap, or its flow at its cap.
fn is_filled(problem: &Problem, solution: &Solution) -> bool {
    let full: Vec<bool> = problem
        .capacities()
        .iter()
        .zip(&solution.loads)
        .map(|(capacity, load)| *load >= capacity * (1.0 - ROUNDING))
        .collect();
    problem.paths().iter().enumerate().all(|(path, links)| {
        let flow = problem.group()[path] as usize;
        links.iter().any(|&link| full[link as usize])
            || solution.rates[path] >= problem.rate_cap(path) * (1.0 - ROUNDING)
            || solution.flow_rates[flow] >= problem.flow_cap(flow) * (1.0 - ROUNDING)
    })
}

fn fits(problem: &Problem, solution: &Solution) -> bool {
    let links = problem.capacities().iter().zip(&solution.loads).all(|(c, load)| *load <= c * (1.0 + ROUNDING));
    links && (0..problem.flows()).all(|flow| solution.flow_rates[flow] <= problem.flow_cap(flow) * (1.0 + ROUNDING))
}

fn stopped(problem: &Problem, most: usize) -> Solution {
    solve(problem, &Ask::default().with_settings(Settings::default().with_tol(1e-12).with_max_iterations(most)))
        .unwrap()
}

/// Problems over several paths by one utility, with demands.
fn with_demands(alpha: impl Strategy<Value = f64>) -> impl Strategy<Value = Problem> {
    let path = || prop::sample::subsequence(vec![0u32, 1, 2, 3, 4, 5], 1..4);
    let flow = (prop::collection::vec(path(), 1..4), decades(-2, 2), decades(-1, 1));
    let capacities = prop::collection::vec(decades(-1, 1), 6);
    (capacities, prop::collection::vec(flow, 1..12), alpha).prop_map(|(capacities, flows, alpha)| {
        let group =
            flows.iter().enumerate().flat_map(|(flow, (own, ..))| own.iter().map(move |_| flow as u32)).collect();
        let paths = Paths::from_lists(flows.iter().flat_map(|(own, ..)| own.clone()));
        let weights: Vec<f64> = flows.iter().map(|(_, _, weight)| *weight).collect();
        let utility: Utilities = match alpha {
            0.0 => Linear::new(weights).unwrap().into(),
            alpha => AlphaFair::new(alpha, weights).unwrap().into(),
        };
        let problem = Problem::grouped(capacities, paths, group, utility).unwrap();
        problem.with_flow_caps(flows.iter().map(|(_, cap, _)| *cap).collect()).unwrap()
    })
}

proptest! {
    #[test]
    fn links_are_full_or_flows_have_all_they_can_use(
        problem in with_demands(prop_oneof![Just(0.0), Just(1.0), Just(4.0), Just(f64::INFINITY)]),
        most in 0usize..4,
    ) {
        let solution = stopped(&problem, most);
        prop_assert!(fits(&problem, &solution), "{}", solution);
        let is_stopped = solution.status == Status::MaxIterations;
        prop_assert!(!is_stopped || is_filled(&problem, &solution), "{} {:?}", solution, solution.rates);
        prop_assert!(solution.certificate.relative_gap.is_finite(), "{}", solution);
    }

    #[test]
    fn a_gap_above_1_is_none_that_the_first_prices_make_smaller(problem in with_demands(Just(4.0)), most in 1usize..4) {
        let solution = stopped(&problem, most);
        let gap = solution.certificate.relative_gap;
        let first = Solver::new(&problem, &Ask::default()).unwrap().prices();
        let of_first = certify(&problem, &solution.rates, &first).unwrap().relative_gap;
        prop_assert!(gap <= 1.0 || gap <= of_first * (1.0 + 1e-6), "{} but {}", solution, of_first);
    }

    #[test]
    fn whatever_the_utilities(problem in any_problem(4, true), most in 0usize..4) {
        let solution = stopped(&problem, most);
        prop_assert!(fits(&problem, &solution), "{}", solution);
    }
}

#[test]
fn throughput_before_the_first_iteration_is_most_of_the_best() {
    let net = Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap();
    let (sources, destinations) = net.random_pairs(400, 3).unwrap();
    let paths = net.ecmp(&sources, &destinations, 3).unwrap();
    let problem = Problem::new(net.capacities().to_vec(), paths, Linear::new(1.0).unwrap()).unwrap();
    let (best, first) = (solve(&problem, &Ask::default()).unwrap(), stopped(&problem, 0));
    assert!(first.objective >= 0.85 * best.objective, "{} of {}", first.objective, best.objective);
}

#[test]
fn floors_are_kept() {
    let paths = Paths::from_lists([vec![0], vec![1], vec![0], vec![0, 1]]);
    let problem = Problem::grouped(vec![3.0, 2.0], paths, vec![0, 0, 1, 2], AlphaFair::new(2.0, 1.0).unwrap()).unwrap();
    let problem = problem.with_flow_floors(vec![0.0, 0.0, 1.5]).unwrap();
    for most in 0..3 {
        let solution = stopped(&problem, most);
        assert!(solution.flow_rates[2] >= 1.5 * (1.0 - ROUNDING) && fits(&problem, &solution), "{solution}");
        assert!(is_filled(&problem, &solution), "{solution}");
    }
}

#[test]
fn what_is_known_when_the_time_is_up_before_the_method_is_made_is_filled() {
    let paths = Paths::from_lists([&[0u32, 1][..], &[2], &[1, 2], &[0]]);
    let late = || {
        Ask::by_method("late", |_| {
            loop {
                internal::interrupt::check()?;
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        })
    };
    let limit = std::time::Duration::from_millis(500);
    for utility in [Utilities::from(AlphaFair::proportional()), Linear::new(2.0).unwrap().into()] {
        let problem = Problem::grouped(vec![3.0, 2.0, 4.0], paths.clone(), vec![0, 0, 1, 2], utility).unwrap();
        let problem = problem.with_flow_caps(vec![3.5, 9.0, 1.0]).unwrap();
        let ask = late().with_settings(Settings::default().with_time_limit(limit));
        let solution = solve(&problem, &ask).unwrap();
        assert_eq!((solution.status, solution.iterations, &*solution.method), (Status::TimeLimit, 0, "late"));
        assert!(fits(&problem, &solution) && is_filled(&problem, &solution), "{solution:?}");
        assert!(solution.certificate.relative_gap.is_finite() && solution.objective.is_finite(), "{solution:?}");
        // Nothing is filled where paths have costs: what is left idle may not be worth its cost.
        let problem = problem.with_path_costs(vec![0.1; 4]).unwrap();
        let solution = solve(&problem, &ask).unwrap();
        assert_eq!((solution.status, solution.iterations), (Status::TimeLimit, 0));
        assert!(fits(&problem, &solution) && solution.flow_rates.iter().all(|&rate| rate > 0.0), "{solution:?}");
        assert!(solution.certificate.relative_gap.is_finite(), "{solution:?}");
    }
}

#[test]
fn no_flow_is_starved_where_its_shortest_path_is_full_before() {
    // The floor of the third flow fills the short path of the first.
    let paths = Paths::from_lists([vec![0], vec![1, 2], vec![1], vec![0]]);
    let problem = Problem::grouped(vec![1.0; 3], paths, vec![0, 0, 1, 2], AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_floors(vec![0.0, 0.0, 1.0]).unwrap();
    let solution = stopped(&problem, 0);
    // In proportion to 1/(Σ a)², of paths of two links and of one.
    assert!((solution.flow_rates[0] - 0.2).abs() < 1e-9, "{:?}", solution.flow_rates);
    assert!((solution.flow_rates[1] - 0.8).abs() < 1e-9, "{:?}", solution.flow_rates);
    assert!(solution.certificate.relative_gap < 1.0, "{solution}");
}
