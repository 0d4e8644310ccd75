//! Max-min for flows with several paths: closed forms, water-filling where there is one path each, a slow and obvious
//! solver, and the certificate.

use std::sync::Arc;

use crate::common::{bandwidth_function, decades};
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
    let loads = problem.loads(&rates).unwrap();
    assert!(loads.iter().zip(problem.capacities()).all(|(load, capacity)| *load <= capacity * (1.0 + 1e-12)));
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
    let problem =
        grouped(vec![1.0, 2.0, 4.0], &[&[0], &[1], &[2], &[1], &[2]], vec![0, 0, 0, 1, 2], vec![4.0, 1.0, 2.0]);
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
    let (sources, destinations) = net.random_pairs(flows, seed).unwrap();
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
            let found = residual(&problem, &max_min(&problem).unwrap());
            assert!(found < 1e-9, "{leaves}x{servers}x{spines}, seed {seed}: {found:e}");
        }
    }
}

#[test]
fn one_path_given_twice_is_that_path() {
    for name in ["caps", "parkinglot", "weighted-leafspine-small", "weighted-wan"] {
        let path = format!("{}/tests/cases/maxmin-{name}.json", env!("CARGO_MANIFEST_DIR"));
        let problem = Problem::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
        let expected = max_min(&problem).unwrap();
        // The last flow's path once more: the whole problem is then solved as one with several paths.
        let (mut paths, last) = (problem.paths().clone(), problem.flows() - 1);
        paths.push(problem.paths().links(last));
        let specs = (0..=last).map(|flow| problem.utility(flow)).map(|(utility, place)| utility.spec(place).unwrap());
        let group = (0..=last).chain([last]).map(|flow| flow as u32).collect();
        let utilities = Utilities::Specs(specs.collect());
        let twice = Problem::grouped(problem.capacities().to_vec(), paths, group, utilities).unwrap();
        let mut caps: Vec<f64> = (0..=last).map(|path| problem.rate_cap(path)).collect();
        // Two paths may carry what the caps of both allow.
        caps[last] /= 2.0;
        caps.push(caps[last]);
        close(&flow_rates(&twice.with_rate_caps(caps).unwrap()), &expected, 1e-8);
    }
}

#[test]
fn the_certificate_sees_a_flow_that_has_too_much_or_too_little() {
    let problem = leaf_spine(4, 6, 3, 30, 3, 1);
    let rates = max_min(&problem).unwrap();
    for flow in 0..30 {
        for size in [1e-6, 1e-3, 0.1] {
            let mut spoiled = rates.clone();
            for (path, rate) in spoiled.iter_mut().enumerate() {
                match problem.group()[path] {
                    other if other == flow => *rate *= 1.0 - size,
                    other if other == (flow + 1) % 30 => *rate *= 1.0 + size,
                    _ => {}
                }
            }
            let certificate = certify(&problem, &spoiled, &vec![0.0; problem.links()]).unwrap();
            let found = certificate.relative_gap;
            assert!(found > 0.9 * size && found < 20.0 * size, "flow {flow} x {size}: {certificate:?}");
        }
    }
    let halved: Vec<f64> = rates.iter().map(|rate| 0.5 * rate).collect();
    assert!(residual(&problem, &halved) >= 0.5);
}

/// One flow: its paths with their caps, and its utility.
type Ask = (Vec<(Vec<u32>, f64)>, Arc<dyn Utility>);

/// Small networks with several paths per flow, weights over some decades, curves among them if asked for, caps and
/// failed links.
fn any_network(curves: bool, half: i32, capped: bool) -> impl Strategy<Value = (Vec<f64>, Vec<Ask>)> {
    let capacity = prop_oneof![6 => decades(-1, 1), 3 => Just(1.0), 1 => Just(0.0)];
    prop::collection::vec(capacity, 1..5).prop_flat_map(move |capacities| {
        let links: Vec<u32> = (0..capacities.len() as u32).collect();
        let path = prop::sample::subsequence(links.clone(), 1..=links.len().min(3));
        let cap = prop_oneof![6 => Just(f64::INFINITY), u32::from(capped) => decades(-2, 1)];
        let weight = prop_oneof![decades(-half, half), Just(1.0)]
            .prop_map(|weight| Arc::new(AlphaFair::new(f64::INFINITY, weight).unwrap()) as Arc<dyn Utility>);
        let curve = bandwidth_function().prop_map(|curve| Arc::new(curve) as Arc<dyn Utility>);
        let utility = prop_oneof![1 => weight, u32::from(curves) => curve];
        let ask = (prop::collection::vec((path, cap), 1..4), utility);
        (Just(capacities), prop::collection::vec(ask, 1..7))
    })
}

fn problem(capacities: &[f64], asks: &[Ask]) -> Problem {
    let paths = Paths::from_lists(asks.iter().flat_map(|(paths, _)| paths.iter().map(|(links, _)| links.as_slice())));
    let caps = asks.iter().flat_map(|(paths, _)| paths.iter().map(|(_, cap)| *cap)).collect();
    let group = (0u32..).zip(asks).flat_map(|(flow, (paths, _))| paths.iter().map(move |_| flow)).collect();
    let utilities: Vec<_> = asks.iter().map(|(_, utility)| utility.clone()).collect();
    Problem::grouped(capacities.to_vec(), paths, group, utilities).unwrap().with_rate_caps(caps).unwrap()
}

/// Whether rates of flows can be routed: no whole prices up to 3 ask for more than the links are worth, when every flow
/// takes its cheapest paths first, and no flow is beyond its ceilings.
fn fits(capacities: &[f64], asks: &[Ask], rates: &[f64]) -> bool {
    for code in 1..4usize.pow(capacities.len() as u32) {
        let price = |link: usize| ((code >> (2 * link)) & 3) as f64;
        let worth: f64 = capacities.iter().enumerate().map(|(link, capacity)| price(link) * capacity).sum();
        let mut asked = 0.0;
        for ((paths, _), &rate) in asks.iter().zip(rates) {
            let mut offers: Vec<(f64, f64)> = paths
                .iter()
                .map(|(links, cap)| {
                    let narrowest = links.iter().map(|&link| capacities[link as usize]).fold(*cap, f64::min);
                    (links.iter().map(|&link| price(link as usize)).sum(), narrowest)
                })
                .collect();
            offers.sort_by(|one, other| one.0.total_cmp(&other.0));
            let mut left = rate;
            for (price, most) in offers {
                asked += price * left.min(most);
                left -= left.min(most);
            }
            if left > 1e-12 * rate {
                return false;
            }
        }
        if asked > worth * (1.0 + 1e-12) {
            return false;
        }
    }
    true
}

/// Max-min as it is defined: all rates rise by bisection until one must stop.
fn by_bisection(capacities: &[f64], asks: &[Ask]) -> Vec<f64> {
    let most = |flow: usize| asks[flow].1.saturation(0);
    let mut stopped: Vec<Option<f64>> = vec![None; asks.len()];
    while stopped.iter().any(Option::is_none) {
        let at = |f: f64| -> Vec<f64> {
            let rate = |flow: usize| asks[flow].1.fair_share(0).unwrap().bandwidth(f).min(most(flow));
            (0..asks.len()).map(|flow| stopped[flow].unwrap_or_else(|| rate(flow))).collect()
        };
        let (mut low, mut high) = (0.0, 1e12);
        for _ in 0..300 {
            let middle = if low == 0.0 { 1e-10 * high } else { f64::sqrt(low * high) };
            if fits(capacities, asks, &at(middle)) { low = middle } else { high = middle }
        }
        let rates = at(low);
        let mut any = false;
        for flow in 0..asks.len() {
            let mut more = rates.clone();
            more[flow] = more[flow] * (1.0 + 1e-7) + 1e-9;
            if stopped[flow].is_none() && (rates[flow] >= most(flow) || !fits(capacities, asks, &more)) {
                stopped[flow] = Some(rates[flow]);
                any = true;
            }
        }
        assert!(any, "{rates:?}");
    }
    stopped.into_iter().map(Option::unwrap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn rates_are_those_of_the_definition((capacities, asks) in any_network(true, 1, true)) {
        let rates = flow_rates(&problem(&capacities, &asks));
        for (rate, expected) in rates.iter().zip(by_bisection(&capacities, &asks)) {
            prop_assert!((rate - expected).abs() <= 1e-6 * expected + 1e-8, "{rates:?}, expected {expected:?}");
        }
    }

    #[test]
    fn over_twelve_decades_of_weights_too((capacities, asks) in any_network(false, 6, true)) {
        let rates = flow_rates(&problem(&capacities, &asks));
        for (rate, expected) in rates.iter().zip(by_bisection(&capacities, &asks)) {
            prop_assert!((rate - expected).abs() <= 1e-6 * expected + 1e-8, "{rates:?}, expected {expected:?}");
        }
    }

    #[test]
    fn curves_are_certified((capacities, asks) in any_network(true, 2, true)) {
        let limit = |(_, utility): &Ask| {
            let mut spec = utility.spec(0).unwrap().without("alpha");
            if spec.kind == "bandwidth_function" {
                spec.kind = "max_min_bandwidth_function".into();
            }
            spec
        };
        let specs = asks.iter().map(limit).collect();
        let drawn = problem(&capacities, &asks);
        let (links, group) = (drawn.paths().clone(), drawn.group().to_vec());
        let caps = (0..links.len()).map(|path| drawn.rate_cap(path)).collect();
        let problem = Problem::grouped(capacities, links, group, Utilities::Specs(specs)).unwrap();
        let problem = problem.with_rate_caps(caps).unwrap();
        let found = residual(&problem, &max_min(&drawn).unwrap());
        // Rounding beside a flow that is a million times larger.
        prop_assert!(found <= 1e-6, "{found:e}");
    }

    #[test]
    fn with_one_path_per_flow_it_is_water_filling((capacities, asks) in any_network(true, 2, true)) {
        let first = |(paths, utility): &Ask| (paths[..1].to_vec(), utility.clone());
        let mut asks: Vec<Ask> = asks.iter().map(first).collect();
        let expected = max_min(&problem(&capacities, &asks)).unwrap();
        // Beside them, a flow with two paths on links of its own.
        let own = capacities.len() as u32;
        let weight = Arc::new(AlphaFair::new(f64::INFINITY, 1.0).unwrap());
        asks.push((vec![(vec![own], f64::INFINITY), (vec![own + 1], f64::INFINITY)], weight));
        let all = [&capacities[..], &[1.0, 2.0]].concat();
        let rates = flow_rates(&problem(&all, &asks));
        let rounding = f64::EPSILON * all.iter().fold(0.0, |largest: f64, &capacity| largest.max(capacity));
        for (rate, expected) in rates.iter().zip(expected.iter().chain(&[3.0])) {
            prop_assert!((rate - expected).abs() <= 1e-8 * expected + rounding, "{rates:?}, expected {expected:?}");
        }
    }

    #[test]
    fn neither_order_nor_units_matter(
        (capacities, asks) in any_network(false, 3, true), turn in 0usize..7,
        unit in prop_oneof![Just(1e9), Just(1e-9)],
    ) {
        let rates = flow_rates(&problem(&capacities, &asks));
        let turn = turn % asks.len();
        let mut turned: Vec<Ask> = asks.clone();
        for (paths, _) in &mut turned {
            paths.reverse();
            paths.iter_mut().for_each(|(_, cap)| *cap *= unit);
        }
        turned.rotate_left(turn);
        let capacities: Vec<f64> = capacities.iter().map(|capacity| capacity * unit).collect();
        let mut again = flow_rates(&problem(&capacities, &turned));
        again.rotate_right(turn);
        for (rate, again) in rates.iter().zip(&again) {
            // Equal to rounding but for one problem in a thousand, whose prices stay inexact.
            prop_assert!((rate - again / unit).abs() <= 1e-6 * rate, "{rates:?} and {again:e}");
        }
    }

    #[test]
    fn six_decades_of_weights_are_certified((capacities, asks) in any_network(false, 3, true)) {
        let problem = problem(&capacities, &asks);
        let found = residual(&problem, &max_min(&problem).unwrap());
        // Rounding beside a flow that is a million times larger.
        prop_assert!(found <= 1e-6, "{found:e}");
    }
}
