//! Every scheduling policy, with every kind of source, over one path and over several, against a simulator that finds
//! everything anew at every event.

mod common;

use common::slow::{Order, Outcome, Scheduler, simulate as slowly};
use common::{Spray, random_network, routes};
use netnum_core::Topology;
use netnum_sim::{
    Ecmp, Edf, MaxMin, Pairs, Pias, Poisson, Policy, Production, Rax, RaxOptions, Report, Routing, Run, Sizes, Srpt,
    Strict, Workload, simulate,
};

const FLOWS: usize = 40;
/// Bytes after which PIAS lowers a priority.
const THRESHOLDS: [f64; 3] = [5e4, 2e5, 6e5];
const RAX: RaxOptions = RaxOptions { levels: 5, first: 1e-3, base: 2.0, interval: 4e-4 };
const SLACK: f64 = 3.0;

/// Of 20 kB to 2 MB, at a load at which some tens are on their way at once.
fn workload(net: &Topology, source: &str, seed: u64) -> Workload {
    let sizes = Sizes::new("some", vec![(2e4, 0.0), (3e5, 0.6), (2e6, 1.0)]).unwrap();
    let arrivals = Poisson { flows: FLOWS, ..Poisson::new(sizes, 1.2) };
    let workload = Workload::poisson(net, &arrivals, &Pairs::Uniform, seed).unwrap();
    let drawn = |buffer| Production::log_normal(FLOWS, 1e9, 1.0, (1e8, 1e10), buffer, seed).unwrap();
    let production = match source {
        "at hand" => return workload,
        "constant" => Production::new(vec![5e8; FLOWS], f64::INFINITY).unwrap(),
        "drawn" => drawn(f64::INFINITY),
        "small buffers" => drawn(1e5),
        other => panic!("no source {other}"),
    };
    workload.with_production(production).unwrap()
}

const SOURCES: [&str; 4] = ["at hand", "constant", "drawn", "small buffers"];

type Both = (Box<dyn Policy>, Scheduler);

/// Every policy, by us and by others.
fn policies() -> Vec<Both> {
    let rax: Vec<f64> = (0..RAX.levels as i32 - 1).map(|level| RAX.first * RAX.base.powi(level)).collect();
    let pias = THRESHOLDS.iter().map(|bytes| 8.0 * bytes).collect();
    vec![
        (Box::new(MaxMin::new()), Scheduler::Fair),
        (Box::new(Srpt::new()), Scheduler::Ordered(Order::Size)),
        (Box::new(Srpt::by_time()), Scheduler::Ordered(Order::Time)),
        (Box::new(Edf::new(SLACK).unwrap()), Scheduler::Ordered(Order::Deadline(SLACK))),
        (Box::new(Strict::by(Pias::new(&THRESHOLDS).unwrap())), Scheduler::Pias(pias)),
        (Box::new(Strict::by(Rax::new(&RAX).unwrap())), Scheduler::rax(false, rax.clone(), RAX.interval)),
        (Box::new(Strict::by(Rax::plus(&RAX).unwrap())), Scheduler::rax(true, rax, RAX.interval)),
    ]
}

fn routing(spread: bool) -> Box<dyn Routing> {
    if spread { Box::new(Spray::default()) } else { Box::new(Ecmp::new(7)) }
}

fn ours(net: &Topology, workload: &Workload, spread: bool, policy: &mut dyn Policy) -> Report {
    simulate(net, workload, &mut *routing(spread), policy, &Run::default(), &mut ()).unwrap()
}

fn assert_same(report: &Report, slow: &Outcome, case: &str) {
    for (flow, (time, other)) in report.completion_times.iter().zip(&slow.times).enumerate() {
        let clock = 16.0 * f64::EPSILON * slow.end;
        assert!((time - other).abs() <= 1e-9 * other + clock, "{case}: flow {flow} takes {time:e} and {other:e}");
    }
    let all: f64 = report.workload.sizes().iter().sum();
    for (link, (bytes, other)) in report.link_bytes.iter().zip(&slow.link_bytes).enumerate() {
        assert!(
            (bytes - other).abs() <= 1e-9 * other + 1e-12 * all,
            "{case}: link {link} carries {bytes:e} and {other:e}"
        );
    }
}

#[test]
fn every_policy_with_every_source_agrees_with_a_simulator_that_finds_all_anew() {
    for seed in 0..12 {
        let net = random_network(6, seed);
        for source in SOURCES {
            let workload = workload(&net, source, seed);
            for spread in [false, true] {
                let on = routes(&net, &workload, &mut *routing(spread));
                for (mut policy, scheduler) in policies() {
                    let case = format!("{} {source} spread {spread} seed {seed}", policy.name());
                    let slow = slowly(net.capacities(), &workload, &on, scheduler);
                    assert!(slow.peak <= 1.0 + 1e-9, "{case}: the other one overloads a link");
                    let report = ours(&net, &workload, spread, &mut *policy);
                    assert_same(&report, &slow, &case);
                    assert_eq!(report.bytes_sent, workload.sizes(), "{case}");
                    for (peak, capacity) in report.peak_loads.iter().zip(net.capacities()) {
                        assert!(*peak <= capacity * (1.0 + 1e-9), "{case}: {peak:e} over {capacity:e}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_bits_twice() {
    let net = random_network(6, 3);
    for source in SOURCES {
        for ((mut one, _), (mut other, _)) in policies().into_iter().zip(policies()) {
            let workload = || workload(&net, source, 3);
            let first = ours(&net, &workload(), true, &mut *one);
            // The second time by a policy that has run before.
            ours(&net, &workload(), false, &mut *other);
            let second = ours(&net, &workload(), true, &mut *other);
            assert_eq!(first.completion_times, second.completion_times, "{} {source}", one.name());
            assert_eq!((first.events, first.rate_changes), (second.events, second.rate_changes));
        }
    }
}
