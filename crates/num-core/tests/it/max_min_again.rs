//! Max-min from an earlier solution, and approximate rates: beside the exact ones from the beginning.

use std::sync::Arc;

use netnum_core::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Rng = ChaCha8Rng;

/// What flows want: by weights, with demands, or by curves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Weights,
    Demands,
    Curves,
}

const KINDS: [Kind; 3] = [Kind::Weights, Kind::Demands, Kind::Curves];

fn decades(rng: &mut Rng, span: f64) -> f64 {
    10f64.powf(span * (rng.random_range(0.0..1.0) - 0.5))
}

fn curve(rng: &mut Rng) -> Arc<dyn Utility> {
    let (mut f, mut b, mut points) = (0.0, 0.0, vec![(0.0, 0.0)]);
    for _ in 0..rng.random_range(1..4) {
        f += rng.random_range(0.1..3.0);
        b += if rng.random_bool(0.3) { 0.0 } else { rng.random_range(0.1..2.0) };
        points.push((f, b));
    }
    let (f, b): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    Arc::new(BandwidthFunction::new(&f, &b, f64::INFINITY, if b[b.len() - 1] == 0.0 { 1.0 } else { 0.0 }).unwrap())
}

fn utilities(kind: Kind, flows: usize, rng: &mut Rng) -> Vec<Arc<dyn Utility>> {
    let utility = |_| match kind {
        Kind::Curves if rng.random_bool(0.6) => curve(rng),
        Kind::Demands => Arc::new(AlphaFair::new(f64::INFINITY, 1.0).unwrap()) as Arc<dyn Utility>,
        _ => Arc::new(AlphaFair::new(f64::INFINITY, decades(rng, 1.0)).unwrap()),
    };
    (0..flows).map(utility).collect()
}

/// Up to 40 flows with up to four paths each over up to 20 links; rate caps on some paths.
fn draw(kind: Kind, rng: &mut Rng) -> Problem {
    let links = rng.random_range(2..20usize);
    let capacities: Vec<f64> = (0..links)
        .map(|_| if rng.random_bool(0.3) { f64::from(rng.random_range(1..5u32)) } else { decades(rng, 1.0) })
        .collect();
    let flows = rng.random_range(2..40usize);
    let (mut paths, mut group, mut caps) = (Paths::from_lists::<[u32; 0]>([]), Vec::new(), Vec::new());
    for flow in 0..flows as u32 {
        for _ in 0..rng.random_range(1..5) {
            let mut all: Vec<u32> = (0..links as u32).collect();
            for place in 0..links {
                all.swap(place, rng.random_range(place..links));
            }
            paths.push(&all[..rng.random_range(1..=links.min(4))]);
            group.push(flow);
            caps.push(if rng.random_bool(0.1) { decades(rng, 1.0) } else { f64::INFINITY });
        }
    }
    let problem = Problem::grouped(capacities, paths, group, utilities(kind, flows, rng)).unwrap();
    let problem = problem.with_rate_caps(caps).unwrap();
    match kind {
        Kind::Demands => problem.with_flow_caps((0..flows).map(|_| decades(rng, 2.0)).collect()).unwrap(),
        _ => problem,
    }
}

/// Another problem on the same paths: some demands, some capacities or all weights are others.
fn changed(problem: &Problem, kind: Kind, rng: &mut Rng) -> Problem {
    let mut other = problem.clone();
    let what = rng.random_range(0..3);
    if what == 0 || kind == Kind::Demands {
        let caps = (0..problem.flows()).map(|flow| match rng.random_range(0..5) {
            0 => problem.flow_cap(flow) * decades(rng, 1.0),
            1 if rng.random_bool(0.2) => decades(rng, 2.0),
            2 if rng.random_bool(0.05) => 0.0,
            _ => problem.flow_cap(flow),
        });
        other = other.with_flow_caps(caps.collect()).unwrap();
    }
    if what == 1 {
        let capacity = |&capacity: &f64| match rng.random_range(0..6) {
            0 => capacity * decades(rng, 0.6),
            1 if rng.random_bool(0.1) => 0.0,
            _ => capacity,
        };
        let capacities = problem.capacities().iter().map(capacity).collect();
        other = other.with_capacities(capacities).unwrap();
    }
    if what == 2 {
        let caps = (0..problem.paths().len()).map(|path| problem.rate_cap(path)).collect();
        let flow_caps = (0..problem.flows()).map(|flow| other.flow_cap(flow)).collect();
        let (paths, group) = (problem.paths().clone(), problem.group().to_vec());
        let utilities = utilities(kind, problem.flows(), rng);
        other = Problem::grouped(problem.capacities().to_vec(), paths, group, utilities).unwrap();
        other = other.with_rate_caps(caps).unwrap().with_flow_caps(flow_caps).unwrap();
    }
    other
}

fn assert_feasible(problem: &Problem, rates: &[f64]) {
    for (load, capacity) in problem.loads(rates).unwrap().iter().zip(problem.capacities()) {
        assert!(*load <= capacity * (1.0 + 1e-12), "{load} over {capacity}");
    }
    for (path, &rate) in rates.iter().enumerate() {
        assert!(rate >= 0.0 && rate <= problem.rate_cap(path), "path {path}: {rate}");
    }
    for (flow, rate) in problem.flow_rates(rates).unwrap().into_iter().enumerate() {
        assert!(rate <= problem.flow_cap(flow) * (1.0 + 1e-12), "flow {flow}: {rate}");
    }
}

/// Follows changes of a problem, each from the solution before it.
fn the_next_ones_are_as_if_from_the_beginning(count: u64) {
    for seed in 0..count {
        let rng = &mut Rng::seed_from_u64(seed);
        let kind = KINDS[rng.random_range(0..3)];
        let mut problem = draw(kind, rng);
        let mut fair = MaxMin::of(&problem).unwrap();
        let mut solver = Solver::new(&problem, &Ask::default()).unwrap();
        let _ = solver.run(&Settings::default(), &mut ()).unwrap();
        for step in 0..4 {
            problem = changed(&problem, kind, rng);
            let cold = MaxMin::of(&problem).unwrap();
            fair = fair.again(&problem).unwrap();
            assert!(fair.unfairness <= 1e-8, "seed {seed}, step {step}, {kind:?}: {:e}", fair.unfairness);
            assert_feasible(&problem, &fair.rates);
            solver.update(&problem).unwrap();
            let updated = solver.run(&Settings::default(), &mut ()).unwrap();
            assert_eq!((updated.status, &*updated.method), (Status::Optimal, "max-min"), "seed {seed}, step {step}");
            let expected = problem.flow_rates(&cold.rates).unwrap();
            for found in [problem.flow_rates(&fair.rates).unwrap(), updated.flow_rates] {
                for (flow, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    let near = (found - expected).abs() <= 1e-9 * expected + 1e-12;
                    assert!(near, "seed {seed}, step {step}, {kind:?}, flow {flow}: {found} and {expected}");
                }
            }
        }
    }
}

#[test]
fn rates_from_an_earlier_solution_are_those_from_the_beginning() {
    the_next_ones_are_as_if_from_the_beginning(500);
}

#[test]
#[ignore = "slow"]
fn rates_from_an_earlier_solution_are_those_from_the_beginning_many_times() {
    the_next_ones_are_as_if_from_the_beginning(20_000);
}

#[test]
fn the_same_problem_again_gives_the_same() {
    let rng = &mut Rng::seed_from_u64(3);
    for kind in KINDS {
        let problem = draw(kind, rng);
        let first = MaxMin::of(&problem).unwrap();
        let again = first.again(&problem).unwrap();
        let (one, other) = (problem.flow_rates(&first.rates).unwrap(), problem.flow_rates(&again.rates).unwrap());
        assert!(one.iter().zip(&other).all(|(one, other)| (one - other).abs() <= 1e-12 * one), "{kind:?}");
    }
}

#[test]
fn a_start_of_other_paths_is_refused_and_says_what_differs() {
    let fair = |weights: usize| AlphaFair::new(f64::INFINITY, vec![1.0; weights]).unwrap();
    let several = |lists: &[&[u32]], group: Vec<u32>| {
        let flows = group.iter().max().map_or(0, |&last| last as usize + 1);
        Problem::grouped(vec![1.0, 2.0, 3.0], Paths::from_lists(lists), group, fair(flows)).unwrap()
    };
    let start = MaxMin::of(&several(&[&[0], &[1], &[1, 2]], vec![0, 0, 1])).unwrap();
    for (other, message) in [
        (several(&[&[0], &[1], &[1, 2]], vec![0, 1, 2]), "it is of 2 flows, the problem has 3"),
        (several(&[&[0], &[1], &[2], &[1, 2]], vec![0, 0, 0, 1]), "it is of 3 paths, the problem has 4"),
        (several(&[&[0], &[1], &[0, 2]], vec![0, 0, 1]), "path 2 crosses other links there"),
        (several(&[&[0], &[1], &[1, 2]], vec![0, 1, 1]), "path 1 is of flow 0 there, of flow 1 here"),
    ] {
        let error = start.again(&other).unwrap_err();
        assert_eq!(error.to_string(), format!("start does not fit the problem: {message}"));
    }
}

#[test]
fn a_search_from_an_earlier_solution_is_stopped_by_a_token() {
    let problem = draw(Kind::Weights, &mut Rng::seed_from_u64(5));
    let fair = MaxMin::of(&problem).unwrap();
    let token = StopToken::new();
    token.stop();
    assert_eq!(token.scope(|| fair.again(&problem)).unwrap_err(), Error::Stopped);
    assert!(fair.again(&problem).is_ok());
}

/// The most that every flow can have: its cap, or what its paths can carry, each for itself.
fn ceilings(problem: &Problem) -> Vec<f64> {
    let mut together = vec![0.0; problem.flows()];
    for (path, links) in problem.paths().iter().enumerate() {
        let narrowest = links.iter().map(|&link| problem.capacities()[link as usize]).fold(f64::INFINITY, f64::min);
        together[problem.group()[path] as usize] += narrowest.min(problem.rate_cap(path));
    }
    together.iter().enumerate().map(|(flow, width)| width.min(problem.flow_cap(flow))).collect()
}

/// Nobody lacks more than the unfairness says, but for what a flow with no larger fair share holds.
fn assert_bound(seed: u64, problem: &Problem, near: &MaxMin, exact: &MaxMin) {
    assert_feasible(problem, &near.rates);
    let u = near.unfairness;
    assert!((0.0..=1.0).contains(&u), "seed {seed}: {u}");
    let (y, z) = (problem.flow_rates(&near.rates).unwrap(), problem.flow_rates(&exact.rates).unwrap());
    let share = |flow: usize, rate: f64| {
        let (utility, place) = problem.utility(flow);
        utility.fair_share(place).unwrap().least(rate)
    };
    let most = ceilings(problem);
    // The fair share that all can have at once, but for those that have all they can use before.
    let rising = (0..problem.flows()).filter(|&flow| z[flow] < most[flow] * (1.0 - 1e-9));
    let least = rising.map(|flow| share(flow, z[flow])).fold(f64::INFINITY, f64::min);
    for flow in 0..problem.flows() {
        let (utility, place) = problem.utility(flow);
        let fair = most[flow].min(utility.fair_share(place).unwrap().bandwidth(least));
        assert!(y[flow] >= (1.0 - u) * fair * (1.0 - 1e-8), "seed {seed}, flow {flow}: {}, {fair}, {u}", y[flow]);
    }
    for flow in 0..problem.flows() {
        if u < 1.0 && y[flow] > 0.0 && z[flow] > y[flow] / (1.0 - u) * (1.0 + 1e-9) {
            // What it lacks is with a flow whose fair share is not much larger, and which has more than is fair.
            let limit = share(flow, y[flow] / (1.0 - u)) * (1.0 + 1e-9);
            let has = |other: usize| y[other] > z[other] && share(other, z[other]) <= limit;
            assert!((0..problem.flows()).any(has), "seed {seed}, flow {flow}: {u}, {y:?}, exact {z:?}");
        }
    }
}

#[test]
fn the_bound_of_approximate_rates_holds() {
    for seed in 0..1500 {
        let rng = &mut Rng::seed_from_u64(seed);
        let kind = KINDS[rng.random_range(0..KINDS.len())];
        let problem = draw(kind, rng);
        let exact = MaxMin::of(&problem).unwrap();
        let within = MaxMin::within(&problem, 0.05).unwrap();
        assert!(within.unfairness <= 0.05, "seed {seed}: {}", within.unfairness);
        assert_bound(seed, &problem, &within, &exact);
    }
}

#[test]
fn curves_are_approximated_and_one_path_is_exact() {
    let rng = &mut Rng::seed_from_u64(8);
    for _ in 0..100 {
        let problem = draw(Kind::Curves, rng);
        let within = MaxMin::within(&problem, 0.05).unwrap();
        assert_feasible(&problem, &within.rates);
        assert!(within.unfairness <= 0.05);
    }
    let utility = AlphaFair::new(f64::INFINITY, vec![1.0, 3.0]).unwrap();
    let single = Problem::new(vec![1.0], Paths::from_lists([[0], [0]]), utility).unwrap();
    let near = MaxMin::within(&single, 0.5).unwrap();
    assert_eq!(near.rates, max_min(&single).unwrap());
    assert!(near.unfairness <= 1e-15);
}

#[test]
fn an_accuracy_that_is_none_is_refused() {
    let problem = draw(Kind::Weights, &mut Rng::seed_from_u64(1));
    for (accuracy, shown) in [(0.0, "0"), (-0.5, "-0.5"), (1.0, "1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let error = MaxMin::within(&problem, accuracy).unwrap_err();
        assert_eq!(error.to_string(), format!("accuracy is {shown}, expected a number above 0 and below 1"));
    }
}

#[test]
fn other_links_beside_the_same_paths_are_begun_anew() {
    let paths = || Paths::from_lists([vec![0], vec![1], vec![1, 2], vec![2]]);
    let of = |capacities: Vec<f64>| {
        let utility = AlphaFair::new(f64::INFINITY, 1.0).unwrap();
        Problem::grouped(capacities, paths(), vec![0, 0, 1, 1], utility).unwrap()
    };
    let first = MaxMin::of(&of(vec![1.0, 2.0, 3.0])).unwrap();
    for more in [of(vec![1.0, 2.5, 3.0, 1.0, 1.0]), of(vec![1.0, 2.5, 3.0, 1.0])] {
        let (again, anew) = (first.again(&more).unwrap(), MaxMin::of(&more).unwrap());
        assert_eq!(more.flow_rates(&again.rates).unwrap(), more.flow_rates(&anew.rates).unwrap());
        let back = again.again(&of(vec![1.0, 2.0, 3.0])).unwrap();
        assert_eq!(back.rates.len(), 4);
    }
}
