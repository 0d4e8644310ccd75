//! Routes with coefficients: closed forms for every policy, and answers that do not depend on the units of links.

use netnum_core::{Options, Paths, Topology};
use netnum_sim::{
    CapacityChange, GivenPaths, POLICIES, Pairs, Poisson, Report, RunSettings, Sizes, Workload, policy, simulate,
};

use crate::combinations::with_coefficients;
use crate::common::{largest_difference, random_network};

fn run(net: &Topology, paths: &Paths, workload: &Workload, name: &str, run: &RunSettings) -> Report {
    let mut policy = policy(name, &Options::new()).unwrap();
    simulate(net, workload, &mut GivenPaths::new(paths.clone()), policy.as_mut(), run, &mut ()).expect(name)
}

/// Two flows against each other, whose acknowledgements load the way back by 0.05: each has c/1.05.
#[test]
fn acknowledgements_take_their_part_under_every_policy() {
    let net = Topology::from_edges("a b 1.05e9\nb c 1.05e9").unwrap();
    let (there, back) = ([0, 2, 3, 1], [3, 1, 0, 2]);
    let coefficients = [1.0, 1.0, 0.05, 0.05].repeat(2);
    let paths = Paths::with_coefficients(vec![0, 4, 8], [there, back].concat(), coefficients).unwrap();
    let workload = Workload::new(vec![0.0; 2], vec![0, 2], vec![2, 0], vec![1e7; 2]).unwrap();
    for name in POLICIES.iter().map(|entry| entry.name) {
        let report = run(&net, &paths, &workload, name, &RunSettings::default());
        assert!(report.over_allocation <= 1e-6 * 1.05e9, "{name}: {}", report.over_allocation);
        let [one, other] = [0, 1].map(|flow| 100.0 * report.completion_times[flow]);
        match name {
            // One after the other, at 1.05e9; an allocator on a clock keeps 1 % free.
            "srpt" | "edf" | "coflow" => {
                assert!((one - 8.0 / 1.05).abs() < 1e-9 && other > 8.0, "{name}: {one}, {other}")
            }
            "flowtune" => assert!((7.99..8.1).contains(&one) && (7.99..8.1).contains(&other), "{name}: {one}, {other}"),
            _ => assert!((one - 8.0).abs() < 0.01 && (other - 8.0).abs() < 0.01, "{name}: {one}, {other}"),
        }
    }
}

/// A link of s times the capacity, of which flows use s times as much, is the same link, but to the steps of "gradient"
/// (docs/limits.md).
#[test]
fn the_units_of_links_do_not_matter() {
    for seed in 0..3 {
        let net = random_network(6, seed);
        let sizes = Sizes::new("short", vec![(2e4, 0.0), (2e5, 1.0)]).unwrap();
        let arrivals = Poisson::new(sizes, 0.9).with_flows(30);
        let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, seed).unwrap();
        let paths = net.ecmp(workload.sources(), workload.destinations(), seed).unwrap();
        let paths = with_coefficients(&net, &paths, seed);
        let unit = |link: usize| [1.0, 1e9, 3.7, 1e-9, 0.11][(link + seed as usize) % 5];
        let scaled: Vec<f64> = net.capacities().iter().enumerate().map(|(link, c)| c * unit(link)).collect();
        let scaled = net.clone().with_capacities(scaled).unwrap();
        let entries = (0..paths.len()).flat_map(|path| paths.entries(path));
        let coefficients = entries.map(|(link, coefficient)| coefficient * unit(link as usize)).collect();
        let others = Paths::with_coefficients(paths.indptr().to_vec(), paths.indices().to_vec(), coefficients).unwrap();
        let halfway = workload.arrivals()[15];
        let changes = |net: &Topology| {
            let of = |time: f64, part: f64| CapacityChange { time, link: 3, capacity: part * net.capacities()[3] };
            RunSettings::default().with_changes(vec![of(0.6 * halfway, 0.0), of(halfway, 0.5)])
        };
        for name in POLICIES.iter().map(|entry| entry.name).filter(|name| *name != "gradient") {
            let one = run(&net, &paths, &workload, name, &changes(&net));
            let other = run(&scaled, &others, &workload, name, &changes(&scaled));
            let difference = largest_difference(&one.completion_times, &other.completion_times, one.time);
            // Optima are proven to a gap of 1e-6.
            let allowed = if one.gap > 0.0 { 1e-3 } else { 1e-6 };
            assert!(difference < allowed, "{name}, seed {seed}: {difference:e}");
        }
    }
}
