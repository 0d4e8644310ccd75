//! Routings over paths that are shortest by an attribute of links.

use netnum_core::{AlphaFair, LinkAttribute, OptionValue, Options, Paths, Problem, Topology, max_min};
use netnum_sim::{
    Adaptive, CapacityChange, Ecmp, MaxMinFair, Pairs, Poisson, ROUTINGS, Report, Routing, RunSettings, Sizes,
    Workload, routing, simulate,
};

use crate::common::{self, largest_difference, small_network};

/// A network whose links have costs of 1 to 3: many sums are alike, over paths with unlike numbers of links.
fn with_costs(seed: u64) -> (Topology, Vec<f64>) {
    let net = small_network(seed);
    let cost: Vec<f64> = (0..net.links().len() as u64).map(|link| (1 + (link * 7 + seed) % 3) as f64).collect();
    (net.with_attribute("cost", LinkAttribute::Numbers(cost.clone())).unwrap(), cost)
}

fn poisson(net: &Topology, flows: usize, seed: u64) -> Workload {
    let arrivals = Poisson::new(Sizes::web_search(), 0.8).with_flows(flows);
    Workload::poisson(net, &arrivals, &Pairs::Uniform, seed).expect("well formed")
}

fn run(net: &Topology, workload: &Workload, routing: &mut dyn Routing, changes: &[CapacityChange]) -> Report {
    let run = RunSettings::default().with_changes(changes.to_vec());
    simulate(net, workload, routing, &mut MaxMinFair::new(), &run, &mut ()).expect("all flows have routes")
}

fn by_cost(name: &str, seed: u64) -> Box<dyn Routing + Send> {
    let mut options = Options::new();
    options.insert("weight".into(), OptionValue::Text("cost".into()));
    if name == "k-shortest" {
        options.insert("k".into(), OptionValue::Integer(1));
    }
    routing(name, seed, &options).unwrap()
}

#[test]
fn every_routing_sends_at_the_least_cost() {
    for seed in 0..8 {
        let (net, cost) = with_costs(seed);
        let workload = poisson(&net, 60, seed);
        let pairs = || workload.sources().iter().zip(workload.destinations());
        let least = |(&source, &destination): (&usize, &usize)| {
            let paths = net.paths_by(source, destination, Some(&cost)).unwrap();
            paths.links(0).iter().map(|&link| cost[link as usize]).sum::<f64>()
        };
        let expected: f64 = pairs().map(least).zip(workload.sizes()).map(|(cost, size)| cost * size).sum();
        for entry in ROUTINGS.iter() {
            let report = run(&net, &workload, by_cost(entry.name, seed).as_mut(), &[]);
            let found: f64 = report.link_bytes.iter().zip(&cost).map(|(bytes, cost)| bytes * cost).sum();
            assert!((found - expected).abs() <= 1e-9 * expected, "{}, seed {seed}: {found} {expected}", entry.name);
        }
    }
}

#[test]
fn an_adaptive_split_over_paths_of_unlike_lengths_has_the_max_min_rates_of_all_splits() {
    let mut unlike = 0;
    for seed in 0..8 {
        let (net, cost) = with_costs(seed);
        let workload = poisson(&net, 40, seed);
        let paths_of =
            |flow: usize| net.paths_by(workload.sources()[flow], workload.destinations()[flow], Some(&cost)).unwrap();
        let is_unlike = |flow: &usize| {
            let paths = paths_of(*flow);
            paths.iter().any(|path| path.len() != paths.links(0).len())
        };
        unlike += (0..40).filter(is_unlike).count();
        let mut adaptive = Adaptive::new().with_weight(Some("cost".into()));
        let report = run(&net, &workload, &mut adaptive, &[]);
        let rates_of = |active: &[usize]| {
            let (mut paths, mut group) = (Paths::from_lists([[0; 0]; 0]), vec![]);
            for (place, &flow) in (0..).zip(active) {
                for path in paths_of(flow).iter() {
                    paths.push(path);
                    group.push(place);
                }
            }
            if active.is_empty() {
                return vec![];
            }
            let utility = AlphaFair::new(f64::INFINITY, 1.0).unwrap();
            let problem = Problem::grouped(net.capacities().to_vec(), paths, group, utility).unwrap();
            problem.flow_rates(&max_min(&problem).unwrap()).unwrap()
        };
        let expected = common::brute_force(&workload, &vec![vec![]; workload.len()], |active, _, _| rates_of(active));
        let difference = largest_difference(&report.completion_times, &expected, report.time);
        assert!(difference <= 1e-5, "seed {seed}: completion times differ by {difference:e}");
        assert!(report.peak_loads.iter().zip(net.capacities()).all(|(peak, most)| *peak <= most * (1.0 + 1e-9)));
    }
    assert!(unlike > 10, "{unlike} flows have paths of unlike lengths");
}

#[test]
fn a_failed_link_leaves_the_other_paths_of_the_same_cost() {
    // A straight link of 2, and two ways round of 1 + 1.
    let net = Topology::from_edges("a d 8e6\na b 8e6\nb d 8e6\na c 8e6\nc d 8e6").unwrap();
    let cost = [2.0, 1.0, 1.0, 1.0, 1.0].iter().flat_map(|&cost| [cost, cost]).collect();
    let net = net.with_attribute("cost", LinkAttribute::Numbers(cost)).unwrap();
    let ends = |name: &str| net.end(name).unwrap();
    let workload = Workload::new(vec![0.0; 30], vec![ends("a"); 30], vec![ends("d"); 30], vec![1e4; 30]).unwrap();
    let down = CapacityChange { time: 0.0, link: net.link("a", "b").unwrap(), capacity: 0.0 };
    let report = run(&net, &workload, &mut Ecmp::new(1).with_weight(Some("cost".into())), &[down]);
    let bytes = |from: &str, to: &str| report.link_bytes[net.link(from, to).unwrap() as usize];
    assert_eq!(bytes("b", "d"), 0.0);
    assert!(bytes("a", "d") > 0.0 && bytes("c", "d") > 0.0);
    assert!((bytes("a", "d") + bytes("c", "d") - 3e5).abs() < 1e-3);
}

#[test]
fn an_attribute_that_links_do_not_have_is_named() {
    let (net, _) = with_costs(0);
    let workload = poisson(&net, 3, 0);
    for entry in ROUTINGS.iter() {
        let mut options = Options::new();
        options.insert("weight".into(), OptionValue::Text("costs".into()));
        let mut routing = routing(entry.name, 0, &options).unwrap();
        let outcome =
            simulate(&net, &workload, routing.as_mut(), &mut MaxMinFair::new(), &RunSettings::default(), &mut ());
        let told = outcome.unwrap_err().to_string();
        let expected = "there is no link attribute \"costs\", did you mean \"cost\"?; known: cost";
        assert!(told.contains(expected), "{}: {told}", entry.name);
    }
}
