//! What packets add to the times of flows, beside packets one by one.

use netnum_core::Topology;
use netnum_sim::{
    CapacityChange, Dependencies, Ecmp, KShortestPaths, MaxMinFair, Packets, RunSettings, Spray, Workload, simulate,
};

const PACKET: f64 = 1000.0;

/// A lone flow, packet by packet: each link sends one after the other, whole packets arrive after the link's delay, and
/// an acknowledgement comes back as soon as a packet has arrived, without taking any capacity. The sender may have a
/// window of packets in flight, which grows by one with every acknowledgement.
fn packet_by_packet(packets: usize, window: f64, links: &[(f64, f64)]) -> f64 {
    let back: f64 = links.iter().map(|link| link.1).sum();
    let mut free = vec![0.0; links.len()];
    // When the acknowledgement of every packet arrives, and how many may have been sent by then.
    let (mut acknowledged, mut arrived): (Vec<f64>, f64) = (Vec::new(), 0.0);
    for packet in 0..packets {
        // With k acknowledgements w_0 + 2k packets may have been sent.
        let needed = ((packet as f64 + 1.0 - window) / 2.0).ceil().max(0.0) as usize;
        let mut now: f64 = if needed == 0 { 0.0 } else { acknowledged[needed - 1] };
        for (&(capacity, delay), free) in links.iter().zip(&mut free) {
            *free = f64::max(now, *free) + 8.0 * PACKET / capacity;
            now = *free + delay;
        }
        arrived = now;
        acknowledged.push(now + back);
    }
    arrived
}

/// A chain of links with capacities and delays, both ways, and the time that a lone flow takes on it.
fn lone(links: &[(f64, f64)], packets: usize, how: impl FnOnce(Packets) -> Packets) -> f64 {
    let text: String =
        links.iter().enumerate().map(|(hop, link)| format!("n{hop} n{} {}\n", hop + 1, link.0)).collect();
    let net = Topology::from_edges(&text).unwrap();
    let at = |node: usize| net.node_names().iter().position(|name| *name == format!("n{node}")).unwrap();
    let mut delays = vec![f64::NAN; net.links().len()];
    for (hop, link) in links.iter().enumerate() {
        for (from, to) in [(at(hop), at(hop + 1)), (at(hop + 1), at(hop))] {
            delays[net.link(from, to).unwrap() as usize] = link.1;
        }
    }
    let size = PACKET * packets as f64;
    let workload = Workload::new(vec![0.0], vec![at(0)], vec![at(links.len())], vec![size]).unwrap();
    let run = RunSettings::default().with_packets(Some(how(Packets::new(delays).with_size(PACKET))));
    let report = simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    assert!((report.slowdowns[0] - 1.0).abs() < 1e-12, "alone it has no slowdown");
    report.completion_times[0]
}

const CHAINS: [&[(f64, f64)]; 4] = [
    &[(1e9, 2e-6)],
    &[(1e9, 5e-6), (4e8, 1e-5), (1e9, 0.0)],
    &[(2e9, 1e-6), (1e9, 3e-5), (3e9, 2e-6), (1e9, 1e-6)],
    &[(1e8, 1e-3), (1e10, 1e-4)],
];

#[test]
fn a_lone_flow_takes_as_long_as_its_packets() {
    for links in CHAINS {
        for packets in [1, 2, 3, 10, 1000] {
            let (fluid, truth) = (lone(links, packets, |it| it), packet_by_packet(packets, f64::INFINITY, links));
            assert!((fluid - truth).abs() <= 1e-12 * truth, "{packets} over {links:?}: {fluid} and {truth}");
        }
    }
}

#[test]
fn a_lone_flow_that_starts_slowly_takes_as_long_as_its_packets() {
    for links in CHAINS {
        for packets in [1, 2, 3, 9, 10, 11, 40, 1000, 5000] {
            for window in [1.0, 2.0, 10.0] {
                let fluid = lone(links, packets, |it| it.with_initial_window(window));
                let truth = packet_by_packet(packets, window, links);
                let case = format!("{packets} with a window of {window} over {links:?}");
                assert!((fluid - truth).abs() <= 1e-9 * truth, "{case}: {fluid} and {truth}");
            }
        }
    }
}

#[test]
fn a_handshake_is_a_round_trip_of_small_packets() {
    let links = [(1e9, 5e-6), (4e8, 1e-5)];
    let more = lone(&links, 7, |it| it.with_round_trips(1.0)) - lone(&links, 7, |it| it);
    assert!((more - 3e-5).abs() < 1e-15, "{more}");
}

#[test]
fn a_sprayed_flow_takes_what_its_paths_take_in_the_mean() {
    // Two servers under two spines: 8 bit/s and 1 s on each of four links.
    let net = Topology::leaf_spine(2, 1, 2, 8.0, 8.0).unwrap();
    let workload = Workload::new(vec![0.0], vec![0], vec![1], vec![5.0]).unwrap();
    let packets = Packets::new(vec![1.0; net.links().len()]).with_size(1.0);
    let run = RunSettings::default().with_packets(Some(packets));
    let report = simulate(&net, &workload, &mut Spray::new(), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    assert!((report.completion_times[0] - (5.0 + 4.0 + 3.0)).abs() < 1e-12, "{:?}", report.completion_times);
}

#[test]
fn flows_that_wait_for_others_start_when_these_have_arrived() {
    let net = Topology::single_link(8.0).unwrap();
    let workload = Workload::new(vec![0.0; 2], vec![0; 2], vec![1; 2], vec![3.0, 1.0]).unwrap();
    let after = Dependencies::new(vec![0, 0, 1], vec![0], vec![0.0, 0.5]).unwrap();
    let workload = workload.with_dependencies(after).unwrap();
    let run = RunSettings::default().with_packets(Some(Packets::new(vec![2.0; net.links().len()])));
    let report = simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    assert_eq!(report.starts, [0.0, 5.5]);
    assert_eq!(report.completion_times, [5.0, 3.0]);
}

#[test]
fn a_flow_waits_for_the_last_arrival_and_not_for_the_last_end_in_the_fluid() {
    let net = Topology::from_edges("a b 8\nc b 8").unwrap();
    let at = |name: &str| net.node_names().iter().position(|node| node == name).unwrap();
    let mut delays = vec![0.0; net.links().len()];
    delays[net.link(at("a"), at("b")).unwrap() as usize] = 2.0;
    // The first ends at 1 s and has arrived at 3 s, the second has at 1.5 s.
    let (sources, destinations) = (vec![at("a"), at("c"), at("c")], vec![at("b"); 3]);
    let workload = Workload::new(vec![0.0; 3], sources, destinations, vec![1.0, 1.5, 1.0]).unwrap();
    let after = Dependencies::new(vec![0, 0, 0, 2], vec![0, 1], vec![0.0, 0.0, 0.5]).unwrap();
    let workload = workload.with_dependencies(after).unwrap();
    let run = RunSettings::default().with_packets(Some(Packets::new(delays)));
    let report = simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    assert_eq!(report.completion_times, [3.0, 1.5, 1.0]);
    assert_eq!(report.starts, [0.0, 0.0, 3.5]);
}

#[test]
fn mean_rates_are_over_the_time_in_which_a_flow_sends() {
    let net = Topology::single_link(8.0).unwrap();
    let workload = Workload::new(vec![0.0], vec![0], vec![1], vec![4.0]).unwrap();
    for warmup in [0.0, 1.0] {
        let run = RunSettings::default().with_packets(Some(Packets::new(vec![2.0; net.links().len()])));
        let run = run.with_warmup(warmup);
        let report = simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
        assert_eq!(report.completion_times, [6.0]);
        assert!((report.mean_rates[0] - 8.0).abs() < 1e-12, "warmup {warmup}: {:?}", report.mean_rates);
    }
}

#[test]
fn the_time_alone_is_that_of_the_capacities_at_the_start() {
    let net = Topology::from_edges("a b 8\nb c 8").unwrap();
    let at = |name: &str| net.node_names().iter().position(|node| node == name).unwrap();
    let workload = Workload::new(vec![0.0, 9.0], vec![at("a"); 2], vec![at("c"); 2], vec![4.0; 2]).unwrap();
    let change = CapacityChange { time: 2.0, link: net.link(at("a"), at("b")).unwrap(), capacity: 16.0 };
    let packets = Packets::new(vec![0.0; net.links().len()]).with_size(1.0);
    let run = RunSettings::default().with_packets(Some(packets)).with_changes(vec![change]);
    let report = simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    // Its last packet takes half a second on the first link, and would have taken 1 s before.
    assert_eq!(report.completion_times, [4.5, 4.5]);
    assert!(report.slowdowns.iter().all(|slowdown| (slowdown - 4.5 / 5.0).abs() < 1e-12), "{:?}", report.slowdowns);
}

#[test]
fn a_lone_flow_over_a_pool_has_no_slowdown() {
    let net = Topology::from_edges("a b 16\nb c 16\na c 8").unwrap();
    let at = |name: &str| net.node_names().iter().position(|node| node == name).unwrap();
    let workload = Workload::new(vec![0.0], vec![at("a")], vec![at("c")], vec![6.0]).unwrap();
    let packets = Packets::new(vec![0.5; net.links().len()]).with_size(1.0).with_initial_window(2.0);
    let run = RunSettings::default().with_packets(Some(packets));
    let mut routing = KShortestPaths::new(0, 2).unwrap().with_pooled(true);
    let report = simulate(&net, &workload, &mut routing, &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    // A third of it takes the short way. At 24 bit/s it would take 2 s without its packets.
    assert!(report.completion_times[0] > 2.5, "{:?}", report.completion_times);
    assert!((report.slowdowns[0] - 1.0).abs() < 1e-12, "{:?}", report.slowdowns);
}

#[test]
fn packets_that_cannot_be_are_named() {
    let net = Topology::single_link(8.0).unwrap();
    let workload = Workload::new(vec![0.0], vec![0], vec![1], vec![3.0]).unwrap();
    let links = net.links().len();
    let refused = |packets: Packets| {
        let run = RunSettings::default().with_packets(Some(packets));
        simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap_err().to_string()
    };
    let some = || Packets::new(vec![0.0; links]);
    let text = refused(Packets::new(vec![0.0; links + 1]));
    assert_eq!(text, format!("delays has {} entries, expected {links}, one per link", links + 1));
    assert_eq!(refused(Packets::new(vec![-1.0; links])), "delays[0] is -1, expected a finite number >= 0");
    assert_eq!(refused(some().with_size(0.0)), "size is 0, expected a finite number > 0");
    assert_eq!(refused(some().with_initial_window(0.5)), "initial_window is 0.5, expected a number >= 1");
    assert_eq!(refused(some().with_round_trips(f64::NAN)), "round_trips is NaN, expected a finite number >= 0");
}
