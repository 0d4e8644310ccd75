//! What adaptive splitting promises.

use crate::common;
use std::ops::ControlFlow;

use crate::common::{largest_difference, small_network};
use netnum_core::{AlphaFair, Paths, Problem, Topology, max_min};
use netnum_sim::internal::{Edf, Ordered, Srpt};
use netnum_sim::{
    Adaptive, CapacityChange, MaxMinFair, Pairs, Poisson, Policy, Production, Report, Routing, RunProgress,
    RunSettings, Sizes, Spray, Workload, simulate,
};

fn poisson(net: &Topology, flows: usize, load: f64, seed: u64) -> Workload {
    let arrivals = Poisson::new(Sizes::web_search(), load).with_flows(flows);
    Workload::poisson(net, &arrivals, &Pairs::Uniform, seed).expect("well formed")
}

fn run(net: &Topology, workload: &Workload, routing: &mut dyn Routing, changes: &[CapacityChange]) -> Report {
    let run = RunSettings::default().with_changes(changes.to_vec());
    simulate(net, workload, routing, &mut MaxMinFair::new(), &run, &mut ()).expect("all flows have routes")
}

#[test]
fn an_adaptive_split_has_the_max_min_rates_of_all_splits() {
    for seed in 0..8 {
        let net = small_network(seed);
        let workload = poisson(&net, 40, 0.8, seed);
        let report = run(&net, &workload, &mut Adaptive::new(), &[]);
        // Rates over all paths at once, whatever the split of flows.
        let rates_of = |active: &[usize]| {
            if active.is_empty() {
                return vec![];
            }
            let (mut paths, mut group) = (Paths::from_lists([[0; 0]; 0]), vec![]);
            for (place, &flow) in (0..).zip(active) {
                for path in net.paths(workload.sources()[flow], workload.destinations()[flow]).unwrap().iter() {
                    paths.push(path);
                    group.push(place);
                }
            }
            let utility = AlphaFair::new(f64::INFINITY, 1.0).unwrap();
            let problem = Problem::grouped(net.capacities().to_vec(), paths, group, utility).unwrap();
            problem.flow_rates(&max_min(&problem).unwrap()).unwrap()
        };
        let expected = common::brute_force(&workload, &vec![vec![]; workload.len()], |active, _, _| rates_of(active));
        let difference = largest_difference(&report.completion_times, &expected, report.time);
        assert!(difference <= 1e-5, "seed {seed}: completion times differ by {difference:e}");
        assert!(report.peak_loads.iter().zip(net.capacities()).all(|(peak, most)| *peak <= most * (1.0 + 1e-9)));
        let bytes: f64 = report.link_bytes.iter().sum();
        let hops =
            |flow: usize| net.paths(workload.sources()[flow], workload.destinations()[flow]).unwrap().links(0).len();
        let expected: f64 = workload.sizes().iter().enumerate().map(|(flow, size)| hops(flow) as f64 * size).sum();
        assert!((bytes - expected).abs() <= 1e-9 * expected, "{bytes} and {expected}");
    }
}

#[test]
fn in_a_symmetric_clos_an_adaptive_split_is_spraying() {
    for net in [Topology::leaf_spine(3, 3, 3, 1e9, 0.7e9).unwrap(), Topology::fat_tree(4, 1e9).unwrap()] {
        let workload = poisson(&net, 60, 0.6, 4);
        let adaptive = run(&net, &workload, &mut Adaptive::new(), &[]);
        let spray = run(&net, &workload, &mut Spray::new(), &[]);
        let difference = largest_difference(&adaptive.completion_times, &spray.completion_times, spray.time);
        assert!(difference <= 1e-5, "{}: {difference:e}", net.name());
        let most = spray.link_bytes.iter().copied().fold(0.0, f64::max);
        for (link, (one, other)) in adaptive.link_bytes.iter().zip(&spray.link_bytes).enumerate() {
            assert!((one - other).abs() < 1e-4 * most, "{}: {one} and {other} bytes on link {link}", net.name());
        }
    }
}

#[test]
fn only_an_adaptive_split_avoids_a_link_that_carries_something_else() {
    // One flow of 10 Gbit/s; 6 of the 10 of one uplink are taken. Split over four, a quarter each.
    let net = Topology::leaf_spine(2, 1, 4, 10e9, 10e9).unwrap();
    let workload = Workload::new(vec![0.0], vec![0], vec![1], vec![1e6]).unwrap();
    let taken = net.paths(0, 1).unwrap().links(2)[1];
    let hot = CapacityChange { time: 0.0, link: taken, capacity: 4e9 };
    let bytes = |routing: &mut dyn Routing| run(&net, &workload, routing, &[hot]).link_bytes[taken as usize];
    assert!(bytes(&mut Adaptive::new()) < 1.0, "{}", bytes(&mut Adaptive::new()));
    assert!((bytes(&mut Spray::new()) - 0.25e6).abs() < 1e-3);
    // It is used again when the others are fuller: of 30 Gbit/s, with 34 free, each keeps one.
    let net = Topology::leaf_spine(2, 3, 4, 10e9, 10e9).unwrap();
    let workload = Workload::new(vec![0.0; 3], vec![0, 1, 2], vec![3, 4, 5], vec![1e6; 3]).unwrap();
    let taken = net.paths(0, 3).unwrap().links(2)[1];
    let hot = CapacityChange { time: 0.0, link: taken, capacity: 4e9 };
    let report = run(&net, &workload, &mut Adaptive::new(), &[hot]);
    assert!((report.peak_loads[taken as usize] - 3e9).abs() < 1e5, "{}", report.peak_loads[taken as usize]);
}

#[test]
fn splits_and_backlogs_do_not_follow_each_other_without_end() {
    // A flow that waits behind others has a backlog, and no cap; a split that counts with that empties the backlog, and
    // so on.
    let net = small_network(3);
    let sizes = Sizes::new("some", vec![(2e4, 0.0), (3e5, 0.6), (2e6, 1.0)]).unwrap();
    let arrivals = Poisson::new(sizes, 1.2).with_flows(40);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 3).unwrap();
    let production = Production::new(vec![5e8; 40], f64::INFINITY).unwrap();
    let workload = workload.with_production(production).unwrap();
    for policy in [
        &mut Ordered::by(Srpt::new()) as &mut dyn Policy,
        &mut Ordered::by(Srpt::by_time()),
        &mut Ordered::by(Edf::new(3.0).unwrap()),
    ] {
        let mut stop = |progress: &RunProgress| match progress.events < 2000 {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let report =
            simulate(&net, &workload, &mut Adaptive::new(), policy, &RunSettings::default(), &mut stop).unwrap();
        assert_eq!(report.status.name(), "finished", "{report}");
    }
}

#[test]
fn a_split_makes_room_for_those_who_can_use_it() {
    // Two spines; the one flow may use both, the other only the first, and that at a fifth of what it would get.
    let net = Topology::leaf_spine(3, 2, 2, 2e9, 1e9).unwrap();
    let workload = Workload::new(vec![0.0; 2], vec![0, 1], vec![2, 4], vec![1.8e9 / 8.0, 0.4e9 / 8.0]).unwrap();
    let waits = Production::new(vec![1e12, 0.2e9], f64::INFINITY).unwrap();
    let workload = workload.with_production(waits).unwrap();
    let down = CapacityChange { time: 0.0, link: net.paths(1, 4).unwrap().links(1)[2], capacity: 0.0 };
    let report = run(&net, &workload, &mut Adaptive::new(), &[down]);
    assert!((report.completion_times[0] - 1.0).abs() < 1e-3, "{:?}", report.completion_times);
    assert!((report.completion_times[1] - 2.0).abs() < 1e-3, "{:?}", report.completion_times);
}
