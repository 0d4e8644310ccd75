//! Max-min for flows with several paths: closed forms, water-filling where there is one path each, a slow and obvious
//! solver, and the certificate.

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::{bandwidth_function, decades};
use netnum_core::*;
use proptest::prelude::*;

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (flow, (rate, target)) in found.iter().zip(expected).enumerate() {
        assert!((rate - target).abs() <= tolerance * target, "flow {flow}: {rate}, expected {target}: {found:?}");
    }
}

fn grouped(capacities: Vec<f64>, lists: &[&[u32]], group: Vec<u32>, weights: impl Into<Parameter>) -> Problem {
    let utility = AlphaFair::new(f64::INFINITY, weights).unwrap();
    Problem::grouped(capacities, Paths::from_lists(lists), group, utility).unwrap()
}

fn flow_rates(problem: &Problem) -> Vec<f64> {
    let rates = max_min(problem).unwrap();
    let overload = problem.loads(&rates).unwrap().iter().zip(problem.capacities()).map(|(load, c)| load - c * (1.0 + 1e-12)).fold(0.0, f64::max);
    assert_eq!(overload, 0.0);
    assert!((0..rates.len()).all(|path| rates[path] <= problem.rate_cap(path)));
    problem.flow_rates(&rates).unwrap()
}

fn residual(problem: &Problem, rates: &[f64]) -> f64 {
    certify(problem, rates, &vec![0.0; problem.links()]).unwrap().kkt_residual
}

/// NUMFabric, figure 10: a link for each flow, and one in the middle for both.
fn figure_10(middle: f64) -> Problem {
    let curve = |bandwidth: [f64; 3], tail| BandwidthFunction::new(&[0.0, 2.0, 2.5], &bandwidth, 5.0, tail).unwrap();
    let utilities: Vec<Arc<dyn Utility>> =
        vec![Arc::new(curve([0.0, 10.0, 15.0], 10.0)), Arc::new(curve([0.0, 0.0, 10.0], 0.0))];
    let paths = Paths::from_lists([[0], [1], [1], [2]]);
    Problem::grouped(vec![5.0, middle, 3.0], paths, vec![0, 0, 1, 1], utilities).unwrap()
}

#[test]
fn figure_10_of_numfabric_is_met() {
    for (middle, expected) in [(5.0, [10.0, 3.0]), (17.0, [15.0, 10.0]), (11.0, [13.0, 6.0])] {
        let problem = figure_10(middle);
        close(&flow_rates(&problem), &expected, 1e-9);
        let limit = max_min(&problem).unwrap();
        assert!(limit.iter().all(|rate| rate.is_finite()));
    }
}

#[test]
fn figure_10_follows_its_curves_for_every_capacity() {
    for halves in 2..=50 {
        let middle = f64::from(halves) / 2.0;
        // The first flow needs at least what its own link cannot carry, the second likewise, and both together.
        let demand = |f: f64| [if f < 2.0 { 5.0 * f } else { 10.0 * f - 10.0 }, (20.0 * (f - 2.0)).clamp(0.0, 10.0)];
        let fits = |y: [f64; 2]| (y[0] - 5.0).max(0.0) + (y[1] - 3.0).max(0.0) <= middle;
        let (mut low, mut high) = (0.0, 100.0);
        for _ in 0..100 {
            let f = 0.5 * (low + high);
            if fits(demand(f)) { low = f } else { high = f }
        }
        let [first, second] = demand(low);
        // The second flow goes on over its own link where the middle one is full.
        let expected = [first, second.max(3.0)];
        close(&flow_rates(&figure_10(middle)), &expected, 1e-9);
    }
}

#[test]
fn parallel_links_are_pooled() {
    let problem = grouped(vec![1.0, 2.0, 3.0], &[&[0], &[1], &[2], &[2]], vec![0, 0, 0, 1], 1.0);
    close(&flow_rates(&problem), &[3.0, 3.0], 1e-9);
    let problem = grouped(vec![1.0, 2.0, 4.0], &[&[0], &[1], &[2], &[1], &[2]], vec![0, 0, 0, 1, 2], vec![4.0, 1.0, 2.0]);
    close(&flow_rates(&problem), &[4.0, 1.0, 2.0], 1e-9);
}

#[test]
fn caps_hold_paths_and_not_flows() {
    let problem = grouped(vec![4.0, 4.0], &[&[0], &[1], &[0], &[1]], vec![0, 0, 1, 2], 1.0);
    let infinite = f64::INFINITY;
    for (caps, expected) in [
        ([infinite; 4], [8.0 / 3.0; 3]),
        ([0.5, infinite, infinite, infinite], [2.25, 3.5, 2.25]),
        ([0.5, 0.25, infinite, infinite], [0.75, 3.5, 3.75]),
        ([0.0, infinite, infinite, 1.0], [3.0, 4.0, 1.0]),
        ([0.0, 0.0, 0.0, infinite], [0.0, 0.0, 4.0]),
    ] {
        let problem = problem.clone().with_rate_caps(caps.to_vec()).unwrap();
        close(&flow_rates(&problem), &expected, 1e-9);
        assert!(residual(&problem, &max_min(&problem).unwrap()) < 1e-9, "{caps:?}");
    }
}

#[test]
fn a_flow_uses_what_has_not_failed() {
    let problem = grouped(vec![0.0, 3.0, 1.0], &[&[0], &[1], &[0, 1], &[0], &[1, 2]], vec![0, 0, 1, 1, 2], 1.0);
    close(&flow_rates(&problem), &[2.0, 0.0, 1.0], 1e-9);
    assert!(residual(&problem, &max_min(&problem).unwrap()) < 1e-9);
    let nothing = grouped(vec![0.0], &[&[0], &[0]], vec![0, 0], 1.0);
    assert_eq!(max_min(&nothing).unwrap(), [0.0, 0.0]);
    assert_eq!(residual(&nothing, &[0.0, 0.0]), 0.0);
}

/// The paths of every flow of a leaf-spine over several spines.
fn leaf_spine(leaves: usize, servers: usize, spines: usize, flows: usize, several: usize, seed: u64) -> Problem {
    let net = Topology::leaf_spine(leaves, servers, spines, 10.0, 10.0).unwrap();
    let (sources, destinations) = net.random_pairs(flows, seed);
    let (mut paths, mut group) = (Paths::from_lists::<[u32; 0]>([]), Vec::new());
    for (flow, (&source, &destination)) in sources.iter().zip(&destinations).enumerate() {
        let all = net.paths(source, destination).unwrap();
        for links in all.iter().take(several) {
            paths.push(links);
            group.push(flow as u32);
        }
    }
    let weights: Vec<f64> = (0..flows).map(|flow| 0.5 + ((flow * 7919) % 1000) as f64 / 1000.0).collect();
    Problem::grouped(net.capacities().to_vec(), paths, group, AlphaFair::new(f64::INFINITY, weights).unwrap()).unwrap()
}

#[test]
fn fabrics_are_solved_and_certified() {
    for (leaves, servers, spines, flows, several) in [(4, 6, 3, 60, 3), (9, 16, 4, 100, 4)] {
        for seed in 0..4 {
            let problem = leaf_spine(leaves, servers, spines, flows, several, seed);
            let began = Instant::now();
            let rates = max_min(&problem).unwrap();
            let time = began.elapsed();
            let found = residual(&problem, &rates);
            println!("{leaves}x{servers}x{spines}, {flows} flows, seed {seed}: {time:?}, residual {found:.1e}");
            assert!(found < 1e-9, "{found:e}");
        }
    }
}
