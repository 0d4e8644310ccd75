//! Costs of paths: utility lost per unit of rate.

use std::sync::Arc;

use netnum_core::{
    AlphaFair, Ask, BandwidthFunction, Curvature, Linear, MinFct, Paths, Problem, Status, Utility, certify, solve,
};

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
    // Other costs of links replace these, as other costs of paths do.
    assert_eq!(problem.clone().with_link_costs(&costs).unwrap(), problem);
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
    let expected = "flow 0 has weight 0, expected a number > 0, or a floor (flow_floor) or a demand (flow_cap) of it";
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

/// A log flow that fills the first link at the right price, and one that is worth nothing over other links.
fn beside_a_worthless_flow(paths: &[u32]) -> Problem {
    let utilities: Vec<Arc<dyn Utility>> =
        vec![Arc::new(AlphaFair::proportional()), Arc::new(Linear::new(0.0).unwrap())];
    let lists = Paths::from_lists(std::iter::once(0).chain(paths.iter().copied()).map(|link| [link]));
    let group = (0..=paths.len() as u32).map(|path| path.min(1)).collect();
    let problem = Problem::grouped(vec![10.0, 10.0, 10.0], lists, group, utilities).unwrap();
    problem.with_flow_caps(vec![f64::INFINITY, 5.0]).unwrap()
}

#[test]
fn what_a_flow_that_is_worth_nothing_pays_is_missing_from_the_optimum() {
    for (paths, costs, rates) in [
        (vec![1], vec![0.0, 1.0], vec![10.0, 5.0]),
        (vec![1, 2], vec![0.0, 1.0, 2.0], vec![10.0, 1.0, 2.0]),
        (vec![1, 2], vec![0.0, 0.0, 1.0], vec![10.0, 0.0, 5.0]),
    ] {
        let problem = beside_a_worthless_flow(&paths).with_path_costs(costs).unwrap();
        let certificate = certify(&problem, &rates, &[0.1, 0.0, 0.0]).unwrap();
        // 5 of the utility are missing, relative to what the first flow pays, which is 1.
        assert!(certificate.relative_gap >= 5.0 - 1e-9 && certificate.kkt_residual >= 0.1, "{certificate:?}");
        let nothing = rates.iter().enumerate().map(|(path, &rate)| if path == 0 { rate } else { 0.0 });
        let optimal = certify(&problem, &nothing.collect::<Vec<_>>(), &[0.1, 0.0, 0.0]).unwrap();
        assert!(optimal.relative_gap < 1e-12 && optimal.kkt_residual < 1e-12, "{optimal:?}");
    }
}

#[test]
fn a_flow_that_is_worth_nothing_takes_from_others_on_their_links_and_nothing_elsewhere() {
    let certify = |link, rates: [f64; 2]| certify(&beside_a_worthless_flow(&[link]), &rates, &[0.1, 0.0, 0.0]).unwrap();
    // Where nothing costs it may have any rate.
    let free = certify(1, [10.0, 5.0]);
    assert!(free.relative_gap < 1e-12 && free.kkt_residual < 1e-12, "{free:?}");
    // The rates are made feasible together: log 1.5 is missing.
    let over = certify(0, [10.0, 5.0]);
    assert!(over.relative_gap >= 1.5f64.ln() && over.kkt_residual > 0.3 && (over.overload - 0.5).abs() < 1e-12);
    let beside = certify(0, [5.0, 5.0]);
    assert!(beside.relative_gap >= 2f64.ln() - 1e-12 && beside.kkt_residual > 0.3, "{beside:?}");
}

#[test]
fn flows_that_are_worth_nothing_cost_what_they_carry_where_nothing_else_is_sent() {
    let problem = Problem::new(vec![10.0], Paths::from_lists([[0]]), Linear::new(0.0).unwrap()).unwrap();
    let problem = problem.with_flow_caps(vec![5.0]).unwrap().with_path_costs(vec![1.0]).unwrap();
    let certificate = certify(&problem, &[5.0], &[0.0]).unwrap();
    assert!(certificate.relative_gap >= 1.0 - 1e-12 && certificate.kkt_residual >= 1.0 - 1e-12, "{certificate:?}");
}

#[test]
fn a_flow_that_is_worth_nothing_has_its_floor_beside_others_that_are_all_satisfied() {
    let curve = BandwidthFunction::new(&[0.0, 1.0], &[0.0, 2.0], 2.0, 0.0).unwrap();
    let utilities: Vec<Arc<dyn Utility>> = vec![Arc::new(curve), Arc::new(Linear::new(0.0).unwrap())];
    let problem = Problem::new(vec![10.0, 10.0], Paths::from_lists([[0], [1]]), utilities).unwrap();
    let problem = problem.with_flow_caps(vec![f64::INFINITY, 8.0]).unwrap();
    let solution = solve(&problem.with_flow_floors(vec![0.0, 1.0]).unwrap(), &Ask::default()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    assert!((solution.rates[0] - 2.0).abs() < 1e-6 && (solution.rates[1] - 1.0).abs() < 1e-9, "{solution:?}");
}

/// Worth the same whatever it gets, with everything else as the library has it.
#[derive(Debug)]
struct Indifferent;

impl Utility for Indifferent {
    fn value(&self, _flow: usize, _rate: f64) -> f64 {
        0.0
    }
    fn marginal(&self, _flow: usize, _rate: f64) -> f64 {
        0.0
    }
    fn demand(&self, _flow: usize, _price: f64) -> f64 {
        0.0
    }
    fn demand_slope(&self, _flow: usize, _price: f64) -> f64 {
        0.0
    }
    fn curvature(&self) -> Curvature {
        Curvature::Linear
    }
}

#[test]
fn what_is_worth_nothing_is_limited_by_its_floor_whoever_says_so() {
    for utility in [Arc::new(Indifferent) as Arc<dyn Utility>, Arc::new(Linear::new(0.0).unwrap())] {
        let problem = Problem::new(vec![f64::INFINITY], Paths::from_lists([[0]]), vec![utility]).unwrap();
        problem.with_flow_floors(vec![2.0]).unwrap().check_limits().unwrap();
    }
}
