//! One link, where closed forms exist.

use crate::common;
use crate::common::{brute_force, largest_difference, progressive_filling, random_network, routes};
use netnum_core::Topology;
use netnum_sim::internal::{Ordered, Srpt};
use netnum_sim::{Ecmp, MaxMinFair, Pairs, Poisson, Policy, Report, RunSettings, Sizes, Workload, simulate};

const CAPACITY: f64 = 1e9;

fn arrivals(sizes: Sizes, load: f64, flows: usize, seed: u64) -> Workload {
    let pairs = Pairs::Listed(vec![(0, 1)]);
    Workload::poisson(&link(), &Poisson::new(sizes, load).with_flows(flows), &pairs, seed).unwrap()
}

fn link() -> Topology {
    Topology::single_link(CAPACITY).unwrap()
}

fn run(workload: &Workload, policy: &mut dyn Policy) -> Report {
    simulate(&link(), workload, &mut Ecmp::new(1), policy, &RunSettings::default(), &mut ()).unwrap()
}

/// Mean and half-width of the 99.9 % confidence interval of a correlated series, by the means of thirty batches. The
/// first tenth, in which the queue fills, is left out.
fn mean_of(series: &[f64]) -> (f64, f64) {
    let series = &series[series.len() / 10..];
    let means: Vec<f64> =
        series.chunks_exact(series.len() / 30).map(|batch| batch.iter().sum::<f64>() / batch.len() as f64).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, 3.66 * (variance / count).sqrt()) // Student's t, 29 degrees of freedom
}

#[test]
fn processor_sharing_slows_down_by_one_over_what_is_idle() {
    // M/G/1-PS: E[T | size] = size / (C (1 − ρ)), whatever the distribution of sizes.
    for (load, sizes) in [(0.5, Sizes::exponential(1e5).unwrap()), (0.7, Sizes::web_search())] {
        let workload = arrivals(sizes.clone(), load, 200_000, 3);
        let report = run(&workload, &mut MaxMinFair::new());
        let (slowdown, half) = mean_of(&report.slowdowns);
        let expected = 1.0 / (1.0 - load);
        assert!((slowdown - expected).abs() <= half, "{sizes}: slowdown {slowdown} ± {half}, expected {expected}");
        assert!(half < 0.15 * expected, "{sizes}: an interval of ± {half} is too wide");
        let (time, half) = mean_of(&report.completion_times);
        let expected = 8.0 * sizes.mean() / (CAPACITY * (1.0 - load));
        assert!((time - expected).abs() <= half, "{sizes}: {time} ± {half} s, expected {expected}");
    }
}

#[test]
fn shortest_first_is_the_preemptive_textbook_loop() {
    let workload = arrivals(Sizes::web_search(), 0.8, 5000, 5);
    // Serve the flow with the least left until it ends or another one arrives.
    let (mut now, mut next, mut left) = (0.0, 0, Vec::<(f64, usize)>::new());
    let mut expected = vec![f64::NAN; workload.len()];
    while next < workload.len() || !left.is_empty() {
        let arrival = workload.arrivals().get(next).copied().unwrap_or(f64::INFINITY);
        let shortest = (0..left.len()).min_by(|&one, &other| left[one].0.total_cmp(&left[other].0));
        match shortest {
            Some(place) if now + left[place].0 / CAPACITY <= arrival => {
                now += left[place].0 / CAPACITY;
                let (_, flow) = left.swap_remove(place);
                expected[flow] = now - workload.arrivals()[flow];
            }
            _ => {
                if let Some(place) = shortest {
                    left[place].0 -= CAPACITY * (arrival - now);
                }
                now = arrival;
                left.push((8.0 * workload.sizes()[next], next));
                next += 1;
            }
        }
    }
    let report = run(&workload, &mut Ordered::by(Srpt::new()));
    let difference = largest_difference(&report.completion_times, &expected, report.time);
    assert!(difference <= 1e-9, "{difference:e}");
    assert!(report.mean_completion_time() < run(&workload, &mut MaxMinFair::new()).mean_completion_time());
}

/// Greedy rates in the order of what is left.
fn shortest_first(capacities: &[f64], routes: &[common::Plain], left: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..left.len()).collect();
    order.sort_by(|&one, &other| left[one].total_cmp(&left[other]));
    let (mut free, mut rates) = (capacities.to_vec(), vec![0.0; left.len()]);
    for flow in order {
        let least = routes[flow].iter().map(|&(link, _)| free[link]).fold(f64::INFINITY, f64::min);
        rates[flow] = least;
        routes[flow].iter().for_each(|&(link, _)| free[link] -= least);
    }
    rates
}

#[test]
fn shortest_first_on_a_network_overtakes_at_the_right_moment() {
    // Flow 0 (small) waits for flow 2 on its second link; flow 1 (larger) is served meanwhile and overtakes it.
    let net = Topology::parking_lot(2, CAPACITY).unwrap();
    let sizes = vec![50e6, 60e6, 40e6];
    let workload = Workload::new(vec![0.0; 3], vec![0, 0, 1], vec![2, 1, 2], sizes).unwrap();
    let report =
        simulate(&net, &workload, &mut Ecmp::new(0), &mut Ordered::by(Srpt::new()), &RunSettings::default(), &mut ())
            .unwrap();
    // 2 ends at .32 s; 1 overtakes 0 at .08 s, when 50 MB are left of both, and ends at .48 s; 0 has all from then on.
    for (time, expected) in report.completion_times.iter().zip([0.88, 0.48, 0.32]) {
        assert!((time - expected).abs() < 1e-12, "{time} and {expected}");
    }
}

#[test]
fn shortest_first_agrees_with_small_steps_of_brute_force() {
    // By time steps, in each of which the order is fixed: flows overtake between steps.
    for seed in 0..10 {
        let net = random_network(5, seed);
        let arrivals = Poisson::new(Sizes::exponential(1e5).unwrap(), 0.9).with_flows(60);
        let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, seed).unwrap();
        let routes = routes(&net, &workload, &mut Ecmp::new(seed));
        let exact = simulate(
            &net,
            &workload,
            &mut Ecmp::new(seed),
            &mut Ordered::by(Srpt::new()),
            &RunSettings::default(),
            &mut (),
        )
        .unwrap();
        let stepped = in_steps(&workload, &routes, net.capacities(), 1e-8);
        for (flow, (time, expected)) in exact.completion_times.iter().zip(&stepped).enumerate() {
            assert!((time - expected).abs() <= 1e-6 + 1e-3 * expected, "seed {seed}, flow {flow}: {time}, {expected}");
        }
        assert!(exact.peak_loads.iter().zip(net.capacities()).all(|(peak, capacity)| *peak <= capacity * (1.0 + 1e-9)));
    }
}

/// Completion times by time steps, in each of which the order is fixed.
fn in_steps(workload: &Workload, routes: &[common::Plain], capacities: &[f64], step: f64) -> Vec<f64> {
    let (mut times, mut active, mut left) = (vec![f64::NAN; workload.len()], Vec::<usize>::new(), Vec::<f64>::new());
    let (mut tick, mut next) = (0u64, 0);
    while next < workload.len() || !active.is_empty() {
        let now = tick as f64 * step;
        while next < workload.len() && workload.arrivals()[next] <= now {
            active.push(next);
            left.push(8.0 * workload.sizes()[next]);
            next += 1;
        }
        let on: Vec<common::Plain> = active.iter().map(|&flow| routes[flow].clone()).collect();
        let rates = shortest_first(capacities, &on, &left);
        left.iter_mut().zip(&rates).for_each(|(left, rate)| *left -= rate * step);
        for place in (0..active.len()).rev().filter(|&place| left[place] <= 0.0).collect::<Vec<_>>() {
            times[active[place]] = now + step - workload.arrivals()[active[place]];
            active.swap_remove(place);
            left.swap_remove(place);
        }
        tick += 1;
    }
    times
}

#[test]
fn brute_force_knows_two_flows_on_a_link() {
    let workload = Workload::new(vec![0.0, 0.0], vec![0, 0], vec![1, 1], vec![125e6, 250e6]).unwrap();
    let both = vec![vec![(0, 1.0)]; 2];
    let fair = brute_force(&workload, &both, |_, routes, _| progressive_filling(&[CAPACITY], routes));
    assert_eq!(fair, [2.0, 3.0]);
    let first = brute_force(&workload, &both, |_, routes, left| shortest_first(&[CAPACITY], routes, left));
    assert_eq!(first, [1.0, 3.0]);
}
