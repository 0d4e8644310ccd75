//! Floors: least rates that are guaranteed to flows.

use std::fmt::Write;
use std::sync::Arc;

use netnum_core::{
    AlphaFair, Ask, BandwidthFunction, KShortest, Linear, Paths, Problem, Status, Topology, Utilities, Utility,
    certify, concurrent_flow, solve,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Two flows on a link of capacity 10, of which the first has a floor of 7.
fn one_link(floor: f64) -> Problem {
    let problem = Problem::new(vec![10.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional()).unwrap();
    problem.with_flow_floors(vec![floor, 0.0]).unwrap()
}

#[test]
fn the_optimum_under_a_floor_is_certified_by_the_price_of_the_others() {
    let certificate = certify(&one_link(7.0), &[7.0, 3.0], &[1.0 / 3.0]).unwrap();
    assert!(certificate.relative_gap < 1e-12 && certificate.kkt_residual < 1e-12, "{certificate:?}");
    // Without the floor these are not optimal.
    assert!(certify(&one_link(0.0), &[7.0, 3.0], &[1.0 / 3.0]).unwrap().kkt_residual > 0.1);
    assert!(certify(&one_link(7.0), &[6.0, 4.0], &[0.25]).unwrap().overload > 0.1);
}

#[test]
fn rates_over_a_link_are_cut_to_what_the_floors_leave() {
    // 7 + 6 > 10: the excess over the floor is scaled, which F-NORM alone would not do.
    let certificate = certify(&one_link(7.0), &[7.0, 6.0], &[1.0 / 3.0]).unwrap();
    assert!((certificate.overload - 0.3).abs() < 1e-12);
    assert!(certificate.relative_gap < 1e-12, "{certificate:?}");
}

#[test]
fn what_floors_pay_for_full_links_does_not_hide_what_another_flow_lacks() {
    // Floors fill links 0 and 1, at any price. As long as the first flow uses link 2 the last one has half of it.
    let paths = Paths::from_lists([vec![0], vec![1, 2], vec![0], vec![1, 3], vec![2]]);
    let groups = vec![0, 0, 1, 1, 2];
    let utility = Linear::new(vec![0.0, 0.0, 1.0]).unwrap();
    let problem = Problem::grouped(vec![1.0; 4], paths, groups, utility).unwrap();
    let problem = problem.with_flow_caps(vec![1.0, 1.0, f64::INFINITY]).unwrap();
    let problem = problem.with_flow_floors(vec![1.0, 1.0, 0.0]).unwrap();
    for dear in [2.0, 1e9] {
        let certificate = certify(&problem, &[0.5; 5], &[dear, dear, 1.0, 0.0]).unwrap();
        assert_eq!(certificate.relative_gap, 1.0, "{certificate:?}");
        let certificate = certify(&problem, &[1.0, 0.0, 0.0, 1.0, 1.0], &[dear, dear, 1.0, 0.0]).unwrap();
        assert!(certificate.relative_gap < 1e-12 && certificate.kkt_residual < 1e-12, "{certificate:?}");
    }
}

/// Two flows with log utility whose floors fill a link but for a millionth, at a price at which nobody wants more.
#[test]
fn rates_at_floors_are_judged_by_what_they_earn_and_not_by_prices() {
    let problem = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_floors(vec![1.0 - 1e-6, 1e-9]).unwrap();
    let gap = |price: f64| certify(&problem, &[1.0 - 1e-6, 1e-9], &[price]).unwrap().relative_gap;
    // The second could have a thousand times as much: ln 1000, of utilities whose ŷU' is 2.
    assert!(gap(1e12) > 1e5 && gap(10.0) > 1e-6, "{} {}", gap(1e12), gap(10.0));
}

/// Flow 1 is at a cap, far below what it would like; flow 2 has its floor, and could have half a millionth of the link.
#[test]
fn what_a_flow_gains_at_its_cap_does_not_hide_what_floors_lack() {
    let paths = Paths::from_lists([[0], [1], [0]]);
    let problem = Problem::new(vec![1.0; 2], paths, AlphaFair::new(vec![1.0, 20.0, 1.0], 1.0).unwrap()).unwrap();
    let problem = problem.with_flow_caps(vec![f64::INFINITY, 1e-8, f64::INFINITY]).unwrap();
    let problem = problem.with_flow_floors(vec![0.9995, 0.0, 1e-9]).unwrap();
    let certificate = certify(&problem, &[0.9995, 1e-8, 1e-9], &[1e12, 0.0]).unwrap();
    assert!(certificate.relative_gap > 1e-3, "{certificate:?}");
}

/// A flow without a rate that others at their floors leave room for, whether it asks for it or not.
#[test]
fn a_flow_without_a_rate_is_judged_by_what_it_could_carry_alone() {
    let paths = Paths::from_lists([vec![0], vec![1, 2], vec![0], vec![1, 3], vec![2]]);
    let utility = Linear::new(vec![0.0, 0.0, 1.0]).unwrap();
    let problem = Problem::grouped(vec![1.0; 4], paths, vec![0, 0, 1, 1, 2], utility).unwrap();
    let problem = problem.with_flow_caps(vec![1.0, 1.0, f64::INFINITY]).unwrap();
    let problem = problem.with_flow_floors(vec![1.0, 1.0, 0.0]).unwrap();
    for dear in [2.0, 1e9] {
        for price in [0.0, 0.999, 1.0, 1.0001, 2.0] {
            let gap = certify(&problem, &[0.5, 0.5, 0.5, 0.5, 0.0], &[dear, dear, price, 0.0]).unwrap().relative_gap;
            assert!(gap >= 1.0 - 1e-6, "{gap} at {dear} and {price}");
        }
    }
}

/// The least cost is 0; a routing that carries a part dearly is off by what that costs, beside what it might cost.
#[test]
fn a_routing_that_need_not_cost_anything_is_judged_by_what_it_might_cost() {
    let problem =
        Problem::grouped(vec![2.0; 2], Paths::from_lists([[0], [1]]), vec![0, 0], Linear::new(0.0).unwrap()).unwrap();
    let problem = problem.with_flow_floors(vec![1.0]).unwrap().with_flow_caps(vec![1.0]).unwrap();
    let problem = problem.with_path_costs(vec![0.0, 1.0]).unwrap();
    let gap = |dear: f64| certify(&problem, &[1.0 - dear, dear], &[0.0; 2]).unwrap().relative_gap;
    assert_eq!(gap(0.0), 0.0);
    assert!((gap(1e-6) - 1e-3).abs() < 1e-9 && (gap(0.1) - 1.0).abs() < 1e-9, "{} {}", gap(1e-6), gap(0.1));
}

#[test]
fn a_path_that_nobody_uses_does_not_make_a_dear_routing_cheap() {
    let paths = Paths::from_lists([[0], [1], [2]]);
    let problem = Problem::grouped(vec![2.0; 3], paths, vec![0; 3], Linear::new(0.0).unwrap()).unwrap();
    let problem = problem.with_flow_floors(vec![1.0]).unwrap().with_flow_caps(vec![1.0]).unwrap();
    for forbidding in [3.0, 1e9] {
        let problem = problem.clone().with_path_costs(vec![1.0, 2.0, forbidding]).unwrap();
        let gap = certify(&problem, &[0.0, 1.0, 0.0], &[0.0; 3]).unwrap().relative_gap;
        assert!((gap - 0.5).abs() < 1e-9, "{gap} at {forbidding}");
    }
}

#[test]
fn floors_that_do_not_fit_end_as_infeasible_with_a_minimal_proof() {
    let paths = Paths::from_lists([[0], [0], [0], [1], [1]]);
    let problem = Problem::grouped(vec![4.0, 2.0], paths, vec![0, 1, 2, 2, 3], AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_floors(vec![3.0, 0.5, 3.0, 1.0]).unwrap();
    let solution = solve(&problem, &Ask::default()).unwrap();
    assert_eq!(solution.status, Status::Infeasible);
    let proof = solution.infeasibility.unwrap();
    assert!((proof.fraction - 6.0 / 7.5).abs() < 1e-9);
    let paid: f64 = proof.flows.iter().map(|&f| proof.flow_prices[f as usize] * problem.flow_floor(f as usize)).sum();
    let worth: f64 = proof.prices.iter().zip(problem.capacities()).map(|(price, capacity)| price * capacity).sum();
    assert!(paid > worth);
    for &flow in &proof.flows {
        let own = proof.flow_prices[flow as usize] * problem.flow_floor(flow as usize);
        assert!(paid - own <= worth, "flow {flow} can be left out");
        let least = (0..5).filter(|&path| problem.group()[path] == flow);
        let least =
            least.map(|path| proof.prices[problem.paths().links(path)[0] as usize]).fold(f64::INFINITY, f64::min);
        assert!(proof.flow_prices[flow as usize] <= least * (1.0 + 1e-12));
    }
    let loads = problem.loads(&proof.rates).unwrap();
    assert!(loads.iter().zip(problem.capacities()).all(|(load, capacity)| *load <= capacity * (1.0 + 1e-12)));
    for (flow, rate) in problem.flow_rates(&proof.rates).unwrap().into_iter().enumerate() {
        assert!((rate - proof.fraction * problem.flow_floor(flow)).abs() < 1e-9);
    }
}

#[test]
fn of_floors_over_one_path_each_the_tightest_link_or_cap_is_named() {
    // Loads of the floors: 9 of 8 and 7 of 5, with the coefficient 2; the second link is tighter.
    let paths = Paths::with_coefficients(vec![0, 1, 3, 4, 5], vec![0, 0, 1, 1, 1], vec![1.0, 2.0, 2.0, 1.0, 1.0]);
    let problem = Problem::new(vec![8.0, 5.0], paths.unwrap(), AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_floors(vec![3.0, 3.0, 0.4, 0.6]).unwrap();
    let proof = |problem: &Problem| solve(problem, &Ask::default()).unwrap().infeasibility.unwrap();
    let found = proof(&problem);
    assert!((found.fraction - 5.0 / 7.0).abs() < 1e-15);
    // 2 · 3 > 5 is enough.
    assert_eq!((found.links, found.flows, found.paths), (vec![1], vec![1], vec![]));
    assert_eq!(found.cap_prices, [0.0; 4]);
    assert_eq!(found.rates, [3.0, 3.0, 0.4, 0.6].map(|floor| floor * (5.0 / 7.0)));
    let capped = proof(&problem.with_rate_caps(vec![2.0, 9.0, 9.0, 9.0]).unwrap());
    assert!((capped.fraction - 2.0 / 3.0).abs() < 1e-15);
    assert_eq!((capped.links, capped.flows, capped.paths), (vec![], vec![0], vec![0]));
    assert_eq!(capped.cap_prices, capped.flow_prices);
}

#[test]
fn a_floor_that_is_none_is_refused_by_its_flow() {
    let problem = || one_link(0.0).with_flow_caps(vec![2.0, f64::INFINITY]).unwrap();
    let of = |floors: Vec<f64>| problem().with_flow_floors(floors).unwrap_err().to_string();
    assert_eq!(of(vec![0.0, -1.0]), "flow 1 has flow floor -1, expected a finite number >= 0");
    assert_eq!(of(vec![0.0, f64::INFINITY]), "flow 1 has flow floor inf, expected a finite number >= 0");
    assert_eq!(of(vec![2.5, 0.0]), "flow 0 has flow floor 2.5, expected a finite number >= 0, at most its cap of 2");
    assert_eq!(
        of(vec![f64::NAN, 0.0]),
        "flow 0 has flow floor NaN, expected a finite number >= 0, at most its cap of 2"
    );
    assert_eq!(of(vec![1.0]), "flow_floor has 1 entries, expected 2, one per flow");
    let capped = problem().with_flow_floors(vec![1.5, 0.0]).unwrap().with_flow_caps(vec![1.0, 1.0]);
    assert_eq!(
        capped.unwrap_err().to_string(),
        "flow 0 has flow floor 1.5, expected a finite number >= 0, at most its cap of 1"
    );
}

#[test]
fn the_floor_of_a_flow_without_an_open_path_does_not_count() {
    let paths = Paths::from_lists([[0], [1]]);
    let problem = Problem::new(vec![0.0, 4.0], paths, AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_floors(vec![1.0, 2.0]).unwrap();
    let certificate = certify(&problem, &[0.0, 4.0], &[0.0, 0.25]).unwrap();
    assert!(certificate.relative_gap < 1e-12 && certificate.kkt_residual < 1e-12, "{certificate:?}");
}

#[test]
fn a_floor_beyond_the_saturation_is_kept_without_a_limited_link() {
    let curve = BandwidthFunction::new(&[0.0, 1.0], &[0.0, 1.0], 2.0, 0.0).unwrap();
    let problem = Problem::new(vec![f64::INFINITY], Paths::from_lists([[0]]), curve).unwrap();
    let solution = solve(&problem.with_flow_floors(vec![5.0]).unwrap(), &Ask::default()).unwrap();
    assert_eq!((solution.status, solution.rates[0]), (Status::Optimal, 5.0));
}

#[test]
fn many_floors_that_fill_a_link_fit_but_for_rounding() {
    let flows = 100_000;
    let paths = Paths::from_lists(vec![[0u32]; flows]);
    let problem = Problem::new(vec![flows as f64 * 0.1], paths, AlphaFair::proportional()).unwrap();
    let solution = solve(&problem.with_flow_floors(vec![0.1; flows]).unwrap(), &Ask::default()).unwrap();
    assert_ne!(solution.status, Status::Infeasible);
}

#[test]
fn a_solver_does_not_certify_rates_that_carry_a_part_of_the_floors() {
    let problem = one_link(8.0).with_flow_floors(vec![8.0, 4.0]).unwrap();
    let mut solver = netnum_core::Solver::new(&problem, &Ask::default()).unwrap();
    solver.step(3).unwrap();
    assert_eq!(solver.certificate().unwrap().relative_gap, f64::INFINITY);
}

/// What a flow gets that has no floor, and whether it is a failed flow.
fn beside_floors(problem: &Problem) -> (Vec<f64>, Vec<u32>, usize) {
    let solution = solve(problem, &Ask::default()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    let found = certify(problem, &solution.rates, &solution.prices).unwrap();
    assert!(found.relative_gap < 1e-6, "{found:?}");
    (solution.flow_rates, solution.failed_flows, solution.iterations)
}

#[test]
fn a_flow_for_which_floors_leave_nothing_is_a_failed_flow() {
    let (rates, failed, iterations) = beside_floors(&one_link(10.0));
    assert_eq!((rates, failed), (vec![10.0, 0.0], vec![1]));
    assert!(iterations < 100, "{iterations}");
    // What is 0.1 ten times is a full link, and a flow beside it has one of its own.
    let paths = Paths::from_lists([vec![[0u32]; 10], vec![[0], [1]]].concat());
    let problem = Problem::new(vec![1.0, 3.0], paths, AlphaFair::new(2.0, 1.0).unwrap()).unwrap();
    let (rates, failed, _) = beside_floors(&problem.with_flow_floors([vec![0.1; 10], vec![0.0; 2]].concat()).unwrap());
    assert_eq!((rates[10], failed), (0.0, vec![10]));
    assert!((rates[11] - 3.0).abs() < 1e-5, "{rates:?}");
    // A little is no nothing.
    let (rates, failed, _) = beside_floors(&one_link(10.0 - 1e-6));
    assert!((rates[1] - 1e-6).abs() < 1e-9 && failed.is_empty(), "{rates:?}");
    // Only flows whose first rate is worth any price are left out.
    let failed = |utility: Utilities| {
        let problem = Problem::new(vec![10.0], Paths::from_lists([[0], [0]]), utility).unwrap();
        beside_floors(&problem.with_flow_floors(vec![10.0, 0.0]).unwrap()).1
    };
    assert_eq!(failed(AlphaFair::new(0.5, 1.0).unwrap().into()), [1]);
    assert!(failed(Linear::new(1.0).unwrap().into()).is_empty());
}

#[test]
fn a_flow_beside_floors_has_as_little_as_these_leave() {
    for left in [2e-12, 5e-11, 1e-9, 1e-6] {
        for alpha in [0.5, 0.9, 1.0, 2.0] {
            let utility = AlphaFair::new(alpha, 1.0).unwrap();
            let problem = Problem::new(vec![10.0], Paths::from_lists([[0], [0]]), utility).unwrap();
            let problem = problem.with_flow_floors(vec![10.0 * (1.0 - left), 0.0]).unwrap();
            let (rates, failed, iterations) = beside_floors(&problem);
            assert!(failed.is_empty() && iterations < 300, "{left}, {alpha}: {iterations}");
            assert!((rates[1] / (10.0 * left) - 1.0).abs() < 1e-3, "{left}, {alpha}: {rates:?}");
        }
    }
}

#[test]
fn where_splits_of_floors_can_move_a_flow_without_a_floor_has_what_they_can_leave() {
    // The first flow needs 6 of 4 + 6, so that it can leave all of the first link; the third has no other link than
    // the full one of the second flow.
    let paths = Paths::from_lists([[0], [1], [2], [0], [2]]);
    let problem = Problem::grouped(vec![4.0, 6.0, 5.0], paths, vec![0, 0, 1, 2, 3], AlphaFair::proportional()).unwrap();
    let (rates, failed, _) = beside_floors(&problem.clone().with_flow_floors(vec![6.0, 5.0, 0.0, 0.0]).unwrap());
    assert_eq!(failed, [3]);
    assert!((rates[0] + rates[2] - 10.0).abs() < 1e-4 && rates[2] > 3.0, "{rates:?}");
    // All of both links: nothing is left of either.
    let (rates, failed, iterations) = beside_floors(&problem.with_flow_floors(vec![10.0, 0.0, 0.0, 0.0]).unwrap());
    assert_eq!(failed, [2]);
    assert!((rates[0] - 10.0).abs() < 1e-9 && iterations < 100, "{rates:?}, {iterations}");
}

#[test]
fn in_the_first_class_floors_of_later_ones_leave_a_flow_nothing_too() {
    let problem = one_link(10.0).with_priorities(vec![1.0, 0.0]).unwrap();
    let solution = solve(&problem, &Ask::default()).unwrap();
    assert_eq!((solution.status, &*solution.failed_flows), (Status::Optimal, &[1][..]));
    assert_eq!(solution.flow_rates, [10.0, 0.0]);
}

/// Flows over three paths each of a ring with some chords, with capacities of 1 to 3.
fn ring_with_chords(rng: &mut ChaCha8Rng, nodes: usize, chords: f64, flows: usize, alpha: f64) -> Problem {
    let mut text = String::new();
    for node in 0..nodes {
        for other in node + 1..nodes {
            if other == node + 1 || node + nodes == other + 1 || rng.random_bool(chords) {
                writeln!(text, "n{node} n{other} {}", rng.random_range(1..4)).unwrap();
            }
        }
    }
    let net = Topology::from_edges(&text).unwrap();
    let (sources, destinations): (Vec<usize>, Vec<usize>) = (0..flows)
        .map(|_| {
            let source = rng.random_range(0..nodes);
            (source, (source + rng.random_range(1..nodes)) % nodes)
        })
        .unzip();
    let (paths, group) = net.k_shortest_paths(&sources, &destinations, &KShortest::new(3)).unwrap();
    Problem::grouped(net.capacities().to_vec(), paths, group, AlphaFair::new(alpha, 1.0).unwrap()).unwrap()
}

/// Floors that are all that some flows can have at once leave no rates inside of the links that they fill, and only
/// one split of their flows, or a few.
#[test]
fn what_the_max_min_rates_of_some_flows_leave_is_shared_by_the_others() {
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (nodes, flows) = (rng.random_range(4..9), rng.random_range(3..15));
        let alpha = [0.5, 1.0, 2.0][rng.random_range(0..3)];
        let problem = ring_with_chords(&mut rng, nodes, 0.3, flows, alpha);
        let has_floor: Vec<bool> = (0..flows).map(|flow| flow == 0 || rng.random_bool(0.6)).collect();
        let group = problem.group().iter();
        let without: Vec<u32> =
            (0..).zip(group).filter(|(_, flow)| !has_floor[**flow as usize]).map(|(path, _)| path).collect();
        let first = problem.clone().with_utility(AlphaFair::new(f64::INFINITY, 1.0).unwrap()).unwrap();
        let first = solve(&first.with_paths_closed(&without).unwrap(), &Ask::default()).unwrap();
        assert_eq!(first.status, Status::Optimal, "{seed}: {first}");
        let floors: Vec<f64> = first.flow_rates.iter().map(|rate| rate * (1.0 - 1e-15)).collect();
        let problem = problem.with_flow_floors(floors.clone()).unwrap();
        let solution = solve(&problem, &Ask::default()).unwrap();
        assert_eq!(solution.status, Status::Optimal, "{seed}: {solution}");
        let kept = |(rate, floor): (&f64, &f64)| *rate >= floor * (1.0 - 1e-9);
        assert!(solution.flow_rates.iter().zip(&floors).all(kept), "{seed}: {:?}, {floors:?}", solution.flow_rates);
        let found = certify(&problem, &solution.rates, &solution.prices).unwrap();
        assert!(found.relative_gap < 1e-6 && found.kkt_residual < 1e-3, "{seed}: {found:?}");
        // Max-min rates of all, with these floors, say who can have a rate at all.
        let all = problem.with_utility(AlphaFair::new(f64::INFINITY, 1.0).unwrap()).unwrap();
        let all = solve(&all, &Ask::default()).unwrap();
        assert_eq!(all.status, Status::Optimal, "{seed}: {all}");
        let without = (0u32..).zip(&all.flow_rates).filter(|(_, rate)| **rate < 1e-9).map(|(flow, _)| flow);
        assert_eq!(solution.failed_flows, without.collect::<Vec<_>>(), "{seed}");
    }
}

/// Where floors nearly fill links, what keeps them moves from one full link to the next.
#[test]
fn floors_that_leave_little_of_links_are_kept_at_the_optimum() {
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let nodes = rng.random_range(12..20);
        let problem = ring_with_chords(&mut rng, nodes, 0.15, 60, 1.0);
        let demands = problem.clone().with_flow_caps(vec![1.0; 60]).unwrap();
        let most = concurrent_flow(&demands).unwrap().fraction;
        for part in [0.99, 0.999] {
            let (rates, failed, iterations) =
                beside_floors(&problem.clone().with_flow_floors(vec![part * most; 60]).unwrap());
            assert!(failed.is_empty() && iterations < 100, "{seed}, {part}: {iterations} iterations");
            assert!(rates.iter().all(|rate| *rate >= part * most * (1.0 - 1e-9)), "{seed}, {part}: {rates:?}");
        }
    }
}

/// Curves end below the floors: any rates that keep these are as good, and no price is due for what links leave idle.
#[test]
fn flows_that_want_less_than_their_floors_pay_nothing() {
    let curve = BandwidthFunction::new(&[0.0, 1.0, 2.0], &[0.0, 0.02, 0.03], 2.0, 0.0).unwrap();
    let utility: Vec<Arc<dyn Utility>> = (0..3).map(|_| Arc::new(curve.clone()) as Arc<dyn Utility>).collect();
    let paths = Paths::from_lists([[0], [1], [0], [1], [0]]);
    let problem = Problem::grouped(vec![1.0, 1.0], paths, vec![0, 0, 1, 1, 2], utility).unwrap();
    let problem = problem.with_flow_floors(vec![0.6, 0.7, 0.6995]).unwrap();
    let found = solve(&problem, &Ask::default()).unwrap();
    assert!(found.status == Status::Optimal && found.iterations < 100, "{found}");
    assert_eq!(found.prices, [0.0; 2]);
}

/// A floor over three links leaves δ of them to flows of one link each, and to one of two: y ∝ w, in all δ.
#[test]
fn floors_that_nearly_fill_links_leave_the_rest_in_its_best_parts() {
    let weights = [1.0f64, 1.0, 16.0, 81.0, 1.0];
    for (alpha, left) in [1.0, 2.0, 4.0].into_iter().flat_map(|alpha| [(alpha, 1e-4), (alpha, 1e-6)]) {
        let paths = Paths::from_lists([[0], [1], [2], [0], [1], [2], [0], [1]]);
        let utility = AlphaFair::new(alpha, weights.to_vec()).unwrap();
        let problem = Problem::grouped(vec![1.0; 3], paths, vec![0, 0, 0, 1, 2, 3, 4, 4], utility).unwrap();
        let problem = problem.with_flow_floors(vec![3.0 - left, 0.0, 0.0, 0.0, 0.0]).unwrap();
        let found = solve(&problem, &Ask::default()).unwrap();
        assert_eq!(found.status, Status::Optimal, "alpha {alpha}, {left} left: {found}");
        let all: f64 = weights[1..].iter().sum();
        // What is left is a difference of capacities and floors, right to their rounding.
        for (flow, weight) in weights.iter().enumerate().skip(1) {
            let (rate, right) = (found.flow_rates[flow], left * weight / all);
            assert!(
                (rate - right).abs() <= 1e-3 * right,
                "alpha {alpha}, {left} left, flow {flow}: {rate} for {right}"
            );
        }
    }
}

/// The last flow is at its floor in an answer before that is not right, and has nearly a link to itself. Cuts beside
/// floors that are not proven by the whole keep it there, at a price of that link, which is idle.
#[test]
fn a_floor_beside_room_holds_nobody() {
    let problem = Problem::from_json(
        r#"{"kind":"problem","capacity":[1.0,3.0,2.0,1.0,5.0,1.0],
        "paths":[[1,2,5],[1,3],[3],[0,3],[0,1,2,4],[1,2,3,5]],"group":[0,0,1,2,3,3],
        "utility":{"kind":["alpha_fair","alpha_fair","alpha_fair","alpha_fair"],
        "weight":[0.12434996502576602,2.5696532633742644,0.5600388975004601,0.07495374537967332],
        "alpha":[3.0,3.0,3.0,3.0]},"cap":[null,null,null,null,null,null],
        "flow_floor":[1.3307569198564726,0.6690430801435274,0.0,0.7025129191832205]}"#,
    );
    let found = solve(&problem.unwrap(), &Ask::default()).unwrap();
    assert_eq!(found.status, Status::Optimal, "{found}");
    assert!((found.flow_rates[3] - 0.9998).abs() < 1e-4, "{:?}", found.flow_rates);
}
