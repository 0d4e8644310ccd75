//! Coefficients in the interior point and in Newton's method: what a path uses of a link per unit of its rate.

use crate::common::close;
use crate::common::random::random_problem;
use netnum_core::*;
use rand::seq::IndexedRandom;
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn run(problem: &Problem, method: &str, tol: f64) -> Solution {
    let settings = Settings::default().with_tol(tol).with_stop(Stop::Gap);
    Solver::new(problem, &Ask::by(method)).unwrap().run(&settings, &mut ()).unwrap()
}

/// A problem with the coefficients a_lp that a function has, given the numbers of the crossing and of its link, and
/// with other capacities.
fn changed(problem: &Problem, a: impl FnMut((usize, usize)) -> f64, capacities: Vec<f64>) -> Problem {
    let all = problem.paths();
    let coefficients = all.indices().iter().map(|&link| link as usize).enumerate().map(a).collect();
    let paths = Paths::with_coefficients(all.indptr().to_vec(), all.indices().to_vec(), coefficients).unwrap();
    let specs = (0..problem.flows()).map(|flow| {
        let (utility, place) = problem.utility(flow);
        utility.spec(place).unwrap()
    });
    let caps = (0..all.len()).map(|path| problem.rate_cap(path)).collect();
    let utilities = Utilities::Specs(specs.collect());
    let changed = Problem::grouped(capacities, paths, problem.group().to_vec(), utilities).unwrap();
    changed.with_rate_caps(caps).unwrap()
}

/// The random problem of a seed, and the same with coefficients over four decades, or with the fractions of traffic
/// that is split evenly.
fn with_coefficients(seed: u64) -> (String, Problem, Problem) {
    let (name, problem) = random_problem(seed);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let of_even_splits = rng.random_bool(0.5);
    let draw = |_| match of_even_splits {
        true => *[1.0, 0.5, 0.25, 0.125].choose(&mut rng).unwrap(),
        false => 10f64.powf(rng.random_range(-2.0..2.0)),
    };
    let other = changed(&problem, draw, problem.capacities().to_vec());
    (name, problem, other)
}

#[test]
fn random_problems_with_coefficients_end_optimal_in_at_most_half_as_many_more_iterations() {
    let (mut of_ones, mut of_others) = (0, 0);
    for seed in 0..150 {
        let (name, ones, others) = with_coefficients(seed);
        let solution = run(&others, "interior-point", 1e-7);
        assert_eq!(solution.status, Status::Optimal, "{name}: {solution}");
        let proof = certify(&others, &solution.rates, &solution.prices).unwrap();
        assert!(proof.relative_gap <= 2e-7 && proof.overload <= 1e-9, "{name}: {proof:?}");
        of_ones += run(&ones, "interior-point", 1e-7).iterations;
        of_others += solution.iterations;
    }
    // Measured: 1196 and 1429.
    assert!(2 * of_others <= 3 * of_ones, "{of_ones} with ones, {of_others} with others");
}

#[test]
fn newtons_method_finds_the_rates_of_the_interior_point() {
    let mut solved = 0;
    for seed in 0..60 {
        let (name, _, problem) = with_coefficients(seed);
        // Over six decades of weights it may not end.
        let is_far = name.contains("weights over 6") || problem.curvature() != Curvature::Strict;
        if is_far || !problem.is_single_path() {
            continue;
        }
        let (one, other) = (run(&problem, "newton", 1e-9), run(&problem, "interior-point", 1e-9));
        assert_eq!((one.status, other.status), (Status::Optimal, Status::Optimal), "{name}: {one}, {other}");
        close(one.objective, other.objective, 1e-6);
        solved += 1;
    }
    assert!(solved > 10, "{solved}");
}

#[test]
fn the_unit_of_a_link_changes_neither_iterations_nor_rates() {
    for seed in 0..40 {
        let (name, _, problem) = with_coefficients(seed);
        let base = run(&problem, "interior-point", 1e-7);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let units: Vec<f64> = (0..problem.links()).map(|_| 2f64.powi(rng.random_range(-30..=30))).collect();
        let given = problem.paths().coefficients().unwrap();
        let capacities = problem.capacities().iter().zip(&units).map(|(capacity, unit)| capacity * unit).collect();
        let scaled = changed(&problem, |(crossing, link)| given[crossing] * units[link], capacities);
        let other = run(&scaled, "interior-point", 1e-7);
        assert_eq!((other.status, other.iterations), (base.status, base.iterations), "{name}: {base}, {other}");
        // By powers of two nothing is rounded.
        assert_eq!(
            (other.rates, other.certificate.relative_gap),
            (base.rates, base.certificate.relative_gap),
            "{name}"
        );
    }
}

#[test]
fn a_link_is_shared_by_what_flows_use_of_it() {
    let paths = Paths::with_coefficients(vec![0, 1, 2, 3], vec![0; 3], vec![0.5, 2.0, 1.0]).unwrap();
    let problem = Problem::new(vec![12.0], paths, AlphaFair::new(1.0, vec![1.0, 2.0, 3.0]).unwrap()).unwrap();
    for method in ["interior-point", "newton"] {
        let solution = run(&problem, method, 1e-10);
        // A flow with the part w/Σ w of all weights has that part of the link.
        for (rate, expected) in solution.rates.iter().zip([4.0, 2.0, 6.0]) {
            close(*rate, expected, 1e-8);
        }
        close(solution.prices[0], 0.5, 1e-8);
    }
}

#[test]
fn an_acknowledgement_on_the_way_back_costs_its_part() {
    // Two flows in opposite directions, each acknowledged by 0.05 of its rate.
    let paths = Paths::with_coefficients(vec![0, 2, 4], vec![0, 1, 1, 0], vec![1.0, 0.05, 1.0, 0.05]).unwrap();
    let problem = Problem::new(vec![1.0, 1.0], paths, AlphaFair::proportional()).unwrap();
    for method in ["interior-point", "newton"] {
        let solution = run(&problem, method, 1e-10);
        solution.rates.iter().for_each(|&rate| close(rate, 1.0 / 1.05, 1e-8));
    }
}

#[test]
fn paths_that_use_unlike_parts_of_a_link_of_all_are_told_apart() {
    // Both paths cross link 0; by the second a unit of rate takes three times as much of it, by the first all of link
    // 1. With 1/y = 3 p_0 and x_1 = 1: y = 1 + (4 − 1)/3.
    let paths = Paths::with_coefficients(vec![0, 2, 3], vec![0, 1, 0], vec![1.0, 1.0, 3.0]).unwrap();
    let problem = Problem::grouped(vec![4.0, 1.0], paths, vec![0, 0], AlphaFair::proportional()).unwrap();
    let solution = run(&problem, "interior-point", 1e-10);
    close(solution.rates[0], 1.0, 1e-8);
    close(solution.rates[1], 1.0, 1e-8);
    close(solution.prices[0], 1.0 / 6.0, 1e-8);
    close(solution.prices[1], 1.0 / 3.0, 1e-8);
}

/// A linear problem, and at its optimum full links that are sums of others but for rounding, as cuts of a class are.
fn with_links_that_depend_on_others(seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (links, flows) = (rng.random_range(20..40), rng.random_range(5..40));
    let capacities: Vec<f64> = (0..links).map(|_| rng.random_range(0.5..5.0)).collect();
    let (mut lists, mut group) = (Vec::new(), Vec::new());
    for flow in 0..flows {
        for _ in 0..rng.random_range(1..4) {
            let crossed = rng.random_range(1..6);
            lists.push(sample(&mut rng, links, crossed).into_iter().map(|link| link as u32).collect());
            group.push(flow);
        }
    }
    let weights: Vec<f64> = (0..flows).map(|_| rng.random_range(0.5..3.0)).collect();
    let utility = Linear::new(weights).unwrap();
    let alone =
        Problem::grouped(capacities.clone(), Paths::from_lists(&lists), group.clone(), utility.clone()).unwrap();
    let rates = run(&alone, "interior-point", 1e-9).rates;
    let mut rows: Vec<Vec<(u32, f64)>> =
        lists.iter().map(|list: &Vec<u32>| list.iter().map(|&link| (link, 1.0)).collect()).collect();
    let mut all = capacities;
    for _ in 0..2 * links {
        let prices: Vec<f64> =
            (0..links).map(|_| if rng.random_bool(0.2) { rng.random_range(0.1..1.0) } else { 0.0 }).collect();
        let uses = lists.iter().map(|list| list.iter().map(|&link| prices[link as usize]).sum::<f64>());
        let load: f64 = uses.clone().zip(&rates).map(|(a, rate)| a * rate).sum();
        let link = all.len() as u32;
        uses.zip(&mut rows).filter(|(a, _)| *a > 0.0).for_each(|(a, row)| row.push((link, a)));
        all.push(load * (1.0 + [-1e-11, 0.0, 1e-12, 1e-11, 1e-10].choose(&mut rng).unwrap()) + 1e-15);
    }
    let ends = rows.iter().scan(0, |end, row| {
        *end += row.len();
        Some(*end)
    });
    let (indptr, entries) = ([0].into_iter().chain(ends).collect(), rows.iter().flatten().copied());
    let (indices, coefficients) = entries.unzip();
    let paths = Paths::with_coefficients(indptr, indices, coefficients).unwrap();
    Problem::grouped(all, paths, group, utility).unwrap()
}

#[test]
fn full_links_that_depend_on_each_other_leave_no_linear_problem_without_an_answer() {
    for seed in 0..60 {
        let problem = with_links_that_depend_on_others(seed);
        let solution = solve(&problem, &Ask::by("interior-point")).unwrap();
        assert_eq!(solution.status, Status::Optimal, "{seed}: {solution}");
        // Measured: 8 to 36.
        assert!(solution.iterations <= 60, "{seed}: {} iterations", solution.iterations);
    }
}
