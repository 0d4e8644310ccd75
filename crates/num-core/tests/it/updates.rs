//! A solver that goes on with a problem that has changed: the answer is that of a new solver, and nearer.

use crate::common::{any_problem, leaf_spine, options, parking_lot, single_link};
use netnum_core::*;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn solver(problem: &Problem, method: &str) -> Solver {
    Solver::new(problem, &Ask::by(method)).unwrap()
}

fn run(solver: &mut Solver) -> Solution {
    solver.run(&Settings::default(), &mut ()).unwrap()
}

/// Flows between random nodes of a ring with chords, each with four paths and a demand.
fn with_demands(flows: usize, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut edges = String::new();
    for node in 0..50 {
        let (from, to) = if node < 30 { (node, (node + 1) % 30) } else { (node - 30, (node * 7 + 11) % 30) };
        edges += &format!("{from} {to} {}\n", 10f64.powf(rng.random_range(0.5..1.5)));
    }
    let net = Topology::from_edges(&edges).unwrap();
    let (sources, destinations) = net.random_pairs(flows, seed).unwrap();
    let (paths, group) = net.k_shortest_paths(&sources, &destinations, &KShortest::new(4)).unwrap();
    let problem = Problem::grouped(net.capacities().to_vec(), paths, group, AlphaFair::proportional()).unwrap();
    problem.with_flow_caps(demands(flows, seed)).unwrap()
}

fn demands(flows: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..flows).map(|_| 10f64.powf(rng.random_range(-1.5..0.5))).collect()
}

/// The caps with one in twenty up to twice or down to half of what they were.
fn a_few_changed(caps: &[f64], seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    caps.iter().map(|cap| if rng.random_bool(0.05) { cap * rng.random_range(0.5..2.0) } else { *cap }).collect()
}

#[test]
fn what_an_update_keeps_it_keeps_twice() {
    let problem = with_demands(300, 1);
    let mut solver = solver(&problem, "interior-point");
    let _ = run(&mut solver);
    let (prices, rates) = (solver.prices(), solver.raw_rates());
    for _ in 0..2 {
        solver.update(&problem).unwrap();
        let close = |one: &[f64], other: &[f64]| one.iter().zip(other).all(|(a, b)| (a - b).abs() <= 1e-12 * a.abs());
        assert!(close(&prices, &solver.prices()) && close(&rates, &solver.raw_rates()));
    }
}

#[test]
fn after_a_few_changes_the_interior_point_takes_fewer_steps_to_the_same_rates() {
    for seed in 0..3 {
        let problem = with_demands(300, seed);
        let caps: Vec<f64> = (0..300).map(|flow| problem.flow_cap(flow)).collect();
        for method in ["auto", "interior-point"] {
            let mut solver = solver(&problem, method);
            assert_eq!(run(&mut solver).status, Status::Optimal);
            let changed = problem.clone().with_flow_caps(a_few_changed(&caps, seed)).unwrap();
            solver.update(&changed).unwrap();
            let (warm, cold) = (run(&mut solver), run(&mut self::solver(&changed, method)));
            assert_eq!(warm.status, Status::Optimal, "{method}: {warm}");
            assert!(4 * warm.iterations <= 3 * cold.iterations, "{method}: {warm}, {cold}");
            for (flow, (warm, cold)) in warm.flow_rates.iter().zip(&cold.flow_rates).enumerate() {
                assert!((warm - cold).abs() <= 3e-3 * cold, "{method}, flow {flow}: {warm} and {cold}");
            }
        }
    }
}

#[test]
fn a_change_and_back_is_no_change() {
    let problem = with_demands(300, 7);
    let mut solver = solver(&problem, "interior-point");
    let first = run(&mut solver);
    solver.update(&problem).unwrap();
    let again = run(&mut solver);
    assert_eq!(again.status, Status::Optimal);
    assert!(again.iterations < first.iterations, "{again}, {first}");
}

#[test]
fn links_that_fail_and_come_back_take_their_flows_with_them() {
    let problem = parking_lot(3, 1.0);
    for method in ["auto", "fast-ned", "interior-point", "ned", "newton", "xwi"] {
        let mut solver = solver(&problem, method);
        let before = run(&mut solver);
        solver.update(&problem.clone().with_capacities(vec![3.0, 0.0, 3.0]).unwrap()).unwrap();
        let failed = run(&mut solver);
        assert_eq!((failed.status, &*failed.failed_flows), (Status::Optimal, &[0, 2][..]), "{method}: {failed}");
        assert!((failed.rates[1] - 3.0).abs() < 1e-2, "{method}: {failed:?}");
        solver.update(&problem).unwrap();
        let after = run(&mut solver);
        assert_eq!(after.status, Status::Optimal, "{method}: {after}");
        for (one, other) in before.rates.iter().zip(&after.rates) {
            assert!((one - other).abs() < 3e-2 * other, "{method}: {before:?} and {after:?}");
        }
    }
}

#[test]
fn auto_takes_another_method_where_the_utilities_are_others() {
    let problem = single_link(1.0, &[1.0, 2.0], 6.0);
    let mut solver = solver(&problem, "auto");
    let _ = run(&mut solver);
    let fairest = AlphaFair::new(f64::INFINITY, vec![1.0, 2.0]).unwrap();
    solver.update(&problem.clone().with_utility(fairest).unwrap()).unwrap();
    assert_eq!(solver.method(), "max-min");
    let solution = run(&mut solver);
    assert!((solution.rates[1] - 4.0).abs() < 1e-9, "{solution:?}");
    solver.update(&problem.clone().with_utility(Linear::new(vec![1.0, 2.0]).unwrap()).unwrap()).unwrap();
    assert_eq!(solver.method(), "interior-point");
    assert!((run(&mut solver).rates[1] - 6.0).abs() < 1e-4);
    solver.update(&problem).unwrap();
    assert!((run(&mut solver).rates[1] - 4.0).abs() < 1e-4);
}

#[test]
fn a_price_method_goes_on_from_its_prices() {
    let problem = leaf_spine(200, 1.0, 5);
    let mut solver = Solver::new(&problem, &Ask::by("ned").with_options(&options(&[("gamma", 0.4)]))).unwrap();
    let cold = run(&mut solver);
    let capacities = problem.capacities().iter().map(|capacity| 2.0 * capacity).collect();
    solver.update(&problem.with_capacities(capacities).unwrap()).unwrap();
    assert_eq!((solver.method(), solver.iteration()), ("ned", 0));
    let warm = run(&mut solver);
    assert_eq!(warm.status, Status::Optimal);
    assert!(warm.iterations < cold.iterations, "{warm}, {cold}");
}

#[test]
fn what_cannot_be_gone_on_with_is_said_and_nothing_has_changed() {
    let problem = parking_lot(2, 1.0);
    let mut solver = solver(&problem, "fast-ned");
    solver.step(3).unwrap();
    let prices = solver.prices();
    let mut message = |other: &Problem| solver.update(other).unwrap_err().to_string();
    assert_eq!(message(&parking_lot(3, 1.0)), "update does not fit the problem: it has 3 links, the problem has 2");
    let of =
        |lists: &[&[u32]]| Problem::new(vec![3.0; 2], Paths::from_lists(lists), AlphaFair::proportional()).unwrap();
    assert_eq!(message(&of(&[&[0], &[1]])), "update does not fit the problem: it is of 2 flows, the problem has 3");
    let others = "update does not fit the problem: path 1 crosses other links there";
    assert_eq!(message(&of(&[&[0, 1], &[1], &[0]])), others);
    let linear = problem.clone().with_utility(Linear::new(1.0).unwrap()).unwrap();
    assert!(message(&linear).starts_with("method \"fast-ned\" cannot take linear utilities"));
    assert_eq!((solver.prices(), solver.iteration()), (prices, 3));
    let ask = Ask::by("fast-ned").with_point(vec![1.0; 2], vec![1.0, f64::NAN, 0.0]);
    let wrong = Solver::new(&problem, &ask).unwrap_err().to_string();
    assert_eq!(wrong, "path 1 has rate NaN, expected a finite number >= 0");
}

#[test]
fn a_solver_by_a_rule_goes_on_from_its_prices_too() {
    let problem = leaf_spine(200, 1.0, 5);
    let mut solver = Solver::new(&problem, &Ask::by_rule("mine", || price::Ned::new(0.4))).unwrap();
    let cold = run(&mut solver);
    let capacities = problem.capacities().iter().map(|capacity| 1.01 * capacity).collect();
    solver.update(&problem.with_capacities(capacities).unwrap()).unwrap();
    let warm = run(&mut solver);
    assert_eq!((warm.status, &*warm.method), (Status::Optimal, "mine"));
    assert!(warm.iterations < cold.iterations, "{warm}, {cold}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Whatever changes, a solver that goes on ends as well as a new one.
    #[test]
    fn from_any_answer_the_interior_point_ends_as_well_as_from_afar(
        problem in any_problem(4, true), seed in 0u64..1000,
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let capacities = problem.capacities().iter().map(|c| c * 10f64.powf(rng.random_range(-0.5..0.5))).collect();
        let caps = (0..problem.flows()).map(|_| 10f64.powf(rng.random_range(-2.0..2.0))).collect();
        let changed = problem.clone().with_capacities(capacities).unwrap().with_flow_caps(caps).unwrap();
        let mut solver = solver(&problem, "auto");
        let first = run(&mut solver);
        solver.update(&changed).unwrap();
        let (warm, cold) = (run(&mut solver), run(&mut self::solver(&changed, "auto")));
        let (first, ended) = (first.status == Status::Optimal, warm.status == Status::Optimal);
        prop_assert!(ended || !first || cold.status != Status::Optimal, "{} and {}", warm, cold);
    }
}
