//! Coefficients in the interior point, Newton's method and auto: what a path uses of a link per unit of its rate.

use crate::common::close;
use crate::common::random::random_problem;
use netnum_core::*;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn run(problem: &Problem, method: &str, settings: &Settings) -> Solution {
    Solver::new(problem, &Ask::by(method)).unwrap().run(settings, &mut ()).unwrap()
}

/// The same problem with other coefficients, and every capacity times a number of its link.
fn changed(problem: &Problem, coefficients: Vec<f64>, of_links: impl Fn(usize) -> f64) -> Problem {
    let all = problem.paths();
    let paths = Paths::with_coefficients(all.indptr().to_vec(), all.indices().to_vec(), coefficients).unwrap();
    let specs = (0..problem.flows()).map(|flow| {
        let (utility, place) = problem.utility(flow);
        utility.spec(place).unwrap()
    });
    let capacities = problem.capacities().iter().enumerate().map(|(link, capacity)| capacity * of_links(link));
    let caps = (0..all.len()).map(|path| problem.rate_cap(path)).collect();
    let utilities = Utilities::Specs(specs.collect());
    let changed = Problem::grouped(capacities.collect(), paths, problem.group().to_vec(), utilities).unwrap();
    changed.with_rate_caps(caps).unwrap()
}

/// Over four decades, or the fractions of traffic that is split evenly.
fn drawn(rng: &mut impl Rng, count: usize) -> Vec<f64> {
    let fractions = rng.random_bool(0.5);
    let draw = |_| match fractions {
        true => *[1.0, 0.5, 0.25, 0.125].choose(rng).unwrap(),
        false => 10f64.powf(rng.random_range(-2.0..2.0)),
    };
    (0..count).map(draw).collect()
}

#[test]
fn probe() {
    let settings = Settings::default().with_tol(1e-7).with_stop(Stop::Gap);
    let range: Vec<u64> = std::env::var("SEEDS").unwrap_or("0-150".into()).split('-').map(|v| v.parse().unwrap()).collect();
    let (mut ones, mut others) = (vec![], vec![]);
    for seed in range[0]..range[1] {
        let (name, problem) = random_problem(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let other = changed(&problem, drawn(&mut rng, problem.paths().indices().len()), |_| 1.0);
        for method in ["interior-point", "auto", "newton"] {
            let Ok(mut one) = Solver::new(&problem, &Ask::by(method)) else { continue };
            let one = one.run(&settings, &mut ()).unwrap();
            let s = run(&other, method, &settings);
            if method == "interior-point" { ones.push(one.iterations); others.push(s.iterations); }
            if s.status != Status::Optimal || s.iterations > 40.max(2 * one.iterations) || one.status != Status::Optimal {
                eprintln!("{name} {method}: {} {:?} {} -> {:?} {} {:e} {}", one.method, one.status, one.iterations, s.status, s.iterations, s.certificate.relative_gap, s.method);
            }
        }
    }
    eprintln!("{} {}", ones.iter().sum::<usize>(), others.iter().sum::<usize>());
    ones.sort(); others.sort();
    eprintln!("{ones:?}\n{others:?}");
}
