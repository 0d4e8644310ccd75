//! Floors and costs in the interior point: closed forms, and random problems, each with a proof.

use crate::common::close;
use crate::common::random::random_problem;
use netnum_core::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn run(problem: &Problem, tol: f64) -> Solution {
    let settings = Settings::default().with_tol(tol).with_stop(Stop::Gap);
    Solver::new(problem, &Ask::by("interior-point")).unwrap().run(&settings, &mut ()).unwrap()
}

/// What floors a random problem gets.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Floors {
    /// Half of the flows, a part of a rate that fits.
    Some,
    /// Half of the flows, a part of a rate that fits, and half of these as their caps too.
    Fixed,
    /// All flows, rates that fill a link.
    Full,
}

/// A random problem with floors that fit.
fn with_floors(problem: Problem, floors: Floors, rng: &mut ChaCha8Rng) -> Problem {
    let paths = problem.paths();
    let share = 2.0 / (paths.len() as f64).sqrt();
    let most = |path: usize| {
        let capacities = paths.links(path).iter().map(|&link| problem.capacities()[link as usize]);
        capacities.fold(f64::INFINITY, f64::min)
    };
    let draw = |path: usize| (most(path) * share * rng.random_range(0.0..1.0)).min(problem.rate_cap(path));
    let rates: Vec<f64> = (0..paths.len()).map(draw).collect();
    let loads = problem.loads(&rates).unwrap();
    let fullest = loads.iter().zip(problem.capacities()).map(|(load, capacity)| load / capacity).fold(1.0, f64::max);
    let flow_rates = problem.flow_rates(&rates).unwrap();
    let mut floor = |rate: &f64| match floors {
        Floors::Full => rate / fullest,
        _ if rng.random_bool(0.5) => rate / fullest * rng.random_range(0.3..1.0),
        _ => 0.0,
    };
    let least: Vec<f64> = flow_rates.iter().map(&mut floor).collect();
    let problem = match floors {
        Floors::Fixed => {
            let mut is_fixed = |floor: f64| floor > 0.0 && rng.random_bool(0.5);
            let caps = least.iter().map(|&floor| if is_fixed(floor) { floor } else { f64::INFINITY }).collect();
            problem.with_flow_caps(caps).unwrap()
        }
        _ => problem,
    };
    problem.with_flow_floors(least).unwrap()
}

/// A random problem with costs about what rates are worth at the optimum without.
fn with_costs(problem: Problem, rng: &mut ChaCha8Rng) -> Problem {
    let flow_rates = run(&problem, 1e-4).flow_rates;
    let cost = |&flow: &u32| {
        let (utility, place) = problem.utility(flow as usize);
        let marginal = utility.marginal(place, flow_rates[flow as usize].max(1e-30));
        let cost = marginal * 10f64.powf(rng.random_range(-3.0..0.3));
        if rng.random_bool(0.3) || !cost.is_finite() { 0.0 } else { cost }
    };
    let costs = problem.group().iter().map(cost).collect();
    problem.with_path_costs(costs).unwrap()
}

fn assert_proved(problem: &Problem, name: &str) -> usize {
    let solution = run(problem, 1e-7);
    assert_eq!(solution.status, Status::Optimal, "{name}: {solution}");
    for flow in 0..problem.flows() {
        let (rate, floor) = (solution.flow_rates[flow], problem.flow_floor(flow));
        assert!(rate >= floor * (1.0 - 1e-9), "{name}: flow {flow} has {rate} of {floor}");
    }
    let proof = certify(problem, &solution.rates, &solution.prices).unwrap();
    assert!(proof.relative_gap <= 2e-7 && proof.overload <= 1e-9, "{name}: {proof:?}");
    solution.iterations
}

#[test]
fn random_problems_with_floors_and_costs_end_optimal_in_few_more_iterations() {
    let (mut without, mut with) = (0, 0);
    for seed in 0..60 {
        let (name, problem) = random_problem(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for floors in [Floors::Some, Floors::Fixed, Floors::Full] {
            let problem = with_floors(problem.clone(), floors, &mut rng);
            with += assert_proved(&problem, &format!("{name}, floors {floors:?}"));
        }
        let dear = with_costs(problem.clone(), &mut rng);
        with += assert_proved(&dear, &format!("{name}, costs"));
        let both = with_floors(dear, Floors::Fixed, &mut rng);
        with += assert_proved(&both, &format!("{name}, floors and costs"));
        without += 5 * run(&problem, 1e-7).iterations;
    }
    // Measured: some 7 % more.
    assert!(4 * with <= 5 * without, "{without} without, {with} with");
}

#[test]
fn floors_are_carried_at_the_least_cost() {
    for seed in 0..60 {
        let (name, problem) = random_problem(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (paths, group) = (problem.paths().clone(), problem.group().to_vec());
        let caps = (0..paths.len()).map(|path| problem.rate_cap(path)).collect();
        let worthless = Problem::grouped(problem.capacities().to_vec(), paths, group, Linear::new(0.0).unwrap());
        let worthless = with_floors(worthless.unwrap().with_rate_caps(caps).unwrap(), Floors::Some, &mut rng);
        // A flow that is worth nothing has a floor or a cap.
        let cap = |flow: usize| if worthless.flow_floor(flow) > 0.0 { f64::INFINITY } else { 1.0 };
        let caps = (0..worthless.flows()).map(cap).collect();
        let worthless = worthless.with_flow_caps(caps).unwrap();
        assert_proved(&worthless, &format!("{name}, nothing costs"));
        let cost = |_| if rng.random_bool(0.2) { 0.0 } else { 10f64.powf(rng.random_range(-2.0..2.0)) };
        let dear = worthless.with_path_costs((0..problem.paths().len()).map(cost).collect()).unwrap();
        assert_proved(&dear, &format!("{name}, least cost"));
    }
}

#[test]
fn a_floor_holds_one_flow_and_the_others_share_the_rest() {
    let problem = Problem::new(vec![10.0], Paths::from_lists([[0], [0], [0]]), AlphaFair::proportional()).unwrap();
    let solution = run(&problem.with_flow_floors(vec![7.0, 0.0, 1.0]).unwrap(), 1e-10);
    for (rate, expected) in solution.rates.iter().zip([7.0, 1.5, 1.5]) {
        close(*rate, expected, 1e-8);
    }
    close(solution.prices[0], 1.0 / 1.5, 1e-8);
}

#[test]
fn the_split_of_a_given_rate_goes_where_it_is_cheapest() {
    // One flow has 3 over two links, of which another wants the first too: 2 in all is left to it there.
    let paths = Paths::from_lists([[0], [1], [0]]);
    let problem = Problem::grouped(vec![3.0, 2.0], paths, vec![0, 0, 1], AlphaFair::proportional()).unwrap();
    let problem = problem.with_flow_caps(vec![3.0, f64::INFINITY]).unwrap();
    let solution = run(&problem.with_flow_floors(vec![3.0, 0.0]).unwrap(), 1e-10);
    for (rate, expected) in solution.rates.iter().zip([1.0, 2.0, 2.0]) {
        close(*rate, expected, 1e-8);
    }
    // Nothing else is given where all paths are full.
    let paths = Paths::from_lists([[0], [1]]);
    let full = Problem::grouped(vec![3.0, 2.0], paths, vec![0, 0], AlphaFair::proportional()).unwrap();
    let solution = run(&full.with_flow_floors(vec![5.0]).unwrap(), 1e-10);
    assert_eq!((solution.status, &*solution.rates), (Status::Optimal, &[3.0, 2.0][..]));
}

#[test]
fn a_dearer_path_carries_what_its_cost_is_worth() {
    // U' = 1/y meets the cost of 0.4 at y = 2.5, of which 2 go the cheap way.
    let paths = Paths::from_lists([[0], [1]]);
    let problem = Problem::grouped(vec![2.0, 2.0], paths, vec![0, 0], AlphaFair::proportional()).unwrap();
    let solution = run(&problem.with_path_costs(vec![0.0, 0.4]).unwrap(), 1e-10);
    close(solution.rates[0], 2.0, 1e-8);
    close(solution.rates[1], 0.5, 1e-7);
    close(solution.prices[0], 0.4, 1e-8);
    close(solution.objective, 2.5f64.ln() - 0.2, 1e-8);
}

#[test]
fn costs_in_another_unit_of_utility_change_nothing() {
    for (seed, unit) in [(1u64, 2f64.powi(60)), (2, 2f64.powi(-60))] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let net = Topology::leaf_spine(4, 6, 3, 10.0, 10.0).unwrap();
        let (sources, destinations) = net.random_pairs(40, seed).unwrap();
        let paths = net.ecmp(&sources, &destinations, seed).unwrap();
        let costs: Vec<f64> = (0..40).map(|_| rng.random_range(0.0..1.0)).collect();
        let solve = |unit: f64| {
            let utility = AlphaFair::new(1.0, unit).unwrap();
            let problem = Problem::new(net.capacities().to_vec(), paths.clone(), utility).unwrap();
            run(&problem.with_path_costs(costs.iter().map(|cost| cost * unit).collect()).unwrap(), 1e-8)
        };
        let (one, other) = (solve(1.0), solve(unit));
        assert_eq!((one.status, one.iterations), (Status::Optimal, other.iterations));
        one.rates.iter().zip(&other.rates).for_each(|(rate, same)| close(*rate, *same, 1e-9));
    }
}

#[test]
fn from_the_answer_before_changed_floors_take_fewer_steps() {
    let (mut again, mut afresh) = (0, 0);
    for seed in 0..30 {
        let (name, problem) = random_problem(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let problem = with_floors(problem, Floors::Some, &mut rng);
        let lower = |factor: f64| {
            let floors = (0..problem.flows()).map(|flow| factor * problem.flow_floor(flow)).collect();
            problem.clone().with_flow_floors(floors).unwrap()
        };
        let ask = Ask::by("interior-point").with_settings(Settings::default().with_tol(1e-7).with_stop(Stop::Gap));
        let before = solve(&lower(0.97), &ask).unwrap();
        let warm = solve(&problem, &ask.clone().with_point(before.prices.to_vec(), before.rates.to_vec())).unwrap();
        assert_eq!(warm.status, Status::Optimal, "{name}: {warm}");
        again += warm.iterations;
        afresh += run(&problem, 1e-7).iterations;
    }
    assert!(again < afresh, "{again} from the answer before, {afresh} afresh");
}
