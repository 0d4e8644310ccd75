//! Every routing against a brute-force simulator, on random small networks, with links that fail and come back.

mod common;

use common::moving::{Outcome, Rule, brute_force_moving};
use common::{largest_difference, random_network};
use netnum_core::{AlphaFair, Paths, Problem, Topology, max_min};
use netnum_sim::{
    Adaptive, Change, Ecmp, EcmpOptions, FlowBender, FlowBenderOptions, Marking, MaxMin, Pairs, Poisson, Policy,
    Report, Routing, Run, Sizes, Spray, Srpt, Workload, simulate,
};

fn poisson(net: &Topology, flows: usize, load: f64, seed: u64) -> Workload {
    let arrivals = Poisson { flows, ..Poisson::new(Sizes::web_search(), load) };
    Workload::poisson(net, &arrivals, &Pairs::Uniform, seed).expect("well formed")
}

fn network(seed: u64) -> Topology {
    match seed % 4 {
        0 => Topology::leaf_spine(3, 3, 3, 1e9, 1e9),
        1 => Topology::fat_tree(4, 1e9),
        2 => Topology::leaf_spine(2, 4, 5, 1e9, 0.5e9),
        _ => Ok(random_network(5 + seed as usize % 5, seed)),
    }
    .expect("well formed")
}

/// Links between switches that fail, and come back later; where there are none, any.
fn failures(net: &Topology, workload: &Workload) -> Vec<Change> {
    let inner: Vec<usize> = (0..net.links().len())
        .filter(|&link| [net.links()[link].from, net.links()[link].to].iter().all(|&node| node as usize >= net.ends()))
        .collect();
    let inner = if inner.is_empty() { (0..net.links().len()).collect() } else { inner };
    let end = workload.arrivals().last().expect("there are flows");
    let change = |part: f64, place: usize, of: f64| {
        let link = inner[place % inner.len()];
        Change { time: part * end, link, capacity: of * net.capacities()[link] }
    };
    vec![
        change(0.2, 0, 0.0),
        change(0.3, 7, 0.4),
        change(0.4, 3, 0.0),
        change(0.5, 0, 1.0),
        change(0.6, 3, 1.0),
        change(0.8, 7, 1.0),
    ]
}

fn flow_bender(seed: u64, options: FlowBenderOptions) -> Box<dyn Routing> {
    Box::new(FlowBender::new(seed, options).expect("in range"))
}

/// The routings whose decisions do not look at rates, each made anew by every call.
fn routings(seed: u64) -> Vec<(&'static str, Box<dyn Routing>)> {
    let options = FlowBenderOptions { rtt: 1e-3, ..FlowBenderOptions::default() };
    let dctcp = Marking::Dctcp { rtt: 100e-6, threshold: 90e3 };
    vec![
        ("ecmp", Box::new(Ecmp::new(seed))),
        ("skewed ecmp", Box::new(Ecmp::with(seed, EcmpOptions { skew: 0.5 }).expect("in range"))),
        ("spray", Box::new(Spray::new())),
        ("flow-bender", flow_bender(seed, options)),
        ("dctcp", flow_bender(seed, FlowBenderOptions { marking: dctcp, t: 0.25, skew: 0.5, ..options })),
        ("utilization", flow_bender(seed, FlowBenderOptions { marking: Marking::Utilization(0.9), n: 3, ..options })),
        ("locked", flow_bender(seed, FlowBenderOptions { lock_after: Some(2), lock_for: 4, n: 2, ..options })),
        ("gradual", flow_bender(seed, FlowBenderOptions { step: 0.3, ..options })),
    ]
}

fn run(net: &Topology, workload: &Workload, routing: &mut dyn Routing, rule: Rule, changes: &[Change]) -> Report {
    let mut policy: Box<dyn Policy> = match rule {
        Rule::MaxMin => Box::new(MaxMin::new()),
        Rule::Srpt => Box::new(Srpt::new()),
    };
    let run = Run { changes: changes.to_vec(), ..Run::default() };
    simulate(net, workload, routing, policy.as_mut(), &run, &mut ()).expect("all flows have routes")
}

fn assert_agree(report: &Report, expected: &Outcome, what: &str) {
    let difference = largest_difference(&report.completion_times, &expected.times, report.time);
    assert!(difference <= 1e-9, "{what}: completion times differ by {difference:e}");
    assert_eq!(report.route_changes, expected.moves as u64, "{what}: moves");
    assert_eq!(report.bytes_sent, report.workload.sizes(), "{what}");
    let sums = [(&report.bytes_sent, &expected.sent), (&report.link_bytes, &expected.link_bytes)];
    for (found, expected) in sums {
        let most = expected.iter().copied().fold(0.0, f64::max);
        for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() <= 1e-9 * most, "{what}: {found} and {expected} bytes at {place}");
        }
    }
}

#[test]
fn every_routing_agrees_with_brute_force() {
    let mut moves = 0;
    for seed in 0..8 {
        let net = network(seed);
        let workload = poisson(&net, 60, [0.5, 0.9][seed as usize % 2], seed);
        for rule in [Rule::MaxMin, Rule::Srpt] {
            for changes in [vec![], failures(&net, &workload)] {
                for ((what, mut ours), (_, mut theirs)) in routings(seed).into_iter().zip(routings(seed)) {
                    let expected = brute_force_moving(&net, &workload, theirs.as_mut(), rule, &changes);
                    let report = run(&net, &workload, ours.as_mut(), rule, &changes);
                    let failing = if changes.is_empty() { "" } else { ", failing links" };
                    assert_agree(&report, &expected, &format!("{what}, {rule:?}, seed {seed}{failing}"));
                    let (peaks, most) = (report.peak_loads.iter(), net.capacities());
                    assert!(peaks.zip(most).all(|(peak, most)| *peak <= most * (1.0 + 1e-9)), "{what}: overloaded");
                    moves += expected.moves;
                }
            }
        }
    }
    assert!(moves > 1000, "{moves} moves are too few to say anything");
}

#[test]
fn an_adaptive_split_has_the_max_min_rates_of_all_splits() {
    for seed in 0..8 {
        let net = network(seed);
        let workload = poisson(&net, 40, 0.8, seed);
        let report = run(&net, &workload, &mut Adaptive::new(), Rule::MaxMin, &[]);
        // Rates over all paths at once, and nothing said of how flows are split.
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
        let adaptive = run(&net, &workload, &mut Adaptive::new(), Rule::MaxMin, &[]);
        let spray = run(&net, &workload, &mut Spray::new(), Rule::MaxMin, &[]);
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
    let taken = net.paths(0, 1).unwrap().links(2)[1] as usize;
    let hot = Change { time: 0.0, link: taken, capacity: 4e9 };
    let bytes = |routing: &mut dyn Routing| run(&net, &workload, routing, Rule::MaxMin, &[hot]).link_bytes[taken];
    assert!(bytes(&mut Adaptive::new()) < 1.0, "{}", bytes(&mut Adaptive::new()));
    assert!((bytes(&mut Spray::new()) - 0.25e6).abs() < 1e-3);
    // It is used again when the others are fuller: of 30 Gbit/s, with 34 free, each keeps one.
    let net = Topology::leaf_spine(2, 3, 4, 10e9, 10e9).unwrap();
    let workload = Workload::new(vec![0.0; 3], vec![0, 1, 2], vec![3, 4, 5], vec![1e6; 3]).unwrap();
    let taken = net.paths(0, 3).unwrap().links(2)[1] as usize;
    let hot = Change { time: 0.0, link: taken, capacity: 4e9 };
    let report = run(&net, &workload, &mut Adaptive::new(), Rule::MaxMin, &[hot]);
    assert!((report.peak_loads[taken] - 3e9).abs() < 1e5, "{}", report.peak_loads[taken]);
}

#[test]
fn a_seed_fixes_every_bit() {
    let net = Topology::fat_tree(4, 1e9).unwrap();
    let workload = poisson(&net, 400, 0.7, 11);
    let adaptive = || ("adaptive", Box::new(Adaptive::new()) as Box<dyn Routing>);
    let all = || routings(5).into_iter().chain([adaptive()]);
    for ((what, mut one), (_, mut other)) in all().zip(all()) {
        let bits = |routing: &mut dyn Routing| {
            let report = run(&net, &workload, routing, Rule::MaxMin, &failures(&net, &workload));
            report.completion_times.iter().map(|time| time.to_bits()).collect::<Vec<_>>()
        };
        let first = bits(one.as_mut());
        assert_eq!(first, bits(other.as_mut()), "{what}");
        // A routing that has run begins anew.
        assert_eq!(first, bits(one.as_mut()), "{what}, again");
    }
    let times = |seed| run(&net, &workload, routings(seed)[3].1.as_mut(), Rule::MaxMin, &[]).completion_times;
    assert_ne!(times(1), times(2));
}
