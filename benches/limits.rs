//! How far from the machine: the work of the library beside its baseline, and beside what the memory and the tables of
//! the machine allow.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench limits                 # some minutes
//! cargo bench -p netnum-benches --bench limits -- iteration    # the rows that contain a word
//! FULL=1 cargo bench -p netnum-benches --bench limits          # 10 000 000 flows too
//! ```
//!
//! Each row and its baseline are timed in turn, so that a disturbance meets both; times are medians. A row's *floor* is
//! the larger of two times: of its bytes, at the rate at which this core reads as many again and again, and of its
//! look-ups and additions, at the rate that it has for them in a table in the first-level cache. Both rates are of the
//! same run. What counts is what no implementation can leave out, as the comments at [`Work`] say. The column
//! *prototype* has figures of experiments that preceded the library, on another machine (one core of 3.68 GHz, 22
//! November 2026): they compare rows, and no machines. Memory is allocated as in the Python package.

mod common;
mod naive;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use common::{Instance, ROWS};
use naive::Naive;
use netnum_core::price::Ned;
use netnum_core::{Ask, Normalization, PowerLaw, Problem, Settings, Solution, Solver, Status, Stop};
use netnum_parallel::internal::Engine;
use netnum_parallel::{Precision, Threads};
use rand::RngExt;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const GAMMA: f64 = 0.4;
/// Rounds of a row, the least time of each in seconds, and the time from which one is enough.
const ROUNDS: usize = 9;
const LEAST: f64 = 0.01;
const LONG: f64 = 2.0;
const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// What work cannot do without.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    /// Bytes that are read or written once, in order.
    bytes: f64,
    /// Numbers looked up in a table, and pairs [load, slope] added to one.
    lookups: f64,
    additions: f64,
}

impl Work {
    /// One iteration of flows with their entries as 16-bit numbers: a weight is read, a rate is written.
    fn iteration(flows: usize, entries_of_each: f64, number: f64) -> Self {
        let flows = flows as f64;
        Self {
            bytes: flows * (2.0 * entries_of_each + 2.0 * number),
            lookups: flows * entries_of_each,
            additions: flows * entries_of_each,
        }
    }

    /// F-NORM: the rate is read, another one is written.
    fn normalizing(self) -> Self {
        Self { additions: 0.0, ..self }
    }

    /// From a problem to a solver. A path's links and a weight are read; entries, weight, bound, first rate and the
    /// flow's number are written; each link of a path is counted, gives the path's smallest capacity and share, and
    /// gets a part of its first price.
    fn making(problem: &Problem) -> Self {
        let (flows, crossings) = (problem.flows() as f64, problem.paths().indices().len() as f64);
        Self {
            bytes: 4.0 * crossings + 8.0 * flows + flows * (4.0 + 8.0 + 8.0 + 8.0 + 4.0),
            lookups: 2.0 * crossings,
            additions: 2.0 * crossings,
        }
    }

    /// A proof and the solution. Links, rate, weight and bound are read; the feasible rate, the flow's rate and the
    /// bottleneck are written; loads are added up before and after F-NORM, and load and price of each link are read.
    fn proving(problem: &Problem) -> Self {
        let (flows, crossings) = (problem.flows() as f64, problem.paths().indices().len() as f64);
        Self {
            bytes: 4.0 * crossings + flows * (3.0 * 8.0 + 8.0 + 8.0 + 8.0),
            lookups: 2.0 * crossings,
            additions: 2.0 * crossings,
        }
    }
}

/// What one core does in a second.
struct Machine;

impl Machine {
    /// Seconds to read so many bytes, again and again.
    fn read(bytes: f64) -> f64 {
        let numbers = vec![1.0f64; (bytes / 8.0).clamp(64.0, 5e7) as usize];
        let read = || {
            let mut sums = [0.0; 32];
            for some in numbers.as_chunks::<32>().0 {
                sums.iter_mut().zip(some).for_each(|(sum, number)| *sum += number);
            }
            black_box(sums);
        };
        median(&mut [&mut { read }])[0] * bytes / (8 * numbers.len()) as f64
    }

    /// Seconds for a look-up and for an addition in a table that is in the first-level cache, at places that follow no
    /// order.
    fn table() -> [f64; 2] {
        const PLACES: usize = 1 << 12;
        const ENTRIES: usize = 1 << 9;
        let mut rng = common::rng(6);
        let places: Vec<u16> = (0..PLACES).map(|_| rng.random_range(0..ENTRIES as u16)).collect();
        let (prices, mut sums) = ([1.0f64; ENTRIES], [[0.0f64; 2]; ENTRIES]);
        let mut look_up = || {
            let mut totals = [0.0; 8];
            for some in places.as_chunks::<8>().0 {
                totals.iter_mut().zip(some).for_each(|(total, &place)| *total += prices[usize::from(place) % ENTRIES]);
            }
            black_box(totals);
        };
        let mut add = || {
            for &place in &places {
                let [load, slope] = &mut sums[usize::from(place) % ENTRIES];
                *load += 1.0;
                *slope += 1.0;
            }
            black_box(&sums);
        };
        let times = median(&mut [&mut look_up, &mut add]);
        [times[0] / PLACES as f64, times[1] / PLACES as f64]
    }

    /// The least time of a sequence of works.
    fn floor(works: &[(f64, Work)]) -> f64 {
        let [look_up, add] = Self::table();
        let floor = |&(times, Work { bytes, lookups, additions }): &(f64, Work)| {
            times * Self::read(bytes).max(lookups * look_up + additions * add)
        };
        works.iter().map(floor).sum()
    }
}

/// Seconds of each, timed in turn: medians. Of work that takes long the first time is the only one.
fn median(works: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut times = vec![Vec::with_capacity(ROUNDS); works.len()];
    let mut counts = Vec::with_capacity(works.len());
    for (work, times) in works.iter_mut().zip(&mut times) {
        let first = seconds(work);
        if first > LONG {
            times.push(first);
            counts.push(0.0);
            continue;
        }
        counts.push((LEAST / seconds(work).max(1e-9)).clamp(1.0, 1e6).floor());
    }
    for _ in 0..ROUNDS {
        for ((work, &count), times) in works.iter_mut().zip(&counts).zip(&mut times) {
            if count > 0.0 {
                times.push(seconds(&mut || (0..count as u32).for_each(|_| work())) / count);
            }
        }
    }
    let middle = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    times.into_iter().map(middle).collect()
}

fn seconds(work: &mut dyn FnMut()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

/// A row of the table, in seconds.
struct Line {
    what: String,
    ours: f64,
    /// And its name.
    baseline: Option<(f64, &'static str)>,
    prototype: Option<f64>,
    /// None where the work was not counted.
    floor: Option<f64>,
}

/// Which rows are asked for, and those that were measured.
struct Table {
    words: Vec<String>,
    lines: Vec<Line>,
}

impl Table {
    fn wants(&self, what: &str) -> bool {
        self.words.iter().all(|word| what.contains(word.as_str()))
    }

    fn add(&mut self, line: Line) {
        println!("{}", line.text());
        self.lines.push(line);
    }
}

impl Line {
    const HEADER: &str = "| what | time | floor | times floor | baseline | times faster | prototype |\n\
                          |---|---:|---:|---:|---|---:|---:|";

    fn text(&self) -> String {
        let Self { what, ours, baseline, prototype, floor } = self;
        let (name, ratio) = match baseline {
            Some((seconds, name)) => (format!("{name}, {}", duration(*seconds)), format!("{:.2}", seconds / ours)),
            None => ("–".into(), "–".into()),
        };
        let prototype = prototype.map_or("–".into(), duration);
        let above = floor.map_or("–".into(), |floor| format!("{:.1}", ours / floor));
        let (time, least) = (duration(*ours), floor.map_or("–".into(), duration));
        format!("| {what} | {time} | {least} | {above} | {name} | {ratio} | {prototype} |")
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.1} µs", 1e6 * seconds),
        ..1.0 => format!("{:.2} ms", 1e3 * seconds),
        _ => format!("{seconds:.2} s"),
    }
}

fn engine(instance: &Instance, precision: Precision) -> Engine {
    let (capacities, paths) = (instance.capacities.clone(), &instance.paths);
    let mut engine = Engine::new(capacities, paths, Ned::new(GAMMA), precision, ONE).expect("one thread is there");
    for (links, &weight) in paths.iter().zip(&instance.weights) {
        engine.start(links, PowerLaw::log(weight)).expect("the instance is well formed");
    }
    engine
}

fn step(engine: &mut Engine) {
    engine.step().expect("flows of one machine respond");
}

/// One iteration in both kinds of numbers, with F-NORM, and the naive loop.
fn iterations(table: &mut Table, instance: &Instance, size: &str, prototypes: [Option<f64>; 3]) {
    let names = ["f64", "f64 with F-NORM", "f32"].map(|kind| format!("iteration {size}, {kind}"));
    if !names.iter().any(|name| table.wants(name)) {
        return;
    }
    let prices = vec![1.0; instance.capacities.len()];
    let (mut wide, mut normalized, mut narrow) =
        (engine(instance, Precision::F64), engine(instance, Precision::F64), engine(instance, Precision::F32));
    let mut naive = Naive::new(&instance.log(), prices);
    let weights = &instance.weights;
    let times = median(&mut [
        &mut || naive.step(GAMMA, |flow, price| (weights[flow] / price, weights[flow] / (price * price))),
        &mut || step(&mut wide),
        &mut || {
            step(&mut normalized);
            normalized.normalize(Normalization::FNorm);
        },
        &mut || step(&mut narrow),
    ]);
    // A path of four links is two pairs.
    let [wide, narrow] = [8.0, 4.0].map(|number| Work::iteration(weights.len(), 2.0, number));
    let works = [vec![(1.0, wide)], vec![(1.0, wide), (1.0, wide.normalizing())], vec![(1.0, narrow)]];
    for (((what, works), &ours), prototype) in names.into_iter().zip(works).zip(&times[1..]).zip(prototypes) {
        let (baseline, floor) = (Some((times[0], "naive")), Some(Machine::floor(&works)));
        table.add(Line { what, ours, baseline, prototype, floor });
    }
}

fn make(problem: &Problem, method: &str, threads: NonZeroUsize) -> Solver {
    Solver::new(problem, &Ask::by(method).with_workers(Arc::new(Threads::new(threads))))
        .expect("the method takes the problem")
}

fn solve(problem: &Problem, method: &str, tol: f64, threads: NonZeroUsize) -> Solution {
    let settings = Settings::default().with_tol(tol).with_stop(Stop::Gap);
    let solution = make(problem, method, threads).run(&settings, &mut ()).expect("a solve does not fail");
    assert_eq!(solution.status, Status::Optimal, "{solution}");
    solution
}

/// From a problem to a solver.
fn making(table: &mut Table) {
    let what = "making the solver, 100 000 flows";
    if table.wants(what) {
        let problem = Instance::fabric(100_000).log();
        let ours = median(&mut [&mut || drop(black_box(make(&problem, "fast-ned", ONE)))])[0];
        let floor = Some(Machine::floor(&[(1.0, Work::making(&problem))]));
        table.add(Line { what: what.into(), ours, baseline: None, prototype: Some(1.9e-3), floor });
    }
}

/// From a problem to a proof, whose iterations are counted with the others' work.
fn certified(table: &mut Table, name: &str, instance: impl FnOnce() -> Instance, tols: &[(f64, Option<f64>)]) {
    let what = |tol: f64| format!("certified {tol:.0e}, {name}");
    if !tols.iter().any(|&(tol, _)| table.wants(&what(tol))) {
        return;
    }
    let instance = instance();
    let problem = instance.log();
    for &(tol, prototype) in tols {
        let mut iterations = 0;
        let ours = median(&mut [&mut || iterations = solve(&problem, "fast-ned", tol, ONE).iterations])[0];
        let per_path = problem.paths().indices().len() as f64 / problem.flows() as f64;
        // Half of them are pairs where links meet at few nodes.
        let iteration = match per_path > 6.0 {
            true => Work::iteration(problem.flows(), per_path, 8.0),
            false => Work::iteration(problem.flows(), 2.0, 8.0),
        };
        let works =
            [(1.0, Work::making(&problem)), (iterations as f64 + 1.0, iteration), (1.0, Work::proving(&problem))];
        let what = format!("{} ({iterations} iterations)", what(tol));
        table.add(Line { what, ours, baseline: None, prototype, floor: Some(Machine::floor(&works)) });
    }
}

/// What, by which method, to which tolerance, and the prototype's time.
type Case = (&'static str, &'static str, f64, fn() -> Problem, Option<f64>);

/// Other families and methods, whose work is not counted.
fn others(table: &mut Table) {
    let cases: [Case; 2] = [
        ("mixed α, 100 000 flows, certified 1e-6", "fast-ned", 1e-6, || Instance::fabric(100_000).mixed(), Some(80e-3)),
        (
            "interior point, 100 000 flows, certified 1e-9",
            "interior-point",
            1e-9,
            || Instance::fabric(100_000).log(),
            Some(53e-3),
        ),
    ];
    for (what, method, tol, problem, prototype) in cases {
        if table.wants(what) {
            let problem = problem();
            let ours = median(&mut [&mut || drop(black_box(solve(&problem, method, tol, ONE)))])[0];
            table.add(Line { what: what.into(), ours, baseline: None, prototype, floor: None });
        }
    }
}

/// A whole solve by two threads, beside one.
fn threads(table: &mut Table) {
    let what = "two threads, 1 000 000 flows, certified 1e-6";
    if table.wants(what) {
        let problem = Instance::fabric(1_000_000).log();
        let two = NonZeroUsize::new(2).expect("not 0");
        let times = median(&mut [&mut || drop(black_box(solve(&problem, "fast-ned", 1e-6, ONE))), &mut || {
            drop(black_box(solve(&problem, "fast-ned", 1e-6, two)))
        }]);
        let baseline = Some((times[0], "one thread"));
        table.add(Line { what: what.into(), ours: times[1], baseline, prototype: None, floor: None });
    }
}

/// The most memory that this process had at a time, where the system tells.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(1024.0 * line.split_whitespace().nth(1)?.parse::<f64>().ok()?)
}

fn main() {
    if common::is_test() {
        return;
    }
    let words = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut table = Table { words, lines: Vec::new() };
    let full = std::env::var("FULL").is_ok_and(|full| full != "0");
    let before = common::gigahertz();
    println!("One thread; {before:.2} GHz before.\n\n{}", Line::HEADER);
    // µs of f64, with F-NORM and f32: 23 November 2026, Zen 4 at 4.1 GHz.
    let prototypes = [
        [3.4, 4.8, 2.8],
        [7.0, 9.8, 5.8],
        [14.2, 19.8, 12.1],
        [26.9, 37.7, 23.0],
        [50.9, 72.5, 44.1],
        [56.0, 81.0, 48.0],
        [60.0, 88.0, 49.5],
    ];
    for (row, prototypes) in ROWS.iter().zip(prototypes) {
        let size = format!("{} × {}", row.nodes, row.flows);
        let prototypes = prototypes.map(|micros| Some(1e-6 * micros));
        iterations(&mut table, &row.instance(), &size, prototypes);
    }
    if table.wants("iteration 16 384 × 1 000 000") || !table.words.is_empty() {
        let prototypes = [1.7e-3, 2.75e-3, 1.1e-3].map(Some);
        iterations(&mut table, &Instance::growing(1_000_000), "16 384 × 1 000 000", prototypes);
    }
    making(&mut table);
    let fabric = |flows| move || Instance::fabric(flows);
    certified(&mut table, "1000 flows", fabric(1000), &[(1e-6, Some(0.44e-3))]);
    certified(&mut table, "10 000 flows", fabric(10_000), &[(1e-6, Some(3.5e-3))]);
    certified(&mut table, "100 000 flows", fabric(100_000), &[(1e-6, None)]);
    let nominal = || Instance::fabric_of_equal_links(100_000);
    certified(&mut table, "100 000 flows, equal links", nominal, &[(1e-6, Some(10.2e-3))]);
    certified(&mut table, "1 000 000 flows on 9 racks", fabric(1_000_000), &[(1e-6, None)]);
    let nominal = || Instance::fabric_of_equal_links(1_000_000);
    certified(&mut table, "1 000 000 flows on 9 racks, equal links", nominal, &[(1e-6, Some(98e-3))]);
    certified(&mut table, "1 000 000 flows on 16 384 servers", || Instance::growing(1_000_000), &[(1e-6, None)]);
    let tols = [(1e-3, Some(0.156)), (1e-6, Some(0.413)), (1e-9, Some(0.850))];
    certified(&mut table, "100 000 flows over 200 000 links", || Instance::scattered(100_000), &tols);
    others(&mut table);
    threads(&mut table);
    if full {
        let instance = Instance::growing(10_000_000);
        iterations(&mut table, &instance, "65 536 × 10 000 000", [26.3e-3, 44e-3, 17.3e-3].map(Some));
        let flows = instance.weights.len() as f64;
        certified(&mut table, "10 000 000 flows on 65 536 servers", || instance, &[(1e-6, Some(3.85))]);
        if let Some(peak) = peak() {
            println!("\nAt most {:.0} bytes a flow were resident, the instance included.", peak / flows);
        }
    }
    println!("\n{} rows; {:.2} GHz after.", table.lines.len(), common::gigahertz());
}
