//! Flow-level simulation: web-search flows that share the papers' leaf-spine fairly, beside the textbook's loop.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench simulate              # some minutes, most of them for 20 000 flows at once
//! cargo bench -p netnum-benches --bench simulate -- 2000      # one row
//! ```
//!
//! 9 racks of 16 servers at 10 Gbit/s under 4 spines with 40 Gbit/s uplinks, Poisson arrivals at a load of 0.6 between
//! random servers, static ECMP, max-min rates. The textbook's loop recomputes all rates at every event and advances
//! every flow. Both are f64 on one thread with the same routes, and are checked to agree on every completion time
//! before they are timed. Computing the routes counts for netnum, and not for the textbook. Times are per flow; the two
//! variants that recompute all rates run the first flows of a long workload only.
//!
//! Routings are compared on the fat tree of FlowBender's evaluation: 128 servers, 8 paths between pods, 4 times as many
//! servers as uplinks in a rack, at a load of 0.6 of the bisection. FlowBender reviews every flow every 100 µs.
//!
//! Scheduling policies are compared on the leaf-spine as in RAX's evaluation: a load of 0.8, flows spread over the
//! spines, applications that produce at random rates, send buffers without limit.
//!
//! `at once`: flows of web-search sizes between random servers of the same leaf-spine, all arriving at time 0, so that
//! nearly every end changes the rates of many others.
//!
//! `large`: the workload of the first rows on fabrics of thousands of servers: a leaf-spine of 384 racks of 16 servers
//! under 16 spines, and the fat tree of 32-port switches, which has 8192; all links at 10 Gbit/s.
//!
//! `all-reduce`: 400 MB in a ring of workers on a leaf-spine, each step of which waits for the one before.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::Plan;
use criterion::{BenchmarkId, Criterion};
use netnum_core::{Link, Options, Paths, Topology};
use netnum_sim::{
    AllReduce, Ecmp, FlowBender, FlowBenderOptions, MaxMinFair, Pairs, Poisson, Production, Report, Routing,
    RunSettings, Sizes, Spray, Workload, policy, simulate,
};

const FLOWS: [usize; 3] = [2000, 10_000, 100_000];

/// With more flows than this the textbook's loop is timed on this many only.
const TEXTBOOK_FLOWS: usize = 10_000;

/// Numbers of flows that arrive together.
const CROWDS: [usize; 3] = [1000, 5000, 20_000];

/// The number of flows on large fabrics; as a test, fewer.
const MANY_FLOWS: [usize; 2] = [100_000, 1000];

/// Numbers of workers in a ring.
const RINGS: [usize; 3] = [32, 256, 1024];

const PLAN: Plan = Plan { warm_up: Duration::from_millis(300), measure: Duration::from_secs(4), samples: 10 };

struct Instance {
    net: Topology,
    workload: Workload,
    paths: Paths,
}

impl Instance {
    fn new(flows: usize) -> Self {
        let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).expect("the fabric is well formed");
        let arrivals = Poisson::new(Sizes::web_search(), 0.6).with_flows(flows);
        let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 1).expect("the load is positive");
        let paths = net.ecmp(workload.sources(), workload.destinations(), 1).expect("all servers are joined");
        Self { net, workload, paths }
    }

    fn ours(&self, policy: &mut MaxMinFair) -> Report {
        simulate(&self.net, &self.workload, &mut Ecmp::new(1), policy, &RunSettings::default(), &mut ())
            .expect("well formed")
    }

    /// Completion times by the textbook.
    fn textbook(&self) -> Vec<f64> {
        let (arrivals, sizes) = (self.workload.arrivals(), self.workload.sizes());
        let mut times = vec![f64::NAN; arrivals.len()];
        let (mut active, mut left, mut rates) = (Vec::<u32>::new(), Vec::<f64>::new(), Vec::new());
        let mut filling = Filling::new(self.net.capacities());
        let (mut now, mut next) = (0.0, 0);
        while next < arrivals.len() || !active.is_empty() {
            filling.fill(&self.paths, &active, &mut rates);
            let (mut step, mut ends) = (arrivals.get(next).map_or(f64::INFINITY, |arrival| arrival - now), None);
            for (place, (left, rate)) in left.iter().zip(&rates).enumerate() {
                if left / rate < step {
                    (step, ends) = (left / rate, Some(place));
                }
            }
            left.iter_mut().zip(&rates).for_each(|(left, rate)| *left -= rate * step);
            match ends {
                Some(place) => {
                    now += step;
                    let flow = active.swap_remove(place) as usize;
                    left.swap_remove(place);
                    times[flow] = now - arrivals[flow];
                }
                None => {
                    now = arrivals[next];
                    active.push(next as u32);
                    left.push(8.0 * sizes[next]);
                    next += 1;
                }
            }
        }
        times
    }
}

/// Progressive filling: find the link with the least left per flow, freeze the flows on it, take what they use from the
/// links of their paths; until no flow is left.
struct Filling<'a> {
    capacities: &'a [f64],
    left: Vec<f64>,
    rising: Vec<u32>,
    through: Vec<Vec<u32>>,
}

impl<'a> Filling<'a> {
    fn new(capacities: &'a [f64]) -> Self {
        let links = capacities.len();
        Self { capacities, left: vec![0.0; links], rising: vec![0; links], through: vec![Vec::new(); links] }
    }

    fn fill(&mut self, paths: &Paths, active: &[u32], rates: &mut Vec<f64>) {
        let Self { capacities, left, rising, through } = self;
        left.copy_from_slice(capacities);
        rising.fill(0);
        through.iter_mut().for_each(Vec::clear);
        rates.clear();
        rates.resize(active.len(), f64::NAN);
        for (place, &flow) in (0..).zip(active) {
            for &link in paths.links(flow as usize) {
                rising[link as usize] += 1;
                through[link as usize].push(place);
            }
        }
        let mut unfrozen = active.len();
        while unfrozen > 0 {
            let (mut full, mut level) = (0, f64::INFINITY);
            for link in 0..capacities.len() {
                if rising[link] > 0 && left[link] / f64::from(rising[link]) < level {
                    (full, level) = (link, left[link] / f64::from(rising[link]));
                }
            }
            for &place in &through[full] {
                let rate = &mut rates[place as usize];
                if rate.is_nan() {
                    *rate = level;
                    unfrozen -= 1;
                    for &link in paths.links(active[place as usize] as usize) {
                        left[link as usize] -= level;
                        rising[link as usize] -= 1;
                    }
                }
            }
        }
    }
}

/// Both loops compute the same completion times.
fn assert_that_all_agree(instance: &Instance) {
    let expected = instance.textbook();
    for mut policy in [MaxMinFair::new(), MaxMinFair::full()] {
        let report = instance.ours(&mut policy);
        // The textbook's clock is rounded at every event, which limits its accuracy.
        let clock = 8.0 * f64::EPSILON * report.time;
        for (flow, (time, expected)) in report.completion_times.iter().zip(&expected).enumerate() {
            assert!((time - expected).abs() <= 1e-9 * expected + clock, "flow {flow}: {time:e} and {expected:e}");
        }
    }
}

/// Seconds per flow, where measured.
struct Measured {
    flows: usize,
    textbook: Option<f64>,
    full: Option<f64>,
    ours: Option<f64>,
}

fn measure(criterion: &mut Criterion, flows: usize) -> Measured {
    let instance = Instance::new(flows);
    let few = Instance::new(flows.min(TEXTBOOK_FLOWS));
    assert_that_all_agree(&few);
    let mut timed = |name: &str, of: usize, work: &dyn Fn()| {
        common::measure(criterion, "simulate", BenchmarkId::new(name, flows), PLAN, |count| {
            let began = Instant::now();
            (0..count).for_each(|_| work());
            began.elapsed().div_f64(of as f64)
        })
    };
    let first = flows.min(TEXTBOOK_FLOWS);
    Measured {
        flows,
        textbook: timed("textbook", first, &|| {
            black_box(few.textbook());
        }),
        full: timed("full", first, &|| {
            let _ = black_box(few.ours(&mut MaxMinFair::full()));
        }),
        ours: timed("incremental", flows, &|| {
            let _ = black_box(instance.ours(&mut MaxMinFair::new()));
        }),
    }
}

/// The fat tree, and flows on it.
fn bisected(flows: usize) -> (Topology, Workload) {
    let (rack, aggregation, core) = (|rack| 128 + rack, |place| 144 + place, |place| 152 + place);
    let mut cables: Vec<(u32, u32)> = (0..128).map(|server| (server, rack(server / 8))).collect();
    cables.extend((0..32).map(|up| (rack(up / 2), aggregation(up / 8 * 2 + up % 2))));
    cables.extend((0..32).map(|up| (aggregation(up / 4), core(up / 4 % 2 * 4 + up % 4))));
    let both = |(one, other)| [(one, other), (other, one)].map(|(from, to)| Link { from, to, capacity: 10e9 });
    let links: Vec<Link> = cables.into_iter().flat_map(both).collect();
    // Those from racks up, which come in pairs with those down.
    let uplinks = Some((256..320).step_by(2).collect());
    let names = (0..160).map(|node| node.to_string()).collect();
    let net = Topology::new("fat tree", names, 128, vec![0; 160], links).expect("the fabric is well formed");
    let arrivals = Poisson::new(Sizes::web_search(), 0.6).with_flows(flows).with_links(uplinks);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 1).expect("the load is positive");
    (net, workload)
}

type Make<'a> = &'a dyn Fn() -> Box<dyn Routing>;

fn measure_routings(criterion: &mut Criterion, flows: usize) {
    let (net, workload) = bisected(flows);
    let bends = || FlowBender::new(1, FlowBenderOptions::default()).expect("the defaults are in range");
    let routings: [(&str, Make<'_>); 3] = [
        ("ecmp", &|| Box::new(Ecmp::new(1))),
        ("flow-bender", &|| Box::new(bends())),
        ("spray", &|| Box::new(Spray::new())),
    ];
    for (name, routing) in routings {
        let seconds = common::measure(criterion, "routings", BenchmarkId::new(name, flows), PLAN, |count| {
            let began = Instant::now();
            for _ in 0..count {
                let (mut routing, mut policy) = (routing(), MaxMinFair::new());
                let report = simulate(&net, &workload, routing.as_mut(), &mut policy, &RunSettings::default(), &mut ());
                let _ = black_box(report.expect("well formed"));
            }
            began.elapsed().div_f64(flows as f64)
        });
        if let Some(seconds) = seconds.filter(|_| !common::is_test()) {
            println!("{flows} flows on the fat tree, {name}: {:.0} flows per second", 1.0 / seconds);
        }
    }
}

fn measure_policies(criterion: &mut Criterion, flows: usize) {
    let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).expect("the fabric is well formed");
    let arrivals = Poisson::new(Sizes::web_search(), 0.8).with_flows(flows);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 1).expect("the load is positive");
    let production = Production::log_normal(flows, 31.6e9, 1.15, (1e9, 1e12), f64::INFINITY, 1);
    let workload = workload.with_production(production.expect("rates are likely")).expect("one rate per flow");
    for name in ["max-min", "srpt", "pias", "rax", "rax+"] {
        let seconds = common::measure(criterion, "policies", BenchmarkId::new(name, flows), PLAN, |count| {
            let began = Instant::now();
            for _ in 0..count {
                let mut policy = policy(name, &Options::new()).expect("it exists");
                let report =
                    simulate(&net, &workload, &mut Spray::new(), policy.as_mut(), &RunSettings::default(), &mut ());
                let _ = black_box(report.expect("well formed"));
            }
            began.elapsed().div_f64(flows as f64)
        });
        if let Some(seconds) = seconds.filter(|_| !common::is_test()) {
            println!("{flows} flows with sources at load 0.8, {name}: {:.0} flows per second", 1.0 / seconds);
        }
    }
}

/// The seconds of a whole run under ECMP and a policy.
fn measure_run(
    criterion: &mut Criterion,
    group: &str,
    id: BenchmarkId,
    (net, workload): (&Topology, &Workload),
    name: &str,
) -> Option<f64> {
    common::measure(criterion, group, id, PLAN, |count| {
        let began = Instant::now();
        for _ in 0..count {
            let (mut routing, mut policy) = (Ecmp::new(1), policy(name, &Options::new()).expect("it exists"));
            let report = simulate(net, workload, &mut routing, policy.as_mut(), &RunSettings::default(), &mut ());
            let _ = black_box(report.expect("well formed"));
        }
        began.elapsed()
    })
}

fn measure_crowds(criterion: &mut Criterion) {
    let net = Topology::leaf_spine(9, 16, 4, 10e9, 40e9).expect("the fabric is well formed");
    // As a test the smallest is enough.
    for &flows in &CROWDS[..if common::is_test() { 1 } else { CROWDS.len() }] {
        let arrivals = Poisson::new(Sizes::web_search(), 0.6).with_flows(flows);
        let drawn = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 1).expect("the load is positive");
        let pairs = drawn.sources().iter().copied().zip(drawn.destinations().iter().copied()).collect();
        let workload = Workload::at_once(&net, &Pairs::Listed(pairs), &Sizes::web_search(), 1).expect("well formed");
        for name in ["max-min", "srpt", "pias", "xwi"] {
            let seconds = measure_run(criterion, "at once", BenchmarkId::new(name, flows), (&net, &workload), name);
            if let Some(seconds) = seconds.filter(|_| !common::is_test()) {
                println!("{flows} flows at once, {name}: {seconds:.3} s");
            }
        }
    }
}

fn measure_large_fabrics(criterion: &mut Criterion) {
    let flows = MANY_FLOWS[usize::from(common::is_test())];
    let fabrics = [
        ("leaf-spine", Topology::leaf_spine(384, 16, 16, 10e9, 10e9), &["max-min", "srpt", "pias"][..]),
        ("fat tree", Topology::fat_tree(32, 10e9), &["max-min"]),
    ];
    for (fabric, net, names) in fabrics {
        let net = net.expect("the fabric is well formed");
        let arrivals = Poisson::new(Sizes::web_search(), 0.6).with_flows(flows);
        let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 1).expect("the load is positive");
        for name in names {
            let id = BenchmarkId::new(format!("{fabric}, {name}"), flows);
            let seconds = measure_run(criterion, "large", id, (&net, &workload), name);
            if let Some(seconds) = seconds.filter(|_| !common::is_test()) {
                println!("{flows} flows on a large {fabric}, {name}: {seconds:.3} s");
            }
        }
    }
}

/// An all-reduce in a ring on a leaf-spine fabric, max-min: each of its steps waits for the one before.
fn measure_all_reduce(criterion: &mut Criterion) {
    for &workers in &RINGS[..if common::is_test() { 1 } else { RINGS.len() }] {
        let net = Topology::leaf_spine(workers / 16, 16, 8, 100e9, 200e9).expect("the fabric is well formed");
        let all: Vec<usize> = (0..workers).collect();
        let workload = Workload::all_reduce(&net, 400e6, &all, AllReduce::Ring).expect("the workers are ends");
        let id = BenchmarkId::new("ring", workers);
        let seconds = measure_run(criterion, "all-reduce", id, (&net, &workload), "max-min");
        if let Some(seconds) = seconds.filter(|_| !common::is_test()) {
            println!("all-reduce of {workers} workers in a ring, {} flows: {seconds:.3} s", workload.len());
        }
    }
}

fn print_table(measured: &[Measured], gigahertz: f64) {
    println!(
        "Web-search flows at load 0.6 on 9 x 16 x 4, max-min, one thread of {gigahertz:.2} GHz; flows per second."
    );
    println!("Textbook, and a full fill at every event: on the first {TEXTBOOK_FLOWS} flows at most.\n");
    println!("{:>7} │ {:>9} │ {:>9} {:>11} │ {:>5}", "flows", "textbook", "full", "incremental", "ratio");
    for Measured { flows, textbook, full, ours } in measured {
        let rate = |seconds: &Option<f64>| seconds.map_or("–".into(), |seconds| format!("{:.0}", 1.0 / seconds));
        let ratio = textbook.zip(*ours).map_or("–".into(), |(one, other)| format!("{:.1}", one / other));
        println!("{flows:>7} │ {:>9} │ {:>9} {:>11} │ {ratio:>5}", rate(textbook), rate(full), rate(ours));
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let measured: Vec<Measured> = FLOWS.iter().map(|&flows| measure(&mut criterion, flows)).collect();
    measure_routings(&mut criterion, FLOWS[1]);
    measure_policies(&mut criterion, FLOWS[1]);
    measure_crowds(&mut criterion);
    measure_large_fabrics(&mut criterion);
    measure_all_reduce(&mut criterion);
    criterion.final_summary();
    let any = |side: &Measured| side.textbook.is_some() || side.full.is_some() || side.ours.is_some();
    let measured: Vec<Measured> = measured.into_iter().filter(any).collect();
    if !measured.is_empty() && !common::is_test() {
        print_table(&measured, common::gigahertz());
    }
}
