//! Costs of paths: utility lost per unit of rate.

use std::sync::Arc;

use netnum_core::{AlphaFair, Ask, Linear, MinFct, Paths, Problem, Status, Utility, certify, solve};

/// One log flow over two links of capacity 2, the second at a cost: U' = 1/y meets the cost at y = 2.5.
fn two_links(cost: f64) -> Problem {
    let paths = Paths::from_lists([[0], [1]]);
    let problem = Problem::grouped(vec![2.0, 2.0], paths, vec![0, 0], AlphaFair::proportional()).unwrap();
    problem.with_path_costs(vec![0.0, cost]).unwrap()
}

#[test]
fn a_dearer_path_carries_what_its_cost_is_worth() {
    // The cheap path is full; its price is what the other costs.
    let certificate = certify(&two_links(0.4), &[2.0, 0.5], &[0.4, 0.0]).unwrap();
    assert!(certificate.relative_gap < 1e-12 && certificate.kkt_residual < 1e-12, "{certificate:?}");
    assert!(certify(&two_links(0.3), &[2.0, 0.5], &[0.4, 0.0]).unwrap().kkt_residual > 0.01);
}

#[test]
fn demands_are_carried_at_the_least_cost() {
    // The public toy: capacities 10, 0-1-2-3-4 at .01 a link, and two others that cross it at 1 a link.
    let costs = [0.01, 0.01, 0.01, 0.01, 1.0, 1.0];
    let paths = Paths::from_lists([vec![0, 1, 2, 3], vec![4, 5]]);
    let problem = Problem::grouped(vec![10.0; 6], paths, vec![0, 0], Linear::new(0.0).unwrap()).unwrap();
    let problem = problem.with_link_costs(&costs).unwrap().with_flow_floors(vec![10.0]).unwrap();
    assert!((problem.path_cost(0) - 0.04).abs() < 1e-15 && problem.path_cost(1) == 2.0);
    let certificate = certify(&problem, &[10.0, 0.0], &[0.0; 6]).unwrap();
    assert!(certificate.relative_gap < 1e-12 && certificate.kkt_residual < 1e-12, "{certificate:?}");
    let dear = certify(&problem, &[9.0, 1.0], &[0.0; 6]).unwrap();
    // The cost is 2.36 in place of 0.4.
    assert!((dear.relative_gap - 1.96 / 2.36).abs() < 1e-9, "{dear:?}");
}

#[test]
fn a_cost_that_is_none_is_refused_by_its_path_or_link() {
    let of = |costs: Vec<f64>| two_links(0.0).with_path_costs(costs).unwrap_err().to_string();
    assert_eq!(of(vec![0.0, -0.5]), "path 1 has cost -0.5, expected a finite number >= 0");
    assert_eq!(of(vec![f64::NAN, 0.0]), "path 0 has cost NaN, expected a finite number >= 0");
    assert_eq!(of(vec![1.0]), "path_cost has 1 entries, expected 2, one per path");
    let error = two_links(0.0).with_link_costs(&[f64::INFINITY, 0.0]).unwrap_err().to_string();
    assert_eq!(error, "link 0 has cost inf, expected a finite number >= 0");
}

#[test]
fn a_flow_that_is_worth_nothing_needs_a_floor_or_a_cap() {
    let worthless = Problem::new(vec![1.0], Paths::from_lists([[0]]), Linear::new(0.0).unwrap()).unwrap();
    let expected = "flow 0 has weight 0, expected a number > 0, or a floor or a cap of the flow";
    assert_eq!(worthless.check_limits().unwrap_err().to_string(), expected);
    assert_eq!(certify(&worthless, &[0.0], &[0.0]).unwrap_err().to_string(), expected);
    worthless.clone().with_flow_floors(vec![0.5]).unwrap().check_limits().unwrap();
    worthless.with_flow_caps(vec![0.5]).unwrap().check_limits().unwrap();
}

#[test]
fn a_flow_that_is_worth_nothing_has_its_floor_beside_others() {
    let others: [Arc<dyn Utility>; 4] = [
        Arc::new(AlphaFair::proportional()),
        Arc::new(AlphaFair::new(4.0, 2.0).unwrap()),
        Arc::new(Linear::new(1.0).unwrap()),
        Arc::new(MinFct::new(1.0, 0.125).unwrap()),
    ];
    let cases = [(1, 0.0, 2.0), (1, 0.0, 20.0), (1, 1.0, 2.0), (1, 1.0, 20.0), (0, 0.0, 2.0), (0, 1.0, 20.0)];
    for (link, floor, cap) in cases {
        for other in &others {
            let utilities: Vec<Arc<dyn Utility>> = vec![Arc::clone(other), Arc::new(Linear::new(0.0).unwrap())];
            let problem = Problem::new(vec![10.0, 10.0], Paths::from_lists([[0], [link]]), utilities).unwrap();
            let problem = problem.with_flow_caps(vec![f64::INFINITY, cap]).unwrap();
            let problem = problem.with_flow_floors(vec![0.0, floor]).unwrap();
            let solution = solve(&problem, &Ask::default()).unwrap();
            assert_eq!(solution.status, Status::Optimal, "{solution}");
            assert!((solution.rates[1] - floor).abs() < 1e-9 && solution.failed_flows.is_empty(), "{solution:?}");
            let left = if link == 0 { 10.0 - floor } else { 10.0 };
            assert!((solution.rates[0] - left).abs() < 1e-4, "{solution:?}");
        }
    }
}
