//! Classes by priority, and the cheapest of the best splits.

use std::sync::Arc;

use netnum_core::{AlphaFair, Ask, Linear, Paths, Problem, Settings, Solution, Status, Utilities, Utility, solve};

fn solved(problem: &Problem) -> Solution {
    let solution = solve(problem, &Ask::from(Settings::default().with_tol(1e-9))).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    solution
}

fn are_near(found: &[f64], expected: &[f64]) -> bool {
    found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= 1e-5)
}

/// A flow over either of two links of capacity 10, and one over the first alone.
fn two_links(utilities: impl Into<Utilities>, priorities: [f64; 2]) -> Problem {
    let paths = Paths::from_lists([[0], [1], [0]]);
    let problem = Problem::grouped(vec![10.0, 10.0], paths, vec![0, 0, 1], utilities).unwrap();
    problem.with_flow_caps(vec![10.0, 20.0]).unwrap().with_priorities(priorities.to_vec()).unwrap()
}

/// What the first flow would leave of the links as it was split is less than this: its split moves.
#[test]
fn the_splits_of_a_class_move_for_those_after_it() {
    for utility in [Utilities::from(AlphaFair::proportional()), Linear::new(1.0).unwrap().into()] {
        let solution = solved(&two_links(utility, [0.0, 1.0]));
        assert!(are_near(&solution.flow_rates, &[10.0, 10.0]), "{:?}", solution.flow_rates);
        assert!(are_near(&solution.rates, &[0.0, 10.0, 10.0]));
    }
    let max_min = solved(&two_links(AlphaFair::new(f64::INFINITY, 1.0).unwrap(), [0.0, 1.0]));
    assert!(are_near(&max_min.flow_rates, &[10.0, 10.0]), "{:?}", max_min.flow_rates);
    assert_eq!(max_min.objective, 10.0);
}

#[test]
fn a_class_gets_what_those_before_it_leave_and_shares_it_in_its_own_way() {
    let paths = Paths::from_lists([[0], [0], [0], [0]]);
    let problem = Problem::new(vec![12.0], paths, AlphaFair::new(1.0, vec![1.0, 1.0, 1.0, 2.0]).unwrap()).unwrap();
    let problem = problem.with_flow_caps(vec![2.0, 4.0, f64::INFINITY, f64::INFINITY]).unwrap();
    let solution = solved(&problem.with_priorities(vec![-1.0, -1.0, 3.5, 3.5]).unwrap());
    assert!(are_near(&solution.rates, &[2.0, 4.0, 2.0, 4.0]), "{:?}", solution.rates);
    let flows: Vec<_> = solution.classes.iter().map(|class| (class.priority, class.flows.clone())).collect();
    assert_eq!(flows, [(-1.0, vec![0, 1]), (3.5, vec![2, 3])]);
    let [first, second] = &solution.classes[..] else { panic!("two classes") };
    assert!((first.objective - 8f64.ln()).abs() < 1e-6 && first.prices[0] < 1e-6);
    assert!((second.objective - (2f64.ln() + 2.0 * 4f64.ln())).abs() < 1e-6 && (second.prices[0] - 0.5).abs() < 1e-6);
    assert_eq!(solution.certificate.relative_gap, first.certificate.relative_gap.max(second.certificate.relative_gap));
    assert!((solution.objective - first.objective - second.objective).abs() < 1e-9);
}

#[test]
fn the_floors_of_later_classes_hold_for_earlier_ones() {
    let problem = two_links(AlphaFair::proportional(), [1.0, 0.0]).with_flow_floors(vec![0.0, 3.0]).unwrap();
    assert!(are_near(&solved(&problem).flow_rates, &[10.0, 10.0]));
    // The second flow alone would have all of the first link; the floor of the first leaves it 6.
    let problem = problem.with_rate_caps(vec![f64::INFINITY, 1.0, f64::INFINITY]).unwrap();
    let solution = solved(&problem.with_flow_floors(vec![5.0, 0.0]).unwrap());
    assert!(are_near(&solution.flow_rates, &[5.0, 6.0]), "{:?}", solution.flow_rates);
}

#[test]
fn floors_of_all_classes_that_do_not_fit_end_at_the_first_stage() {
    let problem = two_links(AlphaFair::proportional(), [0.0, 1.0]).with_flow_floors(vec![9.0, 12.0]).unwrap();
    let solution = solve(&problem, &Ask::default()).unwrap();
    assert_eq!(solution.status, Status::Infeasible);
    assert_eq!(solution.infeasibility.unwrap().flows, [1]);
}

#[test]
fn of_the_best_splits_the_cheapest_is_taken() {
    let paths = Paths::from_lists([[0], [1], [0]]);
    let problem = Problem::grouped(vec![10.0, 10.0], paths, vec![0, 0, 1], Linear::new(1.0).unwrap()).unwrap();
    let problem = problem.with_flow_caps(vec![5.0, 5.0]).unwrap();
    for (costs, split) in [([1.0, 2.0, 0.0], [5.0, 0.0]), ([2.0, 1.0, 0.0], [0.0, 5.0])] {
        let solution = solve(&problem, &Ask::default().with_tie_costs(costs.to_vec())).unwrap();
        assert_eq!(solution.status, Status::Optimal);
        assert!(are_near(&solution.rates[..2], &split), "{:?}", solution.rates);
        assert!((solution.objective - 10.0).abs() < 1e-5);
    }
    let wrong = |costs: Vec<f64>| solve(&problem, &Ask::default().with_tie_costs(costs)).unwrap_err().to_string();
    assert_eq!(wrong(vec![1.0]), "tie_cost has 1 entries, expected 3, one per path");
    assert_eq!(wrong(vec![1.0, -1.0, 0.0]), "path 1 has cost -1, expected a finite number >= 0");
}

#[test]
fn a_priority_that_is_no_number_is_refused_by_its_flow() {
    let problem = || two_links(AlphaFair::proportional(), [0.0, 0.0]);
    let error = problem().with_priorities(vec![0.0, f64::NAN]).unwrap_err().to_string();
    assert_eq!(error, "flow 1 has priority NaN, expected a finite number");
    let error = problem().with_priorities(vec![0.0]).unwrap_err().to_string();
    assert_eq!(error, "priority has 1 entries, expected 2, one per flow");
    // All the same: one class, which is the problem without priorities.
    assert_eq!(problem().with_priorities(vec![4.0, 4.0]).unwrap(), problem());
}

#[test]
fn costs_of_earlier_classes_count_while_later_ones_are_served() {
    let paths = Paths::from_lists([[0], [1], [2]]);
    let problem = Problem::grouped(vec![10.0; 3], paths, vec![0, 0, 1], AlphaFair::proportional()).unwrap();
    let problem = problem.with_path_costs(vec![0.01, 0.1, 0.0]).unwrap();
    let problem = problem.with_flow_caps(vec![4.0, f64::INFINITY]).unwrap();
    let solution = solved(&problem.with_priorities(vec![0.0, 1.0]).unwrap());
    assert!(are_near(&solution.rates, &[4.0, 0.0, 10.0]), "{:?}", solution.rates);
    assert!((solution.objective - (4f64.ln() + 10f64.ln() - 0.04)).abs() < 1e-4, "{}", solution.objective);
}

#[test]
fn who_solves_once_refuses_priorities() {
    let problem = two_links(AlphaFair::proportional(), [0.0, 1.0]);
    let expected = "a single solve cannot take priorities; solve(problem) takes them, class by class";
    assert_eq!(netnum_core::certify(&problem, &[0.0; 3], &[0.0; 2]).unwrap_err().to_string(), expected);
    assert_eq!(netnum_core::Solver::new(&problem, &Ask::default()).err().unwrap().to_string(), expected);
    assert_eq!(netnum_core::max_min(&problem).unwrap_err().to_string(), expected);
    let error = solve(&problem, &Ask::by("fast-ned")).unwrap_err().to_string();
    assert_eq!(error, "method \"fast-ned\" cannot take priorities or tie costs; use \"auto\"");
}

#[test]
fn max_min_refuses_costs_and_floors_that_do_not_fit() {
    let fair = || AlphaFair::new(f64::INFINITY, 1.0).unwrap();
    let problem = || Problem::new(vec![10.0], Paths::from_lists([[0], [0]]), fair()).unwrap();
    let costly = problem().with_path_costs(vec![1.0, 0.0]).unwrap();
    for error in [netnum_core::max_min(&costly).unwrap_err(), solve(&costly, &Ask::default()).unwrap_err()] {
        assert!(error.to_string().contains("tie_cost"), "{error}");
    }
    let floors = problem().with_flow_floors(vec![8.0, 4.0]).unwrap();
    let expected = "the floors do not fit: 0.8333 of each does; solve(problem) has the proof";
    assert_eq!(netnum_core::max_min(&floors).unwrap_err().to_string(), expected);
    let costly = two_links(AlphaFair::proportional(), [0.0, 0.0]).with_path_costs(vec![0.1, 0.0, 0.0]).unwrap();
    let error = solve(&costly, &Ask::default().with_tie_costs(vec![1.0; 3])).unwrap_err().to_string();
    assert!(error.contains("a problem with costs"), "{error}");
}

#[test]
fn flows_for_which_earlier_classes_leave_nothing_are_failed_flows() {
    // The first flow fills the first link whatever else; the second has no other, the third has.
    let paths = Paths::from_lists([[0], [0], [0], [1]]);
    let problem =
        Problem::grouped(vec![10.0, 4.0], paths, vec![0, 1, 2, 2], AlphaFair::new(2.0, 1.0).unwrap()).unwrap();
    let solution = solved(&problem.with_priorities(vec![0.0, 1.0, 1.0]).unwrap());
    assert!(are_near(&solution.flow_rates, &[10.0, 0.0, 4.0]), "{:?}", solution.flow_rates);
    assert_eq!(solution.failed_flows, [1]);
    assert!((solution.objective + 0.1 + 0.25).abs() < 1e-6);
}

#[test]
fn flows_for_which_a_class_of_max_min_leaves_nothing_are_failed_flows_too() {
    let of = |alpha| AlphaFair::new(alpha, 1.0).unwrap();
    let utilities: Vec<Arc<dyn Utility>> = vec![Arc::new(of(f64::INFINITY)), Arc::new(of(1.0)), Arc::new(of(1.0))];
    let problem = Problem::new(vec![10.0, 5.0], Paths::from_lists([[0], [0], [1]]), utilities).unwrap();
    let solution = solved(&problem.clone().with_priorities(vec![0.0, 1.0, 1.0]).unwrap());
    assert!(are_near(&solution.flow_rates, &[10.0, 0.0, 5.0]), "{:?}", solution.flow_rates);
    assert_eq!(solution.failed_flows, [1]);
    assert!((solution.objective - 10.0 - 5f64.ln()).abs() < 1e-6);
    // Each is worth its own utility.
    let values = problem.values(&[10.0, 2.0, 5.0]).unwrap();
    assert!(are_near(&values, &[10.0, 2f64.ln(), 5f64.ln()]), "{values:?}");
}

#[test]
fn a_flow_is_not_starved_where_the_split_of_an_earlier_class_can_move() {
    // The first flow gets 12 over both links, of which the second can have 8 of the first link; the third has the rest
    // of neither.
    let paths = Paths::from_lists([[0], [1], [0], [1]]);
    let problem = Problem::grouped(vec![10.0, 10.0], paths, vec![0, 0, 1, 2], AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_caps(vec![12.0, f64::INFINITY, f64::INFINITY]).unwrap();
    let solution = solved(&problem.with_priorities(vec![0.0, 1.0, 2.0]).unwrap());
    assert!(are_near(&solution.flow_rates, &[12.0, 8.0, 0.0]), "{:?}", solution.flow_rates);
    assert_eq!(solution.failed_flows, [2]);
}

/// Flow 3 keeps 10¹⁰, moved to a path that costs 0.066 as others need room: what is left of a budget for costs is far
/// less than that rate, and no reason to leave flows 0 and 4 without any.
#[test]
fn what_a_budget_leaves_starves_nobody() {
    let ring = |first: u32, many: u32| (first..first + many).map(|link| link % 12).collect::<Vec<_>>();
    let lists = [(4, 11), (3, 1), (10, 9), (7, 3), (10, 1), (0, 10), (11, 10), (9, 2), (4, 7), (1, 8), (9, 4)];
    let paths = Paths::from_lists(lists.map(|(first, many)| ring(first, many)));
    let group = vec![0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 5];
    let problem = Problem::grouped(vec![1e10; 12], paths, group, AlphaFair::new(8.0, 1.0).unwrap()).unwrap();
    let cost = 0.066_228_743_839_467_25;
    let costs = vec![0.0, 0.0, 0.0, 1.067, 0.051, 0.0, 0.0, cost, 0.0, 1.561, 28.7];
    let problem = problem.with_path_costs(costs).unwrap();
    let solution = solved(&problem.with_priorities(vec![3.0, 2.0, 2.0, 0.0, 3.0, 0.0]).unwrap());
    // One unit of flow 3 makes room for one of each.
    let right = (cost / 2.0f64).powf(-0.125);
    for flow in [0, 4] {
        assert!((solution.flow_rates[flow] / right - 1.0).abs() < 1e-3, "{flow}: {:?}", solution.flow_rates);
    }
}
