//! Flows that take another route while they run, and links that change.

use netnum_core::{Paths, Topology};
use netnum_sim::{
    CapacityChange, Ecmp, FlowBender, FlowBenderOptions, Marking, Marks, MaxMinFair, NetworkState, Report, Result,
    Route, Routing, RunSettings, Workload, simulate,
};

/// Over the last of a pair's paths that works, and on to the one before when most of what was sent came back marked.
struct Down {
    net: Option<Topology>,
    workload: Workload,
    at: Vec<usize>,
    reviews: Vec<(usize, f64)>,
}

impl Down {
    fn new(workload: &Workload) -> Self {
        Self { net: None, workload: workload.clone(), at: vec![], reviews: vec![] }
    }

    fn paths(&self, flow: usize) -> Paths {
        let net = self.net.as_ref().expect("started");
        net.paths(self.workload.sources()[flow], self.workload.destinations()[flow]).unwrap()
    }
}

impl Routing for Down {
    fn name(&self) -> &str {
        "down"
    }
    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.net = Some(net.clone());
        self.at = (0..workload.len()).map(|flow| self.paths(flow).len() - 1).collect();
        Ok(())
    }
    fn route(&mut self, flow: usize, _now: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        route.take(self.paths(flow).links(self.at[flow]));
        Ok(())
    }
    fn period(&self) -> f64 {
        0.1
    }
    fn marking(&self) -> Marking {
        Marking::Saturated
    }
    fn review(&mut self, flow: usize, marks: Marks, now: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        self.reviews.push((flow, marks.fraction()));
        let moves = marks.fraction() > 0.5 && self.at[flow] > 0;
        if moves {
            self.at[flow] -= 1;
            self.route(flow, now, route)?;
        }
        Ok(moves)
    }
    fn reroute(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        let fails = !now.works(route.links()) && self.at[flow] > 0;
        if fails {
            self.at[flow] -= 1;
            self.route(flow, now, route)?;
        }
        Ok(fails)
    }
}

/// Two racks of two servers, two spines; all links carry 8 Mbit/s, a megabyte per second.
fn net() -> Topology {
    Topology::leaf_spine(2, 2, 2, 8e6, 8e6).unwrap()
}

fn run(workload: &Workload, changes: Vec<CapacityChange>) -> (Report, Down) {
    let mut routing = Down::new(workload);
    let run = RunSettings::default().with_changes(changes);
    let report = simulate(&net(), workload, &mut routing, &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    assert!(report.peak_loads.iter().all(|&load| load <= 8e6 * (1.0 + 1e-12)));
    let carried: f64 = report.link_bytes.iter().sum();
    let sent: f64 = report.bytes_sent.iter().sum();
    assert!((carried - 4.0 * sent).abs() < 1e-6, "four links each: {carried} and {sent}");
    (report, routing)
}

#[test]
fn two_flows_that_meet_part_after_a_period() {
    // Both begin over the second spine at half a megabyte per second and are reviewed after 0.1 s, both at once: both
    // move, and go on as before, over the first.
    let workload = Workload::new(vec![0.0; 2], vec![0, 1], vec![2, 3], vec![1e6; 2]).unwrap();
    let (report, routing) = run(&workload, vec![]);
    assert_eq!(routing.reviews[..2], [(0, 1.0), (1, 1.0)]);
    assert_eq!(report.route_changes, 2);
    assert!(report.completion_times.iter().all(|time| (time - 2.0).abs() < 1e-9), "{:?}", report.completion_times);
    // One comes 0.05 s late: by 0.1 s it has met the other for half of what that sent... a third of its bytes, and for
    // all of its own. The late one moves at 0.15 s, and from there both have a path for themselves.
    let workload = Workload::new(vec![0.0, 0.05], vec![0, 1], vec![2, 3], vec![1e6; 2]).unwrap();
    let (report, routing) = run(&workload, vec![]);
    assert!((routing.reviews[0].1 - 1.0 / 3.0).abs() < 1e-9 && routing.reviews[1] == (1, 1.0), "{:?}", routing.reviews);
    assert!(routing.reviews[2..].iter().all(|review| review.1 <= 0.5 + 1e-9), "{:?}", routing.reviews);
    assert_eq!(report.route_changes, 1);
    // Each has lost 0.05 s at half the speed while they shared.
    for time in &report.completion_times {
        assert!((time - 1.05).abs() < 1e-9, "{:?}", report.completion_times);
    }
}

#[test]
fn a_flow_alone_hears_nothing_though_every_link_is_full() {
    let workload = Workload::new(vec![0.0], vec![0], vec![2], vec![1e6]).unwrap();
    let (report, routing) = run(&workload, vec![]);
    assert!(
        routing.reviews.len() >= 9 && routing.reviews.iter().all(|review| review.1 == 0.0),
        "{:?}",
        routing.reviews
    );
    assert!((report.completion_times[0] - 1.0).abs() < 1e-12);
}

#[test]
fn a_link_fails_and_its_flow_takes_another() {
    let workload = Workload::new(vec![0.0], vec![0], vec![2], vec![1e6]).unwrap();
    let net = net();
    let last = net.paths(0, 2).unwrap().links(1)[1];
    let fails = CapacityChange { time: 0.3, link: last, capacity: 0.0 };
    let (report, _) = run(&workload, vec![fails]);
    assert_eq!(report.route_changes, 1);
    assert!((report.completion_times[0] - 1.0).abs() < 1e-9);
    let (bytes, utilization) = (report.link_bytes[last as usize], report.link_utilization[last as usize]);
    assert!((bytes - 0.3e6).abs() < 1e-3 && (utilization - 1.0).abs() < 1e-9);
}

#[test]
fn flows_avoid_a_link_that_is_down_at_first_and_use_it_when_it_returns() {
    // Two spines, of which one is down for the first second.
    let net = Topology::leaf_spine(2, 1, 2, 8.0, 8.0).unwrap();
    let down = net.clone().without(&[4, 6]).unwrap();
    assert_eq!(net.link_names()[4], "rack 0 -> spine 0");
    let returns = [4, 6].map(|link| CapacityChange { time: 1.0, link, capacity: 8.0 });
    let flows = |arrival: f64| Workload::new(vec![arrival; 40], vec![0; 40], vec![1; 40], vec![0.01; 40]).unwrap();
    let bytes = |arrival: f64, net: &Topology| {
        let run = RunSettings::default().with_changes(returns.to_vec());
        simulate(net, &flows(arrival), &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap().link_bytes
    };
    assert_eq!(bytes(0.0, &down)[4], 0.0);
    let (returned, never_down) = (bytes(2.0, &down), bytes(2.0, &net));
    assert!(returned[4] > 0.0);
    assert_eq!(returned, never_down);
}

#[test]
fn flows_wait_for_the_only_link_that_returns_and_those_that_none_will_serve_are_refused() {
    let net = Topology::single_link(0.0).unwrap();
    let workload = Workload::new(vec![0.25], vec![0], vec![1], vec![1.0]).unwrap();
    let ask = |changes: Vec<CapacityChange>| {
        let run = RunSettings::default().with_changes(changes);
        simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ())
    };
    // A byte at 16 bit/s from 1 s on: 0.75 s of waiting and 0.5 s.
    let report = ask(vec![CapacityChange { time: 1.0, link: 0, capacity: 16.0 }]).unwrap();
    assert_eq!(report.completion_times, [1.25]);
    let message = ask(vec![]).unwrap_err().to_string();
    let expected = "pair 0 from node 0 to node 1: there is no route that avoids links of capacity 0";
    assert!(message.starts_with(expected) && message.contains("1 of 1 links have failed"), "{message}");
}

#[test]
fn rates_follow_capacities() {
    // Half the capacity of the server's link between 0.5 and 1 s, and none until 1.5 s.
    let workload = Workload::new(vec![0.0], vec![0], vec![2], vec![1e6]).unwrap();
    let link = net().paths(0, 2).unwrap().links(1)[0];
    let change = |time, capacity| CapacityChange { time, link, capacity };
    let (report, _) = run(&workload, vec![change(0.5, 4e6), change(1.0, 0.0), change(1.5, 8e6)]);
    assert!((report.completion_times[0] - 1.75).abs() < 1e-9, "{:?}", report.completion_times);
    assert!((report.link_utilization[link as usize] - 1.0).abs() < 1e-9, "{}", report.link_utilization[link as usize]);
}

#[test]
fn wrong_changes_are_named() {
    let workload = Workload::new(vec![0.0], vec![0], vec![2], vec![1e6]).unwrap();
    let message = |changes: &[(f64, u32, f64)]| {
        let change = |&(time, link, capacity): &(f64, u32, f64)| CapacityChange { time, link, capacity };
        let run = RunSettings::default().with_changes(changes.iter().map(change).collect());
        let (mut routing, mut policy) = (Down::new(&workload), MaxMinFair::new());
        simulate(&net(), &workload, &mut routing, &mut policy, &run, &mut ()).unwrap_err().to_string()
    };
    assert_eq!(message(&[(-1.0, 0, 0.0)]), "time of change 0 is -1, expected a finite number >= 0");
    assert_eq!(message(&[(1.0, 0, 0.0), (0.5, 0, 1.0)]), "time of change 1 is 0.5, expected changes in order of time");
    assert_eq!(message(&[(1.0, 99, 0.0)]), "link of change 0 is 99, expected a link below 16");
    assert_eq!(
        message(&[(1.0, 0, f64::NAN)]),
        "capacity of change 0 is NaN, expected a number >= 0 (inf for no limit)"
    );
}

#[test]
fn a_flow_that_has_sent_for_long_is_still_rescued() {
    let net = net();
    let workload = Workload::new(vec![0.0], vec![0], vec![2], vec![1e6]).unwrap();
    let used = {
        let mut bender = FlowBender::new(1, FlowBenderOptions::default()).unwrap();
        let report =
            simulate(&net, &workload, &mut bender, &mut MaxMinFair::new(), &RunSettings::default(), &mut ()).unwrap();
        let between_switches = |link: &netnum_core::Link| link.from.min(link.to) as usize >= net.ends();
        let uses = |link: usize| between_switches(&net.links()[link]) && report.link_bytes[link] > 0.0;
        (0..net.links().len() as u32).find(|&link| uses(link as usize)).expect("it crosses a spine")
    };
    // After 5000 round trips.
    let changes = vec![CapacityChange { time: 0.5, link: used, capacity: 0.0 }];
    let mut bender = FlowBender::new(1, FlowBenderOptions::default()).unwrap();
    let run = RunSettings::default().with_changes(changes);
    let report = simulate(&net, &workload, &mut bender, &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    assert_eq!((report.status.name(), report.route_changes > 0), ("finished", true), "{report}");
    // Without its server's own link it goes nowhere, however often it moves.
    let own = net.paths(0, 2).unwrap().links(0)[0];
    let run = RunSettings::default().with_changes(vec![CapacityChange { time: 0.5, link: own, capacity: 0.0 }]);
    let mut bender = FlowBender::new(1, FlowBenderOptions::default()).unwrap();
    let report = simulate(&net, &workload, &mut bender, &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    assert_eq!((report.status.name(), report.bytes_sent[0].round()), ("starved", 0.5e6), "{report}");
}
