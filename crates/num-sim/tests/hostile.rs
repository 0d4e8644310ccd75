//! Whatever comes in, a simulation ends: small networks with capacities, sizes, rates and times from one end of the floats
//! to the other, every policy over every routing, applications that produce, and links that change.

mod common;

use std::ops::ControlFlow;
use std::time::Duration;

use common::random_network;
use netnum_core::{Link, Topology};
use netnum_sim::{
    Change, Ecmp, Error, Observer, Options, POLICIES, Policy, Production, Progress, ROUTINGS, Report, Result, Run,
    Ticking, TickingOptions, Workload, policy, routing, simulate,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

/// More than any of them takes, were it to end.
const EVENTS: u64 = 400_000;
/// How often a clock ticks while flows arrive, or while a typical one is on its way.
const TICKS: f64 = 300.0;

/// Ends what goes on for too long.
struct Bounded;

impl Observer for Bounded {
    fn pause(&self) -> Duration {
        Duration::ZERO
    }
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        if progress.events < EVENTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// What numbers are drawn from: ordinary ones, or all of them.
struct Hostile {
    rng: ChaCha8Rng,
    decades: f64,
}

impl Hostile {
    fn chance(&mut self, probability: f64) -> bool {
        self.rng.random_bool(probability)
    }

    fn below(&mut self, count: usize) -> usize {
        self.rng.random_range(0..count as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A number like this one, or many decades from it; often the same.
    fn like(&mut self, number: f64) -> f64 {
        match self.below(4) {
            0 => number,
            1 => number * f64::from(self.rng.random_range(1..9u32)),
            2 => number * 10f64.powf(self.rng.random_range(-1.0..1.0)),
            _ => {
                let exponent = self.rng.random_range(-self.decades..self.decades);
                (number * 10f64.powf(exponent)).clamp(f64::MIN_POSITIVE, f64::MAX)
            }
        }
    }

    fn network(&mut self) -> Topology {
        let net = match self.below(5) {
            0 => Topology::single_link(1e10).unwrap(),
            1 => Topology::leaf_spine(2, 2, 2, 1e10, 1e10).unwrap(),
            2 => Topology::fat_tree(2, 1e10).unwrap(),
            3 => Topology::from_edges("a b 1e10\nb c 1e10\nc a 1e10").unwrap(),
            _ => random_network(5, self.rng.random()),
        };
        let one = self.chance(0.5);
        let link = |link: &Link| Link {
            capacity: match self.below(12) {
                _ if one => 1e10,
                0 => 0.0,
                _ => self.like(1e10),
            },
            ..*link
        };
        let links = net.links().iter().map(link).collect::<Vec<_>>();
        let layers = vec![0; net.node_names().len()];
        Topology::new("hostile", net.node_names().to_vec(), net.ends(), layers, links).unwrap()
    }

    /// Flows that arrive at once, together, or one after the other, and when the last one does.
    fn workload(&mut self, net: &Topology) -> Workload {
        let flows = self.below(20);
        let scale = if self.chance(0.8) { 1e-3 } else { self.like(1e-3) };
        let mut arrivals: Vec<f64> = (0..flows)
            .map(|_| match self.below(4) {
                0 | 1 => 0.0,
                2 => scale,
                _ => (scale * self.rng.random::<f64>()).min(f64::MAX),
            })
            .collect();
        arrivals.sort_by(f64::total_cmp);
        let ends = net.ends();
        // A single link leads from the first end to the second.
        let (sources, destinations): (Vec<usize>, Vec<usize>) = (0..flows)
            .map(|_| match self.below(ends) {
                _ if net.links().len() == 1 => (0, 1),
                source => (source, (source + 1 + self.below(ends - 1)) % ends),
            })
            .unzip();
        let sizes = (0..flows).map(|_| self.like(3e5)).collect();
        let workload = Workload::new(arrivals, sources, destinations, sizes).unwrap();
        if self.chance(0.4) {
            return workload;
        }
        let rates = (0..flows).map(|_| self.like(3e9)).collect();
        let buffers = [f64::INFINITY, 12_500.0, 1500.0, 1.0, self.like(1e4)];
        workload.with_production(Production::new(rates, self.one_of(&buffers)).unwrap()).unwrap()
    }

    fn changes(&mut self, net: &Topology, workload: &Workload) -> Vec<Change> {
        let last = workload.arrivals().last().copied().unwrap_or(0.0);
        let mut times: Vec<f64> = (0..self.below(7))
            .map(|_| match self.below(4) {
                0 => 0.0,
                1 => last,
                2 => 1.35e-4 * f64::from(self.rng.random_range(1..20u32)),
                _ => (last * self.rng.random_range(0.0..3.0)).min(f64::MAX),
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let change = |time| {
            let link = self.below(net.links().len());
            let capacity = match self.below(4) {
                0 => 0.0,
                1 => net.capacities()[link],
                _ => self.like(1e10),
            };
            Change { time, link, capacity }
        };
        times.into_iter().map(change).collect()
    }

    /// Options of a policy: its own, at a pace that fits the time that flows take.
    fn options(&mut self, name: &str, interval: f64) -> Options {
        let utility = self.one_of(&[r#""proportional""#, r#""min-fct""#, r#"{"alpha-fair": 3}"#]);
        let utility: serde_json::Value = serde_json::from_str(utility).unwrap();
        let options = match name {
            "srpt" => json!({ "by": self.one_of(&["size", "time"]) }),
            "edf" => json!({ "slack": self.like(2.0) }),
            "pias" => json!({ "thresholds": [2e3, 2e4, 3e5] }),
            "rax" | "rax+" => json!({ "interval": interval, "first": self.like(1e-4) }),
            "min-fct" => json!({ "by": self.one_of(&["size", "remaining", "time", "deadline"]), "interval": interval }),
            "alpha-fair" => json!({ "alpha": self.one_of(&[0.5, 1.0, 2.0, 5.0]) }),
            "flowtune" => {
                let method = self.one_of(&["ned", "fast-ned", "gradient"]);
                let interval = if self.chance(0.4) { json!(null) } else { json!(interval) };
                let normalizer = self.one_of(&[Some("f-norm"), Some("fill"), Some("u-norm"), None]);
                let at_once = self.chance(0.3);
                json!({
                    "method": method, "interval": interval, "normalizer": normalizer, "at_once": at_once,
                    "utility": utility
                })
            }
            "gradient" | "rcp" => json!({ "interval": interval }),
            "xwi" => json!({ "interval": interval, "utility": utility }),
            _ => json!({}),
        };
        options.as_object().unwrap().clone()
    }

    /// Everything drawn, and what came of it.
    fn run(&mut self) -> (String, Result<Report>) {
        let net = self.network();
        let workload = self.workload(&net);
        let changes = self.changes(&net, &workload);
        let span = f64::max(workload.arrivals().last().copied().unwrap_or(0.0), 1e-3);
        let interval = (span / TICKS).max(f64::MIN_POSITIVE);
        let entry = &POLICIES[self.below(POLICIES.len())];
        let options = self.options(entry.name, interval);
        let mut policy = policy(entry.name, &options).unwrap();
        let name = match ROUTINGS[self.below(ROUTINGS.len())].name {
            // Its linear programs are for numbers of which one is no rounding of another.
            "adaptive" if self.decades > 10.0 => "spray",
            name => name,
        };
        let of_routing = if name == "flow-bender" { json!({ "rtt": 5.0 * interval }) } else { json!({}) };
        let mut routing = routing(name, self.rng.random(), of_routing.as_object().unwrap()).unwrap();
        // Flows may take for ever, and clocks tick for as long.
        let until = span * 4.0;
        let case = format!("{} {options:?} over {name}", entry.name);
        let run = Run { until, changes, ..Run::default() };
        (case, simulate(&net, &workload, routing.as_mut(), policy.as_mut(), &run, &mut Bounded))
    }
}

/// Simulates what is drawn from these seeds: those that do not end, and how many are refused.
fn simulate_all(seeds: std::ops::Range<u64>, decades: f64) -> (Vec<String>, usize) {
    let (mut endless, mut refused) = (vec![], 0);
    for seed in seeds {
        let (case, result) = Hostile { rng: ChaCha8Rng::seed_from_u64(seed), decades }.run();
        let blame = |what: String| format!("seed {seed}, {case}: {what}");
        match result {
            Ok(report) => {
                if report.events >= EVENTS {
                    endless.push(blame(format!("no end after {} events: {report}", report.events)));
                }
                for (size, sent) in report.workload.sizes().iter().zip(&report.bytes_sent) {
                    assert!((0.0..=*size).contains(sent), "{}", blame(format!("{sent} of {size} bytes sent")));
                }
            }
            Err(error @ Error::StandsStill { .. }) => endless.push(blame(error.to_string())),
            Err(error) => {
                refused += 1;
                if !error.to_string().contains("spreads over") {
                    eprintln!("{}", blame(error.to_string()).chars().take(300).collect::<String>());
                }
            }
        }
    }
    (endless, refused)
}

#[test]
fn ordinary_numbers() {
    let seeds = std::env::var("SEEDS").map_or(2000, |s| s.parse().unwrap());
    let (endless, refused) = simulate_all(0..seeds, 2.0);
    eprintln!("{refused} {}", endless.join("\n"));
}

#[test]
fn all_floats() {
    let seeds = std::env::var("SEEDS").map_or(2000, |s| s.parse().unwrap());
    let (endless, refused) = simulate_all(0..seeds, 300.0);
    eprintln!("{refused} {}", endless.join("\n"));
}
