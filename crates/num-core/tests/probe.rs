#[path = "it/common/random.rs"]
mod random;
use netnum_core::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use random::random_problem;

fn run(problem: &Problem, method: &str, tol: f64) -> Solution {
    let settings = Settings::default().with_tol(tol).with_stop(Stop::Gap).with_max_iterations(3000);
    Solver::new(problem, &Ask::by(method)).unwrap().run(&settings, &mut ()).unwrap()
}

fn draw(seed: u64, mode: &str) -> (String, Problem, Problem) {
    let (name, problem) = random_problem(seed);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut other = problem.clone();
    let flows = problem.flows();
    if mode.contains("coef") {
        let all = problem.paths();
        let a = (0..all.indices().len()).map(|_| 10f64.powf(rng.random_range(-2.0..2.0))).collect();
        let paths = Paths::with_coefficients(all.indptr().to_vec(), all.indices().to_vec(), a).unwrap();
        let specs = (0..flows)
            .map(|flow| {
                let (u, place) = problem.utility(flow);
                u.spec(place).unwrap()
            })
            .collect();
        let caps = (0..all.len()).map(|path| problem.rate_cap(path)).collect();
        other =
            Problem::grouped(problem.capacities().to_vec(), paths, problem.group().to_vec(), Utilities::Specs(specs))
                .unwrap()
                .with_rate_caps(caps)
                .unwrap();
    }
    if mode.contains("floor") || mode.contains("fixed") || mode.contains("tight") {
        let rates: Vec<f64> = (0..other.paths().len())
            .map(|path| {
                let row = other.paths().links(path);
                let a = |i: usize| other.paths().coefficients().map_or(1.0, |a| a[other.paths().indptr()[path] + i]);
                let n = other.paths().len() as f64;
                let most = row
                    .iter()
                    .enumerate()
                    .map(|(i, &l)| other.capacities()[l as usize] / a(i))
                    .fold(f64::INFINITY, f64::min);
                (most * rng.random_range(0.0..2.0) / n.sqrt()).min(other.rate_cap(path))
            })
            .collect();
        let over = other.loads(&rates).unwrap().iter().zip(other.capacities()).map(|(l, c)| l / c).fold(0.0, f64::max);
        let fit: Vec<f64> = rates.iter().map(|r| r / over.max(1.0)).collect();
        let totals = other.flow_rates(&fit).unwrap();
        let tight = mode.contains("tight");
        let floors: Vec<f64> = totals
            .iter()
            .map(|y| {
                if tight {
                    *y
                } else if rng.random_bool(0.5) {
                    y * rng.random_range(0.3..1.0)
                } else {
                    0.0
                }
            })
            .collect();
        if mode.contains("fixed") {
            let caps =
                floors.iter().map(|&m| if m > 0.0 && rng.random_bool(0.5) { m } else { f64::INFINITY }).collect();
            other = other.with_flow_caps(caps).unwrap();
        }
        other = other.with_flow_floors(floors).unwrap();
    }
    if mode.contains("min") || mode.contains("feas") {
        other = Problem::grouped(
            other.capacities().to_vec(),
            other.paths().clone(),
            other.group().to_vec(),
            Linear::new(0.0).unwrap(),
        )
        .unwrap()
        .with_rate_caps((0..other.paths().len()).map(|p| other.rate_cap(p)).collect())
        .unwrap()
        .with_flow_floors((0..flows).map(|f| other.flow_floor(f)).collect())
        .unwrap();
        if mode.contains("min") {
            let costs = (0..other.paths().len())
                .map(|_| if rng.random_bool(0.2) { 0.0 } else { 10f64.powf(rng.random_range(-2.0..2.0)) })
                .collect();
            other = other.with_path_costs(costs).unwrap();
        }
        let caps = (0..flows).map(|f| if other.flow_floor(f) > 0.0 { f64::INFINITY } else { 1.0 }).collect();
        other = other.with_flow_caps(caps).unwrap();
    } else if mode.contains("cost") {
        let base = run(&problem, "interior-point", 1e-4);
        let flow_rates = base.flow_rates.clone();
        let costs: Vec<f64> = problem
            .group()
            .iter()
            .map(|&f| {
                let (u, place) = problem.utility(f as usize);
                let m = u.marginal(place, flow_rates[f as usize].max(1e-30));
                let c = m * 10f64.powf(rng.random_range(-3.0..0.3));
                if rng.random_bool(0.3) || !c.is_finite() { 0.0 } else { c }
            })
            .collect();
        other = other.with_path_costs(costs).unwrap();
    }
    (name, problem, other)
}

#[test]
fn probe() {
    let range: Vec<u64> =
        std::env::var("SEEDS").unwrap_or("0-150".into()).split('-').map(|v| v.parse().unwrap()).collect();
    let modes = std::env::var("MODES").unwrap_or("floor,cost,fixed,floor cost coef,tight".into());
    for mode in modes.split(',') {
        let (mut ones, mut others, mut bad) = (vec![], vec![], vec![]);
        for seed in range[0]..range[1] {
            let (name, problem, other) = draw(seed, mode);
            let one = run(&problem, "interior-point", 1e-7);
            let s = match Solver::new(&other, &Ask::by("interior-point")) {
                Ok(_) => run(&other, "interior-point", 1e-7),
                Err(e) => {
                    eprintln!("{mode}: {name} {e}");
                    continue;
                }
            };
            ones.push(one.iterations);
            others.push(s.iterations);
            if s.status != Status::Optimal || s.iterations > 40.max(2 * one.iterations) {
                bad.push(seed);
                eprintln!(
                    "{mode}: {name}: {:?} {} -> {:?} {} {:e} over {:e}",
                    one.status,
                    one.iterations,
                    s.status,
                    s.iterations,
                    s.certificate.relative_gap,
                    s.certificate.overload
                );
            }
        }
        eprintln!("{mode}: {} {} bad {:?}", ones.iter().sum::<usize>(), others.iter().sum::<usize>(), bad);
        others.sort();
        eprintln!("{others:?}");
    }
}
