//! Max-min where flows have floors: y_f = max(m_f, B_f(t)).

use netnum_core::*;
use proptest::prelude::*;

const FAIREST: f64 = f64::INFINITY;

fn solved(problem: &Problem) -> Vec<f64> {
    let solution = solve(problem, &Ask::default()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    assert!(solution.certificate.kkt_residual < 1e-8, "{solution}");
    for (load, capacity) in solution.loads.iter().zip(problem.capacities()) {
        assert!(*load <= capacity * (1.0 + 1e-12), "{load} over {capacity}");
    }
    for (flow, rate) in solution.flow_rates.iter().enumerate() {
        assert!(*rate >= problem.flow_floor(flow) * (1.0 - 1e-12), "flow {flow} has {rate}: {solution}");
    }
    solution.flow_rates
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (flow, (rate, target)) in found.iter().zip(expected).enumerate() {
        assert!((rate - target).abs() <= tolerance * target, "flow {flow}: {rate}, expected {target}: {found:?}");
    }
}

/// Flows over lists of links, of which each has every path so many times.
fn problem(capacities: &[f64], lists: &[&[u32]], times: usize, weights: &[f64], floors: &[f64]) -> Problem {
    let all = lists.iter().flat_map(|links| std::iter::repeat_n(links, times));
    let group = (0..lists.len() * times).map(|path| (path / times) as u32).collect();
    let utility = AlphaFair::new(FAIREST, weights.to_vec()).unwrap();
    let problem = Problem::grouped(capacities.to_vec(), Paths::from_lists(all), group, utility).unwrap();
    problem.with_flow_floors(floors.to_vec()).unwrap()
}

#[test]
fn a_flow_has_its_floor_until_the_others_have_as_much() {
    for times in [1, 2] {
        let one_link = |floor: f64| problem(&[12.0], &[&[0], &[0], &[0]], times, &[1.0, 1.0, 2.0], &[floor, 0.0, 0.0]);
        for (floor, expected) in [(2.0, [3.0, 3.0, 6.0]), (3.0, [3.0, 3.0, 6.0]), (6.0, [6.0, 2.0, 4.0])] {
            close(&solved(&one_link(floor)), &expected, 1e-12);
        }
        close(&solved(&one_link(12.0)), &[12.0, 0.0, 0.0], 1e-12);
    }
}

#[test]
fn what_a_floor_takes_from_one_link_others_take_from_another() {
    for times in [1, 3] {
        let lists: [&[u32]; 4] = [&[0], &[0, 1], &[1], &[1]];
        let problem = problem(&[4.0, 10.0], &lists, times, &[1.0; 4], &[3.0, 0.0, 0.0, 0.0]);
        close(&solved(&problem), &[3.0, 1.0, 4.5, 4.5], 1e-12);
        let fixed = problem.with_flow_caps(vec![3.0, 1.0, 4.0, FAIREST]).unwrap();
        close(&solved(&fixed), &[3.0, 1.0, 4.0, 5.0], 1e-12);
    }
}

#[test]
fn floors_move_other_flows_to_other_paths() {
    let paths = Paths::from_lists([[0], [0], [1]]);
    let utility = AlphaFair::new(FAIREST, 1.0).unwrap();
    let problem = Problem::grouped(vec![4.0, 2.0], paths, vec![0, 1, 1], utility).unwrap();
    close(&solved(&problem), &[3.0, 3.0], 1e-12);
    close(&solved(&problem.clone().with_flow_floors(vec![3.5, 0.0]).unwrap()), &[3.5, 2.5], 1e-12);
    close(&solved(&problem.with_flow_floors(vec![0.0, 6.0]).unwrap()), &[0.0, 6.0], 1e-12);
}

#[test]
fn a_floor_on_a_curve_holds_where_the_curve_is_below_it() {
    let curve = BandwidthFunction::new(&[0.0, 2.0, 4.0], &[0.0, 1.0, 5.0], FAIREST, 0.0).unwrap();
    let line = || BandwidthFunction::new(&[0.0, 1.0], &[0.0, 1.0], FAIREST, 1.0).unwrap();
    for (capacity, expected) in
        [(3.0, [2.0, 1.0]), (4.5, [2.0, 2.5]), (6.5, [10.0 / 3.0, 19.0 / 6.0]), (20.0, [5.0, 15.0])]
    {
        let utilities: Vec<std::sync::Arc<dyn Utility>> =
            vec![std::sync::Arc::new(curve.clone()), std::sync::Arc::new(line())];
        let problem = Problem::new(vec![capacity], Paths::from_lists([[0], [0]]), utilities).unwrap();
        close(&solved(&problem.with_flow_floors(vec![2.0, 0.0]).unwrap()), &expected, 1e-12);
    }
}

/// Flows over one or more paths each, with floors that fit.
fn any_problem() -> impl Strategy<Value = (Problem, Vec<f64>)> {
    let capacity = prop_oneof![1 => Just(1.0), 1 => 0.5f64..4.0];
    let path = prop::collection::btree_set(0u32..6, 1..4);
    (1usize..4, 1usize..7).prop_flat_map(move |(of_one, flows)| {
        (
            prop::collection::vec(capacity.clone(), 6),
            prop::collection::vec(path.clone(), flows * of_one),
            prop::collection::vec(0.3f64..3.0, flows),
            prop::collection::vec(prop_oneof![1 => Just(0.0), 2 => 0.0f64..=1.0], flows),
        )
            .prop_map(move |(capacities, paths, weights, parts)| {
                let lists: Vec<Vec<u32>> = paths.into_iter().map(|path| path.into_iter().collect()).collect();
                let group = (0..lists.len()).map(|path| (path / of_one) as u32).collect();
                let utility = AlphaFair::new(FAIREST, weights.clone()).unwrap();
                let problem = Problem::grouped(capacities, Paths::from_lists(&lists), group, utility).unwrap();
                // Of rates that fit and are none of max-min, parts: all of them fill links.
                let other = problem.clone().with_utility(AlphaFair::proportional()).unwrap();
                let rates = solve(&other, &Ask::default()).unwrap().flow_rates;
                let floors = rates.iter().zip(&parts).map(|(rate, part)| rate * part).collect();
                (problem.with_flow_floors(floors).unwrap(), weights)
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn rates_under_floors_are_proven((problem, _) in any_problem()) {
        solved(&problem);
    }

    /// At the rates found, of flows with one path each: who has more than its floor has no link to share with a poorer.
    #[test]
    fn only_flows_at_their_floors_have_a_larger_share_at_a_bottleneck((problem, weights) in any_problem()) {
        let rates = solved(&problem);
        if !problem.is_single_path() {
            return Ok(());
        }
        let loads = problem.loads(&rates).unwrap();
        for flow in 0..rates.len() {
            let held = problem.paths().links(flow).iter().any(|&link| {
                let is_full = loads[link as usize] >= problem.capacities()[link as usize] * (1.0 - 1e-9);
                let others = (0..rates.len()).filter(|&other| problem.paths().links(other).contains(&link));
                let share = rates[flow] / weights[flow];
                let mut richer = others.filter(|&other| rates[other] / weights[other] > share * (1.0 + 1e-9));
                is_full && richer.all(|other| rates[other] <= problem.flow_floor(other) * (1.0 + 1e-9))
            });
            prop_assert!(held, "flow {} has {:?}", flow, rates);
        }
    }

    #[test]
    fn floors_below_the_rates_without_them_change_nothing((problem, _) in any_problem(), part in 0.0f64..=1.0) {
        let flows = problem.flows();
        let free = problem.with_flow_floors(vec![0.0; flows]).unwrap();
        let rates = solved(&free);
        let floors = rates.iter().map(|rate| part * rate * (1.0 - 1e-12)).collect();
        close(&solved(&free.with_flow_floors(floors).unwrap()), &rates, 1e-9);
    }

    #[test]
    fn rates_under_floors_from_an_earlier_solution_are_those_from_the_beginning((problem, _) in any_problem()) {
        let free = problem.clone().with_flow_floors(vec![0.0; problem.flows()]).unwrap();
        let again = MaxMin::of(&free).unwrap().again(&problem).unwrap();
        close(&problem.flow_rates(&again.rates).unwrap(), &solved(&problem), 1e-8);
    }
}
