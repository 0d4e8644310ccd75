//! What is fed, and what it promises whatever it is fed with: an error or a valid result.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use netnum_core::{
    Ask, NORMALIZERS, Options, Paths, PowerLaw, Problem, Settings, Solution, Solver, Status, StopToken, Topology,
    certify,
};
use netnum_parallel::{Allocator, AllocatorSettings, Precision};
use netnum_sim::{CapacityChange, POLICIES, ROUTINGS, RunSettings, Sizes, Workload, policy, routing, simulate};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::driver::Target;
use super::mutate;

pub(crate) const TARGETS: &[&Target] = &[&PROBLEMS, &ALLOCATORS, &TOPOLOGIES, &TRACES, &SIMULATIONS];

/// What an input may cost, where it is read and can be stopped.
const PATIENCE: Duration = Duration::from_millis(200);
/// Loads are summed in other orders than here.
const ROUNDING: f64 = 1e-9;

fn patient<T>(work: impl FnOnce() -> T) -> T {
    StopToken::with_timeout(PATIENCE).scope(work)
}

fn expect(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

// --- problems as JSON ---

pub(crate) const PROBLEMS: Target =
    Target { name: "problems", seeds: reference_cases, mutate: problem_and_method, run: solve_a_problem };

/// The smaller ones of the reference problems.
fn reference_cases() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../num-core/tests/cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).filter(|text| text.len() < 20_000);
    let without_answer = |text: String| {
        let mut case: Value = serde_json::from_str(&text).ok()?;
        case.as_object_mut()?.retain(|field, _| !["expected", "description", "tolerance"].contains(&field.as_str()));
        Some(case.to_string())
    };
    texts.filter_map(without_answer).collect()
}

/// A damaged problem; sometimes with the name of a method, which is read as `method`.
fn problem_and_method(rng: &mut ChaCha8Rng, inputs: &[String]) -> String {
    let text = mutate::json(rng, inputs);
    let methods: Vec<&str> = netnum_core::METHODS.iter().map(|method| method.name).collect();
    match (rng.random_bool(0.3), text.strip_prefix('{')) {
        (true, Some(fields)) => format!("{{\"method\":\"{}\",{fields}", methods.choose(rng).unwrap()),
        _ => text,
    }
}

fn solve_a_problem(text: &str) -> Result<(), String> {
    let Ok(problem) = Problem::from_json(text) else { return Ok(()) };
    let written = problem.to_json().map_err(|error| format!("read, and not written: {error}"))?;
    let again = Problem::from_json(&written).map_err(|error| format!("written, and not read: {error}"))?;
    expect(again.to_json().as_ref() == Ok(&written), || "written twice, it differs".into())?;

    let method = serde_json::from_str::<Value>(text).ok().and_then(|file| Some(file["method"].as_str()?.to_string()));
    let settings = Settings::default().with_max_iterations(300).with_time_limit(PATIENCE);
    let Ok(solution) = patient(|| {
        let mut solver = Solver::new(&problem, &Ask::by(method.as_deref().unwrap_or("auto")))?;
        solver.run(&settings, &mut ())
    }) else {
        return Ok(());
    };
    check_solution(&problem, &solution)
}

fn check_solution(problem: &Problem, solution: &Solution) -> Result<(), String> {
    let is_rate = |rate: &f64| rate.is_finite() && *rate >= 0.0;
    expect(solution.rates.iter().all(is_rate), || "a rate is no number >= 0".into())?;
    expect(solution.prices.iter().all(is_rate), || "a price is no number >= 0".into())?;
    check_loads(problem.capacities(), problem.paths(), &solution.rates, ROUNDING)?;
    let over_cap = |path: usize| solution.rates[path] > problem.rate_cap(path) * (1.0 + ROUNDING);
    expect(!(0..solution.rates.len()).any(over_cap), || "a path is over its cap".into())?;
    let over_cap = |flow: usize| solution.flow_rates[flow] > problem.flow_cap(flow) * (1.0 + ROUNDING);
    expect(!(0..problem.flows()).any(over_cap), || "a flow is over its cap".into())?;
    if solution.status == Status::Optimal {
        let gap = solution.certificate.relative_gap;
        expect(gap <= Settings::default().tol, || "optimal without the gap that was set".into())?;
        expect(solution.objective.is_finite(), || "optimal, and its objective is no number".into())?;
        // Prices that no float holds were certified before they were cut, and `certify` cuts rates of 10²⁰⁰.
        let prices_hold = solution.prices.iter().all(|&price| price == 0.0 || (1e-290..1e290).contains(&price));
        if prices_hold && solution.rates.iter().all(|&rate| rate < 1e200) {
            let certificate = patient(|| certify(problem, &solution.rates, &solution.prices));
            let holds = certificate.is_ok_and(|again| again.relative_gap <= 1e-5);
            expect(holds, || "optimal, and its own certificate is refused".into())?;
        }
    }
    Ok(())
}

fn check_loads(capacities: &[f64], paths: &Paths, rates: &[f64], rounding: f64) -> Result<(), String> {
    let mut loads = vec![0.0; capacities.len()];
    for (links, rate) in paths.iter().zip(rates) {
        links.iter().for_each(|&link| loads[link as usize] += rate);
    }
    let is_over = |(load, capacity): (&f64, &f64)| *load > capacity * (1.0 + rounding);
    expect(!loads.iter().zip(capacities).any(is_over), || "a link is over its capacity".into())
}

// --- allocators from snapshots ---

pub(crate) const ALLOCATORS: Target =
    Target { name: "allocators", seeds: snapshots, mutate: mutate::json, run: restore_and_go_on };

/// Allocators of every kind in the middle of their life.
fn snapshots() -> Vec<String> {
    let normalizers: Vec<_> = NORMALIZERS.iter().map(|entry| Some(entry.make)).chain([None]).collect();
    let methods = ["ned", "fast-ned", "gradient", "fgm", "newton-like", "rcp"];
    let mut texts = Vec::new();
    for (number, method) in methods.into_iter().enumerate() {
        for precision in [Precision::F64, Precision::F32] {
            let settings = AllocatorSettings::default().with_normalizer(normalizers[number % normalizers.len()]);
            let capacities = vec![10.0, 4.0, 0.0, 8.0];
            let mut allocator =
                Allocator::by_name(capacities, method, &BTreeMap::new(), settings.with_precision(precision), one())
                    .unwrap();
            let mut ids = Vec::new();
            for path in [&[0, 1][..], &[1], &[0, 3], &[3, 2], &[0, 1, 3]] {
                // No floor fits over the failed link.
                let floor = if path.contains(&2) { 0.0 } else { 0.5 };
                ids.push(allocator.start(path, PowerLaw { weight: 2.0, alpha: 1.0, cap: 5.0, floor }).unwrap());
                allocator.tick().unwrap();
            }
            allocator.end(ids[1]).unwrap();
            allocator.updates();
            texts.push(allocator.to_json().unwrap());
        }
    }
    texts
}

fn one() -> NonZeroUsize {
    NonZeroUsize::MIN
}

fn restore_and_go_on(text: &str) -> Result<(), String> {
    let Ok(mut allocator) = Allocator::from_json(text, one()) else { return Ok(()) };
    let links = allocator.capacities().len();
    for round in 0..4 {
        if allocator.tick().is_err() {
            return Ok(());
        }
        let rates = allocator.rates();
        expect(rates.iter().all(|(_, rate)| *rate >= 0.0 && rate.is_finite()), || "a rate is no number >= 0".into())?;
        expect(allocator.prices().iter().all(|price| *price >= 0.0), || "a price is no number >= 0".into())?;
        allocator.updates();
        match round {
            0 if links > 0 => drop(allocator.start(&[0], PowerLaw::log(1.0))),
            1 => drop(rates.first().map(|&(id, _)| allocator.end(id))),
            2 if links > 0 => drop(allocator.set_capacity(links as u32 - 1, 3.0)),
            _ => drop(allocator.respond()),
        }
    }
    let written = allocator.to_json().map_err(|error| format!("restored, and not written: {error}"))?;
    let again =
        Allocator::from_json(&written, one()).map_err(|error| format!("a snapshot of it is refused: {error}"))?;
    expect(again.to_json().as_ref() == Ok(&written), || "restored, it differs".into())
}

// --- topologies from edges, and their JSON ---

pub(crate) const TOPOLOGIES: Target =
    Target { name: "topologies", seeds: fabrics, mutate: either, run: read_a_topology };

/// As JSON, in addition to the lists of edges of the corpus.
fn fabrics() -> Vec<String> {
    let fabrics =
        [Topology::leaf_spine(2, 2, 2, 10e9, 40e9), Topology::fat_tree(2, 1.0), Topology::parking_lot(3, 1.0)];
    fabrics.into_iter().map(|net| serde_json::to_string(&net.unwrap()).unwrap()).collect()
}

fn either(rng: &mut ChaCha8Rng, inputs: &[String]) -> String {
    let is_json = rng.random_bool(0.4);
    let own: Vec<String> = inputs.iter().filter(|text| text.starts_with('{') == is_json).cloned().collect();
    if is_json { mutate::json(rng, &own) } else { mutate::lines(rng, &own) }
}

fn read_a_topology(text: &str) -> Result<(), String> {
    let read = match text.starts_with('{') {
        true => serde_json::from_str::<Topology>(text).ok(),
        false => Topology::from_edges(text).ok(),
    };
    let Some(net) = read else { return Ok(()) };
    let links = net.capacities().len();
    expect(net.link_names().len() == links && net.links().len() == links, || "as many names as links".into())?;
    let (ends, many) = (net.ends(), net.ends().min(12));
    let sources: Vec<usize> = (0..many).collect();
    let targets: Vec<usize> = sources.iter().map(|&source| (source + 1) % ends.max(1)).collect();
    if let Ok(paths) = patient(|| net.ecmp(&sources, &targets, 1)) {
        expect(paths.iter().all(|path| is_walk(&net, path)), || "a path is no walk".into())?;
    }
    if ends > 1 {
        let _ = patient(|| net.paths(0, ends - 1));
    }
    let written = serde_json::to_string(&net).map_err(|error| format!("read, and not written: {error}"))?;
    let again: Result<Topology, _> = serde_json::from_str(&written);
    expect(again.is_ok_and(|again| again == net), || "written and read, it differs".into())
}

fn is_walk(net: &Topology, path: &[u32]) -> bool {
    path.windows(2).all(|pair| net.links()[pair[0] as usize].to == net.links()[pair[1] as usize].from)
}

// --- traces ---

pub(crate) const TRACES: Target = Target { name: "traces", seeds: Vec::new, mutate: mutate::lines, run: read_a_trace };

fn read_a_trace(text: &str) -> Result<(), String> {
    let Ok(workload) = Workload::from_csv(text) else { return Ok(()) };
    let written = workload.to_csv().map_err(|error| format!("read, and not written: {error}"))?;
    let again = Workload::from_csv(&written).map_err(|error| format!("written, and not read: {error}"))?;
    expect(again == workload, || "written and read, it differs".into())?;
    let net = Topology::leaf_spine(2, 4, 2, 10e9, 40e9).unwrap();
    run_it(&net, &workload, &Setup::default())
}

// --- simulations ---

pub(crate) const SIMULATIONS: Target =
    Target { name: "simulations", seeds: Vec::new, mutate: named, run: read_and_simulate };

/// How a workload is simulated.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Setup {
    policy: String,
    policy_options: Options,
    routing: String,
    routing_options: Options,
    until: Option<f64>,
    changes: Vec<(f64, u32, f64)>,
    arrivals: Vec<f64>,
    sources: Vec<usize>,
    destinations: Vec<usize>,
    sizes: Vec<f64>,
    points: Vec<(f64, f64)>,
}

/// A damaged setup, often of another policy or routing.
fn named(rng: &mut ChaCha8Rng, inputs: &[String]) -> String {
    let text = mutate::json(rng, inputs);
    let Ok(mut setup) = serde_json::from_str::<Value>(&text) else { return text };
    if setup.is_object() && rng.random_bool(0.5) {
        let entry = POLICIES.choose(rng).unwrap();
        setup["policy"] = entry.name.into();
        setup["policy_options"] = json!({});
        if let Some(option) = (entry.options)().get(rng.random_range(0..6)) {
            setup["policy_options"] = json!({ &*option.name: option.default });
        }
    }
    if setup.is_object() && rng.random_bool(0.5) {
        let entry = ROUTINGS.choose(rng).unwrap();
        setup["routing"] = entry.name.into();
        setup["routing_options"] = json!({});
        if let Some(option) = (entry.options)().get(rng.random_range(0..6)) {
            setup["routing_options"] = json!({ &*option.name: option.default });
        }
    }
    setup.to_string()
}

fn read_and_simulate(text: &str) -> Result<(), String> {
    let Ok(setup) = serde_json::from_str::<Setup>(text) else { return Ok(()) };
    let net = Topology::leaf_spine(2, 2, 2, 10e9, 40e9).unwrap();
    if let Ok(sizes) = Sizes::new("points", setup.points.clone()) {
        let quantiles: Vec<f64> = [0.0, 0.5, 1.0].iter().map(|&part| sizes.quantile(part)).collect();
        expect(quantiles.windows(2).all(|pair| pair[0] <= pair[1]), || "quantiles fall".into())?;
    }
    let (sources, destinations) = (setup.sources.clone(), setup.destinations.clone());
    match Workload::new(setup.arrivals.clone(), sources, destinations, setup.sizes.clone()) {
        Ok(workload) => run_it(&net, &workload, &setup),
        Err(_) => Ok(()),
    }
}

fn run_it(net: &Topology, workload: &Workload, setup: &Setup) -> Result<(), String> {
    let name = |given: &str, default: &str| if given.is_empty() { default.to_string() } else { given.to_string() };
    let Ok(mut routing) = routing(&name(&setup.routing, "ecmp"), 1, &setup.routing_options) else { return Ok(()) };
    let Ok(mut policy) = policy(&name(&setup.policy, "max-min"), &setup.policy_options) else { return Ok(()) };
    let changes = setup.changes.iter().map(|&(time, link, capacity)| CapacityChange { time, link, capacity }).collect();
    let run = RunSettings::default().with_until(setup.until.unwrap_or(f64::INFINITY)).with_changes(changes);
    let Ok(report) = patient(|| simulate(net, workload, &mut *routing, &mut *policy, &run, &mut ())) else {
        return Ok(());
    };
    let is_time = |time: &f64| time.is_nan() || *time >= 0.0;
    expect(report.completion_times.iter().all(is_time), || "a completion time is negative".into())?;
    let sent = report.bytes_sent.iter().zip(workload.sizes());
    let mut too_many = sent.filter(|(sent, size)| **sent > **size * (1.0 + ROUNDING));
    expect(too_many.next().is_none(), || "a flow has sent more than it has".into())
}
