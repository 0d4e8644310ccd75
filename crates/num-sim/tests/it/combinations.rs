//! Every routing with every exact policy and every source, with and without links that fail, against a simulator that
//! finds everything anew at every event.
//!
//! Policies that stop near an optimum, or approach one, have separate tests.

use crate::common::slow::{Outcome, Scheduler, Splits, simulate as slowly};
use crate::common::{largest_difference, small_network};
use netnum_core::{Paths, Topology};
use netnum_sim::internal::{Edf, Ordered, Pias, Rax, RaxOptions, Srpt, Strict};
use netnum_sim::{
    Adaptive, CapacityChange, Coflow, Dependencies, Ecmp, EcmpSplit, Event, FlowBender, FlowBenderOptions, Flows,
    GivenPaths, KShortestPaths, Marking, Marks, MaxMinFair, NetworkState, Pairs, Poisson, Policy, Production, Rates,
    Report, Result, Route, Routing, RunSettings, Sizes, Split, Spray, Workload, simulate,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How many there are, and how many where every arrival costs some linear programs.
const FLOWS: usize = 32;
const FEW: usize = 16;
/// Bytes after which PIAS lowers a priority.
const THRESHOLDS: [f64; 3] = [5e4, 2e5, 6e5];
fn rax_options() -> RaxOptions {
    RaxOptions::default().with_levels(5).with_first(1e-3).with_base(2.0).with_interval(4e-4)
}
const SLACK: f64 = 3.0;

const SOURCES: [&str; 5] = ["at hand", "constant", "drawn", "small buffers", "a trace"];

/// Of 20 kB to 2 MB, at a load at which some tens are on their way at once.
fn workload(net: &Topology, source: &str, flows: usize, seed: u64) -> Workload {
    let sizes = Sizes::new("some", vec![(2e4, 0.0), (3e5, 0.6), (2e6, 1.0)]).unwrap();
    let arrivals = Poisson::new(sizes, 1.2).with_flows(flows);
    let workload = Workload::poisson(net, &arrivals, &Pairs::Uniform, seed).unwrap();
    let drawn = |buffer| Production::log_normal(flows, 1e9, 1.0, (1e8, 1e10), buffer, seed).unwrap();
    let production = match source {
        "at hand" => return workload,
        "constant" => Production::new(vec![3.7e8; flows], f64::INFINITY).unwrap(),
        "drawn" => drawn(f64::INFINITY),
        "small buffers" => drawn(1e5),
        "a trace" => {
            let rate = |flow: usize| [2.9e8, 6.7e8, 5e9][flow % 3] * (1.0 + 0.003 * flow as f64);
            let line = |(flow, line): (usize, &str)| format!("{line},{}\n", rate(flow));
            let text: String = workload.to_csv().unwrap().lines().skip(1).enumerate().map(line).collect();
            return Workload::from_csv(&text).unwrap();
        }
        other => panic!("no source {other}"),
    };
    workload.with_production(production).unwrap()
}

/// Links between switches that fail, and come back later; where there are none, any.
fn failures(net: &Topology, workload: &Workload) -> Vec<CapacityChange> {
    let all = || 0..net.links().len() as u32;
    let ends = |link: u32| [net.links()[link as usize].from, net.links()[link as usize].to];
    let inner: Vec<u32> = all().filter(|&link| ends(link).iter().all(|&node| node as usize >= net.ends())).collect();
    let inner = if inner.is_empty() { all().collect() } else { inner };
    let end = workload.arrivals().last().expect("there are flows");
    let change = |part: f64, place: usize, of: f64| {
        let link = inner[place % inner.len()];
        CapacityChange { time: part * end, link, capacity: of * net.capacities()[link as usize] }
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

/// To the path whose fullest link is the least full, when a flow arrives and at every review.
struct LeastLoaded(Vec<Paths>);

impl LeastLoaded {
    fn choose(&self, flow: usize, now: &NetworkState<'_>) -> usize {
        // In steps, lest rounding decides between what is equal.
        let full = |&link: &u32| (1e6 * now.loads[link as usize] / now.capacities[link as usize]).round() as u64;
        let fullest = |path: &usize| self.0[flow].links(*path).iter().map(full).max();
        (0..self.0[flow].len()).filter(|&path| now.works(self.0[flow].links(path))).min_by_key(fullest).unwrap_or(0)
    }
}

impl Routing for LeastLoaded {
    fn name(&self) -> &str {
        "least loaded"
    }
    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        let pairs = workload.sources().iter().zip(workload.destinations());
        self.0 = pairs
            .map(|(&source, &destination)| net.paths(source, destination))
            .collect::<std::result::Result<_, _>>()?;
        Ok(())
    }
    fn route(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        route.take(self.0[flow].links(self.choose(flow, now)));
        Ok(())
    }
    fn period(&self) -> f64 {
        1e-3
    }
    fn review(&mut self, flow: usize, _marks: Marks, now: &NetworkState<'_>, route: &mut Route) -> Result<bool> {
        self.route(flow, now, route).map(|()| true)
    }
}

/// Paths with coefficients of a quarter to 3; those of even numbers load the way back too.
pub(crate) fn with_coefficients(net: &Topology, paths: &Paths, seed: u64) -> Paths {
    let back = |link: u32| {
        let ends = net.links()[link as usize];
        net.link(ends.to as usize, ends.from as usize).expect("links both ways")
    };
    let (mut indptr, mut links, mut coefficients) = (vec![0], Vec::new(), Vec::new());
    for (path, row) in paths.iter().enumerate() {
        for &link in row {
            links.push(link);
            coefficients.push([0.25, 0.6, 1.0, 3.0][(seed as usize + 5 * path + 3 * link as usize) % 4]);
        }
        if path % 2 == 0 {
            row.iter().for_each(|&link| links.push(back(link)));
            coefficients.resize(links.len(), 0.05);
        }
        indptr.push(links.len());
    }
    Paths::with_coefficients(indptr, links, coefficients).expect("all > 0")
}

/// A shortest path with coefficients for each flow.
struct Unlike(u64, Option<GivenPaths>);

impl Routing for Unlike {
    fn name(&self) -> &str {
        "unlike"
    }
    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        let paths = net.ecmp(workload.sources(), workload.destinations(), self.0)?;
        self.1.insert(GivenPaths::new(with_coefficients(net, &paths, self.0))).begin_run(net, workload)
    }
    fn route(&mut self, flow: usize, now: &NetworkState<'_>, route: &mut Route) -> Result<()> {
        self.1.as_mut().expect("it has begun").route(flow, now, route)
    }
}

/// Up to four short paths between any two ends, with shares that differ; some have none.
fn split(net: &Topology, seed: u64, of: impl Fn(Paths) -> Paths) -> Split {
    let pairs = (0..net.ends()).flat_map(|one| (0..net.ends()).map(move |other| (one, other)));
    let (sources, destinations): (Vec<usize>, Vec<usize>) = pairs.filter(|(one, other)| one != other).unzip();
    let (paths, group) = net.k_shortest_paths(&sources, &destinations, &netnum_core::KShortest::new(4)).unwrap();
    let first = |path: usize| path == 0 || group[path - 1] != group[path];
    let share = |path: usize| if first(path) { 1.0 } else { ((path as u64 * 7 + seed) % 4) as f64 };
    let shares = (0..paths.len()).map(share).collect();
    Split::new(net, of(paths), shares, seed).expect("paths of this network")
}

/// Every routing, made anew by every call, and one that depends on loads.
fn routings(net: &Topology, seed: u64) -> Vec<(&'static str, Box<dyn Routing>)> {
    let options = || FlowBenderOptions::default().with_rtt(1e-3);
    let dctcp = Marking::Dctcp { rtt: 100e-6, threshold: 90e3 };
    // Walks, with coefficients on their way.
    let weigh = |paths: Paths| {
        let coefficients = (0..paths.indices().len()).map(|place| [0.5, 1.0, 1.5][(place + seed as usize) % 3]);
        Paths::with_coefficients(paths.indptr().to_vec(), paths.indices().to_vec(), coefficients.collect()).unwrap()
    };
    let flow_bender = |options| -> Box<dyn Routing> { Box::new(FlowBender::new(seed, options).expect("in range")) };
    vec![
        ("ecmp", Box::new(Ecmp::new(seed))),
        ("skewed ecmp", Box::new(Ecmp::new(seed).with_skew(0.5).expect("in range"))),
        ("spray", Box::new(Spray::new())),
        ("flow-bender", flow_bender(options())),
        ("dctcp", flow_bender(options().with_marking(dctcp).with_t(0.25).with_skew(0.5))),
        ("utilization", flow_bender(options().with_marking(Marking::Utilization(0.9)).with_n(3))),
        ("locked", flow_bender(options().with_lock_after(Some(2)).with_lock_for(4).with_n(2))),
        ("gradual", flow_bender(options().with_step(0.3))),
        ("k-shortest", Box::new(KShortestPaths::new(seed, 3).unwrap())),
        ("split", Box::new(split(net, seed, |paths| paths))),
        ("spread split", Box::new(split(net, seed, |paths| paths).spread())),
        ("weighed split", Box::new(split(net, seed, weigh))),
        ("spread weighed split", Box::new(split(net, seed, weigh).spread())),
        ("unlike", Box::new(Unlike(seed, None))),
        ("ecmp-split", Box::new(EcmpSplit::new())),
        ("adaptive", Box::new(Adaptive::new())),
        ("least loaded", Box::new(LeastLoaded(vec![]))),
    ]
}

/// Every policy, by us and by others.
fn policies() -> Vec<(Box<dyn Policy>, Scheduler)> {
    let thresholds: Vec<f64> = (0..rax_options().levels as i32 - 1)
        .map(|level| rax_options().first * rax_options().base.powi(level))
        .collect();
    let rax = |knows| Scheduler::Rax { knows, thresholds: thresholds.clone(), interval: rax_options().interval };
    let pias: Vec<f64> = THRESHOLDS.iter().map(|bytes| 8.0 * bytes).collect();
    vec![
        (Box::new(MaxMinFair::new()), Scheduler::Fair),
        (Box::new(MaxMinFair::crowded()), Scheduler::Fair),
        (
            Box::new(Ordered::by(Srpt::new())),
            Scheduler::by(|network, flow, rate| {
                let weight = network.weight(flow);
                ((flow.size - flow.sent) / weight, -rate / weight)
            }),
        ),
        (
            Box::new(Ordered::by(Srpt::by_time())),
            Scheduler::by(|network, flow, rate| {
                let ((key, slope), weight) = (network.remaining_at(flow, rate), network.weight(flow));
                (key / weight, slope / weight)
            }),
        ),
        (
            Box::new(Ordered::by(Edf::new(SLACK).unwrap())),
            Scheduler::by(|_, flow, _| (flow.arrival + SLACK * flow.size / flow.alone, 0.0)),
        ),
        (Box::new(Strict::by(Pias::new(&THRESHOLDS).unwrap())), Scheduler::Pias(pias.clone())),
        (Box::new(Strict::crowded(Pias::new(&THRESHOLDS).unwrap())), Scheduler::Pias(pias)),
        (Box::new(Strict::by(Rax::new(&rax_options()).unwrap())), rax(false)),
        (Box::new(Strict::by(Rax::plus(&rax_options()).unwrap())), rax(true)),
    ]
}

/// Records the split of flows at every call of their policy: the simulator alone has what [`Routing::balance`] sets.
struct Watched<'a> {
    policy: &'a mut dyn Policy,
    splits: Splits,
}

impl Policy for Watched<'_> {
    fn name(&self) -> &str {
        self.policy.name()
    }
    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.policy.begin_run(net, workload)
    }
    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        self.policy.changed(event, flows)
    }
    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        let route = |&slot: &u32| (flows.flow(slot).number as usize, flows.route(slot).clone());
        self.splits.push((now, flows.active().iter().map(route).collect()));
        self.policy.allocate(now, flows, rates)
    }
}

fn assert_same(report: &Report, slow: &Outcome, net: &Topology, case: &str) {
    let difference = largest_difference(&report.completion_times, &slow.times, slow.end);
    assert!(difference <= 1e-9, "{case}: completion times differ by {difference:e}");
    let sizes = report.workload.sizes();
    assert_eq!(report.bytes_sent, sizes, "{case}");
    let most = slow.link_bytes.iter().copied().fold(0.0, f64::max);
    let close = |ours: &[f64], others: &[f64], least: f64, what: &str| {
        for (place, (one, other)) in ours.iter().zip(others).enumerate() {
            let same = (one - other).abs() <= 1e-9 * other.max(least) || (one.is_nan() && other.is_nan());
            assert!(same, "{case}: {what} at {place} {one:e} and {other:e}");
        }
    };
    close(sizes, &slow.sent, 0.0, "bytes sent");
    close(sizes, &slow.produced, 0.0, "bytes produced");
    close(&report.link_bytes, &slow.link_bytes, most, "bytes over a link");
    close(&report.copy_rates, &slow.copy_rates, 0.0, "copy rate");
    assert_eq!(report.route_changes, slow.moves as u64, "{case}: moves");
    let peaks = report.peak_loads.iter().zip(net.capacities());
    assert!(peaks.into_iter().all(|(peak, most)| *peak <= most * (1.0 + 1e-9)), "{case}: overloaded");
    assert!(!report.overloads(), "{case}: overloaded while a link fails");
}

/// Every policy on some flows, over a routing by its name; how many routes have changed.
fn agree_on(
    net: &Topology,
    workload: &Workload,
    (name, seed): (&str, u64),
    changes: Vec<CapacityChange>,
    source: &str,
) -> usize {
    let routing = || routings(net, seed).into_iter().find(|routing| routing.0 == name).expect("one of them").1;
    let failing = if changes.is_empty() { "" } else { ", failing links" };
    let run = RunSettings::default().with_changes(changes);
    let mut moves = 0;
    for (mut policy, scheduler) in policies() {
        let case = format!("{} over {name}, {source}{failing}, seed {seed}", policy.name());
        let mut watched = Watched { policy: policy.as_mut(), splits: vec![] };
        let report = simulate(net, workload, routing().as_mut(), &mut watched, &run, &mut ()).expect(&case);
        let splits = if name == "adaptive" { watched.splits } else { vec![] };
        let slow = slowly(net, workload, routing().as_mut(), &scheduler, &run.changes, &splits);
        assert_same(&report, &slow, net, &case);
        moves += slow.moves;
    }
    moves
}

/// Every combination on a network; how many routes have changed.
fn agree(seed: u64) -> usize {
    let net = small_network(seed);
    let mut moves = 0;
    for (name, _) in routings(&net, seed) {
        let flows = if name == "adaptive" { FEW } else { FLOWS };
        for source in SOURCES {
            let workload = workload(&net, source, flows, seed);
            for changes in [vec![], failures(&net, &workload)] {
                moves += agree_on(&net, &workload, (name, seed), changes, source);
            }
        }
    }
    moves
}

#[test]
fn a_seed_fixes_every_bit() {
    let net = small_network(3);
    for source in SOURCES {
        let workload = workload(&net, source, FEW, 3);
        let run = RunSettings::default().with_changes(failures(&net, &workload));
        for (name, mut routing) in routings(&net, 3) {
            for (mut policy, _) in policies() {
                let mut bits = || {
                    let report = simulate(&net, &workload, routing.as_mut(), policy.as_mut(), &run, &mut ()).unwrap();
                    let times: Vec<u64> = report.completion_times.iter().map(|time| time.to_bits()).collect();
                    (times, report.events, report.rate_changes, report.route_changes)
                };
                // The second time by a routing and a policy that have run before.
                assert_eq!(bits(), bits(), "{} over {name}, {source}", policy.name());
            }
        }
    }
}

#[test]
fn flows_that_arrive_together_agree_with_a_simulator_that_finds_all_anew() {
    let sizes = Sizes::new("some", vec![(2e4, 0.0), (3e5, 0.6), (2e6, 1.0)]).unwrap();
    for seed in 0..6 {
        let net = small_network(seed);
        // Between ends in some order, each of them several times.
        let pair = |flow: usize| (flow * 7 % net.ends(), (flow * 7 + 1 + flow * flow % (net.ends() - 1)) % net.ends());
        let workload = Workload::at_once(&net, &Pairs::Listed((0..90).map(pair).collect()), &sizes, seed).unwrap();
        for (name, _) in routings(&net, seed).into_iter().filter(|routing| ["ecmp", "spray"].contains(&routing.0)) {
            let routing = || routings(&net, seed).into_iter().find(|routing| routing.0 == name).expect("one of them").1;
            for changes in [vec![], vec![CapacityChange { time: 5e-3, link: 2, capacity: 0.3 * net.capacities()[2] }]] {
                let run = RunSettings::default().with_changes(changes);
                for (mut policy, scheduler) in policies() {
                    let case = format!("{} over {name}, at once, seed {seed}", policy.name());
                    let report =
                        simulate(&net, &workload, routing().as_mut(), policy.as_mut(), &run, &mut ()).expect(&case);
                    let slow = slowly(&net, &workload, routing().as_mut(), &scheduler, &run.changes, &vec![]);
                    assert_same(&report, &slow, &net, &case);
                }
            }
        }
    }
}

#[test]
fn flows_with_weights_agree_with_a_simulator_that_finds_all_anew() {
    let mut takers = 0;
    for seed in 0..4 {
        let net = small_network(seed);
        let routed = ["ecmp", "spray", "flow-bender", "unlike"];
        for (name, _) in routings(&net, seed).into_iter().filter(|routing| routed.contains(&routing.0)) {
            let routing = || routings(&net, seed).into_iter().find(|routing| routing.0 == name).expect("one of them").1;
            for source in ["at hand", "drawn", "small buffers"] {
                let weights = (0..FLOWS).map(|flow| [0.25, 1.0, 1.5, 4.0][(3 * flow + seed as usize) % 4]).collect();
                let workload = workload(&net, source, FLOWS, seed).with_weights(weights).unwrap();
                for changes in [vec![], failures(&net, &workload)] {
                    let run = RunSettings::default().with_changes(changes);
                    for (mut policy, scheduler) in policies().into_iter().filter(|policy| policy.0.takes_weights()) {
                        takers += 1;
                        let case = format!("{} over {name}, {source}, with weights, seed {seed}", policy.name());
                        let report =
                            simulate(&net, &workload, routing().as_mut(), policy.as_mut(), &run, &mut ()).expect(&case);
                        let slow = slowly(&net, &workload, routing().as_mut(), &scheduler, &run.changes, &vec![]);
                        assert_same(&report, &slow, &net, &case);
                    }
                }
            }
        }
    }
    assert_eq!(takers, 4 * 4 * 3 * 2 * 8, "of max-min and PIAS in both ways, SRPT by both, RAX and RAX+");
}

/// Flows of which two in three wait for up to three earlier ones, some with a delay, and of which three in four are in
/// one of seven coflows.
fn waiting(net: &Topology, source: &str, seed: u64) -> Workload {
    let workload = workload(net, source, FLOWS, seed);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut indptr, mut indices, mut delays) = (vec![0], vec![], vec![]);
    for flow in 0..FLOWS as u32 {
        let waits = if rng.random_bool(2.0 / 3.0) { flow.min(3) } else { 0 };
        indices.extend((0..waits).map(|_| rng.random_range(0..flow)));
        indptr.push(indices.len());
        delays.push(if rng.random_bool(0.5) { 0.0 } else { rng.random_range(0.0..2e-3) });
    }
    let mut coflow = |flow: u32| {
        if flow < 7 { Some(flow) } else { Some(rng.random_range(0..7)).filter(|_| !flow.is_multiple_of(4)) }
    };
    let coflows = (0..FLOWS as u32).map(&mut coflow).collect();
    workload
        .with_dependencies(Dependencies::new(indptr, indices, delays).unwrap())
        .unwrap()
        .with_coflows(coflows)
        .unwrap()
}

/// Coflows, of which rates change at arrivals, ends and changes of links.
fn coflow_policies() -> Vec<(Box<dyn Policy>, Scheduler)> {
    vec![
        (Box::new(Coflow::smallest_bottleneck()), Scheduler::Coflows { fifo: false }),
        (Box::new(Coflow::fifo()), Scheduler::Coflows { fifo: true }),
    ]
}

#[test]
fn flows_that_wait_for_others_agree_with_a_simulator_that_finds_all_anew() {
    const STATIC: [&str; 5] = ["ecmp", "spray", "k-shortest", "split", "unlike"];
    for seed in 0..6 {
        let net = small_network(seed);
        // Flows start when others end, and several end together: loads at that instant are a matter of rounding.
        let by_load = |name: &str| ["adaptive", "least loaded"].contains(&name);
        for (name, _) in routings(&net, seed).into_iter().filter(|routing| !by_load(routing.0)) {
            let routing = || routings(&net, seed).into_iter().find(|routing| routing.0 == name).expect("one of them").1;
            for source in ["at hand", "small buffers"] {
                let workload = waiting(&net, source, seed);
                let has_events_only = source == "at hand" && STATIC.contains(&name);
                for changes in [vec![], failures(&net, &workload)] {
                    let run = RunSettings::default().with_changes(changes);
                    let coflows = if has_events_only { coflow_policies() } else { vec![] };
                    for (mut policy, scheduler) in policies().into_iter().chain(coflows) {
                        let case = format!("{} over {name}, {source}, waiting, seed {seed}", policy.name());
                        let report =
                            simulate(&net, &workload, routing().as_mut(), policy.as_mut(), &run, &mut ()).expect(&case);
                        let slow = slowly(&net, &workload, routing().as_mut(), &scheduler, &run.changes, &vec![]);
                        assert_same(&report, &slow, &net, &case);
                    }
                }
            }
        }
    }
}

#[test]
fn every_combination_agrees_with_a_simulator_that_finds_all_anew() {
    let moves: usize = (0..4).map(agree).sum();
    assert!(moves > 10_000, "{moves} moves are too few to say anything");
}

#[test]
#[ignore = "slow: two thousand workloads"]
fn two_thousand_workloads_agree_under_every_policy() {
    for seed in 4..2004 {
        let net = small_network(seed);
        let routings = routings(&net, seed);
        let (name, source) = (routings[seed as usize % routings.len()].0, SOURCES[seed as usize % SOURCES.len()]);
        let waits = seed.is_multiple_of(3) && !["adaptive", "least loaded"].contains(&name);
        let workload = if waits { waiting(&net, source, seed) } else { workload(&net, source, FEW, seed) };
        let changes = if seed % 7 < 3 { failures(&net, &workload) } else { vec![] };
        agree_on(&net, &workload, (name, seed), changes, source);
    }
}
