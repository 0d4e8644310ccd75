//! Links that cannot fill, whatever the rates within their caps, change nothing: the interior point leaves them out of
//! large problems, and flows that cross no others on some of their paths.

use crate::common::*;
use netnum_core::*;
use proptest::prelude::*;

fn by_interior_point(problem: &Problem, tol: f64) -> Solution {
    let settings = Settings::default().with_tol(tol);
    solve(problem, &Ask::over_core().with_settings(settings)).unwrap()
}

/// Whether no iteration was needed: all flows have their caps, for nothing.
fn are_all_at_their_caps(problem: &Problem, solution: &Solution) -> bool {
    let caps = (0..problem.flows()).map(|flow| problem.flow_cap(flow));
    let at_cap = |(rate, cap): (&f64, f64)| (rate - cap).abs() <= 1e-13 * cap;
    solution.status == Status::Optimal
        && solution.iterations == 0
        && solution.certificate.relative_gap <= 1e-12
        && solution.flow_rates.iter().zip(caps).all(at_cap)
        && solution.prices.iter().all(|&price| price == 0.0)
}

#[test]
fn where_no_link_can_fill_no_iteration_is_needed() {
    let paths = Paths::from_lists([&[0u32, 1][..], &[2], &[1, 2]]);
    for (name, utility) in library_families() {
        let problem = Problem::grouped(vec![9.0, 9.0, 9.0], paths.clone(), vec![0, 0, 1], utility).unwrap();
        let problem = problem.with_flow_caps(vec![3.0, 4.0]).unwrap();
        let solution = by_interior_point(&problem, 1e-9);
        assert!(are_all_at_their_caps(&problem, &solution), "{name}: {solution:?}");
    }
}

#[test]
fn where_all_flows_fit_at_their_caps_no_iteration_is_needed() {
    // No path is enough for the second flow, and in proportion to the room there its last two would not fit.
    let paths = Paths::from_lists([&[0u32][..], &[0], &[1], &[2, 1]]);
    for (name, utility) in library_families() {
        let problem = Problem::grouped(vec![5.0, 2.5, 2.0], paths.clone(), vec![0, 1, 1, 1], utility).unwrap();
        let problem = problem.with_flow_caps(vec![3.0, 4.4]).unwrap();
        let solution = by_interior_point(&problem, 1e-9);
        assert!(are_all_at_their_caps(&problem, &solution), "{name}: {solution:?}");
    }
}

#[test]
fn so_it_is_by_default_where_paths_are_many() {
    let count = 3000u32;
    let paths = Paths::from_lists((0..count).map(|path| [path % 50, 50 + path % 7, 60 + path % 11]));
    let caps: Vec<f64> = (0..count).map(|flow| 1.0 + f64::from(flow % 5)).collect();
    let problem = Problem::new(vec![1500.0; 80], paths, Linear::new(1.0).unwrap()).unwrap();
    let problem = problem.with_flow_caps(caps).unwrap();
    let solution = solve(&problem, &Ask::default()).unwrap();
    assert!(are_all_at_their_caps(&problem, &solution), "{solution}");
}

#[test]
fn the_links_that_can_fill_have_their_prices() {
    // Two flows share a link of 2; the third crosses it on one path only, and links that cannot fill on the other.
    let paths = Paths::from_lists([&[0u32, 1][..], &[0, 2], &[0], &[1, 2]]);
    let problem = Problem::grouped(vec![2.0, 50.0, 50.0], paths, vec![0, 1, 2, 2], AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_caps(vec![5.0, 6.0, 7.0]).unwrap();
    let solution = by_interior_point(&problem, 1e-9);
    assert_eq!(solution.status, Status::Optimal);
    assert!((solution.flow_rates[0] - 1.0).abs() < 1e-8 && (solution.flow_rates[1] - 1.0).abs() < 1e-8);
    assert_eq!((solution.flow_rates[2], solution.rates[2]), (7.0, 0.0), "{solution:?}");
    assert!((solution.prices[0] - 1.0).abs() < 1e-8, "{:?}", solution.prices);
    assert_eq!(solution.prices[1..], [0.0, 0.0]);
}

#[test]
fn a_path_that_its_own_cap_bounds_is_no_free_one() {
    let paths = Paths::from_lists([&[0u32][..], &[1], &[1]]);
    let problem = Problem::grouped(vec![50.0, 3.0], paths, vec![0, 0, 1], AlphaFair::proportional()).unwrap();
    let problem = problem.with_rate_caps(vec![1.0, 9.0, 9.0]).unwrap().with_flow_caps(vec![4.0, 9.0]).unwrap();
    let solution = by_interior_point(&problem, 1e-9);
    assert_eq!(solution.status, Status::Optimal);
    // Over links of 50 the first flow has no more than its path's cap.
    let expected = [2.0, 2.0];
    assert!(solution.flow_rates.iter().zip(expected).all(|(y, right)| (y - right).abs() < 1e-7), "{solution:?}");
}

#[test]
fn a_solver_follows_demands_that_grow_beyond_the_links_and_fall_again() {
    let paths = Paths::from_lists([&[0u32, 1][..], &[2], &[1, 2]]);
    let problem = Problem::grouped(vec![9.0, 9.0, 9.0], paths, vec![0, 0, 1], AlphaFair::proportional()).unwrap();
    let with = |caps: [f64; 2]| problem.clone().with_flow_caps(caps.to_vec()).unwrap();
    let mut solver = Solver::new(&with([3.0, 4.0]), &Ask::over_core()).unwrap();
    let settings = Settings::default().with_tol(1e-9);
    assert_eq!(solver.run(&settings, &mut ()).unwrap().flow_rates, [3.0, 4.0]);
    for (caps, rates) in
        [([20.0, 20.0], [9.0, 4.5]), ([3.0, 8.0], [3.0, 7.5]), ([20.0, 1.0], [16.0, 1.0]), ([3.0, 5.0], [3.0, 5.0])]
    {
        solver.update(&with(caps)).unwrap();
        let solution = solver.run(&settings, &mut ()).unwrap();
        assert_eq!(solution.status, Status::Optimal);
        let near = |(found, right): (&f64, &f64)| (found - right).abs() < 1e-4;
        assert!(solution.flow_rates.iter().zip(&rates).all(near), "{caps:?}: {:?}", solution.flow_rates);
    }
}

/// Path caps bound what a flow can spread over its paths: here all flows do not fit.
#[test]
fn what_path_caps_keep_from_fitting_is_not_taken_for_fitting() {
    let paths = Paths::from_lists([&[0u32][..], &[1, 2], &[1, 3]]);
    let problem = Problem::grouped(vec![100.0, 5.0, 100.0, 100.0], paths, vec![0, 0, 0], Linear::new(1.0).unwrap());
    let problem = problem.unwrap().with_rate_caps(vec![3.0, f64::INFINITY, f64::INFINITY]).unwrap();
    let solution = by_interior_point(&problem.with_flow_caps(vec![8.5]).unwrap(), 1e-9);
    assert_eq!(solution.status, Status::Optimal);
    assert!((solution.flow_rates[0] - 8.0).abs() < 1e-6 && solution.rates[0] <= 3.0, "{solution:?}");
}

/// Rounding of a split is a gap, which no tolerance of rounding allows: the method goes on over all links.
#[test]
fn where_the_proof_is_not_enough_the_whole_problem_is_solved() {
    let paths = Paths::from_lists([&[0u32][..], &[0], &[1], &[2, 1]]);
    let problem = Problem::grouped(vec![5.0, 2.5, 2.0], paths, vec![0, 1, 1, 1], AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_caps(vec![3.0, 4.4]).unwrap();
    let at_once = by_interior_point(&problem, 1e-9);
    let solution = by_interior_point(&problem, f64::MIN_POSITIVE);
    let was_proven = at_once.certificate.relative_gap == 0.0;
    assert!(was_proven || solution.iterations > 0, "{at_once:?} {solution:?}");
    assert!((solution.flow_rates[1] - 4.4).abs() < 1e-6, "{solution:?}");
}

/// The problem with a link in front of every flow and of every path in place of their caps: none of them has a
/// bound then that makes other links slack.
fn with_caps_as_links(problem: &Problem, kind: u8) -> Problem {
    let (links, flows) = (problem.links() as u32, problem.flows() as u32);
    let (mut indptr, mut indices, mut coefficients) = (vec![0], Vec::new(), Vec::new());
    for path in 0..problem.paths().len() {
        indices.extend(problem.paths().links(path));
        coefficients.extend(problem.paths().entries(path).map(|(_, a)| a));
        indices.extend([links + problem.group()[path], links + flows + path as u32]);
        coefficients.extend([1.0, 1.0]);
        indptr.push(indices.len());
    }
    let caps = (0..problem.flows()).map(|flow| problem.flow_cap(flow));
    let of_paths = (0..problem.paths().len()).map(|path| problem.rate_cap(path).min(1e3));
    let capacities = problem.capacities().iter().copied().chain(caps).chain(of_paths).collect();
    let paths = Paths::with_coefficients(indptr, indices, coefficients).unwrap();
    Problem::grouped(capacities, paths, problem.group().to_vec(), utility(kind, problem.flows())).unwrap()
}

/// Utilities of one kind.
fn utility(kind: u8, flows: usize) -> Utilities {
    let weights: Vec<f64> = (0..flows).map(|flow| 1.0 + flow as f64 % 3.0).collect();
    match kind {
        0 => Linear::new(weights).unwrap().into(),
        1 => AlphaFair::new(0.5, weights).unwrap().into(),
        2 => AlphaFair::new(1.0, weights).unwrap().into(),
        3 => AlphaFair::new(2.0, weights).unwrap().into(),
        4 => MinFct::new(weights, 0.125).unwrap().into(),
        _ => BandwidthFunction::new(&[0.0, 1.0, 2.0], &[0.0, 2.0, 3.0], 2.0, 1.0).unwrap().into(),
    }
}

/// Demands of which many fit, over several paths, with coefficients and caps of paths or without, and the kind of their
/// utilities.
fn light() -> impl Strategy<Value = (Problem, u8)> {
    let link = || (0u32..6, prop_oneof![3 => Just(1.0), 1 => decades(-1, 1)]);
    let path = || (prop::collection::vec(link(), 1..4), prop_oneof![3 => Just(f64::INFINITY), 1 => decades(-1, 1)]);
    let flow = (prop::collection::vec(path(), 1..4), decades(-1, 1));
    let capacities = prop::collection::vec(decades(0, 1), 6);
    (capacities, prop::collection::vec(flow, 1..10), 0u8..6).prop_map(|(capacities, flows, kind)| {
        let (mut indptr, mut indices, mut coefficients, mut group) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        let mut caps = Vec::new();
        for (flow, (paths, _)) in flows.iter().enumerate() {
            for (links, cap) in paths {
                let mut own: Vec<(u32, f64)> = links.clone();
                own.sort_by_key(|&(link, _)| link);
                own.dedup_by_key(|&mut (link, _)| link);
                indices.extend(own.iter().map(|&(link, _)| link));
                coefficients.extend(own.iter().map(|&(_, a)| a));
                indptr.push(indices.len());
                group.push(flow as u32);
                caps.push(*cap);
            }
        }
        let paths = Paths::with_coefficients(indptr, indices, coefficients).unwrap();
        let problem = Problem::grouped(capacities, paths, group, utility(kind, flows.len())).unwrap();
        let problem = problem.with_rate_caps(caps).unwrap();
        (problem.with_flow_caps(flows.iter().map(|(_, cap)| *cap).collect()).unwrap(), kind)
    })
}

/// Whether a solution is that of the problem with all links.
fn compare(problem: &Problem, kind: u8, found: &Solution) -> std::result::Result<(), TestCaseError> {
    for (load, capacity) in found.loads.iter().zip(problem.capacities()) {
        prop_assert!(*load <= capacity * (1.0 + 1e-12));
    }
    let ask = || Ask::by("interior-point").with_settings(Settings::default().with_tol(1e-9));
    let expected = solve(&with_caps_as_links(problem, kind), &ask()).unwrap();
    if expected.status != Status::Optimal || solve(problem, &ask()).unwrap().status != Status::Optimal {
        return Ok(());
    }
    prop_assert_eq!(found.status, Status::Optimal);
    let scale = found.flow_rates.iter().sum::<f64>();
    let worth = (found.objective - expected.objective).abs();
    prop_assert!(worth <= 1e-6 * expected.objective.abs().max(scale), "{} {}", found.objective, expected.objective);
    if problem.curvature() == Curvature::Strict {
        for (one, other) in found.flow_rates.iter().zip(&expected.flow_rates) {
            prop_assert!((one - other).abs() <= 1e-3 * other.max(1e-3 * scale), "{one} {other}");
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn rates_are_those_of_the_problem_with_all_links((problem, kind) in light(), factor in decades(-1, 1)) {
        let settings = Settings::default().with_tol(1e-9);
        let mut solver = Solver::new(&problem, &Ask::over_core()).unwrap();
        compare(&problem, kind, &solver.run(&settings, &mut ()).unwrap())?;
        let capacities = problem.capacities().iter().map(|capacity| capacity * factor).collect();
        let after = problem.with_capacities(capacities).unwrap();
        solver.update(&after).unwrap();
        compare(&after, kind, &solver.run(&settings, &mut ()).unwrap())?;
    }
}
