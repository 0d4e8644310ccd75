//! Solves by blocks: the same steps as the library's own loop, for every rule, on every kind of network.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::common::rules;
use netnum_core::*;
use netnum_parallel::Threads;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn on(method: &str, threads: usize) -> Ask {
    Ask::by(method).with_workers(Arc::new(Threads::new(NonZeroUsize::new(threads).unwrap())))
}

/// How α is drawn for every flow.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Alphas {
    All(f64),
    Mixed,
}

fn problem(net: &Topology, flows: usize, alphas: Alphas, capped: bool, seed: u64) -> Problem {
    let (sources, destinations) = net.random_pairs(flows, seed).unwrap();
    with_paths(net.capacities().to_vec(), net.ecmp(&sources, &destinations, seed).unwrap(), alphas, capped, seed)
}

fn with_paths(capacities: Vec<f64>, paths: Paths, alphas: Alphas, capped: bool, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let capacities = capacities.iter().map(|capacity| capacity * rng.random_range(0.8..1.2)).collect();
    let flows = paths.len();
    let weights: Vec<f64> = (0..flows).map(|_| rng.random_range(0.5..1.5)).collect();
    let alpha: Vec<f64> = (0..flows)
        .map(|_| match alphas {
            Alphas::All(alpha) => alpha,
            Alphas::Mixed => [0.5, 1.0, 2.0, 4.0][rng.random_range(0..4)],
        })
        .collect();
    let problem = Problem::new(capacities, paths, AlphaFair::new(alpha, weights).unwrap()).unwrap();
    if !capped {
        return problem;
    }
    let caps = (0..flows).map(|flow| if flow % 3 == 0 { rng.random_range(0.01..0.5) } else { f64::INFINITY });
    problem.with_rate_caps(caps.collect()).unwrap()
}

/// Links drawn at random, in paths of one to eleven.
fn mesh(links: u32, flows: usize, seed: u64) -> Paths {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let path = |_| {
        let length = rng.random_range(1..=11);
        rand::seq::index::sample(&mut rng, links as usize, length).iter().map(|link| link as u32).collect::<Vec<_>>()
    };
    Paths::from_lists((0..flows).map(path))
}

/// Paths over consecutive links.
fn chain(links: u32, flows: u32) -> Paths {
    let path = |flow: u32| {
        let (one, other) = (flow % links, flow * flow / links % links);
        (one.min(other)..=one.max(other)).collect::<Vec<_>>()
    };
    Paths::from_lists((0..flows).map(path))
}

/// These paths, which use of every link what a coefficient says.
fn weighted(paths: &Paths, seed: u64) -> Paths {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let coefficients = paths.indices().iter().map(|_| rng.random_range(0.5..1.5)).collect();
    Paths::with_coefficients(paths.indptr().to_vec(), paths.indices().to_vec(), coefficients).unwrap()
}

/// A problem of one path per flow, with coefficients.
fn with_coefficients(problem: &Problem, alphas: Alphas, capped: bool, seed: u64) -> Problem {
    with_paths(problem.capacities().to_vec(), weighted(problem.paths(), seed), alphas, capped, seed)
}

fn networks(alphas: Alphas, capped: bool) -> Vec<(&'static str, Problem)> {
    let leaf_spine = Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap();
    let fat_tree = Topology::fat_tree(8, 10.0).unwrap();
    let on_leaf_spine = problem(&leaf_spine, 5000, alphas, capped, 1);
    vec![
        ("leaf-spine with coefficients", with_coefficients(&on_leaf_spine, alphas, capped, 6)),
        ("leaf-spine", on_leaf_spine),
        ("fat-tree", problem(&fat_tree, 5001, alphas, capped, 2)),
        ("mesh", with_paths(vec![10.0; 60], mesh(60, 5002, 3), alphas, capped, 3)),
        ("mesh with coefficients", with_paths(vec![10.0; 60], weighted(&mesh(60, 5002, 3), 7), alphas, capped, 3)),
        ("chain", with_paths(vec![10.0; 20], chain(20, 5003), alphas, capped, 4)),
        ("four blocks", problem(&leaf_spine, 40_000, alphas, capped, 5)),
    ]
}

fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let largest = expected.iter().copied().fold(0.0, f64::max);
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * largest, "{what}: {found:e} at {place}, expected {expected:e}");
    }
}

#[test]
fn every_rule_takes_the_same_steps_as_without_flow_blocks() {
    for alphas in [Alphas::All(1.0), Alphas::All(2.0), Alphas::Mixed] {
        for capped in [false, true] {
            for (name, problem) in networks(alphas, capped) {
                for method in rules() {
                    if method == "rcp" && alphas == Alphas::Mixed {
                        continue;
                    }
                    let what = format!("{method} on {name}, {alphas:?}, capped: {capped}");
                    let mut plain = Solver::new(&problem, &Ask::by(method)).unwrap();
                    let mut blocks = Solver::new(&problem, &on(method, 1)).unwrap();
                    for _ in 0..3 {
                        assert_close(&what, &blocks.raw_rates(), &plain.raw_rates(), 1e-9);
                        assert_close(&what, &blocks.prices(), &plain.prices(), 1e-9);
                        plain.step(2).unwrap();
                        blocks.step(2).unwrap();
                    }
                }
            }
        }
    }
}

#[test]
fn whole_solves_end_with_the_same_proof() {
    for (name, problem) in networks(Alphas::Mixed, true) {
        let solution = |mut solver: Solver| solver.run(&Settings::default(), &mut ()).unwrap();
        let plain = solution(Solver::new(&problem, &Ask::by("fast-ned")).unwrap());
        let blocks = solution(Solver::new(&problem, &on("fast-ned", 1)).unwrap());
        assert_eq!(blocks.status, plain.status, "{name}: {blocks} and {plain}");
        let certificate = certify(&problem, &blocks.rates, &blocks.prices).unwrap();
        assert!(certificate.relative_gap <= 1e-6, "{name}: {certificate:?}");
        assert_close(name, &[-blocks.objective], &[-plain.objective], 2e-6);
    }
}

/// Flows over up to four paths each, 70 000 in all.
fn several_paths(net: &Topology, capped: bool) -> Problem {
    let (sources, destinations) = net.random_pairs(18_000, 7).unwrap();
    let (paths, group) = net.k_shortest_paths(&sources, &destinations, &KShortest::new(4)).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let weights: Vec<f64> = (0..18_000).map(|_| rng.random_range(0.5..1.5)).collect();
    let capacities = net.capacities().iter().map(|capacity| capacity * rng.random_range(0.8..1.2)).collect();
    let problem = Problem::grouped(capacities, paths, group, AlphaFair::new(2.0, weights).unwrap()).unwrap();
    if !capped {
        return problem;
    }
    let caps = (0..18_000).map(|flow| if flow % 3 == 0 { rng.random_range(0.01..0.5) } else { f64::INFINITY });
    problem.with_flow_caps(caps.collect()).unwrap()
}

fn several_paths_with_coefficients(net: &Topology) -> Problem {
    let ones = several_paths(net, false);
    let utility = AlphaFair::new(2.0, 1.0).unwrap();
    Problem::grouped(ones.capacities().to_vec(), weighted(ones.paths(), 8), ones.group().to_vec(), utility).unwrap()
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let net = Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap();
    // Four parts and three flow blocks: with two, any order of additions gives the same bits.
    let one_path = |alphas, capped| problem(&net, 70_000, alphas, capped, 7);
    let curve = BandwidthFunction::new(&[0.0, 1.0, 2.0, 4.0], &[0.0, 1e-3, 4e-3, 0.3], 2.0, 1.0).unwrap();
    let curves = one_path(Alphas::All(1.0), false).with_utility(curve).unwrap();
    for (problem, method) in [
        (one_path(Alphas::All(1.0), false), "auto"),
        (one_path(Alphas::Mixed, true), "fast-ned"),
        (one_path(Alphas::All(1.0), false), "gradient"),
        (one_path(Alphas::All(1.0), true), "interior-point"),
        (one_path(Alphas::Mixed, true), "newton"),
        (one_path(Alphas::All(f64::INFINITY), true), "max-min"),
        (curves.clone(), "interior-point"),
        (curves.clone(), "fast-ned"),
        (several_paths(&net, true), "interior-point"),
        (several_paths(&net, false), "fast-ned"),
        (with_coefficients(&one_path(Alphas::All(1.0), false), Alphas::Mixed, true, 8), "fast-ned"),
        (with_coefficients(&one_path(Alphas::All(1.0), false), Alphas::All(1.0), false, 9), "ned"),
        (several_paths_with_coefficients(&net), "fast-ned"),
    ] {
        let answer = |count| {
            let mut solver = Solver::new(&problem, &on(method, count)).unwrap();
            let solution = solver.run(&Settings::default().with_max_iterations(40), &mut ()).unwrap();
            let Certificate { relative_gap, overload, kkt_residual, .. } = solution.certificate;
            let numbers = [relative_gap, overload, kkt_residual, solution.objective];
            let columns = solution.rates.iter().chain(&solution.prices).chain(&solution.loads).chain(&numbers);
            (columns.map(|value| value.to_bits()).collect::<Vec<_>>(), solution.bottlenecks, solution.iterations)
        };
        let one = answer(1);
        for count in [2, 3] {
            assert!(answer(count) == one, "{method}, {count} threads, {:?}", problem.paths().len());
        }
    }
}

#[test]
fn the_interior_point_in_parts_ends_where_fast_ned_does() {
    let net = Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap();
    for capped in [false, true] {
        let problem = problem(&net, 70_000, Alphas::Mixed, capped, 9);
        let [own, other] = ["interior-point", "fast-ned"].map(|method| solve(&problem, &on(method, 2)).unwrap());
        assert_eq!((own.status, other.status), (Status::Optimal, Status::Optimal), "{own}, {other}");
        assert_close("objective", &[-own.objective], &[-other.objective], 2e-6);
        let again = solve(&problem, &on("newton", 2)).unwrap();
        assert_close("by Newton", &[-own.objective], &[-again.objective], 2e-6);
    }
    let several = several_paths(&net, true);
    let solution = solve(&several, &on("interior-point", 2)).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    assert!(certify(&several, &solution.rates, &solution.prices).unwrap().kkt_residual <= 1e-2);
}

#[test]
fn max_min_rates_have_the_same_bits_for_any_number_of_threads() {
    let net = Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap();
    let curve = BandwidthFunction::new(&[0.0, 1.0, 2.0], &[0.0, 3e-3, 9e-3], 2.0, 1.0).unwrap();
    for capped in [false, true] {
        let weighted = problem(&net, 70_000, Alphas::All(f64::INFINITY), capped, 7);
        for problem in [weighted.clone().with_utility(curve.clone()).unwrap(), weighted] {
            let alone = MaxMin::of(&problem).unwrap();
            assert!(alone.unfairness <= 1e-9, "{}", alone.unfairness);
            for count in [1, 2, 3] {
                let threads = Arc::new(Threads::new(NonZeroUsize::new(count).unwrap()));
                for accuracy in [None, Some(0.1)] {
                    let found = MaxMin::by(&problem, None, accuracy, threads.clone()).unwrap();
                    assert!(found.rates == alone.rates, "{count} threads");
                    assert_eq!(found.unfairness.to_bits(), alone.unfairness.to_bits());
                }
            }
        }
    }
}

#[test]
fn what_is_not_for_flow_blocks_is_solved_by_the_loop_over_rows() {
    let net = Topology::leaf_spine(4, 8, 2, 10.0, 40.0).unwrap();
    let (sources, destinations) = net.random_pairs(1200, 1).unwrap();
    let paths = net.ecmp(&sources, &destinations, 1).unwrap();
    let curve = BandwidthFunction::new(&[0.0, 1.0, 2.0], &[0.0, 3.0, 9.0], 2.0, 1.0).unwrap();
    let group = (0..1200).map(|path| path / 2).collect();
    for problem in [
        Problem::new(net.capacities().to_vec(), paths.clone(), curve).unwrap(),
        Problem::grouped(net.capacities().to_vec(), paths.clone(), group, AlphaFair::proportional()).unwrap(),
    ] {
        let mut plain = Solver::new(&problem, &Ask::by("fast-ned")).unwrap();
        let mut blocks = Solver::new(&problem, &on("fast-ned", 2)).unwrap();
        plain.step(5).unwrap();
        blocks.step(5).unwrap();
        assert_eq!((blocks.raw_rates(), blocks.prices()), (plain.raw_rates(), plain.prices()));
    }
}
