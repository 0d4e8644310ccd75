//! Flows over several paths that the policy splits: closed forms, and full solves at every event.

use std::sync::Arc;

use crate::common::{brute_force, largest_difference, random_network};
use netnum_core::{
    AlphaFair, KShortest, OptionValue, Paths, Problem, Settings, Status, Topology, Utilities, max_min, solve,
};
use netnum_sim::internal::{Ordered, Srpt};
use netnum_sim::{
    CapacityChange, Ideal, KShortestPaths, MaxMinFair, Pairs, Poisson, Policy, Production, Report, Route, Routing,
    RunSettings, Sizes, Split, Spray, Workload, policy, routing, simulate,
};

const K: usize = 3;

fn run(net: &Topology, workload: &Workload, policy: &mut dyn Policy, run: &RunSettings) -> Report {
    let mut routing = KShortestPaths::new(0, K).unwrap().with_pooled(true);
    simulate(net, workload, &mut routing, policy, run, &mut ()).unwrap()
}

/// From 0 to 3: by way of 1 at 1 Mbit/s, of 2 at 2 Mbit/s.
fn diamond() -> Topology {
    Topology::from_edges("s a 1e6\na t 1e6\ns b 2e6\nb t 2e6").unwrap()
}

fn from_s_to_t(sizes: &[f64]) -> Workload {
    let net = diamond();
    let end = |name: &str| net.node_names().iter().position(|other| other == name).unwrap();
    let flows = sizes.len();
    let bytes = sizes.iter().map(|bits| bits / 8.0).collect();
    Workload::new(vec![0.0; flows], vec![end("s"); flows], vec![end("t"); flows], bytes).unwrap()
}

#[test]
fn a_flow_alone_has_all_paths() {
    let workload = from_s_to_t(&[6e6]);
    for mut policy in [Box::new(MaxMinFair::new()) as Box<dyn Policy>, Box::new(Ideal::proportional())] {
        let report = run(&diamond(), &workload, policy.as_mut(), &RunSettings::default());
        assert!((report.completion_times[0] - 2.0).abs() < 2e-5, "{:?}", report.completion_times);
        assert!((report.slowdowns[0] - 1.0).abs() < 1e-5, "{:?}", report.slowdowns);
        assert!(!report.overloads());
        // Bits over links are those of the split.
        let sent: f64 = report.link_bytes.iter().sum();
        assert!((sent - 2.0 * 6e6 / 8.0).abs() < 1.0, "{:?}", report.link_bytes);
        assert_eq!(report.route_changes, 0);
    }
}

#[test]
fn a_failed_path_leaves_the_others() {
    let net = diamond();
    let workload = from_s_to_t(&[6e6]);
    let failed = net.links().iter().position(|link| link.capacity == 2e6).unwrap() as u32;
    let change = |time, capacity| CapacityChange { time, link: failed, capacity };
    // 3 Mbit in the first second, 1 in the second, 2 in two thirds of one.
    let settings = RunSettings::default().with_changes(vec![change(1.0, 0.0), change(2.0, 2e6)]);
    let report = run(&net, &workload, &mut MaxMinFair::new(), &settings);
    assert!((report.completion_times[0] - (2.0 + 2.0 / 3.0)).abs() < 1e-9, "{:?}", report.completion_times);
}

#[test]
fn weights_and_slow_sources_count() {
    let net = diamond();
    let workload = from_s_to_t(&[1e6, 2e6]);
    let weighted = workload.clone().with_weights(vec![1.0, 2.0]).unwrap();
    let report = run(&net, &weighted, &mut MaxMinFair::new(), &RunSettings::default());
    assert!(report.completion_times.iter().all(|time| (time - 1.0).abs() < 1e-9), "{:?}", report.completion_times);
    // One application produces .5 Mbit/s: the other has 2.5.
    let slow = workload.with_production(Production::new(vec![0.5e6, 1e9], f64::INFINITY).unwrap()).unwrap();
    let report = run(&net, &slow, &mut MaxMinFair::new(), &RunSettings::default());
    for (time, expected) in report.completion_times.iter().zip([2.0, 0.8]) {
        // A backlog of a packet does not lift the cap.
        assert!((time - expected).abs() < 0.03, "{:?}", report.completion_times);
    }
}

#[test]
fn the_first_pooled_flow_has_the_slack_of_the_others() {
    // Two flows alike, without a link in common: 3 Mbit/s are produced, of which 2 are sent for 3 ms and 8 could be
    // from then on. The backlog of 3 kbit, less than a packet, does not lift a cap; it is sent at the end.
    let net = Topology::from_edges("s a 1e6\na t 1e6\ns b 1e6\nb t 1e6\nu c 1e6\nc v 1e6\nu d 1e6\nd v 1e6").unwrap();
    let end = |name: &str| net.node_names().iter().position(|other| other == name).unwrap();
    let [sources, destinations] = [["s", "u"], ["t", "v"]].map(|names| names.map(end).to_vec());
    let workload = Workload::new(vec![0.0; 2], sources, destinations, vec![6e6 / 8.0; 2]).unwrap();
    let workload = workload.with_production(Production::new(vec![3e6; 2], f64::INFINITY).unwrap()).unwrap();
    let widened = (0..net.links().len() as u32).map(|link| CapacityChange { time: 0.003, link, capacity: 4e6 });
    let settings = RunSettings::default().with_changes(widened.collect());
    let report = run(&net, &workload, &mut MaxMinFair::new(), &settings);
    let expected = 2.0 + 3e3 / 8e6;
    assert!(report.completion_times.iter().all(|time| (time - expected).abs() < 1e-9), "{:?}", report.completion_times);
}

#[test]
fn the_rate_alone_over_a_pool_is_found_or_an_error() {
    let paths = Arc::new(Paths::from_lists([[0], [1]]));
    let mut route = Route::default();
    route.pool(&paths);
    assert_eq!(route.alone(&[1e6, 2e6]).unwrap(), 3e6);
    let error = route.alone(&[1e6, f64::NAN]).unwrap_err().to_string();
    assert!(error.contains("NaN"), "{error}");
}

#[test]
fn policies_with_one_rate_per_flow_refuse_pools() {
    let net = diamond();
    let mut routing_of_pools = KShortestPaths::new(0, K).unwrap().with_pooled(true);
    let mut srpt = Ordered::by(Srpt::new());
    let error =
        simulate(&net, &from_s_to_t(&[1e6]), &mut routing_of_pools, &mut srpt, &RunSettings::default(), &mut ());
    let error = error.unwrap_err().to_string();
    assert!(error.contains(r#"policy "srpt" sets one rate per flow, and routing "k-shortest" pools paths"#), "{error}");
    assert!(error.contains(r#""max-min", "proportional", "min-fct", "alpha-fair""#), "{error}");
    let options = ["pooled", "spread"].map(|name| (name.to_string(), OptionValue::Bool(true)));
    let error = routing("k-shortest", 0, &options.into_iter().collect()).err().unwrap().to_string();
    assert!(error.contains("pooled") && error.contains("false where spread is true"), "{error}");
    assert!(policy("min-fct", &Default::default()).unwrap().splits());
}

/// Completion times by a solve of all flows of the moment at every event.
fn by_solves(net: &Topology, workload: &Workload, rates_of: impl Fn(&Problem) -> Vec<f64>, alpha: f64) -> Vec<f64> {
    let paths_of: Vec<Paths> = (0..workload.len())
        .map(|flow| {
            let ends = [workload.sources()[flow], workload.destinations()[flow]];
            net.k_shortest_paths(&ends[..1], &ends[1..], &KShortest::new(K)).unwrap().0
        })
        .collect();
    let none = vec![Vec::new(); workload.len()];
    brute_force(workload, &none, |active, _, _| {
        if active.is_empty() {
            return vec![];
        }
        let (mut paths, mut group) = (Paths::from_lists([[0; 0]; 0]), Vec::new());
        for (place, &flow) in (0..).zip(active) {
            paths_of[flow].iter().for_each(|path| paths.push(path));
            group.resize(paths.len(), place);
        }
        let utility: Utilities = AlphaFair::new(alpha, 1.0).unwrap().into();
        let problem = Problem::grouped(net.capacities().to_vec(), paths, group, utility).unwrap();
        problem.flow_rates(&rates_of(&problem)).unwrap()
    })
}

#[test]
fn rates_are_those_of_full_solves_at_every_event() {
    for seed in 0..8 {
        let net = random_network(6 + seed as usize % 4, seed);
        let arrivals = Poisson::new(Sizes::web_search(), 0.8).with_flows(40);
        let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, seed).unwrap();
        let report = run(&net, &workload, &mut MaxMinFair::new(), &RunSettings::default());
        let slow = by_solves(&net, &workload, |problem| max_min(problem).unwrap(), f64::INFINITY);
        let difference = largest_difference(&report.completion_times, &slow, report.time);
        assert!(difference < 1e-6, "max-min, seed {seed}: {difference:e}");
        assert!(!report.overloads(), "seed {seed}");
        for alpha in [1.0, 2.0] {
            let settings = || Settings::default().with_tol(1e-11);
            let mut policy = Ideal::alpha_fair(alpha).unwrap().with_settings(settings());
            let report = run(&net, &workload, &mut policy, &RunSettings::default());
            let rates_of = |problem: &Problem| {
                let solution = solve(problem, &settings().into()).unwrap();
                assert_eq!(solution.status, Status::Optimal);
                solution.rates
            };
            let slow = by_solves(&net, &workload, rates_of, alpha);
            let difference = largest_difference(&report.completion_times, &slow, report.time);
            // Near the optimum a gap of g leaves rates off by √g.
            assert!(difference < 1e-5, "alpha {alpha}, seed {seed}: {difference:e}");
            assert!(report.gap <= 1e-11, "seed {seed}: {}", report.gap);
        }
    }
}

#[test]
fn all_shortest_paths_are_a_pool_too() {
    let mut pools = Spray::new().with_pooled(true);
    let (workload, mut policy) = (from_s_to_t(&[6e6]), MaxMinFair::new());
    let report = simulate(&diamond(), &workload, &mut pools, &mut policy, &RunSettings::default(), &mut ()).unwrap();
    assert!((report.completion_times[0] - 2.0).abs() < 1e-9, "{:?}", report.completion_times);
    let options = [("pooled".to_string(), OptionValue::Bool(true))].into_iter().collect();
    assert!(routing("spray", 0, &options).unwrap().pools());
}

#[test]
fn allocators_move_splits_at_every_step() {
    let net = diamond();
    let failed = net.links().iter().position(|link| link.capacity == 2e6).unwrap() as u32;
    let change = |time, capacity| CapacityChange { time, link: failed, capacity };
    for name in ["flowtune", "gradient"] {
        let options = [("interval".to_string(), OptionValue::Number(1e-3))].into_iter().collect();
        let alone = |sizes: &[f64], changes: Vec<CapacityChange>| {
            let mut policy = policy(name, &options).unwrap();
            run(&net, &from_s_to_t(sizes), policy.as_mut(), &RunSettings::default().with_changes(changes))
        };
        // At 3 Mbit/s, and two of them at 1.5 each.
        let mut reports = vec![(alone(&[6e6], vec![]), 2.0), (alone(&[3e6, 3e6], vec![]), 2.0)];
        if name == "flowtune" {
            // The gradient takes thousands of steps to come back.
            reports.push((alone(&[6e6], vec![change(1.0, 0.0), change(2.0, 2e6)]), 2.0 + 2.0 / 3.0));
        }
        for (report, least) in reports {
            for time in &report.completion_times {
                assert!((1.0..1.05).contains(&(time / least)), "{name}: {time} and {least}");
            }
            assert!(!report.overloads(), "{name}: {}", report.over_allocation);
        }
    }
}

#[test]
fn rcp_splits_no_flows() {
    let method = [("method".to_string(), OptionValue::Text("rcp".into()))].into_iter().collect();
    assert!(!policy("rcp", &Default::default()).unwrap().splits() && !policy("flowtune", &method).unwrap().splits());
}

#[test]
fn given_paths_are_a_pool_too() {
    let net = diamond();
    let workload = from_s_to_t(&[6e6]);
    let ends = [workload.sources()[0], workload.destinations()[0]];
    let (paths, _) = net.k_shortest_paths(&ends[..1], &ends[1..], &KShortest::new(2)).unwrap();
    let split = |shares: Vec<f64>| Split::new(&net, paths.clone(), shares, 0).unwrap().pooled().unwrap();
    let time = |mut routing: Split| {
        assert!(routing.pools() && routing.with_seed(3).is_pooled());
        let report = simulate(&net, &workload, &mut routing, &mut MaxMinFair::new(), &RunSettings::default(), &mut ());
        report.unwrap().completion_times[0]
    };
    assert!((time(split(vec![5.0, 1.0])) - 2.0).abs() < 1e-9);
    // A path without a share is not used.
    let slow = if net.capacities()[paths.links(0)[0] as usize] == 1e6 { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
    assert!((time(split(slow)) - 6.0).abs() < 1e-9);
}
