//! Flows that depend on how earlier ones went.

use crate::common::{random_network, small_network};
use netnum_core::{Link, Topology};
use netnum_sim::{
    ClosedLoop, Dependencies, Ecmp, EndedFlow, MaxMinFair, NextFlows, POLICIES, Packets, Pairs, Poisson, Production,
    ROUTINGS, Result, RunSettings, RunStatus, Sizes, Workload, policy, routing, simulate, simulate_closed_loop,
};

/// A function as a closed loop.
struct By<F>(F);

impl<F: FnMut(f64, &[EndedFlow]) -> NextFlows> ClosedLoop for By<F> {
    fn next_flows(&mut self, now: f64, ended: &[EndedFlow]) -> Result<NextFlows> {
        Ok((self.0)(now, ended))
    }
}

fn flows(arrivals: Vec<f64>, sources: Vec<usize>, destinations: Vec<usize>, sizes: Vec<f64>) -> NextFlows {
    NextFlows { flows: Workload::new(arrivals, sources, destinations, sizes).unwrap(), ..NextFlows::default() }
}

fn run(
    net: &Topology,
    workload: &Workload,
    (policy_name, routing_name): (&str, &str),
    closed_loop: &mut dyn ClosedLoop,
    settings: &RunSettings,
) -> Result<netnum_sim::Report> {
    let mut policy = policy(policy_name, &Default::default())?;
    let mut routing = routing(routing_name, 1, &Default::default())?;
    simulate_closed_loop(net, workload, closed_loop, routing.as_mut(), policy.as_mut(), settings, &mut ())
}

const FAIR: (&str, &str) = ("max-min", "ecmp");

#[test]
fn clients_think_and_ask_again() {
    // A request of 1 Mbit over a link of 1 Mbit/s, half a second of thought, three times.
    let net = Topology::single_link(1e6).unwrap();
    let mut calls = Vec::new();
    let mut client = By(|now: f64, ended: &[EndedFlow]| {
        calls.push((now, ended.len()));
        let asked = calls.len();
        if asked > 3 {
            return NextFlows::default();
        }
        let think = if ended.is_empty() { 0.0 } else { 0.5 };
        flows(vec![now + think], vec![0], vec![1], vec![1e6 / 8.0])
    });
    let report = run(&net, &Workload::default(), FAIR, &mut client, &RunSettings::default()).unwrap();
    assert_eq!(report.status, RunStatus::Finished);
    let close = |found: &[f64], expected: &[f64]| {
        assert_eq!(found.len(), expected.len());
        found.iter().zip(expected).for_each(|(one, other)| assert!((one - other).abs() < 1e-12, "{found:?}"));
    };
    close(report.workload.arrivals(), &[0.0, 1.5, 3.0]);
    close(&report.starts, &[0.0, 1.5, 3.0]);
    close(&report.completion_times, &[1.0, 1.0, 1.0]);
    assert_eq!(calls.iter().map(|call| call.1).collect::<Vec<_>>(), [0, 1, 1, 1]);
}

#[test]
fn ends_of_one_instant_come_together_and_timers_come_alone() {
    let net = Topology::single_link(1e6).unwrap();
    let mut calls = Vec::new();
    let mut timer = By(|now: f64, ended: &[EndedFlow]| {
        calls.push((now, ended.iter().map(|ended| ended.flow).collect::<Vec<_>>()));
        let mut next = match calls.len() {
            1 => flows(vec![0.0; 2], vec![0; 2], vec![1; 2], vec![1e6 / 8.0; 2]),
            _ => NextFlows::default(),
        };
        // It replaces the one before: an end at 2 asks for 7.
        next.next_call = if now < 5.0 { now + 5.0 } else { f64::INFINITY };
        next
    });
    let report = run(&net, &Workload::default(), FAIR, &mut timer, &RunSettings::default()).unwrap();
    assert_eq!(calls, [(0.0, vec![]), (2.0, vec![0, 1]), (7.0, vec![])]);
    assert_eq!((report.status, report.time), (RunStatus::Finished, 7.0));
}

/// The second of some flows waits for the first, and both are in a coflow; the others are as they are.
fn in_order(flows: Workload) -> Workload {
    let count = flows.len();
    if count < 2 {
        return flows;
    }
    let indptr = (0..=count).map(|flow| usize::from(flow > 1)).collect();
    let dependencies = Dependencies::new(indptr, vec![0], vec![1e-5; count]).unwrap();
    let coflows = (0..count).map(|flow| (flow < 2).then_some(0)).collect();
    flows.with_dependencies(dependencies).unwrap().with_coflows(coflows).unwrap()
}

/// Clients that ask another one when they have their answer, at random; beside flows that arrive at given times. Some
/// flows of both wait for others, and are in coflows.
fn clients(net: &Topology, seed: u64) -> (Workload, impl FnMut(f64, &[EndedFlow]) -> NextFlows + use<>) {
    let ends = net.ends();
    let arrivals = Poisson::new(Sizes::web_search(), 0.2).with_flows(20);
    let beside = in_order(Workload::poisson(net, &arrivals, &Pairs::Uniform, seed).unwrap());
    let mut left = 40;
    let first = beside.arrivals()[4];
    let answer = move |now: f64, ended: &[EndedFlow]| {
        if ended.is_empty() && now == 0.0 {
            return NextFlows { next_call: first, ..NextFlows::default() };
        }
        let sources: Vec<usize> = if ended.is_empty() {
            (0..ends).collect()
        } else {
            ended.iter().flat_map(|it| [it.destination; 2]).collect()
        };
        let count = sources.len().min(left);
        left -= count;
        let sources = sources[..count].to_vec();
        let destinations = sources.iter().map(|source| (source + 1 + left % (ends - 1)) % ends).collect();
        let sizes = (0..count).map(|place| 2e4 * (1.0 + ((left + place) % 7) as f64)).collect();
        let next = flows(vec![now; count], sources, destinations, sizes);
        NextFlows { flows: in_order(next.flows), ..next }
    };
    (beside, answer)
}

#[test]
fn the_workload_of_the_report_replays_the_run() {
    for seed in 0..4 {
        let net = if seed == 3 { random_network(6, 3) } else { small_network(seed) };
        // What packets add on links of 10 µs, under every other seed.
        let packets = (seed % 2 == 1).then(|| Packets::new(vec![1e-5; net.links().len()]));
        let settings = RunSettings::default().with_packets(packets);
        for policy_name in POLICIES.iter().map(|entry| entry.name) {
            for routing_name in ROUTINGS.iter().map(|entry| entry.name) {
                // The pairs of entries that differ: all routings with one policy, all policies with one routing.
                if policy_name != "max-min" && routing_name != "ecmp" {
                    continue;
                }
                let case = format!("{policy_name} over {routing_name}, seed {seed}");
                let (beside, answer) = clients(&net, seed);
                let names = (policy_name, routing_name);
                let report = run(&net, &beside, names, &mut By(answer), &settings).expect(&case);
                assert_eq!((report.status, report.ended()), (RunStatus::Finished, 60), "{case}");
                assert!(report.workload.coflows() > 1 && report.workload.dependencies().is_none(), "{case}");
                let mut policy = policy(policy_name, &Default::default()).unwrap();
                let mut routing = routing(routing_name, 1, &Default::default()).unwrap();
                let again = simulate(&net, &report.workload, routing.as_mut(), policy.as_mut(), &settings, &mut ());
                let again = again.expect(&case);
                assert_eq!(report.completion_times, again.completion_times, "{case}");
                assert_eq!(report.coflow_times(), again.coflow_times(), "{case}");
                assert_eq!(report.link_bytes, again.link_bytes, "{case}");
            }
        }
    }
}

#[test]
fn a_replay_has_the_flows_of_the_run_and_not_its_end() {
    // A flow of 1 s over a link of 1 Mbit/s, and a call at 3 s that gives none.
    let net = Topology::single_link(1e6).unwrap();
    let last_call = |now: f64, _: &[EndedFlow]| match now < 1.0 {
        true => flows(vec![now], vec![0], vec![1], vec![1e6 / 8.0]),
        false => NextFlows { next_call: if now < 3.0 { 3.0 } else { f64::INFINITY }, ..NextFlows::default() },
    };
    let outcome = |settings: &RunSettings| {
        let report = run(&net, &Workload::default(), FAIR, &mut By(last_call), settings).unwrap();
        let (mut policy, mut routing) = (MaxMinFair::new(), Ecmp::new(1));
        let again = simulate(&net, &report.workload, &mut routing, &mut policy, settings, &mut ()).unwrap();
        assert_eq!(report.completion_times, again.completion_times);
        assert_eq!(report.link_bytes, again.link_bytes);
        [(report.status, report.time), (again.status, again.time)]
    };
    assert_eq!(outcome(&RunSettings::default()), [(RunStatus::Finished, 3.0), (RunStatus::Finished, 1.0)]);
    let until = RunSettings::default().with_until(2.0);
    assert_eq!(outcome(&until), [(RunStatus::TimeUp, 2.0), (RunStatus::Finished, 1.0)]);
}

#[test]
fn paths_over_shared_links_are_those_of_one_direction() {
    // Two paths of links that are shared, from 0 to 3: by way of 1 and of 2. Back they go later.
    let link = |from, to| Link { from, to, capacity: 1e6 };
    let names = (0..4).map(|node| node.to_string()).collect();
    let links = vec![link(0, 1), link(1, 3), link(0, 2), link(2, 3)];
    let net = Topology::new("diamond", names, 4, vec![0; 4], links).unwrap().with_shared(&[0, 1, 2, 3]).unwrap();
    let there_and_back = |now: f64, ended: &[EndedFlow]| {
        let sizes = (0..8).map(|flow| 1e3 * f64::from(1 + flow)).collect();
        match ended.first() {
            None if now == 0.0 => flows(vec![now; 8], vec![0; 8], vec![3; 8], sizes),
            Some(ended) if ended.flow < 8 => flows(vec![now], vec![3], vec![0], vec![1e3]),
            _ => NextFlows::default(),
        }
    };
    let names = ("max-min", "k-shortest");
    let report = run(&net, &Workload::default(), names, &mut By(there_and_back), &RunSettings::default()).unwrap();
    let mut routing = routing("k-shortest", 1, &Default::default()).unwrap();
    let policy = &mut MaxMinFair::new();
    let again = simulate(&net, &report.workload, routing.as_mut(), policy, &RunSettings::default(), &mut ()).unwrap();
    assert_eq!(report.completion_times, again.completion_times);
    assert_eq!(report.link_bytes, again.link_bytes);
}

#[test]
fn routings_search_paths_of_new_pairs_only() {
    let net = Topology::from_edges("a b 1e6\nc d 1e6").unwrap();
    let end = |name: &str| net.node_names().iter().position(|other| other == name).unwrap();
    let first = Workload::new(vec![0.0], vec![end("a")], vec![end("b")], vec![1.0]).unwrap();
    let both = Workload::new(vec![0.0; 2], vec![end("a"), end("c")], vec![end("b"), end("d")], vec![1.0; 2]).unwrap();
    // On a network without a path for the first pair, a search of it again would fail.
    let of_ab = |link: &Link| [link.from, link.to].contains(&(end("a") as u32));
    let capacities = net.links().iter().map(|link| if of_ab(link) { 0.0 } else { 1e6 }).collect();
    let without = net.clone().with_capacities(capacities).unwrap();
    for name in ROUTINGS.iter().map(|entry| entry.name) {
        let mut routing = routing(name, 1, &Default::default()).unwrap();
        routing.begin_run(&net, &first).expect(name);
        routing.add_flows(&without, &both, 1).expect(name);
    }
}

#[test]
fn weights_go_with_flows() {
    let net = Topology::single_link(1e6).unwrap();
    let weighted = Workload::default().with_weights(vec![]).unwrap();
    let mut once = By(|now: f64, _: &[EndedFlow]| {
        if now > 0.0 {
            return NextFlows::default();
        }
        let two = Workload::new(vec![0.0; 2], vec![0; 2], vec![1; 2], vec![1e6 / 8.0, 3e6 / 8.0]).unwrap();
        NextFlows { flows: two.with_weights(vec![1.0, 3.0]).unwrap(), ..NextFlows::default() }
    });
    let report = run(&net, &weighted, FAIR, &mut once, &RunSettings::default()).unwrap();
    assert!(report.completion_times.iter().all(|time| (time - 4.0).abs() < 1e-9), "{:?}", report.completion_times);
    assert_eq!(report.workload.weights(), Some(&[1.0, 3.0][..]));
}

#[test]
fn answers_that_cannot_be_used_are_named() {
    let net = Topology::single_link(1e6).unwrap();
    let one = || Workload::new(vec![0.0], vec![0], vec![1], vec![1e6]).unwrap();
    let refused = |next: NextFlows, beside: &Workload, expected: &str| {
        let mut answer = Some(next);
        let mut closed_loop = By(|now: f64, _: &[EndedFlow]| {
            let first = || NextFlows { next_call: 1.0, ..NextFlows::default() };
            if now == 0.0 { first() } else { answer.take().unwrap_or_default() }
        });
        let error = run(&net, beside, FAIR, &mut closed_loop, &RunSettings::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let none = Workload::default();
    let next = |flows: Workload, next_call: f64| NextFlows { flows, next_call };
    let late = |flows: Workload| next(flows.shifted(2.0).unwrap(), f64::INFINITY);
    refused(next(one(), f64::INFINITY), &none, "the closed loop gave a workload whose flow 0 arrives at 0, before 1");
    refused(next(none.clone(), 1.0), &none, "set its next call to 1, which is not after 1");
    refused(next(none.clone(), f64::NAN), &none, "set its next call to NaN");
    let two = |ends: Vec<usize>, sizes: Vec<f64>| Workload::new(vec![2.0; 2], vec![0; 2], ends, sizes).unwrap();
    let elsewhere = two(vec![1, 7], vec![1e6; 2]);
    refused(next(elsewhere, 3.0), &none, "gave a workload whose flow 1 has the end 7, expected ends from 0 to 1");
    let weighted = late(one().with_weights(vec![2.0]).unwrap());
    refused(weighted, &none, "flow 0 has a weight, and flows of the start have none");
    let endless = two(vec![1; 2], vec![1e6, f64::INFINITY]);
    refused(next(endless, 3.0), &none, "flow 1 never ends, in a run without until");
    let produced = one().with_production(Production::new(vec![1e6], f64::INFINITY).unwrap()).unwrap();
    refused(late(produced.clone()), &none, "gave a workload whose flow 0 has a rate of production");
    refused(NextFlows::default(), &produced, "is beside a workload whose flow 0 has a rate of production");
}

#[test]
fn a_batch_may_wait_for_its_flows_and_be_a_coflow() {
    // Three flows of 1 Mbit over 1 Mbit/s, each half a second after the one before, and then the same once more.
    let net = Topology::single_link(1e6).unwrap();
    let chain = |arrival: f64| {
        let flows = Workload::new(vec![arrival; 3], vec![0; 3], vec![1; 3], vec![1e6 / 8.0; 3]).unwrap();
        let after = Dependencies::new(vec![0, 0, 1, 2], vec![0, 1], vec![0.5; 3]).unwrap();
        flows.with_dependencies(after).unwrap().with_coflows(vec![Some(0); 3]).unwrap()
    };
    let outcome = |until: f64| {
        let mut told = Vec::new();
        let mut again = By(|now: f64, ended: &[EndedFlow]| {
            told.extend(ended.iter().map(|ended| (ended.flow, now)));
            // The first one is beside the loop, the second one of it.
            let next = if told.len() == 3 { chain(now) } else { Workload::default() };
            NextFlows { flows: next, ..NextFlows::default() }
        });
        let settings = RunSettings::default().with_until(until);
        let report = run(&net, &chain(0.0), ("coflow", "ecmp"), &mut again, &settings).unwrap();
        (report, told)
    };
    let (report, told) = outcome(f64::INFINITY);
    assert_eq!(told, [(0, 1.0), (1, 2.5), (2, 4.0), (3, 5.0), (4, 6.5), (5, 8.0)]);
    assert_eq!(report.starts, [0.0, 1.5, 3.0, 4.0, 5.5, 7.0]);
    assert_eq!(report.workload.arrivals(), report.starts);
    assert_eq!(report.coflow_times(), [4.0, 4.0]);
    // A coflow that is cut short has not ended, though all of its flows that have started have.
    let (report, _) = outcome(5.25);
    assert_eq!((report.status, report.ended(), report.workload.len()), (RunStatus::TimeUp, 4, 6));
    assert!(report.coflow_times()[0] == 4.0 && report.coflow_times()[1].is_nan(), "{:?}", report.coflow_times());
    assert!(report.starts[4..].iter().all(|start| start.is_nan()), "{:?}", report.starts);
    let settings = RunSettings::default().with_until(5.25);
    let (mut policy, mut routing) = (policy("coflow", &Default::default()).unwrap(), Ecmp::new(1));
    let again = simulate(&net, &report.workload, &mut routing, policy.as_mut(), &settings, &mut ()).unwrap();
    assert_eq!(format!("{:?}", again.completion_times), format!("{:?}", report.completion_times));
    assert_eq!(again.link_bytes, report.link_bytes);
}

#[test]
fn with_packets_it_is_told_when_the_last_one_has_arrived() {
    // A second over the link and two on the way, and half a second of thought.
    let net = Topology::single_link(1e6).unwrap();
    let mut told = Vec::new();
    let mut client = By(|now: f64, ended: &[EndedFlow]| {
        told.extend(ended.iter().map(|ended| (now, ended.completion_time)));
        if told.len() == 2 {
            return NextFlows::default();
        }
        flows(vec![if now > 0.0 { now + 0.5 } else { 0.0 }], vec![0], vec![1], vec![1e6 / 8.0])
    });
    let settings = RunSettings::default().with_packets(Some(Packets::new(vec![2.0; net.links().len()])));
    let report = run(&net, &Workload::default(), FAIR, &mut client, &settings).unwrap();
    assert_eq!(told, [(3.0, 3.0), (6.5, 3.0)]);
    assert_eq!((report.status, &report.starts[..]), (RunStatus::Finished, &[0.0, 3.5][..]));
}

#[test]
fn a_loop_without_an_end_needs_one() {
    // A hundred thousand flows at every call, which arrive much later than the next one.
    let net = Topology::single_link(1e6).unwrap();
    let outcome = |settings: &RunSettings| {
        let mut on = By(|now: f64, _: &[EndedFlow]| {
            let many = 100_000;
            let far = flows(vec![1e9; many], vec![0; many], vec![1; many], vec![1.0; many]);
            NextFlows { next_call: if now < 11.0 { now + 1.0 } else { f64::INFINITY }, ..far }
        });
        run(&net, &Workload::default(), FAIR, &mut on, settings)
    };
    let error = outcome(&RunSettings::default()).unwrap_err().to_string();
    let says = "the closed loop has more than a million calls and flows by 9 s of the simulation: give the run until \
                (simulated seconds) or a time limit";
    assert_eq!(error, says);
    let report = outcome(&RunSettings::default().with_until(20.0)).unwrap();
    assert_eq!((report.status, report.workload.len()), (RunStatus::TimeUp, 1_200_000));
}

#[test]
fn a_loop_that_never_lets_the_clock_advance_is_refused() {
    // Flows of so few bits that they end at the time at which they arrive.
    let net = Topology::single_link(1e6).unwrap();
    let mut at_once = By(|now: f64, _: &[EndedFlow]| {
        let mut next = flows(vec![now], vec![0], vec![1], vec![1e-300]);
        if now == 0.0 {
            next = flows(vec![1.0], vec![0], vec![1], vec![1e-300]);
        }
        next
    });
    let error = run(&net, &Workload::default(), FAIR, &mut at_once, &RunSettings::default()).unwrap_err().to_string();
    // Flows have arrived and ended.
    let says =
        "the clock stands still at 1 s: it has hardly advanced in 10017 events; the last was a call of the closed loop";
    assert_eq!(error, says);
}

#[test]
fn a_loop_that_asks_on_ends_with_the_run() {
    let net = Topology::single_link(1e6).unwrap();
    let mut on = By(|now: f64, ended: &[EndedFlow]| {
        if now == 0.0 || !ended.is_empty() {
            flows(vec![now], vec![0], vec![1], vec![1e6 / 8.0])
        } else {
            NextFlows::default()
        }
    });
    let settings = RunSettings::default().with_until(3.5);
    let report = run(&net, &Workload::default(), FAIR, &mut on, &settings).unwrap();
    assert_eq!((report.status, report.ended(), report.workload.len()), (RunStatus::TimeUp, 3, 4));
    assert!((report.bytes_sent[3] - 0.5e6 / 8.0).abs() < 1e-6);
}
