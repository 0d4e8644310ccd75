//! A problem that is changed is the one that is built anew, and what did not change is shared.

use std::sync::Arc;

use crate::common::{any_problem, any_utility, parking_lot};
use netnum_core::*;
use proptest::prelude::*;

/// The parts that a problem is built from.
fn parts(problem: &Problem) -> (Vec<f64>, Vec<Vec<u32>>, Vec<u32>, Vec<f64>) {
    let paths: Vec<Vec<u32>> = problem.paths().iter().map(<[u32]>::to_vec).collect();
    let caps = (0..paths.len()).map(|path| problem.rate_cap(path)).collect();
    (problem.capacities().to_vec(), paths, problem.group().to_vec(), caps)
}

/// Asserts that both have equal bits of everything but the time.
fn assert_same(one: &Problem, other: &Problem) {
    let settings = Settings::default().with_max_iterations(40);
    match [one, other].map(|problem| solve(problem, &settings.clone().into())) {
        [Ok(one), Ok(other)] => {
            assert_eq!(one.status, other.status);
            assert_eq!(one.rates, other.rates);
            assert_eq!(one.prices, other.prices);
            assert_eq!(one.failed_flows, other.failed_flows);
            assert_eq!(one.objective.to_bits(), other.objective.to_bits());
        }
        [one, other] => assert_eq!(one.unwrap_err(), other.unwrap_err()),
    }
}

/// A problem, as many other utilities, and which of its paths are to be closed.
fn changes() -> impl Strategy<Value = (Problem, Vec<Arc<dyn Utility>>, Vec<u32>)> {
    any_problem(4, true).prop_flat_map(|problem| {
        let (flows, paths) = (problem.flows(), problem.paths().len() as u32);
        let utilities = prop::collection::vec(any_utility(4), flows);
        let closed = if paths == 0 { Just(Vec::new()).boxed() } else { prop::collection::vec(0..paths, 0..6).boxed() };
        (Just(problem), utilities, closed)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn other_utilities_and_closed_paths_are_those_of_a_problem_built_anew(
        (problem, utilities, closed) in changes(),
    ) {
        let (capacities, paths, group, mut caps) = parts(&problem);
        let anew = |utilities: Vec<Arc<dyn Utility>>, caps: Vec<f64>| {
            let problem = Problem::grouped(capacities.clone(), Paths::from_lists(&paths), group.clone(), utilities);
            problem.unwrap().with_rate_caps(caps).unwrap()
        };
        let changed = problem.clone().with_utility(utilities.clone()).unwrap();
        assert_same(&changed, &anew(utilities.clone(), caps.clone()));
        closed.iter().for_each(|&path| caps[path as usize] = 0.0);
        let changed = changed.with_paths_closed(&closed).unwrap();
        assert_same(&changed, &anew(utilities.clone(), caps.clone()));
        let other_way = problem.with_paths_closed(&closed).unwrap().with_utility(utilities).unwrap();
        assert_same(&changed, &other_way);
    }

    #[test]
    fn a_closed_path_is_one_that_is_not_there((problem, _, closed) in changes()) {
        let (capacities, paths, group, caps) = parts(&problem);
        let left: Vec<usize> = (0..paths.len()).filter(|&path| !closed.contains(&(path as u32))).collect();
        // Only where every flow keeps a path is there a problem without the others.
        prop_assume!((0..problem.flows()).all(|flow| left.iter().any(|&path| group[path] as usize == flow)));
        // Not by auto, which counts closed paths where it chooses.
        let of = |problem: &Problem| {
            let mut solver = Solver::new(problem, &Ask::by("interior-point"))?;
            solver.run(&Settings::default().with_max_iterations(40), &mut ())
        };
        let without = Problem::grouped(
            capacities,
            Paths::from_lists(left.iter().map(|&path| &paths[path])),
            left.iter().map(|&path| group[path]).collect(),
            Utilities::Shared(Arc::new(AlphaFair::new(2.0, 1.0).unwrap())),
        );
        let without = without.unwrap().with_rate_caps(left.iter().map(|&path| caps[path]).collect()).unwrap();
        let with = problem.with_utility(AlphaFair::new(2.0, 1.0).unwrap()).unwrap().with_paths_closed(&closed).unwrap();
        let (with, without) = (of(&with).unwrap(), of(&without).unwrap());
        prop_assert!(closed.iter().all(|&path| with.rates[path as usize] == 0.0));
        let rates: Vec<f64> = left.iter().map(|&path| with.rates[path]).collect();
        prop_assert_eq!(rates, without.rates);
        prop_assert_eq!(with.flow_rates, without.flow_rates);
        prop_assert_eq!(with.prices, without.prices);
        prop_assert_eq!(with.failed_flows, without.failed_flows);
    }
}

#[test]
fn a_flow_whose_every_path_is_closed_is_one_whose_links_failed() {
    let problem = parking_lot(2, 1.0);
    let closed = solve(&problem.clone().with_paths_closed(&[1, 1]).unwrap(), &Ask::default()).unwrap();
    assert_eq!(closed.failed_flows, [1]);
    assert_eq!(closed.rates[1], 0.0);
    // Closing one more keeps the others closed, and caps as they were.
    let problem = problem.with_rate_caps(vec![f64::INFINITY, 1.0, 2.0]).unwrap().with_paths_closed(&[1]).unwrap();
    let problem = problem.with_paths_closed(&[0]).unwrap();
    assert_eq!((0..3).map(|path| problem.rate_cap(path)).collect::<Vec<_>>(), [0.0, 0.0, 2.0]);
    let solution = solve(&problem, &Ask::default()).unwrap();
    assert_eq!(solution.failed_flows, [0, 1]);
    assert!((solution.rates[2] - 2.0).abs() < 1e-5, "{solution:?}");
}

#[test]
fn what_did_not_change_is_shared() {
    let problem = parking_lot(2, 1.0);
    for changed in [
        problem.clone().with_utility(AlphaFair::new(3.0, 1.0).unwrap()).unwrap(),
        problem.clone().with_paths_closed(&[2]).unwrap(),
    ] {
        assert!(Arc::ptr_eq(&changed.shared_paths(), &problem.shared_paths()));
        assert_eq!(changed.capacities().as_ptr(), problem.capacities().as_ptr());
        assert_eq!(changed.group().as_ptr(), problem.group().as_ptr());
    }
    assert!(!problem.with_paths_closed(&[]).unwrap().has_rate_caps());
}

#[test]
fn bad_changes_name_the_place() {
    let problem = parking_lot(2, 1.0);
    let message = |result: Result<Problem>| result.unwrap_err().to_string();
    assert_eq!(message(problem.clone().with_paths_closed(&[0, 3])), "there is no path 3, expected a path from 0 to 2");
    assert_eq!(
        message(problem.clone().with_utility(AlphaFair::new(1.0, vec![1.0; 2]).unwrap())),
        "utility has 2 entries, expected 3, one per flow"
    );
    let one: Vec<Arc<dyn Utility>> = vec![Arc::new(AlphaFair::proportional())];
    assert_eq!(message(problem.with_utility(one)), "utility has 1 entries, expected 3, one per flow");
}
