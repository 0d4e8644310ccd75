//! Whatever comes in, a simulation ends: small networks with capacities, sizes, rates and times from one end of the
//! floats to the other, every policy over every routing, applications that produce, and links that change.

use std::ops::{ControlFlow, Range};
use std::time::Duration;

use crate::common::random_network;
use netnum_core::{Link, Options, Topology};
use netnum_sim::{
    CapacityChange, Clocked, ClockedOptions, Ecmp, Error, Event, Flows, POLICIES, Policy, Production, ROUTINGS, Rates,
    Report, Result, RunObserver, RunProgress, RunSettings, RunStatus, Workload, policy, routing, simulate,
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

impl RunObserver for Bounded {
    fn pause(&self) -> Duration {
        Duration::ZERO
    }
    fn observe(&mut self, progress: &RunProgress) -> ControlFlow<()> {
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

    fn changes(&mut self, net: &Topology, workload: &Workload) -> Vec<CapacityChange> {
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
            CapacityChange { time, link: link as u32, capacity }
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
        serde_json::from_value(options).unwrap()
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
        let mut routing = routing(name, self.rng.random(), &serde_json::from_value(of_routing).unwrap()).unwrap();
        // Flows may take for ever, and clocks tick for as long.
        let until = span * 4.0;
        let case = format!("{} {options:?} over {name}", entry.name);
        let run = RunSettings::default()
            .with_until(until)
            .with_changes(changes)
            .with_time_limit(Some(Duration::from_secs(60)));
        (case, simulate(&net, &workload, routing.as_mut(), policy.as_mut(), &run, &mut Bounded))
    }
}

/// Simulates what is drawn from these seeds: those that do not end, and how many come to an end.
fn simulate_all(seeds: Range<u64>, decades: f64) -> (Vec<String>, usize) {
    let (mut endless, mut ended) = (vec![], 0);
    for seed in seeds {
        let (case, result) = Hostile { rng: ChaCha8Rng::seed_from_u64(seed), decades }.run();
        let blame = |what: String| format!("seed {seed}, {case}: {what}");
        match result {
            Ok(report) if report.events >= EVENTS || report.status == RunStatus::TimeLimit => {
                endless.push(blame(report.to_string()))
            }
            Ok(report) => {
                ended += 1;
                for (size, sent) in report.workload.sizes().iter().zip(&report.bytes_sent) {
                    assert!((0.0..=*size).contains(sent), "{}", blame(format!("{sent} of {size} bytes sent")));
                }
            }
            Err(error @ Error::StandsStill { .. }) => endless.push(blame(error.to_string())),
            // Spread flows that a policy cannot take, numbers that it cannot hold.
            Err(_) => {}
        }
    }
    (endless, ended)
}

fn all_end(seeds: Range<u64>, decades: f64) {
    let count = (seeds.end - seeds.start) as usize;
    let (endless, ended) = simulate_all(seeds, decades);
    assert!(endless.is_empty(), "{} of {count} do not end:\n{}", endless.len(), endless.join("\n"));
    assert!(ended > count / 2, "{ended} of {count} are too few to say anything");
}

#[test]
fn simulations_of_ordinary_numbers_end() {
    all_end(0..600, 2.0);
}

#[test]
fn simulations_of_numbers_from_all_over_the_floats_end() {
    all_end(0..150, 300.0);
}

#[test]
#[ignore = "slow: thousands of them"]
fn thousands_of_simulations_end() {
    all_end(1000..3000, 2.0);
    all_end(1000..1200, 30.0);
    all_end(1000..1200, 300.0);
}

/// Recorded: an allocator without a clock that did a step at every turn of a source, which led to the next turn at
/// once.
#[test]
fn a_turn_of_a_source_is_no_step_of_an_allocator() {
    let net = Topology::fat_tree(2, 1e10).unwrap();
    let to = [1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1];
    let from = to.iter().map(|end| 1 - end).collect();
    let kilobytes =
        [485.0, 967.0, 653.0, 872.0, 111.0, 370.0, 1240.0, 1090.0, 3.48, 28.8, 6.08, 167.0, 407.0, 20.2, 2.88];
    let rates = [1.3, 36.0, 0.557, 17.4, 0.124, 7.77, 2.09, 1.29, 1.13, 2.2, 4.75, 76.9, 1.02, 4.71, 14.9];
    let production = Production::new(rates.map(|gigabits| 1e9 * gigabits).to_vec(), 12_500.0).unwrap();
    let sizes = kilobytes.map(|size| 1e3 * size).to_vec();
    let workload = Workload::new(vec![0.0; 15], from, to.to_vec(), sizes).unwrap().with_production(production).unwrap();
    let change = |time, link, capacity| CapacityChange { time, link, capacity };
    let changes =
        vec![change(0.0, 1, 0.0), change(1.35e-4, 4, 2e10), change(1.485e-3, 1, 1e10), change(1.485e-3, 4, 1e10)];
    let mut policy = Clocked::new(ClockedOptions::default().with_interval(None)).unwrap();
    let run = RunSettings::default().with_changes(changes).with_until(0.0675);
    let report = simulate(&net, &workload, &mut Ecmp::new(0), &mut policy, &run, &mut Bounded).unwrap();
    assert!(report.events < 1000, "{report} after {} events", report.events);
    assert_eq!(report.status, RunStatus::Finished);
}

/// Sets its next call to the next float, at the same rate for all.
struct Restless {
    step: fn(f64) -> f64,
    rate: f64,
}

impl Policy for Restless {
    fn name(&self) -> &str {
        "restless"
    }
    fn begin_run(&mut self, _net: &Topology, _workload: &Workload) -> Result<()> {
        Ok(())
    }
    fn changed(&mut self, _event: Event, _flows: &Flows) -> Result<()> {
        Ok(())
    }
    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        flows.active().iter().for_each(|&slot| rates.set(slot, self.rate));
        Ok((self.step)(now))
    }
}

#[test]
fn a_clock_that_creeps_is_refused_and_one_that_ticks_for_nothing_starves() {
    let net = Topology::single_link(1e9).unwrap();
    let workload = Workload::new(vec![1.0], vec![0], vec![1], vec![1e6]).unwrap();
    let run = |policy: &mut Restless| {
        simulate(&net, &workload, &mut Ecmp::new(0), policy, &RunSettings::default(), &mut Bounded)
    };
    let creeps = run(&mut Restless { step: f64::next_up, rate: 1e6 }).unwrap_err();
    assert!(matches!(creeps, Error::StandsStill { .. }), "{creeps:?}");
    let says = "the clock stands still at 1.00000000000";
    let last = "events; the last was a call at a time that policy \"restless\" had set";
    assert!(creeps.to_string().starts_with(says) && creeps.to_string().ends_with(last), "{creeps}");
    // From time 0 every step is a large part of the time, and yet an end in 8 s is 10¹⁷ steps away.
    let early = Workload::new(vec![0.0], vec![0], vec![1], vec![1e6]).unwrap();
    let mut from_zero = Restless { step: |now| now + 1e-300, rate: 1e6 };
    let creeps =
        simulate(&net, &early, &mut Ecmp::new(0), &mut from_zero, &RunSettings::default(), &mut Bounded).unwrap_err();
    assert!(creeps.to_string().starts_with("the clock stands still at 0.0000"), "{creeps}");
    let starves = run(&mut Restless { step: |now| now + 1e-3, rate: 0.0 }).unwrap();
    assert_eq!((starves.status, starves.ended()), (RunStatus::Starved, 0));
    // One that sends is left alone.
    let ends = run(&mut Restless { step: |now| now + 1e-3, rate: 1e6 }).unwrap();
    assert_eq!((ends.status, ends.completion_times[0]), (RunStatus::Finished, 8.0));
}
